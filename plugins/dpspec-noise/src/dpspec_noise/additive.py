"""Independent noise on the integer answers of several queries, on one dataset or a table of microdata.

Besides tables of counts, a query may be a sum of clipped numbers, or the number of distinct kinds of records.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import attrs
from dpspec_divergences import AddRemove, DifferInOnePosition, Hamming, HammingOrdered, Neighbour, ReplaceOne, SymmetricDifference

from dpspec.plugin import (
    Attribute,
    Claim,
    Dataset,
    DatasetSpace,
    IncompatibleBlocksError,
    InputDivergence,
    Integer,
    Invariant,
    Items,
    Law,
    Marginal,
    Mechanism,
    Nested,
    Number,
    OutputDivergence,
    ParameterError,
    PrivacySpec,
    Rational,
    Registered,
    Relation,
    Table,
    Text,
    Trivial,
    UniformBudget,
    UnorderedRecords,
    answers,
    blocks,
    cell_stream,
    define,
    errors,
    grammar,
    is_a,
    late_module,
    laws,
    params,
    randomness,
    sorting,
    tables,
    workers,
)

if TYPE_CHECKING:
    import numpy as np

    from dpspec.plugin import AnyIntegers, Integers, Randomness
else:
    np = late_module("numpy")


RELATIONS: dict[str, Callable[..., Relation]] = {
    "add-remove": AddRemove,
    "replace-one": ReplaceOne,
    "differ-in-one-position": DifferInOnePosition,
}
METRICS: dict[str, Callable[..., InputDivergence]] = {
    "add-remove": SymmetricDifference,
    "replace-one": Hamming,
    "differ-in-one-position": HammingOrdered,
}


@define
class AdditiveNoise(Mechanism):
    """T(x) = q(x) + W with independent noise W_i for each entry of the answers q(x).

    Args:
        queries: the invariants whose integer answers are published.
        neighbours: the relation to which the stated sensitivity refers; add-remove in the lecture (Lecture notes 2025).
        unit: the unit that is added, removed or replaced.
    """

    queries: Annotated[tuple[Invariant, ...], Items(Registered("invariants"), least=1)]
    neighbours: Annotated[str, Text(tuple(RELATIONS))] = "add-remove"
    unit: Annotated[str, Text()] = "person"

    is_whole: ClassVar[bool] = False
    """Whether the noise is a whole number, so that the answers have to be whole numbers, too."""

    def check(self, space: DatasetSpace) -> None:
        params.collect(partial(_check_query, query, space) for query in self.queries)
        for query in self.queries if self.is_whole else ():
            if is_a(query, WeightedSums) and not query.is_whole:
                raise IncompatibleBlocksError(
                    f"mechanism {self.name}",
                    "adds whole numbers, and a sum with fractions as weights is distinguished from another by its fraction alone",
                    f"multiply the weights by {query.denominator}, or use noise on the line (laplace, gaussian)",
                    value=str(query),
                )  # fmt: skip

    def answers(self, dataset: Dataset, space: DatasetSpace) -> tuple[int, ...]:
        """q(x): the answers of all queries, one after the other."""
        return tuple(answer for query in self.queries for answer in query.answers(dataset, space))

    @abstractmethod
    def noise(self, center: int) -> Law:
        """The law of one noisy answer whose true value is `center`."""

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """The product of the noise laws centred at the answers; the law of a number when there is one answer."""
        answers = self.answers(space.dataset(dataset), space)
        noise = {answer: self.noise(answer) for answer in set(answers)}  # most cells of a large table have the same count
        factors = tuple(noise[answer] for answer in answers)
        return factors[0] if len(factors) == 1 else laws.product(factors)

    def noisy_answers(self, space: DatasetSpace) -> grammar.Structure | None:
        """Independent noise on the answers of every query; None where a query is no sum over records.

        For the `structure` of a class whose `noise` has the same shape around every center.
        """
        return noisy_answers(((query, self.noise) for query in self.queries), space)

    def counted_tables(self, space: DatasetSpace) -> tuple[tuple[str, ...], ...]:
        """The attributes of the queries that count all records of the largest unit in each cell of a table."""
        return tuple(
            query.attributes for query in self.queries if type(query) is Marginal and self._counts_all(query, space)
        )  # fmt: skip

    def tables_are_independent(self) -> bool:
        """Every answer has noise of its own."""
        return True

    def _counts_all(self, query: Marginal, space: DatasetSpace) -> bool:
        return not query.where and query.unit == space.units[0]

    def noisy_count(self, attributes: Sequence[str], count: int, space: DatasetSpace) -> Law | None:
        """The law of a noisy count of the table of these attributes, for the `count_law` of a class; None where none is."""
        published = any(set(table) == set(attributes) for table in self.counted_tables(space))
        return self.noise(count) if published else None

    def check_release(self, space: DatasetSpace) -> None:
        """Draw one number from a seed, which is released nowhere: noise on the line, and noise that is too wide, is not drawn."""
        super().check_release(space)
        if type(self).release is AdditiveNoise.release:
            self.draw(1, randomness.SeededRandomness(0))

    def draw(self, count: int, source: Randomness) -> Integers:
        """Independent draws of the noise."""
        raise errors.ReleaseError(
            self.name,
            "has no exact sampler: continuous noise cannot be drawn with finitely many random bits, and rounding "
            "it changes the guarantee",
            "release with geometric (for laplace) or discrete-gaussian (for gaussian)",
        )

    def answers_queries(self) -> bool:
        """As of `grammar.AnswersQueries`."""
        return True

    def check_table(self, table: tables.Countable, space: DatasetSpace) -> None:
        check_members(table, self.queries, space)

    def counts_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[Marginal, ...] | None:
        return counts_of_queries(self.queries, attributes, space)

    def release(self, table: tables.Countable, space: DatasetSpace, source: Randomness) -> Table:
        """One row for each answer: the query, its cell, and the noisy count."""

        self.check(space)
        true = [_held(table, query, space) for query in self.queries]
        noise = cell_stream.drawn_in_ranges(self.draw, sum(map(len, true)), source)
        values = np.concatenate([np.zeros(0, dtype=np.int64), *true])
        values = values + noise if object in (values.dtype, noise.dtype) else np.add(values, noise, out=values)
        del true, noise
        return answers.answer_table([answers.cells_of(query, space) for query in self.queries], values)

    def cells_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[Marginal, ...] | None:
        """As of `grammar.ReleasesCells`: the tables that are read, if the cells of each large one can be listed in pieces."""
        queries = self._read(attributes, space)
        if queries is None or not cell_stream.can_be_streamed(queries, attributes, space):
            return None
        return tuple(read for _, read in queries)

    def by_sorting(
        self,
        batches: Iterable[Table],
        attributes: tuple[Attribute, ...],
        space: DatasetSpace,
        run: workers.Run,
        sorter: sorting.Sorter,
    ) -> sorting.SortedRelease:
        """The same numbers of tables that are larger than memory (`grammar.ReleasesSorted.release_sorted`).

        A class states it as its `release_sorted` by itself, where it draws nothing else than `draw`.
        """
        self.check(space)
        stream = cell_stream.CellStream(
            queries=self._read(attributes, space) or (), attributes=attributes, space=space, run=run, sorter=sorter,
            numbers=self.noisy, listed=partial(answers.cells_of, space=space), held=partial(_held, space=space),
        )  # fmt: skip
        return stream.released(batches)

    def noisy(self, counts: AnyIntegers, source: Randomness) -> AnyIntegers:
        """The noisy numbers of some true ones, which are left as they are."""
        return np.asarray(counts + self.draw(len(counts), source))

    def _read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[tuple[Invariant, Marginal], ...] | None:
        """The queries, each with the table of counts that is read for it; None where records are read for one."""
        tables_read = counts_of_queries(self.queries, attributes, space)
        return None if tables_read is None else tuple(zip(self.queries, tables_read, strict=True))

    def _claims(
        self, label: str, source: str, space: DatasetSpace, standard: OutputDivergence, budget: tuple[str, Number]
    ) -> tuple[Claim, ...]:
        """The claim on the trivial multiverse; none on a space without the unit.

        For a metric the bound for neighbours extends along paths, and is stated for all pairs; otherwise (MULT^delta)
        it is stated for neighbours only.
        """
        distance: InputDivergence
        if standard.is_metric:
            distance = METRICS[self.neighbours](unit=self.unit)
        else:
            distance = Neighbour(relation=RELATIONS[self.neighbours](unit=self.unit))
        try:
            distance.check(space)
        except IncompatibleBlocksError:
            return ()
        parameter, value = budget
        spec = PrivacySpec(
            space=space,
            multiverse=Trivial(),
            input_divergence=distance,
            output_divergence=standard,
            budget=UniformBudget(parameter=parameter, value=value),
        )
        return (Claim(label=label, source=source, spec=spec),)


def noisy_answers(measured: Iterable[tuple[Invariant, Callable[[int], Law]]], space: DatasetSpace) -> grammar.Structure | None:
    """Independent noise on the answers to queries; None where one of them has no view."""
    views = [view_of(query, noise, space) for query, noise in measured]
    known = tuple(view for view in views if view is not None)
    return grammar.Structure(views=known) if len(known) == len(views) else None


def _check_query(query: Invariant, space: DatasetSpace) -> None:
    query.check(space)
    query.check_answers(space)


# --- on tables ------------------------------------------------------------------------------------


LISTED = 100_000
"""Tables up to this size are read record by record when a query is no plain marginal."""


def _held(table: tables.Countable, query: Invariant, space: DatasetSpace) -> AnyIntegers:
    """The true answers of a query, as numbers that noise is added to."""
    return _whole_numbers(_counted(table, query, space))


def true_answers(table: tables.Countable, query: Invariant, space: DatasetSpace) -> tuple[Any, ...]:
    """The true answers of a query, in the order of its cells (`answers.cells_of`)."""
    return tuple(map(_plain, _counted(table, query, space)))


def _plain(answer: Any) -> Any:
    """An integer of numpy as one of Python."""
    return int(answer) if isinstance(answer, np.integer) else answer


def _whole_numbers(counts: Sequence[Any] | Integers) -> AnyIntegers:
    """Answers in 64 bits, with room for noise of 62 bits, or as Python's integers."""
    if isinstance(counts, np.ndarray):
        return counts
    if all(abs(answer) < _SMALL for answer in counts):
        return np.asarray(counts, dtype=np.int64)
    return np.asarray([int(answer) for answer in counts], dtype=object)


