"""Local randomisers: laws against fractions counted here, constants against all pairs, samplers against the laws, bad input."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from dpspec_code.automatic import ReleaseCode
from dpspec_divergences import (
    AddRemove,
    DifferInOnePosition,
    DNor,
    Hamming,
    HammingOrdered,
    Mult,
    MultDelta,
    Neighbour,
    Renyi,
    SymmetricDifference,
    TotalVariation,
)
from dpspec_noise import (
    ComposedMechanism,
    CountMeanSketch,
    Filtered,
    HadamardResponse,
    KAryResponse,
    UnaryEncoding,
    sketch as sketch_module,
)
from dpspec_noise.samplers import irrational_coins
from flint import arb
from scipy import stats

from dpspec import Attribute, Marginal, PrivacySpec, Trivial, UniformBudget
from dpspec.base.errors import IncompatibleBlocksError, NotEnumerableError, ParameterError, ReleaseError
from dpspec.base.exact import ln, number
from dpspec.base.randomness import SeededRandomness, SystemRandomness
from dpspec.blocks.input_divergence import WithinDistance
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.records import Households, OrderedRecords, UnorderedRecords
from dpspec.blocks.vectors import BitVectors
from dpspec.grammar.tables import Table
from dpspec.laws.adaptive import Adaptive
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.proof import Missing, derive
from dpspec.verifier.verdict import Outcome
from tests.randomness.scripted import Words

PRIME = 2**31 - 1


def sequences(size: int, most: int | None = None) -> OrderedRecords:
    return OrderedRecords(attributes=(Attribute(name="word", count=size),), most=most)


def claim(space: Any, standard: Any = None, parameter: str = "epsilon", value: Any = 10**6, distance: Any = None) -> PrivacySpec:
    return PrivacySpec(
        space=space,
        multiverse=Trivial(),
        input_divergence=distance or HammingOrdered(),
        output_divergence=standard or Mult(),
        budget=UniformBudget(parameter=parameter, value=value),
    )


# --- laws, counted here -----------------------------------------------------------------------------------


def k_ary(size: int, keep: F) -> list[dict[Any, F]]:
    return [{(str(w),): keep if v == w else (1 - keep) / (size - 1) for w in range(size)} for v in range(size)]


def unary(size: int, keep: F, false: F) -> list[dict[Any, F]]:
    found = []
    for v in range(size):
        law = {}
        for bits in itertools.product((0, 1), repeat=size):
            chance = F(1)
            for c, bit in enumerate(bits):
                one = keep if c == v else false
                chance *= one if bit else 1 - one
            law[bits] = chance
        found.append(law)
    return found


def twice(laws_by_category: list[dict[Any, F]]) -> list[dict[Any, F]]:
    """Two rows of bits, independent of each other."""
    return [{(*a, *b): p * q for a, p in law.items() for b, q in law.items()} for law in laws_by_category]


def hadamard(size: int, odds: F) -> list[dict[Any, F]]:
    """The matrix by doubling: H, H over H, -H."""
    matrix = np.array([[1]])
    while len(matrix) <= size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    weights = [{(y,): odds if sign == 1 else F(1) for y, sign in enumerate(row)} for row in matrix[1 : size + 1].tolist()]
    return [{y: weight / sum(law.values()) for y, weight in law.items()} for law in weights]


def sketch(size: int, root: F, width: int, hashes: Any) -> list[dict[Any, F]]:
    keep = root / (root + 1)
    found = []
    for v in range(size):
        law = {}
        for j, coefficients in enumerate(hashes):
            place = sum(c * v**i for i, c in enumerate(coefficients)) % PRIME % width
            for bits in itertools.product((0, 1), repeat=width):
                chance = F(1, len(hashes))
                for c, bit in enumerate(bits):
                    chance *= keep if bit == (c == place) else 1 - keep
                law[j, bits] = chance
        found.append(law)
    return found


def drawn_rule(lot: random.Random, size: int) -> tuple[Any, list[dict[Any, F]]]:
    """A rule with random parameters, and its laws by category."""

    def chance(least: int = 0, most: int = 7) -> F:
        return F(lot.randint(least, most), 7)

    kinds = ("k-ary", "k-ary", "kept", "unary", "unary", "hashed", "symmetric", "optimised", "hadamard", "sketch", "sketch")
    kind = lot.choice(kinds)
    odds = F(lot.randint(1, 9), lot.randint(1, 3))
    odds = max(odds, 1 / odds)
    if kind == "k-ary":
        return KAryResponse(epsilon=ln(odds)), k_ary(size, odds / (odds + size - 1))
    if kind == "kept":
        keep = chance()
        return KAryResponse(keep_probability=keep), k_ary(size, keep)
    if kind == "unary":
        keep, false = chance(), chance()
        return UnaryEncoding(keep_probability=keep, false_probability=false), unary(size, keep, false)
    if kind == "hashed":
        keep, false = chance(), chance()
        rule = UnaryEncoding(keep_probability=keep, false_probability=false, hashes=2)
        return rule, twice(unary(size, keep, false))
    if kind == "symmetric":
        return UnaryEncoding(form=kind, epsilon=ln(odds**2)), unary(size, odds / (odds + 1), 1 / (odds + 1))
    if kind == "optimised":
        return UnaryEncoding(form=kind, epsilon=ln(odds)), unary(size, F(1, 2), 1 / (odds + 1))
    if kind == "hadamard":
        return HadamardResponse(epsilon=ln(odds)), hadamard(size, odds)
    width, count = lot.choice((1, 2, 2, 3, 5)), lot.choice((1, 2, 3))
    hashes = tuple(tuple(lot.randrange(PRIME) for _ in range(lot.choice((1, 2, 3)))) for _ in range(count))
    return CountMeanSketch(epsilon=ln(odds**2), width=width, hashes=hashes), sketch(size, odds, width, hashes)


def shown(outcome: Any) -> Any:
    """The outcome of one report as it is written here."""
    (one,) = outcome
    return one


def stated(rule: Any, category: int, space: OrderedRecords) -> dict[Any, F]:
    """The law of one report as the mechanism states it, whatever it is made of."""
    law = rule.report(category, space.attributes[0])
    if isinstance(law, Adaptive):
        return {(j, bits): law.first.probability(j) * chance for j, row in law.then for bits, chance in row.probabilities()}
    return dict(law.probabilities())


@pytest.mark.parametrize("seed", range(60))
def test_the_laws_are_those_of_the_publications(seed: int) -> None:
    lot = random.Random(seed)
    size = lot.choice((2, 3, 4, 5))
    space = sequences(size)
    rule, laws = drawn_rule(lot, size)
    for category, law in enumerate(laws):
        assert stated(rule, category, space) == {outcome: chance for outcome, chance in law.items() if chance}


def test_reports_of_several_people_are_independent() -> None:
    law = KAryResponse(epsilon="ln(3)").law([["0"], ["2"], ["2"]], sequences(3))
    assert law.probability((("0",), ("2",), ("1",))) == F(3, 5) ** 2 * F(1, 5)
    assert KAryResponse(epsilon="ln(3)").law([], sequences(3)).probability(()) == 1


def largest(laws: list[dict[Any, F]]) -> Any:
    """The largest log-ratio over all outcomes and pairs of categories."""
    worst: Any = number(0)
    for one, other in itertools.permutations(laws, 2):
        for outcome, p in one.items():
            if p:
                q = other.get(outcome, F(0))
                worst = max(worst, ln(p / q) if q else number("inf"))
    return worst


def variation(laws: list[dict[Any, F]]) -> F:
    return max(
        (sum((abs(p - other.get(o, F(0))) for o, p in one.items()), F(0)) / 2 for one, other in itertools.combinations(laws, 2)),
        default=F(0),
    )


@pytest.mark.spread(14, slow=8)
@pytest.mark.parametrize("seed", range(100, 180))
def test_the_constants_are_those_of_all_outcomes_of_all_pairs(seed: int) -> None:
    """Of any number of people, against one report's outcomes, counted here alone: equal, not above."""
    lot = random.Random(seed)
    size = lot.choice((2, 3, 4, 5))
    rule, laws = drawn_rule(lot, size)
    for standard, parameter, truth in (
        (Mult(), "epsilon", largest(laws)),
        (TotalVariation(), "distance", number(variation(laws))),
    ):
        found = derive(rule, claim(sequences(size), standard, parameter, "inf"))
        assert not isinstance(found, Missing)
        assert (found.constant.lower, found.constant.upper) == (truth, truth), (rule, found)


