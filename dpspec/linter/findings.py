"""Every kind of finding, and the look for all of them in every file.

Findings are about the five blocks and the mechanism, about printed numbers, and about ledgers whose parts are files of their own:
a part and the file of the same id say the same thing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from dpspec.base.errors import DpspecError, LibraryError, MixedLedgerError, NotAFileError
from dpspec.base.exact import Bracket
from dpspec.base.jobs import FEW_LINTED, in_order, jobs_for
from dpspec.base.memo import memoize
from dpspec.base.params import each, parameters
from dpspec.blocks.invariant import Invariant, Marginal
from dpspec.blocks.multiverse import Trivial, determines
from dpspec.blocks.parts import nesting_of
from dpspec.blocks.space import DatasetSpace
from dpspec.blocks.units import nearest_unit, read_unit
from dpspec.extension import Registry, installed
from dpspec.grammar.rule import Conversion
from dpspec.grammar.spec import PrivacySpec, check_kinds, compares_sizes
from dpspec.linter.finding import Finding, LintContext, Linted, Seen, Severity, declared_findings, finding
from dpspec.risks.candidates import candidates_within
from dpspec.risks.exposure import exposed_records
from dpspec.specfile.deployment import BLOCKS
from dpspec.specfile.document import Expectation, SpecDocument
from dpspec.specfile.maker import FilePositions
from dpspec.specfile.reader import load_text, parse, read_text, spec_files
from dpspec.specfile.table_input import given_table
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.miniatures import exchanged, grown
from dpspec.verifier.verdict import Outcome

LISTED = 2000
"""A space of more datasets than this is not listed in search of two that are compared."""
MOST_EXPOSED = Fraction(1, 100)
"""From this share of the records on, what exact tables determine is a finding."""
RAISED = 200
"""The sizes of miniatures with at most so many datasets are raised."""


@finding("vacuous", Severity.ERROR)
def vacuous(file: Linted, _: LintContext) -> Iterator[Seen]:
    """No universe of a small space has two datasets at finite distance: the claim is vacuous, and every mechanism satisfies
    it."""
    document = file.document
    instances = [(f"miniature[{place}].space", m.title, m.spec) for place, m in enumerate(document.miniatures)]
    for path, what, spec in instances or [("multiverse", "the specification", document.spec)]:
        size = spec.space.cardinality()
        if size is None or size > LISTED:
            continue
        universes = (universe.datasets for universe in spec.multiverse.universes(spec.space))
        pairs = (pair for datasets in universes for pair in itertools.permutations(datasets, 2))
        if not all(spec.distance(left, right).is_infinite for left, right in pairs):
            continue
        yield Seen(
            path=path,
            message=f"no universe of {what} has two datasets at finite distance: every mechanism satisfies it",
            advice="take a larger space, fewer invariants, or another distance",
        )


@finding("exposed-records", Severity.WARNING, needs_table=True)
def exposed_by_exact_tables(file: Linted, context: LintContext) -> Iterator[Seen]:
    """The tables that are published exactly determine all attributes of at least 1 % of the records, whatever the mechanism does.

    Every table of their universe has the same number of records of these kinds, so that who reads the exact tables knows them.
    Asked with `--table` alone.
    """
    document = file.document
    if context.table is None or not (document.spec.space.units and document.spec.multiverse.induced_by()):
        return
    given = given_table(context.table, document, document.spec.space.units[0], context.registry, _unseen)
    found = exposed_records(document.spec, given)
    if found.share >= MOST_EXPOSED:
        yield Seen(
            path="multiverse", message=str(found),
            advice="publish coarser tables exactly, or explain it in [[explained]]; dpspec exposure lists what it discloses",
        )  # fmt: skip


def _unseen(done: int, total: int) -> None:
    """Ignore progress."""


@finding("no-such-pair", Severity.WARNING)
def no_such_pair(file: Linted, _: LintContext) -> Iterator[Seen]:
    """No universe has two datasets at distance 1: what the budget seems to say about one change belongs to no pair.

    One change alone would alter what is published exactly, so that whoever knows all the rest knows it for certain. Under a fixed
    total only even numbers of positions differ; where swapping publishes both margins, two households change or none. The number
    that does hold is the budget times the least distance that occurs.
    """
    spec = file.document.spec
    if not spec.multiverse.induced_by():
        return
    try:
        found = candidates_within(spec, 1)
    except DpspecError:  # no two datasets are so near at all, or budgets differ by universe: another matter
        return
    if found.distinguishing and found.bound is None and not found.unpromised:
        because = f" ({found.reason})" if found.reason else ""
        yield Seen(
            path="budget",
            message=f"no universe has two datasets at distance 1{because}: one change alone shows in {found.publications}",
            advice="say at which distance the nearest datasets of a universe are, and explain it in [[explained]]",
        )


@finding("exchanged-block", Severity.ERROR)
def exchanged_block(file: Linted, _: LintContext) -> Iterator[Seen]:
    """A miniature has a block that is not the claimed one: what it tests is another claim, and the one on file is never checked.

    A miniature lowers sizes of the space: records, members, categories, blocks, coordinates. All else is inherited.
    """
    for place, miniature in enumerate(file.document.miniatures):
        for block in exchanged(file.document, miniature):
            path = f"miniature[{place}].{block}"
            yield Seen(
                path=path,
                message=f"{path} is another one than the claim is about, so that the claim on file is not checked",
                advice="leave it out, or state it in the file itself" if block != "space" else "lower sizes of the space only",
            )


@finding("growing-size", Severity.ERROR)
def growing_size(file: Linted, context: LintContext) -> Iterator[Seen]:
    """The constant grows with a size that a miniature lowers: the size enters the sensitivity, and the miniature hides it.

    The sizes of miniatures with few datasets are raised, as `dpspec verify` raises them.
    """
    document = file.document
    for place, miniature in enumerate(document.miniatures):
        size = miniature.spec.space.cardinality()
        if miniature.mechanism is None or size is None or size > RAISED or exchanged(document, miniature):
            continue
        try:
            found = verify(miniature.mechanism, miniature.spec, registry=context.registry)
        except DpspecError:
            continue
        if found.outcome is not Outcome.VERIFIED:
            continue
        lines = grown(found, miniature.spec, miniature.mechanism, document.spec.space)
        for line in (line for line in lines if line.grows):
            yield Seen(
                path=f"miniature[{place}].space",
                message=f"{line.size} enters the sensitivity, and the miniature lowers it ({line})",
                advice=f"take a miniature with the claimed {line.size}, or state the bound for the {line.size} it has",
            )


@finding("fixed-invariant", Severity.WARNING)
def fixed_invariant(file: Linted, _: LintContext) -> Iterator[Seen]:
    """An invariant costs nothing: the distance already fixes it, or the other invariants do.

    It makes the list of what is published longer, and no universe smaller: datasets that differ in it are never compared anyway.
    """
    spec = file.document.spec
    held = spec.multiverse.induced_by() or ()
    totals = _fixed_totals(spec)
    for place, invariant in enumerate(held):
        others = tuple(other for other in held if other != invariant)
        for known, who in _ways(totals, others):
            reason = _determined((*totals, *known), invariant, spec.space)
            if reason is not None:
                yield Seen(
                    path=f"multiverse.invariants[{place}]",
                    message=f"{invariant} is already fixed by {who}: {reason}",
                    advice="leave it out, or explain in [[explained]] why it is listed",
                )
                break


def _ways(totals: tuple[Invariant, ...], others: tuple[Invariant, ...]) -> Iterator[tuple[tuple[Invariant, ...], str]]:
    if totals:
        yield (), "the distance"
    yield others, "the distance and the other invariants" if totals else "the other invariants"


def _fixed_totals(spec: PrivacySpec) -> tuple[Invariant, ...]:
    """The number of records of the counted unit, when datasets of different size are at infinite distance."""
    unit = spec.input_divergence.counted_unit()
    if unit is None or compares_sizes(spec.replace(multiverse=Trivial())) is not False:
        return ()
    return (Marginal(unit=unit, attributes=()),)


@memoize(maxsize=1024)
def _determined(known: tuple[Invariant, ...], invariant: Invariant, space: DatasetSpace) -> str | None:
    """The reason why the known invariants determine another one; cached, since the files of one collection share their blocks."""
    try:
        found = determines(known, (invariant,), space)
    except DpspecError:
        return None
    return found.reason if found.answer is True else None


@finding("unit-of-product", Severity.ERROR)
def unit_of_product(file: Linted, _: LintContext) -> Iterator[Seen]:
    """The mechanism reads records of a larger unit than the budget counts: household tables under a budget per person.

    The larger unit may change at distance 0, as a vacant housing unit does when persons are counted.
    """
    document = file.document
    instances = [("mechanism", document.spec, document.mechanism)]
    instances += [(f"miniature[{place}].mechanism", m.spec, m.mechanism) for place, m in enumerate(document.miniatures)]
    for path, spec, mechanism in instances:
        counted = spec.input_divergence.counted_unit()
        if counted is None or mechanism is None:
            continue
        held, units = spec.multiverse.induced_by() or (), spec.space.units
        for unit in sorted(set(_units(mechanism, held)) & set(units)):
            is_larger = counted in units and units.index(unit) < units.index(counted)
            if is_larger and nesting_of(spec.space).most_changed(unit, counted) is None:
                yield Seen(
                    path=path,
                    message=f"the mechanism reads {unit} records, and a {unit} may change while no {counted} does",
                    advice=f"state a budget per {unit} for what is read per {unit}",
                )


def _units(thing: Any, held: tuple[Invariant, ...]) -> Iterator[str]:
    """Every unit that an object or its parameters name, except those of invariants, which are published anyway."""
    if thing in held:
        return
    if isinstance(thing, tuple):
        for entry in thing:
            yield from _units(entry, held)
        return
    declared = parameters(type(thing)) if not isinstance(thing, (str, int)) else ()
    for parameter in declared:
        value = getattr(thing, parameter.name)
        if parameter.name == "unit" and isinstance(value, str):
            yield value
        else:
            yield from _units(value, held)


# --- statements other than the claim --------------------------------------------------------------


@finding("assumed-block", Severity.WARNING)
def assumed_block(file: Linted, _: LintContext) -> Iterator[Seen]:
    """A block is assumed: no source states it, and what is found of the file rests on the assumption.

    Most sources leave open whether neighbours differ by one record more or by one record replaced.
    """
    for one in file.document.assumed:
        yield Seen(
            path=f"provenance.{one.block}",
            message=f"{one}",
            advice="find a source that states it, or explain in [[explained]] that it stays open",
        )


@finding("no-provenance", Severity.WARNING)
def no_provenance(file: Linted, _: LintContext) -> Iterator[Seen]:
    """A file about a deployment does not say of a block whether the source states it or whoever wrote the file chose it."""
    document = file.document
    if document.deployment is None:
        return
    said = {one.block for one in document.provenance}
    asked = [block for block in BLOCKS if block != "mechanism" or document.mechanism is not None]
    missing = [block for block in asked if block not in said]
    if missing:
        yield Seen(
            path="provenance" if said else "deployment",
            message=f"the file does not say where it has {', '.join(missing)} from",
            advice="add to [provenance] how each is known: stated, inferred or assumed",
        )


@finding("no-number", Severity.WARNING)
def no_number(file: Linted, _: LintContext) -> Iterator[Seen]:
    """No number of the budget is published that anybody could rely on: the other four blocks promise nothing by themselves."""
    missing = file.document.spec.budget.unpublished()
    if missing is not None:
        yield Seen(path="budget", message=missing, advice="ask the publisher, or explain in [[explained]] that there is none")


@finding("unknown-unit", Severity.WARNING)
def unknown_unit(file: Linted, _: LintContext) -> Iterator[Seen]:
    """A unit has a word that the vocabulary lacks: perhaps a misprint, as `user-dya`, that would pass for a unit of its own."""
    spec = file.document.spec
    named = {"space": spec.space.units, "input_divergence": (spec.input_divergence.counted_unit(),)}
    seen: set[str] = set()
    for block, units in named.items():
        for unit in (unit for unit in units if unit is not None and unit not in seen):
            seen.add(unit)
            for word in read_unit(unit).unknown:
                near = nearest_unit(word)
                yield Seen(
                    path=f"{block}.unit",
                    message=f"{word} is no unit of the vocabulary" + (f": {near} is" if near else ""),
                    advice="correct it, or explain in [[explained]] what it is",
                )


@finding("renewing-budget", Severity.WARNING)
def renewing_budget(file: Linted, _: LintContext) -> Iterator[Seen]:
    """The budget is renewed after some time, and the unit does not name a time: what is promised to a person is promised for
    each period anew, so that the number grows with every one of them."""
    deployment, unit = file.document.deployment, file.document.spec.input_divergence.counted_unit()
    if deployment is None or deployment.period is None or unit is None or read_unit(unit).time is not None:
        return
    if deployment.release != "one":
        yield Seen(
            path="deployment.period",
            message=f"the budget is renewed after each {deployment.period}, and the unit is {unit}, without a time",
            advice=f"state the promise for {unit}-{deployment.period.replace(' ', '-')}, or explain it in [[explained]]",
        )


@finding("unaccounted-step", Severity.WARNING)
def unaccounted_step(file: Linted, _: LintContext) -> Iterator[Seen]:
    """A step that was applied to the data or to the release, and that the guarantee does not cover."""
    for place, one in enumerate(file.document.unaccounted):
        yield Seen(
            path=f"unaccounted[{place}]",
            message=f"the guarantee does not cover: {one}",
            advice="count the step in the budget, publish what it keeps as an invariant, or explain it in [[explained]]",
        )


# --- printed numbers ------------------------------------------------------------------------------


def _expectations(document: SpecDocument) -> Iterator[tuple[str, Expectation, Bracket]]:
    """The printed numbers with their paths and their recomputed values, where they have one."""
    for place, expectation in enumerate(document.expectations):
        try:
            yield f"expect[{place}]", expectation, expectation.value(document.spec)
        except DpspecError:
            continue


@finding("does-not-recompute", Severity.ERROR)
def does_not_recompute(file: Linted, _: LintContext) -> Iterator[Seen]:
    """A printed number is not what its route gives. An erratum on record (`corrected = ...`) is explained by its `because`."""
    for path, expectation, value in _expectations(file.document):
        if expectation.is_near(expectation.printed, value) is not False:
            continue
        name, printed, found = expectation.parameter, expectation.printed.decimal(8), value.lower.decimal(8)
        on_record = expectation.corrected is not None and expectation.is_met_by(value) is True
        yield Seen(
            path=path,
            message=f"{name} = {printed} is printed for {expectation.what}; {expectation.route.name} gives {found}",
            advice="correct the number, or put the erratum on record: corrected = ... with its reason",
            explained=expectation.because if on_record else None,
        )


@finding("several-deltas", Severity.WARNING)
def several_deltas(file: Linted, _: LintContext) -> Iterator[Seen]:
    """A file gives values of epsilon at different deltas, which a reader will compare. Quote all at one delta."""
    document, seen = file.document, dict[Fraction, str]()
    if document.spec.budget.parameter == "epsilon":
        own = getattr(document.spec.output_divergence, "delta", None)
        if own:
            seen[own] = "the budget"
    for place, expectation in enumerate(document.expectations):
        delta = getattr(expectation.route, "delta", None)
        if expectation.parameter != "epsilon" or not isinstance(delta, Fraction):
            continue
        if seen and delta not in seen:
            first, what = next(iter(seen.items()))
            yield Seen(
                path=f"expect[{place}]",
                message=f"epsilon is at delta = {_short(delta)} for {expectation.what}, and at {_short(first)} for {what}",
                advice="quote every epsilon of a file at one delta",
            )
        seen.setdefault(delta, expectation.what)


def _short(delta: Fraction) -> str:
    return f"{float(delta):g}"


@finding("constant-for-budget", Severity.WARNING)
def constant_for_budget(file: Linted, _: LintContext) -> Iterator[Seen]:
    """A number that bears the name of the budget is the constant that multiplies d_X instead: sqrt(rho) printed as rho."""
    spec = file.document.spec
    value = spec.budget.uniform()
    if value is None:
        return
    constant = spec.output_divergence.lipschitz(spec.budget.parameter, value)
    if constant == value:
        return
    for place, expectation in enumerate(file.document.expectations):
        same = expectation.parameter == spec.budget.parameter
        if same and expectation.is_near(expectation.printed, Bracket.exactly(constant)):
            name, printed = expectation.parameter, expectation.printed.decimal()
            yield Seen(
                path=f"expect[{place}]",
                message=f"{name} = {printed} is printed; the budget is {name} = {value.decimal()}, and {printed} multiplies d_X",
                advice="print the budget, or give the constant another name",
            )


@finding("looser-conversion", Severity.WARNING)
def looser_conversion(file: Linted, context: LintContext) -> Iterator[Seen]:
    """A number is converted by a formula that another one beats for the same budget, and the file does not say so.

    So 17.90 and 17.14 are printed for one rho. Say in `[[explained]]` why the looser formula is used.
    """
    # Those that need not know the mechanism: the file may say nothing of it.
    known = (rule for rule in context.registry.classes("rules") if issubclass(rule, Conversion) and rule.mechanism is None)
    rules = tuple(rule() for rule in known)
    for path, expectation, value in _expectations(file.document):
        question = expectation.route.question(file.document.spec)
        if question is None or not value.upper > 0:
            continue
        best: tuple[Bracket, str] | None = None
        for rule in rules:
            if (rule.source, rule.target) != (question.source.name, question.goal.name):
                continue
            found = rule.convert(question.source, question.value, question.goal)
            if found is not None and found.upper < value.lower and (best is None or found.upper < best[0].upper):
                best = found, rule.name
        if best is not None:
            name = expectation.parameter
            yield Seen(
                path=path,
                message=f"{expectation.route.name} gives {name} = {value.upper.decimal()} for {expectation.what}, "
                f"and {best[1]} gives {best[0].upper.decimal()} for the same budget",
                advice="use the better formula, or explain in [[explained]] why not",
            )


# --- ledgers --------------------------------------------------------------------------------------


@finding("part-differs", Severity.ERROR)
def part_differs(file: Linted, context: LintContext) -> Iterator[Seen]:
    """A part of a ledger has another number than the file of the same id, linted with it, or is another kind of number."""
    ledger = file.document.ledger
    for place, part in enumerate(ledger.parts if ledger else ()):
        other = context.others.get(part.id)
        if other is None or ledger is None:
            continue
        stated = other.document.spec.budget
        value = stated.uniform()
        if stated.parameter != ledger.parameter or value != part.amount:
            said = stated if value is None else f"{stated.parameter} = {value.plain()}"
            yield Seen(
                path=f"ledger.parts[{place}]",
                message=f"{part.id} has {ledger.parameter} = {part.amount.plain()} here, and {said} in its own file",
                advice="state one number; dpspec ledger says what a part spends in the common blocks",
            )


@finding("mixed-neighbours", Severity.ERROR)
def mixed_neighbours(file: Linted, context: LintContext) -> Iterator[Seen]:
    """Bounded and unbounded neighbours in one ledger: some parts compare datasets of different size, others never do.

    A replaced record is one removed and one added, so the numbers of the two kinds do not add up directly.
    """
    ledger = file.document.ledger
    if ledger is None:
        return
    own = [context.others[part.id].document for part in ledger.parts if part.id in context.others]
    try:
        if own:
            check_kinds([(document.id, document.spec) for document in (*own, file.document)])
    except MixedLedgerError as fault:
        yield Seen(path="ledger", message=fault.rule, advice=fault.advice)


@finding("observed-categories", Severity.WARNING)
def observed_categories(file: Linted, _: LintContext) -> Iterator[Seen]:
    """Categories, ranges or a nesting were read off the confidential table: which values occur is a fact about the people in it.

    A specification is published, and its space is to be chosen without looking at the data: a category with one record in it
    tells that there is such a record. What was there before the data, such as a classification or a codebook, tells nothing.
    """
    layout = file.document.layout
    if layout is not None and layout.observed:
        shown = ", ".join(layout.observed[:5]) + (f" and {len(layout.observed) - 5} more" if len(layout.observed) > 5 else "")
        yield Seen(
            path="table.observed",
            message=f"the space of {shown} was read off the table, and is published with this file",
            advice="take the categories from a codebook, and the names out of `observed`",
        )


# --- the look -------------------------------------------------------------------------------------


EXPLAINS_NOTHING = "explains-nothing"
"""The code of an explanation without a finding."""


def lint(
    paths: Sequence[str | Path], registry: Registry, table: str | None = None, *, jobs: int | None = 1
) -> tuple[Finding, ...]:  # fmt: skip
    """Every finding in the specification files that paths mean, file by file and line by line.

    A file that cannot be read has its faults for findings, under their own codes.

    Args:
        paths: files, or directories that stand for their specification files.
        registry: what the names in the files mean.
        table: the confidential table that all files are about, for the findings that need one.
        jobs: so many processes, of which each has a registry of its own, of all that is installed; None for one for each
            processor where there are many files. A file that ends its process has this for a finding.

    Raises:
        SpecFileError: a path does not exist, or a directory holds no file.
        TableError: the table cannot be read, or does not fit the space of a file.
        PluginError and its kin: a plugin that a file needs has failed.
    """
    files = list(dict.fromkeys(file for path in paths for file in spec_files(path)))
    at_once = jobs_for(jobs, len(files), FEW_LINTED)
    look = partial(_of_file, registry=registry if at_once == 1 else None, table=table)
    found: list[Finding] = []
    looked: list[_OfFile] = []
    for file, one in zip(files, in_order(look, files, at_once, _ended), strict=True):
        if isinstance(one, _OfFile):
            looked.append(one)
        else:
            found += [one] if isinstance(one, Finding) else _faults(one, str(file))
    by_id = {one.linted.document.id: one.linted for one in looked}
    for one in looked:
        found += one.found if one.found is not None else _all_findings(one.linted, registry, table, by_id)
    return tuple(sorted(found, key=lambda single: (single.file, single.line, single.code)))


@attrs.frozen
class _OfFile:
    """A file, and the findings in it; None where others are needed for them: it has a ledger, or the look raised an error.

    An error is met again in this process, after those of all files that cannot be read.
    """

    linted: Linted
    found: tuple[Finding, ...] | None


def _of_file(file: Path, registry: Registry | None, table: str | None) -> _OfFile | DpspecError:
    """Look at a file alone; without a registry by that of this process."""
    known = registry or installed().registry
    try:
        text = load_text(file)
        linted = Linted(document=read_text(text, known, str(file)), positions=FilePositions.of(text, parse(text)))
    except DpspecError as fault:
        return fault
    if linted.document.ledger is not None:
        return _OfFile(linted, None)
    try:
        return _OfFile(linted, _all_findings(linted, known, table, {}))
    except DpspecError:
        return _OfFile(linted, None)


def _all_findings(linted: Linted, registry: Registry, table: str | None, by_id: Mapping[str, Linted]) -> tuple[Finding, ...]:
    parts = () if linted.document.ledger is None else linted.document.ledger.parts
    others = {part.id: by_id[part.id] for part in parts if part.id in by_id}
    return tuple(_findings(linted, LintContext(registry=registry, others=others, table=table)))


def _ended(file: Path) -> Finding:
    """The finding about a file whose process was ended."""
    return Finding(
        code=LibraryError.code, severity=Severity.ERROR, file=str(file), line=1,
        message="a library, or the system, ended the process that checked this file",
        advice="check it alone with --jobs 1, or free memory",
    )  # fmt: skip


def _faults(fault: DpspecError, file: str) -> Iterator[Finding]:
    for single in each(fault):
        if isinstance(single, NotAFileError) or single.exit_code == 4:  # the fault of a plugin says nothing about the file
            raise fault
        yield Finding(
            code=single.code,
            severity=Severity.ERROR,
            file=file,
            line=single.line or 1,
            message=": ".join((single.subject, single.rule)),
            advice=single.advice,
        )


def _findings(linted: Linted, context: LintContext) -> Iterator[Finding]:
    explained = {explanation.finding: explanation.because for explanation in linted.document.explained}
    met = set()
    unasked = {declared.code for declared in declared_findings() if declared.needs_table and context.table is None}
    for declared in declared_findings():
        if declared.code in unasked:
            continue
        for seen in declared.look(linted, context):
            met.add(declared.code)
            yield Finding(
                code=declared.code,
                severity=declared.severity,
                file=str(linted.document.path),
                line=linted.positions.nearest(seen.path),
                message=seen.message,
                advice=seen.advice,
                explained=explained.get(declared.code) if seen.explained is None else seen.explained,
            )
    for place, explanation in enumerate(linted.document.explained):
        if explanation.finding not in met | unasked:
            yield Finding(
                code=EXPLAINS_NOTHING,
                severity=Severity.WARNING,
                file=str(linted.document.path),
                line=linted.positions.nearest(f"explained[{place}]"),
                message=f"{explanation.finding} is explained, and nothing of the kind is found",
                advice="take the explanation out, or correct its code",
            )
