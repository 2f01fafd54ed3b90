"""Chapter 5 of the thesis, the numbers of one release: examples 6 and 9, figures 5.1 and 5.7, theorems 30, 31 and 34."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from dpspec_attackers.membership import (
    MembershipDifference,
    difference_bound,
    highest_posterior,
    highest_ratio,
    loss_of_approximate,
    loss_of_difference_criterion,
    lowest_posterior,
    worst_priors,
)

from dpspec.base.errors import ParameterError
from dpspec.base.exact import Bracket
from tests.risk.attacking import near


@pytest.mark.reference("Z-O73", "Z-O74", "Z-N5.1", "Z-X18", "Z-S40", "Z-T35", "Z-A17")
def test_example_6():
    loss = loss_of_approximate("1/10", "1e-7", "1/100")
    assert near(loss, 0.1000190, 1e-7)
    assert near(lowest_posterior("1/2", loss), 0.475016)
    assert near(highest_posterior("1/2", loss), 0.524984)
    assert round(float(lowest_posterior("1/2", loss).lower), 2) == 0.48, "printed to the nearest; the bound itself is 47.5%"
    smallest, largest = loss.upper * -1, loss.upper
    assert math.exp(float(largest)) == pytest.approx(1.105192, abs=1e-6)
    assert math.exp(float(smallest)) == pytest.approx(0.904820, abs=1e-6)
    change = difference_bound(loss)
    assert near(change, 0.0249996 + 0.0000050, 1e-5)
    assert float(change.lower) > 0.02, "printed as at most 2%: 2.5% was rounded down"


@pytest.mark.reference("Z-O75", "Z-N5.2", "Z-F5.1", "Z-T35")
@pytest.mark.parametrize(
    ("failure", "loss"), [("2e-6", 1.861995), ("1e-5", 1.141488), ("1e-4", 1.013722), ("1e-3", 1.001368), ("1e-2", 1.000137)]
)
def test_figure_5_1(failure, loss):
    assert near(loss_of_approximate(1, "1e-6", failure), loss)


@pytest.mark.reference("Z-O76", "Z-T35")
@pytest.mark.parametrize(("epsilon", "delta", "failure"), [(1, "1e-5", "1e-3"), (2, "1e-5", "1/20")])
def test_the_form_of_zhao_and_others(epsilon, delta, failure):
    loss = float(loss_of_approximate(epsilon, delta, failure).lower)
    back = float(Fraction(delta)) * (1 + math.exp(-loss)) / (1 - math.exp(epsilon - loss))
    assert back == pytest.approx(float(Fraction(failure)), abs=1e-12, rel=1e-9)


@pytest.mark.reference("Z-O91", "Z-T30")
@pytest.mark.parametrize(
    ("epsilon", "prior", "bound"),
    [
        ("1/10", 0.487503, 0.024995),
        ("1/2", 0.437823, 0.124353),
        (1, 0.377541, 0.244919),
        ("9/5", 0.289050, 0.421899),
        (4, 0.119203, 0.761594),
    ],
)
def test_lemma_30(epsilon, prior, bound):
    up, down = worst_priors(epsilon)
    assert near(up, prior)
    assert near(down, 1 - prior)
    assert near(difference_bound(epsilon), bound)


@pytest.mark.reference("Z-O92", "Z-T31", "Z-X18")
@pytest.mark.parametrize(
    ("epsilon", "loss"), [("1/10", 0.1000626), ("1/2", 0.5080660), (1, 1.0716926), ("3/2", 1.8017136), (2, 3.2346379)]
)
def test_the_converse_of_theorem_31(epsilon, loss):
    assert near(loss_of_difference_criterion(epsilon), loss)
    with pytest.raises(ParameterError, match="below 2 ln 3"):
        loss_of_difference_criterion("2.1972247")


@pytest.mark.reference("Z-O99", "Z-T34", "Z-S2")
@pytest.mark.parametrize(
    ("b", "epsilon"), [("1/100", 0.0400013), ("1/20", 0.2001669), ("1/10", 0.4013414), ("1/5", 0.8109302), ("1/2", 2.1972246)]
)
def test_difference_to_epsilon(b, epsilon):
    found = MembershipDifference(difference=b).recommend()
    assert near(found.value, epsilon)
    assert found.value.is_exact
    assert difference_bound(found.value) == Bracket.exactly(Fraction(b))


@pytest.mark.reference("Z-O88", "Z-O89", "Z-N5.6", "Z-A21", "Z-D49", "Z-F5.6")
def test_example_9():
    loss = loss_of_approximate("9/5", "1e-6", "1/20")
    assert near(highest_posterior("1/2", loss), 0.85815, 1e-5)
    assert near(highest_posterior("1/10", loss), 0.40198, 1e-5)
    worst = worst_priors(loss)[0]
    assert near(worst, 0.28905, 1e-5)
    at_worst = Fraction(float(worst.lower))
    assert near(highest_posterior(at_worst, loss), 0.71095, 1e-5)
    assert near(difference_bound(loss), 0.42190, 1e-5)
    assert near(highest_ratio(at_worst, loss), 2.45963, 1e-5)
    assert math.exp(float(loss.upper)) == pytest.approx(6.0498, abs=1e-3)
    assert [round(100 * float(highest_posterior(p, loss).upper)) for p in ("1/2", "1/10")] == [86, 40]


@pytest.mark.reference("Z-O90", "Z-F5.7", "Z-X14")
def test_figure_5_7():
    loss = loss_of_approximate(2, "1e-5", "1/100")
    up, down = worst_priors(loss)
    assert near(up, 0.26883, 1e-5)
    assert near(down, 0.73117, 1e-5)
    assert near(difference_bound(loss), 0.46234, 1e-5)
