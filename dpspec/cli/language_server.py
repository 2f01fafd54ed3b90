"""`dpspec lsp`: a language server for specification files, for every editor that speaks the protocol (LSP 3.17).

    diagnostics   what `dpspec check` says, while one types; what `dpspec lint` says besides, when a file is opened or saved
    hover         what `dpspec explain` says of the name, the parameter or the table under the cursor
    completion    tables, the parameters of what a table names, registered names behind `type =`, choices of a parameter

A file that is being typed is no TOML most of the time. So the place of the cursor is found by a scan of its own, which takes what
it can, and only diagnostics read the file as `dpspec check` does. The library (pygls) is imported when the server starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import attrs

from dpspec.base.errors import DpspecError, MissingLibraryError, UnknownNameError
from dpspec.base.params import Domain, Items, Pairs, Parameter, Registered, Text, Truth, each, parameters
from dpspec.extension.hooks import singular
from dpspec.linter import lint
from dpspec.linter.finding import Severity
from dpspec.report.explain import described_parameters, explain
from dpspec.specfile.blocks import BLOCK_KINDS
from dpspec.specfile.reader import read_text

if TYPE_CHECKING:
    from lsprotocol import types as lsp
    from pygls.lsp.server import LanguageServer

    from dpspec.extension import Registry

TABLES = (
    "space", "multiverse", "input_divergence", "output_divergence", "budget", "mechanism", "claim", "ledger", "source",
    "deployment", "provenance", "table",
)  # fmt: skip
LISTS = ("miniature", "counterexample", "expect", "explained", "part", "unaccounted", "space.attributes", "budget.universe")
TOP = ("schema", "id", "title")
_FIXED = {
    "claim": ("verdict", "because", "source"), "ledger": ("parts",), "expect": ("what", "tolerance", "because", "route"),
    "explained": ("finding", "because"), "table": ("unused", "strip", "observed"), "multiverse": ("invariants",),
    "miniature": ("title",), "counterexample": ("title", "because", "mechanism"),
}  # fmt: skip
"""The keys of tables that name no type."""


# --- the place of the cursor ----------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class CursorPlace:
    """Where a cursor is.

    Args:
        path: the keys of the tables around it, the outermost first.
        types: for each of these tables the `type` that stands in it, or None.
        key: the key whose value it is in; None where a key is being written.
        keys: the keys that the innermost table already has.
        word: the name under the cursor.
    """

    path: tuple[str, ...]
    types: tuple[str | None, ...]
    key: str | None
    keys: tuple[str, ...]
    word: str


_HEADER = re.compile(r"^[ \t]*\[\[?([^\[\]\n]*)\]?\]?[ \t]*(?:#.*)?$", re.MULTILINE)
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?(?:"""|\Z)|\'\'\'.*?(?:\'\'\'|\Z)|"(?:\\.|[^"\\\n])*"?|\'[^\'\n]*\'?|#[^\n]*|[{}\[\],=\n]|[A-Za-z0-9_.-]+',
    re.DOTALL,
)
_TYPE = re.compile(r"""(?:^|[{,\n])[ \t]*type[ \t]*=[ \t]*["']([^"'\n]+)["']""")
_WORD = re.compile(r"[\w.:+-]+")


def place_of(text: str, offset: int) -> CursorPlace:
    """The place of a cursor in a text that need not be TOML yet.

    >>> written = '[space]\\ntype = "records"\\nattributes = [{ name = "a", cou'
    >>> found = place_of(written, len(written))
    >>> found.path, found.types, found.key, found.keys
    (('space', 'attributes'), ('records', None), None, ('name',))
    """
    headers = list(_HEADER.finditer(text))
    above = [header for header in headers if header.start() <= offset]
    start, names = (above[-1].end(), above[-1][1]) if above else (0, "")
    end = next((header.start() for header in headers if header.start() > offset), len(text))
    if above and offset <= above[-1].end():
        return CursorPlace(path=(), types=(), key=None, keys=(), word=_word(text, offset))
    path = [part.strip().strip("\"'") for part in names.split(".") if part.strip()]
    types = [_type_of_header(headers, path[: length + 1], text) for length in range(len(path))]
    frames = _frames(text[start:offset])
    inner, keys, key = path, frames[0].keys, frames[0].key
    position = start
    for frame in frames[1:]:
        position = start + frame.start
        inner = [*inner, *([frame.name] if frame.name else [])]
        if frame.name:
            types.append(_type_inside(text[position:end]))
        keys, key = frame.keys, frame.key
    written = keys if frames[1:] else _keys(text[start:end])
    return CursorPlace(path=tuple(inner), types=tuple(types), key=key, keys=tuple(written), word=_word(text, offset))


