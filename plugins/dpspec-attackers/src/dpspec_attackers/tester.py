"""Testers: how often a test of the release tells two neighbouring datasets apart (Kifer et al. 2022).

The compound tester tests the target's record when the others are drawn from a known law (Kifer et al. 2022). The
attribute-restricted
one is after some attributes only, and knows all others (Kifer et al. 2022).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import permutations
from typing import Annotated, Any, ClassVar, cast

import attrs
from dpspec_divergences import DNor

from dpspec.plugin import (
    AttackerModel,
    Bracket,
    Dataset,
    Exact,
    FiniteLaw,
    Integer,
    Items,
    Mechanism,
    Number,
    OutputDivergence,
    PrivacySpec,
    Rational,
    RiskStatement,
    Sense,
    Text,
    UniformBudget,
    blocks,
    define,
    errors,
    exact,
    laws,
    params,
    risks,
)
from dpspec_attackers.knowledge import AttributesOnly, FrequentistCompound
from dpspec_attackers.semantics import at, said
from dpspec_attackers.worlds import (
    ANY,
    Counterfactual,
    Weighted,
    World,
    WrittenPrior,
    check_compared,
    replaced,
    replacing,
    target,
)

ADVANTAGE = "advantage of the best test, power minus level"
LEVELS = ("1/100", "1/20", "1/10", "1/4", "1/2")


@define
class FrequentistTester(AttackerModel):
    """A tester of the hypothesis that the data are x against the alternative that they are x', a neighbour of x.

    The level is the probability of accusing x' when the data are x, the power that of accusing it rightly. Power equal to the
    level is a test that ignores the release. The advantage of the best test, sup of power - level, is the total variation.

    Args:
        levels: the levels at which the power is shown, in (0, 1).
        distance: how far apart x and x' may be, in the unit of the input divergence.
        datasets: those that are distinguished, for the mechanism's own law; without it all, or the smallest of a large space.

    >>> from dpspec_divergences.routes import zcdp_spec
    >>> tester = FrequentistTester(levels=["0.01", "0.05", "0.1"])
    >>> [said.value.upper.decimal() for said in tester.worst_case(zcdp_spec(rho="2.63"))]
    ['0.69816', '0.946584', '0.96234', '0.898378']
    """

    name: ClassVar[str] = "tester"
    title: ClassVar[str] = "tests one dataset against a neighbour"
    knowledge: ClassVar[str] = "every record but one, and two candidates for that one; the mechanism, but not its random bits"
    target: ClassVar[str] = "which of the two candidates is in the data"
    observation: ClassVar[str] = "the whole release, processed in any way"
    assumption: ClassVar[str] = "none"
    source: ClassVar[str] = "Kifer et al. 2022, Sections 6, 6.3 and 6.4, Theorems 6.1 to 6.3"
    in_panel: ClassVar[bool] = True

    levels: Annotated[tuple[Fraction, ...], Items(Rational(0, 1, open_low=True, open_high=True), least=1)] = LEVELS  # type: ignore[assignment]
    distance: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)] = 1  # type: ignore[assignment]
    datasets: Annotated[tuple[object, ...], Items(params.Data())] = ()

    def named_datasets(self) -> tuple[object, ...]:
        return self.datasets

    def worst_case(self, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        return risks.candidates_within(spec, self.distance).stated(partial(self._allowed, spec.output_divergence))

    def _allowed(self, divergence: OutputDivergence, bound: Number) -> tuple[RiskStatement, ...]:
        theorem = f"largest power of two laws that {divergence.in_words()} allows at this bound; {self.source}"
        statements = self._powers(Sense.AT_MOST, theorem, lambda level: risks.allowed_power(divergence, bound, level))
        if not divergence.keeps_mixtures:
            return statements
        theorem = f"total variation of two bits that {divergence.in_words()} allows (Kifer et al. 2022, Section 5.1)"
        return (*statements, self._advantage(Sense.AT_MOST, risks.allowed_advantage(divergence, bound), theorem))

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        found, about = risks.published_within(spec, self.distance), partial(self._allowed, spec.output_divergence)
        if found.bound is None and not self.datasets:
            nearest = risks.nearest_pairs(mechanism, spec)
            own = () if nearest is None else self._at(nearest)._own(nearest)
        else:
            own = self._own(risks.own_pairs(mechanism, spec, self.distance, self.datasets or None))
        return (*found.published(about), *found.left_open(own))

    def _at(self, nearest: risks.ComparedPairs) -> FrequentistTester:
        """The same tester of datasets as far apart as the nearest of a universe are."""
        return params.evolve(self, distance=nearest.distance)

    def _own(self, looked: risks.ComparedPairs) -> tuple[RiskStatement, ...]:
        """What the best test of some pairs of laws achieves."""
        theorem = f"likelihood-ratio test (Kifer et al. 2022, Section 4), {looked.scope}"
        powers = self._powers(looked.sense, theorem, lambda level: looked.largest(partial(laws.largest_power, level=level)))
        variation = looked.largest(lambda pair: pair.total_variation())
        theorem = f"total variation (Kifer et al. 2022, Section 5.1), {looked.scope}"
        return (*powers, self._advantage(looked.sense, variation, theorem))

    def _advantage(self, relation: Sense, value: Bracket, theorem: str) -> RiskStatement:
        return said(ADVANTAGE, at(distance=self.distance), relation, value, theorem, self.assumption, trivial=1)

    def _powers(self, relation: Sense, theorem: str, power: Callable[[Fraction], Bracket]) -> tuple[RiskStatement, ...]:
        return tuple(
            said("power", at(level=level, distance=self.distance), relation, power(level), theorem, self.assumption, trivial=1)
            for level in self.levels
        )


# --- the compound tester --------------------------------------------------------------------------


@define
class CompoundTester(AttackerModel):
    """A tester of one candidate for the target's record against another, the other records drawn from a known law F.

    Not knowing the others neither raises nor lowers the largest power over all mechanisms and all F; for one mechanism and one F
    it can be strictly lower. The law of the others is that of the prior, whatever the target's record is.

    Args:
        prior: pairs [dataset, probability] that sum to 1, for the mechanism's own law; uniform without it.
        position: which record is the target's, from 0.
        levels: the levels at which the power is shown, in (0, 1).
        distance: how far apart two datasets with different candidates are, in the unit of the input divergence; that of a
            replaced record where the size of the data is fixed.
    """

    name: ClassVar[str] = "compound-tester"
    title: ClassVar[str] = "tests one candidate against another, not knowing the other records"
    knowledge: ClassVar[str] = "the law of the other records, and two candidates for the target's; the mechanism"
    target: ClassVar[str] = "which of the two candidates is in the data"
    observation: ClassVar[str] = "the whole release, processed in any way"
    assumption: ClassVar[str] = "the law of the other records is known, and the same under both hypotheses"
    source: ClassVar[str] = "Kifer et al. 2022, Section 6.4"

    prior: Annotated[WrittenPrior, Weighted()] = "uniform"  # type: ignore[assignment]
    position: Annotated[int, Integer(0)] = 0
    levels: Annotated[tuple[Fraction, ...], Items(Rational(0, 1, open_low=True, open_high=True), least=1)] = LEVELS  # type: ignore[assignment]
    distance: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)] | None = None

    def named_datasets(self) -> tuple[object, ...]:
        return tuple(dataset for dataset, _ in self.prior)

    def worst_case(self, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        divergence = spec.output_divergence
        if not divergence.keeps_mixtures:
            rule = (
                "is not known to keep its bound under mixtures, so that the power against unknown others may be larger "
                "(Kifer et al. 2022, Example 5.6)"
            )
            raise errors.AttackerMisfitError(f"output divergence {divergence.name}", rule, "ask the tester, who knows the others")
        return replaced(spec, self.position, self.distance).stated(partial(self._allowed, spec))

    def _allowed(self, spec: PrivacySpec, bound: Number) -> tuple[RiskStatement, ...]:
        theorem = f"{FrequentistCompound.theorem}: as for known others; Theorem 6.3"
        powers = [(level, risks.allowed_power(spec.output_divergence, bound, level)) for level in self.levels]
        known = f"{target(spec, self.position)}{self.assumption}"
        if self.distance is not None:
            known = f"{known}; a record replaced is at distance {self.distance}"
        return tuple(said("power", at(level=level), Sense.AT_MOST, power, theorem, known, trivial=1) for level, power in powers)

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        world = World.of(mechanism, spec, self.prior, self.position)
        check_compared(spec, world, replacing(spec, self.distance), Counterfactual.SAMPLED)
        found = attrs.evolve(replaced(spec, self.position, self.distance), is_listed=True)
        pairs = list(permutations(world.records, 2))
        whole = self._own(world, pairs)
        if not spec.multiverse.induced_by():
            return whole
        certain = (attrs.evolve(statement, at=(*statement.at, ("candidates", ANY))) for statement in whole)
        same = [pair for pair in pairs if not _tells(world, *pair)]
        return (*certain, *found.left_open(self._own(world, same) if same else ()))

    def _own(self, world: World, pairs: Sequence[tuple[Hashable, Hashable]]) -> tuple[RiskStatement, ...]:
        """The largest power against two candidates of some pairs."""
        mixtures = {record: mixed(world, record) for record in {record for pair in pairs for record in pair}}
        held = [mixtures[one].against(mixtures[other]) for one, other in pairs]
        theorem = "likelihood-ratio test of the two mixtures (Kifer et al. 2022, Section 4), the worst two candidates"
        powers = [(level, exact.largest(laws.largest_power(p, level) for p in held)) for level in self.levels]
        known = self.assumption
        return tuple(said("power", at(level=level), Sense.EQUALS, power, theorem, known, trivial=1) for level, power in powers)


def _tells(world: World, one: Hashable, other: Hashable) -> bool:
    """Whether what is published tells two candidates apart for some others."""
    return any(world.published.get((rest, one)) != world.published.get((rest, other)) for rest, _ in world.prior)


def mixed(world: World, record: object) -> FiniteLaw:
    """The law of the output when the target's record is this one and the others follow their law F."""
    others: dict[object, Fraction] = {}
    for (rest, _), mass in world.prior.items():
        others[rest] = others.get(rest, Fraction(0)) + mass
    return FiniteLaw.mixture(list(others.values()), [world.laws[rest, record] for rest in others])


