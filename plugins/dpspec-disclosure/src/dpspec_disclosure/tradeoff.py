"""`dpspec tradeoff`: which design has which error at which risk, on one table."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

import dpspec as dp
from dpspec.plugin import Bracket, ParameterError, exact, params
from dpspec.plugin.applications import CurveLine, CurvePanel, Figure, Progress, as_document, chart, figure_file
from dpspec.plugin.releases import table_name, whole
from dpspec_disclosure.design_risk import TABLE, WORST, Exchange, RiskFound, RiskMeasure, RiskOfDesign
from dpspec_disclosure.designs import Design, designs
from dpspec_disclosure.utility import METRICS, ErrorFound, Statistic, error_of, errors_of_cells

if TYPE_CHECKING:
    from dpspec import CommandAnswer, SpecDocument
    from dpspec.plugin import Table

RUNS, SEED = 20, 0
MOST_RUNS = 10_000
GRID = 10_000
"""A parameter that is solved for is a multiple of its range over this number."""
_FIGURES = 4


@attrs.frozen(kw_only=True)
class TradePoint:
    """A design at one value of its parameter.

    Args:
        value: of the parameter; None where nothing varies.
        risks: in the worst universe, and for this table.
        error: of the statistic.
    """

    value: Fraction | None
    risks: Mapping[str, RiskFound]
    error: ErrorFound


@attrs.frozen(kw_only=True)
class TradeCurve:
    """The points of one design, and those at the target risk.

    Args:
        design: the file, and what varies.
        points: by increasing value.
        solved: for each of the two risks, the point at the target risk, or why there is none.
    """

    design: Design
    points: tuple[TradePoint, ...]
    solved: Mapping[str, TradePoint | str] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Tradeoff:
    """The answer.

    Args:
        table: how the table is called, the unit of its records, and how many there are.
        statistic, metric, measure: what the axes are.
        exchange: by which two tables differ, where the measure says so; a swap is compared by its own.
        runs, seed: of the simulation.
        target: the target risk.
        curves: one for each design.
    """

    table: tuple[str, str, int]
    statistic: Statistic
    metric: str
    measure: RiskMeasure
    exchange: Exchange | None
    runs: int
    seed: int
    target: Fraction | None
    curves: tuple[TradeCurve, ...]

    @property
    def exchanges(self) -> str | None:
        """By which exchange two tables differ, in words: one for all designs, or which for which, as swaps state their own."""
        if self.exchange is None:
            return None
        found: dict[tuple[frozenset[str], frozenset[str]], tuple[Exchange, list[str]]] = {}
        for curve in self.curves:
            own = Exchange.of(curve.design.document.mechanism) or self.exchange
            found.setdefault((frozenset(own.swap), frozenset(own.match)), (own, []))[1].append(curve.design.name)
        if len(found) == 1:
            return str(next(iter(found.values()))[0])
        return "; ".join(f"{', '.join(names)}: {one}" for one, names in found.values())

    @property
    def exit_code(self) -> int:
        """3 where no risk or no error of some design is known, else 0."""
        open_ = any(
            all(point.error.value is None or all(found.value is None for found in point.risks.values()) for point in curve.points)
            for curve in self.curves
        )
        return 3 if open_ else 0


def tradeoff(
    *specifications: SpecDocument | str | Path,
    table: str | Path,
    statistic: str,
    metric: str = "mape",
    risk: str = "power:0.05:exchange",
    vary: Iterable[str] = (),
    at_risk: str | float | Fraction | None = None,
    exchange: Iterable[str] = (),
    runs: int = RUNS,
    seed: int = SEED,
    out: str | Path | None = None,
    cells: str | Path | None = None,
    progress: Progress | None = None,
) -> CommandAnswer:
    """Which design has which error at which risk, on one table: a curve for each design over one of its parameters.

    The risk is computed in the worst universe and for this table, which are two curves. The error is exact where the law of the
    published numbers is known; otherwise it is the mean of independent seeded runs of the mechanism's release, with a confidence
    interval of about 95 %. An unknown quantity is reported as unknown, with a reason.

    Args:
        specifications: files, or what was read of them, each with a mechanism; their spaces have the attributes of the table.
        table: the table: a file, or a registered table.
        statistic: ``marginal:ATTR,...``, the table of counts whose error is computed.
        metric: ``mape`` (percent), ``mae``, ``rmse`` or ``max`` (records).
        risk: ``power:LEVEL``, ``odds``, ``belief`` or ``belief:PRIOR``, each with ``:exchange`` or without; or ``exposure``.
        vary: what varies: ``mechanism.NAME=VALUES``, ``variance=VALUES`` or ``budget=VALUES``, with VALUES as ``1/100,1/2`` or
            ``FIRST..LAST`` or ``FIRST..LAST:POINTS``. A file follows the first one that speaks about a number of it.
        at_risk: a risk; the parameter of each design that has it is solved for, between its first and its last value.
        exchange: the attributes that two records exchange; without them, those of the first swap among the files.
        runs: how many releases are drawn for each point whose error is simulated.
        seed: from which their seeds are derived.
        out: a file that the figure is written into; ends in .svg, .png or .pdf.
        cells: a CSV file that the error of each cell is written into, for each design at the risk in the worst universe that was
            asked for, where it has one, else at each of its points. Made for its owner alone: errors tell about counts.
        progress: called with (done, in all).

    Returns:
        `designs`, each with its points, and with its error at the target risk.

    Raises:
        ParameterError: a metric, risk, variation or number of runs is none; a risk that no design reaches.
        UnknownNameError: an attribute is none of the table.
        TableError: the table does not fit a file.

    >>> import tempfile
    >>> import dpspec as dp
    >>> from dpspec.plugin.applications import as_document
    >>> people = dp.records(town=["a", "b"], job=["yes", "no"])
    >>> cells = dp.marginal(attributes=["town", "job"])
    >>> noise = dp.geometric(queries=[cells], sensitivity=2, epsilon=1, neighbours="replace-one")
    >>> promise = dp.spec(space=people, distance="hamming", standard="pure", epsilon=1)
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("town,job\\na,yes\\nb,no\\n"), file.flush()
    ...     design = as_document(promise, mechanism=noise)
    ...     found = dp.tradeoff(design, table=file.name, statistic="marginal:town,job", metric="mae", exchange=["town"])
    >>> found["designs"][0]["points"][0]["error"]["kind"]
    'exact'
    """
    if metric not in METRICS:
        raise ParameterError("metric", f"is none of {', '.join(METRICS)}", params.did_you_mean(metric, METRICS), value=metric)
    if isinstance(runs, bool) or not 2 <= runs <= MOST_RUNS:
        raise ParameterError("runs", f"must be from 2 to {MOST_RUNS:,}", "an interval needs two", value=runs)
    file = None if out is None else figure_file(out)
    measure = RiskMeasure.of(risk)
    documents = [as_document(one, f"design-{place}") for place, one in enumerate(specifications, 1)]
    if not documents:
        raise ParameterError("specifications", "must be at least one")
    target = None if at_risk is None else _target(at_risk)
    found = designs(documents, vary)
    moved = _exchange(documents, tuple(exchange)) if measure.exchange else None
    curves: list[TradeCurve] = []
    chosen: Statistic | None = None
    read: list[Table] = []
    total = sum(len(design.values) for design in found)
    for design in found:
        given = dp.read_table(design.document, table)
        read.append(given)
        own = Statistic.of(statistic, given)
        if chosen is not None and (own.attributes, own.cells) != (chosen.attributes, chosen.cells):
            raise ParameterError("table", f"has other categories in {design.name} than in {found[0].name}", value=str(own))
        chosen = own
        asked = _Asked(design, given, own, metric, runs, seed, RiskOfDesign(measure, given, moved))
        points: list[TradePoint] = []
        done = sum(len(curve.points) for curve in curves)
        for value in design.values:
            points.append(asked.point(value))
            if progress is not None:
                progress(done + len(points), total)
        solved = {} if target is None else {key: asked.at(key, target) for key in points[0].risks}
        curves.append(TradeCurve(design=design, points=tuple(points), solved=solved))
    assert chosen is not None  # noqa: S101 - there is a design
    answer = Tradeoff(
        table=(table_name(table), documents[0].spec.space.units[0], len(read[0])), statistic=chosen, metric=metric,
        measure=measure, exchange=moved, runs=runs, seed=seed, target=target, curves=tuple(curves),
    )  # fmt: skip
    if target is not None:
        _check_reached(answer)
    if file is not None:
        file.save(figure(answer))
    if cells is not None:
        with whole(Path(cells), 0o600) as part:
            part.write_text(_cells_csv(answer, read), encoding="utf-8")
    return dp.CommandAnswer(
        "tradeoff", answer.exit_code, tradeoff_data(answer), partial(tradeoff_text, answer), partial(figure, answer), value=answer
    )


def _target(given: str | float | Fraction) -> Fraction:
    try:
        target = Fraction(str(given))
    except (ValueError, ZeroDivisionError):
        target = Fraction(-1)
    if target < 0:
        raise ParameterError("at_risk", "must be a number of at least 0", "write 0.8", value=str(given))
    return target


def _exchange(documents: Sequence[SpecDocument], given: tuple[str, ...]) -> Exchange:
    """The exchange that all designs are compared by.

    Raises:
        ParameterError: no file swaps, and none was given.
    """
    swaps = [one for one in (Exchange.of(document.mechanism) for document in documents) if one is not None]
    if given:
        return Exchange(swap=given, match=next((one.match for one in swaps if one.swap == given), ()))
    if not swaps:
        rule = "is not known: none of the files swaps"
        raise ParameterError("exchange", rule, "write --exchange ATTR,... for the values that two records exchange")
    return swaps[0]


@attrs.frozen
class _Asked:
    """One design, and the quantities to be computed."""

    design: Design
    table: dp.Table
    statistic: Statistic
    metric: str
    runs: int
    seed: int
    risk: RiskOfDesign
    known: dict[Fraction | None, dict[str, RiskFound]] = attrs.field(factory=dict, eq=False)
    """The risks at the evaluated values: both curves are solved for from them."""

    def risks(self, value: Fraction | None) -> dict[str, RiskFound]:
        """The risks at a value, computed once."""
        if value not in self.known:
            self.known[value] = self.risk.of(self.design.at(value))
        return self.known[value]

    def point(self, value: Fraction | None) -> TradePoint:
        document = self.design.at(value)
        seed = _seed_of(self.seed, self.design, value)
        error = error_of(document.mechanism, self.table, document.spec.space, self.statistic, self.metric, self.runs, seed)
        return TradePoint(value=value, risks=self.risks(value), error=error)

    def at(self, key: str, target: Fraction) -> TradePoint | str:
        """The point with at most this risk whose parameter is nearest to the end of higher risk."""
        values = self.design.values
        first, last = values[0], values[-1]
        if first is None or last is None or first == last:
            return "nothing varies in this design"
        start, end = self._top(key, first), self._top(key, last)
        if start is None or end is None:
            found = self.risks(first if start is None else last)[key]
            return found.reason or f"only a lower bound is known for {found.protects}"
        if not min(start, end) <= target <= max(start, end):
            least, most = (exact.INFINITY if math.isinf(risk) else exact.number(Fraction(risk)) for risk in sorted((start, end)))
            return f"reaches from {_rounded(least, 1)} to {_rounded(most, -1)} only"
        whole = isinstance(getattr(self.design.document.mechanism, self.design.variation.name, None), int)  # type: ignore[union-attr]
        steps = int(last - first) if whole else GRID
        falls = start > end
        low, high = 0, steps  # the risk is at most the target at `high` if it falls, at `low` if it grows
        while high - low > 1:
            middle = (low + high) // 2
            top = self._top(key, first + (last - first) * middle / steps)
            if top is None:
                return "is not known at every value between"
            within = top <= target
            low, high = ((low, middle) if within else (middle, high)) if falls else ((middle, high) if within else (low, middle))
        return self.point(first + (last - first) * (high if falls else low) / steps)

    def _top(self, key: str, value: Fraction) -> float | None:
        """The risk at a value, from above; None where only a lower bound is known."""
        found = self.risks(value)[key]
        return None if found.value is None or found.sense == "at least" else float(found.value.upper)


def _check_reached(answer: Tradeoff) -> None:
    """Raise ParameterError unless some design attains the target risk."""
    every = [(curve.design.name, key, one) for curve in answer.curves for key, one in curve.solved.items()]
    reasons = [(name, key, one) for name, key, one in every if isinstance(one, str)]
    if len(reasons) == len(every):
        said = "; ".join(f"{name}, {key}: {reason}" for name, key, reason in reasons)
        raise ParameterError("at_risk", f"is reached by no design ({said})", value=_asked(answer.target or Fraction(0)))


# --- the error of each cell -----------------------------------------------------------------------


_COLUMNS = ("design", "parameter", "mean_absolute_error", "root_mean_squared_error", "published", "kind")
"""Beside one column for each attribute: errors given that a number is published, and the probability that it is."""


def points_of_cells(curve: TradeCurve) -> tuple[TradePoint, ...]:
    """The points of a design whose errors are written cell by cell."""
    solved = curve.solved.get(WORST)
    return (solved,) if isinstance(solved, TradePoint) else curve.points


def _cells_csv(answer: Tradeoff, read: Sequence[Table]) -> str:
    """One row for each cell of each such point; a design whose error is not known has none."""
    names: dict[str, str] = {}
    for name in answer.statistic.attributes:
        column = name
        while column in {*_COLUMNS, *names.values()}:
            column += "_"
        names[name] = column
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_COLUMNS[:2], *names.values(), *_COLUMNS[2:]])
    for curve, table in zip(answer.curves, read, strict=True):
        for point in points_of_cells(curve):
            document, seed = curve.design.at(point.value), _seed_of(answer.seed, curve.design, point.value)
            if document.mechanism is None:
                continue
            try:
                found = errors_of_cells(document.mechanism, table, document.spec.space, answer.statistic, answer.runs, seed)
            except dp.DpspecError:  # the row of the design has the reason
                continue
            parameter = "" if point.value is None else str(point.value)
            kind = f"simulated in {found.runs} runs" if found.runs else "exact"
            rows = zip(answer.statistic.cells, found.mean, found.root, found.published, strict=True)
            for cell, *numbers in rows:
                shown = ["" if math.isnan(one) else f"{one:.10g}" for one in numbers]
                writer.writerow([curve.design.name, parameter, *cell, *shown, kind])
    return text.getvalue()


def _seed_of(seed: int, design: Design, value: Fraction | None) -> str:
    """The text from which the seeds of the runs of a point are derived."""
    return f"{seed}/{design.name}/{value}"


# --- as data --------------------------------------------------------------------------------------


def tradeoff_data(answer: Tradeoff) -> dict[str, Any]:
    """What ``--format json`` prints."""
    name, unit, records = answer.table
    return {
        "table": {"name": name, "unit": unit, "records": records},
        "statistic": {"attributes": list(answer.statistic.attributes), "cells": len(answer.statistic.cells)},
        "metric": answer.metric,
        "risk": {
            "kind": answer.measure.kind, "axis": answer.measure.axis,
            "exchange": answer.exchanges,
        },
        "simulation": {"runs": answer.runs, "seed": answer.seed, "confidence": 0.95},
        "designs": [_curve_data(curve) for curve in answer.curves],
        "at_risk": None if answer.target is None else {
            "risk": str(answer.target),
            "designs": [
                {"name": curve.design.name, "curve": key, **_solved_data(one)}
                for curve in answer.curves for key, one in curve.solved.items()
            ],
        },
    }  # fmt: skip


def _solved_data(one: TradePoint | str) -> dict[str, Any]:
    return {"point": None, "reason": one} if isinstance(one, str) else {"point": _point_data(one), "reason": None}


def _curve_data(curve: TradeCurve) -> dict[str, Any]:
    varied = curve.design.variation
    return {
        "name": curve.design.name,
        "parameter": None if varied is None else varied.path,
        "points": [_point_data(point) for point in curve.points],
    }


def _point_data(point: TradePoint) -> dict[str, Any]:
    return {
        "value": None if point.value is None else str(point.value),
        "risks": {key: _risk_data(found) for key, found in point.risks.items()},
        "error": _error_data(point.error),
    }


def _risk_data(found: RiskFound) -> dict[str, Any]:
    ends = None if found.value is None else [outer_end(found.value.lower, -1), outer_end(found.value.upper, 1)]
    return {
        "bounds": ends, "sense": None if ends is None else found.sense, "about": found.about,
        "protects": found.protects or None, "reason": found.reason or None,
    }  # fmt: skip


def outer_end(value: exact.Number, side: int) -> float | str:
    """A float on the outer side; ``inf`` as a text."""
    if value.is_infinite:
        return "inf"
    near = float(value)
    inside = Bracket.exactly(Fraction(near)).upper
    wrong = inside > value if side < 0 else inside < value
    return math.nextafter(near, math.inf * side) if wrong else near


def _error_data(error: ErrorFound) -> dict[str, Any]:
    def shown(value: float | None) -> float | None:
        return None if value is None or math.isinf(value) else value

    return {
        "kind": error.kind, "value": shown(error.value),
        "interval": None if error.low is None else [shown(error.low), shown(error.high)],
        "runs": error.runs, "cells_left_out": error.left_out, "reason": error.reason or None,
    }  # fmt: skip


# --- as text --------------------------------------------------------------------------------------


class _Notes:
    """Sentences with their numbers."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def mark(self, text: str) -> str:
        return f"({self._known.setdefault(text, len(self._known) + 1)})"

    def lines(self) -> list[str]:
        return [f"({number}) {text}." for text, number in self._known.items()]


