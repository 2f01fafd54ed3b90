"""Boxes of draws: the regions where monotone functions of noise lie in given intervals, and enclosures of their probabilities.

For any function e that is monotone in one draw,

    { e(W) < t } = { W < s }  or  { W > s },

with s computed by inverting e from outside: round, floor, ceil, int and // are steps, a rounding to a grid is a step between two
scalings. The probability of a box of independent draws is a product of differences of distribution functions. Where each
condition involves two draws, one of which is common to all of them (a noisy threshold, the largest of several noisy numbers),
they are a box given this draw Z = z, and the probability is

    integral over z of f(z)  product over i of [F_i(upper_i(z)) - F_i(lower_i(z))],

piecewise analytic in z and enclosed by certified quadrature (`dpspec.laws.enclosures.integral`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import attrs
import numpy as np
from flint import acb, arb

from dpspec.plugin import laws, ln, number
from dpspec.plugin.judges import Enclosed, GaussianLaw, LaplaceLaw, Probability, TwoSidedGeometricLaw, ball, hull, integral
from dpspec_code.automatic.formulas import FLOORED, NORMAL, Affine, NoiseDraw, NoiseFormula, Plain

PRECISION = 64
_LARGEST = Fraction(1 << 40)
"""Numbers whose constants or noise are larger are not cut into steps: integers of 64 bits, and doubles, end not far beyond."""
DISCRETE = ("geometric", "two-sided geometric", "discrete laplace", "discrete normal", FLOORED)


class NoCells(Exception):
    """The reason why no cells are known: a number of the code is no monotone function of one draw."""


# --- half-lines of monotone functions -------------------------------------------------------------


@attrs.frozen
class HalfLine:
    """W > start + slope Z, or W < start + slope Z where it is not `above`; with `closed`, equality too."""

    noise: NoiseDraw
    above: bool
    start: Fraction
    slope: Fraction
    closed: bool

    def at(self, z: Any) -> Any:
        """Where it ends, for a value of Z."""
        return z * ball_or_float(self.slope, z) + ball_or_float(self.start, z)


def ball_or_float(value: Fraction, like: Any) -> Any:
    """A rational in the arithmetic of another number."""
    return value if isinstance(like, Fraction) else ball(value) if isinstance(like, (arb, acb)) else float(value)


def half_line(formula: NoiseFormula, end: Fraction, *, above: bool, closed: bool, hidden: NoiseDraw | None) -> HalfLine | bool:
    """The draws with formula > end, or formula < end, or with equality: a half-line of one draw, all of them, or none.

    >>> from dpspec_code.automatic.noise import Applied
    >>> w = NoiseDraw(1, "laplace", Fraction(1))
    >>> noisy = Affine(Fraction(3), ((w, Fraction(-2)),))
    >>> half_line(Applied("round", (noisy,)), Fraction(1), above=True, closed=True, hidden=None).start
    Fraction(5, 4)

    Raises:
        NoCells: the formula is no monotone function that is known.
    """
    if isinstance(formula, Affine):
        return _of_affine(formula, end, above=above, closed=closed, hidden=hidden)
    name, (inner, *rest) = formula.function, formula.arguments
    others = [number for one in rest if (number := _constant(one)) is not None]
    if name in _STEPS and len(others) == len(rest):
        return _of_step(name, inner, others, end, above=above, closed=closed, hidden=hidden)
    if name in ("float", "float64") and not rest:
        return _inner(inner, end, above=above, closed=closed, hidden=hidden)
    if name in ("add", "sub", "mul", "truediv") and len(rest) == 1:
        return _of_arithmetic(name, inner, rest[0], end, above=above, closed=closed, hidden=hidden)
    raise NoCells(name)


def _inner(formula: Any, end: Fraction, *, above: bool, closed: bool, hidden: NoiseDraw | None) -> HalfLine | bool:
    if isinstance(formula, Plain):
        raise NoCells("a plain number")
    return half_line(formula, end, above=above, closed=closed, hidden=hidden)


def _constant(formula: Any) -> Fraction | None:
    """The number that an argument is."""
    if isinstance(formula, Affine):
        return None if formula.terms else formula.constant
    return Fraction(formula.value) if isinstance(formula, Plain) and math.isfinite(formula.value) else None


def _compares(left: Fraction, right: Fraction, *, above: bool, closed: bool) -> bool:
    return (closed and left == right) or (left > right if above else left < right)


@lru_cache(maxsize=1 << 14)
def _of_affine(formula: Affine, end: Fraction, *, above: bool, closed: bool, hidden: NoiseDraw | None) -> HalfLine | bool:
    """a W + b Z + c > end."""
    if any(noise.is_count for noise, _ in formula.terms):
        raise NoCells("a number of the dataset")
    if not formula.terms:
        return _compares(formula.constant, end, above=above, closed=closed)
    sizes = [abs(factor) * spread(noise) for noise, factor in formula.terms]
    if max(abs(formula.constant), *sizes) > _LARGEST or min(sizes) < 1 / _LARGEST:
        raise NoCells("a number that is too large")
    drawn = [(noise, factor) for noise, factor in formula.terms if noise != hidden]
    if not drawn:  # of the hidden draw alone
        drawn, slope = list(formula.terms), Fraction(0)
    else:
        slope = dict(formula.terms).get(hidden, Fraction(0)) if hidden is not None else Fraction(0)
    if len(drawn) > 1:
        raise NoCells("a number made of several draws")
    noise, factor = drawn[0]
    start = (end - formula.constant) / factor
    if noise.kind in DISCRETE and (slope or (start.denominator == 1 and not _is_whole(formula, end))):
        raise NoCells("whole noise that is scaled: doubles may tell other ties than numbers do")
    return HalfLine(noise, above == (factor > 0), start, -slope / factor, closed)


def _is_whole(formula: Affine, end: Fraction) -> bool:
    """Whether doubles compute a W + c and compare it as numbers do: all is in halves."""
    return all((2 * one).denominator == 1 for one in (formula.constant, end, *(factor for _, factor in formula.terms)))


_STEPS = frozenset({"round", "around", "rint", "floor", "ceil", "trunc", "int", "floordiv"})


def _of_step(
    name: str, inner: Any, others: Sequence[Fraction], end: Fraction, *, above: bool, closed: bool, hidden: NoiseDraw | None
) -> HalfLine | bool:
    """step(y) > end, through the largest y whose step is below: steps take whole numbers after a scaling."""
    scale = Fraction(1)
    if name in ("round", "around") and others:
        if len(others) > 1 or others[0].denominator != 1 or abs(others[0]) > 15:
            raise NoCells("a rounding to so many digits")
        scale = Fraction(10) ** int(others[0])
    elif name == "floordiv":
        if len(others) != 1 or not others[0]:
            raise NoCells("a quotient")
        scale = 1 / others[0]
    elif others:
        raise NoCells(name)
    wanted = end if name == "floordiv" else end * scale
    # The step is a whole number: the condition is that it is at most m, or, from above, that it is not.
    m = math.floor(wanted) if closed != above else math.ceil(wanted) - 1
    edge, is_open = _edge(name, m)  # it is at most m where y scale < edge, or also where they are equal
    return _inner(inner, edge / scale, above=above == (scale > 0), closed=is_open != above, hidden=hidden)


def _edge(name: str, m: int) -> tuple[Fraction, bool]:
    """The end of the numbers whose step is at most m, and whether it is one of them."""
    if name in ("round", "around", "rint"):
        return Fraction(2 * m + 1, 2), m % 2 == 0
    if name == "ceil" or (name in ("int", "trunc") and m < 0):
        return Fraction(m), True
    return Fraction(m + 1), False


def _of_arithmetic(
    name: str, inner: Any, other: Any, end: Fraction, *, above: bool, closed: bool, hidden: NoiseDraw | None
) -> HalfLine | bool:
    """A step that is moved or scaled by a number."""
    left, right = _constant(inner), _constant(other)
    if right is not None and not isinstance(inner, Plain):
        if name in ("add", "sub"):
            return _inner(inner, end - right if name == "add" else end + right, above=above, closed=closed, hidden=hidden)
        if right:
            factor = right if name == "mul" else 1 / right
            return _inner(inner, end / factor, above=above == (factor > 0), closed=closed, hidden=hidden)
    elif left is not None:
        if name == "add":
            return _inner(other, end - left, above=above, closed=closed, hidden=hidden)
        if name == "sub":
            return _inner(other, left - end, above=not above, closed=closed, hidden=hidden)
        if name == "mul" and left:
            return _inner(other, end / left, above=above == (left > 0), closed=closed, hidden=hidden)
    raise NoCells(f"{name} of two drawn numbers")


# --- draws ----------------------------------------------------------------------------------------


def spread(noise: NoiseDraw) -> Fraction:
    """A number that its values are scaled by."""
    if noise.kind in NORMAL:
        return Fraction(math.isqrt(math.ceil(noise.size * (1 << 40))) + 1, 1 << 20)
    return 1 / noise.size if noise.kind in ("geometric", "two-sided geometric") else noise.size


def reaches(noise: NoiseDraw) -> list[Fraction]:
    """Multiples of `spread` at which outputs are cut."""
    far = 9 if noise.kind in NORMAL else 30
    ups = [Fraction(k, 8) for k in range(33)] + [Fraction(k, 2) for k in range(9, 2 * far + 1)]
    return ups if noise.kind in ("exponential", "geometric", FLOORED) else sorted({*ups, *(-one for one in ups)})


NoiseInterval = tuple[Fraction | None, bool, Fraction | None, bool]
"""The ends of an interval, each with whether it belongs to it."""


def probability_between(noise: NoiseDraw, ends: NoiseInterval, precision: int) -> arb:  # noqa: PLR0911 (one line per kind)
    """A ball around the probability that a draw lies in an interval."""
    low, low_in, high, high_in = ends
    if low is not None and high is not None and (low > high or (low == high and noise.kind not in DISCRETE)):
        return arb(0)
    if noise.kind == "laplace":
        return LaplaceLaw(0, noise.size).between(low, high, precision)
    if noise.kind == "normal":
        return GaussianLaw(0, noise.size).between(low, high, precision)
    if noise.kind == "exponential":
        beyond = [arb(0) if end is None else (-ball(max(end, Fraction(0)) / noise.size)).exp() for end in (low, high)]
        return (arb(1) if low is None else beyond[0]) - beyond[1]
    if noise.kind == "gumbel":
        below = [arb(0) if end is None else (-(-ball(end / noise.size)).exp()).exp() for end in (low, high)]
        return (arb(1) if high is None else below[1]) - below[0]
    if noise.kind == "logistic":
        above = [arb(0) if end is None else 1 / (1 + ball(end / noise.size).exp()) for end in (low, high)]
        return (arb(1) if low is None else above[0]) - above[1]
    first = None if low is None else math.ceil(low) + (low_in is False and low.denominator == 1)
    last = None if high is None else math.floor(high) - (high_in is False and high.denominator == 1)
    return _of_whole(noise, first, last, precision)


def _of_whole(noise: NoiseDraw, first: int | None, last: int | None, precision: int) -> arb:
    """P(first <= W <= last) of noise on whole numbers."""
    if first is not None and last is not None and first > last:
        return arb(0)
    if noise.kind == "geometric":
        stay, start = ball(1 - noise.size), 1 if first is None else max(first, 1)
        if last is not None and last < start:
            return arb(0)
        return stay ** (start - 1) - (arb(0) if last is None else stay**last)
    if noise.kind == "two-sided geometric":
        law = TwoSidedGeometricLaw(0, ln(1 / (1 - noise.size)))
        return law.between(_line(first), None if last is None else Fraction(last + 1), precision)
    if noise.kind in ("discrete laplace", "discrete normal"):
        is_normal = noise.kind in NORMAL
        known = laws.DiscreteGaussianLaw(0, noise.size) if is_normal else TwoSidedGeometricLaw(0, number(1 / noise.size))
        return known.between(_line(first), None if last is None else Fraction(last + 1), precision)
    if noise.kind == FLOORED:
        ends = (max(first or 0, 0), None if last is None else max(last + 1, 0))
        starts = [arb(0) if end is None else (-ball(end / noise.size)).exp() for end in ends]
        return starts[0] - starts[1]
    raise NoCells(noise.kind)


def _line(end: int | None) -> Fraction | None:
    return None if end is None else Fraction(end)


# --- ends of the tree as boxes --------------------------------------------------------------------


@attrs.frozen
class NoiseBox:
    """Runs that come to one end of the tree and show numbers in intervals.

    Args:
        probability: the probability of the choices on the path that noise does not decide.
        sides: the half-lines that the draws lie in, by draw.
        hidden: Z, where the other half-lines depend on it.
    """

    probability: Probability
    sides: Mapping[NoiseDraw, tuple[HalfLine, ...]]
    hidden: NoiseDraw | None

    def mass(self, precision: int) -> arb:
        """A ball around its probability."""
        whole, moving = _probability(self.probability), self._moving()
        for noise, sides in self.sides.items():
            if noise not in moving and not (moving and noise == self.hidden):
                whole *= probability_between(noise, _ends(sides), precision)
        return whole * self._integral(moving, precision) if moving else whole

    def _moving(self) -> dict[NoiseDraw, tuple[HalfLine, ...]]:
        """The half-lines of draws whose ends depend on Z."""
        return {noise: sides for noise, sides in self.sides.items() if any(one.slope for one in sides)}

    def _integral(self, moving: Mapping[NoiseDraw, tuple[HalfLine, ...]], precision: int) -> arb:
        hidden = self.hidden
        assert hidden is not None  # noqa: S101 - a slope is that of a hidden draw
        bits = precision + 8
        low, high = _support(hidden, bits)
        for one in self.sides.get(hidden, ()):
            low, high = (max(low, one.start), high) if one.above else (low, min(high, one.start))
        rest = hull(arb(0), arb(2) ** -bits)
        if low >= high:
            return rest
        ends = sorted({low, high, *(kink for kink in _kinks(moving.values()) if low < kink < high)})
        times = _repeated(moving.values())

        def density(z: acb, inside: Fraction) -> acb:
            product = _density(hidden, z, inside)
            for sides, count in times:
                product *= _inside(sides, z, inside) ** count
            return product

        return (integral(density, ends, precision) + rest).max(arb(0))

    def estimate(self) -> float:
        """About its probability, by a sum over values of the hidden draw."""
        moving, hidden = self._moving(), self.hidden
        if not moving or hidden is None:
            return float(self.mass(PRECISION))
        law = (hidden.kind, hidden.size)
        z, found = _values(*law)
        for one in self.sides.get(hidden, ()):
            found = found * ((z > float(one.start)) if one.above else (z < float(one.start)))
        for noise, sides in moving.items():
            found = found * _factor(*law, noise.kind, noise.size, tuple((one.above, one.start, one.slope) for one in sides))
        rest = attrs.evolve(self, sides={n: s for n, s in self.sides.items() if n not in moving and n != hidden})
        return float(rest.mass(PRECISION)) * float(found.sum())


def _kinks(groups: Iterable[Sequence[HalfLine]]) -> Iterator[Fraction]:
    """Where one of the factors, or the density, changes its form."""
    yield Fraction(0)
    for sides in groups:
        yield from (-one.start / one.slope for one in sides if one.slope)
        for one, other in itertools.combinations(sides, 2):
            if one.slope != other.slope:
                yield (other.start - one.start) / (one.slope - other.slope)


def _probability(probability: Probability) -> arb:
    if isinstance(probability, Fraction):
        return ball(probability)
    found = Enclosed.of(probability)
    return hull(ball(found.low), ball(found.high))


def _ends(sides: Iterable[HalfLine]) -> NoiseInterval:
    """The interval that half-lines of one draw leave."""
    low, low_in, high, high_in = None, False, None, False
    for one in sides:
        if one.above and (low is None or one.start > low or (one.start == low and not one.closed)):
            low, low_in = one.start, one.closed
        if not one.above and (high is None or one.start < high or (one.start == high and not one.closed)):
            high, high_in = one.start, one.closed
    return low, low_in, high, high_in


def _repeated(groups: Iterable[Sequence[HalfLine]]) -> list[tuple[Sequence[HalfLine], int]]:
    """Half-lines of draws with one law and the same ends count once, with a power."""
    found: dict[Hashable, tuple[Sequence[HalfLine], int]] = {}
    for sides in groups:
        key = tuple(attrs.evolve(one, noise=attrs.evolve(one.noise, number=0)) for one in sides)
        found[key] = (sides, found.get(key, (sides, 0))[1] + 1)
    return list(found.values())


def _support(noise: NoiseDraw, bits: int) -> tuple[Fraction, Fraction]:
    """Ends beyond which at most 2^-bits of a hidden draw lies."""
    if noise.kind == "normal":
        far = spread(noise) * (math.isqrt(2 * bits) + 1)
        return -far, far
    far = noise.size * math.ceil(bits * Fraction(7, 10))  # ln 2 < 7/10
    return (Fraction(0) if noise.kind == "exponential" else -far), far


def _density(noise: NoiseDraw, z: acb, inside: Fraction) -> acb:
    size = ball(noise.size)
    if noise.kind == "normal":
        return (-z * z / (2 * size)).exp() / (2 * arb.pi() * size).sqrt()
    if noise.kind == "exponential":
        return (-z / size).exp() / size
    return ((z if inside <= 0 else -z) / size).exp() / (2 * size)


def _inside(sides: Sequence[HalfLine], z: acb, inside: Fraction) -> acb:
    """P(lower(z) < W < upper(z)) near a piece on which the ends keep their order."""
    lows, highs = ([one for one in sides if one.above == up] for up in (True, False))
    low = max(lows, key=lambda one: one.at(inside), default=None)
    high = min(highs, key=lambda one: one.at(inside), default=None)
    if low is not None and high is not None and low.at(inside) >= high.at(inside):
        return acb(0)
    above = acb(0) if low is None else _below(low, z, inside)
    return (acb(1) if high is None else _below(high, z, inside)) - above


def _below(side: HalfLine, z: acb, inside: Fraction) -> acb:
    """P(W < end(z))."""
    noise, end = side.noise, acb(side.at(z))
    if noise.kind == "normal":
        return acb(1 + (end / (2 * ball(noise.size)).sqrt()).erf()) / 2
    left = side.at(inside) <= 0
    if noise.kind == "exponential":
        return acb(0) if left else 1 - (-end / ball(noise.size)).exp()
    half = ((end if left else -end) / ball(noise.size)).exp() / 2
    return half if left else 1 - half


_VALUES = 300


@lru_cache(maxsize=64)
def _values(kind: str, size: Fraction) -> tuple[Any, Any]:
    """Values of a hidden draw in the middle of equally likely parts, with weights."""
    levels = (np.arange(_VALUES) + 0.5) / _VALUES
    weights = np.full(_VALUES, 1 / _VALUES)
    if kind == "normal":
        from scipy.special import ndtri

        return math.sqrt(size) * ndtri(levels), weights
    if kind == "exponential":
        return -float(size) * np.log1p(-levels), weights
    return float(size) * np.where(levels < 0.5, np.log(2 * levels), -np.log(2 - 2 * levels)), weights


@lru_cache(maxsize=1 << 12)
def _factor(
    hidden: str, spread_of_hidden: Fraction, kind: str, size: Fraction, sides: tuple[tuple[bool, Fraction, Fraction], ...]
) -> Any:
    """P(lower(z) < W < upper(z)) for the values z, about."""
    z, _ = _values(hidden, spread_of_hidden)
    ends = [[float(slope) * z + float(start) for above, start, slope in sides if above == up] for up in (True, False)]
    below = 1.0 if not ends[1] else _float_below(kind, float(size), np.minimum.reduce(ends[1]))
    above = 0.0 if not ends[0] else _float_below(kind, float(size), np.maximum.reduce(ends[0]))
    return np.maximum(below - above, 0.0)


def _float_below(kind: str, size: float, at: Any) -> Any:
    if kind == "normal":
        from scipy.special import ndtr

        return ndtr(at / math.sqrt(size))
    if kind == "exponential":
        return np.where(at <= 0, 0.0, -np.expm1(-np.maximum(at, 0) / size))
    half = 0.5 * np.exp(-np.abs(at) / size)
    return np.where(at <= 0, half, 1 - half)
