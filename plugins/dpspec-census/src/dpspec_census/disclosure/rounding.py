"""Rounding of each published count to a multiple of a base b, deterministic or random.

    conventional   n -> b floor((2n + b) / (2b)): the nearest multiple, ties up
    random         n = q b + r -> q b with probability 1 - r/b, (q + 1) b with probability r/b: unbiased, multiples stay

Cells are rounded one by one, margins too, so published tables need not add up (`ControlledRounding` does).
Definitions as in Willenborg and de Waal, Elements of Statistical Disclosure Control (2001).

Controlled rounding takes the table, both its margins and its total to multiples of a base at random, and they still add up.

Cox's procedure (J. Amer. Statist. Assoc. 82, 1987). The table of R rows and C columns gets a row and a column more, minus the
totals, so that every line sums to 0. While an entry is no multiple of b, there is a cycle of such entries that turns from row to
column, because no line has only one. Along the cycle entries change alternately by +d and -d, and lines keep their sums:

    + with d = d_plus with probability d_minus / (d_plus + d_minus),  else - with d_minus

where d_plus and d_minus are the largest changes in the two directions that take no entry past a multiple. One more entry is then
a multiple. The result is unbiased, each entry is a multiple next to the true one, and multiples stay.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from dpspec.plugin import (
    Attribute,
    Claim,
    Dataset,
    DatasetSpace,
    FiniteLaw,
    IncompatibleBlocksError,
    Integer,
    Law,
    Marginal,
    ParameterError,
    Text,
    define,
    errors,
    late_module,
    ln,
)  # fmt: skip
from dpspec_census.disclosure.tables import (
    PUBLISHED,
    SUPPRESSED,
    CountVector,
    Deterministic,
    StreamedTables,
    TableRelease,
    small_space,
)

if TYPE_CHECKING:
    import numpy as np

    from dpspec.plugin import AnyIntegers, Mask, Randomness, Table, cell_stream, sorting, tables
else:
    np = late_module("numpy")


MOST_ROUNDED = 16
"""A law is listed for at most so many cells that are no multiple of the base: two outcomes for each."""


class RoundedTables(StreamedTables):
    """Shared by the mechanisms that make each published number from its own count."""

    def counts_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[Marginal, ...] | None:
        return tuple(read for _, read in self.marginals(space)) if self.is_of_unit(attributes, space) else None

    def release(self, table: tables.Countable, space: DatasetSpace, source: Randomness) -> Table:
        """The rounded tables: a row for each cell. What is drawn is drawn for each cell by itself."""
        self.check(space)
        given = self.rows_of(table, space)
        first, *others = (given.cells(read.attributes).every() for _, read in self.marginals(space))
        return self.released_table(np.concatenate([first, *others]) if others else first, space, source)

    def streamed(self, stream: cell_stream.CellStream, batches: Iterable[Table]) -> sorting.SortedRelease:
        return stream.released(batches)


@define
class ConventionalRounding(RoundedTables, Deterministic):
    """Every published count goes to the nearest multiple of the base, and up when two are equally near; small ones are left out
    before that, where they are redacted.

    Redacting up to 5 and then rounding to 5 publishes a 5 for 6 and 7 alone; redacting up to 7, for no count.

    Args:
        base: b: counts are rounded to multiples of it; 1 publishes the counts.
        redact_up_to: counts up to this one are published as "x", whether or not the margins give them away.
        redact_from: the least count that is published as "x"; with 1, a count of 0 is published.
        tables, unit: as in `CountTables`.

    >>> mechanism = ConventionalRounding(tables=[["region"], []], base=3)
    >>> mechanism.law((("north", "old"), ("south", "old"), ("south", "young")), small_space())
    FiniteLaw({((0, 3), (3,)): 1})
    >>> [ConventionalRounding(tables=[[]], base=5, redact_up_to=5).shown(count) for count in (0, 5, 6, 7, 8)]
    ['x', 'x', 5, 5, 10]
    """

    name: ClassVar[str] = "conventional-rounding"

    base: Annotated[int, Integer(1)]
    redact_up_to: Annotated[int | None, Integer(0)] = None
    redact_from: Annotated[int, Integer(0)] = 0

    def __attrs_post_init__(self) -> None:
        if self.redact_from > (self.redact_up_to or 0):
            rule = "is above redact_up_to, so that no count is redacted"
            raise ParameterError("redact_from", rule, "write redact_up_to, the largest count that is", value=self.redact_from)

    def shown(self, count: int) -> int | str:
        """The published value of a count."""
        redacted = self.redact_up_to is not None and self.redact_from <= count <= self.redact_up_to
        return SUPPRESSED if redacted else nearest(count, self.base)

    def output(self, dataset: Dataset, space: DatasetSpace) -> Hashable:
        """The published numbers, table by table."""
        layout = self.listed(space)
        return layout.grouped([self.shown(count) for count in layout.published(self.base_counts(dataset, space))])

    def cell_numbers(self, counts: AnyIntegers, source: Randomness) -> AnyIntegers:
        """The nearest multiples, also of counts that are redacted."""
        rounded: AnyIntegers = nearest(counts if self.base < _MOST_BASE else counts.astype(object), self.base)
        return rounded

    @property
    def withholds(self) -> cell_stream.Withheld | None:
        """Which counts are redacted."""
        return None if self.redact_up_to is None else self.redacted

    def redacted(self, counts: AnyIntegers) -> Mask:
        """For each count whether it is published as "x"."""
        return np.asarray((counts >= self.redact_from) & (counts <= (self.redact_up_to or 0)))

    release_sorted = RoundedTables.by_sorting

    def tables_are_independent(self) -> bool:
        """Nothing is random."""
        return True

    def count_law(self, attributes: Sequence[str], count: int, space: DatasetSpace) -> Law | None:
        """The number is certain."""
        return FiniteLaw.point(self.shown(count)) if self.publishes(attributes) else None

    def last_count(self, space: DatasetSpace) -> int:
        """Above what is redacted, errors repeat with the base."""
        return self.base + (self.redact_up_to or 0)

    @classmethod
    def examples(cls) -> Iterable[tuple[ConventionalRounding, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(tables=(("region",), ("age",), ()), base=2), small_space(most=2)
        yield cls(tables=(("region",), ()), base=2, redact_up_to=2, redact_from=1), small_space(most=3)


_MOST_BASE = 1 << 61
"""Counts are rounded to multiples of a smaller base in 64 bits."""


def nearest(count: Any, base: int) -> Any:
    """The nearest multiple of the base, the upper one of two; of a count, or of each in an array.

    >>> [nearest(count, 4) for count in range(7)]
    [0, 0, 4, 4, 4, 4, 8]
    """
    return (2 * count + base) // (2 * base) * base


def listable(name: str, undecided: int) -> None:
    """Raise NotEnumerableError when too many cells are no multiple of the base for the outcomes to be listed."""
    if undecided > MOST_ROUNDED:
        rule = f"has up to 2^{undecided} outcomes on this dataset"
        raise errors.NotEnumerableError(f"mechanism {name}", rule, "publish fewer cells, or verify a miniature")


@define
class RandomRounding(RoundedTables):
    """Every published count goes to one of the two multiples of the base around it, unbiased and each on its own.

    Two counts have common outcomes with the same support exactly when they lie strictly between the same two multiples. There
    a count that changes by 1 changes each probability r/b, 1 - r/b by a factor of at most 2, so that a replaced record, which
    changes two cells of each table but the grand total, has epsilon = 2 t ln 2 for t tables with attributes (0 for b <= 2, where
    such a count cannot change).

    Args:
        base: b: counts are rounded to multiples of it.
        tables, unit: as in `CountTables`.

    >>> mechanism = RandomRounding(tables=[["region"]], base=3)
    >>> mechanism.law((("north", "old"), ("north", "old"), ("north", "young"), ("south", "young")), small_space())
    FiniteLaw({((3, 0),): 2/3, ((3, 3),): 1/3})
    """

    name: ClassVar[str] = "random-rounding"

    base: Annotated[int, Integer(1)]

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """The product over the published cells."""
        self.check(space)
        layout = self.listed(space)
        counts = layout.published(self.base_counts(space.dataset(dataset), space))
        listable(self.name, sum(count % self.base > 0 for count in counts))
        return FiniteLaw.product([self._rounded(count) for count in counts]).push_forward(layout.grouped)

    def tables_are_independent(self) -> bool:
        """Each number is rounded on its own."""
        return True

    def count_law(self, attributes: Sequence[str], count: int, space: DatasetSpace) -> Law | None:
        """One of the two multiples around the count."""
        return self._rounded(count) if self.publishes(attributes) else None

    def last_count(self, space: DatasetSpace) -> int:
        """Errors repeat with the base."""
        return self.base

    def _rounded(self, count: int) -> FiniteLaw:
        quotient, rest = divmod(count, self.base)
        down, up = quotient * self.base, (quotient + 1) * self.base
        return FiniteLaw.of({down: 1 - Fraction(rest, self.base), up: Fraction(rest, self.base)})

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """2 t ln 2 between the multiples, and no finite budget in the one universe of all datasets."""
        tables = sum(bool(table) for table in self.tables)
        epsilon = 2 * tables * ln(2) if self.base > 2 else 0 * ln(2)
        between = self.claim("between the same multiples", f"{PUBLISHED}, by hand", self.own_universes(), epsilon, space)
        return between, *super().claims(space)

    def check_release(self, space: DatasetSpace) -> None:
        self._check_base()

    def _check_base(self) -> None:
        if self.base >= _MOST_BASE:
            advice = "choose a smaller base; all counts are below this one"
            raise errors.ReleaseError(f"base of {self.name}", "is 2^61 or more, which no coin is drawn for", advice)

    def cell_numbers(self, counts: AnyIntegers, source: Randomness) -> AnyIntegers:
        """The rounded numbers: exact coins r/b, one for each count.

        Raises:
            ReleaseError: the base is larger than what is drawn from.
        """
        self._check_base()
        coins, rests = source.below(self.base, len(counts)), counts % self.base
        return np.asarray(counts - rests + np.where(coins < rests, self.base, 0))

    release_sorted = RoundedTables.by_sorting

    @classmethod
    def examples(cls) -> Iterable[tuple[RandomRounding, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(tables=(("region",), ()), base=3), small_space(most=3)


# --- controlled rounding --------------------------------------------------------------------------


Matrix = tuple[tuple[int, ...], ...]
TablePosition = tuple[int, int]


@define
class ControlledRounding(TableRelease):
    """A two-way table with its margins, rounded at random to multiples of a base so that it adds up.

    The search for cycles goes through all cells, of which there may be at most 1,000,000 (`MOST_CELLS`), also in a release.

    Args:
        rows, columns: the two attributes of the table.
        base: b: counts are rounded to multiples of it.
        unit: the unit that is counted.

    >>> mechanism = ControlledRounding(rows="region", columns="age", base=3)
    >>> law = mechanism.law((("north", "old"), ("south", "young")), small_space())
    >>> str(law.probability(((0, 0, 0, 3), (0, 3), (0, 3), (3,))))
    '1/3'
    """

    name: ClassVar[str] = "controlled-rounding"

    rows: Annotated[str, Text()]
    columns: Annotated[str, Text()]
    base: Annotated[int, Integer(1)]

    def published_tables(self) -> tuple[tuple[str, ...], ...]:
        return (self.rows, self.columns), (self.rows,), (self.columns,), ()

    def check(self, space: DatasetSpace) -> None:
        if self.rows == self.columns:
            raise IncompatibleBlocksError(f"mechanism {self.name}", "needs two different attributes", value=self.rows)
        super().check(space)
        instead = "publish fewer cells, or round each cell by itself (random-rounding)"
        self.check_listed(space, "the search for cycles of cells, also of a release,", instead)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """Both directions of every cycle, each with its probability."""
        self.check(space)
        matrix = self._bordered(self.base_counts(space.dataset(dataset), space), space)
        listable(self.name, sum(n % self.base > 0 for row in matrix for n in row))
        layout = self.layout(space)
        return rounded_law(matrix, self.base).push_forward(lambda rounded: layout.grouped(flat(rounded)))

    def _bordered(self, base: CountVector, space: DatasetSpace) -> Matrix:
        width = self.attribute(self.columns, space).size
        return bordered([base[start : start + width] for start in range(0, len(base), width)])

    def counts_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[Marginal, ...] | None:
        return self.base_read(attributes, space)

    def release(self, table: tables.Countable, space: DatasetSpace, source: Randomness) -> Table:
        """The rounded table with its margins: a row for each cell; every direction is an exact coin."""
        self.check(space)
        matrix = self._bordered(self.base_of_table(table, space), space)
        while (cycle := find_cycle(matrix, self.base)) is not None:
            plus, minus = reaches(matrix, cycle, self.base)
            step = plus if source.below(plus + minus, 1)[0] < minus else -minus
            matrix = moved(matrix, cycle, step)
        return self.layout(space).rows(flat(matrix), self.unit)

    @classmethod
    def examples(cls) -> Iterable[tuple[ControlledRounding, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(rows="region", columns="age", base=2), small_space(most=2)


def bordered(table: Sequence[Sequence[int]]) -> Matrix:
    """The table with minus its margins as one row and one column more.

    >>> bordered([[1, 2], [3, 4]])
    ((1, 2, -3), (3, 4, -7), (-4, -6, 10))
    """
    rows = [(*row, -sum(row)) for row in table]
    return (*rows, tuple(-sum(column) for column in zip(*rows, strict=True)))


def flat(matrix: Matrix) -> CountVector:
    """The published numbers of a bordered table: its cells, row totals, column totals, and the total.

    >>> flat(bordered([[1, 2], [3, 4]]))
    (1, 2, 3, 4, 3, 7, 4, 6, 10)
    """
    *inner, last = matrix
    return (*(n for row in inner for n in row[:-1]), *(-row[-1] for row in inner), *(-n for n in last[:-1]), last[-1])


def find_cycle(matrix: Matrix, base: int) -> tuple[TablePosition, ...] | None:
    """Cells that are no multiples of the base, turning from row to column and back to the first; None when all are multiples.

    The walk begins at the first such cell and takes the first other one of each line, so the cycle is a function of the matrix.
    """
    start = next(((i, j) for i, row in enumerate(matrix) for j, n in enumerate(row) if n % base), None)
    if start is None:
        return None
    path, along_row = [start], True
    while True:
        i, j = path[-1]
        if along_row:
            here = next((i, k) for k, n in enumerate(matrix[i]) if n % base and k != j)
        else:
            here = next((k, j) for k, row in enumerate(matrix) if row[j] % base and k != i)
        path.append(here)
        along_row = not along_row
        # The walk closes where it would next move along a line that an earlier step has moved along from the same end.
        for first in range(len(path) - 5, -1, -2):
            line = 0 if along_row else 1
            if path[first][line] == here[line]:
                return tuple(path[first + 1 :])


def reaches(matrix: Matrix, cycle: Sequence[TablePosition], base: int) -> tuple[int, int]:
    """d_plus and d_minus: how far the entries of a cycle can move in the two directions without passing a multiple."""
    rests = [matrix[i][j] % base for i, j in cycle]
    up, down = rests[0::2], rests[1::2]
    return min(*(base - r for r in up), *down), min(*up, *(base - r for r in down))


def moved(matrix: Matrix, cycle: Sequence[TablePosition], step: int) -> Matrix:
    """The matrix with the entries of the cycle changed by +step and -step in turn."""
    rows = [list(row) for row in matrix]
    for place, (i, j) in enumerate(cycle):
        rows[i][j] += -step if place % 2 else step
    return tuple(map(tuple, rows))


@lru_cache(maxsize=1 << 14)
def rounded_law(matrix: Matrix, base: int) -> FiniteLaw:
    """The law of the rounded matrix."""
    cycle = find_cycle(matrix, base)
    if cycle is None:
        return FiniteLaw.point(matrix)
    plus, minus = reaches(matrix, cycle, base)
    probability = Fraction(minus, plus + minus)
    ways = [rounded_law(moved(matrix, cycle, plus), base), rounded_law(moved(matrix, cycle, -minus), base)]
    return FiniteLaw.mixture([probability, 1 - probability], ways)
