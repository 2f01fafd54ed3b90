"""For authors of specifications and plugins: assertions, Hypothesis strategies, and the conformance tests.

    from dpspec.testing import assert_satisfies, pairs

    def test_my_mechanism():
        assert_satisfies(MyMechanism(scale=2), "my-release.dpspec.toml")

`datasets`, `universes`, `pairs`, `pairs_from` and `pairs_in_universe` draw from the blocks of a specification, `from_params`
draws objects of a declared class, `find_witness` looks for a pair that refutes a claim. Names are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.base.lazy import late_names

if TYPE_CHECKING:
    from dpspec.testing.assertions import (
        ClaimNotHeld as ClaimNotHeld,
        assert_not_refuted as assert_not_refuted,
        assert_satisfies as assert_satisfies,
    )
    from dpspec.testing.conformance import (
        CheckCase as CheckCase,
        CheckResult as CheckResult,
        Status as Status,
        check_plugin as check_plugin,
        parametrize as parametrize,
        run_checks as run_checks,
    )
    from dpspec.testing.sorters import MemorySorter as MemorySorter
    from dpspec.testing.strategies import (
        datasets as datasets,
        find_witness as find_witness,
        from_params as from_params,
        pairs as pairs,
        universes as universes,
    )
    from dpspec.testing.walks import pairs_from as pairs_from, pairs_in_universe as pairs_in_universe

_HOMES = {
    "dpspec.testing.assertions": (
        "ClaimNotHeld",
        "assert_not_refuted",
        "assert_satisfies",
    ),
    "dpspec.testing.conformance": (
        "CheckCase",
        "CheckResult",
        "Status",
        "check_plugin",
        "parametrize",
        "run_checks",
    ),
    "dpspec.testing.sorters": ("MemorySorter",),
    "dpspec.testing.strategies": (
        "datasets",
        "find_witness",
        "from_params",
        "pairs",
        "universes",
    ),
    "dpspec.testing.walks": (
        "pairs_from",
        "pairs_in_universe",
    ),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
