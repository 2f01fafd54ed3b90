"""Reading a specification file, schema version 1: TOML to a `SpecDocument`, every fault with its line.

The language in one view; every table with ``type`` takes the parameters that the named thing declares:

    schema = 1                          required
    id = "lower-kebab"                  required
    title = "one line"                  required
    [space]                             required; type
    [multiverse]                        type, or just invariants = [...]; absent: one universe
    [input_divergence]                  required; type
    [output_divergence]                 required; type
    [budget]                            required; one number by its name (rho = "2.63"), or [[budget.universe]], or type
    [mechanism]                         type
    [claim]                             verdict, because, source
    [ledger]                            parts = [{id, <number>}, ...] that add up to the budget
    [[miniature]]                       title and the blocks that differ, as tables of their own
    [[counterexample]]                  title, because, mechanism = {type, ...}: what must fail
    [[expect]]                          what, <number>, tolerance, because, route = {type, ...}; corrected, for an erratum
    [[explained]]                       finding, because: what the linter finds and is meant to stand
    [[change]]                          from, to, because, approved_by: a change of the promise, with the hashes of both
    [source]                            texts, dates and whole numbers under any key
    [[source]]                          id, title, author, publisher, year, date, read, doi, arxiv, url, version, page, licence
    [deployment]                        publisher, product, published or year; region, kind, sector, use, trust, release, ...
    [provenance]                        for each block how = stated, inferred or assumed; source = ids; because
    [[part]]                            title, view, share, verdict, because, and the blocks that differ: promised besides
    [[unaccounted]]                     step, effect, touches, source: what was done outside of the guarantee
    [table]                             unused, strip, observed: how a table that is released lies on disk

Limits come first, then the parser; numbers stay exactly as written. `new_spec` is a commented file to start from.
"""

from __future__ import annotations

import ast
import codecs
import difflib
import hashlib
import json
import math
import os
import re
import tomllib
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from dpspec.base.errors import (
    DpspecError,
    DuplicateIdError,
    ParameterError,
    SchemaVersionError,
    SpecFileError,
    SpecSyntaxError,
    SpecTooLargeError,
    UnreadableFileError,
    WrongShapeError,
)
from dpspec.base.files import read_bytes
from dpspec.base.log import log
from dpspec.base.params import FAILED, raise_all
from dpspec.blocks.space import DatasetSpace
from dpspec.grammar.spec import PrivacySpec
from dpspec.specfile.blocks import BlockReader, RecordReader
from dpspec.specfile.document import SCHEMA, SpecDocument
from dpspec.specfile.maker import FilePositions, Log, Maker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpspec.extension import Registry
    from dpspec.grammar.tables import TableLayout

SIZE_LIMIT = 1_000_000
"""The largest specification file that is read, in bytes."""
DEPTH_LIMIT = 32
"""The deepest nesting of lists, tables and dotted keys that is read."""

LONGEST_WORD = 2000
"""The longest bare key or number; a longer integer could not even be shown."""

SUFFIX = ".dpspec.toml"

REPORT = "report.json"
"""The report of a release, which contains the specification that it was drawn under."""

SCHEMA_BESIDE = ".dpspec/spec-1.schema.json"
"""The location where `dpspec new spec` writes the JSON schema, next to the file that names it."""
SCHEMA_LINE = f"#:schema ./{SCHEMA_BESIDE}"
"""The first line of a new file: editors (Taplo, Even Better TOML) complete and check it by this schema, without a network."""

_MARK = re.compile(
    r'"""(?:\\.|[^\\])*?(?:"{3,5}|\Z)|\'\'\'.*?(?:\'{3,5}|\Z)|"(?:\\.|[^"\\\n])*+"?|\'[^\'\n]*+\'?|#[^\n]*|[\[\]{}.=,\n]'
    r"|[0-9A-Za-z_+-]+",
    re.DOTALL,
)
"""Each match consumes what it read, also a string that is never closed and a short word: a search that begins anew inside them
takes time quadratic in their length. The parser refuses what follows an unclosed string."""

