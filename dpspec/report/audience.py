"""The promise of a file for two audiences: the people in the data, and technical readers (Kazan 2025)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import attrs
from rich.table import Table
from rich.text import Text

from dpspec.base.errors import DpspecError, NotReachedError
from dpspec.base.exact import Bracket, Number, number, rounded_up
from dpspec.base.params import parameters
from dpspec.base.types import JsonData
from dpspec.base.words import Word
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.invariant import Invariant
from dpspec.grammar.spec import allowed_to_all
from dpspec.report import terminal
from dpspec.report.explain import promise
from dpspec.report.json import bracket
from dpspec.report.page import PageParts
from dpspec.report.terminal import FAINT, at_most_in_words, budget_in_words, thing_in_words
from dpspec.risks.attack_bounds import allowed_excess, allowed_power
from dpspec.risks.candidates import Candidates, candidates_within

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dpspec.grammar.spec import PrivacySpec
    from dpspec.specfile.document import SpecDocument
    from dpspec.verifier.standing import Standing

LEVELS = (Fraction(1, 100), Fraction(1, 20), Fraction(1, 10))
FACTORS = (2, 10)
FURTHEST = 3
"""The largest distance that is searched for two datasets that the budget constrains."""
POWER, GROWTH = "power of the best test at level {}", "probability that the release favours the truth {}-fold"


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


ENGLISH = "en"
BY_TABLE = "the number depends on the table; --universe-of TABLE gives that of one table, or of a release's report.json"
"""A message for terminals next to a public page; the page itself names no option."""
OF_TABLE = "The budget is that of the universe of the table that was named."
KEPT = (
    "A probability below is not the delta of approximate privacy, and not a raw tail of the privacy loss, but the least number "
    "above that tail which post-processing keeps."
)
"""The meaning of the probabilities in the table for technical readers."""
PUBLIC = "public.toml"
_STANDINGS = {Word.RECORDED: "refuted", Word.REFUTED: "refuted"}


@cache
def catalogue() -> dict[str, JsonData]:
    """The texts of public pages, by language; English first."""
    text = resources.files("dpspec.report").joinpath(PUBLIC).read_text(encoding="utf-8")
    return tomllib.loads(text)


def table_notes(document: SpecDocument) -> tuple[str, ...]:
    """The message next to a page for which no table was named: where a table has a number of its own, how to ask for it."""
    budget = document.spec.budget
    return (BY_TABLE,) if budget.uniform() is None and budget.unpublished() is None else ()


def public_sentences(
    found: SpecDocument, standing: Standing, step: SmallestStep | None, caught: Bracket | None, language: str = ENGLISH
) -> tuple[str, str, str, str]:
    """Four statements: the claim status, what is published exactly, what can be found out, and what is not promised.

    Args:
        found: the file.
        standing: the status of its claim.
        step: the smallest distance for which the budget bounds anything; None when it is unknown.
        caught: the largest power of a test at level 1/20 within it; None when there is no such number.
        language: one of `catalogue`.
    """
    said, spec = catalogue()[language], found.spec
    unit = _unit_in_language(_unit(found), said)
    knows, beyond = said["knows"]["stated" if spec.space.holds_laws else "others"], [said["beyond"]["others"]]
    if spec.space.holds_laws:
        beyond.append(said["beyond"]["stated"])
    else:
        beyond.append(said["beyond"]["unit" if changes_records(spec) else "change"].format(unit=unit))
    if found.unaccounted:
        beyond.append(said["beyond"]["outside"])
    held = spec.multiverse.induced_by()
    if step is None:
        limit, change = "no_number" if spec.budget.unpublished() is not None else "no_single_number", ""
    else:
        if caught is None:
            limit = "nothing"
        elif _discloses_nothing(spec, step) and not spec.space.holds_laws:  # who knows more of the data may see something
            limit = "never"
        elif caught.lower >= 1:
            limit = "no_limit"
        else:
            limit = "hardly" if caught.upper > Fraction(99, 100) else "limit"
        change = said["change"][_change_key(spec, step)].format(unit=unit, distance=step.distance)
        if held != () or step.candidates.unpromised:
            change = said["change"]["covered"].format(change=change)
    cases_of_100 = "" if caught is None else hundredths(caught)
    return (
        _with_assumptions(said["standing"][_standing_key(standing.word, found)], standing, said),
        said["exact"][_exact_key(spec, step)].format(facts=_facts(held or (), said)),
        said["limit"][limit].format(knows=knows, change=change, cases=cases_of_100),
        " ".join(beyond),
    )


def _unit_in_language(unit: str, said: JsonData) -> str:
    """The word for a unit; another one than those of the catalogue is the file's own."""
    known: str | None = said["units"].get(unit)
    return known or str(said["facts"]["unit"]).format(unit=unit)


