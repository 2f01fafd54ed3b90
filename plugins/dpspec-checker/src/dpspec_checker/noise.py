"""d_Pr of the answers that a change moves, for the checker of proofs: closed forms and rigorous sums of its own.

An answer is one noise and a shift, or a pair of laws on finitely many outcomes, whose probabilities are quotients of sums of
q e^r (q, r rational).
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import attrs
from flint import arb, arb_poly, ctx, fmpq, fmpq_poly

from dpspec_checker.numbers import (
    ExactValue,
    JsonTable,
    UnknownFormula,
    at_most,
    exponential,
    fraction,
    linear,
    need,
    product,
    rational,
    read,
    surely,
)

Moves = Counter[tuple[str, int]]
"""The answers that move: a noise as text, and the shift, or a pair of laws as text, and 0; with multiplicities."""

MOST_OUTCOMES = 20_000
"""Several answers of finitely many outcomes each have at most so many outcomes together."""

MOST_POWERS = 4_000
"""Sums of powers e^(k/d) have at most so many k, from the least to the largest."""

# --- pairs of laws on finitely many outcomes --------------------------------------------------------

Terms = tuple[tuple[Fraction, Fraction], ...]
"""A sum of q e^r, as pairs (r, q) in the order of r."""

_POWER = re.compile(r"(?:([0-9/]+)\*)?e\^\((-?[0-9/]+)\)|([0-9/]+)")
_QUOTIENT = re.compile(r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)/\(([^()]*(?:\([^()]*\)[^()]*)*)\)")


@attrs.frozen
class ExponentialQuotient:
    """A quotient of sums of q e^r in lowest terms, the lower one beginning with 1: equal numbers are written alike."""

    top: Terms
    bottom: Terms

    @classmethod
    def of(cls, top: dict[Fraction, Fraction], bottom: dict[Fraction, Fraction]) -> ExponentialQuotient:
        top, bottom = ({r: q for r, q in terms.items() if q} for terms in (top, bottom))
        if not top:
            return cls((), ((Fraction(0), Fraction(1)),))
        step = Fraction(1, math.lcm(*(r.denominator for r in (*top, *bottom))))
        lows = min(top), min(bottom)
        if max(*(r - lows[0] for r in top), *(r - lows[1] for r in bottom)) > MOST_POWERS * step:
            raise UnknownFormula("powers of e that are too far apart")
        upper, lower = (_polynomial(terms, low, step) for terms, low in zip((top, bottom), lows, strict=True))
        common = upper.gcd(lower)
        upper, lower = upper / common, lower / common
        first = lower.coeffs()[0]
        return cls(_terms(upper / first, lows[0] - lows[1], step), _terms(lower / first, Fraction(0), step))

    @classmethod
    def read(cls, text: str) -> ExponentialQuotient:
        """A number as proofs write it: `1/3`, `2*e^(1/2)`, `(e^(1))/(1 + e^(1))`."""
        if len(text) > MOST_OUTCOMES:
            raise UnknownFormula("a probability that is too long")
        quotient = _QUOTIENT.fullmatch(text)
        top, bottom = (quotient[1], quotient[2]) if quotient else (text, "1")
        return cls.of(_sum(top), _sum(bottom))

    def times(self, other: ExponentialQuotient) -> ExponentialQuotient:
        return ExponentialQuotient.of(_multiplied(self.top, other.top), _multiplied(self.bottom, other.bottom))

    def over(self, other: ExponentialQuotient) -> ExponentialQuotient:
        return ExponentialQuotient.of(_multiplied(self.top, other.bottom), _multiplied(self.bottom, other.top))

    def plus(self, other: ExponentialQuotient) -> ExponentialQuotient:
        top = _multiplied(self.top, other.bottom)
        for power, factor in _multiplied(other.top, self.bottom).items():
            top[power] = top.get(power, Fraction(0)) + factor
        return ExponentialQuotient.of(top, _multiplied(self.bottom, other.bottom))

    @property
    def fraction(self) -> Fraction | None:
        """The number where it is rational."""
        if any(power for power, _ in (*self.top, *self.bottom)):
            return None
        return sum((factor for _, factor in self.top), Fraction(0))

    def ball(self) -> arb:
        one, other = (
            sum((rational(q) * rational(r).exp() for r, q in terms), arb(0)) for terms in (self.top, self.bottom)
        )  # fmt: skip
        return one / other

    def logarithm(self) -> ExactValue:
        """ln of a single q e^r, which may be negative."""
        if len(self.top) != 1 or len(self.bottom) != 1:
            raise UnknownFormula("the logarithm of a sum has no exact form here")
        ((power, factor),) = self.top
        turned = factor < 1
        return linear(
            [(power, ExactValue(Fraction(1))), (Fraction(-1 if turned else 1), read(f"ln({1 / factor if turned else factor})"))]
        )

    def __str__(self) -> str:
        one, other = (" + ".join(f"{q}*e^({r})" for r, q in terms) or "0" for terms in (self.top, self.bottom))
        return f"({one})/({other})"


def _sum(text: str) -> dict[Fraction, Fraction]:
    found: dict[Fraction, Fraction] = {}
    for term in text.split(" + "):
        match = _POWER.fullmatch(term)
        if match is None:
            raise UnknownFormula(f"the probability {term!r} is not known here")
        power, factor = (Fraction(0), Fraction(match[3])) if match[3] else (Fraction(match[2]), Fraction(match[1] or 1))
        found[power] = found.get(power, Fraction(0)) + factor
    return found


def _polynomial(terms: dict[Fraction, Fraction], low: Fraction, step: Fraction) -> fmpq_poly:
    places = {int((r - low) / step): q for r, q in terms.items()}
    return fmpq_poly([fmpq(q.numerator, q.denominator) for q in (places.get(k, Fraction(0)) for k in range(max(places) + 1))])


def _terms(polynomial: fmpq_poly, low: Fraction, step: Fraction) -> Terms:
    rows = ((k, Fraction(int(c.p), int(c.q))) for k, c in enumerate(polynomial.coeffs()))
    return tuple((low + k * step, q) for k, q in rows if q)


def _multiplied(one: Terms, other: Terms) -> dict[Fraction, Fraction]:
    found: dict[Fraction, Fraction] = {}
    for (r, q), (s, t) in itertools.product(one, other):
        found[r + s] = found.get(r + s, Fraction(0)) + q * t
    return found


NEVER, SURE = ExponentialQuotient.of({}, {Fraction(0): Fraction(1)}), ExponentialQuotient.read("1")

FinitePair = tuple[tuple[ExponentialQuotient, ExponentialQuotient], ...]
"""The probabilities of each outcome before and after a change."""


def two_laws(before: JsonTable, after: JsonTable) -> str:
    """Two laws on finitely many outcomes as a text, the same for the same probabilities."""
    sides = [_probabilities(law) for law in (before, after)]
    outcomes = dict.fromkeys([*sides[0], *sides[1]])
    return pair_text([(sides[0].get(t, NEVER), sides[1].get(t, NEVER)) for t in outcomes])


def pair_text(pair: list[tuple[ExponentialQuotient, ExponentialQuotient]]) -> str:
    return json.dumps(sorted([str(p), str(q)] for p, q in pair if p != NEVER or q != NEVER))


def _probabilities(law: JsonTable) -> dict[str, ExponentialQuotient]:
    if law["family"] == "FiniteLaw":
        weights = {t: Fraction(w) for t, w in law["weights"].items()}
        need(sum(weights.values()) == Fraction(law["total"]) > 0, "weights do not add up to their total")
        return {t: ExponentialQuotient.read(str(w / Fraction(law["total"]))) for t, w in weights.items()}
    if law["family"] == "ExponentialLaw":
        found = {t: ExponentialQuotient.read(text) for t, text in law["probabilities"].items()}
        need(functools.reduce(ExponentialQuotient.plus, found.values(), NEVER) == SURE, "probabilities do not add up to 1")
        return found
    raise UnknownFormula(f"two laws of the family {law['family']} are not known here")


@functools.lru_cache(maxsize=1 << 10)
def finite_pair(text: str) -> FinitePair | None:
    """The pair of a text; None where it is the text of a noise."""
    found = json.loads(text)
    return (
        tuple((ExponentialQuotient.read(p), ExponentialQuotient.read(q)) for p, q in found) if isinstance(found, list) else None
    )


def exponential_of(loss: ExactValue) -> ExponentialQuotient:
    """e^loss, for a loss r + ln(q)."""
    factor = exponential(attrs.evolve(loss, plain=Fraction(0)))
    if factor is None or loss.infinite or loss.root:
        raise UnknownFormula(f"e^({loss}) has no exact form here")
    return ExponentialQuotient.of({loss.plain: factor}, {Fraction(0): Fraction(1)})


def response(loss: ExactValue) -> str:
    """Randomised response, from which any two laws can be simulated whose log-ratios lie within a loss (Kairouz, Oh and
    Viswanath 2015, Theorem 2)."""
    odds = exponential_of(loss)
    high, low = odds.over(odds.plus(SURE)), SURE.over(odds.plus(SURE))
    return pair_text([(high, low), (low, high)])


def sketch_pair(epsilon: ExactValue, share: Fraction) -> str:
    """The laws of a count mean sketch of two categories that a share of the hash functions distinguish (Apple Differential
    Privacy Team 2017): share p^2 and share (1 - p)^2 for p = e^(epsilon/2) / (e^(epsilon/2) + 1).
    """
    odds, part = exponential_of(linear([(Fraction(1, 2), epsilon)])), ExponentialQuotient.read(str(share))
    whole = odds.plus(SURE).times(odds.plus(SURE))
    most, least = odds.times(odds).over(whole).times(part), SURE.over(whole).times(part)
    neither = ExponentialQuotient.read(str(1 - share)).plus(odds.plus(odds).over(whole).times(part))
    return pair_text([(most, least), (least, most), (neither, neither)])


# --- divergences ------------------------------------------------------------------------------------


def noise_text(law: JsonTable) -> str:
    """A noise whatever it is added to."""
    return json.dumps({key: value for key, value in law.items() if key != "center"}, sort_keys=True)


def _law(noise: str) -> JsonTable:
    found: JsonTable = json.loads(noise)
    return found


def _pure(case: Moves) -> ExactValue:
    """The largest log-likelihood ratio: |shift| times the decay of each Laplace or geometric noise."""
    parts = []
    for (noise, shift), times in case.items():
        law = _law(noise)
        if isinstance(law, list):
            parts.append((Fraction(times), _largest_ratio(noise)))
        elif law["family"] in ("LaplaceLaw", "TwoSidedGeometricLaw"):
            parts.append((Fraction(abs(shift) * times), read(law["decay"])))
        elif law["family"] in ("GaussianLaw", "DiscreteGaussianLaw"):
            return ExactValue(infinite=True)
        else:
            raise UnknownFormula(f"noise of the family {law['family']} is not known here")
    if any(value.infinite for _, value in parts):
        return ExactValue(infinite=True)
    if any(value.root for _, value in parts):
        raise UnknownFormula("a sum of roots has no exact form here")
    return linear(parts)


def _pairs(case: Moves) -> list[tuple[FinitePair, int]]:
    """The answers of finitely many outcomes, each with how often it moves."""
    found = ((finite_pair(noise), times) for (noise, _), times in case.items())
    return [(pair, times) for pair, times in found if pair is not None]


def _turned(case: Moves) -> Moves:
    """The same answers after and before; a shifted noise is its own mirror image."""
    return Counter({
        (noise if (pair := finite_pair(noise)) is None else pair_text([(q, p) for p, q in pair]), shift): times
        for (noise, shift), times in case.items()
    })  # fmt: skip


def _ways(case: Moves) -> tuple[Moves, ...]:
    """The case, and after and before where that is not its mirror image."""
    return (case, _turned(case)) if _pairs(case) else (case,)


def _largest_ratio(text: str) -> ExactValue:
    """The largest log-ratio of two laws on finitely many outcomes."""
    pair = finite_pair(text) or ()
    if any((p == NEVER) != (q == NEVER) for p, q in pair):
        return ExactValue(infinite=True)
    logs = [p.over(q).logarithm() for p, q in pair]
    losses = [*logs, *(linear([(Fraction(-1), loss)]) for loss in logs)]
    return next(loss for loss in losses if all(at_most(other, loss) for other in losses))


def _concentrated(case: Moves) -> ExactValue:
    """rho: shift^2 / (2 variance) of each Gaussian, discrete or not (Canonne, Kamath and Steinke 2020, Proposition 5)."""
    parts = []
    for (noise, shift), times in case.items():
        law = _law(noise)
        family = "" if isinstance(law, list) else law["family"]
        if family == "DiscreteGaussianLaw":
            parts.append((Fraction(shift**2 * times, 2) / fraction(law["variance"]), ExactValue(Fraction(1))))
        elif family == "GaussianLaw":
            parts.append((Fraction(shift**2 * times, 2), read(law["accuracy"])))
        else:
            raise UnknownFormula(f"the concentration of noise of the family {family} is not known here")
    if any(value.root for _, value in parts):
        raise UnknownFormula("a sum of roots has no exact form here")
    return linear(parts)


LOSSES: dict[str, Callable[[Moves], ExactValue]] = {"mult": _pure, "d-nor": _concentrated}
"""What adds up over independent answers."""

Quantity = ExactValue | Callable[[], arb]
"""A number: exactly, or enclosed at the working precision."""

Shown = Callable[[Moves, Fraction, ExactValue], bool]
"""Whether a number of times d_Pr of a case is seen to be at most a bound."""


def is_below(value: Quantity, bound: ExactValue) -> bool:
    """Whether a number is at most a bound."""
    if isinstance(value, ExactValue):
        return at_most(value, bound)
    return bound.infinite or _decided(lambda: value() < bound.ball(), lambda: value() > bound.ball())


def is_above(value: Quantity, bound: ExactValue) -> bool:
    """Whether a number is at least a bound."""
    if isinstance(value, ExactValue):
        return at_most(bound, value)
    return not bound.infinite and _decided(lambda: value() > bound.ball(), lambda: value() < bound.ball())


def divergence_below(chosen: JsonTable, rate: Fraction) -> Shown:
    kind = chosen["type"]
    if rate < 1 and kind not in ("mult", "mult-delta"):
        raise UnknownFormula(f"{kind} of a sample is not known here")
    if kind == "mult":
        return _mult if rate == 1 else _mult_of_sample(rate)
    if kind == "d-nor":
        return _d_nor
    if kind == "renyi":
        order = fraction(chosen["order"])
        return lambda case, times, bound: (
            _once(times) and all(is_below(_renyi(way, order), bound) for way in _ways(case))
        )
    if kind == "total-variation":
        return lambda case, times, bound: _excess_below(case, ExactValue(), linear([(1 / times, bound)]), rate)
    if kind == "mult-delta":
        delta = fraction(chosen["delta"])
        return lambda case, times, bound: _once(times) and _excess_below(case, bound, ExactValue(delta), rate)
    if kind == "hockey-stick":
        return lambda case, times, bound: _once(times) and _excess_below(case, read(chosen["epsilon"]), bound, rate)
    raise UnknownFormula(f"the output divergence {kind} is not known here")


def _mult(case: Moves, times: Fraction, bound: ExactValue) -> bool:
    loss = _pure(case)
    return at_most(loss if loss.infinite else linear([(times, loss)]), bound)


def _d_nor(case: Moves, times: Fraction, bound: ExactValue) -> bool:
    if case and len(_pairs(case)) == len(case):
        least = product(ExactValue(1 / times), bound)
        rho = None if least is None else least.under() if least.root else product(least, least)
        if rho is None:
            raise UnknownFormula("the square of the bound has no exact form here")
        return all(_curve_below(_pairs(way), rho) for way in (case, _turned(case)))
    root = attrs.evolve(_concentrated(case), root=True)
    scaled = product(ExactValue(times), root)
    return scaled is not None and at_most(scaled, bound)


def _mult_of_sample(rate: Fraction) -> Shown:
    """ln(1 + q (e^L - 1)) (Balle, Barthe and Gaboardi 2018, Theorem 9)."""

    return lambda case, times, bound: is_below(_sampled_loss(_pure(case), times, rate), bound)


def _sampled_loss(loss: ExactValue, times: Fraction, rate: Fraction) -> Quantity:
    """A number of times ln(1 + q (e^L - 1))."""
    if loss.infinite:
        return loss
    ratio = exponential(loss)
    if ratio is not None:
        return linear([(times, read(f"ln({1 + rate * (ratio - 1)})"))])
    return lambda: rational(times) * (1 + rational(rate) * (loss.ball().exp() - 1)).log()


def _renyi(case: Moves, order: Fraction) -> Quantity:
    """The sum over the answers (van Erven and Harremoes 2014, Theorem 28): order times rho for Gaussians, and for P, Q of decay u
    a shift by c, with a the order, the logarithm of the sum of P^a Q^(1-a) over a - 1, where for Laplace noise it is
    a/(2a-1) e^((a-1) u c) + (a-1)/(2a-1) e^(-a u c) (Mironov 2017, Proposition 6), for geometric noise a sum of c + 1 terms.
    """
    gaussian = Counter({move: times for move, times in case.items() if "Gaussian" in move[0]})
    finite = Counter({move: times for move, times in case.items() if finite_pair(move[0]) is not None})
    others = [(_law(noise), abs(shift), times) for (noise, shift), times in (case - gaussian - finite).items()]
    exact = linear([(order, _concentrated(gaussian))])
    sums = [(_moment(pair, order), times) for pair, times in _pairs(finite)]
    if any(moment is None for moment, _ in sums):
        return ExactValue(infinite=True)
    known = [(moment, times) for moment, times in sums if isinstance(moment, Fraction)]
    exact = linear([(Fraction(1), exact), *((times / (order - 1), read(f"ln({m})")) for m, times in known)])
    rest = [(moment, times) for moment, times in sums if callable(moment)]
    if not others and not rest:
        return exact
    if any(isinstance(law, list) or law["family"] not in ("LaplaceLaw", "TwoSidedGeometricLaw") for law, _, _ in others):
        raise UnknownFormula("the Renyi divergence of some noise is not known here")
    a = rational(order)

    def single(law: JsonTable, shift: int) -> arb:
        decay = read(law["decay"]).ball()
        ends = ((a - 1) * decay * shift).exp(), (-a * decay * shift).exp()
        if law["family"] == "LaplaceLaw":
            return (a * ends[0] + (a - 1) * ends[1]) / (2 * a - 1)
        ratio = (-decay).exp()
        inner = sum(((-decay * (a * k + (1 - a) * (shift - k))).exp() for k in range(1, shift)), arb(0))
        return ((ends[0] + ends[1]) / (1 - ratio) + inner) * (1 - ratio) / (1 + ratio)

    def every() -> arb:
        inner = sum((times * single(law, c).log() for law, c, times in others), arb(0))
        inner = sum((times * moment().log() for moment, times in rest), inner)
        return exact.ball() + inner / (a - 1)

    return every


def _moment(pair: FinitePair, order: Fraction) -> Fraction | Callable[[], arb] | None:
    """The sum of P^a Q^(1-a), exactly where it is rational; None where it is infinite."""
    rows = [(p, q) for p, q in pair if p != NEVER]
    if any(q == NEVER for _, q in rows):
        return None
    exact = [(p.fraction, q.fraction) for p, q in rows]
    if order.denominator == 1 and not any(None in row for row in exact):
        return sum((p**order.numerator / q ** (order.numerator - 1) for p, q in exact if p and q), Fraction(0))
    a = rational(order)
    return lambda: sum(((a * p.ball().log() + (1 - a) * q.ball().log()).exp() for p, q in rows), arb(0))


def _curve_below(pairs: list[tuple[FinitePair, int]], rho: ExactValue) -> bool:
    """Whether D_a(P || Q) <= rho a for all a > 1, for independent pairs of laws.

    With s = a - 1 that is f(s) = rho s (s + 1) - K(s) >= 0 for all s > 0, where K(s) is the sum of the logarithms of E_P (P/Q)^s.
    f(0) = 0, and f'(0) = rho - KL(P || Q). Near 0, f'' >= 0 or f' >= 0 is enough; farther away f is bounded by two terms of its
    Taylor series and the range of f''; and beyond s = (sum of the largest log-ratios) / rho - 1 it cannot be negative.
    """
    rows = [([(p, q) for p, q in pair if p != NEVER], times) for pair, times in pairs]
    if any(q == NEVER for pair, _ in rows for _, q in pair):
        return rho.infinite
    if rho.infinite or all(p == q for pair, _ in rows for p, q in pair):
        return True
    means = [(p.fraction, times, p.over(q).logarithm()) for pair, times in rows for p, q in pair]
    if any(p is None for p, _, _ in means):
        raise UnknownFormula("the concentration of two laws of irrational probability is not known here")
    if not at_most(linear([(p * times, loss) for p, times, loss in means if p is not None]), rho):
        return False
    for precision in (64, 256):
        with ctx.workprec(precision):
            seen = _Curve(
                tuple((tuple((p.ball(), p.over(q).ball().log()) for p, q in pair), times) for pair, times in rows), rho.ball()
            )
            if (found := seen.is_positive()) is not None:
                return found
    raise UnknownFormula("the bound is met so closely that no precision decides it")


@attrs.frozen
class _Curve:
    """f(s) = rho s (s + 1) - K(s): the probabilities with their log-ratios, for each pair, how often it moves, and rho."""

    pairs: tuple[tuple[tuple[tuple[arb, arb], ...], int], ...]
    rho: arb

    def at(self, s: arb) -> tuple[arb, arb, arb]:
        """f, f' and f'' on a range."""
        value, slope, bend = self.rho * s * (s + 1), self.rho * (2 * s + 1), 2 * self.rho
        for pair, times in self.pairs:
            weights = [p * (s * loss).exp() for p, loss in pair]
            whole = sum(weights, arb(0))
            losses = [loss for _, loss in pair]
            value -= times * whole.log()
            slope -= times * sum((w * loss for w, loss in zip(weights, losses, strict=True)), arb(0)) / whole
            spread = (
                one * other * (a - b) ** 2
                for (one, a), (other, b) in itertools.combinations(zip(weights, losses, strict=True), 2)
            )  # fmt: skip
            bend -= times * sum(spread, arb(0)) / whole**2
        return value, slope, bend

    def is_positive(self) -> bool | None:
        """Whether f >= 0 on all s > 0; None where that is not seen."""
        tops = (times * functools.reduce(arb.max, (loss for _, loss in pair)) for pair, times in self.pairs)
        end = (sum(tops, arb(0)) / self.rho - 1).upper()
        start = next((arb(2) ** -k for k in range(20) if self._rises(arb(2) ** -k)), None)
        if start is None:
            return None
        waiting, looked = [(start, end)] if end > start else [], 0
        while waiting:
            looked += 1
            low, high = waiting.pop()
            middle, radius = (low + high) / 2, (high - low) / 2
            value, slope, _ = self.at(middle)
            least = self.at(arb(middle.mid(), radius.upper()))[2].lower()
            if value < 0:
                return False
            if value - abs(slope) * radius + least.min(arb(0)) * radius**2 / 2 > 0 or (
                least > 0 and value - slope**2 / (2 * least) > 0
            ):
                continue
            if looked > MOST_OUTCOMES or radius < arb(2) ** -40:
                return None
            waiting += [(low, middle), (middle, high)]
        return True

    def _rises(self, end: arb) -> bool:
        _, slope, bend = self.at(arb(end / 2, end / 2))
        return bool(slope >= 0 or bend >= 0)


