r"""Errors of published numbers: from the law of the mechanism, or from runs of it on the released table.

For a published number Y of a true number n and a level L,

    margin      the least m with P(|Y - n| <= m) >= L
    deviation   the standard deviation of Y
    bias        E Y - n

* **Noise that is added to counts** (`grammar.NoisyCount`): the law of Y - n is that of the noise, symmetric about 0 and the same
  whatever the data are. Margin and deviation are exact; on the line they are brackets of a relative width below 10^-12.
* **Numbers whose law depends on the true count** (`grammar.CountLaws`, as of cell keys and random rounding): the largest margin,
  deviation and bias over all true counts where the mechanism states after which ones errors repeat (`grammar.CountErrors`), else
  over those from 0 to 200, from exact laws. Released numbers have a margin only where it holds for all counts.
* **Records that exchange values** (swapping, `grammar.ExchangesValues`): runs of the mechanism on the *released* table, in which
  what was released takes the place of the truth. The margin of a cell is an upper confidence limit of its quantile: the k-th
  smallest of so many runs, k the least with P(Binomial(runs, L) < k) >= L (David and Nagaraja 2003, Section 7.1). It says how
  much the mechanism moves a table like this one, and no confidential record is read.

All K numbers of a release are within their margins at once with probability at least L, where each margin is that at the level
1 - (1 - L)/K (Bonferroni); this holds whether or not the numbers are independent. Where they are, as for noise that is added to
counts, the probability that all of them are within given margins at once is the product of their coverages, exactly.
"""

from __future__ import annotations

import csv
import decimal
import io
import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from flint import arb, ctx

from dpspec import SpecDocument
from dpspec.plugin import (
    Attribute,
    Bracket,
    DatasetSpace,
    FiniteLaw,
    Law,
    Marginal,
    Mechanism,
    Table,
    answers,
    blocks,
    errors,
    exact,
    grammar,
    late_module,
    laws,
    number,
    randomness,
    table_files,
    tables,
)
from dpspec.plugin.applications import REPORT, Progress, Registry, count, fact_in_words
from dpspec.plugin.releases import (
    HOUSEHOLD_ID,
    MEMBERS,
    PluginContractError,
    TableError,
    formats_of,
    own_attributes,
    released_files,
)

if TYPE_CHECKING:
    import numpy as np
else:
    np = late_module("numpy")

LARGEST_COUNT = 200
"""Laws that depend on the true count are evaluated for true counts up to this one, where errors are not known to repeat."""
MOST_COUNTS = 4096
"""Where they repeat, they are evaluated up to this one at most: about a second."""
RUNS = 200
_PRECISION = 128
_SMALLEST = Fraction(1, 10**300)
"""Sizes from here on are doubles with all their digits."""
MOST_CELLS = 1_000_000
"""The largest number of cells of one table in the output."""


@attrs.frozen(kw_only=True)
class NumberAccuracy:
    """The accuracy of the numbers of one table.

    Args:
        table: the table, as the release names it.
        numbers: how many numbers it has; None where they are not counted.
        law: the law of the error, in words.
        source: ``law``, ``counts`` (the worst of true counts up to 200) or ``runs``.
        margin: at the requested level.
        margin_of_all: with which all numbers of the release are within their margins at once; None where it is not known.
        deviation: the standard deviation; None where it is not known.
        bias: the largest |E Y - n|.
        coverage: how often a number is within the margin; None where that is simulated.
        coverage_of_all: how often a number is within `margin_of_all`.
        words: the table in words.
        note: a further remark on the numbers.
        is_of_all_counts: whether the margin holds for every true count.
    """

    table: str
    numbers: int | None
    law: str
    source: str
    margin: Bracket
    margin_of_all: Bracket | None
    deviation: Bracket | None
    bias: Bracket
    coverage: Bracket | None
    coverage_of_all: Bracket | None = None
    words: str = ""
    note: str = ""
    is_of_all_counts: bool = True

    def data(self) -> dict[str, Any]:
        """The entry of ``--format json``."""
        return {
            "table": self.table, "numbers": self.numbers, "law": self.law, "source": self.source, "bias": ends(self.bias),
            "deviation": ends(self.deviation), "margin": ends(self.margin), "margin_of_all": ends(self.margin_of_all),
            "coverage": ends(self.coverage), "coverage_of_all": ends(self.coverage_of_all), "note": self.note,
        }  # fmt: skip