def tradeoff_text(answer: Tradeoff) -> str:
    """What the command prints."""
    name, unit, records = answer.table
    notes = _Notes()
    keys = [WORST, TABLE] if answer.measure.kind != "exposure" else [TABLE]
    rows = [("design", "parameter", *(f"risk, {key}" for key in keys), f"error ({answer.metric})")]
    for curve in answer.curves:
        for place, point in enumerate(curve.points):
            rows.append((
                curve.design.name if not place else "", _parameter(curve.design, point.value),
                *(_risk_text(point.risks[key], notes) for key in keys), _error_text(point.error, answer, notes),
            ))  # fmt: skip
    lines = _solved_lines(answer, notes)
    lines += [
        f"error: {METRICS[answer.metric]}, of {answer.statistic} ({len(answer.statistic.cells):,} cells)",
        f"risk: {answer.measure.axis}" + (f": {answer.exchanges}" if answer.exchange is not None else ""),
        f"table: {name}, {records:,} {unit} records",
        "",
        *_grid(rows),
        "",
        *notes.lines(),
        "The numbers are computed from the confidential table: they are for the office, not for publication.",
    ]
    return "\n".join(lines)


def _solved_lines(answer: Tradeoff, notes: _Notes) -> list[str]:
    if answer.target is None:
        return []
    rows = [("design", "curve", "parameter", "risk", f"error ({answer.metric})")]
    for curve in answer.curves:
        for key, one in curve.solved.items():
            if isinstance(one, str):
                rows.append((curve.design.name, key, "none " + notes.mark(one), "", ""))
            else:
                shown = _risk_text(one.risks[key], notes), _error_text(one.error, answer, notes)
                rows.append((curve.design.name, key, _parameter(curve.design, one.value), *shown))
    return [f"At risk {_asked(answer.target)}:", "", *_grid(rows), ""]


