"""A mechanism with a flaw that approximate privacy tolerates: now and then it publishes the data."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from dpspec_noise import RandomisedResponse

from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors
from dpspec.laws.combine import mixture, push_forward
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.law import Law
from dpspec.mechanism import Mechanism
from dpspec.params import Rational, Registered, define


def _noisy(outcome: Any) -> Hashable:
    return ("noisy", outcome)


@define
class RevealByChance(Mechanism):
    """Publishes the dataset with some probability, and else what another mechanism says; the outcome tells which.

    When the other is epsilon-private and the chance is at most delta, this is (epsilon, delta)-private, and not pure for any
    epsilon: the events that only one of two datasets can show have probability `chance`
    (Dwork, Kenthapadi, McSherry, Mironov and Naor 2006).

    Args:
        mechanism: what is asked otherwise.
        chance: the probability of publishing the data, the same for every dataset.

    >>> mechanism = RevealByChance(mechanism=RandomisedResponse(keep_probability="3/4"), chance="1/5")
    >>> mechanism.law((1,), BitVectors(length=1))
    FiniteLaw({('data', (1,)): 1/5, ('noisy', (1,)): 3/5, ('noisy', (0,)): 1/5})
    """

    name: ClassVar[str] = "reveal-by-chance"

    mechanism: Annotated[Mechanism, Registered("mechanisms")]
    chance: Annotated[Fraction, Rational(0, 1)]

    def check(self, space: DatasetSpace) -> None:
        self.mechanism.check(space)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        known = space.dataset(dataset)
        told = FiniteLaw.point(("data", known))
        return mixture([self.chance, 1 - self.chance], [told, push_forward(self.mechanism.law(known, space), _noisy)])

    @classmethod
    def examples(cls) -> Iterable[tuple[RevealByChance, DatasetSpace]]:
        """What the conformance kit checks it with."""
        inner = RandomisedResponse(keep_probability=Fraction(3, 4))
        yield cls(mechanism=inner, chance=Fraction(1, 10)), BitVectors(length=2)
