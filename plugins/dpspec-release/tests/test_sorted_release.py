"""Swaps of tables that do not fit into memory: the bytes of the swap in memory, and what is refused."""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import stat
import sys
from fractions import Fraction

import attrs
import numpy as np
import polars as pl
import pytest
from dpspec_census import sorted_swap
from dpspec_census.disclosure import sorted_targeted
from dpspec_census.swapping import DerangementSwapping, PermutationSwapping
from dpspec_release import draw as engine, kept as keeping
from dpspec_release.write import write, write_utility
from dpspec_tables import formats

from dpspec import installed, read
from dpspec.base.errors import DpspecError, MissingLibraryError, PluginContractError, ReleaseError
from dpspec.grammar import sorting
from dpspec.grammar.mechanism import Kept, releases_sorted
from dpspec.grammar.tables import Table
from dpspec.plugin import Attribute, define

pytestmark = pytest.mark.usefixtures("unverified")

SPEC = """\
schema = 1
id = "swap"
title = "A swap"
[space]
type = "records"
attributes = [
  {{ name = "region", categories = ["north", "south"] }},
  {{ name = "county", categories = ["n1", "n2", "s1"], within = "region", parents = ["north", "north", "south"] }},
  {{ name = "age", count = 5 }},
  {{ name = "sex", categories = ["f", "m"] }},
]
[multiverse]
invariants = [{{ type = "marginal", attributes = [{match}, "county"] }}, {{ type = "marginal", attributes = [{match}, {rest}] }}]
[input_divergence]
type = "symmetric-difference"
[output_divergence]
type = "mult"
[budget]
epsilon = "inf"
[mechanism]
type = "{kind}"
match = [{match}]
swap = ["county"]
swap_rate = "1/3"
unit = "person"
"""
RISK = """\
rate = [
  {{ where = "unique in match x held", rate = "{held}" }},
  {{ where = "unique in match x held x swapped", rate = "3/4" }},
]
algorithm = "{algorithm}"
"""
TARGETED = """\
[multiverse]
invariants = [
  { type = "marginal", attributes = ["region"] },
  { type = "marginal", attributes = ["county"] },
  { type = "marginal", attributes = ["age", "sex"] },
]
[input_divergence]
type = "symmetric-difference"
[output_divergence]
type = "mult"
[budget]
epsilon = "inf"
[mechanism]
type = "targeted-swapping"
levels = ["region", "county"]
risk = ["age"]
k = 2
similar = [["sex", "age"], ["sex"]]
unit = "person"
"""
AGES = 60
"""So many ages that some records are unique."""
BY_REGION, BY_AGE = {"match": '"region"', "rest": '"age", "sex"'}, {"match": '"region", "age"', "rest": '"sex"'}
KINDS = ("permutation-swapping", "derangement-swapping", "pair-swapping")
CONFIDENTIAL = ["lock", "placed.json", "utility.json", "utility.svg"]
HEADER = ("region", "county", "age", "sex")


@pytest.fixture(autouse=True)
def batches(monkeypatch):
    """Files are read in batches of 90 records."""
    monkeypatch.setattr(formats, "BATCH", 90)


@pytest.fixture
def small(monkeypatch):
    """No table fits into memory, and strata of more than 60 records are swapped in two passes."""
    monkeypatch.setattr(engine, "PER_RECORD", 1 << 60)
    monkeypatch.setattr(sorting, "PIECE", 60)
    monkeypatch.setattr(sorted_swap, "ROWS", 50)
    monkeypatch.setattr(sorted_targeted, "ROWS", 50)
    monkeypatch.setattr(sorted_targeted, "TAKEN", 20)


def spec(folder, kind="permutation-swapping", by=BY_REGION):
    path = folder / "swap.dpspec.toml"
    path.write_text(SPEC.format(kind=kind, **by), encoding="utf-8")
    return path


def risky(folder, by=BY_REGION, algorithm="derangement", held="1/2"):
    """A swap by risk, of a space with so many ages that some records are unique."""
    path = folder / "risk.dpspec.toml"
    text = SPEC.format(kind="risk-swapping", **by) + RISK.format(algorithm=algorithm, held=held)
    path.write_text(text.replace("count = 5", f"count = {AGES}"), encoding="utf-8")
    return path


def targeted(folder):
    """A targeted swap of counties, then again inside regions, in the space of `risky`."""
    path = folder / "targeted.dpspec.toml"
    text = SPEC.format(kind="targeted-swapping", match='"region"', rest='"age", "sex"').split("[multiverse]")[0]
    text = text.replace("count = 5", f"count = {AGES}")
    path.write_text(f"{text}{TARGETED}", encoding="utf-8")
    return path


