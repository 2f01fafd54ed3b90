"""`dpspec new spec --from TABLE`: a specification that begins with the columns of a table.

Attributes, their categories, ranges of numbers and the nesting of a geography are proposed, and written with comments. What is
read off a confidential table is a fact about it: each such attribute is listed as `observed` in the file, and the linter says so.
A codebook that was there before the data gives none away.

    look        what each column holds, without a value of a column that has many
    draft       an attribute for each column, or the reason why it is none
    nestings    which attribute lies within which, found on the table as it will be read
    text        the file
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs
import numpy as np

from dpspec.plugin import Attribute, ParameterError, Table
from dpspec.plugin.applications import SCHEMA_LINE, count, did_you_mean, harmless, raise_all, read_bytes
from dpspec.plugin.releases import (
    HOUSEHOLD_ID,
    MEMBERS,
    SIZE_LIMIT,
    ColumnSeen,
    DpspecError,
    Formats,
    TableError,
    TableLayout,
    check_regular,
    evolve,
    format_of,
    is_id,
    named,
    read_table,
)

MOST_COLUMNS = 300
"""A table of more columns is refused, unless some are named."""
MOST_LISTED = 60
"""The categories of a column are listed where there are at most so many."""
MOST_COUNTED = 200
"""Whole numbers from 0 to below this become as many categories; larger ones, bands."""
BANDS = 8
"""About so many bands are proposed for a column of numbers."""
LONGEST = 200
"""A value of more characters is no category."""
ABSENT = "not stated"
"""The category that is proposed for a missing value."""
_ENOUGH = 5
"""The average number of records of each category from which a possible nesting is presented for confirmation."""

_TAKEN = (MEMBERS, HOUSEHOLD_ID)
_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?", re.ASCII)
_NESTED = re.compile(r"(?P<fine>.+?)=(?P<coarse>.+)")


@attrs.frozen(kw_only=True)
class Draft:
    """The draft of a dataset space for a table.

    Args:
        table: its file.
        rows: its records.
        attributes: an attribute for each column that can be one.
        remarks: comments of the file on an attribute, by its name.
        left_out: the columns that are none, each with the reason.
        layout: how the table lies on disk.
        uncovered: the attributes whose codebook is not known to name every value that occurs.
        bare: so many records at most have nothing in any column.
        same: groups of attributes that say the same of every record.
        nested: the nestings that were found and are not settled: finer, coarser.
    """

    table: Path
    rows: int
    attributes: tuple[Attribute, ...]
    remarks: Mapping[str, str]
    left_out: tuple[tuple[str, str], ...]
    layout: TableLayout
    uncovered: tuple[str, ...] = ()
    bare: int = 0
    same: tuple[tuple[str, ...], ...] = ()
    nested: tuple[tuple[str, str], ...] = ()

    def attribute(self, name: str) -> Attribute:
        """The attribute of a name."""
        return next(a for a in self.attributes if a.name == name)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for the publisher of the file, a line each."""
        lost = [(name, why) for name, why in self.left_out if why != _UNASKED]
        found = [f"column '{harmless(name, keep='')}' is left out: it {why}" for name, why in lost[:_SHOWN]]
        if len(lost) > _SHOWN:
            found.append(f"{len(lost) - _SHOWN:,} more columns are left out: the file says why")
        found += [f"{_all_of(group)} say the same of every record" for group in self.same]
        if self.bare:
            found.append(f"in up to {count(self.bare, 'record')} nothing stands at all: an empty line is no record, take it out")
        found += [f"the codebook of {named(name)} may not name every value that occurs" for name in self.uncovered]
        if self.nested:
            found.append(
                f"comments of the file state {count(len(self.nested), 'nesting')} of attributes, read off the table: "
                "remove them, or give those that hold by definition with --within"
            )
        if self.layout.observed:
            found.append(
                f"the categories of {count(len(self.layout.observed), 'attribute')} were read off the table: which values occur "
                "is a fact about people, and is published with this file; give a codebook that was there before: --codebook"
            )
        return tuple(found)


def _all_of(names: Sequence[str]) -> str:
    """Some names in one phrase: `a, b, c and 15 more`."""
    *first, last = [*map(named, names[:3]), f"{len(names) - 3:,} more"] if len(names) > 4 else list(map(named, names))
    return f"{', '.join(first)} and {last}"


_SHOWN = 20
_SPAN = 10_000
_LARGEST = 1e15
_UNASKED = "was not asked for"


# --- the codebook ---------------------------------------------------------------------------------


