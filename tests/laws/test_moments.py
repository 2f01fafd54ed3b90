"""Renyi divergences of sampled noise, against quadrature in 60 digits that shares no code with the product."""

from __future__ import annotations

import itertools
import math
import random
from decimal import Decimal, localcontext
from fractions import Fraction
from statistics import NormalDist

import pytest

from dpspec.base.exact import ln, number
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.continuous import GaussianShift, LaplaceShift
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.integers import DiscreteGaussianShift
from dpspec.laws.samples import drawn, sampled
from dpspec.laws.trade_off import largest_power

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
ACCURATE = Decimal("1e-25")
"""The relative error of the sum."""
CASES = [
    ("1/100", 10, "5/4"),
    ("1/100000", 1000, "5/4"),
    ("1/2", "1/2", "33/2"),
    ("1/1000", "1/2", "5/2"),
    ("1/100", 4, "64"),
    ("1/1000", 5, "256"),
    ("1/100000", "1/2", "64"),
    ("1/2", 2, "1"),
    ("1/100", 4, "1"),
]


def by_quadrature(rate: str, sigma: object, order: str, *, is_turned: bool) -> Decimal:
    """D_alpha of (R, P), or of (P, R), for N(0, sigma^2) and N(1, sigma^2), by a sum over a fine grid.

    The sum of an analytic function at the multiples of h differs from its integral over h by about e^(-2 pi d / h), where d is
    the distance of its singularities from the line, here pi sigma or more: less where a large power is large near them.
    """
    with localcontext() as context:
        context.prec = 60
        q, mu, alpha = (Decimal(f.numerator) / f.denominator for f in (Fraction(rate), 1 / Fraction(sigma), Fraction(order)))
        power, fine = alpha if is_turned else 1 - alpha, 1 + 3 * (alpha > 100 and mu > 1)
        step = Decimal(1) / 10 / fine
        height = step / (2 * PI).sqrt()
        first, last = -160 * fine, (160 + int(10 * mu * max(power, 0))) * fine
        total = Decimal(0)
        for place in range(first, last + 1):
            z = place * step
            w = 1 - q + q * (mu * z - mu * mu / 2).exp()
            term = w.ln() * (w if is_turned else -1) if alpha == 1 else (power * w.ln()).exp() - 1
            total += height * (-z * z / 2).exp() * term
        return total if alpha == 1 else (1 + total).ln() / (alpha - 1)


def check_between(rate: str, sigma: object, order: str, width: str) -> None:
    """Both orders of the pair: the upper end is never below the quadrature, and the ends are as near as the width says."""
    pair = sampled(GaussianShift(number(1 / Fraction(sigma) ** 2)), Fraction(rate))
    for is_turned, way in ((True, pair.reverse()), (False, pair)):
        found, true = way.renyi(order), by_quadrature(rate, sigma, order, is_turned=is_turned)
        with localcontext() as context:
            context.prec = 60
            ends = (end.as_fraction() for end in (found.lower, found.upper))
            lower, upper = (Decimal(end.numerator) / end.denominator for end in ends)
            assert lower <= true * (1 + ACCURATE)
            assert true * (1 - ACCURATE) <= upper
            assert upper - lower <= true * Decimal(width)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gaussian_noise_on_a_sample_at_every_order(case: tuple[str, object, str]) -> None:
    check_between(*case, "1e-9")


RATES, SIGMAS = ("1/100000", "1/1000", "1/100", "1/10", "1/2"), ("1/2", "1", "4", "50", "1000")
ORDERS = ("5/4", "2", "11/4", "17", "255/2", "256")
GRID = [*itertools.product(RATES, SIGMAS, ORDERS)]


@pytest.mark.spread(14, slow=12)
@pytest.mark.parametrize("case", GRID, ids=str)
def test_every_rate_noise_and_order_is_within_a_millionth_and_never_below(case: tuple[str, str, str]) -> None:
    check_between(*case, "1e-6")


def test_the_numbers_of_a_small_rate() -> None:
    pair = sampled(GaussianShift(number("1/100")), Fraction(1, 100)).reverse()
    assert float(pair.renyi("5/4").upper) == pytest.approx(6.28e-7, rel=1e-3)


def points_of(pair: Dichotomy) -> list[tuple[float, float]]:
    """(p, q) of a pair at many points: a fine histogram of Laplace noise, the integers of discrete noise."""
    if isinstance(pair, LaplaceShift):
        t, steps = float(pair.t), 20_000
        points = [(0.5, 0.5 * math.exp(-t)), (0.5 * math.exp(-t), 0.5)]
        for i in range(steps):
            x = t * (i + 0.5) / steps
            points.append((0.5 * math.exp(-x) * t / steps, 0.5 * math.exp(x - t) * t / steps))
        return points
    assert isinstance(pair, DiscreteGaussianShift)
    v, s = float(pair.variance), pair.shift
    norm = math.fsum(math.exp(-k * k / (2 * v)) for k in range(-80, 81))
    return [(math.exp(-k * k / (2 * v)) / norm, math.exp(-((k - s) ** 2) / (2 * v)) / norm) for k in range(-80, 81)]


