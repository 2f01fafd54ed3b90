"""Derivations that were tampered with: the checker accepts none whose changed step is false.

Random derivations come from the questions of the linear program. Each field is changed in turn. Where a changed step is still one
about lines and events, the linear program says whether it is true; what else is accepted is held against random mechanisms.
"""

from __future__ import annotations

import copy
import itertools
import random
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from dpspec_checker.check import RULES, check_derivation
from dpspec_checker.errors import CheckerError

from dpspec.base.errors import DpspecError
from dpspec.base.exact import number
from dpspec.extension import installed
from dpspec.grammar.rule import Step
from dpspec.reason.event_by_event import BLOCKS, lines
from dpspec.reason.search import Derivation, derive
from dpspec.specfile import read_text
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome
from tests.attacks.programs import separating
from tests.attacks.questions import GROUNDS, questions, side, standard
from tests.compare.hunting import random_mechanism, tight

REGISTRY = installed().registry
Data = dict[str, Any]
BUDGETS = ("epsilon", "rho", "delta", "distance", "steps", "divergence", "mu")


def derivations(seed: object, count: int) -> Iterator[Data]:
    """Derivations that the checker accepts."""
    found = 0
    for asked in questions(seed):
        for left, right in ((asked.left, asked.right), (asked.right, asked.left)):
            try:
                derived = derive(left, right)
                data = None if derived is None or not derived.steps else derived.data(REGISTRY)
            except DpspecError:  # a block without a form in a file
                continue
            if data is not None and check_derivation(data).accepted:
                found += 1
                yield data
            if found == count:
                return


def changed_number(text: str, factor: Fraction) -> str | None:
    """A specification text with a budget that is some times as large."""
    head, budget = re.split(r"(?=^\[+budget)", text, maxsplit=1, flags=re.MULTILINE)
    data = tomllib.loads(text)["budget"]
    rows = data.get("universe", [data])
    for key, value in {(key, str(value)) for row in rows for key, value in row.items() if key in BUDGETS}:
        if value not in ("0", "inf"):
            budget = budget.replace(f'{key} = "{value}"', f'{key} = "{number(value) * factor}"')
    return None if head + budget == text else head + budget


def ends_moved(data: Data) -> Iterator[tuple[str, Data]]:
    """The conclusion stronger, or the premise weaker, with every link of the chain in place."""
    for factor in (Fraction(99, 100), Fraction(1, 2)):
        text = changed_number(data["conclusion"], factor)
        if text is not None:
            made = copy.deepcopy(data)
            made["conclusion"] = made["steps"][-1]["after"] = text
            yield "stronger conclusion", made
    for factor in (Fraction(101, 100), Fraction(3)):
        text = changed_number(data["premise"], factor)
        if text is not None:
            made = copy.deepcopy(data)
            made["premise"] = made["steps"][0]["before"] = text
            yield "weaker premise", made


def fields_changed(data: Data) -> Iterator[tuple[str, Data]]:
    """Rule, block, parameters, order, a step left out or doubled, premise and conclusion exchanged."""
    steps = data["steps"]
    for place, step in enumerate(steps):
        for rule in (*RULES, "no-such-rule"):
            if rule != step["rule"]:
                yield "rule", _with(data, place, rule=rule)
        for block in ("space", "multiverse", "input divergence", "output divergence", "budget", ""):
            if block != step["block"]:
                yield "block", _with(data, place, block=block)
        for parameters in ({"constant": "1"}, {"pairs": 0}, {"pairs": 1}, {"steps": 1}, {"conversion": "renyi-to-kl"}):
            if parameters != step["parameters"]:
                yield "parameters", _with(data, place, parameters=parameters)
        for key in ("constant", "pairs"):
            if key in step["parameters"]:
                yield "parameters", _with(data, place, parameters={**step["parameters"], key: _less(step["parameters"][key])})
        yield "left out", {**data, "steps": [*steps[:place], *steps[place + 1 :]]}
        yield "turned", _with(data, place, before=step["after"], after=step["before"])
    if len(steps) > 1:
        yield "order", {**data, "steps": steps[::-1]}
    yield "ends exchanged", {**data, "premise": data["conclusion"], "conclusion": data["premise"]}


def _less(value: Any) -> Any:
    return value - 1 if isinstance(value, int) else str(number(value) * Fraction(99, 100))