def people(count=300, seed=3, ages=5):
    lot = random.Random(seed)
    counties = [lot.choice(["n1", "n2", "s1", "s1"]) for _ in range(count)]
    return [({"n": "north", "s": "south"}[c[0]], c, str(lot.randrange(ages)), lot.choice("fm")) for c in counties]


def as_file(path, rows):
    frame = pl.DataFrame(rows, schema=dict.fromkeys(HEADER, pl.String), orient="row")
    {".csv": frame.write_csv, ".parquet": frame.write_parquet, ".arrow": frame.write_ipc}[path.suffix](path)


def partitioned(folder, rows, parts, suffix):
    """The rows in their order in so many files, one of which is empty."""
    folder.mkdir()
    cuts = [0, 0, *sorted(random.Random(parts).sample(range(1, len(rows)), parts - 2)), len(rows)]
    for place, (begin, end) in enumerate(itertools.pairwise(cuts)):
        as_file(folder / f"part-{place:03}{suffix}", rows[begin:end])
    return folder


def released(path, table, out, **options):
    """The digest of the released table, the report without what names the run, and what is confidential."""
    registry = installed().registry
    options = engine.Options(**{"unverified": True, "seed": 5, **options})
    release = engine.draw(read(path), str(table), registry, out, options)
    report = write(release, registry, out)
    utility = {key: value for key, value in write_utility(release).items() if key != "folder"}
    files = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in out.glob("released.*")}
    assert sorted(entry.name for entry in out.with_name(out.name + ".confidential").iterdir()) == CONFIDENTIAL
    return files, {k: v for k, v in report.items() if k not in {"table", "workers"}}, utility


def wrong(path, table, out, **options):
    """The message of a release that ends with an error, and leaves nothing behind."""
    with pytest.raises(DpspecError) as caught:
        released(path, table, out, **options)
    assert not list(out.glob("*"))
    assert not out.with_name(out.name + ".confidential").exists()
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- the same bytes -------------------------------------------------------------------------------