def ends(value: Bracket | None) -> dict[str, str] | None:
    return None if value is None else {"lower": str(value.lower), "upper": str(value.upper)}


@attrs.frozen(kw_only=True)
class Accuracy:
    """The known accuracy of a release.

    Args:
        document: its specification.
        level: L.
        tables: the tables whose accuracy is known.
        unknown: further published tables, and the reason why nothing is known of their accuracy.
        runs: how many runs were simulated; 0 where everything follows from laws.
    """

    document: SpecDocument
    level: Fraction
    tables: tuple[NumberAccuracy, ...]
    unknown: tuple[tuple[str, str], ...]
    runs: int = 0

    @property
    def joint(self) -> Bracket | None:
        """The probability that all numbers are within their margins at once; None where they are not known to be independent."""
        return None if self.unknown else joint_coverage([(one.coverage, one.numbers, one.source) for one in self.tables])

    @property
    def joint_of_all(self) -> Bracket | None:
        """The same with the larger margins, `margin_of_all`; at least the level."""
        return None if self.unknown else joint_coverage([(one.coverage_of_all, one.numbers, one.source) for one in self.tables])


def joint_coverage(parts: Sequence[tuple[Bracket | None, int | None, str]]) -> Bracket | None:
    """The product of coverages of independent numbers; None where one is not known, or where its law is not that of noise.

    Args:
        parts: for each table the coverage of one number, how many numbers it has, and what its law follows from.

    >>> str(joint_coverage([(Bracket.exactly("1/2"), 2, "law"), (Bracket.exactly(1), 3, "law")]).upper)
    '1/4'
    """
    low = high = number(1).enclose()
    for coverage, numbers, source in parts:
        if coverage is None or numbers is None or source != "law":
            return None
        low, high = low * coverage.lower.enclose() ** numbers, high * coverage.upper.enclose() ** numbers
    if not parts:
        return None
    return Bracket(lower=Bracket.around(low, least=0).lower, upper=min(Bracket.around(high, least=0).upper, number(1)))


def known_accuracy(document: SpecDocument, level: Fraction) -> Accuracy:
    """The accuracy that follows from the specification alone, before anything is released.

    Raises:
        MissingKeyError: the file names no mechanism.
    """
    mechanism, space = document.mechanism, document.spec.space
    if mechanism is None:
        raise errors.MissingKeyError(
            "mechanism", "is missing: accuracy is that of a mechanism", "write [mechanism] with its type"
        )
    found = _from_structure(mechanism, space, level)
    if found is None:
        found = _from_count_laws(mechanism, space, level)
    tables, unknown = found
    return Accuracy(document=document, level=level, tables=tuple(tables), unknown=tuple(unknown))


# --- noise that is added to counts ----------------------------------------------------------------

_Found = tuple[list[NumberAccuracy], list[tuple[str, str]]]


def _from_structure(mechanism: Mechanism, space: DatasetSpace, level: Fraction) -> _Found | None:
    """From the independent noisy counts that a mechanism publishes; None where it does not say that it publishes any."""
    if not _publishes_counts(mechanism):  # what is released may be computed from the noisy counts
        return None
    structure = _structure(mechanism, space)
    if structure is None or structure.reads or not structure.publishes_views or structure.is_sampled:
        return None
    if _sizes(structure, space) != _sizes_of_others(mechanism, space):  # it counts some records, and answers all cells
        return None
    noisy: list[tuple[Marginal, Any, int]] = []
    unknown: list[tuple[str, str]] = []
    for stated in structure.views:
        view, times = _once(stated)
        noise = view.noise(0) if isinstance(view, grammar.NoisyCount) else None
        if noise is None:
            unknown.append((str(view.table), "its numbers are not counts with noise"))
        elif not isinstance(noise, laws.LineLaw | laws.IntegerLaw):
            unknown.append((str(view.table), f"the margin of a {type(noise).__name__} is not known"))
        else:
            noisy.append((view.table, noise, times))
    if not noisy:
        return None
    cells = [_cells(table, space) for table, _, _ in noisy]
    sizes = [None if one is None else one * times for one, (_, _, times) in zip(cells, noisy, strict=True)]
    known = [size for size in sizes if size is not None]
    of_all = 1 - (1 - level) / max(sum(known), 1) if len(known) == len(noisy) and not unknown else None
    return [_of_noise(*one[:2], size, level, of_all) for one, size in zip(noisy, sizes, strict=True)], unknown


