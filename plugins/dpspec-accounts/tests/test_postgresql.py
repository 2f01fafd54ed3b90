"""The same account in PostgreSQL: a server of the test's own, on loopback, in a temporary folder, by a user without rights."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from dpspec_accounts.account import Account, OverCapError
from dpspec_accounts.errors import AccountError, AccountUnavailableError, ChargeStateError, HistoryError
from dpspec_accounts.store import Rows, Store
from dpspec_accounts.verification import verify_events

from .test_crashes import MANY, check_every_end, check_many

psycopg = pytest.importorskip("psycopg", reason="8 tests of accounts in PostgreSQL left out: psycopg is not installed")
PASSWORD = "hunter2"  # noqa: S105 - of the server that the test starts


TRIED_PORTS = 5
"""A port that was free may be taken before the server binds it: so many are tried."""


def programs() -> Path | None:
    """The folder with initdb and pg_ctl."""
    folders = [Path(found).parent for found in [shutil.which("initdb")] if found]
    folders += sorted(Path("/").glob("usr/lib/postgresql/*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "pg_ctl").exists()), None)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The URL of a running server, without a database."""
    found = programs()
    if found is None or os.name == "nt":
        pytest.skip("8 tests of accounts in PostgreSQL left out: PostgreSQL is not installed")
    user = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="dpspec-postgresql-"))
    try:
        secret = folder / "password"
        secret.write_text(PASSWORD, encoding="utf-8")
        if user:
            for path in (folder, secret):
                shutil.chown(path, "nobody", "nogroup")

        def call(*command: object) -> None:
            with (folder.parent / f"{folder.name}.log").open("w+b") as log:
                done = subprocess.run(list(map(str, command)), stdout=log, stderr=log, cwd="/", check=False, **user)
                log.seek(0)
                assert done.returncode == 0, log.read().decode()

        data = folder / "data"
        call(found / "initdb", "-D", data, "-U", "clerk", "-A", "scram-sha-256", f"--pwfile={secret}", "--no-sync", "-E", "UTF8")
        patient = ("-w", "-t", "600")  # seconds by the clock; 60 by default, which a busy machine may need
        for attempt in range(TRIED_PORTS):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= -c fsync=off"
            try:
                call(found / "pg_ctl", "-D", data, "-o", options, "-l", folder / "log", *patient, "start")
                break
            except AssertionError:  # another process may have taken the port in between
                if attempt == TRIED_PORTS - 1:
                    raise
        try:
            yield f"postgresql://clerk:{PASSWORD}@127.0.0.1:{port}"
        finally:
            call(found / "pg_ctl", "-D", data, "-m", "immediate", *patient, "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            (folder.parent / f"{folder.name}.log").unlink()


def statement(url: str, text: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(text)


@pytest.fixture
def url(server, request) -> str:
    """A new database."""
    name = f"t{abs(hash(request.node.name))}"
    statement(f"{server}/postgres", f"CREATE DATABASE {name}")
    return f"{server}/{name}"


def test_the_same_rules(url, write):
    account = Account.create(url, write("year", epsilon="33/10"))
    week = write("week", epsilon="ln(3)", keep="3/4")
    account.charge(week)
    with account.reserve(week) as held:
        pass
    with pytest.raises(ChargeStateError):
        held.void("a mistake")
    account.reserve(week).void("not needed")
    account.charge(week)
    with pytest.raises(OverCapError):
        account.charge(week)
    assert str(account.balance().total.value) == "3*ln(3)"
    assert verify_events(account.balance().history.events).history.head == account.balance().history.head
    with pytest.raises(AccountError, match="exists already"):
        Account.create(url, write("year", epsilon="99"))


def test_the_history_is_only_added_to(url, write):
    account = Account.create(url, write("year", epsilon="3"), as_promised=True)
    account.charge(write("week", epsilon="1"))
    before = account.balance().history.head
    for text in (
        "UPDATE dpspec_event SET kind = 'void'", "DELETE FROM dpspec_event", "TRUNCATE dpspec_event",
        "DELETE FROM dpspec_account", "UPDATE dpspec_account SET version = 2",
        "INSERT INTO dpspec_event VALUES (99, 'void', 2, '{}', 'x', 'y')",
        "INSERT INTO dpspec_event VALUES (5, 'void', 2, '{}', 'x', 'y')", "INSERT INTO dpspec_account VALUES (2, 1)",
        "INSERT INTO dpspec_event SELECT * FROM dpspec_event WHERE seq = 2 ON CONFLICT (seq) DO UPDATE SET kind = 'void'",
    ):  # fmt: skip
        with pytest.raises(psycopg.Error):
            statement(url, text)
    assert account.balance().history.head == before
    statement(url, "ALTER TABLE dpspec_event DISABLE TRIGGER ALL")
    statement(url, "UPDATE dpspec_event SET kind = 'void' WHERE seq = 4")
    with pytest.raises(HistoryError, match="row 4"):
        account.balance()


def test_bad_databases(server, url, write):
    with pytest.raises(AccountError, match="is not in this database"):
        Account(url).balance()
    wrong = server.replace(PASSWORD, "wrong")
    for place in (f"{server}/nowhere", f"{wrong}/postgres"):
        with pytest.raises(AccountError) as fault:
            Account(place).balance()
        assert PASSWORD not in str(fault.value)
        assert "wrong" not in str(fault.value)
        assert "\n" not in str(fault.value)
    Account.create(url, write("year", epsilon="3"))
    statement(url, "ALTER TABLE dpspec_account DISABLE TRIGGER ALL")
    statement(url, "UPDATE dpspec_account SET version = 2")
    with pytest.raises(AccountError, match="version 2"):
        Account(url).balance()


def test_a_writer_that_waits_gives_up_and_a_reader_does_not_wait(url, write):
    account = Account.create(url, write("year", epsilon="3"), as_promised=True)
    with Store(url).writing():
        with pytest.raises(AccountUnavailableError, match="locked"):
            Account(url, wait=0.01).charge(write("week", epsilon="1"))
        assert str(account.balance().total.value) == "0"


def test_a_connection_that_is_cut_leaves_a_whole_charge_or_none(url, write, monkeypatch):
    """Cut by the server after each row of a charge, and before its end is recorded."""
    account = Account.create(url, write("year", epsilon="1000"), as_promised=True)
    week, add = write("week", epsilon="1"), Rows.add
    for cut in (1, 2, 3):
        seen = []

        def counted(rows, event, cut=cut, seen=seen):
            add(rows, event)
            seen.append(event)
            if len(seen) == cut:
                statement(url, f"SELECT pg_terminate_backend({rows.connection.connection.dbapi_connection.info.backend_pid})")

        before = account.balance().history.head
        monkeypatch.setattr(Rows, "add", counted)
        with pytest.raises(AccountUnavailableError) as fault:
            account.charge(week)
        monkeypatch.setattr(Rows, "add", add)
        assert "\n" not in str(fault.value)
        assert PASSWORD not in str(fault.value)
        assert len(seen) == cut
        assert account.balance().history.head == before
    assert account.charge(week).number == 2


@pytest.mark.slow
def test_a_process_that_ends_at_any_statement_leaves_a_whole_charge_or_none(url, write):
    Account.create(url, write("year", epsilon="1000"), as_promised=True)
    check_every_end(url, write("week", epsilon="1/2"))


@pytest.mark.slow
def test_processes_together_never_exceed_the_cap(url, write):
    Account.create(url, write("year", epsilon="6"), as_promised=True)
    check_many(url, write("week", epsilon="1/2"), Fraction(6))


@contextlib.contextmanager
def connections_cut(url: str, every: int) -> Iterator[list[int]]:
    """Cut all connections of a database each time that its history has so many rows more; how many rows it had then."""
    cuts, over = list[int](), threading.Event()

    def cut() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            while not over.wait(0.001):
                ((rows,),) = connection.execute("SELECT COALESCE(MAX(seq), 0) FROM dpspec_event")
                if rows >= every * (len(cuts) + 1):
                    connection.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                    )
                    cuts.append(rows)

    cutting = threading.Thread(target=cut)
    cutting.start()
    try:
        yield cuts
    finally:
        over.set()
        cutting.join()


@pytest.mark.parametrize(("processes", "kills", "most", "charges"), MANY)
def test_many_processes_together_never_exceed_the_cap(url, write, processes, kills, most, charges):
    Account.create(url, write("year", epsilon=str(charges // 2)), as_promised=True)
    cutting = connections_cut(url, every=charges // 20)
    cuts = check_many(url, write("week", epsilon="1/2"), Fraction(charges // 2), processes, kills, most, beside=cutting)
    assert len(cuts) > 10
