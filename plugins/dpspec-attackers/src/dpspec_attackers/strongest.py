"""The strongest attacker: who knows every record but the target's, and learns about that one (B-D28, B-T5, K-D27)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Annotated, ClassVar

from dpspec.attacker import AttackerModel, Relation, RiskStatement
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.exact import Bracket, Number, largest, ln
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.loss import PrivacyLoss
from dpspec.mechanism import Mechanism
from dpspec.params import Data, Exact, Items, Rational, define
from dpspec.risk.candidates import candidates_within
from dpspec.risk.pairs import pairs_within
from dpspec.spec import PrivacySpec
from dpspec_attackers.knowledge import Knowledge, OthersKnownPredicted, OthersKnownTrueRecord
from dpspec_attackers.priors import IN_DOUBT
from dpspec_attackers.semantics import FACTORS, PRIORS, at, exponential, growth, posterior, pure_bound, said

ODDS = "posterior odds by prior odds"
POSTERIOR = "posterior belief in one of two candidates"
TRUE = "chance that belief in the truth grows by the factor"
PREDICTED = "predicted chance that belief in one record grows by the factor"


@define
class StrongestAttacker(AttackerModel):
    """An attacker who knows all records but the target's, has a prior on that one, and sees the release.

    Posterior odds are prior odds times the likelihood ratio, so that the log-odds move by the privacy loss: by epsilon at most
    under pure privacy, and under other standards by more, with a probability that is bounded:

        P(ratio >= F | true record) <= D(F),    P(ratio >= F | prediction) <= D(F)/F,

    with D(F) the largest P(S) of two allowed laws and an event with P(S) >= F Q(S). The second holds because predicting the
    outcome means drawing it from the mixture that the ratio has below. Both are attained by some mechanism at some prior.

    Args:
        priors: beliefs in a candidate before the release, in (0, 1).
        factors: growths of the belief, above 1.
        distance: how far apart two datasets with different candidates are, in the unit of the input divergence.
        datasets: the datasets that are looked at for the mechanism's own law; without it all, or the smallest of a large space.

    >>> from dpspec_divergences.examples import zcdp_spec
    >>> [str(said.value) for said in StrongestAttacker(priors=["1/2"], factors=["2"]).worst_case(zcdp_spec(rho=1))][:2]
    ['inf', '1']
    """

    name: ClassVar[str] = "strongest"
    title: ClassVar[str] = "knows everybody else and learns about one record"
    knowledge: ClassVar[str] = "every record but the target's, and any prior on that one; the mechanism, but not its random bits"
    target: ClassVar[str] = "the target's record"
    observation: ClassVar[str] = "the whole release, processed in any way"
    assumption: ClassVar[str] = "the other records are known; chances are those of the outcome, as each row says"
    source: ClassVar[str] = "B-D28, B-T4, B-T5, K-D27, K-T25, K-T27, K-T28"
    in_panel: ClassVar[bool] = True

    priors: Annotated[tuple[Fraction, ...], Items(IN_DOUBT)] = PRIORS  # type: ignore[assignment]
    factors: Annotated[tuple[Fraction, ...], Items(Rational(1, open_low=True))] = FACTORS  # type: ignore[assignment]
    distance: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)] = 1  # type: ignore[assignment]
    datasets: Annotated[tuple[object, ...], Items(Data())] = ()

    def worst_case(self, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        return candidates_within(spec, self.distance).stated(partial(self._allowed, spec.output_divergence))

    def _allowed(self, divergence: OutputDivergence, bound: Number) -> Iterator[RiskStatement]:
        ratio = exponential(pure_bound(divergence, bound))
        yield from self._about(Relation.AT_MOST, ratio, "K-D27, B-T4: log-odds move by the privacy loss")
        grown = {factor: growth(divergence, bound, factor) for factor in self.factors}
        every, true, seen = "exact over all mechanisms (K-D12 at epsilon = ln F)", OthersKnownTrueRecord, OthersKnownPredicted
        for factor, value in grown.items():
            theorem, known = f"{true.theorem}, {every}", self._about_class(true)
            yield said(TRUE, at(factor=factor), Relation.AT_MOST, value, theorem, known, trivial=1)
        for factor, value in grown.items():
            theorem, known, share = f"{seen.theorem}, {every}", self._about_class(seen), value.scaled(1 / factor)
            yield said(PREDICTED, at(factor=factor), Relation.AT_MOST, share, theorem, known, trivial=1 / factor)

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        found, about = candidates_within(spec, self.distance), partial(self._allowed, spec.output_divergence)
        if found.bound is None and not self.datasets:
            return tuple(found.published(about))
        looked = pairs_within(spec, self.distance, self.datasets or None)
        pairs = list(looked.dichotomies(mechanism, spec))
        relation = Relation.EQUALS if looked.complete else Relation.AT_LEAST
        ratio = _largest_ratio(pairs)
        statements = list(self._about(relation, ratio, f"the largest likelihood ratio, {looked.scope}"))
        for factor in self.factors:
            grown = largest(PrivacyLoss(pair).above(ln(factor)) for pair in pairs)
            theorem = f"tail of the privacy loss, the limit of a small prior, {looked.scope}"
            known = self._about_class(OthersKnownTrueRecord)
            statements.append(said(TRUE, at(factor=factor), Relation.AT_LEAST, grown, theorem, known, trivial=1))
        return (*found.published(about), *found.left_open(statements))

    def _apart(self) -> str:
        return f"datasets with different candidates are at distance {self.distance} at most"

    def _about_class(self, known: type[Knowledge]) -> str:
        return f"{known.assumption()}; {self._apart()}"

    def _about(self, relation: Relation, ratio: Bracket, theorem: str) -> Iterator[RiskStatement]:
        known = f"the other records are known; {self._apart()}"
        yield said(ODDS, (), relation, ratio, theorem, known)
        for prior in self.priors:
            yield said(POSTERIOR, at(prior=prior), relation, posterior(ratio, prior), f"{theorem}; B-T5", known, trivial=1)


def _largest_ratio(pairs: list[Dichotomy]) -> Bracket:
    """e to the largest log-ratio."""
    loss = largest(pair.max_log_ratio() for pair in pairs)
    low, high = exponential(loss.lower), exponential(loss.upper)
    return Bracket(lower=low.lower, upper=high.upper)
