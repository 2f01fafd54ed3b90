"""Work on many files at once: a pool of processes that import once, and whose results come in the order of the files.

Each process is started anew and not forked, since this one may have threads. A process that is ended, by the system or by a
library, costs the file that it worked on: that file alone is worked on again in a process of its own, and if it ends this one
too, `lost` says what is reported of it.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:  # most commands work on one file, and start without them
    from concurrent.futures import Future, ProcessPoolExecutor

Item = TypeVar("Item")
Result = TypeVar("Result")

FEW = 8
"""For fewer files, processes are started only on request: each imports dpspec first, which takes as long as one file."""

FEW_READ, FEW_LINTED = 2_000, 500
"""The same for work that takes 2 ms a file, `check`, and 6 ms, `lint`: what a process imports for the files of specs takes 1.3 s.
With two processes, `check` of 1,000 files took 4.2 s in place of 3.5 s, and `lint` 8.8 s in place of 9.4 s."""


def processors() -> int:
    """The number of processors that this process may use.

    >>> processors() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def jobs_for(asked: int | None, files: int, few: int = FEW) -> int:
    """The number of processes for a number of files: the requested one, by default one for each processor.

    Args:
        asked: the requested number; None for the default.
        files: how many files there are.
        few: up to so many files the default is one process.

    >>> jobs_for(3, 100), jobs_for(3, 2), jobs_for(None, 2)
    (3, 2, 1)
    """
    wanted = asked or (processors() if files > few else 1)
    return max(1, min(wanted, files))


def in_order(
    work: Callable[[Item], Result], items: Sequence[Item], jobs: int, lost: Callable[[Item], Result]
) -> Generator[Result, None, None]:
    """The results of work on each item, in the order of the items, each as soon as it and those before it are there.

    Args:
        work: a function of a module, as it is called in other processes; what it raises is raised here.
        items: what it is called with.
        jobs: so many processes at most; with one the work is done in this process.
        lost: the result for an item that ended the process which worked on it.
    """
    if jobs == 1:
        yield from map(work, items)
        return
    from concurrent.futures.process import BrokenProcessPool

    pending, done = dict(enumerate(items)), dict[int, Result]()
    while pending:
        with process_pool(min(jobs, len(pending))) as pool:
            futures: dict[int, Future[Result]] = {}
            try:
                for place, item in pending.items():
                    if place not in done:
                        futures[place] = pool.submit(work, item)  # fails, too, where a process has ended meanwhile
                for place in list(pending):
                    yield done.pop(place) if place in done else futures[place].result()
                    del pending[place]
            except BrokenProcessPool:
                done |= {place: future.result() for place, future in futures.items() if place in pending and _ended_well(future)}
        if pending:
            place, item = next(iter(pending.items()))
            yield done.pop(place) if place in done else _alone(work, item, lost)
            del pending[place]


def _alone(work: Callable[[Item], Result], item: Item, lost: Callable[[Item], Result]) -> Result:
    from concurrent.futures.process import BrokenProcessPool

    with process_pool(1) as pool:
        try:
            return pool.submit(work, item).result()
        except BrokenProcessPool:
            return lost(item)


def _ended_well(future: Future[Result]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


@contextmanager
def process_pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """A pool whose processes end with this block, also when it is left early, and when this process is killed."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    given = os.environ.get("COLUMNS"), gc.get_threshold()
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin, given)
    before = set(multiprocessing.active_children())
    main = vars(sys.modules["__main__"])
    script: dict[str, Any] = {name: main[name] for name in ("__file__", "__spec__") if name in main}
    main.update(dict.fromkeys(script))  # without them no process runs the script of this one again
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        raise
    else:
        pool.shutdown(cancel_futures=True)
    finally:
        main.update(script)


def _begin(columns: str | None, collected: tuple[int, int, int]) -> None:
    """Use the terminal width of the parent process, and exit when the parent has ended, because the output is then not read.

    Args:
        columns: its width; what it inherits may differ, since libraries of C set the environment behind the back of Python.
        collected: how often it looks for cycles among its objects, which a command does rarely.
    """
    from multiprocessing import parent_process

    gc.set_threshold(*collected)
    os.environ.pop("COLUMNS", None)
    if columns is not None:
        os.environ["COLUMNS"] = columns
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_watch, args=(parent.sentinel,), daemon=True).start()


def _watch(sentinel: int) -> None:
    from multiprocessing.connection import wait

    wait([sentinel])
    os._exit(1)
