"""Mechanisms that add independent noise to the integer answers of several queries on one dataset."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

from dpspec_divergences import (
    AddRemove,
    DifferInOnePosition,
    Hamming,
    HammingOrdered,
    Neighbour,
    ReplaceOne,
    SymmetricDifference,
)

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.input_divergence import InputDivergence, Relation
from dpspec.blocks.invariant import Invariant
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import IncompatibleBlocksError, ReleaseError
from dpspec.exact import Number
from dpspec.laws.combine import product
from dpspec.laws.law import Law
from dpspec.mechanism import Claim, Mechanism
from dpspec.params import Items, Registered, Text, collect, define
from dpspec.spec import PrivacySpec

if TYPE_CHECKING:
    from dpspec.randomness import Randomness
    from dpspec.table import Table
    from dpspec_noise.samplers import Integers

RELATIONS: dict[str, Callable[..., Relation]] = {
    "add-remove": AddRemove,
    "replace-one": ReplaceOne,
    "differ-in-one-position": DifferInOnePosition,
}
METRICS: dict[str, Callable[..., InputDivergence]] = {
    "add-remove": SymmetricDifference,
    "replace-one": Hamming,
    "differ-in-one-position": HammingOrdered,
}


@define
class AdditiveNoise(Mechanism):
    """T(x) = q(x) + W with independent noise W_i for each entry of the answers q(x).

    Args:
        queries: the invariants whose integer answers are published.
        neighbours: the relation to which the stated sensitivity refers; add-remove in the lecture (B-D20).
        unit: the unit that is added, removed or replaced.
    """

    queries: Annotated[tuple[Invariant, ...], Items(Registered("invariants"), least=1)]
    neighbours: Annotated[str, Text(tuple(RELATIONS))] = "add-remove"
    unit: Annotated[str, Text()] = "person"

    def check(self, space: DatasetSpace) -> None:
        collect(partial(_check_query, query, space) for query in self.queries)

    def answers(self, dataset: Dataset, space: DatasetSpace) -> tuple[int, ...]:
        """q(x): the answers of all queries, one after the other."""
        return tuple(answer for query in self.queries for answer in query.answers(dataset, space))

    @abstractmethod
    def noise(self, center: int) -> Law:
        """The law of one noisy answer whose true value is `center`."""

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """The product of the noise laws centred at the answers; the law of a number when there is one answer."""
        factors = tuple(self.noise(answer) for answer in self.answers(space.dataset(dataset), space))
        return factors[0] if len(factors) == 1 else product(factors)

    def draw(self, count: int, source: Randomness) -> Integers:
        """Independent draws of the noise."""
        raise ReleaseError(
            self.name,
            "has no exact sampler: continuous noise cannot be drawn with finitely many random bits, and rounding "
            "it changes the guarantee",
            "release with geometric (for laplace) or discrete-gaussian (for gaussian)",
        )

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """One row for each answer: the query, its cell, and the noisy count."""
        from dpspec_noise.answers import answers_on, noisy_table

        self.check(space)
        rows = answers_on(table, self.queries, space)
        noise = self.draw(len(rows), source)
        return noisy_table((query, cell, answer + int(w)) for (query, cell, answer), w in zip(rows, noise, strict=True))

    def _claims(
        self, label: str, source: str, space: DatasetSpace, standard: OutputDivergence, budget: tuple[str, Number]
    ) -> tuple[Claim, ...]:
        """The claim on the trivial multiverse; none on a space without the unit.

        For a metric the bound for neighbours extends along paths, and is stated for all pairs; otherwise (MULT^delta)
        it is stated for neighbours only (B-S3).
        """
        distance: InputDivergence
        if standard.is_metric:
            distance = METRICS[self.neighbours](unit=self.unit)
        else:
            distance = Neighbour(relation=RELATIONS[self.neighbours](unit=self.unit))
        try:
            distance.check(space)
        except IncompatibleBlocksError:
            return ()
        parameter, value = budget
        spec = PrivacySpec(
            space=space,
            multiverse=Trivial(),
            input_divergence=distance,
            output_divergence=standard,
            budget=UniformBudget(parameter=parameter, value=value),
        )
        return (Claim(label=label, source=source, spec=spec),)


def _check_query(query: Invariant, space: DatasetSpace) -> None:
    query.check(space)
    query.check_answers(space)
