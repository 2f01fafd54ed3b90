"""The checker's own calculus of events: how likely an event may be at one dataset when its probability at another one is given.

Where a standard is a list of inequalities P(S) <= r Q(S) + s for all events S, what is granted between two datasets is a concave
function g on [0, 1] with P_x(S) <= g(P_y(S)): the least of the lines, and of those of the complement. Along a path functions are
composed, and the least one over all paths is what follows; that no more does need not be known here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from flint import ctx

from dpspec.checker.constants import knots_of
from dpspec.checker.conversions import group
from dpspec.checker.numbers import Value, exponential, read
from dpspec.checker.pairs import Bits, datasets_of, ordered_bounds

Table = dict[str, Any]
Line = tuple[Fraction, Fraction]
Curve = tuple[tuple[Fraction, Fraction], ...]
"""The knots (q, g(q)) of a concave function, from q = 0 to q = 1."""

ONE_WAY = "mult-one-way"


def follows(before: Table, after: Table) -> tuple[int, tuple[Bits, Bits] | None]:
    """How many ordered pairs the second specification compares, and one of them on which it is not seen to follow."""
    granted, asked = _granted(before), dict(_lines(after, up=False))
    for pair, wanted in asked.items():
        curve = granted.get(pair, ((Fraction(0), Fraction(1)), (Fraction(1), Fraction(1))))  # nothing is granted
        if any(height > ratio * q + slack for q, height in curve for ratio, slack in wanted):
            return len(asked), pair
    return len(asked), None


def _lines(spec: Table, *, up: bool) -> Iterator[tuple[tuple[Bits, Bits], tuple[Line, ...]]]:
    """The inequalities for every ordered pair with a finite bound; those of both orders where the divergence is symmetric."""
    divergence, bounds = spec["output_divergence"], ordered_bounds(spec)
    for (x, y), bound in bounds.items():
        both = [bound] if divergence["type"] == ONE_WAY else [bound, bounds[y, x]]
        found = [line for one in both if not one.infinite for line in _of(divergence, one, up)]
        if found or not all(one.infinite for one in both):
            yield (x, y), tuple(found)


def _of(divergence: Table, bound: Value, up: bool) -> list[Line]:
    """The lines (r, s) of a divergence at a bound."""
    kind, zero = divergence["type"], Value()
    if kind in ("mult", ONE_WAY, "mult-delta"):
        return [(_power(bound, up), _end(read(divergence.get("delta", 0)), up))]
    if kind == "hockey-stick":
        return [(_power(read(divergence["epsilon"]), up), _end(bound, up))]
    if kind == "total-variation" or divergence.get("generator") == "total-variation":
        return [(_power(zero, up), _end(bound, up))]
    if kind != "trade-off":
        raise ValueError(f"{kind} is not seen on single events here")
    if bound.logs or bound.root or knots_of(divergence) is None:
        raise ValueError("the steps of the curve are not known here")
    rising = [(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))]  # no step: equal laws
    if bound.plain >= 1:
        rising = group(divergence, Value(Fraction(int(bound.plain)))) or []
    if not rising:
        raise ValueError("so many steps of the curve are not known here")
    return [((d - b) / (c - a), b - (d - b) / (c - a) * a) for (a, b), (c, d) in itertools.pairwise(rising) if d > b]


def _power(value: Value, up: bool) -> Fraction:
    """e^v of a number of at least 0, rounded up or down where it is not written down."""
    exact = exponential(value)
    if exact is not None:
        return exact
    with ctx.workprec(128):
        if value.infinite or value.ball() > 200:
            raise ValueError("a likelihood ratio that is too large to be written down")
        return max(_dyadic(value.ball().exp(), up), Fraction(1))


def _end(value: Value, up: bool) -> Fraction:
    if not (value.logs or value.root or value.infinite):
        return value.plain
    with ctx.workprec(128):
        return _dyadic(value.ball(), up)


def _dyadic(ball: Any, up: bool) -> Fraction:
    mantissa, exponent = (ball.upper() if up else ball.lower()).man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


# --- functions -----------------------------------------------------------------------------------


def _granted(spec: Table) -> dict[tuple[Bits, Bits], Curve]:
    """g for each ordered pair that paths join."""
    lines = dict(_lines(spec, up=True))
    found: dict[tuple[Bits, Bits], Curve] = {}
    for (x, y), held in lines.items():
        turned = [(1 / ratio, 1 - (1 - slack) / ratio) for ratio, slack in lines.get((y, x), ())]
        if held or turned:
            found[x, y] = _least([*held, *turned, (Fraction(0), Fraction(1))])
        if (y, x) not in lines:  # what is asked in one order only says something about the complement in the other
            back = [(1 / ratio, 1 - (1 - slack) / ratio) for ratio, slack in held]
            found[y, x] = _least([*back, (Fraction(0), Fraction(1))])
    datasets = datasets_of(spec["space"])
    for middle, x, y in itertools.product(datasets, repeat=3):
        first, second = found.get((x, middle)), found.get((middle, y))
        if len({x, y, middle}) == 3 and first is not None and second is not None:
            path = _after(first, second)
            found[x, y] = path if (x, y) not in found else _lower(found[x, y], path)
    return found


def _at(curve: Curve, q: Fraction) -> Fraction:
    for (a, b), (c, d) in itertools.pairwise(curve):
        if a <= q <= c:
            return b + (q - a) * (d - b) / (c - a)
    raise ValueError("a probability outside of [0, 1]")


def _least(lines: list[Line]) -> Curve:
    """The least of some straight lines on [0, 1]."""
    places = {Fraction(0), Fraction(1)}
    for (a, b), (c, d) in itertools.combinations(set(lines), 2):
        if a != c and 0 < (d - b) / (a - c) < 1:
            places.add((d - b) / (a - c))
    return _straightened([(q, min(a * q + b for a, b in lines)) for q in sorted(places)])


def _after(outer: Curve, inner: Curve) -> Curve:
    """q -> outer(inner(q))."""
    places = {q for q, _ in inner}
    for (a, b), (c, d) in itertools.pairwise(inner):
        places |= {a + (level - b) * (c - a) / (d - b) for level, _ in outer if b < level < d}
    return _straightened([(q, _at(outer, _at(inner, q))) for q in sorted(places)])


def _lower(one: Curve, other: Curve) -> Curve:
    """The least of two functions."""
    places = sorted({q for q, _ in (*one, *other)})
    gaps = [_at(one, q) - _at(other, q) for q in places]
    for (a, c), (left, right) in zip(itertools.pairwise(tuple(places)), itertools.pairwise(gaps), strict=True):
        if left * right < 0:
            places.append(a + (c - a) * left / (left - right))
    return _straightened([(q, min(_at(one, q), _at(other, q))) for q in sorted(places)])


def _straightened(knots: list[tuple[Fraction, Fraction]]) -> Curve:
    """Without the points that lie on a straight line between their neighbours."""
    kept = knots[:1]
    for knot, after in itertools.pairwise(knots[1:]):
        (a, b), (c, d), (e, f) = kept[-1], knot, after
        if (d - b) * (e - c) != (f - d) * (c - a):
            kept.append(knot)
    return (*kept, knots[-1])
