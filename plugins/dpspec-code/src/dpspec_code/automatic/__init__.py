"""Automatic laws: plain samplers `(dataset, generator) -> output` are run on every choice of their randomness."""

from dpspec_code.automatic.sampler import ASSUMPTIONS, Sampler, enumerate_law
from dpspec_code.automatic.source import ReleaseCode, release_function

__all__ = ["ASSUMPTIONS", "ReleaseCode", "Sampler", "enumerate_law", "release_function"]
