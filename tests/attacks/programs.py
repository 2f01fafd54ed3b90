"""What is true: whether one specification implies another is a linear program over the probabilities of one event.

Both specifications are lines P_x(S) <= r P_y(S) + s for all events S. If a mechanism satisfies A and breaks B, some event S
breaks a line of B; the two outcomes S and its complement are post-processing and still satisfy A. So A implies B exactly when no
p in [0, 1]^X that satisfies the lines of A, for S and for the complement, has p_u > r' p_v + s' for a line of B.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.attacks.questions import Pair, Plain
from tests.attacks.simplex import Row, largest


def program(premise: Plain) -> list[Row]:
    """The lines of a premise for an event and its complement, and p <= 1, as rows over the probabilities."""
    place = {x: i for i, x in enumerate(premise.datasets)}
    rows: dict[tuple[tuple[Fraction, ...], Fraction], None] = {}
    for (x, y), lines in premise.lines.items():
        for ratio, slack in lines:
            event = [Fraction(0)] * len(place)
            event[place[x]], event[place[y]] = Fraction(1), -ratio
            rows[tuple(event), slack] = None
            rows[tuple(-value for value in event), ratio - 1 + slack] = None  # 1 - p_x <= r (1 - p_y) + s
    for i in place.values():
        rows[tuple(Fraction(i == j) for j in place.values()), Fraction(1)] = None
    return list(rows)


def separating(premise: Plain, conclusion: Plain) -> tuple[Pair, dict[Any, Fraction]] | None:
    """Probabilities of an event that A allows and B forbids, with the pair; None where A implies B."""
    rows, place = program(premise), {x: i for i, x in enumerate(premise.datasets)}
    for (u, v), lines in conclusion.lines.items():
        for ratio, slack in lines:
            aim = [Fraction(0)] * len(place)
            aim[place[u]], aim[place[v]] = Fraction(1), -ratio
            value, found = largest(aim, rows)
            if value > slack:
                return (u, v), {x: found[i] for x, i in place.items()}
    return None


def satisfied(plain: Plain, chances: dict[Any, Fraction]) -> bool:
    """Whether a mechanism of two outcomes satisfies all lines."""
    return all(
        p[x] <= ratio * p[y] + slack
        for p in (chances, {x: 1 - chance for x, chance in chances.items()})
        for (x, y), lines in plain.lines.items()
        for ratio, slack in lines
    )
