"""Laws on finitely many listed outcomes with bounds on the probabilities: from enumeration, and as integrals.

    low(o) <= P(o) <= high(o) for every listed o,        P(anything else, or more of the listed) <= rest.

Enumeration computes such laws where a threshold was evaluated in floating point, or where an unbounded draw was cut off.

`IntegralLaw` has probabilities that are integrals, enclosed by certified quadrature. A mechanism that draws hidden noise Z and
then answers has

    P(o) = integral over z of f(z) P(o | Z = z),

with f and P(o | .) piecewise analytic. Between two neighbouring kinks the integrand is one entire function, so that Arb's
adaptive Gauss-Legendre quadrature (Johansson, Numerical integration in arbitrary-precision ball arithmetic, 2018) encloses the
integral rigorously; beyond the last piece the mass of Z itself bounds what is left.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import attrs
from flint import acb, arb, ctx

from dpspec.base.errors import NoFormulaError, ParameterError
from dpspec.base.exact import NumberLike, rational
from dpspec.base.log_linear import ball, dyadic
from dpspec.base.memo import memoize
from dpspec.base.work import whole
from dpspec.laws.atoms import IDENTICAL, Sandwich
from dpspec.laws.dichotomy import BallDichotomy, Cell, Cells, Dichotomy
from dpspec.laws.exponential import Exponential, ExponentialLaw
from dpspec.laws.law import AtomicLaw, FiniteLaw, Law, NotALaw, refuse_nan
from dpspec.laws.numeric import hull, positive, spend_on_balls

_BITS = 256


@attrs.frozen
class Enclosed:
    """A positive number known to lie in [low, high]; the bounds are rounded outward, so that they stay short.

    >>> half = Enclosed(Fraction(1, 2), Fraction(1, 2))
    >>> (half + half * half).low
    Fraction(3, 4)
    """

    low: Fraction
    high: Fraction

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "low", max(Fraction(0), _rounded(self.low, up=False)))
        object.__setattr__(self, "high", _rounded(self.high, up=True))

    @classmethod
    def of(cls, value: Probability) -> Enclosed:
        if isinstance(value, Enclosed):
            return value
        if isinstance(value, Exponential):
            found = value.enclose(_BITS)
            return cls(dyadic(found.lower()), dyadic(found.upper()))
        return cls(Fraction(value), Fraction(value))

    def __add__(self, other: Probability) -> Enclosed:
        their = Enclosed.of(other)
        return Enclosed(self.low + their.low, self.high + their.high)

    def __mul__(self, other: Probability) -> Enclosed:
        their = Enclosed.of(other)
        return Enclosed(self.low * their.low, self.high * their.high)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Probability) -> Enclosed:
        their = Enclosed.of(other)
        return Enclosed(self.low / their.high, self.high / their.low)

    def __rsub__(self, other: Probability) -> Enclosed:
        their = Enclosed.of(other)
        return Enclosed(their.low - self.high, their.high - self.low)

    def __float__(self) -> float:
        return float(self.high)


Probability = Fraction | Exponential | Enclosed
"""A probability: an exact rational, an exact element of Q(e^r), or an enclosure."""


def _rounded(value: Fraction, *, up: bool) -> Fraction:
    if value.denominator.bit_length() <= _BITS:
        return value
    scaled = value.numerator << _BITS
    return Fraction(-(-scaled // value.denominator) if up else scaled // value.denominator, 1 << _BITS)


@attrs.frozen
class EnclosedLaw(Law):
    """A law between bounds; see the module.

    Args:
        bounds: a pair (low, high) for every listed outcome.
        rest: how much probability may lie anywhere.

    >>> law = EnclosedLaw({"yes": (Fraction(1, 2), Fraction(3, 5)), "no": (Fraction(2, 5), Fraction(1, 2))}, Fraction(0))
    >>> law.against(FiniteLaw.of({"yes": "1/4", "no": "3/4"})).max_log_ratio().lower < 1
    True
    """

    bounds: Mapping[Hashable, tuple[Fraction, Fraction]] = attrs.field(hash=False)
    rest: Fraction = Fraction(0)

    def __attrs_post_init__(self) -> None:
        refuse_nan(self.bounds)
        least = sum((low for low, _ in self.bounds.values()), Fraction(0))
        most = sum((high for _, high in self.bounds.values()), self.rest)
        if least > 1 or most < 1:
            raise NotALaw("probabilities", "must be able to sum to 1", value=f"between {float(least)} and {float(most)}")

    @property
    def support(self) -> tuple[Hashable, ...]:
        """The listed outcomes."""
        return tuple(self.bounds)

    def mass(self, outcome: Hashable, precision: int = 64) -> arb:
        """A ball around P(outcome), exactly 0 where that is known."""
        with ctx.workprec(precision + 32):
            low, high = self.bounds.get(outcome, (Fraction(0), Fraction(0)))
            return hull(ball(low), ball(min(high + self.rest, Fraction(1))))

    def against(self, other: Law) -> Dichotomy:
        if self is other:
            return IDENTICAL
        if isinstance(other, (EnclosedLaw, FiniteLaw, ExponentialLaw)):
            return self._against(other)
        raise NoFormulaError(
            type(self).__name__, f"cannot be compared with a {type(other).__name__}", "compare laws with listed outcomes"
        )

    def _against(self, other: EnclosedLaw | AtomicLaw) -> Dichotomy:
        their = other.support if isinstance(other, EnclosedLaw) else other.window(64)
        rest = other.rest if isinstance(other, EnclosedLaw) else Fraction(0)
        outcomes = self._alike((*self.support, *their), other)

        def cells(precision: int) -> Cells:
            listed = [Cell.atom(self.mass(o, precision) * n, other.mass(o, precision) * n) for o, n in outcomes]
            return (*listed, Cell.lump(_anything(self.rest), _anything(rest)))

        return BallDichotomy(cells)

    def _alike(self, outcomes: Iterable[Hashable], other: EnclosedLaw | AtomicLaw) -> tuple[tuple[Hashable, int], ...]:
        """The outcomes, where those that have the same bounds under both laws are one with a multiplicity.

        All of them have a ratio within the same bounds, and so has their sum: what is computed of the cells stays an enclosure.
        The bounds are compared by identity, which is quick; a law of many equal probabilities holds one object for all of them.
        """
        theirs: Mapping[Hashable, object] = other.bounds if isinstance(other, EnclosedLaw) else {}
        found: dict[object, list[Hashable]] = {}
        for outcome in dict.fromkeys(outcomes):
            is_shared = outcome in self.bounds and outcome in theirs and not self.rest
            key = (id(self.bounds[outcome]), id(theirs[outcome])) if is_shared else (outcome,)
            found.setdefault(key, []).append(outcome)
        return tuple((held[0], len(held)) for held in found.values())


def _anything(rest: Fraction) -> arb:
    """A ball around the probability outside the listed outcomes."""
    return positive(hull(arb(0), ball(rest))) if rest else arb(0)


# --- quadrature -----------------------------------------------------------------------------------


AnyOutput = Any
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
            with whole():  # Arb cannot be left by an exception
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


# --- laws of hidden noise -------------------------------------------------------------------------


class QuadratureAnswer(ABC):
    """The answer given the hidden noise: P(o | Z = z). Subclasses are frozen values, so that equal laws are equal."""

    @property
    @abstractmethod
    def outcomes(self) -> tuple[AnyOutput, ...]:
        """Everything that can be answered."""

    @property
    @abstractmethod
    def kinks(self) -> Iterable[Fraction]:
        """The points where P(o | Z = z) changes its form."""

    @abstractmethod
    def given(self, outcome: AnyOutput, z: acb, inside: Fraction) -> acb:
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
    answer: QuadratureAnswer

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

    def _cells(self, other: AtomicLaw, outcomes: Sequence[AnyOutput], precision: int) -> Cells:
        with ctx.workprec(precision + 32):
            return tuple(Cell.atom(self.mass(o, precision), other.mass(o, precision)) for o in outcomes)

    def window(self, precision: int) -> Sequence[AnyOutput]:
        return self.answer.outcomes

    def mass(self, outcome: AnyOutput, precision: int) -> arb:
        if outcome not in self.answer.outcomes:
            return arb(0)
        return _mass(self.hidden, self.answer, outcome, precision)


_WORK_OF_A_POINT = 32
"""A point of an integral takes so many exponentials: densities, and the answers at the point."""


@memoize(maxsize=1 << 14)
def _mass(hidden: LaplaceNoise, answer: QuadratureAnswer, outcome: AnyOutput, precision: int) -> arb:
    bits = precision + 8
    far = hidden.reach(bits)
    ends = (hidden.center - far, hidden.center + far)
    kinks = sorted({hidden.center, *(kink for kink in answer.kinks if ends[0] < kink < ends[1])})

    def integrand(z: acb, inside: Fraction) -> acb:
        spend_on_balls(_WORK_OF_A_POINT)
        return hidden.density(z, inside) * answer.given(outcome, z, inside)

    with ctx.workprec(precision + 32):
        inner = integral(integrand, (ends[0], *kinks, ends[1]), precision)
        return (inner + hull(arb(0), arb(2) ** -bits)).max(arb(0))


@attrs.frozen
class FirstAbove(QuadratureAnswer):
    """Answers are compared in order with a noisy threshold Z; the number of the first noisy one at or above it is released.

    Args:
        queries: the answers with their noise; the outcome len(queries) says that none was above.

    P(i | Z = z) = P(Q_i >= z) product over j < i of P(Q_j < z): the sparse vector technique with one positive answer
    (Lyu, Su, Li, VLDB 2017).
    """

    queries: tuple[LaplaceNoise, ...]
    _runs: tuple[tuple[LaplaceNoise, int], ...] = attrs.field(init=False, eq=False, repr=False)

    @_runs.default
    def _equal_ones(self) -> tuple[tuple[LaplaceNoise, int], ...]:
        return tuple((noise, len(list(same))) for noise, same in itertools.groupby(self.queries))

    @property
    def outcomes(self) -> tuple[int, ...]:
        return tuple(range(len(self.queries) + 1))

    @property
    def kinks(self) -> tuple[Fraction, ...]:
        return tuple(query.center for query in self.queries)

    def given(self, outcome: AnyOutput, z: acb, inside: Fraction) -> acb:
        product, left = acb(1), outcome
        for noise, times in self._runs:  # one after the other, so that equal ones are powers
            if left <= 0:
                break
            product, left = product * noise.below(z, inside) ** min(times, left), left - times
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
