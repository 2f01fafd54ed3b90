"""Neighbours, paths and metrics of users, on all pairs of small spaces."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from dpspec_divergences import (
    AddRemove,
    DifferInOnePosition,
    EditDistance,
    Mult,
    Neighbour,
    Path,
    ReplaceOne,
    UserMetric,
    UserRelation,
)

from dpspec.base.errors import NotEnumerableError, ParameterError
from dpspec.base.exact import INFINITY, number
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.records import OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute, DatasetSpace
from dpspec.blocks.vectors import BitVectors, IntegerCounts
from dpspec.grammar.declarations import check_declared
from dpspec.grammar.spec import PrivacySpec

SEX = Attribute(name="sex", categories=("f", "m"))
PLACE = Attribute(name="place", categories=("a", "b", "c"))


def pairs(space: DatasetSpace) -> Iterator[tuple[object, object]]:
    return itertools.product(tuple(space.datasets()), repeat=2)


def replaced(a, b):
    """One record of the list a exchanged for another gives the list b, up to order."""
    return a != b and any(sorted([*a[:i], *b[j : j + 1], *a[i + 1 :]]) == sorted(b) for i in range(len(a)) for j in range(len(b)))


def added(a, b):
    small, large = sorted((a, b), key=len)
    return any(sorted([*small, record]) == sorted(large) for record in large)


def as_float(value):
    return float("inf") if value.is_infinite else float(value)


@pytest.mark.reference("B-S1")
def test_on_a_fixed_size_adding_and_removing_leads_nowhere():
    space = UnorderedRecords(attributes=(PLACE,), least=2, most=2)
    path = Path(relation=AddRemove())
    assert path.closed_form(space) is None
    for x, y in pairs(space):
        assert path.distance(x, y, space) == (0 if x == y else INFINITY)


@pytest.mark.reference("B-D9")
@pytest.mark.reference("B-S2")
def test_neighbour_is_zero_one_or_infinite():
    space = UnorderedRecords(attributes=(SEX,), most=3)
    for relation, step in ((ReplaceOne(), replaced), (AddRemove(), added)):
        for x, y in pairs(space):
            expected = 0 if x == y else 1 if step(x, y) else float("inf")
            assert as_float(Neighbour(relation=relation).distance(x, y, space)) == expected
    assert not Neighbour.is_metric


@pytest.mark.reference("B-S1")
def test_the_distance_is_taken_in_the_space_not_in_the_universe():
    space = BitVectors(length=3)
    assert Path(relation=DifferInOnePosition()).distance((0, 0, 0), (0, 1, 1), space) == 2


def test_a_path_in_too_large_a_space_teaches():
    relation = UserRelation(function=lambda x, y: sum(a != b for a, b in zip(x, y, strict=True)) <= 1, label="one place")
    with pytest.raises(NotEnumerableError, match=r"infinitely many: .*symmetric-difference"):
        Path(relation=relation).distance((0, 0), (1, 1), IntegerCounts(length=2))
    with pytest.raises(NotEnumerableError, match="4096"):
        Path(relation=relation).distance((0,) * 12, (1,) * 12, BitVectors(length=12))
    assert Path(relation=ReplaceOne()).distance((), (), UnorderedRecords(attributes=(SEX,))) == 0


@pytest.mark.parametrize("least", [0, 2, 3])
def test_records_in_another_order_are_farther_than_those_that_come(least):
    """(f, m) and (m, f, f) are two edits apart: `compare` called the price of one edit a fault of the plugin's author."""
    spec = PrivacySpec(
        space=OrderedRecords(attributes=(SEX,), least=least, most=30), multiverse=Trivial(), input_divergence=EditDistance(),
        output_divergence=Mult(), budget=UniformBudget(parameter="epsilon", value=1),
    )  # fmt: skip
    check_declared(spec)


def test_a_one_sided_user_relation_counts_both_ways():
    upward = UserRelation(function=lambda x, y: sum(y) == sum(x) + 1, label="one more")
    space = BitVectors(length=2)
    for x, y in pairs(space):
        assert Neighbour(relation=upward).distance(x, y, space) == Neighbour(relation=upward).distance(y, x, space)
    assert Path(relation=upward).distance((1, 1), (0, 0), space) == 2
    with pytest.raises(ParameterError):
        UserRelation(function="replace-one", label="text")


def test_a_user_metric_is_not_trusted():
    signed = UserMetric(function=lambda x, y: sum(x) - sum(y), label="signed")
    assert not UserMetric.is_metric
    assert not UserMetric.is_symmetric
    assert signed.distance((1, 1), (0, 1), BitVectors(length=2)) == 1
    with pytest.raises(ParameterError, match="must not be negative"):
        signed.distance((0, 0), (0, 1), BitVectors(length=2))
    logs = UserMetric(function=lambda x, y: "ln(3)", label="logs")
    assert logs.distance((0,), (1,), BitVectors(length=1)) == number("ln(3)")
