"""A label: one page for the people in the data, on what a deployment promises them and what it does not say.

There are no grades. The statements about attackers are the public explanation of the same file (Kazan 2025), whose numbers come
from the risk engine; the status of the promise is the verdict of the engine, and a stand-in is named as one. The page has no
commands, no names of the program and no notation: a test reads every label of the catalogue.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import attrs

from dpspec.plugin import Sense, exact
from dpspec.plugin.applications import (
    Bullets,
    Heading,
    JsonData,
    Page,
    Piece,
    Sentence,
    Word,
    audience_data,
    budget_in_words,
    count,
    fact_in_words,
    is_plain,
    longer_units,
    margins,
    number_in_words,
    numbers_data,
    promise_for,
    public_standing,
    read_unit,
    standing_data,
    step_in_words,
    thing_in_words,
)
from dpspec_deployments.catalogue import how_of, number_state, one_of, unit_of

if TYPE_CHECKING:
    from dpspec import SpecDocument
    from dpspec.plugin import Budget, PrivacySpec, RiskStatement, specfile
    from dpspec.plugin.applications import RiskNumbers, RiskRow, Standing


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


def label(
    document: SpecDocument, standing: Standing, risk: RiskNumbers, at: SpecDocument | None = None
) -> tuple[LabelSection, ...]:  # fmt: skip
    """The sections of a label.

    Args:
        document: a specification file, best one with [deployment] and [provenance].
        standing: its claim status.
        risk: what the promise and the mechanism mean to an attacker.
        at: the file with the budget of the universe of one table, as `document_at` gives it, where one was named.
    """
    sections = {
        "What it is": _what(document),
        "Was it checked?": _checked(document, standing),
        "Who is protected": _who(document),
        "What one change is": _change(document),
        "What is published exactly": _exact(document),
        "The number": _number(document, at),
        "What someone can find out about you": (*_attacker(document, standing, at), *_numbers(document, risk)),
        "How exact the published numbers are": _accuracy(document),
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
    unit = unit_of(document)
    if unit is None:
        yield f"The promise names no unit. One change is: {step_in_words(document.spec.input_divergence)}."
        return
    words, spec = read_unit(unit), document.spec
    period = words.time if words.times == 1 else f"{words.times} {words.time}s"
    whose = unit if words.time is None else f"{'-'.join(words.parts)} from one {period}"
    if spec.input_divergence.unit_price(spec.space) is None:  # some changes may count without limit, or never
        told = is_plain(thing_in_words(spec.input_divergence))
        which = "It is said below" if told else "The file says"
        yield f"The promise is about changes in what the data hold of one {whose}. {which} which of them count."
    else:
        yield f"The promise protects what the data hold of one {whose}."
    if words.time is None:
        yield "For several together it can be weaker."
        return
    yield f"It is about one {period} at a time. Over a longer time it can be weaker."


def _change(document: SpecDocument) -> Iterator[str]:
    spec, unit = document.spec, unit_of(document) or "record"
    steps = spec.input_divergence.record_steps(spec.space)
    far = "" if steps is None or steps.within is None else f" Up to {steps.within} such steps are one change."
    own = spec.input_divergence.counted_unit()
    if steps is not None and steps.unit == own and steps.added is None and steps.replaced == 1:
        yield f"The data of one {unit} are replaced by others.{far} How many of them the data hold stays the same."
    elif steps is not None and steps.unit == own and steps.added == 1:
        other = "counts as one change too" if steps.replaced == 1 else f"counts as {steps.replaced} changes"
        yield f"The data of one {unit} are added or taken away.{far} To replace them by others {other}."
    else:
        yield f"One change is: {one_of(step_in_words(spec.input_divergence), document)}."


def _exact(document: SpecDocument) -> Iterator[str]:
    held, how = document.spec.multiverse.induced_by(), how_of(document, "multiverse")
    if held is None:
        yield "The promise compares some states of the data only. The file says which."
    elif not held:
        yield {
            "stated": "No source names a fact that is published exactly, without noise.",
            "inferred": "As far as the sources show, nothing is published exactly, without noise.",
            "assumed": "This page assumes that nothing is published exactly, without noise. No source says so.",
            "untold": "The file names nothing that is published exactly. It does not give a source for that.",
        }[how]
    else:
        yield "These facts are published exactly, and anyone can know them. No promise is made about what they show:"
        yield from (f"- {one_of(fact, document)}" for fact in dict.fromkeys(map(fact_in_words, held)))
        if how == "assumed":
            yield "The file assumes that these are the facts. No source says so."


def _number(document: SpecDocument, at: SpecDocument | None) -> Iterator[str]:
    spec, made = (at or document).spec, document.deployment
    unpublished = spec.budget.unpublished()
    if unpublished is not None:
        yield f"No number to rely on: {unpublished}."
    else:
        if spec.budget.uniform() is None:
            facts = spec.multiverse.induced_by()
            on = "the facts that are published exactly" if facts else "which states of the data are compared"
            yield f"There is no single number. How much is promised depends on {on}."
        else:
            yield f"{_said(spec.budget)}, for one change. A smaller number is a stronger promise."
        if at is not None and spec is not document.spec:
            yield "This is the number for the facts of one table. The table was named when this page was made."
        yield f"It is measured by {_measure(spec)}."
        if how_of(document, "budget") in ("assumed", "inferred"):
            yield f"This number is {how_of(document, 'budget')} by the file. No source gives it as such."
    yield from (_part(part, document) for part in document.parts)
    if made is not None and made.period is not None:
        again = "for every release" if made.period == "release" else f"after every {made.period}"
        yield f"This number is renewed {again}. Over several of them the promise can be weaker."
    own = unit_of(document)
    for unit in () if own is None else longer_units(own):
        found = promise_for(spec, unit, called=own)
        if found.budget is not None:
            most = _said(found.budget).replace(" is about ", " = ")  # about: rounded up, so that it is at most that
            yield f"For one {unit} it amounts to at most {most}."
    if document.expectations:
        yield _recomputed([number_state(one, document.spec) for one in document.expectations])


def _recomputed(states: Sequence[str]) -> str:
    """What became of the published numbers when they were computed again.

    >>> _recomputed(["recomputed"])
    'We computed 1 published number again. The result is the same.'
    """
    right, wrong = states.count("recomputed"), states.count("failed") + states.count("misprint")
    sentence = f"We computed {count(len(states), 'published number')} again. "
    if len(states) == 1:
        return sentence + ("The result is the same." if right else "The result differs." if wrong else "The result is open.")
    return sentence + f"The result is the same for {right} of them" + (f". It differs for {wrong}." if wrong else ".")


def _part(part: specfile.PromisedBeside, document: SpecDocument) -> str:
    """A further promise, with its standard, and with the other blocks in which it differs: its number is about these."""
    spec, own = part.spec, document.spec
    sentence = f"Also promised, for {part}: {_said(spec.budget)}, measured by {_measure(spec)}"
    if spec.input_divergence != own.input_divergence:
        sentence += f". One change there is: {one_of(step_in_words(spec.input_divergence), document)}"
    if spec.multiverse != own.multiverse:
        held = spec.multiverse.induced_by()
        facts = "; ".join(dict.fromkeys(map(fact_in_words, held or ())))
        sentence += f". Published exactly there: {facts or ('nothing' if held == () else 'what the file says')}"
    return f"{sentence}."


def _measure(spec: PrivacySpec) -> str:
    """The standard of protection with its parameters; of those without plain words it says that the file has them."""
    words = thing_in_words(spec.output_divergence)
    if is_plain(re.sub(r" \(delta = [^()]*\)", "", words)):
        return words
    return re.split(r", | at | \(", words)[0] + ", as the file defines it"


def _said(budget: Budget) -> str:
    """A budget as people read it: a decimal number, with *about* where it has more digits."""
    value = budget.uniform()
    if value is None and budget.unpublished() is None:
        return f"a number of {budget.parameter} that depends on the data"
    low, high = budget.bounds() or (None, None)
    if low is not None and high is not None:
        return f"{budget.parameter} from {value_in_short(low, up=False)} to {value_in_short(high)}"
    if high is not None:
        return f"{budget.parameter} at most {value_in_short(high)}"
    if value is None:
        return budget_in_words(budget)
    text = value_in_short(value)
    return f"{budget.parameter} {'is ' if text.startswith('about') else '= '}{text}"


def value_in_short(value: exact.Number, *, up: bool = True) -> str:
    """A number as people read it: exact where it has few digits, otherwise *about* its decimals, rounded up, or down.

    >>> from dpspec.plugin import exact
    >>> [value_in_short(exact.number(value)) for value in ("2.56", "1/300")], value_in_short(exact.ln(3))
    (['2.56', 'about 0.003334'], 'about 1.099')
    """
    text = number_in_words(value)
    if re.fullmatch(r"[\d,]{1,9}(?:\.\d{1,6})?|infinity", text):
        return text
    return f"about {exact.rounded_up(value) if up else exact.rounded_down(value)}"


def _attacker(document: SpecDocument, standing: Standing, at: SpecDocument | None) -> Iterator[str]:
    if document.spec.budget.unpublished() is not None:
        yield "Without a number, no one can say how much the release helps them."
        return
    if standing.is_false:
        whose = "The release that we made up" if "mechanism" in document.stand_ins else "The release"
        where = " on data that we made up" if "space" in document.stand_ins else ""
        broken = "one of its promises" if document.parts else "the promise"
        yield f"{whose} is known to break {broken}{where}. What follows is about a release that would keep it."
    found, of_table = at or document, at is not None and at.spec is not document.spec
    yield from audience_data(found, "public", standing, of_table=of_table)["paragraphs"][1:]


def _numbers(document: SpecDocument, risk: RiskNumbers) -> Iterator[str]:
    """The numbers behind it, each for any release that keeps the promise, and for the one that the file describes or makes up."""
    whose = "this release"
    if document.stand_ins:
        whose = "the release that we made up" if "mechanism" in document.stand_ins else "this release on data that we made up"
    lines = [line for line in (_number_line(row, whose) for row in risk.rows) if line]
    if lines:
        far = next((dict(row.at)["distance"] for row in risk.rows if "distance" in dict(row.at)), "1")
        compared = " that the promise compares" if any("candidates" in dict(row.at) for row in risk.rows) else ""
        yield f"The limits in more detail, for two ideas at distance {far} or less{compared}:"
        yield from lines


def _number_line(row: RiskRow, whose: str) -> str:
    """A number of an attacker in plain words; nothing for those that say the same in another measure."""
    at = dict(row.at)
    allowed, own = _cases(row.worst, upper=True), _cases(row.own, upper=False)
    ends = (f"{allowed} if the promise is kept" if allowed else "", f"{own} for {whose}" if own else "")
    said = "; ".join(one for one in ends if one)
    if said and row.quantity == "power" and "level" in at:
        wrong = number_in_words(exact.number(at["level"]) * 100)
        return f"- Right guesses in 100, with at most {wrong} wrong: {said}."
    if said and row.quantity.startswith("posterior belief") and at.get("prior") == "1/2":
        return f"- How sure of 100 someone can be who first found both ideas equally likely: {said}."
    return ""


def _cases(statements: Sequence[RiskStatement], *, upper: bool) -> str:
    """A probability as cases of a hundred, rounded to the side on which it stays true."""
    wanted = (Sense.AT_MOST, Sense.EQUALS) if upper else (Sense.AT_LEAST, Sense.EQUALS)
    values = [one.value for one in statements if one.relation in wanted]
    if not values:
        return ""
    if not upper:
        end = max(value.lower for value in values)
        return "up to 100" if end >= 1 else f"at least {exact.rounded_down(end * 100, 3)}"
    if min(value.lower for value in values) >= 1:
        return "no limit"
    most = exact.rounded_up(min(value.upper for value in values) * 100, 3)
    return "practically no limit" if exact.number(most) >= 100 else f"at most {most}"


MOST_MARGINS = 6
"""Lines on the accuracy of tables; a page for people lists no more."""


def _accuracy(document: SpecDocument) -> Iterator[str]:
    """How far the noise moves the published numbers, from the law of the mechanism alone."""
    found = margins(document)
    if found is None or not found["plain"]:
        known = "It is unknown" if found else "This page does not say"
        yield f"{known} how far the published numbers are from the true ones."
        return
    if "mechanism" in document.stand_ins:
        yield "We do not know the real release. These numbers are for the one that we made up."
    by_margin: dict[str, list[str]] = {}
    for table, margin in found["plain"]:
        by_margin.setdefault(margin, []).append(table)
    yield "In at least 95 of 100 releases, a published number is no further from the true one than this:"
    for margin, tables in itertools.islice(by_margin.items(), MOST_MARGINS):
        more = f"; and {len(tables) - MOST_MARGINS} more tables" if len(tables) > MOST_MARGINS else ""
        yield f"- {margin}, in the table of {'; '.join(tables[:MOST_MARGINS])}{more}."
    if len(by_margin) > MOST_MARGINS:
        yield f"- {len(by_margin) - MOST_MARGINS} more margins are left out here."
    if found["largest_count"] is not None:
        yield f"That was computed for true counts up to {found['largest_count']}."
    if found["unknown"]:
        yield "For the other published numbers it is unknown."


def _checked(document: SpecDocument, standing: Standing) -> Iterator[str]:
    if standing.word not in (Word.VERIFIED, Word.DERIVED) and document.spec.budget.unpublished() is not None:
        yield "No number was published that a release could be checked against."
    else:
        yield public_standing(standing, document)
    if standing.word in (Word.VERIFIED, Word.DERIVED):
        yield "The publisher's own program was not checked."


def _uncovered(document: SpecDocument) -> Iterator[str]:
    for step in document.unaccounted:
        yield f"- {step}."
    if not document.unaccounted:
        yield "The file names no step outside of the promise. It does not show that there was none."


def _unsaid(document: SpecDocument) -> Iterator[str]:
    """What no source states, one line for each way in which it is not stated."""
    blocks = {block: how_of(document, block) for block in BLOCK_QUESTIONS}
    if document.mechanism is None and document.secret is None:
        blocks["mechanism"] = "missing"
    for how, begins in UNSAID.items():
        found = [words for block, words in BLOCK_QUESTIONS.items() if blocks[block] == how]
        if found:
            yield f"- {begins}: {'; '.join(found)}."
    if document.secret is not None:
        yield "- Part of how the noise is made is kept secret."
    made = document.deployment
    if made is not None:
        open_ = [] if made.trust is not None else ["who sees the data before the noise is added"]
        if made.release is None and made.period is None:
            open_.append("whether the same data will be released again, and what that adds up to")
        if open_:
            yield f"- Not stated: {'; '.join(open_)}."


UNSAID = {
    "assumed": "Assumed here, not stated",
    "inferred": "Inferred here, not stated outright",
    "missing": "Missing, so that nothing can be checked",
    "untold": "The source is not stated",
}
"""How a line begins on the blocks of which no source is named that states them."""


# --- pages ----------------------------------------------------------------------------------------


def label_data(
    document: SpecDocument, standing: Standing, risk: RiskNumbers, at: SpecDocument | None = None
) -> JsonData:  # fmt: skip
    """The label as data; see `label`."""
    return {
        "id": document.id,
        "title": document.title,
        "path": document.path,
        "standing": standing_data(standing),
        "sections": [{"heading": one.heading, "sentences": list(one.sentences)} for one in label(document, standing, risk, at)],
        "risk": numbers_data(risk),
        "sources": [str(source) for source in document.sources],
    }


def label_page(data: JsonData) -> Page:
    """The label as a page."""
    pieces: list[Piece] = []
    for section in data["sections"]:
        pieces += [Heading(words=section["heading"]), *_paragraphs(section["sentences"])]
    pieces += [Heading(words="Sources"), *_paragraphs([f"- {one}" for one in data["sources"]] or ["The file names none."])]
    return Page(
        title=data["title"], pieces=tuple(pieces), foot=f"Made with dpspec from the file {data['id']}. It grades nothing."
    )


def _paragraphs(sentences: Sequence[str]) -> Iterator[Piece]:
    """Sentences as paragraphs; those that begin with a dash as one list."""
    for is_listed, lines in itertools.groupby(sentences, lambda line: line.startswith("- ")):
        if is_listed:
            yield Bullets(items=tuple(line[2:] for line in lines))
        else:
            yield from (Sentence(words=line) for line in lines)
