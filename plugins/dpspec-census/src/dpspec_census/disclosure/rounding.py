"""Rounding each published count to a multiple of a base b, by a rule or by chance.

    conventional   n -> b floor((2n + b) / (2b)): the nearest multiple, ties up
    random         n = q b + r -> q b with probability 1 - r/b, (q + 1) b with probability r/b: unbiased, multiples stay

Cells are rounded one by one, margins too, so published tables need not add up (see `controlled` for the one that does).
Definitions as in Willenborg and de Waal, Elements of Statistical Disclosure Control (2001).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar

from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import NotEnumerableError
from dpspec.exact import ln
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.law import Law
from dpspec.mechanism import Claim
from dpspec.params import Integer, define
from dpspec_census.disclosure.outputs import small_space
from dpspec_census.disclosure.tables import Counts, CountTables, FixedTables

if TYPE_CHECKING:
    from dpspec.randomness import Randomness
    from dpspec.table import Table

MOST_ROUNDED = 16
"""A law is listed for at most so many cells that are no multiple of the base: two outcomes for each."""


@define
class ConventionalRounding(FixedTables):
    """Every published count goes to the nearest multiple of the base, and up when two are equally near.

    Args:
        base: b; 1 publishes the counts.
        tables, unit: as in `CountTables`.

    >>> mechanism = ConventionalRounding(tables=[["region"], []], base=3)
    >>> mechanism.law((("north", "old"), ("south", "old"), ("south", "young")), small_space())
    FiniteLaw({((0, 3), (3,)): 1})
    """

    name: ClassVar[str] = "conventional-rounding"

    base: Annotated[int, Integer(1)]

    def numbers(self, base: Counts, space: DatasetSpace) -> Counts:
        return tuple(nearest(count, self.base) for count in self.layout(space).published(base))

    @classmethod
    def examples(cls) -> Iterable[tuple[ConventionalRounding, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(tables=(("region",), ("age",), ()), base=2), small_space(most=2)


def nearest(count: int, base: int) -> int:
    """The nearest multiple of the base, the upper one of two.

    >>> [nearest(count, 4) for count in range(7)]
    [0, 0, 4, 4, 4, 4, 8]
    """
    return (2 * count + base) // (2 * base) * base


def listable(name: str, undecided: int) -> None:
    """Raise NotEnumerableError when too many cells are no multiple of the base for the outcomes to be listed."""
    if undecided > MOST_ROUNDED:
        rule = f"has up to 2^{undecided} outcomes on this dataset"
        raise NotEnumerableError(f"mechanism {name}", rule, "publish fewer cells, or verify a miniature")


@define
class RandomRounding(CountTables):
    """Every published count goes to one of the two multiples of the base around it, unbiased and each on its own.

    Two counts have common outcomes with the same support exactly when they lie strictly between the same two multiples. There
    a count that changes by 1 changes each probability r/b, 1 - r/b by a factor of at most 2, so that a replaced record, which
    changes two cells of each table but the grand total, has epsilon = 2 t ln 2 for t tables with attributes (0 for b <= 2, where
    such a count cannot change).

    Args:
        base: b.
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
        layout = self.layout(space)
        counts = layout.published(self.base_counts(space.dataset(dataset), space))
        listable(self.name, sum(count % self.base > 0 for count in counts))
        return FiniteLaw.product([self._rounded(count) for count in counts]).push_forward(layout.grouped)

    def _rounded(self, count: int) -> FiniteLaw:
        quotient, rest = divmod(count, self.base)
        down, up = quotient * self.base, (quotient + 1) * self.base
        return FiniteLaw.of({down: 1 - Fraction(rest, self.base), up: Fraction(rest, self.base)})

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """2 t ln 2 between the multiples, and no finite budget in the one universe of all datasets."""
        tables = sum(bool(table) for table in self.tables)
        epsilon = 2 * tables * ln(2) if self.base > 2 else 0 * ln(2)
        between = self.claim("between the same multiples", "B-T10, by hand", self.own_universes(), epsilon, space)
        return between, *super().claims(space)

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """The rounded tables: a row for each cell; exact coins r/b."""
        self.check(space)
        layout = self.layout(space)
        counts = layout.published(self.base_of_table(table, space))
        coins = source.below(self.base, len(counts))
        rounded = (count + (-count % self.base if coin < count % self.base else -(count % self.base))
                   for count, coin in zip(counts, coins.tolist(), strict=True))  # fmt: skip
        return layout.rows(rounded)

    @classmethod
    def examples(cls) -> Iterable[tuple[RandomRounding, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(tables=(("region",), ()), base=3), small_space(most=3)
