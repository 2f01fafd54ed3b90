"""Workbooks and queries: the same table as from CSV, each fault in one line, and no cell, query or URL in a message."""

from __future__ import annotations

import csv
import sqlite3
from datetime import date

import duckdb
import openpyxl
import pytest
from dpspec_tables import Csv, Excel, Query

from dpspec.base.errors import DpspecError
from dpspec.blocks.space import Attribute
from dpspec.grammar.table_files import read_table

FORMATS = {".csv": Csv(), ".xlsx": Excel(), ".sql": Query()}
REGION, CODE = Attribute(name="region", categories=("north", "south")), Attribute(name="code", count=12)
ROWS = [("north", 3), ("south", 11), ("north", 0)]
KEPT = "kept-to-itself"
ABSENT = KEPT.replace("-", "_")


def as_csv(path):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("region", "code"), *ROWS])
    return path


def as_workbook(path, rows=(("region", "code"), *ROWS), further=()):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for title, more in further:
        sheet = book.create_sheet(title)
        for row in more:
            sheet.append(row)
    book.save(path)
    return path


def as_sqlite(folder):
    with sqlite3.connect(folder / "survey.db") as database:
        database.execute("CREATE TABLE people (region TEXT, code INTEGER)")
        database.executemany("INSERT INTO people VALUES (?, ?)", ROWS)
    return query(folder, "SELECT region, code FROM people", "sqlite:///survey.db")


def query(folder, text, url=None, name="table.sql"):
    path = folder / name
    path.write_text(f"{'' if url is None else f'-- connect: {url}'}\n{text}\n", encoding="utf-8")
    return path


def as_duckdb(folder):
    with duckdb.connect(folder / "survey.duckdb") as database:
        database.execute("CREATE TABLE people (region VARCHAR, code INTEGER)")
        database.executemany("INSERT INTO people VALUES (?, ?)", ROWS)
    return query(folder, "SELECT region, code FROM people", "duckdb:///survey.duckdb")


def of_files(folder):
    as_csv(folder / "people.csv")
    return query(folder, "SELECT region, code FROM 'people.csv' WHERE code < 12")


SOURCES = {
    "workbook": lambda folder: as_workbook(folder / "table.xlsx"), "sqlite": as_sqlite, "duckdb": as_duckdb, "files": of_files,
}  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_gives_the_table_of_the_csv(source, tmp_path, monkeypatch):
    wanted = read_table(as_csv(tmp_path / "wanted.csv"), [REGION, CODE], FORMATS)
    (tmp_path / "elsewhere").mkdir()
    path = SOURCES[source](tmp_path)
    monkeypatch.chdir(tmp_path / "elsewhere")  # paths are those of the file, not of the process
    found = read_table(path, [REGION, CODE], FORMATS)
    assert list(found.records()) == list(wanted.records()) == [(region, str(code)) for region, code in ROWS]


def test_a_source_that_changed_is_read_again(tmp_path):
    path = as_workbook(tmp_path / "table.xlsx")
    assert len(read_table(path, [REGION, CODE], FORMATS)) == 3
    as_workbook(path, (("region", "code"), ("south", 1)))
    assert list(read_table(path, [REGION, CODE], FORMATS).records()) == [("south", "1")]


def test_values_are_texts_as_a_person_writes_them(tmp_path):
    path = as_workbook(tmp_path / "a.xlsx", [("flag", "day", "share"), (True, date(2026, 5, 1), 1.0), (False, None, 0.5)])
    frame = Excel().scan(path).collect()
    assert frame.rows() == [("true", "2026-05-01T00:00:00", 1.0), ("false", None, 0.5)]


def fault(path):
    with pytest.raises(DpspecError) as caught:
        read_table(path, [REGION, CODE], FORMATS)
    text = str(caught.value)
    assert KEPT not in text
    assert ABSENT not in text
    assert KEPT not in repr(caught.value.__cause__)
    return text


@pytest.mark.parametrize(
    ("rows", "further", "said"),
    [
        ((("region", "code"), ("north", 1)), [("second", [(KEPT, 1)])], "2 sheets with data"), ((), [], "no sheet with data"),
        ((("region", "region"), ("north", "south")), [], "twice"),
        ((("region", None, "code"), ("north", 1, 2)), [], "without a name"),
        ((("region", "code"), ("north", 1, KEPT)), [], "outside of its named columns"),
    ],
)  # fmt: skip
def test_workbooks_that_are_no_table(rows, further, said, tmp_path):
    assert said in fault(as_workbook(tmp_path / "table.xlsx", rows, further))


