"""Distributions of data, as they are written in a file: by list, or record by record."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, cast

from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import IncompatibleBlocksError, NotEnumerableError, ParameterError
from dpspec.laws.finite import FiniteLaw
from dpspec.params import Data, Integer, Items, Nested, Rational, Text, define

LISTED = 1 << 14
"""A product of independent records may have at most this many datasets."""


@define
class Chance:
    """A value (a dataset, or one record of it) with its probability.

    Args:
        value: the value, as it is written in a file.
        probability: its probability.
    """

    value: Annotated[Any, Data()]
    probability: Annotated[Fraction, Rational(0, 1)]


@define
class IndependentRecords:
    """Records that are drawn independently from one law.

    Args:
        record: the law of one record.
        times: how many records are drawn from it.
    """

    record: Annotated[tuple[Chance, ...], Items(Nested(Chance), least=1)]
    times: Annotated[int, Integer(1)] = 1

    def __attrs_post_init__(self) -> None:
        _table(self.record, "record")


@define
class DataLaw:
    """A distribution over the datasets of a space: a prior, or what generates the data.

    Args:
        label: what it is called.
        listed: every dataset of positive probability with its probability, or
        independent: the records in order, each independent of the others: nothing of the size of the space is listed.

    Raises:
        ParameterError: unless exactly one of the two is given, or when a value stands twice.
        NotALaw: when the probabilities do not sum to exactly 1.

    >>> from dpspec.blocks.vectors import BitVectors
    >>> coin = {"record": [{"value": 0, "probability": "3/4"}, {"value": 1, "probability": "1/4"}], "times": 2}
    >>> DataLaw(label="two coins", independent=[coin]).law(BitVectors(length=2))
    FiniteLaw({(0, 0): 9/16, (0, 1): 3/16, (1, 0): 3/16, (1, 1): 1/16})
    """

    label: Annotated[str, Text()]
    listed: Annotated[tuple[Chance, ...], Items(Nested(Chance))] = ()
    independent: Annotated[tuple[IndependentRecords, ...], Items(Nested(IndependentRecords))] = ()

    def __attrs_post_init__(self) -> None:
        if bool(self.listed) == bool(self.independent):
            raise ParameterError(f"data law {self.label}", "needs either a list of datasets or independent records", "give one")
        if self.listed:
            _table(self.listed, self.label)

    def law(self, base: DatasetSpace) -> FiniteLaw:
        """The distribution over the datasets of a space.

        Raises:
            NotInSpaceError: when a dataset is none of the space.
            NotEnumerableError: when a product has more than 16,384 datasets.
        """
        return _law(self, base)

    def __str__(self) -> str:
        return self.label


@lru_cache(maxsize=256)
def _law(data: DataLaw, base: DatasetSpace) -> FiniteLaw:
    if data.listed:
        return _table(data.listed, data.label).push_forward(base.dataset)
    records = sum(part.times for part in data.independent)
    if records > LISTED:
        raise NotEnumerableError(f"data law {data.label}", f"draws more than {LISTED} records", "take fewer", value=records)
    size = math.prod(len(part.record) ** part.times for part in data.independent)
    if size > LISTED:
        raise NotEnumerableError(f"data law {data.label}", f"has more than {LISTED} datasets", "take fewer records")
    rows = [part.record for part in data.independent for _ in range(part.times)]
    return FiniteLaw.product([_table(row, data.label) for row in rows]).push_forward(base.dataset)


def _table(rows: Iterable[Chance], subject: str) -> FiniteLaw:
    probabilities: dict[Dataset, Fraction] = {}
    for row in rows:
        if row.value in probabilities:
            raise ParameterError(subject, "gives a probability twice", "list each value once", value=row.value)
        probabilities[row.value] = row.probability
    return FiniteLaw.of(dict(probabilities))


@define
class Event:
    """Something that is true of some datasets: a secret, or what an attacker knows.

    Args:
        label: what it is called.
        position: a place in the dataset (the first is 0), whose record is one of
        values: these values; or
        datasets: all datasets of which it is true. Without any of these it is always true.

    >>> from dpspec.blocks.vectors import BitVectors
    >>> Event(label="the second is ill", position=1, values=[1]).holds((0, 1), BitVectors(length=2))
    True
    """

    label: Annotated[str, Text()]
    position: Annotated[int, Integer(0)] | None = None
    values: Annotated[tuple[Any, ...], Items(Data())] = ()
    datasets: Annotated[tuple[Dataset, ...], Items(Data())] = ()

    def __attrs_post_init__(self) -> None:
        if (self.position is None) != (not self.values) or (self.values and self.datasets):
            rule = "is told by a position with values, or by a list of datasets"
            raise ParameterError(f"event {self.label}", rule, "give one of the two")

    def check(self, base: DatasetSpace) -> None:
        """Raise IncompatibleBlocksError or NotInSpaceError when the event means nothing on the space."""
        if self.position is not None and not base.is_ordered:
            rule = f"names a position, and the datasets of {base.name} have none"
            raise IncompatibleBlocksError(f"event {self.label}", rule, "list the datasets", value=self.position)
        for dataset in self.datasets:
            base.dataset(dataset)

    def holds(self, dataset: Dataset, base: DatasetSpace) -> bool:
        """Whether it is true of a dataset; a dataset without the position has none of the values."""
        if self.position is not None:
            records = cast("tuple[Any, ...]", dataset)
            return self.position < len(records) and records[self.position] in self.values
        return not self.datasets or dataset in map(base.dataset, self.datasets)

    def __str__(self) -> str:
        return self.label


def conditioned(law: FiniteLaw, events: Iterable[Event], base: DatasetSpace) -> FiniteLaw | None:
    """The law given that all events are true; None when that has probability 0."""
    known = tuple(events)
    weights = {x: weight for x, weight in law.weights.items() if all(event.holds(x, base) for event in known)}
    return FiniteLaw.from_weights(weights) if weights else None
