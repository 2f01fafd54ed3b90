"""The design of an adaptive release: population groups, the queries of each level, the noise, and the budget (Bailie, Gong
and Meng 2023).

A replaced person leaves at most m groups of an iteration level and enters at most m: at most 2m counts of one stage move,
each by 1. So discrete Gaussian noise of variance m/rho spends rho (Bailie, Gong and Meng 2023), and geometric noise whose ratio
is e^(-epsilon/(2m)) spends epsilon.

Members of population groups in geographic units are counted by kinds of records. A person counts in at most `most` groups of a
level: what is counted is one entry for each kind and each of these groups.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import attrs
from dpspec_noise import DiscreteGaussian, Geometric
from dpspec_noise.additive import AdditiveNoise

from dpspec.plugin import (
    Attribute,
    FiniteLaw,
    Integer,
    Integers,
    Items,
    Law,
    Marginal,
    Nested,
    Number,
    ParameterError,
    Rational,
    Text,
    define,
    exact,
    is_a,
    late_module,
    laws,
    number,
    params,
)

if TYPE_CHECKING:
    import numpy as np

    from dpspec.plugin import Table, tables
else:
    np = late_module("numpy")


@define
class PopulationGroup:
    """The persons with certain attributes, such as a set of detailed race codes.

    Args:
        name: the group's name.
        where: for some attributes, the categories that belong to the group; a person has to meet all of them.

    >>> PopulationGroup(name="Samoan", where={"race": ["samoan", "samoan+tongan"]}).where
    (('race', ('samoan', 'samoan+tongan')),)
    """

    name: Annotated[str, Text()]
    where: Annotated[tuple[tuple[str, tuple[str, ...]], ...], params.Pairs(Items(Text(), least=1))] = ()


@define
class PopulationLevel:
    """Groups of one level of detail, which may overlap.

    Args:
        name: the level's name, such as detailed or regional.
        most: in how many groups of the level one person counts. Of a person in more of them the first ones in the order of the
            list are kept, so that the number holds whatever the data.
        groups: the groups.
    """

    name: Annotated[str, Text()]
    most: Annotated[int, Integer(1)]
    groups: Annotated[tuple[PopulationGroup, ...], Items(Nested(PopulationGroup), least=1)]

    def __attrs_post_init__(self) -> None:
        names = [group.name for group in self.groups]
        if len(set(names)) != len(names):
            raise ParameterError(f"population level {self.name}", "names a group twice", "give every group its own name")

    def most_met(self) -> int:
        """In how many groups of the list one person may be, or more: by the categories that some group names."""
        named: dict[str, set[str]] = {}
        for group in self.groups:
            for name, categories in group.where:
                named.setdefault(name, set()).update(categories)
        kinds = [
            {tuple(category in dict(group.where).get(name, (category,)) for group in self.groups) for category in (*known, "")}
            for name, known in named.items()
        ]
        return max(sum(map(all, zip(*kind, strict=True))) for kind in itertools.product(*kinds)) if kinds else len(self.groups)


@define
class IterationLevel:
    """One population level crossed with one level of geography.

    Args:
        population: the name of the population level.
        geography: the attribute whose categories are the geographic units; without it there is one, the whole.
        share: the part of the whole budget that is spent here.
        choice: the part of that share that is spent on the noisy total which chooses the table; the rest is spent on the table.
        tables: the attributes of each table that may be chosen, the coarsest first; the empty table is the total alone.
        thresholds: table number k + 1 is chosen from the noisy total thresholds[k] on; one less than there are tables.

    >>> level = IterationLevel(population="detailed", geography="state", share="1/2", choice="1/10",
    ...                        tables=[[], ["sex", "age4"]], thresholds=[5000])
    >>> str(level.choice_share), str(level.table_share)
    ('1/20', '9/20')
    """

    population: Annotated[str, Text()]
    geography: Annotated[str, Text()] | None = None
    share: Annotated[Fraction, Rational(0, 1, open_low=True)]
    choice: Annotated[Fraction, Rational(0, 1, open_high=True)] = Fraction(0)
    tables: Annotated[tuple[tuple[str, ...], ...], Items(Items(Text()), least=1)]
    thresholds: Annotated[tuple[int, ...], Items(Integer())] = ()

    def __attrs_post_init__(self) -> None:
        subject = f"iteration level {self}"
        if len(self.thresholds) + 1 != len(self.tables):
            raise ParameterError(subject, f"needs {len(self.tables) - 1} thresholds between its tables", value=self.thresholds)
        if any(low >= high for low, high in zip(self.thresholds, self.thresholds[1:], strict=False)):
            raise ParameterError(subject, "thresholds must grow", "order the tables from coarse to fine", value=self.thresholds)
        if bool(self.choice) != bool(self.thresholds):
            hint = "give choice with thresholds, or neither"
            raise ParameterError(subject, "spends on a choice exactly when there is one", hint, value=str(self.choice))

    @property
    def choice_share(self) -> Fraction:
        """The part of the whole budget that the noisy total spends."""
        return self.share * self.choice

    @property
    def table_share(self) -> Fraction:
        """The part of the whole budget that the table spends."""
        return self.share - self.choice_share

    @property
    def place(self) -> str:
        """The level of geography in words."""
        return self.geography or "whole"

    def __str__(self) -> str:
        return f"{self.population} x {self.place}"


# --- the two kinds of noise -----------------------------------------------------------------------


_ONE_COUNT = (Marginal(attributes=()),)


def gaussian_noise(rho: Number, most: int) -> DiscreteGaussian:
    """Discrete Gaussian noise that spends rho where 2m counts move by 1.

    >>> from dpspec.plugin import number
    >>> gaussian_noise(number("1/5"), 3).variance
    Fraction(15, 1)
    """
    return DiscreteGaussian(queries=_ONE_COUNT, sensitivities=(number(2 * most).sqrt(),), variance=most / rho.as_fraction())


def geometric_noise(epsilon: Number, most: int) -> Geometric:
    """Two-sided geometric noise that spends epsilon where 2m counts move by 1.

    >>> from dpspec.plugin import number
    >>> str(geometric_noise(number("4*ln(3)"), 2).decay())
    'ln(3)'
    """
    return Geometric(queries=_ONE_COUNT, sensitivity=Fraction(2 * most), epsilon=epsilon)


@attrs.frozen
class Reached:
    """The number of thresholds that a noisy total reaches: the number of the table that is chosen.

    It is a text: a whole number would be one that is released, and could be changed (`grammar.AnswersQueries`).

    >>> [Reached((5, 20))(total) for total in (-3, 4, 5, 19, 20)]
    ['0', '0', '1', '1', '2']
    """

    thresholds: tuple[int, ...]

    def __call__(self, total: int) -> str:
        return str(bisect_right(self.thresholds, total))


def choice_law(total: Law, thresholds: tuple[int, ...]) -> Law:
    """The law of the table that a noisy total chooses; with rational probabilities for geometric noise of a rational ratio.

    >>> choice_law(laws.TwoSidedGeometricLaw.with_ratio(1, "1/2"), (2,))
    FiniteLaw({'0': 2/3, '1': 1/3})
    """
    if not is_a(total, laws.TwoSidedGeometricLaw) or total.ratio is None:
        return laws.PushForward(total, Reached(thresholds))
    reached = [Fraction(1), *(total.at_least(threshold) for threshold in thresholds), Fraction(0)]
    return FiniteLaw.of({str(k): more - less for k, (more, less) in enumerate(itertools.pairwise(reached))})


@attrs.frozen(kw_only=True)
class Planned:
    """An iteration level with the noise of its stages.

    Args:
        level: the iteration level.
        population: its population level.
        choosing: the noise on the totals that choose a table; None where there is one table only.
        filling: the noise on the tables.
    """

    level: IterationLevel
    population: PopulationLevel
    choosing: AdditiveNoise | None
    filling: AdditiveNoise


# --- the budget, stage by stage -------------------------------------------------------------------


SpendingWords = Callable[[Number, int], str]
"""The noise of a stage in words, from what it spends and the most groups in which one person counts."""


@attrs.frozen(kw_only=True)
class Spent:
    """The budget of one stage of one iteration level.

    Args:
        level: the iteration level.
        stage: choice or table.
        share: its part of the whole budget.
        budget: that part as a number.
        moved: how many counts move by 1 at most when one person is replaced.
        noise: the noise on every count, in words.
    """

    level: str
    stage: str
    share: Fraction
    budget: Number
    moved: int
    noise: str

    def data(self) -> dict[str, Any]:
        """The entry of a report."""
        return {**attrs.asdict(self), "share": str(self.share), "budget": str(self.budget)}


def spending(plan: Sequence[Planned], budget: Number, words: SpendingWords) -> tuple[Spent, ...]:
    """All stages in order; their shares add up to exactly 1, and so their budgets to the whole."""
    return tuple(spent for planned in plan for spent in _stages(planned, budget, words))


def _stages(planned: Planned, budget: Number, words: SpendingWords) -> Iterator[Spent]:
    level, most = planned.level, planned.population.most
    for stage, share in (("choice", level.choice_share), ("table", level.table_share)):
        if share:
            part = budget * share
            yield Spent(level=str(level), stage=stage, share=share, budget=part, moved=2 * most, noise=words(part, most))


def report(stages: Sequence[Spent], parameter: str) -> dict[str, Any]:
    """The stages and their sum, as data for the report of a release.

    Args:
        parameter: the name of the budget's number.
    """
    whole = sum((spent.budget for spent in stages), exact.ZERO)
    return {"budget": parameter, "stages": [spent.data() for spent in stages], "sum": str(whole)}


# --- counting at scale ----------------------------------------------------------------------------


MOST_READ = 1 << 26
"""With more kinds of records than this (of 8 bytes each), an iteration level is not counted in batches."""

TOTAL = "total"
"""The name of the only unit where there is no geography."""

_ONE = Attribute(name=TOTAL, count=1)

NOBODY = -1
"""Placeholder where a person is in fewer groups than the most that count."""


def memberships(population: PopulationLevel, table: Table) -> Integers:
    """The groups in which each record of a table counts: one row for each, `most` columns, `NOBODY` where there are fewer.

    >>> from dpspec.plugin import Attribute
    >>> from dpspec.plugin import Table
    >>> race = Attribute(name="race", categories=("a", "b", "ab"))
    >>> groups = [{"name": "A", "where": {"race": ["a", "ab"]}}, {"name": "B", "where": {"race": ["b", "ab"]}}]
    >>> table = Table.from_records([["b"], ["ab"]], (race,))
    >>> memberships(PopulationLevel(name="detailed", most=2, groups=groups), table).tolist()
    [[1, -1], [0, 1]]
    >>> memberships(PopulationLevel(name="detailed", most=1, groups=groups), table).tolist()
    [[1], [0]]
    """
    names = sorted({name for group in population.groups for name, _ in group.where})
    _, first, kind = np.unique(table.key(names), return_index=True, return_inverse=True)
    codes = {name: table.codes[name][first] for name in names}
    belongs = np.ones((len(population.groups), len(first)), dtype=np.bool_)
    for place, group in enumerate(population.groups):
        for name, categories in group.where:
            attribute = table.attribute(name)
            belongs[place] &= np.isin(codes[name], [attribute.index(category) for category in categories])
    rank = np.cumsum(belongs, axis=0, dtype=np.int32)
    members, kinds = np.nonzero(belongs & (rank <= population.most))
    groups = np.full((len(first), population.most), NOBODY, dtype=np.int64)
    groups[kinds, rank[members, kinds] - 1] = members
    return np.asarray(groups[kind.reshape(-1)])


@attrs.frozen(kw_only=True, eq=False)
class Kinds:
    """The records of a table by all that one iteration level reads of them: one row for each kind of record.

    Args:
        table: the kinds.
        sizes: how many records there are of each.
    """

    table: Table
    sizes: Integers

    @classmethod
    def of(cls, population: PopulationLevel, level: IterationLevel, table: tables.Countable) -> Kinds:
        """The kinds of records that occur in a table."""
        from dpspec.plugin import Table

        cells = table.cells(read_by(population, level))
        keys, sizes = cells.occurring()
        codes = {a.name: column for a, column in zip(cells.attributes, cells.codes(keys), strict=True)}
        if not codes:  # all records are of one kind; a table has its length from a column
            return cls(table=Table(attributes=(_ONE,), codes={TOTAL: np.zeros(len(keys), dtype=np.int64)}), sizes=sizes)
        return cls(table=Table(attributes=cells.attributes, codes=codes), sizes=sizes)


def read_by(population: PopulationLevel, level: IterationLevel) -> tuple[str, ...]:
    """The attributes that an iteration level reads: those of its groups, of its geography and of its tables.

    >>> groups = [{"name": "A", "where": {"race": ["a"]}}]
    >>> level = IterationLevel(population="all", geography="county", share=1, tables=[["sex", "race"]])
    >>> read_by(PopulationLevel(name="all", most=1, groups=groups), level)
    ('race', 'county', 'sex')
    """
    groups = (name for group in population.groups for name, _ in group.where)
    place = (level.geography,) if level.geography else ()
    return tuple(dict.fromkeys((*groups, *place, *itertools.chain.from_iterable(level.tables))))


@attrs.frozen(kw_only=True, eq=False)
class Tally:
    """The members of the groups of one level in the units of one level of geography.

    Args:
        groups: of each kind of record, as from `memberships`.
        units: the geographic unit of each kind.
        sizes: how many records there are of each kind.
        shape: how many groups and how many units there are.
    """

    groups: Integers
    units: Integers
    sizes: Integers
    shape: tuple[int, int]

    @classmethod
    def of(cls, population: PopulationLevel, geography: str | None, kinds: Kinds) -> Tally:
        """The tally of the kinds of records of a table."""
        table = kinds.table
        units = np.zeros(len(table), dtype=np.int64) if geography is None else table.codes[geography].astype(np.int64)
        size = 1 if geography is None else table.attribute(geography).size
        shape = len(population.groups), size
        return cls(groups=memberships(population, table), units=units, sizes=kinds.sizes, shape=shape)

    def totals(self) -> Integers:
        """The members of every group in every unit, group by group."""
        everyone = np.arange(self.shape[0] * self.shape[1], dtype=np.int64)
        return self.counts(everyone, np.zeros(len(self.units), dtype=np.int64), 1)[:, 0]

    def counts(self, chosen: Integers, cells: Integers, size: int) -> Integers:
        """A table for each of the chosen population groups.

        Args:
            chosen: their numbers, group x units + unit, in increasing order.
            cells: the cell of each kind of record in the table.
            size: the number of cells.

        Returns:
            One row of `size` counts for each of them.
        """
        row_of = np.full(self.shape[0] * self.shape[1], NOBODY, dtype=np.int64)
        row_of[chosen] = np.arange(len(chosen))
        counts = np.zeros(len(chosen) * size, dtype=np.int64)
        for group in self.groups.T:
            member = np.flatnonzero(group != NOBODY)
            row = row_of[group[member] * self.shape[1] + self.units[member]]
            member, row = member[row != NOBODY], row[row != NOBODY]
            np.add.at(counts, row * size + cells[member], self.sizes[member])
        return counts.reshape(len(chosen), size)


# --- all counts of an iteration level on a small table --------------------------------------------


@attrs.frozen(kw_only=True)
class Counted:
    """One group in one unit.

    Args:
        total: its members.
        tables: their counts, for each table that may be chosen.
    """

    total: int
    tables: tuple[tuple[int, ...], ...]


def size_of(names: tuple[str, ...], table: tables.Countable) -> int:
    """The number of cells of a table by some attributes: 1 for the total alone."""
    return math.prod(table.attribute(name).size for name in names)


def counted(population: PopulationLevel, level: IterationLevel, table: Table) -> Iterator[Counted]:
    """Every group in every unit of a level, group by group."""
    kinds = Kinds.of(population, level, table)
    tally = Tally.of(population, level.geography, kinds)
    totals = tally.totals()
    everyone = np.arange(len(totals), dtype=np.int64)
    tables = [tally.counts(everyone, kinds.table.key(names), size_of(names, table)) for names in level.tables]
    for place, total in enumerate(totals):
        yield Counted(total=int(total), tables=tuple(tuple(map(int, counts[place])) for counts in tables))
