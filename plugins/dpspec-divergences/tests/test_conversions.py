"""Conversions: none is ever violated by a finite mechanism, and every tight one is attained by a mechanism."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from random import Random

import pytest
from dpspec_divergences import (
    DNor,
    FDivergence,
    GaussianTradeOff,
    HockeyStick,
    Mult,
    MultDelta,
    Pbdp,
    Renyi,
    TotalVariation,
    TradeOffSteps,
)
from dpspec_divergences.losses import LossTail
from dpspec_divergences.trade_off import curve_of_approximate, curve_of_pbdp
from dpspec_divergences.worst_pairs import worst_pairs

from dpspec import installed
from dpspec.base.errors import NoFormulaError, ParameterError
from dpspec.base.exact import Bracket, ln, number
from dpspec.grammar.rule import Conversion
from dpspec.laws.continuous import GaussianLaw
from dpspec.laws.integers import DiscreteGaussianLaw
from dpspec.laws.law import FiniteLaw
from dpspec.laws.trade_off import TradeOff
from dpspec.reason.conversions import paths

CONVERSIONS = [rule for rule in installed().registry.classes("rules") if issubclass(rule, Conversion)]

EVERY = {cls.name: cls() for cls in CONVERSIONS}
CLASS_WIDE = {name: arrow for name, arrow in EVERY.items() if arrow.mechanism is None}

NODES = {
    "mult": (Mult(),),
    "mult-delta": (MultDelta(delta="1/20"), MultDelta(delta="1/5")),
    "hockey-stick": (HockeyStick(epsilon="ln(3/2)"), HockeyStick(epsilon="1/3")),
    "renyi": (Renyi(order=2), Renyi(order="7/2")),
    "d-nor": (DNor(),),
    "total-variation": (TotalVariation(),),
    "f-divergence": tuple(
        FDivergence(generator=name, direction=way)
        for name in ("kl", "chi-squared", "hellinger", "total-variation")
        for way in ("both", "forward")
    ),
    "gaussian-trade-off": (GaussianTradeOff(),),
    "trade-off": (TradeOffSteps(epsilon="ln(5/4)"), TradeOffSteps(epsilon="ln(2)", delta="1/50")),
    "pbdp": (Pbdp(delta="1/20"), Pbdp(delta="3/5")),
    "probabilistic": (
        LossTail(delta="1/20"), LossTail(delta="3/10"), LossTail(delta="1/10", sides="both"),
        LossTail(delta="1/4", sides="both"),
    ),
}  # fmt: skip


def stated(divergence, bracket):
    """A bracket of the divergence as one of its budget."""
    square = divergence.budget_parameters[0] == "rho"
    return Bracket(lower=bracket.lower.squared(), upper=bracket.upper.squared()) if square else bracket


def random_law(source: Random, full: bool) -> FiniteLaw:
    weights = {place: source.choice((1, 1, 2, 3, 8, 40) if full else (0, 0, 1, 2, 7)) for place in range(3)}
    return FiniteLaw.from_weights(weights if any(weights.values()) else {0: 1})


def pairs(name: str, count: int):
    source = Random(name)
    for turn in range(count):
        yield random_law(source, turn % 4 != 0), random_law(source, turn % 4 != 0)


@pytest.mark.spread(7, slow=31)
@pytest.mark.parametrize("name", CLASS_WIDE)
def test_no_finite_mechanism_violates_it(name):
    arrow = CLASS_WIDE[name]
    asked = 0
    for left, right in pairs(name, 24):
        for source in NODES[arrow.source]:
            value = stated(source, source.between(left, right)).upper
            if value.is_infinite or not source.is_symmetric:
                continue
            for target in NODES[arrow.target]:
                bound = arrow.convert(source, value, target)
                if bound is None or bound.upper.is_infinite:
                    continue
                asked += 1
                found = stated(target, target.between(left, right))
                assert not found.lower > bound.upper, (source, value, target, left, right)
                assert bound.lower <= bound.upper
    assert asked > 5


def test_a_number_that_is_too_small_would_be_found():
    """The hunt sees a formula that is wrong by a tenth."""
    arrow = EVERY["pure-to-total-variation"]
    source, target = Mult(), TotalVariation()
    wrong = 0
    for left, right in pairs("wrong", 40):
        value = source.between(left, right).upper
        if not value.is_infinite:
            wrong += target.between(left, right).lower > arrow.convert(source, value, target).upper * Fraction(9, 10)
    assert wrong


@pytest.mark.parametrize("name", CLASS_WIDE)
def test_a_larger_budget_never_becomes_a_smaller_one(name):
    arrow = CLASS_WIDE[name]
    for source in NODES[arrow.source]:
        for target in NODES[arrow.target]:
            found = [arrow.convert(source, number(value), target) for value in ("1/10", "1/2", "1", "2")]
            known = [bound for bound in found if bound is not None]
            assert all(not late.upper < early.lower for early, late in itertools.pairwise(known))


# --- tightness -----------------------------------------------------------------------------------


def response(ratio, delta=0) -> tuple[FiniteLaw, FiniteLaw]:
    """Randomised response with this ratio, that tells the truth and says so with probability delta."""
    rest = 1 - Fraction(delta)
    heads, tails = rest * ratio / (1 + Fraction(ratio)), rest / (1 + Fraction(ratio))
    yes = {"yes": heads, "no": tails, "surely yes": Fraction(delta)}
    no = {"yes": tails, "no": heads, "surely no": Fraction(delta)}
    return FiniteLaw.of({k: v for k, v in yes.items() if v}), FiniteLaw.of({k: v for k, v in no.items() if v})


GAUSSIANS = GaussianLaw(0, 2), GaussianLaw(3, 2)  # mu^2 = 9/2, rho = 9/4
RESPONSE, FAILING, SAMPLING = response(3), response(3, "1/20"), response(1, "1/20")
CURVE = TradeOffSteps(epsilon="ln(2)", delta="1/50")
CURVED = response(2, "1/50")
KL, CHI = FDivergence(generator="kl", direction="both"), FDivergence(generator="chi-squared", direction="both")
ATTAINED = {
    "pure": (Mult(), RESPONSE),
    "approximate": (MultDelta(delta="1/20"), FAILING),
    "hockey-stick": (HockeyStick(epsilon="ln(3)"), FAILING),
    "total-variation": (TotalVariation(), SAMPLING),
    "curve": (CURVE, CURVED),
    "gaussian": (GaussianTradeOff(), GAUSSIANS),
}
SINGLE = {
    "zcdp-to-renyi": (DNor(), GAUSSIANS, NODES["renyi"]),
    "zcdp-to-kl": (DNor(), GAUSSIANS, (KL,)),
    "zcdp-to-chi-squared": (DNor(), GAUSSIANS, (CHI,)),
    "renyi-to-chi-squared": (Renyi(order=2), RESPONSE, (CHI,)),
    "chi-squared-to-renyi": (CHI, RESPONSE, (Renyi(order=2),)),
    "pbdp-to-probabilistic": (Pbdp(delta="1/20"), RESPONSE, (LossTail(delta="1/20"),)),
    "probabilistic-to-approximate": (LossTail(delta="1/20"), FAILING, (MultDelta(delta="1/20"),)),
    "zcdp-to-gaussian": (DNor(), GAUSSIANS, (GaussianTradeOff(),)),
    "zcdp-to-approximate-discrete-gaussian": (
        DNor(),
        (DiscreteGaussianLaw(0, 2), DiscreteGaussianLaw(1, 2)),
        NODES["mult-delta"],
    ),
}


def attaining(name):
    if name in SINGLE:
        return SINGLE[name]
    start = name.partition("-to-")[0]
    source, laws = ATTAINED[start]
    return source, laws, NODES[EVERY[name].target]


TIGHT = [name for name, arrow in EVERY.items() if arrow.tight]


@pytest.mark.spread(16)
@pytest.mark.reference("K-T10")
@pytest.mark.reference("K-T17")
@pytest.mark.reference("K-T18")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "gaussian-to-f-divergence" else name for name in TIGHT]
)
def test_a_mechanism_attains_it(name):
    source, (left, right), targets = attaining(name)
    value = stated(source, source.between(left, right))
    assert value.is_exact or float(value.upper) - float(value.lower) < 1e-12
    met = 0
    for target in targets:
        if target == source:
            continue
        bound = EVERY[name].convert(source, value.upper, target)
        if bound is None:
            continue
        found = stated(target, target.between(left, right))
        assert found.lower <= bound.upper
        assert bound.lower <= found.upper
        assert bound.upper.is_infinite or bound.is_exact or float(bound.upper) - float(bound.lower) < 1e-3
        met += 1
    assert met


def test_every_formula_says_what_it_is():
    for name, arrow in EVERY.items():
        assert isinstance(arrow, Conversion)
        assert arrow.formula, name
        assert arrow.citation, name
        assert arrow.sense, name
        assert arrow.name == name
    assert {name for name in EVERY if EVERY[name].tight} == set(TIGHT)
    assert set(EVERY) <= set(installed().registry.names("rules"))


@pytest.mark.parametrize("epsilon", ["1", "1/3", "ln(7)", "20"])
def test_what_pure_privacy_leaves_to_concentrated_privacy_is_epsilon_tanh(epsilon):
    """sup over alpha of D_alpha / alpha of randomised response is its Kullback-Leibler divergence, below epsilon^2/2.

    (alpha - 1) D_alpha = ln(cosh(u epsilon)/cosh(epsilon/2)), u = alpha - 1/2, is concave in u^2 = alpha (alpha - 1) + 1/4, since
    tanh(x)/x falls; so it is below its tangent at u = 1/2, which is alpha (alpha - 1) epsilon tanh(epsilon/2).
    """

    value = number(epsilon)
    best, simple = (EVERY[name].convert(Mult(), value, DNor()) for name in ("pure-to-zcdp", "pure-to-zcdp-simple"))
    size = float(value)
    assert float(best.upper) == pytest.approx(size * math.tanh(size / 2), rel=1e-9)
    assert best.upper < simple.lower
    assert float(simple.upper) == pytest.approx(size**2 / 2)


# --- the trap: no Gaussian curve from concentrated privacy alone ----------------------------------


@pytest.mark.reference("K-S21")
@pytest.mark.reference("K-T30")
def test_no_gaussian_trade_off_follows_from_rho_alone():
    """Randomised response of ratio 9 has rho = 0.8 ln 9 = 1.76; it is easier to tell apart than Gaussians with this rho."""
    laws = response(9)
    rho = stated(DNor(), DNor().between(*laws))
    claimed = EVERY["zcdp-to-gaussian"].convert(DNor(), rho.upper, GaussianTradeOff())
    assert claimed.upper < GaussianTradeOff().between(*laws).lower
    assert not any(
        arrow.source == "d-nor" and arrow.target in ("gaussian-trade-off", "trade-off") for arrow in CLASS_WIDE.values()
    )


def test_a_formula_for_a_known_mechanism_never_enters_a_derivation():
    from dpspec_divergences.routes import zcdp_spec

    goal = zcdp_spec(rho=1)
    assert all(not list(EVERY[name].propose(goal, goal)) for name in set(EVERY) - set(CLASS_WIDE))


@pytest.mark.parametrize(("source", "value"), [(Mult(), "65"), (GaussianTradeOff(), "65"), (CURVE, "101"), (DNor(), "1")])
def test_no_worst_pair_is_written_down_for_what_is_too_large_or_has_none(source, value):
    with pytest.raises(NoFormulaError):
        worst_pairs(source, number(value))


def test_infinite_budgets_convert_to_nothing_finite():
    for name, arrow in EVERY.items():
        for source in NODES[arrow.source]:
            for target in NODES[arrow.target]:
                found = arrow.convert(source, number("inf"), target)
                disjoint = target.between(FiniteLaw.point(0), FiniteLaw.point(1))
                bounded = not disjoint.lower.is_infinite or target.name in ("mult-delta", "probabilistic", "pbdp")
                assert found is None or found.upper.is_infinite or bounded, name


# --- curves from points --------------------------------------------------------------------------


def finite_pairs():
    for left, right in pairs("curves", 30):
        if set(left.support) == set(right.support):
            yield left, right


@pytest.mark.reference("K-T18")
@pytest.mark.reference("K-S10")
def test_the_whole_approximate_curve_gives_the_trade_off_function_back():
    """The corners of the hockey-stick curve are at the likelihood ratios; with all of them nothing is lost."""
    for left, right in finite_pairs():
        pair = left.against(right)
        both = [TradeOff.of(pair), TradeOff.of(pair.reverse())]
        ratios = {q / p for p, q in pair.atoms()} | {p / q for p, q in pair.atoms()} | {Fraction(1)}
        corners = [ln(ratio) for ratio in ratios if ratio >= 1]
        points = [(corner, HockeyStick(epsilon=corner).between(left, right).upper.as_fraction()) for corner in corners]
        curve = curve_of_approximate(points)
        assert all(exact >= curve for exact in both)
        assert all(min(exact.at(level) for exact in both) >= error for level, error in curve.knots)
        if both[0] == both[1]:
            assert curve == both[0]
        assert max(1 - a - b for a, b in curve.knots) == max(exact.advantage for exact in both)


@pytest.mark.slow
@pytest.mark.reference("K-T11")
def test_points_of_pbdp_give_a_curve_below_the_true_one_that_closes_in():
    for left, right in finite_pairs():
        pair = left.against(right)
        both = [TradeOff.of(pair), TradeOff.of(pair.reverse())]

        def curve(steps, left=left, right=right):
            deltas = [Fraction(k, steps) for k in range(1, steps + 1)]
            points = [(Pbdp(delta=delta).between(left, right).upper, delta) for delta in deltas]
            return curve_of_pbdp(points)

        coarse, fine = curve(4), curve(32)
        assert all(exact >= fine for exact in both)
        assert all(exact >= coarse for exact in both)
        assert fine >= coarse
        assert max(min(exact.at(a) for exact in both) - b for a, b in fine.knots) <= Fraction(1, 16)


@pytest.mark.parametrize("points", [[], [(1, 2)], [(-1, 0)], [("inf", 0)], [(1, 0)] * 65])
@pytest.mark.parametrize("function", [curve_of_approximate, curve_of_pbdp])
def test_points_that_are_none(function, points):
    with pytest.raises(ParameterError):
        function(points)


@pytest.mark.parametrize("rho", ["1e-9", "1/1000", "100", "900", "1e9", "1/3"])
def test_the_discrete_profile_is_said_where_it_can_be_computed(rho):
    found = EVERY["zcdp-to-approximate-discrete-gaussian"].convert(DNor(), number(rho), MultDelta(delta="1e-10"))
    assert (found is None) == (rho in ("1e-9", "900", "1e9"))


@pytest.mark.parametrize("generator", ["kl", "chi-squared", pytest.param("hellinger", marks=pytest.mark.slow), "total-variation"])
def test_the_closed_forms_of_gaussians_agree_with_the_engine(generator):
    target = FDivergence(generator=generator, direction="forward")
    closed = EVERY["gaussian-to-f-divergence"].convert(GaussianTradeOff(), number("3/2"), target)
    found = target.between(GaussianLaw(0, 4), GaussianLaw(3, 4))
    assert found.lower <= closed.upper
    assert closed.lower <= found.upper
    assert float(found.upper) - float(found.lower) < 0.01


def test_other_generators_of_gaussians_go_by_quadrature():
    target = FDivergence(generator="triangular", direction="forward")
    found = EVERY["gaussian-to-f-divergence"].convert(GaussianTradeOff(), number(1), target)
    assert 0 < float(found.lower) <= float(found.upper) < 1


@pytest.mark.parametrize(
    ("source", "target", "attained"),
    [
        (Renyi(order=2), FDivergence(generator="chi-squared", direction="both"), True),
        (Renyi(order=3), FDivergence(generator="chi-squared", direction="both"), False),
        (FDivergence(generator="chi-squared", direction="both"), Renyi(order=2), True),
        (FDivergence(generator="chi-squared", direction="both"), Renyi(order="3/2"), False),
        (Pbdp(delta="1/10"), LossTail(delta="1/10"), True),
        (Pbdp(delta="1/10"), LossTail(delta="1/5"), False),
    ],
)
def test_tight_is_said_only_where_it_is(source, target, attained):
    """chi-squared is a statement at order 2: from order 3, or to order 3/2, no mechanism attains the formula."""
    found = [path for path in paths(list(EVERY.values()), source, number("1/2"), target) if len(path.legs) == 1]
    assert [path.tight for path in found] == [attained]


@pytest.mark.parametrize("small", ["1e-15", "1e-20", "1e-35", "1e-300"])
@pytest.mark.parametrize("source", [Renyi(order=2), DNor(), TotalVariation()])
def test_pairs_that_use_up_a_tiny_budget_exist(source, small):
    """Of ln(1 + 1e-35) a ball of 64 bits contains 0: the pair had a negative variance, which was an error of the user."""
    bound = ln(1 + Fraction(small))
    for answers in source.extremal(bound):
        reached = source.between(answers.law(0), answers.law(1))
        assert reached.lower > 0
        assert reached.upper <= bound
    assert EVERY["renyi-to-total-variation"].converted(Renyi(order=2), bound, TotalVariation()) is not None
