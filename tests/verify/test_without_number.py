"""Budgets without a published number, steps outside of the guarantee, and what both are worth in comparisons."""

import attrs
import pytest

from dpspec.api import build, compare, verify
from dpspec.base.errors import BudgetNotStatedError
from dpspec.base.words import Word
from dpspec.comparison.compare import Answer, Implication
from dpspec.specfile.deployment import BlockProvenance, UnaccountedStep
from dpspec.verifier.document import verify_document
from dpspec.verifier.exhaustive import verify as verify_exactly
from dpspec.verifier.standing import standing
from dpspec.verifier.verdict import Outcome

STEP = UnaccountedStep(step="a threshold on true counts", effect="a missing region tells its count")


def bits(budget, keep="3/4", **more):
    tables = {
        "space": {"type": "bit-vectors", "length": 2},
        "input_divergence": {"type": "hamming-ordered"},
        "output_divergence": {"type": "mult"},
        "budget": budget,
        "mechanism": {"type": "randomised-response", "keep_probability": keep},
    }
    return build(**{**tables, **more})


PUBLISHED = pytest.mark.parametrize(
    ("budget", "outcome"),
    [
        ({"stated": False}, Outcome.UNDECIDED),
        ({"at_most": {"epsilon": "ln(3)"}}, Outcome.VERIFIED),
        ({"at_least": {"epsilon": 1}, "at_most": {"epsilon": 2}}, Outcome.VERIFIED),
        ({"at_most": {"epsilon": 1}}, Outcome.REFUTED),  # the constant is ln 3 > 1
        ({"at_least": {"epsilon": "ln(3)"}}, Outcome.VERIFIED),  # whatever the number is
        ({"at_least": {"epsilon": 1}}, Outcome.UNDECIDED),  # 1 would not do, 2 would
    ],
)


@PUBLISHED
def test_a_mechanism_against_what_is_published_of_the_number(budget, outcome):
    document = bits(budget)
    found = verify_exactly(document.mechanism, document.spec)
    assert found.outcome is outcome
    if outcome is Outcome.UNDECIDED:
        assert found.reason.startswith("no number published")
        assert "ln(3)" in found.reason
        assert found.universes == ()


@PUBLISHED
def test_the_same_where_the_space_is_too_large_to_be_walked(budget, outcome):
    document = bits(budget, space={"type": "bit-vectors", "length": 60})
    assert verify(document.mechanism, document.spec).outcome is outcome


def test_a_plain_function_is_undecided_too():
    document = bits({"stated": False})
    found = verify(lambda x, rng: [b ^ int(rng.random() < 0.25) for b in x], document.spec)
    assert found.outcome is Outcome.UNDECIDED
    assert found.reason.startswith("no number published")


def test_a_mechanism_on_the_whole_of_a_large_space_is_undecided():
    document = bits({"stated": False}, space={"type": "bit-vectors", "length": 60})
    (found,) = verify_document(document).obligations
    assert (found.word, found.detail.startswith("undecided: no number published")) == (Word.UNDECIDED, True)


def test_without_a_number_no_bound_can_be_asked_for():
    spec = bits({"stated": False}).spec
    with pytest.raises(BudgetNotStatedError):
        spec.allowance((0, 0), (0, 1))


def test_a_printed_number_beside_no_number_never_holds():
    route = {"type": "sum", "numbers": ["1", "1"]}
    document = bits({"stated": False}, expect=[{"what": "two", "epsilon": 2, "tolerance": 0, "because": "sum", "route": route}])
    assert verify_document(attrs.evolve(document, mechanism=None)).word is Word.UNDECIDED


# --- steps outside of the guarantee ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("recorded", "epsilon", "word"),
    [
        (None, "ln(3)", Word.UNDECIDED),
        ("verified", "ln(3)", Word.UNDECIDED),
        ("undecided", "ln(3)", Word.UNCHECKED),
        ("refuted", "1", Word.RECORDED),
        (None, "1", Word.REFUTED),
    ],
)
def test_a_file_with_a_step_outside_never_holds_and_what_is_false_stays_false(recorded, epsilon, word):
    claim = {} if recorded is None else {"claim": {"verdict": recorded, "because": "so it is filed"}}
    document = attrs.evolve(bits({"epsilon": epsilon}, **claim), unaccounted=(STEP,))
    assert verify_document(document).word is word
    assert not standing(document).word.is_good


