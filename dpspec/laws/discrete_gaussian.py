"""Shifts of discrete Gaussian noise: two tails decide the hockey stick."""

from __future__ import annotations

import math
from fractions import Fraction

import attrs
from flint import arb, ctx, fmpq

from dpspec.exact import Bracket, Number, ball, dyadic, number
from dpspec.laws.balls import Cells
from dpspec.laws.dichotomy import INFINITE, Dichotomy, gain_of
from dpspec.laws.integers import DiscreteGaussian, gaussian_normaliser, gaussian_sums, theta_log_ratio
from dpspec.laws.numeric import exponential
from dpspec.laws.tails import LocationSandwich

_WALK = 64
_FEW = 8
_NEAR = 1 / 16
_LARGEST = 700
"""Where e^epsilon leaves the range of doubles."""
_ROOT_TWO = math.sqrt(2)


@attrs.frozen
class DiscreteGaussianShift(Dichotomy):
    """Two discrete Gaussians of one variance at integer centers `shift` apart.

    D_alpha = alpha shift^2 / (2 variance) + ln(Z(theta) / Z(0)) / (alpha - 1), where Z(theta) is the normaliser of the lattice
    displaced by theta = (alpha - 1) shift. Z(theta) <= Z(0), with equality when theta is an integer; so
    D_alpha / alpha <= shift^2 / (2 variance), with equality at integer orders and in the limit 1 (B-S14).

    >>> str(DiscreteGaussianShift(3, Fraction(4)).concentration())
    '9/8'
    """

    shift: int
    variance: Fraction

    def reverse(self) -> DiscreteGaussianShift:
        return self

    @property
    def is_linear_in_order(self) -> bool:
        return True

    @property
    def _rate(self) -> Fraction:
        return self.shift**2 / (2 * self.variance)

    @property
    def _picture(self) -> LocationSandwich:
        near, far = DiscreteGaussian(0, self.variance), DiscreteGaussian(abs(self.shift), self.variance)
        return LocationSandwich.of_parts(near.parts(), far.parts())

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        return INFINITE

    def singular_mass(self, *, precision: int = 64) -> Bracket:
        return Bracket.exactly(0)

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        """By two tails, with more bits until there is one that counts: far out the tails are small, and known to 2^-bits only."""
        for working in (precision + 64, 8 * precision, 64 * precision):
            found = self._from_tails(epsilon, working)
            if found.lower > 0:
                break
        return found

    def _from_tails(self, epsilon: Number, working: int) -> Bracket:
        shift = abs(self.shift)
        with ctx.workprec(working):
            cut = ball(Fraction(shift, 2)) - epsilon.enclose(working) * ball(self.variance / shift)
            factor = exponential(epsilon, working)
            last = {math.ceil(dyadic(end)) - 1 for end in (cut.lower(), cut.upper())}
            norm = gaussian_normaliser(self.variance, working)
            return gain_of([(p / norm, q / norm) for p, q in (self._below(m, working) for m in last)], factor)

    def _epsilon_at(self, delta: Fraction, precision: int) -> Bracket:
        """ln((P(X <= m) - delta) / Q(X <= m)) for the m between whose loss and the next one it lies."""
        shift = abs(self.shift)
        working = precision + 64 + delta.denominator.bit_length()
        m = self._guess(math.log(delta.numerator) - math.log(delta.denominator), shift)
        with ctx.workprec(working):
            rate = self._rate_ball()
            spent = ball(delta) * gaussian_normaliser(self.variance, working)
            p, q = self._below(m, working)
            for _ in range(_WALK):
                epsilon = ((p - spent) / q).log() if p > spent else arb.neg_inf()
                if not epsilon > rate * (shift * (2 * m + 2 - shift)):
                    m += 1
                    p, q = p + (rate * (m * m)).exp(), q + (rate * (m - shift) ** 2).exp()
                elif not epsilon < rate * (shift * (2 * m - shift)):
                    p, q = p - (rate * (m * m)).exp(), q - (rate * (m - shift) ** 2).exp()
                    m -= 1
                else:
                    return Bracket.around(epsilon, least=0)
        return Dichotomy._epsilon_at(self, delta, precision)

    def _below(self, m: int, precision: int) -> tuple[arb, arb]:
        """P(X <= m) and Q(X <= m), times the normaliser: these are the masses of the losses from the one at m on."""
        shift = abs(self.shift)
        far = gaussian_sums(self.variance, shift - m, precision)
        if shift > _FEW:
            return gaussian_sums(self.variance, -m, precision), far
        rate = self._rate_ball()
        return sum(((rate * (k * k)).exp() for k in range(-m, shift - m)), far), far

    def _rate_ball(self) -> arb:
        """-1/(2 variance): the loss at k is this times shift (2 k - shift)."""
        return arb(fmpq(-self.variance.denominator, 2 * self.variance.numerator))

    def _guess(self, log_delta: float, shift: int) -> int:
        """About the m of a delta: Newton's method on the logarithm of the Gaussian curve, from the right, in doubles."""
        variance = float(self.variance)
        root = shift / math.sqrt(variance)
        epsilon = root * root / 2 + root * math.sqrt(-2 * log_delta)
        for _ in range(_WALK):
            if epsilon > _LARGEST:
                break
            near = math.erfc((epsilon / root - root / 2) / _ROOT_TWO) / 2
            far = math.exp(epsilon) * math.erfc((epsilon / root + root / 2) / _ROOT_TWO) / 2
            if not 0 < far < near:
                break
            step = (math.log(near - far) - log_delta) * (near - far) / far
            epsilon += step
            if abs(step) * variance < _NEAR * shift:
                break
        return math.floor(shift / 2 - epsilon * variance / shift)

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        offset = (order - 1) * self.shift
        if offset.denominator == 1:
            return Bracket.exactly(order * self._rate)
        working = 2 * precision + 64
        with ctx.workprec(working):
            value = ball(order * self._rate) + theta_log_ratio(self.variance, offset, working) / ball(order - 1)
            bracket = Bracket.around(value, least=0)
        return Bracket(lower=bracket.lower, upper=min(bracket.upper, number(order * self._rate)))

    def _concentration(self, precision: int) -> Bracket:
        return Bracket.exactly(self._rate)

    def cells(self, precision: int) -> Cells:
        return self._picture.cells(precision)
