"""Formats: columns of very many categories, numbers near and far, and what ends the reading of a file."""

from __future__ import annotations

import os
import struct
import threading

import numpy as np
import polars as pl
import pytest
from dpspec_tables import formats
from dpspec_tables.formats import Arrow, Csv, Parquet

from dpspec.base.errors import LibraryError
from dpspec.blocks.space import Attribute
from dpspec.grammar.tables import MOST_LISTED, NumberedAttribute, NumberedTexts, Table

FORMATS = (Csv(), Parquet(), Arrow())
MANY = MOST_LISTED + 5


def attribute(kind):
    """Many categories: names in an order of their own, or numbers written as texts."""
    if kind == "numbered":
        return NumberedTexts("node", MANY)
    return Attribute(name="node", categories=tuple(f"n{place * 11 % MANY}" for place in range(MANY)))


@pytest.mark.parametrize("kind", ["listed", "numbered"])
@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_many_categories_are_written_and_read_back(tmp_path, monkeypatch, form, kind):
    node, sex = attribute(kind), Attribute(name="sex", categories=("f", "m"))
    draw = np.random.default_rng(1)
    codes = {"node": np.repeat(draw.integers(0, MANY, 300), 5), "sex": draw.integers(0, 2, 1500)}
    table, path = Table(attributes=(node, sex), codes=codes), tmp_path / f"table{form.suffixes[0]}"
    of_few = formats._enum

    def enum(categories):
        assert len(categories) <= MOST_LISTED, "a type of all categories takes as long for each batch as there are categories"
        return of_few(categories)

    monkeypatch.setattr(formats, "_enum", enum)
    monkeypatch.setattr(formats, "BATCH", 400)
    form.write_batches((node, sex), table.batches(400), path, {})
    assert form.scan(path).collect()["node"].to_list() == [node.category(code) for code in codes["node"]]
    read = [batch["node"] for batch in form.batches(path, (node, sex))]
    assert len(read) > 1
    assert np.concatenate([coded.codes for coded in read]).tolist() == codes["node"].tolist()
    assert not any(coded.strangers for coded in read)
    assert form.holds(path, table)
    changed = {**codes, "node": np.append(codes["node"][:-1], (codes["node"][-1] + 1) % MANY)}
    assert not form.holds(path, table.replace(changed))


@pytest.mark.parametrize(
    ("kind", "texts", "codes"),
    [
        ("listed", ["n11", "n011", None, "n0", "n11", ""], [1, -1, -1, 0, 1, -1]),
        ("numbered", ["7", "07", None, "0", str(MANY), "-1", str(MANY - 1)], [7, -1, -1, 0, -1, -1, MANY - 1]),
    ],
)
def test_what_is_no_category_of_many_is_a_stranger(kind, texts, codes):
    found = formats.coded(pl.Series("node", texts, dtype=pl.String), attribute(kind))
    assert found.codes.tolist() == codes
    assert found.strangers == [text for text, code in zip(texts, codes, strict=True) if code < 0]


@pytest.mark.parametrize("numbers", [[-3, 0, 5], [-3, 0, 1 << 40], [5, 0, -3]], ids=["close", "far apart", "not sorted"])
def test_numbers_are_found_near_and_far(numbers):
    """The oracle looks for each number in the list; one below, one above and one between are none of it."""
    value = NumberedAttribute("value", np.array(numbers), ())
    column = formats.Column(value)
    codes = np.array([2, 0, 1, 1])
    assert column.coded(column.labelled(codes)).codes.tolist() == codes.tolist()
    for stranger in (-4, 1, (1 << 40) + 1):
        found = column.coded(pl.Series("value", [numbers[1], stranger]))
        assert (found.codes.tolist(), found.strangers) == ([1, -1], [str(stranger)])


ROWS = 1000
"""Records of one batch of an Arrow file."""


def damaged(path):
    """An Arrow file of four batches, of which the last lies behind the end of the file, by the list at its end."""
    pl.DataFrame({"age": [7] * (4 * ROWS)}, schema={"age": pl.Int64}).write_ipc(
        path, record_batch_size=ROWS, compression="uncompressed"
    )
    content = bytearray(path.read_bytes())
    (length,) = struct.unpack("<i", content[-10:-6])
    listed = range(len(content) - 10 - length, len(content) - 34)
    blocks = [place for place in listed if ROWS * 8 <= struct.unpack_from("<qiiq", content, place)[3] < ROWS * 9]
    struct.pack_into("<q", content, blocks[3], 2 * len(content))
    path.write_bytes(content)


def test_a_file_in_which_the_library_panics_is_not_read_as_one_with_fewer_records(tmp_path, monkeypatch):
    """A table of 1,200,000 records was released as one of 524,288."""
    path, age = tmp_path / "table.arrow", Attribute(name="age", count=10)
    damaged(path)
    monkeypatch.setattr(formats, "BATCH", ROWS)
    with pytest.raises(LibraryError, match="cannot be read"):
        list(Arrow().batches(path, [age]))
    with pytest.raises(LibraryError, match="cannot be read"):
        Arrow().holds(path, Table(attributes=(age,), codes={"age": np.full(3 * ROWS, 7)}))


def test_a_reader_that_is_left_early_ends(tmp_path, monkeypatch):
    path, age = tmp_path / "table.csv", Attribute(name="age", count=10)
    path.write_text("age\n" + "7\n" * (4 * ROWS), encoding="utf-8")
    monkeypatch.setattr(formats, "BATCH", ROWS)
    before = threading.active_count()
    batches = Csv().batches(path, [age])
    next(batches)
    batches.close()
    assert threading.active_count() == before


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_the_environment_does_not_change_while_files_are_read(tmp_path, monkeypatch, form):
    """Polars looks variables up in threads of its own: workers that set and took back some ended with a segmentation fault."""
    sex, path = Attribute(name="sex", categories=("f", "m")), tmp_path / f"table{form.suffixes[0]}"
    form.write(Table(attributes=(sex,), codes={"sex": np.asarray([0, 1, 1])}), path, {})
    assert len(list(form.batches(path, [sex]))) == 1
    changed = []
    monkeypatch.setattr(os, "putenv", lambda name, value: changed.append(name))
    monkeypatch.setattr(os, "unsetenv", changed.append)
    reading = form.batches(path, [sex])
    next(reading)
    assert list(reading) == []
    assert changed == []


def test_what_a_user_sets_for_polars_stays(tmp_path, monkeypatch):
    monkeypatch.setenv("POLARS_CSV_CHUNK_SIZE", "12345")
    path = tmp_path / "table.csv"
    path.write_text("sex\nf\nm\n", encoding="utf-8")
    assert len(list(Csv().batches(path, [Attribute(name="sex", categories=("f", "m"))]))) == 1
    assert os.environ["POLARS_CSV_CHUNK_SIZE"] == "12345"
