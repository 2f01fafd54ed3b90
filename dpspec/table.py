"""Tables of categorical microdata: one column of integer codes for each attribute, at the size of a census."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import attrs
import numpy as np
import numpy.typing as npt

from dpspec.blocks.space import Attribute
from dpspec.errors import DpspecError, TableError
from dpspec.params import did_you_mean, raise_all

Codes = npt.NDArray[np.int64]

_FAULTS_SHOWN = 5


@attrs.frozen(kw_only=True, eq=False)
class Table:
    """Records in columns.

    Args:
        attributes: the attribute of each column.
        codes: for each attribute name the index of every record's category.
    """

    attributes: tuple[Attribute, ...]
    codes: Mapping[str, Codes]

    def __attrs_post_init__(self) -> None:
        lengths = {name: column.shape for name, column in self.codes.items()}
        if set(lengths) != {a.name for a in self.attributes} or len(set(lengths.values())) > 1:
            raise TableError("table", "needs one column of equal length for each attribute", value=lengths)

    def __len__(self) -> int:
        return len(next(iter(self.codes.values())))

    def replace(self, columns: Mapping[str, Codes]) -> Table:
        """The table with some columns exchanged."""
        return attrs.evolve(self, codes={**self.codes, **columns})

    def attribute(self, name: str) -> Attribute:
        """The attribute of a column."""
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise TableError("column", "is not in the table", did_you_mean(name, [a.name for a in self.attributes]), value=name)

    def key(self, names: Sequence[str]) -> Codes:
        """One integer per record that numbers the combination of the named attributes (0 for no attributes)."""
        key = np.zeros(len(self), dtype=np.int64)
        for name in names:
            key = key * self.attribute(name).size + self.codes[name]
        return key

    def counts(self, names: Sequence[str]) -> dict[tuple[str, ...], int]:
        """The number of records with each occurring combination of the named attributes."""
        keys, first, counts = np.unique(self.key(names), return_index=True, return_counts=True)
        labels = [list(self.attribute(name).values()) for name in names]
        rows = zip(*(self.codes[name][first] for name in names), strict=True) if names else [()] * len(keys)
        return {
            tuple(label[int(code)] for label, code in zip(labels, row, strict=True)): int(count)
            for row, count in zip(rows, counts, strict=True)
        }

    @classmethod
    def from_records(cls, records: Iterable[Sequence[object]], attributes: tuple[Attribute, ...]) -> Table:
        """A table from records of categories, in the order of the attributes."""
        columns: list[list[int]] = [[] for _ in attributes]
        faults: list[DpspecError] = []
        known = [{category: place for place, category in enumerate(a.values())} for a in attributes]
        for row, record in enumerate(records, start=1):
            for column, lookup, attribute, category in zip(columns, known, attributes, record, strict=True):
                place = lookup.get(str(category))
                if place is None:
                    faults.append(_fault(row, attribute, category))
                column.append(-1 if place is None else place)
        _raise_faults(faults)
        codes = {a.name: np.asarray(c, dtype=np.int64) for a, c in zip(attributes, columns, strict=True)}
        return cls(attributes=attributes, codes=codes)


def _fault(row: int, attribute: Attribute, category: object) -> TableError:
    subject = f"row {row}, column {attribute.name}"
    if category is None or str(category).strip() == "":
        return TableError(subject, "is missing", "every record needs every attribute")
    hint = did_you_mean(str(category), attribute.values()) if attribute.size <= 1000 else ""
    return TableError(subject, "is no category of the space", hint, value=category)


def _raise_faults(faults: list[DpspecError]) -> None:
    shown = faults[:_FAULTS_SHOWN]
    if len(faults) > len(shown):
        shown.append(TableError("table", f"has {len(faults) - len(shown)} more faults of this kind"))
    raise_all(shown)


def read_csv(path: Path, attributes: tuple[Attribute, ...]) -> Table:
    """Read a CSV file with a header; columns that the space does not know are refused.

    Raises:
        TableError (several as Faults): missing file or column, missing values, unknown categories, ragged rows.
    """
    try:
        with path.open(newline="", encoding="utf-8") as handle:
            return _read_rows(csv.reader(handle), attributes, path.name)
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise TableError(str(path), "cannot be read as CSV", str(problem)) from problem


def _read_rows(rows: Iterable[list[str]], attributes: tuple[Attribute, ...], file: str) -> Table:
    stream = iter(rows)
    header = next(stream, None)
    if not header:
        raise TableError(file, "is empty", "the first line names the columns")
    names = [name.strip() for name in header]
    expected = [a.name for a in attributes]
    faults: list[DpspecError] = [
        TableError("column", "is missing from the table", did_you_mean(name, names), value=name)
        for name in expected
        if name not in names
    ]
    faults += [
        TableError("column", "is no attribute of the space", did_you_mean(name, expected), value=name)
        for name in names
        if name not in expected
    ]
    if len(set(names)) != len(names):
        faults.append(TableError("header", "names a column twice", value=header))
    raise_all(faults)
    places = [names.index(name) for name in expected]

    def ordered() -> Iterable[list[str]]:
        for line, row in enumerate(stream, start=2):
            if len(row) != len(names):
                raise TableError(f"{file} line {line}", f"has {len(row)} fields, the header has {len(names)}")
            yield [row[place] for place in places]

    table = Table.from_records(ordered(), attributes)
    if not len(table):
        raise TableError(file, "has no records")
    return table


def write_csv(table: Table, path: Path) -> None:
    """Write the table with a header line; the caller makes the write whole-or-nothing."""
    labels = [list(a.values()) for a in table.attributes]
    columns = [table.codes[a.name] for a in table.attributes]
    decoded = [np.asarray(label, dtype=object)[column] for label, column in zip(labels, columns, strict=True)]
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow([a.name for a in table.attributes])
        writer.writerows(zip(*decoded, strict=True))
