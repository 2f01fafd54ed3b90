"""Whole releases: households with their persons, what is confidential, the ends of the swap rate, disks that are full."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter

import polars as pl
import pytest
from dpspec_release.draw import UNFIT
from dpspec_release.text import released
from dpspec_release.write import write_utility
from rich.console import Console

import dpspec as dp
from dpspec import grammar, installed
from dpspec.base.errors import DpspecError, PluginContractError, ReleaseError, TableError
from dpspec.grammar.tables import Table
from tests.swaps import compositions, drawn, given, spec


def test_a_household_with_too_many_persons_is_refused(tmp_path):
    path = spec(tmp_path)
    path.write_text(
        path.read_text(encoding="utf-8").replace('type = "households"', 'type = "households"\nmembers = 2'), encoding="utf-8"
    )
    with pytest.raises(TableError, match=r"household in row 4: holds more person records than the 2 of the space \(15 such\)"):
        drawn(path, given(tmp_path), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.reference("B-A3")
@pytest.mark.parametrize("mechanism", ["derangement-swapping", "permutation-swapping"])
def test_households_move_with_their_persons(tmp_path, mechanism):
    folder, out = given(tmp_path), tmp_path / "out"
    release, report = drawn(spec(tmp_path, mechanism=mechanism), folder, out, seed=1)
    before, after = compositions(folder), compositions(out)
    for kept in (lambda h: (h[0], h[2]), lambda h: (h[0], h[1])):
        assert Counter(map(kept, before)) == Counter(map(kept, after))
    assert Counter(before) != Counter(after)
    assert [held.cells is not None for held in release.held] == [True, True]
    assert {entry["file"]: entry["records"] for entry in report["released"]} == {"households.csv": 60, "persons.csv": 90}


@pytest.mark.statistical
def test_new_identifiers_tell_nothing_about_the_old_order(tmp_path):
    """With p = 0 nothing moves, and each composition is found again. The 45 households with persons differ.

    The rank correlation of old and new places has mean 0 and deviation 1/sqrt(44) for a random order; 0.8 is 5.3 of them, a
    chance below 1e-6. The order kept, or reversed, has 1 or -1.
    """
    folder, out = given(tmp_path), tmp_path / "out"
    drawn(spec(tmp_path, rate="0"), folder, out)
    before, after = compositions(folder), compositions(out)
    assert Counter(before) == Counter(after)
    with (out / "households.csv").open(encoding="utf-8") as file:
        assert [row["household_id"] for row in csv.DictReader(file)] == [str(i) for i in range(60)]
    places = [(before.index(household), place) for place, household in enumerate(after) if household[2]]
    mean = [sum(column) / len(places) for column in zip(*places, strict=True)]
    products = [[sum((x[i] - mean[i]) * (x[j] - mean[j]) for x in places) for j in (0, 1)] for i in (0, 1)]
    assert abs(products[0][1] / (products[0][0] * products[1][1]) ** 0.5) < 0.8
    with (out / "persons.csv").open(encoding="utf-8") as file:
        persons = [tuple(row.values()) for row in csv.DictReader(file)]
    assert persons == sorted(persons, key=lambda p: (int(p[0]), p[1], int(p[2])))


PERSONS = '"block", "age"'


def test_an_invariant_of_persons_that_does_not_hold_is_found(tmp_path, monkeypatch):
    """The mechanism states that it keeps it."""

    def stated(mechanism, invariant, space, unit):
        return True

    monkeypatch.setattr(grammar, "keeps_invariant", stated)
    with pytest.raises(PluginContractError, match="does not hold the invariant person by block x age"):
        drawn(spec(tmp_path, rate="1", persons=PERSONS), given(tmp_path), tmp_path / "out", seed=1)
    assert not (tmp_path / "out").exists()


def test_an_invariant_that_the_mechanism_does_not_state_is_not_compared(tmp_path, capsys):
    """A claim states by its invariants where protection is promised. That the release keeps them is another statement."""
    release, report = drawn(spec(tmp_path, rate="1", persons=PERSONS), given(tmp_path), tmp_path / "out", seed=1)
    assert [held.cells is not None for held in release.held] == [True, False]
    reason = "the mechanism does not state that it keeps it"
    assert report["invariants"][1] == {"invariant": "person by block x age", "cells": None, "held": None, "reason": reason}
    Console(width=300).print(*released(report, "out"))
    assert f"person by block x age: not compared: {reason}" in capsys.readouterr().out


MICRODATA = """\
schema = 1
id = "microdata"
title = "A mechanism that releases records, about which something is published"
[space]
type = "{space}"
attributes = [{{ name = "age", count = 4 }}, {{ name = "sex", categories = ["f", "m"] }}]
[multiverse]
invariants = [{{ type = "marginal", attributes = ["age"] }}, {{ type = "marginal", attributes = [] }}]
[input_divergence]
type = "{distance}"
[output_divergence]
type = "mult"
[budget]
epsilon = "{epsilon}"
[mechanism]
{mechanism}
"""


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "cells"),
    [
        ('type = "top-coding"\ncolumn = "age"\ntop = "1"', "inf", [None, 1]),
        ('type = "coarsening"\ndropped = ["sex"]', "inf", [4, 1]),
        ('type = "k-ary-response"\nepsilon = "ln(2)"\nattribute = "age"', "ln(2)", [None, 1]),
    ],
)
def test_a_mechanism_that_keeps_no_invariant_is_released_within_them(tmp_path, mechanism, epsilon, cells):
    """It was refused as a fault of the plugin, whose law does not have to stay in the universe of its table."""
    path, table = tmp_path / "a.dpspec.toml", tmp_path / "in.csv"
    space, distance = ("records", "hamming") if epsilon == "inf" else ("ordered-records", "hamming-ordered")
    text = MICRODATA.format(mechanism=mechanism, epsilon=epsilon, space=space, distance=distance)
    path.write_text(text, encoding="utf-8")
    table.write_text("age,sex\n" + "".join(f"{n % 7 % 4},{'fm'[n % 5 % 2]}\n" for n in range(60)), encoding="utf-8")
    _, report = drawn(path, table, tmp_path / "out", seed=3)
    assert [one["cells"] for one in report["invariants"]] == cells


# --- the ends ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", ["derangement-swapping", "permutation-swapping"])
@pytest.mark.parametrize(("rate", "told"), [("0", []), ("1", [])])
def test_a_rate_of_0_or_1_is_a_documented_result_without_a_budget(tmp_path, mechanism, rate, told):
    release, report = drawn(spec(tmp_path, rate=rate, mechanism=mechanism), given(tmp_path), tmp_path / "out", seed=1)
    assert report["stated_by_mechanism"]["budget of this universe"] == told
    assert release.output.confidential["records selected"] == (60 if rate == "1" else 0)


@pytest.mark.parametrize("mechanism", ["derangement-swapping", "permutation-swapping"])
def test_a_stratum_of_one_stays_and_is_counted(tmp_path, mechanism):
    folder = given(tmp_path, households=2)
    _, report = drawn(spec(tmp_path, rate="1", mechanism=mechanism), folder, tmp_path / "out")
    assert report["stated_by_mechanism"]["strata of one record"] == 2
    assert Counter(compositions(folder)) == Counter(compositions(tmp_path / "out"))


# --- what lies there afterwards ------------------------------------------------------------------


def test_seeded_parquet_says_so_in_its_metadata(tmp_path):
    path, folder = spec(tmp_path), given(tmp_path)
    drawn(path, folder, tmp_path / "seeded", seed=1, suffix=".parquet")
    drawn(path, folder, tmp_path / "other", suffix=".parquet")
    for name in ("households", "persons"):
        seeded, other = (pl.read_parquet_metadata(tmp_path / out / f"{name}.parquet")["dpspec"] for out in ("seeded", "other"))
        assert seeded.startswith(f"{UNFIT}drawn from a seed")
        assert "the claim is undecided" in seeded
        assert other.startswith(f"{UNFIT}the claim is undecided")


def test_files_of_an_earlier_release_go_and_others_stay(tmp_path):
    path, folder, out = spec(tmp_path), given(tmp_path), tmp_path / "out"
    release, _ = drawn(path, folder, out, seed=1)
    write_utility(release)
    (out / "mine.csv").write_text("mine\n", encoding="utf-8")
    drawn(path, folder, out, suffix=".parquet")
    assert sorted(p.name for p in out.iterdir()) == [
        "NOT-FIT-FOR-PUBLICATION.txt", "households.parquet", "mine.csv", "persons.parquet", "report.json",
    ]  # fmt: skip
    assert not (release.place.private / "utility.json").exists()


@pytest.mark.parametrize("seed", [None, 1])
def test_the_table_is_never_written_over(tmp_path, seed):
    folder = given(tmp_path)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for out, said in ((folder, "would be published with it"), (folder / "out", "lies in the folder that is read")):
        with pytest.raises(ReleaseError, match=said):
            drawn(spec(tmp_path), folder, out, seed=seed)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_report_does_not_say_where_the_table_lies(tmp_path):
    drawn(spec(tmp_path), given(tmp_path), tmp_path / "out")
    assert json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["table"] == "in"


def test_an_unknown_ending_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(Exception, match="has no known table format"):
        drawn(spec(tmp_path), tmp_path / "nowhere.csv", tmp_path / "out", suffix=".xyz")


@pytest.mark.parametrize("problem", [KeyboardInterrupt, OSError(28, "No space left on device")])
@pytest.mark.parametrize("file", ["households.csv", "persons.csv"])
def test_a_disk_that_is_full_or_a_stop_leaves_nothing(monkeypatch, tmp_path, problem, file):
    formats = installed().registry.get("formats", "csv")
    write = formats.write

    def full(self, table: Table, path, notes):
        write(self, table, path, notes)
        if file in path.name:
            raise problem

    monkeypatch.setattr(formats, "write", full)
    with pytest.raises((KeyboardInterrupt, ReleaseError)):
        drawn(spec(tmp_path), given(tmp_path), tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "swap.dpspec.toml"]


@pytest.mark.parametrize("when", ["reading", "drawing", "checking"])
def test_a_stop_at_any_stage_leaves_nothing(tmp_path, when):
    def stop(stage):
        if stage == when:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        drawn(spec(tmp_path), given(tmp_path), tmp_path / "out", stage=stop)
    assert not (tmp_path / "out").exists()


def test_stages_are_told_in_order_and_reading_is_counted(tmp_path):
    told = []
    drawn(
        spec(tmp_path), given(tmp_path), tmp_path / "out",
        stage=told.append, progress=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert told == ["judging", "reading", (60, 0), (150, 0), "drawing", (60, 60), "checking"]


# --- utility -------------------------------------------------------------------------------------


def test_the_utility_report_lies_apart_and_is_right(tmp_path):
    """Persons by block, counted by hand from both directories."""
    folder, out = given(tmp_path), tmp_path / "out"
    release, report = drawn(spec(tmp_path), folder, out, seed=1)
    write_utility(release)
    data = json.loads((release.place.private / "utility.json").read_text(encoding="utf-8"))
    assert "NOT FOR PUBLICATION" in data["warning"]
    assert "NOT FOR PUBLICATION" in (release.place.private / "utility.svg").read_text(encoding="utf-8")
    tables = {(d["unit"], *d["attributes"]): d for d in data["tables"]}
    assert tables["household", "block"]["largest_error"] == 0
    true, released = (
        Counter((block, sex) for _, block, persons in compositions(where) for sex, _ in persons) for where in (folder, out)
    )
    errors = {cell: abs(released[cell] - true[cell]) for cell in {*true, *released}}
    found = tables["person", "block", "sex"]
    assert found["largest_error"] == max(errors.values()) > 0
    assert found["cells"] == len(true)
    assert found["mape"] == pytest.approx(100 * sum(errors[cell] / n for cell, n in true.items()) / len(true))
    assert "records selected" in data["stated_by_mechanism"]
    assert "records selected" not in json.dumps(report)


def test_no_table_is_released_under_a_promise_that_compares_it_with_none(tmp_path):
    """Universes that are listed need not hold every table: what is verified of them says nothing of one that lies outside."""
    pair = [[["red"], ["red"]], [["red"], ["blue"]]]
    file = dp.build(
        space={"type": "records", "most": 5, "attributes": [{"name": "colour", "categories": ["red", "blue"]}]},
        multiverse={"type": "explicit", "universes_by_label": {"two": pair}},
        input_divergence={"type": "hamming"},
        output_divergence={"type": "mult"},
        budget={"epsilon": "ln(4)"},
        mechanism={"type": "geometric", "queries": [{"type": "marginal", "attributes": ["colour"]}], "ratio": "1/2"},
    )
    table = tmp_path / "table.csv"
    table.write_text("colour\nred\nblue\n", encoding="utf-8")
    assert dp.release(file, table, tmp_path / "inside")["fit_for_publication"]
    table.write_text("colour\nblue\nblue\n", encoding="utf-8")
    with pytest.raises(ReleaseError, match="no universe"):
        dp.release(file, table, tmp_path / "outside")
    assert not (tmp_path / "outside").exists()


# --- tables that are no dataset of their space -----------------------------------------------------


NOISY = """
schema = 1
id = "noisy"
title = "Noisy"

