"""Counted work: what limits a search, in units that do not depend on the machine, its load or its clock.

The engines call `spend` where their work is done, with about one unit for each microsecond that it takes on the machine where
this was measured. `limited` ends a search when a number of units is spent.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from dpspec.base.errors import WorkLimitError


class _Meter(threading.local):
    """The units spent by a thread since it started, and the number at which its work ends; the limited search that it is in, and
    the number of those that it began."""

    spent: int = 0
    limit: int | None = None
    search: int = 0
    searches: int = 0


_METER = _Meter()


def spend(units: int) -> None:
    """Count work.

    Raises:
        WorkLimitError: when more is spent than the innermost or any outer `limited` allows.

    >>> before = spent()
    >>> spend(3)
    >>> spent() - before
    3
    """
    _METER.spent += units
    if _METER.limit is not None and _METER.spent > _METER.limit:
        raise WorkLimitError("search", "exceeds its limit of work", "choose a smaller space, or simpler parameters")


def spent() -> int:
    """The units that this thread has spent: the difference of two is the work between them."""
    return _METER.spent


def current_search() -> int:
    """A number for each `limited` search of this thread; 0 outside all of them."""
    return _METER.search


@contextmanager
def limited(most: int) -> Iterator[None]:
    """Limit the work of what is done inside; an outer limit holds as well.

    Args:
        most: the largest number of units.

    >>> with limited(2):
    ...     spend(3)
    Traceback (most recent call last):
    ...
    dpspec.base.errors.WorkLimitError: search: exceeds its limit of work: choose a smaller space, or simpler parameters
    """
    outer, search = _METER.limit, _METER.search
    own = _METER.spent + most
    _METER.limit = own if outer is None else min(outer, own)
    _METER.searches += 1
    _METER.search = _METER.searches
    try:
        yield
    finally:
        _METER.limit, _METER.search = outer, search
