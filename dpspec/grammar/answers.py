"""Released tables of numbers: one row for each cell, and one column for each attribute.

The columns are, in this order:

    query       the query that the number answers, in words
    measure     what the number is; only where some query is no table of counts, such as a sum
    attributes  one column for each attribute of the queries, with the category of the cell
    value       the published number; missing where none is published
    status      `PUBLISHED`, `SUPPRESSED` or `CHOSEN`

Categories are never joined into one text. Two cells of one query differ in the column of an attribute or in the measure, and two
queries differ in their words. So no two cells have equal rows, whatever their categories are.

A query need not have the attribute of a column. Its rows then have `ALL` there, or, if it counts only some of the categories,
this category or `SOME`. A missing value would not do: pandas leaves out such rows when it groups, and SDMX has no observation
without a code for each dimension.

>>> from dpspec.blocks.records import UnorderedRecords
>>> sex, age = Attribute(name="sex", categories=("f", "m")), Attribute(name="age", count=2)
>>> people = UnorderedRecords(attributes=(sex, age))
>>> queries = [Marginal(attributes=("sex", "age")), Marginal(attributes=("sex",))]
>>> table = answer_table([cells_of(query, people) for query in queries], [5, 0, -1, 3, 4, 2])
>>> [a.name for a in table.attributes]
['query', 'sex', 'age', 'value', 'status']
>>> list(table.records())[-1]
('person by sex', 'm', '(all)', '2', 'published')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeGuard

import attrs

from dpspec.base.errors import TableError
from dpspec.base.lazy import late_module
from dpspec.base.promises import is_a
from dpspec.base.types import AnyIntegers, Mask
from dpspec.blocks.invariant import WHERE, Invariant, Marginal, conditions_in_words
from dpspec.blocks.space import MEMBERS, Attribute, DatasetSpace
from dpspec.grammar.tables import (
    HOUSEHOLD_ID,
    MOST_LISTED,
    Codes,
    Countable,
    NumberedAttribute,
    NumberRange,
    Table,
    TableStream,
    compact,
    joined,
    ranked,
)

if TYPE_CHECKING:
    import numpy as np
else:
    np = late_module("numpy")

QUERY, MEASURE, VALUE, STATUS = "query", "measure", "value", "status"
ALL = "(all)"
"""In the column of an attribute over all of whose categories a number is summed."""
SOME = "(some)"
"""In the column of an attribute over several of whose categories a number is summed: the query names them."""
PUBLISHED = "published"
SUPPRESSED = "suppressed"
"""The status of a number that is withheld."""
WITHHELD = "x"
"""What an outcome of a law has in place of a withheld number."""
CHOSEN = "chosen"
"""The status of a cell that is published without a number, because its selection is the released information."""
_RESERVED = re.compile(rf"(?:{QUERY}|{MEASURE}|{VALUE}|{STATUS}|margin(?:_[0-9]+)?)_*")
_EARLIER = ("query", "cell", "answer")

MOST_CELLS = 1 << 26
"""Cells are combined as columns of codes up to so many."""


def column_of(attribute: str, *others: str) -> str:
    """The released column of an attribute: its name, with an underscore more where another column may be called so.

    Args:
        attribute: its name.
        others: the columns of the table in addition to those of every such table.

    >>> column_of("age"), column_of("value"), column_of("value_"), column_of("level", "level")
    ('age', 'value_', 'value__', 'level_')
    """
    return f"{attribute}_" if _RESERVED.fullmatch(attribute) or attribute.rstrip("_") in others else attribute


def are_numbers(columns: Sequence[str], space: DatasetSpace) -> bool:
    """Whether columns are those of a released table that has published numbers in its rows, and no records.

    Args:
        columns: the columns of a file.
        space: the dataset space; its attributes may be called like the columns of numbers.
    """
    own = {*columns} - {HOUSEHOLD_ID}
    are_records = any(own == {a.name for a in space.attributes_of(unit)} - {MEMBERS} for unit in space.units)
    return len(columns) > 1 and columns[-1] == STATUS and VALUE in columns and not are_records


def are_answers(columns: Sequence[str], space: DatasetSpace) -> bool:
    """Whether columns are those of a released table of answers to queries.

    >>> from dpspec.blocks.records import UnorderedRecords
    >>> space = UnorderedRecords(attributes=(Attribute(name="sex", categories=("f", "m")),))
    >>> are_answers(("query", "sex", "value", "margin_95", "status"), space), are_answers(("sex",), space)
    (True, False)
    """
    return are_numbers(columns, space) and columns[0] == QUERY


def check_current(columns: Sequence[str], file: str) -> None:
    """Refuse the columns that dpspec released before there was one for each attribute.

    Raises:
        TableError: the columns are query, cell and answer.
    """
    if tuple(columns) == _EARLIER:
        rule = "has the columns query, cell and answer, in which an earlier version of dpspec released numbers"
        raise TableError(file, rule, "use that version, or write a column for each attribute, then value and status")


def has_numbers(table: Countable) -> bool:
    """Whether a table has published numbers in its rows, and no records."""
    return any(a.name == VALUE and isinstance(a, NumberedAttribute) for a in table.attributes)


def has_answers(table: Countable) -> bool:
    """Whether a table has the answers to queries in its rows."""
    return has_numbers(table) and table.attributes[0].name == QUERY


# --- cells ----------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, eq=False)
class AnswerCells:
    """The cells of the answers to one query, in the order of the answers.

    Args:
        query: the query.
        columns: for each attribute of the query the code of every cell.
        size: how many cells there are.
        measures: what each number is, where the query is no table of counts; None where it is one.
    """

    query: Invariant
    columns: Mapping[Attribute, Codes]
    size: int
    measures: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return self.size

    def rows(self, chosen: Sequence[int] | Codes) -> AnswerCells:
        """Some of the cells."""
        places = np.asarray(chosen, dtype=np.int64)
        columns = {attribute: codes[places] for attribute, codes in self.columns.items()}
        measures = None if self.measures is None else tuple(self.measures[place] for place in places.tolist())
        return attrs.evolve(self, columns=columns, size=len(places), measures=measures)

    def mark(self, attribute: str) -> str:
        """The value in the column of an attribute that the query does not have."""
        counted = self.query.mentions().get(attribute, frozenset())
        return ALL if not counted else next(iter(counted)) if len(counted) == 1 else SOME


def cells_of(query: Invariant, space: DatasetSpace) -> AnswerCells:
    """The cells of a query in the order of its answers; of a query that is no table of counts, the names of its answers."""
    if not _lists_cells(query):
        labels = tuple(query.labels(space))
        return AnswerCells(query=query, columns={}, size=len(labels), measures=labels)
    known = {a.name: a for a in space.attributes_of(query.unit)}
    attributes = [known[name] for name in dict.fromkeys(query.attributes)]
    codes = combined_codes(query, space)
    if codes is None:
        cells = list(query.cells(space))
        codes = {}
        for attribute in attributes:
            column = query.attributes.index(attribute.name)
            places = {category: place for place, category in enumerate(attribute.values())}
            codes[attribute.name] = compact([places[str(cell[column])] for cell in cells], attribute.size)
        size = len(cells)
    else:
        size = len(next(iter(codes.values()), (None,)))
    return AnswerCells(query=query, columns={a: codes[a.name] for a in attributes}, size=size)


def combined_codes(query: Marginal, space: DatasetSpace) -> dict[str, Codes] | None:
    """For each attribute of a table of counts the codes of its cells: all combinations that nesting allows, in their order.

    None where there are more than `MOST_CELLS`, or `cells_in_order` does not give them.
    """
    if not is_in_order(query, space) or (count := number_of_cells(query, space)) > MOST_CELLS:
        return None
    attributes = [a for a in space.attributes_of(query.unit) if a.name in query.attributes]
    found = {a.name: np.empty(count, dtype=compact((), a.size).dtype) for a in attributes}
    begin = 0
    for piece in cells_in_order(query, space, _PIECE):
        for attribute, codes in piece.columns.items():
            found[attribute.name][begin : begin + len(piece)] = codes
        begin += len(piece)
    return found


def number_of_cells(query: Marginal, space: DatasetSpace) -> int:
    """How many cells a table of counts has, which is `is_in_order`; none is listed.

    >>> from dpspec.blocks.records import UnorderedRecords
    >>> county, tract = Attribute(name="county", count=2), Attribute(name="tract", count=5, within="county")
    >>> places = UnorderedRecords(attributes=(county, tract, Attribute(name="sex", categories=("f", "m"))))
    >>> number_of_cells(Marginal(attributes=("county", "tract", "sex"), where={"county": ["0"]}), places)
    6
    """
    attributes = {a.name: a for a in space.attributes_of(query.unit) if a.name in query.attributes}
    cells, weights = 1, {name: np.ones(a.size, dtype=np.int64) for name, a in attributes.items()}
    for name, attribute in reversed(attributes.items()):  # a finer attribute comes before the coarser one that it lies in
        own = weights[name] if (kept := _kept(query, attribute)) is None else weights[name] * kept
        if attribute.within in attributes:
            inside = np.zeros(attributes[attribute.within].size, dtype=np.int64)
            np.add.at(inside, _parents(attribute, attributes[attribute.within]), own)
            weights[attribute.within] *= inside
        else:
            cells *= int(own.sum())
    return cells


def _kept(query: Marginal, attribute: Attribute) -> Mask | None:
    """Which categories of an attribute are counted; None where all are."""
    where = dict(query.where)
    if attribute.name not in where:
        return None
    return np.asarray([category in where[attribute.name] for category in attribute.values()])


def _parents(attribute: Attribute, coarser: Attribute) -> Codes:
    """For each category of a nested attribute the place of the coarser one in which it lies."""
    from dpspec.grammar.table_files import parents  # with numpy, which `verify` of a small file does without

    return parents(attribute, coarser)


_PIECE = 1 << 18
"""Cells that are combined at a time."""


def cells_in_order(query: Marginal, space: DatasetSpace, size: int, order: Sequence[str] | None = None) -> Iterator[AnswerCells]:
    """The cells of a table of counts in the order of its answers, at most `size` at a time; held are no more.

    Args:
        query: the table, which is `is_in_order`.
        space: the dataset space.
        size: how many cells there are at a time.
        order: the attributes of the table, the slowest first; None for their order in the space, which that of the answers is.

    >>> from dpspec.blocks.records import UnorderedRecords
    >>> people = UnorderedRecords(attributes=(Attribute(name="sex", categories=("f", "m")), Attribute(name="age", count=3)))
    >>> pieces = cells_in_order(Marginal(attributes=("sex", "age")), people, 4)
    >>> [[codes.tolist() for codes in piece.columns.values()] for piece in pieces]
    [[[0, 0, 0, 1], [0, 1, 2, 0]], [[1, 1], [1, 2]]]
    """
    known = {a.name: a for a in space.attributes_of(query.unit)}
    attributes = [known[name] for name in (_in_space(query, space) if order is None else order)]
    named = [known[name] for name in query.attributes]
    found: Iterator[tuple[int, tuple[Codes, ...]]] = iter([(1, ())])
    for place, attribute in enumerate(attributes):
        found = _combined_with(found, attributes[:place], attribute, _kept(query, attribute), size)
    for rows, columns in found:
        codes = dict(zip(attributes, columns, strict=True))
        yield AnswerCells(query=query, columns={a: codes[a] for a in named}, size=rows)


def _combined_with(
    rows: Iterator[tuple[int, tuple[Codes, ...]]], before: Sequence[Attribute], attribute: Attribute, kept: Mask | None, size: int
) -> Iterator[tuple[int, tuple[Codes, ...]]]:
    """Rows of codes, each with every category of a further attribute that it can have."""
    coarser = next((place for place, one in enumerate(before) if one.name == attribute.within), None)
    own: Codes | None = None if kept is None else compact(np.flatnonzero(kept), attribute.size)
    if coarser is None:
        held, first = np.asarray([attribute.size if own is None else len(own)]), np.zeros(1, dtype=np.int64)
    else:
        every = np.arange(attribute.size) if own is None else own
        above = _parents(attribute, before[coarser])[every]
        own = compact(every[np.argsort(above, kind="stable")], attribute.size)
        held = np.bincount(above, minlength=before[coarser].size)
        first = np.cumsum(held) - held
    for count, columns in rows:
        parent = np.zeros(count, dtype=np.int64) if coarser is None else columns[coarser]
        times = held[parent]
        ends = np.cumsum(times)
        for begin in range(0, int(ends[-1]), size):
            end = min(begin + size, int(ends[-1]))
            which = np.arange(np.searchsorted(ends, begin, side="right"), np.searchsorted(ends, end - 1, side="right") + 1)
            starts = ends[which] - times[which]
            row = np.repeat(which, np.minimum(ends[which], end) - np.maximum(starts, begin))
            offset = np.arange(begin, end)
            offset -= (starts - first[parent[which]])[row - which[0]]
            added = compact(offset, attribute.size) if own is None else own[offset]
            yield end - begin, (*(column[row] for column in columns), added)


def is_in_order(query: Invariant, space: DatasetSpace, order: Sequence[str] | None = None) -> bool:
    """Whether a query is a table of counts whose cells `cells_in_order` gives: each attribute is named once, and a coarser one is
    before a finer one.

    Args:
        query: the query.
        space: the dataset space.
        order: as of `cells_in_order`.
    """
    if not _lists_cells(query):
        return False
    known, names = {a.name: a for a in space.attributes_of(query.unit)}, _in_space(query, space) if order is None else [*order]
    within = [known[name].within for name in names]
    return sorted(names) == sorted(query.attributes) and all(one not in names[place:] for place, one in enumerate(within))


def _in_space(query: Marginal, space: DatasetSpace) -> list[str]:
    """The attributes of a table of counts in the order of the space."""
    return [a.name for a in space.attributes_of(query.unit) if a.name in query.attributes]


def _lists_cells(query: Invariant) -> TypeGuard[Marginal]:
    """Whether a query is a table of counts with the cells and labels of one: a derived class may have others."""
    return is_a(query, Marginal) and type(query).labels is Marginal.labels and type(query).cells is Marginal.cells


def in_pieces(cells: Iterable[tuple[int, AnswerCells]], size: int) -> Iterator[list[tuple[int, AnswerCells]]]:
    """The cells of queries one after the other, cut into pieces of `size` cells and one of the rest.

    Args:
        cells: the number of each query, and some of its cells.
        size: how many cells a piece has.
    """
    held: list[tuple[int, AnswerCells]] = []
    count = 0
    for place, part in cells:
        begin = 0
        while begin < len(part):
            end = min(begin + size - count, len(part))
            held.append((place, part if end - begin == len(part) else part.rows(np.arange(begin, end))))
            begin, count = end, count + end - begin
            if count == size:
                yield held
                held, count = [], 0
    if held:
        yield held


# --- tables ---------------------------------------------------------------------------------------


def answer_table(
    parts: Sequence[AnswerCells],
    values: AnyIntegers | Sequence[int],
    hidden: Mask | None = None,
    status: str = SUPPRESSED,
    names: Sequence[str] | None = None,
) -> Table:
    """The released table of the answers to some queries.

    Args:
        parts: the cells of each query.
        values: the numbers of all cells, one query after the other.
        hidden: for each number whether it is withheld; None where all are published.
        status: the status of the withheld ones.
        names: the words of each query; None for those of the query itself.
    """
    columns = AnswerColumns.of(parts, names)
    found = [columns.codes(place, part) for place, part in enumerate(parts)]
    codes = {a.name: one_column([piece[a.name] for piece in found]) for a in columns.attributes}
    attributes = list(columns.attributes)
    for attribute, column in number_columns(values, hidden, status):
        attributes.append(attribute)
        codes[attribute.name] = compact(column, attribute.size)
    return Table(attributes=tuple(attributes), codes=codes)


def one_column(pieces: Sequence[Codes]) -> Codes:
    """One column from its pieces."""
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


@attrs.frozen(kw_only=True)
class AnswerColumns:
    """The columns of a released table that say which number is in a row, for tables that are made piece by piece as well.

    Args:
        attributes: the columns.
        queries: for each query its code.
        marks: for each query the codes of the columns of attributes that it does not have.
        moved: for each query the codes of the categories of its attributes, where these are others than its own.
    """

    attributes: tuple[Attribute, ...]
    queries: tuple[int, ...]
    marks: tuple[Mapping[str, int], ...]
    moved: tuple[Mapping[str, Codes], ...]

    @classmethod
    def of(cls, parts: Sequence[AnswerCells], names: Sequence[str] | None = None) -> AnswerColumns:
        """The columns of some queries.

        Args:
            parts: for each query some of its cells, or all; all of a query that is no table of counts.
            names: the words of each query; None for those of the query itself.
        """
        words = names or query_names([part.query for part in parts])
        kinds = tuple(dict.fromkeys(words))
        attributes = [Attribute(name=QUERY, categories=kinds)]
        if any(part.measures is not None for part in parts):
            texts = (text for part in parts for text in (_measures(part) if len(part) else ()))
            attributes.append(Attribute(name=MEASURE, categories=tuple(dict.fromkeys(texts))))
        marks: list[dict[str, int]] = [{} for _ in parts]
        moved: list[dict[str, Codes]] = [{} for _ in parts]
        for name in dict.fromkeys(a.name for part in parts for a in part.columns):
            own = [next((a for a in part.columns if a.name == name), None) for part in parts]
            marked = [part.mark(name) if found is None else None for part, found in zip(parts, own, strict=True)]
            categories = list(dict.fromkeys(found for found in own if found is not None))
            attribute, places = _with_marks(
                column_of(name), categories, tuple(dict.fromkeys(mark for mark in marked if mark is not None))
            )
            attributes.append(attribute)
            for query, (found, mark) in enumerate(zip(own, marked, strict=True)):
                if found is None:
                    marks[query][attribute.name] = places[str(mark)]
                elif found in places:
                    moved[query][attribute.name] = places[found]
        return cls(
            attributes=tuple(attributes), queries=tuple(map(kinds.index, words)), marks=tuple(marks), moved=tuple(moved)
        )  # fmt: skip

    def codes(self, place: int, cells: AnswerCells) -> dict[str, Codes]:
        """The codes of some cells of a query.

        Args:
            place: which query.
            cells: the cells.
        """
        own: dict[str, Codes] = {column_of(a.name): codes for a, codes in cells.columns.items()}
        own = {name: self.moved[place][name][codes] if name in self.moved[place] else codes for name, codes in own.items()}
        fixed = {QUERY: self.queries[place], **self.marks[place]}
        found = {}
        for attribute in self.attributes:
            name = attribute.name
            if name == MEASURE:
                texts = {text: code for code, text in enumerate(attribute.categories)}
                own[name] = np.asarray([texts[text] for text in _measures(cells)], dtype=np.int64)
            column = np.broadcast_to(np.int64(fixed[name]), len(cells)) if name in fixed else own[name]
            found[name] = compact(column, attribute.size)
        return found


def _measures(part: AnswerCells) -> Sequence[str]:
    """What each number is."""
    return ("count",) * len(part) if part.measures is None else part.measures


def query_names(queries: Sequence[Invariant]) -> list[str]:
    """The words of each query; of two different ones with the same words, the second has a number.

    >>> from dpspec.blocks.invariant import FunctionInvariant
    >>> one, other = (FunctionInvariant(function=function, label="size") for function in (len, sum))
    >>> query_names([one, other, one])
    ['size', 'size (2)', 'size']
    """
    found: dict[Invariant, str] = {}
    taken: set[str] = set()
    for query in queries:
        if query not in found:
            name, number = str(query), 1
            while name in taken:
                number += 1
                name = f"{query} ({number})"
            taken.add(name)
            found[query] = name
    return [found[query] for query in queries]


def number_columns(
    values: AnyIntegers | Sequence[int], hidden: Mask | None = None, status: str = SUPPRESSED
) -> Iterator[tuple[Attribute, Codes]]:
    """The columns value and status.

    Args:
        values: the numbers.
        hidden: for each number whether it is withheld; None where all are published.
        status: the status of the withheld ones.
    """
    hidden = np.zeros(len(values), dtype=np.bool_) if hidden is None else hidden
    yield _values(values, hidden)
    kinds = (PUBLISHED, status) if hidden.any() else (PUBLISHED,)
    yield Attribute(name=STATUS, categories=kinds), hidden.view(np.uint8)


def _values(values: AnyIntegers | Sequence[int], hidden: Mask) -> tuple[NumberedAttribute, Codes]:
    """The column of the numbers that are not hidden: of the others, nothing is in it."""
    if not hidden.any():
        return numbered(VALUE, values)
    shown, column = numbered(VALUE, _whole_numbers(values)[~hidden])
    places = np.full(len(hidden), shown.size, dtype=np.int64)
    places[~hidden] = column
    return NumberedAttribute(VALUE, shown.numbers, ("",)), compact(places, shown.size + 1)


def changed(table: Table, change: Callable[[int], int | None]) -> Table:
    """A released table whose published numbers are changed one by one.

    Args:
        table: the table.
        change: the published value in place of a number; None where it is suppressed.
    """
    column, codes = table.attribute(VALUE), table.codes[VALUE]
    if not isinstance(column, NumberedAttribute):
        raise TableError("table", "has no published numbers", "give a released table of answers to queries")
    new = [change(int(number)) for number in column.numbers.tolist()]
    numbers = _whole_numbers([*(0 if number is None else number for number in new), *(0 for _ in column.texts)])
    gone = np.asarray([number is None for number in new] + [False] * len(column.texts), dtype=np.bool_)[codes]
    hidden = column.is_missing(codes) | gone
    kinds = list(dict.fromkeys([*table.attribute(STATUS).values(), *([SUPPRESSED] if gone.any() else [])]))
    statuses = np.where(gone, kinds.index(SUPPRESSED), table.codes[STATUS]) if gone.any() else table.codes[STATUS]
    value, places = _values(numbers[codes], hidden)
    columns = {VALUE: value, STATUS: Attribute(name=STATUS, categories=tuple(kinds))}
    attributes = tuple(columns.get(a.name, a) for a in table.attributes)
    return Table(attributes=attributes, codes={**table.codes, VALUE: places, STATUS: compact(statuses, len(kinds))})


def narrowed(
    table: Table, where: Sequence[tuple[str, tuple[str, ...]]], words: Mapping[str, str] = MappingProxyType({})
) -> Table:
    """A released table of answers about the records that meet conditions, with these in the words of its queries.

    One of numbers that names no queries gets a column that says whose they are. Of a table of records nothing changes.

    Args:
        table: the released table.
        where: the conditions.
        words: the words of queries about these records by those of queries about all; where it has none, the conditions follow.
    """
    if not where or not has_numbers(table):
        return table
    added = conditions_in_words(where)
    if QUERY not in table.codes:
        named = Attribute(name=QUERY, categories=(f"records{WHERE}{added}",))
        first = np.zeros(len(table), dtype=np.uint8)
        return attrs.evolve(table, attributes=(named, *table.attributes), codes={QUERY: first, **table.codes})
    queries = [words.get(one, f"{one}{', ' if WHERE in one else WHERE}{added}") for one in table.attribute(QUERY).values()]
    different = list(dict.fromkeys(queries))  # two queries may be the same one about these records
    codes = compact(np.asarray([different.index(one) for one in queries])[table.codes[QUERY]], len(different))
    named = Attribute(name=QUERY, categories=tuple(different))
    attributes = tuple(named if a.name == QUERY else a for a in table.attributes)
    return attrs.evolve(table, attributes=attributes, codes={**table.codes, QUERY: codes})


def narrowed_stream(
    stream: TableStream, where: Sequence[tuple[str, tuple[str, ...]]], words: Mapping[str, str] = MappingProxyType({})
) -> TableStream:
    """The same of a table that is made batch by batch.

    Args:
        stream: the released table.
        where, words: as of `narrowed`.
    """
    attributes = narrowed(joined(stream.attributes, ()), where, words).attributes
    return attrs.evolve(
        stream, attributes=attributes, batches=lambda: (narrowed(batch, where, words) for batch in stream.batches())
    )


def numbered(name: str, values: AnyIntegers | Sequence[int]) -> tuple[NumberedAttribute, Codes]:
    """A column of whole numbers: the different ones, and the place of each among them."""
    numbers = _whole_numbers(values)
    if numbers.dtype == object or not len(numbers):
        kinds, places = np.unique(numbers, return_inverse=True)
        return NumberedAttribute(name, _whole_numbers(kinds.tolist())), places
    different, ranks, _ = ranked(numbers)
    return NumberedAttribute(name, different), ranks


def _whole_numbers(values: AnyIntegers | Sequence[int]) -> AnyIntegers:
    """Whole numbers in 64 bits where all have room, else as Python's integers."""
    if isinstance(values, np.ndarray):
        return values
    wide = any(abs(value) >> 63 for value in values)
    return np.asarray(values, dtype=object if wide else np.int64)


