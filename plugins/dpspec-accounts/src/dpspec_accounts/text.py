"""Text output of the commands of `dpspec account`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from dpspec.plugin.applications import BAD, FAINT, GOOD, PageParts, count, thing_in_words
from dpspec_accounts.account import Quote, Statement
from dpspec_accounts.history import Charge, History
from dpspec_accounts.totals import allowance_in_words, amount_of, document_of

PROMISED = "as promised: charges count as their files state them, verified or not"


def balance_data(found: Statement) -> dict[str, Any]:
    """An account as JSON data."""
    left, frame = found.remainder, found.frame
    return {
        "account": {"id": frame.document.id, "title": frame.document.title, "place": found.name},
        "as_promised": found.as_promised,
        "cap": frame.cap.data(),
        "total": found.total.data(),
        "remainder": None if left is None else left.data(),
        "period": found.period,
        "periods": {label: total.data() for label, total in found.periods.items()},
        "responsible": dict(found.responsible),
        "filter": frame.filter.citation,
        "head": found.history.head,
        "charges": [charge_data(charge) for charge in found.history.charges],
    }


def charge_data(charge: Charge) -> dict[str, Any]:
    """A charge as JSON data."""
    content = charge.content
    return {
        "number": charge.number, "period": content.get("period"),
        "id": document_of(content["specification"]["text"]).id, "state": charge.state,
        "at": content["at"], "verdict": content["verdict"], "caveats": list(content["caveats"]),
        "sha256": content["specification"]["sha256"], "amount": dict(content["amount"]), "files": dict(charge.files),
    }  # fmt: skip


def balance_parts(found: Statement) -> PageParts:
    """The account, what is left, and its charges."""
    frame = found.frame
    counted = [charge for charge in found.history.counted if charge.content.get("period") == found.period]
    left, verb = found.remainder, "counts" if len(counted) == 1 else "count"
    verb += "" if found.period is None else f" in {found.period}"
    head = Text()
    of_period = "" if found.period is None else f", {found.period}"
    head.append(f"{frame.document.title}{of_period}: {found.total} of {frame.cap.as_limit} spent", GOOD)
    lines = [
        f"left: {left.as_limit}" if left is not None else "left: nothing",
        f"{count(len(counted), 'charge')} that {verb}, in {thing_in_words(frame.spec.output_divergence)}, "
        f"for {thing_in_words(frame.spec.input_divergence)}",
        f"sums hold for releases that depend on earlier ones ({frame.filter.citation})",
        *(f"period {label}: {total}" for label, total in found.periods.items()),
        *(f"responsible for {role}: {name}" for role, name in found.responsible.items()),
    ]
    warning = [Text(PROMISED, BAD)] if found.as_promised else []
    listed = [] if not found.history.charges else [_charges(found)]
    return [head, *warning, *(Text(line) for line in lines), *listed, Text(f"last row: {found.history.head}", FAINT)]


def _charges(found: Statement) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    has_periods = found.period is not None
    for title in ("charge", *(["period"] if has_periods else []), "specification", "state", "verdict", "amount", "date"):
        table.add_column(title, justify="left")
    for charge in found.history.charges:
        data = charge_data(charge)
        amount = amount_of(found.frame, charge.content["specification"]["text"])
        period = [str(data["period"])] if has_periods else []
        row = (str(charge.number), *period, data["id"], data["state"], data["verdict"], str(amount), data["at"][:10])
        table.add_row(*map(Text, row), style=None if charge.counts else FAINT)
    return table


def quote_data(found: Quote, *, charged: int | None) -> dict[str, Any]:
    """A charge, or what one would spend, as JSON data."""
    left = found.balance.remainder
    frame = found.balance.frame
    return {
        "fits": found.fits, "charged": charged, "period": found.balance.period,
        "amount": found.amount.data(), "total": found.total.data(),
        "cap": frame.cap.data(), "remainder": None if left is None else left.data(),
        "largest": None if found.fits or (largest := found.largest) is None else str(largest),
        "verdict": found.standing.word.word, "assumptions": list(found.standing.assumptions),
        "caveats": list(found.caveats), "as_promised": found.balance.as_promised,
    }  # fmt: skip


def quote_parts(found: Quote, *, done: str) -> PageParts:
    """What a charge spends, or would spend."""
    cap, left = found.balance.frame.cap, found.balance.remainder
    period = found.balance.period
    head = Text(done if period is None else f"{done} (period {period})", GOOD if found.fits and found.refusal is None else BAD)
    lines = [f"this charge: {found.amount}; with it the account: {found.total}; cap: {cap.as_limit}"]
    if not found.fits:
        lines.append(f"left: {left.as_limit}" if left is not None else "left: nothing")
        if (largest := found.largest) is not None:
            lines.append(f"a budget of {allowance_in_words(largest)} would fit, with more noise: `dpspec account fit`")
    lines.append(f"the claim of the file: {found.standing.sentence}")
    lines += [f"caveat: {caveat}" for caveat in found.caveats]
    warning = [Text(PROMISED, BAD)] if found.balance.as_promised else []
    return [head, *warning, *map(Text, lines)]


def history_data(history: History) -> dict[str, Any]:
    """Every row as JSON data, without the texts of specifications."""
    rows = []
    for event in history.events:
        content = event.content
        given = content.pop("specification", None)
        rows.append({
            "seq": event.seq, "kind": event.kind, "charge": event.charge, "hash": event.hash,
            "specification": None if given is None else given["sha256"], "content": content,
        })  # fmt: skip
    return {"head": history.head, "events": rows}


def history_parts(history: History) -> PageParts:
    """Every row on one line."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("row", "what", "charge", "at", "hash", ""):
        table.add_column(title)
    for event in history.events:
        content = event.content
        charge = event.seq if event.kind == "reserve" else event.charge
        note = content.get("because") or ", ".join(content.get("files", {}))
        note += f" (by {content['by']})" if "by" in content else ""
        if event.kind in ("create", "reserve"):
            note = document_of(content["specification"]["text"]).id
            note += f", {content['period']}" if "period" in content else ""
            note += f" (by {content['by']})" if "by" in content else ""
        row = (str(event.seq), event.kind, "" if charge is None else str(charge), content["at"], event.hash[:12], note)
        table.add_row(*map(Text, row))
    promised = [Text(PROMISED, BAD)] if history.account["as_promised"] else []
    return [*promised, table, Text(f"last row: {history.head}", FAINT)]


def step_parts(found: Charge, data: Mapping[str, Any]) -> PageParts:
    """A charge after a step."""
    return [Text(f"charge {found.number} ({data['id']}) is {found.state}", GOOD)]