# --- the attribute-restricted tester --------------------------------------------------------------


POWER = "power against the secret attributes"
SPENT = "rho of the answers that react"
APPROXIMATION = "power of Gaussian noise of the same rho"


@define
class AttributeRestricted(AttackerModel):
    """A tester of two datasets that differ in one record, and in that record in the secret attributes alone.

    A specification by itself promises no more about one attribute than about the whole record: a mechanism may spend all of its
    budget there. When only some queries of a release can react to the attributes, the budget of those queries replaces the whole.
    Which ones can is a judgement of the user, and the budgets of several such scenarios share queries and must not be added.

    Args:
        attributes: the secret attributes.
        reacting: the budget of the queries that can react, in the parameter of the specification; without it the whole budget.
        levels: the levels at which the power is shown, in (0, 1).
        distance: how far apart the two datasets may be, in the unit of the input divergence.
    """

    name: ClassVar[str] = "attribute-restricted"
    title: ClassVar[str] = "wants some attributes of a record and knows all others"
    knowledge: ClassVar[str] = "every other record, and every attribute of the target's record but the secret ones"
    target: ClassVar[str] = "the secret attributes of one record"
    observation: ClassVar[str] = "the whole release, processed in any way"
    assumption: ClassVar[str] = "only the secret attributes are protected; correlated ones disclose facts about them"
    source: ClassVar[str] = "Kifer et al. 2022, Sections 8 and 8.2"

    attributes: Annotated[tuple[str, ...], Items(Text(), least=1)]
    reacting: Annotated[Number, Exact(0, "inf", open_high=True)] | None = None
    levels: Annotated[tuple[Fraction, ...], Items(Rational(0, 1, open_low=True, open_high=True), least=1)] = LEVELS  # type: ignore[assignment]
    distance: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)] = 1  # type: ignore[assignment]

    def worst_case(self, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        return self._candidates(spec).stated(partial(self._allowed, spec))

    def _candidates(self, spec: PrivacySpec) -> risks.Candidates:
        self._places(spec)
        promised = spec
        if self.reacting is not None:
            promised = spec.replace(budget=UniformBudget(parameter=spec.budget.parameter, value=self.reacting))
        return risks.candidates_within(promised, self.distance, partial(self._differ_only_there, spec))

    def _allowed(self, spec: PrivacySpec, bound: Number) -> tuple[RiskStatement, ...]:
        known = f"{self.assumption}; the two datasets are at distance {self.distance} at most"
        if self.reacting is not None:
            known = f"{known}; only queries worth {spec.budget.parameter} = {self.reacting} react to them, by assumption"
        theorem = (
            f"{AttributesOnly.theorem}; largest power of two laws that {spec.output_divergence.in_words()} allows at this bound"
        )
        powers = ((level, risks.allowed_power(spec.output_divergence, bound, level)) for level in self.levels)
        return tuple(said(POWER, at(level=level), Sense.AT_MOST, power, theorem, known, trivial=1) for level, power in powers)

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        found, about = self._candidates(spec), partial(self._allowed, spec)
        if found.bound is None:
            return tuple(found.published(about))
        looked = risks.own_pairs(mechanism, spec, self.distance, keep=partial(self._differ_only_there, spec))
        if not looked.pairs:
            rule = "make no difference between two datasets within the distance"
            raise errors.NotReachedError(f"attributes {', '.join(self.attributes)}", rule, "ask for a larger distance")
        return (*found.published(about), *found.left_open(self._own(looked, spec)))

    def _own(self, looked: risks.ComparedPairs, spec: PrivacySpec) -> Iterator[RiskStatement]:
        """The power against the secret, what the answers that react spend, and what Gaussian noise of that rho would allow."""
        theorem = f"likelihood-ratio test, {looked.scope}"
        for level in self.levels:
            power = looked.largest(partial(laws.largest_power, level=level))
            yield said(POWER, at(level=level), looked.sense, power, theorem, self.assumption, trivial=1)
        rho = looked.largest(lambda pair: pair.concentration())
        if not rho.upper.is_infinite:
            theorem = f"zero-concentrated privacy of these answers, {looked.scope}"
            yield said(SPENT, (), looked.sense, rho, theorem, self.assumption)
        if isinstance(spec.output_divergence, DNor) and not rho.upper.is_infinite and rho.lower > 0:
            least, most = (laws.GaussianShift(end * 2) for end in (rho.lower, rho.upper))
            for level in self.levels:
                power = Bracket(lower=laws.largest_power(least, level).lower, upper=laws.largest_power(most, level).upper)
                about = "Phi(Phi^-1(level) + sqrt(2 rho)), an approximation of discrete noise (Kifer et al. 2022, Section 8)"
                yield said(APPROXIMATION, at(level=level), looked.sense, power, about, self.assumption, trivial=1)

    def _places(self, spec: PrivacySpec) -> tuple[str, tuple[int, ...]]:
        """The unit, and where its secret attributes stand in a record."""
        for unit in spec.space.units:
            names = [attribute.name for attribute in spec.space.attributes_of(unit)]
            if set(self.attributes) <= set(names):
                return unit, tuple(names.index(name) for name in self.attributes)
        known = sorted({a.name for unit in spec.space.units for a in spec.space.attributes_of(unit)})
        rule = f"are not all attributes of one unit of the space {spec.space.name}"
        raise errors.AttackerMisfitError(
            "attributes", rule, f"known: {', '.join(known) or 'none'}", value=", ".join(self.attributes)
        )

    def _differ_only_there(self, spec: PrivacySpec, left: Dataset, right: Dataset) -> bool:
        """Whether two datasets differ in the secret attributes, and in nothing else of the records of any unit."""
        names = {unit: {attribute.name for attribute in spec.space.attributes_of(unit)} for unit in spec.space.units}
        having = [unit for unit in spec.space.units if set(self.attributes) <= names[unit]]
        if all(self._seen(spec, unit, left, hidden=()) == self._seen(spec, unit, right, hidden=()) for unit in having):
            return False  # of persons as well: two households of one size that exchange areas are the same two by area and size
        return all(
            self._seen(spec, each, left, hidden=self.attributes) == self._seen(spec, each, right, hidden=self.attributes)
            for each in spec.space.units
        )

    def _seen(self, spec: PrivacySpec, unit: str, dataset: Dataset, hidden: Sequence[str]) -> list[tuple[Any, ...]]:
        """The records of a unit without some attributes; of records inside a record only how many they are."""
        names = [attribute.name for attribute in spec.space.attributes_of(unit)]

        def seen(name: str, value: object) -> object:
            return len(cast("tuple[Any, ...]", value)) if name == blocks.MEMBERS else value

        found = [
            tuple(seen(name, value) for name, value in named if name not in hidden)
            for named in (list(zip(names, record, strict=True)) for record in spec.space.records(dataset, unit))
        ]
        return found if spec.space.is_ordered else sorted(found, key=repr)
