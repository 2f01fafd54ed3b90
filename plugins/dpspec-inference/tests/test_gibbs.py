"""Posteriors from a noisy mean and variance of bounded data: what is feasible, samplers against quadrature."""

import math
from fractions import Fraction

import numpy as np
import pytest
from dpspec_inference import gibbs, gibbs as likelihood, moments as tgm, quadrature
from dpspec_inference.gibbs import Conditional, infeasible_share, mode, predict, shortest_interval
from dpspec_inference.moments import (
    JEFFREYS,
    UNIFORM,
    Bounds,
    Informative,
    NoisyMoments,
    check_proper,
    is_feasible,
    uniform_normaliser,
)
from hypothesis import given, strategies as st
from scipy.integrate import quad

from dpspec.base.errors import ImproperPosteriorError, ParameterError

pytestmark = pytest.mark.slow

POLICEMEN = NoisyMoments.on(
    Bounds(low=0, high=100), mean=34.30, variance=47.16**2, n=43, epsilon_mean=0.25, epsilon_variance=0.25
)
LEAD = Informative(mean=0.125, variance=0.038**2, mean_weight=1, variance_weight=1)
TEN = NoisyMoments(mean=0.45, variance=0.05, n=10, epsilon_mean=1, epsilon_variance=0.5)
WEAK = Informative(mean=0.4, variance=0.04, mean_weight=2, variance_weight=4)


# -- proper or not --------------------------------------------------------------------------------


@pytest.mark.reference("Z-T17", "Z-D41", "Z-S30", "Z-O56")
@pytest.mark.parametrize("constrained", [True, False])
def test_the_prior_of_jeffreys_is_refused(constrained):
    """Near sigma^2 = 0 the density of S^2* tends to (epsilon2 n/2) e^(-epsilon2 n s), so 1/sigma^2 times it has no integral."""
    with pytest.raises(ImproperPosteriorError, match="1/sigma"):
        check_proper(JEFFREYS, 43, constrained=constrained)
    with pytest.raises(ImproperPosteriorError):
        gibbs.sample(TEN, JEFFREYS, constrained=constrained)
    found = math.exp(float(tgm.log_evidence(4.5, 4.5 / 1e-9, 5.0, 0.05)))
    assert found == pytest.approx(5 / 2 * math.exp(-5 * 0.05), abs=1e-6)
    assert found == pytest.approx(1.947002, abs=1e-6)


@pytest.mark.reference("Z-T18", "Z-D41")
def test_the_uniform_prior_needs_four_values_without_constraints():
    with pytest.raises(ImproperPosteriorError, match="n > 3"):
        check_proper(UNIFORM, 3, constrained=False)
    assert check_proper(UNIFORM, 4, constrained=False)
    assert "1/6" in check_proper(UNIFORM, 3, constrained=True)
    assert check_proper(LEAD, 2, constrained=False) == "the prior is proper"


@pytest.mark.reference("Z-O55", "Z-T18")
@pytest.mark.parametrize(
    ("n", "epsilon", "released", "expected"),
    [(10, 0.5, 0.05, 0.7850566), (10, 0.5, -0.1, 0.3899126), (5, 1, 0.2, 1.6321206), (43, 0.25, 0.2225, 1.0019845)],
)
def test_the_normaliser_of_the_uniform_prior(n, epsilon, released, expected):
    """The closed form, and a numerical integral over sigma^2 of the density of S^2*, an integral over S^2 itself."""
    assert uniform_normaliser(n, epsilon, released) == pytest.approx(expected, abs=1e-7)
    rate, shape = epsilon * n, (n - 1) / 2

    def over_variance(s):
        """int of Gamma(s; shape, shape/v) dv, times the Laplace density: the inner integral is (n - 1)/(n - 3) for every s."""
        return quad(lambda v: math.exp(shape * math.log(shape / v) - math.lgamma(shape) + (shape - 1) * math.log(s) - shape / v * s), s / 60, s * 4000)[0]  # fmt: skip  # noqa: E501

    inner = over_variance(0.3)
    assert inner == pytest.approx((n - 1) / (n - 3), rel=2e-3)
    outer = quad(
        lambda s: rate / 2 * math.exp(-rate * abs(released - s)), 0, max(released, 0) + 40 / rate, points=[max(released, 0)]
    )[0]
    assert inner * outer == pytest.approx(expected, rel=2e-3)


