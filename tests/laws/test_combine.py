"""Products, images and mixtures of laws."""

import itertools
import math
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given, settings, strategies as st
from scipy import stats

from dpspec.base.errors import NoFormulaError
from dpspec.base.exact import INFINITY, Bracket, ln, number, sqrt
from dpspec.laws import (
    IDENTICAL,
    AtomicLaw,
    DiscreteGaussianLaw,
    FiniteDichotomy,
    FiniteLaw,
    GaussianLaw,
    LaplaceLaw,
    Mixture,
    NotALaw,
    Product,
    PushForward,
    TwoSidedGeometricLaw,
    mixture,
    product,
    product_of,
    push_forward,
)
from dpspec.laws.combine import Repeated

weights = st.lists(st.integers(1, 9), min_size=3, max_size=3).map(lambda w: FiniteLaw.from_weights(dict(enumerate(w))))


def inside(bracket: Bracket, value: float, slack: float = 1e-9) -> None:
    assert bracket.lower <= bracket.upper
    assert float(bracket.lower) - slack <= value <= float(bracket.upper) + slack


def meets(one: Bracket, other: Bracket) -> None:
    """Two brackets of one value overlap."""
    assert one.lower <= other.upper
    assert other.lower <= one.upper


def geometric(center: int) -> TwoSidedGeometricLaw:
    return TwoSidedGeometricLaw(center, 1)


def noise(center: int) -> DiscreteGaussianLaw:
    return DiscreteGaussianLaw(center, 4)


# --- finite laws stay finite -----------------------------------------------------------------------------------------


def test_helpers_keep_finite_laws_finite():
    die = FiniteLaw.uniform(range(1, 7))
    assert product([die, die]).push_forward(sum).probability(7) == Fraction(1, 6)
    assert push_forward(die, lambda k: k % 2) == FiniteLaw.bernoulli("1/2").push_forward(lambda k: k)
    assert mixture(["1/3", "2/3"], [FiniteLaw.point(0), FiniteLaw.bernoulli("1/2")]).probability(0) == Fraction(2, 3)
    assert mixture(["1/2", "1/2"], [geometric(0), geometric(0)]) == geometric(0)
    assert mixture([1, 0], [geometric(0), geometric(1)]) == geometric(0)
    assert isinstance(product([die, geometric(0)]), Product)
    assert isinstance(push_forward(geometric(0), abs), PushForward)


@pytest.mark.parametrize("wrong", [["1/2", "1/3"], ["3/2", "-1/2"]])
def test_mixture_weights_are_checked(wrong):
    with pytest.raises(NotALaw):
        mixture(wrong, [geometric(0), geometric(1)])


# --- products --------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(weights, weights, weights, weights)
def test_product_of_finite_pairs_is_expanded_exactly(a, b, c, d):
    quick = product_of([a.against(b), c.against(d)])
    expanded = FiniteLaw.product([a, c]).against(FiniteLaw.product([b, d]))
    for functional in (
        lambda pair: pair.max_log_ratio(),
        lambda pair: pair.hockey_stick(ln(2)),
        lambda pair: pair.epsilon_at("1/10"),
        lambda pair: pair.renyi(1),
        lambda pair: pair.renyi(3),
    ):
        assert functional(quick) == functional(expanded)
    meets(quick.concentration(), expanded.concentration())


@settings(deadline=None, max_examples=40)
@given(weights, weights, st.sampled_from(["0", "1/2", "-1/3"]))
def test_finite_factor_with_noise_against_the_listed_atoms(a, b, epsilon):
    p, q = product([a, noise(0)]), product([b, noise(1)])
    pair = p.against(q)
    atoms = [(float(p.mass((i, k)).mid()), float(q.mass((i, k)).mid())) for i in range(3) for k in range(-25, 27)]
    factor = math.exp(float(Fraction(epsilon)))
    inside(pair.hockey_stick(epsilon), math.fsum(max(0.0, x - factor * y) for x, y in atoms))
    inside(pair.renyi(2), math.log(math.fsum(x * x / y for x, y in atoms if y)))
    assert pair.max_log_ratio().lower == INFINITY
    assert pair.concentration().lower >= Fraction(1, 8)


def test_identical_factors_drop_out():
    pair = product([geometric(0), FiniteLaw.point("x"), LaplaceLaw(0, 1)]).against(
        product([geometric(0), FiniteLaw.point("x"), LaplaceLaw(1, 1)])
    )
    assert pair == LaplaceLaw(0, 1).against(LaplaceLaw(1, 1))
    assert product([geometric(0), noise(0)]).against(product([geometric(0), noise(0)])).is_identical


