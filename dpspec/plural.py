"""A number with its noun, in the singular or the plural."""

from __future__ import annotations


def count(amount: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> count(1, "pair"), count(2500, "universe")
    ('1 pair', '2,500 universes')
    """
    return f"{amount:,} {noun if amount == 1 else plural or noun + 's'}"
