"""Noisy tables with more cells than memory holds: the bytes of the release in memory, and what is refused."""

from __future__ import annotations

import itertools
import random
import sys

import numpy as np
import polars as pl
import pytest
from dpspec_noise import DiscreteGaussian, Geometric
from dpspec_release import draw as engine, spill
from dpspec_tables import formats

from dpspec import read
from dpspec.base.errors import LibraryError, MissingLibraryError, PluginContractError
from dpspec.grammar import answers, cell_stream
from dpspec.grammar.mechanism import cells_read
from dpspec.plugin import define
from tests import streamed
from tests.streamed import released, wrong

pytestmark = pytest.mark.usefixtures("unverified")

SPEC = """\
schema = 1
id = "noisy"
title = "Noisy counts"
[space]
type = "records"
attributes = [
  {{ name = "region", categories = ["north", "south"] }},
  {{ name = "sex", categories = ["f", "m"] }},
  {{ name = "county", categories = ["s1", "n1", "s2"], within = "region", parents = ["south", "north", "south"] }},
  {{ name = "age", count = 5 }},
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
{mechanism}
queries = [{queries}]
"""
NOISE = {
    "geometric": 'type = "geometric"\nratio = "1/2"',
    "wide geometric": 'type = "geometric"\nepsilon = "1/100000"',
    "discrete-gaussian": 'type = "discrete-gaussian"\nvariance = "9/4"\nsensitivities = {ones}',
    "staircase": 'type = "staircase"\nwidth = 2\ninner = 1\nepsilon = "ln(3)"',
}
ALL = '{ type = "marginal", attributes = ["region", "sex", "county", "age"] }'
QUERIES = {
    "one": [ALL],
    "nested": ['{ type = "marginal", attributes = ["county", "region", "sex"] }'],
    "several": [
        ALL,
        '{ type = "marginal", attributes = [] }',
        '{ type = "marginal", attributes = ["sex", "age"], where = { county = ["s1", "s2"], age = ["4", "0", "1"] } }',
        ALL,
        '{ type = "marginal", attributes = ["age", "county"], where = { county = ["n1"] } }',
        '{ type = "marginal", attributes = ["region", "age"] }',
    ],
    "sums": [
        ALL,
        '{ type = "clipped-sum", attribute = "age", least = 0, most = 3 }',
        '{ type = "distinct-count", attributes = ["sex", "region"] }',
    ],
}
HEADER = ("region", "sex", "county", "age")


@pytest.fixture(autouse=True)
def ranges(monkeypatch):
    """Ranges of 16 numbers, in memory and not; tables of more than 9 cells are large, and files are read 90 records at a time."""
    monkeypatch.setattr(cell_stream, "RANGE", 16)
    monkeypatch.setattr(cell_stream, "MOST_COUNTED", 9)
    monkeypatch.setattr(cell_stream, "_ROWS", 7)
    monkeypatch.setattr(formats, "BATCH", 90)


@pytest.fixture
def small(monkeypatch):
    """No numbers fit into memory."""
    monkeypatch.setattr(engine, "_memory_of_numbers", lambda *_: 1 << 60)


def spec(folder, noise="geometric", queries="several"):
    path, chosen = folder / "noisy.dpspec.toml", QUERIES[queries]
    mechanism = NOISE[noise].replace("{ones}", str([1] * len(chosen)))
    path.write_text(SPEC.format(mechanism=mechanism, queries=", ".join(chosen)), encoding="utf-8")
    return path


def people(count=400, seed=3):
    lot = random.Random(seed)
    counties = [lot.choice(["n1", "s2", "s2", "s1"]) for _ in range(count)]
    return [({"n": "north", "s": "south"}[c[0]], lot.choice("fm"), c, str(lot.choice([0, 2, 2, 4]))) for c in counties]


def as_file(path, rows):
    return streamed.as_file(path, pl.DataFrame(rows, schema=dict.fromkeys(HEADER, pl.String), orient="row"))


def partitioned(folder, rows, parts, suffix=".parquet"):
    """The rows in so many files, one of which is empty."""
    folder.mkdir()
    cuts = [0, 0, *sorted(random.Random(parts).sample(range(1, len(rows)), parts - 2)), len(rows)]
    for place, (begin, end) in enumerate(itertools.pairwise(cuts)):
        as_file(folder / f"part-{place:03}{suffix}", rows[begin:end])
    return folder


# --- the same bytes -------------------------------------------------------------------------------


