"""Designs of suppression against the enumeration of all patterns and of all tables."""

from __future__ import annotations

import csv
import io
import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from dpspec_disclosure.suppression_design import cheapest_meeting

import dpspec as dp
from dpspec.cli import main
from dpspec.plugin import errors
from dpspec.report import json as report

RULES = """schema = 1
id = "r"
title = "R"
kind = "counts"
[[step]]
rule = "threshold"
least = 3
[tables]
labels = ["region", "age"]
"""


def rules_in(folder: Path, text: str = RULES) -> Path:
    path = folder / "r.rules.toml"
    path.write_text(text, encoding="utf-8")
    return path


def tables_of(size: int, total: int) -> Iterator[tuple[int, ...]]:
    for ends in itertools.combinations(range(total + size - 1), size - 1):
        yield tuple(b - a - 1 for a, b in itertools.pairwise([-1, *ends, total + size - 1]))


CELLS = [(r, a) for r in ("N", "S", "Total") for a in ("x1", "x2", "x3", "Total")]
"""The cells of a two-by-three table with its margins."""
BASE = [(r, a) for r, a in CELLS if "Total" not in (r, a)]


def numbers(table: tuple[int, ...]) -> tuple[int, ...]:
    """All twelve numbers of a table."""
    return tuple(
        sum(n for (a, b), n in zip(BASE, table, strict=True) if r in (a, "Total") and c in (b, "Total")) for r, c in CELLS
    )


def best_by_enumeration(table: tuple[int, ...], kept: set[int], by: str) -> tuple[set[int], int]:
    """The sensitive cells that no pattern protects, and the least cost beyond the sensitive cells: over all patterns."""
    true = numbers(table)
    every = [numbers(other) for total in range(sum(table) + 3) for other in tables_of(6, total)]
    sensitive = {place for place, number in enumerate(true) if 0 < number < 3}
    free = [place for place in range(12) if place not in kept and place not in sensitive]

    def unprotected(hidden: set[int]) -> set[int]:
        fitting = [one for one in every if all(one[p] == true[p] for p in range(12) if p not in hidden)]
        return {
            place for place in sensitive
            if not (min(one[place] for one in fitting) < true[place] < max(one[place] for one in fitting))
        }  # fmt: skip

    always = sensitive - kept
    least = unprotected(always | set(free))
    costs = []
    for size in range(len(free) + 1):
        for some in itertools.combinations(free, size):
            cost = size if by == "cells" else sum(true[place] for place in some)
            if (not costs or cost < min(costs)) and unprotected(always | set(some)) == least:
                costs.append(cost)
    return least, min(costs)


@pytest.mark.parametrize(("seed", "times"), [
    (5, 4), pytest.param(6, 12, marks=pytest.mark.slow), pytest.param(6, 40, marks=pytest.mark.long),
])  # fmt: skip
def test_the_least_loss_is_that_of_all_patterns(seed, times, tmp_path):
    source = random.Random(seed)
    protected = 0
    for number in range(times):
        table = tuple(source.choice([0, 1, 2, 3, 3]) for _ in range(6))
        table = table if sum(table) <= 9 else tuple(min(n, 2) for n in table)
        folder = tmp_path / str(number) / "raw"
        folder.mkdir(parents=True)
        true = numbers(table)
        rows = "".join(f"{r},{a},{n}\n" for (r, a), n in zip(CELLS, true, strict=True))
        (folder / "t.csv").write_text(f"region,age,count\n{rows}", encoding="utf-8")
        keep, by = source.choice([("region", "age"), ("region",), ()]), source.choice(["cells", "records"])
        kept = {p for p, (r, a) in enumerate(CELLS) if keep and any(
            {n for n, code in (("region", r), ("age", a)) if code != "Total"} <= {one} for one in keep)}  # fmt: skip
        disclosed, cost = best_by_enumeration(table, kept, by)
        found = dp.rules_design(folder, rules_in(tmp_path), keep=keep, by=by).value
        assert found.is_optimal
        assert {
            CELLS.index((dict(c.codes).get("region", "Total"), dict(c.codes).get("age", "Total"))) for c in found.disclosed
        } == disclosed
        assert found.cost == cost, (table, keep, by)
        protected += bool(cost)
    assert protected > times // 8


def test_what_is_written_is_audited_and_has_no_other_column(tmp_path):
    text = RULES.replace("[tables]\n", '[tables]\npublished = "published"\ncontributors = "n"\n')
    text = text.replace("least = 3", "least = 5")
    (tmp_path / "raw").mkdir()
    rows = ["N,a,3,3", "N,b,20,20", "N,c,7,7", "N,Total,30,30", "S,a,20,20", "S,b,31,31", "S,c,9,9", "S,Total,60,60",
            "Total,a,23,23", "Total,b,51,51", "Total,c,16,16", "Total,Total,90,90"]  # fmt: skip
    (tmp_path / "raw" / "t.csv").write_text("region,age,published,n\n" + "\n".join(rows) + "\n", encoding="utf-8")
    done = dp.rules_design(tmp_path / "raw", rules_in(tmp_path, text), keep=["region", "age"], by="records", out=tmp_path / "out")
    assert (done.exit_code, done.value.cost, done.value.suppressed) == (0, 36, 4)
    written = list(csv.DictReader(io.StringIO((tmp_path / "out" / "t.csv").read_text(encoding="utf-8"))))
    assert list(written[0]) == ["region", "age", "published"]
    assert [row["published"] for row in written] == ["x", "20", "x", "30", "x", "31", "x", "60", "23", "51", "16", "90"]
    plain = rules_in(tmp_path, RULES)
    assert dp.rules_audit(tmp_path / "out", rules=plain).exit_code == 0


