"""Statements of risk: what is vacuous, what is certain, and budgets that are rounded to the safe side."""

from __future__ import annotations

from typing import Any

import pytest

from dpspec.base.exact import INFINITY, ZERO, Bracket, number
from dpspec.grammar.attacker import Recommendation, RiskStatement, Sense

UNKNOWN = Bracket(lower=ZERO, upper=number(1))


def statement(relation: Sense, value: Any, trivial: Any = 1) -> RiskStatement:
    bracket = value if isinstance(value, Bracket) else Bracket.exactly(value)
    return RiskStatement(
        quantity="power", at=(), relation=relation, value=bracket, theorem="none", assumption="none",
        trivial=None if trivial is None else number(trivial),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("relation", "value", "trivial", "vacuous"),
    [
        (Sense.AT_MOST, 1, 1, True), (Sense.AT_MOST, 2, 1, True), (Sense.AT_MOST, "9/10", 1, False),
        (Sense.AT_MOST, UNKNOWN, 1, False), (Sense.AT_MOST, INFINITY, None, True), (Sense.AT_MOST, 5, None, False),
        (Sense.AT_LEAST, 0, 0, True), (Sense.AT_LEAST, "1/10", 0, False), (Sense.AT_LEAST, 0, 1, False),
        (Sense.AT_LEAST, UNKNOWN, 0, False), (Sense.EQUALS, 1, 1, False), (Sense.EQUALS, 0, 0, False),
    ],
)  # fmt: skip
def test_a_limit_that_every_release_keeps(relation: Sense, value: Any, trivial: Any, vacuous: bool) -> None:
    assert statement(relation, value, trivial).is_vacuous is vacuous


@pytest.mark.parametrize(
    ("relation", "value", "trivial", "certain"),
    [
        (Sense.EQUALS, 1, 1, True), (Sense.EQUALS, "99/100", 1, False), (Sense.AT_MOST, 1, 1, False),
        (Sense.AT_LEAST, 1, 1, False), (Sense.EQUALS, 1, None, False), (Sense.EQUALS, UNKNOWN, 1, False),
    ],
)  # fmt: skip
def test_certainty(relation: Sense, value: Any, trivial: Any, certain: bool) -> None:
    assert statement(relation, value, trivial).is_certainty is certain


@pytest.mark.parametrize("value", ["2/3", "ln(2)", "sqrt(2)", "1/2"])
def test_a_recommended_budget_is_rounded_down(value: str) -> None:
    found = Recommendation(
        parameter="epsilon", value=Bracket.exactly(value), at=(), binding="", method="", theorem="", assumption=""
    )  # fmt: skip
    stated = number(found.stated)
    assert stated <= number(value) < stated + number("1/100")
    assert (stated == number(value)) is (value == "1/2")
