"""What a release does to the belief of somebody who wonders which of two laws it came from, on average over the release.

P is the law under what is true, Q the one under the alternative, p the prior probability of the truth. An outcome with the
privacy loss L = ln(dP/dQ) moves the belief in the truth to sigma(logit p + L) (Z-T27); the functions here average over L under P.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from dpspec.exact import Bracket, NumberLike, ball, dyadic, ln, number
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.loss import PrivacyLoss
from dpspec_attackers.priors import IN_DOUBT

Floats = NDArray[np.float64]

_STEP = Fraction(1, 1 << 11)
"""The grid of privacy losses on which several releases are added up."""
_BEND = Fraction(1, 10)
"""A bound of the second derivative of the logistic function, which is 1/(6 sqrt 3) = 0.0962... at most."""
_ROUNDING = Fraction(1, 1 << 50)


def read_prior(prior: NumberLike) -> Fraction:
    """A prior probability of the truth as a fraction.

    Raises:
        CertainTargetError: for 0 and 1: such an attacker learns nothing.
        ParameterError: outside [0, 1].
    """
    return IN_DOUBT.read(prior, "prior")


def believed(prior: Fraction, loss: arb) -> arb:
    """sigma(logit p + L) = p / (p + (1 - p) e^-L), also for an infinite loss."""
    if loss.is_finite():
        return 1 / (1 + ball((1 - prior) / prior) * (-loss).exp())
    return arb(1) if loss > 0 else arb(0)


def as_probability(value: arb) -> Bracket:
    """A ball around a probability as a bracket inside [0, 1]."""
    found = Bracket.around(value, least=0)
    return Bracket(lower=min(found.lower, number(1)), upper=min(found.upper, number(1)))


def expected_posterior(pair: Dichotomy, prior: NumberLike, *, precision: int = 64) -> Bracket:
    """E_P[ p P / (p P + (1 - p) Q) ]: the mean belief in the truth after the release (Z-D17, equation 2.5).

    It is exact for finitely many rational atoms. One release is summed cell by cell. Several independent releases are added up
    on a grid of losses, every atom split between its two neighbours so that its mean stays: the error of that is at most
    h^2/8 max|sigma''| for each release, h the step of the grid. A pair that is only known between two others is bracketed by
    theirs: p t^2/(p t + 1 - p) is convex in t = dP/dQ, so that processing the release never raises the mean.

    Args:
        pair: (P, Q), P the truth.
        prior: p.

    Raises:
        ParameterError: when the prior is not in (0, 1).
        NoRouteError: when the pair cannot be cut into cells.

    >>> from dpspec.laws.finite import FiniteLaw
    >>> toss = FiniteLaw.bernoulli("3/4").against(FiniteLaw.bernoulli("1/4"))
    >>> str(expected_posterior(toss, "1/2"))
    '5/8'
    """
    p = read_prior(prior)
    atoms = pair.exact_atoms()
    if atoms is not None:
        return Bracket.exactly(sum((a * p * a / (p * a + (1 - p) * b) for a, b in atoms if a), Fraction(0)))
    if pair.below() is not pair:
        low, high = (expected_posterior(end, p, precision=precision) for end in (pair.below(), pair.above()))
        return Bracket(lower=low.lower, upper=max(low.lower, high.upper))
    parts = [part for part, times in pair.releases() for _ in range(times)]
    return _of_cells(parts[0], p, precision) if len(parts) == 1 else _of_several(parts, p, precision)


def expected_risk(pair: Dichotomy, prior: NumberLike, *, precision: int = 64) -> Bracket:
    """The mean factor by which the belief in the truth grows: `expected_posterior` over p; at least 1 (Z-D17, Z-T62)."""
    p = read_prior(prior)
    return expected_posterior(pair, p, precision=precision).scaled(1 / p)


def right_when_true(pair: Dichotomy, prior: NumberLike, *, precision: int = 64) -> Bracket:
    """P(posterior > 1/2): how often somebody who bets on what seems likelier bets on the truth (Z-D18, 2.8). A tie is no bet.

    >>> from dpspec.laws.finite import FiniteLaw
    >>> toss = FiniteLaw.bernoulli("3/4").against(FiniteLaw.bernoulli("1/4"))
    >>> str(right_when_true(toss, "1/2")), str(right_when_true(toss, "1/4"))
    ('3/4', '0')
    """
    p = read_prior(prior)
    return PrivacyLoss(pair).above(ln((1 - p) / p), precision=precision)


def right_on_average(pair: Dichotomy, prior: NumberLike, *, precision: int = 64) -> Bracket:
    """max over events S of p P(S) + (1 - p) (1 - Q(S)): how often the same bet is right when the truth is drawn from the prior.

    With t = (1 - p)/p it is 1 - p + p H, where H = sup P(S) - t Q(S), a hockey stick; for p > 1/2 that of the other direction.

    >>> from dpspec.laws.finite import FiniteLaw
    >>> toss = FiniteLaw.bernoulli("3/4").against(FiniteLaw.bernoulli("1/4"))
    >>> str(right_on_average(toss, "1/2")), str(right_on_average(toss, "1/8"))
    ('3/4', '7/8')
    """
    p = read_prior(prior)
    if 2 * p > 1:
        return right_on_average(pair.reverse(), 1 - p, precision=precision)
    stick = pair.hockey_stick(ln((1 - p) / p), precision=precision)
    return Bracket(lower=stick.lower * p + (1 - p), upper=stick.upper * p + (1 - p))


def _of_cells(pair: Dichotomy, prior: Fraction, precision: int) -> Bracket:
    with ctx.workprec(precision + 32):
        cells = pair.cells(precision)
        low = sum((cell.p * believed(prior, cell.low) for cell in cells), arb(0))
        high = sum((cell.p * believed(prior, cell.high) for cell in cells), arb(0))
        return as_probability(low.union(high))


def _of_several(parts: Sequence[Dichotomy], prior: Fraction, precision: int) -> Bracket:
    """The sum of several losses on the grid, as floats whose errors are bounded: all terms are positive."""
    from scipy.special import expit

    masses, start, lost, terms = np.ones(1), 0, Fraction(0), 0
    spread = Fraction(0)
    for part in parts:
        places, weights, missing, width = _on_grid(part, precision)
        lost, spread, terms = lost + missing, spread + width, terms + len(places) + 4
        low = int(places.min())
        summed = np.zeros(len(masses) + int(places.max()) - low)
        for place, weight in zip(places - low, weights, strict=True):
            summed[place : place + len(masses)] += weight * masses
        masses, start = summed, start + low
    logit = math.log(prior / (1 - prior))
    losses = (start + np.arange(len(masses))) * float(_STEP)
    total = Fraction(float(np.sum(masses * expit(losses + logit))))
    relative = (terms + Fraction(math.ceil(math.log2(len(masses)))) + 64) * _ROUNDING
    error = len(parts) * _STEP**2 * _BEND / 8 + spread / 4 + relative * total
    lower, upper = max(prior, total - error), min(Fraction(1), total + error + lost)
    return Bracket(lower=number(lower), upper=number(upper))


def _on_grid(pair: Dichotomy, precision: int) -> tuple[NDArray[np.int64], Floats, Fraction, Fraction]:
    """Grid places and their masses, the mass whose loss is not known, and the width of the cells on average."""
    found: dict[int, float] = {}
    lost = spread = Fraction(0)
    for cell in pair.cells(precision):
        mass = dyadic(cell.p.upper())
        if not (cell.low.is_finite() and cell.high.is_finite()):
            lost += mass
            continue
        middle = dyadic((cell.low / 2 + cell.high / 2).mid())
        spread += mass * dyadic((cell.high - cell.low).upper())
        place = math.floor(middle / _STEP)
        share = float(middle / _STEP - place)
        found[place] = found.get(place, 0.0) + float(mass) * (1 - share)
        found[place + 1] = found.get(place + 1, 0.0) + float(mass) * share
    places = sorted(found)
    return np.array(places, dtype=np.int64), np.array([found[place] for place in places]), lost, spread