Codebook = Mapping[str, Mapping[str, str]]
"""For each column, what its values mean: a value, or a range such as 0..17, to a category."""


def read_codebook(path: Path) -> Codebook:
    """A codebook: a CSV file with the columns column, value and, where a value has another name than itself, label.

    Raises:
        TableError: it is none.
    """
    check_regular(path)
    try:
        rows = list(csv.DictReader(io.StringIO(read_bytes(path).decode("utf-8-sig")), strict=True))
    except (UnicodeDecodeError, csv.Error) as problem:
        raise TableError(path.name, f"is no codebook ({type(problem).__name__})", _CODEBOOK) from None
    found: dict[str, dict[str, str]] = {}
    for place, row in enumerate(rows, 2):
        column, value = row.get("column"), row.get("value")
        if column is None or value is None or None in row or set(row) - {"column", "value", "label"}:
            raise TableError(f"{path.name} line {place}", "is no line of a codebook", _CODEBOOK)
        if value in found.setdefault(column, {}):
            raise TableError(
                f"{path.name} line {place}", f"names a value of {named(column)} twice", "name each value once", value=value
            )
        found[column][value] = row.get("label") or value or ABSENT
    if not found:
        raise TableError(path.name, "is empty", _CODEBOOK)
    return found


_CODEBOOK = "the first line is column,value,label (label may be left out)"


# --- what is proposed -----------------------------------------------------------------------------


def look(path: Path, formats: Formats, columns: Sequence[str] = ()) -> tuple[int, tuple[ColumnSeen, ...]]:
    """The number of records, and what the columns hold; those that are named, or all.

    Raises:
        TableError: the file is no table, has no records, has no such column, or more of them than can be read.
    """
    format_ = format_of(path, formats)
    check_regular(path)
    names = format_.header(path)
    raise_all([
        TableError("column", "is not in the table", did_you_mean(name, names), value=name)
        for name in columns if name not in names
    ])  # fmt: skip
    wanted = tuple(dict.fromkeys(columns)) or names
    if len(wanted) > MOST_COLUMNS:
        rule = f"has {len(wanted):,} columns, and at most {MOST_COLUMNS} are read"
        raise TableError(path.name, rule, "name those that are released: --column NAME, once for each")
    if not columns and 2 * sum(_NUMBER.fullmatch(name.strip()) is not None for name in names) > len(names):
        # the first line would go into a file that is published
        rule = "has numbers for the names of its columns: its first line looks like a record"
        raise TableError(path.name, rule, "put a line before it that names the columns, or take some with --column")
    rows, seen = format_.describe(path, wanted, MOST_LISTED)
    if not rows:
        raise TableError(path.name, "has no records", "give a table with at least one row")
    return rows, seen


def draft(path: Path, formats: Formats, *, columns: Sequence[str] = (), codebook: Codebook | None = None) -> Draft:
    """An attribute for each column, and the nestings that were found among them.

    Args:
        path: the table.
        formats: the installed formats by suffix.
        columns: those to look at; without it all. The others are left out.
        codebook: what the values of some columns mean.

    Raises:
        TableError: the file is no table, or no column of it can be an attribute; it does not fit its codebook.
    """
    codebook, format_ = codebook or {}, format_of(path, formats)
    check_regular(path)
    every = format_.header(path)
    unknown = [name for name in codebook if name not in every]
    raise_all([TableError("codebook", "names no column of the table", did_you_mean(n, every), value=n) for n in unknown[:_SHOWN]])
    rows, seen = look(path, formats, columns)
    strip = any(column.padded for column in seen)
    attributes: list[Attribute] = []
    remarks: dict[str, str] = {}
    observed: list[str] = []
    uncovered: list[str] = []
    left = [(name, _UNASKED) for name in every if columns and name not in columns]
    for column in seen:
        declared = codebook.get(column.name) or column.labels
        why = None if column.name in codebook else _no_attribute(column, rows)
        if why is not None:
            left.append((column.name, why))
            continue
        name = _name(column.name, [a.name for a in attributes])
        made, remark = _proposed(name, column, declared)
        attributes.append(evolve(made, column=None if name == column.name else column.name))
        remarks[name] = remark
        covered = _covers(column, made, declared)
        if (column.name not in codebook and not (declared and covered)) or (column.missing and "" not in declared):
            observed.append(name)
        if column.name in codebook and not covered:
            uncovered.append(name)
    if not attributes:
        reasons = "; ".join(f"{named(name)} {why}" for name, why in left[:5])
        raise TableError(
            path.name, f"has no column that can be an attribute ({reasons})", "write the file by hand: dpspec new spec"
        )
    layout = TableLayout(unused=tuple(name for name, _ in left), strip=strip, observed=tuple(observed))
    found = Draft(
        table=path, rows=rows, attributes=tuple(attributes), remarks=remarks, left_out=tuple(left), layout=layout,
        uncovered=tuple(uncovered), bare=min(column.missing for column in seen),
    )  # fmt: skip
    return _with_nestings(found, formats)


