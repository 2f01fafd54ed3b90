"""A file that is not what was drawn is never placed: a value, two rows, a row that is lost or stands twice, in every format."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import polars as pl
import pytest
from dpspec_tables.formats import Arrow, Csv, Parquet
from dpspec_tables.statistical import Dta, Sav

from dpspec.base.errors import DpspecError, PluginContractError
from dpspec.blocks.space import Attribute
from dpspec.grammar.tables import NumberedAttribute, Table
from tests.meta.toys import Lines
from tests.swaps import drawn, given, spec

ODD = ("a,b", 'say "x"', "007", "7", "NaN", "null", " padded ", "\u00fc\u6f22", "z" * 3000)
COLUMNS = {
    "odd": Attribute(name="odd", categories=ODD),
    "one": Attribute(name="one", categories=("only",)),
    "number": Attribute(name="number", count=10**6),
    "value": NumberedAttribute("value", np.array([-3, 10**15, 7])),
    "gaps": NumberedAttribute("gaps", np.array([5, -6]), ("",)),
    "mixed": NumberedAttribute("mixed", np.arange(4), ("(all)", "a,b")),
    "wide": NumberedAttribute("wide", np.array([-3, 10**30], dtype=object)),
}
FORMATS = {format_.suffixes[0]: format_ for format_ in (Csv(), Parquet(), Arrow(), Sav(), Dta())}


def table(rows, names=tuple(COLUMNS)):
    lot = np.random.default_rng(rows)
    codes = {name: lot.integers(0, COLUMNS[name].size, rows) for name in names}
    return Table(attributes=tuple(COLUMNS[name] for name in names), codes=codes)


def files(path):
    """A file as a frame, and the way back."""
    read = {".csv": lambda p: pl.read_csv(p, infer_schema=False), ".parquet": pl.read_parquet, ".arrow": pl.read_ipc}[path.suffix]
    back = {".csv": pl.DataFrame.write_csv, ".parquet": pl.DataFrame.write_parquet, ".arrow": pl.DataFrame.write_ipc}[path.suffix]
    return read(path), lambda frame: back(frame, path)


def other(frame, name):
    """The first value of a column is that of another row."""
    values = frame[name].cast(pl.String).to_list()
    place = next(i for i, value in enumerate(values) if value != values[0])
    return frame.with_columns(frame[name].gather([place, *range(1, len(values))]).alias(name))


SPOILT = {
    "odd": lambda f: other(f, "odd"),
    "number": lambda f: other(f, "number"),
    "value": lambda f: other(f, "value"),
    "gaps": lambda f: other(f, "gaps"),
    "mixed": lambda f: other(f, "mixed"),
    "wide": lambda f: other(f, "wide"),
    "gap filled": lambda f: f.with_columns(f["gaps"].fill_null(pl.lit("5").cast(f["gaps"].dtype))),
    "all gaps": lambda f: f.with_columns(pl.lit(None).cast(f["gaps"].dtype).alias("gaps")),
    "swapped": lambda f: pl.concat([f[1:2], f[0:1], f[2:]]),
    "dropped": lambda f: f[:-1],
    "dropped first": lambda f: f[1:],
    "twice": lambda f: pl.concat([f, f[-1:]]),
    "empty": lambda f: f[:0],
    "missing": lambda f: f.with_columns(pl.when(pl.int_range(pl.len()) == 2).then(None).otherwise(pl.col("odd")).alias("odd")),
    "columns": lambda f: f.select(list(reversed(f.columns))),
    "fewer columns": lambda f: f.drop("one"),
    "more columns": lambda f: f.with_columns(more=pl.lit("1")),
    "another type": lambda f: f.with_columns(pl.col("number").cast(pl.Float64) + 0.25),
}


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
@pytest.mark.parametrize("spoil", SPOILT)
def test_a_spoilt_file_is_no_longer_the_table(tmp_path, suffix, spoil):
    path, drawn_ = tmp_path / f"t{suffix}", table(40)
    FORMATS[suffix].write(drawn_, path, {})
    assert FORMATS[suffix].holds(path, drawn_)
    frame, back = files(path)
    back(SPOILT[spoil](frame))
    assert not FORMATS[suffix].holds(path, drawn_)


@pytest.mark.parametrize("rows", [0, 1, 70_000])
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
def test_tables_of_any_length_are_held(tmp_path, suffix, rows):
    """More rows than are compared at a time; the last one spoilt is found."""
    path, drawn_ = tmp_path / f"t{suffix}", table(rows, ("one", "number"))
    FORMATS[suffix].write(drawn_, path, {})
    assert FORMATS[suffix].holds(path, drawn_)
    assert not FORMATS[suffix].holds(path, table(rows + 1, ("one", "number")))
    if rows > 1:
        codes = drawn_.codes["number"].copy()
        codes[-1] = (codes[-1] + 1) % 10**6
        assert not FORMATS[suffix].holds(path, drawn_.replace({"number": codes}))


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_files_of_statistical_packages_are_compared_too(tmp_path, suffix):
    path, names = tmp_path / f"t{suffix}", ("one", "number")
    drawn_ = table(30, names)
    FORMATS[suffix].write(drawn_, path, {})
    assert FORMATS[suffix].holds(path, drawn_)
    codes = drawn_.codes["number"].copy()
    codes[[3, 4]] = codes[[4, 3]]
    assert not FORMATS[suffix].holds(path, drawn_.replace({"number": codes}))


def test_a_format_of_a_plugin_is_compared_by_its_codes(tmp_path):
    path, format_ = tmp_path / "t.toy", Lines()
    letters = Attribute(name="letter", categories=("a", "b", "c"))
    value = NumberedAttribute("value", np.array([7, -30, 2]), ("",))
    drawn_ = Table(attributes=(letters, value), codes={"letter": np.array([2, 0, 1, 1]), "value": np.array([2, 3, 0, 2])})
    format_.write(drawn_, path, {})
    assert format_.holds(path, drawn_)
    lines = path.read_text(encoding="utf-8").splitlines()
    for wrong in (lines[:-1], [*lines, lines[-1]], [lines[0], lines[2], lines[1], *lines[3:]], ["value|letter", *lines[1:]]):
        path.write_text("\n".join(wrong) + "\n", encoding="utf-8")
        try:
            assert not format_.holds(path, drawn_)
        except DpspecError:
            assert wrong[0] != lines[0]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
@pytest.mark.parametrize("file", ["households", "persons"])
@pytest.mark.parametrize("spoil", ["swapped", "dropped", "twice", "other"])
def test_nothing_is_placed_where_a_file_was_spoilt_before_it_was_compared(monkeypatch, tmp_path, suffix, file, spoil):
    """Each spoilt file is one that an agency could publish: the values are those of the space."""
    path, folder, format_ = spec(tmp_path), given(tmp_path), FORMATS[suffix]
    write = type(format_).write

    def spoiling(self, written, to, notes):
        write(self, written, to, notes)
        if to.stem == file:
            frame, back = files(to)
            back(other(frame, frame.columns[-1]) if spoil == "other" else SPOILT[spoil](frame))

    monkeypatch.setattr(type(format_), "write", spoiling)
    with pytest.raises(PluginContractError, match="does not read what it has written"):
        drawn(path, folder, tmp_path / "out", suffix=suffix, seed=1)
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


def test_numbers_are_copied_as_columns():
    for copied in (copy.deepcopy(COLUMNS["mixed"]), pickle.loads(pickle.dumps(COLUMNS["mixed"]))):  # noqa: S301
        assert list(copied.values()) == ["0", "1", "2", "3", "(all)", "a,b"] == list(map(copied.category, range(6)))
        assert copied != COLUMNS["mixed"]


def test_what_was_drawn_cannot_be_written_to_before_it_is_released(tmp_path):
    release, _ = drawn(spec(tmp_path), given(tmp_path), tmp_path / "out", seed=1)
    released = release.output.main
    for column in (*released.codes.values(), *released.members.table.codes.values(), released.members.owner):
        with pytest.raises(ValueError, match="read-only"):
            column[:] = 0