_SMALL = 1 << 62


def counts_of_queries(
    queries: Iterable[Invariant], attributes: Sequence[Attribute], space: DatasetSpace
) -> tuple[Marginal, ...] | None:
    """The tables of counts from which queries are answered on a table with these columns; None where records are read for one."""
    read = [count_of_query(query, attributes, space) for query in queries]
    known = tuple(table for table in read if table is not None)
    return known if len(known) == len(read) else None


def count_of_query(query: Invariant, attributes: Sequence[Attribute], space: DatasetSpace) -> Marginal | None:
    """The table of counts from which a query is answered on a table with these columns; None where records are read for it."""
    if is_a(query, OfCells):
        if not _has_columns_of(query, query.unit, attributes, space):
            return None
        return Marginal(attributes=query.table.attributes, unit=query.unit, where=query.where)
    if not is_a(query, Marginal) or not _has_columns_of(query, query.unit, attributes, space):
        return None
    order = _in_order(query, attributes, space)
    named = query.attributes if order is None else tuple(a.name for a in order)
    return Marginal(attributes=tuple(dict.fromkeys(named)), unit=query.unit, where=query.where)


def _has_columns_of(query: Invariant, unit: str, attributes: Sequence[Attribute], space: DatasetSpace) -> bool:
    """Whether the columns are those of records of a unit, and a query mentions no others."""
    names = {a.name for a in attributes}
    return unit == _unit(names, space) and query.mentions().keys() <= names


