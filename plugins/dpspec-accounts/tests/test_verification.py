"""Exports that were tampered with: the chain is always computed anew after the change, as anyone can."""

from __future__ import annotations

import hashlib
import json
import random

import pytest
from dpspec_accounts.account import Account
from dpspec_accounts.errors import AccountError, HistoryError
from dpspec_accounts.verification import read_export, verify_events

DELTA = 'type = "mult-delta"\ndelta = "{}"'


def rechained(rows):
    """Numbers, previous hashes and hashes of rows from the definition in the documentation."""
    previous, found = "0" * 64, []
    for seq, given in enumerate(rows, 1):
        row = {**given, "seq": seq, "previous": previous}
        columns = ["dpspec-account 1", row["seq"], row["kind"], row["charge"], row["body"], row["previous"]]
        row["hash"] = hashlib.sha256(json.dumps(columns, separators=(",", ":")).encode()).hexdigest()
        previous = row["hash"]
        found.append(row)
    return found


def written(body):
    return json.dumps(body, sort_keys=True, separators=(",", ":"))


def verified(tmp_path, rows, **options):
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"format": "dpspec-account", "version": 1, "events": rows}), encoding="utf-8")
    return verify_events(read_export(path).events, **options)


@pytest.fixture
def rows(tmp_path, write):
    """An account with a committed, a void, a drawn and a reserved charge."""
    account = Account.create(tmp_path / "a.db", write("year", epsilon="6"))
    week = write("week", epsilon="ln(3)", keep="3/4")
    account.charge(week, {"table.csv": "ab" * 32})
    account.reserve(write("other", epsilon="ln(2)", keep="2/3")).void("not needed")
    account.draw(account.reserve(week).number)
    account.reserve(week)
    return account.export()["events"]


@pytest.fixture
def approximate(tmp_path, write):
    account = Account.create(tmp_path / "d.db", write("year", standard=DELTA.format("1/100"), epsilon="3"), as_promised=True)
    for place in range(2):
        account.charge(write(f"week-{place}", standard=DELTA.format("1/200"), epsilon="1"))
    return account.export()["events"]


def test_an_honest_export_is_consistent(tmp_path, rows, approximate):
    assert rechained(rows) == rows
    assert str(verified(tmp_path, rows).total.value) == "3*ln(3)"
    assert verified(tmp_path, rows, head=rows[3]["hash"]).history.head == rows[-1]["hash"]
    found = verified(tmp_path, approximate)
    assert (str(found.total.value), str(found.total.standard.delta)) == ("2", "1/100")


# --- what a forger may change ---------------------------------------------------------------------


def changed(rows, place, change):
    """The rows with a change in the body of one, chained anew."""
    body = json.loads(rows[place]["body"])
    change(body)
    return rechained([*rows[:place], {**rows[place], "body": written(body)}, *rows[place + 1 :]])


def put(*keys, value):
    def change(body):
        for key in keys[:-1]:
            body = body[key]
        body[keys[-1]] = value

    return change


def text_with(old, new):
    def change(body):
        given = body["specification"]
        assert old in given["text"]
        given["text"] = given["text"].replace(old, new)
        given["sha256"] = hashlib.sha256(given["text"].encode()).hexdigest()

    return change


BODY = {
    "a smaller amount": put("amount", "epsilon", value="1/100"),
    "a larger amount": put("amount", "epsilon", value="2"),
    "an equal amount, written otherwise": put("amount", "epsilon", value="1*ln(3)"),
    "no amount": put("amount", "epsilon", value=None),
    "an amount of another kind": put("amount", value={"standard": "d-nor", "rho": "1/100"}),
    "an empty amount": put("amount", value={}),
    "a delta": put("amount", "delta", value="0"),
    "a smaller total": put("total", "epsilon", value="1/100"),
    "another verdict": put("verdict", value="derived"),
    "a verdict that is no text": put("verdict", value=True),
    "a caveat": put("caveats", value=["none"]),
    "the flag": put("as_promised", value=True),
    "a flag that is a number": put("as_promised", value=0),
    "a version that is not known": put("version", value="0.1.1"),
    "a version of the future": put("version", value="9.0.0"),
    "no version": put("version", value=None),
    "a smaller budget in the file": text_with('epsilon = "ln(3)"', 'epsilon = "1/10"'),
    "a larger budget in the file": text_with('epsilon = "ln(3)"', 'epsilon = "2"'),
    "another mechanism in the file": text_with('keep_probability = "3/4"', 'keep_probability = "99/100"'),
    "no mechanism in the file": lambda body: text_with("[mech" + body["specification"]["text"].partition("[mech")[2], "")(body),
    "another space": text_with("length = 6", "length = 7"),
    "another unit": text_with('unit = "person"', 'unit = "visit"'),
    "no specification": text_with("schema = 1", "schema = x"),
    "another hash of the file": put("specification", "sha256", value="0" * 64),
    "a field more": put("released", value=True),
    "a time that is none": put("at", value="yesterday"),
}  # fmt: skip