[space]
{space}

[multiverse]
invariants = []

[input_divergence]
type = "hamming"
unit = "{unit}"

[output_divergence]
type = "mult"

[budget]
epsilon = "ln(16)"

[mechanism]
type = "geometric"
queries = [{{ type = "marginal", attributes = ["{counted}"], unit = "{of}" }}]
ratio = "1/2"
unit = "{row}"
"""
EVENTS = {
    "space": 'type = "event-streams"\nusers = ["ann", "bob"]\ntimes = 2\nvalues = ["visit", "call"]',
    "unit": "user", "counted": "value", "of": "event", "row": "event",
}  # fmt: skip
USERS = {
    "space": 'type = "element-records"\nusers = ["ann", "bob"]\nelements = [{ name = "smokes", categories = ["yes", "no"] }]',
    "unit": "user", "counted": "smokes", "of": "user", "row": "user",
}  # fmt: skip
WEIGHTS = {
    "space": 'type = "weighted-records"\nvalues = ["edge", "path"]\nweights = ["1/2", "2"]',
    "unit": "record", "counted": "value", "of": "record", "row": "record",
}  # fmt: skip
HOMES = {
    "space": 'type = "households"\nhousehold = [{ name = "region", categories = ["a", "b"] }]\n'
    'person = [{ name = "sex", categories = ["f", "m"] }]\nmost = 1\nmembers = 2',
    "unit": "household", "counted": "sex", "of": "person", "row": "person",
}  # fmt: skip


def noisy(tmp_path, blocks, rows):
    """The specification, and a table with these rows."""
    path, table = tmp_path / "noisy.dpspec.toml", tmp_path / "table.csv"
    path.write_text(NOISY.format(**blocks), encoding="utf-8")
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path, table


@pytest.mark.parametrize(("blocks", "rows"), [
    (EVENTS, ["user,time,value", "ann,0,visit", "ann,0,call"]),
    (USERS, ["user,smokes", "ann,yes", "ann,no", "bob,no"]),
    (USERS, ["user,smokes", "ann,yes"]),
    (WEIGHTS, ["value,weight", "edge,2", "edge,1/2"]),
    (HOMES, ["region,sex", "a,f", "a,m", "a,m"]),
], ids=["two events at one time", "a user twice", "a user missing", "a value twice", "more persons than fit"])  # fmt: skip
def test_a_table_that_is_no_dataset_of_the_space_is_refused(tmp_path, unverified, blocks, rows):
    """Nothing is promised about it: with ten events at one time, a user changed a count by ten where one was promised."""
    path, table = noisy(tmp_path, blocks, rows)
    with pytest.raises(DpspecError) as raised:
        dp.release(path, table, tmp_path / "out", unverified=True)
    assert "cannot be read as a dataset of the space" in str(raised.value) or "must have a size in [0, 2]" in str(raised.value)
    assert not {"ann", "bob", "edge", "visit"} & {*re.findall(r"\w+", str(raised.value))}
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("blocks", "rows"), [
    (EVENTS, ["user,time,value", "bob,1,visit", "ann,0,call"]),
    (USERS, ["user,smokes", "bob,yes", "ann,no"]),
    (WEIGHTS, ["value,weight", "path,2", "edge,1/2"]),
    (HOMES, ["region,sex", "a,f", "b,m"]),
])  # fmt: skip
def test_a_table_in_any_order_that_is_a_dataset_is_released(tmp_path, unverified, blocks, rows):
    report = dp.release(*noisy(tmp_path, blocks, rows), tmp_path / "out", unverified=True)
    assert [entry["records"] for entry in report["released"]] == [2]


def test_persons_of_a_folder_of_households_are_counted(tmp_path, unverified):
    """A ratio of 10^-30 adds no noise, but with a chance below 10^-28. It ended with a KeyError of the mechanism."""
    path, _ = noisy(tmp_path, {**HOMES, "space": HOMES["space"].replace("most = 1", ""), "row": "household"}, [])
    path.write_text(path.read_text(encoding="utf-8").replace('"1/2"', f'"1/{10**30}"'), encoding="utf-8")
    folder = tmp_path / "homes"
    folder.mkdir()
    (folder / "households.csv").write_text("household_id,region\n7,a\n8,b\n9,b\n", encoding="utf-8")
    (folder / "persons.csv").write_text("household_id,sex\n8,m\n7,f\n8,m\n", encoding="utf-8")
    dp.release(path, folder, tmp_path / "out", unverified=True)
    released = (tmp_path / "out" / "released.csv").read_text(encoding="utf-8").splitlines()
    assert [row.split(",")[-3:-1] for row in released[1:]] == [["f", "1"], ["m", "2"]]


def test_a_count_of_households_is_not_taken_from_persons(tmp_path, unverified):
    path, table = noisy(tmp_path, {**HOMES, "counted": "region", "of": "household"}, ["region,sex", "a,f"])
    with pytest.raises(TableError, match="reads more of the space households") as raised:
        dp.release(path, table, tmp_path / "out", unverified=True)
    assert "=f" not in str(raised.value)


@pytest.mark.parametrize(("sizes", "supposed"), [
    ("members = 2", ["no household has more than 2 persons"]),
    ("least = 1\nmost = 9", ["the number of households is at least 1", "the number of households is at most 9"]),
    ("", []),
])  # fmt: skip
def test_what_a_table_of_persons_does_not_say_of_households_is_stated(tmp_path, capsys, sizes, supposed):
    """Twelve persons may be one household. The claim is verified with at most two in each, and nothing stated this assumption."""
    space = HOMES["space"].replace("most = 1\nmembers = 2", sizes)
    promised = {**HOMES, "space": space, "unit": "household" if "members" in sizes else "person"}
    path, table = noisy(tmp_path, promised, ["region,sex", *["a,f", "b,m"] * 6])
    path.write_text(path.read_text(encoding="utf-8").replace('"hamming"', '"symmetric-difference"'), encoding="utf-8")
    expected = [f"{one} (not checked: the table does not state the household of a person)" for one in supposed]
    report = dp.release(path, table, tmp_path / "out")
    assert report["fit_for_publication"]
    assert report["assumptions"] == expected
    assert json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["assumptions"] == expected
    Console(width=300).print(*released(report, "out"))
    assert capsys.readouterr().out.count("assumes") == len(expected)


def test_of_households_with_their_persons_nothing_is_assumed(tmp_path):
    path, _ = noisy(tmp_path, {**HOMES, "space": HOMES["space"].replace("most = 1", ""), "row": "household"}, [])
    path.write_text(path.read_text(encoding="utf-8").replace('"hamming"', '"symmetric-difference"'), encoding="utf-8")
    folder = tmp_path / "homes"
    folder.mkdir()
    (folder / "households.csv").write_text("household_id,region\n7,a\n8,b\n", encoding="utf-8")
    (folder / "persons.csv").write_text("household_id,sex\n8,m\n7,f\n8,m\n", encoding="utf-8")
    assert dp.release(path, folder, tmp_path / "out")["assumptions"] == []
