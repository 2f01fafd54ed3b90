"""Members of a record that changes: the ways in which counts of cells may change, against all small households."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from dpspec.blocks.invariant import Marginal
from dpspec.blocks.records import Households
from dpspec.blocks.space import Attribute
from dpspec.grammar.views import Bounded, Contribution, NoisyCount, View
from dpspec.laws.integers import TwoSidedGeometricLaw
from dpspec.verifier.members import MemberView, outer_part, partitions

PLACE, SEX, AGE = (Attribute(name=name, categories=categories) for name, categories in (
    ("place", ("n", "s")), ("sex", ("f", "m")), ("age", ("1", "2", "3")),
))  # fmt: skip
HOMES = Households(household=(PLACE,), person=(SEX, AGE), most=2, members=3)


def noise(count: int) -> TwoSidedGeometricLaw:
    return TwoSidedGeometricLaw(count, 1)


def view(*attributes: str, **where: tuple[str, ...]) -> NoisyCount:
    return NoisyCount(table=Marginal(attributes=attributes, unit="person", where=tuple(where.items())), noise=noise)


@pytest.mark.parametrize("number", range(7))
@pytest.mark.parametrize("parts", range(4))
@pytest.mark.parametrize("largest", [1, 2, 4])
def test_partitions_are_all_sums_once(number: int, parts: int, largest: int) -> None:
    every = {
        tuple(sorted((n for n in chosen if n), reverse=True))
        for chosen in itertools.product(range(largest + 1), repeat=parts) if sum(chosen) == number
    }  # fmt: skip
    found = partitions(number, parts, largest)
    assert set(found) == every
    assert len(found) == len(every)


Members = tuple[tuple[str, ...], ...]


def changes_of(table: Marginal, before: Members | None, after: Members | None) -> tuple[int, ...]:
    """The changes of the counts of cells, in order, when the members of a household become others."""
    names, where = {"sex": 0, "age": 1}, dict(table.where)

    def counts(members: Members | None) -> Counter[tuple[str, ...]]:
        kept = (m for m in members or () if all(m[names[a]] in c for a, c in where.items()))
        return Counter(tuple(m[names[a]] for a in table.attributes) for m in kept)

    ours, theirs = counts(before), counts(after)
    return tuple(sorted(theirs[cell] - ours[cell] for cell in {*ours, *theirs} if theirs[cell] != ours[cell]))


MEMBERS = list(itertools.product(SEX.values(), AGE.values()))
HOUSEHOLDS = [home for size in range(1, 4) for home in itertools.combinations_with_replacement(MEMBERS, size)]


def dominated(change: tuple[int, ...], listed: list[tuple[int, ...]]) -> bool:
    """Whether some listed change moves as many cells by as much in the same direction."""
    for other in listed:
        for sign in (1, -1):
            ours, theirs = (sorted((sign * n for n in held if sign * n > 0), reverse=True) for held in (change, other))
            if len(ours) > len(theirs) or any(a > b for a, b in zip(ours, theirs, strict=False)):
                break
        else:
            return True
    return False


@pytest.mark.parametrize("counted", [view("sex"), view("sex", "age"), view(), view("age", sex=("f",)), view(age=("1",))])
def test_every_change_of_a_household_is_listed_or_dominated(counted: View) -> None:
    found = MemberView.of(counted, HOMES, "household")
    assert found is not None
    added = found.changes((True, True, True), kept=False, is_added=True)
    replaced = found.changes((True, True, True), kept=False, is_added=False)
    for home in HOUSEHOLDS:
        assert dominated(changes_of(counted.table, None, home), added), home
    for before, after in itertools.product(HOUSEHOLDS[::3], HOUSEHOLDS):
        assert dominated(changes_of(counted.table, before, after), replaced), (before, after)
    assert found.changes((False, False, True), kept=False, is_added=True) == [()]
    gone = found.changes((True, False, False), kept=False, is_added=False)
    assert all(n < 0 for change in gone for n in change)
    assert all(n > 0 for change in found.changes((False, True, False), kept=False, is_added=False) for n in change)


def test_members_that_stay_what_they_are() -> None:
    found = MemberView.of(view("sex"), HOMES, "household")
    assert found is not None
    assert found.changes((True, True, True), kept=True, is_added=False) == [()]
    moved = found.changes((True, True, False), kept=True, is_added=False)
    assert all(sorted(-n for n in change) == sorted(change) for change in moved)
    assert (-2, -1, 1, 2) in moved
    lost = found.changes((True, False, False), kept=True, is_added=False)
    assert lost
    assert all(n < 0 for change in lost for n in change)


def test_how_many_members_count() -> None:
    endless = Households(household=(PLACE,), person=(SEX, AGE), most=2)
    assert MemberView.of(view("sex"), endless, "household") is None
    for contribution, most, cells, in_cell in (
        (Contribution(most=2), 2, 4, 2),  # of 6 cells, two members leave at most two and enter two others
        (Contribution(in_cell=1, by=("sex", "age")), 6, 6, 1), (Contribution(in_cell=2, by=("sex", "age")), 12, 6, 2),
        (Contribution(most=4, in_cell=1, by=("sex", "age")), 4, 6, 1),
    ):  # fmt: skip
        found = MemberView.of(Bounded(view("sex", "age"), contribution), endless, "household")
        assert found is not None
        assert (found.most, found.cells, found.in_cell) == (most, cells, in_cell)


def test_the_part_of_a_table_that_concerns_the_household() -> None:
    table = Marginal(attributes=("place", "sex"), unit="person", where=(("place", ("n",)), ("age", ("1",))))
    assert outer_part(table, HOMES, "household") == Marginal(attributes=("place",), unit="household", where=(("place", ("n",)),))
