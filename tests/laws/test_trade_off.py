"""Trade-off functions against all randomised tests, and their algebra."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction as F
from statistics import NormalDist

import pytest
from hypothesis import given, settings, strategies as st

from dpspec.base.errors import NoFormulaError, ParameterError
from dpspec.base.exact import number
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.continuous import GaussianLaw, GaussianShift
from dpspec.laws.integers import DiscreteGaussianShift
from dpspec.laws.law import FiniteLaw
from dpspec.laws.samples import sampled
from dpspec.laws.trade_off import PERFECT, TradeOff, _gap_from, least_mu

WEIGHTS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=4).filter(
    lambda pairs: any(p for p, _ in pairs) and any(q for _, q in pairs)
)
LEVELS = st.fractions(0, 1, max_denominator=40)


def dichotomy(pairs):
    p, q = zip(*pairs, strict=True)
    return FiniteDichotomy(p, q, sum(p), sum(q))


def by_tests(pairs, level):
    """The least error over mixtures of two events, which is what a randomised test is."""
    atoms = dichotomy(pairs).atoms()
    errors = [
        (sum(p for (p, _), inside in zip(atoms, event, strict=True) if inside),
         1 - sum(q for (_, q), inside in zip(atoms, event, strict=True) if inside))
        for event in itertools.product((0, 1), repeat=len(atoms))
    ]  # fmt: skip
    best = [b for a, b in errors if a <= level]
    for (a, b), (c, d) in itertools.product(errors, repeat=2):
        if a <= level < c:
            best.append(b + (d - b) * (level - a) / (c - a))
    return min(best)


@settings(max_examples=80)
@given(pairs=WEIGHTS, level=LEVELS)
def test_it_is_the_least_error_of_any_test(pairs, level):
    assert TradeOff.of(dichotomy(pairs)).at(level) == by_tests(pairs, level)


@pytest.mark.slow
@given(pairs=WEIGHTS)
def test_the_inverse_is_the_other_order(pairs):
    curve = TradeOff.of(dichotomy(pairs))
    assert curve.inverse() == TradeOff.of(dichotomy(pairs).reverse())
    assert curve.inverse().inverse() == curve
    assert curve.advantage == dichotomy(pairs).total_variation().lower
    assert curve <= PERFECT
    assert (curve == PERFECT) == dichotomy(pairs).is_identical


@settings(max_examples=60)
@given(one=WEIGHTS, two=WEIGHTS, level=LEVELS)
def test_composition_and_order_point_by_point(one, two, level):
    first, second = TradeOff.of(dichotomy(one)), TradeOff.of(dichotomy(two))
    assert second.after(first).at(level) == second.at(1 - first.at(level))
    if first >= second:
        assert first.at(level) >= second.at(level)
    assert (first >= second and second >= first) == (first == second)


@settings(max_examples=60)
@given(weights=st.lists(st.tuples(*[st.integers(0, 9)] * 3), min_size=2, max_size=4))
def test_the_curve_of_a_chain_bounds_that_of_its_ends(weights):
    """T(P, R) >= T(Q, R)(1 - T(P, Q))."""
    columns = list(zip(*weights, strict=True))
    if all(any(column) for column in columns):
        p, q, r = columns
        chain = TradeOff.of(dichotomy(list(zip(q, r, strict=True)))).after(TradeOff.of(dichotomy(list(zip(p, q, strict=True)))))
        assert TradeOff.of(dichotomy(list(zip(p, r, strict=True)))) >= chain


@pytest.mark.reference("B-D16")
@given(pairs=WEIGHTS, ratio=st.integers(1, 6), delta=st.fractions(0, F(9, 10), max_denominator=20))
def test_approximate_privacy_is_a_curve(pairs, ratio, delta):
    """(ln r, delta) holds both ways exactly when T >= f (Wasserman and Zhou 2010)."""
    pair = dichotomy(pairs)
    private = all(sum((max(p - ratio * q, F(0)) for p, q in way.atoms()), F(0)) <= delta for way in (pair, pair.reverse()))
    assert (TradeOff.of(pair) >= TradeOff.approximate(ratio, delta)) == private


@settings(max_examples=40)
@given(pairs=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=4))
def test_least_mu_touches_the_gaussian_curve(pairs):
    """In floats, on a grid of levels: G_mu lies below T, and with a smaller mu it does not."""
    curve, normal = TradeOff.of(dichotomy(pairs)), NormalDist()
    found = curve.least_mu()
    assert float(found.upper) - float(found.lower) < 1e-15
    mu, levels = float(found.lower), [F(k, 200) for k in range(1, 200)] + [a for a, _ in curve.knots[1:-1]]

    def slack(mu):
        return min(float(curve.at(a)) - normal.cdf(normal.inv_cdf(float(1 - a)) - mu) for a in levels)

    assert slack(mu) > -1e-9
    assert mu == 0 or slack(mu * 0.98) < 0


def test_mu_of_tiny_errors():
    tiny = F(1, 10**30)
    found = TradeOff.of(FiniteLaw.bernoulli(tiny).against(FiniteLaw.bernoulli(1 - tiny))).least_mu()
    assert found.lower.decimal() == found.upper.decimal() == "22.928"  # 2 Phi^-1(1 - 1e-30) = 2 x 11.464
    for pair in itertools.permutations((FiniteLaw.point(0), FiniteLaw.uniform([0, 1]))):
        assert TradeOff.of(pair[0].against(pair[1])).least_mu().lower.is_infinite


def test_groups():
    curve = TradeOff.approximate(3)
    assert curve.group(0) == PERFECT
    assert curve.group(1) == curve
    for size in range(1, 5):
        larger = curve.group(size + 1)
        assert larger == curve.after(curve.group(size)) == curve.group(size).after(curve)
        assert larger.is_symmetric
        assert curve.group(size) >= larger >= TradeOff.approximate(3 ** (size + 1))
        assert larger.largest_ratio == 3 ** (size + 1)


@pytest.mark.parametrize(
    ("knots", "message"),
    [
        ([(0, 1)], "end in"),
        ([(0, 1), (1, "1/2")], "end in"),
        ([("1/2", 1), (1, 0)], "start at level 0"),
        ([(0, 2), (1, 0)], "at most 1"),
        ([(0, 1), ("1/2", "3/4"), (1, 0)], "convex"),
        ([(0, 1), ("1/2", "-1/4"), (1, 0)], "convex"),
        ([(0, 1, 2), (1, 0)], "pairs"),
    ],
)
def test_points_on_no_curve(knots, message):
    with pytest.raises(ParameterError, match=message):
        TradeOff(knots)


def test_levels_and_laws_outside():
    with pytest.raises(ParameterError, match=r"\[0, 1\]"):
        PERFECT.at("5/4")
    with pytest.raises(NoFormulaError, match="no exact trade-off"):
        TradeOff.of(GaussianLaw(0, 1).against(GaussianLaw(1, 1)))


# --- the least mu of noise on integers, and of samples ------------------------------------------------


def in_decimals(variance: F, shift: int, far: int) -> list[Decimal]:
    """The gaps of the tests {X >= k} of two discrete Gaussians: tails are sums, quantiles are found by halving, in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        v = Decimal(variance.numerator) / variance.denominator
        weights = {k: (-k * k / (2 * v)).exp() for k in range(-far, far + 1)}
        whole = sum(weights.values())
        tails, tail = {}, Decimal(0)
        for k in range(far, -far - 1, -1):
            tail += weights[k] / whole
            tails[k] = tail
        middle = far // 2
        return [quantile(tails[k]) - quantile(tails[k - shift]) for k in range(-middle, middle + 1 + shift)]


