"""Noise on the whole numbers and its shifts: exact values, tails, and summation as an independent oracle."""

import itertools
import math
from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import given, settings, strategies as st
from scipy import stats

from dpspec.base.errors import NoFormulaError, WorkLimitError
from dpspec.base.exact import INFINITY, Bracket, ln, number, sqrt
from dpspec.base.log_linear import dyadic
from dpspec.base.work import limited
from dpspec.laws import (
    DiscreteGaussianLaw,
    FiniteLaw,
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


def _gaussian_delta(mu: float, epsilon: float) -> float:
    return stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)


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


# --- what is left out of a sum -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("variance", ["1/100", "1/2", "9", "60", "100", "10000"])
@pytest.mark.parametrize("least", [1, 5, 20])
def test_a_sum_that_is_cut_off_holds_the_sum_at_a_higher_precision(variance, least):
    """Terms of a wide law fall slowly, so that what is left out is more than the first of them."""
    for precision in (20, 30, 64):
        coarse, fine = (gaussian_sums(Fraction(variance), least, bits) for bits in (precision, 400))
        assert coarse.contains(fine), precision
        assert coarse.rad() <= (1 + fine.mid()) * arb(2) ** -precision


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
