"""Rules of statistical disclosure control as used by agencies, and the comparison of what two rule files disclose.

A *chain of rules* is a list of steps, applied in order to every published cell by itself. A cell c holds contributions
x_1 >= x_2 >= ... with total X; in a table of counts every contribution is 1. F(c) is the set of values that the chain can publish
for it: a number, or nothing (`None`: the cell is suppressed). An attacker who knows the chain and sees y knows of the cell

    K(y) = { t(c') : y in F(c') },    t the question: the total; or, to the contributor of v, the largest of the others

The comparison is about possibility, not probability. Chain A *discloses what B does not* where for some cell c and some y in
F_A(c) no answer of B on the same cell discloses as much: K_B(z) is no subset of K_A(y) for any z in F_B(c). A discloses *more*
than B where A discloses what B does not, and B nothing that A does not.

One cell suffices for counts. A table publishes cells and margins, each by F; what is known of it is the intersection of what
each published number discloses. Where B discloses as much as A of every single count, it does so of every table, and where not, a
table of one cell shows it. Beyond a bound all steps repeat (a base of rounding, the last rows of a perturbation table), so that
finitely many counts decide all.

Magnitudes are whole numbers above 0, and all cells up to a total N are evaluated. The values that a published number allows are
listed completely, because it bounds the total. A suppressed cell allows infinitely many values. They are listed up to a bound
below which the list is complete: of the cells with a contribution v whose largest other contribution is a, the one without
further contributors is suppressed by a threshold, by dominance or by p-percent if any is.
"""

from __future__ import annotations

import csv
import enum
import io
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NoReturn

import attrs

from dpspec.plugin import Items, Text, define, errors, params
from dpspec.plugin.applications import FilePositions, decoded, did_you_mean, load_text, parse, read_bytes
from dpspec_disclosure.rule_steps import STEPS, CellContents, CellOutcomes, PerturbationStep, RuleStep

# --- rule files -----------------------------------------------------------------------------------


KINDS = ("counts", "magnitudes")


@define
class PublishedColumns:
    """The format of the tables that are checked against the rules.

    Without `published`, every column but the labels contains numbers to publish. With it, a row is one cell, and the other
    columns, which are not published, state its content.

    Args:
        labels: columns of text; by default, the first one. A table need not have them all.
        suppressed: the texts that mark a suppressed cell.
        blank: whether an empty cell is a suppressed one.
        published: the column of the numbers to publish.
        contributors: the column of the number of contributions.
        total: the column of the true total.
        largest: the columns of the largest contributions.
        totals: the texts in a label column that mean all its categories together.
        across: an attribute whose categories are the names of the number columns; without it, each number column is a table of
            its own.
        linked: whether all tables of a folder count one population, so that a cell of one can follow from another.
        secondary: whether cells are suppressed also to protect others. Without that, anyone who knows the rules knows of a
            suppressed cell that the rules suppress it.
    """

    labels: Annotated[tuple[str, ...], Items(Text())] = ()
    suppressed: Annotated[tuple[str, ...], Items(Text(), least=1)] = ("x",)
    blank: Annotated[bool, params.Truth()] = False
    published: Annotated[str | None, Text()] = None
    contributors: Annotated[str | None, Text()] = None
    total: Annotated[str | None, Text()] = None
    largest: Annotated[tuple[str, ...], Items(Text())] = ()
    totals: Annotated[tuple[str, ...], Items(Text())] = ("Total",)
    across: Annotated[str | None, Text()] = None
    linked: Annotated[bool, params.Truth()] = False
    secondary: Annotated[bool, params.Truth()] = True

    def __attrs_post_init__(self) -> None:
        truth = [name for name in (self.contributors, self.total, *self.largest) if name is not None]
        named = [name for name in (self.published, *truth) if name is not None]
        if truth and self.published is None:
            raise errors.DisclosureRuleError("tables", "names what is in the cells, and not the column published", "name it")
        if self.published is not None and self.contributors is None:
            raise errors.DisclosureRuleError("tables", "names the column published, and not contributors", "name that, too")
        if len(set(named)) != len(named):
            raise errors.DisclosureRuleError("tables", "names one column twice")
        if self.across is not None and (self.published is not None or self.across in self.labels):
            rule, advice = "is for tables with several number columns, and is no label", "leave out published"
            raise errors.DisclosureRuleError("across", rule, advice, value=self.across)


