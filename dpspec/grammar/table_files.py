"""Reading tables: every value is checked against the space, all faults are counted, and the first of each kind is placed.

What stands in a cell is confidential, so a fault tells its row and column and never the value. A file that changes while it is
read, which takes several looks, is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from dpspec.base.errors import DpspecError, TableError, named
from dpspec.base.files import check_regular
from dpspec.base.late import late_module
from dpspec.base.params import did_you_mean, evolve, raise_all
from dpspec.blocks.space import Attribute
from dpspec.grammar.tables import (
    HOUSEHOLD_ID,
    Coded,
    Codes,
    Members,
    Table,
    TableFormat,
    TableLayout,
    compact,
    value_fault,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = late_module("numpy")  # what compares promises reads no table

Formats = Mapping[str, TableFormat]
"""The formats by the suffix of their files."""
_COLUMNS_SHOWN = 20
_PLAIN = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)
MOST_RECODED = 100_000
"""An attribute of more categories cannot be recoded while it is read."""


@attrs.define
class _Kind:
    """All faults of one kind: the first of them, and their number."""

    row: int
    value: str | None
    count: int = 0


def format_of(path: Path, formats: Formats) -> TableFormat:
    """The format of a file, by its suffix.

    Raises:
        TableError: no installed plugin has it.
    """
    suffix = path.suffix.lower()
    if suffix not in formats:
        known = ", ".join(sorted(formats)) or "none"
        raise TableError("file", "has no known table format", f"formats installed here: {known}", value=path.name)
    return formats[suffix]


def read_table(
    path: Path,
    attributes: Sequence[Attribute],
    formats: Formats,
    *,
    keep: Sequence[str] = (),
    progress: Callable[[int], object] | None = None,
    layout: TableLayout | None = None,
) -> Table:
    """Read one file; columns that neither the space nor its layout knows are refused, all of them in one message.

    Args:
        keep: columns that may be there besides, such as an identifier.
        layout: how the table lies on disk.
        progress: called with the number of rows read so far.

    Raises:
        NotAFileError, UnreadableFileError: there is no such file.
        TableError (several as Faults): unreadable or empty file, missing or unknown column, missing value, unknown category,
            a category that does not lie in the coarser one of its row, a file that changes meanwhile.
    """
    format_ = format_of(path, formats)
    with _unchanged(path):
        return _read(path, attributes, format_, keep, progress, layout or TableLayout())


def as_released(attributes: Iterable[Attribute]) -> tuple[Attribute, ...]:
    """The attributes of a table in the words of the space: each in a column of its own name, with nothing recoded."""
    return tuple(a if a.column is None and not a.recode else evolve(a, column=None, recode=()) for a in attributes)


def _read(  # noqa: PLR0917 - the arguments of its face
    path: Path,
    attributes: Sequence[Attribute],
    format_: TableFormat,
    keep: Sequence[str],
    progress: Callable[[int], object] | None,
    layout: TableLayout,
) -> Table:
    names = format_.header(path)
    faults = list(_header_faults(names, attributes, (*keep, *layout.unused)))
    there = [a for a in attributes if a.source in names]
    pieces: dict[str, list[Codes]] = {a.name: [] for a in there}
    kinds: dict[tuple[str, str], _Kind] = {}
    rows, told = 0, 0
    for group in _by_columns(there):
        rows = 0
        columns = {a.name: _Column(a, strip=layout.strip) for a in group}
        for batch in format_.batches(path, [columns[a.name].asked for a in group]):
            for attribute in group:
                coded = columns[attribute.name].coded(batch[attribute.source])
                _count_strangers(kinds, attribute, coded, rows)
                pieces[attribute.name].append(compact(np.maximum(coded.codes, 0), attribute.size))
            read = len(next(iter(batch.values())).codes)
            rows, told = rows + read, max(told, rows + read)
            if progress is not None:
                progress(told)
    raise_all([*faults, *_faults(path, attributes, kinds)])
    if not rows:
        raise TableError(path.name, "has no records", "give a table with at least one row")
    nothing = {a.name: compact((), a.size) for a in attributes}
    codes = {name: np.concatenate(pieces.pop(name) or [nothing[name]]) for name in list(pieces)}
    table = Table(attributes=tuple(attributes), codes=codes)
    raise_all(list(_nesting_faults(path, table)))
    return table


def _by_columns(attributes: Sequence[Attribute]) -> list[list[Attribute]]:
    """The attributes in groups that take each column once: two attributes may be recoded from one column."""
    groups: list[list[Attribute]] = []
    for attribute in attributes:
        free = (group for group in groups if all(other.source != attribute.source for other in group))
        group = next(free, None)
        if group is None:
            groups.append([attribute])
        else:
            group.append(attribute)
    return groups


class _Column:
    """A column as a format is asked for it, and the way from what stands there to the categories of its attribute.

    Args:
        attribute: whose column it is.
        strip: leave out the blanks around a value.
    """

    def __init__(self, attribute: Attribute, *, strip: bool) -> None:
        self.attribute, self.strip = attribute, strip
        self.asked = attribute
        if attribute.column is not None or attribute.recode or attribute.within is not None:
            self.asked = evolve(attribute, name=attribute.source, column=None, recode=(), within=None, parents=())
        self.places: npt.NDArray[np.int64] | None = None
        self.known: dict[str, int] = {}
        if attribute.recode:
            if attribute.size > MOST_RECODED:
                rule = f"has more than {MOST_RECODED:,} categories and is recoded"
                raise TableError(f"attribute {attribute.name}", rule, "recode the column before")
            place = {category: place for place, category in enumerate(attribute.values())}
            self.known = {**place, **{written: place[to] for written, to in attribute.exact_recodes().items()}}
            written = tuple(name for name in self.known if name)
            self.asked = Attribute(name=attribute.source, categories=written)
            self.places = np.asarray([*(self.known[name] for name in written), -1], dtype=np.int64)  # the last for strangers
        elif strip and attribute.count is None:
            self.known = {category: place for place, category in enumerate(attribute.values())}

    def coded(self, found: Coded) -> Coded:
        """The codes of the attribute, for codes of what was asked."""
        codes = found.codes if self.places is None else self.places[found.codes]
        if not len(found.strangers) or not (self.strip or self.attribute.recode):
            return Coded(codes=codes, strangers=found.strangers)
        codes = codes.astype(np.int64, copy=True)
        seen: dict[str | None, int] = {}
        for value in found.strangers:
            if value not in seen:
                seen[value] = self._place(value)
        strange = np.flatnonzero(found.codes < 0)
        resolved = np.fromiter((seen[value] for value in found.strangers), dtype=np.int64, count=len(strange))
        codes[strange] = resolved
        left = [value for value, place in zip(found.strangers, resolved.tolist(), strict=True) if place < 0]
        return Coded(codes=codes, strangers=left)

    def _place(self, value: str | None) -> int:
        written = "" if value is None else value.strip() if self.strip else value
        if written in self.known:
            return self.known[written]
        if self.attribute.count is not None and not self.known and _PLAIN.fullmatch(written):
            return int(written) if int(written) < self.attribute.count else -1
        band = self.attribute.band(written)
        return -1 if band is None else self.attribute.index(band)


@contextmanager
def _unchanged(*paths: Path) -> Iterator[None]:
    """Refuse files that are no files, or that change before the block ends."""

    def seen() -> list[tuple[int, ...]]:
        found = [check_regular(path) for path in paths]
        return [(s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for s in found]

    before = seen()
    yield
    for path, first, now in zip(paths, before, seen(), strict=True):
        if first != now:
            raise TableError(path.name, "changed while it was read", "run again when no program writes to it")


def read_households(
    directory: Path,
    household: Sequence[Attribute],
    person: Sequence[Attribute],
    formats: Formats,
    *,
    progress: Callable[[int], object] | None = None,
    layout: TableLayout | None = None,
) -> Table:
    """Read a directory with `households.*` and `persons.*`; a household without persons is vacant.

    Identifiers are compared as one type: whole numbers of any width as numbers, all else as texts, letter by letter.

    Args:
        progress: called with the number of rows of both files read so far.
        layout: as of `read_table`; `layout.unused` may name columns of either file.

    Raises:
        TableError: as `read_table`; a file that is missing or there twice; an identifier that is missing, that two households
            share, or that no household has.
    """
    of_households, of_persons = (_only(directory, stem, formats) for stem in ("households", "persons"))
    with _unchanged(of_households, of_persons):
        outer, inner = _both([(of_households, household), (of_persons, person)], formats, progress, layout)
        own, wanted = _as_one_type(_identifiers(of_households, formats), _identifiers(of_persons, formats))
    order = np.argsort(own, kind="stable")
    ranked = own[order]
    twice = np.flatnonzero(ranked[1:] == ranked[:-1])
    if twice.size:
        raise TableError(
            f"{of_households.name} row {order[twice[0] + 1] + 1}, column {HOUSEHOLD_ID}",
            f"is the identifier of an earlier household ({twice.size} such)", "give every household its own",
        )  # fmt: skip
    place = np.minimum(np.searchsorted(ranked, wanted), max(len(ranked) - 1, 0))
    owner = order[place].astype(np.int64) if len(order) else np.zeros(0, dtype=np.int64)
    lost = np.flatnonzero(own[owner] != wanted) if len(order) else np.arange(len(wanted))
    if lost.size:
        raise TableError(
            f"{of_persons.name} row {lost[0] + 1}, column {HOUSEHOLD_ID}",
            f"is the identifier of no household ({lost.size} such persons)",
            "identifiers are compared letter by letter: 007 is not 7, and A is not a",
        )  # fmt: skip
    return attrs.evolve(outer, members=Members(table=inner, owner=owner))


def _as_one_type(own: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Identifiers of two files such that equal ones are equal: as 64-bit numbers where both are, as texts otherwise.

    >>> _as_one_type(np.array([7], dtype=np.uint32), np.array([7], dtype=np.int8))
    (array([7]), array([7]))
    >>> _as_one_type(np.array([7]), np.array(["007"]))
    (array(['7'], dtype='<U21'), array(['007'], dtype='<U3'))
    """
    numbers = [array.dtype.kind in "iu" and (not array.size or int(array.max()) < 1 << 63) for array in (own, wanted)]
    if all(numbers):
        return own.astype(np.int64), wanted.astype(np.int64)
    return own.astype(str), wanted.astype(str)


