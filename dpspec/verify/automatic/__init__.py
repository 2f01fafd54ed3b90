"""Automatic laws: plain samplers `(dataset, generator) -> output` are run on every choice of their randomness."""

from dpspec.verify.automatic.sampler import Sampler, enumerate_law
from dpspec.verify.automatic.source import release_function

__all__ = ["Sampler", "enumerate_law", "release_function"]
