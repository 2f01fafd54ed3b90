"""Derived constants of mechanisms made of others, of choices and sums, and of claims per household, against what is counted here.

Claims per household are held against all pairs of small datasets, in integers and fractions, by nothing of dpspec but the
parameters of the mechanism. What is made of other mechanisms is held against the exhaustive engine on a space cut off at a few
records, whose constant is at most that of the whole space.
"""

from __future__ import annotations

import copy
import itertools
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from dpspec_checker.proofs import check_proof
from dpspec_divergences import (
    AddRemove,
    DifferInOnePosition,
    DNor,
    Hamming,
    HammingOrdered,
    HockeyStick,
    Mult,
    MultDelta,
    Neighbour,
    Renyi,
    ReplaceOne,
    SymmetricDifference,
    TotalVariation,
)
from dpspec_flavours.secrets.averages import Subsampled
from dpspec_flavours.trust import Shuffled
from dpspec_noise import (
    AboveThreshold,
    BoundedContributions,
    ClippedSum,
    ComposedMechanism,
    DistinctCount,
    ExponentialMechanism,
    Filtered,
    Gaussian,
    Geometric,
    HadamardResponse,
    KAryResponse,
    NoisyMax,
    Parallel,
    PostProcessed,
    RandomisedResponse,
    Staircase,
    ThresholdRelease,
    UnaryEncoding,
)

from dpspec import BitVectors, Households, Marginal, OrderedRecords, PrivacySpec, Trivial, UniformBudget, UnorderedRecords
from dpspec.base.exact import ln, number
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.space import Attribute
from dpspec.extension import installed
from dpspec.specfile.writer import to_toml
from dpspec.verifier import sensitivity
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.proof import derive
from dpspec.verifier.sensitivity import Missing
from dpspec.verifier.verdict import Verdict
from tests.attacks.test_derived import named

# --- claims per household, counted by hand --------------------------------------------------------

Household = tuple[str, tuple[str, ...]]
"""A block, and the kinds of its persons, sorted."""


def cells(table: Marginal, homes: Iterable[Household], bound: tuple[int | None, int | None]) -> Counter[Any]:
    """The cells of a table over households, counted here alone; persons beyond the bounds are left out."""
    most, in_cell = bound
    found: Counter[Any] = Counter()
    where = dict(table.where)
    for block, persons in homes:
        if table.unit == "household":
            if block in where.get("block", (block,)):
                found[tuple(block for _ in table.attributes)] += 1
            continue
        seen: Counter[str] = Counter()
        left: list[str] = []
        for person in sorted(persons):
            seen[person] += 1
            if in_cell is None or seen[person] <= in_cell:
                left.append(person)
        for person in left if most is None else left[:most]:
            values = {"block": block, "kind": person}
            if all(values[name] in categories for name, categories in where.items()):
                found[tuple(values[name] for name in table.attributes)] += 1
    return found


def tables(lot: random.Random, unit: str, blocks: list[str], kinds: list[str]) -> Marginal:
    known = {"block": blocks} if unit == "household" else {"block": blocks, "kind": kinds}
    where = {
        name: tuple(lot.sample(values, lot.randint(1, len(values)))) for name, values in known.items() if lot.random() < 0.25
    }
    return Marginal(attributes=[name for name in known if lot.random() < 0.5], unit=unit, where=where)


def per_household(seed: int) -> str:
    """One random claim per household: a word for how the derived constant stands to the counted one."""
    return judged(seed)[0]


