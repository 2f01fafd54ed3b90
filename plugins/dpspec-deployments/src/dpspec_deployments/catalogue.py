"""The catalogue: files with a ``[deployment]``, listed, filtered and held against each other.

Nothing is stored in addition to the files: the status of each claim is computed from the file on demand, and unchecked claims are
reported as unchecked. Promises about different data do not compare as five-tuples; per unit they do, by the largest power that
each leaves to a test of level 5% between two datasets at distance 1 (Kifer et al. 2022), which every output divergence has.
Numbers
are ranked in groups: those from a source, those that are the file's own, and those that cannot be ranked at all, being refuted,
about universes with nothing to compare, or missing.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import attrs
from rich.table import Table
from rich.text import Text

from dpspec import Comparison, DpspecError
from dpspec.plugin import Bracket, ParameterError, Rational, Registry, exact
from dpspec.plugin.applications import (
    FAINT,
    Answer,
    Direction,
    JsonData,
    NoFormulaError,
    Order,
    PageParts,
    Progress,
    Standing,
    UnknownNameError,
    Word,
    at_most_in_words,
    bracket_data,
    budget_at,
    budget_in_words,
    count,
    did_you_mean,
    end_in_words,
    ended_standing,
    folded,
    guarded,
    in_order,
    jobs_for,
    named_unit,
    number_in_words,
    order_data,
    part_in_words,
    power_at_step,
    power_in_words,
    printed,
    standing,
    standing_data,
    thing_by_name,
    thing_in_words,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dpspec import SpecDocument
    from dpspec.plugin import PrivacySpec
    from dpspec.plugin.applications import Deployment, Expectation


LEVEL = Fraction(1, 20)
"""The level of the test that is the common measure."""

NOT_STATED, STAND_IN = "not-stated", "stand-in"
VERDICTS = ("verified", STAND_IN, "miniature", "recorded", "refuted", "undecided", "unchecked", NOT_STATED, "plugin")
"""The status of the claim of a deployment: `stand-in` is verified where the space or the mechanism is an assumption of the file,
`recorded` filed as refuted, and refuted, `not-stated` without a published number and without a mechanism to verify."""

VERDICT_WORDS = {
    "verified": "verified",
    STAND_IN: "verified on a stand-in",
    "miniature": "holds on miniatures only",
    "recorded": "known false (confirmed)",
    "refuted": "refuted",
    "undecided": "undecided",
    "unchecked": "nothing was checked",
    NOT_STATED: "no number published",
    "plugin": "a plugin failed",
}
_SHORT = {"unchecked": "not checked", "recorded": "recorded false", NOT_STATED: "no number", "plugin": "plugin failed"}
PUBLISHED, OURS, UNRANKED = "published", "ours", "unranked"
GROUPS = {
    PUBLISHED: "numbers from a source, the strongest first",
    OURS: "numbers that the publisher does not state: they are this file's own",
    UNRANKED: "nothing to rank: the claim is false, no universe holds two datasets to compare, or there is no number",
}
"""Numbers are ranked inside a group alone: one that no one promises, or that is false, is not above one that is published."""
ENTRY_BLOCKS = ("space", "multiverse", "input_divergence", "output_divergence", "budget", "mechanism")


@attrs.define(eq=False, slots=False)
class CatalogueEntry:
    """A deployment and the statements of its file; derived values are computed once, on demand.

    Args:
        document: its file.
        registry: what the names in the file mean.
    """

    document: SpecDocument
    registry: Registry

    @property
    def id(self) -> str:
        return self.document.id

    @property
    def spec(self) -> PrivacySpec:
        return self.document.spec

    @property
    def deployment(self) -> Deployment:
        found = self.document.deployment
        if found is None:
            raise AssertionError("a catalogue takes files with [deployment]")
        return found

    # -- the blocks --------------------------------------------------------------------------------

    @property
    def lines(self) -> tuple[PromiseLine, ...]:
        """The promise, and those of the further parts of the product."""
        first = PromiseLine(entry=self, name=self.id, spec=self.spec)
        return (first, *(PromiseLine(entry=self, name=f"{self.id}: {part}", spec=part.spec) for part in self.document.parts))

    @property
    def unit(self) -> str | None:
        """Whose change the promise is about."""
        return unit_of(self.document)

    @property
    def invariants(self) -> tuple[str, ...] | None:
        """The names of the invariants; None for universes that are given otherwise."""
        held = self.spec.multiverse.induced_by()
        return None if held is None else tuple(str(invariant.name) for invariant in held)

    def how(self, block: str) -> str:
        """Whether a block is stated, inferred or assumed; *untold* where the file does not say."""
        return how_of(self.document, block)

    @property
    def assumed(self) -> tuple[str, ...]:
        return tuple(block for block in ENTRY_BLOCKS if self.how(block) == "assumed")

    # -- what is computed --------------------------------------------------------------------------

    @cached_property
    def standing(self) -> Standing:
        """The status of the claim, computed from the file."""
        return standing(self.document, self.registry)

    @property
    def verdict(self) -> str:
        """One of VERDICTS."""
        word = self.standing.word
        judged = self.document.mechanism is not None or self.document.secret is not None
        if word in (Word.UNCHECKED, Word.UNDECIDED) and self.spec.budget.unpublished() is not None and not judged:
            return NOT_STATED
        if word in (Word.VERIFIED, Word.DERIVED):
            return STAND_IN if self.document.stand_ins else "verified"
        return word.word

    @property
    def is_false(self) -> bool:
        """Whether the claim is known to be false, or was refuted."""
        return self.standing.is_false or self.standing.word is Word.REFUTED

    @property
    def is_empty(self) -> bool:
        """Whether no universe holds two datasets that the promise compares."""
        found = [verdict for verdict in self.standing.verdicts if verdict.universes]
        return bool(found) and all(len(verdict.vacuous) == len(verdict.universes) for verdict in found)

    @cached_property
    def group(self) -> str:
        """Which numbers its number may be ranked with, one of GROUPS."""
        if self.is_false or self.is_empty:
            return UNRANKED
        return OURS if self.how("budget") in ("assumed", "untold") else PUBLISHED

    @property
    def words(self) -> str:
        """The claim status in a few words, with whether it rests on assumptions; a stand-in is named as one."""
        return VERDICT_WORDS[self.verdict] + self.suffix

    @property
    def suffix(self) -> str:
        """What follows the verdict where it rests on more than that a space or a mechanism is a stand-in."""
        return self.standing.suffix if self.standing.premises else ""

    @property
    def status(self) -> str:
        """The claim status in a few words, and whether there is anything that it compares."""
        return f"{self.words}{', and compares nothing' if self.is_empty else ''}"

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Printed numbers: how many come out, how many do not, how many are on file as misprints, how many stay open."""
        return dict(Counter(number_state(one, self.spec) for one in self.document.expectations))

    # -- as data -----------------------------------------------------------------------------------

    @property
    def data(self) -> JsonData:
        """Everything about it that a table may want."""
        made = self.deployment
        return {
            "id": self.id,
            "title": self.document.title,
            "path": self.document.path,
            "publisher": list(made.publisher),
            "product": made.product,
            "published": made.when,
            "year": made.in_year,
            "region": made.region,
            "trust": made.trust,
            "period": made.period,
            "unit": self.unit,
            "distance": thing_by_name(self.spec.input_divergence),
            "standard": thing_by_name(self.spec.output_divergence),
            "budget": budget_in_words(self.spec.budget),
            "invariants": None if self.invariants is None else list(self.invariants),
            "provenance": {block: self.how(block) for block in ENTRY_BLOCKS if block != "mechanism" or self.document.mechanism},
            "unaccounted": [str(step) for step in self.document.unaccounted],
            "verdict": self.verdict,
            "standing": standing_data(self.standing),
            "numbers": {state: self.numbers.get(state, 0) for state in ("recomputed", "failed", "misprint", "open")},
            "power_at_level_5_percent": None if (power := self.lines[0].power) is None else bracket_data(power),
            "parts": [f"{part}: {part_in_words(part.spec, self.spec).replace(';', ',')}" for part in self.document.parts],
        }


