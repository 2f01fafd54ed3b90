"""Workers on Dask: processes of this machine, or the cluster that Dask's own configuration names.

A part holds numbers of records, and a kernel holds the key of the release; anyone who sees both can undo it. So the traffic is
encrypted: a local cluster makes its own TLS certificates, and an address that is not ``tls://`` is refused unless
Dask's configuration says in so many words that encryption is not required.

Dask: the kernels run on the worker processes of a scheduler, on this machine or on a cluster.

Dask knows how to lose a worker: it runs the worker's tasks again elsewhere. Since a kernel is a pure function of its part,
with its draws keyed by place, doing a part again gives the same columns and spends nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import cached_property, partial
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from dpspec.plugin import errors, workers
from dpspec_engines.parts import AHEAD, ROUNDS, attempt, cannot_run, check_versions, given_up, in_order, raised, versions

if TYPE_CHECKING:
    from distributed import Client, Future


PATIENCE = 60.0
"""Seconds that a scheduler, and the first worker, may take to answer."""


def connected(stack: ExitStack) -> Client:
    """A client of the cluster; `stack` closes it, and the processes that were started for it.

    Raises:
        MissingLibraryError: Dask is not installed.
        WorkersError: its scheduler is silent or speaks in the clear, or its workers have other versions.
    """
    try:
        import dask
        import distributed  # noqa: F401
    except ImportError:
        raise errors.MissingLibraryError("workers", "distributed", "dpspec-engines[dask]", value="dask") from None

    # Parts are large on purpose; Dask's advice to load them on the workers would spread the confidential file.
    stack.enter_context(dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}))
    address = dask.config.get("scheduler-address", None)
    return _local(stack) if address is None else _remote(stack, str(address))


def _local(stack: ExitStack) -> Client:
    """One process for each processor, on the loopback interface; nothing is spilled to disk: no limit of memory is set."""
    import dask
    from distributed import Client, LocalCluster

    # Web pages would show the running tasks to all users of the machine.
    stack.enter_context(dask.config.set({f"distributed.{role}.http.routes": [] for role in ("scheduler", "worker")}))
    # A lost worker is started again. By default the cluster removes it, with the tasks that it runs by then, where that takes
    # more than 15 s, which it does on a busy machine.
    stack.enter_context(dask.config.set({"distributed.deploy.lost-worker-timeout": "1000 days"}))
    cluster = LocalCluster(  # type: ignore[no-untyped-call]
        processes=True,
        threads_per_worker=1,
        host="127.0.0.1",
        security=True,
        dashboard_address="127.0.0.1:0",
        scheduler_kwargs={"dashboard": False},
        memory_limit=0,
        silence_logs=logging.CRITICAL,
    )
    client: Client = stack.enter_context(Client(stack.enter_context(cluster)))  # type: ignore[no-untyped-call]
    return client


def _remote(stack: ExitStack, address: str) -> Client:
    import dask
    from distributed import Client

    encrypted = address.startswith("tls://")
    if not encrypted and dask.config.get("distributed.comm.require-encryption", None) is not False:
        raise errors.WorkersError(
            "scheduler",
            "would be sent the key of the release in the clear",
            "give a tls:// address, or set DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION=false on a private network",
            value=address,
        )
    try:
        client: Client = stack.enter_context(Client(address, timeout=PATIENCE))  # type: ignore[no-untyped-call]
        client.wait_for_workers(1, timeout=PATIENCE)
    except (OSError, TypeError) as problem:
        advice = "start it with `dask scheduler` and `dask worker`"
        raise errors.WorkersError("scheduler", f"does not answer ({problem})", advice, value=address) from None
    _check_workers(client, address)
    return client


def _check_workers(client: Client, address: str) -> None:
    """The same kernel must mean the same everywhere: equal versions of numpy and of all that begins with dpspec."""
    here = versions()
    try:
        there = client.run(versions)
    except Exception as problem:
        rule = f"has workers that cannot import dpspec ({type(problem).__name__})"
        raise errors.WorkersError("scheduler", rule, "install dpspec and its plugins on every worker", value=address) from None
    for worker, found in there.items():
        check_versions(f"worker {worker}", found, here)


# --- dask -----------------------------------------------------------------------------------------


ASK = 5.0
"""Seconds of waiting for a result before the scheduler is queried whether a worker processes it."""


class Dask(workers.Workers):
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
            WorkersError: the scheduler is gone.
        """
        return max(1, sum(int(worker["nthreads"]) for worker in alive(self.client).values()))

    @property
    def parts(self) -> int:
        return ROUNDS * self.threads

    def map(self, kernel: workers.Kernel, parts: Iterable[workers.Columns]) -> Iterator[workers.Columns]:
        """The kernel's results, in the order of the parts.

        Raises:
            WorkersError: the scheduler or all workers are gone, or a part was on so many lost workers that Dask gives it up.
            Exception: what the kernel raised.
        """
        send = partial(self.client.submit, attempt, kernel, pure=False)
        return in_order(send, partial(_result, client=self.client), parts, lambda: AHEAD * self.threads)

    def close(self) -> None:
        self._stack.close()


def alive(client: Client) -> dict[str, Any]:
    """The workers, as the scheduler currently reports them.

    Raises:
        WorkersError: it does not answer.
    """
    try:
        scheduler: Any = client.scheduler
        described: Any = client.sync(scheduler.identity, n_workers=-1, callback_timeout=PATIENCE)  # type: ignore[no-untyped-call]
    except Exception as problem:  # the connection is gone in one of many ways
        raise _lost(f"lost its scheduler ({type(problem).__name__})") from None
    return dict(described["workers"])


def _lost(rule: str) -> errors.WorkersError:
    return errors.WorkersError("workers", rule, "see to the cluster and run again", value=Dask.name)


def _result(future: Future[Any], client: Client) -> workers.Columns:
    """The result of one part; during the wait, the scheduler is queried now and then whether a worker processes it."""
    from concurrent.futures import CancelledError

    from distributed.scheduler import KilledWorker

    seen = monotonic()
    while True:
        try:
            found: Any = future.result(timeout=ASK)
            break
        except KilledWorker:
            raise given_up(Dask.name) from None
        except TimeoutError:
            seen = monotonic() if alive(client) else seen
            if monotonic() - seen > PATIENCE:
                raise _lost("lost all its workers") from None
        except (CancelledError, OSError) as problem:
            raise _lost(f"lost its scheduler ({type(problem).__name__})") from None
        except Exception as problem:  # not that of a kernel, which is a result
            raise cannot_run(Dask.name, problem) from None
    return raised(found)
