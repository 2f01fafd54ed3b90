"""Composition: closed forms, and the grid against enumeration, quadrature and the published numbers."""

import functools
import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings, strategies as st
from scipy import integrate, signal, stats

from benchmarks.lines.accounting import HOUSING, PERSONS, QUERIES
from dpspec.base.errors import NoFormulaError, ParameterError
from dpspec.base.exact import ZERO, ln, number
from dpspec.base.work import limited, spent
from dpspec.laws import FiniteLaw, GaussianLaw, LaplaceLaw, TwoSidedGeometricLaw, mixture, pieces as spread, pieces as tilted
from dpspec.laws.atoms import IDENTICAL, Between, FiniteDichotomy
from dpspec.laws.continuous import GaussianShift, LaplaceShift, geometric_shift
from dpspec.laws.grid import Totals
from dpspec.laws.integers import DiscreteGaussianLaw, DiscreteGaussianShift
from dpspec.laws.loss import PrivacyLoss, compose
from dpspec.laws.numeric import binomial_tail
from dpspec.laws.pieces import loss_pieces
from dpspec.laws.products import Convolved, Power, ProductDichotomy, TwoAtomPower, power, product_of

WARNER = FiniteDichotomy((3, 1), (1, 3), 4, 4)
EPSILONS = st.fractions("-1", 3, max_denominator=20)
WEIGHTS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=4).filter(
    lambda pairs: all(map(sum, zip(*pairs, strict=True))) and sum(p for p, q in pairs if q) > 0
)


def finite(weights):
    p, q = (FiniteLaw.from_weights(dict(enumerate(side))) for side in zip(*weights, strict=True))
    return p.against(q)


def on_grid(*parts, precision=64):
    return Totals.of(parts, precision)


def inside(bracket, value, slack=0.0):
    assert float(bracket.lower) - slack <= value <= float(bracket.upper) + slack


def width(bracket):
    return float((bracket.upper.enclose(128) - bracket.lower.enclose(128)).upper())


# --- closed forms ----------------------------------------------------------------------------------------------------


@pytest.mark.reference("K-T1", "K-O8", "K-D33")
def test_gaussians_of_any_scales_are_one():
    whole = compose([(GaussianShift(number("5.12")), 1), (GaussianShift(number("0.14")), 1)])
    assert whole == GaussianShift(number("5.26"))
    assert PrivacyLoss(whole).mean().lower == Fraction("2.63")
    squares = [Fraction(1, 1000 + i) for i in range(300)]
    assert compose((GaussianShift(number(s)), 2) for s in squares).mu_squared == 2 * sum(squares)
    root = compose([(GaussianShift(number("sqrt(2)")), 3), (GaussianShift(number(1)), 1)])
    inside(root.hockey_stick(1), float(GaussianShift(number(3 * math.sqrt(2) + 1)).hockey_stick(1).lower), 1e-12)


@pytest.mark.reference("K-O33", "K-T16")
def test_naive_addition_of_two_gaussians_loses_more_than_half():
    single = GaussianShift(number(1))
    inside(single.hockey_stick(1), 0.126937, 5e-7)
    inside(power(single, 2).hockey_stick(2), 0.114525, 5e-7)


@given(WEIGHTS, st.integers(1, 4), EPSILONS)
def test_small_powers_of_finite_pairs_are_enumerated(weights, times, epsilon):
    pair = finite(weights)
    factor = math.exp(epsilon)
    direct = 0.0
    for combination in itertools.product(pair.atoms(), repeat=times):
        p, q = (math.prod(float(atom[side]) for atom in combination) for side in (0, 1))
        direct += max(0.0, p - factor * q)
    inside(power(pair, times).hockey_stick(epsilon), direct, 1e-12)


