"""Universes that depend on the data, on strata or on records, and budgets that vary with them."""

from __future__ import annotations

BLOCKS: dict[str, tuple[type, ...]] = {}
"""What this part registers: classes by kind."""
