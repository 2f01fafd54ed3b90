"""Peak memory of releases of tables of any size: `python -m benchmarks.memory`.

    python -m benchmarks.memory                            500,000 and 50 million records, each mechanism
    python -m benchmarks.memory --only k-ary-response      some mechanisms, separated by commas
    python -m benchmarks.memory --records 500000,5000000   other sizes
    python -m benchmarks.memory --form csv                 one file of CSV instead of partitions in Parquet
    python -m benchmarks.memory --form csv --partitions 200 several files of CSV
    python -m benchmarks.memory --records 50000000,500000000 --partitions 200 --limit 2 --memory 800 --write

The records are made up, and lie in a temporary folder that is deleted at the end. With --partitions each table has so many files, also
that of households and that of their persons; with --each, files of so many records. A Parquet file of a million records or more takes 40
MB more than one of 250,000, which is one row group, and so not read ahead of what is used. Each release runs in a process of its own
whose address space is limited from outside (RLIMIT_AS), as is the memory that it may use (--memory). Printed are the peak of the
resident memory and the processor time of the child, as the kernel counts them. `--write` records the peaks in benchmarks/memory.json.

Ends with 1 when a release fails, or the peak for the largest table exceeds 1.1 times that for the smallest one. If this one has fewer
than 50 million records, not all buffers are full, and the peak may be 64 MB larger. A swap then holds the smaller table in memory, and sorts the larger one:
its peak must be within --memory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks import results

RECORDED = Path(__file__).with_name("memory.json")
"""The peaks that were recorded, from which docs/scale.md has its table."""
FORMS = {"parquet": "Parquet", "csv": "CSV"}
PARTITION = 250_000
LIMIT = 3
"""GiB of address space; resident is a tenth of it. Polars reserves stacks and arenas for its threads."""
ALLOWED, FACTOR, CONSTANT = 1000, 1.1, 64
"""The megabytes of --memory, and what the peak may grow by: a factor, and megabytes where the smallest table is not large."""
LARGE = 50_000_000
"""Records of a table that fills all buffers, and that a swap sorts."""

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
invariants = [{invariants}]
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
INVARIANTS = "invariants"
"""The check alone of what swaps are checked for: both tables are read and counted."""
CHECKED = """
  { type = "marginal", attributes = ["region", "area", "key"] },
  { type = "marginal", attributes = ["area"], where = { region = ["north", "west"] } },
