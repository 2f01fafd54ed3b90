"""Adaptive laws against the joint law written out, and against sums of masses in doubles."""

from __future__ import annotations

import math

import pytest

from dpspec.base.errors import NoFormulaError
from dpspec.base.exact import INFINITY, number
from dpspec.laws import Adaptive, DiscreteGaussianLaw, FiniteLaw, Product, PushForward

COIN, BIASED, SURE = FiniteLaw.bernoulli("1/2"), FiniteLaw.bernoulli("7/9"), FiniteLaw.point(1)
DIE = FiniteLaw.of({0: "1/5", 1: "1/2", 2: "3/10"})
OTHER = FiniteLaw.of({0: "2/5", 1: "1/3", 2: "4/15"})
ORDERS = ("1", "3/2", "2", "7/2", "9")


def joint(law):
    """The same law as a finite law on pairs."""
    follows = dict(law.then)
    chances = [(i, w) for i, w in law.first.probabilities()]
    return FiniteLaw.of({(i, y): w * p for i, w in chances for y, p in follows[i].probabilities()})


PAIRS = [
    (Adaptive(COIN, ((0, DIE), (1, BIASED))), Adaptive(BIASED, ((0, OTHER), (1, COIN)))),
    (Adaptive(DIE, ((0, COIN), (1, DIE), (2, SURE))), Adaptive(OTHER, ((0, BIASED), (1, OTHER), (2, SURE)))),
    (Adaptive(COIN, ((0, DIE), (1, COIN))), Adaptive(COIN, ((0, OTHER), (1, COIN)))),
]
SINGULAR = [
    (Adaptive(COIN, ((0, DIE), (1, COIN))), Adaptive(SURE, ((0, OTHER), (1, BIASED)))),
    (Adaptive(DIE, ((0, COIN), (1, COIN), (2, COIN))), Adaptive(OTHER, ((0, SURE), (1, BIASED), (2, COIN)))),
]


def near(found, wanted):
    low, high = (float(end) for end in (found.lower, found.upper))
    right = float(wanted.lower)
    return low <= right * (1 + 1e-12) and right <= high * (1 + 1e-12) and high - low <= 1e-9 * (1 + right)


@pytest.mark.parametrize(("one", "two"), [*PAIRS, *((b, a) for a, b in PAIRS)])
def test_every_functional_is_that_of_the_joint_law(one, two):
    found, wanted = one.against(two), joint(one).against(joint(two))
    assert found.max_log_ratio() == wanted.max_log_ratio()
    assert found.singular_mass() == wanted.singular_mass()
    for epsilon in ("0", "1/10", "1/3"):
        assert near(found.hockey_stick(epsilon), wanted.hockey_stick(epsilon))
    for order in ORDERS:
        assert near(found.renyi(order), wanted.renyi(order))
        assert near(found.reverse().renyi(order), wanted.reverse().renyi(order))
    assert near(found.epsilon_at("1/50"), wanted.epsilon_at("1/50"))
    true, bracket = wanted.concentration(), found.concentration()
    assert bracket.lower <= true.upper
    assert true.lower <= bracket.upper


@pytest.mark.parametrize(("one", "two"), SINGULAR)
def test_mass_that_only_one_law_has_is_seen(one, two):
    found, wanted = one.against(two), joint(one).against(joint(two))
    assert wanted.singular_mass().lower > 0
    assert found.singular_mass() == wanted.singular_mass()
    assert found.max_log_ratio().lower == INFINITY
    assert found.renyi(2).lower == INFINITY
    assert found.renyi(1).lower == INFINITY
    assert found.concentration().lower == INFINITY
    back = found.reverse(), wanted.reverse()
    assert back[0].max_log_ratio() == back[1].max_log_ratio()


def choice(center):
    """Whether discrete Gaussian noise of variance 3 around a total reaches 2."""
    return PushForward(DiscreteGaussianLaw(center, 3), at_least_two)


def at_least_two(total):
    return int(total >= 2)


def mass(center, variance, k):
    """P(k) of discrete Gaussian noise, in doubles."""
    return math.exp(-((k - center) ** 2) / (2 * variance)) / sum(math.exp(-(j**2) / (2 * variance)) for j in range(-60, 61))


def two_stage(total, cells):
    """A noisy choice from the total, then the total again or its cells."""
    again, table = DiscreteGaussianLaw(total, 5), Product(tuple(DiscreteGaussianLaw(cell, 5) for cell in cells))
    return Adaptive(choice(total), ((0, again), (1, table)))


def doubles(total, cells):
    """The same law in doubles, outcome by outcome."""
    reached = sum(mass(total, 3, k) for k in range(2, 60))
    span = range(-22, 26)
    law = {(0, k): (1 - reached) * mass(total, 5, k) for k in span}
    table = {(a, b): mass(cells[0], 5, a) * mass(cells[1], 5, b) for a in span for b in span}
    return law | {(1, cell): reached * p for cell, p in table.items()}


@pytest.mark.parametrize("order", ["1", "3/2", "2", "4"])
def test_infinite_laws_are_those_of_an_enumeration_in_doubles(order):
    found = two_stage(2, (1, 1)).against(two_stage(1, (1, 0))).renyi(order)
    p, q = doubles(2, (1, 1)), doubles(1, (1, 0))
    alpha = float(number(order))
    if alpha == 1:
        wanted = sum(w * math.log(w / q[y]) for y, w in p.items())
    else:
        wanted = math.log(sum(w * (w / q[y]) ** (alpha - 1) for y, w in p.items())) / (alpha - 1)
    assert float(found.lower) == pytest.approx(wanted, rel=1e-9)
    assert float(found.upper) == pytest.approx(wanted, rel=1e-9)


def test_composition_bounds_the_loss_and_both_stages_count():
    one, two = two_stage(2, (1, 1)), two_stage(1, (1, 0))
    loss = one.against(two).concentration()
    assert number("1/10") < loss.lower <= loss.upper <= number("1/6") + number("1/10")
    same_total = one.against(two_stage(2, (2, 0))).concentration()
    assert number("0") < same_total.lower <= same_total.upper <= number("1/5")


def test_only_laws_of_the_same_stages_are_compared():
    with pytest.raises(NoFormulaError, match="first outcomes"):
        Adaptive(COIN, ((0, DIE), (1, DIE))).against(Adaptive(DIE, ((0, DIE), (1, DIE), (2, DIE))))
    with pytest.raises(NoFormulaError):
        Adaptive(COIN, ((0, DIE), (1, DIE))).against(COIN)
