"""Simulation-based calibration of every model, and that it sees a wrong law.

The seeds are fixed, so that no test fails by chance; each p-value is of a Kolmogorov-Smirnov test at 1 %.
"""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from dpspec_inference.analysis import models
from dpspec_inference.conformance import calibration
from dpspec_inference.counts import BlockCount, CountPrior
from dpspec_inference.shares import BetaPrior, ShareOfYes

EXAMPLES = [
    pytest.param(model, released, id=f"{name}-{place}")
    for name, cls in sorted(models().items())
    for place, (model, released) in enumerate(cls.examples())
    if name != "swapped-table"  # it has no prior; tests of its coverage are beside it
]


def test_every_model_has_an_example():
    assert all(any(True for _ in cls.examples()) for cls in models().values())
    assert {p.id.rpartition("-")[0] for p in EXAMPLES} == models().keys() - {"swapped-table"}


@pytest.mark.statistical
@pytest.mark.spread(0, slow=1)
@pytest.mark.parametrize("simulations", [300, pytest.param(1000, marks=pytest.mark.long)])
@pytest.mark.parametrize(("model", "released"), EXAMPLES)
def test_posteriors_are_calibrated(model, released, simulations):
    """A wrong law is seen by 300 simulations: `test_a_wrong_prior_or_law_is_seen`."""
    found = calibration(model, released, simulations=simulations, seed=28)
    assert found
    for one in found:
        assert len(one.shares) == simulations
        assert one.p_value > 0.01, one.name


@pytest.mark.spread(1, slow=1)
@pytest.mark.statistical
@pytest.mark.parametrize(("model", "released"), [p for p in EXAMPLES if p.id in {"proportion-1", "block-count-0", "universe-0"}])
def test_posteriors_of_quick_models_are_calibrated(model, released):
    assert all(one.p_value > 0.01 for one in calibration(model, released, simulations=100, seed=5))


@pytest.mark.long
@pytest.mark.statistical
def test_a_wrong_prior_or_law_is_seen():
    """Draws from one prior or law, the posterior under another: 300 simulations are far beyond 1 %."""

    @attrs.frozen
    class Mistaken:
        drawn: object
        stated: object

        def simulate(self, released, source):
            return self.drawn.simulate(released, source)

        def posteriors_of(self, many):
            return self.stated.posteriors_of(many)

    _, released = next(ShareOfYes.examples())
    mistaken = Mistaken(ShareOfYes(prior=BetaPrior(a=6, b=2)), ShareOfYes())
    assert calibration(mistaken, released, simulations=300, seed=1)[0].p_value < 1e-9
    _, released = next(BlockCount.examples())
    mistaken = Mistaken(BlockCount(prior=CountPrior(most=10)), BlockCount(prior=CountPrior(mean=2, most=10)))
    assert calibration(mistaken, released, simulations=300, seed=1)[0].p_value < 1e-6


def test_draws_of_the_truth_are_those_of_the_prior():
    model, released = next(ShareOfYes.examples())
    source = np.random.default_rng(2)
    truths = [model.simulate(released, source).truth["share of 1"] for _ in range(400)]
    assert abs(np.mean(truths) - 0.5) < 5 * 0.289 / 20