@attrs.frozen(kw_only=True, slots=False)
class RuleFile:
    """A chain of rules with its name.

    Args:
        path: the file.
        id, title, source: what it calls itself.
        kind: "counts" or "magnitudes".
        steps: the steps, in order.
        columns: how tables are written that are held to it.
        codes: the hierarchies of codes, by attribute: for each code the one above it, None at the top.
    """

    path: str
    id: str
    title: str
    kind: str
    steps: tuple[RuleStep, ...]
    source: str = ""
    columns: PublishedColumns = attrs.field(factory=PublishedColumns)
    codes: Mapping[str, Mapping[str, str | None]] = attrs.field(factory=dict)

    @property
    def looks_at(self) -> int:
        """How many of the largest contributions its steps look at."""
        return max((step.looks_at for step in self.steps), default=0)

    def outcomes(self, cell: CellContents, without: frozenset[int] = frozenset()) -> CellOutcomes:
        """F(c): what the chain can publish for a cell, some steps left out."""
        values: CellOutcomes = frozenset({cell.total})
        for place, step in enumerate(self.steps):
            if place not in without:
                values = frozenset(
                    after for value in values for after in ((None,) if value is None else step.outcomes(cell, value))
                )
        return values

    def missing(self, cell: CellContents) -> int | None:
        """How much more, and less, a cell must possibly hold to be protected; None where no step can call it sensitive.

        A step that reads the value reads what the steps before can have made of it.
        """
        values: CellOutcomes = frozenset({cell.total})
        gaps: list[int] = []
        for step in self.steps:
            kept = [value for value in values if value is not None]
            gap = step.missing(cell, kept)
            if gap is not None:
                gaps.append(gap)
            values = frozenset(after for value in kept for after in step.outcomes(cell, value))
        return max(gaps, default=None)

    def allowed(self, value: int | None) -> tuple[tuple[int, int | None], ...]:
        """K(y): the totals that are possible, given the chain, for a published number, or for a suppressed cell (None).

        Intervals in ascending order; none where the rules cannot publish the number. Of magnitudes the steps are used that look
        at the value alone.
        """
        if value is None and (self.columns.secondary or self.kind == "magnitudes"):
            return ((0, None),)
        skipped = frozenset(place for place, step in enumerate(self.steps) if self.kind == "magnitudes" and step.reads != "value")
        low, high = (0, self.onset) if value is None else (max(0, value - self.spread), value + self.spread)
        _refuse_above(high - low, MOST_COUNTS, "counts", "take smaller bases")
        found: list[tuple[int, int]] = []
        for total in range(low, high + 1):
            if value in self.outcomes(CellContents.of_count(total, self.looks_at), skipped):
                found[-1:] = [(found[-1][0], total)] if found and found[-1][1] == total - 1 else [*found[-1:], (total, total)]
        return tuple(found)

    @cached_property
    def spread(self) -> int:
        """The largest difference of a published number from the true total."""
        return sum(step.spread for step in self.steps)

    @cached_property
    def onset(self) -> int:
        """From this count on, nothing is suppressed, and the published values repeat by `period`."""
        before = itertools.accumulate((step.spread for step in self.steps), initial=0)
        return max(step.onset + moved for step, moved in zip(self.steps, before, strict=False))

    @cached_property
    def redacted(self) -> int:
        """No total above this is suppressed for its value."""
        before = itertools.accumulate((step.spread for step in self.steps), initial=0)
        ends = (step.onset + moved for step, moved in zip(self.steps, before, strict=False) if step.reads == "value")
        return max(ends, default=0)

    @cached_property
    def period(self) -> int:
        """From the onset on, adding this number to a count adds it to the published values."""
        return math.lcm(*(step.period for step in self.steps))

    @cached_property
    def decisive(self) -> int:
        """The largest count that is needed to determine the possible numbers, and the counts that each of them allows.

        Raises:
            errors.NotEnumerableError: there are too many of them.
        """
        last = self.onset + 2 * self.spread + self.period
        _refuse_above(last, MOST_COUNTS, "counts", "take smaller bases or cycles")
        return last

    def first_inferred(self, most: int = 8) -> list[tuple[int | None, tuple[int, ...]]]:
        """Of counts: the smallest possible published values, each with all counts that it allows."""
        if self.kind != "counts":
            return []
        last = self.onset + 2 * self.spread + most * self.period
        _refuse_above(last, MOST_COUNTS, "counts", "take smaller bases")
        left: dict[int | None, list[int]] = {}
        for number in range(last + 1):
            for value in self.outcomes(CellContents.of_count(number, self.looks_at)):
                left.setdefault(value, []).append(number)
        whole = [value for value in sorted(left, key=_order) if value is None or value + self.spread <= last]
        return [(value, tuple(left[value])) for value in whole[:most]]


_KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
MOST_STEPS = 6


def read_rules(path: str | Path) -> RuleFile:
    """Read a rule file; every fault with its line.

    Raises:
        the faults of `specfile.reader`, errors.DisclosureRuleError, errors.UnknownNameError; several together.
    """
    positions = None
    try:
        text = load_text(Path(path))
        data = parse(text)
        positions = FilePositions.of(text, data)
        return _rule_file(data, Path(path))
    except errors.DpspecError as fault:
        for single in params.each(fault):
            if single.file is None:
                single.file = str(path)
                single.line = single.line or (positions.of_fault(single, "") if positions is not None else None)
        raise


@define
class _Head:
    """The plain keys of a rule file."""

    id: Annotated[str, Text()]
    title: Annotated[str, Text()]
    kind: Annotated[str, Text(KINDS)]
    source: Annotated[str | None, Text()] = None


def _rule_file(data: dict[str, Any], path: Path) -> RuleFile:
    if data.get("schema") != 1 or isinstance(data.get("schema"), bool):
        raise errors.SchemaVersionError("schema", "must be 1, the version of rule files", value=data.get("schema"))
    steps, tables, codes = data.pop("step", None), data.pop("tables", {}), data.pop("codes", {})
    data.pop("schema")
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps) or not 1 <= len(steps) <= MOST_STEPS:
        raise errors.WrongShapeError("step", f"must be 1 to {MOST_STEPS} tables [[step]], each with its rule")
    if not isinstance(tables, dict):
        raise errors.WrongShapeError("tables", "must be a table [tables]")
    if not isinstance(codes, dict) or not all(isinstance(name, str) for name in codes.values()):
        rule = "must be a table [codes] of attributes and files"
        raise errors.WrongShapeError("codes", rule, 'for example region = "regions.csv"')
    parts = params.collect(
        [
            lambda: params.build(_Head, data, "file"),
            lambda: params.build(PublishedColumns, tables, "tables"),
            *(lambda place=place, step=step: _step(step, f"step[{place}]", path.parent) for place, step in enumerate(steps)),
        ]
    )
    head, columns, *made = parts
    if not _KEBAB.fullmatch(head.id):
        raise errors.DisclosureRuleError("id", "must be lower-kebab", "lower-case letters and digits with hyphens", value=head.id)
    if head.kind == "counts" and (columns.total is not None or columns.largest):
        raise errors.DisclosureRuleError("tables", "of counts have contributors alone", "leave out total and largest")
    if head.kind == "magnitudes" and any(isinstance(step, PerturbationStep) for step in made):
        raise errors.DisclosureRuleError("step", "perturbs counts, and these rules are of magnitudes", "leave cell-key out")
    return RuleFile(
        path=str(path), id=head.id, title=head.title, kind=head.kind, source=head.source or "", steps=tuple(made),
        columns=columns,
        codes={name: read_codes(path.parent, name, file) for name, file in codes.items()},
    )  # fmt: skip


MOST_CODE_BYTES = 20_000_000


def read_codes(folder: Path, attribute: str, file: str) -> dict[str, str | None]:
    """A hierarchy of codes: for each code the one above it, None at the top; from a CSV file with the columns code, parent.

    Raises:
        errors.DisclosureRuleError: it is no hierarchy, with the line.
        UnreadableFileError, NotAFileError: it cannot be read.
    """
    subject = f"codes.{attribute}"
    if Path(file).name != file:
        raise errors.DisclosureRuleError(subject, "must be the name of a file next to the rule file", value=file)
    parents: dict[str, str | None] = {}
    line = 1
    try:
        reader = csv.reader(io.StringIO(decoded(read_bytes(folder / file, MOST_CODE_BYTES)), newline=""), strict=True)
        if [name.strip() for name in next(reader, [])] != ["code", "parent"]:
            raise errors.DisclosureRuleError(subject, "needs the columns code and parent", "begin the file with: code,parent")
        for row in reader:
            line = reader.line_num
            if len(row) != 2 or not row[0].strip():
                raise errors.DisclosureRuleError(subject, "needs a code and the code above it in each row", "for example: E12,E1")
            code, parent = (text.strip() for text in row)
            if code in parents:
                raise errors.DisclosureRuleError(subject, "names a code twice", value=code)
            parents[code] = parent or None
        line = 1
        for code in parents:
            above: str | None = code
            for _ in parents:
                above = parents[above] if above is not None else None
                if above is None:
                    break
                if above not in parents:
                    advice = "add it, with an empty parent"
                    raise errors.DisclosureRuleError(subject, "names a parent that has no row", advice, value=above)
            else:
                raise errors.DisclosureRuleError(subject, "has a code that is above itself", "leave one parent empty", value=code)
    except (errors.DpspecError, csv.Error) as problem:
        no_csv = errors.DisclosureRuleError(subject, f"is no CSV ({problem})")
        fault = problem if isinstance(problem, errors.DpspecError) else no_csv
        fault.file, fault.line = fault.file or str(folder / file), fault.line or line
        raise fault from None
    return parents


