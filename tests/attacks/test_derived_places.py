"""Claims about rules that answer for each record in its place: with invariants, with several changes at once, without an order.

The truth is counted here in fractions: k-ary response with p = 3/(2 + k) is as far from itself on two datasets as the number of
places in which the reported attribute differs says, and each place counts ln 3.
"""

from __future__ import annotations

import copy
import itertools
import json
import math
import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from dpspec_checker.proofs import check_proof
from dpspec_divergences import (
    AddRemove,
    DNor,
    Hamming,
    HammingOrdered,
    Mult,
    Neighbour,
    ReplaceOne,
    SymmetricDifference,
    TotalVariation,
)
from dpspec_noise import CountMeanSketch, HadamardResponse, KAryResponse, UnaryEncoding

from dpspec import Marginal, PrivacySpec, Trivial, UniformBudget
from dpspec.blocks.input_divergence import WithinDistance
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.records import OrderedRecords
from dpspec.blocks.space import Attribute
from dpspec.extension import installed
from dpspec.specfile.writer import to_toml
from dpspec.verifier.proof import derive
from dpspec.verifier.sensitivity import Missing
from dpspec.verifier.verdict import Outcome, Verdict

Places = tuple[tuple[str, str], ...]
"""The state and the sex of each record."""


def table(lot: random.Random) -> Marginal:
    where = {name: (str(lot.randint(0, 1)),) for name in ("state", "sex") if lot.random() < 0.2}
    return Marginal(attributes=[name for name in ("state", "sex") if lot.random() < 0.5], where=where)


def counted(one: Marginal, places: Places) -> Counter[tuple[str, ...]]:
    records = ({"state": state, "sex": sex} for state, sex in places)
    met = (r for r in records if all(r[name] in categories for name, categories in one.where))
    return Counter(tuple(r[name] for name in one.attributes) for r in met)


def variation(states: int, differing: int) -> Fraction:
    """TV of so many reports of two categories each: for, against, and neither, with probabilities 3, 1 and k - 2 of k + 2."""
    rows = ((Fraction(3, states + 2), Fraction(1, states + 2)), (Fraction(1, states + 2), Fraction(3, states + 2)))
    rows = (*rows, (Fraction(states - 2, states + 2),) * 2)
    chosen = itertools.product(rows, repeat=differing)
    return sum((max(Fraction(0), math.prod(p for p, _ in c) - math.prod(q for _, q in c)) for c in chosen), Fraction(0))


def truth(kind: str, states: int, fixed: Sequence[Marginal], limit: int, size: int) -> Fraction | None:
    """The constant on sequences of one length; in units of ln 3 for mult, and its square in units of one report's for d-nor."""
    kinds = [(str(a), str(b)) for a in range(states) for b in range(2)]
    universes: dict[Any, list[Places]] = {}
    for places in itertools.product(kinds, repeat=size):
        universes.setdefault(tuple(tuple(sorted(counted(t, places).items())) for t in fixed), []).append(places)
    met = {
        (sum(a[0] != b[0] for a, b in zip(x, y, strict=True)), sum(a != b for a, b in zip(x, y, strict=True)))
        for held in universes.values() for x, y in itertools.combinations(held, 2)
    }  # fmt: skip
    found = [
        {"mult": Fraction(k, 1 if limit else d), "d-nor": Fraction(k, 1 if limit else d * d),
         "total-variation": variation(states, k) / (1 if limit else d)}[kind]
        for k, d in met if not limit or d <= limit
    ]  # fmt: skip
    return max(found, default=None)


def in_places(seed: int) -> tuple[str, PrivacySpec, Verdict]:
    """One random claim; its constant may not be below the counted one, and is written in its unit."""
    lot = random.Random(seed)
    states, limit = lot.choice((2, 3)), lot.choice((0, 0, 1, 2, 3))
    fixed = tuple(dict.fromkeys(table(lot) for _ in range(lot.choice((0, 1, 1, 2)))))
    chosen, parameter, value = lot.choice(((Mult(), "epsilon", 100), (DNor(), "rho", 1000), (TotalVariation(), "distance", 1)))
    rule = KAryResponse(epsilon="ln(3)", attribute="state")
    near: Any = WithinDistance(of=HammingOrdered(), most=limit) if limit else HammingOrdered()
    space = OrderedRecords(attributes=(Attribute(name="state", count=states), Attribute(name="sex", count=2)))
    spec = PrivacySpec(
        space=space, multiverse=LevelSets(invariants=fixed) if fixed else Trivial(), input_divergence=near,
        output_divergence=chosen, budget=UniformBudget(parameter=parameter, value=value),
    )  # fmt: skip
    found = derive(rule, spec)
    assert not isinstance(found, Missing), f"seed {seed}: {found}"
    best = truth(chosen.name, states, fixed, limit, 3)
    if not found.universes:
        return "no pair" if best is None or best == 0 else "a pair was missed", spec, found
    one = derive(rule, spec.replace(multiverse=Trivial(), input_divergence=HammingOrdered()))
    assert not isinstance(one, Missing)
    unit = {"mult": math.log(3), "d-nor": float(one.constant.upper), "total-variation": 1.0}[chosen.name]
    low, high = (float(end) / unit for end in (found.constant.lower, found.constant.upper))
    wanted = 0.0 if best is None else math.sqrt(best) if chosen.name == "d-nor" else float(best)
    assert high >= wanted - 1e-9, f"seed {seed}: {high} proved, {wanted} counted: {spec}"
    return "tight" if high - low < 1e-9 else "gap", spec, found


