"""Derivations, and the search for them: chains of steps, each true, from one specification to another.

In JSON a derivation holds the specifications as the texts of specification files and is complete in itself:

    {"format": "dpspec-derivation", "version": 1, "premise": TEXT, "conclusion": TEXT,
     "steps": [{"rule", "block", "parameters", "citation", "reason", "before": TEXT, "after": TEXT}, ...]}

The search goes from the premise towards the goal, breadth first, so that the shortest chain is found.

Each step of a rule is checked, and nothing else of a rule is trusted: a rule may propose anything, any number of times, in
circles. So no specification is visited twice, and depth, breadth and the number of specifications are bounded. Where no
chain of rules is found, small spaces are searched pair by pair.

A specification is moved to a block of another one by one true step, or by a chain of conversions, at the least budget.
"""

from __future__ import annotations

import itertools
import json
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import attrs

from dpspec.base.display import Showable
from dpspec.base.errors import (
    TO_ITS_AUTHOR,
    DpspecError,
    Faults,
    IncompatibleBlocksError,
    ParameterError,
    PluginContractError,
    WorkLimitError,
    raised_at,
)
from dpspec.base.exact import INFINITY, Number
from dpspec.base.promises import is_a
from dpspec.base.work import limited
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.extension import Registry, installed
from dpspec.grammar.declarations import check_declared
from dpspec.grammar.rule import Conversion, Rule, Step
from dpspec.grammar.spec import PrivacySpec, key_of_blocks
from dpspec.reason.conversions import ConversionPath, paths
from dpspec.reason.event_by_event import EVENT_BY_EVENT, event_by_event
from dpspec.reason.pair_by_pair import PAIR_BY_PAIR, pair_by_pair
from dpspec.specfile.writer import to_toml

FORMAT = "dpspec-derivation"
VERSION = 1

ARGUMENTS = {
    PAIR_BY_PAIR: """\
The last argument for an implication: on a small space, every pair of datasets that the conclusion compares.

The premise grants t(x, x') = eps d(x, x') inside its universes, and under a metric between laws the shortest sum of such terms
along datasets in between. A conclusion asks d_Pr'(P_x, P_x') <= a(x, x'). It follows from f(t) <= a on every pair, where f is the
identity or the formula of a conversion. It holds where no argument from the form of two blocks is known, and explains less.""",
    EVENT_BY_EVENT: """\
Small spaces where both output divergences are seen on single events: an implication is decided, one way or the other.

Where d_Pr(P, Q) <= t says P(S) <= e^a Q(S) + b for every event S (pure and approximate privacy, hockey sticks, total variation,
trade-off curves), a specification is a list of inequalities p_x <= r p_y + s between the probabilities p_x = P_x(S) of one event,
those of the complement 1 - p_x included. Two outcomes are enough: S and its complement are post-processing, which keeps the
premise, and one event shows that a conclusion is broken. With p_v = q the largest probabilities that the premise allows are

    p_x = min over paths from v to x of the inequalities along the path, applied to q,

because p_y <= r p_y + s: no inequality leads below its start (so that Dijkstra's order finds them), and the laws of these p keep
the premise. So the conclusion p_u <= r' p_v + s' follows exactly when p_u(q) - r' q - s' <= 0 for all q in [0, 1]. In q this is
concave and piecewise linear, and its maximum is found by cutting with the straight pieces at both sides.""",
}
"""The definition of each argument, by its name."""
"""The last arguments, tried where no chain of rules is found: the name of each, and what it does."""


