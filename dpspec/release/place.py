"""Where a release lies: a public folder, and beside it a confidential one that only its owner can look into.

    out/                  what may be published: tables, report.json
    out.confidential/     mode 0700
        unfinished/       the stages of a long run and its key
        ready/            tables that are being written: nothing of a draw is in the public folder before it is whole
        ready.json        all of `ready` is whole and will be placed: an interruption after this is made good by the next run
        placed.json       what releases have placed in the public folder: these files, and no others, may go
        utility.*         comparisons with the confidential table
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import weakref
from collections.abc import Mapping
from pathlib import Path

from dpspec.errors import ReleaseError
from dpspec.files import private_folder, to_disk, whole

SUFFIX = ".confidential"
REPORT, WARNING = "report.json", "NOT-FIT-FOR-PUBLICATION.txt"

_READY, _READY_LIST, _PLACED, _UNFINISHED, _LOCK = "ready", "ready.json", "placed.json", "unfinished", "lock"


class Place:
    """The two folders of a release.

    Args:
        out: the folder to be published, as the user names it.
        table: what is read, where that is a file or a folder.

    Raises:
        ReleaseError: `out` cannot have a folder beside it, or it holds the confidential table, or lies in its folder.
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
            raise ReleaseError("--out", "has no name to put a confidential folder beside", "choose another --out", value=str(out))
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

    def open(self) -> None:
        """Take the confidential folder for one run; what a killed one has left is placed, where it was whole, or removed.

        Raises:
            ReleaseError: another run has it, or it cannot be made.
        """
        try:
            private_folder(self.private)
            handle = os.open(self.private / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            self.close = weakref.finalize(self, os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if (self.private / _READY_LIST).exists():
                self._settle()
            shutil.rmtree(self.ready, ignore_errors=True)
        except BlockingIOError:
            self.close()
            raise ReleaseError("--out", "is being written by another run", "wait for it", value=str(self.public)) from None
        except OSError as problem:
            raise _unwritable(self.public, problem) from None

    def leave(self) -> None:
        """Give the folder back; without anything in it, it goes."""
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
                (self.ready / name).replace(self.public / name)
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


def _unwritable(out: Path, problem: Exception) -> ReleaseError:
    reason = getattr(problem, "strerror", None) or "this is no path"
    return ReleaseError("directory", f"cannot be written ({reason})", "choose another --out", value=str(out))
