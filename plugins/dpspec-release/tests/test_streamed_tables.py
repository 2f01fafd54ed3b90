"""Rounded and perturbed tables with more cells than memory holds: the bytes of the release in memory, and what is refused."""

from __future__ import annotations

import random
import sys

import numpy as np
import polars as pl
import pytest
from dpspec_census.disclosure import CellKey
from dpspec_release import draw as engine, spill
from dpspec_tables import formats

from dpspec import installed, read
from dpspec.base.errors import MissingLibraryError, NotEnumerableError
from dpspec.grammar import cell_stream
from tests.streamed import as_file, released, wrong

pytestmark = pytest.mark.usefixtures("unverified")

SPEC = """\
schema = 1
id = "tables"
title = "Published tables"
[space]
type = "records"
attributes = [
  {{ name = "region", categories = ["north", "south"] }},
  {{ name = "sex", categories = ["f", "m"] }},
  {{ name = "area", count = {areas} }},
  {{ name = "age", count = 5 }},
  {{ name = "key", count = 4 }},
]
[multiverse]
invariants = [{{ type = "marginal", attributes = ["sex"] }}]
[input_divergence]
type = "symmetric-difference"
[output_divergence]
type = "mult"
[budget]
epsilon = "inf"
[mechanism]
unit = "person"
{mechanism}
"""
TABLES = 'tables = [["area", "sex"], [], ["age", "area", "region"], ["region"], ["age", "sex"], ["region", "area"]]'
ROWS = """rows = [
  { count = 1, changes = { -1 = "1/2", 1 = "1/2" } }, { count = 2, changes = { -2 = "1/4", 0 = "1/2", 2 = "1/4" } },
]"""
MECHANISMS = {
    "random": f'type = "random-rounding"\nbase = 3\n{TABLES}',
    "conventional": f'type = "conventional-rounding"\nbase = 5\n{TABLES}',
    "redacted": f'type = "conventional-rounding"\nbase = 5\nredact_from = 1\nredact_up_to = 7\n{TABLES}',
    "nothing redacted": f'type = "conventional-rounding"\nbase = 5\nredact_from = 9000\nredact_up_to = 9001\n{TABLES}',
    "the last redacted": 'type = "conventional-rounding"\nbase = 5\nredact_from = 400\nredact_up_to = 400\n'
    'tables = [["area", "sex", "age"], []]',
    "cell-key": f'type = "cell-key"\nkeys = 4\n{ROWS}\n{TABLES}',
    "kept": f'type = "kept-cell-key"\nkeys = 4\nkey = "key"\n{ROWS}\n{TABLES}',
}
HEADER = ("region", "sex", "area", "age", "key")


@pytest.fixture(autouse=True)
def ranges(monkeypatch, request):
    """Ranges of 16 numbers, in memory and not; tables of more than 9 cells are large, and files are read 90 records at a time."""
    if "real" in request.fixturenames:
        return
    monkeypatch.setattr(cell_stream, "RANGE", 16)
    monkeypatch.setattr(cell_stream, "MOST_COUNTED", 9)
    monkeypatch.setattr(cell_stream, "_ROWS", 7)
    monkeypatch.setattr(formats, "BATCH", 90)


@pytest.fixture
def real():
    """Ranges and tables of their real sizes."""


@pytest.fixture
def small(monkeypatch):
    """No numbers fit into memory."""
    monkeypatch.setattr(engine, "_memory_of_numbers", lambda *_: 1 << 60)


def spec(folder, mechanism, areas=6):
    path = folder / "tables.dpspec.toml"
    path.write_text(SPEC.format(mechanism=MECHANISMS.get(mechanism, mechanism), areas=areas), encoding="utf-8")
    return path


def people(count=400, seed=3, areas=6):
    draw = np.random.default_rng(seed)
    area = np.minimum(*draw.integers(0, areas, (2, count)))
    ages = draw.choice([0, 2, 2, 4], count)
    return pl.DataFrame({
        "region": draw.choice(["north", "south"], count), "sex": draw.choice(["f", "m"], count), "area": area, "age": ages,
        "key": draw.integers(0, 4, count),
    })  # fmt: skip


def partitioned(folder, frame, parts, suffix=".parquet"):
    """The rows in so many files, in another order."""
    folder.mkdir()
    mixed = frame.sample(fraction=1, shuffle=True, seed=parts)
    cuts = [0, *sorted(random.Random(parts).sample(range(1, len(mixed)), parts - 1)), len(mixed)]
    for place in range(parts):
        as_file(folder / f"part-{place:03}{suffix}", mixed[cuts[place] : cuts[place + 1]])
    return folder


@pytest.mark.spread(6, slow=6)
@pytest.mark.parametrize(
    ("mechanism", "suffix"),
    [
        *((mechanism, ".parquet") for mechanism in MECHANISMS),
        ("redacted", ".csv"), ("cell-key", ".csv"), ("redacted", ".arrow"), ("nothing redacted", ".arrow"),
    ],
)  # fmt: skip
def test_the_release_is_that_in_memory(tmp_path, monkeypatch, request, mechanism, suffix):
    path, rows = spec(tmp_path, mechanism), people()
    whole = as_file(tmp_path / f"whole{suffix}", rows)
    expected = released(path, whole, tmp_path / "expected")
    request.getfixturevalue("small")
    sorted_, given = [], spill.SpillSorter.sorted
    monkeypatch.setattr(spill.SpillSorter, "sorted", lambda *args, **named: sorted_.append(1) or given(*args, **named))
    assert expected == released(path, whole, tmp_path / "one")
    assert expected == released(path, partitioned(tmp_path / "in", rows, 7, suffix), tmp_path / "seven")
    assert len(sorted_) == 2


