"""What several releases of one data collection spend together: the rule by which the budgets of an output divergence add up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import attrs

from dpspec.errors import NumericalError
from dpspec.exact import ZERO, Bracket, Number, ball, number

if TYPE_CHECKING:
    from dpspec.blocks.output_divergence import OutputDivergence

Spent = Sequence["tuple[OutputDivergence, Number]"]
"""For each release its output divergence and its budget, in the first of the divergence's `budget_parameters`."""


@attrs.frozen(kw_only=True)
class Composed:
    """The joint release of several parts, each with its own noise; a later part may depend on the outputs of the earlier ones.

    Args:
        divergence: the output divergence of the joint release.
        value: its budget, in the first of the divergence's `budget_parameters`.
        rule: what adds up, in words.
        citation: where that is proved.
    """

    divergence: OutputDivergence
    value: Number
    rule: str
    citation: str


def total(values: Iterable[Number]) -> Number:
    """The sum of nonnegative numbers, exact where it has an exact form, else rounded up to 17 digits.

    >>> str(total([number("0.07"), number("2.56")]))
    '263/100'
    >>> str(total([number("sqrt(2)"), number("ln(2)")]))
    '2634200928666301/1250000000000000'
    """
    listed = list(values)
    try:
        return sum(listed, ZERO)
    except NumericalError:
        enclosure = sum((value.enclose(128) for value in listed), ball(0))
        return number(Bracket.around(enclosure, least=0).ends()[1])


def added(divergence: OutputDivergence, parts: Spent, rule: str, citation: str) -> Composed | None:
    """The composition of parts that are all measured by one divergence, whose budgets add up; None when one is not."""
    if any(measured != divergence for measured, _ in parts):
        return None
    return Composed(divergence=divergence, value=total(value for _, value in parts), rule=rule, citation=citation)
