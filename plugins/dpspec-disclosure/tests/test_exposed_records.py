"""What `release` and `lint --table` say of records that the exact tables determine by themselves."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

import dpspec as dp

FILE = """schema = 1
id = "swap"
title = "regions swapped among records of equal size and age"

[space]
type = "records"
attributes = [
  {{ name = "region", categories = ["north", "south"] }},
  {{ name = "size", categories = ["small", "large"] }},
  {{ name = "age", categories = ["young", "old"] }},
]

[multiverse]
invariants = [
  {{ type = "marginal", unit = "person", attributes = ["size", "age"] }},
  {{ type = "marginal", unit = "person", attributes = ["region", "size"] }},
]

[input_divergence]
type = "hamming"

[output_divergence]
type = "mult"

[budget]
type = "swapping"
match = ["size"]
swap_rate = "1/2"
form = "s23-full"
unit = "person"

[mechanism]
type = "derangement-swapping"
match = ["size"]
swap = ["region"]
swap_rate = "1/2"
unit = "person"
{more}"""

EXPLAINED = '\n[[explained]]\nfinding = "exposed-records"\nbecause = "the office has decided so"\n'


def written(folder, records, more=""):
    path, table = folder / "swap.dpspec.toml", folder / "table.csv"
    path.write_text(FILE.format(more=more), encoding="utf-8")
    table.write_text("\n".join(["region,size,age", *(",".join(record) for record in records)]) + "\n", encoding="utf-8")
    return path, table


def determined(records) -> int:
    """By listing every table with the same two margins."""
    margins = [lambda r: (r[1], r[2]), lambda r: (r[0], r[1])]
    wanted, kinds = (
        [Counter(map(margin, records)) for margin in margins],
        list(product(("north", "south"), ("small", "large"), ("young", "old"))),
    )
    tables = []
    for counts in product(range(max(Counter(records).values()) + 3), repeat=len(kinds)):
        if sum(counts) == len(records):
            table = Counter(dict(zip(kinds, counts, strict=True)))
            if all(
                Counter({k: v for k, v in _summed(table, margin).items() if v}) == want
                for margin, want in zip(margins, wanted, strict=True)
            ):
                tables.append(table)
    held = Counter(records)
    return sum(count for kind, count in held.items() if all(table[kind] == count for table in tables))


def _summed(table, margin) -> Counter:
    found = Counter()
    for kind, count in table.items():
        found[margin(kind)] += count
    return found


ALONE = [("north", "small", "young"), ("south", "large", "young"), ("south", "large", "old"), ("north", "large", "old")]
"""The small one is determined; of the large ones two regions and two ages are mixed."""


def test_the_release_says_what_its_exact_tables_determine(tmp_path) -> None:
    path, table = written(tmp_path, ALONE)
    known = determined(ALONE)
    assert known == 1
    report = dp.release(path, table, out=tmp_path / "out")
    assert report["exposure"] == {
        "records": 1,
        "undecided": 0,
        "of": 4,
        "note": "1 of 4 records (25.0 %) are determined in all attributes by the exact tables alone",
    }


def test_lint_with_a_table_warns_from_one_percent_on(tmp_path) -> None:
    path, table = written(tmp_path, ALONE)
    codes = [found.code for found in dp.lint(path, table=table)]
    assert "exposed-records" in codes
    assert "exposed-records" not in [found.code for found in dp.lint(path)]
    mixed = [record for record in product(("north", "south"), ("small", "large"), ("young", "old")) for _ in range(2)]
    path, table = written(tmp_path, mixed)
    assert "exposed-records" not in [found.code for found in dp.lint(path, table=table)]


def test_an_explained_finding_that_needs_a_table_is_not_missed_without_one(tmp_path) -> None:
    path, table = written(tmp_path, ALONE, EXPLAINED)
    assert not [found for found in dp.lint(path) if found.code == "explains-nothing"]
    (found,) = [found for found in dp.lint(path, table=table) if found.code == "exposed-records"]
    assert found.explained == "the office has decided so"


@pytest.mark.parametrize("attributes", [[], ["region"], ["size", "age"]])
def test_tables_of_some_attributes_determine_nobody_who_has_others(attributes, tmp_path) -> None:
    """Every table of the universe has the same number of records from the north; who they are is open."""
    path, table = written(tmp_path, ALONE)
    blocks = path.read_text(encoding="utf-8").split("[multiverse]", maxsplit=1)[0]
    margin = f"invariants = [{{ type = 'marginal', unit = 'person', attributes = {attributes} }}]"
    path.write_text(f"{blocks}\n[multiverse]\n{margin}\n{PROMISE}", encoding="utf-8")
    assert "exposed-records" not in [found.code for found in dp.lint(path, table=table)]
    found = dp.exposure(path, table)
    assert found["determined"] == {"records": 0, "undecided": 0, "of": 4}
    assert found["cells"]["records"]["records"] == 4
    assert str(found).startswith("0 (0 %) of 4 person records are determined in all attributes by the exact tables of swap alone")


PROMISE = """
[input_divergence]
type = "hamming"

[output_divergence]
type = "mult"

[budget]
epsilon = 1
"""


def test_a_table_of_another_space_is_an_error(tmp_path) -> None:
    path, table = written(tmp_path, ALONE)
    table.write_text("region,size\nnorth,small\n", encoding="utf-8")
    with pytest.raises(dp.DpspecError, match="age"):
        dp.lint(path, table=table)


def test_what_the_mechanism_adds_is_the_number_of_tradeoff_and_of_risk(tmp_path) -> None:
    """Of the values that a swap exchanges it is that of `tradeoff` for this table, of noise that of `risk --secret`."""
    kinds = list(product(("north", "south"), ("small", "large"), ("young", "old")))
    path, table = written(tmp_path, kinds * 3)
    (swapped,) = dp.exposure(path, table, secret=["region"])["secrets"]
    traded = dp.tradeoff(path, table=table, statistic="marginal:region,age", risk="power:1/20:exchange")
    bounds = traded["designs"][0]["points"][0]["risks"]["this table"]["bounds"]
    assert swapped["mechanism"]["about"] == "this table"
    assert float(dp.number(swapped["mechanism"]["power"]["upper"])) == pytest.approx(bounds[1])
    noisy = tmp_path / "noisy.dpspec.toml"
    blocks = path.read_text(encoding="utf-8").split("[budget]", maxsplit=1)[0].replace("swap", "noisy")
    blocks = blocks.replace('  { type = "marginal", unit = "person", attributes = ["region", "size"] },\n', "")
    noisy.write_text(blocks + NOISE, encoding="utf-8")
    (region,) = dp.exposure(noisy, table, secret=["region"])["secrets"]
    own = dp.risk(noisy, secret=["region"], levels=["1/20"]).rows[0].own[0]
    assert region["mechanism"]["power"]["lower"] == str(own.value.lower)
    assert region["mechanism"]["about"] == "this mechanism"
    (age,) = dp.exposure(noisy, table, secret=["age"])["secrets"]
    assert age["mechanism"]["power"] is None
    assert "what is published distinguishes them" in age["mechanism"]["note"]


NOISE = """[budget]
epsilon = 2

[mechanism]
type = "geometric"
queries = [{ type = "marginal", unit = "person", attributes = ["region", "age"] }]
sensitivity = 2
epsilon = 2
neighbours = "replace-one"
unit = "person"
"""
