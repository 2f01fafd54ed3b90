"""Reading a release: the folder that `dpspec release` wrote, a released table, or released numbers.

A folder has a report, which names the specification by its SHA-256, so that the release of another one is refused. A table is a
file of records in the words of the space, or a CSV file of noisy answers: query, a column for each attribute, value and status.
Numbers are a TOML or JSON file with one key each; decimals are read exactly, and a key `specification` names the specification by
its id.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpspec.plugin import answers as answer_tables, errors, exact, params, table_files, tables as tables_of
from dpspec.plugin.applications import REPORT, parse, read_bytes
from dpspec.plugin.releases import released_files
from dpspec_inference.model import NoisyAnswer, ReleasedData

if TYPE_CHECKING:
    from dpspec import SpecDocument
    from dpspec.plugin import Mechanism, Registry, Table

NUMBERS = (".toml", ".json")
LARGEST = 100_000_000
"""The largest file of answers or numbers, in bytes."""


def read_release(path: Path, document: SpecDocument, registry: Registry) -> ReleasedData:
    """A release as a model reads it.

    Args:
        path: a folder, a table or a file of numbers.
        document: under which it was released.
        registry: where formats are looked up.

    Raises:
        MissingKeyError: the specification names no mechanism.
        ReleaseError: the release is of another specification.
        TableError and its kin: it cannot be read, or does not fit the space.
    """
    mechanism = document.mechanism
    if mechanism is None:
        raise errors.MissingKeyError("mechanism", "is missing: its law is the likelihood", 'write [mechanism] with its type')
    if not path.exists():
        advice = "give a folder of `dpspec release`, a table or numbers"
        raise errors.TableError("RELEASE", "does not exist", advice, value=path.name)
    if path.is_dir():
        return _joined(document, mechanism, registry, released_files(path, document))
    if path.name == REPORT:
        return read_release(path.parent, document, registry)
    if path.suffix.lower() in NUMBERS:
        numbers = dict(_numbers(path, document))
        return ReleasedData(spec=document.spec, mechanism=mechanism, numbers=numbers)
    return _joined(document, mechanism, registry, (path,))


def _joined(document: SpecDocument, mechanism: Mechanism, registry: Registry, paths: tuple[Path, ...]) -> ReleasedData:
    tables: list[Table] = []
    answers: list[NoisyAnswer] = []
    formats = {suffix: cls() for cls in registry.classes("formats") for suffix in cls.suffixes}
    space = document.spec.space
    for path in paths:
        header = tuple(table_files.format_of(path, formats).header(path))
        answer_tables.check_current(header, path.name)
        if answer_tables.are_answers(header, space):
            answers += _answers(path, mechanism)
            continue
        if answer_tables.are_numbers(header, space):
            raise errors.TableError(path.name, "has numbers that no model reads", "give released records, or noisy answers")
        identifiers = tuple(name for name in header if name == tables_of.HOUSEHOLD_ID)
        known = [a for unit in space.units for a in space.attributes_of(unit)]
        released = table_files.as_released(a for a in dict.fromkeys(known) if a.name in header or not tables)
        there = [a for a in released if a.name in header]
        if not there:
            names = ", ".join(dict.fromkeys(a.name for a in known))
            advice = f"the columns of the space are {names}"
            raise errors.TableError(path.name, "has no column of the space", advice, value=", ".join(header))
        roots = [a if a.within in header else _alone(a) for a in there]
        tables.append(table_files.read_table(path, roots, formats, keep=identifiers))
    return ReleasedData(spec=document.spec, mechanism=mechanism, tables=tuple(tables), answers=tuple(answers))


def _alone(attribute: Any) -> Any:
    """The attribute without the coarser one, which the file does not have."""
    return attribute if attribute.within is None else params.evolve(attribute, within=None, parents=())


def _answers(path: Path, mechanism: Mechanism) -> Iterator[NoisyAnswer]:
    if path.suffix.lower() != ".csv":
        raise errors.TableError(path.name, "has noisy answers, which are read from CSV files", "write it as CSV")
    queries = getattr(mechanism, "queries", ())
    columns = {str(query): [answer_tables.column_of(name) for name in getattr(query, "attributes", ())] for query in queries}
    for number, row in enumerate(csv.DictReader(io.StringIO(_text(path), newline="")), start=2):
        written, status = ((row[name] or "").strip() for name in (answer_tables.VALUE, answer_tables.STATUS))
        if not written and status != answer_tables.PUBLISHED:
            rule = f"is {status or 'missing'} in line {number}"
            raise errors.TableError("value", rule, "no model estimates from numbers that are not published")
        if not written.removeprefix("-").isdecimal():
            rule = f"must be a whole number in line {number}"
            raise errors.TableError("value", rule, "give the file as dpspec release wrote it")
        cell = tuple(row.get(name) or "" for name in columns.get(row["query"], ()))
        yield NoisyAnswer(query=row["query"], cell=cell, answer=int(written))


def _numbers(path: Path, document: SpecDocument) -> Iterator[tuple[str, Fraction]]:
    text = _text(path)
    try:
        data = json.loads(text, parse_float=str, parse_constant=str) if path.suffix.lower() == ".json" else parse(text)
    except (ValueError, RecursionError):
        raise errors.TableError(path.name, "is no JSON", "write one object with a key for each number") from None
    if not isinstance(data, dict):
        raise errors.TableError(path.name, "is no table of numbers", 'write a key for each number, such as mean = "34.30"')
    named = data.pop("specification", document.id)
    if named != document.id:
        rule = f"is of the specification {named}, and {document.id} is another one"
        raise errors.ReleaseError("RELEASE", rule, "give the file that was released under")
    for name, value in data.items():
        if isinstance(value, (bool, dict, list)) or value is None:
            raise errors.TableError(f"number {name}", "must be a number", f'write {name} = "12.5"')
        yield name, exact.rational(value if isinstance(value, int) else str(value), name)


def _text(path: Path) -> str:
    content = read_bytes(path, LARGEST)
    if len(content) > LARGEST:
        raise errors.TableError(path.name, f"is larger than {LARGEST:,} bytes", "give the released file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise errors.TableError(path.name, "is not UTF-8", "save the file as UTF-8") from None
