"""`dpspec.lock`: what was verified, in one line for each file, and whether it is still so.

The lock is a record and no signature: anyone who can write the repository can write the lock. `--all` verifies everything again.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import attrs

from dpspec import DpspecError, installed, read
from dpspec.plugin.applications import (
    SUFFIX,
    FileReport,
    JsonData,
    LibraryError,
    Progress,
    Registry,
    UnreadableFileError,
    Word,
    collect,
    contributed,
    file_report_data,
    in_order,
    jobs_for,
    json_text,
    read_bytes,
    verify_document,
    worst_code,
    write_whole,
)
from dpspec_guard.difference import Finding
from dpspec_guard.engine import EnginePart, engine
from dpspec_guard.promise import promise_hash
from dpspec_guard.sources import SIZE_LIMIT
from dpspec_guard.standings import RANKS

LOCK = "dpspec.lock"
FORMAT = 1
_WORDS = {word.word: word for word in Word}


class LockError(DpspecError):
    """A lock file that cannot be read, or that another version wrote."""

    code = "lock"
    exit_code = 2


@attrs.frozen(kw_only=True)
class LockedFile:
    """The result of the verification of one file.

    Args:
        file: its path from the folder of the lock, with slashes.
        sha256: of its bytes.
        promise: the hash of what it promises; None where a block has no text form.
        word: how it ended: holds, recorded, miniature, undecided, refuted, ...
        standing: the claim status.
        scope: how far the claim was examined.
        method: the methods of its verdicts.
        constant: the constant of each claim as (lower, upper), exact where both are equal.
        evidence: the SHA-256 of all that was found: proofs, witnesses, recomputed numbers.
        proof: what the independent checker says of its proofs: accepted, rejected, none, or not installed.
    """

    file: str
    sha256: str
    promise: str | None
    word: str
    standing: str
    scope: str
    method: str
    constant: tuple[tuple[str, str], ...]
    evidence: str
    proof: str


@attrs.frozen(kw_only=True)
class Lock:
    """A lock file.

    Args:
        paths: the files and folders that were locked.
        parts: the engine that verified them.
        files: what was found about each file, sorted.
    """

    paths: tuple[str, ...]
    parts: tuple[EnginePart, ...]
    files: tuple[LockedFile, ...]

    def text(self) -> str:
        """The text of the file: one JSON object in a line, for the lock, each part of the engine, and each file."""
        rows: list[JsonData] = [{"dpspec-lock": FORMAT, "paths": list(self.paths)}]
        rows += [attrs.asdict(part) for part in self.parts]
        rows += [attrs.asdict(file) for file in self.files]
        return "".join(f"{json.dumps(row)}\n" for row in rows)  # in ASCII: names may hold what ends a line, or is no text


def read_lock(path: Path) -> Lock:
    """A lock file.

    Raises:
        LockError: it is missing, is no lock, is of another version, or has a line that is no record or is there twice.
    """
    advice = "write it anew: dpspec lock PATHS"
    try:
        lines = read_bytes(path).decode("utf-8").splitlines()
        head, *rows = [json.loads(line) for line in lines]
        stated = head["dpspec-lock"]
    except UnreadableFileError as fault:
        raise LockError("lock", fault.rule, "write it: dpspec lock PATHS", value=str(path)) from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise LockError("lock", "is no file that dpspec lock wrote", advice, value=str(path)) from None
    if stated != FORMAT:
        raise LockError("lock", f"is of version {stated!r}, this dpspec reads {FORMAT}", advice, value=str(path))
    try:
        parts = tuple(_shaped(EnginePart, row) for row in rows if "file" not in row)
        files = tuple(
            _shaped(LockedFile, {**row, "constant": tuple((one, other) for one, other in row["constant"])})
            for row in rows
            if "file" in row
        )
        found = Lock(paths=tuple(_texts(head["paths"])), parts=parts, files=files)
    except (TypeError, ValueError, KeyError, AttributeError):
        raise LockError("lock", "has a line that is no record", advice, value=str(path)) from None
    names = [file.file for file in files]
    if names != sorted(set(names)) or any(file.word not in _WORDS or file.standing not in _WORDS for file in files):
        raise LockError("lock", "is not sorted, names a file twice, or has an unknown word", advice, value=str(path))
    return found


def _texts(given: object) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise TypeError("no list of texts")
    return given


def _shaped(cls: type[Any], row: Mapping[str, Any]) -> Any:
    if any(not isinstance(value, (str, tuple)) and not (key == "promise" and value is None) for key, value in row.items()):
        raise TypeError("a value is no text")
    return cls(**row)


# --- verifying ------------------------------------------------------------------------------------


def locked(
    paths: Sequence[str], root: Path, registry: Registry, progress: Progress | None = None, jobs: int | None = 1
) -> Lock:  # fmt: skip
    """Verify files, and record what was found.

    Args:
        paths: files, and folders for the specifications directly in them, from the folder of the lock, as `inside` writes them.
        root: the folder of the lock.
        registry: what the names in the files mean.
        progress: called with (done, in all).
        jobs: so many processes, of which each has a registry of its own, of all that is installed; None for one for each
            processor where there are many files.

    Raises:
        DpspecError: a file cannot be read; of several files together.
        LibraryError: a file ended the process that verified it.
    """
    files = _files(paths, root)
    if not files:
        raise _no_files(paths)
    parts = engine()  # before the work: an update while it runs is another engine
    collect([partial(read, root / file) for file in files])  # every fault of every file, before anything is verified
    found = []
    for one in _all_judged(files, root, registry, jobs):
        found.append(_raised(one))
        if progress is not None:
            progress(len(found), len(files))
    return Lock(paths=tuple(paths), parts=parts, files=tuple(found))


def _all_judged(
    files: Sequence[str], root: Path, registry: Registry, jobs: int | None
) -> Iterator[LockedFile | DpspecError]:  # fmt: skip
    """What was found about each file, in their order, or the error of it."""
    at_once = jobs_for(jobs, len(files))
    return in_order(partial(_judged, root=root, registry=registry if at_once == 1 else None), files, at_once, _ended)


def _judged(file: str, root: Path, registry: Registry | None) -> LockedFile | DpspecError:
    """One file, or the error of it; without a registry by that of this process."""
    try:
        return judged(file, root, registry or installed().registry)
    except DpspecError as fault:
        return fault


def _ended(file: str) -> LockedFile | DpspecError:
    """The error of a file that ended the process which verified it."""
    return LibraryError("library", "ended the process that verified this file", "verify it alone, or free memory", value=file)


def _raised(found: LockedFile | DpspecError) -> LockedFile:
    if isinstance(found, DpspecError):
        raise found
    return found


def judged(file: str, root: Path, registry: Registry) -> LockedFile:
    """One file, read and verified.

    Raises:
        DpspecError: it cannot be read, or changed while it was verified.
    """
    path = root / file
    document = read(path)
    report = verify_document(document, registry=registry)
    data = file_report_data(str(path), report)
    if _sha256(path) != document.sha256:
        raise UnreadableFileError("file", "changed while it was verified", "run the command again", value=file)
    claims = [one["verdict"] for one in data["obligations"] if one["verdict"] is not None and _is_claim(one["name"])]
    return LockedFile(
        file=file,
        sha256=str(document.sha256),
        promise=promise_hash(document, registry),
        word=report.word.word,
        standing=report.standing.word.word,
        scope=report.scope,
        method=", ".join(dict.fromkeys(verdict["method"] for verdict in claims)) or "none",
        constant=tuple(_ends(verdict["constant"]) for verdict in claims),
        evidence=_evidence(data["obligations"]),
        proof=_recheck(report, data),
    )


def _is_claim(name: str) -> bool:
    return name.startswith(("claim", "part: "))


def _ends(constant: Mapping[str, str] | None) -> tuple[str, str]:
    return ("none", "none") if constant is None else (constant["lower"], constant["upper"])


def _evidence(obligations: Sequence[JsonData]) -> str:
    """The SHA-256 of what was found: outcomes, numbers, assumptions, the data of proofs, and witnesses.

    Sentences for people are left out, so that a version of dpspec that words them differently finds the same.
    """
    text = json.dumps([_found(one) for one in obligations], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _found(one: Mapping[str, Any]) -> JsonData:
    verdict = one["verdict"]
    kept: JsonData = {key: one[key] for key in ("name", "outcome", "exchanged", "grown", "value")}
    if verdict is None:
        return kept
    keys = ("outcome", "method", "constant", "vacuous_universes", "universes", "assumptions")
    proof = [{"step": step["step"], "data": step["data"]} for step in verdict["proof"]]
    return kept | {key: verdict[key] for key in keys} | {"proof": proof, "witness": _without_words(verdict["witness"])}


def _without_words(witness: Mapping[str, Any] | None) -> JsonData | None:
    if witness is None:
        return None
    event = witness["event"]
    kept = {key: value for key, value in witness.items() if key not in ("note", "event")}
    return kept | {"event": None if event is None else {key: value for key, value in event.items() if key != "text"}}


def _recheck(report: FileReport, data: JsonData) -> str:
    """What `dpspec-checker`, which shares no code with the engine, says of the proofs of a file."""
    if not any(one.verdict is not None and one.verdict.proof for one in report.obligations):
        return "none"
    checker = contributed("dpspec.functions").get("check_proof")
    if checker is None:
        return "not installed"
    with tempfile.TemporaryDirectory(prefix="dpspec-") as folder:
        path = Path(folder) / "verdict.json"
        path.write_text(json_text("verify", report.word.exit_code, {"files": [data]}), encoding="utf-8")
        try:
            code = checker.load()(str(path)).exit_code
        except ValueError:  # the errors of the checker, which knows no class of dpspec
            return "rejected"
    return "accepted" if code == 0 else "rejected"


def _files(paths: Sequence[str], root: Path) -> list[str]:
    """The specification files that paths mean, from the folder of the lock, sorted.

    Raises:
        UnreadableFileError: there is no such path, or it is outside of the folder of the lock.
    """
    found: set[str] = set()
    for path in paths:
        place = root / path
        if not place.exists():
            raise UnreadableFileError("path", "does not exist", "check the path", value=path)
        files = place.glob(f"*{SUFFIX}") if place.is_dir() else [place]
        found.update(inside(file, root) for file in files)
    return sorted(found)


def _no_files(paths: Sequence[str]) -> UnreadableFileError:
    """The error of paths that mean no file: nothing can be verified or compared."""
    return UnreadableFileError("paths", f"hold no file *{SUFFIX}", "check the paths", value=", ".join(paths))


def inside(path: Path, root: Path) -> str:
    """A path from the folder of the lock; a link is not followed where that is inside, so that a file keeps its name."""
    whole = root.resolve()
    for given, folder in ((path, root), (path.parent.resolve() / path.name, whole), (path.resolve(), whole)):
        if given.is_relative_to(folder) and ".." not in given.relative_to(folder).parts:
            return given.relative_to(folder).as_posix()
    rule = f"is outside of the folder of {LOCK}"
    raise UnreadableFileError("path", rule, "run the command in a folder above it", value=str(path))


def _sha256(path: Path) -> str:
    return hashlib.sha256(read_bytes(path, SIZE_LIMIT)).hexdigest()


# --- comparing with the lock ----------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class LockCheck:
    """The comparison of the files with a lock.

    Args:
        files: what holds now, by file: recorded where nothing changed, else verified anew.
        verified: the files that were verified in this run.
        edited: those of them whose text changed and whose result did not.
        parts: the parts of the engine that changed, as (name, before, after).
        findings: what is new, missing, worse, changed or unreadable.
        accepted: words that count as success.
    """

    files: tuple[LockedFile, ...]
    verified: tuple[str, ...]
    edited: tuple[str, ...]
    parts: tuple[tuple[str, str, str], ...]
    findings: tuple[Finding, ...]
    accepted: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """The worst of the findings, and of what `dpspec verify` says of the files."""
        words = (_WORDS[file.word].exit_code for file in self.files if file.word not in self.accepted)
        return worst_code([*words, *(finding.exit_code for finding in self.findings)])


def checked(
    lock: Lock, paths: Sequence[str], root: Path, registry: Registry, *, everything: bool = False,
    accepted: Sequence[str] = (), progress: Progress | None = None, jobs: int | None = 1,
) -> LockCheck:  # fmt: skip
    """Compare files with a lock. Those whose bytes are unchanged are not verified where the engine is unchanged, too.

    Args:
        lock: the lock.
        paths: files and folders, as `inside` writes them; without any, those that were locked.
        root: the folder of the lock.
        registry: what the names in the files mean.
        everything: verify unchanged files, too.
        accepted: words that count as success.
        progress: called with (done, in all).
        jobs: as in `locked`.

    Raises:
        UnreadableFileError: there is nothing to compare: no file under the paths, and none in the lock.
    """
    known = {file.file: file for file in lock.files}
    present = _files([path for path in (paths or lock.paths) if paths or (root / path).exists()], root)
    parts = tuple(_changed_parts(lock.parts, engine()))
    findings = [_missing(file) for file in known if file not in present and (not paths or _is_below(file, paths))]
    if not present and not findings:
        raise _no_files(paths or lock.paths)
    kept = {} if parts or everything else {file: known[file] for file in present if file in known and _is_same(known[file], root)}
    judging = _all_judged([file for file in present if file not in kept], root, registry, jobs)
    found, verified, edited = [], [], []
    for done, file in enumerate(present, 1):
        before = known.get(file)
        after = kept.get(file) or next(judging)
        if progress is not None:
            progress(done, len(present))
        if isinstance(after, DpspecError):
            findings += _unreadable(file, after)
            continue
        found.append(after)
        if file in kept:
            continue
        verified.append(file)
        if before is None:
            findings.append(_new(file))
        elif differences := _differences(before, after):
            findings.append(_differs(before, after, differences))
        elif before.sha256 != after.sha256:
            edited.append(file)
    return LockCheck(
        files=tuple(found), verified=tuple(verified), edited=tuple(edited), parts=parts,
        findings=tuple(sorted(findings, key=lambda finding: finding.file)), accepted=tuple(accepted),
    )  # fmt: skip


def _is_same(before: LockedFile, root: Path) -> bool:
    """Whether the bytes of a file are those that were recorded; a file that cannot be read is met again where it is verified."""
    try:
        return _sha256(root / before.file) == before.sha256
    except DpspecError:
        return False


def _is_below(file: str, paths: Sequence[str]) -> bool:
    """Whether a file that is gone is one of those that were given: named, or directly in a folder."""
    return bool({*paths} & {file, PurePosixPath(file).parent.as_posix()})


def _changed_parts(old: Sequence[EnginePart], new: Sequence[EnginePart]) -> Iterator[tuple[str, str, str]]:
    before, after = ({part.name: part for part in parts} for parts in (old, new))
    for name in sorted({*before, *after}):
        one, other = before.get(name), after.get(name)
        if one != other:
            yield name, _part(one), _part(other)


def _part(given: EnginePart | None) -> str:
    return "none" if given is None else " ".join(filter(None, (given.version, given.sha256[:12], given.status)))


_FIELDS = ("promise", "word", "standing", "scope", "method", "constant", "evidence", "proof")


def _differences(before: LockedFile, after: LockedFile) -> list[str]:
    """The fields of a record that changed, in words."""
    changed = [name for name in _FIELDS if getattr(before, name) != getattr(after, name)]
    return [f"{name} {_in_words(getattr(before, name))} -> {_in_words(getattr(after, name))}" for name in changed]


def _in_words(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(lower if lower == upper else f"[{lower}, {upper}]" for lower, upper in value) or "none"
    text = str(value)
    return text if len(text) != 64 or " " in text else text[:12]


def _is_worse(before: LockedFile, after: LockedFile) -> bool:
    """Whether less is known in favour of the file than before."""
    words = [_WORDS[one.word].exit_code for one in (before, after)]
    less = words[0] != words[1] and worst_code(words) == words[1]
    ranks = [RANKS.get(_WORDS[one.standing], 0) for one in (before, after)]
    return less or ranks[1] < ranks[0] or (before.proof == "accepted" and after.proof != "accepted")


_FAILS = Word.REFUTED.exit_code
_ANEW = "if it is meant, run dpspec lock and commit dpspec.lock"


def _differs(before: LockedFile, after: LockedFile, differences: Sequence[str]) -> Finding:
    code = "worse" if _is_worse(before, after) else "changed"
    message = f"{'less is known than before' if code == 'worse' else 'another result'}: {'; '.join(differences)}"
    return Finding(code=code, message=message, advice=_ANEW, exit_code=_FAILS, file=after.file)


def _missing(file: str) -> Finding:
    message = "the file is in the lock and is gone"
    return Finding(code="missing", message=message, advice=f"restore it; {_ANEW}", exit_code=_FAILS, file=file)


def _new(file: str) -> Finding:
    return Finding(code="new", message="the file is not in the lock", advice=_ANEW, exit_code=_FAILS, file=file)


def _unreadable(file: str, fault: DpspecError) -> Iterator[Finding]:
    for single in getattr(fault, "faults", (fault,)):
        advice = "correct the plugin or library that failed" if single.exit_code == Word.PLUGIN.exit_code else "correct the file"
        yield Finding(
            code="unreadable", message=str(single), advice=advice, exit_code=single.exit_code, file=file, line=single.line or 1
        )


def write_lock(lock: Lock, path: Path) -> None:
    """Write a lock whole, or not at all."""
    write_whole(path, lock.text())


__all__ = ["LOCK", "Lock", "LockCheck", "LockError", "LockedFile", "checked", "inside", "locked", "read_lock", "write_lock"]
