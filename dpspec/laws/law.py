"""Laws: P_x, the distribution of the output of a mechanism on a dataset x (Bailie, Gong, Meng and Drechsler 2024), and
the comparison of two of them.

A law is a mixture of simple parts, and each part is one of four kinds: finitely many atoms; a location law on the
integers; a location law on the line; or atoms that can only be listed up to a small remainder (products and images of
infinite laws). Atoms and the line are mutually singular, so cells of different kinds never meet.

`FiniteLaw` has finitely many outcomes, each with an exact rational probability. `LocationSandwich` compares mixtures of location
laws and atoms, whose tails are known in closed form, and `Answers` are the laws N_0, N_1, N_2, ... of an answer with a whole
number that a given bound allows.
"""

from __future__ import annotations

import enum
import functools
import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, cast

import attrs
from flint import arb, ctx

from dpspec.base.errors import NoFormulaError, ParameterError
from dpspec.base.exact import Bracket, NumberLike, rational
from dpspec.base.log_linear import ball
from dpspec.base.promises import Promising
from dpspec.base.work import spend
from dpspec.laws.atoms import IDENTICAL, FiniteDichotomy, Sandwich
from dpspec.laws.dichotomy import INFINITE, BallDichotomy, Cell, Cells, Dichotomy
from dpspec.laws.location import (
    Location,
    Measure,
    WeightedLaw,
    interval_cells,
    is_heavier,
    moment_diverges,
    ratio_supremum,
    tail_sign,
)
from dpspec.laws.numeric import spend_on_balls, whole_number


class NotALaw(ParameterError):
    """Weights that are no probability distribution: one is negative, or they do not sum to exactly 1."""

    code = "not-a-law"


class Law(ABC):
    """P_x, the distribution of the output on one dataset.

    Laws are values: equal laws are equal objects, and all of them are hashable.
    """

    @abstractmethod
    def against(self, other: Law) -> Dichotomy:
        """The pair (P, Q) of this law and another one, seen through its likelihood ratio.

        Raises:
            NoFormulaError: when no exact or bracketed way is known to compare the two.
        """

    def factors(self) -> tuple[Law, ...]:
        """The laws whose independent draws it is; itself where it is no product."""
        return (self,)


# --- kinds of laws, and how two are compared ------------------------------------------------------


OutputValue = Hashable

_PROBE = 8
"""The precision at which it is tested whether a law can list its atoms."""

_WORK_OF_A_CELL = 6
"""So many exponentials take as long as to make one cell."""


class Kind(enum.Enum):
    """The arrangement of the outcomes of a simple law."""

    ATOMS = "finitely many atoms"
    INTEGERS = "a location law on the integers"
    LINE = "a location law on the line"
    LISTED = "atoms that are listed up to a remainder"


class KnownLaw(Promising, Law):
    """A law that the general comparison understands; a third party subclasses `AtomicLaw`, or `Law` to compare in its own way."""

    @abstractmethod
    def parts(self) -> Parts:
        """The law as a mixture of simple laws with positive weights."""

    def closed_against(self, other: Law) -> Dichotomy | None:
        """The pair with another law when it is known in closed form."""
        return None

    def against(self, other: Law) -> Dichotomy:
        if self == other:
            return IDENTICAL
        closed = self.closed_against(other)
        if closed is not None:
            return closed
        if not isinstance(other, KnownLaw):
            return other.against(self).reverse()
        mirrored = other.closed_against(self)
        return mirrored.reverse() if mirrored is not None else general(self, other)

    _promised: ClassVar[Mapping[str, Any]] = {"closed_against": closed_against}


class SimpleLaw(KnownLaw):
    """A law of one kind."""

    kind: ClassVar[Kind]

    def parts(self) -> Parts:
        return ((Fraction(1), self),)


