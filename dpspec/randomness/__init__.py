"""Randomness: keyed sources of exact draws, and uniform permutations and derangements inside groups."""

from dpspec.randomness.source import (
    KEY_BYTES,
    KeyedPlaces,
    KeyedRandomness,
    PlacedRandomness,
    Randomness,
    SeededRandomness,
    SystemRandomness,
    Words,
)

__all__ = [
    "KEY_BYTES", "KeyedPlaces", "KeyedRandomness", "PlacedRandomness", "Randomness", "SeededRandomness", "SystemRandomness",
    "Words",
]  # fmt: skip