@pytest.mark.parametrize("name", BODY)
def test_a_changed_reservation_is_refused_by_its_row(tmp_path, rows, name):
    with pytest.raises(HistoryError) as fault:
        verified(tmp_path, changed(rows, 1, BODY[name]))
    assert fault.value.subject == "row 2"
    assert fault.value.exit_code == 1


APPROXIMATE = {
    "delta is null": put("amount", "delta", value=None),
    "delta is smaller": put("amount", "delta", value="0"),
    "delta is missing": lambda body: body["amount"].pop("delta"),
    "the total has no delta": lambda body: body["total"].pop("delta"),
    "the total is smaller in delta": put("total", "delta", value="1/200"),
    "the file has a larger delta": text_with('delta = "1/200"', 'delta = "1/50"'),
    "the file has a smaller delta": text_with('delta = "1/200"', 'delta = "1/2000"'),
}


@pytest.mark.parametrize("name", APPROXIMATE)
def test_a_changed_delta_is_refused_by_its_row(tmp_path, approximate, name):
    with pytest.raises(HistoryError) as fault:
        verified(tmp_path, changed(approximate, 4, APPROXIMATE[name]))
    assert fault.value.subject == "row 5"


ACCOUNT = {
    "a smaller cap": (text_with('epsilon = "6"', 'epsilon = "2"'), "row 7"),
    "a smaller cap at the end": (text_with('epsilon = "6"', 'epsilon = "3"'), "row 9"),
    "another standard": (text_with('type = "mult"', 'type = "d-nor"'), "row 1"),
    "another space": (text_with("length = 6", "length = 5"), "row 2"),
    "the flag": (put("as_promised", value=True), "row 2"),
    "a version": (put("version", value="0.0.9"), "row 1"),
    "no identity": (put("identity", value="x"), "row 1"),
    "an infinite cap": (text_with('epsilon = "6"', 'epsilon = "inf"'), "row 1"),
}


@pytest.mark.parametrize("name", ACCOUNT)
def test_a_changed_account_is_refused(tmp_path, rows, name):
    """Where the new account does not take the charges that follow."""
    change, row = ACCOUNT[name]
    with pytest.raises(HistoryError) as fault:
        verified(tmp_path, changed(rows, 0, change))
    assert fault.value.subject == row


def test_promises_do_not_become_verified_by_a_flag(tmp_path, write):
    account = Account.create(tmp_path / "p.db", write("year", epsilon="6"), as_promised=True)
    account.charge(write("week", epsilon="1"))
    rows = account.export()["events"]
    for place in (0, 1):
        rows = changed(rows, place, put("as_promised", value=False))
    with pytest.raises(HistoryError, match="row 2: charges what may not be charged"):
        verified(tmp_path, rows)


def without(rows, *places):
    return [row for place, row in enumerate(rows) if place not in places]


ORDERS = {
    "the creation is missing": lambda rows: rows[1:],
    "the creation is repeated": lambda rows: [rows[0], *rows],
    "a reservation is missing": lambda rows: without(rows, 1),
    "a draw is missing": lambda rows: without(rows, 2),
    "a draw is repeated": lambda rows: [*rows[:3], rows[2], *rows[3:]],
    "a commit comes first": lambda rows: [*rows[:2], rows[3], rows[2], *rows[4:]],
    "a commit is void": lambda rows: [*rows[:3], {**rows[5], "charge": 2}, *rows[4:]],
    "a drawn charge is void": lambda rows: [*rows, {**rows[5], "charge": 7}],
    "a charge that is void is void": lambda rows: [*rows, rows[5]],
    "a void names the account": lambda rows: [*rows, {**rows[5], "charge": 1}],
    "a void names nothing": lambda rows: [*rows, {**rows[5], "charge": None}],
    "a void names what comes later": lambda rows: [*rows, {**rows[5], "charge": 11}],
    "a reservation names a charge": lambda rows: [*rows[:1], {**rows[1], "charge": 2}, *rows[2:]],
    "a reservation is repeated": lambda rows: [*rows, rows[1], rows[1], rows[1]],
    "a row of another kind": lambda rows: [*rows, {**rows[2], "kind": "refund"}],
    "a number that is a flag": lambda rows: [*rows, {**rows[2], "charge": True}],
    "nothing at all": lambda rows: [],
}


