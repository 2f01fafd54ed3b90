"""The cell-key method: small changes of counts that are the same wherever the same records are counted.

Every record r has a key k_r in {0, ..., K-1}. The key of a cell is the sum of the keys of its records modulo K, and a cell of
n >= 1 records is published as n + d(n, key), d being the perturbation table; an empty cell as 0. One cell in two tables is
changed alike, while margins and sums of cells are changed for themselves (Fraser and Wooton 2005).

There are two readings of its law. `CellKey`: the keys are part of the randomness, uniform and independent. `KeptCellKey`: they
are drawn once and stored with the records, as agencies do, so that anyone with the file has them; then nothing is random.

The perturbation table holds for every count the law of its change (Thompson, Broadfoot and Elazar 2013):

A row for a count n >= 1 has probabilities p(n, d) of publishing n + d, with

    sum_d p(n, d) = 1,   sum_d d p(n, d) = 0,   n + d >= 0

The last row serves all larger counts; 0 stays 0. `designed` makes such a table for given variance and largest change, as the
law of largest entropy in multiples of 1/keys (Marley and Leaver 2011; Giessing 2016).
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from dpspec.plugin import (
    Attribute,
    Dataset,
    DatasetSpace,
    FiniteLaw,
    IncompatibleBlocksError,
    Integer,
    Items,
    Law,
    Marginal,
    Nested,
    Rational,
    Text,
    cell_stream,
    define,
    errors,
    late_module,
    params,
    sorting,
    tables,
)
from dpspec_census.disclosure.tables import (
    CountVector,
    Deterministic,
    PerturbationDesignError,
    PerturbationKeysError,
    PerturbationMeanError,
    PerturbationRangeError,
    PerturbationSumError,
    StreamedTables,
    small_space,
)

if TYPE_CHECKING:
    import numpy as np

    from dpspec.plugin import AnyIntegers, Integers, Randomness, Table
else:
    np = late_module("numpy")


@define
class PerturbationRow:
    """The law of the change of one count.

    Args:
        count: n, at least 1; in the last row of a table, all counts from n on.
        changes: a table from the change d to its probability.

    >>> row = PerturbationRow(count=1, changes={"-1": "2/3", "2": "1/3"})
    >>> str(row.variance()), [row.change(key, 3) for key in range(3)]
    ('2', [-1, -1, 2])
    """

    count: Annotated[int, Integer(1)]
    changes: Annotated[tuple[tuple[str, Fraction], ...], params.Pairs(Rational(0, 1))]

    def __attrs_post_init__(self) -> None:
        subject = f"perturbation of the count {self.count}"
        total = sum(p for _, p in self.changes)
        if total != 1:
            raise PerturbationSumError(subject, "must have probabilities that sum to exactly 1", value=str(total))
        mean = sum(d * p for d, p in self.law())
        if mean != 0:
            raise PerturbationMeanError(subject, "must have mean 0, or the published tables drift", value=str(mean))
        least = min(d for d, p in self.law() if p)
        if self.count + least < 0:
            raise PerturbationRangeError(subject, "must not publish a negative count", value=self.count + least)

    def law(self) -> tuple[tuple[int, Fraction], ...]:
        """Pairs (d, p(n, d)), the smallest change first."""
        return tuple(sorted((_change(d), p) for d, p in self.changes))

    def variance(self) -> Fraction:
        """sum_d d^2 p(n, d)."""
        return sum((d * d * p for d, p in self.law()), Fraction(0))

    def check_keys(self, keys: int) -> None:
        """Raise PerturbationKeysError when a probability is no multiple of 1/keys: no set of cell keys has it."""
        for d, p in self.law():
            if (p * keys).denominator != 1:
                rule = f"must be a multiple of 1/{keys}, one over the number of cell keys"
                raise PerturbationKeysError(f"probability of {d} at the count {self.count}", rule, value=str(p))

    def change(self, key: int, keys: int) -> int:
        """d for a cell key: the first p(n, d_1) keys keys change by the smallest d_1, and so on."""
        changes, ends = self.steps(keys)
        return changes[bisect.bisect_right(ends, key)]

    def steps(self, keys: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The changes, the smallest first, and for each of them the first key that is too large for it."""
        law = self.law()
        return tuple(d for d, _ in law), tuple(itertools.accumulate(int(p * keys) for _, p in law))


def _change(text: str) -> int:
    return int(Integer().read(text, "change"))


def check_rows(rows: Sequence[PerturbationRow], keys: int) -> None:
    """Raise PerturbationRangeError unless the rows are those of 1, 2, ..., and PerturbationKeysError as `check_keys` does."""
    counts = [row.count for row in rows]
    if counts != list(range(1, len(rows) + 1)):
        raise PerturbationRangeError("rows", "must be for the counts 1, 2, 3, ... in this order", value=counts)
    params.collect(partial(row.check_keys, keys) for row in rows)


