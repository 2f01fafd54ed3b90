"""The conformance checks, one module for each kind of subject; importing this package declares all of them."""

from dpspec.testing.checks import (
    blocks as input_divergence,
    blocks as invariant,
    blocks as multiverse,
    blocks as space,
    mechanism,
    mechanism as output_divergence,
    plugin,
    plugin as params,
    plugin as table,
    risk as attacker,
    risk as tolerance,
    rule,
    rule as flavour,
)

__all__ = [
    "attacker",
    "flavour",
    "input_divergence",
    "invariant",
    "mechanism",
    "multiverse",
    "output_divergence",
    "params",
    "plugin",
    "rule",
    "space",
    "table",
    "tolerance",
]
