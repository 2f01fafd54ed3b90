"""Dask: the kernels run on the worker processes of a scheduler, on this machine or on a cluster.

Dask knows how to lose a worker: it runs the worker's tasks again elsewhere. Since a kernel is a pure function of its part,
with its draws keyed by place, doing a part again gives the same columns and spends nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from dpspec.engine import Columns, Engine, Kernel
from dpspec.errors import EngineError, LibraryError
from dpspec_engines import cluster
from dpspec_engines.cluster import connected

if TYPE_CHECKING:
    from distributed import Client, Future

ROUNDS = 4
"""Parts for each worker thread: enough that none is idle for long, few enough that a part outweighs its transport."""
ASK = 5.0
"""Seconds that a result is waited for before the scheduler is asked whether anybody works on it."""
AHEAD = 2
"""Parts that are under way for each worker thread; memory grows with it, here and there."""


class Dask(Engine):
    """Sends the columns of a part to a worker and takes the columns of its result back, a few parts at a time."""

    name: ClassVar[str] = "dask"

    def __init__(self) -> None:
        self._stack = ExitStack()

    @cached_property
    def client(self) -> Client:
        """The connection, made when it is first needed."""
        with ExitStack() as stack:
            found = connected(stack)
            self._stack = stack.pop_all()
        return found

    @property
    def threads(self) -> int:
        """How many parts the workers can run at once.

        Raises:
            EngineError: the scheduler is gone.
        """
        return max(1, sum(int(worker["nthreads"]) for worker in alive(self.client).values()))

    @property
    def parts(self) -> int:
        return ROUNDS * self.threads

    def map(self, kernel: Kernel, parts: Iterable[Columns]) -> Iterator[Columns]:
        """The kernel's results, in the order of the parts.

        Raises:
            EngineError: the scheduler or all workers are gone, or a part was on so many lost workers that Dask gives it up.
            Exception: what the kernel raised.
        """
        waiting: deque[Future[Any]] = deque()
        for part in parts:
            waiting.append(self.client.submit(attempt, kernel, part, pure=False))
            if len(waiting) >= AHEAD * self.threads:
                yield _result(waiting.popleft(), self.client)
        while waiting:
            yield _result(waiting.popleft(), self.client)

    def close(self) -> None:
        self._stack.close()


def attempt(kernel: Kernel, part: Columns) -> Columns | Exception:
    """The kernel's result, or what it raised: Dask would write that to its log, and an error names confidential values."""
    try:
        return kernel(part)
    except Exception as problem:
        return problem
    except BaseException as problem:  # a library that panics, which Dask would take for the end of the worker
        return LibraryError("worker", f"ended by {type(problem).__name__} in a kernel", "report it to the library's authors")


def alive(client: Client) -> dict[str, Any]:
    """The workers, as the scheduler tells them now.

    Raises:
        EngineError: it does not answer.
    """
    try:
        scheduler: Any = client.scheduler
        told: Any = client.sync(scheduler.identity, n_workers=-1, callback_timeout=cluster.PATIENCE)  # type: ignore[no-untyped-call]
    except Exception as problem:  # the connection is gone in one of many ways
        raise _lost(f"lost its scheduler ({type(problem).__name__})") from None
    return dict(told["workers"])


def _lost(rule: str) -> EngineError:
    return EngineError("engine", rule, "see to the cluster and run again", value=Dask.name)


def _result(future: Future[Any], client: Client) -> Columns:
    """The result of one part; while it is waited for, the scheduler is asked now and then whether anybody works."""
    from concurrent.futures import CancelledError

    from distributed.scheduler import KilledWorker

    seen = monotonic()
    while True:
        try:
            found: Any = future.result(timeout=ASK)
            break
        except KilledWorker:
            rule, advice = "lost every worker that one of the parts was given to", "look whether the workers have memory enough"
            raise EngineError("engine", rule, advice, value=Dask.name) from None
        except TimeoutError:
            seen = monotonic() if alive(client) else seen
            if monotonic() - seen > cluster.PATIENCE:
                raise _lost("lost all its workers") from None
        except (CancelledError, OSError) as problem:
            raise _lost(f"lost its scheduler ({type(problem).__name__})") from None
    if isinstance(found, Exception):
        raise found
    return found  # type: ignore[no-any-return]
