"""Statistical disclosure control as agencies practise it, each mechanism with what is true of it."""

from dpspec_census.disclosure.cell_key import CellKey, KeptCellKey, PerturbationRow, designed
from dpspec_census.disclosure.recoding import BottomCoding, Coarsening, Recoding, TopCoding
from dpspec_census.disclosure.rounding import ControlledRounding, ConventionalRounding, RandomRounding
from dpspec_census.disclosure.suppression import CellSuppression, Dominance
from dpspec_census.disclosure.tables import PossibleOutputs
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
