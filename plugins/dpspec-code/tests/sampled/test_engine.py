"""`refute` on toy black boxes: each class of fault is found, right ones are left alone, and odd ones have their own outcome."""

from __future__ import annotations

import itertools
import math
import threading
import time
from typing import ClassVar

import attrs
import numpy as np
import pytest
from dpspec_code import child_process
from dpspec_code.sampled.engine import fingerprint, refute
from dpspec_divergences import UserMetric

from dpspec.base.errors import IncompatibleBlocksError, NotInSpaceError, ParameterError
from dpspec.base.exact import INFINITY, Number, number
from dpspec.base.params import define
from dpspec.blocks.budget import Budget
from dpspec.blocks.invariant import FunctionInvariant
from dpspec.blocks.lists import ValueLists
from dpspec.blocks.multiverse import LevelSets, Universe
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.space import DatasetSpace
from dpspec.blocks.vectors import BitVectors, IntegerCounts
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.verdict import ClaimRefutedError, Outcome
from tests.sampled.toys import BIT, LISTS, CountingClock, claim, geometric_count, laplace_count, response

NAN = float("nan")
FEW = 150_000


CALLS = itertools.count()


def kept_state(x, rng):
    return next(CALLS)


def one_noise(x, rng):
    noise = rng.laplace()
    return noise, noise + sum(x)


def emptied(x, rng):
    total = len(x)
    x.clear()
    return round(total + rng.laplace(0, 0.3), 3)


def raising(x, rng):
    if not x:
        raise ValueError("no records")
    return laplace_count(1)(x, rng)


WRONG = {
    "atoms": (geometric_count(math.exp(-2)), claim(epsilon=1)),
    "bins": (laplace_count(0.5), claim(epsilon=1)),
    "difference": (one_noise, claim(epsilon=1)),
    "fraction": (lambda x, rng: float(int(rng.normal(0, 1000))) + 0.25 * (len(x) % 2), claim(epsilon=1)),
    "exception": (raising, claim(epsilon=1)),
    "nan": (lambda x, rng: float(np.clip(sum(x), 0, 1) + rng.laplace()), claim(ValueLists(values=(0.0, NAN), least=1, most=2))),
    "none": (lambda x, rng: [None if v else rng.laplace() for v in x[:1]], claim(ValueLists(values=(0, 1), least=1, most=2))),
    "length": (lambda x, rng: tuple(rng.laplace(size=len(x))), claim(epsilon=1)),
    "type": (lambda x, rng: rng.choice([1, 1.0]) if x else "none", claim(epsilon=1)),
    "array": (lambda x, rng: np.array([sum(x), len(x)]) + rng.laplace(0, 0.2, 2), claim(epsilon=1)),
    "unhashable": (lambda x, rng: {"count": [len(x) + int(rng.integers(2))]}, claim(epsilon=1)),
    "deterministic": (lambda x, rng: sum(x), claim(epsilon=1)),
    "mutation": (emptied, claim(epsilon=1)),
    "approximate": (lambda x, rng: len(x) if rng.random() < 0.1 else -1, claim(d_pr=("mult-delta", {"delta": "0.05"}))),
    "total variation": (response(2.0), claim(BIT, epsilon="0.6", d_pr=("total-variation", {}), parameter="distance")),
    "concentrated": (lambda x, rng: len(x) + rng.normal(0, 0.7), claim(epsilon="0.5", d_pr=("d-nor", {}), parameter="rho")),
    "renyi": (lambda x, rng: len(x) + rng.normal(0, 0.7), claim(epsilon="0.5", d_pr=("renyi", {"order": 2}))),
    "bits": (lambda x, rng: tuple(int(b ^ (rng.random() < 0.2)) for b in x), claim(BitVectors(length=3), epsilon=1)),
}  # fmt: skip


@pytest.mark.spread(6, slow=6)
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_mechanism_is_refuted_by_a_small_witness(name):
    function, spec = WRONG[name]
    verdict = refute(function, spec, draws=FEW)
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.method == "sampled"
    witness = verdict.witness
    assert witness is not None
    assert witness.event is not None
    assert len(witness.left) + len(witness.right) <= 2 * max(3, getattr(spec.space, "least", 0))
    assert max(witness.event.left.lower, witness.event.right.lower) > min(witness.event.left.upper, witness.event.right.upper)
    assert witness.divergence.lower >= spec.budget.uniform() * witness.distance or name == "concentrated"
    assert "fresh draws" in witness.note
    with pytest.raises(ClaimRefutedError):
        verdict.require()


