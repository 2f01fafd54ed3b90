"""Swaps of small households: a specification, a folder with a table, and a release of it."""

from __future__ import annotations

import csv
from collections import defaultdict

from dpspec_release import draw as engine
from dpspec_release.write import write

from dpspec import installed, read

SPEC = """\
schema = 1
id = "swap"
title = "Blocks exchanged between households of one county"
[space]
type = "households"
household = [
  {{ name = "county", categories = ["a", "b"] }},
  {{ name = "block", categories = ["a1", "a2", "b1", "b2"], within = "county", parents = ["a", "a", "b", "b"] }},
]
person = [{{ name = "sex", categories = ["f", "m"] }}, {{ name = "age", count = 100 }}]
[multiverse]
invariants = [
  {{ type = "marginal", unit = "household", attributes = ["county", "block"] }},
  {{ type = "marginal", unit = "person", attributes = [{persons}] }},
]
[input_divergence]
type = "hamming"
unit = "household"
[output_divergence]
type = "mult"
[budget]
epsilon = "inf"
[mechanism]
type = "{mechanism}"
match = ["county"]
swap = ["block"]
swap_rate = "{rate}"
"""


def spec(tmp_path, *, rate="1/2", mechanism="derangement-swapping", persons='"county", "sex", "age"'):
    path = tmp_path / "swap.dpspec.toml"
    path.write_text(SPEC.format(rate=rate, mechanism=mechanism, persons=persons), encoding="utf-8")
    return path


def given(tmp_path, households=60):
    """Household i lies in county i mod 2; it has i mod 4 persons, of ages that no other household has together."""
    folder = tmp_path / "in"
    folder.mkdir(exist_ok=True)
    rows = [(1000 + i, "ab"[i % 2], f"{'ab'[i % 2]}{1 + i // 2 % 2}") for i in range(households)]
    inside = [(1000 + i, "fm"[(i + p) % 2], (i + 13 * p) % 100) for i in range(households) for p in range(i % 4)][::-1]
    for name, header, body in (("households", "household_id,county,block", rows), ("persons", "household_id,sex,age", inside)):
        lines = [header, *(",".join(map(str, row)) for row in body)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def drawn(path, table, out, **options):
    registry = installed().registry
    release = engine.draw(read(path), str(table), registry, out, engine.Options(unverified=True, **options))
    return release, write(release, registry, out)


def compositions(folder):
    """The households of a directory: their attributes, with the multiset of their persons; read by the csv module alone."""
    inside = defaultdict(list)
    with (folder / "persons.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            inside[row["household_id"]].append((row["sex"], row["age"]))
    with (folder / "households.csv").open(encoding="utf-8") as file:
        return [(row["county"], row["block"], tuple(sorted(inside[row["household_id"]]))) for row in csv.DictReader(file)]
