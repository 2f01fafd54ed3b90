r"""Plain code that branches on its dataset: regions of datasets with the same branches, and the shifts from one to another.

The tree T of some code for all datasets (`dpspec_code.automatic.symbolic`) may hold conditions on counts N alone, such as N_1 < 5
or N_1 + N_2 = 0. They cut the datasets into regions, each with a tree of its own whose conditions are about noise.

**Theorem.** Let e be a change of one record or one step of numbers. For regions A and B let Q be the polyhedron of all N with N
in A and N + e in B. Where Q is not empty, let the ends of T_A and T_B be matched so that they have equal probabilities, and equal
conditions and outputs but for numbers that depend on N; and let delta(N), affine in N, solve the linear equations

    a.delta(N) = d_A(N) - d_B(N + e)    for every affine expression a.W + d_A(N) of T_A and its partner a.W + d_B(N) of T_B.

Let m_i be the largest |delta_i(N)| over Q, over all regions A and B. If all noise that is moved is Laplace, Gaussian or two-sided
geometric, then d_Pr(P_x, P_x') for datasets that differ by e is at most d_Pr(law of W + m, law of W).

*Proof.* T_A(N, w) = T_B(N + e, w + delta(N)), so the pair is an image of W + delta(N) and W (data processing). The laws of one
such draw are a location family with monotone likelihood ratio, symmetric about 0; so tests of W_i + t against W_i gain power as
|t| grows (Lehmann and Romano 2005, Theorem 3.4.1), and by Blackwell (1953) the pair for a smaller |t| is an image of that for a
larger one, coordinate by coordinate.

**Another shift at each end.** Where no one shift serves all ends of T_A, each may have one of its own, that serves all N of Q:
under it the conditions of an end for N imply those of its partner for N + e, with the same output. With C the largest of the
costs of these shifts and of those for the way back, over all regions and changes, no change multiplies the probability of a set
by more than e^C, as in `dpspec_code.automatic.coupling`.

Differences of two datasets are sums of changes that lead from one to the other over datasets whose counts stay between those of
the two, so all of them lie in the space of counts on which the regions are defined.

The largest m_i over Q is bounded by the dual linear program: c.N <= y.h for every y >= 0 with G'y >= c, where Q lies in
{N >= 0: G N <= h}. Its solution in doubles is rounded to fractions and then checked exactly.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs

from dpspec.plugin.judges import Observed
from dpspec_code.automatic.coupling import (
    AskedOfShift,
    Branch,
    NoisyLaw,
    branch,
    cheapest_shift,
    joined_trees,
    match,
    solve_shift,
)
from dpspec_code.automatic.formulas import (
    ARITHMETIC,
    Affine,
    Applied,
    Condition,
    Hole,
    NoiseDraw,
    NoiseFormula,
    TreeEnd,
    arithmetic,
    holes_of,
    is_about_data,
)

if TYPE_CHECKING:
    from dpspec.plugin.judges import Probability

MOST_REGIONS = 64
MOST_PROGRAMS = 4_000
"""Linear programs for one claim; each takes some milliseconds."""
_ROUNDED = 1_000
MOVABLE = ("laplace", "normal", "two-sided geometric", "discrete laplace", "discrete normal")
"""Noise whose larger shifts are easier to detect: symmetric about 0, with monotone likelihood ratio."""

Move = Mapping[int, int]
"""By how much each count grows, by the number of its symbol."""


@attrs.frozen
class HalfSpace:
    """a.N <= most, for whole numbers.

    Args:
        factors: a, by the numbers of the symbols.
        most: the largest value.
    """

    factors: tuple[tuple[int, int], ...]
    most: int

    def moved(self, move: Move) -> HalfSpace:
        """The half-space of all N with N + move in it."""
        return HalfSpace(self.factors, self.most - sum(by * move.get(number, 0) for number, by in self.factors))


def half_spaces(left: NoiseFormula, relation: str, *, holds: bool) -> list[tuple[HalfSpace, ...]]:
    """Where a condition on counts holds, or does not: intersections of half-spaces, whose union it is.

    >>> n = NoiseDraw(-1, "count", Fraction(0))
    >>> half_spaces(Affine(Fraction(-5, 2), ((n, Fraction(1, 2)),)), "lt", holds=True)
    [(HalfSpace(factors=((-1, 1),), most=4),)]
    """
    if not isinstance(left, Affine):
        raise TypeError("conditions on counts are affine")
    scale = math.lcm(left.constant.denominator, *(factor.denominator for _, factor in left.terms))
    factors = [(one.number, int(factor * scale)) for one, factor in left.terms]
    shared = math.gcd(*(by for _, by in factors))
    factors, least = [(number, by // shared) for number, by in factors], Fraction(-left.constant * scale) / shared
    ups, downs = tuple(factors), tuple((number, -by) for number, by in factors)
    below = HalfSpace(ups, math.ceil(least) - 1)  # a.N < least
    above = HalfSpace(downs, -math.ceil(least))  # a.N >= least
    if relation == "lt":
        return [(below,)] if holds else [(above,)]
    beyond = HalfSpace(downs, -math.floor(least) - 1)  # a.N > least
    return [(HalfSpace(ups, math.floor(least)), above)] if holds else [(below,), (beyond,)]


# --- linear programs ------------------------------------------------------------------------------


@attrs.frozen
class Polyhedron:
    """All N in some half-spaces whose numbers are at least `low`.

    Args:
        rows: the half-spaces.
        low: the least value of every number.
    """

    rows: tuple[HalfSpace, ...]
    low: int = 0

    def _above_low(self) -> list[Fraction]:
        """h, where Q lies in {M >= 0: G M <= h} for M = N - low."""
        return [Fraction(row.most - self.low * sum(by for _, by in row.factors)) for row in self.rows]

    def at_most(self, objective: Mapping[int, Fraction]) -> Fraction | None:
        """A number that c.N does not exceed; None where none was found."""
        weights = self._dual({number: by for number, by in objective.items() if by}, None)
        if weights is None:
            return None
        return sum(map(operator.mul, weights, self._above_low()), self.low * sum(objective.values(), Fraction(0)))

    def is_empty(self) -> bool:
        """Whether it is known to be empty: 0.N is at most a negative number."""
        weights = self._dual({}, 1)
        return weights is not None and sum(map(operator.mul, weights, self._above_low()), Fraction(0)) < 0

    def point(self, objective: Mapping[int, Fraction]) -> dict[int, int] | None:
        """Whole numbers N of it for which c.N is about largest; None where none were found."""
        from scipy.optimize import linprog

        columns = sorted({number for row in self.rows for number, _ in row.factors} | set(objective))
        of_row = [dict(row.factors) for row in self.rows]
        if not columns:
            return {}
        found = linprog(
            [-float(objective.get(number, 0)) for number in columns],
            A_ub=[[float(factors.get(number, 0)) for number in columns] for factors in of_row] or None,
            b_ub=[float(row.most) for row in self.rows] or None, bounds=(self.low, None),
        )  # fmt: skip
        if found.x is None:
            return None
        made = {number: round(value) for number, value in zip(columns, found.x, strict=True)}
        inside = all(sum(by * made[number] for number, by in row.factors) <= row.most for row in self.rows)
        return made if inside and all(value >= self.low for value in made.values()) else None

    def _dual(self, objective: Mapping[int, Fraction], largest: int | None) -> list[Fraction] | None:
        """Weights y >= 0 of the rows with G'y >= c, for which y.h is about least; None where none was found."""
        if not self.rows:
            return None if any(by > 0 for by in objective.values()) else []
        from scipy.optimize import linprog

        columns = sorted({number for row in self.rows for number, _ in row.factors} | set(objective))
        of_row = [dict(row.factors) for row in self.rows]
        least = [[-float(factors.get(number, 0)) for factors in of_row] for number in columns]
        wanted = [-float(objective.get(number, 0)) for number in columns]
        prices = [float(most) for most in self._above_low()]
        found = linprog(prices, A_ub=least or None, b_ub=wanted or None, bounds=(0, largest))
        if found.x is None:
            return None
        weights = [max(Fraction(y).limit_denominator(_ROUNDED), Fraction(0)) for y in found.x]
        reached = (sum((y * factors.get(n, 0) for y, factors in zip(weights, of_row, strict=True)), Fraction(0)) for n in columns)
        return weights if all(got >= objective.get(n, 0) for n, got in zip(columns, reached, strict=True)) else None


