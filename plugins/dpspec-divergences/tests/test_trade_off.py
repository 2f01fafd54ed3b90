"""Hockey stick, Gaussian privacy and steps of a curve: definitions by brute force, constants between them, faults."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction as F
from statistics import NormalDist

import pytest
from dpspec_divergences import (
    DNor,
    FDivergence,
    GaussianTradeOff,
    HockeyStick,
    Mult,
    MultDelta,
    Renyi,
    TotalVariation,
    TradeOffSteps,
)  # fmt: skip
from flint import arb, ctx
from hypothesis import given, settings, strategies as st

from dpspec.base import exact
from dpspec.base.errors import NoFormulaError, ParameterError
from dpspec.base.exact import INFINITY, ln, number, sqrt
from dpspec.base.work import spent
from dpspec.laws.atoms import FiniteDichotomy, Sandwich
from dpspec.laws.combine import mixture, product
from dpspec.laws.continuous import GaussianLaw, LaplaceLaw
from dpspec.laws.integers import DiscreteGaussianLaw, TwoSidedGeometricLaw
from dpspec.laws.law import FiniteLaw
from dpspec.laws.trade_off import TradeOff, least_mu

KNOTS = tuple((F(a, 9), F(b, 9)) for a, b in ((0, 9), (1, 5), (5, 1), (9, 0)))
MU, STEPS, CURVE = GaussianTradeOff(), TradeOffSteps(epsilon=ln(2)), TradeOffSteps(curve=KNOTS)
COINS = FiniteLaw.bernoulli("3/4"), FiniteLaw.bernoulli("1/4")


def some_laws(count, seed, *, zeros=False):
    rng = random.Random(seed)
    for _ in range(count):
        weights = [[rng.randint(0 if zeros else 1, 9) for _ in range(3)] for _ in range(3)]
        yield tuple(FiniteLaw.from_weights(dict(enumerate(w if any(w) else [1] * 3))) for w in weights)


def events(left, right):
    for size in range(4):
        for event in itertools.combinations(range(3), size):
            yield sum(map(left.probability, event), F(0)), sum(map(right.probability, event), F(0))


@pytest.mark.reference("B-D16")
@pytest.mark.reference("B-D19")
def test_hockey_stick_is_the_supremum_over_events():
    for left, right, _ in some_laws(40, 1, zeros=True):
        for ratio in (1, 2, F(7, 2)):
            expected = max(max(a - ratio * b, b - ratio * a) for a, b in events(left, right))
            assert HockeyStick(epsilon=ln(ratio)).between(left, right).lower == expected
        assert HockeyStick(epsilon=0).between(left, right).lower == TotalVariation().between(left, right).lower


@pytest.mark.reference("B-D16")
def test_hockey_stick_and_approximate_privacy_agree_on_neighbours_and_differ_on_pairs():
    """One answer: both say (ln 3, delta). Two: k delta at epsilon is not delta at k epsilon."""
    stick, approximate = HockeyStick(epsilon=ln(3)), MultDelta(delta="1/100")
    assert stick.between(*COINS).upper == 0
    assert approximate.between(*COINS).upper <= ln(3)
    twice = [product([coin, coin]) for coin in COINS]
    assert stick.between(*twice).lower == F(3, 8) > 2 * F(1, 100)
    assert approximate.between(*twice).upper <= ln(3) * 2
    assert not HockeyStick.is_metric
    ends = [FiniteLaw.bernoulli(p) for p in ("3/10", "1/2", "7/10")]
    one = HockeyStick(epsilon=ln(F(5, 3)))
    assert one.between(ends[0], ends[1]).upper == one.between(ends[1], ends[2]).upper == 0 < one.between(ends[0], ends[2]).lower


def test_mu_of_coins_and_gaussians():
    assert MU.between(*COINS).lower.decimal() == "1.34898"  # 2 Phi^-1(3/4)
    assert float(MU.between(*COINS).upper) == pytest.approx(2 * NormalDist().inv_cdf(0.75), abs=1e-14)
    assert MU.between(GaussianLaw(0, 2), GaussianLaw(1, 2)).lower == sqrt(F(1, 2))
    both = product([GaussianLaw(0, 1), GaussianLaw(0, 1)]), product([GaussianLaw(3, 1), GaussianLaw(4, 1)])
    assert MU.between(*both).lower == MU.between(*both).upper == 5
    assert MU.between(FiniteLaw.point(0), FiniteLaw.uniform([0, 1])).lower == INFINITY


@pytest.mark.long
def test_mu_of_other_noise():
    """Laplace noise by its trade-off function in floats; integer noise by two events; mixtures and products by both."""
    normal, e = NormalDist(), math.e

    def laplace(a):  # T of centers one scale apart
        return 1 - e * a if a < 1 / (2 * e) else 1 / (4 * e * a) if a <= 0.5 else (1 - a) / e

    expected = max(normal.inv_cdf(1 - k / 4000) - normal.inv_cdf(laplace(k / 4000)) for k in range(1, 4000))
    found = MU.between(LaplaceLaw(0, 1), LaplaceLaw(1, 1))
    assert found.lower <= found.upper < number(expected) + F(1, 10**4)
    assert float(found.upper) > expected - 1e-9
    listed = MU.between(TwoSidedGeometricLaw(0, ln(2)), TwoSidedGeometricLaw(3, ln(2)))
    cut = least_mu(Sandwich.of(TwoSidedGeometricLaw(0, ln(2)).against(TwoSidedGeometricLaw(3, ln(2))).cells))
    assert cut.lower <= listed.upper
    assert listed.lower <= cut.upper
    assert float(cut.upper) - float(cut.lower) < 1e-9
    integer = MU.between(DiscreteGaussianLaw(0, F(4)), DiscreteGaussianLaw(1, F(4)))
    assert F(1, 2) < integer.lower < integer.upper == INFINITY  # more than the 1/2 of the continuous one
    joint = [product([LaplaceLaw(center, 1), coin]) for center, coin in zip((0, 1), COINS, strict=True)]
    both = MU.between(*joint)
    assert found.lower < both.lower <= both.upper < found.upper + MU.between(*COINS).upper
    assert float(both.upper) - float(both.lower) < 1e-3
    mixed = [mixture([F(1, 2)] * 2, [LaplaceLaw(0, 1), LaplaceLaw(c, 1)]) for c in (0, 1)]
    assert 0 < MU.between(*mixed).upper <= found.upper


@pytest.mark.slow
@settings(max_examples=40)
@given(pairs=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=2, max_size=5))
def test_lines_and_events_enclose_what_the_knots_say(pairs):
    p, q = zip(*pairs, strict=True)
    pair = FiniteDichotomy(p, q, sum(p), sum(q))
    exact, cut = MU.evaluate(pair), least_mu(Sandwich.of(pair.cells))
    assert cut.lower <= exact.upper
    assert exact.lower <= cut.upper
    assert float(cut.upper) - float(exact.upper) < 1e-3
    assert float(exact.lower) - float(cut.lower) < 1e-9


@pytest.mark.slow
def test_mu_and_steps_are_metrics():
    for left, middle, right in some_laws(80, 2):
        for divergence in (MU, STEPS, CURVE):
            far, first, second = (divergence.between(*pair) for pair in ((left, right), (left, middle), (middle, right)))
            assert float(far.lower) <= float(first.upper) + float(second.upper) + 1e-12
            assert divergence.between(right, left).upper == far.upper


def test_steps_are_the_least_number_by_definition():
    """Both orders are looked at, and the curve of k steps is evaluated point by point from its recursion."""

    def value(level, steps):
        return 1 - level if steps == 0 else CURVE.f.at(1 - value(level, steps - 1))

    levels = [F(k, 60) for k in range(61)]
    for left, right, _ in some_laws(25, 3):
        found = CURVE.between(left, right)
        assert found.is_exact
        steps = int(found.lower.as_fraction())
        curves = [TradeOff.of(pair) for pair in (left.against(right), right.against(left))]
        knots = {level for curve in curves for level, _ in curve.knots}
        assert all(curve.at(a) >= value(a, steps) for curve in curves for a in [*levels, *knots])
        if steps:
            below = CURVE.f.group(steps - 1)
            assert not all(curve >= below for curve in curves)


def test_steps_of_laws_without_a_list_of_atoms():
    with pytest.raises(NoFormulaError, match="finitely many rational"):
        CURVE.between(LaplaceLaw(0, 1), LaplaceLaw(1, 1))


def test_steps_of_coins():
    values = {F(1, 2): 0, F(2, 3): 1, F(3, 4): 2, F(4, 5): 3}
    for truth, expected in values.items():
        assert STEPS.between(FiniteLaw.bernoulli(truth), FiniteLaw.bernoulli(1 - truth)).lower == expected
    assert str(TradeOff.approximate(2).group(2)) == "(0, 1), (1/6, 1/3), (1/3, 1/6), (1, 0)"  # holds (1/4, 1/4)


@pytest.mark.slow
def test_steps_never_end_or_are_cut_off_with_a_bound():
    point, wide = FiniteLaw.point(0), FiniteLaw.uniform([0, 1])
    assert STEPS.between(point, wide).lower == STEPS.between(GaussianLaw(0, 1), GaussianLaw(1, 1)).lower == INFINITY
    slack = TradeOffSteps(epsilon=ln(2), delta="1/10")
    assert slack.between(point, FiniteLaw.point(1)).is_exact
    short = TradeOffSteps(epsilon=ln(F(101, 100)))
    far = short.between(FiniteLaw.bernoulli(F(1, 10**9)), FiniteLaw.bernoulli(1 - F(1, 10**9)))
    assert (far.lower, far.upper) == (100, INFINITY)


CONSTANTS = {
    (HockeyStick(epsilon=ln(3)), HockeyStick(epsilon=ln(2))): number(1),
    (HockeyStick(epsilon=ln(3)), TotalVariation()): number(1),
    (HockeyStick(epsilon=0), Mult()): number(F(1, 2)),
    (HockeyStick(epsilon=ln(3)), DNor()): sqrt(F(1, 2)),
    (TotalVariation(), HockeyStick(epsilon=0)): number(1),
    (MU, Mult()): number(F(94, 75)),
    (DNor(), MU): sqrt(F(1, 2)),
    (TotalVariation(), MU): number(F(2, 5)),
    (HockeyStick(epsilon=ln(3)), MU): number(F(2, 5)),
    (Mult(), STEPS): ln(2),
    (TotalVariation(), STEPS): number(F(1, 3)),
    (FDivergence(generator="triangular", direction="both"), CURVE): number(F(2, 3)),
}


@pytest.mark.spread(6)
@pytest.mark.parametrize("pair", list(CONSTANTS), ids=lambda pair: f"{pair[0]} / {pair[1]}")
def test_constants_between_divergences(pair):
    smaller, larger = pair
    constant, reason = smaller.bounded_by(larger) or larger.bounds(smaller)
    assert constant == CONSTANTS[pair]
    assert reason
    for left, right, _ in some_laws(60, 4, zeros=True):
        less, more = smaller.between(left, right), larger.between(left, right)
        assert more.upper.is_infinite or float(less.lower) <= float(constant) * float(more.upper) + 1e-12


def test_constants_are_close_to_the_least():
    near = FiniteLaw.bernoulli(F(501, 1000)), FiniteLaw.bernoulli(F(499, 1000))
    assert float(MU.between(*near).upper) > 0.9999 * float(F(94, 75)) * float(Mult().between(*near).lower)
    assert float(TotalVariation().between(*near).lower) > 0.995 * 0.4 * float(MU.between(*near).upper)
    share = HockeyStick(epsilon=ln(3)).bounded_by(Mult())[0]
    ratios = [F(k, 4) for k in range(13, 120)]
    best = max(float((r - 3) / (r + 1)) / float(ln(r)) for r in ratios)
    assert best <= float(share) <= 1.01 * best
    mu = CURVE.bounds(MU)[0]
    assert float(mu) == pytest.approx(NormalDist().inv_cdf(8 / 9) + NormalDist().inv_cdf(4 / 9), abs=1e-9)
    assert float(CURVE.bounds(DNor())[0]) == pytest.approx(float(mu) / 2**0.5)


def test_no_constant_where_none_holds():
    """A step is a step, however close the laws; Renyi divergences grow with the square; an epsilon says nothing about a leak."""
    assert STEPS.bounded_by(Mult()) is None
    assert STEPS.bounds(Renyi(order=2)) is MU.bounds(Renyi(order=2)) is None
    assert TradeOffSteps(epsilon=ln(2), delta="1/10").bounds(Mult()) is None
    assert TradeOffSteps(epsilon=ln(2), delta="1/10").bounds(MU) is None
    assert HockeyStick(epsilon=ln(2)).bounded_by(HockeyStick(epsilon=ln(3))) is None
    assert HockeyStick(epsilon=1).bounded_by(MultDelta(delta="1/10")) is None
    assert MU.bounded_by(DNor()) is None


@pytest.mark.parametrize(
    ("divergence", "bound"),
    [
        (HockeyStick(epsilon=ln(2)), F(1, 5)),
        (MU, F(3, 2)),
        (STEPS, F(2)),
        (CURVE, F(1)),
        (TradeOffSteps(epsilon=0, delta="1/5"), F(1)),
    ],
    ids=str,
)
def test_largest_probability_is_where_the_bound_is_met(divergence, bound):
    with ctx.workprec(128):
        for place in range(1, 12):
            q = F(place, 12)
            found = divergence.largest_probability(arb(q.numerator) / q.denominator, arb(bound.numerator) / bound.denominator)
            billionths = int((found.upper() * 10**9).floor().unique_fmpz())
            below, above = F(billionths - 5, 10**9), F(billionths + 5, 10**9)
            assert divergence.between(FiniteLaw.bernoulli(min(below, F(1))), FiniteLaw.bernoulli(q)).upper <= bound
            if above < 1:
                assert divergence.between(FiniteLaw.bernoulli(above), FiniteLaw.bernoulli(q)).lower > bound


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "either a curve"),
        ({"curve": KNOTS, "epsilon": ln(2)}, "either a curve"),
        ({"curve": KNOTS, "delta": "1/10"}, "either a curve"),
        ({"curve": [[0, 1], ["1/2", "1/4"], [1, 0]]}, "own inverse"),
        ({"curve": [[0, 1], [1, 0]]}, "below 1 - a"),
        ({"curve": [[0, 1], ["1/2", "3/4"], [1, 0]]}, "convex"),
        ({"epsilon": 1}, "irrational"),
        ({"epsilon": 0}, "below 1 - a"),
        ({"epsilon": "inf"}, "in \\[0, inf\\)"),
    ],
)
def test_faults_are_named(given, message):
    with pytest.raises(ParameterError, match=message):
        TradeOffSteps(**given)


def test_hockey_sticks_at_an_epsilon_beyond_all_doubles():
    stick = HockeyStick(epsilon="1e400")
    assert stick.bounded_by(Mult())[0] == F(1, 1000)
    laws = [DiscreteGaussianLaw(place, F(1)) for place in (0, 1)]
    assert stick.between(*laws).upper < F(1, 10**300)


@pytest.mark.parametrize("epsilon", ["1/50", "1/2", "3", "40"])
def test_the_share_of_pure_privacy_is_not_below_that_of_any_pair(epsilon):
    share, free = HockeyStick(epsilon=epsilon).bounded_by(Mult())[0], float(F(epsilon))
    losses = [free * (1 + step / 200) for step in range(1, 2_000)]
    shares = [(1 - math.exp(free - loss)) / ((1 + math.exp(-loss)) * loss) for loss in losses]
    assert max(shares) <= float(share.as_fraction()) <= max(shares) * 1.03 + 0.035


def test_a_curve_of_many_knots_is_hashed_once(monkeypatch):
    half = [(F(place, 3_000), (F(19, 10) / (1 + F(place, 3_000)) - 1)) for place in range(1, 1_000, 40)]
    steps = TradeOffSteps(curve=((F(0), F(9, 10)), *half, *((b, a) for a, b in reversed(half)), (F(9, 10), F(0)), (F(1), F(0))))
    assert len(steps.f.knots) > 50
    hashes = []
    known = F.__hash__
    monkeypatch.setattr(F, "__hash__", lambda number: hashes.append(1) or known(number))
    assert steps.f is steps.f
    assert not hashes


def test_work_of_curves_is_counted():
    curve = TradeOffSteps(epsilon="ln(2)").f
    before = spent()
    assert curve.after(curve) <= curve
    assert spent() - before >= 8 * (3 + 3) * 2


def test_equal_releases_are_one_product(monkeypatch):
    squared = []
    known = exact.rounded_product
    monkeypatch.setattr(exact, "rounded_product", lambda one, other: squared.append(1) or known(one, other))
    mu = number("1/3")
    assert GaussianTradeOff().composed([(GaussianTradeOff(), mu)] * 900).value == 10
    assert len(squared) == 1
    added = []
    plus = F.__add__
    monkeypatch.setattr(F, "__add__", lambda one, other: added.append(1) or plus(one, other))
    part = (MultDelta(delta=F(1, 10**6)), mu)
    found = MultDelta(delta=0).composed([part] * 900)
    assert (found.divergence.delta, found.value) == (F(9, 10**4), 300)
    assert len(added) < 100
