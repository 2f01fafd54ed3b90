"""Findings about the five blocks and the mechanism."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from dpspec.blocks.determination import determines
from dpspec.blocks.invariant import Invariant, Marginal
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.space import DatasetSpace
from dpspec.errors import DpspecError
from dpspec.lint.finding import Context, Linted, Seen, Severity, finding
from dpspec.params import parameters
from dpspec.risk.candidates import candidates_within
from dpspec.rules.kinds import compares_sizes
from dpspec.spec import PrivacySpec
from dpspec.verify.exhaustive import verify
from dpspec.verify.growth import exchanged, grown
from dpspec.verify.verdict import Outcome

LISTED = 2000
"""A space of more datasets than this is not listed in search of two that are compared."""
RAISED = 200
"""The sizes of miniatures with at most so many datasets are raised."""


@finding("vacuous", Severity.ERROR)
def vacuous(file: Linted, _: Context) -> Iterator[Seen]:
    """No universe of a small space has two datasets at finite distance: nothing is asked, and every mechanism passes (B-S2)."""
    document = file.document
    instances = [(f"miniature[{place}].space", m.title, m.spec) for place, m in enumerate(document.miniatures)]
    for path, what, spec in instances or [("multiverse", "the specification", document.spec)]:
        size = spec.space.cardinality()
        if size is None or size > LISTED or _asks(spec):
            continue
        yield Seen(
            path=path,
            message=f"no universe of {what} has two datasets at finite distance: every mechanism satisfies it",
            advice="take a larger space, fewer invariants, or another distance",
        )


@finding("no-such-pair", Severity.WARNING)
def no_such_pair(file: Linted, _: Context) -> Iterator[Seen]:
    """No universe has two datasets at distance 1: what the budget seems to say about one change belongs to no pair.

    One change alone would alter what is published exactly, so that whoever knows all the rest knows it for certain. Under a fixed
    total only even numbers of positions differ; where swapping publishes both margins, two households change or none. The number
    that does hold is the budget times the least distance that occurs.
    """
    spec = file.document.spec
    if not spec.multiverse.invariants:
        return
    try:
        found = candidates_within(spec, 1)
    except DpspecError:  # no two datasets are so near at all, or budgets differ by universe: another matter
        return
    if found.told_apart and found.bound is None and not found.unpromised:
        because = f" ({found.reason})" if found.reason else ""
        yield Seen(
            path="budget",
            message=f"no universe has two datasets at distance 1{because}: one change alone shows in {found.publications}",
            advice="say at which distance the nearest datasets of a universe are, and explain it in [[explained]]",
        )


def _asks(spec: PrivacySpec) -> bool:
    for universe in spec.multiverse.universes(spec.space):
        for left, right in itertools.permutations(universe.datasets, 2):
            if not spec.distance(left, right).is_infinite:
                return True
    return False


@finding("exchanged-block", Severity.ERROR)
def exchanged_block(file: Linted, _: Context) -> Iterator[Seen]:
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
def growing_size(file: Linted, context: Context) -> Iterator[Seen]:
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
def fixed_invariant(file: Linted, _: Context) -> Iterator[Seen]:
    """An invariant costs nothing: the distance already fixes it, or the other invariants do (B-S11).

    It makes the list of what is published longer, and no universe smaller: datasets that differ in it are never compared anyway.
    """
    spec = file.document.spec
    held = spec.multiverse.invariants or ()
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


@lru_cache(maxsize=1024)
def _determined(known: tuple[Invariant, ...], invariant: Invariant, space: DatasetSpace) -> str | None:
    """Why the known invariants determine another one; remembered, since the files of one collection share their blocks."""
    try:
        found = determines(known, (invariant,), space)
    except DpspecError:
        return None
    return found.reason if found.answer is True else None


@finding("unit-of-product", Severity.ERROR)
def unit_of_product(file: Linted, _: Context) -> Iterator[Seen]:
    """The mechanism reads records of a larger unit than the budget counts: household tables under a budget per person (B-X6).

    The larger unit may change at distance 0, as a vacant housing unit does when persons are counted.
    """
    document = file.document
    instances = [("mechanism", document.spec, document.mechanism)]
    instances += [(f"miniature[{place}].mechanism", m.spec, m.mechanism) for place, m in enumerate(document.miniatures)]
    for path, spec, mechanism in instances:
        counted = spec.input_divergence.counted_unit()
        if counted is None or mechanism is None:
            continue
        held = spec.multiverse.invariants or ()
        for unit in sorted(set(_units(mechanism, held)) & set(spec.space.units)):
            if _is_larger(unit, counted, spec.space.units) and spec.space.most_changed(unit, counted) is None:
                yield Seen(
                    path=path,
                    message=f"the mechanism reads {unit} records, and a {unit} may change while no {counted} does",
                    advice=f"state a budget per {unit} for what is read per {unit}",
                )


def _is_larger(unit: str, than: str, units: tuple[str, ...]) -> bool:
    return than in units and units.index(unit) < units.index(than)


def _units(thing: Any, held: tuple[Invariant, ...]) -> Iterator[str]:
    """Every unit that an object or its parameters name, apart from the invariants that are published anyway."""
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
