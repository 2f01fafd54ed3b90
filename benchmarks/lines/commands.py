"""Commands of dpspec on files: start, verify, ledger, compose, compare, release, plain code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks import inputs
from benchmarks.inputs import SPECS
from benchmarks.measure import Line

Command = Callable[[Path, int], list[str]]


def verify(made: Callable[[Path, int], object]) -> Command:
    """`dpspec verify` of the files that are made in a folder."""

    def arguments(folder: Path, size: int) -> list[str]:
        folder = folder / "specs"
        folder.mkdir(exist_ok=True)
        made(folder, size)
        return ["verify", str(folder), "--jobs", "1"]  # work in other processes is not counted

    return arguments


def several(command: str, made: Callable[[Path, int], list[Path]], *options: str) -> Command:
    """A command on the files that are made in a folder, each named."""

    def arguments(folder: Path, size: int) -> list[str]:
        return [command, *map(str, made(folder, size)), *options]

    return arguments


def release(made: Callable[[Path, int], tuple[Path, Path]]) -> Command:
    """`dpspec release` from Parquet to Parquet; the seed makes what is counted the same every time."""

    def arguments(folder: Path, size: int) -> list[str]:
        table, spec = made(folder, size)
        return ["release", str(spec), str(table), "--out", str(folder / "out"), "--unverified", "--seed", "1"]

    return arguments


def bare_swap(folder: Path, _: int) -> None:
    """Read, select half of the records, shuffle their tracts inside each stratum with numpy's generator, write.

    It checks no value and no invariant, and its generator is not secure.
    """
    import polars as pl

    frame = pl.read_parquet(folder / "dwellings.parquet")
    stratum, tract = frame["stratum"].to_numpy(), frame["tract"].to_numpy().copy()
    draw = np.random.default_rng()
    chosen = np.flatnonzero(draw.random(len(stratum)) < 0.5)
    strata = stratum[chosen]
    to = chosen[np.argsort(strata, kind="stable")]
    tract[to] = tract[chosen[np.lexsort((draw.random(len(chosen)), strata))]]
    frame.with_columns(pl.Series("tract", tract)).write_parquet(folder / "bare.parquet")


def function(scale: str) -> Command:
    """`dpspec verify --function` of a histogram as plain code."""

    def arguments(folder: Path, _: int) -> list[str]:
        spec, name = inputs.histogram(folder, scale)
        return ["verify", str(spec), "--function", name]

    return arguments


def deployments(_: Path, size: int) -> list[Path]:
    """The first so many files of specs/deployments."""
    return sorted((SPECS / "deployments").glob("*.dpspec.toml"))[:size]


def charges(folder: Path, size: int) -> Callable[[], object]:
    """A hundred equal charges to an account, one after another, each in a transaction of its own; the first one is verified."""
    from dpspec_accounts.account import Account

    place, file = inputs.account(folder, size)
    return lambda: [Account(place).charge(file) for _ in range(100)]


def small(command: str, files: int = 1) -> Command:
    return lambda *_: [command, *(str(SPECS / name) for name in ("swapping-permutation.dpspec.toml", "randomised-response.dpspec.toml")[:files])]


LINES = (
    # start
    Line(name="check", what="`check` of a small file", command=small("check"), counted=(1,), goal_of_ratio=3, is_quick=True),
    Line(name="verify", what="`verify` of a small file", command=small("verify"), counted=(1,), goal_of_ratio=4, is_quick=True),
    Line(name="compare", what="`compare` of two small files", command=small("compare", 2), counted=(1,), goal_of_ratio=5, is_quick=True),
    # verify
    Line(
        name="verify-attributes", what="`verify` of one-way tables over 96 attributes", command=verify(inputs.one_way_tables),
        sizes=(12, 24, 48, 96), counted=(6, 12, 24, 48), goal=3, bound=1.1, is_quick=True,
    ),
    Line(
        name="verify-invariants", what="`verify` with 96 one-way invariants", command=verify(inputs.one_way_invariants),
        sizes=(12, 24, 48, 96), counted=(6, 12, 24, 48), goal=3, bound=1.1,
    ),
    Line(
        name="verify-blocks", what="`verify` of the persons of 2020 on 8,100,000 blocks",
        command=verify(inputs.persons_of_2020), sizes=(8, 8_100, 810_000, 8_100_000), counted=(8, 8_100_000),
        goal=10, megabytes=500, bound=1.1,
    ),
    Line(
        name="verify-files", what="`verify` of 64 files", command=verify(inputs.different_promises),
        sizes=(8, 16, 32, 64), counted=(4, 8, 16, 32), bound=1.1,
    ),
    # several releases
    Line(
        name="ledger-files", what="`ledger` of 64 files with different budgets", command=several("ledger", inputs.different_promises),
        sizes=(8, 16, 32, 64), counted=(4, 8, 16, 32), bound=1.1,
    ),
    Line(
        name="compose-files", what="`compose` of 10,000 files with equal promises",
        command=lambda folder, size: ["compose", *(path.name for path in inputs.equal_promises(folder, size)), "--delta", "1e-6"],
        sizes=(1250, 2500, 5000, 10_000), counted=(8, 16, 32, 64), goal=10, bound=1.1, repeats=1,
    ),
    Line(
        name="compose-times", what="`compose` of one file 10,000 times",
        command=lambda folder, size: ["compose", f"{inputs.equal_promises(folder, 1)[0]}={size}", "--delta", "1e-6"],
        sizes=(1250, 2500, 5000, 10_000), counted=(1250, 2500, 5000, 10_000), bound=1.1, is_quick=True,
    ),
    Line(
        name="compare-files", what="`compare` of the 123 deployments", command=several("compare", deployments, "--jobs", "1"),
        sizes=(15, 31, 62, 123), counted=(2, 4, 6, 8), goal=12, bound=1.6, repeats=1,
    ),
    # accounts
    Line(
        name="account-charges", what="100 charges to an account of 100,000", ready=charges,
        sizes=(10, 100, 1_000, 10_000, 100_000), counted=(10, 50, 250, 1_000), goal=5, bound=0.5, repeats=1,
    ),
    # releases
    Line(
        name="swap", what="10 million dwellings swapped, Parquet to Parquet", command=release(inputs.dwellings), peer=bare_swap,
        needs=("polars",), calibration="sort", sizes=(1_250_000, 2_500_000, 5_000_000, 10_000_000),
        counted=(25_000, 50_000, 100_000, 200_000), goal_of_peer=2, megabytes=614, bound=1.1, memory_bound=60, repeats=2,
    ),
    Line(
        name="swap-50m", what="50 million dwellings swapped, Parquet to Parquet", command=release(inputs.dwellings), peer=bare_swap,
        needs=("polars",), calibration="sort", sizes=(50_000_000,), counted=(50_000,), goal_of_peer=2, repeats=1,
    ),
    Line(
        name="swap-1m", what="a million dwellings swapped, Parquet to Parquet", command=release(inputs.dwellings),
        calibration="sort", sizes=(1_000_000,), counted=(25_000,), is_quick=True,
    ),
    Line(
        name="geometric-cells", what="geometric noise on a million cells, Parquet to Parquet", command=release(inputs.cells),
        calibration="sort", sizes=(125_000, 250_000, 500_000, 1_000_000), counted=(16_000, 32_000, 64_000, 128_000),
        goal=1.5, megabytes=200, bound=1.1, repeats=2, is_quick=True,
    ),
    Line(
        name="noisy-partitions", what="geometric noise on two tables of 10 million persons in 40 Parquet files",
        command=release(inputs.partitions), calibration="sort", sizes=(1_250_000, 2_500_000, 5_000_000, 10_000_000),
        counted=(25_000, 50_000, 100_000, 200_000), goal=3, megabytes=200, bound=1.1, memory_bound=2, repeats=2,
    ),
    # plain code
    Line(
        name="code-verified", what="a histogram of ten bins as plain code: verified", command=function("1"), counted=(1,), goal=1,
        is_quick=True,
    ),
    Line(name="code-refuted", what="the same at half the noise: refuted", command=function("0.5"), counted=(1,), goal=1),
)  # fmt: skip
