"""Statistical disclosure control as agencies practise it, each mechanism with what is true of it."""

from dpspec_census.disclosure.cell_key import CellKey, KeptCellKey
from dpspec_census.disclosure.controlled import ControlledRounding
from dpspec_census.disclosure.end_coding import BottomCoding, TopCoding
from dpspec_census.disclosure.outputs import PossibleOutputs
from dpspec_census.disclosure.perturbation import PerturbationRow, designed
from dpspec_census.disclosure.recoding import Coarsening, Recoding
from dpspec_census.disclosure.rounding import ConventionalRounding, RandomRounding
from dpspec_census.disclosure.suppression import CellSuppression, Dominance
from dpspec_census.disclosure.targeted import TargetedSwapping

DISCLOSURE = (
    BottomCoding,
    CellKey,
    CellSuppression,
    Coarsening,
    ControlledRounding,
    ConventionalRounding,
    KeptCellKey,
    RandomRounding,
    TargetedSwapping,
    TopCoding,
)
"""The mechanisms that this subpackage registers."""

__all__ = [
    "DISCLOSURE",
    "BottomCoding",
    "CellKey",
    "CellSuppression",
    "Coarsening",
    "ControlledRounding",
    "ConventionalRounding",
    "Dominance",
    "KeptCellKey",
    "PerturbationRow",
    "PossibleOutputs",
    "RandomRounding",
    "Recoding",
    "TargetedSwapping",
    "TopCoding",
    "designed",
]
