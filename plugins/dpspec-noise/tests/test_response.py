"""Randomised response against hand-computed laws, and its claims over all pairs of small spaces."""

from __future__ import annotations

import itertools
from fractions import Fraction as F

import numpy as np
import pytest
from dpspec_divergences import DNor, HammingOrdered, Mult, MultDelta, Neighbour
from dpspec_divergences.counting import DifferInOnePosition
from dpspec_noise import LectureRandomisedResponse, RandomisedResponse
from scipy import stats

from dpspec.base.errors import IncompatibleBlocksError, ParameterError
from dpspec.base.exact import INFINITY, ln, number
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.invariant import LinearMap
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.grammar.mechanism import ReleaseInvariants
from dpspec.grammar.tables import Table
from dpspec.laws.law import FiniteLaw

BIT = BitVectors(length=1)


def constant(mechanism, space, divergence, distance, datasets=None):
    """sup d_Pr / d_X over all pairs at finite distance, exactly."""
    best = number(0)
    for x, y in itertools.combinations(datasets or tuple(space.datasets()), 2):
        d = distance.distance(x, y, space)
        if not d.is_infinite:
            value = divergence.between(mechanism.law(x, space), mechanism.law(y, space))
            assert value.is_exact
            best = max(best, value.lower * (1 / d.as_fraction()))
    return best


def by_parity(space, odd):
    return tuple(x for x in space.datasets() if sum(x) % 2 == odd)


@pytest.mark.reference("B-A1")
@pytest.mark.parametrize("p", [F(3, 5), F(1, 10)])
def test_the_law_is_the_product_of_the_bits(p):
    law = RandomisedResponse(keep_probability=p).law((1, 0, 1), BitVectors(length=3))
    for t in itertools.product((0, 1), repeat=3):
        expected = (p if t[0] == 1 else 1 - p) * (p if t[1] == 0 else 1 - p) * (p if t[2] == 1 else 1 - p)
        assert law.probability(t) == expected


def test_the_law_of_many_bits_is_not_written_out():
    space, mechanism = BitVectors(length=40), RandomisedResponse(keep_probability="3/4")
    value = Mult().between(mechanism.law((0,) * 40, space), mechanism.law((1,) * 30 + (0,) * 10, space))
    assert value.lower <= ln(3) * 30 <= value.upper
    assert float(value.upper) - float(value.lower) < 1e-9


@pytest.mark.reference("B-A2")
@pytest.mark.reference("B-O24")
@pytest.mark.reference("B-X8")
def test_the_lecture_version_is_the_two_coins():
    law = LectureRandomisedResponse().law((0,), BIT)
    assert law == FiniteLaw.of({(0,): F(1, 2) + F(1, 2) * F(1, 2), (1,): F(1, 2) * F(1, 2)})
    assert law == RandomisedResponse(keep_probability="3/4").law((0,), BIT)
    (claim,) = LectureRandomisedResponse().claims(BitVectors(length=3))
    assert claim.spec.budget.value == ln(3)
    assert constant(LectureRandomisedResponse(), BitVectors(length=3), Mult(), HammingOrdered()) == ln(3)
    # B-X8a: the second printed ratio is 1; it is (3/4)/(1/4) = 3, as the law of the other answer shows.
    other = LectureRandomisedResponse().law((1,), BIT)
    assert law.probability((0,)) / other.probability((0,)) == 3


@pytest.mark.reference("B-T2")
@pytest.mark.reference("B-O23")
@pytest.mark.parametrize(("p", "epsilon"), [("0.6", "0.405465"), ("0.75", "1.098612"), ("0.9", "2.197225")])
def test_the_claim_is_the_least_constant_over_all_pairs(p, epsilon):
    mechanism, space = RandomisedResponse(keep_probability=p), BitVectors(length=3)
    (claim,) = mechanism.claims(space)
    assert claim.source == "Bailie et al. 2024, randomised response"
    assert claim.spec.input_divergence == HammingOrdered()
    assert f"{float(claim.spec.budget.value):.6f}" == epsilon
    assert constant(mechanism, space, Mult(), HammingOrdered()) == claim.spec.budget.value


@pytest.mark.reference("B-X12")
@pytest.mark.parametrize("p", [F(2, 7), F(1, 2)])
def test_below_one_half_the_absolute_value_holds(p):
    mechanism = RandomisedResponse(keep_probability=p)
    (claim,) = mechanism.claims(BIT)
    assert claim.source == "Bailie et al. 2024, randomised response"
    assert claim.spec.budget.value == ln((1 - p) / p)
    assert constant(mechanism, BIT, Mult(), HammingOrdered()) == claim.spec.budget.value


@pytest.mark.reference("B-O50")
@pytest.mark.reference("B-S1")
@pytest.mark.reference("B-S2")
def test_inside_the_universes_by_parity():
    space, mechanism = BitVectors(length=3), RandomisedResponse(keep_probability="3/4")
    for odd in (0, 1):
        universe = by_parity(space, odd)
        assert constant(mechanism, space, Mult(), HammingOrdered(), universe) == ln(3)
        distances = {HammingOrdered().distance(x, y, space) for x, y in itertools.combinations(universe, 2)}
        assert distances == {number(2)}
        neighbour = Neighbour(relation=DifferInOnePosition())
        assert all(neighbour.distance(x, y, space).is_infinite for x, y in itertools.combinations(universe, 2))


@pytest.mark.reference("B-O49")
@pytest.mark.reference("B-T10", "B-A11")
def test_releasing_the_sum():
    space = BitVectors(length=3)
    release = ReleaseInvariants(invariants=(LinearMap(rows=((1, 1, 1),), label="sum"),))
    by_sum = [tuple(x for x in space.datasets() if sum(x) == s) for s in range(4)]
    assert [constant(release, space, Mult(), HammingOrdered(), universe) for universe in by_sum if len(universe) > 1] == [0, 0]
    for universe in (by_parity(space, 0), by_parity(space, 1), tuple(space.datasets())):
        assert constant(release, space, Mult(), HammingOrdered(), universe) == INFINITY


