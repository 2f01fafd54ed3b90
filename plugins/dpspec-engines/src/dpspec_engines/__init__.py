"""The first-party plugin of workers: existing distributed systems that run the kernels of a mechanism.

Each is an extra of this plugin and is imported when a release uses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import Names, hookimpl, late_names

if TYPE_CHECKING:
    from dpspec_engines.dask import Dask as Dask

DPSPEC_API = 1

NAMES: Names = {
    "workers": {
        "dask": "dpspec_engines.dask:Dask",
    },
}
"""What this plugin brings; each is imported when something names it."""


@hookimpl
def dpspec_names() -> Names:
    return NAMES


_HOMES = {
    "dpspec_engines.dask": ("Dask",),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
