"""Planning: splits a cap among the releases of a calendar, with the least error.

Release i is published n_i times, its answers have sensitivity D_i, and its error counts with weight w_i. With the budget x_i
for each time, in the form in which budgets add, its noise has variance c_i / x_i^k:

    standard                  adds       noise      c_i              k
    pure                      epsilon    Laplace    2 D_i^2          2
    zero-concentrated         rho        Gaussian   D_i^2 / 2        1
    Renyi of order a          epsilon    Gaussian   a D_i^2 / 2      1
    Gaussian                  mu^2       Gaussian   D_i^2            1

D_i in the sum of absolute changes for Laplace noise, in their Euclidean norm for Gaussian noise. Discrete noise with the same
parameter has no larger variance. Under sum n_i x_i <= X,

    weighted    sum n_i w_i c_i / x_i^k  is least for  x_i ~ (w_i c_i)^(1/(k+1)),     where it is  S^(k+1) / X^k,
    largest     max w_i^2 c_i / x_i^k    is least for  x_i ~ (w_i^2 c_i)^(1/k),       where it is  S^k / X^k,

S the sum of n_i times the right-hand side (Hoelder's inequality; for the largest, all terms are equal). Budgets are rounded down
to a few digits, so that the total is never above the cap, and the answer says by which factor its error is above the least one.
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import attrs
from dpspec_divergences.output import DNor, Mult, MultDelta, Renyi
from dpspec_divergences.trade_off import GaussianTradeOff
from flint import ctx

from dpspec import CommandAnswer
from dpspec.plugin import Number, OutputDivergence, ParameterError, exact, number
from dpspec.plugin.applications import Grid, PageParts, Piece, count, did_you_mean, number_in_words, read_bytes
from dpspec_accounts.account import Account, text_of
from dpspec_accounts.errors import AccountError
from dpspec_accounts.totals import Frame, Spent, frame_of

OBJECTIVES = ("weighted", "largest")
MOST_RELEASES, MOST_TIMES, MOST_BYTES = 10_000, 10**9, 1 << 22
DIGITS = 6
"""Significant digits of a budget."""
PRECISION = 256
"""Bits of the roots, so that rounding down to DIGITS is what is lost."""
SUFFIX = ".toml"
_KEYS = ("name", "times", "sensitivity", "weight", "budget")


@attrs.frozen(kw_only=True)
class Bought:
    """What budgets buy in one standard; how they add is said by its filter (`dpspec_accounts.totals`).

    Args:
        noise: what the error is computed for.
        factor: c_i for sensitivity 1, from the standard.
        power: k.
    """

    noise: str
    factor: Callable[[Any], Fraction]
    power: int


BOUGHT: Mapping[type[OutputDivergence], Bought] = {
    Mult: Bought(noise="Laplace", factor=lambda _: Fraction(2), power=2),
    MultDelta: Bought(noise="Laplace", factor=lambda _: Fraction(2), power=2),
    DNor: Bought(noise="Gaussian", factor=lambda _: Fraction(1, 2), power=1),
    Renyi: Bought(noise="Gaussian", factor=lambda standard: Fraction(standard.order) / 2, power=1),
    GaussianTradeOff: Bought(noise="Gaussian", factor=lambda _: Fraction(1), power=1),
}


@attrs.frozen(kw_only=True)
class Release:
    """A line of a calendar.

    Args:
        name: what is released.
        times: how often.
        sensitivity: how far one change of the unit of the account moves its answers, in the norm of the noise; its square is
            rational.
        weight: how much its error counts.
        budget: what each time would get without the plan, for comparison; None for nothing.
    """

    name: str
    times: int
    sensitivity: Number
    weight: Fraction
    budget: Fraction | None = None


@attrs.frozen(kw_only=True)
class PlannedRelease:
    """The part of a release in a plan.

    Args:
        release: the line of the calendar.
        budget: for each time.
        variance: of the noise of each answer, at most.
        before: the same with the budget that the calendar states; None where it states none.
    """

    release: Release
    budget: Fraction
    variance: Fraction
    before: Fraction | None = None


@attrs.frozen(kw_only=True)
class SpendingPlan:
    """A split of a cap.

    Args:
        cap: what was to be split.
        noise: what the error is computed for.
        objective: weighted or largest.
        releases: what each gets.
        total: what all spend together, in the number that adds.
        available: what there was, in the number that adds.
        error: the weighted sum of variances, or the largest weighted variance, of the plan.
        above: an upper end of the factor by which this is above the least that there is.
        before: the same error of the budgets that the calendar states; None where one is missing.
        spent_before: what these spend together.
        period: the period of an account whose remainder is split; None for a cap without periods.
    """

    cap: Spent
    noise: str
    objective: str
    releases: tuple[PlannedRelease, ...]
    total: Fraction
    available: Fraction
    error: Fraction
    above: Fraction
    before: Fraction | None
    spent_before: Fraction | None
    period: str | None = None


def plan(
    cap: str | Path | Any, calendar: str | Path | Mapping[str, Any], *, objective: str | None = None, period: str | None = None
) -> CommandAnswer:
    """Split a cap among releases: ``dpspec account plan``. `value` is a `SpendingPlan`; nothing is charged.

    Args:
        cap: a specification or its file, whose budget is the cap; or an account, of which the remainder is split.
        calendar: a TOML file or a mapping: `objective`, and for each release name, times, sensitivity, weight, and as an option
            the budget that it would get otherwise.
        objective: weighted (the sum of weighted variances) or largest (the largest weighted standard deviation).
        period: the period whose remainder is split, of an account with periods; without it, that of today.

    Raises:
        ParameterError: the calendar makes no sense. AccountError: nothing is left, or the standard has no rule.

    >>> import dpspec as dp
    >>> year = dp.spec(space=dp.records(region=["north", "south"]), distance="add-remove", standard="zCDP", rho=1)
    >>> found = plan(year, {"release": [{"name": "monthly", "times": 12}, {"name": "yearly", "times": 1, "weight": 9}]}).value
    >>> [float(one.budget) for one in found.releases], float(found.total) <= 1, float(found.above) < 1.00001
    ([0.0666666, 0.2], True, True)
    """
    frame, spent, named = _cap(cap, period)
    data, releases = _calendar(calendar)
    chosen = objective or data.get("objective", "weighted")
    if chosen not in OBJECTIVES:
        raise ParameterError("objective", f"is none of {', '.join(OBJECTIVES)}", "choose one", value=str(chosen))
    found = attrs.evolve(_split(frame, spent, str(chosen), releases), period=named)
    return CommandAnswer("account-plan", 0, plan_data(found), partial(plan_parts, found), value=found)


# --- reading --------------------------------------------------------------------------------------


def _cap(cap: Any, period: str | None) -> tuple[Frame, Spent, str | None]:
    """The blocks, what is to be split, and of which period of an account that is."""
    if isinstance(cap, Account) or (isinstance(cap, str | Path) and not str(cap).endswith(SUFFIX)):
        balance = (cap if isinstance(cap, Account) else Account(cap)).balance(period)
        left = balance.remainder
        if left is None or left.value <= number(0):
            raise AccountError("account", "has nothing left to plan", "see `dpspec account show`", value=balance.name)
        return balance.frame, left, balance.period
    if period is not None:
        raise ParameterError("period", "is one of an account, and CAP is a specification", "leave it out", value=period)
    frame = frame_of(text_of(cap))
    if frame.cap.value <= number(0):
        raise AccountError("cap", "is 0: there is nothing to split", "state a positive budget")
    return frame, frame.cap, None


def _calendar(calendar: str | Path | Mapping[str, Any]) -> tuple[Mapping[str, Any], tuple[Release, ...]]:
    if isinstance(calendar, Mapping):
        data: Mapping[str, Any] = calendar
    else:
        try:
            data = tomllib.loads(read_bytes(Path(calendar), MOST_BYTES).decode("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
            raise ParameterError("calendar", f"is no TOML: {problem}", "write [[release]] tables", value=str(calendar)) from None
    if unknown := [key for key in data if key not in ("objective", "release")]:
        raise ParameterError("calendar", f"{unknown[0]} is no key of it", "write objective and [[release]]")
    lines = data.get("release")
    if not isinstance(lines, list) or not 0 < len(lines) <= MOST_RELEASES:
        rule = f"has no [[release]], or more than {MOST_RELEASES:,}"
        raise ParameterError("calendar", rule, 'write [[release]] with name = "...", times = 12')
    found = tuple(_release(place, line) for place, line in enumerate(lines, 1))
    if again := next((name for name, times in Counter(one.name for one in found).items() if times > 1), None):
        raise ParameterError("calendar", "two releases have one name", "give each its own, or raise times", value=again)
    return data, found


def _release(place: int, line: Any) -> Release:
    where = f"release {place}"
    if not isinstance(line, Mapping):
        raise ParameterError(where, "is no table", 'write [[release]] with name = "..."')
    if unknown := [key for key in line if key not in _KEYS]:
        advice = did_you_mean(unknown[0], _KEYS) or f"known: {', '.join(_KEYS)}"
        raise ParameterError(where, f"{unknown[0]} is no key of it", advice)
    name, times = line.get("name"), line.get("times", 1)
    if not isinstance(name, str) or not name.strip():
        raise ParameterError(where, "has no name", 'write name = "..."')
    if isinstance(times, bool) or not isinstance(times, int) or not 1 <= times <= MOST_TIMES:
        raise ParameterError(where, f"times is no whole number from 1 to {MOST_TIMES:,}", "write times = 12", value=str(times))
    sensitivity = number(line.get("sensitivity", 1), f"{where}: sensitivity")
    if not (sensitivity > number(0) and (sensitivity.is_rational or _has_rational_square(sensitivity))):
        raise ParameterError(where, "sensitivity is no positive number whose square is rational", 'write 1 or "sqrt(2)"')
    weight = exact.rational(line.get("weight", 1), f"{where}: weight")
    budget = None if "budget" not in line else exact.rational(line["budget"], f"{where}: budget")
    if weight <= 0 or (budget is not None and budget <= 0):
        raise ParameterError(where, "has a weight or budget that is not positive", "leave it out, or leave out the release")
    return Release(name=name, times=times, sensitivity=sensitivity, weight=weight, budget=budget)


def _has_rational_square(sensitivity: Number) -> bool:
    if sensitivity.is_infinite:
        return False
    try:
        return bool(sensitivity.squared().is_rational)
    except ValueError:  # a square without an exact form
        return False


# --- the split ------------------------------------------------------------------------------------


def _split(frame: Frame, cap: Spent, objective: str, releases: tuple[Release, ...]) -> SpendingPlan:
    bought, squares = BOUGHT[type(cap.standard)], frame.filter.squares
    factor, k = bought.factor(cap.standard), bought.power
    constants = [factor * release.sensitivity.squared().as_fraction() for release in releases]
    weights = [release.weight if objective == "weighted" else release.weight**2 for release in releases]
    root = k + 1 if objective == "weighted" else k
    with ctx.workprec(PRECISION):
        available, above = _ends(cap, squares=squares)
        shares = [exact.ball(w * c).root(root) for w, c in zip(weights, constants, strict=True)]
        together = sum((release.times * share for release, share in zip(releases, shares, strict=True)), exact.ball(0))
        least = exact.floor_of(together**root / exact.ball(above) ** k)
        parts = [exact.ball(available) * share / together for share in shares]
        ends = [[end(part) or Fraction(0) for part in parts] for end in (exact.ceiling_of, exact.floor_of)]
    for found in ends:  # a part that is a decimal itself lies between its two ends: rounding down the upper one gives it
        budgets = [_down(part, squares=squares) for part in found]
        spent = [_adding(budget, squares=squares) for budget in budgets]
        total = _total(releases, spent)
        if total <= available:
            break
    if total > available or not all(budgets) or not least:
        raise AccountError("cap", "is too small to be split exactly", "plan fewer releases, or state a larger cap")
    variances = [c / part**k for c, part in zip(constants, spent, strict=True)]
    error = _error(objective, releases, weights, variances)
    stated = [None if release.budget is None else _adding(release.budget, squares=squares) for release in releases]
    old = [None if part is None else c / part**k for c, part in zip(constants, stated, strict=True)]
    known, known_old = ([value for value in values if value is not None] for values in (stated, old))
    is_stated = len(known) == len(releases)
    planned = tuple(
        PlannedRelease(release=release, budget=budget, variance=variance, before=then)
        for release, budget, variance, then in zip(releases, budgets, variances, old, strict=True)
    )
    return SpendingPlan(
        cap=cap, noise=bought.noise, objective=objective, releases=planned, total=total, available=available, error=error,
        above=error / least, before=_error(objective, releases, weights, known_old) if is_stated else None,
        spent_before=_total(releases, known) if is_stated else None,
    )  # fmt: skip


def _adding(budget: Fraction, *, squares: bool) -> Fraction:
    """A budget in the number that adds."""
    return budget**2 if squares else budget


def _ends(cap: Spent, *, squares: bool) -> tuple[Fraction, Fraction]:
    """The cap in the number that adds, from below and from above; the same twice where it is rational."""
    if cap.value.is_rational:
        found = _adding(cap.value.as_fraction(), squares=squares)
        return found, found
    ball = cap.value.enclose(PRECISION) ** (2 if squares else 1)
    return exact.floor_of(ball) or Fraction(0), exact.ceiling_of(ball) or Fraction(0)


def _down(part: Fraction, *, squares: bool) -> Fraction:
    """The budget of a part of what adds: its number, rounded down to a few digits."""
    digits = Context(prec=DIGITS, rounding=ROUND_FLOOR)
    if not squares:
        return Fraction(digits.divide(Decimal(part.numerator), Decimal(part.denominator)))
    quotient = Context(prec=4 * DIGITS).divide(Decimal(part.numerator), Decimal(part.denominator))
    root = digits.sqrt(quotient)  # the nearest one, which may be above
    return Fraction(root) if Fraction(root) ** 2 <= part else Fraction(digits.next_minus(root))


def _total(releases: tuple[Release, ...], parts: list[Fraction]) -> Fraction:
    return sum((release.times * part for release, part in zip(releases, parts, strict=True)), Fraction(0))


def _error(objective: str, releases: tuple[Release, ...], weights: list[Fraction], variances: list[Fraction]) -> Fraction:
    terms = [weight * variance for weight, variance in zip(weights, variances, strict=True)]
    return max(terms) if objective == "largest" else _total(releases, terms)


# --- output ---------------------------------------------------------------------------------------


def plan_data(found: SpendingPlan) -> dict[str, Any]:
    """The plan as JSON data, its numbers exact."""
    return {
        "cap": found.cap.data(),
        "objective": found.objective,
        "noise": found.noise,
        "available": str(found.available),
        "total": str(found.total),
        "error": str(found.error),
        "at_most_above_least": exact.rounded_up(number(found.above), 8),
        "before": None if found.before is None else {"error": str(found.before), "total": str(found.spent_before)},
        "releases": [
            {
                "name": one.release.name,
                "times": one.release.times,
                "sensitivity": str(one.release.sensitivity),
                "weight": str(one.release.weight),
                found.cap.parameter: str(one.budget),
                "variance": str(one.variance),
                "variance_before": None if one.before is None else str(one.before),
            }
            for one in found.releases
        ],
    }


def _deviation(variance: Fraction) -> str:
    return exact.rounded_up(number(variance).sqrt())


def plan_parts(found: SpendingPlan) -> PageParts:
    """The plan for people."""
    parameter, has_before = found.cap.parameter, any(one.before is not None for one in found.releases)
    rows = []
    for one in found.releases:
        before = ["" if one.before is None else _deviation(one.before)] if has_before else []
        budget = number_in_words(number(one.budget))
        rows.append((one.release.name, f"{one.release.times:,}", budget, _deviation(one.variance), *before))
    heads = ("release", "times", f"{parameter} each", "standard deviation", *(["before"] if has_before else []))
    what = "sum of weighted variances" if found.objective == "weighted" else "largest weighted variance"
    above = math.ceil((found.above - 1) * 10**6)
    of_period = "" if found.period is None else f" (period {found.period})"
    parts: list[Piece] = [
        f"{count(len(found.releases), 'release')} under {found.cap.as_limit}; nothing was charged{of_period}",
        "",
        Grid(caption="Budgets and errors", heads=heads, rows=tuple(rows)),
        "",
        f"{what}: {exact.rounded_up(number(found.error))}, at most {above} millionths above the least with {found.noise} noise",
    ]
    if found.before is not None and found.spent_before is not None:
        parts.append(_compared(found))
    parts.append(f"standard deviations are of {found.noise} noise; discrete noise with the same parameter has no larger one")
    if isinstance(found.cap.standard, MultDelta):
        parts.append("Laplace noise needs no delta: all of it is left")
    return parts


def _compared(found: SpendingPlan) -> str:
    """The budgets of the calendar, next to those of the plan."""
    assert found.before is not None and found.spent_before is not None  # noqa: S101, PT018 - ensured by the caller
    ratio = exact.rounded_down(number(found.before / found.error))
    over = ""
    if found.spent_before > found.available:
        over = "; and these budgets together are above the cap"
    return f"with the budgets of the calendar it is {ratio} times as large{over}"
