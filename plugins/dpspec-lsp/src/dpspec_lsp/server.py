"""`dpspec lsp`: a language server for specification files, for every editor that speaks the protocol (LSP 3.17).

    diagnostics   what `dpspec check` reports, after a pause in typing; with what `dpspec lint` reports, on opening and saving
    hover         what `dpspec explain` says of the name, the parameter or the table under the cursor
    completion    tables, the parameters of what a table names, registered names behind `type =`, choices of a parameter

A file that is being typed is no TOML most of the time. So the place of the cursor is found by a scan of its own, which takes what
it can, and only diagnostics read the file as `dpspec check` does.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

import attrs

from dpspec import DpspecError, installed
from dpspec.plugin import (
    Items,
    Registered,
    Registry,
    Text,
    described_parameters,
    errors,
    explain,
    linter,
    params,
    singular,
    specfile,
)

if TYPE_CHECKING:
    from lsprotocol import types as lsp
    from pygls.lsp.server import LanguageServer

TABLES = (
    "space", "multiverse", "input_divergence", "output_divergence", "budget", "mechanism", "claim", "ledger", "source",
    "deployment", "provenance", "table",
)  # fmt: skip
LISTS = (
    "miniature", "counterexample", "expect", "explained", "change", "source", "part", "unaccounted", "space.attributes",
    "budget.universe",
)  # fmt: skip
TOP = ("schema", "id", "title")
_FIXED = {
    "claim": ("verdict", "because", "source"), "ledger": ("parts",), "expect": ("what", "tolerance", "because", "route"),
    "explained": ("finding", "because"), "table": ("unused", "strip", "observed"), "multiverse": ("invariants",),
    "miniature": ("title",), "counterexample": ("title", "because", "mechanism"),
    "change": ("from", "to", "because", "approved_by"), "part": ("title", "view", "share", "verdict", "because"),
    "unaccounted": ("step", "effect", "touches", "source"),
    "source": (
        "id", "title", "author", "publisher", "year", "date", "read", "doi", "arxiv", "url", "version", "page", "licence", "note",
    ),
    "deployment": (
        "publisher", "product", "published", "year", "region", "kind", "sector", "use", "trust", "release", "data", "access",
        "period", "units", "prose",
    ),
}  # fmt: skip
"""The keys of tables that name no type."""


# --- the place of the cursor ----------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class CursorPlace:
    """The position of a cursor in a file.

    Args:
        path: the keys of the tables around it, the outermost first.
        types: for each of these tables the value of its key `type`, or None.
        key: the key whose value it is in; None where a key is being written.
        keys: the keys that the innermost table already has.
        word: the name under the cursor.
    """

    path: tuple[str, ...]
    types: tuple[str | None, ...]
    key: str | None
    keys: tuple[str, ...]
    word: str


_HEADER = re.compile(r"^[ \t]*+\[\[?([^\[\]\n]*+)\]?\]?[ \t]*+(?:#.*)?$", re.MULTILINE)
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?(?:"""|\Z)|\'\'\'.*?(?:\'\'\'|\Z)|"(?:\\.|[^"\\\n])*"?|\'[^\'\n]*\'?|#[^\n]*|[{}\[\],=\n]|[A-Za-z0-9_.-]+',
    re.DOTALL,
)
_TYPE_LINE = re.compile(r"""^[ \t]*type[ \t]*=[ \t]*["']([^"'\n]+)["']""", re.MULTILINE)
_WORD = re.compile(r"[\w.:+-]+")
LONGEST_NAME = 200
"""Characters of the longest word that is explained; registered names and error codes are shorter."""


