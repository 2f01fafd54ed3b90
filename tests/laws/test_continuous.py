"""Noise on the line, staircases and laws of different kinds: exact values, and quadrature in floats as an independent oracle."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy import integrate, stats

from dpspec.base.errors import NoFormulaError, ParameterError
from dpspec.base.exact import INFINITY, Bracket, ln, number, sqrt
from dpspec.laws import (
    DiscreteGaussianLaw,
    FiniteLaw,
    GaussianLaw,
    LaplaceLaw,
    StaircaseLaw,
    TwoSidedGeometricLaw,
)

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