def _decided(holds: Callable[[], bool], fails: Callable[[], bool]) -> bool:
    """A strict comparison of balls; what no precision decides is not known."""
    if surely(holds, fails):
        return True
    if surely(fails):
        return False
    raise UnknownFormula("the bound is met so closely that no precision decides it")


def _once(times: Fraction) -> bool:
    if times != 1:
        raise UnknownFormula("bounds of this output divergence do not add up")
    return True


def _excess_below(case: Moves, loss: ExactValue, delta: ExactValue, rate: Fraction) -> bool:
    """Whether P(S) <= e^loss Q(S) + delta for all S, in both directions, at a rate of sampling.

    The mixture (1 - q) P + q Q of what is released without and with the record: against P it is q times the excess of Q over P
    at 1 + (e^loss - 1)/q (Balle, Barthe and Gaboardi 2018, Theorem 2), and P against it is a times that at e^loss q/a, with
    a = 1 - e^loss (1 - q), none where a is not positive.
    """
    if not case or loss.infinite or (delta == ExactValue() and at_most(_pure(case), loss) and rate == 1):
        return True
    if rate == 1 and len(_pairs(case)) == len(case):
        return all(is_below(_of_outcomes(way, loss), delta) for way in (case, _turned(case)))
    least = _least_loss_of_laplace(case, delta) if rate == 1 else None
    if least is not None:
        return at_most(least, loss)
    exact = _exact_excess(case, loss) if rate == 1 else None
    if exact is not None:
        return at_most(ExactValue(max(exact, Fraction(0))), delta)
    forward, backward = _sampled_excess(case, loss, rate)
    return _decided(
        lambda: forward() < delta.ball() and (rate == 1 or backward() < delta.ball()),
        lambda: forward() > delta.ball() or (rate < 1 and backward() > delta.ball()),
    )


