"""Releases by sorting, as the tests of noisy tables and of rounded ones look at them."""

from __future__ import annotations

import hashlib

import pytest
from dpspec_release import draw as engine
from dpspec_release.write import write, write_utility

from dpspec import installed, read
from dpspec.base.errors import DpspecError


def as_file(path, frame):
    """Write a frame in the format of the name of a file."""
    {".csv": frame.write_csv, ".parquet": frame.write_parquet, ".arrow": frame.write_ipc}[path.suffix](path)
    return path


def released(path, table, out, **options):
    """The digest of the released table, and the report without what names the run."""
    registry = installed().registry
    options = engine.Options(**{"unverified": True, "seed": 5, **options})
    release = engine.draw(read(path), str(table), registry, out, options)
    report = write(release, registry, out)
    (file,) = out.glob("released.*")
    left = {entry.name for entry in out.with_name(out.name + ".confidential").iterdir()}
    assert left == {"lock", "placed.json"}
    write_utility(release)
    return hashlib.sha256(file.read_bytes()).hexdigest(), {k: v for k, v in report.items() if k not in {"table", "workers"}}


def wrong(path, table, out, **options):
    """The error of a release, in one line, which leaves nothing behind."""
    with pytest.raises(DpspecError) as caught:
        released(path, table, out, **options)
    assert not list(out.glob("*"))
    assert not out.with_name(f"{out.name}.confidential").exists()
    assert "\n" not in str(caught.value)
    return caught.value
