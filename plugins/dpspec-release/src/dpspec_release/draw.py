"""One draw of a mechanism on a real table, with everything that is known about it.

A release is written to two folders, a public one, and next to it a confidential one that only its owner can access:

    out/                  what may be published: tables, report.json
    out.confidential/     mode 0700
        unfinished/       the stages of a long run and its key
        ready/            tables that are being written: nothing of a draw is in the public folder before it is whole
        spill/            what a table larger than memory is sorted in; removed at the end
        ready.json        all of `ready` is whole and will be placed: an interruption after this is made good by the next run
        placed.json       what releases have placed in the public folder: these files, and no others, may go
        utility.*         comparisons with the confidential table

The invariants of a claim state where protection is promised, and not what is released: those that the mechanism states that it
keeps are evaluated on the tables before and after, by code that is independent of the mechanism.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, cast

import attrs
import numpy as np

from dpspec import SpecDocument
from dpspec.plugin import (
    Attribute,
    DatasetSpace,
    Invariant,
    Marginal,
    Mechanism,
    PrivacySpec,
    Table,
    answers,
    blocks,
    cell_stream,
    errors,
    grammar,
    risks,
    sorting,
    tables,
)
from dpspec.plugin.applications import WARNING, Progress, Registry, ReleaseError, Standing, standing
from dpspec.plugin.releases import (
    MOST_KINDS,
    Collections,
    Countable,
    DpspecError,
    ExposedRecords,
    Folder,
    Formats,
    KeyedRandomness,
    LibraryError,
    NoCheckpoints,
    Output,
    PluginContractError,
    Provenance,
    RefutedReleaseError,
    Run,
    SeededRandomness,
    SystemRandomness,
    TableSource,
    UnverifiedReleaseError,
    Workers,
    check_dataset,
    count_cells,
    counts_exposing,
    default_memory,
    exposed_records,
    flags,
    format_of,
    formats_of,
    given_sources,
    given_table,
    lock,
    memory_of,
    memory_of_counts,
    nobody,
    private_folder,
    size_text,
    spare_address_space,
    to_disk,
    whole,
)
from dpspec_release.accuracy import Accuracy, known_accuracy
from dpspec_release.batches import MOST_RECORDS, BatchRelease, SortingRelease, WrittenTable, memory_of_batches, write_batches
from dpspec_release.households import HouseholdRelease, JoinedHouseholds
from dpspec_release.spill import LEAST, MORE_MEMORY, duckdb, spilling

SUFFIX = ".confidential"
LEVEL = Fraction(19, 20)
"""The level of the margins that are written with released numbers."""

_READY, _READY_LIST, _PLACED, _UNFINISHED, _LOCK = "ready", "ready.json", "placed.json", "unfinished", "lock"
_SPILL = "spill"


class ReleasePlace:
    """The two folders of a release.

    Args:
        out: the folder to be published, as the user names it.
        table: what is read, where that is a file or a folder.

    Raises:
        ReleaseError: `out` cannot have a folder next to it, or it is the folder of the confidential table, or lies in it.
    """

    def __init__(self, out: Path, table: Path) -> None:
        try:
            self.public = out.resolve()
            if self.public.exists() and not self.public.is_dir():
                raise ReleaseError("--out", "is no folder", "choose another --out", value=str(out))
            given = table.resolve() if table.exists() else None
        except (OSError, ValueError, RuntimeError) as problem:
            raise _unwritable(out, problem) from None
        if not self.public.name:
            rule = "has no name to put a confidential folder next to"
            raise ReleaseError("--out", rule, "choose another --out", value=str(out))
        self.private = self.public.with_name(self.public.name + SUFFIX)
        if given is not None:
            _check_apart(self.public, self.private, given, out)

    @property
    def unfinished(self) -> Path:
        """The folder of a resumable run."""
        return self.private / _UNFINISHED

    @property
    def ready(self) -> Path:
        """The folder of what is written and not yet placed."""
        return self.private / _READY

    @property
    def spill(self) -> Path:
        """The folder of what is sorted."""
        return self.private / _SPILL

    def open(self) -> None:
        """Take the confidential folder for one run; what a killed one has left is placed, where it was whole, or removed.

        Raises:
            ReleaseError: another run has it, or it cannot be made.
        """
        try:
            if self.public.exists() and not os.access(self.public, os.W_OK):  # found out when the budget is spent, otherwise
                raise PermissionError(errno.EACCES, "no files may be made in it")
            while not self._is_taken():
                self.close()
            if self.is_half_placed:
                self._settle()
            shutil.rmtree(self.ready, ignore_errors=True)
            shutil.rmtree(self.spill, ignore_errors=True)
        except BlockingIOError:
            self.close()
            raise ReleaseError("--out", "is being written by another run", "wait for it", value=str(self.public)) from None
        except OSError as problem:
            raise _unwritable(self.public, problem) from None

    def _is_taken(self) -> bool:
        """Take the lock of the folder; not where the run that had it has removed its file, which no other run would see."""
        private_folder(self.private)
        handle = os.open(self.private / _LOCK, flags("O_RDWR", "O_CREAT", "O_CLOEXEC", "O_NOFOLLOW"), 0o600)
        self.close = weakref.finalize(self, os.close, handle)
        lock(handle)
        with contextlib.suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(handle), (self.private / _LOCK).stat())
        return False

    def leave(self) -> None:
        """Give the folder back; without anything in it, it goes. What was not placed to the end stays, for the next run."""
        shutil.rmtree(self.spill, ignore_errors=True)
        if not self.is_half_placed:
            shutil.rmtree(self.ready, ignore_errors=True)
        with contextlib.suppress(OSError):
            if {path.name for path in self.private.iterdir()} <= {_LOCK}:
                (self.private / _LOCK).unlink(missing_ok=True)
                self.private.rmdir()
        self.close()

    def place(self, files: Mapping[str, str]) -> None:
        """Bring the files of `ready` into the public folder, and take away those of earlier releases that they do not replace.

        Args:
            files: their SHA-256 by name, in the order in which they are to appear.
        """
        for name in files:
            to_disk(self.ready / name)
        to_disk(self.ready)
        with whole(self.private / _READY_LIST, 0o600) as part:
            part.write_text(json.dumps(files), encoding="utf-8")
        self._settle()

    def _settle(self) -> None:
        files: dict[str, str] = json.loads((self.private / _READY_LIST).read_text(encoding="utf-8"))
        self.public.mkdir(parents=True, exist_ok=True)
        for name in files:
            if (self.ready / name).exists():
                (self.ready / name).chmod(0o666 & ~_mask())
                _bring(self.ready / name, self.public / name)
        to_disk(self.public)
        for name, digest in self._placed().items():
            if name not in files and _is_ours(self.public / name, digest):
                (self.public / name).unlink(missing_ok=True)
        with whole(self.private / _PLACED, 0o600) as part:
            part.write_text(json.dumps(files), encoding="utf-8")
        (self.private / _READY_LIST).unlink()
        to_disk(self.private)

    def _placed(self) -> dict[str, str]:
        """What earlier releases have placed, by this folder's own account: a report may be anybody's."""
        try:
            found = json.loads((self.private / _PLACED).read_text(encoding="utf-8"))
            return {name: digest for name, digest in found.items() if Path(name).name == name and isinstance(digest, str)}
        except (OSError, ValueError, AttributeError):
            return {}

    @property
    def is_half_placed(self) -> bool:
        """Whether the placing of whole files has begun and was interrupted."""
        return (self.private / _READY_LIST).exists()

    def others(self) -> tuple[str, ...]:
        """The names in the public folder that no release has placed there: they are left as they are."""
        if not self.public.is_dir():
            return ()
        return tuple(sorted({path.name for path in self.public.iterdir()} - self._placed().keys()))


def _check_apart(public: Path, private: Path, given: Path, out: Path) -> None:
    """What is confidential and what is published do not lie in one another."""
    if given.is_relative_to(public):
        rule, advice = "holds the table that is read, which would be published with it", "choose another --out"
        raise ReleaseError("--out", rule, advice, value=str(out))
    if given.is_dir() and public.is_relative_to(given):
        raise ReleaseError("--out", "lies in the folder that is read", "choose another --out", value=str(out))
    if given.is_relative_to(private):
        raise ReleaseError("table", f"lies in {private.name}, which belongs to the release", "move it", value=given.name)


def _bring(file: Path, target: Path) -> None:
    """Move a file to its place; by a copy, where a disk is mounted at the public folder."""
    try:
        file.replace(target)
    except OSError as problem:
        if problem.errno != errno.EXDEV:
            raise
        with whole(target) as part:
            shutil.copyfile(file, part)
        file.unlink()


def _is_ours(path: Path, digest: str) -> bool:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == digest
    except OSError:
        return False


def _mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


GO_ON = "make room and go on with --resume"
"""What to do where a run in stages cannot be written: anywhere else it would be drawn, and spent, once more."""


def _unwritable(out: Path, problem: Exception, advice: str = "choose another --out") -> ReleaseError:
    reason = getattr(problem, "strerror", None) or "this is no path"
    return ReleaseError("directory", f"cannot be written ({reason})", advice, value=str(out))


# --- invariants that are held ---------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Held:
    """The check of one invariant in a release.

    Args:
        invariant: the invariant in words.
        cells: the number of compared counts; None when they are not compared, or only by a digest.
        by_digest: whether it was compared by a digest of all records (`KeptDigest`), which counts no cells.
        reason: why it was not compared; empty where it was.
    """

    invariant: str
    cells: int | None = None
    by_digest: bool = False
    reason: str = ""

    def data(self) -> dict[str, Any]:
        """The entry of the report; an invariant that does not hold is never reported, but refused."""
        found = {"invariant": self.invariant, "cells": self.cells, "held": None if self.reason else True}
        return {**found, "reason": self.reason} if self.reason else found


UNSTATED = "the mechanism does not state that it keeps it"
UNANSWERED = "it cannot be evaluated on these tables"


def held(invariant: Invariant, before: Countable, after: Countable, unit: str, mechanism: str) -> Held:
    """Compare the counts of a marginal before and after; other invariants cannot be evaluated on a table.

    Args:
        invariant: one that the mechanism states that it keeps.
        unit: the unit of the tables' records.

    Raises:
        PluginContractError: they differ.
    """
    # Of released numbers no count of records can be taken, not even their number.
    counted = None if answers.has_numbers(after) else invariant.as_marginal()
    tables = None if counted is None else [_of_unit(table, counted.unit, unit) for table in (before, after)]
    if counted is None or tables is None or not all(_can_answer(counted, table) for table in tables):
        return Held(invariant=str(invariant), reason=UNANSWERED)
    cells, broken = compared(counted, *(table for table in tables if table is not None))
    if broken:
        raise PluginContractError(
            f"mechanism {mechanism}",
            f"does not hold the invariant {invariant}: {broken} of its counts changed",
            "nothing was written; report it to the plugin's author",
        )
    return Held(invariant=str(invariant), cells=cells)


def _of_unit(table: Countable, wanted: str, unit: str) -> Countable | None:
    """The records of the wanted unit."""
    if wanted == unit:
        return table
    if isinstance(table, tables.CountedTable):
        return table.inside
    return table.of_members() if isinstance(table, Table) and table.members is not None else None


def _can_answer(counted: Marginal, table: Countable | None) -> bool:
    return table is not None and counted.mentions().keys() <= {a.name for a in table.attributes}


def compared(counted: Marginal, before: Countable, after: Countable) -> tuple[int, int]:
    """How many counts of a marginal are not 0 before, and how many are others after."""
    if any(before.attribute(name) != after.attribute(name) for name in counted.mentions()):
        first, second = marginal(counted, before), marginal(counted, after)
        return len(first), sum(first[cell] != second[cell] for cell in {*first, *second})
    (cells, counts), (others, again) = (table.cells(counted.attributes, counted.where).occurring() for table in (before, after))
    every = cells if np.array_equal(cells, others) else np.union1d(cells, others)
    change = np.zeros(len(every), dtype=np.int64)
    change[np.searchsorted(every, cells)] += counts
    change[np.searchsorted(every, others)] -= again
    return len(cells), int(np.count_nonzero(change))


def marginal(invariant: Marginal, table: Countable) -> Counter[tuple[str, ...]]:
    """The counts of a marginal, evaluated on a table."""
    return Counter(table.cells(invariant.attributes, invariant.where).by_category())


# --- options and results --------------------------------------------------------------------------


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


def _unsaid(stage: str) -> None:
    """Ignore progress."""


class ReleaseGuard(Protocol):
    """Keeps the budget that releases spend: it is called before anything is drawn, and after the release was written."""

    @property
    def token(self) -> str:
        """A text by which the reservation of this run is found again, when the run goes on."""

    def reserve(self, document: SpecDocument) -> None:
        """Reserve the budget of a new run; an error ends the run before it draws."""

    def fit(self, document: SpecDocument) -> SpecDocument:
        """The release with as much noise as it needs for its budget to fit; itself where it fits."""

    def resume(self, document: SpecDocument, token: str) -> None:
        """Go on under the reservation of an earlier run."""

    def draw(self) -> None:
        """Record that drawing begins; called after everything else is ready, and before the mechanism runs."""

    def abandon(self) -> None:
        """Give the reservation back: the run ended, and `draw` was not called."""

    def commit(self, files: Mapping[str, str]) -> None:
        """Record what is published: SHA-256 by name."""

    def left(self) -> str:
        """What a run that ended early has left of its charge, in words; empty for nothing."""


@attrs.frozen(kw_only=True)
class Options:
    """Options of a draw.

    Args:
        seed: for tests and audits; None for the operating system's generator.
        workers: the registered workers that run the kernels.
        resume: go on with the unfinished run of the directory.
        suffix: of the files that are written; None for that of the table.
        unverified: also release under a claim that is not verified; under a refuted one nothing is ever released.
        margins: also write the 95 % margin of each released number, in a column of its own.
        progress: called with the progress of the work.
        stage: called with the next stage: reading, drawing, checking.
        memory: the number of bytes that the run may use; None for half of the machine, or of the container. A table that is known
            to take more is refused.
        guard: keeps the budget; None for no guard.
    """

    seed: int | None = None
    workers: str = "embedded"
    resume: bool = False
    suffix: str | None = None
    unverified: bool = False
    margins: bool = False
    progress: Progress = nobody
    stage: Callable[[str], object] = _unsaid
    memory: int | None = None
    guard: ReleaseGuard | None = None


@attrs.frozen(kw_only=True)
class Release:
    """A drawn output and what is known about the draw.

    Args:
        document: the specification.
        mechanism: what drew it.
        origin: the distribution that brought the mechanism.
        given: the table that was read, or what was counted of it; confidential.
        output: the released tables, with their reports.
        name: where the input came from.
        seed: for tests and audits; None for the operating system's generator.
        workers: the name of the workers.
        held: the invariants, each compared with the input.
        exposed: the records that the invariants alone determine.
        suffix: of the files to write.
        run: the checkpoints, to be forgotten once the release is on disk.
        place: the folders that it goes to.
        standing: the status of the claim of the specification.
        accuracy: of the numbers, where their margins are written with them.
        guard: keeps the budget, and is called with the written files.
        written: the released tables, where they were written as they were drawn; `output` has none then.
        source: where the table can be read again, for a release in batches.
        assumptions: what the promise supposes of the data and was not checked, as the table does not say it.
    """

    document: SpecDocument
    mechanism: Mechanism
    origin: Provenance
    given: Countable
    output: Output
    name: str
    seed: int | None
    workers: str
    held: tuple[Held, ...]
    exposed: ExposedRecords
    suffix: str
    run: Folder | None
    place: ReleasePlace
    standing: Standing
    accuracy: Accuracy | None = None
    guard: ReleaseGuard | None = None
    written: tuple[WrittenTable, ...] = ()
    source: TableSource | None = None
    assumptions: tuple[str, ...] = ()

    @property
    def main(self) -> Countable:
        """The main released table."""
        return self.written[0].counted if self.written else self.output.main

    @property
    def warning(self) -> str | None:
        """Why this release is not fit for publication, in one line; None where it is."""
        return warning_of(self.unfit)

    @property
    def unfit(self) -> tuple[str, ...]:
        """Why this must not be published as a release that satisfies the specification; empty where nothing is against it."""
        return unfit(self.seed, self.standing)


UNFIT = "NOT FIT FOR PUBLICATION: "
"""What the warning of a release begins with; its reasons follow."""


def unfit(seed: int | None, judged: Standing) -> tuple[str, ...]:
    """Why a release must not be published; empty where nothing is against it."""
    seeded = () if seed is None else ("drawn from a seed, so anyone who knows the seed can undo it",)
    return seeded if judged.word.is_good else (*seeded, judged.sentence)


def warning_of(reasons: Sequence[str]) -> str | None:
    """The reasons in one line; None where there are none."""
    return UNFIT + "; ".join(reasons) if reasons else None


def draw(document: SpecDocument, table: str, registry: Registry, directory: Path, options: Options | None = None) -> Release:
    """Run the document's mechanism on a table.

    Args:
        document: the specification and its mechanism.
        table: a table file, a directory with households and persons, or the name of a registered table builder.
        registry: where builders, formats and workers are looked up.
        directory: where the release will be written; a resumable run stores its checkpoints next to it.

    Raises:
        RefutedReleaseError: the mechanism does not satisfy the specification.
        UnverifiedReleaseError: whether it does is not known, and `unverified` is not set.
        ReleaseError: the file names no mechanism, it has no exact sampler, or there is no such run to go on with.
        TableError: the table does not fit the space.
        PluginContractError: the mechanism raised, or its release does not hold an invariant.
    """
    spare_address_space()
    options = options or Options()
    mechanism, space = _checked_mechanism(document), document.spec.space
    unit = str(getattr(mechanism, "unit", space.units[0] if space.units else ""))
    workers, suffix = registry.get("workers", options.workers)(), _suffix(Path(table), options.suffix, formats_of(registry))
    if options.resume and not mechanism.resumable:
        raise ReleaseError("--resume", "is for mechanisms that work in stages; this one begins anew", "leave it out")
    place = ReleasePlace(directory, Path(table))
    accuracy = _accuracy(document) if options.margins else None
    judged = _judged(document, registry, options)
    with closing(workers), contextlib.ExitStack() as reading:
        options.stage("reading")
        sources = given_sources(table, document, unit, registry)
        plan = _sorting_plan(mechanism, sources, document.spec, unit, options, workers)
        source = sources[0] if plan or (grammar.releases_records(mechanism) and len(sources) == 1) else None
        for one in sources if source is not None else ():  # they are read twice
            reading.enter_context(one.unchanged())
        given = _read(table, sources, document, mechanism, unit, registry, options, workers, plan)
        _check_records(given, document.spec, unit)
        grammar.check_table(mechanism, given, space)
        place.open()
        guard, folder = GuardedRun(options.guard), None
        try:
            if not options.resume:
                guard.reserve(document)
            folder = _checkpoints(document, mechanism, given, place, registry, options)
            output, written = Output(tables={}), tuple[WrittenTable, ...]()
            path, warning = place.ready / f"released{suffix}", warning_of(unfit(options.seed, judged))
            if plan is not None:
                files = {name: place.ready / f"{name}{suffix}" for name in ("released", "households", "persons")}
                written, output, given = _by_sorting(
                    mechanism, given, sources, document, plan, files, place.spill, warning, registry, options, guard, workers,
                    accuracy,
                )  # fmt: skip
                reading.close()
            elif not grammar.releases_records(mechanism) or (isinstance(given, Table) and given.members is not None):
                output = _output(mechanism, given, document, workers, folder, options, guard)
                _check_names(mechanism, output)
                output, written = _main_written(mechanism, given, output, document.spec, unit, path, warning, registry)
            else:
                written = (_in_batches(mechanism, given, source, document, unit, path, warning, registry, options, guard),)
                reading.close()
            options.stage("checking")
            release = Release(
                document=document,
                mechanism=mechanism,
                origin=registry.provenance(mechanism),
                given=given,
                output=output,
                name=table,
                seed=options.seed,
                workers=workers.name,
                held=(),
                exposed=exposed_records(document.spec, given, most_kinds=MOST_KINDS),
                suffix=suffix,
                run=folder,
                place=place,
                standing=judged,
                accuracy=accuracy,
                guard=options.guard,
                written=written,
                source=source,
                assumptions=assumptions(space, unit),
            )
            return attrs.evolve(release, held=tuple(_all_held(release, unit, () if plan is None else plan.by_digest)))
        except BaseException:
            try:
                guard.abandon(folder)
                place.leave()
            except KeyboardInterrupt:  # a library told of an interruption itself, and that of the signal comes after it
                place.leave()
            raise


def _checked_mechanism(document: SpecDocument) -> Mechanism:
    """The mechanism, which can release tables of the space.

    Raises:
        ReleaseError: there is none, or it cannot.
    """
    mechanism, space = document.mechanism, document.spec.space
    if mechanism is None:
        raise ReleaseError(f"specification {document.id}", "names no mechanism", "add a [mechanism] table")
    mechanism.check(space)
    mechanism.check_release(space)
    return mechanism


def _all_held(release: Release, unit: str, by_digest: Sequence[Marginal]) -> Iterator[Held]:
    """The checks of all invariants; of those that were compared by digests, as the table was written."""
    spec = release.document.spec
    for invariant in spec.multiverse.induced_by() or ():
        if not grammar.keeps_invariant(release.mechanism, invariant, spec.space, unit):
            yield Held(invariant=str(invariant), reason=UNSTATED)
        elif invariant.as_marginal() in by_digest:
            yield Held(invariant=str(invariant), by_digest=True)
        else:
            yield held(invariant, release.given, release.main, unit, release.mechanism.name)


def _judged(document: SpecDocument, registry: Registry, options: Options) -> Standing:
    """How the claim of the specification stands.

    Raises:
        RefutedReleaseError, UnverifiedReleaseError: nothing may be released under it.
    """
    options.stage("judging")
    judged = standing(document, registry)
    if judged.is_false:
        advice = "nothing is released under it; see `dpspec verify`"
        raise RefutedReleaseError(f"specification {document.id}", judged.sentence, advice)
    if not judged.word.is_good and not options.unverified:
        raise _not_verified(document, judged)
    return judged


def _not_verified(document: SpecDocument, judged: Standing) -> UnverifiedReleaseError:
    """The error of a claim that is not verified, with the exit code of the claim."""
    advice = "add --unverified (in Python: unverified=True) to release nevertheless; the release is then marked as unfit"
    error = UnverifiedReleaseError(f"specification {document.id}", f"{judged.sentence}: nothing was released", advice)
    error.exit_code = judged.exit_code  # type: ignore[misc]  # of this error, not of its class
    return error


def _accuracy(document: SpecDocument) -> Accuracy:
    """What is known of the margins before anything is drawn.

    Raises:
        ReleaseError: no margin follows from the law of noise that is added to counts.
    """
    known = known_accuracy(document, LEVEL)
    if all(one.source != "law" for one in known.tables):
        reason = "; ".join(f"{table}: {why}" for table, why in known.unknown) or "the law depends on the true count"
        advice = "leave it out; dpspec accuracy SPEC RELEASE says what is known after the release"
        raise ReleaseError("--margins", f"are known for noisy counts alone ({reason})", advice)
    return known


def randomness(seed: int | None) -> str:
    """Where the randomness of a release comes from, in words."""
    return "operating system" if seed is None else f"seed {seed}"


def sealed(table: Table) -> Table:
    """The table with columns that cannot be written to, so that what was compared is what will be released."""
    codes = {}
    for name, column in table.codes.items():
        codes[name] = column.view()
        codes[name].flags.writeable = False
    members = table.members
    if members is not None:
        owner = members.owner.view()
        owner.flags.writeable = False
        members = attrs.evolve(members, table=sealed(members.table), owner=owner)
    return attrs.evolve(table, codes=codes, members=members)


# --- what goes in --------------------------------------------------------------------------------


MEMORY_OF_PROCESS = 250_000_000
"""The memory of a release other than its table, in bytes: libraries, and batches of records (measured, docs/scale.md)."""


def _read(  # noqa: PLR0917 - one table with all that says how it is read
    table: str,
    sources: Sequence[TableSource],
    document: SpecDocument,
    mechanism: Mechanism,
    unit: str,
    registry: Registry,
    options: Options,
    workers: Workers,
    plan: SortingPlan | None,
) -> Countable:
    """The table, or what is counted of it, where nothing else is read or its records are read again as they are released.

    Raises:
        ReleaseError: it is known that the memory does not suffice.
    """
    allowed = default_memory() if options.memory is None else options.memory
    wanted = None
    if plan is not None:
        wanted = plan.counted if plan.strata is None else (*plan.counted, plan.strata)
        counted = count_cells(sources[0], wanted, lambda rows: options.progress(rows, 0), workers)
        if len(sources) == 1:
            return counted
        columns = tuple(a for one in sources for a in one.attributes)
        return attrs.evolve(counted, inside=tables.CountedTable(attributes=columns, records=0, found={}))  # not counted yet
    if len(sources) == 1 and not mechanism.resumable:
        wanted = counts_wanted(mechanism, document.spec, unit, sources[0].attributes)
    if wanted is not None:
        batches = 0
        if grammar.releases_records(mechanism):
            batches = memory_of_batches(len(released_columns(mechanism, document.spec.space, sources[0].attributes)))
        needed = batches + _memory_of_numbers(mechanism, document.spec, wanted, sources[0].attributes, PER_NUMBER)
        if allowed is not None and needed > allowed:
            what, instead = ("its batches take", "release fewer columns") if batches else ("its counts take", "count fewer cells")
            raise _too_large(allowed, needed, what, instead)
        return count_cells(sources[0], wanted, lambda rows: options.progress(rows, 0), workers)
    counting = (
        options.progress if allowed is None else _within(allowed, sources, mechanism, document.spec.space, options.progress)
    )
    return given_table(table, document, unit, registry, counting)


def _check_records(given: Countable, spec: PrivacySpec, unit: str) -> None:
    """Refuse a table that is no dataset of the space, and one about which nothing is promised."""
    check_dataset(given, spec.space, unit)
    if spec.multiverse.induced_by() is None:
        _check_universe(given, spec, unit)


def assumptions(space: DatasetSpace, unit: str) -> tuple[str, ...]:
    """What a promise supposes of the larger units that hold the records of a table, and what the table does not say.

    Of other spaces than collections the table itself is found to be a dataset.

    Args:
        space: the dataset space.
        unit: what a record of the table is.
    """
    collections = Collections.found_in(space)
    if collections is None or unit == space.units[0]:
        return ()
    outer = space.units[0]
    (least, most), each = collections.total_range(), blocks.nesting_of(space).most_within(unit, outer)
    found = [] if each is None else [f"no {outer} has more than {errors.count(each, unit)}"]
    if least:
        found.append(f"the number of {outer}s is at least {least:,}")
    if most is not None:
        found.append(f"the number of {outer}s is at most {most:,}")
    return tuple(f"{one} (not checked: the table does not state the {outer} of a {unit})" for one in found)


def _check_universe(given: Countable, spec: PrivacySpec, unit: str) -> None:
    """Refuse a table that lies in none of the universes of a specification, where these are not those of published facts."""
    if not isinstance(given, Table) or unit != spec.space.units[0]:
        rule = "lists universes, and it is not seen in which of them a table like this one lies"
        raise ReleaseError(f"multiverse {spec.multiverse.name}", rule, "state the universes by what is published exactly")
    if risks.lies_outside(given, spec):
        raise ReleaseError("table", risks.OUTSIDE, "release it under a promise that covers it")


def counts_wanted(
    mechanism: Mechanism, spec: PrivacySpec, unit: str, attributes: Sequence[Attribute]
) -> tuple[Marginal, ...] | None:
    """All counts that a release and what is reported of it read of a table; None where the mechanism needs the whole table.

    A mechanism that releases each record by itself reads the records again. Where universes are not those of published facts, the
    whole table says in which of them it lies.

    Args:
        unit: what a record of the table is.
        attributes: the columns of the table.
    """
    if spec.multiverse.induced_by() is None:
        return None
    read: tuple[Marginal, ...] | None = ()
    asked = _kept_invariants(mechanism, spec, unit)
    if not grammar.releases_records(mechanism):
        read = grammar.counts_read(mechanism, attributes, spec.space)
        asked += _views(mechanism, spec)
    if read is None:
        return None
    names = {a.name for a in attributes}
    known = (table for table in asked if table.unit == unit and table.mentions().keys() <= names)
    kinds = (
        [Marginal(attributes=tuple(a.name for a in attributes), unit=unit)] if Collections.found_in(spec.space) is None else []
    )
    return (*read, *known, *kinds, *counts_exposing(spec, attributes, MOST_KINDS))


def _views(mechanism: Mechanism, spec: PrivacySpec) -> list[Marginal]:
    """The tables of counts that a mechanism releases with noise, as far as it states them."""
    with contextlib.suppress(DpspecError, grammar.NoStructure):
        structure = grammar.stated_structure(mechanism, spec.space)
        return [view.table for view in (() if structure is None else structure.views)]
    return []


PER_NUMBER, MOST_PER_NUMBER = 24, 44
"""Bytes that a noisy number takes at least and at most, in addition to its count: 16 million with a scale of 1.4 took 33 bytes
each, and with a scale of a million 51."""


def _memory_of_numbers(
    mechanism: Mechanism, spec: PrivacySpec, wanted: Sequence[Marginal], attributes: Sequence[Attribute], each: int
) -> int:
    """The bytes that counts take, and the noisy numbers that a mechanism is known to release of a table with these columns.

    Args:
        wanted: what is counted.
        attributes: the columns of the table.
        each: the bytes of a noisy number.
    """
    return MEMORY_OF_PROCESS + memory_of_counts(wanted, attributes) + each * _numbers(mechanism, spec, attributes)


PER_TEXT = 52
"""Bytes that a category takes at most in a column of texts, which is written at once: 25 million took 51 bytes each."""


def _columns_of_texts(read: Sequence[Marginal], attributes: Sequence[Attribute]) -> int:
    """How many columns of released numbers have a text in each row: of so many categories that they are not listed, and a mark in
    the rows of a table that does not have them."""
    tabled = [{*table.attributes} for table in read]
    large = (a.name for a in attributes if a.size > tables.MOST_LISTED)
    return sum(any(name in names for names in tabled) and not all(name in names for names in tabled) for name in large)


def _numbers(mechanism: Mechanism, spec: PrivacySpec, attributes: Sequence[Attribute]) -> int:
    """How many numbers a mechanism is known to release of a table with these columns."""
    if grammar.releases_records(mechanism):
        return 0
    names = {a.name for a in attributes}
    known = [table for table in _views(mechanism, spec) if table.mentions().keys() <= names]
    return memory_of_counts(known or grammar.cells_read(mechanism, attributes, spec.space) or (), attributes) // 8


MOST_CELLS = 1 << 22
"""Invariants of more cells are compared by digests, where the table does not fit into memory."""
PER_RECORD, PER_JOINED = 60, 85
"""Bytes that a swap in memory takes for each record, in addition to the table before and after, if all are in one stratum:
5 and 12 million records of 5 bytes took 61 and 62 bytes each. Many strata take half of that, which is not known before. Of
households with persons, 30 million in four strata took 79 bytes each, their identifiers included."""


def _fits(sources: Sequence[TableSource], allowed: int) -> bool:
    """Whether it is known that a table fits into memory, of one source, or of households and persons."""
    sizes = [(source, _most_records(source)) for source in sources]
    records = sum(count for _, count in sizes)
    each = PER_RECORD if len(sources) == 1 else PER_JOINED
    return MEMORY_OF_PROCESS + 2 * sum(memory_of(*one) for one in sizes) + each * records <= allowed


def _most_records(source: TableSource) -> int:
    """The number of records of a table, at most.

    A file of CSV does not state the number of its records. Each takes a byte for each column, which ends a value, and one or more
    for each value that is read.
    """
    records = source.records()
    if records is None:
        read = {a.source for a in source.attributes}
        headers = ((path, format_of(path, source.formats).header(path)) for path in source.partitions)
        records = sum(path.stat().st_size // (len(names) + len(read & {*names})) for path, names in headers)
    return records


PER_STRATUM = 64
"""Bytes that a stratum takes: its counts as they are added up, its number, size and place, and masks."""


@attrs.frozen(kw_only=True)
class SortingPlan:
    """How a release that does not fit into memory is made by sorting.

    Args:
        counted: the counts of the table that are compared or reported.
        invariants: those of them that must stay the same.
        by_digest: the invariants of too many cells to be counted, which are all records through some columns.
        of_persons: the counts of persons, with the attributes of their households, that must stay the same.
        strata: the table of the strata in which values are exchanged; None where none are.
        allowed: the bytes that the run may use.
        needed: those that it takes without what sorts, and without strata.
    """

    counted: tuple[Marginal, ...]
    invariants: tuple[Marginal, ...]
    by_digest: tuple[Marginal, ...]
    of_persons: tuple[Marginal, ...]
    strata: Marginal | None
    allowed: int
    needed: int

    def memory(self, given: Countable) -> int:
        """The bytes that are left to what sorts a table that was counted.

        Raises:
            ReleaseError: it has too many strata.
        """
        strata = 0 if self.strata is None else len(given.cells(self.strata.attributes).occurring()[0])
        needed = self.needed + PER_STRATUM * strata
        if needed + LEAST > self.allowed:
            raise _too_large(self.allowed, needed + LEAST, "sorting the table and its strata take", "match fewer attributes")
        return self.allowed - needed


def _sorting_plan(  # noqa: PLR0917 - one run with all that it needs
    mechanism: Mechanism, sources: Sequence[TableSource], spec: PrivacySpec, unit: str, options: Options, workers: Workers
) -> SortingPlan | None:
    """The plan of a release by sorting; None where the mechanism does not sort, or memory is known to suffice without it.

    Raises:
        ReleaseError: the memory does not suffice to sort.
        MissingLibraryError: nothing is installed that sorts.
    """
    allowed = default_memory() if options.memory is None else options.memory
    by_facts = spec.multiverse.induced_by() is not None  # of other universes, the whole table says in which it lies
    if allowed is None or not by_facts or Collections.found_in(spec.space) is None or not _can_sort(mechanism, sources):
        return None
    attributes = sources[0].attributes
    if isinstance(mechanism, grammar.ReleasesCells):
        return _plan_for_cells(mechanism, sources[0], spec, unit, allowed, workers)
    if _fits(sources, allowed):
        return None
    duckdb()
    columns = attributes + tuple(a for one in sources[1:] for a in one.attributes)
    held = _kept_invariants(mechanism, spec, unit)
    known = _evaluated(held, (unit,), attributes)
    inside = _evaluated(held, [one for one in spec.space.units[:2] if one != unit], columns) if len(sources) > 1 else ()
    large = tuple(
        one for one in (*known, *inside) if not one.where and memory_of_counts([one], columns) > 8 * MOST_CELLS
    )  # fmt: skip
    invariants, of_persons = (tuple(one for one in tables if one not in large) for tables in (known, inside))
    counted = (*invariants, *counts_exposing(spec, attributes, MOST_KINDS))
    pieces = max(workers.parts, 1) * sorting.memory_of_piece(attributes) + len(sources) * memory_of_batches(len(columns))
    pieces += grammar.memory_of_run(mechanism, sum(map(_most_records, sources)), spec.space)
    needed = MEMORY_OF_PROCESS + 2 * (memory_of_counts(counted, attributes) + memory_of_counts(of_persons, columns)) + pieces
    if needed + LEAST > allowed:
        raise _too_large(allowed, needed + LEAST, "sorting the table takes", "release fewer columns")
    strata = Marginal(attributes=mechanism.exchanged_values()[1]) if isinstance(mechanism, grammar.ExchangesValues) else None
    return SortingPlan(
        counted=counted, invariants=invariants, by_digest=large, of_persons=of_persons, strata=strata, allowed=allowed,
        needed=needed,
    )  # fmt: skip


def _can_sort(mechanism: Mechanism, sources: Sequence[TableSource]) -> bool:
    """Whether a mechanism releases a table of these sources by sorting; folders of persons must not state their households."""
    if len(sources) != 2:
        return len(sources) == 1 and grammar.releases_sorted(mechanism)
    outer, inner = sources
    stated = (one for place in range(len(inner.partitions)) for one in inner.passed_by_folders(place, outer.attributes))
    return grammar.releases_households_sorted(mechanism) and next(stated, None) is None


def _evaluated(held: Iterable[Marginal], units: Iterable[str], attributes: Sequence[Attribute]) -> tuple[Marginal, ...]:
    """The tables of counts of these units, in these columns."""
    names = {a.name for a in attributes}
    return tuple(one for one in held if one.unit in [*units] and one.mentions().keys() <= names)


def _plan_for_cells(  # noqa: PLR0917 - one run with all that it needs
    mechanism: Mechanism, source: TableSource, spec: PrivacySpec, unit: str, allowed: int, workers: Workers
) -> SortingPlan | None:
    """The plan of a release of numbers for the cells of tables of counts. Of numbers no invariant is evaluated.

    None where the numbers fit into memory, or could fit into less than sorting takes.

    Raises:
        ReleaseError: the memory does not suffice to sort.
        MissingLibraryError: nothing is installed that sorts.
    """
    attributes = source.attributes
    cells, wanted = grammar.cells_read(mechanism, attributes, spec.space), counts_wanted(mechanism, spec, unit, attributes)
    if cells is None:
        return None
    if wanted is not None:
        least, most = (_memory_of_numbers(mechanism, spec, wanted, attributes, each) for each in (PER_NUMBER, MOST_PER_NUMBER))
    else:  # the whole table is held, and those of its cells that occur are counted
        records, numbers = _most_records(source), _numbers(mechanism, spec, attributes)
        whole = MEMORY_OF_PROCESS + memory_of(source, records) + PER_RECORD * records
        least, most = whole + PER_NUMBER * numbers, whole + MOST_PER_NUMBER * numbers
    most += PER_TEXT * _numbers(mechanism, spec, attributes) * _columns_of_texts(cells, attributes)
    held = [table for table in cells if not cell_stream.is_large(table, attributes)]
    counted = counts_exposing(spec, attributes, MOST_KINDS)
    columns = len({name for table in cells for name in table.attributes}) + _COLUMNS_OF_NUMBERS
    pieces = (max(workers.parts, 1) + 1) * cell_stream.memory_of_piece() + memory_of_batches(columns)
    of_held = memory_of_counts(held, attributes)
    needed = MEMORY_OF_PROCESS + 2 * (memory_of_counts(counted, attributes) + of_held) + MOST_PER_NUMBER * of_held // 8 + pieces
    too_many = any(_are_listed(table, attributes, spec.space) for table in cells)  # for any memory
    if (most <= allowed or least <= needed + LEAST) and not too_many:
        return None
    if needed + LEAST > allowed:
        raise _too_large(allowed, needed + LEAST, "sorting the cells takes", "count fewer cells")
    duckdb("count fewer cells" if too_many else MORE_MEMORY)
    return SortingPlan(
        counted=counted, invariants=(), by_digest=(), of_persons=(), strata=None, allowed=allowed, needed=needed
    )  # fmt: skip


def _are_listed(table: Marginal, attributes: Sequence[Attribute], space: DatasetSpace) -> bool:
    """Whether a table in memory may have its cells listed one by one, as labels, and these are very many."""
    return (
        memory_of_counts([table], attributes) > 8 * answers.MOST_CELLS
        and answers.number_of_cells(table, space) > cell_stream.MOST_COUNTED
    )


_COLUMNS_OF_NUMBERS = 4
"""The columns of released numbers that are no attributes: query, value, margin and status."""


def _by_sorting(  # noqa: PLR0917 - one run with all that it needs
    mechanism: Mechanism,
    given: Countable,
    sources: Sequence[TableSource],
    document: SpecDocument,
    plan: SortingPlan,
    files: Mapping[str, Path],
    folder: Path,
    warning: str | None,
    registry: Registry,
    options: Options,
    guard: GuardedRun,
    workers: Workers,
    accuracy: Accuracy | None,
) -> tuple[tuple[WrittenTable, ...], Output, Countable]:
    """The tables that one run writes from sorted records, what is reported with them, and what was counted before.

    Args:
        given: what was counted of the table.
        sources: where its records are read again; those of households and persons are two.
        files: the files that may be written: released, or households and persons.
        folder: where records are sorted.
        warning: what the files say of themselves.
        accuracy: of the numbers, where their margins are written with them.
    """
    space, formats, memory = document.spec.space, formats_of(registry), plan.memory(given)
    paths = [files["released"]] if len(sources) == 1 else [files["households"], files["persons"]]
    notes = {} if warning is None else {"dpspec": warning}

    def begun() -> Run:
        guard.begin(document, None, resumed=False)
        options.stage("drawing")
        return Run(source=_source(None, options), workers=workers, progress=options.progress)

    try:
        private_folder(paths[0].parent)
        for path in paths:
            path.touch(mode=0o600)
        with spilling(folder, memory) as sorter:
            if len(sources) > 1:
                joined = JoinedHouseholds.of(sources, space, sorter)
                of_both = HouseholdRelease(
                    mechanism=mechanism,
                    space=space,
                    run=begun(),
                    sorter=sorter,
                    joined=joined,
                    guard=_blamed,
                    asked=(plan.invariants, plan.of_persons),
                    invariants=plan.by_digest,
                )
                both, output, inside = of_both.write(paths, formats, notes)
                return both, output, attrs.evolve(cast("tables.CountedTable", given), inside=inside)
            release = SortingRelease(
                mechanism=mechanism,
                space=space,
                run=begun(),
                sorter=sorter,
                attributes=given.attributes,
                records=len(given),
                guard=_blamed,
                accuracy=accuracy,
            )
            read = sources[0].batches(lambda rows: options.progress(rows, len(given)))
            written, output = release.write(read, paths[0], formats, notes, plan.invariants, plan.by_digest)
            return (written,), output, given
    except OSError as problem:
        raise _unwritable(paths[0].parent, problem) from None


def _kept_invariants(mechanism: Mechanism, spec: PrivacySpec, unit: str) -> list[Marginal]:
    """The invariants of a claim that are tables of counts and that the mechanism states that it keeps.

    Args:
        unit: what a record of the table is.
    """
    held = spec.multiverse.induced_by() or ()
    stated = (one for one in held if grammar.keeps_invariant(mechanism, one, spec.space, unit))
    return [counted for one in stated if (counted := one.as_marginal()) is not None]


def _within(
    allowed: int, sources: Sequence[TableSource], mechanism: Mechanism, space: DatasetSpace, progress: Progress
) -> Progress:
    """Progress of reading a whole table that ends the run once the table is known not to fit.

    Raises:
        ReleaseError: its files say that it does not fit.
    """

    def refuse(table: int, records: int) -> None:
        others = grammar.memory_of_run(mechanism, records, space)
        needed = table + others + MEMORY_OF_PROCESS
        if needed > allowed:
            held = "the whole table and what it counts of it, which take" if others else "the whole table, which takes"
            what = f"the mechanism {mechanism.name} holds {held}"
            raise _too_large(allowed, needed, what, "release counts with noise, which need no whole table")

    known = [(source, count) for source in sources if (count := source.records()) is not None]
    refuse(sum(memory_of(source, count) for source, count in known), sum(count for _, count in known))
    least = min((memory_of(source, 1) for source in sources), default=0)

    def report(done: int, total: int) -> None:
        refuse(done * least, done)
        progress(done, total)

    return report


def _too_large(allowed: int, needed: int, what: str, instead: str) -> ReleaseError:
    rule = f"is {size_text(allowed)}, and {what} at least {size_text(needed)}"
    return ReleaseError("--memory", rule, f"give --memory {size_text(needed).replace(' ', '')} or more, or {instead}")


def _output(  # noqa: PLR0917 - one run with all that it needs
    mechanism: Mechanism,
    given: Countable,
    document: SpecDocument,
    workers: Workers,
    folder: Folder | None,
    options: Options,
    guard: GuardedRun,
) -> Output:
    """What one run gives; an unfinished run that cannot be gone on with is forgotten."""
    source = _source(folder, options, guard.notes())
    guard.begin(document, folder, resumed=options.resume)
    options.stage("drawing")
    run = Run(source=source, workers=workers, checkpoints=folder or NoCheckpoints(), progress=options.progress)
    try:
        return _guarded(mechanism, given, document.spec.space, run)
    except ValueError:  # table or specification is refused, so there is nothing to go on with
        if folder is not None:
            folder.finish()
        raise


def released_columns(mechanism: Mechanism, space: DatasetSpace, attributes: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
    """The columns that a mechanism releases, which releases each record by itself; nothing is drawn."""
    return _batch_release(mechanism, space, attributes, SeededRandomness(0)).columns()


def _batch_release(
    mechanism: Mechanism, space: DatasetSpace, attributes: tuple[Attribute, ...], source: KeyedRandomness
) -> BatchRelease:
    return BatchRelease(mechanism=mechanism, space=space, source=source.placed(), attributes=attributes, guard=_blamed)


def _in_batches(  # noqa: PLR0917 - one run with all that it needs
    mechanism: Mechanism,
    given: Countable,
    source: TableSource | None,
    document: SpecDocument,
    unit: str,
    path: Path,
    warning: str | None,
    registry: Registry,
    options: Options,
    guard: GuardedRun,
) -> WrittenTable:
    """The table that one run writes as it draws it.

    Args:
        given: the table, or what was counted of it.
        source: where its records are read again, unless `given` holds them.
        path: the file that is written.
        warning: what it says of itself.
    """
    drawn = _source(None, options)
    guard.begin(document, None, resumed=False)
    options.stage("drawing")
    formats, space = formats_of(registry), document.spec.space
    read: Iterable[Table] = [given] if isinstance(given, Table) else []
    if source is not None and not isinstance(given, Table):
        read = source.batches(lambda rows: options.progress(rows, len(given)))
    asked = [one for one in _kept_invariants(mechanism, document.spec, unit) if one.unit == unit]
    try:
        private_folder(path.parent)
        path.touch(mode=0o600)
        release = _batch_release(mechanism, space, given.attributes, drawn)
        return release.write(read, path, formats, {} if warning is None else {"dpspec": warning}, asked)
    except OSError as problem:
        raise _unwritable(path.parent, problem) from None


def _main_written(  # noqa: PLR0917 - one table with all that says how it is written
    mechanism: Mechanism,
    given: Countable,
    output: Output,
    spec: PrivacySpec,
    unit: str,
    path: Path,
    warning: str | None,
    registry: Registry,
) -> tuple[Output, tuple[WrittenTable, ...]]:
    """The main table of a mechanism that releases streams alone, written, and with its invariants counted.

    It is held in memory where the mechanism states what it keeps, which is compared record by record.

    Args:
        unit: what its records are.
        path: the file that is written, in the name of the table.
        warning: what it says of itself.
    """
    if output.tables or mechanism.keeps(tuple(a.name for a in given.attributes)):
        return output.with_main_held(), ()
    (name, main), *others = output.streams.items()
    asked = [one for one in _kept_invariants(mechanism, spec, unit) if one.unit == unit]
    try:
        private_folder(path.parent)
        file = path.with_stem(name)
        file.touch(mode=0o600)
        notes = {} if warning is None else {"dpspec": warning}
        written = write_batches(main.attributes, main.regrouped(MOST_RECORDS), file, formats_of(registry), notes, asked)
    except OSError as problem:
        advice = (GO_ON,) if mechanism.resumable else ()
        raise _unwritable(path.parent, problem, *advice) from None
    return attrs.evolve(output, streams=dict(others)), (written,)


_CHARGE = "charge"
"""The token of the reservation, among the stages of an unfinished run."""


class GuardedRun:
    """One run and the guard of its budget: what was reserved and not drawn from is given back.

    Args:
        guard: the guard; None where no budget is kept.
    """

    def __init__(self, guard: ReleaseGuard | None) -> None:
        self._guard, self._reserved, self._drawn = guard, False, False

    def reserve(self, document: SpecDocument) -> None:
        """Reserve the budget of a new run."""
        if self._guard is not None:
            self._guard.reserve(document)
            self._reserved = True

    def notes(self) -> dict[str, str]:
        """What a new run in stages keeps from its first moment on: a run without it was begun without an account."""
        return {_CHARGE: self._guard.token} if self._guard is not None and self._reserved else {}

    def begin(self, document: SpecDocument, folder: Folder | None, *, resumed: bool) -> None:
        """Record that drawing begins, under the reservation of this run, or of the one that goes on.

        Raises:
            ReleaseError: the run that goes on was charged and no account is given, or was not charged and one is.
        """
        charge = None if folder is None else folder.path / _CHARGE
        if resumed and charge is not None and charge.exists() != (self._guard is not None):
            rule = "was not begun with an account" if self._guard is not None else "was charged to an account"
            advice = "go on without --account" if self._guard is not None else "go on with --account"
            raise ReleaseError("unfinished run", rule, f"{advice}, or delete it and begin anew", value=str(charge.parent))
        if self._guard is None:
            return
        if resumed and charge is not None:
            self._guard.resume(document, charge.read_text(encoding="utf-8"))
        self._drawn = True
        self._guard.draw()

    def abandon(self, folder: Folder | None) -> None:
        """Give back what was reserved here, unless something may be drawn; where that fails, it stays reserved and counts.

        Args:
            folder: where the run may have begun; without its charge it could not go on, so it is forgotten.
        """
        if self._guard is not None and self._reserved and not self._drawn:
            with contextlib.suppress(OSError):
                if folder is not None and (folder.path / _CHARGE).read_text(encoding="utf-8") == self._guard.token:
                    folder.finish()
            with contextlib.suppress(DpspecError):
                self._guard.abandon()


def _source(folder: Folder | None, options: Options, notes: Mapping[str, str] = MappingProxyType({})) -> KeyedRandomness:
    """The source of a new run, which keeps these notes, or of the one that goes on."""
    if folder is not None and options.resume:
        return KeyedRandomness(folder.resume(), fit_for_publication=options.seed is None)
    new: KeyedRandomness = SystemRandomness() if options.seed is None else SeededRandomness(options.seed)
    if folder is not None:
        folder.begin(new.key, notes)
    return new


def _checkpoints(  # noqa: PLR0917 - one run with all that it needs
    document: SpecDocument, mechanism: Mechanism, given: Countable, place: ReleasePlace, registry: Registry, options: Options
) -> Folder | None:
    """The folder of a run that works in stages; of another one no digest is taken, which takes as long as reading the table."""
    if not mechanism.resumable or not isinstance(given, Table):
        return None
    return Folder(place.unfinished, _identity(document, mechanism, given, registry, options))


def _identity(document: SpecDocument, mechanism: Mechanism, given: Table, registry: Registry, options: Options) -> dict[str, Any]:
    """What must be equal for a run to go on with the noise that it has drawn."""
    return {
        "specification": document.sha256 or document.id,
        "mechanism": f"{mechanism!r} of {registry.provenance(mechanism)}",
        "table": digest_of(given),
        "randomness": randomness(options.seed),
        "version": ", ".join(f"{name} {version(name)}" for name in _DRAWN_BY),
    }


_DRAWN_BY = ("dpspec", "dpspec-release")
"""The packages that draw for every mechanism, of which another version may draw other noise from the same key.