@attrs.frozen(kw_only=True)
class Derivation(Showable):
    """Every mechanism that satisfies the premise satisfies the conclusion, because of the steps in between.

    Args:
        premise: where it starts.
        steps: each starts where the one before ends; without any the conclusion is the premise.
    """

    premise: PrivacySpec
    steps: tuple[Step, ...]

    def __attrs_post_init__(self) -> None:
        ends = [self.premise, *(step.after for step in self.steps)]
        if [step.before for step in self.steps] != ends[:-1]:
            raise ParameterError("steps", "each must start where the one before ends")

    @property
    def conclusion(self) -> PrivacySpec:
        """The specification of the last step."""
        return self.steps[-1].after if self.steps else self.premise

    def then(self, other: Derivation) -> Derivation:
        """This derivation and one that starts at its conclusion, as one."""
        return Derivation(premise=self.premise, steps=(*self.steps, *other.steps))

    def data(self, registry: Registry) -> dict[str, Any]:
        """The derivation as JSON data.

        Raises:
            NotWritableError: a block has no form in a specification file.
        """
        specs = [self.premise, *(step.after for step in self.steps)]
        names = ["premise", *(f"after-step-{place}" for place in range(1, len(self.steps))), "conclusion"]
        texts = [to_toml(spec, registry, id=name) for spec, name in zip(specs, names, strict=False)]  # no step: the premise alone
        steps = [
            {
                "rule": step.rule,
                "block": step.block,
                "parameters": dict(step.parameters),
                "citation": step.citation,
                "reason": step.reason,
                "before": before,
                "after": after,
            }
            for step, (before, after) in zip(self.steps, pairwise(texts), strict=True)
        ]
        return {"format": FORMAT, "version": VERSION, "premise": texts[0], "conclusion": texts[-1], "steps": steps}

    def text(self, registry: Registry) -> str:
        """The derivation as the text of a JSON file."""
        return json.dumps(self.data(registry), indent=1, ensure_ascii=False) + "\n"


# --- the search -----------------------------------------------------------------------------------


DEPTH = 8
"""No derivation is longer than this: one step for each block, and conversions and paths between."""

MOST_SEARCHED = 500_000
"""Units of `dpspec.base.work`, of about one microsecond each; where they are spent, what was reached so far is the answer."""

VISITED = 500
"""The largest number of specifications that are visited."""

PROPOSED = 20
"""At most this many steps of one rule at one specification are."""


def rules_of(registry: Registry) -> tuple[Rule, ...]:
    """The registered rules of inference, those of the core first: what comparisons, yardsticks and ledgers derive with."""
    return tuple(rule() for rule in registry.classes("rules"))


def by_right_names(rules: Sequence[Rule], *specs: PrivacySpec) -> Sequence[Rule]:
    """The rules without the conversions, which know divergences by their names, where one bears the name of another."""
    if all(_bears_its_own_name(spec.output_divergence) for spec in specs):
        return rules
    return [rule for rule in rules if not isinstance(rule, Conversion)]


def _bears_its_own_name(divergence: OutputDivergence) -> bool:
    """Whether it is the class that is registered under its name, or the name is not registered."""
    known = [e for e in installed().registry if e.kind == "output_divergences" and e.name == divergence.name]
    return not known or any(is_a(divergence, entry.cls) for entry in known)


@attrs.frozen(kw_only=True)
class SearchResult:
    """The result of the search.

    Args:
        derivation: from the premise to the goal, or to the nearest specification that was reached.
        arrived: whether that is the goal.
    """

    derivation: Derivation
    arrived: bool


def search(premise: PrivacySpec, goal: PrivacySpec, rules: Sequence[Rule]) -> SearchResult:
    """The shortest chain of steps from the premise to the goal, or to what agrees with the goal in most blocks.

    Raises:
        PluginContractError: a rule raised, or proposed a step that does not start at the given specification; or a block says
            something of itself or of another that an example contradicts.
    """
    for spec in (premise, goal):
        check_declared(spec)
    rules = by_right_names(rules, premise, goal)
    wanted = key_of_blocks(goal)
    reached: dict[object, tuple[Step, ...]] = {key_of_blocks(premise): ()}
    nearest = [premise]
    try:
        with limited(MOST_SEARCHED):
            _spread(reached, nearest, goal, rules)
            if wanted not in reached:
                last = pair_by_pair(premise, goal, rules) or event_by_event(premise, goal)
                reached |= {} if last is None else {wanted: (last,)}
    except WorkLimitError:  # what was reached so far stays reached
        pass
    arrived = wanted in reached
    steps = reached[wanted if arrived else key_of_blocks(nearest[-1])]
    return SearchResult(derivation=Derivation(premise=premise, steps=steps), arrived=arrived)


def _spread(
    reached: dict[object, tuple[Step, ...]], nearest: list[PrivacySpec], goal: PrivacySpec, rules: Sequence[Rule]
) -> None:
    """Add what is reached by rules, breadth first, and the specifications that agree with the goal in more and more blocks."""
    wanted, waiting = key_of_blocks(goal), deque(nearest)
    while waiting and wanted not in reached and len(reached) < VISITED:
        here = waiting.popleft()
        before = reached[key_of_blocks(here)]
        if agreement(here, goal) > agreement(nearest[-1], goal):
            nearest.append(here)
        if len(before) >= DEPTH:
            continue
        for step in _proposed(here, goal, rules):
            after = key_of_blocks(step.after)
            if after not in reached:
                reached[after] = (*before, step)
                waiting.append(step.after)


