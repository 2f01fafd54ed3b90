"""Five mechanisms of each family give the same released files from every kind of workers and however the table is cut.

The specifications are those of the repository, on spaces without a largest number of records. The tables are random. A release is
the whole path of `dpspec release`: the claim, the table, the draws, the files. `pytest --profile long` runs it; Ray and Spark are
left out where they are not installed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest
from dpspec_engines import Dask, Processes, Ray, Spark, Threads
from dpspec_release import draw
from dpspec_release.write import write

from dpspec import installed
from dpspec.grammar.workers import Embedded, Workers
from dpspec.specfile.reader import read_text

pytestmark = [
    pytest.mark.long,
    # The library by which PySpark speaks to Java leaves sockets open until they are collected.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"),
]

SPECS = Path(__file__).parents[3] / "specs"
RECORDS = 900
CUTS = (1, 7, 200)

FAMILIES = {
    "swaps": [
        "swapping-1940-massachusetts", "inference/swapped-table", "swapping-pairs-two", "swapping-by-risk",
        "deployments/uk-2011-trs", "swapping-pre-noise",
    ],
    "noise": [
        "mechanisms/geometric-adults-add-remove", "inference/block-count", "mechanisms/staircase-sum",
        "mechanisms/filtered-elderly", "mechanisms/rounded-afterwards", "mechanisms/most-common-added",
        "deployments/google-trends",
    ],
    "local": [
        "deployments/apple-quicktype", "deployments/google-rappor", "deployments/apple-safari-energy", "deployments/apple-emoji",
        "mechanisms/local-asked-twice",
    ],
    "safetab": ["safetab/geometric", "safetab/adaptive-2020"],
    "disclosure": [
        "deployments/au-tablebuilder", "deployments/eu-2021-ckm-trs", "deployments/canada-rr5", "deployments/hesa-rounding",
        "deployments/cms-cell-size", "disclosure/controlled-rounding", "deployments/nhamcs-acs-topcode", "disclosure/coarsening",
    ],
    "topdown": ["samples/topdown-by-levels-town"],
}  # fmt: skip
"""Family to specifications. Of SafeTab and of TopDown there are no five mechanisms."""


class Shared(Workers):
    """Workers that one release leaves running for the next one; with another kernel, such as one that ends its worker."""

    def __init__(self, inner: Workers, through: Callable[[Any], Any] = lambda kernel: kernel) -> None:
        self.inner, self.name, self.through = inner, inner.name, through

    @property
    def parts(self) -> int:
        return self.inner.parts

    def map(self, kernel: Any, parts: Any) -> Any:
        return self.inner.map(self.through(kernel), parts)


@pytest.fixture(scope="module", params=[Embedded, Threads, Processes, Dask, Ray, Spark], ids=lambda kind: kind.name)
def running(request: pytest.FixtureRequest, started: Callable[[type[Workers]], Workers]) -> Iterator[Workers]:
    found = started(request.param)
    yield found
    found.close()


def document(path: str) -> Any:
    """A specification whose space has no largest number of records, with a budget that a swap in pairs keeps there."""
    text = (SPECS / f"{path}.dpspec.toml").read_text(encoding="utf-8").replace('epsilon = "1/2*ln(399)"', 'epsilon = "1000"')
    head, space, rest = text.partition("[space]")
    return read_text(head + space + re.sub(r"(?m)^(most|least) = \d+\n", "", rest, count=2), installed().registry)


def records(attributes: Any, number: int, draws: np.random.Generator) -> pl.DataFrame:
    """Random records; coarser attributes are those of the finer ones."""
    named = {a.name: a for a in attributes if a.name != "members"}
    columns: dict[str, list[str]] = {}
    for finest in (a for a in named.values() if a.name not in {b.within for b in named.values()}):
        columns[finest.name] = [finest.category(int(code)) for code in draws.integers(0, min(finest.size, 40), number)]
        here = finest
        while here.within is not None:
            above = named[here.within]
            columns[above.name] = [here.parent(category, above) for category in columns[here.name]]
            here = above
    return pl.DataFrame({name: columns[name] for name in named})


def frames(space: Any) -> dict[str, pl.DataFrame]:
    """A random table: records, or households with persons."""
    draws = np.random.default_rng(7)
    unit, *inner = space.units
    outer = records(space.attributes_of(unit), RECORDS, draws)
    if not inner:
        return {"": outer}
    owners = np.sort(np.concatenate([np.arange(RECORDS), draws.integers(0, RECORDS, RECORDS)]))
    own = [a for a in space.attributes_of(inner[0]) if a.name not in outer.columns]
    persons = records(own, len(owners), draws).with_columns(household_id=pl.Series(owners))
    return {"households": outer.with_columns(household_id=pl.Series(range(RECORDS))), "persons": persons}


def cut(found: dict[str, pl.DataFrame], parts: int, folder: Path) -> Path:
    for name, frame in found.items():
        size = -(-len(frame) // parts)
        (folder / name).mkdir(parents=True, exist_ok=True)
        for number, start in enumerate(range(0, len(frame), size)):
            frame[start : start + size].write_parquet(folder / name / f"part-{number:03}.parquet")
    return folder


def released(spec: Any, table: Path, out: Path, workers: Shared) -> dict[str, str]:
    """The digest of each released file; the report names the table and the workers."""
    known = installed().registry

    class Registry:
        def __getattr__(self, name: str) -> Any:
            return getattr(known, name)

        def get(self, kind: str, name: str) -> Any:
            return (lambda: workers) if kind == "workers" else known.get(kind, name)

    options = draw.Options(seed=5, unverified=True, workers=workers.name)
    write(draw.draw(spec, str(table), Registry(), out, options), known, out)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in out.iterdir() if path.name != "report.json"}


@pytest.mark.parametrize("path", [pytest.param(p, id=f"{family}-{p}") for family, paths in FAMILIES.items() for p in paths])
def test_the_released_files_are_the_same(path: str, running: Workers, tmp_path: Path) -> None:
    spec = document(path)
    found = frames(spec.spec.space)
    expected = released(spec, cut(found, 1, tmp_path / "whole"), tmp_path / "expected", Shared(Embedded()))
    assert expected
    for parts in CUTS:
        table = cut(found, parts, tmp_path / f"cut-{parts}")
        assert released(spec, table, tmp_path / f"released-{parts}", Shared(running)) == expected


COUNTED = [
    *FAMILIES["noise"], *FAMILIES["safetab"], *FAMILIES["topdown"],
    *(path for path in FAMILIES["disclosure"] if path not in {"deployments/nhamcs-acs-topcode", "disclosure/coarsening"}),
]  # fmt: skip
"""What is released of these are counts; the others release records, in the order of the table."""


@pytest.mark.parametrize("path", COUNTED)
def test_counts_do_not_depend_on_the_order_of_the_records(path: str, running: Workers, tmp_path: Path) -> None:
    spec = document(path)
    found = frames(spec.spec.space)
    expected = released(spec, cut(found, 1, tmp_path / "whole"), tmp_path / "expected", Shared(Embedded()))
    shuffled = {name: frame.sample(fraction=1.0, shuffle=True, seed=3) for name, frame in found.items()}
    assert released(spec, cut(shuffled, 7, tmp_path / "shuffled"), tmp_path / "released", Shared(running)) == expected


@pytest.mark.parametrize("path", [pytest.param(p, id=f"{family}-{p}") for family, paths in FAMILIES.items() for p in paths])
def test_a_killed_worker_changes_no_file(path: str, running: Workers, kernels: ModuleType, tmp_path: Path) -> None:
    """The first worker that has done a part of a release kills its own process."""
    if isinstance(running, Embedded | Threads):
        pytest.skip("no worker of these can be killed alone")
    spec = document(path)
    table = cut(frames(spec.spec.space), 7, tmp_path / "table")
    expected = released(spec, table, tmp_path / "expected", Shared(Embedded()))
    died = tmp_path / "died"
    deadly = Shared(running, partial(partial, kernels.dies_once, str(died)))
    assert released(spec, table, tmp_path / "released", deadly) == expected
    if not died.exists():
        pytest.skip("no part of this release is done by workers")
