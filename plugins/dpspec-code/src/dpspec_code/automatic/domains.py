"""Where functions of drawn numbers have a value.

The run of a symbol goes on as if every function had a value. Outside of its domain one of Python's raises an error, which says
of its argument what nothing else may say: `math.log(n)` of n <= 0, `1 / n` of n = 0, `math.exp(n)` of n > 709, `int(n)` of an
infinite n. So the argument has to lie inside: by the range of its parts, or by what was asked before. numpy goes on with
infinity or nan, which is a value like others as long as nothing asks for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from dpspec_code.automatic.formulas import (
    CONTINUOUS,
    Affine,
    Applied,
    Condition,
    NoiseFormula,
    Plain,
    implied,
)

NumberRange = tuple[Fraction | float, Fraction | float]
"""Between what a number lies; an end that is not known is infinite."""

_ANYWHERE: NumberRange = (-math.inf, math.inf)
_LARGEST_EXPONENT = 700
_LARGEST_POWER = 8
_LARGEST_BASE = Fraction(1 << 100)
_LARGEST_DOUBLE = 1e306
"""Beyond this, products and sums may be infinite."""
_ROUNDED = ("round", "around", "rint", "floor", "ceil", "trunc", "int", "float", "float64")
_BOUNDED = ("sin", "cos", "tanh", "sign")
_LOGARITHMS = ("log", "log2", "log10")
_DIVISIONS = ("truediv", "floordiv", "mod")
_OVERFLOWING = ("exp", "expm1")


def ends_of(formula: NoiseFormula | Plain, span: dict[Affine, NumberRange]) -> NumberRange | None:
    """Between what a number lies; None where it may be infinite or no number.

    Args:
        formula: the number.
        span: the ends of the affine expressions inside it.
    """
    found = _ends(formula, span)
    return None if found is None or any(_LARGEST_DOUBLE < max(end, -end) < math.inf for end in found) else found


def _ends(  # noqa: PLR0911, PLR0912 (one line per function)
    formula: NoiseFormula | Plain, span: dict[Affine, NumberRange]
) -> NumberRange | None:
    if isinstance(formula, Plain):
        return (formula.value, formula.value) if math.isfinite(formula.value) else None
    if isinstance(formula, Affine):
        return span[formula]
    parts = [ends_of(part, span) for part in formula.arguments]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    name, (low, high) = formula.function, known[0]
    if name in _ROUNDED:
        return (low - 1, high + 1)
    if name in _BOUNDED:
        return (-1, 1)
    if name in ("max", "min"):
        chosen = max if name == "max" else min
        return (chosen(one for one, _ in known), chosen(other for _, other in known))
    if name in ("add", "sub"):
        other = known[1] if name == "add" else (-known[1][1], -known[1][0])
        return _within((low + other[0], high + other[1]), _beside_extreme(name, *formula.arguments))
    if name in _OVERFLOWING:
        return (0 if name == "exp" else -1, math.exp(high)) if high <= _LARGEST_EXPONENT else None
    if name == "sqrt":
        return (0, max(high, 1)) if low >= 0 else None
    if name in _LOGARITHMS:
        return _ANYWHERE if low > 0 else None
    if name == "mul":
        for (least, most), other in zip(known, known[::-1], strict=True):
            if least == most:
                return _scaled(other, least)
        far = math.prod(float(max(-least, most)) for least, most in known)
        return (-far, far) if far < math.inf else None
    if name == "truediv" and known[1][0] == known[1][1] != 0:
        return _scaled(known[0], 1 / known[1][0])
    return None


def _scaled(ends: NumberRange, factor: Fraction | float) -> NumberRange:
    """The ends times a number."""
    low, high = sorted(factor * end if factor else Fraction(0) for end in ends)
    return low, high


def _within(ends: NumberRange, others: NumberRange) -> NumberRange:
    return max(ends[0], others[0]), min(ends[1], others[1])


def _beside_extreme(name: str, left: NoiseFormula | Plain, right: NoiseFormula | Plain) -> NumberRange:
    """What is known of a number less the largest of several, which it is among, or less the smallest."""
    if name == "sub":
        for one, other, ends in ((left, right, (-math.inf, 0)), (right, left, (0, math.inf))):
            if isinstance(other, Applied) and other.function in ("max", "min") and one in other.arguments:
                return ends if other.function == "max" else (-ends[1], -ends[0])
    return _ANYWHERE


def has_value(
    function: str, arguments: Sequence[NoiseFormula | Plain], span: dict[Affine, NumberRange], conditions: Sequence[Condition]
) -> bool:
    """Whether a function has a finite value, whatever the data and the draws are.

    Args:
        function: its name.
        arguments: what it is applied to.
        span: the ends of all affine expressions inside them.
        conditions: what was asked before, and how it turned out.

    >>> from dpspec_code.automatic.formulas import NoiseDraw
    >>> n = Affine(Fraction(0), ((NoiseDraw(-1, "count", Fraction(0)), Fraction(1)),))
    >>> known = {n: (Fraction(0), math.inf)}
    >>> has_value("log", [n], known, []), has_value("log", [n], known, [Condition(n, "eq", holds=False)])
    (False, True)
    """
    argument = _Argument(arguments[-1 if function in _DIVISIONS else 0], span, conditions)
    if any(ends_of(one, span) is None for one in arguments):
        return False
    domains: dict[str, Callable[[], bool]] = {
        **dict.fromkeys(_DIVISIONS, argument.is_not_zero),
        **dict.fromkeys(_LOGARITHMS, argument.is_positive),
        **dict.fromkeys(_OVERFLOWING, argument.is_not_large),
        "log1p": lambda: argument.low > -1,
        "sqrt": argument.is_not_negative,
        "pow": lambda: _has_power(argument, arguments[1]),
        **dict.fromkeys((*_ROUNDED, *_BOUNDED, "tan", "square", "max", "min"), lambda: True),
    }
    return function in domains and domains[function]()


def _has_power(base: _Argument, exponent: NoiseFormula | Plain) -> bool:
    if isinstance(exponent, Affine):
        power = None if exponent.terms else exponent.constant
    else:
        power = Fraction(exponent.value) if isinstance(exponent, Plain) else None
    if power is None or abs(power) > _LARGEST_POWER or max(-base.low, base.high) > _LARGEST_BASE:
        return False
    if power.denominator == 1:
        return power >= 0 or base.is_not_zero()
    return base.is_positive() if power < 0 else base.is_not_negative()


class _Argument:
    """What is known of the argument of a function.

    Args:
        formula: the argument.
        span: the ends of all affine expressions inside it.
        conditions: what was asked before.
    """

    def __init__(self, formula: NoiseFormula | Plain, span: dict[Affine, NumberRange], conditions: Sequence[Condition]) -> None:
        self.formula, self.conditions = formula, conditions
        self.low, self.high = ends_of(formula, span) or _ANYWHERE

    def _is(self, times: int, relation: str) -> bool | None:
        """What earlier questions say of the argument times 1 or -1."""
        factors = dict(self.formula.terms) if isinstance(self.formula, Affine) else {}
        for known in self.conditions:
            noise, factor = known.left.terms[0] if isinstance(known.left, Affine) and known.left.terms else (None, Fraction(0))
            if noise in factors:
                scale = times * abs(factor / factors[noise])
                answer = implied([known], self.formula.scaled(scale), relation)  # type: ignore[union-attr]  # it is affine
                if answer is not None:
                    return answer
        return None

    def is_not_negative(self) -> bool:
        return self.low >= 0 or self._is(1, "lt") is False or self._is(-1, "lt") is True

    def is_not_large(self) -> bool:
        return self.high <= _LARGEST_EXPONENT or self._is(-1, "lt") is False or self._is(1, "lt") is True

    def is_positive(self) -> bool:
        return self.low > 0 or self._is(-1, "lt") is True or (self.is_not_negative() and self.is_not_zero())

    def is_not_zero(self) -> bool:
        if isinstance(self.formula, Affine) and any(noise.kind in CONTINUOUS for noise, _ in self.formula.terms):
            return True  # with probability 1
        below, above = (self._is(sign, "lt") is True for sign in (1, -1))
        other = any(self._is(sign, "eq") is False for sign in (1, -1))
        return below or above or other or self.low > 0 or self.high < 0
