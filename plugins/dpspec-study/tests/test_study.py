"""`dpspec study`: what is written, the commands behind it, the recommendation, bad input, and that no message holds a cell."""

from __future__ import annotations

import csv
import json
import random
import shlex
import stat
from fractions import Fraction

import attrs
import jsonschema
import pytest
from click.testing import CliRunner
from dpspec_disclosure.design_risk import WORST, RiskFound
from dpspec_disclosure.tradeoff import TradePoint
from dpspec_disclosure.utility import ErrorFound
from dpspec_study.designs import Proposal
from dpspec_study.question import read_question
from dpspec_study.recommendation import StudiedDesign, error_text, ranked, recommendation, risk_text
from dpspec_study.result import Margins
from dpspec_study.study import design_data

import dpspec as dp
from dpspec.cli import main
from dpspec.plugin import Bracket, number

QUESTION = 'columns = ["town", "job"]\nexchange = ["town"]\nmatch = ["sex"]\n'
NAMES = ["discrete-gaussian", "geometric", "swapping", "cell-keys", "rounding", "suppression", "coarsening"]


def rows(seed=0, count=120):
    draw = random.Random(seed)
    return [(draw.choice("abc"), draw.choice(["yes", "no", "n/a"]), draw.choice("fm")) for _ in range(count)]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a table, a question and a study of it."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "table.csv").write_text("town,job,sex\n" + "".join(f"{','.join(row)}\n" for row in rows()), encoding="utf-8")
    (folder / "q.toml").write_text(QUESTION, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def studied(place):
    asked = ["study", str(place / "table.csv"), "--for", str(place / "q.toml"), "--out", str(place / "out")]
    found = CliRunner().invoke(main, [*asked, "--runs", "5", "--format", "json"])
    assert found.exit_code == 0, found.output
    data = json.loads(found.stdout)
    jsonschema.Draft202012Validator(dp.schema("output")).validate(data)
    return data


def ask(place, *arguments, code=0):
    found = CliRunner().invoke(main, ["study", *map(str, arguments)])
    assert found.exit_code == code, found.output
    return found.output


@pytest.mark.long
def test_seven_designs_are_judged_on_data_of_any_size(studied, place):
    assert [one["name"] for one in studied["designs"]] == NAMES
    outcomes = {one["name"]: one["outcome"] for one in studied["designs"]}
    verified = dict.fromkeys(NAMES[:3], "holds")
    assert outcomes == {**verified, **dict.fromkeys(NAMES[3:], "recorded")}
    for name in NAMES:
        report = dp.verify(place / "out" / "specifications" / f"{name}.dpspec.toml")
        assert report.standing.word.is_good is (name in verified)
        assert dp.check(place / "out" / "specifications" / f"{name}.dpspec.toml")


@pytest.mark.slow
def test_the_files_that_are_written_and_who_can_open_them(studied, place):
    out = place / "out"
    assert {path.name for path in out.iterdir()} == {
        ".dpspec", "README.txt", "confidential", "draft.dpspec.toml", "label.html", "specifications", "verdicts.json"
    }  # fmt: skip
    assert {path.name for path in (out / "confidential").iterdir()} == {
        "designs.csv", "errors-by-cell.csv", "frontier.json", "frontier.svg", "report.html", "report.txt"
    }  # fmt: skip
    assert stat.S_IMODE((out / "confidential").stat().st_mode) == 0o700
    text = (out / "confidential" / "report.txt").read_text(encoding="utf-8")
    assert text.splitlines()[:5] == studied["recommendation"]
    page = (out / "confidential" / "report.html").read_text(encoding="utf-8")
    places = [page.index(line.partition(": ")[2].replace("'", "&#x27;")[:40]) for line in studied["recommendation"]]
    assert places == sorted(places)
    assert not [path for path in place.iterdir() if path.name.startswith(".out")]


def test_the_recommendation_is_the_least_error_of_what_is_verified_and_bounded(studied):
    able = [one for one in studied["designs"] if one["recommendable"]]
    assert studied["recommended"] == min(able, key=lambda one: one["error"]["value"])["name"]
    for one in able:
        assert one["outcome"] in {"holds", "verified"}
        assert one["risk"]["bounds"][1] <= 0.5 + 1e-12
        assert one["risk"]["sense"] != "at least"
    assert {one["name"] for one in studied["designs"]} - {one["name"] for one in able} == set(NAMES[3:])


@pytest.mark.slow
def test_each_step_is_a_command_that_gives_the_same(studied, place, monkeypatch):
    """The commands of the report are typed: parameters, errors of cells, margins and verdicts are those of the study."""
    monkeypatch.chdir(place)
    steps = {one["step"]: shlex.split(one["command"]) for one in studied["steps"]}
    for words in steps.values():
        assert words[0] == "dpspec"
    assert CliRunner().invoke(main, steps["the draft"][1:]).exit_code == 0
    drafts = [dp.read(path).spec.space for path in ("draft.dpspec.toml", place / "out" / "draft.dpspec.toml")]
    assert drafts[0] == drafts[1]
    found = CliRunner().invoke(main, [*steps["risk, error and parameters"][1:], "--format", "json"])
    assert found.exit_code == 3, found.output  # coarsening has neither a risk nor an error
    solved = {
        one["name"]: one["point"] for one in json.loads(found.stdout)["at_risk"]["designs"] if one["curve"] == "worst universe"
    }
    for one in studied["designs"][:3]:
        assert solved[one["name"]]["value"] == one["value"]
        assert solved[one["name"]]["error"]["value"] == one["error"]["value"]
        assert solved[one["name"]]["risks"]["worst universe"]["bounds"][1] == pytest.approx(one["risk"]["bounds"][1])
    assert (place / "errors-by-cell.csv").read_bytes() == (place / "out" / "confidential" / "errors-by-cell.csv").read_bytes()
    assert CliRunner().invoke(main, steps["verdicts"][1:]).exit_code == 0
    for one in studied["designs"]:
        if one["margin_95"] is not None:
            margins = json.loads(CliRunner().invoke(main, [*steps[f"margins of {one['name']}"][1:], "--format", "json"]).stdout)
            assert float(margins["tables"][0]["margin"]["upper"]) == pytest.approx(float(one["margin_95"]))
    label = CliRunner().invoke(main, steps["label"][1:])
    assert label.exit_code == 0, label.output


@pytest.mark.slow
def test_errors_by_cell_have_the_mean_that_is_shown(studied, place):
    with (place / "out" / "confidential" / "errors-by-cell.csv").open(encoding="utf-8") as file:
        listed = list(csv.DictReader(file))
    for one in studied["designs"]:
        mine = [
            float(row["mean_absolute_error"]) for row in listed if row["design"] == one["name"] and row["mean_absolute_error"]
        ]
        if one["error"]["value"] is not None:
            assert sum(mine) / len(mine) == pytest.approx(one["error"]["value"], rel=1e-8)


@pytest.mark.long
def test_without_a_question_the_first_two_columns_are_taken(place):
    found = dp.study(place / "table.csv", out=place / "plain", runs=2)
    assert found.value.question.columns == ("town", "job")
    assert found.exit_code == 0


@pytest.mark.long
def test_a_frame_is_studied_and_no_path_of_it_is_named(place):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(rows(), schema=["town", "job", "sex"], orient="row")
    found = dp.study(frame, {"columns": ["town", "job"]}, out=place / "framed", runs=2)
    assert found["table"]["name"] == "data-frame"
    text = "".join(path.read_text(encoding="utf-8") for path in (place / "framed").rglob("*") if path.is_file())
    assert "/data-frame.csv" not in text  # the private file that it was written to


@pytest.mark.long
def test_none_is_recommended_where_nothing_is_bounded(studied, place):
    found = dp.study(place / "table.csv", {"columns": ["town", "job"]}, out=place / "other", runs=2).value
    only = found.designs[3:]
    assert ranked(only, found.question.risk) == []
    lines = recommendation(only, found.question)
    assert lines[0] == "Recommendation: none of the designs that were compared."
    assert attrs.evolve(found, designs=only).exit_code == 3


@pytest.mark.slow
def test_a_design_with_a_lower_bound_or_a_false_promise_is_never_recommended(studied, place):
    """Rounding has less error than noise here; with its risk known from below alone, and no promise, it is left out."""
    by_name = {one["name"]: one for one in studied["designs"]}
    assert by_name["suppression"]["error"]["value"] == 0
    assert by_name["suppression"]["why_not"].startswith("no finite budget holds")
    assert by_name["rounding"]["risk"]["sense"] == "at least"


# --- bad input ------------------------------------------------------------------------------------


BAD = {
    "no columns": ('risk = "1/2"', "missing-key", "columns"),
    "empty columns": ("columns = []", "missing-key", "columns"),
    "no list": ('columns = "town"', "wrong-shape", "list of columns"),
    "an unknown key": ('columns = ["town", "job"]\nsecrets = 1', "unknown-key", "secrets"),
    "an unknown column": ('columns = ["town", "jobb"]', "table", "job"),
    "one column": ('columns = ["town"]', "parameter", "in addition to those"),
    "an exchanged column outside": (
        'columns = ["town", "job"]\nexchange = ["sex"]',
        "parameter",
        "columns of the table of counts",
    ),
    "matched and exchanged": ('columns = ["town", "job"]\nmatch = ["town"]', "parameter", "exchanged"),
    "a risk below the level": ('columns = ["town", "job"]\nrisk = "1/50"', "parameter", "larger than the level"),
    "a risk of one": ('columns = ["town", "job"]\nrisk = 1', "parameter", "between 0 and 1"),
    "a metric": ('columns = ["town", "job"]\nmetric = "mse"', "parameter", "mae"),
    "no TOML": ("columns = [", "syntax", "TOML"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_questions_are_one_line_and_a_code(place, tmp_path, case):
    text, code, says = BAD[case]
    (tmp_path / "bad.toml").write_text(text, encoding="utf-8")
    arguments = ["study", str(place / "table.csv"), "--for", str(tmp_path / "bad.toml"), "--out", str(tmp_path / "out")]
    found = CliRunner().invoke(main, arguments)
    assert found.exit_code == 2
    assert len(found.output.strip().splitlines()) == 1
    assert says in found.output
    data = json.loads(CliRunner().invoke(main, [*arguments, "--format", "json"]).stdout)
    assert len(data["errors"]) == 1
    assert data["errors"][0]["code"] == code
    assert list(tmp_path.iterdir()) == [tmp_path / "bad.toml"]


def test_no_table_an_existing_folder_and_too_many_cells(place, tmp_path):
    assert "No such file" in ask(place, tmp_path / "nothing.csv", "--out", tmp_path / "out", code=2)
    (tmp_path / "there").mkdir()
    assert "exists already" in ask(place, place / "table.csv", "--out", tmp_path / "there", code=2)
    assert list((tmp_path / "there").iterdir()) == []
    many = tmp_path / "many.csv"
    many.write_text("a,b\n" + "".join(f"{i % 59},{i % 53}\n" for i in range(4000)), encoding="utf-8")
    assert "cells" in ask(place, many, "--out", tmp_path / "out", code=2)
    one = tmp_path / "one.csv"
    one.write_text("a,b\n" + "x,y\n" * 30 + "x,z\n" * 30, encoding="utf-8")
    assert "several categories" in ask(place, one, "--out", tmp_path / "out", code=2)
    (tmp_path / "q.toml").write_text('columns = ["a", "b"]', encoding="utf-8")
    assert "one category alone" in ask(place, one, "--for", tmp_path / "q.toml", "--out", tmp_path / "out", code=2)
    assert not (tmp_path / "out").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_column_that_can_be_no_attribute_is_named_with_the_reason(tmp_path):
    table = tmp_path / "ids.csv"
    table.write_text("id,a,b\n" + "".join(f"id{i},{i % 3},{i % 2}\n" for i in range(80)), encoding="utf-8")
    with pytest.raises(dp.DpspecError, match="different in each record"):
        dp.study(table, {"columns": ["a", "id"]}, out=tmp_path / "out")


# --- messages -------------------------------------------------------------------------------------


def test_no_message_holds_a_cell(tmp_path, capfd, caplog):
    """Tables whose cells are words that occur nowhere else, studied wrongly in many ways: no cell is in any message."""
    draw = random.Random(7)
    mark = "Zq"
    messages: list[str] = []
    for case in range(60):
        kinds = draw.choice([1, 2, 3, 70])
        columns = ["aa", "bb", "cc"][: draw.choice([1, 2, 3])]
        cells = [[f"{mark}{column}{draw.randrange(kinds)}" for column in columns] for _ in range(draw.choice([0, 1, 80]))]
        if draw.random() < 0.3 and cells:
            cells[-1] = cells[-1][: draw.choice([0, 1])] + [f'"{mark}broken'] * draw.choice([0, 1, 4])
        table = tmp_path / f"t{case}{draw.choice(['.csv', '.csv', '.txt', '.parquet', '.sav'])}"
        table.write_text("\n".join([",".join(columns), *map(",".join, cells)]) + "\n", encoding="utf-8")
        wrong = draw.choice([
            None, {"columns": ["aa", "nope"]}, {"columns": ["aa"]}, {"columns": ["aa", "bb"], "match": ["cc"]},
            {"columns": ["bb", "cc"], "risk": "2"}, {"columns": ["aa", "bb", "cc"], "exchange": ["aa", "bb", "cc"]},
        ])  # fmt: skip
        book = tmp_path / "book.csv"
        book.write_text("column,value,label\naa,other,o\n", encoding="utf-8")
        try:
            dp.study(table, wrong, out=tmp_path / f"o{case}", runs=2, codebook=draw.choice([None, None, book]))
        except dp.DpspecError as fault:
            messages += [str(fault), repr(fault), str(fault.__cause__ or "")]
    shown = capfd.readouterr()
    assert mark not in shown.out + shown.err + caplog.text + "".join(messages)
    assert len(messages) >= 3 * 40


def test_the_recommendation_holds_no_category_and_no_count(studied, place):
    words = " ".join(studied["recommendation"])
    for cell in ("n/a", "yes"):
        assert cell not in words


@pytest.mark.parametrize("given", [{"columns": ["a", "a", "b"]}, {"columns": ["a", "b"], "risk": 0.25, "level": "1/100"}])
def test_questions_are_read_exactly(given):
    found = read_question(given)
    assert found.columns == ("a", "b")
    assert found.exchange == ("a",)
    assert str(found.risk) in {"1/2", "1/4"}


@pytest.mark.slow
def test_a_recommended_swap_says_what_it_publishes_exactly(tmp_path):
    """32 records of which two differ from the others: a swap changes next to nothing, as its exact tables nearly say all."""
    table = tmp_path / "table.csv"
    table.write_text("x,z\n" + "a,c\n" * 30 + "b,c\na,d\n", encoding="utf-8")
    found = dp.study(table, {"columns": ["x", "z"]}, out=tmp_path / "out", runs=3)
    assert found["recommended"] == "swapping"
    of = found["determined_by_the_swap"]
    said = f"determine {of['records']:,} of {of['of']:,} records"
    assert said in found["recommendation"][3]
    assert "person by z and person by x exactly" in found["recommendation"][3]


def test_a_risk_below_one_is_not_printed_as_one_and_a_parameter_is_printed_as_it_is():
    """A rate rounded down would have a larger risk than the one that was asked for."""
    near = RiskFound(value=Bracket.exactly("0.99999"), sense="exact")
    assert risk_text(near) == "0.999990"
    bounds = Bracket(lower=number("0.99996"), upper=number("0.99999"))
    assert risk_text(RiskFound(value=bounds, sense="at most")).startswith("at most 0.9999")
    proposal = Proposal(name="swapping", title="", tables={}, varied="mechanism.swap_rate", values=None)
    made = StudiedDesign(proposal=proposal, value=Fraction("0.725106"), unsolved="", point=None, report=None)
    assert made.parameter == "swap_rate = 0.725106"


def test_runs_that_are_equal_have_no_interval():
    assert error_text(ErrorFound(value=0.0, runs=20)) == "0 (equal in all 20 runs)"
    assert error_text(ErrorFound(value=1.5, low=0.0, high=3.25, runs=20)) == "1.5 (0 to 3.25)"


def test_no_design_has_the_smallest_error_while_a_simulated_one_may_have_less(studied, place):
    """The third design was not compared with the first: its interval reaches below the error of the first."""
    report = dp.verify(place / "out" / "specifications" / "discrete-gaussian.dpspec.toml")
    risk = RiskFound(value=Bracket.exactly("1/2"), sense="exact", protects="all data")
    errors = {
        "first": ErrorFound(value=1.0, low=1.0, high=1.0),
        "second": ErrorFound(value=1.1, low=1.1, high=1.1),
        "third": ErrorFound(value=1.2, low=0.9, high=1.5, runs=20),
    }
    designs = [
        StudiedDesign(
            proposal=Proposal(name=name, title=name, tables={}), value=None, unsolved="", report=report,
            point=TradePoint(value=None, risks={WORST: risk}, error=error),
        )
        for name, error in errors.items()
    ]  # fmt: skip
    question = read_question({"columns": ["town", "job"]})
    (low, high) = design_data(attrs.evolve(designs[0], point=attrs.evolve(designs[0].point, risks={
        WORST: RiskFound(value=Bracket.exactly("1/3"), sense="exact", protects="all data")
    })), Margins(design="first"), question)["risk"]["bounds"]  # fmt: skip
    assert Fraction(low) < Fraction(1, 3) < Fraction(high)  # the double that is nearest to 1/3 is below it
    reason = recommendation(designs, question)[1]
    assert "the smallest" not in reason
    assert reason.endswith("the difference to third is within the error of the simulation.")
    assert "the smallest mean absolute error of 2 designs" in recommendation(designs[:2], question)[1]


def test_a_margin_that_holds_for_all_counts_is_not_said_to_hold_up_to_200(studied, place):
    page = (place / "out" / "confidential" / "report.html").read_text(encoding="utf-8")
    assert "the largest over all true counts" in page  # of cell keys and rounding
    assert "counts from 0 to 200" not in page
