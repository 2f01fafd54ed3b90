"""Finite laws: however they are made they are the same law, against sums of fractions; and what is no law is refused."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from dpspec.base.errors import NoFormulaError
from dpspec.laws.continuous import LaplaceLaw
from dpspec.laws.enclosures import EnclosedLaw
from dpspec.laws.exponential import exact_exponential, finite_law
from dpspec.laws.integers import TwoSidedGeometricLaw
from dpspec.laws.law import Answers, FiniteLaw, NotALaw, atomic

COIN, DIE = FiniteLaw.bernoulli("1/3"), FiniteLaw.uniform(range(1, 7))


def table(law: FiniteLaw) -> dict[Any, Fraction]:
    return dict(law.probabilities())


def test_equal_laws_are_equal_however_they_are_made() -> None:
    ways = [
        COIN, FiniteLaw.of({0: "2/3", 1: Fraction(1, 3)}), FiniteLaw.from_weights({1: 5, 0: 10, 2: 0}),
        FiniteLaw.uniform([0, 0, 1]),
        FiniteLaw({0: 2, 1: 1}, 3),
    ]  # fmt: skip
    assert all(law == COIN and hash(law) == hash(COIN) for law in ways)
    assert FiniteLaw.from_weights({1: 1, 0: 2}) != FiniteLaw.from_weights({1: 2, 0: 1})
    assert FiniteLaw.point("x") == FiniteLaw.of({"x": 1})
    assert COIN != "a coin"
    assert (COIN.probability(1), COIN.probability(7)) == (Fraction(1, 3), 0)
    assert set(FiniteLaw.from_weights({1: 1, 2: 0}).support) == {1}


def test_images_products_and_mixtures_are_sums() -> None:
    parity = DIE.push_forward(lambda n: n % 3)
    assert table(parity) == {k: Fraction(sum(n % 3 == k for n in range(1, 7)), 6) for k in range(3)}
    joint = FiniteLaw.product([COIN, DIE, COIN])
    for a, n, b in itertools.product((0, 1), range(1, 7), (0, 1)):
        assert joint.probability((a, n, b)) == COIN.probability(a) * DIE.probability(n) * COIN.probability(b)
    assert joint.total == 54
    assert table(FiniteLaw.product([])) == {(): 1}
    mixed = FiniteLaw.mixture(["1/4", "3/4"], [COIN, DIE])
    for k in range(7):
        assert mixed.probability(k) == Fraction(1, 4) * COIN.probability(k) + Fraction(3, 4) * DIE.probability(k)


@pytest.mark.parametrize(
    "other", [FiniteLaw.bernoulli("1/2"), FiniteLaw.of({1: "1/2", 0: "1/2"}), FiniteLaw.point(1), FiniteLaw.point(2)]
)
def test_pairs_have_the_probabilities_of_both(other: FiniteLaw) -> None:
    pair = COIN.against(other)
    outcomes = dict.fromkeys((*COIN.support, *other.support))
    wanted = sorted((COIN.probability(o), other.probability(o)) for o in outcomes)
    assert sorted(pair.atoms()) == wanted
    assert sorted(other.against(COIN).atoms()) == sorted((q, p) for p, q in wanted)


E = exact_exponential("1")


@pytest.mark.parametrize(
    "make",
    [
        lambda x: FiniteLaw.of({x: 1}), FiniteLaw.point, lambda x: FiniteLaw.from_weights({x: 1, 0: 1}),
        lambda x: FiniteLaw.uniform([0, x]), lambda x: COIN.push_forward(lambda _: x),
        lambda x: FiniteLaw.mixture([1], [COIN.push_forward(lambda _: x)]),
        lambda x: finite_law({x: Fraction(1, 2), 0: Fraction(1, 2)}), lambda x: finite_law({x: 1 / (1 + E), 0: E / (1 + E)}),
        lambda x: EnclosedLaw({x: (Fraction(1, 2), Fraction(1, 2)), 0: (Fraction(1, 2), Fraction(1, 2))}),
    ],
)  # fmt: skip
def test_an_outcome_that_is_not_equal_to_itself_is_refused(make: Callable[[Any], Any]) -> None:
    """Two laws with a NaN of their own were different, so that a mechanism that ignores its data was refuted."""
    for outcome in (float("nan"), (1, float("nan")), (1, (2, float("nan")))):
        with pytest.raises(NotALaw, match="not equal to itself"):
            make(outcome)
    assert math.inf in make(math.inf).support


def test_what_does_not_sum_to_one_is_no_law() -> None:
    for wrong in (
        lambda: FiniteLaw.of({0: "1/2", 1: "1/3"}), lambda: FiniteLaw.of({0: "3/2", 1: "-1/2"}), lambda: FiniteLaw.of({}),
        lambda: FiniteLaw.from_weights({0: 0}), lambda: FiniteLaw.from_weights({}), lambda: FiniteLaw.from_weights({0: 2, 1: -1}),
        lambda: FiniteLaw({0: 1}, 2), lambda: FiniteLaw({0: 1, 1: 0}, 1), lambda: FiniteLaw.bernoulli("3/2"),
        lambda: FiniteLaw.mixture(["1/2", "1/3"], [COIN, DIE]),
    ):  # fmt: skip
        with pytest.raises(NotALaw):
            wrong()


def test_laws_with_atoms_and_without() -> None:
    assert atomic(COIN) is COIN
    with pytest.raises(NoFormulaError):
        atomic(LaplaceLaw(0, 1))
    pair = COIN.against(TwoSidedGeometricLaw(0, 1))
    assert not pair.max_log_ratio().upper.is_infinite
    assert pair.reverse().max_log_ratio().lower.is_infinite  # -1 is no outcome of a coin
    assert COIN.factors() == (COIN,)


def test_answers_step_away() -> None:
    noisy = Answers(law=lambda i: TwoSidedGeometricLaw(i, 1), words="plus noise")
    assert (noisy.law(3).center, noisy.most) == (3, None)  # type: ignore[attr-defined]  # it has one
