"""Published tables as statements about the cells of one population: margins, linked tables, hierarchies, releases in time.

A published cell is a sum of base cells, one base cell for each combination of the finest codes of all attributes:

    cell (a = code, b = code) = sum of the base cells whose codes lie below; an attribute that is missing, or total, is summed

The finest codes of an attribute are those of its hierarchy that are no parent, or, without a hierarchy, those that occur in the
tables. That they are all there are is assumed: a total is the sum of the categories listed.
"""

from __future__ import annotations

import csv
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from dpspec.plugin import errors
from dpspec.plugin.applications import harmless, raise_all, read_bytes
from dpspec_disclosure.feasible_tables import FeasibleSet, Interval, Statement, Terms
from dpspec_disclosure.rules import RuleFile
from dpspec_disclosure.table_files import ADVICE, MOST_BYTES, TableFaults, at_line, opened, whole_number

MOST_BASE_CELLS = 20_000
"""More base cells than this are refused: a linear program then takes more than a second."""

Codes = tuple[tuple[str, str], ...]
"""Attributes with their codes, in the order of the rule file; those summed over are left out."""

TOTALS = frozenset({"total", "totals", "all", "sum", "gesamt", "insgesamt", "summe", "ensemble"})
"""A category of such a name is taken for a total that the rule file does not name: as a category it would be counted twice."""

_BAND = re.compile(r"([0-9]{1,18}) *(?:-|–|to) *([0-9]{1,18})")
_TOP = re.compile(r"([0-9]{1,18}) *(?:\+|or more)")


