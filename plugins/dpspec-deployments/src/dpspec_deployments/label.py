"""A label: one page for the people in the data, on what a deployment promises them and what it does not say.

Nothing is graded. What is said of an attacker is the public explanation of the same file (Kazan 2025), whose numbers come from
the risk engine; whether the promise is kept is what the engine found, and a stand-in is told as one.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import TYPE_CHECKING

import attrs
from rich.text import Text

from dpspec.plugin.applications import (
    JsonData,
    Word,
    audience_data,
    budget_in_words,
    count,
    drawn,
    harmless,
    longer_units,
    numbers_cells,
    numbers_data,
    numbers_note,
    promise_for,
    public_standing,
    read_unit,
    standing_data,
    thing_in_words,
)
from dpspec_deployments.catalogue import how_of, number_state, one_of, unit_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dpspec import SpecDocument
    from dpspec.plugin import Budget
    from dpspec.plugin.applications import RiskNumbers, Standing


BLOCK_QUESTIONS = {
    "space": "what data there are",
    "multiverse": "whether any facts are published exactly as they are",
    "input_divergence": "what counts as one change",
    "output_divergence": "how protection is measured",
    "budget": "how much is promised",
    "mechanism": "how the noise is made",
}
"""What each block is, for people."""


@attrs.frozen(kw_only=True)
class LabelSection:
    """A heading and the sentences under it."""

    heading: str
    sentences: tuple[str, ...]


def label(document: SpecDocument, standing: Standing, risk: RiskNumbers) -> tuple[LabelSection, ...]:
    """The sections of a label.

    Args:
        document: a specification file, best one with [deployment] and [provenance].
        standing: how its claim stands.
        risk: what the promise and the mechanism mean to an attacker.
    """
    sections = {
        "What it is": _what(document),
        "Was it checked?": _checked(document, standing),
        "Who is protected": _who(document),
        "What one change is": _change(document),
        "What is published exactly": _exact(document),
        "The number": _number(document),
        "What it does to somebody who wants to find out about you": (*_attacker(document, standing), *_numbers(document, risk)),
        "What the promise does not cover": _uncovered(document),
        "What is not said": _unsaid(document),
    }
    return tuple(LabelSection(heading=heading, sentences=tuple(lines)) for heading, lines in sections.items())


def _what(document: SpecDocument) -> Iterator[str]:
    yield f"{document.title}."
    made = document.deployment
    if made is None:
        yield "The file does not say who published this, or when."
        return
    where = "" if made.region is None else f" It is about: {made.region}."
    yield f"Published by {', '.join(made.publisher)}: {made.product} ({made.when}).{where}"
    if made.use is not None:
        yield f"It is for: {made.use}."


def _who(document: SpecDocument) -> Iterator[str]:
    spec, unit = document.spec, unit_of(document)
    if unit is None:
        yield f"The promise names no unit. One change is: {thing_in_words(spec.input_divergence)}."
        return
    words = read_unit(unit)
    if words.time is None:
        yield f"What is protected is one {unit}: what the data hold of it. For several together the promise can be weaker."
        return
    period = words.time if words.times == 1 else f"{words.times} {words.time}s"
    yield f"What is protected is one {unit}: what the data hold of one {'-'.join(words.parts)} from one {period}."
    yield f"The promise is about one {period} at a time. Over longer times it can be weaker, the longer the weaker."


def _change(document: SpecDocument) -> Iterator[str]:
    spec, unit = document.spec, unit_of(document) or "record"
    steps = spec.input_divergence.record_steps(spec.space)
    far = "" if steps is None or steps.within is None else f" up to {steps.within} such steps are one change;"
    own = spec.input_divergence.counted_unit()
    if steps is not None and steps.unit == own and steps.added is None and steps.replaced == 1:
        yield f"The data of one {unit} are replaced by others;{far} how many of them the data hold stays the same."
    elif steps is not None and steps.unit == own and steps.added == 1:
        other = "counts as one change too" if steps.replaced == 1 else f"counts as {steps.replaced} changes"
        yield f"The data of one {unit} are added, or taken away;{far} to replace them by others {other}."
    else:
        yield f"One change is: {one_of(thing_in_words(spec.input_divergence), document)}."


def _exact(document: SpecDocument) -> Iterator[str]:
    held, how = document.spec.multiverse.induced_by(), how_of(document, "multiverse")
    if held is None:
        yield f"Which states of the data are protected from each other is given so: {thing_in_words(document.spec.multiverse)}."
    elif not held:
        yield {
            "stated": "Nothing is said to be published as it is, without noise.",
            "inferred": "As far as can be inferred from the sources, nothing is published as it is, without noise.",
            "assumed": "This page assumes that nothing is published as it is, without noise; see what is not said, below.",
            "untold": "The file names nothing that is published as it is, and does not say where it has that from.",
        }[how]
    else:
        yield "These facts are published as they are, and anybody can know them. No promise is made about what they show:"
        yield from (f"- {one_of(str(invariant), document)}" for invariant in held)
        if how == "assumed":
            yield "That these are the facts is an assumption of the file."


def _number(document: SpecDocument) -> Iterator[str]:
    spec, made = document.spec, document.deployment
    unpublished = spec.budget.unpublished()
    if unpublished is not None:
        yield f"No number to rely on: {unpublished}."
    else:
        if spec.budget.uniform() is None:
            yield "There is no single number: how much is promised depends on the facts that are published exactly."
        else:
            yield f"{_said(spec.budget)}, for one change; smaller is stronger."
        yield f"It is measured by {thing_in_words(spec.output_divergence)}."
        if how_of(document, "budget") in ("assumed", "inferred"):
            yield f"This number is {how_of(document, 'budget')} by the file: no source gives it as such."
    for part in document.parts:
        yield f"Promised besides: {part}: {_said(part.spec.budget)}."
    if made is not None and made.period is not None:
        again = "for every release" if made.period == "release" else f"after every {made.period}"
        yield f"This number is renewed {again}: over several of them the promise can be weaker."
    own = unit_of(document)
    for unit in () if own is None else longer_units(own):
        found = promise_for(spec, unit, called=own)
        if found.budget is not None:
            yield f"For one {unit} it amounts to at most {_said(found.budget)}."
    states = [number_state(one, spec) for one in document.expectations]
    if states:
        right, wrong = states.count("recomputed"), states.count("failed") + states.count("misprint")
        told = f"Of {count(len(states), 'printed number')}, {right} came out when computed again"
        yield told + (f", and {wrong} did not." if wrong else ".")


def _said(budget: Budget) -> str:
    return budget_in_words(budget)


def _attacker(document: SpecDocument, standing: Standing) -> Iterator[str]:
    if document.spec.budget.unpublished() is not None:
        yield "Without a number nobody can say how much the release helps them."
        return
    if standing.is_false:
        yield "The release is known to break the promise. What follows is about a release that would keep it."
    yield from audience_data(document, "public", standing)["paragraphs"][1:]


def _numbers(document: SpecDocument, risk: RiskNumbers) -> Iterator[str]:
    """The numbers behind it, each for any mechanism that keeps the promise, and for the one that the file describes."""
    if not risk.rows:
        return
    sides = ("any mechanism that keeps the promise", "this mechanism")
    inside = "" if document.spec.multiverse.induced_by() == () else " that agree in all published facts"
    yield f"The same in numbers, for two ideas{inside}:"
    for what, *cells in numbers_cells(risk, document.spec, with_own=document.mechanism is not None):
        yield f"- {what}: {'; '.join(f'{side}: {said}' for side, said in zip(sides, cells, strict=False))}."
    note = numbers_note(risk)
    if note:
        yield note


def _checked(document: SpecDocument, standing: Standing) -> Iterator[str]:
    if standing.word not in (Word.VERIFIED, Word.DERIVED) and document.spec.budget.unpublished() is not None:
        yield "No number was published that a release could be held against."
    else:
        yield public_standing(standing.word, document.stand_ins)
    if standing.word in (Word.VERIFIED, Word.DERIVED):
        yield "The publisher's program was not checked."


def _uncovered(document: SpecDocument) -> Iterator[str]:
    for step in document.unaccounted:
        yield f"- {step}."
    if not document.unaccounted:
        yield "The file names no step outside of the promise. That none was taken is not shown."


def _unsaid(document: SpecDocument) -> Iterator[str]:
    blocks = {block: how_of(document, block) for block in BLOCK_QUESTIONS}
    if document.mechanism is None and document.secret is None:
        blocks["mechanism"] = "missing"
    for block, how in blocks.items():
        because = next((one.because for one in document.provenance if one.block == block), None)
        why = "" if because is None else f" ({because})"
        if how == "assumed":
            yield f"- Assumed here, not stated: {BLOCK_QUESTIONS[block]}{why}."
        elif how == "inferred":
            yield f"- Inferred here, not stated in so many words: {BLOCK_QUESTIONS[block]}{why}."
        elif how == "missing":
            yield f"- This file does not say {BLOCK_QUESTIONS[block]}, so there is nothing to check."
    unsourced = [BLOCK_QUESTIONS[block] for block, how in blocks.items() if how == "untold"]
    if unsourced:
        yield f"- The source is not stated for: {'; '.join(unsourced)}."
    if document.secret is not None:
        yield f"- Part of how the noise is made is kept secret: {document.secret}."
    made = document.deployment
    if made is not None:
        if made.trust is None:
            yield "- Who sees the data before the noise is added."
        if made.release is None and made.period is None:
            yield "- Whether the same data will be released again, and what that adds up to."


# --- pages ----------------------------------------------------------------------------------------


def label_data(document: SpecDocument, standing: Standing, risk: RiskNumbers) -> JsonData:
    """The label as data."""
    return {
        "id": document.id,
        "title": document.title,
        "path": document.path,
        "standing": standing_data(standing),
        "sections": [{"heading": one.heading, "sentences": list(one.sentences)} for one in label(document, standing, risk)],
        "risk": numbers_data(risk),
        "sources": [str(source) for source in document.sources],
    }


def label_text(data: JsonData) -> str:
    """The label as text."""
    parts: list[RenderableType] = []
    for section in data["sections"]:
        parts += [Text(section["heading"], "bold"), *section["sentences"], ""]
    parts += [Text("Sources", "bold"), *(data["sources"] or ["The file names none."])]
    return drawn(*parts).rstrip()


_STYLE = (
    "body{font:16px/1.45 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;color:#111;background:#fff}"
    "main{border:2px solid #111;padding:0 1.2rem 1rem}h1{font-size:1.3rem}h2{font-size:1rem;border-top:1px solid #111;"
    "padding-top:.6rem;margin-bottom:.2rem}p,ul{margin:.3rem 0}footer{font-size:.8rem;margin-top:1rem}"
)


def label_html(data: JsonData) -> str:
    """The label as one page that needs nothing else: no script, no address that is loaded."""
    body = []
    for section in data["sections"]:
        body.append(f"<h2>{_escaped(section['heading'])}</h2>")
        body += _paragraphs(section["sentences"])
    body.append("<h2>Sources</h2>")
    body += _paragraphs([f"- {source}" for source in data["sources"]] or ["The file names none."])
    title = _escaped(data["title"])
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n<style>{_STYLE}</style>\n'
        f"</head>\n<body>\n<main>\n<h1>{title}</h1>\n" + "\n".join(body) + "\n</main>\n<footer>Made by dpspec label from the "
        f"file {_escaped(data['id'])}. It grades nothing.</footer>\n</body>\n</html>"
    )


def _paragraphs(sentences: list[str]) -> Iterator[str]:
    """Sentences as paragraphs; those that begin with a dash as one list."""
    listed: list[str] = []
    for sentence in [*sentences, None]:
        if sentence is not None and sentence.startswith("- "):
            listed.append(f"<li>{_escaped(sentence[2:])}</li>")
            continue
        if listed:
            yield f"<ul>{''.join(listed)}</ul>"
            listed = []
        if sentence is not None:
            yield f"<p>{_escaped(sentence)}</p>"


def _escaped(text: str) -> str:
    return html.escape(harmless(text, keep=""))
