"""Noisy counts as columns: the same rows as from the definition, and no work in Python for each row."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from dpspec_noise import ClippedSum, Geometric
from dpspec_noise.additive import answers_on
from dpspec_tables.formats import Arrow, Csv, Parquet

from dpspec.base.params import Text
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.space import Attribute
from dpspec.grammar import tables
from dpspec.grammar.tables import Table
from dpspec.plugin import UnorderedRecords

SEX = Attribute(name="sex", categories=("f", "m"))
COUNTY = Attribute(name="county", categories=("north", "south"))
TRACT = Attribute(name="tract", categories=("1", "2", "3"), within="county", parents=("north", "south", "south"))
AGE = Attribute(name="age", count=4)
SPACE = UnorderedRecords(attributes=(SEX, COUNTY, TRACT, AGE))
QUERIES = [
    Marginal(attributes=names, where=where)
    for names in ((), ("sex",), ("age", "sex"), ("tract", "county"), ("tract",), ("age", "county", "sex"))
    for where in ({}, {"sex": ("m",)}, {"age": ("3", "1"), "tract": ("2", "1")}, {"county": ()})
]


def people(count):
    lot = random.Random(7)
    tracts = [("north", "1"), ("south", "2"), ("south", "3")]
    return [(lot.choice("fm"), *lot.choice(tracts), str(lot.randrange(4))) for _ in range(count)]


def cells_by_definition(query):
    """All combinations in the order of the attributes of the space, as the query names them."""
    kinds = [a for a in SPACE.attributes if a.name in query.attributes]
    where = dict(query.where)
    for values in itertools.product(*(a.values() for a in kinds)):
        named = dict(zip((a.name for a in kinds), values, strict=True))
        torn = {"county", "tract"} <= named.keys() and TRACT.parents[TRACT.categories.index(named["tract"])] != named["county"]
        if not torn and all(named[name] in kept for name, kept in where.items() if name in named):
            yield named


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_labels_and_counts_are_those_of_the_definition(query):
    records = people(60)
    table = Table.from_records(records, SPACE.attributes)
    names = [a.name for a in SPACE.attributes]
    expected = []
    for cell in cells_by_definition(query):
        wanted = {**{name: (value,) for name, value in cell.items()}}
        rows = [dict(zip(names, record, strict=True)) for record in records]
        count = sum(
            all(row[n] in kept for n, kept in wanted.items()) and all(row[n] in kept for n, kept in query.where) for row in rows
        )
        expected.append((str(query), " x ".join(cell[name] for name in query.attributes) or "total", count))
    assert answers_on(table, [query], SPACE) == expected
    assert all(type(count) is int for _, _, count in answers_on(table, [query], SPACE))


class NoNoise(Geometric):
    """A toy without noise, so that the released rows are known."""

    def draw(self, count, source):
        return np.zeros(count, dtype=np.int64)


def test_released_rows_are_the_answers_of_all_queries_in_order():
    """Labels that occur in several queries, equal queries, and sums next to counts."""
    table = Table.from_records(people(60), SPACE.attributes)
    queries = (*QUERIES[:7], QUERIES[1], ClippedSum(attribute="age", least=-2, most=3))
    released = NoNoise(queries=queries, epsilon=1).release(table, SPACE, SeededRandomness(1))
    rows = answers_on(table, queries, SPACE)
    assert list(released.records()) == [(query, cell, str(answer)) for query, cell, answer in rows]
    for attribute, column in zip(released.attributes, zip(*rows, strict=True), strict=True):
        assert attribute.categories == tuple(dict.fromkeys(map(str, column)))


def test_another_order_of_categories_in_the_table_changes_nothing():
    records, other = people(60), Attribute(name="sex", categories=("m", "f"))
    tables = [Table.from_records(records, (sex, *SPACE.attributes[1:])) for sex in (SEX, other)]
    first, second = (answers_on(table, QUERIES, SPACE) for table in tables)
    assert first == second


def test_a_release_of_many_cells_calls_nothing_for_each_cell(monkeypatch):
    """One query of 40,000 cells: its name is written a few times, and no category is read one by one."""
    space = UnorderedRecords(attributes=(Attribute(name="a", count=200), Attribute(name="b", count=200)))
    table = Table(attributes=space.attributes, codes={"a": np.arange(500) % 200, "b": np.arange(500) % 7})
    calls = {"name": 0, "text": 0, "records": 0}

    def counted(owner, method, key):
        real = getattr(owner, method)

        def call(*arguments):
            calls[key] += 1
            return real(*arguments)

        monkeypatch.setattr(owner, method, call)

    counted(Marginal, "__str__", "name")
    counted(Text, "read", "text")
    counted(Table, "records", "records")
    monkeypatch.setattr(Table, "from_records", None)
    released = Geometric(queries=(Marginal(attributes=("a", "b")),), epsilon=1).release(table, space, SeededRandomness(1))
    assert len(released) == 40_000
    assert calls["name"] < 20
    assert calls["text"] < 100
    assert not calls["records"]


# --- tables with more cells than are listed ----------------------------------------------------------


TEXTS = ("a,b", 'say "x"', "two\nlines", "007", "NaN", "null", " x ", "\u00fc\u6f22", "z" * 5000, "x")
ODD = Attribute(name="odd", categories=TEXTS)
LONE = Attribute(name="lone", categories=("only",))
WIDE = UnorderedRecords(attributes=(ODD, LONE, COUNTY, TRACT, AGE))
WIDE_QUERIES = [
    *(Marginal(attributes=names) for names in (("odd",), ("lone",), ("age", "odd"))),
    *(Marginal(attributes=names) for names in (("tract", "county", "odd"), ("county", "age", "tract"))),
    Marginal(attributes=("odd", "tract"), where={"odd": ("x", "007"), "age": ("1",)}),
    Marginal(attributes=("tract", "county"), where={"county": ("south",), "tract": ("1", "3")}),
    Marginal(attributes=("age", "tract", "county"), where={"tract": ("2",)}),
]


def wide_people(count):
    lot = random.Random(9)
    tracts = [("north", "1"), ("south", "2"), ("south", "3")]
    rows = [(lot.choice(ODD.categories), "only", *lot.choice(tracts), str(lot.randrange(4))) for _ in range(count)]
    return Table.from_records(rows, WIDE.attributes)


@pytest.mark.parametrize("queries", [*([query] for query in WIDE_QUERIES), WIDE_QUERIES, [WIDE_QUERIES[0], WIDE_QUERIES[0]]])
@pytest.mark.parametrize("count", [0, 1, 80])
def test_labels_that_are_made_late_are_those_of_the_lists(monkeypatch, tmp_path, queries, count):
    """The same table by both ways: the same records, and the same bytes as CSV; every format reads back what it has written."""
    table, mechanism = wide_people(count), Geometric(queries=queries, epsilon=1)
    listed = mechanism.release(table, WIDE, SeededRandomness(3))
    monkeypatch.setattr(tables, "MOST_LISTED", 0)
    late = mechanism.release(table, WIDE, SeededRandomness(3))
    assert isinstance(late.attribute("cell"), tables.LabelledAttribute)
    assert isinstance(late.attribute("answer"), tables.LabelledAttribute)
    assert list(late.records()) == list(listed.records())
    assert late.counts(["cell", "answer"]) == listed.counts(["cell", "answer"])
    for name, released in (("listed", listed), ("late", late)):
        Csv().write(released, tmp_path / f"{name}.csv", {})
    assert (tmp_path / "late.csv").read_bytes() == (tmp_path / "listed.csv").read_bytes()
    for format_ in (Csv(), Parquet(), Arrow()):
        path = tmp_path / f"again{format_.suffixes[0]}"
        format_.write(late, path, {})
        assert format_.holds(path, late)
        assert format_.holds(path, listed) or not isinstance(format_, Csv)


def test_a_large_table_is_released_without_a_text_for_each_cell(monkeypatch, tmp_path):
    """70,000 cells of two attributes: no label is made in Python between the table and the file."""
    space = UnorderedRecords(attributes=(Attribute(name="a", count=350), Attribute(name="b", count=200)))
    table = Table(attributes=space.attributes, codes={"a": np.arange(500) % 350, "b": np.arange(500) % 7})
    mechanism = Geometric(queries=(Marginal(attributes=("b", "a")),), epsilon=1)
    expected = [" x ".join((str(b), str(a))) for a in range(350) for b in range(200)]
    with monkeypatch.context() as patch:
        patch.setattr(Marginal, "labels", None)
        patch.setattr(tables.LabelBlock, "text", None)
        released = mechanism.release(table, space, SeededRandomness(1))
        for format_ in (Csv(), Parquet(), Arrow()):
            path = tmp_path / f"cells{format_.suffixes[0]}"
            format_.write(released, path, {})
            assert format_.holds(path, released)
    assert list(released.attribute("cell").values()) == expected
    counts = np.bincount(table.codes["a"] * 200 + table.codes["b"], minlength=70_000)
    noise = mechanism.draw(70_000, SeededRandomness(1))
    assert [int(row[2]) for row in released.records()] == (counts + noise).tolist()
