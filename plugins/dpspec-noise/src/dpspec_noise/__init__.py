"""The first-party plugin of noise mechanisms: randomised response, Laplace, geometric, Gaussian, discrete Gaussian."""

from dpspec.extension import Register, hookimpl
from dpspec_noise.gaussian import DiscreteGaussian, Gaussian, Geometric, Laplace
from dpspec_noise.response import LectureRandomisedResponse, RandomisedResponse

__all__ = ["DiscreteGaussian", "Gaussian", "Geometric", "Laplace", "LectureRandomisedResponse", "RandomisedResponse"]

DPSPEC_API = 1


@hookimpl
def dpspec_register_mechanisms(register: Register) -> None:
    for mechanism in (RandomisedResponse, LectureRandomisedResponse, Laplace, Geometric, Gaussian, DiscreteGaussian):
        register(mechanism)
