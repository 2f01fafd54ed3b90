"""`dpspec synth`: public test tables of any size, in any format, whole or not at all."""

from __future__ import annotations

import pytest
from dpspec_release.synthesis import builders

from dpspec.extension import installed
from dpspec.grammar.table_files import read_table
from dpspec.specfile.table_input import formats_of


def test_what_there_is_is_listed_with_its_source(run):
    ran = run("synth", "--format", "json")
    tables = {table["name"]: table for table in ran.json("synth")["tables"]}
    assert set(tables) == {"massachusetts-1940", "synthetic-dwellings", "synthetic-housing-units", "synthetic-persons"}
    assert tables["massachusetts-1940"]["rows"] == 1_144_424
    assert "Bailie, Gong and Meng 2023" in tables["massachusetts-1940"]["source"]
    text = run("synth").out
    assert "massachusetts-1940: 1,144,424 records" in text
    assert all(len(line) <= 100 for line in text.splitlines())


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_a_table_is_written_and_reads_back(run, tmp_path, suffix):
    path = tmp_path / "new" / f"table.{suffix}"
    ran = run("synth", "synthetic-persons", "--rows", 3000, "--out", path)
    assert ran.code == 0
    assert "3,000 records of synthetic-persons, seed 1940" in ran.out
    registry = installed().registry
    (builder,) = (b for b in builders(registry) if b.name == "synthetic-persons")
    table = read_table(path, builder.attributes, formats_of(registry))
    (made,) = builder.batches(3000)
    assert all((table.codes[a.name] == made.codes[a.name]).all() for a in builder.attributes)
    assert [part.name for part in path.parent.iterdir()] == [path.name]


@pytest.mark.long
def test_rows_and_seed_are_told_and_used(run, tmp_path):
    files = [tmp_path / f"{place}.csv" for place in range(3)]
    for path, seed in zip(files, (5, 5, 6), strict=True):
        data = run("synth", "synthetic-dwellings", "--rows", 50, "--seed", seed, "--out", path, "--format", "json").json("synth")
        assert (data["rows"], data["seed"], data["path"]) == (50, seed, str(path))
    first, again, other = (path.read_bytes() for path in files)
    assert first == again != other
    assert first.count(b"\n") == 51


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("massachusets-1940", "--out", "x.csv"), "did you mean massachusetts-1940"),
        (("massachusetts-1940",), "--out"),
        (("massachusetts-1940", "--out", "x.xlsx"), "no known table format"),
        (("massachusetts-1940", "--rows", "0", "--out", "x.csv"), "--rows"),
    ],
)
def test_what_cannot_be_made_is_refused_and_nothing_is_written(run, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    ran = run("synth", *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_said(run, tmp_path):
    (tmp_path / "file").write_text("")
    ran = run("synth", "massachusetts-1940", "--rows", 10, "--out", tmp_path / "file" / "x.csv")
    assert ran.code == 2
    assert "cannot be written" in ran.err
