"""Releases counted by their privacy losses: against joint laws made from the definition, and numbers from closed forms."""

import math
from fractions import Fraction

import pytest
from dpspec_divergences.output import DNor, Mult, MultDelta, TotalVariation
from dpspec_divergences.trade_off import GaussianTradeOff, HockeyStick, TradeOffSteps
from hypothesis import given, strategies as st

import dpspec
from dpspec.base.errors import NoCompositionError, NoFormulaError, ParameterError
from dpspec.base.exact import ln, number
from dpspec.comparison.composition import account
from dpspec.laws.law import FiniteLaw
from tests.ledger.test_composition import HOMES, SPECS, parts, spec

DOMINATED = [
    Mult(), MultDelta(delta="1/10"), MultDelta(delta="1/3"), TotalVariation(), HockeyStick(epsilon="ln(2)"), GaussianTradeOff(),
    TradeOffSteps(epsilon="ln(3)", delta="1/10"),
]  # fmt: skip

weights = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=2, max_size=3)
"""The weights of two laws on the same outcomes."""


def joint(laws):
    """The probabilities of independent outcomes, from the definition."""
    found = [Fraction(1)]
    for single in laws:
        found = [before * Fraction(weight, sum(single)) for before in found for weight in single]
    return found


def stick(p, q, ratio):
    """sup over events of P(S) - ratio Q(S)."""
    return sum(max(Fraction(0), a - ratio * b) for a, b in zip(p, q, strict=True))


@pytest.mark.spread(4)
@pytest.mark.parametrize("divergence", DOMINATED, ids=str)
@given(pairs=st.lists(weights, min_size=1, max_size=3), ratio=st.sampled_from([1, 2, 3, 7]))
def test_no_joint_release_shows_more(divergence, pairs, ratio):
    """Each pair of laws spends some budget of the divergence; the account of these budgets covers the joint laws, both ways."""
    laws = [([p for p, _ in both], [q for _, q in both]) for both in pairs]
    spent = [divergence.between(*(FiniteLaw.from_weights(dict(enumerate(weights))) for weights in pair)).upper for pair in laws]
    try:
        found = account(parts(*(spec(value, divergence=divergence) for value in spent)), [1] * len(spent), epsilon=ln(ratio))
    except NoFormulaError:  # a budget that is infinite, or too large to be written down
        return
    p, q = joint([p for p, _ in laws]), joint([q for _, q in laws])
    assert number(max(stick(p, q, ratio), stick(q, p, ratio))) <= found.value.upper


@pytest.mark.parametrize("delta", ["0", "1/50"])
@pytest.mark.parametrize("times", [1, 2, 5, 12])
def test_randomised_responses_are_counted_exactly(times, delta):
    """k answers of odds 3 that give everything away with probability d: the sum over how many of them are heads."""
    divergence, given_away = MultDelta(delta=delta), Fraction(delta)
    found = account(parts(spec("ln(3)", divergence=divergence)), [times], epsilon=ln(9))
    heads, tails = (1 - given_away) * Fraction(3, 4), (1 - given_away) * Fraction(1, 4)
    seen = 1 - (1 - given_away) ** times
    plain = sum(
        math.comb(times, k) * max(Fraction(0), heads**k * tails ** (times - k) - 9 * tails**k * heads ** (times - k))
        for k in range(times + 1)
    )
    assert found.value.lower <= number(seen + plain) <= found.value.upper
    assert float((found.value.upper - found.value.lower).enclose()) < 1e-9


def test_gaussians_are_one_gaussian():
    """Four times mu = 1 is mu = 2: delta = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu) (Balle and Wang 2018, Theorem 8)."""
    found = account(parts(spec("1", divergence=GaussianTradeOff())), [4], epsilon=3)

    def phi(x):
        return math.erfc(-x / math.sqrt(2)) / 2

    assert float(found.value.upper.enclose()) == pytest.approx(phi(1 - 1.5) - math.exp(3) * phi(-1 - 1.5), rel=1e-9)


def test_the_epsilon_is_below_the_sum_and_its_delta_is_the_one_asked_for():
    mixed = parts(spec("ln(3)"), spec("1/2", divergence=MultDelta(delta="1e-8")), spec("1/2", divergence=GaussianTradeOff()))
    found = account(mixed, [40, 10, 3], delta="1e-6")
    assert found.wanted == "epsilon"
    assert found.value.upper < 40 * ln(3) + number(10)
    again = account(mixed, [40, 10, 3], epsilon=found.value.upper)
    assert again.wanted == "delta"
    assert again.value.lower <= number("1e-6")
    assert again.value.upper >= number("99/100") * Fraction(1, 10**6)


def test_what_cannot_be_counted_is_refused():
    with pytest.raises(NoCompositionError, match="part-1 is zero-concentrated differential privacy"):
        account(parts(spec("1"), spec("1", divergence=DNor())), [1, 1], delta="1e-6")
    with pytest.raises(NoCompositionError, match="space"):
        account(parts(spec("1"), spec("1", space=HOMES)), [1, 1], delta="1e-6")
    for asked in ({}, {"delta": "1e-6", "epsilon": 1}, {"delta": 1}, {"epsilon": -1}, {"epsilon": "inf"}):
        with pytest.raises(ParameterError):
            account(parts(spec("1")), [1], **asked)
    for times in ([0], [1, 1], [10**7], ["x"]):
        with pytest.raises(ParameterError, match="times"):
            account(parts(spec("1")), times, delta="1e-6")


def test_the_function_for_python():
    found = dpspec.compose(SPECS / "randomised-response.dpspec.toml", times=[100], delta="1e-6")
    assert number("94.28") < found.value.lower <= found.value.upper < number("94.29")
