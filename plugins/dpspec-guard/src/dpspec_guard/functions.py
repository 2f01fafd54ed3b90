"""The Python functions of the package: `dpspec.diff`, `dpspec.lock` and `dpspec.verify_locked`."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dpspec import CommandAnswer, installed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dpspec.plugin.applications import Progress


def diff(*given: str | os.PathLike[str], progress: Progress | None = None) -> CommandAnswer:
    """What changed between two versions of specifications, and whether every old promise still follows.

    Args:
        given: OLD and NEW, each a file, a folder (with the folders in it) or a git revision; or one range of revisions such as
            ``"main..HEAD"``, followed by paths that restrict it.
        progress: called with (done, in all).

    Returns:
        an answer with `exit_code` (0: every old promise follows, or the files record why not; 1: one is lost; 2: a new file
        cannot be read; 3: undecided), `content` as JSON data, and a `Difference` as `value`.

    Raises:
        DpspecError: a path or a revision cannot be read.

    >>> import dpspec as dp
    >>> same = "specs/randomised-response.dpspec.toml"
    >>> found = diff(same, same)
    >>> found.exit_code, found["changes"]
    (0, [])
    """
    from dpspec_guard.difference import difference
    from dpspec_guard.page import data, page
    from dpspec_guard.sources import sides

    old, new = sides([os.fspath(one) for one in given])
    found = difference(old, new, installed().registry, progress)
    return CommandAnswer("diff", found.exit_code, data(found), partial(page, found), value=found)


def lock(
    *paths: str | os.PathLike[str], lock: str | os.PathLike[str] = "dpspec.lock", jobs: int | None = 1,
    progress: Progress | None = None,
) -> CommandAnswer:  # fmt: skip
    """Verify specifications and write what was found into a lock file, one line for each file.

    Args:
        paths: files, and folders for the specifications directly in them; the folder of the lock without any.
        lock: the lock file, in a folder above all of them.
        jobs: so many processes; None for one for each processor where there are many files.
        progress: called with (done, in all).

    Returns:
        an answer with the records as data and the lock as `value`; `exit_code` is 0, whatever the verdicts are.

    Raises:
        DpspecError: a file cannot be read, and nothing is written.
    """
    from dpspec_guard.lock import locked, write_lock
    from dpspec_guard.page import lock_data, lock_text

    target = Path(lock)
    found = locked(_from(target, paths or (target.parent,)), target.parent, installed().registry, progress, jobs)
    write_lock(found, target)
    return CommandAnswer("lock", 0, lock_data(found, str(target)), partial(lock_text, found, str(target)), value=found)


def verify_locked(
    *paths: str | os.PathLike[str], lock: str | os.PathLike[str] = "dpspec.lock", everything: bool = False,
    accept: Sequence[str] = (), jobs: int | None = 1, progress: Progress | None = None,
) -> CommandAnswer:  # fmt: skip
    """Verify specifications against a lock file: is anything new, missing, worse or otherwise another result than recorded?

    Files whose bytes are unchanged are not verified where no package changed, and count as the lock records them.

    Args:
        paths: files and folders; without any, those that were locked.
        lock: the lock file.
        everything: verify unchanged files, too; a lock that was edited by hand is found by this alone.
        accept: words that count as success, as for `dpspec verify`: recorded, miniature, unchecked, undecided.
        jobs: as in `lock`.
        progress: called with (done, in all).

    Returns:
        an answer with the findings as data, and a `LockCheck` as `value`; `exit_code` is 1 for a finding, else that of
        `dpspec verify`.

    Raises:
        LockError: the lock is missing or is none.
    """
    from dpspec_guard.lock import checked, read_lock
    from dpspec_guard.page import check_data, check_text

    target = Path(lock)
    found = checked(
        read_lock(target), _from(target, paths), target.parent, installed().registry, everything=everything, accepted=accept,
        progress=progress, jobs=jobs,
    )  # fmt: skip
    return CommandAnswer("verify-locked", found.exit_code, check_data(found), partial(check_text, found), value=found)


def _from(lock: Path, paths: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Paths from the folder of a lock."""
    from dpspec_guard.lock import inside

    return [inside(Path(path).absolute(), lock.parent.absolute()) for path in paths]


__all__ = ["diff", "lock", "verify_locked"]
