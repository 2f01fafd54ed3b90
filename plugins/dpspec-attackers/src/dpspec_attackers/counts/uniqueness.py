"""The uniqueness attacker: one variable of the target is unknown, and its other attributes are unique at several levels (Z-D24).

At each of these levels the count of the guessed combination is 1 if the guess is right and 0 if not. So every level is one more
release about the same secret, and the log odds add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import ctx

from dpspec.errors import ParameterError
from dpspec.exact import Bracket, NumberLike, ball
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.products import product_of
from dpspec_attackers.counts.belief import as_probability, believed, expected_posterior, read_prior
from dpspec_attackers.counts.block import pair, read_rho


def posterior(released: Sequence[int], rhos: Sequence[NumberLike], prior: NumberLike, *, precision: int = 64) -> Bracket:
    """sigma(logit p + sum_j rho_j (2 x_j* - 1)): the belief in the right guess after one released count at each level (2.12).

    Args:
        released: x_j*, for every level.
        rhos: the budgets of the counts, level by level.
        prior: p, the probability of the true value.

    Raises:
        ParameterError: when there is not one released count for each budget.

    >>> posterior((1, 2), ("0.0992", "0.2465"), "1/2").lower.decimal(4)
    '0.6982'
    """
    if len(released) != len(rhos):
        raise ParameterError("released", f"needs one count for each of the {len(rhos)} levels", value=tuple(released))
    loss = sum((read_rho(rho) * (2 * x - 1) for x, rho in zip(released, rhos, strict=True)), Fraction(0))
    with ctx.workprec(precision + 32):
        return as_probability(believed(read_prior(prior), ball(loss)))


def levels(rhos: Sequence[NumberLike]) -> Dichotomy:
    """The two laws of the counts of all levels together.

    Raises:
        ParameterError: when there is no level.
    """
    if not rhos:
        raise ParameterError("rhos", "needs the budget of at least one level")
    return product_of([pair(rho) for rho in rhos])


def marginal_posterior(rhos: Sequence[NumberLike], prior: NumberLike, *, precision: int = 64) -> Bracket:
    """Pi: that belief averaged over the noise of all levels (Z-A4).

    >>> marginal_posterior(("0.0992", "0.2465"), "1/2").upper.decimal(4)
    '0.5745'
    """
    return expected_posterior(levels(rhos), prior, precision=precision)
