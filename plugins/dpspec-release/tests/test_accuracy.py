"""Accuracy of releases: from laws and from runs; margins that cover; released numbers with theirs; what is not known."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from fractions import Fraction

import jsonschema
import numpy as np
import polars as pl
import pytest
from dpspec_release.accuracy import known_accuracy, order_statistic, released_numbers, upper_in_words, with_margins

import dpspec as dp
from dpspec import SpecDocument
from dpspec.base.errors import DpspecError
from dpspec.base.exact import Bracket, number
from dpspec.base.randomness import SeededRandomness
from dpspec.grammar.tables import Table
from dpspec.grammar.workers import Run
from dpspec.report.json import output_schema
from tests.swaps import given as households, spec as swap

SPACE = """\
schema = 1
id = "table"
title = "Counts with noise"
[space]
type = "records"
attributes = [{ name = "colour", categories = ["red", "a x b", "a"] }, { name = "size", categories = ["x b", "s"] }]
[input_divergence]
type = "symmetric-difference"
[output_divergence]
type = "%s"
[budget]
%s
[mechanism]
%s
queries = [{ type = "marginal", attributes = ["colour", "size"] }, { type = "marginal", attributes = ["size"] }]
"""
GEOMETRIC = SPACE % ("mult", 'epsilon = "ln(4)"', 'type = "geometric"\nratio = "1/2"')
LAPLACE = SPACE % ("mult", 'epsilon = "2"', 'type = "laplace"\nepsilon = "1"')
DISCRETE = SPACE % ("d-nor", 'rho = "1/4"', 'type = "discrete-gaussian"\nvariance = "4"\nsensitivities = ["1", "1"]')


@pytest.fixture
def files(tmp_path):
    """A specification of geometric noise and a table."""
    spec, table = tmp_path / "table.dpspec.toml", tmp_path / "table.csv"
    spec.write_text(GEOMETRIC, encoding="utf-8")
    rows = [("red", "s")] * 40 + [("a x b", "s")] * 7 + [("a", "x b")] * 11
    table.write_text("\n".join(["colour,size", *(",".join(row) for row in rows)]) + "\n", encoding="utf-8")
    return spec, table


def rows_of(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def written(tmp_path, text):
    path = tmp_path / "other.dpspec.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "margin", "of_all", "deviation"),
    [(GEOMETRIC, 4, 7, 2.0), (LAPLACE, 2.995732, 5.075174, 1.414214), (DISCRETE, 4, 5, 2.0)],
)
def test_the_accuracy_of_noise_follows_from_the_specification(tmp_path, text, margin, of_all, deviation):
    """Of all: at level 1 - 0.05/8. Geometric noise: 2 r^(m + 1) / (1 + r) <= 0.00625 from m = 7 on; Laplace: ln(160)."""
    found = dp.accuracy(written(tmp_path, text))
    assert [(table["table"], table["numbers"], table["source"]) for table in found["tables"]] == [
        ("person by colour x size", 6, "law"), ("person by size", 2, "law"),
    ]  # fmt: skip
    for table in found["tables"]:
        assert float(Fraction(table["margin"]["upper"])) == pytest.approx(margin, rel=1e-6)
        assert float(Fraction(table["margin_of_all"]["upper"])) == pytest.approx(of_all, rel=1e-6)
        assert float(Fraction(table["deviation"]["upper"])) == pytest.approx(deviation, rel=1e-6)
    assert "within its margin of the true one" in str(found)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("text", [GEOMETRIC, pytest.param(DISCRETE, marks=pytest.mark.long)])
def test_margins_cover_as_often_as_is_said(tmp_path, text):
    """12,000 numbers: the share within the margin is within 5.5 standard deviations of the coverage, which fails once in 10^7."""
    path = written(tmp_path, text)
    document, found = dp.read(path), dp.accuracy(path)
    attributes = document.spec.space.attributes
    table = Table.from_records([("red", "s")] * 100, attributes)
    inside, joint, runs = 0, 0, 1_500
    for run in range(runs):
        rows = list(document.mechanism.release(table, document.spec.space, SeededRandomness(run)).records())
        true = [100 if (colour, size) in (("red", "s"), ("(all)", "s")) else 0 for _, colour, size, _, _ in rows]
        off = [abs(int(row[3]) - n) for n, row in zip(true, rows, strict=True)]
        inside += sum(far <= int(found["tables"][0]["margin"]["upper"]) for far in off)
        joint += max(off) <= int(found["tables"][0]["margin_of_all"]["upper"])
    covered = float(Fraction(found["tables"][0]["coverage"]["lower"]))
    assert covered >= 0.95
    assert abs(inside / (8 * runs) - covered) < 5.5 * np.sqrt(covered * (1 - covered) / (8 * runs))
    assert joint / runs > 0.95 - 5.5 * np.sqrt(0.05 * 0.95 / runs)


def test_released_numbers_have_one_column_for_each_attribute(files, tmp_path):
    """The cells `a x b` of size s and `a` of size `x b` are told apart, which one text for a cell does not do."""
    spec, table = files
    dp.release(spec, table, tmp_path / "out", unverified=True, seed=1)
    found = dp.accuracy(spec, tmp_path / "out", out=tmp_path / "margins.csv")
    rows = rows_of(tmp_path / "margins.csv")
    assert list(rows[0]) == ["query", "colour", "size", "value", "margin_95", "status"]
    cells = Counter((row["query"], row["colour"], row["size"]) for row in rows)
    assert len(cells) == len(rows) == found["released"] == 8
    assert ("person by colour x size", "a x b", "s") in cells
    assert ("person by colour x size", "a", "x b") in cells
    assert ("person by size", "(all)", "s") in cells
    released = [row["value"] for row in rows_of(tmp_path / "out" / "released.csv")]
    assert [row["value"] for row in rows] == released
    assert {(row["margin_95"], row["status"]) for row in rows} == {("4", "published")}


def test_rows_that_are_not_those_of_the_specification_are_refused(files, tmp_path):
    spec, table = files
    dp.release(spec, table, tmp_path / "out", unverified=True, seed=1)
    lines = (tmp_path / "out" / "released.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    turned = tmp_path / "turned.csv"
    turned.write_text("".join([lines[0], lines[2], lines[1], *lines[3:]]), encoding="utf-8")
    with pytest.raises(DpspecError, match="line 2 is not the cell"):
        dp.accuracy(spec, turned)


def test_moved_records_are_simulated_on_what_was_released(tmp_path):
    """What the swap keeps has no error: households by county, and persons; without any swap nothing has."""
    largest = {}
    for rate in ("1/2", "0"):
        folder = tmp_path / rate.replace("/", "-")
        folder.mkdir()
        spec = swap(folder, rate=rate)
        assert dp.accuracy(spec).exit_code == 3
        dp.release(spec, households(folder), folder / "out", unverified=True, seed=1)
        found = dp.accuracy(spec, folder / "out", runs=100)
        margins = {table["table"]: int(table["margin"]["upper"]) for table in found["tables"]}
        assert {"household by county", "household by block", "household by county x block"} <= set(margins)
        assert {"person by sex", "person by block x sex", "person by sex x age"} <= set(margins)
        largest[rate] = tuple(max(margins[name] for name in margins if name.startswith(unit)) for unit in ("household", "person"))
        assert margins["person by sex x age"] == margins["person by county x age"] == 0
        assert found["runs"] == 100
        assert "simulated" in str(found)
    # households that exchange blocks of one county leave all counts of households, and take their persons with them
    assert largest["0"] == (0, 0)
    assert largest["1/2"][0] == 0 < largest["1/2"][1]


def test_counts_that_a_swap_moves_have_margins_and_those_that_it_keeps_have_none(tmp_path):
    """40 owned dwellings in one county and 40 rented ones in the other: after a swap many are elsewhere."""
    table = tmp_path / "dwellings.csv"
    rows = [("1", "owned", "Dukes")] * 40 + [("1", "rented", "Nantucket")] * 40
    table.write_text("\n".join(["size,tenure,county", *map(",".join, rows)]) + "\n", encoding="utf-8")
    spec = "specs/swapping-derangement.dpspec.toml"
    dp.release(spec, table, tmp_path / "out", unverified=True, seed=2)
    margins = {one["table"]: int(one["margin"]["upper"]) for one in dp.accuracy(spec, tmp_path / "out", runs=100)["tables"]}
    assert margins["household by size x county"] == margins["household by size x tenure"] == margins["household by tenure"] == 0
    assert 3 <= margins["household by tenure x county"] <= 40


def test_a_table_whose_law_depends_on_the_count_has_its_worst():
    """Unbiased rounding to multiples of 3: a count is off by 2 with probability 1/3 at most, so that the margin is 2."""
    claim = dp.spec(space=dp.records(colour=3), distance="hamming", standard="pure", epsilon="inf")
    mechanism = dp.random_rounding(tables=[["colour"]], base=3)
    (table,) = dp.accuracy(dp.SpecDocument(id="rounded", title="Rounded counts", spec=claim, mechanism=mechanism))["tables"]
    assert (table["source"], table["margin"]["upper"], table["bias"]["upper"]) == ("counts", "2", "0")
    assert float(Fraction(table["deviation"]["upper"])) == pytest.approx(np.sqrt(2), rel=1e-9)


def test_the_coverage_of_a_margin_is_that_of_the_count_that_leaves_it_most_often():
    """A count of 1 is left as it is with probability 3/4, others move by 1: all counts are within 1. Not 3/4, within 0 of one."""
    rows = [{"count": 1, "changes": {"-1": "1/8", "0": "3/4", "1": "1/8"}}, {"count": 2, "changes": {"-1": "1/2", "1": "1/2"}}]
    keyed = dp.cell_key(tables=[["colour"]], rows=rows, keys=8)
    claim = dp.spec(space=dp.records(colour=2), distance="hamming", standard="pure", epsilon="1")
    (table,) = dp.accuracy(dp.SpecDocument(id="keyed", title="Keyed counts", spec=claim, mechanism=keyed), level="1/2")["tables"]
    assert (table["margin"]["upper"], table["coverage"]) == ("1", {"lower": "1", "upper": "1"})


def test_a_release_of_another_specification_is_refused(files, tmp_path):
    """Its numbers would be given margins of other noise."""
    spec, table = files
    dp.release(spec, table, tmp_path / "out", unverified=True, seed=1)
    other = written(tmp_path, GEOMETRIC.replace('ratio = "1/2"', 'ratio = "1/20"'))
    for given in (tmp_path / "out", tmp_path / "out" / "report.json"):
        with pytest.raises(DpspecError, match="is of another specification than table"):
            dp.accuracy(other, given)


def test_an_attribute_that_is_called_like_another_column_has_a_column_of_its_own(tmp_path):
    spec = written(tmp_path, GEOMETRIC.replace("colour", "value").replace("size", "query"))
    table = tmp_path / "table.csv"
    table.write_text("value,query\nred,s\n", encoding="utf-8")
    dp.release(spec, table, tmp_path / "out", unverified=True, seed=1)
    dp.accuracy(spec, tmp_path / "out", out=tmp_path / "margins.csv")
    header = (tmp_path / "margins.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header == "query,value_,query_,value,margin_95,status"


ROUNDED = """\
schema = 1
id = "rounded"
title = "Rounded counts"
[space]
type = "records"
attributes = [{ name = "colour", categories = ["red", "blue"] }]
[input_divergence]
type = "hamming"
[output_divergence]
type = "mult"
[budget]
epsilon = "inf"
[mechanism]
type = "conventional-rounding"
tables = [["colour"]]
base = %s
"""


@pytest.mark.parametrize(("base", "margin"), [(5, "2"), (1_000, "500"), (10_000, "")])
def test_released_numbers_have_the_margin_of_all_counts(tmp_path, base, margin):
    """Rounding to multiples of 1,000 moves a count of 500 by 500; for counts up to 200 alone the margin is 200."""
    spec, table = written(tmp_path, ROUNDED % base), tmp_path / "table.csv"
    table.write_text("\n".join(["colour", *["red"] * 1_500, *["blue"] * 450]) + "\n", encoding="utf-8")
    dp.release(spec, table, tmp_path / "out", unverified=True)
    found = dp.accuracy(spec, tmp_path / "out", out=tmp_path / "margins.csv")
    rows = rows_of(tmp_path / "margins.csv")
    assert [row["margin_95"] for row in rows] == [margin] * 2
    true = {"red": 1_500, "blue": 450}
    assert all(not margin or abs(int(row["value"]) - true[row["colour"]]) <= int(margin) for row in rows)
    some = "In 95 % of releases, a published number is within its margin of a true count up to 200."
    assert str(found).startswith(some) is (not margin)


def test_what_is_not_known_is_said(files, tmp_path):
    fitted = dp.accuracy("specs/topdown-2020-pl.dpspec.toml")
    assert fitted.exit_code == 3  # what is released is computed from the noisy counts
    assert fitted["tables"] == []
    assert "Nothing is known" in str(fitted)
    with pytest.raises(DpspecError, match="mechanism: is missing"):
        dp.accuracy("specs/safetab-2020-ddhc-a.dpspec.toml")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"level": "1"}, "level"), ({"level": "nine"}, "level"), ({"released": "nowhere"}, "RELEASE"),
        ({"out": "margins.csv"}, "out"),
    ],
)  # fmt: skip
def test_bad_input_is_one_error(files, given, words):
    with pytest.raises(DpspecError, match=words):
        dp.accuracy(files[0], **given)


def test_too_few_runs_are_refused(tmp_path):
    spec = swap(tmp_path)
    dp.release(spec, households(tmp_path), tmp_path / "out", unverified=True, seed=1)
    with pytest.raises(DpspecError, match="runs=20: are too few"):
        dp.accuracy(spec, tmp_path / "out" / "households.csv", runs=20)
    with pytest.raises(DpspecError, match=r"runs=200: are too few .* take 13815504 or more"):
        dp.accuracy(spec, tmp_path / "out" / "households.csv", level=1 - Fraction(1, 10**6))


@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(9, 10), Fraction(19, 20), Fraction(99, 100)])
def test_the_place_in_the_order_is_the_least_that_is_certain_enough(level):
    """P(Binomial(runs, level) < k), summed here; perhaps one more where it is the level itself."""
    for runs in range(1, 500, 37):
        below = [Fraction(0)]
        for successes in range(runs + 1):
            chance = math.comb(runs, successes) * level**successes * (1 - level) ** (runs - successes)
            below.append(below[-1] + chance)
        wanted = next((k for k in range(1, runs + 1) if below[k] >= level), None)
        if wanted is None:
            with pytest.raises(DpspecError, match="too few"):
                order_statistic(runs, level)
        else:
            assert order_statistic(runs, level) in {wanted, wanted + (below[wanted] == level)}


def test_the_place_in_the_order_is_found_for_levels_that_are_no_doubles():
    """1 - 1e-20 divided by zero, 1e-400 had no logarithm, and for 1 - 1e-16 a tenth of the runs were missing in the advice."""
    assert order_statistic(3, Fraction(1, 10**400)) == 1
    with pytest.raises(DpspecError, match="take 4605170185988091368013 or more"):
        order_statistic(200, 1 - Fraction(1, 10**20))
    with pytest.raises(DpspecError, match="take 368413614879047292 or more"):
        order_statistic(200, 1 - Fraction(1, 10**16))


def test_the_command_prints_what_the_function_answers(files, run, tmp_path):
    spec, table = files
    dp.release(spec, table, tmp_path / "out", unverified=True, seed=1)
    done = run("accuracy", spec, tmp_path / "out", "--format", "json")
    assert done.code == 0
    content = json.loads(done.out)
    jsonschema.Draft202012Validator(output_schema()).validate(content)
    assert content["released"] == 8
    assert "\N{PLUS-MINUS SIGN} 4" in run("accuracy", spec, tmp_path / "out").out


@pytest.mark.parametrize(
    ("level", "said"), [("0.999", "99.9 %"), ("1/3", "33.3333 %"), ("0.9999999999999", "99.9999 %"), ("1e-9", "1E-7 %")]
)
def test_a_level_is_never_stated_as_more_than_it_is(files, run, level, said):
    """Margins at 1 - 10^-13 were stated to hold in 100 % of releases."""
    assert run("accuracy", files[0], "--level", level).out.splitlines()[0].startswith(f"In {said} of releases")


def test_margins_are_rounded_up():
    assert upper_in_words(Bracket(lower=number(0), upper=number("29957/10000")), 4) == "2.996"
    assert upper_in_words(Bracket.exactly("3/10"), 4) == "0.3"


def test_noisy_answers_are_compared_with_the_true_counts(files, tmp_path, run):
    """Of 6 cells 3 are not empty: 40, 7 and 11."""
    spec, table = files
    assert run("release", spec, table, "--out", tmp_path / "out", "--unverified", "--seed", "1", "--utility").code == 0
    found = json.loads((tmp_path / "out.confidential" / "utility.json").read_text(encoding="utf-8"))["tables"]
    true = {("red", "s"): 40, ("a x b", "s"): 7, ("a", "x b"): 11, ("(all)", "s"): 47, ("(all)", "x b"): 11}
    cells = {(row["query"], row["colour"], row["size"]): int(row["value"]) for row in rows_of(tmp_path / "out" / "released.csv")}
    off = {(name, (colour, size)): abs(value - true.get((colour, size), 0)) for (name, colour, size), value in cells.items()}
    assert [(table["attributes"], table["cells"]) for table in found] == [(["colour", "size"], 3), (["size"], 2)]
    for entry, query in zip(found, ("person by colour x size", "person by size"), strict=True):
        mine = {cell: far for (name, cell), far in off.items() if name == query}
        assert entry["largest_error"] == max(mine.values())
        assert entry["mean_absolute_error"] == pytest.approx(sum(mine.values()) / len(mine))
        assert entry["mape"] == pytest.approx(100 * np.mean([far / true[cell] for cell, far in mine.items() if cell in true]))


def test_rounded_answers_are_compared_and_have_no_margin_of_the_noise(files, tmp_path, run):
    """What is released is computed from the noisy counts, so that their law is not that of the numbers."""
    _, table = files
    noise = 'type = "geometric"\nratio = "1/2"\nqueries = [{ type = "marginal", attributes = ["size"] }]'
    rounding = SPACE[: SPACE.index("queries")] % ("mult", 'epsilon = "ln(4)"', 'type = "post-processed"\nrounded_to = 10')
    path = written(tmp_path, f"{rounding}[mechanism.mechanism]\n{noise}\n")
    assert run("release", path, table, "--out", tmp_path / "out", "--unverified", "--seed", "1", "--utility").code == 0
    (found,) = json.loads((tmp_path / "out.confidential" / "utility.json").read_text(encoding="utf-8"))["tables"]
    off = [abs(int(row["value"]) - {"s": 47, "x b": 11}[row["size"]]) for row in rows_of(tmp_path / "out" / "released.csv")]
    assert found["largest_error"] == max(off)
    assert dp.accuracy(path).exit_code == 3
    known = dp.accuracy(path).value
    numbers = released_numbers([tmp_path / "out" / "released.csv"], known)
    assert {row.margin for row in numbers} == {""}


def test_where_nothing_is_shown_the_reason_is_stated_and_no_figure_is_written(files, tmp_path, run):
    _, table = files
    noise = 'type = "geometric"\nratio = "1/2"\nqueries = [{ type = "marginal", attributes = ["size"] }]'
    hiding = SPACE[: SPACE.index("queries")] % ("mult", 'epsilon = "ln(4)"', 'type = "post-processed"\nhidden_below = 1000')
    path = written(tmp_path, f"{hiding}[mechanism.mechanism]\n{noise}\n")
    ran = run("release", path, table, "--out", tmp_path / "out", "--unverified", "--seed", "1", "--utility")
    assert ran.code == 0
    assert "no table was compared" in ran.out
    assert "person by size: none of its numbers is shown" in ran.out
    assert not (tmp_path / "out.confidential" / "utility.svg").exists()


# --- in reports -----------------------------------------------------------------------------------


def test_report_label_and_evidence_show_what_the_command_prints(files, tmp_path, run):
    """One computation: the numbers of `accuracy`, in three pages."""
    spec, _ = files
    data = json.loads(run("accuracy", spec, "--format", "json").out)
    margins = [table["margin"]["upper"] for table in data["tables"]]
    assert margins == ["4", "4"]
    run("report", spec, "--out", tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    run("evidence", spec, "--out", tmp_path / "evidence")
    shown = json.loads((tmp_path / "evidence" / "accuracy.json").read_text(encoding="utf-8"))
    assert shown["tables"] == data["tables"]
    assert shown["joint"] == data["joint"]
    readme = (tmp_path / "evidence" / "README.md").read_text(encoding="utf-8")
    label = run("label", spec).out
    deviation = number(data["tables"][0]["deviation"]["upper"]).decimal(4)
    for name in ("colour x size", "size"):
        assert f"| person by {name} | two-sided geometric, decay ln(2) | " in page
        assert f"error: person by {name}" in readme
    assert f"| {deviation} | 4 |" in page
    assert f"standard deviation {deviation}, 95 % margin 4" in readme
    assert "- 4, in the table of person by colour, size; person by size." in " ".join(label.split())


def test_what_is_not_known_is_said_in_each_report(files, tmp_path, run):
    noise = 'type = "geometric"\nratio = "1/2"\nqueries = [{ type = "marginal", attributes = ["size"] }]'
    rounding = SPACE[: SPACE.index("queries")] % ("mult", 'epsilon = "ln(4)"', 'type = "post-processed"\nrounded_to = 10')
    path = written(tmp_path, f"{rounding}[mechanism.mechanism]\n{noise}\n")
    assert "It is unknown how far" in run("label", path).out
    run("report", path, "--out", tmp_path / "page.md")
    assert "Not known, mechanism post-processed: the law of its numbers is not stated." in (tmp_path / "page.md").read_text()
    run("evidence", path, "--out", tmp_path / "evidence")
    assert "unknown: the law of its numbers is not stated" in (tmp_path / "evidence" / "README.md").read_text(encoding="utf-8")
    assert not (tmp_path / "evidence" / "accuracy.json").exists()


def test_the_probability_of_all_numbers_at_once_is_that_of_independent_noise(files, run):
    """Eight numbers, each off by more than 4 with probability 2 q^5 / (1 + q) at q = 1/2, that is 1/24."""
    data = json.loads(run("accuracy", files[0], "--format", "json").out)
    wanted = Fraction(23, 24) ** 8
    assert Fraction(data["joint"]["lower"]) <= wanted <= Fraction(data["joint"]["upper"])
    assert Fraction(data["joint"]["upper"]) - Fraction(data["joint"]["lower"]) < Fraction(1, 10**9)
    assert Fraction(data["joint_of_all"]["lower"]) >= Fraction(19, 20)
    together = run("accuracy", files[0]).out
    assert "All 8 numbers are within their own margins at once in at least 71.1 % of releases." in together


def test_numbers_of_a_table_are_counted_as_they_are_listed():
    from dpspec_release.accuracy import _cells

    nested = [{"name": "state", "count": 2}, {"name": "county", "count": 4, "within": "state"}, {"name": "sex", "count": 3}]
    space = dp.records(attributes=nested)
    for attributes in (["state"], ["county"], ["state", "county"], ["county", "sex"], ["sex", "state"], []):
        for where in ({}, {"sex": ["0", "2"]}, {"county": ["1"]}):
            table = dp.marginal(attributes=attributes, where=where)
            assert _cells(table, space) == len(list(table.cells(space))), (attributes, where)
    wide = dp.records(attributes=[{"name": "a", "count": 10**6}, {"name": "b", "count": 10**3}])
    assert _cells(dp.marginal(attributes=["a", "b"]), wide) == 10**9


def test_hidden_answers_are_released_without_a_value(files, tmp_path, run):
    _, table = files
    noise = 'type = "geometric"\nratio = "1/2"\nqueries = [{ type = "marginal", attributes = ["size"] }]'
    hiding = SPACE[: SPACE.index("queries")] % ("mult", 'epsilon = "ln(4)"', 'type = "post-processed"\nhidden_below = 30')
    path = written(tmp_path, f"{hiding}[mechanism.mechanism]\n{noise}\n")
    assert run("release", path, table, "--out", tmp_path / "out", "--unverified", "--seed", "1", "--utility").code == 0
    rows = rows_of(tmp_path / "out" / "released.csv")
    released = {row["size"]: row["value"] for row in rows}
    found = [(row["size"], bool(row["value"]), row["status"]) for row in rows]
    assert found == [("x b", False, "suppressed"), ("s", True, "published")]
    assert abs(int(released["s"]) - 47) < 40
    (found,) = json.loads((tmp_path / "out.confidential" / "utility.json").read_text(encoding="utf-8"))["tables"]
    assert (found["hidden"], found["cells"]) == (1, 1)
    assert found["largest_error"] == abs(int(released["s"]) - 47)
    dp.accuracy(path, tmp_path / "out", out=tmp_path / "margins.csv")
    again = rows_of(tmp_path / "margins.csv")
    assert [(row["margin_95"], row["status"]) for row in again] == [("", row["status"]) for row in rows]
    with pytest.raises(dp.DpspecError, match="is suppressed in line 2"):
        dp.infer(path, tmp_path / "out", model="block-count")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_a_release_is_written_with_its_margins(files, tmp_path, run, suffix):
    """The same numbers with one column more; the CSV file is that of `accuracy --out`."""
    spec, table = files
    frames = {}
    for name, more in (("plain", []), ("out", ["--margins"])):
        options = ["--unverified", "--seed", "1", "--as", suffix, *more]
        assert run("release", spec, table, "--out", tmp_path / name, *options).code == 0
        path = tmp_path / name / f"released.{suffix}"
        frames[name] = {"csv": pl.read_csv, "parquet": pl.read_parquet, "arrow": pl.read_ipc}[suffix](path)
    assert frames["out"].columns == ["query", "colour", "size", "value", "margin_95", "status"]
    assert frames["out"].drop("margin_95").equals(frames["plain"])
    assert frames["out"]["margin_95"].to_list() == [4] * 8
    assert [frames["out"][name].dtype for name in ("value", "margin_95")] == [pl.Int64, pl.Int64]
    placed = {one.name for one in (tmp_path / "out").iterdir()}
    assert placed == {f"released.{suffix}", "report.json", "NOT-FIT-FOR-PUBLICATION.txt"}
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert report["margins"] == {"column": "margin_95", "level": "19/20"}
    if suffix == "csv":
        dp.accuracy(spec, tmp_path / "out", out=tmp_path / "margins.csv")
        dp.accuracy(spec, tmp_path / "plain", out=tmp_path / "again.csv")
        content = (tmp_path / "out" / "released.csv").read_bytes()
        assert content == (tmp_path / "margins.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()


def test_a_table_of_an_earlier_version_is_refused_by_its_columns(files, tmp_path):
    old = tmp_path / "old.csv"
    old.write_text("query,cell,answer\nperson by size,s,4\n", encoding="utf-8")
    with pytest.raises(DpspecError, match="earlier version"):
        dp.accuracy(files[0], old)
    with pytest.raises(DpspecError, match="earlier version"):
        dp.infer(files[0], old, model="block-count")


def test_margins_are_refused_before_anything_is_drawn_where_no_law_is_known(files, tmp_path, run):
    _, table = files
    noise = 'type = "geometric"\nratio = "1/2"\nqueries = [{ type = "marginal", attributes = ["size"] }]'
    rounding = SPACE[: SPACE.index("queries")] % ("mult", 'epsilon = "ln(4)"', 'type = "post-processed"\nrounded_to = 10')
    path = written(tmp_path, f"{rounding}[mechanism.mechanism]\n{noise}\n")
    found = run("release", path, table, "--out", tmp_path / "none", "--unverified", "--margins")
    assert found.code == 2
    assert not (tmp_path / "none").exists()
    assert not (tmp_path / "none.confidential").exists()


THREE_PARTS = """type = "composed"
parts = [
  { type = "geometric", ratio = "1/2", queries = [{ type = "marginal", attributes = ["colour", "size"] }] },
  { type = "geometric", ratio = "1/3", queries = [{ type = "marginal", attributes = ["size"] }] },
  { type = "repeated", times = 2, mechanism.type = "geometric", mechanism.ratio = "1/10", mechanism.queries = [
    { type = "marginal", attributes = ["colour"] } ] },
]"""
SEVERAL = SPACE.partition("queries")[0] % ("mult", 'epsilon = "9"', THREE_PARTS)


def test_several_mechanisms_have_the_accuracy_of_each(files, tmp_path):
    """2 r^(m + 1) / (1 + r) <= 0.05: m = 4, 3 and 1; 6 + 2 + 2 x 3 numbers."""
    path = written(tmp_path, SEVERAL)
    found = dp.accuracy(path)
    assert [(one["table"], one["numbers"], one["margin"]["upper"]) for one in found["tables"]] == [
        ("person by colour x size", 6, "4"), ("person by size", 2, "3"), ("person by colour", 6, "1"),
    ]  # fmt: skip
    dp.release(path, files[1], tmp_path / "out", seed=1, margins=True)
    rows = [row for path in sorted((tmp_path / "out").glob("*.csv")) for row in rows_of(path)]
    assert [row["margin_95"] for row in rows] == ["4"] * 6 + ["3"] * 2 + ["1"] * 6
    assert {row["status"] for row in rows} == {"published"}


def test_a_query_that_is_answered_with_different_noise_has_no_margin_of_either(files, tmp_path):
    path = written(tmp_path, SEVERAL.replace('attributes = ["colour"]', 'attributes = ["size"]'))
    dp.release(path, files[1], tmp_path / "out", seed=1, margins=True)
    rows = [row for path in sorted((tmp_path / "out").glob("*.csv")) for row in rows_of(path)]
    assert [row["margin_95"] for row in rows] == ["4"] * 6 + [""] * 6


TWO_PARTS = """type = "composed"
parts = [
  { type = "geometric", ratio = "1/2", queries = [{ type = "marginal", attributes = ["size"] }] },
  { type = "geometric", ratio = "1/3", queries = [
    { type = "marginal", attributes = ["size"] }, { type = "marginal", attributes = ["colour"] } ] },
]"""


def test_parts_that_answer_one_query_have_the_margins_of_their_files(files, tmp_path):
    """A file alone does not say which part it is of, so that its query has several margins."""
    path = written(tmp_path, SPACE.partition("queries")[0] % ("mult", 'epsilon = "9"', TWO_PARTS))
    dp.release(path, files[1], tmp_path / "out", seed=1, margins=True)
    rows = [row for path in sorted((tmp_path / "out").glob("*.csv")) for row in rows_of(path)]
    assert [row["margin_95"] for row in rows] == ["4"] * 2 + ["3"] * 5
    second = tmp_path / "out" / "2-released.csv"
    for given, expected in ((tmp_path / "out", ["4"] * 2 + ["3"] * 5), (second, [""] * 2 + ["3"] * 3)):
        dp.accuracy(path, given, out=tmp_path / "all.csv")
        assert [row["margin_95"] for row in rows_of(tmp_path / "all.csv")] == expected


@pytest.mark.parametrize("part", ["filtered cells", "post-processed", "random-rounding"])
def test_nothing_is_said_of_several_mechanisms_where_one_publishes_otherwise(tmp_path, part):
    noise = '{ type = "geometric", ratio = "1/3", queries = [{ type = "marginal", attributes = ["size"] }] }'
    other = {
        "filtered cells": f'{{ type = "filtered", where = {{ size = ["s"] }}, mechanism = {noise} }}',
        "post-processed": f'{{ type = "post-processed", at_least = 0, mechanism = {noise} }}',
        "random-rounding": '{ type = "random-rounding", base = 3, tables = [["size"]] }',
    }[part]
    composed = f'type = "composed"\nparts = [{noise}, {other}]'
    path = written(tmp_path, SPACE.partition("queries")[0] % ("mult", 'epsilon = "9"', composed))
    assert dp.accuracy(path)["tables"] == []


NOISE_BY_SIZE = '{ type = "geometric", ratio = "1/2", queries = [{ type = "marginal", attributes = ["size"] }] }'
WIDER_BY_SIZE = NOISE_BY_SIZE.replace("1/2", "9/10")


@pytest.mark.parametrize(
    ("mechanism", "margins"),
    [
        pytest.param(
            f'type = "filtered"\nwhere = {{ colour = ["red"] }}\nmechanism = {NOISE_BY_SIZE}',
            {"person by size where colour in {red}": 4}, id="filtered",
        ),
        pytest.param(
            'type = "parallel"\nattribute = "colour"\nparts = ['
            f'{{ categories = ["red"], mechanism = {NOISE_BY_SIZE} }}, {{ categories = ["a"], mechanism = {WIDER_BY_SIZE} }}]',
            {"person by size where colour in {red}": 4, "person by size where colour in {a}": 28}, id="parallel",
        ),
        pytest.param(
            f'type = "composed"\nparts = [{{ type = "filtered", where = {{ colour = ["red"] }}, mechanism = {NOISE_BY_SIZE} }}, '
            f"{WIDER_BY_SIZE}]",
            {"person by size where colour in {red}": 4, "person by size": 28}, id="composed",
        ),
    ],
)  # fmt: skip
def test_numbers_of_some_records_have_the_margin_of_their_noise(files, tmp_path, mechanism, margins):
    """The margin of numbers about filtered records was unknown: their error is the noise, too."""
    path = written(tmp_path, SPACE.partition("queries")[0] % ("mult", 'epsilon = "9"', mechanism))
    found = dp.accuracy(path)
    assert {one["table"]: int(one["margin"]["upper"]) for one in found["tables"]} == margins
    dp.release(path, files[1], tmp_path / "out", seed=1, margins=True, unverified=True)
    rows = [row for path in sorted((tmp_path / "out").glob("*.csv")) for row in rows_of(path)]
    assert {row["query"]: int(row["margin_95"]) for row in rows} == margins
    assert sum(one["numbers"] for one in found["tables"]) == len(rows)


@pytest.mark.parametrize("scale", ["1e-3000", "1e3000"])
def test_noise_beyond_doubles_is_no_fault_of_the_program(run, tmp_path, scale):
    spec = tmp_path / "spec.dpspec.toml"
    spec.write_text(LAPLACE.replace('epsilon = "1"', f'scale = "{scale}"'), encoding="utf-8")
    done = run("accuracy", spec)
    assert done.code == 0
    assert done.out.startswith("In 95 % of releases")
    least = run("measure", spec, "--format", "json")
    assert least.code == 0
    assert Fraction(json.loads(least.out)["budget"]["upper"]) == 2 / Fraction(scale)
    assert "not enough: refuted below" in run("measure", spec).out


def test_margins_of_a_stand_in_and_of_one_of_several_releases_are_named_as_such(tmp_path):
    part = '[[part]]\ntitle = "more"\nbudget = { epsilon = 3 }\n[part.mechanism]\ntype = "geometric"\nratio = "1/4"\n'
    part += 'queries = [{ type = "marginal", attributes = ["size"] }]\n'
    made_up = '[provenance]\nmechanism = { how = "assumed", because = "not published" }\n'
    path = tmp_path / "table.dpspec.toml"
    path.write_text(GEOMETRIC + made_up + part, encoding="utf-8")
    found = dp.accuracy(path)
    assert found["stand_ins"] == ["mechanism"]
    for told in ("the mechanism of the file, in place of what is not published", "further releases are not among these: more"):
        assert told in str(found)
    path.write_text(GEOMETRIC, encoding="utf-8")
    assert "This is about" not in str(dp.accuracy(path))


def test_tables_of_persons_in_households_have_their_unit_and_their_cells(run, tmp_path):
    """They were named tables of households, whose attributes they do not have: an error of the program."""
    path, table = tmp_path / "rounded.dpspec.toml", tmp_path / "persons.csv"
    text = SPACE.replace('"records"', '"households"\nmembers = 3').replace(
        'attributes = [{ name = "colour"', 'household = [{ name = "colour"', 1
    )
    text = text.replace(', { name = "size"', ']\nperson = [{ name = "size"', 1).partition("queries")[0]
    mechanism = 'type = "random-rounding"\nunit = "person"\nbase = 3\ntables = [["size"], ["colour", "size"]]'
    path.write_text(text % ("mult", 'epsilon = "inf"', mechanism), encoding="utf-8")
    found = dp.accuracy(path)
    assert [(one["table"], one["numbers"]) for one in found["tables"]] == [("person by size", 2), ("person by colour x size", 6)]
    table.write_text("colour,size\nred,s\na,s\n", encoding="utf-8")
    dp.release(path, table, tmp_path / "out", seed=1, unverified=True)
    dp.accuracy(path, tmp_path / "out", out=tmp_path / "all.csv")
    assert {row["margin_95"] for row in rows_of(tmp_path / "all.csv")} == {"2"}
    assert "in the table of person by size" in run("label", path).out


def test_a_release_of_cells_without_records_is_read(run, files, tmp_path):
    """A filtered table has cells of records that are left out; their rows were said not to be those of the specification."""
    noise = NOISE_BY_SIZE.replace('["size"]', '["colour", "size"]')
    mechanism = f'type = "filtered"\nwhere = {{ colour = ["red"] }}\nmechanism = {noise}'
    path = written(tmp_path, SPACE.partition("queries")[0] % ("mult", 'epsilon = "9"', mechanism))
    dp.release(path, files[1], tmp_path / "out", seed=1, unverified=True)
    found = run("accuracy", path, tmp_path / "out")
    assert found.code == 3  # no margin is known
    assert "person by colour x size where colour in {red}" in found.out


def test_an_error_in_percent_of_nothing_is_no_number(run, files, tmp_path):
    """Of a table without records all numbers are noise; the largest error was said to be 0 %."""
    mechanism = f'type = "filtered"\nwhere = {{ colour = ["a x b"] }}\nmechanism = {NOISE_BY_SIZE}'
    path = written(tmp_path, SPACE.partition("queries")[0] % ("mult", 'epsilon = "9"', mechanism))
    table = tmp_path / "reds.csv"
    table.write_text("colour,size\nred,s\na,s\n", encoding="utf-8")
    done = run("release", path, table, "--out", tmp_path / "out", "--seed", "1", "--utility")
    assert done.code == 0, done.err
    assert "MAPE" not in done.out
    (found,) = json.loads((tmp_path / "out.confidential" / "utility.json").read_text(encoding="utf-8"))["tables"]
    assert (found["cells"], found["mape"]) == (0, None)


def test_numbers_about_some_records_have_the_words_of_their_margins():
    """Conditions followed those of the query in the order of the mechanisms, and in the specification that of their names: such
    numbers had no margin. Two queries that are the same one about these records are one."""
    space = dp.records(size=["1", "2"], county=["a", "b", "c"])
    by_size = [
        dp.marginal(attributes="size", where={"size": ["1", "2"]}), dp.marginal(attributes="size"),
        dp.marginal(attributes=[], where={"size": ["1"], "county": ["a", "b"]}),
    ]  # fmt: skip
    noise = dp.geometric(queries=by_size, ratio="1/2")
    part = {"categories": ["a", "c"], "mechanism": dp.filtered(mechanism=noise, where={"size": ["1", "2"]})}
    mechanism = dp.parallel(attribute="county", parts=[part])
    claim = dp.spec(space=space, distance="hamming", standard="pure", epsilon="inf")
    known = known_accuracy(SpecDocument(id="x", title="x", spec=claim, mechanism=mechanism), Fraction(19, 20))
    table = Table.from_records([("1", "a"), ("1", "b"), ("2", "c")], space.attributes)
    (released,) = with_margins(mechanism.run(table, space, Run(source=SeededRandomness(1))).tables, known).values()
    by, total = "person by size where county in {a, c}, size in {1, 2}", "person total where county in {a}, size in {1}"
    assert [(row[0], row[-2]) for row in released.records()] == [(by, "4")] * 4 + [(total, "4")]
    assert {one.table for one in known.tables} == {by, total}
