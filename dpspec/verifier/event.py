"""The event that a person looks at in a refutation, and whether it proves the refutation by itself.

An event E *proves* that d_Pr(P_x, P_x') exceeds t when P(E) is above the largest probability that t allows an event of
probability Q(E), both known with certainty: P(E) > e^t Q(E) for pure privacy, P(E) - e^epsilon Q(E) > t for a hockey stick. Where
no single event does, as for divergences that are means over all outcomes, an event only illustrates, and the divergence proves.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Hashable, Iterable, Iterator, Sequence
from fractions import Fraction

import attrs
from flint import arb, ctx

from dpspec.base.errors import DpspecError
from dpspec.base.exact import Bracket, Number, number
from dpspec.base.log_linear import ball, floor_of
from dpspec.base.work import spend
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.laws.combine import Product
from dpspec.laws.continuous import LineLaw
from dpspec.laws.enclosures import EnclosedLaw
from dpspec.laws.exponential import Exponential, ExponentialLaw
from dpspec.laws.integers import IntegerLaw
from dpspec.laws.law import AtomicLaw, FiniteLaw, KnownLaw, Law, OutputValue
from dpspec.verifier.expression import Expression, form, value
from dpspec.verifier.outputs import kind_of, value_of
from dpspec.verifier.verdict import Event

Listed = FiniteLaw | ExponentialLaw | EnclosedLaw

_PRECISION = 128
_TRIED = 12
"""The number of most discriminating outcomes that are tried as events; then unions of them."""
_MOST_UNION = 512
_CUTS = 16
_FEW = 16
"""Of laws on infinitely many outcomes those are listed that hold all but about 2^-16."""
_FEWER = 4, 2, 1
"""And all but about 2^-4, 2^-2 or 2^-1 where that would be more than `_LOOKED_AT`: tables of many noisy cells."""
_LOOKED_AT = 10_000
_WORK_OF_A_MASS = 8
"""Units of work of the probability of one outcome under one law, for each of its factors."""
_GRAIN = 1 << 20
"""Log-ratios that agree to this many parts of 1 are taken as equal, and the likelier outcome comes first."""

ONE = number(1)


# --- probabilities --------------------------------------------------------------------------------


def probability(law: Law, event: Expression) -> Bracket | None:
    """P(E), in a bracket; None for a law whose outcomes are neither listed nor on a line.

    >>> str(probability(FiniteLaw.of({0: "3/4", 1: "1/4"}), Expression.listed([form(1)])))
    '1/4'
    """
    if isinstance(law, Listed):
        return _of_outcomes(law, [outcome for outcome in law.support if event.holds(outcome)])
    if event.interval is not None:
        return _of_interval(law, event)
    if isinstance(law, AtomicLaw) and event.members is not None:
        try:
            return _of_any(law, [value(member) for member in event.members])
        except ValueError:
            return None
    return None


def _of_any(law: Law, outcomes: Sequence[OutputValue]) -> Bracket:
    """P(outcomes) of a law whose outcomes have been listed."""
    if isinstance(law, Listed):
        held = law.bounds if isinstance(law, EnclosedLaw) else law.weights if isinstance(law, FiniteLaw) else set(law.support)
        return _of_outcomes(law, [outcome for outcome in outcomes if outcome in held])
    assert isinstance(law, AtomicLaw)  # noqa: S101 - of these kinds are the laws whose outcomes were listed
    with ctx.workprec(_PRECISION):
        return _probability(sum((law.mass(outcome, _PRECISION) for outcome in outcomes), arb(0)))


def _of_outcomes(law: Listed, outcomes: Sequence[OutputValue]) -> Bracket:
    if isinstance(law, EnclosedLaw):
        bounds = [law.bounds[outcome] for outcome in outcomes]
        low = sum((low for low, _ in bounds), Fraction(0))
        others = sum((law.bounds[o][0] for o in law.support), Fraction(0)) - low
        high = min(sum((high for _, high in bounds), law.rest), 1 - others)
        return Bracket(lower=Bracket.exactly(low).lower, upper=Bracket.exactly(high).upper)
    if isinstance(law, FiniteLaw):
        return Bracket.exactly(Fraction(sum(law.weights[outcome] for outcome in outcomes), law.total))
    total = sum((law.probability(outcome) for outcome in outcomes), Exponential())
    constant = total.rational()
    return _probability(total.enclose(_PRECISION)) if constant is None else Bracket.exactly(constant)


def _of_interval(law: Law, event: Expression) -> Bracket | None:
    """P(low <= number < high) of laws on a line, and of one entry of a product."""
    assert event.interval is not None  # noqa: S101 - ensured by the caller
    place, (low, high) = event.interval
    if isinstance(law, Product):
        return probability(law.laws[place], Expression.between(low, high)) if place < len(law.laws) else None
    if place:
        return Bracket.exactly(0)
    if not isinstance(law, KnownLaw):
        return None
    total = arb(0)
    with ctx.workprec(_PRECISION):
        for weight, part in law.parts():
            if isinstance(part, LineLaw):
                mass = part.between(low, high, _PRECISION) if low is None or high is None or low < high else arb(0)
            elif isinstance(part, IntegerLaw):
                ends = [None if end is None else Fraction(end.__ceil__()) for end in (low, high)]
                empty = None not in ends and ends[0] >= ends[1]  # type: ignore[operator]
                mass = arb(0) if empty else _cut(part, ends[0], ends[1])
            elif isinstance(part, FiniteLaw):
                mass = ball(_of_outcomes(part, [o for o in part.support if event.holds(o)]).lower.as_fraction())
            else:
                return None
            total += ball(weight) * mass
        return _probability(total)


def _cut(law: IntegerLaw, low: Fraction | None, high: Fraction | None) -> arb:
    above = arb(1) if low is None else law.tail(int(low), _PRECISION)[1]
    return above - (arb(0) if high is None else law.tail(int(high), _PRECISION)[1])


def _probability(enclosure: arb) -> Bracket:
    found = Bracket.around(enclosure, least=0)
    return Bracket(lower=min(found.lower, ONE), upper=min(found.upper, ONE))


# --- proofs ---------------------------------------------------------------------------------------


@attrs.frozen
class Asked:
    """The claim on a pair of laws: d_Pr(P, Q) <= limit."""

    divergence: OutputDivergence
    limit: Number

    @property
    def both_ways(self) -> bool:
        return self.divergence.is_symmetric

    def refuted_by(self, left: Bracket, right: Bracket) -> bool:
        """Whether an event with these probabilities proves that it is false."""
        return self.excess(left, right) > 0

    def excess(self, left: Bracket, right: Bracket) -> Fraction:
        """The certain excess of P(E) over the largest probability allowed, or of Q(E) where both ways count; -1 for unknown."""
        ways = [(left, right), (right, left)] if self.both_ways else [(left, right)]
        return max(self._excess(p, q) for p, q in ways)

    def _excess(self, p: Bracket, q: Bracket) -> Fraction:
        unknown = Fraction(-1)
        if self.limit.is_infinite or not p.lower > 0:
            return unknown
        try:
            with ctx.workprec(_PRECISION):
                limit = self.limit.enclose(_PRECISION).upper()
                allowed = self.divergence.largest_probability(q.upper.enclose(_PRECISION).upper(), limit)
                return floor_of((p.lower.enclose(_PRECISION) - allowed).lower()) or unknown if allowed.is_finite() else unknown
        except (DpspecError, ArithmeticError, ValueError):
            return unknown


def with_probabilities(event: Event, left: Law, right: Law, asked: Asked) -> Event | None:
    """The event with its probabilities under two laws, and whether it proves; None where they are not known."""
    if event.expression is None:
        return None
    ends = probability(left, event.expression), probability(right, event.expression)
    if ends[0] is None or ends[1] is None:
        return None
    return attrs.evolve(event, left=ends[0], right=ends[1], proves=asked.refuted_by(ends[0], ends[1]))


Ranked = tuple[OutputValue, Fraction, Fraction, Fraction, Fraction]
"""An outcome with the ends of P and of Q."""


# --- the choice -----------------------------------------------------------------------------------


def telling_event(left: Law, right: Law, asked: Asked) -> Event | None:
    """The event to show.

    Of the single outcomes that prove the refutation: the likeliest of those that only one of the two laws can produce, else the
    one that is certainly farthest beyond what is allowed. Where there is none, the first union of outcomes, or half-line, that
    proves it; else the outcome with the largest certain likelihood ratio, as an illustration.
    None for laws whose outcomes are neither listed nor on a line.
    """
    ranked = _ranked(left, right, both_ways=asked.both_ways)
    named = _OutcomeNames.of(left, right)
    singles = [_of_these([entry[0]], f"the outcome {named.name(entry[0])}", left, right, asked) for entry in _chosen(ranked)]
    proofs = [event for event in singles if event.proves]
    if proofs:
        alone = next((event for event in proofs if 0 in (event.left.upper, event.right.upper)), None)
        return alone or max(proofs, key=lambda event: asked.excess(event.left, event.right))
    first = singles[0] if singles else None
    for found in itertools.chain(_unions(left, right, asked), _half_lines(left, right, asked)):
        if found.proves:
            return found
        first = first or found
    return first


@attrs.frozen
class _OutcomeNames:
    """Names outcomes so that no two of them are written alike.

    Args:
        alike: the outcomes of each value, with the dataset on which they occur.
    """

    alike: dict[Hashable, dict[OutputValue, str]]

    @classmethod
    def of(cls, left: Law, right: Law) -> _OutcomeNames:
        alike: dict[Hashable, dict[OutputValue, str]] = {}
        for law, dataset in ((left, "x"), (right, "x'")):
            for outcome in law.support if isinstance(law, Listed) else ():
                held = alike.setdefault(value_of(outcome), {})
                held[outcome] = "x and x'" if held.get(outcome, dataset) != dataset else dataset
        return cls(alike)

    def name(self, outcome: OutputValue) -> str:
        """An outcome as it is written; with its type, and other outcomes of the same value, where there are some."""
        others = {other: where for other, where in self.alike.get(value_of(outcome), {}).items() if other != outcome}
        if not others:
            return str(outcome)
        further = ", ".join(f"{_typed(other)} on {where}" for other, where in others.items())
        return f"{_typed(outcome)}, distinct from {further}"


def _typed(outcome: OutputValue) -> str:
    text, kind = str(outcome), kind_of(outcome)
    return text if kind in text or kind in ("raises", "printed") else f"{text} ({kind})"


def _chosen(ranked: Sequence[Ranked]) -> Sequence[Ranked]:
    """The most discriminating outcomes, and the likeliest ones."""
    likely = sorted(ranked, key=lambda entry: -max(entry[1], entry[3]))[:_TRIED]
    return list(dict.fromkeys((*ranked[:_TRIED], *likely)))


def _outcomes(left: Law, right: Law) -> list[OutputValue]:
    if isinstance(left, Listed) and isinstance(right, Listed):
        return list(dict.fromkeys((*left.support, *right.support)))
    if isinstance(left, AtomicLaw) and isinstance(right, AtomicLaw):
        found: list[OutputValue] = []
        for precision in (_FEW, *_FEWER):
            try:
                found = list(dict.fromkeys((*left.window(precision), *right.window(precision))))
            except DpspecError:
                continue
            if len(found) <= _LOOKED_AT:
                break
        return found
    return []


def _ranked(left: Law, right: Law, *, both_ways: bool) -> list[Ranked]:
    """The outcomes by the ratio that is certain, the largest first."""
    outcomes = _outcomes(left, right)
    spend(_WORK_OF_A_MASS * len(outcomes) * (len(left.factors()) + len(right.factors())))
    found = [(outcome, *_ends(left, outcome), *_ends(right, outcome)) for outcome in outcomes]
    return sorted(found, key=lambda entry: _rank(*entry, both_ways=both_ways))


def _ends(law: Law, outcome: OutputValue) -> tuple[Fraction, Fraction]:
    if isinstance(law, FiniteLaw):
        return law.probability(outcome), law.probability(outcome)
    if isinstance(law, EnclosedLaw):
        low, high = law.bounds.get(outcome, (Fraction(0), Fraction(0)))
        return low, min(high + law.rest, Fraction(1))
    assert isinstance(law, AtomicLaw)  # noqa: S101 - of these kinds are the laws whose outcomes were listed
    found = _probability(law.mass(outcome, 64))
    return found.lower.as_fraction(), found.upper.as_fraction()


def _rank(
    outcome: OutputValue, p_low: Fraction, p_high: Fraction, q_low: Fraction, q_high: Fraction, *, both_ways: bool
) -> tuple[int, int, Fraction, str]:
    ways = [(p_low, q_high)] + ([(q_low, p_high)] if both_ways else [])
    for low, high in ways:
        if low and not high:
            return 0, 0, -low, repr(outcome)
    ratio = max((low / high for low, high in ways if high), default=Fraction(0))
    return 1, -_log(ratio), -max(p_low, q_low), repr(outcome)


def _log(ratio: Fraction) -> int:
    """ln of a ratio in units of 2^-20; that of 0 is below all."""
    return round((math.log(ratio.numerator) - math.log(ratio.denominator)) * _GRAIN) if ratio else -sys.maxsize


def _of_these(outcomes: Sequence[OutputValue], text: str, left: Law, right: Law, asked: Asked) -> Event:
    p, q = _of_any(left, outcomes), _of_any(right, outcomes)
    expression = Expression.listed(map(form, outcomes))
    return Event(text=text, left=p, right=q, expression=expression, proves=asked.refuted_by(p, q))


def _unions(left: Law, right: Law, asked: Asked) -> Iterator[Event]:
    """The k outcomes of the largest ratios together, k = 2, 3, ...: the best events, by Neyman and Pearson."""
    for laws in ((left, right), (right, left)) if asked.both_ways else ((left, right),):
        ranked = [entry[0] for entry in _ranked(*laws, both_ways=False)][:_MOST_UNION]
        for size in _sizes(len(ranked)):
            yield _of_these(ranked[:size], _named(ranked[:size]), left, right, asked)


def _sizes(most: int) -> Iterable[int]:
    return range(2, most) if most <= _TRIED else sorted({2 + (most - 3) * i // _TRIED for i in range(_TRIED + 1)})


def _named(outcomes: Sequence[OutputValue]) -> str:
    shown = ", ".join(map(str, outcomes[:8]))
    return f"one of the outcomes {shown}" + (f" and {len(outcomes) - 8} others" if len(outcomes) > 8 else "")


def _half_lines(left: Law, right: Law, asked: Asked) -> Iterator[Event]:
    """number >= c and number < c, at cuts from the middle of the laws outward, so that likely ones come first."""
    unknown = Bracket(lower=number(0), upper=ONE)
    for place, (mine, its) in enumerate(_entries(left, right)):
        name = "out" if not isinstance(left, Product) else f"out[{place}]"
        for cut in _cuts(mine, its):
            for low, high, sign in ((cut, None, ">="), (None, cut, "<")):
                event = Event(
                    text=f"{name} {sign} {cut}", left=unknown, right=unknown, expression=Expression.between(low, high, place)
                )
                found = with_probabilities(event, left, right, asked)
                if found is not None:
                    yield found


def _entries(left: Law, right: Law) -> list[tuple[Law, Law]]:
    if isinstance(left, Product) and isinstance(right, Product) and len(left.laws) == len(right.laws):
        return list(zip(left.laws, right.laws, strict=True))
    return [(left, right)]


def _cuts(left: Law, right: Law) -> list[Fraction]:
    points: set[Fraction] = set()
    centers: list[Fraction] = []
    for law in (left, right):
        for _, part in law.parts() if isinstance(law, KnownLaw) else ():
            if isinstance(part, (LineLaw, IntegerLaw)):
                all_points = part.breakpoints(64)
                points.update(all_points[:: max(1, len(all_points) // _CUTS)])
                centers.append(Fraction(part.center))
    if not centers:
        return []
    middle = sum(centers, Fraction(0)) / len(centers)
    return sorted({*points, *centers}, key=lambda point: (abs(point - middle), point))
