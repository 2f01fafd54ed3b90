"""sup over alpha of D_alpha / alpha: against a grid, and at the places where a maximiser could go wrong (B-S14)."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from dpspec.base.exact import ln
from dpspec.laws import FiniteDichotomy, FiniteLaw

GRID = [1 + 10 ** (k / 8) for k in range(-40, 24)]


def ratio(atoms: list[tuple[float, float]], alpha: float) -> float:
    largest = max(math.log(p / q) for p, q in atoms if p)
    total = sum(p * math.exp((alpha - 1) * (math.log(p / q) - largest)) for p, q in atoms if p)
    return (math.log(total) / (alpha - 1) + largest) / alpha


def floats(pair: FiniteDichotomy) -> list[tuple[float, float]]:
    return [(float(p), float(q)) for p, q in pair.atoms()]


weights = st.lists(st.integers(1, 200), min_size=4, max_size=4).map(lambda w: FiniteLaw.from_weights(dict(enumerate(w))))


@pytest.mark.reference("B-S14")
@settings(deadline=None)
@given(weights, weights)
def test_never_below_a_grid_and_narrow(p, q):
    pair = p.against(q)
    bracket = pair.concentration()
    assert bracket.lower <= bracket.upper
    if pair.is_identical:
        return
    best = max(ratio(floats(pair), alpha) for alpha in GRID)
    assert best <= float(bracket.upper) * (1 + 1e-9) + 1e-9
    assert float(bracket.upper) - float(bracket.lower) <= 1e-8 * float(bracket.upper)
    assert bracket.lower >= pair.renyi(1).lower or float(pair.renyi(1).lower) - float(bracket.lower) < 1e-15


@pytest.mark.reference("B-S14")
def test_attained_inside():
    """A rare outcome with a large ratio puts the maximiser inside, far above the limit at order 1."""
    pair = FiniteLaw.of({0: "1/1000", 1: "999/1000"}).against(FiniteLaw.of({0: "1/1000000", 1: "999999/1000000"}))
    bracket = pair.concentration()
    assert bracket.lower > pair.renyi(1).upper * 100
    assert bracket.lower > pair.renyi(64).upper / 64
    fine = max((ratio(floats(pair), 1 + k / 1000), k) for k in range(1, 60000))
    assert float(bracket.lower) - 1e-9 <= fine[0] <= float(bracket.upper) + 1e-9
    assert 1 < fine[1] < 59999


@pytest.mark.reference("B-S14")
@pytest.mark.parametrize("chance", ["51/100", "3/5", "3/4", "99/100", "999999/1000000"])
def test_the_limit_is_recognised_exactly(chance):
    pair = FiniteLaw.bernoulli(chance).against(FiniteLaw.bernoulli(1 - Fraction(chance)))
    bracket = pair.concentration()
    assert bracket.is_exact
    assert bracket.lower == pair.renyi(1).lower


@pytest.mark.reference("B-S14")
def test_a_local_maximum_at_the_limit_does_not_hide_a_larger_one():
    """f falls at alpha = 1 and rises later above its limit: three outcomes, one rare and extreme."""
    rare = Fraction(1, 10**9)
    pair = FiniteDichotomy.of(
        [(Fraction(3, 4) - rare, Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4) - rare**8), (rare, rare**8)]
    )
    bracket = pair.concentration()
    limit = pair.renyi(1).lower
    assert max(ratio(floats(pair), alpha) for alpha in GRID) > float(limit) * 1.01
    assert bracket.lower > limit
    assert bracket.lower >= pair.renyi(12).lower / 12


@settings(deadline=None, max_examples=30)
@given(weights, weights)
def test_brackets_are_nested_in_precision(p, q):
    pair = p.against(q)
    coarse, fine = pair.concentration(precision=32), pair.concentration(precision=96)
    assert coarse.lower <= fine.upper
    assert fine.lower <= coarse.upper
    assert float(fine.upper) - float(fine.lower) <= float(coarse.upper) - float(coarse.lower)


@settings(deadline=None, max_examples=50)
@given(weights, weights)
def test_pure_differential_privacy_bounds_concentration(p, q):
    """epsilon both ways implies epsilon^2 / 2."""
    pair = p.against(q)
    epsilon = max(float(pair.max_log_ratio().lower), float(pair.reverse().max_log_ratio().lower))
    assert float(pair.concentration().upper) <= epsilon**2 / 2 + 1e-9
    assert pair.concentration().upper <= pair.max_log_ratio().upper


def test_nearly_equal_laws():
    pair = FiniteLaw.from_weights({0: 10**15, 1: 10**15 + 1}).against(FiniteLaw.from_weights({0: 1, 1: 1}))
    bracket = pair.concentration()
    assert bracket.lower > 0
    assert bracket.upper < Fraction(1, 10**30)
    assert float(bracket.upper) == pytest.approx(1.25e-31, rel=1e-6)


def test_binary_pairs_in_both_directions():
    pair = FiniteLaw.of({0: "1/2", 1: "1/2"}).against(FiniteLaw.of({0: "1/4", 1: "3/4"}))
    assert pair.reverse().concentration().lower == ln("3/2") * Fraction(3, 4) - ln(2) / 4
    both = pair.concentration()
    assert not both.is_exact
    assert pair.renyi(1).lower < both.lower


@pytest.mark.reference("B-S14")
@pytest.mark.parametrize("k", range(9460, 9500, 2))
def test_a_maximiser_next_to_the_limit_is_not_taken_for_it(k):
    """Around y = 0.9475 the slope of f at order 1 changes sign; just above it the maximiser is at alpha = 1 + a little."""
    x, y = Fraction(3, 10), Fraction(k, 10000)
    pair = FiniteLaw.bernoulli(x).against(FiniteLaw.bernoulli(y))
    up, down = math.log(x / y), math.log((1 - x) / (1 - y))
    first, second = float(x) * up + float(1 - x) * down, float(x * (1 - x)) * (up - down) ** 2
    bracket, limit = pair.concentration(), pair.renyi(1).lower
    assert bracket.is_exact == (second < 2 * first)
    if second > 2 * first:
        assert bracket.lower > limit
    assert float(bracket.upper) - float(bracket.lower) < 1e-9


@pytest.mark.slow
def test_widths_on_many_small_pairs():
    """Every pair of laws with weights 1, 2, 5, 9 on three outcomes reaches the promised relative width."""
    laws = [FiniteLaw.from_weights({0: a, 1: b, 2: c}) for a in (1, 2, 5, 9) for b in (1, 2, 5, 9) for c in (1, 9)]
    for p in laws:
        for q in laws:
            if p == q:
                continue
            bracket = p.against(q).concentration()
            best = max(ratio(floats(p.against(q)), alpha) for alpha in (1.0001, 1.1, 1.5, 2, 3, 5, 20))
            assert best <= float(bracket.upper) * (1 + 1e-9)
            assert float(bracket.upper) - float(bracket.lower) <= 1e-9 * float(bracket.upper)
