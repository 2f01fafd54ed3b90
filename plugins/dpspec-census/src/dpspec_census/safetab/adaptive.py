"""A SafeTab-like release: for each population group a noisy total chooses how much detail is published.

    stage 1   t = N + W,      N the members of a group in a geographic unit
    choice    k = the number of thresholds that t reaches
    stage 2   n_k + W',       n_k the counts of table number k

with independent integer noise for every group, unit and cell. The output is (k, n_k + W'); t is not published. Nothing is read
from the data but through noise, so there are no invariants and no structural knowledge: a group without members is published too.

The sources print one row of a comparison table about SafeTab (D_nor, persons, no invariants, rho = 19.776) and *no algorithm*.
The two stages follow common knowledge about the 2020 Detailed DHC-A; these points are ours:

* how the budget is split, by level and between the stages, and the values of the thresholds;
* a person in more groups of a level than `most` counts in the first ones of the list;
* noisy counts are published as they are, also where they are negative, and nothing is made to add up.

Why the claim holds. One replaced person moves at most 2 most counts by 1 in each stage of each iteration level, whatever
table is chosen. Each stage spends its part of the budget, a stage may depend on the one before it, and parts add up.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar

import attrs

from dpspec.plugin import (
    Attribute,
    Claim,
    Dataset,
    DatasetSpace,
    Exact,
    Integers,
    Items,
    Law,
    Marginal,
    Mechanism,
    Nested,
    Number,
    OutputDivergence,
    ParameterError,
    PrivacySpec,
    Text,
    Trivial,
    answers,
    blocks,
    define,
    grammar,
    late_module,
    laws,
    ln,
    number,
    params,
    tables,
    workers,
)
from dpspec_census.safetab.design import (
    MOST_READ,
    TOTAL,
    IterationLevel,
    Kinds,
    Planned,
    PopulationGroup,
    PopulationLevel,
    Tally,
    choice_law,
    gaussian_noise,
    geometric_noise,
    read_by,
    size_of,
)

if TYPE_CHECKING:
    import numpy as np
    from dpspec_noise.additive import AdditiveNoise

    from dpspec.plugin import Randomness, Table
    from dpspec_census.safetab.design import Counted, Spent
else:
    np = late_module("numpy")


@define
class AdaptiveTables(Mechanism):
    """Base class of the two mechanisms: a design, and a budget that is split over it.

    Args:
        populations: the population levels.
        levels: the iteration levels; their shares add up to exactly 1.
        budget: the whole budget, in the number of the output divergence.
        unit: whose records are counted, and what the claim protects.
    """

    populations: Annotated[tuple[PopulationLevel, ...], Items(Nested(PopulationLevel), least=1)]
    levels: Annotated[tuple[IterationLevel, ...], Items(Nested(IterationLevel), least=1)]
    budget: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)]
    unit: Annotated[str, Text()] = "person"

    def __attrs_post_init__(self) -> None:
        known = [population.name for population in self.populations]
        names = [str(level) for level in self.levels]
        if len(set(known)) != len(known) or len(set(names)) != len(names):
            raise ParameterError(self.name, "names a population level or an iteration level twice", value=[*known, *names])
        for level in self.levels:
            if level.population not in known:
                hint = params.did_you_mean(level.population, known)
                raise ParameterError(f"iteration level {level}", "is about no population level", hint, value=level.population)
        whole = sum(level.share for level in self.levels)
        if whole != 1:
            hint = 'write exact ratios such as "1/3"'
            raise ParameterError("levels", "have shares that add up to exactly 1", hint, value=str(whole))

    def check(self, space: DatasetSpace) -> None:
        space.check_unit(self.unit)
        asked = [Marginal(attributes=(), unit=self.unit, where=g.where) for p in self.populations for g in p.groups]
        for level in self.levels:
            place = (level.geography,) if level.geography else ()
            asked += [Marginal(attributes=place + table, unit=self.unit) for table in level.tables]
        params.collect(partial(query.check, space) for query in dict.fromkeys(asked))

    # -- noise ------------------------------------------------------------------------------------

    @abstractmethod
    def stage(self, part: Number, most: int) -> AdditiveNoise:
        """The noise of a stage that spends a part of the budget on counts of persons in at most `most` groups."""

    parameter: ClassVar[str]
    """The name of the budget's number."""

    def plan(self) -> tuple[Planned, ...]:
        """The iteration levels with the noise of their stages."""
        return tuple(self._planned(level) for level in self.levels)

    def _planned(self, level: IterationLevel) -> Planned:
        population = next(population for population in self.populations if population.name == level.population)
        return Planned(
            level=level,
            population=population,
            choosing=self.stage(self.budget * level.choice_share, population.most) if level.thresholds else None,
            filling=self.stage(self.budget * level.table_share, population.most),
        )

    @abstractmethod
    def words(self, part: Number, most: int) -> str:
        """That noise in words."""

    # -- law, claims, release ---------------------------------------------------------------------

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """Independent over groups and units, level by level: for each the choice and the table that follows it."""
        from dpspec.plugin import Table
        from dpspec_census.safetab.design import counted

        self.check(space)
        records, attributes = space.records(space.dataset(dataset), self.unit), space.attributes_of(self.unit)
        kept = [place for place, attribute in enumerate(attributes) if attribute.name != blocks.MEMBERS]
        columns = tuple(attributes[place] for place in kept)
        table = Table.from_records(([record[place] for place in kept] for record in records), columns)
        parts = ((planned, found) for planned in self.plan() for found in counted(planned.population, planned.level, table))
        return laws.Product(tuple(self.one(planned, found) for planned, found in parts))

    def noisy_tables(self) -> grammar.Structure | None:
        """The noise of both stages, for the `structure` of a class whose noise has the same shape around every count.

        Whatever table a noisy total chooses, a change of one person moves no more of its cells than of the cells by all
        attributes that some table looks at (`View.may_be_coarser`). None where a person may be in more groups than count, so that
        which of them count depends on the others.
        """
        views = []
        for planned in self.plan():
            if planned.population.most_met() > planned.population.most:
                return None
            place = (planned.level.geography,) if planned.level.geography else ()
            looked = tuple(dict.fromkeys((*place, *itertools.chain.from_iterable(planned.level.tables))))
            for group in planned.population.groups:
                if planned.choosing is not None:
                    total = Marginal(attributes=place, unit=self.unit, where=group.where)
                    views.append(grammar.NoisyCount(total, planned.choosing.noise))
                cells = Marginal(attributes=looked, unit=self.unit, where=group.where)
                views.append(grammar.NoisyCount(cells, planned.filling.noise, may_be_coarser=len(planned.level.tables) > 1))
        return grammar.Structure(views=tuple(views), publishes_views=False)

    def one(self, planned: Planned, found: Counted) -> Law:
        """The law of what is published about one group in one unit."""
        noise = {count: planned.filling.noise(count) for count in {count for counts in found.tables for count in counts}}
        tables = [laws.Product(tuple(noise[count] for count in counts)) for counts in found.tables]
        if planned.choosing is None:
            return tables[0]
        first = choice_law(planned.choosing.noise(found.total), planned.level.thresholds)
        return laws.Adaptive(first, tuple((str(place), table) for place, table in enumerate(tables)))

    def _claim(self, label: str, standard: OutputDivergence, space: DatasetSpace) -> Claim:
        from dpspec_divergences import Hamming

        from dpspec.plugin import UniformBudget

        spec = PrivacySpec(
            space=space,
            multiverse=Trivial(),
            input_divergence=Hamming(unit=self.unit),
            output_divergence=standard,
            budget=UniformBudget(parameter=self.parameter, value=self.budget),
        )
        return Claim(
            label=label,
            source="Bailie, Gong and Meng 2023, comparison of census methods; Bailie et al. 2024, comparison of census methods",
            spec=spec,
        )

    def spending(self) -> tuple[Spent, ...]:
        """What every stage of every iteration level spends; it adds up to the budget exactly."""
        from dpspec_census.safetab.design import spending

        return spending(self.plan(), self.budget, self.words)

    def counts_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[Marginal, ...] | None:
        known, read = {a.name: a for a in attributes}, []
        for planned in self.plan():
            names = read_by(planned.population, planned.level)
            if not known.keys() >= {*names} or math.prod(known[name].size for name in names) > MOST_READ:
                return None
            read.append(Marginal(attributes=names, unit=self.unit))
        return tuple(read)

    def answers_queries(self) -> bool:
        """As of `grammar.AnswersQueries`."""
        return True

    def check_release(self, space: DatasetSpace) -> None:
        stages = (stage for planned in self.plan() for stage in (planned.choosing, planned.filling) if stage is not None)
        params.collect(partial(stage.check_release, space) for stage in stages)

    def release(self, table: tables.Countable, space: DatasetSpace, source: Randomness) -> Table:
        """One row for each published count: population level, group, level of geography, unit, table, cell, count."""

        from dpspec.plugin import Table

        self.check(space)
        if isinstance(table, Table) and table.members is not None and self.unit != space.units[0]:
            return released(self.plan(), table.of_members(), source)
        return released(self.plan(), table, source)

    def run(self, table: Table, space: DatasetSpace, run: workers.Run) -> workers.Output:
        """The released counts, with the budget stage by stage as their report."""
        from dpspec_census.safetab.design import report

        released = self.release(table, space, run.source)
        return workers.Output(tables={"released": released}, report=report(self.spending(), self.parameter))


