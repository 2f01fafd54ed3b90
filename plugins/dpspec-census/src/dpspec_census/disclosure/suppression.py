"""Cell suppression: sensitive cells are not published, nor are those from which they could be computed.

A cell of the contributions x_1 >= x_2 >= ... with total X is sensitive by (Hundepool and others 2012, chapter 4)

    threshold t          0 < number of contributions < t
    p-percent            X - x_1 - x_2 < p/100 x_1: the second could estimate the first to within p percent
    dominance (n, k)     x_1 + ... + x_n > k/100 X

In a table of counts every contribution is 1; in a table of magnitudes it is the number in one attribute of the record.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from heapq import nlargest
from typing import TYPE_CHECKING, Annotated, ClassVar

import attrs

from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import IncompatibleBlocksError, ParameterError
from dpspec.params import Integer, Nested, Rational, Text, define
from dpspec_census.disclosure.outputs import Deterministic, small_space
from dpspec_census.disclosure.protection import Exposure, Need, audit, suppressed
from dpspec_census.disclosure.tables import CountTables, Layout

if TYPE_CHECKING:
    from dpspec.randomness import Randomness
    from dpspec.table import Table

SUPPRESSED = "x"
"""What is published in place of a suppressed number."""


@define
class Dominance:
    """The rule that few contributions must not make up most of a cell.

    Args:
        contributions: n.
        percent: k, in (0, 100].
    """

    contributions: Annotated[int, Integer(1)]
    percent: Annotated[Fraction, Rational(0, 100, open_low=True)]


@attrs.frozen
class Contributions:
    """What is added up in one cell.

    Args:
        count: the number of contributions.
        total: X.
        largest: x_1 >= x_2 >= ..., as many as the rules look at.
    """

    count: int
    total: int
    largest: tuple[int, ...]

    @classmethod
    def together(cls, parts: Iterable[Contributions], kept: int) -> Contributions:
        """Those of several cells in one."""
        listed = list(parts)
        largest = nlargest(kept, (x for part in listed for x in part.largest))
        return cls(sum(part.count for part in listed), sum(part.total for part in listed), tuple(largest))


@define
class CellSuppression(CountTables, Deterministic):
    """Tables in which sensitive cells, and those needed to protect them, are left out.

    Args:
        threshold: a cell with fewer contributions than this, but not none, is sensitive; 0 for no such rule.
        p_percent: p of the p-percent rule.
        dominance: n and k of the dominance rule.
        value: the attribute whose categories are the contributions; without it records are counted.
        protection: a suppressed cell could hold at least this much more, and less if it holds as much.
        tables, unit: as in `CountTables`.

    >>> mechanism = CellSuppression(tables=[["region"], []], threshold=2)
    >>> mechanism.law((("north", "old"), ("south", "old"), ("south", "young")), small_space())
    FiniteLaw({(('x', 'x'), (3,)): 1})
    """

    name: ClassVar[str] = "cell-suppression"

    threshold: Annotated[int, Integer(0)] = 0
    p_percent: Annotated[Fraction, Rational(0)] | None = None
    dominance: Annotated[Dominance, Nested(Dominance)] | None = None
    value: Annotated[str, Text()] | None = None
    protection: Annotated[int, Integer(1)] = 1

    def __attrs_post_init__(self) -> None:
        if self.threshold == 0 and self.p_percent is None and self.dominance is None:
            rule = "has no rule by which a cell is sensitive"
            raise ParameterError(f"mechanism {self.name}", rule, "give threshold, p_percent or dominance")

    def check(self, space: DatasetSpace) -> None:
        super().check(space)
        if self.value is not None:
            self._values(space)
            if any(self.value in table for table in self.tables):
                rule = "is what the cells add up, and no attribute of a table"
                raise IncompatibleBlocksError(f"attribute {self.value}", rule, "tabulate the others")

    def _values(self, space: DatasetSpace) -> tuple[int, ...]:
        """The contribution that each category of `value` is."""
        categories = tuple(self.attribute(str(self.value), space).values())
        if not all(category.isdecimal() for category in categories):
            wrong = next(category for category in categories if not category.isdecimal())
            rule = "is no whole number, at least 0, that could be added up"
            raise IncompatibleBlocksError(f"category of {self.value}", rule, value=wrong)
        return tuple(map(int, categories))

    # -- the rules --------------------------------------------------------------------------------

    @property
    def kept(self) -> int:
        """How many of the largest contributions the rules look at."""
        return max(2, self.dominance.contributions if self.dominance is not None else 0)

    def missing(self, cell: Contributions) -> int | None:
        """How much more a sensitive cell would have to hold for the rules not to call it so; None for one that is not sensitive.

        >>> rule = CellSuppression(tables=[[]], p_percent=10)
        >>> rule.missing(Contributions(3, 105, (80, 20))), rule.missing(Contributions(3, 110, (80, 20)))
        (3, None)
        """
        gaps: list[Fraction] = []
        if 0 < cell.count < self.threshold:
            gaps.append(Fraction(self.protection))
        if self.p_percent is not None and cell.count:
            gaps.append(self.p_percent / 100 * cell.largest[0] - (cell.total - sum(cell.largest[:2])))
        if self.dominance is not None and cell.count:
            gaps.append(sum(cell.largest[: self.dominance.contributions]) * 100 / self.dominance.percent - cell.total)
        largest = max(gaps, default=Fraction(0))
        return max(self.protection, math.ceil(largest)) if largest > 0 else None

    def published(self, layout: Layout, base: Sequence[Contributions]) -> tuple[int | str, ...]:
        """The published numbers of a table, "x" for those that are suppressed."""
        cells = [Contributions.together((base[place] for place in places), self.kept) for places in layout.members]
        gaps = ((place, cell, self.missing(cell)) for place, cell in enumerate(cells))
        needs = tuple(Need(place, gap, min(gap, cell.total)) for place, cell, gap in gaps if gap is not None)
        hidden = suppressed(layout, tuple(part.total for part in base), needs)
        return tuple(SUPPRESSED if place in hidden else cell.total for place, cell in enumerate(cells))

    def audited(self, published: Sequence[int | str], space: DatasetSpace) -> tuple[Exposure, ...]:
        """The feasible interval of every suppressed cell, from the published numbers, table after table."""
        known = {place: number for place, number in enumerate(published) if isinstance(number, int)}
        return tuple(audit(self.layout(space), known))

    # -- small and large --------------------------------------------------------------------------

    def output(self, dataset: Dataset, space: DatasetSpace) -> tuple[tuple[int | str, ...], ...]:
        """The published numbers, table by table."""
        layout = self.layout(space)
        names = [a.name for a in self.attributes(space)]
        places = [names.index(a.name) for a in layout.attributes]
        held: dict[tuple[Hashable, ...], list[int]] = {}
        for record in space.records(dataset, self.unit):
            amount = 1 if self.value is None else int(str(record[names.index(self.value)]))
            held.setdefault(tuple(record[place] for place in places), []).append(amount)
        listed = (sorted(held.get(cell, ()), reverse=True) for cell in layout.base)
        base = [Contributions(len(xs), sum(xs), tuple(xs[: self.kept])) for xs in listed]
        return layout.grouped(self.published(layout, base))

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """The published tables: a row for each cell."""
        self.check(space)
        layout = self.layout(space)
        return layout.rows(self.published(layout, self._contributions(self.rows_of(table, space), space)))

    def _contributions(self, table: Table, space: DatasetSpace) -> list[Contributions]:
        import numpy as np

        layout = self.layout(space)
        key = table.key([a.name for a in layout.attributes])
        ones = np.ones(len(table), dtype=np.int64)
        amounts = ones if self.value is None else np.asarray(self._values(space))[table.codes[self.value]]
        order = np.lexsort((-amounts, key))
        ends = np.searchsorted(key[order], np.arange(len(layout.base) + 1))
        sums = np.concatenate([[0], np.cumsum(amounts[order])])
        found = []
        for start, end in itertools.pairwise(ends.tolist()):
            largest = amounts[order[start : min(end, start + self.kept)]]
            found.append(Contributions(end - start, int(sums[end] - sums[start]), tuple(largest.tolist())))
        return found

    @classmethod
    def examples(cls) -> Iterable[tuple[CellSuppression, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(tables=(("region", "age"), ("region",), ("age",), ()), threshold=2), small_space(most=2)
