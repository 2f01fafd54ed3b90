"""The first-party plugin of adapters: mechanisms of other libraries, each with what its library says of it as a claim.

It registers no names: a wrapped object lives in Python and has no form in a specification file. Neither library is
imported before one of its objects is wrapped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import late_names

if TYPE_CHECKING:
    from dpspec_adapters.measurements import EventLaws as EventLaws, event_claim as event_claim, opendp_claim as opendp_claim

DPSPEC_API = 1

_HOMES = {
    "dpspec_adapters.measurements": ("EventLaws", "event_claim", "opendp_claim"),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
