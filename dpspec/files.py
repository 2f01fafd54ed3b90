"""Files that are written whole or not at all: an interruption leaves what was there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpspec.errors import ReleaseError


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
    except OSError as problem:
        raise ReleaseError("file", f"cannot be written ({problem.strerror})", "choose another path", value=str(path)) from None


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A file to write in place of `path`; it takes that place, safely on disk, when the block ends without an error."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        _to_disk(part, os.O_RDWR)
        part.replace(path)
        _to_disk(path.parent, os.O_RDONLY)
    finally:
        part.unlink(missing_ok=True)


def _to_disk(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
