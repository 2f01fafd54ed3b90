"""Laminar families of invariants: tables whose cells are disjoint or lie in one another.

Where the invariants are not laminar, a laminar part of them allows more changes, so that an upper bound there is one for all.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from dpspec.blocks.invariant import Marginal
from dpspec.blocks.space import Attribute, DatasetSpace

MOST_FAMILIES = 32
"""The largest number of laminar parts of the invariants that are tried; each of them bounds the constant."""


def laminar_parts(
    tables: Sequence[Marginal], space: DatasetSpace, unit: str, read: Callable[[Marginal], bool] = lambda _: True
) -> list[tuple[Marginal, ...]]:  # fmt: skip
    """Largest laminar parts of some tables, one of them all where that is laminar; without tables the empty one.

    Args:
        tables: the tables.
        space: the dataset space.
        unit: the unit of the tables.
        read: whether a table can matter. Those that cannot are put to a part where they fit, and few make parts of
            their own.
    """
    known = {a.name: a for a in space.attributes_of(unit)}
    matter = [table for table in tables if read(table)]
    alike = dict[tuple[bool, frozenset[Marginal]], Marginal]()
    for table in tables:  # for the other tables: whether records may be added elsewhere, and to which parts they fit
        if not read(table):
            fitting = frozenset(other for other in matter if _are_nested(table, other, known))
            alike.setdefault((bool(table.where), fitting), table)
    matter += alike.values()
    near: list[set[int]] = [set() for _ in matter]
    for (i, one), (j, other) in itertools.combinations(enumerate(matter), 2):
        if _are_nested(one, other, known):
            near[i].add(j)
            near[j].add(i)
    cliques = sorted(itertools.islice(_cliques(near), MOST_FAMILIES), key=lambda clique: (-len(clique), clique))
    found = []
    for clique in cliques:
        part = dict.fromkeys(matter[place] for place in clique)
        for table in tables:
            if not read(table) and all(_are_nested(table, other, known) for other in part):
                part[table] = None
        found.append(tuple(table for table in tables if table in part))
    return found


def _cliques(near: Sequence[set[int]]) -> Iterator[tuple[int, ...]]:
    """The largest sets of places that are all near each other (Bron and Kerbosch 1973)."""
    waiting: list[tuple[tuple[int, ...], set[int], set[int]]] = [((), set(range(len(near))), set())]
    while waiting:
        clique, candidates, done = waiting.pop()
        if not candidates and not done:
            yield tuple(sorted(clique))
            continue
        pivot = max(candidates | done, key=lambda place: len(near[place] & candidates))
        for place in sorted(candidates - near[pivot]):
            waiting.append(((*clique, place), candidates & near[place], done & near[place]))
            candidates = candidates - {place}
            done = done | {place}


def _are_nested(one: Marginal, other: Marginal, known: Mapping[str, Attribute]) -> bool:
    """Whether any cell of the one table and any of the other are seen to be disjoint, or one to lie in the other."""
    ours, theirs = dict(one.where), dict(other.where)
    if any(not set(ours[name]) & set(theirs[name]) for name in ours.keys() & theirs.keys()):
        return True
    return _refines(one, other, known) or _refines(other, one, known)


def with_outer(names: Iterable[str], known: Mapping[str, Attribute]) -> set[str]:
    """Attributes with all that they lie within."""
    found: set[str] = set()
    for name in names:
        outer: str | None = name
        while outer is not None:
            found.add(outer)
            outer = known[outer].within
    return found


def _refines(fine: Marginal, coarse: Marginal, known: Mapping[str, Attribute]) -> bool:
    """Whether each cell of the fine table is seen to lie in a cell of the coarse one, or outside all of them."""
    visible = with_outer(fine.attributes, known)
    ours = {name: set(categories) for name, categories in fine.where}
    fixed = visible | {name for name, categories in ours.items() if len(categories) == 1}
    admitted = all(
        name in fixed or (name in ours and (ours[name] <= set(categories) or not ours[name] & set(categories)))
        for name, categories in coarse.where
    )
    return admitted and set(coarse.attributes) <= fixed
