"""Cell suppression: sensitive cells are not published, nor are those from which they could be computed.

A cell of the contributions x_1 >= x_2 >= ... with total X is sensitive by (Hundepool and others 2012, chapter 4)

    threshold t          0 < number of contributions < t
    p-percent            X - x_1 - x_2 < p/100 x_1: the second could estimate the first to within p percent
    dominance (n, k)     x_1 + ... + x_n > k/100 X

In a table of counts every contribution is 1; in a table of magnitudes it is the number in one attribute of the record.

The auditor says which further cells must be suppressed:

An attacker knows the layout and every published number, and that base counts are integers at least 0. A suppressed cell c is
*protected* by (u, l) when two tables agree with all that is published, one of them with at least u more in c, one with at least l
less (Fischetti and Salazar 2000). Cell after cell, the fewest numbers that give this protection are suppressed:

    minimise  sum of w_c z_c   over z in {0, 1}, integer changes d', d'' >= -n
    subject to  -M z_c <= (A d)_c <= M z_c for d = d', d'' and every cell not yet suppressed,
                (A d')_p >= u,  (A d'')_p <= -l

A solution of the solver is believed only after integer arithmetic has confirmed its two tables. That no cheaper set exists rests
on the solver, the protection does not.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from heapq import nlargest
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import attrs

from dpspec.plugin import (
    Attribute,
    Dataset,
    DatasetSpace,
    IncompatibleBlocksError,
    Integer,
    Marginal,
    Nested,
    ParameterError,
    Rational,
    Text,
    define,
    errors,
    spend,
)
from dpspec_census.disclosure.tables import SUPPRESSED, CountTables, CountVector, Deterministic, Layout, small_space

if TYPE_CHECKING:
    from dpspec.plugin import Randomness, Table, tables


@attrs.frozen
class Need:
    """The protection that a sensitive cell requires.

    Args:
        cell: the place of the published cell.
        up, down: how much more and less it must possibly hold; down is at most what it holds.
    """

    cell: int
    up: int
    down: int


_WORK_OF_A_PROGRAM = 4_000
"""Units of work for one integer program. They are counted again where its answer is remembered, so that no limit depends on
what was computed before."""


def suppressed(layout: Layout, base: CountVector, needs: tuple[Need, ...]) -> frozenset[int]:
    """The places of the published cells that are suppressed: the sensitive ones, and those that protect them.

    Raises:
        NumericalError: the solver found no answer that integer arithmetic confirms.
    """
    hidden, programs = _suppressed(layout, base, needs)
    spend(_WORK_OF_A_PROGRAM * programs)
    return hidden


@lru_cache(maxsize=1 << 12)
def _suppressed(layout: Layout, base: CountVector, needs: tuple[Need, ...]) -> tuple[frozenset[int], int]:
    """These places, and how many integer programs were solved."""
    hidden, programs = {need.cell for need in needs}, 0
    reached: dict[int, tuple[int, int]] = {}
    for need in sorted(needs, key=lambda need: (-need.up, need.cell)):
        low, high = reached.get(need.cell, (0, 0))
        if high >= need.up and -low >= need.down:
            continue
        programs += 1
        for change in _cheapest(layout, base, frozenset(hidden), need):
            moved = layout.published(change)
            hidden |= {cell for cell, by in enumerate(moved) if by}
            for cell, by in enumerate(moved):
                low, high = reached.get(cell, (0, 0))
                reached[cell] = min(low, by), max(high, by)
    return frozenset(hidden), programs


def _cheapest(layout: Layout, base: CountVector, hidden: frozenset[int], need: Need) -> tuple[CountVector, CountVector]:
    """The changes d' and d'' of the cheapest protection of one cell, confirmed."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import block_array, eye_array

    sums, size, values = matrix(layout), len(base), layout.published(base)
    free = [cell for cell in range(len(values)) if cell not in hidden]
    most = max(need.up, need.down)
    rows, wall = sums[free], most * eye_array(len(free))
    aim, nothing = sums[[need.cell]], None
    blocks = [
        [rows, nothing, -wall], [-rows, nothing, -wall], [nothing, rows, -wall], [nothing, -rows, -wall],
        [-aim, nothing, nothing], [nothing, aim, nothing],
    ] if free else [[-aim, nothing], [nothing, aim]]  # fmt: skip
    ceiling = np.zeros(4 * len(free) + 2)
    ceiling[-2:] = -need.up, -need.down
    cost = np.concatenate([np.zeros(2 * size), [1 + values[cell] for cell in free]])
    least = np.concatenate([-np.asarray(base), -np.asarray(base), np.zeros(len(free))])
    largest = np.concatenate([np.full(2 * size, sum(base) + most), np.ones(len(free))])
    found = milp(
        cost, integrality=np.ones(len(cost)), bounds=Bounds(least, largest),
        constraints=LinearConstraint(block_array(blocks, format="csr"), -np.inf, ceiling),
        options={"mip_rel_gap": 0},
    )  # fmt: skip
    if found.x is None:
        raise errors.NumericalError(
            "cell suppression", "the solver found no protection", "publish fewer tables", value=found.message
        )
    whole = tuple(round(value) for value in found.x)
    changes = whole[:size], whole[size : 2 * size]
    chosen = hidden | {cell for cell, z in zip(free, whole[2 * size :], strict=True) if z}
    _confirm(layout, base, chosen, need, changes)
    return changes


