"""Lists and vectors on which faulty code fails: the smallest ones, and ones with a pattern, in groups of neighbours.

An infinite or large space cannot be enumerated; black-box code is tested on these values instead.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import attrs

FIRST = 40
"""The number of the smallest datasets that are tried before any pattern."""
TELLING = 6
"""Patterns of two values are made of so many; single entries take every value."""
LONG, LONGEST = 12, 64
"""Constant lists are tried up to the one length, every position is changed once up to the other."""
_STEPS = (16, 32, 64, 100, 128, 256)
"""... and around these lengths."""
_WRAPS = (128, 256, 32_768, 65_536)
"""Sums that reach these wrap in integers of 8 and 16 bits."""
_SUMMED = 400
_SMALL_SIGNS = 7
_FARTHEST = 2_048, 1 << 40
"""Rays of lists go on to so many entries, rays of vectors to so large numbers."""


@attrs.frozen
class Ray:
    """A family of datasets that grows step by step.

    Args:
        at: the dataset at a place.
        ends: the first place and the last one.
    """

    at: Callable[[int], Any]
    ends: tuple[int, int]


def telling(values: Sequence[Any]) -> list[Any]:
    """The values in an order of their own, however they are listed: the simplest, the extremes, what is no number, the rest.

    >>> telling((5, 3, 0, None, -2, 1))
    [0, 5, -2, None, 1, 3]
    """
    ranked = sorted(values, key=_simplicity)
    plain = [value for value in ranked if _simplicity(value)[0] == 0]
    ends = [max(plain), min(plain)] if plain else []
    others = {(type(value), repr(value) == "nan"): value for value in ranked if _simplicity(value)[0]}
    longest = [max(ranked, key=lambda value: (len(repr(value)), repr(value)))] if not plain else []
    chosen = [*ranked[:1], *ends, *others.values(), *longest, *ranked]
    return list({repr(value): value for value in chosen}.values())


def _simplicity(value: Any) -> tuple[int, float, bool, str]:
    """Numbers by size, the positive one first; then what is no number, the shorter first."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value - value == 0:
        return 0, abs(value), value < 0, repr(value)
    return 1, len(repr(value)), False, repr(value)