def _structure(mechanism: Mechanism, space: DatasetSpace) -> grammar.Structure | None:
    try:
        return grammar.stated_structure(mechanism, space)
    except (errors.DpspecError, grammar.NoStructure):
        return None


def _once(view: grammar.View) -> tuple[grammar.View, int]:
    """What a view answers each time, and how often it answers."""
    if not isinstance(view, grammar.RepeatedView):
        return view, 1
    inner, times = _once(view.view)
    return inner, times * view.times


def _publishes_counts(mechanism: Mechanism) -> bool:
    """Whether a mechanism, or each one whose release it publishes as it is, states the law of its counts itself."""
    if isinstance(mechanism, grammar.PublishesOthers) and grammar.states_itself(mechanism, "published_mechanisms"):
        return all(map(_publishes_counts, mechanism.published_mechanisms()))
    return grammar.states_itself(mechanism, "count_law")


def _sizes(structure: grammar.Structure, space: DatasetSpace) -> list[int | None]:
    """How many cells the tables of a structure have."""
    return [_cells(view.table, space) for view in structure.views]


def _sizes_of_others(mechanism: Mechanism, space: DatasetSpace) -> list[int | None]:
    """The same of the mechanisms whose releases a mechanism publishes; its own where it publishes none."""
    if isinstance(mechanism, grammar.PublishesOthers):
        return [size for one in mechanism.published_mechanisms() for size in _sizes_of_others(one, space)]
    structure = _structure(mechanism, space)
    return [] if structure is None else _sizes(structure, space)


def _of_noise(table: Marginal, noise: Any, size: int | None, level: Fraction, of_all: Fraction | None) -> NumberAccuracy:
    found, together = laws.margin(noise, level), None if of_all is None else laws.margin(noise, of_all)
    return NumberAccuracy(
        table=str(table), numbers=size, law=_in_words(noise), source="law", margin=found.value,
        margin_of_all=None if together is None else together.value, deviation=laws.deviation(noise),
        bias=Bracket.exactly(0), coverage=found.coverage,
        coverage_of_all=None if together is None else together.coverage, words=fact_in_words(table),
    )  # fmt: skip


def _cells(query: Marginal, space: DatasetSpace) -> int | None:
    """How many cells a table has; None where they have to be listed, and are more than a million."""
    known, where = {a.name: a for a in space.attributes_of(query.unit)}, dict(query.where)
    own = [known[name] for name in query.attributes if name in known]
    if len(own) == len(query.attributes) == len(set(query.attributes)) and not any(a.within in query.attributes for a in own):
        return math.prod(len(set(where[a.name])) if a.name in where else a.size for a in own)
    size = sum(1 for _ in itertools.islice(query.cells(space), MOST_CELLS + 1))
    return size if size <= MOST_CELLS else None


def _in_words(law: Any) -> str:
    """The law of an error."""
    if isinstance(law, laws.LaplaceLaw):
        return f"Laplace, scale {_six_digits(1 / law.decay.enclose())}"
    if isinstance(law, laws.GaussianLaw):
        return f"Gaussian, deviation {_six_digits(1 / law.accuracy.enclose().sqrt())}"
    if isinstance(law, laws.TwoSidedGeometricLaw):
        return f"two-sided geometric, decay {law.decay}"
    if isinstance(law, laws.DiscreteGaussianLaw):
        return f"discrete Gaussian, parameter {_six_digits(number(law.variance).enclose().sqrt())}"
    return type(law).__name__


