"""Units that promises are made for: their names, their structure, and what a promise for one is for a larger one.

A unit is a product of words, the last of which may be a time: what one user does (`user`), does in one day (`user-day`), in one
project and month (`editor-project-month`), in six hours (`user-6-hours`). Any text is a unit; the vocabulary (``units.toml``)
serves only to distinguish terms of the field from typing errors.

A promise per user-day also implies one per user-month: a month meets at most 31 days, so two datasets that differ in what one
user did in one month have distance at most 31 user-days.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import resources
from typing import Any

import attrs


@attrs.frozen(kw_only=True)
class UnitWords:
    """The components of a unit.

    Args:
        parts: the words before the time, each by its first name in the vocabulary, or as written where it is unknown.
        time: the time, when there is one: hour, day, ...
        times: how many of it make one period.
        unknown: the words that the vocabulary lacks.
    """

    parts: tuple[str, ...]
    time: str | None = None
    times: int = 1
    unknown: tuple[str, ...] = ()

    def __str__(self) -> str:
        period = () if self.time is None else (self.time,) if self.times == 1 else (str(self.times), f"{self.time}s")
        return "-".join((*self.parts, *period))


@cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads(resources.files("dpspec.blocks").joinpath("units.toml").read_text(encoding="utf-8"))


@cache
def unit_names() -> Mapping[str, str]:
    """Every known word for a unit, with its first name."""
    return {word: unit["name"] for unit in _data()["unit"] for word in (unit["name"], *unit.get("also", ()))}


def read_unit(text: str) -> UnitWords:
    """The components of a unit; ``user x day`` is ``user-day``.

    >>> read_unit("user-6-hours"), read_unit("member x month").parts
    (UnitWords(parts=('user',), time='hour', times=6, unknown=()), ('user',))
    """
    words = text.strip().lower().replace(" x ", "-").replace("_", "-").replace(" ", "-").split("-")
    time, times = words[-1] if len(words) > 1 and words[-1] in _data()["time"] else None, 1
    if time is None and len(words) > 2 and words[-2].isdecimal() and words[-1].removesuffix("s") in _data()["time"]:
        time, times = words[-1].removesuffix("s"), int(words[-2])
        words = words[:-1]
    words = words if time is None else words[:-1]
    found = list(_named(words))
    return UnitWords(
        parts=tuple(name for name, _ in found), time=time, times=times, unknown=tuple(name for name, known in found if not known)
    )


def _named(words: list[str]) -> Iterator[tuple[str, bool]]:
    """Names from the left, the longest first: housing-unit is one."""
    names = unit_names()
    while words:
        length = next((k for k in range(len(words), 0, -1) if "-".join(words[:k]) in names), 0)
        head = "-".join(words[: length or 1])
        yield names.get(head, head), length > 0 or head in _data()["time"]
        words = words[length or 1 :]


def nearest_unit(word: str) -> str | None:
    """The known word that an unknown one is closest to.

    >>> nearest_unit("dya"), nearest_unit("persons"), nearest_unit("zebra")
    ('day', 'person', None)
    """
    return next(iter(get_close_matches(word, [*unit_names(), *_data()["time"]], n=1)), None)


def most_within(fine: str, coarse: str) -> int | None:
    """An upper bound on the number of periods of one unit that meet one of another; None where nothing bounds it.

    The second may have further words (user-page-day within user-day). Times are those of the calendar.

    >>> most_within("user-day", "user-month"), most_within("user-day", "user"), most_within("user-month", "user-page-day")
    (31, None, 1)
    >>> most_within("user-month", "user-week")  # a week may begin in one month and end in the next
    2
    """
    small, large = read_unit(fine), read_unit(coarse)
    if small.parts[0] != large.parts[0] or not set(small.parts) <= set(large.parts):
        return None
    return 1 if small.time is None else None if large.time is None else _most_times(small, large)


def _most_times(small: UnitWords, large: UnitWords) -> int | None:
    """An upper bound on the number of periods of the first kind that meet one of the second."""
    if small.time == large.time:  # periods of several need not begin together
        return -(-large.times // small.times) + (small.times > 1 and small.times != large.times)
    held: int | None = _data()["time"][str(large.time)].get(small.time)
    if held is not None:
        return -(-(held * large.times) // small.times) + (small.times > 1)
    if large.times > 1:
        return None
    return 1 if small.times == 1 and large.time in _data()["nests"].get(str(small.time), ()) else 2


LONGER = ("day", "week", "month", "quarter", "year")
"""The longer times for which the implied promise of a shorter one is stated."""


def longer_units(unit: str) -> Iterator[str]:
    """The same unit over longer times.

    >>> list(longer_units("user-week"))
    ['user-month', 'user-quarter', 'user-year']
    """
    words = read_unit(unit)
    for time in LONGER if words.time is not None else ():
        longer = str(attrs.evolve(words, time=time, times=1))
        most = most_within(unit, longer)
        if most is not None and most > 1 and time != words.time:
            yield longer