@attrs.define(eq=False, slots=False)
class PromiseLine:
    """One promise of a deployment: that of its blocks, or of a further part of the product.

    Args:
        entry: the deployment.
        name: what the promise is called.
        spec: its five blocks.
    """

    entry: CatalogueEntry
    name: str
    spec: PrivacySpec

    @property
    def unit(self) -> str | None:
        """Whose change it is about."""
        return unit_of(self.entry.document, self.spec)

    @cached_property
    def power(self) -> Bracket | None:
        """The largest power of a test at level 5% between two datasets at distance 1; None where no number says it."""
        return power_of(self.spec)

    @property
    def group(self) -> str:
        """Which numbers its number may be ranked with, one of GROUPS."""
        return UNRANKED if self.power is None else self.entry.group

    @property
    def budget(self) -> str:
        """The number with its name; or that there is none, where the file has one that is refuted and that no source states."""
        return "no finite claim" if self.entry.is_false and self.entry.how("budget") != "stated" else short_budget(self.spec)

    def epsilon(self, delta: str) -> Bracket | None:
        """The least epsilon at a delta that a registered formula gives for neighbours; None where there is none."""
        value, registry = self.spec.budget.uniform(), self.entry.registry
        if value is None or value.is_infinite:
            return None
        source = self.spec.output_divergence
        first = source.budget_parameters[0]
        start = source.budget_for(first, source.lipschitz(self.spec.budget.parameter, value))
        return budget_at(registry, source, start, "epsilon", {"delta": delta})


