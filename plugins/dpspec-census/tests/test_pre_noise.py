"""Swapping after noise, against every replacement, selection and permutation that is written out."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from dpspec_census import DerangementSwapping, PairSwapping, PermutationSwapping, PreNoise, RiskSwapping
from dpspec_divergences import Hamming, Mult

from dpspec.base.exact import ln
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.records import UnorderedRecords
from dpspec.plugin import (
    IncompatibleBlocksError,
    LevelSets,
    Marginal,
    PrivacySpec,
    Table,
    Trivial,
    UniformBudget,
    errors,
)
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.mechanisms import judged
from dpspec.verifier.verdict import Outcome

HELD = Marginal(attributes=("kin",), unit="household")


def space_of(kins: int, places: int, **size: int) -> UnorderedRecords:
    attributes = [{"name": "kin", "count": kins}, {"name": "place", "count": places}]
    return UnorderedRecords(attributes=attributes, unit="household", **size)


def claim(space: UnorderedRecords, epsilon: object, fixed: tuple[Marginal, ...] = (HELD,)) -> PrivacySpec:
    return PrivacySpec(
        space=space, multiverse=LevelSets(invariants=fixed) if fixed else Trivial(), input_divergence=Hamming(unit="household"),
        output_divergence=Mult(), budget=UniformBudget(parameter="epsilon", value=epsilon),
    )  # fmt: skip


def written_out(records: list[tuple[str, str]], places: int, noise: Fraction, rate: Fraction, *, derange: bool) -> dict:
    """Each record keeps its place or gets any, then each is selected or not, then the selected ones change places."""
    law: Counter[tuple[tuple[str, str], ...]] = Counter()
    size = len(records)
    one = [{str(k): noise / places + (1 - noise) * (str(k) == place) for k in range(places)} for _, place in records]
    selections = [chosen for k in range(size + 1) for chosen in itertools.combinations(range(size), k)]
    weights = {s: rate ** len(s) * (1 - rate) ** (size - len(s)) for s in selections if not (derange and len(s) == 1)}
    for drawn in itertools.product(*one):
        chance = math.prod((table[place] for table, place in zip(one, drawn, strict=True)), start=Fraction(1))
        for chosen, weight in weights.items():
            orders = list(itertools.permutations(chosen))
            if derange:
                orders = [order for order in orders if all(a != b for a, b in zip(order, chosen, strict=True))]
            for order in orders:
                moved = list(drawn)
                for giver, taker in zip(order, chosen, strict=True):
                    moved[taker] = drawn[giver]
                table = tuple(sorted(zip((kin for kin, _ in records), moved, strict=True)))
                law[table] += chance * weight / sum(weights.values()) / len(orders)
    return {table: mass for table, mass in law.items() if mass}


@pytest.mark.parametrize("records", [[("0", "0")], [("0", "0"), ("1", "1")], [("0", "0"), ("0", "1"), ("1", "2")]])
@pytest.mark.parametrize("noise", ["0", "1/10", "1"])
@pytest.mark.parametrize("swap", [PermutationSwapping, DerangementSwapping])
def test_the_law_is_that_of_both_steps(records: list[tuple[str, str]], noise: str, swap: type) -> None:
    mechanism = PreNoise(mechanism=swap(swap=["place"], swap_rate="1/5"), rate=noise)
    expected = written_out(records, 3, Fraction(noise), Fraction(1, 5), derange=swap is DerangementSwapping)
    law = mechanism.law(tuple(records), space_of(2, 3))
    assert {outcome: law.probability(outcome) for outcome in law.support} == expected


@pytest.mark.spread(8, slow=8)
@pytest.mark.parametrize(
    "swap",
    [
        PermutationSwapping(swap=["place"], swap_rate="1/2"), DerangementSwapping(swap=["place"], swap_rate="1"),
        PairSwapping(swap=["place"], swap_rate="1/3"), PermutationSwapping(match=["kin"], swap=["place"], swap_rate="0"),
        RiskSwapping(swap=["place"], swap_rate="1/10", rate=[{"where": "unique in match x held x swapped", "rate": "1/2"}]),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("noise", "places"), [("1/10", 3), ("1/2", 2), ("1", 3)])
def test_the_constant_is_that_of_one_record_at_every_size(swap: object, noise: str, places: int) -> None:
    mechanism, rate = PreNoise(mechanism=swap, rate=noise), Fraction(noise)
    expected = ln(1 + places * (1 - rate) / rate)
    found = verify(mechanism, claim(space_of(2, places, most=3), expected))
    assert found.outcome is Outcome.VERIFIED
    assert found.constant.lower == found.constant.upper == expected
    assert judged(mechanism, claim(space_of(2, places), expected)).outcome is Outcome.VERIFIED
    if rate < 1:
        assert judged(mechanism, claim(space_of(2, places), Fraction(1, 100))).outcome is Outcome.REFUTED


def test_where_the_second_table_is_held_fixed_too_less_is_asked() -> None:
    swap = PreNoise(mechanism=PermutationSwapping(swap=["place"], swap_rate="1/5"), rate="1/10")
    both = (HELD, Marginal(attributes=("place",), unit="household"))
    assert judged(swap, claim(space_of(2, 3), ln(28), both)).outcome is Outcome.VERIFIED
    assert judged(swap, claim(space_of(2, 2, most=3), 1, both)).outcome is not Outcome.UNDECIDED


def test_no_proof_without_the_held_table_or_without_noise() -> None:
    swap = PermutationSwapping(swap=["place"], swap_rate="1/5")
    for mechanism, fixed in ((PreNoise(mechanism=swap, rate="1/10"), ()), (PreNoise(mechanism=swap, rate="0"), (HELD,))):
        assert judged(mechanism, claim(space_of(2, 3), ln(28), fixed)).outcome is not Outcome.VERIFIED


COUNTIES = {"name": "county", "count": 2}
TRACTS = {"name": "tract", "categories": ["p", "q", "r"], "within": "county", "parents": ["0", "0", "1"]}


def nested(*attributes: dict) -> UnorderedRecords:
    return UnorderedRecords(attributes=[*attributes, {"name": "kin", "count": 2}], unit="household")


def test_values_lie_in_the_coarser_one_that_stays() -> None:
    """In county 0 the constant is that of two tracts; in county 1 a record keeps its only tract."""
    space = nested(COUNTIES, TRACTS)
    mechanism = PreNoise(mechanism=PermutationSwapping(match=["county"], swap=["tract"], swap_rate="1/5"), rate="1/2")
    law = mechanism.law((("0", "p", "0"), ("1", "r", "1")), space)
    assert {outcome: str(law.probability(outcome)) for outcome in law.support} == {
        (("0", "p", "0"), ("1", "r", "1")): "3/4", (("0", "q", "0"), ("1", "r", "1")): "1/4",
    }  # fmt: skip
    fixed = (Marginal(attributes=("county", "kin"), unit="household"),)
    assert judged(mechanism, claim(space, ln(3), fixed)).outcome is Outcome.VERIFIED
    assert judged(mechanism, claim(space, ln(2), fixed)).outcome is Outcome.REFUTED


def test_both_levels_can_be_replaced_but_not_the_coarser_one_alone() -> None:
    space = nested(COUNTIES, TRACTS)
    whole = PreNoise(mechanism=PermutationSwapping(swap=["county", "tract"], swap_rate="0"), rate="1")
    law = whole.law((("0", "p", "0"),), space)
    assert {str(law.probability(outcome)) for outcome in law.support} == {"1/3"}
    with pytest.raises(IncompatibleBlocksError):
        PreNoise(mechanism=PermutationSwapping(swap=["county"], swap_rate="0"), rate="1").check(space)


def test_what_is_no_swap_is_refused() -> None:
    inner = PreNoise(mechanism=PairSwapping(swap=["place"], swap_rate="1/5"), rate="1/2")
    with pytest.raises(errors.ParameterError, match="no swap"):
        PreNoise(mechanism=inner, rate="1/2")


@pytest.mark.statistical
def test_a_release_replaces_as_often_as_it_says_and_keeps_the_rest() -> None:
    """Of 40,000 records in tract q each is in p with probability 1/8, before a swap that keeps how many; 1e-9 by Hoeffding."""
    space, size = nested(COUNTIES, TRACTS), 40_000
    codes = {name: np.full(size, code) for name, code in (("county", 0), ("tract", 1), ("kin", 0))}
    table = Table(attributes=space.attributes_of("household"), codes=codes)
    mechanism = PreNoise(mechanism=PermutationSwapping(match=["county"], swap=["tract"], swap_rate="1/3"), rate="1/4")
    released = mechanism.release(table, space, SeededRandomness(5))
    assert set(released.codes["county"].tolist()) == {0}
    assert set(released.codes["tract"].tolist()) == {0, 1}
    share = float((released.codes["tract"] == 0).mean())
    assert abs(share - 1 / 8) < math.sqrt(math.log(2e9) / (2 * size))


def test_the_report_says_nothing_that_depends_on_what_was_swapped() -> None:
    from dpspec.plugin import workers

    space = space_of(2, 3)
    tables = [
        Table(attributes=space.attributes_of("household"), codes={"kin": np.array([0, 1, 1]), "place": np.array(places)})
        for places in ([0, 0, 0], [0, 1, 2])
    ]
    mechanism = PreNoise(mechanism=DerangementSwapping(swap=["place"], swap_rate="1/3"), rate="1/4")
    one, other = (mechanism.run(table, space, workers.Run(source=SeededRandomness(1))).report for table in tables)
    assert one == other
