"""A straight line from noisy sums: the release, the prior, an exact sampler, and the one of the thesis (Kazan 2025).

The model is Y ~ N(theta0 + theta1 x, sigma^2) for n points of [0, 1]^2, and the data enter through five sums,

    s = (x'1, x'x, Y'1, x'Y, Y'Y),

each of sensitivity 1 when one point is replaced. With G = [[n, x'1], [x'1, x'x]] and b = (Y'1, x'Y), the law of the sums of Y
given those of x is that of any normal regression, without limit theorems and for every n > 2:

    b ~ N(G theta, sigma^2 G),    R = Y'Y - b' G^-1 b ~ sigma^2 chi^2(n - 2),    independent.

All arrays have the five sums (or the two coefficients) first, and then one entry for each chain.

**The exact sampler** draws (theta, sigma^2) given noisy sums, many chains at once.

State: theta, sigma^2 and the five confidential sums. Each sweep

1. draws (theta, sigma^2) from its conjugate law given the sums;
2. moves theta together with the whitened sums of Y, keeping the distance of these from the line;
3. moves the sums of x, keeping what the responses are when whitened;
4. moves the whitened sums of Y by an autoregressive step that leaves their normal law as it is;
5. moves the residual by one that leaves its chi-squared law as it is;
6. moves all sums a little, by the law of `log_likelihood`.

Moves 3 to 5 are accepted by the likelihood ratio of the Laplace noise alone, since each leaves the model as it is, and move 2 by
this and the ratio of the prior of theta. Without move 2 a line in much noise takes about 1,000 sweeps to change. The size of
a step is drawn anew each time, over several orders of magnitude. The sums of x have a flat prior on what x in [0, 1] allows.

The constrained analysis is the same density where sums, line and sigma^2 <= 1/4 are feasible (Kazan 2025, Section 4.15): what is
not is refused. It refuses theta and sigma^2 together. The thesis redraws theta until its line is feasible and keeps
sigma^2, which leaves out of the law of sigma^2 how often a line with that variance is feasible.

**The sampler of the thesis** is implemented as published, for evaluation; the exact one is the one to use (Kazan 2025).

It draws the sums s from the normal law N(n mu, n Sigma) of the central limit theorem, whose moments of x up to the fourth are
taken from five more noisy sums, x^0 to x^4, as if they had no noise; then (theta, sigma^2) from the conjugate law given s. The
two belong to no joint law: the first takes s for normal, the second for the sums of a regression with n - 2 residual degrees
of freedom. What else differs from the exact sampler: sums that cannot be data are moved to the nearest that can
(unconstrained), where they would have probability 0, and the constrained line is redrawn without its variance. The sums of x
are taken to be near what is released of their moments, which is the same data a second time. Six sums and five powers at
epsilon each cost 11 epsilon; the exact laws need the five sums alone.
"""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from dpspec.plugin import Floats, ParameterError
from dpspec_inference.gibbs import inverse_gaussian
from dpspec_inference.moments import RegressionSums, line_is_feasible, sums_are_ordered

_LEAST = 1e-300


@attrs.frozen(kw_only=True)
class NoisyRegression:
    """Laplace releases of the five sums of a regression on [0, 1] (Kazan 2025, Section 4.5).

    Args:
        sums: what was released; nothing keeps it feasible.
        epsilon: of each sum that is released with noise.
        design: whether the sums of x are released with noise too; False where x is public, so that they are exact.

    Raises:
        ParameterError: for fewer than three points, or an epsilon that is not positive and finite.

    >>> sums = RegressionSums(n=46, x=12.2, xx=4.8, y=16.0, xy=5.7, yy=8.0)
    >>> NoisyRegression(sums=sums, epsilon=0.1).spent
    0.5
    """

    sums: RegressionSums
    epsilon: float
    design: bool = True

    def __attrs_post_init__(self) -> None:
        if self.sums.n < 3:
            raise ParameterError("n", "must be at least 3, for there to be a residual", value=self.sums.n)
        if not 0 < self.epsilon < math.inf:
            raise ParameterError("epsilon", "must be positive and finite", value=self.epsilon)

    @property
    def spent(self) -> float:
        """The epsilon of the whole release, by basic composition."""
        return self.epsilon * (5 if self.design else 3)

    def released(self, chains: int) -> Floats:
        """The five released numbers, once for every chain."""
        found = self.sums
        return np.repeat(np.array([[found.x], [found.xx], [found.y], [found.xy], [found.yy]], dtype=float), chains, axis=1)


