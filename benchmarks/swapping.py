"""Swapping from file to file: Massachusetts 1940, and made-up dwellings up to 50 million, beside a bare shuffle in numpy.

Every line is a process of its own, `dpspec release` from Parquet to Parquet or the bare loop (`--bare`), with its clock, its
processor time and its largest memory as the operating system counts them. The bare loop reads the same file, selects half of the
records, sorts them by stratum, shuffles the tracts inside each stratum with numpy's own generator, and writes the file: no
check of any value, no invariant, no secure generator, no order that hides where a record stood.

    python benchmarks/swapping.py --write benchmarks/swapping.json

Needs 3 GB of disk in the directory of temporary files and 4 GB of memory; `--largest 10000000` leaves the large table out.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import polars as pl

ROOT = Path(__file__).parents[1]
SIZES = (10_000_000, 50_000_000)
MECHANISMS = ("permutation-swapping", "derangement-swapping")
COLUMNS = {"stratum": 22_000, "tract": 64, "size": 8, "tenure": 2, "rooms": 12, "value": 100, "race": 6, "age": 75}
"""The columns of a made-up dwelling and their numbers of categories."""
GIANT = 0.274
"""The share of the largest stratum: 13.7 of 50 million, as that of the two-person households of the nation."""
MEASURED = ("dpspec", "numpy", "polars")

TIME, MEMORY, LINEAR, RATIO = 2.0, 1.0, 1.3, 3.0
"""Targets: seconds and GiB for Massachusetts, growth of the time per record, and processor time over the bare loop."""


@attrs.frozen(kw_only=True)
class Cost:
    """What one process took.

    Args:
        clock, processor: seconds.
        peak: GiB of resident memory.
    """

    clock: float
    processor: float
    peak: float


def cost(command: Sequence[str]) -> Cost:
    """Run a command to its end; its own threads count, and their processor time is added up."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Cost(clock=time.perf_counter() - start, processor=used.ru_utime + used.ru_stime, peak=used.ru_maxrss / 2**20)


# --- tables and specifications -------------------------------------------------------------------


def massachusetts(folder: Path) -> tuple[Path, str]:
    """The 1,144,424 dwellings of 1940 as Parquet, and their specification without a mechanism."""
    from dpspec_census import Massachusetts1940

    table = Massachusetts1940().build()
    labels = {a.name: np.asarray(list(a.values()), dtype=object)[table.codes[a.name]] for a in table.attributes}
    pl.DataFrame(labels).write_parquet(folder / "massachusetts.parquet")
    text = (ROOT / "specs" / "swapping-1940-massachusetts.dpspec.toml").read_text(encoding="utf-8")
    return folder / "massachusetts.parquet", text[: text.index("[budget]")]


def dwellings(folder: Path, count: int) -> tuple[Path, str]:
    """Made-up dwellings in strata of Pareto sizes."""
    draw = np.random.default_rng(count)
    shares = draw.pareto(1.1, COLUMNS["stratum"]) + 0.02
    shares[0] = 0
    shares *= (1 - GIANT) / shares.sum()
    shares[0] = GIANT
    columns = {"stratum": draw.choice(COLUMNS["stratum"], count, p=shares).astype(np.uint16)}
    for name, kinds in list(COLUMNS.items())[1:]:
        columns[name] = draw.integers(0, kinds, count, dtype=np.uint8)
    path = folder / f"dwellings-{count}.parquet"
    pl.DataFrame(columns).write_parquet(path)
    attributes = ", ".join(f'{{ name = "{name}", count = {kinds} }}' for name, kinds in COLUMNS.items())
    kept = [["stratum", "tract"], ["stratum", "size", "tenure"]]
    invariants = ", ".join(f'{{ type = "marginal", unit = "household", attributes = {json.dumps(names)} }}' for names in kept)
    return path, (
        'schema = 1\nid = "dwellings"\ntitle = "Made-up dwellings, tracts exchanged inside strata"\n'
        f'[space]\ntype = "records"\nunit = "household"\nattributes = [{attributes}]\n'
        f"[multiverse]\ninvariants = [{invariants}]\n"
        '[input_divergence]\ntype = "hamming"\nunit = "household"\n[output_divergence]\ntype = "mult"\n'
    )


def with_mechanism(head: str, mechanism: str, match: str, swap: str) -> str:
    """A specification with one of the two algorithms at rate 1/2; its budget is left open."""
    rest = f'type = "{mechanism}"\nmatch = ["{match}"]\nswap = ["{swap}"]\nswap_rate = "1/2"\nunit = "household"\n'
    return f'{head}\n[budget]\nepsilon = "inf"\n\n[mechanism]\n{rest}'