def unit_of(document: SpecDocument, spec: PrivacySpec | None = None) -> str | None:
    """The unit whose change the input divergence of a promise counts, if it names one; by its meaning in the deployment."""
    found = named_unit((spec or document.spec).input_divergence)
    if found is None:
        return None
    return found if document.deployment is None else dict(document.deployment.units).get(found, found)


def one_of(thing: str, document: SpecDocument) -> str:
    """A block in words, followed by the meaning of its units."""
    units = {} if document.deployment is None else dict(document.deployment.units)
    named = [f"a {unit} here is one {words}" for unit, words in units.items() if re.search(rf"\b{re.escape(unit)}\b", thing)]
    return f"{thing}; {', '.join(named)}" if named else thing


def how_of(document: SpecDocument, block: str) -> str:
    """Whether a block is stated, inferred or assumed; *untold* where the file does not say."""
    return next((one.how for one in document.provenance if one.block == block), "untold")


def number_state(expectation: Expectation, spec: PrivacySpec) -> str:
    """What became of a printed number: recomputed, failed, misprint (on file, and it is one), or open."""
    met = expectation.is_met_by(guarded(expectation.route.name, partial(expectation.value, spec)))
    if met is None:
        return "open"
    return "failed" if not met else "recomputed" if expectation.corrected is None else "misprint"


def power_of(spec: PrivacySpec) -> Bracket | None:
    """The largest power of a test at level 5% that a specification allows between two datasets at distance 1 of one universe."""
    value = spec.budget.uniform()
    if value is None:
        return None
    try:
        bound = spec.output_divergence.lipschitz(spec.budget.parameter, value)
        return power_at_step(spec, bound, LEVEL)
    except NoFormulaError:
        return None


# --- choosing -------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class CatalogueFilter:
    """The filter of a list; a criterion that is None accepts every entry.

    Args:
        publisher: a part of the name of a publisher.
        years: the first and the last year of publication.
        unit: the unit of the promise.
        standard: names of output divergences.
        invariants: none, some, or the name of an invariant.
        trust: the trust model.
        verdict: one of VERDICTS, or several.
    """

    publisher: str | None = None
    years: tuple[int, int] | None = None
    unit: str | None = None
    standard: tuple[str, ...] | None = None
    invariants: str | None = None
    trust: str | None = None
    verdict: tuple[str, ...] = ()

    def passes(self, entry: CatalogueEntry) -> bool:
        """Whether an entry is listed; the verdict is evaluated last, because it must be computed."""
        made = entry.deployment
        return (
            (self.publisher is None or any(self.publisher.casefold() in name.casefold() for name in made.publisher))
            and (self.years is None or self.years[0] <= made.in_year <= self.years[1])
            and (self.unit is None or folded(self.unit) in [folded(line.unit or "") for line in entry.lines])
            and (self.standard is None or any(line.spec.output_divergence.name in self.standard for line in entry.lines))
            and (self.invariants is None or _has(entry.invariants, self.invariants))
            and (self.trust is None or made.trust == self.trust)
            and (not self.verdict or entry.verdict in self.verdict)
        )


