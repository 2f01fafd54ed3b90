"""The sampler of the thesis for a noisy regression as it is printed, to be judged; `regression_gibbs` is the one to use (Z-A15).

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

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from dpspec_attackers.inference.draws import inverse_gaussian
from dpspec_attackers.inference.feasible import line_is_feasible, sums_are_ordered
from dpspec_attackers.inference.regression import LINE, LinePosterior, LinePrior, NoisyRegression, given_sums, whitened
from dpspec_attackers.inference.regression_gibbs import LineDraws

Floats = NDArray[np.float64]

_TRIES = 50
_LEAST = 1e-9


def sample(
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
    """Run chains side by side, as `regression_gibbs.sample` does.

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
    inverse = vectors / np.maximum(values, _LEAST)[:, None, :] @ np.swapaxes(vectors, 1, 2)
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
    """Z-D45, with a residual that is not negative."""
    return np.asarray(sums_are_ordered(n, sums) & (sums[0] ** 2 < n * sums[1]) & (whitened(n, sums)[1] > 0))


def _nearest(n: int, sums: Floats) -> Floats:
    """The sums in the nearest positive semidefinite Z'Z."""
    x, xx, y, xy, yy = sums
    whole = np.full_like(x, n)
    squares = np.moveaxis(np.array([[whole, x, y], [x, xx, xy], [y, xy, yy]]), 2, 0)
    values, vectors = np.linalg.eigh(squares)
    near = vectors * np.maximum(values, _LEAST)[:, None, :] @ np.swapaxes(vectors, 1, 2)
    return np.stack([near[:, 0, 1], near[:, 1, 1], near[:, 0, 2], near[:, 1, 2], near[:, 2, 2]])