_ADVICE = "a specification holds parameters, not data"
_LINE = re.compile(r"at line (\d+)")


class WrittenNumber(Decimal):
    """A decimal number exactly as it is written in the file."""

    def __repr__(self) -> str:
        return str(self)


def load_text(path: Path) -> str:
    """The text of a specification file; of the report of a release, that of the specification that it was drawn under.

    Raises:
        as `load_bytes`, `decoded` and `read`.
    """
    return _loaded(path)[0]


def names_specification(name: str) -> bool:
    """Whether a text names a specification file, or the folder of a release, and no block or word.

    >>> names_specification("survey.dpspec.toml"), names_specification("add-remove")
    (True, False)
    """
    return name.endswith(".toml") or any(map(os.path.isfile, (name, os.path.join(name, REPORT))))  # of any text: also no path


def _loaded(path: Path) -> tuple[str, str]:
    """The text of a specification, and the SHA-256 of its file; of a release, of the file that it was drawn under."""
    file = path / REPORT if path.is_dir() and (path / REPORT).is_file() else path
    content = load_bytes(file)
    text = decoded(content)
    return _released_under(text) if file.name == REPORT else (text, hashlib.sha256(content).hexdigest())


def load_bytes(path: Path) -> bytes:
    """A specification file as it lies on disk; it is opened once, and no more than a little beyond the limit is read.

    Raises:
        SpecFileError: there is no such file, or it cannot be read.
        NotAFileError: it is a pipe, a socket, a device.
        SpecTooLargeError: above 1 MB.
    """
    try:
        if path.is_dir():
            raise SpecFileError("file", "is a directory", f"name a file *{SUFFIX} in it", value=str(path))
        content = read_bytes(path, SIZE_LIMIT)
    except (OSError, ValueError) as problem:  # a zero byte in the path, or a name that is too long
        reason = getattr(problem, "strerror", None) or "this is no path"
        raise SpecFileError("file", f"cannot be read ({reason})", "check the path", value=str(path)) from None
    except UnreadableFileError as problem:
        raise SpecFileError("file", problem.rule, problem.advice, value=str(path)) from None
    if len(content) > SIZE_LIMIT:
        raise _too_large(f"is larger than {SIZE_LIMIT:,} bytes", path.stat().st_size)
    return content


def decoded(content: bytes) -> str:
    """The text of a specification file from its bytes.

    Raises:
        SpecSyntaxError: it is not UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        fault = SpecSyntaxError("text", f"is not UTF-8 (byte {problem.start})", "save the file as UTF-8")
        fault.line = content.count(b"\n", 0, problem.start) + 1
        raise fault from None


def parse(text: str) -> dict[str, Any]:
    """TOML data with exact numbers; a text that is too large or too deep is refused before it is parsed.

    Raises:
        SpecTooLargeError, SpecSyntaxError.

    >>> parse("p = 0.1")
    {'p': 0.1}
    """
    if len(text) > SIZE_LIMIT:
        raise _too_large(f"is larger than {SIZE_LIMIT:,} characters", len(text))
    _check_depth(text)
    try:
        return tomllib.loads(text, parse_float=_read_float)
    except ValueError as problem:
        found = _LINE.search(str(problem))
        rule = _in_toml(re.sub(r"\s*\(at .*\)$", "", str(problem)).rstrip("."))
        rule = rule if len(rule) <= 200 else rule[:197] + "..."  # the parser quotes keys, which may be long
        lines = text.replace("\r\n", "\n").split("\n")  # as the parser counts them
        line = int(found[1]) if found else len(lines) - (lines[-1] == "")
        # of a table that was named by mistake nothing is quoted
        is_spec = re.search(r"^(?:schema\s*=|\[\w+\])", text, re.MULTILINE)
        shown = lines[line - 1] if is_spec and line <= len(lines) else ""
        if not is_spec and not any("=" in one for one in lines[:20]):
            advice = "name a file *.dpspec.toml; `dpspec new spec NAME --from TABLE` drafts one from a table"
            raise SpecSyntaxError("file", "is no specification", advice) from None
        fault = SpecSyntaxError("TOML", rule[:1].lower() + rule[1:], _line_advice(shown, rule))
        fault.line = line
        raise fault from None


_QUOTES = str.maketrans("\u201c\u201d\u201e\u2018\u2019", '"""\'\'')
_ASSIGNED = re.compile(r"\s*([\w.-]+)\s*=\s*(.*?)\s*(?:#.*)?")