def _no_attribute(column: ColumnSeen, rows: int) -> str | None:  # noqa: PLR0911 - one end for each cause
    """Why a column cannot become an attribute, without a number that was counted in it; None where it can."""
    if column.unreadable is not None:
        return column.unreadable
    if not column.name.strip():
        return "has no name"
    if not column.distinct:
        return "is empty"
    if column.values is None and column.commas and column.commas + column.numbers + column.missing == rows:
        return "holds numbers with a decimal comma: write them with a point"
    every_number = column.numbers + column.missing == rows
    if column.distinct == rows and rows > MOST_LISTED and (column.plain or not every_number):
        return "is different in each record, as an identifier is"
    if not every_number and column.values is None:
        mixed = ", and numbers" if column.numbers else ""  # without their counts: the reason is written into the file
        return f"holds more than {MOST_LISTED} different texts{mixed}: declare them in a codebook"
    if column.values is None and max(abs(column.low or 0), abs(column.high or 0)) >= _LARGEST:
        return "holds numbers of more than 15 digits"
    if column.values is not None and any(len(value) > LONGEST for value in column.values):
        return f"holds texts of more than {LONGEST} characters"
    return None


def _name(column: str, taken: Sequence[str]) -> str:
    """The name of the attribute of a column: its own, without blanks around it and invisible characters."""
    plain = "".join(c for c in unicodedata.normalize("NFC", column).strip() if c.isprintable()) or "attribute"
    base = f"{plain} (column)" if plain in _TAKEN else plain
    return next(name for name in (base, *(f"{base} {n}" for n in range(2, len(taken) + 3))) if name not in taken)


def _covers(column: ColumnSeen, made: Attribute, declared: Mapping[str, str]) -> bool:
    """Whether a codebook is known to name every value that occurs; a value that is the label of another one is not named."""
    values = column.values
    low, high = column.low, column.high
    if values is None and column.plain and low is not None and high is not None and high - low < _SPAN:
        values = tuple(map(str, range(int(low), int(high) + 1)))  # all that may occur
    return values is not None and all(value.strip() in declared or made.band(value.strip()) is not None for value in values)


def _proposed(name: str, column: ColumnSeen, declared: Mapping[str, str]) -> tuple[Attribute, str]:
    """The attribute of a column and a remark."""
    missing = {"": _absent(column.values or ())} if column.missing and "" not in declared else {}
    if declared:
        beside = [] if column.values is None else [v.strip() for v in column.values if v.strip() not in declared]
        beside = [value for value in beside if value not in declared.values()] if column.labels else []
        meant = {**declared, **missing}
        categories = tuple(dict.fromkeys([*meant.values(), *beside]))
        recode = {value: label for value, label in meant.items() if value != label}
        return Attribute(name=name, categories=categories, recode=tuple(recode.items())), "from the codebook"
    if column.values is not None:
        listed = tuple(dict.fromkeys([*sorted({value.strip() for value in column.values}, key=_in_order), *missing.values()]))
        return Attribute(name=name, categories=listed, recode=tuple(missing.items())), count(column.distinct, "value")
    low, high = column.low or 0.0, column.high or 0.0
    if column.plain and low >= 0 and high < MOST_COUNTED and not missing:
        size = _round_up(int(high) + 1)
        return Attribute(name=name, count=size), f"whole numbers from 0 to {size - 1}"
    bands = _bands(low, high, whole=column.whole)
    recode = {**bands, **missing}
    return Attribute(
        name=name, categories=tuple(recode.values()), recode=tuple(recode.items())
    ), "bands of a number: choose your own"


def _absent(values: Sequence[str]) -> str:
    return ABSENT if ABSENT not in values else f"{ABSENT} (missing)"


def _in_order(value: str) -> tuple[bool, float, str]:
    """Numbers by their size, and texts behind them."""
    try:
        number = float(value)
    except ValueError:
        return True, 0.0, value
    return (False, number, value) if math.isfinite(number) else (True, 0.0, value)


