"""Laws of outputs, P_x, and the dichotomies that output divergences compare."""

from dpspec.laws.atoms import IDENTICAL, FiniteDichotomy, Sandwich
from dpspec.laws.combine import Adaptive, Mixture, Product, PushForward, mixture, product, push_forward
from dpspec.laws.continuous import GaussianLaw, LaplaceLaw
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.integers import DiscreteGaussianLaw, TwoSidedGeometricLaw
from dpspec.laws.law import AtomicLaw, FiniteLaw, Law, NotALaw
from dpspec.laws.loss import PrivacyLoss, compose
from dpspec.laws.products import power, product_of

__all__ = [
    "IDENTICAL",
    "Adaptive",
    "AtomicLaw",
    "Dichotomy",
    "DiscreteGaussianLaw",
    "FiniteDichotomy",
    "FiniteLaw",
    "GaussianLaw",
    "LaplaceLaw",
    "Law",
    "Mixture",
    "NotALaw",
    "PrivacyLoss",
    "Product",
    "PushForward",
    "Sandwich",
    "TwoSidedGeometricLaw",
    "compose",
    "mixture",
    "power",
    "product",
    "product_of",
    "push_forward",
]
