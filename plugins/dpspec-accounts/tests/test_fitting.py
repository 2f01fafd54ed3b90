"""Releases that are over the cap and get as much noise as they need; what is released is verified and charged as it is."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from dpspec_accounts.account import Account, OverCapError, text_of
from dpspec_accounts.errors import AccountError
from dpspec_accounts.fitting import RELATIVE, fitted

import dpspec as dp
from dpspec.plugin import number
from dpspec.verifier.verdict import Outcome

PEOPLE = dp.records(colour=["red", "green"])
COUNTS = [dp.marginal(attributes="colour")]


def spec(standard, **budget):
    return dp.spec(space=PEOPLE, distance="symmetric-difference", standard=standard, **budget)


def release(standard, mechanism, **budget):
    return dp.SpecDocument(id="week", title="A week", spec=spec(standard, **budget), mechanism=mechanism)


NOISE = {
    "geometric, by ratio": ("pure", {"epsilon": "1"}, {"epsilon": "ln(2)"}, dp.geometric(queries=COUNTS, ratio="1/2")),
    "geometric, by budget": ("pure", {"epsilon": "1"}, {"epsilon": "2/3"}, dp.geometric(queries=COUNTS, epsilon="2/3")),
    "laplace": ("pure", {"epsilon": "1"}, {"epsilon": "3/4"}, dp.laplace(queries=COUNTS, epsilon="3/4")),
    "discrete gaussian": (
        "zero-concentrated", {"rho": "1/5"}, {"rho": "1/8"}, dp.discrete_gaussian(queries=COUNTS, variance=4, sensitivities=[1])
    ),
    "gaussian": ("gaussian", {"mu": "2/3"}, {"mu": "1/2"}, dp.gaussian(queries=COUNTS, variance=4)),
    "composed": (
        "pure", {"epsilon": "2"}, {"epsilon": "ln(6)"},
        dp.composed(parts=[dp.geometric(queries=COUNTS, ratio="1/2"), dp.geometric(queries=COUNTS, ratio="1/3")]),
    ),
    "repeated": (
        "pure", {"epsilon": "2"}, {"epsilon": "2*ln(2)"},
        dp.repeated(mechanism=dp.geometric(queries=COUNTS, ratio="1/2"), times=2),
    ),
}  # fmt: skip


@pytest.mark.spread(3)
@pytest.mark.parametrize("name", NOISE)
def test_what_is_left_is_spent_exactly(tmp_path, name):
    standard, cap, budget, mechanism = NOISE[name]
    account = Account.create(tmp_path / "a.db", spec(standard, **cap))
    week = release(standard, mechanism, **budget)
    assert fitted(account, week).mechanism == mechanism
    account.charge(week)
    found = fitted(account, week)
    charge, quote = account.charge_and_quote(found)
    assert charge.state == "committed"
    assert quote.total == quote.balance.frame.cap
    assert dp.verify(found.mechanism, found.spec).outcome is Outcome.VERIFIED


@pytest.mark.slow
def test_the_noise_is_no_wider_than_needed(tmp_path):
    """Of ratio e^-(1 - ln 2): what is found is at most so much wider as the search is precise."""
    account = Account.create(tmp_path / "a.db", spec("pure", epsilon="1"))
    week = release("pure", dp.geometric(queries=COUNTS, ratio="1/2"), epsilon="ln(2)")
    account.charge(week)
    found = fitted(account, week)
    kept, left = dp.verify(found.mechanism, found.spec).constant.lower, number("1 - ln(2)")
    assert left * (1 - 2 * RELATIVE) <= kept <= left


@pytest.mark.parametrize(
    ("cap", "charged", "asked", "budget", "exact"),
    [
        ("5/8", ("gaussian", {"mu": "1"}), ("gaussian", {"mu": "1"}), "1/2", True),
        ("5/8", ("gaussian", {"mu": "1"}), ("gaussian", {"mu": "2"}), "1/2", True),
        ("5/8", ("zero-concentrated", {"rho": "1/2"}), ("zero-concentrated", {"rho": "1/3"}), "1/8", True),
        ("5/8", ("pure", {"epsilon": "1"}), ("pure", {"epsilon": "1"}), None, False),
        ("1/2", ("pure", {"epsilon": "1/10"}), ("pure", {"epsilon": "3"}), None, False),
    ],
)  # fmt: skip
def test_the_budget_that_fits_in_another_standard(tmp_path, cap, charged, asked, budget, exact):
    """mu^2 / 2 is the rho of mu; of a pure budget it is not proportional to anything, and found from below."""
    account = Account.create(tmp_path / "a.db", spec("zero-concentrated", rho=cap), as_promised=True)
    account.charge(spec(charged[0], **charged[1]))
    left = account.balance().remainder.value
    found = account.quote(spec(asked[0], **asked[1])).largest
    ((name, _),) = asked[1].items()
    spends = account.quote(spec(asked[0], **{name: str(found)})).amount.value
    assert spends <= left
    assert (spends == left) == exact
    if budget is not None:
        assert found == number(budget)
    larger = str(found * Fraction(100_001, 100_000))
    assert account.quote(spec(asked[0], **{name: larger})).amount.value > left


def test_a_delta_that_does_not_fit_is_named(tmp_path):
    def approximate(epsilon, delta):
        return dp.spec(space=PEOPLE, distance="add-remove", standard="approximate", epsilon=epsilon, delta=delta)

    account = Account.create(tmp_path / "a.db", approximate("1", "1e-6"), as_promised=True)
    with pytest.raises(OverCapError, match="its delta is larger than the rest"):
        account.charge(approximate("1/2", "1e-5"))


def test_nothing_fits_where_nothing_is_left(tmp_path):
    account = Account.create(tmp_path / "a.db", spec("pure", epsilon="ln(2)"))
    week = release("pure", dp.geometric(queries=COUNTS, ratio="1/2"), epsilon="ln(2)")
    account.charge(week)
    with pytest.raises(OverCapError) as fault:
        fitted(account, week)
    assert "would fit" not in str(fault.value)


def test_noise_that_cannot_be_wider_is_an_error(tmp_path):
    account = Account.create(tmp_path / "a.db", spec("pure", epsilon="1/2"))
    with pytest.raises(AccountError, match="no noise that can be made wider"):
        fitted(account, release("pure", dp.random_rounding(tables=[["colour"]], base=3), epsilon="1"))


@pytest.mark.slow
def test_a_release_fits_itself_into_the_account(tmp_path, run):
    account = Account.create(tmp_path / "a.db", spec("pure", epsilon="1"))
    file, table = tmp_path / "week.dpspec.toml", tmp_path / "t.csv"
    week = release("pure", dp.geometric(queries=COUNTS, ratio="1/2"), epsilon="ln(2)")
    file.write_text(text_of(week), encoding="utf-8")
    table.write_text("colour\nred\nred\ngreen\n", encoding="utf-8")
    account.charge(file)
    over = run("release", file, table, "--out", tmp_path / "out", "--account", tmp_path / "a.db")
    assert over.code == 1
    assert "a budget of 1 - ln(2) (0.306852 rounded down) would fit" in over.err
    assert not (tmp_path / "out").exists()
    assert run("release", file, table, "--out", tmp_path / "out", "--account", tmp_path / "a.db", "--fit").code == 0
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert report["budget"] == "epsilon = 1 - ln(2)"
    assert str(account.balance().total.value) == "1"
    written = run("account", "fit", tmp_path / "a.db", file, "--out", tmp_path / "f.toml")
    assert written.code == 1
    assert not (tmp_path / "f.toml").exists()
    for wrong in (["--fit"], ["--account", tmp_path / "a.db", "--fit", "--resume"]):
        assert run("release", file, table, "--out", tmp_path / "w", *wrong).code == 2
    with pytest.raises(dp.DpspecError, match="needs an account"):
        dp.release(file, table, tmp_path / "w", fit=True)
    with pytest.raises(dp.DpspecError, match="begins a new run"):
        dp.release(file, table, tmp_path / "w", fit=True, account=tmp_path / "a.db", resume=True)


def test_the_file_that_fits_is_written(tmp_path, run):
    place, file = tmp_path / "a.db", tmp_path / "week.dpspec.toml"
    Account.create(place, spec("pure", epsilon="1/2"))
    week = release("pure", dp.geometric(queries=COUNTS, ratio="1/2"), epsilon="ln(2)")
    file.write_text(text_of(week), encoding="utf-8")
    found = run("account", "fit", place, file, "--out", tmp_path / "f.dpspec.toml", "--format", "json").json("account-fit")
    assert (found["fits"], found["amount"]["epsilon"], found["charged"]) == (True, "1/2", None)
    assert run("verify", tmp_path / "f.dpspec.toml").code == 0
    checked = run("account", "check", place, file, "--format", "json").json("account-check")
    assert (checked["fits"], checked["largest"]) == (False, "1/2")


@pytest.mark.parametrize("keep", ["3/4", "1/5", "1/2"])
@pytest.mark.parametrize("factor", [Fraction(1), Fraction(3, 2), Fraction(7)])
def test_wider_responses_have_smaller_odds(keep, factor):
    wider = dp.randomised_response(keep_probability=keep).with_wider_noise(factor).keep_probability
    before = Fraction(keep) / (1 - Fraction(keep))
    after = wider / (1 - wider)
    target = float(before) ** float(1 / factor)
    assert float(after) == pytest.approx(target, rel=1e-12)
    assert (after - 1) * (before - 1) >= 0
    assert abs(float(after.numerator.bit_length())) < 200


@pytest.mark.parametrize("factor", [
    Fraction(1), Fraction(3, 2), Fraction(7), Fraction(10**4), Fraction(10**6),
])  # fmt: skip
def test_a_wider_ratio_is_rounded_up(factor):
    ratio = dp.geometric(queries=COUNTS, ratio="1/2").with_wider_noise(factor).ratio
    if factor.numerator < 10:
        assert ratio**factor.numerator >= Fraction(1, 2) ** factor.denominator
    assert ratio < 1