def _facts(held: Iterable[Invariant], said: JsonData) -> str:
    """The exactly published facts, in one line."""
    return "; ".join(dict.fromkeys(_fact(fact, said) for fact in held))


def fact_in_words(fact: Invariant, language: str = ENGLISH) -> str:
    """A fact that is published exactly, for people; one that has no plain words only by where it comes from.

    >>> import dpspec as dp
    >>> fact_in_words(dp.marginal(attributes=["region"], where={"age": ["old", "young"]}))
    'person by region where age is old or young'
    """
    return _fact(fact, catalogue()[language])


def _fact(fact: Invariant, said: JsonData) -> str:
    """Names of attributes and categories are the file's own words in every language."""
    words, table = said["facts"], fact.as_marginal()
    if table is None:
        return str(words["other"]).format(fact=fact) if is_plain(str(fact)) else str(words["technical"])
    by = ", ".join(table.attributes)
    counted = words["by" if by else "total"].format(unit=said["units"].get(table.unit, table.unit), attributes=by)
    where = [words["condition"].format(attribute=name, categories=words["either"].join(held)) for name, held in table.where]
    return str(words["where"].format(fact=counted, conditions=", ".join(where)) if where else counted)


_TECHNICAL = re.compile(r"[\[\](){}<>_^`]|\d{7}|\b(?:None|True|False|inf|nan)\b|\bwhat \S+ can publish")


def is_plain(text: str) -> bool:
    """Whether a description of a block can be read by people who do not know the program: no brackets, no name of a program.

    >>> [is_plain(text) for text in ("one person added or removed", "constant [4.2, inf]", "what cell-key can publish")]
    [True, False, False]
    """
    return _TECHNICAL.search(text) is None


def step_in_words(divergence: InputDivergence, language: str = ENGLISH) -> str:
    """The meaning of one change in words; where the divergence has no plain words, that the file defines it.

    >>> import dpspec as dp
    >>> step_in_words(dp.hamming())
    'one person replaced by another'
    """
    words = thing_in_words(divergence).removeprefix("neighbours only: ")
    return words if is_plain(words) else str(catalogue()[language]["facts"]["step"])


def public_standing(standing: Standing, document: SpecDocument, language: str = ENGLISH) -> str:
    """The first sentences of a page on a claim whose space or mechanism may be invented.

    Args:
        standing: the claim status. If the file makes several promises, it is that of the worst one, which need not be the first.
        document: the file.
        language: one of `catalogue`.
    """
    said = catalogue()[language]
    return _with_assumptions(said["how"][_standing_key(standing.word, document)], standing, said)


def _with_assumptions(sentence: str, standing: Standing, said: JsonData) -> str:
    """A statement on a claim, and that it rests on assumptions; the texts on invented blocks name these themselves."""
    return f"{sentence} {said['assumes']['some']}" if standing.is_conditional and standing.premises else sentence


def _made_up(stand_ins: Sequence[str]) -> str:
    return f"made_up_{stand_ins[0] if len(set(stand_ins)) == 1 else 'both'}"


def _standing_key(word: Word, document: SpecDocument) -> str:
    """The text on a claim; what is found of an invented mechanism or of invented data is not said of the real ones."""
    key, stand_ins, several = _STANDINGS.get(word, word.word), document.stand_ins, bool(document.parts)
    if stand_ins and word in (Word.VERIFIED, Word.DERIVED):
        return _made_up(stand_ins)
    if key == "refuted":
        return f"refuted_{_made_up(stand_ins)}" if stand_ins else "refuted_one" if several else key
    if word is Word.UNDECIDED and not several and allowed_to_all(document.spec) is not None:
        return "limitless"
    return f"{key}_made_up" if "mechanism" in stand_ins and key == "miniature" else key