def _grid(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return ["  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _parameter(design: Design, value: Fraction | None) -> str:
    if value is None or design.variation is None:
        return "-"
    return f"{design.variation.name} = {value if len(str(value)) <= 7 else _asked(value)}"


def _plain(value: float) -> str:
    """To four figures.

    >>> _plain(0.799996), _plain(13.81), _plain(123456.0)
    ('0.8', '13.81', '123,456')
    """
    return f"{value:,.0f}" if 10_000 <= abs(value) < 1e15 else f"{value:.4g}"


def _asked(value: Fraction) -> str:
    """A number as it was requested; to fifteen figures where it has no short form.

    >>> _asked(Fraction("0.99999")), _asked(Fraction(2, 3)), _asked(Fraction(5))
    ('0.99999', '0.666666666666667', '5')
    """
    return f"{float(value):.15g}"


def _rounded(value: exact.Number, side: int) -> str:
    """To four decimals, towards a side or to the nearest: a number other than 0 and 1 is never printed as one of these."""
    if value.is_infinite:
        return "infinity"
    end = _end_of(value, side)
    if abs(end) >= _FOUR_FIGURES:
        return _figures(end, side)
    for places in (4, 6):
        near = _to_multiple(end, Fraction(1, 10**places), side)
        if near not in {0, 1} or end in {0, 1}:
            return f"{float(near):.{places}f}"
    if near == 1 and end < 1:
        return f"1 - {_scientific(1 - end, -side)}"
    return f"{float(near):.6f}" if near == 1 else _scientific(end, side)


_FOUR_FIGURES = 100


def _end_of(value: exact.Number, side: int) -> Fraction:
    """The value where it is rational, else an end of an enclosure, on the side to which it is rounded."""
    if value.is_rational:
        return value.as_fraction()
    bracket = Bracket.around(value.enclose(256))
    return (bracket.lower if side < 0 else bracket.upper).as_fraction()


def _to_multiple(value: Fraction, unit: Fraction, side: int) -> Fraction:
    """The multiple of a unit next to a value: below, above, or the nearest."""
    ratio = value / unit
    return unit * (math.floor(ratio) if side < 0 else math.ceil(ratio) if side > 0 else round(ratio))


def _power_of_ten(value: Fraction) -> int:
    """The exponent of the first figure of a positive number."""
    size = len(str(value.numerator)) - len(str(value.denominator))
    return size if value >= Fraction(10) ** size else size - 1


def _figures(value: Fraction, side: int) -> str:
    """A number of 100 and more: to four figures, and whole numbers from 10,000 on."""
    size = _power_of_ten(value)
    if size >= _WHOLE:
        return _scientific(value, side)
    near = _to_multiple(value, Fraction(10) ** min(0, size - 3), side)
    return f"{near.numerator:,}" if size >= 4 else f"{float(near):g}"


_WHOLE = 15
"""Whole numbers are written out up to so many figures."""


def _scientific(value: Fraction, side: int) -> str:
    """A positive number to two figures, and a power of ten."""
    size = _power_of_ten(value)
    near = _to_multiple(value, Fraction(10) ** (size - 1), side)
    size = _power_of_ten(near) if near else size
    return f"{float(near / Fraction(10) ** size):.1f}e{size:+03d}"


def risk_in_words(value: Bracket, sense: str) -> str:
    """A risk with its sense, rounded to the side of a limit."""
    if sense == "between":
        return f"between {_rounded(value.lower, -1)} and {_rounded(value.upper, 1)}"
    side = {"exact": 0, "at least": -1, "at most": 1}[sense]
    return f"{'' if not side else sense + ' '}{_rounded(value.lower if side < 0 else value.upper, side)}"


def _risk_text(found: RiskFound, notes: _Notes) -> str:
    if found.value is None:
        return f"unknown {notes.mark(found.reason)}"
    mark = notes.mark(f"{found.about}; protects {found.protects}" if found.protects else found.about)
    return f"{risk_in_words(found.value, found.sense)} {mark}"


def _error_text(error: ErrorFound, answer: Tradeoff, notes: _Notes) -> str:
    if error.value is None:
        return f"unknown {notes.mark(error.reason)}"
    left = f", {_plain(error.left_out)} cells left out" if error.left_out else ""
    if not error.runs:
        return f"{_plain(error.value)}, exact{left}"
    said = f"simulated: mean of {error.runs} runs of the release, seed {answer.seed}"
    if error.low is None or error.high is None:
        return f"{_plain(error.value)} {notes.mark(f'{said}; all are equal, which gives no interval')}{left}"
    mark = notes.mark(f"{said}, with a confidence interval of about 95 %")
    return f"{_plain(error.value)} ({_plain(error.low)} to {_plain(error.high)}) {mark}{left}"


# --- as a figure ----------------------------------------------------------------------------------


def figure(answer: Tradeoff, *, size: str = "slide", theme: str = "light") -> Figure:
    """Risk on the horizontal axis, error on the vertical one: one line for each design and each of its two risks."""
    lines: list[CurveLine] = []
    for colour, curve in enumerate(answer.curves):
        for key in (WORST, TABLE):
            lines += _drawn(curve, key, colour)
    title = METRICS[answer.metric][0].upper() + METRICS[answer.metric][1:]
    heights = [y for line in lines for _, y in line.points if y > 0]
    wide = bool(heights) and max(heights) > _WIDE * min(heights)
    panel = CurvePanel(
        title=title, axis=answer.measure.axis, lines=tuple(lines), powers=wide, places=answer.measure.kind == "odds"
    )  # fmt: skip
    notes = ["dots are computed, lines join them; a risk that is a bound is drawn at the bound"]
    if any(point.error.runs for curve in answer.curves for point in curve.points):
        notes.append(f"upright: confidence intervals of about 95 % of {answer.runs} simulated runs, seed {answer.seed}")
    if wide and any(y == 0 for line in lines for _, y in line.points):
        notes.append("an error of 0 lies on the lower edge")
    return chart(f"Error of {answer.statistic} against risk", [panel], size=size, theme=theme, note="; ".join(notes))


_WIDE = 50
"""From this ratio of the largest to the smallest error on, their axis is logarithmic."""


def _drawn(curve: TradeCurve, key: str, colour: int) -> Iterator[CurveLine]:
    """The line of one design and one of its risks through what was computed, and the intervals of what was simulated."""
    found: list[tuple[float, ErrorFound]] = []
    solved = curve.solved.get(key)
    for point in (*curve.points, *([solved] if isinstance(solved, TradePoint) else [])):
        risk = point.risks.get(key)
        if risk is None or risk.value is None or point.error.value is None:
            continue
        spot = risk.value.lower if risk.sense == "at least" else risk.value.upper
        if not spot.is_infinite:
            found.append((float(spot), point.error))
    if not found:
        return
    found.sort(key=lambda spot: (spot[0], spot[1].value))
    made = partial(CurveLine, name=curve.design.name, role=key, dashed=key == TABLE, colour=colour)
    yield made(points=tuple((x, float(error.value or 0)) for x, error in found))
    for x, error in found:
        if error.runs and error.low is not None and error.high is not None and not math.isinf(error.high):
            yield made(points=((x, max(0.0, error.low)), (x, error.high)), dashed=False)
