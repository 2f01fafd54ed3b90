"""One draw of a mechanism on a real table, with everything that is known about it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dpspec.blocks.households import MEMBERS
from dpspec.blocks.multisets import check_size
from dpspec.blocks.space import Attribute, DatasetSpace
from dpspec.checkpoints import Checkpoints, Folder, NoCheckpoints
from dpspec.errors import DpspecError, PluginContractError, ReleaseError, TableError
from dpspec.extension.registry import Provenance, Registry
from dpspec.mechanism import Mechanism
from dpspec.params import did_you_mean
from dpspec.randomness import KeyedRandomness, SeededRandomness, SystemRandomness
from dpspec.reading import Formats, format_of, read_households, read_table
from dpspec.release.held import Held, held
from dpspec.run import Output, Progress, Run, nobody
from dpspec.specfile.document import SpecDocument
from dpspec.table import Table

UNFINISHED = ".unfinished-release"
"""The folder, inside that of the release, in which a resumable run keeps what is done."""


def _unsaid(stage: str) -> None:
    """Nobody is told."""


@attrs.frozen(kw_only=True)
class Options:
    """How to draw.

    Args:
        seed: for tests and audits; None for the operating system's generator.
        engine: the registered engine that runs the kernels.
        resume: go on with the unfinished run of the directory.
        suffix: of the files that are written; None for that of the table.
        progress: told how far the work is.
        stage: told what is done next: reading, drawing, checking.
    """

    seed: int | None = None
    engine: str = "embedded"
    resume: bool = False
    suffix: str | None = None
    progress: Progress = nobody
    stage: Callable[[str], object] = _unsaid


@attrs.frozen(kw_only=True)
class Release:
    """A drawn output and what is known about the draw.

    Args:
        document: the specification.
        mechanism: what drew it.
        origin: the distribution that brought the mechanism.
        given: the table that was read; confidential.
        output: the released tables, with their reports.
        name: where the input came from.
        seed: for tests and audits; None for the operating system's generator.
        engine: the name of the engine.
        held: the invariants, each compared with the input.
        suffix: of the files to write.
        run: the checkpoints, to be forgotten once the release is on disk.
    """

    document: SpecDocument
    mechanism: Mechanism
    origin: Provenance
    given: Table
    output: Output
    name: str
    seed: int | None
    engine: str
    held: tuple[Held, ...]
    suffix: str
    run: Folder | None


def formats_of(registry: Registry) -> Formats:
    """The installed table formats by suffix."""
    formats = [registry.get("formats", name)() for name in registry.names("formats")]
    return {suffix: format_ for format_ in formats for suffix in format_.suffixes}


def draw(document: SpecDocument, table: str, registry: Registry, directory: Path, options: Options | None = None) -> Release:
    """Run the document's mechanism on a table.

    Args:
        document: the specification and its mechanism.
        table: a table file, a directory with households and persons, or the name of a registered table builder.
        registry: where builders, formats and engines are looked up.
        directory: where the release will be written; a resumable run keeps its checkpoints there.

    Raises:
        ReleaseError: the file names no mechanism, it has no exact sampler, or there is no such run to go on with.
        TableError: the table does not fit the space.
        PluginContractError: the mechanism raised, or its release does not hold an invariant.
    """
    options = options or Options()
    mechanism, space = document.mechanism, document.spec.space
    if mechanism is None:
        raise ReleaseError(f"specification {document.id}", "names no mechanism", "add a [mechanism] table")
    mechanism.check(space)
    unit = str(getattr(mechanism, "unit", space.units[0] if space.units else ""))
    engine = registry.get("engines", options.engine)()
    suffix = options.suffix or _suffix(Path(table), formats_of(registry))
    format_of(Path(f"released{suffix}"), formats_of(registry))
    options.stage("reading")
    given = _table(table, space, unit, registry, options.progress)
    if space.cells_are_records and unit == space.units[0]:
        check_size(space.name, len(given), *space.total_range())
    folder = None
    if mechanism.resumable:
        folder = Folder(directory / UNFINISHED, _identity(document, mechanism, table, registry, options))
    source = _source(folder, options)
    checkpoints: Checkpoints = folder or NoCheckpoints()
    options.stage("drawing")
    with closing(engine):
        run = Run(source=source, engine=engine, checkpoints=checkpoints, progress=options.progress)
        try:
            output = _guarded(mechanism, given, space, run)
        except ValueError:  # table or specification is refused, so there is nothing to go on with
            if folder is not None:
                folder.finish()
            raise
    options.stage("checking")
    invariants = document.spec.multiverse.invariants or ()
    return Release(
        document=document,
        mechanism=mechanism,
        origin=registry.provenance(mechanism),
        given=given,
        output=output,
        name=table,
        seed=options.seed,
        engine=engine.name,
        held=tuple(held(i, given, output.main, unit, mechanism.name) for i in invariants),
        suffix=suffix,
        run=folder,
    )


def randomness(seed: int | None) -> str:
    """Where the randomness of a release comes from, in words."""
    return "operating system" if seed is None else f"seed {seed}"


# --- what goes in --------------------------------------------------------------------------------


def _source(folder: Folder | None, options: Options) -> KeyedRandomness:
    """The source of a new run, or of the one that goes on."""
    new: KeyedRandomness = SystemRandomness() if options.seed is None else SeededRandomness(options.seed)
    if folder is None:
        if options.resume:
            raise ReleaseError("--resume", "is for mechanisms that work in stages; this one begins anew", "leave it out")
        return new
    if not options.resume:
        folder.begin(new.key)
        return new
    return KeyedRandomness(folder.resume(), fit_for_publication=options.seed is None)


def _identity(document: SpecDocument, mechanism: Mechanism, table: str, registry: Registry, options: Options) -> dict[str, Any]:
    """What must be equal for a run to go on with the noise that it has drawn."""
    return {
        "specification": _digest(Path(document.path)) if document.path else document.id,
        "mechanism": f"{mechanism!r} of {registry.provenance(mechanism)}",
        "table": _digest(Path(table)) if Path(table).exists() else table,
        "randomness": randomness(options.seed),
    }


def _digest(path: Path) -> str:
    """The SHA-256 of a file, or of all files of a directory."""
    if path.is_dir():
        parts = sorted(part for part in path.iterdir() if part.is_file())
        return hashlib.sha256("".join(f"{part.name} {_digest(part)}\n" for part in parts).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _suffix(path: Path, formats: Formats) -> str:
    """The suffix of what was read: of a directory that of its files, of a registered table .csv."""
    if path.is_dir():
        return next((part.suffix.lower() for part in sorted(path.iterdir()) if part.suffix.lower() in formats), ".csv")
    return path.suffix.lower() if path.suffix.lower() in formats else ".csv"


def _table(name: str, space: DatasetSpace, unit: str, registry: Registry, progress: Progress) -> Table:
    path, formats = Path(name), formats_of(registry)
    if path.is_dir() and len(space.units) > 1 and unit == space.units[0]:
        outer, inner = (space.own_attributes(kind) for kind in space.units[:2])
        found = read_households(path, outer, inner, formats, progress=lambda rows: progress(rows, 0))
        _check_members(found, space)
        return found
    attributes = tuple(a for a in space.attributes_of(unit) if a.name != MEMBERS)
    if path.exists():
        return read_table(path, attributes, formats, progress=lambda rows: progress(rows, 0))
    if name not in registry.names("tables"):
        known = did_you_mean(name, registry.names("tables")) or "give a table file with a header"
        raise TableError("table", "is neither a file nor a registered table", known, value=name)
    table: Table = registry.get("tables", name)().build()
    _check_columns(name, attributes, table.attributes)
    return table


def _check_members(table: Table, space: DatasetSpace) -> None:
    """Refuse records that hold more members than the space allows."""
    outer, inner = space.units[:2]
    most = space.most_within(inner, outer)
    if table.members is None or most is None:
        return
    held = np.bincount(table.members.owner, minlength=len(table))
    over = np.flatnonzero(held > most)
    if over.size:
        first = int(over[0])
        rule = f"holds {held[first]} {inner} records ({over.size} such), and the space allows {most}"
        raise TableError(f"{outer} in row {first + 1}", rule, "correct the table, or the number of members in the specification")


def _check_columns(name: str, wanted: tuple[Attribute, ...], given: tuple[Attribute, ...]) -> None:
    expected, found = ({a.name: tuple(a.values()) for a in attributes} for attributes in (wanted, given))
    for attribute in expected.keys() | found.keys():
        if expected.get(attribute) != found.get(attribute):
            raise TableError(f"table {name}", "has other columns or categories than the space", value=attribute)


# --- the draw ------------------------------------------------------------------------------------


def _guarded(mechanism: Mechanism, table: Table, space: DatasetSpace, run: Run) -> Output:
    try:
        output = mechanism.run(table, space, run)
    except (DpspecError, MemoryError):
        raise
    except Exception as problem:
        rule = f"raised {type(problem).__name__} in release(): {problem}"
        raise PluginContractError(f"mechanism {mechanism.name}", rule, "report it to the plugin's author") from problem
    wrong = [type(table).__name__ for table in output.tables.values() if not isinstance(table, Table)]
    if wrong:
        raise PluginContractError(f"mechanism {mechanism.name}", "release() must return a Table", value=wrong[0])
    return output