def _line_advice(line: str, rule: str) -> str:  # noqa: PLR0911 - one end for each mistake
    """The advice for a line that is not TOML; the usual mistakes are recognised.

    >>> _line_advice("epsilon = log(3)", "Invalid value")
    'write epsilon = "ln(3)"'
    >>> _line_advice("epsilon = 5%", "Expected newline")
    'write epsilon = "5/100"'
    >>> _line_advice("[budget", "Expected ']'")
    'a table is a name in brackets, such as [budget]; its keys are written as key = value, texts in double quotes'
    """
    if "overwrite" in rule or "declare" in rule or "twice" in rule:
        return "a key occurs once in its table: delete one of the two lines"
    if "\r" in line:
        return "save the file with line ends of Unix (LF) or of Windows (CRLF)"
    if "end of the line" in rule:
        return "close the text with the quotes that it begins with, on the same line"
    if "character" in rule:
        return r"write a control character as an escape, such as \u0001"
    found = _ASSIGNED.fullmatch(line)
    if found is None or not found[2]:
        return "a table is a name in brackets, such as [budget]; its keys are written as key = value, texts in double quotes"
    key, value = found[1], found[2]
    if not key.isascii():
        return f"write the name of the key in letters from a to z: {key} is none"
    if value.translate(_QUOTES) != value:
        return f"use straight quotes: {key} = {value.translate(_QUOTES)}"
    if re.fullmatch(r"[\d.]+ ?%", value):
        whole = value.rstrip("% ")
        return f'write {key} = "{whole}/100"' if whole.isdigit() else f"write a decimal between 0 and 1 for {value}"
    if re.fullmatch(r"[+-]?\d+,\d+", value):
        return f"write {key} = {value.replace(',', '.')}, with a point"
    if re.fullmatch(r"log ?\(.*\)", value):
        return f'write {key} = "ln{value[3:].strip()}"'
    if re.fullmatch(r"[\w(][\w ()/*+.^-]*", value):
        return f'write {key} = "{value}"'
    return "texts are in double quotes, and a key occurs once in its table"


_TABLE = re.compile(r"\(['\"].*['\"],?\)(?= twice)")


def _in_toml(rule: str) -> str:
    """What the parser says, with the name of a table as a file has it, and control characters by name.

    >>> _in_toml("Cannot declare ('part', 'budget') twice"), _in_toml(f"Illegal character {chr(10)!r}")
    ('Cannot declare [part.budget] twice', 'Illegal end of the line in a text')
    """
    rule = _TABLE.sub(lambda found: f"[{'.'.join(ast.literal_eval(found[0]))}]", rule)
    return rule.replace(r"invalid character", "illegal character").replace(r"character '\n'", "end of the line in a text")


def _read_float(written: str) -> Any:
    if written.lstrip("+-") == "inf":
        return -math.inf if written.startswith("-") else math.inf
    return WrittenNumber(written)


def _check_depth(text: str) -> None:
    """Brackets and the steps of dotted keys, counted outside strings and comments without recursion; endless words."""
    depth = dots = 0
    for found in _MARK.finditer(text):
        mark = found[0]
        if len(mark) >= LONGEST_WORD and mark[0] not in "\"'#":
            raise _too_large_at("word", f"is longer than {LONGEST_WORD} characters", text, found.start())
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
        dots = dots + 1 if mark == "." else 0 if mark in "[{=,\n" else dots
        if depth + dots > DEPTH_LIMIT:
            raise _too_large_at("nesting", f"is deeper than {DEPTH_LIMIT}", text, found.start())


def _too_large(rule: str, size: int) -> SpecTooLargeError:
    return SpecTooLargeError("size", rule, _ADVICE, value=size)


