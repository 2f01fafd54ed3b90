"""Dichotomies with finitely many atoms of exact rational probability: every functional is a finite computation.

Notation: atoms (p_i, q_i); psi(s) = ln sum_i p_i (p_i/q_i)^s = s D_{1+s}(P || Q).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cached_property, cmp_to_key

import attrs
from flint import arb, ctx, fmpq

from dpspec.exact import INFINITY, ZERO, Bracket, Number, ball, ln, number
from dpspec.laws.balls import Cell, Cells
from dpspec.laws.cumulant import AtomSum, Cumulant, supremum
from dpspec.laws.dichotomy import INFINITE, NOTHING, Dichotomy
from dpspec.laws.numeric import exponential, positive, rational_exponential

_EXACT_RENYI_BITS = 1 << 24
"""Integer orders are computed exactly as long as the powers stay below this many bits in all."""

_MOST_JOINED = 1 << 16


@attrs.frozen(eq=False)
class FiniteDichotomy(Dichotomy):
    """Atoms p_i = p_weights[i] / p_total and q_i = q_weights[i] / q_total, all integers.

    The verifier makes millions of these, so making one does no work; what is shared is computed once, on demand.

    >>> pair = FiniteDichotomy((3, 1), (1, 3), 4, 4)
    >>> str(pair.max_log_ratio()), str(pair.concentration()), str(pair.epsilon_at("1/100"))
    ('ln(3)', '1/2*ln(3)', 'ln(74/25)')
    """

    p_weights: tuple[int, ...]
    q_weights: tuple[int, ...]
    p_total: int
    q_total: int

    @classmethod
    def of(cls, pairs: Iterable[tuple[Fraction, Fraction]]) -> FiniteDichotomy:
        """The dichotomy with these probabilities (p, q)."""
        atoms = tuple(pairs)
        p_total = math.lcm(*(p.denominator for p, _ in atoms))
        q_total = math.lcm(*(q.denominator for _, q in atoms))
        return cls(tuple(int(p * p_total) for p, _ in atoms), tuple(int(q * q_total) for _, q in atoms), p_total, q_total)

    # -- structure --------------------------------------------------------------------------------

    @property
    def is_identical(self) -> bool:
        if self.p_total == self.q_total:
            return self.p_weights == self.q_weights
        return all(p * self.q_total == q * self.p_total for p, q in zip(self.p_weights, self.q_weights, strict=True))

    def reverse(self) -> FiniteDichotomy:
        return FiniteDichotomy(self.q_weights, self.p_weights, self.q_total, self.p_total)

    def atoms(self) -> tuple[tuple[Fraction, Fraction], ...]:
        return tuple(
            (Fraction(p, self.p_total), Fraction(q, self.q_total))
            for p, q in zip(self.p_weights, self.q_weights, strict=True)
            if p or q
        )

    @cached_property
    def by_ratio(self) -> tuple[tuple[int, int], ...]:
        """The weights (p, q) with equal likelihood ratios merged, the largest ratio first."""
        merged: dict[tuple[int, int], tuple[int, int]] = {}
        for p, q in zip(self.p_weights, self.q_weights, strict=True):
            common = math.gcd(p, q)
            if common:
                ratio = (p // common, q // common)
                p_before, q_before = merged.get(ratio, (0, 0))
                merged[ratio] = (p_before + p, q_before + q)
        return tuple(sorted(merged.values(), key=cmp_to_key(_by_falling_ratio)))

    def product(self, other: FiniteDichotomy) -> FiniteDichotomy:
        """The pair of product laws; atoms of equal ratio are merged, so that n equal factors stay small."""
        pairs = [(p * r, q * s) for p, q in self.by_ratio for r, s in other.by_ratio]
        joint = FiniteDichotomy(
            tuple(p for p, _ in pairs),
            tuple(q for _, q in pairs),
            self.p_total * other.p_total,
            self.q_total * other.q_total,
        )
        return attrs.evolve(joint, p_weights=tuple(p for p, _ in joint.by_ratio), q_weights=tuple(q for _, q in joint.by_ratio))

    def joined(self, other: Dichotomy) -> Dichotomy | None:
        if not isinstance(other, FiniteDichotomy) or len(self.by_ratio) * len(other.by_ratio) > _MOST_JOINED:
            return None
        return self.product(other)

    def exact_atoms(self) -> tuple[tuple[Fraction, Fraction], ...]:
        return tuple((Fraction(p, self.p_total), Fraction(q, self.q_total)) for p, q in self.by_ratio)

    def cumulant(self, precision: int) -> Callable[[int], Cumulant] | None:
        return self._sum if self.by_ratio[0][1] else None

    def cells(self, precision: int) -> Cells:
        with ctx.workprec(precision + 32):
            return tuple(Cell.atom(arb(p) / self.p_total, arb(q) / self.q_total) for p, q in self.by_ratio)

    # -- functionals ------------------------------------------------------------------------------

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        best_p, best_q = 0, 1
        for p, q in zip(self.p_weights, self.q_weights, strict=True):
            if p * best_q > best_p * q:
                if not q:
                    return INFINITE
                best_p, best_q = p, q
        return Bracket.exactly(ln(Fraction(best_p * self.q_total, best_q * self.p_total)))

    def largest_ratio(self) -> tuple[int, int]:
        """The largest of all p/q and q/p as integers over one another; the lower one is 0 for infinity.

        >>> FiniteDichotomy((1, 1), (1, 3), 2, 4).largest_ratio()
        (4, 2)
        """
        best_p, best_q, least_p, least_q = 0, 1, 1, 0
        for p, q in set(zip(self.p_weights, self.q_weights, strict=True)):
            if p * best_q > best_p * q:
                best_p, best_q = p, q
            if p * least_q < least_p * q:
                least_p, least_q = p, q
        forth = best_p * self.q_total, best_q * self.p_total
        back = least_q * self.p_total, least_p * self.q_total
        return forth if forth[0] * back[1] >= back[0] * forth[1] else back

    def singular_mass(self, *, precision: int = 64) -> Bracket:
        alone = sum(p for p, q in zip(self.p_weights, self.q_weights, strict=True) if not q)
        return Bracket.exactly(Fraction(alone, self.p_total))

    def hockey_stick(self, epsilon: Number | int | float | str | Fraction, *, precision: int = 64) -> Bracket:
        threshold = number(epsilon, "epsilon")
        factor = rational_exponential(threshold)
        if factor is None:
            return Dichotomy.hockey_stick(self, threshold, precision=precision)
        p_scale = self.q_total * factor.denominator
        q_scale = self.p_total * factor.numerator
        gains = (p * p_scale - q * q_scale for p, q in zip(self.p_weights, self.q_weights, strict=True))
        return Bracket.exactly(Fraction(sum(gain for gain in gains if gain > 0), self.p_total * p_scale))

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        with ctx.workprec(precision + 32):
            factor = exponential(epsilon, precision + 32) * ball(Fraction(self.p_total, self.q_total))
            total = arb(0)
            for p, q in self.by_ratio:
                gain = p - factor * q
                if gain < 0:
                    break
                total += positive(gain)
            return Bracket.around(total / self.p_total, least=0)

    def _epsilon_at(self, delta: Fraction, precision: int) -> Bracket:
        # The best event is {dP/dQ > e^epsilon} for the epsilon that is looked for, so threshold events suffice.
        spent = delta.numerator * self.p_total
        p_sum = q_sum = 0
        best_p, best_q = self.p_total * delta.denominator, self.q_total
        for p, q in self.by_ratio:
            p_sum, q_sum = p_sum + p, q_sum + q
            gain = p_sum * delta.denominator - spent
            if gain * best_q > best_p * q_sum:
                if not q_sum:
                    return INFINITE
                best_p, best_q = gain, q_sum
        ratio = Fraction(best_p * self.q_total, best_q * self.p_total * delta.denominator)
        return Bracket.exactly(ln(ratio)) if ratio > 1 else NOTHING

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        if not self.by_ratio[0][1]:
            return INFINITE
        if order == 1:
            return Bracket.exactly(self.relative_entropy)
        bits = sum(p.bit_length() + q.bit_length() for p, q in self.by_ratio)
        if order.denominator == 1 and order * bits < _EXACT_RENYI_BITS:
            power_mean = self._power_sum(int(order))
            return Bracket.exactly(ln(power_mean) / (order - 1))
        with ctx.workprec(precision + 32 + order.numerator.bit_length()):
            exponent = ball(order - 1)
            return Bracket.around(self._sum(ctx.prec).value(exponent) / exponent, least=0)

    def _power_sum(self, order: int) -> Fraction:
        """sum_i p_i^order q_i^(1 - order)."""
        scale = Fraction(self.q_total, self.p_total) ** order / self.q_total
        total = fmpq(0)
        for p, q in self.by_ratio:
            if p:
                total += fmpq(p**order, q ** (order - 1))
        return Fraction(int(total.p), int(total.q)) * scale

    @cached_property
    def relative_entropy(self) -> Number:
        """sum_i p_i ln(p_i / q_i), exactly."""
        if not self.by_ratio[0][1]:
            return INFINITY
        logs = (ln(Fraction(p * self.q_total, q * self.p_total)) * Fraction(p, self.p_total) for p, q in self.by_ratio if p)
        return sum(logs, ZERO)

    def _sum(self, precision: int) -> AtomSum:
        with ctx.workprec(precision):
            shift = ball(Fraction(self.q_total, self.p_total)).log()
            return AtomSum.of((arb(p) / self.p_total, ball(Fraction(p, q)).log() + shift) for p, q in self.by_ratio if p)

    def _concentration(self, precision: int) -> Bracket:
        top = self.max_log_ratio()
        if top.upper.is_infinite:
            return INFINITE
        found = supremum(self._sum, top=top.upper, precision=precision)
        return Bracket.exactly(self.relative_entropy) if found is None else found


def _by_falling_ratio(one: tuple[int, int], two: tuple[int, int]) -> int:
    return two[0] * one[1] - one[0] * two[1]


IDENTICAL = FiniteDichotomy((1,), (1,), 1, 1)
"""The pair of two equal laws."""
