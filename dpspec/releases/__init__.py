"""Releasing a table: one draw of a mechanism, its invariants checked, written whole or not at all."""

from dpspec.releases.draw import REPORT, WARNING, Held, Options, Release, draw, marginal
from dpspec.releases.write import UNFIT, warning_of, write, write_utility

__all__ = ["REPORT", "UNFIT", "WARNING", "Held", "Options", "Release", "draw", "marginal", "warning_of", "write", "write_utility"]
