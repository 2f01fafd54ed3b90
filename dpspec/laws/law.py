"""Laws: what a mechanism does to one dataset, P_x, the distribution of its output (Bailie, Gong, Meng and Drechsler 2024), and
how two of them are compared.

A law is a mixture of simple parts, and each part is one of four kinds: finitely many atoms; a location law on the
integers; a location law on the line; or atoms that can only be listed up to a small remainder (products and images of
infinite laws). Atoms and the line are mutually singular, so cells of different kinds never meet.

`FiniteLaw` has finitely many outcomes, each with an exact rational probability. `LocationLaw` is the shape that Laplace,
Gaussian, geometric and discrete Gaussian laws share,

    ln f(t) = ln f(c) - curvature (t - c)^2 - slope |t - c|

so that every log-likelihood ratio of two of them is a quadratic between their centers, and its range on an interval,
its limits in the tails and the divergence of its moments are known exactly, not estimated.

`LocationSandwich` compares mixtures of location laws and atoms, whose tails are known in closed form, and `Answers` are the laws
N_0, N_1, N_2, ... of an answer with a whole number that a given bound allows.
"""

from __future__ import annotations

import enum
import functools
import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, cast

import attrs
from flint import arb, ctx

from dpspec.base.errors import NoFormulaError, ParameterError
from dpspec.base.exact import Bracket, Number, NumberLike, ball, rational
from dpspec.laws.atoms import IDENTICAL, FiniteDichotomy, Sandwich
from dpspec.laws.dichotomy import INFINITE, BallDichotomy, Cell, Cells, Dichotomy
from dpspec.laws.numeric import hull, whole_number


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


# --- kinds of laws, and how two are compared ------------------------------------------------------


OutputValue = Hashable

_PROBE = 8
"""The precision at which a law is asked whether it can list its atoms."""


class Kind(enum.Enum):
    """How the outcomes of a simple law lie."""

    ATOMS = "finitely many atoms"
    INTEGERS = "a location law on the integers"
    LINE = "a location law on the line"
    LISTED = "atoms that are listed up to a remainder"


class KnownLaw(Law):
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
        # Cells are computed when they are asked for; that a part cannot be listed must be noticed now.
        atomic(part).window(_PROBE)
    return Sandwich.of(lambda precision: listed_cells(p_parts, q_parts, precision))


def listed_cells(p_parts: Parts, q_parts: Parts, precision: int) -> Cells:
    """One cell for every listed outcome, and one for all the others."""
    outcomes = dict.fromkeys(itertools.chain.from_iterable(atomic(part).window(precision) for _, part in p_parts + q_parts))
    cells = [Cell.atom(_mass(p_parts, outcome, precision), _mass(q_parts, outcome, precision)) for outcome in outcomes]
    p_rest = _rest(p_parts, [cell.p for cell in cells])
    q_rest = _rest(q_parts, [cell.q for cell in cells])
    return (*cells, Cell.lump(p_rest, q_rest))


def _mass(parts: Parts, outcome: OutputValue, precision: int) -> arb:
    return sum((ball(weight) * atomic(part).mass(outcome, precision) for weight, part in parts), arb(0))