def _too_large_at(subject: str, rule: str, text: str, place: int) -> SpecTooLargeError:
    fault = SpecTooLargeError(subject, rule, _ADVICE)
    fault.line = text.count("\n", 0, place) + 1
    return fault


# --- reading --------------------------------------------------------------------------------------


_KEYS = (
    "schema", "id", "title", "space", "multiverse", "input_divergence", "output_divergence", "budget", "mechanism",
    "claim", "ledger", "miniature", "counterexample", "expect", "explained", "change", "source",
    "deployment", "provenance", "unaccounted", "part", "table",
)  # fmt: skip
_OWN = ("id", "title")
"""Keys that differ between files of equal content; they are left out of the cache key of shared documents."""
_KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


Shared = dict[str, SpecDocument]
"""Documents by their tables, in one canonical form, without id and title."""


def read(path: str | Path, registry: Registry, *, shared: Shared | None = None) -> SpecDocument:
    """Read a specification file, or the specification that a release was drawn under.

    Args:
        path: the file, or the folder of a release.
        registry: what the names in it mean.
        shared: documents that were read before, for a caller who reads many files: equal tables are made into objects once.
            The document is added to it.

    Raises:
        SpecFileError, SpecTooLargeError, SpecSyntaxError, SchemaVersionError: at once;
        any other single fault, or `Faults` when there are several: together, each with its line.
    """
    try:
        text, sha256 = _loaded(Path(path))
    except DpspecError as fault:
        fault.file = str(path)
        raise
    log("files", "DEBUG", "read %s", path)
    return attrs.evolve(read_text(text, registry, str(path), shared=shared), sha256=sha256)


def as_document(given: object, registry: Registry, name: str) -> SpecDocument:
    """A specification that is given as a file, as what was read of it, or as five blocks, as one that was read.

    Args:
        given: the specification.
        registry: what the names in a file mean.
        name: what five blocks are called, and the error.

    Raises:
        ParameterError: it is none of these.
    """
    found = read(given, registry) if isinstance(given, (str, Path)) else given
    if isinstance(found, PrivacySpec):
        return SpecDocument(id=name, title="five blocks in Python", spec=found)
    if not isinstance(found, SpecDocument):
        advice = "give a file, what read() or spec() returns, or five blocks"
        raise ParameterError(name, f"cannot be a {type(given).__name__}", advice)
    return found


def _released_under(report: str) -> tuple[str, str]:
    """The text of the specification that a release was drawn under, and the SHA-256 of its file, from the report of the release.

    Raises:
        SpecFileError: it is no report, or its text does not have its SHA-256.
    """
    try:
        found = json.loads(report)["specification"]
        text, sha256 = str(found["text"]), str(found["sha256"])
    except (ValueError, KeyError, TypeError, RecursionError):
        advice = f"give a file *{SUFFIX}, or the folder that dpspec release wrote"
        raise SpecFileError("file", "is not the report of a release", advice) from None
    # The text in a report has no byte order mark; the file that was released under may have begun with one.
    if sha256 not in {hashlib.sha256(start + text.encode()).hexdigest() for start in (b"", codecs.BOM_UTF8)}:
        rule = "has a specification whose text does not have the SHA-256 that is stated"
        raise SpecFileError("report", rule, "give the file that was released under")
    return text, sha256


def read_text(text: str, registry: Registry, name: str = "<text>", *, shared: Shared | None = None) -> SpecDocument:
    """Read a specification from its text; `name` replaces the file name in messages.

    Raises:
        as `read`.
    """
    try:
        data = parse(text)
    except DpspecError as fault:
        fault.file = name
        raise
    document = read_data(data, registry, text, name, shared=shared)
    return attrs.evolve(document, text=text, sha256=hashlib.sha256(text.encode()).hexdigest())


