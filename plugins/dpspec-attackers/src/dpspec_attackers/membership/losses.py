"""How far the privacy loss goes, but for a probability `failure`, under each standard of protection (Z-T1, Z-T31, Z-T35, Z-A17,
Z-A18).

`failure` (delta' of the thesis) is the probability that a statement about the posterior does not hold. It has to be above the
delta of approximate privacy, and may be far above it. Statements are composed and post-processed first and converted last
(Z-S34).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from dpspec_divergences import MultDelta
from dpspec_divergences.solving import between, crossing
from flint import arb, ctx

from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.conversion import Conversion
from dpspec.errors import FailureProbabilityError, NoRouteError, ParameterError
from dpspec.exact import INFINITY, Bracket, Number, NumberLike, number, rational
from dpspec.extension import installed
from dpspec_attackers.numeric import WORKING, as_bracket, fmpq_of, minus_log

_GOLDEN = (math.sqrt(5) - 1) / 2


def loss_of_approximate(epsilon: NumberLike | Bracket, delta: NumberLike, failure: NumberLike) -> Bracket:
    """epsilon' = ln(delta' e^epsilon + delta) - ln(delta' - delta) (Z-T35); at delta = 0 it is epsilon, without failure.

    Raises:
        FailureProbabilityError: unless delta < failure <= 1 (or delta = 0).

    >>> loss_of_approximate(1, "1e-6", "1e-3").upper.decimal(7)
    '1.001368'
    """
    d, f = rational(delta, "delta"), rational(failure, "failure")
    if d == 0:
        return as_bracket(epsilon)
    _check(d, f)
    small, large = fmpq_of(d), fmpq_of(f)
    return minus_log(epsilon, lambda y: (large - small) * y / (large + small * y))


def approximate_of_loss(loss: NumberLike | Bracket, delta: NumberLike, failure: NumberLike) -> Bracket:
    """epsilon = ln(((delta' - delta) e^epsilon' - delta)/delta'): the budget under which the loss stays so far (inverse of
    Z-T35).

    Raises:
        ParameterError: where not even epsilon = 0 keeps it at this delta.

    >>> approximate_of_loss("2*ln(3/2)", "1e-6", "1/100").upper.decimal(7)
    '0.8107858'
    """
    d, f = rational(delta, "delta"), rational(failure, "failure")
    if d == 0:
        return as_bracket(loss)
    _check(d, f)
    small, large = fmpq_of(d), fmpq_of(f)
    found = minus_log(loss, lambda y: large * y / (large - small - small * y))
    if found.lower < 0:
        rule = f"is too large: with failure {f} it alone exceeds the tolerated loss"
        raise ParameterError("delta", rule, "lower delta, or tolerate a larger failure", value=str(delta))
    return found


def loss_of_difference_criterion(epsilon: NumberLike | Bracket) -> Bracket:
    """epsilon~ = ln(3 e^(epsilon/2) - 1) - ln(3 - e^(epsilon/2)), the loss that |X - p| <= tanh(epsilon/4) for all p implies
    (Z-T31).

    Raises:
        ParameterError: at epsilon >= 2 ln 3, where nothing follows (not said in print, Z-X18).

    >>> str(loss_of_difference_criterion("ln(4)"))
    'ln(5)'
    """
    ends = as_bracket(epsilon)
    if ends.upper >= number("2*ln(3)"):
        raise ParameterError("epsilon", "must be below 2 ln 3, beyond which nothing follows", value=str(epsilon))
    return minus_log(ends, lambda y: (3 * y - 1) / (3 - y), part=Fraction(1, 2))


def loss_of_zcdp(rho: NumberLike, failure: NumberLike) -> Bracket:
    """The least epsilon' over delta in (0, failure), by epsilon = rho + 2 sqrt(rho ln(1/delta)) and Z-T35 (Z-A18).

    Any delta gives a valid number; the best is found in doubles and the number at it is enclosed.

    >>> loss_of_zcdp("7/100", "1/100").upper.decimal(6)
    '1.58414'
    """
    return _best(lambda delta: _simple(number(rho, "rho"), delta), rational(failure, "failure"))


def loss_of_zcdp_tail(rho: NumberLike, failure: NumberLike) -> Bracket:
    """The epsilon' with (1 + e^-epsilon') e^(-(epsilon' - rho)^2/(4 rho)) = failure: below `loss_of_zcdp`, and not in the thesis.

    P(L > e) <= e^(-(e - rho)^2/(4 rho)) for the loss of either order (K-T13), and P(L < -e) = E_Q[e^L; L < -e] is at most e^-e
    times that of the other order.

    >>> loss_of_zcdp_tail("7/100", "1/100").upper.decimal(6)
    '1.23655'
    """
    budget, share = number(rho, "rho"), rational(failure, "failure")
    if budget == 0:
        return Bracket.exactly(0)
    with ctx.workprec(WORKING):
        scale = budget.enclose(WORKING)
        limit = -arb(fmpq_of(share)).log()

        def excess(e: arb) -> arb:
            return limit + (1 + (-e - scale).exp()).log() - e * e / (4 * scale)

        low, high = crossing(excess, Fraction(0))
        return Bracket.around(scale + between(low, high))


def loss_bound(divergence: OutputDivergence, budget: Number, failure: Fraction) -> tuple[Bracket, str]:
    """epsilon' with P(|L| <= epsilon') >= 1 - failure for all laws within a budget of any divergence, and by what it follows.

    Args:
        divergence: d_Pr.
        budget: for one pair of laws, in the first of its `budget_parameters`.
        failure: the probability that the statement fails; 0 for pure privacy.

    Raises:
        FailureProbabilityError: when the divergence has a delta that is not below `failure`.
        NoRouteError: when no formula leads from the divergence to pure or to approximate privacy.
    """
    pure = MultDelta(delta=Fraction(0)).bounded_by(divergence)
    if pure is not None:
        return Bracket.exactly(budget * pure[0]), "Z-T32"
    own: Fraction | None = getattr(divergence, "delta", None)
    if own is not None and failure <= own:
        _check(own, failure)
    if not failure:
        raise FailureProbabilityError("failure", f"must be above 0 for {divergence.name}", "write one such as 1/100", value="0")
    if own is not None and (at_own := MultDelta(delta=own).bounded_by(divergence)) is not None:
        return loss_of_approximate(budget * at_own[0], own, failure), "Z-T35"
    arrows = _arrows(divergence)
    if not arrows:
        rule = "is led to approximate privacy by no registered formula"
        raise NoRouteError(divergence.name, rule, "state the guarantee in epsilon and delta, or in rho")

    def approximate(delta: Fraction) -> Bracket | None:
        found = [value for arrow in arrows if (value := arrow.convert(divergence, budget, MultDelta(delta=delta))) is not None]
        return min(found, key=lambda value: value.upper, default=None)

    return _best(approximate, failure), f"Z-T35, Z-A18, through {' or '.join(sorted({arrow.name for arrow in arrows}))}"


def _arrows(divergence: OutputDivergence) -> list[Conversion]:
    """The registered conversions from a divergence to approximate privacy, for every mechanism."""
    registered = [entry.cls for entry in installed().registry if entry.kind == "rules" and issubclass(entry.cls, Conversion)]
    known = [cls() for cls in registered if cls.mechanism is None]
    return [arrow for arrow in known if arrow.source == divergence.name and arrow.target == MultDelta.name]


def _best(approximate: Callable[[Fraction], Bracket | None], failure: Fraction) -> Bracket:
    """The least of Z-T35 over delta = failure e^-s, by golden section on s in doubles; infinite where nothing is known."""

    def at(s: float) -> tuple[Fraction, Bracket]:
        delta = failure * Fraction(math.exp(-s)).limit_denominator(10**12)
        found = approximate(delta)
        return delta, Bracket.exactly(INFINITY) if found is None else loss_of_approximate(found, delta, failure)

    low, high = 1e-4, 12.0
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    here, there = at(left)[1], at(right)[1]
    for _ in range(24):
        if here.upper < there.upper:
            high, right, there = right, left, here
            left = high - _GOLDEN * (high - low)
            here = at(left)[1]
        else:
            low, left, here = left, right, there
            right = low + _GOLDEN * (high - low)
            there = at(right)[1]
    return min(here, there, key=lambda value: value.upper)


def _simple(rho: Number, delta: Fraction) -> Bracket:
    with ctx.workprec(WORKING):
        size = rho.enclose(WORKING)
        return Bracket.around(size + 2 * (size * -arb(fmpq_of(delta)).log()).sqrt(), least=0)


def _check(delta: Fraction, failure: Fraction) -> None:
    if not delta < failure <= 1:
        rule = f"must lie above delta = {delta}, and be at most 1"
        raise FailureProbabilityError("failure", rule, "a statement may fail with 1/100 while delta is 1e-6", value=str(failure))