def _in_order(query: Marginal, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[Attribute, ...] | None:
    """The attributes of a query in the order of the space; None where one is there twice, or has other categories."""
    known, given = {a.name: a for a in space.attributes_of(query.unit)}, {a.name: a for a in attributes}
    order = tuple(a for name, a in known.items() if name in query.attributes)
    if len(query.attributes) != len(order) or any(given.get(a.name) != a for a in order):
        return None
    return order


def _counted(table: tables.Countable, query: Invariant, space: DatasetSpace) -> Sequence[int] | Integers:
    if isinstance(table, Table) and table.members is not None and getattr(query, "unit", None) == space.units[1]:
        table = table.of_members()
    read = count_of_query(query, table.attributes, space)
    if read is not None and is_a(query, OfCells):
        return query.of_cells(table.cells(read.attributes, read.where).by_category())
    if read is not None and is_a(query, Marginal):
        return _marginal(table, query, read, space)
    if not isinstance(table, Table):
        raise errors.TableError("table", "is not held, and records are read for a query", value=str(query))
    if len(table) > LISTED:
        raise errors.TableError(
            "table", f"has more than {LISTED} records, and {query} is no marginal of its columns", value=len(table)
        )
    return query.answers(_dataset(table, query, space), space)


def check_members(table: tables.Countable, queries: Iterable[Invariant], space: DatasetSpace) -> None:
    """Refuse larger records without their members where a query reads the members.

    Raises:
        TableError: it does.
    """
    names = {a.name for a in table.attributes}
    members = blocks.MEMBERS in {a.name for a in space.attributes_of(space.units[0])} if space.units else False
    if not members or not isinstance(table, Table) or table.members is not None or _unit(names, space) != space.units[0]:
        return
    for query in queries:
        if getattr(query, "unit", space.units[0]) != space.units[0]:
            raise _unread(names, query, space)


def _unread(columns: Iterable[str], query: Invariant, space: DatasetSpace) -> errors.TableError:
    rule = f"has the columns {', '.join(columns)}, and {query} reads more of the space {space.name}"
    return errors.TableError("table", rule, "give a folder with households.* and persons.*, or another unit of the mechanism")


def _dataset(table: Table, query: Invariant, space: DatasetSpace) -> Dataset:
    """The dataset that a table of few records is.

    Raises:
        TableError: it is none, as persons without their households, or households without their persons.
    """
    lists = {a.name: list(a.values()) for a in table.attributes}
    unit = _unit(set(lists), space)
    order = [a.name for a in space.attributes_of(unit)]
    try:
        whole = {a.name for a in space.attributes_of(space.units[0])}
        if unit != space.units[0] and blocks.MEMBERS in whole:  # of members alone no dataset is made, also where there are none
            raise errors.NotInSpaceError(space.name, "has no dataset of members alone")
        return space.dataset([[lists[name][table.codes[name][row]] for name in order] for row in range(len(table))])
    except (errors.NotInSpaceError, KeyError):  # the message may quote a record
        raise _unread(lists, query, space) from None


def _unit(columns: set[str], space: DatasetSpace) -> str:
    """The unit whose records the rows are: the one that has the columns as its attributes, else the largest."""
    matching = (unit for unit in space.units if {a.name for a in space.attributes_of(unit)} == columns)
    return next(matching, space.units[0])


def _is_by_key(order: Sequence[Attribute]) -> bool:
    """Whether the cells of a query are all combinations of categories, and as many as are counted one by one."""
    names = {a.name for a in order}
    return not any(a.within in names for a in order) and math.prod(a.size for a in order) <= MOST_KEYS


MOST_KEYS = 1 << 26
"""Of more cells only those that occur are counted."""


def _marginal(table: tables.Countable, query: Marginal, read: Marginal, space: DatasetSpace) -> Sequence[int] | Integers:
    """The counts of a query in the order of its labels, from the counts that are read for it."""
    found = table.cells(read.attributes, read.where)
    order, where = _in_order(query, table.attributes, space), dict(query.where)
    if order is not None and _is_by_key(order):
        counts = found.every().reshape([a.size for a in order])
        for axis, attribute in enumerate(order):
            if attribute.name in where:
                kept = [place for place, category in enumerate(attribute.values()) if category in where[attribute.name]]
                counts = counts.take(kept, axis=axis)
        return counts.reshape(-1)
    codes = None if order is None or math.prod(a.size for a in order) > MOST_KEYS else answers.combined_codes(query, space)
    if order is not None and codes is not None and len(next(iter(codes.values()))) > tables.MOST_LISTED:
        return found.every()[np.ravel_multi_index([codes[a.name] for a in order], [a.size for a in order])]
    places = [read.attributes.index(name) for name in query.attributes]
    by_cell = {tuple(cell[place] for place in places): count for cell, count in found.by_category().items()}
    return tuple(by_cell.get(tuple(map(str, cell)), 0) for cell in query.cells(space))


# --- sums and kinds -------------------------------------------------------------------------------


Conditions = tuple[tuple[str, tuple[str, ...]], ...]
Noise = Callable[[int], Law]
"""The law of an answer, by its true value."""


class OfCells(Invariant):
    """Numbers that are computed from the counts of the cells of a table."""

    unit: str
    where: Conditions

    @property
    @abstractmethod
    def table(self) -> Marginal:
        """The table, of the records that count."""

    @abstractmethod
    def of_cells(self, counts: Mapping[Any, int]) -> tuple[Any, ...]:
        """q from the counts of the cells that occur."""

    def mentions(self) -> Mapping[str, frozenset[str]]:
        return self.table.mentions()

    def value(self, dataset: Dataset, space: DatasetSpace) -> Hashable:
        return self.answers(dataset, space)

    def answers(self, dataset: Dataset, space: DatasetSpace) -> tuple[int, ...]:
        cells = (self.table.cell_of(record, space) for record in space.records(dataset, self.unit))
        return self.of_cells(Counter(cell for cell in cells if cell is not None))

    def labels(self, space: DatasetSpace) -> tuple[str, ...]:
        return (str(self),)


@define
class ClippedSum(OfCells):
    """q(x) = sum over the records of min(max(value, least), most): a sum whose sensitivity the range bounds.

    The categories of the attribute are integers, written as text. One record added changes the sum by max(|least|, |most|) at
    most, one replaced by most - least (Dwork, McSherry, Nissim and Smith 2006).

    Args:
        attribute: whose numbers are summed up.
        least, most: the range to which each value is cut, in its own unit.
        unit: whose records they are.
        where: for some attributes, the categories that are counted; other records add nothing.

    >>> people = UnorderedRecords(attributes=(Attribute(name="hours", count=100),))
    >>> ClippedSum(attribute="hours", least=0, most=40).answers((("7",), ("60",)), people)
    (47,)
    """

    name: ClassVar[str] = "clipped-sum"

    attribute: Annotated[str, Text()]
    least: Annotated[int, Integer()]
    most: Annotated[int, Integer()]
    unit: Annotated[str, Text()] = "person"
    where: Annotated[Conditions, params.Pairs(Items(Text()))] = ()

    def __attrs_post_init__(self) -> None:
        if self.least > self.most:
            raise ParameterError("most", f"must not be below least={self.least}", value=self.most)

    @property
    def table(self) -> Marginal:
        """The records that count, by the attribute."""
        return Marginal(attributes=(self.attribute,), unit=self.unit, where=self.where)

    def check(self, space: DatasetSpace) -> None:
        self.table.check(space)
        for value in self._attribute(space).values() if self._attribute(space).count is None else ():
            if not _is_integer(value):
                raise IncompatibleBlocksError(
                    f"query {self}", "sums up integers", "write the categories as integers", value=value
                )

    def _attribute(self, space: DatasetSpace) -> Attribute:
        return next(a for a in space.attributes_of(self.unit) if a.name == self.attribute)

    def cut(self, value: Hashable) -> int:
        """What one record adds."""
        return min(max(int(str(value)), self.least), self.most)

    def of_cells(self, counts: Mapping[Any, int]) -> tuple[int]:
        """q from the counts of the cells of `table`."""
        return (sum(self.cut(cell[0]) * count for cell, count in counts.items()),)

    def ends(self, space: DatasetSpace) -> tuple[str, str]:
        """A category that adds the least, and one that adds the most, of those that are counted."""
        attribute, where = self._attribute(space), dict(self.where)
        if attribute.count is not None and not where.get(self.attribute):
            return "0", str(attribute.count - 1)
        counted = where.get(self.attribute) or attribute.categories  # where none is counted, those that are not do no harm
        return min(counted, key=int), max(counted, key=int)

    def __str__(self) -> str:
        return f"sum of {self.attribute} cut to {self.least} to {self.most}"

    @classmethod
    def examples(cls) -> Iterable[tuple[ClippedSum, DatasetSpace]]:
        """What the conformance kit checks it with."""
        hours = Attribute(name="hours", categories=("-3", "0", "5"))
        yield cls(attribute="hours", least=-1, most=4), UnorderedRecords(attributes=(hours,), most=2)


def _is_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal()


@define
class DistinctCount(OfCells):
    """q(x) = the number of combinations of some attributes that occur.

    One record added changes it by 1 at most, and so does one replaced.

    Args:
        attributes: the attributes whose combinations are counted.
        unit: whose records they are.
        where: for some attributes, the categories that are counted.
    """

    name: ClassVar[str] = "distinct-count"

    attributes: Annotated[tuple[str, ...], Items(Text(), least=1)]
    unit: Annotated[str, Text()] = "person"
    where: Annotated[Conditions, params.Pairs(Items(Text()))] = ()

    @property
    def table(self) -> Marginal:
        """The combinations."""
        return Marginal(attributes=self.attributes, unit=self.unit, where=self.where)

    def check(self, space: DatasetSpace) -> None:
        self.table.check(space)

    def of_cells(self, counts: Mapping[Any, int]) -> tuple[int]:
        """q from the counts of the cells of `table`."""
        return (sum(count > 0 for count in counts.values()),)

    def __str__(self) -> str:
        return f"different {self.unit} kinds by {' x '.join(self.attributes)}"

    @classmethod
    def examples(cls) -> Iterable[tuple[DistinctCount, DatasetSpace]]:
        """What the conformance kit checks it with."""
        sex = Attribute(name="sex", categories=("f", "m"))
        yield cls(attributes=("sex",)), UnorderedRecords(attributes=(sex,), most=2)


@define
class CellWeights:
    """The contribution of each record of one cell to weighted sums.

    Args:
        cell: one category of each attribute of the query.
        adds: the weight in each sum.
    """

    cell: Annotated[tuple[str, ...], Items(Text(), least=1)]
    adds: Annotated[tuple[Fraction, ...], Items(Rational(), least=1)]


MOST_PARTS = 1_000
"""Weights that cut the cells into more parts than this are not looked through."""


@define
class WeightedSums(OfCells):
    """q_j(x) = sum over the records of w_j(cell of the record): several linear queries at once.

    A record adds its vector w(v), one replaced changes the answers by w(v') - w(v); cells that are not listed add nothing.

    Args:
        attributes: whose combinations are the cells.
        sums: the names of the answers.
        weights: rows (cell, adds), at most one for each cell.
        unit: whose records they are.
        where: for some attributes, the categories that are counted; other records add nothing.

    >>> people = UnorderedRecords(attributes=(Attribute(name="care", categories=("none", "some", "full")),))
    >>> weights = [{"cell": ["some"], "adds": ["1/2", 1]}, {"cell": ["full"], "adds": [2, 1]}]
    >>> costs = WeightedSums(attributes=("care",), sums=("hours", "people"), weights=weights)
    >>> [str(answer) for answer in costs.answers((("some",), ("full",), ("none",)), people)]
    ['5/2', '2']
    """

    name: ClassVar[str] = "weighted-sums"

    attributes: Annotated[tuple[str, ...], Items(Text(), least=1)]
    sums: Annotated[tuple[str, ...], Items(Text(), least=1)]
    weights: Annotated[tuple[CellWeights, ...], Items(Nested(CellWeights), least=1)]
    unit: Annotated[str, Text()] = "person"
    where: Annotated[Conditions, params.Pairs(Items(Text()))] = ()

    def __attrs_post_init__(self) -> None:
        for row in self.weights:
            if len(row.cell) != len(self.attributes):
                raise ParameterError("cell", "names one category of each attribute", value=" x ".join(row.cell))
            if len(row.adds) != len(self.sums):
                raise ParameterError("adds", f"has one weight for each of the {len(self.sums)} sums", value=len(row.adds))
        if len({row.cell for row in self.weights}) < len(self.weights) or len(set(self.sums)) < len(self.sums):
            raise ParameterError(self.name, "names a cell or a sum twice")

    @property
    def table(self) -> Marginal:
        """The cells."""
        return Marginal(attributes=self.attributes, unit=self.unit, where=self.where)

    @property
    def denominator(self) -> int:
        """The common denominator of the weights."""
        return math.lcm(*(weight.denominator for row in self.weights for weight in row.adds))

    @property
    def is_whole(self) -> bool:
        """Whether all weights are whole numbers."""
        return self.denominator == 1

    def check(self, space: DatasetSpace) -> None:
        self.table.check(space)
        known = {a.name: a for a in space.attributes_of(self.unit)}
        for row in self.weights:
            for name, category in zip(self.attributes, row.cell, strict=True):
                known[name].index(category)

    def adds(self, cell: Hashable) -> tuple[Fraction, ...] | None:
        """w of a cell; None where that is 0."""
        return next((row.adds for row in self.weights if row.cell == cell), None)

    def of_cells(self, counts: Mapping[Any, int]) -> tuple[Any, ...]:
        """q from the counts of the cells of `table`: whole numbers where the weights are."""
        known = {row.cell: row.adds for row in self.weights}
        totals = [Fraction(0)] * len(self.sums)
        for cell, count in counts.items():
            for place, weight in enumerate(known.get(tuple(map(str, cell)), ())):
                totals[place] += count * weight
        return tuple(int(total) if self.is_whole else total for total in totals)

    def labels(self, space: DatasetSpace) -> tuple[str, ...]:
        return self.sums

    def groups(self) -> dict[str, tuple[frozenset[str], ...]]:
        """For each attribute the sets of categories that add the same, whatever the other attributes are; all others add 0."""
        found = {}
        for place, name in enumerate(self.attributes):
            looks: dict[str, dict[tuple[str, ...], tuple[Fraction, ...]]] = {}
            for row in self.weights:
                looks.setdefault(row.cell[place], {})[row.cell[:place] + row.cell[place + 1 :]] = row.adds
            alike: dict[frozenset[Any], set[str]] = {}
            for category, look in looks.items():
                alike.setdefault(frozenset(look.items()), set()).add(category)
            found[name] = tuple(map(frozenset, alike.values()))
        return found

    def __str__(self) -> str:
        return f"{', '.join(self.sums)} by {' x '.join(self.attributes)}"

    @classmethod
    def examples(cls) -> Iterable[tuple[WeightedSums, DatasetSpace]]:
        """What the conformance kit checks it with."""
        space = UnorderedRecords(attributes=(Attribute(name="sex", categories=("f", "m")),), most=2)
        rows = (
            CellWeights(cell=("f",), adds=(Fraction(1), Fraction(-2))),
            CellWeights(cell=("m",), adds=(Fraction(3), Fraction(0))),
        )
        yield cls(attributes=("sex",), sums=("one", "two"), weights=rows), space


# --- structure ------------------------------------------------------------------------------------


def view_of(query: Invariant, noise: Noise, space: DatasetSpace) -> grammar.View | None:
    """Noise on the answers of a query, as a view; None where the query is not a sum of contributions of single records.

    A class derived from one of these queries may answer otherwise: only the queries themselves are known.
    """
    known = {Marginal: _counts, ClippedSum: _sum, DistinctCount: _kinds, WeightedSums: _weights}.get(type(query))
    return None if known is None else known(query, noise, space)


def _counts(query: Any, noise: Noise, _: DatasetSpace) -> grammar.View:
    return grammar.NoisyCount(query, noise)


def _sum(query: Any, noise: Noise, space: DatasetSpace) -> grammar.View | None:
    view = NoisySum(query, noise, query.ends(space))
    low, high = map(query.cut, view.outermost)
    return view if grammar.is_log_concave(noise(0)) or max(-low, high, high - low) <= MOST_SHIFTS else None


def _kinds(query: Any, noise: Noise, _: DatasetSpace) -> grammar.View | None:
    return NoisyDistinct(query, noise)


def _weights(query: Any, noise: Noise, _: DatasetSpace) -> grammar.View | None:
    return None if math.prod(map(len, query.groups().values())) > MOST_PARTS else NoisyWeights(query, noise)


MOST_SHIFTS = 400
"""A sum that one record changes by more is not looked through, where a larger shift of the noise may be harder to see."""


class _OneAnswer(grammar.View):
    """One number with noise."""

    query: OfCells
    noise: Noise

    @property
    def table(self) -> Marginal:  # type: ignore[override]  # that of the query
        return self.query.table

    def data(self) -> dict[str, Any]:
        return {**super().data(), "kind": type(self).__name__, "noise": grammar.law_data(self.noise(0))}

    @property
    def tells_more_by_more(self) -> bool:
        return grammar.is_log_concave(self.noise(0))

    def shifted(self, up: int, down: int) -> tuple[grammar.Case, ...]:
        """A case for each change that is not dominated: the largest ones, where a larger shift is never harder to detect."""
        ends = dict.fromkeys((up, -down)) if grammar.is_log_concave(self.noise(0)) else range(-down, up + 1)
        return tuple(((self.noise(max(-c, 0)), self.noise(max(c, 0))),) if c else () for c in ends)

    def restricted(self, where: Mapping[str, tuple[str, ...]]) -> grammar.View:
        table = grammar.narrowed(self.table, where)
        return attrs.evolve(self, query=params.evolve(self.query, where=dict(table.where)))  # type: ignore[misc]


@attrs.frozen
class NoisySum(_OneAnswer):
    """A sum of numbers cut to a range, with noise.

    Args:
        query: the sum.
        noise: the law of an answer whose true value is n.
        outermost: a category that adds the least, and one that adds the most.
    """

    query: ClippedSum
    noise: Noise
    outermost: tuple[str, str]

    def data(self) -> dict[str, Any]:
        return {**super().data(), "least": self.query.least, "most": self.query.most}

    @property
    def tells_more_by_more(self) -> bool:
        """Only where 0 lies in the range: else more records that come may be made up for by more that go."""
        low, high = map(self.query.cut, self.outermost)
        return low <= 0 <= high and grammar.is_log_concave(self.noise(0))

    def singled(self) -> Mapping[str, tuple[frozenset[str], ...]]:
        return {self.query.attribute: tuple(frozenset((end,)) for end in dict.fromkeys(self.outermost))}

    def changed(self, counts: grammar.CountChanges) -> tuple[grammar.Case, ...]:
        """What comes adds at most the most each and takes at most the least, what goes the other way round."""
        low, high = (self.query.cut(end) for end in self.outermost)
        come, gone = sum(c for c in counts if c > 0), -sum(c for c in counts if c < 0)
        both = min(come, gone)
        up = max(0, high) * (come - both) + (high - low) * both + max(0, -low) * (gone - both)
        down = max(0, -low) * (come - both) + (high - low) * both + max(0, high) * (gone - both)
        return self.shifted(up, down)

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable], space: DatasetSpace) -> grammar.Case:
        ours, theirs = (sum(self.query.cut(cell[0]) for cell in side if isinstance(cell, tuple)) for side in (before, after))
        return ((self.noise(ours), self.noise(theirs)),) if ours != theirs else ()


