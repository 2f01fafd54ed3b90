"""The first-party plugin of noise mechanisms: randomised response, Laplace, geometric, Gaussian, discrete Gaussian."""

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
    from dpspec_noise.response import (
        LectureRandomisedResponse as LectureRandomisedResponse,
        RandomisedResponse as RandomisedResponse,
    )

DPSPEC_API = 1

NAMES: Names = {
    "mechanisms": {
        "randomised-response": "dpspec_noise.response:RandomisedResponse",
        "lecture-randomised-response": "dpspec_noise.response:LectureRandomisedResponse",
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
    "dpspec_noise.response": ("LectureRandomisedResponse", "RandomisedResponse"),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