@pytest.mark.spread(7, slow=7)
@pytest.mark.parametrize(
    ("noise", "queries", "suffix"),
    [
        *((noise, "several", ".csv") for noise in NOISE),
        *(("geometric", queries, suffix) for queries in QUERIES for suffix in (".csv", ".parquet")),
        ("discrete-gaussian", "sums", ".arrow"),
    ],
)
def test_the_release_is_that_in_memory(tmp_path, monkeypatch, request, noise, queries, suffix):
    path, rows = spec(tmp_path, noise, queries), people()
    whole = as_file(tmp_path / f"whole{suffix}", rows)
    expected = released(path, whole, tmp_path / "expected")
    request.getfixturevalue("small")
    sorted_, given = [], spill.SpillSorter.sorted
    monkeypatch.setattr(spill.SpillSorter, "sorted", lambda *args, **named: sorted_.append(1) or given(*args, **named))
    assert expected == released(path, whole, tmp_path / "one")
    random.Random(7).shuffle(rows)
    assert expected == released(path, partitioned(tmp_path / "in", rows, 7, suffix), tmp_path / "seven")
    assert len(sorted_) == 2


@pytest.mark.parametrize(("workers", "parts"), [
    ("threads", 2), pytest.param("processes", 200, marks=pytest.mark.slow), pytest.param("dask", 200, marks=pytest.mark.long),
])  # fmt: skip
def test_neither_workers_nor_partitions_change_a_byte(tmp_path, request, workers, parts):
    pytest.importorskip("distributed") if workers == "dask" else None
    path = spec(tmp_path, "discrete-gaussian")
    expected = released(path, as_file(tmp_path / "whole.parquet", people()), tmp_path / "expected")
    request.getfixturevalue("small")
    assert expected == released(path, partitioned(tmp_path / "in", people(), parts), tmp_path / "out", workers=workers)


@pytest.mark.parametrize("queries", ["one", "several", "sums"])
def test_margins_are_those_in_memory(tmp_path, request, queries):
    path, whole = spec(tmp_path, queries=queries), as_file(tmp_path / "whole.csv", people())
    expected = released(path, whole, tmp_path / "expected", margins=True)
    request.getfixturevalue("small")
    assert expected == released(path, whole, tmp_path / "out", margins=True)
    assert (tmp_path / "out" / "released.csv").read_text().startswith("query,")
    assert "margin_95" in (tmp_path / "out" / "released.csv").read_text().partition("\n")[0]


def test_every_cell_has_a_number_of_its_own(tmp_path, small):
    """All cells of the product are there in their order, also the empty ones, and the noise of no two ranges is the same."""
    path, whole = spec(tmp_path, "wide geometric", "one"), as_file(tmp_path / "whole.csv", people(40))
    released(path, whole, tmp_path / "out")
    found = pl.read_csv(tmp_path / "out" / "released.csv")
    cells = [("north", s, "n1") for s in "fm"] + [("south", s, c) for s in "fm" for c in ("s1", "s2")]
    assert found.select(*HEADER).rows() == [(*cell, age) for cell in cells for age in range(5)]
    assert found["value"].n_unique() == found.height == 30


def test_a_stream_draws_in_ranges_of_its_own_key(tmp_path, monkeypatch, small):
    drawn, given = [], Geometric.draw

    def seen(self, count, source):
        drawn.append(count)
        return given(self, count, source)

    monkeypatch.setattr(Geometric, "draw", seen)
    released(spec(tmp_path, queries="one"), as_file(tmp_path / "whole.csv", people()), tmp_path / "out")
    assert drawn == [1, 16, 14]  # the first one before a table is read: whether the noise can be drawn at all


def test_a_table_in_memory_draws_in_the_same_ranges():
    calls = []

    def draw(count, source):
        calls.append((count, int(source.words(1)[0])))
        return np.arange(count)

    from dpspec.base.randomness import SeededRandomness

    assert cell_stream.drawn_in_ranges(draw, 35, SeededRandomness(1)).tolist() == [*range(16), *range(16), *range(3)]
    assert [count for count, _ in calls] == [16, 16, 3]
    assert len({word for _, word in calls}) == 3
    source = SeededRandomness(1)
    assert cell_stream.drawn_in_ranges(draw, 16, source).tolist() == [*range(16)]
    assert calls[-1] == (16, int(SeededRandomness(1).words(1)[0]))


def test_cells_that_would_be_listed_one_by_one_in_memory_are_sorted(tmp_path, monkeypatch):
    """However much memory is allowed: labels are Python objects, of which the plan counts no bytes."""
    path, whole = spec(tmp_path), as_file(tmp_path / "whole.csv", people())
    expected = released(path, whole, tmp_path / "expected")
    monkeypatch.setattr(answers, "MOST_CELLS", 59)  # the largest table has 60
    monkeypatch.setattr(answers.Marginal, "cells", lambda *_: pytest.fail("cells were listed"))
    sorted_, given = [], spill.SpillSorter.sorted
    monkeypatch.setattr(spill.SpillSorter, "sorted", lambda *args, **named: sorted_.append(1) or given(*args, **named))
    assert expected == released(path, whole, tmp_path / "out", memory=1 << 50)
    assert sorted_