def _least_loss_of_laplace(case: Moves, delta: ExactValue) -> ExactValue | None:
    """The least loss at which the excess of one Laplace answer, 1 - e^((loss - pure)/2), is at most delta."""
    rational_delta = delta.plain < 1 and not (delta.logs or delta.root or delta.infinite)
    if case.total() != 1 or "LaplaceLaw" not in next(iter(case))[0] or not rational_delta:
        return None
    return linear([(Fraction(1), _pure(case)), (Fraction(-2), read(f"ln({1 / (1 - delta.plain)})"))])


def _sampled_excess(case: Moves, loss: ExactValue, rate: Fraction) -> tuple[Callable[[], arb], Callable[[], arb]]:
    """The excess of the mixture over what is released without the record, and the other way round."""
    excess = _excess(case)

    def forward() -> arb:
        return rational(rate) * excess((1 + (loss.ball().exp() - 1) / rational(rate)).log())

    def backward() -> arb:
        left = 1 - loss.ball().exp() * rational(1 - rate)
        if left > 0:
            return left * excess((loss.ball().exp() * rational(rate) / left).log())
        return arb(0) if left < 0 or rate == 1 else left.abs_upper()

    return forward, backward


def _of_outcomes(case: Moves, loss: ExactValue) -> Quantity:
    """The sum of what P exceeds e^loss Q by, over the outcomes of all answers together."""
    pairs = [pair for pair, times in _pairs(case) for _ in range(times)]
    if math.prod(map(len, pairs)) > MOST_OUTCOMES:
        raise UnknownFormula("answers with too many outcomes together")
    exact = [[(p.fraction, q.fraction) for p, q in pair] for pair in pairs]
    factor = exponential(loss)
    if factor is not None and not any(None in row for pair in exact for row in pair):
        found = Fraction(0)
        for rows in itertools.product(*exact):
            p, q = (math.prod((row[side] or Fraction(0) for row in rows), start=Fraction(1)) for side in (0, 1))
            found += max(p - factor * q, Fraction(0))
        return ExactValue(found)

    def excess() -> arb:
        balls = [[(p.ball(), q.ball()) for p, q in pair] for pair in pairs]
        gains = (
            math.prod((p for p, _ in rows), start=arb(1)) - loss.ball().exp() * math.prod((q for _, q in rows), start=arb(1))
            for rows in itertools.product(*balls)
        )  # fmt: skip
        return sum((gain.nonnegative_part() for gain in gains), arb(0))

    return excess


