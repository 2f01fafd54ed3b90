"""Datasets made of events, elements or weighted records, and the units that go with them."""

from __future__ import annotations

BLOCKS: dict[str, tuple[type, ...]] = {}
"""What this part registers: classes by kind."""
