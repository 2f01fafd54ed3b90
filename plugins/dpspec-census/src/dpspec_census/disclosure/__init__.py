"""Statistical disclosure control as agencies practise it, each mechanism with what is true of it."""

from dpspec_census.disclosure.outputs import PossibleOutputs
from dpspec_census.disclosure.recoding import BottomCoding, Coarsening, Recoding, TopCoding

DISCLOSURE = (BottomCoding, Coarsening, TopCoding)
"""The mechanisms that this subpackage registers."""

__all__ = ["DISCLOSURE", "BottomCoding", "Coarsening", "PossibleOutputs", "Recoding", "TopCoding"]
