"""The laws that posteriors of a noisy mean and variance are made of: cut, mixed, inverse; and what data in [0, 1] can have."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from dpspec_inference.gibbs import inverse_gaussian, normal_between
from dpspec_inference.moments import (
    Bounds,
    RegressionSums,
    TruncatedGammaMixture,
    gamma_between,
    laplace_half_width,
    line_is_feasible,
    log_between,
    log_lower,
    log_upper,
    mean_limits,
    sample_mean_limits,
    sample_variance_limit,
    sums_are_ordered,
    variance_limit,
)
from flint import arb
from hypothesis import given, strategies as st
from scipy.integrate import quad

from dpspec.base.errors import ParameterError
from tests.risk.theorems import in_worlds, theorem


@pytest.mark.reference("Z-O53", "Z-O54", "Z-D7", "Z-F4.6", "Z-T20", "Z-X11")
def test_the_mixture_of_the_figure():
    law = TruncatedGammaMixture(shape=2, rate=2, noise=1, released=1)
    assert law.share_below == pytest.approx(0.6177566, abs=1e-6)
    assert law.density([0.25, 0.5, 2]) == pytest.approx([0.4551802, 0.7089894, 0.0856385], abs=1e-6)
    assert law.mean() == pytest.approx(0.9169770, abs=1e-6)
    assert law.evidence == pytest.approx(0.3147158, abs=1e-6)
    assert law.density([1 - 1e-9, 1 + 1e-9]) == pytest.approx([0.8600477] * 2, abs=1e-6)


laws = st.builds(
    TruncatedGammaMixture,
    shape=st.floats(1, 30),
    rate=st.floats(3.5, 40),
    noise=st.floats(0.3, 3),
    released=st.floats(-1, 3),
    upper=st.one_of(st.just(math.inf), st.floats(0.2, 2)),
)


@pytest.mark.reference("Z-D7", "Z-T20", "Z-A10", "Z-S25")
@given(laws)
def test_the_mixture_is_gamma_times_laplace(law):
    """Normaliser, evidence, cdf and mean against numerical integrals of the definition."""
    top = min(law.upper, (law.shape + 60) / (law.rate - law.noise))

    def joint(x):
        log_gamma = law.shape * math.log(law.rate) - math.lgamma(law.shape) + (law.shape - 1) * math.log(x) - law.rate * x
        return math.exp(log_gamma) * law.noise / 2 * math.exp(-law.noise * abs(law.released - x))

    middle = min(law.mean(), 0.999 * top)
    cuts = sorted({1e-12, middle / 3, middle, min(max(law.released, 1e-9), top), (middle + top) / 2, top})

    def integral(function, end):
        ends = [cut for cut in cuts if cut < end] + [end]
        return sum(quad(function, low, high, limit=200)[0] for low, high in itertools.pairwise(ends))

    whole = integral(joint, top)
    assert law.evidence == pytest.approx(whole, rel=1e-6)
    assert integral(lambda x: x * joint(x), top) / whole == pytest.approx(law.mean(), rel=1e-6)
    assert float(law.cdf(middle)) == pytest.approx(integral(joint, middle) / whole, abs=1e-6)
    assert float(law.density(middle)) == pytest.approx(joint(middle) / whole, rel=1e-6)


@pytest.mark.reference("Z-T19", "Z-A10")
@pytest.mark.statistical
@pytest.mark.parametrize(
    "law",
    [
        TruncatedGammaMixture(shape=2, rate=2, noise=1, released=1),
        TruncatedGammaMixture(shape=21, rate=12, noise=10.75, released=0.2, upper=0.25),
        TruncatedGammaMixture(shape=21, rate=400, noise=10.75, released=-0.3),
        TruncatedGammaMixture(shape=500, rate=60, noise=10.75, released=0.1, upper=0.25),
        TruncatedGammaMixture(shape=4.5, rate=90, noise=5, released=0.9, upper=0.27),
    ],
    ids=["figure", "cut", "negative", "far tail", "released above"],
)
def test_draws_have_the_cdf_of_the_mixture(law):
    """10,000 draws: a Kolmogorov distance above 0.0225 has probability below 1e-4."""
    drawn = np.sort(law.sample(np.random.default_rng(7), 10_000))
    assert drawn[0] > 0
    assert drawn[-1] <= law.upper
    places = np.arange(1, len(drawn) + 1) / len(drawn)
    assert np.abs(law.cdf(drawn) - places).max() < 0.0225


@pytest.mark.parametrize(
    ("shape", "x"), [(2, 3), (300, 1), (21.5, 0.001), (2000, 150), (5, 40), (0.7, 1e-9), (2, 2000), (50, 1500)]
)
def test_incomplete_gamma_functions_against_ball_arithmetic(shape, x):
    from flint import ctx

    with ctx.workprec(2400):
        low, high = arb(x).gamma_lower(arb(shape)).log(), arb(x).gamma_upper(arb(shape)).log()
    assert float(log_lower(shape, x)) == pytest.approx(float(low), rel=1e-10, abs=1e-10)
    assert float(log_upper(shape, x)) == pytest.approx(float(high), rel=1e-10, abs=1e-10)


@given(st.floats(0.6, 60), st.floats(0.01, 80), st.floats(1.01, 3))
def test_between_two_ends(shape, low, factor):
    high = low * factor
    from flint import ctx

    with ctx.workprec(600):
        found = (arb(high).gamma_lower(arb(shape)) - arb(low).gamma_lower(arb(shape))).log()
    assert float(log_between(shape, low, high)) == pytest.approx(float(found), rel=1e-8, abs=1e-8)


@pytest.mark.reference("Z-S25", "Z-S28", "Z-S29")
@pytest.mark.statistical
def test_other_draws():
    source = np.random.default_rng(1)
    far = gamma_between(source, 3.0, 2.0, np.full(20_000, 500.0), np.inf)
    assert far.min() >= 500
    assert far.mean() - 500 == pytest.approx(0.5, abs=0.02)  # beyond 500 the rate 2 decides
    cut = normal_between(source, 0.0, 1.0, np.full(20_000, -1.0), 2.0)
    assert cut.mean() == pytest.approx(0.2296, abs=0.03)
    drawn = inverse_gaussian(source, np.full(200_000, 2.0), 3.0)
    assert drawn.var() == pytest.approx(8 / 3, rel=0.05)  # mean^3 over shape
    levy = inverse_gaussian(source, np.full(200_000, np.inf), 3.0)
    assert np.median(levy) == pytest.approx(3 / 0.4549, rel=0.03)


@pytest.mark.parametrize("bad", [{"rate": 1}, {"shape": 0}, {"noise": 0}, {"upper": 0}])
def test_a_mixture_outside_its_domain(bad):
    with pytest.raises(ParameterError):
        TruncatedGammaMixture(**{"shape": 2, "rate": 2, "noise": 1, "released": 1, **bad})


# -- what is feasible -----------------------------------------------------------------------------


@pytest.mark.reference("Z-O58", "Z-D40", "Z-T14", "Z-T15", "Z-T16")
def test_feasible_means_and_variances():
    assert variance_limit(Fraction(1, 10)) == Fraction(9, 100)
    assert [float(end) for end in mean_limits(0.16)] == pytest.approx([0.2, 0.8])
    assert sample_variance_limit(Fraction(1, 2), 4) == Fraction(1, 3)
    assert [float(end) for end in sample_mean_limits(1 / 3, 4)] == pytest.approx([0.5, 0.5])


SHARES = st.integers(0, 30).map(lambda k: Fraction(k, 30))


@theorem("Z-T14", "Z-T15", "Z-T16", "Z-X10", "Z-T58", "Z-D45", points=st.lists(st.tuples(SHARES, SHARES), min_size=2, max_size=7))
def what_data_can_have(points):
    """Means, variances and the sums of a regression, in fractions; the determinants are those of Z'Z."""
    n, (x, y) = len(points), zip(*points, strict=True)
    mean = sum(y) / n
    squares = sum((value - mean) ** 2 for value in y)
    assert squares / n <= variance_limit(mean) <= Fraction(1, 4)
    assert squares / (n - 1) <= sample_variance_limit(mean, n)
    xx, xy, yy = (sum(a * b for a, b in zip(one, other, strict=True)) for one, other in ((x, x), (x, y), (y, y)))
    assert 0 <= xx <= sum(x) <= n
    assert 0 <= yy <= sum(y) <= n
    assert 0 <= xy <= min(sum(x), sum(y))
    of_x = n * xx - sum(x) ** 2
    assert of_x >= 0
    assert of_x * squares >= (n * xy - sum(x) * sum(y)) ** 2 / n
    assert sums_are_ordered(n, np.array([sum(x), xx, sum(y), xy, yy]))