def _six_digits(size: Any) -> str:
    """A size, which may be beyond all doubles."""
    middle = exact.dyadic(size.mid())
    return f"{float(middle):.6g}" if _SMALLEST < middle < 1 / _SMALLEST else number(middle).decimal()


# --- laws that depend on the true count -----------------------------------------------------------


def _from_count_laws(mechanism: Mechanism, space: DatasetSpace, level: Fraction) -> _Found:
    if not isinstance(mechanism, grammar.CountLaws) or not grammar.states_itself(mechanism, "count_law"):
        reason = "the law of its numbers is not stated"
        if isinstance(mechanism, grammar.ExchangesValues):
            reason += "; give a release, and runs are simulated"
        return [], [(f"mechanism {mechanism.name}", reason)]
    last = _last_count(mechanism, space)
    found: list[NumberAccuracy] = []
    unknown: list[tuple[str, str]] = []
    for attributes in mechanism.counted_tables(space):
        table = Marginal(attributes=tuple(attributes), unit=grammar.counted_unit(mechanism, space))
        laws_of = [mechanism.count_law(attributes, true, space) for true in range((LARGEST_COUNT if last is None else last) + 1)]
        known = [None if law is None else _errors(law, true) for true, law in enumerate(laws_of)]
        complete = [one for one in known if one is not None]
        if len(complete) < len(known):
            unknown.append((str(table), "the law of its numbers is not stated as one on whole numbers"))
        elif not any(complete):
            unknown.append((str(table), "it publishes no number"))
        else:
            worst = _worst(str(table), complete, _cells(table, space), level)
            if last is None:
                note = f"numbers with a true count above {LARGEST_COUNT} may be further off"
                worst = attrs.evolve(worst, is_of_all_counts=False, note="; ".join(filter(None, (worst.note, note))))
            found.append(attrs.evolve(worst, words=fact_in_words(table)))
    return found, unknown


def _last_count(mechanism: Mechanism, space: DatasetSpace) -> int | None:
    """A true count such that the errors of all others are among those of counts up to it; None where no such one is known."""
    largest = blocks.sizes_of(space)[1] if grammar.counted_unit(mechanism, space) == space.units[0] else None
    if isinstance(mechanism, grammar.CountErrors) and grammar.states_itself(mechanism, "last_count"):
        last = mechanism.last_count(space)
        if last <= MOST_COUNTS:
            return last
    return largest if largest is not None and largest <= LARGEST_COUNT else None


def _errors(law: Law, true: int) -> dict[int, Fraction] | None:
    """P(Y - n = k) by k, given that a number is published; empty where none is, None for a law that is not on whole numbers."""
    if not isinstance(law, FiniteLaw):
        return None
    shown = {str(outcome): probability for outcome, probability in law.probabilities() if outcome != answers.WITHHELD}
    published = sum(shown.values(), Fraction(0))
    try:
        return {int(number) - true: probability / published for number, probability in shown.items()}
    except ValueError:
        return None


def _worst(table: str, known: Sequence[Mapping[int, Fraction]], size: int | None, level: Fraction) -> NumberAccuracy:
    """The largest margin, bias and deviation over true counts, for each of which the law of the error is known."""
    biases, squares, ends = [], [], []
    for law in filter(None, known):
        bias = sum((off * probability for off, probability in law.items()), Fraction(0))
        biases.append(abs(bias))
        squares.append(sum((off * off * probability for off, probability in law.items()), Fraction(0)) - bias**2)
        ends.append(_margin(law, level))
    margin = max(ends)
    covered = [sum((probability for off, probability in law.items() if abs(off) <= margin), Fraction(0)) for law in known if law]
    note = "" if all(known) else "cells without a number are left out"
    return NumberAccuracy(
        table=table, numbers=size, law="depends on the true count", source="counts",
        margin=Bracket.exactly(margin), margin_of_all=None,
        deviation=Bracket.around(number(max(squares)).enclose().sqrt()), bias=Bracket.exactly(max(biases)),
        coverage=Bracket.exactly(min(covered)), note=note,
    )  # fmt: skip


