"""The first-party plugin of adapters: mechanisms of other libraries, each with what its library says of it as a claim.

It registers no names: a wrapped object lives in Python and has no form in a specification file. Neither library is
imported before one of its objects is wrapped.
"""

from dpspec_adapters.measurements import EventLaws, event_claim, opendp_claim

__all__ = ["EventLaws", "event_claim", "opendp_claim"]

DPSPEC_API = 1
