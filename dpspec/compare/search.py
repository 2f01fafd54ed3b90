"""The search for a derivation: from the premise towards the goal, breadth first, so that the shortest chain is found.

Rules are believed about each of their steps, and about nothing else: a rule may propose anything, any number of times, in
circles. So no specification is looked at twice, and depth, breadth and the number of specifications are bounded. Where no
chain arrives, small spaces are looked at pair by pair.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Sequence

import attrs

from dpspec.compare.derivation import Derivation
from dpspec.compare.events import event_by_event
from dpspec.compare.pairwise import pair_by_pair
from dpspec.errors import DpspecError, PluginContractError
from dpspec.extension import Registry
from dpspec.rule import Rule, Step
from dpspec.spec import PrivacySpec

DEPTH = 8
"""No derivation is longer than this: one step for each block, and conversions and paths between."""

VISITED = 500
"""At most this many specifications are looked at."""

PROPOSED = 20
"""At most this many steps of one rule at one specification are."""


def rules_of(registry: Registry) -> tuple[Rule, ...]:
    """The registered rules of inference, those of the core first: what comparisons, yardsticks and ledgers derive with."""
    return tuple(entry.cls() for entry in registry if entry.kind == "rules")


@attrs.frozen(kw_only=True)
class Found:
    """Where the search ended.

    Args:
        derivation: from the premise to the goal, or to the nearest specification that was reached.
        arrived: whether that is the goal.
    """

    derivation: Derivation
    arrived: bool


def search(premise: PrivacySpec, goal: PrivacySpec, rules: Sequence[Rule]) -> Found:
    """The shortest chain of steps from the premise to the goal, or to what agrees with the goal in most blocks.

    Raises:
        PluginContractError: a rule raised, or proposed a step that does not start where it was asked to.
    """
    reached: dict[PrivacySpec, tuple[Step, ...]] = {premise: ()}
    waiting = deque([premise])
    nearest = premise
    while waiting and goal not in reached and len(reached) < VISITED:
        here = waiting.popleft()
        if agreement(here, goal) > agreement(nearest, goal):
            nearest = here
        if len(reached[here]) >= DEPTH:
            continue
        for step in _proposed(here, goal, rules):
            if step.after not in reached:
                reached[step.after] = (*reached[here], step)
                waiting.append(step.after)
    if goal not in reached:
        last = pair_by_pair(premise, goal, rules) or event_by_event(premise, goal)
        reached |= {} if last is None else {goal: (last,)}
    arrived = goal in reached
    steps = reached[goal if arrived else nearest]
    return Found(derivation=Derivation(premise=premise, steps=steps), arrived=arrived)


def _proposed(here: PrivacySpec, goal: PrivacySpec, rules: Sequence[Rule]) -> Iterator[Step]:
    for rule in rules:
        try:
            steps = list(itertools.islice(rule.propose(here, goal), PROPOSED))
        except DpspecError:
            raise
        except Exception as problem:  # a plugin may raise anything
            raise PluginContractError(f"rule {rule.name}", f"raised {type(problem).__name__}: {problem}") from problem
        for step in steps:
            if step.before != here or step.rule != rule.name:
                raise PluginContractError(f"rule {rule.name}", "proposed a step that starts elsewhere, or in another's name")
            yield step


BLOCKS = ("space", "multiverse", "input_divergence", "output_divergence", "budget")


def agreement(spec: PrivacySpec, goal: PrivacySpec) -> int:
    """In how many blocks two specifications agree; the budget counts where the output divergence does."""
    same = [block for block in BLOCKS if getattr(spec, block) == getattr(goal, block)]
    return len(same) - ("budget" in same and "output_divergence" not in same)