def _margin(law: Mapping[int, Fraction], level: Fraction) -> int:
    """The least m with P(|Y - n| <= m) >= level."""
    reached = Fraction(0)
    for far, offs in itertools.groupby(sorted(law, key=abs), key=abs):
        reached += sum((law[off] for off in offs), Fraction(0))
        if reached >= level:
            return far
    raise PluginContractError("count_law", "has probabilities that do not sum to 1")


# --- runs on what was released --------------------------------------------------------------------


def simulated_accuracy(known: Accuracy, released: Table, runs: int, seed: int, progress: Progress) -> Accuracy:
    """The accuracy of the tables of one and two attributes of released records, and of their members, from runs on them.

    Args:
        known: what is known without runs.
        released: the records, which take the place of the truth.
        runs, seed: how many runs, and the seed of all of them.
        progress: called with (runs done, runs in all).

    Raises:
        ParameterError: the runs are too few for an upper confidence limit.
    """
    mechanism, space = known.document.mechanism, known.document.spec.space
    if not isinstance(mechanism, grammar.ExchangesValues):
        return known
    place = order_statistic(runs, known.level)
    wanted = _simulated_tables(released, space)
    start = _counts_of(released, wanted)
    off: dict[Marginal, list[dict[tuple[str, ...], int]]] = {table: [] for table in wanted}
    for run in range(runs):
        drawn = _counts_of(grammar.released(mechanism, released, space, randomness.SeededRandomness(seed + run)), wanted)
        for table in wanted:
            before, after = start[table], drawn[table]
            moved = {cell: after.get(cell, 0) - before.get(cell, 0) for cell in {*after, *before}}
            off[table].append({cell: by for cell, by in moved.items() if by})
        progress(run + 1, runs)
    found = tuple(_of_runs(str(table), off[table], _cells(table, space), place) for table in wanted)
    return attrs.evolve(known, tables=found, unknown=(), runs=runs)


def _simulated_tables(released: Table, space: DatasetSpace) -> list[Marginal]:
    """All tables of one and two attributes of the records; of their members those that have an attribute of a member."""
    own = [a.name for a in released.attributes if a.name != MEMBERS]
    found = [Marginal(attributes=chosen, unit=space.units[0]) for chosen in _ones_and_twos(own)]
    if released.members is not None:
        inner = [a.name for a in released.members.table.attributes]
        chosen_inner = (chosen for chosen in _ones_and_twos([*own, *inner]) if not set(own).issuperset(chosen))
        found += [Marginal(attributes=chosen, unit=space.units[1]) for chosen in chosen_inner]
    return found