def _exact_key(spec: PrivacySpec, step: SmallestStep | None) -> str:
    held, unpromised = spec.multiverse.induced_by(), step is not None and step.candidates.unpromised
    if not held:
        return "some" if held is None or unpromised else "none"
    if unpromised:
        return "facts_and_some"
    return "always" if step is not None and step.alone_is_settled and step.candidates.bound is not None else "facts"


def _change_key(spec: PrivacySpec, step: SmallestStep) -> str:
    """The meaning of distance 1, where the divergence counts records; in other cases, a distance."""
    steps = spec.input_divergence.record_steps(spec.space)
    if steps is None or step.distance != 1 or steps.within is not None or steps.unit != spec.input_divergence.counted_unit():
        return "distance"
    if steps.added is None:
        return "replaced" if steps.replaced == 1 else "distance"
    if steps.added != 1:
        return "distance"
    return "either" if steps.replaced == 1 else "added"


def _discloses_nothing(spec: PrivacySpec, step: SmallestStep) -> bool:
    """Whether the laws within the step are equal; a bound of 0 says so only where 0 is the distance of equal laws alone."""
    return step.candidates.bound == 0 and spec.output_divergence.separates_laws()


def changes_records(spec: PrivacySpec) -> bool:
    """Whether two datasets at distance k, a whole number, are known to differ in at most k records of one unit.

    Where each count of records changes by at most k, no more than k records go, and no more than k come. In a sequence, the least
    distance must also say that no record moves to another place unseen.

    >>> import dpspec as dp
    >>> def known_of(distance):
    ...     return changes_records(dp.spec(space=dp.bit_vectors(length=2), distance=distance, standard="pure", epsilon=1))
    >>> known_of(dp.hamming_ordered()), known_of(dp.within_distance(of=dp.hamming_ordered(), most=2))
    (True, False)
    """
    divergence = spec.input_divergence
    steps = divergence.record_steps(spec.space)
    if steps is not None:
        return steps.within in (None, 1)
    if divergence.counted_unit() is None:
        return False
    return not spec.space.is_ordered or divergence.least_distance(spec.space) is not None


def _unit(found: SpecDocument) -> str:
    unit = named_unit(found.spec.input_divergence) or "record"
    return unit if found.deployment is None else dict(found.deployment.units).get(unit, unit)


def named_unit(divergence: Any) -> str | None:
    """The unit that an input divergence names, itself or in what it is made of: a relation, another divergence.

    >>> import dpspec as dp
    >>> named_unit(dp.neighbour(relation=dp.add_remove(unit="user")))
    'user'
    """
    found = getattr(divergence, "unit", None)
    if isinstance(found, str):
        return found
    inner = (getattr(divergence, parameter.name) for parameter in parameters(type(divergence)))
    held = (named_unit(value) for value in inner if attrs.has(type(value)) and not isinstance(value, Number))
    return next((unit for unit in held if unit is not None), None)


def audience_data(
    found: SpecDocument, audience: str, standing: Standing, language: str = ENGLISH, *, of_table: bool = False
) -> JsonData:
    """The paragraphs for an audience, and the numbers in them; for the public four statements before them.

    The numbers hold for every mechanism that satisfies the specification: the largest power of a test (Kifer et
    al. 2022, Theorems 6.1 to 6.3 and Section 6.3), and the largest probability that the likelihood ratio of the truth is at least
    a factor (Kifer et al. 2022, Definition 5.4 and Theorem 3 of Section 7.4.1).

    Args:
        found: the file; with `of_table`, as `document_at` gives it.
        audience: "public" or "technical".
        standing: its claim status.
        language: of the public text, one of `catalogue`.
        of_table: whether the budget is that of the universe of one table.
    """
    spec, public = found.spec, audience == "public"
    step, numbers = None, dict[str, Bracket]()
    said = catalogue()[language]["more"]
    unpublished = spec.budget.unpublished()
    how = (
        public_standing(standing, found, language)
        if public
        else f"Claim status: {standing.sentence}."
    )
    if unpublished is not None:
        paragraphs = [said["unpublished"].format(reason=unpublished)]
        paragraphs[:0] = [] if public else [how, promise(found)]
    else:
        try:
            unordered = spec.of_unordered_pairs
            step = nearest(unordered)
            numbers = _numbers(unordered, step.candidates.bound)
        except DpspecError:  # why is for those who judge a file: `risk` says so, with the option to give
            if not public:
                raise
            paragraphs = [how, said["not_one_number"]]
        else:
            paragraphs = [how, *(_public(found, step, numbers, language) if public else _technical(found, step))]
            if of_table:
                paragraphs.insert(1, said["of_table"] if public else OF_TABLE)
    caught = numbers.get(POWER.format(Fraction(1, 20)))
    return {
        "id": found.id,
        "title": found.title,
        "audience": audience,
        "language": language,
        "standing": terminal.standing_data(standing),
        "sentences": list(public_sentences(found, standing, step, caught, language)) if public else [],
        "paragraphs": paragraphs if language == ENGLISH else [*paragraphs, catalogue()[language]["draft"]],
        "numbers": [{"what": what, "value": bracket(value)} for what, value in numbers.items()],
    }


