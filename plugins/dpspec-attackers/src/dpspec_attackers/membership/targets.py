"""Tolerated membership risk: the budget of each of k releases that keeps it, and how many it allows (Kazan 2025)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, ClassVar

from dpspec.plugin import Bracket, Integer, Rational, Text, Tolerance, define, errors, exact, grammar, number
from dpspec_attackers.membership.composition import METHODS, Releases, largest_epsilon, total
from dpspec_attackers.membership.posterior import (
    approximate_of_loss,
    loss_of_approximate,
    loss_of_difference,
    loss_of_posterior,
    loss_of_ratio,
    loss_of_zcdp,
    loss_of_zcdp_tail,
)
from dpspec_attackers.numeric import largest_where
from dpspec_attackers.profiles.profile import MULTIPLE, consequences

KNOWS_THE_OTHERS = (
    "the attacker knows every other record, and the target's own; only whether it is included is open (Kazan 2025, Section "
    "5.3.1). All releases are "
    "of the same data, and neighbours are datasets with one record added or removed"
)
ZCDP = {"zcdp": loss_of_zcdp, "zcdp-tail": loss_of_zcdp_tail}
"""How zCDP releases are read: through (epsilon, delta) as printed (Kazan 2025), or from the tail of the loss itself."""

Times = Annotated[int, Integer(1)]
Method = Annotated[str, Text((*METHODS, *ZCDP))]
Share = Annotated[Fraction, Rational(0, 1, open_high=True)]
Inside = Annotated[Fraction, Rational(0, 1, open_low=True, open_high=True)]


@define
class MembershipTolerance(Tolerance):
    """A bound on what an attacker who knows all other records may learn about membership.

    The parameters of every such tolerance are those of the releases: how many, by which composition, with which deltas, and with
    which probability the bound may fail.

    Args:
        difference: the tolerated change of the posterior against the prior.
        posterior: the tolerated posterior probability of membership.
        prior: the attacker's prior of membership.
        ratio: the tolerated posterior by prior, above 1.
        releases: how many releases of the same data, one kind.
        method: how they compose: basic, advanced, advanced-dwork, optimal-lattice, optimal; zcdp, zcdp-tail give rho.
        delta_each: the delta of each release.
        delta: the delta of all of them together.
        failure: the probability that the bound does not hold; above delta, and above 0 under concentrated privacy.
    """

    releases: Times = 1
    method: Method = "optimal"
    delta_each: Share = Fraction(0)
    delta: Share = Fraction(0)
    failure: Share = Fraction(0)

    @abstractmethod
    def loss(self) -> Bracket:
        """The privacy loss up to which the bound holds, exactly."""

    def bound(self) -> str:
        """The bound in words."""
        return self.title

    def recommend(self) -> grammar.Recommendation:
        """The largest epsilon of each release (or rho, for the methods zcdp and zcdp-tail).

        Raises:
            FailureProbabilityError: when a bound is to fail less often than the delta it rests on.
        """
        if self.method in ZCDP:
            return self._concentrated()
        allowed = approximate_of_loss(self.loss(), self.delta, self.failure)
        value = largest_epsilon(allowed.lower, self.releases, self.delta_each, self.delta, self.method)
        closed = self.method == "basic" or self.releases == 1
        theorem = "Kazan 2025, Corollaries 32 to 34" if not self.delta else "Kazan 2025, Theorem 35 and Corollaries 36 to 38"
        if self.releases == 1 and self.delta_each == self.delta:
            value = allowed
        elif self.releases > 1:
            theorem += ", Theorem 25"
        deltas = (("delta of each", self.delta_each), ("delta of all", self.delta), ("failure", self.failure))
        return self._statement("epsilon", value, theorem, closed, tuple((n, number(v).plain()) for n, v in deltas if v))

    def _concentrated(self) -> grammar.Recommendation:
        if not self.failure:
            rule = "must be above 0 under concentrated privacy, where no bound holds always"
            raise errors.FailureProbabilityError("failure", rule, "write one such as 1/100", value="0")
        loss, reach = self.loss().lower, ZCDP[self.method]
        high = Fraction(float(loss)).limit_denominator(1 << 20) + 1
        value = largest_where(lambda rho: rho == 0 or reach(number(rho), self.failure).upper <= loss, high)
        each = Bracket(lower=value.lower / self.releases, upper=value.upper / self.releases)
        theorem = (
            "Kazan 2025, Theorems 24, 26 and 35, with the best delta (Example 7)"
            if self.method == "zcdp"
            else "Kazan 2025, Theorem 26; Kifer et al. 2022, Section 5.3"
        )
        return self._statement("rho", each, theorem, False, (("failure", number(self.failure).plain()),))

    def _statement(
        self, parameter: str, value: Bracket, theorem: str, closed: bool, given: tuple[tuple[str, str], ...]
    ) -> grammar.Recommendation:
        failing = f"with probability at least {number(1 - self.failure).plain()}" if self.failure else "always"
        return grammar.Recommendation(
            parameter=parameter,
            value=value,
            given=(("releases", str(self.releases)), ("composition", self.method), *given),
            at=(),
            binding=f"{self.bound()}, {failing}, after all releases",
            method="closed form" if closed else "bisection",
            theorem=theorem,
            assumption=KNOWS_THE_OTHERS,
            consequences=consequences(value) if parameter == "epsilon" and value.lower > 0 else (),
        )


@define
class MembershipDifference(MembershipTolerance):
    """|posterior - prior| <= difference for every prior: epsilon = 2 ln((1 + b)/(1 - b)) for one pure release (Kazan 2025).

    >>> str(MembershipDifference(difference="1/5").recommend().value)
    '2*ln(3/2)'
    """

    name: ClassVar[str] = "membership-difference"
    title: ClassVar[str] = "the belief that a person is in the data changes by at most so much, whatever it was"
    source: ClassVar[str] = "Kazan 2025, Sections 5.3.1 and 5.4.4, Theorem 31, Corollary 34, Example 8"

    difference: Inside

    def loss(self) -> Bracket:
        return loss_of_difference(self.difference)

    def bound(self) -> str:
        return f"posterior and prior of membership differ by at most {self.difference}, for every prior"


@define
class MembershipPosterior(MembershipTolerance):
    """posterior <= u for one prior: epsilon = logit(u) - logit(prior) for one pure release (Kazan 2025, Corollary 32).

    >>> str(MembershipPosterior(posterior="3/4", prior="1/2").recommend().value)
    'ln(3)'
    """

    name: ClassVar[str] = "membership-posterior"
    title: ClassVar[str] = "the belief that a person is in the data stays below a bound, from one prior"
    source: ClassVar[str] = "Kazan 2025, Section 5.3.1, Theorem 28, Corollary 32, Example 8"

    posterior: Inside
    prior: Annotated[Fraction, Rational(0, 1)] = Fraction(1, 2)

    def __attrs_post_init__(self) -> None:
        if self.prior in (0, 1):
            raise errors.CertainTargetError(
                "prior", "leaves nothing to learn: it is certain before the release", value=str(self.prior)
            )
        if self.posterior <= self.prior:
            rule = f"must be above the prior {self.prior}: some outcome always raises the belief"
            raise errors.ProfileBelowOneError(
                "posterior", rule, "tolerate more, or ask about a smaller prior", value=str(self.posterior)
            )

    def loss(self) -> Bracket:
        return loss_of_posterior(self.posterior, self.prior)

    def bound(self) -> str:
        return f"the posterior of membership is at most {self.posterior} where the prior is {self.prior}"


@define
class MembershipRatio(MembershipTolerance):
    """1/ratio <= posterior/prior <= ratio for every prior: epsilon = ln(ratio) for one pure release (Kazan 2025, Corollary 33).

    >>> str(MembershipRatio(ratio=3).recommend().value)
    'ln(3)'
    """

    name: ClassVar[str] = "membership-ratio"
    title: ClassVar[str] = "the belief that a person is in the data grows or falls at most by a factor"
    source: ClassVar[str] = "Kazan 2025, Section 5.3.1, Theorem 29, Corollary 33, Example 8"

    ratio: Annotated[Fraction, MULTIPLE]

    def loss(self) -> Bracket:
        return loss_of_ratio(self.ratio)

    def bound(self) -> str:
        return f"posterior by prior of membership lies between {1 / self.ratio} and {self.ratio}, for every prior"


# --- how many releases ----------------------------------------------------------------------------


MOST_RELEASES = 4096


def spent_loss(releases: Releases, method: str, failure: exact.NumberLike = 0) -> Bracket:
    """The privacy loss of k releases together, but for the probability `failure`: compose first, convert last.

    For the methods zcdp and zcdp-tail the budget of `releases` is rho.

    >>> spent_loss(Releases(times=7, epsilon="1/100"), "zcdp", "1/100").upper.decimal(6)
    '1.58414'
    """
    if method in ZCDP:
        return ZCDP[method](releases.epsilon * releases.times, failure)
    delta = Fraction(0) if method == "basic" and not releases.delta_each else releases.delta
    return loss_of_approximate(total(releases, method), delta, failure)


def max_queries(
    tolerated: Bracket,
    budget: exact.NumberLike,
    method: str,
    *,
    delta_each: exact.NumberLike = 0,
    delta: exact.NumberLike = 0,
    failure: exact.NumberLike = 0,
) -> int:
    """The largest k such that 1, 2, ..., k releases keep a tolerated loss; at most 4,096 are tried (Kazan 2025, Section 5.4.2).

    Args:
        tolerated: the loss, from `loss_of_posterior`, `loss_of_difference` or `loss_of_ratio`.
        budget: the epsilon (or rho) of each release.
        method: a composition: basic, advanced, advanced-dwork, optimal-lattice, optimal, zcdp, zcdp-tail.
        delta_each, delta, failure: of each release, of all together, and of the statement.

    >>> from dpspec_attackers.membership.posterior import loss_of_posterior
    >>> max_queries(loss_of_posterior("4/5", "1/2"), "1/20", "basic")
    27
    """
    each = exact.rational(delta_each, "delta_each")

    def keeps(times: int) -> bool:
        share = max(exact.rational(delta, "delta"), times * each)
        return (
            spent_loss(Releases(times=times, epsilon=budget, delta_each=each, delta=share), method, failure).upper
            <= tolerated.lower
        )

    return _last(keeps)


def _last(keeps: Callable[[int], bool]) -> int:
    found = 0
    while found < MOST_RELEASES and keeps(found + 1):
        found += 1
    return found
