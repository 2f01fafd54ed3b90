"""Several processes and sudden ends: the total never exceeds the cap, and nothing that was acknowledged is lost.

The model is serial: the rows of the history are replayed here, by code that shares nothing with the package.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sqlite3
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from dpspec_accounts import history, store
from dpspec_accounts.account import Account, OverCapError
from dpspec_accounts.errors import AccountUnavailableError
from dpspec_accounts.verification import verify_events

SCRIPT = Path(__file__).with_name("crashing.py")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be killed")


def ran(url, spec, *how):
    done = subprocess.run(
        [sys.executable, SCRIPT, str(url), str(spec), *map(str, how)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def modelled(events, cap, epsilon):
    """The states of all charges, and that no prefix of the history exceeds the cap."""
    states: dict[int, str] = {}
    counted = 0
    for event in events:
        kind, body = event["kind"], json.loads(event["body"])
        if kind == "reserve":
            states[event["seq"]] = "reserved"
            assert Fraction(body["amount"]["epsilon"]) == epsilon
            counted += 1
        elif kind != "create":
            before, after = {"draw": ("reserved", "drawn"), "commit": ("drawn", "committed"), "void": ("reserved", "void")}[kind]
            assert states[event["charge"]] == before
            states[event["charge"]] = after
            counted -= after == "void"
        assert counted * epsilon <= cap
        if kind in ("reserve", "void"):
            assert Fraction(body["total"]["epsilon"]) == counted * epsilon
    assert counted == sum(state != "void" for state in states.values())
    return states


ORDER = ("reserved", "drawn", "committed")


def check_acknowledged(lines, states):
    """What a process was told is done is done, whatever happened to it afterwards."""
    for line in lines:
        state, _, number = line.partition(":")
        if state in ("over", "cut"):
            continue
        found = states[int(number)]
        assert found == "void" or state != "void"
        assert found == state if state in ("void", "committed") else found == "void" or ORDER.index(found) >= ORDER.index(state)


def check_every_end(place, spec):
    """A charge is whole or absent, wherever its process ends."""
    account = Account(place)
    found = ran(place, spec, "each")
    events = account.export()["events"]
    states = modelled(events, Fraction(1000), Fraction(1, 2))
    assert set(states.values()) == {"committed"}
    acknowledged = [int(line.partition(":")[2]) for lines in found for line in lines]
    assert set(acknowledged) <= set(states)
    assert len(found) > 10
    assert 2 <= len(states) < len(found)  # some were killed before the end, and some after it without an answer
    verify_events(account.balance().history.events)


def check_many(place, spec, cap, processes=4, kills=20, most=300, beside=None):
    """Processes together, of which some are killed, and one after another follows until nothing fits under the cap.

    What is `beside` them, such as connections that are cut, ends with them, before the account is looked at; what it gave is
    returned.
    """
    account = Account(place)
    with contextlib.nullcontext() if beside is None else beside as given:
        found = ran(place, spec, "together", processes, kills, most)
    assert len(found) == processes + kills
    states = modelled(account.export()["events"], cap, Fraction(1, 2))
    check_acknowledged([line for lines in found for line in lines], states)
    counted = sum(state != "void" for state in states.values())
    assert counted == cap / Fraction(1, 2)  # the last processes end only where nothing fits
    assert sum(line == "over" for lines in found for line in lines) >= processes
    for number, state in states.items():
        if state == "reserved":
            account.void(number, "its process ended")
    left = sum(state in ("drawn", "committed") for state in states.values())
    assert Fraction(str(account.balance().total.value)) == left * Fraction(1, 2)
    verify_events(account.balance().history.events)
    return given


def test_a_process_that_ends_at_any_statement_leaves_a_whole_charge_or_none(tmp_path, write):
    place = tmp_path / "a.db"
    Account.create(place, write("year", epsilon="1000"), as_promised=True)
    check_every_end(place, write("week", epsilon="1/2"))


def test_processes_together_never_exceed_the_cap(tmp_path, write):
    place = tmp_path / "a.db"
    Account.create(place, write("year", epsilon="6"), as_promised=True)
    check_many(place, write("week", epsilon="1/2"), Fraction(6))


MANY = [
    pytest.param(8, 10, 300, 100, marks=pytest.mark.slow, id="100 charges"),
    pytest.param(16, 40, 300, 400, marks=pytest.mark.long, id="400 charges"),
    pytest.param(16, 200, 4_000, 20_000, marks=pytest.mark.long, id="20,000 charges"),
]
"""Processes, how many of them are killed, the last statement at which one is, and how many charges fit under the cap."""


@pytest.mark.parametrize(("processes", "kills", "most", "charges"), MANY)
def test_many_processes_together_never_exceed_the_cap(tmp_path, write, processes, kills, most, charges):
    place = tmp_path / "a.db"
    Account.create(place, write("year", epsilon=str(charges // 2)), as_promised=True)
    check_many(place, write("week", epsilon="1/2"), Fraction(charges // 2), processes, kills, most)


def test_a_disk_that_fills_up_takes_a_whole_charge_or_none(tmp_path, write, monkeypatch):
    """The database may not grow beyond a number of pages; with one page more the next charge fits or is refused, whole."""
    place, week = tmp_path / "a.db", write("week", epsilon="1/2")
    Account.create(place, write("year", epsilon="1000"), as_promised=True)
    connect, limit = sqlite3.connect, [0]

    def limited(*arguments, **options):
        found = connect(*arguments, **options)
        found.execute(f"PRAGMA max_page_count = {limit[0]}")
        return found

    database = connect(place)
    pages = database.execute("PRAGMA page_count").fetchone()[0]
    database.close()
    monkeypatch.setattr(store.sqlite3, "connect", limited)
    for limit[0] in range(pages, pages + 6):
        said = ""
        for _ in range(20):
            before = Account(place).balance().history.head
            try:
                Account(place).charge(week)
            except AccountUnavailableError as fault:
                said = str(fault)
                break
        assert "no room" in said
        assert Account(place).balance().history.head == before
    charges = modelled(Account(place).export()["events"], Fraction(1000), Fraction(1, 2)).values()
    assert set(charges) == {"committed"}
    assert len(charges) > 5


def test_a_clock_that_goes_back_changes_nothing(tmp_path, write, monkeypatch):
    place, week = tmp_path / "a.db", write("week", epsilon="1/2")
    Account.create(place, write("year", epsilon="1"), as_promised=True)
    for hour in (12, 3, 23):
        monkeypatch.setattr(history, "_now", lambda hour=hour: f"2020-01-01T{hour:02}:00:00Z")
        if hour != 23:
            Account(place).charge(week)
        else:
            with pytest.raises(OverCapError):
                Account(place).charge(week)
    assert str(verify_events(Account(place).balance().history.events).total.value) == "1"


def test_an_interruption_that_ends_a_connection_prints_no_traceback(tmp_path, write, monkeypatch, capsys):
    """SQLAlchemy logs it, and what is logged without a handler is printed."""
    found, closed = Account.create(tmp_path / "a.db", write("year", epsilon="3")), store.sa.dialects.sqlite.dialect.do_close

    def interrupted(self, connection):
        closed(self, connection)
        raise KeyboardInterrupt

    monkeypatch.setattr(store.sa.dialects.sqlite.dialect, "do_close", interrupted)
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # those of pytest
    with pytest.raises(KeyboardInterrupt):
        found.balance()
    assert capsys.readouterr().err == ""