def _step(table: Mapping[str, Any], subject: str, folder: Path) -> RuleStep:
    name = table.get("rule")
    if not isinstance(name, str):
        raise errors.MissingKeyError(f"{subject}.rule", "is missing", f"one of {', '.join(STEPS)}")
    if name not in STEPS:
        raise errors.UnknownNameError(f"{subject}.rule", "is no rule", did_you_mean(name, STEPS), value=name)
    made: RuleStep = params.build(STEPS[name], {key: value for key, value in table.items() if key != "rule"}, subject)
    return made.beside(folder)


# --- which lets more be inferred ------------------------------------------------------------------


MOST_COUNTS = 50_000
MOST_TOTAL = 36
"""The 115,000 cells of magnitudes up to this total are listed."""
CellQuestion = tuple[str, int]
"""("total", 0); or ("others", v): the largest contribution of the others, from the view of the contributor of v."""


@attrs.frozen(kw_only=True)
class DisclosingTable:
    """A table of one cell on which one chain discloses what the other does not.

    Args:
        cell: the contributions, the largest first; of a count, the count alone.
        question: the quantity to be inferred.
        shown: what the chain publishes.
        known: the answers that remain.
        limit: of magnitudes the largest answer that is listed for a suppressed cell; None of counts, where all are.
        others: everything that the other chain can publish for the cell, each with the answers that remain then.
    """

    cell: tuple[int, ...]
    question: CellQuestion
    shown: int | None
    known: tuple[int, ...]
    limit: int | None
    others: tuple[tuple[int | None, tuple[int, ...]], ...]

    def open_ended(self, shown: int | None) -> bool:
        """Whether larger answers than the listed ones may remain for the published value."""
        return shown is None and self.limit is not None


class MoreDisclosing(enum.Enum):
    """Which of two chains discloses more: the first, the second, each something that the other does not, or neither."""

    FIRST = "first"
    SECOND = "second"
    BOTH = "both"
    NEITHER = "neither"

    def __bool__(self) -> NoReturn:
        raise TypeError(f"an answer is not a truth value: compare it, as in `answer is MoreDisclosing.{self.name}`")


@attrs.frozen(kw_only=True)
class RuleComparison:
    """The comparison of two chains.

    Args:
        first, second: the chains.
        looked_at: the cells that were compared, in words.
        by_first: the smallest table on which the first discloses what the second does not, and the one on which it leaves the
            fewest answers; nothing where it never does.
        by_second: the same the other way round.
    """

    first: RuleFile
    second: RuleFile
    looked_at: str
    by_first: tuple[DisclosingTable, DisclosingTable] | None
    by_second: tuple[DisclosingTable, DisclosingTable] | None

    @property
    def answer(self) -> MoreDisclosing:
        """The chain that discloses what the other does not."""
        if self.by_first is not None:
            return MoreDisclosing.FIRST if self.by_second is None else MoreDisclosing.BOTH
        return MoreDisclosing.NEITHER if self.by_second is None else MoreDisclosing.SECOND


def compare_rules(first: RuleFile, second: RuleFile, total: int = 12) -> RuleComparison:
    """Which of two chains lets more be inferred.

    Args:
        total: of magnitudes, all cells up to this total are compared.

    Raises:
        errors.DisclosureRuleError: one is about counts and the other about magnitudes.
        errors.NotEnumerableError: too many cells would have to be compared.
    """
    if first.kind != second.kind:
        rule = "are about counts and about magnitudes"
        raise errors.DisclosureRuleError("rules", rule, "compare two of one kind", value=second.id)
    spread = max(first.spread, second.spread)
    if first.kind == "counts":
        last = max(first.onset, second.onset) + 2 * spread + math.lcm(first.period, second.period)
        _refuse_above(last, MOST_COUNTS, "counts", "take smaller bases or cycles")
        cells: list[tuple[int, ...]] = [(count,) for count in range(last + 2 * spread + 1)]
        judged, limit, looked_at = last + 1, None, f"every count (those up to {last:,} decide)"
    else:
        limit = max(total + 2 * spread, *(chain.redacted for chain in (first, second)))
        _refuse_above(limit, MOST_TOTAL, "as total", "take smaller bases, or ask for smaller totals")
        cells = [xs for number in range(limit + 1) for xs in partitions(number, number)]
        judged = sum(sum(xs) <= total for xs in cells)
        looked_at = f"every cell of whole contributions with a total of at most {total} ({judged:,} cells)"
    one, two = CellKnowledge.of(first, cells, limit), CellKnowledge.of(second, cells, limit)
    return RuleComparison(
        first=first, second=second, looked_at=looked_at, by_first=_ends(one, two, judged), by_second=_ends(two, one, judged)
    )


