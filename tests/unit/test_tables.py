"""Tables read in batches, and the outputs of mechanisms that release tables too large to be held."""

from __future__ import annotations

import numpy as np
import pytest

from dpspec.base.errors import TableError
from dpspec.blocks.space import Attribute
from dpspec.grammar.tables import Members, Table, TableStream, joined
from dpspec.grammar.workers import Output

COUNTY, SIZE = Attribute(name="county", count=3), Attribute(name="size", count=4)
AGE = Attribute(name="age", count=5)


def households(count, persons, seed=0):
    draw = np.random.default_rng(seed)
    codes = {a.name: draw.integers(0, a.size, count) for a in (COUNTY, SIZE)}
    held = Table(attributes=(AGE,), codes={"age": draw.integers(0, AGE.size, persons)})
    members = Members(table=held, owner=draw.integers(0, max(count, 1), persons).astype(np.int32))
    return Table(attributes=(COUNTY, SIZE), codes=codes, members=members)


@pytest.mark.parametrize("size", [1, 7, 30, 1000])
def test_batches_are_the_table(size):
    table = households(30, 50)
    assert [len(batch) <= size for batch in table.batches(size)]
    assert [*joined(table.attributes, table.batches(size)).records()] == [*table.records()]
    whole = table.of_members()
    assert [*joined(whole.attributes, table.batches_of_members(size)).records()] == [*whole.records()]
    assert max(len(batch) for batch in table.batches_of_members(size)) <= size


def test_a_table_without_records_has_one_batch_with_its_columns():
    table = households(0, 0)
    for batches in (table.batches(), table.batches_of_members()):
        (batch,) = batches
        assert len(batch) == 0
    with pytest.raises(TableError, match="records without members"):
        next(iter(batch.batches_of_members()))


def test_the_main_table_of_an_output_may_be_a_stream():
    table = households(6, 0).batches().__next__()
    stream = TableStream(attributes=table.attributes, records=6, batches=lambda: table.batches(4))
    output = Output(tables={}, streams={"released": stream, "other": stream}, report={"a": 1})
    assert [*output.main.records()] == [*table.records()]
    held = output.with_main_held()
    assert (list(held.tables), list(held.streams), held.report) == (["released"], ["other"], {"a": 1})
    assert held.with_main_held() is held