@pytest.mark.spread(6, slow=6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by", [BY_REGION, BY_AGE], ids=["by region", "by age"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_the_release_is_that_of_the_swap_in_memory(tmp_path, monkeypatch, request, kind, by, suffix):
    path = spec(tmp_path, kind, by)
    as_file(tmp_path / f"whole{suffix}", people())
    expected = released(path, tmp_path / f"whole{suffix}", tmp_path / "expected")
    request.getfixturevalue("small")
    monkeypatch.setattr(engine, "given_table", lambda *_: pytest.fail("the whole table was read"))
    assert expected == released(path, tmp_path / f"whole{suffix}", tmp_path / "one")
    folder = partitioned(tmp_path / "in", people(), 7, suffix)
    assert expected == released(path, folder, tmp_path / "seven", suffix=suffix)


@pytest.mark.spread(2, slow=2)
@pytest.mark.parametrize(("algorithm", "held"), [("derangement", "1/2"), ("permutation", "1")])
@pytest.mark.parametrize(("by", "suffix"), [(BY_REGION, ".csv"), (BY_AGE, ".parquet")], ids=["by region", "by age"])
def test_a_swap_by_risk_is_that_in_memory(tmp_path, monkeypatch, request, algorithm, held, by, suffix):
    """The rate of a record depends on all records of its stratum, wherever they are."""
    path, rows = risky(tmp_path, by, algorithm, held), people(ages=AGES)
    as_file(tmp_path / f"whole{suffix}", rows)
    expected = released(path, tmp_path / f"whole{suffix}", tmp_path / "expected")
    request.getfixturevalue("small")
    monkeypatch.setattr(engine, "given_table", lambda *_: pytest.fail("the whole table was read"))
    assert expected == released(path, tmp_path / f"whole{suffix}", tmp_path / "one")
    folder = partitioned(tmp_path / "in", rows, 7, suffix)
    assert expected == released(path, folder, tmp_path / "seven", suffix=suffix, workers="threads")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_targeted_swap_is_that_in_memory(tmp_path, monkeypatch, request, suffix):
    """Who is swapped depends on all records before, and the invariants hold the attributes that move."""
    path, rows = targeted(tmp_path), people(ages=AGES)
    as_file(tmp_path / f"whole{suffix}", rows)
    expected = released(path, tmp_path / f"whole{suffix}", tmp_path / "expected")
    request.getfixturevalue("small")
    monkeypatch.setattr(engine, "given_table", lambda *_: pytest.fail("the whole table was read"))
    folder = partitioned(tmp_path / "in", rows, 7, suffix)
    assert expected == released(path, folder, tmp_path / "seven", suffix=suffix, workers="threads")
    as_file(tmp_path / f"kept{suffix}", rows)
    assert expected[0] != {f"released{suffix}": hashlib.sha256((tmp_path / f"kept{suffix}").read_bytes()).hexdigest()}


@pytest.mark.slow
@pytest.mark.parametrize("of", [risky, targeted])
def test_workers_and_partitions_do_not_change_a_byte_of_other_swaps(tmp_path, small, of):
    path = of(tmp_path)
    as_file(tmp_path / "whole.parquet", people(ages=AGES))
    expected = released(path, tmp_path / "whole.parquet", tmp_path / "expected", suffix=".csv")
    folder = partitioned(tmp_path / "in", people(ages=AGES), 200, ".csv")
    assert expected == released(path, folder, tmp_path / "out", workers="processes")


@pytest.mark.parametrize("of", [spec, risky, targeted])
def test_an_attribute_of_very_many_categories_is_released(tmp_path, request, of):
    """Its codes are unsigned numbers of 64 bits, which ended a release with an error of numpy."""
    path, first = of(tmp_path), 5 * 10**17
    text = path.read_text().replace("count = 5 ", "count = 1000000000000000000 ")
    path.write_text(text.replace(f"count = {AGES} ", "count = 1000000000000000000 "), encoding="utf-8")
    rows = [(region, county, str(first + int(age)), sex) for region, county, age, sex in people(ages=AGES)]
    as_file(tmp_path / "in.csv", rows)
    files, report, _ = released(path, tmp_path / "in.csv", tmp_path / "expected")
    request.getfixturevalue("small")
    again, other, _ = released(path, tmp_path / "in.csv", tmp_path / "out")
    assert (files, report["kept"]) == (again, other["kept"])


@pytest.mark.parametrize(("workers", "parts"), [("threads", 2), pytest.param("processes", 200, marks=pytest.mark.slow)])
def test_neither_workers_nor_partitions_change_a_byte(tmp_path, small, workers, parts):
    path = spec(tmp_path, "derangement-swapping", BY_AGE)
    as_file(tmp_path / "whole.parquet", people())
    expected = released(path, tmp_path / "whole.parquet", tmp_path / "expected", suffix=".csv")
    folder = partitioned(tmp_path / "in", people(), parts, ".csv")
    assert expected == released(path, folder, tmp_path / "out", workers=workers)


def test_parquet_of_several_row_groups_has_the_same_bytes(tmp_path, monkeypatch):
    path = spec(tmp_path)
    as_file(tmp_path / "in.parquet", people(2500))
    monkeypatch.setattr(formats, "BATCH", 1024)
    expected = released(path, tmp_path / "in.parquet", tmp_path / "expected")
    assert pl.scan_parquet(tmp_path / "expected" / "released.parquet").select(pl.len()).collect().item() == 2500
    monkeypatch.setattr(engine, "PER_RECORD", 1 << 60)
    assert expected == released(path, tmp_path / "in.parquet", tmp_path / "out")


# --- what is kept ---------------------------------------------------------------------------------


def test_invariants_of_very_many_cells_are_compared_by_a_digest(tmp_path, monkeypatch, small):
    path = spec(tmp_path)
    as_file(tmp_path / "in.csv", people())
    expected = released(path, tmp_path / "in.csv", tmp_path / "counted")
    monkeypatch.setattr(engine, "MOST_CELLS", 10)
    files, report, _ = released(path, tmp_path / "in.csv", tmp_path / "out")
    assert files == expected[0]
    assert [(one["cells"], one["held"]) for one in expected[1]["invariants"]] == [(3, True), (20, True)]
    assert [(one["cells"], one["held"]) for one in report["invariants"]] == [(3, True), (None, True)]
    assert report["kept"] == expected[1]["kept"]


def with_other(batches, change):
    """The batches, one of them changed."""
    for place, batch in enumerate(batches):
        yield change(batch) if not place else batch


def moved(batch, name):
    """The batch with another value of the first record in a column."""
    column = batch.codes[name].copy()
    column[0] = 1 - column[0]
    return batch.replace({name: column})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda batch: batch.slice(1, len(batch)), "does not keep"),
        (lambda batch: moved(batch, "age"), "does not keep records by region, age, sex"),
        (lambda batch: moved(batch, "county"), "does not keep records by region, county"),
        (lambda batch: 1 // 0, "raised ZeroDivisionError"),
    ],
)
def test_a_release_that_does_not_keep_what_it_says_is_refused(tmp_path, monkeypatch, small, change, told):
    path, made = spec(tmp_path), PermutationSwapping.release_sorted

    def broken(self, *given):
        found = made(self, *given)
        return attrs.evolve(found, batches=with_other(found.batches, change))

    monkeypatch.setattr(PermutationSwapping, "release_sorted", broken)
    as_file(tmp_path / "in.csv", people())
    message = wrong(path, tmp_path / "in.csv", tmp_path / "out")
    assert told in message


