"""Errors of accounts."""

from __future__ import annotations

from typing import ClassVar

from dpspec import DpspecError


class AccountError(DpspecError):
    """An account cannot be opened, or does not take what is to be charged; nothing was charged."""

    code: ClassVar[str] = "account"


class ChargeStateError(DpspecError):
    """A charge is in a state that does not allow the change, such as the voiding of something that was drawn."""

    code: ClassVar[str] = "charge-state"
    exit_code: ClassVar[int] = 1


class AccountUnavailableError(DpspecError):
    """The database of an account is locked by another process, or does not answer; the command may be repeated."""

    code: ClassVar[str] = "account-unavailable"
    exit_code: ClassVar[int] = 4


class HistoryError(DpspecError):
    """The history of an account is not consistent: a row was changed, removed, reordered or does not follow from the others."""

    code: ClassVar[str] = "account-history"
    exit_code: ClassVar[int] = 1
