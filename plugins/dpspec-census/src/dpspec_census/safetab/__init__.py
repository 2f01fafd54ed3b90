"""A SafeTab-like release of tables about population groups: how much is published depends on a noisy total (B-A7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import late_names

if TYPE_CHECKING:
    from dpspec_census.safetab.adaptive import AdaptiveTables, Safetab, SafetabGeometric
    from dpspec_census.safetab.design import IterationLevel, PopulationGroup, PopulationLevel

_HOMES = {
    "dpspec_census.safetab.adaptive": ("AdaptiveTables", "Safetab", "SafetabGeometric"),
    "dpspec_census.safetab.design": ("IterationLevel", "PopulationGroup", "PopulationLevel"),
}
__all__ = ["AdaptiveTables", "IterationLevel", "PopulationGroup", "PopulationLevel", "Safetab", "SafetabGeometric"]  # noqa: RUF022
__getattr__, __dir__ = late_names(__name__, _HOMES)
