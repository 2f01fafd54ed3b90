"""Mechanisms for any finite space: one that prefers datasets close to the true one, and one given law by law."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Annotated, ClassVar

from flint import arb, ctx

from dpspec.plugin import (
    BitVectors,
    Dataset,
    DatasetSpace,
    Exact,
    FiniteLaw,
    IncompatibleBlocksError,
    InputDivergence,
    Items,
    Law,
    Mechanism,
    Nested,
    Number,
    ParameterError,
    Rational,
    Registered,
    define,
    errors,
    exact,
    laws,
    params,
)

LISTED = 5_000
"""The outcomes are listed, so that the space may have no more datasets than this."""
_BITS = 192


@define
class NearbyDataset(Mechanism):
    """The exponential mechanism on datasets: P_x(z) is proportional to e^(-rate d(x, z)) over all datasets z of X.

    Every ratio of two weights is at most e^(rate d(x, x')) by the triangle inequality, so the mechanism is 2 rate-Lipschitz for a
    metric d and `mult`, and rate-Lipschitz where the sum of the weights is the same for every x (McSherry and Talwar 2007).

    Args:
        distance: d; datasets at infinite distance are never returned.
        rate: the loss per unit of distance.

    >>> from dpspec_divergences import HammingOrdered, Mult
    >>> mechanism, space = NearbyDataset(distance=HammingOrdered(), rate="ln(3)"), BitVectors(length=1)
    >>> mechanism.law((0,), space)
    FiniteLaw({(0,): 3/4, (1,): 1/4})
    """

    name: ClassVar[str] = "nearby-dataset"

    distance: Annotated[InputDivergence, Registered("input_divergences")]
    rate: Annotated[Number, Exact(0, "inf", open_high=True)]

    def check(self, space: DatasetSpace) -> None:
        self.distance.check(space)
        size = space.cardinality()
        if size is None or size > LISTED:
            rule = f"returns one of the datasets, and the space has more than {LISTED}"
            raise errors.NotEnumerableError(f"mechanism {self.name}", rule, "choose a smaller space", value=size)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        known = space.dataset(dataset)
        distances = {z: self.distance.distance(known, z, space) for z in space.datasets()}
        losses = {z: self.rate * d for z, d in distances.items() if not d.is_infinite}
        try:
            return laws.finite_law({z: laws.exact_exponential(-1 * loss) for z, loss in losses.items()}, normalise=True)
        except (errors.NumericalError, ParameterError):  # a loss such as sqrt(2) or ln(2)/2
            return _enclosed(losses)


def _enclosed(losses: Mapping[Dataset, Number]) -> laws.EnclosedLaw:
    """The same law where its probabilities have no exact form: each between two bounds."""
    with ctx.workprec(_BITS):
        weights = {z: (-loss.enclose(_BITS)).exp() for z, loss in losses.items()}
        total = sum(weights.values(), arb(0))
        balls = {z: weight / total for z, weight in weights.items()}
        return laws.EnclosedLaw({z: (exact.dyadic(ball.lower()), exact.dyadic(ball.upper())) for z, ball in balls.items()})


@define
class ListedLaw:
    """One row of a listed mechanism: a dataset and the probability of each outcome.

    Args:
        dataset: the dataset, as it is written in a file.
        law: a table from outcome to probability; they sum to 1.
    """

    dataset: Annotated[Dataset, params.Data()]
    law: Annotated[tuple[tuple[str, Fraction], ...], params.Pairs(Rational(0, 1))]


@define
class ListedLaws(Mechanism):
    """A mechanism given law by law: for every dataset the probability of every outcome.

    Args:
        laws: rows (dataset, law).
        otherwise: the law on every dataset that is not listed, a probability for each output; without it all of them must be.

    >>> rows = [{"dataset": [0], "law": {"low": 1}}, {"dataset": [1], "law": {"low": "1/4", "high": "3/4"}}]
    >>> ListedLaws(laws=rows).law((1,), BitVectors(length=1))
    FiniteLaw({'high': 3/4, 'low': 1/4})
    """

    name: ClassVar[str] = "listed-laws"

    laws: Annotated[tuple[ListedLaw, ...], Items(Nested(ListedLaw), least=1)]
    otherwise: Annotated[tuple[tuple[str, Fraction], ...], params.Pairs(Rational(0, 1))] | None = None

    def check(self, space: DatasetSpace) -> None:
        listed = [space.dataset(row.dataset) for row in self.laws]
        if len(set(listed)) != len(listed):
            raise ParameterError("laws", "name a dataset twice", "list each dataset once")
        for row in self.laws:
            FiniteLaw.of(dict(row.law))
        if self.otherwise is not None:
            FiniteLaw.of(dict(self.otherwise))
        elif space.cardinality() != len(listed):
            rule = f"lists {len(listed)} of the {space.cardinality()} datasets of the space"
            raise IncompatibleBlocksError(f"mechanism {self.name}", rule, "list the others, or give `otherwise`")

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        known = space.dataset(dataset)
        for row in self.laws:
            if space.dataset(row.dataset) == known:
                return FiniteLaw.of(dict(row.law))
        if self.otherwise is None:
            raise IncompatibleBlocksError(f"mechanism {self.name}", "has no law for this dataset", "list it", value=known)
        return FiniteLaw.of(dict(self.otherwise))

    @classmethod
    def examples(cls) -> Iterable[tuple[ListedLaws, DatasetSpace]]:
        """What the conformance kit checks it with."""
        half = (("high", Fraction(1, 2)), ("low", Fraction(1, 2)))
        rows = ListedLaw(dataset=(0,), law=half), ListedLaw(dataset=(1,), law=(("low", Fraction(1)),))
        yield cls(laws=rows), BitVectors(length=1)
