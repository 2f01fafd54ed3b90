"""Releasing a table: one draw of a mechanism, its invariants checked, written whole or not at all."""

from dpspec.release.draw import Options, Release, draw
from dpspec.release.held import Held, marginal
from dpspec.release.place import REPORT, WARNING
from dpspec.release.utility import write_utility
from dpspec.release.write import UNFIT, warning_of, write

__all__ = ["REPORT", "UNFIT", "WARNING", "Held", "Options", "Release", "draw", "marginal", "warning_of", "write", "write_utility"]