@pytest.mark.reference("B-S5")
def test_one_singular_factor_decides():
    pair = product([FiniteLaw.point(0), geometric(0), GaussianLaw(0, 1)]).against(
        product([FiniteLaw.point(1), geometric(1), GaussianLaw(1, 1)])
    )
    assert pair.total_variation().lower == 1
    assert pair.singular_mass().lower == 1
    for bracket in (pair.max_log_ratio(), pair.renyi(1), pair.renyi("5/2"), pair.concentration(), pair.epsilon_at("1/2")):
        assert bracket.lower == INFINITY


def test_gaussian_factors_join():
    pair = product([GaussianLaw(0, 1), GaussianLaw(0, 4)]).against(product([GaussianLaw(1, 1), GaussianLaw(3, 4)]))
    assert pair.concentration().lower == Fraction(1, 2) + Fraction(9, 8)
    mu = math.sqrt(1 + 9 / 4)
    inside(pair.hockey_stick(1), stats.norm.cdf(mu / 2 - 1 / mu) - math.e * stats.norm.cdf(-mu / 2 - 1 / mu))
    mixed = product([GaussianLaw(0, 1), GaussianLaw(0, sqrt(2))]).against(product([GaussianLaw(1, 1), GaussianLaw(1, sqrt(2))]))
    inside(mixed.concentration(), 0.5 + 0.5 / math.sqrt(2))


@pytest.mark.reference("B-O54")
def test_histogram_replace_one():
    pair = product([noise(0), noise(1), noise(5)]).against(product([noise(1), noise(0), noise(5)]))
    assert pair.concentration().is_exact
    assert pair.concentration().lower == Fraction(1, 4)
    assert pair.renyi(3).lower == Fraction(3, 4)


def test_discrete_gaussian_with_a_maximiser_inside_is_not_called_exact():
    """The discrete Gaussian reaches its supremum only at integer orders, so that suprema need not add (B-S14)."""
    rare = FiniteDichotomy.of([(Fraction(1, 1000), Fraction(1, 10**6)), (Fraction(999, 1000), 1 - Fraction(1, 10**6))])
    shift = DiscreteGaussianLaw(0, "1/4").against(DiscreteGaussianLaw(1, "1/4"))
    pair = product_of([rare, shift])
    bracket = pair.concentration()
    for k in range(1, 200):
        order = 1 + Fraction(k, 40)
        assert pair.renyi(order).lower / order <= bracket.upper
    assert bracket.upper <= rare.concentration().upper + shift.concentration().upper + Fraction(1, 10**12)
    fine = max(pair.renyi(order).upper / order for k in range(1, 400) if (order := 1 + Fraction(k, 100)))
    assert bracket.lower <= fine
    gaussian = product_of([rare, GaussianLaw(0, "1/4").against(GaussianLaw(1, "1/4"))]).concentration()
    meets(gaussian, Bracket(lower=rare.concentration().lower + 2, upper=rare.concentration().upper + 2))


def test_laplace_pair_product_against_a_grid():
    pair = product([LaplaceLaw(0, 1), LaplaceLaw(0, 1)]).against(product([LaplaceLaw(1, 1), LaplaceLaw(1, 1)]))
    steps = [-8 + k / 40 for k in range(721)]
    p, q = stats.laplace(0, 1), stats.laplace(1, 1)
    a, b = ([law.cdf(y) - law.cdf(x) for x, y in itertools.pairwise(steps)] for law in (p, q))
    value = sum(max(0.0, x * u - y * v) for x, y in zip(a, b, strict=True) for u, v in zip(a, b, strict=True))
    inside(pair.total_variation(), value, 1e-3)
    assert pair.max_log_ratio().lower == 2
    meets(pair.renyi(2), LaplaceLaw(0, 1).against(LaplaceLaw(1, 1)).renyi(2).scaled(2))
    once = LaplaceLaw(0, 1).against(LaplaceLaw(1, 1)).concentration()
    assert float(pair.concentration().upper) == pytest.approx(2 * float(once.upper), rel=1e-8)


def test_product_against_a_finite_law_on_tuples():
    pair = FiniteLaw.uniform([(0, 0), (0, 1)]).against(product([FiniteLaw.point(0), geometric(0)]))
    inside(pair.max_log_ratio(), math.log(0.5 / (math.tanh(0.5) * math.exp(-1))))
    assert pair.reverse().max_log_ratio().lower == INFINITY


