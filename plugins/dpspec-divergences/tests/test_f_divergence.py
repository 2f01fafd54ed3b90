"""f-divergences against their definition, on random laws, and through cells where there are no finite atoms."""

from __future__ import annotations

import math
import random
from fractions import Fraction as F

import pytest
from dpspec_divergences import DNor, FDivergence, HockeyStick, Mult, MultDelta, Renyi, TotalVariation
from dpspec_divergences.f_divergence import NAMED
from flint import arb, ctx
from hypothesis import given, settings, strategies as st

from dpspec.base.errors import NoFormulaError, ParameterError
from dpspec.base.exact import INFINITY, Bracket, ln, number
from dpspec.base.log_linear import ball
from dpspec.laws.atoms import Sandwich
from dpspec.laws.combine import mixture
from dpspec.laws.continuous import GaussianLaw, LaplaceLaw
from dpspec.laws.dichotomy import Cell, Dichotomy
from dpspec.laws.integers import DiscreteGaussianLaw
from dpspec.laws.law import FiniteLaw

NAMES = ("kl", "chi-squared", "hellinger", "jensen-shannon", "triangular", "total-variation")
BOUNDED = {"hellinger": 1, "jensen-shannon": math.log(2), "triangular": 2, "total-variation": 1}
POSITIVE = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=5)
ANY = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=5).filter(
    lambda pairs: any(p for p, _ in pairs) and any(q for _, q in pairs)
)
BENT = ((F(0), F(3, 2)), (F(1, 2), F(1, 2)), (F(1), F(0)), (F(3), F(1)))

PLAIN = {
    "kl": lambda t: t * math.log(t) if t else 0.0,
    "chi-squared": lambda t: t * t - 1,
    "hellinger": lambda t: 1 - math.sqrt(t),
    "jensen-shannon": lambda t: (t * math.log(t) if t else 0) / 2 - (1 + t) / 2 * math.log((1 + t) / 2),
    "triangular": lambda t: (t - 1) ** 2 / (t + 1),
    "total-variation": lambda t: max(t - 1, 0),
}
"""Other forms of the same generators than the code has: they differ by multiples of t - 1."""


def laws(pairs):
    return tuple(FiniteLaw.from_weights(dict(enumerate(column))) for column in zip(*pairs, strict=True))


def by_definition(f, pairs):
    p_sum, q_sum = (sum(column) for column in zip(*pairs, strict=True))
    return sum(q / q_sum * f(p / p_sum * q_sum / q) for p, q in pairs)


@pytest.mark.reference("B-D30")
@settings(max_examples=40)
@given(pairs=POSITIVE, name=st.sampled_from(NAMES))
def test_it_is_the_mean_of_the_generator(pairs, name):
    left, right = laws(pairs)
    turned = [(q, p) for p, q in pairs]
    forth, back = by_definition(PLAIN[name], pairs), by_definition(PLAIN[name], turned)
    for direction, expected in (("forward", forth), ("backward", back), ("both", max(forth, back))):
        found = FDivergence(generator=name, direction=direction).between(left, right)
        assert float(found.lower) - 1e-9 <= expected <= float(found.upper) + 1e-9
        assert float(found.upper) - float(found.lower) < 1e-12


@settings(max_examples=30)
@given(pairs=ANY)
def test_rational_generators_are_exact_and_equal_their_sums(pairs):
    left, right = laws(pairs)
    p_sum, q_sum = (sum(column) for column in zip(*pairs, strict=True))
    masses = [(F(p, p_sum), F(q, q_sum)) for p, q in pairs if p or q]
    triangular = FDivergence(generator="triangular", direction="forward").between(left, right)
    assert triangular.lower == triangular.upper == sum((p - q) ** 2 / (p + q) for p, q in masses)
    assert (
        FDivergence(generator="total-variation", direction="both").between(left, right).lower
        == TotalVariation().between(left, right).lower
    )
    square = FDivergence(generator="chi-squared", direction="forward").between(left, right)
    infinite = any(p and not q for p, q in masses)
    assert square.lower == (INFINITY if infinite else sum((p - q) ** 2 / q for p, q in masses if q))


@settings(max_examples=30)
@given(pairs=ANY)
def test_a_generator_by_knots(pairs):
    """The bent line is a sum of hockey sticks, each one a supremum over events of its own."""
    left, right = laws(pairs)
    found = FDivergence(generator="piecewise-linear", direction="forward", knots=BENT).between(left, right)
    p_sum, q_sum = (sum(column) for column in zip(*pairs, strict=True))

    def f(p, q):  # q f(p/q), with slopes -2, -1 and 1/2
        return max(F(3, 2) * q - 2 * p, q - p, (p - q) / 2)

    assert found.lower == found.upper == sum(f(F(p, p_sum), F(q, q_sum)) for p, q in pairs)


