"""The budget of `dpspec release --account`: reserved before the first random bit, committed with what was written."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping

from dpspec import DpspecError, SpecDocument
from dpspec_accounts.account import Account, text_of
from dpspec_accounts.errors import AccountError, ChargeStateError
from dpspec_accounts.fitting import fitted
from dpspec_accounts.history import COMMITTED, DRAWN, RESERVED, Charge


class AccountGuard:
    """One release and its charge in an account; what `dpspec_release` calls, in this order.

    Args:
        account: the account.
        period: the period whose data the release is about; None for that of today, or where there are none.
    """

    def __init__(self, account: Account, period: str | None = None) -> None:
        self._account, self._period = account, period
        self._number: int | None = None
        self._state = RESERVED
        self._written = False

    def __str__(self) -> str:
        return f"charged as charge {self._number} of {self._account.name}"

    @property
    def number(self) -> int:
        """The number of the charge.

        Raises:
            ChargeStateError: nothing is reserved.
        """
        if self._number is None:
            raise ChargeStateError("charge", "is not reserved", "reserve it before it is drawn")
        return self._number

    def left(self) -> str:
        """What a release that ended early has left in the account; empty for nothing."""
        if self._number is None:
            return ""
        charge = f"charge {self._number} of {self._account.name}"
        with contextlib.suppress(DpspecError):  # what was interrupted may have been recorded
            found = self._account.find(self._number)
            self._state = self._state if found is None else found.state
        if self._state == RESERVED:
            return f"{charge} stays reserved and counts: `dpspec account void` gives it back if nothing runs under it"
        if self._state == DRAWN:
            why = "the release is written, and this could not be recorded" if self._written else "drawing had begun"
            return f"{charge} stays drawn and counts: {why}"
        return f"{charge} is committed: the release is written" if self._state == COMMITTED else ""

    @property
    def token(self) -> str:
        """The account, by the hash of its first row, and the number of the charge."""
        return json.dumps({"account": self._account.identity, "charge": self.number})

    def reserve(self, document: SpecDocument) -> None:
        """Reserve the budget of a release.

        Raises:
            OverCapError: it does not fit. AccountError: it cannot be charged to this account.
        """
        self._number = self._account.reserve(document, period=self._period).number

    def fit(self, document: SpecDocument) -> SpecDocument:
        """A release that fits: itself, or with more noise."""
        return fitted(self._account, document, period=self._period)

    def resume(self, document: SpecDocument, token: str) -> None:
        """Go on under the charge of an earlier run.

        Raises:
            AccountError: it is that of another account or of another specification. ChargeStateError: it is over.
        """
        found = _found(token, self._account.identity)
        charge = None if found is None else self._account.find(found)
        if charge is None or charge.content["specification"]["text"] != text_of(document):
            advice = "name the account that the run was begun with, or delete the run and begin anew"
            raise AccountError("unfinished run", "is not charged to this account", advice, value=self._account.name)
        _check_open(charge)
        self._number, self._state = charge.number, charge.state

    def draw(self) -> None:
        """Record that drawing begins."""
        if self._state == RESERVED:
            self._state = self._account.draw(self.number).state

    def abandon(self) -> None:
        """Give the reservation back."""
        self._state = self._account.void(self.number, "the release ended before it drew").state

    def commit(self, files: Mapping[str, str]) -> None:
        """Record what was written."""
        self._written = True
        self._state = self._account.commit(self.number, files).state


def _found(token: str, account: str) -> int | None:
    """The number in a token of this account."""
    try:
        data = json.loads(token)
    except ValueError:
        return None
    given = isinstance(data, dict) and data.get("account") == account
    return data["charge"] if given and type(data.get("charge")) is int else None


def _check_open(charge: Charge) -> None:
    if charge.state == COMMITTED:
        advice = "the release is written: delete the unfinished run; to begin anew is another release with another charge"
        raise ChargeStateError(f"charge {charge.number}", "is committed", advice)
    if charge.state not in (RESERVED, DRAWN):
        raise ChargeStateError(f"charge {charge.number}", f"is {charge.state}", "delete the unfinished run and begin anew")


def guard(url: str, period: str | None = None) -> AccountGuard:
    """What keeps the budget of a release in an account.

    Args:
        url: as of `dpspec_accounts.account.account`.
        period: as of `Account.quote`.

    Raises:
        AccountError: there is no account at this place.
    """
    account = Account(url)
    _ = account.identity  # there is an account
    return AccountGuard(account, period)
