"""The block-knowledge attacker: knows all records of a block but one, and sees the noisy count of a cell (Z-D14 to Z-D18).

The true count is `known` + 1 when the target has the attributes in question, and `known` otherwise; p is the prior probability of
what is true, the former. The release is the count with discrete Gaussian noise, P(noise = k) proportional to exp(-rho k^2). Only
the difference of a released value from `known` matters (Z-D22), so outcomes are told by that difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import attrs
from flint import ctx

from dpspec.exact import Bracket, NumberLike, ball, ln, number
from dpspec.laws.discrete_gaussian import DiscreteGaussianShift
from dpspec.laws.integers import DiscreteGaussian
from dpspec.params import Rational
from dpspec_attackers.counts import intervals
from dpspec_attackers.counts.belief import as_probability, believed, read_prior
from dpspec_attackers.counts.sums import mean_posteriors

EQUIVALENT = {
    "attributes": "the prior probability that the target has the attributes that are true of it",
    "response": "the prior probability that the target answered at all; all other records of the block are known",
    "misreport": "the prior probability that the target answered correctly; all other records of the block are known",
    "unknown-variable": "the prior probability of the true value of one variable of the target, all others known",
}
"""What p stands for in attacks with the same formulas (Z-D23)."""


def read_rho(rho: NumberLike) -> Fraction:
    """The budget of one count, positive and rational.

    Raises:
        ParameterError: for anything else.
    """
    return Rational(0, open_low=True).read(rho, "rho")


def pair(rho: NumberLike) -> DiscreteGaussianShift:
    """The two laws of the released count: noise around `known` + 1, the truth, and around `known`."""
    return DiscreteGaussianShift(1, 1 / (2 * read_rho(rho)))


def mass(released: int, rho: NumberLike, *, precision: int = 64) -> Bracket:
    """P(X* = known + released) when the count is known + 1; the printed table has it for the count `known` (Z-X1).

    >>> mass(1, "0.0992").lower.decimal(4)
    '0.1777'
    """
    law = DiscreteGaussian(1, 1 / (2 * read_rho(rho)))
    return as_probability(law.mass(released, precision))


def posterior(released: int, rho: NumberLike, prior: NumberLike, *, precision: int = 64) -> Bracket:
    """sigma(logit p + rho (2 (x* - known) - 1)), the belief in the true count after one released value (Z-D15, 2.3).

    Args:
        released: x* - known.
        rho: the budget of the count.
        prior: p.

    >>> posterior(4, "0.0992", "1/5").lower.decimal(3)
    '0.334'
    """
    r, p = read_rho(rho), read_prior(prior)
    with ctx.workprec(precision + 32):
        return as_probability(believed(p, ball(r * (2 * released - 1))))


def realised_risk(released: int, rho: NumberLike, prior: NumberLike, *, precision: int = 64) -> Bracket:
    """R' = posterior / prior, between 0 and 1/p; above 1 exactly when x* >= known + 1 (Z-D16, 2.4)."""
    p = read_prior(prior)
    return posterior(released, rho, p, precision=precision).scaled(1 / p)


def marginal_posterior(rho: NumberLike, prior: NumberLike, *, precision: int = 64) -> Bracket:
    """Pi: the posterior averaged over the noise around the true count (Z-D17, 2.5; Z-S5).

    >>> marginal_posterior("0.0992", "1/2").lower.decimal(3)
    '0.524'
    """
    return mean_posteriors(read_rho(rho), [read_prior(prior)], precision=precision)[0]


def marginal_risk(rho: NumberLike, prior: NumberLike, *, precision: int = 64) -> Bracket:
    """R = Pi / p (Z-D17, 2.6); not monotone in rho for a small p (Z-X20)."""
    p = read_prior(prior)
    return marginal_posterior(rho, p, precision=precision).scaled(1 / p)


def threshold(rho: NumberLike, prior: NumberLike) -> int:
    """The least x* - known at which the posterior exceeds 1/2: floor(1/2 + logit(1 - p) / (2 rho)) + 1, exactly (Z-D18).

    >>> [threshold("0.0992", p) for p in ("1/2", "1/5", "1/864")]
    [1, 8, 35]
    """
    r, p = read_rho(rho), read_prior(prior)
    odds = ln((1 - p) / p)
    place = math.floor(0.5 + float(odds) / (2 * float(r))) + 1
    while odds < number(r * (2 * place - 3)):
        place -= 1
    while not odds < number(r * (2 * place - 1)):
        place += 1
    return place


def success_probability(rho: NumberLike, prior: NumberLike, *, precision: int = 64) -> Bracket:
    """P(X* >= threshold) for the true count: how often the bet on the likelier count is right (Z-D18, 2.8).

    It is not monotone in rho when p < 1/2, because the threshold jumps (Z-S8).

    >>> success_probability("1/2", "1/5").lower.decimal(4), success_probability("3/5", "1/5").lower.decimal(4)
    ('0.3005', '0.2815')
    """
    r = read_rho(rho)
    return as_probability(DiscreteGaussian(1, 1 / (2 * r)).tail(threshold(r, prior), precision)[1])


@attrs.frozen(kw_only=True)
class Row:
    """One released value in the table of a policy-maker (Z-N2.4).

    Args:
        released: x* - known.
        mass: how likely that is, the true count being known + 1.
        posteriors: the belief afterwards, for each prior.
        risks: those over the priors.
    """

    released: int
    mass: Bracket
    posteriors: tuple[Bracket, ...]
    risks: tuple[Bracket, ...]


def table(rho: NumberLike, priors: Sequence[NumberLike], released: Iterable[int]) -> tuple[Row, ...]:
    """Released values with their probability, posteriors and risks (Z-A1), each enclosed to about twelve digits.

    >>> [row.risks[0].lower.decimal(3) for row in table("0.0992", ["1/2"], (1, 2, 3))]
    ['1.05', '1.15', '1.24']
    """
    r, beliefs, values = read_rho(rho), [read_prior(p) for p in priors], tuple(released)
    likely, known = intervals.masses(values, r), intervals.posteriors(values, r, beliefs)
    found = [[known.bracket(row, column) for row in range(len(beliefs))] for column in range(len(values))]
    return tuple(
        Row(
            released=value,
            mass=likely.bracket(column),
            posteriors=tuple(found[column]),
            risks=tuple(after.scaled(1 / before) for after, before in zip(found[column], beliefs, strict=True)),
        )
        for column, value in enumerate(values)
    )


def conditional_risks(
    releases: Iterable[tuple[int, NumberLike]], prior: NumberLike, *, precision: int = 64
) -> tuple[Bracket, ...]:
    """R' of every release in turn, the posterior before it being its prior (Z-D25, Z-A5).

    Their product is the risk of all releases together: exactly so, for the same attack on releases that are independent given
    the count (Z-T44, Z-S11).

    Args:
        releases: pairs (x* - known, rho).

    >>> [risk.lower.decimal(4) for risk in conditional_risks([(2, "0.0992"), (3, "0.0992")], "1/2")]
    ['1.148', '1.2']
    """
    p, risks = read_prior(prior), []
    loss = Fraction(0)
    with ctx.workprec(precision + 32):
        before = ball(p)
        for released, rho in releases:
            loss += read_rho(rho) * (2 * released - 1)
            after = believed(p, ball(loss))
            risks.append(Bracket.around(after / before, least=0))
            before = after
    return tuple(risks)
