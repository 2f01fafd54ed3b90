"""A shuffler: reports without the names of those who made them."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from dpspec_noise import RandomisedResponse

from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors
from dpspec.errors import IncompatibleBlocksError
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.law import Law
from dpspec.mechanism import Mechanism
from dpspec.params import Registered, define

_TRIED = 3
"""A space is refused for the law of one of its first datasets; that of a later one is looked at when it is asked for."""


def _nameless(reports: Any) -> Hashable:
    return tuple(sorted(reports, key=repr))


@define
class Shuffled(Mechanism):
    """What a mechanism that answers with a sequence says, in no order: the sequence of reports as a multiset (Cheu et al. 2019).

    A uniformly random order of the reports and their multiset determine the same laws up to randomness that is free of the
    data, so that every output divergence gives both the same number.

    Args:
        mechanism: gives a sequence of reports, one for each person.

    >>> mechanism = Shuffled(mechanism=RandomisedResponse(keep_probability="3/4"))
    >>> mechanism.law((0, 1), BitVectors(length=2))
    FiniteLaw({(0, 1): 5/8, (0, 0): 3/16, (1, 1): 3/16})
    """

    name: ClassVar[str] = "shuffled"

    mechanism: Annotated[Mechanism, Registered("mechanisms")]

    def check(self, space: DatasetSpace) -> None:
        self.mechanism.check(space)
        for dataset in itertools.islice(space.datasets(), _TRIED):
            self._reports(dataset, space)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return self._reports(space.dataset(dataset), space).push_forward(_nameless)

    def _reports(self, dataset: Dataset, space: DatasetSpace) -> FiniteLaw:
        """The law of the sequence of reports."""
        law = self.mechanism.law(dataset, space)
        if not isinstance(law, FiniteLaw) or not all(isinstance(outcome, tuple) for outcome in law.support):
            rule = "needs reports that come in a sequence, finitely many in all"
            raise IncompatibleBlocksError(
                f"mechanism {self.name}", rule, "shuffle randomised response", value=str(self.mechanism)
            )
        return law

    @classmethod
    def examples(cls) -> Iterable[tuple[Shuffled, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(mechanism=RandomisedResponse(keep_probability=Fraction(3, 4))), BitVectors(length=2)