def _ones_and_twos(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return itertools.chain.from_iterable(itertools.combinations(names, size) for size in (1, 2))


def _counts_of(records: Table, wanted: Sequence[Marginal]) -> dict[Marginal, dict[tuple[str, ...], int]]:
    """The counts of tables, of the records or of their members."""
    units = {table.unit for table in wanted}
    held = dict.fromkeys(units, records)
    if records.members is not None:
        held = {unit: records if unit == wanted[0].unit else records.of_members() for unit in units}
    return {table: held[table.unit].counts(table.attributes) for table in wanted}


def order_statistic(runs: int, level: Fraction) -> int:
    """The least k with P(Binomial(runs, level) < k) >= level; the next one, where both sides are equal.

    Raises:
        ParameterError: even the largest of the runs is not enough.

    >>> order_statistic(200, Fraction(19, 20)), order_statistic(59, Fraction(19, 20))
    (196, 59)
    """
    with ctx.workprec(_PRECISION):
        within, outside = number(level).enclose(_PRECISION), number(1 - level).enclose(_PRECISION)
        found, mass, beyond = runs + 1, within**runs, arb(0)  # P(Binomial >= found) is beyond
        while (beyond := beyond + mass) <= outside:
            found -= 1
            mass *= outside * found / (within * (runs - found + 1))
        if found > runs:
            least = math.ceil(exact.dyadic((outside.log() / (-outside).log1p()).upper()))  # level^runs = P(Binomial = runs)
            raise errors.ParameterError(
                "runs", f"are too few for margins at the level {level}", f"take {least} or more", value=runs
            )
        return found


def _of_runs(table: str, moved: Sequence[Mapping[tuple[str, ...], int]], cells: int | None, place: int) -> NumberAccuracy:
    """The largest margin, deviation and bias of the cells of a table that some run moved."""
    by_cell = [[run.get(cell, 0) for run in moved] for cell in {cell for run in moved for cell in run}]
    margins = [sorted(map(abs, offs))[place - 1] for offs in by_cell]
    return NumberAccuracy(
        table=table, numbers=cells, law="simulated on what was released", source="runs",
        margin=Bracket.exactly(max(margins, default=0)), margin_of_all=None,
        deviation=_simulated(float(np.std(offs)) for offs in by_cell),
        bias=_simulated(abs(float(np.mean(offs))) for offs in by_cell), coverage=None,
        note=f"the cell that moved most, in {count(len(moved), 'run')}",
    )  # fmt: skip


def _simulated(values: Iterable[float]) -> Bracket:
    """The largest of some simulated values, to six decimals."""
    return Bracket.exactly(Fraction(max(values, default=0.0)).limit_denominator(10**6))


# --- a release with margins -----------------------------------------------------------------------


def files_of_release(path: Path, document: SpecDocument) -> tuple[Path, ...]:
    """The released tables of a folder of `dpspec release`, or one file.

    Raises:
        ReleaseError: there is no such file; the folder has no report, or it is of another specification.
    """
    if path.is_file() and path.name != REPORT:
        return (path,)
    return released_files(path if path.is_dir() else path.parent, document)


def is_noisy_answers(path: Path, document: SpecDocument, registry: Registry) -> bool:
    """Whether a released file has one row for each noisy answer, and no records.

    Raises:
        TableError: it has, in the columns of an earlier version.
    """
    columns = table_files.format_of(path, formats_of(registry)).header(path)
    answers.check_current(columns, path.name)
    return answers.are_answers(columns, document.spec.space)


def read_released(files: Sequence[Path], document: SpecDocument, registry: Registry) -> Table:
    """Released records, in the words of the space; households with their persons where both were released.

    Raises:
        TableError: a file does not have the columns of the space.
    """
    space, formats = document.spec.space, formats_of(registry)
    if len(files) > 1 and len(space.units) > 1:
        outer, inner = (table_files.as_released(own_attributes(space, unit)) for unit in space.units[:2])
        return table_files.read_households(files[0].parent, outer, inner, formats)
    identifiers = tuple(name for name in table_files.format_of(files[0], formats).header(files[0]) if name == HOUSEHOLD_ID)
    attributes = [a for a in space.attributes_of(space.units[0]) if a.name != MEMBERS]
    return table_files.read_table(files[0], table_files.as_released(attributes), formats, keep=identifiers)


@attrs.frozen
class ReleasedNumber:
    """One row of a released table.

    Args:
        query: the words of the query.
        cell: what is in the column of each attribute, and in that of the measure.
        value: the published number; "" where none is.
        margin: its margin; "" where that is not known.
        status: as released.
    """

    query: str
    cell: Mapping[str, str]
    value: str
    margin: str
    status: str

    @property
    def words(self) -> str:
        """The categories of the cell, for people."""
        return ", ".join(category for category in self.cell.values() if category != answers.ALL) or "total"


def released_numbers(files: Sequence[Path], known: Accuracy) -> list[ReleasedNumber]:
    """The numbers of released CSV files of noisy answers, with their margins.

    Args:
        files: those of a release, in the order of its report; or some of them.
        known: the accuracy of the specification.

    Raises:
        TableError: a file cannot be read, or a row is not the cell that the specification has in its place.
    """
    read = [_read(path) for path in files]
    margins = margins_of_files([Counter(row.get(answers.QUERY) or "" for row in rows) for _, rows in read], known)
    given = zip(files, read, margins, strict=True)
    return [number for path, (columns, rows), own in given for number in _numbers(path, columns, rows, own, known)]


def _read(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """The columns of the cells, and the rows."""
    if path.suffix.lower() != ".csv":
        raise TableError(path.name, "has noisy answers, which are read from CSV files", "release with --as csv")
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        columns = [one for one in reader.fieldnames or () if one not in _OTHERS and not _MARGIN.fullmatch(one)]
        return columns, list(reader)


def _numbers(
    path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, str]], margins: Mapping[str, str], known: Accuracy
) -> Iterator[ReleasedNumber]:
    """The rows of a file as numbers."""
    space, queries = known.document.spec.space, _queries(known)
    waiting: dict[str, Iterator[tuple[str, ...]]] = {}
    for line, row in enumerate(rows, start=2):
        query, value, status = (row.get(column) or "" for column in (answers.QUERY, answers.VALUE, answers.STATUS))
        cell = {name: row[name] or "" for name in columns}
        if query in queries:
            if query not in waiting:
                waiting[query] = _again_and_again(queries[query], space)  # a table may be released several times
            own = tuple(cell.get(answers.column_of(name)) for name in queries[query].attributes)
            if own != next(waiting[query]):
                rule = f"line {line} is not the cell that the specification has there"
                raise TableError(path.name, rule, "give the file as dpspec release wrote it")
        yield ReleasedNumber(query, cell, value, margins.get(query, "") if value else "", status)