class AtomicLaw(SimpleLaw):
    """A law on countably many outcomes.

    A subclass says which outcomes matter and encloses the mass of each; that is all the general comparison needs.
    """

    kind: ClassVar[Kind] = Kind.LISTED

    @abstractmethod
    def window(self, precision: int) -> Sequence[OutputValue]:
        """Finitely many outcomes that hold all but about 2^-precision of the mass."""

    @abstractmethod
    def mass(self, outcome: OutputValue, precision: int) -> arb:
        """A ball around P(outcome), exactly 0 where that is known."""

    def masses(self, outcomes: Collection[OutputValue], precision: int) -> list[arb]:
        """The mass of each outcome; a law whose outcomes share parts computes each part once."""
        return [self.mass(outcome, precision) for outcome in outcomes]


Parts = tuple[tuple[Fraction, SimpleLaw], ...]


def general(p: KnownLaw, q: KnownLaw) -> Dichotomy:
    """The sandwich of two laws over their common cells."""

    p_parts, q_parts = p.parts(), q.parts()
    kinds = {part.kind for _, part in p_parts + q_parts}
    if Kind.LISTED not in kinds:
        return LocationSandwich.of_parts(p_parts, q_parts)
    if Kind.LINE in kinds:
        raise NoFormulaError(
            f"{type(p).__name__} against {type(q).__name__}",
            "mixes a law on the line with one that is only listed atom by atom",
            "compare laws of one kind, or products of the same shape factor by factor",
        )
    for _, part in p_parts + q_parts:
        # Cells are computed on demand; that a part cannot be listed must be noticed now.
        atomic(part).window(_PROBE)
    return Sandwich.of(lambda precision: listed_cells(p_parts, q_parts, precision))


def listed_cells(p_parts: Parts, q_parts: Parts, precision: int) -> Cells:
    """One cell for every listed outcome, and one for all the others."""
    outcomes = dict.fromkeys(itertools.chain.from_iterable(atomic(part).window(precision) for _, part in p_parts + q_parts))
    spend_on_balls(len(outcomes) * (_WORK_OF_A_CELL + len(p_parts) + len(q_parts)))
    both = (_masses(parts, outcomes, precision) for parts in (p_parts, q_parts))
    cells = [Cell.atom(p, q) for p, q in zip(*both, strict=True)]
    p_rest = _rest(p_parts, [cell.p for cell in cells])
    q_rest = _rest(q_parts, [cell.q for cell in cells])
    return (*cells, Cell.lump(p_rest, q_rest))


def _masses(parts: Parts, outcomes: Collection[OutputValue], precision: int) -> list[arb]:
    """The mass of each outcome under a mixture: the sum of those of its parts."""
    total = [arb(0)] * len(outcomes)
    for weight, part in parts:
        share = ball(weight)
        total = [mass + share * of_part for mass, of_part in zip(total, atomic(part).masses(outcomes, precision), strict=True)]
    return total


def _rest(parts: Parts, masses: Sequence[arb]) -> arb:
    """The probability outside the listed outcomes: 0, exactly, for finite laws."""
    if all(part.kind is Kind.ATOMS for _, part in parts):
        return arb(0)
    return (1 - sum(masses, arb(0))).max(arb(0))


def atomic(part: Law) -> AtomicLaw:
    """The law as one that lists its atoms."""
    if not isinstance(part, AtomicLaw):
        raise NoFormulaError(type(part).__name__, "has no atoms", "compare it with a law on the line")
    return part


# --- finite laws ----------------------------------------------------------------------------------


