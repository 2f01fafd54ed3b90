"""The zoo: no trick is verified, no right function is refuted, and nearly all right ones are verified."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import pytest
from dpspec_code.trial import FunctionActsError, FunctionReturnsError

from dpspec.verifier.entry import verify_claim
from dpspec.verifier.verdict import Outcome, Verdict
from tests.attacks import rare
from tests.attacks.right import RIGHT, Right
from tests.attacks.tricks import TRICKS, Trick
from tests.verify.toys import bits_spec

DRAWS = 600
"""Of the sampling engine: a few are enough to see that it does not verify."""
EVERY = 25
"""The default run takes one trick of so many, and one right function of ten."""


def judged(case: Trick | Right) -> Verdict:
    """The verdict on the claim that comes with a function."""
    function: Any = case.make() if isinstance(case, Trick) else case.function
    epsilon = case.epsilon if isinstance(case, Trick) else case.constant
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # as at a terminal: where a warning is an error, code that warns can only fail
        return verify_claim(function, bits_spec(length=case.length, epsilon=epsilon), draws=DRAWS)


def came_of(case: Trick | Right) -> str:
    """The outcome, or that the function is refused for what it does or returns."""
    try:
        return judged(case).outcome.value
    except (FunctionActsError, FunctionReturnsError):
        return "refused"


def some(cases: list[Any], every: int) -> list[Any]:
    """All cases; those beyond one of `every` run in the long profile only."""
    marks = [() if place % every == 0 else (pytest.mark.long,) for place in range(len(cases))]
    return [pytest.param(case, id=case.name, marks=mark) for case, mark in zip(cases, marks, strict=True)]


def test_the_zoo_is_as_large_as_it_should_be() -> None:
    assert len(TRICKS) >= 100
    assert rare.__name__.endswith("rare")  # its tricks are entered by its import
    assert len(RIGHT) >= 40
    assert len({trick.name for trick in TRICKS}) == len(TRICKS)
    assert len({case.name for case in RIGHT}) == len(RIGHT)


@pytest.mark.spread(7, slow=4)
@pytest.mark.parametrize("trick", some(TRICKS, EVERY))
def test_no_trick_is_verified(trick: Trick) -> None:
    assert came_of(trick) != Outcome.VERIFIED.value


@pytest.mark.parametrize("case", some(RIGHT, 10))
def test_a_right_function_is_verified_with_its_true_constant(case: Right) -> None:
    verdict = judged(case)
    assert verdict.outcome is Outcome.VERIFIED
    assert verdict.universes[0].is_tight


if __name__ == "__main__":  # PYTHONPATH=. python plugins/dpspec-code/tests/attacks/test_zoo.py: what came of all of them
    for title, cases in (("tricks", TRICKS), ("right functions", RIGHT)):
        counted = Counter(map(came_of, cases))
        print(len(cases), title, dict(counted))
