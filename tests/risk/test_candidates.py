"""The pairs of datasets and of laws that all attackers share: none is left out or taken for another, and work has a limit."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from fractions import Fraction
from typing import Any, ClassVar

import attrs
import pytest
from dpspec_attackers.tester import FrequentistTester
from dpspec_attackers.worlds import replacement_distance
from dpspec_divergences import HammingOrdered
from dpspec_noise import RandomisedResponse

import dpspec as dp
from dpspec.base.exact import INFINITY, number
from dpspec.base.memo import memoize
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.records import OrderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.comparison.compare import Implication
from dpspec.grammar.attacker import Sense
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec, blocks_of
from dpspec.grammar.trial_datasets import trial_groups
from dpspec.laws.adaptive import Adaptive
from dpspec.laws.combine import product
from dpspec.laws.law import FiniteLaw
from dpspec.plugin import define
from dpspec.risks import candidates, pairs_within, risk

ASKED: list[tuple[Any, Any]] = []


@define
class OnlyUpwards(InputDivergence):
    """1 from a vector to one with more ones, infinite back; nothing is declared about its symmetry."""

    name: ClassVar[str] = "only-upwards"

    def distance(self, left, right, space):
        ASKED.append((left, right))
        return number(0) if left == right else number(1) if sum(left) < sum(right) else INFINITY


@define
class Counted(HammingOrdered):
    """The Hamming distance, which is declared to be symmetric; each question is counted."""

    name: ClassVar[str] = "counted-hamming"
    is_symmetric: ClassVar[bool] = True

    def distance(self, left, right, space):
        ASKED.append((left, right))
        return super().distance(left, right, space)


def promise(space: Any = None, distance: InputDivergence | None = None) -> PrivacySpec:
    pure = dp.spec(space=space or BitVectors(length=3), distance="hamming-ordered", standard="pure", epsilon=1)
    return pure if distance is None else pure.replace(input_divergence=distance)


# --- pairs of datasets ------------------------------------------------------------------------------


def test_a_distance_in_one_direction_gives_pairs_in_both_orders() -> None:
    spec = promise(distance=OnlyUpwards())
    ASKED.clear()
    found = pairs_within(spec)
    datasets = list(itertools.product((0, 1), repeat=3))
    assert set(found.pairs) == {(x, y) for x in datasets for y in datasets if sum(x) != sum(y)}
    assert found.complete
    assert {(x, y) for x in datasets for y in datasets if x != y} <= set(ASKED)


def test_all_attackers_share_the_distances_of_a_specification() -> None:
    """Where symmetry is declared, each two datasets are measured once, whichever distance an attacker is about."""
    spec = promise(distance=Counted(unit="person"))
    ASKED.clear()
    for reach in (1, 2, 3, 1):
        assert set(pairs_within(spec, reach).pairs) == {
            (x, y)
            for x in itertools.product((0, 1), repeat=3)
            for y in itertools.product((0, 1), repeat=3)
            if 0 < sum(a != b for a, b in zip(x, y, strict=True)) <= reach
        }
    assert max(Counter(frozenset(pair) for pair in ASKED).values()) == 1


def test_named_datasets_are_measured_by_themselves() -> None:
    found = pairs_within(promise(), 2, [(0, 0, 0), (0, 1, 1), (1, 1, 1)])
    assert set(found.pairs) == {((0, 0, 0), (0, 1, 1)), ((0, 1, 1), (0, 0, 0)), ((0, 1, 1), (1, 1, 1)), ((1, 1, 1), (0, 1, 1))}
    assert not found.complete


def test_long_vectors_are_tried_in_few_entries() -> None:
    groups = trial_groups(promise(BitVectors(length=100_000)))
    first = len(groups[0])
    assert 2 <= first < 48
    assert first * (first - 1) // 2 * 100_000 <= 1 << 24
    assert sum(len(dataset) for group in groups[1:] for dataset in group) <= 1 << 22  # type: ignore[arg-type]


@define
class FarthestLast(InputDivergence):
    """Replacing by the last category costs 5, by any other 1: what the first datasets show is not the largest distance."""

    name: ClassVar[str] = "farthest-last"
    is_symmetric: ClassVar[bool] = True

    def distance(self, left, right, space):
        if len(left) != len(right):
            return INFINITY
        costs = (5 if "9" in (*a, *b) else 1 for a, b in zip(left, right, strict=True) if a != b)
        return number(sum(costs))


def test_the_distance_of_a_replaced_record_is_not_guessed_from_the_first_datasets() -> None:
    def records(size: int) -> PrivacySpec:
        letters = Attribute(name="digit", categories=tuple("0123456789"))
        return promise(OrderedRecords(attributes=(letters,), least=size, most=size), FarthestLast())

    assert replacement_distance(records(2)) == 5
    assert replacement_distance(records(4)).is_infinite  # too many datasets to list, and no theorem


# --- pairs of laws ----------------------------------------------------------------------------------


def drawn_law(generator: random.Random) -> FiniteLaw:
    return FiniteLaw.from_weights({outcome: generator.randint(1, 3) for outcome in range(3)})


def test_pairs_of_one_signature_have_the_same_functionals() -> None:
    """Against sums over all outcomes, written out here."""
    generator, seen = random.Random(1), dict[Any, Any]()
    shared = 0
    for _ in range(300):
        one, other = drawn_law(generator), drawn_law(generator)
        places = list(range(3))
        generator.shuffle(places)
        pairs = [(one, other), (one.push_forward(places.__getitem__), other.push_forward(places.__getitem__))]
        for left, right in pairs:
            gain = {
                factor: sum(max(Fraction(0), left.probability(x) - factor * right.probability(x)) for x in range(3))
                for factor in (Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(5, 2))
            }
            signature = left.against(right).signature()
            shared += signature in seen
            assert seen.setdefault(signature, gain) == gain
    assert shared >= 300


def test_the_order_of_a_pair_is_part_of_its_signature() -> None:
    skewed, even = FiniteLaw.of({0: "3/4", 1: "1/4"}), FiniteLaw.bernoulli("1/2")
    assert skewed.against(even).signature() != even.against(skewed).signature()
    long = [product([law] * 20) for law in (skewed, even)]
    assert long[0].against(long[1]).signature() != long[1].against(long[0]).signature()


def test_adaptive_pairs_share_a_signature_only_with_the_same_chances() -> None:
    coin, lean = FiniteLaw.bernoulli("1/2"), FiniteLaw.bernoulli("1/4")
    yes, no = FiniteLaw.bernoulli("3/4"), FiniteLaw.bernoulli("1/3")

    def pair(first: FiniteLaw, *then: tuple[FiniteLaw, FiniteLaw]) -> Any:
        sides = [Adaptive(first, tuple(enumerate(side))) for side in zip(*then, strict=True)]
        return sides[0].against(sides[1])

    same = pair(coin, (yes, no), (no, no)).signature()
    assert pair(coin, (no, no), (yes, no)).signature() == same
    assert pair(lean, (yes, no), (no, no)).signature() != same
    assert pair(coin, (no, yes), (no, no)).signature() != same


# --- the limit of work ------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [0, 3_000])
def test_beyond_the_limit_of_work_a_number_is_a_bound(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    spec, attacker, run = promise(), FrequentistTester(), RandomisedResponse(keep_probability="3/4")
    whole = {(row.quantity, row.at): row.own for row in risk(spec, attacker, run).rows}
    monkeypatch.setattr(candidates, "MOST_WORK", most)
    rows = [row for row in risk(spec, attacker, run).rows if row.own]
    assert rows
    for row in rows:
        (cut,), (exact,) = row.own, whole[row.quantity, row.at]
        assert (exact.relation, cut.relation) == (Sense.EQUALS, Sense.AT_LEAST)
        assert cut.value.lower <= exact.value.upper
        assert "more would exceed the limit of work" in cut.theorem


# --- values that cannot be hashed -------------------------------------------------------------------


def unhashable(block: Any) -> Any:
    """The same object of a class whose objects cannot be hashed, as an author may write one."""
    kind = type(f"Plain{type(block).__name__}", (type(block),), {"__hash__": None, "__module__": __name__})
    made = object.__new__(kind)
    for field in attrs.fields(type(block)):
        object.__setattr__(made, field.name, getattr(block, field.name))
    with pytest.raises(TypeError, match="unhashable"):
        hash(made)
    return made


@pytest.mark.parametrize("block", ["space", "multiverse", "input_divergence", "output_divergence", "budget"])
def test_a_block_that_cannot_be_hashed_is_compared_and_evaluated(block: str) -> None:
    plain = promise(BitVectors(length=2))
    spec = plain.replace(**{block: unhashable(blocks_of(plain)[block])})
    run = RandomisedResponse(keep_probability="3/5")
    assert dp.compare(spec, spec).relation is Implication.EQUIVALENT
    assert dp.compare(spec, plain).forward is not None
    assert dp.ledger(spec, spec).spec.budget.uniform() == 2
    usual = {report.attacker.name: report.rows for report in dp.risk(plain, mechanism=run).reports}
    for report in dp.risk(spec, mechanism=run).reports:
        said = [(row.quantity, [one.value for one in (*row.worst, *row.own)]) for row in report.rows]
        assert said == [(row.quantity, [one.value for one in (*row.worst, *row.own)]) for row in usual[report.attacker.name]]


def test_a_mechanism_that_cannot_be_hashed_is_evaluated() -> None:
    run: Mechanism = unhashable(RandomisedResponse(keep_probability="3/5"))
    assert [row for report in dp.risk(promise(BitVectors(length=2)), mechanism=run).reports for row in report.rows if row.own]


def test_a_function_that_raises_is_not_taken_for_one_with_a_list() -> None:
    calls = []

    @memoize(maxsize=4)
    def broken(value: Any) -> int:
        calls.append(value)
        raise TypeError("broken")

    for value in (1, [1]):
        with pytest.raises(TypeError, match="broken"):
            broken(value)
    assert calls == [1, [1]]
