"""The first-party plugin of adapters: what plain functions are handed, and mechanisms of other libraries with their claims.

Datasets as data frames, arrays and texts and generators of other libraries are registered by name. A wrapped measurement lives in
Python and has no form in a specification file. No library is imported before one of its objects is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import Names, hookimpl, late_names

if TYPE_CHECKING:
    from dpspec_adapters.measurements import EventLaws as EventLaws, event_claim as event_claim, opendp_claim as opendp_claim

DPSPEC_API = 1

NAMES: Names = {
    "adapters": {
        "tuples": "dpspec_adapters.functions:Tuples",
        "dicts": "dpspec_adapters.functions:Dicts",
        "numpy": "dpspec_adapters.functions:NumpyArrays",
        "pandas": "dpspec_adapters.functions:Frames",
        "pandas-series": "dpspec_adapters.functions:Series",
        "polars": "dpspec_adapters.functions:PolarsFrames",
        "arrow": "dpspec_adapters.functions:ArrowTables",
        "text": "dpspec_adapters.functions:WrittenTexts",
    },
    "generators": {
        "random": "dpspec_adapters.functions:PythonRandom",
        "random-state": "dpspec_adapters.functions:LegacyRandom",
        "system": "dpspec_adapters.functions:System",
        "native": "dpspec_adapters.functions:Native",
        "torch": "dpspec_adapters.functions:TorchGenerator",
        "jax": "dpspec_adapters.functions:JaxKey",
    },
}
"""What this plugin brings; each is imported when something names it."""


@hookimpl
def dpspec_names() -> Names:
    return NAMES


_HOMES = {
    "dpspec_adapters.measurements": ("EventLaws", "event_claim", "opendp_claim"),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
