"""Swapping: exchange the swap values of randomly selected records inside each stratum.

Two algorithms are printed under one name, and they have different laws: the listing of the 2023 slides draws a
*derangement* of the selected records and redraws the selection when exactly one record is selected; the 2024 slides
draw any *permutation*. The released table is an unordered multiset of records.

What may be published about a swap: functions of the invariants and of the parameters alone (Bailie, Gong and Meng 2023).
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

import attrs

from dpspec.plugin import (
    Attribute,
    Bracket,
    Budget,
    Claim,
    Dataset,
    DatasetSpace,
    FiniteLaw,
    Items,
    Law,
    Mechanism,
    Nested,
    Number,
    PrivacySpec,
    Rational,
    Record,
    Table,
    Text,
    blocks,
    define,
    grammar,
    is_a,
    late_module,
    memoize,
    sorting,
    tables,
    workers,
)
from dpspec_census.stratum import (
    Algorithm,
    RecordRates,
    StratumCells,
    UniqueRates,
    derangement_probability,
    derangement_weights,
    exchanged,
    permutation_probability,
    permutation_weights,
    unordered,
)
from dpspec_census.swap_budget import (
    Rates,
    StratumRate,
    StratumSizes,
    SwappedRecords,
    SwappingBudget,
    SwapScheme,
    check_rates,
    check_strata,
    nominal_budget,
    rate_of,
)
from dpspec_census.swap_constant import SwapConstant, derangement_constant, permutation_constant
from dpspec_census.swap_nearest import Exchanges, nearest_in_space, nearest_in_universe, of_selected
from dpspec_census.swap_pair import ConstantOfSpace, Swap
from dpspec_census.swap_table import CITATION, CountedCells, power_of_exchanges

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from dpspec.plugin import Randomness, randomness
    from dpspec_census.sorted_swap import SortedSwap
else:
    np = late_module("numpy")


HALF = Fraction(1, 2)
THEOREM = "Bailie, Gong and Meng 2023, swapping theorem"
_MOST_RENAMED = 8
"""Attributes with more categories declare no renamings: there are too many to try."""

Renaming = Callable[[Record], Record]


SHOWN, MOST_SHOWN, MOST_WRITTEN = 4, 9, 20_000
"""The records of a stratum in the pair that is shown, the most of a pair whose laws are computed, and the most of a pair that is
written down: of a larger one than the second, the probabilities of one output are computed."""


@define
class Swapping(Mechanism):
    """Base class of the two algorithms: strata by `match`, and `swap` values that move between selected records.

    Args:
        match: the attributes that form the strata; () for one stratum.
        swap: the attributes that move, all together.
        swap_rate: p, the probability with which each record is selected.
        rates: the strata whose records are selected with a probability of their own.
        unit: the unit that one record is.
    """

    match: Annotated[tuple[str, ...], Items(Text())] = ()
    swap: Annotated[tuple[str, ...], Items(Text(), least=1)]
    swap_rate: Annotated[Fraction, Rational(0, 1)]
    rates: Annotated[tuple[StratumRate, ...], Items(Nested(StratumRate))] = ()
    unit: Annotated[str, Text()] = "household"

    def __attrs_post_init__(self) -> None:
        self.scheme()
        check_rates(self.rates, self.match)

    def scheme(self) -> SwapScheme:
        """The variables of the swap."""
        return SwapScheme(match=self.match, swap=self.swap, unit=self.unit)

    def exchanged_values(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The swapped attributes, and those of the strata."""
        return self.swap, self.match

    def check(self, space: DatasetSpace) -> None:
        self.scheme().check(space)
        check_strata(space, self.unit, self.match, self.rates)

    def check_release(self, space: DatasetSpace) -> None:
        """Strata are numbered in 64 bits."""
        tables.check_numbered([a for a in space.attributes_of(self.unit) if a.name in self.match])

    @abstractmethod
    def stratum_weights(self, cells: StratumCells, columns: int, swap_rate: Fraction) -> Mapping[StratumCells, int]:
        """Integer weights of the tables that one stratum can become at its swap rate."""

    # -- the exact constant at any size (docs/swapping-theorem.md) ----------------------------------

    @abstractmethod
    def stratum_constant(self, size: int, swap_rate: Fraction) -> SwapConstant:
        """The exact constant of one stratum of so many records, over all its universes."""

    def constants(self) -> Swap:
        """The constants of this swap and the pairs that attain them, at any size and without listing a dataset.

        `of_sizes(sizes, space)` is the constant over all universes with these sizes of strata, `of_space(space)` over all
        universes of a space (infinite where its size has no limit), `of_universe(dataset, space)` that of a single one. Each
        is a bracket whose upper end is proved and whose lower end is attained by the pair that comes with it; `pair_above` and
        `pair_against` look for a pair that refutes a number or a printed form.

        >>> from dpspec.plugin import UnorderedRecords
        >>> space = UnorderedRecords(attributes=[{"name": "kin", "count": 9}, {"name": "place", "count": 9}], unit="household")
        >>> found = DerangementSwapping(swap=["place"], swap_rate="1/20").constants().of_sizes({(): 13680081}, space)
        >>> found.value.lower.decimal(), found.value.upper.decimal(), found.pair.likely[("0", "0")], len(found.pair.likely)
        ('19.3759', '19.3759', 1, 5)
        """
        return Swap(
            scheme=self.scheme(),
            rates=self.rates,
            default=self.swap_rate,
            constant=self.stratum_constant,
            derange=self.deranges,
        )

    def constant(self, space: DatasetSpace, sizes: Mapping[Record, int] | None = None) -> ConstantOfSpace:
        """The constant of all universes of a space, or of those with the given number of records in each stratum.

        It is that of d_MULT per unit of d_Ham, half the symmetric difference of records, inside the universes of c_Swap (the
        `multiverse` of the scheme). Per unit of the symmetric difference it is half of it. Under more invariants the upper end
        remains valid and the pair may lie in two universes; under fewer, no number here applies.

        Args:
            sizes: the records of each stratum, by its match categories; None for every size that the space allows.
        """
        self.check(space)
        return self.constants().of_space(space) if sizes is None else self.constants().of_sizes(sizes, space)

    def by_the_theorem(self, spec: PrivacySpec) -> grammar.ProvedBound | None:
        """What docs/swapping-theorem.md proves of a claim with a printed form of the theorem as its budget; None of others."""
        from dpspec_divergences import Hamming, Mult

        budget = spec.budget
        rates = {self.swap_rate, *(rate.swap_rate for rate in self.rates)}
        if not is_a(budget, SwappingBudget) or budget.largest_stratum is not None or rates & {0, 1}:
            return None
        if (budget.match, budget.unit, budget.swap_rate, budget.rates) != (self.match, self.unit, self.swap_rate, self.rates):
            return None
        if blocks.Multisets.found_in(spec.space) is None:  # it may hold other datasets than those that are counted
            return None
        constants, space = self.constants(), spec.space
        beyond = constants.pair_against(budget.form, space)
        within = not any(constants.sizes_against(budget.form, rate, space) for rate in rates)
        shown = beyond or constants.pair_shown(SHOWN, space)
        records = 0 if shown is None else sum(shown.likely.values())
        written = None
        if shown is not None and (records <= MOST_SHOWN or (beyond is not None and records <= MOST_WRITTEN)):
            written = shown.datasets(self.scheme(), space)
        proved = partial(
            grammar.ProvedBound,
            holds=within,
            invariants=self.scheme().invariants(space),
            input_divergence=Hamming(unit=self.unit),
            output_divergence=Mult(),
            pair=None if written is None else written[:2],
            reached=None if shown is None else shown.slope,
            says=f"the constant of {'every stratum is within' if within else 'some strata exceeds'} the printed form",
            citation="docs/swapping-theorem.md; printed by Bailie, Gong and Meng 2023",
        )
        if written is None or records <= MOST_SHOWN:
            return proved()
        one, other, output = written
        probabilities = self.probability(one, output, space), self.probability(other, output, space)
        held = Counter(space.records(output, self.unit))
        words = ", ".join(f"{number} x ({', '.join(map(str, record))})" for record, number in sorted(held.items(), key=repr))
        return proved(probabilities=probabilities, outcome=words)

    def _speaks_of(self, spec: PrivacySpec) -> bool:
        """Whether distances are d_Ham of the unit, and the universes are those of c_Swap and of nothing else."""
        from dpspec_divergences import Hamming

        if spec.input_divergence != Hamming(unit=self.unit) or blocks.Multisets.found_in(spec.space) is None:
            return False
        published = [invariant.as_marginal() for invariant in spec.multiverse.induced_by() or ()]
        if any(table is None or table.where for table in published):
            return False
        held = {(table.unit, frozenset(table.attributes)) for table in published if table is not None}
        kept = {(table.unit, frozenset(table.attributes)) for table in self.scheme().invariants(spec.space)}
        return held == kept

    def in_one_universe(self, spec: PrivacySpec, dataset: Dataset) -> Bracket | None:
        """The constant of the universe of c_Swap that holds a dataset, of d_MULT per unit of d_Ham; None elsewhere."""
        from dpspec_divergences import Mult

        if not self._speaks_of(spec) or spec.output_divergence != Mult():
            return None
        return self.constants().of_universe(spec.space.dataset(dataset), spec.space)

    def by_exchanges(self, spec: PrivacySpec, dataset: Dataset | None) -> grammar.NearestLaws | None:
        """The laws of two tables of one universe of c_Swap that differ by one exchange: the nearest, at distance 2.

        Where the multiverse publishes c_Swap and nothing else, and distances are d_Ham of the unit; None elsewhere.
        """
        if not self._speaks_of(spec):
            return None
        if dataset is None:
            return nearest_in_space(self.constants(), self.exchanges(), spec.space)
        strata = self.scheme().strata(spec.space.dataset(dataset), spec.space)
        counted = {match: Counter(records) for match, records in strata.items()}
        return nearest_in_universe(self.constants(), self.exchanges(), counted, self.stratum_weights)

    def by_exchanges_of_table(self, spec: PrivacySpec, table: Table) -> grammar.NearestLaws | None:
        """The same for the universe of a real table; None also where its columns are not all attributes of a record."""
        strata = self.counted_strata(spec, table)
        if strata is None:
            return None
        return nearest_in_universe(self.constants(), self.exchanges(), strata, self.stratum_weights)

    def by_counted_exchanges(self, spec: PrivacySpec, table: Table, level: Fraction) -> grammar.KnownPower | None:
        """The largest power against one exchange of a real table; None where none changes it, or no theorem speaks of it."""
        strata = self.counted_strata(spec, table)
        power = None if strata is None else power_of_exchanges(self.constants(), strata, level, derange=self.deranges)
        return None if power is None else grammar.KnownPower(power=power, citation=CITATION)

    def by_simulated_exchanges(self, spec: PrivacySpec, table: Table, level: Fraction) -> grammar.SimulatedPower | None:
        """The power of a test against one exchange of a real table, from simulated releases; None as above."""
        from dpspec_census.swap_simulation import simulated_power

        strata = self.counted_strata(spec, table)
        return None if strata is None else simulated_power(self.constants(), strata, level, derange=self.deranges)

    def counted_strata(self, spec: PrivacySpec, table: Table) -> Mapping[Record, CountedCells] | None:
        """How many records have each rest value and swap value, by stratum; None where the theorem does not speak about them."""
        rest = self.scheme().rest(spec.space)
        names = (*self.match, *rest, *self.swap)
        if not self._speaks_of(spec) or {a.name for a in table.attributes} != set(names):
            return None
        found: dict[Record, dict[tuple[Record, Record], int]] = {}
        first, last = len(self.match), len(self.match) + len(rest)
        for record, count in table.counts(names).items():
            found.setdefault(record[:first], {})[record[first:last], record[last:]] = count
        return found

    def exchanges(self) -> Exchanges:
        """What is known of the laws of two tables that differ by one exchange."""
        return of_selected(derange=self.deranges)

    def probability(self, dataset: Dataset, outcome: Dataset, space: DatasetSpace) -> Fraction:
        """The probability that one table is released, at any size: the law itself may have too many outcomes to be listed.

        The work grows with the records that the two tables have in common.

        >>> from dpspec.plugin import UnorderedRecords
        >>> space = UnorderedRecords(attributes=[{"name": "kin", "count": 2}, {"name": "place", "count": 2}], unit="household")
        >>> swap = PermutationSwapping(swap=["place"], swap_rate="1/5")
        >>> swap.probability((("0", "0"), ("1", "1")), (("0", "1"), ("1", "0")), space)
        Fraction(1, 50)
        """
        self.check(space)
        before, after = (self.scheme().strata(space.dataset(each), space) for each in (dataset, outcome))
        probability = Fraction(1)
        for match in before | after:
            probability *= self._probability_in(match, before.get(match, ()), after.get(match, ()))
        return probability

    def _probability_in(self, match: Record, before: SwappedRecords, after: SwappedRecords) -> Fraction:
        """The same in one stratum."""
        rests, swaps = (tuple(dict.fromkeys(pair[side] for pair in before)) for side in (0, 1))
        if any(sorted(pair[side] for pair in before) != sorted(pair[side] for pair in after) for side in (0, 1)):
            return Fraction(0)
        counts = [Counter(records) for records in (before, after)]
        cells, table = (tuple(count[rest, swap] for rest in rests for swap in swaps) for count in counts)
        return self.stratum_probability(cells, table, len(swaps), rate_of(match, self.rates, self.swap_rate))

    @abstractmethod
    def stratum_probability(self, cells: StratumCells, table: StratumCells, columns: int, swap_rate: Fraction) -> Fraction:
        """The probability that one stratum becomes a table, at its swap rate."""

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """The product over strata of their laws, each from integer weights; the outcomes are datasets of the space."""
        self.check(space)
        scheme = self.scheme()
        weights: dict[tuple[Record, ...], int] = {(): 1}
        for match, pairs in sorted(scheme.strata(space.dataset(dataset), space).items()):
            stratum = self._stratum(scheme, match, pairs, space)
            weights = {(*done, *records): w * v for done, w in weights.items() for records, v in stratum}
        return FiniteLaw.from_weights({_dataset(scheme, records, space): w for records, w in weights.items()})

    def _stratum(
        self, scheme: SwapScheme, match: Record, pairs: SwappedRecords, space: DatasetSpace
    ) -> list[tuple[tuple[Record, ...], int]]:
        rests = tuple(sorted({rest for rest, _ in pairs}))
        swaps = tuple(sorted({swap for _, swap in pairs}))
        cells = tuple(pairs.count((rest, swap)) for rest in rests for swap in swaps)
        weighted = self.stratum_weights(cells, len(swaps), rate_of(match, self.rates, self.swap_rate))
        labels = match, rests, swaps
        return [(_records(scheme, labels, table, space), weight) for table, weight in weighted.items()]

    def symmetries(self, space: DatasetSpace) -> tuple[grammar.Symmetry, ...]:
        """Renaming categories of one attribute, and exchanging the roles of the held and the swapped attribute.

        Strata with rates of their own are not renamed.
        """
        attributes = space.attributes_of(self.unit)
        if any(attribute.within is not None for attribute in attributes) or space.units != (self.unit,):
            return ()
        names = [attribute.name for attribute in attributes]
        renamings = [
            (f"{attribute.name} {one} <-> {two}", _renaming(place, {one: two, two: one}))
            for place, attribute in enumerate(attributes)
            if attribute.size <= _MOST_RENAMED and not (self.rates and attribute.name in self.match)
            for one, two in itertools.combinations(attribute.values(), 2)
        ]
        rest = self.scheme().rest(space)
        if len(rest) == len(self.swap) == 1:
            places = sorted((names.index(rest[0]), names.index(self.swap[0])))
            renamings.append((f"{rest[0]} <-> {self.swap[0]}", _exchange(*places)))

        def whole(rename: Renaming) -> Callable[[Any], Dataset]:
            return lambda dataset: space.dataset([rename(record) for record in space.records(dataset, self.unit)])

        return tuple(grammar.Symmetry(label=label, dataset=whole(one), outcome=whole(one)) for label, one in renamings)

    def _claim(self, label: str, source: str, form: str, space: DatasetSpace) -> Claim:
        from dpspec_divergences import Hamming, Mult

        budget = SwappingBudget(match=self.match, swap_rate=self.swap_rate, rates=self.rates, unit=self.unit, form=form)
        return Claim(
            label=label,
            source=source,
            spec=PrivacySpec(
                space=space,
                multiverse=self.scheme().multiverse(space),
                input_divergence=Hamming(unit=self.unit),
                output_divergence=Mult(),
                budget=budget,
            ),
        )

    def rates_of(self, table: tables.Countable) -> Rates:
        """The rates by the numbers of the strata in `Table.key(match)`."""
        attributes = [table.attribute(name) for name in self.match]
        own = {}
        for rate in self.rates:
            key = 0
            for attribute, category in zip(attributes, rate.stratum, strict=True):
                key = key * attribute.size + attribute.index(category)
            own[key] = rate.swap_rate
        return Rates(default=self.swap_rate, own=own)

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """One swapped table; only the columns `swap` change, and only inside strata."""
        return self.run(table, space, workers.Run(source=source)).main

    def keeps(self, columns: tuple[str, ...]) -> tuple[grammar.Kept, ...]:
        """Records without what is swapped, each with its members; and what is swapped, inside each stratum."""
        still = tuple(name for name in columns if name not in self.swap)
        return (grammar.Kept(attributes=still, members=True), grammar.Kept(attributes=(*self.match, *self.swap)))

    def run(self, table: Table, space: DatasetSpace, run: workers.Run) -> workers.Output:
        """One swapped table, in a random order; persons move with their household.

        The number of selected records is not a function of the released table, so it is reported to the agency only.
        """
        self.check(space)
        scheme = self.scheme()
        draws = run.source.placed()
        own = self.records_by_rate(table, space)
        swapped, selected = exchanged(
            table, scheme, self.rates_of(table), run, draws, how=Algorithm(self.algorithm_of_release), own=own
        )
        released = unordered(swapped, draws.spawn("order"))
        report = published(self, table, StrataReport.of(table, self.match), space)
        return workers.Output(tables={"released": released}, report=report, confidential=_selected(selected, len(table)))

    def by_sorting(
        self,
        batches: Iterable[Table],
        attributes: tuple[Attribute, ...],
        space: DatasetSpace,
        run: workers.Run,
        sorter: sorting.Sorter,
    ) -> sorting.SortedRelease:
        """The same of a table that is larger than memory, whose records have no members (`ReleasesSorted.release_sorted`).

        A class states it as its `release_sorted` by itself, where it draws nothing else than this class does.
        """
        swap, _, columns = self._sorted_swap(attributes, space, run, sorter)
        released, strata = swap.swap(batches)
        found = StrataReport(names=strata.names, sizes=strata.sizes, varied=strata.varied)
        report, confidential = published(self, columns, found, space), _selected(strata.selected, int(strata.sizes.sum()))
        return sorting.SortedRelease(attributes=attributes, batches=released, report=report, confidential=confidential)

    def households_by_sorting(
        self,
        batches: Iterable[Table],
        attributes: tuple[Attribute, ...],
        space: DatasetSpace,
        run: workers.Run,
        sorter: sorting.Sorter,
    ) -> sorting.SortedHouseholds:
        """The same of households with persons (`grammar.ReleasesHouseholdsSorted.release_households_sorted`).

        A class states it as its `release_households_sorted` by itself, where it draws nothing else than this class does.
        """
        swap, draws, columns = self._sorted_swap(attributes, space, run, sorter)
        rows, strata = swap.swap_households(batches, draws.spawn("order"))
        found = StrataReport(names=strata.names, sizes=strata.sizes, varied=strata.sizes > 1)
        report, confidential = published(self, columns, found, space), _selected(strata.selected, int(strata.sizes.sum()))
        return sorting.SortedHouseholds(
            attributes=attributes, packing=swap.packing, rows=rows, report=report, confidential=confidential
        )  # fmt: skip

    def _sorted_swap(
        self, attributes: tuple[Attribute, ...], space: DatasetSpace, run: workers.Run, sorter: sorting.Sorter
    ) -> tuple[SortedSwap, randomness.PlacedRandomness, tables.CountedTable]:
        """The swap of a table of these columns, what it draws from, and the columns as a table that is not held."""
        from dpspec_census.sorted_swap import SortedSwap

        self.check(space)
        columns, draws = tables.CountedTable(attributes=attributes, records=0, found={}), run.source.placed()
        swap = SortedSwap(
            attributes=attributes, scheme=self.scheme(), rates=self.rates_of(columns), run=run, draws=draws, sorter=sorter,
            how=Algorithm(self.algorithm_of_release), own=self.unique_rates(space),
        )  # fmt: skip
        return swap, draws, columns

    def records_by_rate(self, table: Table, space: DatasetSpace) -> RecordRates | None:
        """Which rows of a table have a rate of their own; None where rates are those of strata."""
        return None

    def unique_rates(self, space: DatasetSpace) -> UniqueRates | None:
        """The rates of `records_by_rate` for any table; None where rates are those of strata."""
        return None

    @property
    def algorithm_of_release(self) -> str:
        """What is done with the selected records of a table: derange, permute or pair."""
        return "derange" if self.deranges else "permute"

    deranges: ClassVar[bool]
    """Whether the selected records are deranged, with the redraw rule, or permuted."""


