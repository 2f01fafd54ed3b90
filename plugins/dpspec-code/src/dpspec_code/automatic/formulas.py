"""Formulas of noise: what code computes from independent draws W_1, W_2, ... with known laws, and from numbers of the dataset.

    affine     c + a_1 W_1 + a_2 W_2 + ...      with exact rational numbers
    applied    f(e_1, e_2, ...)                 for a known function f, such as round, exp or a quotient

The runs of a sampler are the leaves of a tree (`TreeEnd`): each with the conditions on its draws, and an output with formulas in
its places. What such trees say about the law is in `dpspec_code.automatic.coupling`; whether real runs fit them, at the end.

A parameter that is a double is a real number. One that prints with at most 12 digits is that decimal; one that was computed and
lies within 8 units in the last place of a fraction with a denominator up to 1,000 is that fraction; any other is the double
itself.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import attrs
import numpy as np

from dpspec.plugin.judges import Observed
from dpspec_code.automatic.path import exact

_SIMPLE = 1_000
_ULPS = 8


def reading(value: Any) -> Fraction | None:
    """A number of the code as the rational that it is read as; None for what is none.

    >>> reading(0.1), reading(1 / 0.3), reading(math.sqrt(2)) == Fraction(math.sqrt(2))
    (Fraction(1, 10), Fraction(10, 3), True)
    """
    if isinstance(value, np.generic):
        if value.dtype.char not in "?bBhHiIlLqQd":
            return None
        value = value.item()
    if type(value) is float and math.isfinite(value):
        typed = exact(value)
        if isinstance(typed, Fraction):
            return typed
        simple = Fraction(value).limit_denominator(_SIMPLE)
        near = abs(simple - Fraction(value)) <= abs(Fraction(value)) * Fraction(_ULPS, 1 << 53)
        return simple if near else Fraction(value)
    found = exact(value)
    return found if isinstance(found, Fraction) else None


@attrs.frozen(order=True, cache_hash=True)
class NoiseDraw:
    """One independent draw, centered at 0, or an unknown number of the dataset.

    Args:
        number: which draw of the run it is; negative for a number of the dataset.
        kind: the method of numpy's Generator, or `count`, `sampled count` or `statistic`; `discrete laplace` and `discrete
            normal` are the laws of whole numbers proportional to e^(-|k| / scale) and e^(-k^2 / (2 variance)); `floored
            exponential` is an exponential draw rounded down, of which nothing else is used.
        size: its scale; the variance of `normal` and `discrete normal`, the success probability of `geometric`.
    """

    number: int
    kind: str
    size: Fraction

    @property
    def is_count(self) -> bool:
        """Whether it is no draw but an unknown number of the dataset, or of a sample of it."""
        return self.kind in (COUNT, SAMPLED, STATISTIC)


COUNT = "count"
STATISTIC = "statistic"
"""A number between 0 and 1 that the dataset decides, and that one change of it changes by no more than its size."""
SAMPLED = "sampled count"
"""The number of entries of a kind in a sample, each there by itself with a probability that is its size."""
CONTINUOUS = frozenset({"laplace", "normal", "exponential", "gumbel", "logistic", "cauchy"})
FLOORED = "floored exponential"
"""The whole part of exponential noise, whose size is its mean before: k with probability (1 - e^(-1/size)) e^(-k/size)."""
NORMAL = ("normal", "discrete normal")
"""Noise whose size is a variance."""


def variance_of(deviation: Any) -> Fraction | None:
    """The square of a standard deviation, read as the fraction that it is the root of where there is one.

    >>> variance_of(2.0), variance_of(math.sqrt(2))
    (Fraction(4, 1), Fraction(2, 1))
    """
    read = reading(deviation)
    if read is None or read.denominator <= _SIMPLE or exact(deviation) == read:
        return None if read is None else read**2
    square = (read**2).limit_denominator(_SIMPLE)
    return square if abs(square - read**2) <= square * Fraction(2 * _ULPS, 1 << 53) else read**2


def sum_of_squares(numbers: Sequence[Fraction], sizes: Sequence[Fraction]) -> Fraction:
    """The sum of n_i^2 / s_i, read as the fraction that it is near to where some n_i was computed: a vector that was scaled to a
    length has that length.

    >>> [Fraction(part / math.sqrt(13)) for part in (2.0, 3.0)] == [Fraction(2, 13), Fraction(3, 13)]
    False
    >>> sum_of_squares([Fraction(part / math.sqrt(13)) for part in (2.0, 3.0)], [Fraction(4), Fraction(4)])
    Fraction(1, 4)
    """
    found = sum((number**2 / size for number, size in zip(numbers, sizes, strict=True)), Fraction(0))
    if not any(number.denominator > _COMPUTED for number in numbers):
        return found
    simple = found.limit_denominator(_SIMPLE)
    return simple if abs(simple - found) <= found * Fraction(2 * _ULPS, 1 << 53) else found


_COMPUTED = 10**15
"""A decimal of at most 12 digits that is of the size of what code computes with has a smaller denominator; a double that was
computed, and that `reading` found to be no simple fraction, has a larger one."""

NoiseTerms = tuple[tuple[NoiseDraw, Fraction], ...]


@attrs.frozen
class Affine:
    """constant + sum of a_i W_i, the a_i other than 0."""

    constant: Fraction
    terms: NoiseTerms = ()

    @cached_property
    def in_doubles(self) -> tuple[float, tuple[tuple[int, float], ...]]:
        """The constant, and the place of each draw among all draws with its factor."""
        return float(self.constant), tuple((noise.number - 1, float(factor)) for noise, factor in self.terms)

    def plus(self, other: Affine, times: Fraction = Fraction(1)) -> Affine:
        """self + times other."""
        found = dict(self.terms)
        for noise, factor in other.terms:
            found[noise] = found.get(noise, Fraction(0)) + times * factor
        return Affine(self.constant + times * other.constant, tuple(sorted((n, f) for n, f in found.items() if f)))

    def scaled(self, factor: Fraction) -> Affine:
        """factor times it."""
        return Affine(Fraction(0)).plus(self, factor)

    def joined(self, first: NoiseDraw, second: NoiseDraw, together: NoiseDraw) -> Affine:
        """The same with one draw in the place of two, which it holds in one ratio."""
        terms = dict(self.terms)
        factor = terms.pop(first, None)
        terms.pop(second, None)
        if factor is not None:
            terms[together] = factor
        return Affine(self.constant, tuple(sorted(terms.items())))


@attrs.frozen
class Plain:
    """A number in an operation with expressions, with its type."""

    kind: str
    value: float


@attrs.frozen
class Applied:
    """A known function of expressions and of plain numbers."""

    function: str
    arguments: tuple[Affine | Applied | Plain, ...]


NoiseFormula = Affine | Applied


@attrs.frozen
class Condition:
    """An expression compared with 0, and how it turned out.

    Args:
        left: the expression.
        relation: `lt` for left < 0; `eq` for left = 0.
        holds: whether it does.
    """

    left: NoiseFormula
    relation: str
    holds: bool


def is_about_data(condition: Condition) -> bool:
    """Whether a condition is about counts alone."""
    left = condition.left
    return isinstance(left, Affine) and bool(left.terms) and all(one.is_count for one, _ in left.terms)


@attrs.frozen
class Hole:
    """A drawn number in an output: its type and its expression."""

    kind: str
    expression: NoiseFormula

    def __repr__(self) -> str:
        return f"a drawn {self.kind}"


@attrs.frozen
class MadeDraw:
    """Exponential noise of mean 1 that the code made of a uniform number U, whose number it has: -ln(scale U + shift).

    Args:
        number: the number of the draw.
        scale, shift: the numbers in it.
        low, high: between what U lies.
    """

    number: int
    scale: Fraction
    shift: Fraction
    low: Fraction
    high: Fraction

    def value(self, given: float | None) -> float | None:
        """What it is for a value of U; None where that lies elsewhere.

        >>> MadeDraw(1, Fraction(-1), Fraction(1), Fraction(0), Fraction(1)).value(0.0)
        0.0
        """
        if given is None or not self.low - _SMALL <= given <= self.high + _SMALL:
            return None
        inside = float(self.scale) * given + float(self.shift)
        return -math.log(inside) + 0.0 if inside > 0 else None


_SMALL = Fraction(1, 1 << 40)
"""What doubles may lose where a uniform number is computed back from one between other ends."""


@attrs.frozen
class TreeEnd:
    """The end of a run that drew noise.

    Args:
        seen: the output with holes, as an observer sees it.
        conditions: what the noise had to be for the run to get there.
        made: the draws that the code made of others on the way.
    """

    seen: Hashable
    conditions: tuple[Condition, ...]
    made: tuple[MadeDraw, ...] = ()

    @cached_property
    def last_draw(self) -> int:
        """The number of the last draw that it speaks of."""
        return max((noise.number for one in _expressions(self) for part in affine_of(one) for noise, _ in part.terms), default=0)


def affine_of(expression: Affine | Applied | Plain) -> Iterator[Affine]:
    """All affine expressions inside one, in order."""
    if isinstance(expression, Affine):
        yield expression
    elif isinstance(expression, Applied):
        for argument in expression.arguments:
            yield from affine_of(argument)


def rewritten(expression: Any, change: Callable[[Affine], Affine]) -> Any:
    """An expression with every affine part changed."""
    if isinstance(expression, Affine):
        return change(expression)
    if isinstance(expression, Applied):
        return attrs.evolve(expression, arguments=tuple(rewritten(one, change) for one in expression.arguments))
    return expression


def changed(seen: Any, change: Callable[[NoiseFormula], Any]) -> Any:
    """An output with every expression in its holes changed."""
    if isinstance(seen, Hole):
        return attrs.evolve(seen, expression=change(seen.expression))
    if isinstance(seen, Observed):
        return attrs.evolve(seen, content=changed(seen.content, change), parts=None) if has_holes(seen) else seen
    return tuple(changed(part, change) for part in seen) if isinstance(seen, tuple) else seen


def difference(left: NoiseFormula, right: NoiseFormula) -> NoiseFormula:
    if isinstance(left, Affine) and isinstance(right, Affine):
        return left.plus(right, Fraction(-1))
    return Applied("sub", (left, right))


_STEPS = ("round", "around", "rint", "floor", "ceil")


def is_rounded(formula: NoiseFormula) -> bool:
    """Whether it is a number rounded to a whole one, of which floor(w) + n = floor(w + n) for whole n."""
    return isinstance(formula, Applied) and formula.function in _STEPS and len(formula.arguments) == 1


def _is_whole(formula: NoiseFormula) -> bool:
    """Whether the data decide it, as a whole number."""
    if not isinstance(formula, Affine) or formula.constant.denominator != 1:
        return False
    return all(one.is_count and one.kind != STATISTIC and factor.denominator == 1 for one, factor in formula.terms)


def arithmetic(function: Callable[[Any, Any], Any], left: NoiseFormula, right: NoiseFormula) -> NoiseFormula:
    """The expression of an operation, affine where it remains so; a whole number added to a rounded one goes into the
    rounding."""
    if function is operator.add and _is_whole(left) and is_rounded(right):
        left, right = right, left
    if function in (operator.add, operator.sub) and is_rounded(left) and _is_whole(right):
        inside = arithmetic(function, left.arguments[0], right)  # type: ignore[union-attr,arg-type]  # it is applied
        return Applied(left.function, (inside,))  # type: ignore[union-attr]
    if isinstance(left, Affine) and isinstance(right, Affine):
        if function is operator.add:
            return left.plus(right)
        if function is operator.sub:
            return left.plus(right, Fraction(-1))
        if function is operator.mul and not (left.terms and right.terms):
            return right.scaled(left.constant) if right.terms else left.scaled(right.constant)
        if function is operator.truediv and not right.terms and right.constant:
            return left.scaled(1 / right.constant)
    return Applied(function.__name__, (left, right))


def implied(conditions: Sequence[Condition], left: NoiseFormula, relation: str) -> bool | None:
    """What is known of a comparison from earlier ones of the same expression, up to its constant.

    >>> step = NoiseDraw(1, "laplace", Fraction(1))
    >>> below = Condition(Affine(Fraction(-2), ((step, Fraction(1)),)), "lt", holds=True)
    >>> implied([below], Affine(Fraction(-3), ((step, Fraction(1)),)), "lt")
    True
    """
    for known in conditions:
        if known.left == left and known.relation == relation:
            return known.holds
        if not (isinstance(left, Affine) and isinstance(known.left, Affine) and relation == known.relation == "lt"):
            continue
        if known.left.terms == left.terms:
            if known.holds and left.constant <= known.left.constant:
                return True
            if not known.holds and left.constant >= known.left.constant:
                return False
        elif known.left.scaled(Fraction(-1)).terms == left.terms:
            # -e + c < 0 says e > c, so that e + k < 0 fails for k >= -c.
            if known.holds and left.constant + known.left.constant >= 0:
                return False
            if not known.holds and left.constant + known.left.constant < 0:
                return True
    return None


# --- trees run with real draws --------------------------------------------------------------------


def has_holes(seen: Hashable) -> bool:
    """Whether an output holds drawn numbers."""
    if isinstance(seen, Hole):
        return True
    if isinstance(seen, Observed):
        return has_holes(seen.content)
    return isinstance(seen, tuple) and any(map(has_holes, seen))


Draws = Sequence[float | None]
"""The draws of a run, by the number of the draw, from 1 on."""

_NEAR = 1e-7
"""What doubles may lose, relatively, on the way to an output of moderate size."""
ARITHMETIC = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
               "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow}  # fmt: skip
_BUILTIN: dict[str, Callable[..., Any]] = {"round": round, "int": int, "float": float, "max": max, "min": min}


def value_at(expression: Affine | Applied | Plain, draws: Draws) -> float:
    """The value of an expression for some draws.

    >>> value_at(Affine(Fraction(1), ((NoiseDraw(1, "laplace", Fraction(1)), Fraction(2)),)), [0.25])
    1.5
    """
    if isinstance(expression, Plain):
        return expression.value
    if isinstance(expression, Affine):
        constant, terms = expression.in_doubles
        return math.fsum([constant, *[factor * (draws[place] or 0.0) for place, factor in terms]])
    arguments = [value_at(one, draws) for one in expression.arguments]
    name = expression.function
    function = ARITHMETIC.get(name) or _BUILTIN.get(name) or getattr(np, name, None) or getattr(math, name)
    found: float = function(*arguments)
    return found


def fits(leaf: TreeEnd, seen: Hashable, draws: Draws) -> bool:
    """Whether a run with these draws ends in a leaf, and shows what it says."""
    if leaf.last_draw > len(draws):
        return False
    if leaf.made:
        made = [*draws]
        for draw in leaf.made:
            if draw.number > len(draws) or (value := draw.value(draws[draw.number - 1])) is None:
                return False
            made[draw.number - 1] = value
        draws = made
    try:
        for one in leaf.conditions:
            left = value_at(one.left, draws)
            holds = left < 0 if one.relation == "lt" else left == 0
            if holds != one.holds and abs(left) > _NEAR:
                return False
        return _shows(leaf.seen, seen, draws)
    except ArithmeticError:  # what no double holds, no run of the code shows as a number
        return False


def _expressions(leaf: TreeEnd) -> Iterator[NoiseFormula]:
    yield from (one.left for one in leaf.conditions)
    yield from holes_of(leaf.seen)


def holes_of(seen: Hashable) -> Iterator[NoiseFormula]:
    """The expressions of the drawn numbers in an output."""
    if isinstance(seen, Hole):
        yield seen.expression
    elif isinstance(seen, Observed):
        yield from holes_of(seen.content)
    elif isinstance(seen, tuple):
        for part in seen:
            yield from holes_of(part)


def _shows(expected: Hashable, seen: Hashable, draws: Draws) -> bool:
    """Whether an output is an expected one, up to the last digits of drawn numbers."""
    if isinstance(expected, Hole):
        kind, number = _number_of(seen)
        value = float(value_at(expected.expression, draws))
        return kind == expected.kind and number is not None and abs(number - value) <= _NEAR * max(1.0, abs(value))
    if isinstance(expected, Observed) and has_holes(expected):
        if not isinstance(seen, Observed) or seen.kind != expected.kind:
            return False
        ours, theirs = expected.content, seen.content if isinstance(seen.content, tuple) else tuple(seen.parts or ())
        return _shows(ours, theirs, draws)
    if isinstance(expected, tuple):
        if not isinstance(seen, tuple) or len(seen) != len(expected):
            return False
        return all(_shows(one, other, draws) for one, other in zip(expected, seen, strict=True))
    return expected == seen


def _number_of(seen: Hashable) -> tuple[str, float | None]:
    """The type and the value of a number as an observer sees it; parts of an array are plain."""
    if isinstance(seen, Observed):
        return seen.kind, seen.number
    return type(seen).__name__, float(seen) if isinstance(seen, (int, float)) else None
