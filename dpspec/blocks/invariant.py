"""Invariants: functions c of the dataset whose value is published as it is, and which therefore cut X into universes.

For an invariant c the universes are its level sets D_c(x) = {x' in X : c(x') = c(x)} (Bailie et al. 2024).
"""

from __future__ import annotations

import itertools
import json
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar

import attrs

from dpspec.base.errors import IncompatibleBlocksError, ParameterError
from dpspec.base.memo import Identity, memoize
from dpspec.base.params import Integer, Items, Pairs, Text, define, did_you_mean, evolve
from dpspec.base.promises import Promising, is_a
from dpspec.base.work import counted, spend
from dpspec.blocks.multisets import all_records
from dpspec.blocks.parts import CellRecords, Entries, ListedCells, listed_cells
from dpspec.blocks.space import MEMBERS, Attribute, Dataset, DatasetSpace, Record


class Invariant(Promising, ABC):
    """A function c on the datasets whose value the multiverse holds fixed."""

    name: ClassVar[str]

    @abstractmethod
    def value(self, dataset: Dataset, space: DatasetSpace) -> Hashable:
        """c(x)."""

    def check(self, space: DatasetSpace) -> None:
        """Raise IncompatibleBlocksError when the invariant does not make sense on the space."""
        return

    def mentions(self) -> Mapping[str, frozenset[str]]:
        """The attributes the invariant looks at, each with the categories that it singles out."""
        return {}

    def as_marginal(self) -> Marginal | None:
        """The table of counts that this invariant is, under whatever name; None when it is none."""
        return None

    def margin(self, space: DatasetSpace) -> frozenset[str] | None:
        """The attributes of the largest unit on whose counts alone the value depends; None when it depends on more."""
        return None

    def implies(self, other: Invariant, space: DatasetSpace) -> str | None:
        """A reason why c(x) determines other(x) for every x of the space, when one is seen from the form of the two."""
        return "the same invariant" if self == other else None

    def partitions(self, others: Sequence[Invariant], space: DatasetSpace) -> Iterator[tuple[Invariant, ...]]:
        """Ways to write this invariant as a sum of parts that match the conditions of the others."""
        return iter(())

    def answers(self, dataset: Dataset, space: DatasetSpace) -> tuple[int, ...]:
        """c(x) as an integer vector of fixed length, the form in which noise is added to it."""
        raise IncompatibleBlocksError(f"query {self}", "does not answer with integers")

    def labels(self, space: DatasetSpace) -> tuple[str, ...]:
        """The label of each entry of `answers`."""
        raise IncompatibleBlocksError(f"query {self}", "does not answer with integers")

    def check_answers(self, space: DatasetSpace) -> None:
        """Raise IncompatibleBlocksError where there are no `labels`, without making them: they may be more than can be listed."""
        if type(self).labels is Invariant.labels:
            self.labels(space)

    def matrix(self, space: DatasetSpace) -> tuple[tuple[int, ...], ...] | None:
        """Rows over the `listed_cells` whose products with the dataset's vector carry the same information as c, if any."""
        return None

    def rows_over(self, cells: Sequence[Hashable], space: DatasetSpace) -> tuple[tuple[int, ...], ...] | None:
        """The same over some cells only, for datasets that have nothing elsewhere; None when c does not add up over cells.

        The cells of a space of records are its kinds of records, also when they are too many to list or are ordered.
        """
        matrix, listed = self.matrix(space), listed_cells(space)
        if matrix is None or listed is None:
            return None
        places = {cell: place for place, cell in enumerate(listed)}
        return tuple(tuple(row[places[cell]] for cell in cells) for row in matrix)

    _promised: ClassVar[Mapping[str, Any]] = {
        "mentions": mentions,
        "as_marginal": as_marginal,
        "margin": margin,
        "implies": implies,
        "partitions": partitions,
        "matrix": matrix,
        "rows_over": rows_over,
        "__str__": object.__str__,
    }
    _asides = frozenset({"check", "check_answers", "labels"})


@memoize(maxsize=64)
def _names(space: DatasetSpace, unit: str) -> Mapping[str, Attribute]:
    """The attributes of a unit by name: each of many tables is held against all others, on a space of a thousand attributes."""
    return {attribute.name: attribute for attribute in space.attributes_of(unit)}


_WORK_OF_A_CELL = 2
"""Units of work (`dpspec.base.work`) of one answer of a table: laws have as many parts."""
WHERE = " where "
"""What comes in the words of a query before its conditions."""

_AMBIGUOUS = re.compile(r'[,{}"\n]|^\s|\s$|^$|^\d+ to \d+$| x | where ')


