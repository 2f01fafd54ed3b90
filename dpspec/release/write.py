"""Writing a release: every file whole or not at all, and a report that holds the digests of its tables."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Set
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from dpspec.errors import ReleaseError
from dpspec.extension.registry import Registry
from dpspec.files import whole
from dpspec.reading import format_of
from dpspec.release.draw import Release, formats_of, randomness
from dpspec.release.utility import forget_utility
from dpspec.table import files_of

REPORT, WARNING = "report.json", "NOT-FIT-FOR-PUBLICATION.txt"
UNFIT = "NOT FIT FOR PUBLICATION: drawn from a seed, so anyone who knows the seed can undo it."
FORMAT = 1
"""The version of the report."""


def write(release: Release, registry: Registry, directory: Path) -> dict[str, Any]:
    """Write the tables and report.json, each whole or not at all; returns the report.

    An interruption leaves the old files or the new ones. The report holds the digests of its tables, so that
    a table and a report of two different runs cannot be taken for one. A seeded release is marked by a further file, which is
    there before the tables are and goes only after unseeded ones have replaced them, and inside the tables where the format can.

    Raises:
        ReleaseError: the directory cannot be written, or a file would take the place of the table that was read.
    """
    format_ = format_of(Path(f"released{release.suffix}"), formats_of(registry))
    notes = {} if release.seed is None else {"dpspec": UNFIT}
    try:
        directory.mkdir(parents=True, exist_ok=True)
        earlier = _files(directory)
        named = {name: table for part in release.output.tables.items() for name, table in files_of(*part).items()}
        released = {f"{name}{release.suffix}": table for name, table in named.items()}
        _check_apart(Path(release.name), directory, earlier | released.keys())
        if release.seed is not None:
            with whole(directory / WARNING) as part:
                part.write_text(UNFIT + "\n", encoding="utf-8")
        with whole(directory / REPORT) as report, ExitStack() as tables:
            files = []
            for file, table in released.items():
                part = tables.enter_context(whole(directory / file))
                format_.write(table, part, notes)
                files.append({"file": file, "records": len(table), "sha256": _digest(part)})
            data = described(release, files)
            report.write_text(json.dumps({"format": FORMAT, **data}, indent=2) + "\n", encoding="utf-8")
        for stale in earlier - {entry["file"] for entry in files}:
            (directory / stale).unlink(missing_ok=True)
        forget_utility(directory)
        if release.seed is None:
            (directory / WARNING).unlink(missing_ok=True)
    except OSError as problem:
        rule = f"cannot be written ({problem.strerror or problem})"
        raise ReleaseError("directory", rule, "choose another --out", value=str(directory)) from None
    if release.run is not None:
        release.run.finish()
    return data


def _check_apart(table: Path, directory: Path, files: Set[str]) -> None:
    """Refuse a release that would replace or remove the table that was read."""
    for file in map(directory.joinpath, files):
        if table.exists() and file.exists() and (file.samefile(table) or file.parent.samefile(table)):
            rule = "would take the place of the table that was read"
            raise ReleaseError("release", rule, "choose another --out", value=str(file))


def described(release: Release, files: list[dict[str, Any]]) -> dict[str, Any]:
    """The report that lies beside the released tables; it may be published with them."""
    origin = {"plugin": release.origin.plugin, "distribution": release.origin.distribution, "version": release.origin.version}
    return {
        "specification": {"id": release.document.id, "title": release.document.title, "path": release.document.path},
        "mechanism": {"name": release.mechanism.name, "parameters": repr(release.mechanism), **origin},
        "table": Path(release.name).name,
        "records": len(release.output.main),
        "engine": release.engine,
        "randomness": randomness(release.seed),
        "fit_for_publication": release.seed is None,
        "warning": None if release.seed is None else UNFIT,
        "invariants": [held.data() for held in release.held],
        "told_by_mechanism": dict(release.output.report),
        "released": files,
    }


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files(directory: Path) -> set[str]:
    """The tables that an earlier report names; they go when it does."""
    try:
        found = json.loads((directory / REPORT).read_text(encoding="utf-8"))["released"]
        return {Path(entry["file"]).name for entry in found}
    except (OSError, ValueError, KeyError, TypeError):
        return set()
