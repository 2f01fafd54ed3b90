"""Where random bits come from: the operating system for releases, a seed for tests and audits only."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]


class Randomness(ABC):
    """A source of independent uniform 64-bit words, and the exact samplers that integer mechanisms build on."""

    fit_for_publication: bool

    @abstractmethod
    def words(self, count: int) -> Words:
        """`count` independent uniform 64-bit words."""

    def below(self, bound: int, count: int) -> npt.NDArray[np.int64]:
        """`count` independent uniform integers in {0, ..., bound - 1}, exactly uniform (rejection)."""
        drawn = np.empty(count, dtype=np.int64)
        limit = (1 << 64) // bound * bound
        pending = np.arange(count)
        while pending.size:
            words = self.words(pending.size)
            kept = words <= np.uint64(limit - 1)
            drawn[pending[kept]] = (words[kept] % np.uint64(bound)).astype(np.int64)
            pending = pending[~kept]
        return drawn

    def bernoulli(self, probability: Fraction, count: int) -> npt.NDArray[np.bool_]:
        """`count` independent coins that are True with exactly this rational probability."""
        if probability.denominator >= 1 << 63:
            raise ValueError(f"probability={probability}: the denominator must be below 2**63")
        return np.asarray(self.below(probability.denominator, count) < probability.numerator)

    def permutation(self, count: int) -> npt.NDArray[np.int64]:
        """A uniform permutation of range(count): the order of random keys, drawn afresh in the case of a tie."""
        while True:
            keys = self.words(count)
            order = np.argsort(keys, kind="stable")
            ranked = keys[order]
            if not np.any(ranked[1:] == ranked[:-1]):
                return order.astype(np.int64)


class SystemRandomness(Randomness):
    """The operating system's cryptographic generator; the only source fit for publication."""

    fit_for_publication = True

    def words(self, count: int) -> Words:
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


class SeededRandomness(Randomness):
    """A reproducible source for tests and audits. What it releases is not fit for publication."""

    fit_for_publication = False

    def __init__(self, seed: int) -> None:
        self._bits: Any = np.random.PCG64(np.random.SeedSequence(seed))

    def words(self, count: int) -> Words:
        return np.asarray(self._bits.random_raw(count), dtype=np.uint64)