@attrs.frozen(kw_only=True)
class LinePrior:
    """theta | sigma^2 ~ N(mean, sigma^2/weight I) and sigma^2 ~ IG(shape, rate), as (4.5) of the thesis (Kazan 2025).

    Args:
        mean: of intercept and slope.
        weight: in observations. The thesis prints the covariance sigma^2/4, a weight of 4, and computes with 4 sigma^2, a weight
            of 1/4; the results it prints are only possible with the latter.
        shape, rate: of the inverse gamma law of sigma^2.
    """

    mean: tuple[float, float] = (1.0, 0.0)
    weight: float = attrs.field(default=0.25, validator=attrs.validators.gt(0))
    shape: float = attrs.field(default=20.0, validator=attrs.validators.gt(0))
    rate: float = attrs.field(default=0.5, validator=attrs.validators.gt(0))


LINE = LinePrior()
"""The prior of the thesis as it was computed with."""


@attrs.frozen(eq=False)
class LinePosterior:
    """The law of (theta, sigma^2) given the sums: theta | sigma^2 ~ N(mean, sigma^2 U^-1 U^-T), sigma^2 ~ IG(shape, rate).

    `root` has the entries (u00, u01, u11) of the upper triangular U, the root of the precision.
    """

    mean: Floats
    root: Floats
    shape: float
    rate: Floats

    def sample(self, source: Generator) -> tuple[Floats, Floats]:
        """One draw of (theta, sigma^2) for every entry."""
        s2 = np.asarray(self.rate / source.gamma(self.shape, size=self.rate.shape))
        return self.line(source, s2), s2

    def line(self, source: Generator, s2: Floats) -> Floats:
        """One draw of theta given sigma^2 for every entry."""
        z = source.standard_normal(self.mean.shape) * np.sqrt(s2)
        slope = z[1] / self.root[2]
        return np.asarray(self.mean + np.stack([(z[0] - self.root[1] * slope) / self.root[0], slope]))

    def log_density(self, theta: Floats, s2: Any) -> Floats:
        """ln p(theta, sigma^2 | sums)."""
        gap = theta - self.mean
        first, second = self.root[0] * gap[0] + self.root[1] * gap[1], self.root[2] * gap[1]
        of_theta = -np.log(2 * math.pi * s2) + np.log(self.root[0] * self.root[2]) - (first**2 + second**2) / (2 * s2)
        of_s2 = self.shape * np.log(self.rate) - math.lgamma(self.shape) - (self.shape + 1) * np.log(s2) - self.rate / s2
        return np.asarray(of_theta + of_s2)


def given_sums(prior: LinePrior, n: int, sums: Floats) -> LinePosterior:
    """The conjugate update: weights and moments add (the exact step of Kazan 2025, Section 4.5).

    >>> after = given_sums(LINE, 46, np.array([12.231293, 4.804202, 16.022571, 5.735709, 7.963661]))
    >>> [round(float(value), 4) for value in after.mean], after.shape
    ([0.1437, 0.7872], 43.0)
    """
    x, xx, y, xy, yy = sums
    first = np.sqrt(n + prior.weight) + np.zeros_like(x)
    cross = x / first
    second = np.sqrt(np.maximum(xx + prior.weight - cross**2, _LEAST))
    known = np.stack([y + prior.weight * prior.mean[0], xy + prior.weight * prior.mean[1]])
    half = known[0] / first
    rest = (known[1] - cross * half) / second  # U'(half, rest) = known, so that U mean = (half, rest)
    slope = rest / second
    squares = yy + prior.weight * (prior.mean[0] ** 2 + prior.mean[1] ** 2) - half**2 - rest**2
    return LinePosterior(
        mean=np.stack([(half - cross * slope) / first, slope]),
        root=np.stack([first, cross, second]),
        shape=prior.shape + n / 2,
        rate=np.asarray(prior.rate + np.maximum(squares, 0.0) / 2),
    )


