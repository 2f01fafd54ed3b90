"""Sandwiches of location laws and atoms, whose tails are known in closed form.

Finitely many atoms, location laws on the integers and location laws on the line, mixed with any weights, are cut at
common breakpoints. Inside a cell the range of the likelihood ratio follows from quadratics; what diverges in a tail is
decided exactly.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import attrs
from flint import arb, ctx

from dpspec.exact import Bracket, ball
from dpspec.laws.balls import BallDichotomy, Cell, Cells
from dpspec.laws.dichotomy import INFINITE
from dpspec.laws.location import (
    LocationLaw,
    Point,
    is_heavier,
    log_density_range,
    moment_diverges,
    ratio_range,
    ratio_supremum,
    tail_sign,
)
from dpspec.laws.numeric import whole_number
from dpspec.laws.route import Kind, Outcome, Parts
from dpspec.laws.sandwich import Sandwich

if TYPE_CHECKING:
    from dpspec.laws.finite import FiniteLaw

Weighted = tuple[Fraction, LocationLaw]


@attrs.frozen
class Measure:
    """The parts of one law that live on the integers, or on the line."""

    laws: tuple[Weighted, ...]
    atoms: dict[int, Fraction] = attrs.field(factory=dict)

    def between(self, low: Point, high: Point, precision: int) -> arb:
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


Relation = Callable[[LocationLaw, LocationLaw], bool]


def _somewhere(p_parts: Parts, q_parts: Parts, relation: Relation) -> bool:
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


def _location(parts: Parts, kind: Kind) -> tuple[Weighted, ...]:
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


def _atoms(parts: Parts) -> dict[Outcome, Fraction]:
    """The finite parts together, weighted."""
    merged: dict[Outcome, Fraction] = {}
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
    ordered: list[Point] = [None, *sorted(points), None]
    return [_cell(p, q, low, high, precision, on_integers=on_integers) for low, high in itertools.pairwise(ordered)]


def _cell(p: Measure, q: Measure, low: Point, high: Point, precision: int, *, on_integers: bool) -> Cell:
    p_mass, q_mass = p.between(low, high, precision), q.between(low, high, precision)
    last = high - 1 if on_integers and high is not None else high
    single = on_integers and low is not None and low == last
    holds_atom = single and low is not None and (int(low) in p.atoms or int(low) in q.atoms)
    if not p.laws or not q.laws or holds_atom or (single and len(p.laws) * len(q.laws) > 1):
        return Cell.atom(p_mass, q_mass)
    high_ratio = _largest_ratio(p.laws, q.laws, low, last, precision)
    low_ratio = -_largest_ratio(q.laws, p.laws, low, last, precision)
    return Cell(p_mass.max(arb(0)), q_mass.max(arb(0)), low_ratio, high_ratio)


def _largest_ratio(p: Sequence[Weighted], q: Sequence[Weighted], low: Point, high: Point, precision: int) -> arb:
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
