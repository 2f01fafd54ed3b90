"""Output divergences against brute force over all events, and the constants between them on random laws."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction as F

import pytest
from dpspec_divergences import DNor, Mult, MultDelta, Renyi, TotalVariation
from flint import arb

from dpspec.base.exact import INFINITY, ln, number, sqrt
from dpspec.laws.law import FiniteLaw

HALVES, QUARTER = FiniteLaw.bernoulli("1/2"), FiniteLaw.bernoulli("1/4")


def drawn(rng, outcomes, *, largest=9, zeros=False):
    """Weights of a random law."""
    weights = [rng.randint(0 if zeros else 1, largest) for _ in range(outcomes)]
    return weights if any(weights) else [1] * outcomes


def law(weights):
    return FiniteLaw.from_weights(dict(enumerate(weights)))


def some_pairs(count, seed, *, zeros=False):
    rng = random.Random(seed)
    for _ in range(count):
        size = rng.randint(2, 4)
        yield drawn(rng, size, zeros=zeros), drawn(rng, size, zeros=zeros)


def probabilities(p, q):
    """(P(S), Q(S)) of every event S."""
    for event in itertools.product((0, 1), repeat=len(p)):
        yield (
            F(sum(w for w, inside in zip(p, event, strict=True) if inside), sum(p)),
            F(sum(w for w, inside in zip(q, event, strict=True) if inside), sum(q)),
        )


def ratio_over_events(p, q, delta):
    """The largest ([P(S) - delta]+ / Q(S)), 1 at least; None for infinity."""
    best = F(1)
    for a, b in probabilities(p, q):
        if a - delta > 0 and b == 0:
            return None
        if a - delta > 0:
            best = max(best, (a - delta) / b)
    return best


@pytest.mark.reference("B-D15")
@pytest.mark.reference("B-D16")
@pytest.mark.reference("B-S5", "K-D6", "K-D7", "Z-D1", "B-D21")
@pytest.mark.parametrize("delta", [F(0), F(1, 100), F(1, 7), F(2, 3)])
def test_mult_and_mult_delta_are_the_supremum_over_events(delta):
    divergence = MultDelta(delta=delta)
    for p, q in some_pairs(60, 11, zeros=True):
        forth, back = ratio_over_events(p, q, delta), ratio_over_events(q, p, delta)
        expected = INFINITY if forth is None or back is None else ln(max(forth, back))
        value = divergence.between(law(p), law(q))
        assert value.is_exact
        assert value.lower == expected
        if delta == 0:
            assert Mult().between(law(p), law(q)).lower == expected


@pytest.mark.reference("B-D19")
def test_total_variation_is_the_supremum_over_events():
    for p, q in some_pairs(60, 12, zeros=True):
        assert TotalVariation().between(law(p), law(q)).lower == max(abs(a - b) for a, b in probabilities(p, q))


@pytest.mark.reference("B-O37")
def test_values_for_a_fair_and_a_biased_coin():
    assert Mult().between(HALVES, QUARTER).lower == ln(2)
    assert Mult().between(HALVES, QUARTER).lower.decimal() == "0.693147"
    assert TotalVariation().between(HALVES, QUARTER).lower == F(1, 4)


@pytest.mark.reference("B-O38")
def test_mult_delta_of_the_coins():
    value = MultDelta(delta="0.1").between(HALVES, QUARTER)
    assert value.is_exact
    assert value.lower == ln("1.6")
    assert value.lower.decimal() == "0.470004"


@pytest.mark.reference("B-O39")
@pytest.mark.reference("B-S3")
def test_mult_delta_grows_faster_than_the_distance():
    near = MultDelta(delta="0.01").between(FiniteLaw.bernoulli("3/4"), FiniteLaw.bernoulli("1/4")).lower
    two = {(a, b): (9, 3, 1)[a + b] for a in (0, 1) for b in (0, 1)}
    far = (
        MultDelta(delta="0.01")
        .between(FiniteLaw.from_weights(two), FiniteLaw.from_weights({(1 - a, 1 - b): w for (a, b), w in two.items()}))
        .lower
    )
    assert near == ln("2.96")
    assert far / 2 == ln("8.84") / 2
    assert far / 2 > near
    assert (near.decimal(), (far / 2).decimal()) == ("1.08519", "1.08964")
    assert not MultDelta.is_metric


def renyi_by_sum(p, q, order):
    """D_alpha in floats, from the definition."""
    total = sum((a / sum(p)) ** order * (b / sum(q)) ** (1 - order) for a, b in zip(p, q, strict=True))
    return math.log(total) / (order - 1)


@pytest.mark.reference("B-D17", "K-D15")
@pytest.mark.parametrize("order", [F(11, 10), F(2), F(7, 2), F(20)])
def test_renyi_is_the_larger_direction(order):
    for p, q in some_pairs(40, 13):
        value = Renyi(order=order).between(law(p), law(q))
        expected = max(renyi_by_sum(p, q, float(order)), renyi_by_sum(q, p, float(order)))
        assert float(value.lower) - 1e-9 <= expected <= float(value.upper) + 1e-9


@pytest.mark.reference("B-D18")
@pytest.mark.reference("B-S14")
def test_d_nor_is_the_supremum_over_orders_with_its_limit():
    grid = [1 + 10 ** (k / 40) for k in range(-200, 120)]
    for p, q in some_pairs(30, 14):
        divergence = sum(a / sum(p) * math.log(a * sum(q) / b / sum(p)) for a, b in zip(p, q, strict=True))
        reverse = sum(b / sum(q) * math.log(b * sum(p) / a / sum(q)) for a, b in zip(p, q, strict=True))
        with_limit = max(divergence, reverse, *(max(renyi_by_sum(p, q, a), renyi_by_sum(q, p, a)) / a for a in grid if a < 60))
        value = DNor().between(law(p), law(q))
        assert float(value.upper) - float(value.lower) < 1e-9
        assert math.sqrt(max(with_limit, 0)) <= float(value.upper) + 1e-9
        assert float(value.lower) <= math.sqrt(with_limit) + 1e-4


@pytest.mark.reference("B-O36")
def test_d_nor_of_randomised_response_is_a_limit():
    value = DNor().between(FiniteLaw.bernoulli("3/4"), FiniteLaw.bernoulli("1/4"))
    assert value.lower.squared() <= ln(3) / 2 <= value.upper.squared()
    assert value.upper.decimal() == sqrt("1/2*ln(3)").decimal() == "0.741152"
    assert value.upper < number("1.0986123") * sqrt(F(1, 2))  # below epsilon/sqrt(2)


@pytest.mark.long
@pytest.mark.reference("B-D18")
def test_d_nor_obeys_the_triangle_inequality():
    """Proved in the docstring; here 400 random triples, some of them nearly collinear."""
    rng = random.Random(15)
    for trial in range(400):
        size = rng.randint(2, 4)
        p, q = drawn(rng, size, largest=30), drawn(rng, size, largest=30)
        middle = [a * sum(q) + b * sum(p) for a, b in zip(p, q, strict=True)] if trial % 2 else drawn(rng, size, largest=30)
        whole = DNor().between(law(p), law(q)).lower
        parts = [DNor().between(law(p), law(middle)).upper, DNor().between(law(middle), law(q)).upper]
        assert float(whole) <= float(parts[0]) + float(parts[1]) + 1e-12


@pytest.mark.reference("B-S3")
def test_renyi_of_one_order_breaks_the_triangle_inequality():
    p, middle, q = FiniteLaw.bernoulli("1/2"), FiniteLaw.bernoulli("2/3"), FiniteLaw.bernoulli("4/5")
    whole, first, second = (Renyi(order=2).between(*pair) for pair in ((p, q), (p, middle), (middle, q)))
    assert whole.lower > first.upper + second.upper
    assert not Renyi.is_metric


@pytest.mark.reference("B-S3")
def test_mult_delta_breaks_the_triangle_inequality():
    p, middle, q = FiniteLaw.bernoulli("1/2"), FiniteLaw.bernoulli("3/5"), FiniteLaw.bernoulli("7/10")
    divergence = MultDelta(delta="1/10")
    assert divergence.between(p, middle).upper == 0
    assert divergence.between(middle, q).upper == 0
    assert divergence.between(p, q).lower > 0


@pytest.mark.parametrize("divergence", [Mult(), TotalVariation()])
def test_metrics_obey_the_triangle_inequality(divergence):
    rng = random.Random(16)
    for _ in range(200):
        size = rng.randint(2, 4)
        p, r, q = (law(drawn(rng, size)) for _ in range(3))
        assert divergence.between(p, q).lower <= divergence.between(p, r).lower + divergence.between(r, q).lower


@pytest.mark.parametrize("divergence", [Mult(), MultDelta(delta="1/10"), DNor(), Renyi(order=3), TotalVariation()])
def test_all_are_symmetric_and_zero_for_equal_laws(divergence):
    for p, q in some_pairs(20, 17, zeros=True):
        there, back = divergence.between(law(p), law(q)), divergence.between(law(q), law(p))
        assert there.lower <= back.upper
        assert back.lower <= there.upper
        assert divergence.between(law(p), law(p)).upper == 0


@pytest.mark.reference("B-S12")
@pytest.mark.reference("B-T10")
@pytest.mark.parametrize("divergence", [Mult(), MultDelta(delta="9/10"), DNor(), Renyi(order="3/2"), TotalVariation()])
def test_disjoint_laws_are_infinitely_far_except_in_total_variation(divergence):
    value = divergence.between(FiniteLaw.point(0), FiniteLaw.point(1))
    assert value.lower == (1 if divergence == TotalVariation() else INFINITY)


@pytest.mark.reference("B-X1")
def test_the_constant_of_a_concentrated_budget_is_a_square_root():
    assert DNor().lipschitz("rho", number("15.29")) == sqrt("15.29")
    assert DNor().lipschitz("rho", number("15.29")) != 15
    assert DNor.budget_parameters == ("rho",)
    assert Mult().lipschitz("epsilon", ln(3)) == ln(3)


CONSTANTS = {
    (MultDelta(delta="1/10"), Mult()): number(1),
    (MultDelta(delta="1/10"), MultDelta(delta="1/100")): number(1),
    (Mult(), MultDelta(delta=0)): number(1),
    (DNor(), Mult()): sqrt(F(1, 2)),
    (Renyi(order=2), Mult()): number(1),
    (Renyi(order=2), Renyi(order=5)): number(1),
    (TotalVariation(), Mult()): number(F(1, 2)),
    (TotalVariation(), DNor()): sqrt(F(1, 2)),
}


@pytest.mark.spread(4)
@pytest.mark.reference("B-O36")
@pytest.mark.parametrize("pair", list(CONSTANTS), ids=lambda pair: f"{pair[0]} / {pair[1]}")
def test_every_constant_holds_for_random_laws(pair):
    smaller, larger = pair
    constant, reason = smaller.bounded_by(larger)
    assert constant == CONSTANTS[pair]
    assert reason
    for p, q in some_pairs(80, 18, zeros=True):
        left, right = smaller.between(law(p), law(q)), larger.between(law(p), law(q))
        if not right.upper.is_infinite:
            assert float(left.lower) <= float(constant) * float(right.upper) + 1e-12


# A pair of laws at which each constant is nearly attained, so that no smaller one would do.
TIGHT = {
    (DNor(), Mult()): (F(501, 1000), F(499, 1000)),
    (TotalVariation(), Mult()): (F(501, 1000), F(499, 1000)),
    (TotalVariation(), DNor()): (F(501, 1000), F(499, 1000)),
    (MultDelta(delta="1/10"), Mult()): (1 - F(1, 10**60), F(1, 10**60)),
    (MultDelta(delta="1/10"), MultDelta(delta="1/100")): (1 - F(1, 10**60), F(1, 10**60)),
    (Renyi(order=2), Mult()): (1 - F(1, 10**60), F(1, 10**60)),
    (Renyi(order=2), Renyi(order=5)): (1 - F(1, 10**60), F(1, 10**60)),
}


@pytest.mark.parametrize("pair", list(TIGHT), ids=lambda pair: f"{pair[0]} / {pair[1]}")
def test_every_constant_is_the_least(pair):
    left, right = (FiniteLaw.bernoulli(probability) for probability in TIGHT[pair])
    smaller, larger = (divergence.between(left, right) for divergence in pair)
    assert float(smaller.upper) / float(larger.lower) > 0.98 * float(CONSTANTS[pair])


RARE, CLEAR, CLOSE = (F(1, 10**42), F(1, 10**60)), (1 - F(1, 10**60), F(1, 10**60)), (F(501, 1000), F(499, 1000))
UNBOUNDED = {
    (Mult(), DNor()): RARE,
    (Mult(), MultDelta(delta="1/100")): RARE,
    (Mult(), TotalVariation()): RARE,
    (Renyi(order=5), Renyi(order=2)): RARE,
    (MultDelta(delta="1/100"), MultDelta(delta="1/10")): (F(11, 20), F(1, 2)),
    (MultDelta(delta="1/10"), DNor()): CLEAR,
    (Renyi(order=2), DNor()): CLEAR,
    (DNor(), Renyi(order=2)): CLOSE,
    (TotalVariation(), Renyi(order=2)): CLOSE,
    (DNor(), MultDelta(delta="1/10")): CLOSE,
    (TotalVariation(), MultDelta(delta="1/10")): CLOSE,
}


@pytest.mark.parametrize("pair", list(UNBOUNDED), ids=lambda pair: f"{pair[0]} / {pair[1]}")
def test_no_constant_is_claimed_where_none_holds(pair):
    """The pairs of laws shown have quotients above 10, and the quotient grows without bound along their families."""
    assert pair[0].bounded_by(pair[1]) is None
    left, right = (FiniteLaw.bernoulli(probability) for probability in UNBOUNDED[pair])
    smaller, larger = (divergence.between(left, right) for divergence in pair)
    assert smaller.lower > 0
    assert larger.upper == 0 or float(smaller.lower) > 10 * float(larger.upper)


def test_renyi_orders_beyond_all_doubles():
    largest = Renyi(order="1e400").largest_probability(arb("0.5"), arb("0.1"))
    assert 1 - math.exp(-0.1) / 2 <= float(largest.upper()) < 1 - math.exp(-0.1) / 2 + 1e-8
