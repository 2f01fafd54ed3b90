"""Views: what they say of their bounds, against the records that are left of every small household."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from dpspec.blocks.invariant import Marginal
from dpspec.blocks.records import Households
from dpspec.blocks.space import Attribute
from dpspec.grammar.views import Contribution

SEX, AGE = Attribute(name="sex", categories=("f", "m")), Attribute(name="age", categories=("young", "old"))
HOMES = Households(household=(Attribute(name="place", categories=("a",)),), person=(SEX, AGE), least=1, most=1, members=3)
CONDITIONS = ((), (("age", ("old",)),), (("age", ("young", "old")),), (("sex", ("f",)), ("age", ("old",))))
SOME = [names for size in range(3) for names in itertools.combinations(("sex", "age"), size)]


@pytest.mark.parametrize("in_cell", [1, 2])
@pytest.mark.parametrize("by", SOME, ids=str)
def test_no_cell_holds_more_of_a_household_than_is_said(by: tuple[str, ...], in_cell: int) -> None:
    kept = Contribution(in_cell=in_cell, by=by)
    left = [HOMES.records(kept.applied(home, HOMES), "person") for home in HOMES.datasets()]
    attained = 0
    for attributes, where in itertools.product(SOME, CONDITIONS):
        table = Marginal(attributes=attributes, where=where)
        cells = (Counter(table.cell_of(record, HOMES) for record in records) for records in left)
        most = max(count for home in cells for cell, count in home.items() if cell is not None)
        said = kept.most_in_cell(table, HOMES)
        assert said is None or most <= said, table
        attained += said == most
    assert attained
