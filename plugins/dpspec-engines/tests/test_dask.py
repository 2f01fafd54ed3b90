"""Dask on local worker processes: the bytes of the embedded default, whatever the parts and whatever is lost."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from dpspec_census import DerangementSwapping, PermutationSwapping
from dpspec_engines import Dask, dask as module

from dpspec.api import read
from dpspec.base.errors import MissingLibraryError, WorkersError
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar.tables import Members, Table
from dpspec.grammar.workers import Embedded, Run

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

ATTRIBUTES = (Attribute(name="stratum", count=500), Attribute(name="tenure", count=2), Attribute(name="county", count=60))
SPACE = UnorderedRecords(attributes=ATTRIBUTES, unit="household")
RECORDS = 40_000
BOTH = [DerangementSwapping, PermutationSwapping]


@pytest.fixture(scope="module")
def table():
    """Strata of very different sizes: the largest holds a third of the records, the smallest one."""
    draw = np.random.default_rng(3)
    shares = 1 / np.arange(1, 501) ** 1.5
    strata = draw.choice(500, RECORDS, p=shares / shares.sum())
    codes = {"stratum": strata, "tenure": draw.integers(0, 2, RECORDS), "county": draw.integers(0, 60, RECORDS)}
    return Table(attributes=ATTRIBUTES, codes=codes)


@pytest.fixture(scope="module")
def running():
    """One local cluster of two processes for all tests; it gives a part up when two workers were lost with it."""
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}):
        found = Dask()
        yield found
        found.close()


def released(mechanism, table, workers):
    """The bytes of a release with an audit seed."""
    cls = mechanism(match=["stratum"], swap=["county"], swap_rate="1/3")
    main = cls.run(table, SPACE, Run(source=SeededRandomness(8), workers=workers)).main
    return b"".join(main.codes[a.name].tobytes() for a in ATTRIBUTES)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", BOTH)
@pytest.mark.parametrize("rounds", [1, 4, 25])
def test_it_releases_the_bytes_of_the_default(mechanism, rounds, table, running, monkeypatch):
    monkeypatch.setattr(module, "ROUNDS", rounds)
    assert running.parts == rounds * running.threads
    assert released(mechanism, table, running) == released(mechanism, table, Embedded())


def town(document):
    """Units with persons in the space of a specification: nobody in vacant ones, four to ten in dormitories."""
    draw = np.random.default_rng(1)
    household, person = document.spec.space.household, document.spec.space.person
    block, kind = draw.integers(0, 40, 400), draw.choice(3, 400, p=[0.88, 0.1, 0.02])
    codes = {"state": np.zeros(400, dtype=np.int64), "tract": block * 4 // 40, "block": block, "kind": kind}
    held = np.choose(kind, [draw.integers(1, 6, 400), np.zeros(400, dtype=np.int64), draw.integers(4, 11, 400)])
    owner = np.repeat(np.arange(400), held)
    persons = {a.name: draw.integers(0, a.size, len(owner)) for a in person}
    members = Members(table=Table(attributes=person, codes=persons), owner=owner)
    return Table(attributes=household, codes=codes, members=members)


@pytest.mark.slow
def test_topdown_gives_the_bytes_of_the_default_too(running):
    document = read(Path(__file__).parents[3] / "specs" / "samples" / "topdown-by-levels-town.dpspec.toml")
    mechanism, space, table = document.mechanism, document.spec.space, town(document)
    one, two = (
        {**output.tables, **{name: stream.joined() for name, stream in output.streams.items()}}
        for output in (mechanism.run(table, space, Run(source=SeededRandomness(4), workers=w)) for w in (Embedded(), running))
    )
    assert list(one) == list(two)
    for name, expected in one.items():
        assert len(expected)
        assert all(np.array_equal(expected.codes[a.name], two[name].codes[a.name]) for a in expected.attributes)


@pytest.mark.slow
def test_workers_hold_a_part_once(running):
    """What a worker process grows by while a kernel runs is the part, not twice the part."""
    size = 200_000_000

    def grown(part):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return {"resident": np.asarray([pages * os.sysconf("SC_PAGE_SIZE")]), "held": part["row"][:1].copy()}

    (before,) = running.map(grown, [{"row": np.zeros(1)}])
    (during,) = running.map(grown, [{"row": np.ones(size // 8)}])
    assert int(during["resident"][0] - before["resident"][0]) < 1.6 * size


@pytest.mark.slow
def test_a_worker_that_is_slow_to_start_again_is_not_removed(kernels, tmp_path):
    """By default a local cluster removes a lost worker that is not back after some seconds: here, after none."""
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "0 s"}):
        running = Dask()
        before = running.threads
        kernel = partial(kernels.dies_once, str(tmp_path / "died"), kernels.doubled)
        parts = [{"row": np.arange(2)}] * 9
        assert [list(part["row"]) for part in running.map(kernel, parts)] == [[0, 2]] * 9
        while running.threads < before:  # a worker that was removed never comes back
            assert len(running.client.cluster.workers) == before
        running.close()


# --- clusters elsewhere --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def elsewhere():
    """A scheduler with one worker that speaks in the clear, as on a private network."""
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1", memory_limit=0
    ) as found:
        yield found.scheduler_address


SCHEDULER = """
import sys, time, numpy as np, dask
from dpspec.base.errors import WorkersError
from dpspec_engines import dask as module
module.PATIENCE, module.ASK = 3.0, 0.2
def slow(part):
    time.sleep(120)
    return part