def _with_marks(column: str, kinds: Sequence[Attribute], marks: tuple[str, ...]) -> tuple[Attribute, dict[Any, Any]]:
    """An attribute that has the categories of others and some marks; the code of each mark, and of the categories that move.

    A mark that is a category has its code: the rows of another query cannot be taken for each other.
    """
    first = kinds[0]
    if len(kinds) == 1 and not marks:
        same = Attribute(name=column, categories=first.categories, count=first.count)
        return same, {}
    if len(kinds) == 1 and first.count is not None and first.count > MOST_LISTED:
        new = tuple(mark for mark in marks if not _is_code(mark, first.count))
        codes = {mark: int(mark) if _is_code(mark, first.count) else first.count + new.index(mark) for mark in marks}
        return NumberRange(column, 0, first.count, new), codes
    every = dict.fromkeys([*(category for kind in kinds for category in kind.values()), *marks])
    known = {category: place for place, category in enumerate(every)}
    moved: dict[Any, Any] = {mark: known[mark] for mark in marks}
    for kind in kinds[1:]:
        moved[kind] = np.asarray([known[category] for category in kind.values()])
    return Attribute(name=column, categories=tuple(every)), moved


def _is_code(text: str, count: int) -> bool:
    return text.isascii() and text.isdecimal() and str(int(text)) == text and int(text) < count
