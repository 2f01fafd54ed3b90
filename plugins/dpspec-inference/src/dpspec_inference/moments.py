"""The model of a noisy mean and variance: bounds, priors, when a posterior is proper, and the laws that samplers need.

Data are n values in [0, 1]: what they can have as mean, variance and regression sums (Kazan 2025), a
noisy mean and variance of them, the priors, and when a posterior is proper (Kazan 2025).

The truncated gamma mixture TGM(alpha, beta, lambda, tau) is a gamma variable given its value with Laplace noise (Kazan 2025).

If x ~ Gamma(alpha, rate beta) and tau = x + Laplace noise of rate lambda < beta, then x given tau has the density proportional to
x^(alpha - 1) e^(-beta x - lambda |tau - x|): for tau > 0 a gamma law of rate beta - lambda below tau and one of rate beta +
lambda above. Weights are kept as logarithms, since (beta - lambda)^-alpha is of any size. All values are floats.

Incomplete gamma functions are in log space. Everything is in floats, on arrays.
"""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv, gammaln

from dpspec.plugin import Floats, ParameterError, errors

# --- bounds ---------------------------------------------------------------------------------------


def variance_limit(mean: Any) -> Any:
    """mu (1 - mu), the largest variance for a mean (Kazan 2025, Theorem 14); at most 1/4 (Kazan 2025, Corollary 15).

    >>> from fractions import Fraction
    >>> variance_limit(Fraction(1, 10))
    Fraction(9, 100)
    """
    return mean * (1 - mean)


def mean_limits(variance: Any) -> tuple[Any, Any]:
    """1/2 -+ sqrt(1/4 - sigma^2), the means that a variance allows (Kazan 2025, Theorem 14).

    >>> [round(float(end), 12) for end in mean_limits(0.16)]
    [0.2, 0.8]
    """
    half = np.sqrt(np.maximum(0.25 - np.asarray(variance, dtype=float), 0.0))
    return 0.5 - half, 0.5 + half


def sample_variance_limit(mean: Any, n: int) -> Any:
    """n/(n - 1) Y (1 - Y), the largest sample variance for a sample mean (Kazan 2025, Theorem 16).

    >>> from fractions import Fraction
    >>> sample_variance_limit(Fraction(1, 2), 4)
    Fraction(1, 3)
    """
    return mean * (1 - mean) * n / (n - 1)


def sample_mean_limits(variance: Any, n: int) -> tuple[Any, Any]:
    """The sample means that a sample variance allows (Kazan 2025, Theorem 16)."""
    return mean_limits(np.asarray(variance, dtype=float) * (n - 1) / n)


def is_feasible(mean: Any, variance: Any) -> NDArray[np.bool_]:
    """Whether 0 <= sigma^2 <= mu (1 - mu), element by element (F_par)."""
    mu, s2 = np.asarray(mean, dtype=float), np.asarray(variance, dtype=float)
    return np.asarray((s2 >= 0) & (s2 <= variance_limit(mu)))


@attrs.frozen(kw_only=True)
class Bounds:
    """The public interval of the data, which is mapped to [0, 1] and back (Kazan 2025, Theorem 13).

    Laplace noise scales with the data: noise on the mean by b - a, noise on the variance by (b - a)^2.

    >>> bounds = Bounds(low=0, high=100)
    >>> round(bounds.mean_inside(34.3), 6), bounds.variance_inside(47.16**2), bounds.variance_outside(0.25)
    (0.343, 0.22240656, 2500.0)
    """

    low: float
    high: float

    @property
    def width(self) -> float:
        """b - a."""
        return self.high - self.low

    def mean_inside(self, mean: float) -> float:
        """A mean on [0, 1]."""
        return (mean - self.low) / self.width

    def variance_inside(self, variance: float) -> float:
        """A variance on [0, 1]."""
        return variance / self.width**2

    def mean_outside(self, mean: Any) -> Any:
        """A mean on [a, b] again."""
        return mean * self.width + self.low

    def variance_outside(self, variance: Any) -> Any:
        """A variance on [a, b] again."""
        return variance * self.width**2

    def noise_scales(self, n: int, epsilon_mean: float, epsilon_variance: float) -> tuple[float, float]:
        """The Laplace scales (b - a)/(epsilon1 n) and (b - a)^2/(epsilon2 n) of replace-one neighbours (Kazan 2025).

        >>> [round(scale, 4) for scale in Bounds(low=0, high=100).noise_scales(43, 0.25, 0.25)]
        [9.3023, 930.2326]
        """
        return self.width / (epsilon_mean * n), self.width**2 / (epsilon_variance * n)


