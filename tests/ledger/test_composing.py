"""How output divergences add up: against the exact divergence of the joint laws, and against numbers computed by hand."""

from fractions import Fraction

import pytest
from dpspec_divergences.f_divergence import FDivergence
from dpspec_divergences.output import DNor, Mult, MultDelta, Renyi, TotalVariation
from dpspec_divergences.trade_off import GaussianTradeOff, HockeyStick
from dpspec_flavours.streams.personal import MultOneWay
from hypothesis import given, strategies as st

from dpspec.base.exact import INFINITY, number
from dpspec.blocks.output_divergence import total
from dpspec.laws.law import FiniteLaw

ADDING = [
    Mult(), MultDelta(delta="0.1"), DNor(), Renyi(order=2), Renyi(order="3/2"), TotalVariation(), HockeyStick(epsilon="ln(2)"),
    FDivergence(generator="kl", direction="both"), FDivergence(generator="kl", direction="backward"), GaussianTradeOff(),
    MultOneWay(),
]  # fmt: skip

weights = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=2, max_size=3)
"""The weights of two laws on the same outcomes."""


def law(parts):
    return FiniteLaw.from_weights(dict(enumerate(parts)))


def joint(laws):
    """The joint law of independent ones, from the definition."""
    atoms = {(): Fraction(1)}
    for single in laws:
        atoms = {(*seen, value): p * q for seen, p in atoms.items() for value, q in single.probabilities()}
    return FiniteLaw.of(atoms)


@pytest.mark.spread(2)
@pytest.mark.parametrize(
    "divergence", [pytest.param(each, marks=pytest.mark.slow) if each == DNor() else each for each in ADDING], ids=str
)
@given(pairs=st.lists(weights, min_size=2, max_size=3))
def test_the_joint_release_spends_no_more(divergence, pairs):
    first = divergence.budget_parameters[0]
    laws = [(law([p for p, _ in both]), law([q for _, q in both])) for both in pairs]
    spent = [(divergence, divergence.budget_for(first, divergence.between(p, q).upper)) for p, q in laws]
    found = divergence.composed(spent)
    allowed = found.divergence.lipschitz(first, found.value)
    reached = found.divergence.between(joint([p for p, _ in laws]), joint([q for _, q in laws]))
    assert reached.lower <= allowed


@pytest.mark.parametrize(
    "divergence", [Mult(), Renyi(order=2), DNor(), FDivergence(generator="kl", direction="forward")], ids=str
)
def test_the_sum_is_attained(divergence):
    """Equal answers twice: no smaller sum would hold."""
    first = divergence.budget_parameters[0]
    p, q = law([3, 1]), law([1, 3])
    value = divergence.budget_for(first, divergence.between(p, q).lower)
    found = divergence.composed([(divergence, value)] * 2)
    reached = found.divergence.between(joint([p, p]), joint([q, q]))
    assert reached.upper >= divergence.lipschitz(first, found.value) * Fraction(999, 1000)


def test_deltas_add_though_they_differ():
    parts = [(MultDelta(delta="0.1"), number("ln(2)")), (MultDelta(delta="0.05"), number(1)), (Mult(), number("1/2"))]
    found = MultDelta(delta=0).composed(parts)
    assert (found.divergence, found.value) == (MultDelta(delta="0.15"), number("ln(2)") + Fraction(3, 2))
    assert found.rule == "epsilon adds and delta adds"


def test_deltas_that_reach_one_say_nothing():
    assert MultDelta(delta="0.5").composed([(MultDelta(delta="0.5"), number(1))] * 2) is None


@pytest.mark.reference("K-O33")
def test_squares_of_mu_add():
    one = (GaussianTradeOff(), number(1))
    assert GaussianTradeOff().composed([one, one]).value == number("sqrt(2)")
    three, four = (GaussianTradeOff(), number(3)), (GaussianTradeOff(), number(4))
    assert GaussianTradeOff().composed([three, four]).value == 5


def test_rho_adds_and_not_its_root():
    found = DNor().composed([(DNor(), number("2.56")), (DNor(), number("0.07"))])
    assert found.value == number("2.63")
    assert DNor().composed([(DNor(), number(1)), (DNor(), INFINITY)]).value.is_infinite


def test_some_do_not_say():
    """Chi-squared multiplies: (1 + a)(1 + b) - 1 is more than a + b."""
    divergence = FDivergence(generator="chi-squared", direction="both")
    assert divergence.composed([(divergence, number(1))] * 2) is None


@pytest.mark.parametrize("divergence", ADDING[:6], ids=str)
def test_a_part_measured_otherwise_is_not_added(divergence):
    assert divergence.composed([(divergence, number(1)), (GaussianTradeOff(), number(1))]) is None


@given(st.lists(st.sampled_from(["0", "1/3", "ln(2)", "sqrt(2)", "ln(3)", "sqrt(5)"]), max_size=5))
def test_a_total_is_never_below_the_sum(texts):
    values = [number(text) for text in texts]
    enclosed = sum((value.enclose(256) for value in values), number(0).enclose(256))
    assert not total(values).enclose(256) < enclosed
