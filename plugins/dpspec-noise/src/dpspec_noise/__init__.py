"""First-party plugin of standard mechanisms: additive noise, local randomisers, selection, and combinators of mechanisms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import Names, hookimpl, late_names

if TYPE_CHECKING:
    from dpspec_noise.additive import ClippedSum as ClippedSum, DistinctCount as DistinctCount, WeightedSums as WeightedSums
    from dpspec_noise.choice import (
        AboveThreshold as AboveThreshold,
        ExponentialMechanism as ExponentialMechanism,
        NoisyMax as NoisyMax,
        ThresholdRelease as ThresholdRelease,
    )
    from dpspec_noise.combinators import (
        BoundedContributions as BoundedContributions,
        ComposedMechanism as ComposedMechanism,
        Filtered as Filtered,
        Parallel as Parallel,
        PostProcessed as PostProcessed,
        RepeatedMechanism as RepeatedMechanism,
    )
    from dpspec_noise.gaussian import (
        DiscreteGaussian as DiscreteGaussian,
        Gaussian as Gaussian,
        Geometric as Geometric,
        Laplace as Laplace,
        Staircase as Staircase,
    )
    from dpspec_noise.local import (
        KAryResponse as KAryResponse,
        LectureRandomisedResponse as LectureRandomisedResponse,
        RandomisedResponse as RandomisedResponse,
        UnaryEncoding as UnaryEncoding,
    )
    from dpspec_noise.sketch import CountMeanSketch as CountMeanSketch, HadamardResponse as HadamardResponse

DPSPEC_API = 1

NAMES: Names = {
    "invariants": {
        "clipped-sum": "dpspec_noise.additive:ClippedSum",
        "distinct-count": "dpspec_noise.additive:DistinctCount",
        "weighted-sums": "dpspec_noise.additive:WeightedSums",
    },
    "mechanisms": {
        "randomised-response": "dpspec_noise.local:RandomisedResponse",
        "lecture-randomised-response": "dpspec_noise.local:LectureRandomisedResponse",
        "k-ary-response": "dpspec_noise.local:KAryResponse",
        "unary-encoding": "dpspec_noise.local:UnaryEncoding",
        "hadamard-response": "dpspec_noise.sketch:HadamardResponse",
        "count-mean-sketch": "dpspec_noise.sketch:CountMeanSketch",
        "laplace": "dpspec_noise.gaussian:Laplace",
        "geometric": "dpspec_noise.gaussian:Geometric",
        "gaussian": "dpspec_noise.gaussian:Gaussian",
        "discrete-gaussian": "dpspec_noise.gaussian:DiscreteGaussian",
        "staircase": "dpspec_noise.gaussian:Staircase",
        "exponential": "dpspec_noise.choice:ExponentialMechanism",
        "noisy-max": "dpspec_noise.choice:NoisyMax",
        "above-threshold": "dpspec_noise.choice:AboveThreshold",
        "threshold-release": "dpspec_noise.choice:ThresholdRelease",
        "composed": "dpspec_noise.combinators:ComposedMechanism",
        "repeated": "dpspec_noise.combinators:RepeatedMechanism",
        "parallel": "dpspec_noise.combinators:Parallel",
        "filtered": "dpspec_noise.combinators:Filtered",
        "bounded": "dpspec_noise.combinators:BoundedContributions",
        "post-processed": "dpspec_noise.combinators:PostProcessed",
    },
}
"""What this plugin brings; each is imported when something names it."""


@hookimpl
def dpspec_names() -> Names:
    return NAMES


_HOMES = {
    "dpspec_noise.choice": ("AboveThreshold", "ExponentialMechanism", "NoisyMax", "ThresholdRelease"),
    "dpspec_noise.combinators": (
        "BoundedContributions",
        "ComposedMechanism",
        "Filtered",
        "Parallel",
        "PostProcessed",
        "RepeatedMechanism",
    ),
    "dpspec_noise.gaussian": ("DiscreteGaussian", "Gaussian", "Geometric", "Laplace", "Staircase"),
    "dpspec_noise.local": ("KAryResponse", "LectureRandomisedResponse", "RandomisedResponse", "UnaryEncoding"),
    "dpspec_noise.additive": ("ClippedSum", "DistinctCount", "WeightedSums"),
    "dpspec_noise.sketch": ("CountMeanSketch", "HadamardResponse"),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