@pytest.mark.reference("B-O36")
def test_values_of_randomised_response():
    laws = FiniteLaw.bernoulli("3/4"), FiniteLaw.bernoulli("1/4")
    values = {name: FDivergence(generator=name, direction="forward").between(*laws) for name in NAMES}
    assert values["kl"].lower == values["kl"].upper == ln(3) / 2
    assert values["chi-squared"].lower == F(4, 3)
    assert values["triangular"].lower == values["total-variation"].lower == F(1, 2)
    assert values["jensen-shannon"].lower == ln(F(3, 2)) * F(3, 4) + ln(F(1, 2)) / 4
    assert values["hellinger"].lower.decimal() == "0.133975"  # 1 - sqrt(3)/2


@pytest.mark.parametrize("name", NAMES)
def test_disjoint_laws_reach_the_largest_value(name):
    divergence = FDivergence(generator=name, direction="both")
    found = divergence.between(FiniteLaw.point(0), FiniteLaw.point(1)).lower
    assert found.is_infinite == (name not in BOUNDED)
    assert name not in BOUNDED or abs(float(found) - BOUNDED[name]) < 1e-12


@pytest.mark.parametrize("name", ["kl", "chi-squared"])
def test_the_direction_decides(name):
    """P has no mass where Q has some: finite one way, infinite the other."""
    thin, wide = FiniteLaw.point(0), FiniteLaw.uniform([0, 1])
    forward, backward, both = (FDivergence(generator=name, direction=way) for way in ("forward", "backward", "both"))
    assert not forward.between(thin, wide).upper.is_infinite
    assert backward.between(thin, wide).lower == both.between(thin, wide).lower == INFINITY
    assert backward.between(wide, thin).lower == forward.between(thin, wide).lower
    assert (forward.is_symmetric, backward.is_symmetric, both.is_symmetric) == (False, False, True)


@pytest.mark.spread(2, slow=4)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "kl"])
@pytest.mark.parametrize(
    "pair", [(GaussianLaw(0, 2), GaussianLaw(1, 2)), (LaplaceLaw(0, 1), LaplaceLaw(1, 1))], ids=["gaussian", "laplace"]
)
def test_continuous_laws_by_quadrature(name, pair):
    """Against a plain Riemann sum of the definition."""

    def density(law, x):
        if isinstance(law, LaplaceLaw):
            return math.exp(-abs(x - law.center)) / 2
        return math.exp(-((x - law.center) ** 2) / 4) / math.sqrt(4 * math.pi)

    grid = [(k + 0.5) / 500 - 20 for k in range(20500)]
    expected = sum(density(pair[1], x) * PLAIN[name](density(pair[0], x) / density(pair[1], x)) for x in grid) / 500
    found = FDivergence(generator=name, direction="forward").between(*pair)
    assert float(found.lower) - 2e-6 <= expected <= float(found.upper) + 2e-6
    assert float(found.upper) - float(found.lower) < 0.02


def test_closed_forms_of_gaussians():
    pair = GaussianLaw(0, 4), GaussianLaw(1, 4)
    assert FDivergence(generator="kl", direction="forward").between(*pair).lower == F(1, 8)
    assert FDivergence(generator="chi-squared", direction="both").between(*pair).lower.decimal() == "0.284025"  # e^(1/4) - 1


@settings(max_examples=20)
@given(pairs=POSITIVE, name=st.sampled_from(["hellinger", "jensen-shannon", "triangular", "total-variation"]))
def test_cells_enclose_the_exact_value(pairs, name):
    left, right = laws(pairs)
    pair = left.against(right)
    generator = FDivergence(generator=name, direction="forward").convex
    exact, enclosed = generator.divergence(pair, 64), generator.divergence(Sandwich.of(pair.cells), 64)
    assert enclosed.lower <= exact.upper
    assert exact.lower <= enclosed.upper


@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
@pytest.mark.parametrize("name", NAMES)
def test_largest_probability_is_where_the_bound_is_met(name, direction):
    divergence = FDivergence(generator=name, direction=direction)
    rng = random.Random(f"{name}{direction}")
    with ctx.workprec(128):
        for _ in range(6):
            q, bound = F(rng.randint(1, 30), 31), F(rng.randint(1, 40), 100)
            found = divergence.largest_probability(arb(q.numerator) / q.denominator, arb(bound.numerator) / bound.denominator)
            billionths = int((found.upper() * 10**9).floor().unique_fmpz())
            top, above = F(billionths - 5, 10**9), F(billionths + 5, 10**9)
            if q < top < 1:
                assert divergence.between(FiniteLaw.bernoulli(top), FiniteLaw.bernoulli(q)).upper <= bound
            if above < 1:
                assert divergence.between(FiniteLaw.bernoulli(above), FiniteLaw.bernoulli(q)).lower > bound