def read_data(
    data: dict[str, Any], registry: Registry, text: str = "", name: str = "<data>", *, shared: Shared | None = None
) -> SpecDocument:
    """Read a specification from its tables; `text` is what they were parsed from, where faults are looked up.

    Raises:
        as `read`.
    """
    try:
        log = Log(name, FilePositions.of(text, data))
        _check_schema(data)
    except DpspecError as fault:
        fault.file = name
        raise
    reader = _Reader(registry, log, data)
    # By their text: 1, 1.0 and true are equal as values of Python, and different in a file.
    tables = "" if shared is None else repr({key: value for key, value in data.items() if key not in _OWN})
    known = None if shared is None else shared.get(tables)
    document = reader.document(name) if known is None else reader.renamed(known, name)
    raise_all(log.in_line_order())
    if document is None:  # no fault, yet no document: cannot happen while every failure is logged
        raise SpecFileError("file", "cannot be read", value=name)
    if shared is not None:
        shared.setdefault(tables, document)
    return document


def spec_files(path: str | Path) -> tuple[Path, ...]:
    """The specification files that a path means: itself, or those directly in a directory, sorted.

    A folder of `dpspec release` means the specification that the release was drawn under, which is in its report.

    Raises:
        SpecFileError: the path does not exist, or the directory holds none.
    """
    if not isinstance(path, (str, os.PathLike)):
        rule = "is no path: this reads files"
        raise ParameterError("file", rule, "write the specification to a file", value=type(path).__name__)
    path = Path(path)
    try:
        if not path.is_dir():
            path.stat()
            return (path,)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or "this is no path"
        rule = "does not exist" if isinstance(problem, FileNotFoundError) else f"cannot be read ({reason})"
        near = _near(path) if isinstance(problem, FileNotFoundError) else ""
        raise SpecFileError("file", rule, near or "check the path", value=str(path)) from None
    found = tuple(sorted(path.glob(f"*{SUFFIX}")))
    if not found and (path / REPORT).is_file():
        return (path / REPORT,)
    if not found:
        raise SpecFileError("directory", f"holds no file *{SUFFIX}", "check the path", value=str(path))
    return found


def _near(path: Path) -> str:
    """Advice that names the most similar file of the folder; empty where none is similar."""
    try:
        there = [found.name for found in path.parent.iterdir() if found.is_dir() or found.name.endswith(SUFFIX)]
    except OSError:
        return ""
    names = {name.removesuffix(SUFFIX): name for name in there}  # the ending that all share makes none alike
    close = difflib.get_close_matches(path.name.removesuffix(SUFFIX), names, n=1)
    return f"did you mean {names[close[0]]}?" if close else ""


def check_ids(documents: tuple[SpecDocument, ...]) -> None:
    """Raise DuplicateIdError for specifications of one collection that share an id."""
    seen: dict[str, SpecDocument] = {}
    faults: list[DpspecError] = []
    for document in documents:
        first = seen.setdefault(document.id, document)
        if first is not document:
            faults.append(duplicate_id(document.id, document.path, first.path))
    raise_all(faults)


def duplicate_id(id: str, path: str | None, first: str | None) -> DuplicateIdError:
    """The fault of a file that has the id of another one.

    Args:
        id: the id.
        path: the file with the fault.
        first: the file that had the id before.
    """
    fault = DuplicateIdError("id", f"is the id of {first} too", "give each file its own", value=id)
    fault.file = path
    return fault


def is_id(name: str) -> bool:
    """Whether a name is lower-kebab, as the id of a specification must be."""
    return _KEBAB.fullmatch(name) is not None


def _check_schema(data: dict[str, Any]) -> None:
    advice = f"write schema = {SCHEMA} at the top"
    if "schema" not in data:
        fault = SchemaVersionError("schema", "is missing", advice)
    elif type(data["schema"]) is not int or data["schema"] != SCHEMA:  # true is 1 in Python, and no version
        fault = SchemaVersionError("schema", f"this dpspec reads version {SCHEMA}", advice, value=data["schema"])
    else:
        return
    fault.line = 1
    raise fault