def design_root(n: int, sums: Floats) -> tuple[float, Floats, Floats]:
    """The entries of the lower triangular L with L L' = G: sqrt n, x'1/sqrt n, and the root of the spread of x."""
    first = math.sqrt(n)
    cross = sums[0] / first
    return first, cross, np.sqrt(np.maximum(sums[1] - cross**2, _LEAST))


def whitened(n: int, sums: Floats) -> tuple[Floats, Floats]:
    """(L^-1 b, R): what is N(L' theta, sigma^2 I) and sigma^2 chi^2(n - 2) (see above)."""
    first, cross, second = design_root(n, sums)
    half = sums[2] / first
    rest = (sums[3] - cross * half) / second
    return np.stack([half, rest]), np.asarray(sums[4] - half**2 - rest**2)


def with_responses(n: int, sums: Floats, white: Floats, residual: Floats) -> Floats:
    """The inverse: the sums with these of x and these whitened ones of Y."""
    first, cross, second = design_root(n, sums)
    return np.stack([
        sums[0], sums[1], first * white[0], cross * white[0] + second * white[1], residual + white[0] ** 2 + white[1] ** 2,
    ])  # fmt: skip


def predicted(n: int, sums: Floats, theta: Floats) -> Floats:
    """L' theta, the mean of the whitened sums of Y."""
    first, cross, second = design_root(n, sums)
    return np.stack([first * theta[0] + cross * theta[1], second * theta[1]])


def log_likelihood(n: int, sums: Floats, theta: Floats, s2: Any) -> Floats:
    """ln p(b, Y'Y | G, theta, sigma^2), exactly; minus infinity where the residual is negative."""
    white, residual = whitened(n, sums)
    first, _, second = design_root(n, sums)
    gap, free = white - predicted(n, sums, theta), (n - 2) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        of_residual = (free - 1) * np.log(residual) - residual / (2 * s2) - free * np.log(2 * s2) - math.lgamma(free)
    of_white = -(gap**2).sum(axis=0) / (2 * s2) - np.log(2 * math.pi * s2) - np.log(first * second)
    return np.where(residual > 0, of_white + of_residual, -np.inf)


# --- the exact sampler ----------------------------------------------------------------------------


@attrs.frozen(kw_only=True, eq=False)
class LineDraws:
    """Draws of (theta0, theta1), sigma^2 and the five sums: one row for every sweep that was kept, a column for every chain."""

    theta: Floats
    s2: Floats
    sums: Floats


def sample(
    data: NoisyRegression,
    prior: LinePrior = LINE,
    *,
    constrained: bool,
    sweeps: int = 1000,
    warmup: int = 500,
    chains: int = 100,
    released: Floats | None = None,
    seed: int = 0,
) -> LineDraws:
    """Run chains side by side.

    Args:
        data: the release.
        prior: of (theta, sigma^2).
        constrained: whether parameters and sums of Y are kept feasible; the sums of x always are.
        sweeps, warmup: kept and dropped sweeps of each chain. chains: how many run at once.
        released: five releases for each chain, in place of those of `data`, to study many data sets at once.
        seed: of numpy's generator.

    >>> from dpspec_inference.moments import RegressionSums
    >>> sums = RegressionSums(n=46, x=12.2, xx=4.8, y=16.0, xy=5.7, yy=8.0)
    >>> drawn = sample(NoisyRegression(sums=sums, epsilon=1), constrained=True, sweeps=40, warmup=10, chains=5)
    >>> drawn.theta.shape, bool((drawn.s2 <= 0.25).all())
    ((2, 40, 5), True)
    """
    known = data.released(chains) if released is None else released
    state = _Lines(data=data, prior=prior, known=known, constrained=constrained)
    source = default_rng(seed)
    kept = np.empty((8, sweeps, known.shape[1]))
    for turn in range(-warmup, sweeps):
        state.sweep(source)
        if turn >= 0:
            kept[:2, turn], kept[2, turn], kept[3:, turn] = state.theta, state.s2, state.sums
    return LineDraws(theta=kept[:2], s2=kept[2], sums=kept[3:])


