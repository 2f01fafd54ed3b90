"""The figure of what an account has spent."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest
from dpspec_accounts.account import Account
from dpspec_accounts.figure import spending
from dpspec_accounts.planning import plan

from dpspec.base.errors import DpspecError


@pytest.fixture
def account(tmp_path, write):
    made = Account.create(tmp_path / "year.db", write("year", epsilon="3"), as_promised=True)
    week = write("week", epsilon="1/2")
    made.charge(week)
    made.reserve(week).void("not needed")
    made.charge(week)
    return made


def texts(figure):
    return [element.text or "" for element in ElementTree.fromstring(figure.svg).iter() if element.tag.endswith("text")]


def test_the_figure_says_what_is_spent_and_left(account):
    said = " ".join(texts(spending(account.balance())))
    assert "year: what is spent" in said
    assert "2 charges" in said
    assert "left epsilon = 2" in said
    assert {"spent", "cap"} <= set(said.split())
    assert "planned" not in said


def test_planned_releases_come_after_the_charges(account):
    calendar = {"release": [{"name": "monthly", "times": 3}]}
    said = " ".join(texts(spending(account.balance(), plan(account, calendar).value)))
    assert "planned" in said
    assert re.search(r"\b7\b", said)  # four rows of charges, and three releases more


def test_a_long_plan_is_not_drawn(account):
    with pytest.raises(DpspecError, match="more than 10,000 releases"):
        spending(account.balance(), plan(account, {"release": [{"name": "daily", "times": 20_000}]}).value)


def test_the_command_writes_it(account, tmp_path, run):
    calendar = tmp_path / "calendar.toml"
    calendar.write_text('[[release]]\nname = "monthly"\ntimes = 2\n', encoding="utf-8")
    assert run("account", "show", tmp_path / "year.db", "--out", tmp_path / "s.svg", "--planned", calendar).code == 0
    assert (tmp_path / "s.svg").read_text(encoding="utf-8").startswith("<svg")
    assert run("account", "show", tmp_path / "year.db", "--planned", calendar).code == 2
    assert run("account", "show", tmp_path / "year.db", "--out", tmp_path / "s.txt").code == 2


def test_the_figure_of_a_period_has_its_charges_alone(tmp_path, write):
    account = Account.create(tmp_path / "m.db", write("month", epsilon="1"), as_promised=True, period="month")
    week = write("half", epsilon="1/2")
    for period in ("2027-01", "2027-02", "2027-02"):
        account.charge(week, period=period)
    for period, charges, left in (("2027-01", "1 charge ", "left epsilon = 0.5"), ("2027-02", "2 charges ", "left epsilon = 0")):
        said = " ".join(texts(spending(account.balance(period))))
        assert f"month, {period}: what is spent" in said
        assert charges in said
        assert left in said
