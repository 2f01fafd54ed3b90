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

import attrs

from dpspec.base.errors import NotInSpaceError
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.parts import Changes
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace, Record
from dpspec.grammar.views import CountChanges, View
from dpspec.verifier.laminar import with_outer

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
            for name in with_outer((*table.attributes, *conditions), known):
                named.setdefault(name, {})
            for attribute, categories in conditions.items():
                named[attribute][frozenset(categories)] = None
        for sets in singled:
            for attribute, chosen in sets.items():
                for name in with_outer((attribute,), known):
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
        looked = with_outer((*table.attributes, *(name for name, _ in table.where)), known)
        return {name for name in known if with_outer((name,), known) & looked}

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
