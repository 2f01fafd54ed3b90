"""The conformance checks, one module for each kind of subject; importing this package declares all of them."""

from dpspec.testing.checks import (
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
)

__all__ = [
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
]
