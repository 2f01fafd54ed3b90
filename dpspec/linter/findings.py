"""Findings about the five blocks, the mechanism, and statements of a file other than its claim."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from dpspec.base.errors import DpspecError, WorkLimitError
from dpspec.base.memo import memoize
from dpspec.base.params import parameters
from dpspec.base.work import limited
from dpspec.blocks.invariant import Invariant, Marginal
from dpspec.blocks.multiverse import Trivial, determines
from dpspec.blocks.parts import nesting_of
from dpspec.blocks.space import DatasetSpace
from dpspec.blocks.units import nearest_unit, read_unit
from dpspec.grammar.declarations import check_declared
from dpspec.grammar.spec import PrivacySpec, compares_sizes
from dpspec.linter.finding import LintContext, LintedFile, Observation, Severity, finding
from dpspec.risks.candidates import candidates_within
from dpspec.risks.exposure import exposed_records
from dpspec.specfile.deployment import BLOCKS
from dpspec.specfile.table_input import given_table
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.miniatures import exchanged, grown
from dpspec.verifier.verdict import Outcome

LISTED = 2000
"""A space of more datasets than this is not listed in search of two that are compared."""
MOST_EXPOSED = Fraction(1, 100)
"""From this share of the records on, what exact tables determine is a finding."""
MOST_OF_INVARIANTS = 4_000_000
"""Units of work (`dpspec.base.work`), about a microsecond each, in which the invariants of a file are held against each other."""
RAISED = 200
"""The sizes of miniatures with at most so many datasets are raised."""


@finding("vacuous", Severity.ERROR)
def vacuous(file: LintedFile, _: LintContext) -> Iterator[Observation]:
    """No universe of a small space has two datasets at finite distance: the claim is vacuous, and every mechanism satisfies
    it."""
    document = file.document
    instances = [(f"miniature[{place}].space", m.title, m.spec) for place, m in enumerate(document.miniatures)]
    for path, what, spec in instances or [("multiverse", "the specification", document.spec)]:
        size = spec.space.cardinality()
        if size is None or size > LISTED:
            continue
        check_declared(spec)
        universes = (universe.datasets for universe in spec.multiverse.universes(spec.space))
        pairs = (pair for datasets in universes for pair in itertools.permutations(datasets, 2))
        if not all(spec.distance(left, right).is_infinite for left, right in pairs):
            continue
        yield Observation(
            path=path,
            message=f"no universe of {what} has two datasets at finite distance: every mechanism satisfies it",
            advice="take a larger space, fewer invariants, or another distance",
        )


@finding("exposed-records", Severity.WARNING, needs_table=True)
def exposed_by_exact_tables(file: LintedFile, context: LintContext) -> Iterator[Observation]:
    """The tables that are published exactly determine all attributes of at least 1 % of the records, whatever the mechanism does.

    Every table of their universe has the same number of records of these kinds, so that who reads the exact tables knows them.
    Asked with `--table` alone.
    """
    document = file.document
    if context.table is None or not (document.spec.space.units and document.spec.multiverse.induced_by()):
        return
    given = given_table(context.table, document, document.spec.space.units[0], context.registry, lambda *_: None)
    found = exposed_records(document.spec, given)
    if found.share >= MOST_EXPOSED:
        yield Observation(
            path="multiverse", message=str(found),
            advice="publish coarser tables exactly, or explain it in [[explained]]; dpspec exposure lists what it discloses",
        )  # fmt: skip


@finding("no-such-pair", Severity.WARNING)
def no_such_pair(file: LintedFile, _: LintContext) -> Iterator[Observation]:
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
        yield Observation(
            path="budget",
            message=f"no universe has two datasets at distance 1{because}: one change alone shows in {found.publications}",
            advice="say at which distance the nearest datasets of a universe are, and explain it in [[explained]]",
        )


@finding("exchanged-block", Severity.ERROR)
def exchanged_block(file: LintedFile, _: LintContext) -> Iterator[Observation]:
    """A miniature has a block that is not the claimed one: what it tests is another claim, and the one on file is never checked.

    A miniature lowers sizes of the space: records, members, categories, blocks, coordinates. All else is inherited.
    """
    for place, miniature in enumerate(file.document.miniatures):
        for block in exchanged(file.document, miniature):
            path = f"miniature[{place}].{block}"
            yield Observation(
                path=path,
                message=f"{path} is another one than the claim is about, so that the claim on file is not checked",
                advice="leave it out, or state it in the file itself" if block != "space" else "lower sizes of the space only",
            )


@finding("growing-size", Severity.ERROR)
def growing_size(file: LintedFile, context: LintContext) -> Iterator[Observation]:
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
            yield Observation(
                path=f"miniature[{place}].space",
                message=f"{line.size} enters the sensitivity, and the miniature lowers it ({line})",
                advice=f"take a miniature with the claimed {line.size}, or state the bound for the {line.size} it has",
            )


@finding("fixed-invariant", Severity.WARNING)
def fixed_invariant(file: LintedFile, _: LintContext) -> Iterator[Observation]:
    """An invariant costs nothing: the distance already fixes it, or the other invariants do.

    It makes the list of what is published longer, and no universe smaller: datasets that differ in it are never compared anyway.
    Hundreds of invariants are held against each other as far as a limit of work allows.
    """
    found: list[Observation] = []
    try:
        with limited(MOST_OF_INVARIANTS):
            for one in _fixed_invariants(file.document.spec):
                found.append(one)  # noqa: PERF402 - what is found before the limit stays
    except WorkLimitError:
        held = len(file.document.spec.multiverse.induced_by() or ())
        message = f"{held} invariants were not all held against each other: it exceeds the limit of work, and more may be fixed"
        advice = "state fewer tables, each with more attributes"
        found.append(Observation(path="multiverse.invariants", message=message, advice=advice))
    yield from found


def _fixed_invariants(spec: PrivacySpec) -> Iterator[Observation]:
    held = spec.multiverse.induced_by() or ()
    unit = spec.input_divergence.counted_unit()
    totals: tuple[Invariant, ...] = ()
    # The number of records of the counted unit is fixed where datasets of different size are at infinite distance.
    if unit is not None and compares_sizes(spec.replace(multiverse=Trivial())) is False:
        totals = (Marginal(unit=unit, attributes=()),)
    for place, invariant in enumerate(held):
        others = tuple(other for other in held if other != invariant)
        ways = [((), "the distance"), (others, "the distance and the other invariants")]
        for known, who in ways if totals else [(others, "the other invariants")]:
            reason = _determined((*totals, *known), invariant, spec.space)
            if reason is not None:
                yield Observation(
                    path=f"multiverse.invariants[{place}]",
                    message=f"{invariant} is already fixed by {who}: {reason}",
                    advice="leave it out, or explain in [[explained]] why it is listed",
                )
                break


@memoize(maxsize=1024)
def _determined(known: tuple[Invariant, ...], invariant: Invariant, space: DatasetSpace) -> str | None:
    """The reason why the known invariants determine another one; cached, since the files of one collection share their blocks."""
    try:
        found = determines(known, (invariant,), space)
    except DpspecError:
        return None
    return found.reason if found.answer is True else None


@finding("unit-of-product", Severity.ERROR)
def unit_of_product(file: LintedFile, _: LintContext) -> Iterator[Observation]:
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
                yield Observation(
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
def assumed_block(file: LintedFile, _: LintContext) -> Iterator[Observation]:
    """A block is assumed: no source states it, and what is found of the file rests on the assumption.

    Most sources leave open whether neighbours differ by one record more or by one record replaced.
    """
    for one in file.document.assumed:
        yield Observation(
            path=f"provenance.{one.block}",
            message=f"{one}",
            advice="find a source that states it, or explain in [[explained]] that it stays open",
        )


@finding("no-provenance", Severity.WARNING)
def no_provenance(file: LintedFile, _: LintContext) -> Iterator[Observation]:
    """A file about a deployment does not say of a block whether the source states it or whoever wrote the file chose it."""
    document = file.document
    if document.deployment is None:
        return
    said = {one.block for one in document.provenance}
    asked = [block for block in BLOCKS if block != "mechanism" or document.mechanism is not None]
    missing = [block for block in asked if block not in said]
    if missing:
        yield Observation(
            path="provenance" if said else "deployment",
            message=f"the file does not say where it has {', '.join(missing)} from",
            advice="add to [provenance] how each is known: stated, inferred or assumed",
        )


@finding("no-number", Severity.WARNING)
def no_number(file: LintedFile, _: LintContext) -> Iterator[Observation]:
    """No number of the budget is published that anybody could rely on: the other four blocks promise nothing by themselves."""
    missing = file.document.spec.budget.unpublished()
    if missing is not None:
        advice = "ask the publisher, or explain in [[explained]] that there is none"
        yield Observation(path="budget", message=missing, advice=advice)


@finding("unknown-unit", Severity.WARNING)
def unknown_unit(file: LintedFile, _: LintContext) -> Iterator[Observation]:
    """A unit has a word that the vocabulary lacks: perhaps a misprint, as `user-dya`, that would pass for a unit of its own."""
    spec = file.document.spec
    named = {"space": spec.space.units, "input_divergence": (spec.input_divergence.counted_unit(),)}
    seen: set[str] = set()
    for block, units in named.items():
        for unit in (unit for unit in units if unit is not None and unit not in seen):
            seen.add(unit)
            for word in read_unit(unit).unknown:
                near = nearest_unit(word)
                yield Observation(
                    path=f"{block}.unit",
                    message=f"{word} is no unit of the vocabulary" + (f": {near} is" if near else ""),
                    advice="correct it, or explain in [[explained]] what it is",
                )


@finding("renewing-budget", Severity.WARNING)
def renewing_budget(file: LintedFile, _: LintContext) -> Iterator[Observation]:
    """The budget is renewed after some time, and the unit does not name a time: what is promised to a person is promised for
    each period anew, so that the number grows with every one of them."""
    deployment, unit = file.document.deployment, file.document.spec.input_divergence.counted_unit()
    if deployment is None or deployment.period is None or unit is None or read_unit(unit).time is not None:
        return
    if deployment.release != "one":
        yield Observation(
            path="deployment.period",
            message=f"the budget is renewed after each {deployment.period}, and the unit is {unit}, without a time",
            advice=f"state the promise for {unit}-{deployment.period.replace(' ', '-')}, or explain it in [[explained]]",
        )


@finding("unaccounted-step", Severity.WARNING)
def unaccounted_step(file: LintedFile, _: LintContext) -> Iterator[Observation]:
    """A step that was applied to the data or to the release, and that the guarantee does not cover."""
    for place, one in enumerate(file.document.unaccounted):
        yield Observation(
            path=f"unaccounted[{place}]",
            message=f"the guarantee does not cover: {one}",
            advice="count the step in the budget, publish what it keeps as an invariant, or explain it in [[explained]]",
        )
