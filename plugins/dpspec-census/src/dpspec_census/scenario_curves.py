"""What a rho says about one secret: powers, and the Bayesian curves of the knowledge classes b, c and d (K-D26, K-N12).

Powers and class c are those of Gaussian noise, mu = sqrt(2 rho), which the discrete noise of the census attains to many digits
(K-O22); `power_bound`, class b and class d hold for every mechanism with that rho.
"""

from __future__ import annotations

from fractions import Fraction

from dpspec_divergences import DNor
from dpspec_divergences.trade_off import GaussianTradeOff
from flint import arb, ctx

from dpspec.exact import Bracket, NumberLike, ball, number, rational
from dpspec.laws.numeric import normal_cdf
from dpspec.params import Rational
from dpspec.risk.allowed import allowed_power

_PRECISION = 128
_BITS = 60


def power(rho: NumberLike, level: NumberLike) -> Bracket:
    """Phi(Phi^-1(level) + sqrt(2 rho)): how often a test of Gaussian noise of this rho finds the secret (K-N12).

    >>> power("2.63", "0.05").upper.decimal()
    '0.741706'
    """
    with ctx.workprec(_PRECISION):
        return Bracket.around(GaussianTradeOff().largest_probability(_open(level, "level"), _mu(rho)), least=0)


def power_bound(rho: NumberLike, level: NumberLike) -> Bracket:
    """The largest power that rho-zCDP alone allows, whatever the mechanism (K-N11).

    >>> power_bound("0.1115", "0.05").upper.decimal(4)
    '0.1402'
    """
    return allowed_power(DNor(), number(rational(rho)).sqrt(), rational(level))


def epsilon_given_truth(rho: NumberLike, delta: NumberLike) -> Bracket:
    """ln(delta / Phi(Phi^-1(delta) - sqrt(2 rho))): class c of K-D26.

    With probability at least 1 - delta over the noise, the belief in the true record of somebody who knows all others does not
    exceed e^epsilon times the belief that the same attacker would have without that record in the data.

    >>> epsilon_given_truth("0.1115", "0.01").upper.decimal()
    '1.36007'
    """
    with ctx.workprec(_PRECISION):
        return Bracket.around(_epsilon(_open(delta, "delta"), _mu(rho)), least=0)


def delta_given_truth(rho: NumberLike, epsilon: NumberLike) -> Bracket:
    """The delta of class c at an epsilon, by halving (K-N15).

    >>> delta_given_truth("0.1115", 1).upper.decimal()
    '0.0705793'
    """
    goal, low, high = rational(epsilon, "epsilon"), Fraction(0), Fraction(1)
    with ctx.workprec(2 * _PRECISION):
        mu = _mu(rho)
        for _ in range(2 * _BITS):
            middle = (low + high) / 2
            found = _epsilon(ball(middle), mu)
            if found > ball(goal):
                low = middle
            elif found < ball(goal):
                high = middle
            else:
                break
            if low and high - low < low / 2**_BITS:
                break
    return Bracket(lower=number(low), upper=number(high))


def epsilon_of_predictive(rho: NumberLike, delta: NumberLike) -> Bracket:
    """2 sqrt(rho ln(1/delta)) - rho, or ln(1/delta) where that is at most rho: class b of K-D26, over the predictive law."""
    r, slack = _rho(rho), _open(delta, "delta")
    with ctx.workprec(_PRECISION):
        log = -slack.log()
        return Bracket.around(2 * (ball(r) * log).sqrt() - ball(r) if log > ball(r) else log, least=0)


def epsilon_any_prior(rho: NumberLike, delta: NumberLike) -> Bracket:
    """rho + 2 sqrt(rho ln(1/delta)): class d of K-D26, for a prior of all other records that is correct."""
    r, slack = _rho(rho), _open(delta, "delta")
    with ctx.workprec(_PRECISION):
        return Bracket.around(ball(r) + 2 * (-ball(r) * slack.log()).sqrt(), least=0)


def _epsilon(delta: arb, mu: arb) -> arb:
    """delta over the largest probability of an event under the other law, as a logarithm."""
    quantile = arb(2).sqrt() * (2 * delta - 1).erfinv()
    return (delta / normal_cdf(quantile - mu)).log()


def _rho(value: NumberLike) -> Fraction:
    return Rational(0, open_low=True).read(value, "rho")


def _mu(rho: NumberLike) -> arb:
    return ball(2 * _rho(rho)).sqrt()


def _open(value: NumberLike, subject: str) -> arb:
    return ball(Rational(0, 1, open_low=True, open_high=True).read(value, subject))
