"""The cell-key method: small changes of counts that are the same wherever the same records are counted.

Every record r has a key k_r in {0, ..., K-1}. The key of a cell is the sum of the keys of its records modulo K, and a cell of
n >= 1 records is published as n + d(n, key), d being the perturbation table; an empty cell as 0. One cell in two tables is
changed alike, while margins and sums of cells are changed for themselves (Fraser and Wooton 2005).

There are two readings of its law. `CellKey`: the keys are part of the randomness, uniform and independent. `KeptCellKey`: they
are drawn once and kept with the records, as agencies do, so that whoever knows the file knows them; then nothing is random.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar

from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import IncompatibleBlocksError, NotEnumerableError
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.law import Law
from dpspec.params import Integer, Items, Nested, Text, define
from dpspec_census.disclosure.outputs import Deterministic, small_space
from dpspec_census.disclosure.perturbation import PerturbationRow, check_rows
from dpspec_census.disclosure.tables import Counts, CountTables

if TYPE_CHECKING:
    from dpspec.randomness import Randomness
    from dpspec.table import Codes, Table

MOST_KEYS = 100_000
"""A law is listed for at most so many combinations of keys of the cells that are not empty."""


@define
class Perturbed(CountTables):
    """Shared by the two readings.

    Args:
        rows: the perturbation table: a row for each of the counts 1, 2, ..., the last one for all larger counts too.
        keys: K.
        tables, unit: as in `CountTables`.
    """

    rows: Annotated[tuple[PerturbationRow, ...], Items(Nested(PerturbationRow), least=1)]
    keys: Annotated[int, Integer(1)]

    def __attrs_post_init__(self) -> None:
        check_rows(self.rows, self.keys)

    def perturbed(self, base: Counts, keys: Sequence[int], space: DatasetSpace) -> Counts:
        """The published numbers, from the counts and the cell keys of the base."""
        layout = self.layout(space)
        counts, sums = layout.published(base), layout.published(keys)
        return tuple(self._number(count, key % self.keys) for count, key in zip(counts, sums, strict=True))

    def _number(self, count: int, key: int) -> int:
        if count == 0:
            return 0
        return count + self.rows[min(count, len(self.rows)) - 1].change(key, self.keys)

    def keyed(self, table: Table, keys: Codes, space: DatasetSpace) -> Counts:
        """The cell keys of the base of a real table, from the key of each record."""
        import numpy as np

        layout = self.layout(space)
        sums = np.zeros(len(layout.base), dtype=np.int64)
        np.add.at(sums, table.key([a.name for a in layout.attributes]), keys)
        return tuple(int(total) % self.keys for total in sums)


@define
class CellKey(Perturbed):
    """The cell-key method with its record keys drawn for the release.

    A cell of the base that is not empty has a uniform key, independent of the others. The law is listed over these keys.

    Args:
        rows, keys: as in `Perturbed`.
        tables, unit: as in `CountTables`.

    >>> row = {"count": 1, "changes": {"-1": "1/2", "1": "1/2"}}
    >>> mechanism = CellKey(tables=[["region"], []], rows=[row], keys=2)
    >>> mechanism.law((("north", "old"),), small_space())
    FiniteLaw({((0, 0), (0,)): 1/2, ((2, 0), (2,)): 1/2})
    """

    name: ClassVar[str] = "cell-key"

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        self.check(space)
        base = self.base_counts(space.dataset(dataset), space)
        held = [range(self.keys) if count else (0,) for count in base]
        if self.keys ** sum(count > 0 for count in base) > MOST_KEYS:
            rule = f"has more than {MOST_KEYS:,} combinations of cell keys on this dataset"
            raise NotEnumerableError(f"mechanism {self.name}", rule, "use fewer keys or cells, or verify a miniature")
        layout = self.layout(space)
        ways = (self.perturbed(base, keys, space) for keys in itertools.product(*held))
        weights: Counter[Hashable] = Counter(map(layout.grouped, ways))
        return FiniteLaw.from_weights(weights)

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """The perturbed tables, with a fresh key for every record, so that the tables of one release agree with each other."""
        self.check(space)
        base = self.base_of_table(table, space)
        drawn = self.keyed(table, source.below(self.keys, len(table)), space)
        return self.layout(space).rows(self.perturbed(base, drawn, space))

    @classmethod
    def examples(cls) -> Iterable[tuple[CellKey, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(tables=(("region",), ()), rows=(_COIN,), keys=2), small_space(most=2)


@define
class KeptCellKey(Perturbed, Deterministic):
    """The cell-key method with record keys that are kept: an attribute of the records, whose categories are "0", ..., "K-1".

    Args:
        key: the attribute that is the record key.
        rows, keys: as in `Perturbed`.
        tables, unit: as in `CountTables`.
    """

    name: ClassVar[str] = "kept-cell-key"

    key: Annotated[str, Text()]

    def check(self, space: DatasetSpace) -> None:
        super().check(space)
        if self.attribute(self.key, space).size != self.keys:
            rule = f"must have {self.keys} categories, one for each key"
            raise IncompatibleBlocksError(f"attribute {self.key}", rule, value=self.attribute(self.key, space).size)
        if any(self.key in table for table in self.tables):
            raise IncompatibleBlocksError(f"attribute {self.key}", "is the record key, which no table may publish")

    def output(self, dataset: Dataset, space: DatasetSpace) -> Hashable:
        """The published numbers, table by table."""
        key = self.attribute(self.key, space)
        names = [a.name for a in self.attributes(space)]
        at, places = names.index(self.key), [names.index(a.name) for a in self.layout(space).attributes]
        sums: Counter[tuple[Hashable, ...]] = Counter()
        for record in space.records(dataset, self.unit):
            sums[tuple(record[place] for place in places)] += key.index(record[at])
        keys = [sums[cell] for cell in self.layout(space).base]
        return self.layout(space).grouped(self.perturbed(self.base_counts(dataset, space), keys, space))

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """The perturbed tables; the same for every release of one file."""
        self.check(space)
        base = self.base_of_table(table, space)
        kept = self.keyed(table, table.codes[self.key], space)
        return self.layout(space).rows(self.perturbed(base, kept, space))

    @classmethod
    def examples(cls) -> Iterable[tuple[KeptCellKey, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(tables=(("age",), ()), rows=(_COIN,), keys=2, key="region"), small_space(most=2)


_COIN = PerturbationRow(count=1, changes=(("-1", Fraction(1, 2)), ("1", Fraction(1, 2))))
"""The smallest perturbation table that changes anything."""
