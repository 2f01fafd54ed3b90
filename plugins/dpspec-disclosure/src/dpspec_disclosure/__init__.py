"""The first-party plugin of statistical disclosure control: what tables disclose that are published exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import late_names

if TYPE_CHECKING:
    from dpspec_disclosure.analysis import exposure as exposure

DPSPEC_API = 1

__all__ = ["exposure"]
__getattr__, __dir__ = late_names(__name__, {"dpspec_disclosure.analysis": ("exposure",)})
