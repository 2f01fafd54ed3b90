"""Risk profiles: the relative disclosure risk that is tolerated, as a function r*(p, q) of the attacker's priors (Z-D33).

A profile asks that r(p, q, t) <= r*(p, q) for every outcome t and all priors it speaks about. The budget that follows is the
least epsilon(p, q) of `bayes.epsilon_at` over them (Z-T47).
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction

import attrs

from dpspec.attacker import RiskStatement
from dpspec.errors import ProfileBelowOneError
from dpspec.exact import INFINITY, Bracket
from dpspec.tolerance import Recommendation, Tolerance
from dpspec_attackers.profiles import bayes
from dpspec_attackers.profiles.bayes import Place
from dpspec_attackers.profiles.search import least_epsilon
from dpspec_attackers.profiles.utility import consequences

ADJACENCY = "pure epsilon-DP for one record added or removed (for records replaced, write the distance of two changes)"


@attrs.frozen(kw_only=True)
class Region:
    """The priors that a profile speaks about: p_low <= p <= p_high and q_low <= q <= q_high; 0 itself stands for the limit."""

    p_low: Fraction = Fraction(0)
    p_high: Fraction = Fraction(1)
    q_low: Fraction = Fraction(0)
    q_high: Fraction = Fraction(1)

    @property
    def is_everything(self) -> bool:
        return self == Region()

    def contains(self, p: Fraction, q: Fraction) -> bool:
        return self.p_low <= p <= self.p_high and self.q_low <= q <= self.q_high and p > 0 and q > 0

    def __str__(self) -> str:
        return f"{_range('p', self.p_low, self.p_high)} and {_range('q', self.q_low, self.q_high)}"


def _range(name: str, low: Fraction, high: Fraction) -> str:
    if low == high:
        return f"{name} = {low}"
    return f"{low} < {name} <= {high}" if low == 0 else f"{low} <= {name} <= {high}"


class RiskProfile(Tolerance):
    """A risk profile; a subclass says where it speaks and what it tolerates there.

    The tolerated ratio must never grow with p or with q: one that did could not be bounded between two priors.

    Args:
        ratio: the tolerated posterior by prior of "included, with a value in S", above 1.
        posterior: the tolerated posterior of it, whatever the ratio is then.
        difference: the tolerated posterior less prior.
        p: the attacker's prior that the target is in the data; the share of a sample, for instance.
        q: the attacker's prior that its value lies in S, if it is in the data; 1 when inclusion itself is the secret.
        p_low, p_high, q_low, q_high: the ranges of these priors; 0 stands for the limit.
        size: n, the number of individuals.
    """

    def where(self) -> Region:
        """The priors that it speaks about; all others are not covered."""
        return Region()

    @abstractmethod
    def tolerated(self, p: Fraction, q: Fraction) -> Fraction | None:
        """r*(p, q) in the region, p and q above 0; None where nothing is asked."""

    def closed_form(self) -> tuple[Bracket, Place, str] | None:
        """The budget, the binding priors (0 for a limit) and the theorem; None to search for them."""
        return None

    def recommend(self) -> Recommendation:
        """The largest epsilon that keeps the profile: by its closed form, else by branch and bound (Z-A8).

        Raises:
            ProfileBelowOneError: where r* < 1.
            ProfileNotMonotoneError: where r* was seen to grow with p or q.
        """
        region = self.where()
        ratio_in_worst = self.tolerated(region.p_high, region.q_high)
        if ratio_in_worst is not None and ratio_in_worst < 1:
            raise ProfileBelowOneError(
                self.name, "tolerates a posterior below the prior, which is so before anything is released",
                "raise the tolerated posterior above the prior, or leave such attackers out",
                value=f"{ratio_in_worst} at p = {region.p_high}, q = {region.q_high}",
            )  # fmt: skip
        closed = self.closed_form()
        value, place, theorem = closed if closed is not None else least_epsilon(self)
        return recommendation(self, value, place, theorem, "closed form" if closed is not None else "branch and bound")

    def epsilon_at(self, p: Fraction, q: Fraction) -> Bracket:
        """The epsilon that the profile asks for at one pair of priors; infinity where it asks for nothing."""
        ratio = self.tolerated(p, q) if self.where().contains(p, q) else None
        return Bracket.exactly(INFINITY) if ratio is None else bayes.epsilon_at(p, q, ratio)


def recommendation(profile: RiskProfile, value: Bracket, place: Place, theorem: str, method: str) -> Recommendation:
    """The result in words."""
    p, q = place
    region = profile.where()
    ratio = profile.tolerated(p, q) if p and q else None
    approached = [f"{name} to 0" for name, prior in (("p", p), ("q", q)) if not prior]
    where = ", ".join(f"{name} = {prior}" if prior else f"{name} -> 0" for name, prior in (("p", p), ("q", q)))
    shown = "the tolerated ratio" if ratio is None else f"posterior by prior at most {ratio}"
    if value.upper.is_infinite:
        binding = "nothing is asked: no posterior can exceed what is tolerated"
    else:
        binding = f"{shown} for {where}" + (f", approached as {' and '.join(approached)}" if approached else "")
    left_out = () if region.is_everything else (f"attackers whose priors are not {region} (Z-S18)",)
    return Recommendation(
        parameter="epsilon",
        value=value,
        at=(("p", str(p)), ("q", str(q))),
        attained=not approached,
        binding=binding,
        method=method,
        theorem=theorem,
        assumption=f"{bayes.INDEPENDENCE}; {ADJACENCY}",
        not_covered=left_out,
        consequences=_noise(value),
    )


def _noise(value: Bracket) -> tuple[RiskStatement, ...]:
    return () if value.upper.is_infinite or value.lower == 0 else consequences(value)
