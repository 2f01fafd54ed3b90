"""Counterfactuals and intervals of the score of an attack."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from types import SimpleNamespace

import pytest
from dpspec_attackers.experiment import AttackResult, AttackScore, _parts, clopper_pearson

from dpspec.report import terminal as pages


@pytest.mark.parametrize(("hits", "of"), [(0, 1), (1, 1), (0, 20), (3, 20), (20, 20), (50, 200)])
def test_the_interval_inverts_the_binomial_tails(hits: int, of: int) -> None:
    low, high = clopper_pearson(hits, of)

    def tail(p: Fraction, counts: range) -> float:
        return sum(comb(of, k) * float(p) ** k * float(1 - p) ** (of - k) for k in counts)

    assert tail(low, range(hits, of + 1)) <= 0.025 + 1e-9 or hits == 0
    assert tail(high, range(hits + 1)) <= 0.025 + 1e-9 or hits == of
    step = Fraction(1, 1 << 18)
    assert low == 0 or tail(low + step, range(hits, of + 1)) > 0.025
    assert high == 1 or tail(high - step, range(hits + 1)) > 0.025


# --- the headline ----------------------------------------------------------------------------------


def headline(*gains: tuple[str, float, float, float], confidence: str = "19/20") -> str:
    """The text of results with these gains, each with its interval."""
    score = AttackScore(
        value=Fraction(1, 2), interval=(Fraction(0), Fraction(1)), hits=10, claims=Fraction(0), true_claims=Fraction(0)
    )
    found = [
        AttackResult(
            attacker=SimpleNamespace(name=name), with_record=score, without_record=score, gain=Fraction(gain),
            gain_interval=(Fraction(low), Fraction(high)), undecided=0,
        )
        for name, gain, low, high in gains
    ]  # fmt: skip
    data = {
        "method": "simulated", "table": {"unit": "person", "records": 9, "outside": False}, "specification": "s", "secret": ["a"],
        "known": [],
        "not_run": [], "confidence": confidence, "targets": 20, "release": False, "seed": 1,
    }  # fmt: skip
    return " ".join(pages.drawn(*_parts(data, found), plain=True).split())


def test_the_headline_does_not_hide_an_attack_that_was_shown_to_gain():
    """The one with the largest estimate is not shown to gain, and another one is."""
    said = headline(("loud", 0.2, -0.1, 0.5), ("sure", 0.1, 0.05, 0.15))
    assert said.startswith("An attack that was shown to gain is sure: the target's own record adds +10 percentage points")
    assert headline(("sure", 0.2, 0.05, 0.35), ("loud", 0.1, -0.1, 0.3)).startswith("Most is gained by sure")
    said = headline(("loud", 0.2, -0.1, 0.5), ("quiet", 0.1, -0.05, 0.15))
    assert said.startswith("No attack was shown to gain by the target's own record: that of loud gains between -10")


def test_no_interval_is_said_to_hold_in_all_cases():
    assert "Intervals of 99.99 % each" in headline(("a", 0.2, 0.1, 0.3), confidence="9999/10000")
    assert "100 %" not in headline(("a", 0.2, 0.1, 0.3), confidence="9999999/10000000").partition("Intervals")[2]
