"""The contribution of each block, as parts of a page and as data."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rich.padding import Padding

from dpspec.base.errors import count
from dpspec.base.exact import number, rounded_down, rounded_up
from dpspec.report.json import bracket
from dpspec.report.page import Bullets, Grid, PageParts, Piece
from dpspec.report.terminal import bracket_in_words, end_in_words, pair_in_words, thing_in_words

if TYPE_CHECKING:
    from dpspec.base.exact import Bracket
    from dpspec.comparison.ablation import Ablation, AblationStep, BlockFactor

_NAMES = {
    "space": "dataset space",
    "multiverse": "multiverse",
    "input_divergence": "input divergence",
    "output_divergence": "output divergence",
}


_POWERS = (
    "Constants of two output divergences are no multiples of each other: compare the powers, which are those of the best "
    "test between two datasets at distance 1 that the constant allows."
)


def ablation_data(found: Ablation) -> dict[str, Any]:
    """The answer as data."""
    return {
        "from": found.names[0],
        "to": found.names[1],
        "mechanism": found.mechanism.name,
        "differing": list(found.differing),
        "steps": [
            {
                "exchanged": list(step.exchanged),
                "fits": step.fits,
                "parameter": step.parameter or None,
                "constant": None if step.constant is None else bracket(step.constant),
                "budget": None if (budget := step.budget()) is None else bracket(budget),
                "power": None if step.power is None else bracket(step.power),
                "vacuous": step.is_vacuous,
                "pair": None if step.pair is None else [str(dataset) for dataset in step.pair],
                "reason": step.reason or None,
            }
            for step in found.steps
        ],
        "orders": [list(order) for order in found.orders],
        "factors": [
            {
                "block": factor.block,
                "smallest": None if factor.smallest is None else list(factor.smallest),
                "largest": None if factor.largest is None else list(factor.largest),
                "mean": factor.mean,
            }
            for factor in found.factors
        ],
    }


def ablation_parts(found: Ablation) -> PageParts:
    """The answer as parts of a page: the least budgets first, then the factors."""
    a, b = found.names
    least = Grid(
        caption=f"The least budget that {found.mechanism.name} needs as blocks of {a} are exchanged for those of {b}",
        heads=("blocks exchanged", "least budget", "constant", "power at 5 %"),
        rows=tuple(_step_row(step, found) for step in found.steps),
    )
    if not found.differing:
        return [f"{a} and {b} differ in no block.", "", least, "", *_measured_by(found)]
    reasons: dict[str, list[str]] = {}
    for step in found.steps:
        why = step.reason.partition(";")[0]
        if step.pair is not None and step.spec is not None:
            left, right = pair_in_words(*step.pair, step.spec.space)
            why = f"no finite budget, as {left} and {right} show"
        if why:
            reasons.setdefault(why, []).append(_exchanged(step, found))
    parts: list[Piece] = [least, "", *_measured_by(found), ""]
    for why, steps in reasons.items():
        parts += [Bullets(items=tuple(steps)), Padding(why, (0, 0, 0, 2)), ""]
    parts.append(Grid(
        caption=f"What one block contributes, over {count(len(found.orders), 'order')} in which every step fits",
        heads=("block", "smallest factor", "largest factor", "mean"), rows=tuple(map(_factor_row, found.factors)),
    ))  # fmt: skip
    if "output_divergence" in found.differing:
        parts += ["", _POWERS]
    return parts


def _measured_by(found: Ablation) -> list[str]:
    """What the numbers of A and of B are: their standards, with the parameters of these, and what one change is."""
    by_standard: dict[str, list[str]] = {}
    for name, step in zip(found.names, (found.steps[0], found.steps[-1]), strict=True):
        if step.spec is not None:
            by, change = thing_in_words(step.spec.output_divergence), thing_in_words(step.spec.input_divergence)
            by_standard.setdefault(f"{by}; one change: {change}", []).append(name)
    return [f"{' and '.join(dict.fromkeys(names))}: {words}" for words, names in by_standard.items()]


def _exchanged(step: AblationStep, found: Ablation) -> str:
    if not step.exchanged:
        return f"none: {found.names[0]}"
    names = ", ".join(_NAMES[block] for block in step.exchanged)
    return f"all: {found.names[1]}" if step.exchanged == found.differing else names


def _step_row(step: AblationStep, found: Ablation) -> tuple[str, ...]:
    budget = step.budget()
    if not step.fits or budget is None or step.constant is None:
        word = "none is required" if step.is_vacuous else "undecided" if step.fits else "does not fit"
        return _exchanged(step, found), word, "", ""
    power = "" if step.power is None else _decimal(step.power)
    return _exchanged(step, found), f"{step.parameter} = {_in_short(budget)}", _in_short(step.constant), power


def _in_short(value: Bracket) -> str:
    return str(value) if value.is_exact else bracket_in_words(value)


def _factor_row(factor: BlockFactor) -> tuple[str, ...]:
    if factor.smallest is None or factor.largest is None:
        why = "another standard" if factor.block == "output_divergence" else "no factor: a constant is 0, infinite or not known"
        return _NAMES[factor.block], why, "", ""
    least, most = number(Fraction(factor.smallest[0])), number(Fraction(factor.largest[1]))
    return _NAMES[factor.block], end_in_words(least, 6, up=False), end_in_words(most, 6, up=True), f"{factor.mean:.6g}"


def _decimal(value: Bracket) -> str:
    """A bracket of powers to four digits; both ends, rounded outwards, where they differ in these or would be a false 1."""
    low, high = (f"{float(end):.4f}" for end in (value.lower, value.upper))
    if low == high and (float(high) != 1 or value.lower == 1):
        return low
    down, up = rounded_down(value.lower), rounded_up(value.upper)
    return f"{down} to {up}" if down != up else down