def _both(
    files: Sequence[tuple[Path, Sequence[Attribute]]],
    formats: Formats,
    progress: Callable[[int], object] | None,
    layout: TableLayout | None,
) -> list[Table]:
    """The tables of some files; the faults of all are raised together."""
    tables: list[Table] = []
    faults: list[DpspecError] = []
    for path, attributes in files:
        before = sum(map(len, tables))
        told = None if progress is None else lambda rows, before=before: progress(before + rows)
        try:
            found = read_table(path, attributes, formats, keep=[HOUSEHOLD_ID], progress=told, layout=layout)
            tables.append(found)
        except DpspecError as problem:
            faults.append(problem)
    raise_all(faults)
    return tables


def _only(directory: Path, stem: str, formats: Formats) -> Path:
    found = sorted(path for path in directory.glob(f"{stem}.*") if path.suffix.lower() in formats)
    if len(found) != 1:
        rule = f"needs exactly one file {stem}.* ({', '.join(sorted(formats))})"
        raise TableError(str(directory), rule, value=[path.name for path in found])
    return found[0]


def _identifiers(path: Path, formats: Formats) -> npt.NDArray[Any]:
    format_ = format_of(path, formats)
    if HOUSEHOLD_ID not in format_.header(path):
        raise TableError(f"{path.name} column", "is missing from the table", "it ties persons to households", value=HOUSEHOLD_ID)
    return format_.identifiers(path, HOUSEHOLD_ID)