# --- images ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [abs, lambda k: k % 3, lambda k: min(max(k, 0), 4), lambda k: "same"])
@pytest.mark.parametrize("law", [noise, geometric])
def test_images_under_one_function(function, law):
    parent, pair = law(1).against(law(2)), push_forward(law(1), function).against(push_forward(law(2), function))
    sums: dict[object, list[float]] = {}
    for k in range(-60, 63):
        cell = sums.setdefault(function(k), [0.0, 0.0])
        cell[0] += float(law(1).mass(k).mid())
        cell[1] += float(law(2).mass(k).mid())
    for epsilon in ("0", "1/4"):
        factor = math.exp(float(Fraction(epsilon)))
        inside(pair.hockey_stick(epsilon), math.fsum(max(0.0, p - factor * q) for p, q in sums.values()))
    inside(pair.renyi(2), math.log(math.fsum(p * p / q for p, q in sums.values() if q > 1e-250)))
    for functional in (lambda d: d.max_log_ratio(), lambda d: d.renyi(3), lambda d: d.concentration(), lambda d: d.renyi(1)):
        assert functional(pair).upper <= functional(parent).upper
        assert functional(pair).lower <= functional(pair).upper


def test_images_under_different_functions():
    pair = push_forward(geometric(0), lambda k: k + 1).against(push_forward(geometric(0), lambda k: k))
    exact = geometric(1).against(geometric(0))
    for functional in (lambda d: d.total_variation(), lambda d: d.renyi(2), lambda d: d.max_log_ratio()):
        meets(functional(pair), functional(exact))
    inside(pair.total_variation(), float(exact.total_variation().lower))


def test_images_on_the_line_are_bounded_by_their_parents():
    parent, pair = (
        LaplaceLaw(2, 1).against(LaplaceLaw(3, 1)),
        push_forward(LaplaceLaw(2, 1), abs).against(push_forward(LaplaceLaw(3, 1), abs)),
    )
    assert pair.max_log_ratio() == Bracket(lower=number(0), upper=parent.max_log_ratio().upper)
    assert pair.total_variation().upper == parent.total_variation().upper
    same = push_forward(LaplaceLaw(2, 1), abs)
    assert same.against(push_forward(LaplaceLaw(2, 1), abs)).is_identical


# --- mixtures --------------------------------------------------------------------------------------------------------


def test_mixtures_of_integer_noise_against_the_listed_atoms():
    for law in (noise, geometric):
        p, q = mixture(["9/10", "1/10"], [law(0), law(1)]), mixture(["9/10", "1/10"], [law(1), law(3)])
        atoms = [
            tuple(0.9 * float(law(i).mass(k).mid()) + 0.1 * float(law(j).mass(k).mid()) for i, j in ((0, 1), (1, 3)))
            for k in range(-60, 64)
        ]
        for epsilon in ("0", "1/3"):
            factor = math.exp(float(Fraction(epsilon)))
            inside(p.against(q).hockey_stick(epsilon), math.fsum(max(0.0, a - factor * b) for a, b in atoms))
        inside(p.against(q).renyi(2), math.log(math.fsum(a * a / b for a, b in atoms if b > 1e-250)))
        assert p.against(q).concentration().upper <= max(
            law(0).against(law(1)).concentration().upper, law(1).against(law(3)).concentration().upper
        )


@pytest.mark.slow
def test_a_factor_is_computed_once_for_each_of_its_outcomes(monkeypatch):
    """A mixture of products on many cells: the masses are products, and not one computation for each cell and factor."""
    counted = []
    known = TwoSidedGeometricLaw.mass

    def mass(self, outcome, precision=64):
        counted.append(outcome)
        return known(self, outcome, precision)

    two = Product((geometric(0), geometric(1)))
    outcomes = [*itertools.product(range(-9, 10), range(-9, 10)), (0,), (1, 0, 0), 3, (Fraction(1, 2), 0)]
    expected = [two.mass(outcome, 64) for outcome in outcomes]
    monkeypatch.setattr(TwoSidedGeometricLaw, "mass", mass)
    masses = two.masses(outcomes, 64)
    assert len(counted) <= 2 * 20
    assert all(one.overlaps(other) and one.rad() <= other.rad() * 2 for one, other in zip(masses, expected, strict=True))
    assert [masses[place].is_zero() for place in (-4, -3, -2, -1)] == [True] * 4


def test_subsampled_gaussian():
    mixed = mixture(["9/10", "1/10"], [GaussianLaw(0, 1), GaussianLaw(1, 1)])
    pair = mixed.against(GaussianLaw(0, 1))
    xs = [-12 + k / 500 for k in range(12001)]
    a, b = 0.9 * stats.norm.pdf(xs) + 0.1 * stats.norm.pdf(xs, 1), stats.norm.pdf(xs)
    for epsilon in (0, 0.125):
        value = sum(max(0.0, x - math.exp(epsilon) * y) for x, y in zip(a, b, strict=True)) / 500
        inside(pair.hockey_stick(epsilon), value, 1e-5)
        back = sum(max(0.0, y - math.exp(epsilon) * x) for x, y in zip(a, b, strict=True)) / 500
        inside(pair.reverse().hockey_stick(epsilon), back, 1e-5)
    inside(pair.renyi(2), math.log(sum(a * a / b) / 500))
    assert pair.max_log_ratio().lower == INFINITY
    assert pair.renyi(8).upper < INFINITY
    inside(pair.reverse().max_log_ratio(), -math.log(0.9), 1e-4)
    assert pair.reverse().max_log_ratio().upper <= -ln("9/10") + Fraction(1, 10**15)


