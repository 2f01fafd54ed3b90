"""Answers with a whole number that a given bound allows: the laws N_0, N_1, N_2, ... of an answer to i = 0, 1, 2, ..."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from dpspec.laws.law import Law


@attrs.frozen(kw_only=True)
class Answers:
    """Laws that step away from each other as fast as a bound allows: d_Pr(N_i, N_j) <= bound for |i - j| = 1, both ways.

    Under an output divergence that is a metric it follows that d_Pr(N_i, N_j) <= bound |i - j| for all i, j.

    Args:
        law: N_i for a whole number i (from 0 to `most`).
        words: what is done with the number, as it follows the number in a sentence.
        most: the largest i; 1 for answers to a question of yes or no, None for any number.

    >>> from dpspec.laws.integers import DiscreteGaussian
    >>> noisy = Answers(law=lambda i: DiscreteGaussian(center=i, variance=2), words="plus discrete Gaussian noise of variance 2")
    >>> noisy.law(3).center, noisy.most
    (3, None)
    """

    law: Callable[[int], Law]
    words: str
    most: int | None = None
