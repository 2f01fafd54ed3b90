"""`dpspec catalogue`, `label`, `evidence` and `new deployment`, on files that are written here."""

from __future__ import annotations

import csv
import functools
import hashlib
import io
import json
import re
from fractions import Fraction
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner
from dpspec_deployments.label import label_data

import dpspec as dp
from dpspec import installed
from dpspec.base.errors import NoFormulaError
from dpspec.cli import main
from dpspec.plugin.applications import RiskNumbers, Standing, Word
from tests.cli.test_audience import grade

SPECS = Path(__file__).parents[3] / "specs"
HEAD = """\
schema = 1
id = "{id}"
title = "The release {id}"

[deployment]
publisher = {publisher}
product = "Product {id}"
year = {year}
{facts}

[[source]]
id = "paper"
title = "A paper"
publisher = {wrote}

[provenance]
space = {{ how = "{space}", {of_space} }}
input_divergence = {{ how = "stated", source = "paper" }}
output_divergence = {{ how = "stated", source = "paper" }}
budget = {{ how = "stated", source = "paper" }}
"""
BITS = """
[space]
type = "bit-vectors"
length = 2
[input_divergence]
type = "hamming-ordered"
[output_divergence]
type = "{standard}"
[budget]
{budget}
"""
ANSWERS = """
[mechanism]
type = "randomised-response"
keep_probability = "{keep}"
"""
OURS = 'because = "the categories are ours"'


def written(folder, id, *, publisher='"Agency"', year=2020, facts="", wrote='"Agency"', assumed=False, standard="mult",
            budget='epsilon = "ln(3)"', keep="3/4", rest="", blocks=None):  # fmt: skip
    space = {"space": "assumed", "of_space": OURS} if assumed else {"space": "stated", "of_space": 'source = "paper"'}
    text = HEAD.format(id=id, publisher=publisher, year=year, facts=facts, wrote=wrote, **space)
    text += BITS.format(standard=standard, budget=budget) if blocks is None else blocks
    text += ANSWERS.format(keep=keep) if keep else ""
    (folder / f"{id}.dpspec.toml").write_text(text + rest, encoding="utf-8")


