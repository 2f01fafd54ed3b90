"""Laws with finitely many outcomes whose probabilities are integrals, enclosed by certified quadrature.

A mechanism that draws hidden noise Z and then answers has

    P(o) = integral over z of f(z) P(o | Z = z),

with f and P(o | .) piecewise analytic. Between two neighbouring kinks the integrand is one entire function, so that Arb's
adaptive Gauss-Legendre quadrature (Johansson, Numerical integration in arbitrary-precision ball arithmetic, 2018) encloses the
integral rigorously; beyond the last piece the mass of Z itself bounds what is left.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import attrs
from flint import acb, arb, ctx

from dpspec.errors import ParameterError
from dpspec.exact import NumberLike, ball, rational
from dpspec.laws.atoms import IDENTICAL
from dpspec.laws.balls import Cell, Cells
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.law import Law, NotALaw
from dpspec.laws.numeric import hull
from dpspec.laws.route import AtomicLaw
from dpspec.laws.sandwich import Sandwich

Outcome = Any
Piecewise = Callable[[acb, Fraction], acb]
"""A function of z that is entire on every piece; the second argument is a rational point that says on which piece."""

_CHECKED = 32


def integral(function: Piecewise, ends: Sequence[Fraction], precision: int = 64) -> arb:
    """A ball around the integral from the first to the last of the ends; the others are the kinks, in order.

    >>> area = integral(lambda z, inside: z if inside > 0 else -z, (Fraction(-1), Fraction(0), Fraction(1)))
    >>> bool(area.contains(1)) and float(area.rad()) < 1e-18
    True
    """
    with ctx.workprec(precision + 32):
        total = arb(0)
        for low, high in itertools.pairwise(ends):
            inside = (low + high) / 2
            piece = acb.integral(_on(function, inside), acb(ball(low)), acb(ball(high)), abs_tol=arb(2) ** (-precision - 8))
            total += piece.real
        return total


def _on(function: Piecewise, inside: Fraction) -> Callable[[acb, bool], acb]:
    return lambda z, _analytic: function(z, inside)


# --- Laplace noise on a piece ------------------------------------------------------------------------


@attrs.frozen
class LaplaceNoise:
    """Z = center + Laplace(scale), as entire functions on each side of the center.

    Args:
        center: the kink.
        scale: b in the density e^(-|z - center|/b) / (2 b).
    """

    center: Fraction
    scale: Fraction

    @classmethod
    def of(cls, center: NumberLike, scale: NumberLike) -> LaplaceNoise:
        """Read the two numbers exactly."""
        noise = cls(rational(center, "center"), rational(scale, "scale"))
        if noise.scale <= 0:
            raise ParameterError("scale", "must be positive", value=scale)
        return noise

    def density(self, z: acb, inside: Fraction) -> acb:
        """The density near a piece."""
        return self._decay(z, inside) / (2 * ball(self.scale))

    def below(self, z: acb, inside: Fraction) -> acb:
        """P(Z < z)."""
        half = self._decay(z, inside) / 2
        return half if inside <= self.center else 1 - half

    def _decay(self, z: acb, inside: Fraction) -> acb:
        distance = (z - ball(self.center)) / ball(self.scale)
        return (distance if inside <= self.center else -distance).exp()

    def reach(self, bits: int) -> int:
        """An integer distance beyond which at most 2^-bits of the mass lies."""
        return math.ceil(self.scale * bits * Fraction(7, 10))  # ln 2 < 7/10


# --- the law -----------------------------------------------------------------------------------------


class Answer(ABC):
    """What is answered when the hidden noise is known: P(o | Z = z). Frozen values, so that equal laws are equal."""

    @property
    @abstractmethod
    def outcomes(self) -> tuple[Outcome, ...]:
        """Everything that can be answered."""

    @property
    @abstractmethod
    def kinks(self) -> Iterable[Fraction]:
        """Where P(o | Z = z) changes its form."""

    @abstractmethod
    def given(self, outcome: Outcome, z: acb, inside: Fraction) -> acb:
        """P(o | Z = z), entire in z, on the piece around `inside`; a probability for real z there."""


@attrs.frozen
class IntegralLaw(AtomicLaw):
    """P(o) = E[P(o | Z)] for hidden Laplace noise Z.

    Args:
        hidden: Z.
        answer: P(o | Z = z).

    Raises:
        NotALaw: when the enclosed probabilities cannot sum to 1.
    """

    hidden: LaplaceNoise
    answer: Answer

    def __attrs_post_init__(self) -> None:
        total = sum((self.mass(outcome, _CHECKED) for outcome in self.answer.outcomes), arb(0))
        if not total.contains(1):
            raise NotALaw("probabilities", "must sum to 1", "list every outcome and every kink", value=str(total))

    def against(self, other: Law) -> Dichotomy:
        if self == other:
            return IDENTICAL
        if not isinstance(other, (IntegralLaw, FiniteLaw)):
            return AtomicLaw.against(self, other)
        # Both list all their outcomes: nothing is left over, exactly.
        outcomes = tuple(dict.fromkeys((*self.window(0), *other.window(0))))
        return Sandwich.of(lambda precision: self._cells(other, outcomes, precision))

    def _cells(self, other: AtomicLaw, outcomes: Sequence[Outcome], precision: int) -> Cells:
        with ctx.workprec(precision + 32):
            return tuple(Cell.atom(self.mass(o, precision), other.mass(o, precision)) for o in outcomes)

    def window(self, precision: int) -> Sequence[Outcome]:
        return self.answer.outcomes

    def mass(self, outcome: Outcome, precision: int) -> arb:
        if outcome not in self.answer.outcomes:
            return arb(0)
        return _mass(self.hidden, self.answer, outcome, precision)


@lru_cache(maxsize=1 << 14)
def _mass(hidden: LaplaceNoise, answer: Answer, outcome: Outcome, precision: int) -> arb:
    bits = precision + 8
    far = hidden.reach(bits)
    ends = (hidden.center - far, hidden.center + far)
    kinks = sorted({hidden.center, *(kink for kink in answer.kinks if ends[0] < kink < ends[1])})

    def integrand(z: acb, inside: Fraction) -> acb:
        return hidden.density(z, inside) * answer.given(outcome, z, inside)

    with ctx.workprec(precision + 32):
        inner = integral(integrand, (ends[0], *kinks, ends[1]), precision)
        return (inner + hull(arb(0), arb(2) ** -bits)).max(arb(0))


@attrs.frozen
class FirstAbove(Answer):
    """Answers are compared in order with a noisy threshold Z; the number of the first noisy one at or above it is released.

    Args:
        queries: the answers with their noise; the outcome len(queries) says that none was above.

    P(i | Z = z) = P(Q_i >= z) product over j < i of P(Q_j < z): the sparse vector technique with one positive answer
    (Lyu, Su, Li, VLDB 2017).
    """

    queries: tuple[LaplaceNoise, ...]

    @property
    def outcomes(self) -> tuple[int, ...]:
        return tuple(range(len(self.queries) + 1))

    @property
    def kinks(self) -> tuple[Fraction, ...]:
        return tuple(query.center for query in self.queries)

    def given(self, outcome: Outcome, z: acb, inside: Fraction) -> acb:
        product = acb(1)
        for query in self.queries[:outcome]:
            product *= query.below(z, inside)
        return product if outcome == len(self.queries) else product * (1 - self.queries[outcome].below(z, inside))


def first_above(
    answers: Iterable[NumberLike], *, threshold: NumberLike, threshold_scale: NumberLike, query_scale: NumberLike
) -> IntegralLaw:
    """The law of the sparse vector technique with Laplace noise that stops after its first positive answer.

    >>> law = first_above((0, 0), threshold=0, threshold_scale=4, query_scale="4/3")
    >>> bool(law.mass(0, 64).contains(arb("0.5")))
    True
    """
    queries = tuple(LaplaceNoise.of(answer, query_scale) for answer in answers)
    return IntegralLaw(LaplaceNoise.of(threshold, threshold_scale), FirstAbove(queries))
