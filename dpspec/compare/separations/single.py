"""Small spaces: one event, as likely at every dataset as the premise allows when its probability at one of them is given."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import ClassVar

import attrs

from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.compare.events import broken
from dpspec.compare.separations.candidate import Candidate
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.law import Law
from dpspec.mechanism import Mechanism
from dpspec.spec import PrivacySpec

TRIED = 400
"""At most this many events are tried."""


@attrs.frozen(kw_only=True, eq=False)
class OneEvent(Mechanism):
    """Yes with a probability that depends on the dataset.

    Args:
        chances: the probabilities; 1 for datasets that are left out.
    """

    name: ClassVar[str] = "one-event"

    chances: Mapping[Dataset, Fraction]

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return FiniteLaw.bernoulli(self.chances.get(dataset, Fraction(1)))


def events(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[Candidate]:
    """Say yes with probabilities that keep every inequality of the premise, and that the conclusion may forbid."""
    for found in itertools.islice(broken(premise, conclusion), TRIED):
        yield Candidate(
            mechanism=OneEvent(chances=found.probabilities),
            words=f"say yes with probability {_told(found.probabilities)}, and 1 for every other dataset",
            argument="neither the yes nor the no is likelier anywhere than the premise allows, pair by pair",
            pair=found.pair,
        )


def _told(chances: Mapping[Dataset, Fraction], shown: int = 6) -> str:
    listed = sorted(chances.items(), key=lambda item: repr(item[0]))
    more = f" and other ones for {len(listed) - shown} more" if len(listed) > shown else ""
    return ", ".join(f"{chance} for {dataset}" for dataset, chance in listed[:shown]) + more
