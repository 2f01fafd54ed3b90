"""Comparing two specifications: derived, separated, or unknown, in each direction."""

from __future__ import annotations

from collections.abc import Sequence

from dpspec.compare.comparison import Answer, Comparison, Direction, Finding
from dpspec.compare.gaps import gaps
from dpspec.compare.search import search
from dpspec.compare.separation import Judge, hunt
from dpspec.rule import Rule, Step
from dpspec.spec import PrivacySpec


def compare(left: PrivacySpec, right: PrivacySpec, *, rules: Sequence[Rule], judge: Judge) -> Comparison:
    """Decide, in each direction, whether every mechanism that satisfies the one specification satisfies the other.

    Args:
        left, right: the two specifications.
        rules: what derivations may be made of.
        judge: the exact engine, asked to check each separating mechanism on the two datasets that show it.
    """
    return Comparison(
        left=left,
        right=right,
        forward=_direction(left, right, rules, judge),
        backward=_direction(right, left, rules, judge),
        notes=perverse_notes(left, right),
    )


def _direction(premise: PrivacySpec, conclusion: PrivacySpec, rules: Sequence[Rule], judge: Judge) -> Direction:
    found = search(premise, conclusion, rules)
    steps = tuple(_finding(step) for step in found.derivation.steps)
    if found.arrived:
        same = Finding(block="all five", holds=True, reason="the same specification")
        return Direction(answer=Answer.IMPLIES, steps=steps or (same,), derivation=found.derivation)
    steps += tuple(gaps(found.derivation.conclusion, conclusion))
    hunted = hunt(premise, conclusion, judge)
    answer = Answer.UNKNOWN if hunted.separation is None else Answer.SEPARATED
    return Direction(answer=answer, steps=steps, separation=hunted.separation, tried=hunted.tried)


def _finding(step: Step) -> Finding:
    factor = str(step.parameters.get("constant", "1"))
    return Finding(block=step.block, holds=True, reason=step.reason, factor=factor, rule=step.rule)


def perverse_notes(left: PrivacySpec, right: PrivacySpec) -> tuple[str, ...]:
    """What makes the comparison of two budgets misleading: every other block in which the specifications differ (B-T22)."""
    notes = []
    if left.space != right.space:
        notes.append(
            "dataset space: a specification asks nothing of a dataset that its space lacks; A implies B when every mechanism "
            "that satisfies A satisfies B however it goes on over the datasets that only B has"
        )
    if left.multiverse != right.multiverse:
        notes.append(
            "multiverse: more invariants make smaller universes, and a smaller budget without more noise; "
            f"left holds {_count(left)}, right holds {_count(right)}"
        )
    if left.input_divergence != right.input_divergence:
        notes.append(
            "input divergence: a coarser count of change (persons for households, a day for a lifetime) shrinks the budget; "
            f"left counts {left.input_divergence}, right counts {right.input_divergence}"
        )
    if left.output_divergence != right.output_divergence:
        notes.append(
            "output divergence: a more lenient standard shrinks the number; "
            f"left measures {left.output_divergence}, right measures {right.output_divergence}"
        )
    if notes:
        notes.append("two budgets are comparable only when the other four blocks agree (B-T22)")
    return tuple(notes)


def _count(spec: PrivacySpec) -> str:
    held = spec.multiverse.invariants
    return str(spec.multiverse) if held is None else f"{len(held)} invariants"