# --- regions --------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class Region:
    """Datasets for which some code decides alike, and its tree for them.

    Args:
        rows: where they lie.
        branches: the ends, with conditions on noise alone.
    """

    rows: tuple[HalfSpace, ...]
    branches: tuple[Branch, ...]


def holds_extreme(leaf: TreeEnd) -> bool:
    """Whether an end outputs, or compares, the largest or smallest of some counts."""
    return any(_extreme_in(one) is not None for one in (*(c.left for c in leaf.conditions), *holes_of(leaf.seen)))


def _extreme_in(expression: object) -> Applied | None:
    """An innermost max or min of affine expressions in counts."""
    if not isinstance(expression, Applied):
        return None
    for argument in expression.arguments:
        found = _extreme_in(argument)
        if found is not None:
            return found
    counts = (isinstance(one, Affine) and all(noise.is_count for noise, _ in one.terms) for one in expression.arguments)
    return expression if expression.function in ("max", "min") and all(counts) else None


def _by_extreme(leaf: TreeEnd) -> Iterator[TreeEnd]:
    """An end, once for each place at which the first of the largest or smallest counts may be."""
    extreme = next((one for c in leaf.conditions if (one := _extreme_in(c.left)) is not None), None)
    extreme = extreme or next((one for hole in holes_of(leaf.seen) if (one := _extreme_in(hole)) is not None), None)
    if extreme is None:
        yield leaf
        return
    sign = Fraction(1 if extreme.function == "max" else -1)
    chosen = [one for one in extreme.arguments if isinstance(one, Affine)]
    for place, best in enumerate(chosen):
        others = [
            (at, other.scaled(sign).plus(best.scaled(sign), Fraction(-1))) for at, other in enumerate(chosen) if at != place
        ]
        asked = [Condition(gap if at < place else gap.scaled(Fraction(-1)), "lt", at < place) for at, gap in others]
        if any(not one.left.terms and (one.left.constant < 0) is not one.holds for one in asked):  # type: ignore[union-attr]  # affine
            continue
        conditions = [attrs.evolve(c, left=_replaced(c.left, extreme, best)) for c in leaf.conditions]
        kept = (one for one in asked if one.left.terms)  # type: ignore[union-attr]
        yield from _by_extreme(TreeEnd(_seen_with(leaf.seen, extreme, best), (*conditions, *kept)))


