"""TopDown (`benchmarks.topdown`)."""

from __future__ import annotations

import os

from benchmarks.measure import Line, late

RHODE_ISLAND = (
    Line(
        name="rhode-island", what="Rhode Island 2010 by TopDown: 25,181 blocks, CSV to tables",
        work=late("benchmarks.topdown:rhode_island"), counted=(1,), calibration="sort", goal=6, repeats=2,
    ),
)  # fmt: skip
"""The line that needs a file of the Census: the folder with the data is named by BENCHMARK_DATA."""

LINES = (
    *(RHODE_ISLAND if "BENCHMARK_DATA" in os.environ else ()),
    Line(
        name="topdown", what="TopDown on a synthetic state of 10,000 blocks, all levels", work=late("benchmarks.topdown:run"),
        sizes=(1250, 2500, 5000, 10_000), counted=(50, 100, 200, 400), calibration="sort", bound=1.1, repeats=1,
    ),
    Line(
        name="topdown-fit", what="feasibility, fit and rounding of 40 families, beside the fit alone",
        work=late("benchmarks.topdown:fitted"), peer=late("benchmarks.topdown:fitted_alone"), needs=("dpspec_census",),
        sizes=(1000,), counted=(100,), goal_of_peer=1.5,
    ),
    Line(
        name="topdown-solver", what="interior point: program assembled, solved and rounded, beside the solver alone",
        work=late("benchmarks.topdown:solved"), peer=late("benchmarks.topdown:solved_alone"), needs=("dpspec_census",),
        sizes=(1000,), counted=(100,), goal_of_peer=1.5,
    ),
)  # fmt: skip
