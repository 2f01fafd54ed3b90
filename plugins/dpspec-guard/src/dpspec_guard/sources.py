"""The two sides of a diff: specification files of a folder, or of a git revision, as bytes.

A revision is read from git's object database with `rev-parse`, `ls-tree` and `cat-file`. Nothing is checked out, and no filter,
hook or textconv program of the repository runs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath, PurePosixPath

import attrs

from dpspec import DpspecError
from dpspec.plugin import errors
from dpspec.plugin.applications import SUFFIX, UnreadableFileError, read_bytes

SIZE_LIMIT = 1_000_000
"""The largest specification file that is read, in bytes, as `dpspec check` has it."""


class RevisionError(DpspecError):
    """A git revision, or a file in one, that cannot be read."""

    code = "revision"
    exit_code = 2


@attrs.frozen(kw_only=True)
class SourceFile:
    """A specification file of one side.

    Args:
        shown: what it is called in messages: a path, or a revision and a path.
        path: its path on disk, or from the top of the repository, for those who look for the line.
        content: its bytes; None where it cannot be read.
        fault: why it cannot be read.
    """

    shown: str
    path: str
    content: bytes | None = None
    fault: DpspecError | None = None


@attrs.frozen(kw_only=True)
class Side:
    """One side of a diff.

    Args:
        name: what it is called: a path or a revision.
        files: the specification files, by their path relative to the folder, with slashes. One file that was given by its path
            has the key "".
    """

    name: str
    files: Mapping[str, SourceFile]


def sides(given: Sequence[str]) -> tuple[Side, Side]:
    """The two sides that the arguments of `dpspec diff` name.

    Args:
        given: ``OLD NEW``, each a file, a folder or a git revision; or one range of revisions (``main..HEAD``, and
            ``main...HEAD`` from the merge base of both), followed by paths that restrict it.

    Raises:
        RevisionError: git is not installed, or does not have a revision.
        UnreadableFileError: neither a path nor a revision, or no specification on either side.

    >>> sides(["docs"])
    Traceback (most recent call last):
    dpspec_guard.sources.RevisionError: range=docs: is no range of revisions: write OLD NEW, or a range such as main..HEAD
    """
    first, *rest = given
    if ".." in first and "../" not in first and not Path(first).exists():
        old, new = _range(first)
        found = _of_revision(old, rest), _of_revision(new, rest)
    elif len(given) != 2:
        raise RevisionError("range", "is no range of revisions", "write OLD NEW, or a range such as main..HEAD", value=first)
    else:
        found = _pair(first, rest[0])
    if not found[0].files and not found[1].files:
        rule = f"hold no file *{SUFFIX} on either side"
        raise UnreadableFileError("OLD and NEW", rule, "check both", value=f"{found[0].name} and {found[1].name}")
    return found


def _range(text: str) -> tuple[str, str]:
    """The two revisions of a range, as git reads ``A..B`` and ``A...B``."""
    mark = "..." if "..." in text else ".."
    old, _, new = text.partition(mark)
    old, new = old or "HEAD", new or "HEAD"
    if mark == "..":
        return old, new
    base = _git("merge-base", commit_of(old), commit_of(new)).decode().split()
    if not base:
        raise RevisionError("range", "has two revisions without a common ancestor", "write OLD..NEW", value=text)
    return base[0], new


def _pair(old: str, new: str) -> tuple[Side, Side]:
    """Two paths, two revisions, or one of each: a revision is then restricted to the given path."""
    is_path = {name: Path(name).exists() for name in (old, new)}
    if is_path[old] and is_path[new]:
        first, second = _of_path(Path(old)), _of_path(Path(new))
        if ("" in first.files) != ("" in second.files):
            advice = "give two files or two folders"
            raise UnreadableFileError("OLD and NEW", "are a file and a folder", advice, value=f"{old} {new}")
        return first, second
    if is_path[old]:
        return _of_path(Path(old)), _of_revision(new, [old])
    if is_path[new]:
        return _of_revision(old, [new]), _of_path(Path(new))
    return _of_revision(old, []), _of_revision(new, [])


def _of_path(path: Path) -> Side:
    """A file, or all specification files in a folder and the folders in it; hidden folders are left out."""
    if not path.is_dir():
        return Side(name=str(path), files={"": _on_disk(path)})
    found = sorted(file for file in path.rglob(f"*{SUFFIX}") if not _is_hidden(file.relative_to(path)))
    return Side(name=str(path), files={file.relative_to(path).as_posix(): _on_disk(file) for file in found})


def _is_hidden(path: PurePath) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _on_disk(path: Path) -> SourceFile:
    try:
        return _limited(str(path), str(path), read_bytes(path, SIZE_LIMIT))
    except DpspecError as fault:
        return SourceFile(shown=str(path), path=str(path), fault=fault)


def _limited(shown: str, path: str, content: bytes) -> SourceFile:
    if len(content) <= SIZE_LIMIT:
        return SourceFile(shown=shown, path=path, content=content)
    rule = f"is larger than {SIZE_LIMIT:,} bytes"
    fault = errors.SpecTooLargeError("size", rule, "a specification holds parameters, not data")
    return SourceFile(shown=shown, path=path, fault=fault)


# --- revisions ------------------------------------------------------------------------------------


def commit_of(revision: str) -> str:
    """The hash of the commit that a revision means.

    Raises:
        RevisionError: git does not know it.
    """
    if revision.startswith("-"):
        raise RevisionError("revision", "begins with a dash", "write the name of a branch, a tag or a commit", value=revision)
    found = _git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", may_fail=True).decode().strip()
    if not found:
        rule = "is neither a path nor a git revision here"
        raise RevisionError("revision", rule, "check its name; in CI, fetch it: a shallow clone lacks it", value=revision)
    return found


def _of_revision(revision: str, paths: Sequence[str]) -> Side:
    """The specification files of a revision, of which only those under some paths where any are given."""
    commit = commit_of(revision)
    inside = [_inside(path) for path in paths]
    wanted: list[tuple[str, str, list[str]]] = []
    for row in filter(None, _git("ls-tree", "-r", "-z", "-l", "--full-tree", commit).split(b"\0")):
        facts, _, name = row.partition(b"\t")
        path = os.fsdecode(name)
        root = next((root for root in inside or [PurePosixPath()] if PurePosixPath(path).is_relative_to(root)), None)
        below = None if root is None else PurePosixPath(path).relative_to(root)
        is_named = below == PurePosixPath()
        if below is None or not (is_named or (path.endswith(SUFFIX) and not _is_hidden(below))):
            continue
        key = path if len(paths) != 1 else "" if is_named else below.as_posix()
        wanted.append((key, path, facts.decode().split()))
    contents = _contents([identity for _, _, (_, _, identity, size) in wanted if size.isdecimal() and int(size) <= SIZE_LIMIT])
    files = {key: _blob(f"{revision}:{path}", path, facts, contents) for key, path, facts in wanted}
    return Side(name=revision, files=dict(sorted(files.items())))


def _inside(path: str) -> PurePosixPath:
    """A path from the root of the repository."""
    top = Path(os.fsdecode(_git("rev-parse", "--show-toplevel").rstrip(b"\n"))).resolve()
    try:
        return PurePosixPath(Path(path).resolve().relative_to(top).as_posix())
    except ValueError:
        raise RevisionError("path", "is outside of the git repository", "give a path inside it", value=path) from None


def _blob(shown: str, path: str, facts: Sequence[str], contents: Mapping[str, bytes]) -> SourceFile:
    """A file of a revision, by its mode, type, hash and size."""
    mode, kind, identity, size = facts
    if kind != "blob" or mode == "120000":
        fault = RevisionError("file", "is a link in git", "commit the file itself", value=shown)
        return SourceFile(shown=shown, path=path, fault=fault)
    if identity not in contents and int(size) <= SIZE_LIMIT:
        fault = RevisionError("file", "is not in this clone", "fetch it: git fetch --refetch", value=shown)
        return SourceFile(shown=shown, path=path, fault=fault)
    return _limited(shown, path, contents.get(identity, b" " * (SIZE_LIMIT + 1)))  # what is too large was not read


def _contents(identities: Sequence[str]) -> Mapping[str, bytes]:
    """The bytes of blobs by their hashes, in one run of git."""
    if not identities:
        return {}
    answer = _git("cat-file", "--batch", given="".join(f"{one}\n" for one in identities).encode())
    found, at = {}, 0
    while at < len(answer):
        end = answer.index(b"\n", at)
        identity, *facts = answer[at:end].decode().split()
        at = end + 1
        if len(facts) == 2:  # else the clone lacks it
            found[identity] = answer[at : at + int(facts[1])]
            at += int(facts[1]) + 1
    return found


def _git(*words: str, may_fail: bool = False, given: bytes = b"") -> bytes:
    """What git prints."""
    program = shutil.which("git")
    if program is None:
        raise RevisionError("git", "is not installed", "install git, or give two files or folders")
    quiet = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    found = subprocess.run([program, *words], input=given, capture_output=True, check=False, env=quiet)  # noqa: S603 - no shell
    if found.returncode and not may_fail:
        said = found.stderr.decode(errors="replace").strip().splitlines()
        rule = f"failed ({said[0] if said else f'exit code {found.returncode}'})"
        raise RevisionError(f"git {words[0]}", rule, "check the repository, or give two files or folders")
    return found.stdout


__all__ = ["RevisionError", "Side", "SourceFile", "commit_of", "sides"]
