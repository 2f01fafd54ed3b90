"""Statistical disclosure control as practised by agencies, each mechanism with the promises that it satisfies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import late_names

if TYPE_CHECKING:
    from dpspec_census.disclosure.cell_key import (
        CellKey as CellKey,
        KeptCellKey as KeptCellKey,
        PerturbationRow as PerturbationRow,
        designed as designed,
    )
    from dpspec_census.disclosure.recoding import (
        BottomCoding as BottomCoding,
        Coarsening as Coarsening,
        Recoding as Recoding,
        TopCoding as TopCoding,
    )
    from dpspec_census.disclosure.rounding import (
        ControlledRounding as ControlledRounding,
        ConventionalRounding as ConventionalRounding,
        RandomRounding as RandomRounding,
    )
    from dpspec_census.disclosure.suppression import CellSuppression as CellSuppression, Dominance as Dominance
    from dpspec_census.disclosure.tables import PossibleOutputs as PossibleOutputs
    from dpspec_census.disclosure.targeted import TargetedSwapping as TargetedSwapping

_HOMES = {
    "dpspec_census.disclosure.cell_key": ("CellKey", "KeptCellKey", "PerturbationRow", "designed"),
    "dpspec_census.disclosure.recoding": ("BottomCoding", "Coarsening", "Recoding", "TopCoding"),
    "dpspec_census.disclosure.rounding": ("ControlledRounding", "ConventionalRounding", "RandomRounding"),
    "dpspec_census.disclosure.suppression": ("CellSuppression", "Dominance"),
    "dpspec_census.disclosure.tables": ("PossibleOutputs",),
    "dpspec_census.disclosure.targeted": ("TargetedSwapping",),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