@given(st.integers(2, 40), EPSILONS, st.fractions("1/1000000", "1/2", max_denominator=10**6))
def test_randomised_response_by_tails_of_binomial_laws(times, epsilon, delta):
    exact, tails = power(WARNER, times), TwoAtomPower(WARNER, times)
    assert isinstance(exact, FiniteDichotomy)
    value, bracket = exact.hockey_stick(epsilon), tails.hockey_stick(epsilon)
    assert bracket.lower <= value.upper
    assert value.lower <= bracket.upper
    assert width(bracket) < 1e-18
    found = tails.epsilon_at(delta)
    assert found.lower <= exact.epsilon_at(delta).upper
    assert exact.epsilon_at(delta).lower <= found.upper
    assert width(found) < 1e-15


def test_thresholds_on_a_loss():
    tails, exact = TwoAtomPower(WARNER, 9), power(WARNER, 9)
    for times in range(1, 9, 2):
        bracket = tails.hockey_stick(times * ln(3))
        assert bracket.lower <= exact.hockey_stick(times * ln(3)).lower <= bracket.upper
    for times in range(3, 9, 2):
        edge = exact.hockey_stick(times * ln(3)).lower.as_fraction()
        found = tails.epsilon_at(edge)
        assert found.lower <= times * ln(3) <= found.upper
        assert width(found) < 1e-12


@given(st.integers(1, 60), st.fractions("1/20", "19/20", max_denominator=20), st.integers(-2, 62))
def test_binomial_tails(trials, chance, least):
    exact = sum(
        (math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(max(0, least), trials + 1)), Fraction(0)
    )
    tail = binomial_tail(trials, chance, least, 64)
    with ctx.workprec(256):
        assert tail.overlaps(arb(exact.numerator) / exact.denominator)
    assert float(tail.rad()) < 1e-18


@pytest.mark.spread(8)
@pytest.mark.reference("K-A7")
@pytest.mark.parametrize(("variance", "shift"), [("1/4", 1), ("1", 1), ("1", 3), ("100", 1), ("100", 25), ("70000/3", 2)])
@pytest.mark.parametrize("epsilon", ["-1/2", "0", "1/7", "2", "4"])
def test_a_discrete_gaussian_by_two_tails(variance, shift, epsilon):
    pair = DiscreteGaussianShift(shift, Fraction(variance))
    cells = pair._picture.hockey_stick(epsilon)
    value = pair.hockey_stick(epsilon)
    assert value.lower <= cells.upper
    assert cells.lower <= value.upper
    assert width(value) < 1e-17
    delta = value.upper.as_fraction()
    if 0 < delta < 1 and Fraction(epsilon) > 0 and delta > Fraction(1, 10**30):
        found = pair.epsilon_at(delta)
        assert found.lower <= Fraction(epsilon)
        assert pair.hockey_stick(found.upper, precision=128).lower <= delta
        assert width(found) < 1e-10


@pytest.mark.spread(6)
@pytest.mark.parametrize("delta", ["1e-10", "1e-6", "1/100", "1/3", "9/10"])
@pytest.mark.parametrize("variance", ["1/4", "1", "9", "5000"])
def test_the_epsilon_of_a_discrete_gaussian(variance, delta):
    pair = DiscreteGaussianShift(1, Fraction(variance))
    old, new = pair._picture.epsilon_at(delta), pair.epsilon_at(delta)
    assert new.lower <= old.upper
    assert old.lower <= new.upper
    assert width(new) < 1e-16


# --- the grid --------------------------------------------------------------------------------------------------------


@given(WEIGHTS, WEIGHTS, st.integers(1, 3), EPSILONS)
@settings(max_examples=40)
def test_the_grid_holds_the_exact_value(one, two, times, epsilon):
    left, right = finite(one), finite(two)
    exact = compose([(left, times), (right, 2)])
    bracket = on_grid((left, times), (right, 2)).hockey_stick(number(epsilon))
    value = exact.hockey_stick(epsilon)
    assert bracket.lower <= value.upper
    assert value.lower <= bracket.upper


@pytest.mark.slow
@given(WEIGHTS, st.integers(2, 5), st.fractions("1/1000", "1/3", max_denominator=1000))
@settings(max_examples=30)
def test_so_does_the_epsilon(weights, times, delta):
    pair = finite(weights)
    exact = power(pair, times)
    found = Power(pair, times).epsilon_at(delta)
    assert found.lower <= exact.epsilon_at(delta).upper
    assert exact.epsilon_at(delta).lower <= found.upper