@define
class Safetab(AdaptiveTables):
    """Adaptive tables with discrete Gaussian noise: rho-zCDP (Bailie, Gong and Meng 2023; Bailie et al. 2024).

    Args:
        populations, levels, unit: as in `AdaptiveTables`.
        budget: rho, the concentrated budget of all stages together, a rational.

    >>> from dpspec.plugin import UnorderedRecords
    >>> people = UnorderedRecords(attributes=[{"name": "sex", "categories": ["f", "m"]}], most=9)
    >>> everybody = {"name": "all", "most": 1, "groups": [{"name": "everybody"}]}
    >>> level = {"population": "all", "share": 1, "choice": "1/5", "tables": [[], ["sex"]], "thresholds": [3]}
    >>> mechanism = Safetab(populations=[everybody], levels=[level], budget="1/2")
    >>> (planned,) = mechanism.plan()
    >>> planned.choosing.variance, planned.filling.variance
    (Fraction(10, 1), Fraction(5, 2))
    """

    name: ClassVar[str] = "safetab"
    parameter: ClassVar[str] = "rho"

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if not self.budget.is_rational:
            raise ParameterError("budget", "must be a rational, since the variance is", value=str(self.budget))

    def stage(self, part: Number, most: int) -> AdditiveNoise:
        return gaussian_noise(part, most)

    def words(self, part: Number, most: int) -> str:
        return f"discrete Gaussian, variance {gaussian_noise(part, most).variance}"

    def structure(self, space: DatasetSpace) -> grammar.Structure | None:
        return self.noisy_tables()

    @classmethod
    def examples(cls) -> Iterable[tuple[Safetab, DatasetSpace]]:
        """What the conformance kit checks it with."""
        for levels in _DESIGNS:
            yield cls(populations=_GROUPS, levels=levels, budget=number(2)), _people()

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """D_nor with the whole budget, per person, without invariants (Bailie et al. 2024)."""
        from dpspec_divergences import DNor

        return (self._claim("adaptive tables with discrete Gaussian noise are rho-zCDP", DNor(), space),)


