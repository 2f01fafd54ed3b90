"""Exact samplers, against OpenDP."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks.measure import Line

PEER_SHARE = 0.02
"""OpenDP draws a fiftieth of the numbers, and its time counts fifty times."""


def geometric(ratio: str) -> Callable[[Any, int], object]:
    def draw(source: Any, count: int) -> object:
        from dpspec_noise.samplers import two_sided_geometric

        return two_sided_geometric(source, count, ratio=Fraction(ratio))

    return draw


def laplace(scale: int) -> Callable[[Any, int], object]:
    def draw(source: Any, count: int) -> object:
        from dpspec_noise.samplers import discrete_laplace

        return discrete_laplace(source, count, scale=Fraction(scale))

    return draw


def gaussian(sigma: int) -> Callable[[Any, int], object]:
    def draw(source: Any, count: int) -> object:
        from dpspec_noise.samplers import discrete_gaussian

        return discrete_gaussian(source, count, variance=Fraction(sigma) ** 2)

    return draw


def table(sigma: str) -> Callable[[Any, int], object]:
    def draw(source: Any, count: int) -> object:
        from dpspec_noise.samplers import inverted

        from dpspec.laws.integers import DiscreteGaussianLaw

        return inverted(DiscreteGaussianLaw(0, Fraction(sigma) ** 2), count, source)

    return draw


def line(name: str, what: str, draw: Callable[[Any, int], object], draws: int, millions: float, **further: Any) -> Line:
    """A sampler; its goal is millions of draws a second, at a size that takes a good part of a second."""

    def work(_: Path, size: int) -> object:
        from dpspec.base.randomness import SeededRandomness

        return draw(SeededRandomness(1), size)

    return Line(
        name=name, what=what, work=work, sizes=(draws,), draws=draws, calibration="sort", goal=draws / millions / 1e6,
        **{"counted": (2_000, 4_000, 8_000, 16_000), **further},
    )  # fmt: skip


def opendp(sigma: float) -> Callable[[Path, int], object]:
    """OpenDP on a vector of integers."""

    def peer(_: Path, size: int) -> object:
        import opendp.prelude as dp

        dp.enable_features("contrib")
        noise = dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64"), sigma)
        return noise([0] * int(size * PEER_SHARE))

    return peer


LINES = (
    line("geometric-half", "geometric noise of ratio 1/2", geometric("1/2"), 1_000_000, 10, is_quick=True),
    line(
        "geometric-slow", "geometric noise of ratio 0.99999", geometric("0.99999"), 1_000_000, 10,
        counted=(500, 1000, 2000, 4000), is_quick=True,
    ),
    line("discrete-laplace", "discrete Laplace noise of scale 10", laplace(10), 1_000_000, 20, is_quick=True),
    line("discrete-gaussian-draws-1000", "discrete Gaussian noise, sigma = 1,000", gaussian(1000), 1_000_000, 30, is_quick=True, peer=opendp(1000), needs=("opendp",), peer_share=PEER_SHARE),
    line("discrete-gaussian-draws-million", "discrete Gaussian noise, sigma = 10^6", gaussian(10**6), 1_000_000, 10, peer=opendp(10**6), needs=("opendp",), peer_share=PEER_SHARE),
    line("table-half", "discrete Gaussian noise by a table, sigma = 1/2", table("1/2"), 4_000_000, 10),
    line("table-1000", "discrete Gaussian noise by a table, sigma = 1,000", table("1000"), 4_000_000, 10),
)  # fmt: skip