# --- constants against the exhaustive engine --------------------------------------------------------------


def case(lot: random.Random) -> tuple[Any, PrivacySpec, PrivacySpec]:
    """A mechanism, a claim about any number of people, and the same about few."""
    size = lot.choice((2, 2, 3, 4))
    rule, _ = drawn_rule(lot, size)
    asked = Attribute(name="word", count=size)
    others = ((), (Attribute(name="sex", categories=("f", "m")),))[lot.random() < 0.4]
    rule = type(rule)(**{**{f.name: getattr(rule, f.name) for f in type(rule).__attrs_attrs__}, "attribute": "word"})
    attributes = (*others, asked) if lot.random() < 0.5 else (asked, *others)
    known = [a.name for a in attributes]
    distance = lot.choice(
        (
            HammingOrdered(),
            HammingOrdered(),
            Neighbour(relation=DifferInOnePosition()),
            WithinDistance(of=HammingOrdered(), most=2),
        )
    )
    standard, parameter = lot.choice(
        (
            (Mult(), "epsilon"),
            (Mult(), "epsilon"),
            (DNor(), "rho"),
            (TotalVariation(), "distance"),
            (MultDelta(delta="1/20"), "epsilon"),
            (Renyi(order="5/2"), "epsilon"),
        )
    )
    if not standard.is_metric:
        distance = Neighbour(relation=DifferInOnePosition())
    tables = [Marginal(attributes=tuple(name for name in known if lot.random() < 0.5)) for _ in range(lot.choice((0, 0, 1, 2)))]
    conditions = {"word": tuple(map(str, lot.sample(range(size), lot.randint(1, size))))}
    tables += [Marginal(attributes=(), where=conditions)] if lot.random() < 0.3 else []
    multiverse = LevelSets(invariants=tuple(dict.fromkeys(tables))) if tables else Trivial()

    def spec(most: int | None) -> PrivacySpec:
        space = OrderedRecords(attributes=attributes, most=most)
        budget = UniformBudget(parameter=parameter, value="inf")
        return PrivacySpec(
            space=space, multiverse=multiverse, input_divergence=distance, output_divergence=standard, budget=budget
        )

    return rule, spec(None), spec(2 if size * (1 + len(others)) <= 6 else 1)