def test_infinite_losses_add_up():
    leak = FiniteDichotomy((1, 99, 0), (0, 99, 1), 100, 100)
    many = Power(leak, 50)
    inside(many.singular_mass(), 1 - 0.99**50, 1e-12)
    inside(many.hockey_stick(2), 1 - 0.99**50, 1e-12)
    assert many.epsilon_at("1/10").lower.is_infinite
    assert many.max_log_ratio().lower.is_infinite


def test_the_lower_bound_needs_its_gap(monkeypatch):
    """Without it the grid says more than the truth: the upper curve lies above it, most at an atom."""
    kink = 2 * ln(3)
    exact = power(WARNER, 6).hockey_stick(kink)
    assert on_grid((WARNER, 6), precision=24).hockey_stick(kink).lower <= exact.lower
    monkeypatch.setattr(tilted.Tilted, "gap", lambda *_: Fraction(0))
    assert on_grid((WARNER, 6), precision=24).hockey_stick(kink).lower > exact.upper


def test_the_upper_bound_needs_the_spread(monkeypatch):
    """Losses rounded down are no upper bound."""
    exact = power(WARNER, 6).hockey_stick("5/4")
    assert on_grid((WARNER, 6), precision=24).hockey_stick(number("5/4")).upper >= exact.upper
    gather = spread.Spread._gather.__func__

    def down(cls, places, masses, relative, times):
        half = len(places) // 2
        return gather(cls, places[:half], masses[:half] + masses[half:], relative, times)

    monkeypatch.setattr(spread.Spread, "_gather", classmethod(down))
    assert on_grid((WARNER, 6), precision=24).hockey_stick(number("5/4")).upper < exact.lower


def test_the_constant_of_the_gap():
    """min(Scarf, Chernoff) <= 17/33 e^(-x/2), x = y / r, on [0, 5/2] in cells, and beyond by the exponents."""
    with ctx.workprec(64):
        most = arb(17) / 33
        for r in (arb(1) / 16, arb(1) / 100, arb(0.0)):
            for i in range(2560):
                x = (arb(i) / 1024).union(arb(i + 1) / 1024)
                # a / r for a = 1 - e^(-x r), which falls in r; V / r^2 for V = e^(r^2) - 1, which grows.
                a = x if r == 0 else (1 - (-x * r).exp()) / r
                v = arb(1) if r == 0 else ((r * r).exp() - 1) / (r * r)
                scarf = ((v + a * a).sqrt() - a) / 2
                assert (x * r).exp() * scarf * (x / 2).exp() < most
        beyond = ((arb(1) / 16 + 1 - arb(3) / 2 * arb(5) / 2).exp()) / 2
        assert beyond < most


@pytest.mark.parametrize("pair", [LaplaceShift(number("1/3")), LaplaceShift(number(2)), DiscreteGaussianShift(1, Fraction(7, 3))])
@pytest.mark.parametrize("precision", [32, 96])
def test_more_precision_is_a_narrower_bracket(pair, precision):
    coarse, fine = (Power(pair, 20).hockey_stick(1, precision=p) for p in (precision, 2 * precision))
    assert coarse.lower <= fine.upper
    assert fine.lower <= coarse.upper
    assert width(fine) <= width(coarse) * (1 + 2.0**-20) or width(fine) < 1e-10


@pytest.mark.parametrize("pair", [LaplaceShift(number("1/3")), DiscreteGaussianShift(1, Fraction(7, 3)), WARNER])
def test_more_releases_lose_more(pair):
    values = [compose([(pair, times)]).hockey_stick("1/2") for times in (1, 2, 5, 30, 400)]
    for fewer, more in itertools.pairwise(values):
        assert fewer.lower <= more.upper
        assert fewer.upper <= more.lower


