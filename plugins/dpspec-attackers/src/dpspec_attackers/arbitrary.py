"""The attacker with any prior, dependence between records included: what the target's own record reveals (K-D24 to K-T29)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, ClassVar

from dpspec.attacker import AttackerModel, Relation, RiskStatement
from dpspec.errors import CounterfactualError
from dpspec.exact import Bracket, Number, number
from dpspec.mechanism import Mechanism
from dpspec.params import Data, Exact, Integer, Items, Rational, Text, define
from dpspec.risk.pairs import bound_within
from dpspec.spec import PrivacySpec
from dpspec_attackers.knowledge import AnyPriorTrueRecord, WorstCase
from dpspec_attackers.priors import Prior, Weighted, check_uncertain, replacing
from dpspec_attackers.semantics import FACTORS, NO_BOUND, at, exponential, growth, keeps_mixtures, pure_bound, said
from dpspec_attackers.worlds import Counterfactual, World, check_universes

MOST = "posterior with the record by posterior without it, largest"
LEAST = "posterior with the record by posterior without it, smallest"
PRIOR = "posterior by prior, largest"
TAIL = "chance that the record grows belief in the truth by the factor"


@define
class ArbitraryPrior(AttackerModel):
    """An attacker with any prior over whole datasets, who compares the release with one that does not use the target's record.

    The ratio of the two posteriors of the target's record is what that record causes; under pure privacy it lies within
    e^-epsilon and e^epsilon for every prior when the record is replaced by a draw from what the others let one expect, and within
    e^(-2 epsilon) and e^(2 epsilon) for a fixed default record or none. Posterior by prior is another thing: it has no bound that
    does not grow with the number of records, since others may tell about the target (B-T6, B-T7, K-T23).

    Args:
        prior: pairs [dataset, probability] that sum to 1, for the mechanism's own law; uniform without it.
        position: which record is the target's, from 0.
        counterfactual: what stands for the target's record when it is not used: sampled, default or dropped.
        default: the default record.
        factors: growths of the belief, above 1.
        distance: how far apart two datasets with different candidates are, in the unit of the input divergence; that of a
            replaced record where the size of the data is fixed.

    >>> from dpspec_divergences.examples import zcdp_spec
    >>> [str(said.value) for said in ArbitraryPrior(factors=[]).worst_case(zcdp_spec(rho=1))]
    ['inf', '0', 'inf']
    """

    name: ClassVar[str] = "arbitrary-prior"
    title: ClassVar[str] = "has any prior, and compares with a release that does not use the record"
    knowledge: ClassVar[str] = "a prior over whole datasets, records dependent or not; the mechanism, but not its random bits"
    target: ClassVar[str] = "the target's record, as far as the release of that record reveals it"
    observation: ClassVar[str] = "the whole release, processed in any way"
    assumption: ClassVar[str] = "the same prior in both worlds; for chances, that it is right"
    source: ClassVar[str] = "K-D24, K-D25, K-T23, K-T24, K-T25, K-T26, K-T29, B-T6, B-T7, B-T8"

    prior: Annotated[Prior, Weighted()] = "uniform"  # type: ignore[assignment]
    position: Annotated[int, Integer(0)] = 0
    counterfactual: Annotated[str, Text(tuple(way.value for way in Counterfactual))] = "sampled"
    default: Annotated[object, Data()] | None = None
    factors: Annotated[tuple[Fraction, ...], Items(Rational(1, open_low=True))] = FACTORS  # type: ignore[assignment]
    distance: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)] | None = None

    def __attrs_post_init__(self) -> None:
        if self.way is Counterfactual.DEFAULT and self.default is None:
            rule = "needs a record that stands for the target's"
            raise CounterfactualError("counterfactual", rule, "name it as default", value=self.counterfactual)
        if self.way is not Counterfactual.DEFAULT and self.default is not None:
            rule = f"belongs to counterfactual = default, not to {self.counterfactual}"
            raise CounterfactualError("default", rule, "set counterfactual=default, or leave it out", value=self.default)

    @property
    def way(self) -> Counterfactual:
        """Which world without the record is meant."""
        return Counterfactual(self.counterfactual)

    def worst_case(self, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        if self.way is Counterfactual.DROPPED and all(spec.space.fixes_size(unit) for unit in spec.space.units):
            rule = "leaves the record out, and all datasets have one size"
            raise CounterfactualError("counterfactual", rule, "use sampled or default (K-S4)", value=self.counterfactual)
        bound, divergence = bound_within(spec, self._step(spec)), spec.output_divergence
        pure, twice = pure_bound(divergence, bound), self.way is not Counterfactual.SAMPLED
        size = pure if pure.is_infinite or not twice else pure * 2
        theorem = "K-T26, e^(2 epsilon)" if twice else "K-T25, e^epsilon"
        least = 0 if size.is_infinite else exponential(-size)
        step = "left out" if self.way is Counterfactual.DROPPED else "replaced"
        known = f"{WorstCase.assumption()}; a record {step} is at distance {self._step(spec)}"
        statements = [
            said(MOST, (), Relation.AT_MOST, exponential(size), theorem, known),
            said(LEAST, (), Relation.AT_LEAST, least, theorem, known),
            said(PRIOR, (), Relation.AT_MOST, *self._by_prior(spec, pure)),
        ]
        if not twice and keeps_mixtures(divergence):
            for factor in self.factors:
                value = growth(divergence, bound, factor)
                theorem = "as K-T28 for class c, since mixing over the others keeps the bound (K-T22); sharper than K-T29"
                right = AnyPriorTrueRecord.assumption()
                statements.append(said(TAIL, at(factor=factor), Relation.AT_MOST, value, theorem, right))
        return tuple(statements)

    def _step(self, spec: PrivacySpec) -> Number:
        """How far apart the datasets are that a bound connects: a record replaced, or left out."""
        if self.way is Counterfactual.DROPPED and self.distance is None:
            return number(1)
        return replacing(spec, self.distance)

    def _by_prior(self, spec: PrivacySpec, pure: Number) -> tuple[Bracket, str, str]:
        length = getattr(spec.space, "length", None) or getattr(spec.space, "most", None)
        if pure.is_infinite or length is None:
            return NO_BOUND, "K-T23: no bound exists", "any prior"
        theorem = "B-T7: e^(n epsilon), approached when all records are equal"
        return exponential(pure * number(length)), theorem, f"any prior on {length} records"

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        world = World.of(mechanism, spec, self.prior, self.position)
        check_universes(spec, world, self._step(spec), self.way)
        for record in world.records:
            check_uncertain(world.belief(record), f"the target's record {record}")
        return tuple(self._own(world))

    def _own(self, world: World) -> Iterator[RiskStatement]:
        ratios = {r: world.ratios(r, self.way, self.default) for r in world.records}
        values = [value for held in ratios.values() for value in held.values()]
        theorem, known = "exact Bayes (K-D25)", "the prior as given" if self.prior else "the uniform prior"
        highest = NO_BOUND if None in values else Bracket.exactly(max(value for value in values if value is not None))
        lowest = min((value for value in values if value is not None), default=Fraction(0))
        yield said(MOST, (), Relation.EQUALS, highest, theorem, known)
        yield said(LEAST, (), Relation.EQUALS, lowest, theorem, known)
        most = max(value for r in world.records for value in world.posterior_to_prior(r).values())
        yield said(PRIOR, (), Relation.EQUALS, most, "exact Bayes (B-D26)", known)
        for factor in self.factors:
            chances = [chance(world, r, ratios[r], factor) for r in world.records]
            yield said(
                TAIL, at(factor=factor), Relation.EQUALS, max(chances), f"{theorem}, the worst record", f"{known}, and right"
            )


def chance(world: World, record: object, ratios: dict[object, Fraction | None], factor: Fraction) -> Fraction:
    """P(ratio >= factor | the record is the true one)."""
    law = world.given_record(record)
    return sum((law.get(o, Fraction(0)) for o, value in ratios.items() if value is None or value >= factor), Fraction(0))
