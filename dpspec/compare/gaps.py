"""What is missing where no derivation was found: each block in which the nearest specification still differs from the goal."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.space import DatasetSpace
from dpspec.compare.comparison import Finding
from dpspec.rules.budgets import constant_of
from dpspec.rules.inputs import bound_of
from dpspec.rules.listed import LISTED, compared_pairs
from dpspec.rules.universes import determined
from dpspec.spec import PrivacySpec


def gaps(nearest: PrivacySpec, goal: PrivacySpec) -> Iterator[Finding]:
    """One finding for each block that differs, with what would be needed; those after an open one wait for it."""
    if nearest.space != goal.space:
        yield _space(nearest, goal)
        return
    looked: list[Callable[[PrivacySpec, PrivacySpec], Finding | None]] = [_multiverse, _input, _output, _budget]
    yield from (finding for look in looked if (finding := look(nearest, goal)) is not None)


def _space(nearest: PrivacySpec, goal: PrivacySpec) -> Finding:
    if nearest.space.includes(goal.space) is None:
        reason = "two different dataset spaces; that of the premise is not known to hold all datasets of that of the conclusion"
    elif nearest.multiverse.invariants is None or nearest.budget.uniform() is None:
        reason = "on the smaller space, only universes of invariants with one budget are known to stay what they are"
    else:
        reason = f"{told(nearest.input_divergence)} is not known to be as large on the smaller space"
    return Finding(block="space", holds=None, reason=reason)


def _multiverse(nearest: PrivacySpec, goal: PrivacySpec) -> Finding | None:
    if nearest.multiverse == goal.multiverse:
        return None
    coarse, fine = nearest.multiverse.invariants, goal.multiverse.invariants
    if coarse is not None and fine is not None:
        found = determined(fine, coarse, goal.space)
        if found.answer is True:
            return Finding(block="multiverse", holds=None, reason="a budget that differs by universe, and other universes")
        return Finding(block="multiverse", holds=found.answer, reason=found.reason)
    pairs = compared_pairs(goal)
    if pairs is None:
        reason = f"universes that are not induced by invariants are compared on at most {LISTED} datasets only"
        return Finding(block="multiverse", holds=None, reason=reason)
    for _, left, right in pairs:
        if not nearest.multiverse.share_universe(left, right, nearest.space):
            reason = f"{left} and {right} share a universe of the conclusion and none of the premise"
            return Finding(block="multiverse", holds=False, reason=reason)
    return Finding(block="multiverse", holds=None, reason="a budget that differs by universe, and other universes")


def _input(nearest: PrivacySpec, goal: PrivacySpec) -> Finding | None:
    smaller, larger = nearest.input_divergence, goal.input_divergence
    if smaller == larger:
        return None
    if bound_of(smaller, goal) is not None:
        reason = "a budget of this kind, one for each universe, is not rescaled"
    else:
        reason = f"no constant c with {told(smaller)} <= c {told(larger)} is known" + _size(smaller, larger, goal.space)
    return Finding(block="input divergence", holds=None, reason=reason)


def _size(smaller: InputDivergence, larger: InputDivergence, space: DatasetSpace) -> str:
    """What the space does not state, where the two count different units."""
    ours, theirs = smaller.counted_unit(), larger.counted_unit()
    if ours is None or theirs is None or ours == theirs:
        return ""
    within = space.units.index(ours) > space.units.index(theirs)
    if space.most_changed(ours, theirs) is None and within:
        return f"; missing: the largest number of {ours} records that one {theirs} changes, which the space does not state"
    if space.most_changed(ours, theirs) is None:
        return f"; nothing bounds the number of {ours} records that change with one {theirs}"
    return "" if space.fixes_size(ours) else f"; not all datasets have equally many {ours} records"


def _output(nearest: PrivacySpec, goal: PrivacySpec) -> Finding | None:
    source, target = nearest.output_divergence, goal.output_divergence
    if source == target:
        return None
    reason = f"no constant k with {told(target)} <= k {told(source)} is known, and no conversion"
    if not nearest.input_divergence.is_neighbour_form:
        reason += " (those that are no constants need distances of neighbours)"
    return Finding(block="output divergence", holds=None, reason=reason)


def _budget(nearest: PrivacySpec, goal: PrivacySpec) -> Finding | None:
    if nearest.input_divergence != goal.input_divergence or nearest.output_divergence != goal.output_divergence:
        return Finding(block="budget", holds=None, reason="not comparable until the divergences are (B-T22)")
    if nearest.budget == goal.budget:
        return None
    given, allowed = constant_of(nearest), constant_of(goal)
    if given is None or allowed is None:
        reason = "budgets that differ by universe are compared in each, on spaces that can be listed, and one is larger"
        return Finding(block="budget", holds=None, reason=reason)
    holds = given <= allowed
    return Finding(block="budget", holds=holds, reason=f"{given} {'<=' if holds else '>'} {allowed} as Lipschitz constants")


def told(divergence: object) -> str:
    """A divergence by its own text, or by its name where it has none."""
    text = str(divergence)
    return str(getattr(divergence, "name", text)) if text.startswith(type(divergence).__name__ + "(") else text