def test_equal_discrete_gaussians_against_sums():
    """The sum of 12 centered losses on the lattice, added up by direct convolution."""
    variance, times = Fraction(9, 2), 12
    k = np.arange(-60, 61)
    weights = np.exp(-(k**2) / (2 * float(variance)))
    summed = functools.reduce(np.convolve, [weights / weights.sum()] * times)
    losses = (times - 2 * np.arange(-60 * times, 60 * times + 1)) / (2 * float(variance))
    for epsilon in (0.25, 1, 3):
        value = float(np.sum(summed * np.maximum(0, -np.expm1(epsilon - losses))))
        bracket = power(DiscreteGaussianShift(1, variance), times).hockey_stick(epsilon)
        inside(bracket, value, 1e-12)
        assert width(bracket) < 1e-10


def test_different_discrete_gaussians_against_sums():
    variances = (Fraction(2), Fraction(13, 3))
    losses, masses = [], []
    for variance in variances:
        k = np.arange(-60, 61)
        weights = np.exp(-(k**2) / (2 * float(variance)))
        masses.append(weights / weights.sum())
        losses.append((1 - 2 * k) / (2 * float(variance)))
    whole = np.add.outer(*losses)
    value = float(np.sum(np.multiply.outer(*masses) * np.maximum(0, -np.expm1(0.75 - whole))))
    bracket = compose([(DiscreteGaussianShift(1, v), 1) for v in variances]).hockey_stick("3/4")
    inside(bracket, value, 1e-12)
    assert width(bracket) < 1e-6


@pytest.mark.parametrize("epsilon", ["0.3", "1.1"])
def test_two_laplace_laws_against_quadrature(epsilon):
    """P(L = t) = 1/2, and H of the other one in between."""
    one, two = LaplaceShift(number(1)), LaplaceShift(number("3/4"))

    def other(threshold):
        return -math.expm1((threshold - 0.75) / 2) if abs(threshold) <= 0.75 else max(0.0, -math.expm1(threshold))

    e = float(epsilon)
    kinks = sorted(x for x in ((1 - e + s * 0.75) / 2 for s in (-1, 1)) if 0 < x < 1)
    value = 0.5 * other(e - 1) + 0.5 * math.exp(-1) * other(e + 1)
    value += integrate.quad(lambda x: 0.5 * math.exp(-x) * other(e - 1 + 2 * x), 0, 1, points=kinks or None)[0]
    bracket = product_of([one, two]).hockey_stick(epsilon)
    inside(bracket, value, 1e-9)
    assert width(bracket) < 1e-4


def test_a_gaussian_among_others():
    pair = product_of([GaussianShift(number(1)), LaplaceShift(number(1))])
    edges = [(GaussianShift(number(1)).hockey_stick(x), 0.5 * m) for x, m in (("-1/2", 1), ("3/2", math.exp(-1)))]
    value = sum(float(bracket.lower) * mass for bracket, mass in edges)
    normal = stats.norm.cdf

    def gaussian(x):
        return normal(0.5 - x) - math.exp(x) * normal(-0.5 - x)

    value += integrate.quad(lambda x: 0.5 * math.exp(-x) * gaussian(0.5 - 1 + 2 * x), 0, 1)[0]
    bracket = pair.hockey_stick("1/2")
    inside(bracket, value, 1e-10)
    assert width(bracket) < 1e-5


@pytest.mark.parametrize("square", ["1/1000000", "1", "400"])
@pytest.mark.parametrize("step", [2.0**-12, 2.0**-3, 4.0])
def test_the_pieces_of_a_gaussian(square, step):
    """All the mass of P is in them, and as much of that of Q as their range holds, where L ~ N(-mu^2/2, mu^2)."""
    pieces = loss_pieces(GaussianShift(number(square)), step)
    mu_squared = float(Fraction(square))
    under_q = stats.norm(-mu_squared / 2, math.sqrt(mu_squared))
    assert 0 <= pieces.relative < 1e-7
    assert 0 <= pieces.absolute < 1e-6
    assert abs(math.fsum(pieces.masses) - 1) < 1e-12
    held = under_q.cdf(pieces.high[-1]) - under_q.cdf(pieces.low[0])
    assert abs(math.fsum(pieces.masses * np.exp(-pieces.losses)) / held - 1) < 1e-7
    assert (pieces.low <= pieces.losses).all()
    assert (pieces.losses <= pieces.high).all()