@pytest.mark.parametrize("name", ORDERS)
def test_rows_in_another_order_are_refused(tmp_path, rows, name):
    with pytest.raises(HistoryError):
        verified(tmp_path, rechained(ORDERS[name](rows)))


DIGITS = "0123456789abcdef"
"""Every digit of a hash becomes another one: a hash without two given ones occurs in one of some thousand runs."""


@pytest.mark.parametrize("column", ["seq", "kind", "charge", "body", "previous", "hash"])
def test_without_a_new_chain_each_column_is_covered(tmp_path, rows, column):
    for place, row in enumerate(rows):
        other = {"seq": row["seq"] + 1, "kind": "draw" if row["kind"] != "draw" else "void", "charge": 99}.get(column)
        value = other if other is not None else row[column].translate(str.maketrans(DIGITS, DIGITS[1:] + DIGITS[0]))
        with pytest.raises(HistoryError) as fault:
            verified(tmp_path, [*rows[:place], {**row, column: value}, *rows[place + 1 :]])
        assert fault.value.subject == f"row {place + 1}"


def test_only_a_hash_from_elsewhere_shows_what_is_consistent_and_was_cut(tmp_path, rows):
    """The limit that the documentation states, and what closes it."""
    for end in range(1, len(rows)):
        cut = rows[:end]
        assert verified(tmp_path, cut).history.head == cut[-1]["hash"]
        with pytest.raises(HistoryError):
            verified(tmp_path, cut, head=rows[-1]["hash"])
    renamed = changed(rows, 3, put("files", value={"table.csv": "cd" * 32}))
    assert verified(tmp_path, renamed).history.head != rows[-1]["hash"]
    with pytest.raises(HistoryError):
        verified(tmp_path, renamed, head=rows[-1]["hash"])


@pytest.mark.parametrize(
    "changes", [pytest.param(300, id="few"), pytest.param(2_000, marks=pytest.mark.slow, id="many")]
)  # fmt: skip
def test_random_changes_of_an_export_that_is_anchored_are_all_refused(tmp_path, rows, changes):
    """Any other text of the rows, chained anew where that is possible, has no row with the hash that is known."""
    source, refused = random.Random(changes), 0
    text = json.dumps(rows)
    for _ in range(changes):
        place = source.randrange(len(text))
        other = text[:place] + chr(source.randrange(32, 127)) + text[place + source.randrange(2) :]
        try:
            forged = json.loads(other)
            if forged == rows:
                continue
            forged = rechained(forged) if source.random() < 0.5 else forged
            found = verified(tmp_path, forged, head=rows[-1]["hash"])
        except (ValueError, KeyError, TypeError, AttributeError, HistoryError, AccountError):
            refused += 1
        else:  # an equal row, written otherwise
            assert found.history.events == verified(tmp_path, rows).history.events
    assert refused > 2 * changes / 3


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "null", "nonsense", '{"format": "dpspec-account", "version": 2, "events": []}',
        '{"format": "dpspec-account", "version": true, "events": []}', '{"format": "dpspec-account", "version": 1, "events": {}}',
        '{"format": "dpspec-account", "version": 1, "version": 1, "events": []}', "[" * 100_000,
        '{"format": "dpspec-account", "version": 1, "events": [], "more": NaN}',
    ],
)  # fmt: skip
def test_what_is_no_export_is_bad_input(tmp_path, text):
    (tmp_path / "export.json").write_text(text, encoding="utf-8")
    with pytest.raises(AccountError) as fault:
        read_export(tmp_path / "export.json")
    assert fault.value.exit_code == 2
    assert "\n" not in str(fault.value)


def test_a_history_that_no_honest_account_writes_is_refused(tmp_path, rows):
    """Charges up to the cap, then one more with a total that is right: only the cap is wrong."""
    forged = [*rows, rows[1], rows[1], rows[1]]
    bodies = []
    for place, row in enumerate(forged):
        body = json.loads(row["body"])
        if place >= len(rows):
            number = 4 + place - len(rows)
            body["total"]["epsilon"] = f"{number}*ln(3)"
        bodies.append({**row, "body": written(body)})
    with pytest.raises(HistoryError, match="above the cap"):
        verified(tmp_path, rechained(bodies))
