"""Absorbing Markov chains, solved exactly: from one-step probabilities between states to the law of where they end.

    P(end | i) = sum_j T[i, j] P(end | j) + T[i, end]

States are eliminated one after the other: state j is left out by dividing its row by 1 - T[j, j], the sum of its other
entries, and putting it in place of j everywhere else (Kleene). Nothing is ever rounded but enclosures.
"""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction

from dpspec.errors import NotEnumerableError
from dpspec.laws.enclosed import Chance, Enclosed

Row = dict[Hashable, Chance]


def solve(rows: dict[Hashable, Row], start: Hashable) -> Row:
    """The law of the end of a chain, for ends that have no row.

    >>> half = Fraction(1, 2)
    >>> solve({"toss": {"toss": half, "heads": half / 2, "tails": half / 2}}, "toss")
    {'heads': Fraction(1, 2), 'tails': Fraction(1, 2)}
    """
    rows = {state: dict(row) for state, row in rows.items()}
    sources: dict[Hashable, set[Hashable]] = {state: set() for state in rows}
    for state, row in rows.items():
        for target in row:
            if target in rows:
                sources[target].add(state)
    for state in reversed(list(rows)):
        row = _left(state, rows[state])
        if state == start:
            rows[state] = row
            continue
        del rows[state]
        for source in sources[state] - {state}:
            if source in rows and state in rows[source]:
                _substitute(rows[source], state, row)
                for target in row:
                    if target in sources:
                        sources[target].add(source)
    return _left(start, rows[start])


def _left(state: Hashable, row: Row) -> Row:
    """The row given that the state is left."""
    if state not in row:
        return row
    others = {target: chance for target, chance in row.items() if target != state}
    if not others:
        raise NotEnumerableError("sampler", "never ends in one of its loops", "give every loop a way out")
    leaving = sum(others.values(), Fraction(0))
    if isinstance(leaving, Enclosed) or isinstance(row[state], Enclosed):
        bounds = Enclosed.of(leaving)
        return {target: _at_most_one(Enclosed.of(chance) / bounds) for target, chance in others.items()}
    return {target: chance / leaving for target, chance in others.items()}


def _at_most_one(value: Enclosed) -> Enclosed:
    return Enclosed(value.low, min(value.high, Fraction(1)))


def _substitute(row: Row, state: Hashable, into: Row) -> None:
    weight = row.pop(state)
    for target, chance in into.items():
        row[target] = row[target] + weight * chance if target in row else weight * chance
