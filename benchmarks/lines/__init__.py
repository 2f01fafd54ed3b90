"""Every line of the benchmarks, by its name. dpspec is imported where a line runs: a peer may have an interpreter of its own."""

from benchmarks.lines import accounting, commands, engines, noise, risks, topdown
from benchmarks.measure import Line

LINES: dict[str, Line] = {
    line.name: line for module in (commands, accounting, noise, risks, engines, topdown) for line in module.LINES
}
