"""Dichotomies: a pair of laws (P, Q) seen only through its likelihood ratio dP/dQ.

Every divergence that obeys data processing is a function of the dichotomy alone (two pairs with the same law of
dP/dQ simulate each other, by Blackwell). So a dichotomy is what an output divergence gets to see, and the functionals
below are the vocabulary from which it is written. Each looks one way, (P || Q); `reverse` turns the pair round.

A `BallDichotomy` is known through cells: rigorous balls around their masses, and the range of the likelihood ratio.
A cell is a set of outcomes on which low <= ln(dP/dQ) <= high. An atom is a cell with low = high. Infinite ends mean outcomes to
which one of the laws assigns probability 0.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction

import attrs
from flint import arb, ctx

from dpspec.base.errors import NoFormulaError, NumericalError, ParameterError
from dpspec.base.exact import INFINITY, ZERO, Bracket, Number, NumberLike, number, rational
from dpspec.base.log_linear import ball, ceiling_of
from dpspec.base.work import spend
from dpspec.laws.cumulant import AtomSum, Cumulant, enclosed_limit, supremum
from dpspec.laws.numeric import ball_exponential, hull, last_above, positive, spend_on_balls

NOTHING = Bracket.exactly(ZERO)
INFINITE = Bracket.exactly(INFINITY)

_SMALLEST_POWER, _LARGEST_POWER, _MOST_POWER = -8, 64, 12_000
_ORDERS = (Fraction(9, 8), Fraction(2), Fraction(8), Fraction(64))
_FAR_ORDERS = tuple(Fraction(1 << place) for place in range(8, 128, 2))
"""For pairs whose divergences grow slowly with the order, as those of much Gaussian noise do."""

WORK_OF_A_FORMULA, WORK_OF_CELLS, WORK_OF_A_TRANSFORM = 16, 1 << 6, 1 << 12
"""How many atoms of a finite pair take as long as a closed form, the cells of a pair, and the transforms of a composed loss:
about 1 microsecond on the machine where it was measured, against 20, 60 and 4,000. Limits of work count in these units, which
do not depend on the machine."""

_WORK_OF_A_CALL = 32
"""Units of `dpspec.base.work` of a functional, next to those of its cells, atoms or transforms."""


class Dichotomy(ABC):
    """The pair (P, Q), up to Blackwell equivalence.

    Properties that only some pairs have (`Growth`, `Composite`, `Joinable`, `Finite`) are mixins. A subclass implements the
    methods with an underscore; the public ones read their argument and settle what
    holds for every pair (P = Q, an epsilon beyond the largest log-ratio, a delta of at least 1).

    Every functional returns a `Bracket`, exact where possible; a larger `precision` gives a narrower one.
    """

    # -- the functionals --------------------------------------------------------------------------

    @property
    def is_identical(self) -> bool:
        """Whether P = Q, known exactly."""
        return False

    @abstractmethod
    def reverse(self) -> Dichotomy:
        """The pair (Q, P)."""

    @abstractmethod
    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        """sup ln(dP/dQ), the max-divergence; infinite when P has mass where Q has none
        (Dwork, McSherry, Nissim and Smith 2006, Definition 1)."""

    def singular_mass(self, *, precision: int = 64) -> Bracket:
        """P(dQ = 0), the mass of P where Q has none: the limit of the hockey stick for large epsilon."""
        finite = not self.max_log_ratio(precision=precision).upper.is_infinite
        return NOTHING if finite else Bracket(lower=ZERO, upper=number(1))

    def hockey_stick(self, epsilon: NumberLike, *, precision: int = 64) -> Bracket:
        """sup over events S of P(S) - e^epsilon Q(S); at most delta exactly when (epsilon, delta) holds one way."""
        threshold = number(epsilon, "epsilon")
        if threshold.is_infinite:
            raise ParameterError("epsilon", "must be finite here", "ask max_log_ratio whether P has mass where Q has none")
        spend(_WORK_OF_A_CALL)
        if self.max_log_ratio(precision=precision).upper <= threshold:
            return NOTHING
        if self.singular_mass(precision=precision).lower == 1:
            return Bracket.exactly(1)
        return at_most(self._hockey_stick(threshold, precision), number(1))

    def total_variation(self, *, precision: int = 64) -> Bracket:
        """sup over events S of P(S) - Q(S)."""
        return self.hockey_stick(ZERO, precision=precision)

    def epsilon_at(self, delta: NumberLike, *, precision: int = 64) -> Bracket:
        """The least epsilon >= 0 with hockey_stick(epsilon) <= delta: one direction of MULT^delta
        (Dwork, Kenthapadi, McSherry, Mironov and Naor 2006)."""
        slack = _fraction(delta, "delta")
        if slack < 0:
            raise ParameterError("delta", "must be at least 0", value=delta)
        spend(_WORK_OF_A_CALL)
        if slack >= 1 or self.is_identical:
            return NOTHING
        top = self.max_log_ratio(precision=precision)
        if slack == 0:
            return top
        found = at_most(self._epsilon_at(slack, precision), top.upper)
        return at_most(found, _renyi_limit(self, slack, precision)) if found.upper.is_infinite else found

    def renyi(self, order: NumberLike, *, precision: int = 64) -> Bracket:
        """D_alpha(P || Q) of an order alpha >= 1 (Mironov 2017, Definition 3); order 1 is the Kullback-Leibler divergence."""
        alpha = _fraction(order, "order")
        if alpha < 1:
            raise ParameterError("order", "must be at least 1", "turn the pair round for orders below 1", value=order)
        spend(_WORK_OF_A_CALL)
        return (
            NOTHING
            if self.is_identical
            else at_most(self._renyi(alpha, precision), self.max_log_ratio(precision=precision).upper)
        )

    def concentration(self, *, precision: int = 64) -> Bracket:
        """sup over alpha > 1 of D_alpha(P || Q) / alpha, the limit alpha -> 1 included (Bun and Steinke 2016, Definition 1.1)."""
        spend(_WORK_OF_A_CALL)
        return (
            NOTHING
            if self.is_identical
            else at_most(self._concentration(precision), self.max_log_ratio(precision=precision).upper)
        )

    def atoms(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """The exact probabilities (p, q) of every outcome, for a pair of finite laws.

        Raises:
            NoFormulaError: when the pair is not finite, or its probabilities are not rational.
        """
        raise NoFormulaError(
            type(self).__name__,
            "has no finite list of rational probabilities",
            "use hockey_stick, renyi, max_log_ratio or concentration, which work for every pair",
        )

    def cells(self, precision: int) -> tuple[Cell, ...]:
        """A partition of the outcomes into cells with enclosed masses and an enclosed range of ln(dP/dQ) in each.

        Products are evaluated through them when nothing better is known.
        """
        raise NoFormulaError(type(self).__name__, "cannot be cut into cells", "compare the factors one by one")

    def signature(self) -> Hashable:
        """A key that is equal for pairs that simulate each other by construction; by default the pair itself.

        Every functional has the same value on two pairs of one signature, so that one of them is evaluated for both.
        """
        return self

    @property
    def work(self) -> int:
        """About how much work one functional takes, in units of one atom of a finite pair."""
        return WORK_OF_A_FORMULA

    def below(self) -> Dichotomy:
        """A pair that this one can simulate: itself, unless it is only known between two others."""
        return self

    def above(self) -> Dichotomy:
        """A pair that can simulate this one."""
        return self

    def coarse(self) -> Dichotomy:
        """A pair that this one can simulate and that is quick to evaluate: for lower bounds that need few bits."""
        return self

    # -- what a subclass provides -----------------------------------------------------------------

    @abstractmethod
    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket: ...

    @abstractmethod
    def _renyi(self, order: Fraction, precision: int) -> Bracket: ...

    @abstractmethod
    def _concentration(self, precision: int) -> Bracket: ...

    def _epsilon_at(self, delta: Fraction, precision: int) -> Bracket:
        """The point where the hockey-stick curve, which never increases, crosses delta; each end is moved only by a proof."""

        if self.total_variation(precision=precision).upper <= delta:
            return NOTHING
        if self.singular_mass(precision=precision).lower > delta:
            return INFINITE
        low, high = _powers_around(self, delta, precision)
        top = self.max_log_ratio(precision=precision).upper
        if high is None:
            return Bracket(lower=number(low), upper=top)
        width = high / 2**precision

        def excess(place: int) -> float:
            lower = self.hockey_stick(place * width, precision=precision).lower
            with ctx.workprec(precision + 64):  # the lower end: positive only where the hockey stick is proved above delta
                return float((lower.enclose(precision + 64) / ball(delta)).log().lower())

        low, step = width * last_above(excess, int(low / width), 2**precision), width
        while low + step < high and self.hockey_stick(low + step, precision=precision).upper > delta:
            step *= 2
        return Bracket(lower=number(low), upper=min(top, number(min(low + step, high))))


def _powers_around(pair: Dichotomy, delta: Fraction, precision: int) -> tuple[Fraction, Fraction | None]:
    """A power of two (or 0) where the hockey stick is proved above delta, and one where it is at most delta."""
    farthest = min(pair.max_log_ratio(precision=precision).upper, _renyi_limit(pair, delta, precision))
    last = _LARGEST_POWER if farthest.is_infinite else max(_SMALLEST_POWER, _power_above(farthest))

    def at(place: int) -> Bracket:
        return pair.hockey_stick(Fraction(2) ** place, precision=precision)

    after = _first(lambda place: at(place).upper <= delta, _SMALLEST_POWER, last + 1)
    before = _first(lambda place: not at(place).lower > delta, _SMALLEST_POWER, after) - 1
    low = Fraction(2) ** before if before >= _SMALLEST_POWER else Fraction(0)
    return low, Fraction(2) ** after if after <= last else None


def _renyi_limit(pair: Dichotomy, delta: Fraction, precision: int) -> Number:
    """D_alpha + ln(1/delta)/(alpha - 1) at some orders, rounded up: at least the epsilon (Mironov 2017, Proposition 3)."""
    best = INFINITY
    for order in (*_ORDERS, *(_FAR_ORDERS if growth_of(pair).is_linear_in_order else ())):
        spent = pair.renyi(order, precision=precision).upper
        if not spent.is_infinite:
            with ctx.workprec(precision + 64):
                limit = spent.enclose(precision + 64) - ball(delta).log() / ball(order - 1)
                best = min(best, Bracket.around(limit, least=0).upper)
    return best


# --- what only some pairs have --------------------------------------------------------------------


class Growth:
    """The growth of D_alpha with the order: an optional mixin of a pair."""

    @property
    def is_linear_in_order(self) -> bool:
        """Whether D_alpha <= c alpha with equality at alpha = 2, 3, ... and in the limit 1, for one constant c.

        True for shifts of a Gaussian and integer shifts of a discrete one: the suprema of such factors add exactly.
        """
        return False

    @property
    def is_gaussian(self) -> bool:
        """Whether D_alpha is exactly linear in alpha, at every order."""
        return False

    def cumulant(self, precision: int) -> Callable[[int], Cumulant] | None:
        """s -> ln E_P (dP/dQ)^s at a working precision, where it can be evaluated; the largest log-ratio is finite."""
        return None


class Composite(ABC):
    """A pair made of independent releases: an optional part."""

    @abstractmethod
    def releases(self) -> tuple[tuple[Dichotomy, int], ...]:
        """The independent pairs it is made of, each with how often it is released."""

    @property
    def is_convolved(self) -> bool:
        """Whether the losses of the releases are added up, so that its hockey stick is known and its cells are not."""
        return True


class Joinable(ABC):
    """A pair whose product with some others has a simpler form than a product: an optional part."""

    @abstractmethod
    def joined(self, other: Dichotomy) -> Dichotomy | None:
        """The product with another independent pair, where it has a simpler form; else None."""


class Finite(ABC):
    """A pair with finitely many outcomes of rational probability: an optional part."""

    @abstractmethod
    def exact_atoms(self) -> tuple[tuple[Fraction, Fraction], ...] | None:
        """The atoms (p, q) with equal ratios merged."""


def growth_of(pair: Dichotomy) -> Growth:
    """The growth of D_alpha of the pair with the order; unknown by default."""
    return pair if isinstance(pair, Growth) else Growth()


def releases_of(pair: Dichotomy) -> tuple[tuple[Dichotomy, int], ...]:
    """The independent pairs that a pair is made of, each with how often it is released; by default the pair itself, once."""
    return pair.releases() if isinstance(pair, Composite) else ((pair, 1),)


def is_convolved(pair: Dichotomy) -> bool:
    """Whether it is made of releases whose losses are added up, so that its hockey stick is known and its cells are not."""
    return isinstance(pair, Composite) and pair.is_convolved


def joined(one: Dichotomy, other: Dichotomy) -> Dichotomy | None:
    """The product of two independent pairs, where it has a simpler form than a product."""
    return one.joined(other) if isinstance(one, Joinable) else None


def exact_atoms_of(pair: Dichotomy) -> tuple[tuple[Fraction, Fraction], ...] | None:
    """The atoms with equal ratios merged, for a pair with finitely many rational ones."""
    return pair.exact_atoms() if isinstance(pair, Finite) else None


def at_most(bracket: Bracket, limit: Number) -> Bracket:
    """The bracket, cut at what the value is known not to exceed.

    >>> str(at_most(Bracket(lower=ZERO, upper=INFINITY), number(1)))
    '[0, 1]'
    """
    if bracket.upper <= limit:
        return bracket
    return Bracket.exactly(limit) if bracket.lower >= limit else Bracket(lower=bracket.lower, upper=limit)


def gain_of(events: Sequence[tuple[arb, arb]], factor: arb) -> Bracket:
    """p - factor q of events of which one is the best, from 0 on; and at most p, where the product is not known well.

    >>> str(gain_of([(arb("0.25"), arb("0 +/- 1e-9"))], arb(10) ** 20))
    '[0, 0.25]'
    """
    gains = [p - factor * q for p, q in events]
    most = Bracket.around(hull(events[0][0], events[-1][0]), least=0).upper
    return at_most(Bracket.around(hull(gains[0], gains[-1]), least=0), most)


def _power_above(value: Number) -> int:
    """The exponent of a power of two that is at least a positive number."""
    above = ceiling_of(value.enclose())
    return _MOST_POWER if above is None else min(_MOST_POWER, above.__ceil__().bit_length())


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The first place in [low, high) where something holds that holds from there on, else `high`."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _fraction(value: NumberLike, subject: str) -> Fraction:
    """A rational parameter, also when it comes as a `Number`."""
    return value.as_fraction() if isinstance(value, Number) and value.is_rational else rational(value, subject)


# --- cells ----------------------------------------------------------------------------------------


_GRID = (1, "65/64", "9/8", "5/4", "3/2", 2, 3, 4, 6, 8, 16, 32, 64)
_LARGEST_STEP = 1 << 16
_WORK_OF_A_CELL = 4
"""So many exponentials take as long as to merge or to spread one cell."""


@attrs.frozen
class Cell:
    """Masses p = P(cell), q = Q(cell) and the range [low, high] of ln(dP/dQ) on it."""

    p: arb
    q: arb
    low: arb
    high: arb

    @classmethod
    def atom(cls, p: arb, q: arb) -> Cell:
        """A single outcome; where a ball does not exclude 0 the range is open on that side."""
        p, q = positive(p), positive(q)
        if p > 0 and q > 0:  # by their ends: the quotient of two balls that nearly hold 0 is not a number
            low, high = (p.lower() / q.upper()).log().lower(), (p.upper() / q.lower()).log().upper()
            if low.is_finite() and high.is_finite():
                return cls(p, q, low, high)
        if p > 0 and q.upper() > 0:  # one ratio, however small q may be
            low = (p.lower() / q.upper()).log().lower()
            if low.is_finite():
                return cls(p, q, low, arb.pos_inf())
        return cls.lump(p, q)

    @classmethod
    def lump(cls, p: arb, q: arb) -> Cell:
        """Outcomes about whose ratio nothing is known, beyond what a mass of exactly 0 says."""
        p, q = positive(p), positive(q)
        if q.is_zero():
            return cls(p, q, arb.pos_inf(), arb.pos_inf())
        return cls(p, q, arb.neg_inf(), arb.neg_inf() if p.is_zero() else arb.pos_inf())

    @property
    def is_empty(self) -> bool:
        return bool(self.p.is_zero() and self.q.is_zero())

    @property
    def is_singular(self) -> bool:
        """Whether Q has no mass here."""
        return bool(self.q.is_zero())

    def turned(self) -> Cell:
        return Cell(self.q, self.p, -self.high, -self.low)

    def times(self, other: Cell) -> Cell:
        """The cell of the product laws."""
        p, q = self.p * other.p, self.q * other.q
        if p.is_zero() or q.is_zero():
            return Cell.lump(p, q)
        # an infinite end stays one; inf - inf would be no number
        low = self.low + other.low if self.low.is_finite() and other.low.is_finite() else arb.neg_inf()
        high = self.high + other.high if self.high.is_finite() and other.high.is_finite() else arb.pos_inf()
        return Cell(p, q, low, high)

    def gain(self, epsilon: arb, factor: arb) -> arb:
        """The hockey-stick integral over the cell, int max(dP - factor dQ, 0) with factor = e^epsilon."""
        if self.p.is_zero() or self.high < epsilon:
            return arb(0)
        whole = positive(self.p - factor * self.q)
        if self.low > epsilon:
            return whole
        most = self.p * positive(-(epsilon - self.high).expm1()) if self.high.is_finite() else self.p
        return hull(whole.lower(), most.upper().max(whole.upper()))

    def moment(self, exponent: arb) -> arb:
        """The integral of (dP/dQ)^exponent dP over the cell, for an exponent > 0 and a finite high end."""
        most = self.p * (exponent * self.high).exp()
        least = self.p * (exponent * self.low).exp() if self.low.is_finite() else arb(0)
        return hull(least, most)

    def divergence(self) -> arb:
        """The integral of ln(dP/dQ) dP over the cell, for a finite high end."""
        floor = (-self.q * arb(-1).exp()).lower()
        least = (self.p * self.low).lower().max(floor) if self.low.is_finite() else floor
        return hull(least, (self.p * self.high).upper())


Cells = tuple[Cell, ...]
CellsAt = Callable[[int], Cells]


@attrs.frozen(eq=False)
class BallDichotomy(Dichotomy, Growth):
    """A pair known through cells that can be computed at any precision.

    Args:
        cells_at: the cells at a precision in bits; their masses sum to 1 on both sides.
        top: sup ln(dP/dQ), where it is known beforehand.
        bottom: sup ln(dQ/dP), where it is known beforehand.
        made_of: what determines the pair, where that is known: pairs with equal ones have the same cells.
    """

    cells_at: CellsAt
    top: Bracket | None = None
    bottom: Bracket | None = None
    made_of: Hashable = None
    _known: dict[int, Cells] = attrs.field(factory=dict, repr=False)
    _ends: dict[tuple[str, int], Bracket] = attrs.field(factory=dict, repr=False)

    def cells(self, precision: int) -> Cells:
        if precision not in self._known:
            with ctx.workprec(precision + 32):
                found = tuple(cell for cell in self.cells_at(precision) if not cell.is_empty)
                spend_on_balls(_WORK_OF_A_CELL * len(found))
                self._known[precision] = found
        return self._known[precision]

    def cumulant(self, precision: int) -> Callable[[int], Cumulant] | None:
        vague = any(not c.p.is_zero() and not (c.low.is_finite() and c.high.is_finite()) for c in self.cells(precision))
        return None if vague else self._sum

    def reverse(self) -> BallDichotomy:
        return BallDichotomy(lambda precision: tuple(c.turned() for c in self.cells(precision)), self.bottom, self.top)

    def signature(self) -> Hashable:
        return self if self.made_of is None else (BallDichotomy, self.made_of)

    @property
    def work(self) -> int:
        return WORK_OF_CELLS

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        if self.top is not None:
            return self.top
        return self._once("max_log_ratio", precision, self._max_log_ratio)

    def _max_log_ratio(self, precision: int) -> Bracket:
        lower, upper = arb(0), arb(0)
        for cell in self.cells(precision):
            if not cell.p.is_zero():
                upper = upper.max(cell.high.upper())
            if cell.p > 0 and not cell.low.is_nan():
                lower = lower.max(cell.low.lower())
        return Bracket(lower=_end(lower), upper=_end(upper))

    def singular_mass(self, *, precision: int = 64) -> Bracket:
        return self._once("singular_mass", precision, self._singular_mass)

    def _singular_mass(self, precision: int) -> Bracket:
        if all(cell.p.is_zero() or cell.q.is_zero() for cell in self.cells(precision)):
            return Bracket.exactly(1)
        certain, possible = arb(0), arb(0)
        with ctx.workprec(precision + 32):
            for cell in self.cells(precision):
                certain += cell.p if cell.is_singular else 0
                possible += cell.p if cell.high == arb.pos_inf() else 0
            return Bracket.around(hull(certain.lower(), possible.upper()).min(arb(1)), least=0)

    def _once(self, name: str, precision: int, made: Callable[[int], Bracket]) -> Bracket:
        """What every other functional begins with, computed once at each precision."""
        if (name, precision) not in self._ends:
            spend(_WORK_OF_A_CELL * len(self.cells(precision)))
            self._ends[name, precision] = made(precision)
        return self._ends[name, precision]

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        with ctx.workprec(precision + 32):
            threshold, factor = epsilon.enclose(precision + 32), ball_exponential(epsilon, precision + 32)
            spend_on_balls(_WORK_OF_A_CALL + 2 * len(self.cells(precision)))
            total = sum((cell.gain(threshold, factor) for cell in self.cells(precision)), arb(0))
            return Bracket.around(total.min(arb(1)), least=0)

    def _epsilon_at(self, delta: Fraction, precision: int) -> Bracket:
        """From below by the events {dP/dQ >= t} themselves, from above by the hockey stick next to the best of them."""
        singular = self.singular_mass(precision=precision)
        if singular.lower > delta:
            return INFINITE
        best = self._best_event(delta, precision)
        top = self.max_log_ratio(precision=precision).upper
        guess = max(best.upper, ZERO).as_fraction()
        step = Fraction(1, 1 << precision)
        while self.hockey_stick(guess + step, precision=precision).upper > delta:
            step *= 4
            if step > _LARGEST_STEP:
                return Bracket(lower=best.lower, upper=top)
        if guess == 0 and self.hockey_stick(0, precision=precision).upper <= delta:
            return Bracket.exactly(0)
        return Bracket(lower=best.lower, upper=min(number(guess + step), top))

    def _best_event(self, delta: Fraction, precision: int) -> Bracket:
        """max over threshold events S of ln((P(S) - delta) / Q(S)), a lower bound of the epsilon at delta."""
        ordered = sorted(self.cells(precision), key=lambda cell: -float(cell.low))
        with ctx.workprec(precision + 32):
            slack, best = ball(delta), arb(0)
            p, q = arb(0), arb(0)
            for cell in ordered:
                p, q = p + cell.p, q + cell.q
                if p > slack and q > 0:
                    value = ((p - slack) / q).log()
                    best = value if value.lower() > best.lower() else best
            return Bracket.around(best, least=0)

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        cells = self.cells(precision)
        if any(cell.is_singular and cell.p > 0 for cell in cells):
            return INFINITE
        with ctx.workprec(precision + 32):
            spend_on_balls(len(cells))
            inside = [cell for cell in cells if cell.high.is_finite()]
            if order == 1:
                value = sum((cell.divergence() for cell in inside), arb(0))
            else:
                exponent = ball(order - 1)
                value = sum((cell.moment(exponent) for cell in inside), arb(0)).log() / exponent
            bracket = Bracket.around(value, least=0)
        unbounded = any(not cell.p.is_zero() and cell.high == arb.pos_inf() for cell in cells)
        if not unbounded:
            return bracket
        return Bracket(lower=ZERO if order == 1 else bracket.lower, upper=INFINITY)

    def _concentration(self, precision: int) -> Bracket:
        top = self.max_log_ratio(precision=precision)
        if any(cell.is_singular and cell.p > 0 for cell in self.cells(precision)):
            return INFINITE
        vague = any(not cell.p.is_zero() and not cell.low.is_finite() for cell in self.cells(precision))
        if vague or top.upper.is_infinite:
            lower = max(self.renyi(order, precision=precision).lower / number(order).as_fraction() for order in _GRID)
            return Bracket(lower=lower, upper=top.upper)
        found = supremum(self._sum, top=top.upper, precision=precision)
        if found is not None:
            return found
        with ctx.workprec(2 * precision + 64):
            return enclosed_limit(self._sum(2 * precision + 64))

    def _sum(self, precision: int) -> AtomSum:
        with ctx.workprec(precision):
            return AtomSum.of((c.p, hull(c.low, c.high)) for c in self.cells(precision) if not c.p.is_zero())


def _end(value: arb) -> Number:
    return Bracket.around(value).upper if value.is_finite() else INFINITY


# --- sums on the safe side ------------------------------------------------------------------------


def rational_end(value: Number, direction: int) -> Fraction:
    """The value, or a rational on its lower (-1) or upper (1) side.

    >>> rational_end(number("ln(2)"), -1) < rational_end(number("ln(2)"), 1)
    True
    """
    if value.is_rational:
        return value.as_fraction()
    bracket = Bracket.around(value.enclose(256))
    return (bracket.upper if direction > 0 else bracket.lower).as_fraction()


def total(brackets: Iterable[Bracket]) -> Bracket:
    """The sum of brackets; exact where all of them are and their exact sum can be written down.

    >>> str(total([Bracket.exactly(1), Bracket.exactly("ln(3)")]))
    '1 + ln(3)'
    """
    terms = list(brackets)
    if any(term.lower.is_infinite for term in terms):
        return INFINITE
    if all(term.lower is term.upper for term in terms):
        try:
            return Bracket.exactly(_sum_of([term.lower for term in terms]))
        except NumericalError:
            pass
    return Bracket(
        lower=number(sum((rational_end(term.lower, -1) for term in terms), Fraction(0))),
        upper=functools.reduce(add_up, (term.upper for term in terms)),
    )


def _sum_of(values: Sequence[Number]) -> Number:
    """The sum, two by two: each sum is brought into its canonical form, and most are short then."""
    if len(values) < 2:
        return values[0] if values else ZERO
    half = len(values) // 2
    return _sum_of(values[:half]) + _sum_of(values[half:])


def add_up(left: Number, right: Number) -> Number:
    """The sum, rounded up where a number is irrational."""
    if left.is_infinite or right.is_infinite:
        return INFINITY
    return number(rational_end(left, 1) + rational_end(right, 1))
