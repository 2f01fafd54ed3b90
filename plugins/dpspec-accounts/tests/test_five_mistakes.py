"""Five mistakes that an account prevents: each is made first without an account, where nothing stops it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from dpspec_accounts.account import Account, OverCapError
from dpspec_accounts.errors import AccountError, ChargeStateError

import dpspec as dp


def test_the_53rd_weekly_table(tmp_path, write):
    """52 tables fit exactly; every single one of 53 is verified."""
    week = write("week", epsilon="ln(3)", keep="3/4")
    assert dp.verify(week).standing.word.word == "verified"
    account = Account.create(tmp_path / "a.db", write("year", epsilon="52*ln(3)"))
    for _ in range(52):
        account.charge(week)
    with pytest.raises(OverCapError, match="nothing was charged; what is left is epsilon = 0"):
        account.charge(week)


def test_two_processes_that_each_see_a_remainder_for_one(tmp_path, write):
    """Both ask, and both are told that it fits; the second reservation is refused."""
    week = write("week", epsilon="2", keep="3/4")
    Account.create(tmp_path / "a.db", write("year", epsilon="3"))
    first, second = Account(tmp_path / "a.db"), Account(tmp_path / "a.db")
    assert first.quote(week).fits
    assert second.quote(week).fits
    first.reserve(week)
    with pytest.raises(OverCapError):
        second.reserve(week)


HOUSEHOLDS = """\
schema = 1
id = "{id}"
title = "{id}"
[space]
type = "households"
household = [{{ name = "tenure", categories = ["owned", "rented"] }}]
person = [{{ name = "age", categories = ["minor", "adult"] }}]
members = 4
[multiverse]
invariants = []
[input_divergence]
type = "symmetric-difference"
unit = "{unit}"
[output_divergence]
type = "mult"
[budget]
epsilon = "{epsilon}"
"""


def test_two_units_that_are_added_as_printed(tmp_path):
    """1 per household and 1 per person look like 2; a household of at most four persons makes 5 of it."""

    def stated(id, unit, epsilon):
        path = tmp_path / f"{id}.dpspec.toml"
        path.write_text(HOUSEHOLDS.format(id=id, unit=unit, epsilon=epsilon), encoding="utf-8")
        return path

    parts = stated("homes", "household", "1"), stated("people", "person", "1")
    assert Fraction(str(dp.ledger(*parts).plain_sum)) == 2
    account = Account.create(tmp_path / "a.db", stated("year", "household", "4"), as_promised=True)
    account.charge(parts[0])
    with pytest.raises(OverCapError, match="the account epsilon = 5; the cap is epsilon = 4"):
        account.charge(parts[1])


def test_a_new_invariant_under_old_promises(tmp_path):
    """The ledger adds up inside the smaller universes; the account refuses: its earlier promises are about larger ones."""

    def table(*invariants):
        return dp.spec(
            space=dp.records(region=["north", "south"]), distance="hamming", standard="pure", epsilon="1", invariants=invariants
        )

    totals = dp.marginal(attributes="region")
    assert str(dp.ledger(table(), table(totals)).spec.budget) == "epsilon = 2"
    account = Account.create(tmp_path / "a.db", dp.ledger(table(), table(), table()).spec, as_promised=True)
    account.charge(table())
    with pytest.raises(AccountError, match="publishes exactly what the account does not"):
        account.charge(table(totals))


def test_a_release_that_failed_and_was_repeated(tmp_path, write):
    """What was drawn may have been seen: it counts, and so does the repetition."""
    account = Account.create(tmp_path / "a.db", write("year", epsilon="3"))
    week = write("week", epsilon="2", keep="3/4")
    with pytest.raises(OSError, match="disk"), account.reserve(week) as charge:
        raise OSError("disk")
    with pytest.raises(ChargeStateError):
        charge.void("it failed")
    with pytest.raises(OverCapError):
        account.reserve(week)