@define
class SafetabGeometric(AdaptiveTables):
    """Adaptive tables with two-sided geometric noise: epsilon-DP.

    Args:
        populations, levels, unit: as in `AdaptiveTables`.
        budget: epsilon; where it is made of logarithms of rationals the law is exact.
    """

    name: ClassVar[str] = "safetab-geometric"
    parameter: ClassVar[str] = "epsilon"

    def stage(self, part: Number, most: int) -> AdditiveNoise:
        return geometric_noise(part, most)

    def words(self, part: Number, most: int) -> str:
        return f"two-sided geometric, ratio e^-({geometric_noise(part, most).decay()})"

    def structure(self, space: DatasetSpace) -> grammar.Structure | None:
        return self.noisy_tables()

    @classmethod
    def examples(cls) -> Iterable[tuple[SafetabGeometric, DatasetSpace]]:
        """What the conformance kit checks it with."""
        for levels in _DESIGNS:
            yield cls(populations=_GROUPS, levels=levels, budget=ln(4)), _people()

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """MULT with the whole budget, per person, without invariants."""
        from dpspec_divergences import Mult

        return (self._claim("adaptive tables with geometric noise are epsilon-DP", Mult(), space),)


# --- examples --------------------------------------------------------------------------------------
#
# Names, shares and thresholds have to go together, which those that are drawn one by one hardly ever do.

