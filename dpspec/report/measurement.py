"""The least budget that something needs, as text and as data."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpspec.base.errors import count
from dpspec.base.exact import LONGEST_EXACT, Number, rounded_down, rounded_up
from dpspec.base.log_linear import ending_decimal
from dpspec.base.words import stand_ins_in_words
from dpspec.report.json import bracket, verdict
from dpspec.report.terminal import bracket_in_words, pair_in_words, thing_in_words
from dpspec.report.text import witness_lines

if TYPE_CHECKING:
    from dpspec.verifier.measure import Measurement

_WIDTH = 110
_FEW = 2
_SHORT = 12
_DIGITS = 9


def measured_data(found: Measurement, stand_ins: Sequence[str] = ()) -> dict[str, Any]:
    """The answer as data.

    Args:
        stand_ins: the blocks of the file that stand in for others.
    """
    return {
        "parameter": found.parameter,
        "standard": thing_in_words(found.spec.output_divergence),
        "change": thing_in_words(found.spec.input_divergence),
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
    standard, change = thing_in_words(found.spec.output_divergence), thing_in_words(found.spec.input_divergence)
    measured = textwrap.wrap(f"{standard}; one change: {change}", _WIDTH)
    lines = [_answer(found), *(f"  measured:   {line}" for line in measured)]
    if stand_ins:
        lines += [f"  about:      {stand_ins_in_words(stand_ins)}"]
    if found.proved is not None:
        lines += [f"  enough:     proved, {found.proved.method}: {found.proved.scope}"]
        assumptions = found.proved.assumptions
        if len(assumptions) > _FEW:
            lines.append(f"              under {len(assumptions)} assumptions, which --format json lists")
        else:
            lines += [f"              assumes {one}" for one in assumptions]
        if found.proved.vacuous:
            empty = count(len(found.proved.vacuous), "universe")
            lines.append(f"              {empty} without a pair at finite distance, where nothing is required")
    else:
        reason = _not_understood(found) or "no finite budget is enough"
        lines += textwrap.wrap(reason, _WIDTH, initial_indent="  enough:     not proved: ", subsequent_indent="              ")
    if found.refuted is None or found.refuted.witness is None:
        return "\n".join([*lines, *_attained(found)])
    sure = " by draws" if found.by_draws else ""
    endless = found.refuted.witness.divergence.lower.is_infinite
    lower = found.budget.lower
    refuted = found.tried[-1][0] if lower.is_infinite else lower  # where no finite budget is enough, the claim itself
    which = f"at every finite {found.parameter}" if endless else f"below {_below(refuted)}"
    lines += [f"  not enough: refuted{sure} {which} by two datasets"]
    lines += [
        f"              {label + ' ' if label else ''}{line}" for label, line in witness_lines(found.refuted.witness, found.spec)
    ]
    return "\n".join(lines)


def _attained(found: Measurement) -> list[str]:
    """The two datasets that need the lower end, where a proof names them."""
    proof = found.first if found.proved is None else found.proved
    results = [result for result in proof.universes if result.attained is not None]
    best = max(results, key=lambda result: result.constant.lower, default=None)
    if best is None or best.attained is None or not found.constant.lower > 0:
        return ["  not enough: no pair of datasets was found that needs a budget"]
    left, right = (textwrap.shorten(one, _WIDTH - 20) for one in pair_in_words(*best.attained, found.spec.space))
    lower = found.budget.lower
    head = f"every finite {found.parameter}" if lower.is_infinite else f"less than {_below(lower)}"
    return [f"  not enough: {head}, for two datasets", f"              x  = {left}", f"              x' = {right}"]


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
    above = _short(budget.upper) or rounded_up(budget.upper, _DIGITS)
    return f"The least budget is {name} between {_below(budget.lower)} and {above}."


def _below(value: Number) -> str:
    """A lower end for people: itself where it is short, else rounded down."""
    return _short(value) or rounded_down(value, _DIGITS)


def _short(value: Number) -> str:
    """A number as itself; "" where that is long."""
    exact = (ending_decimal(value.as_fraction()) if value.is_rational else None) or str(value)
    return exact if len(exact) <= (_SHORT if value.is_rational else LONGEST_EXACT) else ""


def _not_understood(found: Measurement) -> str:
    """The reason why nothing was proved of the blocks without a budget: its second half, which states what was not analysed."""
    if found.proved is not None:
        return ""
    return found.first.reason.partition("nor was it verified: ")[2] or found.first.reason
