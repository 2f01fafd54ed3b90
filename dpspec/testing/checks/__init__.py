"""The conformance checks, one module for each kind of subject; importing this package declares all of them."""

from dpspec.testing.checks import input_divergence, invariant, mechanism, output_divergence, params, plugin

__all__ = ["input_divergence", "invariant", "mechanism", "output_divergence", "params", "plugin"]