@define
class DerangementSwapping(Swapping):
    """In each stratum select each record with probability p, redraw when exactly one is selected, and give the
    selected records each other's swap values by a uniform derangement *of records*.

    P(sigma) is proportional to o^m / D_m for a permutation that moves m records, o = p/(1-p); m = 1 is impossible.
    Strata of size 0 or 1 are skipped.

    >>> from dpspec.plugin import UnorderedRecords
    >>> space = UnorderedRecords(attributes=[{"name": "tenure", "count": 2}, {"name": "county", "count": 2}], unit="household")
    >>> law = DerangementSwapping(swap=["county"], swap_rate="1/5").law((("0", "0"), ("1", "1")), space)
    >>> str(law.probability((("0", "1"), ("1", "0"))))
    '1/17'
    """

    name: ClassVar[str] = "derangement-swapping"
    deranges: ClassVar[bool] = True

    def stratum_constant(self, size: int, swap_rate: Fraction) -> SwapConstant:
        return derangement_constant(size, swap_rate)

    def stratum_weights(self, cells: StratumCells, columns: int, swap_rate: Fraction) -> Mapping[StratumCells, int]:
        return derangement_weights(cells, columns, *_odds(swap_rate))

    def stratum_probability(self, cells: StratumCells, table: StratumCells, columns: int, swap_rate: Fraction) -> Fraction:
        return derangement_probability(cells, table, columns, swap_rate)

    def proved(self, spec: PrivacySpec) -> grammar.ProvedBound | None:
        return self.by_the_theorem(spec)

    def constant_at(self, spec: PrivacySpec, dataset: Dataset) -> Bracket | None:
        return self.in_one_universe(spec, dataset)

    def nearest_laws(self, spec: PrivacySpec, dataset: Dataset | None = None) -> grammar.NearestLaws | None:
        return self.by_exchanges(spec, dataset)

    def nearest_laws_of_table(self, spec: PrivacySpec, table: Table) -> grammar.NearestLaws | None:
        return self.by_exchanges_of_table(spec, table)

    def power_on_table(self, spec: PrivacySpec, table: Table, level: Fraction) -> grammar.KnownPower | None:
        return self.by_counted_exchanges(spec, table, level)

    def simulated_power_on_table(self, spec: PrivacySpec, table: Table, level: Fraction) -> grammar.SimulatedPower | None:
        return self.by_simulated_exchanges(spec, table, level)

    release_sorted = Swapping.by_sorting
    release_households_sorted = Swapping.households_by_sorting

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """The swapping theorem in the full form for 0 < p < 1, and the short one, which is printed for p <= 1/2 only.

        For p = 0 and p = 1 the source denies every finite budget, so nothing is claimed.
        """
        claims = []
        rates = {self.swap_rate, *(rate.swap_rate for rate in self.rates)}
        if all(0 < rate < 1 for rate in rates):
            claims.append(self._claim("swapping theorem, full form", f"{THEOREM}, appendix", "s23-full", space))
        if all(0 < rate <= HALF for rate in rates):
            claims.append(self._claim("swapping theorem, short form", f"{THEOREM}, short form", "s23-short", space))
        return tuple(claims)


