"""`dpspec exposure` as a user meets it: text, data, errors, and the figures of the teaching sample of 2011."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from dpspec_disclosure import analysis
from dpspec_disclosure.exposure import Belief, Exposed, SecretExposure, Share
from dpspec_disclosure.knowledge import Geography
from dpspec_disclosure.margins import Margins, kinds_of, margins_of

import dpspec as dp
from dpspec.cli import main
from dpspec.plugin import Attribute, Marginal, Table

SHARED = Path(__file__).parents[4] / "shared" / "data" / "uk-census-2011-teaching-10k" / "uk_census_2011_teaching_10k.csv"
COLUMNS = {
    "sex": "Sex", "age": "Age", "marital": "Marital Status", "ethnic": "Ethnic Group", "economic": "Economic Activity",
    "region": "Region",
}  # fmt: skip


def ask(*arguments, code=0):
    found = CliRunner().invoke(main, ["exposure", *map(str, arguments)])
    assert found.exit_code == code, found.output
    return found.output


@pytest.fixture
def towns(tmp_path):
    """Five persons in two towns; the one person of the south is a woman."""
    (tmp_path / "towns.csv").write_text("sex,town,job\nf,north,yes\nf,north,no\nm,north,yes\nm,north,no\nf,south,yes\n")
    text = """
        schema = 1
        id = "towns"
        title = "towns"
        [space]
        type = "records"
        attributes = [{ name = "sex", categories = ["f", "m"] }, { name = "town", categories = ["north", "south"] },
                      { name = "job", categories = ["yes", "no"] }]
        [multiverse]
        invariants = [{ type = "marginal", attributes = ["town", "sex"] }, { type = "marginal", attributes = ["town", "job"] }]
        [input_divergence]
        type = "hamming"
        [output_divergence]
        type = "mult"
        [budget]
        epsilon = 1
    """
    path = tmp_path / "towns.dpspec.toml"
    path.write_text(text)
    return path


def test_a_belief_that_is_no_certainty_is_not_rounded_to_one():
    belief = Belief(low=0, high=0, largest=Fraction(99_999, 100_000), guess_low=0, guess_high=0)
    share = Share(yes=0, undecided=0, of=1)
    one = SecretExposure(
        secret=("age",), known=(), determined=share, strata=(0, 1), smallest=None, belief=belief, unknown=1, all_but=share
    )
    assert analysis._grid([one])[-1].split()[-1] == "0.9999"


def test_kinds_about_which_nothing_was_proved_are_named(towns, monkeypatch):
    monkeypatch.setattr("dpspec_disclosure.exposure.MOST_PROGRAMS", 0)
    monkeypatch.setattr(Margins, "junction", lambda self: None)
    said = ask(towns, towns.with_name("towns.csv"), code=3)
    assert "  0, 5 undecided of 5 possible kinds of records" in said


def test_what_the_tables_say_about_five_persons(towns):
    found = json.loads(ask(towns, towns.with_name("towns.csv"), "--format", "json"))
    jsonschema.Draft202012Validator(dp.schema("output")).validate(found)
    assert found["cells"] == {"fixed": 1, "possible": 5, "undecided": 0, "records": {"records": 1, "undecided": 0, "of": 5}}
    by_secret = {one["secret"][0]: one for one in found["secrets"]}
    assert by_secret["sex"]["determined"]["records"] == 1
    assert by_secret["job"]["strata"] == {"with_determined": 1, "of": 2, "smallest": 1}
    assert by_secret["town"]["determined"]["records"] == 3  # every man, and the women without a job, live in the north
    assert by_secret["sex"]["all_but"] == {"unknown": 1, "records": 5, "undecided": 0, "of": 5}


def test_the_first_line_is_the_answer(towns):
    said = ask(towns, towns.with_name("towns.csv"))
    assert said.startswith("1 (20.0 %) of 5 person records are determined in all attributes by the exact tables of towns alone,")
    assert "not for publication" in said


def test_a_function_of_the_same_name_answers_the_same(towns):
    assert str(dp.exposure(towns, towns.with_name("towns.csv"))) + "\n" == ask(towns, towns.with_name("towns.csv"))


def test_without_a_table_the_changes_are_told_that_nothing_protects(towns):
    found = json.loads(ask(towns, "--format", "json"))
    jsonschema.Draft202012Validator(dp.schema("output")).validate(found)
    assert [one["allowed"] for one in found["changes"]] == ["never", "never", "never", "never"]


def test_a_change_of_households_may_change_the_tables_of_persons():
    found = dp.exposure("specs/topdown-2020-pl-persons.dpspec.toml")["changes"]
    by_name = {(one["unit"], one["attribute"]): one for one in found}
    assert by_name["person", "state"]["allowed"] == "never"
    assert by_name["person", "race"]["allowed"] == "always"
    assert "person by state" in by_name["household", "members"]["words"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--secret", "towns"], "did you mean town"),
        (["--secret", "town", "--known", "town"], "is known by what the attacker knows"),
        (["--unknown", "0"], "x>=1"),
    ],
)
def test_bad_input_is_one_error(towns, options, message):
    assert message in ask(towns, towns.with_name("towns.csv"), *options, code=2)


def test_a_table_of_more_records_than_the_space_allows_is_refused(towns):
    """No table of the space has its counts; 2 of 2 possible kinds were said to have the same count in every table that fits."""
    towns.write_text(towns.read_text().replace('type = "records"', 'type = "records"\nmost = 4'))
    assert "must have a size in [0, 4]" in ask(towns, towns.with_name("towns.csv"), code=2)


def test_what_is_no_table_of_counts_is_refused():
    assert "tables of household records" in ask("specs/topdown-2020-pl-persons.dpspec.toml", "massachusetts-1940", code=2)


def test_where_nothing_is_exact_every_change_is_protected():
    found = dp.exposure("specs/randomised-response.dpspec.toml")["changes"]
    assert [(one["attribute"], one["allowed"]) for one in found] == [("bit", "always")]  # the space fixes the number of persons


def test_no_value_of_the_table_is_in_a_message(towns, tmp_path):
    table = tmp_path / "bad.csv"
    table.write_text("sex,town,job\nf,Little-Secret,yes\n")
    assert "Little-Secret" not in ask(towns, table, code=2)


def test_programs_and_bounds_agree_on_decomposable_tables():
    """Integer programs, made to answer where the bounds are known, say the same."""
    attributes = tuple(Attribute(name=name, count=3) for name in ("match", "held", "swapped"))
    records = [("0", "0", "0")] * 3 + [("0", "1", "2"), ("1", "2", "1"), ("1", "2", "2"), ("2", "0", "1"), ("2", "1", "1")]
    given = Table.from_records(records, attributes)
    published = [Marginal(attributes=("match", "held")), Marginal(attributes=("match", "swapped"))]
    exact = Exposed(margins_of(given, published, (0, None)), Geography(attributes=attributes))
    twice = [*published, Marginal(attributes=("match", "held"), where=(("swapped", ("0", "1", "2")),))]
    assert margins_of(given, twice, (0, None)).partial == ()  # a condition that all meet is none
    by_programs = Exposed(margins_of(given, published, (0, None)), Geography(attributes=attributes))
    by_programs.use_programs()
    assert by_programs.fixed_cells() == exact.fixed_cells()
    rows, counts = kinds_of(given, [a.name for a in attributes])
    table = {a.name: rows[:, place] for place, a in enumerate(attributes)}
    for secret, known in ((("swapped",), ("match", "held")), (("held",), ("match",)), (("match",), ())):
        one, other = (found.of_secret(table, counts, secret, known, 1) for found in (exact, by_programs))
        assert one.determined == other.determined


@pytest.mark.skipif(not SHARED.exists(), reason="needs the teaching sample of 2011, which lies beside the project")
@pytest.mark.parametrize(
    ("match", "held", "cells"),
    [
        (["sex", "age"], ["marital", "ethnic", "economic"], (0, 6_690, 0)),
        (["sex", "age", "marital", "ethnic"], ["economic"], (246, 4_544, 2_100)),
    ],
)
def test_the_teaching_sample_of_2011(match, held, cells):
    with SHARED.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    attributes = tuple(Attribute(name=n, categories=tuple(sorted({r[c] for r in rows}))) for n, c in COLUMNS.items())
    given = Table.from_records([[r[c] for c in COLUMNS.values()] for r in rows], attributes)
    published = [Marginal(attributes=(*match, *held)), Marginal(attributes=(*match, "region"))]
    found = Exposed(margins_of(given, published, (0, None)), Geography(attributes=attributes)).fixed_cells()
    assert (found.cells, found.possible, found.records.yes) == cells