def judged(seed: int) -> str:
    rule, spec, few = case(random.Random(seed))
    found = derive(rule, spec)
    assert not isinstance(found, Missing), (seed, str(found))
    walked = verify(rule, few)
    if found.outcome is Outcome.UNDECIDED:
        assert all(universe.is_vacuous for universe in walked.universes) or few.space.most == 1, seed
        return "no pair"
    assert not found.constant.upper < walked.constant.lower, (seed, found, walked)
    assert not found.constant.lower > found.constant.upper
    alone = verify(rule, spec, datasets=found.universes[0].attained)
    assert not alone.constant.upper < found.constant.lower, (seed, found, alone)
    return "tight" if float(found.constant.upper) - float(found.constant.lower) < 1e-9 or found.constant.is_exact else "gap"


@pytest.mark.long
def test_no_proof_is_below_the_truth_and_no_pair_above_it() -> None:
    words = [judged(seed) for seed in range(40)]
    assert words.count("tight") >= 25


@pytest.mark.long
def test_two_thousand_random_claims() -> None:
    words = [judged(seed) for seed in range(1_000, 3_000)]
    print({word: words.count(word) for word in set(words)})


def test_a_pair_is_looked_for_among_the_categories_that_most_functions_tell_apart() -> None:
    """0 and 1 collide under both functions, 0 and 3 under none: a claim that is too small is refuted, not undecided."""
    rule = CountMeanSketch(epsilon="ln(9)", width=4, hashes=((0, 0, 0, 1), (5,)))
    assert [rule.apart(0, v) for v in (1, 2, 3)] == [1, 0, 1]
    apart = CountMeanSketch(epsilon="ln(9)", width=2, hashes=((0, PRIME - 1, 1), (1, PRIME - 2, 2)))  # v (v - 1), 1 + 2 v (v - 1)
    assert apart.apart(0, 1) == 0
    colliding = CountMeanSketch(epsilon="ln(9)", width=3, hashes=((0, PRIME - 1, 1), (0, PRIME - 2, 2)))
    assert colliding.apart(0, 1) == 0
    assert colliding.apart(0, 2) == 2
    for standard, parameter, value in (
        (Mult(), "epsilon", "ln(8)"),
        (DNor(), "rho", "1/2"),
        (TotalVariation(), "distance", "49/100"),
    ):
        found = derive(colliding, claim(sequences(10**6), standard, parameter, value))
        assert not isinstance(found, Missing)
        assert found.outcome is Outcome.REFUTED
        exact = derive(colliding, claim(sequences(10**6), standard, parameter, "inf"))
        assert not isinstance(exact, Missing)
        assert exact.constant.upper.decimal(9) == exact.constant.lower.decimal(9)


HALF = (PRIME + 1) // 2
ALONE = ((0, 2, PRIME - 1), (0, PRIME - HALF, HALF))
"""v (2 - v) and v (v - 1)/2: of 0, 1, 2 the one function sees category 1 alone, the other category 2."""


