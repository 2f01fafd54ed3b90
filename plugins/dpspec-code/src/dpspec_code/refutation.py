"""Refutation by one pair of datasets, from the laws of plain code on it, where the whole space is not decided.

On a space too large to list, or for code whose noise no shift hides, the laws of single pairs of datasets can still refute a
claim: finite laws are compared directly, laws of noise on cells of the output (`dpspec_code.automatic.cells`). This module only
refutes; it never verifies. Probabilities of cells are taken with a margin of one part in a thousand, so that no code is refuted
by the rounding of noise to a fine grid.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import attrs
from flint import ctx

from dpspec import DpspecError, Outcome, Verdict
from dpspec.plugin import Bracket, Dataset, Law, PrivacySpec, number
from dpspec.plugin.judges import (
    INFINITY,
    ONE_PAIR,
    Asked,
    EnclosedLaw,
    Event,
    Expression,
    UniverseResult,
    Witness,
    asked_of,
    presented,
    telling_event,
)
from dpspec_code.automatic.boxes import NoCells
from dpspec_code.automatic.cells import CellName, CommonCells
from dpspec_code.automatic.coupling import NoisyLaw
from dpspec_code.clock import SYSTEM_CLOCK, SearchClock
from dpspec_code.sampled.calls import ChosenPair, Tried, pairs

_DATASETS, _PAIRS = 48, 32
"""The number of datasets, and of pairs of different laws, that are compared."""
_ALMOST = 0.98
"""Estimates that are this close to the claim are computed rigorously."""
_PATIENCE = 8
"""So many pairs without cells, one after the other, and the code is taken for one that has none."""
_PRECISION = 64
_MARGIN = Fraction(1, 1000)
"""Rounding of noise to a fine grid before it is compared changes probabilities by so much, and is not what a claim is about:
with delta = 0.01 at a threshold, a grid of 2^-10 makes it 0.010004."""

LawOn = Callable[[Dataset], Law]


def exceeding_pair(
    law_on: LawOn,
    spec: PrivacySpec,
    *,
    seed: int,
    seconds: float,
    clock: SearchClock = SYSTEM_CLOCK,
    given: Sequence[tuple[Dataset, Dataset]] = (),
) -> tuple[Verdict, tuple[Dataset, Dataset]] | str:
    """A refutation by the laws on one pair, with the pair; or why there is none.

    Args:
        law_on: the law of the code on a dataset; raises NotEnumerableError where it is not read off.
        spec: the claim.
        seed: chooses some of the datasets.
        seconds: of processor time, after which no further pair is begun.
        clock: measures the time.
        given: pairs that are compared before all others.
    """
    watch, found, misses = clock.watch(seconds), _Laws(law_on), 0
    seen: set[Hashable] = set()
    for pair in _one_after_the_other(given, spec, seed):
        if watch.left() <= 0 or misses > _PATIENCE or len(seen) > _PAIRS:
            break
        if pair.distance == 0 or pair.distance.is_infinite:
            continue
        try:
            laws = found.of(pair.left), found.of(pair.right)
            key = (found.number(laws[0]), found.number(laws[1]), str(pair.budget), str(pair.distance))
            if key in seen:
                continue
            seen.add(key)
            compared = _comparable(*laws, spec, pair)
            if compared is None:
                misses = 0
                continue
            divergence = spec.output_divergence.between(*compared, precision=_PRECISION)
        except (NoCells, DpspecError):
            misses += 1
            continue
        misses = 0
        with ctx.workprec(2 * _PRECISION):
            if divergence.lower.is_infinite or divergence.lower.enclose(2 * _PRECISION) > pair.bound:
                return _refuted(spec, pair, divergence, *compared), (pair.left, pair.right)
    return "no pair of the datasets that were checked violates it by its law"


def _comparable(left: Law, right: Law, spec: PrivacySpec, pair: ChosenPair) -> tuple[Law, Law] | None:
    """Both laws as they are compared; None where an estimate says that they are not beyond the claim."""
    if not isinstance(left, NoisyLaw) or not isinstance(right, NoisyLaw):
        return left, right
    cells = CommonCells.of(left, right)
    if cells.is_hidden:
        about = spec.output_divergence.between(*cells.about(), precision=_PRECISION)
        if not about.lower.is_infinite and float(about.lower) < _ALMOST * float(pair.bound):
            return None
    ours, theirs = cells.laws()
    return _with_margin(ours), _with_margin(theirs)


def _with_margin(law: EnclosedLaw) -> EnclosedLaw:
    """The law with all probabilities known to one part in a thousand only."""
    ends = {name: (low * (1 - _MARGIN), min(high * (1 + _MARGIN), Fraction(1))) for name, (low, high) in law.bounds.items()}
    return EnclosedLaw(ends)


def _one_after_the_other(given: Sequence[tuple[Dataset, Dataset]], spec: PrivacySpec, seed: int) -> Iterator[ChosenPair]:
    """The pairs that are given, then those of the datasets that are tried, which are listed only when they are needed."""
    for both in given:
        yield from pairs(both, spec)
    yield from _pairs(spec, seed)


def _pairs(spec: PrivacySpec, seed: int) -> list[ChosenPair]:
    """The pairs of the datasets that are tried: the nearest first, others are seldom farther beyond the claim; of those, one
    for each way in which the entries of two datasets differ, whatever their order, then the second ones, and so on."""
    ranks: Counter[Hashable] = Counter()
    ordered: list[tuple[float, int, int, ChosenPair]] = []
    for pair in Tried.of(spec, seed).grow(_DATASETS, everything=True):
        way = (pair.length, *_differences(pair))
        ordered.append((pair.length, ranks[way], len(ordered), pair))
        ranks[way] += 1
    return [pair for *_, pair in sorted(ordered, key=lambda entry: entry[:3])]


def _differences(pair: ChosenPair) -> tuple[Hashable, ...]:
    """The entries that are in one dataset and not in the other."""
    sides = [
        Counter(map(repr, one)) if isinstance(one, list | tuple) else Counter([repr(one)])
        for one in map(presented, (pair.left, pair.right))
    ]
    return tuple(sorted((sides[0] - sides[1]).items())), tuple(sorted((sides[1] - sides[0]).items()))


@attrs.define(eq=False)
class _Laws:
    """The laws on datasets, each read off once."""

    law_on: LawOn
    known: dict[str, Law] = attrs.field(factory=dict)
    numbers: dict[Hashable, int] = attrs.field(factory=dict)

    def of(self, dataset: Dataset) -> Law:
        written = repr(dataset)
        if written not in self.known:
            self.known[written] = self.law_on(dataset)
        return self.known[written]

    def number(self, law: Law) -> int:
        """Equal laws have one number."""
        return self.numbers.setdefault(law.leaves if isinstance(law, NoisyLaw) else law, len(self.numbers))


def _refuted(spec: PrivacySpec, pair: ChosenPair, divergence: Bracket, ours: Law, theirs: Law) -> Verdict:
    lower = INFINITY
    if not divergence.lower.is_infinite:
        lower = Bracket.around(divergence.lower.enclose() / pair.distance.enclose()).lower
    sure = Bracket(lower=divergence.lower, upper=INFINITY)  # in cells, or not: nothing is said from above
    witness = Witness(
        universe=pair.universe, left=pair.left, right=pair.right, distance=pair.distance, divergence=sure, bound=pair.budget
    )
    asked = asked_of(spec, witness)
    listed = isinstance(ours, EnclosedLaw) and isinstance(theirs, EnclosedLaw)
    event = _event(ours, theirs, asked) if listed else telling_event(ours, theirs, asked)  # type: ignore[arg-type]
    result = UniverseResult(
        label=pair.universe, datasets=2, pairs=1, constant=Bracket(lower=lower, upper=INFINITY), bound=pair.budget,
        outcome=Outcome.REFUTED, attained=(pair.left, pair.right),
    )  # fmt: skip
    witness = attrs.evolve(witness, event=event)
    return Verdict(outcome=Outcome.REFUTED, method="exhaustive", scope=ONE_PAIR, universes=(result,), witness=witness)


def _event(ours: EnclosedLaw, theirs: EnclosedLaw, asked: Asked) -> Event | None:
    """The event to show of laws in cells: one that proves, where there is one; half-lines before single cells."""
    names = [name for name in ours.bounds if isinstance(name, CellName)]
    if len(names) < len(ours.bounds):
        return telling_event(ours, theirs, asked)
    events = [_union(chosen, ours, theirs, asked) for chosen in _unions(names, ours, theirs)]
    return max(events, key=lambda event: (event.proves, asked.excess(event.left, event.right)))


def _unions(names: list[CellName], ours: EnclosedLaw, theirs: EnclosedLaw) -> Iterator[list[CellName]]:
    yield from ([name] for name in names)
    line = _on_a_line(names)
    yield from (part for cut in range(1, len(line)) for part in (line[:cut], line[cut:]))
    ranked = sorted(names, key=lambda name: -_ratio(ours, theirs, name))
    yield from (part for size in range(2, len(ranked)) for part in (ranked[:size], ranked[-size:]))


def _ratio(ours: EnclosedLaw, theirs: EnclosedLaw, name: CellName) -> Fraction:
    return ours.bounds[name][0] / max(theirs.bounds[name][1], Fraction(1, 1 << 200))


def _on_a_line(names: list[CellName]) -> list[CellName]:
    """The cells in order, where outputs are single numbers of one type."""
    numbers = [name for name in names if name.shape is not None]
    if len({name.shape for name in numbers}) > 1 or any(len(name.ends) != 1 or name.ends[0] is None for name in numbers):
        return []
    return sorted(numbers, key=_low)


def _low(name: CellName) -> tuple[bool, Any]:
    low = name.ends[0][0] if name.ends[0] is not None else None
    return low is not None, low or 0


def _union(names: list[CellName], ours: EnclosedLaw, theirs: EnclosedLaw, asked: Asked) -> Event:
    ends = [_together(law, names) for law in (ours, theirs)]
    text, expression = " or ".join(map(str, names[:6])) + (f" or {len(names) - 6} more" if len(names) > 6 else ""), None
    line = _on_a_line(names) if all(name.shape is not None for name in names) else []
    sides = [name.ends[0] for name in line if name.ends[0] is not None]
    if sides and all(one[1] == other[0] for one, other in itertools.pairwise(sides)):
        low, high = sides[0][0], sides[-1][1]
        lines = [f"out {sign} {float(end):.8g}" for sign, end in ((">=", low), ("<", high)) if end is not None]
        text = " and ".join(lines) or "any number"
        alone = len({name.shape for name in ours.bounds if name.shape is not None}) == 1  # type: ignore[attr-defined]
        expression = Expression.between(low, high) if alone else None
    return Event(text=text, left=ends[0], right=ends[1], expression=expression, proves=asked.refuted_by(*ends))


def _together(law: EnclosedLaw, names: list[CellName]) -> Bracket:
    low, high = (sum((law.bounds[name][way] for name in names), Fraction(0)) for way in (0, 1))
    return Bracket(lower=number(low), upper=number(min(high, Fraction(1))))
