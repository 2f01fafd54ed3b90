"""Counts of the cells of a table, from all of its records at once or batch by batch.

A count is a sum over the records. So the counts of a table are the sums of those of its batches, for any batches, orders
and sizes. Only cells are stored, and no records.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from dpspec.base.errors import TableError
from dpspec.base.lazy import late_module
from dpspec.base.params import did_you_mean
from dpspec.blocks.space import Attribute

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = late_module("numpy")

Codes: TypeAlias = "npt.NDArray[np.integer[Any]]"
Conditions = Iterable[tuple[str, Iterable[str]]]
"""For some attributes, the categories that a record may have; all conditions are to be met."""

MOST_DENSE = 1 << 26
"""Of so many possible cells at most, each has a number of its own (8 bytes); of more, those that occur have one."""
_ALWAYS_DENSE = 1 << 16


def occurring(keys: Codes, domain: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The keys that occur, ascending, and how often; counted directly where the domain is no larger than the keys."""
    if domain > max(4 * len(keys), _ALWAYS_DENSE):
        found, counts = np.unique(keys, return_counts=True)
        return np.asarray(found, dtype=np.int64), counts.astype(np.int64)
    every = np.bincount(keys).astype(np.int64)
    found = np.flatnonzero(every)
    return found.astype(np.int64), every[found]


@attrs.frozen(kw_only=True, eq=False)
class CellCounts:
    """The number of records in each combination of categories of some attributes.

    Args:
        attributes: the attributes.
        keys: the numbers of the cells that are counted, ascending; None where all are. The first attribute changes slowest.
        counts: how many records each of them has.
    """

    attributes: tuple[Attribute, ...]
    keys: npt.NDArray[np.int64] | None
    counts: npt.NDArray[np.int64]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of categories of each attribute."""
        return tuple(a.size for a in self.attributes)

    @property
    def records(self) -> int:
        """The number of records in all cells."""
        return int(self.counts.sum())

    def every(self) -> npt.NDArray[np.int64]:
        """The counts of all cells, by their numbers."""
        if self.keys is None:
            return self.counts
        counts = np.zeros(domain_of(self.attributes), dtype=np.int64)
        counts[self.keys] = self.counts
        return counts

    def occurring(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The numbers of the cells that have records, ascending, and their counts."""
        if self.keys is not None:
            return self.keys, self.counts
        keys = np.flatnonzero(self.counts)
        return keys.astype(np.int64), self.counts[keys]

    def codes(self, keys: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], ...]:
        """For each attribute the places of the categories of some cells."""
        return tuple(place.astype(np.int64) for place in np.unravel_index(keys, self.sizes)) if self.attributes else ()

    def by_category(self) -> dict[tuple[str, ...], int]:
        """The counts of the cells that have records, by their categories."""
        keys, counts = self.occurring()
        labels = [list(a.values()) for a in self.attributes]
        places = (place.tolist() for place in self.codes(keys))
        rows: Iterable[tuple[int, ...]] = zip(*places, strict=True) if self.attributes else [()] * len(keys)
        found: dict[tuple[str, ...], int] = {}
        for row, count in zip(rows, counts.tolist(), strict=True):
            cell = tuple(label[code] for label, code in zip(labels, row, strict=True))
            found[cell] = count
        return found