def quantile(tail: Decimal) -> Decimal:
    """x with P(N > x) = tail, for a tail above 1e-30."""
    low, high = Decimal(-12), Decimal(12)
    for _ in range(60):
        x = (low + high) / 2
        low, high = (x, high) if upper_tail(x) > tail else (low, x)
    return low


def upper_tail(x: Decimal) -> Decimal:
    """1/2 - the sum of (-1)^n x^(2n+1) / (n! 2^n (2n+1)) / sqrt(2 pi)."""
    total, term, n = Decimal(0), x, 0
    while abs(term) > Decimal("1e-55"):
        total += term / (2 * n + 1)
        n += 1
        term *= -x * x / (2 * n)
    return Decimal("0.5") - total / (2 * Decimal("3.14159265358979323846264338327950288419716939937510582097494459")).sqrt()


@pytest.mark.parametrize(
    ("variance", "shift"), [("1", 1), ("1", 2), ("1", 3), ("1/4", 1), ("2", 3), ("5/2", 4), ("9", 1), ("9", 2)]
)
def test_discrete_gaussians_have_a_finite_least_mu(variance: str, shift: int) -> None:
    found = least_mu(DiscreteGaussianShift(shift, F(variance)))
    true = float(max(in_decimals(F(variance), shift, math.ceil(10 * math.sqrt(F(variance))))))
    assert float(found.lower) == pytest.approx(true, rel=1e-12)
    assert true * (1 - 1e-12) <= float(found.upper) <= true * 1.01


def test_the_least_mu_of_variance_one() -> None:
    found = least_mu(DiscreteGaussianShift(1, F(1)))
    assert found.lower.decimal(6) == found.upper.decimal(6) == "1.04576"


@pytest.mark.parametrize(("variance", "shift"), [
    ("1", 3), ("1/4", 1), ("1/9", 1), ("4", 2), *(pytest.param(variance, 1, marks=pytest.mark.slow) for variance in ("1", "25")),
])  # fmt: skip
def test_corners_far_out_are_within_the_bound_for_all_of_them(variance: str, shift: int) -> None:
    far = math.ceil(10 * math.sqrt(F(variance)))
    gaps = in_decimals(F(variance), shift, 2 * far)  # of k = -far, ..., far + shift
    for m in range(math.ceil(math.sqrt(F(variance)) + 0.5), far // 2 + 1):
        later = gaps[far + m + shift :]
        assert max(map(float, later)) <= float(_gap_from(m, shift, F(variance)).lower())


@pytest.mark.parametrize("pair", [GaussianShift(number(4)), GaussianShift(number("1/100"))], ids=str)
def test_a_sample_of_gaussian_noise_has_the_least_mu_of_the_whole(pair: GaussianShift) -> None:
    """Events far out show it: at z the gap is mu - ln(1/q)/z, about."""
    normal, mu, rate = NormalDist(), math.sqrt(float(pair.mu_squared)), 0.1
    for way in (sampled(pair, F(1, 10)), sampled(pair, F(1, 10)).reverse()):
        assert str(least_mu(way)) == str(least_mu(pair))
    for z in (2.0, 5.0):
        power = (1 - rate) * normal.cdf(-z) + rate * normal.cdf(mu - z)
        assert normal.inv_cdf(power) + z < mu


def test_a_sample_of_discrete_gaussian_noise_has_at_most_the_least_mu_of_the_whole() -> None:
    pair = DiscreteGaussianShift(1, F(1))
    found = least_mu(sampled(pair, F(1, 10)))
    assert 0 < found.lower <= found.upper
    assert found.upper <= least_mu(pair).upper