@attrs.define
class _Frame:
    """An inline table that is open at the cursor, or the table of the header; a list only carries its key on."""

    name: str | None
    start: int
    keys: list[str] = attrs.field(factory=list)
    key: str | None = None
    is_list: bool = False


def _frames(before: str) -> list[_Frame]:
    """The tables that are open at the end of a text below a header."""
    stack = [_Frame(None, 0)]
    last = ""
    for found in _TOKEN.finditer(before):
        sign, top = found[0], stack[-1]
        if sign == "=":
            top.key = last.strip("\"'")
            top.keys.append(top.key)
        elif sign in "{[":
            stack.append(_Frame(_key_of(stack) if sign == "{" else None, found.start(), is_list=sign == "["))
        elif sign in "}]" and len(stack) > 1:
            stack.pop()
        elif (sign == "," and not top.is_list) or (sign == "\n" and len(stack) == 1):
            top.key = None
        if not sign.startswith("#") and sign != "\n":
            last = sign
    key = _key_of(stack)
    tables = [frame for frame in stack if not frame.is_list]
    if stack[-1].is_list:
        tables[-1] = attrs.evolve(tables[-1], key=key)
    return tables


def _key_of(stack: Sequence[_Frame]) -> str | None:
    return next((frame.key for frame in reversed(stack) if frame.key is not None or not frame.is_list), None)


def _keys(text: str) -> list[str]:
    return re.findall(r"^[ \t]*([A-Za-z0-9_-]+)[ \t]*=", text, re.MULTILINE)


def _type_of_header(headers: Sequence[re.Match[str]], path: Sequence[str], text: str) -> str | None:
    """The type that stands in the table of a header."""
    for place, header in enumerate(headers):
        if [part.strip() for part in header[1].split(".")] == list(path):
            end = headers[place + 1].start() if place + 1 < len(headers) else len(text)
            found = re.search(r"""^[ \t]*type[ \t]*=[ \t]*["']([^"'\n]+)["']""", text[header.end() : end], re.MULTILINE)
            return found[1] if found else None
    return None


def _type_inside(text: str) -> str | None:
    """The type that stands in an inline table, which begins the text; nothing of what lies inside another one."""
    depth, flat = 0, []
    for found in _TOKEN.finditer(text):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(found[0], 0)
        if depth <= 0:
            break
        if depth == 1:
            flat.append(found[0])
    known = _TYPE.search(" ".join(flat))
    return known[1] if known else None


def _word(text: str, offset: int) -> str:
    line = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    for found in _WORD.finditer(text, line, len(text) if end < 0 else end):
        if found.start() <= offset <= found.end():
            return found[0]
    return ""


# --- what stands there ----------------------------------------------------------------------------


def kind_at(place: CursorPlace, registry: Registry) -> tuple[str | None, type | None]:
    """The kind of thing that the innermost table describes, and its class where it says which.

    Returns:
        None and None for a table of records, such as a claim.
    """
    names, types = list(place.path), list(place.types)
    while names and names[0] in ("miniature", "part", "counterexample", "expect"):
        names, types = names[1:], types[1:]
    if not names:
        return None, None
    kind = {**BLOCK_KINDS, "mechanism": "mechanisms", "route": "routes"}.get(names[0])
    cls = _class(registry, kind, types[0] if types else None)
    for name, written in zip(names[1:], types[1:], strict=False):
        domain = _domain(cls, name)
        if domain is None and name == "invariants":
            domain = Registered("invariants")
        kind, cls = (domain.kind, None) if isinstance(domain, Registered) else (None, getattr(domain, "cls", None))
        if kind is not None:
            cls = _class(registry, kind, written)
    return kind, cls


