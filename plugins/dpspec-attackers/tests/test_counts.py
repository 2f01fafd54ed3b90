"""The attackers on counts as attacker models: worst case beside mechanisms, on spaces small enough for exact Bayes by hand."""

import functools
import itertools
from fractions import Fraction

import pytest
from dpspec_attackers.counts import (
    BlockKnowledge,
    Hierarchical,
    Uniqueness,
    expected_posterior,
    right_on_average,
    worst_bet,
    worst_posterior,
)
from dpspec_divergences import DNor, GaussianTradeOff, Mult, MultDelta, TotalVariation
from dpspec_divergences.routes import pure_spec, zcdp_spec
from dpspec_flavours.mechanisms import ListedLaw, ListedLaws
from dpspec_noise import RandomisedResponse
from hypothesis import given, strategies as st

from dpspec import installed
from dpspec.base.errors import AttackerMisfitError, CertainTargetError, NotReachedError, ParameterError
from dpspec.base.exact import number
from dpspec.blocks.records import OrderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.grammar.attacker import Sense
from dpspec.laws.integers import DiscreteGaussianShift, TwoSidedGeometricLaw
from dpspec.laws.law import FiniteLaw
from dpspec.risks.engine import risk

OURS = (BlockKnowledge, Hierarchical, Uniqueness)
THREE_QUARTERS = RandomisedResponse(keep_probability="3/4")


def stated(report, quantity, side):
    return {tuple(row.at): getattr(row, side)[0] for row in report.rows if row.quantity == quantity}


@pytest.mark.slow
def test_they_are_registered_and_say_what_they_assume():
    assert set(OURS) <= set(installed().registry.classes("attackers"))
    for cls in OURS:
        report = risk(pure_spec(epsilon="ln(3)"), cls(priors=["1/2"]), THREE_QUARTERS)
        assert report.rows
        assert not report.exceeded
        assert all(said.assumption == cls.assumption for row in report.rows for said in (*row.worst, *row.own))
        assert not report.unknown


@pytest.mark.reference("Z-D14", "Z-D17")
def test_randomised_response_attains_the_worst_case_of_a_pure_budget():
    """0.75^2 + 0.25^2 = 5/8 for a prior of 1/2; for p = 1/5 it is 3/4 * 3/7 + 1/4 * 1/13."""
    report = risk(pure_spec(epsilon="ln(3)"), BlockKnowledge(priors=["1/2", "1/5"]), THREE_QUARTERS)
    worst, own = (list(stated(report, "mean posterior of the truth", side).values()) for side in ("worst", "own"))
    by_hand = [Fraction(5, 8), Fraction(3, 4) * Fraction(3, 7) + Fraction(1, 4) * Fraction(1, 13)]
    assert [said.value.lower for said in own] == by_hand
    assert {said.relation for said in own} == {Sense.EQUALS}
    for said, exact in zip(worst, by_hand, strict=True):
        assert said.relation is Sense.AT_MOST
        assert said.value.lower <= exact + Fraction(1, 10**9)
        assert exact <= said.value.upper <= exact + Fraction(1, 10**4)
    bets = [said.value.lower for said in stated(report, "right bets", "own").values()]
    assert bets == [Fraction(3, 4), Fraction(4, 5)]


@pytest.mark.reference("Z-D24")
def test_several_levels_are_several_releases():
    report = risk(pure_spec(epsilon="ln(3)"), Uniqueness(priors=["1/2"], levels=[1, 2, 3]), THREE_QUARTERS)
    own = [said.value.lower for said in stated(report, "mean posterior of the truth", "own").values()]
    by_hand = []
    for count in (1, 2, 3):
        total = Fraction(0)
        for bits in itertools.product((3, 1), repeat=count):
            p, q = Fraction(1), Fraction(1)
            for bit in bits:
                p, q = p * Fraction(bit, 4), q * Fraction(4 - bit, 4)
            total += p * p / (p + q)
        by_hand.append(total)
    assert own == by_hand
    worst = [said.value.upper for said in stated(report, "mean posterior of the truth", "worst").values()]
    assert all(bound >= exact for bound, exact in zip(worst, by_hand, strict=True))
    assert float(worst[2]) == pytest.approx((27 * 27 + 1) / (28 * 28), abs=1e-4)  # three pure releases are one of 3 ln 3


