"""Files that are read whole and once, and files that are written whole or not at all: an interruption leaves what was there.

What a system does not have is left out: Windows knows no owner of a folder, no pipes among files, and no folder that is flushed.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from dpspec.base.errors import NotAFileError, ReleaseError, UnreadableFileError

IS_WINDOWS = os.name == "nt"


def flags(*names: str) -> int:
    """Flags of `os.open` together; those that this system does not know are left out.

    >>> flags("O_RDONLY", "O_NO_SUCH") == os.O_RDONLY
    True
    """
    found = 0
    for name in names:
        found |= getattr(os, name, 0)
    return found


_PART = re.compile(r"\.[0-9a-f]{16}\.(?P<process>[0-9]+)\.part")


# --- reading -------------------------------------------------------------------------------------


def check_regular(path: Path) -> os.stat_result:
    """Refuse what is no file: a pipe may never end, a device may never be empty, and neither can be read twice.

    Raises:
        NotAFileError: it is a pipe, a socket, a device.
        UnreadableFileError: there is none, or its name cannot be one.
    """
    try:
        found = path.stat()
    except (OSError, ValueError) as problem:
        raise _unreadable(path, problem) from None
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
        raise NotAFileError("file", "is a pipe, a socket or a device", "give a file on a disk", value=str(path))
    return found


def read_bytes(path: Path, most: int | None = None) -> bytes:
    """A file, opened once.

    Args:
        most: no more than one byte beyond this is read.

    Raises:
        NotAFileError, UnreadableFileError.
    """
    try:
        handle = os.open(path, flags("O_RDONLY", "O_NONBLOCK", "O_CLOEXEC"))  # a pipe without a writer would be waited for
    except (OSError, ValueError) as problem:
        check_regular(path)
        raise _unreadable(path, problem) from None
    if stat.S_ISDIR(os.fstat(handle).st_mode):
        os.close(handle)
        raise NotAFileError("file", "is a folder", "name a file in it", value=str(path))
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotAFileError("file", "is a pipe, a socket or a device", "give a file on a disk", value=str(path))
        try:
            return file.read(-1 if most is None else most + 1)
        except OSError as problem:
            raise _unreadable(path, problem) from None


def _unreadable(path: Path, problem: Exception) -> UnreadableFileError:
    reason = getattr(problem, "strerror", None) or "this is no path"
    return UnreadableFileError("file", f"cannot be read ({reason})", "check the path", value=str(path))


# --- writing -------------------------------------------------------------------------------------


def write_whole(path: Path, text: str) -> None:
    """Write a text file in one step, over an old one if there is one.

    Raises:
        ReleaseError: it cannot be written there.
    """
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file in one step, over an old one if there is one.

    Raises:
        ReleaseError: it cannot be written there.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path) as part:
            part.write_bytes(content)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or "this is no path"
        raise ReleaseError("file", f"cannot be written ({reason})", "choose another path", value=str(path)) from None


def write_folder(target: Path, texts: Mapping[str, str]) -> None:
    """Write text files into a new folder, which appears with all of them or not at all.

    Args:
        target: the folder; its parents are made where they are missing.
        texts: path inside the folder, with slashes, to text.

    Raises:
        ReleaseError: the folder exists already, or cannot be written.
    """
    if target.exists() or target.is_symlink():
        raise ReleaseError("folder", "exists already", "choose another name or place", value=str(target))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        begun = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        try:
            folder = begun / target.name
            folder.mkdir()
            for path, text in texts.items():
                file = folder / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(text.encode())
            folder.rename(target)
        finally:
            shutil.rmtree(begun, ignore_errors=True)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or "this is no path"
        raise ReleaseError("folder", f"cannot be written ({reason})", "choose another place", value=str(target)) from None


@contextmanager
def whole(path: Path, mode: int | None = None) -> Iterator[Path]:
    """A file to write in place of `path`; it takes that place, safely on disk, when the block ends without an error.

    Until then only its owner can read it. Files of the same kind that a killed process left behind are removed.

    Args:
        mode: the permissions of the file in the end; without it those of any new file.
    """
    if path.exists() and not path.is_file():
        raise IsADirectoryError(21, "is no file", str(path))
    with suppress(OSError):
        for left in path.parent.glob(".*.part"):
            named = _PART.fullmatch(left.name)
            if named is not None and not _runs(int(named["process"])):
                left.unlink(missing_ok=True)
    part = path.with_name(f".{os.urandom(8).hex()}.{os.getpid()}.part")
    os.close(os.open(part, flags("O_WRONLY", "O_CREAT", "O_EXCL", "O_CLOEXEC"), 0o600))
    try:
        yield part
        part.chmod(_new_mode() if mode is None else mode)
        to_disk(part)
        part.replace(path)
        to_disk(path.parent)
    finally:
        part.unlink(missing_ok=True)


def private_folder(path: Path) -> None:
    """A folder that only its owner can access; created, or restricted if it exists.

    Raises:
        ReleaseError: it is a link, or belongs to another user.
    """
    with suppress(FileExistsError):
        path.mkdir(mode=0o700, parents=True)
    found = path.lstat()
    mine = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    if not stat.S_ISDIR(found.st_mode) or not mine:
        rule = "is a link, or not yours: what is confidential must not go there"
        raise ReleaseError("folder", rule, "remove it", value=str(path))
    path.chmod(0o700)


def to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on disk; Windows flushes no folders, and files only to who may write."""
    if IS_WINDOWS and path.is_dir():
        return
    handle = os.open(path, os.O_RDWR if IS_WINDOWS else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def lock(handle: int) -> None:
    """Take an open file for this process alone, until it is closed; where a system has no locks, nothing is taken.

    Raises:
        BlockingIOError: another process has it.
    """
    try:
        import fcntl
    except ImportError:
        _lock_on_windows(handle)
    else:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _lock_on_windows(handle: int) -> None:
    try:
        msvcrt = importlib.import_module("msvcrt")
    except ImportError:
        return
    try:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    except PermissionError as problem:
        raise BlockingIOError(*problem.args) from None


def _runs(process: int) -> bool:
    if IS_WINDOWS:  # where signal 0 is one that a process gets
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _new_mode() -> int:
    """The file mode 0666 without the bits of the user's mask."""
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask
