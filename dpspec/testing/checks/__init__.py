"""The conformance checks, one module for each kind of subject; importing this package declares all of them."""

from dpspec.testing.checks import flavour, input_divergence, invariant, mechanism, output_divergence, params, plugin

__all__ = ["flavour", "input_divergence", "invariant", "mechanism", "output_divergence", "params", "plugin"]
