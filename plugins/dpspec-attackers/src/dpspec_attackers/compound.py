"""The compound tester: tests the target's record when the others are drawn from a known law (K-D23, K-T22)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from functools import partial
from itertools import permutations
from typing import Annotated, ClassVar

import attrs

from dpspec.attacker import AttackerModel, Relation, RiskStatement
from dpspec.errors import AttackerMisfitError
from dpspec.exact import Number, largest
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.power import largest_power
from dpspec.mechanism import Mechanism
from dpspec.params import Exact, Integer, Items, Rational, define
from dpspec.risk.allowed import allowed_power
from dpspec.spec import PrivacySpec
from dpspec_attackers.knowledge import FrequentistCompound
from dpspec_attackers.priors import Prior, Weighted, replaced, replacing, target
from dpspec_attackers.semantics import at, keeps_mixtures, said
from dpspec_attackers.tester import LEVELS
from dpspec_attackers.worlds import ANY, Counterfactual, World, check_compared


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
        divergence = spec.output_divergence
        if not keeps_mixtures(divergence):
            rule = "is not known to keep its bound under mixtures, so that the power against unknown others may be larger (K-T8)"
            raise AttackerMisfitError(f"output divergence {divergence.name}", rule, "ask the tester, who knows the others")
        return replaced(spec, self.position, self.distance).stated(partial(self._allowed, spec))

    def _allowed(self, spec: PrivacySpec, bound: Number) -> tuple[RiskStatement, ...]:
        theorem = f"{FrequentistCompound.theorem}: as for known others; K-A6"
        powers = [(level, allowed_power(spec.output_divergence, bound, level)) for level in self.levels]
        known = f"{target(spec, self.position)}{self.assumption}"
        return tuple(
            said("power", at(level=level), Relation.AT_MOST, power, theorem, known, trivial=1) for level, power in powers
        )

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        world = World.of(mechanism, spec, self.prior, self.position)
        check_compared(spec, world, replacing(spec, self.distance), Counterfactual.SAMPLED)
        found = attrs.evolve(replaced(spec, self.position, self.distance), is_listed=True)
        pairs = list(permutations(world.records, 2))
        whole = self._own(world, pairs)
        if not spec.multiverse.invariants:
            return whole
        told = (attrs.evolve(statement, at=(*statement.at, ("candidates", ANY))) for statement in whole)
        same = [pair for pair in pairs if not _tells(world, *pair)]
        return (*told, *found.left_open(self._own(world, same) if same else ()))

    def _own(self, world: World, pairs: Sequence[tuple[Hashable, Hashable]]) -> tuple[RiskStatement, ...]:
        """The largest power against two candidates of some pairs."""
        laws = {record: mixed(world, record) for record in {record for pair in pairs for record in pair}}
        held = [laws[one].against(laws[other]) for one, other in pairs]
        theorem = "likelihood-ratio test of the two mixtures (K-D5, K-A3), the worst two candidates"
        powers = [(level, largest(largest_power(p, level) for p in held)) for level in self.levels]
        known = self.assumption
        return tuple(said("power", at(level=level), Relation.EQUALS, power, theorem, known, trivial=1) for level, power in powers)


def _tells(world: World, one: Hashable, other: Hashable) -> bool:
    """Whether what is published tells two candidates apart for some others."""
    return any(world.published.get((rest, one)) != world.published.get((rest, other)) for rest, _ in world.prior)


def mixed(world: World, record: object) -> FiniteLaw:
    """The law of the output when the target's record is this one and the others follow their law F."""
    others: dict[object, Fraction] = {}
    for (rest, _), mass in world.prior.items():
        others[rest] = others.get(rest, Fraction(0)) + mass
    return FiniteLaw.mixture(list(others.values()), [world.laws[rest, record] for rest in others])
