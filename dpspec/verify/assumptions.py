"""What a verdict takes for granted, by the method that reached it: one short line each."""

from __future__ import annotations

from dpspec.verify.automatic import ASSUMPTIONS

CALLS = (
    "calls are independent: each has randomness of its own, and nothing is kept between them",
    "neither time nor memory nor power of a call is seen",
    "the code does not tamper with dpspec, and outside modules behave as documented",
)
"""Of plain code, whatever the method."""
ENUMERATES = (
    "the bits of numpy's generator are uniform and independent",
    *ASSUMPTIONS,
    *CALLS,
    "the interpreter, the platform and the environment are those of this run",
)
"""Exhaustive, on laws read off plain code."""
SAMPLES = ("numpy's seeded generator is as good as chance for this function", *CALLS)
"""Sampled."""