@pytest.mark.reference("B-O39")
@pytest.mark.reference("B-S3")
def test_approximate_privacy_of_two_bits_is_worse_than_twice_that_of_one():
    mechanism, divergence = RandomisedResponse(keep_probability="3/4"), MultDelta(delta="0.01")
    assert constant(mechanism, BIT, divergence, HammingOrdered()) == ln("2.96")
    two = BitVectors(length=2)
    assert constant(mechanism, two, divergence, HammingOrdered()) == ln("8.84") / 2
    apart = divergence.between(mechanism.law((0, 0), two), mechanism.law((1, 1), two)).lower
    assert apart == ln("8.84")


@pytest.mark.reference("B-O36")
def test_concentrated_privacy_of_one_bit():
    mechanism = RandomisedResponse(keep_probability="3/4")
    value = DNor().between(mechanism.law((0,), BIT), mechanism.law((1,), BIT))
    assert value.lower.squared() <= ln(3) / 2 <= value.upper.squared()
    assert (ln(3) / 2).decimal() == "0.549306"


@pytest.mark.reference("B-O21")
@pytest.mark.reference("B-N6")
@pytest.mark.reference("B-T3")
def test_the_estimate_of_the_slides():
    mechanism = RandomisedResponse(keep_probability="0.6")
    assert mechanism.estimate(F("0.45")) == F(1, 4)
    assert mechanism.expected(F(1, 4)) == F("0.45")


@pytest.mark.reference("B-O22")
@pytest.mark.reference("B-T3")
def test_its_variance():
    mechanism = RandomisedResponse(keep_probability="0.6")
    assert mechanism.variance(F("0.45"), 1) == F("6.1875")
    assert mechanism.variance_bound(1) == F("6.25")
    assert mechanism.variance(F("0.45"), 100) == F("0.061875")


@pytest.mark.reference("B-O24")
def test_the_lecture_estimate():
    assert LectureRandomisedResponse().expected(F("0.3")) == F("0.4")
    assert LectureRandomisedResponse().estimate(F("0.4")) == F("0.3")


@pytest.mark.reference("B-O30")
@pytest.mark.reference("B-S17")
def test_a_secret_sample_amplifies_and_a_known_one_does_not():
    """n = 2, one of them drawn without replacement, p = 3/4 on it; the release is one bit."""
    one = {bit: RandomisedResponse(keep_probability="3/4").law((bit,), BIT).probability((1,)) for bit in (0, 1)}
    laws = {(a, b): FiniteLaw.bernoulli((one[a] + one[b]) / 2) for a in (0, 1) for b in (0, 1)}
    assert [laws[x].probability(1) for x in ((0, 0), (1, 0), (1, 1))] == [F(1, 4), F(1, 2), F(3, 4)]
    space = BitVectors(length=2)
    ratios = [
        Mult().between(laws[x], laws[y]).lower * (1 / HammingOrdered().distance(x, y, space).as_fraction())
        for x, y in itertools.combinations(laws, 2)
    ]
    assert max(ratios) == ln(2)
    assert one[1] / one[0] == 3


def test_pure_noise_allows_no_estimate():
    with pytest.raises(ParameterError, match="pure noise"):
        RandomisedResponse(keep_probability="1/2").estimate(F(1, 2))


@pytest.mark.parametrize("p", [0, 1, "5/4", -1])
def test_probabilities_outside_the_open_interval_are_refused(p):
    with pytest.raises(ParameterError, match=r"must be a rational in \(0, 1\)"):
        RandomisedResponse(keep_probability=p)


def test_other_spaces_are_refused():
    with pytest.raises(IncompatibleBlocksError, match="use the space bit-vectors"):
        RandomisedResponse(keep_probability="3/4").check(UnorderedRecords(attributes=(Attribute(name="a", count=2),)))


@pytest.mark.statistical
@pytest.mark.parametrize("mechanism", [
    RandomisedResponse(keep_probability="5/7"), RandomisedResponse(keep_probability=F(5 * 10**20, 7 * 10**20 + 1)),
    LectureRandomisedResponse(),
])  # fmt: skip
def test_the_release_follows_the_law(mechanism):
    """60,000 releases of (1, 0, 1) against the law, by chi-square at level 1e-9; p off by 0.02 passes with chance below 1e-9."""
    n, bits = 60_000, (1, 0, 1)
    space = BitVectors(length=3)
    attribute = space.attributes_of("person")
    table = Table(attributes=attribute, codes={"bit": np.tile(np.array(bits, dtype=np.int64), n)})
    released = mechanism.release(table, space, SeededRandomness(20)).codes["bit"].reshape(n, 3)
    observed = np.bincount(released @ np.array([4, 2, 1]), minlength=8)
    outcomes = list(itertools.product((0, 1), repeat=3))
    threshold = stats.chi2.isf(1e-9, 7)

    def probabilities(law):
        return np.array([float(law.probability(t)) for t in outcomes])

    def statistic(expected):
        return (((observed - n * expected) ** 2) / (n * expected)).sum()

    right = probabilities(mechanism.law(bits, space))
    assert statistic(right) < threshold
    for shift in (F(-1, 50), F(1, 50)):
        wrong = probabilities(RandomisedResponse(keep_probability=mechanism.truth() + shift).law(bits, space))
        assert statistic(wrong) > threshold
        assert stats.ncx2.cdf(threshold, 7, n * ((right - wrong) ** 2 / wrong).sum()) < 1e-9