@attrs.frozen(kw_only=True)
class TableCell:
    """A cell as it is published.

    Args:
        path, line, column: where it is.
        measure: the quantity that is summed; cells of different measures are unrelated.
        codes: the codes of the cell.
        allowed: the totals that it can have; None where it is suppressed and nothing is known.
        suppressed: whether it is.
        row: the fields of its row, by column.
        labels: the label columns.
    """

    path: str
    line: int
    column: str
    measure: str
    codes: Codes
    allowed: tuple[Interval, ...] | None
    suppressed: bool
    row: Mapping[str, str]
    labels: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The cell in words, with its place."""
        path = Path(self.path)
        return f"{path.parent.name}/{path.name}:{self.line} ({cell_name(self.codes)})"


def cell_name(codes: Codes) -> str:
    """A cell in words."""
    return ", ".join(f"{name} {harmless(code, keep='')}" for name, code in codes) or "all"


def read_cells(path: Path, rules: RuleFile, column: str | None = None) -> list[TableCell]:
    """The cells of a table. A number is read by what the rules leave open for it; "20-24" and "100+" as what they say.

    Args:
        column: the column of the numbers; by default as the rules say.

    Raises:
        errors.TableError, errors.Faults: the table cannot be read; every fault with its line and no value.
    """
    faults = TableFaults(str(path))
    cells: list[TableCell] = []
    try:
        header, rows = opened(read_bytes(path, MOST_BYTES))
        labels = [name for name in (rules.columns.labels or header[:1]) if name in header]
        numbers = _number_columns(header, labels, rules, column)
        for number, (line, row) in enumerate(rows, start=1):
            if row and len(row) != len(header):
                faults.add(errors.TableError(f"row {number}", f"has {len(row)} fields instead of {len(header)}"), line)
            elif row:
                fields = {name: text.strip() for name, text in zip(header, row, strict=True)}
                cells += _cells_of_row((path, line, number), fields, (labels, numbers), rules, faults)
        twice = _first_twice(cells)
        if twice is not None:
            rule, advice = "is for the same cell as a row above", "name all label columns as labels in [tables]"
            faults.add(errors.TableError(f"column {twice.column}", rule, advice), twice.line)
    except errors.DpspecError as fault:
        faults.add(fault, fault.line)
    except csv.Error as problem:
        faults.add(errors.TableError("table", f"is no CSV ({problem})", "write it as comma-separated values"), None)
    if faults.number:
        raise_all(faults.shown())
    return cells


def _number_columns(header: Sequence[str], labels: Sequence[str], rules: RuleFile, column: str | None) -> list[str]:
    named = column or rules.columns.published
    if named is not None:
        if named not in header:
            rule = "lacks a column that the rules name in [tables]"
            raise at_line(1, errors.TableError("header", rule, value=named))
        return [named]
    found = [name for name in header if name not in labels]
    if not found:
        raise at_line(1, errors.TableError("header", "has no column of numbers", "name fewer labels in [tables]"))
    return found


def _cells_of_row(
    place: tuple[Path, int, int], fields: Mapping[str, str], columns: tuple[Sequence[str], Sequence[str]], rules: RuleFile,
    faults: TableFaults,
) -> Iterator[TableCell]:  # fmt: skip
    """The cells of a row: `place` is the file, its line and its row; `columns` are those of labels and of numbers."""
    path, line, number = place
    labels, numbers = columns
    written_as = rules.columns
    for column in numbers:
        named = [(name, fields[name]) for name in labels]
        if written_as.across is not None:
            named.append((written_as.across, column))
        codes = tuple((name, code) for name, code in named if code not in written_as.totals)
        strange = next((name for name, code in codes if name in rules.codes and code not in rules.codes[name]), None)
        if strange is not None:
            rule = f"has a code that the hierarchy of {strange} does not have"
            faults.add(errors.TableError(f"row {number}, column {column}", rule, f"add it to the file of codes.{strange}"), line)
            continue
        if any(code.casefold() in TOTALS and name not in rules.codes for name, code in codes):
            rule, advice = "is called like a total, and is none by the rules", "name it in totals of [tables]"
            faults.add(errors.TableError(f"row {number}, column {column}", rule, advice), line)
            continue
        written = fields[column]
        is_suppressed = written in written_as.suppressed or (written_as.blank and not written)
        read = _allowed(written, is_suppressed, rules)
        if isinstance(read, str):
            faults.add(errors.TableError(f"row {number}, column {column}", read, ADVICE), line)
            continue
        yield TableCell(
            path=str(path), line=line, column=column, codes=codes, allowed=read, suppressed=is_suppressed, row=fields,
            labels=tuple(labels),
            measure=column if written_as.across is None else "",
        )  # fmt: skip


def _allowed(written: str, is_suppressed: bool, rules: RuleFile) -> tuple[Interval, ...] | str | None:
    """The values that a field allows, or its fault."""
    if is_suppressed:
        known = rules.allowed(None)
        return None if known == ((0, None),) else known
    band, top = _BAND.fullmatch(written), _TOP.fullmatch(written)
    if band is not None:
        return ((int(band[1]), int(band[2])),) if int(band[1]) <= int(band[2]) else "is a range that ends before it begins"
    if top is not None:
        return ((int(top[1]), None),)
    number = whole_number(written)
    if isinstance(number, str):
        return number
    return rules.allowed(number) or "is no number that the rules can publish"


def _first_twice(cells: Sequence[TableCell]) -> TableCell | None:
    seen: set[tuple[str, Codes]] = set()
    for cell in cells:
        if (cell.measure, cell.codes) in seen:
            return cell
        seen.add((cell.measure, cell.codes))
    return None


# --- one population -------------------------------------------------------------------------------


class Later:
    """The relation of a population to the one before: `same`, `grows` (records are added only), or at most `most` changes."""

    def __init__(self, text: str = "same") -> None:
        found = re.fullmatch(r"same|grows|any|changes=([0-9]{1,9})", text)
        if found is None:
            rule, advice = "must be same, grows, any or changes=N", "for example changes=100"
            raise errors.ParameterError("later", rule, advice, value=text)
        self.kind = text.partition("=")[0]
        self.most = int(found[1]) if found[1] else None


@attrs.frozen(kw_only=True)
class Population:
    """The cells of one measure in one or several releases, and the tables that fit them all.

    Args:
        measure: the quantity that is summed.
        cells: the published cells with the sums that they are.
        feasible: the tables that fit.
        leaves: the finest codes of each attribute.
    """

    measure: str
    cells: tuple[tuple[TableCell, Terms], ...]
    feasible: FeasibleSet
    leaves: Mapping[str, tuple[str, ...]]


def populations(releases: Sequence[Sequence[TableCell]], rules: RuleFile, later: Later) -> Iterator[Population]:
    """The populations of the cells of several releases, one for each measure.

    Raises:
        errors.NotEnumerableError: there are too many base cells.
    """
    for measure in dict.fromkeys(cell.measure for release in releases for cell in release):
        mine = [[cell for cell in release if cell.measure == measure] for release in releases]
        yield _population(measure, mine, rules, later)


def _population(measure: str, releases: Sequence[Sequence[TableCell]], rules: RuleFile, later: Later) -> Population:
    codes: dict[str, dict[str, None]] = {}
    for cell in itertools.chain.from_iterable(releases):
        for name, code in cell.codes:
            codes.setdefault(name, {})[code] = None
    leaves = {name: finest(rules.codes[name]) if name in rules.codes else tuple(seen) for name, seen in codes.items()}
    size = math.prod(len(some) for some in leaves.values())
    blocks = _blocks(len(releases), size, later)
    if size * len(blocks) > MOST_BASE_CELLS:
        rule = f"have more than {MOST_BASE_CELLS:,} combinations of the finest codes"
        raise errors.NotEnumerableError("tables", rule, "audit fewer tables together", value=size * len(blocks))
    below = {name: {code: _below(code, rules.codes.get(name), some) for code in codes[name]} for name, some in leaves.items()}
    found: list[tuple[TableCell, Terms]] = []
    statements: list[Statement] = []
    for number, release in enumerate(releases):
        for cell in release:
            terms = _in_release(_places(cell.codes, leaves, below), number, size, later)
            found.append((cell, terms))
            if cell.allowed is not None:
                statements.append(Statement(terms, cell.allowed, cell.label))
    statements += _relations(len(releases), size, later)
    return Population(measure=measure, cells=tuple(found), leaves=leaves, feasible=FeasibleSet(size * len(blocks), statements))


def separate_measures(measures: Iterable[str]) -> tuple[str, ...]:
    """What is assumed of number columns that have several names; nothing for one name."""
    named = sorted(set(measures))
    return () if len(named) < 2 else (f"assumed: numbers of columns with other names are of something else: {', '.join(named)}",)


def finest(parents: Mapping[str, str | None]) -> tuple[str, ...]:
    """The codes of a hierarchy that are above no other."""
    above = set(parents.values())
    return tuple(code for code in parents if code not in above)


def _below(code: str, parents: Mapping[str, str | None] | None, leaves: Sequence[str]) -> tuple[int, ...]:
    """The places of the finest codes below a code."""

    def lies_below(leaf: str | None) -> bool:
        while leaf is not None and parents is not None:
            if leaf == code:
                return True
            leaf = parents[leaf]
        return leaf == code

    return tuple(place for place, leaf in enumerate(leaves) if lies_below(leaf))


def _places(codes: Codes, leaves: Mapping[str, Sequence[str]], below: Mapping[str, Mapping[str, tuple[int, ...]]]) -> list[int]:
    """The base cells of a cell."""
    named, strides, stride = dict(codes), [], 1
    for name, some in leaves.items():
        strides.append([place * stride for place in (below[name][named[name]] if name in named else range(len(some)))])
        stride *= len(some)
    return sorted(sum(chosen) for chosen in itertools.product(*strides))


def base_cells(codes: Codes, leaves: Mapping[str, Sequence[str]]) -> list[int]:
    """The base cells of a cell that is named by finest codes; an attribute that is not named is summed over.

    >>> base_cells((("age", "old"),), {"region": ("N", "S"), "age": ("young", "old")})
    [2, 3]
    """
    return _places(codes, leaves, {name: {code: (place,) for place, code in enumerate(some)} for name, some in leaves.items()})


# --- releases in time: x_2 = x_1, or x_1 + joined - left, each at least 0 --------------------------


def _blocks(releases: int, size: int, later: Later) -> list[int]:
    """The unknowns: the first population, and what changes after each release."""
    per_change = {"same": 0, "grows": 1, "any": 0, "changes": 2}[later.kind]
    count = releases if later.kind == "any" else 1 + per_change * (releases - 1)
    return [place * size for place in range(count)]


def _in_release(places: Sequence[int], number: int, size: int, later: Later) -> Terms:
    """A sum of base cells in release `number`."""
    if later.kind == "same":
        return tuple((place, 1) for place in places)
    if later.kind == "any":
        return tuple((place + number * size, 1) for place in places)
    if later.kind == "grows":
        return tuple((place + block * size, 1) for block in range(number + 1) for place in places)
    signs = [1, *([1, -1] * number)]
    return tuple((place + block * size, sign) for block, sign in enumerate(signs) for place in places)


def _relations(releases: int, size: int, later: Later) -> Iterator[Statement]:
    if later.kind != "changes":
        return
    for number in range(1, releases):
        first = (2 * number - 1) * size
        changed = tuple((place, 1) for place in range(first, first + 2 * size))
        yield Statement(changed, ((0, later.most),), f"at most {later.most} changes before release {number + 1}")
        for place in range(size):
            terms = _in_release([place], number, size, later)
            yield Statement(terms, ((0, None),), "no count is negative")
