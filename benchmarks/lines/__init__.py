"""Every line of the benchmarks, by its name. dpspec is imported where a line runs: a peer may have an interpreter of its own."""

from benchmarks.lines import accounting, commands, engines, noise, risks, topdown
from benchmarks.measure import Line

LINES: dict[str, Line] = {
    line.name: line for module in (commands, accounting, noise, risks, engines, topdown) for line in module.LINES
}

KNOWN = frozenset({*LINES, *(line.name for line in topdown.RHODE_ISLAND)})
"""The names of all lines, of those too whose data are not here: their results are kept."""

GROWTH = {
    "records": ("swap", "noisy-partitions"),
    "cells": ("geometric-cells",),
    "blocks": ("topdown",),
    "files of verify": ("verify-files",),
    "files of ledger": ("ledger-files",),
    "releases in compose": ("compose-files", "compose-times", "gaussians", "laplace-10000"),
    "untied attributes": ("verify-attributes",),
    "untied invariants": ("verify-invariants",),
    "files of compare": ("compare-files",),
    "charges of an account": ("account-charges",),
}
"""What specifications and data have many of, and the lines whose growth in it has a bound: at least four sizes each."""
