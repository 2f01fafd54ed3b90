"""Divergences given by a convex generator: one way, the other way or both."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Annotated, ClassVar

from flint import arb

from dpspec.blocks.composing import Composed, Spent, added
from dpspec.blocks.output_divergence import EventBounds, OutputDivergence
from dpspec.errors import NumericalError, ParameterError
from dpspec.exact import ZERO, Bracket, Number, number
from dpspec.laws.dichotomy import Dichotomy
from dpspec.params import Items, Rational, Text, define
from dpspec_divergences.generators import KL, NAMED, PIECEWISE, Generator, Knots, piecewise_linear
from dpspec_divergences.output import Bound, Named, Renyi, TotalVariation, both_ways, is_pure

_BISECTIONS = 50


@define
class FDivergence(Named):
    """An f-divergence: D_f(P||Q) = sum over outcomes of q f(p/q), of a convex f with f(1) = 0.

    An outcome with q = 0 counts p f'(inf), which is infinite for kl and chi-squared; one with p = 0 counts q f(0). The direction
    is part of the divergence: D_f(P||Q) and D_f(Q||P) differ for most f, and the second of two datasets plays Q. It is no metric.
    It is exact for `chi-squared`, `triangular`, `total-variation` and `piecewise-linear` on rational atoms, which give rational
    numbers, and for `kl` and `jensen-shannon`, which give logarithms. Its budget is the `divergence`, in nats for the last two
    (Barthe and Olmedo 2013; Barber and Duchi 2014).

    Args:
        generator: kl: t ln t. chi-squared: (t - 1)^2. hellinger: (sqrt(t) - 1)^2 / 2, the *squared* Hellinger distance.
            jensen-shannon: the mean of the two divergences kl from the mixture. triangular: (t - 1)^2 / (t + 1).
            total-variation: |t - 1| / 2. piecewise-linear: by its knots. The largest values are inf, inf, 1, ln 2, 2 and 1.
        direction: forward, D_f(P||Q); backward, D_f(Q||P); both, the larger of the two.
        knots: pairs (t, f(t)) of a piecewise linear generator, from t = 0 on, straight after the last; f(1) = 0.

    >>> from dpspec.laws.finite import FiniteLaw
    >>> laws = FiniteLaw.bernoulli("3/4"), FiniteLaw.bernoulli("1/4")
    >>> [str(FDivergence(generator=name, direction="forward").between(*laws)) for name in ("kl", "chi-squared", "triangular")]
    ['1/2*ln(3)', '4/3', '1/2']
    """

    name: ClassVar[str] = "f-divergence"
    budget_parameters: ClassVar[tuple[str, ...]] = ("divergence",)

    generator: Annotated[str, Text((*NAMED, PIECEWISE))]
    direction: Annotated[str, Text(("forward", "backward", "both"))]
    knots: Annotated[Knots, Items(Items(Rational()))] = ()

    def __attrs_post_init__(self) -> None:
        if (self.generator == PIECEWISE) != bool(self.knots):
            raise ParameterError("knots", f"belong to the generator {PIECEWISE}, and to no other", value=self.generator)
        if self.knots:
            piecewise_linear(self.knots)

    @property
    def convex(self) -> Generator:
        """The generator itself."""
        return piecewise_linear(self.knots) if self.knots else NAMED[self.generator]

    @property
    def is_symmetric(self) -> bool:  # type: ignore[override]  # of this class it depends on the parameters
        return self.direction == "both" or self.convex.is_symmetric

    @property
    def separates_disjoint(self) -> bool:  # type: ignore[override]
        return self.convex.largest.is_infinite

    def evaluate(self, pair: Dichotomy, *, precision: int = 64) -> Bracket:
        def forward(way: Dichotomy) -> Bracket:
            return self.convex.divergence(way, precision)

        if self.direction == "both" and not self.convex.is_symmetric:
            return both_ways(pair, forward)
        return forward(pair.reverse() if self.direction == "backward" else pair)

    def separates_laws(self) -> bool:
        """By Jensen's inequality D_f(P||Q) = 0 for other laws than equal ones exactly where f is straight around 1."""
        return self.convex.bends_at_one

    def event_bounds(self, bound: Number) -> EventBounds | None:
        return ((ZERO, bound),) if self.generator == "total-variation" else None

    def largest_probability(self, q: arb, bound: arb) -> arb:
        """By bisection on the laws (p, 1 - p) and (q, 1 - q), in ball arithmetic; concave in q, since D_f is jointly convex."""
        low, high = q, arb(1)
        if self._binary(high, q) <= bound:
            return high
        for _ in range(_BISECTIONS):
            middle = ((low + high) / 2).mid()
            value = self._binary(middle, q)
            if not (value > bound or value <= bound):
                break
            low, high = (low, middle) if value > bound else (middle, high)
        return low.union(high)

    def _binary(self, p: arb, q: arb) -> arb:
        forth, back = self.convex.binary(p, q), self.convex.binary(q, p)
        return {"forward": forth, "backward": back, "both": forth.max(back)}[self.direction]

    def _bounded(self, other: OutputDivergence) -> Bound | None:
        if isinstance(other, FDivergence) and (other.generator, other.knots) == (self.generator, self.knots):
            return (number(1), "one direction of the same divergence") if other.is_symmetric else None
        if self.generator == KL and isinstance(other, Renyi):
            return number(1), "the Kullback-Leibler divergence is D_1, and D_alpha never decreases in alpha"
        if self.generator == KL and is_pure(other):
            return number(1), "a mean of log-ratios is at most the largest"
        return by_total_variation(self.convex.largest, "D_f is at most f(0) + f'(inf) times the total variation", other)

    def bounds(self, other: OutputDivergence) -> Bound | None:
        if self.generator == "total-variation" and isinstance(other, TotalVariation):
            return number(1), "it is the total variation"
        return None

    def composed(self, parts: Spent) -> Composed | None:
        """Of the Kullback-Leibler divergence and the total variation; chi-squared multiplies, and of others nothing is known."""
        rules = {KL: "nats add", "total-variation": "the distance adds, at most"}
        if self.generator not in rules:
            return None
        return added(self, parts, rules[self.generator], "the chain rule: each part given those before it")

    def __str__(self) -> str:
        knots = "; ".join(f"{t}: {value}" for t, value in self.knots)
        return f"{self.name} ({self.generator}{' ' + knots if knots else ''}, {self.direction})"

    @classmethod
    def examples(cls) -> Iterable[FDivergence]:
        """What the conformance kit checks it with."""
        zero, one = Fraction(0), Fraction(1)
        yield cls(generator="kl", direction="forward")
        yield cls(generator="chi-squared", direction="backward")
        yield cls(generator="kl", direction="both")
        yield cls(generator="hellinger", direction="both")
        yield cls(generator="jensen-shannon", direction="forward")
        yield cls(generator=PIECEWISE, direction="forward", knots=((zero, one), (one, zero), (3 * one, one)))


def by_total_variation(most: Number, reason: str, other: OutputDivergence) -> Bound | None:
    """The bound of a divergence that is at most `most` times the total variation against one that bounds the latter."""
    variation = TotalVariation()
    known = variation.bounded_by(other) or other.bounds(variation)
    if known is None or most.is_infinite:
        return None
    factor, why = known
    try:
        constant = most * factor
    except NumericalError:  # such as ln(2) x sqrt(1/2)
        constant = Bracket.around(most.enclose() * factor.enclose(), least=0).upper
    return constant, reason if other == variation else f"{reason}; {why}"
