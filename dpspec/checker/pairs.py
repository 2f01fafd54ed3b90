"""The checker's own list of a small space of bit vectors: what two specifications say about each pair of datasets."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import attrs

from dpspec.checker.numbers import Value, at_most, linear, product, read
from dpspec.checker.universes import explicit, of_universe

Table = dict[str, Any]
Bits = tuple[int, ...]

MOST_DATASETS = 16
"""Larger spaces are not listed."""

METRICS = ("mult", "mult-one-way", "d-nor", "total-variation", "gaussian-trade-off", "trade-off")
"""The output divergences that are known to obey the triangle inequality."""

SYMMETRIC = ("mult", "mult-delta", "d-nor", "total-variation", "gaussian-trade-off", "trade-off", "renyi", "hockey-stick")


def separates_laws(divergence: Table) -> bool:
    """Whether only equal laws are at 0 from each other, so that a bound of 0 asks for equal laws."""
    kind = divergence["type"]
    if kind in ("mult-delta", "hockey-stick"):
        return read(divergence["delta" if kind == "mult-delta" else "epsilon"]) == Value()
    if kind == "f-divergence":  # which are strictly convex, or bend at 1
        return bool(divergence["generator"] != "piecewise-linear")
    return kind in ("mult", "mult-one-way", "d-nor", "renyi", "total-variation", "gaussian-trade-off", "trade-off")


_INFINITE = Value(infinite=True)


def asked_and_granted(before: Table, after: Table) -> Iterator[tuple[Value, Value]]:
    """For every pair with a finite bound in the second specification: what the first one grants, and that bound.

    Bounds that hold in one order of the two datasets hold in both, and along paths under a metric between laws.
    """
    granted = _paths(before) if before["output_divergence"]["type"] in METRICS else _bounds(before)
    for (x, y), allowed in _bounds(after).items():
        if x < y and not allowed.infinite:
            yield granted[x, y], allowed


def _paths(spec: Table) -> dict[tuple[Bits, Bits], Value]:
    found = _bounds(spec)
    if any(value.root for value in found.values()):  # sums of roots have no exact form here
        return found
    datasets = datasets_of(spec["space"])
    for middle, (x, y) in itertools.product(datasets, itertools.permutations(datasets, 2)):
        if middle not in (x, y) and not (found[x, middle].infinite or found[middle, y].infinite):
            step = linear([(Fraction(1), found[x, middle]), (Fraction(1), found[middle, y])])
            found[x, y] = _least([found[x, y], step])
    return found


def ordered_bounds(spec: Table) -> dict[tuple[Bits, Bits], Value]:
    """eps_D d(x, x'), the least over the universes that hold both, for every two datasets in order."""
    datasets = datasets_of(spec["space"])
    labels = {x: list(_labels(spec["multiverse"], x)) for x in datasets}
    distance = _distance(spec["input_divergence"], datasets)
    return {(x, y): _bound(spec, labels[x], labels[y], distance(x, y)) for x, y in itertools.permutations(datasets, 2)}


def _bounds(spec: Table) -> dict[tuple[Bits, Bits], Value]:
    """The bounds where they do not depend on the order of two datasets, or hold in both orders for each."""
    found = ordered_bounds(spec)
    if any(found[x, y] != found[y, x] for x, y in found) and spec["output_divergence"]["type"] not in SYMMETRIC:
        raise ValueError("the bound on two datasets depends on their order")
    return {(x, y): _least([found[x, y], found[y, x]]) for x, y in found}


def datasets_of(space: Table) -> list[Bits]:
    if space["type"] != "bit-vectors" or not 1 <= space["length"] <= 4:
        raise ValueError(f"the datasets of {space['type']} are not listed here, or are more than {MOST_DATASETS}")
    return list(itertools.product((0, 1), repeat=space["length"]))


def _least(values: list[Value]) -> Value:
    return next(a for a in values if all(at_most(a, b) for b in values))


def _bound(spec: Table, ours: list[Any], theirs: list[Any], distance: Value) -> Value:
    shared = [label for label in ours if label in theirs]
    if not shared or distance.infinite:
        return _INFINITE
    found = [product(_of_universe(spec, label), distance) for label in shared]
    if distance == Value():
        return distance
    exact = [value for value in found if value is not None]
    if len(exact) < len(found):
        raise ValueError("a budget times a distance has no exact form")
    return _least(exact)


# --- universes -----------------------------------------------------------------------------------


def _labels(multiverse: Table, x: Bits) -> Iterator[Any]:
    kind = multiverse.get("type")
    if kind is None:
        yield tuple(_value(invariant, x) for invariant in multiverse["invariants"])
    elif kind == "explicit":
        yield from (label for label, held in explicit(multiverse) if x in held)
    elif kind == "one-position":
        yield from ((place, x[:place] + x[place + 1 :]) for place in range(len(x)))
    else:
        raise ValueError(f"universes of type {kind} are not listed here")


def _value(invariant: Table, x: Bits) -> Any:
    """The value of an invariant: the number of ones, or of linear maps."""
    if invariant["type"] == "marginal" and set(invariant) <= {"type", "attributes", "unit"}:
        return sum(x) if invariant["attributes"] == ["bit"] else 0 if invariant["attributes"] == [] else _no(invariant)
    if invariant["type"] == "linear-map" and all(len(row) == len(x) for row in invariant["rows"]):
        return tuple(sum(int(a) * b for a, b in zip(row, x, strict=True)) for row in invariant["rows"])
    return _no(invariant)


def _no(invariant: Table) -> Any:
    raise ValueError(f"{invariant} is not computed here")


def _of_universe(spec: Table, label: Any) -> Value:
    budget = spec["budget"]
    if budget.get("type") != "by-part":
        return of_universe(spec, label)
    if budget.get("place", 0) != 0:
        raise ValueError("the part is another entry of the label")
    rows = [row["value"] for row in budget["values"] if row["part"] == label[0]]
    amount = read(rows[0] if rows else budget["otherwise"])
    return attrs.evolve(amount, root=True) if spec["output_divergence"]["type"] == "d-nor" else amount


# --- distances -----------------------------------------------------------------------------------


def _distance(divergence: Table, datasets: list[Bits]) -> Callable[[Bits, Bits], Value]:
    kind = divergence["type"]
    if kind == "hamming-ordered":
        return lambda x, y: Value(Fraction(len(_changed(x, y))))
    if kind in ("hamming", "symmetric-difference"):  # the order is not looked at: what differs is the number of ones
        each = 1 if kind == "hamming" else 2
        return lambda x, y: Value(Fraction(each * abs(sum(x) - sum(y))))
    if kind == "within-distance":
        of, most = _distance(divergence["of"], datasets), read(divergence["most"])
        return lambda x, y: Value(Fraction(x != y)) if x == y or at_most(of(x, y), most) else _INFINITE
    if kind == "personal-weights" and len(divergence["weights"]) == len(datasets[0]):
        weights = [read(weight) for weight in divergence["weights"]]
        if not any(weight.root or weight.infinite for weight in weights):
            return lambda x, y: linear((Fraction(1), weights[place]) for place in _changed(x, y))
    if kind == "neighbour":
        related = _relation(divergence["relation"], datasets)
        return lambda x, y: Value(Fraction(1)) if related(x, y) else _INFINITE
    raise ValueError(f"the distance {kind} is not computed here")


def _changed(x: Bits, y: Bits) -> frozenset[int]:
    return frozenset(place for place, (a, b) in enumerate(zip(x, y, strict=True)) if a != b)


def _relation(relation: Table, datasets: list[Bits]) -> Callable[[Bits, Bits], bool]:
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
