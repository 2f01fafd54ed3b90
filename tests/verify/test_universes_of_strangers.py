"""Spaces and multiverses of strangers whose lists change, lie or contradict their labels: no verdict rests on such a list."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from typing import Any, ClassVar

import attrs
import pytest
from dpspec_divergences import Mult

import dpspec as dp
from dpspec.base.errors import NotInSpaceError, PluginContractError
from dpspec.base.exact import Number, number
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.invariant import Invariant
from dpspec.blocks.multiverse import Multiverse, Trivial, Universe, determines
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.law import FiniteLaw
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome
from tests.verify.toys import Toy


@attrs.frozen(eq=False)
class Numbers(DatasetSpace):
    """The numbers from 0 to 3, which a function lists, given how many lists there were before."""

    name: ClassVar[str] = "test-numbers"

    lists: Callable[[int], Any] = lambda before: iter(range(4))
    size: Any = 4
    refused: int | None = None
    asked: Iterator[int] = attrs.field(factory=itertools.count)

    @property
    def units(self) -> tuple[str, ...]:
        return ()

    def dataset(self, value: Any) -> Dataset:
        if value == self.refused:
            raise NotInSpaceError("dataset", "is none", value=value)
        return value  # type: ignore[no-any-return]

    def datasets(self) -> Iterator[Dataset]:
        return self.lists(next(self.asked))  # type: ignore[no-any-return]

    def cardinality(self) -> int | None:
        return self.size  # type: ignore[no-any-return]

    def magnitude(self, dataset: Dataset) -> int:
        return 1


@attrs.frozen(eq=False)
class Gap(InputDivergence):
    """|x - x'|."""

    name: ClassVar[str] = "test-gap"

    def distance(self, left: Any, right: Any, space: DatasetSpace) -> Number:
        return number(abs(left - right))


@attrs.frozen(eq=False)
class Labelled(Multiverse):
    """The universes of a function of the dataset."""

    name: ClassVar[str] = "test-labelled"

    function: Callable[[Any], Any] = lambda x: ("X",)

    @property
    def invariants(self) -> tuple[Invariant, ...] | None:
        return None

    def labels(self, dataset: Dataset, space: DatasetSpace) -> tuple[Hashable, ...]:
        return self.function(dataset)  # type: ignore[no-any-return]


@attrs.frozen(eq=False)
class Listed(Labelled):
    """... with a list of its own."""

    name: ClassVar[str] = "test-listed"

    listed: tuple[Any, ...] = ()

    def universes(self, space: DatasetSpace) -> Iterator[Universe]:
        return iter(self.listed)


LEAK = Toy(lambda x: FiniteLaw.point(x == 3))
"""Tells 3 from the others."""


def claim(space: DatasetSpace | None = None, multiverse: Multiverse | None = None) -> PrivacySpec:
    """One of which the mechanism keeps nothing."""
    return PrivacySpec(
        space=space or Numbers(),
        multiverse=multiverse or Trivial(),
        input_divergence=Gap(),
        output_divergence=Mult(),
        budget=UniformBudget(parameter="epsilon", value=1),
    )


def test_the_claim_is_false() -> None:
    """So that a list with all datasets refutes it, in any order."""
    assert dp.verify(LEAK, claim()).outcome is Outcome.REFUTED
    backwards = Numbers(lists=lambda before: iter([3, 2, 1, 0] if before % 2 else [0, 1, 2, 3]))
    assert dp.verify(LEAK, claim(backwards)).outcome is Outcome.REFUTED


@pytest.mark.parametrize("whole", range(4))
def test_a_list_that_becomes_shorter_verifies_nothing(whole: int) -> None:
    """After some complete lists the space forgets the dataset that leaks."""
    forgetful = Numbers(lists=lambda before: iter(range(4 if before < whole else 3)))
    with suppress(PluginContractError):  # else the list was complete as often as it was read
        assert verify(LEAK, claim(forgetful)).outcome is Outcome.REFUTED


@pytest.mark.parametrize(
    ("space", "says"),
    [
        (Numbers(size=4.0), "no whole number"),
        (Numbers(size=-1), "no whole number"),
        (Numbers(lists=lambda before: ([x] for x in range(4))), "has no hash"),
        (Numbers(refused=3), "lists a dataset that it refuses"),
    ],
    ids=["size 4.0", "size -1", "no hash", "refused"],
)
def test_a_broken_space_is_named(space: Numbers, says: str) -> None:
    """The error was one of Python, or blamed the dataset."""
    with pytest.raises(PluginContractError, match=rf"space test-numbers.*{says}"):
        dp.verify(LEAK, claim(space))


def universe(label: Hashable, *datasets: Any) -> Universe:
    return Universe(label=label, datasets=datasets)


@pytest.mark.parametrize(
    ("listed", "says"),
    [
        ((universe("X", 0, 1, 2), universe("X", 3)), "does not list it there|two universes with the label X"),
        ((universe("X", 0, 1, 2),), "labels 3 with X"),
        ((universe("X", 0, 1, 2, 3, 4),), "lists 4 in the universe X"),
        ((universe("X", 0, 1, 2, 3, 3),), "twice"),
        ((universe("X", 0, 1, 2, 3), universe("X", 0, 1, 2, 3)), "two universes with the label X"),
        ((), "no universe with the label X"),
        (((0, 1, 2, 3),), "no Universe"),
    ],
    ids=["split", "omitted", "foreign", "twice", "same label", "none", "no universe"],
)
def test_a_list_of_universes_has_to_be_that_of_the_labels(listed: tuple[Any, ...], says: str) -> None:
    """The first one was verified, though 2 and 3 share a label."""
    with pytest.raises(PluginContractError, match=rf"multiverse test-listed.*({says})"):
        dp.verify(LEAK, claim(multiverse=Listed(listed=listed)))


def test_a_dataset_that_is_omitted_among_many_is_missed() -> None:
    """Sixty datasets are tried beforehand, and this is none of them."""
    space = Numbers(lists=lambda before: iter(range(2_001)), size=2_001)
    kept = Listed(listed=(universe("X", *(x for x in range(2_001) if x != 3)),))
    with pytest.raises(PluginContractError, match="labels 3 with X"):
        verify(LEAK, claim(space, kept), most_pairs=10)


@pytest.mark.parametrize(
    "labels", [None, "ab", iter(("X",)), (["X"],), ("X", "X")], ids=["none", "text", "generator", "no hash", "twice"]
)
def test_labels_are_a_tuple_of_different_values(labels: Any) -> None:
    """A text was a universe for each character, and a label that comes twice counted each pair four times."""
    with pytest.raises(PluginContractError, match=r"multiverse test-labelled.*no tuple of different values"):
        dp.verify(LEAK, claim(multiverse=Labelled(function=lambda x: labels)))


@attrs.frozen(eq=False)
class Parity(Invariant):
    """Even or odd, and whether it is 3."""

    name: ClassVar[str] = "test-parity"

    finest: bool

    def value(self, dataset: Any, space: DatasetSpace) -> Hashable:
        return (dataset % 2, dataset == 3) if self.finest else dataset % 2


def test_what_holds_on_a_part_of_the_datasets_is_not_decided() -> None:
    """0, 1 and 2 have the parity of no other kind, and the space has a fourth dataset."""
    forgetful = Numbers(lists=lambda before: iter(range(3)))
    assert determines((Parity(finest=False),), (Parity(finest=True),), forgetful).answer is None
    assert determines((Parity(finest=False),), (Parity(finest=True),), Numbers()).answer is False