with dask.config.set({"scheduler-address": sys.argv[1], "distributed.comm.require-encryption": False}):
    running = module.Dask()
    print(sum(1 for _ in running.client.nthreads()), flush=True)
    try:
        list(running.map(slow, [{"row": np.arange(2)}]))
    except WorkersError as lost:
        print(lost, flush=True)
    running.close()
"""


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(("frozen", "said"), [("scheduler", "lost its scheduler"), ("worker", "lost all its workers")])
def test_the_loss_of_a_cluster_ends_the_run(tmp_path, frozen, said):
    """A scheduler that is killed, and one whose last worker goes: neither may be waited for without end."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    place = tmp_path / "place.json"
    start = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    scheduler = subprocess.Popen(
        [*start, "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(place)], **quiet
    )
    worker = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(place), "--nthreads", "1", "--no-dashboard",
         "--no-nanny"], **quiet, cwd=tmp_path,
    )  # fmt: skip
    try:
        while not place.exists() or not place.read_text():
            assert scheduler.poll() is None
        address = json.loads(place.read_text())["address"]
        client = subprocess.Popen([sys.executable, "-c", SCHEDULER, address], stdout=subprocess.PIPE, text=True)
        assert client.stdout.readline() == "1\n"
        (scheduler if frozen == "scheduler" else worker).kill()
        assert said in client.communicate(timeout=100)[0]
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


def configured(address, **further):
    return dask.config.set({"scheduler-address": address, **further})


IN_THE_CLEAR = {"distributed.comm.require-encryption": False}


@pytest.mark.slow
def test_a_scheduler_elsewhere_gives_the_same_bytes(elsewhere, table):
    with configured(elsewhere, **IN_THE_CLEAR):
        running = Dask()
        assert running.client.scheduler.address == elsewhere
        assert released(PermutationSwapping, table, running) == released(PermutationSwapping, table, Embedded())
        running.close()


@pytest.mark.slow
def test_no_worker_logs_what_a_kernel_raised(elsewhere):
    def broken(part):
        raise ValueError(f"broken at {part['row'][0]}")

    with configured(elsewhere, **IN_THE_CLEAR):
        running = Dask()
        with pytest.raises(ValueError, match="broken"):
            list(running.map(broken, [{"row": np.asarray([987654])}]))
        assert "987654" not in str(running.client.get_worker_logs())
        running.close()


@pytest.mark.long
def test_workers_of_another_version_are_refused(elsewhere, monkeypatch):
    class Older:
        name, version = "dpspec", "0.0.1"

    installed = importlib.metadata.distributions
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: [*installed(), Older()])
    with configured(elsewhere, **IN_THE_CLEAR), pytest.raises(WorkersError, match=r"has dpspec .*, here it is 0\.0\.1"):
        _ = Dask().client


def test_an_address_in_the_clear_is_refused_unless_it_is_wanted():
    with configured("tcp://127.0.0.1:1"), pytest.raises(WorkersError, match="in the clear"):
        _ = Dask().client


def test_a_scheduler_that_does_not_answer(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.5)
    with configured("tcp://127.0.0.1:1", **IN_THE_CLEAR), pytest.raises(WorkersError, match="does not answer"):
        _ = Dask().client


def test_without_dask_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingLibraryError, match=r"dpspec-engines\[dask\]"):
        _ = Dask().client
