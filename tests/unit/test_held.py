"""Invariants are compared by numbered cells: against counts by labels, on tables that keep them and on tables that do not."""

from __future__ import annotations

import numpy as np
import pytest
from dpspec_release.draw import compared, marginal

from dpspec.blocks.invariant import Marginal
from dpspec.blocks.space import Attribute
from dpspec.grammar.tables import Table

ATTRIBUTES = (
    Attribute(name="county", categories=("b", "a", "c")),
    Attribute(name="size", count=5),
    Attribute(name="tenure", categories=("owned", "rented")),
)
MARGINALS = (
    Marginal(unit="household", attributes=("size", "county")),
    Marginal(unit="household", attributes=("county",), where={"tenure": ["rented"]}),
    Marginal(unit="household", attributes=("size",), where={"county": ["a", "c"], "size": ["1", "4"]}),
    Marginal(unit="household", attributes=()),
)


def table(records, seed):
    draw = np.random.default_rng(seed)
    return Table(attributes=ATTRIBUTES, codes={a.name: draw.integers(0, a.size, records) for a in ATTRIBUTES})


def by_labels(counted, before, after):
    first, second = marginal(counted, before), marginal(counted, after)
    return len(first), sum(first[cell] != second[cell] for cell in {*first, *second})


@pytest.mark.parametrize("counted", MARGINALS, ids=str)
@pytest.mark.parametrize("records", [1, 4, 60])
def test_numbers_and_labels_agree(counted, records):
    for seed in range(8):
        before, after = table(records, seed), table(records, 100 + seed)
        assert compared(counted, before, after) == by_labels(counted, before, after)
        shuffled = Table(attributes=ATTRIBUTES, codes={name: column[::-1] for name, column in before.codes.items()})
        assert compared(counted, before, shuffled) == (by_labels(counted, before, before)[0], 0)


def test_a_record_less_is_seen():
    before = table(60, 1)
    after = Table(attributes=ATTRIBUTES, codes={name: column[1:] for name, column in before.codes.items()})
    assert compared(MARGINALS[0], before, after)[1] == 1


def test_columns_with_other_categories_are_compared_by_label():
    """The same records, written with the counties in another order."""
    before = table(60, 2)
    renamed = Attribute(name="county", categories=("a", "b", "c"))
    codes = {**before.codes, "county": np.asarray([1, 0, 2])[before.codes["county"]]}
    after = Table(attributes=(renamed, *ATTRIBUTES[1:]), codes=codes)
    assert compared(MARGINALS[0], before, after)[1] == 0
