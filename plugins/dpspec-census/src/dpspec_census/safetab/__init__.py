"""A SafeTab-like release of tables about population groups: how much is published depends on a noisy total (B-A7)."""

from dpspec_census.safetab.adaptive import AdaptiveTables, Safetab, SafetabGeometric
from dpspec_census.safetab.design import IterationLevel, PopulationGroup, PopulationLevel

__all__ = ["AdaptiveTables", "IterationLevel", "PopulationGroup", "PopulationLevel", "Safetab", "SafetabGeometric"]
