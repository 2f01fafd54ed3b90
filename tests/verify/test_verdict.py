"""Verdicts: the worst outcome counts, nothing decided is nothing known, and numbers of a witness are written as they are."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from dpspec.base.exact import INFINITY, ZERO, Bracket, number, sqrt
from dpspec.blocks.vectors import BitVectors
from dpspec.verifier.verdict import (
    LONGEST,
    ClaimRefutedError,
    ClaimUndecidedError,
    Event,
    Outcome,
    ProofStep,
    UniverseResult,
    Verdict,
    Witness,
    witness_in_words,
    worst,
)

YES, NO, OPEN = Outcome.VERIFIED, Outcome.REFUTED, Outcome.UNDECIDED


def result(constant: Any = 1, bound: Any = 1, outcome: Outcome = YES, pairs: int | None = 3) -> UniverseResult:
    bracket = constant if isinstance(constant, Bracket) else Bracket.exactly(constant)
    return UniverseResult(
        label="X", datasets=4, pairs=pairs, constant=bracket, bound=number(bound), outcome=outcome, attained=((0,), (1,))
    )  # fmt: skip


def verdict(outcome: Outcome = YES, *results: UniverseResult, **more: Any) -> Verdict:
    return Verdict(outcome=outcome, method="exhaustive", scope="all", universes=results, **more)


WITNESS = Witness(
    universe="X", left=(0, 1), right=(1, 1), distance=number(2), divergence=Bracket.exactly("ln(5)"), bound=number("1/2"),
    event=Event(text="the outcome 1", left=Bracket.exactly("1/2"), right=Bracket.exactly("1/10")), note="error 1e-9",
)  # fmt: skip


@pytest.mark.parametrize(
    ("outcomes", "found"),
    [((), YES), ((YES,), YES), ((YES, OPEN), OPEN), ((OPEN, NO, YES), NO), ((NO, YES), NO), ((OPEN, OPEN), OPEN)],
)
def test_refuted_before_undecided_before_verified(outcomes: tuple[Outcome, ...], found: Outcome) -> None:
    assert worst(outcomes) is found
    assert worst(outcomes[::-1]) is found


def test_neither_outcomes_nor_verdicts_are_truth_values() -> None:
    for value in (YES, NO, verdict()):
        with pytest.raises(TypeError):
            bool(value)


def test_a_claim_is_required() -> None:
    held = verdict(YES, result())
    assert held.require() is held
    with pytest.raises(ClaimRefutedError) as refuted:
        verdict(NO, result(outcome=NO), witness=WITNESS).require()
    assert refuted.value.verdict.outcome is NO
    with pytest.raises(ClaimUndecidedError, match="why not"):
        verdict(OPEN, reason="why not").require()
    assert (ClaimRefutedError.exit_code, ClaimUndecidedError.exit_code) == (1, 3)


def test_the_constant_is_the_largest_and_unknown_where_nothing_was_decided() -> None:
    low, high = result(Bracket(lower=ZERO, upper=number(2))), result("3/2")
    both = verdict(YES, low, high)
    assert both.constant == Bracket(lower=number("3/2"), upper=number(2))
    assert both.tightest is low
    assert verdict(OPEN).constant == Bracket(lower=ZERO, upper=INFINITY)
    assert verdict(YES).constant == Bracket.exactly(0)
    assert verdict().tightest is None


def test_universes_without_a_pair_are_vacuous_and_proofs_are_not() -> None:
    results = [result(pairs=pairs) for pairs in (0, 1, None)]
    assert [one.is_vacuous for one in results] == [True, False, False]
    assert verdict(YES, *results).vacuous == (results[0],)


@pytest.mark.parametrize(
    ("constant", "bound", "outcome", "tight", "slack"),
    [
        (1, 1, YES, True, "0"), (1, 1, NO, False, "0"), ("1/3", 1, YES, False, "2/3"),
        ("ln(2)", "ln(3)", YES, False, "-ln(2) + ln(3)"),
        (Bracket(lower=ZERO, upper=number(1)), 1, YES, False, "0"),
        (INFINITY, 1, NO, False, "-inf"), (1, INFINITY, YES, False, "inf"),
        (INFINITY, INFINITY, YES, True, "0"), (sqrt(2), 2, YES, False, "0.585786"), (2, 1, NO, False, "-1"),
    ],
)  # fmt: skip
def test_what_is_left_of_a_budget(constant: Any, bound: Any, outcome: Outcome, tight: bool, slack: str) -> None:
    found = result(constant, bound, outcome)
    assert found.is_tight is tight
    assert found.slack() == slack or sorted(found.slack().split()) == sorted(slack.split())


def test_of_a_mechanism_that_follows_only_the_upper_end_is_known() -> None:
    less = result("3/2").at_most()
    assert less.constant == Bracket(lower=ZERO, upper=number("3/2"))
    assert less.attained is None
    assert not less.is_tight


def test_a_theorem_about_budgets_that_differ_has_no_single_constant() -> None:
    open_ended = result(Bracket(lower=number(1), upper=INFINITY), INFINITY)
    step = ProofStep(step="theorem", says="it holds", citation="Somebody 2020")
    assert verdict(YES, open_ended, proof=(step,)).differs_by_universe
    assert verdict(YES, open_ended, proof=(step,)).constant_in_words == "the constant differs by universe"
    assert not verdict(YES, open_ended).differs_by_universe
    assert not verdict(YES, result(), proof=(step,)).differs_by_universe
    assert verdict(YES, result()).constant_in_words == "constant 1"
    assert str(step) == "theorem: it holds (Somebody 2020)"


def test_a_witness_in_words() -> None:
    text = str(WITNESS)
    assert text.startswith("x = (0, 1), x' = (1, 1): d_Pr = ln(5) > 1/2 x 2 at d_X = 2")
    assert text.endswith("the outcome 1 has probability 1/2 against 1/10 (error 1e-9)")
    assert attrs.evolve(WITNESS, distance=ZERO).allowed == "0"
    assert witness_in_words(None, None) == "None"
    assert witness_in_words(WITNESS, None) == text
    assert WITNESS.in_words(BitVectors(length=2)).count("d_Pr = ln(5)") == 1
    long = attrs.evolve(WITNESS, left=(0,) * LONGEST)
    assert len(str(long)) < LONGEST + 300
    assert "..." in str(long)


def test_the_role_of_an_event() -> None:
    event = WITNESS.event
    assert event is not None
    assert "illustration" in event.role
    assert attrs.evolve(event, proves=True).role == "which alone is beyond what is allowed"
