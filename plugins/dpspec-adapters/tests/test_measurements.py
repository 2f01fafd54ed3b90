"""OpenDP's claims, judged: by a stand-in everywhere, by OpenDP itself where it is installed.

The sampled tests refute a right measurement with probability at most 1e-9 each. They stop as soon as a false one is refuted,
which takes a fraction of the draws that they state: threshold release is exceeded by 0.099 against 0.036, within 3,000 of 40,000.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from dpspec_adapters import opendp_claim
from dpspec_adapters.measurements import insert_delete, outward
from dpspec_code.sampled.engine import refute

from dpspec import Outcome
from dpspec.base.errors import IncompatibleBlocksError, PluginError
from dpspec.blocks.lists import ValueLists
from dpspec.verifier.entry import verify_claim

MULTISETS = ValueLists(values=(0, 1, 2), most=2, ordered=False)
NUMBERS = ValueLists(values=(0, 1, 2, 3), least=1, most=1)
BITS = ValueLists(values=(0, 1), least=3, most=3)
SYSTEM = random.SystemRandom()


class StandIn(SimpleNamespace):
    """What an OpenDP measurement looks like from here."""

    def __call__(self, argument):
        return self.run(argument)


def stand_in(run=sum, metric="SymmetricDistance()", measure="MaxDivergence", bound=0.0):
    return StandIn(run=run, input_metric=metric, output_measure=measure, map=lambda _: bound)


@pytest.mark.parametrize(("measure", "bound", "name", "budget"), [
    ("MaxDivergence", 0.5, "mult", "epsilon = 1/2"),
    ("ZeroConcentratedDivergence", 0.125, "d-nor", "rho = 1/8"),
    ("Approximate(MaxDivergence)", (1.0, 0.25), "mult-delta", "epsilon = 1"),
])  # fmt: skip
def test_a_privacy_map_becomes_a_claim(measure, bound, name, budget):
    _, spec = opendp_claim(stand_in(measure=measure, bound=bound), MULTISETS)
    assert spec.output_divergence.name == name
    assert str(spec.budget) == budget
    assert str(spec.input_divergence) == "neighbour of add-remove (person)"


@pytest.mark.parametrize(("metric", "at", "space", "near", "far"), [
    ("SymmetricDistance()", 2, MULTISETS, ((0,), (1,)), ((0, 0), (1, 2))),
    ("SymmetricDistance()", 1, BITS, ((0, 0, 1), (1, 0, 0)), ((0, 0, 0), (0, 0, 1))),
    ("ChangeOneDistance()", 1, MULTISETS, ((0, 1), (0, 2)), ((0,), (0, 1))),
    ("HammingDistance()", 1, BITS, ((0, 0, 1), (0, 1, 1)), ((0, 0, 1), (0, 1, 0))),
    ("HammingDistance()", 2, BITS, ((0, 0, 1), (0, 1, 0)), ((0, 0, 0), (1, 1, 1))),
    ("InsertDeleteDistance()", 2, BITS, ((0, 1, 0), (1, 0, 1)), ((0, 0, 0), (0, 1, 1))),
    ("AbsoluteDistance(i32)", 2, NUMBERS, ((0,), (2,)), ((0,), (3,))),
    ("L1Distance(i32)", 1, BITS, ((0, 0, 1), (0, 1, 1)), ((0, 0, 1), (0, 1, 0))),
    ("L2Distance(f64)", "1.5", BITS, ((0, 0, 1), (0, 1, 0)), ((0, 0, 0), (1, 1, 1))),
    ("DiscreteDistance()", 1, BITS, ((0, 0, 0), (1, 1, 1)), None),
])  # fmt: skip
def test_an_input_metric_becomes_a_relation(metric, at, space, near, far):
    _, spec = opendp_claim(stand_in(metric=metric), space, at=at)
    assert spec.distance(*near) == 1
    assert far is None or spec.distance(*far).is_infinite


def test_the_smallest_number_above_a_stated_bound_is_claimed():
    for stated in (0.1, 1 / 3, math.log(3), 2.1972245773362196):
        assert Fraction(stated) <= outward(stated, "epsilon") < Fraction(math.nextafter(stated, 9))


@pytest.mark.parametrize("changes", [
    {"metric": "PartitionDistance()"}, {"measure": "SmoothedMaxDivergence"}, {"bound": math.inf}, {"bound": math.nan},
    {"measure": "Approximate(MaxDivergence)", "bound": (1.0, 1.0)}, {"metric": "InsertDeleteDistance()"},
])  # fmt: skip
def test_what_has_no_counterpart_is_refused(changes):
    with pytest.raises(IncompatibleBlocksError):
        opendp_claim(stand_in(**changes), MULTISETS)


def test_what_is_no_measurement_is_refused(monkeypatch):
    monkeypatch.setattr("dpspec_adapters.measurements.find_spec", lambda name: None)
    with pytest.raises(PluginError, match=r'opendp: is not installed: pip install "dpspec-adapters\[opendp\]"'):
        opendp_claim(sum, MULTISETS)
    monkeypatch.setattr("dpspec_adapters.measurements.find_spec", lambda name: object())
    with pytest.raises(PluginError, match="must be an OpenDP measurement"):
        opendp_claim(sum, MULTISETS)


def test_what_no_seed_reaches_is_told_and_not_called_state():
    run, spec = opendp_claim(stand_in(lambda _: SYSTEM.random()), MULTISETS)
    outputs = [run([0], np.random.default_rng(1)) for _ in range(2)]
    assert outputs[0] != outputs[1]
    verdict = verify_claim(run, spec, draws=4_000)
    assert [finding.code for finding in verdict.findings] == ["not-replayable"]
    assert any("is not replayed" in text for text in verdict.assumptions)


def test_noise_that_another_library_draws_once_refutes_nothing():
    """The law of a call is right; the calls of one process are one call. Each process has noise of its own, and shows so."""
    drawn = []

    def once(rows):
        if not drawn:
            drawn.append(SYSTEM.gauss(0, 40))
        return sum(rows) + drawn[0]

    verdict = verify_claim(*opendp_claim(stand_in(once, bound=0.5), MULTISETS), draws=20_000)
    assert verdict.outcome is Outcome.UNDECIDED
    assert "hidden-state" in [finding.code for finding in verdict.findings]


@pytest.mark.parametrize("fixed", [True, False])
def test_a_raw_sum_at_epsilon_0_is_refuted(fixed):
    verdict = verify_claim(*opendp_claim(stand_in(), MULTISETS, fixed=fixed))
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.method == "sampled"  # what another library does cannot be read, whether its bits are fixed or not
    assert (verdict.witness.left, verdict.witness.right) == ((), (1,))


@pytest.mark.slow
@pytest.mark.statistical
def test_right_randomised_response_of_another_library_is_not_refuted():
    """20,000 draws at its exact epsilon; refuted with probability at most 1e-9."""
    flip = stand_in(lambda bits: [bit ^ (SYSTEM.random() < 0.25) for bit in bits], "HammingDistance()", bound=math.log(3))
    assert verify_claim(*opendp_claim(flip, BITS), draws=20_000).outcome is Outcome.UNDECIDED


# --- OpenDP itself -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dp():
    prelude = pytest.importorskip("opendp.prelude")
    prelude.enable_features("contrib", "honest-but-curious")
    return prelude


def integers(dp, **options):
    return dp.vector_domain(dp.atom_domain(T=int), **options)


def test_opendp_takes_a_raw_sum_at_epsilon_0(dp):
    measurement = dp.m.make_user_measurement(integers(dp), dp.symmetric_distance(), dp.max_divergence(), sum, lambda _: 0.0)
    verdict = verify_claim(*opendp_claim(measurement, MULTISETS, fixed=True), draws=8_000)
    assert verdict.outcome is Outcome.REFUTED
    assert (verdict.witness.left, verdict.witness.right) == ((), (1,))


@pytest.mark.statistical
@pytest.mark.parametrize("noise", ["laplace", "gaussian", "geometric"])
def test_a_right_noisy_count_is_verified_under_its_models(dp, noise):
    count = (integers(dp), dp.symmetric_distance()) >> dp.t.then_count()
    claim = opendp_claim(count >> getattr(dp.m, f"then_{noise}")(scale=2.0), MULTISETS)
    assert verify_claim(*claim, draws=8_000).outcome is Outcome.VERIFIED


@pytest.mark.statistical
def test_a_right_noisy_number_is_verified_under_its_model(dp):
    """The scalar domain and AbsoluteDistance at d_in = 2."""
    measurement = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=2.0)
    run, spec = opendp_claim(measurement, NUMBERS, at=2)
    assert str(spec.budget) == "epsilon = 1"
    assert verify_claim(run, spec, draws=8_000).outcome is Outcome.VERIFIED


@pytest.mark.statistical
def test_threshold_release_publishes_more_than_delta(dp):
    """opendp issue 2922: delta leaves out the mass at the threshold itself. 40,000 draws at most."""
    count = dp.t.make_count_by(dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance())
    space = ValueLists(values=("u",), most=1, ordered=False)
    verdict = verify_claim(*opendp_claim(count >> dp.m.then_laplace_threshold(scale=1.0, threshold=3), space), draws=40_000)
    assert verdict.outcome is Outcome.REFUTED
    assert (verdict.witness.left, verdict.witness.right) == ((), ("u",))


@pytest.mark.statistical
def test_insert_delete_distance_is_not_twice_the_hamming_distance(dp):
    """opendp issue 2926: 001 and 010 are two edits apart, and two positions, not one. 40,000 draws at most.

    The measurement behind the cast is randomised response, whose map is right for the Hamming distance.
    """
    cast = dp.t.make_metric_bounded(integers(dp, size=3), dp.insert_delete_distance())
    response = dp.m.make_user_measurement(
        cast.output_domain, cast.output_metric, dp.max_divergence(),
        lambda bits: [bit ^ (SYSTEM.random() < 0.25) for bit in bits], lambda distance: distance * math.log(3),
    )  # fmt: skip
    verdict = verify_claim(*opendp_claim(cast >> response, BITS, at=2), draws=40_000)
    assert verdict.outcome is Outcome.REFUTED
    assert sum(a != b for a, b in zip(verdict.witness.left, verdict.witness.right, strict=True)) > 1


def resized(dp):
    """A resize to three entries, then a bit that is 1 with probability 1/2 4^-d, d the edits to 210: ln(4) per edit.

    Between sequences of length 3 d is even; the other outcome changes by at most (1 - 4^-2/2) / (1/2) < 4^2 for two edits.
    """
    resize = dp.t.make_resize(integers(dp), dp.insert_delete_distance(), size=3, constant=0, MO="InsertDeleteDistance")
    return resize >> dp.m.make_user_measurement(
        resize.output_domain, resize.output_metric, dp.max_divergence(),
        lambda row: int(SYSTEM.random() < 0.5 * 0.25 ** insert_delete(row, (2, 1, 0))), lambda distance: distance * math.log(4),
    )  # fmt: skip


ROWS = ValueLists(values=(0, 1, 2), least=3, most=4)


@pytest.mark.statistical
def test_resize_shuffles_only_what_needs_no_cut(dp):
    """opendp issue 2927: 0120 becomes 012 always, 012 any order of it. 60,000 draws at most, on this pair."""
    run, spec = opendp_claim(resized(dp), ROWS)
    verdict = refute(run, spec, pairs=[((0, 1, 2), (0, 1, 2, 0))], draws=60_000)
    assert verdict.outcome is Outcome.REFUTED


@pytest.mark.long
@pytest.mark.statistical
def test_resize_is_refuted_without_being_told_where(dp):
    """The same among all pairs that the engine tries; 150,000 draws."""
    assert verify_claim(*opendp_claim(resized(dp), ROWS), draws=150_000).outcome is Outcome.REFUTED


def test_bit_vectors_of_different_lengths_are_told_apart(dp):
    """opendp issue 2930: the domain does not fix the length, which the output shows; that alone is looked at. 20,000 draws."""
    measurement = dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=2), dp.discrete_distance(), f=0.5)
    space = ValueLists(values=(0, 1), least=1, most=2)
    verdict = verify_claim(*opendp_claim(measurement, space, read=bytes, see=len, fixed=True), draws=20_000)
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.method == "sampled"  # what OpenDP does is no code that can be read
    assert (verdict.witness.left, verdict.witness.right) == ((0,), (0, 0))