def designed(variance: Fraction, largest: int, keys: int) -> tuple[PerturbationRow, ...]:
    """The rows 1, ..., D of a perturbation table, each with mean 0 and variance V exactly.

    Args:
        variance: V.
        largest: D: counts change by at most D, those below D downwards to 0 at most.
        keys: the number of cell keys; every probability is a multiple of one over it.

    Raises:
        PerturbationDesignError: no such law; a count of 1 with mean 0 and change at most D has a variance of at most D.

    >>> rows = designed(Fraction(1), 2, 64)
    >>> [str(row.variance()) for row in rows], [str(p) for _, p in rows[1].law()]
    (['1', '1'], ['1/16', '1/4', '3/8', '1/4', '1/16'])
    """
    return tuple(_designed_row(count, variance, largest, keys) for count in range(1, largest + 1))


def _designed_row(count: int, variance: Fraction, largest: int, keys: int) -> PerturbationRow:
    """Integer weights w_d with sum keys, mean 0 and variance V, as near to the law of largest entropy as there are any."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp

    subject, wanted = f"perturbation of the count {count}", variance * keys
    if wanted.denominator != 1:
        rule = "times the number of keys must be an integer"
        raise PerturbationDesignError(subject, f"variance {rule}", "use more keys", value=str(wanted))
    changes = np.arange(-min(count, largest), largest + 1)
    target = keys * _most_entropy(changes, float(variance))
    size = len(changes)
    identity, zero = np.eye(size), np.zeros((3, size))
    moments = np.vstack([np.ones(size), changes, changes**2])
    # Variables: the weights w and their distances t >= |w - target|.
    constraints = [
        LinearConstraint(np.hstack([moments, zero]), *([[keys, 0, int(wanted)]] * 2)),
        LinearConstraint(np.hstack([identity, -identity]), -np.inf, target),
        LinearConstraint(np.hstack([identity, identity]), target, np.inf),
    ]
    found = milp(
        np.repeat([0, 1], size), integrality=np.repeat([1, 0], size), bounds=Bounds(0, keys), constraints=constraints
    )  # fmt: skip
    if found.x is None:
        raise PerturbationDesignError(
            subject, f"has no law with mean 0 and variance {variance}", "lower the variance", value=largest
        )
    weights = [round(weight) for weight in found.x[:size]]
    changed = tuple((str(d), Fraction(w, keys)) for d, w in zip(changes.tolist(), weights, strict=True) if w)
    row = PerturbationRow(count=count, changes=changed)
    if row.variance() != variance:  # the solver's rounding is not taken on trust; sum and mean are checked by the row itself
        raise PerturbationDesignError(subject, "was not found exactly", "use another number of keys", value=keys)
    return row


def _most_entropy(changes: Any, variance: float) -> Any:
    """The law of largest entropy with mean 0 and this variance: p_d proportional to e^(a d + b d^2)."""
    import numpy as np
    from scipy.optimize import minimize
    from scipy.special import logsumexp

    features = np.vstack([changes, changes**2])
    moments = np.array([0.0, variance])
    dual = minimize(lambda ab: logsumexp(ab @ features) - ab @ moments, np.zeros(2), method="Nelder-Mead")
    exponents = dual.x @ features
    return np.exp(exponents - logsumexp(exponents))


# --- the mechanisms -------------------------------------------------------------------------------


MOST_KEYS = 100_000
"""A law is listed for at most so many combinations of keys of the cells that are not empty."""
_MOST_BASE, _MOST_SUM = 1 << 62, 1 << 62
"""Cells of a base are numbered in 64 bits, and their keys are added up in 64 bits."""
_PIECE = 1 << 20
"""Cells of a base that are added up at a time, so that their codes take little memory."""


@lru_cache(maxsize=16)
def _changes(rows: tuple[PerturbationRow, ...], keys: int) -> tuple[tuple[int, ...], ...]:
    """The change of every key, row by row: a law is listed over thousands of combinations of keys."""
    return tuple(tuple(row.change(key, keys) for key in range(keys)) for row in rows)


@define
class Perturbed(StreamedTables):
    """Shared by the two readings.

    Args:
        rows: the perturbation table: a row for each of the counts 1, 2, ..., the last one for all larger counts too.
        keys: K, the number of keys that a cell can have.
        tables, unit: as in `CountTables`.
    """

    rows: Annotated[tuple[PerturbationRow, ...], Items(Nested(PerturbationRow), least=1)]
    keys: Annotated[int, Integer(1)]

    def __attrs_post_init__(self) -> None:
        check_rows(self.rows, self.keys)

    def check(self, space: DatasetSpace) -> None:
        super().check(space)
        if math.prod(a.size for a in self.numbered(space)) > _MOST_BASE:
            rule = f"names attributes with more than 2^{_MOST_BASE.bit_length() - 1} combinations, each of which has a key"
            raise IncompatibleBlocksError(f"mechanism {self.name}", rule, "publish tables of fewer attributes")

    def numbered(self, space: DatasetSpace) -> tuple[Attribute, ...]:
        """The attributes whose combinations are numbered: those of the base."""
        return self.layout(space).attributes

    def numbers(self, counts: Sequence[int], sums: Sequence[int]) -> CountVector:
        """The published numbers for a law, from the true numbers and the sums of the keys of their cells."""
        changes = _changes(self.rows, self.keys)
        last, size = len(changes) - 1, self.keys
        return tuple(count and count + changes[min(count - 1, last)][key % size] for count, key in zip(counts, sums, strict=True))

    def cell_numbers(self, counts: AnyIntegers, source: Randomness) -> AnyIntegers:
        """The published numbers of a release, from a row for each cell: the true number, and the sum of the keys."""
        true, keys = counts[:, 0], counts[:, 1] % self.keys
        found, rows = true.copy(), np.minimum(true, len(self.rows))
        for row in self.rows:
            cells = np.flatnonzero(rows == row.count)
            changes, ends = row.steps(self.keys)
            found[cells] += np.asarray(changes, dtype=np.int64)[np.searchsorted(np.asarray(ends), keys[cells], side="right")]
        return found

    def cells_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[Marginal, ...] | None:
        """As of `StreamedTables`; None for the grand total alone, which no memory is too small for."""
        return super().cells_read(attributes, space) if self.layout(space).attributes else None

    def cell_sums(self, cells: Integers, summands: tuple[Integers, Integers], space: DatasetSpace) -> Integers:
        """A row for each published cell of the sums of what some cells of the base hold: their counts, and their keys.

        Args:
            cells: the numbers of the cells of the base.
            summands: the count of each of them, and its key.
            space: the dataset space.
        """
        layout = self.layout(space)
        (name,) = (packing := sorting.Packing(attributes=layout.attributes, name="cell")).columns or ("",)
        sizes = [math.prod(a.size for a in layout.in_order(table)) for table in layout.tables]
        ends = list(itertools.accumulate(sizes))
        found = np.zeros((2, ends[-1]), dtype=np.int64)
        for first in range(0, len(cells), _PIECE):
            piece = slice(first, first + _PIECE)
            codes = packing.codes({name: cells[piece]})
            for table, size, end in zip(layout.tables, sizes, ends, strict=True):
                places = tables.number_cells(codes, layout.in_order(table), len(cells[piece]))
                for sums, column in zip(found[:, end - size : end], summands, strict=True):
                    np.add.at(sums, places, column[piece])
        return found.T

    def summable_batches(self, batches: Iterable[Table]) -> Iterator[Table]:
        """The batches of a table.

        Raises:
            ReleaseError: as `check_sums`.
        """
        records = 0
        for batch in batches:
            records += len(batch)
            self.check_sums(records)
            yield batch

    def check_sums(self, records: int) -> None:
        """Refuse keys whose sums may leave 64 bits.

        Args:
            records: the number of records.

        Raises:
            ReleaseError: they may.
        """
        if records * self.keys >= _MOST_SUM:
            rule, advice = "are so many that their sums leave the range of 62 bits", "use fewer keys, such as 256"
            raise errors.ReleaseError(f"keys of {self.name}", rule, advice, value=self.keys)


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
        layout, base = self.listed(space), self.base_counts(space.dataset(dataset), space)
        held = [range(self.keys) if count else (0,) for count in base]
        if self.keys ** sum(count > 0 for count in base) > MOST_KEYS:
            rule = f"has more than {MOST_KEYS:,} combinations of cell keys on this dataset"
            raise errors.NotEnumerableError(f"mechanism {self.name}", rule, "use fewer keys or cells, or verify a miniature")
        counts = layout.published(base)
        ways = (self.numbers(counts, layout.published(keys)) for keys in itertools.product(*held))
        weights: Counter[Hashable] = Counter(map(layout.grouped, ways))
        return FiniteLaw.from_weights(weights)

    def tables_are_independent(self) -> bool:
        """A record has one key for all tables that count it."""
        return False

    def count_law(self, attributes: Sequence[str], count: int, space: DatasetSpace) -> Law | None:
        """The row of the count: the key of a cell is uniform, and that of another cell of the table counts other records."""
        if not self.publishes(attributes):
            return None
        changes = self.rows[min(count, len(self.rows)) - 1].law() if count else ((0, Fraction(1)),)
        return FiniteLaw.of({count + change: p for change, p in changes if p})

    def last_count(self, space: DatasetSpace) -> int:
        """Larger counts have the last row."""
        return len(self.rows)

    def counts_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[Marginal, ...] | None:
        return self.base_read(attributes, space)

    def release(self, table: tables.Countable, space: DatasetSpace, source: Randomness) -> Table:
        """The perturbed tables, with a fresh key for every cell of the base that is not empty.

        The sum of one or more independent uniform keys is uniform, and cells of the base share no record. So keys that are drawn
        for cells have the law of those that are drawn for records. The tables of one release agree with each other.
        """
        self.check(space)
        given = self.rows_of(table, space)
        self.check_sums(len(given))
        return self.released_table(self._summed(given, space, source), space, source)

    def _summed(self, table: tables.Countable, space: DatasetSpace, source: Randomness) -> Integers:
        """What `cell_numbers` reads of a table; the cells of the base are forgotten then."""
        cells, counts = table.cells([a.name for a in self.layout(space).attributes]).occurring()
        return self.cell_sums(cells, (counts, cell_stream.drawn_in_ranges(self.draw, len(cells), source)), space)

    def draw(self, count: int, source: Randomness) -> Integers:
        """Independent uniform keys."""
        return source.below(self.keys, count)

    def streamed(self, stream: cell_stream.CellStream, batches: Iterable[Table]) -> sorting.SortedRelease:
        """The cells of the base that have records are sorted and get their keys, and then add them up in each published table."""
        base = self.layout(stream.space).attributes
        drawn = cell_stream.DrawnSummands(base=base, run=stream.run, sorter=stream.sorter, draw=self.draw)
        return stream.released_of_sums(drawn.pieces(self.summable_batches(batches)))

    release_sorted = Perturbed.by_sorting

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

    def numbered(self, space: DatasetSpace) -> tuple[Attribute, ...]:
        """Those of the base, and the key."""
        return (*super().numbered(space), self.attribute(self.key, space))

    def check(self, space: DatasetSpace) -> None:
        super().check(space)
        if self.attribute(self.key, space).size != self.keys:
            rule = f"must have {self.keys} categories, one for each key"
            raise IncompatibleBlocksError(f"attribute {self.key}", rule, value=self.attribute(self.key, space).size)
        if any(self.key in table for table in self.tables):
            raise IncompatibleBlocksError(f"attribute {self.key}", "is the record key, which no table may publish")

    def output(self, dataset: Dataset, space: DatasetSpace) -> Hashable:
        """The published numbers, table by table."""
        key, layout = self.attribute(self.key, space), self.listed(space)
        names = [a.name for a in self.attributes(space)]
        at, places = names.index(self.key), [names.index(a.name) for a in layout.attributes]
        sums: Counter[tuple[Hashable, ...]] = Counter()
        for record in space.records(dataset, self.unit):
            sums[tuple(record[place] for place in places)] += key.index(record[at])
        keys = [sums[cell] for cell in layout.base]
        return layout.grouped(self.numbers(layout.published(self.base_counts(dataset, space)), layout.published(keys)))

    def counts_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[Marginal, ...] | None:
        return self.base_read(attributes, space, beside=self.key)

    def release(self, table: tables.Countable, space: DatasetSpace, source: Randomness) -> Table:
        """The perturbed tables; the same for every release of one file."""
        self.check(space)
        given = self.rows_of(table, space)
        self.check_sums(len(given))
        return self.released_table(self._summed(given, space), space, source)

    def _summed(self, table: tables.Countable, space: DatasetSpace) -> Integers:
        """What `cell_numbers` reads of a table; the cells of the base are forgotten then."""
        found = self.base_by(table, self.key, space)
        return self.cell_sums(found.cells, (found.counts, found.codes * found.counts), space)

    def streamed(self, stream: cell_stream.CellStream, batches: Iterable[Table]) -> sorting.SortedRelease:
        """Each record adds its own key to the cells that it is in."""
        pieces = (
            (batch.codes, np.stack([np.ones(len(batch), dtype=np.int64), batch.codes[self.key].astype(np.int64)], axis=1))
            for batch in self.summable_batches(batches)
        )
        return stream.released_of_sums(pieces)

    release_sorted = Perturbed.by_sorting

    @classmethod
    def examples(cls) -> Iterable[tuple[KeptCellKey, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(tables=(("age",), ()), rows=(_COIN,), keys=2, key="region"), small_space(most=2)


_COIN = PerturbationRow(count=1, changes=(("-1", Fraction(1, 2)), ("1", Fraction(1, 2))))
"""The smallest perturbation table that changes anything."""
