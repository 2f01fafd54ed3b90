"""Attributes: categories, parents and recodings, against what is written out."""

from __future__ import annotations

import itertools

import pytest

from dpspec.base.errors import IncompatibleBlocksError, NotInSpaceError, ParameterError
from dpspec.blocks.records import OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute, exchanged_records, pair_of_records, presented, range_in_words
from dpspec.blocks.vectors import BitVectors

STATE = Attribute(name="state", categories=("n", "s", "w"))


@pytest.mark.parametrize("count", [3, 4, 7, 9])
def test_categories_are_dealt_out_evenly_and_in_order(count: int) -> None:
    county = Attribute(name="county", count=count, within="state")
    parents = [county.parent(str(place), STATE) for place in range(count)]
    assert parents == sorted(parents, key=STATE.index)
    sizes = [parents.count(state) for state in STATE.values()]
    assert sum(sizes) == count
    assert max(sizes) - min(sizes) <= 1
    for state in STATE.values():
        assert list(county.children(state, STATE)) == [str(place) for place in range(count) if parents[place] == state]


def test_named_parents() -> None:
    county = Attribute(name="county", categories=("a", "b", "c"), within="state", parents=("s", "n", "s"))
    assert [county.parent(c, STATE) for c in "abc"] == ["s", "n", "s"]
    assert list(county.children("s", STATE)) == ["a", "c"]
    kept = county.restricted(("c", "b"), STATE)
    assert (kept.categories, kept.parents) == (("c", "b"), ("s", "n"))
    assert STATE.restricted(("w",), None).categories == ("w",)


def test_places_and_categories_are_inverse() -> None:
    age = Attribute(name="age", count=5)
    for attribute in (STATE, age):
        assert [attribute.category(attribute.index(c)) for c in attribute.values()] == list(attribute.values())
        assert attribute.size == len(list(attribute.values()))
    for wrong in ("5", "-1", "01", " 1", "x", 5, True):
        with pytest.raises(NotInSpaceError):
            age.index(wrong)
    assert age.index(4) == age.index("4") == 4
    with pytest.raises(NotInSpaceError):
        STATE.index("N")


def test_an_attribute_is_declared_once_and_whole() -> None:
    for wrong in (
        {}, {"categories": ("a",), "count": 1}, {"categories": ("a", "a")}, {"categories": ("a",), "parents": ("x",)},
        {"categories": ("a", "b"), "within": "state", "parents": ("n",)},
    ):  # fmt: skip
        with pytest.raises(ParameterError):
            Attribute(name="it", **wrong)  # type: ignore[arg-type]  # some are wrong


def test_one_attribute_has_all_categories_of_another() -> None:
    few, more = Attribute(name="age", categories=("0", "3")), Attribute(name="age", count=5)
    assert more.includes(few)
    assert not few.includes(more)
    assert Attribute(name="age", count=6).includes(more)
    assert not more.includes(Attribute(name="age", count=6))
    assert not more.includes(Attribute(name="sex", categories=("0",)))
    assert not more.includes(Attribute(name="age", categories=("0", "5")))
    nested = Attribute(name="age", categories=("0",), within="state", parents=("n",))
    assert not more.includes(nested)
    assert nested.includes(nested)


@pytest.mark.parametrize(
    ("recode", "found"),
    [
        ((("..17", "minor"),
        ("18..", "adult")), {"-5": "minor", "17": "minor", "17.0": "minor", "17.5": None, "18": "adult", "x": None}),
        ((("..<18", "minor"), ("18..", "adult")), {"17.999": "minor", "18": "adult", "1e1": "minor", "": None}),
        ((("0..17", "minor"), ("18..<65", "adult")), {"-1": None, "0": "minor", "64.9": "adult", "65": None, "+3": "minor"}),
    ],
)
def test_values_in_a_range(recode: tuple[tuple[str, str], ...], found: dict[str, str | None]) -> None:
    ages = Attribute(name="age", categories=("minor", "adult"), recode=recode)
    assert {written: ages.band(written) for written in found} == found
    assert ages == Attribute(name="age", categories=("minor", "adult"))


def test_ranges_that_overlap_or_are_empty_are_refused() -> None:
    for wrong in (
        (("..18", "minor"), ("18..", "adult")), (("0..17", "minor"), ("10..", "adult")), (("5..4", "minor"),),
        (("5..<5", "minor"),),
        (("..<", "minor"),), (("0..1", "old"),), (("..17", "minor"), ("..20", "adult")),
    ):  # fmt: skip
        with pytest.raises(ParameterError):
            Attribute(name="age", categories=("minor", "adult"), recode=wrong)
    touching = Attribute(name="age", categories=("minor", "adult"), recode=(("0..<18", "minor"), ("18..18", "adult")))
    assert [touching.band(written) for written in ("17.9", "18", "18.1")] == ["minor", "adult", None]
    single = Attribute(name="sex", categories=("f", "m"), recode=(("1", "m"), ("2", "f"), ("", "f")), column="SEX")
    assert single.exact_recodes() == {"1": "m", "2": "f", "": "f"}
    assert single.source == "SEX"


def test_the_records_that_two_datasets_exchange() -> None:
    sex = (Attribute(name="sex", categories=("f", "m")),)
    for space in (UnorderedRecords(attributes=sex, most=3), OrderedRecords(attributes=sex, most=3)):
        for x, y in itertools.product(space.datasets(), repeat=2):
            gone, come = exchanged_records(x, y, "person", space)
            ours, theirs = list(space.records(x, "person")), list(space.records(y, "person"))
            for record in gone:
                ours.remove(record)
            for record in come:
                theirs.remove(record)
            assert sorted(ours) == sorted(theirs)
            assert not set(gone) & set(come)


def test_units_and_orders() -> None:
    bits = BitVectors(length=2)
    with pytest.raises(IncompatibleBlocksError, match="household"):
        bits.check_unit("household")
    people = UnorderedRecords(attributes=(STATE,), most=2)
    listed = list(people.datasets())
    assert sorted(listed, key=people.order) == listed
    assert [people.magnitude(x) for x in listed] == sorted(people.magnitude(x) for x in listed)
    assert bits.includes(BitVectors(length=2)) == "the same dataset space"
    assert bits.includes(BitVectors(length=3)) is None


def test_functions_get_fresh_lists() -> None:
    nested = (("a", 1), ("b", 2))
    shown = presented(nested)
    assert [list(part) if isinstance(part, (list, tuple)) else part for part in shown] == [["a", 1], ["b", 2]]
    assert isinstance(shown, list)
    assert presented(nested) is not presented(nested)


def test_datasets_in_words() -> None:
    assert (range_in_words(0, None), range_in_words(2, 2)) != (range_in_words(2, None), range_in_words(0, 2))
    left, right = pair_of_records((("n",), ("n",), ("s",)), (("n",),), (STATE,), "person")
    assert left != right
    assert "n" in left