def _with(data: Data, place: int, **fields: Any) -> Data:
    made = copy.deepcopy(data)
    made["steps"][place] |= fields
    return made


def accepted(data: Data) -> bool:
    try:
        return check_derivation(data).accepted
    except CheckerError:
        return False


def contradicted(data: Data, source: random.Random) -> bool:
    """Whether some random mechanism keeps a premise and breaks the conclusion of one step: then the step is false."""
    for step in data["steps"]:
        before, after = (read_text(step[key], REGISTRY).spec for key in ("before", "after"))
        for _ in range(20):
            mechanism = random_mechanism(source, before)
            least = tight(before, mechanism)
            kept = least is not None and verify(mechanism, before).outcome is Outcome.VERIFIED
            if kept and verify(mechanism, after).outcome is Outcome.REFUTED:
                return True
    return False


def tampered(seed: object, count: int) -> Counter[str]:
    """What became of each change; raises where the checker accepts what is false."""
    counted, source = Counter[str](), random.Random(f"{seed}")
    for data in derivations(seed, count):
        for what, changed in itertools.chain(fields_changed(data), ends_moved(data)):
            counted[what] += 1
            if not accepted(changed):
                continue
            counted[f"{what}, accepted"] += 1
            assert not contradicted(changed, source), (what, changed)
    return counted


def test_no_false_step_is_accepted() -> None:
    counted = tampered("default", 2)
    assert counted.total() > 100


@pytest.mark.long
def test_no_false_step_is_accepted_in_many() -> None:
    counted = tampered("long", 400)
    print(f"\n{dict(counted)}", flush=True)


@pytest.mark.parametrize("seed", ["ends", pytest.param("long ends", marks=pytest.mark.long)])
def test_moved_ends_are_accepted_only_where_the_linear_program_agrees(seed: str) -> None:
    """A derivation from one specification to itself with less: the program of the premise says how much less is true."""
    tried = 0
    for asked in itertools.islice(questions(seed), 400 if seed != "ends" else 25):
        for left, right in ((asked.premise, asked.conclusion), (asked.conclusion, asked.premise)):
            specs = (asked.left, asked.right) if left is asked.premise else (asked.right, asked.left)
            data = _claimed(*specs)
            if data is not None:
                tried += 1
                assert not accepted(data) or separating(left, right) is None, data
    assert tried


def _claimed(left: Any, right: Any) -> Data | None:
    """A derivation in one step, event by event, whether it is true or not."""
    asked = lines(right, up=False)
    if left.space != right.space or asked is None:
        return None
    block = next(block for block in BLOCKS if getattr(left, block) != getattr(right, block)).replace("_", " ")
    step = Step(
        rule="event-by-event", block=block, before=left, after=right, reason="", citation="", parameters={"pairs": len(asked)}
    )
    try:
        return Derivation(premise=left, steps=(step,)).data(REGISTRY)
    except DpspecError:
        return None


@pytest.mark.parametrize(("seed", "count"), [("default", 40), pytest.param("long", 5000, marks=pytest.mark.long)])
def test_universes_and_budgets_are_accepted_only_where_the_linear_program_agrees(seed: str, count: int) -> None:
    """Other universes, or other budgets, with random numbers: each step that is accepted is true."""
    source, counted = random.Random(f"{seed}"), Counter[tuple[bool, bool]]()
    while counted.total() < count:
        ground, made = source.choice(GROUNDS)(source), standard(source)
        near, here, there = (source.randrange(len(held)) for held in (ground.inputs, ground.universes, ground.universes))
        there = there if source.random() < 0.6 else here
        (left, given), (right, asked) = (side(source, ground, near, place, made) for place in (here, there))
        rule, block = ("listed-universes", "multiverse") if here != there else ("larger-budgets", "budget")
        if left == right or (here == there and not ground.universes[here][0].is_listed):
            continue
        step = Step(rule=rule, block=block, before=left, after=right, reason="", citation="")
        try:
            data = Derivation(premise=left, steps=(step,)).data(REGISTRY)
        except DpspecError:  # a block without a form in a file
            continue
        is_true = separating(given, asked) is None
        counted[is_true, accepted(data)] += 1
        assert is_true or not accepted(data), data
    assert counted[True, True] > count // 5
    assert counted[False, False] > count // 5