def _excess(case: Moves) -> Callable[[arb], arb]:
    """sup over S of P(S) - e^loss Q(S), as a function of the loss."""
    laws = [_law(noise) for noise, _ in case]
    families = {"" if isinstance(law, list) else law["family"] for law in laws}
    if families == {"GaussianLaw"}:  # Balle and Wang 2018, Theorem 8
        rho = _concentrated(case)

        def gaussian(loss: arb) -> arb:
            mu = (2 * rho.ball()).sqrt()
            return _below(mu / 2 - loss / mu) - loss.exp() * _below(-mu / 2 - loss / mu)

        return gaussian
    if families == {"LaplaceLaw"} and case.total() == 1:
        pure = _pure(case)

        def laplace(loss: arb) -> arb:
            rest = 1 - ((loss - pure.ball()) / 2).exp()
            return rest.nonnegative_part()

        return laplace
    if families == {"DiscreteGaussianLaw"} and len({law["variance"] for law in laws}) == 1:
        variance = fraction(laws[0]["variance"])
        return lambda loss: _lattice(variance, [abs(shift) for _, shift in case.elements()], loss)
    if families == {"TwoSidedGeometricLaw"} and case.total() == 1:  # the best event is a cut {X <= k}, by the monotone ratio
        ((_, shift),) = case
        decay = read(laws[0]["decay"])

        def geometric(loss: arb) -> arb:
            return functools.reduce(
                lambda one, other: one.max(other), _cuts((-decay.ball()).exp(), loss.exp(), abs(shift)), arb(0)
            )

        return geometric
    raise UnknownFormula(f"the excess of {case.total()} answers with noise of {', '.join(sorted(families))} is not known here")


