"""Finite laws: finitely many outcomes, each with an exact rational probability."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import attrs
from flint import arb, ctx

from dpspec.exact import NumberLike, ball, rational
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.law import Law, NotALaw
from dpspec.laws.route import AtomicLaw, Kind

Outcome = Hashable


@attrs.frozen(eq=False, repr=False)
class FiniteLaw(AtomicLaw):
    """A law on finitely many outcomes, stored as positive integer weights over their common total.

    The weights have no common factor, so that equal laws are stored equally. Use `of`, `from_weights`, `point` or
    `uniform` to make one; weights that do not sum to the total are refused however they come in.

    >>> FiniteLaw.of({"yes": "3/4", "no": "1/4"}) == FiniteLaw.from_weights({"no": 2, "yes": 6})
    True
    """

    weights: Mapping[Outcome, int]
    total: int

    kind: ClassVar[Kind] = Kind.ATOMS

    def __attrs_post_init__(self) -> None:
        if sum(self.weights.values()) != self.total or min(self.weights.values(), default=0) <= 0:
            raise NotALaw("weights", "must be positive and sum to the total", "use FiniteLaw.of", value=dict(self.weights))

    # -- making one -------------------------------------------------------------------------------

    @classmethod
    def of(cls, probabilities: Mapping[Outcome, NumberLike]) -> FiniteLaw:
        """The law with these probabilities.

        Raises:
            NotALaw: when one is negative, or when they do not sum to exactly 1.

        >>> FiniteLaw.of({0: 0.333, 1: 0.333, 2: 0.333})
        Traceback (most recent call last):
        ...
        dpspec.laws.law.NotALaw: probabilities=999/1000: must sum to exactly 1: write exact ratios such as "1/3", or ...
        """
        read = {outcome: rational(value, f"probability of {outcome!r}") for outcome, value in probabilities.items()}
        sum_of_all = sum(read.values(), Fraction(0))
        common = math.lcm(*(value.denominator for value in read.values()))
        law = {outcome: value.numerator * (common // value.denominator) for outcome, value in read.items()}
        _refuse_negative(law)
        if sum_of_all != 1:
            raise NotALaw(
                "probabilities",
                "must sum to exactly 1",
                'write exact ratios such as "1/3", or use FiniteLaw.from_weights to normalise',
                value=str(sum_of_all),
            )
        return cls.from_weights(law)

    @classmethod
    def from_weights(cls, weights: Mapping[Outcome, int]) -> FiniteLaw:
        """The law with probabilities proportional to nonnegative integer weights, not all 0."""
        divisor = math.gcd(*weights.values())
        if divisor == 0:
            raise NotALaw("weights", "must not all be 0", "give at least one outcome a positive weight")
        _refuse_negative(weights)
        kept = {outcome: weight // divisor for outcome, weight in weights.items() if weight}
        return cls(kept, sum(kept.values()))

    @classmethod
    def point(cls, outcome: Outcome) -> FiniteLaw:
        """The law of a certain outcome."""
        return cls({outcome: 1}, 1)

    @classmethod
    def uniform(cls, outcomes: Iterable[Outcome]) -> FiniteLaw:
        """Equal probability for every listed outcome (twice for one that is listed twice)."""
        counts: dict[Outcome, int] = {}
        for outcome in outcomes:
            counts[outcome] = counts.get(outcome, 0) + 1
        return cls.from_weights(counts)

    @classmethod
    def bernoulli(cls, probability: NumberLike) -> FiniteLaw:
        """1 with the given probability, else 0."""
        chance = rational(probability, "probability")
        return cls.of({1: chance, 0: 1 - chance})

    # -- reading it -------------------------------------------------------------------------------

    def probability(self, outcome: Outcome) -> Fraction:
        """P(outcome), 0 outside the support."""
        return Fraction(self.weights.get(outcome, 0), self.total)

    @property
    def support(self) -> tuple[Outcome, ...]:
        """The outcomes of positive probability, in the order in which they were given."""
        return tuple(self.weights)

    def probabilities(self) -> Iterator[tuple[Outcome, Fraction]]:
        """Every outcome of the support with its probability."""
        return ((outcome, Fraction(weight, self.total)) for outcome, weight in self.weights.items())

    def window(self, precision: int) -> tuple[Outcome, ...]:
        return self.support

    def mass(self, outcome: Outcome, precision: int = 64) -> arb:
        with ctx.workprec(precision + 32):
            return ball(self.probability(outcome))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FiniteLaw):
            return NotImplemented
        return self.total == other.total and self.weights == other.weights

    def __hash__(self) -> int:
        return hash((self.total, frozenset(self.weights.items())))

    def __repr__(self) -> str:
        shown = ", ".join(f"{outcome!r}: {Fraction(weight, self.total)}" for outcome, weight in self.weights.items())
        return f"FiniteLaw({{{shown}}})"

    # -- making others ----------------------------------------------------------------------------

    def push_forward(self, function: Callable[[Any], Outcome]) -> FiniteLaw:
        """The law of function(X).

        >>> FiniteLaw.uniform([-1, 0, 1]).push_forward(abs)
        FiniteLaw({1: 2/3, 0: 1/3})
        """
        merged: dict[Outcome, int] = {}
        for outcome, weight in self.weights.items():
            image = function(outcome)
            merged[image] = merged.get(image, 0) + weight
        return FiniteLaw.from_weights(merged)

    @staticmethod
    def product(laws: Sequence[FiniteLaw]) -> FiniteLaw:
        """The law of independent draws; its outcomes are tuples."""
        joint: dict[Any, int] = {(): 1}
        for law in laws:
            joint = {(*head, last): a * b for head, a in joint.items() for last, b in law.weights.items()}
        return FiniteLaw.from_weights(joint)

    @staticmethod
    def mixture(weights: Sequence[NumberLike], laws: Sequence[FiniteLaw]) -> FiniteLaw:
        """The law that draws from laws[i] with probability weights[i]."""
        merged: dict[Outcome, Fraction] = {}
        for weight, law in zip(weights, laws, strict=True):
            for outcome, probability in law.probabilities():
                merged[outcome] = merged.get(outcome, Fraction(0)) + rational(weight, "weight") * probability
        return FiniteLaw.of(merged)

    # -- comparing it -----------------------------------------------------------------------------

    def against(self, other: Law) -> Dichotomy:
        if not isinstance(other, FiniteLaw):
            return AtomicLaw.against(self, other)
        mine, theirs = self.weights, other.weights
        if mine.keys() == theirs.keys():
            return FiniteDichotomy(tuple(mine.values()), tuple(map(theirs.__getitem__, mine)), self.total, other.total)
        outcomes = [*mine, *(outcome for outcome in theirs if outcome not in mine)]
        return FiniteDichotomy(
            tuple(mine.get(outcome, 0) for outcome in outcomes),
            tuple(theirs.get(outcome, 0) for outcome in outcomes),
            self.total,
            other.total,
        )


def _refuse_negative(weights: Mapping[Outcome, int]) -> None:
    for outcome, weight in weights.items():
        if weight < 0:
            raise NotALaw(f"weight of {outcome!r}", "must be at least 0", "probabilities are never negative", value=weight)
