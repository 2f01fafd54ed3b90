"""The first-party plugin of statistical disclosure control: what exact tables disclose, and which error goes with which risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import late_names

if TYPE_CHECKING:
    from dpspec_disclosure.analysis import exposure as exposure
    from dpspec_disclosure.tradeoff import tradeoff as tradeoff

DPSPEC_API = 1

__all__ = ["exposure", "tradeoff"]
_HOMES = {"dpspec_disclosure.analysis": ("exposure",), "dpspec_disclosure.tradeoff": ("tradeoff",)}
__getattr__, __dir__ = late_names(__name__, _HOMES)
