"""Convex generators f of f-divergences, and D_f(P||Q) = sum q f(p/q) of a pair seen as a dichotomy.

Each is written so that f >= 0 with f(1) = 0, which adds a multiple of t - 1 to the usual form and changes no divergence; outcomes
that are left out then only lower the sum. An outcome with q = 0 counts p f'(inf), one with p = 0 counts q f(0).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction

import attrs
from flint import arb, ctx

from dpspec.errors import ParameterError
from dpspec.exact import INFINITY, ZERO, Bracket, Number, ball, ln, number
from dpspec.laws.balls import Cell
from dpspec.laws.dichotomy import NOTHING, Dichotomy
from dpspec.laws.numeric import positive, rational_exponential, rational_root
from dpspec.laws.sandwich import merge, spread

_LARGEST_EXACT = 512
"""An exact sum has at most this many summands."""


@attrs.frozen(kw_only=True)
class Generator:
    """A convex f on [0, inf) with f(1) = 0 and f >= 0.

    Args:
        name: its usual name.
        at_zero: f(0).
        slope: f'(inf), the limit of f(t)/t.
        term: q f(p/q) of two positive rationals, exactly; None when it has no exact form.
        ball: f(t) of a ball of positive numbers.
        is_symmetric: whether D_f(P||Q) = D_f(Q||P).
        bends_at_one: whether f is straight on no interval around 1, so that D_f(P||Q) = 0 for equal laws alone.
    """

    name: str
    at_zero: Number
    slope: Number
    term: Callable[[Fraction, Fraction], Number | None]
    ball: Callable[[arb], arb]
    is_symmetric: bool = False
    bends_at_one: bool = True

    @property
    def largest(self) -> Number:
        """f(0) + f'(inf): D_f of disjoint laws, and the least c with D_f <= c times the total variation."""
        return self.at_zero + self.slope

    def divergence(self, pair: Dichotomy, precision: int) -> Bracket:
        """D_f(P||Q): exact where every term is, else in a bracket.

        Raises:
            NoRouteError: when the pair has neither finitely many atoms nor cells.
        """
        if pair.is_identical:
            return NOTHING
        if pair.below() is not pair:
            low, high = self.divergence(pair.below(), precision), self.divergence(pair.above(), precision)
            return Bracket(lower=low.lower, upper=high.upper)
        atoms = pair.exact_atoms()
        if atoms is not None:
            return self._of_atoms(atoms, precision)
        with ctx.workprec(precision + 32):
            cells = pair.cells(precision)
            least = sum((self._least(cell) for cell in merge(cells)), arb(0))
            most = sum((self._most(cell) for cell in spread(cells)), arb(0))
            upper = Bracket.around(most, least=0).upper
            return Bracket(lower=min(Bracket.around(least, least=0).lower, upper), upper=upper)

    def binary(self, p: arb, q: arb) -> arb:
        """D_f of the laws (p, 1 - p) and (q, 1 - q)."""
        return self._mass(p, q) + self._mass(1 - p, 1 - q)

    def _of_atoms(self, atoms: Sequence[tuple[Fraction, Fraction]], precision: int) -> Bracket:
        if self.slope.is_infinite and any(not q for _, q in atoms):
            return Bracket.exactly(INFINITY)
        if self.at_zero.is_infinite and any(not p for p, _ in atoms):
            return Bracket.exactly(INFINITY)
        terms = [self._term(p, q) for p, q in atoms] if len(atoms) <= _LARGEST_EXACT else [None]
        known = [term for term in terms if term is not None]
        if len(known) == len(terms):
            return Bracket.exactly(sum(known, ZERO))
        with ctx.workprec(precision + 32):
            return Bracket.around(sum((self._mass(ball(p), ball(q)) for p, q in atoms), arb(0)), least=0)

    def _term(self, p: Fraction, q: Fraction) -> Number | None:
        if not q:
            return self.slope * p
        return self.term(p, q) if p else self.at_zero * q

    def _mass(self, p: arb, q: arb) -> arb:
        """q f(p/q) of two balls; all that is possible where one of them is not known to be positive."""
        if p > 0 and q > 0:
            return q * self.ball(p / q)
        if p.is_zero() or q.is_zero():
            return _times(self.at_zero, q) if p.is_zero() else _times(self.slope, p)
        return (_times(self.slope, p) + _times(self.at_zero, q)).union(arb(0)) if p >= 0 and q >= 0 else arb.pos_inf()

    def _least(self, cell: Cell) -> arb:
        """A lower bound on a cell merged to one atom, by Jensen's inequality."""
        if cell.p > 0 and cell.q > 0:
            return (cell.q * self.ball(cell.p / cell.q)).lower()
        if cell.q.is_zero():
            return _times(self.slope, cell.p).lower()
        return _times(self.at_zero, cell.q).lower() if cell.p.is_zero() else arb(0)

    def _most(self, cell: Cell) -> arb:
        """An upper bound on a cell, by the chord of f over the range of its ratio."""
        low, high = cell.low, cell.high
        if cell.q.is_zero():
            return _times(self.slope, cell.p).upper()
        if cell.p.is_zero():
            return _times(self.at_zero, cell.q).upper()
        if low.is_finite() and high.is_finite():
            return (cell.q * self.ball(low.exp()).max(self.ball(high.exp()))).upper()
        if high.is_finite():
            share = cell.p / high.exp()
            return (_times(self.at_zero, positive(cell.q - share)) + share * self.ball(high.exp())).upper()
        if low.is_finite():
            rest = positive(cell.p - low.exp() * cell.q)
            return (cell.q * self.ball(low.exp()) + _times(self.slope, rest)).upper()
        return (_times(self.at_zero, cell.q) + _times(self.slope, cell.p)).upper()


