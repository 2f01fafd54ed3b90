"""The evidence of a refutation and its event agree: outputs are observed when they are made, and the event violates the claim."""

import collections
import itertools
import math

import numpy as np
import pytest
from dpspec_code.bits import refute_bits
from dpspec_code.sampled.calls import Calls
from dpspec_code.sampled.engine import refute
from dpspec_code.sampled.null import anytime_interval
from dpspec_code.sampled.search import EventCounts
from dpspec_code.sampled.witness import EvidenceError, witness

from dpspec.blocks.lists import ValueLists
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.event import Asked
from dpspec.verifier.verdict import Outcome
from tests.sampled.toys import BIT, CountingClock, claim, geometric_count, laplace_count, response

SPACE = ValueLists(values=(0, 1), most=3, ordered=False)


# --- outputs that share memory -------------------------------------------------------------------


def _noisy(x, rng):
    return int(len(x) > 0) ^ int(rng.random() < 1 / 3)


def _list():
    held = [0, 0]

    def released(x, rng):
        held[:] = [_noisy(x, rng), 7]
        return held

    return released


def _nested():
    held = [[0], {"of": [0]}]

    def released(x, rng):
        held[0][0] = held[1]["of"][0] = _noisy(x, rng)
        return held

    return released


def _array():
    held = np.zeros(2)

    def released(x, rng):
        held[0] = _noisy(x, rng)
        return held

    return released


def _array_in_a_tuple():
    held = np.zeros(1, dtype=np.int64)

    def released(x, rng):
        held[0] = _noisy(x, rng)
        return 1, held

    return released


def _dict():
    held = {}

    def released(x, rng):
        held["count"] = _noisy(x, rng)
        return held

    return released


def _bytearray():
    held = bytearray(2)

    def released(x, rng):
        held[0] = _noisy(x, rng)
        return held

    return released


def _deque():
    held = collections.deque(maxlen=1)

    def released(x, rng):
        held.append(_noisy(x, rng))
        return held

    return released


def _set():
    held = set()

    def released(x, rng):
        held.clear()
        held.add(_noisy(x, rng))
        return held

    return released


def _exception():
    held = ValueError([0])

    def released(x, rng):
        held.args[0][0] = _noisy(x, rng)
        raise held.with_traceback(None)

    return released


SHARED = [_list, _nested, _array, _array_in_a_tuple, _dict, _bytearray, _deque, _set, _exception]


@pytest.mark.spread(3, slow=3)
@pytest.mark.parametrize("made", SHARED, ids=lambda made: made.__name__)
def test_a_right_function_that_returns_one_object_again_and_again_is_not_refuted(made):
    """Randomised response with 1/3 costs ln(2); the last output of a batch, taken for all of them, costs anything."""
    verdict = refute(made(), claim(SPACE, epsilon=0.7), draws=6_000)
    assert verdict.outcome is Outcome.UNDECIDED
    assert not [finding for finding in verdict.findings if finding.code == "hidden-state"]


@pytest.mark.spread(3, slow=3)
@pytest.mark.parametrize("made", SHARED, ids=lambda made: made.__name__)
def test_a_wrong_function_that_returns_one_object_again_and_again_is_refuted_by_what_it_returned(made):
    verdict = refute(made(), claim(SPACE, epsilon="0.2"), draws=100_000)
    assert verdict.outcome is Outcome.REFUTED
    assert agrees(verdict, claim(SPACE, epsilon="0.2"))


def test_the_whole_engine_judges_a_buffer_as_what_it_holds():
    held = np.zeros(1)

    def released(x, rng):
        held[0] = len(x) + 1.5 * rng.standard_t(5)
        return held

    assert verify_claim(released, claim(SPACE, epsilon=2), draws=4_000).outcome is Outcome.UNDECIDED


def test_every_output_is_observed_before_the_next_call():
    held, order = [0], []

    def released(x, rng):
        order.append("call")
        held[0] += 1
        return held

    calls = Calls(function=released, space=SPACE, claim="order", seed=0, draws=100)
    seen = calls.outputs((0,), np.random.default_rng(0), 3, observe=lambda output: (order.append("look"), list(output))[1])
    assert seen == [[1], [2], [3]]
    assert order == ["call", "look"] * 3


# --- the event that is shown ---------------------------------------------------------------------


def agrees(verdict, spec):
    """Whether the printed interval of the event violates the claim, by the divergence alone."""
    found = verdict.witness
    asked = Asked(spec.output_divergence, found.bound * found.distance)
    return found.event.proves and asked.refuted_by(found.event.left, found.event.right)