def _proposed(here: PrivacySpec, goal: PrivacySpec, rules: Sequence[Rule]) -> Iterator[Step]:
    for rule in rules:
        try:
            steps = list(itertools.islice(rule.propose(here, goal), PROPOSED))
        except DpspecError:
            raise
        except Exception as problem:  # a plugin may raise anything
            said = f"raised {type(problem).__name__}: {problem} ({raised_at(problem)})"
            raise PluginContractError(f"rule {rule.name}", said, TO_ITS_AUTHOR) from problem
        for step in steps:
            if step.before != here or step.rule != rule.name:
                raise PluginContractError(f"rule {rule.name}", "proposed a step that starts elsewhere, or in another's name")
            yield step


BLOCKS = ("space", "multiverse", "input_divergence", "output_divergence", "budget")


def agreement(spec: PrivacySpec, goal: PrivacySpec) -> int:
    """In how many blocks two specifications agree; the budget, a number per unit of distance, where both divergences do."""
    same = [block for block in BLOCKS if getattr(spec, block) == getattr(goal, block)]
    return len(same) - ("budget" in same and not {"input_divergence", "output_divergence"} <= set(same))


# --- moving to a block ----------------------------------------------------------------------------


MOVING_BLOCKS = ("space", "multiverse", "input_divergence", "output_divergence")
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
    try:
        aim = spec.replace(**{block: wanted}, budget=goal.budget if block == "output_divergence" else spec.budget)
    except (IncompatibleBlocksError, Faults):  # the block does not fit the others: a unit, an attribute that they do not have
        return None
    rules = by_right_names(rules, spec, aim)
    steps = (
        (step,)
        for rule in rules
        for step in rule.propose(spec, aim)
        if all(getattr(step.after, name) == getattr(aim, name) for name in MOVING_BLOCKS)
    )
    return min([*steps, *_converted(spec, aim, rules)], key=_spent, default=None)


def _spent(steps: tuple[Step, ...]) -> Number:
    value = steps[-1].after.budget.uniform()
    return INFINITY if value is None else value


def _converted(spec: PrivacySpec, aim: PrivacySpec, rules: Sequence[Rule]) -> Iterator[tuple[Step, ...]]:
    """Every chain of two conversions or more to the output divergence that is aimed at, between neighbours.

    None where that is the present one: a chain that returns to it changes nothing, and would pass for a step to another block.
    """
    if spec.output_divergence == aim.output_divergence or not spec.input_divergence.is_neighbour_form:
        return
    if spec.budget.parameter != spec.output_divergence.budget_parameters[0]:
        return
    for path in conversion_paths(spec, aim.output_divergence, rules):
        if path.known:
            continue
        steps: list[Step] = []
        for leg in path.legs if len(path.legs) > 1 else ():
            proposed = leg.conversion.propose(steps[-1].after if steps else spec, aim)
            steps += [step for step in proposed if step.after.output_divergence == leg.target][:1]
        if steps and len(steps) == len(path.legs):
            yield tuple(steps)


def conversion_paths(spec: PrivacySpec, target: OutputDivergence, rules: Sequence[Rule]) -> tuple[ConversionPath, ...]:
    """Every chain of conversions from the budget of a specification to another output divergence, as `dpspec convert` finds
    them: the least number first, after it those that need to know the mechanism. None where the budget differs by universe.
    """
    source, value = spec.output_divergence, spec.budget.uniform()
    if value is None or value.is_infinite:
        return ()
    first = source.budget_for(source.budget_parameters[0], source.lipschitz(spec.budget.parameter, value))
    conversions = [rule for rule in rules if isinstance(rule, Conversion)]
    return paths(conversions, source, first, target)


def derive(premise: PrivacySpec, conclusion: PrivacySpec, registry: Registry | None = None) -> Derivation | None:
    """The shortest derivation of one specification from another by the registered rules; None when none is found."""
    found = search(premise, conclusion, rules_of(installed().registry if registry is None else registry))
    return found.derivation if found.arrived else None
