"""Workers of each kind for the tests, and kernels that they can import, some of which end their worker."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest
from dpspec_engines import Dask, Ray, Spark

from dpspec.grammar.workers import Workers

NEEDS = {Dask: ["distributed"], Ray: ["ray"], Spark: ["pyspark", "pandas", "pyarrow"]}

KERNELS = '''
import os
import signal
import time

import numpy as np

from dpspec.base.errors import TableError


def doubled(part):
    return {"row": 2 * part["row"]}


def slow_first(part):
    time.sleep(0.2 if part["row"][0] == 0 else 0)
    return doubled(part)


def dies_once(died, kernel, part):
    """The first worker that has done a part kills its own process; of two that are ready at the same time only one does."""
    done = kernel(part)
    try:
        with open(died, "x") as file:
            file.write(str(os.getpid()))
    except FileExistsError:
        return done
    os.kill(os.getpid(), signal.SIGKILL)


def with_thing(thing, part):
    return doubled(part)


def always_dies(part):
    os.kill(os.getpid(), signal.SIGKILL)


def broken(part):
    raise TableError("row", "is wrong", "mend it", value=int(part["row"][0]))
'''


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """A module that every worker can import, as it can those of mechanisms."""
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "kernels_of_engines.py").write_text(KERNELS, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        yield importlib.import_module("kernels_of_engines")


@pytest.fixture(scope="module")
def started(kernels: ModuleType) -> Iterator[Callable[[type[Workers]], Workers]]:
    """Starts workers of a kind; those whose library is missing skip the test.

    Dask gives a part up when two workers were lost with it.
    """

    def start(kind: type[Workers]) -> Workers:
        missing = [name for name in NEEDS.get(kind, ()) if importlib.util.find_spec(name) is None]
        if kind is Spark and shutil.which("java") is None:
            missing.append("Java")
        if missing:
            pytest.skip(f"engine not installed: {', '.join(missing)}")
        if kind is Dask:
            import dask

            dask.config.refresh()
        return kind()

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "1")
        yield start
