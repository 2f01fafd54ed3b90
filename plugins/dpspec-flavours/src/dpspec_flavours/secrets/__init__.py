"""Datasets that carry a secret and the law of the data, so that the mechanism is averaged over data."""

from __future__ import annotations

BLOCKS: dict[str, tuple[type, ...]] = {}
"""What this part registers: classes by kind."""