def _round_up(size: int) -> int:
    """The next multiple of 10, above 100 of 50, so that the greatest value that occurs is not written down.

    >>> _round_up(91), _round_up(117)
    (100, 150)
    """
    unit = 10 if size <= 100 else 50
    return -(-size // unit) * unit


def _bands(low: float, high: float, *, whole: bool) -> dict[str, str]:
    """Ranges of numbers and their names, about eight, with round ends, the first and the last without an end.

    >>> _bands(0, 420500, whole=True)["100000..199999"]
    '100000 to 199999'
    >>> list(_bands(0.5, 3.5, whole=False))[:2]
    ['..<1.0', '1.0..<1.5']
    """
    step = _step((high - low) / BANDS, whole=whole)
    first, last = math.floor(low / step) + 1, math.ceil((high if not whole else high + 1) / step) - 1
    edges = [_written(step, place) for place in range(first, max(last, first) + 1)]
    found = {f"..{_before(edges[0], whole=whole)}": f"below {edges[0]}"}
    for left, right in itertools.pairwise(edges):
        end = _before(right, whole=whole)
        found[f"{left}..{end}"] = f"{left} to {'below ' if not whole else ''}{end.lstrip('<')}"
    found[f"{edges[-1]}.."] = f"{edges[-1]} or more"
    return found


def _step(width: float, *, whole: bool) -> float:
    """1, 2 or 5 times a power of ten, at least the width."""
    if not width > 0 or not math.isfinite(width):
        return 1.0
    power = 10.0 ** math.floor(math.log10(width))
    step = next((factor * power for factor in (1, 2, 5) if factor * power >= width * (1 - 1e-9)), 10 * power)
    return max(step, 1.0) if whole else step


def _written(step: float, place: int) -> str:
    digits = max(-math.floor(math.log10(step)), 0)
    return f"{place * step:.{digits}f}"


def _before(edge: str, *, whole: bool) -> str:
    """The upper end of the range that ends at an edge, without it."""
    return str(int(edge) - 1) if whole else f"<{edge}"


# --- nesting --------------------------------------------------------------------------------------


def _with_nestings(found: Draft, formats: Formats) -> Draft:
    """Which attribute determines which, as far as both list their categories, all of these occur, and each in some records."""
    most = found.rows // _ENOUGH
    listed = [
        a
        for a in found.attributes
        if 1 < len(a.categories) <= most and len(a.exact_recodes()) == len(a.recode) and a.name not in found.uncovered
    ]
    if len(listed) < 2:
        return found
    table = _read(found, listed, formats)
    names = [a.name for a in listed]
    full = [name for name in names if len(np.unique(table.codes[name])) == found.attribute(name).size]
    size = {name: found.attribute(name).size for name in full}
    lies = {(f, c) for f in full for c in full if f != c and size[f] >= size[c] and _parent_codes(table, f, c) is not None}
    alike = dict.fromkeys(tuple(c for c in full if c == f or {(f, c), (c, f)} <= lies) for f in full)
    same = tuple(group for group in alike if len(group) > 1)
    twins = {name for group in same for name in group[1:]}
    strict = {(f, c) for f, c in lies if size[f] > size[c] and not {f, c} & twins}
    order = {name: place for place, name in enumerate(full)}
    direct = [
        (f, c) for f, c in strict
        if not any((f, between) in strict and (between, c) in strict for between in full)
    ]  # fmt: skip
    return attrs.evolve(found, same=same, nested=tuple(sorted(direct, key=lambda pair: (order[pair[0]], size[pair[1]]))))


def _read(found: Draft, attributes: Sequence[Attribute], formats: Formats) -> Table:
    """The columns of some of its attributes, as `dpspec release` reads them."""
    others = tuple(a.source for a in found.attributes if a not in attributes)
    layout = evolve(found.layout, unused=(*found.layout.unused, *others))
    return read_table(found.table, attributes, formats, layout=layout)


def _parent_codes(table: Table, fine: str, coarse: str) -> list[int] | None:
    """For each category of an attribute the one of another in which all of its records lie; None where they lie in several."""
    codes, above = table.codes[fine].astype(np.int64), table.codes[coarse].astype(np.int64)
    parent = np.full(table.attribute(fine).size, -1, dtype=np.int64)
    parent[codes] = above
    return parent.tolist() if bool((parent[codes] == above).all()) else None


def with_nesting(found: Draft, formats: Formats, chosen: Sequence[tuple[str, str]]) -> Draft:
    """The draft with attributes nested in one another, the coarser ones first.

    Args:
        chosen: pairs (finer, coarser).

    Raises:
        TableError: an attribute is none of the table, or its categories do not each lie in one of the other.
    """
    known = {a.name: a for a in found.attributes}
    mentioned = [a for a in found.attributes if any(a.name in pair for pair in chosen)]
    table = _read(found, mentioned, formats) if mentioned else None
    faults: list[DpspecError] = []
    for fine, coarse in chosen:
        lost = [name for name in (fine, coarse) if name not in known]
        faults += [TableError("--within", "is no attribute", did_you_mean(name, known), value=name) for name in lost]
        if lost or table is None:
            continue
        above = _parent_codes(table, fine, coarse)
        if above is None or fine == coarse or not known[fine].categories or -1 in above:
            rule = f"do not each occur and lie in one {named(coarse)} of the table"
            faults.append(TableError(f"the categories of {named(fine)}", rule, "leave this nesting out"))
            continue
        labels = list(known[coarse].values())
        known[fine] = evolve(known[fine], within=coarse, parents=tuple(labels[place] for place in above))
    raise_all(faults)
    observed = [*found.layout.observed, *(fine for fine, _ in chosen if fine not in found.layout.observed)]
    return attrs.evolve(
        found,
        attributes=tuple(_coarse_first(known)),
        layout=evolve(found.layout, observed=tuple(observed)),
        nested=tuple(pair for pair in found.nested if pair not in chosen and known[pair[0]].within is None),
    )


def _coarse_first(known: Mapping[str, Attribute]) -> Iterator[Attribute]:
    """The attributes in their order, each behind the one that it lies within."""
    done: set[str] = set()

    def with_coarser(name: str, below: tuple[str, ...]) -> Iterator[Attribute]:
        if name in below:
            raise TableError("--within", "nests attributes in a circle", "leave one out", value=name)
        if name not in done:
            within = known[name].within
            if within is not None:
                yield from with_coarser(within, (*below, name))
            done.add(name)
            yield known[name]

    for name in known:
        yield from with_coarser(name, ())


def asked(found: Draft, ask: Callable[[str], bool | None]) -> tuple[list[tuple[str, str]], int]:
    """The nestings that are confirmed, at most one for each attribute; and the number of questions without an answer.

    Args:
        ask: answers a question; None for no answer.
    """
    chosen: list[tuple[str, str]] = []
    for place, (fine, coarse) in enumerate(found.nested):
        if fine in [pair[0] for pair in chosen]:
            continue
        sizes = f"{found.attribute(fine).size} in {found.attribute(coarse).size}"
        lies = f"Each {named(fine)} lies in one {named(coarse)} of the table ({sizes})"
        answer = ask(f"{lies}. Is that so in every dataset, as in a geography?")
        if answer is None:
            return chosen, len(found.nested) - place
        if answer:
            chosen.append((fine, coarse))
    return chosen, 0


def read_within(given: Sequence[str]) -> list[tuple[str, str]]:
    """``FINE=COARSE`` options.

    Raises:
        ParameterError: one is none.
    """
    pairs = [_NESTED.fullmatch(one) for one in given]
    wrong = [one for one, pair in zip(given, pairs, strict=True) if pair is None]
    if wrong:
        raise ParameterError("--within", "must be FINER=COARSER", "such as tract=county", value=wrong[0])
    return [(pair["fine"], pair["coarse"]) for pair in pairs if pair is not None]


# --- the file -------------------------------------------------------------------------------------


def id_of(path: Path) -> str:
    """An id for the specification of a table, after the name of its file.

    >>> id_of(Path("UK census_2011.csv"))
    'uk-census-2011'
    """
    plain = unicodedata.normalize("NFKD", path.stem).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].strip("-") or "table"


