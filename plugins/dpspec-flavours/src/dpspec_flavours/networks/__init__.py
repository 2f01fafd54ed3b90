"""Datasets that are graphs or points of a metric space, and distances given by relations, metrics and policies."""

from __future__ import annotations

BLOCKS: dict[str, tuple[type, ...]] = {}
"""What this part registers: classes by kind."""
