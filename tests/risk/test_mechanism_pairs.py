"""The risk of a swap at full size: its own numbers by the theorem on one exchange."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from dpspec_census import DerangementSwapping, PairSwapping, PermutationSwapping

import dpspec as dp
from dpspec.blocks.records import UnorderedRecords
from dpspec.laws.trade_off import largest_power
from dpspec.plugin import define
from dpspec.risks.mechanism_pairs import evidence, nearest_pairs, own_pairs
from dpspec.verifier.exhaustive import verify

ROOT = Path(__file__).parents[2]
DERANGED = ROOT / "specs" / "swapping-derangement.dpspec.toml"


def own(report, level: str | None = "1/20"):
    quantity = "power" if level else "advantage of the best test, power minus level"
    found = [row for row in report.rows if row.quantity == quantity and dict(row.at).get("level") == level]
    return next(said for row in found for said in row.own if dict(said.at).get("distance") == "2" and not said.is_certainty)


def test_two_values_a_side_approach_a_lone_record() -> None:
    found = own(dp.risk(DERANGED, "tester", levels=["1/20"]))
    assert found.relation.value == "at least"
    assert found.value.lower.as_fraction() == Fraction(43, 100)  # 0.4 + 0.6/20


def test_five_values_a_side_approach_one_in_four() -> None:
    path = ROOT / "specs" / "swapping-2020" / "swapping-2020-state-county-by-universe.dpspec.toml"
    document = dp.read(path)
    rate = document.mechanism.swap_rate
    found = own(dp.risk(document, "tester", levels=["1/20"]), None)
    assert found.value.lower.as_fraction() == 1 - rate**2


def small(kins: int, places: int, most: int | None = None, least: int = 0) -> UnorderedRecords:
    return UnorderedRecords(
        attributes=[{"name": "kin", "count": kins}, {"name": "place", "count": places}], unit="household", most=most, least=least
    )


def spec_of(swap, space):
    return dp.spec(
        space=space, invariants=swap.scheme().invariants(space), distance=dp.hamming(unit="household"), standard="pure", epsilon=9
    )


@pytest.mark.parametrize("kind", [DerangementSwapping, PermutationSwapping, PairSwapping])
@pytest.mark.parametrize("rate", ["1/20", "1/2", "3/4"])
def test_the_theorem_holds_what_listing_all_datasets_finds(kind, rate: str) -> None:
    """On a space of three records the pairs at distance 2 are listed: none is farther apart than the theorem allows."""
    swap, space = kind(swap=["place"], swap_rate=rate), small(3, 3, most=3)
    spec = spec_of(swap, space)
    stated = nearest_pairs(swap, spec)
    assert stated is not None
    listed = own_pairs(swap, spec, 2)
    for level in ("1/100", "1/20", "1/2"):
        seen = listed.largest(lambda pair, level=level: largest_power(pair, level))
        known = stated.largest(lambda pair, level=level: largest_power(pair, level))
        assert seen.lower <= known.upper
        attained = max(largest_power(pair, level).lower for pair in stated.pairs)
        assert attained <= seen.upper


@pytest.mark.parametrize("kind", [DerangementSwapping, PermutationSwapping])
def test_other_invariants_or_distances_have_no_theorem(kind) -> None:
    swap, space = kind(swap=["place"], swap_rate="1/2"), small(3, 3)
    spec = spec_of(swap, space)
    assert nearest_pairs(swap, spec) is not None
    fewer = dp.spec(
        space=space,
        invariants=swap.scheme().invariants(space)[:1],
        distance=dp.hamming(unit="household"),
        standard="pure",
        epsilon=9,
    )
    assert nearest_pairs(swap, fewer) is None
    other = dp.spec(
        space=space,
        invariants=swap.scheme().invariants(space),
        distance=dp.symmetric_difference(unit="household"),
        standard="pure",
        epsilon=9,
    )
    assert nearest_pairs(swap, other) is None


def test_a_class_derived_from_a_swap_does_not_inherit_the_theorem() -> None:
    @define
    class Louder(DerangementSwapping):
        name = "louder"

    space = small(3, 3)
    swap = Louder(swap=["place"], swap_rate="1/2")
    assert nearest_pairs(swap, spec_of(DerangementSwapping(swap=["place"], swap_rate="1/2"), space)) is None


def law_by_permutations(records: tuple, rate: Fraction, *, derange: bool) -> dict[tuple, Fraction]:
    """The law of one stratum from all selections and all orders of the selected records."""
    weights: dict[tuple, Fraction] = {}
    for chosen in itertools.product((False, True), repeat=len(records)):
        places = [place for place, one in enumerate(chosen) if one]
        orders = list(itertools.permutations(places))
        if derange:
            orders = [order for order in orders if all(a != b for a, b in zip(places, order, strict=True))]
        for order in orders:
            moved = list(records)
            for place, giver in zip(places, order, strict=True):
                moved[place] = (records[place][0], records[giver][1])
            key = tuple(sorted(moved))
            mass = rate ** len(places) * (1 - rate) ** (len(records) - len(places)) / len(orders)
            weights[key] = weights.get(key, Fraction(0)) + mass
    return {key: mass / sum(weights.values()) for key, mass in weights.items()}


@pytest.mark.parametrize(("kind", "derange"), [(DerangementSwapping, True), (PermutationSwapping, False)])
@pytest.mark.parametrize("records", [
    (("0", "0"), ("0", "1"), ("1", "0")),
    (("0", "0"), ("0", "0"), ("1", "1"), ("2", "1")),
    (("0", "0"), ("1", "1"), ("2", "2")),
    (("0", "0"), ("0", "0"), ("0", "1"), ("1", "1"), ("1", "2")),
])  # fmt: skip
def test_repeated_values_in_a_universe_are_exact(kind, derange: bool, records: tuple) -> None:
    """Every table of the universe, and every two that differ by one exchange, are listed with permutations written out."""
    rate = Fraction(2, 5)
    tables = {tuple(sorted(zip([r for r, _ in records], order, strict=True)))
              for order in itertools.permutations([s for _, s in records])}  # fmt: skip
    laws = {table: law_by_permutations(table, rate, derange=derange) for table in tables}
    variations, powers = [], []
    for one, other in itertools.permutations(tables, 2):
        if len(Counter(one) - Counter(other)) and sum((Counter(one) - Counter(other)).values()) == 2:
            mine, theirs = laws[one], laws[other]
            variations.append(sum(max(mine.get(t, 0) - theirs.get(t, 0), 0) for t in {*mine, *theirs}))
            powers.append(neyman_pearson(mine, theirs, Fraction(1, 20)))
    swap, space = kind(swap=["place"], swap_rate=str(rate)), small(3, 3)
    with evidence(dataset=space.dataset(records)):
        stated = nearest_pairs(swap, spec_of(swap, space))
    assert stated is not None
    assert stated.sense.value == "equals"
    found = stated.largest(lambda pair: pair.total_variation())
    assert found.is_exact
    assert found.lower.as_fraction() == max(variations)
    power = stated.largest(lambda pair: largest_power(pair, "1/20"))
    assert power.lower == power.upper
    assert power.lower.as_fraction() == max(powers)


def neyman_pearson(null: dict, alternative: dict, level: Fraction) -> Fraction:
    """The power of the best test at a level, by filling the level with the outputs of the largest likelihood ratio."""
    def ratio(output):
        return (1, Fraction(0)) if not null.get(output) else (0, alternative.get(output, Fraction(0)) / null[output])

    power, left = Fraction(0), level
    for output in sorted({*null, *alternative}, key=ratio, reverse=True):
        mass = null.get(output, Fraction(0))
        share = Fraction(1) if mass <= left else left / mass
        power += share * alternative.get(output, Fraction(0))
        left -= share * mass
    return power


@pytest.mark.slow
@pytest.mark.parametrize(
    "given",
    [{"attacker": "tester"}, pytest.param({"exchange": ["county"]}, marks=pytest.mark.long)],
    ids=("attacker", "exchange")
)
def test_the_universe_of_a_table_stands_beside_the_worst_one(given, tmp_path) -> None:
    path = tmp_path / "dwellings.csv"
    path.write_text("size,tenure,county\n1,owned,Dukes\n1,rented,Nantucket\n1,rented,Dukes\n2,owned,Dukes\n", encoding="utf-8")
    report = dp.risk(DERANGED, **given, levels=["1/20"], universe_of=str(path))
    powers = [row for row in report.rows if row.quantity == "power"]
    rows = {dict(row.at).get("universe"): row.own[0] for row in powers}
    records = (("owned", "Dukes"), ("rented", "Nantucket"), ("rented", "Dukes"))
    other = (("owned", "Nantucket"), ("rented", "Dukes"), ("rented", "Dukes"))
    mine, theirs = (law_by_permutations(table, Fraction(3, 5), derange=True) for table in (records, other))
    best = max(neyman_pearson(mine, theirs, Fraction(1, 20)), neyman_pearson(theirs, mine, Fraction(1, 20)))
    assert (rows["of this table"].relation.value, rows["of this table"].value.lower.as_fraction()) == ("equals", best)
    assert rows["the worst"].value.lower.as_fraction() == Fraction(43, 100)


def test_a_stratum_with_many_tables_keeps_its_bound() -> None:
    kind = PermutationSwapping(swap=["place"], swap_rate="1/2")
    space = small(3, 3)
    records = [(str(i % 3), str(i // 3 % 3)) for i in range(18)]
    with evidence(dataset=space.dataset(records)):
        stated = nearest_pairs(kind, spec_of(kind, space))
    assert stated is not None
    assert not stated.pairs
    assert stated.sense.value == "at most"


def test_one_value_on_a_side_has_nothing_to_exchange() -> None:
    for kind in (DerangementSwapping, PermutationSwapping, PairSwapping):
        swap, space = kind(swap=["place"], swap_rate="1/2"), small(1, 4)
        assert nearest_pairs(swap, spec_of(swap, space)) is None
        assert verify(swap, spec_of(swap, small(1, 4, most=3))).constant.upper == 0


def test_the_points_of_a_curve(tmp_path) -> None:
    from click.testing import CliRunner

    from dpspec.cli import main

    found = CliRunner().invoke(main, ["curve", str(DERANGED), "--panel", "power", "--format", "json"])
    assert found.exit_code == 0
    data = json.loads(found.stdout)
    (line,) = [line for line in data["lines"] if line["about"] == "this mechanism"]
    assert line["lower"][1][0] == 0.05
    assert round(line["lower"][1][1], 6) == 0.43
    refused = CliRunner().invoke(main, ["curve", str(DERANGED)])
    assert refused.exit_code == 2
    assert "--out" in refused.output


def test_convert_starts_from_a_stratum() -> None:
    found = dp.convert({"swap_rate": "1/20", "stratum": 13680081}, "epsilon")
    assert [one.value.lower.decimal(9) for one in found.numbers[:2]] == ["19.3758903", "19.3758903"]
    assert found.numbers[2].value.lower.is_infinite
    one = dp.convert({"swap_rate": "1/2", "stratum": 8}, "epsilon", delta="1/20").numbers[0].value
    assert one.is_exact
    with pytest.raises(dp.DpspecError, match="stratum"):
        dp.convert({"swap_rate": "1/2"}, "epsilon")
    with pytest.raises(dp.DpspecError, match="swap_rate"):
        dp.convert({"swap_rate": "3/2", "stratum": 4}, "epsilon")
