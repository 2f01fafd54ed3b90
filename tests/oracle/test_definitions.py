"""Definitions that the semantics stand on, each against its words: random laws of rational weights, computed in other ways."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from dpspec_divergences.losses import Pbdp
from dpspec_divergences.output import DNor, Mult, MultDelta, Renyi, TotalVariation
from hypothesis import given, strategies as st

from dpspec.base.exact import ln, number
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.continuous import GaussianShift
from dpspec.laws.law import FiniteLaw
from dpspec.laws.loss import PrivacyLoss
from dpspec.risks.candidates import relative_risk

WEIGHTS = st.lists(st.integers(1, 9), min_size=3, max_size=3)
STANDARDS = (Mult(), MultDelta(delta="1/7"), TotalVariation(), Renyi(order=2), Renyi(order="7/2"), DNor(), Pbdp(delta="1/5"))


def law(weights) -> FiniteLaw:
    return FiniteLaw.from_weights(dict(enumerate(weights)))


def after(first: FiniteLaw, steps: dict) -> FiniteLaw:
    """The joint law of an output and of a second one whose law depends on it."""
    return FiniteLaw.of({(x, y): p * q for x, p in first.probabilities() for y, q in steps[x].probabilities()})


@pytest.mark.reference("K-D15", "K-D16", "K-D17", "Z-D11")
@given(WEIGHTS, WEIGHTS)
def test_renyi_privacy_is_a_moment_of_the_loss(p, q):
    """E e^(L) = e^gamma at order 2, by fractions; at other orders the moment by floats; rho is above gamma / order at each."""
    pair = FiniteDichotomy(tuple(p), tuple(q), sum(p), sum(q))
    atoms = [(Fraction(a, sum(p)), Fraction(b, sum(q))) for a, b in zip(p, q, strict=True)]
    assert pair.renyi(2).lower <= ln(sum(a * a / b for a, b in atoms)) <= pair.renyi(2).upper
    rho = float(pair.concentration().upper)
    for order in (Fraction(5, 4), Fraction(3), Fraction(9)):
        size, gamma = float(order - 1), float(pair.renyi(order).upper)
        moment = sum(float(a) * math.exp(size * math.log(a / b)) for a, b in atoms)
        assert moment == pytest.approx(math.exp(size * gamma), rel=1e-9)
        assert moment <= math.exp(size * float(order) * rho) * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.reference("K-D19", "B-T14", "K-S9")
@given(WEIGHTS, WEIGHTS, st.lists(WEIGHTS, min_size=3, max_size=3))
def test_no_standard_grows_under_a_random_map_of_the_output(p, q, rows):
    channel = [law(row) for row in rows]
    before = law(p), law(q)
    behind = [FiniteLaw.mixture([x for _, x in side.probabilities()], channel) for side in before]
    for standard in STANDARDS:
        assert standard.between(*behind).lower <= standard.between(*before).upper


@pytest.mark.reference("K-D20", "B-T20")
@given(WEIGHTS, WEIGHTS, st.lists(st.tuples(WEIGHTS, WEIGHTS), min_size=3, max_size=3))
def test_costs_add_when_the_second_release_depends_on_the_first(p, q, seconds):
    """Adaptive: the largest cost of a second release is added. Fully adaptive: no transcript costs more than its own parts."""
    first, pure = (law(p), law(q)), Mult()
    steps = [{x: law(pair[side]) for x, pair in enumerate(seconds)} for side in (0, 1)]
    joint = after(first[0], steps[0]), after(first[1], steps[1])
    own = [pure.between(steps[0][x], steps[1][x]).upper for x in range(3)]
    assert pure.between(*joint).lower <= pure.between(*first).upper + max(own)
    ratios = [first[0].probability(x) / first[1].probability(x) for x in range(3)]
    assert pure.between(*joint).lower <= max(ln(max(r, 1 / r)) + cost for r, cost in zip(ratios, own, strict=True))
    gamma = [a.against(b).renyi(2).upper for a, b in (first, *((steps[0][x], steps[1][x]) for x in range(3)))]
    assert joint[0].against(joint[1]).renyi(2).lower <= gamma[0] + max(gamma[1:])


@pytest.mark.slow
@pytest.mark.reference("K-D20")
@given(WEIGHTS, WEIGHTS, WEIGHTS, WEIGHTS)
def test_a_coin_between_two_mechanisms_keeps_what_both_promise(a, b, c, d):
    """All but `pbdp`, which at one point does not (K-T8)."""
    pairs = (law(a), law(b)), (law(c), law(d))
    mixed = [FiniteLaw.mixture(["1/3", "2/3"], [one, two]) for one, two in zip(*pairs, strict=True)]
    for standard in STANDARDS[:-1]:
        assert standard.between(*mixed).lower <= max(standard.between(*pair).upper for pair in pairs)


@pytest.mark.slow
@pytest.mark.reference("K-D21", "K-S2")
@given(st.lists(WEIGHTS, min_size=9, max_size=9), st.permutations(range(3)), st.permutations(range(3)))
def test_renaming_the_values_of_records_keeps_the_parameters(weights, one, two):
    """Two records with three values each; every position has a renaming of its own, and neighbours stay neighbours."""
    datasets = list(itertools.product(range(3), repeat=2))
    laws = dict(zip(datasets, map(law, weights), strict=True))
    renamed = {(x, y): laws[one[x], two[y]] for x, y in datasets}
    pairs = [(a, b) for a, b in itertools.permutations(datasets, 2) if (a[0] == b[0]) != (a[1] == b[1])]
    for standard in (Mult(), MultDelta(delta="1/7"), TotalVariation()):
        largest = [max(standard.between(m[a], m[b]).upper for a, b in pairs) for m in (laws, renamed)]
        assert largest[0] == largest[1]


@pytest.mark.reference("K-D35", "K-D34")
@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 3)])
def test_a_catastrophe_is_a_curve_that_never_falls_below_its_delta(delta):
    """Everything with probability delta; one of 1/delta records; and Gaussian noise, whose curve reaches 0."""
    everything = [FiniteLaw.of({"nothing": 1 - delta, dataset: delta}) for dataset in ("one", "other")]
    records = range(int(1 / delta))
    sampled = [FiniteLaw.uniform((i, i == 0 and changed) for i in records) for changed in (False, True)]
    for pair in (everything[0].against(everything[1]), sampled[0].against(sampled[1])):
        curve = [pair.hockey_stick(epsilon) for epsilon in (0, 1, 50, 500)]
        assert all(delta - Fraction(1, 10**15) <= value.lower <= delta <= value.upper for value in curve)
        assert PrivacyLoss(pair).at_infinity().lower == delta
    noise = GaussianShift(number(1))
    assert PrivacyLoss(noise).at_infinity().upper == 0
    assert noise.hockey_stick(50).upper < delta / 10**100


@pytest.mark.reference("B-D2")
@given(WEIGHTS, WEIGHTS, st.fractions("1/20", "19/20", max_denominator=20))
def test_nothing_is_disclosed_exactly_when_the_laws_agree(p, q, prior):
    """The posterior is the prior at every output, for a secret of two values, exactly when the output ignores the secret."""
    one, other = law(p), law(q)
    kept = [relative_risk(one.probability(x) / other.probability(x), prior) == 1 for x in range(3)]
    assert all(kept) is (one == other)
    moved = [prior * one.probability(x) / (prior * one.probability(x) + (1 - prior) * other.probability(x)) for x in range(3)]
    assert [posterior == prior for posterior in moved] == kept