# --- what is refused ------------------------------------------------------------------------------


def test_records_that_lie_in_no_cell_that_is_listed_are_an_error(tmp_path, monkeypatch, small):
    """What the library of sorting gives back is compared with the cells, first and last ones included."""
    path, whole = spec(tmp_path, queries="one"), as_file(tmp_path / "whole.csv", people())
    given = spill.SpilledRows.between

    def other(change):
        def between(self, begin, end, columns=()):
            return {name: change(name, column.copy(), begin) for name, column in given(self, begin, end, columns).items()}

        return between

    def backwards(name, column, _):
        return column[::-1]

    def beyond(name, column, begin):
        column[-1] += 1000 if name == cell_stream.CELL else 0
        return column

    def between_cells(name, column, begin):
        column[0] = column[0] - (5 if name == cell_stream.CELL and not begin else 0)
        return column

    for change in (backwards, beyond, between_cells):
        monkeypatch.setattr(spill.SpilledRows, "between", other(change))
        assert isinstance(wrong(path, whole, tmp_path / "out"), LibraryError)


def test_too_little_memory_and_a_missing_library_are_told_before_the_table_is_read(tmp_path, monkeypatch, small):
    path, whole = spec(tmp_path), as_file(tmp_path / "whole.csv", people())
    monkeypatch.setattr(formats.PolarsFormat, "batches", lambda *_: pytest.fail("the table was read"))
    told = str(wrong(path, whole, tmp_path / "out", memory=engine.MEMORY_OF_PROCESS))
    assert told.startswith("--memory: is 250 MB, and sorting the cells takes at least 6")
    assert "give --memory 6" in told
    monkeypatch.setitem(sys.modules, "duckdb", None)
    missing = wrong(path, whole, tmp_path / "out", memory=1 << 40)
    assert isinstance(missing, MissingLibraryError)
    assert str(missing).endswith("or give --memory a size that the table fits into")
    monkeypatch.setattr(engine, "_are_listed", lambda *_: True)  # so many cells are sorted in any memory
    assert str(wrong(path, whole, tmp_path / "out", memory=1 << 40)).endswith("or count fewer cells")


def test_a_query_whose_cells_cannot_be_listed_in_pieces_is_refused_before_the_table_is_read(tmp_path, monkeypatch, small):
    monkeypatch.setitem(QUERIES, "kinds", ['{ type = "distinct-count", attributes = ["sex", "county", "age"] }', ALL])
    path, whole = spec(tmp_path, queries="kinds"), as_file(tmp_path / "whole.csv", people())
    monkeypatch.setattr(formats.PolarsFormat, "batches", lambda *_: pytest.fail("the table was read"))
    assert "its counts take at least" in str(wrong(path, whole, tmp_path / "out", memory=1 << 50))


def test_a_class_with_noise_of_its_own_states_for_itself_that_it_sorts(tmp_path):
    @define
    class Wider(Geometric):
        name = "wider"

        def draw(self, count, source):
            return 2 * super().draw(count, source)

    document = read(spec(tmp_path))
    space, queries = document.spec.space, document.mechanism.queries
    attributes = space.attributes
    known = DiscreteGaussian(queries=queries, variance=1, sensitivities=[1] * len(queries))
    assert cells_read(known, attributes, space) is not None
    assert cells_read(Geometric(queries=queries, ratio="1/2"), attributes, space) is not None
    assert cells_read(Wider(queries=queries, ratio="1/2"), attributes, space) is None


def test_numbers_that_leave_the_range_are_refused(tmp_path, monkeypatch, small):
    monkeypatch.setattr(Geometric, "draw", lambda self, count, source: np.full(count, 1 << 62, dtype=np.int64))
    path, whole = spec(tmp_path, queries="one"), as_file(tmp_path / "whole.csv", people())
    assert "leave the range of 62 bits" in str(wrong(path, whole, tmp_path / "out"))


def test_what_a_mechanism_raises_is_told_without_its_message(tmp_path, monkeypatch, small):
    def broken(self, counts, source):
        raise ValueError(str(counts.tolist()))

    monkeypatch.setattr(Geometric, "noisy", broken)
    path, whole = spec(tmp_path, queries="one"), as_file(tmp_path / "whole.csv", people())
    told = wrong(path, whole, tmp_path / "out")
    assert isinstance(told, PluginContractError)
    assert "raised ValueError" in str(told)
