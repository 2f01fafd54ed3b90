"""An exact linear program of its own: the largest c p over A p <= b and p >= 0, in rational numbers (Dantzig; Bland's rule)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Row = tuple[Sequence[int | Fraction], int | Fraction]


def largest(objective: Sequence[int | Fraction], rows: Sequence[Row]) -> tuple[Fraction, list[Fraction]]:
    """The largest value and where it is reached; every b has to be at least 0, so that p = 0 is a start, and p to be bounded."""
    width = len(objective)
    table = [[*map(Fraction, a), Fraction(b)] for a, b in rows]
    assert all(row[-1] >= 0 for row in table)
    top = [*map(Fraction, objective), Fraction(0)]  # reduced costs, and minus the value
    basis = [width + place for place in range(len(table))]
    free = list(range(width))  # which variable each column stands for: the others are 0
    while True:
        entering = min((place for place in range(width) if top[place] > 0), key=free.__getitem__, default=None)
        if entering is None:
            break
        ratios = [(row[-1] / row[entering], basis[i], i) for i, row in enumerate(table) if row[entering] > 0]
        leaving = min(ratios)[2]
        _exchange(table, top, leaving, entering)
        basis[leaving], free[entering] = free[entering], basis[leaving]
    values = dict(zip(basis, (row[-1] for row in table), strict=True))
    return -top[-1], [values.get(place, Fraction(0)) for place in range(width)]


def _exchange(table: list[list[Fraction]], top: list[Fraction], leaving: int, entering: int) -> None:
    pivot, row = table[leaving][entering], table[leaving]
    row[entering] = Fraction(1)
    table[leaving] = row = [value / pivot for value in row]
    for other in (*table[:leaving], *table[leaving + 1 :], top):
        factor = other[entering]
        if factor:
            other[entering] = Fraction(0)
            for place, value in enumerate(row):
                if value:
                    other[place] -= factor * value