@pytest.fixture(autouse=True)
def _one_process(request, monkeypatch):
    """Verdicts of a folder are computed in this process, as on a machine with one processor: two that import dpspec take a second
    for each command. One test has them."""
    if request.function is not test_csv_has_a_line_for_each:
        monkeypatch.setattr("dpspec.base.jobs.processors", lambda: 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("deployments")
    written(place, "proved", facts='trust = "local"\nuse = "surveys"')
    written(place, "stand-in", publisher='["Firm", "Other"]', year=2022, assumed=True, wrote='"A list"')
    written(place, "stronger", year=2023, budget='epsilon = "ln(2)"', keep="2/3")
    written(place, "false", budget='epsilon = "ln(2)"', rest='[claim]\nverdict = "refuted"\nbecause = "ln(3) is needed"\n')
    written(place, "wrong", publisher='"Firm"', budget='epsilon = "ln(2)"')
    written(place, "silent", publisher='"Firm"', budget="stated = false", keep=None, facts='period = "day"')
    written(place, "unchecked", publisher='"Firm"', keep=None, standard="d-nor", budget='rho = "2.63"', rest=EXPECTED)
    written(place, "leaves-out", rest='[[unaccounted]]\nstep = "a threshold"\neffect = "a gap tells a count"\n')
    written(place, "other-data", blocks=RECORDS, keep=None, assumed=True)
    (place / "plain.dpspec.toml").write_text('schema = 1\nid = "plain"\ntitle = "None"\n' + BITS.format(
        standard="mult", budget="epsilon = 1"), encoding="utf-8")  # fmt: skip
    return place


EXPECTED = """
[[expect]]
what = "right"
epsilon = "13.64"
tolerance = "0.01"
because = "printed to two decimals"
route = { type = "zcdp-to-approximate", rho = "2.63", delta = "1e-5" }
[[expect]]
what = "a misprint"
epsilon = "13.64"
corrected = "13.09"
tolerance = "0.01"
because = "printed to two decimals"
route = { type = "zcdp-to-approximate-bun-steinke", rho = "2.63", delta = "1e-5" }
"""
RECORDS = """
[space]
type = "records"
unit = "user-day"
most = 2
attributes = [{ name = "place", count = 2 }]
[multiverse]
invariants = [{ type = "marginal", unit = "user-day", attributes = ["place"] }]
[input_divergence]
type = "hamming"
unit = "user-day"
[output_divergence]
type = "mult"
[budget]
epsilon = 1
"""
COUNTS = """
[space]
type = "records"
attributes = [{ name = "place", count = 2 }]
[input_divergence]
type = "symmetric-difference"
[output_divergence]
type = "mult"
[budget]
epsilon = "ln(2)"
[mechanism]
type = "geometric"
ratio = "1/2"
queries = [{ type = "marginal", attributes = ["place"] }]
"""
VERDICTS = {
    "proved": "verified", "stand-in": "stand-in", "stronger": "verified", "false": "recorded", "wrong": "refuted",
    "silent": "not-stated", "unchecked": "unchecked", "leaves-out": "undecided", "other-data": "unchecked",
}  # fmt: skip


def ids(run, folder, *options):
    return {row["id"] for row in run("catalogue", folder, *options, "--format", "json").json("catalogue")["deployments"]}


def test_verdicts_are_computed_and_nothing_checked_never_holds(run, folder):
    data = run("catalogue", folder, "--format", "json").json("catalogue")
    assert {row["id"]: row["verdict"] for row in data["deployments"]} == VERDICTS
    assert data["left_out"] == 1
    page = run("catalogue", folder).out
    assert "9 deployments" in page.splitlines()[0]
    assert "holds" not in page


def test_the_verdict_follows_the_file_and_no_cache(run, folder, tmp_path):
    text = (folder / "proved.dpspec.toml").read_text(encoding="utf-8")
    copy = tmp_path / "proved.dpspec.toml"
    copy.write_text(text, encoding="utf-8")
    assert run("catalogue", copy, "--format", "json").json("catalogue")["tally"] == {"verified": 1}
    copy.write_text(text.replace("3/4", "4/5"), encoding="utf-8")
    assert run("catalogue", copy, "--format", "json").json("catalogue")["tally"] == {"refuted": 1}


def test_a_number_that_is_ours_or_false_is_not_ranked_above_a_published_one(run, folder):
    data = run("catalogue", folder, "--yardstick", "--format", "json").json("catalogue-yardstick")
    rows = [row for group in data["units"] for row in group["promises"]]
    found = {row["id"]: row for row in rows}
    assert found["false"]["group"] == "unranked"
    assert "known false" in found["false"]["claim"]
    assert found["silent"]["group"] == "unranked"
    assert found["proved"]["group"] == "published"
    for group in data["units"]:
        names = [row["group"] for row in group["promises"]]
        assert names == sorted(names, key=["published", "ours", "unranked"].index)
    text = run("catalogue", folder, "--yardstick").out
    assert text.index("proved") < text.index("false")
    least = run("catalogue", folder, "--at-least", "proved", "--format", "json").json("catalogue-at-least")
    answers = {row["id"]: row for row in least["answers"]}
    assert answers["stronger"]["claim"].startswith("claim ")
    assert answers["false"]["word"] in ("yes, but its claim is false, or compares nothing", "no")


def test_a_number_of_the_file_that_is_refuted_is_no_finite_claim(run, tmp_path):
    claim = '[claim]\nverdict = "refuted"\nbecause = "told for certain"\n'
    written(tmp_path, "ours", budget='epsilon = "1/2"', rest=claim)
    path = tmp_path / "ours.dpspec.toml"
    stated, assumed = 'budget = { how = "stated", source = "paper" }', 'budget = { how = "assumed", because = "ours" }'
    path.write_text(path.read_text().replace(stated, assumed))
    ran = run("catalogue", path, "--yardstick")
    assert "no finite claim" in ran.out
    assert "epsilon 0.5" not in ran.out


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--publisher", "agen"], {"proved", "stronger", "false", "leaves-out", "other-data"}),
        (["--publisher", "other"], {"stand-in"}),
        (["--year", "2022-2023"], {"stand-in", "stronger"}),
        (["--unit", "user-day"], {"other-data"}),
        (["--standard", "zCDP"], {"unchecked"}),
        (["--standard", "d-nor"], {"unchecked"}),
        (["--standard", "zero-concentrated-dp"], {"unchecked"}),
        (["--invariants", "some"], {"other-data"}),
        (["--invariants", "marginal"], {"other-data"}),
        (["--trust", "local"], {"proved"}),
        (["--verdict", "recorded", "--verdict", "refuted"], {"false", "wrong"}),
        (["--verdict", "verified"], {"proved", "stronger"}),
        (["--publisher", "nobody"], set()),
    ],
)
def test_filters(run, folder, options, wanted):
    assert ids(run, folder, *options) == wanted


def test_csv_has_a_line_for_each(run, folder):
    rows = list(csv.DictReader(io.StringIO(run("catalogue", folder, "--format", "csv").out)))
    assert {row["id"]: row["verdict"] for row in rows} == VERDICTS
    one = next(row for row in rows if row["id"] == "stand-in")
    assert (one["publisher"], one["provenance_space"], one["power_at_level_5_percent"]) == ("Firm; Other", "assumed", "0.15")
    assert next(row for row in rows if row["id"] == "unchecked")["numbers_misprint"] == "1"


def test_a_list_has_the_further_promises_of_a_product(run, tmp_path):
    """Of a product with two numbers, the list had the first one alone, and the data the title of the second."""
    part = '[[part]]\ntitle = "most people"\nshare = "1/2"\noutput_divergence = { type = "mult-delta", delta = "1/7" }\n'
    written(tmp_path, "survey", rest=part)
    assert ", and 1 more" in run("catalogue", tmp_path).out
    (row,) = csv.DictReader(io.StringIO(run("catalogue", tmp_path, "--format", "csv").out))
    assert row["parts"].startswith("most people, for 50 % of the units: epsilon = ln(3)")
    assert "delta = 1/7" in row["parts"]
    assert ";" not in row["parts"]