_OTHERS = (answers.QUERY, answers.VALUE, answers.STATUS)
_MARGIN = re.compile(r"margin(_[0-9]+)?")


def _queries(known: Accuracy) -> dict[str, Marginal]:
    """The tables of counts that the mechanism answers and whose accuracy is known, by their words."""
    mechanism, named = known.document.mechanism, {one.table for one in known.tables}
    structure = None if mechanism is None else _structure(mechanism, known.document.spec.space)
    counted = (view.table for view in (() if structure is None else structure.views) if _counts(view))
    return {str(table): table for table in counted if str(table) in named}


def _counts(view: grammar.View) -> bool:
    return isinstance(_once(view)[0], grammar.NoisyCount)


def margins_of_files(files: Sequence[Mapping[str, int]], known: Accuracy) -> list[dict[str, str]]:
    """For each file the margin of the queries whose numbers have one, and one that is known.

    The parts of a composition have files of their own. Where they answer one query, each with noise of its own, the tables of
    the specification are dealt out to the files in their order, as long as all of them are used and all files are filled.

    Args:
        files: how many numbers of each query the files have.
        known: the accuracy of the specification.
    """
    margins: list[dict[str, str]] = [{} for _ in files]
    unknown = {query for query, _ in known.unknown}
    for query in dict.fromkeys(itertools.chain.from_iterable(files)):
        accuracies = [table for table in known.tables if table.table == query]
        holders = [place for place, file in enumerate(files) if query in file]
        sizes = [files[place][query] for place in holders]
        dealt = [accuracies] * len(holders) if _one_margin(accuracies) else _dealt(accuracies, sizes)
        for place, own in zip(holders, dealt, strict=True):
            if query not in unknown and _one_margin(own) and all(table.is_of_all_counts for table in own):
                margins[place][query] = upper_in_words(own[0].margin)
    return margins


def _one_margin(tables: Sequence[NumberAccuracy]) -> bool:
    return len({str(table.margin.upper) for table in tables}) == 1


def _dealt(accuracies: Sequence[NumberAccuracy], sizes: Sequence[int]) -> list[list[NumberAccuracy]]:
    """The tables of each file by how many numbers it has; none where these are not those of all tables, in their order."""
    waiting, dealt = list(accuracies), list[list[NumberAccuracy]]()
    for size in sizes:
        own: list[NumberAccuracy] = []
        while waiting and sum(table.numbers or 0 for table in own) < size:
            own.append(waiting.pop(0))
        if sum(table.numbers or 0 for table in own) != size:
            return [[] for _ in sizes]
        dealt.append(own)
    return dealt if not waiting else [[] for _ in sizes]


