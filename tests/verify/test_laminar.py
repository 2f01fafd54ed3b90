"""Laminar parts of tables: cells are disjoint or nested, seen against the cells of all records."""

from __future__ import annotations

import itertools

import pytest

from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multisets import all_records
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.verifier.laminar import MOST_FAMILIES, laminar_parts, with_outer

ATTRIBUTES = (
    Attribute(name="state", categories=("n", "s")),
    Attribute(name="county", count=4, within="state"),
    Attribute(name="sex", categories=("f", "m")),
    Attribute(name="age", categories=("1", "2", "3")),
)
SEX = ATTRIBUTES[2].categories
SPACE = UnorderedRecords(attributes=ATTRIBUTES, most=4)
RECORDS = list(all_records(ATTRIBUTES))
PLACES = {attribute.name: place for place, attribute in enumerate(ATTRIBUTES)}


def table(*attributes: str, **where: tuple[str, ...]) -> Marginal:
    return Marginal(attributes=attributes, where=tuple(where.items()))


TABLES = [
    table(), table("state"), table("county"), table("sex"), table("state", "sex"), table("sex", "age"), table(sex=("f",)),
    table("state", age=("1", "2")), table("county", age=("1",)), table(age=("1", "2")), table(age=("2", "3")), table(age=("3",)),
    table("sex", age=("3",)), table("age", sex=("f", "m")),
]  # fmt: skip


def cells(one: Marginal) -> list[frozenset[int]]:
    """The records of each cell, listed."""
    found: dict[tuple[object, ...], set[int]] = {}
    for number, record in enumerate(RECORDS):
        if all(record[PLACES[name]] in categories for name, categories in one.where):
            found.setdefault(tuple(record[PLACES[name]] for name in one.attributes), set()).add(number)
    return [frozenset(held) for held in found.values()]


def is_laminar(tables: tuple[Marginal, ...]) -> bool:
    every = [cell for one in tables for cell in cells(one)]
    return all(not (a & b) or a <= b or b <= a for a, b in itertools.combinations(every, 2))


@pytest.mark.parametrize("size", [2, 3])
def test_parts_are_laminar_and_nothing_can_be_added(size: int) -> None:
    split = 0
    for chosen in itertools.combinations(TABLES, size):
        parts = laminar_parts(chosen, SPACE, "person")
        split += len(parts) > 1
        for part in parts:
            assert is_laminar(part), part
            if size == 2 and len(part) == 1 and not any(len(c) == len(SEX) for one in chosen for _, c in one.where):
                assert not is_laminar(chosen), chosen  # a condition that every record meets is not seen to be none
        assert set(itertools.chain(*parts)) == set(chosen)
        assert len({frozenset(part) for part in parts}) == len(parts)
    assert split > 10


def test_a_laminar_family_is_one_part_and_without_tables_the_empty_one() -> None:
    assert laminar_parts((), SPACE, "person") == [()]
    chain = (table(), table("state"), table("county"))
    assert laminar_parts(chain, SPACE, "person") == [chain]


def test_tables_that_cannot_matter_are_put_where_they_fit() -> None:
    sex, state, age = table("sex"), table("state"), table("age")
    parts = laminar_parts((sex, state, age), SPACE, "person", lambda one: one == sex)
    assert all(is_laminar(part) for part in parts)
    assert (sex,) in parts
    nested = laminar_parts((sex, table(sex=("f",))), SPACE, "person", lambda one: one == sex)
    assert nested == [(sex, table(sex=("f",)))]


def test_the_number_of_parts_is_limited() -> None:
    many = tuple(Attribute(name=f"a{place}", categories=("x", "y")) for place in range(14))
    crossing = [table(a.name) for a in many] + [table(a.name, **{a.name: ("x",)}) for a in many]
    parts = laminar_parts(crossing, UnorderedRecords(attributes=many, most=2), "person")
    assert 1 < len(parts) <= MOST_FAMILIES


def test_outer_attributes() -> None:
    known = {a.name: a for a in ATTRIBUTES}
    assert with_outer(["county", "sex"], known) == {"county", "state", "sex"}
    assert with_outer([], known) == set()
