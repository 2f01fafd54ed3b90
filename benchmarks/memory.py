"""Peak memory of releases of tables of any size: `python -m benchmarks.memory`.

    python -m benchmarks.memory                            500,000 and 50 million records, each mechanism
    python -m benchmarks.memory --only k-ary-response      some mechanisms, separated by commas
    python -m benchmarks.memory --records 500000,5000000   other sizes
    python -m benchmarks.memory --form csv                 one file of CSV instead of partitions in Parquet
    python -m benchmarks.memory --partitions 200 --limit 2 --memory 800

The records are made up, and lie in a temporary folder that is deleted at the end. Each release runs in a process of its own
whose address space is limited from outside (RLIMIT_AS), as is the memory that it may use (--memory). Printed are the peak of the
resident memory and the processor time of the child, as the kernel counts them. Ends with 1 when a release fails, or the peak for the
largest table exceeds 1.1 times that for the smallest one and 64 MB. A swap holds a table that fits into memory, and sorts a
larger one: its peak must be within --memory.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

PARTITION = 250_000
LIMIT = 3
"""GiB of address space; resident is a tenth of it. Polars reserves stacks and arenas for its threads."""
ALLOWED, FACTOR, CONSTANT = 1000, 1.1, 64
"""The megabytes of --memory, and what the peak may grow by: a factor, and megabytes."""

SPEC = """\
schema = 1
id = "made-up"
title = "Made up"
[space]
type = "{space}"
attributes = [
  {{ name = "region", categories = ["north", "south", "west", "east"] }},
  {{ name = "area", count = 500 }},
  {{ name = "age", count = 20 }},
  {{ name = "key", count = 16 }},
]
[multiverse]
invariants = []
[input_divergence]
type = "{distance}"
[output_divergence]
type = "mult"
[budget]
epsilon = "inf"
[mechanism]
{mechanism}
"""
TABLES = 'unit = "person"\ntables = [["area", "age"], ["area"], []]'
FEW_TABLES = 'unit = "person"\ntables = [["area"], []]'
COIN = 'rows = [{ count = 1, changes = { -1 = "1/2", 1 = "1/2" } }]'
COUNTS = {
    "geometric": 'type = "geometric"\nratio = "1/2"\nqueries = [{ type = "marginal", attributes = ["area", "age"] }]',
    "conventional-rounding": f'type = "conventional-rounding"\nbase = 5\n{TABLES}',
    "random-rounding": f'type = "random-rounding"\nbase = 3\n{TABLES}',
    "cell-key": f'type = "cell-key"\nkeys = 16\n{COIN}\n{TABLES}',
    "kept-cell-key": f'type = "kept-cell-key"\nkeys = 16\nkey = "key"\n{COIN}\n{TABLES}',
    "cell-suppression": f'type = "cell-suppression"\np_percent = 10\nvalue = "age"\n{FEW_TABLES}',
    "safetab-geometric": """type = "safetab-geometric"
