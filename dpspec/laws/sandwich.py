"""Sandwiches: a pair of laws between two pairs that are easier to evaluate.

Every functional of a dichotomy is monotone in the convex order of the likelihood ratio. Merging the outcomes of a
cell to one atom can only lower it (data processing); spreading the cell to the two ends of its ratio range, with both
masses kept, can only raise it. The two differ in second order of the width of the range.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import attrs
from flint import arb

from dpspec.exact import Bracket, Number
from dpspec.laws.balls import BallDichotomy, Cell, Cells, CellsAt
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.numeric import positive

_SPREAD_BITS = 10
"""A cell is spread only when its two masses are known to this many bits more than the width of its ratio range;
a narrower one is kept as it is, with the whole range."""


def merge(cells: Cells) -> Cells:
    """Every cell as one atom; cells whose masses are not known to be positive join the heaviest one."""
    sure: list[Cell] = []
    unsure: list[Cell] = []
    for cell in cells:
        exact_zero = cell.p.is_zero() or cell.q.is_zero()
        (sure if exact_zero or (cell.p > 0 and cell.q > 0) else unsure).append(cell)
    if unsure:
        pool = Cell.atom(sum((c.p for c in unsure), arb(0)), sum((c.q for c in unsure), arb(0)))
        both = [cell for cell in sure if cell.p > 0 and cell.q > 0]
        if both and not (pool.p > 0 and pool.q > 0):
            heavy = max(both, key=lambda cell: float((cell.p * cell.q).mid()))
            sure.remove(heavy)
            pool = Cell.atom(pool.p + heavy.p, pool.q + heavy.q)
        sure.append(pool)
    return tuple(_as_atom(cell) for cell in sure)


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


@attrs.frozen(eq=False)
class Between(Dichotomy):
    """A pair above each of `lowers` and below each of `uppers` in the Blackwell order."""

    lowers: tuple[Dichotomy, ...]
    uppers: tuple[Dichotomy, ...]

    def _meet(self, functional: Callable[[Dichotomy], Bracket]) -> Bracket:
        lower = max(functional(pair).lower for pair in self.lowers)
        upper = min(functional(pair).upper for pair in self.uppers)
        return Bracket(lower=lower, upper=upper) if lower != upper else Bracket.exactly(lower)

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

    def below(self) -> Dichotomy:
        return self

    def above(self) -> Dichotomy:
        return self