def _confirm(
    layout: Layout, base: CountVector, chosen: frozenset[int] | set[int], need: Need, changes: tuple[CountVector, CountVector]
) -> None:
    """Check that the two tables exist, agree with all published values, and differ as much as required."""
    more, less = (layout.published(change) for change in changes)
    agree = all(by == 0 for moved in (more, less) for cell, by in enumerate(moved) if cell not in chosen)
    exist = all(n + d >= 0 for change in changes for n, d in zip(base, change, strict=True))
    if not (agree and exist and more[need.cell] >= need.up and -less[need.cell] >= need.down):
        raise errors.NumericalError(
            "cell suppression", "an answer of the solver is not confirmed", "publish fewer tables", value=need.cell
        )


@lru_cache(maxsize=64)
def matrix(layout: Layout) -> Any:
    """A as a sparse matrix: rows are published cells, columns base cells."""
    import numpy as np
    from scipy.sparse import csr_array

    lengths = [len(places) for places in layout.members]
    columns = np.concatenate([np.asarray(places) for places in layout.members])
    rows = np.repeat(np.arange(len(lengths)), lengths)
    return csr_array((np.ones(len(columns)), (rows, columns)), shape=(len(lengths), len(layout.base)))


# --- the auditor ---------------------------------------------------------------------------------


@attrs.frozen
class Exposure:
    """The range of a suppressed cell that the published numbers imply.

    Args:
        label: the cell.
        low, high: the least and the largest number of records that it can hold; high is None when there is no largest.
    """

    label: tuple[str, ...]
    low: int
    high: int | None

    @property
    def is_known(self) -> bool:
        """Whether the cell can be computed."""
        return self.low == self.high


def audit(layout: Layout, published: Mapping[int, int]) -> Iterator[Exposure]:
    """The feasible interval of every cell that is not published, over integer tables with the published numbers.

    The attacker of this audit does not know by which rule cells were suppressed; the level sets of the output do
    (`PossibleOutputs`), and can be smaller.

    Args:
        layout: the cells.
        published: the numbers of the published cells, by place.
    """
    seen = {place for cell in published for place in layout.members[cell]}
    for cell, label in enumerate(layout.labels):
        if cell in published:
            continue
        low = _extreme(layout, published, cell, 1)
        bounded = seen.issuperset(layout.members[cell])
        yield Exposure(label, low, _extreme(layout, published, cell, -1) if bounded else None)


