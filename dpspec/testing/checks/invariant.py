"""Checks of invariants: on all datasets of small spaces."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from dpspec.blocks.space import Dataset
from dpspec.errors import DpspecError
from dpspec.testing.check import Context, NotApplicable, PlacedSubject, check, require

KIND = "invariants"


@check(KIND)
def check_value_is_the_same_every_time(subject: PlacedSubject, context: Context) -> None:
    """c(x) is a function of the dataset, and hashable (B-D7). Otherwise the universes change while they are walked."""
    for x in subject.datasets:
        first, second = subject.thing.value(x, subject.space), subject.thing.value(x, subject.space)
        require(first == second, f"c({x}) was {first!r}, then {second!r}")
        require(_hashable(first), f"c({x}) = {first!r} is not hashable")


def _hashable(value: object) -> bool:
    try:
        return isinstance(hash(value), int)
    except TypeError:
        return False


@check(KIND)
def check_level_sets_partition_the_space(subject: PlacedSubject, context: Context) -> None:
    """Equality of values is an equivalence, so that every dataset lies in exactly one level set (B-D7)."""
    values = [subject.thing.value(x, subject.space) for x in subject.datasets]
    for value in values:
        members = [other for other in values if other == value]
        alike = all(one == two for one in members for two in members)
        require(alike, f"{value!r} equals two values that differ from each other: {members!r}")


@check(KIND)
def check_implication_holds_on_every_dataset(subject: PlacedSubject, context: Context) -> None:
    """`implies(other)`: c(x) = c(x') gives other(x) = other(x') on the space. The order of multiverses rests on it (B-T22)."""
    for other in context.placed(KIND, subject.space):
        reason = subject.thing.implies(other, subject.space)
        if reason is not None:
            pair = _counterexample(subject, lambda x, other=other: other.value(x, subject.space))  # type: ignore[misc]
            require(pair is None, f"{pair} agree, and differ in {other}, in spite of: {reason}")


@check(KIND)
def check_matrix_carries_the_same_information(subject: PlacedSubject, context: Context) -> None:
    """`matrix`: its products with the dataset's vector and c determine each other. Linear algebra decides for c by it."""
    rows = subject.thing.matrix(subject.space)
    if rows is None:
        raise NotApplicable("it has no matrix")
    products = {x: _products(rows, subject.space.vector(x)) for x in subject.datasets}
    pair = _counterexample(subject, products.__getitem__)
    require(pair is None, f"{pair} agree, and differ under the matrix {rows}")
    seen: dict[Any, Dataset] = {}
    for x in subject.datasets:
        twin = seen.setdefault(products[x], x)
        same = subject.thing.value(x, subject.space) == subject.thing.value(twin, subject.space)
        require(same, f"{twin} and {x} agree under the matrix {rows}, and differ themselves")


def _products(rows: Any, vector: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sum(a * v for a, v in zip(row, vector, strict=True)) for row in rows)


@check(KIND)
def check_answers_are_integers_with_labels(subject: PlacedSubject, context: Context) -> None:
    """`answers`: integers, as many for every dataset as there are `labels`. Noise is added to them entry by entry."""
    try:
        labels = subject.thing.labels(subject.space)
    except DpspecError as refusal:
        raise NotApplicable(str(refusal)) from refusal
    for x in subject.datasets:
        answers = subject.thing.answers(x, subject.space)
        require(len(answers) == len(labels), f"{len(answers)} answers for {x}, {len(labels)} labels")
        require(all(type(answer) is int for answer in answers), f"answers {answers!r} for {x} are not all integers")


def _counterexample(subject: PlacedSubject, coarse: Callable[[Dataset], Hashable]) -> tuple[Dataset, Dataset] | None:
    """Two datasets with equal values of the invariant on which the function differs."""
    seen: dict[Hashable, Dataset] = {}
    for x in subject.datasets:
        twin = seen.setdefault(subject.thing.value(x, subject.space), x)
        if coarse(twin) != coarse(x):
            return twin, x
    return None
