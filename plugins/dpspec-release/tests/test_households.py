"""Swaps of households with persons that do not fit into memory: the bytes of the swap in memory, and what is refused."""

from __future__ import annotations

import csv
import hashlib
import random
import sys
from collections import Counter

import attrs
import numpy as np
import polars as pl
import pytest
from dpspec_census import sorted_swap
from dpspec_census.swapping import DerangementSwapping, PermutationSwapping
from dpspec_release import draw as engine, households, kept as keeping
from dpspec_release.write import write, write_utility
from dpspec_tables import formats

from dpspec import installed, read
from dpspec.base.errors import DpspecError
from dpspec.grammar import sorting
from dpspec.grammar.mechanism import Kept
from dpspec.grammar.tables import Members, Table
from dpspec.plugin import Attribute, define
from tests import swaps

pytestmark = pytest.mark.usefixtures("unverified")

KINDS = ("permutation-swapping", "derangement-swapping", "pair-swapping")


@pytest.fixture(autouse=True)
def batches(monkeypatch):
    """Files are read in batches of 90 records."""
    monkeypatch.setattr(formats, "BATCH", 90)


@pytest.fixture
def small(monkeypatch):
    """No table fits into memory, strata of more than 60 records are swapped in two passes, and rows are read 50 at a time."""
    monkeypatch.setattr(engine, "PER_JOINED", 1 << 60)
    monkeypatch.setattr(sorting, "PIECE", 60)
    monkeypatch.setattr(sorted_swap, "ROWS", 50)
    monkeypatch.setattr(households, "ROWS", 50)


def given(folder, count=200, suffix=".csv"):
    """Household i has i mod 4 persons; identifiers and persons are in no order, and some persons of a household are equal."""
    lot = random.Random(5)
    ids = lot.sample(range(10**6), count)
    rows = [(one, *lot.choice([("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2")])) for one in ids]
    inside = [(one, lot.choice("fm"), lot.choice([0, 7, 99])) for place, one in enumerate(ids) for _ in range(place % 4)]
    lot.shuffle(inside)
    folder.mkdir(exist_ok=True)
    for name, header, body in (
        ("households", ("household_id", "county", "block"), rows),
        ("persons", ("household_id", "sex", "age"), inside),
    ):
        frame = pl.DataFrame(body, schema=header, orient="row")
        path = folder / f"{name}{suffix}"
        {".csv": frame.write_csv, ".parquet": frame.write_parquet, ".arrow": frame.write_ipc}[suffix](path)
    return folder


def by_risk(folder, algorithm):
    """A swap with rates by risk: households are compared with their persons. Of those without any, some are equal."""
    path = swaps.spec(folder, mechanism="risk-swapping", rate="1/3")
    unique = (("", "1/2"), (" x swapped", "1"))
    rates = [f'{{ where = "unique in match x held{more}", rate = "{rate}" }}' for more, rate in unique]
    path.write_text(f'{path.read_text()}rate = [{", ".join(rates)}]\nalgorithm = "{algorithm}"\n', encoding="utf-8")
    return path


def in_parts(folder, parts, suffix):
    """The same in folders of partitions: households in their order, persons in another one."""
    for name in ("households", "persons"):
        path = folder / f"{name}{suffix}"
        frame = {".csv": pl.read_csv, ".parquet": pl.read_parquet}[suffix](path)
        frame = frame.sample(fraction=1, shuffle=True, seed=3) if name == "persons" else frame
        path.unlink()
        (folder / name).mkdir()
        for place in range(parts):
            begin, end = (len(frame) * one // parts for one in (place, place + 1))
            part = folder / name / f"part-{place:03}{suffix}"
            {".csv": frame[begin:end].write_csv, ".parquet": frame[begin:end].write_parquet}[suffix](part)
    return folder


def released(path, table, out, **options):
    """The digests of the released tables, and the report without what names the run."""
    registry = installed().registry
    options = engine.Options(**{"unverified": True, "seed": 5, **options})
    release = engine.draw(read(path), str(table), registry, out, options)
    report = write(release, registry, out)
    left = {entry.name for entry in out.with_name(out.name + ".confidential").iterdir()}
    assert left == {"lock", "placed.json"}
    write_utility(release)
    tables = [file for file in out.iterdir() if file.stem in {"households", "persons"}]
    files = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in tables}
    return files, {k: v for k, v in report.items() if k not in {"table", "workers"}}


def wrong(path, table, out, **options):
    """The message of a release that ends with an error, and leaves nothing behind."""
    with pytest.raises(DpspecError) as caught:
        released(path, table, out, **options)
    assert not list(out.glob("*"))
    assert not out.with_name("out.confidential").exists()
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- the same bytes -------------------------------------------------------------------------------


