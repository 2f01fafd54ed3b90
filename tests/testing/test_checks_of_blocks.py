"""Conformance checks of blocks that answer differently in a second call, and of spaces without examples."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from dpspec.base.exact import Number, number
from dpspec.base.params import define
from dpspec.blocks.budget import Budget
from dpspec.blocks.input_divergence import InputDivergence, Relation
from dpspec.blocks.multiverse import Multiverse, Trivial, Universe
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors
from dpspec.testing.check import CheckFailedError, Context, PlacedSubject, Subjects
from dpspec.testing.checks import blocks as checks

BITS = BitVectors(length=2)
DATASETS = tuple(BITS.datasets())


class Restless(Relation, InputDivergence, Budget, Multiverse):
    """Another answer in each call, in whichever way it is asked."""

    name: ClassVar[str] = "test-restless"
    parameter = "epsilon"
    invariants = None

    def __init__(self) -> None:
        self.calls = itertools.count(1)

    def related(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        return next(self.calls) % 2 == 0

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        return number(next(self.calls))

    def at(self, universe: Universe, space: DatasetSpace) -> Number:
        return number(next(self.calls))

    def labels(self, dataset: Dataset, space: DatasetSpace) -> tuple[Any, ...]:
        return (next(self.calls),)


@pytest.mark.parametrize(
    "check",
    [
        checks.check_a_relation_answers_yes_or_no,
        checks.check_distance_is_a_nonnegative_number,
        checks.check_budgets_are_nonnegative_numbers,
        checks.check_universes_hold_the_datasets_of_their_label,
    ],
)
def test_a_second_answer_has_to_be_the_first_one(check: Any) -> None:
    """Engines evaluate some blocks once and others for each pair."""
    context: Context = SimpleNamespace(placed=lambda kind, space: [Trivial()])  # type: ignore[assignment]
    subject = PlacedSubject(thing=Restless(), space=BITS, datasets=DATASETS, compared=DATASETS)
    with pytest.raises(CheckFailedError, match=r"was|were"):
        check(subject, context)


@define
class OneShot(DatasetSpace):
    """Two numbers, which can be listed once; it gives no examples of itself."""

    name: ClassVar[str] = "test-one-shot"
    _list: ClassVar[Iterator[int]] = iter(range(2))

    @property
    def units(self) -> tuple[str, ...]:
        return ()

    def dataset(self, value: Any) -> Dataset:
        return value  # type: ignore[no-any-return]

    def datasets(self) -> Iterator[Dataset]:
        return self._list

    def cardinality(self) -> int:
        return 2

    def magnitude(self, dataset: Dataset) -> int:
        return 1


def test_a_space_that_can_be_listed_once_does_not_conform() -> None:
    """Without examples no space was checked at all."""
    subjects = Subjects(registry=SimpleNamespace(usable=lambda kind: ()))  # type: ignore[arg-type]
    (subject,) = subjects.space_subjects(SimpleNamespace(cls=OneShot))  # type: ignore[arg-type]
    with pytest.raises(CheckFailedError, match="listed at first"):
        checks.check_every_dataset_is_listed_once(subject, SimpleNamespace())  # type: ignore[arg-type]