@define
class PermutationSwapping(Swapping):
    """As on the slides of 2024: select each record with probability p and give the selected records of a stratum each
    other's swap values by a uniform permutation, which may fix some of them.

    P(sigma) = sum over t of C(n-m, t) p^(m+t) (1-p)^(n-m-t) / (m+t)! for a permutation that moves m of n records.

    >>> from dpspec.plugin import UnorderedRecords
    >>> space = UnorderedRecords(attributes=[{"name": "tenure", "count": 2}, {"name": "county", "count": 2}], unit="household")
    >>> law = PermutationSwapping(swap=["county"], swap_rate="1/5").law((("0", "0"), ("1", "1")), space)
    >>> str(law.probability((("0", "1"), ("1", "0"))))
    '1/50'
    """

    name: ClassVar[str] = "permutation-swapping"
    deranges: ClassVar[bool] = False

    def stratum_constant(self, size: int, swap_rate: Fraction) -> SwapConstant:
        return permutation_constant(size, swap_rate)

    def stratum_weights(self, cells: StratumCells, columns: int, swap_rate: Fraction) -> Mapping[StratumCells, int]:
        return permutation_weights(cells, columns, *_odds(swap_rate))

    def stratum_probability(self, cells: StratumCells, table: StratumCells, columns: int, swap_rate: Fraction) -> Fraction:
        return permutation_probability(cells, table, columns, swap_rate)

    def proved(self, spec: PrivacySpec) -> grammar.ProvedBound | None:
        return self.by_the_theorem(spec)

    def constant_at(self, spec: PrivacySpec, dataset: Dataset) -> Bracket | None:
        return self.in_one_universe(spec, dataset)

    def nearest_laws(self, spec: PrivacySpec, dataset: Dataset | None = None) -> grammar.NearestLaws | None:
        return self.by_exchanges(spec, dataset)

    def nearest_laws_of_table(self, spec: PrivacySpec, table: Table) -> grammar.NearestLaws | None:
        return self.by_exchanges_of_table(spec, table)

    def power_on_table(self, spec: PrivacySpec, table: Table, level: Fraction) -> grammar.KnownPower | None:
        return self.by_counted_exchanges(spec, table, level)

    def simulated_power_on_table(self, spec: PrivacySpec, table: Table, level: Fraction) -> grammar.SimulatedPower | None:
        return self.by_simulated_exchanges(spec, table, level)

    release_sorted = Swapping.by_sorting
    release_households_sorted = Swapping.households_by_sorting

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """The swapping theorem as printed in 2024: two branches, b = the largest stratum; nothing is said about p = 0 and p =
        1."""
        if not all(0 < rate < 1 for rate in (self.swap_rate, *(rate.swap_rate for rate in self.rates))):
            return ()
        return (self._claim("swapping theorem", "Bailie et al. 2024, swapping theorem", "s24", space),)