# --- faults --------------------------------------------------------------------------------------


def _header_faults(names: Sequence[str], attributes: Sequence[Attribute], keep: Sequence[str]) -> Iterator[DpspecError]:
    """All columns that do not fit: those that are missing, those that nothing takes, and names that stand twice."""
    expected = [a.source for a in attributes]
    if not {*names} & {*expected, *keep} and expected:
        # Without a header the first record stands there, which is confidential.
        shown = ", ".join(expected[:_COLUMNS_SHOWN]) + (", ..." if len(expected) > _COLUMNS_SHOWN else "")
        raise TableError("header", "names no attribute of the space", f"the first line names the columns: {shown}")
    lost = [a for a in attributes if a.source not in names]
    more = [name for name in names if name not in {*expected, *keep}]
    for attribute in lost[:_COLUMNS_SHOWN]:
        advice = _meant(attribute.source, more) or f'name it by column = "..." at the attribute {attribute.name}'
        yield TableError("column", "is missing from the table", advice, value=attribute.source)
    for name in more[:_COLUMNS_SHOWN]:
        advice = _meant(name, [a.source for a in lost]) or "list it as unused = [...] in [table], or make it an attribute"
        yield TableError("column", "is no attribute of the space", advice, value=name)
    rest = max(len(lost) - _COLUMNS_SHOWN, 0) + max(len(more) - _COLUMNS_SHOWN, 0)
    if rest:
        yield TableError("columns", f"{rest:,} more do not fit: of {len(names):,} in the table {len(more):,} are unknown, "
                         f"and {len(lost):,} of {len(expected):,} are missing")  # fmt: skip
    if len(set(names)) != len(names):
        yield TableError("header", "names a column twice")