def test_the_same_file_without_the_step_holds():
    document = bits({"epsilon": "ln(3)"})
    assert verify_document(document).word is Word.HOLDS
    assert standing(document).word is Word.VERIFIED


# --- comparisons ----------------------------------------------------------------------------------


def test_two_unpublished_numbers_are_not_the_same_number():
    left = bits({"stated": False})
    found = compare(left, left)
    assert found.relation is Implication.UNKNOWN
    assert [step.holds for step in found.forward.steps] == [True, True, True, True, None]
    same = bits({"at_least": {"epsilon": 5}})
    assert compare(same, same).forward.answer is Answer.UNKNOWN


def test_what_holds_whatever_the_number_is_is_answered():
    one, many, hundreds = bits({"epsilon": 1}), bits({"stated": False}), bits({"at_least": {"epsilon": 5}})
    assert compare(one, hundreds).forward.answer is Answer.IMPLIES  # 1 <= 5 <= the number
    assert compare(hundreds, one).forward.answer is Answer.SEPARATED  # even 5 allows more than 1
    assert compare(many, one).forward.answer is Answer.UNKNOWN
    assert compare(one, many).forward.answer is Answer.UNKNOWN
    infinite = bits({"epsilon": "inf"})
    assert compare(many, infinite).forward.answer is Answer.IMPLIES


def test_a_promise_of_at_most_compares_as_that_number():
    at_most, exactly = bits({"at_least": {"epsilon": 1}, "at_most": {"epsilon": 2}}), bits({"epsilon": 2})
    assert compare(at_most, exactly).relation is Implication.EQUIVALENT
    assert compare(at_most, bits({"epsilon": 1})).relation is Implication.IMPLIED_BY


def test_the_other_blocks_are_compared_without_a_number():
    found = compare(bits({"stated": False}), bits({"stated": False}, output_divergence={"type": "d-nor"}))
    (step,) = [step for step in found.forward.steps if step.block == "output divergence"]
    assert step.holds is True
    back = [step for step in found.backward.steps if step.block == "output divergence"]
    assert all(step.holds is None for step in back)
    assert back


# --- what an answer rests on ----------------------------------------------------------------------


def test_the_comparison_says_what_it_rests_on(tmp_path):
    from dpspec.report.comparison import rests_on

    assumed = BlockProvenance(block="input_divergence", how="assumed", because="the source does not say")
    document = attrs.evolve(bits({"epsilon": 1}), provenance=(assumed,), unaccounted=(STEP,))
    lines = rests_on("A", document)
    assert lines[0] == "the answer rests on an assumption about A: the input divergence is assumed: the source does not say"
    assert lines[1].startswith("the promise of A does not cover: a threshold")


def test_the_report_of_a_file_says_which_blocks_are_assumed():
    assumed = BlockProvenance(block="input_divergence", how="assumed", because="the source does not say")
    document = attrs.evolve(bits({"epsilon": "ln(3)"}), provenance=(assumed,))
    told = str(verify_document(document))
    assert "the input divergence is assumed: the source does not say" in " ".join(told.split())


@pytest.mark.parametrize("stated", [False, True])
def test_units_and_invariants_that_the_other_space_does_not_have_are_an_answer_and_no_fault(stated):
    """No block of the one fits the space of the other: the comparison says so instead of refusing valid files."""
    homes = build(
        space={"type": "households", "household": [{"name": "county", "count": 2}], "person": [{"name": "age", "count": 2}]},
        multiverse={"invariants": [{"type": "marginal", "unit": "household", "attributes": ["county"]}]},
        input_divergence={"type": "symmetric-difference", "unit": "household"},
        output_divergence={"type": "mult"},
        budget={"epsilon": 1} if stated else {"stated": False},
    )
    days = build(
        space={"type": "records", "unit": "user-day", "attributes": [{"name": "place", "count": 2}]},
        input_divergence={"type": "symmetric-difference", "unit": "user-day"},
        output_divergence={"type": "mult"},
        budget={"stated": False},
    )
    for one, other in ((homes, days), (days, homes)):
        found = compare(one.spec, other.spec)
        assert found.forward.answer is not Answer.IMPLIES
        assert any(step.holds is not True for step in found.forward.steps)
