"""Noise that keeps linear invariants, and the universes that go with it."""

import itertools
import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from dpspec_flavours.universes.level_sets import InducedSubspaceDP, LatticeGaussian, ProjectedGaussian, SubspaceDP, orthogonalised
from dpspec_noise import Gaussian
from hypothesis import given, strategies as st

from dpspec.base.errors import (
    IncompatibleBlocksError,
)
from dpspec.base.exact import number
from dpspec.blocks.invariant import FunctionInvariant, LinearMap, Marginal
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.records import ContingencyTables, OrderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors, IntegerCounts
from dpspec.laws import FiniteLaw, product
from dpspec.verifier.entry import verify_claim

AREA, ILL = Attribute(name="area", categories=("n", "s")), Attribute(name="ill", categories=("no", "yes"))
ROWS = OrderedRecords(attributes=(AREA, ILL), most=2)
BITS = BitVectors(length=3)


# --- subspaces -------------------------------------------------------------------------------------

rows = st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3).map(tuple), min_size=1, max_size=2).map(tuple)


@pytest.mark.slow
@pytest.mark.reference("B-D18")
@given(rows, st.fractions(Fraction(1, 4), 4, max_denominator=4))
def test_projected_noise_measures_differences_in_the_null_space_by_their_length(matrix: Any, variance: Fraction) -> None:
    space = IntegerCounts(length=3, high=1)
    query = LinearMap(rows=matrix, label="c")
    mechanism = ProjectedGaussian(invariants=(query,), variance=variance)
    for x, y in itertools.combinations(space.datasets(), 2):
        found = mechanism.law(x, space).against(mechanism.law(y, space)).concentration()
        if query.answers(x, space) != query.answers(y, space):
            assert found.lower.is_infinite
        else:
            length = sum((a - b) ** 2 for a, b in zip(space.vector(x), space.vector(y), strict=True))
            assert found.lower == found.upper == number(length / (2 * variance))


@given(rows)
def test_the_directions_span_the_null_space(matrix: Any) -> None:
    from dpspec.blocks.moves import kernel_basis

    found = np.array(orthogonalised(kernel_basis(matrix, 3)), dtype=float).reshape(-1, 3)
    projection = sum((np.outer(u, u) / (u @ u) for u in found), np.zeros((3, 3)))
    c = np.array(matrix, dtype=float)
    assert np.allclose(projection, np.eye(3) - np.linalg.pinv(c) @ c)


def test_lattice_noise_is_the_discrete_gaussian_on_integer_tables_with_the_margins() -> None:
    """The masses of releases, brute force over small integer tables, against e^(-|w|^2/(2 sigma^2))."""
    space = ContingencyTables(attributes=(AREA, ILL), most=2)
    margins = LinearMap(rows=((1, 1, 0, 0), (0, 0, 1, 1), (1, 0, 1, 0), (0, 1, 0, 1)), label="margins")
    mechanism = LatticeGaussian(invariants=(margins,), variance=Fraction(3))
    start = np.array((1, 0, 0, 1))
    fibre = [z for z in itertools.product(range(-6, 8), repeat=4) if margins_of(z) == margins_of(start)]
    weights = {z: np.exp(-sum((np.array(z) - start) ** 2) / 6) for z in fibre}
    law: Any = mechanism.law((1, 0, 0, 1), space)
    (origin,) = law.laws[0].support
    move = np.array(mechanism.generators(space)[0])
    for z, weight in weights.items():
        (step,) = {k for k in range(-20, 21) if tuple(np.array(origin) + k * move) == z}
        assert float(law.laws[1].mass(step)) == pytest.approx(weight / sum(weights.values()), rel=1e-6)


def margins_of(table: Any) -> tuple[int, ...]:
    a, b, c, d = (int(entry) for entry in table)
    return a + b, c + d, a + c, b + d


def test_datasets_of_one_coset_have_one_origin_and_others_have_others() -> None:
    space = IntegerCounts(length=3, high=2)
    mechanism = LatticeGaussian(moves=((1, 1, 0), (1, -1, 0)), variance=Fraction(1))
    for x, y in itertools.combinations(space.datasets(), 2):
        apart = mechanism.law(x, space).against(mechanism.law(y, space)).concentration().lower
        a, b, c = (p - q for p, q in zip(space.vector(x), space.vector(y), strict=True))
        assert apart.is_infinite == bool(c or (a + b) % 2)
        assert apart.is_infinite or apart == number(Fraction(a * a + b * b, 2))


@pytest.mark.reference("B-D4")
def test_the_five_blocks_promise_protection_and_not_that_the_invariants_are_exact() -> None:
    """Noise in every cell, without projection, keeps the promise as well: exactness is a matter of utility."""
    spec = InducedSubspaceDP().spec()
    everywhere = Gaussian(queries=(Marginal(attributes=("place",)),), variance=Fraction(1), neighbours="add-remove")
    assert verify_claim(everywhere, spec).outcome.value == "verified"


def test_subspace_privacy_is_that_of_the_projection() -> None:
    """A record is sqrt(2/3) long in the null space of the total of three places: mu = sqrt(2/3)/sqrt(5/2), delta by hand."""
    flavour = SubspaceDP()
    verdict = verify_claim(flavour.satisfied_by().mechanism, flavour.spec())
    mu, phi = math.sqrt(2 / 3 / 2.5), NormalDist().cdf
    epsilon = float(verdict.constant.lower)
    assert phi(mu / 2 - epsilon / mu) - math.exp(epsilon) * phi(-mu / 2 - epsilon / mu) == pytest.approx(0.01, rel=1e-9)


@pytest.mark.parametrize(
    ("mechanism", "space", "words"),
    [
        (LatticeGaussian(invariants=(LinearMap(rows=((1, 1, 1),)),), variance=Fraction(1)), BITS, "not orthogonal"),
        (LatticeGaussian(moves=((1, -1),), variance=Fraction(1)), BITS, "another length than 3"),
        (
            ProjectedGaussian(invariants=(FunctionInvariant(function=len, label="len"),), variance=Fraction(1)),
            BITS,
            "no linear map",
        ),
        (ProjectedGaussian(invariants=(), variance=Fraction(1)), ROWS, "counts over cells"),
    ],
)
def test_noise_that_does_not_fit_says_why(mechanism: Any, space: Any, words: str) -> None:
    with pytest.raises(IncompatibleBlocksError, match=words):
        mechanism.check(space)


def test_no_invariant_at_all_is_noise_in_every_cell() -> None:
    mechanism = ProjectedGaussian(invariants=(), variance=Fraction(2))
    pair = mechanism.law((0, 0, 0), BITS).against(mechanism.law((1, 1, 0), BITS))
    assert pair.concentration().upper == number("1/2")
    assert isinstance(product(()), FiniteLaw)
    assert LevelSets(invariants=()).labels((0, 0, 0), BITS) == ((),)