class CellCounter:
    """The counts of cells, to which records are added batch by batch.

    Args:
        attributes: the attributes whose combinations are the cells.

    Raises:
        TableError: the combinations are more than 64-bit integers can number.

    >>> sex = Attribute(name="sex", categories=("f", "m"))
    >>> counter, other = CellCounter((sex,)), CellCounter((sex,))
    >>> counter.add(np.array([0, 1, 1]))
    >>> other.add(np.array([1]))
    >>> counter.merge(other)
    >>> counter.counts().by_category()
    {('f',): 1, ('m',): 3}
    """

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self.attributes, self._domain = tuple(attributes), domain_of(attributes)
        check_numbered(attributes)
        self._every: npt.NDArray[np.int64] | None = None
        self._some: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] = []
        self._held = self._settled = 0
        if self._domain <= _ALWAYS_DENSE:
            self._every = np.zeros(self._domain, dtype=np.int64)

    def add(self, keys: Codes) -> None:
        """Count one record more in the cell of each key."""
        if self._every is None and self._domain <= min(4 * (self._held + len(keys)), MOST_DENSE):
            self._spread()
        if self._every is None:
            self._add(*occurring(keys, self._domain))
        elif self._domain <= 4 * len(keys):
            self._every += np.bincount(keys, minlength=self._domain)
        else:
            np.add.at(self._every, keys, 1)

    def merge(self, other: CellCounter) -> None:
        """Count the records of another counter of these cells, too."""
        found = other.counts()
        if found.keys is None:
            self._spread()
        self._add(*found.occurring())

    def counts(self) -> CellCounts:
        """The counts so far, read-only."""
        if self._every is not None:
            counts = self._every.view()
            counts.flags.writeable = False
            return CellCounts(attributes=self.attributes, keys=None, counts=counts)
        self._settle()
        nothing = np.zeros(0, dtype=np.int64)
        keys, counts = self._some[0] if self._some else (nothing, nothing)
        counts.flags.writeable = False
        return CellCounts(attributes=self.attributes, keys=keys, counts=counts)

    def _add(self, keys: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> None:
        """Add counts of different cells."""
        if self._every is not None:
            self._every[keys] += counts
            return
        self._some.append((keys, counts))
        self._held += len(keys)
        if self._held > 2 * self._settled + _ALWAYS_DENSE:  # each cell is sorted a logarithmic number of times
            self._settle()

    def _settle(self) -> None:
        """Hold each cell once."""
        if len(self._some) > 1:
            keys, places = np.unique(np.concatenate([keys for keys, _ in self._some]), return_inverse=True)
            counts = np.zeros(len(keys), dtype=np.int64)
            np.add.at(counts, places, np.concatenate([counts for _, counts in self._some]))
            self._some = [(keys, counts)]
        self._held = self._settled = sum(len(keys) for keys, _ in self._some)

    def _spread(self) -> None:
        """Hold a number for each cell."""
        if self._every is None:
            self._every, some = np.zeros(self._domain, dtype=np.int64), self._some
            self._some, self._held, self._settled = [], 0, 0
            for keys, counts in some:
                self._every[keys] += counts


def domain_of(attributes: Iterable[Attribute]) -> int:
    """The number of combinations of categories."""
    domain = 1
    for attribute in attributes:
        domain *= attribute.size
    return domain


def check_numbered(attributes: Sequence[Attribute]) -> None:
    """Refuse attributes with more combinations than 64-bit integers can number.

    Raises:
        TableError: they have.
    """
    if domain_of(attributes) >= 1 << 63:
        names = [a.name for a in attributes]
        raise TableError("columns", "have too many combinations to number", "name fewer attributes", value=names)


class Countable(ABC):
    """Source of counts: a table, or the stored counts of a table that is not in memory."""

    __slots__ = ()

    attributes: tuple[Attribute, ...]

    @abstractmethod
    def __len__(self) -> int:
        """The number of records."""

    @abstractmethod
    def cells(self, names: Sequence[str], where: Conditions = ()) -> CellCounts:
        """The counts of the combinations of the named attributes, of the records that meet the conditions.

        Raises:
            TableError: the combinations are more than 64-bit integers can number; a `CountedTable` did not count them.
        """

    @abstractmethod
    def meeting(self, where: Conditions) -> Countable:
        """The records that meet the conditions."""

    def attribute(self, name: str) -> Attribute:
        """The attribute of a column."""
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise TableError("column", "is not in the table", did_you_mean(name, [a.name for a in self.attributes]), value=name)

    def domain(self, names: Sequence[str]) -> int:
        """The number of combinations of the named attributes."""
        return domain_of(map(self.attribute, names))

    def counts(self, names: Sequence[str]) -> dict[tuple[str, ...], int]:
        """The number of records with each occurring combination of the named attributes."""
        return self.cells(names).by_category()


CellsRead: TypeAlias = tuple[tuple[str, ...], frozenset[tuple[str, frozenset[str]]]]
"""Attributes whose combinations are counted, and conditions, each named once."""


def cells_read(names: Iterable[str], where: Conditions) -> CellsRead:
    """Attributes and conditions in the form in which equal ones are equal; of conditions on one attribute all are to be met."""
    met: dict[str, frozenset[str]] = {}
    for name, categories in where:
        met[name] = frozenset(categories) & met[name] if name in met else frozenset(categories)
    return tuple(names), frozenset(met.items())


@attrs.frozen(kw_only=True, eq=False)
class CountedTable(Countable):
    """The counts of a table that is not in memory: the number of its records, and counts of cells.

    Args:
        attributes: the attributes of the table.
        records: how many records it has.
        found: the counts.
        where: conditions that the records meet which are meant; without any, all are.
        inside: the counts of their members, each with the attributes of the record that holds it, where they were counted.
    """

    attributes: tuple[Attribute, ...]
    records: int
    found: Mapping[CellsRead, CellCounts]
    members: None = attrs.field(default=None, init=False)
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()
    inside: CountedTable | None = None

    def __len__(self) -> int:
        return self.cells(()).records if self.where else self.records

    def cells(self, names: Sequence[str], where: Conditions = ()) -> CellCounts:
        wanted = cells_read(names, (*self.where, *where))
        if wanted not in self.found:
            rule, advice = "are not among the counts that the mechanism says it reads", "report it to the plugin's author"
            raise TableError("cells", rule, advice, value=list(names))
        return self.found[wanted]

    def meeting(self, where: Conditions) -> CountedTable:
        further = tuple((name, tuple(categories)) for name, categories in where)
        return attrs.evolve(self, where=(*self.where, *further))
