"""Noise laws and their shifts: exact values, tails, and quadrature or summation in floats as independent oracle."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings, strategies as st
from scipy import integrate, stats

from dpspec.base.errors import NoFormulaError, ParameterError, WorkLimitError
from dpspec.base.exact import INFINITY, Bracket, ln, number, sqrt
from dpspec.base.log_linear import dyadic
from dpspec.base.work import limited
from dpspec.laws import (
    DiscreteGaussianLaw,
    FiniteLaw,
    GaussianLaw,
    LaplaceLaw,
    StaircaseLaw,
    TwoSidedGeometricLaw,
    law,
    push_forward,
)
from dpspec.laws.integers import DiscreteGaussianShift, gaussian_sums
from dpspec.laws.products import product_of

ORDERS = ("1", "5/4", "3/2", "2", "7/3", "3", "8")


def inside(bracket: Bracket, value: float, slack: float = 1e-9) -> None:
    """The float oracle lies in the bracket, up to its own error."""
    assert bracket.lower <= bracket.upper
    assert float(bracket.lower) - slack <= value <= float(bracket.upper) + slack


def holds(ball: arb, value: float, slack: float = 1e-12) -> None:
    assert abs(float(ball.mid()) - value) <= slack
    assert float(ball.rad()) < 1e-15


def sums(p, q, window: range) -> list[tuple[float, float]]:
    """Float masses of two laws on the integers."""
    return [(float(p.mass(k).mid()), float(q.mass(k).mid())) for k in window]


def renyi(atoms: list[tuple[float, float]], alpha: float) -> float:
    if alpha == 1:
        return math.fsum(a * math.log(a / b) for a, b in atoms if a > 1e-300)
    return math.log(math.fsum(math.exp(alpha * math.log(a) + (1 - alpha) * math.log(b)) for a, b in atoms if a)) / (alpha - 1)


# --- two-sided geometric ---------------------------------------------------------------------------------------------


@pytest.mark.reference("B-O51")
def test_geometric_count_and_histogram():
    near, far = TwoSidedGeometricLaw.with_ratio(3, "1/2"), TwoSidedGeometricLaw.with_ratio(4, "1/2")
    assert near.against(far).max_log_ratio().lower == ln(2)
    joint = product_of([near.against(far), far.against(near)])
    assert joint.max_log_ratio().lower == 2 * ln(2)
    assert joint.max_log_ratio().is_exact


@pytest.mark.reference("B-O52")
@pytest.mark.parametrize("n", [1, 2, 5])
def test_clamping_does_not_hurt(n):
    laws = [TwoSidedGeometricLaw.with_ratio(center, "1/2") for center in range(n + 1)]
    exact = [law.clamped(0, n).against(other.clamped(0, n)).max_log_ratio() for law, other in itertools.pairwise(laws)]
    assert max(bracket.lower for bracket in exact) == ln(2)

    def clamp(k: int) -> int:
        return min(max(k, 0), n)

    general = push_forward(laws[0], clamp).against(push_forward(laws[1], clamp)).max_log_ratio()
    assert general.upper == ln(2)
    assert general.lower > ln(2) - Fraction(1, 10**15)


@pytest.mark.reference("B-S15")
def test_truncating_does_hurt():
    noise = TwoSidedGeometricLaw.with_ratio(0, "1/2")
    cut = FiniteLaw.from_weights({k: 2 ** (8 - abs(k)) for k in range(-8, 9)})
    moved = FiniteLaw.from_weights({k + 1: 2 ** (8 - abs(k)) for k in range(-8, 9)})
    assert cut.against(moved).max_log_ratio().lower == INFINITY
    assert cut.against(moved).concentration().lower == INFINITY
    assert cut.against(noise).max_log_ratio().upper < INFINITY
    assert noise.against(cut).renyi(2).lower == INFINITY


@pytest.mark.slow
@given(st.integers(-3, 3), st.integers(-3, 3), st.sampled_from([ln(2), ln("3/2"), number(1), number("1/3"), sqrt(2)]))
@settings(deadline=None)
def test_geometric_shift(center, other, decay):
    p, q = TwoSidedGeometricLaw(center, decay), TwoSidedGeometricLaw(other, decay)
    pair = p.against(q)
    assert pair.max_log_ratio().lower == decay * abs(center - other)
    assert pair.max_log_ratio().is_exact
    atoms = sums(p, q, range(-200, 201))
    for order in ORDERS:
        inside(pair.renyi(order), renyi(atoms, float(Fraction(order))))
    for epsilon in ("0", "1/2", "-1/3", "2"):
        value = math.fsum(max(0.0, a - math.exp(float(Fraction(epsilon))) * b) for a, b in atoms)
        inside(pair.hockey_stick(epsilon), value)


def test_many_step_geometric_shift_agrees_with_its_atoms():
    """300 steps leave the rational route, 5000 the atoms: both must agree with the same closed forms."""
    for shift in (300, 5000):
        pair = TwoSidedGeometricLaw(0, ln("101/100")).against(TwoSidedGeometricLaw(shift, ln("101/100")))
        assert pair.max_log_ratio().lower == ln("101/100") * shift
        r = 100 / 101
        variation = 1 - 2 * r ** (shift // 2) / (1 + r) + (r ** (shift // 2) * (1 - r) / (1 + r))
        inside(pair.total_variation(), variation, 1e-6)
        assert float(pair.total_variation().upper) - float(pair.total_variation().lower) < 1e-4


def test_geometric_masses_and_tails_are_exact():
    law = TwoSidedGeometricLaw.with_ratio(2, "1/3")
    total = sum((law.probability(k) for k in range(-3, 8)), Fraction(0))
    assert total + law.at_least(8) + (1 - law.at_least(-3)) == 1
    assert law.at_least(3) - law.at_least(4) == law.probability(3)
    for k in (-4, 1, 2, 3, 9):
        below, above = law.tail(k)
        holds(above, float(law.at_least(k)))
        holds(below, float(1 - law.at_least(k + 1)))
        holds(law.mass(k), float(law.probability(k)))
    assert law.mass("x").is_zero()
    assert law.mass(Fraction(1, 2)).is_zero()
    assert law.mass(2.0).overlaps(law.mass(2))


def test_an_irrational_ratio_has_no_exact_masses():
    with pytest.raises(NoFormulaError, match="mass and tail"):
        TwoSidedGeometricLaw(0, 1).probability(0)
    assert TwoSidedGeometricLaw(0, ln(4) / 2).ratio == Fraction(1, 2)


# --- discrete Gaussian -----------------------------------------------------------------------------------------------


@pytest.mark.reference("B-O35")
@pytest.mark.parametrize(("shift", "variance", "value"), [(1, 1, 0.707107), (2, 1, 1.414214), (1, "1/2", 1), (3, 4, 1.060660)])
def test_discrete_gaussian_concentration(shift, variance, value):
    pair = DiscreteGaussianLaw(0, variance).against(DiscreteGaussianLaw(shift, variance))
    for found in (pair.concentration().sqrt(), pair.reverse().concentration().sqrt()):
        assert found.is_exact
        assert found.lower.squared() == shift**2 / (2 * Fraction(variance))
        assert float(found.lower) == pytest.approx(value, abs=1e-6)


@pytest.mark.reference("B-S14")
@pytest.mark.parametrize(("shift", "variance"), [(1, "1/2"), (2, "3/4"), (1, 3), (3, 4)])
def test_discrete_gaussian_renyi(shift, variance):
    p, q = DiscreteGaussianLaw(5, variance), DiscreteGaussianLaw(5 + shift, variance)
    rate = shift**2 / (2 * Fraction(variance))
    atoms = sums(p, q, range(-60, 71))
    for order in ORDERS:
        bracket = p.against(q).renyi(order)
        inside(bracket, renyi([(a, b) for a, b in atoms if a > 1e-280 and b > 1e-280], float(Fraction(order))), 1e-8)
        assert bracket.upper <= Fraction(order) * rate
        assert bracket.is_exact == (((Fraction(order) - 1) * shift).denominator == 1)
    assert p.against(q).renyi("3/2").lower < rate * Fraction(3, 2) or shift % 2 == 0


@pytest.mark.reference("B-O54")
def test_histogram_with_discrete_gaussian_noise():
    one = DiscreteGaussianLaw(4, 3).against(DiscreteGaussianLaw(5, 3))
    both = one.concentration().lower * 2
    assert both == Fraction(1, 3)


@pytest.mark.parametrize("variance", ["1/9", "1/2", "1", "7/2", "100", "100000"])
def test_discrete_gaussian_mass_and_tail(variance):
    law, sigma = DiscreteGaussianLaw(-2, variance), math.sqrt(Fraction(variance))
    reach = int(20 * sigma) + 3
    terms = {k: math.exp(-((k / sigma) ** 2) / 2) for k in range(-reach, reach + 1)}
    total = math.fsum(terms.values())
    for offset in (0, 1, 2, int(sigma), int(3 * sigma)):
        holds(law.mass(offset - 2), terms[offset] / total, 1e-10)
        below, above = law.tail(offset - 2)
        holds(above, math.fsum(v for k, v in terms.items() if k >= offset) / total, 1e-10)
        holds(below, math.fsum(v for k, v in terms.items() if k <= offset) / total, 1e-10)


@pytest.mark.parametrize("variance", ["200", "300", "5000"])
def test_both_tail_routes_agree(variance):
    from dpspec.laws.integers import _euler_maclaurin, _half_sum

    for start in (1, 10, 40):
        with ctx.workprec(112):
            direct, quick = _half_sum(Fraction(variance), Fraction(start), 96), _euler_maclaurin(Fraction(variance), start, 96)
        assert direct.overlaps(quick)
        assert float(quick.rad()) < 1e-20


def test_wide_discrete_gaussian_stays_narrow():
    bracket = DiscreteGaussianLaw(0, 10**6).against(DiscreteGaussianLaw(500, 10**6)).hockey_stick("1/10")
    inside(bracket, _gaussian_delta(0.5, 0.1), 1e-4)
    assert float(bracket.upper) - float(bracket.lower) < 1e-5


# --- Gaussian --------------------------------------------------------------------------------------------------------


def _gaussian_delta(mu: float, epsilon: float) -> float:
    return stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)


def test_gaussian_shift():
    pair = GaussianLaw(0, 4).against(GaussianLaw("3/2", 4))
    assert pair.concentration().lower == Fraction(9, 32)
    assert pair.renyi("7/3").lower == Fraction(9, 16) * Fraction(7, 6)
    assert pair.renyi(1).lower == Fraction(9, 32)
    assert pair.max_log_ratio().lower == INFINITY
    for epsilon in (-1, 0, "1/10", 1, 3):
        inside(pair.hockey_stick(epsilon), _gaussian_delta(0.75, float(Fraction(epsilon))))
    at = pair.epsilon_at("1/1000")
    inside(Bracket.exactly(Fraction(1, 1000)), _gaussian_delta(0.75, float(at.lower)))
    assert pair.hockey_stick(at.upper).upper <= Fraction(1, 1000)
    assert pair.hockey_stick(at.lower).lower >= Fraction(1, 1000) - Fraction(1, 10**15)
    assert float(at.upper) - float(at.lower) < 1e-15


@pytest.mark.reference("B-O33")
@pytest.mark.parametrize(("delta", "true"), [("1e-3", 3.2546e-4), ("1e-6", 4.1640e-6), ("1e-10", 2.0645e-8)])
def test_true_delta_of_the_first_gaussian_calibration(delta, true):
    variance = math.log(1 / float(delta)) / 0.25
    bracket = GaussianLaw(0, variance).against(GaussianLaw(1, variance)).hockey_stick("1/2")
    assert float(bracket.lower) == pytest.approx(true, rel=1e-4)
    assert float(bracket.upper) == pytest.approx(true, rel=1e-4)


@pytest.mark.reference("B-O34")
@pytest.mark.parametrize(("delta", "true"), [("1e-3", 3.1913e-6), ("1e-6", 1.2500e-9)])
def test_true_delta_of_the_second_gaussian_calibration(delta, true):
    variance = 2 * math.log(1.25 / float(delta)) / 0.25
    bracket = GaussianLaw(0, variance).against(GaussianLaw(1, variance)).hockey_stick("1/2")
    assert float(bracket.lower) == pytest.approx(true, rel=1e-4)


def test_gaussian_cdf_and_density():
    law = GaussianLaw("1/2", "9/4")
    for t in ("-7", "1/2", "0", "2", "9/2"):
        holds(law.cdf(t), stats.norm.cdf(float(Fraction(t)), 0.5, 1.5))
        holds(law.density(t), stats.norm.pdf(float(Fraction(t)), 0.5, 1.5))


@pytest.mark.spread(1)
@pytest.mark.parametrize(("narrow", "wide", "shift"), [(1, 4, 1), ("1/2", 2, 0), (3, 4, "5/2")])
def test_unequal_gaussians(narrow, wide, shift):
    p, q = GaussianLaw(0, narrow), GaussianLaw(shift, wide)
    pair = p.against(q)
    s, t, d = (float(Fraction(x)) for x in (narrow, wide, shift))
    for order in (1, "3/2", 2, 5):
        inside(pair.renyi(order), _quadrature_renyi(stats.norm(0, s**0.5), stats.norm(d, t**0.5), float(Fraction(order))), 1e-7)
    inside(pair.max_log_ratio(), math.log(t / s) / 2 + d * d / (2 * (t - s)))
    assert pair.reverse().max_log_ratio().lower == INFINITY
    assert pair.reverse().concentration().lower == INFINITY
    order = Fraction(wide) / (Fraction(wide) - Fraction(narrow))
    assert pair.reverse().renyi(order).lower == INFINITY
    assert pair.reverse().renyi((order + 1) / 2).upper < INFINITY


def _quadrature_renyi(p, q, alpha: float) -> float:
    if alpha == 1:
        return integrate.quad(lambda x: p.pdf(x) * (p.logpdf(x) - q.logpdf(x)), -30, 30, limit=400)[0]
    total = integrate.quad(lambda x: math.exp(alpha * p.logpdf(x) + (1 - alpha) * q.logpdf(x)), -30, 30, limit=400)[0]
    return math.log(total) / (alpha - 1)


# --- Laplace ---------------------------------------------------------------------------------------------------------


@pytest.mark.reference("B-O32")
def test_laplace_tail():
    below = LaplaceLaw(0, 3).cdf(-9)
    holds(2 * below, 0.049787068367863944)


@pytest.mark.spread(1)
@pytest.mark.parametrize(("shift", "scale"), [(1, 2), (3, 1), ("1/3", "1/2")])
def test_laplace_shift(shift, scale):
    pair = LaplaceLaw(0, scale).against(LaplaceLaw(shift, scale))
    t = Fraction(shift) / Fraction(scale)
    assert pair.max_log_ratio().lower == t
    b, s = float(Fraction(scale)), float(Fraction(shift))
    p, q = stats.laplace(0, b), stats.laplace(s, b)
    for order in (1, "3/2", 2, 5):
        inside(pair.renyi(order), _laplace_renyi(float(t), float(Fraction(order))))
        inside(pair.renyi(order), _quadrature_renyi(p, q, float(Fraction(order))), 1e-5)
    for epsilon in ("0", t / 2, -t / 3, -2 * t, t, 2 * t):
        value = _laplace_delta(p, q, s, b, float(epsilon))
        inside(pair.hockey_stick(epsilon), value)
    grid = max(_laplace_renyi(float(t), 1 + k / 50) / (1 + k / 50) for k in range(1, 2000))
    assert grid <= float(pair.concentration().upper) + 1e-9
    assert float(pair.concentration().lower) <= max(grid, _laplace_renyi(float(t), 1)) + 1e-6
    assert pair.hockey_stick(pair.epsilon_at("1/20").upper).lower <= Fraction(1, 20)


def _laplace_renyi(t: float, alpha: float) -> float:
    if alpha == 1:
        return t + math.exp(-t) - 1
    first = alpha / (2 * alpha - 1) * math.exp((alpha - 1) * t)
    return math.log(first + (alpha - 1) / (2 * alpha - 1) * math.exp(-alpha * t)) / (alpha - 1)


def _laplace_delta(p, q, shift: float, scale: float, epsilon: float) -> float:
    """The event is a half-line x < c: the largest of a fine grid of c and the two ends."""
    points = [shift * k / 20000 for k in range(20001)]
    best = max(p.cdf(points) - math.exp(epsilon) * q.cdf(points))
    return max(0.0, best, 1 - math.exp(epsilon))


def test_laplace_with_a_rational_factor_is_exact():
    pair = LaplaceLaw.with_decay(0, ln(3)).against(LaplaceLaw.with_decay(1, ln(3)))
    assert pair.max_log_ratio().lower == ln(3)
    assert pair.renyi(1).lower == ln(3) - Fraction(2, 3)
    assert pair.renyi(2).is_exact
    assert pair.concentration().is_exact
    assert pair.hockey_stick(ln(3) / 3).upper < 1
    assert pair.hockey_stick(-ln(3) * 2).lower == Fraction(8, 9)


def test_laplace_scale_must_have_an_exact_inverse():
    with pytest.raises(ParameterError, match="other constructor"):
        LaplaceLaw(0, ln(3))
    pair = LaplaceLaw(0, sqrt(2)).against(LaplaceLaw(2, sqrt(2)))
    assert pair.max_log_ratio().lower == sqrt(2)
    inside(pair.hockey_stick("1/2"), 1 - math.exp((0.5 - math.sqrt(2)) / 2))
    inside(pair.hockey_stick(-2), 1 - math.exp(-2))
    inside(pair.epsilon_at("1/10"), math.sqrt(2) + 2 * math.log(0.9))


@pytest.mark.parametrize("bad", [0, -1, True, "x"])
def test_parameters_are_checked(bad):
    with pytest.raises(ParameterError):
        LaplaceLaw(0, bad)
    with pytest.raises(ParameterError):
        GaussianLaw(0, bad)
    with pytest.raises(ParameterError):
        DiscreteGaussianLaw(0, bad)
    with pytest.raises(ParameterError):
        TwoSidedGeometricLaw(0, bad)
    with pytest.raises(ParameterError):
        DiscreteGaussianLaw("1/2", 1)


# --- different kinds -------------------------------------------------------------------------------------------------


def test_kinds_that_never_meet_are_singular():
    laws = [LaplaceLaw(0, 1), FiniteLaw.uniform([0, "x"])]
    for p, q in (laws, laws[::-1], [DiscreteGaussianLaw(0, 1), GaussianLaw(0, 1)]):
        pair = p.against(q)
        assert pair.total_variation().lower == 1
        assert pair.max_log_ratio().lower == INFINITY
        assert pair.concentration().lower == INFINITY
        assert pair.epsilon_at("99/100").lower == INFINITY


@pytest.mark.spread(2)
@pytest.mark.parametrize(
    ("p", "q"),
    [
        (DiscreteGaussianLaw(0, 2), DiscreteGaussianLaw(1, 5)),
        (DiscreteGaussianLaw(0, 2), TwoSidedGeometricLaw(1, "1/2")),
        (TwoSidedGeometricLaw(0, 2), TwoSidedGeometricLaw(2, "3/4")),
        (FiniteLaw.uniform([0, 1, 4]), TwoSidedGeometricLaw(1, "1/2")),
        (FiniteLaw.uniform([0.0, 1, Fraction(4)]), DiscreteGaussianLaw(1, 3)),
    ],
)
def test_unequal_laws_on_the_integers(p, q):
    """P has the lighter tails: everything is finite this way round, and infinite the other way."""
    pair = p.against(q)
    atoms = [(a, b) for a, b in sums(p, q, range(-80, 81)) if a > 1e-250 and b > 1e-250]
    for order in ORDERS:
        inside(pair.renyi(order), renyi(atoms, float(Fraction(order))))
    inside(pair.max_log_ratio(), max(math.log(a / b) for a, b in atoms))
    for epsilon in (-1, 0, "1/2"):
        factor = math.exp(float(Fraction(epsilon)))
        inside(pair.hockey_stick(epsilon), math.fsum(max(0.0, a - factor * b) for a, b in sums(p, q, range(-200, 201))))
    grid = max(renyi(atoms, 1 + k / 20) / (1 + k / 20) for k in range(200))
    assert grid <= float(pair.concentration().upper) + 1e-9
    assert pair.reverse().max_log_ratio().lower == INFINITY
    assert pair.reverse().concentration().lower == INFINITY


@pytest.mark.spread(1)
@pytest.mark.parametrize(
    ("p", "q", "fp", "fq"),
    [
        (LaplaceLaw(0, 1), LaplaceLaw("1/2", 2), stats.laplace(0, 1), stats.laplace(0.5, 2)),
        pytest.param(GaussianLaw(0, 1), LaplaceLaw(1, 2), stats.norm(0, 1), stats.laplace(1, 2), marks=pytest.mark.slow),
        pytest.param(GaussianLaw(0, 1), GaussianLaw(1, 3), stats.norm(0, 1), stats.norm(1, 3**0.5), marks=pytest.mark.slow),
    ],
)
def test_unequal_laws_on_the_line(p, q, fp, fq):
    pair = p.against(q)
    xs = [-30 + k / 2000 for k in range(120001)]
    a, b = fp.pdf(xs), fq.pdf(xs)
    for epsilon in (0, 0.25):
        value = sum(max(0.0, x - math.exp(epsilon) * y) for x, y in zip(a, b, strict=True)) / 2000
        inside(pair.hockey_stick(epsilon), value, 1e-5)
        assert float(pair.hockey_stick(epsilon).upper) - float(pair.hockey_stick(epsilon).lower) < 1e-2
    inside(pair.max_log_ratio(), max(fp.logpdf(xs) - fq.logpdf(xs)), 1e-6)
    for order in (1, 2, "5/2"):
        inside(pair.renyi(order), _quadrature_renyi(fp, fq, float(Fraction(order))), 1e-4)
    assert pair.reverse().max_log_ratio().lower == INFINITY
    assert pair.reverse().concentration().lower == INFINITY


@pytest.mark.slow
def test_precision_narrows():
    pair = LaplaceLaw(0, 1).against(LaplaceLaw("1/2", 2))
    widths = [float(b.upper) - float(b.lower) for b in (pair.hockey_stick(0, precision=p) for p in (32, 64, 128))]
    assert widths[0] > widths[1] > widths[2]
    brackets = [pair.hockey_stick(0, precision=p) for p in (32, 64, 128)]
    assert max(b.lower for b in brackets) <= min(b.upper for b in brackets)


# --- what is left out of a sum -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("variance", ["1/100", "1/2", "9", "60", "100", "10000"])
@pytest.mark.parametrize("least", [1, 5, 20])
def test_a_sum_that_is_cut_off_holds_the_sum_at_a_higher_precision(variance, least):
    """Terms of a wide law fall slowly, so that what is left out is more than the first of them."""
    for precision in (20, 30, 64):
        coarse, fine = (gaussian_sums(Fraction(variance), least, bits) for bits in (precision, 400))
        assert coarse.contains(fine), precision
        assert coarse.rad() <= (1 + fine.mid()) * arb(2) ** -precision


# --- staircases ------------------------------------------------------------------------------------------------------


def staircase_mass(t, center, width, inner, epsilon):
    distance = abs(t - center)
    return math.exp(-epsilon * (distance // width + (distance % width >= inner)))


@pytest.mark.spread(8, slow=8)
@pytest.mark.parametrize("shape", [(3, 1), (5, 3), (4, 4), (1, 1)])
@pytest.mark.parametrize("shift", [1, 2, 5, 11])
def test_whole_staircases_against_sums(shape, shift):
    p, q = (StaircaseLaw(center, *shape, ln(2)) for center in (3, 3 + shift))
    window = range(-200, 220)
    raw = [[staircase_mass(t, center, *shape, math.log(2)) for t in window] for center in (3, 3 + shift)]
    totals = [math.fsum(side) for side in raw]
    atoms = [(a / totals[0], b / totals[1]) for a, b in zip(*raw, strict=True)]
    assert np.abs(np.array(sums(p, q, window)) - np.array(atoms)).max() < 1e-12
    pair = p.against(q)
    inside(pair.max_log_ratio(), max(math.log(a / b) for a, b in atoms))
    inside(pair.reverse().hockey_stick("1/3"), sum(max(b - math.exp(1 / 3) * a, 0) for a, b in atoms))
    for order in ORDERS:
        inside(pair.renyi(order), renyi(atoms, float(Fraction(order))))


@pytest.mark.parametrize("shape", [("1", "1/3"), ("5/2", "2"), ("2", "2")])
@pytest.mark.parametrize("shift", ["1/7", "1", "7/2"])
def test_staircases_on_the_line_against_fine_steps(shape, shift):
    """The line is cut into cells whose ends are ends of steps, too."""
    width, inner, by = (Fraction(text) for text in (*shape, shift))
    p, q = (StaircaseLaw(center, width, inner, "1/2", is_whole=False) for center in (0, by))
    width, inner, by = (int(168 * value) for value in (width, inner, by))  # in halves of a cell
    points = np.arange(-168 * 90 + 1, 168 * 94, 2)
    far = [abs(points - c) for c in (0, by)]
    raw = [np.exp(-(d // width + (d % width >= inner)) / 2).tolist() for d in far]
    totals = [math.fsum(side) for side in raw]
    atoms = [(a / totals[0], b / totals[1]) for a, b in zip(*raw, strict=True)]
    pair = p.against(q)
    inside(pair.max_log_ratio(), max(math.log(a / b) for a, b in atoms), 1e-6)
    inside(pair.hockey_stick("1/5"), sum(max(a - math.exp(1 / 5) * b, 0) for a, b in atoms), 1e-6)
    inside(pair.renyi(2), renyi(atoms, 2), 1e-6)


def test_faulty_staircases_are_refused():
    for shape in ({"inner": 0}, {"inner": 4}, {"inner": "1/2"}, {"decay": sqrt(2)}):
        with pytest.raises(ParameterError):
            StaircaseLaw(**{"center": 0, "width": 3, "inner": 1, "decay": 1, **shape})
    with pytest.raises(NoFormulaError):
        StaircaseLaw(0, 3, 1, 1, is_whole=False).against(StaircaseLaw(0, 3, 2, 1, is_whole=False))


@pytest.mark.parametrize("size", [Fraction(10) ** 700, Fraction(1, 10**700)])
def test_variances_that_no_double_holds(size):
    """The grid of cells and the guess of a loss divided by 0 or overflowed. Scaling the line changes no divergence."""
    scaled = GaussianLaw(0, size).against(GaussianLaw(0, 2 * size)).total_variation(precision=16)
    inside(scaled, 2 * (stats.norm.cdf(math.sqrt(2 * math.log(2))) - stats.norm.cdf(math.sqrt(math.log(2)))))
    assert scaled.upper - scaled.lower < number("1/10")
    loss = DiscreteGaussianLaw(0, size).against(DiscreteGaussianLaw(1, size)).epsilon_at(Fraction(1, 10**10))
    assert loss.lower <= 1 / (2 * size) <= loss.upper if size < 1 else loss.upper == 0


def test_the_cells_of_two_wide_laws_are_work_and_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    plain = law.interval_cells
    monkeypatch.setattr(law, "interval_cells", lambda *args, **kwargs: made.append(1) or plain(*args, **kwargs))
    with pytest.raises(WorkLimitError), limited(10_000):
        DiscreteGaussianShift(1, Fraction(10**29)).cells(32)
    first, again = (DiscreteGaussianShift(shift, Fraction(10**29)).cells(32) for shift in (1, -1))
    assert first == again
    assert made == [1, 1]  # that which ended, and one for both shifts


@pytest.mark.parametrize(("variance", "digits"), [(101, 300), (1000, 300), (1000, 900), (30, 1200)])
def test_far_tails_of_discrete_gaussians_are_narrow(variance, digits):
    """A tail below 2^-128 had the width of a remainder that was larger than itself: a margin at 1 - 1e-300 was not found."""
    from decimal import Decimal, localcontext

    from dpspec.laws.margins import margin

    law = DiscreteGaussianLaw(0, variance)
    with localcontext(prec=digits + 60):
        rate = Decimal(-1) / (2 * variance)
        term, ratio, fall = Decimal(1), rate.exp(), (2 * rate).exp()
        terms = []  # exp(-k^2 / (2 variance)) for k = 0, 1, ...
        while term > Decimal(10) ** -(digits + 50):
            terms.append(term)
            term, ratio = term * ratio, ratio * fall
        tails, least = [], Decimal(0)
        for one in reversed(terms):
            least += one
            tails.insert(0, least)
        whole = 2 * tails[0] - 1
        wanted = next(far for far in range(len(terms)) if 2 * tails[far + 1] / whole <= Decimal(10) ** -digits)
        true = Fraction(tails[wanted + 1] / whole)
    with ctx.workprec(200):
        tail = law.upper_tail(wanted + 1, 128)
        low, high = dyadic(tail.lower()), dyadic(tail.upper())
    assert low <= true * (1 + Fraction(1, 10**40))
    assert true <= high <= low * (1 + Fraction(1, 10**20))
    assert str(margin(law, 1 - Fraction(1, 10**digits)).value) == str(wanted)


def test_tails_beyond_all_margins_are_small():
    """They are between two integrals."""
    assert DiscreteGaussianLaw(0, 10**9).upper_tail(10**9, 128) < arb(2) ** -100_000
    assert DiscreteGaussianLaw(0, 10**9).upper_tail(10**12, 128) < arb(2) ** -100_000
