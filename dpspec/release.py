"""Releasing a table: one draw of a mechanism, its invariants checked, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import attrs

from dpspec.blocks.households import MEMBERS
from dpspec.blocks.invariant import Invariant, Marginal
from dpspec.blocks.multisets import check_size
from dpspec.blocks.space import Attribute
from dpspec.errors import DpspecError, PluginContractError, ReleaseError, TableError
from dpspec.extension.registry import Provenance, Registry
from dpspec.files import whole
from dpspec.mechanism import Mechanism
from dpspec.params import did_you_mean
from dpspec.randomness import Randomness, SeededRandomness, SystemRandomness
from dpspec.specfile.document import SpecDocument
from dpspec.table import Table, read_csv, write_csv

RELEASED, REPORT, WARNING = "released.csv", "report.json", "NOT-FIT-FOR-PUBLICATION.txt"
UNFIT = "NOT FIT FOR PUBLICATION: drawn from a seed, so anyone who knows the seed can undo it."


@attrs.frozen(kw_only=True)
class Held:
    """What became of one invariant in a release.

    Args:
        invariant: the invariant in words.
        cells: how many of its counts were compared; None when it cannot be asked of the table.
    """

    invariant: str
    cells: int | None

    def data(self) -> dict[str, Any]:
        """The entry of the report; an invariant that does not hold is never reported, but refused."""
        return {"invariant": self.invariant, "cells": self.cells, "held": None if self.cells is None else True}


@attrs.frozen(kw_only=True)
class Release:
    """A drawn table and what is known about the draw.

    Args:
        document: the specification.
        mechanism: what drew it.
        origin: the distribution that brought the mechanism.
        table: the released records.
        name: where the input came from.
        seed: for tests and audits; None for the operating system's generator.
        held: the invariants, each compared with the input.
    """

    document: SpecDocument
    mechanism: Mechanism
    origin: Provenance
    table: Table
    name: str
    seed: int | None
    held: tuple[Held, ...]

    def data(self, digest: str) -> dict[str, Any]:
        """The report that lies beside the released table; `digest` is the SHA-256 of that table's file."""
        origin = {"plugin": self.origin.plugin, "distribution": self.origin.distribution, "version": self.origin.version}
        return {
            "specification": {"id": self.document.id, "title": self.document.title, "path": self.document.path},
            "mechanism": {"name": self.mechanism.name, "parameters": repr(self.mechanism), **origin},
            "table": self.name,
            "records": len(self.table),
            "randomness": "operating system" if self.seed is None else f"seed {self.seed}",
            "fit_for_publication": self.seed is None,
            "warning": None if self.seed is None else UNFIT,
            "invariants": [held.data() for held in self.held],
            "released": {"file": RELEASED, "sha256": digest},
        }


def draw(document: SpecDocument, table: str, registry: Registry, seed: int | None = None) -> Release:
    """Run the document's mechanism on a table.

    Args:
        document: the specification and its mechanism.
        table: a CSV file with a header, or the name of a registered table builder.
        registry: where builders are looked up.
        seed: for tests and audits only.

    Raises:
        ReleaseError: the file names no mechanism, or it has no exact sampler.
        TableError: the table does not fit the space.
        PluginContractError: the mechanism raised, or its release does not hold an invariant.
    """
    mechanism, space = document.mechanism, document.spec.space
    if mechanism is None:
        raise ReleaseError(f"specification {document.id}", "names no mechanism", "add a [mechanism] table")
    mechanism.check(space)
    unit = str(getattr(mechanism, "unit", space.units[0] if space.units else ""))
    attributes = tuple(a for a in space.attributes_of(unit) if a.name != MEMBERS)
    given = _table(table, attributes, registry)
    if space.cells_are_records and unit == space.units[0]:
        check_size(space.name, len(given), *space.total_range())
    source: Randomness = SystemRandomness() if seed is None else SeededRandomness(seed)
    released = _guarded(mechanism, given, document, source)
    held = tuple(_held(i, given, released, unit, mechanism) for i in document.spec.multiverse.invariants or ())
    origin = registry.provenance(mechanism)
    return Release(document=document, mechanism=mechanism, origin=origin, table=released, name=table, seed=seed, held=held)