@pytest.mark.reference("Z-D19")
def test_not_knowing_the_others_never_helps():
    """Two noisy counts of the target's and another's bit: with a prior of the other, the posterior is that of the mixture."""
    from dpspec_noise import Geometric

    from dpspec.blocks.invariant import LinearMap
    from dpspec.blocks.vectors import BitVectors

    spec = pure_spec(epsilon="ln(2)").replace(space=BitVectors(length=2))
    total = LinearMap(rows=((1, 1),), label="sum")
    noise = Geometric(queries=(total,), epsilon="ln(2)", neighbours="differ-in-one-position")
    known = risk(spec, BlockKnowledge(priors=["1/2"]), noise)
    unknown = risk(spec, Hierarchical(priors=["1/2"]), noise)
    one, other = (next(iter(stated(r, "mean posterior of the truth", "own").values())).value for r in (known, unknown))
    laws = {x: TwoSidedGeometricLaw(x, number("ln(2)")) for x in range(3)}
    mass = {x: {k: law.probability(k) for k in range(-60, 63)} for x, law in laws.items()}
    true, false = ({k: (mass[a][k] + mass[a + 1][k]) / 2 for k in range(-60, 63)} for a in (1, 0))
    by_hand = sum(a * a / (a + false[k]) for k, a in true.items())
    assert float(other.lower) - 1e-9 <= float(by_hand) <= float(other.upper) + 1e-9
    assert other.lower < one.lower


def test_worlds_are_named_or_read_off_the_first_entry():
    named = Hierarchical(priors=["1/2"], worlds=[[[1, 0, 0], [0, 0, 0]], [[1, 1, 1], [0, 1, 1]]])
    said = named.under(THREE_QUARTERS, pure_spec(epsilon="ln(3)"))[0]
    assert said.value.lower == Fraction(5, 8)
    assert "2 equally likely" in said.theorem
    far = Hierarchical(priors=["1/2"], worlds=[[[1, 1, 0], [0, 0, 0]]])
    with pytest.raises(NotReachedError, match="within distance 1"):
        far.under(THREE_QUARTERS, pure_spec(epsilon="ln(3)"))


def test_either_value_of_the_target_may_be_the_true_one():
    """For the data 0 a prior of 1/5 falls to 1/9 in half of the releases, and grows to 1 in the others."""
    rows = [ListedLaw(dataset=(0,), law=(("a", "1/2"), ("b", "1/2"))), ListedLaw(dataset=(1,), law=(("a", "1"),))]
    spec = pure_spec(epsilon="inf").replace(space=BitVectors(length=1))
    own = Hierarchical(priors=["1/5"]).under(ListedLaws(laws=rows), spec)
    mean = Fraction(1, 2) * Fraction(1, 9) + Fraction(1, 2)  # where the data are 1, 1/3
    assert [said.value.lower for said in own if said.quantity == "mean posterior of the truth"] == [mean]


def test_other_values_of_the_target_are_no_other_sets_of_others():
    """Three values, and nobody else: each two values are one pair of laws, and not a mixture over three."""
    drink = Attribute(name="drink", categories=("coffee", "tea", "water"))
    space = OrderedRecords(attributes=(drink,), least=1, most=1)
    rows = [ListedLaw(dataset=((value,),), law=((value, "1"),)) for value in drink.categories]
    spec = pure_spec(epsilon="inf").replace(space=space)
    own = Hierarchical(priors=["1/2"]).under(ListedLaws(laws=rows), spec)
    assert [said.value.lower for said in own if said.quantity == "mean posterior of the truth"] == [1]
    assert "over 1 equally likely" in own[0].theorem


