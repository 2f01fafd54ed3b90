"""Simulated releases of four counts have the law of the swap, and the power that is said to be reached is reached."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from dpspec_census.swap_simulation import _groups, _published, simulated_power
from dpspec_census.swapping import DerangementSwapping, PermutationSwapping

import dpspec as dp
from dpspec.plugin import laws

SPACE = dp.records(tenure=["own", "rent", "free"], place=["a", "b", "c"], unit="household")
RECORDS = [("own", "a"), ("own", "b"), ("rent", "a"), ("rent", "b"), ("free", "c"), ("own", "c")]
CORNER = (("own", "a"), ("rent", "b"), ("own", "b"), ("rent", "a"))
KINDS = [PermutationSwapping, DerangementSwapping]


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def cells_of(records) -> Counter:
    return Counter(((rest,), (place,)) for rest, place in records)


@pytest.mark.spread(3, slow=3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rate", ["1/5", "9/10", "1"])
def test_four_counts_have_the_law_of_the_swap(kind, rate) -> None:
    """Against the listed law, which shares nothing with the simulation."""
    law, exact = kind(swap=["place"], swap_rate=rate).law(SPACE.dataset(RECORDS), SPACE), Counter()
    for released, probability in law.probabilities():
        held = Counter(released)
        exact[tuple(held[kind_] for kind_ in CORNER)] += float(probability)
    groups = _groups(cells_of(RECORDS), (("own",), ("a",)), (("rent",), ("b",)))
    assert groups.sum() == len(RECORDS)
    runs = 6_000
    rows = _published(groups, Fraction(rate), runs, generator(3), derange=kind is DerangementSwapping)
    drawn = Counter(map(tuple, rows.astype(int).tolist()))
    distance = sum(abs(exact[key] - drawn[key] / runs) for key in {*exact, *drawn}) / 2
    assert set(drawn) <= {key for key, mass in exact.items() if mass > 0}
    assert distance < 0.03, distance  # about 0.01 is expected for up to 40 outcomes; the seed is fixed


@pytest.mark.spread(1, slow=1)
@pytest.mark.parametrize("kind", KINDS)
def test_a_transposed_stratum_has_the_same_law(kind) -> None:
    """Rest values and swap values may change their parts: the inverse of a derangement is one."""
    groups = np.array([[1, 9, 20], [1, 1, 20], [1, 1, 30]])
    means = [
        _published(side, Fraction(1, 2), 4_000, generator(5), derange=kind is DerangementSwapping).mean(axis=0)
        for side in (groups, groups.T)
    ]
    assert means[0][[0, 1, 3, 2]] == pytest.approx(means[1], abs=0.15)


@pytest.mark.spread(1, slow=1)
@pytest.mark.parametrize("kind", KINDS)
def test_the_simulated_power_is_below_the_exact_one(kind) -> None:
    """Of tables whose laws can be listed: at most the largest power against any exchange (with confidence; the seed is fixed)."""
    derange, strata = kind is DerangementSwapping, {(): cells_of(RECORDS)}
    for level in (Fraction(1, 20), Fraction(1, 4)):
        mechanism = kind(swap=["place"], swap_rate="1/5")
        found = simulated_power(mechanism.constants(), strata, level, derange=derange, runs=4_000)
        own = mechanism.law(SPACE.dataset(RECORDS), SPACE)
        largest = Fraction(0)
        for i, (rest, place) in enumerate(RECORDS):
            for j, (other, elsewhere) in enumerate(RECORDS[:i]):
                changed = [*RECORDS]
                changed[i], changed[j] = (rest, elsewhere), (other, place)
                pair = own.against(mechanism.law(SPACE.dataset(changed), SPACE))
                both = (laws.largest_power(side, level).upper.as_fraction() for side in (pair, pair.reverse()))
                largest = max(largest, *both)
        assert float(level) < found.power <= float(largest)
        assert found.power > float(largest) / 2


def test_nothing_is_simulated_where_no_exchange_changes_the_table() -> None:
    mechanism = PermutationSwapping(swap=["place"], swap_rate="1/5")
    strata = {(): cells_of([("own", "a"), ("own", "b")])}
    assert simulated_power(mechanism.constants(), strata, Fraction(1, 20), derange=False) is None


@pytest.mark.slow
def test_risk_prints_the_table_itself_beside_its_universe(tmp_path) -> None:
    """From above by the theorem that `tradeoff` uses, from below by simulation; nothing is said of a released table."""
    kinds = [(rest, place) for rest in ("own", "rent", "free") for place in ("a", "b", "c")]
    path = tmp_path / "table.csv"
    path.write_text("tenure,place\n" + "\n".join(",".join(kind) for kind in kinds for _ in range(8)) + "\n", encoding="utf-8")
    kept = [dp.marginal(attributes=[name], unit="household") for name in ("tenure", "place")]
    spec = dp.spec(space=SPACE, invariants=kept, distance="hamming", standard="pure", epsilon=20, unit="household")
    mechanism = PermutationSwapping(swap=["place"], swap_rate="1/2")
    report = dp.risk(spec, "tester", mechanism=mechanism, universe_of=str(path), levels=["1/20"], distance=2)
    own = {row.quantity: row.own[0] for row in report.rows if ("tables", "this one and the nearest ones") in row.at}
    most, least = own["power"].value.upper, own["power, simulated"].value.lower
    table = dp.read_table(spec, path)
    assert most == mechanism.power_on_table(spec, table, Fraction(1, 20)).power.upper
    assert dp.number("1/20") < least <= most
    assert not any(row.worst for row in report.rows if ("tables", "this one and the nearest ones") in row.at)
    assert "for the office alone" in own["power"].theorem
