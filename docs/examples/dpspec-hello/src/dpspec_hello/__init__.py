"""A plugin for dpspec: one mechanism and one output divergence."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar

from dpspec.plugin import (
    BitVectors, Bracket, Dataset, DatasetSpace, FiniteLaw, IncompatibleBlocksError, Law, Mechanism, OutputDivergence, Rational,
    Register, define, exact, hookimpl, laws,
)

DPSPEC_API = 1


@define
class HelloCount(Mechanism):
    """How many of n people say yes, told truthfully or at random.

    With probability 1 - lie the release is the true count, otherwise a number drawn uniformly from 0, ..., n.

    Args:
        lie: the probability of a random answer.
    """

    name: ClassVar[str] = "hello-count"

    lie: Annotated[Fraction, Rational(0, 1, open_low=True)]

    def check(self, space: DatasetSpace) -> None:
        if not isinstance(space, BitVectors):
            raise IncompatibleBlocksError(f"mechanism {self.name}", "counts bits", "use the space bit-vectors", value=space.name)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        self.check(space)
        bits = space.vector(space.dataset(dataset))
        truth, by_chance = sum(bits), self.lie / (len(bits) + 1)
        return FiniteLaw.of({k: by_chance + (1 - self.lie if k == truth else 0) for k in range(len(bits) + 1)})


@define
class HelloChiSquared(OutputDivergence):
    """The chi-squared distance of two finite laws, the larger of its two directions.

    d(P, Q) = sum over outcomes of (p - q)^2 / q; infinite when P has an outcome that Q lacks.
    """

    name: ClassVar[str] = "hello-chi-squared"
    budget_parameters: ClassVar[tuple[str, ...]] = ("chi_squared",)

    def evaluate(self, pair: laws.Dichotomy, *, precision: int = 64) -> Bracket:
        return _one_way(pair) | _one_way(pair.reverse())

    def __str__(self) -> str:
        return self.name


def _one_way(pair: laws.Dichotomy) -> Bracket:
    atoms = pair.atoms()
    if any(p > 0 and q == 0 for p, q in atoms):
        return Bracket.exactly(exact.INFINITY)
    return Bracket.exactly(sum(((p - q) ** 2 / q for p, q in atoms if q), Fraction(0)))


@hookimpl
def dpspec_register_mechanisms(register: Register) -> None:
    register(HelloCount)


@hookimpl
def dpspec_register_output_divergences(register: Register) -> None:
    register(HelloChiSquared)
