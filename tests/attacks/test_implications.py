"""Comparison against an exact linear program: no false implication, no false separation, few open answers.

The default suite takes eighty directions. The whole run, which prints its figures:

    pytest tests/attacks/test_implications.py --profile long -s -k thousand
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from dpspec_checker.check import check_derivation

from dpspec.api import compare
from dpspec.base.errors import DpspecError
from dpspec.comparison.compare import Answer, Direction
from dpspec.extension import installed
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.law import FiniteLaw
from tests.attacks.programs import satisfied, separating
from tests.attacks.questions import Plain, questions
from tests.attacks.simplex import largest

REGISTRY = installed().registry


def directions(seed: object, count: int) -> Iterator[tuple[PrivacySpec, PrivacySpec, Plain, Plain, Direction]]:
    """(A, B, both in plain terms, what is said about A => B)."""
    for asked in itertools.islice(questions(seed), count // 2):
        found = compare(asked.left, asked.right)
        yield asked.left, asked.right, asked.premise, asked.conclusion, found.forward
        yield asked.right, asked.left, asked.conclusion, asked.premise, found.backward


def judged(seed: object, count: int) -> Counter[str]:
    """What was said, each answer held against the truth."""
    counted = Counter[str]()
    for premise, conclusion, given, asked, said in directions(seed, count):
        event = separating(given, asked)
        if event is not None:  # the oracle's own answer is held against the definition
            assert satisfied(given, event[1])
            assert not satisfied(asked, event[1])
        truth = Answer.IMPLIES if event is None else Answer.SEPARATED
        counted[said.answer.value] += 1
        assert said.answer in (Answer.UNKNOWN, truth), (premise, conclusion, event)
        if said.answer is Answer.IMPLIES:
            counted[checker(said)] += 1
        elif said.answer is Answer.SEPARATED:
            counted["separations confirmed"] += confirmed(said, premise, given, asked)
    return counted


def checker(said: Direction) -> str:
    """What the independent checker says; some blocks have no form in a file, and some spaces are not listed there."""
    assert said.derivation is not None
    try:
        data = said.derivation.data(REGISTRY)
    except DpspecError:
        return "derivations that cannot be written"
    found = check_derivation(data)
    for step in found.steps:  # both decide what follows on events, by other ways
        by_events = step.rule == "event-by-event" and not re.search("not listed here|not computed here", step.reason)
        assert step.status == "accepted" or not by_events, step
    return "derivations accepted by the checker" if found.accepted else "derivations beyond the checker"


def confirmed(said: Direction, premise: PrivacySpec, given: Plain, asked: Plain) -> bool:
    """Whether the mechanism keeps every line of A on all datasets and breaks one of B, where its laws are lists of outcomes."""
    assert said.separation is not None
    laws = {x: said.separation.run.law(x, premise.space) for x in given.datasets}
    if not all(isinstance(law, FiniteLaw) for law in laws.values()):
        return False
    assert not list(breaches(laws, given))
    assert list(breaches(laws, asked))
    return True


def breaches(laws: dict[Any, Any], plain: Plain) -> Iterator[Any]:
    """The lines that some event breaks: the worst one for (r, s) holds the outcomes with P(o) > r Q(o)."""
    outcomes = {o for law in laws.values() for o in law.support}
    for (x, y), lines in plain.lines.items():
        for ratio, slack in lines:
            excess = (Fraction(laws[x].probability(o)) - ratio * Fraction(laws[y].probability(o)) for o in outcomes)
            if sum(max(e, Fraction(0)) for e in excess) > slack:
                yield x, y


@pytest.mark.slow
def test_eighty_directions() -> None:
    counted = judged("default", 80)
    assert counted[Answer.UNKNOWN.value] <= 4
    assert counted[Answer.IMPLIES.value] > 20
    assert counted[Answer.SEPARATED.value] > 20


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_directions(part: int) -> None:
    counted = judged(f"long {part}", 1000)
    print(f"\nthousand {part}: {dict(counted)}, none false", flush=True)
    assert counted[Answer.UNKNOWN.value] <= 50


def test_the_linear_program_by_hand() -> None:
    """p <= 2 q, 1 - q <= 2 (1 - p): the largest p - q is 1/3."""
    value, found = largest([1, -1], [([1, -2], 0), ([2, -1], 1), ([1, 0], 1), ([0, 1], 1)])
    assert (value, found) == (Fraction(1, 3), [Fraction(2, 3), Fraction(1, 3)])