def test_the_power_in_csv_is_not_below_what_is_allowed(run, tmp_path):
    """At a likelihood ratio of 5/3 a test of level 1/20 has the power 1/12, which 0.0833333 is below."""
    written(tmp_path, "survey", budget='epsilon = "ln(5/3)"', keep=None)
    (row,) = csv.DictReader(io.StringIO(run("catalogue", tmp_path, "--format", "csv").out))
    assert Fraction(row["power_at_level_5_percent"]) >= Fraction(5, 3) / 20


def test_at_least_gives_a_reason_and_the_assumptions(run, folder):
    data = run("catalogue", folder, "--at-least", "proved", "--format", "json").json("catalogue-at-least")
    found = {row["id"]: row for row in data["answers"]}
    assert "proved" not in found
    assert found["stronger"]["word"] == "yes"
    assert "ln(2) <= ln(3)" in found["stronger"]["reason"]
    assert found["stand-in"]["word"] == "yes, as far as the assumed blocks are right"
    assert found["stand-in"]["rests_on"] == ["stand-in: space"]
    assert any("known false" in line for line in found["false"]["caveats"])
    assert any("a gap tells a count" in line for line in found["leaves-out"]["caveats"])
    assert found["other-data"]["word"] == "about other data"
    assert found["silent"]["answer"] != "implies"
    weaker = run("catalogue", folder, "--at-least", "stronger", "--format", "json")
    assert {row["id"]: row["word"] for row in weaker.json("catalogue-at-least")["answers"]}["proved"] == "no"


def test_a_pair_that_cannot_be_compared_leaves_the_others(run, folder, monkeypatch):
    from dpspec_deployments import functions

    real = functions.compared

    def fails(left, right, *rest):
        if left.id == "stand-in":
            raise NoFormulaError("space", "has no such unit", "name another")
        return real(left, right, *rest)

    monkeypatch.setattr(functions, "compared", fails)
    ran = run("catalogue", folder, "--at-least", "proved", "--format", "json")
    found = {row["id"]: row for row in ran.json("catalogue-at-least")["answers"]}
    assert (ran.code, found["stand-in"]["word"], found["stronger"]["word"]) == (3, "not decided", "yes")


@pytest.mark.slow
def test_order_ledger_and_yardstick(run, folder):
    order = run("catalogue", folder, "--order", "--verdict", "verified", "--format", "json").json("catalogue-order")
    assert len(order["orders"]) == 1
    assert "other-data" in run("catalogue", folder, "--order").out
    two = [folder / "proved.dpspec.toml", folder / "stronger.dpspec.toml"]
    total = run("catalogue", *two, "--ledger")
    assert "1.79176" in total.out  # ln(2) + ln(3)
    assert "no file states it" in total.out
    assert run("catalogue", folder, "--publisher", "Agency", "--ledger").code == 1  # a refuted part is not added
    data = run("catalogue", folder, "--yardstick", "--delta", "1e-5", "--format", "json").json("catalogue-yardstick")
    alone = ("catalogue", folder / "unchecked.dpspec.toml", "--yardstick", "--delta", "1e-6")  # alone: no cell is folded
    (unit,) = run(*alone, "--format", "json").json("catalogue-yardstick")["units"]
    limit = Fraction(unit["promises"][0]["epsilon"]["upper"])
    (printed,) = map(Fraction, re.findall(r"at most 0\.\d+ +at most ([\d.]+) +rho", run(*alone).out))
    assert limit < printed < limit + Fraction(1, 10**4)  # 13.7923 is the nearest decimal, and below it
    groups = {group["unit"]: [row["id"] for row in group["promises"]] for group in data["units"]}
    assert groups["user-day"] == ["other-data"]
    bits = next(group for group in data["units"] if len(group["promises"]) > 1)
    assert [row["id"] for row in bits["promises"]][-1] == "silent"  # no number: last, without power
    assert bits["promises"][-1]["power_at_level_5_percent"] is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--order", "--ledger"], "ask one"),
        (["--delta", "1e-5"], "belongs to --yardstick"),
        (["--order", "--format", "csv"], "csv is of lists"),
        (["--yardstick", "--delta", "2"], "delta"),
        (["--year", "20"], "must be a year"),
        (["--year", "2021-2020"], "must be a year"),
        (["--standard", "privacy"], "no output divergence"),
        (["--at-least", "provd"], "did you mean proved"),
    ],
)
def test_bad_questions(run, folder, options, words):
    ran = run("catalogue", folder, *options)
    assert ran.code == 2
    assert words in ran.err