def _lattice(variance: Fraction, shifts: list[int], loss: arb) -> arb:
    """The same for discrete Gaussians of one variance: with T the sum of shift times noise, the log-ratio is
    (sum of shift^2 - 2 T) / (2 variance), so that only the law of T is needed; what is far out is bounded.
    """
    last = math.isqrt(int(2 * variance * (ctx.prec + 40))) + 1
    if last * sum(shifts) > MOST_OUTCOMES:
        raise UnknownFormula("discrete Gaussians that are too wide are not known here")
    half = rational(1 / (2 * variance))
    bell = [(-half * k * k).exp() for k in range(last + 1)]
    tail = (-half * (last + 1) ** 2).exp() / (1 - (-2 * half * (last + 1)).exp())  # later terms fall by this ratio at least
    within = bell[0] + 2 * sum(bell[1:], arb(0))
    whole = within + 2 * tail * arb(0.5, 0.5)
    outside, law = arb(0), arb_poly([arb(1)])
    for shift in shifts:
        spread = [arb(0)] * (2 * last * shift + 1)
        for k in range(-last, last + 1):
            spread[(k + last) * shift] = bell[abs(k)] / whole
        law, outside = law * arb_poly(spread), outside + 2 * tail / within
    middle, squares = last * sum(shifts), sum(shift**2 for shift in shifts)
    inside = (
        probability * (1 - (loss - half * (squares - 2 * (place - middle))).exp()).nonnegative_part()
        for place, probability in enumerate(law.coeffs())
    )  # fmt: skip
    return sum(inside, arb(0)) + outside * arb(0.5, 0.5)


