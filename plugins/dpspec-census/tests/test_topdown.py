"""TopDown: the fit against enumeration, the invariants, the printed claims inside and outside the universes."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from dpspec_census import Measurement, Topdown, TopdownNoise
from dpspec_census.topdown import loss_of_one_unit, query_rows, weights
from dpspec_divergences import DNor, Hamming

from dpspec.base.errors import IncompatibleBlocksError, NoFormulaError, NumericalError, TableError
from dpspec.base.exact import INFINITY, number
from dpspec.base.randomness import SeededRandomness, SystemRandomness
from dpspec.blocks.invariant import FunctionInvariant, LinearMap, Marginal
from dpspec.blocks.records import ContingencyTables, Households, OrderedRecords, UnorderedRecords
from dpspec.grammar.tables import Table

ATTRIBUTES = [
    {"name": "state", "categories": ["a", "b"]},
    {"name": "block", "categories": ["a1", "a2", "b1"], "within": "state", "parents": ["a", "a", "b"]},
    {"name": "adult", "categories": ["no", "yes"]},
]
SPACE = UnorderedRecords(attributes=ATTRIBUTES, least=0, most=4)
STATES = Marginal(attributes=["state"])
BLOCKS = Marginal(attributes=["block"])
ADULTS = Marginal(attributes=["adult"])
ZEROS = Marginal(attributes=[], where={"block": ["b1"], "adult": ["no"]})


def topdown(*invariants, variances=("2", "1/2")):
    measurements = [{"query": q, "variance": v} for q, v in zip((BLOCKS, ADULTS), variances, strict=False)]
    return Topdown(measurements=measurements, invariants=invariants)


def people(*texts):
    places = {"a1": "a", "a2": "a", "b1": "b"}
    records = [(places[block], block, adult) for block, adult in (text.split() for text in texts)]
    return SPACE.dataset(records)


@pytest.mark.reference("B-A5")
@pytest.mark.reference("B-A6")
def test_the_fit_is_a_nearest_table_by_enumeration():
    mechanism = topdown(STATES, ZEROS)
    assert weights(mechanism.variances(SPACE)) == (1, 1, 1, 2, 2)
    x = people("a1 yes", "a2 no", "b1 yes")
    fixed = mechanism.fixed(x, SPACE)
    universe = [z for z in SPACE.datasets() if mechanism.fixed(z, SPACE) == fixed]
    assert len(universe) == 10
    for t in itertools.product((-1, 2), (0, 1), (-2, 1), (0, 3), (-3, 0, 5)):

        def loss(z, t=t):
            return sum(w * abs(q - n) for w, q, n in zip((1, 1, 1, 2, 2), mechanism.answers(z, SPACE), t, strict=True))

        z = mechanism.fit(fixed, t, SPACE)
        assert z in universe
        assert loss(z) == min(map(loss, universe)), t


@pytest.mark.reference("B-D25")
def test_the_invariants_are_those_of_the_data_whatever_the_noise():
    mechanism = topdown(STATES, ZEROS)
    noise = np.random.default_rng(1)
    for x in list(SPACE.datasets())[::17]:
        law = mechanism.law(x, SPACE)
        for _ in range(3):
            t = tuple(int(a) for a in noise.integers(-9, 10, 5))
            z, given = law.outcome(t)
            assert given == t
            for invariant in (STATES, ZEROS):
                assert invariant.value(z, SPACE) == invariant.value(x, SPACE)
            assert law.outcome(t) == (z, t)


def test_without_invariants_the_size_stays_inside_the_space():
    mechanism = topdown()
    assert mechanism.fit((), (50, 0, 0, 50, 0), SPACE) == people(*["a1 no"] * 4)
    fixed_size = UnorderedRecords(attributes=ATTRIBUTES, least=2, most=2)
    assert len(mechanism.fit((), (0, 0, 0, 0, 0), fixed_size)) == 2
    assert mechanism.fit((), (0, -3, -1, 0, -1), SPACE) == ()


def test_a_table_that_breaks_an_invariant_is_never_released(monkeypatch):
    from dpspec_census import topdown as topdown_fit

    mechanism = topdown(STATES, variances=("3", "1/2"))
    monkeypatch.setattr(topdown_fit, "_solve", lambda *arguments: (0,) * 6)
    with pytest.raises(NumericalError, match="nothing is released"):
        mechanism.fit((1, 0), (1, 0, 0, 1, 0), SPACE)
    monkeypatch.undo()
    with pytest.raises(NumericalError, match="found no table"):
        mechanism.fit((9, 9), (1, 0, 0, 1, 0), SPACE)


# --- budgets and claims ----------------------------------------------------------------------------------


@pytest.mark.reference("B-O53")
@pytest.mark.reference("B-O54")
def test_the_loss_of_one_replaced_record():
    cells = TopdownNoise(measurements=[{"query": Marginal(attributes=["state", "block", "adult"]), "variance": "7/3"}])
    assert cells.rho(SPACE) == number("3/7")
    total = TopdownNoise(measurements=[{"query": Marginal(attributes=[]), "variance": "1"}])
    assert total.rho(SPACE) == number(0)
    # |dq|^2 = 2 for the blocks at variance 2, and 2 for the adults at variance 1/2.
    assert topdown().rho(SPACE) == number(Fraction(2, 4) + 2)


def test_the_loss_is_the_largest_over_all_pairs_of_datasets_at_distance_one():
    mechanism = topdown(variances=("5", "3/2"))
    space = UnorderedRecords(attributes=ATTRIBUTES, least=2, most=2)
    far = Fraction(0)
    for x, y in itertools.combinations(space.datasets(), 2):
        steps = Hamming(unit="person").distance(x, y, space)
        moved = zip(mechanism.answers(x, space), mechanism.answers(y, space), mechanism.variances(space), strict=True)
        loss = sum((a - b) ** 2 / (2 * v) for a, b, v in moved)
        if steps == 1:
            far = max(far, loss)
        assert number(loss) <= mechanism.rho(space) * steps.squared()
    assert number(far) == mechanism.rho(space)


@pytest.mark.reference("B-X6")
def test_household_queries_have_no_finite_loss_per_person():
    space = Households(household=[{"name": "block", "count": 2}], person=[{"name": "adult", "count": 2}], most=2, members=1)
    persons = Marginal(attributes=["block"], unit="person")
    vacant = Marginal(attributes=["block"], unit="household")
    assert loss_of_one_unit([(persons, Fraction(1))], space, "person") == number(1)
    assert loss_of_one_unit([(persons, Fraction(1)), (vacant, Fraction(1))], space, "person") == INFINITY
    assert loss_of_one_unit([(persons, Fraction(1)), (vacant, Fraction(1))], space, "household") == number(2)


def d_nor(mechanism, x, y):
    return DNor().between(mechanism.law(x, SPACE), mechanism.law(y, SPACE))


@pytest.mark.reference("B-T13")
@pytest.mark.reference("B-T15")
def test_the_printed_claims():
    (noise,) = TopdownNoise(measurements=topdown().measurements).claims(SPACE)
    (fitted,) = topdown(STATES).claims(SPACE)
    assert (noise.source, fitted.source) == (
        "Bailie, Gong and Meng 2023, noise step of TopDown",
        "Bailie, Gong and Meng 2023, theorem on TopDown",
    )
    assert noise.spec.multiverse.invariants == ()
    assert fitted.spec.multiverse.invariants == (STATES,)
    assert noise.spec.budget == fitted.spec.budget
    assert noise.spec.bound(next(noise.spec.multiverse.universes(SPACE))) == number("5/2").sqrt()


@pytest.mark.reference("B-T13")
@pytest.mark.reference("B-T16")
@pytest.mark.reference("B-S22")
def test_inside_a_universe_the_loss_is_that_of_the_noise_and_outside_it_is_infinite():
    mechanism = topdown(STATES)
    noise = TopdownNoise(measurements=mechanism.measurements)
    rho = mechanism.rho(SPACE)
    datasets = [x for x in SPACE.datasets() if len(x) == 2]
    for x, y in itertools.combinations(datasets, 2):
        steps = Hamming(unit="person").distance(x, y, SPACE)
        found = d_nor(mechanism, x, y)
        if STATES.value(x, SPACE) == STATES.value(y, SPACE):
            assert found == d_nor(noise, x, y)
            assert found.upper <= rho.sqrt() * steps
        else:
            assert found.lower == INFINITY
            assert d_nor(noise, x, y).upper <= rho.sqrt() * steps


@pytest.mark.reference("B-T13")
def test_dropping_an_invariant_from_the_universes_leaves_no_finite_budget():
    mechanism = topdown(STATES, ZEROS)
    x, y = people("a1 yes", "a2 no"), people("b1 yes", "a2 no")
    assert ZEROS.value(x, SPACE) == ZEROS.value(y, SPACE)
    assert d_nor(mechanism, x, y).lower == INFINITY
    # The outcomes themselves show why: for one and the same t, the fitted tables keep different state counts.
    t = (1, 1, 0, 1, 1)
    (z, _), (w, _) = mechanism.law(x, SPACE).outcome(t), mechanism.law(y, SPACE).outcome(t)
    assert STATES.value(z, SPACE) != STATES.value(w, SPACE)


@pytest.mark.slow
@pytest.mark.reference("B-T16")
def test_the_law_agrees_with_the_enumerated_image_of_noise_and_invariants():
    # The general construction: one common function (c, t) -> (fit(c, t), t) of the independent pair (c(x), t).
    from dpspec.laws.combine import Product, PushForward
    from dpspec.laws.law import FiniteLaw

    mechanism = Topdown(measurements=[{"query": ADULTS, "variance": "1/2"}], invariants=[STATES])

    def outcome(pair):
        return mechanism.fit(pair[0], pair[1:], SPACE), pair[1:]

    def image(x):
        noise = mechanism.noise_law(x, SPACE)
        return PushForward(Product((FiniteLaw.point(mechanism.fixed(x, SPACE)), *noise.laws)), outcome)

    x, y, outside = people("a1 yes", "b1 no"), people("a2 no", "b1 no"), people("a1 yes", "a1 no")
    found, enumerated = d_nor(mechanism, x, y), DNor().between(image(x), image(y), precision=16)
    assert found.is_exact
    assert enumerated.lower <= found.lower == number(2).sqrt() <= enumerated.upper
    inside, beyond = (set(image(z).window(16)) for z in (x, outside))
    assert {t for _, t in inside} & {t for _, t in beyond}
    assert not inside & beyond
    assert d_nor(mechanism, x, outside).lower == INFINITY


def test_laws_of_different_mechanisms_are_not_compared():
    x = people("a1 yes")
    with pytest.raises(NoFormulaError):
        topdown(STATES).law(x, SPACE).against(topdown().law(x, SPACE))


# --- tables ----------------------------------------------------------------------------------------------


def table_of(dataset, space=SPACE):
    return Table.from_records(dataset, space.attributes)


@pytest.mark.reference("B-A6")
@pytest.mark.parametrize("cls", [UnorderedRecords, ContingencyTables])
def test_a_release_gives_both_outputs_and_keeps_the_invariants(cls):
    space = cls(attributes=ATTRIBUTES)
    mechanism = topdown(STATES, ZEROS)
    records = table_of(people("a1 yes", "a2 no", "b1 yes")).replace({})
    big = Table(attributes=records.attributes, codes={n: np.tile(c, 40) for n, c in records.codes.items()})
    z, noisy = mechanism.release_both(big, space, SystemRandomness())
    assert z.counts(["state"]) == big.counts(["state"])
    assert ("b1", "no") not in z.counts(["block", "adult"])
    assert len(noisy) == 5
    assert [a.name for a in noisy.attributes] == ["query", "block", "adult", "value", "status"]
    again, _ = mechanism.release_both(big, space, SeededRandomness(1))
    repeated, _ = mechanism.release_both(big, space, SeededRandomness(1))
    assert again.counts(["block", "adult"]) == repeated.counts(["block", "adult"])
    assert len(mechanism.release(big, space, SystemRandomness())) == 120


@pytest.mark.slow
@pytest.mark.statistical
def test_the_noise_of_a_release_has_the_law_of_the_claim():
    # 3,996 draws with variance 2: chi-square over {<=-3, -2, ..., 2, >=3} at level 1e-9 (the false alarm). Noise with the
    # wrong variance 3 is missed with a probability below 1e-9, which is computed here.
    from scipy.stats import chi2, ncx2

    def law(variance):
        mass = {k: math.exp(-k * k / (2 * variance)) for k in range(-60, 61)}
        binned = [sum(p for k, p in mass.items() if min(max(k, -3), 3) == b) for b in range(-3, 4)]
        return np.asarray(binned) / sum(mass.values())

    space = UnorderedRecords(attributes=[{"name": "kind", "count": 1000}])
    noise = TopdownNoise(measurements=[{"query": Marginal(attributes=["kind"]), "variance": "2"}])
    table = Table(attributes=space.attributes, codes={"kind": np.zeros(5, dtype=np.int64)})
    source = SeededRandomness(11)
    draws = []
    for _ in range(4):
        released = noise.release(table, space, source)
        values = list(released.attribute("value").values())
        draws += [int(values[code]) for code in released.codes["value"][1:]]
    counts = np.bincount(np.clip(draws, -3, 3) + 3, minlength=7)
    right, wrong = law(2) * len(draws), law(3) * len(draws)
    threshold = chi2.isf(1e-9, 6)
    assert ((counts - right) ** 2 / right).sum() < threshold
    assert ncx2.cdf(threshold, 6, ((wrong - right) ** 2 / right).sum()) < 1e-9


# --- what it cannot run on -------------------------------------------------------------------------------


def test_spaces_and_queries_that_are_not_linear_counts_are_refused():
    with pytest.raises(IncompatibleBlocksError, match="cells"):
        topdown().check(OrderedRecords(attributes=ATTRIBUTES))
    odd = FunctionInvariant(function=len, label="size")
    with pytest.raises(IncompatibleBlocksError, match="not linear"):
        Topdown(measurements=[Measurement(query=odd, variance=1)]).check(SPACE)
    with pytest.raises(IncompatibleBlocksError, match="unit"):
        TopdownNoise(measurements=topdown().measurements, unit="household").check(SPACE)
    records = table_of(people("a1 yes"))
    households = Households(household=[{"name": "block", "count": 2}], person=[{"name": "adult", "count": 2}], members=1)
    mechanism = Topdown(measurements=[{"query": Marginal(attributes=["block"]), "variance": 1}])
    with pytest.raises(TableError, match="records of one unit"):
        mechanism.release(records, households, SystemRandomness())


def test_a_linear_map_is_read_as_its_rows():
    query = LinearMap(rows=[[1, 2, 0, 0, 0, -1]], label="weights")
    assert query_rows(query, SPACE) == ((1, 2, 0, 0, 0, -1),)
    fixed_size = UnorderedRecords(attributes=ATTRIBUTES, least=3, most=3)
    assert query_rows(BLOCKS, fixed_size) == ((1, 1, 0, 0, 0, 0), (0, 0, 1, 1, 0, 0), (0, 0, 0, 0, 1, 1))
