"""Small texts: a number with its noun in the singular or the plural, and plain values."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any


def count(amount: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> count(1, "pair"), count(2500, "universe")
    ('1 pair', '2,500 universes')
    """
    return f"{amount:,} {noun if amount == 1 else plural or noun + 's'}"


def value_text(value: Hashable, limit: int = 120) -> str:
    """A plain value, nested tuples without the quotes and commas of Python.

    >>> value_text((("county", 3), ("tract", 1)))
    '((county, 3), (tract, 1))'
    """
    text = _plain(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _plain(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(_plain, value))})"
    if isinstance(value, float) and math.isinf(value):
        return "infinity"
    return str(value)
