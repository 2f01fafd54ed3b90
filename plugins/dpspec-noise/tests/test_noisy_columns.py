"""Released tables of noisy counts: the rows of the definition, a column for each attribute, no work in Python for each row."""

from __future__ import annotations

import itertools
import random
from functools import partial

import numpy as np
import polars as pl
import pytest
from dpspec_noise import ClippedSum, DistinctCount, Geometric
from dpspec_noise.additive import true_answers
from dpspec_tables.formats import Arrow, Csv, Parquet

from dpspec.base.params import Text
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.space import Attribute
from dpspec.grammar import answers, tables
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


def counted_by_definition(query, records):
    """The cells of a query as dicts, each with its count."""
    names = [a.name for a in SPACE.attributes]
    rows = [dict(zip(names, record, strict=True)) for record in records]
    counted = [row for row in rows if all(row[name] in kept for name, kept in query.where)]
    for cell in cells_by_definition(query):
        yield cell, sum(all(row[name] == value for name, value in cell.items()) for row in counted)


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_cells_and_counts_are_those_of_the_definition(query):
    records = people(60)
    table = Table.from_records(records, SPACE.attributes)
    expected = list(counted_by_definition(query, records))
    found = true_answers(table, query, SPACE)
    assert found == tuple(count for _, count in expected)
    assert all(type(count) is int for count in found)
    cells = answers.cells_of(query, SPACE)
    columns = {a.name: [list(a.values())[code] for code in codes] for a, codes in cells.columns.items()}
    assert len(cells) == len(expected)
    rows = [{name: column[row] for name, column in columns.items()} for row in range(len(cells))]
    assert rows == [cell for cell, _ in expected]


class NoNoise(Geometric):
    """A toy without noise, so that the released rows are known."""

    def draw(self, count, source):
        return np.zeros(count, dtype=np.int64)


def mark(query, name):
    """What is in a column that a query does not have: the categories that it counts, if it leaves some out."""
    counted = dict(query.where).get(name)
    return "(all)" if not counted else counted[0] if len(set(counted)) == 1 else "(some)"


def test_released_rows_are_the_answers_of_all_queries_in_order():
    """Labels that occur in several queries, equal queries, and sums next to counts."""
    records = people(60)
    table = Table.from_records(records, SPACE.attributes)
    total = ClippedSum(attribute="age", least=-2, most=3)
    kinds = DistinctCount(attributes=("age",), where={"sex": ("f",)})
    queries = (*QUERIES, QUERIES[1], total, kinds)
    released = NoNoise(queries=queries, epsilon=1).release(table, SPACE, SeededRandomness(1))
    names = ("sex", "age", "tract", "county")
    assert [a.name for a in released.attributes] == ["query", "measure", *names, "value", "status"]
    expected = [
        (str(query), "count", *(cell.get(name, mark(query, name)) for name in names), str(count), "published")
        for query in queries[:-2]
        for cell, count in counted_by_definition(query, records)
    ]
    ages, women = [int(record[3]) for record in records], {record[3] for record in records if record[0] == "f"}
    marks = ("(all)",) * 4
    expected.append((str(total), total.labels(SPACE)[0], *marks, str(sum(min(max(age, -2), 3) for age in ages)), "published"))
    expected.append((str(kinds), kinds.labels(SPACE)[0], "f", *marks[1:], str(len(women)), "published"))
    assert list(released.records()) == expected


def test_another_order_of_categories_in_the_table_changes_nothing():
    records, other = people(60), Attribute(name="sex", categories=("m", "f"))
    tables = [Table.from_records(records, (sex, *SPACE.attributes[1:])) for sex in (SEX, other)]
    first, second = ([true_answers(table, query, SPACE) for query in QUERIES] for table in tables)
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
def test_every_format_reads_back_the_rows(monkeypatch, tmp_path, queries, count):
    """Categories with commas, quotes, line ends and ` x `; the same bytes as CSV where few categories are listed."""
    released = Geometric(queries=queries, epsilon=1).release(wide_people(count), WIDE, SeededRandomness(3))
    expected = list(released.records())
    readers = {".csv": partial(pl.read_csv, infer_schema=False), ".parquet": pl.read_parquet, ".arrow": pl.read_ipc}
    contents = []
    for most in (tables.MOST_LISTED, 0):
        monkeypatch.setattr(tables, "MOST_LISTED", most)
        for format_ in (Csv(), Parquet(), Arrow()):
            suffix = format_.suffixes[0]
            path = tmp_path / f"again{most}{suffix}"
            format_.write(released, path, {})
            assert format_.holds(path, released)
            frame = readers[suffix](path)
            assert frame.columns == [a.name for a in released.attributes]
            assert frame.cast(pl.String).rows() == expected
            assert suffix == ".csv" or frame["value"].dtype == pl.Int64
        contents.append((tmp_path / f"again{most}.csv").read_bytes())
    assert contents[0] == contents[1]


def test_a_large_table_is_released_without_a_text_for_each_cell(monkeypatch, tmp_path):
    """70,000 cells of two attributes: no label is made in Python between the table and the file."""
    space = UnorderedRecords(attributes=(Attribute(name="a", count=350), Attribute(name="b", count=200)))
    table = Table(attributes=space.attributes, codes={"a": np.arange(500) % 350, "b": np.arange(500) % 7})
    mechanism = Geometric(queries=(Marginal(attributes=("b", "a")),), epsilon=1)
    monkeypatch.setattr(Marginal, "labels", None)
    monkeypatch.setattr(Marginal, "cells", None)
    with monkeypatch.context() as patch:
        patch.setattr(tables.NumberedAttribute, "values", None)
        released = mechanism.release(table, space, SeededRandomness(1))
        for format_ in (Csv(), Parquet(), Arrow()):
            path = tmp_path / f"cells{format_.suffixes[0]}"
            format_.write(released, path, {})
            assert format_.holds(path, released)
    counts = np.bincount(table.codes["a"] * 200 + table.codes["b"], minlength=70_000)
    noise = mechanism.draw(70_000, SeededRandomness(1))
    expected = [("person by b x a", str(b), str(a)) for a in range(350) for b in range(200)]
    assert [(row[0], *row[1:3]) for row in released.records()] == expected
    assert [int(row[3]) for row in released.records()] == (counts + noise).tolist()