def _replaced(expression: Any, old: Applied, new: Affine) -> Any:
    """An expression with another one in the place of a part; sums of affine parts are affine."""
    if expression == old:
        return new
    if not isinstance(expression, Applied):
        return expression
    arguments = tuple(_replaced(one, old, new) for one in expression.arguments)
    operation = ARITHMETIC.get(expression.function)
    if operation is not None and len(arguments) == 2 and all(isinstance(one, Affine) for one in arguments):
        return arithmetic(operation, *arguments)
    return attrs.evolve(expression, arguments=arguments)


def _seen_with(seen: Any, old: Applied, new: Affine) -> Any:
    """An output with another expression in the place of a part of its expressions."""
    if isinstance(seen, Hole):
        return attrs.evolve(seen, expression=_replaced(seen.expression, old, new))
    if isinstance(seen, Observed):
        return attrs.evolve(seen, content=_seen_with(seen.content, old, new), parts=None)
    return tuple(_seen_with(one, old, new) for one in seen) if isinstance(seen, tuple) else seen


def regions(law: NoisyLaw, low: int) -> list[Region] | None:
    """The regions that the conditions on counts, which are at least `low`, cut the datasets into; None where there are too many.

    Every dataset lies in exactly one of them, or in one that is known to be empty.
    """
    leaves = [(end, probability) for leaf, probability in law.leaves for end in _by_extreme(leaf)]
    if len(leaves) > MOST_REGIONS * len(law.leaves):
        return None
    asked = list(dict.fromkeys((c.left, c.relation) for leaf, _ in leaves for c in leaf.conditions if is_about_data(c)))
    cells: list[tuple[tuple[HalfSpace, ...], dict[Hashable, bool]]] = [((), {})]
    for left, relation in asked:
        cut = [
            ((*rows, *more), {**answers, (left, relation): holds})
            for rows, answers in cells
            for holds in (True, False)
            for more in half_spaces(left, relation, holds=holds)
        ]
        cells = [cell for cell in cut if not Polyhedron(cell[0], low).is_empty()]
        if len(cells) > MOST_REGIONS:
            return None
    return [Region(rows, tuple(_inside(leaves, answers))) for rows, answers in cells]