@pytest.mark.parametrize("mechanism", ["random", "redacted", "cell-key"])
@pytest.mark.parametrize(("workers", "parts"), [("threads", 2), pytest.param("processes", 40, marks=pytest.mark.slow)])
def test_neither_workers_nor_partitions_change_a_byte(tmp_path, request, mechanism, workers, parts):
    path = spec(tmp_path, mechanism)
    expected = released(path, as_file(tmp_path / "whole.parquet", people()), tmp_path / "expected")
    request.getfixturevalue("small")
    assert expected == released(path, partitioned(tmp_path / "in", people(), parts), tmp_path / "out", workers=workers)


def test_withheld_cells_have_no_number_and_a_status(tmp_path, small):
    released(spec(tmp_path, "redacted"), as_file(tmp_path / "whole.parquet", people()), tmp_path / "out")
    found = pl.read_parquet(tmp_path / "out" / "released.parquet")
    counted = people().group_by("area", "sex").len()
    true = {(str(area), sex): count for area, sex, count in counted.rows()}
    rows = found.filter(pl.col("query") == "person by area x sex").select("area", "sex", "value", "status").rows()
    assert len(rows) == 12
    for area, sex, value, status in rows:
        count = true.get((area, sex), 0)
        assert (value, status) == ((None, "suppressed") if 1 <= count <= 7 else ((2 * count + 5) // 10 * 5, "published"))


@pytest.mark.parametrize("mechanism", ["random", "cell-key"])
def test_too_little_memory_and_a_missing_library_are_reported_before_the_table_is_read(tmp_path, monkeypatch, small, mechanism):
    path, whole = spec(tmp_path, mechanism), as_file(tmp_path / "whole.csv", people())
    monkeypatch.setattr(formats.PolarsFormat, "batches", lambda *_: pytest.fail("the table was read"))
    reported = str(wrong(path, whole, tmp_path / "out", memory=engine.MEMORY_OF_PROCESS))
    assert reported.startswith("--memory: is 250 MB, and sorting the cells takes at least ")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert isinstance(wrong(path, whole, tmp_path / "out", memory=1 << 40), MissingLibraryError)


@pytest.mark.parametrize(
    "mechanism",
    [
        'type = "controlled-rounding"\nbase = 3\nrows = "area"\ncolumns = "age"',
        'type = "cell-suppression"\nthreshold = 3\ntables = [["area", "age"], []]',
    ],
)
def test_a_search_through_too_many_cells_is_refused_before_the_table_is_read(tmp_path, monkeypatch, mechanism):
    document = read(spec(tmp_path, mechanism))
    monkeypatch.setattr("dpspec_census.disclosure.tables.MOST_CELLS", 29)
    monkeypatch.setattr(formats.PolarsFormat, "batches", lambda *_: pytest.fail("the table was read"))
    whole = as_file(tmp_path / "whole.csv", people())
    with pytest.raises(NotEnumerableError, match=r"span 30 cells, and the search .* also of a release, lists at most 29"):
        engine.draw(document, str(whole), installed().registry, tmp_path / "out", engine.Options(unverified=True, seed=5))


def test_a_base_too_large_to_be_counted_is_read_as_a_whole_or_sorted(tmp_path, monkeypatch):
    """Of a base with more possible cells than are held, those that occur are counted, in memory or by sorting."""
    monkeypatch.setattr("dpspec_census.disclosure.tables.MOST_READ", 10)
    path, whole = spec(tmp_path, "cell-key"), as_file(tmp_path / "whole.parquet", people())
    assert CellKey.counts_read(read(path).mechanism, read(path).spec.space.attributes, read(path).spec.space) is None
    expected = released(path, whole, tmp_path / "expected")
    monkeypatch.setattr(engine, "PER_RECORD", 1 << 50)
    sorted_, given = [], spill.SpillSorter.sorted
    monkeypatch.setattr(spill.SpillSorter, "sorted", lambda *args, **named: sorted_.append(1) or given(*args, **named))
    assert expected == released(path, whole, tmp_path / "out")
    assert sorted_


@pytest.mark.long
@pytest.mark.parametrize("mechanism", ["random", "redacted", "cell-key"])
def test_six_million_cells_have_the_bytes_of_the_release_in_memory(tmp_path, request, real, mechanism):
    """Ranges and tables of their real sizes: the largest table is sorted, the others are held."""
    path, rows = spec(tmp_path, mechanism, areas=600_000), people(300_000, areas=600_000)
    whole = as_file(tmp_path / "whole.parquet", rows)
    expected = released(path, whole, tmp_path / "expected")
    request.getfixturevalue("small")
    assert expected == released(path, partitioned(tmp_path / "in", rows, 3), tmp_path / "out")
