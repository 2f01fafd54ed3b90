"""Totals: each from the one before and an amount, the same as one ledger of all charges; without reading the whole history."""

from __future__ import annotations

import json
import random
import re
import sqlite3
from fractions import Fraction

import pytest
from dpspec_accounts.account import Account, OverCapError
from dpspec_accounts.errors import HistoryError
from dpspec_accounts.history import digest
from dpspec_accounts.planning import plan
from dpspec_accounts.store import Rows
from dpspec_accounts.totals import (
    amount_of,
    frame_of,
    nothing_of,
    remainder_of,
    total_of,
    total_with,
    total_without,
)
from dpspec_accounts.verification import verify_events

import dpspec as dp
from dpspec.base.errors import DpspecError
from dpspec.base.exact import number
from dpspec.plugin.applications import to_toml

PEOPLE = dp.records(region=["north", "south"], sex=["f", "m"])
BUDGETS = {
    "pure": [{"epsilon": value} for value in ("1/10", "1/3", "ln(2)", "1/2*ln(3)", "3/7", "2")],
    "zero-concentrated": [{"rho": value} for value in ("1/10", "1/3", "1/7")],
    "gaussian": [{"mu": value} for value in ("1/10", "1/3", "3/7")],
    "approximate": [{"epsilon": "1/3", "delta": "1e-6"}, {"epsilon": "ln(3)", "delta": "1/1000"}],
    "renyi": [{"epsilon": "1/3", "order": "2"}, {"epsilon": "2/7", "order": "8"}],
}
CAPS = {
    "pure": {"epsilon": "100"}, "zero-concentrated": {"rho": "100"}, "gaussian": {"mu": "100"},
    "approximate": {"epsilon": "100", "delta": "1/2"}, "renyi": {"epsilon": "100", "order": "2"},
}  # fmt: skip


def text(standard, distance="add-remove", id="charge", **budget):
    spec = dp.spec(space=PEOPLE, distance=distance, standard=standard, **budget)
    return to_toml(spec, dp.installed().registry, id=id)


def chargeable(frame):
    """The specifications above that can be charged to an account."""
    found = []
    for standard, budgets in BUDGETS.items():
        for budget in budgets:
            for distance in ("add-remove", "replace-one", "symmetric-difference"):
                try:
                    total_of(frame, [one := text(standard, distance, **budget)])
                except DpspecError:
                    continue
                found.append(one)
    return found


@pytest.mark.spread(3, slow=3)
@pytest.mark.parametrize("standard", CAPS)
def test_amounts_add_up_to_the_ledger_of_all_charges(standard):
    """Of ten random lists of charges in every standard that the account takes."""
    frame = frame_of(text(standard, id="year", **CAPS[standard]))
    known, draw = chargeable(frame), random.Random(standard)
    assert known
    for _ in range(10):
        charges = draw.choices(known, k=draw.randint(2, 9))
        total = nothing_of(frame)
        for place, one in enumerate(charges, 1):
            total = total_with(frame, total, one, lambda end=place: charges[:end])
        assert total == total_of(frame, charges)
        gone = draw.randrange(len(charges))
        left = charges[:gone] + charges[gone + 1 :]
        assert total_without(frame, total, charges[gone], lambda: left) == total_of(frame, left)


@pytest.fixture
def account(tmp_path):
    return Account.create(tmp_path / "year.db", spec("100"), as_promised=True)


def spec(epsilon):
    return dp.spec(space=PEOPLE, distance="add-remove", standard="pure", epsilon=epsilon)


def test_no_step_reads_the_whole_history(account, monkeypatch):
    account.charge(spec("1"))
    monkeypatch.setattr(Rows, "all", None)
    assert str(account.charge_and_quote(spec("1/2"))[1].total.value) == "3/2"
    account.reserve(spec("2")).void("not needed")
    with account.reserve(spec("3")):
        pass
    assert str(account.quote(spec("4")).total.value) == "17/2"
    monkeypatch.undo()
    assert str(account.balance().total.value) == "9/2"
    verify_events(account.balance().history.events)


def test_a_sum_without_an_exact_form_is_the_ledger_of_all_charges(account):
    for epsilon in ("1", "sqrt(2)", "1/2"):
        account.charge(spec(epsilon))
    account.reserve(spec("sqrt(3)")).void("not needed")
    found = account.balance()
    assert found.total == total_of(found.frame, [charge.content["specification"]["text"] for charge in found.history.counted])
    assert 1 + 1.4142135 + 0.5 <= float(found.total.value.enclose()) <= 1 + 1.4142136 + 0.5
    verify_events(found.history.events)


