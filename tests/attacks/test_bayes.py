"""Brute-force Bayes: no limit of an attacker model lies below what somebody who knows all that is published really learns."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from dpspec.base.errors import DpspecError
from tests.attacks import bayes

FEW, MANY = 220, 10_000


def asked(seed, count, tell=lambda *_: None):
    """So many questions that attackers answer, and how many limits are attained, by attacker; told on the way, every 250."""
    lot, below, tight, total, refused = Random(seed), [], Counter(), Counter(), Counter()
    told = 0
    while total.total() < count:
        if total.total() >= told + 250:
            told = total.total()
            tell(below, tight, total, refused)
        world = bayes.world(lot)
        answers = {}
        for question in bayes.questions(world, lot):
            name = question.attacker.name
            if question.attacker not in answers:
                try:
                    answers[question.attacker] = question.attacker.worst_case(world.spec)
                except DpspecError as fault:
                    answers[question.attacker] = fault
            if isinstance(answers[question.attacker], DpspecError):
                refused[name] += 1
                continue
            try:
                said = bayes.limit(question, answers[question.attacker])
                if said is None:
                    continue
                total[name] += 1
                if not bayes.holds(question, said):
                    below.append((world, question, said))
                tight[name] += bayes.attained(question, said)
            except AssertionError as silent:
                below.append((world, question, str(silent)))
    return below, tight, total, refused


@pytest.mark.slow
def test_no_limit_is_below_the_truth():
    below, tight, total, _ = asked("bayes", FEW)
    assert below == []
    assert total.total() >= FEW
    assert tight.total() > total.total() / 4


def together(below, tight, total, refused):
    """The figures in one line; a run that is cut leaves the last of them."""
    counts = f"{total.total():,} questions, {refused.total():,} refused, {tight.total():,} limits attained"
    print(f"together {counts}, {len(below)} limits below the truth", *below[-1:], flush=True)


@pytest.mark.long
def test_no_limit_is_below_the_truth_in_many_questions(capsys):
    with capsys.disabled():
        print()
        found = asked("bayes, many", MANY, together)
        below, tight, total, refused = found
        for name in sorted(total):
            print(f"{name:22} {total[name]:6,} questions, {tight[name]:6,} limits attained, {refused[name]:5,} refused")
        together(*found)
    assert below == []