def test_a_workbook_that_is_none(tmp_path):
    (tmp_path / "table.xlsx").write_text(f"region,code\n{KEPT},1\n", encoding="utf-8")
    assert "cannot be read" in fault(tmp_path / "table.xlsx")


def test_an_empty_cell_is_missing_with_its_row(tmp_path):
    text = fault(as_workbook(tmp_path / "table.xlsx", (("region", "code"), ("north", 1), (None, 2))))
    assert "row 2" in text


def test_no_record_of_a_workbook_is_left_out(tmp_path):
    """A program that is no spreadsheet stores no value of a formula, and an empty row between two is a record, as in CSV."""
    formula = as_workbook(tmp_path / "a.xlsx", (("region", "code"), ("north", 1), ('="south"', "=1+1")))
    assert "formulas without values" in fault(formula)
    assert "row 2" in fault(
        as_workbook(tmp_path / "b.xlsx", (("region", "code"), ("north", 1), ('="south"', "=1+1"), ("north", 1)))
    )
    assert "row 2" in fault(as_workbook(tmp_path / "c.xlsx", (("region", "code"), ("north", 1), (None, None), ("south", 2))))


def test_empty_rows_around_a_table_are_no_records(tmp_path):
    path = as_workbook(tmp_path / "a.xlsx", ((None, None), ("region", "code"), *ROWS))
    book = openpyxl.load_workbook(path)
    book.active.cell(row=9, column=1).number_format = "0.00"  # a cell that was formatted, and holds nothing
    book.save(path)
    assert len(read_table(path, [REGION, CODE], FORMATS)) == len(ROWS)


@pytest.mark.parametrize(
    ("text", "url", "said"),
    [
        ("DELETE FROM people WHERE region = 'kept-to-itself'", "duckdb:///survey.duckdb", "must hold one query"),
        ("SELECT 1; SELECT 2", None, "must hold one query"), ("SELECT kept_to_itself FROM people", None, "does not run"),
        ("SELECT * FROM kept_to_itself", "sqlite:///survey.db", "does not run"),
        ("SELECT 1", "sqlite:///missing.db", "does not exist"), ("SELECT 1", "duckdb:///missing.duckdb", "does not exist"),
        ("SELECT 1", f"postgresql://me:{KEPT}@host/db", "holds the password"), ("SELECT 1", "no-url", "no URL of a database"),
        ("SELECT 1", "env:DPSPEC_TEST_URL", "which is not set"), ("SELECT 1", "mysql://host/db", "driver of mysql"),
        ("SELECT region, region FROM people", "sqlite:///survey.db", "twice"),
        ("UPDATE people SET code = 1", "sqlite:///survey.db", "must hold one query"),
    ],
)  # fmt: skip
def test_queries_that_give_no_table(text, url, said, tmp_path):
    as_sqlite(tmp_path)
    as_duckdb(tmp_path)
    path = query(tmp_path, text, url)
    before = (tmp_path / "survey.db").read_bytes(), (tmp_path / "survey.duckdb").read_bytes()
    assert said in fault(path)
    assert ((tmp_path / "survey.db").read_bytes(), (tmp_path / "survey.duckdb").read_bytes()) == before


def test_a_url_in_the_environment(tmp_path, monkeypatch):
    as_sqlite(tmp_path)
    monkeypatch.setenv("DPSPEC_TEST_URL", f"sqlite:///{tmp_path / 'survey.db'}")
    path = query(tmp_path, "SELECT code, region FROM people", "env:DPSPEC_TEST_URL")
    assert len(read_table(path, [REGION, CODE], FORMATS)) == 3


def test_a_query_runs_once(tmp_path, monkeypatch):
    """Header, faults and columns are of one answer: without ORDER BY a second one may have another order."""
    from dpspec_tables import sources

    path, ran = of_files(tmp_path), []
    original = sources._by_duckdb
    monkeypatch.setattr(sources, "_by_duckdb", lambda *given: ran.append(1) or original(*given))
    sources._answer.cache_clear()
    read_table(path, [REGION, CODE], FORMATS)
    Query().describe(path, ["region", "code"], 10)
    assert ran == [1]


def test_nothing_is_written_in_these_formats(tmp_path):
    table = read_table(as_csv(tmp_path / "a.csv"), [REGION, CODE], FORMATS)
    for suffix in (".xlsx", ".sql"):
        with pytest.raises(DpspecError, match="read only"):
            FORMATS[suffix].write(table, tmp_path / f"out{suffix}", {})
        assert not (tmp_path / f"out{suffix}").exists()
