"""Moving a specification to a block of another one, by one true step or a chain of conversions, at the least budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpspec.compare.conversions import paths
from dpspec.conversion import Conversion
from dpspec.exact import INFINITY, Number
from dpspec.rule import Rule, Step
from dpspec.spec import PrivacySpec

BLOCKS = ("space", "multiverse", "input_divergence", "output_divergence")
"""The blocks that change one by one, in this order; the budget changes with each of them."""


def moved(spec: PrivacySpec, block: str, goal: PrivacySpec, rules: Sequence[Rule]) -> tuple[Step, ...] | None:
    """The steps that give a specification one block of the goal, at the least budget: () when it has it, None when no rule does.

    That is one step, or a chain of conversions, as `dpspec convert` finds them: of all that arrive, those that spend least.

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
    steps = ((step,) for rule in rules for step in rule.propose(spec, aim) if _reaches(step, aim))
    return min([*steps, *_converted(spec, aim, rules)], key=_spent, default=None)


def _reaches(step: Step, aim: PrivacySpec) -> bool:
    return all(getattr(step.after, block) == getattr(aim, block) for block in BLOCKS)


def _spent(steps: tuple[Step, ...]) -> Number:
    value = steps[-1].after.budget.uniform()
    return INFINITY if value is None else value


def _converted(spec: PrivacySpec, aim: PrivacySpec, rules: Sequence[Rule]) -> Iterator[tuple[Step, ...]]:
    """Every chain of two conversions or more to the output divergence that is aimed at, between neighbours."""
    source, value = spec.output_divergence, spec.budget.uniform()
    if value is None or spec.budget.parameter != source.budget_parameters[0] or not spec.input_divergence.is_neighbour_form:
        return
    usable = [rule for rule in rules if isinstance(rule, Conversion) and rule.mechanism is None]
    for path in paths(usable, source, value, aim.output_divergence):
        steps: list[Step] = []
        for leg in path.legs if len(path.legs) > 1 else ():
            proposed = leg.conversion.propose(steps[-1].after if steps else spec, aim)
            steps += [step for step in proposed if step.after.output_divergence == leg.target][:1]
        if steps and len(steps) == len(path.legs):
            yield tuple(steps)