def text(found: Draft, identity: str, unit: str = "person") -> str:
    """The specification file of a draft; `dpspec check` reads it, and `dpspec release` runs it on the table.

    Raises:
        ParameterError: the id is not lower-kebab.
        TableError: the file would be larger than any that is read.
    """
    if not is_id(identity):
        raise ParameterError("name", "must be lower-kebab", "such as my-release-2020", value=identity)
    written = "\n".join(_lines(found, identity, unit)) + "\n"
    if len(written.encode()) > SIZE_LIMIT:
        raise TableError(
            found.table.name, "has more categories than a specification file can hold", "name fewer columns: --column"
        )
    return written


def _lines(found: Draft, identity: str, unit: str) -> Iterator[str]:
    shown = harmless(found.table.name, keep="")
    first = found.attributes[0].name
    yield SCHEMA_LINE
    yield f"# A draft, made from the columns of {shown}."
    yield "# Read it line by line: it says what is protected, and it will be published."
    if found.layout.observed:
        yield "#"
        yield "# CAREFUL: categories, ranges and nestings below were READ OFF THE TABLE. Which values occur in it, and how"
        yield "# large they are, are facts about the people in it. Replace them by a codebook or a classification that was"
        yield "# there before the data, and take the attribute out of `observed` in [table]; until then `dpspec lint` warns."
    if found.nested:
        yield "#"
        yield "# CAREFUL: which attribute lies in which was READ OFF THE TABLE as well: a comment is published with the file."
    yield from (
        "",
        "schema = 1",
        f"id = {_quoted(identity)}",
        f"title = {_quoted(f'Draft from {shown}: say here what is released')}",
    )
    yield from (
        "",
        "# Block 1: all tables that could have been the real one.",
        "[space]",
        'type = "records"',
        f"unit = {_quoted(unit)}",
    )
    for attribute in found.attributes:
        yield from _attribute(attribute, found)
    yield from ("", "# Block 2: what is published exactly. Nothing: one universe.", "[multiverse]", "invariants = []")
    yield from ("", "# Block 3: one change is one record that is added or taken away.", "[input_divergence]")
    yield from ('type = "symmetric-difference"', f"unit = {_quoted(unit)}")
    yield from ("", "# Block 4: pure differential privacy.", "[output_divergence]", 'type = "mult"')
    yield from ("", "# Block 5: how much of that.", "[budget]", 'epsilon = "ln(3)"')
    yield from ("", f"# To begin with: how many records each {_comment(first)} has, with geometric noise.", "[mechanism]")
    yield from ('type = "geometric"', 'ratio = "1/3"')
    yield f'queries = [{{ type = "marginal", unit = {_quoted(unit)}, attributes = [{_quoted(first)}] }}]'
    yield from _layout(found)