def place_of(text: str, offset: int) -> CursorPlace | None:
    """Return the place of a cursor in a text that need not be TOML yet.

    The work is proportional to the length of the text. Returns None for a text that `dpspec check` refuses to parse: one that is
    larger than specfile.SIZE_LIMIT, or whose tables are nested deeper than specfile.DEPTH_LIMIT around the cursor.

    >>> written = '[space]\\ntype = "records"\\nattributes = [{ name = "a", cou'
    >>> found = place_of(written, len(written))
    >>> found.path, found.types, found.key, found.keys
    (('space', 'attributes'), ('records', None), None, ('name',))
    """
    if len(text) > specfile.SIZE_LIMIT:
        return None
    headers = list(_HEADER.finditer(text))
    above = [header for header in headers if header.start() <= offset]
    start, names = (above[-1].end(), above[-1][1]) if above else (0, "")
    end = next((header.start() for header in headers if header.start() > offset), len(text))
    if above and offset <= above[-1].end():  # in a header, whose words are names of tables
        return CursorPlace(path=(), types=(), key=None, keys=(), word=_word(text, offset))
    path = [part.strip().strip("\"'") for part in names.split(".") if part.strip()]
    found = None if len(path) > specfile.DEPTH_LIMIT else _open_tables(text, start, offset, end)
    if found is None:
        return None
    tables, key = found
    inner = [table for table in tables[1:] if table.name]
    return CursorPlace(
        path=(*path, *(str(table.name) for table in inner)),
        types=(*_types_of_headers(headers, path, text), *(table.type for table in inner)),
        key=key,
        keys=tuple(tables[-1].keys if tables[1:] else _KEY_LINE.findall(text, start, end)),
        word=_word(text, offset),
    )


@attrs.define(eq=False)
class _OpenTable:
    """An inline table or list that is open at a token, or the table of the header.

    Args:
        name: the key of the parent whose value it is.
        is_list: whether it is a list; a list only passes the key of its parent on.
        keys: the keys written so far.
        key: the key whose value is being written.
        type: the value of its key `type`.
    """

    name: str | None = None
    is_list: bool = False
    keys: list[str] = attrs.field(factory=list)
    key: str | None = None
    type: str | None = None


def _open_tables(text: str, start: int, offset: int, end: int) -> tuple[list[_OpenTable], str | None] | None:
    """Return the tables that are open at the offset, the outermost first, and the key whose value is written there.

    Returns None if they are nested too deeply.

    One pass over the tokens from start to end. Those behind the offset only complete the `type` of the tables that are open
    there, so the pass ends as soon as all of these are closed.
    """
    stack = [_OpenTable()]
    opened: tuple[list[_OpenTable], str | None] | None = None
    base, last = 0, ""
    for found in _TOKEN.finditer(text, start, end):
        token, top = found[0], stack[-1]
        if opened is None and found.start() >= offset:
            opened, base = _tables_of(stack), len(stack)
        if opened is not None and base <= 1:
            break
        if token == "=":  # noqa: S105 (a token of TOML)
            top.key = last.strip("\"'")
            if opened is None:
                top.keys.append(top.key)
        elif token in ("{", "["):
            if len(stack) > specfile.DEPTH_LIMIT:
                if opened is None:
                    return None
                break
            stack.append(_OpenTable(name=_key_of(stack) if token == "{" else None, is_list=token == "["))  # noqa: S105
        elif token in ("}", "]") and len(stack) > 1:
            stack.pop()
            base = min(base, len(stack))
        elif (token == "," and not top.is_list) or (token == "\n" and len(stack) == 1):  # noqa: S105
            top.key = None
        elif last == "=" and top.key == "type" and top.type is None and _is_closed(token):
            top.type = token[1:-1] or None
        if not token.startswith("#") and token != "\n":  # noqa: S105
            last = token
    return _tables_of(stack) if opened is None else opened


def _tables_of(stack: Sequence[_OpenTable]) -> tuple[list[_OpenTable], str | None]:
    """The tables of a stack without its lists, and the key whose value is written; types that follow still reach the tables."""
    return [table for table in stack if not table.is_list], _key_of(stack) if stack[-1].is_list else stack[-1].key


def _key_of(stack: Sequence[_OpenTable]) -> str | None:
    return next((table.key for table in reversed(stack) if table.key is not None or not table.is_list), None)


def _is_closed(token: str) -> bool:
    """Whether a token is a text in single or double quotes, on one line and complete."""
    return len(token) > 1 and token[0] in "\"'" and token[-1] == token[0] and token[:3] not in ('"""', "'''")


_KEY_LINE = re.compile(r"^[ \t]*+([A-Za-z0-9_-]++)[ \t]*=", re.MULTILINE)


