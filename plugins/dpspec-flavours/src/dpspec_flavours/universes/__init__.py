"""Universes that depend on the data, on strata or on records, and budgets that vary with them."""

from __future__ import annotations

from dpspec_flavours.universes.budgets import ByPart, ByValue
from dpspec_flavours.universes.centred import Around, Resamples, Star
from dpspec_flavours.universes.invariant import InducedSubspaceDP, IntegerSubspaceDP, InvariantsDP, SubspaceDP
from dpspec_flavours.universes.local import LocalNoise
from dpspec_flavours.universes.observed import BootstrapDP, ConditionedDP, EmpiricalDP, IndividualDP
from dpspec_flavours.universes.parted import PerInstanceDP, PerRecordDP, PersonalisedBudgets, StratifiedDP
from dpspec_flavours.universes.parts import OnePosition, OneRecord, Strata, WithAndWithout
from dpspec_flavours.universes.subspace import LatticeGaussian, ProjectedGaussian

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
