"""Two datasets share a level set exactly when they have the same label."""

from __future__ import annotations

import itertools
import random
from types import SimpleNamespace

import pytest

from dpspec.blocks.invariant import LinearMap, Marginal
from dpspec.blocks.multiverse import LevelSets, Multiverse, _Difference
from dpspec.blocks.records import Households, OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace

ATTRIBUTES = (
    Attribute(name="area", categories=("n", "s")),
    Attribute(name="block", count=4, within="area"),
    Attribute(name="sex", categories=("f", "m")),
)
SPACES = [UnorderedRecords(attributes=ATTRIBUTES, most=4), OrderedRecords(attributes=ATTRIBUTES, most=3)]
TABLES = [
    Marginal(attributes=()),
    Marginal(attributes=("sex",)),
    Marginal(attributes=("area", "sex")),
    Marginal(attributes=("block",), where=(("sex", ("f",)),)),
    Marginal(attributes=(), where=(("area", ("n",)), ("sex", ("m",)))),
    Marginal(attributes=("sex", "sex")),
]


def drawn(space: DatasetSpace, seed: int) -> list[Dataset]:
    lot = random.Random(seed)
    known = list(itertools.islice(space.datasets(), 3_000))
    return [*known[:12], *lot.sample(known, 60)]


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
@pytest.mark.parametrize("tables", [TABLES[:1], *itertools.combinations(TABLES[1:], 1), *itertools.combinations(TABLES[1:], 2)])
def test_only_what_differs_is_counted(space: DatasetSpace, tables: tuple[Marginal, ...]) -> None:
    multiverse = LevelSets(invariants=tuple(tables))
    answers = set()
    for x, y in itertools.product(drawn(space, 1), drawn(space, 2)[:24]):
        shared = multiverse.share_universe(x, y, space)
        assert shared is Multiverse.share_universe(multiverse, x, y, space)
        answers.add(shared)
    assert answers == {True, False}


def test_attributes_that_are_exchanged_are_counted_together() -> None:
    """No column of the records changes, but their pairs do."""
    space = UnorderedRecords(attributes=ATTRIBUTES[::2], least=2, most=2)
    left, right = (space.dataset(x) for x in ([["n", "f"], ["s", "m"]], [["n", "m"], ["s", "f"]]))
    each = LevelSets(invariants=(Marginal(attributes=("area",)), Marginal(attributes=("sex",))))
    assert each.share_universe(left, right, space)
    assert not LevelSets(invariants=(Marginal(attributes=("area", "sex")),)).share_universe(left, right, space)


def test_a_table_of_another_kind_is_evaluated() -> None:
    """A derived class may count otherwise."""

    class Parity(Marginal):
        def value(self, dataset: Dataset, space: DatasetSpace) -> int:
            return len(space.records(dataset, self.unit)) % 2

    space = SPACES[0]
    zero, one, two = (space.dataset([["n", "0", "f"]] * number) for number in (0, 1, 2))
    multiverse = LevelSets(invariants=(Parity(attributes=()),))
    assert multiverse.share_universe(zero, two, space)
    assert not multiverse.share_universe(zero, one, space)


def test_tables_of_households_and_of_persons() -> None:
    space = Households(household=ATTRIBUTES[:1], person=ATTRIBUTES[2:], most=2, members=2)
    tables = (
        Marginal(attributes=("area",), unit="household"), Marginal(attributes=("members",), unit="household"),
        Marginal(attributes=("area", "sex"), unit="person"), Marginal(attributes=(), unit="person"),
    )  # fmt: skip
    chosen = random.Random(3).sample(list(space.datasets()), 30)
    for size in (1, 2):
        for some in itertools.combinations(tables, size):
            multiverse, answers = LevelSets(invariants=some), set()
            for x, y in itertools.product(chosen, repeat=2):
                shared = multiverse.share_universe(x, y, space)
                assert shared is Multiverse.share_universe(multiverse, x, y, space)
                answers.add(shared)
            assert answers == {True, False}


def test_linear_maps_beside_tables() -> None:
    space = UnorderedRecords(attributes=ATTRIBUTES[2:], most=3)
    multiverse = LevelSets(invariants=(Marginal(attributes=()), LinearMap(rows=((1, 2),))))
    for x, y in itertools.product(space.datasets(), repeat=2):
        assert multiverse.share_universe(x, y, space) is Multiverse.share_universe(multiverse, x, y, space)


def test_attributes_that_no_record_changes_need_no_count(monkeypatch: pytest.MonkeyPatch) -> None:
    space = UnorderedRecords(attributes=tuple(Attribute(name=f"a{k}", count=3) for k in range(200)), least=1, most=2)
    left, right = (space.dataset([[str(first), *["0"] * 199]]) for first in (0, 1))
    found = _Difference.between(left, right, "person", space)
    assert found.kept == {f"a{k}" for k in range(1, 200)}
    monkeypatch.setattr(Marginal, "counts_alike", lambda *_: pytest.fail("counted"))
    unchanged = tuple(Marginal(attributes=(f"a{k}", f"a{k + 1}")) for k in range(1, 199))
    assert LevelSets(invariants=unchanged).share_universe(left, right, space)


def test_records_that_are_shorter_than_described_are_counted() -> None:
    """A space may describe attributes that not all of its records have."""
    space = SimpleNamespace(records=lambda dataset, _: dataset, attributes_of=lambda _: ATTRIBUTES)
    assert _Difference.between((("n",),), (("n", "0", "f"),), "person", space).kept == frozenset()
