"""Persons stay in their households, whatever the identifiers are made of, and what a release keeps is asked of its files."""

from __future__ import annotations

import json
import os
import stat
from collections import Counter, defaultdict
from datetime import date

import attrs
import numpy as np
import polars as pl
import pytest
from dpspec_release.draw import Options, ReleasePlace, draw
from dpspec_release.kept import changed
from dpspec_release.write import write, write_utility
from dpspec_tables.formats import Arrow, Csv, Parquet

from dpspec import installed
from dpspec.api import read
from dpspec.base.errors import DpspecError, PluginContractError, ReleaseError, TableError
from dpspec.blocks.space import Attribute
from dpspec.grammar.mechanism import Kept
from dpspec.grammar.table_files import read_households, read_table
from dpspec.grammar.tables import Members, Table
from dpspec.grammar.workers import Output
from dpspec.specfile.table_input import WARNING
from tests.swaps import compositions, drawn, given, spec

FORMATS = {".csv": Csv(), ".parquet": Parquet(), ".arrow": Arrow()}
SIZE, AGE = Attribute(name="size", count=50), Attribute(name="age", count=50)
PERSONS = [7, 300, 7, 12, 41, 300, 5]

KINDS = {
    **{kind: lambda ids, kind=kind: pl.Series(ids).cast(getattr(pl, kind))
       for kind in ("Int16", "Int32", "Int64", "UInt16", "UInt32", "UInt64", "Int128", "String")},
    "Categorical": lambda ids: pl.Series([str(i) for i in ids], dtype=pl.Categorical),
    "big": lambda ids: pl.Series([2**53 + i for i in ids], dtype=pl.Int64),
    "bigger": lambda ids: pl.Series([2**63 + i for i in ids], dtype=pl.UInt64),
    "negative": lambda ids: pl.Series([-i for i in ids], dtype=pl.Int64),
    "names": lambda ids: pl.Series([f"H-{i:05d}" for i in ids]),
    "padded": lambda ids: pl.Series([f"{i:05d}" for i in ids]),
    "float": lambda ids: pl.Series([float(i) for i in ids]),
    "nan": lambda ids: pl.Series([float("nan") for _ in ids]),
    "date": lambda ids: pl.Series([date.fromordinal(700_000 + i) for i in ids]),
    "boolean": lambda ids: pl.Series([i > 10 for i in ids]),
    "decimal": lambda ids: pl.Series([str(i) for i in ids]).cast(pl.Decimal(10, 2)),
    "binary": lambda ids: pl.Series([str(i).encode() for i in ids]),
}  # fmt: skip
UNTIED = ("float", "nan", "date", "boolean", "decimal", "binary")
HOUSES = sorted({*PERSONS, 999})[::-1]


def written(folder, stem, suffix, identifiers, **columns):
    frame = pl.DataFrame({"household_id": identifiers, **columns})
    {".csv": frame.write_csv, ".parquet": frame.write_parquet, ".arrow": frame.write_ipc}[suffix](folder / f"{stem}{suffix}")


