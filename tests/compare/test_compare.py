"""Comparison: derived, separated or unknown, each direction with its reasons."""

from fractions import Fraction

import pytest

import dpspec as dp
from dpspec.api import compare
from dpspec.base.exact import ZERO, number
from dpspec.blocks.budget import BudgetTable, OpenBudget, UniformBudget
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import ExplicitUniverses, LevelSets, Trivial
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.comparison.compare import (
    Answer,
    Implication,
    answer_about_all,
    answer_of_one,
    budget_at,
    compare_products,
    separating_promise,
)
from dpspec.grammar.spec import PrivacySpec
from dpspec.specfile.document import Coverage
from tests.verify.toys import bits_spec, block

SEX = Attribute(name="sex", categories=("f", "m"))
AGE = Attribute(name="age", categories=("young", "old"))


def records(**blocks: object) -> PrivacySpec:
    base = bits_spec().replace(
        space=UnorderedRecords(attributes=(SEX, AGE), most=3), input_divergence=block("input_divergences", "hamming")
    )
    return base.replace(**blocks)


def epsilon(value: object) -> UniformBudget:
    return UniformBudget(parameter="epsilon", value=value)  # type: ignore[arg-type]


def test_a_specification_is_equivalent_to_itself() -> None:
    assert compare(bits_spec(), bits_spec()).relation is Implication.EQUIVALENT


@pytest.mark.reference("B-X10")
@pytest.mark.parametrize(("small", "large"), [("ln(2)", "ln(3)"), ("1", "ln(3)"), ("ln(3)", "1.0986123")])
def test_a_larger_budget_is_implied_and_does_not_imply(small: str, large: str) -> None:
    found = compare(bits_spec(epsilon=small), bits_spec(epsilon=large))
    assert found.forward.answer is Answer.IMPLIES
    assert found.backward.answer in (Answer.SEPARATED, Answer.UNKNOWN)
    wide = compare(bits_spec(epsilon="ln(2)"), bits_spec(epsilon="ln(3)"))
    assert wide.relation is Implication.IMPLIES
    assert wide.backward.separation is not None
    assert "refuted" in wide.backward.separation.checks[1]


@pytest.mark.reference("B-T10", "B-T22", "B-D5")
def test_more_invariants_are_implied_and_separated_by_releasing_them() -> None:
    held = LevelSets(invariants=(Marginal(attributes=("sex",)),))
    found = compare(records(), records(multiverse=held))
    assert found.relation is Implication.IMPLIES
    separation = found.backward.separation
    assert separation is not None
    assert separation.mechanism == "publish exactly: person by sex"
    assert separation.checks[0].startswith("verified")
    assert separation.checks[1].startswith("refuted")
    assert any(note.startswith("multiverse") for note in found.notes)


@pytest.mark.reference("B-S12")
def test_under_total_variation_releasing_invariants_does_not_separate() -> None:
    tv = {
        "output_divergence": block("output_divergences", "total-variation"),
        "budget": UniformBudget(parameter="distance", value=1),
    }
    held = LevelSets(invariants=(Marginal(attributes=("sex",)),))
    found = compare(records(**tv), records(multiverse=held, **tv))
    assert found.backward.answer is not Answer.SEPARATED


@pytest.mark.reference("B-X7", "B-T22")
def test_units_and_halves_change_the_budget_that_is_implied() -> None:
    symmetric = block("input_divergences", "symmetric-difference")
    assert (
        compare(records(input_divergence=symmetric, budget=epsilon(1)), records(budget=epsilon(2))).forward.answer
        is Answer.IMPLIES
    )
    short = compare(records(input_divergence=symmetric, budget=epsilon(1)), records(budget=epsilon("1.9")))
    assert short.forward.answer is not Answer.IMPLIES


def test_the_same_number_for_another_unit_is_too_small_and_no_budget_by_universe() -> None:
    """The two epsilons of 1 agree, so that the step to the other unit did not come nearer, and a wrong reason was printed."""
    symmetric = block("input_divergences", "symmetric-difference")
    found = compare(records(input_divergence=symmetric, budget=epsilon(1)), records(budget=epsilon(1))).forward
    assert [(step.block, step.holds, step.reason) for step in found.steps if step.holds is not True] == [
        ("budget", False, "2 > 1 as Lipschitz constants")
    ]