That of the mechanism is named with the mechanism.
"""


def digest_of(table: Table) -> str:
    """The SHA-256 of a table as it was read: of its columns and records, not of a file that may have changed since."""
    found = hashlib.sha256()
    for attribute in table.attributes:
        found.update(repr(attribute).encode() + b"\n")
        _add_to_digest(found, table.codes[attribute.name])
    if table.members is not None:
        found.update(digest_of(table.members.table).encode())
        _add_to_digest(found, table.members.owner)
    return found.hexdigest()


def _add_to_digest(found: Any, column: Any) -> None:
    """Add a column as 64-bit integers, of which some are made at a time."""
    for begin in range(0, len(column), MOST_RECORDS):
        found.update(column[begin : begin + MOST_RECORDS].astype("<i8").tobytes())


def _suffix(path: Path, wanted: str | None, formats: Formats) -> str:
    """The requested suffix, or that of the input: of a directory that of its files, of a registered table .csv."""
    written = {suffix: one for suffix, one in formats.items() if not one.is_read_only}
    if wanted is not None:
        named = Path("released" + wanted.replace("/", ""))
        format_of(named, written)
        return named.suffix.lower()
    if path.is_dir():
        return next((part.suffix.lower() for part in sorted(path.rglob("*")) if part.suffix.lower() in written), ".csv")
    return path.suffix.lower() if path.suffix.lower() in written else ".csv"


# --- the draw ------------------------------------------------------------------------------------


def _raised(problem: BaseException) -> str:
    """What was raised and where, without its message: that may quote cells, which are confidential."""
    return f"raised {type(problem).__name__} in release() ({errors.raised_at(problem)})"


@contextlib.contextmanager
def _blamed(mechanism: Mechanism) -> Iterator[None]:
    """What a mechanism raises is its fault, and told without what it says of the table."""
    try:
        yield
    except (DpspecError, MemoryError):
        raise
    except Exception as problem:
        raise PluginContractError(f"mechanism {mechanism.name}", _raised(problem), "report it to the plugin's author") from None
    except BaseException as problem:
        if not type(problem).__name__.endswith("PanicException"):
            raise
        raise LibraryError(f"mechanism {mechanism.name}", f"{_raised(problem)}: a library panicked", "run again") from None


def _guarded(mechanism: Mechanism, table: Countable, space: DatasetSpace, run: Run) -> Output:
    with _blamed(mechanism):
        output = mechanism.run(cast("Table", table), space, run)  # counts only for a mechanism that says it reads nothing else
    wrong = [type(table).__name__ for table in output.tables.values() if not isinstance(table, Table)]
    if wrong:
        raise PluginContractError(f"mechanism {mechanism.name}", "release() must return a Table", value=wrong[0])
    return attrs.evolve(output, tables={name: sealed(table) for name, table in output.tables.items()})


def _check_names(mechanism: Mechanism, output: Output) -> None:
    """Refuse tables whose names are no names of files, or those of other files of a release."""
    for name in (*output.tables, *output.streams):
        if not _NAME.fullmatch(name) or name in ("report", WARNING.partition(".")[0]):
            raise PluginContractError(f"mechanism {mechanism.name}", "names a table that can be no file", value=name)
