"""Numbers of attackers that were too small, or said to be exact where they were about fewer candidates than the question."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

import dpspec as dp
from dpspec.grammar.attacker import RiskStatement, Sense

SEX = {"name": "sex", "categories": ["f", "m"]}
AREA = {"name": "area", "categories": ["n", "s"]}
PRIOR = "posterior by prior, largest"


def document(space: Any, mechanism: Any, distance: Any, epsilon: str = "1") -> Any:
    return dp.build(
        space=space, multiverse={"invariants": []}, input_divergence=distance, output_divergence={"type": "mult"},
        budget={"epsilon": epsilon}, mechanism=mechanism,
    )  # fmt: skip


def stated(report: Any, quantity: str) -> tuple[tuple[RiskStatement, ...], tuple[RiskStatement, ...]]:
    """What holds for any mechanism, and what for this one."""
    (row,) = (row for row in report.rows if row.quantity == quantity)
    return row.worst, row.own


HOUSEHOLDS = {"type": "households", "household": [AREA], "person": [SEX], "most": 10, "members": 3}
SERIES = {"type": "time-series", "length": 2, "low": 0, "high": 1, "whole": True, "most": 12}
COUNT = {"type": "geometric", "queries": [{"type": "marginal", "attributes": ["sex"], "unit": "person"}], "ratio": "1/2"}


@pytest.mark.parametrize("unit", ["person", "household"])
def test_a_prior_may_tie_all_persons_of_all_households(unit: str) -> None:
    """Thirty persons, all women or all men: the released count tells of thirty persons, not of ten households."""
    asked = document(HOUSEHOLDS, COUNT, {"type": "hamming", "unit": unit})
    ((most,), _) = stated(dp.risk(asked, attacker="arbitrary-prior", distance=1), PRIOR)
    assert most.relation is Sense.AT_MOST
    assert float(most.value.upper) == pytest.approx(math.exp(30 if unit == "person" else 10))


def test_a_prior_may_tie_all_series() -> None:
    """Twelve series of two moments are twelve persons."""
    mechanism = {"type": "listed-laws", "laws": [{"dataset": [], "law": {"any": 1}}], "otherwise": {"any": 1}}
    asked = document(SERIES, mechanism, {"type": "hamming", "unit": "person"})
    ((most,), _) = stated(dp.risk(asked, attacker="arbitrary-prior", distance=1), PRIOR)
    assert float(most.value.upper) == pytest.approx(math.exp(12))


def test_the_others_may_be_fewer_records_than_the_space_allows() -> None:
    """A record that is certainly included has no dataset without it where it is the only one."""
    laws = [{"dataset": [["f"]], "law": {"u": "3/4", "v": "1/4"}}, {"dataset": [["m"]], "law": {"u": "1/4", "v": "3/4"}}]
    mechanism = {"type": "listed-laws", "laws": laws, "otherwise": {"u": "1/2", "v": "1/2"}}
    space = {"type": "records", "attributes": [SEX], "least": 1, "most": 2}
    asked = document(space, mechanism, {"type": "symmetric-difference"}, "ln(2)")
    (_, (own,)) = stated(dp.risk(asked, attacker="independent-record", value="1/2"), PRIOR)
    assert own.relation is Sense.EQUALS
    assert own.value.upper == own.value.lower == Fraction(3, 2)


@pytest.mark.parametrize("attacker", ["sampling-outsider", "nosy-neighbour", "journalist"])
def test_samples_are_of_all_records(attacker: str) -> None:
    """Of 5,000 records one has another law, which is not the first one."""
    laws = [{"dataset": [["7"]], "law": {"u": "3/4", "v": "1/4"}}]
    mechanism = {"type": "listed-laws", "laws": laws, "otherwise": {"u": "1/4", "v": "3/4"}}
    space = {"type": "ordered-records", "attributes": [{"name": "kind", "count": 5_000}], "least": 1, "most": 1}
    report = dp.risk(document(space, mechanism, {"type": "hamming-ordered"}, "ln(3)"), attacker=attacker, population=1)
    (worst, own) = stated(report, "posterior odds by prior odds")
    assert worst[0].value.upper == 3
    assert own == ()
    assert "more than 4,096 datasets" in str(report.unknown)


def test_the_others_are_anything_only_where_they_are_listed() -> None:
    """Of 20 bits one pair was taken for all others."""
    response = {"type": "randomised-response", "keep_probability": "3/4"}
    small, large = (
        document({"type": "bit-vectors", "length": length}, response, {"type": "hamming-ordered"}, "ln(3)") for length in (3, 20)
    )
    (own,) = stated(dp.risk(small, attacker="hierarchical", priors=["1/2"]), "mean posterior of the truth")[1]
    assert own.relation is Sense.EQUALS
    report = dp.risk(large, attacker="hierarchical", priors=["1/2"])
    assert stated(report, "mean posterior of the truth")[1] == ()
    assert "too many to list" in str(report.unknown)


def test_the_noise_of_the_same_rho_is_no_more_exact_than_rho() -> None:
    """On an unlimited space the smallest datasets give a lower bound of rho, which two changed records exceed."""
    count = {"type": "marginal", "attributes": [], "where": {"sex": ["f"]}}
    powers: list[RiskStatement] = []
    for limit in ({"most": 2}, {}):
        asked = dp.build(
            space={"type": "records", "attributes": [SEX], **limit}, multiverse={"invariants": []},
            input_divergence={"type": "hamming"}, output_divergence={"type": "d-nor"}, budget={"rho": "20"},
            mechanism={"type": "geometric", "queries": [count], "ratio": "1/2"},
        )  # fmt: skip
        report = dp.risk(asked, attacker="attribute-restricted", attributes=["sex"], levels=["1/20"], distance=2)
        powers += stated(report, "power of Gaussian noise of the same rho")[1]
    small, large = powers
    assert small.relation is Sense.EQUALS
    assert large.relation is Sense.AT_LEAST
    assert large.value.lower <= small.value.upper


def test_membership_under_concentrated_privacy_is_about_rho_and_not_its_root() -> None:
    """A large rho and its root: out of the data, an outcome of probability 2/3 makes membership less likely than was stated."""
    laws = [{"dataset": [], "law": {"u": "1/3", "v": "2/3"}}, {"dataset": [["f"]], "law": {"u": "100/101", "v": "1/101"}}]
    asked = dp.build(
        space={"type": "records", "attributes": [SEX], "most": 1}, multiverse={"invariants": []},
        input_divergence={"type": "symmetric-difference"}, output_divergence={"type": "d-nor"}, budget={"rho": "5/2"},
        mechanism={"type": "listed-laws", "laws": laws, "otherwise": {"u": "1/3", "v": "2/3"}},
    )  # fmt: skip
    assert asked.mechanism is not None
    assert dp.verify(asked.mechanism, asked.spec).outcome.value == "verified"
    report = dp.risk(asked, attacker="strong-membership", failure="2/5", priors=["1/10"])
    ((least,), _) = stated(report, "least posterior of membership")
    member, other = Fraction(1, 10) * Fraction(1, 101), Fraction(9, 10) * Fraction(2, 3)
    assert least.relation is Sense.AT_LEAST
    assert least.value.lower <= member / (member + other)


def test_a_list_without_records_has_no_first_one() -> None:
    """It ended with an IndexError; the target is the first of as many records."""
    space = {"type": "ordered-records", "attributes": [SEX], "least": 0, "most": 2}
    count = {"type": "geometric", "queries": [{"type": "marginal", "attributes": ["sex"]}], "ratio": "1/2"}
    asked = document(space, count, {"type": "symmetric-difference"})
    report = dp.risk(asked, attacker="hierarchical", priors=["1/2"], distance=2)
    (own,) = stated(report, "mean posterior of the truth")[1]
    assert "mixtures over 3 equally likely" in own.theorem
