"""Neighbours of secrets, and distances of two distributions, against their definitions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from dpspec_divergences import Hamming, HammingOrdered, Mult, TotalVariation
from dpspec_flavours.secrets.averages import Averaged
from dpspec_flavours.secrets.distances import DataVariation, DataWasserstein, bottleneck
from dpspec_flavours.secrets.spaces import (
    DataLaw,
    DataLaws,
    DataProbability,
)
from dpspec_noise import RandomisedResponse
from hypothesis import given, settings, strategies as st

from dpspec.base.exact import ln, number
from dpspec.blocks.vectors import BitVectors
from dpspec.laws.law import FiniteLaw

PAIR = BitVectors(length=2)


def response(keep):
    return RandomisedResponse(keep_probability=keep)


def listed(label, weights, values):
    total = sum(weights)
    rows = tuple(DataProbability(value=v, probability=Fraction(w, total)) for v, w in zip(values, weights, strict=True) if w)
    return DataLaw(label=label, listed=rows)


# --- spaces --------------------------------------------------------------------------------------

weights = st.lists(st.integers(0, 4), min_size=4, max_size=4).filter(any)
DATA = tuple(itertools.product((0, 1), repeat=2))


# --- distances -----------------------------------------------------------------------------------


def couplings(supply, demand):
    """Every joint table of integers with given margins."""
    if len(supply) == 1:
        yield (tuple(demand),)
        return
    for row in itertools.product(*(range(d + 1) for d in demand)):
        if sum(row) == supply[0]:
            for rest in couplings(supply[1:], [d - r for d, r in zip(demand, row, strict=True)]):
                yield (row, *rest)


def laws_on(points):
    return st.lists(st.integers(0, 2), min_size=points, max_size=points).filter(any)


@settings(max_examples=40, deadline=None)
@given(laws_on(3), laws_on(3), st.lists(st.integers(0, 4), min_size=9, max_size=9))
def test_the_bottleneck_is_the_least_over_all_couplings(one, two, costs):
    """Margins are scaled to a common total; extreme points of the transport polytope are integral."""
    table = {(x, y): costs[3 * x + y] for x in range(3) for y in range(3)}
    common = math.lcm(sum(one), sum(two))
    supply, demand = [w * common // sum(one) for w in one], [w * common // sum(two) for w in two]
    best = min(
        max((table[x, y] for x in range(3) for y in range(3) if joint[x][y]), default=0) for joint in couplings(supply, demand)
    )
    left, right = (FiniteLaw.from_weights(dict(enumerate(w))) for w in (one, two))
    assert bottleneck(left, right, lambda x, y: number(table[x, y])) == best


def test_the_bottleneck_is_infinite_when_nothing_joins_the_laws():
    law = FiniteLaw.uniform
    assert bottleneck(law([0, 1]), law([0, 2]), lambda x, y: number(0 if x == y else "inf")).is_infinite


def test_a_flow_is_taken_back_where_it_stands_in_the_way():
    """0 goes first to 0; 1 can only go to 0, so that 0 has to be moved on to 1."""
    near = {(0, 0), (0, 1), (1, 0)}
    law = FiniteLaw.uniform([0, 1])
    assert bottleneck(law, law, lambda x, y: number(0 if (x, y) in near else 5)) == 0


@settings(max_examples=30, deadline=None)
@given(weights, weights, st.sampled_from([Fraction(2, 3), Fraction(3, 4)]))
def test_what_the_two_distances_promise_holds(one, two, keep):
    """eps per step of the data gives eps per unit of data-wasserstein; total variation never grows."""
    space = DataLaws(base=PAIR, data_laws=(listed("one", one, DATA), listed("two", two, DATA)))
    mechanism = Averaged(mechanism=response(keep))
    left, right = (mechanism.law((label,), space) for label in ("one", "two"))
    moved = DataWasserstein(distance_of_data=HammingOrdered()).distance(("one",), ("two",), space)
    assert Mult().between(left, right).upper <= ln(keep / (1 - keep)) * moved
    assert TotalVariation().between(left, right).upper <= DataVariation().distance(("one",), ("two",), space)


def test_one_distance_of_data_is_bounded_by_another():
    space = next(iter(DataLaws.examples()))
    ordered, plain = (DataWasserstein(distance_of_data=d) for d in (HammingOrdered(), Hamming()))
    assert plain.bounded_by(ordered, space)[0] == 1
    assert ordered.bounded_by(plain, space) is None
    assert DataVariation().bounded_by(ordered, space)[0] == 1
    assert DataVariation().bounded_by(Hamming(unit="scenario"), space)[0] == 1
    assert ordered.bounded_by(DataVariation(), space) is None
    assert ordered.least_distance(space) == 1
