"""`dpspec lsp`: what stands under a cursor is found in files that are no TOML yet; a client gets its answers."""

import asyncio
import sys

import pytest

from dpspec.cli import language_server as editing
from dpspec.extension import installed

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


def test_nothing_that_is_typed_breaks_it():
    """Every beginning of a file, with the cursor at its end; and each with what closes nothing behind it."""
    text = TYPED.replace("|", "")
    for end in range(0, len(text), 3):
        for tail in ("", '"""', "[[", "= {[", "\u202e\U0001f600"):
            editing.completions(text[:end] + tail, end + len(tail), installed().registry)
            editing.place_of(text[:end] + tail, end)


def test_faults_are_those_of_check(specs):
    path = min((specs / "bad").glob("*.toml"))
    text = path.read_text(encoding="utf-8")
    told = editing.faults(text, path.name, installed().registry)
    assert told
    assert told[0].is_error
    good = (specs / "randomised-response.dpspec.toml").read_text(encoding="utf-8")
    assert editing.faults(good, "x", installed().registry) == []
    (found,) = editing.findings(specs / "lint" / "no-number--none-published.dpspec.toml", installed().registry)
    assert (found.code, found.is_error) == ("no-number", False)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_client_gets_answers_over_the_streams(specs, tmp_path):
    pytest.importorskip("pygls")
    from lsprotocol import types as lsp
    from pygls.lsp.client import LanguageClient

    good = (specs / "randomised-response.dpspec.toml").read_text(encoding="utf-8")
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
