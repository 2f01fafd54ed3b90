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
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
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
    define,
    errors,
    params,
)
from dpspec_census.disclosure.tables import (
    CountTables,
    CountVector,
    Deterministic,
    PerturbationDesignError,
    PerturbationKeysError,
    PerturbationMeanError,
    PerturbationRangeError,
    PerturbationSumError,
    small_space,
)

if TYPE_CHECKING:
    from dpspec.plugin import Randomness, Table, tables


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
        changes, ends = self._ends(keys)
        return changes[bisect.bisect_right(ends, key)]

    def _ends(self, keys: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
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


@lru_cache(maxsize=16)
def _changes(rows: tuple[PerturbationRow, ...], keys: int) -> tuple[tuple[int, ...], ...]:
    """The change of every key, row by row: a law is listed over thousands of combinations of keys."""
    return tuple(tuple(row.change(key, keys) for key in range(keys)) for row in rows)


@define
class Perturbed(CountTables):
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

    def perturbed(self, base: CountVector, keys: Sequence[int], space: DatasetSpace) -> CountVector:
        """The published numbers, from the counts and the cell keys of the base."""
        layout = self.layout(space)
        return self.numbers(layout.published(base), layout.published(keys))

    def numbers(self, counts: Sequence[int], sums: Sequence[int]) -> CountVector:
        """The published numbers, from the true numbers and the sums of the keys of their cells."""
        changes = _changes(self.rows, self.keys)
        last, size = len(changes) - 1, self.keys
        return tuple(count and count + changes[min(count - 1, last)][key % size] for count, key in zip(counts, sums, strict=True))


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
            raise errors.NotEnumerableError(f"mechanism {self.name}", rule, "use fewer keys or cells, or verify a miniature")
        layout = self.layout(space)
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
        base = self.base_of_table(table, space)
        drawn = iter(source.below(self.keys, sum(count > 0 for count in base)).tolist())
        keys = [next(drawn) if count else 0 for count in base]
        return self.layout(space).rows(self.perturbed(base, keys, space), self.unit)

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

    def counts_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[Marginal, ...] | None:
        return self.base_read(attributes, space, beside=self.key)

    def release(self, table: tables.Countable, space: DatasetSpace, source: Randomness) -> Table:
        """The perturbed tables; the same for every release of one file."""
        import numpy as np

        self.check(space)
        layout, found = self.layout(space), self.base_by(table, self.key, space)
        base, sums = np.zeros((2, len(layout.base)), dtype=np.int64)
        np.add.at(base, found.cells, found.counts)
        np.add.at(sums, found.cells, found.codes * found.counts)
        return layout.rows(self.perturbed(tuple(base.tolist()), tuple(sums.tolist()), space), self.unit)

    @classmethod
    def examples(cls) -> Iterable[tuple[KeptCellKey, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(tables=(("age",), ()), rows=(_COIN,), keys=2, key="region"), small_space(most=2)


_COIN = PerturbationRow(count=1, changes=(("-1", Fraction(1, 2)), ("1", Fraction(1, 2))))
"""The smallest perturbation table that changes anything."""
