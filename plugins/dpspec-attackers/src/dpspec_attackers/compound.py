"""The compound tester: tests the target's record when the others are drawn from a known law (K-D23, K-T22)."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Annotated, ClassVar

from dpspec.attacker import AttackerModel, Relation, RiskStatement
from dpspec.errors import AttackerMisfitError
from dpspec.exact import Number, largest
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.power import largest_power
from dpspec.mechanism import Mechanism
from dpspec.params import Exact, Integer, Items, Rational, define
from dpspec.risk.allowed import allowed_power
from dpspec.risk.pairs import bound_within
from dpspec.spec import PrivacySpec
from dpspec_attackers.knowledge import FrequentistCompound
from dpspec_attackers.priors import Prior, Weighted, replacing
from dpspec_attackers.semantics import at, keeps_mixtures, said
from dpspec_attackers.tester import LEVELS
from dpspec_attackers.worlds import Counterfactual, World, check_universes


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
    source: ClassVar[str] = "K-D23, K-D26 class f, K-T22, K-S28"

    prior: Annotated[Prior, Weighted()] = "uniform"  # type: ignore[assignment]
    position: Annotated[int, Integer(0)] = 0
    levels: Annotated[tuple[Fraction, ...], Items(Rational(0, 1, open_low=True, open_high=True), least=1)] = LEVELS  # type: ignore[assignment]
    distance: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)] | None = None

    def worst_case(self, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        divergence, bound = spec.output_divergence, bound_within(spec, replacing(spec, self.distance))
        if not keeps_mixtures(divergence):
            rule = "is not known to keep its bound under mixtures, so that the power against unknown others may be larger (K-T8)"
            raise AttackerMisfitError(f"output divergence {divergence.name}", rule, "ask the tester, who knows the others")
        theorem = f"{FrequentistCompound.theorem}: as for known others; K-A6"
        return tuple(
            said("power", at(level=level), Relation.AT_MOST, allowed_power(divergence, bound, level), theorem, self.assumption)
            for level in self.levels
        )

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        world = World.of(mechanism, spec, self.prior, self.position)
        check_universes(spec, world, replacing(spec, self.distance), Counterfactual.SAMPLED)
        laws = [mixed(world, record) for record in world.records]
        pairs = [one.against(other) for one, other in permutations(laws, 2)]
        theorem = "likelihood-ratio test of the two mixtures (K-D5, K-A3), the worst two candidates"
        return tuple(
            said(
                "power",
                at(level=level),
                Relation.EQUALS,
                largest(largest_power(p, level) for p in pairs),
                theorem,
                self.assumption,
            )
            for level in self.levels
        )


def mixed(world: World, record: object) -> FiniteLaw:
    """The law of the output when the target's record is this one and the others follow their law F."""
    others: dict[object, Fraction] = {}
    for (rest, _), mass in world.prior.items():
        others[rest] = others.get(rest, Fraction(0)) + mass
    return FiniteLaw.mixture(list(others.values()), [world.laws[rest, record] for rest in others])
