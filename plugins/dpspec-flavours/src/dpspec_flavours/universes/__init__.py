"""Universes that depend on the data, on strata or on records, and budgets that vary with them."""

from __future__ import annotations

from dpspec_flavours.universes.centred import Around, LocalNoise, OnePosition, OneRecord, Resamples, Star, Strata, WithAndWithout
from dpspec_flavours.universes.level_sets import (
    InducedSubspaceDP,
    IntegerSubspaceDP,
    InvariantsDP,
    LatticeGaussian,
    ProjectedGaussian,
    SubspaceDP,
)
from dpspec_flavours.universes.observed import BootstrapDP, ConditionedDP, EmpiricalDP, IndividualDP
from dpspec_flavours.universes.parted import ByPart, ByValue, PerInstanceDP, PerRecordDP, PersonalisedBudgets, StratifiedDP

BLOCKS: dict[str, tuple[type, ...]] = {
    "multiverses": (Around, Star, Resamples, Strata, OnePosition, OneRecord, WithAndWithout),
    "budgets": (ByPart, ByValue),
    "mechanisms": (LocalNoise, ProjectedGaussian, LatticeGaussian),
    "flavours": (
        InvariantsDP,
        SubspaceDP,
        InducedSubspaceDP,
        IntegerSubspaceDP,
        ConditionedDP,
        EmpiricalDP,
        IndividualDP,
        BootstrapDP,
        PerInstanceDP,
        StratifiedDP,
        PerRecordDP,
        PersonalisedBudgets,
    ),
}
"""What this part registers: classes by kind."""
