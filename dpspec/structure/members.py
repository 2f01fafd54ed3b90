"""How the counts of smaller records change with one larger record: the persons of a household, the events of a user.

A larger record with m members adds counts to the cells of a table of members. Which cells they are does not matter to a view,
only how the members fall into them: a *partition* of their number. A larger record that is replaced takes one such partition
out and puts another in. With m members at most, these are few; where a larger change of a count is never harder to see, only the
largest of them matter.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cache

import attrs

from dpspec.blocks.invariant import Marginal
from dpspec.blocks.parts import nesting_of
from dpspec.blocks.space import MEMBERS, DatasetSpace
from dpspec.grammar.structure import CountChanges, View
from dpspec.structure.changes import Pattern, SeenAttributes

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

    def changes(self, pattern: Pattern, columns: SeenAttributes, *, is_added: bool) -> list[CountChanges]:
        """The ways in which a pattern of the larger record may change the counts; those that others stand for are left out."""
        inside = [columns.inside(self.outer, pattern, side) for side in (lambda k: k.before, lambda k: k.after)]
        if is_added:
            return self._signed(1) if inside[1] else [()]
        same = all(pattern[name].equal for name in self.outer.attributes)
        kept = MEMBERS in pattern and pattern[MEMBERS].equal
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
        """How members fall into so many cells."""
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
    """What a table of smaller records looks at in the larger record that they lie in."""
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
