"""`dpspec release --account`: reserved, drawn, committed; and what a sudden end leaves."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from dpspec_accounts.account import Account, OverCapError
from dpspec_accounts.errors import AccountError, ChargeStateError
from dpspec_accounts.guard import AccountGuard, guard
from dpspec_accounts.verification import verify_events
from dpspec_release import draw

import dpspec as dp

CAP = """\
schema = 1
id = "year"
title = "A year of tables"
[space]
type = "records"
unit = "person"
attributes = [{ name = "region", categories = ["north", "south"] }]
[multiverse]
invariants = []
[input_divergence]
type = "symmetric-difference"
unit = "person"
[output_divergence]
type = "mult"
[budget]
epsilon = "EPSILON"
"""
NOISE = """\
[mechanism]
type = "geometric"
ratio = "1/2"
[[mechanism.queries]]
type = "marginal"
unit = "person"
attributes = ["region"]
"""


@pytest.fixture
def files(tmp_path):
    """A cap of 2 ln 2, a release that spends ln 2, and a table."""
    year, week, table = tmp_path / "year.dpspec.toml", tmp_path / "week.dpspec.toml", tmp_path / "in.csv"
    year.write_text(CAP.replace("EPSILON", "ln(4)"), encoding="utf-8")
    week.write_text(CAP.replace("EPSILON", "ln(2)").replace('"year"', '"week"') + NOISE, encoding="utf-8")
    table.write_text("region\n" + "north\nsouth\n" * 20, encoding="utf-8")
    return year, week, table


@pytest.fixture
def account(files, tmp_path):
    return Account.create(tmp_path / "a.db", files[0])


def states(account):
    return [charge.state for charge in account.balance().history.charges]


def test_a_release_is_charged_with_what_it_wrote(account, files, tmp_path, run):
    ran = run("release", files[1], files[2], "--out", tmp_path / "out", "--account", tmp_path / "a.db", "--format", "json")
    assert ran.code == 0, ran.err
    assert "charged as charge 2" in ran.err
    (charge,) = account.balance().history.charges
    out = tmp_path / "out"
    assert charge.files == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in out.iterdir()}
    assert charge.content["specification"]["sha256"] == json.loads((out / "report.json").read_text())["specification"]["sha256"]
    assert [event.kind for event in account.balance().history.events] == ["create", "reserve", "draw", "commit"]


def test_over_the_cap_nothing_is_drawn(account, files, tmp_path, run):
    for place in (1, 2):
        assert run("release", files[1], files[2], "--out", tmp_path / f"out-{place}", "--account", tmp_path / "a.db").code == 0
    ran = run("release", files[1], files[2], "--out", tmp_path / "out-3", "--account", tmp_path / "a.db")
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert "nothing was charged; what is left is epsilon = 0" in ran.err
    assert not (tmp_path / "out-3").exists()
    assert not (tmp_path / "out-3.confidential").exists()
    assert states(account) == ["committed", "committed"]
    with pytest.raises(OverCapError):
        dp.release(files[1], files[2], tmp_path / "out-3", account=str(tmp_path / "a.db"))


def test_a_missing_account_is_found_before_the_table_is_read(files, tmp_path, run):
    ran = run("release", files[1], tmp_path / "no.csv", "--out", tmp_path / "out", "--account", tmp_path / "no.db")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "no.db" in ran.err


def test_a_seeded_release_counts_as_well(account, files, tmp_path):
    dp.release(files[1], files[2], tmp_path / "out", seed=1, account=str(tmp_path / "a.db"))
    assert states(account) == ["committed"]


def test_another_specification_in_the_file_is_the_one_that_is_charged(account, files, tmp_path):
    """A document that was read and then changed in Python is charged as it is drawn."""
    import attrs

    read = dp.read(files[1])
    stronger = dp.read(files[0]).spec
    dp.release(attrs.evolve(read, spec=stronger), files[2], tmp_path / "out", account=str(tmp_path / "a.db"))
    assert str(account.balance().total.value) == "ln(4)"


@pytest.mark.parametrize(("owner", "step", "state", "told"), [
    (AccountGuard, "reserve", [], ""),
    (draw.GuardedRun, "begin", ["void"], ""),
    (draw, "_guarded", ["drawn"], "a.db stays drawn and counts: drawing had begun"),
    (Account, "commit", ["drawn"], "a.db stays drawn and counts: the release is written, and this could not be"),
    (draw.ReleasePlace, "leave", ["committed"], "a.db is committed: the release is written"),
])  # fmt: skip
def test_an_interruption_says_what_it_leaves_in_the_account(
    account, files, tmp_path, run, monkeypatch, owner, step, state, told
):
    """It said that it was interrupted, and nothing of what is spent."""

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, step, interrupted)
    ran = run("release", files[1], files[2], "--out", tmp_path / "out", "--account", tmp_path / "a.db")
    assert ran.code == 130
    assert states(account) == state
    assert told in ran.err
    assert ("charge" in ran.err) == bool(told)


def test_an_interruption_after_the_charge_was_committed_says_so(account, files, tmp_path, run, monkeypatch):
    """It said that the charge stays drawn, and the account said that it is committed."""
    commit = Account.commit

    def interrupted(*given):
        commit(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(Account, "commit", interrupted)
    ran = run("release", files[1], files[2], "--out", tmp_path / "out", "--account", tmp_path / "a.db")
    assert ran.code == 130
    assert "charge 2 of a.db is committed: the release is written" in ran.err.replace(str(tmp_path) + "/", "")
    assert states(account) == ["committed"]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be killed")
@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.long)])
def test_a_release_that_ends_anywhere_is_counted_when_it_shows_something(files, tmp_path, step):
    """Killed at each seventh, or each, statement of the database.

    No table without a charge that counts, and a void one only without a table.
    """
    year, week, table = files
    year.write_text(CAP.replace("EPSILON", "1000"), encoding="utf-8")
    account = Account.create(tmp_path / "a.db", year)
    (tmp_path / "out").mkdir()
    script = Path(__file__).with_name("crashing.py")
    words = [sys.executable, script, tmp_path / "a.db", week, "release", table, tmp_path / "out", step]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    history = account.balance().history
    published = {
        hashlib.sha256(path.read_bytes()).hexdigest(): path for path in (tmp_path / "out").glob("*/report.json")
    }
    counted = [charge for charge in history.charges if charge.state in ("drawn", "committed")]
    assert len(published) <= len(counted)
    committed = [charge.files["report.json"] for charge in counted if charge.state == "committed"]
    assert set(committed) <= set(published)
    assert sum("released" in lines for lines in found) <= len(committed)
    assert {charge.state for charge in history.charges} == {"reserved", "drawn", "committed"}
    for charge in history.charges:
        if charge.state == "reserved":
            account.void(charge.number, "its process ended")
        elif charge.state == "drawn":
            with pytest.raises(ChargeStateError):
                account.void(charge.number, "its process ended")
    verify_events(account.balance().history.events)


# --- runs that go on ------------------------------------------------------------------------------


def begun(account, files):
    first = AccountGuard(account)
    first.reserve(dp.read(files[1]))
    return first


@pytest.mark.parametrize("drawn", [False, True])
def test_a_run_goes_on_under_its_charge(account, files, drawn):
    first = begun(account, files)
    if drawn:
        first.draw()
    second = AccountGuard(account)
    second.resume(dp.read(files[1]), first.token)
    second.draw()
    second.commit({"report.json": "0" * 64})
    assert states(account) == ["committed"]
    with pytest.raises(ChargeStateError, match=r"is committed.*another release with another charge"):
        AccountGuard(account).resume(dp.read(files[1]), first.token)


def test_a_void_charge_is_not_gone_on_with(account, files):
    first = begun(account, files)
    token = first.token
    first.abandon()
    with pytest.raises(ChargeStateError, match="is void"):
        AccountGuard(account).resume(dp.read(files[1]), token)


def test_another_account_or_specification_is_not_gone_on_with(account, files, tmp_path):
    token = begun(account, files).token
    other = Account.create(tmp_path / "b.db", files[0])
    begun(other, files)
    forged = json.dumps({"account": json.loads(token)["account"], "charge": 1})
    for guarded, document, given in (
        (other, files[1], token), (account, files[0], token), (account, files[1], forged), (account, files[1], "{}"),
        (account, files[1], "x"), (account, files[1], json.dumps({"account": json.loads(token)["account"], "charge": True})),
    ):  # fmt: skip
        with pytest.raises(AccountError, match="is not charged to this account"):
            AccountGuard(guarded).resume(dp.read(document), given)


def test_a_guard_without_a_reservation_does_nothing(account):
    for step in (AccountGuard(account).draw, AccountGuard(account).abandon, lambda: AccountGuard(account).commit({})):
        with pytest.raises(ChargeStateError):
            step()
    assert states(account) == []


def test_a_guard_needs_an_account(tmp_path):
    with pytest.raises(AccountError):
        guard(str(tmp_path / "no.db"))