def quoted(name: str) -> str:
    """A name as it is written in the words of a query: in quotation marks where it could be read as several names.

    >>> quoted("white alone"), quoted("x, y"), quoted("18 to 21")
    ('white alone', '"x, y"', '"18 to 21"')
    """
    return json.dumps(name, ensure_ascii=False) if _AMBIGUOUS.search(name) else name


def in_runs(categories: Sequence[str]) -> list[str]:
    """Categories in words: a run of four or more consecutive whole numbers is written by its first and last number.

    >>> in_runs(["18", "19", "20", "21", "30"]), in_runs(["1", "2", "3", "x, y"])
    (['18 to 21', '30'], ['1', '2', '3', '"x, y"'])
    """
    runs: list[list[str]] = []
    for category in categories:
        last = runs[-1][-1] if runs else ""
        follows = last.isdecimal() and category == str(int(last) + 1).zfill(len(last))  # so that its ends determine a run
        if follows:
            runs[-1].append(category)
        else:
            runs.append([category])
    return [words for run in runs for words in ([f"{run[0]} to {run[-1]}"] if len(run) >= _RUN else map(quoted, run))]


_RUN = 4
"""The least length of a run of numbers that is written by its ends."""


@define
class Marginal(Invariant):
    """The counts of the records of one unit by some of their attributes.

    c(x)[v] = number of records of the unit with attributes = v, among those that meet `where`.
    Without attributes it is one count. The attribute ``members`` of a household is its whole composition.

    Args:
        attributes: the attributes of the table.
        unit: the unit that is counted.
        where: for some attributes, the categories that are counted; the other records are left out.

    >>> str(Marginal(attributes=("state",), unit="person"))
    'person by state'
    """

    name: ClassVar[str] = "marginal"

    attributes: Annotated[tuple[str, ...], Items(Text())]
    unit: Annotated[str, Text()] = "person"
    where: Annotated[tuple[tuple[str, tuple[str, ...]], ...], Pairs(Items(Text()))] = ()

    def check(self, space: DatasetSpace) -> None:
        known = _names(space, self.unit)
        for attribute in (*self.attributes, *(a for a, _ in self.where)):
            if attribute not in known:
                raise IncompatibleBlocksError(
                    "invariant marginal", f"the space {space.name} has no such {self.unit} attribute",
                    did_you_mean(attribute, known), value=attribute,
                )  # fmt: skip
        for attribute, categories in self.where:
            for category in categories:
                known[attribute].index(category)

    def as_marginal(self) -> Marginal:
        return self

    def mentions(self) -> Mapping[str, frozenset[str]]:
        singled = {attribute: frozenset(categories) for attribute, categories in self.where}
        return {attribute: singled.get(attribute, frozenset()) for attribute in (*self.attributes, *singled)}

    def margin(self, space: DatasetSpace) -> frozenset[str] | None:
        largest = space.units[0] if space.units else self.unit
        own, seen = {a.name for a in space.attributes_of(largest)}, frozenset(self.mentions())
        return (seen & own) | ({MEMBERS} if seen - own or self.unit != largest else frozenset())

    def value(self, dataset: Dataset, space: DatasetSpace) -> Hashable:
        return tuple(sorted(self._count(space.records(dataset, self.unit), space).items(), key=repr))

    def counts_alike(self, records: tuple[Record, ...], others: tuple[Record, ...], space: DatasetSpace) -> bool:
        """Whether the table is the same of some records of the unit as of others."""
        return self._count(records, space) == self._count(others, space)

    def _count(self, records: tuple[Record, ...], space: DatasetSpace) -> Counter[Record]:
        kept, conditions = _columns(self, Identity(space))
        if conditions:
            records = tuple([one for one in records if all(one[place] in categories for place, categories in conditions)])
        return Counter([tuple([record[place] for place in kept]) for record in records])

    def cell_of(self, record: Record, space: DatasetSpace) -> Record | None:
        """The cell of the table in which a record of the unit is counted; None where it is left out."""
        return next(iter(self._count((record,), space)), None)

    def answers(self, dataset: Dataset, space: DatasetSpace) -> tuple[int, ...]:
        counts = self._count(space.records(dataset, self.unit), space)
        return tuple(counts[cell] for cell in counted(self.cells(space), _WORK_OF_A_CELL))

    def labels(self, space: DatasetSpace) -> tuple[str, ...]:
        return tuple(" x ".join(map(str, cell)) or "total" for cell in self.cells(space))

    def check_answers(self, space: DatasetSpace) -> None:
        if MEMBERS in self.attributes:
            raise IncompatibleBlocksError(f"query {self}", "cannot list all compositions of a household")

    def cells(self, space: DatasetSpace) -> Iterator[Record]:
        """Every combination of the attributes that meets the conditions, in the order of the categories."""
        self.check_answers(space)
        (own, ordered), where = _own_attributes(self, space), dict(self.where)
        places = [ordered.index(a) for a in own]
        if all(a.within is None for a in own) and len(set(own)) == len(own):
            kept = [[category for category in a.values() if category in where.get(a.name, (category,))] for a in ordered]
            cells = itertools.product(*kept)
            yield from cells if ordered == own else (tuple(cell[place] for place in places) for cell in cells)
            return
        for record in all_records(ordered):
            cell = tuple(record[place] for place in places)
            if all(a not in where or category in where[a] for a, category in zip(self.attributes, cell, strict=True)):
                yield cell

    def matrix(self, space: DatasetSpace) -> tuple[tuple[int, ...], ...] | None:
        cells = listed_cells(space)
        if cells is None or space.is_ordered:
            return None
        return _small_matrix(self, space) if len(cells) <= FEW_CELLS else self.rows_over(cells, space)

    def rows_over(self, cells: Sequence[Hashable], space: DatasetSpace) -> tuple[tuple[int, ...], ...] | None:
        spend(_WORK_OF_A_CELL * len(cells))
        kept, conditions = _columns(self, Identity(space))
        rows: dict[Record, list[int]] = {}
        try:
            held = CellRecords.needed_in(space)
            for column, cell in enumerate(cells):
                gone, come = held.records_replaced(cell, self.unit), held.records_of_cell(cell, self.unit)
                for record, change in (*((one, 1) for one in come), *((one, -1) for one in gone)):
                    if all(record[place] in categories for place, categories in conditions):
                        value = tuple([record[place] for place in kept])
                        rows.setdefault(value, [0] * len(cells))[column] += change
        except IncompatibleBlocksError:  # no cells of records, or a record of the unit is no sum of them: all that a user did
            return None
        return tuple(tuple(rows[value]) for value in sorted(rows, key=repr))

    def partitions(self, others: Sequence[Invariant], space: DatasetSpace) -> Iterator[tuple[Invariant, ...]]:
        known, where = _names(space, self.unit), dict(self.where)
        grouped = dict[str, set[frozenset[str]]]()
        for other in others:
            for attribute, categories in other.mentions().items():
                if categories and attribute in known:
                    grouped.setdefault(attribute, set()).add(categories)
        for attribute, groups in grouped.items():
            whole = frozenset(where.get(attribute) or known[attribute].values())
            for chosen in exact_covers(whole, groups):
                yield tuple(evolve(self, where={**where, attribute: tuple(sorted(g))}) for g in chosen)

    def implies(self, other: Invariant, space: DatasetSpace) -> str | None:
        if self == other:
            return "the same invariant"
        if not is_a(other, Marginal) or not self._sees_unit_of(other):
            return None
        theirs, ours = dict(other.where), dict(self.where)
        narrower = all(a in theirs and set(theirs[a]) <= set(ours[a]) for a in ours)
        needed = {*other.attributes, *(a for a in theirs if set(theirs[a]) != set(ours.get(a, ())))}
        if narrower and needed <= _visible(self, Identity(space)):
            return f"{other} is a coarser table of {self}"
        return None

    def _sees_unit_of(self, other: Marginal) -> bool:
        return self.unit == other.unit or MEMBERS in self.attributes

    def __str__(self) -> str:
        by = f"{self.unit} by {' x '.join(map(quoted, self.attributes))}" if self.attributes else f"{self.unit} total"
        return f"{by}{WHERE}{conditions_in_words(self.where)}" if self.where else by


