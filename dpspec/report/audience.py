"""What a file promises, for two audiences: the people in the data, and those who must judge it (Kazan 2025)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

import attrs
from rich.table import Table
from rich.text import Text

from dpspec.base.errors import NotReachedError
from dpspec.base.exact import Bracket, Number
from dpspec.base.types import JsonData
from dpspec.report import terminal
from dpspec.report.explain import promise
from dpspec.report.json import bracket
from dpspec.report.terminal import FAINT, budget_in_words, drawn, thing_in_words
from dpspec.risks.allowed import allowed_excess, allowed_power
from dpspec.risks.candidates import Candidates, candidates_within

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dpspec.grammar.spec import PrivacySpec
    from dpspec.specfile.document import SpecDocument
    from dpspec.verifier.document import Standing

LEVELS = (Fraction(1, 100), Fraction(1, 20), Fraction(1, 10))
FACTORS = (2, 10)
FURTHEST = 3
"""How far one looks for two datasets that the budget speaks about."""
POWER, GROWTH = "power of the best test at level {}", "chance that the release speaks {}-fold for the truth"


@attrs.frozen(kw_only=True)
class SmallestStep:
    """The smallest distance at which the budget speaks about two datasets.

    Args:
        distance: that distance.
        candidates: what the specification says about two datasets within it.
        alone_is_settled: whether what is published leaves no two datasets within distance 1 open, or why.
    """

    distance: int
    candidates: Candidates
    alone_is_settled: bool | str = False


def nearest(spec: PrivacySpec) -> SmallestStep:
    """The first of the distances 1, 2, 3 within which some universe has two datasets; distance 1 where none is seen.

    Raises:
        NotReachedError: when no two datasets at all are so near.
    """
    first: Candidates | None = None
    for distance in range(1, FURTHEST + 1):
        try:
            found = candidates_within(spec, distance)
        except NotReachedError:
            if distance == FURTHEST and first is None:
                raise
            continue
        if distance == 1:
            first = found
        if found.bound is not None:
            settled = first is not None and first.bound is None and (first.reason or True)
            return SmallestStep(distance=distance, candidates=found, alone_is_settled=settled)
        first = first or found
    if first is None:
        raise AssertionError("the last distance raises")
    return SmallestStep(distance=1, candidates=first, alone_is_settled=first.reason or True)


def audience_data(found: SpecDocument, audience: str, standing: Standing) -> JsonData:
    """The paragraphs for an audience, and the numbers in them.

    The numbers hold for every mechanism that satisfies the specification: the largest power of a test (Kifer et
    al. 2022, Theorems 6.1 to 6.3 and Section 6.3), and the largest chance that the likelihood ratio of the truth is at least
    a factor (Kifer et al. 2022, Definition 5.4 and Theorem 3 of Section 7.4.1).
    """
    spec = found.spec
    if spec.budget.unpublished() is not None:
        return _without_number(found, audience, standing)
    step = nearest(spec)
    bound = step.candidates.bound
    numbers: dict[str, Bracket] = {}
    if bound is not None:
        numbers = {POWER.format(level): allowed_power(spec.output_divergence, bound, level) for level in LEVELS}
        numbers |= {GROWTH.format(factor): _growth(spec, bound, factor) for factor in FACTORS}
    units = {} if found.deployment is None else dict(found.deployment.units)
    public = audience == "public"
    paragraphs = _public(spec, step, numbers, units) if public else _technical(found, step)
    return {
        "id": found.id,
        "title": found.title,
        "audience": audience,
        "standing": terminal.standing_data(standing),
        "paragraphs": [
            terminal.public_standing(standing.word, found.stand_ins)
            if audience == "public"
            else f"How it stands: {standing.sentence}.",
            *paragraphs,
        ],
        "numbers": [{"what": what, "value": bracket(value)} for what, value in numbers.items()],
    }


def _without_number(found: SpecDocument, audience: str, standing: Standing) -> JsonData:
    """The same where no number limits anything."""
    said = f"What somebody can find out from the release, nobody can say: {found.spec.budget.unpublished()}."
    paragraphs = [said] if audience == "public" else [f"How it stands: {standing.sentence}.", promise(found), said]
    return {
        "id": found.id, "title": found.title, "audience": audience, "standing": terminal.standing_data(standing),
        "paragraphs": paragraphs, "numbers": [],
    }  # fmt: skip


def _growth(spec: PrivacySpec, bound: Number, factor: int) -> Bracket:
    return Bracket.exactly(1) if bound.is_infinite else allowed_excess(spec.output_divergence, bound, Bracket.exactly(factor))


def _public(spec: PrivacySpec, step: SmallestStep, numbers: dict[str, Bracket], units: Mapping[str, str]) -> Iterator[str]:
    unit = spec.input_divergence.counted_unit() or getattr(spec.input_divergence, "unit", None) or "record"
    unit = units.get(unit, unit)
    several = f"what {step.distance} changes of one {unit} each can touch, yours among them"
    yield (
        "Imagine somebody who knows how the release is made and has all of the data before them, except for "
        f"{f'yours (one {unit})' if step.distance == 1 else several}. "
        "They have two ideas of what your data could be, and look at the release to find out which of them is right."
    )
    known = step.candidates.publications
    if known:
        yield (
            f"Some facts are published exactly as they are, without blurring: {known}. Where the two ideas differ in one of "
            "these facts, this somebody knows for certain which one is right, in 100 of 100 cases, and no promise changes that."
        )
    if step.alone_is_settled:
        yield (
            f"If everything but the data of one {unit} is known, the published facts settle the rest: nothing about it is left "
            "to the blurring."
        )
    if step.candidates.bound == 0:
        yield (
            "If the promise is kept, the release looks the same for both ideas otherwise, and does not help to tell them apart. "
            "How often can it make them twice as sure of the truth? Never."
        )
    elif numbers:
        yield from _odds(numbers, known)
    if numbers:
        yield (
            f"All this holds for two ideas at distance {step.distance} or less. Distance here means: "
            f"{thing_in_words(spec.input_divergence)}{_called(units)}. For two ideas further apart the limits are weaker, or "
            "there are none."
        )
    else:
        yield "No two ideas are left open by what is published, so that there is nothing for the promise to protect."
    yield (
        "What is not promised: that nothing can be learned about you. A pattern that shows in everybody's data shows without "
        "yours too, and may be applied to you. The promise is about what the use of your own data adds."
    )
    if step.candidates.unpromised:
        yield "The promise speaks about some pairs of ideas only. About all others it says nothing, and sets no limit."


def _called(units: Mapping[str, str]) -> str:
    """What the units of the blocks stand for, in brackets."""
    return f" ({', '.join(f'a {unit} here is one {words}' for unit, words in units.items())})" if units else ""


def _odds(numbers: dict[str, Bracket], known: str) -> Iterator[str]:
    caught = numbers[POWER.format(Fraction(1, 20))]
    about = ", choosing between two ideas that agree in all published facts," if known else ""
    yield (
        f"The release is blurred by chance on purpose. If this somebody{about} "
        f"takes care to name the wrong idea in no more than 5 of 100 cases, they find the right one {limit(caught)}. Without "
        "looking at the release at all it would be 5."
    )
    twice, tenfold = (limit(numbers[GROWTH.format(factor)]).strip("()") for factor in FACTORS)
    yield (
        f"How often can the release make them twice as sure of the truth? {twice[0].upper()}{twice[1:]}. "
        f"And ten times as sure? {tenfold[0].upper()}{tenfold[1:]}. "
        "These are limits for the worst design that keeps the promise; a good one is often far below them."
    )


def _technical(found: SpecDocument, step: SmallestStep) -> Iterator[str]:
    spec, bound = found.spec, step.candidates.bound
    yield promise(found)
    if step.candidates.distinguishing:
        yield (
            f"Published exactly, and known for certain: {step.candidates.publications}. Candidates that differ in it are told "
            "apart with power 1, whatever the budget; the numbers below are about candidates of one universe."
        )
    if step.alone_is_settled:
        reason = f": {step.alone_is_settled}" if step.alone_is_settled is not True else ""
        yield f"No universe holds two datasets at distance 1{reason}. What the budget says about distance 1 belongs to no pair."
    if bound is None:
        yield "No two candidates of one universe are near each other, so that the budget speaks about none."
        return
    yield (
        f"For two datasets at distance {step.distance} the bound is {bound} in {thing_in_words(spec.output_divergence)} "
        f"({budget_in_words(spec.budget)}). The adversary knows both datasets and the mechanism, all but its random bits, and "
        "may process the release in any way; the numbers below are suprema over all pairs of laws within the bound."
    )
    yield (
        "Frequentist: a test of one dataset against the other at level a has at most the power below; by mixing, that holds for "
        "unknown other records too wherever the divergence is quasi-convex. Bayesian: with the other records known and any prior "
        "on one, the posterior of the true record exceeds F times its prior with at most the chance below, over the release of "
        "the true data; over the prior predictive law it is that chance divided by F."
    )
    yield (
        "None of this bounds the change from prior to posterior for an adversary who does not know the other records: dependence "
        "between records carries over. A chance below is not the delta of approximate privacy, and not a raw tail of the privacy "
        "loss, but the least number above that tail which post-processing keeps."
    )
    if spec.multiverse.induced_by() != ():
        yield "Only datasets of one universe are compared: the invariants themselves are outside of the guarantee."


def cases(chance: Bracket) -> str:
    """A probability as cases of a hundred, rounded up; rare ones as one in a power of ten. To be read, not to be computed with.

    >>> [cases(Bracket.exactly(value)) for value in ("0.7417", "0.0035", "1/2", "1e-12")]
    ['75 of 100 cases', '1 of 100 cases', '50 of 100 cases', '1 of a billion cases']
    """
    for size, name in ((10**9, "a billion"), (10**6, "a million"), (1000, "1,000")):
        if chance.upper <= Fraction(1, size):
            return f"1 of {name} cases"
    hundredths = next(n for n in range(1, 101) if chance.lower <= Fraction(n, 100) or n == 100)
    return f"{hundredths} of 100 cases"


def limit(chance: Bracket) -> str:
    """A largest probability as the end of a sentence; what cannot happen as never, and what says nothing as that.

    >>> [limit(Bracket.exactly(value)) for value in ("1/2", "0", "0.9999")]
    ['in at most 50 of 100 cases', 'never', '(this promise sets practically no limit here)']
    >>> limit(Bracket.exactly(1))
    '(this promise sets no limit here)'
    """
    if chance.upper == 0:
        return "never"
    if chance.lower >= 1:
        return "(this promise sets no limit here)"
    if chance.lower > Fraction(99, 100):
        return "(this promise sets practically no limit here)"
    return f"in at most {cases(chance)}"


def audience_text(data: JsonData, found: SpecDocument) -> str:
    """The paragraphs as text; for the technical audience with a table of the numbers."""
    parts: list[RenderableType] = [Text.assemble((found.id, "bold"), f"  {found.title}"), ""]
    for paragraph in data["paragraphs"]:
        parts += [paragraph, ""]
    if data["audience"] == "technical":
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(overflow="fold", style=FAINT)
        table.add_column(no_wrap=True)
        for row in data["numbers"]:
            most = Bracket.exactly(row["value"]["upper"]).upper
            said = "never" if most == 0 else "this promise sets no limit here" if most >= 1 else f"at most {most.decimal()}"
            table.add_row(row["what"], said)
        parts.append(table)
    return drawn(*parts).rstrip()
