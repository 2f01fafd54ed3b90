"""`dpspec lsp`: what stands under a cursor is found in files that are no TOML yet; a client gets its answers."""

import asyncio
import json
import sys
from importlib import resources
from pathlib import Path

import pytest
from dpspec_lsp import server as editing

from dpspec.base.errors import SpecTooLargeError
from dpspec.extension import installed
from dpspec.plugin import specfile
from dpspec.specfile import reader

SPECS = Path(__file__).parents[3] / "specs"
TYPED = """\
schema = 1
[space]
type = "records"
attributes = [{ name = "a", cou| }]
[multiverse]
invariants = [{ type = "mar|" }, { type = "marginal", | }]
[input_divergence]
type = "neighbour"
relation = "|"
[budget]
|
[mechanism]
type = "geometric"
|
neighbours = "|"
queries = [{ type = "marginal", whe| }]
[[miniature]]
[miniature.space]
ty|
type = "bit-vectors"
[[expect]]
route = { type = "|" }
[cl|
"""
WANTED = [
    ("count", "name"),
    ("marginal", "hamming"),
    ("where", "type"),
    ("replace-one", "records"),
    ("epsilon", "where"),
    ("ratio", "queries"),
    ("add-remove", "hamming"),
    ("attributes", "queries"),
    ("length", "type"),
    ("zcdp-to-approximate", "marginal"),
    ("claim", "ratio"),
]


@pytest.mark.parametrize("place", range(len(WANTED)))
def test_completion_at_every_place(place):
    parts = TYPED.split("|")
    offset = len("".join(parts[: place + 1]))
    names = [name for name, _ in editing.completions("".join(parts), offset, installed().registry)]
    wanted, unwanted = WANTED[place]
    assert wanted in names
    assert unwanted not in names


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("geometric", "Two-sided geometric noise"),
        ("neighbours", "one of add-remove"),
        ("records", "**records** (space)"),
        ("schema", ""),
    ],
)
def test_hover(word, said):
    text = TYPED.replace("|", "")
    found = editing.hover(text, text.index(word) + 2, installed().registry)
    assert said in (found or "")


def _keys(schema, definitions):
    """The keys of a table, or of each table of a list, in any of its forms."""
    found = set(schema.get("properties", ()))
    inner = [definitions[schema["$ref"].rpartition("/")[2]]] if "$ref" in schema else []
    for form in (*inner, *([schema["items"]] if "items" in schema else ()), *schema.get("oneOf", ()), *schema.get("anyOf", ())):
        found |= _keys(form, definitions)
    return found


def test_all_tables_and_keys_of_the_schema_are_completed():
    """[[part]], [[source]] and [[change]] had no keys, and the last two were no tables."""
    schema = json.loads(resources.files("dpspec.specfile").joinpath("spec-1.schema.json").read_text(encoding="utf-8"))
    registry, tables = installed().registry, {*schema["properties"]} - {"schema", "id", "title"}
    offered = {name for start in ("[", "[[") for name, _ in editing.completions(start, len(start), registry)}
    assert tables <= offered
    for name in ("claim", "table", "explained", "change", "source", "part", "unaccounted", "deployment"):
        keys = _keys(schema["properties"][name], schema["$defs"]) - {*specfile.BLOCK_KINDS, "mechanism"}
        text = f"[[{name}]]\n" if name in editing.LISTS else f"[{name}]\n"
        assert keys <= {key for key, _ in editing.completions(text, len(text), registry)}, name


def test_nothing_that_is_typed_breaks_it():
    """Every beginning of a file, with the cursor at its end; and each with what closes nothing behind it."""
    text = TYPED.replace("|", "")
    for end in range(0, len(text), 3):
        for tail in ("", '"""', "[[", "= {[", "\u202e\U0001f600"):
            editing.completions(text[:end] + tail, end + len(tail), installed().registry)
            editing.place_of(text[:end] + tail, end)