def lists_tried(
    values: Sequence[Any], lengths: tuple[int, int | None], generator: random.Random, *, ordered: bool = True
) -> Iterator[Any]:
    """Lists in groups of neighbours, from each kind of pattern in turn; the same ones for every order in which values are listed.

    The smallest; constant ones at every length; one entry changed, at every place and to every value; steps from one value to
    another; all values once; lengths and sums where counters wrap; at random, with one entry changed and two exchanged.

    Args:
        values: what an entry may be.
        lengths: the least and the largest length.
        generator: for what is drawn.
        ordered: whether positions count.
    """
    least, most = lengths
    ranked = telling(values)
    choose: Any = itertools.product if ordered else itertools.combinations_with_replacement
    top = least + 64 if most is None else most
    small = itertools.chain.from_iterable(
        map(list, choose(ranked, repeat=size) if ordered else choose(ranked, size)) for size in range(least, top + 1)
    )
    few = max(2, FIRST // 3)
    yield from itertools.islice(small, few)
    base = min(max(least, 4), top)
    kinds = [
        ([ranked[0]] * size for size in range(least, min(top, max(LONG, least)) + 1)),
        _changed(ranked, base if most is None or most > least else least, ordered=ordered),
        _steps(ranked, min(top, max(base, 6))),
        itertools.islice(small, FIRST - few),
        _long(ranked, least, top),
        _mixed(ranked, (least, min(top, base + 2)), generator),
    ]
    while kinds:
        for kind in list(kinds):
            found = list(itertools.islice(kind, 4))
            yield from (one for one in found if least <= len(one) <= top)
            if not found:
                kinds.remove(kind)


def _changed(ranked: Sequence[Any], size: int, *, ordered: bool) -> Iterator[list[Any]]:
    """A constant list with one entry changed to every value, and at every place."""
    for base in ranked[:2] if size else ():
        yield [base] * size
        yield from ([base] * (size - 1) + [value] for value in ranked[:60] if value is not base)
    for base, other in itertools.islice(itertools.permutations(ranked[:TELLING], 2), 2 if ordered and size else 0):
        yield from ([other if i == place else base for i in range(size)] for place in range(min(size, LONGEST)))
    if size > 1:
        for base, other in itertools.islice(itertools.permutations(ranked[:TELLING], 2), 30):
            yield [base] * (size - 1) + [other]
            yield [base] * (size - 2) + [other] * 2


def _steps(ranked: Sequence[Any], size: int) -> Iterator[list[Any]]:
    """Lists of two values, from none of the second to nothing else; all values once; and those without their last entry."""
    for base, other in itertools.islice(itertools.combinations(ranked[:TELLING], 2), 15):
        for count in range(min(size, LONGEST) + 1):
            yield [other] * count + [base] * (size - count)
            yield ([other] * count + [base] * (size - count))[:-1]
    for count in range(min(len(ranked), size, LONG) + 1):
        yield list(ranked[:count])
        yield [*ranked[:count], *ranked[:1]]


def _long(ranked: Sequence[Any], least: int, top: int) -> Iterator[list[Any]]:
    """Constant lists of every telling value, and long ones beside the lengths and sums at which counters wrap."""
    for size in range(max(least, 1), min(top, least + 6, LONG) + 1):
        yield from ([value] * size for value in ranked[1:TELLING])
    for step in _STEPS:
        yield from ([ranked[0]] * size for size in (step - 1, step, step + 1) if least <= size <= top)
    for value in ranked[:3]:
        if isinstance(value, int) and abs(value) > 1:
            for wrap in _WRAPS:
                size = -(-wrap // abs(value))
                yield from ([value] * n for n in (size - 1, size) if least <= n <= min(top, _SUMMED))
    for value in ranked[1:3]:
        yield from ([value] * n for step in _STEPS for n in (step - 1, step) if least <= n <= top)


def _mixed(ranked: Sequence[Any], sizes: tuple[int, int], generator: random.Random) -> Iterator[list[Any]]:
    """Lists at random, the same with one entry changed, with two exchanged as totals ask for, and with one less."""
    for _ in range(DRAWN if len(ranked) > 1 else 0):
        drawn = [generator.choice(ranked) for _ in range(generator.randint(*sizes))]
        yield drawn
        if drawn:
            place, other = generator.randrange(len(drawn)), generator.randrange(len(drawn))
            yield [*drawn[:place], generator.choice(ranked), *drawn[place + 1 :]]
            exchanged = list(drawn)
            exchanged[place], exchanged[other] = drawn[other], drawn[place]
            yield exchanged
            yield drawn[:-1]


DRAWN = 200


def list_rays(values: Sequence[Any], lengths: tuple[int, int | None]) -> Iterator[Ray]:
    """More and more copies of one value; a list of one value in which more and more entries have another.

    >>> [ray.at(2) for ray in list_rays((0, 1), (0, 3))]
    [[0, 0], [1, 1], [1, 1, 0], [0, 0, 1]]
    """
    least, ranked = lengths[0], telling(values)
    top = max(least, _FARTHEST[0] if lengths[1] is None else min(lengths[1], _FARTHEST[0]))
    for value in ranked[:3] if top > least else ():
        yield Ray(partial(_constant, value), (max(least, 1), top))
    for base, other in itertools.permutations(ranked[:2], 2) if top else ():
        yield Ray(partial(_more_and_more, other, base, top), (0, top))


def _constant(value: Any, size: int) -> list[Any]:
    return [value] * size


def _more_and_more(value: Any, base: Any, length: int, size: int) -> list[Any]:
    return [value] * size + [base] * (length - size)


def _multiple(way: tuple[int, ...], size: int) -> tuple[int, ...]:
    return tuple(size * entry for entry in way)


def vector_rays(length: int, low: int, high: int | None) -> Iterator[Ray]:
    """Numbers that grow all together, or one alone; and so downwards where there is room."""
    above = _FARTHEST[1] if high is None else high
    for sign, end in ((1, above), (-1, -low)):
        for way in ((1,) * length, (1,) + (0,) * (length - 1))[: 1 if length == 1 else 2]:
            if end > 1 and low <= 0:
                yield Ray(partial(_multiple, tuple(sign * entry for entry in way)), (0, end))


def directions(length: int) -> list[tuple[int, ...]]:
    """Directions in {-1, 0, 1}^n, up to sign: all, one against the rest, steps, alternating, one alone; all signs where few.

    >>> directions(2)
    [(1, 1), (-1, 1), (1, -1), (1, 0), (0, 1)]
    """
    whole = [(1,) * length]
    against = [tuple(-1 if i == j else 1 for i in range(length)) for j in range(length)] if length > 1 else []
    steps = [tuple(1 if i < cut else -1 for i in range(length)) for cut in range(1, length)]
    steps.sort(key=lambda step: abs(sum(step)))
    waves = [tuple(1 if i % 2 == 0 else -1 for i in range(length))]
    alone = [tuple(1 if i == j else 0 for i in range(length)) for j in range(length)] if length > 1 else []
    found = [*whole, *against, *steps, *waves, *alone]
    if length <= _SMALL_SIGNS:
        found += [(1, *rest) for rest in itertools.product((1, -1), repeat=length - 1)]
    kept: dict[tuple[int, ...], None] = {}
    for way in found:
        if way in against or tuple(-entry for entry in way) not in kept:
            kept.setdefault(way)
    return list(kept)


def vectors_tried(length: int, low: int, high: int | None, generator: random.Random | None = None) -> Iterator[tuple[int, ...]]:
    """Constants, and constants moved by each direction, near the middle of the range first; then at random, and at its ends."""
    middle = 0 if low <= 0 and (high is None or high >= 0) else low
    ways = directions(length)
    yield from ((middle + step,) * length for step in (0, 1, -1, 2, 3))
    for base, size in ((0, 1), (0, 2), (3, 1), (1, 1), (0, 3)):
        for direction in ways:
            for sign in (1, -1):
                yield tuple(middle + base + sign * size * entry for entry in direction)
    drawn = generator or random.Random(0)
    for turn in range(DRAWN):
        way = [drawn.choice((1, -1)) if drawn.random() < 0.8 else 0 for _ in range(length)]
        start = [middle + drawn.choice((0, 0, 1, 2, 5)) * (turn % 3) for _ in range(length)]
        for size in (0, 1, 2):
            yield tuple(a + size * b for a, b in zip(start, way, strict=True))
    for end, inward in ((low, 1), *(() if high is None else ((high, -1),))):
        yield (end,) * length
        yield from (tuple(end + inward * (i == place) for i in range(length)) for place in range(min(length, LONGEST)))
