"""Automatic laws: plain samplers `(dataset, generator) -> output` are run on every choice of their randomness."""

from dpspec.verifier.automatic.sampler import ASSUMPTIONS, Sampler, enumerate_law
from dpspec.verifier.automatic.source import ReleaseCode, release_function

__all__ = ["ASSUMPTIONS", "ReleaseCode", "Sampler", "enumerate_law", "release_function"]