def _inside(leaves: Iterable[tuple[TreeEnd, Probability]], answers: Mapping[Hashable, bool]) -> Iterator[Branch]:
    """The ends that are reached where the conditions on counts have these answers."""
    for leaf, probability in leaves:
        about = [is_about_data(condition) for condition in leaf.conditions]
        asked = [c for c, data in zip(leaf.conditions, about, strict=True) if data]
        if all(answers[c.left, c.relation] is c.holds for c in asked):
            kept = tuple(c for c, data in zip(leaf.conditions, about, strict=True) if not data)
            made = branch(attrs.evolve(leaf, conditions=kept), probability)
            yield attrs.evolve(made, frame=_without_counts(made.frame))


def _without_counts(frame: Hashable) -> Hashable:
    """A frame without the counts in its affine expressions."""
    if not isinstance(frame, tuple):
        return frame
    if len(frame) == 2 and frame[0] == "affine":
        return ("affine", tuple((noise, factor) for noise, factor in frame[1] if not noise.is_count))
    return tuple(map(_without_counts, frame))


# --- from one region to another -------------------------------------------------------------------

_ONE = 0
"""The key of the constant in a number that is affine in counts; counts have negative numbers."""
AffineShift = dict[NoiseDraw, dict[int, Fraction]]


def crossing(ours: Region, theirs: Region, move: Move, low: int) -> Polyhedron:
    """All N in one region for which N + move lies in another."""
    inside = (HalfSpace(((number, -1),), by - low) for number, by in sorted(move.items()) if by < 0)
    return Polyhedron((*ours.rows, *(row.moved(move) for row in theirs.rows), *inside), low)


def shift_between(ours: Sequence[Branch], theirs: Sequence[Branch], move: Move) -> AffineShift | None:
    """delta(N), by the draw that it moves and the count that it depends on; None where there is none for all N."""
    joined = joined_trees(ours, theirs)
    matched = match(*joined)
    if matched is None:
        return None
    rows: list[tuple[dict[NoiseDraw, Fraction], dict[int, Fraction]]] = []
    for one, other in matched:
        for mine, its in zip(one.parts, other.parts, strict=True):
            noise = {draw: factor for draw, factor in mine.terms if not draw.is_count}
            rows.append((noise, _difference(mine, its, move)))
    shift: AffineShift = {}
    for key in sorted({key for _, right in rows for key in right}):
        solved = solve_shift((dict(noise), right.get(key, Fraction(0))) for noise, right in rows)
        if solved is None:
            return None
        for draw, by in solved.items():
            if by:
                shift.setdefault(draw, {})[key] = by
    return shift


