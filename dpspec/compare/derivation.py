"""When one specification implies another: an argument block by block.

S = (X, D, d, d_Pr, eps) implies S' = (X', D', d', d_Pr', eps') when X' is part of X, every universe of D'
lies in a universe of D, d <= c d', d_Pr' <= k d_Pr and k c eps <= eps' there, because then

    d_Pr'(P_x, P_x') <= k d_Pr(P_x, P_x') <= k eps d(x, x') <= k c eps d'(x, x') <= eps' d'(x, x').
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from dpspec.blocks.determination import determines
from dpspec.blocks.multiverse import Universe
from dpspec.blocks.space import Dataset
from dpspec.compare.comparison import Step
from dpspec.errors import NumericalError
from dpspec.exact import Number, number
from dpspec.spec import PrivacySpec

LISTED = 200
"""Universes without invariants are compared pair by pair on spaces of at most this many datasets."""


def derive(premise: PrivacySpec, conclusion: PrivacySpec) -> tuple[Step, ...]:
    """One step for each block; the implication is derived when all of them hold."""
    space = Step(block="space", holds=True, reason="the same dataset space")
    if premise.space != conclusion.space:
        space = Step(block="space", holds=None, reason="two different dataset spaces; no map between them is known")
        return (space,)
    inputs, c = _input_step(premise, conclusion)
    outputs, k = _output_step(premise, conclusion)
    return (space, _multiverse_step(premise, conclusion), inputs, outputs, _budget_step(premise, conclusion, c, k))


def _multiverse_step(premise: PrivacySpec, conclusion: PrivacySpec) -> Step:
    """Every universe of the conclusion has to lie inside one of the premise."""
    if premise.multiverse == conclusion.multiverse:
        return Step(block="multiverse", holds=True, reason="the same universes")
    coarse, fine = premise.multiverse.invariants, conclusion.multiverse.invariants
    if coarse == ():
        return Step(block="multiverse", holds=True, reason="the premise protects across the whole space")
    if coarse is None or fine is None:
        return _listed_step(premise, conclusion)
    found = determines(fine, coarse, conclusion.space)
    reason = found.reason if found.answer is not True else f"its invariants determine those of the premise ({found.reason})"
    return Step(block="multiverse", holds=found.answer, reason=reason)


def _listed_step(premise: PrivacySpec, conclusion: PrivacySpec) -> Step:
    """The same for universes without invariants, pair by pair on a list: what is promised is promised about pairs."""
    pairs = _compared(conclusion)
    if pairs is None:
        reason = f"universes that are not induced by invariants are compared on at most {LISTED} datasets only"
        return Step(block="multiverse", holds=None, reason=reason)
    for _, left, right in pairs:
        if not premise.multiverse.share_universe(left, right, premise.space):
            reason = f"{left} and {right} share a universe of the conclusion and none of the premise"
            return Step(block="multiverse", holds=False, reason=reason)
    return Step(block="multiverse", holds=True, reason="every two datasets that the conclusion compares share one of the premise")


def _compared(spec: PrivacySpec) -> Iterator[tuple[Universe, Dataset, Dataset]] | None:
    """Every pair at finite distance with its universe; None when there are too many datasets to list."""
    size = spec.space.cardinality()
    if size is None or size > LISTED:
        return None
    pairs = ((u, x, y) for u in spec.multiverse.universes(spec.space) for x, y in itertools.combinations(u.datasets, 2))
    return ((u, x, y) for u, x, y in pairs if not spec.distance(x, y).is_infinite or not spec.distance(y, x).is_infinite)


def _input_step(premise: PrivacySpec, conclusion: PrivacySpec) -> tuple[Step, Number | None]:
    smaller, larger = premise.input_divergence, conclusion.input_divergence
    known = smaller.bounded_by(larger, conclusion.space) or larger.bounds(smaller, conclusion.space)
    if known is None:
        reason = f"no constant c with {_name(premise.input_divergence)} <= c {_name(conclusion.input_divergence)} is known"
        return Step(block="input divergence", holds=None, reason=reason), None
    constant, reason = known
    return Step(block="input divergence", holds=True, reason=reason, factor=str(constant)), constant


def _output_step(premise: PrivacySpec, conclusion: PrivacySpec) -> tuple[Step, Number | None]:
    smaller, larger = conclusion.output_divergence, premise.output_divergence
    known = smaller.bounded_by(larger) or larger.bounds(smaller)
    if known is None:
        reason = f"no constant k with {_name(conclusion.output_divergence)} <= k {_name(premise.output_divergence)} is known"
        return Step(block="output divergence", holds=None, reason=reason), None
    constant, reason = known
    return Step(block="output divergence", holds=True, reason=reason, factor=str(constant)), constant


def _budget_step(premise: PrivacySpec, conclusion: PrivacySpec, c: Number | None, k: Number | None) -> Step:
    """k c eps <= eps', for one number each; budgets that differ by universe are compared only when they are equal."""
    if c is None or k is None:
        return Step(block="budget", holds=None, reason="not comparable until the divergences are (B-T22)")
    same_labels = premise.multiverse == conclusion.multiverse or premise.budget.uniform() is not None
    if premise.budget == conclusion.budget and same_labels and c <= 1 and k <= 1:
        return Step(block="budget", holds=True, reason="the same budget")
    given, allowed = _constant(premise), _constant(conclusion)
    if allowed is not None and allowed.is_infinite:
        return Step(block="budget", holds=True, reason="the conclusion allows any finite or infinite loss")
    if given is None or allowed is None:
        return Step(block="budget", holds=None, reason="a budget that differs by universe is not compared in general")
    try:
        needed = given * c * k
        holds: bool | None = needed <= allowed
        text = f"{needed} {'<=' if holds else '>'} {allowed}"
    except NumericalError:
        enclosure, limit = given.enclose() * c.enclose() * k.enclose(), allowed.enclose()
        holds = True if enclosure <= limit else False if enclosure > limit else None
        text = f"{given} x {c} x {k} {'<=' if holds else 'against'} {allowed}"
    return Step(block="budget", holds=holds, reason=f"{text} as Lipschitz constants")


def _constant(spec: PrivacySpec) -> Number | None:
    """The Lipschitz constant of a uniform budget."""
    value = spec.budget.uniform()
    return None if value is None else spec.output_divergence.lipschitz(spec.budget.parameter, number(value))


def _name(divergence: object) -> str:
    text = str(divergence)
    return str(getattr(divergence, "name", text)) if text.startswith(type(divergence).__name__ + "(") else text
