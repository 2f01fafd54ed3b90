"""Multisets of records: counted, listed and read as itertools lists them, and made smaller without losing what is mentioned."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest

from dpspec.base.errors import NotInSpaceError, ParameterError
from dpspec.blocks.multisets import (
    MOST_WRITTEN,
    all_records,
    check_attributes,
    check_size,
    check_sizes,
    children,
    combined,
    count_records,
    first_names,
    further_cells,
    include_attributes,
    include_sizes,
    multisets_between,
    multisets_of,
    read_record,
    read_records,
    reduced_sizes,
    renamed_records,
    repeated,
    restrict_attributes,
    sequences_between,
    sequences_of,
)
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute

STATE = Attribute(name="state", categories=("n", "s"))
COUNTY = Attribute(name="county", count=4, within="state")
SEX = Attribute(name="sex", categories=("f", "m", "x"))
ATTRIBUTES = (STATE, COUNTY, SEX)


@pytest.mark.parametrize("kinds", [1, 2, 4])
@pytest.mark.parametrize(("least", "most"), [(0, 0), (0, 2), (1, 3), (3, 3)])
def test_multisets_and_sequences_are_counted_and_listed(kinds: int, least: int, most: int) -> None:
    sizes, letters = range(least, most + 1), "abcd"[:kinds]
    for count, listed, direct in (
        (multisets_between, multisets_of, itertools.combinations_with_replacement),
        (sequences_between, lambda of, size: sequences_of(lambda: of, size), None),
    ):
        every: list[list[Any]] = []
        for size in sizes:
            wanted = list(direct(letters, size)) if direct else list(itertools.product(letters, repeat=size))
            assert list(listed(iter(letters), size) if direct else sequences_of(lambda: iter(letters), size)) == wanted
            every += [list(one) for one in wanted]
        assert count(kinds, least, most) == len(every)


def test_kinds_are_read_only_as_far_as_needed() -> None:
    endless = itertools.count()
    assert list(itertools.islice(multisets_of(endless, 2), 4)) == [(0, 0), (0, 1), (0, 2), (0, 3)]
    assert next(endless) <= 5
    assert list(multisets_of(iter(""), 0)) == [()]
    assert list(multisets_of(iter(""), 1)) == []
    assert list(sequences_of(lambda: iter(""), 1)) == []
    space = UnorderedRecords(attributes=(Attribute(name="a", count=3),), least=1, most=2)
    assert space.cardinality() == len(list(space.datasets())) == 9


def test_ranges_of_sizes() -> None:
    for size in (1, 2, 3):
        check_size("x", size, 1, 3)
    check_size("x", 10**9, 1, None)
    for size, least, most in ((0, 1, 3), (4, 1, 3), (0, 1, None)):
        with pytest.raises(NotInSpaceError):
            check_size("x", size, least, most)
    check_sizes(2, 2)
    with pytest.raises(ParameterError):
        check_sizes(3, 2)
    assert [reduced_sizes(*given, 4) for given in ((0, None), (9, None), (9, 9), (0, 3), (2, 2))] == [
        (0, 4), (2, 4), (3, 3), (0, 3), (2, 2),
    ]  # fmt: skip
    assert include_sizes((0, None), (2, None))
    assert include_sizes((0, 3), (0, 3))
    assert not include_sizes((0, 3), (0, None))
    assert not include_sizes((0, 3), (0, 4))
    assert not include_sizes((1, 3), (0, 3))


def test_counts_become_cells_and_back() -> None:
    assert repeated({"b": 1, "a": 2, "c": 0}, "x") == ("a", "a", "b")
    with pytest.raises(NotInSpaceError):
        repeated({"a": -1}, "x")
    assert further_cells([("a",), ("a", "b")], 4, 1, None) == ("a", "a", "a")
    assert further_cells([(), ()], 4, 1, None) is None
    assert further_cells([(), ()], 4, 1, "z") == ("z",) * 4
    assert further_cells([(), ()], MOST_WRITTEN // 2, 2, "z") is not None
    assert further_cells([(), ()], MOST_WRITTEN // 2 + 1, 2, "z") is None
    space = UnorderedRecords(attributes=(SEX,), least=1, most=3)
    for dataset in space.datasets():
        assert space.from_vector(space.vector(dataset)) == dataset
        assert space.from_counts(space.counts(dataset)) == dataset
        assert space.counts(dataset) == Counter(dataset)  # type: ignore[arg-type]  # a tuple of records
    for vector in ((0, 0, 0), (4, 0, 0), (-1, 1, 1)):
        with pytest.raises(NotInSpaceError):
            space.from_vector(vector)


def test_pairs_that_differ_in_given_records_have_the_least_size() -> None:
    space = UnorderedRecords(attributes=(SEX,), least=3, most=5)
    f, m = ("f",), ("m",)
    (pair,) = space.differing("person", (f,), (m,))
    assert tuple(map(Counter, pair)) == (Counter({f: 3}), Counter({f: 2, m: 1}))
    (grown,) = space.differing("person", (), (m,))
    assert tuple(map(len, grown)) == (3, 4)
    assert list(space.differing("household", (f,), (m,))) == []


def test_all_records_are_consistent_and_counted() -> None:
    records = list(all_records(ATTRIBUTES))
    every = [
        record for record in itertools.product(STATE.values(), COUNTY.values(), SEX.values())
        if COUNTY.parent(record[1], STATE) == record[0]
    ]  # fmt: skip
    assert records == every
    assert count_records(ATTRIBUTES) == len(every)
    assert list(all_records(())) == [()]
    town = Attribute(name="town", categories=("a", "b", "c"), within="state", parents=("n", "s", "s"))
    both = (STATE, COUNTY, town, SEX)
    assert count_records(both) == len(list(all_records(both))) == (2 * 1 + 2 * 2) * 3
    assert [list(children(COUNTY, state, STATE)) for state in STATE.values()] == [[0, 1], [2, 3]]
    assert [list(children(town, state, STATE)) for state in STATE.values()] == [[0], [1, 2]]


def test_attributes_come_after_what_contains_them_and_fill_it() -> None:
    check_attributes(ATTRIBUTES)
    few = Attribute(name="county", count=1, within="state")
    gap = Attribute(name="county", categories=("a", "b"), within="state", parents=("n", "n"))
    for wrong in ((COUNTY, STATE), (STATE, STATE), (STATE, few), (STATE, gap)):
        with pytest.raises(ParameterError):
            check_attributes(wrong)


def test_records_are_read_whole_and_consistent() -> None:
    assert read_record({"sex": "f", "county": 2, "state": "s"}, ATTRIBUTES) == ("s", "2", "f")
    assert read_records([("s", "2", "f"), ["n", "0", "m"]], ATTRIBUTES) == (("s", "2", "f"), ("n", "0", "m"))
    wrong: list[Any] = [
        ("n", "2", "f"), ("n", "0"), ("n", "0", None), ("n", 0.0, "f"), ("n", True, "f"),
        "n0f", {"state": "n"}, 5, ("n", "4", "f"),
        {"state": "n", "county": "0", "sex": "f", "age": 1},
    ]  # fmt: skip
    for value in wrong:
        with pytest.raises(NotInSpaceError):
            read_record(value, ATTRIBUTES)


@pytest.mark.parametrize(
    "mentioned",
    [{}, {"sex": frozenset("m")}, {"county": frozenset("3")}, {"sex": frozenset("fx"), "state": frozenset()}],
)
def test_a_smaller_space_keeps_what_is_mentioned(mentioned: dict[str, frozenset[str]]) -> None:
    small = restrict_attributes(ATTRIBUTES, mentioned)
    check_attributes(small)
    records = set(all_records(small))
    assert records <= set(all_records(ATTRIBUTES))
    for place, attribute in enumerate(ATTRIBUTES):
        found = {str(record[place]) for record in records}
        assert mentioned.get(attribute.name, frozenset()) <= found
        assert len(found) >= (2 if attribute.name in mentioned else 1)
    if not mentioned:
        assert len(records) == 1


def test_larger_attributes_include_smaller_ones() -> None:
    few = (STATE, COUNTY, Attribute(name="sex", categories=("f", "m")))
    assert include_attributes(ATTRIBUTES, few)
    assert not include_attributes(few, ATTRIBUTES)
    assert not include_attributes(ATTRIBUTES, ATTRIBUTES[:2])


def test_combinations_of_what_some_records_have() -> None:
    given = [("n", "1", "f"), ("s", "2", "m")]
    assert set(combined(given, ATTRIBUTES)) == {(s, c, x) for s, c in (("n", "1"), ("s", "2")) for x in "fm"}


def test_new_names_are_the_first_ones_and_one_to_one() -> None:
    left, right = [("s", "3", "x"), ("s", "2", "m")], [("s", "3", "m")]
    plain, *merged = renamed_records(left, right, ATTRIBUTES)
    assert plain == ((("n", "1", "m"), ("n", "0", "f")), (("n", "1", "f"),))
    assert len(merged) == 3
    for one, other in merged:
        assert {*one, *other} <= set(all_records(ATTRIBUTES))
    single = first_names([*left, *right], ATTRIBUTES, "sex")
    assert {record[2] for record in single.values()} == {"f"}
