"""Swapping with rates by risk, against every selection and every permutation that is written out."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from dpspec_census import DerangementSwapping, PermutationSwapping, RiskSwapping
from dpspec_census.risk_swapping import CELL, HELD

import dpspec as dp
from dpspec.base.exact import ln
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.records import UnorderedRecords
from dpspec.grammar.tables import Members
from dpspec.grammar.workers import Run
from dpspec.plugin import Bracket, Table, errors
from dpspec.verifier.exhaustive import verify

Dataset = tuple[tuple[str, str], ...]
SPACE = UnorderedRecords(attributes=[{"name": "kin", "count": 5}, {"name": "place", "count": 5}], unit="household")


def table(rests: list[int], values: list[int]) -> Dataset:
    return tuple(sorted((str(rest), str(value)) for rest, value in zip(rests, values, strict=True)))


def rates_of(dataset: Dataset, where: str, unique: Fraction, other: Fraction) -> list[Fraction]:
    seen = Counter(record if where == CELL else record[0] for record in dataset)
    return [unique if seen[record if where == CELL else record[0]] == 1 else other for record in dataset]


def written_out(dataset: Dataset, rates: list[Fraction], derange: bool) -> dict[Dataset, Fraction]:
    """Every selection with its own probability, and every order of the selected records."""
    law: Counter[Dataset] = Counter()
    places = range(len(dataset))
    for size in range(len(dataset) + 1):
        for chosen in itertools.combinations(places, size):
            if derange and size == 1 and len(dataset) > 1:
                continue
            chance = Fraction(1)
            for place in places:
                chance *= rates[place] if place in chosen else 1 - rates[place]
            orders = [
                order
                for order in itertools.permutations(chosen)
                if not derange or len(dataset) < 2 or all(a != b for a, b in zip(chosen, order, strict=True))
            ]
            for order in orders:
                gives = dict(zip(chosen, order, strict=True))
                moved = tuple(sorted((dataset[i][0], dataset[gives.get(i, i)][1]) for i in places))
                law[moved] += chance / len(orders)
    total = sum(law.values())
    return {one: mass / total for one, mass in law.items() if mass}


TABLES = [
    ([0], [0]),
    ([0, 1], [0, 1]),
    ([0, 0, 1], [0, 1, 1]),
    ([0, 0, 1, 2], [0, 1, 2, 3]),
    ([0, 0, 1, 1], [0, 0, 1, 1]),
    ([0, 0, 1, 2, 3], [0, 0, 1, 2, 3]),
    ([0, 0, 0, 1, 2], [0, 1, 1, 2, 2]),
]


@pytest.mark.parametrize(("rests", "values"), TABLES, ids=str)
@pytest.mark.parametrize("where", [HELD, CELL])
@pytest.mark.parametrize("algorithm", ["derangement", "permutation"])
def test_the_law_is_that_of_every_selection(rests: list[int], values: list[int], where: str, algorithm: str) -> None:
    dataset = table(rests, values)
    swap = RiskSwapping(swap=["place"], swap_rate="1/10", rate=[{"where": where, "rate": "1/2"}], algorithm=algorithm)
    law = swap.law(dataset, SPACE)
    rates = rates_of(dataset, where, Fraction(1, 2), Fraction(1, 10))
    assert {one: law.probability(one) for one in law.support} == written_out(dataset, rates, algorithm == "derangement")


@pytest.mark.parametrize(("kind", "algorithm"), [(DerangementSwapping, "derangement"), (PermutationSwapping, "permutation")])
def test_one_rate_is_the_swap_without_conditions(kind, algorithm: str) -> None:
    same = RiskSwapping(swap=["place"], swap_rate="1/5", rate=[{"where": CELL, "rate": "1/5"}], algorithm=algorithm)
    for rests, values in TABLES:
        assert same.law(table(rests, values), SPACE) == kind(swap=["place"], swap_rate="1/5").law(table(rests, values), SPACE)


def constant(rests: list[int], values: list[int], swap: RiskSwapping) -> Bracket:
    """The largest slope over all tables of one universe."""
    tables = sorted({table(rests, list(order)) for order in itertools.permutations(values)})
    laws = [swap.law(one, SPACE) for one in tables]
    largest = Bracket.exactly(0)
    for (one, here), (other, there) in itertools.permutations(zip(tables, laws, strict=True), 2):
        distance = (Counter(one) - Counter(other)).total()
        for outcome in here.support:
            p, q = here.probability(outcome), there.probability(outcome)
            slope = Bracket.exactly("inf") if not q else Bracket.exactly(ln(p / q) / distance)
            largest = slope if slope.lower > largest.lower else largest
    return largest


def of_cells(rate: str, unique: str) -> Bracket:
    swap = RiskSwapping(swap=["place"], swap_rate=rate, rate=[{"where": CELL, "rate": unique}])
    return constant([0, 0, 1, 1], [0, 0, 1, 1], swap)


def test_unique_held_values() -> None:
    swap = RiskSwapping(swap=["place"], swap_rate="1/10", rate=[{"where": HELD, "rate": "1/2"}])
    assert constant([0, 0, 1, 2], [0, 1, 2, 3], swap).lower == ln(Fraction(171, 4)) / 2


def test_rates_of_cells_cost_more_than_either_rate() -> None:
    assert of_cells("1/10", "1/2").lower > max(of_cells("1/10", "1/10").upper, of_cells("1/2", "1/2").upper)
    assert of_cells("0", "1/2").lower.is_infinite
    assert of_cells("1/2", "0").lower.is_infinite


def test_the_engine_finds_the_same() -> None:
    """The constant of all universes of three records is that of the engine, and the file of `specs` holds."""
    swap = RiskSwapping(swap=["place"], swap_rate="1/10", rate=[{"where": HELD, "rate": "1/2"}])
    space = UnorderedRecords(
        attributes=[{"name": "kin", "count": 3}, {"name": "place", "count": 3}], unit="household", least=3, most=3
    )
    spec = dp.spec(
        space=space, invariants=swap.scheme().invariants(space), distance=dp.hamming(unit="household"), standard="pure", epsilon=9
    )
    found = verify(swap, spec).constant
    assert found.lower == max(
        constant(rests, values, swap).lower
        for rests in ([0, 1, 2], [0, 0, 1], [0, 1, 1])
        for values in ([0, 1, 2], [0, 0, 1], [0, 1, 1])
    )


def test_rates_that_never_end_are_refused() -> None:
    with pytest.raises(errors.ParameterError, match="for ever"):
        RiskSwapping(swap=["place"], swap_rate="0", rate=[{"where": HELD, "rate": "1"}])
    RiskSwapping(swap=["place"], swap_rate="0", rate=[{"where": HELD, "rate": "1"}], algorithm="permutation")
    with pytest.raises(dp.DpspecError, match="rate"):
        RiskSwapping(swap=["place"], swap_rate="0", rate=[{"where": HELD, "rate": "3/2"}])


def test_no_formula_is_invented() -> None:
    swap = RiskSwapping(swap=["place"], swap_rate="1/10", rate=[{"where": HELD, "rate": "1/2"}])
    with pytest.raises(errors.NoFormulaError):
        swap.constant(SPACE)
    with pytest.raises(errors.NotEnumerableError):
        swap.law(table([0, 1] * 4, [0, 1] * 4), SPACE)


@pytest.mark.parametrize("where", [HELD, CELL])
def test_rows_with_a_rate_of_their_own(where: str) -> None:
    swap = RiskSwapping(swap=["place"], swap_rate="1/10", rate=[{"where": where, "rate": "1/2"}])
    dataset = table([0, 0, 1, 2, 2], [0, 1, 1, 3, 3])
    attributes = SPACE.attributes_of("household")
    rows = Table.from_records(list(dataset), attributes)
    found = swap.records_by_rate(rows, SPACE)
    expected = rates_of(dataset, where, Fraction(1, 2), Fraction(1, 10))
    assert [found.rates[place] or Fraction(1, 10) for place in found.of_row] == expected
    assert np.asarray(found.of_row).dtype == np.int64


def test_households_with_other_persons_are_not_alike() -> None:
    """A release of households with persons failed: what they hold has a column in the space, and none in the table."""
    space = dp.households(household={"kin": ["0", "1"], "place": ["a", "b"]}, person={"sex": ["f", "m"]}, most=5, members=3)
    held = ["fm", "mf", "ff", "", "fm"]
    persons = Table.from_records([(sex,) for home in held for sex in home], space.person)
    owner = np.repeat(np.arange(5), [len(home) for home in held])
    homes = Table.from_records([("0", "a"), ("0", "b"), ("0", "b"), ("0", "b"), ("1", "a")], space.household)
    table = Table(attributes=homes.attributes, codes=homes.codes, members=Members(table=persons, owner=owner))
    for where, alone in ((HELD, [False, False, True, True, True]), (CELL, [True] * 5)):
        rate = [{"where": where, "rate": "1/2"}]
        mechanism = RiskSwapping(swap=["place"], swap_rate="1/10", rate=rate, algorithm="permutation")
        rates = mechanism.records_by_rate(table, space)
        assert (rates.of_row == 0).tolist() == alone
        released = mechanism.run(table, space, Run(source=SeededRandomness(1))).main
        assert sorted(released.members.table.records()) == sorted(persons.records())
    with pytest.raises(errors.TableError, match="has records without members"):
        mechanism.run(homes, space, Run(source=SeededRandomness(1)))


def test_records_of_many_attributes_are_compared() -> None:
    """All their combinations are more than 64 bits number, and the release failed."""
    attributes = [{"name": f"a{place}", "count": 10} for place in range(24)]
    space = UnorderedRecords(attributes=attributes, unit="household")
    records = [("0",) * 24, ("0",) * 24, ("0",) * 23 + ("1",), ("9",) * 24]
    table = Table.from_records(records, space.attributes)
    for where, alone in ((HELD, [False, False, False, True]), (CELL, [False, False, True, True])):
        mechanism = RiskSwapping(swap=["a23"], swap_rate="1/10", rate=[{"where": where, "rate": "1/2"}])
        assert (mechanism.records_by_rate(table, space).of_row == 0).tolist() == alone
