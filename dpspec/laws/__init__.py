"""Laws of outputs, P_x, and the dichotomies that output divergences compare."""

from dpspec.laws.adaptive import Adaptive
from dpspec.laws.atoms import IDENTICAL, FiniteDichotomy
from dpspec.laws.combine import Mixture, Product, PushForward, mixture, product, push_forward
from dpspec.laws.composition import compose
from dpspec.laws.continuous import Gaussian, Laplace
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.integers import DiscreteGaussian, TwoSidedGeometric
from dpspec.laws.law import Law, NotALaw
from dpspec.laws.loss import PrivacyLoss
from dpspec.laws.powers import power
from dpspec.laws.products import product_of
from dpspec.laws.route import AtomicLaw
from dpspec.laws.sandwich import Sandwich

__all__ = [
    "IDENTICAL",
    "Adaptive",
    "AtomicLaw",
    "Dichotomy",
    "DiscreteGaussian",
    "FiniteDichotomy",
    "FiniteLaw",
    "Gaussian",
    "Laplace",
    "Law",
    "Mixture",
    "NotALaw",
    "PrivacyLoss",
    "Product",
    "PushForward",
    "Sandwich",
    "TwoSidedGeometric",
    "compose",
    "mixture",
    "power",
    "product",
    "product_of",
    "push_forward",
]
