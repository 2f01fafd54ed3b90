"""One entry: mechanisms and plain functions, the strongest method that applies."""

import math
import os
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from dpspec_code.automatic.rewriting import _both
from dpspec_code.automatic.sampler import RunCounter, RunLimitError, enumerate_law
from dpspec_code.case import _Case
from dpspec_code.child_process import Clock
from numpy.random import Generator

from dpspec.base.exact import ln
from dpspec.base.time_limits import Stopwatch
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.verdict import Outcome
from tests.verify.toys import bits_spec, response


def plain_response(bits: list[int], rng: Generator) -> list[int]:
    return [bit ^ int(rng.random() < 0.25) for bit in bits]


def test_plain_code_with_finitely_many_choices_is_verified_not_a_restatement_of_it() -> None:
    verdict = verify_claim(plain_response, bits_spec())
    assert (verdict.outcome, verdict.method) == (Outcome.VERIFIED, "exhaustive")
    assert verdict.constant.lower == ln(3) == verify_claim(response("3/4"), bits_spec()).constant.lower
    assert verify_claim(plain_response, bits_spec(epsilon="1.0986")).outcome is Outcome.REFUTED


@pytest.mark.parametrize(
    ("function", "outcome"),
    [
        (lambda bits, rng: sum(bits) + 0.58 * rng.standard_t(3) * 3, Outcome.UNDECIDED),
        (lambda bits, rng: sum(bits) + rng.laplace(0, 0.4), Outcome.REFUTED),
    ],
)
def test_noise_whose_law_is_not_read_off_is_sampled_and_never_verified(function: Any, outcome: Outcome) -> None:
    verdict = verify_claim(function, bits_spec(epsilon=1), draws=60_000)
    assert (verdict.outcome, verdict.method) == (outcome, "sampled")


@pytest.mark.parametrize(
    "function",
    [
        lambda bits, rng: rng.random(),
        pytest.param(lambda bits, rng: [rng.random()], marks=pytest.mark.slow),
        lambda bits, rng: object(),
        lambda bits, rng: rng.random() * 0 + 1 if rng.random() < 0.5 else rng.normal(),
    ],
)
def test_what_does_not_look_at_the_data_is_never_refuted(function: Any) -> None:
    assert verify_claim(function, bits_spec(length=2, epsilon=0), draws=2_000).outcome is not Outcome.REFUTED


@pytest.mark.long
def test_the_doubles_are_looked_at_on_demand() -> None:
    def textbook(bits: list[int], rng: Generator) -> float:
        u = rng.random() - 0.5
        return float(sum(bits) - math.copysign(math.log(1 - 2 * abs(u)), u))

    spec = bits_spec(length=1, epsilon="1.01")
    assert verify_claim(textbook, spec, draws=60_000).outcome is Outcome.UNDECIDED
    assert verify_claim(textbook, spec, draws=200_000, bits=True).outcome is Outcome.REFUTED


@pytest.mark.parametrize(
    "draw",
    [
        random.random,
        lambda: os.urandom(1)[0] / 256,
        pytest.param(np.random.random, marks=pytest.mark.slow),
        pytest.param(lambda: np.random.default_rng().random(), marks=pytest.mark.slow),
    ],
)
def test_chances_from_elsewhere_are_no_law(draw: Any) -> None:
    def ignores(bits: list[int], rng: Generator) -> str:
        return "yes" if bits[0] and draw() < 0.02 else "no"

    def mixes(bits: list[int], rng: Generator) -> str:
        return ignores(bits, rng) + str(rng.integers(2))

    for function in (ignores, mixes):
        verdict = verify_claim(function, bits_spec(length=1), draws=1_000)
        assert verdict.method == "sampled"
        assert verdict.outcome is not Outcome.VERIFIED


def test_a_function_that_never_draws_is_not_verified_by_enumeration() -> None:
    assert verify_claim(lambda bits, rng: "no", bits_spec(length=1), draws=5_000).method == "sampled"


@pytest.mark.slow
def test_the_same_seed_gives_the_same_verdict() -> None:
    def noisy(bits: list[int], rng: Generator) -> float:
        return float(sum(bits) + rng.laplace(0, 0.5))

    first, second = (verify_claim(noisy, bits_spec(epsilon=1), seed=3, draws=60_000) for _ in range(2))
    assert first == second


def swallowing(bits: list[int], rng: Generator) -> float:
    try:
        return float(sum(bits) - np.log(rng.random(2)).sum())
    except Exception:
        return 0.0


@pytest.mark.parametrize(
    "function",
    [
        lambda bits, rng: sum(bits) + abs(rng.random() - 0.5),
        lambda bits, rng: f"{sum(bits)} {rng.random():.2f}",
        pytest.param(lambda bits, rng: sum(bits) + rng.random() ** 2, marks=pytest.mark.slow),
        pytest.param(lambda bits, rng: sum(bits) + round(rng.random(), 1), marks=pytest.mark.slow),
        pytest.param(lambda bits, rng: sum(bits) + divmod(rng.random(), 0.25)[0], marks=pytest.mark.slow),
        pytest.param(lambda bits, rng: sum(bits) + rng.random().real, marks=pytest.mark.slow),
        swallowing,
    ],
)
def test_what_a_symbolic_draw_cannot_do_is_never_taken_for_an_outcome(function: Any) -> None:
    """Each of these runs on a float, so an error of the enumeration must send it to the sampling engine (and not verify it)."""
    verdict = verify_claim(function, bits_spec(length=1, epsilon="1/10"), draws=4_000)
    assert verdict.method == "sampled"
    assert verdict.outcome is Outcome.REFUTED


