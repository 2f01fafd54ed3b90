"""The frequentist tester: how often a test of the release tells two neighbouring datasets apart (K-D22, K-T17 to K-T20)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Annotated, ClassVar

from dpspec.attacker import AttackerModel, Relation, RiskStatement
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.exact import Bracket, Number, largest
from dpspec.laws.power import largest_power
from dpspec.mechanism import Mechanism
from dpspec.params import Data, Exact, Items, Rational, define
from dpspec.risk.allowed import allowed_advantage, allowed_power
from dpspec.risk.candidates import candidates_within
from dpspec.risk.pairs import pairs_within
from dpspec.spec import PrivacySpec
from dpspec_attackers.semantics import at, keeps_mixtures, said

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
        datasets: the datasets that are told apart, for the mechanism's own law; without it all, or the smallest of a large space.

    >>> from dpspec_divergences.examples import zcdp_spec
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
    source: ClassVar[str] = "K-D22, K-D23, K-T17, K-T18, K-T19, K-T20, K-A6"
    in_panel: ClassVar[bool] = True

    levels: Annotated[tuple[Fraction, ...], Items(Rational(0, 1, open_low=True, open_high=True), least=1)] = LEVELS  # type: ignore[assignment]
    distance: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)] = 1  # type: ignore[assignment]
    datasets: Annotated[tuple[object, ...], Items(Data())] = ()

    def worst_case(self, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        return candidates_within(spec, self.distance).stated(partial(self._allowed, spec.output_divergence))

    def _allowed(self, divergence: OutputDivergence, bound: Number) -> tuple[RiskStatement, ...]:
        theorem = f"largest power of two laws that {divergence.name} allows at this bound; {self.source}"
        statements = self._powers(Relation.AT_MOST, theorem, lambda level: allowed_power(divergence, bound, level))
        if not keeps_mixtures(divergence):
            return statements
        theorem = f"total variation of two bits that {divergence.name} allows (K-T4)"
        return (*statements, self._advantage(Relation.AT_MOST, allowed_advantage(divergence, bound), theorem))

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        found, about = candidates_within(spec, self.distance), partial(self._allowed, spec.output_divergence)
        if found.bound is None and not self.datasets:
            return tuple(found.published(about))
        looked = pairs_within(spec, self.distance, self.datasets or None)
        pairs = list(looked.dichotomies(mechanism, spec))
        relation = Relation.EQUALS if looked.complete else Relation.AT_LEAST
        theorem = f"likelihood-ratio test (K-D5, K-A3), {looked.scope}"
        powers = self._powers(relation, theorem, lambda level: largest(largest_power(pair, level) for pair in pairs))
        variation = largest(pair.total_variation() for pair in pairs)
        own = (*powers, self._advantage(relation, variation, f"total variation (K-T4), {looked.scope}"))
        return (*found.published(about), *found.left_open(own))

    def _advantage(self, relation: Relation, value: Bracket, theorem: str) -> RiskStatement:
        return said(ADVANTAGE, at(distance=self.distance), relation, value, theorem, self.assumption, trivial=1)

    def _powers(self, relation: Relation, theorem: str, power: Callable[[Fraction], Bracket]) -> tuple[RiskStatement, ...]:
        return tuple(
            said("power", at(level=level, distance=self.distance), relation, power(level), theorem, self.assumption, trivial=1)
            for level in self.levels
        )