class _Lines:
    """The state of all chains."""

    def __init__(self, *, data: NoisyRegression, prior: LinePrior, known: Floats, constrained: bool) -> None:
        self.data, self.prior, self.known, self.constrained = data, prior, known, constrained
        self.n = data.sums.n
        size = known.shape[1]
        self.theta, self.s2 = np.stack([np.full(size, 0.5), np.zeros(size)]), np.full(size, 0.05)
        self.sums = self._start()

    def _start(self) -> Floats:
        """What was released where it could be data, else points around a flat line in the middle."""
        n, known = self.n, self.known
        x = np.clip(known[0], 0.05 * n, 0.95 * n) if self.data.design else known[0]
        spread = np.clip(known[1] - x**2 / n, 0.1 * x * (1 - x / n), 0.9 * x * (1 - x / n))
        design = np.stack([x, x**2 / n + spread if self.data.design else known[1]])
        flat = with_responses(n, design, predicted(n, design, self.theta), n * self.s2)
        white, residual = whitened(n, np.concatenate([design, known[2:]]))
        near = with_responses(n, design, white, np.maximum(residual, 0.01 * n))
        return np.where(sums_are_ordered(n, near), near, flat)

    def sweep(self, source: Generator) -> None:
        """One round."""
        theta, s2 = given_sums(self.prior, self.n, self.sums).sample(source)
        kept = (s2 <= 0.25) & line_is_feasible(theta[0], theta[1]) if self.constrained else np.ones(s2.shape, dtype=bool)
        self.theta, self.s2 = np.where(kept, theta, self.theta), np.where(kept, s2, self.s2)
        self._move_line(source)
        if self.data.design:
            self._move_design(source)
        self._move_responses(source)
        self._move_residual(source)
        self._move_sums(source)

    def _move_line(self, source: Generator) -> None:
        """The line together with the sums of Y, whose distance from the line is kept: the law of the sums does not change."""
        white, residual = whitened(self.n, self.sums)
        theta = self.theta + self._scale(source, 1) * source.standard_normal(self.theta.shape)
        centre = np.array(self.prior.mean)[:, None]
        squares = ((self.theta - centre) ** 2 - (theta - centre) ** 2).sum(axis=0)
        gain = self.prior.weight * squares / (2 * self.s2)
        if self.constrained:
            gain = np.where(line_is_feasible(theta[0], theta[1]), gain, -np.inf)
        moved = white + predicted(self.n, self.sums, theta) - predicted(self.n, self.sums, self.theta)
        taken = self._accept(source, with_responses(self.n, self.sums, moved, residual), gain)
        self.theta = np.where(taken, theta, self.theta)

    def _move_design(self, source: Generator) -> None:
        white, residual = whitened(self.n, self.sums)
        noise = white - predicted(self.n, self.sums, self.theta)
        size = self.n * self._scale(source, 1)
        sums = self.sums[:2] + size * source.standard_normal((2, size.size))
        allowed = (sums[1] >= 0) & (sums[1] <= sums[0]) & (sums[0] <= self.n) & (sums[0] ** 2 < self.n * sums[1])
        sums = np.where(allowed, sums, self.sums[:2])
        moved = with_responses(self.n, sums, predicted(self.n, sums, self.theta) + noise, residual)
        self._accept(source, moved)

    def _move_responses(self, source: Generator) -> None:
        white, residual = whitened(self.n, self.sums)
        centre, share = predicted(self.n, self.sums, self.theta), self._scale(source, 2)
        fresh = np.sqrt(self.s2) * source.standard_normal(white.shape)
        moved = centre + np.sqrt(1 - share) * (white - centre) + np.sqrt(share) * fresh
        self._accept(source, with_responses(self.n, self.sums, moved, residual))

    def _move_residual(self, source: Generator) -> None:
        """R/(2 sigma^2) is gamma; a beta share of it stays, and a gamma variable fills it up to the same law."""
        white, residual = whitened(self.n, self.sums)
        free, share = (self.n - 2) / 2, self._scale(source, 2)
        kept = 1 - source.beta(share * free, np.maximum((1 - share) * free, 1e-12))
        moved = kept * residual + 2 * self.s2 * source.gamma(share * free)
        self._accept(source, with_responses(self.n, self.sums, white, moved))

    def _move_sums(self, source: Generator) -> None:
        """All sums where they are, which is what moves them when there is little noise."""
        step = source.standard_normal(self.sums.shape) * self._scale(source, 1) * self.n
        if not self.data.design:
            step[:2] = 0
        moved = np.where(_is_design(self.n, self.sums + step), self.sums + step, self.sums)
        before, after = (log_likelihood(self.n, sums, self.theta, self.s2) for sums in (self.sums, moved))
        self._accept(source, moved, after - before)

    def _accept(self, source: Generator, moved: Floats, gain: Floats | float = 0.0) -> NDArray[np.bool_]:
        """Take what is moved with the probability of the Laplace noise, and what else the density gains; which was taken."""
        noisy = slice(None) if self.data.design else slice(2, None)
        nearer = (np.abs(self.known - self.sums) - np.abs(self.known - moved))[noisy].sum(axis=0)
        taken = np.log(source.random(self.s2.shape)) < self.data.epsilon * nearer + gain
        if self.constrained:
            taken &= sums_are_ordered(self.n, moved)
        self.sums = np.where(taken, moved, self.sums)
        return np.asarray(taken)

    def _scale(self, source: Generator, power: int) -> Floats:
        """From a tenth of the noise, as a share of n, up to 1, evenly over the logarithm; squared for shares of a variance."""
        least = min(0.1, 0.1 / (self.data.epsilon * self.n))
        return np.asarray(least ** (power * source.random(self.s2.shape)))


