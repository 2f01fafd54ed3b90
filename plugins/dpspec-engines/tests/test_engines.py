"""Every kind of workers on this machine: the bytes of the embedded default, whatever the parts and whatever is lost."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType

import numpy as np
import polars as pl
import pytest
from dpspec_census import DerangementSwapping, PermutationSwapping
from dpspec_engines import Dask, Processes, Ray, Spark, Threads
from dpspec_engines.parts import AHEAD
from dpspec_tables.formats import Csv, Parquet

from dpspec.base.errors import MissingLibraryError, TableError, WorkersError
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar.table_batches import TableSource, count_cells
from dpspec.grammar.tables import Table
from dpspec.grammar.workers import Embedded, Run, Workers

# The library by which PySpark speaks to Java leaves sockets open until they are collected.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")

ATTRIBUTES = (Attribute(name="stratum", count=300), Attribute(name="tenure", count=2), Attribute(name="county", count=60))
SPACE = UnorderedRecords(attributes=ATTRIBUTES, unit="household")
RECORDS = 20_000


@pytest.fixture(
    scope="module", params=[Threads, *(pytest.param(one, marks=pytest.mark.slow) for one in (Processes, Dask, Ray, Spark))]
)
def running(request: pytest.FixtureRequest, started: Callable[[type[Workers]], Workers]) -> Iterator[Workers]:
    found = started(request.param)
    yield found
    found.close()


@pytest.fixture(scope="module")
def table() -> Table:
    """Strata of very different sizes: the largest holds a third of the records, the smallest one."""
    draw = np.random.default_rng(3)
    shares = 1 / np.arange(1, 301) ** 1.5
    strata = draw.choice(300, RECORDS, p=shares / shares.sum())
    codes = {"stratum": strata, "tenure": draw.integers(0, 2, RECORDS), "county": draw.integers(0, 60, RECORDS)}
    return Table(attributes=ATTRIBUTES, codes=codes)


class Cut(Workers):
    """Other workers with another number of parts, and another kernel."""

    def __init__(self, inner: Workers, parts: int, through=lambda kernel: kernel) -> None:
        self.inner, self._parts, self.through = inner, parts, through

    @property
    def parts(self) -> int:
        return self._parts

    def map(self, kernel, parts):
        return self.inner.map(self.through(kernel), parts)


def released(mechanism, table: Table, workers: Workers) -> bytes:
    """The bytes of a release with an audit seed."""
    cls = mechanism(match=["stratum"], swap=["county"], swap_rate="1/3")
    main = cls.run(table, SPACE, Run(source=SeededRandomness(8), workers=workers)).main
    return b"".join(main.codes[a.name].tobytes() for a in ATTRIBUTES)


@pytest.mark.parametrize("mechanism", [DerangementSwapping, PermutationSwapping])
@pytest.mark.parametrize("parts", [1, 7, 200])
def test_a_swap_has_the_bytes_of_the_default(mechanism, parts: int, table: Table, running: Workers) -> None:
    assert released(mechanism, table, Cut(running, parts)) == released(mechanism, table, Embedded())


@pytest.mark.parametrize("partitions", [1, 7, 200])
@pytest.mark.parametrize("form", [Parquet(), Csv()])
def test_partitions_have_the_counts_of_the_whole(partitions: int, form, table: Table, running: Workers, tmp_path) -> None:
    """Workers read the partitions themselves: of any number, in any order."""
    order = np.random.default_rng(partitions).permutation(partitions)
    for place in order:
        part = pl.DataFrame({name: column[place::partitions] for name, column in table.codes.items()})
        name = f"{order[place]}{form.suffixes[0]}"
        (part.write_csv if isinstance(form, Csv) else part.write_parquet)(tmp_path / name)
    source = TableSource.of(tmp_path, ATTRIBUTES, {form.suffixes[0]: form})
    counted = count_cells(source, [Marginal(attributes=("stratum", "county"), unit="household")], workers=running)
    assert len(counted) == RECORDS
    assert np.array_equal(counted.cells(("stratum", "county")).every(), table.cells(("stratum", "county")).every())


def test_a_killed_worker_changes_nothing(running: Workers, kernels: ModuleType, table: Table, tmp_path) -> None:
    if isinstance(running, Threads):
        return  # of which none can be killed alone
    for mechanism in (DerangementSwapping, PermutationSwapping):
        died = tmp_path / mechanism.__name__
        deadly = Cut(running, 8, partial(partial, kernels.dies_once, str(died)))
        assert released(mechanism, table, deadly) == released(mechanism, table, Embedded())
        with pytest.raises(ProcessLookupError):
            os.kill(int(died.read_text(encoding="utf-8")), 0)


def test_a_part_that_kills_every_worker_is_given_up(running: Workers, kernels: ModuleType, capfd) -> None:
    if isinstance(running, Threads):
        return
    with pytest.raises(WorkersError, match="lost every worker"):
        list(running.map(kernels.always_dies, [{"row": np.arange(3)}]))
    (again,) = running.map(kernels.doubled, [{"row": np.arange(3)}])
    assert again["row"].tolist() == [0, 2, 4]
    assert not capfd.readouterr().out  # which is the answer of a command


def test_results_come_in_the_order_of_the_parts(running: Workers, kernels: ModuleType) -> None:
    parts = [{"row": np.arange(start, start + 2)} for start in range(0, 20, 2)]
    assert [int(done["row"][0]) for done in running.map(kernels.slow_first, parts)] == list(range(0, 40, 4))
    assert list(running.map(kernels.doubled, [])) == []


def test_only_a_few_parts_are_under_way(running: Workers, kernels: ModuleType) -> None:
    """Memory is bounded by the parts under way: no more are cut than workers can soon use."""
    cut = []

    def parts():
        for start in range(100):
            cut.append(start)
            yield {"row": np.arange(start, start + 1)}

    results = running.map(kernels.doubled, parts())
    next(results)
    assert len(cut) <= AHEAD * max(running.parts // 4, 1) < 100
    results.close()


def test_what_a_kernel_raises_arrives_as_it_was(running: Workers, kernels: ModuleType) -> None:
    with pytest.raises(TableError) as raised:
        list(running.map(kernels.broken, [{"row": np.arange(7, 9)}]))
    assert (raised.value.subject, raised.value.value, raised.value.advice) == ("row", 7, "mend it")
    assert str(raised.value) == "row=7: is wrong: mend it"


class Missing:
    """What no worker can read, as a mechanism of a package that is not installed there."""

    def __reduce__(self):
        return importlib.import_module, ("no_such_module",)


def test_a_kernel_that_no_worker_can_read_is_one_line(running: Workers, kernels: ModuleType) -> None:
    if isinstance(running, Threads):
        return  # which read nothing
    with pytest.raises(WorkersError, match="lost every worker" if isinstance(running, Processes) else "cannot run the kernel"):
        list(running.map(partial(kernels.with_thing, Missing()), [{"row": np.arange(3)}]))
    (again,) = running.map(kernels.doubled, [{"row": np.arange(3)}])
    assert again["row"].tolist() == [0, 2, 4]


# --- what is refused ------------------------------------------------------------------------------


def test_processes_do_not_run_the_script_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def kernel(part):
        return part

    kernel.__module__, kernel.__qualname__ = "__main__", "kernel"
    monkeypatch.setattr(sys.modules["__main__"], "kernel", kernel, raising=False)
    with pytest.raises(WorkersError, match="put the mechanism into a module"):
        Processes().map(kernel, [])


@pytest.mark.parametrize(("workers", "library", "extra"), [(Ray, "ray", "ray"), (Spark, "pyspark", "spark")])
def test_without_the_library_it_says_what_to_install(workers, library: str, extra: str, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.setattr("dpspec_engines.ray._check_token", lambda: None)
    with pytest.raises(MissingLibraryError, match=rf"dpspec-engines\[{extra}\]"):
        _ = workers().parts


def test_a_cluster_of_ray_in_the_clear_is_refused_unless_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpspec_engines.ray import _check_encrypted

    monkeypatch.delenv("RAY_USE_TLS", raising=False)
    with pytest.raises(WorkersError, match="in the clear"):
        _check_encrypted("10.0.0.1:6379")
    for wanted in ("0", "1"):
        monkeypatch.setenv("RAY_USE_TLS", wanted)
        _check_encrypted("10.0.0.1:6379")


def test_ray_is_not_started_where_it_would_answer_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpspec_engines.ray import _check_token

    monkeypatch.setitem(sys.modules, "ray", ModuleType("ray"))
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(WorkersError, match="would answer everybody"):
        _check_token()


@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        ({"spark.master": "local[2]"}, False),
        ({"spark.master": "spark://host:7077"}, True),
        ({"spark.master": "yarn", "spark.authenticate": "true"}, True),
        ({"spark.master": "yarn", "spark.network.crypto.enabled": "true"}, True),
        ({"spark.master": "yarn", "spark.authenticate": "true", "spark.network.crypto.enabled": "true"}, False),
        ({"spark.master": "spark://host:7077", "spark.network.crypto.enabled": "false"}, False),
    ],
)
def test_a_cluster_of_spark_in_the_clear_is_refused_unless_it_is_wanted(settings: dict[str, str], refused: bool) -> None:
    from dpspec_engines.spark import _check_encrypted

    class Conf(dict):
        def contains(self, key: str) -> bool:
            return key in self

    if refused:
        with pytest.raises(WorkersError, match="in the clear"):
            _check_encrypted(Conf(settings))
    else:
        _check_encrypted(Conf(settings))
