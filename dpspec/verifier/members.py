"""Members of the record that changes, such as the persons of a household: how their counts in the cells of a view can change."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cache

import attrs

from dpspec.blocks.invariant import Marginal
from dpspec.blocks.parts import nesting_of
from dpspec.blocks.space import DatasetSpace
from dpspec.grammar.views import CountChanges, View
from dpspec.verifier.changes import Sides

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
