"""Findings about ledgers whose parts are files of their own: a part and the file of the same id say the same thing."""

from __future__ import annotations

from collections.abc import Iterator

from dpspec.errors import MixedLedgerError
from dpspec.lint.finding import Context, Linted, Seen, Severity, finding
from dpspec.rules.kinds import check_kinds


@finding("part-differs", Severity.ERROR)
def part_differs(file: Linted, context: Context) -> Iterator[Seen]:
    """A part of a ledger has another number than the file of the same id, linted with it, or is another kind of number."""
    ledger = file.document.ledger
    for place, part in enumerate(ledger.parts if ledger else ()):
        other = context.others.get(part.id)
        if other is None or ledger is None:
            continue
        stated = other.document.spec.budget
        value = stated.uniform()
        if stated.parameter != ledger.parameter or value != part.amount:
            said = stated if value is None else f"{stated.parameter} = {value.plain()}"
            yield Seen(
                path=f"ledger.parts[{place}]",
                message=f"{part.id} has {ledger.parameter} = {part.amount.plain()} here, and {said} in its own file",
                advice="state one number; dpspec ledger says what a part spends in the common blocks",
            )


@finding("mixed-neighbours", Severity.ERROR)
def mixed_neighbours(file: Linted, context: Context) -> Iterator[Seen]:
    """Bounded and unbounded neighbours in one ledger: some parts compare datasets of different size, others never do.

    A record replaced is one removed and one added, so the numbers of the two kinds do not add up as they stand (B-X7).
    """
    ledger = file.document.ledger
    if ledger is None:
        return
    own = [context.others[part.id].document for part in ledger.parts if part.id in context.others]
    try:
        if own:
            check_kinds([(document.id, document.spec) for document in (*own, file.document)])
    except MixedLedgerError as fault:
        yield Seen(path="ledger", message=fault.rule, advice=fault.advice)