def listed(pair: Dichotomy, rate: Fraction, order: Fraction, *, is_turned: bool) -> float:
    """D_alpha of (R, P), or of (P, R), from these points."""
    q, alpha = float(rate), float(order)
    rows = [(p, (1 - q) * p + q * r) for p, r in points_of(pair)]
    rows = [(m, p) for p, m in rows] if is_turned else rows
    if alpha == 1:
        return float(math.fsum(p * math.log(p / r) for p, r in rows))
    return float(math.log(math.fsum(p * (p / r) ** (alpha - 1) for p, r in rows)) / (alpha - 1))


@pytest.mark.parametrize(
    "pair", [LaplaceShift(number(1)), DiscreteGaussianShift(2, Fraction(9))], ids=lambda pair: type(pair).__name__
)
def test_other_noise_on_a_sample(pair: Dichotomy) -> None:
    rate = Fraction(1, 5)
    for order in map(Fraction, ("1", "3/2", "7/2")):
        for is_turned in (True, False):
            way = sampled(pair, rate).reverse() if is_turned else sampled(pair, rate)
            found, true = way.renyi(order), listed(pair, rate, order, is_turned=is_turned)
            assert float(found.lower) == pytest.approx(true, rel=1e-7)
            assert float(found.upper) == pytest.approx(true, rel=1e-7)


def test_samples_of_a_fixed_size_lie_between_two_datasets_and_the_least_pair_above() -> None:
    """For finite symmetric pairs the least pair above is written out: its atoms are those of both orders above 1."""
    lot = random.Random(5)
    for _ in range(20):
        a, b = sorted(lot.sample(range(1, 9), 2))
        p, q = Fraction(a, a + b), Fraction(b, a + b)
        pair, rate = FiniteDichotomy.of([(p, q), (q, p)]), Fraction(lot.randint(1, 8), 9)
        r = (1 - rate) * p + rate * q
        above = FiniteDichotomy.of([(r, p), (p, r), (1 - r - p, 1 - r - p)])
        found = drawn(pair, rate)
        for order in map(Fraction, ("1", "3/2", "3")):
            assert found.renyi(order).lower >= max(
                w.renyi(order).lower for w in (sampled(pair, rate), sampled(pair, rate).reverse())
            )
            assert float(found.renyi(order).upper) == pytest.approx(float(above.renyi(order).upper), rel=1e-9)
        for epsilon in ("-1/3", "0", "1/5"):
            assert float(found.hockey_stick(epsilon).upper) == pytest.approx(float(above.hockey_stick(epsilon).upper), rel=1e-9)


def test_the_hockey_stick_also_below_zero() -> None:
    """At epsilon < 0 the bracket was that of another epsilon: it is 1 - e^epsilon where all outcomes gain."""
    normal = NormalDist()
    pair = sampled(GaussianShift(number(1)), Fraction(1, 10)).reverse()
    for epsilon in (Fraction(-3), Fraction(-1, 100), Fraction(1, 10)):
        gamma = math.exp(float(epsilon))
        cut = (gamma - 0.9) / 0.1
        z = 0 if cut <= 0 else math.log(cut) + 0.5  # R > gamma P above it
        above = [1 if cut <= 0 else 1 - normal.cdf(z - mean) for mean in (0, 1)]
        true = 0.9 * above[0] + 0.1 * above[1] - gamma * above[0]
        found = pair.hockey_stick(epsilon)
        assert float(found.lower) == pytest.approx(true, rel=1e-9)
        assert float(found.upper) == pytest.approx(true, rel=1e-9)


def test_the_trade_off_function_of_a_sample() -> None:
    """The best test of N(0, 1) against the mixture rejects above a point; its power is the mixture's mass there."""
    normal, pair = NormalDist(), sampled(GaussianShift(number(1)), Fraction(1, 10))
    for level in (Fraction(1, 100), Fraction(1, 2)):
        cut = normal.inv_cdf(1 - float(level))
        true = 0.9 * float(level) + 0.1 * (1 - normal.cdf(cut - 1))
        found = largest_power(pair, level)
        assert float(found.lower) <= true * (1 + 1e-12)
        assert true * (1 - 1e-12) <= float(found.upper)
        assert float(found.upper - found.lower) < 1e-6


def test_an_event_below_the_least_loss_gains_all() -> None:
    assert str(sampled(GaussianShift(number(1)), Fraction(1, 10)).reverse().hockey_stick(ln(Fraction(1, 20)))) == "19/20"


@pytest.mark.parametrize("pair", [LaplaceShift(number(1)), DiscreteGaussianShift(2, Fraction(9))], ids=["laplace", "discrete"])
def test_the_least_pair_above_samples_of_a_fixed_size(pair: Dichotomy) -> None:
    """Its outcomes are those with L > 1 under (R, P) and under (P, R), and one that both laws have the rest of."""
    rate = 0.2
    above = [((1 - rate) * p + rate * q, p) for p, q in points_of(pair) if q > p]
    still = 1 - sum(r + p for r, p in above)
    for order in (1.5, 4.0):
        moment = sum(p * ((r / p) ** order + (r / p) ** (1 - order)) for r, p in above) + still
        found = drawn(pair, Fraction(1, 5)).renyi(Fraction(order))
        assert float(found.upper) == pytest.approx(math.log(moment) / (order - 1), rel=1e-5)
        assert found.lower < found.upper