@attrs.frozen(eq=False, repr=False)
class FiniteLaw(AtomicLaw):
    """A law on finitely many outcomes, stored as positive integer weights over their common total.

    The weights have no common factor, so that equal laws are stored equally. Use `of`, `from_weights`, `point` or
    `uniform` to make one; weights that do not sum to the total are refused however they come in.

    >>> FiniteLaw.of({"yes": "3/4", "no": "1/4"}) == FiniteLaw.from_weights({"no": 2, "yes": 6})
    True
    """

    weights: Mapping[OutputValue, int]
    total: int

    kind: ClassVar[Kind] = Kind.ATOMS

    def __attrs_post_init__(self) -> None:
        spend(len(self.weights))
        if sum(self.weights.values()) != self.total or min(self.weights.values(), default=0) <= 0:
            raise NotALaw("weights", "must be positive and sum to the total", "use FiniteLaw.of", value=dict(self.weights))

    # -- making one -------------------------------------------------------------------------------

    @classmethod
    def of(cls, probabilities: Mapping[OutputValue, NumberLike]) -> FiniteLaw:
        """The law with these probabilities.

        Raises:
            NotALaw: when one is negative, when they do not sum to exactly 1, or when an outcome is not equal to itself.

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
    def from_weights(cls, weights: Mapping[OutputValue, int]) -> FiniteLaw:
        """The law with probabilities proportional to nonnegative integer weights, not all 0.

        Raises:
            NotALaw: when one is negative, when all are 0, or when an outcome is not equal to itself.
        """
        refuse_nan(weights)
        divisor = math.gcd(*weights.values())
        if divisor == 0:
            raise NotALaw("weights", "must not all be 0", "give at least one outcome a positive weight")
        _refuse_negative(weights)
        as_given = divisor == 1 and all(weights.values())
        kept = dict(weights) if as_given else {outcome: weight // divisor for outcome, weight in weights.items() if weight}
        return cls(kept, sum(kept.values()))

    @classmethod
    def point(cls, outcome: OutputValue) -> FiniteLaw:
        """The law of a certain outcome."""
        refuse_nan((outcome,))
        return cls({outcome: 1}, 1)

    @classmethod
    def uniform(cls, outcomes: Iterable[OutputValue]) -> FiniteLaw:
        """Equal probability for every listed outcome (twice for one that is listed twice)."""
        counts: dict[OutputValue, int] = {}
        for outcome in outcomes:
            counts[outcome] = counts.get(outcome, 0) + 1
        return cls.from_weights(counts)

    @classmethod
    def bernoulli(cls, probability: NumberLike) -> FiniteLaw:
        """1 with the given probability, else 0."""
        chance = rational(probability, "probability")
        return cls.of({1: chance, 0: 1 - chance})

    # -- reading it -------------------------------------------------------------------------------

    def probability(self, outcome: OutputValue) -> Fraction:
        """P(outcome), 0 outside the support."""
        return Fraction(self.weights.get(outcome, 0), self.total)

    @property
    def support(self) -> tuple[OutputValue, ...]:
        """The outcomes of positive probability, in the order in which they were given."""
        return tuple(self.weights)

    def probabilities(self) -> Iterator[tuple[OutputValue, Fraction]]:
        """Every outcome of the support with its probability."""
        return ((outcome, Fraction(weight, self.total)) for outcome, weight in self.weights.items())

    def window(self, precision: int) -> tuple[OutputValue, ...]:
        return self.support

    def mass(self, outcome: OutputValue, precision: int = 64) -> arb:
        with ctx.workprec(precision + 32):
            return ball(self.probability(outcome))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FiniteLaw):
            return NotImplemented
        return self.total == other.total and self.weights == other.weights

    def __hash__(self) -> int:
        return self._hash

    @functools.cached_property
    def _hash(self) -> int:
        return hash((self.total, frozenset(self.weights.items())))

    def __repr__(self) -> str:
        shown = ", ".join(f"{outcome!r}: {Fraction(weight, self.total)}" for outcome, weight in self.weights.items())
        return f"FiniteLaw({{{shown}}})"

    # -- making others ----------------------------------------------------------------------------

    def push_forward(self, function: Callable[[Any], OutputValue]) -> FiniteLaw:
        """The law of function(X).

        >>> FiniteLaw.uniform([-1, 0, 1]).push_forward(abs)
        FiniteLaw({1: 2/3, 0: 1/3})
        """
        merged: dict[OutputValue, int] = {}
        for outcome, weight in self.weights.items():
            image = function(outcome)
            merged[image] = merged.get(image, 0) + weight
        return FiniteLaw.from_weights(merged)

    @staticmethod
    def product(laws: Sequence[FiniteLaw]) -> FiniteLaw:
        """The law of independent draws; its outcomes are tuples."""
        outcomes = itertools.product(*(law.weights for law in laws))
        weights = map(math.prod, itertools.product(*(law.weights.values() for law in laws)))
        joint: dict[Any, int] = dict(zip(outcomes, weights, strict=True))
        # the greatest common divisor of all products is the product of the divisors, which are 1
        return FiniteLaw(joint, math.prod(law.total for law in laws))

    @staticmethod
    def mixture(weights: Sequence[NumberLike], laws: Sequence[FiniteLaw]) -> FiniteLaw:
        """The law that draws from laws[i] with probability weights[i]."""
        merged: dict[OutputValue, Fraction] = {}
        for weight, law in zip(weights, laws, strict=True):
            for outcome, probability in law.probabilities():
                merged[outcome] = merged.get(outcome, Fraction(0)) + rational(weight, "weight") * probability
        return FiniteLaw.of(merged)

    # -- comparing it -----------------------------------------------------------------------------

    def against(self, other: Law) -> Dichotomy:
        if not isinstance(other, FiniteLaw):
            return AtomicLaw.against(self, other)
        mine, theirs = self.weights, other.weights
        if tuple(mine) == tuple(theirs):  # without a hash of each outcome
            return FiniteDichotomy(tuple(mine.values()), tuple(theirs.values()), self.total, other.total)
        if mine.keys() == theirs.keys():
            return FiniteDichotomy(tuple(mine.values()), tuple(map(theirs.__getitem__, mine)), self.total, other.total)
        outcomes = [*mine, *(outcome for outcome in theirs if outcome not in mine)]
        return FiniteDichotomy(
            tuple(mine.get(outcome, 0) for outcome in outcomes),
            tuple(theirs.get(outcome, 0) for outcome in outcomes),
            self.total,
            other.total,
        )


def refuse_nan(outcomes: Iterable[OutputValue]) -> None:
    """Refuse a NaN, also in a tuple: two of them are different outcomes, so that equal releases would differ."""
    for outcome in outcomes:
        if isinstance(outcome, tuple):
            refuse_nan(outcome)
        elif isinstance(outcome, float) and math.isnan(outcome):
            rule, advice = "is no number, and so not equal to itself", 'name it by a text, such as "nan"'
            raise NotALaw("outcome", rule, advice, value=outcome)


def _refuse_negative(weights: Mapping[OutputValue, int]) -> None:
    if min(weights.values(), default=0) < 0:
        outcome, weight = next((outcome, weight) for outcome, weight in weights.items() if weight < 0)
        raise NotALaw(f"weight of {outcome!r}", "must be at least 0", "probabilities are never negative", value=weight)


# --- sandwiches of location laws and atoms --------------------------------------------------------


class LocationLaw(Location, SimpleLaw):
    """A law of the shape that `Location` describes, as a simple part."""


@attrs.frozen(eq=False)
class LocationSandwich(Sandwich):
    """The sandwich of two mixtures of atoms and location laws."""

    p_parts: Parts
    q_parts: Parts

    @classmethod
    def of_parts(cls, p_parts: Parts, q_parts: Parts) -> LocationSandwich:
        raw = BallDichotomy(
            lambda precision: location_cells(p_parts, q_parts, precision),
            INFINITE if _unbounded(p_parts, q_parts) else None,
            INFINITE if _unbounded(q_parts, p_parts) else None,
        )
        return cls._around_cells(raw, p_parts, q_parts)

    @classmethod
    def _around_cells(cls, raw: BallDichotomy, p_parts: Parts, q_parts: Parts) -> LocationSandwich:
        base = Sandwich.around(raw)
        return cls(base.lowers, base.uppers, raw, p_parts, q_parts)

    def reverse(self) -> LocationSandwich:
        return LocationSandwich._around_cells(self.raw.reverse(), self.q_parts, self.p_parts)

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        p, q = _location(self.p_parts, Kind.LINE), _location(self.q_parts, Kind.LINE)
        alone = len(self.p_parts) == len(p) == 1 and len(self.q_parts) == len(q) == 1
        if not alone or self.raw.top is not None:
            return Sandwich.max_log_ratio(self, precision=precision)
        with ctx.workprec(precision + 32):
            return Bracket.around(ratio_supremum(p[0][1], q[0][1], precision + 32), least=0)

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        if order > 1 and _somewhere(self.p_parts, self.q_parts, lambda p, q: moment_diverges(p, q, order)):
            return INFINITE
        return Sandwich._renyi(self, order, precision)

    def _concentration(self, precision: int) -> Bracket:
        if _somewhere(self.p_parts, self.q_parts, is_heavier):
            return INFINITE
        return Sandwich._concentration(self, precision)


LawRelation = Callable[[Location, Location], bool]


def _somewhere(p_parts: Parts, q_parts: Parts, relation: LawRelation) -> bool:
    """Whether one location part of P has the relation to all parts of Q of its kind (vacuously, when Q has none)."""
    return any(
        all(relation(p, q) for _, q in _location(q_parts, kind))
        for kind in (Kind.INTEGERS, Kind.LINE)
        for _, p in _location(p_parts, kind)
    )


def _unbounded(p_parts: Parts, q_parts: Parts) -> bool:
    """Whether dP/dQ is proved unbounded in a tail."""
    return any(_somewhere(p_parts, q_parts, functools.partial(_grows, side)) for side in (-1, 1))


def _grows(side: int, p: Location, q: Location) -> bool:
    return tail_sign(p, q, side) > 0


def _location(parts: Parts, kind: Kind) -> tuple[WeightedLaw, ...]:
    return tuple((weight, cast("LocationLaw", part)) for weight, part in parts if part.kind is kind)


def location_cells(p_parts: Parts, q_parts: Parts, precision: int) -> Cells:
    """Common cells of atoms, integers and the line."""
    p_atoms, q_atoms = _atoms(p_parts), _atoms(q_parts)
    p_integers, q_integers = _location(p_parts, Kind.INTEGERS), _location(q_parts, Kind.INTEGERS)
    outcomes = dict.fromkeys((*p_atoms, *q_atoms))
    cells: list[Cell] = []
    if p_integers or q_integers:
        whole = {o: k for o in outcomes if (k := whole_number(o)) is not None}
        p_measure = Measure(p_integers, {k: p_atoms[o] for o, k in whole.items() if o in p_atoms})
        q_measure = Measure(q_integers, {k: q_atoms[o] for o, k in whole.items() if o in q_atoms})
        cells += interval_cells(p_measure, q_measure, precision, on_integers=True)
        outcomes = dict.fromkeys(outcome for outcome in outcomes if outcome not in whole)
    for outcome in outcomes:
        cells.append(Cell.atom(ball(p_atoms.get(outcome, Fraction(0))), ball(q_atoms.get(outcome, Fraction(0)))))
    line = Measure(_location(p_parts, Kind.LINE)), Measure(_location(q_parts, Kind.LINE))
    if line[0].laws or line[1].laws:
        cells += interval_cells(*line, precision, on_integers=False)
    return tuple(cells)


def _atoms(parts: Parts) -> dict[OutputValue, Fraction]:
    """The finite parts together, weighted."""
    merged: dict[OutputValue, Fraction] = {}
    for weight, part in parts:
        if part.kind is Kind.ATOMS:
            for outcome, probability in cast("FiniteLaw", part).probabilities():
                merged[outcome] = merged.get(outcome, Fraction(0)) + weight * probability
    return merged


# --- answers with a whole number ------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Answers:
    """Laws that step away from each other as fast as a bound allows: d_Pr(N_i, N_j) <= bound for |i - j| = 1, both ways.

    Under an output divergence that is a metric it follows that d_Pr(N_i, N_j) <= bound |i - j| for all i, j.

    Args:
        law: N_i for a whole number i (from 0 to `most`).
        words: what is done with the number, as it follows the number in a sentence.
        most: the largest i; 1 for answers to a question of yes or no, None for any number.

    >>> from dpspec.laws.integers import DiscreteGaussianLaw
    >>> noisy = Answers(law=lambda i: DiscreteGaussianLaw(center=i, variance=2), words="plus noise of variance 2")
    >>> noisy.law(3).center, noisy.most
    (3, None)
    """

    law: Callable[[int], Law]
    words: str
    most: int | None = None
