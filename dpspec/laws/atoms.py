"""Dichotomies with finitely many atoms of exact rational probability: every functional is a finite computation.

Notation: atoms (p_i, q_i); psi(s) = ln sum_i p_i (p_i/q_i)^s = s D_{1+s}(P || Q).

A *sandwich* puts a pair of laws between two such pairs.
Every functional of a dichotomy is monotone in the convex order of the likelihood ratio. Merging the outcomes of a
cell to one atom can only lower it (data processing); spreading the cell to the two ends of its ratio range, with both
masses kept, can only raise it. The two differ in second order of the width of the range.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from functools import cached_property, cmp_to_key

import attrs
from flint import arb, ctx, fmpq

from dpspec.base.exact import INFINITY, ZERO, Bracket, Number, ln, number
from dpspec.base.log_linear import ball
from dpspec.base.work import spend
from dpspec.laws.cumulant import AtomSum, Cumulant, supremum
from dpspec.laws.dichotomy import INFINITE, NOTHING, BallDichotomy, Cell, Cells, CellsAt, Dichotomy, Finite, Growth
from dpspec.laws.numeric import ball_exponential, positive, rational_exponential, spend_on_balls

_WORK_OF_A_LOGARITHM = 16
"""Units of work of an exact logarithm."""
_BITS_PER_UNIT = 1 << 10
"""So many bits of exact powers take a unit of work."""
_BITS_OF_GCD = 128
"""Greatest common divisors and comparisons of weights with so many bits take a unit more."""
_EXACT_RENYI_BITS = 1 << 18
"""Integer orders are computed exactly as long as the powers stay below this many bits in all."""


@attrs.frozen(eq=False)
class FiniteDichotomy(Dichotomy, Growth, Finite):
    """Atoms p_i = p_weights[i] / p_total and q_i = q_weights[i] / q_total, all integers.

    The verifier makes millions of these, so making one does no work; what is shared is computed once, on demand.

    >>> pair = FiniteDichotomy((3, 1), (1, 3), 4, 4)
    >>> str(pair.max_log_ratio()), str(pair.concentration()), str(pair.epsilon_at("1/100"))
    ('ln(3)', '1/2*ln(3)', 'ln(74/25)')
    """

    p_weights: tuple[int, ...]
    q_weights: tuple[int, ...]
    p_total: int
    q_total: int

    @classmethod
    def of(cls, pairs: Iterable[tuple[Fraction, Fraction]]) -> FiniteDichotomy:
        """The dichotomy with these probabilities (p, q)."""
        atoms = tuple(pairs)
        p_total = math.lcm(*(p.denominator for p, _ in atoms))
        q_total = math.lcm(*(q.denominator for _, q in atoms))
        return cls(tuple(int(p * p_total) for p, _ in atoms), tuple(int(q * q_total) for _, q in atoms), p_total, q_total)

    # -- structure --------------------------------------------------------------------------------

    @property
    def is_identical(self) -> bool:
        if self.p_total == self.q_total:
            return self.p_weights == self.q_weights
        return all(p * self.q_total == q * self.p_total for p, q in zip(self.p_weights, self.q_weights, strict=True))

    def reverse(self) -> FiniteDichotomy:
        return FiniteDichotomy(self.q_weights, self.p_weights, self.q_total, self.p_total)

    def atoms(self) -> tuple[tuple[Fraction, Fraction], ...]:
        return tuple(
            (Fraction(p, self.p_total), Fraction(q, self.q_total))
            for p, q in zip(self.p_weights, self.q_weights, strict=True)
            if p or q
        )

    @cached_property
    def by_ratio(self) -> tuple[tuple[int, int], ...]:
        """The weights (p, q) with equal likelihood ratios merged, the largest ratio first."""
        spend(len(self.p_weights) * (2 + (self.p_total.bit_length() + self.q_total.bit_length()) // _BITS_OF_GCD))
        merged: dict[tuple[int, int], tuple[int, int]] = {}
        for (p, q), times in Counter(zip(self.p_weights, self.q_weights, strict=True)).items():  # most atoms are equal to others
            common = math.gcd(p, q)
            if common:
                ratio = (p // common, q // common)
                p_before, q_before = merged.get(ratio, (0, 0))
                merged[ratio] = (p_before + times * p, q_before + times * q)
        return tuple(sorted(merged.values(), key=cmp_to_key(_by_falling_ratio)))

    def signature(self) -> Hashable:
        return FiniteDichotomy, self.exact_atoms()

    @property
    def work(self) -> int:
        return len(self.p_weights)

    def product(self, other: FiniteDichotomy) -> FiniteDichotomy:
        """The pair of product laws; atoms of equal ratio are merged, so that n equal factors stay small."""
        bits = self.p_total.bit_length() + other.p_total.bit_length()
        spend(len(self.by_ratio) * len(other.by_ratio) * (1 + bits // _BITS_PER_UNIT))
        pairs = [(p * r, q * s) for p, q in self.by_ratio for r, s in other.by_ratio]
        joint = FiniteDichotomy(
            tuple(p for p, _ in pairs),
            tuple(q for _, q in pairs),
            self.p_total * other.p_total,
            self.q_total * other.q_total,
        )
        return attrs.evolve(joint, p_weights=tuple(p for p, _ in joint.by_ratio), q_weights=tuple(q for _, q in joint.by_ratio))

    def exact_atoms(self) -> tuple[tuple[Fraction, Fraction], ...]:
        return tuple((Fraction(p, self.p_total), Fraction(q, self.q_total)) for p, q in self.by_ratio)

    def cumulant(self, precision: int) -> Callable[[int], Cumulant] | None:
        return self._sum if self.by_ratio[0][1] else None

    def cells(self, precision: int) -> Cells:
        with ctx.workprec(precision + 32):
            return tuple(Cell.atom(arb(p) / self.p_total, arb(q) / self.q_total) for p, q in self.by_ratio)

    # -- functionals ------------------------------------------------------------------------------

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        best_p, best_q = 0, 1
        for p, q in zip(self.p_weights, self.q_weights, strict=True):
            if p * best_q > best_p * q:
                if not q:
                    return INFINITE
                best_p, best_q = p, q
        return Bracket.exactly(ln(Fraction(best_p * self.q_total, best_q * self.p_total)))

    def largest_ratio(self) -> tuple[int, int]:
        """The largest of all p/q and q/p as integers over one another; the lower one is 0 for infinity.

        >>> FiniteDichotomy((1, 1), (1, 3), 2, 4).largest_ratio()
        (4, 2)
        """
        best_p, best_q, least_p, least_q = 0, 1, 1, 0
        for p, q in set(zip(self.p_weights, self.q_weights, strict=True)):
            if p * best_q > best_p * q:
                best_p, best_q = p, q
            if p * least_q < least_p * q:
                least_p, least_q = p, q
        forth = best_p * self.q_total, best_q * self.p_total
        back = least_q * self.p_total, least_p * self.q_total
        return forth if forth[0] * back[1] >= back[0] * forth[1] else back

    def singular_mass(self, *, precision: int = 64) -> Bracket:
        alone = sum(p for p, q in zip(self.p_weights, self.q_weights, strict=True) if not q)
        return Bracket.exactly(Fraction(alone, self.p_total))

    def hockey_stick(self, epsilon: Number | int | float | str | Fraction, *, precision: int = 64) -> Bracket:
        threshold = number(epsilon, "epsilon")
        factor = rational_exponential(threshold)
        if factor is None:
            return Dichotomy.hockey_stick(self, threshold, precision=precision)
        spend(len(self.p_weights))
        p_scale = self.q_total * factor.denominator
        q_scale = self.p_total * factor.numerator
        gains = (p * p_scale - q * q_scale for p, q in zip(self.p_weights, self.q_weights, strict=True))
        return Bracket.exactly(Fraction(sum(gain for gain in gains if gain > 0), self.p_total * p_scale))

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        with ctx.workprec(precision + 32):
            factor = ball_exponential(epsilon, precision + 32) * ball(Fraction(self.p_total, self.q_total))
            total = arb(0)
            for p, q in self.by_ratio:
                gain = p - factor * q
                if gain < 0:
                    break
                total += positive(gain)
            return Bracket.around(total / self.p_total, least=0)

    def _epsilon_at(self, delta: Fraction, precision: int) -> Bracket:
        # The best event is {dP/dQ > e^epsilon} for the epsilon that is looked for, so threshold events suffice.
        spent = delta.numerator * self.p_total
        p_sum = q_sum = 0
        best_p, best_q = self.p_total * delta.denominator, self.q_total
        for p, q in self.by_ratio:
            p_sum, q_sum = p_sum + p, q_sum + q
            gain = p_sum * delta.denominator - spent
            if gain * best_q > best_p * q_sum:
                if not q_sum:
                    return INFINITE
                best_p, best_q = gain, q_sum
        ratio = Fraction(best_p * self.q_total, best_q * self.p_total * delta.denominator)
        return Bracket.exactly(ln(ratio)) if ratio > 1 else NOTHING

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        if not self.by_ratio[0][1]:
            return INFINITE
        if order == 1:
            return Bracket.exactly(self.relative_entropy)
        bits = sum(p.bit_length() + q.bit_length() for p, q in self.by_ratio)
        if order.denominator == 1 and order * bits < _EXACT_RENYI_BITS:
            power_mean = self._power_sum(int(order))
            return Bracket.exactly(ln(power_mean) / (order - 1))
        with ctx.workprec(precision + 32 + order.numerator.bit_length()):
            spend_on_balls(2 * len(self.by_ratio))
            exponent = ball(order - 1)
            return Bracket.around(self._sum(ctx.prec).value(exponent) / exponent, least=0)

    def _power_sum(self, order: int) -> Fraction:
        """sum_i p_i^order q_i^(1 - order)."""
        spend(order * len(self.by_ratio) * self.p_total.bit_length() // _BITS_PER_UNIT)
        total = fmpq(0)
        for p, q in self.by_ratio:
            if p:
                total += fmpq(p**order, q ** (order - 1))
        total *= fmpq(self.q_total ** (order - 1), self.p_total**order)
        return Fraction(int(total.p), int(total.q))

    @cached_property
    def relative_entropy(self) -> Number:
        """sum_i p_i ln(p_i / q_i), exactly."""
        if not self.by_ratio[0][1]:
            return INFINITY
        spend(_WORK_OF_A_LOGARITHM * len(self.by_ratio))
        logs = (ln(Fraction(p * self.q_total, q * self.p_total)) * Fraction(p, self.p_total) for p, q in self.by_ratio if p)
        return sum(logs, ZERO)

    def _sum(self, precision: int) -> AtomSum:
        with ctx.workprec(precision):
            shift = ball(Fraction(self.q_total, self.p_total)).log()
            return AtomSum.of((arb(p) / self.p_total, ball(Fraction(p, q)).log() + shift) for p, q in self.by_ratio if p)

    def _concentration(self, precision: int) -> Bracket:
        top = self.max_log_ratio()
        if top.upper.is_infinite:
            return INFINITE
        found = supremum(self._sum, top=top.upper, precision=precision)
        return Bracket.exactly(self.relative_entropy) if found is None else found


def _by_falling_ratio(one: tuple[int, int], two: tuple[int, int]) -> int:
    return two[0] * one[1] - one[0] * two[1]


IDENTICAL = FiniteDichotomy((1,), (1,), 1, 1)
"""The pair of two equal laws."""


# --- sandwiches -----------------------------------------------------------------------------------


_SPREAD_BITS = 10
"""A cell is spread only when its two masses are known to this many bits more than the width of its ratio range;
a narrower one is kept as it is, with the whole range."""
_WORK_OF_JOINING = 4
"""Units of work to join one cell with its neighbours."""
_COARSE_BITS, _COARSE_CELLS = 64, 256
"""The cells of a coarse pair: merged with their neighbours, they change a divergence by less than one part in 2^12 or so."""


_FLIPPED = arb(2) ** -30
"""Outcomes that only one of two laws is known to give are reported as those of the other one with this probability."""


def merge(cells: Cells) -> Cells:
    """Every cell as one atom; cells whose masses are not known to be positive join each other, or the heaviest one.

    Cells of which one mass alone is known to be positive join those of which the same one is: where two laws give different
    outcomes but for tails that are not listed, all cells together would show nothing of that.
    """
    sure: list[Cell] = []
    unsure: list[Cell] = []
    for cell in cells:
        exact_zero = cell.p.is_zero() or cell.q.is_zero()
        (sure if exact_zero or (cell.p > 0 and cell.q > 0) else unsure).append(cell)
    parted = _parted(unsure)
    if parted:
        sure += parted
    elif unsure:
        pool = Cell.atom(sum((c.p for c in unsure), arb(0)), sum((c.q for c in unsure), arb(0)))
        both = [cell for cell in sure if cell.p > 0 and cell.q > 0]
        if both and not (pool.p > 0 and pool.q > 0):
            heavy = max(both, key=lambda cell: float((cell.p * cell.q).mid()))
            sure.remove(heavy)
            pool = Cell.atom(pool.p + heavy.p, pool.q + heavy.q)
        sure.append(pool)
    return tuple(_as_atom(cell) for cell in sure)


def _parted(unsure: Sequence[Cell]) -> tuple[Cell, ...]:
    """The cells that have mass under P, and the others, as two atoms; none where one of the two has no mass for sure.

    An outcome of either atom is shown as the other one with a small probability, which gives both atoms mass under both laws: a
    pair that the pair of the cells can simulate.
    """
    parts = [cell for cell in unsure if cell.p > 0], [cell for cell in unsure if not cell.p > 0]
    ours, theirs = ([positive(sum((getattr(cell, side) for cell in part), arb(0))) for side in ("p", "q")] for part in parts)
    shown = [
        [(1 - _FLIPPED) * mass + _FLIPPED * other for mass, other in zip(*pair, strict=True)]
        for pair in ((ours, theirs), (theirs, ours))
    ]
    return tuple(Cell.atom(p, q) for p, q in shown) if all(mass > 0 for atom in shown for mass in atom) else ()


def _as_atom(cell: Cell) -> Cell:
    """The merged cell; its ratio is P(cell)/Q(cell), and lies in the range of the cell."""
    atom = Cell.atom(cell.p, cell.q)
    return Cell(atom.p, atom.q, atom.low.max(cell.low), atom.high.min(cell.high))


def spread(cells: Cells) -> Cells:
    """Every cell as two atoms at the ends of its ratio range."""
    return tuple(piece for cell in cells for piece in _pieces(cell))


def _pieces(cell: Cell) -> Cells:
    if cell.p.is_zero() or cell.q.is_zero():
        return (cell,)
    bottom = cell.low.exp() if cell.low.is_finite() else arb(0)
    if not cell.high.is_finite():
        q_high = arb(0)
        p_high = positive(cell.p - bottom * cell.q)
    else:
        q_high = (cell.p - bottom * cell.q) / (cell.high.exp() - bottom)
        width = (cell.high - cell.low).upper()
        if not q_high.is_finite() or q_high.rad() * 2**_SPREAD_BITS > cell.q.upper() * width.min(arb(1)):
            return (cell,)
        q_high = positive(q_high).min(cell.q)
        p_high = q_high * cell.high.exp()
    top = Cell(p_high, q_high, cell.high, cell.high)
    if not cell.low.is_finite():
        return top, Cell.lump(arb(0), positive(cell.q - q_high))
    q_low = positive(cell.q - q_high)
    return top, Cell(q_low * bottom, q_low, cell.low, cell.low)


def compress(cells: Sequence[Cell], limit: int) -> Cells:
    """At most about `limit` cells: neighbours in the order of the ratio are joined, and keep the whole range of both."""
    if len(cells) <= limit:
        return tuple(cells)
    spend(_WORK_OF_JOINING * len(cells))
    groups: dict[tuple[bool, bool, bool, bool], list[Cell]] = {}
    for cell in cells:
        kind = (cell.low.is_finite(), cell.high.is_finite(), cell.p.is_zero(), cell.q.is_zero())
        groups.setdefault(kind, []).append(cell)
    joined: list[Cell] = []
    for group in groups.values():
        group.sort(key=lambda cell: float(cell.low) if cell.low.is_finite() else float(cell.high))
        size = -(-len(group) * len(groups) // limit)
        joined += [_join(group[i : i + size]) for i in range(0, len(group), size)]
    return tuple(joined)


def _join(cells: Sequence[Cell]) -> Cell:
    p, q = sum((cell.p for cell in cells), arb(0)), sum((cell.q for cell in cells), arb(0))
    low = functools.reduce(arb.min, (cell.low for cell in cells))
    return Cell(p, q, low, functools.reduce(arb.max, (cell.high for cell in cells)))


@attrs.frozen(eq=False)
class Between(Dichotomy):
    """A pair above each of `lowers` and below each of `uppers` in the Blackwell order."""

    lowers: tuple[Dichotomy, ...]
    uppers: tuple[Dichotomy, ...]

    def _meet(self, functional: Callable[[Dichotomy], Bracket]) -> Bracket:
        lower = max(functional(pair).lower for pair in self.lowers)
        upper = min(functional(pair).upper for pair in self.uppers)
        return Bracket(lower=lower, upper=upper) if lower != upper else Bracket.exactly(lower)

    @property
    def work(self) -> int:
        return sum(pair.work for pair in (*self.lowers, *self.uppers))

    def reverse(self) -> Dichotomy:
        return Between(tuple(pair.reverse() for pair in self.lowers), tuple(pair.reverse() for pair in self.uppers))

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        return self._meet(lambda pair: pair.max_log_ratio(precision=precision))

    def singular_mass(self, *, precision: int = 64) -> Bracket:
        return self._meet(lambda pair: pair.singular_mass(precision=precision))

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        return self._meet(lambda pair: pair.hockey_stick(epsilon, precision=precision))

    def _epsilon_at(self, delta: Fraction, precision: int) -> Bracket:
        return self._meet(lambda pair: pair.epsilon_at(delta, precision=precision))

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        return self._meet(lambda pair: pair.renyi(order, precision=precision))

    def _concentration(self, precision: int) -> Bracket:
        return self._meet(lambda pair: pair.concentration(precision=precision))

    def coarse(self) -> Dichotomy:
        return self.lowers[0].coarse()

    def below(self) -> Dichotomy:
        return self.lowers[0]

    def above(self) -> Dichotomy:
        return self.uppers[0]


@attrs.frozen(eq=False)
class Sandwich(Between):
    """A pair known through cells, between its merged and its spread cells.

    >>> from dpspec.laws.atoms import FiniteDichotomy
    >>> pair = FiniteDichotomy((3, 1), (1, 3), 4, 4)
    >>> Sandwich.of(pair.cells).renyi(2).lower <= pair.renyi(2).lower <= Sandwich.of(pair.cells).renyi(2).upper
    True
    """

    raw: BallDichotomy

    @classmethod
    def of(cls, cells_at: CellsAt, top: Bracket | None = None, bottom: Bracket | None = None) -> Sandwich:
        """The sandwich of these cells; `top` and `bottom` are sup ln(dP/dQ) and sup ln(dQ/dP) where they are known."""
        return cls.around(BallDichotomy(cells_at, top, bottom))

    @classmethod
    def around(cls, raw: BallDichotomy) -> Sandwich:
        below = BallDichotomy(lambda precision: merge(raw.cells(precision)))
        above = BallDichotomy(lambda precision: spread(raw.cells(precision)))
        return cls((below,), (above,), raw)

    def reverse(self) -> Sandwich:
        return Sandwich.around(self.raw.reverse())

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        return self.raw.max_log_ratio(precision=precision)

    def singular_mass(self, *, precision: int = 64) -> Bracket:
        return self.raw.singular_mass(precision=precision)

    def cells(self, precision: int) -> Cells:
        return self.raw.cells(precision)

    def coarse(self) -> Dichotomy:
        return BallDichotomy(lambda precision: merge(compress(self.raw.cells(min(precision, _COARSE_BITS)), _COARSE_CELLS)))

    def below(self) -> Dichotomy:
        return self

    def above(self) -> Dichotomy:
        return self