def test_a_total_that_was_changed_with_its_hash_is_found_by_its_row(account, tmp_path):
    """Who can write to the database can write rows: the next charge adds to what they say, and `show` and `verify` name them."""
    account.charge(spec("1"))
    account.reserve(spec("2"))
    database = sqlite3.connect(tmp_path / "year.db")
    database.execute("DROP TRIGGER dpspec_event_no_update")
    last = "SELECT seq, kind, charge, body, previous FROM dpspec_event ORDER BY seq DESC LIMIT 1"
    ((seq, kind, charge, body, previous),) = database.execute(last)
    changed = json.dumps(
        {**json.loads(body), "total": {"standard": "mult", "epsilon": "1/10"}}, sort_keys=True, separators=(",", ":")
    )
    new = digest(seq, kind, charge, changed, previous)
    database.execute("UPDATE dpspec_event SET body = ?, hash = ? WHERE seq = ?", (changed, new, seq))
    database.commit()
    database.close()
    account.charge(spec("1"))
    with pytest.raises(HistoryError, match=f"row {seq}.* records the total"):
        account.balance()
    with pytest.raises(HistoryError, match=f"row {seq}.* records the total"):
        verify_events(rows_of(account))


def rows_of(account):
    with account._store.reading() as rows:
        return rows.all()


@pytest.mark.parametrize("number", [-1, 0, 1, 3, 10**30])
def test_a_number_that_is_no_charge_is_none(account, number):
    account.charge(spec("1"))
    assert account.find(number) is None
    with pytest.raises(DpspecError, match="is none of this account"):
        account.void(number, "not needed")


# --- what is left, and what is printed -------------------------------------------------------------


def small(epsilon, standard="pure", **further):
    return dp.spec(space=PEOPLE, distance="add-remove", standard=standard, **{**{"epsilon": epsilon}, **further})


def test_what_is_left_without_an_exact_form_is_rounded_down(tmp_path):
    """1 - sqrt(1/2) was *nothing that has an exact form*, and `account plan` said that nothing was left to plan."""
    account = Account.create(tmp_path / "year.db", small("1"), as_promised=True)
    account.charge(small("sqrt(1/2)"))
    left = account.balance().remainder
    assert left.as_limit == "epsilon = 0.292893 rounded down"
    value = left.value.as_fraction()
    assert (1 - value) ** 2 > Fraction(1, 2) > (1 - value - Fraction(1, 10**14)) ** 2
    assert 0 < plan(account, {"release": [{"name": "weekly", "times": 52}]}).value.total <= value
    quote = account.quote(small("sqrt(1/2)"))
    assert not quote.fits
    account.charge(dp.spec(space=PEOPLE, distance="add-remove", standard="pure", epsilon=quote.largest))
    assert account.balance().total.value <= number(1)


def test_a_larger_total_than_the_cap_leaves_nothing():
    frame = frame_of(to_toml(small("1"), dp.installed().registry, id="year"))
    over = to_toml(small("sqrt(2)"), dp.installed().registry, id="over")
    assert remainder_of(frame, amount_of(frame, over)) is None


def test_what_is_spent_is_not_printed_below_it_and_the_cap_not_above(tmp_path, run):
    """Both were rounded to the nearest decimal, as was each charge, which was cut off after 40 digits."""
    third = Fraction(1, 3**80)
    account = Account.create(tmp_path / "year.db", small(str(2 * third)), as_promised=True)
    account.charge(small(str(third)))
    out = " ".join(run("account", "show", tmp_path / "year.db").out.split())
    spent, cap = re.search(r"epsilon at most (\S+) of epsilon = (\S+) rounded down", out).groups()
    assert Fraction(spent) >= third
    assert Fraction(cap) <= 2 * third
    assert f"committed unchecked epsilon at most {spent}" in out
    assert "1 charge that counts" in out


def test_deltas_that_add_to_one_are_over_the_cap(tmp_path, run):
    """It was a fault of the parameter delta with exit code 2."""
    most = small("1", "approximate", delta="9/10")
    account = Account.create(tmp_path / "year.db", most, as_promised=True)
    account.charge(small("1/10", "approximate", delta="1/2"))
    quote = account.quote(small("1/10", "approximate", delta="1/2"))
    assert (quote.fits, quote.total.value.is_infinite, quote.largest) == (False, True, None)
    with pytest.raises(OverCapError, match="its delta is larger than the rest"):
        account.charge(small("1/10", "approximate", delta="1/2"))
    assert account.balance().remainder.as_limit == "epsilon = 0.9, delta = 0.4"