def _class(registry: Registry, kind: str | None, name: str | None) -> type | None:
    if kind is None or name is None:
        return None
    try:
        found: type = registry.get(kind, name)
        return found
    except DpspecError:
        return None


def _domain(cls: type | None, name: str) -> Domain | None:
    """The domain of a parameter, or of the items in it."""
    found = next((p.domain for p in parameters(cls) if p.name == name), None) if cls is not None else None
    while isinstance(found, (Items, Pairs)):
        found = found.item
    return found


def completions(text: str, offset: int, registry: Registry) -> list[tuple[str, str]]:
    """What may be written at a cursor: each with a remark.

    >>> from dpspec.extension import load_plugins
    >>> registry = load_plugins(names=[]).registry
    >>> [name for name, _ in completions('[space]\\ntype = "', 16, registry)][:2]
    ['bit-vectors', 'integer-counts']
    """
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    if re.fullmatch(r"[ \t]*\[[\w.-]*", line):
        return [(name, "table") for name in TABLES]
    if re.fullmatch(r"[ \t]*\[\[[\w.-]*", line):
        return [(name, "table that may stand several times") for name in LISTS]
    place = place_of(text, offset)
    kind, cls = kind_at(place, registry)
    if place.key == "type" and kind is not None:
        return [(entry.name, f"{kind.replace('_', ' ')}, as {entry.qualified_name}") for entry in registry.usable(kind)]
    if place.key is not None:
        return list(_values(_domain(cls, place.key), registry))
    return list(_keys_of(place, kind, cls, registry))


def _values(domain: Domain | None, registry: Registry) -> Iterator[tuple[str, str]]:
    if isinstance(domain, Text):
        yield from ((choice, "") for choice in domain.choices)
    elif isinstance(domain, Truth):
        yield from (("true", ""), ("false", ""))
    elif isinstance(domain, Registered):
        yield from ((name, domain.kind.replace("_", " ")) for name in registry.names(domain.kind))


def _keys_of(place: CursorPlace, kind: str | None, cls: type | None, registry: Registry) -> Iterator[tuple[str, str]]:
    declared = () if cls is None else parameters(cls)
    found = [(p.name, _remark(p)) for p in declared]
    if kind is not None:
        found.insert(0, ("type", f"which of the {kind.replace('_', ' ')}"))
    if not place.path:
        found = [(name, "") for name in TOP]
    elif kind is None or place.path[-1] == "multiverse":
        found += [(name, "") for name in _FIXED.get(place.path[-1], ())]
    if place.path[-1:] == ("budget",):
        quantities = {name for other in registry.classes("output_divergences") for name in other.budget_parameters}
        found += [(name, "the number of the budget") for name in sorted(quantities)]
    yield from ((name, remark) for name, remark in found if name not in place.keys)


def _remark(parameter: Parameter) -> str:
    known = "required" if parameter.required else f"default {parameter.default}" if parameter.default not in (None, ()) else ""
    return ", ".join(filter(None, (parameter.domain.describe(), known)))


def hover(text: str, offset: int, registry: Registry) -> str | None:
    """What the word under the cursor means, as Markdown; None where nothing is known of it."""
    place = place_of(text, offset)
    kind, cls = kind_at(place, registry)
    declared = next((p for p in parameters(cls) if p.name == place.word), None) if cls is not None else None
    line = text[text.rfind("\n", 0, offset) + 1 :].partition("\n")[0]
    is_key = re.search(rf"(?<![\w.-]){re.escape(place.word)}[\"']?[ \t]*=", line) is not None
    if declared is not None and cls is not None and is_key:
        said = described_parameters(cls, registry).get(place.word, "")
        return f"**{place.word}**: {_remark(declared)}\n\n{said}".strip()
    try:
        found = explain(place.word, registry) if place.word else []
    except UnknownNameError:
        return None
    wanted = [one for one in found if kind is not None and one["kind"] == singular(kind)]
    return "\n\n---\n\n".join(_markdown(one) for one in wanted or found)


