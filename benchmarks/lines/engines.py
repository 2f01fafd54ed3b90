"""The exact engine and certified numerics (`benchmarks.exact`)."""

from __future__ import annotations

from benchmarks.measure import Line, late

GOALS = {
    "swapping-universes": ("swapping", 60, "every one-stratum universe of up to 7 records, both algorithms, six rates, all pairs"),
    "derangements-two": ("derangements_two", 0.005, "derangement swapping of 4 records, two categories a side: laws and ratios of all pairs"),
    "derangements-three": ("derangements_three", 0.005, "the same, up to three categories a side: 45 pairs"),
    "derangements-all": ("derangements_all", 0.02, "the same, up to four categories a side: 495 pairs"),
    "shuffle": ("shuffle", 0.8, "randomised response on 8 bits, shuffled: all 2,048 ordered pairs of neighbours"),
    "code-law": ("plain_code", 0.5, "swapping of 4 records as plain code with two redraw loops: its exact law"),
    "classic-gaussian": ("classic_gaussian", 0.01, "the hockey-stick divergence that refutes the classic Gaussian calibration at epsilon = 10"),
    "classic-claim": ("classic_claim", 0.01, "the same as a claim, with the epsilon at delta to 64 bits"),
    "sparse-vector": ("sparse_vector", 1, "sparse vector, variant 4: the loss of one pair, all outcomes, enclosed to 1e-15"),
    "sparse-vector-40": ("long_sparse_vector", 10, "the same for 40 queries"),
}
SIZES = {"swapping-universes": (7, 4), "sparse-vector-40": (40, 6)}
"""The most records and the number of queries: those that are timed, and those whose work is counted."""

LINES = tuple(
    Line(
        name=name, what=what, work=late(f"benchmarks.exact:{function}"), goal=goal, repeats=1 if goal >= 10 else 3,
        sizes=SIZES.get(name, (1,))[:1], counted=SIZES.get(name, (1,))[-1:], is_quick=name == "code-law",
    )
    for name, (function, goal, what) in GOALS.items()
)  # fmt: skip
