"""The measurement of peak memory, at a small size: releases run under the limit, and their peaks are those of the kernel."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import memory

ROOT = Path(__file__).parents[2]


@pytest.mark.spread(0, slow=1)
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_peaks_of_releases_are_measured(form):
    options = ["--records", "300000,600000", "--only", "cell-key,k-ary-response,invariants", "--form", form]
    command = [sys.executable, "-m", "benchmarks.memory", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    names = ("cell-key", "k-ary-response", "invariants")
    expected = [[name, size, "records"] for name in names for size in ("300,000", "600,000")]
    assert [line[:3] for line in lines] == expected
    assert all(50 < float(line[3]) < 600 for line in lines)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_partitions_are_those_of_every_table(tmp_path, form):
    """Also of households and of their persons, whose tables have different numbers of records."""
    for number, each in ((7, None), (None, 100)):
        files, folder = memory.Files(form, number, each), tmp_path / f"{number}"
        folder.mkdir()
        made = [memory.make(folder, 1000, files), *memory.make_households(folder, 1000, files).iterdir()]
        found = {table.name: len([*table.glob(f"part-*.{form}")]) for table in made}
        assert found == {"1000": number or 10, "households": number or 5, "persons": number or 10}
    one = memory.make(tmp_path, 500, memory.Files("csv"))
    assert (one.name, len(one.read_text().splitlines())) == ("table.csv", 501)