def _has(held: tuple[str, ...] | None, wanted: str) -> bool:
    if wanted in ("none", "some"):
        return (held == ()) == (wanted == "none")
    return wanted in (held or ())


def years(text: str) -> tuple[int, int]:
    """A year, or a first and a last one.

    >>> years("2020"), years("2019-2021")
    ((2020, 2020), (2019, 2021))
    """
    found = re.fullmatch(r"([0-9]{4})(?:-([0-9]{4}))?", text)
    if found is None or (found[2] or found[1]) < found[1]:
        raise ParameterError("year", "must be a year, or a first and a last one", "write 2020, or 2019-2021", value=text)
    return int(found[1]), int(found[2] or found[1])


def catalogue_of(documents: Iterable[SpecDocument], registry: Registry) -> tuple[CatalogueEntry, ...]:
    """The entries among files: those that say which deployment they describe."""
    return tuple(CatalogueEntry(document, registry) for document in documents if document.deployment is not None)


def chosen(
    entries: Sequence[CatalogueEntry], wanted: CatalogueFilter, progress: Progress | None = None, jobs: int | None = 1
) -> tuple[CatalogueEntry, ...]:
    """The entries that a filter lets pass; their verdicts are computed on the way.

    Args:
        entries: the entries.
        wanted: the filter.
        progress: called with (done, in all).
        jobs: so many processes, of which each has a registry of its own, of all that is installed; None for one for each
            processor where there are many entries.
    """
    asked = [entry for entry in entries if attrs.evolve(wanted, verdict=()).passes(entry)]
    at_once = jobs_for(jobs, len(asked))
    if at_once > 1:
        standings = in_order(standing, [entry.document for entry in asked], at_once, ended_standing)
        for done, (entry, stand) in enumerate(zip(asked, standings, strict=True), 1):
            vars(entry)["standing"] = stand  # where a cached property keeps what it has computed
            if progress is not None:
                progress(done, len(asked))
    found = []
    for done, entry in enumerate(asked, 1):
        assert entry.verdict  # noqa: S101 - computed here, where progress is reported
        if wanted.passes(entry):
            found.append(entry)
        if progress is not None and at_once == 1:
            progress(done, len(asked))
    return tuple(found)


def entry_of(entries: Sequence[CatalogueEntry], id: str) -> CatalogueEntry:
    """The entry of an id.

    Raises:
        UnknownNameError: there is none.
    """
    for entry in entries:
        if entry.id == id:
            return entry
    names = [entry.id for entry in entries]
    raise UnknownNameError("deployment", "is not in the catalogue", did_you_mean(id, names) or "see dpspec catalogue", value=id)


# --- comparing ------------------------------------------------------------------------------------


SpecComparing = Callable[[Any, Any], Comparison]


@attrs.frozen(kw_only=True)
class AtLeastAnswer:
    """Whether a deployment promises at least what another one does.

    Args:
        entry: the deployment.
        answer: implies, does not imply, or unknown, for its five blocks against those of the other.
        reason: why.
        about_other_data: whether the two are about data of which neither is known to be a part of the other.
        rests_on: the blocks of either that are assumptions, on which the answer rests.
        caveats: further reasons why the answer is not one about the two releases.
        claim: the status of the claim of the deployment, and the number of facts it publishes exactly.
    """

    entry: CatalogueEntry
    answer: Answer
    reason: str
    about_other_data: bool
    rests_on: tuple[str, ...]
    caveats: tuple[str, ...]
    claim: str

    @property
    def is_open(self) -> bool:
        """Whether the question has an answer that was not found."""
        return self.answer is Answer.UNKNOWN and not self.about_other_data

    @property
    def word(self) -> str:
        """The answer for a reader."""
        if self.about_other_data and self.answer is not Answer.IMPLIES:
            return "about other data"
        if self.answer is Answer.IMPLIES and self.entry.group == UNRANKED:
            return "yes, but its claim is false, or compares nothing"
        if self.answer is Answer.IMPLIES and (self.rests_on or self.entry.group == OURS):
            return "yes, as far as the assumed blocks are right"
        return {Answer.IMPLIES: "yes", Answer.SEPARATED: "no", Answer.UNKNOWN: "not decided"}[self.answer]

    @property
    def data(self) -> JsonData:
        return {
            "id": self.entry.id,
            "answer": self.answer.value,
            "word": self.word,
            "reason": self.reason,
            "rests_on": list(self.rests_on),
            "caveats": list(self.caveats),
            "group": self.entry.group,
            "claim": self.claim,
        }


