"""The values that the parameters of an output divergence may have.

The constants and formulas of the checker are theorems about these values. For example, D_1 <= D_alpha is false for orders
below 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

from dpspec_checker.constants import knots_of
from dpspec_checker.numbers import JsonTable, fraction, read

_BELOW_ONE = "a rational number in [0, 1)", lambda value: value < 1
_RATIONAL: dict[tuple[str, str], tuple[str, Callable[[Fraction], bool]]] = {
    ("renyi", "order"): ("a rational number above 1", lambda value: value > 1),
    ("mult-delta", "delta"): _BELOW_ONE,
    ("probabilistic", "delta"): _BELOW_ONE,
    ("trade-off", "delta"): _BELOW_ONE,
    ("pbdp", "delta"): ("a rational number in (0, 1]", lambda value: 0 < value <= 1),
}
"""By divergence and parameter: what it must be. No number that is read is negative."""


def outside_domain(divergence: JsonTable) -> str:
    """What is wrong with the parameters of an output divergence; "" where nothing is.

    >>> outside_domain({"type": "renyi", "order": "1/2"})
    'the order of renyi must be a rational number above 1'
    >>> outside_domain({"type": "renyi", "order": "3/2"})
    ''
    """
    kind = divergence.get("type")
    for (name, key), (wanted, holds) in _RATIONAL.items():
        if name == kind and key in divergence and not _is(divergence[key], holds):
            return f"the {key} of {name} must be {wanted}"
    if kind in ("hockey-stick", "trade-off") and "epsilon" in divergence and not _is_finite(divergence["epsilon"]):
        return f"the epsilon of {kind} must be a finite number of at least 0"
    if kind == "trade-off" and "curve" in divergence and not _is_curve(divergence):
        return "the curve of trade-off must be convex, its own inverse, below 1 - a, and lead from level 0 to (1, 0)"
    return ""


def _is(value: object, holds: Callable[[Fraction], bool]) -> bool:
    try:
        return holds(fraction(value))
    except (ValueError, ArithmeticError):
        return False


def _is_finite(value: object) -> bool:
    try:
        return not read(value).infinite
    except (ValueError, ArithmeticError):
        return False


def _is_curve(divergence: JsonTable) -> bool:
    """Whether knots (level, error) are those of a symmetric trade-off function of two different laws."""
    try:
        knots = knots_of(divergence)
    except (TypeError, ValueError, ArithmeticError):
        return False
    if knots is None or len(knots) < 2 or knots[0][0] != 0 or knots[-1] != (Fraction(1), Fraction(0)):
        return False
    slopes = [(d - b) / (c - a) for (a, b), (c, d) in itertools.pairwise(knots)]
    if slopes != sorted(slopes) or slopes[-1] > 0 or all(level + error == 1 for level, error in knots):
        return False
    return knots[0][1] <= 1 and all(_error_at(knots, error) == level for level, error in knots if level < 1 and error > 0)


def _error_at(knots: list[tuple[Fraction, Fraction]], level: Fraction) -> Fraction:
    """The error on the straight pieces between knots; at level 1, where every curve ends, that of the last piece."""
    pieces = itertools.pairwise(knots)
    return next(b + (level - a) * (d - b) / (c - a) for (a, b), (c, d) in pieces if a <= level <= c)
