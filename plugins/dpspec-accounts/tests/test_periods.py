"""Accounts with periods: each has the cap for itself, whatever the clock says; and who is responsible."""

from __future__ import annotations

import json
from datetime import date
from fractions import Fraction

import pytest
from dpspec_accounts import functions, periods, planning
from dpspec_accounts.account import Account, OverCapError, text_of
from dpspec_accounts.errors import AccountError, HistoryError
from dpspec_accounts.periods import period_of, read_period
from dpspec_accounts.store import Rows
from dpspec_accounts.verification import verify_events

import dpspec as dp
from dpspec.base.errors import DpspecError, ParameterError

from .test_verification import rechained, verified, written


@pytest.fixture
def account(tmp_path, write):
    return Account.create(tmp_path / "m.db", write("month", epsilon="1"), as_promised=True, period="month")


def spent(account, period):
    return Fraction(str(account.balance(period).total.value))


def test_each_period_has_the_cap_for_itself(account, write):
    week = write("week", epsilon="1/2")
    for _ in range(2):
        account.charge(week, period="2027-03")
    with pytest.raises(OverCapError):
        account.charge(week, period="2027-03")
    account.charge(week, period="2027-04")
    account.reserve(week, period="2027-02").void("not needed")
    with pytest.raises(OverCapError):
        account.charge(week, period="2027-03")
    assert [spent(account, period) for period in ("2027-02", "2027-03", "2027-04", "2027-05")] == [0, 1, Fraction(1, 2), 0]
    found = verify_events(account.balance().history.events)
    assert {period: str(total.value) for period, total in found.periods.items()} == {
        "2027-03": "1", "2027-04": "1/2", "2027-02": "0",
    }  # fmt: skip


def test_charges_are_shown_with_their_periods_and_counted_in_that_of_the_total(account, write, tmp_path):
    """Charges of all months were said to count next to the total of one, and none was shown with its month."""
    account.charge(write("week", epsilon="1/2"), period="2027-03")
    for month, told in (("2027-03", "1 charge that counts in 2027-03"), ("2027-04", "0 charges that count in 2027-04")):
        shown = " ".join(str(functions.show(tmp_path / "m.db", period=month)).split())
        assert told in shown
        assert "charge period specification" in shown
        assert "2 2027-03 week committed" in shown


def test_a_plan_is_of_one_period(account, write, tmp_path, monkeypatch):
    """What is left of the month that is named is split, in the figure of that month as well; it was that of today."""
    account.charge(write("week", epsilon="1/2"), period="2027-03")
    calendar = tmp_path / "calendar.toml"
    calendar.write_text('[[release]]\nname = "daily"\ntimes = 5\n', encoding="utf-8")
    for month, left, each in (("2027-03", "1/2", "0.1"), ("2027-04", "1", "0.2")):
        found = planning.plan(account, calendar, period=month)
        assert (str(found.value.available), found.value.releases[0].budget) == (left, Fraction(each))
        assert f"nothing was charged (period {month})" in str(found)
        asked = []
        monkeypatch.setattr(functions, "plan", lambda *given, asked=asked, **of: asked.append(of) or planning.plan(*given, **of))
        functions.show(tmp_path / "m.db", period=month, out=tmp_path / "x.svg", planned=calendar)
        assert asked == [{"period": month}]
    with pytest.raises(ParameterError, match="CAP is a specification"):
        planning.plan(write("year", epsilon="1"), calendar, period="2027-03")


def test_totals_without_an_exact_form_are_those_of_their_period(tmp_path, write):
    """1 + sqrt(2) is computed anew from the charges: from those of the period, and of them from those that count."""
    kept = Account.create(tmp_path / "q.db", write("quarter", epsilon="100"), as_promised=True, period="month")
    whole, root = write("whole", epsilon="1"), write("root", epsilon="sqrt(2)")
    for month, number in (("2027-03", 7), ("2027-04", 2)):
        for _ in range(number):
            kept.charge(whole, period=month)
        kept.charge(root, period=month)
        kept.reserve(root, period=month).void("not needed")
        kept.charge(root, period=month)
    found = {month: float(total.value.enclose()) for month, total in verify_events(kept.balance().history.events).periods.items()}
    assert found == {"2027-03": pytest.approx(7 + 2 * 2**0.5), "2027-04": pytest.approx(2 + 2 * 2**0.5)}


def test_a_clock_that_is_set_back_opens_no_budget_again(account, write, monkeypatch):
    week = write("week", epsilon="1/2")
    for day in (date(2027, 3, 31), date(2027, 4, 1), date(2027, 3, 1)):
        monkeypatch.setattr(periods, "today", lambda day=day: day)
        monkeypatch.setattr("dpspec_accounts.account.today", lambda day=day: day)
        account.charge(week)
    with pytest.raises(OverCapError):
        account.charge(week)
    assert (spent(account, "2027-03"), spent(account, "2027-04")) == (1, Fraction(1, 2))


def test_a_charge_to_a_period_reads_no_whole_history(account, write, monkeypatch):
    account.charge(write("week", epsilon="1/2"), period="2027-03")
    monkeypatch.setattr(Rows, "all", None)
    account.charge(write("other", epsilon="1/4"), period="2027-03")
    held = account.reserve(write("third", epsilon="1/4"), period="2027-03")
    held.void("not needed")
    assert account.quote(write("fourth", epsilon="1/8"), period="2027-03").total.value == Fraction(7, 8)