def judged(seed: int, *, in_groups: bool = False) -> tuple[str, PrivacySpec, Verdict]:
    """The word, the claim and its verdict.

    Args:
        seed: of the claim.
        in_groups: views that look at different things, of members that are bounded in each kind.
    """
    lot = random.Random(seed)
    blocks, kinds = [f"b{i}" for i in range(lot.randint(1, 2))], [f"k{i}" for i in range(lot.randint(1 + in_groups, 3))]
    members, least = lot.choice((1, 2, 2, 3)), lot.choice((0, 0, 1))
    queries = tuple(
        tables(lot, lot.choice(("person", "person", "household")), blocks, kinds)
        for _ in range(2 if in_groups else lot.choice((1, 1, 2)))
    )
    pure = lot.random() < 0.5
    made: Any = Geometric(queries=queries, ratio="1/2") if pure else Gaussian(queries=queries, variance=1)
    bound: tuple[int | None, int | None] = (None, None)
    if in_groups or lot.random() < 0.5:
        bound = lot.choice(((None, 1), (2, 1)) if in_groups else ((1, None), (2, None), (None, 1), (2, 1)))
        made = BoundedContributions(mechanism=made, most=bound[0], in_cell=bound[1], by=("kind",) if bound[1] else ())
    fixed = tuple(tables(lot, "household", blocks, kinds) for _ in range(lot.choice((0, 0, 0, 1))))
    distance = lot.choice(("symmetric", "replace"))
    measure: Any = {"symmetric": SymmetricDifference(unit="household"), "replace": Hamming(unit="household")}[distance]
    relation: Any = {"symmetric": AddRemove(unit="household"), "replace": ReplaceOne(unit="household")}[distance]
    near = lot.random() < 0.5
    spec = PrivacySpec(
        space=Households(household=(named_as("block", blocks),), person=(named_as("kind", kinds),), members=members, least=least),
        multiverse=LevelSets(invariants=fixed) if fixed else Trivial(),
        input_divergence=Neighbour(relation=relation) if near else measure,
        output_divergence=Mult() if pure else DNor(),
        budget=UniformBudget(parameter="epsilon" if pure else "rho", value=10_000),
    )
    found = derive(made, spec)
    assert not isinstance(found, Missing), f"seed {seed}: {found}"
    best = counted_constant(queries, fixed, bound, (blocks, kinds, members, least), distance, near=near, pure=pure)
    if not found.universes:
        return "no pair" if best is None else "a pair was missed", spec, found
    low, high = (in_steps(end, pure=pure) for end in (found.constant.lower, found.constant.upper))
    assert best is None or high >= best, f"seed {seed}: the proof says {high}, a pair has {best}"
    word = "tight" if low == high else "gap" if best is None or low >= best else "a better pair was listed"
    return word, spec, found


def named_as(name: str, values: list[str]) -> Attribute:
    return Attribute(name=name, categories=tuple(values))


def in_steps(value: Any, *, pure: bool) -> Fraction:
    """In steps of the noise: epsilon over ln 2, or the square of the metric times 2."""
    if not pure:
        return Fraction(value.squared().as_fraction() * 2)
    return next(Fraction(n, 2) for n in range(400) if abs(float(value) - n / 2 * 0.6931471805599453) < 1e-9)


def counted_constant(
    queries: tuple[Marginal, ...],
    fixed: tuple[Marginal, ...],
    bound: tuple[int | None, int | None],
    space: Any,
    distance: str,
    *,
    near: bool,
    pure: bool,
) -> Fraction | None:
    """sup |dq|_1 / d or |dq|_2^2 / d^2 over pairs of at most two households of one universe; None where there is none."""
    blocks, kinds, members, least = space
    homes = [
        (block, persons)
        for block in blocks
        for size in range(members + 1)
        for persons in itertools.combinations_with_replacement(kinds, size)
    ]
    listed = [x for size in range(least, 3) for x in itertools.combinations_with_replacement(homes, size)][:400]
    universes: dict[Any, list[tuple[Counter[Household], list[Counter[Any]]]]] = {}
    for homes in listed:
        label = tuple(tuple(sorted(cells(table, homes, (None, None)).items())) for table in fixed)
        universes.setdefault(label, []).append((Counter(homes), [cells(query, homes, bound) for query in queries]))
    best = None
    for held in universes.values():
        for (x, ours), (y, theirs) in itertools.combinations(held, 2):
            gone, come = (x - y).total(), (y - x).total()
            d = gone + come if distance == "symmetric" else gone if gone == come else None
            if d is None or (near and d != 1):
                continue
            moved = [one[cell] - two[cell] for one, two in zip(ours, theirs, strict=True) for cell in {*one, *two}]
            apart = Fraction(sum(map(abs, moved)), d) if pure else Fraction(sum(m * m for m in moved), d * d)
            best = apart if best is None else max(best, apart)
    return best