AT_LEAST_WORDS = (
    "yes", "yes, as far as the assumed blocks are right", "yes, but its claim is false, or compares nothing", "not decided", "no",
    "about other data",
)  # fmt: skip


def at_least(
    entries: Sequence[CatalogueEntry], target: CatalogueEntry, compare: SpecComparing, progress: Progress | None = None
) -> tuple[AtLeastAnswer, ...]:
    """For each entry whether every mechanism that keeps its promise keeps that of the target, those that do first."""
    found = []
    others = [entry for entry in entries if entry.id != target.id]
    for done, entry in enumerate(others, 1):
        found.append(_against(entry, target, compare))
        if progress is not None:
            progress(done, len(others))
    return tuple(sorted(found, key=lambda one: (AT_LEAST_WORDS.index(one.word), [*GROUPS].index(one.entry.group))))


def _against(entry: CatalogueEntry, target: CatalogueEntry, compare: SpecComparing) -> AtLeastAnswer:
    try:
        direction = compare(entry.document, target.document).forward
        answer, because = direction.answer, _because(direction)
    except DpspecError as fault:  # the blocks of the one mean nothing for the data of the other
        answer, because = Answer.UNKNOWN, f"they cannot be held against each other: {fault}"
    left, right = entry.spec.space, target.spec.space
    apart = left != right and left.includes(right) is None and right.includes(left) is None
    rests = [f"{one.id}: {block.replace('_', ' ')}" for one in (entry, target) for block in one.assumed if block != "mechanism"]
    caveats = [
        f"the promise of {one.id} is {one.words}: what it implies need not be true of the release"
        for one in (entry, target)
        if one.standing.is_false
    ]
    caveats += [f"{one.id} does not cover: {step}" for one in (entry, target) for step in one.document.unaccounted]
    return AtLeastAnswer(
        entry=entry,
        answer=answer,
        reason=because,
        about_other_data=apart,
        rests_on=tuple(rests),
        caveats=tuple(caveats),
        claim=f"claim {entry.status}; exact facts: {_facts(entry.spec)}",
    )


def _because(direction: Direction) -> str:
    """The argument in one line: what a derivation compares, what separates the two, or what is missing."""
    failed = [step.reason for step in direction.steps if step.holds is False]
    open_ = [step for step in direction.steps if step.holds is None]
    if direction.separation is not None:
        differs = failed or [f"another {open_[0].block}"] if failed or open_ else []
        return "; ".join([*differs, "a mechanism that keeps the one promise and breaks the other was found, and checked"])
    if failed or open_:
        return "; ".join([*failed, *(step.reason for step in open_)])
    return "; ".join(step.reason for step in direction.steps) or "the same promise"


@attrs.frozen(kw_only=True)
class UnitGroup:
    """Promises that are per one and the same unit and distance, in the groups of GROUPS.

    Args:
        unit: the unit.
        distance: the input divergence, in words.
        published, ours: those with a number, each group by the largest power of a test.
        unranked: the others in the order of the files, those without a number last.
    """

    unit: str
    distance: str
    published: tuple[PromiseLine, ...]
    ours: tuple[PromiseLine, ...]
    unranked: tuple[PromiseLine, ...]

    @property
    def grouped(self) -> dict[str, tuple[PromiseLine, ...]]:
        """The lines by the name of their group."""
        return {PUBLISHED: self.published, OURS: self.ours, UNRANKED: self.unranked}


