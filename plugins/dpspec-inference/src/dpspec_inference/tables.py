"""The model `universe`: the posterior of the confidential dataset itself, inside the published universe; exact.

A release of records that keeps the invariants lies in the universe of the confidential dataset. With the uniform prior on the n
datasets of this universe, the posterior of x given the release t is P_x(t) / (sum over x' of P_x'(t)), where P is the stated law.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from dpspec.plugin import (
    BitVectors,
    Dataset,
    IncompatibleBlocksError,
    Integer,
    Table,
    blocks,
    define,
    errors,
    is_a,
    late_module,
    laws,
    memoize,
    tables,
)
from dpspec_inference.model import Inference, InferenceModel, Posterior, ReleasedData, Simulation, of_masses

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpspec.plugin import DatasetSpace, Law, Mechanism
else:
    Generator = late_module("numpy.random")

MOST_DATASETS = 20_000
"""Spaces of more datasets of the released size are not searched."""
RANK = "position of the confidential dataset"


@define
class DatasetOfUniverse(InferenceModel):
    """The posterior of the confidential dataset, uniform on its universe before the release (Bayes' theorem).

    Args:
        shown: so many of the likeliest datasets are listed.
    """

    name: ClassVar[str] = "universe"
    title: ClassVar[str] = "the confidential dataset itself, inside the published universe"
    source: ClassVar[str] = "Bayes' theorem"

    shown: Annotated[int, Integer(1)] = 10

    def infer(self, released: ReleasedData) -> Inference:
        outcome, candidates = self._candidates(released)
        weights = self._weights(released, outcome, candidates)
        total = sum(weights.values(), Fraction(0))
        if not total:
            rule = "has the probability 0 under every dataset of the universe"
            raise errors.TableError("RELEASE", rule, "give the release of this specification")
        shares = {dataset: weight / total for dataset, weight in weights.items()}
        ranked = sorted(candidates, key=lambda dataset: -shares[dataset])
        facts = [("datasets of the universe", Fraction(len(candidates)))]
        facts.append(("probability of the dataset as released", shares.get(outcome, Fraction(0))))
        facts += [
            (f"probability of {_in_words(dataset, released.spec.space)}", shares[dataset])
            for dataset in ranked[: self.shown] if dataset != outcome and shares[dataset]
        ]  # fmt: skip
        return Inference(
            law="the stated law of the released dataset",
            prior=f"uniform on the {len(candidates)} datasets of the universe",
            proper="the universe is finite",
            posteriors=(self._rank(candidates, shares),),
            facts=tuple(facts),
            method="exact sums over the universe",
            error="none: rational numbers",
        )

    def _rank(self, candidates: list[Dataset], shares: dict[Dataset, Fraction]) -> Posterior:
        masses = np.array([float(shares[dataset]) for dataset in candidates])
        return of_masses(RANK, np.arange(len(candidates), dtype=float), masses, Fraction(19, 20))

    def _space(self, released: ReleasedData, records: int) -> DatasetSpace:
        space = blocks.resized(released.spec.space, records, records)
        size = None if space is None else space.cardinality()
        if space is None or size is None or size > MOST_DATASETS:
            rule = f"is too large to be searched: more than {MOST_DATASETS:,} datasets have as many records as the release"
            raise errors.NotEnumerableError("space", rule, "use a model that estimates single numbers")
        return space

    def _candidates(self, released: ReleasedData) -> tuple[Dataset, list[Dataset]]:
        spec = released.spec
        unit = spec.space.units[0] if len(spec.space.units) == 1 else None
        attributes = [a.name for a in spec.space.attributes_of(unit)] if unit else []
        if unit is None or is_a(spec.space, BitVectors):
            advice = "use a space of records of one unit"
            raise IncompatibleBlocksError("model universe", "needs a space of records", advice, value=spec.space.name)
        table = released.table_with(*attributes)
        space = self._space(released, len(table))
        order = [a.name for a in table.attributes]
        outcome = space.dataset([tuple(record[order.index(name)] for name in attributes) for record in table.records()])
        labels = set(spec.multiverse.labels(outcome, spec.space))
        inside = [x for x in space.datasets() if labels & set(spec.multiverse.labels(x, spec.space))]
        if not inside:
            raise errors.TableError("RELEASE", "lies in no universe", "give the release of this specification")
        return outcome, inside

    def _weights(self, released: ReleasedData, outcome: Dataset, inside: list[Dataset]) -> dict[Dataset, Fraction]:
        """P_x(release) for the datasets of its universe.

        Raises:
            UndeterminedModelError: the release is possible from a dataset of another universe.
        """
        space = self._space(released, len(outcome))  # type: ignore[arg-type]
        here = set(inside)
        found = {x: self._probability(released, x, outcome, space) for x in space.datasets()}
        if any(weight and x not in here for x, weight in found.items()):
            rule = "is not determined: the release is possible from datasets of several universes"
            raise errors.UndeterminedModelError("universe", rule, "use a mechanism that keeps the invariants")
        return {x: found[x] for x in inside}

    def _probability(self, released: ReleasedData, x: Dataset, outcome: Dataset, space: DatasetSpace) -> Fraction:
        law = _law(released.mechanism, x, space)
        if not isinstance(law, laws.FiniteLaw):
            rule = "needs a law of finitely many released datasets"
            raise IncompatibleBlocksError("model universe", rule, "use another model", value=released.mechanism.name)
        return Fraction(law.probability(outcome))

    def simulate(self, released: ReleasedData, source: Generator) -> Simulation | None:
        outcome, candidates = self._candidates(released)
        place = int(source.integers(len(candidates)))
        space = self._space(released, len(outcome))  # type: ignore[arg-type]
        law = _law(released.mechanism, candidates[place], space)
        if not isinstance(law, laws.FiniteLaw):
            return None
        outcomes = list(law.support)
        probabilities = np.array([float(law.probability(one)) for one in outcomes])
        drawn = outcomes[int(source.choice(len(outcomes), p=probabilities / probabilities.sum()))]
        table = released.tables[0]
        records = space.records(drawn, space.units[0])
        codes = {
            a.name: tables.compact(np.array([a.index(record[k]) for record in records]), a.size)
            for k, a in enumerate(table.attributes)
        }
        again = Table(attributes=table.attributes, codes=codes)
        return Simulation(
            truth={RANK: float(place)},
            released=ReleasedData(spec=released.spec, mechanism=released.mechanism, tables=(again,)),
        )

    @classmethod
    def examples(cls) -> Iterator[tuple[InferenceModel, ReleasedData]]:
        from dpspec_inference.swapped import SwappedTable

        for _, released in SwappedTable.examples():
            table = released.tables[0]
            rows = [7, 10, 15, 20]
            few = Table(attributes=table.attributes, codes={name: codes[rows] for name, codes in table.codes.items()})
            yield cls(), ReleasedData(spec=released.spec, mechanism=released.mechanism, tables=(few,))


@memoize(maxsize=4096)
def _law(mechanism: Mechanism, x: Dataset, space: DatasetSpace) -> Law:
    """The law on a dataset; a posterior on the same universe needs the same laws."""
    return mechanism.law(x, space)


def _in_words(dataset: Dataset, space: DatasetSpace) -> str:
    """A dataset by its kinds of records, such as "1 x (l1, k2), 1 x (l2, k1)"."""
    held: Counter[Any] = Counter(space.records(dataset, space.units[0]))
    return ", ".join(f"{count} x ({', '.join(map(str, record))})" for record, count in sorted(held.items(), key=repr))