@pytest.mark.reference("B-T22", "B-D15", "B-D18")
def test_pure_implies_concentrated_and_integer_noise_separates_back() -> None:
    concentrated = {"output_divergence": block("output_divergences", "d-nor")}
    rho = UniformBudget(parameter="rho", value="1/2")
    found = compare(records(budget=epsilon(1)), records(budget=rho, **concentrated))
    assert found.forward.answer is Answer.IMPLIES
    assert found.backward.answer is Answer.SEPARATED
    assert found.backward.separation is not None
    assert "Gaussian" in found.backward.separation.mechanism


def test_a_specification_says_nothing_of_the_datasets_of_another_space() -> None:
    found = compare(bits_spec(length=2), bits_spec(length=3))
    assert found.relation is Implication.DIFFERENT_DATA
    separation = found.forward.separation
    assert separation is not None
    assert (separation.kind, separation.left, separation.right) == ("space", (0, 0, 0), (0, 0, 1))
    assert any(note.startswith("dataset space") for note in found.notes)


def test_a_comparison_is_no_truth_value() -> None:
    found = compare(bits_spec(), bits_spec())
    for thing in (found, found.forward.answer):
        with pytest.raises(TypeError):
            bool(thing)


def test_every_separation_was_run_by_the_engine() -> None:
    specs = [
        records(),
        records(multiverse=LevelSets(invariants=(Marginal(attributes=("age",)),))),
        records(multiverse=Trivial(), budget=epsilon(5)),
    ]
    for left in specs:
        for right in specs:
            for direction in (compare(left, right).forward, compare(left, right).backward):
                if direction.separation is not None:
                    assert direction.separation.checks[0].startswith("verified")
                    assert direction.separation.checks[1].startswith("refuted")


def listed(**universes: tuple[tuple[int, ...], ...]) -> PrivacySpec:
    return bits_spec().replace(multiverse=ExplicitUniverses(universes_by_label=universes))  # type: ignore[arg-type]


def test_universes_by_list_are_compared_pair_by_pair() -> None:
    """Two overlapping universes that hold all pairs of a third one imply it, though none of them contains it."""
    a, b, c = (0, 0, 0), (0, 0, 1), (0, 1, 0)
    pairs, whole = listed(ab=(a, b), bc=(b, c), ca=(c, a)), listed(abc=(a, b, c))
    assert compare(pairs, whole).relation is Implication.EQUIVALENT
    two = compare(listed(ab=(a, b), bc=(b, c)), whole)
    assert two.forward.answer is not Answer.IMPLIES
    assert two.backward.answer is Answer.IMPLIES
    assert [step.holds for step in two.forward.steps if step.block == "multiverse"] == [False]


def test_the_same_table_of_budgets_for_other_universes_is_not_the_same_budget() -> None:
    a, b = (0, 0, 0), (0, 0, 1)
    table = BudgetTable(parameter="epsilon", values=(("left", number(1)), ("right", number(2))))
    left, right = (listed(**{label: (a, b)}).replace(budget=table) for label in ("left", "right"))
    assert compare(right, left).forward.answer is not Answer.IMPLIES


@pytest.mark.parametrize(("budget", "relation"), [("inf", Implication.EQUIVALENT), (5, Implication.IMPLIED_BY)])
def test_a_promise_about_another_release_that_asks_for_nothing_follows(budget, relation):
    """No promise of the other file covers that release, so that it was unknown; every mechanism keeps an infinite budget."""
    response = {"type": "randomised-response", "keep_probability": "2/3"}
    blocks = {
        "space": {"type": "bit-vectors", "length": 2}, "input_divergence": {"type": "hamming-ordered"},
        "output_divergence": {"type": "mult"}, "budget": {"epsilon": 1},
    }  # fmt: skip
    alone = dp.build(**blocks)
    beside = dp.build(**blocks, part=[{"title": "beside", "budget": {"epsilon": budget}, "mechanism": response}])
    assert dp.compare(alone, beside).relation is relation


