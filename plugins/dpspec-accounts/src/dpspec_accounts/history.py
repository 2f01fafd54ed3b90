"""The history of an account: events in one chain, of which everything else is computed.

A row is (seq, kind, charge, body, previous, hash) with

    hash = SHA-256( JSON [ "dpspec-account 1", seq, kind, charge, body, previous ] ),

`previous` the hash of the row before (64 zeros for the first), `body` a JSON object as text in canonical form: sorted keys, no
blanks. So the hash of the last row covers every column of every row. The kinds of rows, and the states of a charge:

    create                    the account: its specification file, whose budget is the cap, whether it counts as promised, and a
                              random number, by which it is another one than an account of equal content
    reserve  -> reserved      a specification that fits under the cap; counted from here on
    draw     -> drawn         from reserved: something may have been drawn
    commit   -> committed     from drawn: what was written, by name and SHA-256
    void     -> void          from reserved only: nothing was drawn, and it is no longer counted

A charge is known by the number of its `reserve` row. The rows that change what is spent, `reserve` and `void`, record the total
after them: so a new charge needs the last of these rows, and not the whole history.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import Any

import attrs

from dpspec_accounts.errors import HistoryError

FORMAT = "dpspec-account 1"
FIRST = "0" * 64
KNOWN_VERSIONS = ("0.1.0",)
"""The versions of dpspec whose rows are understood: conversions and totals of another one may be others."""

RESERVED, DRAWN, COMMITTED, VOID = "reserved", "drawn", "committed", "void"
STATES = (RESERVED, DRAWN, COMMITTED, VOID)

_STEPS: Mapping[str, tuple[str, str]] = {"draw": (RESERVED, DRAWN), "commit": (DRAWN, COMMITTED), "void": (RESERVED, VOID)}
"""The kind of a row: the state that it needs, and the state that it leads to."""

_TEXT, _FLAG, _MAP = str, bool, dict
_SHAPES: Mapping[str, Mapping[str, type]] = {
    "create": {"specification": _MAP, "as_promised": _FLAG, "identity": _TEXT},
    "reserve": {"specification": _MAP, "verdict": _TEXT, "caveats": list, "as_promised": _FLAG, "amount": _MAP, "total": _MAP},
    "draw": {},
    "commit": {"files": _MAP},
    "void": {"because": _TEXT, "total": _MAP},
}
_EVERY: Mapping[str, type] = {"at": _TEXT, "version": _TEXT}
_OPTIONAL: Mapping[str, Mapping[str, type]] = {
    "create": {"period": _TEXT, "responsible": _MAP},
    "reserve": {"period": _TEXT, "by": _TEXT},
    "draw": {"by": _TEXT},
    "commit": {"by": _TEXT},
    "void": {"period": _TEXT, "by": _TEXT},
}
"""Of an account with periods: their kind, or the period of a charge. Who is responsible, and who did it, as was stated."""
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")
_IDENTITY = re.compile(r"[0-9a-f]{32}")
DIGEST = re.compile(r"[0-9a-f]{64}")


@attrs.frozen(kw_only=True)
class Event:
    """One row of the history.

    Args:
        seq: its number, from 1.
        kind: what happened.
        charge: the number of the charge that it is about; None for the account itself and for a reservation, which begins one.
        body: what is recorded, as canonical JSON.
        previous: the hash of the row before.
        hash: the hash of this row.
    """

    seq: int
    kind: str
    charge: int | None
    body: str
    previous: str
    hash: str

    @property
    def content(self) -> dict[str, Any]:
        """What is recorded."""
        return read_body(self.body, self.seq)

    def data(self) -> dict[str, Any]:
        """The row as JSON data."""
        return attrs.asdict(self)


def canonical(content: Mapping[str, Any]) -> str:
    """The one JSON text of an object.

    >>> canonical({"b": 1, "a": "x"})
    '{"a":"x","b":1}'
    """
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(seq: int, kind: str, charge: int | None, body: str, previous: str) -> str:
    """The hash of a row."""
    text = json.dumps([FORMAT, seq, kind, charge, body, previous], separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def following(last: Event | None, kind: str, content: Mapping[str, Any], charge: int | None = None) -> Event:
    """The row after the last one, of now and of this version; the first row where there is none."""
    seq, previous = (1, FIRST) if last is None else (last.seq + 1, last.hash)
    body = canonical({**content, "at": _now(), "version": this_version()})
    return Event(
        seq=seq, kind=kind, charge=charge, body=body, previous=previous, hash=digest(seq, kind, charge, body, previous)
    )


def _now() -> str:
    """The time of day, for people: nothing is decided by it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@cache
def this_version() -> str:
    """The version of dpspec that writes."""
    return version("dpspec")


def read_body(body: str, seq: int) -> dict[str, Any]:
    """The content of a row.

    Raises:
        HistoryError: it is no JSON object in canonical form.
    """
    try:
        found = json.loads(body)
        written = canonical(found) if isinstance(found, dict) else None
    except (ValueError, RecursionError):
        written = None
    if written != body:
        raise broken(seq, "its body is no JSON object in canonical form")
    content: dict[str, Any] = found
    return content


def broken(seq: int, reason: str) -> HistoryError:
    """The error that names a row."""
    return HistoryError(f"row {seq}", reason, "do not rely on this account; compare it with an earlier export")


# --- states ---------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Charge:
    """One charge, as its history has it.

    Args:
        number: the number of its reservation.
        content: what the reservation records.
        state: reserved, drawn, committed or void.
        files: what was written, by name and SHA-256.
    """

    number: int
    content: Mapping[str, Any]
    state: str
    files: Mapping[str, str] = {}

    @property
    def counts(self) -> bool:
        """Whether it counts under the cap: all but void charges do."""
        return self.state != VOID