def _cuts(ratio: Any, factor: Any, shift: int) -> list[Any]:
    """P(X <= k) - factor Q(X <= k) for two geometric laws of a ratio, at a distance, and every k between their centers."""

    def upto(k: int) -> Any:
        return 1 - ratio ** (k + 1) / (1 + ratio) if k >= 0 else ratio**-k / (1 + ratio)

    return [upto(k) - factor * upto(k - shift) for k in range(shift)]


def _exact_excess(case: Moves, loss: ExactValue) -> Fraction | None:
    """The same where it is a rational number: of one geometric answer, with e^decay and e^loss rational."""
    law = _law(next(iter(case))[0])
    if isinstance(law, list) or law["family"] != "TwoSidedGeometricLaw" or case.total() > 1:
        return None
    ratio, factor = exponential(read(law["decay"])), exponential(loss)
    if ratio is None or factor is None:
        return None
    return max(_cuts(1 / ratio, factor, abs(next(iter(case))[1])), default=Fraction(0))


def _below(value: arb) -> arb:
    """The standard normal distribution function."""
    return (-value / arb(2).sqrt()).erfc() / 2


# --- from below -------------------------------------------------------------------------------------


def divergence_above(chosen: JsonTable, rate: Fraction, case: Moves, bound: ExactValue) -> bool:
    """Whether d_Pr of a case, in one of both orders, is seen to be at least a bound."""
    kind = chosen["type"]
    if bound == ExactValue():
        return True
    if rate < 1 and kind not in ("mult", "mult-delta"):
        raise UnknownFormula(f"{kind} of a sample is not known here")
    if kind not in _ABOVE:
        raise UnknownFormula(f"the output divergence {kind} is not known here")
    return _ABOVE[kind](chosen, rate, case, bound)


