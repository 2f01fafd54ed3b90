"""Flavours that change the output divergence."""

from __future__ import annotations

from dpspec_flavours.standards.pure import PureDP

BLOCKS: dict[str, tuple[type, ...]] = {"flavours": (PureDP,)}
"""What this part registers: classes by kind."""
