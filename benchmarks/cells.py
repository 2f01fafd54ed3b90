"""Peak memory of a table with more cells than memory holds: `python -m benchmarks.cells`.

    python -m benchmarks.cells                             25 and 250 million cells, of 50 and 500 million records
    python -m benchmarks.cells --only cell-key             another mechanism, or several, separated by commas
    python -m benchmarks.cells --cells 1000000,10000000    other numbers of cells
    python -m benchmarks.cells --form csv                  from files of CSV
    python -m benchmarks.cells --folder DIR                where files are written: some 15 GB, deleted at the end

A table of blocks by 252 cells, with two records for each cell of the product, at random, in files of 2.5 million records. The
release runs in a process whose address space is limited from outside to 2 GiB. Printed are the peak of the resident memory, the
processor time, and the SHA-256 of the released file. `--write` records the peaks in benchmarks/memory.json. Ends with 1 when a release fails, or the peak of a mechanism for the most cells
exceeds 1.1 times that for the fewest.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.memory import FORMS, Files, measured, record, write

LIMIT, FACTOR = 2 << 30, 1.1
SIZES = {"sex": 2, "age": 126}
PER_BLOCK, PER_CELL, PER_FILE = 252, 2, 2_500_000

SPEC = """\
schema = 1
id = "cells"
title = "Cells"
[space]
type = "records"
attributes = [{{ name = "block", count = {blocks} }}, {{ name = "sex", count = 2 }}, {{ name = "age", count = 126 }}]
[multiverse]
invariants = []
[input_divergence]
type = "symmetric-difference"
[output_divergence]
type = "mult"
[budget]
epsilon = "inf"
[mechanism]
{mechanism}
"""
TABLES = 'unit = "person"\ntables = [["block", "sex", "age"]]'
MECHANISMS = {
    "discrete-gaussian": """type = "discrete-gaussian"
variance = 4
sensitivities = [1]
queries = [{ type = "marginal", attributes = ["block", "sex", "age"] }]""",
    "random-rounding": f'type = "random-rounding"\nbase = 3\n{TABLES}',
    "conventional-rounding": f'type = "conventional-rounding"\nbase = 5\nredact_from = 1\nredact_up_to = 2\n{TABLES}',
    "cell-key": f'type = "cell-key"\nkeys = 16\nrows = [{{ count = 1, changes = {{ -1 = "1/2", 1 = "1/2" }} }}]\n{TABLES}',
}


def make(folder: Path, blocks: int, form: str) -> Path:
    """The partitions of a table of so many blocks."""
    path, records = folder / f"{blocks}", blocks * PER_BLOCK * PER_CELL
    path.mkdir()
    for place, first in enumerate(range(0, records, PER_FILE)):
        draw, count = np.random.default_rng((blocks, place)), min(PER_FILE, records - first)
        columns = {name: draw.integers(0, size, count).astype(np.uint8) for name, size in SIZES.items()}
        block = draw.integers(0, blocks, count).astype(np.uint32)
        write(pl.DataFrame({"block": block, **columns}), path / f"part-{place:04}.{form}")
    return path


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cells", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", default="25000000,250000000", metavar="NUMBERS", help="numbers of cells, the smallest first")
    parser.add_argument("--only", default="discrete-gaussian", metavar="NAMES", help="mechanisms, separated by commas")
    parser.add_argument("--memory", type=int, default=800, metavar="MB", help="what the release may use")
    parser.add_argument("--form", default="parquet", choices=tuple(FORMS), help="partitions in Parquet, or in CSV")
    parser.add_argument("--folder", metavar="DIR", help="where files are written")
    parser.add_argument("--write", action="store_true", help="record the peaks in benchmarks/memory.json")
    given = parser.parse_args()
    peaks: dict[str, list[float]] = {name: [] for name in given.only.split(",")}
    sizes = [int(cells) // PER_BLOCK for cells in given.cells.split(",")]
    for blocks in sizes:
        with tempfile.TemporaryDirectory(prefix="dpspec-cells-", dir=given.folder) as made:
            folder = Path(made)
            table, spec = make(folder, blocks, given.form), folder / "cells.dpspec.toml"
            for name, own in peaks.items():
                spec.write_text(SPEC.format(blocks=blocks, mechanism=MECHANISMS[name]), encoding="utf-8")
                peak, seconds = measured(spec, table, folder, LIMIT, ["--memory", f"{given.memory}MB", "--seed", "1"])
                with (folder / "out" / "released.parquet").open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                shutil.rmtree(folder / "out")
                own.append(peak)
                print(f"{name:24}{blocks * PER_BLOCK:>12,} cells{peak:>8.0f} MB{seconds:>8.1f} s  {digest}", flush=True)
    if given.write:
        files = Files(given.form, records=PER_FILE).words("cells")
        limits = {"limit": LIMIT, "memory": given.memory, "files": files}
        cells = [blocks * PER_BLOCK for blocks in sizes]
        record({
            f"{name} of cells, {files}": {"what": name, "of": "cells", "sizes": cells, "megabytes": [round(peak) for peak in own], **limits}
            for name, own in peaks.items()
        })  # fmt: skip
    return int(any(own[-1] > FACTOR * own[0] for own in peaks.values()))


if __name__ == "__main__":
    sys.exit(main())