def test_a_swap_that_passes_over_records_is_refused(tmp_path, monkeypatch, small):
    path, made = spec(tmp_path), PermutationSwapping.release_sorted
    monkeypatch.setattr(
        PermutationSwapping, "release_sorted", lambda self, batches, *given: made(self, [next(iter(batches))], *given)
    )
    as_file(tmp_path / "in.csv", people())
    assert "does not keep" in wrong(path, tmp_path / "in.csv", tmp_path / "out")


def test_digests_are_of_multisets():
    attributes = (Attribute(name="a", count=1 << 40), Attribute(name="b", count=1 << 40), Attribute(name="c", count=2))
    codes = {a.name: np.random.default_rng(1).integers(0, a.size, 50) for a in attributes}
    given = Table(attributes=attributes, codes=codes)
    mixed = Table(attributes=attributes, codes={name: column[::-1] for name, column in codes.items()})
    crossed = given.replace({"b": codes["b"][::-1]})
    for names in (("a", "b", "c"), ("b", "a"), ("a",), ("c",), ()):
        for after, is_kept in ((mixed, True), (crossed, len({"a", "b"} & {*names}) < 2), (given.slice(0, 49), False)):
            digest = keeping.KeptDigest.of(Kept(attributes=names), attributes)
            digest.add_before(given)
            for batch in (after.slice(0, 20), after.slice(20, 20), after.slice(20, 50)):
                digest.add_after(batch)
            if is_kept:
                assert digest.found(50, "m").records == 50
            else:
                with pytest.raises(PluginContractError, match="does not keep"):
                    digest.found(50, "m")
    in_order = keeping.KeptDigest.of(Kept(attributes=("c",), in_order=True), attributes)
    in_order.add_before(given)
    in_order.add_after(mixed)
    with pytest.raises(PluginContractError, match="in order"):
        in_order.found(50, "m")


@pytest.mark.parametrize(
    ("text", "records"),
    [
        ("region,county,age,sex\n" + "north,n1,0,f\n" * 10, 19),
        ("county\n" + "n1\n" * 10, 18),
        ("county,a,b,c\n" + "n1,,,\n" * 10, 14),
    ],
)
def test_a_file_of_csv_has_at_most_so_many_records_as_its_size_allows(tmp_path, monkeypatch, text, records):
    """Columns may be stated by folders, and others may be empty."""
    seen = []
    monkeypatch.setattr(engine, "memory_of", lambda _, count: seen.append(count) or 0)
    (tmp_path / "in.csv").write_text(text)
    (source,) = engine.given_sources(str(tmp_path / "in.csv"), read(spec(tmp_path)), "person", installed().registry)
    assert engine._fits([source], 1 << 60)
    assert seen == [records]
    assert records >= 10


# --- what is refused ------------------------------------------------------------------------------


def test_too_many_strata_are_refused_before_anything_is_drawn(tmp_path, monkeypatch, small):
    as_file(tmp_path / "in.csv", people())
    monkeypatch.setattr(engine, "PER_STRATUM", 1 << 40)
    monkeypatch.setattr(engine, "_source", lambda *_: pytest.fail("something was drawn"))
    message = wrong(spec(tmp_path, by=BY_AGE), tmp_path / "in.csv", tmp_path / "out", memory=3 << 40)
    assert "sorting the table and its strata take at least 1" in message  # ten strata


def test_bits_of_records_are_memory_of_a_targeted_swap(tmp_path, monkeypatch, small):
    """Two for each record, which is known before the table is read."""
    as_file(tmp_path / "in.parquet", people(ages=AGES))
    monkeypatch.setattr(engine, "_most_records", lambda _: 1 << 40)
    monkeypatch.setattr(formats.PolarsFormat, "batches", lambda *_: pytest.fail("the table was read"))
    message = wrong(targeted(tmp_path), tmp_path / "in.parquet", tmp_path / "out", memory=1 << 38)
    assert "sorting the table takes at least 276 GB" in message