def _attribute(attribute: Attribute, found: Draft) -> Iterator[str]:
    yield ""
    read = "READ OFF THE TABLE: " if attribute.name in found.layout.observed else ""
    yield f"# {read}{found.remarks[attribute.name]}"
    for fine, coarse in found.nested:
        if fine == attribute.name:
            lies = f"each {_comment(fine)} lies in one {_comment(coarse)} of it"
            yield f"# READ OFF THE TABLE: {lies}; where that is so by definition: --within FINER=COARSER, else remove this line"
    yield "[[space.attributes]]"
    yield f"name = {_quoted(attribute.name)}"
    if attribute.column is not None:
        yield f"column = {_quoted(attribute.column)}"
    if attribute.count is not None:
        yield f"count = {attribute.count}"
    else:
        yield f"categories = {_listed(attribute.categories)}"
    if attribute.within is not None:
        yield f"within = {_quoted(attribute.within)}"
        yield f"parents = {_listed(attribute.parents)}"
    if attribute.recode:
        yield "[space.attributes.recode]"
        order = {category: place for place, category in enumerate(attribute.values())}
        for written, category in sorted(attribute.recode, key=lambda pair: order[pair[1]]):
            yield f"{_quoted(written)} = {_quoted(category)}"


def _layout(found: Draft) -> Iterator[str]:
    layout = found.layout
    if layout == TableLayout():
        return
    yield from ("", "# How the table lies on disk; nothing of it is promised.", "[table]")
    if layout.strip:
        yield "strip = true  # blanks around what stands in a cell are left out"
    if layout.observed:
        yield f"observed = {_listed(layout.observed)}"
    if found.left_out:
        yield "unused = ["
        for name, why in found.left_out:
            yield f"  {_quoted(name)},  # {why}"
        yield "]"


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _comment(value: str) -> str:
    return harmless(value, keep="")


def _listed(values: Sequence[str]) -> str:
    line = "[" + ", ".join(map(_quoted, values)) + "]"
    if len(line) <= 110:
        return line
    lines, current = [], " "
    for value in values:
        if len(current) + len(_quoted(value)) > 110:
            lines.append(current)
            current = " "
        current += f" {_quoted(value)},"
    return "\n".join(["[", *lines, current, "]"])


__all__ = ["Codebook", "Draft", "asked", "draft", "id_of", "look", "read_codebook", "read_within", "text", "with_nesting"]