def test_a_space_without_a_first_entry_asks_for_worlds():
    from dpspec.blocks.records import UnorderedRecords

    space = UnorderedRecords(attributes=[{"name": "sex", "categories": ["f", "m"]}], most=2)
    from dpspec_divergences import Hamming

    spec = pure_spec(epsilon=1).replace(space=space, input_divergence=Hamming(unit="person"))
    with pytest.raises(AttackerMisfitError, match="no first entry"):
        Hierarchical().under(THREE_QUARTERS, spec)


@pytest.mark.parametrize(
    ("priors", "error"),
    [([], ParameterError), (["0"], CertainTargetError), (["1"], CertainTargetError), (["-1/2"], ParameterError)],
)
def test_priors_that_leave_no_doubt_are_refused(priors, error):
    with pytest.raises(error):
        BlockKnowledge(priors=priors)


def test_a_divergence_without_composition_cannot_be_asked_about_levels():
    from dpspec_divergences import FDivergence

    spec = pure_spec(epsilon=1)
    spec = spec.replace(
        output_divergence=FDivergence(generator="hellinger", direction="both"),
        budget=type(spec.budget)(parameter="divergence", value=number("1/10")),
    )
    with pytest.raises(AttackerMisfitError, match="does not say what 2 releases spend together"):
        Uniqueness(levels=[2]).worst_case(spec)


@pytest.mark.slow
def test_the_noise_of_a_count_stays_below_the_worst_of_its_rho():
    for rho in ("0.0992", "0.5"):
        worst = worst_posterior(DNor(), number(rho).sqrt(), "1/2")
        own = expected_posterior(DiscreteGaussianShift(1, 1 / (2 * Fraction(rho))), "1/2")
        assert own.upper <= worst.upper
    report = risk(zcdp_spec(rho="0.0992"), BlockKnowledge(priors=["1/2"]))
    assert float(report.rows[0].worst[0].value.upper) == pytest.approx(0.5352, abs=1e-4)


DIVERGENCES = (Mult(), MultDelta(delta="1/10"), TotalVariation(), GaussianTradeOff(), DNor())


@functools.cache
def cached(function, *arguments):
    return function(*arguments)


rows = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=2, max_size=4)


@pytest.mark.spread(1)
@pytest.mark.reference("Z-D17", "Z-D18")
@pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda d: d.name)
@given(rows=rows, prior=st.sampled_from([Fraction(1, 2), Fraction(4, 5)]))
def test_no_pair_of_laws_is_beyond_the_worst_of_its_own_bound(divergence, rows, prior):
    """The bound is the divergence of the pair itself, both ways, rounded up to a power of 2 so that curves are reused."""
    left, right = (FiniteLaw.from_weights({i: row[side] for i, row in enumerate(rows)}) for side in (0, 1))
    spent = max(divergence.between(left, right).upper, divergence.between(right, left).upper)
    if spent.is_infinite:
        return
    bound = next(number(Fraction(2) ** i) for i in range(-4, 9, 2) if spent <= Fraction(2) ** i)
    pair = left.against(right)
    assert expected_posterior(pair, prior).lower <= cached(worst_posterior, divergence, bound, prior).upper
    assert right_on_average(pair, prior).lower <= cached(worst_bet, divergence, bound, prior).upper


def test_the_ends_of_the_worst_cases():
    assert worst_posterior(Mult(), number(0), "1/3").upper == Fraction(1, 3)
    assert worst_posterior(Mult(), number("inf"), "1/3").upper == 1
    assert worst_bet(Mult(), number("inf"), "1/3").upper == 1
    found = worst_posterior(TotalVariation(), number("1/5"), "1/2")
    assert found.lower <= Fraction(3, 5) <= found.upper
