"""The first-party plugin of workers: existing distributed systems that run the kernels of a mechanism.

Each is an extra of this plugin and is imported when a release asks for it.
"""

from __future__ import annotations

from dpspec.extension import hookimpl
from dpspec.extension.hooks import Register
from dpspec_engines.dask import Dask

__all__ = ["Dask"]

DPSPEC_API = 1


@hookimpl
def dpspec_register_workers(register: Register) -> None:
    register(Dask)
