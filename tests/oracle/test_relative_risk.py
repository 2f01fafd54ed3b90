"""Relative risk under randomised response: the exact values of B-O25 to B-O30 and the claims B-T4 to B-T9."""

import itertools
from fractions import Fraction

import pytest
from dpspec_noise import RandomisedResponse

from dpspec.base.errors import ParameterError
from dpspec.blocks.vectors import BitVectors
from dpspec.risks.candidates import likelihood_ratio, relative_risk

F = Fraction
RESPONSE = RandomisedResponse(keep_probability=F(3, 4))


def first_is_one(bits: object) -> bool:
    return bits[0] == 1  # type: ignore[index]


def ratio(prior: dict[tuple[int, ...], Fraction], outcome: tuple[int, ...]) -> Fraction:
    return likelihood_ratio(RESPONSE, BitVectors(length=len(outcome)), prior, first_is_one, outcome)


@pytest.mark.reference("B-O25", "B-D26")
def test_relative_risk_of_a_likelihood_ratio() -> None:
    assert relative_risk(F(3), F(1, 4)) == 2
    assert relative_risk(F(1, 3), F(1, 4)) == F(2, 5)
    assert relative_risk(F(3, 2), F(1, 2)) == F(6, 5)


@pytest.mark.reference("B-T4", "B-S18")
@pytest.mark.parametrize("lr", [F(1, 9), F(2, 3), F(1), F(3, 2), F(81)])
def test_relative_risk_lies_between_one_and_the_ratio_with_the_ends_at_theta_0_and_1(lr: Fraction) -> None:
    values = [relative_risk(lr, F(k, 20)) for k in range(21)]
    assert values[0] == lr
    assert values[-1] == 1
    assert values == sorted(values, reverse=lr >= 1)


@pytest.mark.reference("B-T4")
def test_posterior_odds_are_the_ratio_times_prior_odds() -> None:
    for theta in (F(1, 10), F(1, 3), F(4, 5)):
        lr = ratio({(1,): theta, (0,): 1 - theta}, (1,))
        posterior = theta * relative_risk(lr, theta)
        assert posterior / (1 - posterior) == lr * theta / (1 - theta) == 3 * theta / (1 - theta)


@pytest.mark.reference("B-O26", "B-T6")
def test_two_equal_records_double_the_loss() -> None:
    assert ratio({(1, 1): F(1, 2), (0, 0): F(1, 2)}, (1, 1)) == 9


@pytest.mark.reference("B-O27", "B-T6")
@pytest.mark.parametrize(
    ("theta", "expected", "covariance"),
    [
        ((F(1, 4), F(1, 4), F(1, 4), F(1, 4)), F(3), F(0)),
        ((F(3, 10), F(1, 5), F(1, 5), F(3, 10)), F(11, 3), F(1, 20)),
        ((F(1, 5), F(3, 10), F(3, 10), F(1, 5)), F(27, 11), F(-1, 20)),
    ],
)
def test_the_ratio_exceeds_one_record_exactly_with_positive_covariance(
    theta: tuple[Fraction, ...], expected: Fraction, covariance: Fraction
) -> None:
    prior = dict(zip([(1, 1), (1, 0), (0, 1), (0, 0)], theta, strict=True))
    assert ratio(prior, (1, 1)) == expected
    both, one, other = theta[0], theta[0] + theta[1], theta[0] + theta[2]
    assert both - one * other == covariance
    assert (expected > 3) == (covariance > 0)


@pytest.mark.reference("B-O28", "B-T7", "B-T8", "B-X9")
def test_equal_records_multiply_and_break_the_bound_with_two_chamber_members() -> None:
    for n, expected in ((2, 9), (3, 27), (4, 81)):
        prior = {(1,) * n: F(1, 2), (0,) * n: F(1, 2)}
        assert ratio(prior, (1,) * n) == expected
    # Read literally, one copy is a Markov boundary of the first record, so c = 2 and e^(2 eps) = 9 would be the bound.
    assert 81 > 3**2


@pytest.mark.reference("B-T5", "B-T8", "B-D28")
def test_against_the_strongest_attacker_the_ratio_stays_within_e_to_the_epsilon() -> None:
    for others in itertools.product((0, 1), repeat=2):
        for theta in (F(1, 50), F(1, 2), F(9, 10)):
            prior = {(1, *others): theta, (0, *others): 1 - theta}
            for outcome in itertools.product((0, 1), repeat=3):
                assert F(1, 3) <= ratio(prior, outcome) <= 3
                assert F(1, 3) <= relative_risk(ratio(prior, outcome), theta) <= 3


@pytest.mark.reference("B-S18")
def test_a_secret_without_prior_mass_is_refused() -> None:
    with pytest.raises(ParameterError, match="no mass"):
        ratio({(0,): F(1)}, (1,))
