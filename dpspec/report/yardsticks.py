"""Common measures of two specifications (yardsticks), as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dpspec.base.errors import count
from dpspec.base.exact import Bracket, Number, rounded_up
from dpspec.blocks.parts import nesting_of
from dpspec.grammar.attacker import Sense
from dpspec.report import terminal
from dpspec.report.page import PageParts
from dpspec.report.risk import in_words
from dpspec.report.terminal import (
    BAD,
    FAINT,
    GOOD,
    OPEN,
    at_most_in_words,
    blocks_in_words,
    budget_in_words,
    grid,
    thing_by_name,
    thing_in_words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpspec.comparison.yardstick import Attack, Yardstick, YardstickSide
    from dpspec.extension import Registry
    from dpspec.grammar.rule import Step
    from dpspec.grammar.spec import PrivacySpec
    from dpspec.verifier.standing import Standing

SpecNames = tuple[str, str]

NONE = "none found: in no choice of blocks that was tried do both have a finite budget"

SENSE = (
    "In the blocks of a common measure, a smaller budget is stronger. Both specifications imply the larger of the two "
    "budgets; it is the least that the registered rules derive, one step for each block, and not shown to be the least there is. "
    "Conversions marked tight are attained by some mechanism."
)


def yardstick_parts(found: Sequence[Yardstick], names: SpecNames, standings: Sequence[Standing]) -> PageParts:
    """All yardsticks of two specifications, called A and B."""
    rows = grid()
    for letter, name, standing in zip("AB", names, standings, strict=True):
        rows.add_row(Text(letter, "bold"), name)
        rows.add_row("", terminal.standing_line(standing))
    parts: list[RenderableType] = [rows, "", Text("Common yardsticks", "bold")]
    common = [one for one in found if one.is_common]
    if not common:
        parts.append(Padding(Text(NONE, BAD), (0, 0, 0, 2)))
    else:
        shared = grid()
        for block in ("dataset space", "multiverse"):
            shared.add_row(Text(block, FAINT), "\n".join(blocks_in_words(common[0].spec)[block]))
        members = nesting_of(common[0].spec.space).most_within("person", "household")
        if members is not None:
            shared.add_row(Text("assumed", FAINT), f"no household has more than {count(members, 'person')}")
        parts += [Padding(shared, (0, 0, 0, 2)), ""]
    for place, one in enumerate(common, 1):
        parts += [_one(place, one), ""]
    alone = [one for one in found if not one.is_common]
    if alone:
        reached = grid()
        for one in alone:
            letter, side, other = ("A", one.left, one.right) if one.left.reaches else ("B", one.right, one.left)
            limit = at_most_in_words(side.budget or number_of("0"), "= ")
            reached.add_row(Text(letter, "bold"), f"{one.spec.budget.parameter} {limit} {place_in_words(one.spec)}")
            reached.add_row("", Text(f"the other one: {'; '.join(other.missing)}", FAINT))
        parts += [Text("Blocks that only one of them reaches", "bold"), Padding(reached, (0, 0, 0, 2)), ""]
    if common:
        from dpspec.comparison.yardstick import attacks

        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_row("", *(Text(head, FAINT) for head in ("distance", "promise", "power at level 5 %", "posterior odds times")))
        for pair in attacks(found):
            for letter, attack in zip("AB", pair, strict=True):
                cells = (
                    thing_in_words(attack.spec.input_divergence), budget_in_words(attack.spec.budget),
                    power_in_words(attack.power), loss_in_words(attack.loss),
                )  # fmt: skip
                table.add_row(Text(letter, "bold"), *cells)
        left_to_one = "What is left to one attacker who tests two datasets at distance 1"
        parts += [Text(left_to_one, "bold"), Padding(table, (0, 0, 0, 2)), ""]
        parts += [Text("In which sense strongest", "bold"), Padding(SENSE, (0, 0, 0, 2))]
    return parts


def _one(place: int, one: Yardstick) -> Group:
    """One common measure: its head line, and each side with its steps."""
    spec = one.spec
    head = Text.assemble((f"{place}. {budget_in_words(spec.budget)}", "bold"), f" {place_in_words(spec)}")
    if one.follows_from is not None:
        head.append(f"  (follows from {one.follows_from + 1})", OPEN)
    rows = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(3):
        rows.add_column(no_wrap=True)
    rows.add_column(overflow="fold")
    for letter, side in (("A", one.left), ("B", one.right)):
        limit = at_most_in_words(side.budget or number_of("0"), "= ")
        rows.add_row(Text(letter, "bold"), Text("implies", GOOD), "", f"{spec.budget.parameter} {limit}")
        for step in side.derivation.steps:
            rows.add_row("", "", Text(step.rule, FAINT), step_in_words(step, side))
    return Group(head, Padding(rows, (0, 0, 0, 2)))


def place_in_words(spec: PrivacySpec) -> str:
    """The distance and the standard of a common measure."""
    return f"for {thing_in_words(spec.input_divergence)}, by {thing_in_words(spec.output_divergence)}"


def step_in_words(step: Step, side: YardstickSide) -> str:
    """The effect of a step on the budget, its reason, and whether it is tight."""
    constant = step.parameters.get("constant")
    reason = step.reason.split(" (", 1)[0] if step.block == "multiverse" else step.reason
    kept = step.before.budget == step.after.budget
    words = "the same budget" if kept else budget_in_words(step.after.budget)
    factor = f", factor {constant}" if constant not in (None, "1") else ""
    return f"{words}{factor}{' (tight)' if step.rule in side.tight else ''}: {reason} [{step.citation}]"


def power_in_words(power: Bracket | None) -> str:
    """A bound on power, rounded up.

    >>> power_in_words(Bracket.exactly("3/20"))
    'at most 0.15'
    >>> power_in_words(Bracket(lower=number_of("0.109861228866"), upper=number_of("0.109861228867")))
    'at most 0.109862'
    """
    if power is None:
        return "not known"
    top = power.upper
    if top > number_of("0.999999"):
        return "no bound worth the name (over 0.999999)"
    return in_words(Sense.AT_MOST, power)


def loss_in_words(loss: Number | None) -> str:
    """The largest factor between posterior odds and prior odds, rounded up.

    >>> loss_in_words(number_of("ln(3)"))
    'at most e^1.09862'
    """
    return "no bound" if loss is None else f"at most e^{rounded_up(loss, 6)}"


def number_of(text: str) -> Number:
    return Bracket.exactly(text).upper


def yardstick_data(
    found: Sequence[Yardstick], names: SpecNames, registry: Registry, standings: Sequence[Standing]
) -> dict[str, Any]:
    """The same as JSON data; each common measure with its two derivations, as `dpspec check-derivation` reads them."""
    from dpspec.comparison.yardstick import attacks

    return {
        "left": names[0],
        "right": names[1],
        "standing": {side: terminal.standing_data(standing) for side, standing in zip(("left", "right"), standings, strict=True)},
        "yardsticks": [_yardstick(one, registry) for one in found],
        "attacks": [{"left": _attack(left), "right": _attack(right)} for left, right in attacks(found)],
        "sense": SENSE,
    }


def _yardstick(one: Yardstick, registry: Registry) -> dict[str, Any]:
    blocks = {block.replace(" ", "_"): lines for block, lines in blocks_in_words(one.spec, thing_by_name).items()}
    proofs = [proof.data(registry) for proof in one.proofs()] if one.is_common else [None, None]
    value = one.spec.budget.uniform()
    return {
        "common": one.is_common,
        "follows_from": one.follows_from,
        "blocks": blocks,
        "parameter": one.spec.budget.parameter,
        "value": str(value) if one.is_common else None,
        "left": {**_side(one.left), "derivation": proofs[0]},
        "right": {**_side(one.right), "derivation": proofs[1]},
    }


def _side(side: YardstickSide) -> dict[str, Any]:
    return {
        "value": None if side.budget is None else str(side.budget),
        "missing": list(side.missing),
        "tight": list(side.tight),
        "steps": [{"rule": step.rule, "block": step.block, "reason": step.reason, "budget": str(step.after.budget)}
                  for step in side.derivation.steps],
    }  # fmt: skip


def _attack(attack: Attack) -> dict[str, Any]:
    power = None if attack.power is None else attack.power.ends()[1]
    return {
        "input_divergence": thing_by_name(attack.spec.input_divergence),
        "budget": str(attack.spec.budget),
        "output_divergence": thing_by_name(attack.spec.output_divergence),
        "level": "1/20",
        "power_at_most": power,
        "log_odds_at_most": None if attack.loss is None else str(attack.loss),
    }