def test_spaces_that_know_nothing_of_each_other_are_compared(run, specs, tmp_path):
    """Invariants of one space were asked of datasets of another, which ended with a fault."""
    for name, unit in (("a", "person"), ("b", "household")):
        (tmp_path / f"{name}.dpspec.toml").write_text(
            f'schema = 1\nid = "{name}"\ntitle = "{name}"\n'
            + (HOUSEHOLDS if unit == "household" else RECORDS.replace("user-day", "person")),
            encoding="utf-8",
        )
    assert run("compare", tmp_path / "a.dpspec.toml", tmp_path / "b.dpspec.toml").code in (0, 3)


HOUSEHOLDS = """
space = { type = "households", household = [{ name = "state", count = 2 }], person = [{ name = "age", count = 2 }] }
multiverse = { invariants = [{ type = "marginal", unit = "person", attributes = ["state"] }] }
input_divergence = { type = "hamming", unit = "person" }
output_divergence = { type = "d-nor" }
budget = { rho = "2.56" }
"""


# --- labels ---------------------------------------------------------------------------------------


def said(run, folder, id):
    data = run("label", folder / f"{id}.dpspec.toml", "--format", "json").json("label")
    return {section["heading"]: " ".join(section["sentences"]) for section in data["sections"]}


@pytest.mark.slow
def test_a_label_says_what_was_checked_and_no_more(run, folder):
    assert "keeps its promise" in said(run, folder, "proved")["Was it checked?"]
    assert "program was not checked" in said(run, folder, "proved")["Was it checked?"]
    assert "data of a form that we made up" in said(run, folder, "stand-in")["Was it checked?"]
    assert "known to be false" in said(run, folder, "false")["Was it checked?"]
    assert "No one has checked" in said(run, folder, "unchecked")["Was it checked?"]
    assert "a gap tells a count" in said(run, folder, "leaves-out")["What the promise does not cover"]
    assert "could not verify this promise" in said(run, folder, "leaves-out")["Was it checked?"]


def test_a_label_of_a_false_promise_says_so_before_any_limit(run, folder):
    page = run("label", folder / "false.dpspec.toml").out
    assert page.index("known to be false") < page.index("of 100 cases")
    assert "known to break the promise" in page


def test_nothing_is_blurred_where_nothing_may_be_told(run, tmp_path):
    written(tmp_path, "none", budget="epsilon = 0", keep="1/2")
    page = run("label", tmp_path / "none.dpspec.toml").out
    assert "looks the same for both ideas" in " ".join(page.split())
    assert "random noise" not in page


@pytest.mark.parametrize(
    ("standard", "budget", "said"),
    [("d-nor", "rho = 300", "practically no limit"), ("mult", "epsilon = 30", "practically no limit"),
     ("mult", "epsilon = inf", "no limit")],
)  # fmt: skip
def test_a_limit_that_is_there_is_not_called_none(run, tmp_path, standard, budget, said):
    """Of rho = 300 one page said that there is practically no limit, and that there is none."""
    path = tmp_path / "weak.dpspec.toml"
    path.write_text(
        'schema = 1\nid = "weak"\ntitle = "Weak"\nspace = { type = "bit-vectors", length = 1 }\n'
        f'input_divergence = {{ type = "hamming-ordered" }}\noutput_divergence = {{ type = "{standard}" }}\n'
        f"budget = {{ {budget} }}\n",
        encoding="utf-8",
    )
    label = " ".join(run("label", path).out.split())
    assert f"Right guesses in 100, with at most 5 wrong: {said} if the promise is kept" in label
    assert ("sets practically no limit here" in label) is (said != "no limit")
    technical = " ".join(run("explain", path, "--audience", "technical").out.split())
    assert ("practically no limit: at most 1" in technical) is ("sets no limit here" not in technical) is (said != "no limit")


def test_facts_are_the_publishers_only_where_every_source_is(run, folder, tmp_path):
    text = (folder / "proved.dpspec.toml").read_text(encoding="utf-8")
    two = text.replace("[provenance]", '[[source]]\nid = "list"\ntitle = "A list"\n\n[provenance]')
    (tmp_path / "proved.dpspec.toml").write_text(two, encoding="utf-8")
    _, own = gathered(run, folder, "proved", tmp_path / "own")
    _, mixed = gathered(run, tmp_path, "proved", tmp_path / "mixed")
    assert marks(own, "trust")["model"] == ("stated by the publisher", None)
    assert marks(mixed, "trust")["model"] == ("stated by others", None)
    assert marks(mixed, "budget")["budget"] == ("stated by the publisher", None)


def test_what_a_unit_stands_for_is_told_to_people(run, tmp_path):
    facts = 'units = { record = "user-day" }'
    written(tmp_path, "aliased", blocks=ALIASED, facts=facts, keep=None)
    page = said(run, tmp_path, "aliased")
    assert "one user from one day" in page["Who is protected"]
    assert "user-week" in page["The number"]
    assert "a household here is" not in " ".join(page.values())
    assert ids(run, tmp_path, "--unit", "user-day") == {"aliased"}


ALIASED = RECORDS.replace('unit = "user-day"', 'unit = "record"')


