"""What a free simulator asks of a mechanism: that all its laws lie close to one law (coupled worlds, Bassily et al. 2013).

For a secret t with laws P_t, epsilon-coupled-worlds privacy without other records asks for *some* law Q with
d(P_t, Q) <= epsilon for all t. A five-tuple asks that the P_t be close to each other, two at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpspec_divergences import Mult

from dpspec.exact import Number, ln, number
from dpspec.laws.finite import FiniteLaw


def radius(laws: Sequence[FiniteLaw]) -> Number:
    """The least epsilon such that one law Q has |ln(P_t(o)/Q(o))| <= epsilon for all laws P_t and outcomes o.

    Q(o) has to lie between max_t P_t(o) e^-epsilon and min_t P_t(o) e^epsilon, and these have room for a law exactly when

        epsilon >= 1/2 max over t, t' of mult(P_t, P_t'),
        e^epsilon >= sum over o of max_t P_t(o),    e^epsilon >= 1 / sum over o of min_t P_t(o).

    Infinite when two laws have different supports.

    >>> law = FiniteLaw.bernoulli
    >>> str(radius([law("1/4"), law("3/4")])), str(radius([law("1/100"), law("3/100")]))
    ('ln(2)', '1/2*ln(3)')
    """
    support = {outcome for law in laws for outcome in law.support}
    if any(len(law.support) < len(support) for law in laws):
        return number("inf")
    columns = [[law.probability(outcome) for law in laws] for outcome in support]
    most, least = sum(map(max, columns), Fraction(0)), sum(map(min, columns), Fraction(0))
    return max(diameter(laws) * number("1/2"), ln(most), ln(1 / least))


def diameter(laws: Sequence[FiniteLaw]) -> Number:
    """The largest distance `mult` of two of the laws: what a five-tuple sees of them.

    >>> str(diameter([FiniteLaw.bernoulli("1/4"), FiniteLaw.bernoulli("3/4")]))
    'ln(3)'
    """
    return max((Mult().between(one, two).upper for one in laws for two in laws), default=number(0))