def test_the_smallest_pair_is_named_with_its_event():
    verdict = refute(raising, claim(epsilon=1), draws=FEW)
    assert {verdict.witness.left, verdict.witness.right} == {(), (0,)}
    assert "raises ValueError (no records)" in verdict.witness.event.text
    refuted = refute(laplace_count(0.25), claim(epsilon=1), draws=FEW)
    assert {refuted.witness.left, refuted.witness.right} in ({(), (0,)}, {(), (1,)})
    assert "out" in refuted.witness.event.text


RIGHT = {
    "response": (response(1.0), claim(BIT, epsilon=1)),
    "laplace": (laplace_count(1.0), claim(epsilon=1)),
    "geometric": (geometric_count(0.5), claim(epsilon="ln(2)")),
    "gaussian": (lambda x, rng: len(x) + rng.normal(0, 1), claim(epsilon="0.5", d_pr=("d-nor", {}), parameter="rho")),
    "coin": (lambda x, rng: int(rng.integers(2)), claim(epsilon=0)),
    "constant": (lambda x, rng: "released", claim(epsilon=0)),
    "approximate": (lambda x, rng: len(x) if rng.random() < 0.05 else -1, claim(d_pr=("mult-delta", {"delta": "0.05"}))),
}  # fmt: skip


@pytest.mark.spread(1, slow=1)
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_mechanism_is_not_refuted_and_the_verdict_says_what_would_have_been_found(name):
    function, spec = RIGHT[name]
    verdict = refute(function, spec, draws=60_000)
    assert verdict.outcome is Outcome.UNDECIDED
    assert verdict.witness is None
    assert "not refuted" in verdict.reason
    if name == "response":
        assert all(f"mass {mass}" in verdict.reason for mass in ("1%", "10%", "50%"))


@pytest.mark.slow
@pytest.mark.statistical
def test_the_power_that_is_stated_is_there():
    """Randomised response at the stated detectable loss is found: 12 runs, each missed with probability below 5 %."""
    found = sum(
        refute(response(1.6), claim(BIT, epsilon=1), draws=20_000, seed=seed).outcome is Outcome.REFUTED for seed in range(12)
    )
    assert found >= 10


# --- other outcomes ------------------------------------------------------------------------------


def test_hidden_state_is_its_own_finding_and_forbids_a_verdict():
    verdict = refute(kept_state, claim(epsilon=1), draws=FEW)
    assert verdict.outcome is Outcome.UNDECIDED
    assert [finding.code for finding in verdict.findings] == ["hidden-state"]
    assert "same seed gave two outputs" in verdict.reason


def test_randomness_from_elsewhere_is_hidden_state():
    own = np.random.default_rng(1)
    verdict = refute(lambda x, rng: own.laplace(), claim(epsilon=1), draws=FEW)
    assert verdict.outcome is Outcome.UNDECIDED
    assert verdict.findings[0].code == "hidden-state"


@pytest.mark.parametrize(("name", "code"), [("deterministic", "deterministic"), ("mutation", "mutates-dataset")])
def test_what_the_calls_give_away_is_reported_beside_the_verdict(name, code):
    function, spec = WRONG[name]
    assert code in [finding.code for finding in refute(function, spec, draws=FEW).findings]
    assert not refute(laplace_count(1.0), claim(epsilon=1), draws=5_000).findings


def test_a_call_that_never_ends_everywhere_does_not_hang(monkeypatch):
    """The one test of the real clock: the limit is short, and a call that reaches it never ends by itself."""
    monkeypatch.setattr("dpspec_code.sampled.calls.MOST_ENDLESS", 3)

    def forever(x, rng):
        while True:
            pass

    verdict = refute(forever, claim(epsilon=1), draws=FEW, limit=0.002)
    assert verdict.outcome is Outcome.UNDECIDED
    assert "did not end" in verdict.reason


def test_it_runs_outside_the_main_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(refute(response(2.0), claim(BIT, epsilon=1), draws=20_000)))
    thread.start()
    thread.join()
    assert found[0].outcome is Outcome.REFUTED


def test_a_mechanism_that_only_raises_is_not_refuted_and_is_reported():
    def broken(x, rng):
        raise RuntimeError("always")

    verdict = refute(broken, claim(epsilon=0), draws=20_000)
    assert verdict.outcome is Outcome.UNDECIDED
    assert "raises" in [finding.code for finding in verdict.findings]


def test_nothing_to_compare_is_said():
    alone = claim(LISTS, multiverse=LevelSets(invariants=(FunctionInvariant(function=lambda x: x, label="all"),)))
    verdict = refute(lambda x, rng: list(x), alone)
    assert (verdict.outcome, verdict.method) == (Outcome.UNDECIDED, "none")
    assert "nothing to compare" in verdict.reason


