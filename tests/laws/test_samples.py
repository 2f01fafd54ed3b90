"""Pairs of a release on a random sample, against the mixtures of finite laws written out."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from dpspec.base.exact import ln, number
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.law import FiniteLaw
from dpspec.laws.samples import drawn, sampled

FUNCTIONALS = {
    "largest loss": lambda pair: pair.max_log_ratio(),
    "total variation": lambda pair: pair.hockey_stick(0),
    "hockey stick at 1/3": lambda pair: pair.hockey_stick(number("1/3")),
    "hockey stick at ln(3/2)": lambda pair: pair.hockey_stick(ln(Fraction(3, 2))),
    "epsilon at 1/20": lambda pair: pair.epsilon_at(Fraction(1, 20)),
    "order 2": lambda pair: pair.renyi(2),
    "order 5/2": lambda pair: pair.renyi(Fraction(5, 2)),
    "order 3": lambda pair: pair.renyi(3),
    "concentration": lambda pair: pair.concentration(),
    "singular": lambda pair: pair.singular_mass(),
}
ONE_SIDED = {"order 2", "order 5/2", "order 3", "concentration"}
"""Of these only bounds are known, except for integer orders of the mixture against the law without the record."""


@pytest.mark.slow
def test_the_mixtures_written_out_agree() -> None:
    lot = random.Random(1)
    for _ in range(50):
        size = lot.choice((2, 3, 4))
        weights = [[lot.randint(0, 5) for _ in range(size)] for _ in range(2)]
        if not all(map(sum, weights)):
            continue
        without, with_it = (FiniteLaw.of({i: Fraction(w, sum(one)) for i, w in enumerate(one)}) for one in weights)
        rate = Fraction(lot.randint(1, 9), 10)
        mixed = FiniteLaw.of({i: (1 - rate) * without.probability(i) + rate * with_it.probability(i) for i in range(size)})
        pair = sampled(without.against(with_it), rate)
        compare(pair, without.against(mixed), exact=FUNCTIONALS.keys() - ONE_SIDED)
        compare(pair.reverse(), mixed.against(without), exact=FUNCTIONALS.keys() - {"order 5/2", "concentration"})


def compare(found: Dichotomy, truth: Dichotomy, exact: set[str]) -> None:
    for name, functional in FUNCTIONALS.items():
        mine, true = functional(found), functional(truth)
        assert mine.lower <= true.upper, name
        assert true.lower <= mine.upper, name
        if name in exact and not true.lower.is_infinite:
            assert float(mine.upper) - float(mine.lower) < 1e-9, name


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(9, 10)])
@pytest.mark.parametrize(
    "weights", [((6, 3, 1), (1, 3, 6)), ((8, 1, 1), (1, 4, 5)), ((1, 4, 5), (8, 1, 1)), ((5, 5, 0), (1, 4, 5))]
)
def test_no_sample_of_a_fixed_size_is_farther_apart_than_its_pair(weights: tuple[tuple[int, ...], ...], rate: Fraction) -> None:
    """Whichever of two laws the samples with the record have, and in either order: the mixtures are written out."""
    one, other = (FiniteLaw.of({i: Fraction(weight, 10) for i, weight in enumerate(law)}) for law in weights)
    bound = drawn(one.against(other), rate)
    for name, functional in FUNCTIONALS.items():
        for without, with_it in ((one, other), (other, one)):
            mixed = FiniteLaw.of({i: (1 - rate) * without.probability(i) + rate * with_it.probability(i) for i in range(3)})
            for truth in (without.against(mixed), mixed.against(without)):
                assert functional(truth).lower <= functional(bound).upper, name
