"""The first-party plugin of inference: estimates and posteriors from a release, with the stated law as likelihood."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import Names, hookimpl, late_names

if TYPE_CHECKING:
    from dpspec_inference.analysis import infer as infer
    from dpspec_inference.mechanisms import LaplaceMoments as LaplaceMoments, LaplaceRegression as LaplaceRegression
    from dpspec_inference.model import (
        Estimate as Estimate,
        Inference as Inference,
        InferenceModel as InferenceModel,
        Posterior as Posterior,
        ReleasedData as ReleasedData,
        Simulation as Simulation,
    )

DPSPEC_API = 1

NAMES: Names = {
    "mechanisms": {
        "laplace-moments": "dpspec_inference.mechanisms:LaplaceMoments",
        "laplace-regression": "dpspec_inference.mechanisms:LaplaceRegression",
    },
}

_HOMES = {
    "dpspec_inference.analysis": ("infer",),
    "dpspec_inference.mechanisms": ("LaplaceMoments", "LaplaceRegression"),
    "dpspec_inference.model": ("Estimate", "Inference", "InferenceModel", "Posterior", "ReleasedData", "Simulation"),
}

__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)


@hookimpl
def dpspec_names() -> Names:
    """The names of the mechanisms of this package."""
    return NAMES
