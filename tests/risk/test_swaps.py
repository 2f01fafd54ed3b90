"""The risk of a swap at full size: its own numbers by the theorem on one exchange."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from dpspec_census import DerangementSwapping, PairSwapping, PermutationSwapping

import dpspec as dp
from dpspec.blocks.records import UnorderedRecords
from dpspec.laws.trade_off import largest_power
from dpspec.plugin import define
from dpspec.risks.own import nearest_pairs, own_pairs
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
