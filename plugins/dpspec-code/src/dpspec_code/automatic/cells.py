"""Lower bounds on the divergence of code with noise: the probabilities of finitely many cells of its output.

The law of the code on a dataset is a tree over independent draws W (`dpspec_code.automatic.formulas`). Cells of its output
are defined by the shape of the output, and by the intervals [t, t') in which its numbers lie. The runs that come to an end of the
tree and show a number in an interval are a box of draws (`dpspec_code.automatic.boxes`).

By data processing the divergence of two laws is at least that of their cells, for every output divergence. So cells refute, and
never verify. Cells that neither law reaches with a probability of 2^-48 are merged: no double of a generator gets there.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import attrs
from flint import arb, ctx

from dpspec.plugin import FiniteLaw
from dpspec.plugin.judges import EnclosedLaw, Observed, Probability, ceiling_of, floor_of
from dpspec_code.automatic.boxes import DISCRETE, PRECISION, HalfLine, NoCells, NoiseBox, half_line, reaches, spread
from dpspec_code.automatic.coupling import NoisyLaw, one_to_join
from dpspec_code.automatic.formulas import (
    Affine,
    Condition,
    Hole,
    NoiseDraw,
    NoiseFormula,
    TreeEnd,
    affine_of,
    rewritten,
    value_at,
)

RARE = Fraction(1, 1 << 48)
MOST_CELLS = 1_000
_MOST_SLOTS = 4
_MOST_CUTS = 96
_CERTIFIED = 8
"""So many cells of hidden noise are integrated with certainty; the others are taken together."""
_HIDDEN = ("laplace", "normal", "exponential")


# --- outputs in cells -----------------------------------------------------------------------------


OutputSlot = tuple[str, NoiseFormula]
_KINDS = ("int", "float", "np.int64", "np.float64")


def slots_of(seen: Hashable) -> tuple[Hashable, tuple[OutputSlot, ...]]:
    """The shape of an output, and its numbers with their types, in order.

    >>> slots_of((1, "a"))[0]
    ('tuple', (('number', 'int'), ('seen', 'a')))
    """
    found: list[OutputSlot] = []

    def shape(one: Hashable) -> Hashable:
        if isinstance(one, Hole):
            if one.kind not in _KINDS:
                raise NoCells(f"a number of type {one.kind}")
            found.append((one.kind, one.expression))
            return ("number", one.kind)
        kind = one.kind if isinstance(one, Observed) else type(one).__name__
        number: Any = one.number if isinstance(one, Observed) else one if type(one) in (int, float) else None
        if number is not None and math.isfinite(number):
            found.append((kind, Affine(Fraction(number))))
            return ("number", kind)
        if kind.startswith(("np.int", "np.uint")):
            raise NoCells("a whole number that no double holds")
        if isinstance(one, Observed):
            inner = one.content if isinstance(one.content, tuple) or one.parts is None else tuple(one.parts)
            return ("observed", kind, shape(inner)) if isinstance(inner, tuple) else ("seen", one)
        if isinstance(one, tuple):
            return ("tuple", tuple(shape(part) for part in one))
        return ("seen", one)

    return shape(seen), tuple(found)


@attrs.frozen
class Shaped:
    """An end of the tree, with the shape of its output and its numbers.

    Args:
        probability: the probability of the choices that noise does not decide.
        conditions: what the noise has to be.
        shape, slots: of the output.
    """

    probability: Probability
    conditions: tuple[Condition, ...]
    shape: Hashable
    slots: tuple[OutputSlot, ...]

    @classmethod
    def of(cls, leaf: TreeEnd, probability: Probability) -> Shaped:
        shape, slots = slots_of(leaf.seen)
        return cls(probability, leaf.conditions, shape, slots)

    @property
    def formulas(self) -> Iterator[NoiseFormula]:
        """All numbers of the output, and all that are compared."""
        yield from (one.left for one in self.conditions)
        yield from (formula for _, formula in self.slots)

    def hidden(self) -> NoiseDraw | None:
        """The draw that is in every number made of several draws."""
        several = [{n for n, _ in part.terms} for one in self.formulas for part in affine_of(one) if len(part.terms) > 1]
        if not several:
            return None
        common = set.intersection(*several)
        known = sorted(noise for noise in common if noise.kind in _HIDDEN)
        drawn = {noise.kind for one in several for noise in one}
        if not known or not drawn <= set(_HIDDEN):
            raise NoCells("numbers made of several draws")
        return known[0]

    def boxes(self, cuts: Sequence[LineCuts]) -> Iterator[tuple[Hashable, NoiseBox]]:
        """The cells of this end, with what they are called."""
        hidden = self.hidden()
        base: list[HalfLine] = []
        for one in self.conditions:
            for side in _asked(one, hidden):
                if side is False:
                    return
                base += [side] if isinstance(side, HalfLine) else []
        ways = [list(_cells(formula, ends, hidden)) for (_, formula), ends in zip(self.slots, cuts, strict=True)]
        for chosen in itertools.product(*ways):
            sides: dict[NoiseDraw, list[HalfLine]] = {}
            for side in itertools.chain(base, *(one[1] for one in chosen)):
                sides.setdefault(side.noise, []).append(side)
            yield (
                (self.shape, tuple(one[0] for one in chosen)),
                NoiseBox(self.probability, {noise: tuple(found) for noise, found in sides.items()}, hidden),
            )


def _asked(condition: Condition, hidden: NoiseDraw | None) -> Iterator[HalfLine | bool]:
    zero, left = Fraction(0), condition.left
    if condition.relation == "lt":
        yield half_line(left, zero, above=not condition.holds, closed=not condition.holds, hidden=hidden)
    elif condition.holds:
        yield half_line(left, zero, above=True, closed=True, hidden=hidden)
        yield half_line(left, zero, above=False, closed=True, hidden=hidden)
    else:
        raise NoCells("a number that is not another one")


LineCuts = Sequence[Fraction] | None
"""The ends of the intervals of a number, or None where it may be any."""


def _cells(formula: NoiseFormula, cuts: LineCuts, hidden: NoiseDraw | None) -> Iterator[tuple[Any, tuple[HalfLine, ...]]]:
    """The intervals that a number of the output may lie in, and the half-lines that say so."""
    if cuts is None:
        yield None, ()
        return
    if isinstance(formula, Affine) and not formula.terms:
        at = bisect.bisect_right(cuts, formula.constant)
        yield (cuts[at - 1] if at else None, cuts[at] if at < len(cuts) else None), ()
        return
    for low, high in itertools.pairwise((None, *cuts, None)):
        sides: list[HalfLine | bool] = []
        if low is not None:
            sides.append(half_line(formula, low, above=True, closed=True, hidden=hidden))
        if high is not None:
            sides.append(half_line(formula, high, above=False, closed=False, hidden=hidden))
        if False not in sides:
            yield (low, high), tuple(one for one in sides if isinstance(one, HalfLine))


# --- two laws in the same cells -------------------------------------------------------------------


Gathered = dict[Hashable, list[NoiseBox]]


@attrs.frozen
class CellName:
    """A cell of outputs.

    Args:
        text: for people.
        shape: of the outputs in it; None for all that are in no other cell.
        ends: between what their numbers lie, in order; None where they may be any.
    """

    text: str
    shape: Hashable = None
    ends: tuple[tuple[Fraction | None, Fraction | None] | None, ...] = ()

    def __str__(self) -> str:
        return self.text


@attrs.frozen(eq=False)
class CommonCells:
    """Two laws of code with noise on the same cells of the output.

    Args:
        held: for both laws the boxes of each cell that they reach.
        constants: the numbers that outputs of a shape have at a place, in a cell that holds no other one.
    """

    held: tuple[Gathered, Gathered]
    constants: Mapping[Hashable, Fraction]

    @classmethod
    def of(cls, left: NoisyLaw, right: NoisyLaw) -> CommonCells:
        """The cells are defined by the shape of the output and by intervals of its numbers.

        Raises:
            NoCells: some number of the code is no monotone function of one draw.
        """
        ours, theirs = _joined(left, right)
        cuts = _all_cuts(ours, theirs)
        return cls((_gathered(ours, cuts), _gathered(theirs, cuts)), _constants((*ours, *theirs), cuts))

    @property
    def names(self) -> list[Hashable]:
        """All cells."""
        return list(dict.fromkeys((*self.held[0], *self.held[1])))

    @cached_property
    def is_hidden(self) -> bool:
        """Whether probabilities are integrals over a hidden draw, which take long."""
        return any(box.hidden is not None for tree in self.held for boxes in tree.values() for box in boxes)

    @cached_property
    def estimates(self) -> dict[Hashable, tuple[float, float]]:
        """Estimates of the probabilities of the cells."""
        return {n: tuple(sum(b.estimate() for b in tree.get(n, ())) for tree in self.held) for n in self.names}  # type: ignore[misc]

    def about(self) -> tuple[FiniteLaw, FiniteLaw]:
        """Both laws by estimates, for choosing what to look at."""
        weights = [{name: max(1, round(both[side] * (1 << 48))) for name, both in self.estimates.items()} for side in (0, 1)]
        return FiniteLaw.from_weights(weights[0]), FiniteLaw.from_weights(weights[1])

    def laws(self) -> tuple[EnclosedLaw, EnclosedLaw]:
        """Both laws; where probabilities are integrals, on the most discriminating cells.

        Raises:
            NoCells: the probabilities do not sum up to 1.
        """
        names = _telling(self.estimates) if self.is_hidden else self.names
        masses = [_masses(names, tree) for tree in self.held]
        for mass in masses:
            low, high = (sum((ends[way] for ends in mass.values()), Fraction(0)) for way in (0, 1))
            if low > 1 or (high < 1 and not self.is_hidden):
                raise NoCells("probabilities that do not sum to 1")
        kept = {name: _named(name, self.constants) for name in names if max(mass[name][1] for mass in masses) >= RARE}
        laws = [_law({shown: mass[name] for name, shown in kept.items()}) for mass in masses]
        return laws[0], laws[1]


def in_cells(left: NoisyLaw, right: NoisyLaw) -> tuple[EnclosedLaw, EnclosedLaw]:
    """Both laws on cells of the output, with their probabilities; see `CommonCells`."""
    return CommonCells.of(left, right).laws()


def _law(bounds: dict[CellName, tuple[Fraction, Fraction]]) -> EnclosedLaw:
    """The law of the cells; one of their own has what is left."""
    low, high = (sum((ends[way] for ends in bounds.values()), Fraction(0)) for way in (0, 1))
    listed: dict[Hashable, tuple[Fraction, Fraction]] = dict(bounds.items())
    listed[CellName("any other output")] = (max(Fraction(0), 1 - high), 1 - low)
    return EnclosedLaw(listed)


def _joined(left: NoisyLaw, right: NoisyLaw) -> tuple[tuple[Shaped, ...], tuple[Shaped, ...]]:
    """The ends of both trees, with draws joined that all of them hold in one ratio."""
    trees = [tuple(Shaped.of(leaf, probability) for leaf, probability in law.leaves) for law in (left, right)]
    while True:
        step = one_to_join(part for tree in trees for end in tree for one in end.formulas for part in affine_of(one))
        if step is None:
            return trees[0], trees[1]
        trees = [tuple(_with_joined(end, step) for end in tree) for tree in trees]


def _with_joined(end: Shaped, step: tuple[NoiseDraw, NoiseDraw, NoiseDraw]) -> Shaped:
    def joined(formula: Any) -> Any:
        return rewritten(formula, lambda one: one.joined(*step))

    conditions = tuple(attrs.evolve(one, left=joined(one.left)) for one in end.conditions)
    return attrs.evolve(end, conditions=conditions, slots=tuple((kind, joined(one)) for kind, one in end.slots))


OutputCuts = dict[Hashable, list[LineCuts]]


def _all_cuts(ours: Sequence[Shaped], theirs: Sequence[Shaped]) -> OutputCuts:
    """Where the numbers of each shape are cut: between constants, and where they depend on noise and differ between the two."""
    found: OutputCuts = {}
    for shape in dict.fromkeys(end.shape for end in (*ours, *theirs)):
        sides = [[end.slots for end in tree if end.shape == shape] for tree in (ours, theirs)]
        numbers = [[[slots[place][1] for slots in side] for side in sides] for place in range(len((sides[0] or sides[1])[0]))]
        noisy = [place for place, both in enumerate(numbers) if any(map(_draws, itertools.chain(*both)))]
        distinguishing = [place for place in noisy if len(set(map(frozenset, numbers[place]))) > 1][:_MOST_SLOTS]
        most = max(2, int((4 * MOST_CELLS / (len(ours) + len(theirs))) ** (1 / max(1, len(distinguishing)))))
        found[shape] = [
            _cuts(both, min(most, _MOST_CUTS))
            if place in distinguishing
            else None
            if place in noisy
            else _between(itertools.chain(*both))
            for place, both in enumerate(numbers)
        ]
    return found


def _constants(ends: Sequence[Shaped], cuts: OutputCuts) -> dict[Hashable, Fraction]:
    """The numbers that cells are for, where noise is in no number of that place."""
    noisy = {(end.shape, place) for end in ends for place, (_, formula) in enumerate(end.slots) if _draws(formula)}
    return {
        (end.shape, place, cell): formula.constant
        for end in ends
        for place, (_, formula) in enumerate(end.slots)
        if (end.shape, place) not in noisy and isinstance(formula, Affine)
        for cell, _ in _cells(formula, cuts[end.shape][place], None)
    }


def _between(formulas: Iterable[NoiseFormula]) -> list[Fraction]:
    """Ends of intervals that hold one constant each, or several that differ by roundings."""
    values = sorted({_at(formula, {}) for formula in formulas})
    return [(low + high) / 2 for low, high in itertools.pairwise(values) if high - low > _near(high)]


def _near(value: Fraction) -> Fraction:
    """What doubles may lose on the way to a value."""
    return max(abs(value), Fraction(1)) / 10**9


def _draws(formula: NoiseFormula) -> set[NoiseDraw]:
    return {noise for part in affine_of(formula) for noise, _ in part.terms}


def _cuts(sides: Sequence[Sequence[NoiseFormula]], most: int) -> list[Fraction]:
    """Ends of intervals: values that a number takes where one of its draws does, moved off the values of steps."""
    formulas, found = list(dict.fromkeys(itertools.chain(*sides))), set[Fraction]()
    for formula in formulas:
        found.add(_at(formula, {}))
        for noise in _draws(formula):
            found.update(_at(formula, {noise: multiple * spread(noise)}) for multiple in reaches(noise))
    ordered = sorted(found)
    if len(ordered) > most:
        ordered = [ordered[round(k * (len(ordered) - 1) / (most - 1))] for k in range(most)]
    steps = [one for one in formulas if not (isinstance(one, Affine) and one.terms and _is_smooth(one))]
    gaps = [*(high - low for low, high in itertools.pairwise(ordered)), Fraction(1)]
    moved = (
        next((at + part * gap for part in _OFF if _is_off(steps, at + part * gap)), None)
        for at, gap in zip(ordered, gaps, strict=True)
    )
    return sorted({one for one in moved if one is not None})


_OFF = (Fraction(0), Fraction(1, 2), Fraction(1, 3), Fraction(1, 7), Fraction(5, 13))


def _is_smooth(formula: Affine) -> bool:
    return not any(noise.kind in DISCRETE for noise, _ in formula.terms)


def _is_off(formulas: Sequence[NoiseFormula], end: Fraction) -> bool:
    """Whether numbers do not take a value next to an end with positive probability, where doubles may be on either side."""
    for formula in formulas:
        if isinstance(formula, Affine) and not formula.terms:
            if abs(formula.constant - end) <= _near(end):
                return False
            continue
        hidden = max(_draws(formula)) if len(_draws(formula)) > 1 else None
        low, high = (
            half_line(formula, at, above=True, closed=True, hidden=hidden) for at in (end - _near(end), end + _near(end))
        )
        if not isinstance(low, HalfLine) or not isinstance(high, HalfLine):
            return low == high
        jump = abs(high.start - low.start)
        if jump > spread(low.noise) / 10**6 or (low.noise.kind in DISCRETE and math.floor(low.start) != math.floor(high.start)):
            return False
    return True


def _at(formula: NoiseFormula, draws: Mapping[NoiseDraw, Fraction]) -> Fraction:
    """About the value of a number, for some draws; the others are 0."""
    if isinstance(formula, Affine):
        return sum((factor * draws.get(noise, 0) for noise, factor in formula.terms), formula.constant)
    most = max((noise.number for noise in _draws(formula)), default=0)
    given: list[float | None] = [0.0] * most
    for noise, value in draws.items():
        given[noise.number - 1] = float(value)
    try:
        found = float(value_at(formula, given))
    except (ArithmeticError, ValueError, TypeError) as problem:
        raise NoCells(str(problem)) from None
    if not math.isfinite(found):
        raise NoCells("a number that is not finite")
    return Fraction(found)


def _gathered(tree: Sequence[Shaped], cuts: OutputCuts) -> Gathered:
    found: Gathered = {}
    for end in tree:
        for name, box in end.boxes(cuts[end.shape]):
            found.setdefault(name, []).append(box)
    return found


def _masses(names: Sequence[Hashable], tree: Gathered) -> dict[Hashable, tuple[Fraction, Fraction]]:
    found = {}
    with ctx.workprec(PRECISION + 32):
        for name in names:
            total = sum((box.mass(PRECISION) for box in tree.get(name, ())), arb(0))
            low, high = floor_of(total), ceiling_of(total)
            found[name] = (
                max(Fraction(0), low or Fraction(0)),
                Fraction(1) if high is None else max(Fraction(0), min(high, Fraction(1))),
            )
    return found


def _telling(estimates: Mapping[Hashable, tuple[float, float]]) -> list[Hashable]:
    """The most discriminating cells by estimates: with the largest ratios both ways, and the largest shares of the divergence."""
    known = {name: both for name, both in estimates.items() if max(both) > 1e-9}
    ratio: dict[Hashable, float] = {name: math.log(max(p, 1e-30) / max(q, 1e-30)) for name, (p, q) in known.items()}
    ways: list[Callable[[Hashable], float]] = [
        lambda name: ratio[name],
        lambda name: -ratio[name],
        lambda name: known[name][0] * ratio[name],
        lambda name: -known[name][1] * ratio[name],
    ]
    chosen = [name for way in ways for name in sorted(known, key=way, reverse=True)[: _CERTIFIED // 4]]
    return list(dict.fromkeys(chosen))


def _named(name: Any, constants: Mapping[Hashable, Fraction]) -> CellName:
    """A cell in words."""
    shape, ends = name
    if len(ends) == 1 and shape[0] == "number" and ends[0] is not None:
        return CellName(_interval("out", *ends[0]), shape, ends)
    known = [constants.get((shape, place, cell)) for place, cell in enumerate(ends)]
    numbers = iter("#" if one is None else f"{float(one):.8g}" for one in known)
    intervals = [
        _interval(f"number {place} of it", *cell)
        for place, (cell, one) in enumerate(zip(ends, known, strict=True))
        if one is None and cell not in (None, (None, None))
    ]
    return CellName(" and ".join([f"out is {_shape_text(shape, numbers)}", *intervals]), shape, ends)


def _interval(what: str, low: Fraction | None, high: Fraction | None) -> str:
    left = "" if low is None else f"{float(low):.8g} <= "
    return f"{left}{what}{'' if high is None else f' < {float(high):.8g}'}"


def _shape_text(shape: Any, numbers: Iterator[str]) -> str:
    if shape[0] == "number":
        return next(numbers)
    if shape[0] == "seen":
        return repr(shape[1])
    if shape[0] == "observed":
        return f"{shape[1]} {_shape_text(shape[2], numbers)}"
    return f"({', '.join(_shape_text(part, numbers) for part in shape[1])})"
