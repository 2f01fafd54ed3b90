"""Plain functions through the one entry: exact where it can be, and never refuted by the rounding of a claim."""

from __future__ import annotations

from typing import Any

import pytest

from dpspec.base.exact import ln
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.verdict import Outcome
from tests.verify.toys import bits_spec

LN2 = 0.6931471805599453
"""The double next to ln 2; the decimal that it prints is below ln 2."""


def flip(bits: tuple[int, ...], rng: Any) -> list[int]:
    return [bit ^ int(rng.integers(3) == 0) for bit in bits]


def test_a_claim_that_was_rounded_down_is_not_refuted() -> None:
    assert ln(2) > bits_spec(epsilon=LN2).budget.uniform()
    found = verify_claim(flip, bits_spec(length=2, epsilon=LN2), draws=2000)
    assert found.outcome is Outcome.UNDECIDED


@pytest.mark.parametrize("epsilon", ["0.6931", "0", 0.693147])
def test_a_claim_that_is_wrong_is_refuted_exactly(epsilon: Any) -> None:
    found = verify_claim(flip, bits_spec(length=2, epsilon=epsilon))
    assert (found.outcome, found.method) == (Outcome.REFUTED, "exhaustive")


def test_a_right_claim_is_verified_exactly() -> None:
    found = verify_claim(flip, bits_spec(length=2, epsilon="ln(2)"))
    assert (found.outcome, found.method) == (Outcome.VERIFIED, "exhaustive")
    assert found.universes[0].is_tight


def test_infinite_losses_are_refuted_whatever_the_claim() -> None:
    def leak(bits: tuple[int, ...], rng: Any) -> int:
        return bits[0] * (1 + int(rng.integers(2)))

    assert verify_claim(leak, bits_spec(length=2, epsilon=1000)).outcome is Outcome.REFUTED
