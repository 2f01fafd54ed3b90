"""Ratios of two location laws: tails, moments and ranges against values in doubles and the definitions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpspec.laws.continuous import GaussianLaw, LaplaceLaw
from dpspec.laws.integers import DiscreteGaussianLaw, TwoSidedGeometricLaw
from dpspec.laws.location import Location, is_heavier, moment_diverges, ratio_range, ratio_supremum, tail_sign

LINE: dict[Location, tuple[float, float]] = {
    LaplaceLaw(0, 1): (0, 1), LaplaceLaw(1, 2): (1, 2), LaplaceLaw(-1, 1): (-1, 1),
    GaussianLaw(0, 1): (0, 1), GaussianLaw(2, 1): (2, 1), GaussianLaw(1, 4): (1, 2),
}  # fmt: skip
"""Laws with their centers, and their scales or standard deviations."""


def log_density(law: Location, x: Any) -> Any:
    """ln f(x), written out."""
    center, scale = LINE[law]
    if isinstance(law, LaplaceLaw):
        return -np.abs(x - center) / scale - math.log(2 * scale)
    return -((x - center) ** 2) / (2 * scale**2) - math.log(scale * math.sqrt(2 * math.pi))


PAIRS = list(itertools.permutations(LINE, 2))


@pytest.mark.parametrize(("p", "q"), PAIRS)
def test_what_happens_in_a_tail(p: Location, q: Location) -> None:
    for side in (-1, 1):
        near, far = (log_density(p, side * x) - log_density(q, side * x) for x in (200.0, 300.0))
        assert tail_sign(p, q, side) == (0 if abs(near - far) < 1e-9 else 1 if far > near else -1)
    heavier = LINE[p][1] > LINE[q][1] if type(p) is type(q) else isinstance(p, LaplaceLaw)
    assert is_heavier(p, q) is heavier


@pytest.mark.parametrize(("p", "q"), PAIRS)
@pytest.mark.parametrize("order", [Fraction(3, 2), Fraction(2), Fraction(5)])
def test_moments_diverge_where_the_integrand_does(p: Location, q: Location, order: Fraction) -> None:
    """The logarithm of p^a q^(1 - a) falls far out, or it does not."""
    far = np.array([1e3, 2e3])
    rises = False
    for side in (-1, 1):
        values = float(order) * log_density(p, side * far) + (1 - float(order)) * log_density(q, side * far)
        rises = rises or bool(values[1] > values[0] - 1e-6)
    assert moment_diverges(p, q, order) is rises


@pytest.mark.parametrize(("p", "q"), PAIRS)
@pytest.mark.parametrize("ends", [(3, 4), (-5, -2), (2, None), (None, -1)])
def test_the_range_of_a_ratio_holds_a_grid(p: Location, q: Location, ends: tuple[int | None, int | None]) -> None:
    low, high = (None if end is None else Fraction(end) for end in ends)
    grid = np.linspace(-40 if ends[0] is None else ends[0], 40 if ends[1] is None else ends[1], 4001)
    ratios = log_density(p, grid) - log_density(q, grid)
    least, most = ratio_range(p, q, low, high, 64)
    assert float(least) - 1e-9 <= ratios.min()
    assert ratios.max() <= float(most) + 1e-9
    if None not in ends:
        assert float(most) - float(least) <= ratios.max() - ratios.min() + 1e-3


def test_the_supremum_of_a_ratio() -> None:
    for p, q, true in (
        (LaplaceLaw(0, 1), LaplaceLaw(3, 1), 3.0), (LaplaceLaw(0, 1), LaplaceLaw(0, 2), np.log(2)),
        (GaussianLaw(0, 1), GaussianLaw(0, 4), np.log(2)), (GaussianLaw(0, 1), GaussianLaw(3, 4), np.log(2) + 1.5),
    ):  # fmt: skip
        assert float(ratio_supremum(p, q, 64)) == pytest.approx(true, abs=1e-12)


def test_laws_on_the_integers_too() -> None:
    narrow, wide, geometric = DiscreteGaussianLaw(0, 1), DiscreteGaussianLaw(0, 4), TwoSidedGeometricLaw(0, 1)
    assert [tail_sign(wide, narrow, side) for side in (-1, 1)] == [1, 1]
    assert [tail_sign(narrow, geometric, side) for side in (-1, 1)] == [-1, -1]
    assert [tail_sign(DiscreteGaussianLaw(1, 4), wide, side) for side in (-1, 1)] == [-1, 1]
    assert [tail_sign(TwoSidedGeometricLaw(1, 1), geometric, side) for side in (-1, 1)] == [0, 0]
    assert moment_diverges(wide, narrow, Fraction(2))
    assert not moment_diverges(wide, narrow, Fraction(5, 4))