def with_margins(released: Mapping[str, Table], known: Accuracy) -> dict[str, Table]:
    """The released tables, in their order; those of noisy counts with a column of their margins."""
    noisy = {name: table for name, table in released.items() if answers.has_answers(table)}
    margins = margins_of_files([_count_of_queries(table) for table in noisy.values()], known)
    own = dict(zip(noisy, margins, strict=True))
    return {
        name: MarginColumn(table.attributes, own[name], known.level).added(table) if name in own else table
        for name, table in released.items()
    }


def margins_of_stream(attributes: tuple[Attribute, ...], known: Accuracy) -> MarginColumn:
    """The margins of a table of noisy counts that comes in batches, and is the only one of its release.

    Args:
        attributes: its columns.
        known: the accuracy of the specification.
    """
    numbers = {query: sum(one.numbers or 0 for one in known.tables if one.table == query) for query in attributes[0].values()}
    (margins,) = margins_of_files([numbers], known)
    return MarginColumn(attributes, margins, known.level)


def _count_of_queries(table: Table) -> dict[str, int]:
    queries = table.attribute(answers.QUERY)
    return dict(zip(queries.values(), np.bincount(table.codes[answers.QUERY], minlength=queries.size).tolist(), strict=True))


class MarginColumn:
    """The column of margins of a table of noisy counts, before that of the status.

    Args:
        attributes: the columns of the table.
        margins: the margin of each query that has one.
        level: of the margins.
    """

    def __init__(self, attributes: Sequence[Attribute], margins: Mapping[str, str], level: Fraction) -> None:
        known = {a.name: a for a in attributes}
        words = [margins.get(query, "") for query in known[answers.QUERY].values()]
        whole = [math.ceil(Fraction(margin)) if margin else None for margin in words]  # margins of whole numbers
        kinds = sorted({margin for margin in whole if margin is not None})
        self._places = np.asarray([len(kinds) if margin is None else kinds.index(margin) for margin in whole])
        self._value = known[answers.VALUE]
        self.column = tables.NumberedAttribute(margin_column(level), np.asarray(kinds, dtype=np.int64), ("",))
        self.attributes = (*attributes[:-1], self.column, attributes[-1])

    def added(self, table: Table) -> Table:
        """The table, or a batch of it, with this column."""
        codes = self._places[table.codes[answers.QUERY]]
        if isinstance(self._value, tables.NumberedAttribute):
            codes = np.where(self._value.is_missing(table.codes[answers.VALUE]), self.column.length, codes)
        column = tables.compact(codes, self.column.size)
        return Table(attributes=self.attributes, codes={**table.codes, self.column.name: column})


def margin_column(level: Fraction) -> str:
    """The name of the column of margins.

    >>> margin_column(Fraction(19, 20)), margin_column(Fraction(2, 3))
    ('margin_95', 'margin')
    """
    percent = 100 * level
    return f"margin_{percent}" if percent.denominator == 1 else "margin"


def _again_and_again(query: Marginal, space: DatasetSpace) -> Iterator[tuple[str, ...]]:
    while True:
        for cell in query.cells(space):
            yield tuple(map(str, cell))


def upper_in_words(value: Bracket, digits: int = 6) -> str:
    """The upper end of a margin with so many digits, rounded up.

    >>> upper_in_words(Bracket.exactly("29957323/10000000"), 3), upper_in_words(Bracket.exactly(12345), 3)
    ('3', '12345')
    """
    end = Fraction(str(value.upper)) if value.upper.is_rational else exact.dyadic(value.upper.enclose(64).upper())
    if end.denominator == 1:
        return str(end.numerator)
    with decimal.localcontext(decimal.Context(prec=digits, rounding=decimal.ROUND_CEILING)):
        return f"{(decimal.Decimal(end.numerator) / decimal.Decimal(end.denominator)).normalize():f}"


def as_csv(rows: Sequence[ReleasedNumber], level: Fraction) -> str:
    """The released columns, and the margin of each number."""
    columns = list(dict.fromkeys(name for row in rows for name in row.cell))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([answers.QUERY, *columns, answers.VALUE, margin_column(level), answers.STATUS])
    for row in rows:
        writer.writerow([row.query, *(row.cell.get(name, "") for name in columns), row.value, row.margin, row.status])
    return text.getvalue()
