"""A shuffler: reports without the names of those who made them."""

from __future__ import annotations

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


def _nameless(reports: Any) -> Hashable:
    return tuple(sorted(reports, key=repr))


@define
class Shuffled(Mechanism):
    """What a mechanism that answers with a sequence says, in no order: the sequence of reports as a multiset (Cheu et al. 2019).

    A uniformly random order of the reports and their multiset determine the same laws up to randomness that is free of the
    data, so
    that every output divergence gives both the same number.

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

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        law = self.mechanism.law(space.dataset(dataset), space)
        if not isinstance(law, FiniteLaw) or not all(isinstance(outcome, tuple) for outcome in law.support):
            rule = "needs reports that come in a sequence, finitely many in all"
            raise IncompatibleBlocksError(
                f"mechanism {self.name}", rule, "shuffle randomised response", value=str(self.mechanism)
            )
        return law.push_forward(_nameless)

    @classmethod
    def examples(cls) -> Iterable[tuple[Shuffled, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(mechanism=RandomisedResponse(keep_probability=Fraction(3, 4))), BitVectors(length=2)
