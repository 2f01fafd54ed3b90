"""Released tables of numbers: no two cells have equal rows, whatever the names and the categories are."""

from __future__ import annotations

import contextlib
import itertools

import numpy as np
import polars as pl
import pytest
from dpspec_noise import DistinctCount, ExponentialMechanism, Geometric, PostProcessed, WeightedSums
from dpspec_tables.formats import Arrow, Csv, Parquet
from hypothesis import given, strategies as st

from dpspec.base.errors import DpspecError, TableError
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.extension import installed
from dpspec.grammar import answers
from dpspec.grammar.answers import are_answers, column_of
from dpspec.grammar.tables import Table
from dpspec.grammar.workers import Run

NAMES = ["a", "b", "a x b", "b x 1", "1", "x", "(all)", "(some)", "total", "a, b", "a\nb", '"', "query", "value", "value_"]
"""Names and categories that could be taken for others, once they are joined."""


@st.composite
def spaces(draw):
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    kinds = [draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True)) for _ in names]
    return UnorderedRecords(attributes=[
        Attribute(name=name, count=len(own)) if draw(st.booleans()) else Attribute(name=name, categories=tuple(own))
        for name, own in zip(names, kinds, strict=True)
    ])  # fmt: skip


@st.composite
def tables(draw):
    """A space, and different queries of it."""
    space = draw(spaces())
    own = {a.name: list(a.values()) for a in space.attributes}
    queries = []
    for _ in range(draw(st.integers(1, 4))):
        attributes = draw(st.lists(st.sampled_from(list(own)), max_size=len(own), unique=True))
        limited = draw(st.sets(st.sampled_from(list(own))))
        where = {name: draw(st.lists(st.sampled_from(own[name]), unique=True)) for name in sorted(limited)}
        queries.append(Marginal(attributes=attributes, where={name: tuple(kept) for name, kept in where.items()}))
    return space, list(dict.fromkeys(queries))


@given(tables())
def test_no_two_cells_have_equal_rows(made):
    space, queries = made
    cells = [answers.cells_of(query, space) for query in queries]
    size = sum(map(len, cells))
    table = answers.answer_table(cells, [0] * size)
    names = [a.name for a in table.attributes]
    assert len(set(names)) == len(names)
    rows = list(table.records())
    assert len(set(rows)) == len(rows) == size
    assert [len(part) for part in cells] == [len(list(query.cells(space))) for query in queries]
    own = {a.name: set(a.values()) for a in space.attributes}
    places = iter(rows)
    for query, name in zip(queries, answers.query_names(queries), strict=True):
        for cell in query.cells(space):
            row = dict(zip(names, next(places), strict=True))
            assert row["query"] == name
            for attribute, category in zip(query.attributes, cell, strict=True):  # the category itself, joined with nothing
                assert row[answers.column_of(attribute)] == str(category)
            for attribute in set(own) - set(query.attributes):
                assert row.get(answers.column_of(attribute), "(all)") in own[attribute] | {"(all)", "(some)"}


def test_queries_with_the_same_words_are_told_apart():
    """Weights are in no words; a name that could be read as several is quoted."""
    b = Attribute(name="b", categories=("x", "y", "x, y"))
    space = UnorderedRecords(attributes=[Attribute(name="a", categories=("f", "m")), b])
    sums = [WeightedSums(attributes=["a"], sums=["s"], weights=[{"cell": ["f"], "adds": [weight]}]) for weight in (1, 2)]
    counts = [Marginal(attributes=["a"], where={"b": where}) for where in (("x, y",), ("x", "y"))]
    queries = [*sums, *counts, DistinctCount(attributes=["a"]), counts[0]]
    table = answers.answer_table([answers.cells_of(query, space) for query in queries], range(9))
    rows = [row[:-2] for row in table.records()]
    assert rows[:6] == [
        ("s by a", "s", "(all)"), ("s by a (2)", "s", "(all)"),
        ('person by a where b in {"x, y"}', "count", "f"), ('person by a where b in {"x, y"}', "count", "m"),
        ("person by a where b in {x, y}", "count", "f"), ("person by a where b in {x, y}", "count", "m"),
    ]  # fmt: skip
    assert rows[-2:] == rows[2:4]  # one query that is answered twice is the same cells


def test_numbers_of_any_size_are_released():
    wide = [2**63, -1, 10**30, 0]
    attribute, codes = answers.numbered("value", wide)
    assert [attribute.category(code) for code in codes] == list(map(str, wide))
    (value, places), (status, kinds) = answers.number_columns(wide, np.array([True, False, False, True]))
    assert [value.category(place) for place in places] == ["", "-1", str(10**30), ""]
    assert [status.category(kind) for kind in kinds] == ["suppressed", "published", "published", "suppressed"]


