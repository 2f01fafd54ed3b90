"""Risk profiles about one attacker alone (Z-D34, Z-D35), with their closed forms."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar

from dpspec.errors import CertainTargetError, ProfileBelowOneError
from dpspec.params import Integer, Rational, define
from dpspec_attackers.profiles.bayes import root
from dpspec_attackers.profiles.named import ONE, Closed, Prior, Ratio
from dpspec_attackers.profiles.profile import Region, RiskProfile


@define
class Point(RiskProfile):
    """r* = ratio for one attacker (p, q), nothing for others; at (1/2, 1) it is ln(ratio/(2 - ratio)) (Z-T50).

    >>> str(Point(ratio="3/2").recommend().value)
    'ln(3)'
    """

    name: ClassVar[str] = "point"
    title: ClassVar[str] = "the posterior is at most so many times the prior, for one attacker"
    source: ClassVar[str] = "Z-D34, Z-T50"

    ratio: Ratio
    p: Prior = Fraction(1, 2)
    q: Prior = Fraction(1)

    def __attrs_post_init__(self) -> None:
        if self.p * self.q == 1:
            raise CertainTargetError("p", "is 1 and so is q: this attacker knows everything before the release", value="1")

    def where(self) -> Region:
        return Region(p_low=self.p, p_high=self.p, q_low=self.q, q_high=self.q)

    def tolerated(self, p: Fraction, q: Fraction) -> Fraction:
        return self.ratio

    def closed_form(self) -> Closed:
        return root(self.p, self.q, self.ratio), (self.p, self.q), "Z-T5, Z-T50"


@define
class OneMissing(RiskProfile):
    """One of n known individuals is missing from the data; who it is, is believed with probability at most `posterior` (Z-T52).

    r*(1/n, 1) = n posterior: epsilon = ln((n - 1) posterior/(1 - posterior)).

    >>> str(OneMissing(size=4, posterior="1/3").recommend().value)
    'ln(3/2)'
    """

    name: ClassVar[str] = "one-missing"
    title: ClassVar[str] = "one of n known individuals is missing: a bounded posterior for who it is"
    source: ClassVar[str] = "Z-D35, Z-T52"

    size: Annotated[int, Integer(2)]
    posterior: Annotated[Fraction, Rational(0, 1, open_low=True, open_high=True)]

    def __attrs_post_init__(self) -> None:
        if self.size * self.posterior < 1:
            rule = f"is below the prior 1/{self.size}, which everybody has before anything is released"
            raise ProfileBelowOneError("posterior", rule, f"tolerate at least 1/{self.size}", value=str(self.posterior))

    def where(self) -> Region:
        p = Fraction(1, self.size)
        return Region(p_low=p, p_high=p, q_low=ONE, q_high=ONE)

    def tolerated(self, p: Fraction, q: Fraction) -> Fraction:
        return self.size * self.posterior

    def closed_form(self) -> Closed:
        p = Fraction(1, self.size)
        return root(p, ONE, self.size * self.posterior), (p, ONE), "Z-T52"