@define
class OtherRates(DerangementSwapping):
    """A class that selects by other rates, and states nothing about tables that are larger than memory."""

    name = "other-rates"

    def records_by_rate(self, table, space):
        return None


def test_a_class_that_is_derived_states_for_itself_that_it_sorts():
    made = [cls(swap=("county",), swap_rate=Fraction(1, 2)) for cls in (DerangementSwapping, PermutationSwapping, OtherRates)]
    assert [releases_sorted(one) for one in made] == [True, True, False]


@pytest.mark.parametrize("value", ["", "n9"])
def test_a_value_that_does_not_fit_is_refused_before_anything_is_drawn(tmp_path, monkeypatch, small, value):
    rows = people()
    rows[-1] = (rows[-1][0], value, *rows[-1][2:])
    folder = partitioned(tmp_path / "in", rows, 4, ".csv")
    monkeypatch.setattr(engine, "spilling", lambda *_: pytest.fail("something was sorted"))
    message = wrong(spec(tmp_path), folder, tmp_path / "out")
    assert "part-003.csv" in message
    assert "n9" not in message


def test_a_table_that_changes_between_checking_and_drawing_is_refused(tmp_path, small):
    folder = partitioned(tmp_path / "in", people(), 4, ".csv")

    def meanwhile(stage):
        if stage == "drawing":
            os.utime(folder / "part-003.csv", ns=(1, 1))

    assert "changed while it was read" in wrong(spec(tmp_path), folder, tmp_path / "out", stage=meanwhile)


@pytest.mark.parametrize("of", [spec, risky])
def test_an_interrupted_release_leaves_nothing(tmp_path, monkeypatch, small, of):
    as_file(tmp_path / "in.csv", people())
    out = tmp_path / "out"
    swap, seen = sorted_swap.swap_kernel, []

    def interrupted(*given, **named):
        spilled = out.with_name("out.confidential") / "spill"
        seen.append((stat.S_IMODE(spilled.stat().st_mode), (spilled / "rows.duckdb").exists()))
        if len(seen) == 2:
            raise KeyboardInterrupt
        return swap(*given, **named)

    monkeypatch.setattr(sorted_swap, "swap_kernel", interrupted)
    with pytest.raises(KeyboardInterrupt):
        released(of(tmp_path, by=BY_AGE), tmp_path / "in.csv", out)
    assert seen == [(0o700, True)] * 2
    assert not out.exists()
    assert not out.with_name("out.confidential").exists()


@pytest.mark.parametrize("problem", [KeyboardInterrupt, ReleaseError("--memory", "does not suffice")])
def test_a_targeted_swap_that_ends_early_leaves_nothing(tmp_path, monkeypatch, small, problem):
    as_file(tmp_path / "in.csv", people(ages=AGES))
    out, draw, seen = tmp_path / "out", sorted_targeted._Pools.draw, []

    def ends(*given):
        files = [*(out.with_name("out.confidential") / "spill").iterdir()]
        seen.append({stat.S_IMODE(file.stat().st_mode) for file in files if file.name.startswith("rows") and not file.suffix})
        if len(seen) == 3:
            raise problem
        return draw(*given)

    monkeypatch.setattr(sorted_targeted._Pools, "draw", ends)
    with pytest.raises(problem if isinstance(problem, type) else type(problem)):
        released(targeted(tmp_path), tmp_path / "in.csv", out)
    assert seen == [{0o600}] * 3
    assert not out.exists()
    assert not out.with_name("out.confidential").exists()


def test_what_a_killed_run_has_left_is_removed(tmp_path, small):
    as_file(tmp_path / "in.csv", people())
    left = tmp_path / "out.confidential" / "spill"
    left.mkdir(parents=True)
    (left / "rows.duckdb").write_text("left")
    released(spec(tmp_path), tmp_path / "in.csv", tmp_path / "out")
    assert not left.exists()


def test_too_little_memory_and_a_missing_library_are_told_before_the_table_is_read(tmp_path, monkeypatch):
    path = spec(tmp_path)
    as_file(tmp_path / "in.csv", people())
    monkeypatch.setattr(formats.PolarsFormat, "batches", lambda *_: pytest.fail("the table was read"))
    with pytest.raises(ReleaseError, match=r"--memory: is 250 MB, and sorting the table takes at least [0-9]+ MB: give --memory"):
        released(path, tmp_path / "in.csv", tmp_path / "out", memory=engine.MEMORY_OF_PROCESS)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingLibraryError):
        released(path, tmp_path / "in.csv", tmp_path / "out", memory=engine.MEMORY_OF_PROCESS)
    assert not (tmp_path / "out").exists()
