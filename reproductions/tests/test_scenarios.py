"""Scenarios of attribute-restricted neighbours: which queries react, their rho, and what that rho means."""

import itertools
from fractions import Fraction

import pytest
from dpspec_census.configuration_2020 import LEVELS, QUERIES, SCENARIOS, rho_star
from hypothesis import given, strategies as st

from dpspec.base.errors import ParameterError
from reproductions.scenarios import (
    ATTRIBUTES,
    CASES,
    Secret,
    compared,
    delta_given_truth,
    epsilon_any_prior,
    epsilon_given_truth,
    epsilon_of_predictive,
    exact_power,
    power,
    power_bound,
)

REACH = {"hhgq": 8, "hispanic": 2, "votingage": 2, "cenrace": 3}  # three races are enough to see what reacts


def tabulate(record, query, level):
    """Which cell of a query a record is counted in: the unit of the level, and the values that the query tells apart."""
    place, values = record
    unit = place[: LEVELS.index(level)]
    if query.unit == "household":
        return unit, ()
    hhgq = values["hhgq"]
    told = {**values, "hhinstlevels": 0 if hhgq == 0 else 1 if hhgq < 4 else 2}
    return unit, tuple(told[name] for name in query.variables)


def neighbours(secret):
    """All pairs of one person's records that differ only in what is secret, over a small geography of two units a level."""
    start = (0,) * 5
    moves = [start]
    if secret.within is not None:
        fixed = 0 if secret.within == "nation" else LEVELS.index(secret.within)
        moves = [start[:fixed] + tail for tail in itertools.product((0, 1), repeat=5 - fixed)]
    base = dict.fromkeys(ATTRIBUTES, 0)
    changes = [
        {**base, **dict(zip(secret.attributes, values, strict=True))}
        for values in itertools.product(*(range(REACH[name]) for name in secret.attributes))
    ]
    return [(start, base), *((place, values) for place in moves for values in changes)]


secrets = st.builds(
    Secret,
    attributes=st.lists(st.sampled_from(ATTRIBUTES), unique=True, max_size=4).map(tuple),
    within=st.sampled_from((None, "nation", "state", "county", "tract", "block-group")),
)


@pytest.mark.reference("K-D29", "K-D39", "K-A12")
@given(st.data())
def test_a_query_reacts_when_some_restricted_neighbour_is_counted_in_another_cell(data):
    attributes = tuple(data.draw(st.lists(st.sampled_from(ATTRIBUTES), unique=True, max_size=3)))
    levels = ("nation", "state", "county", "tract", "block-group")
    secret = Secret(attributes=attributes, within=data.draw(st.sampled_from(levels if not attributes else (None, *levels))))
    first, *others = neighbours(secret)
    for level, query in itertools.product(LEVELS, QUERIES):
        cell = tabulate(first, query, level)
        changes = any(tabulate(other, query, level) != cell for other in others)
        assert secret.reacts(query, level) == changes, (level, query.name)


@pytest.mark.reference("K-D29", "K-N12", *(f"K-O54{letter}" for letter in "ABCDEFGH"), "K-A12")
@pytest.mark.parametrize("letter", CASES)
def test_the_scenarios_follow_from_what_is_secret(letter):
    assert CASES[letter].rho == SCENARIOS[letter].rho
    assert {(q.name, at) for q, at in CASES[letter].reacting()} == {
        (q.name, at) for q in QUERIES for at in LEVELS if rho_star(q, at) and SCENARIOS[letter].counts(q, at)
    }


@pytest.mark.reference("K-E7", "K-O55", *(f"K-O54{letter}" for letter in "ABCDEFGH"))
def test_which_scenarios_recompute():
    lines = compared()
    assert [line.name for line in lines if line.recomputes] == ["A", "B"]
    assert all(line.rho - line.printed_rho > Fraction(1, 20) for line in lines if not line.recomputes)
    printed = {"E": (0.24, 0.49, 0.63), "F": (0.10, 0.28, 0.41), "B": (0.17, 0.39, 0.53), "A": (0.03, 0.12, 0.21)}
    for line in lines:
        if line.name in printed:
            assert [round(float(value.upper), 2) for value in line.at_printed] == list(printed[line.name])


@pytest.mark.reference("K-N11", "K-O21", "K-O22", "K-O23", "K-D38")
def test_the_table_of_scenario_a():
    levels = ("0.01", "0.05", "0.10")
    assert [float(power("0.1115", a).upper) for a in levels] == pytest.approx([0.031861, 0.120473, 0.209165], abs=1e-6)
    assert [float(power_bound("0.1115", a).upper) for a in levels] == pytest.approx([0.037386, 0.140181, 0.240357], abs=1e-5)
    for a, expected in zip(levels, (0.031861, 0.120473, 0.209165), strict=True):
        found = exact_power(CASES["A"], a)
        assert found.lower - Fraction(1, 10**5) <= expected <= float(found.upper) + 1e-5
        assert found.upper - found.lower < Fraction(1, 10**5)


@pytest.mark.parametrize("letter", ["B", "F"])
def test_the_discrete_noise_has_the_powers_of_gaussian_noise(letter):
    found, gaussian = exact_power(CASES[letter], "0.05"), power(CASES[letter].rho, "0.05")
    assert abs(float(found.upper) - float(gaussian.upper)) < 1e-4
    assert float(found.lower) <= float(gaussian.upper) + 1e-5
    assert found.upper <= power_bound(CASES[letter].rho, "0.05").upper