def test_a_limit_for_a_longer_time_is_rounded_up(run, tmp_path):
    """It amounted to "at most epsilon is about 7.691": 7 ln(3) is 7.6903."""
    weak = ALIASED.replace("epsilon = 1", 'epsilon = "ln(3)"')
    written(tmp_path, "daily", facts='units = { record = "user-day" }', blocks=weak, keep=None)
    assert "For one user-week it amounts to at most epsilon = 7.691." in said(run, tmp_path, "daily")["The number"]


def test_a_label_without_a_number_names_none(run, folder):
    page = said(run, folder, "silent")
    assert "No number" in page["The number"]
    assert "of 100 cases" not in " ".join(page.values())
    assert "renewed after every day" in page["The number"]
    told = run("explain", folder / "silent.dpspec.toml", "--audience", "public")
    assert told.code == 0
    assert "no number published" in told.out


def test_a_label_of_a_unit_with_a_time(run, folder):
    page = said(run, folder, "other-data")
    assert "one user from one day" in page["Who is protected"]
    assert "user-day by place" in page["What is published exactly"]
    assert "what data there are" in page["What is not said"]


ONE_SIDED = """
[space]
type = "records"
most = 2
attributes = [{ name = "kind", categories = ["open", "secret"] }]
[multiverse]
type = "strata"
attribute = "kind"
[input_divergence]
type = "one-sided"
attribute = "kind"
sensitive = ["secret"]
[output_divergence]
type = "mult-one-way"
[budget]
type = "by-part"
parameter = "epsilon"
values = [{ part = "open", value = 1 }, { part = "secret", value = 2 }]
"""


def test_a_label_protects_no_records_that_a_policy_leaves_out_and_names_no_facts_where_none_are_published(run, tmp_path):
    written(tmp_path, "policy", blocks=ONE_SIDED, keep=None)
    page = said(run, tmp_path, "policy")
    assert "protects what the data hold" not in page["Who is protected"]
    assert "which of them count" in page["Who is protected"]
    assert "published exactly" not in page["The number"]
    assert "lists" not in page["What is published exactly"]


def test_the_limits_of_a_label_are_about_ideas_that_no_published_fact_tells_apart(run, folder, tmp_path):
    total = RECORDS.replace('unit = "user-day", attributes = ["place"]', 'unit = "user-day", attributes = []')
    written(tmp_path, "total", blocks=total.replace('type = "hamming"', 'type = "symmetric-difference"'), keep=None)
    assert "that the promise compares:" in said(run, tmp_path, "total")["What someone can find out about you"]
    assert "or less:" in said(run, folder, "proved")["What someone can find out about you"]


DEPLOYMENTS = Path(__file__).parents[3] / "specs" / "deployments"
NOTATION = {
    "a command": r"\bdpspec [a-z]|--[a-z]",
    "a tuple or a repr": r"\(\(|\)\)|, \)|\b(?:None|True|False)\b|<[a-z]|\bNumber\(|\w+=\w",
    "an interval": r"\[[^\]]*,[^\]]*\]|\binf\b|\bnan\b",
    "a long fraction": r"\d{7}|\d/\d",
    "a formula": r"\bln\(|\bsqrt\(",
    "a registered budget or invariant": r"\bs2[34]\b|s23-full|what \S+ can publish",
}


@functools.cache
def public_pages():
    """Every label of the catalogue without what its file says in its own words: title, product, steps, sources, attributes."""
    pages = []
    for path in sorted(DEPLOYMENTS.rglob("*.dpspec.toml")):
        document = dp.read(path)
        data = label_data(document, Standing(word=Word.UNDECIDED, reason="of the test"), RiskNumbers(rows=()))
        pages.append((document, {one["heading"]: one["sentences"] for one in data["sections"]}))
    return pages


@pytest.mark.long
def test_no_label_has_commands_names_of_the_program_or_notation():
    registered = {name for kind in ("mechanisms", "output_divergences", "invariants", "multiverses", "budgets")
                  for name in installed().registry.names(kind) if "-" in name}  # fmt: skip
    assert len(public_pages()) > 100
    for document, sections in public_pages():
        own = ("What it is", "What the promise does not cover")
        text = "\n".join(line for heading, lines in sections.items() if heading not in own for line in lines)
        text = text.replace(document.spec.budget.unpublished() or "\0", "")
        found = [f"{what}: {hit[0]}" for what, pattern in NOTATION.items() for hit in re.finditer(pattern, text)]
        found += registered.intersection(re.findall(r"[\w-]+", text))
        assert not found, (document.id, found)


def test_what_is_not_said_takes_few_lines():
    assert max(len(sections["What is not said"]) for _, sections in public_pages()) <= 5


def test_labels_are_read_in_grade_8():
    grades = []
    for _, sections in public_pages():
        own = ("What it is", "What the promise does not cover", "What is published exactly")
        lines = [line.lstrip("- ") for heading, lines in sections.items() if heading not in own for line in lines]
        grades.append(grade(" ".join(lines)))
    assert max(grades) <= 8