@define
class PerDataset(Budget):
    """1/4 for each dataset of the universe, or as much as one likes."""

    name: ClassVar[str] = "test-per-dataset"

    parameter: str = "epsilon"
    is_free: bool = False

    def at(self, universe: Universe, space: DatasetSpace) -> Number:
        return INFINITY if self.is_free else number(len(universe)) / 4


@pytest.mark.parametrize("is_free", [True, False])
def test_pairs_without_a_budget_are_compared_with_nothing(is_free):
    """2^14 datasets allow far more than two; it was refuted. Pairs at finite distance were said to be none."""
    spec = claim(BitVectors(length=14)).replace(budget=PerDataset(is_free=is_free))
    verdict = refute(lambda x, rng: list(x), spec, datasets=[(0,) * 14, (0,) * 13 + (1,)])
    assert verdict.outcome is Outcome.UNDECIDED
    assert "with a budget that is finite and known" in verdict.reason


@attrs.frozen
class Silent(OutputDivergence):
    """A divergence that does not say what it allows."""

    name = "silent"

    def evaluate(self, pair, *, precision=64):
        raise AssertionError


def test_a_divergence_without_the_method_is_an_outcome_that_teaches():
    verdict = refute(lambda x, rng: list(x), claim().replace(output_divergence=Silent()))
    assert (verdict.outcome, verdict.method) == (Outcome.UNDECIDED, "none")
    assert "implement largest_probability" in verdict.reason


# --- universes, distances, chosen pairs ----------------------------------------------------------


def exact_size(x, rng):
    return len(x), sum(x) + geometric_count(math.exp(-1))([], rng)


@pytest.mark.slow
def test_the_universe_forgives_what_it_holds_fixed():
    size = LevelSets(invariants=(FunctionInvariant(function=len, label="length"),))
    assert refute(exact_size, claim(epsilon=1), draws=FEW).outcome is Outcome.REFUTED
    assert refute(exact_size, claim(epsilon=1, multiverse=size), draws=FEW).outcome is Outcome.UNDECIDED


@pytest.mark.slow
def test_query_answers_are_moved_in_patterns():
    """Only a pair that moves the last of six answers against the others tells."""

    def needle(q, rng):
        return int(q[-1] - q[0] >= 2)

    metric = UserMetric(function=lambda x, y: max(abs(a - b) for a, b in zip(x, y, strict=True)), label="largest change")
    spec = claim(IntegerCounts(length=6, low=-20, high=20), metric=metric)
    verdict = refute(needle, spec, draws=FEW)
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.findings[0].code == "deterministic"


@pytest.mark.slow
def test_every_position_is_changed_once():
    """One needle among twenty positions."""
    spec = claim(ValueLists(values=(0, 1), least=20, most=20))
    assert refute(lambda x, rng: x[13] if rng.random() < 0.5 else 0, spec, draws=FEW).outcome is Outcome.REFUTED


def test_a_late_branch_is_found_and_its_witness_is_no_larger_than_the_neighbours_there():
    verdict = refute(
        lambda x, rng: round(len(x) + rng.laplace(), 3) if len(x) < 7 else "many",
        claim(ValueLists(values=(0,), ordered=False)),
        draws=FEW,
    )
    assert len(verdict.witness.right) == 7
    assert len(verdict.witness.left) <= 6
    assert verdict.witness.event.text in ("out is #", "out = 'many'")


def test_entries_are_exchanged_inside_a_universe():
    """Lists of six digits with a fixed total: two by lot seldom share a universe."""
    total = LevelSets(invariants=(FunctionInvariant(function=sum, label="total"),))
    spec = claim(ValueLists(values=tuple(range(10)), least=6, most=6), multiverse=total)
    assert refute(lambda x, rng: x[0] > x[1], spec, draws=FEW).outcome is Outcome.REFUTED


def test_pairs_may_be_given():
    spec = claim(epsilon=1)
    assert refute(laplace_count(0.25), spec, pairs=[([0, 1], [0])], draws=FEW).witness.left == (0,)
    assert refute(laplace_count(0.25), spec, datasets=[[0], [1]], draws=20_000).outcome is Outcome.UNDECIDED
    with pytest.raises(NotInSpaceError):
        refute(laplace_count(0.25), spec, datasets=[[5]])
    with pytest.raises(IncompatibleBlocksError):
        refute(laplace_count(0.25), claim(ValueLists(values=(0, 1), most=2)), pairs=[([0], [0, 1])])


# --- the same seed, and the budget ---------------------------------------------------------------


