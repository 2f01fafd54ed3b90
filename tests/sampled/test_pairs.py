"""Pairs of spaces that count over cells: inside one universe, whatever the space, and never by listing too much."""

import pytest

from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.records import ContingencyTables, Households, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.verifier.sampled.calls import datasets, pairs
from dpspec.verifier.sampled.engine import refute
from dpspec.verifier.verdict import Outcome
from tests.sampled.toys import claim


def attributes(*counts):
    return tuple(Attribute(name=f"a{place}", count=count) for place, count in enumerate(counts))


MARGINS = LevelSets(invariants=(Marginal(attributes=("a0",)), Marginal(attributes=("a1",))))
DWELLINGS = LevelSets(invariants=(Marginal(attributes=("a0",), unit="household"), Marginal(attributes=("age",), unit="person")))
PERSON = (Attribute(name="age", count=2),)
SPACES = [
    (UnorderedRecords(attributes=attributes(3, 3)), MARGINS),
    (ContingencyTables(attributes=attributes(3, 3)), MARGINS),
    (UnorderedRecords(attributes=attributes(3, 3), least=20, most=20), MARGINS),
    (UnorderedRecords(attributes=attributes(60, 50)), MARGINS),
    (UnorderedRecords(attributes=attributes(2000, 1000, 1000)), MARGINS),
    (Households(household=attributes(3), person=PERSON), DWELLINGS),
    (Households(household=attributes(3), person=PERSON, most=2, members=2), DWELLINGS),
]


@pytest.mark.parametrize(("space", "multiverse"), SPACES, ids=str)
def test_pairs_lie_in_one_universe(space, multiverse):
    spec = claim(space, multiverse=multiverse)
    found = pairs(datasets(spec, 0), spec)
    assert found
    for pair in found:
        assert pair.left == space.dataset(pair.left) != pair.right == space.dataset(pair.right)
        assert multiverse.share_universe(pair.left, pair.right, space)


def test_a_leak_under_margins_is_found_among_many_kinds_of_records():
    """Of 3,000 kinds, with both margins published: the smallest two datasets of one universe have two records each."""
    spec = claim(UnorderedRecords(attributes=attributes(60, 50)), multiverse=MARGINS)
    verdict = refute(lambda x, rng: sum(first == second for first, second in x), spec, draws=20_000)
    assert verdict.outcome is Outcome.REFUTED
    assert len(verdict.witness.left) == len(verdict.witness.right) == 2
