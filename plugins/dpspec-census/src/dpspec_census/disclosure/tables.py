"""Tables of counts with their margins, as statistics are published.

A release of tables T_1, ..., T_t, each a list of attributes, has one number for every cell of every table. The *base* is the
table of all attributes together; each published count is a sum of base counts:

    y = A n,   n = base counts, A 0/1 with one row per published cell
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Annotated, TypeVar

import attrs

from dpspec.blocks.space import Attribute, Dataset, DatasetSpace
from dpspec.errors import IncompatibleBlocksError, NotEnumerableError
from dpspec.params import Items, Text, define
from dpspec_census.disclosure.outputs import Deterministic, DisclosureControl

if TYPE_CHECKING:
    from dpspec.randomness import Randomness
    from dpspec.table import Table

MOST_CELLS = 1_000_000
"""A base with more cells than this is refused."""
ALL = "(all)"
"""What stands in the column of an attribute that a table does not have."""
VALUE = "published"
"""The column of the published number."""

Counts = tuple[int, ...]
Value = TypeVar("Value")


@attrs.frozen(slots=False)
class Layout:
    """The cells of some tables.

    Args:
        attributes: the attributes of the base.
        tables: the tables, each a list of names of attributes.
    """

    attributes: tuple[Attribute, ...]
    tables: tuple[tuple[str, ...], ...]

    @cached_property
    def base(self) -> tuple[tuple[str, ...], ...]:
        """The cells of the base, the last attribute fastest."""
        return tuple(itertools.product(*(a.values() for a in self.attributes)))

    @cached_property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """The published cells, table after table, each as categories of the base's attributes; ALL for what is summed over."""
        return tuple(
            cell
            for table in self.tables
            for cell in itertools.product(*(a.values() if a.name in table else (ALL,) for a in self.attributes))
        )

    @cached_property
    def members(self) -> tuple[tuple[int, ...], ...]:
        """For each published cell the places of the base cells that it sums."""
        found: list[tuple[int, ...]] = []
        for table in self.tables:
            held = [a.name in table for a in self.attributes]
            cells: dict[tuple[str, ...], list[int]] = {}
            for place, cell in enumerate(self.base):
                label = tuple(c if is_held else ALL for c, is_held in zip(cell, held, strict=True))
                cells.setdefault(label, []).append(place)
            found += [tuple(places) for places in cells.values()]
        return tuple(found)

    def published(self, base: Sequence[int]) -> Counts:
        """y = A n.

        >>> sex = Attribute(name="sex", categories=("f", "m"))
        >>> Layout((sex,), (("sex",), ())).published((3, 4))
        (3, 4, 7)
        """
        return tuple(sum(base[place] for place in places) for places in self.members)

    def grouped(self, values: Sequence[Value]) -> tuple[tuple[Value, ...], ...]:
        """The published numbers table by table: what an outcome is.

        >>> sex = Attribute(name="sex", categories=("f", "m"))
        >>> Layout((sex,), (("sex",), ())).grouped((3, 4, 7))
        ((3, 4), (7,))
        """
        sizes = [math.prod(a.size for a in self.attributes if a.name in table) for table in self.tables]
        ends = list(itertools.accumulate(sizes))
        return tuple(tuple(values[end - size : end]) for size, end in zip(sizes, ends, strict=True))

    def rows(self, values: Iterable[Hashable]) -> Table:
        """The released table: a row for each published cell, its categories and its number."""
        from dpspec.table import Table as Columns

        shown = [str(value) for value in values]
        columns = tuple(Attribute(name=a.name, categories=(*a.values(), ALL)) for a in self.attributes)
        number = Attribute(name=VALUE, categories=tuple(dict.fromkeys(shown)))
        listed = ((*label, value) for label, value in zip(self.labels, shown, strict=True))
        return Columns.from_records(listed, (*columns, number))


@lru_cache(maxsize=256)
def _layout(attributes: tuple[Attribute, ...], tables: tuple[tuple[str, ...], ...]) -> Layout:
    """One object for equal layouts, so that its cells are listed once."""
    return Layout(attributes, tables)


@define
class TableRelease(DisclosureControl):
    """Shared by the mechanisms that publish tables of counts."""

    @abstractmethod
    def published_tables(self) -> tuple[tuple[str, ...], ...]:
        """The tables, each a list of attributes; () is the grand total."""

    def check(self, space: DatasetSpace) -> None:
        space.check_unit(self.unit)
        tables = self.published_tables()
        if len({frozenset(table) for table in tables}) < len(tables) or any(len(set(t)) < len(t) for t in tables):
            raise IncompatibleBlocksError(f"mechanism {self.name}", "names a table or an attribute of it twice", value=tables)
        attributes = self.layout(space).attributes
        for attribute in attributes:
            if attribute.within in {a.name for a in attributes}:
                rule = f"lies within {attribute.within}: most cells of a table of both are empty by definition"
                raise IncompatibleBlocksError("attribute", rule, "publish one of the two", value=attribute.name)
        if VALUE in {a.name for a in attributes}:
            raise IncompatibleBlocksError("attribute", "has the name of the released column", "rename it", value=VALUE)
        size = math.prod(a.size for a in attributes)
        if size > MOST_CELLS:
            raise NotEnumerableError(f"mechanism {self.name}", f"the tables span more than {MOST_CELLS:,} cells", value=size)

    def layout(self, space: DatasetSpace) -> Layout:
        """The cells that are published."""
        names = dict.fromkeys(name for table in self.published_tables() for name in table)
        return _layout(tuple(self.attribute(name, space) for name in names), self.published_tables())

    def base_counts(self, dataset: Dataset, space: DatasetSpace) -> Counts:
        """n: the counts of the base of a dataset in its canonical form."""
        layout = self.layout(space)
        names = [a.name for a in self.attributes(space)]
        places = [names.index(a.name) for a in layout.attributes]
        counts = Counter(tuple(record[place] for place in places) for record in space.records(dataset, self.unit))
        return tuple(counts[cell] for cell in layout.base)

    def base_of_table(self, table: Table, space: DatasetSpace) -> Counts:
        """n: the counts of the base of a real table."""
        import numpy as np

        layout = self.layout(space)
        key = self.rows_of(table, space).key([a.name for a in layout.attributes])
        return tuple(map(int, np.bincount(key, minlength=len(layout.base))))


@define
class CountTables(TableRelease):
    """A release of tables that are listed one by one.

    Args:
        tables: the tables, each a list of attributes; [] is the grand total.
        unit: the unit that is counted.
    """

    tables: Annotated[tuple[tuple[str, ...], ...], Items(Items(Text()), least=1)]

    def published_tables(self) -> tuple[tuple[str, ...], ...]:
        return self.tables


class FixedTables(CountTables, Deterministic):
    """Shared by the mechanisms whose published tables are a function of the true ones."""

    @abstractmethod
    def numbers(self, base: Counts, space: DatasetSpace) -> tuple[Hashable, ...]:
        """What is published, for each cell of the layout."""

    def output(self, dataset: Dataset, space: DatasetSpace) -> Hashable:
        """The published numbers, table by table."""
        return self.layout(space).grouped(self.numbers(self.base_counts(dataset, space), space))

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """The published tables: a row for each cell."""
        self.check(space)
        return self.layout(space).rows(self.numbers(self.base_of_table(table, space), space))
