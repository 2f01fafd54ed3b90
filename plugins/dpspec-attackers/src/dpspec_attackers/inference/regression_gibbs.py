"""Sampling (theta, sigma^2) given noisy regression sums, many chains at once: the exact counterpart of Z-A15.

State: theta, sigma^2 and the five confidential sums. Each sweep

1. draws (theta, sigma^2) from its conjugate law given the sums;
2. moves the sums of x, keeping what the responses are when whitened;
3. moves the whitened sums of Y by an autoregressive step that leaves their normal law as it is;
4. moves the residual by one that leaves its chi-squared law as it is;
5. moves all sums a little, by the law of `log_likelihood`.

Moves 2 to 4 are accepted by the likelihood ratio of the Laplace noise alone, since each leaves the model as it is. The size of
a step is drawn anew each time, over several orders of magnitude. The sums of x have a flat prior on what x in [0, 1] allows.

The constrained analysis is the same density where sums, line and sigma^2 <= 1/4 are feasible (Z-D45): what is not is refused. It
refuses theta and sigma^2 together. The thesis redraws theta until its line is feasible and keeps sigma^2, which leaves out of
the law of sigma^2 how often a line with that variance is feasible.
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from dpspec_attackers.inference.feasible import line_is_feasible, sums_are_ordered
from dpspec_attackers.inference.regression import (
    LINE,
    LinePrior,
    NoisyRegression,
    given_sums,
    log_likelihood,
    predicted,
    whitened,
    with_responses,
)

Floats = NDArray[np.float64]


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

    >>> from dpspec_attackers.inference.feasible import RegressionSums
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
        if self.data.design:
            self._move_design(source)
        self._move_responses(source)
        self._move_residual(source)
        self._move_sums(source)

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

    def _accept(self, source: Generator, moved: Floats, gain: Floats | float = 0.0) -> None:
        """Take what is moved with the probability of the Laplace noise, and what else the density gains."""
        noisy = slice(None) if self.data.design else slice(2, None)
        nearer = (np.abs(self.known - self.sums) - np.abs(self.known - moved))[noisy].sum(axis=0)
        taken = np.log(source.random(self.s2.shape)) < self.data.epsilon * nearer + gain
        if self.constrained:
            taken &= sums_are_ordered(self.n, moved)
        self.sums = np.where(taken, moved, self.sums)

    def _scale(self, source: Generator, power: int) -> Floats:
        """From a tenth of the noise, as a share of n, up to 1, evenly over the logarithm; squared for shares of a variance."""
        least = min(0.1, 0.1 / (self.data.epsilon * self.n))
        return np.asarray(least ** (power * source.random(self.s2.shape)))


def _is_design(n: int, sums: Floats) -> NDArray[np.bool_]:
    """Whether n values in [0, 1], not all equal, can have these sums and squares."""
    return np.asarray((sums[1] >= 0) & (sums[1] <= sums[0]) & (sums[0] <= n) & (sums[0] ** 2 < n * sums[1]))
