"""Statistical disclosure control as agencies practise it, each mechanism with what is true of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import late_names

if TYPE_CHECKING:
    from dpspec_census.disclosure.cell_key import CellKey, KeptCellKey, PerturbationRow, designed
    from dpspec_census.disclosure.recoding import BottomCoding, Coarsening, Recoding, TopCoding
    from dpspec_census.disclosure.rounding import ControlledRounding, ConventionalRounding, RandomRounding
    from dpspec_census.disclosure.suppression import CellSuppression, Dominance
    from dpspec_census.disclosure.tables import PossibleOutputs
    from dpspec_census.disclosure.targeted import TargetedSwapping

_HOMES = {
    "dpspec_census.disclosure.cell_key": ("CellKey", "KeptCellKey", "PerturbationRow", "designed"),
    "dpspec_census.disclosure.recoding": ("BottomCoding", "Coarsening", "Recoding", "TopCoding"),
    "dpspec_census.disclosure.rounding": ("ControlledRounding", "ConventionalRounding", "RandomRounding"),
    "dpspec_census.disclosure.suppression": ("CellSuppression", "Dominance"),
    "dpspec_census.disclosure.tables": ("PossibleOutputs",),
    "dpspec_census.disclosure.targeted": ("TargetedSwapping",),
}
__all__ = ["BottomCoding", "CellKey", "CellSuppression", "Coarsening", "ControlledRounding", "ConventionalRounding", "Dominance", "KeptCellKey", "PerturbationRow", "PossibleOutputs", "RandomRounding", "Recoding", "TargetedSwapping", "TopCoding", "designed"]  # noqa: RUF022
__getattr__, __dir__ = late_names(__name__, _HOMES)
