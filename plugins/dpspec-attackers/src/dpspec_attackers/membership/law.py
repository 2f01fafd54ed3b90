"""The law of the posterior under one mechanism, instead of a bound (Z-T27, Z-A23): from the privacy loss of a pair (P_x, P_x-i).

The outcome is drawn from the left law of the pair. With the target in the data (left = P_x) the posterior is p/(p + (1 - p)
e^-L); with the pair turned round it is drawn without the target, and L changes its sign.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from dpspec.errors import NoRouteError, ParameterError
from dpspec.exact import INFINITY, Bracket, Number, NumberLike, ln, number, rational
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.loss import PrivacyLoss
from dpspec_attackers.membership.posterior import prior_of

Side = Literal["in", "out"]
"""Whether the target is in the data from which the outcome is drawn."""

_BITS = 40


def posterior_law(pair: Dichotomy, prior: NumberLike, drawn: Side = "in") -> tuple[tuple[Fraction, Fraction], ...]:
    """The posteriors with their probabilities, rising, for a pair (P_x, P_x-i) of finitely many rational atoms.

    >>> from dpspec.laws.finite import FiniteLaw
    >>> posterior_law(FiniteLaw.bernoulli("3/4").against(FiniteLaw.bernoulli("1/4")), "1/2")
    ((Fraction(1, 4), Fraction(1, 4)), (Fraction(3, 4), Fraction(3, 4)))
    """
    p = prior_of(prior)
    atoms = pair.exact_atoms()
    if atoms is None:
        raise NoRouteError(
            type(pair).__name__, "has no finite list of rational probabilities", "use posterior_cdf, which encloses"
        )
    found: dict[Fraction, Fraction] = {}
    for inside, outside in atoms:
        mass = inside if drawn == "in" else outside
        if mass:
            value = p * inside / (p * inside + (1 - p) * outside)
            found[value] = found.get(value, Fraction(0)) + mass
    return tuple(sorted(found.items()))


def expected_posterior(pair: Dichotomy, prior: NumberLike, drawn: Side = "in") -> Fraction:
    """E X, exactly, for a pair of finitely many rational atoms."""
    return sum((value * mass for value, mass in posterior_law(pair, prior, drawn)), Fraction(0))


def posterior_cdf(pair: Dichotomy, prior: NumberLike, posterior: NumberLike, drawn: Side = "in") -> Bracket:
    """P(X <= posterior), in a bracket, for every pair: a statement about the privacy loss.

    >>> from dpspec.laws.shifts import GaussianShift
    >>> posterior_cdf(GaussianShift(number(1)), "1/2", "0.188473").upper.decimal(3)
    '0.025'
    """
    p, x = prior_of(prior), rational(posterior, "posterior")
    if not 0 < x < 1:
        raise ParameterError("posterior", "must lie in (0, 1)", value=str(posterior))
    loss = ln(x / (1 - x)) - ln(p / (1 - p))
    if drawn == "in":
        return PrivacyLoss(pair).cdf(loss)
    return PrivacyLoss(pair.reverse()).at_least(-loss)


def two_sided_loss(pair: Dichotomy, failure: Fraction) -> Bracket:
    """The least e with P(|L| > e) <= failure, the outcome drawn from the left law (Z-D10)."""
    if pair.is_identical:
        return Bracket.exactly(0)
    atoms = pair.exact_atoms()
    if atoms is not None:
        return Bracket.exactly(_quantile(atoms, failure))
    top = pair.max_log_ratio() | pair.reverse().max_log_ratio()
    if failure == 0:
        return top
    loss = PrivacyLoss(pair)
    low, high = Fraction(0), Fraction(1)

    def beyond(e: Fraction) -> Bracket:
        up, down = loss.above(e), loss.at_least(-e)
        return Bracket(lower=up.lower + (-down.upper + 1), upper=up.upper + (-down.lower + 1))

    while beyond(high).upper > failure:
        if high > 1 << 20:
            return Bracket(lower=number(0), upper=top.upper)
        low, high = (high if beyond(high).lower > failure else low), 2 * high
    certain, step = low, high
    for _ in range(_BITS):
        step /= 2
        if beyond(certain + step).lower > failure:
            certain += step
    for _ in range(_BITS):
        middle = (certain + high) / 2
        if beyond(middle).upper > failure:
            break
        high = middle
    return Bracket(lower=number(certain), upper=min(number(high), top.upper))


def _quantile(atoms: tuple[tuple[Fraction, Fraction], ...], failure: Fraction) -> Number:
    sizes = sorted(((_size(p, q), p) for p, q in atoms if p), reverse=True)
    spent = Fraction(0)
    for size, mass in sizes:
        spent += mass
        if spent > failure:
            return size
    return number(0)


def _size(p: Fraction, q: Fraction) -> Number:
    loss = ln(p / q) if q else INFINITY
    return -loss if loss < 0 else loss