@attrs.frozen(kw_only=True)
class RegressionSums:
    """The sums of a simple regression on [0, 1]: x'1, x'x, Y'1, x'Y, Y'Y of n points (Kazan 2025, Section 4.5)."""

    n: int
    x: float
    xx: float
    y: float
    xy: float
    yy: float

    @property
    def is_feasible(self) -> bool:
        """0 <= x'x <= x'1 <= n, the same for Y, 0 <= x'Y <= min(x'1, Y'1), and Z'Z positive semidefinite."""
        moments = np.array([[self.n, self.x, self.y], [self.x, self.xx, self.xy], [self.y, self.xy, self.yy]])
        ordered = sums_are_ordered(self.n, np.array([self.x, self.xx, self.y, self.xy, self.yy]))
        return bool(ordered and np.linalg.eigvalsh(moments).min() >= -1e-9 * self.n)


def sums_are_ordered(n: int, sums: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The inequalities between the sums (x'1, x'x, Y'1, x'Y, Y'Y), entry by entry.

    >>> bool(sums_are_ordered(2, np.array([1.5, 1.2, 1.0, 0.5, 1.0])))
    True
    """
    x, xx, y, xy, yy = sums
    of_x, of_y = (xx >= 0) & (xx <= x) & (x <= n), (yy >= 0) & (yy <= y) & (y <= n)
    return np.asarray(of_x & of_y & (xy >= 0) & (xy <= x) & (xy <= y))


def line_is_feasible(intercept: Any, slope: Any) -> NDArray[np.bool_]:
    """(4.115): -theta1 <= theta0 <= 1 for theta1 >= 0, and 0 <= theta0 <= 1 - theta1 otherwise; entry by entry.

    Necessary only: the line meets the unit square somewhere.

    >>> bool(line_is_feasible(0.1, 0.95)), bool(line_is_feasible(-0.5, 0.2))
    (True, False)
    """
    start, rise = np.asarray(intercept, dtype=float), np.asarray(slope, dtype=float)
    return np.asarray((-np.maximum(rise, 0) <= start) & (start <= 1 - np.minimum(rise, 0)))


def laplace_half_width(noise: float, alpha: float) -> float:
    """ln(1/alpha)/lambda: X -+ this has frequentist and posterior level 1 - alpha for one Laplace release of rate lambda
    (Kazan 2025, Theorem 21).

    >>> round(laplace_half_width(10.75, 0.05), 7)
    0.2786728
    """
    return math.log(1 / alpha) / noise


# --- the model and its priors ---------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class NoisyMoments:
    """Laplace releases of the mean and of the sample variance of n values in [0, 1] (Kazan 2025, Section 4.2.2).

    Args:
        mean: Y*.
        variance: S^2*, which may be negative.
        n: the number of values, public, at least 2.
        epsilon_mean, epsilon_variance: epsilon1 and epsilon2; the whole release spends their sum.

    Raises:
        ParameterError: for fewer than 2 values, or a budget that is not positive.

    >>> data = NoisyMoments(mean=0.343, variance=0.4716**2, n=43, epsilon_mean=0.25, epsilon_variance=0.25)
    >>> round(data.variance, 4), round(data.variance_cap, 7)
    (0.2224, 1.9534884)
    """

    mean: float
    variance: float
    n: int
    epsilon_mean: float
    epsilon_variance: float

    def __attrs_post_init__(self) -> None:
        if self.n < 2:
            raise ParameterError("n", "must be at least 2, for there to be a sample variance", value=self.n)
        for name in ("epsilon_mean", "epsilon_variance"):
            if not 0 < getattr(self, name) < math.inf:
                raise ParameterError(name, "must be positive and finite", value=getattr(self, name))

    @classmethod
    def on(
        cls, bounds: Bounds, *, mean: float, variance: float, n: int, epsilon_mean: float, epsilon_variance: float
    ) -> NoisyMoments:
        """Releases on another interval, mapped to [0, 1] (Kazan 2025, Theorem 13)."""
        return cls(
            mean=bounds.mean_inside(mean),
            variance=bounds.variance_inside(variance),
            n=n,
            epsilon_mean=epsilon_mean,
            epsilon_variance=epsilon_variance,
        )

    @property
    def mean_rate(self) -> float:
        """epsilon1 n, the rate of the noise on the mean."""
        return self.epsilon_mean * self.n

    @property
    def variance_rate(self) -> float:
        """epsilon2 n, the rate of the noise on the variance."""
        return self.epsilon_variance * self.n

    @property
    def shape(self) -> float:
        """(n - 1)/2, the shape of the law of S^2 (4.47)."""
        return (self.n - 1) / 2

    @property
    def variance_cap(self) -> float:
        """(n - 1)/(2 n epsilon2): below it S^2 given the rest is a TGM, where sigma^2 is kept (Kazan 2025)."""
        return self.shape / self.variance_rate


@attrs.frozen(kw_only=True)
class MomentPrior:
    """A prior of (mu, sigma^2), by its log density (Kazan 2025, equation 4.2 and Section 4.4.1)."""

    name: str

    def log_density(self, mu: Floats, s2: Floats) -> Floats:
        """ln p(mu, sigma^2), up to a constant."""
        return np.zeros_like(mu + s2)


UNIFORM = MomentPrior(name="uniform")
"""p(mu, sigma^2) constant; in the constrained analysis on the feasible set, where mu is Beta(2, 2) (Kazan 2025)."""


@attrs.frozen(kw_only=True)
class _Jeffreys(MomentPrior):
    def log_density(self, mu: Floats, s2: Floats) -> Floats:
        return np.asarray(np.zeros_like(mu) - np.log(s2))


JEFFREYS = _Jeffreys(name="jeffreys")
"""p(mu, sigma^2) = 1/sigma^2: its posterior is improper (Kazan 2025, Theorem 17)."""


@attrs.frozen(kw_only=True)
class Informative(MomentPrior):
    """sigma^2 ~ IG(nu0/2, nu0 sigma0^2/2) and mu | sigma^2 ~ N(mu0, sigma^2/kappa0) (Kazan 2025, equation 4.2).

    Args:
        mean: mu0.
        variance: sigma0^2.
        mean_weight: kappa0, in observations.
        variance_weight: nu0, in observations.
    """

    name: str = "informative"
    mean: float
    variance: float
    mean_weight: float = attrs.field(default=1.0, validator=attrs.validators.gt(0))
    variance_weight: float = attrs.field(default=1.0, validator=attrs.validators.gt(0))

    def log_density(self, mu: Floats, s2: Floats) -> Floats:
        of_variance = -(self.variance_weight / 2 + 1) * np.log(s2) - self.variance_weight * self.variance / (2 * s2)
        return np.asarray(of_variance - np.log(s2) / 2 - self.mean_weight * (mu - self.mean) ** 2 / (2 * s2))


def check_proper(prior: MomentPrior, n: int, *, constrained: bool) -> str:
    """Why the posterior given (Y*, S^2*) is proper.

    A sampler gives no sign of an improper posterior: it drifts to sigma^2 = 0. So this is checked before.

    Raises:
        ImproperPosteriorError: for 1/sigma^2, constrained or not, and for the uniform prior without constraints when n <= 3.

    >>> check_proper(UNIFORM, 43, constrained=False)
    'a constant prior and n > 3 (Kazan 2025, Theorem 18)'
    """
    if prior == JEFFREYS:
        rule = (
            "has an improper posterior: p(S^2* | sigma^2) is positive at sigma^2 = 0, where 1/sigma^2 has no integral "
            "(Kazan 2025, Theorem 17)"
        )
        raise errors.ImproperPosteriorError("prior 1/sigma^2", rule, "use the uniform prior or an informative one")
    if prior != UNIFORM:
        return "the prior is proper"
    if constrained:
        return "the prior is proper on the feasible set, whose area is 1/6 (Kazan 2025, Section 4.4.1)"
    if n <= 3:
        rule = f"has an improper posterior for n = {n}: it needs n > 3"
        advice = "use the constrained analysis or an informative prior"
        raise errors.ImproperPosteriorError("uniform prior", f"{rule} (Kazan 2025, Theorem 18)", advice)
    return "a constant prior and n > 3 (Kazan 2025, Theorem 18)"


def uniform_normaliser(n: int, epsilon_variance: float, variance: float) -> float:
    """C of (4.106), the integral of the likelihood over all mu and sigma^2 > 0, for n > 3 (Kazan 2025, Theorem 18).

    (n - 1)/(n - 3) (1/2 + sgn(s) (1 - e^(-epsilon2 n |s|))/2), s the released variance.

    >>> round(uniform_normaliser(10, 0.5, 0.05), 7)
    0.7850566
    """
    check_proper(UNIFORM, n, constrained=False)
    share = (1 - math.exp(-epsilon_variance * n * abs(variance))) / 2
    return (n - 1) / (n - 3) * (0.5 + math.copysign(share, variance))


# --- incomplete gamma functions -------------------------------------------------------------------


_TINY = 1e-280
_TERMS = 400
_HALVINGS = 90


def log_lower(shape: Any, x: Any) -> Floats:
    """ln of the lower incomplete gamma function, the integral of t^(shape - 1) e^-t from 0 to x; by its series where it is tiny.

    >>> round(float(log_lower(2.0, 3.0)), 6), round(float(log_lower(300.0, 1.0)), 3)
    (-0.222079, -6.7)
    """
    a, point = np.broadcast_arrays(np.asarray(shape, dtype=float), np.asarray(x, dtype=float))
    share = gammainc(a, point)
    with np.errstate(divide="ignore"):
        found = np.asarray(np.log(share) + gammaln(a))
    tiny = (share < _TINY) & (point > 0)
    if tiny.any():
        found = np.where(tiny, _lower_series(np.where(tiny, a, 1.0), np.where(tiny, point, 1.0)), found)
    return found


def log_upper(shape: Any, x: Any) -> Floats:
    """ln of the upper incomplete gamma function, from x to infinity; by a continued fraction where it is tiny.

    >>> round(float(log_upper(2.0, 3.0)), 6), round(float(log_upper(2.0, 2000.0)), 3)
    (-1.613706, -1992.399)
    """
    a, point = np.broadcast_arrays(np.asarray(shape, dtype=float), np.asarray(x, dtype=float))
    share = gammaincc(a, point)
    with np.errstate(divide="ignore"):
        found = np.asarray(np.log(share) + gammaln(a))
    tiny = (share < _TINY) & np.isfinite(point)
    if tiny.any():
        found = np.where(tiny, _upper_fraction(np.where(tiny, a, 1.0), np.where(tiny, point, 9.0)), found)
    return found


def log_between(shape: Any, low: Any, high: Any) -> Floats:
    """ln of the integral of t^(shape - 1) e^-t from low to high; minus infinity for an empty range."""
    a, start, end = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (shape, low, high)))
    below = start < a
    large = np.where(below, log_lower(a, end), log_upper(a, start))
    small = np.where(below, log_lower(a, start), log_upper(a, end))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = large + np.log(-np.expm1(np.minimum(small - large, 0.0)))
    return np.where(start < end, found, -np.inf)


def gamma_between(source: Generator, shape: float, rate: Any, low: Any, high: Any) -> Floats:
    """Draws from the gamma law with a *rate*, cut to [low, high]; high may be infinite.

    By inversion, in the tail that is nearer; where the range has less than 1e-280 of the mass, by halving in log space.

    >>> from numpy.random import default_rng
    >>> draws = gamma_between(default_rng(0), 2.0, 1.0, np.full(5, 900.0), np.inf)
    >>> bool((draws >= 900).all() and (draws < 920).all())
    True
    """
    rates, lows, highs = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (rate, low, high)))
    start, end = rates * lows, rates * highs
    u = source.random(rates.shape)
    from_below = start < shape
    p = gammainc(shape, start) + u * (gammainc(shape, end) - gammainc(shape, start))
    q = gammaincc(shape, start) - u * (gammaincc(shape, start) - gammaincc(shape, end))
    found = np.where(from_below, gammaincinv(shape, np.clip(p, 0, 1)), gammainccinv(shape, np.clip(q, 0, 1)))
    hard = np.where(from_below, gammainc(shape, end), gammaincc(shape, start)) < _TINY
    if hard.any():
        found[hard] = _by_halving(shape, start[hard], end[hard], u[hard])
    return np.asarray(np.clip(found / rates, lows, highs))


def _by_halving(shape: float, start: Floats, end: Floats, u: Floats) -> Floats:
    """The x with mass u of [start, end] below it; the mass is near the end that is nearer to the mode."""
    low, high = start.copy(), np.where(np.isfinite(end), end, start + 800.0 + shape)
    whole = log_between(shape, low, high)
    floor = start.copy()
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        less = log_between(shape, floor, middle) - whole < np.log(np.maximum(u, 1e-300))
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    return np.asarray((low + high) / 2)


def _lower_series(a: Floats, x: Floats) -> Floats:
    total, term = np.ones_like(x), np.ones_like(x)
    for k in range(1, _TERMS):
        term = term * x / (a + k)
        total += term
    return np.asarray(a * np.log(x) - x - np.log(a) + np.log(total))


def _upper_fraction(a: Floats, x: Floats) -> Floats:
    """By the continued fraction of Legendre, evaluated from its end; x is far above a."""
    value = np.zeros_like(x)
    for k in range(60, 0, -1):
        value = k * (k - a) / (x + 2 * k + 1 - a - value)
    return np.asarray(a * np.log(x) - x - np.log(x + 1 - a - value))


# --- the truncated gamma mixture ------------------------------------------------------------------


def log_weights(shape: float, rate: Any, noise: float, released: Any, upper: Any = np.inf) -> tuple[Floats, Floats]:
    """ln w1 and ln w2, the unnormalised weights of the part below and of the part above the released value (Kazan 2025).

    Args:
        shape: alpha.
        rate: beta, above `noise`.
        noise: lambda, the rate of the noise.
        released: tau.
        upper: an upper end of x (constrained; Kazan 2025, Algorithm 1).
    """
    beta, tau, end = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (rate, released, upper)))
    cut = np.clip(tau, 0.0, end)
    less, more = beta - noise, beta + noise
    below = -noise * tau + log_lower(shape, less * cut) - shape * np.log(less)
    above = noise * tau + log_between(shape, more * cut, more * end) - shape * np.log(more)
    return np.where(cut > 0, below, -np.inf), np.where(cut < end, above, -np.inf)


def log_evidence(shape: float, rate: Any, noise: float, released: Any, upper: Any = np.inf) -> Floats:
    """ln of lambda beta^alpha (w1 + w2) / (2 Gamma(alpha)): the density of tau, x cut to (0, upper] without renormalising."""
    below, above = log_weights(shape, rate, noise, released, upper)
    beta = np.asarray(rate, dtype=float)
    return np.asarray(math.log(noise / 2) + shape * np.log(beta) - gammaln(shape) + np.logaddexp(below, above))


def sample(source: Generator, shape: float, rate: Any, noise: float, *, released: Any, upper: Any = np.inf) -> Floats:
    """Exact draws, one for every entry of the arrays (Kazan 2025, Algorithm 1 and Theorem 19)."""
    beta, tau, end = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (rate, released, upper)))
    below, above = log_weights(shape, beta, noise, tau, end)
    cut = np.clip(tau, 0.0, end)
    first = np.log(source.random(beta.shape)) < below - np.logaddexp(below, above)
    rates = np.where(first, beta - noise, beta + noise)
    return gamma_between(source, shape, rates, np.where(first, 0.0, cut), np.where(first, cut, end))


@attrs.frozen(kw_only=True)
class TruncatedGammaMixture:
    """TGM(alpha, beta, lambda, tau), cut to (0, upper] where an upper end is given.

    Args:
        shape: alpha > 0 (the thesis calls it a scale).
        rate: beta, with beta > lambda >= 0 strictly.
        noise: lambda > 0.
        released: tau, any real number.
        upper: an upper end of x.

    Raises:
        ParameterError: outside these domains.

    >>> law = TruncatedGammaMixture(shape=2, rate=2, noise=1, released=1)
    >>> round(law.share_below, 6), round(float(law.density(0.5)), 6), round(law.evidence, 6)
    (0.617757, 0.708989, 0.314716)
    """

    shape: float
    rate: float
    noise: float
    released: float
    upper: float = math.inf

    def __attrs_post_init__(self) -> None:
        if not (self.shape > 0 and self.noise > 0 and self.upper > 0):
            raise ParameterError("shape, noise, upper", "must be positive", value=(self.shape, self.noise, self.upper))
        if not self.rate > self.noise:
            raise ParameterError(
                "rate", "must exceed the rate of the noise", "cap sigma^2 below (n-1)/(2 n epsilon2)", value=self.rate
            )

    @property
    def _weights(self) -> tuple[float, float]:
        below, above = log_weights(self.shape, self.rate, self.noise, self.released, self.upper)
        return float(below), float(above)

    @property
    def share_below(self) -> float:
        """pi1, the probability of the part below tau."""
        below, above = self._weights
        return math.exp(below - float(np.logaddexp(below, above)))

    @property
    def evidence(self) -> float:
        """p(tau) (Kazan 2025, Theorem 20)."""
        return float(np.exp(log_evidence(self.shape, self.rate, self.noise, self.released, self.upper)))

    def density(self, x: Any) -> Floats:
        """p(x); continuous, and not differentiable at tau."""
        at = np.asarray(x, dtype=float)
        with np.errstate(divide="ignore"):
            kernel = (self.shape - 1) * np.log(at) - self.rate * at - self.noise * np.abs(self.released - at)
        return np.where((at > 0) & (at <= self.upper), np.exp(kernel - float(np.logaddexp(*self._weights))), 0.0)

    def cdf(self, x: Any) -> Floats:
        """P(X <= x)."""
        ends = np.minimum(np.asarray(x, dtype=float), self.upper)
        parts = log_weights(self.shape, self.rate, self.noise, self.released, np.maximum(ends, 1e-300))
        return np.where(ends > 0, np.exp(np.logaddexp(*parts) - float(np.logaddexp(*self._weights))), 0.0)

    def mean(self) -> float:
        """E X, from the same weights with alpha + 1."""
        above = log_weights(self.shape + 1, self.rate, self.noise, self.released, self.upper)
        return math.exp(float(np.logaddexp(*above)) - float(np.logaddexp(*self._weights)))

    def sample(self, source: Generator, count: int) -> Floats:
        """Exact draws."""
        rates = np.full(count, float(self.rate))
        return sample(source, self.shape, rates, self.noise, released=self.released, upper=self.upper)
