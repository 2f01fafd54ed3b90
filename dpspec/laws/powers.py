"""Powers of a dichotomy: one pair, released independently many times."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import attrs
from flint import arb, ctx

from dpspec.exact import Bracket, Number, ball, dyadic
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.binomial import binomial_tail
from dpspec.laws.convolved import Convolved
from dpspec.laws.cumulant import Cumulant, Derivatives
from dpspec.laws.dichotomy import Dichotomy, gain_of
from dpspec.laws.numeric import exponential, hull
from dpspec.laws.sandwich import Between
from dpspec.laws.shifts import GaussianShift

_MOST_BITS = 1 << 20
"""Finite pairs are multiplied out exactly as long as their weights stay below this many bits in all."""


def power(pair: Dichotomy, times: int) -> Dichotomy:
    """The pair, released `times` >= 1 times, in its simplest form.

    >>> power(FiniteDichotomy((3, 1), (1, 3), 4, 4), 2).atoms()
    ((Fraction(9, 16), Fraction(1, 16)), (Fraction(3, 8), Fraction(3, 8)), (Fraction(1, 16), Fraction(9, 16)))
    """
    if times == 1 or pair.is_identical:
        return pair
    if isinstance(pair, Between) and pair.below() is not pair:
        return Between(*(tuple(power(end, times) for end in ends) for ends in (pair.lowers, pair.uppers)))
    if isinstance(pair, GaussianShift):
        return GaussianShift(pair.mu_squared * times)
    if isinstance(pair, Power):
        return power(pair.pair, pair.times * times)
    return _finite(pair, times) if isinstance(pair, FiniteDichotomy) else Power(pair, times)


def _finite(pair: FiniteDichotomy, times: int) -> Dichotomy:
    if _bits(pair, times) < _MOST_BITS:
        return _multiplied(pair, times)
    has_two_atoms = len(pair.by_ratio) == 2 and all(p and q for p, q in pair.by_ratio)
    return TwoAtomPower(pair, times) if has_two_atoms else Power(pair, times)


def _bits(pair: FiniteDichotomy, times: int) -> int:
    """About how many bits the merged atoms of a power have."""
    atoms = len(pair.by_ratio)
    return math.comb(times + atoms - 1, atoms - 1) * times * (pair.p_total.bit_length() + pair.q_total.bit_length())


def _multiplied(pair: FiniteDichotomy, times: int) -> FiniteDichotomy:
    if times == 1:
        return pair
    half = _multiplied(pair, times // 2)
    return half.product(half).product(pair) if times % 2 else half.product(half)


@attrs.frozen(eq=False)
class Power(Convolved):
    """One pair, released `times` > 1 times.

    Losses add, so the largest log-ratio, Renyi divergences and their suprema are multiples; the hockey stick is convolved.
    """

    pair: Dichotomy
    times: int

    def releases(self) -> tuple[tuple[Dichotomy, int], ...]:
        return ((self.pair, self.times),)

    def reverse(self) -> Dichotomy:
        return power(self.pair.reverse(), self.times)

    @property
    def is_linear_in_order(self) -> bool:
        return self.pair.is_linear_in_order

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        return self.pair.max_log_ratio(precision=precision).scaled(self.times)

    def singular_mass(self, *, precision: int = 64) -> Bracket:
        mass = self.pair.singular_mass(precision=precision)
        if mass.upper == 0:
            return mass
        with ctx.workprec(precision + 32):
            ends = [1 - (1 - end.enclose(precision + 32)) ** self.times for end in (mass.lower, mass.upper)]
            return Bracket.around(hull(*ends), least=0)

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        return self.pair.renyi(order, precision=precision).scaled(self.times)

    def _concentration(self, precision: int) -> Bracket:
        return self.pair.concentration(precision=precision).scaled(self.times)

    def cumulant(self, precision: int) -> Callable[[int], Cumulant] | None:
        make = self.pair.cumulant(precision)
        return None if make is None else lambda working: _Multiple(make(working), self.times)


@attrs.frozen
class _Multiple(Cumulant):
    """The cumulant of a power."""

    single: Cumulant
    times: int

    @property
    def size(self) -> int:
        return self.single.size

    def value(self, s: arb) -> arb:
        return self.single.value(s) * self.times

    def derivatives(self, s: arb) -> Derivatives:
        first, second, third, fourth = (value * self.times for value in self.single.derivatives(s))
        return first, second, third, fourth


@attrs.frozen(eq=False)
class TwoAtomPower(Power):
    """One pair of two atoms, released n times.

    With X ~ Bin(n, p) under P and Bin(n, q) under Q the loss is l_x = x a + (n - x) b, a > b, and for l_(m-1) <= eps <= l_m

        hockey stick = P(X >= m) - e^eps Q(X >= m).
    """

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        working = precision + 64
        with ctx.workprec(working):
            high, low = self._losses(working)
            place = (epsilon.enclose(working) - low * self.times) / (high - low)
            factor = exponential(epsilon, working)
            least = {math.floor(dyadic(end)) + 1 for end in (place.lower(), place.upper())}
            return gain_of([self._tails(m, working) for m in least], factor)

    def _epsilon_at(self, delta: Fraction, precision: int) -> Bracket:
        """ln((P(X >= m) - delta) / Q(X >= m)) for the m between whose losses it lies, found by halving."""
        working = precision + 64
        with ctx.workprec(working):
            slack = ball(delta)

            def excess(m: int) -> arb:
                p, q = self._tails(m, working)
                return p - self._loss(m, working).exp() * q - slack

            low, high = 0, self.times
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if excess(middle) > 0 else (low, middle)
            if not (excess(low) > 0 and excess(high) < 0):
                return Dichotomy._epsilon_at(self, delta, precision)
            p, q = self._tails(high, working)
            return Bracket.around(((p - slack) / q).log(), least=0)

    def _losses(self, precision: int) -> tuple[arb, arb]:
        one, other = self.pair.cells(precision)
        return (one.p / one.q).log(), (other.p / other.q).log()

    def _loss(self, place: int, precision: int) -> arb:
        high, low = self._losses(precision)
        return high * place + low * (self.times - place)

    def _tails(self, least: int, precision: int) -> tuple[arb, arb]:
        (p, q), _ = self.pair.exact_atoms() or ()
        return binomial_tail(self.times, p, least, precision), binomial_tail(self.times, q, least, precision)
