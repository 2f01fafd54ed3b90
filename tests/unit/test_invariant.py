"""Invariants: tables of counts by a loop, their matrices, and which tables determine which others."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest

from dpspec.base.errors import IncompatibleBlocksError, NotInSpaceError, ParameterError
from dpspec.blocks.invariant import FunctionInvariant, LinearMap, Marginal, conditions_in_words, exact_covers, in_runs, quoted
from dpspec.blocks.lists import ValueLists
from dpspec.blocks.records import Households, OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute

STATE, SEX = Attribute(name="state", categories=("n", "s")), Attribute(name="sex", categories=("f", "m"))
COUNTY, AGE = Attribute(name="county", count=4, within="state"), Attribute(name="age", categories=("1", "2", "3"))
ATTRIBUTES = (STATE, COUNTY, SEX, AGE)
PLACES = {a.name: place for place, a in enumerate(ATTRIBUTES)}
SPACE = UnorderedRecords(attributes=ATTRIBUTES, most=2)
DATASETS = list(itertools.islice(SPACE.datasets(), 0, None, 7))


def table(*attributes: str, **where: tuple[str, ...]) -> Marginal:
    return Marginal(attributes=attributes, where=tuple(where.items()))


TABLES = [
    table(), table("state"), table("county"), table("sex", "age"), table("age", "sex"), table("state", "county"),
    table("sex", "sex"),
    table(sex=("f",)), table("county", age=("1", "3")), table("age", age=("2",)), table("sex", state=("n",), age=("1", "2")),
]  # fmt: skip


def counted(one: Marginal, dataset: Any) -> Counter[Any]:
    """The table by a loop."""
    found: Counter[Any] = Counter()
    for record in dataset:
        if all(record[PLACES[name]] in categories for name, categories in one.where):
            found[tuple(record[PLACES[name]] for name in one.attributes)] += 1
    return found


@pytest.mark.parametrize("one", TABLES, ids=str)
def test_a_table_is_what_a_loop_counts(one: Marginal) -> None:
    one.check(SPACE)
    cells = list(one.cells(SPACE))
    assert len(set(cells)) == len(cells) == len(one.labels(SPACE))
    for dataset in DATASETS:
        true = counted(one, dataset)
        assert one.answers(dataset, SPACE) == tuple(true[cell] for cell in cells)
        assert sum(one.answers(dataset, SPACE)) == true.total()
        assert dict(one.value(dataset, SPACE)) == dict(true)  # type: ignore[call-overload]  # pairs
        for record in dataset:  # type: ignore[attr-defined]  # a tuple
            cell = one.cell_of(record, SPACE)
            assert (cell is None) == (not counted(one, [record]))
            assert cell is None or counted(one, [record]) == {cell: 1}


@pytest.mark.parametrize("one", TABLES, ids=str)
def test_its_matrix_gives_the_same_counts(one: Marginal) -> None:
    rows = one.matrix(SPACE)
    assert rows is not None
    for dataset in DATASETS:
        vector = SPACE.vector(dataset)
        products = sorted(sum(a * v for a, v in zip(row, vector, strict=True)) for row in rows)
        assert [n for n in products if n] == sorted(counted(one, dataset).values())
    some = [("n", "0", "f", "1"), ("s", "3", "m", "2")]
    columns = one.rows_over(some, SPACE)
    assert columns is not None
    for column, record in enumerate(some):
        assert sum(row[column] for row in columns) == counted(one, [record]).total()
    assert one.matrix(OrderedRecords(attributes=ATTRIBUTES, most=2)) is None


@pytest.mark.parametrize("one", TABLES, ids=str)
def test_a_table_that_is_said_to_determine_another_does(one: Marginal) -> None:
    known = 0
    for other in TABLES:
        reason = one.implies(other, SPACE)
        known += reason is not None
        pairs: dict[Any, Any] = {}
        values = [(one.value(dataset, SPACE), other.value(dataset, SPACE)) for dataset in DATASETS]
        fixed = all(pairs.setdefault(fine, coarse) == coarse for fine, coarse in values)
        assert reason is None or fixed, (one, other)
    assert known >= 1
    assert one.implies(one, SPACE) == "the same invariant"


def test_coarser_tables_are_seen() -> None:
    for fine, coarse, seen in (
        (table("county"), table("state"), True), (table("state"), table("county"), False),
        (table("sex", "age"), table("age"), True),
        (table("sex"), table(sex=("f",)), True), (table(sex=("f",)), table("sex"), False),
        (table("age", sex=("f",)), table(sex=("f",)), True), (table("age", sex=("f",)), table(), False),
        (table("age", sex=("f", "m")), table(sex=("f",)), False), (table("sex", "age"), table("age", sex=("m",)), True),
        (table("county"), Marginal(attributes=("state",), unit="household"), False),
        (table("age", age=("1", "2")), table("age", age=("2",)), True),
        (table("age", age=("2",)), table("age", age=("1", "2")), False),
    ):  # fmt: skip
        assert (fine.implies(coarse, SPACE) is not None) is seen, (fine, coarse)


def test_members_of_households_show_their_persons() -> None:
    homes = Households(household=(STATE,), person=(SEX, AGE), most=2, members=2)
    whole = Marginal(attributes=("state", "members"), unit="household")
    assert whole.implies(Marginal(attributes=("sex",), unit="person"), homes) is not None
    assert Marginal(attributes=("state",), unit="household").implies(Marginal(attributes=("sex",), unit="person"), homes) is None
    assert whole.margin(homes) == {"state", "members"}
    assert Marginal(attributes=("sex",), unit="person").margin(homes) == {"members"}
    with pytest.raises(IncompatibleBlocksError):
        whole.check_answers(homes)


def test_sums_of_parts() -> None:
    parts = [table("sex", age=("1",)), table("sex", age=("2", "3")), table("sex", age=("2",))]
    ways = list(table("sex").partitions(parts, SPACE))
    assert [[dict(part.where)["age"] for part in way] for way in ways] == [[("1",), ("2", "3")]]
    assert list(table("sex").partitions(parts[:1], SPACE)) == []


def test_covers_are_exact() -> None:
    whole = frozenset("abcd")
    sets = [frozenset(s) for s in ("ab", "cd", "a", "b", "bc", "d", "abcd", "")]
    every = {
        frozenset(chosen) for size in range(2, 5) for chosen in itertools.combinations(set(sets) - {whole, frozenset()}, size)
        if sum(map(len, chosen)) == len(whole) and frozenset().union(*chosen) == whole
    }  # fmt: skip
    found = list(exact_covers(whole, sets))
    assert {frozenset(cover) for cover in found} == every
    assert len(found) == len(every) > 2
    assert list(exact_covers(frozenset(), sets)) == []


def test_an_attribute_that_is_named_twice_makes_no_further_cells() -> None:
    """Each cell was listed twice, and noise was added to each copy: the claim was refuted, or an error blamed the plugin."""
    assert list(table("sex", "sex").cells(SPACE)) == [("f", "f"), ("m", "m")]
    assert list(table("age", "sex", "age", sex=("m",)).cells(SPACE)) == [(age, "m", age) for age in AGE.values()]


def test_what_does_not_fit_is_refused() -> None:
    for wrong in (table("no"), table(no=("x",))):
        with pytest.raises(IncompatibleBlocksError):
            wrong.check(SPACE)
    with pytest.raises(NotInSpaceError):
        table(sex=("x",)).check(SPACE)
    with pytest.raises(IncompatibleBlocksError):
        LinearMap(rows=((1, 1),)).check(SPACE)
    with pytest.raises(ParameterError):
        FunctionInvariant(function=3, label="it")  # type: ignore[arg-type]  # no function


def test_maps_and_functions() -> None:
    few = UnorderedRecords(attributes=(SEX,), most=2)
    difference = LinearMap(rows=((1, -1), (1, 1)), label="d")
    difference.check(few)
    assert difference.answers((("f",), ("f",)), few) == (2, 2)
    assert difference.labels(few) == ("d[0]", "d[1]")
    lists = ValueLists(values=[0, 1], most=2)
    size = FunctionInvariant(function=len, label="size")
    total = Marginal(attributes=(), unit=lists.units[0])
    assert size.implies(total, lists) is not None
    assert FunctionInvariant(function=lambda x: 0, label="size").implies(total, lists) is None
    assert size == FunctionInvariant(function=len, label="size")


def test_words() -> None:
    assert in_runs(["08", "09", "10", "11", "13"]) == ["08 to 11", "13"]
    assert in_runs(["1", "2", "3"]) == ["1", "2", "3"]
    assert in_runs(["9", "10", "11", "12"]) == ["9 to 12"]
    assert quoted("a b") == "a b"
    assert all(quoted(name) == f'"{name}"' for name in ("a,b", "1 to 2", "", "x where y"))
    assert conditions_in_words([("age", ("1", "2"))]) == "age in {1, 2}"
    assert str(table("sex", age=("1",))) == "person by sex where age in {1}"
    assert str(table()) == "person total"
