"""The checker's own look at every pair of a small space of bit vectors: what two specifications say about each pair of datasets.

The calculus of events says how likely an event may be at one dataset when its probability at another one is given.

Where a standard is a list of inequalities P(S) <= r Q(S) + s for all events S, what is granted between two datasets is a concave
function g on [0, 1] with P_x(S) <= g(P_y(S)): the least of the lines, and of those of the complement. Along a path functions are
composed, and the least one over all paths is what follows; that no more does need not be known here.

Last come the two rules that look at every pair, and how a step is rejected.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import attrs
from flint import ctx

from dpspec_checker.constants import knots_of
from dpspec_checker.conversions import ON_PAIRS, group
from dpspec_checker.numbers import ExactValue, UnknownFormula, at_most, exponential, linear, need, product, read
from dpspec_checker.universes import explicit, frozen, of_universe

JsonTable = dict[str, Any]
Bits = tuple[int, ...]

MOST_DATASETS = 16
"""Larger spaces are not listed."""

METRICS = ("mult", "mult-one-way", "d-nor", "total-variation", "gaussian-trade-off", "trade-off")
"""The output divergences that are known to obey the triangle inequality."""

SYMMETRIC = ("mult", "mult-delta", "d-nor", "total-variation", "gaussian-trade-off", "trade-off", "renyi", "hockey-stick")


def separates_laws(divergence: JsonTable) -> bool:
    """Whether only equal laws are at 0 from each other, so that a bound of 0 requires equal laws."""
    kind = divergence["type"]
    if kind in ("mult-delta", "hockey-stick"):
        return read(divergence["delta" if kind == "mult-delta" else "epsilon"]) == ExactValue()
    if kind == "f-divergence":  # which are strictly convex, or bend at 1
        return bool(divergence["generator"] != "piecewise-linear")
    return kind in ("mult", "mult-one-way", "d-nor", "renyi", "total-variation", "gaussian-trade-off", "trade-off")


_INFINITE = ExactValue(infinite=True)


def asked_and_granted(before: JsonTable, after: JsonTable) -> Iterator[tuple[ExactValue, ExactValue]]:
    """For every pair with a finite bound in the second specification: what the first one grants, and that bound.

    Bounds that hold in one order of the two datasets hold in both, and along paths under a metric between laws.
    """
    granted = _paths(before) if before["output_divergence"]["type"] in METRICS else _bounds(before)
    for (x, y), allowed in _bounds(after).items():
        if x < y and not allowed.infinite:
            yield granted[x, y], allowed


def _paths(spec: JsonTable) -> dict[tuple[Bits, Bits], ExactValue]:
    found = _bounds(spec)
    if any(value.root for value in found.values()):  # sums of roots have no exact form here
        return found
    datasets = datasets_of(spec["space"])
    for middle, (x, y) in itertools.product(datasets, itertools.permutations(datasets, 2)):
        if middle not in (x, y) and not (found[x, middle].infinite or found[middle, y].infinite):
            step = linear([(Fraction(1), found[x, middle]), (Fraction(1), found[middle, y])])
            found[x, y] = _least([found[x, y], step])
    return found


def ordered_bounds(spec: JsonTable) -> dict[tuple[Bits, Bits], ExactValue]:
    """eps_D d(x, x'), the least over the universes that hold both, for every two datasets in order."""
    datasets = datasets_of(spec["space"])
    labels = {x: list(_labels(spec["multiverse"], x)) for x in datasets}
    distance = _distance(spec["input_divergence"], datasets)
    return {(x, y): _bound(spec, labels[x], labels[y], distance(x, y)) for x, y in itertools.permutations(datasets, 2)}


def _bounds(spec: JsonTable) -> dict[tuple[Bits, Bits], ExactValue]:
    """The bounds where they do not depend on the order of two datasets, or hold in both orders for each."""
    found = ordered_bounds(spec)
    if any(found[x, y] != found[y, x] for x, y in found) and spec["output_divergence"]["type"] not in SYMMETRIC:
        raise ValueError("the bound on two datasets depends on their order")
    return {(x, y): _least([found[x, y], found[y, x]]) for x, y in found}


def datasets_of(space: JsonTable) -> list[Bits]:
    if space["type"] != "bit-vectors" or not 1 <= space["length"] <= 4:
        raise ValueError(f"the datasets of {space['type']} are not listed here, or are more than {MOST_DATASETS}")
    return list(itertools.product((0, 1), repeat=space["length"]))


def _least(values: list[ExactValue]) -> ExactValue:
    return next(a for a in values if all(at_most(a, b) for b in values))


def _bound(spec: JsonTable, ours: list[Any], theirs: list[Any], distance: ExactValue) -> ExactValue:
    shared = [label for label in ours if label in theirs]
    if not shared or distance.infinite:
        return _INFINITE
    found = [product(_of_universe(spec, label), distance) for label in shared]
    if distance == ExactValue():
        return distance
    exact = [value for value in found if value is not None]
    if len(exact) < len(found):
        raise ValueError("a budget times a distance has no exact form")
    return _least(exact)


# --- universes -----------------------------------------------------------------------------------


def _labels(multiverse: JsonTable, x: Bits) -> Iterator[Any]:
    """The labels of the universes of a dataset as files write them: a budget by label or part names no other ones."""
    kind = multiverse.get("type")
    if kind is None:
        yield tuple(_value(invariant, x) for invariant in multiverse["invariants"])
    elif kind == "explicit":
        yield from (label for label, held in explicit(multiverse) if x in held)
    elif kind == "one-position":
        yield from ((place, tuple((str(bit),) for bit in (*x[:place], *x[place + 1 :]))) for place in range(len(x)))
    else:
        raise ValueError(f"universes of type {kind} are not listed here")


def _value(invariant: JsonTable, x: Bits) -> Any:
    """The value of an invariant: the cells of a table with a count that is not 0, or the sums of a linear map."""
    if invariant["type"] == "marginal" and set(invariant) <= {"type", "attributes", "unit"}:
        if invariant["attributes"] not in ([], ["bit"]):
            return _no(invariant)
        cells = ((str(bit),) if invariant["attributes"] else () for bit in x)
        return tuple(sorted(Counter(cells).items()))
    if invariant["type"] == "linear-map" and all(len(row) == len(x) for row in invariant["rows"]):
        return tuple(sum(int(a) * b for a, b in zip(row, x, strict=True)) for row in invariant["rows"])
    return _no(invariant)


def _no(invariant: JsonTable) -> Any:
    raise ValueError(f"{invariant} is not computed here")


def _of_universe(spec: JsonTable, label: Any) -> ExactValue:
    budget = spec["budget"]
    if budget.get("type") != "by-part":
        return of_universe(spec, label)
    if budget.get("place", 0) != 0:
        raise ValueError("the part is another entry of the label")
    if not isinstance(label, tuple):
        raise ValueError("the label of a universe has no parts")
    rows = [row["value"] for row in budget["values"] if frozen(row["part"]) == label[0]]
    amount = read(rows[0] if rows else budget["otherwise"])
    return attrs.evolve(amount, root=True) if spec["output_divergence"]["type"] == "d-nor" else amount


# --- distances -----------------------------------------------------------------------------------


def _distance(divergence: JsonTable, datasets: list[Bits]) -> Callable[[Bits, Bits], ExactValue]:
    kind = divergence["type"]
    if kind == "hamming-ordered":
        return lambda x, y: ExactValue(Fraction(len(_changed(x, y))))
    if kind in ("hamming", "symmetric-difference"):  # the order is irrelevant: only the number of ones differs
        each = 1 if kind == "hamming" else 2
        return lambda x, y: ExactValue(Fraction(each * abs(sum(x) - sum(y))))
    if kind == "within-distance":
        of, most = _distance(divergence["of"], datasets), read(divergence["most"])
        return lambda x, y: ExactValue(Fraction(x != y)) if x == y or at_most(of(x, y), most) else _INFINITE
    if kind == "personal-weights" and len(divergence["weights"]) == len(datasets[0]):
        weights = [read(weight) for weight in divergence["weights"]]
        if not any(weight.root or weight.infinite for weight in weights):
            return lambda x, y: linear((Fraction(1), weights[place]) for place in _changed(x, y))
    if kind == "neighbour":
        related = _relation(divergence["relation"], datasets)
        return lambda x, y: ExactValue(Fraction(1)) if related(x, y) else _INFINITE
    raise ValueError(f"the distance {kind} is not computed here")


def _changed(x: Bits, y: Bits) -> frozenset[int]:
    return frozenset(place for place, (a, b) in enumerate(zip(x, y, strict=True)) if a != b)


def _relation(relation: JsonTable, datasets: list[Bits]) -> Callable[[Bits, Bits], bool]:
    kind = relation["type"]
    if kind == "differ-in-one-position":
        return lambda x, y: len(_changed(x, y)) == 1
    if kind == "listed-pairs":
        pairs = {frozenset(map(tuple, pair)) for pair in relation["pairs"]}
        return lambda x, y: frozenset((x, y)) in pairs
    if kind == "policy-neighbours" and relation["edges"] in ([["0", "1"]], [["1", "0"]]):
        held = relation.get("constraints", [])

        def related(x: Bits, y: Bits) -> bool:
            """The constraints agree, and no smaller change of x keeps them."""
            kept = [z for z in datasets if z != x and all(_value(c, z) == _value(c, x) for c in held)]
            return y in kept and not any(_changed(x, z) < _changed(x, y) for z in kept)

        return related
    raise ValueError(f"the relation {kind} is not computed here")


# --- calculus of events ---------------------------------------------------------------------------


Inequality = tuple[Fraction, Fraction]
Curve = tuple[tuple[Fraction, Fraction], ...]
"""The knots (q, g(q)) of a concave function, from q = 0 to q = 1."""

ONE_WAY = "mult-one-way"


def follows(before: JsonTable, after: JsonTable) -> tuple[int, tuple[Bits, Bits] | None]:
    """How many ordered pairs the second specification compares, and one of them on which it is not seen to follow."""
    granted, asked = _granted(before), dict(_lines(after, up=False))
    for pair, wanted in asked.items():
        curve = granted.get(pair, ((Fraction(0), Fraction(1)), (Fraction(1), Fraction(1))))  # nothing is granted
        if any(height > ratio * q + slack for q, height in curve for ratio, slack in wanted):
            return len(asked), pair
    return len(asked), None


def _lines(spec: JsonTable, *, up: bool) -> Iterator[tuple[tuple[Bits, Bits], tuple[Inequality, ...]]]:
    """The inequalities for every ordered pair with a finite bound; those of both orders where the divergence is symmetric."""
    divergence, bounds = spec["output_divergence"], ordered_bounds(spec)
    for (x, y), bound in bounds.items():
        both = [bound] if divergence["type"] == ONE_WAY else [bound, bounds[y, x]]
        found = [line for one in both if not one.infinite for line in _of(divergence, one, up)]
        if found or not all(one.infinite for one in both):
            yield (x, y), tuple(found)


def _of(divergence: JsonTable, bound: ExactValue, up: bool) -> list[Inequality]:
    """The lines (r, s) of a divergence at a bound."""
    kind, zero = divergence["type"], ExactValue()
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
        rising = group(divergence, ExactValue(Fraction(int(bound.plain)))) or []
    if not rising:
        raise ValueError("so many steps of the curve are not known here")
    return [((d - b) / (c - a), b - (d - b) / (c - a) * a) for (a, b), (c, d) in itertools.pairwise(rising) if d > b]


def _power(value: ExactValue, up: bool) -> Fraction:
    """e^v of a number of at least 0, rounded up or down where it is not written down."""
    exact = exponential(value)
    if exact is not None:
        return exact
    with ctx.workprec(128):
        if value.infinite or value.ball() > 200:
            raise ValueError("a likelihood ratio that is too large to be written down")
        return max(_dyadic(value.ball().exp(), up), Fraction(1))


def _end(value: ExactValue, up: bool) -> Fraction:
    if not (value.logs or value.root or value.infinite):
        return value.plain
    with ctx.workprec(128):
        return _dyadic(value.ball(), up)


def _dyadic(ball: Any, up: bool) -> Fraction:
    mantissa, exponent = (ball.upper() if up else ball.lower()).man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


# --- functions -----------------------------------------------------------------------------------


def _granted(spec: JsonTable) -> dict[tuple[Bits, Bits], Curve]:
    """g for each ordered pair that paths join."""
    lines = dict(_lines(spec, up=True))
    found: dict[tuple[Bits, Bits], Curve] = {}
    for (x, y), held in lines.items():
        turned = [(1 / ratio, 1 - (1 - slack) / ratio) for ratio, slack in lines.get((y, x), ())]
        if held or turned:
            found[x, y] = _least_of([*held, *turned, (Fraction(0), Fraction(1))])
        if (y, x) not in lines:  # a bound in one order only says something about the complement in the other
            back = [(1 / ratio, 1 - (1 - slack) / ratio) for ratio, slack in held]
            found[y, x] = _least_of([*back, (Fraction(0), Fraction(1))])
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


def _least_of(lines: list[Inequality]) -> Curve:
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


# --- the two rules --------------------------------------------------------------------------------


BLOCKS = ("space", "multiverse", "input_divergence", "output_divergence", "budget")


def pair_by_pair(before: JsonTable, after: JsonTable, parameters: JsonTable, block: str) -> str:
    """What the first specification grants on each pair, along paths under a metric, gives at most what the second one allows."""
    need({"pairs"} <= set(parameters) <= {"pairs", "conversion"}, "the rule has the parameters pairs and conversion")
    changed = [name for name in BLOCKS if before[name] != after[name]]
    need("space" not in changed, "the space must stay the same")
    need(changed[:1] == [block.replace(" ", "_")], f"the first block that changes is not the {block}")
    old, new = before["output_divergence"], after["output_divergence"]
    unchanged = (old["type"], new["type"], None)
    named = parameters.get("conversion")
    if named is not None and (not isinstance(named, str) or named not in ON_PAIRS):
        raise UnknownFormula(f"the checker does not know the conversion {named}")
    source, target, holds = unchanged if named is None else ON_PAIRS[named]
    need((old["type"], new["type"]) == (source, target), f"the conversion leads from {source} to {target}")
    need(holds is not None or old == new, "the output divergence must stay the same")
    rows = list(asked_and_granted(before, after))
    need(parameters["pairs"] == len(rows), f"there are {len(rows)} pairs to compare")
    for granted, allowed in rows:
        if holds is None:
            enough = at_most(granted, allowed)
        elif granted == read(0) and separates_laws(old):
            enough = True  # equal laws
        else:
            given, asked = (x.under() if d["type"] == "d-nor" else x for x, d in ((granted, old), (allowed, new)))
            enough = not granted.infinite and getattr(holds, "enough", holds)(given, old, asked, new)
        need(enough, f"{granted} is granted on a pair, from which {allowed} is not seen to follow")
    return f"{len(rows)} pairs of datasets"


def event_by_event(before: JsonTable, after: JsonTable, parameters: JsonTable, block: str) -> str:
    """No event is likelier anywhere than the second specification allows, by the inequalities of the first one."""
    need(set(parameters) == {"pairs"}, "the rule has the one parameter pairs")
    changed = [name for name in BLOCKS if before[name] != after[name]]
    need("space" not in changed, "the space must stay the same")
    need(changed[:1] == [block.replace(" ", "_")], f"the first block that changes is not the {block}")
    count, open_ = follows(before, after)
    need(type(parameters["pairs"]) is int and parameters["pairs"] == count, f"there are {count} ordered pairs to compare")
    need(open_ is None, f"on {open_} an event that is forbidden is not seen to be")
    return f"every event on {count} ordered pairs of datasets"
