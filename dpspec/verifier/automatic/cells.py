"""What code with noise surely tells: the chances of finitely many cells of its output, from below every divergence.

The law of the code on a dataset is a tree over independent draws W (`dpspec.verifier.automatic.noise`). Cells of its output are
told by the shape of the output, and by the intervals [t, t') in which its numbers lie. For any function e that is monotone in
one draw,

    { e(W) < t } = { W < s }  or  { W > s },

with s found by going through e from outside: round, floor, ceil, int and // are steps, a rounding to a grid is a step between
two scalings. So the runs that come to an end of the tree and show a number in an interval are a box of draws, with a product of
differences of distribution functions as its chance. Where conditions hold two draws each, one of which is the same in all of
them (a noisy threshold, the largest of several noisy numbers), they are a box once this draw Z = z is known, and the chance is

    integral over z of f(z)  product over i of [F_i(upper_i(z)) - F_i(lower_i(z))],

piecewise analytic in z and enclosed by certified quadrature (`dpspec.laws.enclosed.integral`).

By data processing the pair of two laws tells at least what its cells tell, under every output divergence. So cells refute, and
never verify. Cells that neither law reaches with a probability of 2^-48 are taken together: no double of a generator gets there.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import attrs
import numpy as np
from flint import acb, arb, ctx

from dpspec.base.exact import ball, ceiling_of, floor_of, ln
from dpspec.laws.continuous import GaussianLaw, LaplaceLaw
from dpspec.laws.enclosed import Chance, Enclosed, EnclosedLaw, integral
from dpspec.laws.integers import TwoSidedGeometricLaw
from dpspec.laws.law import FiniteLaw
from dpspec.laws.numeric import hull
from dpspec.verifier.automatic.aligned import NoisyLaw, one_to_join
from dpspec.verifier.automatic.noise import (
    Affine,
    Condition,
    Hole,
    NoiseDraw,
    NoiseFormula,
    Plain,
    TreeEnd,
    affine_of,
    rewritten,
    value_at,
)
from dpspec.verifier.observed import Observed

PRECISION = 64
RARE = Fraction(1, 1 << 48)
MOST_CELLS = 1_000
_MOST_SLOTS = 4
_MOST_CUTS = 96
_CERTIFIED = 8
"""So many cells of hidden noise are integrated with certainty; the others are taken together."""
_LARGEST = Fraction(1 << 40)
"""Numbers whose constants or noise are larger are not cut into steps: integers of 64 bits, and doubles, end not far beyond."""
_DISCRETE = ("geometric", "two-sided geometric")
_HIDDEN = ("laplace", "normal", "exponential")


class NoCells(Exception):
    """Why no cells are known: a number of the code is no monotone function of one draw."""


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

    >>> from dpspec.verifier.automatic.noise import Applied
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
    if noise.kind in _DISCRETE and (slope or (start.denominator == 1 and not _is_whole(formula, end))):
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
    # The step is a whole number: what is asked is that it is at most m, or, from above, that it is not.
    m = math.floor(wanted) if closed != above else math.ceil(wanted) - 1
    edge, told = _edge(name, m)  # it is at most m where y scale < edge, or also where they are equal
    return _inner(inner, edge / scale, above=above == (scale > 0), closed=told != above, hidden=hidden)


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
    if noise.kind == "normal":
        return Fraction(math.isqrt(math.ceil(noise.size * (1 << 40))) + 1, 1 << 20)
    return 1 / noise.size if noise.kind in _DISCRETE else noise.size


def _reach(noise: NoiseDraw) -> list[Fraction]:
    """Multiples of `spread` at which outputs are cut."""
    far = 9 if noise.kind == "normal" else 30
    ups = [Fraction(k, 8) for k in range(33)] + [Fraction(k, 2) for k in range(9, 2 * far + 1)]
    return ups if noise.kind in ("exponential", "geometric") else sorted({*ups, *(-one for one in ups)})


NoiseInterval = tuple[Fraction | None, bool, Fraction | None, bool]
"""The ends of an interval, each with whether it belongs to it."""


def chance_between(noise: NoiseDraw, ends: NoiseInterval, precision: int) -> arb:
    """A ball around the probability that a draw lies in an interval."""
    low, low_in, high, high_in = ends
    if low is not None and high is not None and (low > high or (low == high and noise.kind not in _DISCRETE)):
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
    raise NoCells(noise.kind)


def _line(end: int | None) -> Fraction | None:
    return None if end is None else Fraction(end)


# --- ends of the tree as boxes --------------------------------------------------------------------


@attrs.frozen
class NoiseBox:
    """Runs that come to one end of the tree and show numbers in intervals.

    Args:
        chance: of the choices on the way that noise does not decide.
        sides: the half-lines that the draws lie in, by draw.
        hidden: Z, where the other half-lines depend on it.
    """

    chance: Chance
    sides: Mapping[NoiseDraw, tuple[HalfLine, ...]]
    hidden: NoiseDraw | None

    def mass(self, precision: int) -> arb:
        """A ball around its probability."""
        whole, moving = _chance(self.chance), self._moving()
        for noise, sides in self.sides.items():
            if noise not in moving and not (moving and noise == self.hidden):
                whole *= chance_between(noise, _ends(sides), precision)
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


def _chance(chance: Chance) -> arb:
    if isinstance(chance, Fraction):
        return ball(chance)
    found = Enclosed.of(chance)
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


# --- outputs in cells -----------------------------------------------------------------------------


OutputSlot = tuple[str, NoiseFormula]
_KINDS = ("int", "float", "np.int64", "np.float64")


def slots_of(seen: Hashable) -> tuple[Hashable, tuple[OutputSlot, ...]]:
    """The shape of an output, and its numbers with their types, in order.

    >>> slots_of((1, "a"))[0]
    ('tuple', (('number', 'int'), ('seen', 'a')))
    """
    found: list[OutputSlot] = []

    def shape(one: Hashable) -> Hashable:
        if isinstance(one, Hole):
            if one.kind not in _KINDS:
                raise NoCells(f"a number of type {one.kind}")
            found.append((one.kind, one.expression))
            return ("number", one.kind)
        kind = one.kind if isinstance(one, Observed) else type(one).__name__
        number: Any = one.number if isinstance(one, Observed) else one if type(one) in (int, float) else None
        if number is not None and math.isfinite(number):
            found.append((kind, Affine(Fraction(number))))
            return ("number", kind)
        if kind.startswith(("np.int", "np.uint")):
            raise NoCells("a whole number that no double holds")
        if isinstance(one, Observed):
            inner = one.content if isinstance(one.content, tuple) or one.parts is None else tuple(one.parts)
            return ("observed", kind, shape(inner)) if isinstance(inner, tuple) else ("seen", one)
        if isinstance(one, tuple):
            return ("tuple", tuple(shape(part) for part in one))
        return ("seen", one)

    return shape(seen), tuple(found)


@attrs.frozen
class Shaped:
    """An end of the tree, with the shape of its output and its numbers.

    Args:
        chance: of the choices that noise does not decide.
        conditions: what the noise has to be.
        shape, slots: of the output.
    """

    chance: Chance
    conditions: tuple[Condition, ...]
    shape: Hashable
    slots: tuple[OutputSlot, ...]

    @classmethod
    def of(cls, leaf: TreeEnd, chance: Chance) -> Shaped:
        shape, slots = slots_of(leaf.seen)
        return cls(chance, leaf.conditions, shape, slots)

    @property
    def formulas(self) -> Iterator[NoiseFormula]:
        """All numbers of the output, and all that are compared."""
        yield from (one.left for one in self.conditions)
        yield from (formula for _, formula in self.slots)

    def hidden(self) -> NoiseDraw | None:
        """The draw that is in every number made of several draws."""
        several = [{n for n, _ in part.terms} for one in self.formulas for part in affine_of(one) if len(part.terms) > 1]
        if not several:
            return None
        common = set.intersection(*several)
        known = sorted(noise for noise in common if noise.kind in _HIDDEN)
        drawn = {noise.kind for one in several for noise in one}
        if not known or not drawn <= set(_HIDDEN):
            raise NoCells("numbers made of several draws")
        return known[0]

    def boxes(self, cuts: Sequence[LineCuts]) -> Iterator[tuple[Hashable, NoiseBox]]:
        """The cells of this end, with what they are called."""
        hidden = self.hidden()
        base: list[HalfLine] = []
        for one in self.conditions:
            for side in _asked(one, hidden):
                if side is False:
                    return
                base += [side] if isinstance(side, HalfLine) else []
        ways = [list(_cells(formula, ends, hidden)) for (_, formula), ends in zip(self.slots, cuts, strict=True)]
        for chosen in itertools.product(*ways):
            sides: dict[NoiseDraw, list[HalfLine]] = {}
            for side in itertools.chain(base, *(one[1] for one in chosen)):
                sides.setdefault(side.noise, []).append(side)
            yield (
                (self.shape, tuple(one[0] for one in chosen)),
                NoiseBox(self.chance, {noise: tuple(found) for noise, found in sides.items()}, hidden),
            )


def _asked(condition: Condition, hidden: NoiseDraw | None) -> Iterator[HalfLine | bool]:
    zero, left = Fraction(0), condition.left
    if condition.relation == "lt":
        yield half_line(left, zero, above=not condition.holds, closed=not condition.holds, hidden=hidden)
    elif condition.holds:
        yield half_line(left, zero, above=True, closed=True, hidden=hidden)
        yield half_line(left, zero, above=False, closed=True, hidden=hidden)
    else:
        raise NoCells("a number that is not another one")


LineCuts = Sequence[Fraction] | None
"""The ends of the intervals of a number, or None where it may be any."""


def _cells(formula: NoiseFormula, cuts: LineCuts, hidden: NoiseDraw | None) -> Iterator[tuple[Any, tuple[HalfLine, ...]]]:
    """The intervals that a number of the output may lie in, and the half-lines that say so."""
    if cuts is None:
        yield None, ()
        return
    if isinstance(formula, Affine) and not formula.terms:
        at = bisect.bisect_right(cuts, formula.constant)
        yield (cuts[at - 1] if at else None, cuts[at] if at < len(cuts) else None), ()
        return
    for low, high in itertools.pairwise((None, *cuts, None)):
        sides: list[HalfLine | bool] = []
        if low is not None:
            sides.append(half_line(formula, low, above=True, closed=True, hidden=hidden))
        if high is not None:
            sides.append(half_line(formula, high, above=False, closed=False, hidden=hidden))
        if False not in sides:
            yield (low, high), tuple(one for one in sides if isinstance(one, HalfLine))


# --- two laws in the same cells -------------------------------------------------------------------


Gathered = dict[Hashable, list[NoiseBox]]


@attrs.frozen
class CellName:
    """A cell of outputs.

    Args:
        text: for people.
        shape: of the outputs in it; None for all that are in no other cell.
        ends: between what their numbers lie, in order; None where they may be any.
    """

    text: str
    shape: Hashable = None
    ends: tuple[tuple[Fraction | None, Fraction | None] | None, ...] = ()

    def __str__(self) -> str:
        return self.text


@attrs.frozen(eq=False)
class CommonCells:
    """Two laws of code with noise on the same cells of the output.

    Args:
        held: for both laws the boxes of each cell that they reach.
        constants: the numbers that outputs of a shape have at a place, in a cell that holds no other one.
    """

    held: tuple[Gathered, Gathered]
    constants: Mapping[Hashable, Fraction]

    @classmethod
    def of(cls, left: NoisyLaw, right: NoisyLaw) -> CommonCells:
        """The cells are told by the shape of the output and by intervals of its numbers.

        Raises:
            NoCells: some number of the code is no monotone function of one draw.
        """
        ours, theirs = _joined(left, right)
        cuts = _all_cuts(ours, theirs)
        return cls((_gathered(ours, cuts), _gathered(theirs, cuts)), _constants((*ours, *theirs), cuts))

    @property
    def names(self) -> list[Hashable]:
        """All cells."""
        return list(dict.fromkeys((*self.held[0], *self.held[1])))

    @cached_property
    def is_hidden(self) -> bool:
        """Whether chances are integrals over a hidden draw, which take long."""
        return any(box.hidden is not None for tree in self.held for boxes in tree.values() for box in boxes)

    @cached_property
    def estimates(self) -> dict[Hashable, tuple[float, float]]:
        """About the chances of the cells."""
        return {n: tuple(sum(b.estimate() for b in tree.get(n, ())) for tree in self.held) for n in self.names}  # type: ignore[misc]

    def about(self) -> tuple[FiniteLaw, FiniteLaw]:
        """Both laws by estimates, for choosing what to look at."""
        weights = [{name: max(1, round(both[side] * (1 << 48))) for name, both in self.estimates.items()} for side in (0, 1)]
        return FiniteLaw.from_weights(weights[0]), FiniteLaw.from_weights(weights[1])

    def laws(self) -> tuple[EnclosedLaw, EnclosedLaw]:
        """Both laws; where chances are integrals, on the cells that tell most.

        Raises:
            NoCells: the chances do not sum up to 1.
        """
        names = _telling(self.estimates) if self.is_hidden else self.names
        masses = [_masses(names, tree) for tree in self.held]
        for mass in masses:
            low, high = (sum((ends[way] for ends in mass.values()), Fraction(0)) for way in (0, 1))
            if low > 1 or (high < 1 and not self.is_hidden):
                raise NoCells("chances that do not sum up to 1")
        kept = {name: _named(name, self.constants) for name in names if max(mass[name][1] for mass in masses) >= RARE}
        laws = [_law({shown: mass[name] for name, shown in kept.items()}) for mass in masses]
        return laws[0], laws[1]


def in_cells(left: NoisyLaw, right: NoisyLaw) -> tuple[EnclosedLaw, EnclosedLaw]:
    """Both laws on cells of the output, with their chances; see `CommonCells`."""
    return CommonCells.of(left, right).laws()


def _law(bounds: dict[CellName, tuple[Fraction, Fraction]]) -> EnclosedLaw:
    """The law of the cells; one of their own has what is left."""
    low, high = (sum((ends[way] for ends in bounds.values()), Fraction(0)) for way in (0, 1))
    listed: dict[Hashable, tuple[Fraction, Fraction]] = dict(bounds.items())
    listed[CellName("any other output")] = (max(Fraction(0), 1 - high), 1 - low)
    return EnclosedLaw(listed)


def _joined(left: NoisyLaw, right: NoisyLaw) -> tuple[tuple[Shaped, ...], tuple[Shaped, ...]]:
    """The ends of both trees, with draws joined that all of them hold in one ratio."""
    trees = [tuple(Shaped.of(leaf, chance) for leaf, chance in law.leaves) for law in (left, right)]
    while True:
        step = one_to_join(part for tree in trees for end in tree for one in end.formulas for part in affine_of(one))
        if step is None:
            return trees[0], trees[1]
        trees = [tuple(_with_joined(end, step) for end in tree) for tree in trees]


def _with_joined(end: Shaped, step: tuple[NoiseDraw, NoiseDraw, NoiseDraw]) -> Shaped:
    def joined(formula: Any) -> Any:
        return rewritten(formula, lambda one: one.joined(*step))

    conditions = tuple(attrs.evolve(one, left=joined(one.left)) for one in end.conditions)
    return attrs.evolve(end, conditions=conditions, slots=tuple((kind, joined(one)) for kind, one in end.slots))


OutputCuts = dict[Hashable, list[LineCuts]]


def _all_cuts(ours: Sequence[Shaped], theirs: Sequence[Shaped]) -> OutputCuts:
    """Where the numbers of each shape are cut: between constants, and where they depend on noise and differ between the two."""
    found: OutputCuts = {}
    for shape in dict.fromkeys(end.shape for end in (*ours, *theirs)):
        sides = [[end.slots for end in tree if end.shape == shape] for tree in (ours, theirs)]
        numbers = [[[slots[place][1] for slots in side] for side in sides] for place in range(len((sides[0] or sides[1])[0]))]
        noisy = [place for place, both in enumerate(numbers) if any(map(_draws, itertools.chain(*both)))]
        told = [place for place in noisy if len(set(map(frozenset, numbers[place]))) > 1][:_MOST_SLOTS]
        most = max(2, int((4 * MOST_CELLS / (len(ours) + len(theirs))) ** (1 / max(1, len(told)))))
        found[shape] = [
            _cuts(both, min(most, _MOST_CUTS)) if place in told else None if place in noisy else _between(itertools.chain(*both))
            for place, both in enumerate(numbers)
        ]
    return found


def _constants(ends: Sequence[Shaped], cuts: OutputCuts) -> dict[Hashable, Fraction]:
    """The numbers that cells are for, where noise is in no number of that place."""
    noisy = {(end.shape, place) for end in ends for place, (_, formula) in enumerate(end.slots) if _draws(formula)}
    return {
        (end.shape, place, cell): formula.constant
        for end in ends
        for place, (_, formula) in enumerate(end.slots)
        if (end.shape, place) not in noisy and isinstance(formula, Affine)
        for cell, _ in _cells(formula, cuts[end.shape][place], None)
    }


def _between(formulas: Iterable[NoiseFormula]) -> list[Fraction]:
    """Ends of intervals that hold one constant each, or several that differ by roundings."""
    values = sorted({_at(formula, {}) for formula in formulas})
    return [(low + high) / 2 for low, high in itertools.pairwise(values) if high - low > _near(high)]


def _near(value: Fraction) -> Fraction:
    """What doubles may lose on the way to a value."""
    return max(abs(value), Fraction(1)) / 10**9


def _draws(formula: NoiseFormula) -> set[NoiseDraw]:
    return {noise for part in affine_of(formula) for noise, _ in part.terms}


def _cuts(sides: Sequence[Sequence[NoiseFormula]], most: int) -> list[Fraction]:
    """Ends of intervals: values that a number takes where one of its draws does, moved off the values of steps."""
    formulas, found = list(dict.fromkeys(itertools.chain(*sides))), set[Fraction]()
    for formula in formulas:
        found.add(_at(formula, {}))
        for noise in _draws(formula):
            found.update(_at(formula, {noise: multiple * spread(noise)}) for multiple in _reach(noise))
    ordered = sorted(found)
    if len(ordered) > most:
        ordered = [ordered[round(k * (len(ordered) - 1) / (most - 1))] for k in range(most)]
    steps = [one for one in formulas if not (isinstance(one, Affine) and one.terms and _is_smooth(one))]
    gaps = [*(high - low for low, high in itertools.pairwise(ordered)), Fraction(1)]
    moved = (
        next((at + part * gap for part in _OFF if _is_off(steps, at + part * gap)), None)
        for at, gap in zip(ordered, gaps, strict=True)
    )
    return sorted({one for one in moved if one is not None})


_OFF = (Fraction(0), Fraction(1, 2), Fraction(1, 3), Fraction(1, 7), Fraction(5, 13))


def _is_smooth(formula: Affine) -> bool:
    return not any(noise.kind in _DISCRETE for noise, _ in formula.terms)


def _is_off(formulas: Sequence[NoiseFormula], end: Fraction) -> bool:
    """Whether numbers do not take a value next to an end with positive probability, where doubles may be on either side."""
    for formula in formulas:
        if isinstance(formula, Affine) and not formula.terms:
            if abs(formula.constant - end) <= _near(end):
                return False
            continue
        hidden = max(_draws(formula)) if len(_draws(formula)) > 1 else None
        low, high = (
            half_line(formula, at, above=True, closed=True, hidden=hidden) for at in (end - _near(end), end + _near(end))
        )
        if not isinstance(low, HalfLine) or not isinstance(high, HalfLine):
            return low == high
        jump = abs(high.start - low.start)
        if jump > spread(low.noise) / 10**6 or (low.noise.kind in _DISCRETE and math.floor(low.start) != math.floor(high.start)):
            return False
    return True


def _at(formula: NoiseFormula, draws: Mapping[NoiseDraw, Fraction]) -> Fraction:
    """About the value of a number, for some draws; the others are 0."""
    if isinstance(formula, Affine):
        return sum((factor * draws.get(noise, 0) for noise, factor in formula.terms), formula.constant)
    most = max((noise.number for noise in _draws(formula)), default=0)
    given: list[float | None] = [0.0] * most
    for noise, value in draws.items():
        given[noise.number - 1] = float(value)
    try:
        found = float(value_at(formula, given))
    except (ArithmeticError, ValueError, TypeError) as problem:
        raise NoCells(str(problem)) from None
    if not math.isfinite(found):
        raise NoCells("a number that is not finite")
    return Fraction(found)


def _gathered(tree: Sequence[Shaped], cuts: OutputCuts) -> Gathered:
    found: Gathered = {}
    for end in tree:
        for name, box in end.boxes(cuts[end.shape]):
            found.setdefault(name, []).append(box)
    return found


def _masses(names: Sequence[Hashable], tree: Gathered) -> dict[Hashable, tuple[Fraction, Fraction]]:
    found = {}
    with ctx.workprec(PRECISION + 32):
        for name in names:
            total = sum((box.mass(PRECISION) for box in tree.get(name, ())), arb(0))
            low, high = floor_of(total), ceiling_of(total)
            found[name] = (
                max(Fraction(0), low or Fraction(0)),
                Fraction(1) if high is None else max(Fraction(0), min(high, Fraction(1))),
            )
    return found


def _telling(estimates: Mapping[Hashable, tuple[float, float]]) -> list[Hashable]:
    """The cells that tell most by estimates: with the largest ratios both ways, and the largest shares of the divergence."""
    known = {name: both for name, both in estimates.items() if max(both) > 1e-9}
    ratio: dict[Hashable, float] = {name: math.log(max(p, 1e-30) / max(q, 1e-30)) for name, (p, q) in known.items()}
    ways: list[Callable[[Hashable], float]] = [
        lambda name: ratio[name],
        lambda name: -ratio[name],
        lambda name: known[name][0] * ratio[name],
        lambda name: -known[name][1] * ratio[name],
    ]
    chosen = [name for way in ways for name in sorted(known, key=way, reverse=True)[: _CERTIFIED // 4]]
    return list(dict.fromkeys(chosen))


def _named(name: Any, constants: Mapping[Hashable, Fraction]) -> CellName:
    """A cell in words."""
    shape, ends = name
    if len(ends) == 1 and shape[0] == "number" and ends[0] is not None:
        return CellName(_interval("out", *ends[0]), shape, ends)
    known = [constants.get((shape, place, cell)) for place, cell in enumerate(ends)]
    numbers = iter("#" if one is None else f"{float(one):.8g}" for one in known)
    told = [
        _interval(f"number {place} of it", *cell)
        for place, (cell, one) in enumerate(zip(ends, known, strict=True))
        if one is None and cell not in (None, (None, None))
    ]
    return CellName(" and ".join([f"out is {_shape_text(shape, numbers)}", *told]), shape, ends)


def _interval(what: str, low: Fraction | None, high: Fraction | None) -> str:
    left = "" if low is None else f"{float(low):.8g} <= "
    return f"{left}{what}{'' if high is None else f' < {float(high):.8g}'}"


def _shape_text(shape: Any, numbers: Iterator[str]) -> str:
    if shape[0] == "number":
        return next(numbers)
    if shape[0] == "seen":
        return repr(shape[1])
    if shape[0] == "observed":
        return f"{shape[1]} {_shape_text(shape[2], numbers)}"
    return f"({', '.join(_shape_text(part, numbers) for part in shape[1])})"