"""
"""The invariants of swaps, one of them of some records only."""
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
    if name in RECORDS:
        return SPEC.format(space="ordered-records", distance="hamming-ordered", mechanism=RECORDS[name], invariants="")
    swaps = {**SWAPS, INVARIANTS: SWAPS["permutation-swapping"]}
    mechanism, invariants = (COUNTS[name], "") if name in COUNTS else (f"{swaps[name]}\n{SWAP}", CHECKED)
    return SPEC.format(space="records", distance="symmetric-difference", mechanism=mechanism, invariants=invariants)


@dataclass(frozen=True)
class Files:
    """The files of a table.

    Args:
        form: their format, as their suffix.
        number: how many they are; None where each has the same number of records.
        records: those of each; None for the number that is usual, and one file of CSV.
    """

    form: str = "parquet"
    number: int | None = None
    records: int | None = None

    @property
    def is_one(self) -> bool:
        """Whether a table of records is one file."""
        return self.form == "csv" and self.number is None and self.records is None

    def starts(self, records: int) -> range:
        """The first record of each file, and the records of each as the step."""
        return range(0, records, -(-records // self.number) if self.number else self.records or PARTITION)

    def words(self, name: str) -> str:
        """What they are called in a table of results.

        Args:
            name: of a mechanism.
        """
        if self.is_one and name != HOUSEHOLDS:
            return "one CSV file"
        kind = FORMS[self.form]
        return f"{self.number:,} {kind} files" if self.number else f"{kind} files of {self.records or PARTITION:,} records"


def make(folder: Path, records: int, files: Files) -> Path:
    """A table of so many records: a folder of partitions, or one file."""
    draw = np.random.default_rng(records)
    regions = pl.Series("region", ["north", "south", "west", "east"])
    path = folder / f"{records}"
    path.mkdir()
    places = files.starts(records)
    for place, first in enumerate(places):
        count = min(places.step, records - first)
        sizes = {"area": 500, "age": 20, "key": 16}
        columns = [pl.Series(name, draw.integers(0, size, count).astype(np.uint16)) for name, size in sizes.items()]
        region = regions.gather(draw.integers(0, 4, count))
        frame = pl.DataFrame([region, *columns])
        if files.is_one:
            with (path / "table.csv").open("ab") as file:
                frame.write_csv(file, include_header=not place)
        else:
            write(frame, path / f"part-{place:04}.{files.form}")
    return path / "table.csv" if files.is_one else path


def write(frame: pl.DataFrame, path: Path) -> None:
    """Write a file in the format that its suffix names."""
    if path.suffix == ".csv":
        frame.write_csv(path)
    else:
        frame.write_parquet(path)


def make_households(folder: Path, records: int, files: Files) -> Path:
    """Half as many households as persons, in folders of partitions; the person i is one of the household i // 2, or of the next."""
    draw, path, count = np.random.default_rng(records), folder / f"{records} in households", records // 2
    for name, size in (("households", count), ("persons", records)):
        (path / name).mkdir(parents=True)
        places = files.starts(size)
        for place, first in enumerate(places):
            rows = np.arange(first, min(first + places.step, size))
            number = rows if name == "households" else np.minimum((rows + draw.integers(0, 2, len(rows))) // 2, count - 1)
            frame = pl.DataFrame({"household_id": (number * 7919) % (1 << 40)})
            if name == "households":
                regions = pl.Series("region", ["north", "south", "west", "east"]).gather(draw.integers(0, 4, len(rows)))
                frame = frame.with_columns(regions, pl.Series("area", draw.integers(0, 500, len(rows)).astype(np.uint16)))
            else:
                sizes = {"age": 20, "key": 16}
                columns = [pl.Series(one, draw.integers(0, most, len(rows)).astype(np.uint8)) for one, most in sizes.items()]
                frame = frame.with_columns(columns)
            write(frame, path / name / f"part-{place:04}.{files.form}")
    return path


def released(name: str, table: Path, folder: Path, limit: int = LIMIT, allowed: int = ALLOWED) -> tuple[float, float]:
    """The peak in MB and the seconds of processor time of one release, under GiB of address space and with MB of --memory.

    Raises:
        SystemExit: it fails.
    """
    spec = folder / f"{name}.dpspec.toml"
    spec.write_text(specification(name), encoding="utf-8")
    if name == INVARIANTS:
        code = f"from benchmarks.memory import check; check({str(spec)!r}, {str(table)!r})"
        return limited([sys.executable, "-c", code], folder, limit << 30)
    return measured(spec, table, folder, limit << 30, ["--memory", f"{allowed}MB"])


def check(spec: str, table: str) -> None:
    """Check the invariants of a specification as `dpspec release` does, of a table that is read twice in place of a released one."""
    from dpspec_release.draw import count_cells, held

    from dpspec.api import read
    from dpspec.base.memory import spare_address_space
    from dpspec.extension.loader import installed
    from dpspec.specfile.table_input import given_sources

    spare_address_space()
    document = read(spec)
    unit, invariants = document.spec.space.units[0], document.spec.multiverse.induced_by() or ()
    asked = [one for one in (invariant.as_marginal() for invariant in invariants) if one is not None]
    before, after = (count_cells(*given_sources(table, document, unit, installed().registry), asked) for _ in range(2))
    found = [held(one, before, after, unit, "none").cells for one in invariants]
    if not found or not all(found):
        raise SystemExit(f"{len(found)} invariants, of which not all were checked")


def measured(spec: Path, table: Path, folder: Path, limit: int, options: list[str]) -> tuple[float, float]:
    """The peak in MB and the seconds of processor time of one release into `folder`/out.

    Args:
        limit: bytes of address space.
        options: of `dpspec release`.

    Raises:
        SystemExit: it fails.
    """
    command = [sys.executable, "-m", "dpspec", "release", str(spec), str(table), "--out", str(folder / "out"), "--unverified"]
    return limited([*command, *options], folder, limit)


def limited(command: list[str], folder: Path, limit: int) -> tuple[float, float]:
    """The peak in MB and the seconds of processor time of a command under so many bytes of address space; its output is `folder`/log.

    Raises:
        SystemExit: it fails.
    """
    with (folder / "log").open("w+") as log:
        shell = ["sh", "-c", f'ulimit -v {limit >> 10}; exec "$@"', "sh"]
        child = subprocess.Popen([*shell, *command], stdout=log, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            log.seek(0)
            raise SystemExit(f"{' '.join(command[1:])}: exit code {child.returncode}\n{log.read()}")
    return used.ru_maxrss / 1024, used.ru_utime + used.ru_stime


def record(found: Mapping[str, Mapping[str, Any]]) -> None:
    """Replace the recorded peaks of some lines; the others stay.

    Args:
        found: for each line what was measured, in which files, under which limits, and the peak in MB at each size.
    """
    known = json.loads(RECORDED.read_text(encoding="utf-8"))["lines"] if RECORDED.exists() else {}
    stamped = {name: {**line, **results.provenance(), "machine": results.machine()} for name, line in found.items()}
    text = json.dumps({"lines": {**known, **stamped}}, indent=1, sort_keys=True) + "\n"
    RECORDED.write_text(text, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.memory", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", metavar="NAMES", help="mechanisms, separated by commas")
    parser.add_argument("--records", default="500000,50000000", metavar="NUMBERS", help="sizes, the smallest first")
    parser.add_argument(
        "--form", default="parquet", choices=tuple(FORMS), help="partitions in Parquet, or one file of CSV, or partitions in it"
    )
    cut = parser.add_mutually_exclusive_group()
    cut.add_argument("--partitions", type=int, metavar="NUMBER", help="files of each table")
    cut.add_argument("--each", type=int, metavar="NUMBER", help=f"records of each file [default: {PARTITION:,}]")
    parser.add_argument("--limit", type=int, default=LIMIT, metavar="GIB", help=f"GiB of address space [default: {LIMIT}]")
    parser.add_argument("--memory", type=int, default=ALLOWED, metavar="MB", help=f"of the release [default: {ALLOWED} MB]")
    parser.add_argument("--folder", metavar="DIR", help="where files are written")
    parser.add_argument("--write", action="store_true", help="record the peaks in benchmarks/memory.json")
    given = parser.parse_args()
    files = Files(given.form, given.partitions, given.each)
    names = given.only.split(",") if given.only else [*COUNTS, *RECORDS, *SWAPS, INVARIANTS, HOUSEHOLDS]
    sizes = [int(size) for size in given.records.split(",")]
    larger: list[str] = []
    with tempfile.TemporaryDirectory(prefix="dpspec-memory-", dir=given.folder) as made:
        folder = Path(made)
        tables = {size: make(folder, size, files) for size in sizes if {*names} != {HOUSEHOLDS}}
        of_households = {size: make_households(folder, size, files) for size in sizes if HOUSEHOLDS in names}
        for name in names:
            peaks = []
            for size, table in (of_households if name == HOUSEHOLDS else tables).items():
                peak, seconds = released(name, table, folder, given.limit, given.memory)
                peaks.append(peak)
                print(f"{name:24}{size:>12,} records{peak:>8.0f} MB{seconds:>8.1f} s", flush=True)
            allowed = FACTOR * peaks[0] + (CONSTANT if sizes[0] < LARGE else 0)
            if name in {*SWAPS, HOUSEHOLDS}:
                allowed = given.memory if sizes[0] < LARGE else min(allowed, given.memory)
            if peaks[-1] > allowed:
                larger.append(name)
            if given.write:
                line = {"what": name, "of": "records", "files": files.words(name), "sizes": sizes}
                limits = {"limit": given.limit << 30, "memory": None if name == INVARIANTS else given.memory}
                record({f"{name}, {files.words(name)}": {**line, **limits, "megabytes": [round(peak) for peak in peaks]}})
    for name in larger:
        print(f"LARGER {name}")
    return int(bool(larger))


if __name__ == "__main__":
    sys.exit(main())