@pytest.mark.parametrize(("limit", "value", "size"), [("SEARCHED", 2, 3), ("FIRST", 1, 3)])
def test_what_was_not_looked_at_is_taken_for_the_worst(
    limit: str, value: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both functions tell 1 and 2 apart, which neither the first two categories show nor what category 0 is held against."""
    rule = CountMeanSketch(epsilon=3, width=5, hashes=ALONE)
    assert [rule.apart(0, 1), rule.apart(0, 2), rule.apart(1, 2)] == [1, 1, 2]
    sketch_module._farthest.cache_clear()
    monkeypatch.setattr(sketch_module, limit, value)
    assert rule.leaning(3) == rule.leaning_of(2)
    found = derive(rule, claim(sequences(3), TotalVariation(), "distance", "inf"))
    sketch_module._farthest.cache_clear()
    assert not isinstance(found, Missing)
    assert found.constant.upper >= derive(rule, claim(sequences(3), TotalVariation(), "distance", "inf")).constant.upper


def test_where_all_was_looked_at_the_constant_is_that_of_the_best_pair() -> None:
    rule = CountMeanSketch(epsilon=3, width=5, hashes=(*ALONE, (7,), (0, PRIME - 1, 1)))
    assert [rule.apart(0, 1), rule.apart(0, 2), rule.apart(1, 2)] == [1, 2, 3]
    assert rule.leaning(3) == rule.leaning_of(3)
    assert rule.leaning(2) == rule.leaning_of(1)
    assert rule.leaning(1) == rule.leaning_of(0)


def test_collisions_are_told() -> None:
    rule = CountMeanSketch(epsilon="ln(9)", width=2, hashes=((0, 1), (1, 1)))
    assert rule.collisions(sequences(5)) == (("0", "2", "4"), ("1", "3"))
    assert CountMeanSketch(epsilon=1, width=2**31 - 1, hashes=((0, 1),)).collisions(sequences(5)) == ()
    with pytest.raises(NotEnumerableError, match="ask `apart` of two categories"):
        rule.collisions(sequences(10**6))


def test_where_all_collide_nothing_is_given_away_and_the_printed_epsilon_is_loose() -> None:
    rule = CountMeanSketch(epsilon="ln(9)", width=1, hashes=((0, 1), (1, 1)))
    (printed,) = rule.claims(sequences(5))
    found = derive(rule, printed.spec)
    assert not isinstance(found, Missing)
    assert (str(found.constant), str(printed.spec.budget)) == ("0", "epsilon = ln(9)")


# --- any size -----------------------------------------------------------------------------------------------


@pytest.mark.spread(7, slow=4)
@pytest.mark.parametrize("size", [2, 2925, 10**6, 10**9])
@pytest.mark.parametrize(("rule", "epsilon"), [
    (KAryResponse(epsilon="ln(3)"), "ln(3)"), (KAryResponse(epsilon=1), "1"), (KAryResponse(epsilon="1024*ln(2)"), "1024*ln(2)"),
    (UnaryEncoding(form="symmetric", epsilon=3), "3"), (UnaryEncoding(form="optimised", epsilon="1+ln(2)"), "1+ln(2)"),
    (UnaryEncoding(keep_probability=F(1, 2**1024), false_probability="1/2"), f"ln({2**1024 - 1})"),
    (HadamardResponse(epsilon="1/2"), "1/2"), (CountMeanSketch(epsilon=4, width=1024, hashes=((1, 2, 3), (4, 5, 6))), "4"),
    (CountMeanSketch(epsilon="2048*ln(2)", width=1024, hashes=((1, 2, 3), (4, 5, 6))), "2048*ln(2)"),
])  # fmt: skip
def test_the_constant_of_any_number_of_categories(rule: Any, epsilon: str, size: int) -> None:
    found = derive(rule, claim(sequences(size), value=number(epsilon)))
    assert not isinstance(found, Missing)
    assert found.outcome is Outcome.VERIFIED
    assert found.universes[0].is_tight
    short = derive(rule, claim(sequences(size), value=number(epsilon) - F(1, 10**9)))
    assert not isinstance(short, Missing)
    assert short.outcome is Outcome.REFUTED


def test_what_a_fixed_probability_costs_grows_with_the_categories() -> None:
    rule = KAryResponse(keep_probability="3/4")
    assert [str(rule.epsilon_of(k)) for k in (2, 3, 2925)] == ["ln(3)", "ln(6)", "ln(8772)"]
    assert str(KAryResponse(keep_probability="1/3").epsilon_of(3)) == "0"
    assert rule.claims(sequences(2925))[0].spec.budget.uniform() == ln(8772)


@pytest.mark.parametrize("rule", [
    KAryResponse(keep_probability=1), KAryResponse(keep_probability=0),
    UnaryEncoding(keep_probability=1, false_probability="1/2"), UnaryEncoding(keep_probability="1/2", false_probability=0),
    UnaryEncoding(keep_probability=0, false_probability=1),
])  # fmt: skip
def test_certain_answers_have_no_finite_epsilon(rule: Any) -> None:
    space = sequences(4)
    assert rule.claims(space) == ()
    found = derive(rule, claim(space, value=10**6))
    assert not isinstance(found, Missing)
    assert found.outcome is Outcome.REFUTED


@pytest.mark.parametrize("chance", [0, 1, "1/3"])
def test_equal_chances_give_nothing_away(chance: Any) -> None:
    rule = UnaryEncoding(keep_probability=chance, false_probability=chance)
    found = derive(rule, claim(sequences(4), value=0))
    assert not isinstance(found, Missing)
    assert found.outcome is Outcome.VERIFIED


# --- other claims -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", [
    Hamming(), SymmetricDifference(), Neighbour(relation=AddRemove()), WithinDistance(of=Hamming(), most=2),
])  # fmt: skip
def test_distances_without_places_are_never_proved(distance: Any) -> None:
    """The order of the reports is seen, and their number: on few people the engine refutes, on many there is no proof."""
    for rule in (KAryResponse(epsilon="ln(3)"), HadamardResponse(epsilon=1), CountMeanSketch(epsilon=1, width=2, hashes=HASHES)):
        (own,) = rule.claims(sequences(3))
        found = derive(rule, own.spec.replace(input_divergence=distance))
        assert isinstance(found, Missing) or found.outcome is not Outcome.VERIFIED
        few = own.spec.replace(input_divergence=distance, space=sequences(3, 2))
        assert verify(rule, few).outcome is Outcome.REFUTED


@pytest.mark.slow
def test_several_reports_of_each_person_add_up() -> None:
    """Two questions, or one question twice, and what it takes for a part of the people: their number is seen."""
    sex, word = Attribute(name="sex", categories=("f", "m")), Attribute(name="word", count=2925)
    space = OrderedRecords(attributes=(sex, word))
    one = KAryResponse(attribute="word", epsilon="ln(3)")
    two = UnaryEncoding(attribute="sex", form="optimised", epsilon="ln(2)")
    for parts, epsilon in (((one, two), "ln(6)"), ((one, one), "ln(9)")):
        found = derive(ComposedMechanism(parts=parts), claim(space, value=epsilon))
        assert not isinstance(found, Missing)
        assert found.universes[0].is_tight
        refuted = derive(ComposedMechanism(parts=parts), claim(space, value="ln(3)"))
        assert not isinstance(refuted, Missing)
        assert refuted.outcome is Outcome.REFUTED
    for where in ({"sex": ("f",)}, {"word": ("0", "1")}):
        some = Filtered(mechanism=one, where=where)
        part = derive(some, claim(space))
        assert isinstance(part, Missing) or part.outcome is not Outcome.VERIFIED


def test_other_attributes_are_not_seen_and_cost_nothing() -> None:
    words, ages = Attribute(name="word", count=5), Attribute(name="age", count=116)
    space = OrderedRecords(attributes=(ages, words))
    rule = UnaryEncoding(attribute="word", form="optimised", epsilon=1)
    fixed = LevelSets(invariants=(Marginal(attributes=("word",)),))
    for multiverse in (Trivial(), fixed, LevelSets(invariants=(Marginal(attributes=()),))):
        found = derive(rule, claim(space, value=1).replace(multiverse=multiverse))
        assert not isinstance(found, Missing)
        assert found.outcome is Outcome.VERIFIED
        assert found.universes[0].is_tight
    assert rule.law([["17", "3"]], space) == rule.law([["90", "3"]], space)
    table = Table.from_records([("17", "3"), ("90", "1")], space.attributes)
    assert "age" not in rule.release(table, space, SeededRandomness(1)).codes


def test_a_category_within_another_is_reported_without_it() -> None:
    region, county = Attribute(name="region", count=2), Attribute(name="county", count=4, within="region")
    space = OrderedRecords(attributes=(region, county))
    rule = KAryResponse(attribute="county", epsilon="ln(3)")
    found = derive(rule, claim(space, value="ln(3)"))
    assert not isinstance(found, Missing)
    assert found.universes[0].is_tight
    released = rule.release(Table.from_records([("1", "3")], space.attributes), space, SeededRandomness(1))
    assert [(a.name, a.within) for a in released.attributes] == [("county", None)]


# --- releases -----------------------------------------------------------------------------------------------

N, LEVEL = 60_000, 1e-9
HASHES = ((0, 1), (1, 1, 1))


def rules(shift: F = F(0)) -> Iterator[Any]:
    """One of each, with parameters that are a little off for a shift."""
    yield KAryResponse(keep_probability=F(3, 5) + shift)
    yield UnaryEncoding(keep_probability=F(3, 5) + shift, false_probability=F(1, 5))
    yield UnaryEncoding(form="optimised", epsilon=1 + 4 * shift)
    yield UnaryEncoding(keep_probability=F(3, 5), false_probability=F(1, 5) + shift)
    yield UnaryEncoding(keep_probability=F(3, 5) + shift, false_probability=F(1, 5), hashes=2)
    yield KAryResponse(epsilon=1 + 4 * shift)
    yield HadamardResponse(epsilon=1 + 4 * shift)
    yield HadamardResponse(epsilon=ln(3) + 4 * shift)
    yield CountMeanSketch(epsilon=ln(9) + 8 * shift, width=2, hashes=HASHES)
    yield CountMeanSketch(epsilon=1 + 8 * shift, width=2, hashes=HASHES)


def chances(rule: Any, category: int, space: OrderedRecords) -> dict[tuple[int, ...], float]:
    """The law of one report, by the codes of its row."""
    law = rule.report(category, space.attributes[0])
    if isinstance(rule, CountMeanSketch):
        return {(j, *bits): float(law.mass((j, bits), 64)) for j, bits in law.window(64)}
    outcomes = law.window(64)
    return {tuple(map(int, outcome)): float(law.mass(outcome, 64)) for outcome in outcomes}


def statistic(observed: dict[tuple[int, ...], int], expected: dict[tuple[int, ...], float]) -> float:
    assert set(observed) <= set(expected)
    return sum((observed.get(o, 0) - N * p) ** 2 / (N * p) for o, p in expected.items())


@pytest.mark.statistical
@pytest.mark.parametrize("place", range(9))
def test_the_release_follows_the_law(place: int) -> None:
    """60,000 reports of one of three categories against its law, by chi-square at level 1e-9 (27 tests).

    With a parameter that is off by 1/20 (a probability), 1/5 (an epsilon) or 2/5 (one that is halved) the test passes with
    chance below 1e-9, and it does not pass.
    """
    right, wrong = (list(rules(shift))[place] for shift in (F(0), F(1, 20)))
    space = sequences(3)
    for category in range(3):
        table = Table(attributes=space.attributes, codes={"word": np.full(N, category)})
        released = right.release(table, space, SeededRandomness(17 + category))
        rows = zip(*(released.codes[a.name].tolist() for a in released.attributes), strict=True)
        observed: dict[tuple[int, ...], int] = {}
        for row in rows:
            observed[row] = observed.get(row, 0) + 1
        expected, other = (chances(rule, category, space) for rule in (right, wrong))
        threshold = stats.chi2.isf(LEVEL, len(expected) - 1)
        assert statistic(observed, expected) < threshold
        assert statistic(observed, other) > threshold
        away = N * sum((expected[o] - other[o]) ** 2 / other[o] for o in expected)
        assert stats.ncx2.cdf(threshold, len(expected) - 1, away) < LEVEL


@pytest.mark.parametrize("rule", list(rules()), ids=lambda rule: rule.name)
def test_a_release_has_a_row_for_each_record_and_fits_its_columns(rule: Any) -> None:
    space = sequences(200)
    for count in (0, 1, 40):
        table = Table(attributes=space.attributes, codes={"word": np.arange(count, dtype=np.int64) * 5})
        released = rule.release(table, space, SystemRandomness())
        assert len(released) == count
        for attribute in released.attributes:
            assert not count or 0 <= int(released.codes[attribute.name].max()) < attribute.size


def test_certain_answers_are_released_as_they_are() -> None:
    space = sequences(9)
    table = Table(attributes=space.attributes, codes={"word": np.arange(9)})
    kept = KAryResponse(keep_probability=1).release(table, space, SeededRandomness(1))
    assert kept.codes["word"].tolist() == list(range(9))
    bits = UnaryEncoding(keep_probability=1, false_probability=0).release(table, space, SeededRandomness(1))
    assert np.array_equal(np.array([bits.codes[f"word {v}"] for v in range(9)]), np.eye(9))
    never = KAryResponse(keep_probability=0).release(table, space, SeededRandomness(1))
    assert not (never.codes["word"] == np.arange(9)).any()


@pytest.mark.parametrize(("rule", "epsilon"), [
    (KAryResponse(epsilon="ln(3)"), "ln(3)"), (KAryResponse(keep_probability="1/5"), "ln(2)"),
    (UnaryEncoding(form="optimised", epsilon="ln(2)"), "ln(2)"),
    (UnaryEncoding(keep_probability="3/4", false_probability="1/3"), "ln(6)"),
    (UnaryEncoding(form="optimised", epsilon="ln(4)", hashes=2), "ln(4)"),
    (HadamardResponse(epsilon="ln(3)"), "ln(3)"), (CountMeanSketch(epsilon="ln(4)", width=2, hashes=HASHES), "ln(4)"),
])  # fmt: skip
def test_the_code_that_releases_has_the_constant_on_every_choice_of_its_randomness(rule: Any, epsilon: str) -> None:
    space = sequences(3, 1)
    found = verify(ReleaseCode(rule), claim(space, value=epsilon))
    assert found.outcome is Outcome.VERIFIED
    assert found.constant.is_exact
    assert found.constant.lower == number(epsilon)


def test_an_irrational_coin_takes_as_many_bits_as_decide() -> None:
    """1/e = 0.36787944117144232159...: its first bits are computed here from the series of alternating inverse factorials."""
    low, term = F(0), F(1)
    for n in range(1, 80):
        low, term = low + term, -term / n
    first, second, third = (int(low * 2 ** (64 * i)) % 2**64 for i in (1, 2, 3))

    def inverse_e(precision: int) -> Any:
        return arb(-1).exp()

    for words, heads in (
        ([first - 1], True), ([first + 1], False), ([first, second - 1], True), ([first, second + 1], False),
        ([first, second, third - 1], True), ([first, second, third + 1], False), ([0], True), ([2**64 - 1], False),
    ):  # fmt: skip
        source = Words(*words)
        assert irrational_coins(source, inverse_e, 1).tolist() == [heads]  # type: ignore[arg-type]
        assert not source.values


def test_a_tiny_chance_is_not_rounded_to_nothing() -> None:
    """e^-1000 = 2^-1442.69... begins with 1,442 zeros: 22 words of zeros leave it open, the next one decides."""
    for last, heads in ((2**29, True), (2**30, False)):
        source = Words(*[0] * 22, last)
        assert irrational_coins(source, lambda precision: arb(-1000).exp(), 1).tolist() == [heads]  # type: ignore[arg-type]
        assert not source.values


# --- bad input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "says"), [
    (KAryResponse, "needs either epsilon or keep_probability"),
    (lambda: KAryResponse(epsilon=1, keep_probability="1/2"), "needs either epsilon or keep_probability"),
    (lambda: KAryResponse(epsilon="sqrt(2)"), "an exact number of moderate size: write a rational or a logarithm"),
    (lambda: KAryResponse(epsilon="inf"), "epsilon"), (lambda: KAryResponse(epsilon=-1), "epsilon"),
    (lambda: KAryResponse(keep_probability="5/4"), "keep_probability"),
    (UnaryEncoding, "needs either form and epsilon"), (lambda: UnaryEncoding(form="symmetric"), "needs either form"),
    (lambda: UnaryEncoding(form="symmetric", epsilon="ln(3)"), r'e\^\(1/2 epsilon\).*"ln\(9\)"'),
    (lambda: UnaryEncoding(form="thue", epsilon=1), "form"), (lambda: UnaryEncoding(keep_probability="1/2"), "needs either form"),
    (lambda: UnaryEncoding(form="optimised", epsilon=1, keep_probability="1/2"), "needs either form"),
    (lambda: UnaryEncoding(form="optimised", epsilon=1, keep_probability=0, false_probability=1), "needs either form"),
    (lambda: HadamardResponse(epsilon="sqrt(ln(2))"), "an exact number"),
    (lambda: CountMeanSketch(epsilon="ln(3)", width=2, hashes=((1,),)), r'"ln\(9\)"'),
    (lambda: CountMeanSketch(epsilon=1, width=0, hashes=((1,),)), "width"),
    (lambda: CountMeanSketch(epsilon=1, width=2, hashes=()), "hashes"),
    (lambda: CountMeanSketch(epsilon=1, width=2, hashes=((),)), "hashes"),
    (lambda: CountMeanSketch(epsilon=1, width=2, hashes=((PRIME,),)), "hashes"),
])  # fmt: skip
def test_parameters_that_make_no_rule_are_refused(make: Any, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        make()


PLACE = Attribute(name="place", categories=("a", "b"))


@pytest.mark.parametrize(("space", "attribute", "says"), [
    (UnorderedRecords(attributes=(PLACE,)), None, "use the space ordered-records"),
    (Households(household=(PLACE,), person=(Attribute(name="age", count=9),)), None, "use the space ordered-records"),
    (OrderedRecords(attributes=(PLACE, Attribute(name="age", count=9))), None, "name it, attribute = ...: place, age"),
    (OrderedRecords(attributes=(PLACE,)), "plaice", "place"),
])  # fmt: skip
@pytest.mark.parametrize("make", [
    lambda attribute: KAryResponse(attribute=attribute, epsilon=1),
    lambda attribute: CountMeanSketch(attribute=attribute, epsilon=1, width=2, hashes=((1,),)),
])  # fmt: skip
def test_spaces_that_do_not_fit_are_refused(make: Any, space: Any, attribute: str | None, says: str) -> None:
    for ask in ("check", "structure", "claims"):
        with pytest.raises(IncompatibleBlocksError, match=says):
            getattr(make(attribute), ask)(space)


def test_one_category_has_nothing_to_report_for_another() -> None:
    with pytest.raises(IncompatibleBlocksError, match="needs two categories at least"):
        KAryResponse(epsilon=1).check(sequences(1))
    for rule in (
        HadamardResponse(epsilon=1),
        UnaryEncoding(form="optimised", epsilon=1),
        CountMeanSketch(epsilon=1, width=2, hashes=((1,),)),
    ):
        found = derive(rule, claim(sequences(1)))
        assert isinstance(found, Missing) or found.outcome is Outcome.UNDECIDED  # no two datasets to compare


def test_bits_have_reports_too() -> None:
    rule, bits = KAryResponse(epsilon="ln(3)"), BitVectors(length=3)
    assert rule.law((0, 1, 1), bits).probability((("0",), ("1",), ("0",))) == F(9, 64)
    found = derive(rule, claim(bits, value="ln(3)"))
    assert not isinstance(found, Missing)
    assert found.universes[0].is_tight


def test_what_is_too_long_says_so() -> None:
    space = sequences(10**6)
    for rule in (
        KAryResponse(epsilon=1), UnaryEncoding(form="optimised", epsilon=1), HadamardResponse(epsilon=1),
        CountMeanSketch(epsilon=1, width=10**5, hashes=((1,),)),
    ):  # fmt: skip
        with pytest.raises(NotEnumerableError, match="by how the mechanism is made"):
            rule.law([["0"]], space)
    table = Table(attributes=space.attributes, codes={"word": np.zeros(1000, dtype=np.int64)})
    with pytest.raises(ReleaseError, match="use k-ary-response or hadamard-response"):
        UnaryEncoding(form="optimised", epsilon=1).release(table, space, SeededRandomness(1))
    with pytest.raises(IncompatibleBlocksError, match="hashes at most"):
        CountMeanSketch(epsilon=1, width=2, hashes=((1,),)).check(sequences(2**31))


# --- several bits for each category --------------------------------------------------------------------


@pytest.mark.parametrize("form", ["symmetric", "optimised"])
def test_the_budget_of_a_form_is_that_of_all_bits_of_a_category(form: str) -> None:
    rule = UnaryEncoding(form=form, epsilon="ln(81)", hashes=2)
    assert rule.epsilon_of(3) == ln(81)
    assert rule.probabilities() == UnaryEncoding(form=form, epsilon="ln(9)").probabilities()


def test_the_reports_of_rappor_at_one_time_with_two_hash_functions() -> None:
    """h ln(q (1 - p) / (p (1 - q))), p = f/2 (1/2 + 3/4) + (1 - f)/2, q = f/2 (1/2 + 3/4) + (1 - f) 3/4 (Erlingsson, Pihur and
    Korolova 2014, Theorem 2)."""
    f = F(1, 2)
    false, keep = (f / 2 * (F(1, 2) + F(3, 4)) + (1 - f) * at for at in (F(1, 2), F(3, 4)))
    rule, space = UnaryEncoding(keep_probability=keep, false_probability=false, hashes=2), sequences(4, 2)
    assert rule.epsilon_of(4).decimal(5) == "1.0743"
    assert verify(rule, claim(space, value="1.0743")).outcome is Outcome.VERIFIED
    assert verify(rule, claim(space, value="1.0742")).outcome is Outcome.REFUTED
    assert verify(rule, claim(space, value="0.5372")).outcome is Outcome.REFUTED  # that of one hash function


@pytest.mark.parametrize("hashes", [0, -1, 65, True, "2.5"])
def test_a_number_of_hash_functions_is_a_small_whole_number(hashes: Any) -> None:
    with pytest.raises(ParameterError, match="hashes"):
        UnaryEncoding(keep_probability="3/4", false_probability="1/4", hashes=hashes)
