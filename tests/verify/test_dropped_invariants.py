"""TopDown in miniature, one invariant dropped at a time: infinite or not, whichever is true (B-T13, B-S11, B-S22)."""

import itertools

import pytest
from dpspec_census import Topdown
from dpspec_divergences import DNor, Hamming

from dpspec.base.exact import number, sqrt
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar.spec import PrivacySpec
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome, Verdict

BLOCK = Attribute(name="block", categories=("1", "2"))
KIND = Attribute(name="kind", categories=("house", "dormitory"))
TOTAL = Marginal(attributes=())
BY_BLOCK = Marginal(attributes=("block",))
DORMITORIES = Marginal(attributes=("block",), where={"kind": ["dormitory"]})
INVARIANTS = (TOTAL, BY_BLOCK, DORMITORIES)
QUERIES = ({"query": Marginal(attributes=("block", "kind")), "variance": "5/2"},)


def judged(held: tuple[Marginal, ...], *, least: int = 0) -> Verdict:
    space = UnorderedRecords(attributes=(BLOCK, KIND), least=least, most=3)
    mechanism = Topdown(measurements=QUERIES, invariants=INVARIANTS)
    spec = PrivacySpec(
        space=space,
        multiverse=LevelSets(invariants=held),
        input_divergence=Hamming(),
        output_divergence=DNor(),
        budget=UniformBudget(parameter="rho", value=mechanism.rho(space)),
    )
    return verify(mechanism, spec)


@pytest.mark.reference("B-T13", "B-S22")
def test_within_its_invariants_the_constant_is_at_most_the_noise_budget() -> None:
    verdict = judged(INVARIANTS)
    assert verdict.outcome is Outcome.VERIFIED
    # A change inside the universe moves a house and leaves the dormitories: nothing but equal tables is left here.
    assert verdict.constant.upper <= sqrt("2/5")


@pytest.mark.reference("B-T13", "B-S11")
@pytest.mark.parametrize(
    ("held", "infinite"),
    [
        ((BY_BLOCK, DORMITORIES), False),  # the total is the sum of the blocks: dropping it costs nothing
        ((TOTAL, DORMITORIES), True),
        ((TOTAL, BY_BLOCK), True),
        ((TOTAL,), True),
        ((), True),
    ],
)
def test_dropping_an_invariant_is_infinite_exactly_when_the_others_do_not_determine_it(
    held: tuple[Marginal, ...], infinite: bool
) -> None:
    verdict = judged(held)
    assert (verdict.outcome is Outcome.REFUTED) == infinite
    assert verdict.constant.lower.is_infinite == infinite
    if infinite:
        witness = verdict.witness
        assert witness is not None
        assert witness.distance < number("inf")
        space = UnorderedRecords(attributes=(BLOCK, KIND), most=3)
        assert any(i.value(witness.left, space) != i.value(witness.right, space) for i in INVARIANTS)


@pytest.mark.reference("B-S11")
def test_the_total_is_free_where_the_distance_fixes_it() -> None:
    by_nothing = judged((), least=3)
    by_total = judged((TOTAL,), least=3)
    assert by_nothing.witness == by_total.witness or by_nothing.constant.lower == by_total.constant.lower


@pytest.mark.reference("B-S4", "B-T16")
def test_every_subset_of_the_invariants_is_judged_alike_by_hand() -> None:
    for size in range(4):
        for held in itertools.combinations(INVARIANTS, size):
            kept = set(held) >= {BY_BLOCK, DORMITORIES}
            assert (judged(held).outcome is Outcome.VERIFIED) == kept
