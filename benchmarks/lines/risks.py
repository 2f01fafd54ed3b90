"""What attackers learn, beside plain-Python loops that do the same in floats (`benchmarks.risk`)."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.measure import Line, late

WHAT = {
    "table": ("block risk table, enclosed in doubles", "enclosed_table", "looped_table"),
    "table-64": ("block risk table, enclosed to 64 bits", "enclosed_in_balls", "looped_table"),
    "counts": ("risks of 100,000 released counts, in floats", "risks", "looped_risks"),
    "curves": ("risk curves, in floats", "curves", "looped_curves"),
    "posterior": ("hierarchical posterior, 27 other blocks, enclosed", "exact_posterior", "looped_posterior"),
    "gibbs": ("Gibbs sampler, 10,000 sweeps", "sampled_posterior", "looped_gibbs"),
    "success": ("success over all releases, in floats", "exact_success", "looped_success"),
}


def lines() -> Iterator[Line]:
    for name, (what, ours, loop) in WHAT.items():
        yield Line(
            name=f"risk-{name}", what=what, work=late(f"benchmarks.risk:{ours}"), peer=late(f"benchmarks.risk:{loop}"),
            needs=("dpspec",), goal_of_peer=1, is_quick=name == "table-64", counted=(1,),
        )  # fmt: skip


LINES = tuple(lines())