def test_a_withheld_number_is_nowhere_in_the_table():
    """Not among the categories either, which an enumeration of a file would publish."""
    space = UnorderedRecords(attributes=[Attribute(name="a", categories=("f", "m"))])
    query = Marginal(attributes=["a"])
    geometric = Geometric(queries=(query,), ratio="1/1000")
    table = Table.from_records([("f",)] * 900 + [("m",)] * 3, space.attributes)
    hiding = PostProcessed(mechanism=geometric, hidden_below=100).release(table, space, SeededRandomness(1))
    assert list(hiding.attribute("value").values()) == ["900", ""]
    assert list(hiding.records()) == [("person by a", "f", "900", "published"), ("person by a", "m", "", "suppressed")]
    twice = answers.changed(hiding, lambda value: None)
    assert list(twice.attribute("value").values()) == [""]
    assert [row[-1] for row in twice.records()] == ["suppressed"] * 2
    chosen = ExponentialMechanism(query=query, rate=1).release(table, space, SeededRandomness(1))
    assert list(chosen.attribute("value").values()) == [""]


def test_only_a_table_of_numbers_can_be_changed():
    table = Table.from_records([("f",)], (Attribute(name="value", categories=("f",)),))
    assert not answers.has_numbers(table)
    with pytest.raises(TableError, match="no published numbers"):
        answers.changed(table, lambda value: value)


def examples():
    """The first examples of every mechanism."""
    return list(_examples())


def _examples():
    for cls in installed().registry.classes("mechanisms"):
        for place, example in enumerate(itertools.islice(getattr(cls, "examples", tuple)(), 3)):
            if isinstance(example, tuple):  # others name no space
                yield pytest.param(*example, id=f"{cls.name}-{place}")


def numbers_of(mechanism, space):
    """The tables of numbers that a mechanism releases of the first datasets with records; it may release none."""
    unit = space.units[0] if space.units else None
    attributes = space.attributes_of(unit) if unit is not None else ()
    if not attributes or any(a.name == "members" for a in attributes):
        return
    for x in itertools.islice(space.datasets(), 3):
        table = Table.from_records(space.records(x, unit), attributes)
        with contextlib.suppress(DpspecError):
            output = mechanism.run(table, space, Run(source=SeededRandomness(2)))
            yield from filter(answers.has_numbers, output.tables.values())


READERS = {Csv: pl.read_csv, Parquet: pl.read_parquet, Arrow: pl.read_ipc}


@pytest.mark.parametrize(("mechanism", "space"), examples())
def test_what_each_mechanism_releases_is_read_back(tmp_path, mechanism, space):
    own = {column_of(a.name): a for unit in space.units for a in space.attributes_of(unit)}
    for table in numbers_of(mechanism, space):
        names = [a.name for a in table.attributes]
        rows = [dict(zip(names, row, strict=True)) for row in table.records()]
        assert names[-2:] == ["value", "status"]
        assert len({tuple(row.values())[:-2] for row in rows}) == len(rows)  # no two cells have equal rows
        assert all((row["status"] == "published") == bool(row["value"]) for row in rows)
        for name in {*names} & {*own}:
            assert {row[name] for row in rows} <= {*own[name].values(), "(all)", "(some)"}
        for cls, read in READERS.items():
            path = tmp_path / f"released{cls.suffixes[0]}"
            cls().write(table, path, {})
            assert cls().holds(path, table)
            frame = read(path)
            assert frame.columns == names
            assert frame["value"].to_list() == [int(row["value"]) if row["value"] else None for row in rows]
            assert frame["status"].to_list() == [row["status"] for row in rows]


def test_the_examples_release_numbers_of_every_kind():
    """The test above checks something: these mechanisms release numbers, or a choice."""
    found = {one.values[0].name for one in examples() if any(True for _ in numbers_of(*one.values))}
    assert found >= {
        "cell-key", "cell-suppression", "composed", "controlled-rounding", "conventional-rounding", "exponential", "filtered",
        "kept-cell-key", "noisy-max", "parallel", "post-processed", "random-rounding", "repeated", "safetab", "threshold-release",
    }  # fmt: skip


def test_names_that_could_be_read_as_several_are_quoted():
    """No two tables of counts have the same words."""
    names = ("x", "y", "x, y", "x} where b in {y", "1 to 4", "1", "2", "3", "4", 'q"', " x", "x x y", "x where y")
    queries = {
        Marginal(attributes=attributes, where={"b": where} if where else {})
        for attributes in (("a",), ("a", "x"), ("a x x",), ("a where b in {x}",))
        for size in (0, 1, 2)
        for where in itertools.combinations(names, size)
    } | {Marginal(attributes=("a",), where={"b": ("1", "2", "3", "4")}), Marginal(attributes=("a",), where={"b": ("1 to 4",)})}
    padded = itertools.product(("1", "01"), ("2", "02"), ("3", "03"), ("4", "04"))
    queries |= {Marginal(attributes=("a",), where={"b": where}) for where in padded}
    assert len({str(query) for query in queries}) == len(queries)
    assert str(Marginal(attributes=("born in",), where={"b": ("lives in it",)})) == "person by born in where b in {lives in it}"
    assert str(Marginal(attributes=("a",), where={"b": ("x, y",)})) == 'person by a where b in {"x, y"}'