@attrs.frozen(kw_only=True)
class History:
    """A history whose chain and transitions were checked.

    Args:
        events: its rows.
        account: what the first row records.
        charges: in the order of their reservations.
    """

    events: tuple[Event, ...]
    account: Mapping[str, Any]
    charges: tuple[Charge, ...]

    @property
    def head(self) -> str:
        """The hash of the last row, which covers all of them."""
        return self.events[-1].hash

    @property
    def counted(self) -> tuple[Charge, ...]:
        """The charges that count under the cap."""
        return tuple(charge for charge in self.charges if charge.counts)

    def charge(self, number: int) -> Charge | None:
        """The charge of a number."""
        return next((charge for charge in self.charges if charge.number == number), None)


def replayed(events: Iterable[Event]) -> History:
    """Check the chain and every transition; amounts, totals and verdicts are checked by `verification`.

    Raises:
        HistoryError: names the first row that is wrong.
    """
    rows = tuple(events)
    if not rows:
        raise HistoryError("history", "is empty", "give an account, or an export of one")
    previous, charges = FIRST, dict[int, Charge]()
    contents = []
    for place, event in enumerate(rows, 1):
        contents.append(_checked(event, place, previous))
        previous = event.hash
        _apply(event, contents[-1], charges)
    return History(events=rows, account=contents[0], charges=tuple(charges.values()))


def read_alone(event: Event) -> dict[str, Any]:
    """The content of one row, of which everything is checked that the row alone shows: its hash, and its shape.

    Raises:
        HistoryError: the row is wrong.
    """
    return _checked(event, event.seq, event.previous)


def charge_of(events: Iterable[Event]) -> Charge | None:
    """A charge from its own rows, its reservation first; None where there are no rows.

    Raises:
        HistoryError: a row is wrong, or is no step of this charge.
    """
    charges = dict[int, Charge]()
    for event in events:
        _apply(event, read_alone(event), charges)
    return next(iter(charges.values()), None)


def _checked(event: Event, place: int, previous: str) -> dict[str, Any]:
    """The content of one row, whose place, hash and shape are right."""
    if event.seq != place:
        raise broken(place, f"has the number {event.seq}")
    if event.previous != previous:
        raise broken(place, "does not follow the row before it")
    if event.hash != digest(event.seq, event.kind, event.charge, event.body, event.previous):
        raise broken(place, "was changed: its hash is not that of its content")
    if event.kind not in _SHAPES:
        raise broken(place, "is of a kind that is unknown")
    if (event.kind == "create") != (place == 1):
        raise broken(place, "the first row, and no other, creates the account")
    if (event.charge is None) != (event.kind in ("create", "reserve")):
        raise broken(place, "names a charge where there is none, or none where there must be one")
    content = event.content
    required, optional = {**_EVERY, **_SHAPES[event.kind]}, _OPTIONAL[event.kind]
    shape = {**required, **{key: kind for key, kind in optional.items() if key in content}}
    if content.keys() != shape.keys() or any(type(content[key]) is not kind for key, kind in shape.items()):
        raise broken(place, f"does not have the fields of a row of the kind {event.kind}")
    if content["version"] not in KNOWN_VERSIONS:
        raise broken(place, "was written by a version of dpspec that this one does not know")
    if not _TIME.fullmatch(content["at"]):
        raise broken(place, "has no time in the form 2026-01-31T12:00:00Z")
    _check_parts(place, content)
    return content


def _check_parts(place: int, content: Mapping[str, Any]) -> None:
    """The objects inside a row: texts alone, and hashes that fit."""
    if not all(isinstance(text, str) for text in content.get("caveats", ())):
        raise broken(place, "has caveats that are no texts")
    for key in ("specification", "files", "responsible"):
        if not all(isinstance(text, str) for text in content.get(key, {}).values()):
            raise broken(place, f"has {key} that are no texts")
    if not all(DIGEST.fullmatch(found) for found in content.get("files", {}).values()):
        raise broken(place, "names a file without its SHA-256")
    if "identity" in content and not _IDENTITY.fullmatch(content["identity"]):
        raise broken(place, "has no identity of 32 hexadecimal digits")
    given = content.get("specification")
    if given is None:
        return
    if given.keys() != {"text", "sha256"} or given["sha256"] != sha256(given["text"]):
        raise broken(place, "holds a specification whose SHA-256 is another one")


def _apply(event: Event, content: Mapping[str, Any], charges: dict[int, Charge]) -> None:
    """What a row makes of the charges."""
    if event.kind == "reserve":
        charges[event.seq] = Charge(number=event.seq, content=content, state=RESERVED)
    elif event.kind != "create":
        charges[_subject(event, charges)] = _advanced(event, content, charges)


def _subject(event: Event, charges: Mapping[int, Charge]) -> int:
    if event.charge is None or type(event.charge) is not int or event.charge not in charges:
        raise broken(event.seq, f"is about charge {event.charge}, which there is not")
    return event.charge


def _advanced(event: Event, content: Mapping[str, Any], charges: Mapping[int, Charge]) -> Charge:
    before = charges[_subject(event, charges)]
    needed, after = _STEPS[event.kind]
    if before.state != needed:
        raise broken(event.seq, f"leads charge {before.number} from {before.state} to {after}, which is no step")
    return attrs.evolve(before, state=after, files=content.get("files", before.files))


def sha256(text: str) -> str:
    """The SHA-256 of a text in UTF-8.

    >>> sha256("")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
