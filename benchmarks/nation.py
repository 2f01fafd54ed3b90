"""Peak memory and processor time of TopDown of a synthetic nation of any size: `python -m benchmarks.nation`.

    python -m benchmarks.nation --blocks 10000,30000,100000
    python -m benchmarks.nation --blocks 1000000 --races 2 --without-fits

The nation has six levels: us, state, county, tract, block group and block, of 50 states for each million blocks, 20 counties in each
state, 10 tracts in a county, 4 block groups in a tract and 25 blocks in a block group. Its blocks, units and persons are those of
`benchmarks.topdown`, 42.5 persons and units for each block. The specification has the allocation of 2020, and as invariants the
population of each state, the housing units and seven kinds of group quarters of each block, and that no one lives in a vacant unit.

With `--without-fits` each family gets its confidential counts, which keep all constraints, in the place of a fit. All else is done as
in a release: the memory of the process that drives the work is the same, for a tenth of its time.

Households and persons are written as two files of Parquet in a temporary folder that is deleted at the end. Each release is the
command `dpspec release` in a process of its own, whose address space is limited from outside (RLIMIT_AS). Printed are the peak
of its resident memory and its processor time, as the kernel counts them, the SHA-256 of the released files, and their size.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars as pl

from benchmarks.topdown import HOUSING, INSTITUTIONS, KINDS, QUARTERS, RACES, synthetic

LEVELS = ("us", "state", "county", "tract", "block-group", "block")
PIECE = 20_000
"""Blocks that are made at a time: those of one state."""
LIMIT = 4 << 30
"""Bytes of address space."""


def sizes(blocks: int) -> tuple[int, ...]:
    """The number of nodes of each level."""
    return (1, max(blocks // 20_000, 1), max(blocks // 1000, 2), max(blocks // 100, 4), max(blocks // 25, 8), blocks)


def specification(blocks: int, races: int = RACES) -> str:
    """The text of the specification."""
    places = [
        f'  {{ name = "{name}", count = {size}{f", within = {json.dumps(above)}" if above else ""} }},'
        for name, size, above in zip(LEVELS, sizes(blocks), (None, *LEVELS), strict=False)
    ]
    invariants = [
        '  { type = "marginal", attributes = ["state"] },',
        f'  {{ type = "marginal", attributes = ["block"], unit = "household", where = {{ hhgq = {json.dumps(HOUSING)} }} }},',
        *(
            f'  {{ type = "marginal", attributes = ["block"], unit = "household", where = {{ hhgq = ["{k}"] }} }},'
            for k in QUARTERS
        ),
        '  { type = "marginal", attributes = [], where = { hhgq = ["vacant"] } },',
    ]
    edits = [f'  {{ where = {{ hhgq = ["{k}"] }}, of_where = {{ hhgq = ["{k}"] }}, least = 1 }},' for k in QUARTERS]
    edits.append(f'  {{ where = {{ hhgq = ["household"] }}, of_where = {{ hhgq = {json.dumps(HOUSING)} }} }},')
    kept = "\n".join(invariants)
    return f"""\
