"""Flavours that change the output divergence."""

from __future__ import annotations

from dpspec_flavours.standards.curves import CURVES
from dpspec_flavours.standards.leak import RevealByChance
from dpspec_flavours.standards.pure import PureDP
from dpspec_flavours.standards.relaxed import RELAXED

BLOCKS: dict[str, tuple[type, ...]] = {"mechanisms": (RevealByChance,), "flavours": (PureDP, *RELAXED, *CURVES)}
"""What this part registers: classes by kind."""
