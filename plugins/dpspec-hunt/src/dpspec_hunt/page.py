"""The results of a hunt, in text, as Markdown, as data, and as a file of answers to edit."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from dpspec.plugin.applications import count
from dpspec_hunt.checks import facts_in_words
from dpspec_hunt.results import Checked, Hunt, Outcome

if TYPE_CHECKING:
    from dpspec_hunt.claims import Fact

TITLES = {
    Outcome.REFUTED: "Refuted",
    Outcome.UNDECIDED: "Undecided",
    Outcome.BROKEN: "Cannot be run",
    Outcome.ASKED: "Asks",
    Outcome.VERIFIED: "Verified",
    Outcome.UNCHECKED: "Draws, and is no mechanism",
}
MEANINGS = {
    Outcome.REFUTED: "Two datasets and an event show that the function does not keep what it is taken to claim.",
    Outcome.UNDECIDED: "Neither proved nor refuted in the time that it had.",
    Outcome.BROKEN: "The function could not be run as it was called.",
    Outcome.ASKED: "Not everything that the check needs is stated. Edit answers.toml, or accept the guesses with --yes.",
    Outcome.VERIFIED: "Proved for the whole space that the specification names, and for no other.",
    Outcome.UNCHECKED: "The function takes no dataset, or claims nothing.",
}
MOST_SHOWN, MOST_UNCHECKED = 240, 10
"""Characters of a reason, and functions that are no mechanisms, in text for the terminal."""


def summary(found: Hunt) -> str:
    """One line."""
    seen = Counter(one.outcome for one in found.functions)
    parts = ", ".join(f"{seen[name]} {TITLES[name].lower()}" for name in Outcome if seen[name])
    verb = "draws" if len(found.functions) == 1 else "draw"
    begin = f"{count(len(found.functions), 'function')} of {count(found.files, 'file')} {verb} noise"
    return f"{begin}: {parts}" if parts else begin


def text_of(found: Hunt) -> str:
    """For the terminal."""
    lines = [f"{found.target}: {summary(found)}"]
    if found.no_jail:
        lines.append(f"nothing was run: there is no jail here: {found.no_jail}; --trust runs the code with your own rights")
    for outcome in Outcome:
        some = [one for one in found.functions if one.outcome == outcome]
        most = MOST_UNCHECKED if outcome is Outcome.UNCHECKED else len(some)
        for one in some[:most]:
            drawing = one.plan.drawing
            lines.append(f"  {TITLES[outcome].lower():15} {drawing.module.shown}:{drawing.node.lineno} {drawing.name}")
            lines += [f"{'':18}{line}" for line in _details(one)]
        if len(some) > most:
            lines.append(f"  {'':15} and {len(some) - most:,} more, which --out lists")
    for shown, reason in found.unread:
        lines.append(f"  {'not read':15} {shown}: {reason}")
    return "\n".join(lines)


def _details(one: Checked) -> list[str]:
    if one.outcome is Outcome.UNCHECKED:
        return [one.reason]
    facts = [f"{'guess: ' if fact.is_guess else ''}{fact.subject} = {fact.value} ({fact.why})" for fact in one.plan.facts]
    lines = ["; ".join(facts)] if facts else []
    if one.outcome is not Outcome.VERIFIED and one.reason:
        lines.insert(0, one.reason if len(one.reason) <= MOST_SHOWN else f"{one.reason[: MOST_SHOWN - 3]}...")
    if one.verdict is not None and one.outcome is not Outcome.UNDECIDED:
        lines.insert(0, _verdict(one))
    return lines


def _verdict(one: Checked) -> str:
    """The constant of a verdict, or its pair."""
    verdict: Any = one.verdict
    witness = verdict.get("witness")
    if witness:
        shown = {key: witness.get(key) for key in ("left", "right", "x", "x_prime") if witness.get(key) is not None}
        return "; ".join(f"{key} = {json.dumps(value)}" for key, value in shown.items())
    constant = verdict.get("constant") or {}
    low, high = constant.get("lower"), constant.get("upper")
    return f"{verdict['scope']}: constant {low if low == high else f'between {low} and {high}'}"


def report(found: Hunt) -> str:
    """As a page in Markdown."""
    lines = [f"# Functions of {found.target} that draw noise", "", f"{summary(found)}.", ""]
    lines += ["Each verdict is about the specification next to it, and not about other data, neighbours or numbers."]
    if found.accepted:
        lines += ["Guesses were accepted without review; they are marked."]
    if found.no_jail:
        lines += ["", f"Nothing was run: {found.no_jail}."]
    for outcome in Outcome:
        some = [one for one in found.functions if one.outcome == outcome]
        if not some:
            continue
        lines += ["", f"## {TITLES[outcome]}", "", MEANINGS[outcome]]
        for one in some:
            drawing = one.plan.drawing
            draws = ", ".join(f"line {draw.line} `{draw.what}`" for draw in drawing.draws[:5])
            lines += [
                "",
                f"### `{drawing.place}`",
                "",
                f"{drawing.module.shown}, line {drawing.node.lineno}. Draws: {draws}.",
                "",
            ]
            if one.plan.call:
                lines += [f"Called as `{one.plan.call}`.", ""]
            lines += [f"* {line}" for line in facts_in_words(one.plan)]
            if one.verdict is not None:
                lines += ["", _verdict(one) + "."]
                lines += [f"* assumes: {line}" for line in one.verdict.get("assumptions", ())]
            if one.reason and one.outcome is not Outcome.VERIFIED:
                lines += ["", one.reason]
    if found.unread:
        lines += ["", "## Not read", "", *(f"* {shown}: {reason}" for shown, reason in found.unread)]
    return "\n".join([*lines, ""])


def answers_text(found: Hunt) -> str:
    """A file of answers: what was found as it is, guesses and questions as comments to edit."""
    lines = ["# Answers for `dpspec hunt --answers`. A line that begins with # is a guess: correct it, and remove the #.", ""]
    for one in found.functions:
        if one.outcome is Outcome.UNCHECKED:
            continue
        lines.append(f"[{json.dumps(one.plan.drawing.place)}]")
        if one.plan.spec is None:
            lines.append(f"# {one.plan.reason}")
        arguments: list[Fact] = []
        for fact in one.plan.facts:
            if fact.is_argument:
                arguments.append(fact)
            elif fact.is_guess:
                lines.append(f"# {fact.about} = {_toml(fact.value)}  # {fact.why}")
        guessed = [fact for fact in arguments if fact.is_guess]
        if guessed:
            inside = ", ".join(f"{fact.about} = {_toml(fact.value)}" for fact in guessed)
            lines.append(f"# arguments = {{ {inside} }}  # without a default")
        lines.append("")
    return "\n".join(lines)


def _toml(value: object) -> str:
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: object) -> Any:
    return value if isinstance(value, str | list | int | float) else str(value)


def data_of(found: Hunt) -> dict[str, Any]:
    """As data."""
    return {
        "target": found.target,
        "files": found.files,
        "guesses_accepted": found.accepted,
        "not_run": found.no_jail or None,
        "unread": [{"file": shown, "reason": reason} for shown, reason in found.unread],
        "functions": [_function_data(one) for one in found.functions],
    }


def _function_data(one: Checked) -> dict[str, Any]:
    drawing = one.plan.drawing
    return {
        "function": drawing.place,
        "file": drawing.module.shown,
        "line": drawing.node.lineno,
        "draws": [{"line": draw.line, "call": draw.what, "through": draw.through} for draw in drawing.draws],
        "outcome": one.outcome,
        "reason": one.reason,
        "call": one.plan.call or None,
        "facts": [
            {"about": fact.subject, "value": _plain(fact.value), "why": fact.why, "guess": fact.is_guess}
            for fact in one.plan.facts
        ],
        "verdict": one.verdict,
    }  # fmt: skip


def asked_value(found: dict[str, Any], guess: Fact, answer: str) -> None:
    """Put what was typed for a guess among the answers, as a number or list where it is one."""
    try:
        value = json.loads(answer)
    except ValueError:
        value = answer
    if guess.is_argument:
        found.setdefault("arguments", {})[guess.about] = value
    else:
        found[guess.about] = value