def _renaming(place: int, names: Mapping[Hashable, Hashable]) -> Renaming:
    """Exchange two categories of the attribute at one place."""
    return lambda record: (*record[:place], names.get(record[place], record[place]), *record[place + 1 :])


def _exchange(first: int, second: int) -> Renaming:
    """Exchange the values at two places."""
    return lambda r: (*r[:first], r[second], *r[first + 1 : second], r[first], *r[second + 1 :])


def _odds(rate: Fraction) -> tuple[int, int]:
    """Integers in the proportion p : 1 - p."""
    return rate.numerator, rate.denominator - rate.numerator


@memoize(maxsize=1 << 16)
def _records(
    scheme: SwapScheme, labels: tuple[Record, tuple[Record, ...], tuple[Record, ...]], table: StratumCells, space: DatasetSpace
) -> tuple[Record, ...]:
    """The records of a stratum with the given table of counts; `labels` are its match, rest and swap categories."""
    match, rests, swaps = labels
    kinds = ((rest, swap) for rest in rests for swap in swaps)
    pairs = (pair for pair, count in zip(kinds, table, strict=True) for _ in range(count))
    return scheme.joined(match, pairs, space)


@memoize(maxsize=1 << 16)
def _dataset(scheme: SwapScheme, records: tuple[Record, ...], space: DatasetSpace) -> Dataset:
    return scheme.dataset(records, space)


