"""Exact noise, drawn as a release does: from a keyed generator, by the sampler that the width of the law calls for; beside OpenDP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks.measure import Line

DRAWS, PEER_SHARE = 1_000_000, 0.02
"""OpenDP draws a fiftieth of the numbers, and its time counts fifty times."""

LAWS = (
    ("geometric-half", "geometric noise of ratio 1/2", "geometric", "1/2", 10),
    ("geometric-slow", "geometric noise of ratio 0.99999", "geometric", "0.99999", 10),
    ("discrete-laplace", "discrete Laplace noise of scale 100", "laplace", "100", 20),
    ("discrete-gaussian-draws-half", "discrete Gaussian noise, sigma = 1/2", "gaussian", "1/2", 30),
    ("discrete-gaussian-draws-1000", "discrete Gaussian noise, sigma = 1,000", "gaussian", "1000", 30),
    ("discrete-gaussian-draws-million", "discrete Gaussian noise, sigma = 10^6", "gaussian", "1000000", 10),
)
"""Name, words, kind and parameter of the noise, and the goal in millions of draws a second."""


@lru_cache
def mechanism(kind: str, parameter: Fraction) -> Any:
    """What draws the noise; it keeps its tables, as in a release of several."""
    from dpspec_noise import DiscreteGaussian, Geometric

    from dpspec.blocks.invariant import Marginal

    queries = (Marginal(attributes=()),)
    if kind == "gaussian":
        return DiscreteGaussian(queries=queries, sensitivities=(1,), variance=parameter**2)
    return Geometric(queries=queries, ratio=parameter) if kind == "geometric" else Geometric(queries=queries, epsilon=1 / parameter)


def opendp(sigma: float) -> Callable[[Path, int], object]:
    """OpenDP on a vector of integers."""

    def peer(_: Path, size: int) -> object:
        import opendp.prelude as dp

        dp.enable_features("contrib")
        noise = dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64"), sigma)
        return noise([0] * int(size * PEER_SHARE))

    return peer


def lines() -> Iterator[Line]:
    for name, what, kind, text, millions in LAWS:

        def work(_: Path, size: int, kind: str = kind, text: str = text) -> object:
            from dpspec.base.randomness import KeyedRandomness

            # As in a release: with a seed, other samplers draw, which repeat the bytes of earlier versions.
            return mechanism(kind, Fraction(text)).draw(size, KeyedRandomness(bytes(32), fit_for_publication=True))

        peer: dict[str, Any] = {}
        if kind == "gaussian":
            peer = {"peer": opendp(float(Fraction(text))), "needs": ("opendp",), "peer_share": PEER_SHARE}
        yield Line(
            name=name, what=what, work=work, sizes=(DRAWS,), draws=DRAWS, counted=(40_000, 80_000, 160_000, 320_000), calibration="sort",
            goal=DRAWS / millions / 1e6, is_quick=name != "discrete-gaussian-draws-half", **peer,
        )  # fmt: skip


LINES = tuple(lines())
