"""What the package gives to Python: `dpspec.diff`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from dpspec import CommandAnswer, installed

if TYPE_CHECKING:
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
    from dpspec_guard.page import data, text
    from dpspec_guard.sources import sides

    old, new = sides([os.fspath(one) for one in given])
    found = difference(old, new, installed().registry, progress)
    return CommandAnswer("diff", found.exit_code, data(found), lambda: text(found), value=found)


__all__ = ["diff"]