def by_unit(entries: Iterable[CatalogueEntry]) -> tuple[UnitGroup, ...]:
    """The entries by unit and distance; two numbers of different groups are about different changes."""
    groups: dict[tuple[str, str], list[PromiseLine]] = {}
    for line in (line for entry in entries for line in entry.lines):
        distance = one_of(thing_in_words(line.spec.input_divergence), line.entry.document)
        groups.setdefault((line.unit or "(none named)", distance), []).append(line)
    return tuple(
        UnitGroup(
            unit=unit,
            distance=distance,
            published=tuple(sorted((one for one in found if one.group == PUBLISHED), key=_strength)),
            ours=tuple(sorted((one for one in found if one.group == OURS), key=_strength)),
            unranked=tuple(sorted((one for one in found if one.group == UNRANKED), key=lambda one: one.power is None)),
        )
        for (unit, distance), found in sorted(groups.items(), key=lambda row: (-len(row[1]), row[0]))
    )


def _strength(line: PromiseLine) -> tuple[Any, str]:
    assert line.power is not None  # noqa: S101 - ensured by the caller
    return line.power.upper, line.name


def by_space(entries: Iterable[CatalogueEntry]) -> tuple[tuple[CatalogueEntry, ...], ...]:
    """The entries whose promises are about one dataset space, together: only those can be ordered as five-tuples."""
    groups: list[list[CatalogueEntry]] = []
    for entry in entries:
        for group in groups:
            if group[0].spec.space == entry.spec.space:
                group.append(entry)
                break
        else:
            groups.append([entry])
    return tuple(map(tuple, groups))


# --- as text --------------------------------------------------------------------------------------


def tally(entries: Sequence[CatalogueEntry]) -> dict[str, int]:
    """How many have each verdict, in the order of VERDICTS."""
    times = Counter(entry.verdict for entry in entries)
    return {verdict: times[verdict] for verdict in VERDICTS if times[verdict]}


def headline_of(entries: Sequence[CatalogueEntry], left_out: int) -> str:
    """The number of entries, and the status of their claims."""
    parts = []
    for verdict in tally(entries):  # those that rest on assumptions, and those that do not
        words_of = Counter(entry.words for entry in entries if entry.verdict == verdict)
        parts += [f"{n} {words}" for words, n in sorted(words_of.items())]
    note = f" ({count(left_out, 'file')} without [deployment] left out)" if left_out else ""
    return f"{count(len(entries), 'deployment')}: {', '.join(parts) or 'none'}{note}"


def list_parts(entries: Sequence[CatalogueEntry], left_out: int = 0) -> PageParts:
    """The table of a catalogue, publisher by publisher."""
    table = _grid("id", "when", "per", "budget", "standard", "exact facts", "verdict")
    table.columns[0].width = min(35, 2 + max((len(entry.id) for entry in entries), default=0))
    for place, least in ((2, 9), (3, 9), (4, 12), (6, 11)):  # the longest words of a unit, a number, a standard, a verdict
        table.columns[place].min_width = least
    table.columns[5].width = 6
    for publisher in sorted({", ".join(entry.deployment.publisher) for entry in entries}, key=str.casefold):
        table.add_row(Text(publisher, "bold"))
        for entry in (entry for entry in entries if ", ".join(entry.deployment.publisher) == publisher):
            made = entry.deployment
            # For a narrow column: without what all standards are, a long word on two lines.
            standard = thing_in_words(entry.spec.output_divergence).replace(" differential privacy", "")
            standard = re.sub(r"(\w{4,}-)(\w{8,})", r"\1\n\2", standard)
            more = f", and {len(entry.document.parts)} more" if entry.document.parts else ""  # promises of the product
            table.add_row(
                f"  {entry.id}",
                str(made.in_year),
                (entry.unit or "") + (f", every {made.period}" if made.period else "") + _mark(entry, "input_divergence"),
                short_budget(entry.spec) + _mark(entry, "budget") + more,
                standard + _mark(entry, "output_divergence"),
                _facts(entry.spec) + _mark(entry, "multiverse"),
                _SHORT.get(entry.verdict, entry.verdict) + entry.suffix,
            )
    legend = (
        "? assumed by the file, no source says it; * inferred from a source; no mark: stated, or its origin is not told. "
        "stand-in: verified for a space or a mechanism that the file assumes; recorded false: filed as refuted, and refuted"
    )
    if any(entry.document.parts for entry in entries):
        legend += ". and N more: further promises of the product, which --yardstick and --format json name"
    return [Text(headline_of(entries, left_out), "bold"), "", table, "", Text(legend, FAINT)]