def cost_between(ours: Sequence[Branch], theirs: Sequence[Branch], move: Move, polyhedron: Polyhedron) -> Fraction | None:
    """The cost of undoing a move, or what undoes it, by a shift for each end that serves all N of a polyhedron; None for none.

    Every condition a.W + d(N) < 0 that holds requires a.delta <= d_A(N) - d_B(N + e) at every N, so at most the least.
    """
    joined = joined_trees(ours, theirs)
    matched = match(*joined)
    costs: list[Fraction] = []
    for one, other in matched or ():
        asked: tuple[list[AskedOfShift], list[AskedOfShift]] = ([], [])
        for mine, its, sense in zip(one.parts, other.parts, one.senses, strict=True):
            noise = tuple((draw, factor) for draw, factor in mine.terms if not draw.is_count)
            room = _difference(mine, its, move)
            constant, slope = room.pop(_ONE, Fraction(0)), room
            ends = [polyhedron.at_most({number: sign * by for number, by in slope.items()}) if slope else 0 for sign in (-1, 1)]
            for way, side in zip((1, -1), asked, strict=True):
                # of the room at all N, times 1 for the move and -1 for what undoes it, from the least to the largest
                low, high = (None if ends[0] is None else constant - ends[0]), (None if ends[1] is None else constant + ends[1])
                least, largest = (low, high) if way == 1 else (None if high is None else -high, None if low is None else -low)
                if (sense <= 0 and least is None) or (sense >= 0 and largest is None) or (sense == 0 and least != largest):
                    return None
                side.append((noise, sense, least if sense <= 0 else largest))  # type: ignore[arg-type]  # it is one of the two
        found = [cheapest_shift(tuple(side)) for side in asked]
        if found[0] is None or found[1] is None:
            return None
        costs += [cost for cost in found if cost is not None]
    return max(costs) if costs else None


def _difference(mine: Affine, its: Affine, move: Move) -> dict[int, Fraction]:
    """d_A(N) - d_B(N + e), by the number of the count that each part depends on."""
    found: dict[int, Fraction] = {_ONE: mine.constant - its.constant}
    for draw, factor in mine.terms:
        if draw.is_count:
            found[draw.number] = found.get(draw.number, Fraction(0)) + factor
    for draw, factor in its.terms:
        if draw.is_count:
            found[draw.number] = found.get(draw.number, Fraction(0)) - factor
            found[_ONE] -= factor * move.get(draw.number, 0)
    return {key: by for key, by in found.items() if by}


@attrs.frozen
class LargestShift:
    """The largest |delta_i(N)| over a polyhedron.

    Args:
        by: for each draw that is moved.
        slopes: how the shift of each draw that depends on N grows with it, in the direction of the larger end.
    """

    by: dict[NoiseDraw, Fraction]
    slopes: tuple[dict[int, Fraction], ...]


def largest_shift(polyhedron: Polyhedron, shift: AffineShift) -> LargestShift | None:
    """The largest |delta_i(N)| over a polyhedron for each draw; None where it is not bounded, or the noise is of another kind."""
    found: dict[NoiseDraw, Fraction] = {}
    slopes: list[dict[int, Fraction]] = []
    for draw, parts in shift.items():
        if draw.kind not in MOVABLE:
            return None
        constant = parts.get(_ONE, Fraction(0))
        slope = {number: by for number, by in parts.items() if number != _ONE}
        ends = [polyhedron.at_most({number: sign * by for number, by in slope.items()}) for sign in (1, -1)]
        if ends[0] is None or ends[1] is None:
            return None
        whole = all(by.denominator == 1 for by in slope.values())  # N is whole, so the parts of a fraction are not reached
        up, down = (Fraction(math.floor(end)) if whole else end for end in (ends[0], ends[1]))
        found[draw] = max(abs(up + constant), abs(constant - down))
        sign = 1 if abs(up + constant) >= abs(constant - down) else -1
        slopes += [{number: sign * by for number, by in slope.items()}] if slope else []
    return LargestShift({draw: by for draw, by in found.items() if by}, tuple(slopes))
