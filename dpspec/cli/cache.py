"""Results of files that are used again, as long as nothing has changed on which they depend.

A result depends on the file, by its bytes and its path; on what was asked, and on the width and colours in which it is printed;
and on the installation: Python, the platform, the variables of dpspec in the environment, every installed distribution with its
version and the list of its files with their hashes, the contents of the packages that dpspec loads, and of what they require that
is installed from a folder, and the Python files of other distributions that are installed from a folder. All of this is hashed
into the name of an entry, so that a change of any of it finds none. The folder is trusted as the installation is: a user who may
write into it may write any result.

No result depends on the folder. Where it cannot be used, or disappears, files are verified without it after one warning.

Code that a plugin imports from outside of installed distributions, or data that it reads, are not seen.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib.metadata import distributions
from pathlib import Path
from types import TracebackType

from dpspec.base.errors import ReleaseError
from dpspec.base.files import write_bytes
from dpspec.base.words import JudgedFile, Word
from dpspec.extension.sources import Sources, contents, source_folder
from dpspec.report.terminal import on_terminal, width

FORMAT = 1
_LOOK = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLORTERM", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
"""Variables of the environment by which colours are chosen."""
_LISTS = ("RECORD", "entry_points.txt")
KEPT = (Word.HOLDS, Word.MINIATURE, Word.RECORDED, Word.UNCHECKED, Word.UNDECIDED, Word.REFUTED, Word.MISSED)
"""The results that are kept: an undecided one as well, since searches end by counted work on any machine. Errors are not."""
INSTALLATIONS = 4
"""The results of so many installations are kept; those of the ones that were used least recently are removed."""


class ResultCache:
    """The results of one command in a folder.

    Args:
        folder: where they are; it is made where it does not exist.
        asked: what was asked of each file, by name.
        warn: called once, with a sentence, where the folder cannot be used or disappears.
    """

    def __init__(self, folder: Path, asked: Mapping[str, object], warn: Callable[[str], object]) -> None:
        look = {name: os.environ.get(name) for name in _LOOK}
        every = {**asked, **look, "terminal": on_terminal(), "width": width()}
        self._folder, self._asked, self._warn = folder, sorted((name, repr(value)) for name, value in every.items()), warn
        self.found = 0
        self._written: list[Path] = []
        self._is_lost = False

    def __enter__(self) -> ResultCache:
        with self._losing():
            self._results.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.utime(self._results)
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        if self._written and not self._is_unchanged():  # some results are those of other code than the name says
            for path in self._written:
                with self._losing():
                    path.unlink(missing_ok=True)
        if self._is_lost:
            return
        with self._losing():
            dated = ((one.stat().st_mtime, one) for one in self._folder.iterdir() if one.is_dir())
            for _, old in sorted(dated, reverse=True)[INSTALLATIONS:]:
                shutil.rmtree(old, ignore_errors=True)

    @contextmanager
    def _losing(self) -> Iterator[None]:
        """Use the folder; where that fails it is not used any more, and a warning says so once."""
        try:
            yield
        except (OSError, ValueError, ReleaseError) as problem:
            if not self._is_lost:
                reason = getattr(problem, "strerror", None) or "no folder of files that can be written"
                self._warn(f"warning: the cache {self._folder} cannot be used ({reason}); files are verified without it")
            self._is_lost = True

    def _is_unchanged(self) -> bool:
        """Whether the installation is still the one that entries name; not where a file of it disappears while it is read."""
        try:
            return installation() == self._installation
        except OSError:
            return False

    @cached_property
    def _installation(self) -> str:
        return installation()

    @property
    def _results(self) -> Path:
        return self._folder / self._installation[:32]

    def entry(self, path: Path) -> Path | None:
        """Where the result of a file is; None where the file or the cache cannot be read."""
        if self._is_lost:
            return None
        try:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            return None
        named = json.dumps([FORMAT, self._installation, self._asked, str(path), content])
        return self._results / f"{hashlib.sha256(named.encode()).hexdigest()}.json"

    def read(self, entry: Path | None) -> JudgedFile | None:
        """The result of an entry; None where there is none, or its file is damaged."""
        if entry is None:
            return None
        try:
            checksum, _, body = entry.read_bytes().partition(b"\n")
        except OSError:
            return None
        if hashlib.sha256(body).hexdigest().encode() != checksum:
            return None
        word, data, page = json.loads(body)
        self.found += 1
        return Word[word], data, page

    def write(self, path: Path, entry: Path | None, judged: JudgedFile) -> None:
        """Keep the result of a file, if the file is still the one that the entry names."""
        word, data, page = judged
        if entry is None or word not in KEPT or self.entry(path) != entry:
            return
        body = json.dumps([word.name, data, page]).encode()
        with self._losing():
            os.utime(self._results)  # a folder that was removed meanwhile is not made again
            write_bytes(entry, hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
            self._written.append(entry)


def cache_at(folder: str, asked: Mapping[str, object], warn: Callable[[str], object]) -> ResultCache:
    """The cache in a folder.

    Args:
        folder: its path.
        asked, warn: as for `ResultCache`.

    Raises:
        ReleaseError: the folder is no folder.
    """
    if os.path.exists(folder) and not os.path.isdir(folder):  # these are false for a text that is no path
        raise ReleaseError("folder", "is a file", "name a folder, or one that does not exist yet", value=folder)
    return ResultCache(Path(folder), asked, warn)


def installation() -> str:
    """A hash of all that is installed, as far as it can change a result."""
    digest = hashlib.sha256()
    for part in _parts():
        content = part.encode(errors="surrogateescape") if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()


def _parts() -> Iterator[str | bytes]:
    yield from (sys.version, sys.platform, platform.machine())
    yield from (f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(("DPSPEC_", "PYTHON")))
    known = sorted(distributions(), key=lambda one: (one.metadata["Name"] or "", one.version or ""))
    for one in known:
        yield from (one.metadata["Name"] or "", one.version or "", *(one.read_text(name) or "" for name in _LISTS))
    sources = Sources()
    for name in (*sources.contributing, *sources.required_folders):
        for _, file in sources.files(name):
            yield from (str(file), file.read_bytes())
    for one in known:
        folder = None if one.name in sources.contributing else source_folder(one)
        for file in contents(folder, "*.py") if folder is not None else ():
            yield from (str(file), file.read_bytes())
