"""What the attackers share: the log-ratio behind a budget, beliefs after a ratio, and how often a release shows the truth."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from dpspec_attackers.semantics import at, exponential, growth, loss_bound, posterior, pure_bound, said
from dpspec_divergences import DNor, HockeyStick, Mult, MultDelta, TotalVariation

from dpspec.base.exact import INFINITY, Bracket, ln, number
from dpspec.grammar.attacker import Sense


@pytest.mark.parametrize(
    ("divergence", "bound", "along", "once"),
    [
        (Mult(), "ln(3)", "ln(3)", "ln(3)"), (Mult(), "inf", "inf", "inf"), (MultDelta(delta=0), "ln(3)", "ln(3)", "ln(3)"),
        (MultDelta(delta="1/10"), "ln(3)", "inf", "inf"), (MultDelta(delta="1/10"), 0, "inf", "inf"), (DNor(), 1, "inf", "inf"),
        (DNor(), 0, "0", "0"), (TotalVariation(), 0, "0", "0"), (TotalVariation(), "1/2", "inf", "inf"),
        (HockeyStick(epsilon="ln(3)"), 0, "inf", "ln(3)"), (HockeyStick(epsilon="ln(3)"), "1/10", "inf", "inf"),
    ],
)  # fmt: skip
def test_the_log_ratio_behind_a_budget(divergence: Any, bound: Any, along: str, once: str) -> None:
    assert str(pure_bound(divergence, number(bound))) == along
    assert str(loss_bound(divergence, number(bound))) == once


@pytest.mark.parametrize("prior", [Fraction(1, 100), Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("ratio", [Fraction(1), Fraction(3), Fraction(1, 7)])
def test_beliefs_follow_bayes(ratio: Fraction, prior: Fraction) -> None:
    found = posterior(Bracket.exactly(ratio), prior)
    assert found == Bracket.exactly(prior * ratio / (prior * ratio + (1 - prior)))


def test_beliefs_after_uncertain_ratios_hold_both_ends() -> None:
    wide = posterior(Bracket(lower=number(2), upper=number(3)), Fraction(1, 4))
    assert wide.lower <= Fraction(2, 5)
    assert wide.upper >= Fraction(1, 2)
    assert float(wide.upper) == pytest.approx(0.5, abs=1e-8)
    assert posterior(Bracket.exactly(INFINITY), Fraction(1, 4)) == Bracket.exactly(1)
    open_ended = posterior(Bracket(lower=number(1), upper=INFINITY), Fraction(1, 4))
    assert open_ended.lower <= Fraction(1, 4) < open_ended.upper
    assert open_ended.upper >= 1
    rough = posterior(exponential(number(1)), Fraction(1, 2))
    assert float(rough.lower) <= math.e / (1 + math.e) + 1e-15
    assert float(rough.upper) >= math.e / (1 + math.e) - 1e-15


def test_exponentials() -> None:
    assert exponential(ln(3)) == Bracket.exactly(3)
    assert exponential(number(0)) == Bracket.exactly(1)
    assert exponential(INFINITY).lower.is_infinite
    e = exponential(number(1))
    assert float(e.lower) <= math.e <= float(e.upper) + 1e-15
    assert e.lower < e.upper


def test_no_release_speaks_louder_than_the_log_ratio() -> None:
    assert growth(Mult(), ln(3), Fraction(4)) == Bracket.exactly(0)
    assert growth(Mult(), ln(3), Fraction(2)).upper > 0
    assert growth(Mult(), INFINITY, Fraction(4)) == Bracket.exactly(1)
    leaky = growth(MultDelta(delta="1/10"), ln(3), Fraction(4))
    assert leaky.upper >= Fraction(1, 10)


def test_statements() -> None:
    made = said("power", at(level="1/20", known_records=3), Sense.AT_MOST, "1/2", "a theorem", "none", trivial=1)
    assert made.at == (("level", "1/20"), ("known records", "3"))
    assert made.value == Bracket.exactly("1/2")
    assert made.trivial == number(1)
    assert said("odds", (), Sense.EQUALS, Bracket.exactly(2), "", "").trivial is None