def test_mixtures_on_the_integers():
    noise = [mixture(["1/2", "1/2"], [DiscreteGaussianLaw(c, 4), DiscreteGaussianLaw(c + 1, 4)]) for c in (0, 2)]
    pair = noise[0].against(noise[1])
    k = np.arange(-60, 61)
    p, q = (
        [float(law.parts()[0][0]) * np.exp(-((k - c) ** 2) / 8) for c in cs]
        for law, cs in zip(noise, ((0, 1), (2, 3)), strict=True)
    )
    p, q = sum(p), sum(q)
    p, q = p / p.sum(), q / q.sum()
    value = float(np.sum(np.maximum(0, np.multiply.outer(p, p) - math.e * np.multiply.outer(q, q))))
    bracket = compose([(pair, 2)]).hockey_stick(1)
    inside(bracket, value, 1e-9)
    assert width(bracket) < 1e-4


def test_thousands_of_laplace_laws():
    found = compose([(LaplaceShift(number("1/100")), 10_000)]).epsilon_at("1e-10")
    assert width(found) < 1e-3
    # Between the curves of a finer grid (a step of 2^-16): 9.9664e-11 at 6.534, 1.02229e-10 at 6.53.
    assert Fraction("6.53") < found.upper
    assert found.lower < Fraction("6.534")


# --- how it fits -----------------------------------------------------------------------------------------------------


def test_simplest_forms():
    shift = LaplaceShift(number(1))
    assert compose([]) is IDENTICAL
    assert compose([(shift, 0), (IDENTICAL, 7)]) is IDENTICAL
    assert compose([(shift, 1)]) is shift
    assert compose([(shift, 2), (LaplaceShift(number(1)), 3)]).times == 5
    assert product_of([shift, LaplaceShift(number(1)), LaplaceShift(number(2))]).releases() == (
        (shift, 2),
        (LaplaceShift(number(2)), 1),
    )
    assert power(power(shift, 3), 5).times == 15
    assert isinstance(power(WARNER, 10_000), TwoAtomPower)
    many = compose([(WARNER, 10_000), (shift, 2)])
    assert isinstance(many, ProductDichotomy)
    assert many.releases() == ((WARNER, 10_000), (shift, 2))
    with pytest.raises(ParameterError, match="at least 0"):
        compose([(shift, -1)])


@pytest.mark.reference("K-T14", "K-T15", "K-D20", "B-T20")
def test_what_adds_up():
    shift, noise = LaplaceShift(number("1/2")), DiscreteGaussianShift(1, Fraction(5))
    many = compose([(WARNER, 1000), (shift, 10)])
    assert many.max_log_ratio().lower == 1000 * ln(3) + 5
    assert many.reverse().max_log_ratio().lower == 1000 * ln(3) + 5
    rho = compose([(noise, 30), (GaussianShift(number(1)), 2)])
    assert rho.concentration().lower == rho.concentration().upper == 4
    inside(rho.renyi("5/2"), 30 * float(noise.renyi("5/2").lower) + 2.5, 1e-12)
    alone = power(shift, 7)
    inside(alone.concentration(), 7 * float(shift.concentration().lower), 1e-9)
    both = compose([(shift, 7), (LaplaceShift(number(1)), 2)]).concentration()
    assert width(both) < 1e-6
    assert (
        both.upper
        <= 7 * shift.concentration().upper.as_fraction() + 2 * LaplaceShift(number(1)).concentration().upper.as_fraction()
    )


def test_pairs_known_between_two_others():
    inner = Between((IDENTICAL,), (LaplaceShift(number(1)),))
    whole = compose([(inner, 3)])
    assert whole.hockey_stick(1).lower == ZERO
    assert whole.hockey_stick(1).upper == power(LaplaceShift(number(1)), 3).hockey_stick(1).upper