# --- what may be published about a swap -----------------------------------------------------------


LOOKED_AT = 1 << 18
"""Records that are compared at a time with the first one of their stratum."""


@attrs.frozen(kw_only=True, eq=False)
class StrataReport:
    """The strata of a table.

    Args:
        names: their numbers in `Table.key(match)`, ascending.
        sizes: their records.
        varied: whether they hold at least two different records. Households with persons count as different, unless one stands
            alone: the budget is then an upper bound.
    """

    names: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    varied: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, table: Table, match: tuple[str, ...]) -> StrataReport:
        """The strata by the columns `match`."""
        names, stratum, sizes = tables.ranked(table.key(match))
        if table.members is not None:
            return cls(names=names, sizes=sizes, varied=sizes > 1)
        first = np.empty(len(sizes), dtype=np.int64)
        first[stratum[::-1]] = np.arange(len(table) - 1, -1, -1)
        varied = np.zeros(len(sizes), dtype=np.bool_)
        for begin in range(0, len(table), LOOKED_AT):  # most strata are found to be varied in the first part
            part = stratum[begin : begin + LOOKED_AT]
            rows = begin + np.flatnonzero(~varied[part])
            for column in table.codes.values():
                varied[stratum[rows[column[rows] != column[first[stratum[rows]]]]]] = True
                rows = rows[~varied[stratum[rows]]]
        return cls(names=names, sizes=sizes, varied=varied)

    def largest(self, having: npt.NDArray[np.bool_] | None = None) -> StratumSizes:
        """The largest stratum, and the largest with different records, among some or all of them."""
        sizes = self.sizes if having is None else np.where(having, self.sizes, 0)
        varied = np.where(self.varied, sizes, 0)
        return StratumSizes(largest=int(sizes.max(initial=0)), largest_varied=int(varied.max(initial=0)))