schema = 1
id = "nation"
title = "A synthetic nation of {blocks} blocks"
[space]
type = "households"
household = [
{chr(10).join(places)}
  {{ name = "hhinstlevels", categories = ["household", "institutional", "other"] }},
  {{ name = "hhgq", categories = {json.dumps(KINDS)}, within = "hhinstlevels", parents = {json.dumps(INSTITUTIONS)} }},
]
person = [
  {{ name = "votingage", count = 2 }},
  {{ name = "hispanic", count = 2 }},
  {{ name = "cenrace", count = {races} }},
]
[multiverse]
invariants = [
{kept}
]
[input_divergence]
type = "hamming"
unit = "household"
[output_divergence]
type = "d-nor"
[budget]
rho = "inf"
[mechanism]
type = "topdown-by-levels"
unit = "household"
levels = {json.dumps(LEVELS)}
allocation = ["2020-pl-persons"]
tables = [{{ unit = "household", rho = "7/100", level_shares = ["1/205", "1/205", "7/82", "364/1025", "1759/4100", "99/820"], queries = [
  {{ attributes = ["hhgq"], shares = ["1", "1", "1", "1", "1", "1"] }},
] }}]
invariants = [
{kept}
]
edits = [
{chr(10).join(edits)}
]
"""


def frames(blocks: int, races: int) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Households and persons, a state at a time."""
    kinds, first = pl.Enum(KINDS), 0
    for place, begin in enumerate(range(0, blocks, PIECE)):
        counts = synthetic(min(PIECE, blocks - begin), place + 1)
        units = counts["household"].tocoo()
        block, kind = (np.repeat(index, units.data) for index in units.coords)
        order = np.lexsort((kind, block))
        block, kind = block[order], kind[order]
        persons = counts["person"].tocoo()
        cell = np.repeat(
            np.asarray(persons.coords[0], dtype=np.int64) * (len(KINDS) * 4 * RACES) + persons.coords[1], persons.data
        )
        of_kind, own = np.divmod(cell, 4 * RACES)  # block and kind of each person
        unit_keys = block * len(KINDS) + kind
        ends = np.searchsorted(unit_keys, np.arange(len(counts["household"].toarray()) * len(KINDS) + 1))
        here = np.maximum(ends[of_kind + 1] - ends[of_kind], 1)  # persons are dealt out to the units of their kind
        owner = ends[of_kind] + np.arange(len(of_kind)) % here
        yield (
            pl.DataFrame({
                "household_id": np.arange(first, first + len(block)),
                **_places(block + begin, blocks),
                "hhinstlevels": pl.Series([INSTITUTIONS[k] for k in range(len(KINDS))], dtype=pl.Enum(["household", "institutional", "other"])).gather(kind),
                "hhgq": pl.Series(KINDS, dtype=kinds).gather(kind),
            }),
            pl.DataFrame({
                "household_id": owner + first,
                "votingage": (own // (2 * RACES)).astype(np.uint8),
                "hispanic": (own // RACES % 2).astype(np.uint8),
                "cenrace": np.minimum(own % RACES, races - 1).astype(np.uint8),
            }),
        )  # fmt: skip
        first += len(block)


def _places(block: np.ndarray, blocks: int) -> dict[str, np.ndarray]:
    found, held = {"block": block.astype(np.int64)}, sizes(blocks)
    for place in range(len(LEVELS) - 2, -1, -1):
        found[LEVELS[place]] = found[LEVELS[place + 1]] * held[place] // held[place + 1]
    return {name: found[name].astype(np.uint32) for name in LEVELS}


def make(folder: Path, blocks: int, races: int = RACES) -> Path:
    """The folder with the two tables, each a folder of partitions: one for each state."""
    path = folder / f"{blocks}"
    for place, tables in enumerate(frames(blocks, races)):
        for name, table in zip(("households", "persons"), tables, strict=True):
            (path / name).mkdir(parents=True, exist_ok=True)
            table.write_parquet(path / name / f"part-{place:03}.parquet")
    return path


UNFITTED = "from benchmarks.nation import unfitted; unfitted()"


def unfitted() -> None:
    """The command line of dpspec, in which each family gets its confidential counts in the place of a fit."""
    from dpspec_census.hierarchy import descent

    from dpspec.cli import main as command

    def done(level: descent.Level, rows: Any) -> Iterator[Any]:
        number, own = int(rows["family"][0]), rows["kind"] == descent.TRUE
        nodes = np.sort(rows["node"][rows["kind"] == descent.CHILD])
        answers = descent._answers(level, rows, nodes)
        count = answers.shape[1]
        yield descent.rows_of(number, descent.FITTED, rows["node"][own], rows["place"][own], rows["value"][own])
        places = np.tile(np.arange(count), len(nodes))
        yield descent.rows_of(number, descent.ANSWER, np.repeat(nodes, count), places, answers.ravel())
        yield descent.rows_of(number, descent.NOTE, number, np.arange(3), np.zeros(3, dtype=np.int64))

    with mock.patch.object(descent, "_done", done):
        command()


def released(table: Path, folder: Path, text: str, form: str, limit: int, *, without_fits: bool) -> dict[str, float | str]:
    """Peak, time and files of one release.

    Raises:
        SystemExit: it fails.
    """
    spec, out = folder / "nation.dpspec.toml", folder / f"out-{table.name}"
    spec.write_text(text, encoding="utf-8")
    command = [
        "sh",
        "-c",
        f'ulimit -v {limit >> 10}; exec "$@"',
        "sh",
        sys.executable,
        "-m",
        "dpspec",
        "release",
        str(spec),
        str(table),
    ]
    command += ["--out", str(out), "--unverified", "--seed", "1", "--as", form, "--memory", f"{limit // 1_000_000}MB"]
    begun = time.monotonic()
    with (folder / "log").open("w+") as log:
        child = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, "OMP_NUM_THREADS": "1"})
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            log.seek(0)
            raise SystemExit(f"{table.name} blocks: exit code {child.returncode}\n{log.read()}")
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    return {
        "peak": used.ru_maxrss / 1024,
        "seconds": used.ru_utime + used.ru_stime,
        "elapsed": time.monotonic() - begun,
        **{one["file"]: f"{one['sha256']} {one['records']:,} records" for one in report["released"]},
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.nation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--blocks", default="10000,30000", metavar="NUMBERS", help="sizes, separated by commas")
    parser.add_argument("--races", default=RACES, type=int, metavar="NUMBER", help="categories of race; 36 cells for each")
    parser.add_argument("--form", default="parquet", choices=("parquet", "csv"), help="of the released files")
    parser.add_argument("--without-fits", action="store_true", help="for the memory alone")
    parser.add_argument("--limit", default=LIMIT, type=int, metavar="BYTES", help="of address space")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dpspec-nation-") as made:
        folder = Path(made)
        for blocks in map(int, given.blocks.split(",")):
            table, text = make(folder, blocks, given.races), specification(blocks, given.races)
            found = released(table, folder, text, given.form, given.limit, without_fits=given.without_fits)
            per_block = 1000 * float(found["seconds"]) / blocks
            print(f"{blocks:>10,} blocks {found['peak']:>7.0f} MB {found['seconds']:>8.1f} s, {per_block:.2f} ms for each block")
            for name, words in found.items():
                if "." in name:
                    print(f"    {name}: {words}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
