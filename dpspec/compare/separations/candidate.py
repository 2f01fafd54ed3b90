"""What a family proposes: a mechanism, the argument that it satisfies the premise, and a pair on which the other one fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

import attrs

from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.laws.answers import Answers
from dpspec.laws.law import Law
from dpspec.mechanism import Mechanism
from dpspec.spec import PrivacySpec


@attrs.frozen(kw_only=True)
class Candidate:
    """A mechanism that is said to satisfy the premise on its whole space, and to break the conclusion on a pair.

    Args:
        mechanism: what releases the data.
        words: what it does.
        argument: why it satisfies the premise on the whole space.
        pair: the two datasets.
        kind: "space" where one of them is no dataset of the premise's space.
    """

    mechanism: Mechanism
    words: str
    argument: str
    pair: tuple[Dataset, Dataset]
    kind: str = "mechanism"


Family = Callable[[PrivacySpec, PrivacySpec], Iterator[Candidate]]
"""Proposes candidates against an implication (premise, conclusion); each is checked before it is believed."""


@attrs.frozen(kw_only=True)
class Answered(Mechanism):
    """A whole number of the dataset, answered by given laws.

    Args:
        value: the number i of a dataset.
        answers: the laws N_i.
    """

    name: ClassVar[str] = "answered"

    value: Callable[[Dataset], int]
    answers: Answers

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return self.answers.law(self.value(dataset))