def test_what_bounds_it():
    kl, both = FDivergence(generator="kl", direction="forward"), FDivergence(generator="kl", direction="both")
    hellinger = FDivergence(generator="hellinger", direction="both")
    variation = FDivergence(generator="total-variation", direction="both")
    assert kl.bounded_by(both)[0] == kl.bounded_by(Renyi(order=2))[0] == kl.bounded_by(Mult())[0] == 1
    assert both.bounded_by(MultDelta(delta=0))[0] == 1
    assert both.bounded_by(kl) is None
    assert hellinger.bounded_by(TotalVariation())[0] == 1
    assert hellinger.bounded_by(Mult())[0] == F(1, 2)
    assert FDivergence(generator="jensen-shannon", direction="both").bounded_by(DNor())[0].decimal(3) == "0.49"
    assert FDivergence(generator="chi-squared", direction="both").bounded_by(Mult()) is None
    assert hellinger.bounded_by(HockeyStick(epsilon=0))[0] == 1
    assert variation.bounds(TotalVariation())[0] == 1
    assert number(0) < both.between(FiniteLaw.bernoulli("1/2"), FiniteLaw.bernoulli("1/3")).lower


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"generator": "kullback", "direction": "both"}, "must be one of"),
        ({"generator": "kl", "direction": "sideways"}, "must be one of"),
        ({"generator": "kl", "direction": "both", "knots": BENT}, "no other"),
        ({"generator": "piecewise-linear", "direction": "both"}, "belong to"),
        ({"generator": "piecewise-linear", "direction": "both", "knots": BENT[1:]}, "first at t = 0"),
        ({"generator": "piecewise-linear", "direction": "both", "knots": [[0, 0], [0, 1]]}, "increasing"),
        ({"generator": "piecewise-linear", "direction": "both", "knots": [[0, 0], [1, 0], [2, 1], [3, 1]]}, "convex"),
        ({"generator": "piecewise-linear", "direction": "both", "knots": [[0, 1], [1, 1], [2, 2]]}, "f\\(1\\) = 0"),
    ],
)
def test_faults_are_named(given, message):
    with pytest.raises(ParameterError, match=message):
        FDivergence(**given)


def test_laws_without_cells_have_no_formula():
    class Opaque(type(FiniteLaw.point(0).against(FiniteLaw.uniform([0, 1])))):
        """A pair that keeps its atoms to itself."""

        def exact_atoms(self):
            return None

        def cells(self, precision):
            return Dichotomy.cells(self, precision)

    pair = Opaque((1, 1), (1, 3), 2, 4)
    with pytest.raises(NoFormulaError, match="cannot be cut into cells"):
        FDivergence(generator="hellinger", direction="both").evaluate(pair)
    assert FDivergence(generator="chi-squared", direction="both").evaluate(pair).lower == F(1, 3)


@pytest.mark.slow
def test_integer_noise_and_mixtures_are_enclosed():
    hellinger = FDivergence(generator="hellinger", direction="both")
    found = hellinger.between(DiscreteGaussianLaw(0, F(1)), DiscreteGaussianLaw(1, F(1)))
    assert F(11750, 10**5) < found.lower <= found.upper < F(11751, 10**5)  # 1 - e^(-1/8) is that of the continuous one
    halves = [mixture([F(1, 2), F(1, 2)], [LaplaceLaw(0, 1), LaplaceLaw(center, 1)]) for center in (2, 3)]
    between = hellinger.between(*halves)
    assert number(0) < between.upper <= hellinger.between(LaplaceLaw(2, 1), LaplaceLaw(3, 1)).upper


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ends", [(F(0), F(2)), (F(0), F(8)), (F(1, 2), F(2)), (F(0), None), (F(1, 2), None)], ids=str)
def test_a_whole_cell_is_bounded_by_its_extreme_laws(name, ends):
    """Mass 1/2 under both laws, all of it at the two ends of the range of the ratio; None stands for an infinite ratio."""
    low, high = ends
    generator, half = NAMED[name], F(1, 2)
    top_q = F(0) if high is None else (half - low * half) / (high - low)
    top_p = half - low * half if high is None else top_q * high
    exact = FDivergence(generator=name, direction="forward").between(
        FiniteLaw.of({0: half, "top": top_p, "low": half - top_p}), FiniteLaw.of({0: half, "top": top_q, "low": half - top_q})
    )
    with ctx.workprec(96):
        log_low = arb.neg_inf() if low == 0 else ball(low).log()
        cell = Cell(ball(half), ball(half), log_low, arb.pos_inf() if high is None else ball(high).log())
        upper = Bracket.around(generator._most(cell) + arb(2) ** -80, least=0).upper
        assert exact.upper <= upper
        assert upper.is_infinite or low * (high or 0) or float(upper) < float(exact.lower) + 1e-12
        assert generator._least(cell) <= arb(2) ** -80
