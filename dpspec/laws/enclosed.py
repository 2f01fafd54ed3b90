"""Laws on finitely many listed outcomes whose probabilities are only known between two bounds.

    low(o) <= P(o) <= high(o) for every listed o,        P(anything else, or more of the listed) <= rest.

They are what enumeration finds where a threshold was computed in floating point, or where an endless draw was cut off.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction

import attrs
from flint import arb, ctx

from dpspec.errors import NoRouteError
from dpspec.exact import ball, dyadic
from dpspec.laws.atoms import IDENTICAL
from dpspec.laws.balls import BallDichotomy, Cell, Cells
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.exponential import Exponential
from dpspec.laws.exponential_law import ExponentialLaw
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.law import Law, NotALaw
from dpspec.laws.numeric import hull, positive
from dpspec.laws.route import AtomicLaw

_BITS = 256


@attrs.frozen
class Enclosed:
    """A positive number known to lie in [low, high]; the bounds are rounded outward, so that they stay short.

    >>> half = Enclosed(Fraction(1, 2), Fraction(1, 2))
    >>> (half + half * half).low
    Fraction(3, 4)
    """

    low: Fraction
    high: Fraction

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "low", max(Fraction(0), _rounded(self.low, up=False)))
        object.__setattr__(self, "high", _rounded(self.high, up=True))

    @classmethod
    def of(cls, value: Chance) -> Enclosed:
        if isinstance(value, Enclosed):
            return value
        if isinstance(value, Exponential):
            found = value.enclose(_BITS)
            return cls(dyadic(found.lower()), dyadic(found.upper()))
        return cls(Fraction(value), Fraction(value))

    def __add__(self, other: Chance) -> Enclosed:
        their = Enclosed.of(other)
        return Enclosed(self.low + their.low, self.high + their.high)

    def __mul__(self, other: Chance) -> Enclosed:
        their = Enclosed.of(other)
        return Enclosed(self.low * their.low, self.high * their.high)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Chance) -> Enclosed:
        their = Enclosed.of(other)
        return Enclosed(self.low / their.high, self.high / their.low)

    def __rsub__(self, other: Chance) -> Enclosed:
        their = Enclosed.of(other)
        return Enclosed(their.low - self.high, their.high - self.low)

    def __float__(self) -> float:
        return float(self.high)


Chance = Fraction | Exponential | Enclosed
"""A probability: an exact rational, an exact element of Q(e^r), or an enclosure."""


def _rounded(value: Fraction, *, up: bool) -> Fraction:
    if value.denominator.bit_length() <= _BITS:
        return value
    scaled = value.numerator << _BITS
    return Fraction(-(-scaled // value.denominator) if up else scaled // value.denominator, 1 << _BITS)


@attrs.frozen
class EnclosedLaw(Law):
    """A law between bounds; see the module.

    Args:
        bounds: a pair (low, high) for every listed outcome.
        rest: how much probability may lie anywhere.

    >>> law = EnclosedLaw({"yes": (Fraction(1, 2), Fraction(3, 5)), "no": (Fraction(2, 5), Fraction(1, 2))}, Fraction(0))
    >>> law.against(FiniteLaw.of({"yes": "1/4", "no": "3/4"})).max_log_ratio().lower < 1
    True
    """

    bounds: Mapping[Hashable, tuple[Fraction, Fraction]] = attrs.field(hash=False)
    rest: Fraction = Fraction(0)

    def __attrs_post_init__(self) -> None:
        least = sum((low for low, _ in self.bounds.values()), Fraction(0))
        most = sum((high for _, high in self.bounds.values()), self.rest)
        if least > 1 or most < 1:
            raise NotALaw("probabilities", "must be able to sum to 1", value=f"between {float(least)} and {float(most)}")

    @property
    def support(self) -> tuple[Hashable, ...]:
        """The listed outcomes."""
        return tuple(self.bounds)

    def mass(self, outcome: Hashable, precision: int = 64) -> arb:
        """A ball around P(outcome), exactly 0 where that is known."""
        with ctx.workprec(precision + 32):
            low, high = self.bounds.get(outcome, (Fraction(0), Fraction(0)))
            return hull(ball(low), ball(min(high + self.rest, Fraction(1))))

    def against(self, other: Law) -> Dichotomy:
        if self is other:
            return IDENTICAL
        if isinstance(other, (EnclosedLaw, FiniteLaw, ExponentialLaw)):
            return self._against(other)
        raise NoRouteError(
            type(self).__name__, f"cannot be compared with a {type(other).__name__}", "compare laws with listed outcomes"
        )

    def _against(self, other: EnclosedLaw | AtomicLaw) -> Dichotomy:
        their = other.support if isinstance(other, EnclosedLaw) else other.window(64)
        rest = other.rest if isinstance(other, EnclosedLaw) else Fraction(0)
        outcomes = tuple(dict.fromkeys((*self.support, *their)))

        def cells(precision: int) -> Cells:
            listed = [Cell.atom(self.mass(o, precision), other.mass(o, precision)) for o in outcomes]
            return (*listed, Cell.lump(_anything(self.rest), _anything(rest)))

        return BallDichotomy(cells)


def _anything(rest: Fraction) -> arb:
    """A ball around what may lie beside the listed outcomes."""
    return positive(hull(arb(0), ball(rest))) if rest else arb(0)
