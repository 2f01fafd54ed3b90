"""A uniform draw that is split only where the sampler looks at it.

`random()` has infinitely many values, but a sampler that only asks `random() < p` needs two. A `Uniform` stands for
a U + b, with U uniform on an interval that each question cuts in two.
"""

from __future__ import annotations

import math
import numbers
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn

import attrs

from dpspec.errors import NotEnumerableError
from dpspec.laws.enclosed import Chance, Enclosed
from dpspec.laws.exponential import Exponential
from dpspec.verify.automatic.path import Path, Stop, quiet

_DIGITS = 12
"""A double that prints with more digits was computed, not typed: only one in 10,000 computed ones prints shorter."""
_ULPS = 8


def exact(value: Any) -> Chance | None:
    """A parameter of a draw as an exact number, or None for what is none.

    A float that prints with at most 12 digits is that decimal. One with more digits is the result of a computation in
    floating point, whose exact value is not known: it is enclosed with 8 units in the last place to either side.

    >>> str(exact(0.1)), exact(2 / 3).low < Fraction(2, 3) < exact(2 / 3).high
    ('1/10', True)
    """
    if isinstance(value, (Exponential, Enclosed)):
        return value
    if hasattr(value, "item") and not isinstance(value, (int, float, Fraction)):
        value = value.item()
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal) and value.is_finite():
        return Fraction(value)
    if not isinstance(value, float) or not math.isfinite(value):
        return None
    digits = Decimal(repr(float(value))).as_tuple().digits
    if len(digits) <= _DIGITS:
        return Fraction(repr(float(value)))
    middle = Fraction(value)
    slack = abs(middle) * Fraction(_ULPS, 2**53)
    return Enclosed(middle - slack, middle + slack) if middle > 0 else None


@attrs.define(eq=False)
class _Draw:
    """One uniform draw on [low, high), as far as it is known by now."""

    path: Path
    number: int
    low: Chance = Fraction(0)
    high: Chance = Fraction(1)

    def below(self, threshold: Chance) -> bool:
        """Whether U < threshold: a choice, unless it is settled."""
        if at_least(self.low, threshold):
            return False
        if at_least(threshold, self.high):
            return True
        whole = minus(self.high, self.low)
        chances = [_ratio(minus(threshold, self.low), whole), _ratio(minus(self.high, threshold), whole)]
        if self.path.choose(chances) == 0:
            self.high = threshold
            return True
        self.low = threshold
        return False


def _ratio(part: Chance, whole: Chance) -> Chance:
    if isinstance(part, Enclosed) or isinstance(whole, Enclosed):
        found = Enclosed.of(part) / Enclosed.of(whole)
        return Enclosed(found.low, min(found.high, Fraction(1)))
    return part / whole


def minus(left: Chance, right: Chance) -> Chance:
    """left - right, for left >= right."""
    if isinstance(left, Enclosed) or isinstance(right, Enclosed):
        mine, their = Enclosed.of(left), Enclosed.of(right)
        return Enclosed(mine.low - their.high, mine.high - their.low)
    return left - right


def at_least(left: Chance, right: Chance) -> bool:
    """Whether left >= right, as far as the enclosures settle it; equal enclosures are equal thresholds."""
    if isinstance(left, Enclosed) or isinstance(right, Enclosed):
        return left == right or Enclosed.of(left).low >= Enclosed.of(right).high
    return left >= right


@attrs.frozen(eq=False, repr=False)
class Uniform:
    """scale U + shift for a symbolic uniform draw U: it can be compared, scaled, shifted and floored, and nothing else."""

    draw: _Draw
    scale: Fraction = Fraction(1)
    shift: Fraction = Fraction(0)

    @classmethod
    def on(cls, path: Path) -> Uniform:
        return cls(_Draw(path, path.fresh()))

    def known(self) -> tuple[object, ...]:
        """What is known about it, for telling states apart."""
        return self.draw.number, self.draw.low, self.draw.high, self.scale, self.shift

    # -- questions --------------------------------------------------------------------------------

    def __lt__(self, other: object) -> bool:
        return self._below(other) if self.scale > 0 else not self._below(other)

    def __gt__(self, other: object) -> bool:
        return not self < other

    __le__, __ge__ = __lt__, __gt__  # a single point has probability 0

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Uniform):
            return other is self or self._refuse("was compared with another random number")
        return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return id(self.draw)

    def __bool__(self) -> bool:
        return True

    @quiet
    def _below(self, other: object) -> bool:
        """Whether U < (other - shift) / scale."""
        if isinstance(other, Uniform):
            self._refuse("was compared with another random number")
        threshold = exact(other)
        if threshold is None:
            negative = isinstance(other, (int, float)) and other < 0
            if not negative and other != float("inf"):
                self._refuse(f"was compared with {other!r}")
            return (self.scale > 0) != negative
        if self.scale == 1 and not self.shift:
            return self.draw.below(threshold)
        if isinstance(threshold, Enclosed):
            self._refuse("was scaled and compared with a number that was computed in floating point")
        return self.draw.below((threshold - self.shift) / self.scale)

    def __floor__(self) -> int:
        ends = sorted((self.shift, self.shift + self.scale))
        for whole in range(ends[0].__floor__() + 1, ends[1].__ceil__() + 1):
            if self < whole:
                return whole - 1
        return ends[1].__ceil__() - 1

    def __int__(self) -> int:
        return self.__floor__() if self >= 0 else -((-self).__floor__())

    __trunc__ = __int__

    # -- arithmetic -------------------------------------------------------------------------------

    @quiet
    def _affine(self, scale: Any, shift: Any = 0) -> Uniform:
        factor, summand = (value if isinstance(value, int) else exact(value) for value in (scale, shift))
        if not isinstance(factor, (int, Fraction)) or not isinstance(summand, (int, Fraction)) or not factor:
            self._refuse("was used in a computation with a number that is not exact")
        return Uniform(self.draw, self.scale * factor, self.shift * factor + summand)

    def __add__(self, other: Any) -> Uniform:
        return self._affine(1, other)

    def __sub__(self, other: Any) -> Uniform:
        return (-self).__add__(other).__neg__()

    def __rsub__(self, other: Any) -> Uniform:
        return (-self).__add__(other)

    def __neg__(self) -> Uniform:
        return self._affine(Fraction(-1))

    def __mul__(self, other: Any) -> Uniform:
        return self._affine(other)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Any) -> Uniform:
        divisor = exact(other)
        if not isinstance(divisor, Fraction) or not divisor:
            self._refuse("was divided by a number that is not exact")
        return self._affine(1 / divisor)

    def _number(self, *_: Any) -> NoReturn:
        self._refuse("was used as a number")

    __float__ = __complex__ = __index__ = __abs__ = __round__ = __pow__ = __rpow__ = __rtruediv__ = _number
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = _number

    def _text(self, *_: Any) -> NoReturn:
        self._refuse("was written as text")

    __str__ = __repr__ = __format__ = _text

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse(f"was asked for {name}")

    def _refuse(self, what: str) -> NoReturn:
        fault = NotEnumerableError(
            "random()",
            f"{what}, so it has infinitely many values that matter",
            "compare it with thresholds, or draw integers; continuous noise needs a law written by hand",
        )
        self.draw.path.refused = fault
        raise Stop(fault=fault)
