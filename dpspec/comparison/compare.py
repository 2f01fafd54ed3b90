"""Comparing two specifications: in each direction derived, separated or unknown (Bailie, Gong, Meng and Drechsler 2024).

A derivation shows that one specification implies the other. Where none is found, each block in which the nearest specification
still differs from the goal is named (`dpspec.comparison.gaps`), and a mechanism is sought that satisfies the one and not the
other (`dpspec.comparison.separations`).
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import attrs

from dpspec.base.display import Showable
from dpspec.base.errors import (
    Faults,
    IncompatibleBlocksError,
)
from dpspec.base.exact import INFINITY, ZERO, Number, number
from dpspec.blocks.budget import Budget, settled, stands_for
from dpspec.comparison.gaps import gaps
from dpspec.comparison.one_schema import describe_different_data
from dpspec.comparison.separations import Argument, MechanismJudge, Separation, SeparationSearch, check_foreign, search_separation
from dpspec.grammar.declarations import check_declared
from dpspec.grammar.rule import Conversion, Rule, Step
from dpspec.grammar.spec import PrivacySpec, allowed_to_all
from dpspec.reason.rules import promise_for
from dpspec.reason.search import MOVING_BLOCKS, Derivation, moved, search
from dpspec.specfile.document import Coverage, SpecDocument
from dpspec.verifier.standing import Standing


class Answer(enum.Enum):
    """Whether one specification implies another."""

    IMPLIES = "implies"
    SEPARATED = "does not imply"
    UNKNOWN = "unknown"

    def __bool__(self) -> NoReturn:
        raise TypeError(f"an answer is not a truth value: compare it, as in `answer is Answer.{self.name}`")


class Implication(enum.Enum):
    """The relation of two specifications."""

    EQUIVALENT = "equivalent"
    IMPLIES = "implies"
    IMPLIED_BY = "implied by"
    INCOMPARABLE = "incomparable"
    DIFFERENT_DATA = "different data"
    UNKNOWN = "unknown"

    def __bool__(self) -> NoReturn:
        raise TypeError(f"a relation is not a truth value: compare it, as in `relation is Implication.{self.name}`")


@attrs.frozen(kw_only=True)
class Direction:
    """The question S => S': does every mechanism that satisfies S satisfy S'?

    Args:
        answer: derived, separated or unknown.
        steps: the steps of the derivation; without one, those to the nearest specification, and what is missing then.
        derivation: when derived, the whole chain as data.
        separation: when separated, the mechanism that shows it.
        tried: when unknown, what was tried in search of one.
    """

    answer: Answer
    steps: tuple[Argument, ...]
    derivation: Derivation | None = None
    separation: Separation | None = None
    tried: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Comparison(Showable):
    """Both directions between two specifications, and the notes that keep a reader from comparing budgets only.

    Args:
        left, right: the two specifications.
        forward, backward: whether the left one implies the right one, and the right one the left one.
        notes: what keeps a reader from comparing budgets only.
        restated: what was added to the schema of each, where the two were restated on one; empty for specifications as they are.
        about: the two files and the status of their claims, for display; empty where it was not checked.
    """

    left: PrivacySpec
    right: PrivacySpec
    forward: Direction
    backward: Direction
    notes: tuple[str, ...]
    restated: tuple[str, ...] = ()
    about: tuple[tuple[SpecDocument, Standing], ...] = attrs.field(default=(), eq=False, repr=False)

    def __bool__(self) -> NoReturn:
        raise TypeError("a comparison is not a truth value: use comparison.relation")

    @property
    def relation(self) -> Implication:
        """The two answers in one word."""
        forward, backward = self.forward.answer, self.backward.answer
        if Answer.IMPLIES in (forward, backward):
            if forward is backward:
                return Implication.EQUIVALENT
            return Implication.IMPLIES if forward is Answer.IMPLIES else Implication.IMPLIED_BY
        if describe_different_data(self.left.space, self.right.space):
            return Implication.DIFFERENT_DATA
        return Implication.UNKNOWN if Answer.UNKNOWN in (forward, backward) else Implication.INCOMPARABLE


Compare = Callable[[Any, Any], Comparison]
"""Compares two things that make promises: specifications, or files of several."""


def compare(left: PrivacySpec, right: PrivacySpec, *, rules: Sequence[Rule], judge: MechanismJudge) -> Comparison:
    """Decide, in each direction, whether every mechanism that satisfies the one specification satisfies the other.

    Args:
        left, right: the two specifications.
        rules: the rules that derivations may use.
        judge: the exact engine, which checks each separating mechanism on its two datasets.
    """
    return Comparison(
        left=left,
        right=right,
        forward=direction_of(left, right, rules, judge),
        backward=direction_of(right, left, rules, judge),
        notes=perverse_notes(left, right),
    )


def direction_of(premise: PrivacySpec, conclusion: PrivacySpec, rules: Sequence[Rule], judge: MechanismJudge) -> Direction:
    for spec in (premise, conclusion):
        check_declared(spec)
    if premise.budget.unpublished() is not None or conclusion.budget.unpublished() is not None:
        return _without_numbers(premise, conclusion, rules, judge)
    premise, conclusion = (spec.replace(budget=settled(spec.budget)) for spec in (premise, conclusion))
    found = search(premise, conclusion, rules)
    steps = tuple(_finding(step) for step in found.derivation.steps)
    if found.arrived:
        same = Argument(block="all five", holds=True, reason="the same specification")
        check_foreign(found.derivation, rules, judge)
        return Direction(answer=Answer.IMPLIES, steps=steps or (same,), derivation=found.derivation)
    required = allowed_to_all(conclusion) if premise.space == conclusion.space else None
    if required is not None:
        return Direction(answer=Answer.IMPLIES, steps=(Argument(block="budget", holds=True, reason=_of_all(required)),))
    steps += tuple(gaps(found.derivation.conclusion, conclusion, rules))
    searched = search_separation(premise, conclusion, judge)
    answer = Answer.UNKNOWN if searched.separation is None else Answer.SEPARATED
    return Direction(answer=answer, steps=steps, separation=searched.separation, tried=searched.tried)


def _of_all(why: str) -> str:
    return f"every mechanism satisfies it: {why}"


Promised = tuple[Coverage, PrivacySpec]
"""A promise of a product, and what it covers."""

Implies = Callable[[PrivacySpec, PrivacySpec], Answer]
"""Whether the first specification implies the second."""


def compare_products(left: Sequence[Promised], right: Sequence[Promised], compare: Compare) -> Comparison:
    """The same for products, each of which makes all of several promises, the first one standing for it.

    A product implies another when each promise of that one follows from one of its own that covers as much. What separates
    single promises separates products of several only where the one that is kept implies the others: else the mechanism may
    break them. Nor does it separate promises to a share of the units: the units on which it breaks the one may be among the
    others.
    """

    known: dict[tuple[PrivacySpec, PrivacySpec], Comparison] = {}  # of two promises of one side, which are asked for repeatedly

    def implies(premise: PrivacySpec, conclusion: PrivacySpec) -> Answer:
        if (conclusion, premise) in known:
            return known[conclusion, premise].backward.answer
        if (premise, conclusion) not in known:
            known[premise, conclusion] = compare(premise, conclusion)
        return known[premise, conclusion].forward.answer

    table = {
        (i, j): compare(one[1], other[1])
        for (i, one), (j, other) in itertools.product(enumerate(left), enumerate(right))
        if one[0].includes(other[0]) or other[0].includes(one[0])
    }
    if len(left) == len(right) == 1:
        return table[0, 0]
    forward = [
        {i: table[i, j].forward for i, (covered, _) in enumerate(left) if covered.includes(goal)}
        for j, (goal, _) in enumerate(right)
    ]
    backward = [
        {j: table[i, j].backward for j, (covered, _) in enumerate(right) if covered.includes(goal)}
        for i, (goal, _) in enumerate(left)
    ]
    return attrs.evolve(
        table[0, 0],
        forward=_of_product(left, right, forward, ("A", "B"), implies),
        backward=_of_product(right, left, backward, ("B", "A"), implies),
    )


def _of_product(
    premise: Sequence[Promised],
    conclusion: Sequence[Promised],
    directions: Sequence[Mapping[int, Direction]],
    names: tuple[str, str],
    implies: Implies,
) -> Direction:
    """Whether one product implies another: for each promise of the second, the directions from those of the first, by number.

    Only the promises that cover as much count; where there are none, nothing is known.
    """
    steps, answers, separations = [], [], []
    for place, ((goal, spec), found) in enumerate(zip(conclusion, directions, strict=True)):
        required = None if found else allowed_to_all(spec)
        by = next((i for i, one in found.items() if one.answer is Answer.IMPLIES), None)
        by_number = {i: one.answer for i, one in found.items()}
        answer = answer_of_one(premise, goal, by_number, implies) if required is None else Answer.IMPLIES
        answers.append(answer)
        if by is not None:
            how = f"follows from promise {by + 1} of {names[0]}"
        elif required is not None:
            how = _of_all(required)
        elif found:
            how = f"follows from no single promise of {names[0]}"
        else:
            how = f"is about {goal}, and no promise of {names[0]} covers that"
        holds = {Answer.IMPLIES: True, Answer.SEPARATED: False, Answer.UNKNOWN: None}[answer]
        steps.append(Argument(block=f"promise {place + 1} of {names[1]}", holds=holds, reason=how))
        if answer is Answer.SEPARATED:
            kept = separating_promise(premise, goal, by_number, implies)
            separations += [one.separation for i, one in found.items() if i == kept and one.separation is not None]
    answer = answer_about_all(answers)
    separation = next(iter(separations), None)
    return Direction(answer=answer, steps=tuple(steps), separation=separation if answer is Answer.SEPARATED else None)


def answer_of_one(premise: Sequence[Promised], goal: Coverage, found: Mapping[int, Answer], implies: Implies) -> Answer:
    """Whether a promise that covers `goal` follows from a product, given the answers of its promises that cover as much."""
    if Answer.IMPLIES in found.values():
        return Answer.IMPLIES
    if goal.share is not None or separating_promise(premise, goal, found, implies) is None:
        return Answer.UNKNOWN
    return Answer.SEPARATED


def separating_promise(
    premise: Sequence[Promised], goal: Coverage, found: Mapping[int, Answer], implies: Implies
) -> int | None:
    """The number of a promise that is separated from the goal and implies all others of the product that may constrain the same
    mechanism: whatever keeps that one keeps the product. None where there is none."""
    binding = [j for j, (covered, _) in enumerate(premise) if covered.may_constrain(goal)]
    separated = [i for i, answer in found.items() if answer is Answer.SEPARATED]
    return next(
        (i for i in separated if all(j == i or implies(premise[i][1], premise[j][1]) is Answer.IMPLIES for j in binding)), None
    )


def answer_about_all(answers: Sequence[Answer]) -> Answer:
    """The answer about a product, from those about each of its promises."""
    if Answer.SEPARATED in answers:
        return Answer.SEPARATED
    return Answer.UNKNOWN if Answer.UNKNOWN in answers else Answer.IMPLIES


def _without_numbers(premise: PrivacySpec, conclusion: PrivacySpec, rules: Sequence[Rule], judge: MechanismJudge) -> Direction:
    """The same where no number of a budget is published: what holds whatever the numbers are, and else the other four blocks.

    Larger budgets ask less, so the premise implies whatever it implies at its largest number, and does not imply what it does not
    at its least one; for the conclusion it is the other way round.
    """
    least = premise.replace(budget=budget_at(premise.budget, premise.budget.least(), ZERO))
    largest = premise.replace(budget=budget_at(premise.budget, premise.budget.uniform(), INFINITY))
    hardest = conclusion.replace(budget=budget_at(conclusion.budget, conclusion.budget.least(), ZERO))
    found = search(largest, hardest, rules)
    if found.arrived:
        check_foreign(found.derivation, rules, judge)
        whatever = Argument(block="budget", holds=True, reason="whatever the numbers are that were not published")
        steps = tuple(_finding(step) for step in found.derivation.steps)
        return Direction(answer=Answer.IMPLIES, steps=(*steps, whatever), derivation=found.derivation)
    searched = SeparationSearch(separation=None)
    if conclusion.budget.unpublished() is None:
        searched = search_separation(least, hardest, judge)
    answer = Answer.UNKNOWN if searched.separation is None else Answer.SEPARATED
    steps = tuple(_other_blocks(premise, conclusion, rules))
    return Direction(answer=answer, steps=steps, separation=searched.separation, tried=searched.tried)


def budget_at(budget: Budget, value: Number | None, otherwise: Number) -> Budget:
    """The budget at a number; one that differs by universe stays what it is."""
    if budget.unpublished() is None:
        return settled(budget)
    return stands_for(budget, otherwise if value is None else value)


def _other_blocks(premise: PrivacySpec, conclusion: PrivacySpec, rules: Sequence[Rule]) -> Iterator[Argument]:
    """Whether the premise can be brought to the conclusion in the four blocks that are no number, one by one."""
    here, goal = (spec.replace(budget=budget_at(spec.budget, None, number(1))) for spec in (premise, conclusion))
    for block in MOVING_BLOCKS:
        if getattr(here, block) == getattr(goal, block):
            yield Argument(block=block.replace("_", " "), holds=True, reason="the same")
            continue
        steps = moved(here, block, goal, rules)
        if steps is None:
            missing = [gap for gap in gaps(here, goal, rules) if gap.block == block.replace("_", " ")]
            yield from missing or [Argument(block=block.replace("_", " "), holds=None, reason="no step to it is known")]
            if block == "space":
                break
            if block != "output_divergence":
                try:
                    here = here.replace(**{block: getattr(goal, block)})
                except (IncompatibleBlocksError, Faults):  # it belongs to a space that cannot be reached from here
                    break
            continue
        for step in steps:
            at_number = isinstance(next((rule for rule in rules if rule.name == step.rule), None), Conversion)
            reason = "a conversion is known; what it gives depends on the number" if at_number else step.reason
            yield attrs.evolve(_finding(step), reason=reason)
        here = steps[-1].after if steps else here
    missing_in = [
        f"{name}: {spec.budget.unpublished()}"
        for name, spec in (("premise", premise), ("conclusion", conclusion))
        if spec.budget.unpublished() is not None
    ]
    yield Argument(block="budget", holds=None, reason="; ".join(missing_in))


def _finding(step: Step) -> Argument:
    factor = str(step.parameters.get("constant", "1"))
    return Argument(block=step.block, holds=True, reason=step.reason, factor=factor, rule=step.rule)


def perverse_notes(left: PrivacySpec, right: PrivacySpec) -> tuple[str, ...]:
    """Notes on a misleading comparison of two budgets: every other block in which the specifications differ."""
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
            f"one change on the left: {left.input_divergence.in_words()}; on the right: {right.input_divergence.in_words()}"
        )
    notes += [f"unit: {note}" for pair in ((left, right), (right, left)) for note in _unit_notes(*pair)]
    if left.output_divergence != right.output_divergence:
        notes.append(
            "output divergence: a more lenient standard shrinks the number; "
            f"on the left: {left.output_divergence.in_words()}; on the right: {right.output_divergence.in_words()}"
        )
    if notes:
        notes.append("two budgets are comparable only when the other four blocks agree")
    return tuple(notes)


def _unit_notes(one: PrivacySpec, other: PrivacySpec) -> Iterator[str]:
    """The implied promise of the one for the unit of the other, where the two units are the same over different times."""
    unit = other.input_divergence.counted_unit()
    if unit is None or unit == one.input_divergence.counted_unit():
        return
    found = promise_for(one, unit)
    if found.most is not None:
        value = None if found.budget is None else found.budget.uniform()
        budget = "no number" if value is None else f"{one.budget.parameter} = {value.plain()}"
        yield f"from a promise per {one.input_divergence.counted_unit()} follows {budget} for one {unit} ({found.reason})"


def _count(spec: PrivacySpec) -> str:
    held = spec.multiverse.induced_by()
    return str(spec.multiverse) if held is None else f"{len(held)} invariants"