@pytest.mark.slow
def test_a_law_seen_only_through_cells_is_bounded_by_atoms():
    """Ten Gaussians of unequal variance: the loss is a + b N + c N^2, summed by direct convolution of a fine histogram."""
    times = 10
    x = np.linspace(-12, 12, 240_001)
    mass = stats.norm.pdf(x) * (x[1] - x[0])
    loss = -(x**2) / 2 + (x - 0.1) ** 2 / (2 * 1.21) + math.log(1.1)
    step = 1e-3
    counts = np.bincount(np.rint((loss - loss.min()) / step).astype(int), weights=mass)
    summed = functools.reduce(signal.fftconvolve, [counts] * times)
    points = times * loss.min() + step * np.arange(len(summed))
    value = float(np.sum(summed * np.where(points > 0.5, -np.expm1(np.minimum(0, 0.5 - points)), 0)))
    bracket = compose([(GaussianLaw(0, 1).against(GaussianLaw("1/10", "1.21")), times)]).hockey_stick("1/2")
    inside(bracket, value, 1e-5)
    assert width(bracket) < 0.02


def test_products_of_mechanisms_use_the_grid():
    laws = [(LaplaceLaw(0, b), LaplaceLaw(1, b)) for b in (1, 2, 3)]
    pair = product_of(p.against(q) for p, q in laws)
    assert width(pair.hockey_stick(1)) < 1e-4


def test_a_pair_without_any_known_loss():
    with pytest.raises(NoFormulaError):
        on_grid((FiniteDichotomy((1, 0), (0, 1), 1, 1), 2))


# --- the loss itself -------------------------------------------------------------------------------------------------

KEEP = 0.731059
RESPONSE = geometric_shift(1, number(1))
"""The loss of randomised response at epsilon = 1, and of the geometric mechanism (K-D31)."""


@pytest.mark.reference("K-O1", "K-O2", "K-A1", "K-D4", "K-D31")
def test_losses_of_randomised_response_and_geometric_noise():
    for pair in (RESPONSE, TwoSidedGeometricLaw(3, 1).against(TwoSidedGeometricLaw(4, 1))):
        loss = PrivacyLoss(pair)
        inside(loss.above("0.999"), KEEP, 5e-7)
        inside(loss.cdf("-0.999"), 1 - KEEP, 5e-7)
        assert loss.above("1.001").upper == 0


@pytest.mark.reference("K-O3", "K-D32")
def test_the_loss_of_a_gaussian():
    loss = PrivacyLoss(GaussianLaw(0, Fraction(100, 526)).against(GaussianLaw(1, Fraction(100, 526))))
    assert loss.mean().lower == Fraction("2.63")
    inside(loss.cdf("2.63"), 0.5, 1e-15)
    inside(loss.above(Fraction(263, 100) + 2), stats.norm.sf(2 / math.sqrt(5.26)), 1e-12)


@pytest.mark.reference("K-O4", "K-D37")
def test_the_loss_of_two_responses():
    loss = PrivacyLoss(power(RESPONSE, 2))
    inside(loss.above("1.9"), 0.534447, 5e-7)
    inside(loss.above("-0.1"), 0.534447 + 0.393224, 1e-6)
    inside(loss.cdf("-1.9"), 0.0723295, 5e-7)
    assert width(loss.above("1.9")) < 1e-6


@pytest.mark.reference("K-T4", "K-A1", "K-D4")
def test_total_variation_and_infinite_losses():
    sampled = PrivacyLoss(FiniteDichotomy((9, 1, 0), (9, 0, 1), 10, 10))
    assert sampled.at_infinity().lower == sampled.above(5).lower == Fraction(1, 10)
    inside(sampled.pair.hockey_stick(50), 0.1, 1e-16)
    assert sampled.pair.total_variation().lower == Fraction(1, 10)
    loss = PrivacyLoss(WARNER)
    assert loss.above(ln(3) / 2).lower == Fraction(3, 4)
    assert loss.above(ln(3)).lower == 0
    assert WARNER.hockey_stick(ln(3) / 2).upper < Fraction(3, 4)