def test_a_label_as_html_needs_nothing_and_obeys_nothing(run, folder, tmp_path):
    written(tmp_path, "nasty", publisher='"<script>alert(1)</script>"', facts='use = "a & b"')
    page = run("label", tmp_path / "nasty.dpspec.toml", "--format", "html").out
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert not re.search(r"https?:|src=|url\(", page)
    assert "default-src 'none'" in page


# --- evidence -------------------------------------------------------------------------------------


def gathered(run, folder, id, out):
    ran = run("evidence", folder / f"{id}.dpspec.toml", "--out", out, "--format", "json")
    return ran, ran.json("evidence")["evidence"]


def marks(data, level):
    return {row["what"]: (row["mark"], row["holds"]) for row in data["lines"] if row["level"] == level}


def test_evidence_marks_what_is_known_and_how(run, folder, tmp_path):
    ran, data = gathered(run, folder, "proved", tmp_path / "a")
    assert ran.code == 0
    assert marks(data, "correctness")["claim"] == ("proved", True)
    assert not [row for row in data["lines"] if "of the mechanism alone" in row["says"]]
    tuned = (folder / "proved.dpspec.toml").read_text(encoding="utf-8")  # the folder is shared: a copy beside
    path = tmp_path / "proved.dpspec.toml"
    path.write_text(f'{tuned}\n[[unaccounted]]\nstep = "tuning"\neffect = "the bound"\n', encoding="utf-8")
    ran, told = gathered(run, tmp_path, "proved", tmp_path / "d")
    assert ran.code == 3
    assert "of the mechanism alone: 1 step of the release" in next(row["says"] for row in told["lines"] if row["what"] == "claim")
    assert marks(data, "budget")["budget"] == ("stated by the publisher", None)
    assert marks(data, "utility")["error: mechanism randomised-response"] == ("not stated", None)
    assert set(json.loads((tmp_path / "a" / "evidence.json").read_text())["evidence"]["marks"]) == set(data["marks"])
    _, other = gathered(run, folder, "stand-in", tmp_path / "b")
    assert marks(other, "budget")["budget"] == ("stated by others", None)  # a list is not the publisher
    assert marks(other, "definition")["data"] == ("not stated", None)
    assert "stand-in" in next(row["says"] for row in other["lines"] if row["what"] == "claim")
    assert other["standing"]["sentence"].endswith("; about the space of the file, in place of what is not published")
    assert "in place of" not in data["standing"]["sentence"]
    _, none = gathered(run, folder, "unchecked", tmp_path / "c")
    assert "proved" not in {row["mark"] for row in none["lines"]}
    assert marks(none, "budget")["right"] == ("recomputed", True)
    assert marks(none, "budget")["a misprint"] == ("recomputed", False)


def test_evidence_lists_what_each_verdict_assumes(run, folder, tmp_path):
    """Claims were marked as proved, and only verify.json named the conditions."""
    for place, path in enumerate((folder / "proved.dpspec.toml", SPECS / "mechanisms" / "composed-two.dpspec.toml")):
        data = run("evidence", path, "--out", tmp_path / str(place), "--format", "json").json("evidence")["evidence"]
        verdicts = [one["verdict"] for one in run("verify", path, "--format", "json").json("verify")["files"][0]["obligations"]]
        assumed = dict.fromkeys(text for verdict in verdicts if verdict is not None for text in verdict["assumptions"])
        told = [row for row in data["lines"] if row["what"] == "what the verdicts assume"]
        assert [(row["mark"], row["says"]) for row in told] == [("not stated", f"not shown: {text}") for text in assumed]
        assert len(told) == 1 + place