def _is_design(n: int, sums: Floats) -> NDArray[np.bool_]:
    """Whether n values in [0, 1], not all equal, can have these sums and squares."""
    return np.asarray((sums[1] >= 0) & (sums[1] <= sums[0]) & (sums[0] <= n) & (sums[0] ** 2 < n * sums[1]))


# --- the sampler of the thesis --------------------------------------------------------------------


_TRIES = 50
_LEAST_EIGENVALUE = 1e-9


def sample_as_printed(
    data: NoisyRegression,
    powers: tuple[float, float, float, float],
    prior: LinePrior = LINE,
    *,
    constrained: bool,
    sweeps: int = 1000,
    warmup: int = 500,
    chains: int = 100,
    seed: int = 0,
) -> LineDraws:
    """Run chains side by side, as `sample` does.

    Args:
        data: the release of the five sums.
        powers: what was released of the sums of x, x^2, x^3, x^4; the number of points is public.
        prior, constrained, sweeps, warmup, chains, seed: as there.
    """
    n, known, source = data.sums.n, data.released(chains), default_rng(seed)
    moments = np.array([1.0, *np.clip(np.array(powers) / n, 0.01, 0.99)])
    theta, s2 = np.stack([np.full(chains, 0.5), np.zeros(chains)]), np.full(chains, 0.05)
    sums, noise = n * central_limit(moments, theta, s2)[0].T, np.full((5, chains), 2 / data.epsilon**2)
    kept = np.empty((8, sweeps, chains))
    for turn in range(-warmup, sweeps):
        limit = central_limit(moments, theta, s2)
        sums = _draw_sums(source, n, limit, known=known, noise=noise, before=sums, constrained=constrained)
        theta, s2 = line(source, given_sums(prior, n, sums), theta, s2, constrained=constrained)
        noise = 1 / inverse_gaussian(source, data.epsilon / np.maximum(np.abs(known - sums), 1e-150), data.epsilon**2)
        if turn >= 0:
            kept[:2, turn], kept[2, turn], kept[3:, turn] = theta, s2, sums
    return LineDraws(theta=kept[:2], s2=kept[2], sums=kept[3:])


_PARTS = ((1, 0), (2, 0), (0, 1), (1, 1), (0, 2))
"""The powers of x and of Y in the five sums."""