@pytest.mark.long
def test_the_same_seed_gives_the_same_verdict():
    for function, spec in (WRONG["bins"], WRONG["approximate"], RIGHT["geometric"]):
        first, second, other = (refute(function, spec, draws=40_000, seed=seed) for seed in (3, 3, 4))
        assert str(first) == str(second)
        assert other.outcome is first.outcome


def test_the_claim_is_part_of_every_seed_and_addresses_are_not():
    assert fingerprint(claim(epsilon=1)) != fingerprint(claim(epsilon=2))
    metric = UserMetric(function=lambda x, y: 1, label="one")
    assert "0x" not in fingerprint(claim().replace(input_divergence=metric))


@pytest.mark.parametrize("draws", [1, 50, 3_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_the_budget_of_draws_is_kept(draws):
    calls = itertools.count()

    def counted(x, rng):
        next(calls)
        return laplace_count(1.0)(x, rng)

    seen = []
    refute(counted, claim(epsilon=1), draws=draws, progress=lambda done, most: seen.append((done, most)))
    assert next(calls) <= draws + 200  # the 60 calls each on two datasets that show whether calls depend on each other
    assert all(done <= most + 100 for done, most in seen)


TIMED = {
    "laplace": (laplace_count(0.9), 2),
    "heavy tails": (lambda x, rng: len(x) + 0.7 * rng.standard_t(3), 2),
    "wrong": (laplace_count(0.25), 1),
}


@pytest.mark.parametrize("name", TIMED)
def test_the_budget_of_time_is_kept(name):
    """Every call takes one unit of time, by a clock that counts calls."""
    function, epsilon = TIMED[name]
    call, clock = timed(function, 1.0)
    verdict = refute(call, claim(epsilon=epsilon), seconds=6_000, limit=10, clock=clock)
    assert (verdict.outcome is Outcome.REFUTED) == (name == "wrong")
    assert clock.units <= 6_000


def many_choices(x, rng):
    """It has 4^8 outcomes; to enumerate them takes minutes."""
    return sum(int(rng.integers(4)) for _ in range(8)) + len(x), len(x) > 2


def test_what_is_plainly_wrong_is_red_before_its_choices_are_enumerated(monkeypatch):
    """The first enumeration ends after a few runs of the function."""
    monkeypatch.setattr("dpspec_code.case.FIRST_RUNS", 100)
    verdict = verify_claim(many_choices, claim(ValueLists(values=(0, 1, 2), most=5, ordered=False), epsilon=1), seconds=600)
    assert (verdict.outcome, verdict.method) == (Outcome.REFUTED, "sampled")


def test_what_waits_is_ended_by_the_clock_on_the_wall(monkeypatch):
    monkeypatch.setattr(child_process, "PATIENCE", 0.2)
    ended = child_process.run_in_child(lambda tell: time.sleep(600), seconds=0.5)
    assert ended.late
    assert ended.value is None


@pytest.mark.spread(2)
@pytest.mark.parametrize("function", [laplace_count(0.6), geometric_count(0.25), raising])
def test_on_a_slower_machine_the_verdict_is_the_same(function):
    """As long as the time is enough, the calls are the same ones, and so is the witness."""
    spec = claim(ValueLists(values=(0, 1), most=40, ordered=False), epsilon="0.9")
    found = []
    for cost in (1.0, 1.7, 3.0):
        call, clock = timed(function, cost)
        found.append(refute(call, spec, seconds=3e6, limit=10, clock=clock))
    assert found[0].outcome is Outcome.REFUTED
    assert len({str(verdict.witness) for verdict in found}) == len({verdict.scope for verdict in found}) == 1


def timed(function, cost):
    """A function of which every call takes the same time, and the clock that says so."""
    clock = CountingClock()

    def call(x, rng):
        clock.work(cost)
        return function(x, rng)

    return call, clock


@pytest.mark.slow
def test_time_says_only_where_the_calls_end():
    """The calls of a longer search begin with those of a shorter one."""
    logs = []
    for draws in (3_000, 12_000):
        log = []

        def logged(x, rng, log=log):
            log.append((tuple(x), rng.bit_generator.state["state"]["state"]))
            return len(x) + 3 * rng.standard_t(3)

        refute(logged, claim(epsilon=1), draws=draws, seconds=None)
        logs.append(log)
    short, long = (dict.fromkeys(log) for log in logs)
    shared = sum(call in long for call in short)
    assert shared > 0.6 * len(short)


@pytest.mark.parametrize("bad", [{"error": 0}, {"error": 1}, {"error": "x"}, {"draws": 0}])
def test_bad_arguments_are_refused(bad):
    with pytest.raises(ParameterError):
        refute(response(1.0), claim(BIT), **bad)
