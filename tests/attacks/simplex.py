"""An exact linear program: the largest c p over A p <= b and p >= 0, in rational numbers (Dantzig's simplex method)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq

Row = tuple[Sequence[int | Fraction], int | Fraction]

PATIENT = 200
"""After so many exchanges Bland's rule is followed, which never goes in circles."""


def largest(objective: Sequence[int | Fraction], rows: Sequence[Row]) -> tuple[Fraction, list[Fraction]]:
    """The largest value and where it is reached; every b has to be at least 0, so that p = 0 is a start, and p to be bounded."""
    width, zero = len(objective), fmpq(0)
    table = [[*map(_exact, a), _exact(b)] for a, b in rows]
    assert all(row[-1] >= 0 for row in table)
    top = [*map(_exact, objective), zero]  # reduced costs, and minus the value
    basis = [width + place for place in range(len(table))]
    free = list(range(width))  # which variable each column stands for: the others are 0
    turns = 0
    while rising := [place for place in range(width) if top[place] > 0]:
        entering = max(rising, key=top.__getitem__) if turns < PATIENT else min(rising, key=free.__getitem__)
        leaving = min((row[-1] / row[entering], basis[i], i) for i, row in enumerate(table) if row[entering] > 0)[2]
        _exchange(table, top, leaving, entering)
        basis[leaving], free[entering], turns = free[entering], basis[leaving], turns + 1
    values = dict(zip(basis, (row[-1] for row in table), strict=True))
    return _fraction(-top[-1]), [_fraction(values.get(place, zero)) for place in range(width)]


def _exchange(table: list[list[fmpq]], top: list[fmpq], leaving: int, entering: int) -> None:
    pivot, row = table[leaving][entering], table[leaving]
    row[entering] = fmpq(1)
    table[leaving] = row = [value / pivot for value in row]
    parts = [(place, value) for place, value in enumerate(row) if value]
    for other in (*table[:leaving], *table[leaving + 1 :], top):
        factor = other[entering]
        if factor:
            other[entering] = fmpq(0)
            for place, value in parts:
                other[place] -= factor * value


def _exact(value: int | Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))
