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
    from dpspec.testing.assertions import ClaimNotHeld, assert_satisfies
    from dpspec.testing.kit import CheckResult, Status, check_plugin, parametrize, run_checks

_HOME = {
    "assertions": ("ClaimNotHeld", "assert_satisfies"),
    "kit": ("CheckResult", "Status", "check_plugin", "parametrize", "run_checks"),
}

__all__ = ["CheckResult", "ClaimNotHeld", "Status", "assert_satisfies", "check_plugin", "parametrize", "run_checks"]


def __getattr__(name: str) -> Any:
    for module, names in _HOME.items():
        if name in names:
            return getattr(importlib.import_module(f"dpspec.testing.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
