"""Margins cover: of seeded releases, as many numbers are within their margin as is said, for fifteen mechanisms."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from math import exp, sqrt

import pytest

import dpspec as dp
from dpspec.base.randomness import SeededRandomness
from dpspec.grammar.tables import Table

FORM = """\
schema = 1
id = "margins"
title = "Tables with a margin"
[space]
type = "records"
unit = "household"
attributes = [
  {{ name = "size", categories = ["1", "2"] }},
  {{ name = "tenure", categories = ["owned", "rented"] }},
  {{ name = "county", categories = ["a", "b", "c"] }},
]
[multiverse]
invariants = [{invariants}]
[input_divergence]
type = "hamming"
unit = "household"
[output_divergence]
type = "{standard}"
[budget]
{budget}
[mechanism]
{mechanism}
"""
KEPT = ", ".join(f'{{ type = "marginal", unit = "household", attributes = ["size", "{name}"] }}' for name in ("tenure", "county"))
TABLES = (("tenure", "county"), ("county",))
COUNTED = 'unit = "household"\ntables = [["tenure", "county"], ["county"]]\n'
CELL_KEYS = COUNTED + (
    "keys = 100\nrows = [{ count = 1, changes = { -1 = '1/2', 1 = '1/2' } }, "
    "{ count = 2, changes = { -2 = '1/4', 0 = '1/4', 1 = '1/2' } }]"
)
SWAP = 'match = ["size"]\nswap = ["county"]\nunit = "household"\n'
RISK = SWAP + 'swap_rate = "1/10"\nrate = [{ where = "unique in match x held", rate = "1/2" }]'
EACH_QUERY = [f'{{ type = "marginal", unit = "household", attributes = [{", ".join(map(repr, table))}] }}' for table in TABLES]
QUERIES = ", ".join(EACH_QUERY)
MEASUREMENTS = ", ".join(
    f'{{ query = {query}, variance = "{variance}" }}' for query, variance in zip(EACH_QUERY, ("4", "9/2"), strict=True)
)

PURE, ZERO_CONCENTRATED, ANY = ("", "mult", 'epsilon = "inf"'), ("", "d-nor", 'rho = "inf"'), (KEPT, "mult", 'epsilon = "inf"')
NOISE = {
    "geometric": (PURE, f'type = "geometric"\nratio = "1/2"\nqueries = [{QUERIES}]'),
    "geometric, wide": (PURE, f'type = "geometric"\nratio = "99/100"\nqueries = [{QUERIES}]'),
    "geometric, narrow": (PURE, f'type = "geometric"\nratio = "1/10"\nqueries = [{QUERIES}]'),
    "discrete Gaussian": (
        ZERO_CONCENTRATED, f'type = "discrete-gaussian"\nvariance = "4"\nsensitivities = ["1", "1"]\nqueries = [{QUERIES}]'
    ),
    "discrete Gaussian, narrow": (
        ZERO_CONCENTRATED, f'type = "discrete-gaussian"\nvariance = "1/5"\nsensitivities = ["1", "1"]\nqueries = [{QUERIES}]'
    ),
    "the noise of TopDown": (ZERO_CONCENTRATED, f'type = "topdown-noise"\nunit = "household"\nmeasurements = [{MEASUREMENTS}]'),
    "rounding to 3": (PURE, f'type = "random-rounding"\n{COUNTED}base = 3'),
    "rounding to 5": (PURE, f'type = "random-rounding"\n{COUNTED}base = 5'),
    "conventional rounding": (PURE, f'type = "conventional-rounding"\n{COUNTED}base = 5'),
    "cell keys": (PURE, f'type = "cell-key"\n{CELL_KEYS}'),
}  # fmt: skip
SWAPS = {
    "derangements": f'type = "derangement-swapping"\n{SWAP}swap_rate = "1/2"',
    "permutations": f'type = "permutation-swapping"\n{SWAP}swap_rate = "1/3"',
    "pairs": f'type = "pair-swapping"\n{SWAP}swap_rate = "1/2"',
    "rates by risk": f'type = "risk-swapping"\n{RISK}',
    "derangements, few": f'type = "derangement-swapping"\n{SWAP}swap_rate = "1/20"',
}
RECORDS = [
    (size, tenure, county)
    for size in "12"
    for tenure, county, often in (("owned", "a", 20), ("owned", "b", 3), ("rented", "b", 12), ("rented", "c", 1))
    for _ in range(often)
]
RUNS = [pytest.param(400, id="few"), pytest.param(10_000, marks=pytest.mark.long, id="many")]
FAR = 5.5
"""Standard deviations: a right margin is beyond them once in 10^7."""


def document_of(tmp_path, blocks, mechanism):
    invariants, standard, budget = blocks
    path = tmp_path / "margins.dpspec.toml"
    blocks_text = FORM.format(invariants=invariants, standard=standard, budget=budget, mechanism=mechanism.replace("'", '"'))
    path.write_text(blocks_text, encoding="utf-8")
    return path, dp.read(path)


def counts(records, places):
    return Counter(tuple(record[place] for place in places) for record in records)


def covered(found, off, runs):
    """Check of each table that as many numbers are within its margin as is said; `off` has the errors of each number by table."""
    for table in found["tables"]:
        margin = float(Fraction(table["margin"]["upper"]))
        least = Fraction(table["coverage"]["lower"]) if table["coverage"] else Fraction(95, 100)
        assert least >= Fraction(95, 100)
        for name, errors in off[table["table"]].items():
            inside = sum(abs(error) <= margin for error in errors) / runs
            spread = FAR * sqrt(float(least * (1 - least)) / runs)
            assert len(errors) == runs
            assert inside >= float(least) - spread, (table["table"], name)
            if table["source"] == "law":  # the same for all numbers, and exact
                assert inside <= float(least) + spread, (table["table"], name)


def released_errors(document, runs):
    """The errors of all numbers in so many seeded releases, by table and cell."""
    space = document.spec.space
    true = counts(RECORDS, (1, 2)) + counts(RECORDS, (2,))
    table, off = Table.from_records(RECORDS, space.attributes), defaultdict(lambda: defaultdict(list))
    for run in range(runs):
        for row in document.mechanism.release(table, space, SeededRandomness(run)).records():
            of, *cells, answer, _ = row
            cell = tuple(one for one in cells if one != "(all)")
            off[of][cell].append(int(answer) - true[cell])
    return off


@pytest.mark.spread(0, slow=3)
@pytest.mark.statistical
@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("name", NOISE)
def test_margins_from_laws_cover(tmp_path, name, runs):
    path, document = document_of(tmp_path, *NOISE[name])
    found = dp.accuracy(path)
    off = released_errors(document, runs)
    assert {one["table"] for one in found["tables"]} == set(off) == {"household by tenure x county", "household by county"}
    covered(found, off, runs)


@pytest.mark.spread(0, slow=1)
@pytest.mark.statistical
@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("name", SWAPS)
def test_margins_from_runs_cover_what_a_swap_moves(tmp_path, name, runs):
    """The margin is an upper confidence limit: the swap of a table like the released one is within it at least so often."""
    path, document = document_of(tmp_path, ANY, SWAPS[name])
    given = tmp_path / "given.csv"
    given.write_text("\n".join(["size,tenure,county", *map(",".join, RECORDS)]) + "\n", encoding="utf-8")
    dp.release(path, given, tmp_path / "out", unverified=True, seed=1)
    found = dp.accuracy(path, tmp_path / "out", runs=1_000)
    lines = (tmp_path / "out" / "released.csv").read_text(encoding="utf-8").splitlines()[1:]
    published = [tuple(line.split(",")) for line in lines]
    (moved,) = [one for one in found["tables"] if one["table"] == "household by tenure x county"]
    before = counts(published, (1, 2))
    table, space = Table.from_records(published, document.spec.space.attributes), document.spec.space
    off = defaultdict(list)
    for run in range(runs):
        after = counts(document.mechanism.release(table, space, SeededRandomness(run)).records(), (1, 2))
        for cell, number in before.items():
            off[cell].append(after[cell] - number)
    covered({"tables": [moved]}, {moved["table"]: off}, runs)


@pytest.mark.parametrize(("ratio", "level"), [("1/2", "0.9"), ("1/2", "0.95"), ("99/100", "0.99"), ("1/10", "0.999")])
def test_a_margin_of_geometric_noise_is_its_closed_form(tmp_path, ratio, level):
    """The least m with 2 r^(m + 1) / (1 + r) <= 1 - level."""
    path, _ = document_of(tmp_path, PURE, f'type = "geometric"\nratio = "{ratio}"\nqueries = [{QUERIES}]')
    rate, beyond = Fraction(ratio), 1 - Fraction(level)
    least = next(m for m in range(10_000) if 2 * rate ** (m + 1) / (1 + rate) <= beyond)
    assert {int(one["margin"]["upper"]) for one in dp.accuracy(path, level=level)["tables"]} == {least}


@pytest.mark.parametrize(("variance", "level"), [("4", "0.95"), ("1/5", "0.95"), ("100", "0.999")])
def test_a_margin_of_discrete_gaussian_noise_is_that_of_its_weights(tmp_path, variance, level):
    path, _ = document_of(
        tmp_path, ZERO_CONCENTRATED,
        f'type = "discrete-gaussian"\nvariance = "{variance}"\nsensitivities = ["1", "1"]\nqueries = [{QUERIES}]',
    )  # fmt: skip
    spread = float(Fraction(variance))
    weights = {k: exp(-k * k / (2 * spread)) for k in range(-400, 401)}
    total = sum(weights.values())
    least = next(m for m in range(400) if sum(w for k, w in weights.items() if abs(k) <= m) / total >= float(level))
    assert {int(one["margin"]["upper"]) for one in dp.accuracy(path, level=level)["tables"]} == {least}
