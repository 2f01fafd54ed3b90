"""The strong membership attacker: knows all other records, and asks whether one person is in the data (Z-D47 to Z-D49)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Annotated, ClassVar

from dpspec.attacker import AttackerModel, Relation, RiskStatement
from dpspec.exact import INFINITY, Bracket, Number, NumberLike, largest
from dpspec.mechanism import Mechanism
from dpspec.params import Items, Rational, define
from dpspec.spec import PrivacySpec
from dpspec_attackers.membership.inclusion import inclusion_candidates, inclusion_pairs
from dpspec_attackers.membership.law import two_sided_loss
from dpspec_attackers.membership.losses import loss_bound
from dpspec_attackers.membership.posterior import difference_bound, highest_posterior, highest_ratio, lowest_posterior, prior_of
from dpspec_attackers.numeric import as_bracket
from dpspec_attackers.semantics import said

PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))


@define
class StrongMembership(AttackerModel):
    """An attacker who knows every other record and what the target's record would be, and asks whether it is included.

    Statements hold for every outcome but those of total probability `failure`, whether the target is in the data or not (Z-S36).

    Args:
        priors: what the attacker believes before, in (0, 1).
        failure: the probability with which a statement may fail; it has to be above the delta of approximate privacy, and above
            0 for concentrated privacy.

    >>> attacker = StrongMembership(priors=["1/2"], failure="1/20")
    >>> attacker.failure
    Fraction(1, 20)
    """

    name: ClassVar[str] = "strong-membership"
    title: ClassVar[str] = "knows all other records, and asks whether one is in the data"
    knowledge: ClassVar[str] = "every other record, the target's own, and a prior probability that it is included"
    target: ClassVar[str] = "whether the target's record is in the data"
    observation: ClassVar[str] = "the whole release; of several, all of them on the same data"
    assumption: ClassVar[str] = "the attacker knows every other record"
    source: ClassVar[str] = "Z-D47, Z-D48, Z-D49, Z-T27 to Z-T38, Z-T61"
    in_panel: ClassVar[bool] = True

    priors: Annotated[tuple[Fraction, ...], Items(Rational(0, 1), least=1)] = PRIORS
    failure: Annotated[Fraction, Rational(0, 1, open_high=True)] = Fraction(0)

    def __attrs_post_init__(self) -> None:
        for prior in self.priors:
            prior_of(prior)

    def worst_case(self, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        return inclusion_candidates(spec).stated(partial(self._allowed, spec))

    def _allowed(self, spec: PrivacySpec, bound: Number) -> tuple[RiskStatement, ...]:
        if bound.is_infinite:
            return self._said(Relation.AT_MOST, Bracket.exactly(INFINITY), "nothing bounds the privacy loss")
        return self._said(Relation.AT_MOST, *loss_bound(spec.output_divergence, bound, self.failure))

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        found = inclusion_candidates(spec)
        told = tuple(found.published(partial(self._allowed, spec)))
        if found.bound is None:
            return told
        looked = inclusion_pairs(spec)
        loss = largest(two_sided_loss(pair, self.failure) for pair in looked.dichotomies(mechanism, spec))
        own = self._said(Relation.EQUALS if looked.complete else Relation.AT_LEAST, loss, f"Z-T27, Z-A23, {looked.scope}")
        return (*told, *found.left_open(own))

    def _said(self, relation: Relation, loss: Bracket, theorem: str) -> tuple[RiskStatement, ...]:
        often = (("probability", str(1 - self.failure)),)
        falling = {Relation.AT_MOST: Relation.AT_LEAST, Relation.AT_LEAST: Relation.AT_MOST}.get(relation, relation)

        def one(
            quantity: str, at: Sequence[tuple[str, str]], value: Bracket, way: Relation, trivial: NumberLike | None = None
        ) -> RiskStatement:
            return said(quantity, (*at, *often), way, value, theorem, self.assumption, trivial=trivial)

        told = []
        for prior in self.priors:
            at = (("prior", str(prior)),)
            told += [
                one("largest posterior of membership", at, highest_posterior(prior, loss), relation, 1),
                one("least posterior of membership", at, lowest_posterior(prior, loss), falling, 0),
                one("largest posterior by prior", at, highest_ratio(prior, loss), relation, 1 / prior),
            ]
        worst = one("largest change of the posterior", (("prior", "any"),), difference_bound(loss), relation, 1)
        return (*told, worst, one("privacy loss", (), as_bracket(loss), relation))
