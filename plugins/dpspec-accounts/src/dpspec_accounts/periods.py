"""Periods of an account: days, weeks, months or years, each with the whole cap for releases about its own data.

A period is written as in ISO 8601: 2027-03-31, 2027-W13, 2027-03, 2027. Which period a release is charged to is stated with the
charge; without a statement it is that of today (UTC). The cap holds for every period whatever the clock says, as a total belongs
to the name of its period.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime

from dpspec.plugin import ParameterError

_FORMS: Mapping[str, tuple[str, str]] = {
    "day": (r"(\d{4})-(\d{2})-(\d{2})", "2027-03-31"),
    "week": (r"(\d{4})-W(\d{2})", "2027-W13"),
    "month": (r"(\d{4})-(\d{2})", "2027-03"),
    "year": (r"(\d{4})", "2027"),
}
_FIRST_DAY: Mapping[str, Callable[..., date]] = {
    "day": date,
    "week": lambda year, week: date.fromisocalendar(year, week, 1),
    "month": lambda year, month: date(year, month, 1),
    "year": lambda year: date(year, 1, 1),
}
PERIODS = tuple(_FORMS)


def period_of(kind: str, day: date) -> str:
    """The period in which a day lies.

    >>> [period_of(kind, date(2027, 1, 1)) for kind in PERIODS]
    ['2027-01-01', '2026-W53', '2027-01', '2027']
    """
    year, week, _ = day.isocalendar()
    iso = day.isoformat()
    return {"day": iso, "week": f"{year:04}-W{week:02}", "month": iso[:7], "year": iso[:4]}[kind]


def read_period(kind: str, text: str) -> str:
    """A period as it is written.

    Raises:
        ParameterError: there is no such day, week, month or year.

    >>> read_period("week", "2026-W53")
    '2026-W53'
    """
    form, example = _FORMS[kind]
    found = re.fullmatch(form, text, re.ASCII)
    try:
        if found is not None:
            _FIRST_DAY[kind](*map(int, found.groups()))
            return text
    except ValueError:
        pass
    raise ParameterError("period", f"is no {kind}", f"write one such as {example}", value=text)


def today() -> date:
    """The day of today (UTC), which is only a default."""
    return datetime.now(UTC).date()
