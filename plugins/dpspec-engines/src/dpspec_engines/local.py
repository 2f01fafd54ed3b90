"""Threads and processes of this machine, with nothing to install."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import ClassVar

import attrs

from dpspec.plugin import errors, workers
from dpspec_engines.parts import AHEAD, ROUNDS, Result, attempt, given_up, in_order, processors, raised

_OF_SCRIPT = b"\x8c\x08__main__"
"""How a function of the program that runs is pickled."""


class Threads(workers.Workers):
    """One thread of this process for each processor: numpy sorts, draws and adds in several at once. Columns are shared."""

    name: ClassVar[str] = "threads"

    @property
    def parts(self) -> int:
        return ROUNDS * processors()

    def map(self, kernel: workers.Kernel, parts: Iterable[workers.Columns]) -> Iterator[workers.Columns]:
        with ThreadPoolExecutor(processors()) as pool:
            send = lambda part: pool.submit(kernel, part)  # noqa: E731
            yield from in_order(send, Future.result, parts, lambda: AHEAD * processors())


@attrs.define
class _Sent:
    """A part under way, kept until its result is there, since a process can be lost with it."""

    part: workers.Columns
    pool: ProcessPoolExecutor
    future: Future[Result]


class Processes(workers.Workers):
    """One process for each processor. The parts of a lost process are done again, by new ones."""

    name: ClassVar[str] = "processes"

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._pool: ProcessPoolExecutor | None = None

    @property
    def parts(self) -> int:
        return ROUNDS * processors()

    def map(self, kernel: workers.Kernel, parts: Iterable[workers.Columns]) -> Iterator[workers.Columns]:
        """The kernel's results, in the order of the parts.

        Raises:
            WorkersError: a part ended two processes, or the kernel is of the script that runs, which processes do not run again.
            Exception: what the kernel raised.
        """
        if _OF_SCRIPT in pickle.dumps(kernel, protocol=4):
            rule, advice = "cannot run a kernel of the program itself", "put the mechanism into a module"
            raise errors.WorkersError("workers", rule, advice, value=self.name)
        return in_order(partial(self._send, kernel), partial(self._receive, kernel), parts, lambda: AHEAD * processors())

    def _send(self, kernel: workers.Kernel, part: workers.Columns) -> _Sent:
        if self._pool is None:
            from dpspec.plugin.applications import process_pool

            self._pool = self._stack.enter_context(process_pool(processors()))
        try:
            return _Sent(part, self._pool, self._pool.submit(attempt, kernel, part))
        except BrokenProcessPool:
            self.close()
            return self._send(kernel, part)

    def _receive(self, kernel: workers.Kernel, sent: _Sent) -> workers.Columns:
        try:
            return raised(sent.future.result())
        except BrokenProcessPool:
            if sent.pool is self._pool:
                self.close()
        from dpspec.plugin.applications import process_pool

        # Alone, so that another part that ends its process is not taken for this one.
        with process_pool(1) as alone:
            try:
                return raised(alone.submit(attempt, kernel, sent.part).result())
            except BrokenProcessPool:
                raise given_up(self.name) from None

    def close(self) -> None:
        self._pool = None
        self._stack.close()
