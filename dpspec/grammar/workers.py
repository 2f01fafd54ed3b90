"""One run of a mechanism on a real table: workers that run its kernels, checkpoints from which it goes on, and what comes out.

A *kernel* is a pure function of one part, and a part is a mapping of equally long numpy columns that holds whole strata (or
whole parent nodes). All that is random in a kernel is drawn by place from a keyed source inside it, so a part that is run
twice, or on another machine, gives the same columns: workers may cut, move, lose and repeat parts as they like.

*Checkpoints* are finished stages of a long run, kept on disk so that an interrupted one goes on without drawing anything twice.

Before anything is drawn, the folder says which run it belongs to (digests of specification and table, versions) and holds
the key of its randomness, readable by its owner only. A run that goes on has the same key, so what it draws again is what was
drawn before: nothing is spent twice. Under the same key, *another* table would be protected by the same noise, and the
difference of the two releases would be free of it; so a folder of another run is refused, never reused.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import attrs

from dpspec.base.errors import CheckpointError, ReleaseError
from dpspec.base.files import private_folder, whole
from dpspec.base.lazy import late_module
from dpspec.base.randomness import KEY_BYTES, Randomness
from dpspec.base.types import Progress
from dpspec.grammar.tables import Table, TableStream

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = late_module("numpy")

Columns: TypeAlias = "Mapping[str, npt.NDArray[Any]]"
Kernel = Callable[[Columns], Columns]


class Workers(ABC):
    """Run a kernel over parts: one process, or many; registered under their `name`."""

    name: ClassVar[str]

    @property
    def parts(self) -> int:
        """Into how many parts a mechanism should cut its work at least."""
        return 1

    @abstractmethod
    def map(self, kernel: Kernel, parts: Iterable[Columns]) -> Iterator[Columns]:
        """The kernel's result for each part, in the order of the parts.

        Args:
            kernel: picklable: a function of a module, or `functools.partial` of one.
        """

    def close(self) -> None:
        """Give back what the workers hold: processes, connections. Called once, when the release is drawn or has failed."""
        return


class Embedded(Workers):
    """The default: one part after the other, in this process."""

    name: ClassVar[str] = "embedded"

    def map(self, kernel: Kernel, parts: Iterable[Columns]) -> Iterator[Columns]:
        return map(kernel, parts)


# --- checkpoints ----------------------------------------------------------------------------------


Arrays: TypeAlias = "Mapping[str, npt.NDArray[Any]]"

_RUN, _KEY = "run.json", "key"
FORMAT = 2
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


class Checkpoints(ABC):
    """Arrays by the name of the stage that made them."""

    @abstractmethod
    def load(self, stage: str) -> Arrays | None:
        """The result of a stage, or None when it has not been finished."""

    @abstractmethod
    def save(self, stage: str, arrays: Arrays) -> None:
        """Keep the result of a stage; safely on disk when this returns."""

    def of_one_run(self) -> Checkpoints:
        """Where a mechanism keeps what it reads again in the same run: here, or in memory where nothing is kept."""
        return self


class InMemory(Checkpoints):
    """Stages in the memory of this process, for one call of one mechanism.

    >>> stages = InMemory()
    >>> stages.save("first", {"counts": np.arange(3)})
    >>> stages.load("first")["counts"].sum(), stages.load("second")
    (np.int64(3), None)
    """

    def __init__(self) -> None:
        self._stages: dict[str, Arrays] = {}

    def load(self, stage: str) -> Arrays | None:
        return self._stages.get(stage)

    def save(self, stage: str, arrays: Arrays) -> None:
        self._stages[stage] = dict(arrays)


class NoCheckpoints(Checkpoints):
    """Nothing is kept: short runs are begun anew."""

    def of_one_run(self) -> Checkpoints:
        return InMemory()

    def load(self, stage: str) -> Arrays | None:
        return None

    def save(self, stage: str, arrays: Arrays) -> None:
        return


class Folder(Checkpoints):
    """Checkpoints in a folder.

    Args:
        path: the folder.
        identity: what run it belongs to, as plain JSON; equal for equal input.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        self.path, self._identity = path, {"format": FORMAT, **identity}

    def begin(self, key: bytes, notes: Mapping[str, str] = MappingProxyType({})) -> None:
        """Write down which run this is, and its key, before anything is drawn.

        Args:
            key: the key of its randomness.
            notes: texts by file name that are there before the run can be gone on with.

        Raises:
            ReleaseError: a run is there already.
        """
        if (self.path / _RUN).exists() and (self.path / _KEY).exists():
            raise ReleaseError(
                "unfinished run", "lies there already", "go on with --resume, or delete it and begin anew", value=str(self.path)
            )
        # Without its key, or before it is said whose run it is, nothing has been drawn that could be gone on with.
        shutil.rmtree(self.path, ignore_errors=True)
        private_folder(self.path)
        with whole(self.path / _KEY, 0o600) as part:
            part.write_bytes(key)
        for name, text in notes.items():
            with whole(self.path / name, 0o600) as part:
                part.write_text(text, encoding="utf-8")
        with whole(self.path / _RUN, 0o600) as part:
            part.write_text(json.dumps(self._identity, indent=2) + "\n", encoding="utf-8")

    def resume(self) -> bytes:
        """The key of the run that is there.

        Raises:
            ReleaseError: there is none, or it belongs to other input.
            CheckpointError: it is damaged.
        """
        try:
            key, described = ((self.path / name).read_bytes() for name in (_KEY, _RUN))
        except OSError:
            raise ReleaseError("unfinished run", "is not there", "begin without --resume", value=str(self.path)) from None
        try:
            found = json.loads(described)
        except (ValueError, RecursionError):
            raise self._damaged(_RUN) from None
        if not isinstance(found, dict) or not found:
            raise self._damaged(_RUN)
        if len(key) != KEY_BYTES:
            raise self._damaged(_KEY)
        changed = sorted(name for name in {*found, *self._identity} if found.get(name) != self._identity.get(name))
        if changed:
            raise ReleaseError(
                "unfinished run", f"was begun with another {', '.join(changed)}; equal noise on other data would give both away",
                "give what it was begun with, or delete the folder and begin anew", value=str(self.path),
            )  # fmt: skip
        return key

    def finish(self) -> None:
        """Forget the run, its key first."""
        (self.path / _KEY).unlink(missing_ok=True)
        shutil.rmtree(self.path, ignore_errors=True)

    def load(self, stage: str) -> Arrays | None:
        path = self._file(stage)
        if not path.exists():
            return None
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return dict(arrays)
        except Exception:  # a damaged archive raises whatever its reader stumbles over
            raise self._damaged(path.name) from None

    def save(self, stage: str, arrays: Arrays) -> None:
        try:
            with whole(self._file(stage), 0o600) as part, part.open("wb") as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]
        except OSError as problem:
            rule = f"cannot be written ({problem.strerror or problem})"
            raise ReleaseError("unfinished run", rule, "make room and go on with --resume", value=str(self.path)) from None

    def _file(self, stage: str) -> Path:
        """A stage that is named after something of the specification may have any name."""
        return self.path / f"{stage if _PLAIN.fullmatch(stage) else hashlib.sha256(stage.encode()).hexdigest()}.npz"

    def _damaged(self, name: str) -> CheckpointError:
        rule = "is damaged, so this run cannot be gone on with"
        return CheckpointError("unfinished run", rule, f"delete {self.path} and begin anew", value=name)