@pytest.mark.reference("Z-O57", "Z-T56")
def test_the_cap_of_the_variance():
    assert POLICEMEN.variance_cap == pytest.approx(1.9534884, abs=1e-7)
    largest = Fraction(2 * (43 - 1), 43)  # the largest epsilon2 for which sigma^2 <= 1/4 needs no cap
    assert float(largest) == pytest.approx(1.9534884, abs=1e-7)


# -- posteriors -----------------------------------------------------------------------------------


@pytest.mark.reference("Z-T59", "Z-D39", "Z-D37")
@given(st.floats(-0.3, 1.3), st.floats(0.001, 0.4), st.floats(1, 30))
def test_the_density_of_a_noisy_mean(released, variance, rate):
    found = math.exp(float(quadrature.log_density_of_mean(released, np.array(0.4), np.array(variance), rate)))

    def integrand(y):
        normal = math.exp(-((y - 0.4) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)
        return normal * rate / 2 * math.exp(-rate * abs(released - y))

    spread = 9 * math.sqrt(variance)
    low, high = min(0.4 - spread, released - 1e-3), max(0.4 + spread, released + 1e-3)
    assert found == pytest.approx(quad(integrand, low, high, points=sorted((0.4, released)), limit=400)[0], rel=1e-5, abs=1e-12)


@pytest.mark.reference("Z-O61", "Z-N4.b", "Z-N4.a")
def test_the_uniform_prior_without_constraints():
    grid = quadrature.unconstrained(POLICEMEN)
    assert (grid.mean, grid.variance) == pytest.approx((0.3430, 0.26259), abs=1e-3)
    outside = grid.mass[~is_feasible(grid.mu, grid.s2) & (grid.mu > 0) & (grid.mu < 1)].sum()
    assert (outside, grid.infeasible) == pytest.approx((0.593, 0.612), abs=1e-3)
    assert grid.infeasible > 0.5  # as printed
    order = np.argsort(grid.mu, axis=None)
    places, masses = grid.mu.ravel()[order], np.cumsum(grid.mass.ravel()[order])
    ends = [
        (places[np.searchsorted(masses, q)], places[np.searchsorted(masses, q + 0.95)]) for q in np.linspace(0.001, 0.049, 49)
    ]
    assert min(ends, key=lambda pair: pair[1] - pair[0]) == pytest.approx((0.030, 0.655), abs=4e-3)


@pytest.mark.reference("Z-O62", "Z-D40", "Z-S26")
def test_the_uniform_prior_with_constraints():
    grid = quadrature.constrained(POLICEMEN)
    assert (grid.mean, grid.variance) == pytest.approx((0.3853, 0.1406), abs=1e-3)
    assert grid.infeasible == 0


@pytest.mark.reference("Z-O52", "Z-D38", "Z-X9")
def test_the_informative_prior_without_constraints():
    grid = quadrature.unconstrained(POLICEMEN, LEAD)
    assert (grid.mean, grid.variance, grid.infeasible) == pytest.approx((0.228073, 0.0572108, 0.1007), abs=4e-4)
    assert grid.mass[grid.s2 < 0.01].sum() == pytest.approx(0.46786, abs=2e-3)


def conditional_exponents(mu, s2, *, printed):
    """ln p(mu | s2) - ln p(s2 | mu) without normalisers, for the conditionals of Z-A11 at one mean and variance of the data."""
    n, mean, variance, prior = 43, 0.34, 0.2, LEAD
    weight = n + prior.mean_weight
    centre = (n * mean + prior.mean_weight * prior.mean) / weight
    log_mu = -math.log(s2) / 2 - weight * (mu - centre) ** 2 / (2 * s2)
    shape = (n + prior.variance_weight + (0 if printed else 1)) / 2
    rate = prior.variance_weight * prior.variance + (n - 1) * variance + n * (mean - mu) ** 2
    rate = (rate + (0 if printed else prior.mean_weight * (mu - prior.mean) ** 2)) / 2
    log_s2 = shape * math.log(rate) - (shape + 1) * math.log(s2) - rate / s2
    return log_mu - log_s2


@pytest.mark.reference("Z-X9", "Z-T57", "Z-S24", "Z-A11")
def test_the_printed_conditionals_belong_to_no_joint_law():
    """Two conditionals are compatible when their ratio is a function of mu times one of sigma^2: its cross difference is 0."""
    for printed in (False, True):
        cross = sum(
            sign * conditional_exponents(mu, s2, printed=printed)
            for sign, mu, s2 in ((1, 0.3, 0.1), (-1, 0.5, 0.1), (-1, 0.3, 0.2), (1, 0.5, 0.2))
        )
        assert (abs(cross) < 1e-9) == (not printed)


@pytest.mark.reference("Z-O67", "Z-A11", "Z-A12", "Z-D46", "Z-D39", "Z-S24")
@pytest.mark.statistical
def test_both_samplers_have_the_posterior_of_the_quadrature():
    """30,000 draws of chains that mix within 10 sweeps: five standard errors are about 0.009 and 0.004."""
    grid = quadrature.unconstrained(TEN, WEAK)
    assert (grid.mean, grid.variance) == pytest.approx((0.4277, 0.0506), abs=2e-4)
    for sampler in (gibbs.sample, likelihood.sample_by_imputation):
        drawn = sampler(TEN, WEAK, constrained=False, sweeps=300, warmup=60, chains=100, seed=2)
        assert drawn.mu.mean() == pytest.approx(grid.mean, abs=0.009)
        assert drawn.s2.mean() == pytest.approx(grid.variance, abs=0.004)


@pytest.mark.reference("Z-O68", "Z-D40", "Z-D46", "Z-A12", "Z-P10")
@pytest.mark.statistical
def test_two_kinds_of_constraints_are_two_posteriors():
    grid = quadrature.constrained(TEN, WEAK)
    assert (grid.mean, grid.variance) == pytest.approx((0.4289, 0.0479), abs=3e-4)
    statistic = gibbs.sample(TEN, WEAK, constrained=True, sweeps=300, warmup=60, chains=100, seed=2)
    assert (statistic.mu.mean(), statistic.s2.mean()) == pytest.approx((grid.mean, grid.variance), abs=0.008)
    imputed = likelihood.sample_by_imputation(TEN, WEAK, constrained=True, sweeps=300, warmup=60, chains=100, seed=2)
    assert (imputed.mu.mean(), imputed.s2.mean()) == pytest.approx((0.4356, 0.0383), abs=0.008)
    assert imputed.s2.mean() < statistic.s2.mean() - 0.005  # the likelihood favours small sigma^2
    for drawn in (statistic, imputed):
        assert infeasible_share(drawn.mu, drawn.s2 - 1e-9) == 0


@pytest.mark.reference("Z-P10", "Z-A16", "Z-T13")
def test_draws_do_not_depend_on_the_interval():
    one = NoisyMoments(mean=0.25, variance=0.125, n=12, epsilon_mean=1, epsilon_variance=1)
    bounds = Bounds(low=-8, high=8)
    other = NoisyMoments.on(
        bounds, mean=bounds.mean_outside(0.25), variance=bounds.variance_outside(0.125), n=12, epsilon_mean=1, epsilon_variance=1
    )
    drawn = [gibbs.sample(data, constrained=True, sweeps=20, warmup=5, chains=3, seed=4) for data in (one, other)]
    assert (drawn[0].mu == drawn[1].mu).all()
    assert (drawn[0].s2 == drawn[1].s2).all()


@pytest.mark.long
@pytest.mark.reference(
    "Z-O63", "Z-O64", "Z-O65", "Z-O66", "Z-N4.a", "Z-N4.b", "Z-D42", "Z-D43", "Z-A13", "Z-F4.1", "Z-F4.3", "Z-F4.4", "Z-S27"
)
@pytest.mark.statistical
def test_example_4_with_long_chains():
    def run(prior, conditional, *, constrained):
        return gibbs.sample(
            POLICEMEN, prior, constrained=constrained, conditional=conditional, sweeps=4000, warmup=1000, chains=200, seed=8
        )

    source = np.random.default_rng(3)
    free, cut = (run(UNIFORM, Conditional.CORRECT, constrained=constrained) for constrained in (False, True))
    assert (free.mu.mean(), free.s2.mean()) == pytest.approx((0.3430, 0.2626), abs=4e-3)
    assert (cut.mu.mean(), cut.s2.mean()) == pytest.approx((0.3853, 0.1406), abs=3e-3)
    assert shortest_interval(cut.mu) == pytest.approx((0.176, 0.618), abs=6e-3)
    assert np.sqrt(shortest_interval(cut.s2)) == pytest.approx([0.154, 0.490], abs=1.3e-2)  # of sigma^2, then the root
    new, inside = (100 * predict(source, free.mu, free.s2, truncated=truncated) for truncated in (False, True))
    within = 100 * predict(source, cut.mu, cut.s2, truncated=True)
    assert ((new < 0).mean(), (new > 100).mean()) == pytest.approx((0.243, 0.101), abs=6e-3)
    spreads = (new.std(), within.std(), np.clip(new, 0, 100).std(), inside.std())
    assert spreads == pytest.approx((53.5, 25.1, 34.9, 26.6), abs=0.5)
    printed = run(LEAD, Conditional.PRINTED, constrained=False)
    assert (printed.mu.mean(), printed.s2.mean()) == pytest.approx((0.2232, 0.0552), abs=4e-3)
    assert infeasible_share(printed.mu, printed.s2) == pytest.approx(0.107, abs=8e-3)
    assert 100 * np.array(shortest_interval(printed.mu)) == pytest.approx([4.1, 47.1], abs=1)
    assert 100 * np.sqrt(shortest_interval(printed.s2)) == pytest.approx([0.9, 51.2], abs=1)
    right = run(LEAD, Conditional.CORRECT, constrained=False)
    assert (right.mu.mean(), right.s2.mean()) == pytest.approx((0.22807, 0.05721), abs=4e-3)
    both = run(LEAD, Conditional.PRINTED, constrained=True)
    assert 100 * np.array(shortest_interval(both.mu)) == pytest.approx([5.5, 43.4], abs=1)  # printed: [1.9, 42.0]
    assert 100 * np.sqrt(shortest_interval(both.s2)) == pytest.approx([0.8, 39.0], abs=1)
    modes = [100 * value for drawn in (printed, both) for value in (mode(drawn.mu), mode(drawn.s2) ** 0.5)]
    assert modes == pytest.approx([14.9, 4.2, 14.7, 3.5], abs=1)


@pytest.mark.reference("Z-F4.10", "Z-F4.11", "Z-D46", "Z-O68")
@pytest.mark.statistical
def test_feasible_statistics_or_feasible_values():
    """80 chains of 60 sweeps: what is compared differs by 20 standard errors or more."""
    spread, shifted = (
        NoisyMoments(mean=0.43, variance=0.28, n=50, epsilon_mean=0.25, epsilon_variance=0.25),
        NoisyMoments.on(Bounds(low=0, high=25), mean=-1.3, variance=4.8**2, n=50, epsilon_mean=0.25, epsilon_variance=0.25),
    )
    for data, variance in ((spread, 0.158), (shifted, 0.044)):
        grid = quadrature.constrained(data)
        assert grid.variance == pytest.approx(variance, abs=1e-3)
        drawn = likelihood.sample_by_imputation(data, sweeps=60, warmup=60, chains=80, seed=3)
        assert drawn.s2.mean() < variance / 3
    edge, inner = (grid.mass[(low <= grid.mu) & (grid.mu < low + 0.2)].sum() for low in (0, 0.2))
    assert edge > 3 * inner  # the mode near the boundary; with feasible values it lies further in
    assert (drawn.mu < 0.2).mean() < 0.6


@pytest.mark.reference("Z-D42", "Z-S32")
def test_summaries():
    source = np.random.default_rng(0)
    draws = source.gamma(3, 1, 100_000)
    low, high = shortest_interval(draws)
    assert high - low < np.subtract(*np.quantile(draws, [0.975, 0.025]))
    assert ((draws >= low) & (draws <= high)).mean() == pytest.approx(0.95, abs=1e-4)
    assert mode(draws) == pytest.approx(2, abs=0.15)
    assert infeasible_share(np.array([0.5, 0.1, -1]), np.array([0.2, 0.2, 0.01])) == pytest.approx(2 / 3)
    inside = predict(source, np.full(999, 0.9), np.full(999, 0.04), truncated=True)
    assert ((inside >= 0) & (inside <= 1)).all()
    with pytest.raises(ParameterError):
        shortest_interval(draws, 1)


@pytest.mark.parametrize("bad", [{"n": 1}, {"epsilon_mean": 0}, {"epsilon_variance": -1}])
def test_releases_outside_their_domain(bad):
    with pytest.raises(ParameterError):
        NoisyMoments(**{"mean": 0.5, "variance": 0.1, "n": 9, "epsilon_mean": 1, "epsilon_variance": 1, **bad})