def central_limit(moments: Floats, theta: Floats, s2: Floats) -> tuple[Floats, Floats]:
    """mu and Sigma of one point's part (x, x^2, Y, xY, Y^2) of the sums, for every chain: shapes (chains, 5), (chains, 5, 5).

    With Y = theta0 + theta1 x + e, E x^a Y^c is a polynomial in theta and sigma^2, whose coefficients are moments of x.
    """

    def on_line(a: int, power: int) -> Floats:
        terms = [math.comb(power, k) * theta[0] ** (power - k) * theta[1] ** k * moments[a + k] for k in range(power + 1)]
        return np.asarray(np.sum(terms, axis=0))

    def product(a: int, c: int) -> Floats:
        errors = (np.ones_like(s2), s2, 3 * s2**2)  # the moments 0, 2 and 4 of e
        return np.asarray(np.sum([math.comb(c, 2 * j) * errors[j] * on_line(a, c - 2 * j) for j in range(c // 2 + 1)], axis=0))

    mean = np.stack([product(a, c) for a, c in _PARTS], axis=1)
    square = np.array([[product(a + b, c + d) for b, d in _PARTS] for a, c in _PARTS])
    return mean, np.moveaxis(square, 2, 0) - mean[:, :, None] * mean[:, None, :]


def line(source: Generator, law: LinePosterior, theta: Floats, s2: Floats, *, constrained: bool) -> tuple[Floats, Floats]:
    """(theta, sigma^2) given the sums; constrained, sigma^2 <= 1/4 first, and then theta again and again for that sigma^2."""
    drawn, variance = law.sample(source)
    if not constrained:
        return drawn, variance
    for _ in range(_TRIES):
        if (low := variance <= 0.25).all():
            break
        fresh = law.sample(source)
        drawn, variance = np.where(low, drawn, fresh[0]), np.where(low, variance, fresh[1])
    for _ in range(_TRIES):
        if (inside := line_is_feasible(*drawn)).all():
            break
        drawn = np.where(inside, drawn, law.line(source, variance))
    kept = line_is_feasible(*drawn) & (variance <= 0.25)
    return np.where(kept, drawn, theta), np.where(kept, variance, s2)


def _draw_sums(
    source: Generator,
    n: int,
    limit: tuple[Floats, Floats],
    *,
    known: Floats,
    noise: Floats,
    before: Floats,
    constrained: bool,
) -> Floats:
    """Normal, given what was released with normal noise of the variances `noise`; then made data, or drawn until it is."""
    mean, spread = limit
    values, vectors = np.linalg.eigh(spread)
    inverse = vectors / np.maximum(values, _LEAST_EIGENVALUE)[:, None, :] @ np.swapaxes(vectors, 1, 2)
    precision = inverse / n + np.eye(5) / noise.T[:, None, :]
    covariance = np.linalg.inv(precision)
    target = np.einsum("kij,kj->ki", inverse, mean) + (known / noise).T
    centre, root = np.einsum("kij,kj->ki", covariance, target), np.linalg.cholesky(covariance)
    drawn = (centre + np.einsum("kij,kj->ki", root, source.standard_normal(centre.shape))).T
    if not constrained:
        return _nearest(n, drawn)
    for _ in range(_TRIES):
        if (possible := _are_data(n, drawn)).all():
            break
        again = (centre + np.einsum("kij,kj->ki", root, source.standard_normal(centre.shape))).T
        drawn = np.where(possible, drawn, again)
    return np.where(_are_data(n, drawn), drawn, before)


def _are_data(n: int, sums: Floats) -> NDArray[np.bool_]:
    """The inequalities between the sums, with a residual that is not negative."""
    return np.asarray(sums_are_ordered(n, sums) & (sums[0] ** 2 < n * sums[1]) & (whitened(n, sums)[1] > 0))


def _nearest(n: int, sums: Floats) -> Floats:
    """The sums in the nearest positive semidefinite Z'Z."""
    x, xx, y, xy, yy = sums
    whole = np.full_like(x, n)
    squares = np.moveaxis(np.array([[whole, x, y], [x, xx, xy], [y, xy, yy]]), 2, 0)
    values, vectors = np.linalg.eigh(squares)
    near = vectors * np.maximum(values, _LEAST_EIGENVALUE)[:, None, :] @ np.swapaxes(vectors, 1, 2)
    return np.stack([near[:, 0, 1], near[:, 1, 1], near[:, 0, 2], near[:, 1, 2], near[:, 2, 2]])