def partitions(total: int, largest: int) -> Iterator[tuple[int, ...]]:
    """The ways to write a total as a sum of whole numbers, none above `largest`, in descending order.

    >>> list(partitions(4, 3))
    [(3, 1), (2, 2), (2, 1, 1), (1, 1, 1, 1)]
    """
    if not total:
        yield ()
    for first in range(min(total, largest), 0, -1):
        yield from ((first, *rest) for rest in partitions(total - first, first))


def _refuse_above(size: int, most: int, noun: str, advice: str) -> None:
    if size > most:
        raise errors.NotEnumerableError("rules", f"would need more than {most:,} {noun} to be compared", advice, value=size)


@attrs.frozen
class CellKnowledge:
    """The inferences that a chain allows on a list of cells.

    Args:
        cells: the cells.
        shown: F(c) of each.
        left: K(y) for each question and each y.
        limit: of magnitudes the largest total that is listed; None of counts, where each is compared by itself.
    """

    cells: Sequence[tuple[int, ...]]
    shown: Sequence[CellOutcomes]
    left: Mapping[tuple[CellQuestion, int | None], frozenset[int]]
    limit: int | None

    @classmethod
    def of(cls, rules: RuleFile, cells: Sequence[tuple[int, ...]], limit: int | None) -> CellKnowledge:
        kept = rules.looks_at
        counts = limit is None
        contents = (CellContents.of_count(xs[0], kept) if counts else CellContents(len(xs), sum(xs), xs[:kept]) for xs in cells)
        shown = [rules.outcomes(cell) for cell in contents]
        left: dict[tuple[CellQuestion, int | None], set[int]] = {}
        for xs, values in zip(cells, shown, strict=True):
            for question, answer in questions(xs, counts):
                for value in values:
                    left.setdefault((question, value), set()).add(answer)
        return cls(cells, shown, {key: frozenset(answers) for key, answers in left.items()}, limit)

    def beyond(self, other: CellKnowledge, judged: int) -> Iterator[DisclosingTable]:
        """Examples where this chain discloses what the other does not, on the first `judged` cells, in their order."""
        for place, xs in enumerate(self.cells[:judged]):
            for question, _ in questions(xs, self.limit is None):
                others = {value: other.left[question, value] for value in other.shown[place]}
                for value in sorted(self.shown[place], key=_order):
                    known = self.left[question, value]
                    if not any(answers <= known for answers in others.values()):
                        yield DisclosingTable(
                            cell=xs, question=question, shown=value, known=tuple(sorted(known)),
                            limit=None if self.limit is None else self.limit - question[1],
                            others=tuple((one, tuple(sorted(others[one]))) for one in sorted(others, key=_order)),
                        )  # fmt: skip


def questions(cell: tuple[int, ...], counts: bool) -> Iterator[tuple[CellQuestion, int]]:
    """The quantities to be inferred about a cell, with the true values.

    >>> list(questions((5, 2), counts=False))
    [(('total', 0), 7), (('others', 5), 2), (('others', 2), 5)]
    """
    yield ("total", 0), sum(cell)
    for place, own in enumerate(() if counts else cell):
        if place == 0 or cell[place - 1] != own:
            yield ("others", own), cell[1 if place == 0 else 0] if len(cell) > 1 else 0


def _order(value: int | None) -> tuple[bool, int]:
    return value is not None, value or 0


def _ends(one: CellKnowledge, other: CellKnowledge, judged: int) -> tuple[DisclosingTable, DisclosingTable] | None:
    """The smallest table and the one that leaves the fewest answers."""
    smallest = sharpest = None
    for disclosing in one.beyond(other, judged):
        smallest = smallest or disclosing
        if sharpest is None or _sharpness(disclosing) < _sharpness(sharpest):
            sharpest = disclosing
    return None if smallest is None or sharpest is None else (smallest, sharpest)


def _sharpness(table: DisclosingTable) -> tuple[bool, int]:
    """The fewest answers first; a list that goes on without end is none."""
    return table.open_ended(table.shown), len(table.known)
