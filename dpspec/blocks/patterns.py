"""Lists and vectors with a pattern: what a black box is tried on."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

FIRST = 40
"""So many of the smallest datasets are tried before any pattern."""
LONG, LONGEST = 12, 30
"""Constant lists are tried up to the one length, every position is changed once up to the other."""
BY_LOT = 130


def lists_tried(
    smallest: Iterable[Any], values: Sequence[Any], lengths: tuple[int, int | None], lot: random.Random, *, ordered: bool = True
) -> Iterator[Any]:
    """The smallest datasets, then lists with a pattern: constant, one entry changed, a step, and by lot.

    Args:
        smallest: the datasets of a space of lists, smallest first.
        values: what an entry may be.
        lengths: the least and the largest length.
        lot: for what is drawn.
        ordered: whether positions count.
    """
    yield from itertools.islice(smallest, FIRST)
    least, most = lengths
    telling = [*dict.fromkeys((values[0], values[-1], values[len(values) // 2], *values))]
    sizes = range(least, min(least + 4, 8 if most is None else most) + 1)
    for size in sizes:
        for value in telling[:6]:
            yield [value] * size
    if ordered and len(telling) > 1:
        for place in range(min(max(sizes), LONGEST)):
            yield [telling[1] if i == place else telling[0] for i in range(max(sizes))]
    for size in range(sizes.stop, LONG if most is None else min(most, LONG) + 1):
        yield [telling[0]] * size
    for size in sizes:
        for value, other in itertools.islice(itertools.permutations(telling, 2), 12):
            yield [value] * (size - 1) + [other] if size else []
            yield [other] + [value] * (size - 1) if size else []
            yield [value] * (size // 2) + [other] * (size - size // 2)
    if len(values) ** max(sizes) > FIRST:
        for _ in range(BY_LOT):
            yield from _by_lot(values, lot.choice(sizes), lot)


def _by_lot(values: Sequence[Any], size: int, lot: random.Random) -> Iterator[list[Any]]:
    """A list by lot, the same with one entry changed, and with two entries exchanged, as invariants such as totals ask for."""
    drawn = [lot.choice(values) for _ in range(size)]
    yield drawn
    if size:
        place, other = lot.randrange(size), lot.randrange(size)
        yield [*drawn[:place], lot.choice(values), *drawn[place + 1 :]]
        exchanged = list(drawn)
        exchanged[place], exchanged[other] = drawn[other], drawn[place]
        yield exchanged


def directions(length: int) -> list[tuple[int, ...]]:
    """Directions in {-1, 0, 1}^n, up to sign: all, one against the rest, steps, alternating, one alone.

    >>> directions(2)
    [(1, 1), (-1, 1), (1, -1), (1, 0), (0, 1)]
    """
    whole = [(1,) * length]
    against = [tuple(-1 if i == j else 1 for i in range(length)) for j in range(length)] if length > 1 else []
    steps = [tuple(1 if i < cut else -1 for i in range(length)) for cut in range(1, length)]
    steps.sort(key=lambda step: abs(sum(step)))
    waves = [tuple(1 if i % 2 == 0 else -1 for i in range(length))]
    alone = [tuple(1 if i == j else 0 for i in range(length)) for j in range(length)] if length > 1 else []
    return list(dict.fromkeys([*whole, *against, *steps, *waves, *alone]))


def vectors_tried(length: int, low: int, high: int | None) -> Iterator[tuple[int, ...]]:
    """Constants, and constants moved by each direction, near the middle of the range first."""
    middle = 0 if low <= 0 and (high is None or high >= 0) else low
    ways = directions(length)
    yield from ((middle + step,) * length for step in (0, 1, -1, 2, 3))
    for base, size in ((0, 1), (0, 2), (3, 1), (1, 1)):
        for direction in ways:
            for sign in (1, -1):
                yield tuple(middle + base + sign * size * entry for entry in direction)
