"""The checker's own look at every pair of a small space: what two specifications say about each pair of datasets.

The calculus of events says how likely an event may be at one dataset when its probability at another one is given.

Where a standard is a list of inequalities P(S) <= r Q(S) + s for all events S, what is granted between two datasets is a concave
function g on [0, 1] with P_x(S) <= g(P_y(S)): the least of the lines, and of those of the complement. Along a path functions are
composed, and the least one over all paths is what follows; that no more does need not be known here.

Last come the two rules that look at every pair.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any

import attrs
from flint import ctx

from dpspec_checker.constants import MEASURES, knots_of
from dpspec_checker.conversions import CONVERSIONS, ON_PAIRS, group
from dpspec_checker.numbers import ExactValue, UnknownFormula, at_most, exponential, linear, need, product, read
from dpspec_checker.universes import categories_of, explicit, frozen, of_universe

JsonTable = dict[str, Any]
Dataset = tuple[Any, ...]
"""A vector of bits, or records as tuples of texts: in an order, or sorted where they have none."""
Related = Callable[[Dataset, Dataset], bool]

MOST_DATASETS, MOST_COMPARED = 16, 64
"""Larger spaces are not listed: for paths, and where pairs are compared one by one."""

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


def _paths(spec: JsonTable) -> dict[tuple[Dataset, Dataset], ExactValue]:
    found = _bounds(spec)
    if any(value.root for value in found.values()):  # sums of roots have no exact form here
        return found
    datasets = datasets_of(spec["space"])
    for middle, (x, y) in itertools.product(datasets, itertools.permutations(datasets, 2)):
        if middle not in (x, y) and not (found[x, middle].infinite or found[middle, y].infinite):
            step = linear([(Fraction(1), found[x, middle]), (Fraction(1), found[middle, y])])
            found[x, y] = _least([found[x, y], step])
    return found


def ordered_bounds(spec: JsonTable, most: int = MOST_DATASETS) -> dict[tuple[Dataset, Dataset], ExactValue]:
    """eps_D d(x, x'), the least over the universes that hold both, for every two datasets in order."""
    space, datasets = spec["space"], datasets_of(spec["space"], most)
    if spec["multiverse"].get("type") == "explicit":
        _need_datasets((x for _, held in explicit(spec["multiverse"]) for x in held), datasets)
    labels = {x: list(_labels(spec["multiverse"], x, space)) for x in datasets}
    distance = _distance(spec["input_divergence"], datasets, space)
    return {(x, y): _bound(spec, labels[x], labels[y], distance(x, y)) for x, y in itertools.permutations(datasets, 2)}


def _bounds(spec: JsonTable) -> dict[tuple[Dataset, Dataset], ExactValue]:
    """The bounds where they do not depend on the order of two datasets, or hold in both orders for each."""
    found = ordered_bounds(spec)
    if any(found[x, y] != found[y, x] for x, y in found) and spec["output_divergence"]["type"] not in SYMMETRIC:
        raise UnknownFormula("the bound on two datasets depends on their order")
    return {(x, y): _least([found[x, y], found[y, x]]) for x, y in found}


def datasets_of(space: JsonTable, most: int = MOST_DATASETS) -> list[Dataset]:
    kind = space["type"]
    if kind == "bit-vectors" and 1 <= space["length"] < most.bit_length():
        return list(itertools.product((0, 1), repeat=space["length"]))
    known = kind in ("records", "ordered-records") and not any("within" in attribute for attribute in space["attributes"])
    if known and space.get("most", most) < most:
        found = list(itertools.islice(_of_records(space, most), most + 1))
        if len(found) <= most:
            return found
    raise UnknownFormula(f"the datasets of {kind} are not listed here, or are more than {most}")


def _need_datasets(named: Iterable[Dataset], datasets: list[Dataset]) -> None:
    """Reject what is written otherwise than the datasets of the space are here, and would be equal to none of them."""
    need(set(named) <= set(datasets), "a dataset that is listed is none of the space, or its records are not sorted")


def _of_records(space: JsonTable, most: int) -> Iterator[Dataset]:
    kinds = list(itertools.islice(itertools.product(*map(categories_of, space["attributes"])), most + 1))
    for size in range(space.get("least", 0), space["most"] + 1):
        if space["type"] == "records":
            yield from itertools.combinations_with_replacement(sorted(kinds), size)
        else:
            yield from itertools.product(kinds, repeat=size)


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
        raise UnknownFormula("a budget times a distance has no exact form")
    return _least(exact)


def not_granted(before: JsonTable, after: JsonTable) -> tuple[Dataset, Dataset] | None:
    """Two datasets of a small space that are nearer by the second of two specifications with one output divergence.

    Universes without two datasets at a finite distance compare none.
    """
    granted = ordered_bounds(before, MOST_COMPARED)
    allowed = ordered_bounds(after, MOST_COMPARED)
    return next((pair for pair in allowed if not at_most(granted[pair], allowed[pair])), None)


# --- universes -----------------------------------------------------------------------------------


def _labels(multiverse: JsonTable, x: Dataset, space: JsonTable) -> Iterator[Any]:
    """The labels of the universes of a dataset as files write them: a budget by label or part names no other ones."""
    kind = multiverse.get("type")
    if kind is None:
        yield tuple(_value(invariant, x, space) for invariant in multiverse["invariants"])
    elif kind == "explicit":
        yield from (label for label, held in explicit(multiverse) if x in held)
    elif kind == "one-position" and space["type"] == "bit-vectors":
        yield from ((place, tuple((str(bit),) for bit in (*x[:place], *x[place + 1 :]))) for place in range(len(x)))
    else:
        raise UnknownFormula(f"universes of type {kind} are not listed here")


def _value(invariant: JsonTable, x: Dataset, space: JsonTable) -> Any:
    """The value of an invariant: the cells of a table with a count that is not 0, or the sums of a linear map."""
    is_bits = space["type"] == "bit-vectors"
    names = ["bit"] if is_bits else [a["name"] for a in space["attributes"]]
    is_whole = invariant["type"] == "marginal" and set(invariant) <= {"type", "attributes", "unit"}
    if is_whole and _unit(invariant) == _unit(space) and set(invariant["attributes"]) <= set(names):
        places = [names.index(name) for name in invariant["attributes"]]
        records = [(str(bit),) for bit in x] if is_bits else x
        return tuple(sorted(Counter(tuple(record[place] for place in places) for record in records).items()))
    if invariant["type"] == "linear-map" and is_bits and all(len(row) == len(x) for row in invariant["rows"]):
        return tuple(sum(int(a) * b for a, b in zip(row, x, strict=True)) for row in invariant["rows"])
    raise UnknownFormula(f"{invariant} is not computed here")


def _unit(table: JsonTable) -> str:
    return str(table.get("unit", "person"))


def _of_universe(spec: JsonTable, label: Any) -> ExactValue:
    budget = spec["budget"]
    if budget.get("type") != "by-part":
        return of_universe(spec, label)
    if budget.get("place", 0) != 0:
        raise UnknownFormula("the part is another entry of the label")
    if not isinstance(label, tuple):
        raise UnknownFormula("the label of a universe has no parts")
    rows = [row["value"] for row in budget["values"] if frozen(row["part"]) == label[0]]
    amount = read(rows[0] if rows else budget["otherwise"])
    return attrs.evolve(amount, root=True) if spec["output_divergence"]["type"] == "d-nor" else amount


# --- distances -----------------------------------------------------------------------------------


def _distance(divergence: JsonTable, datasets: list[Dataset], space: JsonTable) -> Callable[[Dataset, Dataset], ExactValue]:
    kind, unit = divergence["type"], _unit(divergence.get("relation", divergence))
    if kind == "within-distance":
        of, most = _distance(divergence["of"], datasets, space), read(divergence["most"])
        return lambda x, y: ExactValue(Fraction(x != y)) if x == y or at_most(of(x, y), most) else _INFINITE
    if kind in ("neighbour", "path"):
        related = _relation(divergence["relation"], datasets, space)
        near = {x: {y for y in datasets if related(x, y)} for x in datasets}
        longest = 1 if kind == "neighbour" else len(datasets)
        return lambda x, y: _steps(x, y, near, longest)
    if unit == _unit(space) and kind == "hamming-ordered" and space["type"] != "records":
        return lambda x, y: ExactValue(Fraction(len(_changed(x, y)))) if len(x) == len(y) else _INFINITE
    if unit == _unit(space) and kind in ("hamming", "symmetric-difference"):  # the order is irrelevant
        return lambda x, y: _exchanged(Counter(x), Counter(y), halved=kind == "hamming")
    if kind == "personal-weights" and {len(divergence["weights"])} == set(map(len, datasets)):
        weights = [read(weight) for weight in divergence["weights"]]
        if not any(weight.root or weight.infinite for weight in weights):
            return lambda x, y: linear((Fraction(1), weights[place]) for place in _changed(x, y))
    raise UnknownFormula(f"the distance {kind} is not computed here")


def _changed(x: Dataset, y: Dataset) -> frozenset[int]:
    return frozenset(place for place, (a, b) in enumerate(zip(x, y, strict=True)) if a != b)


def _exchanged(ours: Counter[Any], theirs: Counter[Any], *, halved: bool) -> ExactValue:
    gone, come = (ours - theirs).total(), (theirs - ours).total()
    if not halved:
        return ExactValue(Fraction(gone + come))
    return ExactValue(Fraction(gone)) if gone == come else _INFINITE


def _steps(x: Dataset, y: Dataset, near: dict[Dataset, set[Dataset]], longest: int) -> ExactValue:
    """The length of a shortest path of neighbours, where it is at most `longest`."""
    reached = {x}
    for count in range(longest + 1):
        if y in reached:
            return ExactValue(Fraction(count))
        reached |= {z for w in reached for z in near[w]}
    return _INFINITE


def _relation(relation: JsonTable, datasets: list[Dataset], space: JsonTable) -> Related:
    kind = relation["type"]
    if kind in MEASURES:
        far = _distance({**relation, "type": MEASURES[kind]}, datasets, space)
        return lambda x, y: far(x, y) == ExactValue(Fraction(1))
    if kind == "listed-pairs":
        pairs = {frozenset(map(frozen, pair)) for pair in relation["pairs"]}
        _need_datasets(itertools.chain.from_iterable(pairs), datasets)
        return lambda x, y: frozenset((x, y)) in pairs
    if kind == "policy-neighbours" and space["type"] == "bit-vectors" and relation["edges"] in ([["0", "1"]], [["1", "0"]]):
        held = relation.get("constraints", [])

        def related(x: Dataset, y: Dataset) -> bool:
            """The constraints agree, and no smaller change of x keeps them."""
            kept = [z for z in datasets if z != x and all(_value(c, z, space) == _value(c, x, space) for c in held)]
            return y in kept and not any(_changed(x, z) < _changed(x, y) for z in kept)

        return related
    raise UnknownFormula(f"the relation {kind} is not computed here")


# --- calculus of events ---------------------------------------------------------------------------


Inequality = tuple[Fraction, Fraction]
Curve = tuple[tuple[Fraction, Fraction], ...]
"""The knots (q, g(q)) of a concave function, from q = 0 to q = 1."""

ONE_WAY = "mult-one-way"


def follows(before: JsonTable, after: JsonTable) -> tuple[int, tuple[Dataset, Dataset] | None]:
    """How many ordered pairs the second specification compares, and one of them on which it is not seen to follow."""
    granted, asked = _granted(before), dict(_lines(after, up=False))
    for pair, wanted in asked.items():
        curve = granted.get(pair, ((Fraction(0), Fraction(1)), (Fraction(1), Fraction(1))))  # nothing is granted
        if any(height > ratio * q + slack for q, height in curve for ratio, slack in wanted):
            return len(asked), pair
    return len(asked), None


def _lines(spec: JsonTable, *, up: bool) -> Iterator[tuple[tuple[Dataset, Dataset], tuple[Inequality, ...]]]:
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
        raise UnknownFormula(f"{kind} is not seen on single events here")
    if bound.logs or bound.root or knots_of(divergence) is None:
        raise UnknownFormula("the steps of the curve are not known here")
    rising = [(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))]  # no step: equal laws
    if bound.plain >= 1:
        rising = group(divergence, ExactValue(Fraction(int(bound.plain)))) or []
    if not rising:
        raise UnknownFormula("so many steps of the curve are not known here")
    return [((d - b) / (c - a), b - (d - b) / (c - a) * a) for (a, b), (c, d) in itertools.pairwise(rising) if d > b]


def _power(value: ExactValue, up: bool) -> Fraction:
    """e^v of a number of at least 0, rounded up or down where it is not written down."""
    exact = exponential(value)
    if exact is not None:
        return exact
    with ctx.workprec(128):
        if value.infinite or value.ball() > 200:
            raise UnknownFormula("a likelihood ratio that is too large to be written down")
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


def _granted(spec: JsonTable) -> dict[tuple[Dataset, Dataset], Curve]:
    """g for each ordered pair that paths join."""
    lines = dict(_lines(spec, up=True))
    found: dict[tuple[Dataset, Dataset], Curve] = {}
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
            if not enough and named not in CONVERSIONS:
                raise UnknownFormula(f"the checker does not follow {named} to {allowed}")
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