# --- the 2020 Census -------------------------------------------------------------------------------------------------

def ledger(levels=range(6)):
    """rho* of every measurement of the levels (K-N10), from K-N7 to K-N9."""
    rows = [tuple(map(Fraction, row.split())) for row in QUERIES.splitlines()]
    persons = [Fraction("2.56") * Fraction(PERSONS[i], 4099) * row[i] for i in levels for row in rows if row[i]]
    return persons + [Fraction("0.07") * HOUSING[i] for i in levels]


@functools.cache
def census(levels=range(6)):
    """Two cells change by 1, each with sigma^2 = 1/rho*."""
    return compose((DiscreteGaussianShift(1, 1 / rho), 2 * n) for rho, n in Counter(ledger(levels)).items())


def largest_power(pair, level):
    """Both ends of the power of the most powerful test: the least of delta(eps) + e^eps level over all eps."""

    def ends(epsilon):
        bracket = pair.hockey_stick(Fraction(epsilon))
        return tuple(float(end) + math.exp(epsilon) * level for end in (bracket.lower, bracket.upper))

    near = min((Fraction(i, 5) for i in range(-5, 30)), key=lambda epsilon: ends(epsilon)[1])
    return tuple(map(min, zip(*(ends(float(near) + i / 320) for i in range(-32, 33)), strict=True)))


@pytest.mark.reference("K-N10", "K-T30")
def test_the_budget_of_the_census_file():
    assert len(ledger()) == 71
    assert sum(ledger()) == Fraction("2.63")
    whole = census()
    assert whole.concentration().lower == whole.concentration().upper == Fraction("2.63")


@pytest.mark.spread(1)
@pytest.mark.reference("K-O17", "K-O31", "K-A8")
@pytest.mark.parametrize(("level", "value"), [(0.01, 0.486886), (0.05, 0.741707), (0.1, 0.844211)])
def test_power_against_the_whole_census_file(level, value):
    low, high = largest_power(census(), level)
    assert low <= value + 1e-6
    assert high >= value - 1e-6
    assert high - low < 4e-5


@pytest.mark.spread(1)
@pytest.mark.reference("K-O22")
@pytest.mark.parametrize(("level", "value"), [(0.01, 0.031861), (0.05, 0.120473), (0.1, 0.209165)])
def test_power_against_the_block_level(level, value):
    low, high = largest_power(census((5,)), level)
    assert low <= value + 1e-6
    assert high >= value - 1e-6
    assert high - low < 2e-5


def test_the_census_curve_is_close_to_the_gaussian_one():
    found = census().epsilon_at("1e-10")
    assert width(found) < 1e-3
    gaussian = GaussianShift(number("5.26")).epsilon_at("1e-10")
    assert abs(float(found.upper) - float(gaussian.upper)) < 2e-2


# --- another accountant ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def accountant():
    return pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")


@pytest.mark.parametrize("times", [2, 40])
def test_a_pessimistic_accountant_lies_above(accountant, times):
    step = 1e-3
    cases = [
        (LaplaceShift(number("1/2")), accountant.from_laplace_mechanism(2, value_discretization_interval=step)),
        (
            DiscreteGaussianShift(1, Fraction(16)),
            accountant.from_discrete_gaussian_mechanism(4, value_discretization_interval=step),
        ),
        (WARNER, accountant.from_randomized_response(0.5, 2, value_discretization_interval=step)),
        (GaussianShift(number("1/9")), accountant.from_gaussian_mechanism(3, value_discretization_interval=step)),
    ]
    for pair, peer in cases:
        theirs, ours = peer.self_compose(times), compose([(pair, times)])
        for epsilon in (0.5, 2.0):
            value, bracket = theirs.get_delta_for_epsilon(epsilon), ours.hockey_stick(epsilon)
            assert value >= float(bracket.lower) * (1 - 1e-9) - 1e-14
            assert value <= float(ours.hockey_stick(epsilon - times * step).upper) + 1e-12


