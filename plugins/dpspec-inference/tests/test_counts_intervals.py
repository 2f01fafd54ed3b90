"""Posteriors between two doubles, against the ball arithmetic of the single numbers, also where doubles end."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from dpspec_inference import block, block as intervals
from hypothesis import example, given, strategies as st

from dpspec.base.errors import CertainTargetError

rhos = st.integers(-6, 3).flatmap(
    lambda power: st.fractions("1/10", 1, max_denominator=997).map(lambda r: r * Fraction(10) ** power)
)
priors = st.one_of(
    st.fractions(Fraction(1, 10**6), 1 - Fraction(1, 10**6), max_denominator=10**6),
    st.integers(1, 900).map(lambda digits: Fraction(1, 10**digits)),
    st.integers(1, 900).map(lambda digits: 1 - Fraction(1, 10**digits)),
)
released = st.one_of(st.integers(-50, 50), st.integers(-2000, 2000))


def enclosed(bracket, known):
    """Whether an interval holds the true number, which lies in a much narrower bracket."""
    return bracket.lower <= known.upper and known.lower <= bracket.upper


@pytest.mark.reference("Z-D15", "Z-D16")
@given(released, rhos, priors)
@example(351, Fraction(1), Fraction(1, 2))
@example(-349, Fraction(1), Fraction(1, 2))
def test_every_posterior_is_enclosed(value, rho, prior):
    found = intervals.posteriors([value], rho, [prior])
    assert 0 <= found.lower[0, 0] <= found.upper[0, 0] <= 1
    assert enclosed(found.bracket(0, 0), block.posterior(value, rho, prior, precision=256))


@pytest.mark.reference("Z-D17")
@given(rhos.filter(lambda rho: rho > Fraction(1, 2000)), st.lists(priors, min_size=1, max_size=3))
@example(Fraction(1000), [Fraction(1, 10**800)])
@example(Fraction(48), [Fraction(1, 2)])
def test_every_mean_is_enclosed(rho, priors):
    found = intervals.mean_posteriors(rho, priors)
    for row, prior in enumerate(priors):
        assert enclosed(found.bracket(row), block.marginal_posterior(rho, prior))


@given(st.integers(-400, 400), rhos.filter(lambda rho: rho > Fraction(1, 2000)))
def test_every_mass_is_enclosed(value, rho):
    found = intervals.masses([value], rho)
    assert 0 <= found.lower[0] <= found.upper[0] <= 1
    assert enclosed(found.bracket(0), block.mass(value, rho))


def test_the_intervals_are_narrow():
    levels = [Fraction(1, n) for n in (2, 5, 10, 50, 864)]
    for rho in (Fraction("0.0992"), Fraction(1), Fraction("0.001")):
        single = intervals.posteriors(range(-20, 21), rho, levels)
        assert np.max(single.upper / single.lower - 1) < 1e-12
        mean = intervals.mean_posteriors(rho, levels)
        assert np.max(mean.upper / mean.lower - 1) < 1e-11


@pytest.mark.parametrize("prior", [Fraction(1, 2), Fraction(1, 10**800)])
def test_where_doubles_know_nothing_any_more(prior):
    """Losses of 2^51 and more, whose rounding alone is a factor of the odds."""
    found = intervals.posteriors([-(2**50), 2**50], Fraction(7, 3), [prior])
    assert (found.lower[0, 0], found.upper[0, 1]) == (0, 1)
    assert found.lower[0, 1] <= 1
    assert found.upper[0, 0] >= 0
    assert intervals.masses([2**50], Fraction(7, 3)).lower[0] == 0


def test_so_much_noise_that_not_all_of_it_is_summed():
    """rho = 10^-12: one outcome tells next to nothing, and the mean is the prior."""
    found = intervals.mean_posteriors(Fraction(1, 10**12), [Fraction(1, 5)])
    assert found.lower[0] <= 0.2 <= found.upper[0]


def test_a_certain_prior_is_refused_in_a_table():
    with pytest.raises(CertainTargetError):
        block.table("0.0992", ["1/2", "1"], [1])
