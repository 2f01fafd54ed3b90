"""Writing a release: read again and compared before it is placed, every file whole or not at all, and a report beside it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dpspec.errors import PluginContractError, ReleaseError
from dpspec.extension.registry import Registry
from dpspec.files import private_folder
from dpspec.reading import Formats, format_of, read_households, read_table
from dpspec.release.draw import Release, formats_of, randomness
from dpspec.release.held import held
from dpspec.release.kept import FoundKept, check_kept
from dpspec.release.place import REPORT, WARNING
from dpspec.release.utility import forget_utility
from dpspec.table import Table, files_of

UNFIT = "NOT FIT FOR PUBLICATION: "
"""What the warning of a release begins with; its reasons follow."""
FORMAT = 2
"""The version of the report."""


def write(release: Release, registry: Registry, directory: Path) -> dict[str, Any]:
    """Write the tables and report.json, each whole or not at all; returns the report.

    The tables are written in the confidential folder, read again, compared with what was drawn and with what mechanism and
    invariants keep of the input, and only then placed in `directory`. An interruption leaves the old files, or the new ones, or
    some of each, which the next run makes whole; the report holds the digests of its tables, so a table and a report of two
    different runs cannot be taken for one. What is unfit is marked by a further file and inside the tables where the format can.

    Raises:
        ReleaseError: the directory cannot be written, or is not that of the draw.
        PluginContractError: what was written is not what was drawn, or does not keep what it must.
    """
    place = release.place
    if directory.resolve() != place.public:
        raise ReleaseError("--out", "is not the folder that was drawn for", value=str(directory))
    try:
        data, files = _prepared(release, formats_of(registry))
        forget_utility(place.private)
        place.place(files)
    except OSError as problem:
        rule = f"cannot be written ({problem.strerror or problem})"
        raise ReleaseError("directory", rule, "choose another --out", value=str(directory)) from None
    else:
        if release.run is not None:
            release.run.finish()
        return data
    finally:
        place.leave()


def _prepared(release: Release, formats: Formats) -> tuple[dict[str, Any], dict[str, str]]:
    """The report, and the digests of all files of the release, which are ready to be placed."""
    ready = release.place.ready
    private_folder(ready)
    warning = warning_of(release)
    files: dict[str, str] = {}
    if warning is not None:
        files[WARNING] = _written(ready / WARNING, warning + "\n")
    named = {name: table for part in release.output.tables.items() for name, table in files_of(*part).items()}
    listed = []
    for name, table in named.items():
        file = f"{name}{release.suffix}"
        files[file] = _table(table, ready / file, formats, {} if warning is None else {"dpspec": warning})
        listed.append({"file": file, "records": len(table), "sha256": files[file]})
    data = described(release, listed, _checked(release, formats))
    files[REPORT] = _written(ready / REPORT, json.dumps({"format": FORMAT, **data}, indent=2) + "\n")
    return data, files


def _written(path: Path, text: str) -> str:
    _private(path)
    path.write_text(text, encoding="utf-8")
    return hashlib.sha256(text.encode()).hexdigest()


def _private(path: Path) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _table(table: Table, path: Path, formats: Formats, notes: Mapping[str, str]) -> str:
    """Write a table and read it again; returns its digest."""
    format_ = format_of(path, formats)
    _private(path)
    format_.write(table, path, notes)
    again = read_table(path, table.attributes, formats, released=True)
    if not _same(table, again):
        rule = "does not read what it has written"
        raise PluginContractError(f"format {format_.name}", rule, "nothing was written; report it to the plugin's author")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _same(table: Table, again: Table) -> bool:
    return len(table) == len(again) and all(np.array_equal(table.codes[a.name], again.codes[a.name]) for a in table.attributes)


def _checked(release: Release, formats: Formats) -> tuple[FoundKept, ...]:
    """What the release, as it lies on disk, keeps of the table that was read."""
    main, ready = release.output.main, release.place.ready
    name = next(iter(release.output.tables))
    if main.members is None:
        again = read_table(ready / f"{name}{release.suffix}", main.attributes, formats, released=True)
    else:
        again = read_households(ready, main.attributes, main.members.table.attributes, formats, released=True)
    space = release.document.spec.space
    unit = str(getattr(release.mechanism, "unit", space.units[0] if space.units else ""))
    for invariant in release.document.spec.multiverse.invariants or ():
        held(invariant, release.given, again, unit, release.mechanism.name)
    columns = tuple(a.name for a in release.given.attributes)
    return tuple(check_kept(kept, release.given, again, release.mechanism.name) for kept in release.mechanism.keeps(columns))


def warning_of(release: Release) -> str | None:
    """Why a release is not fit for publication, in one line; None where it is."""
    return UNFIT + "; ".join(release.unfit) if release.unfit else None


def described(release: Release, files: list[dict[str, Any]], kept: tuple[FoundKept, ...]) -> dict[str, Any]:
    """The report that lies beside the released tables; it may be published with them."""
    from importlib.metadata import version

    origin = {"plugin": release.origin.plugin, "distribution": release.origin.distribution, "version": release.origin.version}
    document, judged = release.document, release.standing
    return {
        "specification": {
            "id": document.id,
            "title": document.title,
            "path": None if document.path is None else Path(document.path).name,
            "sha256": document.sha256,
            "text": document.text,
        },
        "budget": str(document.spec.budget),
        "claim": {
            "verdict": judged.word.word,
            "told": judged.sentence,
            "scopes": [verdict.scope for verdict in judged.verdicts],
        },
        "mechanism": {"name": release.mechanism.name, "parameters": repr(release.mechanism), **origin},
        "dpspec": version("dpspec"),
        "table": Path(release.name).name,
        "records": len(release.output.main),
        "engine": release.engine,
        "randomness": randomness(release.seed),
        "fit_for_publication": not release.unfit,
        "warning": warning_of(release),
        "invariants": [found.data() for found in release.held],
        "kept": [found.data() for found in kept],
        "told_by_mechanism": dict(release.output.report),
        "released": files,
    }
