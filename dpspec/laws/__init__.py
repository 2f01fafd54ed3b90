"""Laws of outputs, P_x, and the dichotomies that output divergences compare."""

from dpspec.laws.atoms import IDENTICAL, FiniteDichotomy
from dpspec.laws.continuous import Gaussian, Laplace
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.integers import DiscreteGaussian, TwoSidedGeometric
from dpspec.laws.law import Law, NotALaw

__all__ = [
    "IDENTICAL",
    "Dichotomy",
    "DiscreteGaussian",
    "FiniteDichotomy",
    "FiniteLaw",
    "Gaussian",
    "Laplace",
    "Law",
    "NotALaw",
    "TwoSidedGeometric",
]
