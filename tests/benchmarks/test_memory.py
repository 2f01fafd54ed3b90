"""The measurement of peak memory, at a small size: releases run under the limit, and their peaks are those of the kernel."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.spread(0, slow=1)
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_peaks_of_releases_are_measured(form):
    options = ["--records", "300000,600000", "--only", "cell-key,k-ary-response", "--form", form]
    command = [sys.executable, "-m", "benchmarks.memory", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    expected = [[name, size, "records"] for name in ("cell-key", "k-ary-response") for size in ("300,000", "600,000")]
    assert [line[:3] for line in lines] == expected
    assert all(50 < float(line[3]) < 600 for line in lines)
