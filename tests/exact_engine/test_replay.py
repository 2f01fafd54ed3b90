"""Witnesses and verdicts go to JSON and back, and a witness can be replayed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dpspec.base.errors import NotWritableError, SpecFileError, SpecSyntaxError
from dpspec.blocks.invariant import FunctionInvariant
from dpspec.blocks.multiverse import LevelSets
from dpspec.extension import installed
from dpspec.laws import FiniteLaw
from dpspec.specfile.document import SpecDocument
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.replay import from_data, replay, to_data, witness_file
from dpspec.verifier.verdict import Outcome
from tests.verify.toys import Toy, bits_spec, block, response


def refuted() -> tuple[SpecDocument, Any]:
    """Randomised response that is claimed for less than it needs."""
    mechanism = block("mechanisms", "randomised-response", keep_probability="3/4")
    document = SpecDocument(id="too-strong", title="Too strong", spec=bits_spec(epsilon="ln(2)"), mechanism=mechanism)
    verdict = verify(mechanism, document.spec, registry=installed().registry)
    assert verdict.outcome is Outcome.REFUTED
    return document, verdict


@pytest.fixture
def file(tmp_path: Path) -> Path:
    document, verdict = refuted()
    path = tmp_path / "witness.json"
    path.write_text(witness_file(verdict.witness, document, installed().registry), encoding="utf-8")
    return path


def test_verdicts_survive_json() -> None:
    _, verdict = refuted()
    for thing in (verdict, verdict.witness, verify(response("3/4"), bits_spec())):
        assert from_data(json.loads(json.dumps(to_data(thing)))) == thing
    mixed = verify(Toy(lambda x: FiniteLaw.bernoulli("1/2")), bits_spec(d_pr=("d-nor", {}), parameter="rho"))
    assert from_data(json.loads(json.dumps(to_data(mixed)))) == mixed
    with pytest.raises(NotWritableError):
        to_data(object())


def test_a_witness_replays(file: Path) -> None:
    found = replay(file)
    assert found.outcome is Outcome.REFUTED
    assert found.is_unchanged
    assert "refuted, as recorded\n" in str(found)


def test_a_witness_whose_datasets_share_no_universe_now_verifies_nothing(file: Path) -> None:
    parity = LevelSets(invariants=(FunctionInvariant(function=lambda x: sum(x) % 2, label="parity"),))
    found = replay(file, spec=bits_spec(epsilon="ln(2)", multiverse=parity))
    assert found.outcome is Outcome.UNDECIDED
    assert "nothing was compared" in str(found)


def test_a_mended_mechanism_is_no_longer_refuted(file: Path) -> None:
    mended = replay(file, mechanism=block("mechanisms", "randomised-response", keep_probability="2/3"))
    assert mended.outcome is Outcome.VERIFIED
    assert "no longer refutes" in str(mended)
    worse = replay(file, mechanism=response("9/10"))
    assert worse.outcome is Outcome.REFUTED
    assert not worse.is_unchanged
    assert "other numbers" in str(worse)


def test_what_is_recorded_is_not_believed(file: Path) -> None:
    content = json.loads(file.read_text(encoding="utf-8"))
    content["specification"] = content["specification"].replace("ln(2)", "ln(4)")
    file.write_text(json.dumps(content), encoding="utf-8")
    assert replay(file).outcome is Outcome.VERIFIED


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"kind": "dpspec-witness", "format": 1}', '{"kind": "dpspec-witness", "format": 2}']
)
def test_files_that_are_no_witness_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecSyntaxError):
        replay(path)
    with pytest.raises(SpecFileError):
        replay(tmp_path / "absent.json")


@pytest.mark.parametrize(
    "witness", [5, [1, 2], {"class": "Notice", "code": "a", "text": "b"}, {"class": "Expression", "data": ["x"]}]
)
def test_a_file_about_something_else_is_refused(file: Path, witness: object) -> None:
    """It ended with an error that blamed dpspec."""
    content = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**content, "witness": witness}), encoding="utf-8")
    with pytest.raises(SpecSyntaxError, match="is no witness file"):
        replay(file)


def test_a_mechanism_without_a_form_in_a_file_cannot_be_written() -> None:
    document, verdict = refuted()
    local = SpecDocument(id="local", title="Local", spec=document.spec, mechanism=response("3/4"))
    with pytest.raises(NotWritableError):
        witness_file(verdict.witness, local, installed().registry)