def test_faults_are_those_of_check():
    path = min((SPECS / "bad").glob("*.toml"))
    text = path.read_text(encoding="utf-8")
    told = editing.faults(text, path.name, installed().registry)
    assert told
    assert told[0].is_error
    good = (SPECS / "randomised-response.dpspec.toml").read_text(encoding="utf-8")
    assert editing.faults(good, "x", installed().registry) == []
    (found,) = editing.findings(SPECS / "lint" / "no-number--none-published.dpspec.toml", installed().registry)
    assert (found.code, found.is_error) == ("no-number", False)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_client_gets_answers_over_the_streams(tmp_path):
    from lsprotocol import types as lsp
    from pygls.lsp.client import LanguageClient

    good = (SPECS / "randomised-response.dpspec.toml").read_text(encoding="utf-8")
    path = tmp_path / "a file.dpspec.toml"
    path.write_text(good, encoding="utf-8")
    told: list[lsp.PublishDiagnosticsParams] = []

    async def talk():
        client = LanguageClient("test", "1")
        heard = asyncio.Event()

        @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: lsp.PublishDiagnosticsParams) -> None:
            told.append(params)
            heard.set()

        await client.start_io(sys.executable, "-m", "dpspec", "lsp")
        asked = lsp.InitializeParams(capabilities=lsp.ClientCapabilities(), process_id=None, root_uri=tmp_path.as_uri())
        await client.initialize_async(asked)
        client.initialized(lsp.InitializedParams())
        uri = path.as_uri()
        document = lsp.TextDocumentItem(uri=uri, language_id="toml", version=1, text=good)
        client.text_document_did_open(lsp.DidOpenTextDocumentParams(text_document=document))
        await asyncio.wait_for(heard.wait(), 300)
        heard.clear()
        wrong = good.replace('type = "mult"', 'type = "mlt"')
        client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                text_document=lsp.VersionedTextDocumentIdentifier(uri=uri, version=2),
                content_changes=[lsp.TextDocumentContentChangeWholeDocument(text=wrong)],
            )
        )
        await asyncio.wait_for(heard.wait(), 300)
        lines = wrong.splitlines()
        line = next(i for i, row in enumerate(lines) if "randomised-response" in row and "type" in row)
        place = lsp.Position(line=line, character=lines[line].index("randomised") + 2)
        here = lsp.TextDocumentIdentifier(uri=uri)
        hover = await client.text_document_hover_async(lsp.HoverParams(text_document=here, position=place))
        at_key = lsp.Position(line=next(i for i, row in enumerate(lines) if row.startswith("length")), character=2)
        told_of_key = await client.text_document_hover_async(lsp.HoverParams(text_document=here, position=at_key))
        offered = await client.text_document_completion_async(lsp.CompletionParams(text_document=here, position=place))
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()
        return lines, hover, told_of_key, offered

    lines, hover, told_of_key, offered = asyncio.run(talk())
    assert not told[0].diagnostics
    (fault,) = told[1].diagnostics
    assert 'type = "mlt"' in lines[fault.range.start.line]
    assert "did you mean mult" in fault.message
    assert "Warner" in hover.contents.value or "randomised-response" in hover.contents.value
    assert "geometric" in [item.label for item in offered.items]
    assert told_of_key.contents.value == "**length**: integer in [1, inf), required\n\nn, the number of positions."


# --- positions and texts of a client --------------------------------------------------------------

SEPARATED = 'schema = 1\n# a \u2028 b \x85 c\n[space]\ntype = "records" # \U0001f600\n'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize("text", [SEPARATED, SEPARATED.replace("\n", "\r\n"), SEPARATED.replace("\n", "\r"), "", "\u00e9"])
def test_a_position_is_that_of_the_protocol(text, encoding):
    """Lines were also ended at U+0085 and U+2028, so that hover and completion were about another line."""
    codec, size = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-be", 2), "utf-32": ("utf-32-be", 4)}[encoding]
    line = character = 0
    for offset, letter in enumerate(text + "$"):
        is_inside_an_end = text[max(offset - 1, 0) : offset + 1] == "\r\n"
        assert editing.offset_of(text, line, character, encoding) == offset - is_inside_an_end
        if letter == "\n" or (letter == "\r" and text[offset + 1 : offset + 2] != "\n"):
            line, character = line + 1, 0
        elif letter != "\r":
            character += len(letter.encode(codec)) // size
    assert editing.offset_of(text, line, 10**6, encoding) == editing.offset_of(text, line + 5, 0, encoding) == len(text)