def obligation(spec: PrivacySpec, found: Verdict) -> dict[str, Any]:
    """What `dpspec verify --format json` writes of a proof."""
    proof = [{"step": step.step, "data": step.data} for step in found.proof]
    written: dict[str, Any] = json.loads(
        json.dumps(
            {"claim": to_toml(spec, installed().registry), "verdict": {"outcome": "verified", "proof": proof}}, default=str
        )
    )
    return written


def rechecked(proof: dict[str, Any]) -> bool:
    """Whether the steps of the proof are rechecked; what else a file states of a verdict is not written here."""
    names = {"budget", *(step["step"] for step in proof["verdict"]["proof"])}
    return {step.status for step in check_proof(proof) if step.rule in names} == {"rechecked"}


def tried(seeds: range) -> Counter[str]:
    words: Counter[str] = Counter()
    for seed in seeds:
        word, spec, found = in_places(seed)
        words[word] += 1
        if found.proof:
            assert rechecked(obligation(spec, found)), f"seed {seed}: {check_proof(obligation(spec, found))}"
    return words


@pytest.mark.long
def test_no_bound_of_records_in_their_places_is_below_what_is_counted() -> None:
    words = tried(range(40))
    assert words["tight"] > 25, words
    assert words["a pair was missed"] == 0, words


@pytest.mark.long
def test_two_thousand_claims_about_records_in_their_places() -> None:
    print(dict(tried(range(1_000, 3_000))))


STATES = OrderedRecords(attributes=(Attribute(name="state", count=4),))
PUBLISHED = LevelSets(invariants=(Marginal(attributes=("state",)),))


def claim(chosen: Any, parameter: str, value: Any, near: Any = None, multiverse: Any = PUBLISHED) -> PrivacySpec:
    return PrivacySpec(
        space=STATES, multiverse=multiverse, input_divergence=near or HammingOrdered(), output_divergence=chosen,
        budget=UniformBudget(parameter=parameter, value=value),
    )  # fmt: skip


def test_what_is_published_of_all_leaves_two_changes_at_least() -> None:
    """d-nor of two reports over two is smaller than that of one by the square root of two; without the table it is not."""
    response = KAryResponse(epsilon="ln(3)")
    inside, outside = (derive(response, claim(DNor(), "rho", 5, multiverse=m)) for m in (PUBLISHED, Trivial()))
    assert isinstance(inside, Verdict)
    assert isinstance(outside, Verdict)
    assert inside.constant.is_exact or float(inside.constant.upper) - float(inside.constant.lower) < 1e-9
    assert float(outside.constant.upper) / float(inside.constant.upper) == pytest.approx(math.sqrt(2))


def test_a_change_left_out_of_those_that_come_together_is_seen() -> None:
    for near in (HammingOrdered(), WithinDistance(of=HammingOrdered(), most=3)):
        spec = claim(TotalVariation(), "distance", 1, near)
        found = derive(KAryResponse(epsilon="ln(3)"), spec)
        assert isinstance(found, Verdict)
        right = obligation(spec, found)
        assert rechecked(right)
        changes = right["verdict"]["proof"][0]["data"]["changes"]
        for place in range(len(changes)):
            wrong = copy.deepcopy(right)
            data, noise = (wrong["verdict"]["proof"][i]["data"] for i in (0, 1))
            del data["changes"][place], noise["bounds"][place]
            assert not rechecked(wrong), f"without change {place}"
            dearer = copy.deepcopy(right)
            dearer["verdict"]["proof"][0]["data"]["changes"][place]["price"] += 1
            assert not rechecked(dearer), f"change {place} at a higher price"


@pytest.mark.parametrize("near", [
    Hamming(), SymmetricDifference(), Neighbour(relation=AddRemove()), WithinDistance(of=SymmetricDifference(), most=2),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("rule", [
    KAryResponse(epsilon="ln(3)"), UnaryEncoding(form="symmetric", epsilon="ln(9)"), HadamardResponse(epsilon="ln(3)"),
    CountMeanSketch(epsilon="ln(9)", width=4, hashes=((0, 1), (3, 5, 7))),
], ids=lambda rule: rule.name)  # fmt: skip
def test_records_without_an_order_are_told_apart_for_sure_or_at_distance_0(near: Any, rule: Any) -> None:
    """The number of reports shows; and two records that change places are at distance 0, or neighbours."""
    found = derive(rule, claim(Mult(), "epsilon", 1_000, near, Trivial()))
    assert isinstance(found, Verdict)
    assert found.outcome is Outcome.REFUTED
    assert found.constant.lower.is_infinite
    assert found.witness is not None
    left, right = found.witness.left, found.witness.right
    assert len(left) != len(right) or (sorted(left) == sorted(right) and found.witness.distance == 0)  # type: ignore[arg-type, type-var]


def test_where_one_record_is_replaced_and_the_others_change_places_any_number_is_reached() -> None:
    found = derive(KAryResponse(epsilon="ln(3)"), claim(Mult(), "epsilon", 100, Neighbour(relation=ReplaceOne()), Trivial()))
    assert isinstance(found, Verdict)
    assert found.outcome is Outcome.REFUTED
    assert float(found.constant.lower) > 100
