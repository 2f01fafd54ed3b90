"""One draw of a mechanism on a real table, with everything that is known about it."""

from __future__ import annotations

import hashlib
import re
import traceback
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dpspec.blocks.households import MEMBERS
from dpspec.blocks.multisets import check_size
from dpspec.blocks.space import Attribute, DatasetSpace
from dpspec.checkpoints import Folder, NoCheckpoints
from dpspec.engine import Engine
from dpspec.errors import DpspecError, LibraryError, PluginContractError, RefutedReleaseError, ReleaseError, TableError
from dpspec.extension.registry import Provenance, Registry
from dpspec.mechanism import Mechanism
from dpspec.params import did_you_mean
from dpspec.randomness import KeyedRandomness, SeededRandomness, SystemRandomness
from dpspec.reading import Formats, format_of, read_households, read_table
from dpspec.release.held import Held, held
from dpspec.release.place import WARNING, Place
from dpspec.run import Output, Progress, Run, nobody
from dpspec.specfile.document import SpecDocument
from dpspec.table import Table
from dpspec.verify.standing import Standing, standing

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


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
        place: the folders that it goes to.
        standing: how the claim of the specification stands.
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
    place: Place
    standing: Standing

    @property
    def unfit(self) -> tuple[str, ...]:
        """Why this must not be published as a release that satisfies the specification; empty where nothing is against it."""
        seeded = () if self.seed is None else ("drawn from a seed, so anyone who knows the seed can undo it",)
        return seeded if self.standing.word.is_good else (*seeded, self.standing.sentence)


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
        directory: where the release will be written; a resumable run keeps its checkpoints beside it.

    Raises:
        RefutedReleaseError: the mechanism does not satisfy the specification.
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
    suffix = _suffix(Path(table), options.suffix, formats_of(registry))
    if options.resume and not mechanism.resumable:
        raise ReleaseError("--resume", "is for mechanisms that work in stages; this one begins anew", "leave it out")
    place = Place(directory, Path(table))
    options.stage("judging")
    judged = standing(document, registry)
    if judged.is_false:
        advice = "nothing is released under it; see `dpspec verify`"
        raise RefutedReleaseError(f"specification {document.id}", judged.sentence, advice)
    options.stage("reading")
    given = _table(table, space, unit, registry, options.progress)
    if space.cells_are_records and unit == space.units[0]:
        check_size(space.name, len(given), *space.total_range())
    place.open()
    try:
        identity = _identity(document, mechanism, given, registry, options)
        folder = Folder(place.unfinished, identity) if mechanism.resumable else None
        with closing(engine):
            output = _output(mechanism, given, space, engine, folder, options)
        options.stage("checking")
        _check_names(mechanism, output)
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
            place=place,
            standing=judged,
        )
    except BaseException:
        place.leave()
        raise


def randomness(seed: int | None) -> str:
    """Where the randomness of a release comes from, in words."""
    return "operating system" if seed is None else f"seed {seed}"


# --- what goes in --------------------------------------------------------------------------------


def _output(  # noqa: PLR0917 - one run with all that it needs
    mechanism: Mechanism, given: Table, space: DatasetSpace, engine: Engine, folder: Folder | None, options: Options
) -> Output:
    """What one run gives; an unfinished run that cannot be gone on with is forgotten."""
    source = _source(folder, options)
    options.stage("drawing")
    run = Run(source=source, engine=engine, checkpoints=folder or NoCheckpoints(), progress=options.progress)
    try:
        return _guarded(mechanism, given, space, run)
    except ValueError:  # table or specification is refused, so there is nothing to go on with
        if folder is not None:
            folder.finish()
        raise


def _source(folder: Folder | None, options: Options) -> KeyedRandomness:
    """The source of a new run, or of the one that goes on."""
    if folder is not None and options.resume:
        return KeyedRandomness(folder.resume(), fit_for_publication=options.seed is None)
    new: KeyedRandomness = SystemRandomness() if options.seed is None else SeededRandomness(options.seed)
    if folder is not None:
        folder.begin(new.key)
    return new


def _identity(document: SpecDocument, mechanism: Mechanism, given: Table, registry: Registry, options: Options) -> dict[str, Any]:
    """What must be equal for a run to go on with the noise that it has drawn."""
    return {
        "specification": document.sha256 or document.id,
        "mechanism": f"{mechanism!r} of {registry.provenance(mechanism)}",
        "table": digest_of(given),
        "randomness": randomness(options.seed),
    }


def digest_of(table: Table) -> str:
    """The SHA-256 of a table as it was read: of its columns and records, not of a file that may have changed since."""
    found = hashlib.sha256()
    for attribute in table.attributes:
        found.update(repr(attribute).encode() + b"\n")
        found.update(table.codes[attribute.name].astype("<i8").tobytes())
    if table.members is not None:
        found.update(digest_of(table.members.table).encode())
        found.update(table.members.owner.astype("<i8").tobytes())
    return found.hexdigest()


def _suffix(path: Path, wanted: str | None, formats: Formats) -> str:
    """The suffix that was asked for, or of what was read: of a directory that of its files, of a registered table .csv."""
    if wanted is not None:
        named = Path("released" + wanted.replace("/", ""))
        format_of(named, formats)
        return named.suffix.lower()
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
        rule = f"holds more {inner} records than the {most} of the space ({over.size} such)"
        raise TableError(f"{outer} in row {first + 1}", rule, "correct the table, or the number of members in the specification")


def _check_columns(name: str, wanted: tuple[Attribute, ...], given: tuple[Attribute, ...]) -> None:
    expected, found = ({a.name: tuple(a.values()) for a in attributes} for attributes in (wanted, given))
    for attribute in expected.keys() | found.keys():
        if expected.get(attribute) != found.get(attribute):
            raise TableError(f"table {name}", "has other columns or categories than the space", value=attribute)


# --- the draw ------------------------------------------------------------------------------------


def _raised(problem: BaseException) -> str:
    """What was raised and where, without its message: that may quote cells, which are confidential."""
    last = traceback.extract_tb(problem.__traceback__)[-1]
    return f"raised {type(problem).__name__} in release() ({Path(last.filename).name}, line {last.lineno})"


def _guarded(mechanism: Mechanism, table: Table, space: DatasetSpace, run: Run) -> Output:
    try:
        output = mechanism.run(table, space, run)
    except (DpspecError, MemoryError):
        raise
    except Exception as problem:
        raise PluginContractError(f"mechanism {mechanism.name}", _raised(problem), "report it to the plugin's author") from None
    except BaseException as problem:
        if not type(problem).__name__.endswith("PanicException"):
            raise
        raise LibraryError(f"mechanism {mechanism.name}", f"{_raised(problem)}: a library panicked", "run again") from None
    wrong = [type(table).__name__ for table in output.tables.values() if not isinstance(table, Table)]
    if wrong:
        raise PluginContractError(f"mechanism {mechanism.name}", "release() must return a Table", value=wrong[0])
    return output


def _check_names(mechanism: Mechanism, output: Output) -> None:
    """Refuse tables whose names are no names of files, or those of other files of a release."""
    for name in output.tables:
        if not _NAME.fullmatch(name) or name in ("report", WARNING.partition(".")[0]):
            raise PluginContractError(f"mechanism {mechanism.name}", "names a table that can be no file", value=name)