class _Reader:
    """Reads the parts of one file in turn, so that a fault in one does not hide those of the others."""

    def __init__(self, registry: Registry, log: Log, data: dict[str, Any]) -> None:
        self.log, self.data = log, data
        self.maker = Maker(registry, log)
        self.blocks = BlockReader(self.maker)
        self.records = RecordReader(self.maker)

    def document(self, name: str) -> SpecDocument | None:
        self.maker.known_keys(self.data, dict.fromkeys(_KEYS), "")
        title = self.records.text(self.data, "title", "")
        read = self.blocks.document(self.data)
        claim = self.records.claim(self.data)
        source = self.records.source(self.data)
        ledger = self.records.ledger(self.data, read.budget, self.blocks)
        miniatures = self.blocks.miniatures(self.data, read)
        if read.secret is not None and (miniatures or self.data.get("part")):
            rule = "is secret, and the file has miniatures or parts"
            self.log.add(WrongShapeError("mechanism", rule, "check the range in a separate file"), "mechanism")
        parts = self.blocks.parts(self.data, read)
        counterexamples = self.blocks.counterexamples(self.data, miniatures[0].spec if miniatures else read.spec)
        expectations = self.records.expectations(self.data, self.blocks)
        explained = self.records.explanations(self.data, self.blocks)
        changes = self.records.changes(self.data, self.blocks)
        listed = {"source": isinstance(self.data.get("source"), list), "unaccounted": True}
        rows = {key: self.blocks.rows(self.data, key) if several else [] for key, several in listed.items()}
        facts = self._facts(rows)
        layout = self._layout(read.given.get("space"))
        identity = self._id()
        if self.log.faults or read.spec is None:
            return None
        return SpecDocument(
            id=identity, title=title, path=name, spec=read.spec, mechanism=read.mechanism, claim=claim,
            miniatures=miniatures, counterexamples=counterexamples, expectations=expectations, ledger=ledger,
            explained=explained, changes=changes, source=source, parts=parts, secret=read.secret, layout=layout, **facts,
        )  # fmt: skip

    def _facts(self, rows: Mapping[str, list[tuple[int, Mapping[str, Any]]]]) -> dict[str, Any]:
        """The statements of the file other than its claim, if there are any."""
        if not any(rows.values()) and not self.data.keys() & {"deployment", "provenance"}:
            return {}
        from dpspec.specfile.deployment import read_facts  # most files state none, and need none of its classes

        found = read_facts(self.maker, self.data, rows)
        return {field.name: getattr(found, field.name) for field in attrs.fields(type(found))}

    def renamed(self, known: SpecDocument, name: str) -> SpecDocument | None:
        """A document of equal tables, with the id and the title of this file."""
        title, identity = self.records.text(self.data, "title", ""), self._id()
        return None if self.log.faults else attrs.evolve(known, id=identity, title=title, path=name, text=None, sha256=None)

    def _layout(self, space: Any) -> TableLayout | None:
        """The table [table]."""
        if "table" not in self.data:
            return None
        from dpspec.grammar.tables import TableLayout

        table = self.maker.table(self.data["table"], "table")
        layout = FAILED if table is None else self.maker.make(TableLayout, table, "table")
        if not isinstance(layout, TableLayout):
            return None
        if isinstance(space, DatasetSpace):
            attributes = [a for unit in space.units for a in space.attributes_of(unit)]
            self.log.attempt("table", lambda: layout.check(attributes))
        return layout

    def _id(self) -> str:
        identity = self.records.text(self.data, "id", "")
        if identity and not is_id(identity):
            fault = ParameterError("id", "must be lower-kebab", "such as my-release-2020", value=identity)
            self.log.add(fault, "id")
        return identity


# --- a file to start from -------------------------------------------------------------------------


def new_spec(name: str) -> str:
    """The text of a commented specification with the given id.

    Raises:
        ParameterError: the name is not lower-kebab.

    >>> 'id = "my-release"' in new_spec("my-release")
    True
    """
    if not is_id(name):
        raise ParameterError("name", "must be lower-kebab", "such as my-release-2020", value=name)
    template = files("dpspec.specfile").joinpath("new.dpspec.toml").read_text(encoding="utf-8")
    return f"{SCHEMA_LINE}\n{template.replace('@ID@', name)}"