@pytest.mark.reference("K-N16", "K-O45", "K-F8", "K-F11", "K-F13", "K-F15", "K-F4")
@pytest.mark.parametrize(
    ("rho", "expected"),
    [
        ("0.1115", (0.4514, 0.9230, 1.0714, 1.3601, 1.6945, 2.4445)),
        ("0.555", (1.2307, 2.3260, 2.6640, 3.3172, 4.0698, 5.7508)),
        ("0.926", (1.7513, 3.1904, 3.6308, 4.4798, 5.4558, 7.6316)),
        ("1.32", (2.2614, 4.0018, 4.5312, 5.5497, 6.7185, 9.3205)),
        ("2.63", (3.8249, 6.3476, 7.1056, 8.5578, 10.2186, 13.9046)),
    ],
)
def test_class_c_at_given_delta(rho, expected):
    found = [float(epsilon_given_truth(rho, delta).upper) for delta in ("0.5", "0.1", "0.05", "0.01", "0.001", "1e-6")]
    assert found == pytest.approx(expected, abs=6e-5)


@pytest.mark.reference("K-O44", "K-D26", "K-F7", "K-F9")
def test_three_classes_of_knowledge_at_one_delta():
    """Class b and class c are different events under different laws, so neither contains the other."""
    found = [float(f("0.1115", "0.01").upper) for f in (epsilon_of_predictive, epsilon_given_truth, epsilon_any_prior)]
    assert found == pytest.approx([1.321645, 1.360073, 1.544645], abs=1e-5)
    assert float(epsilon_of_predictive("2.63", "0.1").upper) == pytest.approx(2.302585, abs=1e-6)  # ln(1/delta) <= rho


@pytest.mark.reference("K-N14", "K-F1", "K-F3", "K-F4", "K-F5")
@pytest.mark.parametrize(
    ("delta", "given_truth", "any_prior", "predictive"),
    [
        ("0.1", 6.34757, 7.55171, 2.30259), ("0.05", 7.10556, 8.24383, 2.98383), ("0.01", 8.55781, 9.59034, 4.33034),
        ("1e-3", 10.21862, 11.15465, 5.89465), ("1e-6", 13.90458, 14.68567, 9.42567), ("1e-10", 17.51700, 18.19380, 12.93380),
    ],
)  # fmt: skip
def test_the_curves_of_the_whole_release(delta, given_truth, any_prior, predictive):
    found = [float(f("2.63", delta).upper) for f in (epsilon_given_truth, epsilon_any_prior, epsilon_of_predictive)]
    assert found == pytest.approx([given_truth, any_prior, predictive], abs=6e-6)


@pytest.mark.reference("K-N15", "K-F8")
def test_the_curve_of_class_c_in_scenario_a():
    expected = [0.929205, 0.758618, 0.441305, 0.200194, 0.0705793, 4.04193e-3, 8.03862e-5]
    found = [delta_given_truth("0.1115", epsilon) for epsilon in ("0.1", "0.25", "0.5", "0.75", "1", "1.5", "2")]
    assert [float(value.upper) for value in found] == pytest.approx(expected, rel=1e-5)


@pytest.mark.reference("K-N17", "K-F2", "K-F6", "K-F10", "K-F12", "K-F14")
@pytest.mark.parametrize(
    ("rho", "expected"),
    [
        ("0.1115", (0.0044, 0.0319, 0.1205, 0.2092, 0.3559, 0.4792, 0.6816, 0.8405, 0.9603)),
        ("0.555", (0.0208, 0.1015, 0.2772, 0.4098, 0.5839, 0.7017, 0.8540, 0.9427, 0.9902)),
        ("0.926", (0.0419, 0.1672, 0.3882, 0.5316, 0.6982, 0.7986, 0.9132, 0.9703, 0.9959)),
        ("1.32", (0.0714, 0.2415, 0.4920, 0.6343, 0.7832, 0.8644, 0.9479, 0.9842, 0.9982)),
        ("2.63", (0.2128, 0.4869, 0.7417, 0.8442, 0.9267, 0.9616, 0.9891, 0.9976, 0.9998)),
    ],
)
def test_powers_against_the_level(rho, expected):
    found = [float(power(rho, level).upper) for level in ("0.001", "0.01", "0.05", "0.1", "0.2", "0.3", "0.5", "0.7", "0.9")]
    assert found == pytest.approx(expected, abs=5.1e-5)


@pytest.mark.reference("K-D26")
@given(st.fractions("1/50", 4, max_denominator=50), st.fractions("1/1000", "999/1000", max_denominator=1000))
def test_class_c_turned_round(rho, delta):
    """delta -> epsilon -> delta is the identity, and class d, which asks for less knowledge of the law, promises less."""
    epsilon = epsilon_given_truth(rho, delta)
    middle = (epsilon.lower.as_fraction() + epsilon.upper.as_fraction()) / 2
    found = delta_given_truth(rho, middle)
    assert float(found.lower) == pytest.approx(float(delta), rel=1e-9)
    assert epsilon.lower <= epsilon_any_prior(rho, delta).upper
    assert power(rho, delta).lower >= delta


def test_what_is_no_secret():
    for bad in ({"attributes": ("income",)}, {"within": "block"}, {"within": "us"}, {}):
        with pytest.raises(ParameterError):
            Secret(**bad)
    for bad in (0, 1, "-1/2"):
        with pytest.raises(ParameterError):
            power("0.1", bad)
    with pytest.raises(ParameterError):
        epsilon_given_truth(0, "0.1")