def _numbers(spec: PrivacySpec, bound: Number | None) -> dict[str, Bracket]:
    if bound is None:
        return {}
    numbers = {POWER.format(level): allowed_power(spec.output_divergence, bound, level) for level in LEVELS}
    for factor in FACTORS:
        growth = Bracket.exactly(1)
        if not bound.is_infinite:
            growth = allowed_excess(spec.output_divergence, bound, Bracket.exactly(factor))
        numbers[GROWTH.format(factor)] = growth
    return numbers


def _public(found: SpecDocument, step: SmallestStep, numbers: dict[str, Bracket], language: str) -> Iterator[str]:
    spec, words = found.spec, catalogue()[language]
    said, unit = words["more"], _unit_in_language(_unit(found), words)
    if spec.space.holds_laws:
        yield said["stated"]
    else:
        what = "touched" if not changes_records(spec) else "yours" if step.distance == 1 else "several"
        yield said["imagine"].format(what=said[what].format(unit=unit, distance=step.distance))
    known = step.candidates.distinguishing
    if known:
        yield said["known"].format(facts=_facts(known, words))
    if step.alone_is_settled:
        yield said["shows" if spec.multiverse.induced_by() and not step.candidates.unpromised else "silent"]
    if _discloses_nothing(spec, step):
        yield said["never"]
    elif numbers:
        caught = _sentence(numbers[POWER.format(Fraction(1, 20))], language)
        alike = known or step.candidates.may_differ  # of a large space, ideas that differ in a fact may not have been found
        yield said["odds_known" if alike else "odds"].format(caught=caught)
        twice, tenfold = (_sentence(numbers[GROWTH.format(factor)], language) for factor in FACTORS)
        yield said["growth"].format(twice=twice, tenfold=tenfold)
    if numbers:
        divergence = step_in_words(spec.input_divergence, language)
        meanings = () if found.deployment is None else found.deployment.units
        units = [said["called_one"].format(unit=words["units"].get(name, name), words=meaning) for name, meaning in meanings]
        called = str(said["called"]).format(units=", ".join(units)) if units else ""  # in brackets
        yield said["distance"].format(distance=step.distance, divergence=divergence, called=called)
    else:
        yield said["nothing"]
    if found.releases > 1:
        yield said["other_releases"]
    own = changes_records(spec) and not spec.space.holds_laws
    yield f"{said['beyond']} {said['own']}" if own else said["beyond"]
    if step.candidates.unpromised:
        yield said["some"]


def _sentence(probability: Bracket, language: str) -> str:
    """A limit as a sentence of its own, without its full stop."""
    text = limit(probability, language).strip("()")
    return f"{text[0].upper()}{text[1:]}"