def test_whatever_it_is_compared_with_a_promise_that_asks_for_nothing_follows():
    """No rule leads from Renyi privacy to a squared Hellinger distance, of which no two laws are more than 1 apart."""
    few = {"space": {"type": "records", "attributes": [{"name": "a", "count": 2}]}, "input_divergence": {"type": "hamming"}}
    premise = dp.build(**few, output_divergence={"type": "renyi", "order": 2}, budget={"epsilon": 100})
    hellinger = {"type": "f-divergence", "generator": "hellinger", "direction": "both"}
    assert dp.compare(premise, dp.build(**few, output_divergence=hellinger, budget={"divergence": 1})).relation in (
        Implication.IMPLIES, Implication.EQUIVALENT,
    )  # fmt: skip
    below = dp.build(**few, output_divergence=hellinger, budget={"divergence": "9/10"})
    assert dp.compare(premise, below).relation not in (Implication.IMPLIES, Implication.EQUIVALENT)


# --- products of several promises -----------------------------------------------------------------


ALL, HALF, SERVER = Coverage(), Coverage(share=Fraction(1, 2)), Coverage(view="server")
YES, NO, OPEN = Answer.IMPLIES, Answer.SEPARATED, Answer.UNKNOWN


def in_order(premise: PrivacySpec, conclusion: PrivacySpec) -> Answer:
    """A smaller budget implies a larger one, and is separated from it by none."""
    return YES if premise.budget.uniform() <= conclusion.budget.uniform() else NO  # type: ignore[operator]  # both are numbers


ONE, TWO, THREE = (bits_spec(epsilon=value) for value in (1, 2, 3))


def test_a_promise_to_a_share_of_the_units_is_not_separated() -> None:
    """The units on which a mechanism breaks the one may be among the others."""
    assert answer_of_one([(ALL, TWO)], ALL, {0: NO}, in_order) is NO
    assert answer_of_one([(ALL, TWO)], HALF, {0: NO}, in_order) is OPEN
    assert answer_of_one([(ALL, TWO)], HALF, {0: YES}, in_order) is YES
    assert answer_of_one([(ALL, TWO)], ALL, {0: OPEN}, in_order) is OPEN
    assert answer_of_one([(ALL, TWO)], ALL, {}, in_order) is OPEN


def test_only_a_promise_that_implies_the_others_separates() -> None:
    both = [(ALL, TWO), (ALL, THREE)]
    assert separating_promise(both, ALL, {0: NO, 1: NO}, in_order) == 0
    assert separating_promise(both, ALL, {0: OPEN, 1: NO}, in_order) is None
    # what a party sees may constrain the release too, although it covers something else
    seen = [(ALL, TWO), (SERVER, ONE)]
    assert not SERVER.includes(ALL)
    assert SERVER.may_constrain(ALL)
    assert separating_promise(seen, ALL, {0: NO}, in_order) is None
    assert separating_promise([(ALL, ONE), (SERVER, TWO)], ALL, {0: NO}, in_order) == 0
    elsewhere = [(ALL, TWO), (Coverage(release="another"), ONE)]
    assert separating_promise(elsewhere, ALL, {0: NO}, in_order) == 0


@pytest.mark.parametrize(
    ("answers", "found"), [((YES, YES), YES), ((YES, OPEN), OPEN), ((OPEN, NO), NO), ((NO, YES), NO), ((), YES)]
)
def test_one_false_promise_is_enough(answers: tuple[Answer, ...], found: Answer) -> None:
    assert answer_about_all(answers) is found


def test_a_product_implies_another_promise_by_promise() -> None:
    mine, theirs = [(ALL, ONE), (SERVER, TWO)], [(ALL, TWO), (SERVER, THREE)]
    found = compare_products(mine, theirs, compare)
    assert found.forward.answer is Answer.IMPLIES
    assert [step.reason for step in found.forward.steps] == ["follows from promise 1 of A", "follows from promise 2 of A"]
    assert found.backward.answer is not Answer.IMPLIES
    lacking = compare_products([(ALL, ONE)], theirs, compare).forward
    assert lacking.answer is not Answer.IMPLIES
    assert "no promise of A covers that" in lacking.steps[1].reason


def test_a_budget_at_a_number() -> None:
    assert budget_at(OpenBudget(parameter="epsilon"), None, ZERO) == epsilon(0)
    assert budget_at(OpenBudget(parameter="epsilon", at_least=2), number(2), ZERO) == epsilon(2)
    assert budget_at(OpenBudget(parameter="epsilon", at_least=1, at_most=8), number(1), ZERO) == epsilon(8)
    assert budget_at(epsilon(3), number(1), ZERO) == epsilon(3)