def _mark(entry: CatalogueEntry, block: str) -> str:
    return {"assumed": " ?", "inferred": " *"}.get(entry.how(block), "")


def _facts(spec: PrivacySpec) -> str:
    """How many facts are published exactly, as far as a file says."""
    held = spec.multiverse.induced_by()
    return "otherwise" if held is None else str(len(held)) if held else "none"


def short_budget(spec: PrivacySpec) -> str:
    """The number with its name, as a decimal that is not below it where it is no short one."""
    value = spec.budget.uniform()
    if value is None or spec.budget.bounds() is not None:
        return budget_in_words(spec.budget)
    words = number_in_words(value)
    return f"{spec.budget.parameter} {f'at most {exact.rounded_up(value, 6)}' if 'about' in words else words}"


def _grid(*heads: str) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for _ in heads:
        table.add_column(overflow="fold")
    table.add_row(*(Text(head, FAINT) for head in heads))
    return table


def list_csv(entries: Sequence[CatalogueEntry]) -> str:
    """One line for each, with lists joined by semicolons, to be opened in a spreadsheet: no text of a file is a formula there."""
    rows = [{key: no_formula(value) for key, value in _flat(entry.data).items()} for entry in entries]
    file = io.StringIO()
    writer = csv.DictWriter(file, fieldnames=list(rows[0]) if rows else ["id"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().rstrip("\n")


_FORMULA = re.compile(r"\s*[=+\-@]")
_NUMBER = re.compile(r"[+-]?[0-9][0-9,]*(\.[0-9]+)?([eE][+-]?[0-9]+)?(/[0-9]+)?")


def no_formula(value: Any) -> Any:
    """A cell that a spreadsheet does not run as a formula: an apostrophe before a text that begins like one; numbers stay.

    The lists that people open have texts of files that others wrote. Tables of data are never changed so: their categories have
    to be those of the data.

    >>> [no_formula(value) for value in ("=A1", "@SUM(A1)", "-1+1", "-1.5", "+3", "-1/2", -2, "a=b")]
    ["'=A1", "'@SUM(A1)", "'-1+1", '-1.5', '+3', '-1/2', -2, 'a=b']
    """
    if not isinstance(value, str) or not _FORMULA.match(value) or _NUMBER.fullmatch(value):
        return value
    return f"'{value}"


def _flat(data: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in data.items():
        if key == "power_at_level_5_percent":
            flat[key] = "" if value is None else end_in_words(exact.number(value["upper"]), 6, up=True)
        elif isinstance(value, Mapping):
            flat |= {f"{key}_{inner}": entry for inner, entry in value.items()}
        else:
            flat[key] = "; ".join(value) if isinstance(value, list) else "" if value is None else value
    return {key: " ".join(value.split()) if isinstance(value, str) else value for key, value in flat.items()}


def at_least_parts(found: Sequence[AtLeastAnswer], target: CatalogueEntry) -> PageParts:
    """The answers, those that promise at least as much first."""
    times = Counter(one.word for one in found)
    counts = ", ".join(f"{times[word]} {word}" for word in AT_LEAST_WORDS if times[word])
    parts: list[RenderableType] = [
        Text(f"Which promise at least what {target.id} does? {counts or 'there are no others'}", "bold"),
        Text("yes: every mechanism that keeps the promise keeps that of the other, whatever else it does", FAINT),
        "",
    ]
    for word in AT_LEAST_WORDS:
        rows = [one for one in found if one.word == word]
        if not rows:
            continue
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for one in rows:
            other = word == "about other data"
            lines = [one.claim, "neither of the two dataset spaces is part of the other" if other else one.reason]
            if word.startswith(("yes", "not", "no")) and one.rests_on:
                lines.append(f"rests on what the files assume: {', '.join(one.rests_on)}")
            table.add_row(f"  {one.entry.id}", "\n".join([*lines, *(() if other else one.caveats)]))
        parts += [Text(word, "bold"), table, ""]
    return parts


def yardstick_parts(groups: Sequence[UnitGroup], delta: str | None) -> PageParts:
    """The groups, each from the strongest promise to the weakest."""
    parts: list[RenderableType] = [
        Text("The largest power of a test at level 5% between two datasets at distance 1 of one universe", "bold"),
        Text("Numbers of two groups are about different changes, and do not compare. Without a release the power is 5%.", FAINT),
        Text("What is published exactly is known in addition. The total of a budget that renews is not included.", FAINT),
    ]
    for group in groups:
        parts += ["", Text(f"{group.unit}: {group.distance}", "bold")]
        for name, lines in group.grouped.items():
            ranked = name != UNRANKED
            at = [f"epsilon at {delta}"] if delta and ranked else []
            table = _grid("promise", *(["power"] if ranked else []), *at, "budget", "again after", "exact facts", "claim")
            for line in lines:
                shown = [power_in_words(line.power)] if ranked else []
                if at and delta is not None:
                    shown.append("no formula" if (found := line.epsilon(delta)) is None else at_most_in_words(found.upper))
                period = line.entry.deployment.period or ""
                table.add_row(line.name, *shown, line.budget, period, _facts(line.spec), line.entry.status)
            parts += [Text(GROUPS[name], FAINT), table] if lines else []
    return parts


def yardstick_data(groups: Sequence[UnitGroup], delta: str | None) -> list[JsonData]:
    """The same as data."""
    return [
        {
            "unit": group.unit,
            "distance": group.distance,
            "promises": [
                {
                    "id": line.entry.id,
                    "promise": line.name,
                    "power_at_level_5_percent": None if line.power is None else bracket_data(line.power),
                    "epsilon": None if delta is None or (at := line.epsilon(delta)) is None else bracket_data(at),
                    "period": line.entry.deployment.period,
                    "group": name,
                    "budget": line.budget,
                    "claim": line.entry.status,
                    "exact_facts": _facts(line.spec),
                }
                for name, lines in group.grouped.items()
                for line in lines
            ],
        }
        for group in groups
    ]


def orders_text(found: Sequence[Order], groups: Sequence[Sequence[CatalogueEntry]]) -> str:
    """The order of each group that is about one dataset space; those that are about a space of their own by name."""
    together = [group for group in groups if len(group) > 1]
    pages = []
    for order, group in zip(found, together, strict=True):
        assumed = [f"{entry.id} ({', '.join(entry.assumed)})" for entry in group if entry.assumed]
        note = f"\nRests on what the files assume: {'; '.join(assumed)}" if assumed else ""
        pages.append(printed(order) + note)
    alone = [group[0].id for group in groups if len(group) == 1]
    if alone:
        pages.append(f"About a dataset space that no other one here is about: {', '.join(alone)}")
    return "\n\n".join(pages)


def orders_data(found: Sequence[Order], groups: Sequence[Sequence[CatalogueEntry]]) -> JsonData:
    """The same as data."""
    together = [group for group in groups if len(group) > 1]
    return {
        "orders": [order_data(order, [entry.document for entry in group]) for order, group in zip(found, together, strict=True)],
        "alone": [group[0].id for group in groups if len(group) == 1],
    }


def ledger_notes(entries: Sequence[CatalogueEntry]) -> list[str]:
    """What a sum over deployments rests on, and what it is a sum of."""
    notes = ["Whether these are about the same people is up to you: no file states it."]
    for entry in entries:
        blocks = [block.replace("_", " ") for block in entry.assumed]
        notes += [f"{entry.id}: assumed by its file: {', '.join(blocks)}"] if blocks else []
        notes += [f"{entry.id} does not cover: {step}" for step in entry.document.unaccounted]
    return notes


def check_delta(delta: str | None) -> None:
    """Refuse a delta that is none.

    Raises:
        ParameterError: it is no number in (0, 1).
    """
    if delta is not None:
        Rational(0, 1, open_low=True, open_high=True).read(delta, "delta")