def test_what_is_left_of_a_period_is_what_fits(account, write, tmp_path, run):
    wave = write("wave", epsilon="ln(3)", keep="3/4")
    made = run("account", "fit", tmp_path / "m.db", wave, "--period", "2027-03", "--out", tmp_path / "f.dpspec.toml")
    assert made.code == 0, made
    assert "(period 2027-03)" in made.out
    assert run("account", "charge", tmp_path / "m.db", tmp_path / "f.dpspec.toml", "--period", "2027-03").code == 0
    assert spent(account, "2027-03") == 1
    assert run("account", "check", tmp_path / "m.db", tmp_path / "f.dpspec.toml", "--period", "2027-04").code == 0


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("month", "2027-13"), ("month", "2027-3"), ("month", "march"), ("month", "2027-03-01"), ("month", ""), ("month", "%"),
        ("week", "2027-W53"), ("week", "2027-W00"), ("day", "2027-02-29"), ("year", "27"), ("year", "0000"),
        ("day", "\uff12027-01-01"),
    ],
)  # fmt: skip
def test_what_is_no_period_is_bad_input(kind, text):
    with pytest.raises(DpspecError, match=f"is no {kind}") as fault:
        read_period(kind, text)
    assert fault.value.exit_code == 2


@pytest.mark.parametrize("kind", periods.PERIODS)
def test_every_day_lies_in_a_period_that_can_be_written(kind):
    for day in (date(2026, 12, 31), date(2027, 1, 1), date(2028, 2, 29), date(1, 1, 1), date(9999, 12, 31)):
        assert read_period(kind, period_of(kind, day)) == period_of(kind, day)


def test_a_period_belongs_to_an_account_with_periods(tmp_path, write, account):
    plain = Account.create(tmp_path / "p.db", write("year", epsilon="1"), as_promised=True)
    with pytest.raises(AccountError, match="has no periods"):
        plain.charge(write("week", epsilon="1/2"), period="2027-03")
    with pytest.raises(DpspecError, match="is no month"):
        account.charge(write("week", epsilon="1/2"), period="2027")
    with pytest.raises(DpspecError, match="is none of day, week, month, year"):
        Account.create(tmp_path / "q.db", write("other", epsilon="1"), period="decade")
    assert not (tmp_path / "q.db").exists()


def test_a_charge_that_is_moved_to_another_period_is_found(account, write, tmp_path):
    """With hashes computed anew: the totals of both periods are wrong then."""
    week = write("week", epsilon="1/2")
    for _ in range(2):
        account.charge(week, period="2027-03")
    rows = account.export()["events"]
    for place, name in ((1, "2027-04"), (4, "2027-04"), (4, "2027-13"), (4, None)):
        forged = [dict(row) for row in rows]
        body = json.loads(forged[place]["body"])
        if name is None:
            del body["period"]
        else:
            body["period"] = name
        forged[place]["body"] = written(body)
        with pytest.raises(HistoryError):
            verified(tmp_path, rechained(forged))
    assert verified(tmp_path, rechained(rows)).periods


def test_who_is_responsible_and_who_did_it_is_shown(tmp_path, write, run):
    place, year, week = tmp_path / "y.db", write("year", epsilon="3"), write("week", epsilon="1/2")
    made = run("account", "create", place, year, "--as-promised", "--responsible", "release=Ada", "--responsible", "void=Grace")
    assert "responsible for release: Ada" in made.out
    assert run("account", "charge", place, week, "--by", "Ada").code == 0
    held = Account(place).reserve(week, by="Ada")
    assert run("account", "void", place, held.number, "--because", "not needed", "--by", "Grace").code == 0
    history = run("account", "history", place).out
    assert history.count("(by Ada)") == 4
    assert "not needed (by Grace)" in history
    shown = run("account", "show", place, "--format", "json").json("account-show")
    assert shown["responsible"] == {"release": "Ada", "void": "Grace"}
    verify_events(Account(place).balance().history.events)
    for wrong in ("release", "=Ada", "release="):
        assert run("account", "create", tmp_path / "n.db", year, "--responsible", wrong).code == 2
    with pytest.raises(DpspecError, match="must be a name"):
        Account(place).charge(week, by=" ")


def test_a_release_is_charged_to_the_period_of_its_data(tmp_path, run):
    place, spec, table = tmp_path / "m.db", tmp_path / "week.dpspec.toml", tmp_path / "t.csv"
    people = dp.records(colour=["red", "green"])
    promise = dp.spec(space=people, distance="add-remove", standard="pure", epsilon="ln(2)")
    noise = dp.geometric(queries=dp.marginal(attributes="colour"), ratio="1/2")
    spec.write_text(text_of(dp.SpecDocument(id="week", title="A week", spec=promise, mechanism=noise)), encoding="utf-8")
    table.write_text("colour\nred\nred\ngreen\n", encoding="utf-8")
    account = Account.create(place, spec, period="month")
    assert run("release", spec, table, "--out", tmp_path / "o", "--period", "2027-03").code == 2
    for period, code in (("2027-13", 2), ("2027-03", 0), ("2027-03", 1), ("2027-04", 0)):
        done = run("release", spec, table, "--out", tmp_path / f"{period}-{code}", "--account", place, "--period", period)
        assert done.code == code, done
        assert (tmp_path / f"{period}-{code}").exists() == (code == 0)
    with pytest.raises(OverCapError):
        dp.release(spec, table, tmp_path / "again", account=place, period="2027-04")
    assert {period: str(total.value) for period, total in account.balance().periods.items()} == {
        "2027-03": "ln(2)", "2027-04": "ln(2)",
    }  # fmt: skip
