"""Findings about ledgers whose parts are files of their own: a part and the file of the same id say the same thing."""

from __future__ import annotations

from collections.abc import Iterator

from dpspec.base.errors import MixedLedgerError
from dpspec.grammar.spec import check_kinds
from dpspec.linter.finding import LintContext, LintedFile, Observation, Severity, finding


@finding("part-differs", Severity.ERROR)
def part_differs(file: LintedFile, context: LintContext) -> Iterator[Observation]:
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
            yield Observation(
                path=f"ledger.parts[{place}]",
                message=f"{part.id} has {ledger.parameter} = {part.amount.plain()} here, and {said} in its own file",
                advice="state one number; dpspec ledger says what a part spends in the common blocks",
            )


@finding("mixed-neighbours", Severity.ERROR)
def mixed_neighbours(file: LintedFile, context: LintContext) -> Iterator[Observation]:
    """Bounded and unbounded neighbours in one ledger: some parts compare datasets of different size, others never do.

    A replaced record is one removed and one added, so the numbers of the two kinds do not add up directly.
    """
    ledger = file.document.ledger
    if ledger is None:
        return
    own = [context.others[part.id].document for part in ledger.parts if part.id in context.others]
    try:
        if own:
            check_kinds([(document.id, document.spec) for document in (*own, file.document)])
    except MixedLedgerError as fault:
        yield Observation(path="ledger", message=fault.rule, advice=fault.advice)


@finding("observed-categories", Severity.WARNING)
def observed_categories(file: LintedFile, _: LintContext) -> Iterator[Observation]:
    """Categories, ranges or a nesting were read off the confidential table: which values occur is a fact about the people in it.

    A specification is published, and its space is to be chosen without looking at the data: a category with one record in it
    tells that there is such a record. What was there before the data, such as a classification or a codebook, tells nothing.
    """
    layout = file.document.layout
    if layout is not None and layout.observed:
        shown = ", ".join(layout.observed[:5]) + (f" and {len(layout.observed) - 5} more" if len(layout.observed) > 5 else "")
        yield Observation(
            path="table.observed",
            message=f"the space of {shown} was read off the table, and is published with this file",
            advice="take the categories from a codebook, and the names out of `observed`",
        )
