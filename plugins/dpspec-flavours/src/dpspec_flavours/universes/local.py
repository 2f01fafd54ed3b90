"""Noise calibrated to the local sensitivity of a query: at one observed dataset, or (wrongly) anew at each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar

from dpspec_divergences import DifferInOnePosition

from dpspec.blocks.input_divergence import Relation
from dpspec.blocks.invariant import Invariant, LinearMap
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors
from dpspec.exact import Number, number
from dpspec.laws import FiniteLaw, Law, TwoSidedGeometric, product
from dpspec.mechanism import Mechanism
from dpspec.params import Data, Exact, Registered, collect, define
from dpspec_flavours.universes.centred import listed, neighbours


@define
class LocalNoise(Mechanism):
    """q(x) plus two-sided geometric noise with P(w) proportional to e^(-epsilon |w| / LS), LS a local sensitivity of q.

    LS(x) = max over the neighbours x' of x of |q(x) - q(x')|_1. With LS = LS(x*) at one fixed dataset x*, the laws of x* and of
    its neighbours differ by at most epsilon: that is individual privacy (Soria-Comas et al. 2017). With LS(x) taken anew
    on each dataset the width of the noise itself tells datasets apart. Where LS is 0 nothing is added.

    Args:
        query: q, with integer answers.
        relation: which datasets are neighbours.
        epsilon: the loss per LS.
        observed: x*; without it LS is that of each dataset.

    >>> size = LinearMap(rows=((1, 3),), label="weighted sum")
    >>> mechanism = LocalNoise(query=size, relation=DifferInOnePosition(), epsilon="ln(2)", observed=(0, 0))
    >>> mechanism.sensitivity((0, 1), BitVectors(length=2))
    3
    """

    name: ClassVar[str] = "local-noise"

    query: Annotated[Invariant, Registered("invariants")]
    relation: Annotated[Relation, Registered("relations")]
    epsilon: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)]
    observed: Annotated[Dataset, Data()] | None = None

    def check(self, space: DatasetSpace) -> None:
        listed(space, f"mechanism {self.name}", "choose a smaller space")
        self.query.check(space)
        collect((lambda: self.query.check_answers(space), lambda: self.relation.check(space)))
        if self.observed is not None:
            space.dataset(self.observed)

    def sensitivity(self, dataset: Dataset, space: DatasetSpace) -> int:
        """LS at a dataset, in counts."""
        answers = self.query.answers(dataset, space)
        near = (self.query.answers(other, space) for other in neighbours(dataset, self.relation, space))
        return max((sum(abs(a - b) for a, b in zip(answers, other, strict=True)) for other in near), default=0)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        known = space.dataset(dataset)
        local = self.sensitivity(known if self.observed is None else space.dataset(self.observed), space)
        laws = [
            TwoSidedGeometric(answer, self.epsilon / local) if local else FiniteLaw.point(answer)
            for answer in self.query.answers(known, space)
        ]
        return laws[0] if len(laws) == 1 else product(laws)

    @classmethod
    def examples(cls) -> Iterable[tuple[LocalNoise, DatasetSpace]]:
        """What the conformance kit checks it with."""
        size = LinearMap(rows=((1, 3),), label="weighted sum")
        yield cls(query=size, relation=DifferInOnePosition(), epsilon=number(1), observed=(0, 0)), BitVectors(length=2)
        yield cls(query=size, relation=DifferInOnePosition(), epsilon=number(1)), BitVectors(length=2)
