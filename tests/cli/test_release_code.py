"""The code that releases tables, judged on every choice of its randomness."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

from dpspec.api import read
from dpspec.base.errors import IncompatibleBlocksError, PluginContractError
from dpspec.base.words import Word
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.tables import TableStream
from dpspec.grammar.workers import Output
from dpspec.verifier import exhaustive
from dpspec.verifier.document import verify_release


@pytest.fixture
def document(specs):
    return read(specs / "randomised-response.dpspec.toml")


def through(document, mechanism):
    miniatures = tuple(attrs.evolve(m, mechanism=mechanism) for m in document.miniatures)
    return verify_release(attrs.evolve(document, mechanism=mechanism, miniatures=miniatures)).obligations[0]


@pytest.mark.slow
@pytest.mark.reference("B-T2")
def test_the_release_of_randomised_response_attains_its_claim(document):
    (found,) = verify_release(document).obligations
    assert found.word is Word.MINIATURE
    assert found.detail.startswith("verified: constant ln(3)")

    assumed = " ".join(found.verdict.assumptions)  # the law was read off the code: none that is stated is taken for granted
    assert "source of a release is uniform" in assumed
    assert "same code" in assumed
    assert "states" not in assumed


class Code(Mechanism):
    """States the law of one outcome, whatever its code does."""

    name = "code"

    def law(self, dataset, space):
        raise AssertionError("the stated law is not asked")


class Truthful(Code):
    """Releases the table as it is."""

    def release(self, table, space, source):
        return table


class Reporting(Code):
    """Releases no record, and states in its public report how many said yes, or how many records there are."""

    def __init__(self, reported):
        self.reported = reported

    def run(self, table, space, run):
        report = {} if self.reported is None else {"records": int(self.reported(table))}
        return Output(tables={"released": table.slice(0, 0)}, report=report)


class Failing(Code):
    """Fails while it draws."""

    def release(self, table, space, source):
        raise ZeroDivisionError("of its own")


class Wordy(Code):
    """Draws whole words."""

    def release(self, table, space, source):
        source.words(1)
        return table


class Streaming(Code):
    """Makes its table batch by batch, and draws or fails only then."""

    def __init__(self, draw):
        self.draw = draw

    def run(self, table, space, run):
        def batches():
            self.draw(run.source)
            yield table.slice(0, 0)

        return Output(tables={}, streams={"released": TableStream(attributes=table.attributes, records=0, batches=batches)})


def test_what_fails_when_a_stream_is_read_is_no_outcome(document):
    """An error that is raised for every dataset alike would be the same outcome for all of them."""
    assert through(document, Streaming(lambda source: source.below(2, 1))).word is Word.MINIATURE
    assert through(document, Streaming(lambda source: source.words(1))).word is Word.UNDECIDED
    with pytest.raises(PluginContractError, match="code: raised ZeroDivisionError"):
        through(document, Streaming(lambda source: 1 // 0))


def test_code_that_tells_the_truth_is_refuted(document):
    found = through(document, Truthful())
    assert found.word is Word.REFUTED
    assert found.verdict.witness.event is not None


def test_what_a_public_report_states_is_released(document):
    found = through(document, Reporting(lambda table: table.codes[table.attributes[0].name].sum()))
    assert found.word is Word.REFUTED
    assert found.verdict.constant.lower.is_infinite
    assert '"records": 0' in found.verdict.witness.event.text
    for fixed in (None, len):  # the number of records is that of the space
        assert through(document, Reporting(fixed)).word is Word.MINIATURE


def test_code_that_fails_is_an_error_and_no_outcome(document):
    with pytest.raises(PluginContractError, match="code: raised"):
        through(document, Failing())


def test_words_cannot_be_listed(document):
    found = through(document, Wordy())
    assert found.word is Word.UNDECIDED
    assert "2^64 values" in found.detail


def test_runs_of_release_code_are_work(document, monkeypatch):
    """On the space of 20 people there are a million choices for each dataset; the search for a pair ends before."""
    runs = []
    plain = type(document.mechanism).release
    monkeypatch.setattr(type(document.mechanism), "release", lambda *given: runs.append(1) or plain(*given))
    monkeypatch.setattr(exhaustive, "MOST_COMPARED", 10_000)
    found = verify_release(attrs.evolve(document, miniatures=())).obligations[0]
    assert found.word is Word.UNDECIDED
    assert len(runs) < 1_000


def test_a_space_without_rows_is_refused(specs):
    with pytest.raises(IncompatibleBlocksError, match="rows of one table"):
        verify_release(read(specs / "topdown-2020-pl-persons.dpspec.toml"))


@pytest.mark.slow
def test_at_the_terminal(run, specs):
    spec = specs / "randomised-response.dpspec.toml"
    ran = run("verify", spec, "--release")
    assert ran.code == 7
    assert run("verify", spec, "--release", "--accept", "miniature").code == 0
    assert "tight" in ran.out
    refused = run("verify", spec, "--release", "--function", "a:b")
    assert refused.code == 2
    assert "leave out --function" in refused.err


class Twofold(Code):
    """Publishes in its `run` the records next to a table that says nothing."""

    def release(self, table, space, source):
        return table.rows(np.zeros(len(table), dtype=bool))

    def run(self, table, space, run):
        return Output(tables={"released": self.release(table, space, run.source), "records": table})


BITS = """\
schema = 1
id = "bits"
title = "Two reports"
[space]
type = "bit-vectors"
length = 2
unit = "person"
[multiverse]
invariants = []
[input_divergence]
type = "hamming-ordered"
unit = "person"
[output_divergence]
type = "mult"
[budget]
epsilon = "%s"
[mechanism]
"""
REPORT = '{ type = "randomised-response", keep_probability = "3/4" }'


def bits(tmp_path, epsilon, mechanism):
    path = tmp_path / "bits.dpspec.toml"
    path.write_text(BITS % epsilon + mechanism, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "mechanism",
    [
        pytest.param(f'type = "repeated"\ntimes = 2\nmechanism = {REPORT}', id="repeated"),
        pytest.param(f'type = "composed"\nparts = [{REPORT}, {REPORT}]', id="composed"),
    ],
)
def test_all_tables_of_a_release_are_judged_together(tmp_path, mechanism):
    """A release of several tables was refused as an invalid file."""
    (found,) = verify_release(read(bits(tmp_path, "2*ln(3)", mechanism))).obligations
    assert (found.word, found.detail.partition(",")[0]) == (Word.HOLDS, "verified: constant ln(9)")
    (found,) = verify_release(read(bits(tmp_path, "ln(8)", mechanism))).obligations
    assert found.word is Word.REFUTED


def test_a_further_table_of_a_release_is_not_left_out(tmp_path):
    """The code that was judged was that of the first table alone: a release of the records next to it was verified."""
    document = attrs.evolve(read(bits(tmp_path, "1", f"type = {REPORT[9:-2].replace(', ', chr(10))}")), mechanism=Twofold())
    (found,) = verify_release(document).obligations
    assert found.word is Word.REFUTED
