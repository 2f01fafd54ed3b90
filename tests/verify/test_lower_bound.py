"""Lower bounds of the constant: what is computed from a structure on two datasets is what their laws show, or nothing is."""

from __future__ import annotations

import itertools
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from dpspec_divergences import HammingOrdered, Mult

from dpspec.base.exact import Bracket, number
from dpspec.base.params import define
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import LevelSets, Trivial
from dpspec.blocks.records import Households, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar.spec import PrivacySpec
from dpspec.verifier import lower_bound
from dpspec.verifier.lower_bound import MOST_AT_ONCE, Attaining
from dpspec.verifier.proof import derive, on_pair
from dpspec.verifier.verdict import Outcome, Verdict
from tests.compare.test_rules import HAMMING, SYMMETRIC, spec
from tests.verify.toys import bits_spec, block

KIND = Attribute(name="kind", categories=("a", "b", "c"))
COUNTS = (Marginal(attributes=(), where=(("kind", ("a",)),)), Marginal(attributes=("kind",)))


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("query", COUNTS, ids=["one count", "three counts"])
@pytest.mark.parametrize(("least", "distance"), [(3, HAMMING), (2, SYMMETRIC)], ids=["replaced", "added"])
def test_samples_of_a_fixed_size_on_every_pair(least: int, distance: object, query: Marginal, size: int) -> None:
    """Others may be of several kinds: which of them is left out then changes what is counted, and one formula is not enough."""
    space = UnorderedRecords(attributes=(KIND,), least=least, most=3)
    noisy = block("mechanisms", "geometric", queries=(query,), ratio="1/2")
    sampled, claim = block("mechanisms", "subsampled", mechanism=noisy, size=size), spec(space, distance)
    said = 0
    for pair in itertools.combinations(space.datasets(), 2):
        found = on_pair(sampled, claim, pair) if claim.distance(*pair) == 1 else None
        if found is not None:
            true = claim.output_divergence.between(*(sampled.law(dataset, space) for dataset in pair))
            bracket = found.universes[0].constant
            assert bracket.lower <= true.upper, pair
            assert true.lower <= bracket.upper, pair
            said += 1
    assert said >= 6  # those of which all others are alike


@pytest.mark.parametrize(("query", "shown"), [(COUNTS[0], "exact"), (COUNTS[1], "nothing")], ids=["one count", "three counts"])
def test_others_who_are_sampled_and_counted_hide_a_record(query: Marginal, shown: str) -> None:
    """With n - 1 others, all counted, the constant falls with n: a pair without them is no lower bound of a space with many."""
    noisy = block("mechanisms", "geometric", queries=(query,), ratio="1/2")
    mechanism, people = block("mechanisms", "subsampled", mechanism=noisy, rate="1/2"), 1_000_000
    chosen = block("output_divergences", "hockey-stick", epsilon="1/10")
    replaced = block("input_divergences", "neighbour", relation=block("relations", "replace-one"))
    claim = PrivacySpec(
        space=UnorderedRecords(attributes=(KIND,), least=people, most=people), multiverse=Trivial(), input_divergence=replaced,
        output_divergence=chosen, budget=UniformBudget(parameter="delta", value=number(1)),
    )  # fmt: skip
    found = derive(mechanism, claim)
    assert isinstance(found, Verdict)
    assert found.outcome is Outcome.VERIFIED
    lower, upper = float(found.constant.lower), float(found.constant.upper)
    assert (lower > 0.999 * upper) if shown == "exact" else lower == 0


def test_counts_of_households_that_invariants_fix_lie_around_the_persons_of_a_claim() -> None:
    """They are no views of members of a person, and a pair of persons is found; the search for one ended with a traceback."""
    area, number_of = Attribute(name="area", categories=("x", "y")), Attribute(name="n", categories=("0", "2"))
    by_area = Marginal(attributes=("area",), unit="household")
    total = block("invariants", "clipped-sum", attribute="n", least=0, most=2)
    counts = [block("mechanisms", "geometric", queries=(query,), ratio="1/2") for query in (total, by_area)]
    claim = PrivacySpec(
        space=Households(household=(area,), person=(number_of,), members=2), multiverse=LevelSets(invariants=(by_area,)),
        input_divergence=HAMMING, output_divergence=block("output_divergences", "mult"),
        budget=UniformBudget(parameter="epsilon", value=number(2)),
    )  # fmt: skip
    found = derive(block("mechanisms", "composed", parts=counts), claim)
    assert isinstance(found, Verdict)
    assert found.outcome is Outcome.VERIFIED
    assert str(found.constant) == "ln(4)"


