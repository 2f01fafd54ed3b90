"""Output checking: what is broken is found and named, nothing else is, and nothing confidential is told."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from dpspec_disclosure.outputs import CellJudge, check_outputs
from dpspec_disclosure.rule_steps import (
    CellContents,
    PerturbationStep,
    RandomRoundingStep,
    RedactionStep,
    RoundingStep,
    ThresholdStep,
)
from dpspec_disclosure.rules import PublishedColumns, RuleFile, read_rules

from dpspec.base.errors import DpspecError, Faults
from dpspec.base.words import Word
from dpspec.cli import main
from dpspec.report import json as report

SPECS = Path(__file__).parents[3] / "specs" / "rules"
REDACTED = read_rules(SPECS / "redact-7-round-5.rules.toml")


def rules(*steps, kind="counts", **columns) -> RuleFile:
    return RuleFile(path="", id="rules", title="rules", kind=kind, steps=steps, columns=PublishedColumns(**columns))


def write(folder: Path, text: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def broken(folder: Path, chain: RuleFile) -> list[tuple[int, int, str, tuple[int, ...]]]:
    (table,) = check_outputs(folder, chain).tables
    assert table.broken_cells == len(table.broken)
    return [(one.line, one.row, one.column, one.steps) for one in table.broken]


# --- what is broken -------------------------------------------------------------------------------


def test_each_broken_number_is_named_with_its_steps(tmp_path):
    write(tmp_path, "\ufeffarea,men,women\nn,10,x\ns,12,0\n\nw,5,3\ne, 15.0 ,x\n")
    assert broken(tmp_path, REDACTED) == [
        (3, 2, "men", (1,)),
        (3, 2, "women", (0,)),
        (5, 3, "men", (0,)),
        (5, 3, "women", (0, 1)),
    ]


CHAINS = [
    (RedactionStep(up_to=7), RoundingStep(base=5)),
    (RoundingStep(base=5), RedactionStep(up_to=5, least=1)),
    (ThresholdStep(least=10), RandomRoundingStep(base=3)),
    (RoundingStep(base=2), RoundingStep(base=3), ThresholdStep(least=4)),
    (RoundingStep(base=6, to="midpoint"),),
]


@pytest.mark.parametrize("steps", CHAINS)
def test_a_number_breaks_the_rules_where_no_count_is_published_so(steps):
    """Against every count up to 400; and what is left out allows the number, while nothing smaller does."""
    chain = rules(*steps)
    judge = CellJudge(chain)
    places = range(len(steps))
    skips = [frozenset(some) for size in range(len(steps) + 1) for some in itertools.combinations(places, size)]
    possible = {skip: {y for n in range(250) for y in chain.outcomes(CellContents.of_count(n, 0), skip)} for skip in skips}
    for number in range(200):
        found = judge.of_number(number)
        assert (found is None) == (number in possible[frozenset()])
        if found is not None:
            assert len(found) == min(len(skip) for skip in skips if number in possible[skip])
            assert number in possible[frozenset(found)]


@pytest.mark.parametrize("steps", CHAINS)
def test_with_the_count_beside_it_a_number_must_be_that_of_its_count(steps, tmp_path):
    chain = rules(*steps, published="shown", contributors="n")
    rows, wrong = [], []
    for n, number in itertools.product(range(25), range(30)):
        rows.append(f"a,{number},{n}")
        if number not in chain.outcomes(CellContents.of_count(n, 0)):
            wrong.append(len(rows))
    write(tmp_path, "area,shown,n\n" + "\n".join(rows) + "\n")
    (table,) = check_outputs(tmp_path, chain).tables
    assert [one.row for one in table.broken] == wrong


MAGNITUDES = """\
schema = 1
id = "m"
title = "M"
kind = "magnitudes"
[tables]
published = "value"
contributors = "n"
total = "sum"
largest = ["x1", "x2"]
[[step]]
rule = "threshold"
least = 3
[[step]]
rule = "p-percent"
percent = 20
[[step]]
rule = "rounding"
base = 10
"""


def test_a_cell_that_is_redacted_for_its_changed_value_must_be_protected(tmp_path):
    """A count of 3 is published as 2, which is redacted, or as 4; the total and the other count give it away."""
    redacted = RedactionStep(up_to=2, least=1)
    changed = PerturbationStep(file="p.csv", changes=(*(frozenset({0}),) * 3, frozenset({-1, 1}), frozenset({0})))
    chain = rules(changed, redacted, labels=("area",), published="n", contributors="true")
    write(tmp_path, "area,n,true\nA,x,3\nB,5,5\nTotal,8,8\n")
    (table,) = check_outputs(tmp_path, chain).tables
    assert table.word is Word.REFUTED
    assert [cell.status for cell in table.exposed] == ["recomputed"]


def test_what_must_be_protected_is_what_the_steps_redact():
    redacted, cells = RedactionStep(up_to=4, least=1), [CellContents.of_count(count, 0) for count in range(12)]
    sensitive = {
        "alone": (redacted,),
        "rounded up before": (RoundingStep(base=5, to="up"), redacted),
        "rounded down before": (RoundingStep(base=3, to="down"), redacted),
        "rounded at random before": (RandomRoundingStep(base=5), redacted),
        "redacted before": (RedactionStep(up_to=2), redacted),
    }
    found = {
        name: [count for count, cell in enumerate(cells) if rules(*steps).missing(cell)] for name, steps in sensitive.items()
    }
    assert found == {
        "alone": [1, 2, 3, 4],
        "rounded up before": [],
        "rounded down before": [3, 4, 5],
        "rounded at random before": [],
        "redacted before": [0, 1, 2, 3, 4],
    }
    for name, steps in sensitive.items():
        assert found[name] == [count for count, cell in enumerate(cells) if None in rules(*steps).outcomes(cell)]


def test_magnitudes_with_their_largest_contributions(tmp_path):
    path = write(tmp_path, MAGNITUDES, "m.rules.toml")
    table = "area,value,n,sum,x1,x2\n"
    table += "a,80,3,80,60,10\nb,80,4,80,60,9\nc,60,2,60,30,30\nd,x,2,60,30,30\ne,70,4,80,60,8\nf,0,0,0,,\ng,100,3,100,10,80\n"
    write(tmp_path / "tables", table)
    # a: 10 < 12, b: 11 < 12, e: 12 is not, and 80 is published as 80, whatever is left out; g: the largest first or not, 10 < 16
    assert broken(tmp_path / "tables", read_rules(path)) == [
        (2, 1, "value", (1,)), (3, 2, "value", (1,)), (4, 3, "value", (0, 1)), (6, 5, "value", ()), (8, 7, "value", (1,)),
    ]  # fmt: skip


def test_without_contents_the_primary_rules_are_not_judged(tmp_path):
    write(tmp_path, "area,value\na,10\n")
    assert check_outputs(tmp_path, read_rules(SPECS / "p-percent-20.rules.toml")).word is Word.UNCHECKED
    partly = rules(ThresholdStep(least=3), RoundingStep(base=10), kind="magnitudes")
    found = check_outputs(tmp_path, partly)
    assert (found.word, found.tables[0].unjudged) == (Word.UNDECIDED, (0,))
    write(tmp_path, "area,value\na,11\n")
    assert check_outputs(tmp_path, partly).word is Word.REFUTED


def test_nothing_to_judge_is_not_that_it_holds(tmp_path):
    write(tmp_path, "area,value\n")
    assert check_outputs(tmp_path, REDACTED).word is Word.UNCHECKED
    write(tmp_path, "area,value\na,10\n", "other.csv")
    assert check_outputs(tmp_path, REDACTED).word is Word.UNCHECKED


def test_folders_inside_are_checked_and_other_files_are_named(tmp_path):
    write(tmp_path, "area,value\na,10\n")
    write(tmp_path, "area,value\na,3\n", "deep/er/other.CSV")
    write(tmp_path, "hello", "note.txt")
    found = check_outputs(tmp_path, REDACTED)
    assert [(Path(table.path).name, table.word) for table in found.tables] == [
        ("other.CSV", Word.REFUTED),
        ("table.csv", Word.HOLDS),
    ]
    assert [Path(path).name for path in found.passed_over] == ["note.txt"]


def test_a_large_table_of_many_numbers(tmp_path):
    """20,000 cells, all numbers different, one of them wrong."""
    numbers = [5 * (n + 2) for n in range(20_000)]
    numbers[14_321] += 1
    rows = [",".join(map(str, ["a", *numbers[start : start + 10]])) for start in range(0, len(numbers), 10)]
    write(tmp_path, "area," + ",".join(f"c{n}" for n in range(10)) + "\n" + "\n".join(rows) + "\n")
    assert broken(tmp_path, REDACTED) == [(1434, 1433, "c1", (1,))]


# --- tables that cannot be read -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("area,v\na,ten\n", 2, "row 1, column v: is no number"),
        ("area,v\na,1.5\n", 2, "is no whole number"),
        ("area,v\na,-5\n", 2, "is negative"),
        ("area,v\na,\n", 2, "is empty"),
        ("area,v\na,nan\n", 2, "is no number"),
        ("area,v\na,1e5\n", 2, "is no number"),
        ("area,v\na,٣\n", 2, "is no number"),
        ("area,v\na,1" + "0" * 30 + "\n", 2, "more than 18 digits"),
        ("area,v\na,10,3\n", 2, "3 fields instead of 2"),
        ("area,v\na\n", 2, "1 fields instead of 2"),
        ("area,v,v\na,1,1\n", 1, "names a column twice"),
        ("area,,v\na,1,1\n", 1, "column without a name"),
        ("area\na\n", 1, "no column of numbers"),
        ("", 1, "header: is missing"),
        ("\n\n", 1, "header: is missing"),
        (b"\xff\xfea\x00", None, "UTF-16"),
        (b"area,v\na,\xe9\n", 2, "not UTF-8"),
        (b"area,v\na,\x00\n", 2, "zero byte"),
        ("\ufeff\ufeffarea,v\na,10\n", 1, "byte order mark"),
        ('area,v\na,"10\n', None, "is no CSV"),
    ],
)  # fmt: skip
def test_faults_of_tables(tmp_path, content, line, words):
    path = write(tmp_path, content)
    with pytest.raises(DpspecError, match=words) as caught:
        check_outputs(tmp_path, REDACTED)
    assert (caught.value.file, caught.value.line, caught.value.exit_code) == (str(path), line, 2)


def test_no_value_of_a_table_is_told(tmp_path):
    write(tmp_path, "area,v\na,4711\nb,83.19\nc,-5512\nd,secret\n")
    ran = CliRunner().invoke(main, ["rules", "check", str(tmp_path), "--rules", str(SPECS / "redact-7-round-5.rules.toml")])
    assert ran.exit_code == 2
    write(tmp_path, "area,v\na,4711\n")
    more = CliRunner().invoke(main, ["rules", "check", str(tmp_path), "--rules", str(SPECS / "redact-7-round-5.rules.toml")])
    assert more.exit_code == 1
    assert not any(word in ran.output + more.output for word in ("4711", "83.19", "5512", "secret"))


def test_all_tables_tell_their_faults_and_none_floods(tmp_path):
    write(tmp_path, "area,v\n" + "a,?\n" * 100)
    write(tmp_path, "area,v\na,?\n", "other.csv")
    with pytest.raises(Faults) as caught:
        check_outputs(tmp_path, REDACTED)
    assert len(caught.value.faults) == 7
    assert "95 more faults" in str(caught.value)


def test_folders_without_tables(tmp_path):
    for folder in (tmp_path, tmp_path / "none", write(tmp_path, "", "file.txt")):
        with pytest.raises(DpspecError, match="folder"):
            check_outputs(folder, REDACTED)


@pytest.mark.parametrize(
    ("row", "words"),
    [("10,2,10,5,4", "cannot be"), ("10,3,10,9,4", "cannot be"), ("10,3,10,,", "cannot be"), ("10,1,10,5,5", "cannot be"),
     ("10,4,30,9,4", "cannot be"), ("10,z,10,5,5", "column n"), ("10,2,10,5,z", "column x2")],
)  # fmt: skip
def test_contents_that_cannot_be(tmp_path, row, words):
    path = write(tmp_path, MAGNITUDES, "m.rules.toml")
    write(tmp_path / "tables", f"area,value,n,sum,x1,x2\na,{row}\n")
    with pytest.raises(DpspecError, match=words):
        check_outputs(tmp_path / "tables", read_rules(path))


def test_columns_that_are_not_there(tmp_path):
    write(tmp_path, "area,value\na,1\n")
    with pytest.raises(DpspecError, match="lacks a column"):
        check_outputs(tmp_path, rules(ThresholdStep(least=3), published="value", contributors="n"))
    chain = read_rules(write(tmp_path, MAGNITUDES.replace('"x1", "x2"', '"x1"'), "m.rules.toml"))
    with pytest.raises(DpspecError, match="2 largest"):
        check_outputs(tmp_path, chain)


# --- the commands ---------------------------------------------------------------------------------


def run(*arguments: object) -> tuple[int, str]:
    ran = CliRunner().invoke(main, list(map(str, arguments)))
    return ran.exit_code, ran.output


def valid(kind: str, *arguments: object) -> dict:
    import json

    code, out = run(*arguments, "--format", "json")
    data = json.loads(out)
    jsonschema.Draft202012Validator({**report.output_schema(), "oneOf": [{"$ref": f"#/$defs/{kind}"}]}).validate(data)
    assert data["exit_code"] == code
    return data


def test_the_commands_in_text_and_json(tmp_path):
    five, seven, percent = (SPECS / f"{name}.rules.toml" for name in ("redact-5-round-5", "redact-7-round-5", "p-percent-20"))
    write(tmp_path, "area,v\na,5\nb,x\n")
    assert run("rules", "check", tmp_path, "--rules", five)[0] == 0
    code, text = run("rules", "check", tmp_path, "--rules", seven)
    assert (code, "table.csv:2: row 1, column v: step 1, redaction" in text) == (1, True)
    assert valid("rules-check", "rules", "check", tmp_path, "--rules", seven)["tables"][0]["broken"][0]["rules"] == ["redaction"]
    assert run("rules", "check", tmp_path, "--rules", percent)[0] == 5
    assert "redact-5-round-5 publishes 5: 6 to 7" in run("rules", "compare", five, seven)[1]
    assert valid("rules-compare", "rules", "compare", five, seven)["tells_more"] == "first"
    assert valid("rules-compare", "rules", "compare", percent, SPECS / "dominance-1-75.rules.toml")["tells_more"] == "both"
    assert run("rules", "compare", five, percent)[0] == 2
    assert run("rules", "compare", five, seven, "--total", 3)[0] == 2
    assert "5: 6 to 7" in run("rules", "show", five)[1]
    assert valid("rules-show", "rules", "show", percent)["steps"][1]["formula"] == "suppressed where X - x_1 - x_2 < 20/100 x_1"
    assert run("rules", "show", tmp_path / "none.toml")[0] == 2


def test_random_text_is_judged_or_refused(tmp_path):
    """Whatever is in a file: an answer, or a fault of the house."""
    source, told = random.Random(5), []
    for _ in range(100):
        write(tmp_path, "".join(source.choice('a,"1\n\r05x;\t\ufeff\x85-.') for _ in range(30)))
        try:
            check_outputs(tmp_path, REDACTED)
        except DpspecError as fault:
            told.append(str(fault))
    assert told
    assert all(fault.startswith(str(tmp_path)) for fault in told)