def _types_of_headers(headers: Sequence[re.Match[str]], path: Sequence[str], text: str) -> list[str | None]:
    """The type written in the table of each header that the path goes through, the outermost first."""
    first: dict[tuple[str, ...], int] = {}
    for index, header in enumerate(headers):
        first.setdefault(tuple(part.strip() for part in header[1].split(".", specfile.DEPTH_LIMIT + 1)), index)
    types: list[str | None] = []
    for length in range(1, len(path) + 1):
        index = first.get(tuple(path[:length]), len(headers))
        end = headers[index + 1].start() if index + 1 < len(headers) else len(text)
        found = _TYPE_LINE.search(text, headers[index].end(), end) if index < len(headers) else None
        types.append(found[1] if found else None)
    return types


def _word(text: str, offset: int) -> str:
    line = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    for found in _WORD.finditer(text, line, len(text) if end < 0 else end):
        if found.start() <= offset <= found.end():
            return found[0] if len(found[0]) <= LONGEST_NAME else ""
    return ""


# --- the content at a position --------------------------------------------------------------------


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
    kind = {**specfile.BLOCK_KINDS, "mechanism": "mechanisms", "route": "routes"}.get(names[0])
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


def _domain(cls: type | None, name: str) -> params.Domain | None:
    """The domain of a parameter, or of the items in it."""
    found = next((p.domain for p in params.parameters(cls) if p.name == name), None) if cls is not None else None
    while isinstance(found, (Items, params.Pairs)):
        found = found.item
    return found


