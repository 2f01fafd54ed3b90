"""The first-party plugin of workers: threads, processes and existing distributed systems that run the kernels of a mechanism.

A distributed system is an extra of this plugin and is imported when a release uses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import Names, hookimpl, late_names

if TYPE_CHECKING:
    from dpspec_engines.dask import Dask as Dask
    from dpspec_engines.local import Processes as Processes, Threads as Threads
    from dpspec_engines.ray import Ray as Ray
    from dpspec_engines.spark import Spark as Spark

DPSPEC_API = 1

NAMES: Names = {
    "workers": {
        "dask": "dpspec_engines.dask:Dask",
        "processes": "dpspec_engines.local:Processes",
        "ray": "dpspec_engines.ray:Ray",
        "spark": "dpspec_engines.spark:Spark",
        "threads": "dpspec_engines.local:Threads",
    },
}
"""What this plugin brings; each is imported when something names it."""


@hookimpl
def dpspec_names() -> Names:
    return NAMES


_HOMES = {
    "dpspec_engines.dask": ("Dask",),
    "dpspec_engines.local": ("Processes", "Threads"),
    "dpspec_engines.ray": ("Ray",),
    "dpspec_engines.spark": ("Spark",),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