def _table(name: str, attributes: tuple[Attribute, ...], registry: Registry) -> Table:
    if Path(name).exists():
        return read_csv(Path(name), attributes)
    if name not in registry.names("tables"):
        known = did_you_mean(name, registry.names("tables")) or "give a CSV file with a header"
        raise TableError("table", "is neither a file nor a registered table", known, value=name)
    table: Table = registry.get("tables", name)().build()
    wanted, given = {a.name: tuple(a.values()) for a in attributes}, {a.name: tuple(a.values()) for a in table.attributes}
    for attribute in wanted.keys() | given.keys():
        if wanted.get(attribute) != given.get(attribute):
            raise TableError(f"table {name}", "has other columns or categories than the space", value=attribute)
    return table


def _guarded(mechanism: Mechanism, table: Table, document: SpecDocument, source: Randomness) -> Table:
    try:
        released = mechanism.release(table, document.spec.space, source)
    except DpspecError:
        raise
    except Exception as problem:
        rule = f"raised {type(problem).__name__} in release(): {problem}"
        raise PluginContractError(f"mechanism {mechanism.name}", rule, "report it to the plugin's author") from problem
    if not isinstance(released, Table):
        raise PluginContractError(f"mechanism {mechanism.name}", "release() must return a Table", value=type(released).__name__)
    return released


# --- invariants ----------------------------------------------------------------------------------


def _held(invariant: Invariant, before: Table, after: Table, unit: str, mechanism: Mechanism) -> Held:
    """Compare the counts of a marginal before and after; other invariants cannot be asked of a table."""
    known = {a.name for a in before.attributes} & {a.name for a in after.attributes}
    counted = invariant.as_marginal()
    if counted is None or counted.unit != unit or not counted.mentions().keys() <= known:
        return Held(invariant=str(invariant), cells=None)
    first, second = marginal(counted, before), marginal(counted, after)
    if first != second:
        broken = sum(first[cell] != second[cell] for cell in {*first, *second})
        raise PluginContractError(
            f"mechanism {mechanism.name}",
            f"does not hold the invariant {invariant}: {broken} of its counts changed",
            "nothing was written; report it to the plugin's author",
        )
    return Held(invariant=str(invariant), cells=len(first))


def marginal(invariant: Marginal, table: Table) -> Counter[tuple[str, ...]]:
    """The counts of a marginal, asked of a table."""
    where = {attribute: frozenset(categories) for attribute, categories in invariant.where}
    names = list(dict.fromkeys((*invariant.attributes, *where)))
    counts: Counter[tuple[str, ...]] = Counter()
    for cell, count in table.counts(names).items():
        by_name = dict(zip(names, cell, strict=True))
        if all(by_name[attribute] in kept for attribute, kept in where.items()):
            counts[tuple(by_name[attribute] for attribute in invariant.attributes)] += count
    return counts


# --- files ---------------------------------------------------------------------------------------


def write(release: Release, directory: Path) -> dict[str, Any]:
    """Write released.csv and report.json, each whole or not at all; returns the report.

    An interruption leaves the old files or the new ones. The report holds the digest of its table, so that
    a table and a report of two different runs cannot be taken for one. A seeded release is marked by a further file, which is
    there before the table is and goes only after an unseeded one has replaced it.

    Raises:
        ReleaseError: the directory cannot be written.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if release.seed is not None:
            with whole(directory / WARNING) as part:
                part.write_text(UNFIT + "\n", encoding="utf-8")
        with whole(directory / REPORT) as report, whole(directory / RELEASED) as part:
            write_csv(release.table, part)
            data = release.data(hashlib.sha256(part.read_bytes()).hexdigest())
            report.write_text(json.dumps({"format": 1, **data}, indent=2) + "\n", encoding="utf-8")
        if release.seed is None:
            (directory / WARNING).unlink(missing_ok=True)
    except OSError as problem:
        rule = f"cannot be written ({problem.strerror})"
        raise ReleaseError("directory", rule, "choose another --out", value=str(directory)) from None
    return data