unit = "person"
budget = "ln(4)"
populations = [{ name = "all", most = 1, groups = [{ name = "north", where = { region = ["north"] } }] }]
levels = [{ population = "all", share = 1, geography = "area", tables = [["age"]] }]""",
}
RECORDS = {
    "k-ary-response": 'type = "k-ary-response"\nattribute = "age"\nepsilon = "ln(3)"',
    "unary-encoding": 'type = "unary-encoding"\nform = "symmetric"\nattribute = "age"\nepsilon = "ln(9)"',
    "hadamard-response": 'type = "hadamard-response"\nattribute = "area"\nepsilon = "ln(3)"',
    "count-mean-sketch": 'type = "count-mean-sketch"\nattribute = "area"\nepsilon = "ln(9)"\nwidth = 8\nhashes = [[1, 5], [3, 7, 2]]',
}
SWAPS = {
    "permutation-swapping": 'type = "permutation-swapping"\nmatch = ["region", "area"]',
    "derangement-swapping": 'type = "derangement-swapping"\nmatch = ["region"]',
    "pair-swapping": 'type = "pair-swapping"\nmatch = []',
    "risk-swapping": 'type = "risk-swapping"\nmatch = ["region"]\nrate = [{ where = "unique in match x held", rate = "3/4" }]',
}
"""Strata that are all smaller than a piece in memory, for tables of up to a billion records, and strata that are larger."""
SWAP = 'swap = ["age"]\nswap_rate = "1/2"\nunit = "person"'
HOUSEHOLDS = "households"
"""A swap of households, each with one to three of the records as its persons."""
OF_HOUSEHOLDS = """\
schema = 1
id = "made-up"
title = "Made up"
[space]
type = "households"
household = [{ name = "region", categories = ["north", "south", "west", "east"] }, { name = "area", count = 500 }]
person = [{ name = "age", count = 20 }, { name = "key", count = 16 }]
[multiverse]
invariants = []
[input_divergence]
type = "hamming"
unit = "household"
[output_divergence]
type = "mult"
[budget]
epsilon = "inf"
[mechanism]
type = "permutation-swapping"
match = ["region"]
swap = ["area"]
swap_rate = "1/2"
"""


def specification(name: str) -> str:
    """The text of the specification of a mechanism."""
    if name == HOUSEHOLDS:
        return OF_HOUSEHOLDS
    if name in COUNTS:
        return SPEC.format(space="records", distance="symmetric-difference", mechanism=COUNTS[name])
    if name in SWAPS:
        return SPEC.format(space="records", distance="symmetric-difference", mechanism=f"{SWAPS[name]}\n{SWAP}")
    return SPEC.format(space="ordered-records", distance="hamming-ordered", mechanism=RECORDS[name])


def make(folder: Path, records: int, form: str, partition: int = PARTITION) -> Path:
    """A table of so many records: a folder of partitions of a size, or one file of CSV."""
    draw = np.random.default_rng(records)
    regions = pl.Series("region", ["north", "south", "west", "east"])
    path = folder / f"{records}"
    path.mkdir()
    for place, first in enumerate(range(0, records, partition)):
        count = min(partition, records - first)
        sizes = {"area": 500, "age": 20, "key": 16}
        columns = [pl.Series(name, draw.integers(0, size, count).astype(np.uint16)) for name, size in sizes.items()]
        region = regions.gather(draw.integers(0, 4, count))
        frame = pl.DataFrame([region, *columns])
        if form == "csv":
            with (path / "table.csv").open("ab") as file:
                frame.write_csv(file, include_header=not place)
        else:
            frame.write_parquet(path / f"part-{place:04}.parquet")
    return path / "table.csv" if form == "csv" else path


def make_households(folder: Path, records: int) -> Path:
    """Half as many households as persons, in folders of partitions; the person i is one of the household i // 2, or of the next."""
    draw, path, count = np.random.default_rng(records), folder / f"{records} in households", records // 2
    for name, size in (("households", count), ("persons", records)):
        (path / name).mkdir(parents=True)
        for place, first in enumerate(range(0, size, PARTITION)):
            rows = np.arange(first, min(first + PARTITION, size))
            number = rows if name == "households" else np.minimum((rows + draw.integers(0, 2, len(rows))) // 2, count - 1)
            frame = pl.DataFrame({"household_id": (number * 7919) % (1 << 40)})
            if name == "households":
                regions = pl.Series("region", ["north", "south", "west", "east"]).gather(draw.integers(0, 4, len(rows)))
                frame = frame.with_columns(regions, pl.Series("area", draw.integers(0, 500, len(rows)).astype(np.uint16)))
            else:
                sizes = {"age": 20, "key": 16}
                columns = [pl.Series(one, draw.integers(0, most, len(rows)).astype(np.uint8)) for one, most in sizes.items()]
                frame = frame.with_columns(columns)
            frame.write_parquet(path / name / f"part-{place:04}.parquet")
    return path


def released(name: str, table: Path, folder: Path, limit: int = LIMIT, allowed: int = ALLOWED) -> tuple[float, float]:
    """The peak in MB and the seconds of processor time of one release, under GiB of address space and with MB of --memory.

    Raises:
        SystemExit: it fails.
    """
    spec = folder / f"{name}.dpspec.toml"
    spec.write_text(specification(name), encoding="utf-8")
    return measured(spec, table, folder, limit << 30, ["--memory", f"{allowed}MB"])


def measured(spec: Path, table: Path, folder: Path, limit: int, options: list[str]) -> tuple[float, float]:
    """The peak in MB and the seconds of processor time of one release into `folder`/out.

    Args:
        limit: bytes of address space.
        options: of `dpspec release`.

    Raises:
        SystemExit: it fails.
    """
    command = ["sh", "-c", f'ulimit -v {limit >> 10}; exec "$@"', "sh"]
    command += [sys.executable, "-m", "dpspec", "release", str(spec), str(table), "--out", str(folder / "out"), "--unverified"]
    with (folder / "log").open("w+") as log:
        child = subprocess.Popen([*command, *options], stdout=log, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            log.seek(0)
            raise SystemExit(f"{spec.name} of {table.name}: exit code {child.returncode}\n{log.read()}")
    return used.ru_maxrss / 1024, used.ru_utime + used.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.memory", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", metavar="NAMES", help="mechanisms, separated by commas")
    parser.add_argument("--records", default="500000,50000000", metavar="NUMBERS", help="sizes, the smallest first")
    parser.add_argument("--form", default="parquet", choices=("parquet", "csv"), help="partitions in Parquet, or one file of CSV")
    parser.add_argument(
        "--partitions", type=int, metavar="NUMBER", help=f"partitions of a table [default: of {PARTITION:,} records]"
    )
    parser.add_argument("--limit", type=int, default=LIMIT, metavar="GIB", help=f"GiB of address space [default: {LIMIT}]")
    parser.add_argument("--memory", type=int, default=ALLOWED, metavar="MB", help=f"of the release [default: {ALLOWED} MB]")
    given = parser.parse_args()
    names = given.only.split(",") if given.only else [*COUNTS, *RECORDS, *SWAPS, HOUSEHOLDS]
    larger = []
    with tempfile.TemporaryDirectory(prefix="dpspec-memory-") as made:
        folder = Path(made)
        sizes = [int(size) for size in given.records.split(",")]
        partition = {size: -(-size // given.partitions) if given.partitions else PARTITION for size in sizes}
        tables = {size: make(folder, size, given.form, partition[size]) for size in sizes}
        of_households = {size: make_households(folder, size) for size in tables if HOUSEHOLDS in names}
        for name in names:
            peaks = []
            for size, table in (of_households if name == HOUSEHOLDS else tables).items():
                peak, seconds = released(name, table, folder, given.limit, given.memory)
                peaks.append(peak)
                print(f"{name:24}{size:>12,} records{peak:>8.0f} MB{seconds:>8.1f} s", flush=True)
            if peaks[-1] > (given.memory if name in {*SWAPS, HOUSEHOLDS} else FACTOR * peaks[0] + CONSTANT):
                larger.append(name)
    for name in larger:
        print(f"LARGER {name}")
    return int(bool(larger))


if __name__ == "__main__":
    sys.exit(main())