def _mult_above(_: JsonTable, rate: Fraction, case: Moves, bound: ExactValue) -> bool:
    return any(is_above(loss, bound) for loss in _losses(case, rate))


def _renyi_above(chosen: JsonTable, _: Fraction, case: Moves, bound: ExactValue) -> bool:
    return any(is_above(_renyi(way, fraction(chosen["order"])), bound) for way in _ways(case))


def _mult_delta_above(chosen: JsonTable, rate: Fraction, case: Moves, bound: ExactValue) -> bool:
    """The excess falls strictly as the loss grows, until it is 0: below a loss at which it is delta, it is larger."""
    delta = ExactValue(fraction(chosen["delta"]))
    if bound.infinite:
        raise UnknownFormula("an infinite loss under a delta is not known here")
    if delta == ExactValue():
        return _mult_above(chosen, rate, case, bound)
    least = _least_loss_of_laplace(case, delta) if rate == 1 else None
    return at_most(bound, least) if least is not None else _excess_above(case, bound, delta, rate)


def _losses(case: Moves, rate: Fraction) -> list[Quantity]:
    """The largest log-likelihood ratio; of finitely many outcomes without an exact form the ratio of each."""
    try:
        loss = _pure(case)
    except UnknownFormula:
        if rate < 1 or len(case) != 1 or case.total() != 1 or not _pairs(case):
            raise
        ((pair, _),) = _pairs(case)
        return [loss for p, q in pair for loss in (_log_ratio(p, q), _log_ratio(q, p))]
    return [loss if rate == 1 else _sampled_loss(loss, Fraction(1), rate)]