def _technical(found: SpecDocument, step: SmallestStep) -> Iterator[str]:
    spec, bound = found.spec, step.candidates.bound
    yield promise(found)
    if step.candidates.distinguishing:
        yield (
            f"Published exactly, and known for certain: {step.candidates.publications}. Candidates that differ in it are "
            "distinguished with power 1, whatever the budget; the numbers below are about candidates of one universe."
        )
    if step.alone_is_settled:
        reason = f": {step.alone_is_settled}" if step.alone_is_settled is not True else ""
        yield f"No universe holds two datasets at distance 1{reason}. What the budget says about distance 1 belongs to no pair."
    if bound is None:
        yield "No two candidates of one universe are near each other, so that the budget speaks about none."
        return
    said = f"the bound is {at_most_in_words(bound)} by {thing_in_words(spec.output_divergence)} ({budget_in_words(spec.budget)})"
    mechanism = "the mechanism, all but its random bits"
    suprema = "may process the release in any way; the numbers below are suprema over all pairs of laws within the bound."
    if spec.space.holds_laws:
        yield (
            f"For two distributions of the data at distance {step.distance} {said}. The adversary knows both distributions and "
            f"{mechanism}, knows nothing else of the data, and {suprema}"
        )
        yield (
            "Frequentist: a test of one distribution against the other at level a has at most the power below. Bayesian: with "
            "any prior on the two, the posterior of the true one exceeds F times its prior with at most the probability below, "
            "over the release of data drawn from it; over the prior predictive law it is that probability divided by F."
        )
        yield f"None of this bounds what an adversary finds out who knows more of the data than that. {KEPT}"
    else:
        yield (
            f"For two datasets at distance {step.distance} {said}. The adversary knows both datasets and {mechanism}, and "
            f"{suprema}"
        )
        yield (
            "Frequentist: a test of one dataset against the other at level a has at most the power below; by mixing, that holds "
            "for unknown other records too wherever the divergence is quasi-convex. Bayesian: with the other records known and "
            "any prior on one, the posterior of the true record exceeds F times its prior with at most the probability below, "
            "over the release of the true data; over the prior predictive law it is that probability divided by F."
        )
        yield (
            "None of this bounds the change from prior to posterior for an adversary who does not know the other records: "
            f"dependence between records carries over. {KEPT}"
        )
    if spec.multiverse.induced_by() != ():
        yield "Only datasets of one universe are compared: the invariants themselves are outside of the guarantee."
    if found.releases > 1:
        yield f"The file describes {found.releases} releases: the numbers are about the first one alone."


def cases(probability: Bracket, language: str = ENGLISH) -> str:
    """A probability as cases of a hundred, rounded up; rare ones as one in a power of ten. To be read, not to be computed with.

    >>> [cases(Bracket.exactly(value)) for value in ("0.7417", "0.0035", "1/2", "1e-12")]
    ['75 of 100 cases', '1 of 100 cases', '50 of 100 cases', '1 of a billion cases']
    """
    said = catalogue()[language]["cases"]
    for size, name in ((10**9, "billion"), (10**6, "million"), (1000, "thousand")):
        if probability.upper <= Fraction(1, size):
            return str(said[name])
    return str(said["hundred"]).format(cases=hundredths(probability))


def hundredths(probability: Bracket) -> int:
    """The least n from 1 to 100 that is at least a hundred times the probability."""
    return next(n for n in range(1, 101) if probability.upper <= Fraction(n, 100) or n == 100)


def limit(probability: Bracket, language: str = ENGLISH) -> str:
    """A largest probability as the end of a sentence; what cannot happen as never, and what says nothing as that.

    >>> [limit(Bracket.exactly(value)) for value in ("1/2", "0", "0.9999")]
    ['in at most 50 of 100 cases', 'never', '(this promise sets practically no limit here)']
    >>> limit(Bracket.exactly(1)), limit(Bracket.exactly("1/2"), "de")
    ('(this promise sets no limit here)', 'in höchstens 50 von 100 Fällen')
    """
    said = catalogue()[language]["cases"]
    if probability.upper == 0:
        return str(said["never"])
    if probability.lower >= 1:
        return str(said["no_limit"])
    if probability.lower > Fraction(99, 100):
        return str(said["hardly"])
    return str(said["at_most"]).format(cases=cases(probability, language))


def audience_parts(data: JsonData, found: SpecDocument) -> PageParts:
    """The paragraphs as text; for the technical audience with a table of the numbers."""
    parts: list[RenderableType] = [Text.assemble((found.id, "bold"), f"  {found.title}"), ""]
    if data["sentences"]:
        parts += [" ".join(data["sentences"]), ""]
        parts += [Text(catalogue()[data["language"]]["more"]["heading"], "bold"), ""]
    for paragraph in data["paragraphs"]:
        parts += [paragraph, ""]
    if data["audience"] == "technical":
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(overflow="fold", style=FAINT)
        table.add_column(no_wrap=True)
        for row in data["numbers"]:
            lower, upper = number(row["value"]["lower"]), number(row["value"]["upper"])
            words = f"at most {rounded_up(upper, 6)}"
            if upper == 0:
                words = "never"
            elif lower >= 1:
                words = "this promise sets no limit here"
            elif words == "at most 1":  # rounded up from less than 1
                words = f"practically no limit: {words}"
            table.add_row(row["what"], words)
        parts.append(table)
    return parts
