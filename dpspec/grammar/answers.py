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

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from dpspec.base.errors import TableError
from dpspec.base.lazy import late_module
from dpspec.base.promises import is_a
from dpspec.base.types import AnyIntegers, Mask
from dpspec.blocks.invariant import Invariant, Marginal
from dpspec.blocks.space import MEMBERS, Attribute, DatasetSpace
from dpspec.grammar.tables import HOUSEHOLD_ID, MOST_LISTED, Codes, Countable, NumberedAttribute, Table, compact, ranked

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
CHOSEN = "chosen"
"""The status of a cell that is published without a number, because its selection is the released information."""
_RESERVED = re.compile(rf"(?:{QUERY}|{MEASURE}|{VALUE}|{STATUS}|margin(?:_[0-9]+)?)_*")
_EARLIER = ("query", "cell", "answer")

MOST_CELLS = 1 << 26
"""Cells are combined as columns of codes up to so many, those on the way included."""


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
    if not is_a(query, Marginal) or type(query).labels is not Marginal.labels or type(query).cells is not Marginal.cells:
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

    None where they are not known to be at most `MOST_CELLS` on the way, an attribute is named twice, or a coarser attribute comes
    after a finer one.
    """
    known, where = {a.name: a for a in space.attributes_of(query.unit)}, dict(query.where)
    attributes = [a for name, a in known.items() if name in query.attributes]
    if len(attributes) != len(query.attributes) or math.prod(a.size for a in attributes) > MOST_CELLS:
        return None
    names, columns = [a.name for a in attributes], list[Codes]()
    for place, attribute in enumerate(attributes):
        rows = len(columns[0]) if columns else 1
        kept = None
        if attribute.name in where:
            kept = np.asarray([category in where[attribute.name] for category in attribute.values()])
        if attribute.within in names:
            if attribute.within not in names[:place]:
                return None
            coarser = names.index(attribute.within)
            times, mine = _nested(attribute, attributes[coarser], columns[coarser], kept)
        else:
            chosen = np.arange(attribute.size) if kept is None else np.flatnonzero(kept)
            own = compact(chosen, attribute.size)
            mine, times = np.tile(own, rows), np.full(rows, len(own))
        columns = [np.repeat(column, times) for column in columns] if place else []
        columns.append(compact(mine, attribute.size))
    return dict(zip(names, columns, strict=True))


def _nested(attribute: Attribute, coarser: Attribute, parent: Codes, kept: Mask | None) -> tuple[Codes, Codes]:
    """For each row how many categories lie within that of the coarser attribute, and these categories, row by row."""
    from dpspec.grammar.table_files import parents  # with numpy, which `verify` of a small file does without

    above = parents(attribute, coarser)
    order = np.argsort(above, kind="stable")
    order = order if kept is None else order[kept[order]]
    held = np.bincount(above[order], minlength=coarser.size)
    times, first = held[parent], (np.cumsum(held) - held)[parent]
    begin = np.repeat(first - (np.cumsum(times) - times), times)
    return times, order[begin + np.arange(len(begin))]


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
    attributes: list[Attribute] = []
    codes: dict[str, Codes] = {}

    def add(attribute: Attribute, column: Codes) -> None:
        attributes.append(attribute)
        codes[attribute.name] = compact(column, attribute.size)

    sizes, words = [len(part) for part in parts], names or query_names([part.query for part in parts])
    kinds = tuple(dict.fromkeys(words))
    add(Attribute(name=QUERY, categories=kinds), np.repeat(compact([kinds.index(one) for one in words], len(kinds)), sizes))
    if any(part.measures is not None for part in parts):
        add(*_listed(MEASURE, [("count",) * len(part) if part.measures is None else part.measures for part in parts]))
    for name in dict.fromkeys(a.name for part in parts for a in part.columns):
        add(*_column(name, parts))
    for attribute, column in number_columns(values, hidden, status):
        add(attribute, column)
    return Table(attributes=tuple(attributes), codes=codes)


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


def _listed(name: str, parts: Sequence[Sequence[str]]) -> tuple[Attribute, Codes]:
    """A column of texts."""
    kinds = {text: place for place, text in enumerate(dict.fromkeys(text for part in parts for text in part))}
    codes = np.fromiter((kinds[text] for part in parts for text in part), dtype=np.int64)
    return Attribute(name=name, categories=tuple(kinds)), codes


def _column(name: str, parts: Sequence[AnswerCells]) -> tuple[Attribute, Codes]:
    """The column of an attribute."""
    own = [next(((a, codes) for a, codes in part.columns.items() if a.name == name), None) for part in parts]
    kinds = list(dict.fromkeys(found[0] for found in own if found is not None))
    marks = [None if found is not None else part.mark(name) for part, found in zip(parts, own, strict=True)]
    attribute, places = _with_marks(column_of(name), kinds, tuple(dict.fromkeys(mark for mark in marks if mark is not None)))
    pieces: list[Codes] = []
    for part, found, mark in zip(parts, own, marks, strict=True):
        if found is None:
            pieces.append(compact(np.broadcast_to(np.int64(places[str(mark)]), len(part)), attribute.size))
        else:
            moved = places.get(found[0])
            pieces.append(found[1] if moved is None else moved[found[1]])
    return attribute, pieces[0] if len(pieces) == 1 else np.concatenate([compact(piece, attribute.size) for piece in pieces])


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
        return NumberedAttribute(column, np.arange(first.count), new), codes
    every = dict.fromkeys([*(category for kind in kinds for category in kind.values()), *marks])
    known = {category: place for place, category in enumerate(every)}
    moved: dict[Any, Any] = {mark: known[mark] for mark in marks}
    for kind in kinds[1:]:
        moved[kind] = np.asarray([known[category] for category in kind.values()])
    return Attribute(name=column, categories=tuple(every)), moved


def _is_code(text: str, count: int) -> bool:
    return text.isascii() and text.isdecimal() and str(int(text)) == text and int(text) < count