@pytest.mark.spread(3, slow=3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_the_release_is_that_of_the_swap_in_memory(tmp_path, monkeypatch, request, kind, suffix):
    path, folder = swaps.spec(tmp_path, mechanism=kind), given(tmp_path / "in", suffix=suffix)
    expected = released(path, folder, tmp_path / "expected", suffix=suffix)
    assert len(expected[0]) == 2
    request.getfixturevalue("small")
    monkeypatch.setattr(engine, "given_table", lambda *_: pytest.fail("the whole table was read"))
    assert expected == released(path, folder, tmp_path / "one", suffix=suffix)
    assert expected == released(path, in_parts(folder, 4, suffix), tmp_path / "four", suffix=suffix)


@pytest.mark.parametrize(("algorithm", "suffix"), [("derangement", ".csv"), ("permutation", ".parquet")])
def test_a_swap_by_risk_is_that_in_memory(tmp_path, monkeypatch, request, algorithm, suffix):
    """What a household holds is the multiset of its persons, in whatever order the file has them."""
    path, folder = by_risk(tmp_path, algorithm), given(tmp_path / "in", suffix=suffix)
    expected = released(path, folder, tmp_path / "expected", suffix=suffix)
    request.getfixturevalue("small")
    monkeypatch.setattr(engine, "given_table", lambda *_: pytest.fail("the whole table was read"))
    assert expected == released(path, in_parts(folder, 4, suffix), tmp_path / "four", suffix=suffix)


def targeted(folder):
    """A targeted swap of blocks, then of counties with their blocks; persons stay in the order of their file."""
    text = swaps.spec(folder, mechanism="targeted-swapping").read_text().split("[multiverse]")[0]
    path = folder / "targeted.dpspec.toml"
    path.write_text(f"""{text}[multiverse]
invariants = [
  {{ type = "marginal", unit = "household", attributes = ["block"] }},
  {{ type = "marginal", unit = "person", attributes = ["sex", "age"] }},
]
[input_divergence]
type = "hamming"
unit = "household"
[output_divergence]
type = "mult"
[budget]
epsilon = "inf"
[mechanism]
type = "targeted-swapping"
levels = ["county", "block"]
risk = ["tenure"]
k = 3
""", encoding="utf-8")
    space = 'household = [\n  { name = "tenure", count = 40 },'
    path.write_text(path.read_text().replace("household = [", space, 1), encoding="utf-8")
    return path


def with_tenure(folder):
    """A further column of the households, that few of them agree in."""
    for file in folder.glob("households.*"):
        frame = {".csv": pl.read_csv, ".parquet": pl.read_parquet}[file.suffix](file)
        frame = frame.with_columns(pl.Series("tenure", [lot % 37 for lot in range(len(frame))]))
        {".csv": frame.write_csv, ".parquet": frame.write_parquet}[file.suffix](file)
    return folder


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_targeted_swap_is_that_in_memory(tmp_path, monkeypatch, request, suffix):
    """Also the order of households and persons, which is kept."""
    path, folder = targeted(tmp_path), with_tenure(given(tmp_path / "in", suffix=suffix))
    in_parts(folder, 4, suffix)
    expected = released(path, folder, tmp_path / "expected", suffix=suffix)
    request.getfixturevalue("small")
    monkeypatch.setattr(engine, "given_table", lambda *_: pytest.fail("the whole table was read"))
    assert expected == released(path, folder, tmp_path / "four", suffix=suffix)


def test_a_swap_by_risk_of_households_without_persons_is_refused_before_anything_is_drawn(tmp_path, monkeypatch, small):
    path, folder = by_risk(tmp_path, "permutation"), given(tmp_path / "in")
    monkeypatch.setattr(engine, "PER_RECORD", 1 << 60)
    monkeypatch.setattr(engine, "spilling", lambda *_: pytest.fail("something was sorted"))
    alone = tmp_path / "alone.csv"
    pl.read_csv(folder / "households.csv").drop("household_id").write_csv(alone)
    assert "has records without members: give households together with their persons" in wrong(path, alone, tmp_path / "out")


@pytest.mark.parametrize("workers", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_workers_do_not_change_a_byte(tmp_path, request, workers):
    path, folder = swaps.spec(tmp_path), given(tmp_path / "in")
    expected = released(path, folder, tmp_path / "expected")
    request.getfixturevalue("small")
    assert expected == released(path, folder, tmp_path / "out", workers=workers)


def test_an_order_in_which_two_words_are_equal_is_drawn_again(tmp_path, monkeypatch, request):
    """As in memory: all words are drawn again, from where the source stopped."""
    path, folder, words, seen = swaps.spec(tmp_path), given(tmp_path / "in"), engine.SeededRandomness.words, []
    cls = engine.KeyedRandomness

    def some_equal(self, count):
        found = words(self, count)
        seen.append(count)
        return found & np.uint64(0xFF) if sum(seen) <= 200 else found

    monkeypatch.setattr(cls, "words", some_equal)
    expected = released(path, folder, tmp_path / "expected")
    assert seen == [200, 200]
    seen.clear()
    request.getfixturevalue("small")
    assert expected == released(path, folder, tmp_path / "out")
    assert seen == [50] * 8


def test_persons_stay_with_their_households(tmp_path, small):
    """Read by the csv module alone."""
    path, folder = swaps.spec(tmp_path), given(tmp_path / "in")
    before = swaps.compositions(folder)
    released(path, folder, tmp_path / "out")
    after = swaps.compositions(tmp_path / "out")
    assert Counter((county, inside) for county, _, inside in before) == Counter((county, inside) for county, _, inside in after)
    assert before != after
    with (tmp_path / "out" / "households.csv").open(encoding="utf-8") as file:
        assert [row["household_id"] for row in csv.DictReader(file)] == [str(place) for place in range(200)]


# --- what is kept ---------------------------------------------------------------------------------


def test_invariants_of_very_many_cells_are_compared_by_a_digest(tmp_path, monkeypatch, small):
    path, folder = swaps.spec(tmp_path), given(tmp_path / "in")
    expected = released(path, folder, tmp_path / "counted")
    monkeypatch.setattr(engine, "MOST_CELLS", 1)
    files, report = released(path, folder, tmp_path / "out")
    assert files == expected[0]
    assert [(one["cells"] is None, one["held"]) for one in expected[1]["invariants"]] == [(False, True), (False, True)]
    assert [(one["cells"], one["held"]) for one in report["invariants"]] == [(None, True), (None, True)]
    assert report["kept"] == expected[1]["kept"]


def swapped_rows(rows):
    """Sorted households of which the first ones exchange their rows, and so their persons, also with those of another county."""

    class Exchanged(type(rows)):
        def __init__(self):
            pass

        def __len__(self):
            return len(rows)

        def between(self, begin, end, columns=()):
            found = dict(rows.between(begin, end, columns))
            if begin == 0 and "row" in found:
                found["row"] = found["row"][::-1]
            return found

        def forget(self):
            rows.forget()

    return Exchanged()


def one_twice(rows):
    class Twice(type(swapped_rows(rows))):
        def between(self, begin, end, columns=()):
            found = dict(rows.between(begin, end, columns))
            if begin == 0 and "row" in found:
                found["row"] = found["row"].copy()
                found["row"][0] = found["row"][1]
            return found

    return Twice()


@pytest.mark.parametrize(
    ("change", "told"),
    [(swapped_rows, "does not keep records by county, each with its members"), (one_twice, "must return each household once")],
)
@pytest.mark.parametrize("counted", [True, False])
def test_a_release_that_gives_persons_to_another_household_is_refused(tmp_path, monkeypatch, small, change, told, counted):
    path, made = swaps.spec(tmp_path, mechanism="permutation-swapping"), PermutationSwapping.release_households_sorted
    monkeypatch.setattr(engine, "MOST_CELLS", 1 << 22 if counted else 1)

    def broken(self, *given_):
        found = made(self, *given_)
        return attrs.evolve(found, rows=change(found.rows))

    monkeypatch.setattr(PermutationSwapping, "release_households_sorted", broken)
    assert told in wrong(path, given(tmp_path / "in"), tmp_path / "out")


def test_digests_of_households_are_of_multisets_of_persons():
    county, age = Attribute(name="county", count=3), Attribute(name="age", count=9)

    def digest(households_, first, second):
        found = keeping.KeptDigest.of(Kept(attributes=("county",), members=True), (county,), (age,))
        for add, ages in ((found.add_before, first), (found.add_after, second)):
            for begin in range(0, len(households_), 2):
                rows = range(begin, min(begin + 2, len(households_)))
                inside = [(row - begin, one) for row in rows for one in ages[row]]
                table = Table(attributes=(age,), codes={"age": np.asarray([one for _, one in inside], dtype=np.int64)})
                owner = np.asarray([row for row, _ in inside], dtype=np.int64)
                codes = {"county": np.asarray([households_[row] for row in rows])}
                add(Table(attributes=(county,), codes=codes, members=Members(table=table, owner=owner)))
        try:
            return str(found.found(len(households_), "m").kept)
        except DpspecError:
            return None

    same = "records by county, each with its members"
    assert digest([0, 1, 2], [[1, 2], [], [3]], [[2, 1], [], [3]]) == same
    assert digest([0, 1, 1], [[1], [2], [3]], [[1], [3], [2]]) == same
    for other in ([[1], [], [3, 2]], [[1, 2, 2], [], [3]], [[1, 2], [3], []], [[1, 2], [], [4]], [[1, 1], [], [3]]):
        assert digest([0, 1, 2], [[1, 2], [], [3]], other) is None


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("households", lambda rows: [*rows, rows[3]], "households.csv record 201, column household_id: is the identifier of an"),
        ("persons", lambda rows: [*rows, (5_000_000, *rows[0][1:])], "is the identifier of no household (1 such persons)"),
        ("persons", lambda rows: [(-1, *rows[0][1:]), *rows[1:]], "persons.csv row 1, column household_id: is no category"),
        ("persons", lambda rows: [("", *rows[0][1:]), *rows[1:]], "persons.csv row 1, column household_id: is missing"),
        ("persons", lambda rows: [*rows[:-1], (*rows[-1][:2], 100)], "column age: is no category"),
        ("households", lambda rows: [(*rows[0][:1], "a", "b1"), *rows[1:]], "does not lie in the county of its row"),
    ],
)
def test_bad_records_are_refused_before_anything_is_drawn(tmp_path, monkeypatch, small, name, change, told):
    path, folder = swaps.spec(tmp_path), given(tmp_path / "in")
    with (folder / f"{name}.csv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *change([tuple(row) for row in rows])])
    monkeypatch.setattr(engine, "_source", lambda *_: pytest.fail("something was drawn"))
    assert told in wrong(path, folder, tmp_path / "out")


def test_a_household_with_too_many_persons_is_refused(tmp_path, monkeypatch, small):
    path, folder = swaps.spec(tmp_path), given(tmp_path / "in")
    path.write_text(path.read_text().replace('type = "households"', 'type = "households"\nmembers = 2'))
    assert "holds more person records than the 2 of the space (50 such)" in wrong(path, folder, tmp_path / "out")


def test_too_little_memory_and_a_missing_library_are_told_before_the_table_is_read(tmp_path, monkeypatch, small):
    path, folder = swaps.spec(tmp_path), given(tmp_path / "in", suffix=".parquet")
    monkeypatch.setattr(formats.PolarsFormat, "batches", lambda *_: pytest.fail("the table was read"))
    told = wrong(path, folder, tmp_path / "out", memory=engine.MEMORY_OF_PROCESS)
    assert told.startswith("--memory: is 250 MB, and sorting the table takes at least ")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert "table larger than memory" in wrong(path, folder, tmp_path / "out")


@define
class OtherRates(DerangementSwapping):
    """A class that selects by other rates, and states nothing about households that are larger than memory."""

    name = "other-rates"

    def records_by_rate(self, table, space):
        return None


def test_a_class_that_selects_otherwise_states_nothing_about_households(tmp_path, monkeypatch, small):
    folder = given(tmp_path / "in", suffix=".parquet")
    path = swaps.spec(tmp_path)
    found = read(path)
    mechanism = OtherRates(match=("county",), swap=("block",), swap_rate="1/2")
    monkeypatch.setitem(globals(), "read", lambda _: attrs.evolve(found, mechanism=mechanism))
    monkeypatch.setattr(formats.PolarsFormat, "batches", lambda *_: pytest.fail("the table was read"))
    assert "holds the whole table" in wrong(path, folder, tmp_path / "out", memory=engine.MEMORY_OF_PROCESS)


def test_folders_of_persons_that_state_their_households_are_held(tmp_path, monkeypatch, small):
    """What they state is compared in memory alone."""
    path, folder = swaps.spec(tmp_path), given(tmp_path / "in")
    frame = pl.read_csv(folder / "persons.csv").join(pl.read_csv(folder / "households.csv"), on="household_id")
    (folder / "persons.csv").unlink()
    for county in "ab":
        inside = folder / "persons" / f"county={county}"
        inside.mkdir(parents=True)
        frame.filter(pl.col("county") == county).select("household_id", "sex", "age").write_csv(inside / "part-0.csv")
    monkeypatch.setattr(engine, "spilling", lambda *_: pytest.fail("something was sorted"))
    assert released(path, folder, tmp_path / "out")[1]["records"] == 200
