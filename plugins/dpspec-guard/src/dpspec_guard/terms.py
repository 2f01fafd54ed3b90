"""Terms of a deployment that affect the value of the promise, and that the five blocks do not contain.

The period after which the budget is renewed, whether there is one release or many, who has access to the raw data, the
meaning of the units of the blocks, and the steps that the promise does not cover. `compare` does not read them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType

import attrs

from dpspec import SpecDocument

_DAYS = MappingProxyType({"day": (1, 1), "week": (7, 7), "month": (28, 31), "quarter": (90, 92), "year": (365, 366)})
"""The fewest and the most days of each period."""
_CONSISTS_OF = MappingProxyType({
    "hour": ("hour",),
    "day": ("hour", "day"),
    "week": ("hour", "day", "week"),
    "month": ("hour", "day", "month"),
    "quarter": ("hour", "day", "month", "quarter"),
    "year": ("hour", "day", "month", "quarter", "year"),
})  # fmt: skip
"""The periods of the calendar of which each consists: a month ends within a week, so it consists of days and of no weeks."""
_STRADDLES = "; a new period may end within an old one, in which two budgets can then be spent"
_TRUST = ("local", "shuffle", "central")
"""The parties with access to the raw data: none, one that cannot link them to persons, the publisher; the strongest first."""


@attrs.frozen(kw_only=True)
class TermChange:
    """A term that changed.

    Args:
        name: the key in ``[deployment]``, or ``unaccounted``.
        before, after: what was and what is.
        keeps: whether the new one is at least as strong; None where that is unknown.
        key: where it is in a file.
        reason: the end of a sentence on the two: why it is unknown whether the new one is weaker; "" where they show it.
    """

    name: str
    before: str
    after: str
    keeps: bool | None
    key: str
    reason: str = ""


def terms_of(document: SpecDocument) -> dict[str, str]:
    """The terms of a file by their keys; "" for what it does not say."""
    found = document.deployment
    if found is None:
        return dict.fromkeys(("period", "release", "trust", "units"), "")
    units = ", ".join(f"{unit} is {words}" for unit, words in sorted(found.units))
    return {"period": found.period or "", "release": found.release or "", "trust": found.trust or "", "units": units}


def term_changes(old: SpecDocument, new: SpecDocument) -> Iterator[TermChange]:
    """The terms that changed, and whether each is still as strong.

    A term that is stated for the first time where none was stated is unknown, too: a reader may have assumed another one.
    """
    before, after = terms_of(old), terms_of(new)
    for name, one in before.items():
        other = after[name]
        if one != other:
            keeps, reason = _RULES[name](one, other) if one and other and name in _RULES else (None, "")
            yield TermChange(
                name=name, before=one or "not stated", after=other or "not stated", keeps=keeps, key=f"deployment.{name}",
                reason=reason,
            )  # fmt: skip
    yield from _uncovered(old, new)


def _uncovered(old: SpecDocument, new: SpecDocument) -> Iterator[TermChange]:
    """The steps outside of the promise that changed: with one more it covers less, and of another text nothing is known."""
    before, after = (
        {(step.step, step.effect, frozenset(step.touches)): str(step) for step in document.unaccounted} for document in (old, new)
    )
    if before.keys() != after.keys():
        keeps = True if after.keys() <= before.keys() else False if before.keys() <= after.keys() else None
        gone = "; ".join(text for key, text in before.items() if key not in after) or "none"
        come = "; ".join(text for key, text in after.items() if key not in before) or "none"
        yield TermChange(name="unaccounted", before=gone, after=come, keeps=keeps, key="unaccounted")


def _period(before: str, after: str) -> tuple[bool | None, str]:
    """Whether a budget for each new period keeps the promise of the same budget for each old one, with the reason.

    It does where every old period lies within a new one, and not merely where the new one is longer: where a month ends within a
    week, the budgets of both months can be spent in that week. A number of periods, such as 14 days, begins at an unknown time,
    and need not cut the time where another one does, even one as long: 7 days may begin within a week of the calendar. A budget
    that is renewed earlier is a weaker promise.

    >>> [_period(*pair)[0] for pair in (("week", "day"), ("day", "month"), ("day", "7 days"), ("weeks", "1 week"))]
    [False, True, True, True]
    >>> [_period(*pair)[0] for pair in (("week", "7 days"), ("7 days", "week"), ("week", "month"), ("14 days", "30 days"))]
    [None, None, None, None]
    """
    one, other = _counted(before), _counted(after)
    old, new = _length(before), _length(after)
    if one is None or other is None or old is None or new is None:
        return None, ""
    if one == other or (one[0] == 1 and one[1] in _CONSISTS_OF[other[1]]):
        return True, ""
    return (False, "") if new[1] < old[0] else (None, _STRADDLES)


def _counted(period: str) -> tuple[int, str] | None:
    """How many of which period of the calendar; None for one that has no length."""
    found = re.fullmatch(r"(?:([0-9]+) )?([a-z]+?)s?", period)
    return None if found is None or found[2] not in _CONSISTS_OF else (int(found[1] or 1), found[2])


def _length(period: str) -> tuple[int, int] | None:
    """The fewest and the most hours of a period; None for one that has no length."""
    found = _counted(period)
    if found is None:
        return None
    times, name = found
    if name == "hour":
        return times, times
    least, most = _DAYS[name]
    return times * least * 24, times * most * 24


def _release(_: str, after: str) -> tuple[bool, str]:
    return after == "one", ""


def _trust(before: str, after: str) -> tuple[bool | None, str]:
    if before not in _TRUST or after not in _TRUST:
        return None, ""
    return _TRUST.index(after) <= _TRUST.index(before), ""


_RULES = {"period": _period, "release": _release, "trust": _trust}

__all__ = ["TermChange", "term_changes", "terms_of"]