def _selected(selected: int, records: int) -> dict[str, int]:
    """What is stated to the agency alone."""
    return {"records selected": selected, "records": records}


def published(mechanism: Swapping, table: tables.Countable, strata: StrataReport, space: DatasetSpace) -> dict[str, Any]:
    """The strata of a table, their sizes, and the budget of its universe as the theorem prints it.

    All of it is constant inside a universe of c_Swap, so it adds nothing to the invariants.
    """
    sizes = strata.largest()
    return {
        "unit": mechanism.unit,
        "match": list(mechanism.match),
        "swap": list(mechanism.swap),
        "swap rate": str(mechanism.swap_rate),
        "other rates": {", ".join(rate.stratum): str(rate.swap_rate) for rate in mechanism.rates},
        "strata": len(strata.sizes),
        "strata of one record": int((strata.sizes == 1).sum()),
        "largest stratum": sizes.largest,
        "largest stratum with different records": sizes.largest_varied,
        "budget of this universe": [
            _spent(claim.label, claim.source, _budget(claim.spec.budget, mechanism, table, strata))
            for claim in mechanism.claims(space)
        ],
    }


def _budget(budget: Budget, mechanism: Swapping, table: tables.Countable, strata: StrataReport) -> Number:
    """The largest budget of a stratum, each with its own rate."""
    form = cast("SwappingBudget", budget).form
    budgets = []
    for rate, having in mechanism.rates_of(table).classes(strata.names):
        if having.any():
            sizes = strata.largest(having)
            b = sizes.largest_varied if form == "s23-full" else sizes.largest
            budgets.append(nominal_budget(b, rate, form))
    return max(budgets, default=nominal_budget(0, mechanism.swap_rate, form))


def _spent(label: str, source: str, epsilon: Number) -> Mapping[str, str]:
    return {"claim": label, "source": source, "epsilon": str(epsilon), "about": epsilon.decimal()}
