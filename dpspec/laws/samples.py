"""Pairs of laws of a release on a random sample of the records (privacy amplification by subsampling).

On a random sample each record takes part with probability q, independently of all others. Let (P, Q) be the laws of a release
without and with one record; then the sampled release has the law P without it, and R = (1 - q) P + q Q with it. All that is known
of (P, R) and (R, P) follows from L = dQ/dP, as dR/dP = 1 - q + q L (Balle, Barthe and Gaboardi 2018; Zhu, Dong and Wang 2022).

With m of n records drawn without replacement, the laws of two releases about data that differ in one record are mixtures
X = (1 - q) P + q Q and X' = (1 - q) P + q Q', q = m/n; any two of P, Q and Q' come from samples that differ in one record. If the
hockey stick of such pairs is at most h(e) in both orders, that of X and X' is at most q h(e') at the order e^e = 1 - q + q e^e',
e >= 0 (Balle, Barthe and Gaboardi 2018, sampling without replacement), which is that of (R, P). `drawn` is the pair with these
hockey sticks in both orders. It is attained where all other records are equal to the one that takes the place of the first.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction

import attrs
from flint import arb, ctx

from dpspec.base.errors import NoFormulaError
from dpspec.base.exact import INFINITY, ZERO, Bracket, Number, ln, number
from dpspec.base.log_linear import ball
from dpspec.laws.atoms import Between, FiniteDichotomy
from dpspec.laws.dichotomy import NOTHING, WORK_OF_A_FORMULA, Cell, Cells, Dichotomy, exact_atoms_of, growth_of
from dpspec.laws.integers import DiscreteGaussianLaw, DiscreteGaussianShift
from dpspec.laws.moments import RatioMean, is_refined, mean
from dpspec.laws.numeric import ball_exponential, rational_exponential

MOST_ORDER = 64
"""Moments of integer orders up to this are summed up, for pairs of which no more is known than their Renyi divergences."""

_GUARD = 64
_TURNS = 4
"""The number of times that the precision is doubled until a moment is known well: the first moments cancel under subsampling."""


def sampled(pair: Dichotomy, rate: Fraction) -> Dichotomy:
    """The pair (P, R) for the laws (P, Q) without and with a record that takes part with a probability.

    >>> from dpspec.laws.law import FiniteLaw
    >>> pair = FiniteLaw.bernoulli("1/4").against(FiniteLaw.bernoulli("3/4"))
    >>> str(sampled(pair, Fraction(1, 2)).max_log_ratio()), str(sampled(pair, Fraction(1, 2)).reverse().max_log_ratio())
    ('ln(3/2)', 'ln(2)')
    """
    if rate == 1 or pair.is_identical:
        return pair
    atoms = exact_atoms_of(pair)
    if atoms is not None:
        return FiniteDichotomy.of((p, (1 - rate) * p + rate * q) for p, q in atoms)
    return Sampled(pair=pair, rate=rate)


@attrs.frozen(kw_only=True, eq=False)
class Sampled(Dichotomy):
    """(P, R), or (R, P) where it is turned round.

    Args:
        pair: (P, Q).
        rate: q, below 1.
        is_turned: whether it is (R, P).
    """

    pair: Dichotomy
    rate: Fraction
    is_turned: bool = False

    @property
    def is_identical(self) -> bool:
        return self.rate == 0

    def signature(self) -> Hashable:
        return Sampled, self.pair.signature(), self.rate, self.is_turned

    @property
    def work(self) -> int:
        return self.pair.work + WORK_OF_A_FORMULA

    def reverse(self) -> Dichotomy:
        return attrs.evolve(self, is_turned=not self.is_turned)

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        """ln(1 - q + q e^M), M = sup ln(dQ/dP), the one way; -ln(1 - q + q e^-M), M = sup ln(dP/dQ), the other."""
        if self.is_identical:
            return NOTHING
        if self.is_turned:
            return _mapped(self.pair.reverse().max_log_ratio(precision=precision), self._mixed, precision)
        return _mapped(self.pair.max_log_ratio(precision=precision), self._mixed_back, precision)

    def singular_mass(self, *, precision: int = 64) -> Bracket:
        return self.pair.reverse().singular_mass(precision=precision).scaled(self.rate) if self.is_turned else NOTHING

    def _mixed(self, loss: Number, precision: int) -> Bracket:
        """ln(1 - q + q e^loss)."""
        if loss.is_infinite:
            return Bracket.exactly(INFINITY)
        power = rational_exponential(loss)
        if power is not None:
            return Bracket.exactly(ln(1 - self.rate + self.rate * power))
        with ctx.workprec(precision + 64):
            return Bracket.around((1 + ball(self.rate) * (ball_exponential(loss, precision + 64) - 1)).log(), least=0)

    def _mixed_back(self, loss: Number, precision: int) -> Bracket:
        """-ln(1 - q + q e^-loss)."""
        if loss.is_infinite:
            return Bracket.exactly(ln(1 / (1 - self.rate)))
        power = rational_exponential(loss)
        if power is not None:
            return Bracket.exactly(ln(1 / (1 - self.rate + self.rate / power)))
        with ctx.workprec(precision + 64):
            return Bracket.around(-(1 + ball(self.rate) * (1 / ball_exponential(loss, precision + 64) - 1)).log(), least=0)

    def cells(self, precision: int) -> Cells:
        """The cells of (P, Q), each with its probability under R."""
        with ctx.workprec(precision + 32):
            rate = ball(self.rate)
            found = tuple(_on_sample(cell, rate) for cell in self.pair.cells(precision))
            return tuple(cell.turned() for cell in found) if self.is_turned else found

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        """q H(e^s) of (Q, P) the one way, (1 - (1 - q) e^epsilon) H(e^s) of (P, Q) the other, each at another s.

        Of (R, P) it is 1 - e^epsilon below ln(1 - q), the least loss.
        """
        inner = self.pair.reverse() if self.is_turned else self.pair
        factor = rational_exponential(epsilon)
        if factor is not None:
            weight = self.rate if self.is_turned else 1 - factor * (1 - self.rate)
            if weight <= 0:
                return NOTHING
            at = (factor - 1 + self.rate) / weight if self.is_turned else factor * self.rate / weight
            if at <= 0:  # dR/dP is 1 - q at least
                return Bracket.exactly(1 - factor)
            return inner.hockey_stick(ln(at), precision=precision).scaled(weight)
        with ctx.workprec(precision + 64):
            power, rate = ball_exponential(epsilon, precision + 64), ball(self.rate)
            scale = rate if self.is_turned else 1 - power * (1 - rate)
            if not scale > 0:
                return NOTHING if scale <= 0 else Bracket(lower=ZERO, upper=number(1))
            loss = ((power - 1 + rate) if self.is_turned else power * rate) / scale
            if not loss > 0:
                whole = Bracket.around(1 - power, least=0)
                return whole if loss <= 0 else Bracket(lower=whole.lower, upper=number(1))
            span = Bracket.around(loss.log())
            most, least = (inner.hockey_stick(end, precision=precision) for end in (span.lower, span.upper))
            return Bracket.around(scale * _ball_of(least.lower, most.upper), least=0)

    def _epsilon_at(self, delta: Fraction, precision: int) -> Bracket:
        if self.is_turned:
            return _mapped(self.pair.reverse().epsilon_at(delta / self.rate, precision=precision), self._mixed, precision)
        top = self.max_log_ratio(precision=precision).upper
        return _first_within(lambda epsilon: self.hockey_stick(epsilon, precision=precision), delta, top, precision)

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        """By the moments of w = dR/dP, and at most that of the pair, of which R is a mixture."""
        turned = self.pair.reverse() if self.is_turned else self.pair
        most = turned.renyi(order, precision=precision).upper
        try:
            found = _divergence(self.pair, self.rate, order, precision, is_turned=self.is_turned)
        except NoFormulaError:
            found = None
        if found is None and self.is_turned:
            found = self._by_integer_orders(order, precision)
        if found is None:
            return Bracket(lower=ZERO, upper=most)
        return Bracket(lower=found.lower, upper=max(found.lower, min(found.upper, most)))

    def _by_integer_orders(self, order: Fraction, precision: int) -> Bracket | None:
        """Between those of the integers around an order: (alpha - 1) D_alpha is convex, and D_alpha rises."""
        low, high = math.floor(order), math.ceil(order)
        if high > MOST_ORDER:
            return None
        after = self._binomial(max(high, 2), precision)
        if after is None or order in (high, 1):
            return after if order > 1 or after is None else Bracket(lower=ZERO, upper=after.upper)
        before = self._binomial(low, precision) if low > 1 else NOTHING
        if before is None:
            return None
        with ctx.workprec(precision + _GUARD):
            share = ball((order - low) / (high - low))
            ends = [ball(Fraction(at - 1)) * known.upper.enclose(ctx.prec) for at, known in ((low, before), (high, after))]
            upper = ((1 - share) * ends[0] + share * ends[1]) / ball(order - 1)
            return Bracket(lower=before.lower, upper=max(before.lower, Bracket.around(upper, least=0).upper))

    def _binomial(self, order: int, precision: int) -> Bracket | None:
        """The divergence of (R, P) at an integer order from those of the pair, by the binomial sum."""
        turned = self.pair.reverse()
        moments = [turned.renyi(power, precision=precision) for power in range(2, order + 1)]
        if any(moment.upper.is_infinite for moment in moments):
            return None
        with ctx.workprec(precision + _GUARD):
            rate, total = ball(self.rate), arb(0)
            for power in range(order + 1):
                term = arb(1) if power < 2 else ((power - 1) * _ball_of(moments[power - 2].lower, moments[power - 2].upper)).exp()
                total += math.comb(order, power) * (1 - rate) ** (order - power) * rate**power * term
            return Bracket.around(total.log() / ball(Fraction(order - 1)), least=0)

    def _concentration(self, precision: int) -> Bracket:
        """At most that of the pair: the divergence of a mixture from one of its parts is at most that of the other part.

        Of (R, P) for Gaussian laws it is no less: D_alpha(R, P) >= D_alpha(Q, P) + ln(q) alpha / (alpha - 1) for large orders.
        """
        turned = self.pair.reverse() if self.is_turned else self.pair
        most = turned.concentration(precision=precision)
        if self.is_turned and growth_of(turned).is_gaussian:
            return most
        return Bracket(lower=self.renyi(2, precision=precision).lower / 2, upper=most.upper)


def _on_sample(cell: Cell, rate: arb) -> Cell:
    """A cell of (P, R) from that of (P, Q): ln(dP/dR) = -ln(1 - rate + rate dQ/dP) rises with ln(dP/dQ)."""
    low = -(1 - rate + rate * (-cell.low).exp()).log() if cell.low.is_finite() else arb.neg_inf()
    high = -(1 - rate + rate * (-cell.high).exp()).log() if cell.high.is_finite() else -(1 - rate).log()
    return Cell(cell.p, (1 - rate) * cell.p + rate * cell.q, low.lower(), arb.neg_inf() if cell.p.is_zero() else high.upper())


def _divergence(pair: Dichotomy, rate: Fraction, order: Fraction, precision: int, *, is_turned: bool) -> Bracket | None:
    """D_alpha of (R, P), or of (P, R): ln(E_P w^alpha) / (alpha - 1), or ln(E_P w^(1 - alpha)) / (alpha - 1)."""
    if order == 1:
        logarithm = RatioMean(Fraction(is_turned), is_log=True)
        return _known_well(pair, lambda working: mean(pair, rate, logarithm, working), precision)
    function = RatioMean(order if is_turned else 1 - order)
    return _known_well(pair, lambda working: mean(pair, rate, function, working).log() / ball(order - 1), precision)


def _known_well(pair: Dichotomy, value: Callable[[int], arb], precision: int) -> Bracket | None:
    """A value of at least 0 to about the requested number of bits, with a higher precision where it cancels; None if unknown."""
    best: Bracket | None = None
    for turn in range(_TURNS if is_refined(pair) else 1):
        working = (precision + _GUARD) << turn
        with ctx.workprec(working):
            found = value(working)
            if not found.is_finite():
                continue
            best = Bracket.around(found, least=0)
            if found.rel_accuracy_bits() > precision // 2:
                break
    return best


def drawn(pair: Dichotomy, rate: Fraction) -> Dichotomy:
    """The bounding pair of samples of a fixed size, whose share is `rate`, in both orders, where samples differ as (P, Q) or (Q,
    P).

    From below by (R, P) and (P, R), the laws of two datasets; from above by the least pair above both.

    >>> from dpspec.laws.law import FiniteLaw
    >>> pair = FiniteLaw.bernoulli("1/4").against(FiniteLaw.bernoulli("1/2"))
    >>> str(drawn(pair, Fraction(1, 2)).max_log_ratio()), str(drawn(pair, Fraction(1, 2)).hockey_stick(0))
    ('ln(3/2)', '1/8')
    """
    if pair.is_identical or (rate == 1 and is_symmetric(pair)):
        return pair
    ways = [sampled(way, rate).reverse() for way in ([pair] if is_symmetric(pair) else [pair, pair.reverse()])]
    atoms = exact_atoms_of(pair)
    known = atoms is not None and is_symmetric(pair)
    above = _symmetric(atoms, rate) if known and atoms is not None else FixedSizeSample(pair=pair, rate=rate)
    return Between((*ways, *(way.reverse() for way in ways)), (above,))


def _symmetric(atoms: Sequence[tuple[Fraction, Fraction]], rate: Fraction) -> FiniteDichotomy:
    """The pair of `FixedSizeSample` for a symmetric pair with finitely many outcomes."""
    gains = [((1 - rate) * p + rate * q, p) for p, q in atoms if q > p]
    still = 1 - sum((r + p for r, p in gains), Fraction(0))
    return FiniteDichotomy.of([*gains, *((p, r) for r, p in gains), (still, still)])


def is_symmetric(pair: Dichotomy) -> bool:
    """Whether (Q, P) is known to be the same pair as (P, Q)."""
    atoms = exact_atoms_of(pair)
    return pair.reverse() is pair if atoms is None else sorted(atoms) == sorted((q, p) for p, q in atoms)


@attrs.frozen(kw_only=True, eq=False)
class FixedSizeSample(Dichotomy):
    """The least pair above (R, P) and (P, R), for (P, Q) and for (Q, P): its hockey stick is the largest of theirs.

    Of a symmetric pair that is the one of (R, P) from 0 on, so that the losses are those of (R, P) above 0, the same turned
    round, and 0 with the probability that is left. Of other pairs, what is no hockey stick is bounded by that of the samples
    themselves: X and X' are mixtures, with the same weights, of laws that are no farther apart.

    Args:
        pair: (P, Q).
        rate: m/n.
    """

    pair: Dichotomy
    rate: Fraction

    @property
    def is_identical(self) -> bool:
        return self.rate == 0

    def signature(self) -> Hashable:
        return FixedSizeSample, self.pair.signature(), self.rate

    @property
    def work(self) -> int:
        return 2 * self.pair.work + WORK_OF_A_FORMULA

    def reverse(self) -> Dichotomy:
        return self

    def _larger(self, functional: Callable[[Dichotomy], Bracket]) -> Bracket:
        """The larger one of both orders of the samples' pair, with the record that is sampled with the given probability."""
        ways = (self.pair, self.pair.reverse())
        return functools.reduce(Bracket.__or__, (functional(sampled(way, self.rate).reverse()) for way in ways))

    def still(self, precision: int) -> arb:
        """The mass of the losses 0 of a symmetric pair of noise: P(L = 1) + (1 - q) TV(P, Q)."""
        with ctx.workprec(precision + _GUARD):
            apart = self.pair.total_variation(precision=precision)
            even = arb(0)
            if isinstance(self.pair, DiscreteGaussianShift) and self.pair.shift % 2 == 0:
                even = DiscreteGaussianLaw(0, self.pair.variance).mass(abs(self.pair.shift) // 2, precision)
            return even + ball(1 - self.rate) * _ball_of(apart.lower, apart.upper)

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        return self._larger(lambda way: way.max_log_ratio(precision=precision))

    def singular_mass(self, *, precision: int = 64) -> Bracket:
        return self._larger(lambda way: way.singular_mass(precision=precision))

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        """Below 0 by H(e^epsilon) = 1 - e^epsilon + e^epsilon H(e^-epsilon), as both orders are alike."""
        if epsilon >= 0:
            return self._larger(lambda way: way.hockey_stick(epsilon, precision=precision))
        beyond = self.hockey_stick(-epsilon, precision=precision)
        with ctx.workprec(precision + 64):
            factor = ball_exponential(epsilon, precision + 64)
            return Bracket.around(1 - factor + factor * _ball_of(beyond.lower, beyond.upper), least=0)

    def _epsilon_at(self, delta: Fraction, precision: int) -> Bracket:
        return self._larger(lambda way: way.epsilon_at(delta, precision=precision))

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        most = (self.pair.renyi(order, precision=precision) | self.pair.reverse().renyi(order, precision=precision)).upper
        found = self._by_moments(order, precision) if is_symmetric(self.pair) else None
        return Bracket(lower=ZERO, upper=most if found is None else min(most, found.upper))

    def _by_moments(self, order: Fraction, precision: int) -> Bracket | None:
        """E_P (w^alpha + w^(1 - alpha)) over L > 1, and the mass of the losses 0; for alpha = 1 E_P (w ln w - ln w)."""
        powers = (order, 1 - order)

        def value(working: int) -> arb:
            functions = [RatioMean(power, is_log=order == 1) for power in powers]
            moment = sum((mean(self.pair, self.rate, f, working, above_one=True) for f in functions), arb(0))
            return moment if order == 1 else (moment + self.still(working)).log() / ball(order - 1)

        try:
            return _known_well(self.pair, value, precision)
        except NoFormulaError:
            return None

    def _concentration(self, precision: int) -> Bracket:
        most = (self.pair.concentration(precision=precision) | self.pair.reverse().concentration(precision=precision)).upper
        return Bracket(lower=ZERO, upper=most)


def _mapped(bracket: Bracket, function: Callable[[Number, int], Bracket], precision: int) -> Bracket:
    """The image of a bracket under a function that grows."""
    low = function(bracket.lower, precision)
    return low if bracket.is_exact else Bracket(lower=low.lower, upper=function(bracket.upper, precision).upper)


def _ball_of(lower: Number, upper: Number) -> arb:
    precision = int(ctx.prec)
    return lower.enclose(precision).union(upper.enclose(precision))


def _first_within(stick: Callable[[Number], Bracket], delta: Fraction, top: Number, precision: int) -> Bracket:
    """The least epsilon from 0 to a finite `top` at which a falling function is at most delta, by halving."""
    if stick(ZERO).upper <= delta:
        return NOTHING
    if top.is_infinite:
        return Bracket(lower=ZERO, upper=top)
    low, high = Fraction(0), Bracket.around(top.enclose(precision)).upper.as_fraction()
    while (high - low) * (1 << precision) > 1:
        middle = (low + high) / 2
        value = stick(number(middle))
        if value.upper <= delta:
            high = middle
        elif value.lower > delta:
            low = middle
        else:
            break
    return Bracket(lower=number(low), upper=min(number(high), top))
