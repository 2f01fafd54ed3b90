"""The least budget that something needs, as text and as data."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpspec.base.errors import count
from dpspec.base.exact import Number, number
from dpspec.report.json import bracket, verdict
from dpspec.report.terminal import bracket_in_words, pair_in_words, stand_ins_in_words
from dpspec.report.text import witness_lines

if TYPE_CHECKING:
    from dpspec.verifier.measure import Measurement

_WIDTH = 110
_FEW = 2
_SHORT = 12
_MILLION = 1_000_000


def measured_data(found: Measurement, stand_ins: Sequence[str] = ()) -> dict[str, Any]:
    """The answer as data.

    Args:
        stand_ins: the blocks of the file that stand in for others.
    """
    return {
        "parameter": found.parameter,
        "budget": bracket(found.budget),
        "constant": bracket(found.constant),
        "by_draws": found.by_draws,
        "vacuous": found.is_vacuous,
        "stand_ins": list(stand_ins),
        "proved": None if found.proved is None else verdict(found.proved),
        "refuted": None if found.refuted is None else verdict(found.refuted),
        "tried": [{"budget": str(value), "outcome": outcome.value} for value, outcome in found.tried],
        "not_proved": _not_understood(found) or None,
    }


def measured_text(found: Measurement, stand_ins: Sequence[str] = ()) -> str:
    """The bracket first, then why not more and why not less."""
    lines = [_answer(found)]
    if stand_ins:
        lines += [f"  about:      {stand_ins_in_words(stand_ins)}"]
    if found.proved is not None:
        lines += [f"  enough:     proved, {found.proved.method}: {found.proved.scope}"]
        assumptions = found.proved.assumptions
        if len(assumptions) > _FEW:
            lines.append(f"              under {len(assumptions)} assumptions, which --format json lists")
        else:
            lines += [f"              assumes {one}" for one in assumptions]
        empty = len(found.proved.vacuous)
        lines += (
            [f"              {count(empty, 'universe')} without a pair at finite distance, where nothing is required"]
            if empty
            else []
        )
    else:
        reason = _not_understood(found) or "no finite budget is enough"
        lines += textwrap.wrap(reason, _WIDTH, initial_indent="  enough:     not proved: ", subsequent_indent="              ")
    if found.refuted is None or found.refuted.witness is None:
        return "\n".join([*lines, *_attained(found)])
    sure = " by draws" if found.by_draws else ""
    lines += [f"  not enough: refuted{sure} below {_below(found.budget.lower)} by two datasets"]
    lines += [
        f"              {label + ' ' if label else ''}{line}" for label, line in witness_lines(found.refuted.witness, found.spec)
    ]
    return "\n".join(lines)


def _attained(found: Measurement) -> list[str]:
    """The two datasets that need the lower end, where a proof names them."""
    results = () if found.proved is None else found.proved.universes
    pair = next((result.attained for result in results if result.attained is not None), None)
    if pair is None or not found.constant.lower > 0:
        return ["  not enough: no pair of datasets was found that needs a budget"]
    left, right = (textwrap.shorten(one, _WIDTH - 20) for one in pair_in_words(*pair, found.spec.space))
    head = f"  not enough: less than {_below(found.budget.lower)}, for two datasets"
    return [head, f"              x  = {left}", f"              x' = {right}"]


def _answer(found: Measurement) -> str:
    budget, name = found.budget, found.parameter
    if found.is_vacuous:
        return f"No {name} has an effect: no universe that was checked contains two datasets at a finite distance."
    if budget.lower.is_infinite:
        return f"No finite {name} is enough."
    if budget.is_exact:
        return f"The least budget is {name} = {bracket_in_words(budget)}, exactly."
    if budget.upper.is_infinite:
        return f"The least budget is at least {name} = {_below(budget.lower)}; nothing was proved from above."
    return f"The least budget is {name} between {_below(budget.lower)} and {_above(budget.upper)}."


def _below(value: Number) -> str:
    """A lower end for people: itself where it is short, else rounded down to six decimals."""
    return _rounded(value, math.floor)


def _above(value: Number) -> str:
    """An upper end for people: itself where it is short, else rounded up to six decimals."""
    return _rounded(value, math.ceil)


def _rounded(value: Number, to: Callable[[Fraction], int]) -> str:
    if not value.is_rational or len(value.plain()) <= _SHORT:
        return value.plain()
    whole = to(value.as_fraction() * _MILLION)
    return number(Fraction(whole, _MILLION)).plain()


def _not_understood(found: Measurement) -> str:
    """The reason why nothing was proved of the blocks without a budget: its second half, which states what was not analysed."""
    if found.proved is not None:
        return ""
    return found.first.reason.partition("nor was it verified: ")[2] or found.first.reason