def _served(monkeypatch, tmp_path, encodings, text, *, on_disk=None):
    """A server that a client has opened a document with; its diagnostics, its timer, and how to call a feature of it."""
    from lsprotocol import types as lsp

    schedule, published = Schedule(), []
    made = editing.server(schedule)
    monkeypatch.setattr(made, "text_document_publish_diagnostics", published.append)
    capabilities = lsp.ClientCapabilities(general=lsp.GeneralClientCapabilities(position_encodings=encodings))
    asked = lsp.InitializeParams(capabilities=capabilities, process_id=None, root_uri=tmp_path.as_uri())
    list(made.protocol.lsp_initialize(asked))
    path = tmp_path / "a.dpspec.toml"
    path.write_text(text if on_disk is None else on_disk, encoding="utf-8")
    made.workspace.put_text_document(lsp.TextDocumentItem(uri=path.as_uri(), language_id="toml", version=1, text=text))
    here = lsp.TextDocumentIdentifier(uri=path.as_uri())
    made.protocol.fm.features[lsp.TEXT_DOCUMENT_DID_OPEN](
        lsp.DidOpenTextDocumentParams(text_document=made.workspace.get_text_document(path.as_uri()))
    )
    return made, here, schedule, published


def test_a_client_is_asked_for_whole_texts_and_its_units_are_used(monkeypatch, tmp_path):
    """An edit below U+2028 changed another line: the server checked a text that the client did not have."""
    from lsprotocol import types as lsp

    text = 'schema = 1 # \u00e9\U0001f600\n# \u2028\n[space]\ntype = "records"\n'
    for encoding, width in (("utf-8", 19), ("utf-16", 16), ("utf-32", 15)):
        made, here, schedule, published = _served(monkeypatch, tmp_path, [lsp.PositionEncodingKind(encoding)], text)
        features = made.protocol.fm.features
        assert made.protocol.server_capabilities.text_document_sync.change is lsp.TextDocumentSyncKind.Full
        assert {one.range.end.character for one in published[-1].diagnostics if one.range.start.line == 0} == {width}
        at = lsp.Position(line=3, character=10)
        said = features[lsp.TEXT_DOCUMENT_HOVER](lsp.HoverParams(text_document=here, position=at))
        assert "**records**" in said.contents.value
        offered = features[lsp.TEXT_DOCUMENT_COMPLETION](lsp.CompletionParams(text_document=here, position=at))
        assert "bit-vectors" in [item.label for item in offered.items]
        features[lsp.TEXT_DOCUMENT_DID_CLOSE](lsp.DidCloseTextDocumentParams(text_document=here))
        assert (published[-1].diagnostics, schedule.due) == ([], [])


def test_the_linter_is_not_run_on_another_text_than_the_one_that_is_open(monkeypatch, tmp_path):
    """It reads files: findings of the stored text were placed at lines of the text in the editor."""
    from lsprotocol import types as lsp

    told = (SPECS / "lint" / "no-number--none-published.dpspec.toml").read_text(encoding="utf-8")
    utf_16 = [lsp.PositionEncodingKind.Utf16]
    *_, published = _served(monkeypatch, tmp_path, utf_16, told)
    assert [one.code for one in published[-1].diagnostics] == ["no-number"]
    *_, published = _served(monkeypatch, tmp_path, utf_16, f"\n\n{told}", on_disk=told)
    assert published[-1].diagnostics == []


# --- bounded work --------------------------------------------------------------------------------


def executed_lines(call):
    """How many lines of Python a call executes: its work, the same on every machine."""
    lines = 0

    def traced(frame, event, argument):
        nonlocal lines
        lines += event == "line"
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        call()
    finally:
        sys.settrace(before)
    return lines


SHAPES = {
    "open tables": lambda n: "x = " + "{ a = " * n,
    "open tables and lists": lambda n: "x = " + "{ a = [" * n,
    "open and closed tables": lambda n: "x = " + "{ a = " * n + "} " * n,
    "flat tables": lambda n: "[space]\nattributes = [" + '{ name = "a", count = 2 }, ' * n,
    "flat tables in tables": lambda n: "x = " + "{ a = [" * 10 + "{ b = 1 }, " * n,
    "headers": lambda n: "[x.a]\nb = 1\n" * n,
    "one long header": lambda n: "[" + "a." * n + "a]\nb = 1\n",
    "dotted keys": lambda n: "x" + ".a" * n + " = 1",
}


