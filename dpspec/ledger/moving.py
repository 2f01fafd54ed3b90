"""Leading one part of a ledger to common blocks, one true step for each block that changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpspec.blocks.multiverse import LevelSets, Multiverse, Trivial
from dpspec.errors import NoCompositionError
from dpspec.exact import INFINITY, Number
from dpspec.ledger.parts import Part
from dpspec.rule import Rule, Step
from dpspec.rules.inside import fixed_units
from dpspec.spec import PrivacySpec

BLOCKS = ("space", "multiverse", "input_divergence", "output_divergence")
"""The blocks that change one by one, in this order; the budget changes with each of them."""


def moved(spec: PrivacySpec, block: str, goal: PrivacySpec, rules: Sequence[Rule]) -> tuple[Step, ...] | None:
    """The step that gives a specification one block of the goal, at the least budget: () when it has it, None when no rule does.

    Args:
        spec: where to start.
        block: the field that changes.
        goal: where that block is taken from.
        rules: the registered rules, the same ones that a comparison searches.
    """
    wanted = getattr(goal, block)
    if getattr(spec, block) == wanted:
        return ()
    aim = spec.replace(**{block: wanted}, budget=goal.budget if block == "output_divergence" else spec.budget)
    steps = [step for rule in rules for step in rule.propose(spec, aim) if _reaches(step, aim)]
    return (min(steps, key=_spent),) if steps else None


def _reaches(step: Step, aim: PrivacySpec) -> bool:
    return all(getattr(step.after, block) == getattr(aim, block) for block in BLOCKS)


def _spent(step: Step) -> Number:
    value = step.after.budget.uniform()
    return INFINITY if value is None else value


def refinement(parts: tuple[Part, ...]) -> Multiverse:
    """The common refinement: universes intersect, so invariants unite (B-D7).

    Raises:
        NoCompositionError: universes that no invariants induce meet other ones.
    """
    proper = list(dict.fromkeys(p.spec.multiverse for p in parts if p.spec.multiverse.invariants != ()))
    if len(proper) <= 1:
        return proper[0] if proper else Trivial()
    united = []
    for part in parts:
        held = part.spec.multiverse.invariants
        if held is None:
            raise NoCompositionError(
                "multiverse",
                f"the universes of {part.id} are induced by no invariants, and those of other parts differ",
                "state them by invariants, or list the intersections as universes",
                value=str(part.spec.multiverse),
            )
        united += [invariant for invariant in held if invariant not in united]
    return LevelSets(invariants=tuple(united))


def missing(part: Part, spec: PrivacySpec, goal: PrivacySpec) -> Iterator[str]:
    """What is missing for a part whose input divergence is not bounded by that of the goal."""
    yield f"{part.id}: no constant c with {spec.input_divergence} <= c {goal.input_divergence} is known"
    inner, outer = spec.input_divergence.counted_unit(), goal.input_divergence.counted_unit()
    if inner is None or outer is None:
        return
    units = spec.space.units
    if inner in units and outer in units and units.index(outer) > units.index(inner):
        return
    if spec.space.most_changed(inner, outer) is None:
        yield f"the space states no largest number of {inner}s that one {outer} holds"
    elif inner not in fixed_units(spec):
        yield f"the number of {inner}s differs inside a universe"
