"""Optional parts of spaces: found by inheritance or handed out, with an answer for every space where there is one."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

import pytest

from dpspec.base.errors import IncompatibleBlocksError, NotEnumerableError
from dpspec.blocks.lists import ValueLists
from dpspec.blocks.parts import (
    MOST_RECORDS,
    PLACES_LISTED,
    CellCounts,
    ListedCells,
    Membership,
    Nesting,
    Unnested,
    check_places,
    counting_cells,
    few_cells,
    listed_cells,
    listing_size,
    merged_mentions,
    miniature_of,
    nesting_of,
    order_tried,
    own_attributes,
    resized,
    sizes_of,
    smallest_datasets,
    tabular,
    wording_of,
)
from dpspec.blocks.records import ContingencyTables, Households, OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors, IntegerCounts

SEX, AGE = Attribute(name="sex", categories=("f", "m")), Attribute(name="age", count=3)
PEOPLE = UnorderedRecords(attributes=(SEX, AGE), least=1, most=2)
HOMES = Households(household=(SEX,), person=(AGE,), most=2, members=3)


class Plain(DatasetSpace):
    """A space without parts."""

    name: ClassVar[str] = "plain"

    @property
    def units(self) -> tuple[str, ...]:
        return ("thing",)

    def dataset(self, value: Any) -> Dataset:
        return value  # type: ignore[no-any-return]

    def datasets(self) -> Any:
        return iter(("a", "b"))

    def cardinality(self) -> int:
        return 2

    def magnitude(self, dataset: Dataset) -> int:
        return 1


class Hands(Plain):
    """A space that hands out the cells of another one."""

    name: ClassVar[str] = "hands"

    def parts(self) -> tuple[object, ...]:
        return self, BitVectors(length=2)


def test_parts_are_inherited_handed_out_or_missing() -> None:
    assert CellCounts.found_in(PEOPLE) is PEOPLE
    assert CellCounts.found_in(Hands()) == BitVectors(length=2)
    assert CellCounts.found_in(Plain()) is None
    with pytest.raises(IncompatibleBlocksError, match="no coordinates for a linear map"):
        ListedCells.needed_in(Plain())
    assert counting_cells(Plain()) is None
    assert listed_cells(Plain()) is None
    assert listed_cells(PEOPLE) == tuple((sex, age) for sex in "fm" for age in "012")


def test_every_space_has_some_answers() -> None:
    plain = Plain()
    assert nesting_of(plain) == Unnested(plain)
    assert isinstance(nesting_of(HOMES), Nesting)
    assert [nesting_of(plain).most_within(*units) for units in (("thing", "thing"), ("other", "other"), ("thing", "other"))] == [
        1, None, None,
    ]  # fmt: skip
    assert [nesting_of(HOMES).most_within(*units) for units in (("person", "household"), ("household", "person"))] == [3, None]
    assert wording_of(plain).in_words("a", (1, "b")) == ("a", "(1, b)")
    assert wording_of(plain).extent() == ""
    assert order_tried(plain, "a") == plain.order("a")
    assert miniature_of(plain, {}, 1) is None
    assert Membership.found_in(plain) is None
    assert [a.name for a in own_attributes(HOMES, "person")] == ["age"]
    assert [a.name for a in own_attributes(PEOPLE, "person")] == ["sex", "age"]


def test_sizes_of_datasets() -> None:
    cases: list[tuple[Any, tuple[int, int | None]]] = [
        (PEOPLE, (1, 2)), (UnorderedRecords(attributes=(SEX,)), (0, None)), (BitVectors(length=3), (3, 3)), (Plain(), (0, None)),
        (OrderedRecords(attributes=(SEX,), least=2, most=5), (2, 5)), (HOMES, (0, 2)),
    ]  # fmt: skip
    assert [sizes_of(space) for space, _ in cases] == [sizes for _, sizes in cases]
    assert resized(PEOPLE, 1, 2) is PEOPLE
    assert resized(PEOPLE, 0, 5) == UnorderedRecords(attributes=(SEX, AGE), least=0, most=5)
    assert resized(Plain(), 0, 1) is None


def test_long_datasets_are_listed_slowly_or_not_at_all() -> None:
    assert listing_size(PEOPLE) == PEOPLE.cardinality() == 6 + 21
    one = UnorderedRecords(attributes=(Attribute(name="a", count=1),), most=256)
    assert listing_size(one) == 257 * 2
    assert listing_size(UnorderedRecords(attributes=(Attribute(name="a", count=1),), most=255)) == 256
    assert listing_size(UnorderedRecords(attributes=(SEX,))) is None
    huge = UnorderedRecords(attributes=(SEX,), least=MOST_RECORDS + 1)
    assert list(smallest_datasets(huge)) == []
    assert next(smallest_datasets(PEOPLE)) == (("f", "0"),)
    check_places("x", PLACES_LISTED)
    with pytest.raises(NotEnumerableError):
        check_places("x", PLACES_LISTED + 1)


def test_coordinates_and_counts_agree() -> None:
    for space in (BitVectors(length=3), IntegerCounts(length=2, low=0, high=2), ContingencyTables(attributes=(SEX,), most=2)):
        part: Any = ListedCells.needed_in(space)
        for dataset in space.datasets():
            assert part.from_vector(part.vector(dataset)) == dataset
            counts = part.counts(dataset)
            assert counts == Counter({cell: n for cell, n in zip(part.cells(), part.vector(dataset), strict=True) if n})
            assert part.from_counts(counts) == dataset


def test_tables_and_mentions() -> None:
    assert tabular(PEOPLE).columns() == ("sex", "age")
    assert tabular(PEOPLE).rows((("f", "2"), ("m", "0"))) == (("f", 2), ("m", 0))
    odd = UnorderedRecords(attributes=(Attribute(name="code", categories=("01", "2")),), most=1)
    assert tabular(odd).rows((("01",),)) == (("01",),)  # 01 is no whole number as it is written
    with pytest.raises(IncompatibleBlocksError):
        tabular(Plain()).rows("a")
    merged = merged_mentions([{"a": frozenset("1")}, {"a": frozenset("2"), "b": frozenset()}, {}])
    assert merged == {"a": frozenset("12"), "b": frozenset()}


class Chooser:
    """Chooses the first ones."""

    def number(self, least: int, most: int) -> int:
        return least

    def some(self, items: Any, most: int) -> list[Any]:
        return list(items[:most])

    def places(self, size: int, least: int, most: int, favoured: Any = ()) -> list[int]:
        return list(range(min(size, least)))

    def bags(self, items: Any, longest: int, most: int) -> list[Any]:
        return [tuple(items[:1])]


def test_few_cells() -> None:
    narrow = IntegerCounts(length=3, low=0, high=1)
    assert few_cells(narrow, Chooser(), {}) == listed_cells(narrow)
    wide = IntegerCounts(length=700, low=0, high=1)
    assert len(few_cells(wide, Chooser(), {})) == 2
    assert ValueLists(values=[0, 1]).cardinality() is None