# --- one run --------------------------------------------------------------------------------------


def nobody(done: int, total: int) -> None:
    """Ignore progress."""


@attrs.frozen(kw_only=True)
class Run:
    """The resources of a mechanism while it releases a table.

    Args:
        source: the only source of randomness.
        workers: what runs its kernels.
        checkpoints: where finished stages are kept, so that an interrupted run can go on.
        progress: called with the progress of the work.
    """

    source: Randomness
    workers: Workers = attrs.field(factory=Embedded)
    checkpoints: Checkpoints = attrs.field(factory=NoCheckpoints)
    progress: Progress = nobody


@attrs.frozen(kw_only=True)
class Output:
    """The result of a run.

    Args:
        tables: the released tables by name, the main one first; each becomes a file of that name.
        streams: further released tables, that are too large to be held.
        report: what may be published with them: functions of the released tables and of the invariants alone.
        confidential: what helps the agency and must not be published, since it says more than the released tables do.
    """

    tables: Mapping[str, Table]
    streams: Mapping[str, TableStream] = attrs.field(factory=dict)
    report: Mapping[str, Any] = attrs.field(factory=dict)
    confidential: Mapping[str, Any] = attrs.field(factory=dict)

    @property
    def main(self) -> Table:
        """The table on which the invariants are evaluated: the first one, or where all are streams, the first of these."""
        return next(iter(self.tables.values())) if self.tables else next(iter(self.streams.values())).joined()

    def with_main_held(self) -> Output:
        """The same with its main table in memory."""
        if self.tables:
            return self
        (name, main), *others = self.streams.items()
        return attrs.evolve(self, tables={name: main.joined()}, streams=dict(others))
