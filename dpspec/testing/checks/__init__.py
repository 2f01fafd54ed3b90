"""The conformance checks, one module for each kind of subject; importing this package declares all of them."""

from dpspec.testing.checks import blocks as input_divergence
from dpspec.testing.checks import blocks as invariant
from dpspec.testing.checks import blocks as multiverse
from dpspec.testing.checks import blocks as space
from dpspec.testing.checks import mechanism, parts, plugin, rule
from dpspec.testing.checks import mechanism as output_divergence
from dpspec.testing.checks import plugin as params
from dpspec.testing.checks import plugin as table
from dpspec.testing.checks import risk as attacker
from dpspec.testing.checks import risk as tolerance
from dpspec.testing.checks import rule as flavour

__all__ = [
    "attacker",
    "flavour",
    "input_divergence",
    "invariant",
    "mechanism",
    "multiverse",
    "output_divergence",
    "params",
    "parts",
    "plugin",
    "rule",
    "space",
    "table",
    "tolerance",
]