def conditions_in_words(where: Iterable[tuple[str, Sequence[str]]]) -> str:
    """The categories that records may have, as in the words of a query.

    >>> conditions_in_words([("age", ("1", "2", "3", "4")), ("sex", ("f",))])
    'age in {1 to 4}, sex in {f}'
    """
    return ", ".join(f"{quoted(name)} in {{{', '.join(in_runs(categories))}}}" for name, categories in where)


COVERS_TRIED = 20_000
"""At most this many partial covers are tried: the number of all of them grows exponentially with the number of sets."""


def exact_covers(whole: frozenset[str], sets: Iterable[frozenset[str]]) -> Iterator[tuple[frozenset[str], ...]]:
    """Two or more disjoint sets of the given ones whose union is the whole, as far as `COVERS_TRIED` allows.

    >>> [len(cover) for cover in exact_covers(frozenset("abc"), map(frozenset, ("a", "ab", "b", "c", "abc")))]
    [2, 3]
    """
    ranked = sorted((one for one in sets if one and one < whole), key=lambda one: (-len(one), sorted(one)))
    holding = {element: [one for one in ranked if element in one] for element in whole}
    waiting: list[tuple[frozenset[str], tuple[frozenset[str], ...]]] = [(whole, ())] if whole else []
    for _ in range(COVERS_TRIED):
        if not waiting:
            return
        left, chosen = waiting.pop()
        if not left:
            yield chosen
            continue
        waiting += [(left - one, (*chosen, one)) for one in reversed(holding[min(left)]) if one <= left]


