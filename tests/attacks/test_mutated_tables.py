"""Mutated tables are released rightly or not at all; killed releases leave nothing that was not there or whole."""

from __future__ import annotations

import hashlib
import json
import random
import signal
import subprocess
import sys
import threading
from collections import Counter

import polars as pl
import pytest
from dpspec_release import draw as engine
from dpspec_release.write import write

from dpspec import installed
from dpspec.api import read
from dpspec.base.errors import DpspecError
from dpspec.base.files import private_folder
from dpspec.specfile.table_input import WARNING
from tests.swaps import compositions, given, spec

SUFFIXES = (".csv", ".parquet", ".arrow")
TYPES = (pl.String, pl.Int8, pl.UInt64, pl.Float64, pl.Boolean, pl.Date, pl.Categorical, pl.Binary, pl.Null, pl.List(pl.Int8))


def write_frame(frame, path):
    {".csv": frame.write_csv, ".parquet": frame.write_parquet, ".arrow": frame.write_ipc}[path.suffix](path)


def bytes_changed(content, draw):
    kind = draw.randrange(4)
    if kind == 0 and content:
        return content[: draw.randrange(len(content))]
    changed = bytearray(content)
    for _ in range(draw.choice((1, 3, 20))):
        changed[draw.randrange(len(changed))] = draw.choice((0, 255, 34, 44, 10, draw.randrange(256)))
    return bytes(changed)


def frame_changed(frame, draw):
    """Another type, a column dropped, doubled or renamed, a value out of range or missing, rows dropped or doubled."""
    name = draw.choice(frame.columns)
    way = draw.randrange(7)
    if way == 0:
        return frame.with_columns(pl.col(name).cast(draw.choice(TYPES), strict=False))
    if way == 1:
        return frame.drop(name)
    if way == 2:
        return frame.rename({name: draw.choice(("", "x", name.upper(), name + " "))})
    if way == 3:
        values = frame[name].to_list()
        values[draw.randrange(len(values))] = draw.choice((None, "q") if name == "sex" else (None, -1, 10**9, 2**63 - 1))
        return frame.with_columns(pl.Series(name, values, strict=False))
    if way == 4:
        return frame.head(draw.randrange(len(frame)))
    if way == 5:
        return pl.concat([frame, frame.tail(draw.randint(1, 3))])
    return frame.sample(fraction=1, shuffle=True, seed=draw.randrange(1000))


def tables_mutated(count, seed, folder):
    """Each release of mutated tables is refused with nothing written, or its persons are in the households of its input."""
    draw, found, registry = random.Random(seed), Counter(), installed().registry
    source, document = given(folder), read(spec(folder))
    frames = {stem: pl.read_csv(source / f"{stem}.csv") for stem in ("households", "persons")}
    for turn in range(count):
        place = folder / f"t{turn}"
        place.mkdir()
        suffix = draw.choice(SUFFIXES)
        chosen = draw.choice(list(frames))
        for stem, frame in frames.items():
            path = place / f"{stem}{suffix}"
            try:
                write_frame(frame_changed(frame, draw) if stem == chosen and draw.random() < 0.6 else frame, path)
            except (pl.exceptions.PolarsError, OverflowError):
                write_frame(frame, path)
            if stem == chosen and draw.random() < 0.5:
                path.write_bytes(bytes_changed(path.read_bytes(), draw))
        out = folder / f"out{turn}"
        try:
            release = engine.draw(document, str(place), registry, out, engine.Options(suffix=".csv", unverified=True))
            write(release, registry, out)
        except DpspecError as fault:
            found[fault.code] += 1
            left = [path for path in folder.iterdir() if path.name.startswith(out.name)]
            assert not left, left
            continue
        found["released"] += 1
        back = folder / f"back{turn}"
        private_folder(back)
        for stem in frames:
            frame = {".csv": pl.read_csv, ".parquet": pl.read_parquet, ".arrow": pl.read_ipc}[suffix](place / f"{stem}{suffix}")
            frame.cast({pl.Binary: pl.String}).write_csv(back / f"{stem}.csv")
        assert Counter((c, p) for c, _, p in compositions(back)) == Counter((c, p) for c, _, p in compositions(out))
    return found


@pytest.mark.slow
def test_mutated_tables_are_refused_or_released_rightly(tmp_path):
    found = tables_mutated(30, 1, tmp_path)
    assert found["released"]
    assert found.total() > found["released"]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_two_thousand_mutated_tables(tmp_path, seed):
    tables_mutated(200, 50 + seed, tmp_path)


def killed(tmp_path, times, seed, households):
    """Kill releases at random moments, most of them while they write; then one that ends."""
    draw, out = random.Random(seed), tmp_path / "out"
    source, path = given(tmp_path, households=households), spec(tmp_path)
    command = [sys.executable, "-m", "dpspec", "release", str(path), str(source), "--out", str(out), "--unverified"]
    for _ in range(times):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ready = tmp_path / "out.confidential"
        for _ in range(20_000):
            if process.poll() is not None or (ready / "ready").exists():
                break
            threading.Event().wait(0.001)
        threading.Event().wait(draw.random() * 0.15)
        process.send_signal(signal.SIGKILL)
        process.wait()
        names = {path.name for path in out.iterdir()} if out.exists() else set()
        assert names <= {"households.csv", "persons.csv", "report.json", WARNING}, "nothing lies there that is not a release"
        for name in names - {"report.json", WARNING}:
            rows = {"households.csv": households, "persons.csv": sum(i % 4 for i in range(households))}[name]
            assert (out / name).read_bytes().count(b"\n") == rows + 1, "a file is whole"
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    for entry in report["released"]:
        assert hashlib.sha256((out / entry["file"]).read_bytes()).hexdigest() == entry["sha256"]
    assert {p.name for p in out.iterdir()} == {"households.csv", "persons.csv", "report.json", WARNING}
    assert not (tmp_path / "out.confidential" / "ready").exists()


@pytest.mark.long
def test_a_killed_release_leaves_nothing_half(tmp_path):
    killed(tmp_path, 1, 1, 60)


@pytest.mark.long
def test_twenty_kills_leave_nothing_half(tmp_path):
    killed(tmp_path, 20, 2, 60_000)