def per_households(seeds: Iterable[int]) -> Counter[str]:
    found = Counter(map(per_household, seeds))
    assert found["a pair was missed"] * 50 <= found.total(), found
    return found


@pytest.mark.slow
def test_no_proof_per_household_is_below_what_is_counted() -> None:
    assert per_households(range(25))["tight"] > 12


def composed_by_groups(seeds: Iterable[int], monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Claims whose members are looked at view by view, as where they fall into cells in more ways than are looked through.

    The bound of each group of views is composed; the bound may not be below what is counted, and the checker accepts the proof,
    but not with a smaller bound, nor with a group or its worst case left out.
    """
    monkeypatch.setattr(sensitivity, "FEW_CASES", 0)
    monkeypatch.setattr(sensitivity, "MOST_CASES", 1)
    found: Counter[str] = Counter()
    for seed in seeds:
        word, spec, verdict = judged(seed, in_groups=True)
        changes = verdict.proof[0].data["changes"] if verdict.proof else []
        if not any(change["groups"] for change in changes):
            continue
        found[word] += 1
        proof = [{"step": step.step, "data": step.data} for step in verdict.proof]
        one = {"claim": to_toml(spec, installed().registry), "verdict": {"outcome": "verified", "proof": proof}}
        one = json.loads(json.dumps(one, default=str))
        names = {"budget", *(step["step"] for step in proof)}  # what else a file states of a verdict is not written here
        assert {step.status for step in check_proof(one) if step.rule in names} == {"rechecked"}, f"seed {seed}"
        for what, wrong in falsified_groups(one):
            found["falsified"] += 1
            steps = [step.status for step in check_proof(wrong) if step.rule in names]
            assert set(steps) != {"rechecked"}, f"seed {seed}: accepted with {what}"
    return found


def falsified_groups(proof: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The proof with a smaller bound of a change that is composed by groups, or with less in the groups of the worst one.

    Where another change costs as much (the same bound may be printed as sqrt(2) and as a number above it), what the groups
    list may be among its moves, and the proof stays true: such a proof is not falsified.
    """
    sensitivity_data, noise = (step["data"] for step in proof["verdict"]["proof"][:2])
    nearly = number(noise["largest"]) * Fraction(999_999, 1_000_000)
    costly = [place for place, bound in enumerate(noise["bounds"]) if number(bound) >= nearly]
    for place, change in enumerate(sensitivity_data["changes"]):
        for number_of, group in enumerate(change["groups"]):
            if any(group) and costly == [place]:
                for part in ([], [[]], group[:-1] if len(group) > 1 and group[-1] else [[]]):
                    one = copy.deepcopy(proof)
                    one["verdict"]["proof"][0]["data"]["changes"][place]["groups"][number_of] = part
                    yield f"changes[{place}].groups[{number_of}] = {part}", one
        if change["groups"] and noise["bounds"][place] != "0":
            one = copy.deepcopy(proof)
            one["verdict"]["proof"][1]["data"]["bounds"][place] = str(number(noise["bounds"][place]) * Fraction(999, 1000))
            yield f"bounds[{place}]", one


@pytest.mark.slow
def test_views_composed_by_groups_are_never_below_what_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    found = composed_by_groups(range(12, 24), monkeypatch)
    assert found["tight"] > 2, found
    assert found["falsified"] > 20, found


@pytest.mark.long
def test_hundreds_of_views_composed_by_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    print(dict(composed_by_groups(range(1_000, 1_600), monkeypatch)))


@pytest.mark.long
def test_two_thousand_claims_per_household() -> None:
    print(dict(per_households(range(1_000, 3_000))))


# --- what is made of other mechanisms, against the exhaustive engine ------------------------------


PEOPLE = (named("a", 2), Attribute(name="n", categories=("0", "1", "3")))


def query(lot: random.Random, attributes: int = 2) -> Any:
    word = lot.choice(("counts", "counts", "sum", "kinds"))
    if word == "sum":
        low = lot.randint(-1, 2)
        return ClippedSum(attribute="n", least=low, most=low + lot.randint(0, 2))
    if word == "kinds":
        return DistinctCount(attributes=("n",))
    return Marginal(attributes=[name for name in ("a", "n") if lot.random() < 0.6][:attributes])


def simple(lot: random.Random) -> Any:
    if lot.random() < 0.3:  # not log-concave
        shape = {"width": 3, "inner": lot.choice((1, 2)), "epsilon": lot.choice(("ln(2)", "ln(3)"))}
        return Staircase(queries=(query(lot),), on_line=lot.random() < 0.5, **shape)
    return Geometric(queries=(query(lot),), ratio=lot.choice(("1/2", "1/3")))


def steep(lot: random.Random) -> Any:
    """Noise that falls so fast that it has a dozen outcomes, where that of 1/2 has a hundred, on at most three cells."""
    return Geometric(queries=(query(lot, 1),), ratio=lot.choice(("1/1024", "1/3000", "1/100000")))


QUICK = ("composed", "filtered", "parallel", "exponential", "noisy max")
SLOW = ("post", "sampled", "threshold", "sampled filtered")
"""Mixtures and images of endless laws: the exhaustive engine lists the outcomes of all cells together."""


def made(lot: random.Random, words: tuple[str, ...]) -> Any:
    """A mechanism made of others, or one that chooses."""
    word = lot.choice(words)
    where = {"n": tuple(lot.sample(("0", "1", "3"), lot.randint(1, 2)))}
    table = Marginal(attributes=lot.choice((["a"], ["n"], ["a", "n"])))
    if word == "composed":
        return ComposedMechanism(parts=(simple(lot), Filtered(mechanism=simple(lot), where=where)))
    if word == "filtered":
        return Filtered(mechanism=simple(lot), where=where)
    if word == "parallel":
        return Parallel(attribute="a", parts=[{"categories": [c], "mechanism": simple(lot)} for c in ("a0", "a1")])
    if word == "post":
        return PostProcessed(mechanism=steep(lot), at_least=0, hidden_below=lot.choice((None, 2)))
    if word == "sampled":
        return Subsampled(mechanism=steep(lot), rate=lot.choice(("1/3", "9/10")))
    if word == "sampled filtered":
        return Subsampled(mechanism=Filtered(mechanism=steep(lot), where=where), rate="1/2")
    if word == "exponential":
        return ExponentialMechanism(query=table, rate=lot.choice(("ln(2)", "ln(3/2)")))
    if word == "noisy max":
        noise = lot.choice(("laplace", "exponential", "geometric"))
        return NoisyMax(query=table, noise=noise, rate={"laplace": "1/2", "exponential": "1"}.get(noise, "ln(2)"))
    return ThresholdRelease(query=table, ratio="1/2", threshold=lot.randint(0, 3))


def against_the_engine(seed: int, words: tuple[str, ...]) -> str:
    """One random claim on a cut space: the derived constant may not be below the exhaustive one."""
    lot = random.Random(seed)
    mechanism = made(lot, words)
    near: Any = lot.choice((Neighbour(relation=AddRemove()), Neighbour(relation=ReplaceOne())))
    output, parameter = lot.choice(
        (
            (Mult(), "epsilon"),
            (MultDelta(delta="1/10"), "epsilon"),
            (TotalVariation(), "distance"),
            (HockeyStick(epsilon="ln(2)"), "delta"),
            (DNor(), "rho"),
            (Renyi(order=2), "epsilon"),
        )
    )
    distance: Any = lot.choice((near, SymmetricDifference(), Hamming())) if output.is_metric else near
    fixed = (Marginal(attributes=("a",)),) if lot.random() < 0.2 else ()
    spec = PrivacySpec(
        space=UnorderedRecords(attributes=PEOPLE),
        multiverse=LevelSets(invariants=fixed) if fixed else Trivial(),
        input_divergence=distance,
        output_divergence=output,
        budget=UniformBudget(parameter=parameter, value=1_000 if parameter in ("epsilon", "rho") else 1),
    )
    found = derive(mechanism, spec)
    if isinstance(found, Missing):
        return f"missing: {found.step}"
    if found.outcome.value != "verified":
        return found.outcome.value
    most = 2 if words == QUICK else 1
    truth = verify(mechanism, spec.replace(space=UnorderedRecords(attributes=PEOPLE, most=most)))
    assert found.constant.upper >= truth.constant.lower, f"seed {seed}: {mechanism}: {found.constant} against {truth.constant}"
    assert found.constant.lower <= found.constant.upper
    return "tight" if float(found.constant.upper) - float(found.constant.lower) < 1e-6 else "gap"


@pytest.mark.slow
def test_what_is_made_of_others_is_never_below_the_engine() -> None:
    words = Counter(against_the_engine(seed, QUICK) for seed in range(14))
    assert words["tight"] >= 4, words


@pytest.mark.long
def test_hundreds_of_them() -> None:
    for words, many in ((QUICK, 1_000), (SLOW, 150)):
        print(dict(Counter(against_the_engine(seed, words) for seed in range(1_000, 1_000 + many))))


# --- samples of a fixed size ----------------------------------------------------------------------

KINDS = tuple(itertools.product(("a0", "a1"), ("0", "1")))
OUTPUTS: tuple[tuple[Any, str], ...] = (
    (Mult(), "epsilon"), (MultDelta(delta="1/10"), "epsilon"), (TotalVariation(), "distance"),
    (HockeyStick(epsilon="ln(3/2)"), "delta"), (DNor(), "rho"), (Renyi(order=2), "epsilon"), (Renyi(order="3/2"), "epsilon"),
)  # fmt: skip


def choosing(lot: random.Random) -> Any:
    """A mechanism with a finite law, so that the engine lists it."""
    table = Marginal(attributes=lot.choice((["a"], ["n"], ["a", "n"], [])), where={"n": ("1",)} if lot.random() < 0.3 else {})
    one = ExponentialMechanism(query=table, rate=lot.choice(("ln(2)", "ln(5)")))
    word = lot.random()
    if word < 0.25:
        return Filtered(mechanism=one, where={"a": ("a0",)})
    if word < 0.4:
        return ComposedMechanism(parts=(one, ExponentialMechanism(query=Marginal(attributes=("n",)), rate="ln(2)")))
    return one


def of_fixed_size(seed: int) -> str:
    """One claim about a sample of a fixed size, held against the exhaustive engine on all datasets of two sizes."""
    lot = random.Random(seed)
    known = (named("a", 2), Attribute(name="n", categories=("0", "1")))
    least, size = lot.randint(0, 3), lot.randint(0, 3)
    kind = OrderedRecords if lot.random() < 0.2 else UnorderedRecords
    space = kind(attributes=known, least=least, most=least + lot.choice((0, 1, 1)))
    output, parameter = lot.choice(OUTPUTS)
    near: Any = lot.choice((Neighbour(relation=AddRemove()), Neighbour(relation=ReplaceOne())))
    if kind is OrderedRecords:
        near = Neighbour(relation=ReplaceOne())
    metric: Any = Hamming() if kind is OrderedRecords else lot.choice((Hamming(), SymmetricDifference()))
    fixed = lot.choice(((), (), (Marginal(attributes=()),), (Marginal(attributes=("a",)),)))
    mechanism = Subsampled(mechanism=choosing(lot), size=size, samples=kind(attributes=known))
    spec = PrivacySpec(
        space=space, multiverse=LevelSets(invariants=fixed) if fixed else Trivial(),
        input_divergence=lot.choice((near, metric)) if output.is_metric else near, output_divergence=output,
        budget=UniformBudget(parameter=parameter, value=1_000 if parameter in ("epsilon", "rho") else 1),
    )  # fmt: skip
    found = derive(mechanism, spec)
    if isinstance(found, Missing):
        return f"missing: {found.step}"
    if found.outcome.value != "verified":
        return found.outcome.value
    truth = verify(mechanism, spec)
    assert found.constant.upper >= truth.constant.lower, f"seed {seed}: {mechanism}: {found.constant} against {truth.constant}"
    assert truth.constant.upper >= found.constant.lower, f"seed {seed}: {mechanism}: {found.constant} against {truth.constant}"
    return "tight" if float(found.constant.upper) - float(truth.constant.lower) < 1e-6 else "gap"


def mixed(sample: int, records: tuple[str, ...], ratio: Fraction) -> dict[tuple[int, int], Fraction]:
    """P(t)/c of two-sided geometric counts of a sample, over the box outside of which no ratio is larger."""
    subsets = list(itertools.combinations(records, min(sample, len(records))))
    box = list(itertools.product(range(sample + 1), repeat=2))
    found = dict.fromkeys(box, Fraction(0))
    for subset in subsets:
        counts = Counter(subset)
        for t in box:
            found[t] += ratio ** (abs(t[0] - counts["x"]) + abs(t[1] - counts["y"])) / len(subsets)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("distance", ["replace", "add"])
def test_noisy_counts_of_samples_of_a_fixed_size_are_tight(distance: str) -> None:
    for least, sample in ((1, 2), (2, 2), (3, 1), (3, 2)):
        known = (Attribute(name="a", categories=("x", "y")),)
        mechanism = Subsampled(
            mechanism=Geometric(queries=(Marginal(attributes=("a",)),), ratio="1/2"), size=sample,
            samples=UnorderedRecords(attributes=known),
        )  # fmt: skip
        spec = PrivacySpec(
            space=UnorderedRecords(attributes=known, least=least), multiverse=Trivial(),
            input_divergence=Hamming() if distance == "replace" else SymmetricDifference(), output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=10),
        )  # fmt: skip
        found = derive(mechanism, spec)
        if distance == "add" and least < sample:
            assert isinstance(found, Missing)
            continue
        assert not isinstance(found, Missing)
        assert found.constant.is_exact
        best = Fraction(0)
        for one, other in itertools.product(range(least + 1), repeat=2):
            x = ("x",) * one + ("y",) * (least - one)
            size = least + (distance == "add")
            y = ("x",) * other + ("y",) * (size - other)
            if (distance == "replace" and abs(one - other) == 1) or (distance == "add" and other - one in (0, 1)):
                p, q = mixed(sample, x, Fraction(1, 2)), mixed(sample, y, Fraction(1, 2))
                best = max(best, *(max(p[t] / q[t], q[t] / p[t]) for t in p))
        assert found.constant.lower == ln(best), (least, sample)


