"""Random compositions of samples against laws that are listed here, and budgets of one sampler claimed for another.

The oracle lists the samples of small datasets, mixes the laws of a count with geometric noise, and adds up the losses of all
releases. Nothing of the product is used for it. No proved constant may lie below what two datasets show.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import defaultdict
from fractions import Fraction as F

import pytest

import dpspec as dp
from dpspec.verifier.proof import Missing, derive
from dpspec.verifier.verdict import Outcome

REACH = 40
"""Noise beyond has less probability than 1e-11, and what is left out only lowers what two datasets show."""
DELTA = F(1, 100)


def noisy(count: int, ratio: F) -> list[float]:
    r = float(ratio)
    return [(1 - r) / (1 + r) * r ** abs(k - count) for k in range(-REACH, REACH + 1)]


def mixed(counts: dict[int, F], ratio: F) -> list[float]:
    """The law of a count with noise, whose true value is random."""
    found = [0.0] * (2 * REACH + 1)
    for count, chance in counts.items():
        for at, mass in enumerate(noisy(count, ratio)):
            found[at] += float(chance) * mass
    return found


def sampled_counts(ones: int, records: int, sampler: str, number: F) -> dict[int, F]:
    """How many of the records that count are in a sample: every sample is listed."""
    found: dict[int, F] = defaultdict(F)
    every = [1] * ones + [0] * (records - ones)
    if sampler == "size":
        size = min(int(number), records)
        ways = list(itertools.combinations(range(records), size))
        for way in ways:
            found[sum(every[place] for place in way)] += F(1, len(ways))
        return dict(found)
    for way in itertools.product((0, 1), repeat=records):
        chance = math.prod((number if taken else 1 - number for taken in way), start=F(1))
        found[sum(value for value, taken in zip(every, way, strict=True) if taken)] += chance
    return dict(found)


Step = tuple[str, F, F]
"""The sampler, its rate or size, and the ratio of the noise."""


def epsilon_shown(steps: list[Step], left: tuple[int, int], right: tuple[int, int]) -> float:
    """The epsilon at DELTA of two datasets, each (records that count, records): by the losses of all releases."""
    losses = {0: 1.0}
    for sampler, number, ratio in steps:
        p, q = (mixed(sampled_counts(*side, sampler, number), ratio) for side in (left, right))
        single: dict[int, float] = defaultdict(float)
        for a, b in zip(p, q, strict=True):
            single[math.floor(math.log(a / b) * 1e6)] += a  # rounded down: less is shown
        together: dict[int, float] = defaultdict(float)
        for (x, mass), (y, other) in itertools.product(losses.items(), single.items()):
            together[x + y] += mass * other
        losses = dict(together)
    low, high = 0.0, 50.0
    for _ in range(50):
        middle = (low + high) / 2
        delta = sum(mass * -math.expm1(middle - loss / 1e6) for loss, mass in losses.items() if loss / 1e6 > middle)
        low, high = (middle, high) if delta > float(DELTA) else (low, middle)
    return low


def released(step: Step) -> dp.Mechanism:
    sampler, number, ratio = step
    noise = dp.geometric(queries=[dp.marginal(attributes=[], where={"kind": ["a"]})], ratio=ratio)
    return dp.subsampled(mechanism=noise, size=int(number)) if sampler == "size" else dp.subsampled(mechanism=noise, rate=number)


def drawn_case(lot: random.Random) -> tuple[list[Step], int, str]:
    """Steps, the number of records, and the neighbours."""
    records, neighbours = lot.randint(2, 4), lot.choice(("add-remove", "replace-one"))
    samplers = ("rate",) if neighbours == "add-remove" else ("rate", "size")
    steps: list[Step] = []
    for _ in range(lot.randint(1, 3)):
        sampler = lot.choice(samplers)
        number = F(lot.randint(1, records)) if sampler == "size" else F(lot.randint(1, 9), 10)
        steps.append((sampler, number, F(lot.randint(2, 7), 10)))
    if lot.random() < 0.4:
        steps = [steps[0]] * lot.randint(1, 4)
    return steps, records, neighbours


def check_one(seed: int) -> None:
    lot = random.Random(seed)
    steps, records, neighbours = drawn_case(lot)
    parts = [released(step) for step in steps]
    mechanism = dp.repeated(mechanism=parts[0], times=len(parts)) if len(set(steps)) == 1 else dp.composed(parts=parts)
    fixed = neighbours == "replace-one"
    space = dp.records(kind=("a", "b"), least=records, most=records) if fixed else dp.records(kind=("a", "b"))
    promise = dp.spec(space=space, distance=neighbours, standard="approximate", epsilon=10**6, delta=DELTA)
    found = derive(mechanism, promise)
    assert not isinstance(found, Missing), (steps, records, neighbours, str(found))
    if found.outcome is Outcome.UNDECIDED and found.constant.upper.is_infinite:
        return  # a law that could not be compared with its structure: nothing is claimed
    upper = float(found.constant.upper.enclose(64).upper())
    ones = lot.randint(0, records - 1)
    right = (ones + 1, records) if fixed else (ones + 1, ones + 1 + lot.randint(0, 2))
    left = (ones, records) if fixed else (ones, right[1] - 1)
    for one, other in ((left, right), (right, left)):
        assert epsilon_shown(steps, one, other) <= upper * (1 + 1e-9) + 1e-9, (steps, one, other, neighbours)


@pytest.mark.spread(30, slow=30)
@pytest.mark.parametrize("seed", range(60))
def test_random_compositions_are_never_below_what_two_datasets_show(seed: int) -> None:
    check_one(seed)


def blocks(slow: int, long: int) -> list[object]:
    """So many blocks of seeds in the slow run, and the others in the long one."""
    return [pytest.param(block, marks=pytest.mark.slow if block < slow else pytest.mark.long) for block in range(long)]


@pytest.mark.parametrize("block", blocks(1, 40))
def test_two_thousand_random_compositions(block: int) -> None:
    for seed in range(1_000 + 50 * block, 1_000 + 50 * (block + 1)):
        check_one(seed)


# --- budgets of one sampler or neighbour claimed for another ----------------------------------------------


KINDS = ("a", "b")


def promised(distance: str, epsilon: object, records: int | None = None) -> dp.PrivacySpec:
    space = dp.records(kind=KINDS) if records is None else dp.records(kind=KINDS, least=records, most=records)
    return dp.spec(space=space, distance=distance, standard="approximate", epsilon=epsilon, delta=DELTA)


def budget(mechanism: dp.Mechanism, distance: str, records: int | None = None) -> object:
    """The upper end of what a mechanism is proved to spend."""
    found = derive(mechanism, promised(distance, 10**6, records))
    assert not isinstance(found, Missing), str(found)
    assert not found.constant.upper.is_infinite
    return found.constant.upper


@pytest.mark.parametrize("queries", [1, 2])
@pytest.mark.parametrize(("sampler", "number"), [("rate", F(1, 2)), ("rate", F(1, 10)), ("size", F(2))])
def test_all_answers_about_one_sample_lose_together(sampler: str, number: F, queries: int) -> None:
    """One record of four becomes an "a", or is added; the answers are as high for "a", and as low for "b", as can be."""
    ratio, share = F(1, 2), number / 4 if sampler == "size" else number
    counts = [dp.marginal(attributes=[], where={"kind": [kind]}) for kind in ("a", "b")]
    whole = dp.marginal(attributes=[])
    asked = counts[:queries] if sampler == "size" else [counts[0], whole][:queries]
    noise = dp.geometric(queries=asked, ratio=ratio)
    one = dp.subsampled(mechanism=noise, size=2) if sampler == "size" else dp.subsampled(mechanism=noise, rate=number)
    shown = 2 * math.log(1 - share + share / ratio**queries)
    for twice in (dp.repeated(mechanism=one, times=2), dp.composed(parts=[one, one])):
        space = dp.records(kind=KINDS, least=4, most=4) if sampler == "size" else dp.records(kind=KINDS)
        distance = "replace-one" if sampler == "size" else "add-remove"
        found = derive(twice, dp.spec(space=space, distance=distance, standard="pure", epsilon=10**6))
        assert isinstance(found, Missing) is (queries > 1)  # of several answers, nothing is claimed as yet
        if not isinstance(found, Missing):
            assert float(found.constant.upper.enclose(64).upper()) >= shown - 1e-9


def many(mechanism: dp.Mechanism, times: int) -> dp.Mechanism:
    return mechanism if times == 1 else dp.repeated(mechanism=mechanism, times=times)


def confused(seed: int) -> tuple[str, dp.Mechanism, dp.PrivacySpec]:
    """A mechanism with the budget of another one that is easily taken for it."""
    lot = random.Random(seed)
    ratio, rate, times = F(lot.randint(3, 6), 10), F(lot.randint(1, 4), 10), lot.randint(2, 5)
    one = dp.geometric(queries=[dp.marginal(attributes=[], where={"kind": ["a"]})], ratio=ratio)
    table = dp.geometric(queries=[dp.marginal(attributes=["kind"])], ratio=ratio)
    kind = ("whole", "one sample", "replaced", "more records", "fixed size")[seed % 5]
    if kind == "whole":  # all records, accounted for as a sample
        steps = many(dp.subsampled(mechanism=one, rate=rate), times)
        return kind, many(one, times), promised("add-remove", budget(steps, "add-remove"))
    if kind == "one sample":  # drawn once, accounted for as drawn anew for each release
        often = many(one, 6)
        fresh = budget(many(dp.subsampled(mechanism=one, rate=rate), 6), "add-remove")
        return kind, dp.subsampled(mechanism=often, rate=rate), promised("add-remove", fresh)
    if kind == "replaced":  # one record replaced, accounted for as one added
        steps = many(dp.subsampled(mechanism=table, rate=rate), 2)  # with more, the search for a pair can take a minute
        return kind, steps, promised("replace-one", budget(steps, "add-remove"))
    size, records = lot.randint(1, 3), lot.randint(4, 6)
    steps = many(dp.subsampled(mechanism=table, size=size), times)
    if kind == "more records":  # a share of few records, accounted for as one of many
        return kind, steps, promised("replace-one", budget(steps, "replace-one", 3 * records), records)
    poisson = many(dp.subsampled(mechanism=table, rate=F(size, records)), times)  # of a fixed size, accounted for as Poisson
    return kind, steps, promised("replace-one", budget(poisson, "add-remove"), records)


def check_refuted(seed: int) -> None:
    kind, mechanism, claim = confused(seed)
    assert dp.verify(mechanism, claim).outcome is Outcome.REFUTED, kind


@pytest.mark.parametrize("seed", range(5))
def test_a_budget_of_another_sampler_is_refuted(seed: int) -> None:
    check_refuted(seed)


@pytest.mark.parametrize("block", blocks(4, 20))
def test_two_hundred_budgets_of_other_samplers_are_refuted(block: int) -> None:
    for seed in range(100 + 10 * block, 100 + 10 * (block + 1)):
        check_refuted(seed)


# --- samples of samples -----------------------------------------------------------------------------------


def nested_counts(ones: int, records: int, samplers: list[tuple[str, F]]) -> dict[tuple[int, int], F]:
    """How many records are in the last of samples of samples, and how many of them count: each sample is listed in turn."""
    found: dict[tuple[int, int], F] = {(ones, records): F(1)}
    for sampler, number in samplers:
        after: dict[tuple[int, int], F] = defaultdict(F)
        for (counting, size), chance in found.items():
            for ways, part in _samples(counting, size, sampler, number):
                after[ways] += chance * part
        found = dict(after)
    return found


def _samples(ones: int, records: int, sampler: str, number: F) -> list[tuple[tuple[int, int], F]]:
    every = [1] * ones + [0] * (records - ones)
    size = None if sampler == "rate" else min(int(number), records)
    ways = [way for way in itertools.product((0, 1), repeat=records) if size in (None, sum(way))]
    each = [((sum(map(math.prod, zip(every, way, strict=True))), sum(way)), way) for way in ways]
    if sampler == "size":
        return [(sizes, F(1, len(ways))) for sizes, _ in each]
    return [(sizes, math.prod((number if taken else 1 - number for taken in way), start=F(1))) for sizes, way in each]


def nested(noise: dp.Mechanism, samplers: list[tuple[str, F]], between: str) -> dp.Mechanism:
    """Samples of samples: the first one listed is drawn first. What lies between two of them leaves the law alone."""
    mechanism = noise
    for sampler, number in reversed(samplers):
        if between == "repeated":
            mechanism = dp.repeated(mechanism=mechanism, times=1)
        kept = {"size": int(number)} if sampler == "size" else {"rate": number}
        mechanism = dp.subsampled(mechanism=mechanism, **kept)
    return mechanism


@pytest.mark.parametrize("between", ["", "repeated"])
@pytest.mark.parametrize("seed", range(12))
def test_a_sample_of_a_sample_has_the_law_and_the_constant_of_all_its_draws(seed: int, between: str) -> None:
    lot = random.Random(seed)
    sampler = ("rate", "size")[seed % 2]
    number = [F(lot.randint(1, 9), 10) if sampler == "rate" else F(lot.randint(1, 4)) for _ in range(lot.randint(2, 3))]
    samplers, records, ratio = [(sampler, one) for one in number], lot.randint(2, 4), F(lot.randint(2, 7), 10)
    mechanism = nested(dp.geometric(queries=[dp.marginal(attributes=[], where={"kind": ["a"]})], ratio=ratio), samplers, between)
    fixed = sampler == "size"
    space = dp.records(kind=KINDS, least=records, most=records) if fixed else dp.records(kind=KINDS)
    distance = "replace-one" if fixed else "add-remove"
    found = derive(mechanism, dp.spec(space=space, distance=distance, standard="pure", epsilon=10**6))
    assert not isinstance(found, Missing), str(found)
    upper = float(found.constant.upper.enclose(64).upper())
    ones = lot.randint(0, records - 1)
    sides = ((ones, records), (ones + 1, records)) if fixed else ((ones, records - 1), (ones + 1, records))
    laws = []
    for counting, size in sides:
        drawn: dict[int, F] = defaultdict(F)
        for (left, _), chance in nested_counts(counting, size, samplers).items():
            drawn[left] += chance
        laws.append(mixed(drawn, ratio))
        stated = mechanism.law(space.dataset([("a",)] * counting + [("b",)] * (size - counting)), space)
        for k in range(-3, 7):
            mass = sum(float(weight) * float(part.mass(k).mid()) for weight, part in stated.parts())
            assert mass == pytest.approx(laws[-1][REACH + k], abs=1e-11), samplers
    shown = max(abs(math.log(a / b)) for a, b in zip(*laws, strict=True))
    assert shown <= upper * (1 + 1e-9)
    share = math.prod(number) if not fixed else min(F(1), min(number) / records)
    assert upper == pytest.approx(math.log1p(float(share) * (1 / float(ratio) - 1)))


@pytest.mark.parametrize("samplers", [[("rate", F(1, 2)), ("size", F(2))], [("size", F(2)), ("rate", F(1, 2))]])
def test_a_sample_of_a_sample_of_another_kind_is_none_of_either(samplers: list[tuple[str, F]]) -> None:
    noise = dp.geometric(queries=[dp.marginal(attributes=[], where={"kind": ["a"]})], ratio=F(1, 2))
    space = dp.records(kind=KINDS, least=3, most=3)
    found = derive(nested(noise, samplers, ""), dp.spec(space=space, distance="replace-one", standard="pure", epsilon=10**6))
    assert isinstance(found, Missing)
    assert "a sample of a sample" in str(found)


def test_many_samples_of_samples_take_no_more_than_one() -> None:
    """28 of them took more than 30 seconds, and were undecided: the law listed the samples of the samples."""
    noise = dp.laplace(queries=[dp.marginal(attributes=[], where={"kind": ["a"]})], epsilon=1)
    mechanism = nested(noise, [("rate", F(9, 10))] * 28, "")
    promise = dp.spec(space=dp.records(kind=KINDS), distance="add-remove", standard="pure", epsilon="0.0862")
    assert dp.verify(mechanism, promise).outcome is Outcome.VERIFIED
    space = dp.records(kind=KINDS)
    direct = dp.subsampled(mechanism=noise, rate=F(9, 10) ** 28)
    people = space.dataset([("a",)] * 3)
    assert mechanism.law(people, space) == direct.law(people, space)