def _meant(name: str, others: Sequence[str]) -> str:
    """The column of another name that is meant, it seems: the same but for case, blanks and signs, or nearly the same."""
    plain = {"".join(filter(str.isalnum, other.casefold())): other for other in others}
    same = plain.get("".join(filter(str.isalnum, name.casefold())))
    return f"did you mean {same}?" if same is not None else did_you_mean(name, others) if len(others) < _COLUMNS_SHOWN else ""


def _count_strangers(kinds: dict[tuple[str, str], _Kind], attribute: Attribute, coded: Coded, rows: int) -> None:
    strange = np.flatnonzero(coded.codes < 0)
    for row, value in zip(strange.tolist(), coded.strangers, strict=True):
        missing = value is None or not value.strip()
        kind = kinds.setdefault((attribute.name, "missing" if missing else "unknown"), _Kind(rows + row + 1, value))
        kind.count += 1


def _faults(path: Path, attributes: Sequence[Attribute], kinds: Mapping[tuple[str, str], _Kind]) -> Iterator[DpspecError]:
    by_name = {a.name: a for a in attributes}
    for (name, _), kind in kinds.items():
        note = "" if kind.count == 1 else f" ({kind.count} records; this is the first)"
        yield value_fault(f"{path.name} row {kind.row}, column {named(name)}", by_name[name], kind.value, note)


def _nesting_faults(path: Path, table: Table) -> Iterator[DpspecError]:
    """Records whose category does not lie in the coarser category that they also name."""
    for attribute in table.attributes:
        if attribute.within is None or attribute.within not in table.codes:
            continue
        coarser = table.attribute(attribute.within)
        torn = np.flatnonzero(parents(attribute, coarser)[table.codes[attribute.name]] != table.codes[coarser.name])
        if torn.size:
            row = int(torn[0])
            yield TableError(
                f"{path.name} row {row + 1}, column {named(attribute.name)}",
                f"does not lie in the {coarser.name} of its row ({torn.size} records)", "the geography must be nested",
            )  # fmt: skip


def parents(attribute: Attribute, coarser: Attribute) -> npt.NDArray[np.int64]:
    """For each category of a nested attribute the place of the coarser one in which it lies.

    >>> parents(Attribute(name="tract", count=4, within="county"), Attribute(name="county", count=2)).tolist()
    [0, 0, 1, 1]
    """
    if not attribute.parents:
        return np.arange(attribute.size, dtype=np.int64) * coarser.size // attribute.size
    places = {category: place for place, category in enumerate(coarser.values())}
    return np.asarray([places[parent] for parent in attribute.parents], dtype=np.int64)