def test_a_refutation_has_a_witness_that_replays(run, folder, tmp_path):
    ran, data = gathered(run, folder, "false", tmp_path / "e")
    assert ran.code == 6
    row = next(row for row in data["lines"] if row["what"] == "claim")
    assert (row["mark"], row["holds"]) == ("proved", False)
    assert run("verify", "--replay", tmp_path / "e" / row["file"]).code == 1
    for line in (tmp_path / "e" / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((tmp_path / "e" / name).read_bytes()).hexdigest() == digest


def test_what_samples_show_is_not_proved(run, folder, tmp_path, monkeypatch):
    """A verdict of drawn outputs may be wrong, however rarely."""
    from dpspec_deployments import evidence

    real = evidence.verify_document

    def drawn(document, **options):
        report = real(document, **options)
        ours = [attrs.evolve(one, verdict=attrs.evolve(one.verdict, method="sampled")) for one in report.obligations]
        return attrs.evolve(report, obligations=tuple(ours))

    monkeypatch.setattr(evidence, "verify_document", drawn)
    _, data = gathered(run, folder, "wrong", tmp_path / "f")
    assert marks(data, "correctness")["claim"] == ("recomputed", False)


@pytest.mark.parametrize(
    ("others", "mark", "holds"),
    [
        (("rechecked", "rechecked"), "recomputed", True),
        (("not rechecked", "rechecked"), "recomputed", None),
        (("wrong", "rechecked"), "recomputed", False),
        (("wrong", "not rechecked"), "recomputed", False),
    ],
)
def test_a_proof_of_which_a_step_is_open_does_not_hold_and_only_a_wrong_one_is_false(
    run, tmp_path, monkeypatch, others, mark, holds
):  # fmt: skip
    row, page = proof_line(run, tmp_path, monkeypatch, ("rechecked", *others))
    assert (row["mark"], row["holds"], row["says"][:6]) == (mark, holds, f"{1 + others.count('rechecked')} of 3")
    assert ("| recomputed, and not as stated |" in page) is (holds is False)


def test_a_proof_of_which_nothing_was_rechecked_is_not_called_recomputed(run, tmp_path, monkeypatch):
    row, page = proof_line(run, tmp_path, monkeypatch, ("not rechecked",))
    assert (row["mark"], row["holds"], row["says"][:6]) == ("stated by others", None, "0 of 1")
    assert "and not as stated" not in page


def proof_line(run, tmp_path, monkeypatch, statuses):
    """The line of evidence on a proof whose steps the checker finds so, and the page."""
    from dpspec_checker.check import CheckedStep
    from dpspec_deployments import evidence

    steps = [CheckedStep(rule=str(n), status=status, reason="") for n, status in enumerate(statuses)]
    monkeypatch.setattr(evidence, "check_proof", lambda row: steps)
    written(tmp_path, "counts", keep=None, blocks=COUNTS)
    _, data = gathered(run, tmp_path, "counts", tmp_path / "f")
    (row,) = (row for row in data["lines"] if row["what"].endswith(": proof"))
    return row, (tmp_path / "f" / "README.md").read_text(encoding="utf-8")


PART = """
[[part]]
title = "the south alone"
output_divergence = { type = "mult-delta", delta = "1/100" }
budget = { epsilon = "1/2" }
input_divergence = { type = "hamming" }
multiverse = { invariants = [{ type = "marginal", attributes = ["place"] }] }
mechanism = { type = "geometric", ratio = "2/3", queries = [{ type = "marginal", attributes = ["place"] }] }
"""


def test_a_further_promise_keeps_its_delta_its_unit_and_its_facts_on_every_page(run, tmp_path):
    """Its number was printed after the standard of the first promise, as if it were pure."""
    facts = 'region = "Global"\nkind = "statistics"\nuse = "Planning"'
    written(tmp_path, "counts", keep=None, blocks=COUNTS, rest=PART, facts=facts)
    path = tmp_path / "counts.dpspec.toml"
    _, data = gathered(run, tmp_path, "counts", tmp_path / "f")
    label = said(run, tmp_path, "counts")
    run("report", path, "--out", tmp_path / "report.md")
    run("registry", "export", path, "--author", "A", "--out", tmp_path / "record.yaml")
    lines = {
        "evidence": next(row["says"] for row in data["lines"] if (row["level"], row["what"][:5]) == ("budget", "part:")),
        "label": label["The number"],
        "report": (tmp_path / "report.md").read_text(encoding="utf-8"),
        "compare": run("compare", path, path).out,
        "record": (tmp_path / "record.yaml").read_text(encoding="utf-8"),
    }
    for page, text in lines.items():
        flat = " ".join(text.split())
        line = flat[flat.index("epsilon = 0.5") :]
        for words in ("delta = 0.01", "one person replaced by another", "person by place"):
            assert words in line, (page, words)
    several = "The file describes more than one release. The limits here are those of the first one alone."
    assert several in label["What someone can find out about you"]
    assert several in " ".join(run("explain", path, "--audience", "public").out.split())
    written(tmp_path, "shared", keep=None, blocks=COUNTS, rest=PART[: PART.index("mechanism")])
    assert several not in said(run, tmp_path, "shared")["What someone can find out about you"]


@pytest.mark.parametrize(
    ("space", "mechanism", "whose"),
    [
        ("stated", "stated", "for this release."),
        ("stated", "assumed", "for the release that we made up."),
        ("assumed", "assumed", "for the release that we made up."),
        ("assumed", "stated", "for this release on data that we made up."),
    ],
)
def test_what_a_stand_in_discloses_is_not_said_of_the_real_release(run, tmp_path, space, mechanism, whose):
    written(tmp_path, "counts", keep=None, blocks=COUNTS)
    path = tmp_path / "counts.dpspec.toml"
    how = {"stated": 'how = "stated", source = "paper"', "assumed": 'how = "assumed", because = "of the test"'}
    text = path.read_text(encoding="utf-8").replace('space = { how = "stated", source = "paper" }', f"space = {{ {how[space]} }}")
    path.write_text(text.replace("budget = { how", f"mechanism = {{ {how[mechanism]} }}\nbudget = {{ how"), encoding="utf-8")
    found = said(run, tmp_path, "counts")["What someone can find out about you"]
    own = [line for line in found.split(" - ") if "at least" in line]
    assert own
    assert all(line.endswith(whose) for line in own), own


def test_a_label_drops_no_parameter_of_a_standard_in_silence(run, tmp_path):
    """A delta of 1/4 means nothing without the epsilon of a hockey-stick divergence."""
    for number, words in (("1", " at epsilon = 1."), ("ln(3)", ", as the file defines it.")):
        blocks = BITS.format(standard=f'hockey-stick"\nepsilon = "{number}', budget='delta = "1/4"')
        written(tmp_path, "bits", keep=None, blocks=blocks)
        assert f"It is measured by hockey-stick divergence{words}" in said(run, tmp_path, "bits")["The number"]


def test_evidence_is_whole_or_not_at_all(run, folder, tmp_path, monkeypatch):
    taken = tmp_path / "taken"
    taken.mkdir()
    ran = run("evidence", folder / "proved.dpspec.toml", "--out", taken)
    assert ran.code == 2
    assert "exists already" in ran.err
    assert list(taken.iterdir()) == []
    real, calls = Path.write_bytes, []

    def full(self, content):
        calls.append(self)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        return real(self, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    ran = run("evidence", folder / "proved.dpspec.toml", "--out", tmp_path / "new")
    assert ran.code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["taken"]


def test_evidence_is_the_same_twice_and_names_no_place(run, folder, tmp_path):
    texts = []
    for name in ("one", "two"):
        gathered(run, folder, "false", tmp_path / name)
        texts.append({path.name: path.read_bytes() for path in (tmp_path / name).rglob("*") if path.is_file()})
    assert texts[0] == texts[1]
    assert not any(str(folder).encode() in content for content in texts[0].values())


# --- a new file -----------------------------------------------------------------------------------


def begin(tmp_path, answers):
    words = ["new", "deployment", "mine", "--dir", str(tmp_path)]
    return CliRunner().invoke(main, words, input="\n".join(answers) + "\n", prog_name="dpspec")


ASKED = ["Agency", "Counts", "2024-02", "", "statistics", "central", "", "", "year", "A paper", "https://example.org/x", "yes"]


def test_a_new_deployment_is_a_file_that_says_what_is_known(run, tmp_path):
    answers = [*ASKED, "", "age, sex", "some", "hamming", "stated", "mult-delta", "1e-6", "inferred", "1.5", "stated", "a talk"]
    assert begin(tmp_path, answers).exit_code == 0
    path = tmp_path / "mine.dpspec.toml"
    assert run("check", path).code == 0
    data = run("catalogue", path, "--format", "json").json("catalogue")["deployments"][0]
    assert data["provenance"] == {
        "space": "assumed", "multiverse": "assumed", "input_divergence": "stated", "output_divergence": "inferred",
        "budget": "stated",
    }  # fmt: skip
    assert "a talk" in path.read_text(encoding="utf-8")
    assert begin(tmp_path, answers).exit_code == 2  # never written over


def test_what_nobody_answers_is_not_guessed(run, tmp_path):
    assert begin(tmp_path, [*ASKED, *[""] * 20]).exit_code == 0
    data = run("catalogue", tmp_path / "mine.dpspec.toml", "--format", "json").json("catalogue")["deployments"][0]
    assert data["verdict"] == "not-stated"
    assert set(data["provenance"].values()) == {"assumed"}


@pytest.mark.parametrize("answers", [["", "Counts"], ["Agency", "Counts", "2024-02-30", *ASKED[3:], *[""] * 20]])
def test_a_bad_answer_writes_nothing(tmp_path, answers):
    assert begin(tmp_path, answers).exit_code == 2
    assert list(tmp_path.iterdir()) == []


IN_ONE_DIRECTION = """schema = 1
id = "one-sided"
title = "Sensitive answers"
space = { type = "records", attributes = [{ name = "sex", categories = ["f", "m"] }], most = 2 }
input_divergence = { type = "one-sided", attribute = "sex", sensitive = ["f"] }
output_divergence = { type = "mult-one-way" }
budget = { epsilon = 1 }
"""


def test_a_label_refers_to_the_file_for_changes_that_it_does_not_name(run, tmp_path):
    """It said *below*, where it says that one change is as the file defines it."""
    path = tmp_path / "one-sided.dpspec.toml"
    path.write_text(IN_ONE_DIRECTION, encoding="utf-8")
    text = " ".join(run("label", path).out.split())
    assert "one change as the file defines it" in text
    assert "The file says which of them count." in text
    assert "It is said below" not in text


def test_a_label_writes_bounds_of_a_number_without_notation(run, tmp_path):
    """*epsilon from ln(2) to ln(3)* on a page for the people in the data."""
    path = tmp_path / "one-sided.dpspec.toml"
    for bounds, told in (
        (
            '{ at_least = { epsilon = "ln(2)" }, at_most = { epsilon = "ln(3)" } }',
            "epsilon from about 0.6931 to about 1.099, for",
        ),
        ('{ at_most = { epsilon = "ln(3)" } }', "epsilon at most about 1.099, for"),
        ("{ at_least = { epsilon = 1 }, at_most = { epsilon = 2 } }", "epsilon from 1 to 2, for"),
    ):
        path.write_text(IN_ONE_DIRECTION.replace("{ epsilon = 1 }", bounds), encoding="utf-8")
        assert told in " ".join(run("label", path).out.split())
