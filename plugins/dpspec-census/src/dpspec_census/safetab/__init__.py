"""A SafeTab-like release of tables about population groups: how much is published depends on a noisy total (B-A7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import late_names

if TYPE_CHECKING:
    from dpspec_census.safetab.adaptive import (
        AdaptiveTables as AdaptiveTables,
        Safetab as Safetab,
        SafetabGeometric as SafetabGeometric,
    )
    from dpspec_census.safetab.design import (
        IterationLevel as IterationLevel,
        PopulationGroup as PopulationGroup,
        PopulationLevel as PopulationLevel,
    )

_HOMES = {
    "dpspec_census.safetab.adaptive": ("AdaptiveTables", "Safetab", "SafetabGeometric"),
    "dpspec_census.safetab.design": ("IterationLevel", "PopulationGroup", "PopulationLevel"),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
