"""Answers that use up a bound to the last, for each standard of protection."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator
from fractions import Fraction
from functools import partial

from dpspec.exact import Number, ball, dyadic
from dpspec.laws.answers import Answers
from dpspec.laws.continuous import Gaussian
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.integers import DiscreteGaussian, TwoSidedGeometric
from dpspec.laws.numeric import rational_exponential
from dpspec.laws.trade_off import TradeOff

_LARGEST = 40
"""Odds are written down as ratios up to e^40."""


def geometric(bound: Number) -> Answers:
    """Two-sided geometric noise of decay epsilon: its log-ratio is epsilon for each step, everywhere (B-D15)."""
    law = partial(TwoSidedGeometric, decay=bound)
    return Answers(law=law, words=f"plus two-sided geometric noise of decay {bound}")


def coin(bound: Number, delta: Fraction = Fraction(0)) -> Iterator[Answers]:
    """The worst pair of (epsilon, delta)-privacy: truth shown with probability delta, else a coin of odds e^epsilon."""
    if bound > _LARGEST:
        return
    exact = rational_exponential(bound) if bound.root == 1 else None
    odds = dyadic(bound.enclose(64).exp().lower()) if exact is None else exact
    truth, lie = (1 - delta) * odds / (1 + odds), (1 - delta) / (1 + odds)
    if not delta:
        laws = (FiniteLaw.bernoulli(lie), FiniteLaw.bernoulli(truth))
        yield Answers(law=laws.__getitem__, words=f"yes with probability {truth} if so, {lie} if not", most=1)
        return
    shown = (("surely no", lie), ("surely yes", truth))
    both = [FiniteLaw.of({sign: delta, "yes": p, "no": 1 - delta - p}) for sign, p in shown]
    words = f"with probability {delta} what surely holds, else yes with odds of {odds} to 1 if so, 1 to {odds} if not"
    yield Answers(law=both.__getitem__, words=words, most=1)


def discrete_gaussian(bound: Number) -> Answers:
    """Discrete Gaussian noise of variance 1/(2 bound^2): D_alpha is alpha bound^2 at integer orders, less at others (B-D18)."""
    exact = bound.squared() if bound.is_rational or bound.root == 2 else None
    rate = exact.as_fraction() if exact is not None and exact.is_rational else dyadic((bound.enclose(64) ** 2).lower())
    variance = 1 / (2 * rate)
    law = partial(DiscreteGaussian, variance=variance)
    return Answers(law=law, words=f"plus discrete Gaussian noise of variance {variance}")


def linear_coin(bound: Number) -> Answers:
    """Yes with probability min(1, bound i): its total variation is bound for each step until it is 1 (B-D19)."""
    rate = bound.as_fraction() if bound.is_rational else dyadic(bound.enclose(64).lower())

    def law(i: int) -> FiniteLaw:
        return FiniteLaw.bernoulli(min(Fraction(1), rate * i))

    return Answers(law=law, words=f"answered by yes with probability {rate} for each 1 in it, at most 1")


def gaussian(bound: Number) -> Iterator[Answers]:
    """Gaussian noise of variance 1/mu^2: mu for each step, exactly."""
    if bound.is_rational:
        variance = 1 / bound.as_fraction() ** 2
        yield Answers(law=partial(_gaussian, variance), words=f"plus Gaussian noise of variance {variance}")


def _gaussian(variance: Fraction, center: int) -> Gaussian:
    return Gaussian(center, variance)


def of_curve(bound: Number, curve: TradeOff) -> Iterator[Answers]:
    """The pair of laws whose trade-off function is the curve of so many steps."""
    steps = int(dyadic(ball(bound.as_fraction()).lower()).__floor__()) if bound.is_rational else 0
    if steps < 1:
        return
    knots = curve.group(steps).knots
    pieces = list(itertools.pairwise(knots))
    no: dict[Hashable, Fraction] = {place: right[0] - left[0] for place, (left, right) in enumerate(pieces)}
    yes: dict[Hashable, Fraction] = {place: left[1] - right[1] for place, (left, right) in enumerate(pieces)}
    yes[-1] = 1 - knots[0][1]
    laws = (FiniteLaw.of(no), FiniteLaw.of(yes))
    yield Answers(law=laws.__getitem__, words=f"by the two laws of the trade-off function {curve.group(steps)}", most=1)