@pytest.mark.slow
def test_no_bound_of_a_sample_of_a_fixed_size_is_below_the_engine() -> None:
    found = Counter(map(of_fixed_size, range(16)))
    assert found["tight"] >= 2, found


@pytest.mark.long
def test_a_thousand_samples_of_a_fixed_size() -> None:
    print(dict(Counter(map(of_fixed_size, range(1_000, 2_000)))))


# --- shuffled reports -----------------------------------------------------------------------------


def shuffled(seed: int) -> str:
    """One claim about shuffled reports of a few people, held against the exact law of the counts of reports."""
    lot = random.Random(seed)
    kinds, least = lot.choice((2, 2, 3)), lot.randint(0, 4)
    rule: Any = lot.choice(
        (
            KAryResponse(keep_probability=lot.choice(("3/4", "1/2", "9/10", "1/10"))),
            UnaryEncoding(keep_probability="3/4", false_probability="1/3"),
            UnaryEncoding(form="optimised", epsilon="ln(3)"),
            HadamardResponse(epsilon="ln(2)"),
        )
    )
    bits = lot.random() < 0.15
    rule = RandomisedResponse(keep_probability=lot.choice(("3/4", "1/5"))) if bits else rule
    least = min(least, 4 if isinstance(rule, KAryResponse) and kinds == 2 else 2)
    output, parameter = lot.choice(OUTPUTS)
    if bits:
        near: Any = HammingOrdered() if output.is_metric else Neighbour(relation=DifferInOnePosition())
    else:
        near = lot.choice((HammingOrdered(), Hamming())) if output.is_metric else Neighbour(relation=ReplaceOne())
    people: Any = OrderedRecords(attributes=(named("a", kinds),), least=least, most=max(least, 1))
    fixed = lot.random() < 0.2 and not bits
    spec = PrivacySpec(
        space=BitVectors(length=lot.randint(1, 4)) if bits else people,
        multiverse=LevelSets(invariants=(Marginal(attributes=("a",), where={"a": ("a0",)}),)) if fixed else Trivial(),
        input_divergence=near, output_divergence=output,
        budget=UniformBudget(parameter=parameter, value=1_000 if parameter in ("epsilon", "rho") else 1),
    )  # fmt: skip
    mechanism = Shuffled(mechanism=rule)
    found = derive(mechanism, spec)
    if isinstance(found, Missing):
        return f"missing: {found.step}"
    if found.outcome.value != "verified":
        return found.outcome.value
    truth = verify(mechanism, spec)
    assert found.constant.upper >= truth.constant.lower, f"seed {seed}: {mechanism}: {found.constant} against {truth.constant}"
    assert truth.constant.upper >= found.constant.lower, f"seed {seed}: {mechanism}: {found.constant} against {truth.constant}"
    return "tight" if float(found.constant.upper) - float(truth.constant.lower) < 1e-6 else "gap"