def _extreme(layout: Layout, published: Mapping[int, int], cell: int, sign: int) -> int:
    """The least (sign 1) or largest (sign -1) number of a cell; the table that attains it is confirmed."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp

    sums, places = matrix(layout), list(published)
    numbers = np.asarray([published[place] for place in places])
    rows = [LinearConstraint(sums[places], numbers, numbers)] if places else []
    goal = sign * sums[[cell]].toarray()[0]
    found = milp(goal, integrality=np.ones(len(goal)), bounds=Bounds(0, np.inf), constraints=rows)
    if found.x is None:
        raise errors.NumericalError("audit", "the solver found no table with the published numbers", value=found.message)
    table = layout.published([round(value) for value in found.x])
    if any(table[place] != number for place, number in published.items()):
        raise errors.NumericalError("audit", "a table of the solver is not confirmed", value=layout.labels[cell])
    return table[cell]


# --- the mechanism --------------------------------------------------------------------------------


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
    """The contributions in one cell.

    Args:
        count: the number of contributions.
        total: X.
        largest: x_1 >= x_2 >= ..., as many as the rules look at.
    """

    count: int
    total: int
    largest: tuple[int, ...]

    @classmethod
    def of_amounts(cls, amounts: Sequence[tuple[int, int]], kept: int) -> Contributions:
        """Those of so many records of each amount.

        >>> Contributions.of_amounts([(5, 1), (80, 2)], 2)
        Contributions(count=3, total=165, largest=(80, 80))
        """
        every = itertools.chain.from_iterable(itertools.repeat(amount, n) for amount, n in sorted(amounts, reverse=True))
        largest = tuple(itertools.islice(every, kept))
        return cls(sum(n for _, n in amounts), sum(amount * n for amount, n in amounts), largest)

    @classmethod
    def together(cls, parts: Iterable[Contributions], kept: int) -> Contributions:
        """Those of several cells in one."""
        listed = list(parts)
        largest = nlargest(kept, (x for part in listed for x in part.largest))
        return cls(sum(part.count for part in listed), sum(part.total for part in listed), tuple(largest))


@define
class CellSuppression(CountTables, Deterministic):
    """Tables in which sensitive cells, and those needed to protect them, are left out.

    The search for the cells goes through all of them. The attributes of the tables have at most 1,000,000 combinations
    (`MOST_CELLS`), also in a release.

    Args:
        threshold: a cell with fewer contributing records than this, but not none, is sensitive; 0 for no such rule.
        p_percent: p of the p-percent rule.
        dominance: n and k of the dominance rule.
        value: the attribute whose categories are the contributions; without it records are counted.
        protection: a suppressed cell could hold at least so many counts more, and less if it holds as many.
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
        instead = "publish fewer cells, or redact small counts (conventional-rounding with redact_up_to)"
        self.check_listed(space, "the search for cells to suppress, also of a release,", instead)
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

    def counts_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[Marginal, ...] | None:
        return self.base_read(attributes, space, beside=self.value)

    def release(self, table: tables.Countable, space: DatasetSpace, source: Randomness) -> Table:
        """The published tables: a row for each cell."""
        self.check(space)
        layout = self.layout(space)
        shown = self.published(layout, self._contributions(table, space))
        return layout.rows(shown, self.unit, None if self.value is None else f"sum of {self.value}")

    def _contributions(self, table: tables.Countable, space: DatasetSpace) -> list[Contributions]:
        """Those of each cell of the base."""
        if self.value is None:
            return [Contributions(n, n, (1,) * min(n, self.kept)) for n in self.base_of_table(table, space)]
        amounts, found = self._values(space), self.base_by(table, self.value, space)
        held: list[list[tuple[int, int]]] = [[] for _ in self.layout(space).base]
        for cell, code, count in zip(found.cells.tolist(), found.codes.tolist(), found.counts.tolist(), strict=True):
            held[cell].append((amounts[code], count))
        return [Contributions.of_amounts(amounts, self.kept) for amounts in held]

    @classmethod
    def examples(cls) -> Iterable[tuple[CellSuppression, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(tables=(("region", "age"), ("region",), ("age",), ()), threshold=2), small_space(most=2)