def completions(text: str, offset: int, registry: Registry) -> list[tuple[str, str]]:
    """What may be written at a cursor: each with a remark.

    >>> from dpspec import load_plugins
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
    if place is None:
        return []
    kind, cls = kind_at(place, registry)
    if place.key == "type" and kind is not None:
        return [(entry.name, f"{kind.replace('_', ' ')}, as {entry.qualified_name}") for entry in registry.usable(kind)]
    if place.key is not None:
        return list(_values(_domain(cls, place.key), registry))
    return list(_keys_of(place, kind, cls, registry))


def _values(domain: params.Domain | None, registry: Registry) -> Iterator[tuple[str, str]]:
    if isinstance(domain, Text):
        yield from ((choice, "") for choice in domain.choices)
    elif isinstance(domain, params.Truth):
        yield from (("true", ""), ("false", ""))
    elif isinstance(domain, Registered):
        yield from ((name, domain.kind.replace("_", " ")) for name in registry.names(domain.kind))


def _keys_of(place: CursorPlace, kind: str | None, cls: type | None, registry: Registry) -> Iterator[tuple[str, str]]:
    declared = () if cls is None else params.parameters(cls)
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


def _remark(parameter: params.Parameter) -> str:
    known = "required" if parameter.required else f"default {parameter.default}" if parameter.default not in (None, ()) else ""
    return ", ".join(filter(None, (parameter.domain.describe(), known)))


def hover(text: str, offset: int, registry: Registry) -> str | None:
    """What the word under the cursor means, as Markdown; None where nothing is known of it."""
    place = place_of(text, offset)
    if place is None or not place.word:
        return None
    kind, cls = kind_at(place, registry)
    declared = next((p for p in params.parameters(cls) if p.name == place.word), None) if cls is not None else None
    line = text[text.rfind("\n", 0, offset) + 1 :].partition("\n")[0]
    # A word that is a key here may be a value elsewhere, and means something else there.
    is_key = re.search(rf"(?<![\w.-]){re.escape(place.word)}[\"']?[ \t]*=", line) is not None
    if declared is not None and cls is not None and is_key:
        said = described_parameters(cls, registry).get(place.word, "")
        return f"**{place.word}**: {_remark(declared)}\n\n{said}".strip()
    try:
        found = explain(place.word, registry)
    except errors.UnknownNameError:
        return None
    wanted = [one for one in found if kind is not None and one["kind"] == singular(kind)]
    meanings = []
    for one in wanted or found:
        lines = [f"**{one['name']}** ({one['kind']})", "", str(one["definition"])]
        lines += [""] if one["parameters"] else []
        lines += [f"* `{row['name']}`: {row['meaning']} ({row['domain']})" for row in one["parameters"]]
        lines += ["", "```toml", str(one["example"]).strip(), "```"] if one["example"] else []
        meanings.append("\n".join(lines))
    return "\n\n---\n\n".join(meanings)


# --- faults ---------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class LineFault:
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


def faults(text: str, name: str, registry: Registry) -> list[LineFault]:
    """What `dpspec check` says of a text."""
    try:
        specfile.read_text(text, registry, name)
    except DpspecError as fault:
        return _faults_of(fault)
    return []


def findings(path: Path, registry: Registry) -> list[LineFault]:
    """What `dpspec lint` says of a file on disk, without what the file explains."""
    try:
        found = linter.lint([path], registry)
    except DpspecError as fault:
        return _faults_of(fault)
    error = linter.Severity.ERROR
    return [
        LineFault(line=one.line - 1, message=f"{one.message}: {one.advice}", code=one.code, is_error=one.severity is error)
        for one in found if one.explained is None
    ]  # fmt: skip


def _faults_of(fault: DpspecError) -> list[LineFault]:
    return [
        LineFault(line=(one.line or 1) - 1, message=str(one.args[0]), code=one.code, is_error=True) for one in params.each(fault)
    ]  # fmt: skip


# --- positions ------------------------------------------------------------------------------------


_LINE_END = re.compile(r"\r\n?|\n")
_CODECS: Mapping[str, tuple[str, int]] = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
"""The encodings in which a client may count characters, by the names of the protocol: codec, and bytes of one unit."""


def lines_of(text: str) -> list[str]:
    r"""The lines of a text as the protocol counts them, without their ends.

    Python and pygls also end a line at characters that a comment or text of TOML may hold, such as U+0085 and U+2028.

    >>> lines_of("a\u2028b\r\nc\rd\n")
    ['a\u2028b', 'c', 'd', '']
    """
    return _LINE_END.split(text)


def units_of(line: str, encoding: str) -> int:
    """The length of a line in the units in which a client counts.

    >>> [units_of("a\u00e9\U0001f600", encoding) for encoding in ("utf-8", "utf-16", "utf-32")]
    [7, 4, 3]
    """
    codec, size = _CODECS[encoding]
    return len(line.encode(codec, "surrogatepass")) // size


def offset_of(text: str, line: int, character: int, encoding: str) -> int:
    """The number of characters of a text before a position of the protocol.

    Args:
        text: the document.
        line: from 0 on; the end of the text is meant by a line behind the last one.
        character: from 0 on, in units of the encoding; the end of the line is meant by one behind it.
        encoding: utf-8, utf-16 or utf-32.

    >>> offset_of("x = 1\\ny = 2", 1, 3, "utf-16"), offset_of("\U0001f600 = 1", 0, 2, "utf-16"), offset_of("a\\nb", 9, 9, "utf-8")
    (9, 1, 3)
    """
    ends = [found.end() for found in _LINE_END.finditer(text)]
    if line > len(ends):
        return len(text)
    start = ends[line - 1] if line > 0 else 0
    codec, size = _CODECS[encoding]
    before = _LINE_END.split(text[start:], maxsplit=1)[0].encode(codec, "surrogatepass")[: character * size]
    return start + len(before.decode(codec, "ignore"))  # half of a character is left out


# --- the server -----------------------------------------------------------------------------------


PAUSE = 0.3
"""Seconds without a change after which a document is checked: a person who types pauses longer, within a word they do not."""
MOST_DIAGNOSTICS = 100
"""Diagnostics that are sent for a document; the others are counted."""


class Timer(Protocol):
    """An action that is due later, such as `asyncio.TimerHandle`."""

    def cancel(self) -> None:
        """Drop the action."""


class Debounce:
    """Runs the latest action for each key, once no other was scheduled for a pause.

    Args:
        later: schedules an action after a number of seconds, such as `loop.call_later`.
        pause: how long.

    >>> due = {}
    >>> class Dropped:
    ...     def cancel(self):
    ...         due.clear()
    >>> def later(seconds, action):
    ...     due[seconds] = action
    ...     return Dropped()
    >>> changes = Debounce(later, 0.5)
    >>> checked = []
    >>> for text in ("a", "ab", "abc"):
    ...     changes.schedule("file", lambda text=text: checked.append(text))
    >>> due[0.5]()
    >>> checked
    ['abc']
    """

    def __init__(self, later: Callable[[float, Callable[[], None]], Timer], pause: float = PAUSE) -> None:
        self._later, self._pause = later, pause
        self._due: dict[str, Timer] = {}

    def schedule(self, key: str, action: Callable[[], None]) -> None:
        """Run the action after the pause, instead of the one that was scheduled for the key before."""

        def run() -> None:
            self._due.pop(key, None)
            action()

        self.cancel(key)
        self._due[key] = self._later(self._pause, run)

    def cancel(self, key: str) -> None:
        """Drop what is scheduled for a key."""
        timer = self._due.pop(key, None)
        if timer is not None:
            timer.cancel()


def _later(seconds: float, action: Callable[[], None]) -> Timer:
    return asyncio.get_running_loop().call_later(seconds, action)


def server(later: Callable[[float, Callable[[], None]], Timer] = _later) -> LanguageServer:
    """Return the language server.

    A document is checked when it is opened, and after a pause when it is changed or saved.

    Args:
        later: schedules an action after a number of seconds.
    """
    from importlib.metadata import version

    from lsprotocol import types as lsp
    from pygls.lsp.server import LanguageServer

    # Whole texts: the edits of pygls are made at lines that are counted in another way than by the protocol (`lines_of`).
    made = LanguageServer("dpspec", version("dpspec"), text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
    registry = installed().registry
    changes = Debounce(later)

    def encoding() -> str:
        return lsp.PositionEncodingKind(made.workspace.position_encoding or lsp.PositionEncodingKind.Utf16).value

    def at(params: lsp.HoverParams | lsp.CompletionParams) -> tuple[str, int]:
        text, position = made.workspace.get_text_document(params.text_document.uri).source, params.position
        return text, offset_of(text, position.line, position.character, encoding())

    def publish(uri: str, *, whole: bool) -> None:
        document = made.workspace.get_text_document(uri)
        path = Path(unquote(urlsplit(uri).path)).name
        faults_found = faults(document.source, path, registry)
        on_disk = Path(document.path)
        if whole and not faults_found and _is_on_disk(document.source, on_disk):
            faults_found = findings(on_disk, registry)
        shown = _diagnostics(faults_found, document.source, encoding())
        made.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri=uri, diagnostics=shown))

    @made.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        changes.cancel(params.text_document.uri)
        publish(params.text_document.uri, whole=True)

    @made.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        changes.schedule(params.text_document.uri, lambda: publish(params.text_document.uri, whole=True))

    @made.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        changes.schedule(params.text_document.uri, lambda: publish(params.text_document.uri, whole=False))

    @made.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        changes.cancel(params.text_document.uri)
        made.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri=params.text_document.uri, diagnostics=[]))

    @made.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        said = hover(*at(params), registry)
        return None if said is None else lsp.Hover(contents=lsp.MarkupContent(kind=lsp.MarkupKind.Markdown, value=said))

    @made.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=['"', "[", "="]))
    def completed(params: lsp.CompletionParams) -> lsp.CompletionList:
        found = completions(*at(params), registry)
        items = [lsp.CompletionItem(label=name, detail=remark or None) for name, remark in found]
        return lsp.CompletionList(is_incomplete=False, items=items)

    return made


def _is_on_disk(text: str, path: Path) -> bool:
    """Whether a file holds this text: an editor may open a file with changes that were never saved."""
    try:
        return path.is_file() and path.read_bytes() == text.encode("utf-8", "surrogatepass")
    except OSError:
        return False


def _diagnostics(reported: Sequence[LineFault], text: str, encoding: str = "utf-16") -> list[lsp.Diagnostic]:
    """Diagnostics at the lines of a text, at most MOST_DIAGNOSTICS of them and one that counts the others."""
    lines = lines_of(text)
    listed = list(reported[:MOST_DIAGNOSTICS])
    if len(reported) > MOST_DIAGNOSTICS:
        rest = f"{len(reported) - MOST_DIAGNOSTICS:,} more are not shown: run `dpspec check` or `dpspec lint`"
        listed.append(LineFault(line=0, message=rest, code="more", is_error=False))
    from lsprotocol import types as lsp

    shown = []
    for fault in listed:
        line = min(max(fault.line, 0), len(lines) - 1)
        end = lsp.Position(line=line, character=units_of(lines[line], encoding))
        severity = lsp.DiagnosticSeverity.Error if fault.is_error else lsp.DiagnosticSeverity.Warning
        place = lsp.Range(start=lsp.Position(line=line, character=0), end=end)
        shown.append(lsp.Diagnostic(range=place, message=fault.message, code=fault.code, source="dpspec", severity=severity))
    return shown
