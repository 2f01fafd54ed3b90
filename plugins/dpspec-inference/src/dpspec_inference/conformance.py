"""Conformance tests of models: simulation-based calibration, and what every model has to keep.

Draw the unknown numbers from the prior and a release from the law given them; then the posterior probability of what lies below
the truth is uniform on [0, 1] (Talts, Betancourt, Simpson, Vehtari and Gelman 2018). A wrong law, prior or sampler bends it.
"""

from __future__ import annotations

import attrs
import numpy as np
from scipy.stats import kstest

from dpspec.plugin import Floats
from dpspec_inference.model import InferenceModel, ReleasedData


@attrs.frozen(kw_only=True, eq=False)
class Calibration:
    """The calibration of the posterior of one unknown number.

    Args:
        name: of what.
        shares: for each simulation the posterior probability below the truth; of a tie a uniform share.
        p_value: of the Kolmogorov-Smirnov test that they are uniform.
    """

    name: str
    shares: Floats
    p_value: float


def calibration(model: InferenceModel, released: ReleasedData, *, simulations: int, seed: int) -> tuple[Calibration, ...]:
    """Simulation-based calibration of all posteriors of a model; () for a model without a prior to draw from.

    Args:
        model: the model.
        released: a release of the specification, mechanism and size that are simulated.
        simulations: how many.
        seed: of the draws.

    >>> from dpspec_inference.shares import ShareOfYes
    >>> model, released = next(ShareOfYes.examples())
    >>> [found] = calibration(model, released, simulations=50, seed=1)
    >>> found.p_value > 0.01
    True
    """
    source = np.random.default_rng(seed)
    drawn = [model.simulate(released, source) for _ in range(simulations)]
    simulated = [one for one in drawn if one is not None]
    if not simulated:
        return ()
    shares: dict[str, list[float]] = {}
    posteriors = model.posteriors_of([one.released for one in simulated])
    for one, found in zip(simulated, posteriors, strict=True):
        for posterior in found:
            below, upto = posterior.below(one.truth[posterior.name])
            shares.setdefault(posterior.name, []).append(below + source.random() * (upto - below))
    return tuple(
        Calibration(name=name, shares=np.array(values), p_value=float(kstest(values, "uniform").pvalue))
        for name, values in shares.items()
    )