def _markdown(meaning: Mapping[str, Any]) -> str:
    lines = [f"**{meaning['name']}** ({meaning['kind']})", "", str(meaning["definition"])]
    lines += [""] if meaning["parameters"] else []
    lines += [f"* `{row['name']}`: {row['meaning']} ({row['domain']})" for row in meaning["parameters"]]
    if meaning["example"]:
        lines += ["", "```toml", str(meaning["example"]).strip(), "```"]
    return "\n".join(lines)


# --- faults ---------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Told:
    """A fault or a finding.

    Args:
        line: where, from 0 on.
        message: what, and what to do.
        code: which.
        is_error: whether it is wrong, and not only easily misread.
    """

    line: int
    message: str
    code: str
    is_error: bool


def faults(text: str, name: str, registry: Registry) -> list[Told]:
    """What `dpspec check` says of a text."""
    try:
        read_text(text, registry, name)
    except DpspecError as fault:
        return [
            Told(line=(one.line or 1) - 1, message=str(one.args[0]), code=one.code, is_error=True) for one in each(fault)
        ]  # fmt: skip
    return []


def findings(path: Path, registry: Registry) -> list[Told]:
    """What `dpspec lint` says of a file on disk, without what the file explains."""
    try:
        found = lint([path], registry)
    except DpspecError as fault:
        return [Told(line=(one.line or 1) - 1, message=str(one.args[0]), code=one.code, is_error=True) for one in each(fault)]
    return [
        Told(
            line=one.line - 1, message=f"{one.message}: {one.advice}", code=one.code, is_error=one.severity is Severity.ERROR
        )
        for one in found if one.explained is None
    ]  # fmt: skip


# --- the server -----------------------------------------------------------------------------------


def server() -> LanguageServer:
    """The language server.

    Raises:
        MissingLibraryError: pygls is not installed.
    """
    try:
        from lsprotocol import types as lsp
        from pygls.lsp.server import LanguageServer
    except ImportError:
        raise MissingLibraryError("lsp", "pygls", "dpspec[lsp]") from None
    from importlib.metadata import version

    from dpspec.extension import installed

    made = LanguageServer("dpspec", version("dpspec"))
    registry = installed().registry

    def publish(uri: str, *, whole: bool) -> None:
        document = made.workspace.get_text_document(uri)
        path = Path(unquote(urlsplit(uri).path)).name
        told = faults(document.source, path, registry)
        on_disk = Path(document.path)
        if whole and not told and on_disk.is_file():
            told = findings(on_disk, registry)
        shown = [_diagnostic(one, document.source) for one in told]
        made.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri=uri, diagnostics=shown))

    @made.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        publish(params.text_document.uri, whole=True)

    @made.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        publish(params.text_document.uri, whole=True)

    @made.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        publish(params.text_document.uri, whole=False)

    @made.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        document = made.workspace.get_text_document(params.text_document.uri)
        said = hover(document.source, document.offset_at_position(params.position), registry)
        return None if said is None else lsp.Hover(contents=lsp.MarkupContent(kind=lsp.MarkupKind.Markdown, value=said))

    @made.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=['"', "[", "="]))
    def completed(params: lsp.CompletionParams) -> lsp.CompletionList:
        document = made.workspace.get_text_document(params.text_document.uri)
        offset = document.offset_at_position(params.position)
        found = completions(document.source, offset, registry)
        items = [lsp.CompletionItem(label=name, detail=remark or None) for name, remark in found]
        return lsp.CompletionList(is_incomplete=False, items=items)

    return made


def _diagnostic(told: Told, text: str) -> lsp.Diagnostic:
    from lsprotocol import types as lsp

    lines = text.splitlines() or [""]
    line = min(max(told.line, 0), len(lines) - 1)
    width = len(lines[line].encode("utf-16-le")) // 2
    return lsp.Diagnostic(
        range=lsp.Range(start=lsp.Position(line=line, character=0), end=lsp.Position(line=line, character=width)),
        message=told.message,
        code=told.code,
        source="dpspec",
        severity=lsp.DiagnosticSeverity.Error if told.is_error else lsp.DiagnosticSeverity.Warning,
    )
