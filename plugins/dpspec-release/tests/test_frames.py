"""Data frames in the place of files: the same result, a private file that is gone afterwards, and no value in any message."""

from __future__ import annotations

import itertools
import stat
import tempfile
import traceback
from pathlib import Path

import polars as pl
import pytest

import dpspec as dp
from dpspec.base.errors import TableError
from dpspec.specfile import table_input as module
from dpspec.specfile.table_input import table_file, table_name

CELL = "Qzv7secret"
SPEC = """\
schema = 1
id = "table"
title = "Counts with noise"
[space]
type = "records"
attributes = [{ name = "colour", categories = ["red", "green"] }, { name = "size", categories = ["1", "2"] }]
[multiverse]
invariants = [{ type = "marginal", attributes = ["size"] }]
[input_divergence]
type = "hamming"
[output_divergence]
type = "mult"
[budget]
epsilon = "ln(16)"
[mechanism]
type = "geometric"
ratio = "1/2"
queries = [{ type = "marginal", attributes = ["colour", "size"] }]
neighbours = "replace-one"
"""


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "table.dpspec.toml"
    path.write_text(SPEC, encoding="utf-8")
    return path


@pytest.fixture
def frame():
    return pl.DataFrame({"colour": ["red", "green", "red"], "size": [1, 2, 2]})


class LikePandas:
    """What pandas offers of a frame."""

    def __init__(self, frame):
        self.frame = frame

    def to_csv(self, path, index):
        assert not index
        self.frame.write_csv(path)


class LikeArrow:
    """What a table of pyarrow offers."""

    def __init__(self, frame):
        self.frame = frame

    def to_pandas(self):
        return LikePandas(self.frame)


@pytest.mark.parametrize("made", [lambda frame: frame, LikePandas, LikeArrow])
def test_a_frame_is_read_as_its_file_is(spec, frame, tmp_path, made):
    frame.write_csv(tmp_path / "table.csv")
    assert list(dp.read_table(spec, made(frame)).records()) == list(dp.read_table(spec, tmp_path / "table.csv").records())


def test_a_frame_is_released_and_no_name_of_a_file_is_reported(spec, frame, tmp_path):
    found = dp.release(spec, frame, tmp_path / "out", unverified=True, seed=3)
    frame.write_csv(tmp_path / "table.csv")
    other = dp.release(spec, tmp_path / "table.csv", tmp_path / "other", unverified=True, seed=3)
    assert found["released"][0]["sha256"] == other["released"][0]["sha256"]
    assert found["table"] == "data-frame.csv"
    assert table_name(frame) == "data-frame"


def test_a_draft_is_made_from_a_frame(frame, tmp_path):
    dp.new_spec("drafted", tmp_path, table=frame)
    assert [a.name for a in dp.read(tmp_path / "drafted.dpspec.toml").spec.space.attributes] == ["colour", "size"]


@pytest.mark.long
def test_risk_takes_a_frame_for_the_universe(tmp_path):
    """It raised TypeError: a frame was taken for the text of a path."""
    swap = dp.permutation_swapping(swap=["colour"], swap_rate="1/2", unit="person")
    space = dp.records(colour=["red", "green"], size=["1", "2"])
    held = [dp.marginal(attributes=["colour"]), dp.marginal(attributes=["size"])]
    frame = pl.DataFrame({"colour": ["red", "green", "red"], "size": [1, 2, 2]})
    frame.write_csv(tmp_path / "table.csv")
    promise = dp.spec(space=space, invariants=held, distance="hamming", standard="pure", epsilon=9)
    rows = [
        dp.risk(promise, "tester", mechanism=swap, levels=["1/20"], universe_of=one).rows
        for one in (str(tmp_path / "table.csv"), frame)
    ]
    assert rows[0] == rows[1]


def test_the_file_is_private_and_removed(frame, monkeypatch):
    seen = []
    with table_file(frame) as path:
        folder = Path(path).parent
        seen.append(stat.S_IMODE(folder.stat().st_mode))
        assert Path(path).read_text(encoding="utf-8").startswith("colour,size\n")
    assert seen == [0o700]
    assert not folder.exists()
    monkeypatch.setattr(tempfile, "tempdir", None)
    with pytest.raises(KeyError), table_file(frame) as path:
        raise KeyError(path)
    assert not Path(path).exists()
    assert module.FRAME in path


def wrong_tables(tmp_path):
    """Tables that no call can use, each with a value that nobody may see."""
    rows = {"colour": ["red", CELL], "size": ["1", "2"]}
    frame = pl.DataFrame(rows)
    path = tmp_path / "wrong.csv"
    frame.write_csv(path)
    yield frame
    yield path
    yield LikePandas(frame)
    yield pl.DataFrame({CELL: ["red", "green"], "size": ["1", "2"]})
    yield pl.DataFrame({"colour": ["red", "green"], "size": [CELL, CELL]})
    yield pl.DataFrame({"colour": ["red", None], "size": [CELL, "1"]})
    yield pl.DataFrame({"colour": [["red", CELL]], "size": ["1"]})  # a list in a cell, which CSV does not hold
    yield [("red", CELL)]
    yield {"colour": [CELL], "size": ["1"]}
    yield CELL.encode()
    yield {CELL}


CALLS = (
    dp.release,
    lambda spec, table, out: dp.release(spec, table, out, unverified=True, workers="none"),
    lambda spec, table, out: dp.read_table(spec, table),
    lambda spec, table, out: dp.lint(spec, table=table),
    lambda spec, table, out: dp.exposure(spec, table),
    lambda spec, table, out: dp.attack(spec, table, secret=["colour"]),
    lambda spec, table, out: dp.attack(spec, table, secret=[]),
    lambda spec, table, out: dp.risk(spec, universe_of=table),
    lambda spec, table, out: dp.tradeoff(spec, table=table, statistic="marginal:colour", vary=["mechanism.ratio=1/2"]),
    lambda spec, table, out: dp.new_spec(None, out, table=table, columns=["nothing"]),
    lambda spec, table, out: dp.accuracy(spec, table),
    lambda spec, table, out: dp.verify(spec, table),
    lambda spec, table, out: dp.compare(spec, table),
    lambda spec, table, out: dp.measure(against=table),
)


def test_no_message_holds_a_value_of_a_table(spec, tmp_path, caplog, capfd):
    """Names of columns may be told, and so the third frame is told apart by its columns alone."""
    told = []
    for place, (call, table) in enumerate(itertools.product(CALLS, wrong_tables(tmp_path))):
        try:
            call(spec, table, tmp_path / f"out-{place}")
        except Exception as problem:  # whatever it is, its message is looked at
            told.append((place, "".join(traceback.format_exception(problem))))
    assert len(told) > 100
    tables = enumerate(table for _ in CALLS for table in wrong_tables(tmp_path))
    in_names = {place for place, table in tables if CELL in getattr(table, "columns", ())}
    assert [text for place, text in told if CELL in text and place not in in_names] == []
    shown = capfd.readouterr()
    assert CELL not in shown.out + shown.err + caplog.text


def test_what_is_no_table_is_named_by_its_type(spec, tmp_path):
    with pytest.raises(TableError, match="table: cannot be a dict: give a file"):
        dp.release(spec, {"colour": ["red"]}, tmp_path / "out")
