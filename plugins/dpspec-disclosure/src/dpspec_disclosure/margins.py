r"""Published tables of counts, and the kinds of records that fit them.

A release that keeps invariants exact publishes *margins*: for a set C of attributes (a *clique*) the counts n_C(v) of the records
with values v on C. The tables with the same margins form the *universe* of the confidential table. What a reader learns before
any noise is what all of them have in common.

The set of cliques is *decomposable* if its hypergraph is acyclic: the cliques can be ordered so that each meets the earlier ones
in a part S of one of them, its *separator*. Then, with n_C and n_S the published counts of a kind of record c:

    max n(c) = min_C n_C(c)                         min n(c) = max(0, sum_C n_C(c) - sum_S n_S(c))
    E n(c)   = prod_C n_C(c) / prod_S n_S(c)        under the uniform law on the *lists* of records with these margins

Both bounds are attained (Dobra and Fienberg 2000, Theorem 1), so that a kind of record occurs in some table of the universe
exactly if every margin of it is positive. The expectation follows by induction over the order: given the earlier cliques, the
records of a separator's value are matched uniformly at random with those of the next clique (Sundberg 1975).

An attribute nested in a coarser one (a tract in its county) decides the coarser one. Each clique is closed under this.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

import attrs
import numpy as np
import numpy.typing as npt

from dpspec.plugin import Attribute, Marginal, Table, errors, table_files as files, tables

Codes = npt.NDArray[np.int64]
Columns = tuple[int, ...]

MOST_KINDS = 2_000_000
"""At most this many kinds of records are listed: with twelve attributes, of eight bytes each, they take 200 MB."""


def identities(rows: Codes) -> Codes:
    """A number for each row, equal for equal rows, counted from 0 in the order of the rows' values.

    >>> identities(np.array([[0, 1], [0, 0], [0, 1]])).tolist()
    [1, 0, 1]
    """
    if rows.shape[1] == 0:
        return np.zeros(len(rows), dtype=np.int64)
    _, numbers = np.unique(rows, axis=0, return_inverse=True)
    return np.asarray(numbers, dtype=np.int64).reshape(-1)


def sums(numbers: Codes, weights: Codes, size: int) -> Codes:
    """The sums of whole-number weights by group, without rounding."""
    found = np.zeros(size, dtype=np.int64)
    np.add.at(found, numbers, weights)
    return found


def natural_join(left: Codes, right: Codes, on: Columns, right_on: Columns) -> tuple[Codes, Codes]:
    """The pairs of rows of two tables that agree on their shared columns, as row numbers of both.

    Raises:
        NotEnumerableError: there are more than `MOST_KINDS` pairs.
    """
    both = identities(np.concatenate([left[:, on], right[:, right_on]]))
    ours, theirs = both[: len(left)], both[len(left) :]
    order = np.argsort(theirs, kind="stable")
    starts = np.searchsorted(theirs[order], ours, side="left")
    lengths = np.searchsorted(theirs[order], ours, side="right") - starts
    total = int(lengths.sum())
    if total > MOST_KINDS:
        raise errors.NotEnumerableError("margins", f"fit more than {MOST_KINDS:,} kinds of records", "publish fewer attributes")
    lefts = np.repeat(np.arange(len(left)), lengths)
    within = np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return lefts, order[np.repeat(starts, lengths) + within]


@attrs.frozen(kw_only=True)
class Separated:
    """A clique in a junction order.

    Args:
        clique: its columns.
        separator: the columns that it shares with the earlier cliques, all of them in one of these.
    """

    clique: Columns
    separator: Columns


def junction_order(cliques: Sequence[Columns]) -> tuple[Separated, ...] | None:
    """The cliques in an order in which each meets the earlier ones inside one of them; None if there is no such order.

    Graham's reduction: a clique whose columns in other cliques all lie in one of these is taken away, until one is left.

    >>> [one.separator for one in junction_order([(0, 1), (1, 2), (2, 3)])]
    [(), (2,), (1,)]
    >>> junction_order([(0, 1), (1, 2), (0, 2)]) is None
    True
    """
    left, taken = list(cliques), []
    while len(left) > 1:
        for clique in left:
            others = [other for other in left if other is not clique]
            shared = set(clique) & set(itertools.chain.from_iterable(others))
            if any(shared <= set(other) for other in others):
                taken.append(Separated(clique=clique, separator=tuple(sorted(shared))))
                left = others
                break
        else:
            return None
    first = [Separated(clique=clique, separator=()) for clique in left]
    return (*first, *reversed(taken))


@attrs.frozen(kw_only=True)
class Condition:
    """The records that a margin counts: those whose category in a column is among the admitted ones.

    Args:
        column: the column.
        admitted: for each category of the column whether its records are counted.
    """

    column: int
    admitted: tuple[bool, ...]


@attrs.frozen(kw_only=True)
class Partial:
    """A margin of the records that meet conditions; the others are left out.

    Args:
        columns: the columns of the margin.
        conditions: what a counted record meets.
    """

    columns: Columns
    conditions: tuple[Condition, ...]

    def counted(self, rows: Codes) -> npt.NDArray[np.bool_]:
        """Which records are counted."""
        kept = np.ones(len(rows), dtype=bool)
        for condition in self.conditions:
            kept &= np.asarray(condition.admitted, dtype=bool)[rows[:, condition.column]]
        return kept

    @property
    def looked_at(self) -> Columns:
        """All columns on which the margin depends."""
        return tuple(sorted({*self.columns, *(condition.column for condition in self.conditions)}))

    @property
    def determined(self) -> Columns:
        """The columns with one value for all records of a count: those of the margin, or with one admitted category."""
        single = (condition.column for condition in self.conditions if sum(condition.admitted) == 1)
        return tuple(sorted({*self.columns, *single}))


@attrs.frozen(kw_only=True, eq=False)
class Margins:
    """A table as kinds of records with counts, and what is published of it exactly.

    Args:
        attributes: the attributes that some margin looks at, with the coarser ones in which these are nested.
        kinds: the kinds of records that occur, one row of category numbers for each, in the order of `attributes`.
        counts: how many records of each kind there are.
        cliques: the columns of each margin of all records; none lies in another.
        partial: the margins of some records.
        sizes: the least and the largest number of records of the space; None where it is not bounded.
    """

    attributes: tuple[Attribute, ...]
    kinds: Codes
    counts: Codes
    cliques: tuple[Columns, ...]
    partial: tuple[Partial, ...]
    sizes: tuple[int, int | None]

    def __len__(self) -> int:
        return int(self.counts.sum())

    def columns(self, names: Iterable[str]) -> Columns:
        """The columns of the named attributes; those that no margin looks at have none."""
        places = {a.name: place for place, a in enumerate(self.attributes)}
        return tuple(places[name] for name in names if name in places)

    def junction(self) -> tuple[Separated, ...] | None:
        """The cliques in a junction order; None if the margins are not decomposable, or are not all of all records."""
        return junction_order(self.cliques) if self.cliques and not self.partial else None

    def support(self) -> Codes:
        """The kinds of records all of whose margins are positive: no other kind occurs in any table of the universe.

        Raises:
            NotEnumerableError: there are more than `MOST_KINDS`.
        """
        found = np.zeros((1, len(self.attributes)), dtype=np.int64)
        seen: set[int] = set()
        for clique in self._in_join_order():
            found = self._joined(found, tuple(sorted(seen)), np.unique(self.kinds[:, clique], axis=0), clique)
            seen |= set(clique)
        for column in range(len(self.attributes)):
            if column not in seen:
                found = self._joined(found, tuple(sorted(seen)), *self._categories(column))
                seen.add(column)
        for margin in self.partial:
            published = np.unique(self.kinds[margin.counted(self.kinds)][:, margin.columns], axis=0)
            numbers = identities(np.concatenate([found[:, margin.columns], published]))
            known = np.isin(numbers[: len(found)], numbers[len(found) :])
            found = found[known | ~margin.counted(found)]
        return found

    def completed(self, rows: Codes, fixed: Columns) -> tuple[Codes, Codes]:
        """Every way to give a record other categories outside the fixed columns: the number of its row, and the changed record.

        Raises:
            NotEnumerableError: there are more than `MOST_KINDS`.
        """
        found, lefts, seen = rows.copy(), np.arange(len(rows)), set(fixed)
        for column in range(rows.shape[1]):
            if column not in seen:
                values, columns = self._categories(column)
                shared = tuple(one for one in columns if one in seen)
                ours, theirs = natural_join(found, values, shared, tuple(columns.index(one) for one in shared))
                found, lefts = found[ours], lefts[ours]
                found[:, columns] = values[theirs]
                seen.add(column)
        return lefts, found

    def _in_join_order(self) -> Sequence[Columns]:
        order = junction_order(self.cliques)
        if order is not None:
            return [one.clique for one in order]
        left = list(self.cliques)
        chosen: list[Columns] = []
        while left:
            seen = set(itertools.chain.from_iterable(chosen))
            best = max(left, key=lambda clique: (len(seen & set(clique)), -len(clique)))
            left.remove(best)
            chosen.append(best)
        return chosen

    def _joined(self, found: Codes, seen: Columns, rows: Codes, clique: Columns) -> Codes:
        shared = tuple(column for column in clique if column in seen)
        lefts, rights = natural_join(found, rows, shared, tuple(clique.index(column) for column in shared))
        joined = found[lefts]
        joined[:, clique] = rows[rights]
        return joined

    def _categories(self, column: int) -> tuple[Codes, Columns]:
        """All categories of an attribute that no margin of all records looks at, each with the coarser one in which it lies."""
        attribute = self.attributes[column]
        names = {a.name: place for place, a in enumerate(self.attributes)}
        every = np.arange(attribute.size, dtype=np.int64)
        if attribute.within is None or attribute.within not in names:
            return every[:, None], (column,)
        coarser = names[attribute.within]
        return np.stack([files.parents(attribute, self.attributes[coarser]), every], axis=1), (coarser, column)

    def margin_of(self, clique: Columns, rows: Codes) -> Codes:
        """n_C of the kinds in `rows`."""
        numbers = identities(np.concatenate([self.kinds[:, clique], rows[:, clique]]))
        counted = sums(numbers[: len(self.kinds)], self.counts, int(numbers.max()) + 1 if len(numbers) else 0)
        return counted[numbers[len(self.kinds) :]]

    def bounds(self, rows: Codes, order: Sequence[Separated]) -> tuple[Codes, Codes]:
        """The least and the largest count of each kind over all tables of the universe; of decomposable margins only."""
        cliques = [self.margin_of(one.clique, rows) for one in order]
        separators = [self.margin_of(one.separator, rows) for one in order[1:]]
        upper = np.minimum.reduce(cliques)
        lower = np.maximum(np.add.reduce(cliques) - np.add.reduce([np.zeros_like(upper), *separators]), 0)
        return lower, upper

    def expected(self, rows: Codes, order: Sequence[Separated]) -> list[tuple[int, int]]:
        """E n(c) of each kind as a fraction, under the uniform law on the lists with these margins; of decomposable ones only."""
        above = np.stack([self.margin_of(one.clique, rows) for one in order], axis=1).tolist()
        ones = np.ones(len(rows), dtype=np.int64)
        below = np.stack([ones, *(self.margin_of(one.separator, rows) for one in order[1:])], axis=1)
        return [(_product(up), _product(down)) for up, down in zip(above, below.tolist(), strict=True)]


def _product(factors: Iterable[int]) -> int:
    product = 1
    for factor in factors:
        product *= factor
    return product


def kinds_of(table: tables.Countable, names: Sequence[str]) -> tuple[Codes, Codes]:
    """The kinds of records of a table by the named attributes: their categories, ascending, and how many records are of each."""
    if not len(table):
        return np.zeros((0, len(names)), dtype=np.int64), np.zeros(0, dtype=np.int64)
    if table.domain(names) < 1 << 63:
        cells = table.cells(names)
        keys, counts = cells.occurring()
        return np.stack(cells.codes(keys), axis=1) if names else np.zeros((1, 0), dtype=np.int64), np.asarray(counts)
    if not isinstance(table, Table):
        raise errors.TableError("table", "is not held, and has more kinds of records than are numbered")
    columns = [np.asarray(table.codes[name], dtype=np.int64) for name in names]
    kinds, counts = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    return kinds, np.asarray(counts, dtype=np.int64)


def margins_of(table: tables.Countable, published: Sequence[Marginal], sizes: tuple[int, int | None]) -> Margins:
    """The margins of a table.

    Args:
        table: the confidential table, with a column for each attribute of its records.
        published: what is published of it exactly; all of the unit that the table holds.
        sizes: the least and the largest number of records of the space.
    """
    known = {a.name: a for a in table.attributes}

    def closed(names: Iterable[str]) -> set[str]:
        found, pending = set(), list(names)
        while pending:
            name = pending.pop()
            found.add(name)
            coarser = known[name].within
            if coarser is not None and coarser in known:
                pending.append(coarser)
        return found

    published = [without_idle_conditions(margin, known) for margin in published]
    seen = closed({name for margin in published for name in (*margin.attributes, *(a for a, _ in margin.where))})
    attributes = tuple(a for a in table.attributes if a.name in seen)
    places = {a.name: place for place, a in enumerate(attributes)}
    kinds, counts = kinds_of(table, [a.name for a in attributes])
    full = {tuple(sorted(places[name] for name in closed(margin.attributes))) for margin in published if not margin.where}
    partial = tuple(
        Partial(
            columns=tuple(sorted(places[name] for name in closed(margin.attributes))),
            conditions=tuple(
                Condition(column=places[name], admitted=tuple(value in set(admitted) for value in known[name].values()))
                for name, admitted in margin.where
            ),
        )
        for margin in published
        if margin.where and not any({*closed(margin.attributes), *dict(margin.where)} <= _names(c, attributes) for c in full)
    )
    if sizes[0] == sizes[1]:
        full.add(())  # every table of the space has so many records
    cliques = tuple(sorted(one for one in full if not any(set(one) < set(other) for other in full)))
    return Margins(attributes=attributes, kinds=kinds, counts=counts, cliques=cliques, partial=partial, sizes=sizes)


def without_idle_conditions(margin: Marginal, known: Mapping[str, Attribute]) -> Marginal:
    """The same margin without conditions that every category meets."""
    where = tuple((name, admitted) for name, admitted in margin.where if not set(known[name].values()) <= set(admitted))
    return Marginal(attributes=margin.attributes, unit=margin.unit, where=where)


def _names(clique: Columns, attributes: Sequence[Attribute]) -> set[str]:
    return {attributes[column].name for column in clique}