def test_records_whose_columns_are_called_like_answers_are_records():
    space = UnorderedRecords(attributes=[Attribute(name=name, count=2) for name in ("query", "value", "status")])
    other = UnorderedRecords(attributes=[Attribute(name="sex", count=2)])
    assert are_answers(("query", "value", "status"), other)
    assert not are_answers(("query", "value", "status"), space)
    assert are_answers(("query", "query_", "value", "status"), space)


# --- cells in pieces ------------------------------------------------------------------------------


@st.composite
def nested_tables(draw):
    """A space with nested attributes in any order, and a query of it with conditions."""
    names = ["a", "b", "c", "d"][: draw(st.integers(1, 4))]
    attributes = []
    for place, name in enumerate(names):
        size = draw(st.integers(1, 4))
        coarser = draw(st.sampled_from([None, *names[:place]]))
        if coarser is None:
            attributes.append(Attribute(name=name, count=size))
        elif draw(st.booleans()):
            least = next(a.size for a in attributes if a.name == coarser)
            attributes.append(Attribute(name=name, count=least + size, within=coarser))
        else:
            above = next(a for a in attributes if a.name == coarser)
            parents = draw(st.permutations([*above.values(), *draw(st.lists(st.sampled_from(list(above.values())), max_size=2))]))
            kinds = [f"{name}{n}" for n in range(len(parents))]
            attributes.append(Attribute(name=name, categories=kinds, within=coarser, parents=parents))
    known = {a.name: a for a in attributes}
    chosen = draw(st.lists(st.sampled_from(names), max_size=len(names), unique=True))
    limited = draw(st.sets(st.sampled_from(names)))
    where = {name: tuple(draw(st.lists(st.sampled_from(list(known[name].values())), unique=True))) for name in sorted(limited)}
    return UnorderedRecords(attributes=attributes), Marginal(attributes=chosen, where=where)


@given(nested_tables(), st.integers(1, 9))
def test_cells_in_pieces_are_the_cells_of_the_query_in_their_order(made, size):
    """Compared with `Marginal.cells`, which lists records one by one."""
    space, query = made
    listed = [tuple(map(str, cell)) for cell in query.cells(space)]
    if not answers.is_in_order(query, space):
        return
    pieces = list(answers.cells_in_order(query, space, size))
    assert all(0 < len(piece) <= size for piece in pieces)
    found = []
    for piece in pieces:
        columns = [[list(a.values())[code] for code in codes.tolist()] for a, codes in piece.columns.items()]
        assert [a.name for a in piece.columns] == list(query.attributes)
        found += list(zip(*columns, strict=True)) if columns else [()] * len(piece)
    assert found == listed
    assert answers.number_of_cells(query, space) == len(listed)
    again = [(place, part.columns) for piece in answers.in_pieces(enumerate(pieces), size) for place, part in piece]
    assert sum(len(next(iter(columns.values()), ())) for _, columns in again) == (len(listed) if query.attributes else 0)


def test_an_attribute_that_is_named_twice_is_not_listed_in_pieces():
    tract, county = Attribute(name="tract", count=4, within="county"), Attribute(name="county", count=2)
    space = UnorderedRecords(attributes=(county, tract))
    assert answers.is_in_order(Marginal(attributes=("tract", "county")), space)
    assert not answers.is_in_order(Marginal(attributes=("county", "county")), space)
    assert not answers.is_in_order(DistinctCount(attributes=("county",)), space)


def test_cells_are_cut_into_pieces_of_one_size_across_queries():
    sex, age = Attribute(name="sex", categories=("f", "m")), Attribute(name="age", count=5)
    space = UnorderedRecords(attributes=(sex, age))
    cells = [answers.cells_of(Marginal(attributes=names), space) for names in (("sex",), ("age",), (), ("sex", "age"))]
    pieces = list(answers.in_pieces(enumerate(cells), 4))
    assert [[(place, len(part)) for place, part in piece] for piece in pieces] == [
        [(0, 2), (1, 2)], [(1, 3), (2, 1)], [(3, 4)], [(3, 4)], [(3, 2)],
    ]  # fmt: skip
    table = answers.answer_table(cells, range(18))
    columns = answers.AnswerColumns.of([cell.rows([0]) for cell in cells])
    assert columns.attributes == table.attributes[: len(columns.attributes)]
    for a in columns.attributes:
        made = [columns.codes(place, part)[a.name] for piece in pieces for place, part in piece]
        assert np.concatenate(made).tolist() == table.codes[a.name].tolist()
