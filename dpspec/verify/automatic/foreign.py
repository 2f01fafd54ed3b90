"""Randomness from elsewhere: an enumerated run is a law only when all its chances come from the generator it was given."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dpspec.errors import NotEnumerableError


@contextmanager
def only_its_generator() -> Iterator[None]:
    """Raise NotEnumerableError when the block used a global generator or the operating system's randomness.

    Seen are Python's `random`, `secrets` and `uuid`, numpy's global and newly made generators, and `os.urandom`. Native code that
    asks the system by itself is not; a run that differs when it is repeated gives it away, most of the time.

    >>> with only_its_generator():
    ...     random.random() < 2
    Traceback (most recent call last):
    ...
    dpspec.errors.NotEnumerableError: sampler: draws from elsewhere than the generator that it is given: ...
    """
    asked: list[int] = []
    sources: list[tuple[Any, str]] = [(os, "urandom"), (random, "_urandom")]
    originals = [getattr(module, name) for module, name in sources]

    def counted(count: int) -> bytes:
        asked.append(count)
        return bytes(originals[0](count))

    before = _states()
    for module, name in sources:
        setattr(module, name, counted)
    try:
        yield
    finally:
        for (module, name), original in zip(sources, originals, strict=True):
            setattr(module, name, original)
    if asked or _states() != before:
        raise NotEnumerableError(
            "sampler", "draws from elsewhere than the generator that it is given", "take every chance from that generator"
        )


def _states() -> tuple[object, ...]:
    """The states of the global generators; numpy makes its own on the first call, which is not the sampler's doing."""
    state: Any = np.random.get_state(legacy=False)
    return random.getstate(), state["state"]["pos"], state["state"]["key"].tobytes()