@pytest.mark.slow
def test_mixture_of_a_point_and_noise():
    p = mixture(["1/2", "1/2"], [FiniteLaw.point(0), LaplaceLaw(0, 1)])
    q = mixture(["1/4", "3/4"], [FiniteLaw.point(0), LaplaceLaw(0, 1)])
    pair = p.against(q)
    inside(pair.total_variation(), 0.25)
    inside(pair.max_log_ratio(), math.log(2))
    inside(pair.reverse().max_log_ratio(), math.log(1.5))
    lost = mixture(["1/2", "1/2"], [FiniteLaw.point(0), LaplaceLaw(0, 1)]).against(LaplaceLaw(0, 1))
    assert lost.max_log_ratio().lower == INFINITY
    inside(lost.singular_mass(), 0.5)
    counted = mixture(["1/2", "1/2"], [FiniteLaw.point(0), geometric(0)]).against(geometric(0))
    inside(counted.max_log_ratio(), math.log(0.5 / math.tanh(0.5) + 0.5))


def test_mixture_is_flattened_and_weighted():
    inner = Mixture(("1/2", "1/2"), (geometric(0), geometric(1)))
    outer = Mixture(("1/3", "2/3"), (inner, geometric(2)))
    assert [weight for weight, _ in outer.parts()] == [Fraction(1, 6), Fraction(1, 6), Fraction(2, 3)]


# --- what has no formula ---------------------------------------------------------------------------------------------


def test_no_formula_teaches():
    with pytest.raises(NoFormulaError, match="one kind"):
        LaplaceLaw(0, 1).against(product([geometric(0), geometric(0)]))
    with pytest.raises(NoFormulaError):
        product([LaplaceLaw(0, 1), geometric(0)]).against(push_forward(geometric(0), abs))


def test_a_window_that_is_too_small_stays_rigorous():
    """What a window leaves out is bounded, however much it is (B-S15)."""

    class Coarse(AtomicLaw):
        def window(self, precision):
            return range(3)

        def mass(self, outcome, precision=64):
            return arb(2) ** -(outcome + 1) if isinstance(outcome, int) and outcome >= 0 else arb(0)

    class Reversed(Coarse):
        def window(self, precision):
            return range(2)

        def mass(self, outcome, precision=64):
            return Coarse.mass(self, outcome - 1) if isinstance(outcome, int) else arb(0)

    pair = Coarse().against(Reversed())
    bracket = pair.total_variation()
    assert bracket.lower <= Fraction(1, 2) <= bracket.upper
    assert pair.max_log_ratio().lower == INFINITY
    back = pair.reverse()
    assert back.max_log_ratio().lower <= ln(2) <= back.max_log_ratio().upper
    assert back.renyi(2).lower <= ln(2) <= back.renyi(2).upper
    assert back.hockey_stick("1/2").upper >= Fraction(1, 5)


@pytest.mark.reference("B-S15")
def test_a_third_party_law_joins_by_two_methods():
    class Halving(AtomicLaw):
        """P(k) = 2^-(k+1) on k >= 0."""

        def window(self, precision):
            return range(precision)

        def mass(self, outcome, precision=64):
            return arb(2) ** -(outcome + 1) if isinstance(outcome, int) and outcome >= 0 else arb(0)

    pair = Halving().against(FiniteLaw.of({0: "3/4", 5: "1/4"}))
    assert pair.max_log_ratio().lower == INFINITY
    inside(pair.reverse().max_log_ratio(), math.log(16))
    inside(pair.total_variation(), 1 - 0.5 - 1 / 64)
    assert IDENTICAL.is_identical


def test_a_product_that_is_too_long_to_list_says_so():
    factors = [TwoSidedGeometricLaw(0, ln(2))] * 9
    with pytest.raises(NoFormulaError, match="outcomes to list"):
        product(factors).window(64)


def test_many_draws_against_a_mixture_without_a_formula_raise_no_recursion_error():
    """Each law left the comparison to the other one: `verify` blamed the divergence for a RecursionError."""
    often = [Repeated(GaussianLaw(mean, 1), 3) for mean in (0, 1, 2, 3)]
    others = (often[0], Repeated(GaussianLaw(0, 1), 2), often[1])
    mixed = Mixture(weights=(Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)), laws=others)
    for pair in ((often[2], mixed), (mixed, often[2])):
        with pytest.raises(NoFormulaError):
            pair[0].against(pair[1])
