"""Mechanisms that are averages of another one, against the sums written out."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from dpspec_divergences import Hamming, HammingOrdered, Mult
from dpspec_flavours.mechanisms import ListedLaws, NearbyDataset
from dpspec_flavours.secrets.averages import Averaged, Subsampled, diameter, radius
from dpspec_flavours.secrets.pufferfish import (
    AmplificationBySampling,
    CloseAdversaries,
    Pufferfish,
)
from dpspec_flavours.secrets.spaces import (
    Secrets,
)
from dpspec_noise import Geometric, RandomisedResponse
from hypothesis import given, settings, strategies as st

from dpspec.base.exact import ln
from dpspec.blocks.invariant import LinearMap
from dpspec.blocks.records import OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.laws.law import FiniteLaw
from dpspec.verifier.exhaustive import verify

BIT, PAIR = BitVectors(length=1), BitVectors(length=2)
HALF = Fraction(1, 2)


def response(keep):
    return RandomisedResponse(keep_probability=keep)


def loss(left, right):
    """sup of |ln(P(o)/Q(o))|, as the largest ratio, from two tables of probabilities."""
    outcomes = {o for o in (*left, *right) if left.get(o, 0) or right.get(o, 0)}
    if any(not left.get(o) or not right.get(o) for o in outcomes):
        return math.inf
    return max(max(left[o] / right[o], right[o] / left[o]) for o in outcomes)
DATA = tuple(itertools.product((0, 1), repeat=2))


def test_a_passive_attacker_sees_records_beside_the_output():
    """Of two bits the second is seen: a copy gives the first away however noisy the output, an independent one does not."""
    space = next(iter(Secrets.examples()))
    mechanism = Averaged(mechanism=response(Fraction(3, 4)), seen=(1,))
    laws = {x: mechanism.law(x, space) for x in space.datasets()}
    assert {known for known, _ in laws["first is 1", "copy"].support} == {((1,),)}
    assert Mult().between(laws["first is 0", "copy"], laws["first is 1", "copy"]).upper.is_infinite
    assert Mult().between(laws["first is 0", "coins"], laws["first is 1", "coins"]).upper == ln(3)


def test_infinite_laws_are_averaged_too():
    """A geometric count of two fair bits, given the first: a bracket around what 200 terms give."""
    total = LinearMap(rows=((1, 1),), label="ones")
    noisy = Averaged(mechanism=Geometric(queries=(total,), ratio=HALF, neighbours="differ-in-one-position"))
    space = next(iter(Secrets.examples()))
    left, right = (noisy.law((f"first is {bit}", "coins"), space) for bit in (0, 1))

    def mass(k, bit):
        return sum(HALF * Fraction(1, 3) * HALF ** abs(k - bit - other) for other in (0, 1))

    top = max(max(mass(k, 0) / mass(k, 1), mass(k, 1) / mass(k, 0)) for k in range(-60, 60))
    found = Mult().between(left, right)
    assert float(found.lower) <= math.log(top) + 1e-12
    assert float(found.upper) >= math.log(top) - 1e-12
    assert found.upper <= ln(2)


@pytest.mark.reference("B-A10")
@given(st.integers(0, 3), st.fractions(0, 1, max_denominator=6), st.booleans())
def test_a_sample_is_drawn_as_its_definition_says(size, rate, fixed):
    """Poisson: every subset with p^k (1-p)^(n-k); else all subsets of the size, equally likely."""
    space = OrderedRecords(attributes=(Attribute(name="a", categories=("x", "y")),), most=3)
    keep = ListedLaws(laws=[{"dataset": list(x), "law": {repr(x): 1}} for x in space.datasets()])
    frame = (("x",), ("y",), ("x",))
    mechanism = Subsampled(mechanism=keep, size=size) if fixed else Subsampled(mechanism=keep, rate=rate)
    expected: dict = {}
    for kept in itertools.product((False, True), repeat=3):
        k = sum(kept)
        chance = Fraction(k == size, math.comb(3, size)) if fixed else rate**k * (1 - rate) ** (3 - k)
        drawn = repr(tuple(r for r, yes in zip(frame, kept, strict=True) if yes))
        expected[drawn] = expected.get(drawn, 0) + chance
    assert dict(mechanism.law(frame, space).probabilities()) == {o: p for o, p in expected.items() if p}


def test_a_sample_larger_than_the_dataset_is_all_of_it():
    space = OrderedRecords(attributes=(Attribute(name="a", categories=("x",)),), most=2)
    mechanism = Subsampled(mechanism=NearbyDataset(distance=HammingOrdered(), rate=1), size=5)
    assert mechanism.law((("x",),), space) == FiniteLaw.point((("x",),))


@pytest.mark.reference("B-T21")
@pytest.mark.parametrize("frame", [1, 2, 3, 4])
def test_amplification_is_the_exact_formula(frame):
    """ln(1 + 1/n (e^eps - 1)) is attained by a sample of one."""
    mechanism = Subsampled(mechanism=response(Fraction(3, 4)), size=1, samples=BIT)
    found = verify(mechanism, AmplificationBySampling().spec().replace(space=BitVectors(length=frame))).constant
    assert found.lower == found.upper == ln(1 + Fraction(2, frame))


@pytest.mark.reference("B-T21")
def test_amplification_needs_a_mechanism_that_ignores_the_order():
    """Two of three records: the formula holds for multisets, and fails where the answers stand in the order of the records."""
    sex = Attribute(name="sex", categories=("f", "m"))
    frame, sample = (UnorderedRecords(attributes=(sex,), least=n, most=n) for n in (3, 2))
    inner = NearbyDataset(distance=Hamming(), rate=ln(3))
    spec = AmplificationBySampling().spec().replace(space=sample, input_divergence=Hamming())
    alone = verify(inner, spec).constant
    assert alone.lower == alone.upper == ln(Fraction(9, 13) * 5)
    both = verify(Subsampled(mechanism=inner, size=2, samples=sample), spec.replace(space=frame)).constant
    assert both.upper <= ln(1 + Fraction(2, 3) * Fraction(32, 13))
    ordered = Subsampled(mechanism=response(Fraction(3, 4)), size=2, samples=PAIR)
    found = verify(ordered, AmplificationBySampling().spec().replace(space=BitVectors(length=3))).constant
    assert found.lower > ln(1 + Fraction(2, 3) * 2)


@pytest.mark.reference("B-D30")
@pytest.mark.parametrize("keep", [Fraction(2, 3), Fraction(3, 4), Fraction(4, 5)])
def test_pufferfish_by_its_definition(keep):
    """max over priors and answers of Pr(answers | s, theta) / Pr(answers | s', theta), from the joint law."""
    worst = 1
    for equal in (HALF, Fraction(3, 4), Fraction(1)):
        given_first = []
        for first in (0, 1):
            table: dict = {}
            for second, answers in itertools.product((0, 1), DATA):
                prior = equal if first == second else 1 - equal
                chance = math.prod(keep if a == b else 1 - keep for a, b in zip((first, second), answers, strict=True))
                table[answers] = table.get(answers, 0) + prior * chance
            given_first.append(table)
        worst = max(worst, loss(*given_first))
    mechanism = Averaged(mechanism=response(keep))
    found = verify(mechanism, Pufferfish().spec()).constant
    assert found.lower == found.upper == ln(worst)


@pytest.mark.reference("K-D43")
@pytest.mark.parametrize("keep", [Fraction(3, 5), Fraction(2, 3), Fraction(3, 4), Fraction(9, 10)])
def test_close_adversaries_degrade_by_at_most_twice_their_error(keep):
    """Delta is the largest log-ratio of the two laws of the data given a secret."""
    spec = CloseAdversaries().spec()
    laws = {x: spec.space.data_law(x) for x in spec.space.datasets()}
    error = max(Mult().between(laws[secret, "believed"], laws[secret, "close"]).upper for secret in ("first is 0", "first is 1"))
    assert error == ln(Fraction(3, 2))
    assert ln(3) + error * 2 == ln(Fraction(27, 4))
    mechanism = Averaged(mechanism=response(keep))
    found = {result.label: result.constant.upper for result in verify(mechanism, spec).universes}
    assert found["close"] <= found["believed"] + error * 2


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(1, 5), min_size=3, max_size=3), min_size=1, max_size=3))
def test_the_radius_is_the_least_for_which_a_simulator_exists(rows):
    """At the radius some law lies within it of all laws; below it none does, by the intervals for each outcome."""
    laws = [FiniteLaw.from_weights(dict(enumerate(row))) for row in rows]
    found = float(radius(laws))

    def room(eps):
        columns = [[float(law.probability(o)) for law in laws] for o in range(3)]
        lows, highs = [max(c) * math.exp(-eps) for c in columns], [min(c) * math.exp(eps) for c in columns]
        return all(a <= b for a, b in zip(lows, highs, strict=True)) and sum(lows) <= 1 <= sum(highs)

    assert room(found + 1e-9)
    assert found < 1e-9 or not room(found - 1e-9)
    assert found <= float(diameter(laws)) + 1e-12 <= 2 * found + 1e-9
