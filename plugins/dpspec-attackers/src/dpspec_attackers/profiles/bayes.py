"""What a pure budget says about an attacker with independent records (Z-T4 to Z-T7).

The target is in the data with prior p; if so, its value lies in a set S with prior q. Between the prior and the posterior of
both together, P(value in S and included), stands the relative disclosure risk

    r <= 1 / (p q + p (1 - q) e^(-2 epsilon) + (1 - p) e^(-epsilon)),

for epsilon-DP with records added or removed, when the belief about the other records depends neither on the target's inclusion
nor on its value (Z-D30).
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, ctx

from dpspec.errors import CertainTargetError, ParameterError
from dpspec.exact import INFINITY, Bracket, Number, NumberLike, ball, ln, number, rational
from dpspec_attackers.numeric import WORKING, fmpq_of, in_decay

Place = tuple[Fraction, Fraction]
"""Priors (p, q)."""

INDEPENDENCE = (
    "the attacker's belief about the other records depends neither on whether the target is included nor on its value (Z-D30); "
    "without it the risk is unbounded"
)


def prior(value: NumberLike, subject: str) -> Fraction:
    """A prior in (0, 1].

    Raises:
        CertainTargetError: for 0, which no release can change.
        ParameterError: outside [0, 1].
    """
    read = value.as_fraction() if isinstance(value, Number) else rational(value, subject)
    if read == 0:
        raise CertainTargetError(subject, "must be above 0: what has no probability before has none after any release", value="0")
    if not 0 < read <= 1:
        raise ParameterError(subject, "must lie in (0, 1]", "write a probability such as 1/20", value=str(value))
    return read


def risk_bound(p: NumberLike, q: NumberLike, epsilon: NumberLike | Bracket) -> Bracket:
    """The largest relative disclosure risk r of Z-T4.

    Args:
        p: prior that the target is included.
        q: prior that its value lies in S, if it is.
        epsilon: the pure budget for one record added or removed.

    >>> str(risk_bound(1, "3/10", "ln(2)")), risk_bound("1/2", 1, 1).upper.decimal(8)
    ('40/19', '1.4621172')
    """
    included, inside = prior(p, "p"), prior(q, "q")
    both, other, out = (fmpq_of(w) for w in (included * inside, included * (1 - inside), 1 - included))
    return in_decay(epsilon, lambda y: 1 / (both + other * y * y + out * y))


def absolute_bound(p: NumberLike, q: NumberLike, epsilon: NumberLike | Bracket) -> Bracket:
    """The largest posterior that the target is included with a value in S: p q r (Z-D6).

    >>> str(absolute_bound("1/2", 1, "ln(3)"))
    '3/4'
    """
    return risk_bound(p, q, epsilon).scaled(prior(p, "p") * prior(q, "q"))


def epsilon_at(p: NumberLike, q: NumberLike, ratio: NumberLike) -> Bracket:
    """The epsilon up to which r stays at most `ratio`, at one pair of priors (Z-T5 to Z-T7): the inverse of `risk_bound`.

    epsilon = -ln( 2c / (b + sqrt(b^2 + 4 a c)) ), a = p (1 - q), b = 1 - p, c = 1/ratio - p q: the rationalised root, in which
    nothing cancels (Z-S15). Infinite when the ratio is at least 1/(p q), which no posterior can exceed.

    >>> str(epsilon_at(1, "1/12", 3)), str(epsilon_at("1/2", 1, "3/2"))
    ('1/2*ln(11/3)', 'ln(3)')
    """
    least = rational(ratio, "ratio")
    if least < 1:
        raise ParameterError("ratio", "must be at least 1: some outcome always raises the belief", value=str(ratio))
    return root(prior(p, "p"), prior(q, "q"), least)


def root(p: Fraction, q: Fraction, ratio: Fraction) -> Bracket:
    """`epsilon_at` for p and q in [0, 1], 0 included, where it is the limit."""
    a, b, c = p * (1 - q), 1 - p, 1 / ratio - p * q
    if c <= 0:
        return Bracket.exactly(INFINITY)
    square = b * b + 4 * a * c
    if b == 0:
        return Bracket.exactly(ln(a / c) * Fraction(1, 2))
    exact = _root(square)
    if exact is not None:
        return Bracket.exactly(ln((b + exact) / (2 * c)))
    with ctx.workprec(WORKING):
        return Bracket.around(((ball(b) + ball(square).sqrt()) / ball(2 * c)).log(), least=0)


def decay_root(p: Fraction, q: Fraction, inverse_ratio: Fraction, precision: int) -> arb:
    """e^(-epsilon) of `root` as a ball, 0 where epsilon is infinite; at the working precision."""
    c = inverse_ratio - p * q
    if c <= 0:
        return arb(0)
    with ctx.workprec(precision):
        rest = ball(1 - p)
        return ball(2 * c) / (rest + (rest * rest + ball(4 * p * (1 - q) * c)).sqrt())


def _root(value: Fraction) -> Fraction | None:
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    return Fraction(top, bottom) if top * top == value.numerator and bottom * bottom == value.denominator else None


def naive_epsilon(ratio: NumberLike) -> Bracket:
    """ln(ratio)/2, which keeps a relative risk for all priors at once: r <= e^(2 epsilon) (Z-T6).

    >>> str(naive_epsilon(9))
    'ln(3)'
    """
    value = number(ratio)
    return Bracket.exactly(ln(value.as_fraction()) * Fraction(1, 2))