THEOREMS = (what_data_can_have,)


@pytest.mark.parametrize(("declared", "count"), in_worlds(*THEOREMS))
def test_over_random_data(declared, count):
    declared.check(count)


@pytest.mark.reference("Z-O59", "Z-T55", "Z-S31")
def test_the_feasible_set_of_the_parameters():
    grid = (np.arange(4000) + 0.5) / 4000
    assert variance_limit(grid).mean() == pytest.approx(1 / 6, abs=1e-6)
    assert (6 * variance_limit(grid) * grid**2).mean() == pytest.approx(0.3, abs=1e-6)  # E mu^2 of Beta(2, 2)
    assert (6 * variance_limit(grid) ** 2 / 2).mean() == pytest.approx(0.1, abs=1e-6)  # E sigma^2


@pytest.mark.reference("Z-D45", "Z-T58", "Z-D44", "Z-S33", "Z-O71", "Z-F4.5")
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=9))
def test_regression_sums_of_data_are_feasible(points):
    x, y = (np.array(column) for column in zip(*points, strict=True))
    sums = RegressionSums(n=len(x), x=x.sum(), xx=x @ x, y=y.sum(), xy=x @ y, yy=y @ y)
    assert sums.is_feasible
    assert not RegressionSums(n=len(x), x=sums.x, xx=sums.x + 1, y=sums.y, xy=sums.xy, yy=sums.yy).is_feasible
    printed = RegressionSums(n=46, x=12.231293, xx=4.804202, y=16.022571, xy=5.735709, yy=7.963661)
    assert printed.is_feasible
    slope = (46 * printed.xy - printed.x * printed.y) / (46 * printed.xx - printed.x**2)
    assert (printed.y / 46 - slope * printed.x / 46, slope) == pytest.approx((0.0955408, 0.9506515), abs=1e-5)
    assert line_is_feasible(0.0955408, 0.9506515)


@pytest.mark.reference("Z-O60", "Z-T21")
def test_the_interval_of_one_laplace_release():
    width = laplace_half_width(10.75, 0.05)
    assert width == pytest.approx(0.2786728, abs=1e-7)
    assert 1 - math.exp(-10.75 * width) == pytest.approx(0.95)  # P(|Laplace| <= w) = 1 - e^-(lambda w)


@pytest.mark.reference("Z-O72", "Z-T13", "Z-D37", "Z-A16")
def test_the_scales_of_the_noise():
    scales = Bounds(low=0, high=100).noise_scales(43, 0.25, 0.25)
    assert scales == pytest.approx((9.302326, 930.2326), abs=1e-4)
    inside = Bounds(low=0, high=1).noise_scales(43, 0.25, 0.25)
    assert scales == pytest.approx((100 * inside[0], 100**2 * inside[1]))