@attrs.frozen
class NoisyDistinct(_OneAnswer):
    """The number of combinations that occur, with noise.

    Args:
        query: the number.
        noise: the law of an answer whose true value is n.
    """

    query: DistinctCount
    noise: Noise

    def changed(self, counts: grammar.CountChanges) -> tuple[grammar.Case, ...]:
        """Each cell that gains may be new, each that loses may be gone."""
        return self.shifted(sum(c > 0 for c in counts), sum(c < 0 for c in counts))

    def companions(self) -> tuple[int, ...]:
        """One more, so that the kind of a record that goes still occurs."""
        return (0, 1)

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable], space: DatasetSpace) -> grammar.Case:
        ours, theirs = (len(Counter(side).keys() - {None}) for side in (before, after))
        return ((self.noise(ours), self.noise(theirs)),) if ours != theirs else ()


@attrs.frozen(slots=False)
class NoisyWeights(grammar.View):
    """Weighted sums with noise. Records of one part, a box of groups of categories, add one vector.

    Args:
        query: the sums.
        noise: the law of an answer whose true value is n.
    """

    query: WeightedSums
    noise: Noise

    @property
    def table(self) -> Marginal:  # type: ignore[override]  # that of the query
        return self.query.table

    @cached_property
    def vectors(self) -> Mapping[Marginal, tuple[Fraction, ...]]:
        """The parts, each with what one of its records adds."""
        groups = self.query.groups()
        found = {}
        for box in itertools.product(*groups.values()):
            adds = self.query.adds(tuple(min(group) for group in box))
            if adds is not None and any(adds):
                where = tuple((name, tuple(sorted(group))) for name, group in zip(groups, box, strict=True))
                found[Marginal(attributes=(), unit=self.query.unit, where=where)] = adds
        return found

    def parts(self) -> tuple[Marginal, ...]:
        return tuple(self.vectors)

    def singled(self) -> Mapping[str, tuple[frozenset[str], ...]]:
        return self.query.groups()

    def changed(self, counts: grammar.CountChanges) -> tuple[grammar.Case, ...]:
        if not counts or not self.vectors:
            return ((),)
        moved = [
            sum((change * adds[place] for change, adds in zip(counts, self.vectors.values(), strict=True)), Fraction(0))
            for place in range(len(self.query.sums))
        ]  # fmt: skip
        return (tuple((self._law(max(-by, Fraction(0))), self._law(max(by, Fraction(0)))) for by in moved if by),)

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable], space: DatasetSpace) -> grammar.Case:
        ours, theirs = (self.query.of_cells(Counter(c for c in side if c is not None)) for side in (before, after))
        return tuple((self._law(one), self._law(other)) for one, other in zip(ours, theirs, strict=True) if one != other)

    def _law(self, value: Any) -> Law:
        return self.noise(int(value) if self.query.is_whole else value)

    def restricted(self, where: Mapping[str, tuple[str, ...]]) -> grammar.View:
        table = grammar.narrowed(self.table, where)
        return NoisyWeights(params.evolve(self.query, where=dict(table.where)), self.noise)