WRONG = {
    "response": (response(1.3), claim(BIT, epsilon=1)),
    "laplace": (laplace_count(0.7), claim(epsilon=1)),
    "geometric": (geometric_count(math.exp(-1.4)), claim(epsilon=1)),
    "approximate": (lambda x, rng: len(x) if rng.random() < 0.1 else -1, claim(d_pr=("mult-delta", {"delta": "0.05"}))),
    "total variation": (response(2.0), claim(BIT, epsilon="0.6", d_pr=("total-variation", {}), parameter="distance")),
    "concentrated": (lambda x, rng: len(x) + rng.normal(0, 0.7), claim(epsilon="0.5", d_pr=("d-nor", {}), parameter="rho")),
}  # fmt: skip


@pytest.mark.spread(3)
@pytest.mark.parametrize("name", WRONG)
def test_the_event_of_a_refutation_violates_the_claim(name):
    function, spec = WRONG[name]
    verdict = refute(function, spec, draws=150_000, seed=1)
    assert verdict.outcome is Outcome.REFUTED
    assert agrees(verdict, spec)


@pytest.mark.spread(4, slow=4)
@pytest.mark.parametrize("name", ["response", "laplace", "geometric", "approximate", "total variation"])
@pytest.mark.parametrize("seed", [0, 1])
def test_when_time_ends_after_the_bet_the_evidence_of_the_bet_is_shown(name, seed, monkeypatch):
    """From the moment at which the bet is won, the clock leaves no time for fresh draws."""
    function, spec = WRONG[name]
    clock, over = CountingClock(), []
    monkeypatch.setattr(
        "dpspec_code.sampled.engine._SampledSearch._until",
        lambda self, part: over.append(part) or setattr(self, "_ends", -1.0 if part == 1.0 else math.inf),
    )
    monkeypatch.setattr("dpspec_code.sampled.engine.Shrinker.shrink", lambda self, account: account)
    verdict = refute(function, spec, seconds=1e9, seed=seed, clock=clock)
    assert over[-1] == 1.0
    assert verdict.outcome is Outcome.REFUTED
    assert agrees(verdict, spec)
    assert "draws of bets" in verdict.witness.note


def test_last_bits_show_the_evidence_of_the_bet_too(monkeypatch):
    """Laplace noise in doubles has finer steps around 0 than around 1."""

    def late(account, calls, log_error):
        calls.expired = lambda: True
        return witness(account, calls, log_error)

    monkeypatch.setattr("dpspec_code.bits.witness", late)
    verdict = refute_bits(lambda x, rng: len(x) + rng.laplace(), claim(epsilon=1), seed=0)
    assert verdict.outcome is Outcome.REFUTED
    assert agrees(verdict, claim(epsilon=1))
    assert "draws of bets" in verdict.witness.note


def test_a_refutation_whose_event_satisfies_the_claim_is_an_error_and_no_verdict(monkeypatch):
    """A mistake in the bets: they pay whatever is drawn. The fresh draws of the event show that it satisfies the claim."""
    monkeypatch.setattr("dpspec_code.sampled.engine.Account.log_wealth", property(lambda self: 30.0 if self.spent else 0.0))
    monkeypatch.setattr("dpspec_code.sampled.engine.Account.prospects", lambda self: (1.0, 1.0))
    with pytest.raises(EvidenceError, match="satisfies the claim"):
        refute(response(0.5), claim(BIT, epsilon=1), draws=40_000)


def test_an_interval_that_may_be_read_at_any_time_covers_at_the_worst_time():
    """Of 2,000 runs of 300 draws, each stopped where its interval misses the truth, at most 5 % do, and 3.5 standard errors."""
    for truth in (0.02, 0.5):
        generator = np.random.default_rng(7)
        hits = np.cumsum(generator.random((2_000, 300)) < truth, axis=1)
        ends = {(int(h), n): anytime_interval(int(h), n, 0.95) for n in range(1, 301) for h in np.unique(hits[:, n - 1])}
        missed = sum(
            any(not ends[int(row[n - 1]), n][0] <= truth <= ends[int(row[n - 1]), n][1] for n in range(1, 301)) for row in hits
        )
        assert missed <= 2_000 * 0.05 + 3.5 * math.sqrt(2_000 * 0.05 * 0.95)


def test_an_interval_at_any_time_contains_the_estimate_and_shrinks():
    for hits, size in itertools.product((0, 3, 50, 100), (100, 400)):
        low, high = anytime_interval(hits, size)
        assert low <= hits / size <= high
        assert anytime_interval(10 * hits, 10 * size)[1] - anytime_interval(10 * hits, 10 * size)[0] < high - low
    assert anytime_interval(0, 0) == (0.0, 1.0)


def test_counts_of_bets_are_of_draws_made_after_the_event_was_chosen():
    assert EventCounts((1, 2, 3), (4, 5, 6)) + EventCounts((1, 1, 1), (0, 0, 0)) == EventCounts((2, 3, 4), (4, 5, 6))
