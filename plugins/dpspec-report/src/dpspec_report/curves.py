"""Curves of specifications and of their mechanisms: what a promise allows as a band, and what the mechanism does inside it.

For two datasets at a distance within one universe, with laws P and Q:

    trade-off   a -> the least error of the second kind of a test at level a (Dong, Roth and Su 2022)
    power       the largest power of a test at some levels
    profile     epsilon -> the delta of (epsilon, delta)-privacy, sup P(S) - e^epsilon Q(S)
    renyi       alpha -> D_alpha(P || Q) (Mironov 2017)
    posterior   prior -> the belief in Q after the best test at a level has accused it: p w / (p w + (1 - p) a), w its power at a
    error       by how much a noisy count is off, for a share of all draws

Each but the last is computed in brackets at a few places. Between these the shape of the function bounds it (`envelopes`):
trade-off functions are convex, a delta is convex in e^epsilon, (alpha - 1) D_alpha is convex in alpha, and a posterior is concave
in the prior. So what a curve shows is true between its points too. The band of a specification holds for every mechanism that
keeps it. The curve of the mechanism is that of the pairs of datasets that were checked: of several pairs the largest delta and
the largest divergence. The least error of several pairs is the least of the bounds of each, since the least of convex functions
need not be convex.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import Literal

import attrs

from dpspec import Bracket, DpspecError, SpecDocument, Verdict, number
from dpspec.plugin import exact, laws
from dpspec.plugin.applications import (
    CurveLine,
    CurvePanel,
    CurvePoints,
    CurveSubject,
    Figure,
    JsonData,
    PictureError,
    Progress,
    Registry,
    allowed_power,
    budget_at,
    curve_subject,
    noise_laws,
    steps,
)
from dpspec_report.charts import chart, value_mark
from dpspec_report.envelopes import (
    PLAIN,
    PROFILE,
    RENYI,
    Shape,
    Values,
    between,
    chords,
    extended,
    least_of,
    lower,
    sandwiched,
    upper,
)

LEVELS = ("1/100", "1/20", "1/10", "1/4")
SHARES = ("1/2", "19/20", "99/100")
LEAST_DELTA = 12
"""The vertical axis of a profile ends at 10^-12."""
_ORDERS = Fraction(9, 8), Fraction(16)
_ORDERS_SHOWN = 60
_FEW, _MANY, _START = 48, 160, 7
"""At how many places a curve is computed that is slow, or quick, and at how many before it is known where it bends."""
_FARTHEST = 512
"""Epsilons up to which e^epsilon is a float with room to spare; a promise beyond has steps, which need no such number."""
_HALVINGS = 12
"""So often the interval is halved in which a delta falls below the plot: then it is narrower than a pixel."""
_BITS = 16
"""Brackets of power have a width of about 2^-16, a fortieth of a pixel."""
_FINEST = 1 / 400
_LARGEST, _FINE = Fraction(1 << 40), 1 << 11
"""How far noise is followed, and to which part of its distance."""
ALLOWED = "what is allowed"
WITHIN = "for two datasets of one universe, which agree in all that is published exactly"

Monotone = Callable[[Fraction], Bracket]
"""A function that rises, or falls, all the way."""
Sample = tuple[tuple[Fraction, Bracket], ...]


def sampled(function: Monotone, start: Fraction, end: Fraction, most: int) -> Sample:
    """Values at places between two ends, denser where the function is steep.

    Args:
        function: what is computed.
        start, end: the ends.
        most: at how many places.

    >>> found = sampled(lambda x: Bracket.exactly(x * x), Fraction(0), Fraction(1), 9)
    >>> len(found), str(found[-1][1])
    (9, '1')
    """
    width = end - start
    known = {at: function(at) for at in (start + width * step / (_START - 1) for step in range(_START))}
    open_: list[tuple[float, Fraction, Fraction]] = []

    def push(left: Fraction, right: Fraction) -> None:
        drop = abs(_near(known[right]) - _near(known[left]))
        size = min(drop, float((right - left) / width))
        if size > _FINEST:
            heapq.heappush(open_, (-size, left, right))

    places = sorted(known)
    for left, right in itertools.pairwise(places):
        push(left, right)
    while open_ and len(known) < most:
        _, left, right = heapq.heappop(open_)
        middle = (left + right) / 2
        known[middle] = function(middle)
        push(left, middle)
        push(middle, right)
    return tuple(sorted(known.items()))


def _near(value: Bracket) -> float:
    return float(value.upper) if not value.upper.is_infinite else 1e9


# --- powers ---------------------------------------------------------------------------------------


def _allowed(subject: CurveSubject, level: Fraction) -> Bracket:
    assert subject.bound is not None  # noqa: S101 - the callers ask
    if ("allowed", level) not in subject.known:
        power = allowed_power(subject.spec.output_divergence, subject.bound, level, bits=_BITS)
        subject.known["allowed", level] = power
    return subject.known["allowed", level]


def _own_power(subject: CurveSubject, level: Fraction) -> Bracket:
    if ("own", level) not in subject.known:
        subject.known["own", level] = subject.own.largest(lambda pair: laws.largest_power(pair, level))
    return subject.known["own", level]


def _complement(value: Bracket) -> Bracket:
    """1 minus what is in a bracket."""
    return Bracket(lower=number(1) - value.upper, upper=number(1) - value.lower)


def _band(shape: Shape, values: Values, *, rises: bool = False) -> tuple[CurvePoints, CurvePoints]:
    """What bounds a function of a shape from below and from above; probabilities are at most 1."""
    low = extended(shape, values, rises=rises)
    high = chords(shape, tuple((float(at), high) for at, (_, high) in sorted(values.items())))
    return (low, high) if shape is RENYI else (_probable(low), _probable(high))


def _probable(points: CurvePoints) -> CurvePoints:
    return tuple((x, min(max(y, 0.0), 1.0)) for x, y in points)


# --- the panels -----------------------------------------------------------------------------------


def _names(subject: CurveSubject) -> tuple[str, str]:
    """What the legend says of the specification, and of the curve of its mechanism."""
    far = "" if subject.distance == 1 else f", at distance {subject.distance}"
    return f"{subject.name}{far}", subject.title


def _trade_off(subject: CurveSubject, colour: int) -> Iterator[CurveLine]:
    name, own = _names(subject)
    if subject.bound is not None:
        yield CurveLine(name=name, role=ALLOWED, points=_allowed_errors(subject), top=((0.0, 1.0), (1.0, 0.0)), colour=colour)
    if subject.pairs:
        tightest, known = subject.own.above or subject.own.pairs, subject.own.pairs or subject.own.above
        bands = {key: _pair_errors(pair) for key, pair in {id(pair): pair for pair in (*tightest, *known)}.items()}
        low = least_of([bands[id(pair)][0] for pair in tightest], above=False)
        high = least_of([bands[id(pair)][1] for pair in known], above=True)
        yield _inside(name, own, (low, high), colour)


def _inside(name: str, own: str, edges: tuple[CurvePoints, CurvePoints], colour: int, *, powers: bool = False) -> CurveLine:
    """The series of a mechanism: its band, and the line in the middle of it."""
    low, high = edges
    middle = between(low, high, powers=powers)
    return CurveLine(name=name, role=own, points=low, top=high, edge=middle, dashed=True, colour=colour)


def _allowed_errors(subject: CurveSubject) -> CurvePoints:
    """What the least error of the second kind is nowhere below, over the level.

    It is convex where pairs of laws keep their bound when they are mixed: of tests of two pairs, each at its level, a coin that
    is shown makes one of the mixed pair. Where that is not known, it falls, and steps bound it.
    """
    zero, one = Fraction(0), Fraction(1)
    # Without worst pairs, each power that the specification allows is found by halving.
    is_slow = subject.bound is not None and subject.spec.output_divergence.worst_pairs(subject.bound) is None
    most = _FEW if is_slow else _MANY
    if subject.spec.output_divergence.keeps_mixtures:
        values = sandwiched(PLAIN, lambda level: _complement(_allowed(subject, level)), zero, one, most, height=1.0)
        return _probable(extended(PLAIN, values, rises=False))
    found = sampled(lambda level: _complement(_allowed(subject, level)), zero, one, most)
    return steps(tuple((float(at), lower(value.lower)) for at, value in found), "below")


def _pair_errors(pair: laws.Dichotomy) -> tuple[CurvePoints, CurvePoints]:
    """What bounds the trade-off function of a pair, which is convex; of several pairs the least function need not be."""
    listed = laws.exact_atoms_of(pair)
    if listed is not None and len(listed) <= _MANY:
        knots = tuple((float(level), float(error)) for level, error in laws.TradeOff.of(pair).knots)
        return knots, knots
    most = _FEW if listed is None else _MANY
    values = sandwiched(
        PLAIN, lambda level: _complement(laws.largest_power(pair, level)), Fraction(0), Fraction(1), most, height=1.0
    )
    return _band(PLAIN, values)


def _power(subject: CurveSubject, colour: int) -> Iterator[CurveLine]:
    name, own = _names(subject)
    levels = [Fraction(level) for level in LEVELS]
    if subject.bound is not None:
        found = [upper(_allowed(subject, level).upper) for level in levels]
        points = tuple((float(place), top) for place, top in enumerate(found))
        yield CurveLine(name=name, role=ALLOWED, points=points, side="above", dashed=True, colour=colour)
    if subject.pairs:
        values = [_own_power(subject, level) for level in levels]
        tops = [upper(value.upper) if subject.complete else lower(value.lower) for value in values]
        side: Literal["above", "below"] = "above" if subject.complete else "below"
        points = tuple((float(place), top) for place, top in enumerate(tops))
        marks = tuple(value_mark(top, side) for top in tops)
        yield CurveLine(
            name=name, role=own, points=points, side=side, marks=marks, colour=colour, inside=subject.bound is not None
        )


def _posterior(subject: CurveSubject, colour: int, level: Fraction) -> Iterator[CurveLine]:
    name, own = _names(subject)

    def doubt(power: Fraction, prior: Fraction) -> Bracket:
        """The belief in the other dataset, convex and falling in the prior where the power is at least the level."""
        return Bracket.exactly((1 - prior) * level / (prior * power + (1 - prior) * level))

    def beliefs(power: Fraction) -> tuple[CurvePoints, CurvePoints]:
        values = sandwiched(PLAIN, partial(doubt, max(power, level)), Fraction(0), Fraction(1), _MANY, height=1.0)
        high, low = (tuple((x, 1 - y) for x, y in edge) for edge in _band(PLAIN, values))
        return low, high

    if subject.bound is not None:
        _, high = beliefs(Fraction(upper(_allowed(subject, level).upper)))
        yield CurveLine(name=name, role=ALLOWED, points=((0.0, 0.0), (1.0, 1.0)), top=high, edge=high, colour=colour)
    if subject.pairs:
        power = _own_power(subject, level)
        (low, _), (_, high) = (beliefs(Fraction(end)) for end in (lower(power.lower), upper(power.upper)))
        yield _inside(name, own, (low, high), colour)


def _profile(subject: CurveSubject, colour: int, registry: Registry) -> Iterator[CurveLine]:
    name, _ = _names(subject)
    last = 0.0
    source = subject.spec.output_divergence
    if subject.bound is not None and not subject.bound.is_infinite:
        value = source.budget_for(source.budget_parameters[0], subject.bound)
        tops: dict[float, float] = {0.0: 1.0}
        for place in range(8 * LEAST_DELTA, 0, -1):  # eight in each power of ten, as the axis is logarithmic
            delta = exact.rational(f"{10 ** (-place / 8):.6e}", "delta")
            found = None if value.is_infinite else budget_at(registry, source, value, "epsilon", {"delta": str(delta)})
            if found is not None and not found.upper.is_infinite:  # of equal epsilons the least delta
                epsilon = upper(found.upper)
                tops[epsilon] = min(upper(number(delta)), tops.get(epsilon, 1.0))
        if len(tops) > 1:
            last = max(tops)
            known = tuple(sorted(tops.items()))
            top = _probable(chords(PROFILE, known)) if last < _FARTHEST else steps(known, "above")
            floor = ((0.0, 10.0**-LEAST_DELTA), (last, 10.0**-LEAST_DELTA))
            yield CurveLine(name=name, role=ALLOWED, points=floor, top=top, edge=top, colour=colour)
    if subject.pairs:
        yield from _own_profile(subject, colour, last)


def _own_profile(subject: CurveSubject, colour: int, last: float) -> Iterator[CurveLine]:
    name, own = _names(subject)
    least = Fraction(1, 10**LEAST_DELTA)
    known: dict[Fraction, Bracket] = {}

    def delta(epsilon: Fraction) -> Bracket:
        if epsilon not in known:
            known[epsilon] = subject.own.largest(lambda pair: pair.hockey_stick(epsilon))
        return known[epsilon]

    end = Fraction(1, 64)
    while end < _FARTHEST and delta(end).upper > least:  # to where the curve is below the plot
        end *= 2
    end = min(end, Fraction(max(last, 1 / 64)).limit_denominator(1 << 20)) if last else end
    if delta(Fraction(0)).lower < least:
        return
    start, after = (end, end) if delta(end).lower >= least else (Fraction(0), end)
    for _ in range(_HALVINGS if start != after else 0):  # to where the curve leaves the plot
        middle = (start + after) / 2
        start, after = (middle, after) if delta(middle).lower >= least else (start, middle)
    if not start:
        return
    low, high = _band(PROFILE, sandwiched(PROFILE, delta, Fraction(0), start, _FEW, height=float(LEAST_DELTA)))
    if start < after and delta(after).upper < least:
        low, high = (*low, (float(start), float(least))), (*high, (float(after), high[-1][1]), (float(after), float(least)))
    yield _inside(name, own, (low, high), colour, powers=True)


def _renyi(subject: CurveSubject, colour: int, registry: Registry) -> Iterator[CurveLine]:
    name, own = _names(subject)
    start, end = _ORDERS
    source = subject.spec.output_divergence
    if subject.bound is not None and not subject.bound.is_infinite:
        value = source.budget_for(source.budget_parameters[0], subject.bound)
        known = []
        for order in (_order(step) for step in range(_ORDERS_SHOWN + 1)):
            found = None if value.is_infinite else budget_at(registry, source, value, "epsilon", {"order": str(order)})
            if found is not None and not found.upper.is_infinite:
                known.append((float(order), upper(found.upper)))
        if known:
            top = chords(RENYI, tuple(known))
            floor = tuple((x, 0.0) for x in (top[0][0], top[-1][0]))
            yield CurveLine(name=name, role=ALLOWED, points=floor, top=top, edge=top, colour=colour)
    if subject.pairs:
        divergence = partial(_own_divergence, subject)
        while end > start and divergence(end).upper.is_infinite:
            end = (start + end) / 2 if end - start > Fraction(1, 4) else start
        if end > start:
            values = sandwiched(RENYI, divergence, start, end, _FEW, rises=True)
            yield _inside(name, own, _band(RENYI, values, rises=True), colour)


def _order(step: int) -> Fraction:
    """Orders evenly spaced by the logarithm of alpha - 1, between the two ends."""
    start, end = _ORDERS
    share = (start - 1) * Fraction(float((end - 1) / (start - 1)) ** (step / _ORDERS_SHOWN)).limit_denominator(1 << 10)
    return min(max(1 + share, start), end)


def _own_divergence(subject: CurveSubject, order: Fraction) -> Bracket:
    return subject.own.largest(partial(laws.Dichotomy.renyi, order=order))


# --- the error of counts --------------------------------------------------------------------------


def noises(document: SpecDocument) -> tuple[laws.Location, ...]:
    """The laws of the noise on the counts of a mechanism, the least first; none where it adds no noise of a known kind."""
    return tuple(sorted(noise_laws(document), key=lambda law: off_by(law, Fraction(SHARES[0]))))


def off_by(law: laws.Location, share: Fraction) -> Fraction:
    """The least distance from the center, to a whole number or to three digits upwards, that holds a share of a law for sure.

    >>> from dpspec.plugin import laws
    >>> float(off_by(laws.LaplaceLaw(0, 1), Fraction(1, 2)))
    0.694
    """
    whole = getattr(law, "kind", None) is laws.Kind.INTEGERS
    center = Fraction(law.center)

    def holds(far: Fraction) -> bool:
        mass = law.between(center - far, center + far + whole, 96)
        return bool(mass >= exact.ball(share))

    if whole and holds(Fraction(0)):
        return Fraction(0)
    # The distance is doubled until it is enough, and then halved, as probabilities are known at single places alone.
    low, high = Fraction(0), Fraction(1)
    while not holds(high) and high < _LARGEST:
        low, high = high, 2 * high
    while not whole and high - low > high / _FINE and high > 1 / _LARGEST:
        low, high = ((low + high) / 2, high) if not holds((low + high) / 2) else (low, (low + high) / 2)
    while whole and high - low > 1:
        middle = Fraction(int(low + high) // 2)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high if whole else Fraction(value_mark(float(high), "above"))


def _error(document: SpecDocument, colour: int) -> Iterator[CurveLine]:
    found = noises(document)
    chosen = found if len(found) <= 1 else (found[0], found[-1])
    words = ("",) if len(chosen) == 1 else (", its least noise", ", its largest noise")
    for place, (law, word) in enumerate(zip(chosen, words, strict=False)):
        points = tuple((float(spot), float(off_by(law, Fraction(share)))) for spot, share in enumerate(SHARES))
        yield CurveLine(name=f"{document.id}{word}", points=points, side="above", colour=colour, dashed=bool(place))


# --- the figure -----------------------------------------------------------------------------------


_TITLES = {
    "trade-off": (
        "error of the second kind: a change is missed (probability)",
        "error of the first kind, the level (probability)",
    ),
    "profile": ("delta (probability)", "epsilon"),
    "renyi": ("Renyi divergence (nats)", "order alpha"),
    "power": ("largest power of a test (probability)", ""),
    "posterior": ("belief after the accusation (probability)", "belief before it (probability)"),
    "error": ("at most so many records", ""),
}
PANELS = tuple(_TITLES)
_HEADS = {
    "trade-off": "How often a test must err",
    "profile": "Which delta goes with which epsilon",
    "renyi": "Renyi divergence by order",
    "power": "How often a test finds out",
    "posterior": "What an accusation by the best test at level {level} does to a belief",
    "error": "How far the noise moves a count",
}


@attrs.frozen(kw_only=True)
class CurveData:
    """The series of one panel.

    Args:
        panel: one of `PANELS`.
        level: for posteriors, the level of the test.
        lines: the series; every one lies between its lower and its upper points, each joined by straight lines of the plot.
        notes: what could not be computed, and what the series are about.
    """

    panel: str
    level: Fraction
    lines: tuple[CurveLine, ...]
    notes: tuple[str, ...]

    def plot(self, *, size: str = "slide", theme: str = "light") -> Figure:
        """The figure.

        Args:
            size: ``slide``, ``column``, ``poster`` or ``page``.
            theme: ``light`` or ``dark``.
        """
        level = _percent(str(self.level))
        return _chart(self.panel, self.lines, level, size=size, theme=theme, note="; ".join(self.notes))

    def data(self) -> JsonData:
        """The points, as numbers rounded outward; bars by the level or the share that they belong to.

        `lower` and `upper` bound a curve between their points too, when these are joined by straight lines (of a profile, on a
        logarithmic delta axis).
        """
        places = {"power": LEVELS, "error": SHARES}.get(self.panel)
        rise, run = _TITLES[self.panel]
        axis = run or ("level of the test" if self.panel == "power" else "share of all draws of the noise")

        def listed(points: CurvePoints) -> list[list[float]]:
            return [[float(Fraction(places[round(x)])) if places else x, y] for x, y in points]

        lines = [
            {
                "name": line.name,
                "about": "this mechanism" if line.role not in ("", ALLOWED) else "any mechanism" if line.role else "the noise",
                "role": line.role,
                "lower": [] if line.side == "above" else listed(line.points),
                "upper": listed(line.top) if line.top else listed(line.points) if line.side == "above" else [],
            }
            for line in self.lines
        ]
        return {
            "panel": self.panel,
            "axes": {"x": axis, "y": rise},
            "lines": lines,
            "notes": list(self.notes),
        }


def curve(
    documents: Sequence[SpecDocument],
    panel: str,
    registry: Registry,
    *,
    distance: exact.NumberLike | None = None,
    level: exact.NumberLike = "1/20",
    progress: Progress | None = None,
) -> CurveData:
    """One panel of some specifications.

    Args:
        documents: at least one; each gets a band for what it allows, and a curve for its mechanism where it names one.
        panel: one of `PANELS`.
        registry: where conversions are looked up.
        distance: the distance of the two datasets; by default the smallest one that occurs in a universe.
        level: for posteriors, the level of the test, in (0, 1).
        progress: called with (done, in all).

    Raises:
        PictureError: nothing can be drawn; with what is missing.
        ParameterError: for a level outside (0, 1).
    """
    at = exact.rational(level, "level")
    if not 0 < at < 1:
        raise PictureError("level", "must lie in (0, 1)", "it is how often a test accuses wrongly", value=str(level))
    lines: list[CurveLine] = []
    notes: list[str] = []
    for place, document in enumerate(documents):
        found, note = _lines_of(document, panel, place, registry, distance, at)
        lines += found
        notes += note
        if document.parts:
            notes.append(f"{document.id}: about its first promise alone, and not about those of its parts")
        if progress is not None:
            progress(place + 1, len(documents))
    if not lines:
        raise PictureError(f"panel {panel}", "has nothing to show", "; ".join(notes) or "give a specification")
    return CurveData(panel=panel, level=at, lines=tuple(lines), notes=tuple(notes))


@attrs.frozen(kw_only=True)
class RiskFigures:
    """Some panels of one specification, for a page.

    Args:
        figures: the figure of each panel that has something to show.
        notes: figures that could not be drawn, and the distance of the datasets where it is not 1.
    """

    figures: Mapping[str, Figure]
    notes: tuple[str, ...]


def risk_figures(documents: Sequence[tuple[SpecDocument, Verdict | None]], panels: Sequence[str]) -> RiskFigures:
    """The same for a page, of one or more specifications: power, posteriors, trade-off; every dataset is evaluated once.

    Args:
        documents: the specifications, each with a verdict on its claim on the whole space where there is one.
        panels: which.
    """
    subjects = [curve_subject(document, None, verdict) for document, verdict in documents]
    made: Mapping[str, Callable[[CurveSubject, int], Iterator[CurveLine]]] = {
        "trade-off": _trade_off, "power": _power, "posterior": lambda one, place: _posterior(one, place, Fraction(1, 20)),
    }  # fmt: skip
    figures: dict[str, Figure] = {}
    notes = [f"{one.name}: {one.reason}" for one in subjects if one.bound is None]
    notes += [f"{one.name}: {WITHIN}" for one in subjects if one.spec.multiverse.induced_by() != ()]
    if len(subjects) == 1:  # the page has its name above
        notes += [
            f"The two datasets are at distance {one.distance}" for one in subjects if one.distance != 1 and one.bound is not None
        ]
        subjects = [attrs.evolve(one, name="", distance=number(1)) for one in subjects]
    for panel in panels:
        lines: list[CurveLine] = []
        for place, subject in enumerate(subjects):
            with suppress(DpspecError):
                lines += made[panel](subject, place)
        if lines:
            figures[panel] = _chart(panel, lines, "5 %", size="column", theme="page")
    return RiskFigures(figures=figures, notes=tuple(notes))


def _chart(panel: str, lines: Sequence[CurveLine], level: str, *, size: str, theme: str, note: str = "") -> Figure:
    title, axis = _TITLES[panel]
    bars = {"power": ("level of the test", LEVELS), "error": ("share of all draws of the noise", SHARES)}.get(panel, ("", ()))
    one = CurvePanel(
        title=title, axis=axis, lines=tuple(lines), labels=tuple(_percent(share) for share in bars[1]), below=bars[0],
        powers=panel == "profile",
    )  # fmt: skip
    return chart(_HEADS[panel].format(level=level), [one], size=size, theme=theme, note=note)


def _percent(share: str) -> str:
    return f"{float(Fraction(share)) * 100:g} %"


def _lines_of(  # noqa: PLR0917 - one file, and the requested curves
    document: SpecDocument, panel: str, place: int, registry: Registry, distance: exact.NumberLike | None, level: Fraction
) -> tuple[list[CurveLine], list[str]]:
    """The series of one specification, and what could not be drawn of it."""
    if panel == "error":
        found = list(_error(document, place))
        return found, [] if found else [f"{document.id}: no noise on counts is known"]
    subject = curve_subject(document, distance)
    made: Mapping[str, Callable[[], Iterator[CurveLine]]] = {
        "trade-off": lambda: _trade_off(subject, place),
        "power": lambda: _power(subject, place),
        "posterior": lambda: _posterior(subject, place, level),
        "profile": lambda: _profile(subject, place, registry),
        "renyi": lambda: _renyi(subject, place, registry),
    }
    notes = [f"{subject.name}: {subject.reason}"] if subject.bound is None else []
    if subject.spec.multiverse.induced_by() != ():
        notes.append(f"{subject.name}: {WITHIN}")
    if document.mechanism is not None and not subject.pairs:
        notes.append(f"{subject.name}: without a curve of its mechanism: {subject.own.scope.partition(':')[0]}")
    try:
        found = list(made[panel]())
    except DpspecError as fault:
        return [], [*notes, f"{subject.name}: {fault}"]
    if not found and not notes:
        notes = [f"{subject.name}: no finite number is known"]
    return found, notes
