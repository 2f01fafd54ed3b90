"""Files that state the same promise are judged and led to common blocks once, and counted as often as they are given."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import pytest

from dpspec.base.errors import Faults
from dpspec.base.memo import key_of
from dpspec.base.words import Word
from dpspec.comparison import composition
from dpspec.comparison.composition import account_files, compose_files
from dpspec.extension import installed
from dpspec.specfile import new_spec, read_text, reader
from dpspec.verifier.standing import claim_of

REGISTRY = installed().registry
SURVEY = new_spec("survey")


def folder_of(folder: Path, texts: list[str]) -> str:
    folder.mkdir()
    for i, text in enumerate(texts):
        (folder / f"wave-{i}.dpspec.toml").write_text(text.replace('id = "survey"', f'id = "wave-{i}"'), encoding="utf-8")
    return str(folder)


def counted(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[Any]:
    """The calls of a function of a module, from now on."""
    calls: list[Any] = []
    function: Callable[..., Any] = getattr(module, name)

    def counting(*given: Any, **named: Any) -> Any:
        calls.append(given)
        return function(*given, **named)

    monkeypatch.setattr(module, name, counting)
    return calls


@pytest.mark.parametrize(
    "ask", [lambda path: account_files([path], REGISTRY, delta="1e-6"), lambda path: compose_files([path], REGISTRY)]
)
def test_the_work_does_not_grow_with_the_number_of_equal_files(tmp_path, monkeypatch, ask):
    """Titles, reasons and sources may differ: the promise and the mechanism are the same."""
    work = {name: counted(monkeypatch, composition, name) for name in ("standing", "moved", "_worst_pairs", "_refinement")}
    found = []
    for number in (2, 4, 8, 16):
        texts = [SURVEY.replace("One line", f"Line {i}").replace("where this", f"where {i}") for i in range(number)]
        for calls in work.values():
            calls.clear()
        ask(folder_of(tmp_path / str(number), texts))
        found.append({name: len(calls) for name, calls in work.items()})
    assert all(calls == found[0] for calls in found), found
    assert found[0]["standing"] == 1


def test_the_tables_of_equal_files_are_read_once(tmp_path, monkeypatch):
    made = counted(monkeypatch, reader.BlockReader, "document")
    folder = folder_of(tmp_path / "equal", [SURVEY] * 8)
    documents = composition.documents_of([folder], REGISTRY)
    assert len(made) == 1
    assert [document.id for document in documents] == [f"wave-{i}" for i in range(8)]
    for document in documents:
        assert document.path is not None
        alone = reader.read(document.path, REGISTRY)
        assert document == alone
        assert (document.path, document.text, document.sha256) == (alone.path, alone.text, alone.sha256)


def test_equal_files_are_counted_as_often_as_they_are_given(tmp_path):
    """Against the binomial law of n answers of odds 3, at an epsilon between its losses."""
    texts = [SURVEY] * 5 + [SURVEY.replace('epsilon = "ln(3)"', 'epsilon = "1/2*ln(9)"')] * 2  # the same number
    found = account_files([folder_of(tmp_path / "all", texts)], REGISTRY, epsilon="ln(9)")
    ways = [(math.comb(7, k), 3**k, 3 ** (7 - k)) for k in range(8)]
    gain = sum(max(Fraction(0), Fraction(way * (p - 9 * q), 4**7)) for way, p, q in ways)
    assert found.value.is_exact
    assert found.value.lower == gain
    assert found.times == (1,) * 7


def test_files_that_differ_in_what_counts_are_judged_separately(tmp_path):
    """One number, one mechanism, or one step outside of the guarantee is another: so is how the claim stands."""
    false = SURVEY.replace('keep_probability = "3/4"', 'keep_probability = "7/8"')
    larger = false.replace('epsilon = "ln(3)"', 'epsilon = "ln(7)"')
    outside = SURVEY + '\n[[unaccounted]]\nstep = "a table was printed"\neffect = "not private"\n'
    texts = [SURVEY, false, larger, outside, SURVEY, false]
    documents = composition.documents_of([folder_of(tmp_path / "mixed", texts)], REGISTRY)
    parts = composition.parts_of(documents, REGISTRY)
    words = [part.standing.word for part in parts]
    assert words == [Word.VERIFIED, Word.REFUTED, Word.VERIFIED, Word.UNDECIDED, Word.VERIFIED, Word.REFUTED]
    for document, part in zip(documents, parts, strict=True):
        assert composition.standing(document, REGISTRY) == part.standing


def test_each_file_with_a_fault_reports_its_own(tmp_path):
    broken = SURVEY.replace('type = "hamming-ordered"', 'type = "haming-ordered"')
    unnamed = SURVEY.replace('title = "One line that says what is released"', "title = 3")
    distance = SURVEY.splitlines().index('type = "hamming-ordered"') + 1
    folder = folder_of(tmp_path / "faults", [SURVEY, broken, broken, unnamed])
    with pytest.raises(Faults) as caught:
        composition.documents_of([folder], REGISTRY)
    assert [Path(str(fault.file)).name[:6] for fault in caught.value.faults] == ["wave-1", "wave-2", "wave-3"]
    assert [fault.line for fault in caught.value.faults] == [distance, distance, 11]


def test_what_a_claim_leaves_out_is_text():
    """Everything else that a document holds is part of its claim."""
    document = read_text(SURVEY, REGISTRY)
    left_out = {"id", "title", "path", "text", "sha256", "layout", "ledger", "counterexamples", "explained", "source", "sources"}
    left = claim_of(document)
    for field in attrs.fields(type(document)):
        if field.name not in left_out | {"claim"}:
            assert getattr(left, field.name) is getattr(document, field.name)
    assert left.claim.verdict == document.claim.verdict


def test_a_promise_of_a_plugin_that_cannot_be_hashed_is_equal_to_itself_only():
    assert key_of([1]) != key_of([1])
    assert key_of(1) == key_of(1)