_GROUPS = (PopulationLevel(name="all", most=1, groups=(PopulationGroup(name="everybody"),)),)
_TOTAL = IterationLevel(population="all", share=Fraction(1), tables=((),))
_CHOSEN = IterationLevel(population="all", share=Fraction(1), choice=Fraction(1, 2), tables=((), ("sex",)), thresholds=(1,))
_DESIGNS: tuple[tuple[IterationLevel, ...], ...] = ((_TOTAL,), (_CHOSEN,))


def _people() -> DatasetSpace:
    from dpspec.plugin import UnorderedRecords

    return UnorderedRecords(attributes=(Attribute(name="sex", categories=("f", "m")),), most=1)


# --- at scale: every group in every unit of a level at once ---------------------------------------


COLUMNS = ("population", "group", "level", "unit")
"""The columns of the released table before those of the attributes."""

Column = tuple[Integers, tuple[str, ...]]
"""Codes, and the label of each code."""


@attrs.frozen(kw_only=True, eq=False)
class Published:
    """The noisy counts of one table of one iteration level.

    Args:
        planned: the iteration level.
        table: the number of the table.
        chosen: the groups in units that it was chosen for, group x units + unit.
        counts: a row of noisy counts for each of them.
    """

    planned: Planned
    table: int
    chosen: Integers
    counts: Integers


def published(planned: Planned, table: tables.Countable, source: Randomness) -> Iterator[Published]:
    """Both stages of one iteration level."""
    level = planned.level
    kinds = Kinds.of(planned.population, level, table)
    tally = Tally.of(planned.population, level.geography, kinds)
    number = np.zeros(tally.shape[0] * tally.shape[1], dtype=np.int64)
    if planned.choosing is not None:
        noisy = tally.totals() + planned.choosing.draw(number.size, source)
        number = np.searchsorted(np.asarray(level.thresholds), noisy, side="right")
    for place, names in enumerate(level.tables):
        chosen = np.flatnonzero(number == place)
        true = tally.counts(chosen, kinds.table.key(names), size_of(names, table))
        noise = planned.filling.draw(true.size, source).reshape(true.shape)
        yield Published(planned=planned, table=place, chosen=chosen, counts=true + noise)


def released(plan: Sequence[Planned], table: tables.Countable, source: Randomness) -> Table:
    """The released table: one row for each published count."""
    from dpspec.plugin import Table

    parts = [part for planned in plan for part in published(planned, table, source)]
    names = tuple(dict.fromkeys(name for part in parts for name in part.planned.level.tables[part.table]))
    columns = [_columns(part, names, table) for part in parts]
    joined = {name: _joined([column[name] for column in columns]) for name in columns[0]}
    attributes = [Attribute(name=name, categories=labels) for name, (_, labels) in joined.items()]
    codes: dict[str, tables.Codes] = {name: column for name, (column, _) in joined.items()}
    for attribute, column in answers.number_columns(np.concatenate([part.counts.reshape(-1) for part in parts])):
        attributes.append(attribute)
        codes[attribute.name] = column
    return Table(attributes=tuple(attributes), codes=codes)


def _columns(part: Published, names: Sequence[str], table: tables.Countable) -> dict[str, Column]:
    """All columns but those of the counts, for each noisy count of a part.

    Args:
        names: the attributes of all tables.
    """
    level, population = part.planned.level, part.planned.population
    own = level.tables[part.table]
    rows, cells = part.counts.shape
    units = tuple(table.attribute(level.geography).values()) if level.geography else (TOTAL,)
    group, unit = np.divmod(part.chosen, len(units))
    same = np.zeros(rows * cells, dtype=np.int64)
    found: dict[str, Column] = {
        "population": (same, (population.name,)),
        "group": (np.repeat(group, cells), tuple(group.name for group in population.groups)),
        "level": (same, (level.place,)),
        "unit": (np.repeat(unit, cells), units),
    }
    places = np.unravel_index(np.arange(cells), [table.attribute(name).size for name in own]) if own else ()
    for name in names:
        column = answers.column_of(name, *COLUMNS)
        if name in own:
            found[column] = np.tile(places[own.index(name)], rows), tuple(table.attribute(name).values())
        else:
            found[column] = same, (answers.ALL,)
    return found


def _joined(pieces: Sequence[Column]) -> Column:
    """One column of several, over the labels of all."""
    every = dict.fromkeys(itertools.chain.from_iterable(labels for _, labels in pieces))
    known = {label: code for code, label in enumerate(every)}
    codes = [np.asarray([known[label] for label in labels], dtype=np.int64)[column] for column, labels in pieces]
    return np.concatenate(codes), tuple(known)
