"""`dpspec account`: its answers, its exit codes, and one line for each kind of bad input."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import stat

import pytest
from dpspec_accounts.account import Account
from dpspec_accounts.store import Store

from dpspec.plugin import ParameterError


@pytest.fixture
def year(tmp_path, write, run):
    """An account with a cap of 3 that has spent 2 ln 3."""
    place = tmp_path / "year.db"
    assert run("account", "create", place, write("year", epsilon="3")).code == 0
    week = write("week", epsilon="ln(3)", keep="3/4")
    for _ in range(2):
        assert run("account", "charge", place, week).code == 0
    return place


def one_line(ran, code):
    assert ran.code == code, ran
    assert ran.out == ""
    assert ran.err.count("\n") == 1
    return ran.err


def test_the_answers_are_those_of_the_schema(tmp_path, write, run):
    place, week = tmp_path / "year.db", write("week", epsilon="ln(3)", keep="3/4")

    def answer(command, *arguments):
        return run("account", command, *arguments, "--format", "json").json(f"account-{command}")

    made = answer("create", place, write("year", epsilon="3"))
    assert (made["cap"], made["charges"]) == ({"standard": "mult", "epsilon": "3"}, [])
    (tmp_path / "table.csv").write_text("a\n", encoding="utf-8")
    assert answer("charge", place, week, "--written", tmp_path / "table.csv")["charged"] == 2
    assert answer("check", place, week)["total"]["epsilon"] == "2*ln(3)"
    held = Account(place).reserve(week)
    assert answer("void", place, held.number, "--because", "not needed")["charge"]["state"] == "void"
    shown = answer("show", place)
    assert [charge["state"] for charge in shown["charges"]] == ["committed", "void"]
    assert list(shown["charges"][0]["files"]) == ["table.csv"]
    assert [event["kind"] for event in answer("history", place)["events"]] == [
        "create", "reserve", "draw", "commit", "reserve", "void",
    ]  # fmt: skip
    head = answer("export", place, "--out", tmp_path / "e.json")["head"]
    found = answer("verify", tmp_path / "e.json", "--head", head)
    assert (found["total"], found["anchored"], found["head"]) == (shown["total"], True, head)


def test_an_export_is_imported_row_by_row(year, tmp_path, write, run):
    export, other = tmp_path / "e.json", tmp_path / "other.db"
    head = run("account", "export", year, "--out", export, "--format", "json").json("account-export")["head"]
    made = run("account", "import", other, export, "--head", head, "--format", "json").json("account-import")
    assert made["head"] == head
    assert run("account", "history", other).out == run("account", "history", year).out
    assert run("account", "charge", other, write("more", epsilon="1/100", keep="501/1000")).code == 0
    assert "exists already" in one_line(run("account", "import", other, export), 2)
    data = json.loads(export.read_text(encoding="utf-8"))
    data["events"][2]["body"] = data["events"][2]["body"].replace("2026", "2025").replace("20", "21", 1)
    export.write_text(json.dumps(data), encoding="utf-8")
    third = tmp_path / "third.db"
    assert "row 3" in one_line(run("account", "import", third, export), 1)
    assert not third.exists()


def test_over_the_cap_nothing_is_charged_and_the_remainder_is_printed(year, tmp_path, write, run):
    week = tmp_path / "week.dpspec.toml"
    for command in ("check", "charge"):
        before = run("account", "history", year).out
        found = run("account", command, year, week)
        assert found.code == 1
        assert "over the cap; nothing was charged" in found.out
        assert "left: epsilon = 3 - 2*ln(3) (0.802775 rounded down)" in found.out
        assert run("account", "history", year).out == before
        data = run("account", command, year, week, "--format", "json").json(f"account-{command}")
        assert (data["fits"], data["charged"], data["exit_code"]) == (False, None, 1)
        assert data["remainder"]["epsilon"] == "3 - 2*ln(3)"


@pytest.mark.parametrize("keep", [None, "9/10"])
def test_what_is_refused_is_not_only_said_to_fit(tmp_path, write, run, keep):
    """A claim that is refuted, or was never checked, fits under the cap and cannot be charged."""
    place, week = tmp_path / "year.db", write("week", epsilon="1", keep=keep)
    run("account", "create", place, write("year", epsilon="3"))
    found = run("account", "check", place, week)
    assert found.code == 0
    assert found.out.startswith("it fits under the cap, but a charge is refused")
    assert run("account", "charge", place, week).code != 0


def test_the_printed_budget_that_would_fit_does(tmp_path, write, run):
    """About 1.08604, to the nearest decimal, is above the largest one, and does not fit."""
    place = tmp_path / "year.db"
    run("account", "create", place, write("year", rho="1"), "--as-promised")
    run("account", "charge", place, write("first", epsilon="1"))
    found = run("account", "check", place, write("second", epsilon="5/3"))
    (budget,) = re.findall(r"a budget of \S+ \(([\d.]+) rounded down\) would fit", found.out)
    assert run("account", "check", place, write("third", epsilon=budget)).code == 0
    (left,) = re.findall(r"left: rho = ([\d.]+) rounded down", found.out)
    assert run("account", "check", place, write("fourth", rho=left)).code == 0


def test_no_published_file_is_lost_from_a_charge(tmp_path, write, run):
    """Two files of one name are two files, of which the first was not recorded."""
    place, week = tmp_path / "year.db", write("week", epsilon="1")
    run("account", "create", place, write("year", epsilon="3"), "--as-promised")
    paths = [tmp_path / folder / "table.csv" for folder in ("north", "south")]
    for path in paths:
        path.parent.mkdir()
        path.write_text(path.parent.name, encoding="utf-8")
    written = [text for path in paths for text in ("--written", path)]
    assert "written=table.csv: is the name of two files" in one_line(run("account", "charge", place, week, *written), 2)
    assert len(Account(place).balance().history.events) == 1
    with Account(place).reserve(week) as charge:
        charge.wrote(paths[0])
        charge.wrote(paths[0])
        with pytest.raises(ParameterError, match="two files"):
            charge.wrote(paths[1])
    (recorded,) = Account(place).balance().history.charges
    assert recorded.files == {"table.csv": hashlib.sha256(b"north").hexdigest()}
    paths[1].write_text("north", encoding="utf-8")
    assert run("account", "charge", place, week, *written).code == 0


def test_an_account_of_promises_says_so_in_every_report(tmp_path, write, run):
    place = tmp_path / "p.db"
    said = [
        run("account", "create", place, write("year", epsilon="3"), "--as-promised"),
        run("account", "check", place, write("week", epsilon="1")),
        run("account", "charge", place, write("week", epsilon="1")),
        run("account", "show", place),
        run("account", "history", place),
    ]
    run("account", "export", place, "--out", tmp_path / "e.json")
    said.append(run("account", "verify", tmp_path / "e.json"))
    for ran in said:
        assert ran.code == 0
        assert "as promised" in ran.out


def test_a_tampered_export_names_the_row(year, tmp_path, run):
    run("account", "export", year, "--out", tmp_path / "e.json")
    text = (tmp_path / "e.json").read_text(encoding="utf-8")
    (tmp_path / "e.json").write_text(text.replace('"kind": "commit"', '"kind": "void"', 1), encoding="utf-8")
    assert one_line(run("account", "verify", tmp_path / "e.json"), 1).startswith("row 4: was changed")


@pytest.mark.parametrize("name", ["x y.db", "x?mode=memory.db", "x#y.db", "100%41.db", "übersicht.db", ":memory:"])
def test_a_file_of_any_name_is_that_file(tmp_path, write, run, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("account", "create", name, write("year", epsilon="3")).code == 0
    assert name in os.listdir(tmp_path)
    assert run("account", "show", name).code == 0
    assert run("account", "show", f"sqlite:///{name}").code == (2 if "?" in name else 0)


# --- bad input ------------------------------------------------------------------------------------


def test_another_space(year, write, run):
    assert "space" in one_line(run("account", "charge", year, write("other", epsilon="1/10", length=7)), 2)


def test_a_unit_without_a_rule(year, write, run):
    assert one_line(run("account", "charge", year, write("other", epsilon="1/10", unit="visit")), 2)


@pytest.mark.parametrize(("keep", "code"), [(None, 5), ("9/10", 1)])
def test_a_claim_that_is_not_verified(year, write, run, keep, code):
    assert one_line(run("account", "charge", year, write("other", epsilon="1/10", keep=keep)), code)


def test_a_database_of_another_version(year, run):
    with sqlite3.connect(year) as database:
        database.execute("DROP TRIGGER dpspec_account_no_update")
        database.execute("UPDATE dpspec_account SET version = 2")
    database.close()
    assert "version 2" in one_line(run("account", "show", year), 2)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_file_that_is_read_only(year, write, run):
    year.chmod(stat.S_IRUSR)
    assert "read-only" in one_line(run("account", "charge", year, write("more", epsilon="1/2", keep="1/2")), 2)


def test_a_database_that_takes_no_writes(year):
    """The same, for users who may write everywhere: the error is that of a connection that only reads."""
    from dpspec_accounts.store import _failure

    database = sqlite3.connect(f"file:{year}?mode=ro", uri=True)
    with pytest.raises(sqlite3.OperationalError) as problem:
        database.execute("INSERT INTO dpspec_account VALUES (2, 1)")
    database.close()
    assert "is read-only" in str(_failure("year.db", problem.value))


@pytest.mark.parametrize("kind", ["missing", "folder", "text", "empty", "foreign"])
def test_what_is_no_account(tmp_path, run, kind):
    place = tmp_path / "x.db"
    if kind == "folder":
        place.mkdir()
    elif kind == "text":
        place.write_text("not a database, and longer than a header of one" * 100, encoding="utf-8")
    elif kind == "empty":
        place.touch()
    elif kind == "foreign":
        with sqlite3.connect(place) as database:
            database.execute("CREATE TABLE other (x INTEGER)")
        database.close()
    before = place.read_bytes() if place.is_file() else None
    one_line(run("account", "show", place), 2)
    assert (place.read_bytes() if place.is_file() else None) == before
    assert place.exists() == (kind != "missing")


def test_a_database_of_something_else_is_left_as_it_is(tmp_path, write, run):
    place = tmp_path / "x.db"
    with sqlite3.connect(place) as database:
        database.execute("CREATE TABLE other (x INTEGER)")
    database.close()
    before = place.read_bytes()
    assert "of something else" in one_line(run("account", "create", place, write("year", epsilon="3")), 2)
    assert place.read_bytes() == before


@pytest.mark.parametrize("head", ["", "x", "3f7a", "A" * 64, "0" * 63])
def test_what_is_no_hash_is_bad_input(year, tmp_path, run, head):
    run("account", "export", year, "--out", tmp_path / "e.json")
    assert "64 hexadecimal digits" in one_line(run("account", "verify", tmp_path / "e.json", "--head", head), 2)


def test_an_account_is_made_once(year, write, run):
    before = run("account", "history", year).out
    assert "exists already" in one_line(run("account", "create", year, write("year", epsilon="30")), 2)
    assert run("account", "history", year).out == before


def test_a_cap_below_what_is_spent_is_never_reached(year, tmp_path, write, run):
    """The cap of an account never changes; an export with a smaller one is refused."""
    import hashlib

    run("account", "export", year, "--out", tmp_path / "e.json")
    data = json.loads((tmp_path / "e.json").read_text(encoding="utf-8"))
    previous = "0" * 64
    for row in data["events"]:
        row["body"] = row["body"].replace('epsilon = \\"3\\"', 'epsilon = \\"1\\"')
        body = json.loads(row["body"])
        if "specification" in body:
            body["specification"]["sha256"] = hashlib.sha256(body["specification"]["text"].encode()).hexdigest()
            row["body"] = json.dumps(body, sort_keys=True, separators=(",", ":"))
        columns = ["dpspec-account 1", row["seq"], row["kind"], row["charge"], row["body"], previous]
        row["previous"], row["hash"] = previous, hashlib.sha256(json.dumps(columns, separators=(",", ":")).encode()).hexdigest()
        previous = row["hash"]
    (tmp_path / "e.json").write_text(json.dumps(data), encoding="utf-8")
    assert "above the cap of epsilon = 1" in one_line(run("account", "verify", tmp_path / "e.json"), 1)


def test_voiding_what_was_drawn(year, run):
    assert "cannot be voided" in one_line(run("account", "void", year, 2, "--because", "a mistake"), 1)


def test_voiding_what_is_no_charge(year, run):
    assert one_line(run("account", "void", year, 3, "--because", "a mistake"), 2)


def test_a_locked_account_is_waited_for_and_then_reported(year, write):
    """The wait is bounded: here no time at all."""
    from dpspec_accounts.errors import AccountUnavailableError

    holder = sqlite3.connect(year, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(AccountUnavailableError, match="locked") as fault:
            Account(year, wait=0).charge(write("more", epsilon="1/2", keep="1/2"))
        assert fault.value.exit_code == 4
        assert str(Account(year, wait=0).balance().total.value) == "2*ln(3)"
    finally:
        holder.execute("ROLLBACK")
        holder.close()


SECRET = "hunter2"  # noqa: S105 - that of no one
URLS = [
    f"postgresql://clerk:{SECRET}@127.0.0.1:1/survey", f"postgresql://clerk:{SECRET}@127.0.0.1:1/survey?connect_timeout=1",
    f"postgresql://127.0.0.1:1/survey?user=clerk&password={SECRET}", f"mysql://clerk:{SECRET}@host/survey",
    f"postgresql://clerk:{SECRET}@host:notaport/survey", f"postgresql://clerk:{SECRET}@[::1/survey",
    f"postgresql://clerk:{SECRET}@host", f"sqlite://clerk:{SECRET}@host/x.db", f"sqlite:///x.db?password={SECRET}",
    f"postgresql:/clerk:{SECRET}@host/survey", f"clerk:{SECRET}@host/survey", f"host=h password={SECRET}",
]  # fmt: skip


@pytest.mark.parametrize("url", URLS)
def test_a_password_is_never_printed(tmp_path, run, url, write, monkeypatch):
    monkeypatch.chdir(tmp_path)
    week = write("week", epsilon="1")
    for arguments in (("show", url), ("charge", url, week), ("void", url, 2, "--because", "x")):
        for options in ((), ("--format", "json")):
            ran = run("account", *arguments, *options)
            assert ran.code in (2, 4)
            assert SECRET not in ran.out + ran.err


def test_the_driver_of_postgresql_may_be_missing(run, monkeypatch):
    import sqlalchemy

    def missing(*_, **__):
        raise ModuleNotFoundError("No module named 'psycopg'")

    monkeypatch.setattr(sqlalchemy, "create_engine", missing)
    found = one_line(run("account", "show", f"postgresql://clerk:{SECRET}@host/survey"), 2)
    assert 'pip install "dpspec-accounts[postgresql]"' in found
    assert SECRET not in found


# --- the tables -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE dpspec_event SET kind = 'void'", "DELETE FROM dpspec_event", "DELETE FROM dpspec_event WHERE seq = 7",
        "INSERT OR REPLACE INTO dpspec_event SELECT * FROM dpspec_event WHERE seq = 7",
        "REPLACE INTO dpspec_event SELECT * FROM dpspec_event WHERE seq = 2",
        "INSERT INTO dpspec_event VALUES (99, 'void', 2, '{}', 'x', 'y')", "UPDATE dpspec_account SET version = 1",
        "INSERT INTO dpspec_event VALUES (8, 'void', 2, '{}', 'x', 'y')", "DELETE FROM dpspec_account",
        "INSERT OR REPLACE INTO dpspec_account VALUES (1, 2)", "INSERT INTO dpspec_event VALUES ('x', 'void', 2, '{}', 'x', 'y')",
    ],
)  # fmt: skip
def test_the_history_is_only_added_to(year, run, statement):
    before = run("account", "history", year).out
    database = sqlite3.connect(year)
    with pytest.raises(sqlite3.Error):
        database.execute(statement)
    database.close()
    assert run("account", "history", year).out == before


def test_a_row_that_was_put_in_by_hand_is_not_believed(year, write, run):
    """What `show` says is computed from the specifications; a charge looks at the last rows alone, and finds them changed."""
    database = sqlite3.connect(year)
    for trigger in ("dpspec_event_no_update",):
        database.execute(f"DROP TRIGGER {trigger}")
    database.execute("UPDATE dpspec_event SET body = replace(body, '\"epsilon\":\"ln(3)\"', '\"epsilon\":\"0\"')")
    database.commit()
    database.close()
    for row, command in ((2, ("show", year)), (5, ("charge", year, write("more", epsilon="1/2", keep="1/2")))):
        assert f"row {row}: was changed" in one_line(run("account", *command), 1)


def test_the_tables_are_strict_and_the_journal_is_written_ahead(year):
    with Store(year).reading() as rows:
        pragma = {
            name: rows.connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "foreign_keys", "synchronous")
        }
        strict = rows.connection.exec_driver_sql("SELECT name, strict FROM pragma_table_list WHERE name LIKE 'dpspec%'").all()
    assert pragma == {"journal_mode": "wal", "foreign_keys": 1, "synchronous": 2}
    assert sorted(map(tuple, strict)) == [("dpspec_account", 1), ("dpspec_event", 1)]