def _log_ratio(p: ExponentialQuotient, q: ExponentialQuotient) -> Quantity:
    def enclosed() -> arb:
        return (p.ball() / q.ball()).log()

    return enclosed


def _d_nor_above(_: JsonTable, __: Fraction, case: Moves, bound: ExactValue) -> bool:
    """Whether sup_a D_a / a is at least bound^2; for two laws on finitely many outcomes it is KL(P || Q) at least (a to 1)."""
    pairs = _pairs(case)
    if not pairs or len(pairs) != len(case):
        return at_most(bound, attrs.evolve(_concentrated(case), root=True))
    rho = bound.under() if bound.root else product(bound, bound)
    if rho is None:
        raise UnknownFormula("the square of the bound has no exact form here")
    for way in (case, _turned(case)):
        rows = [(p, times, p.over(q).logarithm()) for pair, times in _pairs(way) for p, q in pair if NEVER not in (p, q)]
        if any(p != NEVER and q == NEVER for pair, _ in _pairs(way) for p, q in pair):
            return True
        if all(p.fraction is not None for p, _, _ in rows):
            if at_most(rho, linear([((p.fraction or Fraction(0)) * times, loss) for p, times, loss in rows])):
                return True
        elif is_above(lambda rows=rows: sum((times * p.ball() * loss.ball() for p, times, loss in rows), arb(0)), rho):  # type: ignore[misc]
            return True
    return not all(_curve_below(_pairs(way), rho) for way in (case, _turned(case)))


def _excess_above(case: Moves, loss: ExactValue, delta: ExactValue, rate: Fraction) -> bool:
    """Whether P(S) - e^loss Q(S) is at least delta for some S, in one of both orders."""
    if not case:
        return delta == ExactValue()
    if rate == 1 and len(_pairs(case)) == len(case):
        return any(is_above(_of_outcomes(way, loss), delta) for way in (case, _turned(case)))
    exact = _exact_excess(case, loss) if rate == 1 else None
    if exact is not None:
        return at_most(delta, ExactValue(max(exact, Fraction(0))))
    forward, backward = _sampled_excess(case, loss, rate)
    return is_above(forward, delta) or (rate < 1 and is_above(backward, delta))


_ABOVE: dict[str, Callable[[JsonTable, Fraction, Moves, ExactValue], bool]] = {
    "mult": _mult_above, "d-nor": _d_nor_above, "renyi": _renyi_above, "mult-delta": _mult_delta_above,
    "total-variation": lambda _, rate, case, bound: _excess_above(case, ExactValue(), bound, rate),
    "hockey-stick": lambda chosen, rate, case, bound: _excess_above(case, read(chosen["epsilon"]), bound, rate),
}  # fmt: skip
