"""Noisy answers of a family of nodes: their marginals plus independent discrete Gaussian noise, drawn exactly (B-A6, step 1)."""

from __future__ import annotations

import attrs
import numpy as np
import numpy.typing as npt

from dpspec.laws.integers import DiscreteGaussian
from dpspec.randomness import Randomness
from dpspec_census.hierarchy.family import Counts


@attrs.frozen(kw_only=True, eq=False)
class Asked:
    """A query as it is asked of every node of a level.

    Args:
        name: in words.
        answer: for every cell the answer that it is counted in.
        size: the number of answers.
        noise: the law of the noise on each answer.
    """

    name: str
    answer: npt.NDArray[np.int64]
    size: int
    noise: DiscreteGaussian

    def true(self, children: int, child: Counts, cell: Counts, count: Counts) -> Counts:
        """The answers of nodes that have these counts in these cells, shape (children, answers)."""
        total = np.zeros((children, self.size), dtype=np.int64)
        np.add.at(total, (child, self.answer[cell]), count)
        return total


def measured(asked: tuple[Asked, ...], true: tuple[Counts, ...], source: Randomness) -> Counts:
    """The true answers to all queries with noise on each, shape (children, answers), one query after the other."""
    noisy = [
        answers + _noise(query.noise, answers.size, source).reshape(answers.shape)
        for query, answers in zip(asked, true, strict=True)
    ]
    return np.concatenate(noisy, axis=1)


def _noise(law: DiscreteGaussian, count: int, source: Randomness) -> Counts:
    """Exact draws: by the table of the law, or by rejection where that would be too large."""
    from dpspec_noise.inversion import fits, inverted
    from dpspec_noise.samplers import discrete_gaussian

    return inverted(law, count, source) if fits(law) else discrete_gaussian(source, count, variance=law.variance)
