"""Answers that an output divergence allows at a bound: its own extremal ones first, then coins, leaks and noise by bisection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial

from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.errors import NoRouteError
from dpspec.exact import INFINITY, Bracket, Number, number
from dpspec.laws.answers import Answers
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.integers import DiscreteGaussian
from dpspec.laws.law import Law

STEPS = 1300
"""How many strengths of coins and noise lie below and above 1, each 2 % from the next."""

TRUTH = Answers(law=FiniteLaw.point, words="without noise")
"""Where nothing is asked, the truth may be told."""


def both_ways(divergence: OutputDivergence, left: Law, right: Law) -> Bracket:
    """d_Pr of two laws, the larger of both directions; anything where the divergence cannot compare them."""
    try:
        forward = divergence.between(left, right)
        return forward if divergence.is_symmetric else forward | divergence.between(right, left)
    except NoRouteError:
        return Bracket(lower=number(0), upper=INFINITY)


@lru_cache(maxsize=512)
def allowed_answers(divergence: OutputDivergence, bound: Number) -> tuple[Answers, ...]:
    """Answers with d_Pr(N_0, N_1) <= bound, as far apart as each kind can be; the truth when everything is allowed.

    What a divergence says about itself is checked here, on its N_0 and N_1.
    """
    if bound.is_infinite:
        return (TRUTH,)
    if bound == 0:
        return ()
    own = (answers for answers in divergence.extremal(bound) if _within(divergence, bound, answers))
    searched = (_strongest(divergence, bound, family) for family in (_coin, _leak, _gaussian))
    return (*own, *(answers for answers in searched if answers is not None))


def _within(divergence: OutputDivergence, bound: Number, answers: Answers) -> bool:
    for precision in (64, 256):
        pair = answers.law(0), answers.law(1)
        try:
            brackets = [divergence.between(*pair, precision=precision), divergence.between(*pair[::-1], precision=precision)]
        except NoRouteError:
            return False
        if all(bracket.upper <= bound for bracket in brackets):
            return True
        if any(bracket.lower > bound for bracket in brackets):
            return False
    return False


def _strongest(divergence: OutputDivergence, bound: Number, family: Callable[[Fraction], Answers]) -> Answers | None:
    """The last member of a family, from weak to strong, that stays within the bound."""
    strengths, low, high = _strengths(), 0, 2 * STEPS + 1
    if not _within(divergence, bound, family(strengths[0])):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _within(divergence, bound, family(strengths[middle])) else (low, middle)
    return family(strengths[low])


@lru_cache(maxsize=1)
def _strengths() -> Sequence[Fraction]:
    above = [(Fraction(51, 50) ** step).limit_denominator(1000) for step in range(STEPS + 1)]
    return [*(1 / value for value in reversed(above[1:])), *above]


def _coin(strength: Fraction) -> Answers:
    odds = 1 + strength
    return coin(odds)


def coin(odds: Fraction) -> Answers:
    """Yes with odds o if so, no with odds o if not."""
    truth, lie = odds / (1 + odds), 1 / (1 + odds)
    laws = (FiniteLaw.bernoulli(lie), FiniteLaw.bernoulli(truth))
    return Answers(law=laws.__getitem__, words=f"yes with probability {truth} if so, {lie} if not", most=1)


def _leak(strength: Fraction) -> Answers:
    shown = strength / (1 + strength)
    laws = (FiniteLaw.bernoulli(0), FiniteLaw.bernoulli(shown))
    return Answers(law=laws.__getitem__, words=f"yes with probability {shown} if so, never if not", most=1)


def _gaussian(strength: Fraction) -> Answers:
    variance = 1 / strength
    law = partial(DiscreteGaussian, variance=variance)
    return Answers(law=law, words=f"plus discrete Gaussian noise of variance {variance}")
