"""Finite laws and their dichotomies, against brute force over all events."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from dpspec.base.errors import NoFormulaError, ParameterError
from dpspec.base.exact import INFINITY, ln, number
from dpspec.laws import IDENTICAL, FiniteDichotomy, FiniteLaw, LaplaceLaw, Law, NotALaw


@st.composite
def pairs(draw: st.DrawFn, size: int = 5, least: int = 0) -> tuple[FiniteLaw, FiniteLaw]:
    """Two laws on the same few outcomes; zeros on either side are frequent unless `least` is positive."""
    n = draw(st.integers(1, size))
    column = st.lists(st.integers(least, 9), min_size=n, max_size=n).filter(any)
    p, q = draw(column), draw(column)
    return FiniteLaw.from_weights(dict(enumerate(p))), FiniteLaw.from_weights(dict(enumerate(q)))


def events(p: FiniteLaw, q: FiniteLaw) -> list[tuple[Fraction, Fraction]]:
    """(P(S), Q(S)) of every event S."""
    outcomes = list(dict.fromkeys(p.support + q.support))
    return [
        (sum((p.probability(o) for o in event), Fraction(0)), sum((q.probability(o) for o in event), Fraction(0)))
        for size in range(len(outcomes) + 1)
        for event in itertools.combinations(outcomes, size)
    ]


def brute_epsilon(p: FiniteLaw, q: FiniteLaw, delta: Fraction) -> Fraction | None:
    """e^epsilon of MULT^delta by its definition (B-D16); None for infinity."""
    best = Fraction(1)
    for p_event, q_event in events(p, q):
        gain = p_event - delta
        if gain > 0 and q_event == 0:
            return None
        if gain > 0:
            best = max(best, gain / q_event)
    return best


def response(chance: str) -> FiniteLaw:
    return FiniteLaw.bernoulli(chance)


# --- the reference values --------------------------------------------------------------------------------------------


@pytest.mark.reference("B-O36")
def test_concentration_of_randomised_response_is_the_limit_at_order_one():
    pair = response("3/4").against(response("1/4"))
    assert pair.concentration().is_exact
    assert pair.concentration().lower == ln(3) / 2
    assert float(ln(3).enclose()) ** 2 / 2 > float(pair.concentration().lower)


@pytest.mark.reference("B-O37")
def test_max_log_ratio_and_total_variation():
    p, q = FiniteLaw.of({0: "1/2", 1: "1/2"}), FiniteLaw.of({0: "1/4", 1: "3/4"})
    both = (p.against(q).max_log_ratio().lower, q.against(p).max_log_ratio().lower)
    assert max(both) == ln(2)
    assert min(both) == ln("3/2")
    assert p.against(q).total_variation().lower == Fraction(1, 4)


@pytest.mark.reference("B-O38")
def test_mult_delta():
    p, q = FiniteLaw.of({0: "1/2", 1: "1/2"}), FiniteLaw.of({0: "1/4", 1: "3/4"})
    assert p.against(q).epsilon_at("0.1").lower == ln("8/5")
    assert q.against(p).epsilon_at("0.1").lower == ln("13/10")


@pytest.mark.reference("B-O39")
def test_mult_delta_is_not_a_metric():
    one = response("3/4").against(response("1/4"))
    assert one.epsilon_at("1/100").lower == ln("2.96")
    two = FiniteLaw.product([response("3/4")] * 2).against(FiniteLaw.product([response("1/4")] * 2))
    assert two.epsilon_at("1/100").lower / 2 == ln("8.84") / 2
    assert two.epsilon_at("1/100").lower / 2 > one.epsilon_at("1/100").lower
    assert one.product(one).epsilon_at("1/100").lower == ln("8.84")


@pytest.mark.reference("B-O23")
@pytest.mark.parametrize(("chance", "ratio"), [("3/5", "3/2"), ("3/4", 3), ("9/10", 9)])
def test_randomised_response(chance, ratio):
    flipped = FiniteLaw.bernoulli(1 - Fraction(chance))
    assert response(chance).against(flipped).max_log_ratio().lower == ln(ratio)


@pytest.mark.reference("B-O41")
@pytest.mark.reference("B-O42")
@pytest.mark.reference("B-O43")
@pytest.mark.parametrize(("stay", "constant"), [("16/17", ln(4)), ("49/50", ln(7))])
def test_swapping_one_pair(stay, constant):
    here = FiniteLaw.of({"a": stay, "b": 1 - Fraction(stay)})
    there = FiniteLaw.of({"b": stay, "a": 1 - Fraction(stay)})
    assert here.against(there).max_log_ratio().lower / 2 == constant


@pytest.mark.reference("B-O28")
def test_four_equal_records():
    p, q = FiniteLaw.product([response("3/4")] * 4), FiniteLaw.product([response("1/4")] * 4)
    assert p.against(q).max_log_ratio().lower == ln(81)


@pytest.mark.parametrize("sizes", list(itertools.product([(2, 4, 6), (1, 0, 3), (5, 10)], repeat=2)))
def test_a_product_is_stored_in_lowest_terms_as_all_laws_are(sizes):
    """Equal laws are stored equally, whichever way they were made."""
    one, two = (FiniteLaw.from_weights(dict(enumerate(weights))) for weights in sizes)
    joint = FiniteLaw.from_weights({(i, j): a * b for i, a in enumerate(sizes[0]) for j, b in enumerate(sizes[1])})
    found = FiniteLaw.product([one, two])
    assert (found.weights, found.total) == (joint.weights, joint.total)
    assert math.gcd(*found.weights.values()) == 1


# --- brute force -----------------------------------------------------------------------------------------------------


@given(pairs(), st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(1, 3), Fraction(7)]))
def test_hockey_stick_is_the_best_event(laws, factor):
    p, q = laws
    expected = max(p_event - factor * q_event for p_event, q_event in events(p, q))
    assert p.against(q).hockey_stick(ln(factor)).lower == expected
    assert p.against(q).hockey_stick(ln(factor)).is_exact


@pytest.mark.reference("B-D16")
@given(pairs(), st.fractions(0, 1, max_denominator=12))
def test_epsilon_at_is_the_best_event(laws, delta):
    p, q = laws
    expected = brute_epsilon(p, q, delta)
    found = p.against(q).epsilon_at(delta)
    assert found.is_exact
    assert found.lower == (INFINITY if expected is None else ln(expected))


@given(pairs(), st.fractions(0, 1, max_denominator=12))
def test_epsilon_at_inverts_the_hockey_stick(laws, delta):
    pair = laws[0].against(laws[1])
    epsilon = pair.epsilon_at(delta).lower
    if epsilon.is_infinite:
        assert pair.singular_mass().lower > delta
    else:
        assert pair.hockey_stick(epsilon).lower <= delta
        assert epsilon == 0 or pair.hockey_stick(epsilon - Fraction(1, 10**9)).upper > delta


@given(pairs())
def test_max_log_ratio_is_the_best_event(laws):
    p, q = laws
    expected = brute_epsilon(p, q, Fraction(0))
    assert p.against(q).max_log_ratio().lower == (INFINITY if expected is None else ln(expected))


@given(pairs(), st.fractions(-2, 3, max_denominator=4))
def test_hockey_stick_encloses_at_rational_epsilon(laws, epsilon):
    p, q = laws
    bracket = p.against(q).hockey_stick(epsilon)
    value = max(float(a) - math.exp(epsilon) * float(b) for a, b in events(p, q))
    assert float(bracket.lower) - 1e-12 <= value <= float(bracket.upper) + 1e-12
    assert float(bracket.upper) - float(bracket.lower) < 1e-15


@given(pairs(least=1), st.fractions(1, 20, max_denominator=4))
def test_renyi_against_floats(laws, order):
    p, q = laws
    bracket = p.against(q).renyi(order)
    alpha = float(order)
    atoms = [(float(a), float(b)) for a, b in p.against(q).atoms()]
    if order == 1:
        value = sum(a * math.log(a / b) for a, b in atoms)
    else:
        value = math.log(sum(a**alpha * b ** (1 - alpha) for a, b in atoms)) / (alpha - 1)
    assert float(bracket.lower) == pytest.approx(value, abs=1e-9)
    assert float(bracket.upper) == pytest.approx(value, abs=1e-9)
    assert bracket.is_exact or order.denominator > 1


@pytest.mark.slow
@given(pairs(), st.data())
def test_data_processing(laws, data):
    """A random kernel never increases a functional."""
    p, q = laws
    rows = {o: data.draw(st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(any)) for o in p.support + q.support}
    kernel = {o: FiniteLaw.from_weights(dict(enumerate(row))) for o, row in rows.items()}

    def through(law: FiniteLaw) -> FiniteLaw:
        chances = [law.probability(o) for o in law.support]
        return FiniteLaw.mixture(chances, [kernel[o] for o in law.support])

    before, after = p.against(q), through(p).against(through(q))
    delta = Fraction(1, 20)
    assert after.max_log_ratio().upper <= before.max_log_ratio().lower
    assert after.hockey_stick(ln(2)).upper <= before.hockey_stick(ln(2)).lower
    assert after.epsilon_at(delta).upper <= before.epsilon_at(delta).lower
    assert after.renyi(1).upper <= before.renyi(1).lower
    assert after.renyi(3).upper <= before.renyi(3).lower
    assert after.concentration().lower <= before.concentration().upper


@given(pairs(size=3), pairs(size=3))
def test_product_of_pairs_is_the_pair_of_products(one, two):
    joint = FiniteLaw.product([one[0], two[0]]).against(FiniteLaw.product([one[1], two[1]]))
    quick = one[0].against(one[1]).product(two[0].against(two[1]))
    assert quick.max_log_ratio() == joint.max_log_ratio()
    for functional in (lambda d: d.hockey_stick(ln(2)), lambda d: d.epsilon_at("1/9"), lambda d: d.renyi(2)):
        assert functional(quick) == functional(joint)


# --- zero, infinity, identity (B-S5) ---------------------------------------------------------------------------------


@pytest.mark.reference("B-S5")
def test_mass_on_one_side_only():
    pair = FiniteLaw.of({0: "1/2", 1: "1/2"}).against(FiniteLaw.point(0))
    assert pair.max_log_ratio().lower == INFINITY
    assert pair.renyi(1).lower == pair.renyi(2).lower == pair.renyi("3/2").lower == INFINITY
    assert pair.concentration().lower == INFINITY
    assert pair.epsilon_at("1/2").lower == 0
    assert pair.epsilon_at("1/3").lower == INFINITY
    assert pair.reverse().max_log_ratio().lower == ln(2)
    assert pair.reverse().renyi(1).lower == ln(2)


@given(pairs())
def test_equal_laws_are_identical(laws):
    pair = laws[0].against(laws[0])
    assert pair.is_identical
    assert all(
        bracket.is_exact and bracket.lower == 0
        for bracket in (pair.max_log_ratio(), pair.renyi(1), pair.renyi("5/2"), pair.concentration(), pair.epsilon_at(0))
    )
    assert laws[0].against(laws[1]).is_identical == (laws[0] == laws[1])


@given(pairs())
def test_outcomes_without_mass_do_not_matter(laws):
    p, q = laws
    padded = FiniteLaw.of({**dict(p.probabilities()), "never": 0})
    assert padded == p
    assert hash(padded) == hash(p)
    assert padded.against(q).atoms() == p.against(q).atoms()


def test_disjoint_laws():
    pair = FiniteLaw.point("x").against(FiniteLaw.point("y"))
    assert pair.total_variation().lower == 1
    assert pair.singular_mass().lower == 1
    assert pair.epsilon_at("99/100").lower == INFINITY
    assert pair.epsilon_at(1).lower == 0


# --- errors ----------------------------------------------------------------------------------------------------------


def test_a_law_that_does_not_sum_to_one_states_its_sum():
    with pytest.raises(NotALaw, match=r"999/1000.*sum to exactly 1"):
        FiniteLaw.of({0: 0.333, 1: 0.333, 2: 0.333})


@pytest.mark.parametrize("weights", [{0: 2, 1: -1}, {0: "3/2", 1: "-1/2"}])
def test_negative_probabilities_are_refused(weights):
    with pytest.raises(NotALaw, match="at least 0"):
        FiniteLaw.of(weights)


@pytest.mark.parametrize("weights", [{}, {0: 0, 1: 0}])
def test_weights_must_not_all_be_zero(weights):
    with pytest.raises(NotALaw, match="must not all be 0"):
        FiniteLaw.from_weights(weights)


@pytest.mark.parametrize("delta", [-1, True, float("nan")])
def test_delta_is_checked(delta):
    with pytest.raises(ParameterError):
        IDENTICAL.epsilon_at(delta)


def test_order_and_epsilon_are_checked():
    with pytest.raises(ParameterError, match="at least 1"):
        IDENTICAL.renyi("1/2")
    with pytest.raises(ParameterError, match="finite"):
        FiniteDichotomy((1, 1), (1, 0), 2, 1).hockey_stick(INFINITY)


def test_atoms_are_exact_or_refused():
    pair = FiniteLaw.of({0: "2/3", 1: "1/3"}).against(FiniteLaw.of({0: "1/7", 1: "6/7"}))
    assert pair.atoms() == ((Fraction(2, 3), Fraction(1, 7)), (Fraction(1, 3), Fraction(6, 7)))
    with pytest.raises(NoFormulaError, match="hockey_stick"):
        LaplaceLaw(0, 1).against(LaplaceLaw(1, 1)).atoms()


def test_unknown_laws_have_no_formula():
    class Foreign(Law):
        def against(self, other):
            return IDENTICAL

    assert FiniteLaw.point(0).against(Foreign()).is_identical


def test_repr_round_trips_through_text():
    assert repr(FiniteLaw.of({0: "1/4", 1: "3/4"})) == "FiniteLaw({0: 1/4, 1: 3/4})"
    assert str(number("1/2")) == "1/2"


def test_a_renyi_divergence_of_a_large_order_takes_no_power_of_millions_of_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """ln(3/4 x 3^(order - 1) + 1/4 x 3^(1 - order)) / (order - 1), for Warner's response."""
    monkeypatch.setattr(FiniteDichotomy, "_power_sum", lambda *_: pytest.fail("a power of millions of digits"))
    found = FiniteDichotomy((3, 1), (1, 3), 4, 4).renyi(1_000_000)
    limit = math.log(3) + math.log(3 / 4) / 999_999
    assert float(found.lower) - 1e-12 <= limit <= float(found.upper) + 1e-12
    assert float(found.upper) - float(found.lower) < 1e-12


@pytest.mark.parametrize("make", [lambda o: FiniteLaw.of({o: 1}), FiniteLaw.point])
@pytest.mark.parametrize("outcome", [math.nan, (0, math.nan), (0, (1, math.nan))])
def test_an_outcome_that_is_no_number_is_refused(make, outcome):
    """Two of them are unequal, so that two laws which release the same had no outcome in common: a claim was refuted."""
    with pytest.raises(NotALaw, match="not equal to itself"):
        make(outcome)
