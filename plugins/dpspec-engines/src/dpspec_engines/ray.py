"""Ray: the kernels run on the worker processes of this machine, or of the cluster at RAY_ADDRESS.

Ray runs the task of a lost worker again on another one. Since a kernel is a pure function of its part, with its draws keyed by
place, doing a part again gives the same columns and spends nothing.

What is started on this machine answers only those that know a token, which is made for the process that releases. Its files are
in a folder of its own, which others cannot open. It spills nothing to disk, has no web page, and sends no statistics of usage. A
cluster is used if its traffic is encrypted (RAY_USE_TLS=1), or if RAY_USE_TLS=0 says that it need not be.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import cached_property, partial
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from dpspec.plugin import errors, workers
from dpspec_engines.parts import AHEAD, ROUNDS, attempt_with, cannot_run, given_up, in_order, processors, raised, versions

_QUIET: dict[str, Any] = {"logging_level": "CRITICAL", "log_to_driver": False}


class Ray(workers.Workers):
    """Sends the columns of a part to a worker and takes the columns of its result back, a few parts at a time."""

    name: ClassVar[str] = "ray"

    def __init__(self) -> None:
        self._stack = ExitStack()

    @cached_property
    def ray(self) -> Any:
        """The library, connected to its processes when they are first needed.

        Raises:
            MissingLibraryError: Ray is not installed.
            WorkersError: the cluster does not answer, or speaks in the clear.
        """
        address = os.environ.get("RAY_ADDRESS")
        if address is None:
            _check_token()
        try:
            import ray
        except ImportError:
            raise errors.MissingLibraryError("workers", "ray", "dpspec-engines[ray]", value="ray") from None
        if address is not None or ray.is_initialized():
            _check_encrypted(address)
        if ray.is_initialized():
            return ray  # what the program has started, it also ends
        try:
            if address is None:
                # The folder of sockets; others may not open it.
                folder = self._stack.enter_context(TemporaryDirectory(prefix="dpspec-ray-", ignore_cleanup_errors=True))
                settings = {"automatic_object_spilling_enabled": False}
                ray.init(
                    "local", num_cpus=processors(), include_dashboard=False, _temp_dir=folder, _system_config=settings, **_QUIET
                )  # fmt: skip
            else:
                ray.init(address, **_QUIET)
        except (ConnectionError, RuntimeError, TimeoutError, ValueError) as problem:
            rule = f"does not answer ({type(problem).__name__})"
            raise errors.WorkersError("cluster", rule, "start it with `ray start`", value=address or "local") from None
        self._stack.callback(ray.shutdown)
        return ray

    @property
    def threads(self) -> int:
        """How many parts the workers can run at once."""
        return max(1, int(self.ray.cluster_resources().get("CPU", 1)))

    @property
    def parts(self) -> int:
        return ROUNDS * self.threads

    def map(self, kernel: workers.Kernel, parts: Iterable[workers.Columns]) -> Iterator[workers.Columns]:
        """The kernel's results, in the order of the parts.

        Raises:
            WorkersError: the cluster is gone, has other versions, or a part was on so many lost workers that Ray gives it up.
            Exception: what the kernel raised.
        """
        remote, most = self.ray.remote(attempt_with), AHEAD * self.threads
        here, sent = self.ray.put(versions()), self.ray.put(kernel)
        return in_order(partial(remote.remote, here, sent), self._result, parts, lambda: most)

    def _result(self, reference: Any) -> workers.Columns:
        lost = self.ray.exceptions
        try:
            found = self.ray.get(reference)
        except (lost.WorkerCrashedError, lost.OutOfMemoryError):
            raise given_up(self.name) from None
        except lost.RayTaskError as problem:
            raise cannot_run(self.name, problem) from None
        except lost.RayError as problem:
            rule = f"lost its workers ({type(problem).__name__})"
            raise errors.WorkersError("cluster", rule, "see to the cluster and run again", value=self.name) from None
        return raised(found)

    def close(self) -> None:
        self._stack.close()


def _check_token() -> None:
    """Let what Ray starts answer only those that know a token. Ray reads the environment when it is imported."""
    if "ray" in sys.modules and not (os.environ.get("RAY_AUTH_MODE") == "token" and "RAY_AUTH_TOKEN" in os.environ):
        raise errors.WorkersError(
            "cluster", "would answer everybody, since Ray was imported without a token",
            "release before Ray is imported, or set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN first", value=Ray.name,
        )  # fmt: skip
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_AUTH_MODE="token")
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")  # standard output is that of the command
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))


def _check_encrypted(address: str | None) -> None:
    if "RAY_USE_TLS" not in os.environ:
        raise errors.WorkersError(
            "cluster", "would be sent the key of the release in the clear",
            "set RAY_USE_TLS=1 with its certificates, or RAY_USE_TLS=0 on a private network", value=address or "of the program",
        )  # fmt: skip