@pytest.mark.parametrize("trials", [10**6, 10**9, 10**12])
def test_tails_of_very_many_trials_are_enclosed_in_limited_work(trials: int) -> None:
    """The binomial coefficient of a billion trials has nearly a billion bits; the far end of a long tail is enclosed."""
    least = trials // 3 + math.isqrt(trials)
    with limited(1_000_000):
        tail = binomial_tail(trials, Fraction(1, 3), least, 64)
    wanted = stats.binom.sf(least - 1, trials, 1 / 3)
    assert float(tail.lower()) - 1e-9 <= wanted <= float(tail.upper()) + 1e-9
    assert float(tail.rad()) < (1e-15 if trials <= 10**9 else 1e-2)


@pytest.mark.parametrize(("times", "epsilon"), [(300, "20"), (1000, "1"), (3000, "-2")])
def test_a_grid_against_binomial_tails(times, epsilon):
    """A curve far out, in the middle and left of 0."""
    pair = FiniteDichotomy((52, 48), (48, 52), 100, 100)
    exact, convolved = (
        TwoAtomPower(pair, times).hockey_stick(epsilon),
        Convolved._hockey_stick(Power(pair, times), number(epsilon), 64),
    )
    assert convolved.lower <= exact.upper
    assert exact.lower <= convolved.upper
    assert width(convolved) <= 1e-3 * float(exact.lower) + 1e-30


def test_a_product_of_pairs_that_are_their_own_reverse_is_its_own_reverse():
    """So that it is looked at in one direction only."""
    mirrored = product_of(DiscreteGaussianShift(shift, Fraction(3, variance)) for shift, variance in ((1, 1), (2, 5), (1, 7)))
    assert mirrored.reverse() is mirrored
    crooked = product_of([DiscreteGaussianShift(1, Fraction(2)), FiniteDichotomy((3, 1), (1, 1), 4, 2)])
    assert crooked.reverse() is not crooked


def test_pairs_that_join_are_found_behind_others_that_do_not():
    factors = [DiscreteGaussianShift(1, Fraction(2)), GaussianShift(number(1)), DiscreteGaussianShift(1, Fraction(3))]
    found = product_of([*factors, GaussianShift(number(3))])
    assert isinstance(found, ProductDichotomy)
    assert len(found.factors) == 3
    assert found.concentration() == product_of([*factors[::2], GaussianShift(number(4))]).concentration()


def test_a_loss_that_doubles_do_not_hold_is_no_fault_of_a_plugin() -> None:
    """Two releases with almost no noise: all probabilities on the grid were 0, and their logarithm a ValueError."""
    found = power(DiscreteGaussianShift(1, Fraction(1, 10**6)), 2).hockey_stick(0)
    assert found.lower > number("0.99")
    assert found.upper <= number(1)


@pytest.mark.parametrize("times", [1, 2, 7, 8, 9, 16, 23, 40])
def test_equal_pairs_are_multiplied_as_one_after_the_other(times: int) -> None:
    other = FiniteDichotomy((5, 2), (2, 5), 7, 7)
    found = product_of([WARNER] * times + [other] + [WARNER])
    assert isinstance(found, FiniteDichotomy)
    expected = functools.reduce(FiniteDichotomy.product, [WARNER] * times + [other, WARNER])
    assert Counter(found.exact_atoms()) == Counter(expected.exact_atoms())


def test_products_of_all_numbers_of_equal_pairs_take_little_more_work_than_the_largest() -> None:
    """A proof asks for nearly all of them: how far laws are apart where a record moves so many answers."""
    pair = FiniteDichotomy((11, 2), (2, 11), 13, 13)

    def work(numbers: range) -> int:
        before = spent()
        with limited(10**9):
            for times in numbers:
                product_of([pair] * times)
        return spent() - before

    assert work(range(1, 121)) < 10 * work(range(120, 121))
