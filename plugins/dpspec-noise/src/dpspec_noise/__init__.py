"""The first-party plugin of noise mechanisms: Laplace, geometric, Gaussian, discrete Gaussian, and local randomisers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import Names, hookimpl, late_names

if TYPE_CHECKING:
    from dpspec_noise.gaussian import (
        DiscreteGaussian as DiscreteGaussian,
        Gaussian as Gaussian,
        Geometric as Geometric,
        Laplace as Laplace,
    )
    from dpspec_noise.local import (
        HadamardResponse as HadamardResponse,
        KAryResponse as KAryResponse,
        UnaryEncoding as UnaryEncoding,
    )
    from dpspec_noise.response import (
        LectureRandomisedResponse as LectureRandomisedResponse,
        RandomisedResponse as RandomisedResponse,
    )
    from dpspec_noise.sketch import CountMeanSketch as CountMeanSketch

DPSPEC_API = 1

NAMES: Names = {
    "mechanisms": {
        "randomised-response": "dpspec_noise.response:RandomisedResponse",
        "lecture-randomised-response": "dpspec_noise.response:LectureRandomisedResponse",
        "k-ary-response": "dpspec_noise.local:KAryResponse",
        "unary-encoding": "dpspec_noise.local:UnaryEncoding",
        "hadamard-response": "dpspec_noise.local:HadamardResponse",
        "count-mean-sketch": "dpspec_noise.sketch:CountMeanSketch",
        "laplace": "dpspec_noise.gaussian:Laplace",
        "geometric": "dpspec_noise.gaussian:Geometric",
        "gaussian": "dpspec_noise.gaussian:Gaussian",
        "discrete-gaussian": "dpspec_noise.gaussian:DiscreteGaussian",
    },
}
"""What this plugin brings; each is imported when something names it."""


@hookimpl
def dpspec_names() -> Names:
    return NAMES


_HOMES = {
    "dpspec_noise.gaussian": ("DiscreteGaussian", "Gaussian", "Geometric", "Laplace"),
    "dpspec_noise.local": ("HadamardResponse", "KAryResponse", "UnaryEncoding"),
    "dpspec_noise.sketch": ("CountMeanSketch",),
    "dpspec_noise.response": ("LectureRandomisedResponse", "RandomisedResponse"),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