def test_tables_of_one_name_in_several_folders_stay_apart(tmp_path):
    """They were written into one file, with the marks and numbers of the one on the rows of the other."""
    tables = {"a/t.csv": "region,count\nN,7\nS,9\nTotal,16\n", "b/t.csv": "age,count\nold,2\nyoung,14\nTotal,16\n"}
    for name, text in tables.items():
        (tmp_path / "raw" / name).parent.mkdir(parents=True)
        (tmp_path / "raw" / name).write_text(text, encoding="utf-8")
    dp.rules_design(tmp_path / "raw", rules_in(tmp_path), out=tmp_path / "out")
    found = {path.relative_to(tmp_path / "out").as_posix(): path.read_text() for path in (tmp_path / "out").rglob("*.csv")}
    assert found == tables | {"b/t.csv": "age,count\nold,x\nyoung,x\nTotal,16\n"}


def test_only_suppressed_cells_are_counted_as_such(tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "t.csv").write_text("region,age,count\nN,a,2\nN,b,5\nN,Total,7\n", encoding="utf-8")
    found = str(dp.rules_design(tmp_path / "raw", rules_in(tmp_path), keep=["region,age"]))
    assert found.startswith("0 of 3 cells suppressed: 0 sensitive, and 0 cells to protect them; 1 sensitive cell of what is kept")


def test_a_design_is_not_one_of_rules_that_suppress_sensitive_cells_alone(tmp_path):
    """Who knows that no other cell is suppressed knows more than the design assumes: its audit contradicts itself."""
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "t.csv").write_text("region,count\nN,1\nS,9\nW,8\nTotal,18\n", encoding="utf-8")
    rules = rules_in(tmp_path, RULES.replace("[tables]\n", "[tables]\nsecondary = false\n"))
    with pytest.raises(errors.DisclosureRuleError, match="only sensitive cells are suppressed"):
        dp.rules_design(tmp_path / "raw", rules)


def test_what_is_kept_may_disclose_a_cell_in_every_design(tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "t.csv").write_text("region,age,count\nN,a,2\nN,b,5\nN,Total,7\n", encoding="utf-8")
    rules = rules_in(tmp_path)
    assert dp.rules_design(tmp_path / "raw", rules).exit_code == 0
    done = dp.rules_design(tmp_path / "raw", rules, keep=["region,age"])
    assert (done.exit_code, len(done.value.disclosed), done.value.suppressed) == (1, 1, 0)


@pytest.mark.parametrize("seed", range(20))
def test_the_cheapest_set_against_all_sets(seed):
    source = random.Random(seed)
    cost = {place: source.randint(1, 5) for place in range(8)}
    cuts = [frozenset(source.sample(range(8), source.randint(1, 4))) for _ in range(6)]
    found = cheapest_meeting(cuts, cost)
    every = (set(some) for size in range(9) for some in itertools.combinations(range(8), size))
    least = min(sum(cost[place] for place in some) for some in every if all(some & cut for cut in cuts))
    assert found is not None
    assert all(found & cut for cut in cuts)
    assert sum(cost[place] for place in found) == least


NUMBER = "7654321"


@pytest.mark.parametrize(
    ("table", "change", "options", "part"),
    [
        (f"N,a,x\nN,b,{NUMBER}\n", ("", ""), [], "has a cell without its number"),
        (f"N,a,{NUMBER}\n", ("", ""), ["--keep", "colour"], "is in no table"),
        (f"N,a,{NUMBER}\n", ('rule = "threshold"\nleast = 3', 'rule = "rounding"\nbase = 5'), [], "changes numbers"),
        (f"N,a,{NUMBER}\n", ('kind = "counts"', 'kind = "magnitudes"'), [], "do not say what is in the cells"),
        (f"N,a,2\nN,b,{NUMBER}\nN,Total,5\n", ("", ""), [], "contradict each other: raw/t.csv"),
    ],
)
def test_bad_input_is_one_line_without_numbers(table, change, options, part, tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "t.csv").write_text(f"region,age,count\n{table}", encoding="utf-8")
    rules = rules_in(tmp_path, RULES.replace(*change) if change[0] else RULES)
    ran = CliRunner().invoke(main, ["rules", "design", str(tmp_path / "raw"), "--rules", str(rules), *options])
    assert (ran.exit_code, part in ran.stderr, ran.stderr.count("\n")) == (2, True, 1)
    assert NUMBER not in ran.output


def test_the_command_prints_no_number_of_a_cell_and_fits_the_schema(tmp_path):
    (tmp_path / "raw").mkdir()
    rows = f"N,a,2\nN,b,{NUMBER}\nN,Total,{int(NUMBER) + 2}\n"
    (tmp_path / "raw" / "t.csv").write_text(f"region,age,count\n{rows}", encoding="utf-8")
    for form in ("text", "json"):
        ran = CliRunner().invoke(
            main, ["rules", "design", str(tmp_path / "raw"), "--rules", str(rules_in(tmp_path)), "--format", form]
        )
        assert ran.exit_code == 0
        assert NUMBER not in ran.output
        assert str(int(NUMBER) + 2) not in ran.output
        if form == "json":
            schema = {**report.output_schema(), "oneOf": [{"$ref": "#/$defs/rules-design"}]}
            jsonschema.Draft202012Validator(schema).validate(json.loads(ran.stdout))