def test_a_file_is_rewritten_once_for_all_processes() -> None:
    """Each stage runs in a process of its own, that starts with what this one has."""

    def answer(bits: Any, rng: Any) -> Any:
        return bits[0] ^ int(rng.random() < 0.25)

    verify_claim(answer, bits_spec(length=1, epsilon="ln(3)"))
    before = _both.cache_info()
    assert verify_claim(answer, bits_spec(length=1, epsilon="ln(3)")).outcome is Outcome.VERIFIED
    after = _both.cache_info()
    assert after.hits > before.hits
    assert after.misses == before.misses


def test_an_object_is_not_asked_for_its_code_in_this_process() -> None:
    """What it answers may be code of its own, and what that does stays in a process that ends."""
    asked: list[str] = []

    class Asking:
        @property
        def func(self) -> None:
            asked.append("for its code")

        def __call__(self, bits: Any, rng: Any) -> Any:
            return bits[0] ^ int(rng.random() < 0.25)

    verify_claim(Asking(), bits_spec(length=1, epsilon="ln(3)"), draws=600)
    assert asked == []


@pytest.mark.parametrize("seconds", ["1/1000000", "1/1000"])
def test_hardly_any_time_is_no_error(seconds):
    """A machine that slept has no time left for a stage that is to come."""

    def told(bits, rng):
        return [bit + rng.laplace() for bit in bits]

    found = verify_claim(told, bits_spec(length=2, epsilon="1/2"), seconds=Fraction(seconds))
    assert found.outcome is not Outcome.VERIFIED


def test_time_that_is_over_before_draws_are_made_leaves_a_claim_undecided(monkeypatch):
    monkeypatch.setattr("dpspec_code.child_process.Clock.left", lambda _: 0.0)
    found = verify_claim(lambda bits, rng: rng.standard_t(3) + sum(bits), bits_spec(length=2, epsilon="1/2"), seconds=1)
    assert found.outcome is Outcome.UNDECIDED
    assert "over" in found.reason


def noisy_sum(bits, rng):
    return sum(bits) + rng.laplace(0, 2)


def place_of_the_largest(bits, rng):
    noisy = [bits.count(k) + rng.laplace(0, 2) for k in (0, 1)]
    return noisy.index(max(noisy))


def sixty_four_paths(bits, rng):
    return sum(int(rng.integers(4)) for _ in range(3)) + len(bits), sum(bits) > 1


LIMITED = {"noisy sum": noisy_sum, "place of the largest": place_of_the_largest, "64 paths": sixty_four_paths}


@pytest.mark.parametrize("name", [
    "noisy sum", *(pytest.param(name, marks=pytest.mark.slow) for name in LIMITED if name != "noisy sum"),
])  # fmt: skip
def test_a_machine_that_is_fifty_times_slower_gives_the_same_verdict(name, monkeypatch):
    """Every stopwatch of the verifier shows fifty times the time that passes; the limits of the stages are runs and draws."""
    spec = bits_spec(length=3, epsilon="1")
    found = verify_claim(LIMITED[name], spec, seconds=6_000)
    for watch in (Stopwatch, Clock):
        monkeypatch.setattr(watch, "spent", lambda self, real=watch.spent: 50 * real(self))
    slow = verify_claim(LIMITED[name], spec, seconds=6_000)
    assert (slow.outcome, slow.method, str(slow.constant), slow.reason) == (
        found.outcome, found.method, str(found.constant), found.reason,
    )  # fmt: skip
    assert slow.outcome is not Outcome.UNDECIDED


@pytest.mark.parametrize(("most", "stages"), [(1, ["draws"]), (10_000, [])])
def test_the_first_enumeration_ends_after_a_number_of_runs(most, stages, monkeypatch):
    """With few runs a function is sampled before it is enumerated to the end; however fast the machine is."""
    seen = []
    drawn = _Case._drawn
    monkeypatch.setattr(_Case, "_drawn", lambda self, *args, **kwargs: seen.append("draws") or drawn(self, *args, **kwargs))
    monkeypatch.setattr("dpspec_code.case.FIRST_RUNS", most)
    monkeypatch.setattr("dpspec_code.case.FIRST_DRAWS", 500)
    flip = lambda bits, rng: [bit ^ int(rng.random() < 0.25) for bit in bits]  # noqa: E731
    verdict = verify_claim(flip, bits_spec(length=2, epsilon="ln(3)"), seconds=600)
    assert (verdict.outcome, verdict.method) == (Outcome.VERIFIED, "exhaustive")
    assert seen == stages


def test_runs_are_counted_over_all_datasets():
    counter = RunCounter(3)
    enumerate_law(lambda x, rng: int(rng.random() < 0.5), (0,), counter=counter)
    assert counter.made == 3
    with pytest.raises(RunLimitError, match="more than 3 runs"):
        enumerate_law(lambda x, rng: int(rng.random() < 0.5), (1,), counter=counter)
