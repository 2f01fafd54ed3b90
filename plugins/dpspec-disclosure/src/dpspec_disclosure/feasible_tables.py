r"""The integer tables that are consistent with the publication, and the exact range of a sum of their cells, with a certificate.

Cells are whole numbers x_j >= 0. What is published says of sums of cells in which set of whole numbers each lies:

    a_r x in A_r,    A_r a union of intervals, the last of which may have no end          (r = 1, ..., m)

A number that is published exactly gives one point; a rounded number an interval; a cell key several points; a suppressed cell
nothing. The largest t x over all tables that fit is found by branch and bound. A claim t x <= B is certified by a tree:

* a *split* (f, a, b) has two branches, f x <= a and f x >= b. No table is lost where b = a + 1, or where f is some a_r and A_r
  holds nothing between a and b;
* a *leaf* has a multiplier y_r for each row of the leaf, l_r <= a_r x <= h_r: the statements, and the splits above it. With
  t <= sum_r y_r a_r in every cell, weak duality gives t x <= sum_r y_r (h_r where y_r > 0, else l_r), rounded down;
* an *empty leaf* has such multipliers for t = 0 with a bound below 0: no table fits (Farkas).

A table that fits attains the largest value. Where there is none, a table and a direction in which it can grow for ever show it.
The linear programs are solved with doubles. No answer of theirs is taken at its word: multipliers are rounded to fractions and
the bound recomputed, and tables are recounted, in whole numbers. So a bound may be too wide, which is then
stated, and is never wrong.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import attrs

Terms = tuple[tuple[int, int], ...]
"""A sum of cells: (place of the cell, factor), by ascending place."""
Interval = tuple[int, int | None]
"""From the first number to the second; None for no end."""
Multipliers = tuple[tuple[int, Fraction], ...]

MOST_NODES = 400
"""Nodes of one search. Published tables with exact margins need fewer than ten as a rule."""

DENOMINATORS = (64, 1 << 12, 1 << 20)
"""Multipliers are rounded to fractions with these denominators at most, until the bound is that of the linear program."""

LARGEST_SOLVED = 10**6
"""Larger numbers are divided before they are solved with doubles, and the rest is solved again: the solver's tolerance is
absolute (1e-7), so its answers have about twelve digits."""


@attrs.frozen
class Statement:
    """A published statement about one sum of cells.

    Args:
        terms: the sum.
        allowed: the numbers that it can be: intervals in ascending order that do not touch.
        label: what a reader calls it.
    """

    terms: Terms
    allowed: tuple[Interval, ...]
    label: str = ""

    @property
    def low(self) -> int:
        return self.allowed[0][0]

    @property
    def high(self) -> int | None:
        return self.allowed[-1][1]

    @property
    def is_exact(self) -> bool:
        """Whether the sum is known."""
        return self.low == self.high


@attrs.frozen
class Split:
    """A split of a search: the branch in which f x <= below, and the one in which f x >= above."""

    terms: Terms
    below: int
    above: int
    left: Node
    right: Node


@attrs.frozen
class Leaf:
    """Multipliers of the statements (by place) and of the splits above (by place after the statements).

    Args:
        empty: whether they show that no table fits.
    """

    multipliers: Multipliers
    empty: bool = False


Node = Split | Leaf


@attrs.frozen(kw_only=True)
class Largest:
    """The largest value of a sum over all tables that fit.

    Args:
        bound: it is at most this; None for no bound.
        proof: why; None where there is no bound.
        attained: a table that fits, of the largest value that was found.
        value: its value.
        direction: where there is no bound, what can be added to the table as often as one likes.
    """

    bound: int | None
    proof: Node | None
    attained: tuple[int, ...]
    value: int
    direction: tuple[int, ...] | None = None

    @property
    def is_exact(self) -> bool:
        """Whether the bound is attained, or there is none at all."""
        return self.direction is not None if self.bound is None else self.bound == self.value


@attrs.frozen(kw_only=True)
class Range:
    """All that the published numbers say of one sum of cells.

    Args:
        terms: the sum.
        least: the largest value of its negative.
        most: its largest value.
    """

    terms: Terms
    least: Largest
    most: Largest

    @property
    def low(self) -> int:
        """A proved lower bound."""
        return 0 if self.least.bound is None else -self.least.bound

    @property
    def high(self) -> int | None:
        """A proved upper bound; None for none."""
        return self.most.bound

    @property
    def is_exact(self) -> bool:
        """Whether both ends are attained."""
        return self.least.is_exact and self.most.is_exact

    @property
    def is_known(self) -> bool:
        """Whether it can be nothing but one number."""
        return self.low == self.high


class NoTableFits(Exception):
    """The published numbers contradict each other.

    Args:
        proof: a tree whose leaves are all empty.
    """

    def __init__(self, proof: Node) -> None:
        super().__init__("no table fits what is published")
        self.proof = proof


@attrs.frozen
class _Row:
    """l <= a x <= h, as it is at one node; None for no end."""

    terms: Terms
    low: int | None
    high: int | None


class FeasibleSet:
    """The integer tables that are consistent with the published statements.

    Args:
        cells: the number of cells.
        statements: the published statements.

    >>> row, column = Statement(((0, 1), (1, 1)), ((5, 5),)), Statement(((0, 1), (2, 1)), ((2, 2),))
    >>> found = FeasibleSet(3, [row, column]).range_of(((1, 1),))
    >>> found.low, found.high, found.is_exact
    (3, 5, True)
    """

    def __init__(self, cells: int, statements: Sequence[Statement]) -> None:
        self.cells, self.statements = cells, tuple(statements)
        self._rows = [_Row(one.terms, one.low, one.high) for one in statements]
        self._tables: list[tuple[int, ...]] = []

    def range_of(self, terms: Terms, nodes: int = MOST_NODES) -> Range:
        """The range of a sum of cells.

        Raises:
            NoTableFits: there is no table.
        """
        negative = tuple((cell, -factor) for cell, factor in terms)
        return Range(terms=terms, least=self.largest(negative, nodes), most=self.largest(terms, nodes))

    def fits(self, table: Sequence[int]) -> bool:
        """Whether a table fits, by whole numbers."""
        return all(number >= 0 for number in table) and all(
            any(low <= value and (high is None or value <= high) for low, high in one.allowed)
            for one in self.statements
            for value in [_value(one.terms, table)]
        )

    # --- search -----------------------------------------------------------------------------------

    def largest(self, terms: Terms, nodes: int = MOST_NODES) -> Largest:
        """The largest value of a sum of cells, by branch and bound; the node with the largest bound first.

        Raises:
            NoTableFits: there is no table.
            NumericalError: no table was found, and it was not proved that there is none.
        """
        best = max(self._tables, key=lambda table: _value(terms, table), default=None)
        root = _Open(rows=self._rows, splits=())
        numbers = itertools.count()
        heap: list[tuple[float, int, _Open]] = [(-math.inf, next(numbers), root)]
        closed: dict[tuple[tuple[Terms, int, int, bool], ...], Leaf] = {}
        worst: Fraction | None = None
        looked_at = 0
        while heap:
            _, _, node = heapq.heappop(heap)
            looked_at += 1
            solved = self._solve(terms, node)
            if solved.unbounded:
                return self._without_bound(terms, best)
            table = solved.table
            better = table is not None and (best is None or _value(terms, table) > _value(terms, best))
            if table is not None and better and self.fits(table):
                best = table
                self._remember(best)
            leaf = Leaf(solved.multipliers, empty=solved.empty)
            is_attained = best is not None and solved.bound is not None and math.floor(solved.bound) <= _value(terms, best)
            ends = solved.empty or is_attained
            split = None if ends or looked_at >= nodes else self._split_of(solved, node)
            if split is None:
                closed[node.splits] = leaf
                if not solved.empty:
                    if solved.bound is None:
                        return self._without_bound(terms, best)
                    worst = solved.bound if worst is None else max(worst, solved.bound)
                continue
            for is_above in (False, True):
                heapq.heappush(heap, (-float(solved.bound or 0), next(numbers), node.branch(split, is_above)))
        proof = _tree(closed, ())
        if best is None:
            if worst is None:
                raise NoTableFits(proof)
            raise unsolved()
        # Leaves that were closed early have a bound of at most the value that was known then, which is at most the last one.
        bound = _value(terms, best) if worst is None else max(math.floor(worst), _value(terms, best))
        return Largest(bound=bound, proof=proof, attained=best, value=_value(terms, best))

    def _remember(self, table: tuple[int, ...]) -> None:
        self._tables.append(table)
        del self._tables[:-50]

    def _split_of(self, solved: _Solved, node: _Open) -> tuple[Terms, int, int] | None:
        """A gap of what is allowed in which the solution lies, or a cell that is not whole."""
        if solved.solution is None:
            return None
        for one in self.statements:
            value = sum(factor * solved.solution[cell] for cell, factor in one.terms)
            for (_, end), (start, _) in itertools.pairwise(one.allowed):
                if end is not None and end + _WHOLE < value < start - _WHOLE:
                    return one.terms, end, start
        distances = [(abs(value - math.floor(value) - 0.5), cell) for cell, value in enumerate(solved.solution)]
        distance, cell = min(distances, default=(0.5, 0))
        if distance >= 0.5 - _WHOLE:
            return None
        below = math.floor(solved.solution[cell])
        return ((cell, 1),), below, below + 1

    def _without_bound(self, terms: Terms, best: tuple[int, ...] | None) -> Largest:
        """There is no largest value: a table that fits, and a direction in which it can grow, confirmed."""
        ray = self._direction(terms)
        table = best or self.table()
        if ray is not None:
            table = next((moved for moved in _along(table, ray) if self.fits(moved) and self._grows(moved, ray)), table)
        confirmed = ray is not None and self._grows(table, ray) and _value(terms, ray) > 0
        return Largest(bound=None, proof=None, attained=table, value=_value(terms, table), direction=ray if confirmed else None)

    def _grows(self, table: Sequence[int], ray: Sequence[int]) -> bool:
        """Whether the direction can be added to the table for ever."""
        if any(step < 0 for step in ray):
            return False
        for one in self.statements:
            moved, (low, high) = _value(one.terms, ray), one.allowed[-1]
            if moved and not (moved > 0 and high is None and _value(one.terms, table) >= low):
                return False
        return True

    def table(self) -> tuple[int, ...]:
        """Some table that fits.

        Raises:
            NoTableFits, NumericalError: see `largest`.
        """
        if not self._tables:
            total = tuple((cell, -1) for cell in range(self.cells))
            self.largest(total)  # at most 0, so that the search has a bound
        return self._tables[-1]

    # --- sums that recompute ----------------------------------------------------------------------

    def recomputed(self, terms: Terms) -> Multipliers | None:
        """Factors y with t = sum_r y_r a_r over the sums that are known exactly, with the least sum of |y_r|; None for none.

        The value of the sum is then sum_r y_r b_r, by adding and subtracting published numbers.
        """
        import numpy as np
        from scipy.optimize import linprog
        from scipy.sparse import hstack

        exact = [place for place, one in enumerate(self.statements) if one.is_exact]
        if not exact:
            return None
        columns = _matrix([self.statements[place].terms for place in exact], self.cells).T
        found = linprog(
            np.ones(2 * len(exact)), A_eq=hstack([columns, -columns]).tocsr(), b_eq=_dense(terms, self.cells), method="highs"
        )
        if found.x is None:
            return None
        factors = [_fraction(up - down, DENOMINATORS[1]) for up, down in zip(*np.split(found.x, 2), strict=True)]
        chosen = tuple((place, factor) for place, factor in zip(exact, factors, strict=True) if factor)
        left = _left(terms, ((self.statements[place].terms, factor) for place, factor in chosen))
        return None if any(left.values()) else chosen

    # --- linear programs --------------------------------------------------------------------------

    def _solve(self, terms: Terms, node: _Open) -> _Solved:
        """The linear program of a node, solved with doubles and checked in fractions."""
        solution, floats, status = _refined(terms, node.rows, self.cells)
        if status == 3:
            return _Solved(unbounded=True)
        if status == 2 or floats is None:
            return self._excluded(node)
        multipliers, bound = _best_bound(terms, node.rows, floats)
        if bound is None:
            return _Solved(unbounded=True)
        return _Solved(multipliers=multipliers, bound=bound, solution=solution)

    def _excluded(self, node: _Open) -> _Solved:
        """Multipliers that show that no table fits: the least sum by which the rows must be missed is above 0."""
        floats = _missed(node.rows, self.cells)
        multipliers, bound = _best_bound((), node.rows, floats)
        if bound is not None and bound < 0:
            return _Solved(multipliers=multipliers, bound=bound, empty=True)
        return _Solved(unbounded=True)

    def _direction(self, terms: Terms) -> tuple[int, ...] | None:
        """Whole numbers r >= 0 with a_r r = 0 for rows with an end, >= 0 for the others, and t r > 0; not yet confirmed."""
        rows = [_Row(one.terms, 0, 0 if one.high is not None else None) for one in self.statements]
        box = [_Row(((cell, 1),), 0, 1) for cell in range(self.cells)]
        solution, _, status = _refined(terms, [*rows, *box], self.cells)
        if status != 0 or solution is None:
            return None
        found = [_fraction(value, DENOMINATORS[0]) for value in solution]
        scale = math.lcm(*(value.denominator for value in found))
        return tuple(int(value * scale) for value in found)


_WHOLE = 1e-6
"""A double this near a whole number is taken for it, when it is chosen what to try next; nothing is decided by it."""


@attrs.frozen
class _Open:
    """An open node of the search tree.

    Args:
        rows: the statements, and the splits above it.
        splits: (terms, below, above, whether the branch above was taken), from the root.
    """

    rows: list[_Row]
    splits: tuple[tuple[Terms, int, int, bool], ...]

    def branch(self, split: tuple[Terms, int, int], is_above: bool) -> _Open:
        terms, below, above = split
        row = _Row(terms, above, None) if is_above else _Row(terms, None, below)
        return _Open([*self.rows, row], (*self.splits, (*split, is_above)))


@attrs.frozen(kw_only=True)
class _Solved:
    """What was proved at a node; `table` and `solution` only say where to go on."""

    multipliers: Multipliers = ()
    bound: Fraction | None = None
    solution: tuple[Any, ...] | None = None
    empty: bool = False
    unbounded: bool = False

    @property
    def table(self) -> tuple[int, ...] | None:
        return None if self.solution is None else tuple(round(value) for value in self.solution)


def _tree(closed: Mapping[Any, Leaf], splits: tuple[tuple[Terms, int, int, bool], ...]) -> Node:
    """The tree of a search from its leaves."""
    if splits in closed:
        return closed[splits]
    terms, below, above, _ = next(path[len(splits)] for path in closed if path[: len(splits)] == splits)
    left, right = (_tree(closed, (*splits, (terms, below, above, is_above))) for is_above in (False, True))
    return Split(terms, below, above, left, right)


def bound_of(terms: Terms, rows: Sequence[_Row], multipliers: Iterable[tuple[int, Fraction]]) -> Fraction | None:
    """sum_r y_r (h_r where y_r > 0, else l_r) where this bounds t x, else None."""
    chosen = [(rows[place], factor) for place, factor in multipliers]
    left = _left(terms, ((row.terms, factor) for row, factor in chosen))
    if any(value > 0 for value in left.values()):
        return None
    bound = Fraction(0)
    for row, factor in chosen:
        end = row.high if factor > 0 else row.low
        if end is None:
            return None
        bound += factor * end
    return bound


def _best_bound(terms: Terms, rows: Sequence[_Row], floats: Sequence[float]) -> tuple[Multipliers, Fraction | None]:
    """Multipliers rounded to fractions, corrected where a cell is not covered; the least bound that they prove."""
    best: tuple[Multipliers, Fraction | None] = (), None
    for denominator in DENOMINATORS:
        factors = {place: _fraction(value, denominator) for place, value in enumerate(floats)}
        factors = {place: factor for place, factor in factors.items() if factor}
        for place, factor in list(factors.items()):  # a double that is almost 0 may have the sign that has no end
            if (rows[place].high if factor > 0 else rows[place].low) is None:
                del factors[place]
        _cover(terms, rows, factors)
        multipliers = tuple(sorted(factors.items()))
        bound = bound_of(terms, rows, multipliers)
        if bound is not None and (best[1] is None or bound < best[1]):
            best = multipliers, bound
    return best


def _cover(terms: Terms, rows: Sequence[_Row], factors: dict[int, Fraction]) -> None:
    """Raise multipliers of rows with an end until no cell has a positive rest."""
    left = _left(terms, ((rows[place].terms, factor) for place, factor in factors.items()))
    for cell in [cell for cell, value in left.items() if value > 0]:
        if left[cell] <= 0:
            continue
        for place, row in enumerate(rows):
            factor = dict(row.terms).get(cell, 0)
            if row.high is not None and factor > 0 and all(one >= 0 for _, one in row.terms):
                raised = left[cell] / factor
                factors[place] = factors.get(place, Fraction(0)) + raised
                for other, one in row.terms:
                    left[other] = left.get(other, Fraction(0)) - raised * one
                break


def _left(terms: Terms, sums: Iterable[tuple[Terms, Fraction]]) -> dict[int, Fraction]:
    """t - sum_r y_r a_r, cell by cell."""
    left = {cell: Fraction(factor) for cell, factor in terms}
    for row, factor in sums:
        for cell, one in row:
            left[cell] = left.get(cell, Fraction(0)) - factor * one
    return left


def _value(terms: Terms, table: Sequence[int]) -> int:
    return sum(factor * table[cell] for cell, factor in terms)


def _along(table: Sequence[int], ray: Sequence[int]) -> Iterable[tuple[int, ...]]:
    """The table, and the table moved by 1, 2, 4, ... times the direction."""
    for times in [0, *(1 << power for power in range(60))]:
        yield tuple(number + times * step for number, step in zip(table, ray, strict=True))


def _fraction(value: float, denominator: int) -> Fraction:
    return Fraction(float(value)).limit_denominator(denominator)


def unsolved() -> Exception:
    """The error for tables that the search could not settle."""
    from dpspec.plugin import errors

    rule = "could not be settled: the search found no table that fits, and no proof that there is none"
    return errors.NumericalError("tables", rule, "audit fewer tables together")


# --- doubles --------------------------------------------------------------------------------------


def _dense(terms: Terms, cells: int) -> Any:
    import numpy as np

    dense = np.zeros(cells)
    for cell, factor in terms:
        dense[cell] = factor
    return dense


def _matrix(sums: Sequence[Terms], cells: int) -> Any:
    import numpy as np
    from scipy.sparse import csr_matrix

    entries = [(row, cell, factor) for row, terms in enumerate(sums) for cell, factor in terms]
    rows, columns, factors = np.array(entries, dtype=np.float64).reshape(-1, 3).T
    return csr_matrix((factors, (rows.astype(np.int64), columns.astype(np.int64))), shape=(len(sums), cells))


def _refined(terms: Terms, rows: Sequence[_Row], cells: int) -> tuple[tuple[Any, ...] | None, list[float] | None, int]:
    """The solution, the multipliers and the status of the program max t x; large numbers are solved in rounds.

    After each round the solution is rounded to whole numbers, and the program is solved for what has to be added to it.
    """
    sizes = [abs(end) for row in rows for end in (row.low, row.high) if end is not None]
    scale = max(1, max(sizes, default=0) // LARGEST_SOLVED)
    start, floats, status = [0] * cells, None, 0
    while True:
        added, duals, status = _linear_program(terms, rows, start, scale)
        if added is None or (status and floats is None):
            return None, None, status
        if status:
            return tuple(start), floats, 0
        floats = duals
        if scale == 1:
            return tuple(one + Fraction(value) if one else value for one, value in zip(start, added, strict=True)), floats, 0
        start = [max(0, one + round(Fraction(value) * scale)) for one, value in zip(start, added, strict=True)]
        scale = max(1, scale // LARGEST_SOLVED)


_FAR = 1e12
"""An end this far away, in units of the round, is not reached by it."""


def _linear_program(
    terms: Terms, rows: Sequence[_Row], start: Sequence[int], scale: int
) -> tuple[list[float] | None, list[float], int]:
    """max t d with start + scale d in all rows: d, the multiplier of each row, and the status of the solver."""
    import numpy as np
    from scipy.optimize import linprog

    cells = len(start)
    values = [_value(row.terms, start) for row in rows]
    lows = [None if row.low is None else _far((row.low - value) / scale) for row, value in zip(rows, values, strict=True)]
    highs = [None if row.high is None else _far((row.high - value) / scale) for row, value in zip(rows, values, strict=True)]
    equal = [place for place, row in enumerate(rows) if row.low == row.high]
    upper = [place for place, high in enumerate(highs) if high is not None and rows[place].low != rows[place].high]
    lower = [place for place, low in enumerate(lows) if low is not None and rows[place].low != rows[place].high]
    sums = [row.terms for row in rows]
    negative = [tuple((cell, -factor) for cell, factor in sums[place]) for place in lower]
    a_ub = _matrix([*(sums[place] for place in upper), *negative], cells) if upper or lower else None
    b_ub = [*(highs[place] for place in upper), *(-(lows[place] or 0) for place in lower)]
    found = linprog(
        -_dense(terms, cells), A_ub=a_ub, b_ub=b_ub if a_ub is not None else None,
        A_eq=_matrix([sums[place] for place in equal], cells) if equal else None,
        b_eq=[lows[place] for place in equal] if equal else None,
        bounds=[(_far(-one / scale), None) for one in start], method="highs",
    )  # fmt: skip
    duals = [0.0] * len(rows)
    if found.x is None:
        return ([] if found.status == 3 else None), duals, int(found.status)
    for place, value in zip(equal, found.eqlin.marginals if equal else (), strict=True):
        duals[place] -= float(value)
    for position, value in enumerate(np.asarray(found.ineqlin.marginals).tolist()):
        if position < len(upper):
            duals[upper[position]] -= value
        else:
            duals[lower[position - len(upper)]] += value
    return found.x.tolist(), duals, int(found.status)


def _far(value: float) -> float | None:
    return None if abs(value) >= _FAR else float(value)


def _missed(rows: Sequence[_Row], cells: int) -> list[float]:
    """The multipliers of the least sum by which the rows must be missed."""
    slack = [((cells + 2 * place, -1), (cells + 2 * place + 1, 1)) for place in range(len(rows))]
    loose = [_Row((*row.terms, *extra), row.low, row.high) for row, extra in zip(rows, slack, strict=True)]
    cost = tuple((cells + place, -1) for place in range(2 * len(rows)))
    _, floats, _ = _refined(cost, loose, cells + 2 * len(rows))
    return floats or [0.0] * len(rows)
