"""Counted work: what limits a search, in units that do not depend on the machine, its load or its clock.

The engines call `spend` where their work is done, with about one unit for each microsecond that it takes on the machine where
this was measured. `limited` ends what is done inside when a number of units is spent. What ends it is no `Exception`, like the
end of a task that is cancelled: code inside that goes on without a formula, or without a plugin, does not ignore the limit.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from dpspec.base.errors import WorkLimitError

Item = TypeVar("Item")


class WorkSpent(BaseException):
    """Ends a search from inside; `limited` makes a `WorkLimitError` of it."""


class _Meter(threading.local):
    """The work of a thread.

    Attributes:
        spent: the units since it started.
        limit: the number of units at which its work ends.
        search: the limited search that it is in; 0 outside all of them.
        searches: the number of searches that it began.
    """

    spent: int = 0
    limit: int | None = None
    search: int = 0
    searches: int = 0


_METER = _Meter()


def spend(units: int) -> None:
    """Count work.

    Raises:
        WorkSpent: when more is spent than a `limited` search allows.

    >>> before = spent()
    >>> spend(3)
    >>> spent() - before
    3
    """
    if _METER.limit is not None and _METER.spent + units > _METER.limit:
        _METER.spent = _METER.limit  # nothing is left
        raise WorkSpent
    _METER.spent += units


def counted(items: Iterable[Item], units: int) -> Iterator[Item]:
    """The items of a list that may be too long, each of which is so much work.

    Args:
        items: what is listed.
        units: the work of each.

    Raises:
        WorkSpent: as `spend`.

    >>> import itertools
    >>> with limited(5_000):
    ...     max(counted(itertools.count(), 1))
    Traceback (most recent call last):
    ...
    dpspec.base.errors.WorkLimitError: search: exceeds its limit of work: choose a smaller space, or simpler parameters
    """
    for place, item in enumerate(items, 1):
        if place % _COUNTED == 0:
            spend(units * _COUNTED)
        yield item


_COUNTED = 1 << 10
"""Items are counted so many at a time."""


def spent() -> int:
    """The units that this thread has spent: the difference of two is the work between them."""
    return _METER.spent


def current_search() -> int:
    """A number for each `limited` search of this thread; 0 outside all of them."""
    return _METER.search


@contextmanager
def limited(most: int) -> Iterator[None]:
    """Limit the work of what is done inside; an outer limit holds as well, and ends the outer search.

    Args:
        most: the largest number of units.

    Raises:
        WorkLimitError: when they are spent.

    >>> with limited(2):
    ...     spend(3)
    Traceback (most recent call last):
    ...
    dpspec.base.errors.WorkLimitError: search: exceeds its limit of work: choose a smaller space, or simpler parameters
    """
    outer, search = _METER.limit, _METER.search
    own = _METER.spent + most
    is_own = outer is None or own < outer
    _METER.limit = own if is_own else outer
    _METER.searches += 1
    _METER.search = _METER.searches
    try:
        yield
    except WorkSpent as spent_all:
        if not is_own:
            raise
        rule, advice = "exceeds its limit of work", "choose a smaller space, or simpler parameters"
        raise WorkLimitError("search", rule, advice) from spent_all
    finally:
        _METER.limit, _METER.search = outer, search


@contextmanager
def whole() -> Iterator[None]:
    """What is done inside is done to its end, and counted: an iterator that is kept must not end in the middle.

    Raises:
        WorkSpent: at the end, when more is spent than a search allows.

    >>> with limited(2):
    ...     with whole():
    ...         spend(3)
    ...         print("done")
    Traceback (most recent call last):
    ...
    dpspec.base.errors.WorkLimitError: search: exceeds its limit of work: choose a smaller space, or simpler parameters
    """
    limit = _METER.limit
    _METER.limit = None
    try:
        yield
    finally:
        _METER.limit = limit
    spend(0)
