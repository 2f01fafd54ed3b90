"""One of many outputs has another law: bounds from below and above hold the truth of small cases, which are listed."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpspec.base.errors import NotEnumerableError
from dpspec.laws.atoms import IDENTICAL
from dpspec.laws.continuous import GaussianLaw
from dpspec.laws.law import FiniteLaw
from dpspec.laws.one_of import InBatches, InOneOf

BITS = [FiniteLaw.bernoulli(p) for p in ("1/2", "3/4", "1/10")]


def mixture(plain: FiniteLaw, other: FiniteLaw, count: int) -> FiniteLaw:
    """The law written out: the place is drawn uniformly."""
    found: dict[object, Fraction] = {}
    for place in range(count):
        for outcome in itertools.product((False, True), repeat=count):
            laws = [other if i == place else plain for i in range(count)]
            mass = math.prod((law.probability(bit) for law, bit in zip(laws, outcome, strict=True)), start=Fraction(1))
            found[outcome] = found.get(outcome, Fraction(0)) + mass / count
    return FiniteLaw.of({outcome: mass for outcome, mass in found.items() if mass})


@pytest.mark.parametrize("count", [1, 2, 3])
def test_finite_laws_lie_between_their_bounds(count: int) -> None:
    for plain, one, other in itertools.permutations(BITS, 3):
        found = InOneOf(plain, one, count).against(InOneOf(plain, other, count))
        true = mixture(plain, one, count).against(mixture(plain, other, count))
        for epsilon in ("0", "1/4", "1"):
            bracket, exact = found.hockey_stick(epsilon), true.hockey_stick(epsilon)
            assert bracket.lower <= exact.upper
            assert exact.lower <= bracket.upper
            assert count > 1 or bracket == exact


@pytest.mark.parametrize(("one", "other"), [(0, 2), (-2, 0), (1, -1)])
def test_the_largest_output_bounds_gaussian_laws_from_below(one: int, other: int) -> None:
    count, epsilon = 4, 0.5
    p, q = (InOneOf(GaussianLaw(0, 1), GaussianLaw(at, 1), count) for at in (one, other))
    found = p.against(q).hockey_stick("1/2")
    sign = -1 if min(one, other) < 0 and max(one, other) <= 0 else 1
    t = np.linspace(-8, 8, 40_001)
    edges = [stats.norm.cdf(t) ** (count - 1) * stats.norm.cdf(t - sign * at) for at in (one, other)]
    gain = np.maximum(np.diff(edges[0]) - math.exp(epsilon) * np.diff(edges[1]), 0).sum()
    assert gain * 0.98 - 1e-6 <= float(found.lower) <= gain + 1e-6
    apart = abs(one - other)
    alone = stats.norm.cdf(apart / 2 - epsilon / apart) - math.exp(epsilon) * stats.norm.cdf(-apart / 2 - epsilon / apart)
    assert float(found.upper) == pytest.approx(alone, abs=1e-9)


def test_others_are_equal_or_refused() -> None:
    law = InOneOf(BITS[0], BITS[1], 3)
    assert law.against(InOneOf(BITS[0], BITS[1], 3)) is IDENTICAL
    for other in (InOneOf(BITS[2], BITS[1], 3), InOneOf(BITS[0], BITS[1], 4), BITS[0]):
        with pytest.raises(NotEnumerableError):
            law.against(other)
    batches = InBatches("sums", (("a",), ("b",)), 2, "shuffled")
    assert batches.against(InBatches("sums", (("a",), ("b",)), 2, "shuffled")) is IDENTICAL
    with pytest.raises(NotEnumerableError):
        batches.against(InBatches("sums", (("a",), ("c",)), 2, "shuffled"))
