"""Trade-off functions against all randomised tests, and their algebra."""

from __future__ import annotations

import itertools
from fractions import Fraction as F
from statistics import NormalDist

import pytest
from hypothesis import given, settings, strategies as st

from dpspec.base.errors import NoFormulaError, ParameterError
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.continuous import GaussianLaw
from dpspec.laws.law import FiniteLaw
from dpspec.laws.trade_off import PERFECT, TradeOff

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
