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
    [source]                            texts
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import attrs

from dpspec.errors import DpspecError, DuplicateIdError, ParameterError, SchemaVersionError, SpecFileError
from dpspec.extension import Registry
from dpspec.params import raise_all
from dpspec.specfile.blocks import BlockReader
from dpspec.specfile.document import SCHEMA, SpecDocument
from dpspec.specfile.maker import Log, Maker
from dpspec.specfile.positions import Positions
from dpspec.specfile.records import RecordReader
from dpspec.specfile.text import SUFFIX, decoded, load_bytes, parse

_KEYS = (
    "schema", "id", "title", "space", "multiverse", "input_divergence", "output_divergence", "budget", "mechanism",
    "claim", "ledger", "miniature", "counterexample", "expect", "explained", "source",
)  # fmt: skip
_KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def read(path: str | Path, registry: Registry) -> SpecDocument:
    """Read a specification file.

    Args:
        path: the file.
        registry: what the names in it mean.

    Raises:
        SpecFileError, SpecTooLargeError, SpecSyntaxError, SchemaVersionError: at once;
        any other single fault, or `Faults` when there are several: together, each with its line.
    """
    try:
        content = load_bytes(Path(path))
        text = decoded(content)
    except DpspecError as fault:
        fault.file = str(path)
        raise
    return attrs.evolve(read_text(text, registry, str(path)), sha256=hashlib.sha256(content).hexdigest())


def read_text(text: str, registry: Registry, name: str = "<text>") -> SpecDocument:
    """Read a specification from its text; `name` stands for the file in messages.

    Raises:
        as `read`.
    """
    try:
        data = parse(text)
        log = Log(name, Positions.of(text, data))
        _check_schema(data)
    except DpspecError as fault:
        fault.file = name
        raise
    document = _Reader(registry, log, data).document(name)
    raise_all(log.in_line_order())
    if document is None:  # no fault, yet no document: cannot happen while every failure is logged
        raise SpecFileError("file", "cannot be read", value=name)
    return attrs.evolve(document, text=text, sha256=hashlib.sha256(text.encode()).hexdigest())


def spec_files(path: str | Path) -> tuple[Path, ...]:
    """The specification files that a path means: itself, or those directly in a directory, sorted.

    Raises:
        SpecFileError: the path does not exist, or the directory holds none.
    """
    path = Path(path)
    try:
        if not path.is_dir():
            path.stat()
            return (path,)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or "this is no path"
        rule = "does not exist" if isinstance(problem, FileNotFoundError) else f"cannot be read ({reason})"
        raise SpecFileError("file", rule, "check the path", value=str(path)) from None
    found = tuple(sorted(path.glob(f"*{SUFFIX}")))
    if not found:
        raise SpecFileError("directory", f"holds no file *{SUFFIX}", "check the path", value=str(path))
    return found


def check_ids(documents: tuple[SpecDocument, ...]) -> None:
    """Raise DuplicateIdError for specifications of one collection that share an id."""
    seen: dict[str, SpecDocument] = {}
    faults: list[DpspecError] = []
    for document in documents:
        first = seen.setdefault(document.id, document)
        if first is not document:
            fault = DuplicateIdError("id", f"is the id of {first.path} too", "give each file its own", value=document.id)
            fault.file = document.path
            faults.append(fault)
    raise_all(faults)


def is_id(name: str) -> bool:
    """Whether a name is lower-kebab, as the id of a specification must be."""
    return _KEBAB.fullmatch(name) is not None


def _check_schema(data: dict[str, Any]) -> None:
    advice = f"write schema = {SCHEMA} at the top"
    if "schema" not in data:
        fault = SchemaVersionError("schema", "is missing", advice)
    elif type(data["schema"]) is not int or data["schema"] != SCHEMA:
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
        counterexamples = self.blocks.counterexamples(self.data, miniatures[0].spec if miniatures else read.spec)
        expectations = self.records.expectations(self.data, self.blocks)
        explained = self.records.explanations(self.data, self.blocks)
        identity = self._id()
        if self.log.faults or read.spec is None:
            return None
        return SpecDocument(
            id=identity, title=title, path=name, spec=read.spec, mechanism=read.mechanism, claim=claim,
            miniatures=miniatures, counterexamples=counterexamples, expectations=expectations, ledger=ledger,
            explained=explained, source=source,
        )  # fmt: skip

    def _id(self) -> str:
        identity = self.records.text(self.data, "id", "")
        if identity and not is_id(identity):
            fault = ParameterError("id", "must be lower-kebab", "such as my-release-2020", value=identity)
            self.log.add(fault, "id")
        return identity
