"""Losses, tests and tails of the reference that are about laws alone; oracles are closed forms, quadrature and sampling."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from dpspec_census.configuration_2020 import rho_star, spending
from dpspec_divergences.losses import Pbdp
from dpspec_divergences.output import DNor, Mult, MultDelta, Renyi, by_power
from dpspec_divergences.trade_off import GaussianTradeOff
from flint import arb
from hypothesis import given, strategies as st
from scipy import integrate, optimize, special, stats

from dpspec import installed
from dpspec.base.exact import number
from dpspec.grammar.rule import Conversion
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.continuous import GaussianShift
from dpspec.laws.integers import DiscreteGaussianLaw, DiscreteGaussianShift
from dpspec.laws.law import FiniteLaw
from dpspec.laws.loss import PrivacyLoss, compose
from dpspec.laws.products import product_of
from dpspec.laws.trade_off import TradeOff

CONVERSIONS = [rule for rule in installed().registry.classes("rules") if issubclass(rule, Conversion)]

E = Fraction("2.71828182845904523536028747135")
RESPONSE = FiniteDichotomy((E.numerator, E.denominator), (E.denominator, E.numerator), *2 * [sum(E.as_integer_ratio())])
"""Randomised response at epsilon = 1, to 30 digits."""
MU = math.sqrt(5.26)
RHO = Fraction("2.63")
LEVELS = ("0.01", "0.05", "0.1")


def allowed(divergence, level, bound) -> float:
    """The largest power of a test at a level, under a bound of the divergence."""
    return float(divergence.largest_probability(arb(level), number(bound).enclose(96)).mid())


def concentrated(level, rho, orders) -> dict[Fraction, float]:
    """The power that every order alone leaves to a test at a level, under rho."""
    return {a: float(by_power(arb(level), [(a, number(rho * a).enclose(96))]).mid()) for a in orders}


@pytest.mark.reference("K-O7", "K-D5")
def test_the_best_test_of_randomised_response():
    """At level 0.05 the outcome of loss -1 rejects with probability c = 0.05 (1 + e)."""
    c = 0.05 * (1 + math.e)
    assert c == pytest.approx(0.185914, abs=1e-6)
    power = 1 - float(TradeOff.of(RESPONSE).at("0.05"))
    assert power == pytest.approx(0.135914, abs=1e-6)
    assert power == pytest.approx(c * math.e / (1 + math.e), abs=1e-12)
    assert float(PrivacyLoss(RESPONSE).cdf("-0.9").upper) == pytest.approx(0.268941, abs=1e-6)


@pytest.mark.reference("K-O9", "K-D8")
def test_the_coin_reading_of_delta():
    """Of a loss L above 3 the share 1 - e^(3 - L) is bad: by quadrature over L ~ N(mu^2/2, mu^2), and as the hockey stick."""
    loss = stats.norm(MU**2 / 2, MU)
    bad = integrate.quad(lambda x: -math.expm1(3 - x) * loss.pdf(x), 3, 40)[0]
    bracket = GaussianShift(number("5.26")).hockey_stick(3)
    assert bad == pytest.approx(0.294350, abs=1e-6)
    assert float(bracket.lower) == pytest.approx(bad, abs=1e-9)


@pytest.mark.parametrize("threshold", ["-1/2", "1/10", "1", "5/2"])
def test_the_tail_of_the_sum_of_several_losses(threshold):
    """Of four discrete Gaussian pairs, by the sum over all outcomes within 20 of the centers: loss (1 - 2 k) / (2 v) at k."""
    variances, outcomes = (2, 3, 4, 5), np.arange(-20, 21)
    pair = product_of(DiscreteGaussianLaw(0, v).against(DiscreteGaussianLaw(1, v)) for v in variances)
    losses, masses = np.zeros(1), np.ones(1)
    for v in variances:
        heights = np.exp(-(outcomes**2) / (2 * v))
        losses = np.add.outer(losses, (1 - 2 * outcomes) / (2 * v)).ravel()
        masses = np.multiply.outer(masses, heights / heights.sum()).ravel()
    tail = masses[losses > float(Fraction(threshold))].sum()
    found = PrivacyLoss(pair).above(threshold)
    assert float(found.lower) - 1e-9 <= tail <= float(found.upper) + 1e-9
    assert float(found.width) < 0.02


# --- what a standard leaves to a test ------------------------------------------------------------


@pytest.mark.reference("K-O12", "K-T17")
def test_the_least_power_under_pure_privacy():
    """By the complement: a test that rejects at level 1 - 0.05 rejects with probability 1 - p at most."""
    assert 1 - allowed(Mult(), "0.95", 1) == pytest.approx(max(math.exp(-1) * 0.05, 1 - math.e * 0.95), abs=1e-12)
    assert 1 - allowed(Mult(), "0.95", 1) == pytest.approx(0.0183940, abs=1e-6)


@pytest.mark.reference("K-O13", "K-T17")
@pytest.mark.parametrize(("level", "power"), [
    ("0.01", 0.0271828), ("0.05", 0.1359141), ("0.1", 0.2718282), ("0.2689414", 0.7310585), ("0.5", 0.8160603),
    ("0.9", 0.9632121),
])  # fmt: skip
def test_randomised_response_attains_the_bound(level, power):
    assert 1 - float(TradeOff.of(RESPONSE).at(level)) == pytest.approx(power, abs=1e-6)
    assert allowed(Mult(), level, 1) == pytest.approx(power, abs=1e-6)


@pytest.mark.reference("K-O14", "K-T18")
def test_the_power_that_approximate_privacy_leaves():
    assert allowed(MultDelta(delta="0.01"), "0.05", 1) == pytest.approx(0.145914, abs=1e-6)
    assert allowed(MultDelta(delta="0.01"), "0.05", 1) == pytest.approx(min(math.e * 0.05 + 0.01, 1 - 0.94 / math.e), abs=1e-12)


@pytest.mark.reference("K-O15", "K-T19")
def test_the_power_that_one_renyi_order_leaves():
    found = allowed(Renyi(order=2), "0.05", 1)
    assert found == pytest.approx(0.335689, abs=1e-5)

    def second(p, q):
        return math.log(p * p / q + (1 - p) ** 2 / (1 - q))

    assert max(second(found, 0.05), second(0.05, found)) == pytest.approx(1, abs=1e-9)


@pytest.mark.reference("K-O16", "K-O24", "K-N2", "K-N12")
@pytest.mark.parametrize(("level", "power"), [("0.01", 0.486886), ("0.05", 0.741706), ("0.1", 0.844211)])
def test_gaussian_power_at_rho_of_the_file(level, power):
    """Table 2, and the same by N(0, 1/(2 rho)) against N(1, 1/(2 rho))."""
    found = allowed(GaussianTradeOff(), level, "sqrt(5.26)")
    noise = stats.norm(0, math.sqrt(1 / (2 * 2.63)))
    assert found == pytest.approx(power, abs=1e-6)
    assert found == pytest.approx(1 - noise.cdf(noise.ppf(1 - float(level)) - 1), abs=1e-9)
    assert round(found, 2) == {"0.01": 0.49, "0.05": 0.74, "0.1": 0.84}[level]


@pytest.mark.reference("K-O25", "K-D14")
def test_the_gaussian_trade_off_function():
    assert 1 - allowed(GaussianTradeOff(), "0.05", 1) == pytest.approx(0.740489, abs=1e-6)
    assert stats.norm.cdf(stats.norm.ppf(0.95) - 1) == pytest.approx(0.740489, abs=1e-6)


NEAR_ONE = [1 + Fraction(1, 2**k) for k in range(1, 21)]
ORDERS = [*NEAR_ONE, *(1 + Fraction(k, 1000) for k in range(80, 120)), *(Fraction(k, 20) for k in range(22, 200))]


@pytest.mark.reference("K-O18", "K-O20", "K-N2")
@pytest.mark.parametrize(("level", "power", "order"), [("0.01", 0.698160, 1.0987), ("0.05", 0.946584, 1), ("0.1", 0.962340, 1)])
def test_the_power_that_concentrated_privacy_leaves(level, power, order):
    """Twenty orders between 1 and 2 and the best one; at two of the levels the limit 1 is the best."""
    found = concentrated(level, RHO, ORDERS)
    best = min(found, key=found.__getitem__)
    assert found[best] == pytest.approx(power, abs=1e-5)
    assert float(best) == pytest.approx(order, abs=1e-2)
    assert round(found[best], 2) == {"0.01": 0.70, "0.05": 0.95, "0.1": 0.96}[level]
    assert allowed(DNor(), level, number(RHO).sqrt()) >= found[best]  # fewer orders say less


@pytest.mark.reference("K-O19", "K-S13")
@pytest.mark.parametrize(("level", "power"), [("0.05", 0.946584), ("0.1", 0.962340)])
def test_the_limit_of_the_orders_is_the_divergence_of_two_coins(level, power):
    """KL(p, 0.05) = 2.63 and KL(0.1, p) = 2.63, by scipy."""
    pair = (power, float(level)) if level == "0.05" else (float(level), power)
    p, q = pair
    assert special.rel_entr(p, q) + special.rel_entr(1 - p, 1 - q) == pytest.approx(2.63, abs=1e-4)
    limit = concentrated(level, RHO, [1 + Fraction(1, 10**6)])
    assert next(iter(limit.values())) == pytest.approx(power, abs=1e-5)


@pytest.mark.reference("K-O26")
def test_orders_from_2_on_give_a_wrong_answer():
    from_two = [order for order in ORDERS if order >= 2]
    found = [min(concentrated(level, RHO, from_two).values()) for level in LEVELS]
    assert found == pytest.approx([0.9949, 0.9953, 0.9958], abs=1e-3)


@pytest.mark.reference("K-O20", "K-O21", "K-O23", "K-N11")
@pytest.mark.parametrize(
    ("level", "gaussian", "bound", "order"),
    [("0.01", 0.031861, 0.037386, 6.291), ("0.05", 0.120473, 0.140181, 4.681), ("0.1", 0.209165, 0.240357, 3.677)],
)
def test_the_block_alone(level, gaussian, bound, order):
    """Table 6, at rho = 0.1115."""
    rho = Fraction("0.1115")
    found = concentrated(level, rho, [Fraction(k, 100) for k in range(200, 800)])
    best = min(found, key=found.__getitem__)
    assert found[best] == pytest.approx(bound, abs=1e-5)
    assert float(best) == pytest.approx(order, abs=1e-2)
    assert allowed(GaussianTradeOff(), level, number(2 * rho).sqrt()) == pytest.approx(gaussian, abs=1e-6)


@pytest.mark.reference("K-T20", "K-D13")
@pytest.mark.parametrize("level", ["0.001", "0.05", "0.4", "0.9"])
def test_a_trade_off_function_bounds_power_by_level_and_level_by_power(level):
    """p <= 1 - f(level) and level <= 1 - f(p): the second is the first of the complement, read backwards."""
    power = allowed(GaussianTradeOff(), level, "3/2")
    assert power == pytest.approx(stats.norm.cdf(stats.norm.ppf(float(level)) + 1.5), abs=1e-9)
    assert 1 - allowed(GaussianTradeOff(), str(1 - power), "3/2") == pytest.approx(float(level), abs=1e-9)


# --- probabilistically bounded privacy -----------------------------------------------------------

PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=2, max_size=5).filter(lambda w: any(p for p, _ in w))


def least_level(p, q, delta) -> float:
    """The least probability under P of a randomised event that has probability delta at least under Q: a linear program."""
    found = optimize.linprog(p, A_ub=[[-x for x in q]], b_ub=[-delta], bounds=[(0, 1)] * len(p))
    return found.fun


@pytest.mark.reference("K-T5", "K-T7", "K-D10", "K-D11", "K-D12", "K-T11")
@given(PAIRS, st.sampled_from(["1/20", "1/3", "9/10"]))
def test_pbdp_by_randomised_events(weights, delta):
    """Definition 5.4 by a linear program: epsilon is the largest ln(delta / level), in either order."""
    p, q = ([Fraction(x, sum(column)) for x in column] for column in zip(*weights, strict=True))
    laws = (FiniteLaw.of({i: x for i, x in enumerate(side) if x}) for side in (p, q))
    found = Pbdp(delta=delta).between(*laws).upper
    size = Fraction(delta)
    levels = [least_level(*(list(map(float, side)) for side in way), float(size)) for way in ((p, q), (q, p))]
    if min(levels) < 1e-9:
        assert found.is_infinite
    else:
        assert float(found) == pytest.approx(max(0.0, math.log(float(size) / min(levels))), abs=1e-7)


@pytest.mark.reference("K-T6")
@given(PAIRS)
def test_pbdp_at_every_delta_is_pure_privacy(weights):
    p, q = ({i: Fraction(x, sum(column)) for i, x in enumerate(column) if x} for column in zip(*weights, strict=True))
    laws = FiniteLaw.of(p), FiniteLaw.of(q)
    least = min(*p.values(), *q.values())
    assert Pbdp(delta=least).between(*laws).upper == Mult().between(*laws).upper


@pytest.mark.reference("K-T13")
@given(PAIRS, st.sampled_from([Fraction(5, 4), Fraction(2), Fraction(8)]), st.fractions("1/10", 4, max_denominator=10))
def test_tails_of_renyi_privacy(weights, order, more):
    """P(L > epsilon) <= e^((alpha - 1)(gamma - epsilon)) above gamma."""
    p, q = (tuple(column) for column in zip(*weights, strict=True))
    pair = FiniteDichotomy(p, q, sum(p), sum(q))
    gamma = pair.renyi(order).upper
    epsilon = Fraction(gamma.decimal(12)) + more
    assert float(PrivacyLoss(pair).above(epsilon).upper) <= math.exp(float(order - 1) * (float(gamma) - float(epsilon))) + 1e-9


# --- tails at the rho of the redistricting file --------------------------------------------------

FIGURE_1 = """
0.5 0.681419 0.823484 0.994697 1
1 0.607138 0.761369 0.973177 1
2 0.447473 0.608224 0.865158 1
3 0.294350 0.435918 0.679457 0.987071
4 0.170243 0.275137 0.462292 0.836597
5 0.0855345 0.150716 0.269126 0.586299
6 0.0369791 0.0708635 0.132940 0.339747
8 0.00428234 0.00960498 0.0193933 0.0644961
10 2.53585e-4 6.55701e-4 1.39316e-3 5.72334e-3
12 7.4827e-6 2.19897e-5 4.84754e-5 2.37412e-4
15 9.92339e-9 3.45345e-8 7.91582e-8 4.81995e-7
"""


@pytest.mark.reference("K-O46", "K-N13", "K-O27")
@pytest.mark.parametrize("row", FIGURE_1.split("\n")[1:-1])
def test_four_deltas_of_figure_1(row):
    """Approximate privacy and the raw tail as deltas; pbdp and the bound of rho as the epsilon at the printed delta."""
    arrows = {cls.name: cls() for cls in CONVERSIONS}
    epsilon, approximate, tail, pbdp, bound = row.split()
    pair = GaussianShift(number("5.26"))
    assert float(pair.hockey_stick(epsilon).upper) == pytest.approx(float(approximate), rel=1e-4)
    assert float(PrivacyLoss(pair).above(epsilon).upper) == pytest.approx(float(tail), rel=1e-4)

    def slope(delta):  # how fast ln(delta) falls with epsilon
        return max(abs(float(epsilon) - 2.63) / 5.26, 0.05) * float(delta)

    at = arrows["gaussian-to-pbdp"].convert(GaussianTradeOff(), number("sqrt(5.26)"), Pbdp(delta=pbdp)).upper
    assert abs(float(at) - float(epsilon)) * slope(pbdp) < 1e-4
    z = boundary(float(epsilon))
    assert stats.norm.cdf(MU - z) == pytest.approx(float(pbdp), rel=1e-4)
    if bound != "1":
        at = arrows["zcdp-to-pbdp"].convert(DNor(), number("2.63"), Pbdp(delta=bound)).upper
        assert float(at) == pytest.approx(float(epsilon), abs=1e-4)


def boundary(epsilon: float) -> float:
    """z with ln Phi(mu - z) - ln Phi(-z) = epsilon: the boundary of the best event (K-T12)."""
    return optimize.brentq(lambda z: stats.norm.logcdf(MU - z) - stats.norm.logcdf(-z) - epsilon, -20, 20)


@pytest.fixture(scope="module")
def census():
    """The 142 cells that a replaced person and household change, each with sigma^2 = 1/rho* (K-D38, K-N10)."""
    counted = Counter(rho_star(query, level) for query, level in spending())
    return counted, compose((DiscreteGaussianShift(1, 1 / rho), 2 * count) for rho, count in counted.items())


@pytest.mark.reference("K-O47", "K-A8")
@pytest.mark.parametrize(("epsilon", "delta"), [("1", 0.973176), ("4", 0.462284), ("8", 0.0193928), ("10", 1.39314e-3)])
def test_pbdp_of_the_production_noise(census, epsilon, delta):
    """The power at level delta e^-epsilon, the least H(x) + e^x level over x, is delta."""
    pair, level = census[1], delta * math.exp(-float(epsilon))

    def power(x):
        bracket = pair.hockey_stick(Fraction(x))
        return (float(bracket.lower) + float(bracket.upper)) / 2 + math.exp(x) * level

    start = float(epsilon)
    for step in (1.0, 0.125, 1 / 64):
        start = min((start + k * step for k in range(-8, 9)), key=power)
    assert power(start) == pytest.approx(delta, rel=1e-3)
    assert abs(power(start) - delta) < 1e-4


@pytest.mark.reference("K-O58", "K-D36")
@pytest.mark.parametrize("variance", ["0.25", "0.5", "1.2074", "5"])
def test_renyi_divergences_of_discrete_gaussians(variance):
    """alpha/(2 sigma^2) at whole orders, less between them; the sums by numpy."""
    size = Fraction(variance)
    pair = DiscreteGaussianShift(1, size)
    for order in (2, 5, 20):
        assert pair.renyi(order).lower == pair.renyi(order).upper == Fraction(order) / (2 * size)
    k = np.arange(-80, 81)
    for order in (1.5, 2.5):
        found = pair.renyi(Fraction(order))
        logs = -(order * k**2 + (1 - order) * (k - 1) ** 2) / (2 * float(size))
        by_sums = (special.logsumexp(logs) - special.logsumexp(-(k**2) / (2 * float(size)))) / (order - 1)
        assert float(found.upper) == pytest.approx(by_sums, abs=1e-9)
        assert found.upper <= Fraction(order) / (2 * size)
    printed = {("0.25", 1.5): 2.942461, ("0.25", 2.5): 4.980820, ("0.5", 1.5): 1.499586}
    for (which, order), value in printed.items():
        if which == variance:
            assert float(pair.renyi(Fraction(order)).upper) == pytest.approx(value, abs=1e-6)
            assert pair.renyi(Fraction(order)).upper < Fraction(order) / (2 * size)


@pytest.mark.long
@pytest.mark.reference("K-O64", "K-A9")
def test_sampling_the_production_noise_gives_the_same_powers(census):
    """A million losses (1 - 2k)/(2 sigma^2), drawn under each hypothesis."""
    source, draws = np.random.default_rng(20260101), 1_000_000
    near, far = np.zeros(draws), np.zeros(draws)
    for rho, count in census[0].items():
        size = float(rho)
        reach = math.ceil(12 / math.sqrt(size))
        k = np.arange(-reach, reach + 1)
        weights = np.exp(-size * k**2 / 2)
        steps = np.cumsum(weights / weights.sum())
        for _, side in itertools.product(range(2 * count), (0, 1)):
            drawn = k[np.minimum(np.searchsorted(steps, source.random(draws)), 2 * reach)] + side
            (far if side else near)[:] += (1 - 2 * drawn) * size / 2
    for level, power, allowance in ((0.01, 0.486886, 0.005), (0.05, 0.741707, 0.002), (0.1, 0.844211, 0.002)):
        assert np.mean(far < np.quantile(near, level)) == pytest.approx(power, abs=allowance)