def _rest(parts: Parts, masses: Sequence[arb]) -> arb:
    """What the listed outcomes leave over: nothing, exactly, for finite laws."""
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
        if sum(self.weights.values()) != self.total or min(self.weights.values(), default=0) <= 0:
            raise NotALaw("weights", "must be positive and sum to the total", "use FiniteLaw.of", value=dict(self.weights))

    # -- making one -------------------------------------------------------------------------------

    @classmethod
    def of(cls, probabilities: Mapping[OutputValue, NumberLike]) -> FiniteLaw:
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
    def from_weights(cls, weights: Mapping[OutputValue, int]) -> FiniteLaw:
        """The law with probabilities proportional to nonnegative integer weights, not all 0."""
        divisor = math.gcd(*weights.values())
        if divisor == 0:
            raise NotALaw("weights", "must not all be 0", "give at least one outcome a positive weight")
        _refuse_negative(weights)
        kept = {outcome: weight // divisor for outcome, weight in weights.items() if weight}
        return cls(kept, sum(kept.values()))

    @classmethod
    def point(cls, outcome: OutputValue) -> FiniteLaw:
        """The law of a certain outcome."""
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
        joint: dict[Any, int] = {(): 1}
        for law in laws:
            joint = {(*head, last): a * b for head, a in joint.items() for last, b in law.weights.items()}
        return FiniteLaw.from_weights(joint)

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
        if mine.keys() == theirs.keys():
            return FiniteDichotomy(tuple(mine.values()), tuple(map(theirs.__getitem__, mine)), self.total, other.total)
        outcomes = [*mine, *(outcome for outcome in theirs if outcome not in mine)]
        return FiniteDichotomy(
            tuple(mine.get(outcome, 0) for outcome in outcomes),
            tuple(theirs.get(outcome, 0) for outcome in outcomes),
            self.total,
            other.total,
        )


def _refuse_negative(weights: Mapping[OutputValue, int]) -> None:
    for outcome, weight in weights.items():
        if weight < 0:
            raise NotALaw(f"weight of {outcome!r}", "must be at least 0", "probabilities are never negative", value=weight)


# --- location laws --------------------------------------------------------------------------------


LinePoint = Fraction | None
"""A point of the line; None stands for the infinite end on its side."""


class LocationLaw(SimpleLaw):
    """A law on the line or on the integers with the density above."""

    on_integers: ClassVar[bool]
    center: Fraction | int

    @property
    @abstractmethod
    def curvature(self) -> Number: ...

    @property
    @abstractmethod
    def slope(self) -> Number: ...

    @abstractmethod
    def log_peak(self, precision: int) -> arb:
        """The logarithm of the density (or mass) at the center."""

    @abstractmethod
    def between(self, low: LinePoint, high: LinePoint, precision: int) -> arb:
        """The mass of low < X < high on the line, of low <= X < high on the integers."""

    @abstractmethod
    def breakpoints(self, precision: int) -> Sequence[Fraction]:
        """Points in increasing order that cut the law into cells, all but about 2^-precision of it inside."""

    def log_density(self, point: arb, precision: int) -> arb:
        """ln f at a ball of points."""
        center, curvature, slope, peak = _coefficients(self, precision)
        distance = abs(point - center)
        return peak - (curvature * distance + slope) * distance


@functools.lru_cache(maxsize=256)
def _coefficients(law: LocationLaw, precision: int) -> tuple[arb, arb, arb, arb]:
    """Balls around center, curvature, slope and the logarithm of the peak."""
    with ctx.workprec(precision):
        return ball(law.center), law.curvature.enclose(precision), law.slope.enclose(precision), law.log_peak(precision)


def tail_sign(p: LocationLaw, q: LocationLaw, side: int) -> int:
    """1 when ln(p/q) tends to infinity in the tail on a side (1 or -1), -1 when to minus infinity, 0 for a constant."""
    if p.curvature != q.curvature:
        return 1 if p.curvature < q.curvature else -1
    if p.curvature > 0:
        shift = (p.center - q.center) * side
        return (shift > 0) - (shift < 0)
    return (p.slope < q.slope) - (p.slope > q.slope)


def moment_diverges(p: LocationLaw, q: LocationLaw, order: Fraction) -> bool:
    """Whether the integral of p^order q^(1 - order), order > 1, is proved infinite."""
    if (p.curvature == 0) != (q.curvature == 0):
        return p.curvature == 0
    if p.curvature == 0:
        return p.slope * order <= q.slope * (order - 1)
    return p.curvature * order < q.curvature * (order - 1)


def is_heavier(p: LocationLaw, q: LocationLaw) -> bool:
    """Whether some moment of p/q diverges: the tails of p are heavier than by a shift alone."""
    if p.curvature != q.curvature:
        return p.curvature < q.curvature
    return p.curvature == 0 and p.slope < q.slope


def ratio_range(p: LocationLaw, q: LocationLaw, low: LinePoint, high: LinePoint, precision: int) -> tuple[arb, arb]:
    """The range of ln(p/q) on an interval that holds no center in its inside."""
    values = [_end_value(p, q, end, precision) for end in (low, high) if end is not None]
    for end, side in ((low, -1), (high, 1)):
        if end is None:
            sign = tail_sign(p, q, side)
            values += [arb.pos_inf()] if sign > 0 else [arb.neg_inf()] if sign < 0 else []
    vertex = _vertex(p, q, low, high, precision)
    if vertex is not None:
        values.append(p.log_density(vertex, precision) - q.log_density(vertex, precision))
    return _smallest(values), _largest(values)


def ratio_supremum(p: LocationLaw, q: LocationLaw, precision: int) -> arb:
    """sup ln(p/q) of two laws on the line, when it is finite: at a center, at a turning point, or constant in a tail."""
    low, high = sorted((Fraction(p.center), Fraction(q.center)))
    points = [ball(low), ball(high)]
    regions = ((None, low), (low, high), (high, None))
    points += [vertex for a, b in regions if (vertex := _vertex(p, q, a, b, precision)) is not None]
    values = [p.log_density(point, precision) - q.log_density(point, precision) for point in points]
    return functools.reduce(arb.max, values)


def _end_value(p: LocationLaw, q: LocationLaw, end: Fraction, precision: int) -> arb:
    point = ball(Fraction(end))
    return p.log_density(point, precision) - q.log_density(point, precision)


def _vertex(p: LocationLaw, q: LocationLaw, low: LinePoint, high: LinePoint, precision: int) -> arb | None:
    """Where the quadratic ln(p/q) turns, when that may lie in the interval."""
    if p.curvature == q.curvature:
        return None
    slope, curvature = arb(0), arb(0)
    for law, sign in ((p, 1), (q, -1)):
        right = low is not None and low >= law.center
        center, a, b, _ = _coefficients(law, precision)
        slope += sign * (2 * a * center - (b if right else -b))
        curvature += sign * 2 * a
    vertex = slope / curvature
    if low is not None:
        vertex = vertex.max(ball(Fraction(low)))
    if high is not None:
        vertex = vertex.min(ball(Fraction(high)))
    return vertex


def _largest(values: Sequence[arb]) -> arb:
    best = values[0].upper()
    for value in values[1:]:
        best = best.max(value.upper())
    return best


def _smallest(values: Sequence[arb]) -> arb:
    return -_largest([-value for value in values])


def log_density_range(law: LocationLaw, low: Fraction, high: Fraction, precision: int) -> arb:
    """ln f over an interval that holds the center at most at an end."""
    return hull(law.log_density(ball(Fraction(low)), precision), law.log_density(ball(Fraction(high)), precision))


# --- sandwiches of location laws and atoms --------------------------------------------------------


WeightedLaw = tuple[Fraction, LocationLaw]


@attrs.frozen
class Measure:
    """The parts of one law that live on the integers, or on the line."""

    laws: tuple[WeightedLaw, ...]
    atoms: dict[int, Fraction] = attrs.field(factory=dict)

    def between(self, low: LinePoint, high: LinePoint, precision: int) -> arb:
        total = sum((ball(weight) * law.between(low, high, precision) for weight, law in self.laws), arb(0))
        if self.atoms and low is not None and high == low + 1:
            total += ball(self.atoms.get(int(low), Fraction(0)))
        return total


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


LawRelation = Callable[[LocationLaw, LocationLaw], bool]


def _somewhere(p_parts: Parts, q_parts: Parts, relation: LawRelation) -> bool:
    """Whether one location part of P stands in the relation to all parts of Q of its kind (vacuously, when Q has none)."""
    return any(
        all(relation(p, q) for _, q in _location(q_parts, kind))
        for kind in (Kind.INTEGERS, Kind.LINE)
        for _, p in _location(p_parts, kind)
    )


def _unbounded(p_parts: Parts, q_parts: Parts) -> bool:
    """Whether dP/dQ is proved unbounded in a tail."""
    return any(_somewhere(p_parts, q_parts, functools.partial(_grows, side)) for side in (-1, 1))


def _grows(side: int, p: LocationLaw, q: LocationLaw) -> bool:
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
        cells += _interval_cells(p_measure, q_measure, precision, on_integers=True)
        outcomes = dict.fromkeys(outcome for outcome in outcomes if outcome not in whole)
    for outcome in outcomes:
        cells.append(Cell.atom(ball(p_atoms.get(outcome, Fraction(0))), ball(q_atoms.get(outcome, Fraction(0)))))
    line = Measure(_location(p_parts, Kind.LINE)), Measure(_location(q_parts, Kind.LINE))
    if line[0].laws or line[1].laws:
        cells += _interval_cells(*line, precision, on_integers=False)
    return tuple(cells)


def _atoms(parts: Parts) -> dict[OutputValue, Fraction]:
    """The finite parts together, weighted."""
    merged: dict[OutputValue, Fraction] = {}
    for weight, part in parts:
        if part.kind is Kind.ATOMS:
            for outcome, probability in cast("FiniteLaw", part).probabilities():
                merged[outcome] = merged.get(outcome, Fraction(0)) + weight * probability
    return merged


def _interval_cells(p: Measure, q: Measure, precision: int, *, on_integers: bool) -> list[Cell]:
    points: set[Fraction] = set()
    for _, law in (*p.laws, *q.laws):
        points.update(law.breakpoints(precision))
    for outcome in (*p.atoms, *q.atoms):
        points.update((Fraction(outcome), Fraction(outcome + 1)))
    ordered: list[LinePoint] = [None, *sorted(points), None]
    return [_cell(p, q, low, high, precision, on_integers=on_integers) for low, high in itertools.pairwise(ordered)]


def _cell(p: Measure, q: Measure, low: LinePoint, high: LinePoint, precision: int, *, on_integers: bool) -> Cell:
    p_mass, q_mass = p.between(low, high, precision), q.between(low, high, precision)
    last = high - 1 if on_integers and high is not None else high
    single = on_integers and low is not None and low == last
    holds_atom = single and low is not None and (int(low) in p.atoms or int(low) in q.atoms)
    if not p.laws or not q.laws or holds_atom or (single and len(p.laws) * len(q.laws) > 1):
        return Cell.atom(p_mass, q_mass)
    high_ratio = _largest_ratio(p.laws, q.laws, low, last, precision)
    low_ratio = -_largest_ratio(q.laws, p.laws, low, last, precision)
    return Cell(p_mass.max(arb(0)), q_mass.max(arb(0)), low_ratio, high_ratio)


def _largest_ratio(p: Sequence[WeightedLaw], q: Sequence[WeightedLaw], low: LinePoint, high: LinePoint, precision: int) -> arb:
    """An upper bound of ln(sum w_i p_i / sum v_j q_j) on an interval that holds no center inside.

    With ln(p_i/q_j) <= u_ij there: sum_i min_j (w_i/v_j) e^(u_ij), and max_ij e^(u_ij) sum w / sum v; on a bounded
    interval also the largest densities over the smallest ones.
    """
    upper = [[ratio_range(law, other, low, high, precision)[1] for _, other in q] for _, law in p]
    if len(p) == len(q) == 1:
        return (upper[0][0] + ball(p[0][0] / q[0][0]).log()).upper()
    sharp, widest = arb(0), arb.neg_inf()
    for (weight, _), row in zip(p, upper, strict=True):
        least = arb.pos_inf()
        for (other_weight, _), bound in zip(q, row, strict=True):
            widest = widest.max(bound)
            least = least.min(bound + ball(weight / other_weight).log())
        sharp += least.exp()
    total = ball(sum((w for w, _ in p), Fraction(0)) / sum((v for v, _ in q), Fraction(0)))
    best = _log(sharp).min((widest + total.log()).upper())
    if low is None or high is None:
        return best
    top = sum((ball(w) * log_density_range(law, low, high, precision).upper().exp() for w, law in p), arb(0))
    bottom = sum((ball(v) * log_density_range(law, low, high, precision).lower().exp() for v, law in q), arb(0))
    return best.min(_log(top / bottom))


def _log(value: arb) -> arb:
    return value.log().upper() if value.is_finite() else arb.pos_inf()


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
