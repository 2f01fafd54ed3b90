"""The Python functions behind the commands of `dpspec account`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from dpspec import CommandAnswer
from dpspec.plugin import ParameterError
from dpspec.plugin.applications import Figure, PageParts, Progress, figure_file, write_whole
from dpspec_accounts import text
from dpspec_accounts.account import Account, AnySpecification, OverCapError, Quote, Statement, by_name, digests_of, text_of
from dpspec_accounts.figure import spending
from dpspec_accounts.fitting import fitted
from dpspec_accounts.planning import plan
from dpspec_accounts.signatures import check_signature
from dpspec_accounts.verification import read_export, verify_events


def create(
    url: str,
    specification: AnySpecification,
    *,
    as_promised: bool = False,
    period: str | None = None,
    responsible: Mapping[str, str] | None = None,
) -> CommandAnswer:
    """Make an account: ``dpspec account create``."""
    made = Account.create(url, specification, as_promised=as_promised, period=period, responsible=responsible)
    return _balance("account-create", made.balance())


def show(
    url: str, *, period: str | None = None, out: str | Path | None = None, planned: str | Path | None = None
) -> CommandAnswer:
    """What is spent and left: ``dpspec account show``.

    Args:
        url: of the account.
        period: whose total is shown, where the account has periods; without it, that of today.
        out: a file for the figure of what is spent, charge by charge, against the cap.
        planned: a calendar of releases, as of ``dpspec account plan``, which the figure shows after the charges.
    """
    file = None if out is None else figure_file(out)
    if planned is not None and out is None:
        raise ParameterError("planned", "is drawn in a figure alone", "name a file for it: --out FILE.svg")
    found = Account(url).balance(period)
    calendar = None if planned is None else plan(Account(url), planned, period=period).value
    figure = partial(spending, found, calendar)
    if file is not None:
        file.save(figure())
    return _balance("account-show", found, figure)


def _balance(command: str, found: Statement, figure: Callable[[], Figure] | None = None) -> CommandAnswer:
    drawn = figure or partial(spending, found)
    return CommandAnswer(command, 0, text.balance_data(found), partial(text.balance_parts, found), drawn, value=found)


def check(url: str, specification: AnySpecification, *, period: str | None = None) -> CommandAnswer:
    """Whether a charge would fit; nothing is charged: ``dpspec account check``. Exits with 1 when it does not."""
    quote = Account(url).quote(specification, period=period)
    done = "it fits; nothing was charged" if quote.fits else "over the cap; nothing was charged"
    if quote.fits and quote.refusal is not None:
        done = "it fits under the cap, but a charge is refused: its promise is not verified"
    return _quoted("account-check", quote, None, done)


def charge(
    url: str,
    specification: AnySpecification,
    written: Sequence[str | Path] = (),
    *,
    period: str | None = None,
    by: str | None = None,
) -> CommandAnswer:
    """Charge a release that was made: ``dpspec account charge``. Over the cap it exits with 1, and nothing is charged."""
    files = by_name(digests_of(written))
    try:
        made, quote = Account(url).charge_and_quote(specification, files, period=period, by=by)
    except OverCapError as fault:
        return _quoted("account-charge", fault.quote, None, "over the cap; nothing was charged")
    return _quoted("account-charge", quote, made.number, f"charged as charge {made.number}")


def _quoted(command: str, quote: Quote, charged: int | None, done: str) -> CommandAnswer:
    data, words = text.quote_data(quote, charged=charged), partial(text.quote_parts, quote, done=done)
    return CommandAnswer(command, 0 if quote.fits else 1, data, words, value=quote)


def fit(
    url: str,
    specification: AnySpecification,
    out: str | Path,
    *,
    period: str | None = None,
    progress: Progress | None = None,
) -> CommandAnswer:
    """Write the release with as much noise as it needs to fit: ``dpspec account fit``. Over the cap it exits with 1."""
    account = Account(url)
    found = fitted(account, specification, progress, period=period)
    quote = account.quote(found, period=period)
    write_whole(Path(out), text_of(found))
    data = {**text.quote_data(quote, charged=None), "written": str(out)}
    words = partial(text.quote_parts, quote, done=f"{out} fits; nothing was charged")
    return CommandAnswer("account-fit", 0, data, words, value=found)


def history(url: str) -> CommandAnswer:
    """Every row: ``dpspec account history``."""
    found = Account(url).balance().history
    return CommandAnswer("account-history", 0, text.history_data(found), partial(text.history_parts, found), value=found)


def void(url: str, number: int, because: str, *, by: str | None = None) -> CommandAnswer:
    """Give back a reservation from which nothing was drawn: ``dpspec account void``."""
    found = Account(url).void(number, because, by=by)
    data = text.charge_data(found)
    return CommandAnswer("account-void", 0, {"charge": data}, partial(text.step_parts, found, data), value=found)


def export(url: str, out: str | Path, *, sign: str | Path | None = None) -> CommandAnswer:
    """Write the whole history into a file: ``dpspec account export``."""
    data = Account(url).export(key=sign)
    write_whole(Path(out), json.dumps(data, indent=1) + "\n")
    head, rows = data["events"][-1]["hash"], len(data["events"])
    signer = data["signature"]["public_key"] if sign is not None else None
    content = {"written": str(out), "rows": rows, "head": head, "signed_by": signer}
    said = f"{rows} rows written to {out}\nlast row: {head}" + ("" if signer is None else f"\nsigned by the key {signer}")
    return CommandAnswer("account-export", 0, content, partial(str, said))


def verify(
    path: str | Path, *, head: str | None = None, signed_by: str | Path | None = None, progress: Progress | None = None
) -> CommandAnswer:
    """Recompute an export: ``dpspec account verify``."""
    given = read_export(path)
    signer = check_signature(given.events, given.signature, signed_by)
    found = verify_events(given.events, head=head, progress=progress)
    data = {
        **text.balance_data(found), "rows": len(found.history.events), "anchored": head is not None,
        "signed_by": signer, "signer_expected": signed_by is not None,
    }  # fmt: skip
    lines = ["the expected hash is one of its rows"] if head is not None else []
    if signer is not None:
        whose = "the expected key" if signed_by is not None else f"the key {signer}; whose that is, an export does not show"
        lines.append(f"signed by {whose}")
    return CommandAnswer("account-verify", 0, data, partial(_verified, found, lines or [_UNSIGNED]), value=found)


def import_(
    url: str, path: str | Path, *, head: str | None = None, signed_by: str | Path | None = None, progress: Progress | None = None
) -> CommandAnswer:
    """Make an account from an export, after it was recomputed: ``dpspec account import``."""
    given = read_export(path)
    check_signature(given.events, given.signature, signed_by)
    verify_events(given.events, head=head, progress=progress)
    return _balance("account-import", Account.restore(url, given.events).balance())


def _verified(found: Statement, known: Sequence[str]) -> PageParts:
    said = f"consistent: {len(found.history.events)} rows, every verdict, amount and total recomputed"
    return [said, *known, *text.balance_parts(found)]


_UNSIGNED = "who wrote it, and whether rows are missing at its end, an export alone does not show: give --head or --signed-by"
