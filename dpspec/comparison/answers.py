"""Candidate mechanisms against an implication, and the extremal answers that an output divergence allows at a bound.

A candidate is a mechanism, the argument that it satisfies the premise, and a pair on which the conclusion fails. Its answers are
the divergence's own extremal ones first, then coins, leaks and noise by bisection.

Answers to more than two numbers are held against each other two by two, so that they need no triangle inequality.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from typing import ClassVar

import attrs

from dpspec.base.errors import NoFormulaError
from dpspec.base.exact import INFINITY, Bracket, Number, in_few_digits, number
from dpspec.base.memo import memoize
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.integers import DiscreteGaussianLaw
from dpspec.laws.law import Answers, FiniteLaw, Law


@attrs.frozen(kw_only=True)
class Candidate:
    """A mechanism that is said to satisfy the premise on its whole space, and to break the conclusion on a pair.

    Args:
        mechanism: what releases the data.
        words: what it does.
        argument: why it satisfies the premise on the whole space.
        pair: the two datasets.
        kind: "space" where one of them is no dataset of the premise's space.
    """

    mechanism: Mechanism
    words: str
    argument: str
    pair: tuple[Dataset, Dataset]
    kind: str = "mechanism"


CandidateFamily = Callable[[PrivacySpec, PrivacySpec], Iterator[Candidate]]
"""Proposes candidates against an implication (premise, conclusion); each is checked before it is believed."""


@attrs.frozen(kw_only=True)
class Answered(Mechanism):
    """A whole number of the dataset, answered by given laws.

    Args:
        value: the number i of a dataset.
        answers: the laws N_i.
    """

    name: ClassVar[str] = "answered"

    value: Callable[[Dataset], int]
    answers: Answers

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return self.answers.law(self.value(dataset))


# --- answers at a bound ---------------------------------------------------------------------------


STEPS = 1300
"""The number of strengths of coins and noise below and above 1, each 2 % from the next."""

STARTS = (Fraction(1, 10**10), Fraction(1, 27))
"""The probabilities of an answer on unaffected datasets: almost 0, and where three answers have the largest divergence."""

TRUTH = Answers(law=FiniteLaw.point, words="without noise")
"""Where no constraint applies, the true answer may be released."""


def both_ways(divergence: OutputDivergence, left: Law, right: Law) -> Bracket:
    """d_Pr of two laws, the larger of both directions; anything where the divergence cannot compare them."""
    try:
        forward = divergence.between(left, right)
        return forward if divergence.is_symmetric else forward | divergence.between(right, left)
    except NoFormulaError:
        return Bracket(lower=number(0), upper=INFINITY)


@memoize(maxsize=512)
def extremal_answers(divergence: OutputDivergence, bound: Number) -> tuple[Answers, ...]:
    """The extremal answers of the divergence at the bound, checked on its N_0 and N_1; the truth when everything is allowed."""
    if bound.is_infinite:
        return (TRUTH,)
    if bound == 0 and divergence.separates_laws():
        return ()
    return tuple(answers for answers in divergence.extremal(bound) if _within(divergence, bound, answers))


@memoize(maxsize=512)
def searched_answers(divergence: OutputDivergence, bound: Number) -> tuple[Answers, ...]:
    """Coins, leaks and noise with d_Pr(N_i, N_j) <= bound |i - j|, each as strong as it can be."""
    if bound.is_infinite or (bound == 0 and divergence.separates_laws()):
        return ()
    families = (_coin, _leak, _gaussian, partial(_above, STARTS[0]))
    searched = [*(_strongest(divergence, bound, family) for family in families), ladder(divergence, bound)]
    return tuple(answers for answers in searched if answers is not None)


Source = Callable[[OutputDivergence, Number], tuple[Answers, ...]]

SOURCES: tuple[Source, ...] = (extremal_answers, searched_answers)
"""The sources of answers: those that a divergence provides itself are tried on all pairs first."""


def _within(divergence: OutputDivergence, bound: Number, answers: Answers) -> bool:
    numbers = range((answers.most or 1) + 1)
    return all(_apart(divergence, bound * (j - i), answers.law(i), answers.law(j)) for i, j in itertools.combinations(numbers, 2))


def _apart(divergence: OutputDivergence, bound: Number, *pair: Law) -> bool:
    """Whether the divergence of two laws is provably at most a bound, in both directions."""
    for precision in (64, 256):
        seen = True
        for one, other in (pair, pair[::-1]):
            try:
                bracket = divergence.between(one, other, precision=precision)
            except NoFormulaError:
                return False
            if bracket.lower > bound or bracket.upper.is_infinite:  # no precision makes an infinite bound finite
                return False
            seen = seen and bracket.upper <= bound
        if seen:
            return True
    return False


AnswerFamily = Callable[[Fraction], Answers]
"""Answers by their strength."""


def _strongest(divergence: OutputDivergence, bound: Number, family: AnswerFamily) -> Answers | None:
    """The last member of a family, from weak to strong, that stays within the bound."""
    strength = _strength(divergence, bound, family)
    return None if strength is None else family(strength)


def _strength(divergence: OutputDivergence, bound: Number, family: AnswerFamily) -> Fraction | None:
    strengths, low, high = _strengths(), 0, 2 * STEPS + 1
    if not _within(divergence, bound, family(strengths[0])):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _within(divergence, bound, family(strengths[middle])) else (low, middle)
    return strengths[low]


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
    words = f"yes with probability {in_few_digits(truth)} if so, {in_few_digits(lie)} if not"
    return Answers(law=laws.__getitem__, words=words, most=1)


def _leak(strength: Fraction) -> Answers:
    shown = strength / (1 + strength)
    laws = (FiniteLaw.bernoulli(0), FiniteLaw.bernoulli(shown))
    return Answers(law=laws.__getitem__, words=f"yes with probability {in_few_digits(shown)} if so, never if not", most=1)


def _above(start: Fraction, strength: Fraction) -> Answers:
    """Yes more often than at the start: from a rare answer on, standards that measure a mean allow a large change."""
    shown = (start + strength) / (1 + strength)
    laws = (FiniteLaw.bernoulli(start), FiniteLaw.bernoulli(shown))
    words = f"yes with probability {in_few_digits(shown)} if so, {in_few_digits(start)} if not"
    return Answers(law=laws.__getitem__, words=words, most=1)


def ladder(divergence: OutputDivergence, bound: Number) -> Answers | None:
    """Yes for 0, 1 and 2, each more often than the one before: two steps may disclose more than twice one of them."""
    rates = [STARTS[1]]
    for _ in range(2):
        strength = _strength(divergence, bound, partial(_above, rates[-1]))
        if strength is None:
            return None
        rates.append((rates[-1] + strength) / (1 + strength))
    laws = [FiniteLaw.bernoulli(rate) for rate in rates]
    words = "at most 2, answered by yes with probability " + ", ".join(
        f"{in_few_digits(rate)} for {i}" for i, rate in enumerate(rates)
    )
    found = Answers(law=laws.__getitem__, words=words, most=2)
    return found if _within(divergence, bound, found) else None


def _gaussian(strength: Fraction) -> Answers:
    variance = 1 / strength
    law = partial(DiscreteGaussianLaw, variance=variance)
    return Answers(law=law, words=f"plus discrete Gaussian noise of variance {in_few_digits(variance)}")
