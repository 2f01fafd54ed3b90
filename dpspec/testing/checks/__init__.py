"""The conformance checks, one module for each kind of subject; importing this package declares all of them."""

from dpspec.testing.checks import (
    attacker,
    flavour,
    input_divergence,
    invariant,
    mechanism,
    multiverse,
    output_divergence,
    params,
    plugin,
    rule,
    space,
    table,
    tolerance,
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
