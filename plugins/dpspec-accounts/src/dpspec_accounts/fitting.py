"""The largest budget of a release that still fits into an account, and the release with wider noise that keeps it.

Where what a release spends is proportional to its budget or to the square of it, the largest budget that fits spends what is
left, exactly; elsewhere it is found by bisection (`totals.budget_within`). The noise is made wider by a factor f >= 1, the least
one (to RELATIVE) for which the smaller promise is verified, as `dpspec verify` does. So no formula for the noise is believed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import attrs

from dpspec import SpecDocument, installed
from dpspec.plugin import Mechanism, Number, ParameterError, UniformBudget, grammar
from dpspec.plugin.applications import Progress, read_text, standing, to_toml
from dpspec_accounts.account import Account, AnySpecification, over_cap, text_of
from dpspec_accounts.errors import AccountError
from dpspec_accounts.totals import check_charge, document_of

RELATIVE = Fraction(1, 10**4)
"""The noise is wider than needed by this share of its width at most."""
MOST_TRIED = 64
"""So often a factor is doubled or halved in the search."""


def fitted(
    account: Account, specification: AnySpecification, progress: Progress | None = None, *, period: str | None = None
) -> SpecDocument:
    """A release that fits into what is left of an account: itself where it fits, else with wider noise and a smaller budget.

    Args:
        account: the account; nothing is charged to it.
        specification: the release.
        progress: called with (factors tried, of at most so many).
        period: as of `Account.quote`.

    Returns:
        the specification as it is where it fits, whatever its claim; else one with a verified claim, of which all but budget and
        noise is as it was.

    Raises:
        OverCapError: it does not fit, and no smaller budget does that is known exactly.
        AccountError: its noise cannot be made wider, or no width is verified.
    """
    text = text_of(specification)
    check_charge(text)
    quote = account.quote(specification, period=period)
    document = document_of(text)
    if quote.fits:
        return document
    budget = quote.largest
    if budget is None:
        raise over_cap(text, quote)
    subject = f"specification {document.id}"
    mechanism = document.mechanism
    if not isinstance(mechanism, grammar.ScalesNoise):
        raise AccountError(subject, "has no noise that can be made wider", "state a smaller budget, with a mechanism for it")

    def at(factor: Fraction) -> SpecDocument | None:
        try:
            found = _restated(document, budget, mechanism.with_wider_noise(factor))
        except ParameterError:
            return None
        return found if standing(found, installed().registry).word.is_good else None

    found = _least(at, progress)
    if found is None:
        rule = f"is verified with no width of its noise at the budget {budget}, which would fit"
        raise AccountError(subject, rule, "state a smaller budget")
    if not account.quote(found, period=period).fits:
        raise over_cap(text, quote)
    return found


def _restated(document: SpecDocument, budget: Number, mechanism: Mechanism) -> SpecDocument:
    """The specification with another budget and mechanism, as its file reads."""
    registry, spec = installed().registry, document.spec
    smaller = spec.replace(budget=UniformBudget(parameter=spec.budget.parameter, value=budget))
    made = attrs.evolve(document, spec=smaller, mechanism=mechanism, claim=None, miniatures=(), text=None, sha256=None)
    return read_text(to_toml(made, registry), registry, document.id)


def _least(at: Callable[[Fraction], SpecDocument | None], progress: Progress | None) -> SpecDocument | None:
    """What is found at the least factor, to RELATIVE."""
    low, high, found = Fraction(1), Fraction(2), None
    for tried in range(MOST_TRIED):
        if progress is not None:
            progress(tried, MOST_TRIED)
        if found is None:
            found = at(high)
            low, high = (low, high) if found is not None else (high, 2 * high)
        elif high - low <= RELATIVE * high:
            break
        else:
            narrower = at(middle := (low + high) / 2)
            low, high = (middle, high) if narrower is None else (low, middle)
            found = narrower or found
    return found
