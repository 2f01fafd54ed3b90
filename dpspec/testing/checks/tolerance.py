"""Checks of tolerated risks: a recommendation is a budget, never rounded up, and says what it rests on."""

from __future__ import annotations

from dpspec.errors import DpspecError
from dpspec.exact import number
from dpspec.params import build, parameters
from dpspec.testing.check import ClassSubject, Context, NotApplicable, check, require
from dpspec.tolerance import Recommendation, Tolerance

KIND = "tolerances"


def _asked(subject: ClassSubject, context: Context) -> tuple[Tolerance, Recommendation]:
    """A tolerance and what it recommends: of its defaults, and for what is required the first values that do."""
    cls = subject.entry.cls
    required = [p for p in parameters(cls) if p.required]
    choices = [context.members(p.domain) for p in required]
    for place in range(max(map(len, choices), default=1)):
        given = {p.name: values[place % len(values)] for p, values in zip(required, choices, strict=True) if values}
        try:
            made: Tolerance = build(cls, given, subject.entry.name)
            return made, made.recommend()
        except DpspecError:
            continue
    raise NotApplicable("no values of its parameters were found with which it recommends something")


@check(KIND)
def check_tolerance_recommends_a_budget(subject: ClassSubject, context: Context) -> None:
    """The recommended budget is not negative, and its reason, assumption and binding requirement are named."""
    _, found = _asked(subject, context)
    require(found.value.lower >= 0, f"recommends {found.parameter} = {found.value}")
    for part in ("parameter", "binding", "method", "theorem", "assumption"):
        require(bool(getattr(found, part).strip()), f"does not say its {part}")


@check(KIND)
def check_tolerance_rounds_down(subject: ClassSubject, context: Context) -> None:
    """The budget as it is stated is not above the exact one: rounded up it would break what is tolerated (Z-S17)."""
    _, found = _asked(subject, context)
    require(number(found.stated) <= found.value.lower, f"states {found.stated} for {found.value}")


@check(KIND)
def check_tolerance_answers_the_same_twice(subject: ClassSubject, context: Context) -> None:
    """A tolerated risk fixes the budget before any data are seen, so that asking again, it or its like, gives the same one."""
    tolerance, found = _asked(subject, context)
    for again in (tolerance.recommend(), _asked(subject, context)[1]):
        require(again == found, f"recommends {again.parameter} = {again.value} when it is asked again, after {found.value}")