@pytest.mark.parametrize("answer", [editing.completions, editing.hover, lambda text, _, known: editing.faults(text, "x", known)])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_work_of_an_answer_grows_no_faster_than_the_text(answer, shape):
    """Each of these took time quadratic in the nesting: no answer in 60 s for 150 kB."""
    registry = installed().registry
    works = []
    for size in (200, 1600):
        text = SHAPES[shape](size)
        works.append(executed_lines(lambda text=text: [answer(text, len(text) * part // 3, registry) for part in (1, 2, 3)]))
    assert works[1] <= 8 * works[0] + 2000


UNCLOSED = ['x = "' + '\\"' * 50, "x = '" + '"' * 50, 'x = """' + '\\"""' * 50, "x = " + "a" * 1999, "x = '''" + '"' * 50]


@pytest.mark.parametrize("text", UNCLOSED)
def test_a_string_that_is_never_closed_is_scanned_once(text):
    """A scan that begins anew inside it takes time quadratic in its length: 12 s for 60 kB."""
    *_, last = reader._MARK.finditer(text)
    assert (last.start(), last.end()) == (4, len(text))


@pytest.mark.parametrize("closing", ['"""', '""""', '"""""'])
def test_what_follows_a_text_that_ends_in_quotes_is_still_measured(closing):
    with pytest.raises(SpecTooLargeError):
        reader.parse(f'x = ["""a{closing}, ' + "[" * 40)


def test_a_text_that_check_refuses_to_parse_has_no_completions_and_one_diagnostic():
    registry = installed().registry
    for text, said in (("x = " + "{ a = " * 40, "nesting: is deeper than 32"), ("#" * 1_000_001, "is larger than 1,000,000")):
        assert editing.place_of(text, len(text)) is None
        assert editing.completions(text, len(text), registry) == []
        assert editing.hover(text, len(text), registry) is None
        (told,) = editing.faults(text, "x", registry)
        assert said in told.message


class Schedule:
    """Actions that are due later, run by hand."""

    def __init__(self):
        self.due = []

    def __call__(self, seconds, action):
        entry = [seconds, action]
        self.due.append(entry)

        class Handle:
            def cancel(handle):
                self.due.remove(entry)

        return Handle()

    def run(self):
        while self.due:
            self.due.pop(0)[1]()


def test_a_burst_of_changes_is_answered_once():
    schedule, seen = Schedule(), []
    changes = editing.Debounce(schedule)
    for key in range(150):
        changes.schedule("one", lambda key=key: seen.append(key))
        changes.schedule("other", lambda key=key: seen.append(-key))
    assert [seconds for seconds, _ in schedule.due] == [editing.PAUSE] * 2
    schedule.run()
    assert seen == [149, -149]
    changes.schedule("one", lambda: seen.append("closed"))
    changes.cancel("one")
    changes.cancel("never scheduled")
    schedule.run()
    assert seen == [149, -149]


def test_the_server_checks_a_document_once_for_many_changes(monkeypatch, tmp_path):
    from lsprotocol import types as lsp
    from pygls.workspace import Workspace

    schedule, checked, published = Schedule(), [], []
    monkeypatch.setattr(editing, "faults", lambda text, name, registry: checked.append(text) or [])
    made = editing.server(schedule)
    monkeypatch.setattr(made, "text_document_publish_diagnostics", published.append)
    made.protocol._workspace = Workspace(None, lsp.TextDocumentSyncKind.Full)
    uri = (tmp_path / "a.dpspec.toml").as_uri()
    made.workspace.put_text_document(lsp.TextDocumentItem(uri=uri, language_id="toml", version=1, text="last"))
    features = made.protocol.fm.features
    for version in range(50):
        document = lsp.VersionedTextDocumentIdentifier(uri=uri, version=version)
        features[lsp.TEXT_DOCUMENT_DID_CHANGE](lsp.DidChangeTextDocumentParams(text_document=document, content_changes=[]))
    assert not checked
    schedule.run()
    assert (checked, len(published)) == (["last"], 1)


def test_many_findings_become_few_diagnostics():
    told = [editing.LineFault(line=place, message="m", code="c", is_error=True) for place in range(5000)]
    shown = editing._diagnostics(told, "\n" * 6000)
    assert len(shown) == editing.MOST_DIAGNOSTICS + 1
    assert "4,900 more are not shown" in shown[-1].message
