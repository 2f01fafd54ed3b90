"""One entry: mechanisms and plain functions, the strongest method that applies."""

from typing import Any

import pytest
from numpy.random import Generator

from dpspec import verify_claim
from dpspec.exact import ln
from dpspec.verify.verdict import Outcome
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
        (lambda bits, rng: sum(bits) + rng.laplace(0, 1), Outcome.UNDECIDED),
        (lambda bits, rng: sum(bits) + rng.laplace(0, 0.4), Outcome.REFUTED),
    ],
)
def test_continuous_noise_is_sampled_and_never_verified(function: Any, outcome: Outcome) -> None:
    verdict = verify_claim(function, bits_spec(epsilon=1), draws=60_000)
    assert (verdict.outcome, verdict.method) == (outcome, "sampled")


@pytest.mark.parametrize(
    "function",
    [
        lambda bits, rng: rng.random(),
        lambda bits, rng: [rng.random()],
        lambda bits, rng: object(),
        lambda bits, rng: rng.random() * 0 + 1 if rng.random() < 0.5 else rng.normal(),
    ],
)
def test_what_does_not_look_at_the_data_is_never_refuted(function: Any) -> None:
    assert verify_claim(function, bits_spec(length=2, epsilon=0), draws=20_000).outcome is not Outcome.REFUTED


def test_the_same_seed_gives_the_same_verdict() -> None:
    def noisy(bits: list[int], rng: Generator) -> float:
        return float(sum(bits) + rng.laplace(0, 0.5))

    first, second = (verify_claim(noisy, bits_spec(epsilon=1), seed=3, draws=60_000) for _ in range(2))
    assert first == second