FEW_CELLS = 1_000
"""Matrices over at most so many cells are kept: a proof with 64 tables needs those of the same invariants 64 times."""


@memoize(maxsize=64)
def _small_matrix(marginal: Marginal, space: DatasetSpace) -> tuple[tuple[int, ...], ...] | None:
    return marginal.rows_over(listed_cells(space) or (), space)


@memoize(maxsize=1024)
def _own_attributes(query: Marginal, space: DatasetSpace) -> tuple[tuple[Attribute, ...], tuple[Attribute, ...]]:
    """The attributes of a table as they are without those that it does not have: in its own order, and in that of the space."""
    known = _names(space, query.unit)
    own = tuple(
        known[a] if known[a].within in query.attributes else evolve(known[a], within=None, parents=()) for a in query.attributes
    )
    return own, tuple(sorted(dict.fromkeys(own), key=lambda a: list(known).index(a.name)))  # a table may name one twice


@memoize(maxsize=1024)
def _visible(marginal: Marginal, space: Identity[DatasetSpace]) -> set[str]:
    """The attributes whose value is known from a cell of a table: its own and every coarser one."""
    known = _names(space.value, marginal.unit)
    visible, pending = set(), list(marginal.attributes)
    while pending:
        attribute = pending.pop()
        visible.add(attribute)
        coarser = known[attribute].within
        if coarser is not None:
            pending.append(coarser)
    if MEMBERS in visible:
        visible |= {a.name for unit in space.value.units for a in space.value.attributes_of(unit)} - set(known)
    return visible


@memoize(maxsize=1024)
def _columns(marginal: Marginal, space: Identity[DatasetSpace]) -> tuple[list[int], list[tuple[int, frozenset[Any]]]]:
    """The index of each attribute of a marginal in a record, and that of each condition with the categories that it admits."""
    places = {a.name: place for place, a in enumerate(space.value.attributes_of(marginal.unit))}
    return [places[a] for a in marginal.attributes], [(places[a], frozenset(admitted)) for a, admitted in marginal.where]


@define
class LinearMap(Invariant):
    """An integer linear map c(x) = A v(x), with v(x) the dataset as counts over the cells of the space.

    Args:
        rows: the rows of A: by how much each invariant changes for one record in each cell.
        label: what the map is, for people.

    >>> str(LinearMap(rows=((1, 1, 1),), label="sum"))
    'sum'
    """

    name: ClassVar[str] = "linear-map"

    rows: Annotated[tuple[tuple[int, ...], ...], Items(Items(Integer()), least=1)]
    label: Annotated[str, Text()] = "linear map"

    def check(self, space: DatasetSpace) -> None:
        cells = listed_cells(space)
        if cells is None:
            raise IncompatibleBlocksError(f"invariant {self.label}", f"the space {space.name} has no list of coordinates for it")
        for row in self.rows:
            if len(row) != len(cells):
                raise IncompatibleBlocksError(f"invariant {self.label}", f"a row needs {len(cells)} entries", value=len(row))

    def value(self, dataset: Dataset, space: DatasetSpace) -> Hashable:
        return self.answers(dataset, space)

    def answers(self, dataset: Dataset, space: DatasetSpace) -> tuple[int, ...]:
        vector = ListedCells.needed_in(space).vector(dataset)
        return tuple(sum(a * v for a, v in zip(row, vector, strict=True)) for row in self.rows)

    def labels(self, space: DatasetSpace) -> tuple[str, ...]:
        return tuple(f"{self.label}[{place}]" for place in range(len(self.rows)))

    def matrix(self, space: DatasetSpace) -> tuple[tuple[int, ...], ...] | None:
        return self.rows

    def __str__(self) -> str:
        return self.label


@attrs.frozen(kw_only=True)
class FunctionInvariant(Invariant):
    """Any function of the dataset, given in Python; equal only to itself.

    Args:
        function: maps a dataset to a hashable value.
        label: what it computes, for people.
    """

    name: ClassVar[str] = "function"

    function: Callable[[Any], Hashable]
    label: str

    def __attrs_post_init__(self) -> None:
        if not callable(self.function):
            raise ParameterError(f"invariant {self.label}", "must be a function of the dataset", value=self.function)

    def value(self, dataset: Dataset, space: DatasetSpace) -> Hashable:
        return self.function(dataset)

    def implies(self, other: Invariant, space: DatasetSpace) -> str | None:
        entries = Entries.found_in(space)
        listed = entries is not None and not entries.lists_counts()
        if listed and self.function is len and other == Marginal(attributes=(), unit=space.units[0]):
            return "the length of a list is the number of its entries"
        return super().implies(other, space)

    def __str__(self) -> str:
        return self.label
