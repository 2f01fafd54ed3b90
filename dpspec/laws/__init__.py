"""Laws of outputs, P_x, and the dichotomies that output divergences compare."""

from dpspec.laws.atoms import IDENTICAL, FiniteDichotomy
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.law import Law, NotALaw

__all__ = ["IDENTICAL", "Dichotomy", "FiniteDichotomy", "FiniteLaw", "Law", "NotALaw"]