@pytest.mark.spread(40, slow=120)
@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", KINDS)
def test_every_pair_of_types_ties_rightly_or_is_refused(tmp_path, first, second):
    """Every pair of types, in formats that go by turns; the truth is that of the numbers that were put in."""
    place = list(KINDS).index(first) + list(KINDS).index(second)
    suffixes = [list(FORMATS)[place % 3], list(FORMATS)[place // 3 % 3]]
    try:
        written(tmp_path, "households", suffixes[0], KINDS[first](HOUSES), size=range(len(HOUSES)))
        written(tmp_path, "persons", suffixes[1], KINDS[second](PERSONS), age=range(len(PERSONS)))
    except pl.exceptions.PolarsError:
        pytest.skip("the format cannot hold this type")
    try:
        owner = read_households(tmp_path, [SIZE], [AGE], FORMATS).members.owner.tolist()
    except TableError as refused:
        owner = str(refused)
    if isinstance(owner, list):
        assert owner == [HOUSES.index(i) for i in PERSONS]
    else:
        assert not any(str(i) in owner for i in (300, 12, 41, 999)), "an identifier is confidential"
        assert first != second or first in UNTIED, owner


@pytest.mark.parametrize("text", [" 7", "7 ", "a\u0301", "a\x00", "a\u200b", "a\n", "x" * 300])
def test_identifiers_that_could_be_taken_for_others_are_refused(tmp_path, text):
    for suffix in (".parquet", ".csv"):
        written(tmp_path, "households", suffix, ["b", text], size=[1, 2])
        written(tmp_path, "persons", suffix, [text], age=[1])
        with pytest.raises(TableError, match=r"blanks around it|identifier of no household"):
            read_households(tmp_path, [SIZE], [AGE], FORMATS)
        for stem in ("households", "persons"):
            (tmp_path / f"{stem}{suffix}").unlink()


def test_households_of_one_type_and_persons_of_another_are_released_whole(tmp_path):
    """The example: UInt32 in one Parquet file, Int64 in the other."""
    folder, source = tmp_path / "tables", given(tmp_path)
    folder.mkdir()
    for stem, kind in (("households", pl.UInt32), ("persons", pl.Int64)):
        frame = pl.read_csv(source / f"{stem}.csv").with_columns(pl.col("household_id").cast(kind))
        frame.write_parquet(folder / f"{stem}.parquet")
    _, report = drawn(spec(tmp_path), folder, tmp_path / "out", suffix=".csv")
    assert Counter((c, p) for c, _, p in compositions(source)) == Counter((c, p) for c, _, p in compositions(tmp_path / "out"))
    assert [kept["records"] for kept in report["kept"]] == [60, 60]


def test_a_table_without_a_header_gives_no_record_away(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("4711,secret\n4712,other\n", encoding="utf-8")
    with pytest.raises(DpspecError) as raised:
        read_table(path, [SIZE, AGE], FORMATS)
    assert "secret" not in str(raised.value)
    assert "4711" not in str(raised.value)


def test_a_table_that_changes_while_it_is_read_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("size,age\n1,1\n", encoding="utf-8")
    with pytest.raises(TableError, match="changed while it was read"):
        read_table(path, [SIZE, AGE], FORMATS, progress=lambda _: path.write_text("size,age\n1,2\n", encoding="utf-8"))


# --- what is kept --------------------------------------------------------------------------------


def houses(rows, owners, ages):
    sizes = Table(attributes=(SIZE,), codes={"size": np.asarray(rows)})
    persons = Table(attributes=(AGE,), codes={"age": np.asarray(ages)})
    return attrs.evolve(sizes, members=Members(table=persons, owner=np.asarray(owners)))


def by_hand(table):
    members = defaultdict(list)
    for owner, age in zip(table.members.owner.tolist(), table.members.table.codes["age"].tolist(), strict=True):
        members[owner].append(age)
    return Counter((size, tuple(sorted(members[row]))) for row, size in enumerate(table.codes["size"].tolist()))


def test_members_are_compared_as_by_hand():
    """600 pairs of small tables, of which some differ in one person's household."""
    draw, kept, same = np.random.default_rng(5), Kept(attributes=("size",), members=True), 0
    for _ in range(600):
        n, persons = int(draw.integers(1, 5)), int(draw.integers(0, 6))
        one = houses(draw.integers(0, 2, n), draw.integers(0, n, persons), draw.integers(0, 2, persons))
        order = draw.permutation(n)
        place = np.argsort(order)
        owner = place[one.members.owner] if draw.random() < 0.6 else draw.integers(0, n, persons)
        mixed = draw.permutation(persons)
        other = houses(one.codes["size"][order], owner[mixed], one.members.table.codes["age"][mixed])
        same += by_hand(one) == by_hand(other)
        assert changed(kept, one, other) == (by_hand(one) != by_hand(other))
    assert 200 < same < 590


def test_a_release_that_moves_a_person_is_not_written(tmp_path, monkeypatch):
    document = read(spec(tmp_path))
    run = type(document.mechanism).run

    def moving(self, table, space, run_):
        main = run(self, table, space, run_).main
        owner = main.members.owner.copy()
        alike = main.codes["county"][owner]
        first = int(np.flatnonzero(alike[1:] == alike[:-1])[-1])
        owner[first] = owner[np.flatnonzero((alike == alike[first]) & (owner != owner[first]))[0]]
        return Output(tables={"released": attrs.evolve(main, members=Members(table=main.members.table, owner=owner))})

    monkeypatch.setattr(type(document.mechanism), "run", moving)
    before = None
    folder = given(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    release = draw(document, str(folder), installed().registry, tmp_path / "out", Options(unverified=True))
    with pytest.raises(PluginContractError, match="does not keep records by county, each with its members"):
        write(release, installed().registry, tmp_path / "out")
    assert sorted(tmp_path.rglob("*")) == before


# --- folders -------------------------------------------------------------------------------------


def test_what_is_confidential_is_private_and_beside(tmp_path):
    release, _ = drawn(spec(tmp_path), given(tmp_path), tmp_path / "out")
    write_utility(release)
    private = tmp_path / "out.confidential"
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in private.iterdir()} == {0o600}
    assert not any("confidential" in path.name or path.is_dir() for path in (tmp_path / "out").iterdir())


@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_confidential_folder_of_somebody_else_is_refused(tmp_path, kind):
    (tmp_path / "public").mkdir()
    private = tmp_path / "out.confidential"
    private.symlink_to(tmp_path / "public") if kind == "link" else private.write_text("")
    with pytest.raises(ReleaseError, match="is a link, or not yours"):
        drawn(spec(tmp_path), given(tmp_path), tmp_path / "out")
    assert not list((tmp_path / "public").iterdir())


def test_links_hide_no_table_in_the_public_folder(tmp_path):
    folder = given(tmp_path)
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(ReleaseError, match="would be published with it"):
        drawn(spec(tmp_path), folder, tmp_path / "link")


def test_a_foreign_report_is_no_list_of_files_to_delete(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    for name in ("thesis.csv", "released.csv"):
        (out / name).write_text("mine\n", encoding="utf-8")
    listed = [{"file": name, "sha256": "0" * 64} for name in ("thesis.csv", "../swap.dpspec.toml")]
    (out / "report.json").write_text(json.dumps({"format": 1, "released": listed}), encoding="utf-8")
    drawn(spec(tmp_path), given(tmp_path), out)
    drawn(spec(tmp_path), given(tmp_path), out, suffix=".parquet")
    assert (out / "thesis.csv").read_text(encoding="utf-8") == "mine\n"
    assert (tmp_path / "swap.dpspec.toml").exists()
    assert not (out / "households.csv").exists()


def test_two_runs_do_not_write_at_once(tmp_path):
    place = ReleasePlace(tmp_path / "out", tmp_path / "none")
    place.open()
    with pytest.raises(ReleaseError, match="being written by another run"):
        drawn(spec(tmp_path), given(tmp_path), tmp_path / "out")
    place.leave()
    drawn(spec(tmp_path), given(tmp_path), tmp_path / "out")


@pytest.mark.parametrize("after", range(5))
def test_a_run_that_dies_between_two_files_is_made_whole_by_the_next(tmp_path, monkeypatch, after):
    """Every moment while files are placed: what follows is one draw or the other, whole."""
    moves = []

    class Died(BaseException):
        pass

    replace = os.replace

    def dying(source, target, **further):
        if "out.confidential" in str(source) and len(moves) == after:
            raise Died
        moves.append(target)
        return replace(source, target, **further)

    out, registry = tmp_path / "out", installed().registry
    release = draw(read(spec(tmp_path)), str(given(tmp_path)), registry, out, Options(unverified=True))
    with monkeypatch.context() as during:
        during.setattr("pathlib.os.replace", dying)
        during.setattr(ReleasePlace, "leave", lambda self: self.close())
        with pytest.raises(Died):
            write(release, registry, out)
    assert not any(path.name.startswith(".") for path in (out.iterdir() if out.exists() else ()))
    place = ReleasePlace(out, tmp_path / "none")
    place.open()
    place.leave()
    names = sorted(path.name for path in out.iterdir()) if out.exists() else []
    if names:
        report = json.loads((out / "report.json").read_text(encoding="utf-8"))
        assert {entry["file"] for entry in report["released"]} | {"report.json", WARNING} == set(names)
    assert not (tmp_path / "out.confidential" / "ready").exists()
