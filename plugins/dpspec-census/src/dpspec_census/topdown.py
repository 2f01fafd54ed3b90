"""TopDown in miniature: noisy measurements, then the nearest table that keeps the invariants (B-A5, B-A6).

    step 1   t = q(x) + W,  W discrete Gaussian, independent for every answer of every measurement
    step 2   z minimises  sum_i |q_i(z) - t_i| / sigma_i  over integer tables z >= 0 with c(z) = c(x)

Both z and t are published. Step 2 reads c(x) from the confidential data, so it is post-processing inside a
universe of c and is none outside (B-T16, B-S22).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar, Protocol

import attrs

from dpspec.blocks.invariant import Invariant
from dpspec.blocks.multiverse import LevelSets, Multiverse, Trivial
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import IncompatibleBlocksError, NoRouteError
from dpspec.exact import Number
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.law import Law
from dpspec.mechanism import Claim, Mechanism
from dpspec.params import Items, Nested, Rational, Registered, Text, define
from dpspec.spec import PrivacySpec
from dpspec_census.linear import constraint_rows, loss_of_one_unit, products, query_rows

if TYPE_CHECKING:
    from dpspec.randomness import Randomness
    from dpspec.table import Table

DISJOINT = FiniteDichotomy((1, 0), (0, 1), 1, 1)
"""The pair of two laws that share no outcome."""


@define
class Measurement:
    """A linear query and the noise on each of its answers.

    Args:
        query: a marginal or a linear map.
        variance: sigma^2 of the discrete Gaussian on every answer.
    """

    query: Annotated[Invariant, Registered("invariants")]
    variance: Annotated[Fraction, Rational(0, open_low=True)]


@define
class TopdownNoise(Mechanism):
    """The noise step alone: t = q(x) + W (B-T15).

    Args:
        measurements: the queries, each with its variance.
        unit: the unit that the claim protects.

    >>> from dpspec.blocks.invariant import Marginal
    >>> from dpspec.blocks.records import UnorderedRecords
    >>> space = UnorderedRecords(attributes=[{"name": "sex", "categories": ["f", "m"]}])
    >>> noise = TopdownNoise(measurements=[{"query": Marginal(attributes=["sex"]), "variance": "5/2"}])
    >>> str(noise.rho(space)), noise.answers((("f",), ("f",)), space)
    ('2/5', (2, 0))
    """

    name: ClassVar[str] = "topdown-noise"

    measurements: Annotated[tuple[Measurement, ...], Items(Nested(Measurement), least=1)]
    unit: Annotated[str, Text()] = "person"

    def check(self, space: DatasetSpace) -> None:
        space.check_unit(self.unit)
        for measurement in self.measurements:
            query_rows(measurement.query, space)

    def answers(self, dataset: Dataset, space: DatasetSpace) -> tuple[int, ...]:
        """q(x): the answers of all measurements, one after the other."""
        vector = space.vector(dataset)
        return tuple(answer for m in self.measurements for answer in products(query_rows(m.query, space), vector))

    def variances(self, space: DatasetSpace) -> tuple[Fraction, ...]:
        """The variance of the noise on every answer."""
        return tuple(m.variance for m in self.measurements for _ in query_rows(m.query, space))

    def noise_law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """The law of t: independent discrete Gaussians around the true answers."""
        from dpspec.laws.combine import Product
        from dpspec.laws.integers import DiscreteGaussian

        pairs = zip(self.answers(dataset, space), self.variances(space), strict=True)
        return Product(tuple(DiscreteGaussian(answer, variance) for answer, variance in pairs))

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        self.check(space)
        return self.noise_law(space.dataset(dataset), space)

    def rho(self, space: DatasetSpace) -> Number:
        """The largest sum over measurements of |dq|^2 / (2 variance) when one unit is replaced, exactly.

        The maximum runs over all pairs of kinds of records of the unit (the cells of the space).
        """
        return loss_of_one_unit([(m.query, m.variance) for m in self.measurements], space, self.unit)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """B-T15: D_nor with the budget rho of the noise, in the one universe of all datasets."""
        return (self._claim("TopDown noise step", "B-T15", Trivial(), space),)

    def _claim(self, label: str, source: str, multiverse: Multiverse, space: DatasetSpace) -> Claim:
        from dpspec_divergences import DNor, Hamming

        from dpspec.blocks.budget import UniformBudget

        spec = PrivacySpec(
            space=space,
            multiverse=multiverse,
            input_divergence=Hamming(unit=self.unit),
            output_divergence=DNor(),
            budget=UniformBudget(parameter="rho", value=self.rho(space)),
        )
        return Claim(label=label, source=source, spec=spec)

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """The noisy measurement file: one row for each answer."""
        from dpspec_census.topdown_release import measured

        self.check(space)
        return measured(self, table, space, source)[1]


@define
class Topdown(TopdownNoise):
    """TopDown: the noise step, then a table that fits the noisy answers and keeps the invariants exactly.

    An outcome is the pair (z, t): the fitted table as a dataset of the space, and the noisy measurements.

    Args:
        measurements, unit: as in `TopdownNoise`.
        invariants: c, read from the confidential data; a structural zero is a count that is always 0.
    """

    name: ClassVar[str] = "topdown"

    invariants: Annotated[tuple[Invariant, ...], Items(Registered("invariants"))] = ()

    def check(self, space: DatasetSpace) -> None:
        super().check(space)
        self.constraints(space)

    def constraints(self, space: DatasetSpace) -> tuple[tuple[int, ...], ...]:
        """The rows of c over the cells of the space."""
        return tuple(row for invariant in self.invariants for row in constraint_rows(invariant, space))

    def fixed(self, dataset: Dataset, space: DatasetSpace) -> tuple[int, ...]:
        """c(x)."""
        return products(self.constraints(space), space.vector(dataset))

    def fit(self, fixed: tuple[int, ...], measured: tuple[int, ...], space: DatasetSpace) -> Dataset:
        """Step 2: the table z of a pair (c, t), a function of these two alone."""
        from dpspec_census.topdown_fit import fitted

        return space.from_vector(fitted(self, fixed, measured, space))

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        self.check(space)
        x = space.dataset(dataset)
        return FittedLaw(fixed=self.fixed(x, space), noise=self.noise_law(x, space), mechanism=self, space=space)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """B-T13: inside the universes of its invariants, the budget of its noise step."""
        return (self._claim("TopDown within its invariants", "B-T13", LevelSets(invariants=self.invariants), space),)

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """The privacy-protected microdata z; `release_both` also returns the noisy measurement file."""
        return self.release_both(table, space, source)[0]

    def release_both(self, table: Table, space: DatasetSpace, source: Randomness) -> tuple[Table, Table]:
        """Both outputs: the microdata z and the noisy measurements t (B-A6)."""
        from dpspec_census.topdown_release import measured, microdata

        self.check(space)
        vector, noisy, answers = measured(self, table, space, source)
        z = self.fit(products(self.constraints(space), vector), answers, space)
        return microdata(z, space), noisy


class Fitting(Protocol):
    """What a law needs of a mechanism that fits noisy answers."""

    def variances(self, space: DatasetSpace) -> tuple[Fraction, ...]:
        """The variance of the noise on every answer."""

    def fit(self, fixed: tuple[int, ...], measured: tuple[int, ...], space: DatasetSpace) -> Dataset:
        """What is released beside the answers: a function of c(x) and of them alone."""


@attrs.frozen(kw_only=True)
class FittedLaw(Law):
    """The law of (fit(c(x), t), t).

    Two of them are compared without enumerating anything. With equal c the outcome is one common function of t, and t
    is part of it, so the pair of laws has exactly the likelihood ratios of the noise (data processing, there and
    back). With different c no outcome is common, since every fitted z has c(z) = c(x) exactly.

    Args:
        fixed: c(x).
        noise: the law of t.
        mechanism, space: which fit it is.
    """

    fixed: tuple[int, ...]
    noise: Law
    mechanism: Fitting
    space: DatasetSpace

    def against(self, other: Law) -> Dichotomy:
        if not isinstance(other, FittedLaw) or (other.mechanism, other.space) != (self.mechanism, self.space):
            raise NoRouteError("topdown", "is compared with the same mechanism on the same space only", "compare its noise step")
        return self.noise.against(other.noise) if self.fixed == other.fixed else DISJOINT

    def outcome(self, measured: tuple[int, ...]) -> tuple[Dataset, tuple[int, ...]]:
        """The outcome (z, t) of given noisy measurements t."""
        if len(measured) != len(self.mechanism.variances(self.space)):
            raise IncompatibleBlocksError("measurements", "need one number for each answer", value=measured)
        return self.mechanism.fit(self.fixed, measured, self.space), measured
