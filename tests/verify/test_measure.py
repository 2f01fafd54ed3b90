"""The least budget as a bracket: it contains known constants, and its ends are a proof and a pair."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from types import SimpleNamespace

import jsonschema
import pytest
from click.testing import CliRunner

import dpspec as dp
from dpspec.base.errors import ParameterError
from dpspec.base.exact import Bracket, number
from dpspec.cli import main
from dpspec.report import measurement

COUNTS = dp.integer_counts(length=2)
BLOCKS = {"space": COUNTS, "distance": "l1", "standard": "pure"}


def noisy(x, rng):
    return [count + rng.laplace(scale=2.0) for count in x]


def announced(x, rng):
    return "many" if sum(x) + rng.laplace(scale=1.0) > 3 else "few"


def as_it_is(x, rng):
    return x[0]


def one_sided(x, rng):
    return x[0] + int(rng.geometric(0.5))


@pytest.mark.parametrize(
    ("made", "blocks", "constant"),
    [
        (dp.geometric(queries=dp.marginal(attributes="a"), ratio="1/2"), {"distance": "symmetric-difference"}, "ln(2)"),
        (dp.geometric(queries=dp.marginal(attributes="a"), ratio="1/2"), {"distance": "hamming"}, "ln(4)"),
        (dp.laplace(queries=dp.marginal(attributes="a"), epsilon="1/3"), {"distance": "symmetric-difference"}, "1/3"),
    ],
)
def test_a_mechanism_is_measured_exactly(made, blocks, constant):
    found = dp.measure(made, space=dp.records(a=2), standard="pure", **blocks)
    assert found["budget"] == {"lower": constant, "upper": constant}
    assert found["refuted"]["outcome"] == "refuted"
    assert found.exit_code == 0


def test_a_function_that_is_read_is_measured_exactly():
    found = dp.measure(noisy, **BLOCKS, seconds=600, draws=20_000)
    assert found["budget"] == {"lower": "1/2", "upper": "1/2"}
    assert "exactly" in str(found)


def test_a_bracket_holds_the_constant_of_a_threshold():
    found = dp.measure(announced, **BLOCKS, seconds=600, draws=20_000).value  # draws end it, not seconds
    assert float(found.constant.lower) <= 1 <= float(found.constant.upper)
    assert float(found.constant.lower) > 0.5
    assert found.refuted.witness.event is not None


@pytest.mark.parametrize("function", [pytest.param(as_it_is, marks=pytest.mark.slow), one_sided])
def test_where_no_budget_is_enough_a_pair_says_so(function):
    found = dp.measure(function, **BLOCKS, seconds=600, draws=4_000)
    assert found.value.constant.lower.is_infinite
    assert str(found).startswith("No finite epsilon is enough.")
    assert found.exit_code == 0


def test_the_budget_of_concentrated_privacy_is_the_square_of_the_constant():
    found = dp.measure(dp.gaussian(queries=dp.marginal(attributes="a"), variance=1), space=dp.records(a=2),
                       distance="symmetric-difference", standard="zero-concentrated")  # fmt: skip
    assert found["budget"] == {"lower": "1/2", "upper": "1/2"}
    assert math.isclose(float(found.value.constant.upper) ** 2, 0.5)


def test_the_command_measures_the_mechanism_of_a_file():
    said = CliRunner().invoke(main, ["measure", "specs/randomised-response.dpspec.toml", "--format", "json"])
    assert said.exit_code == 0, said.output
    found = json.loads(said.output)
    jsonschema.Draft202012Validator(dp.schema("output")).validate(found)
    assert found["budget"] == {"lower": "ln(3)", "upper": "ln(3)"}
    assert found["by_draws"] is False


def test_an_end_is_rounded_to_its_own_side():
    long = number("ln(4)") * number("1/1000003").as_fraction() - number("ln(3)") * number("1/1000033").as_fraction()
    lower, upper = (
        measurement._answer(SimpleNamespace(parameter="epsilon", budget=budget, is_vacuous=False))
        for budget in (Bracket(lower=long, upper=number(1)), Bracket(lower=number(0), upper=long))
    )
    below, above = lower.split("between ")[1].split(" and ")[0], upper.split(" and ")[1].removesuffix(".")
    assert number(below) < long < number(above)
    assert measurement._below(number("12345678901/99999999999")) == "0.123456789"
    assert measurement._below(number("1/30000000000000")) != "0"
    assert measurement._below(number("ln(3)")) == "ln(3)"


def test_what_is_missing_is_said():
    with pytest.raises(ParameterError, match="needs a specification, or the blocks by name"):
        dp.measure(noisy)
    with pytest.raises(ParameterError, match="needs a mechanism or a function"):
        dp.measure(**BLOCKS)
    said = CliRunner().invoke(main, ["measure", "specs/randomised-response.dpspec.toml", "--seed", "1"])
    assert said.exit_code == 2
    assert "belongs to --function" in said.output


class Unsure:
    """A judge that says what it was told for each budget, and counts."""

    def __init__(self, outcomes):
        self.outcomes, self.asked = outcomes, []

    def __call__(self, spec, share):
        from dpspec.verifier.verdict import Outcome, Verdict

        self.asked.append(spec.budget.value)
        outcome = self.outcomes(spec.budget.value)
        return Verdict(outcome=Outcome[outcome], method="none" if outcome == "UNDECIDED" else "sampled", scope="")


def test_undecided_claims_bound_nothing():
    from dpspec.verifier.measure import TRIES, measure

    blocks = dp.spec(**BLOCKS, epsilon=1)
    judge = Unsure(lambda value: "REFUTED" if value < dp.number("3/10") else "UNDECIDED")
    found = measure(judge, blocks)
    assert found.constant.upper.is_infinite
    assert dp.number("1/4") <= found.constant.lower < dp.number("3/10")
    assert len(judge.asked) == TRIES + 1
    assert found.exit_code == 3


def test_where_nothing_is_compared_nothing_is_promised():
    """With the whole table published, no universe holds two datasets."""
    people = dp.records(a=2, most=2)
    table = dp.marginal(attributes="a")
    noise = dp.geometric(queries=table, ratio="1/2")
    found = dp.measure(noise, space=people, invariants=[table], distance="hamming", standard="pure")
    assert found["vacuous"] is True
    assert str(found).startswith("No epsilon has an effect")


def test_a_file_whose_space_stands_in_for_another_says_so():
    found = dp.measure(against="specs/deployments/cms-cell-size.dpspec.toml")
    assert found["stand_ins"]
    assert "in place of what is not published" in str(found)


def test_a_number_comes_with_its_delta_and_with_the_change_that_it_is_for():
    noise = dp.geometric(queries=dp.marginal(attributes="a"), ratio="1/4")
    for divergence, told in (
        ({"type": "mult-delta", "delta": "1/100"}, "delta = 0.01"), ({"type": "renyi", "order": 2}, "of order 2"),
    ):  # fmt: skip
        found = dp.measure(
            noise, space=dp.records(a=2, most=2), standard=divergence,
            distance={"type": "neighbour", "relation": {"type": "add-remove"}},
        )  # fmt: skip
        assert told in str(found).splitlines()[1]
        assert "one person added or removed" in str(found).splitlines()[1]
        assert told in found["standard"]


def test_where_no_finite_budget_is_enough_two_datasets_are_named():
    gaussian = dp.gaussian(queries=dp.marginal(attributes="a"), variance=1)
    found = dp.measure(gaussian, space=dp.records(a=2), distance="symmetric-difference", standard="pure")
    assert str(found).startswith("No finite epsilon is enough.")
    assert "not enough: refuted at every finite epsilon by two datasets" in str(found)
    assert "no pair of datasets" not in str(found)
    assert found.value.refuted.witness.divergence.lower.is_infinite


def test_numbers_are_short_and_lower_ends_are_rounded_down():
    gaussian = dp.gaussian(queries=dp.marginal(attributes="a"), variance=1)
    found = dp.measure(
        gaussian, space=dp.records(a=2), standard={"type": "mult-delta", "delta": "1/1000000"},
        distance={"type": "neighbour", "relation": {"type": "add-remove"}},
    )  # fmt: skip
    assert not re.search(r"\d{7,}/", str(found))
    low, high = (Fraction(text.rstrip(".")) for text in re.findall(r"\d+\.\d+", str(found).splitlines()[0]))
    assert number(low) <= found.value.budget.lower <= found.value.budget.upper <= number(high)


def test_a_product_is_measured_by_its_first_promise_and_says_so():
    said = CliRunner().invoke(main, ["measure", "specs/deployments/wikimedia-editors-monthly.dpspec.toml"])
    assert "about its first promise alone, and not about those of its parts" in said.stderr
