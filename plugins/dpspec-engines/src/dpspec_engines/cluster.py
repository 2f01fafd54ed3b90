"""Where Dask runs: processes of this machine, or the cluster that Dask's own configuration names.

A part holds numbers of records, and a kernel holds the key of the release; whoever sees both can undo it. So what travels is
encrypted: a local cluster makes its own TLS certificates, and an address that is not ``tls://`` is refused unless
Dask's configuration says in so many words that encryption is not required.
"""

from __future__ import annotations

import logging
from contextlib import ExitStack
from typing import TYPE_CHECKING

from dpspec.errors import EngineError

if TYPE_CHECKING:
    from distributed import Client

PATIENCE = 60.0
"""Seconds that a scheduler, and the first worker, may take to answer."""


def connected(stack: ExitStack) -> Client:
    """A client of the cluster; `stack` closes it, and the processes that were started for it.

    Raises:
        EngineError: Dask is not installed, its scheduler is silent or speaks in the clear, or its workers have other versions.
    """
    try:
        import dask
        import distributed  # noqa: F401
    except ImportError:
        raise EngineError("engine", "is not installed", 'pip install "dpspec-engines[dask]"', value="dask") from None

    # Parts are large on purpose; Dask's advice to load them on the workers would spread the confidential file.
    stack.enter_context(dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}))
    address = dask.config.get("scheduler-address", None)
    return _local(stack) if address is None else _remote(stack, str(address))


def _local(stack: ExitStack) -> Client:
    """One process for each processor, on the loopback interface; nothing is spilled to disk: no limit of memory is set."""
    import dask
    from distributed import Client, LocalCluster

    # Web pages tell everybody on the machine what runs.
    stack.enter_context(dask.config.set({f"distributed.{role}.http.routes": [] for role in ("scheduler", "worker")}))
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
        raise EngineError(
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
        raise EngineError("scheduler", f"does not answer ({problem})", advice, value=address) from None
    _check_versions(client, address)
    return client


def _check_versions(client: Client, address: str) -> None:
    """The same kernel must mean the same everywhere: equal versions of numpy and of all that begins with dpspec."""
    here = versions()
    try:
        there = client.run(versions)
    except Exception as problem:
        rule = f"has workers that cannot import the engine ({type(problem).__name__})"
        raise EngineError("scheduler", rule, "install dpspec and its plugins on every worker", value=address) from None
    for worker, found in there.items():
        for name in sorted(here.keys() | found.keys()):
            if here.get(name) != found.get(name):
                rule = f"has {name} {found.get(name, '(missing)')}, here it is {here.get(name, '(missing)')}"
                raise EngineError(f"worker {worker}", rule, "install the same versions on every worker")


def versions() -> dict[str, str]:
    """The versions on which the bytes of a release depend."""
    from importlib.metadata import distributions

    found = {str(d.name): d.version for d in distributions()}
    return {name: version for name, version in found.items() if name == "numpy" or name.startswith("dpspec")}
