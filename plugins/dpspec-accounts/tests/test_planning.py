"""The split of a cap: never above it, never worse than what a search finds, and its bound below every split that there is."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest
from dpspec_accounts.account import Account
from dpspec_accounts.planning import BOUGHT, plan
from dpspec_accounts.totals import FILTERS
from dpspec_census.configuration_2020 import rho_star, spending
from scipy.optimize import minimize

import dpspec as dp
from dpspec import DpspecError

PEOPLE = dp.records(region=["north", "south"])
STANDARDS = {
    "pure": ({"standard": "pure", "epsilon": "3/2"}, 1.5, 1.0),
    "approximate": ({"standard": "approximate", "epsilon": "3/2", "delta": "1e-6"}, 1.5, 1.0),
    "zCDP": ({"standard": "zCDP", "rho": "1/2"}, 0.5, 1.0),
    "renyi": ({"standard": "renyi", "order": "5/2", "epsilon": "1/3"}, 1 / 3, 1.0),
    "gaussian": ({"standard": "gaussian", "mu": "2"}, 2.0, 2.0),
}
"""Name to the blocks of a cap, its number, and the power of the number that adds."""


def cap(name):
    return dp.spec(space=PEOPLE, distance="add-remove", **STANDARDS[name][0])


def variance(name, sensitivity, budget):
    """Of Laplace or Gaussian noise, by the definitions of the standards, in doubles."""
    if name in {"pure", "approximate"}:
        return 2 * (sensitivity / budget) ** 2
    if name == "gaussian":
        return (sensitivity / budget) ** 2
    return sensitivity**2 * (2.5 if name == "renyi" else 1.0) / (2 * budget)


def error(name, objective, lines, budgets):
    found = [variance(name, float(line["sensitivity"]), b) for line, b in zip(lines, budgets, strict=True)]
    if objective == "largest":
        return max(line["weight"] ** 2 * v for line, v in zip(lines, found, strict=True))
    return sum(line["times"] * line["weight"] * v for line, v in zip(lines, found, strict=True))


def calendar(seed, size):
    draw = random.Random(seed)
    return [
        {"name": f"r{n}", "times": draw.choice([1, 2, 52]), "sensitivity": draw.choice([1, 2, 5]), "weight": draw.randint(1, 9)}
        for n in range(size)
    ]


@pytest.mark.spread(5, slow=5)
@pytest.mark.parametrize("objective", ["weighted", "largest"])
@pytest.mark.parametrize("name", STANDARDS)
def test_no_split_has_a_smaller_error(name, objective):
    """2,000 random splits, and a numerical search: none is below the bound, and the plan is no worse than the best of them."""
    _, whole, power = STANDARDS[name]
    for seed, size in itertools.product(range(4), (1, 2, 5)):
        lines = calendar(seed, size)
        found = plan(cap(name), {"release": lines}, objective=objective).value
        budgets = [float(one.budget) for one in found.releases]
        ours = float(found.error)
        assert ours == pytest.approx(error(name, objective, lines, budgets), rel=1e-9)
        assert math.fsum(line["times"] * b**power for line, b in zip(lines, budgets, strict=True)) <= whole**power * (1 + 1e-12)
        bound, draw = float(found.error / found.above), random.Random(seed)
        for _ in range(2000 // 12):
            parts = [draw.expovariate(1) + 1e-6 for _ in lines]
            total = sum(line["times"] * part for line, part in zip(lines, parts, strict=True))
            split = [(whole**power * part / total) ** (1 / power) for part in parts]
            assert error(name, objective, lines, split) >= bound * (1 - 1e-12)
        if objective == "weighted":
            best = searched(name, lines, whole, power)
            assert ours <= best * (1 + 1e-4)
            assert bound <= best * (1 + 1e-9)


def searched(name, lines, whole, power):
    """The least weighted error that scipy finds, over logarithms of parts that are scaled to the cap."""

    def of(logs):
        parts = [math.exp(one) for one in logs]
        total = sum(line["times"] * part for line, part in zip(lines, parts, strict=True))
        split = [(whole**power * part / total) ** (1 / power) for part in parts]
        return error(name, "weighted", lines, split)

    options = {"maxiter": 4000, "xatol": 1e-9, "fatol": 1e-12}
    return float(minimize(of, [0.0] * len(lines), method="Nelder-Mead", options=options).fun)


@pytest.mark.parametrize("name", STANDARDS)
def test_the_total_is_at_most_the_cap_exactly(name):
    for seed in range(30):
        found = plan(cap(name), {"release": calendar(seed, 1 + seed % 7)}).value
        squares = name == "gaussian"
        total = sum(one.release.times * (one.budget**2 if squares else one.budget) for one in found.releases)
        assert total == found.total <= found.available
        assert 1 <= found.above < 1 + Fraction(1, 10**4)


def test_an_irrational_cap_is_split_from_below():
    spec = dp.spec(space=PEOPLE, distance="add-remove", standard="pure", epsilon="ln(3)")
    found = plan(spec, {"release": [{"name": "a"}]}).value
    assert found.total == Fraction("1.09861")
    assert math.log(3) - 1e-5 < float(found.available) <= math.log(3)


def test_a_cap_in_the_square_of_which_nothing_is_rational_is_split_from_below():
    """mu = ln 3: its square has no exact form; it ended in a ValueError."""
    spec = dp.spec(space=PEOPLE, distance="add-remove", standard="gaussian", mu="ln(3)")
    found = plan(spec, {"release": [{"name": "a"}]}).value
    assert found.releases[0].budget == Fraction("1.09861")
    assert math.log(3) ** 2 - 1e-12 < float(found.available) <= math.log(3) ** 2


def test_a_cap_far_below_what_doubles_hold_is_split():
    """It ended in an error of a logarithm."""
    spec = dp.spec(space=PEOPLE, distance="add-remove", standard="pure", epsilon="1e-400")
    found = plan(spec, {"release": [{"name": "a", "times": 2}]}).value
    assert found.releases[0].budget == Fraction("5e-401")


def test_every_standard_of_an_account_can_be_planned_in():
    assert BOUGHT.keys() == FILTERS.keys()


def test_equal_releases_share_equally():
    found = plan(cap("zCDP"), {"release": [{"name": "a", "times": 5}]}).value
    assert found.releases[0].budget == Fraction(1, 10)
    assert found.releases[0].variance == 5


def test_the_allocation_of_2020():
    """What the rho of the persons could have bought: with equal weights for all queries of all levels."""
    lines = [
        {"name": f"{query.name} {level}", "sensitivity": "sqrt(2)", "budget": str(rho_star(query, level))}
        for query, level in spending("person")
    ]
    spec = dp.spec(space=PEOPLE, distance="add-remove", standard="zCDP", rho="2.56")
    found = plan(spec, {"release": lines}).value
    assert found.spent_before == Fraction("2.56")
    assert found.before == sum((1 / rho_star(query, level) for query, level in spending("person")), Fraction(0))
    assert found.error == pytest.approx(len(lines) ** 2 / 2.56, rel=1e-4)
    assert 60 < found.before / found.error < 70


def test_the_remainder_of_an_account_is_split(tmp_path):
    account = Account.create(tmp_path / "a.db", cap("zCDP"), as_promised=True)
    account.charge(dp.spec(space=PEOPLE, distance="add-remove", standard="zCDP", rho="1/10"))
    found = plan(tmp_path / "a.db", {"release": [{"name": "rest", "times": 4}]}).value
    assert found.releases[0].budget == Fraction(1, 10)
    assert len(account.balance().history.charges) == 1


GOOD = {"name": "a"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "has no [[release]]"),
        ({"release": []}, "has no [[release]]"),
        ({"release": [GOOD], "objectve": 1}, "objectve is no key"),
        ({"release": [GOOD], "objective": "best"}, "is none of weighted, largest"),
        ({"release": [{"name": ""}]}, "has no name"),
        ({"release": [{**GOOD, "times": 0}]}, "times is no whole number"),
        ({"release": [{**GOOD, "times": True}]}, "times is no whole number"),
        ({"release": [{**GOOD, "weight": 0}]}, "not positive"),
        ({"release": [{**GOOD, "weight": "many"}]}, "weight"),
        ({"release": [{**GOOD, "sensitivity": 0}]}, "sensitivity is no positive number"),
        ({"release": [{**GOOD, "sensitivity": "ln(3)"}]}, "sensitivity is no positive number"),
        ({"release": [{**GOOD, "sensitivity": "inf"}]}, "sensitivity"),
        ({"release": [{**GOOD, "budget": -1}]}, "not positive"),
        ({"release": [{**GOOD, "wieght": 1}]}, "did you mean weight"),
        ({"release": [GOOD, GOOD]}, "two releases have one name"),
        ({"release": [*({"name": str(n)} for n in range(1001)), GOOD, GOOD]}, "two releases have one name"),
        ({"release": ["a"]}, "is no table"),
    ],
)
def test_bad_calendars(given, said):
    with pytest.raises(DpspecError) as caught:
        plan(cap("zCDP"), given)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nothing_is_left(tmp_path):
    account = Account.create(tmp_path / "a.db", cap("zCDP"), as_promised=True)
    account.charge(dp.spec(space=PEOPLE, distance="add-remove", standard="zCDP", rho="1/2"))
    with pytest.raises(DpspecError, match="nothing left to plan"):
        plan(tmp_path / "a.db", {"release": [GOOD]})


CALENDAR = """objective = "largest"
[[release]]
name = "monthly"
times = 12
budget = "1/100"
[[release]]
name = "yearly"
weight = 2
budget = "1/10"
"""


def test_the_command(tmp_path, write, run):
    year, file = write("year", epsilon="3"), tmp_path / "calendar.toml"
    file.write_text(CALENDAR)
    told = run("account", "plan", year, file, "--format", "json").json("account-plan")
    assert told["objective"] == "largest"
    assert [Fraction(one["epsilon"]) for one in told["releases"]] == [Fraction("0.214285"), Fraction("0.428571")]
    assert Fraction(told["total"]) <= 3
    shown = run("account", "plan", year, file, "--objective", "weighted")
    assert shown.code == 0
    assert "nothing was charged" in shown.out
    bad = run("account", "plan", year, tmp_path / "none.toml")
    assert bad.code == 2
    assert bad.err.count("\n") == 1


def test_the_least_error_is_that_of_one_kind_of_noise():
    """Gaussian noise of standard deviation 1 has delta = 2 Phi(1/2) - 1 < 2/5 for epsilon = 0 (total variation); Laplace noise of
    epsilon = 1/100 has one of 141. So the plan of an account with a delta is not the least error that there is."""
    spec = dp.spec(space=PEOPLE, distance="add-remove", standard="approximate", epsilon="1/100", delta="2/5")
    found = plan(spec, {"release": [{"name": "a"}]})
    assert math.erf(0.5 / math.sqrt(2)) < 0.4
    assert found.value.error > 140**2
    assert "above the least with Laplace noise" in str(found)
    assert "possible" not in str(found)
