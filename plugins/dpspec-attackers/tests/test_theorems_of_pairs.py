"""Theorems about two laws over random worlds: tails and deltas, tests of one against the other, and what processing does."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from dpspec_attackers.knowledge import approximate, concentrated, pbdp as pbdp_of, tail as tail_of
from dpspec_attackers.membership import difference_bound, highest_posterior, lowest_posterior, posterior_law
from hypothesis import strategies as st

from dpspec.base.exact import Bracket, ln
from dpspec.laws.trade_off import TradeOff, largest_power
from tests.risk.theorems import (
    PRIORS,
    RATIOS,
    SHARES,
    both,
    excess,
    in_worlds,
    laws,
    moment,
    pairs,
    pbdp,
    processed,
    tail,
    theorem,
    top,
)

TESTS = st.lists(st.integers(0, 8).map(lambda k: Fraction(k, 8)), min_size=4, max_size=4)


def probability(side, test):
    """Of rejecting, by a randomised test."""
    return sum((mass * share for mass, share in zip(side, test, strict=False)), Fraction(0))


# -- deltas and tails -----------------------------------------------------------------------------


@theorem("K-T4", "K-T32", "K-T2", "K-T3", "Z-T22", "Z-T23", pair=pairs(), ratio=RATIOS)
def the_four_deltas(pair, ratio):
    """Infinite loss <= approximate <= tail <= pbdp; with no tail the privacy is pure, and the delta at 0 is a distance."""
    gone = sum((p for p, q in zip(*pair, strict=True) if not q), Fraction(0))
    four = gone, excess(pair, ratio), tail(pair, ratio), pbdp(pair, ratio)
    assert all(one <= other for one, other in itertools.pairwise(four))
    assert (tail(pair, ratio) == 0) == (excess(pair, ratio) == 0) == (top(pair) is not None and top(pair) <= ratio)
    events = itertools.product((0, 1), repeat=len(pair[0]))
    assert excess(pair, Fraction(1)) == max(abs(probability(pair[0], s) - probability(pair[1], s)) for s in events)
    forth = laws(pair)[0].against(laws(pair)[1])
    for kind, by_hand in ((approximate, excess), (tail_of, tail), (pbdp_of, pbdp)):
        found, value = kind(forth, ln(ratio)).value, max(by_hand(way, ratio) for way in both(pair))
        assert found.lower <= value <= found.upper
        assert found.upper.as_fraction() - found.lower.as_fraction() < Fraction(1, 10**9)


@theorem("Z-T39", "K-T3", pair=pairs(), ratio=RATIOS)
def three_expressions_of_delta(pair, ratio):
    """P(Z > e) - e^e P(-Z' > e) = E max(0, 1 - e^(e - Z)) = the largest gain of an event."""
    p, q = pair
    under_q = sum((b for a, b in zip(p, q, strict=True) if a > ratio * b), Fraction(0))
    mean = sum((a * max(1 - ratio * b / a, Fraction(0)) for a, b in zip(p, q, strict=True) if a), Fraction(0))
    assert tail(pair, ratio) - ratio * under_q == mean == excess(pair, ratio)
    events = itertools.product((0, 1), repeat=len(p))
    assert mean == max(probability(p, s) - ratio * probability(q, s) for s in events)


@theorem("K-T13", "K-T32", "K-S12", pair=pairs(1), ratio=RATIOS)
def tails_of_renyi_privacy(pair, ratio):
    """e^((order - 1)(gamma - epsilon)) bounds the delta of pbdp, so the tail of everything that is made of the output."""
    for order in (2, 3, 5):
        assert pbdp(pair, ratio) * ratio ** (order - 1) <= moment(pair, order)


@theorem("K-T13", "K-T32", "K-S12", pair=pairs(1), ratio=RATIOS)
def tails_of_concentrated_privacy(pair, ratio):
    """e^(-(epsilon - rho)^2/(4 rho)) above rho, for the least rho that holds in both orders."""
    forth = laws(pair)[0].against(laws(pair)[1])
    rho = max(forth.concentration().upper, forth.reverse().concentration().upper)
    if rho > 0:
        bound = concentrated(rho, ln(ratio)).value.upper
        assert max(pbdp(way, ratio) for way in both(pair)) <= bound
        for order in (2, 3):  # rho is none too small: D_order <= order rho
            assert all(ln(moment(way, order)) <= rho * order * (order - 1) for way in both(pair))


@theorem("K-T11", "K-T7", "K-T10", pair=pairs(1), share=SHARES)
def a_curve_and_its_pbdp(pair, share):
    """epsilon(delta) = ln(delta/f^-1(1 - delta)) is the loss at which pbdp has that delta: no more there, no less below."""
    least = TradeOff.of(laws(pair)[1].against(laws(pair)[0])).inverse().at(1 - share)  # the least Q(A) with P(A) = share
    ratio = share / least
    assert ratio >= 1
    assert pbdp(pair, ratio) <= share
    for smaller in (ratio * Fraction(99, 100), ratio * Fraction(9, 10)):
        if smaller > 1:
            assert pbdp(pair, smaller) >= share


# -- processing and mixing ------------------------------------------------------------------------

KERNELS = st.lists(
    st.lists(st.integers(0, 6), min_size=3, max_size=3).filter(any).map(lambda w: tuple(Fraction(x, sum(w)) for x in w)),
    min_size=4,
    max_size=4,
)


@theorem("K-T10", "K-T14", "K-T15", "K-D19", "K-T9", pair=pairs(1), kernel=KERNELS, ratio=RATIOS)
def processing_costs_nothing(pair, kernel, ratio):
    """Pure, approximate, Renyi and pbdp; the raw tail may grow, but never beyond pbdp."""
    after = processed(pair, kernel[: len(pair[0])])
    assert top(after) <= top(pair)
    assert excess(after, ratio) <= excess(pair, ratio)
    assert tail(after, ratio) <= pbdp(after, ratio) <= pbdp(pair, ratio)
    assert all(moment(after, order) <= moment(pair, order) for order in (2, 3))
    assert TradeOff.of(laws(after)[0].against(laws(after)[1])) >= TradeOff.of(laws(pair)[0].against(laws(pair)[1]))


@theorem("K-T21", "K-D20", "K-T22", one=pairs(1), other=pairs(1), coin=PRIORS, ratio=RATIOS, levels=st.tuples(SHARES, SHARES))
def a_coin_between_two_mechanisms(one, other, coin, ratio, levels):
    """Convexity: the coin shown or hidden, no parameter grows; so the largest power is concave in the level."""
    shown = tuple(
        tuple(coin * a for a in left) + tuple((1 - coin) * b for b in right) for left, right in zip(one, other, strict=True)
    )
    size = max(len(one[0]), len(other[0]))
    padded = [tuple((*side, *(Fraction(0),) * (size - len(side))) for side in pair) for pair in (one, other)]
    hidden = tuple(
        tuple(coin * a + (1 - coin) * b for a, b in zip(padded[0][side], padded[1][side], strict=True)) for side in (0, 1)
    )
    for mixed in (shown, hidden):
        assert top(mixed) <= max(top(one), top(other))
        assert excess(mixed, ratio) <= max(excess(one, ratio), excess(other, ratio))
        assert moment(mixed, 2) <= max(moment(one, 2), moment(other, 2))
    powers = [
        largest_power(laws(pair)[0].against(laws(pair)[1]), level).lower for pair, level in zip((one, other), levels, strict=True)
    ]
    together = coin * levels[0] + (1 - coin) * levels[1]
    allowed = 1 - TradeOff.approximate(ratio, max(excess(way, ratio) for pair in (one, other) for way in both(pair))).at(together)
    assert coin * powers[0].as_fraction() + (1 - coin) * powers[1].as_fraction() <= allowed


# -- tests ----------------------------------------------------------------------------------------


@theorem("K-T20", "K-T17", "K-T18", "K-D5", pair=pairs(), test=TESTS, ratio=RATIOS)
def powers_of_any_test(pair, test, ratio):
    """f(1 - a) <= power <= 1 - f(a) and a <= 1 - f(power), for the least curve of both orders and for approximate privacy."""
    level, power = (probability(side, test) for side in pair)
    forth, back = (TradeOff.of(laws(way)[0].against(laws(way)[1])) for way in both(pair))
    assert power <= 1 - forth.at(level)
    assert level <= 1 - back.at(power)
    assert forth.inverse() == back
    delta = max(excess(way, ratio) for way in both(pair))
    curve = TradeOff.approximate(ratio, delta)
    assert curve <= forth
    assert curve <= back
    assert curve.at(1 - level) <= power <= 1 - curve.at(level)
    assert level <= ratio * power + delta
    assert 1 - level <= ratio * (1 - power) + delta


@theorem("K-T19", "K-A6", pair=pairs(1), test=TESTS)
def powers_under_renyi_privacy(pair, test):
    """The two outcomes of a test are at most as far apart as the laws, at every order and in both ways."""
    level, power = (probability(side, test) for side in pair)
    if 0 < level < 1 and 0 < power < 1:
        decided = (level, 1 - level), (power, 1 - power)
        for order, way in itertools.product((2, 3, 7), (0, 1)):
            assert moment(both(decided)[way], order) <= moment(both(pair)[way], order)


# -- one Bayesian step ----------------------------------------------------------------------------


@theorem("Z-T27", "Z-T30", "Z-T61", "Z-T32", "Z-T33", "Z-T34", "Z-P9", pair=pairs(1), prior=PRIORS)
def posteriors_of_pure_privacy(pair, prior):
    """Exact Bayes stays within L and U, within the bound on the difference, and the belief in absence within its own."""
    ratio = max(top(way) for way in both(pair))
    low, high = lowest_posterior(prior, ln(ratio)), highest_posterior(prior, ln(ratio))
    reach = difference_bound(ln(ratio))
    for p, q in zip(*pair, strict=True):
        belief = prior * p / (prior * p + (1 - prior) * q)
        assert low.upper >= prior / (prior + (1 - prior) * ratio)
        assert low.lower <= belief <= high.upper
        assert 1 / ratio <= belief / prior <= ratio
        assert Bracket.exactly(abs(belief - prior)).lower <= reach.upper
        absent = (1 - belief) / (1 - prior)
        assert 1 / (prior * ratio + 1 - prior) <= absent <= 1 / (prior / ratio + 1 - prior)
    found = dict(posterior_law(laws(pair)[0].against(laws(pair)[1]), prior, "out"))
    assert sum(value * mass for value, mass in found.items()) <= prior
    assert sum(found.values()) == 1


THEOREMS = (
    the_four_deltas, three_expressions_of_delta, tails_of_renyi_privacy, tails_of_concentrated_privacy, a_curve_and_its_pbdp,
    processing_costs_nothing, a_coin_between_two_mechanisms, powers_of_any_test, powers_under_renyi_privacy,
    posteriors_of_pure_privacy,
)  # fmt: skip


@pytest.mark.spread(4)
@pytest.mark.parametrize(("declared", "count"), in_worlds(*THEOREMS))
def test_in_random_worlds(declared, count):
    declared.check(count)