def _times(factor: Number, mass: arb) -> arb:
    """factor x mass, 0 for a mass of 0."""
    return arb(0) if mass.is_zero() or factor == 0 else factor.enclose(ctx.prec) * mass


# --- the generators by name ----------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class _ByRenyi(Generator):
    """One that is a function of a Renyi divergence, which every pair of laws knows about itself."""

    def divergence(self, pair: Dichotomy, precision: int) -> Bracket:
        if self.name == KL:
            return pair.renyi(1, precision=precision)
        if pair.exact_atoms() is not None:
            return super().divergence(pair, precision)
        found = pair.renyi(2, precision=precision)
        return Bracket(lower=_expm1(found.lower, precision).lower, upper=_expm1(found.upper, precision).upper)


def _expm1(value: Number, precision: int) -> Bracket:
    exact = rational_exponential(value)
    if exact is not None:
        return Bracket.exactly(exact - 1)
    with ctx.workprec(precision + 32):
        return Bracket.around(value.enclose(precision + 32).expm1(), least=0)


def _half(value: arb) -> arb:
    return value / 2


def _squared(value: arb) -> arb:
    """The square also of a ball around 0, which `**` does not give."""
    return value * value


def _hellinger_term(p: Fraction, q: Fraction) -> Number | None:
    root = rational_root(p * q, 2)
    return None if root is None else number((p + q) / 2 - root)


def _jensen_shannon_term(p: Fraction, q: Fraction) -> Number:
    return ln(2 * p / (p + q)) * (p / 2) + ln(2 * q / (p + q)) * (q / 2)


KL = "kl"
_LN2 = ln(2)
_HALF, _ONE = number(Fraction(1, 2)), number(1)

NAMED: dict[str, Generator] = {
    generator.name: generator
    for generator in (
        _ByRenyi(
            name=KL, at_zero=_ONE, slope=INFINITY,
            term=lambda p, q: ln(p / q) * p - p + q, ball=lambda t: t * t.log() - t + 1,
        ),
        _ByRenyi(
            name="chi-squared", at_zero=_ONE, slope=INFINITY,
            term=lambda p, q: number((p - q) ** 2 / q), ball=lambda t: _squared(t - 1),
        ),
        Generator(
            name="hellinger", at_zero=_HALF, slope=_HALF, is_symmetric=True,
            term=_hellinger_term, ball=lambda t: _half(_squared(t.sqrt() - 1)),
        ),
        Generator(
            name="jensen-shannon", at_zero=_LN2 / 2, slope=_LN2 / 2, is_symmetric=True,
            term=_jensen_shannon_term, ball=lambda t: _half(t * t.log() - (1 + t) * _half(1 + t).log()),
        ),
        Generator(
            name="triangular", at_zero=_ONE, slope=_ONE, is_symmetric=True,
            term=lambda p, q: number((p - q) ** 2 / (p + q)), ball=lambda t: _squared(t - 1) / (t + 1),
        ),
        Generator(
            name="total-variation", at_zero=_HALF, slope=_HALF, is_symmetric=True,
            term=lambda p, q: number(abs(p - q) / 2), ball=lambda t: _half(abs(t - 1)),
        ),
    )
}  # fmt: skip
"""The generators that have a name: t ln t, (t - 1)^2, (sqrt(t) - 1)^2 / 2, t ln t / 2 - (1 + t)/2 ln((1 + t)/2),
(t - 1)^2/(t + 1) and |t - 1|/2, each up to a multiple of t - 1."""

PIECEWISE = "piecewise-linear"
Knots = tuple[tuple[Fraction, ...], ...]


@functools.lru_cache(maxsize=256)
def piecewise_linear(knots: Knots) -> Generator:
    """The generator that is linear between its knots (t, f(t)) and goes on straight after the last.

    Raises:
        ParameterError: when the knots are on no convex function on [0, inf) with f(1) = 0.

    >>> hockey_stick = piecewise_linear(((Fraction(0), Fraction(0)), (Fraction(2), Fraction(0)), (Fraction(3), Fraction(1))))
    >>> str(hockey_stick.slope), str(hockey_stick.term(Fraction(3, 4), Fraction(1, 4)))
    ('1', '1/4')
    """
    if len(knots) < 2 or any(len(knot) != 2 for knot in knots) or knots[0][0] != 0:
        raise ParameterError("knots", "must be at least two pairs (t, f(t)), the first at t = 0", "give [[0, 1], [1, 0], [2, 0]]")
    lines = []
    for (t, value), (after, later) in itertools.pairwise(knots):
        if after <= t:
            raise ParameterError("knots", "must have increasing t", value=str(after))
        rise = (later - value) / (after - t)
        lines.append((value - rise * t, rise))
    if any(second[1] < first[1] for first, second in itertools.pairwise(lines)):
        raise ParameterError("knots", "must lie on a convex function", "only convex generators obey data processing")
    if max(a + b for a, b in lines) != 0:
        raise ParameterError(
            "knots", "must give f(1) = 0", "subtract f(1) from every value", value=str(max(a + b for a, b in lines))
        )
    tangent = max(rise for start, rise in lines if start + rise == 0)
    flat = tuple((start + tangent, rise - tangent) for start, rise in lines)

    def term(p: Fraction, q: Fraction) -> Number:
        return number(max(start * q + rise * p for start, rise in flat))

    def of_ball(t: arb) -> arb:
        return functools.reduce(arb.max, (ball(start) + ball(rise) * t for start, rise in flat))

    return Generator(
        name=PIECEWISE, at_zero=number(flat[0][0]), slope=number(flat[-1][1]), term=term, ball=of_ball,
        bends_at_one=len({rise for start, rise in lines if start + rise == 0}) > 1,
    )  # fmt: skip
