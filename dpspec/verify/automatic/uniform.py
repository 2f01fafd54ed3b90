"""A uniform draw that is split only where the sampler looks at it.

`random()` has infinitely many values, but a sampler that only asks `random() < p` needs two. A `Uniform` stands for
a U + b, with U uniform on an interval that each question cuts in two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn

import attrs
import numpy as np

from dpspec.errors import NotEnumerableError
from dpspec.laws.enclosed import Chance, Enclosed
from dpspec.laws.exponential import Exponential
from dpspec.verify.automatic.path import Path

_DIGITS = 12
"""A double that prints with more digits was computed, not typed: only one in 10,000 computed ones prints shorter."""
_ULPS = 8
_EXACT = "?bBhHiIlLqQdO"
"""Kinds of numpy's numbers with which a double stays one."""
_LEAST = Fraction(1, 1 << 40)
"""Events of a smaller probability are not asked about: a double has steps of 2^-53, a real number has none."""


def exact(value: Any) -> Chance | None:
    """A parameter of a draw as an exact number, or None for what is none.

    A float that prints with at most 12 digits is that decimal. One with more digits is the result of a computation in
    floating point, whose exact value is not known: it is enclosed with 8 units in the last place to either side.

    >>> str(exact(0.1)), exact(2 / 3).low < Fraction(2, 3) < exact(2 / 3).high
    ('1/10', True)
    """
    if isinstance(value, (Exponential, Enclosed)):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) in (int, bool, Fraction):
        return Fraction(value)
    if type(value) is Decimal and value.is_finite():
        return Fraction(value)
    if type(value) is not float or not math.isfinite(value):
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

    def below(self, threshold: Chance, *, closed: bool = False) -> bool:
        """Whether U < threshold, or U <= threshold when closed: a choice, unless it is settled."""
        if closed and self.low == threshold:
            refuse(self.path, "was compared with <= or > at its least value, which has probability 0 or 2^-53")
        if at_least(self.low, threshold):
            return False
        if at_least(threshold, self.high):
            return True
        if any(not at_least(minus(*ends), _LEAST) for ends in ((threshold, self.low), (self.high, threshold))):
            refuse(self.path, "was asked about an event of probability below 2^-40")
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
    """scale U + shift for a symbolic uniform draw U: it can be compared, scaled, shifted and floored, and nothing else.

    Args:
        draw: U.
        scale, shift: the affine function of it.
        scalar: whether the number is one of numpy's, whose comparisons give numpy's truth values.
    """

    draw: _Draw
    scale: Fraction = Fraction(1)
    shift: Fraction = Fraction(0)
    scalar: bool = False

    __array_ufunc__ = None
    """numpy leaves its operators to this class."""

    @classmethod
    def on(cls, path: Path, *, scalar: bool = False) -> Uniform:
        return cls(_Draw(path, path.fresh()), scalar=scalar)

    def known(self) -> tuple[object, ...]:
        """What is known about it, for telling states apart."""
        return self.draw.number, self.draw.low, self.draw.high, self.scale, self.shift, self.scalar

    def as_float(self) -> Uniform:
        """float(it)."""
        return attrs.evolve(self, scalar=False)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Asked for by isinstance alone, which would take it for no float."""
        self._refuse("was asked for its type")

    # -- questions --------------------------------------------------------------------------------

    def __lt__(self, other: object) -> Any:
        return self._truth(other, lambda one: self._below(one, closed=False))

    def __le__(self, other: object) -> Any:
        return self._truth(other, lambda one: self._below(one, closed=True))

    def __gt__(self, other: object) -> Any:
        return self._truth(other, lambda one: not self._below(one, closed=True))

    def __ge__(self, other: object) -> Any:
        return self._truth(other, lambda one: not self._below(one, closed=False))

    def __eq__(self, other: object) -> Any:
        self._refuse("was compared with ==, which holds with probability 0 or 2^-53")

    __ne__ = __eq__

    def __hash__(self) -> NoReturn:  # noqa: PLE0309
        self._refuse("was hashed")

    def __bool__(self) -> NoReturn:  # noqa: PLE0304
        self._refuse("was used as a truth value")

    def _truth(self, other: object, question: Callable[[object], bool]) -> Any:
        """The answer in the type in which numpy and Python give it."""
        if type(other) is np.ndarray and other.ndim == 1 and other.dtype.char in _EXACT:
            return np.array([question(one) for one in other.ravel()], dtype=np.bool_).reshape(other.shape)
        answer = question(other)
        return np.bool_(answer) if self.scalar or isinstance(other, np.generic) else answer

    def _below(self, other: object, *, closed: bool) -> bool:
        """Whether scale U + shift < other, or <= other when closed."""
        if type(other) is Uniform:  # asked first: its class is not to be asked for
            self._refuse("was compared with another random number")
        if isinstance(other, np.generic) and other.dtype.char not in _EXACT:
            self._refuse("was compared in single precision")
        threshold = exact(other)
        if threshold is None:
            if type(other) is float and math.isinf(other):
                return other > 0
            if not isinstance(other, (float, np.floating)) or not other < 0:
                self._refuse(f"was compared with {type(other).__name__}")
            threshold = Fraction(float(other))
        if self.scale == 1 and not self.shift:
            return self.draw.below(threshold, closed=closed)
        if isinstance(threshold, Enclosed):
            self._refuse("was scaled and compared with a number that was computed in floating point")
        place = (threshold - self.shift) / self.scale
        if self.scale > 0:
            return self.draw.below(place, closed=closed)
        return not self.draw.below(place, closed=not closed)

    def __floor__(self) -> int:
        ends = sorted((self.shift, self.shift + self.scale))
        for whole in range(ends[0].__floor__() + 1, ends[1].__ceil__() + 1):
            if self._below(whole, closed=False):
                return whole - 1
        return ends[1].__ceil__() - 1

    def __int__(self) -> int:
        return self.__floor__() if not self._below(0, closed=False) else -((-self).__floor__())

    __trunc__ = __int__

    # -- arithmetic -------------------------------------------------------------------------------

    def _affine(self, scale: Any, shift: Any, other: Any) -> Uniform:
        if type(other) is bool or not isinstance(other, (int, float, Fraction, np.integer, np.floating)):
            self._refuse(f"was used in a computation with {type(other).__name__}")
        if isinstance(other, np.generic) and other.dtype.char not in _EXACT:
            self._refuse("was used in a computation in single precision")
        if type(other) is Fraction and self.scalar:
            self._refuse("is a number of numpy and was used in a computation with a Fraction")
        factor, summand = exact(scale), exact(shift)
        if not isinstance(factor, Fraction) or not isinstance(summand, Fraction) or not factor:
            self._refuse("was used in a computation with a number that is not exact")
        size, most = abs(self.scale * factor), Fraction(1 << 20)
        if not 1 / most <= size <= most or abs(self.shift * factor + summand) > most * size:
            self._refuse("was scaled or shifted so far that the rounding of doubles matters")
        scalar = self.scalar or isinstance(other, np.generic)
        return Uniform(self.draw, self.scale * factor, self.shift * factor + summand, scalar)

    def __add__(self, other: Any) -> Uniform:
        return self._affine(1, other, other)

    def __sub__(self, other: Any) -> Uniform:
        return (-self).__add__(other).__neg__()

    def __rsub__(self, other: Any) -> Uniform:
        return (-self).__add__(other)

    def __neg__(self) -> Uniform:
        return self._affine(-1, 0, 0)

    def __mul__(self, other: Any) -> Uniform:
        return self._affine(other, 0, other)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Any) -> Uniform:
        divisor = exact(other)
        if not isinstance(divisor, Fraction) or not divisor:
            self._refuse("was divided by a number that is not exact")
        return self._affine(1 / divisor, 0, other)

    def _number(self, *_: Any) -> NoReturn:
        self._refuse("was used as a number")

    __float__ = __complex__ = __index__ = __abs__ = __round__ = __pow__ = __rpow__ = __rtruediv__ = _number
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = __pos__ = __ceil__ = _number

    def _text(self, *_: Any) -> NoReturn:
        self._refuse("was written as text")

    __str__ = __repr__ = __format__ = __reduce_ex__ = __dir__ = _text

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse(f"was asked for {name}")

    def _refuse(self, what: str) -> NoReturn:
        refuse(self.draw.path, what)


def refuse(path: Path, what: str) -> NoReturn:
    """End a run that asks more of a symbolic draw than can be answered."""
    path.refuse(
        NotEnumerableError(
            "random()",
            f"{what}, so it has infinitely many values that matter",
            "compare it with thresholds, or draw integers; continuous noise needs a law written by hand",
        )
    )
