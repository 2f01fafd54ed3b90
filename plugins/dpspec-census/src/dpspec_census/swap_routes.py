"""Routes that recompute the numbers printed for swapping: its budget, the least budget, and the rates for a budget."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, ClassVar

from dpspec.errors import ParameterError
from dpspec.exact import Bracket, Number, ball, ln, sqrt
from dpspec.params import Exact, Integer, Rational, Text, define
from dpspec.route import Route
from dpspec.spec import PrivacySpec
from dpspec_census.swap_budget import FORMS, SwappingBudget, nominal_budget

PRECISION = 160
"""Bits of the balls around swap rates that are no rational numbers."""


@define
class SwappingBudgetRoute(Route):
    """Stratum size and swap rate -> epsilon (B-O1 to B-O10).

    Args:
        largest_stratum: b; left out, it is read from a `swapping` budget of the specification.
        swap_rate: p; left out, likewise.
        form: which print of the theorem.
    """

    name: ClassVar[str] = "swapping-budget"

    largest_stratum: Annotated[int, Integer(0)] | None = None
    swap_rate: Annotated[Fraction, Rational(0, 1)] | None = None
    form: Annotated[str, Text(FORMS)] = "s23-full"

    def value(self, spec: PrivacySpec) -> Bracket:
        rate = _from_budget(spec, "swap_rate", self.swap_rate)
        return Bracket.exactly(nominal_budget(_from_budget(spec, "largest_stratum", self.largest_stratum), rate, self.form))


@define
class LeastSwappingBudgetRoute(Route):
    """Stratum size -> the least nominal budget, (1/2) ln(b+1), or the swap rate that gives it (B-T12, B-O11).

    The two branches of the theorem meet at o = sqrt(b+1), so p = o/(1+o).

    Args:
        largest_stratum: b; left out, it is read from a `swapping` budget of the specification.
        quantity: epsilon or swap-rate.
    """

    name: ClassVar[str] = "least-swapping-budget"

    largest_stratum: Annotated[int, Integer(1)] | None = None
    quantity: Annotated[str, Text(("epsilon", "swap-rate"))] = "epsilon"

    def value(self, spec: PrivacySpec) -> Bracket:
        b = _from_budget(spec, "largest_stratum", self.largest_stratum)
        return Bracket.exactly(least_budget(b)) if self.quantity == "epsilon" else rate_of_least_budget(b)


@define
class SwapRateForBudgetRoute(Route):
    """Stratum size and epsilon -> one of the two swap rates with that nominal budget (B-T12, B-O12).

    Args:
        epsilon: the budget, at least (1/2) ln(b+1).
        largest_stratum: b; left out, it is read from a `swapping` budget of the specification.
        branch: smaller, o = (b+1) e^-epsilon; or larger, o = e^epsilon.
    """

    name: ClassVar[str] = "swap-rate-for-budget"

    epsilon: Annotated[Number, Exact(0)]
    largest_stratum: Annotated[int, Integer(1)] | None = None
    branch: Annotated[str, Text(("smaller", "larger"))] = "smaller"

    def value(self, spec: PrivacySpec) -> Bracket:
        smaller, larger = swap_rates(self.epsilon, _from_budget(spec, "largest_stratum", self.largest_stratum))
        return smaller if self.branch == "smaller" else larger


def least_budget(largest_stratum: int) -> Number:
    """eps_b = (1/2) ln(b+1), the least nominal budget for stratum size b (B-T12).

    >>> least_budget(99).decimal()
    '2.30259'
    """
    return ln(largest_stratum + 1) / 2


def rate_of_least_budget(largest_stratum: int) -> Bracket:
    """The swap rate p = o/(1+o), o = sqrt(b+1), of the least nominal budget; exact when b+1 is a square.

    >>> str(rate_of_least_budget(99))
    '10/11'
    """
    odds = sqrt(largest_stratum + 1)
    if odds.is_rational:
        root = odds.as_fraction()
        return Bracket.exactly(root / (1 + root))
    return _rate(odds.enclose(PRECISION))


def swap_rates(epsilon: Number, largest_stratum: int) -> tuple[Bracket, Bracket]:
    """The two swap rates whose nominal budget is epsilon: o = (b+1) e^-epsilon and o = e^epsilon (B-O12).

    >>> from dpspec.exact import number
    >>> [round(float(rate.lower), 6) for rate in swap_rates(number(5), 99)]
    [0.402555, 0.993307]
    """
    least = least_budget(largest_stratum)
    if epsilon.is_infinite or epsilon < least:
        rule = f"is given by no swap rate; the least budget for b={largest_stratum} is {least.decimal()}"
        raise ParameterError("epsilon", rule, "ask for a finite larger one", value=str(epsilon))
    from flint import ctx

    with ctx.workprec(PRECISION):
        growth = epsilon.enclose(PRECISION).exp()
        return _rate(ball(largest_stratum + 1) / growth), _rate(growth)


def _rate(odds: Any) -> Bracket:
    """p = o/(1+o) around a ball of positive odds."""
    from flint import ctx

    with ctx.workprec(PRECISION):
        return Bracket.around(1 - 1 / (1 + odds), least=0)


def _from_budget(spec: PrivacySpec, field: str, given: Any) -> Any:
    if given is not None:
        return given
    read = getattr(spec.budget, field) if isinstance(spec.budget, SwappingBudget) else None
    if read is None:
        raise ParameterError(field, "is neither given nor stated by a swapping budget", f"write {field} in the route")
    return read
