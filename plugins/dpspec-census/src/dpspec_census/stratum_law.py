"""How many ways of moving swap values inside one stratum lead to each table, counted without listing permutations.

The stratum is the table x of counts x_lk of its n records by rest l and swap k. Take a set S of s records and a
permutation of S. Sorted by the records u = x - (counts of S) that are not in S, the number of such pairs that
turn x into y is

    A_s(x, y) = sum over u with |u| = n - s of  prod C(x_lk, u_lk) * prod r_l! * prod c_k! / prod (y - u)_lk!

with r, c the row and column sums of x - u (tables with equal margins are permutations of records, not of
values: B-S9). The permutations of all n records that *move exactly* m of them follow by binomial inversion:

    N_m(x, y) = sum over s <= m of (-1)^(m - s) C(n - s, m - s) A_s(x, y).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from operator import add, itemgetter, mul, sub

Cells = tuple[int, ...]
"""A table of counts, row by row."""

Counted = tuple[tuple[Cells, tuple[int, ...]], ...]
"""For each table y that can be reached, a number for every s (or m) from 0 to n."""


@lru_cache(maxsize=1 << 14)
def permutations_of_subsets(cells: Cells, columns: int) -> Counted:
    """A_s(x, y) for every y and s: pairs of s selected records and a permutation of them.

    >>> permutations_of_subsets((1, 0, 0, 1), 2)  # two records (0, 0) and (1, 1)
    (((0, 1, 1, 0), (0, 0, 1)), ((1, 0, 0, 1), (1, 2, 1)))
    """
    size = sum(cells)
    found: dict[Cells, list[int]] = {}
    occupied = [(place, count, *divmod(place, columns)) for place, count in enumerate(cells) if count]
    for selected in itertools.product(*(range(count + 1) for _, count, _, _ in occupied)):
        kept, rows, tokens = list(cells), [0] * (len(cells) // columns), [0] * columns
        ways, chosen = 1, sum(selected)
        for (place, count, row, column), taken in zip(occupied, selected, strict=True):
            kept[place] -= taken
            rows[row] += taken
            tokens[column] += taken
            ways *= math.comb(count, taken)
        for filling, bijections in _fillings(tuple(rows), tuple(tokens)):
            counts = found.setdefault(tuple(map(add, kept, filling)), [0] * (size + 1))
            counts[chosen] += ways * bijections
    return tuple((table, tuple(counts)) for table, counts in sorted(found.items()))


@lru_cache(maxsize=1 << 14)
def permutations_by_moved(cells: Cells, columns: int) -> Counted:
    """N_m(x, y) for every y and m: permutations of all records that move exactly m of them.

    >>> permutations_by_moved((1, 0, 0, 1), 2)
    (((0, 1, 1, 0), (0, 0, 1)), ((1, 0, 0, 1), (1, 0, 0)))
    """
    size = sum(cells)
    signed = [[(-1) ** (m - s) * math.comb(size - s, m - s) for s in range(m + 1)] for m in range(size + 1)]
    return tuple(
        (table, tuple(sum(f * count for f, count in zip(row, counts, strict=False)) for row in signed))
        for table, counts in permutations_of_subsets(cells, columns)
    )


@lru_cache(maxsize=1 << 14)
def _fillings(rows: Cells, tokens: Cells) -> tuple[tuple[Cells, int], ...]:
    """Every table with these row and column sums, with its number of bijections prod r_l! prod c_k! / prod t_lk!."""
    if not rows:
        return (((), 1),)
    found = []
    for row in _splits(rows[0], tokens):
        ways = math.factorial(rows[0]) * math.prod(map(math.comb, tokens, row))
        left = tuple(map(sub, tokens, row))
        found += [(row + below, ways * more) for below, more in _fillings(rows[1:], left)]
    return tuple(found)


def _splits(total: int, limits: Cells) -> Iterator[Cells]:
    """Every way to write `total` as a sum with the given upper limits."""
    if len(limits) == 1:
        if total <= limits[0]:
            yield (total,)
        return
    for first in range(min(total, limits[0]) + 1):
        for others in _splits(total - first, limits[1:]):
            yield (first, *others)


def derangements(size: int) -> int:
    """D_m, the number of permutations of m things that leave none in place (B-O40).

    >>> [derangements(m) for m in range(9)]
    [1, 0, 1, 2, 9, 44, 265, 1854, 14833]
    """
    count = 1
    for m in range(1, size + 1):
        count = m * count + (-1) ** m
    return count


def derangement_weights(cells: Cells, columns: int, chosen: int, kept: int) -> dict[Cells, int]:
    """Integer weights of the tables of one stratum under B-A3, with swap rate p = chosen / (chosen + kept).

    A permutation that moves m records has weight p^m (1-p)^(n-m) / D_m for m != 1; moving exactly one is impossible, and
    "exactly one selected" is redrawn, which conditions on the rest. A stratum of size 0 or 1 stays.

    >>> derangement_weights((1, 0, 0, 1), 2, 1, 4)  # B-O41: 16/17 and 1/17
    {(0, 1, 1, 0): 1, (1, 0, 0, 1): 16}
    """
    size = sum(cells)
    if size < 2:
        return {cells: 1}
    numbers = [derangements(m) for m in range(size + 1)]
    common = math.lcm(*(d for d in numbers if d))
    weights = [chosen**m * kept ** (size - m) * (common // d) if d else 0 for m, d in enumerate(numbers)]
    return _weighted(permutations_by_moved, cells, columns, weights)


def permutation_weights(cells: Cells, columns: int, chosen: int, kept: int) -> dict[Cells, int]:
    """Integer weights of the tables of one stratum under B-A4: a uniform permutation of the selected records.

    A set of s selected records with a permutation of it has weight p^s (1-p)^(n-s) / s!.

    >>> permutation_weights((1, 0, 0, 1), 2, 1, 4)  # B-O43: 49/50 and 1/50
    {(0, 1, 1, 0): 1, (1, 0, 0, 1): 49}
    """
    size = sum(cells)
    orders = math.factorial(size)
    weights = [chosen**s * kept ** (size - s) * (orders // math.factorial(s)) for s in range(size + 1)]
    return _weighted(permutations_of_subsets, cells, columns, weights)


def _weighted(count: Callable[[Cells, int], Counted], cells: Cells, columns: int, weights: list[int]) -> dict[Cells, int]:
    """The weighted sum for every table, counted on the table with its rows and then its columns in falling order.

    Renaming rests and swap values renames the tables (B-S9), so tables that differ by a renaming are counted once.
    """
    rows = [cells[start : start + columns] for start in range(0, len(cells), columns)]
    of_row = sorted(range(len(rows)), key=rows.__getitem__, reverse=True)
    turned = list(zip(*(rows[row] for row in of_row), strict=True))
    of_column = sorted(range(columns), key=turned.__getitem__, reverse=True)
    ordered = tuple(rows[row][column] for row in of_row for column in of_column)
    summed = _sums(count, ordered, columns, tuple(weights))
    if ordered == cells:
        return dict(summed)
    places = itertools.product(map(of_row.index, range(len(rows))), map(of_column.index, range(columns)))
    back = itemgetter(*(row * columns + column for row, column in places))
    return {back(table): weight for table, weight in summed}


@lru_cache(maxsize=1 << 14)
def _sums(
    count: Callable[[Cells, int], Counted], cells: Cells, columns: int, weights: tuple[int, ...]
) -> tuple[tuple[Cells, int], ...]:
    """The tables that can be reached, each with its weight."""
    sums = ((table, sum(map(mul, weights, counts))) for table, counts in count(cells, columns))
    return tuple((table, weight) for table, weight in sums if weight)
