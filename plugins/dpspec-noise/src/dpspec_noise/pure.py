"""Noise for pure privacy: Laplace on the line, and the two-sided geometric on the integers."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar

from dpspec_divergences import Mult

from dpspec.blocks.space import DatasetSpace
from dpspec.errors import ParameterError, ReleaseError
from dpspec.exact import Number, ln
from dpspec.laws.continuous import Laplace as LaplaceLaw
from dpspec.laws.integers import TwoSidedGeometric
from dpspec.laws.law import Law
from dpspec.mechanism import Claim
from dpspec.params import Exact, Rational, define
from dpspec_noise.additive import AdditiveNoise

if TYPE_CHECKING:
    from dpspec.randomness import Randomness
    from dpspec_noise.samplers import Integers


@define
class Laplace(AdditiveNoise):
    """The Laplace mechanism: q(x) + Lap(b), b = sensitivity/epsilon, density e^(-|w|/b)/(2b) (B-T17).

    Args:
        queries, neighbours, unit: as in `AdditiveNoise`.
        sensitivity: the largest L1 change of all answers together between neighbours, in counts (B-D29).
        epsilon: the claimed pure budget.

    >>> from dpspec.blocks.invariant import LinearMap
    >>> from dpspec.blocks.vectors import BitVectors
    >>> space, total = BitVectors(length=3), LinearMap(rows=((1, 1, 1),), label="sum")
    >>> mechanism = Laplace(queries=(total,), epsilon="1/2", neighbours="differ-in-one-position")
    >>> str(Mult().between(mechanism.law((0, 0, 0), space), mechanism.law((0, 1, 1), space)))
    '1'
    """

    name: ClassVar[str] = "laplace"

    sensitivity: Annotated[Fraction, Rational(0, open_low=True)] = Fraction(1)
    epsilon: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)]

    def noise(self, center: int) -> Law:
        return LaplaceLaw.with_decay(center, self.epsilon * (1 / self.sensitivity))

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """B-T17: epsilon-DP."""
        return self._claims("the Laplace mechanism is epsilon-DP", "B-T17", space, Mult(), ("epsilon", self.epsilon))


@define
class Geometric(AdditiveNoise):
    """Two-sided geometric noise: P(w) = (1-r)/(1+r) r^|w|, r = e^(-epsilon/sensitivity) (B-O51).

    Args:
        queries, neighbours, unit: as in `AdditiveNoise`.
        sensitivity: the largest L1 change of all answers together between neighbours, in counts (B-D29).
        epsilon: the claimed pure budget, or
        ratio: r, in (0, 1); the budget is then sensitivity ln(1/r).

    >>> from dpspec.blocks.invariant import LinearMap
    >>> from dpspec.blocks.vectors import BitVectors
    >>> space, total = BitVectors(length=3), LinearMap(rows=((1, 1, 1),), label="sum")
    >>> mechanism = Geometric(queries=(total,), ratio="1/2", neighbours="differ-in-one-position")
    >>> str(mechanism.claims(space)[0].spec.budget)
    'epsilon = ln(2)'
    """

    name: ClassVar[str] = "geometric"

    sensitivity: Annotated[Fraction, Rational(0, open_low=True)] = Fraction(1)
    epsilon: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)] | None = None
    ratio: Annotated[Fraction, Rational(0, 1, open_low=True, open_high=True)] | None = None

    def __attrs_post_init__(self) -> None:
        if (self.epsilon is None) == (self.ratio is None):
            raise ParameterError("geometric", "needs either epsilon or ratio", 'write epsilon = "1/2" or ratio = "3/5"')

    def decay(self) -> Number:
        """ln(1/r), the loss of one step of the noise."""
        if self.ratio is not None:
            return ln(1 / self.ratio)
        assert self.epsilon is not None  # noqa: S101 - just checked
        return self.epsilon * (1 / self.sensitivity)

    def noise(self, center: int) -> Law:
        return TwoSidedGeometric(center, self.decay())

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """B-O51: epsilon-DP with epsilon = sensitivity ln(1/r) (Ghosh, Roughgarden and Sundararajan 2009)."""
        budget = ("epsilon", self.decay() * self.sensitivity)
        return self._claims("two-sided geometric noise is epsilon-DP", "B-O51", space, Mult(), budget)

    def draw(self, count: int, source: Randomness) -> Integers:
        from dpspec_noise.inversion import BULK, fits, inverted
        from dpspec_noise.samplers import discrete_laplace, two_sided_geometric

        law = TwoSidedGeometric(0, self.decay())
        exact_by_rejection = law.ratio is not None or law.decay.is_rational
        if fits(law) and (count >= BULK or not exact_by_rejection):
            return inverted(law, count, source)
        if law.ratio is not None:
            return two_sided_geometric(source, count, ratio=law.ratio)
        if law.decay.is_rational:
            return discrete_laplace(source, count, scale=1 / law.decay.as_fraction())
        raise ReleaseError(
            self.name, "has no exact sampler for noise this wide with an irrational ratio and epsilon/sensitivity",
            "choose a rational epsilon", value=str(law.decay),
        )  # fmt: skip