def test_neighbours_that_are_many_changes_apart_are_shown_by_fewer() -> None:
    """A pair may differ in as many records as neighbours do; a billion equal ones are more than memory holds."""
    space = UnorderedRecords(attributes=(KIND,))
    distance = block("input_divergences", "within-distance", of=SYMMETRIC, most=50_000)
    noisy = block("mechanisms", "geometric", queries=(COUNTS[1],), ratio="1/2")
    found = derive(noisy, spec(space, distance, value=1))
    assert found.outcome is Outcome.REFUTED
    assert found.witness is not None
    assert max(len(dataset) for dataset in (found.witness.left, found.witness.right)) == MOST_AT_ONCE


def test_a_search_for_a_pair_reads_so_many_records_in_all_however_large_datasets_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of a thousand records took `verify` 10 s, and `compare` and `explain` twice as long: pairs alone were counted."""
    read: list[int] = []
    judged = Attaining.judged

    def counting(self: Attaining, left: tuple[object, ...], right: tuple[object, ...], precision: int) -> object:
        read.append(len(left) + len(right))
        return judged(self, left, right, precision)

    monkeypatch.setattr(Attaining, "judged", counting)
    monkeypatch.setattr(lower_bound, "MOST_EVALUATED", 200)
    attributes = tuple(Attribute(name=name, categories=("1", "2", "3")) for name in "abcd")
    query = Marginal(attributes=("a", "b"), where=(("c", ("1",)), ("d", ("1", "2"))))
    first = block("mechanisms", "above-threshold", query=query, threshold=2, threshold_scale=2, query_scale=4)
    batched = block("mechanisms", "batched", mechanism=first, batches=3, assignment="independent")
    numbers = []
    for size in (10, 100, 1_000):
        read.clear()
        space = UnorderedRecords(attributes=attributes, least=size, most=size)
        chosen = block("output_divergences", "f-divergence", generator="chi-squared", direction="forward")
        claim = PrivacySpec(
            space=space, multiverse=Trivial(), input_divergence=SYMMETRIC, output_divergence=chosen,
            budget=UniformBudget(parameter="divergence", value=number(1)),
        )  # fmt: skip
        derive(batched, claim)
        numbers.append(sum(read))
        assert sum(read) <= lower_bound.RECORDS_EVALUATED * (lower_bound.MOST_EVALUATED + 1) + 40 * size, numbers
    assert numbers[1] > numbers[0]


# --- which pairs are looked at --------------------------------------------------------------------


def attaining(spec: Any, **structure: Any) -> Attaining:
    known = SimpleNamespace(spec=spec, structure=SimpleNamespace(**structure), sizes=structure.pop("sizes", {}))
    return Attaining(sensitivity=known)  # type: ignore[arg-type]  # what is read of it


@define
class OneWay(HammingOrdered):
    """A distance that is said to be none in the other order."""

    name: ClassVar[str] = "one-way"
    is_symmetric: ClassVar[bool] = False


class Forwards(Mult):
    """P against Q alone."""

    name: ClassVar[str] = "forwards"
    is_symmetric: ClassVar[bool] = False


@pytest.mark.parametrize(
    ("d_x", "d_pr", "orders"),
    [(HammingOrdered(), Mult(), 1), (OneWay(), Mult(), 2), (HammingOrdered(), Forwards(), 2), (OneWay(), Forwards(), 2)],
)
def test_both_orders_are_tried_where_either_matters(d_x: Any, d_pr: Any, orders: int) -> None:
    spec = bits_spec(2).replace(input_divergence=d_x, output_divergence=d_pr)
    exchange = ((("0",),), (("1",),))
    found = list(attaining(spec)._in_both_orders([exchange]))
    assert found == [exchange, exchange[::-1]][:orders]


def test_laws_for_some_numbers_of_records_are_not_compared_without_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """What both datasets share is left out of a thinned pair: with other numbers of records, other laws apply."""
    monkeypatch.setattr(Attaining, "_of_thinned", lambda *_: "a pair")
    spec = bits_spec(2)
    assert attaining(spec, publishes_views=True, drawn=None, sizes={"x": (1, 2)}).thinned([], 64) is None


@pytest.mark.parametrize("most", [200_000, None])
def test_a_pair_among_many_others_has_as_many_records_as_before(most: int | None) -> None:
    """One of n records is replaced, and m of them are drawn: ln(1 + m/n (e^eps - 1)), with n the least number there may be."""
    query = Marginal(attributes=(), where=(("kind", ("a",)),))
    noisy = block("mechanisms", "geometric", queries=(query,), ratio="1/2")
    space = UnorderedRecords(attributes=(KIND,), least=200_000, most=most)
    found = derive(block("mechanisms", "subsampled", mechanism=noisy, size=5), spec(space, HAMMING, value=1))
    assert isinstance(found, Verdict)
    assert found.outcome is Outcome.VERIFIED
    assert found.constant == Bracket.exactly(f"ln({1 + Fraction(5, 200_000)})")
