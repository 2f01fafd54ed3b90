"""The printed risk profiles (Z-D34) with their closed forms (Z-T10 to Z-T12, Z-T48 to Z-T52).

Every closed form is a value of `bayes.root` at the binding priors, so that nothing cancels (Z-S15).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar

from dpspec.errors import ParameterError
from dpspec.exact import Bracket, ln
from dpspec.params import Rational, define
from dpspec_attackers.profiles.bayes import Place, root
from dpspec_attackers.profiles.multiple import MULTIPLE
from dpspec_attackers.profiles.profile import Region, RiskProfile

Closed = tuple[Bracket, Place, str]

Ratio = Annotated[Fraction, MULTIPLE]
Posterior = Annotated[Fraction, Rational(0, 1, open_high=True)]
Prior = Annotated[Fraction, Rational(0, 1, open_low=True)]
ONE, ZERO = Fraction(1), Fraction(0)


@define
class Constant(RiskProfile):
    """r* = ratio for all priors: epsilon = ln(ratio)/2, approached as q -> 0 at p = 1 (Z-T10).

    >>> str(Constant(ratio=9).recommend().value)
    'ln(3)'
    """

    name: ClassVar[str] = "constant"
    title: ClassVar[str] = "the posterior is at most so many times the prior, for every attacker"
    source: ClassVar[str] = "Z-D34, Z-T10"

    ratio: Ratio

    def tolerated(self, p: Fraction, q: Fraction) -> Fraction:
        return self.ratio

    def closed_form(self) -> Closed:
        return root(ONE, ZERO, self.ratio), (ONE, ZERO), "Z-T10"


@define
class FixedQ(RiskProfile):
    """r* = max(posterior/(p q), ratio) for one prior q of the value; q = 1: inclusion is the secret (Z-T12).

    >>> [FixedQ(posterior="1/4", ratio=ratio, q=1).recommend().value.upper.decimal(3) for ratio in ("3/2", 3, 6)]
    ['0.511', '1.3', '2.04']
    """

    name: ClassVar[str] = "fixed-q"
    title: ClassVar[str] = (
        "a bounded posterior, or a bounded ratio where that allows more, for attackers with one prior q of the value"
    )
    source: ClassVar[str] = "Z-D34, Z-T12"

    posterior: Posterior
    ratio: Ratio
    q: Prior = Fraction(1)

    def where(self) -> Region:
        return Region(q_low=self.q, q_high=self.q)

    def tolerated(self, p: Fraction, q: Fraction) -> Fraction:
        return max(self.posterior / (p * q), self.ratio)

    def closed_form(self) -> Closed:
        """Lemma 9: at q > 1/(ratio + 1) a constant ratio binds at the least p, below it at p = 1."""
        knee = self.posterior / self.ratio
        if self.q < knee:
            return root(ONE, self.q, self.posterior / self.q), (ONE, self.q), "Z-T12"
        if self.q <= 1 / (self.ratio + 1):
            return root(ONE, self.q, self.ratio), (ONE, self.q), "Z-T12"
        if self.posterior == 0:
            return Bracket.exactly(ln(self.ratio)), (ZERO, self.q), "Z-T12 as posterior -> 0 (Z-S22)"
        p = knee / self.q
        return root(p, self.q, self.ratio), (p, self.q), "Z-T12"


@define
class FixedP(RiskProfile):
    """r* = max(posterior/(p q), ratio) for one prior p of inclusion, such as the rate of a sample (Z-T11).

    The trap of Theorem 11 is at p = posterior/ratio, where the printed form cancels; here it is one case of a stable root:

    >>> FixedP(posterior="3/20", ratio=3, p="1/20").recommend().value.upper.decimal(8)
    '1.2098379'
    """

    name: ClassVar[str] = "fixed-p"
    title: ClassVar[str] = (
        "a bounded posterior, or a bounded ratio where that allows more, for attackers with one prior p of inclusion"
    )
    source: ClassVar[str] = "Z-D34, Z-T11"

    posterior: Posterior
    ratio: Ratio
    p: Prior

    def where(self) -> Region:
        return Region(p_low=self.p, p_high=self.p)

    def tolerated(self, p: Fraction, q: Fraction) -> Fraction:
        return max(self.posterior / (p * q), self.ratio)

    def closed_form(self) -> Closed:
        knee = self.posterior / self.ratio
        if self.p < knee:
            return root(self.p, ONE, self.posterior / self.p), (self.p, ONE), "Z-T11"
        q = knee / self.p
        return root(self.p, q, self.ratio), (self.p, q), "Z-T11"


@define
class TwoDimensional(RiskProfile):
    """r* = max(posterior/(p q), ratio) for all priors: epsilon = 1/2 ln((ratio - posterior)/(1 - posterior)) (Z-T51).

    >>> str(TwoDimensional(posterior="1/4", ratio=3).recommend().value)
    '1/2*ln(11/3)'
    """

    name: ClassVar[str] = "two-dimensional"
    title: ClassVar[str] = "a bounded posterior, or a bounded ratio where that allows more, for every attacker"
    source: ClassVar[str] = "Z-D34, Z-T51"

    posterior: Posterior
    ratio: Ratio

    def tolerated(self, p: Fraction, q: Fraction) -> Fraction:
        return max(self.posterior / (p * q), self.ratio)

    def closed_form(self) -> Closed:
        q = self.posterior / self.ratio
        return root(ONE, q, self.ratio), (ONE, q), "Z-T51"


@define
class Box(RiskProfile):
    """r* = ratio for priors in a box, nothing outside (Z-T48).

    >>> Box(p_low=0, p_high="7/10", q_low=0, q_high="9/10", ratio=2).recommend().value.upper.decimal(7)
    '0.4191415'
    """

    name: ClassVar[str] = "box"
    title: ClassVar[str] = "the posterior is at most so many times the prior, for attackers whose priors lie in a box"
    source: ClassVar[str] = "Z-D34, Z-T48"

    ratio: Ratio
    p_low: Annotated[Fraction, Rational(0, 1)] = Fraction(0)
    p_high: Prior = Fraction(1)
    q_low: Annotated[Fraction, Rational(0, 1)] = Fraction(0)
    q_high: Prior = Fraction(1)

    def __attrs_post_init__(self) -> None:
        for name, low, high in (("p", self.p_low, self.p_high), ("q", self.q_low, self.q_high)):
            if low > high:
                raise ParameterError(f"{name}_low", f"must be at most {name}_high", f"{name}_high is {high}", value=str(low))

    def where(self) -> Region:
        return Region(p_low=self.p_low, p_high=self.p_high, q_low=self.q_low, q_high=self.q_high)

    def tolerated(self, p: Fraction, q: Fraction) -> Fraction:
        return self.ratio

    def closed_form(self) -> Closed:
        """Least at the least q; there at the largest p while q <= 1/(ratio + 1), else at the least (Lemma 9)."""
        p = self.p_high if self.q_low <= 1 / (self.ratio + 1) else self.p_low
        return root(p, self.q_low, self.ratio), (p, self.q_low), "Z-T48"


@define
class Difference(RiskProfile):
    """Posterior - prior <= difference for all priors: epsilon = ln((1 + b)/(1 - b)), at p = 1, q = (1 - b)/2 (Z-T49).

    On the line q = 1 alone it is twice that; see the tolerance membership-difference (Z-S2).

    >>> str(Difference(difference="1/5").recommend().value)
    'ln(3/2)'
    """

    name: ClassVar[str] = "difference"
    title: ClassVar[str] = "the posterior is above the prior by at most so much, for every attacker"
    source: ClassVar[str] = "Z-D34, Z-T49"

    difference: Annotated[Fraction, Rational(0, 1, open_low=True, open_high=True)]

    def tolerated(self, p: Fraction, q: Fraction) -> Fraction:
        return 1 + self.difference / (p * q)

    def closed_form(self) -> Closed:
        q = (1 - self.difference) / 2
        return root(ONE, q, self.tolerated(ONE, q)), (ONE, q), "Z-T49"
