"""Whether an export of an account is consistent, from the export alone.

Nothing that a row says of itself is believed. The chain, the states, the verdict of each specification, each amount and each
total are computed again by this version of dpspec, and compared with what the rows record.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import attrs

from dpspec import DpspecError
from dpspec.plugin import ParameterError
from dpspec.plugin.applications import read_bytes
from dpspec_accounts.account import EXPORT, EXPORT_VERSION, Statement, check_standing, shown, statement_of, totals_of
from dpspec_accounts.errors import AccountError, HistoryError
from dpspec_accounts.history import DIGEST, Charge, Event, History, broken, replayed
from dpspec_accounts.totals import (
    Frame,
    amount_of,
    caveats_of,
    check_charge,
    fits,
    frame_of,
    standing_of,
)

MOST_BYTES = 1 << 28
"""An export is read up to this size."""
_COLUMNS: dict[str, tuple[type, ...]] = {
    "seq": (int,), "kind": (str,), "charge": (int, type(None)), "body": (str,), "previous": (str,), "hash": (str,),
}  # fmt: skip


@attrs.frozen(kw_only=True)
class Export:
    """An export, of which nothing is checked but the types of its rows.

    Args:
        events: the rows.
        signature: what is given as one; None where nothing is.
    """

    events: tuple[Event, ...]
    signature: Mapping[str, Any] | None = None


def read_export(path: str | Path) -> Export:
    """Read an export.

    Raises:
        AccountError: the file is none.
    """
    raw = read_bytes(Path(path), MOST_BYTES)
    try:
        data = json.loads(raw.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise _no_export("is no JSON") from None
    if not isinstance(data, dict) or data.keys() - {"signature"} != {"format", "version", "events"} or data["format"] != EXPORT:
        raise _no_export("is no export of an account")
    if type(data["version"]) is not int or data["version"] != EXPORT_VERSION:
        raise _no_export("is an export of another version")
    if not isinstance(data["events"], list):
        raise _no_export("has no list of rows")
    if not isinstance(data.get("signature", {}), dict):
        raise _no_export("has a signature that is no object")
    events = tuple(_event(place, row) for place, row in enumerate(data["events"], 1))
    return Export(events=events, signature=data.get("signature"))


def _no_export(rule: str) -> AccountError:
    return AccountError("export", rule, "make one with `dpspec account export`")


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object none of whose keys occurs twice: readers differ in which one counts."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)


def _event(place: int, row: Any) -> Event:
    if not isinstance(row, dict) or row.keys() != _COLUMNS.keys():
        raise broken(place, "does not have the columns of a row")
    if any(type(row[name]) not in kinds for name, kinds in _COLUMNS.items()):
        raise broken(place, "has a column of another type")
    return Event(**row)


def verify_events(
    events: Sequence[Event], *, head: str | None = None, progress: Callable[[int, int], object] | None = None
) -> Statement:
    """Recompute everything that the rows of an account record.

    Args:
        events: the rows.
        head: a hash that is known from elsewhere, as of an earlier export: it must be that of one of the rows.
        progress: called with (done, in all).

    Returns:
        what is spent, computed.

    Raises:
        HistoryError: names the first row that is wrong, and why. ParameterError: the head is no hash.
    """
    if head is not None and not DIGEST.fullmatch(head):
        raise ParameterError("head", "must be a hash of 64 hexadecimal digits", "`dpspec account show` prints it", value=head)
    history = replayed(events)
    if head is not None and head not in {event.hash for event in events}:
        rule = "has no row with the hash that is expected: rows were changed or removed"
        raise HistoryError("history", rule, "compare it with the export that the hash is from")
    frame = _frame(history)
    by_number = {charge.number: charge for charge in history.charges}
    for event, total in totals_of(frame, history):
        if event.kind == "reserve":
            _check_charge(frame, history, by_number[event.seq])
            if not fits(total, frame.cap):
                raise broken(event.seq, f"leads to {total}, above the cap of {frame.cap.as_limit}")
        if progress is not None:
            progress(event.seq, len(events))
    return statement_of("export", history)


def _frame(history: History) -> Frame:
    try:
        return frame_of(history.account["specification"]["text"])
    except DpspecError as fault:
        raise broken(1, f"holds a specification that cannot be that of an account ({fault})") from None


def _check_charge(frame: Frame, history: History, charge: Charge) -> None:
    """Compare the record of a reservation, other than the total, with its specification."""
    content, seq = charge.content, charge.number
    text, as_promised = content["specification"]["text"], history.account["as_promised"]
    try:
        check_charge(text)
        found, caveats, amount = standing_of(text), caveats_of(text), amount_of(frame, text)
    except DpspecError as fault:
        raise broken(seq, f"holds a specification that cannot be charged ({fault})") from None
    computed = {
        "verdict": found.word.word, "caveats": list(caveats), "as_promised": as_promised, "amount": amount.data(),
    }  # fmt: skip
    for key, value in computed.items():
        if content[key] != value:
            raise broken(seq, f"records the {key.replace('_', ' ')} {shown(content[key])}, and it is {shown(value)}")
    try:
        check_standing(text, found, caveats, as_promised=as_promised)
    except AccountError as fault:
        raise broken(seq, f"charges what may not be charged ({fault})") from None
