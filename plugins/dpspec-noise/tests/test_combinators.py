"""Mechanisms of mechanisms: what they release of a table."""

from __future__ import annotations

import pytest

import dpspec as dp
from dpspec.base.errors import ReleaseError
from dpspec.grammar.tables import Table
from dpspec.grammar.workers import Run
from dpspec.plugin.releases import SeededRandomness


@pytest.mark.parametrize("outer", ["filtered", "subsampled"])
@pytest.mark.parametrize("inner", ["composed", "repeated", "parallel"])
def test_what_releases_several_tables_is_not_said_to_have_no_sampler(outer, inner):
    """All of the noise is discrete, and the advice was to choose discrete noise."""
    count = dp.geometric(queries=[dp.marginal(attributes=[])], ratio="1/2")
    several = {
        "composed": dp.composed(parts=[count, count]),
        "repeated": dp.repeated(mechanism=count, times=2),
        "parallel": dp.parallel(attribute="town", parts=[{"categories": ["a"], "mechanism": count}]),
    }[inner]
    around = {
        "filtered": dp.filtered(mechanism=several, where={"town": ["a"]}),
        "subsampled": dp.subsampled(mechanism=several, rate="1/2"),
    }[outer]
    space = dp.records(town=["a", "b"])
    table = Table.from_records([("a",), ("b",)], space.attributes_of("person"))
    with pytest.raises(ReleaseError, match=f"{inner}: releases several tables, where the mechanism around it releases one"):
        around.run(table, space, Run(source=SeededRandomness(1)))
    alone = several.run(table, space, Run(source=SeededRandomness(1)))
    assert len(alone.tables) + len(alone.streams) == (1 if inner == "parallel" else 2)