def test_no_bound_of_shuffled_reports_is_below_the_engine() -> None:
    found = Counter(map(shuffled, range(12)))
    assert found["tight"] + found["gap"] >= 4, found


@pytest.mark.long
def test_hundreds_of_shuffled_rules() -> None:
    print(dict(Counter(map(shuffled, range(1_000, 1_500)))))


# --- the first count above a threshold, against sums over a grid -----------------------------------


def first_above(counts: Sequence[int], threshold: float, threshold_scale: float, query_scale: float) -> list[float]:
    """The probabilities of each cell, and of none, by sums over a grid of the noisy threshold."""
    grid = np.linspace(threshold - 60 * threshold_scale, threshold + 60 * threshold_scale, 12_001)
    weight = np.exp(-np.abs(grid - threshold) / threshold_scale)
    left, found = weight / weight.sum(), []
    for count in counts:
        away = (grid - count) / query_scale
        below = np.where(away < 0, np.exp(np.minimum(away, 0)) / 2, 1 - np.exp(-np.maximum(away, 0)) / 2)
        found.append(float((left * (1 - below)).sum()))
        left = left * below
    return [*found, float(left.sum())]


def test_the_bound_for_a_first_count_above_is_not_below_what_sums_show() -> None:
    """One count that moves costs 1/query scale, and two that move apart 2/query scale; far away both are reached."""
    lot, nearest = random.Random(5), 0.0
    for _ in range(20):
        cells, scales = lot.randint(1, 4), (Fraction(lot.randint(1, 6)), Fraction(lot.randint(1, 6)))
        table = Marginal(attributes=("a",))
        mechanism = AboveThreshold(query=table, threshold=lot.randint(0, 20), threshold_scale=scales[0], query_scale=scales[1])
        space = UnorderedRecords(attributes=(named("a", cells),))
        structure = mechanism.structure(space)
        assert structure is not None
        counts = [lot.randint(0, 30) for _ in range(cells)]
        moves = [(1,), (-1,), (1, -1), (-1, 1), (2,), (1, 1)]
        changes = [move for move in moves if len(move) <= cells]
        for change in changes:
            places = sorted(lot.sample(range(cells), len(change)))
            other = list(counts)
            for place, by in zip(places, change, strict=True):
                other[place] += by
            args = (float(mechanism.threshold), float(scales[0]), float(scales[1]))
            p, q = first_above(counts, *args), first_above(other, *args)
            seen = max((abs(np.log(a / b)) for a, b in zip(p, q, strict=True) if min(a, b) > 1e-12), default=0.0)
            (case,) = structure.views[0].changed(tuple(sorted(change))) or ()
            bound = float(Mult().between(*case[0]).upper)
            assert seen <= bound + 1e-4, f"{mechanism}: {counts} -> {other}: {seen} against {bound}"
            nearest = max(nearest, seen / bound)
    assert nearest > 0.99
