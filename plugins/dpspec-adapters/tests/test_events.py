"""Events of dp-accounting as pairs of laws: by stand-ins everywhere, by the library where it is installed."""

from __future__ import annotations

import attrs
import pytest
from dpspec_adapters import event_claim

from dpspec import Outcome
from dpspec.base.errors import IncompatibleBlocksError, PluginError
from dpspec.verifier.entry import verify_claim


@attrs.frozen
class GaussianDpEvent:
    noise_multiplier: float


@attrs.frozen
class LaplaceDpEvent:
    noise_multiplier: float


@attrs.frozen
class DiscreteLaplaceDpEvent:
    noise_parameter: float
    sensitivity: int


@attrs.frozen
class RandomizedResponseDpEvent:
    noise_parameter: float
    num_buckets: int


@attrs.frozen
class NoOpDpEvent:
    pass


@attrs.frozen
class ComposedDpEvent:
    events: list


@attrs.frozen
class SelfComposedDpEvent:
    event: object
    count: int


@attrs.frozen
class PoissonSampledDpEvent:
    event: object


@attrs.define
class Accountant:
    """States one epsilon for everything."""

    epsilon: float
    composed: object = None

    def compose(self, event):
        self.composed = event

    def get_epsilon(self, delta):
        return self.epsilon


def judged(event, epsilon, delta=0):
    return verify_claim(*event_claim(event, delta, accountant=Accountant(epsilon))).outcome


@pytest.mark.parametrize(("event", "delta", "right", "wrong"), [
    (LaplaceDpEvent(2.0), 0, 0.5, 0.49),
    (DiscreteLaplaceDpEvent(0.25, 3), 0, 0.75, 0.74),
    (RandomizedResponseDpEvent(0.5, 4), 0, 1.6095, 1.609),
    (NoOpDpEvent(), 0, 0.0, None),
    (SelfComposedDpEvent(LaplaceDpEvent(2.0), 3), 0, 1.5, 1.49),
    (ComposedDpEvent([LaplaceDpEvent(2.0), NoOpDpEvent(), DiscreteLaplaceDpEvent(0.25, 1)]), 0, 0.75, 0.74),
    (GaussianDpEvent(1.0), 1e-5, 4.378, 4.377),
    (SelfComposedDpEvent(GaussianDpEvent(2.0), 4), 1e-5, 4.378, 4.377),
])  # fmt: skip
def test_a_true_statement_is_verified_and_one_a_little_stronger_refuted(event, delta, right, wrong):
    """Randomised response over 4 buckets: ln((1/2 + 1/8) / (1/8)) = ln(5). Four Gaussians at 2 are one at 1: 4.3772."""
    assert judged(event, right, delta) is Outcome.VERIFIED
    assert wrong is None or judged(event, wrong, delta) is Outcome.REFUTED


def test_no_noise_is_refuted():
    assert judged(GaussianDpEvent(0.0), 100.0, 0.5) is Outcome.REFUTED


@pytest.mark.parametrize("event", [PoissonSampledDpEvent(NoOpDpEvent()), SelfComposedDpEvent(LaplaceDpEvent(1.0), 10**6)])
def test_an_event_without_laws_is_refused(event):
    with pytest.raises(IncompatibleBlocksError):
        event_claim(event, 0, accountant=Accountant(1.0))


def test_an_accountant_that_promises_nothing_is_refused():
    with pytest.raises(IncompatibleBlocksError, match="epsilon=inf"):
        event_claim(LaplaceDpEvent(1.0), 0, accountant=Accountant(float("inf")))


def test_what_is_no_event_and_an_accountant_that_fails_are_told(monkeypatch):
    monkeypatch.setattr("dpspec_adapters.measurements.find_spec", lambda name: None)
    with pytest.raises(PluginError, match=r'dp_accounting: is not installed: pip install "dpspec-adapters\[dp-accounting\]"'):
        event_claim("gaussian", 0)
    with pytest.raises(PluginError, match="gave no epsilon"):
        event_claim(LaplaceDpEvent(1.0), 0, accountant=object())


# --- dp-accounting itself ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def accounting():
    return pytest.importorskip("dp_accounting")


def test_the_accountant_of_privacy_loss_distributions_is_right(accounting):
    for event in (
        accounting.GaussianDpEvent(2.0),
        accounting.LaplaceDpEvent(1.0),
        accounting.SelfComposedDpEvent(accounting.GaussianDpEvent(2.0), 3),
        accounting.NoOpDpEvent(),
    ):
        assert verify_claim(*event_claim(event, "1e-5")).outcome is Outcome.VERIFIED


def test_randomised_response_is_asked_about_a_replaced_bucket(accounting):
    """An accountant of the special input states about ln(2), for another pair of laws than the one of two buckets, ln(4)."""
    from dp_accounting.pld import PLDAccountant

    event = accounting.dp_event.RandomizedResponseDpEvent(0.5, 3)
    with pytest.raises(IncompatibleBlocksError, match="special input"):
        event_claim(event, 0, accountant=PLDAccountant(accounting.NeighboringRelation.REPLACE_SPECIAL))
    claim = event_claim(event, "1e-5", accountant=PLDAccountant(accounting.NeighboringRelation.REPLACE_ONE))
    assert verify_claim(*claim).outcome is Outcome.VERIFIED
