r"""The design with the least disclosure that keeps a named level of detail, among all patterns of suppressed cells.

Given are unprotected tables, a rule for sensitive cells, and the cells that have to stay published. A pattern P is the set of
cells that are suppressed; it contains the sensitive cells that need not stay. A sensitive cell is *protected* under P where its
range reaches as much more and as much less as the rule requires (`RuleFile.missing`). Publishing less never narrows a range, so

    the least disclosure   is that of suppressing all that need not stay: cells that are not protected then never are
    the least loss         is the smallest cost of a pattern that protects all others: the cells, the records, or their total

The least loss is found with a proved bound (logic-based Benders decomposition, Hooker and Ottosson 2003). Where a pattern does
not protect a cell, the certificate of its range uses some published cells U; as long as all of U stay published, the same
certificate holds. So every pattern that protects suppresses a cell of U: a cut. The cheapest set that meets all cuts
costs at most the least loss; once it protects, it is the least loss. Coarser codes are rows of the tables: suppressing all cells
below one leaves it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import attrs

from dpspec.plugin import errors
from dpspec.plugin.applications import JsonData, count
from dpspec_disclosure.audit import named_places
from dpspec_disclosure.feasible_tables import FeasibleSet, Largest, NoTableFits, Statement, Terms
from dpspec_disclosure.linked_tables import Later, TableCell, populations, separate_measures
from dpspec_disclosure.rule_steps import CellContents
from dpspec_disclosure.rules import RuleFile

MOST_ROUNDS = 200
"""Patterns that are tried. Each adds a cut for each cell that is not protected; small tables need fewer than ten."""
MOST_SETS = 200_000
"""Nodes of the search for the cheapest set that meets all cuts."""


@attrs.frozen(kw_only=True)
class SuppressionDesign:
    """The pattern that was found.

    Args:
        cells: all cells, with whether each is suppressed.
        sensitive: the number of sensitive cells.
        primary: how many of them are suppressed; the others have to stay published.
        disclosed: the sensitive cells that no design with these kept cells protects.
        cost: what the pattern costs beyond the sensitive cells.
        bound: no pattern with the same disclosure costs less.
        by: the cost: cells, records or total.
    """

    cells: tuple[tuple[TableCell, bool], ...]
    sensitive: int
    primary: int
    disclosed: tuple[TableCell, ...]
    cost: int
    bound: int
    by: str

    @property
    def suppressed(self) -> int:
        return sum(hidden for _, hidden in self.cells)

    @property
    def secondary(self) -> int:
        """The suppressed cells that no rule calls sensitive."""
        return self.suppressed - self.primary

    @property
    def is_optimal(self) -> bool:
        return self.cost == self.bound

    @property
    def exit_code(self) -> int:
        """0 for the least loss, 1 where a sensitive cell is disclosed by what is kept, 3 where the bound is smaller."""
        return 1 if self.disclosed else 0 if self.is_optimal else 3


@attrs.frozen
class _Cell:
    """A cell of the tables: its sum, number, cost, and what protects it (None where it is not sensitive)."""

    cell: TableCell
    terms: Terms
    value: int
    cost: int
    need: int | None
    kept: bool


def design_suppression(
    cells: Sequence[TableCell], contents: Sequence[CellContents], rules: RuleFile, keep: Sequence[Sequence[str]] = (),
    by: str = "cells",
) -> SuppressionDesign:  # fmt: skip
    """The pattern with the least disclosure and, of these, the least loss.

    Args:
        cells: the cells of all tables, of one population.
        contents: the content of each of them.
        rules: thresholds, dominance, p-percent and redaction.
        keep: lists of attributes; a cell that names no other attributes than those of one list stays published.
        by: cells, records or total: the cost of a suppressed cell, 1, its contributions or its number.

    Raises:
        errors.DisclosureRuleError: a rule changes numbers, or only sensitive cells may be suppressed.
        errors.ParameterError: `keep` names an attribute that no table has.
        errors.TableError: the tables contradict each other.
    """
    changing = next((step.name for step in rules.steps if step.spread), None)
    if changing is not None:
        raise errors.DisclosureRuleError("step", "changes numbers, and a design suppresses them", "leave it out", value=changing)
    if not rules.columns.secondary:
        rule, advice = "says that only sensitive cells are suppressed, and a design suppresses others", "leave it out"
        raise errors.DisclosureRuleError("tables.secondary", rule, advice, value="false")
    named = {name for cell in cells for name, _ in cell.codes}
    strange = next((name for some in keep for name in some if name not in named), None)
    if strange is not None:
        raise errors.ParameterError("keep", "is in no table", f"one of {', '.join(sorted(named))}", value=strange)
    inside = {id(cell): held for cell, held in zip(cells, contents, strict=True)}
    found: list[tuple[TableCell, bool]] = []
    disclosed: list[TableCell] = []
    sensitive = primary = cost = bound = 0
    for one in populations([cells], rules, Later()):
        listed = [_cell(placed, inside[id(placed[0])], rules, keep, by) for placed in one.cells]
        search = _Search(one.feasible.cells, listed)
        hidden, lower, open_ = search.run()
        found += [(each.cell, place in hidden) for place, each in enumerate(listed)]
        disclosed += [listed[place].cell for place in open_]
        sensitive += len(search.sensitive)
        primary += len(search.always)
        cost += sum(listed[place].cost for place in hidden - search.always)
        bound += lower
    return SuppressionDesign(
        cells=tuple(found), sensitive=sensitive, primary=primary, disclosed=tuple(disclosed), cost=cost, bound=bound, by=by
    )


def _cell(
    placed: tuple[TableCell, Terms], contents: CellContents, rules: RuleFile, keep: Sequence[Sequence[str]], by: str
) -> _Cell:
    cell, terms = placed
    kept = any({name for name, _ in cell.codes} <= set(some) for some in keep)
    cost = {"cells": 1, "records": contents.count, "total": contents.total}[by]
    return _Cell(cell, terms, contents.total, cost, rules.missing(contents), kept)


class _Search:
    """The search on one population; cells are named by their places."""

    def __init__(self, base: int, cells: Sequence[_Cell]) -> None:
        self.base, self.cells = base, cells
        self.sensitive = [place for place, cell in enumerate(cells) if cell.need is not None]
        self.always = frozenset(place for place in self.sensitive if not cells[place].kept)
        self.free = frozenset(place for place, cell in enumerate(cells) if not cell.kept) - self.always

    def run(self) -> tuple[frozenset[int], int, list[int]]:
        """The suppressed cells, a bound on the cost of the free ones among them, and the cells that are disclosed anyway."""
        everything = self.always | self.free
        disclosed = [place for place in self.sensitive if self._used(place, everything)]
        protect = [place for place in self.sensitive if place not in disclosed]
        cuts: list[frozenset[int]] = []
        bound = 0
        for _ in range(MOST_ROUNDS):
            chosen = cheapest_meeting(cuts, {place: self.cells[place].cost for place in self.free})
            if chosen is None:
                break
            bound = max(bound, sum(self.cells[place].cost for place in chosen))
            more = [used & self.free for place in protect for used in self._used(place, self.always | chosen)]
            if not more:
                return self.always | chosen, bound, disclosed
            cuts += more
        return self._pattern(protect, cuts), bound, disclosed

    def _pattern(self, protect: Sequence[int], cuts: Iterable[frozenset[int]]) -> frozenset[int]:
        """A pattern that protects: all cells of the cuts, and more as needed; then some are published again where that may be."""
        hidden = self.always | frozenset().union(*cuts)
        while True:
            more = [used & self.free for place in protect for used in self._used(place, hidden)]
            if not more:
                break
            hidden |= frozenset().union(*more)
        for place in sorted(hidden - self.always, key=lambda one: -self.cells[one].cost):
            if not any(self._used(one, hidden - {place}) for one in protect):
                hidden -= {place}
        return hidden

    def _used(self, place: int, hidden: frozenset[int]) -> list[frozenset[int]]:
        """For each end of the range of a cell that does not reach as far as is required, the published cells that show it."""
        cell = self.cells[place]
        if cell.need is None:
            return []
        shown = [one for one in range(len(self.cells)) if one not in hidden]
        numbers = [(each.terms, each.value, each.cell.label) for each in (self.cells[one] for one in shown)]
        statements = [Statement(terms, ((value, value),), label) for terms, value, label in numbers]
        feasible = FeasibleSet(self.base, statements)
        try:
            found = feasible.range_of(cell.terms)
        except NoTableFits as problem:
            labels = [statements[one].label for one in named_places(problem.proof, len(statements))]
            rule = f"contradict each other: {'; '.join(labels)}"
            raise errors.TableError("tables", rule, "give totals that are the sums of their parts") from None
        ends: list[tuple[Largest, int]] = [(found.most, cell.value + cell.need), (found.least, -max(0, cell.value - cell.need))]
        short = [end for end, wanted in ends if end.bound is not None and end.bound < wanted]
        undecided = [end for end, wanted in ends if end not in short and end.direction is None and end.value < wanted]
        if undecided:
            rule = "has a range that was not decided within the limits of the search"
            raise errors.NumericalError("design", rule, "design fewer tables together")
        return [
            frozenset(shown[one] for one in named_places(end.proof, len(statements))) for end in short if end.proof is not None
        ]


def cheapest_meeting(cuts: Sequence[frozenset[int]], cost: Mapping[int, int], nodes: int = MOST_SETS) -> frozenset[int] | None:
    """The cheapest set that has an element of each cut; None where the search was not completed.

    >>> sorted(cheapest_meeting([frozenset({1, 2}), frozenset({2, 3})], {1: 1, 2: 1, 3: 1}))
    [2]
    """
    minimal = [cut for cut in set(cuts) if not any(other < cut for other in cuts)]
    best: list[frozenset[int]] = []
    price = [sum(cost.values()) + 1]
    left = [nodes]

    def search(chosen: frozenset[int], spent: int, without: frozenset[int]) -> None:
        left[0] -= 1
        if left[0] < 0:
            return
        unmet: list[frozenset[int]] = [cut - without for cut in minimal if not cut & chosen]
        if any(not cut for cut in unmet) or spent + _disjoint(unmet, cost) >= price[0]:
            return
        if not unmet:
            best[:], price[0] = [chosen], spent
            return
        passed: frozenset[int] = frozenset()
        smallest: frozenset[int] = min(unmet, key=len)
        for place in sorted(smallest, key=lambda one: (cost[one], one)):
            search(chosen | {place}, spent + cost[place], without | passed)
            passed |= {place}

    search(frozenset(), 0, frozenset())
    return best[0] if best and left[0] >= 0 else None


def _disjoint(cuts: Iterable[frozenset[int]], cost: Mapping[int, int]) -> int:
    """A lower bound: cuts without a common element are each met by an element of its own."""
    taken: set[int] = set()
    total = 0
    for cut in sorted(cuts, key=len):
        if not cut & taken:
            taken |= cut
            total += min(cost[place] for place in cut)
    return total


# --- output ---------------------------------------------------------------------------------------


def design_data(found: SuppressionDesign) -> JsonData:
    """A design, as data; without any number of a table."""
    return {
        "cells": len(found.cells),
        "sensitive": found.sensitive,
        "suppressed": found.suppressed,
        "by": found.by,
        "cost": found.cost,
        "bound": found.bound,
        "optimal": found.is_optimal,
        "disclosed": [dict(cell.codes) for cell in found.disclosed],
        "pattern": [
            {"path": cell.path, "line": cell.line, "column": cell.column, "cell": dict(cell.codes)}
            for cell, hidden in found.cells
            if hidden
        ],
    }


def design_text(found: SuppressionDesign) -> str:
    """The same for people."""
    extra = count(found.secondary, "cell")
    hidden = f"{found.suppressed:,} of {count(len(found.cells), 'cell')} suppressed"
    shown = f"{hidden}: {found.primary:,} sensitive, and {extra} to protect them"
    if found.primary < found.sensitive:
        shown += f"; {count(found.sensitive - found.primary, 'sensitive cell')} of what is kept stays published"
    best = "no design that keeps the same detail and discloses as little costs less (proved)"
    lines = [shown, best if found.is_optimal else f"a design that costs less may exist; none costs less than {found.bound:,}"]
    if found.disclosed:
        lines.append(f"{count(len(found.disclosed), 'sensitive cell')} not protected by any design that keeps this detail:")
        lines += [f"  {cell.label}" for cell in found.disclosed]
    lines += [f"  x {cell.label}" for cell, hidden in found.cells if hidden]
    lines += separate_measures(cell.measure for cell, _ in found.cells)
    return "\n".join(lines)


def protected_tables(found: SuppressionDesign, marker: str, folder: Path) -> dict[str, str]:
    """The tables with the pattern, as CSV, by their paths in the folder: label and number columns, nothing else."""
    rows: dict[str, dict[int, dict[str, str]]] = {}
    for cell, hidden in found.cells:
        path = Path(cell.path).relative_to(folder).as_posix()
        row = rows.setdefault(path, {}).setdefault(cell.line, {name: cell.row[name] for name in cell.labels})
        row[cell.column] = marker if hidden or cell.allowed is None else str(cell.allowed[0][0])
    texts = {}
    for name, lines in rows.items():
        written = io.StringIO()
        writer = csv.DictWriter(written, list(next(iter(lines.values()))), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines.values())
        texts[name] = written.getvalue()
    return texts


def codes_of(text: str) -> tuple[str, ...]:
    """The attributes of one `keep`."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
