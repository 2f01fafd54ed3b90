"""Statistical disclosure control as agencies practise it, each mechanism with what is true of it."""

from dpspec_census.disclosure.controlled import ControlledRounding
from dpspec_census.disclosure.outputs import PossibleOutputs
from dpspec_census.disclosure.recoding import BottomCoding, Coarsening, Recoding, TopCoding
from dpspec_census.disclosure.rounding import ConventionalRounding, RandomRounding

DISCLOSURE = (BottomCoding, Coarsening, ControlledRounding, ConventionalRounding, RandomRounding, TopCoding)
"""The mechanisms that this subpackage registers."""

__all__ = [
    "DISCLOSURE",
    "BottomCoding",
    "Coarsening",
    "ControlledRounding",
    "ConventionalRounding",
    "PossibleOutputs",
    "RandomRounding",
    "Recoding",
    "TopCoding",
]
