"""For authors of specifications and plugins: assertions, strategies, and the conformance kit.

    from dpspec.testing import assert_satisfies

    def test_my_mechanism():
        assert_satisfies(MyMechanism(scale=2), "my-release.dpspec.toml")

Names are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpspec.testing.assertions import ClaimNotHeld as ClaimNotHeld
    from dpspec.testing.assertions import assert_satisfies as assert_satisfies

_HOME = {"ClaimNotHeld": "assertions", "assert_satisfies": "assertions"}

__all__ = ["ClaimNotHeld", "assert_satisfies"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"dpspec.testing.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