def released(table: Path, spec: str, folder: Path) -> Cost:
    """One release from file to file."""
    path = folder / "swap.dpspec.toml"
    path.write_text(spec, encoding="utf-8")
    options = ["--out", str(folder / "out"), "--format", "json", "--unverified"]  # what is measured is the draw
    command = [sys.executable, "-m", "dpspec", "release", str(path), str(table), *options]
    return cost(command)


def bare(table: Path, target: Path) -> None:
    """The loop beside which a release is measured."""
    frame = pl.read_parquet(table)
    stratum, tract = frame["stratum"].to_numpy(), frame["tract"].to_numpy().copy()
    draw = np.random.default_rng()
    chosen = np.flatnonzero(draw.random(len(stratum)) < 0.5)
    strata = stratum[chosen]
    places = chosen[np.argsort(strata, kind="stable")]
    givers = chosen[np.lexsort((draw.random(len(chosen)), strata))]
    tract[places] = tract[givers]
    frame.with_columns(pl.Series("tract", tract)).write_parquet(target)


# --- the lines -----------------------------------------------------------------------------------


def line(name: str, records: int, found: Cost) -> dict[str, Any]:
    """One line, printed as soon as it is known."""
    print(f"{name:42} {records:>11,} {found.clock:8.1f} s {found.processor:8.1f} s cpu {found.peak:6.2f} GiB", flush=True)
    return {"line": name, "records": records, **{key: round(value, 3) for key, value in attrs.asdict(found).items()}}


def state(folder: Path) -> list[dict[str, Any]]:
    """Massachusetts under both algorithms; the better of two runs."""
    table, head = massachusetts(folder)
    rows = []
    for mechanism in MECHANISMS:
        runs = [released(table, with_mechanism(head, mechanism, "persons", "county"), folder) for _ in range(2)]
        rows.append(line(f"massachusetts {mechanism}", 1_144_424, min(runs, key=lambda found: found.clock)))
    return rows


def nation(folder: Path, count: int) -> list[dict[str, Any]]:
    """Made-up dwellings under both algorithms, and the bare loop."""
    table, head = dwellings(folder, count)
    rows = [
        line(f"dwellings {name}", count, released(table, with_mechanism(head, name, "stratum", "tract"), folder))
        for name in MECHANISMS
    ]
    command = [sys.executable, __file__, "--bare", str(table), str(folder / "bare.parquet")]
    rows.append(line("dwellings bare numpy", count, cost(command)))
    table.unlink()
    return rows


def targets(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The targets that the lines allow to ask for, each with its figure."""
    found = []
    for row in rows[: len(MECHANISMS)]:
        found += [(f"{row['line']}: seconds", row["clock"], TIME), (f"{row['line']}: GiB", row["peak"], MEMORY)]
    by = {(row["line"], row["records"]): row["processor"] for row in rows}
    sizes = sorted({row["records"] for row in rows if row["line"].startswith("dwellings")})
    for mechanism in MECHANISMS:
        name = f"dwellings {mechanism}"
        per_record = [by[name, size] / size for size in sizes]
        found.append((f"{name}: per record, largest to smallest table", per_record[-1] / per_record[0], LINEAR))
        found += [
            (f"{name}: {size:,} over bare numpy", by[name, size] / by["dwellings bare numpy", size], RATIO) for size in sizes
        ]
    return [{"what": what, "found": round(value, 3), "target": target} for what, value, target in found]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="where to write the results as JSON")
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="leave larger tables out")
    parser.add_argument("--bare", nargs=2, type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.bare:
        bare(*arguments.bare)
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        rows = state(folder)
        for count in SIZES:
            rows += nation(folder, count) if count <= arguments.largest else []
    asked = targets(rows)
    for target in asked:
        print(f"{target['what']:75} {target['found']:8.2f}   target {target['target']}")
    if arguments.write is not None:
        machine = {"python": platform.python_version(), "processors": os.cpu_count(), "load": round(os.getloadavg()[0], 1)}
        data = {"versions": {name: version(name) for name in MEASURED}, "machine": machine, "lines": rows, "targets": asked}
        arguments.write.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    return 0 if all(target["found"] <= target["target"] for target in asked) else 1


if __name__ == "__main__":
    sys.exit(main())
