"""The changes of one record that preserve the invariants, up to what views of the records can distinguish.

Let n(x) be the counts of the records of a unit by their kinds, and v = n(x') - n(x) for two datasets of one universe. Invariants
that are tables of counts say that v adds up to 0 in each of their cells. Cells are sets of kinds; a family of them is *laminar*
when any two are disjoint or one lies in the other. The *signature* of a kind is the set of cells of the family that it lies in.

    Lemma. If the cells of the invariants are laminar, v is a sum of changes of one record, each of which keeps the invariants:
    one record replaced by another of the same signature, or, where the signature is empty, one record added or removed. As many
    records go and come in all of them together as in v.

    Proof. The kinds of one signature are a cell without the cells inside it, so v adds up to 0 over them: pair the records that
    come with those that go. Over the kinds of no cell v may be anything: what is left over there is added or removed.

The lemma holds for datasets of any number of records and for kinds that are too many to list. Where the invariants are not
laminar, it holds for a laminar part of them, which allows more changes: what is an upper bound there is one for all of them.

A change of one record is represented by a *pattern*: for each attribute whether it keeps its category, and which of the
categories that conditions single out it has before and after. All changes of one pattern look the same to every view. There are a
few patterns for each attribute, however many categories it has.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache

import attrs

from dpspec.base.errors import NotInSpaceError
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.parts import Changes, nesting_of
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace, Record
from dpspec.grammar.structure import CountChanges, View

Where = tuple[tuple[str, tuple[str, ...]], ...]
"""The conditions of a table: for some attributes, the categories that are counted."""

CategoryClass = tuple[bool, ...]
"""Of a category: for each set of categories that some condition names, whether it is in it."""

MOST_PATTERNS = 200_000
"""At most so many patterns of attributes that lie in each other are listed one by one, in a search for pairs."""


@attrs.frozen
class AttributeChange:
    """The change of one attribute: whether its category stays, and the class of the one before and after."""

    equal: bool
    before: CategoryClass
    after: CategoryClass


Pattern = Mapping[str, AttributeChange]

Sides = tuple[bool, bool, bool]
"""A change as read by a table: whether the record meets the conditions before, and after, and whether its cell stays."""


@attrs.frozen
class SeenAttributes:
    """The attributes of a unit that tables look at, with the conditions on them.

    Args:
        attributes: by name, in the order of the records; an attribute comes with all that it lies within.
        named: for each attribute the sets of categories that the conditions name.
    """

    attributes: Mapping[str, Attribute]
    named: Mapping[str, tuple[frozenset[str], ...]]
    _places: dict[Where, tuple[tuple[str, int], ...]] = attrs.field(factory=dict, init=False, eq=False, repr=False)
    _options: dict[tuple[str, AttributeChange | None], list[AttributeChange]] = attrs.field(
        factory=dict, init=False, eq=False, repr=False
    )

    @classmethod
    def of(
        cls, tables: Iterable[Marginal], space: DatasetSpace, unit: str,
        singled: Iterable[Mapping[str, tuple[frozenset[str], ...]]] = (),
    ) -> SeenAttributes:  # fmt: skip
        """The attributes that some of the tables read, or of which further sets of categories matter."""
        known = {a.name: a for a in space.attributes_of(unit)}
        named: dict[str, dict[frozenset[str], None]] = {}
        for table in tables:
            conditions = dict(table.where)
            for name in _with_outer((*table.attributes, *conditions), known):
                named.setdefault(name, {})
            for attribute, categories in conditions.items():
                named[attribute][frozenset(categories)] = None
        for sets in singled:
            for attribute, chosen in sets.items():
                for name in _with_outer((attribute,), known):
                    named.setdefault(name, {})
                named[attribute].update(dict.fromkeys(chosen))
        return cls(
            attributes={name: a for name, a in known.items() if name in named},
            named={name: tuple(sets) for name, sets in named.items()},
        )

    def classes(self, name: str) -> dict[CategoryClass, int]:
        """The number of categories of an attribute in each class, at most 2; those that nothing names come first."""
        attribute, sets = self.attributes[name], self.named[name]
        singled = sorted(frozenset().union(*sets))
        others = attribute.size - len(singled)
        counted: dict[CategoryClass, int] = {(False,) * len(sets): others} if others else {}
        for category in singled:
            of = tuple(category in one for one in sets)
            counted[of] = counted.get(of, 0) + 1
        return {of: min(many, 2) for of, many in counted.items()}

    def class_of(self, name: str, category: Hashable) -> CategoryClass:
        """The class of one category."""
        return tuple(category in one for one in self.named[name])

    def lies_within(self, name: str, of: CategoryClass, outer: CategoryClass) -> bool:
        """Whether a category of one class can lie in one of a class of the coarser attribute; True where that is not known."""
        attribute = self.attributes[name]
        coarser = self.attributes[str(attribute.within)]
        listed = attribute.categories or (sorted(frozenset().union(*self.named[name])) if any(of) else None)
        return listed is None or any(
            self.class_of(name, c) == of and self.class_of(coarser.name, attribute.parent(c, coarser)) == outer for c in listed
        )

    def inside(self, table: Marginal, pattern: Pattern, side: Callable[[AttributeChange], CategoryClass]) -> bool:
        """Whether the record meets the conditions of a table, before or after the change."""
        places = self._places.get(table.where)
        if places is None:
            places = tuple((name, self.named[name].index(frozenset(categories))) for name, categories in table.where)
            self._places[table.where] = places
        return all(side(pattern[name])[place] for name, place in places)

    def moved_with(self, table: Marginal, every: Sequence[Attribute]) -> set[str]:
        """The attributes that the attributes of a table determine or restrict: those they lie within, and those that lie in
        them."""
        known = {a.name: a for a in every}
        looked = _with_outer((*table.attributes, *(name for name, _ in table.where)), known)
        return {name for name in known if _with_outer((name,), known) & looked}

    def roots(self) -> tuple[str, ...]:
        """The attributes that lie within none."""
        return tuple(name for name, a in self.attributes.items() if a.within is None)

    def inner(self, name: str) -> tuple[str, ...]:
        """The attributes that lie directly within one."""
        return tuple(other for other, a in self.attributes.items() if a.within == name)


# --- patterns -------------------------------------------------------------------------------------


def replacements(columns: SeenAttributes) -> Iterator[Pattern]:
    """Every pattern of one record replaced by another; some may be those of no two records.

    None is missing, unless attributes that lie in each other have more than `MOST_PATTERNS` patterns.
    """
    trees = (list(itertools.islice(_below(name, None, columns), MOST_PATTERNS)) for name in columns.roots())
    for parts in itertools.product(*trees):
        yield {name: kept for part in parts for name, kept in part.items()}


def _below(name: str, outer: AttributeChange | None, columns: SeenAttributes) -> Iterator[dict[str, AttributeChange]]:
    """The possible changes of an attribute and of those within it, given the change of the one that it lies within."""
    for kept in options_of(name, outer, columns):
        inner = [list(_below(other, kept, columns)) for other in columns.inner(name)]
        for parts in itertools.product(*inner):
            yield {name: kept, **{other: k for part in parts for other, k in part.items()}}


def options_of(name: str, outer: AttributeChange | None, columns: SeenAttributes) -> list[AttributeChange]:
    """The possible changes of an attribute by itself, given the change of the one that it lies within; no change comes first."""
    key = name, outer
    known = columns._options.get(key)
    if known is not None:
        return known
    classes = columns.classes(name)
    before, after = list(classes), list(classes)
    if outer is not None:
        before = [of for of in classes if columns.lies_within(name, of, outer.before)]
        after = [of for of in classes if columns.lies_within(name, of, outer.after)]
    options = [AttributeChange(True, of, of) for of in before] if outer is None or outer.equal else []
    if (outer is not None and not outer.equal) or _has_siblings(columns.attributes[name], columns):
        options += [AttributeChange(False, b, a) for b in before for a in after if b != a or classes[b] > 1]
    columns._options[key] = options
    return options


def farthest(columns: SeenAttributes, *, is_added: bool = False) -> Iterator[Pattern]:
    """The patterns of `replacements`, those first in which the fewest attributes keep their category.

    Args:
        columns: the attributes.
        is_added: whether only those of a record that stays what it is are given.
    """
    trees: list[list[tuple[int, int, dict[str, AttributeChange]]]] = []
    for name in columns.roots():
        parts = itertools.islice(_below(name, None, columns), MOST_PATTERNS)
        ranked = ((sum(kept.equal for kept in part.values()), place, part) for place, part in enumerate(parts))
        trees.append(sorted((row for row in ranked if not is_added or row[0] == len(row[2])), key=lambda row: row[:2]))
    if not all(trees):
        return
    first = (0,) * len(trees)
    waiting = [_ranked(first, trees)]
    while waiting:
        _, _, chosen = heapq.heappop(waiting)
        yield {name: kept for tree, place in zip(trees, chosen, strict=True) for name, kept in tree[place][2].items()}
        last = max((place for place, index in enumerate(chosen) if index), default=0)
        for place in range(last, len(trees)):  # each choice comes from one other only: the one that is less in its last place
            if chosen[place] + 1 < len(trees[place]):
                waiting_next = (*chosen[:place], chosen[place] + 1, *chosen[place + 1 :])
                heapq.heappush(waiting, _ranked(waiting_next, trees))


def _ranked(
    chosen: tuple[int, ...], trees: Sequence[Sequence[tuple[int, int, object]]]
) -> tuple[int, tuple[int, ...], tuple[int, ...]]:  # fmt: skip
    rows = [tree[place] for tree, place in zip(trees, chosen, strict=True)]
    return sum(row[0] for row in rows), tuple(row[1] for row in rows), chosen


def _has_siblings(attribute: Attribute, columns: SeenAttributes) -> bool:
    """Whether two categories may lie in one category of the coarser attribute."""
    if attribute.within is None:
        return attribute.size > 1
    if attribute.parents:
        return len(set(attribute.parents)) < len(attribute.parents)
    return attribute.size > columns.attributes[attribute.within].size


def sides_of(table: Marginal, pattern: Pattern, columns: SeenAttributes) -> Sides:
    """A pattern as read by a table."""
    before = columns.inside(table, pattern, lambda kept: kept.before)
    after = columns.inside(table, pattern, lambda kept: kept.after)
    return before, after, all(pattern[name].equal for name in table.attributes)


def seen_by(table: Marginal, pattern: Pattern, columns: SeenAttributes) -> CountChanges:
    """By how much a replacement changes the counts of a table."""
    return counts_of(sides_of(table, pattern, columns), is_added=False)


def counts_of(sides: Sides, *, is_added: bool) -> CountChanges:
    """By how much a change of a record, replaced or added, changes the counts of a table."""
    before, after, same = sides
    if is_added:
        return (1,) if after else ()
    if before and after and same:
        return ()
    return (*((-1,) if before else ()), *((1,) if after else ()))


def read_by(view: View) -> tuple[Marginal, ...]:
    """The tables that a view reads: its own, and its parts."""
    return view.table, *view.parts()


def change_of(sides: Sequence[Sides], *, is_added: bool) -> CountChanges:
    """By how much a change moves the counts that a view reads: those of the cells of its table, or of each of its parts.

    Args:
        sides: what each table of `read_by` sees.
        is_added: whether a record is added.
    """
    own, *parts = sides
    if not parts:
        return counts_of(own, is_added=is_added)
    moved = tuple(int(own[1] and part[1]) - int(not is_added and own[0] and part[0]) for part in parts)
    return moved if any(moved) else ()


# --- laminar families -----------------------------------------------------------------------------


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


def _with_outer(names: Iterable[str], known: Mapping[str, Attribute]) -> set[str]:
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
    visible = _with_outer(fine.attributes, known)
    ours = {name: set(categories) for name, categories in fine.where}
    fixed = visible | {name for name, categories in ours.items() if len(categories) == 1}
    admitted = all(
        name in fixed or (name in ours and (ours[name] <= set(categories) or not ours[name] & set(categories)))
        for name, categories in coarse.where
    )
    return admitted and set(coarse.attributes) <= fixed


# --- records of a pattern -------------------------------------------------------------------------


TRIED = 40
"""The number of categories of an attribute that are tried where a pattern requires one."""


def records_of(pattern: Pattern, columns: SeenAttributes, space: DatasetSpace, unit: str) -> tuple[Record, Record] | None:
    """Two records with a pattern; None where none are found among the first categories.

    Where it changes nothing that a table looks at, they differ in what no table looks at, if there is such an attribute.
    """
    part = Changes.found_in(space)
    if part is None:
        return None
    every = {a.name: a for a in space.attributes_of(unit)}
    vary = all(kept.equal for kept in pattern.values())
    choice = _Choice(pattern=pattern, columns=columns, known=every, part=part, vary=vary)
    chosen: dict[str, tuple[Hashable, Hashable]] = {}
    trees: dict[str, list[str]] = {}
    for name in _outer_first(every):
        root = name
        while (outer := every[root].within) is not None:
            root = outer
        trees.setdefault(root, []).append(name)
    for names in trees.values():  # what lies within different ones is independent
        found = choice.completed(names, {})
        if found is None:
            return None
        chosen |= found
    return tuple(chosen[name][0] for name in every), tuple(chosen[name][1] for name in every)


def _outer_first(known: Mapping[str, Attribute]) -> list[str]:
    def depth(name: str) -> int:
        within = known[name].within
        return 0 if within is None else 1 + depth(within)

    return sorted(known, key=depth)


ChosenValues = Mapping[str, tuple[Hashable, Hashable]]


@attrs.frozen(kw_only=True)
class _Choice:
    """Values before and after for each attribute, one attribute after the other; back where an inner one finds none."""

    pattern: Pattern
    columns: SeenAttributes
    known: Mapping[str, Attribute]
    part: Changes
    vary: bool

    def completed(self, order: Sequence[str], chosen: ChosenValues) -> ChosenValues | None:
        """The first complete choice that goes on from one for the outer attributes."""
        if not order:
            return chosen
        name, *rest = order
        for pair in self._pairs(self.known[name], chosen):
            found = self.completed(rest, {**chosen, name: pair})
            if found is not None:
                return found
        return None

    def _pairs(self, attribute: Attribute, chosen: ChosenValues) -> list[tuple[Hashable, Hashable]]:
        kept = self.pattern.get(attribute.name)
        before, after = (self._values(attribute, kept, side, chosen) for side in (0, 1))
        if kept is None:  # no table looks at it: it only has to lie within what was chosen
            same = attribute.within is None or len(set(chosen[attribute.within])) == 1
            if self.vary and same and len(before) > 1:
                return [(before[0], before[1])]
            return [(value, value) for value in before[:1]] if same else list(zip(before[:1], after[:1], strict=False))
        if kept.equal:
            return [(value, value) for value in before if value in after]
        return [(one, two) for one in before for two in after if one != two][: 2 * TRIED]

    def _values(self, attribute: Attribute, kept: AttributeChange | None, side: int, chosen: ChosenValues) -> list[Hashable]:
        """The first categories that fit the pattern on one side, inside the category chosen for the coarser attribute."""
        outer = None if attribute.within is None else self.known[attribute.within]
        asked = () if kept is None else (kept.before, kept.after)[side]
        sets = self.columns.named.get(attribute.name, ())
        if any(asked):  # few categories, which may be far from the first
            singled = (c for c in sorted(frozenset().union(*sets)) if self.columns.class_of(attribute.name, c) == asked)
            return [c for c in singled if outer is None or attribute.parent(c, outer) == chosen[outer.name][side]]
        values: Iterator[Hashable] = (
            self.part.few_values(attribute) if outer is None else attribute.children(str(chosen[outer.name][side]), outer)
        )
        return list(itertools.islice((value for value in values if not any(value in one for one in sets)), TRIED))


def pairs_of(
    gone: tuple[Record, ...], come: tuple[Record, ...], space: DatasetSpace, unit: str
) -> Iterator[tuple[Dataset, Dataset]]:
    """Datasets of the space that differ in these records."""
    part = Changes.found_in(space)
    for left, right in () if part is None else part.differing(unit, gone, come):
        try:
            yield space.dataset(left), space.dataset(right)
        except NotInSpaceError:
            continue


# --- records inside the one that changes ------------------------------------------------------------

MOST_MEMBERS = 24
"""More members than this fall into cells in more ways than are looked through."""


@attrs.frozen(kw_only=True)
class MemberView:
    """A view of smaller records, as a change of one larger record sees it.

    Args:
        outer: what its table looks at in the larger record.
        cells: the number of cells into which the members of one larger record can fall.
        most, in_cell: so many members of a larger record are counted at most, in all and in one cell.
        is_monotone: whether only the largest changes matter.
    """

    outer: Marginal
    cells: int
    most: int
    in_cell: int
    is_monotone: bool

    @classmethod
    def of(cls, view: View, space: DatasetSpace, unit: str) -> MemberView | None:
        """The view as larger records see it; None where one of them may hold any number of members."""
        largest = nesting_of(space).most_within(view.table.unit, unit)
        limits = [limit for limit in (largest, view.most) if limit is not None]
        in_cell, own = view.most_in_cell(space), _cells(view.table, space, unit)
        if not limits and in_cell is not None and own is not None:
            limits = [in_cell * own]
        if not limits:
            return None
        most = min(limits)
        return cls(
            outer=outer_part(view.table, space, unit),
            cells=2 * most if own is None else min(own, 2 * most),
            most=most,
            in_cell=most if in_cell is None else in_cell,
            is_monotone=view.tells_more_by_more,
        )

    @property
    def ways(self) -> int | None:
        """A bound of the number of `changes`; None where there are too many to count."""
        if self.cells > 1 and self.most > MOST_MEMBERS:
            return None
        sizes = (self.most,) if self.is_monotone else range(self.most + 1)
        each = [sum(len(partitions(size, cells, self.in_cell)) for size in sizes) for cells in range(self.cells + 1)]
        return each[-1] ** 2

    def changes(self, sides: Sides, *, kept: bool, is_added: bool) -> list[CountChanges]:
        """The ways in which a change of the larger record may change the counts; those that others dominate are left out.

        Args:
            sides: what `outer` sees of the change.
            kept: whether something reads the members as a whole, and they stay what they are.
            is_added: whether the larger record is added.
        """
        inside, same = sides[:2], sides[2]
        if is_added:
            return self._signed(1) if inside[1] else [()]
        if inside[0] and inside[1] and same:
            return [()] if kept else self._exchanged()
        gone, come = (self._signed(sign) if met else [()] for sign, met in zip((-1, 1), inside, strict=True))
        if kept and inside[0] and inside[1]:
            return sorted({_sorted((*(-part for part in parts), *parts)) for parts in self._partitions(self.cells)})
        return sorted({_sorted((*one, *two)) for one in gone for two in come})

    def _signed(self, sign: int) -> list[CountChanges]:
        return sorted({_sorted(tuple(sign * part for part in parts)) for parts in self._partitions(self.cells)})

    def _exchanged(self) -> list[CountChanges]:
        """Members that go from some of the cells, and others that come to the rest of them."""
        found = set()
        for cells in range(self.cells + 1):
            for gone in self._partitions(cells):
                for come in self._partitions(self.cells - cells):
                    found.add(_sorted((*(-part for part in gone), *come)))
        return sorted(found)

    def _partitions(self, cells: int) -> Iterator[CountChanges]:
        """The distributions of members over some cells."""
        total = min(self.most, self.in_cell * cells)
        for number in (total,) if self.is_monotone else range(total + 1):
            yield from partitions(number, cells, self.in_cell)


def _sorted(changes: Sequence[int]) -> CountChanges:
    return tuple(sorted(changes))


@cache
def partitions(number: int, parts: int, largest: int) -> tuple[CountChanges, ...]:
    """A number as a sum of at most so many positive parts, none larger than `largest`, each sum once.

    >>> partitions(4, 2, 3)
    ((3, 1), (2, 2))
    """
    if number == 0:
        return ((),)
    if parts == 0:
        return ()
    firsts = range(min(number, largest), 0, -1)
    return tuple(itertools.chain.from_iterable(
        ((first, *rest) for rest in partitions(number - first, parts - 1, first)) for first in firsts
    ))  # fmt: skip


def outer_part(table: Marginal, space: DatasetSpace, unit: str) -> Marginal:
    """The conditions and attributes of a table of smaller records that concern the larger record that contains them."""
    known = {a.name for a in space.attributes_of(unit)}
    where = tuple((name, categories) for name, categories in table.where if name in known)
    return Marginal(attributes=tuple(name for name in table.attributes if name in known), unit=unit, where=where)


def _cells(table: Marginal, space: DatasetSpace, unit: str) -> int | None:
    """Into how many cells the members of one larger record can fall, or more; None where they cannot be counted."""
    outer, where, found = {a.name for a in space.attributes_of(unit)}, dict(table.where), 1
    for attribute in space.attributes_of(table.unit):
        if attribute.name in table.attributes and attribute.name not in outer:
            found *= len(where[attribute.name]) if attribute.name in where else attribute.size
    return found
