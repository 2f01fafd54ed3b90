"""What a verdict takes for granted, by the method that reached it: one short line each."""

from __future__ import annotations

_CODE = (
    "nothing is seen of a call but its value, exception or exit code and what it prints: not its time, memory or power",
    "calls are independent: each has a generator state of its own, and nothing is kept between them",
    "outside modules behave as documented, and the code does not tamper with dpspec itself",
)
ENUMERATES = (
    "the generator handed in is numpy's, and its bits are uniform and independent",
    "random() is uniform on the real numbers: what happens on single doubles, of probability 2^-53, is not looked at",
    *_CODE,
    "the interpreter, the platform and the environment are those of this run",
)
"""Exhaustive, on laws read off plain code."""
SAMPLES = (
    "the seeded generator is as good as a random one for this function",
    *_CODE,
)
"""Sampled."""
