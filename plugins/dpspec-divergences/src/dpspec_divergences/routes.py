"""Routes: the formulas by which printed numbers are recomputed, each exact or in a bracket of ball arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, ClassVar

from flint import arb, ctx

from dpspec.errors import BudgetParameterError, NumericalError
from dpspec.exact import INFINITY, Bracket, Number, ball, ln, number
from dpspec.laws.numeric import rational_exponential
from dpspec.params import Exact, Integer, Items, Rational, define
from dpspec.route import Route
from dpspec.spec import PrivacySpec

PRECISION = 128
"""Bits of the enclosures."""


def budget_of(spec: PrivacySpec, parameter: str, subject: str) -> Number:
    """The budget of a specification, when it is one number of the wanted kind for all universes."""
    value = spec.budget.uniform()
    if spec.budget.parameter != parameter or value is None:
        stated = spec.budget.parameter if value is not None else f"{spec.budget.parameter} by universe"
        raise BudgetParameterError(
            f"route {subject}", f"needs {parameter}, and the budget is {stated}", f'write {parameter} = "..." in the row'
        )
    return value


def _enclosed(formula: Callable[[], arb]) -> Bracket:
    with ctx.workprec(PRECISION):
        return Bracket.around(formula(), least=0)


def _log1p_scaled(fraction: Fraction, size: arb) -> Bracket:
    """ln(1 + fraction (e^size - 1))."""
    with ctx.workprec(PRECISION):
        return Bracket.around((1 + ball(fraction) * size.expm1()).log(), least=0)


@define
class DNorBudget(Route):
    """The Lipschitz constant that rho stands for under d-nor: sqrt(rho) (B-X1, B-O16).

    Args:
        rho: the concentrated budget; without it the specification's.

    >>> from dpspec_divergences.examples import zcdp_spec
    >>> str(DNorBudget(rho="15.29").value(zcdp_spec(rho=1)))
    'sqrt(1529/100)'
    """

    name: ClassVar[str] = "d-nor-budget"

    rho: Annotated[Number, Exact(0)] | None = None

    def value(self, spec: PrivacySpec) -> Bracket:
        rho = budget_of(spec, "rho", self.name) if self.rho is None else self.rho
        return Bracket.exactly(rho.sqrt())


@define
class Sum(Route):
    """The sum of printed numbers, as rho adds over files (B-O17; epsilon does not, B-X5).

    Args:
        numbers: the summands.

    >>> from dpspec_divergences.examples import zcdp_spec
    >>> str(Sum(numbers=("0.07", "2.56")).value(zcdp_spec(rho=1)))
    '263/100'
    """

    name: ClassVar[str] = "sum"

    numbers: Annotated[tuple[Number, ...], Items(Exact(), least=1)]

    def value(self, spec: PrivacySpec) -> Bracket:
        try:
            return Bracket.exactly(sum(self.numbers, number(0)))
        except NumericalError:
            with ctx.workprec(PRECISION):
                return Bracket.around(sum((each.enclose(PRECISION) for each in self.numbers), arb(0)))


@define
class Ratio(Route):
    """The quotient of two printed numbers, such as a constant before and after a change of unit (B-X7).

    Args:
        numerator, denominator: the numbers.

    >>> from dpspec_divergences.examples import zcdp_spec
    >>> str(Ratio(numerator="ln(16)", denominator=2).value(zcdp_spec(rho=1)).lower == ln(4))
    'True'
    """

    name: ClassVar[str] = "ratio"

    numerator: Annotated[Number, Exact(0)]
    denominator: Annotated[Number, Exact(0, open_low=True)]

    def value(self, spec: PrivacySpec) -> Bracket:
        try:
            return Bracket.exactly(self.numerator / self.denominator)
        except NumericalError:
            top, bottom = self.numerator.enclose(PRECISION), self.denominator.enclose(PRECISION)
            return _enclosed(lambda: top / bottom)


@define
class Amplification(Route):
    """Amplification by secret sampling: ln(1 + fraction (e^epsilon - 1)) (B-T21, B-O29).

    It holds for the outsider only: who knows that a record was sampled faces epsilon itself (B-S17).

    Args:
        fraction: the share of records that is sampled.
        epsilon: the pure budget on the sample; without it the specification's.

    >>> from dpspec_divergences.examples import zcdp_spec
    >>> str(Amplification(fraction="1/2", epsilon="ln(3)").value(zcdp_spec(rho=1)))
    'ln(2)'
    """

    name: ClassVar[str] = "amplification"

    fraction: Annotated[Fraction, Rational(0, 1)]
    epsilon: Annotated[Number, Exact(0)] | None = None

    def value(self, spec: PrivacySpec) -> Bracket:
        epsilon = budget_of(spec, "epsilon", self.name) if self.epsilon is None else self.epsilon
        if self.fraction in (0, 1):
            return Bracket.exactly(epsilon if self.fraction else 0)
        if epsilon.is_infinite:
            return Bracket.exactly(INFINITY)
        ratio = rational_exponential(epsilon)
        if ratio is not None:
            return Bracket.exactly(ln(1 + self.fraction * (ratio - 1)))
        size = epsilon.enclose(PRECISION)
        return _log1p_scaled(self.fraction, size)


@define
class LaplaceUnionBound(Route):
    """The error that all k Laplace answers keep with probability 1 - delta: ln(k/delta) sensitivity/epsilon (B-T18, B-O31).

    Args:
        count: k, the number of answers.
        delta: the probability of a larger error, in (0, 1].
        sensitivity: the L1 sensitivity of the answers, in counts.
        epsilon: the pure budget; without it the specification's.

    >>> from dpspec_divergences.examples import zcdp_spec
    >>> LaplaceUnionBound(count=10000, delta="0.05", epsilon=1).value(zcdp_spec(rho=1)).lower.decimal()
    '12.2061'
    """

    name: ClassVar[str] = "laplace-union-bound"

    count: Annotated[int, Integer(1)]
    delta: Annotated[Fraction, Rational(0, 1, open_low=True)]
    sensitivity: Annotated[Fraction, Rational(0, open_low=True)] = Fraction(1)
    epsilon: Annotated[Number, Exact(0, open_low=True)] | None = None

    def value(self, spec: PrivacySpec) -> Bracket:
        epsilon = budget_of(spec, "epsilon", self.name) if self.epsilon is None else self.epsilon
        if epsilon == 0:
            return Bracket.exactly(INFINITY)
        if epsilon.is_infinite:
            return Bracket.exactly(0)
        log = ln(self.count / self.delta)
        if epsilon.is_rational:
            return Bracket.exactly(log * (self.sensitivity / epsilon.as_fraction()))
        top, bottom = log.enclose(PRECISION), epsilon.enclose(PRECISION)
        return _enclosed(lambda: top * ball(self.sensitivity) / bottom)


ROUTES: tuple[type[Route], ...] = (
    DNorBudget, Sum, Ratio, Amplification, LaplaceUnionBound,
)  # fmt: skip
