"""From many pairs to a refutation, and from a refutation to the witness that people read.

*Screening*: every dataset is drawn from a little, every pair is compared on a pool of events, the best go on.
Halving: few draws and optimistic ranks first, more draws and cautious ranks later. What is seen here only says where to look; no
verdict rests on it.

*Shrinking*: a smaller pair, a shorter event, both probabilities on fresh draws.

Nothing shrinks on the strength of draws that suggested it: a smaller pair and a shorter event must each refute the claim again,
at the full error, on draws never seen. What fails is dropped and the next one is tried.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction as Rational
from functools import lru_cache
from typing import Any

import attrs
import numpy as np
from flint import ctx

from dpspec import DpspecError, Outcome, Verdict
from dpspec.plugin import Bracket, Dataset, Floats, Number, OutputDivergence, PrivacySpec, number
from dpspec.plugin.judges import (
    INFINITY,
    Atom,
    Event,
    Expression,
    Outcomes,
    Shape,
    UniverseResult,
    Witness,
    count,
    filled,
    numbers,
    written,
)
from dpspec_code.clock import SYSTEM_CLOCK, SearchClock
from dpspec_code.sampled.calls import Calls, ChosenPair, Function, OutOfDraws, Stuck, pair_order, pairs
from dpspec_code.sampled.events import (
    ANYWHERE,
    COMBINED,
    MOST_PLACES,
    Atoms,
    OutputEvent as SampledEvent,
    Projection,
    Ranges,
    Shapes,
    Whole,
    projections,
)
from dpspec_code.sampled.null import (
    CONFIDENCE,
    PRECISION,
    Null,
    anytime_interval,
    bounds_refute,
    bracket,
    draws_for,
    interval,
    least_bound,
)
from dpspec_code.sampled.search import Account, EventCounts, FoundEvent, simplest, weight

QUANTILES = (0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1.0)
POOL = 6_000
_STRONG = 5.5
"""Standard errors beyond which a pair counts as plainly violating, so that the smallest such pair comes first."""


@attrs.define(eq=False)
class Samples:
    """The draws that were spent on looking, by dataset, and how many there would be if no call had been cut."""

    calls: Calls
    held: dict[str, Outcomes] = attrs.field(factory=dict)
    drawn: dict[str, int] = attrs.field(factory=dict)

    def of(self, dataset: Dataset) -> Outcomes:
        return self.held.get(repr(dataset)) or Outcomes.of([])

    def extend(self, dataset: Dataset, size: int) -> None:
        """Draw until the dataset has `size` draws, those that were cut included."""
        now, drawn = self.of(dataset), self.drawn.get(repr(dataset), 0)
        if drawn < size:
            fresh = self.calls.draw(dataset, f"look-{drawn}", size - drawn)
            self.held[repr(dataset)], self.drawn[repr(dataset)] = now + fresh if len(now) else fresh, size


@attrs.define(eq=False)
class Nulls:
    """The null sets of a divergence, one for each bound (a divergence that has no hash is not remembered between runs)."""

    divergence: OutputDivergence
    held: dict[tuple[Number, Number], Null] = attrs.field(factory=dict)

    def of(self, pair: ChosenPair) -> Null:
        key = (pair.budget, pair.distance)
        if key not in self.held:
            try:
                self.held[key] = _null(self.divergence, *key)
            except TypeError:
                self.held[key] = Null(self.divergence, pair.bound)
        return self.held[key]


@lru_cache(maxsize=128)
def _null(divergence: OutputDivergence, budget: Number, distance: Number) -> Null:
    """Null sets are remembered between runs: their tables are the same, and cost more than many draws."""
    return Null(divergence, budget.enclose(PRECISION) * distance.enclose(PRECISION))


def pooled_counts(samples: Sequence[Outcomes]) -> Iterator[Floats]:
    """How often each event of a common pool holds in each sample, some events at a time: one row per sample."""
    yield _frequent(samples, 40)
    yield _frequent(samples, 12, shapes=True)
    share = max(1, sum(map(len, samples)) // POOL)
    pool = Outcomes.from_atoms([atom for sample in samples for atom in sample.atoms[::share]])
    if len(pool.groups) > 1:
        for whole in map(Whole, ANYWHERE):
            values = [
                np.concatenate([whole.of(matrix) for _, matrix in sample.groups.values()] or [np.zeros(0)]) for sample in samples
            ]
            owner = np.repeat(np.arange(len(samples)), [len(value) for value in values])
            yield _below(np.concatenate(values), owner, len(samples))
    for shape, (rows, matrix) in sorted(pool.groups.items(), key=_commonest)[:8]:
        if matrix.shape[1] and len(rows) >= 20:
            yield from _pooled(samples, shape, matrix)


def _pooled(samples: Sequence[Outcomes], shape: Shape, matrix: Floats) -> Iterator[Floats]:
    """The same for outputs of one shape, of which a matrix holds a pool."""
    owners = [place for place, sample in enumerate(samples) if shape in sample.groups]
    numbers = np.concatenate([samples[place].groups[shape][1] for place in owners])
    owner = np.repeat(owners, [len(samples[place].groups[shape][1]) for place in owners])
    wide = matrix.shape[1] > MOST_PLACES
    for projection in projections(matrix, None if not wide else range(COMBINED)):
        below = _below(projection.of(numbers), owner, len(samples), projection.of(matrix))
        yield below
        if matrix.shape[1] == 1:
            yield np.diff(below, axis=1, prepend=0.0)
    if wide:
        levels = np.quantile(matrix, (0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99), axis=0, method="higher")
        rows_of = [numbers[owner == place] for place in range(len(samples))]
        counts = [[(rows < level).sum(axis=0) for level in levels] for rows in rows_of]
        yield np.array(counts, dtype=float).reshape(len(samples), -1)


def _below(values: Floats, owner: Any, samples: int, pool: Floats | None = None) -> Floats:
    """How many values of each sample lie below each of some quantiles."""
    cuts = np.unique(np.quantile(values if pool is None else pool, QUANTILES, method="higher"))
    counts = np.zeros((samples, len(cuts) + 1))
    np.add.at(counts, (owner, np.searchsorted(cuts, values, side="right")), 1.0)
    found: Floats = np.cumsum(counts, axis=1)
    return found


def _commonest(item: tuple[Shape, tuple[Any, Floats]]) -> tuple[int, str]:
    return -len(item[1][0]), repr(item[0])


def _frequent(samples: Sequence[Outcomes], most: int, *, shapes: bool = False) -> Floats:
    counters: list[Counter[Any]] = [
        Counter(atom[0] for atom in sample.atoms) if shapes else Counter(sample.atoms) for sample in samples
    ]
    common: Counter[Any] = Counter()
    for counter in counters:
        common.update(counter)
    kept = sorted((key for key in common if common[key] > 3), key=lambda key: (-common[key], repr(key)))[:most]
    return np.array([[counter[key] for key in kept] for counter in counters], dtype=float).reshape(len(samples), len(kept))


def excesses(pairs: Sequence[ChosenPair], samples: Samples, nulls: Nulls, *, both_ways: bool) -> Floats:
    """For every pair the largest excess over the claim, in standard errors, among a pool of events.

    Raises:
        OutOfDraws: when the time is over on the way.
    """
    names = {repr(dataset): dataset for pair in pairs for dataset in (pair.left, pair.right)}
    places = {name: place for place, name in enumerate(names)}
    held = [samples.of(dataset) for dataset in names.values()]
    sizes = np.array([max(len(sample), 1) for sample in held], dtype=float)
    counts = [samples.calls.in_time(some) for some in pooled_counts(held)]
    probabilities = (np.concatenate(counts, axis=1) + 0.5) / (sizes[:, None] + 1.0)
    found = np.zeros(len(pairs))
    groups: dict[int, tuple[Null, list[int]]] = {}
    for place, pair in enumerate(pairs):
        null = nulls.of(pair)
        groups.setdefault(id(null), (null, []))[1].append(place)
    for null, members in groups.values():
        for start in range(0, len(members), 512):
            some = members[start : start + 512]
            first = np.array([places[repr(pairs[i].left)] for i in some])
            second = np.array([places[repr(pairs[i].right)] for i in some])
            p, q = samples.calls.in_time((probabilities[first], probabilities[second]))
            draws = np.minimum(sizes[first], sizes[second])[:, None]
            value = null.excess(p, q, draws).max(axis=1)
            if both_ways:
                value = np.maximum(value, null.excess(q, p, draws).max(axis=1))
            found[some] = value
    return found


def ranked(
    pairs: Sequence[ChosenPair], values: Floats, hints: Mapping[str, tuple[str, ...] | None], most: int
) -> list[ChosenPair]:
    """The most promising of some sorted pairs; among plain violations the smallest first; a few for which the calls differ."""
    order = sorted(range(len(pairs)), key=lambda i: (-min(float(values[i]), _STRONG), i))
    chosen = [pairs[i] for i in order[:most]]
    known = [(pairs[i], hints.get(repr(pairs[i].left)), hints.get(repr(pairs[i].right))) for i in order]
    differing = [pair for pair, left, right in known if None not in (left, right) and left != right]
    by_distance: dict[float, list[ChosenPair]] = defaultdict(list)
    for i in order:
        by_distance[pairs[i].length].append(pairs[i])
    spread = [held[0] for _, held in sorted(by_distance.items())[:4]]
    extra = [*differing[: max(1, most // 8)], *spread]
    return list({id(pair): pair for pair in [*chosen, *extra]}.values())


# --- shrinking ------------------------------------------------------------------------------------


GATES = 6
_REPLAYED = 20_000
_FEW, _MANY, _STEP = 2_000, 20_000, 500


@attrs.define(eq=False)
class Shrinker:
    """Shrinks the pair and the event of an account that refuted the claim.

    Args:
        spec: the claim.
        calls, samples, nulls: as in the search.
        tried: the pairs that were screened.
        log_needed: ln of 1/error.
        free: whether pairs that were not screened may be tried.
    """

    spec: PrivacySpec
    calls: Calls
    samples: Samples
    nulls: Nulls
    tried: Sequence[ChosenPair]
    log_needed: float
    free: bool = True
    gates: int = 0

    def shrink(self, account: Account) -> Account:
        """The smallest pair, then the shortest event, that passes the gate."""
        try:
            for _ in range(3):
                smaller = self._first_passing(account)
                if smaller is None:
                    break
                account = smaller
            return self._shorter(account)
        except (OutOfDraws, Stuck):
            return account

    def _first_passing(self, account: Account) -> Account | None:
        for pair in self._smaller(account):
            passed = self._pass(pair, account)
            if passed is not None:
                return passed
        return None

    def _smaller(self, account: Account) -> Iterator[ChosenPair]:
        """Smaller pairs that look as if they violated the claim, smallest first; the dearer the account, the closer the look."""
        space, pair = self.spec.space, account.pair
        size = min(8_000, max(1_500, account.spent // 16))
        order = pair_order(pair, space)
        known = {pair_order(other, space): other for other in [*(self._reduced(pair) if self.free else ()), *self.tried]}
        below = [known[key] for key in sorted(key for key in known if key < order)]
        if not below:
            return
        for other in [*below[:6], *below[-4:]]:
            for dataset in (other.left, other.right):
                self.samples.extend(dataset, size)
        seen = [other for other in below if len(self.samples.of(other.left)) and len(self.samples.of(other.right))]
        values = excesses(seen, self.samples, self.nulls, both_ways=self.spec.output_divergence.is_symmetric)
        promising = [other for other, value in zip(seen, values, strict=True) if value > 1.0]
        yield from promising[:GATES]

    def _reduced(self, pair: ChosenPair) -> list[ChosenPair]:
        """The pair without one entry that both lists have."""
        if not (isinstance(pair.left, tuple) and isinstance(pair.right, tuple)) or not self.spec.space.units:
            return []
        found: list[ChosenPair] = []
        for place, entry in enumerate(pair.left):
            others = [i for i, other in enumerate(pair.right) if repr(other) == repr(entry)]
            if others:
                shorter = [pair.left[:place] + pair.left[place + 1 :], pair.right[: others[0]] + pair.right[others[0] + 1 :]]
                found.extend(self._legal(shorter))
        return found

    def _legal(self, given: Sequence[Dataset]) -> list[ChosenPair]:
        try:
            both = [self.spec.space.dataset(dataset) for dataset in given]
        except DpspecError:
            return []
        return pairs(both, self.spec)

    def _pass(self, pair: ChosenPair, account: Account) -> Account | None:
        """A new account on the pair that reaches 1/error on fresh draws, within a few times what the first one needed."""
        if self.gates >= GATES:
            return None
        for dataset in (pair.left, pair.right):
            self.samples.extend(dataset, 3000)
        fresh = self._account(pair, self.samples.of(pair.left), self.samples.of(pair.right))
        return fresh if self._won(fresh, 4 * account.spent + 8_000) else None

    def _account(self, pair: ChosenPair, left: Outcomes, right: Outcomes) -> Account:
        self.gates += 1
        both_ways = self.spec.output_divergence.is_symmetric
        return Account(pair, self.nulls.of(pair), f"gate-{self.gates}", weight(self.gates), left, right, both_ways)

    def _won(self, account: Account, most: int) -> bool:
        room = min(most, int(0.8 * self.calls.left))
        while account.spent < room:
            account.step(self.calls, account.next_step(self.log_needed, room - account.spent))
            if account.log_wealth >= self.log_needed:
                return True
            if account.spent > 1000 and account.prospects()[1] * (room - account.spent) < self.log_needed - account.log_wealth:
                return False
        return False

    def _shorter(self, account: Account) -> Account:
        """The same pair with a simpler event, when the present one takes long to read."""
        if account.found is None or account.found.event.complexity <= 2:
            return account
        found = simplest(account.left, account.right, account.null, account.found.growth / 4, both_ways=account.both_ways)
        if found is None or found.event.complexity >= account.found.event.complexity:
            return account
        fresh = self._account(account.pair, account.left, account.right)
        fresh.found, fresh.fixed = found, True
        return fresh if self._won(fresh, 6 * account.spent + 8_000) else account


def _named(event: SampledEvent, account: Account) -> str:
    """The event in words; where other outputs have the same value, or are written alike, with their types."""
    sides = (account.left, "x"), (account.right, "x'")
    if isinstance(event, Atoms) and len(event.members) == 1:
        (member,) = event.members
        alike = [(other, side) for outcomes, side in sides for other in dict.fromkeys(outcomes.atoms) if _is_alike(member, other)]
        name = f"out = {_typed(member)}"
    elif isinstance(event, Shapes) and len(event.members) == 1:
        (shape,) = event.members
        member = shape, ()
        alike = [((other, ()), side) for outcomes, side in sides for other in outcomes.groups if _is_alike(member, (other, ()))]
        name = f"out is {_typed(member)}"
    else:
        return str(event)
    others: dict[Atom, list[str]] = {}
    for other, side in alike:
        others.setdefault(other, []).append(side)
    further = ", ".join(f"{_typed(other)} on {' and '.join(where)}" for other, where in others.items())
    return f"{name}, distinct from {further}" if others else str(event)


def _is_alike(one: Atom, other: Atom) -> bool:
    """Whether two different outputs are numbers of one value, or are written alike."""
    numbers = len(one[0]) == len(other[0]) == 1 and one[1] == other[1] and bool(one[1])
    return one != other and (numbers or written(one) == written(other))


def _typed(output: Atom) -> str:
    text, kind = written(output), str(output[0][0])
    return text if kind in text or kind == "raises" else f"{text} ({kind})"


class EvidenceError(DpspecError):
    """The event of a refutation satisfies the claim on fresh draws: a mistake in dpspec. No verdict is given."""

    code = "evidence"
    exit_code = 4


LEVELS = (CONFIDENCE, 0.99, 0.95)
"""The levels at which intervals are shown: the first one at which the event violates the claim."""
SURE = 1 - 1e-9
"""The level at which fresh draws contradict a refutation."""
_AGAIN = 4
"""So many times as many fresh draws are made while the event does not show the violation yet."""


def witness(account: Account, calls: Calls, log_error: float) -> Witness:
    """The witness of an account that refuted the claim.

    Both probabilities of its event are estimated on fresh draws. Where these are too few, because time or draws are over, the
    draws of the bet count too: they were made after the event was chosen.

    Raises:
        EvidenceError: the event certainly satisfies the claim on the fresh draws.
    """
    pair, found = account.pair, account.found
    if found is None:
        raise ValueError("an account that refuted has an event")
    size = max(min(_FEW, calls.left // 2), min(account.spent // 2, _MANY, calls.left // 2))
    shown, readable = _Shown(account.null, pair), _readable(found)
    fresh = {found.event: EventCounts(), readable.event: EventCounts()}
    best: _ShownEvent | None = None
    with contextlib.suppress(OutOfDraws, Stuck):
        for counted in _counted([*fresh], pair, calls, size):
            fresh = counted
            made = fresh[found.event].left[2]
            if made >= size:
                first = shown.fresh(readable, fresh[readable.event]) if made == size else None
                best = first or shown.pooled(account.evidence, found, fresh[found.event])
            if best is not None:
                break
    held = account.evidence, found, fresh[found.event]
    if shown.is_contradicted(found, fresh[found.event]):
        drawn = count(fresh[found.event].left[2], "fresh draw")
        rule = f"satisfies the claim in {drawn} on each dataset, although bets on it refuted the claim"
        raise EvidenceError(
            "event", rule, "report it: this is a mistake in dpspec, and the claim is not decided", value=found.event
        )
    best = best or shown.pooled(*held) or shown.widest(*held)
    proved = shown.least(best)
    allowed = Bracket.around(pair.bound).upper
    lower = INFINITY if math.isinf(proved) else max(allowed, number(float(f"{proved:.6g}")))
    distance = float(pair.distance)
    ratio = proved / distance if distance else math.inf
    loss = f": at least {ratio:.4g} per unit distance where {float(pair.budget):.4g} is allowed" if best.proves else ""
    bets = f"probability of a wrong verdict at most {math.exp(log_error):.0e} ({count(account.spent, 'run')})"
    return Witness(
        universe=pair.universe,
        left=pair.left,
        right=pair.right,
        distance=pair.distance,
        divergence=Bracket(lower=lower, upper=INFINITY),
        bound=pair.budget,
        event=Event(
            text=_named(best.event, account),
            left=best.left,
            right=best.right,
            expression=best.event.expression,
            proves=best.proves,
        ),
        note=f"both intervals at {best.source}{loss}; {bets}",
    )


@attrs.frozen(kw_only=True)
class _ShownEvent:
    """An event with the intervals that are shown, whether these violate the claim, and where they come from."""

    event: SampledEvent
    turned: bool
    left: Bracket
    right: Bracket
    proves: bool
    source: str


@attrs.frozen
class _Shown:
    """Decides which event of an account is shown, and with which intervals.

    Args:
        null: what the claim allows.
        pair: x and x'.
    """

    null: Null
    pair: ChosenPair

    def fresh(self, found: FoundEvent, fresh: EventCounts) -> _ShownEvent | None:
        """The event with intervals from fresh draws, their number fixed before; None where they do not violate the claim."""
        text = f"{CONFIDENCE:.1%} from {count(fresh.left[2], 'fresh draw')} a side"
        shown = self._shown(found, fresh, interval, text)
        return shown if shown.proves else None

    def pooled(self, evidence: Mapping[SampledEvent, EventCounts], found: FoundEvent, fresh: EventCounts) -> _ShownEvent | None:
        """The event of which the draws of the bet and the fresh ones together violate the claim; None where none does."""
        held = self._held(evidence, found, fresh)
        for level in LEVELS:
            for one, counts in held:
                shown = self._anytime(one, counts, level, len(held))
                if shown.proves:
                    return shown
        return None

    def widest(self, evidence: Mapping[SampledEvent, EventCounts], found: FoundEvent, fresh: EventCounts) -> _ShownEvent:
        """The event of the last bets with what all draws say of it."""
        held = self._held(evidence, found, fresh)
        return self._anytime(*held[0], CONFIDENCE, len(held))

    def least(self, shown: _ShownEvent) -> float:
        """The least bound on the divergence that allows what is shown."""
        large, small = (shown.right, shown.left) if shown.turned else (shown.left, shown.right)
        return least_bound(self.null.divergence, float(large.lower), float(small.upper)) if shown.proves else 0.0

    def is_contradicted(self, found: FoundEvent, fresh: EventCounts) -> bool:
        """Whether the fresh draws certainly satisfy the claim, in the direction in which the bets refuted it."""
        ends = [interval_of(hits, made - ended, made, SURE) for hits, ended, made in (fresh.left, fresh.right)]
        large, small = (ends[1], ends[0]) if found.turned else (ends[0], ends[1])
        return bool(self.null.ball(small[0]) >= large[1])

    def _held(
        self, evidence: Mapping[SampledEvent, EventCounts], found: FoundEvent, fresh: EventCounts
    ) -> list[tuple[FoundEvent, EventCounts]]:
        """The events that were bet on with their counts, the last one first."""
        others = [(attrs.evolve(found, event=event), counts) for event, counts in evidence.items() if event != found.event]
        return [(found, evidence.get(found.event, EventCounts()) + fresh), *others]

    def _anytime(self, found: FoundEvent, counts: EventCounts, level: float, events: int) -> _ShownEvent:
        draws = f"{counts.left[2]:,} and {counts.right[2]:,} draws"
        text = f"{level:.1%}, valid whenever draws end, from {draws} of bets and after them"
        each = 1 - (1 - level) / events
        best = [
            self._shown(attrs.evolve(found, turned=turned), counts, lambda hits, size: anytime_interval(hits, size, each), text)
            for turned in ((False, True) if self.null.divergence.is_symmetric else (found.turned,))
        ]
        return next((shown for shown in best if shown.proves), best[int(found.turned) if len(best) > 1 else 0])

    def _shown(
        self, found: FoundEvent, counts: EventCounts, ends_of: Callable[[int, int], tuple[float, float]], source: str
    ) -> _ShownEvent:
        ends = [
            (ends_of(hits, made)[0], ends_of(hits + made - ended, made)[1]) if made else (0.0, 1.0)
            for hits, ended, made in (counts.left, counts.right)
        ]
        left, right = map(bracket, ends)
        large, small = (right, left) if found.turned else (left, right)
        with ctx.workprec(PRECISION):
            allowed = self.null.divergence.largest_probability(small.upper.enclose(PRECISION).upper(), self.null.bound)
            proves = bool(large.lower.enclose(PRECISION) > allowed)
        return _ShownEvent(event=found.event, turned=found.turned, left=left, right=right, proves=proves, source=source)


def _counted(
    events: Sequence[SampledEvent], pair: ChosenPair, calls: Calls, size: int
) -> Iterator[dict[SampledEvent, EventCounts]]:
    """The counts of events in more and more fresh draws on both datasets: `size` of each, and then up to a few times as many."""
    counts, drawn = dict.fromkeys(events, EventCounts()), 0
    while drawn < _AGAIN * size:
        step = min(_STEP, size - drawn) if drawn < size else min(size, calls.left // 2)
        if step <= 0:
            return
        made = calls.draw(pair.left, f"report-{drawn}", step), calls.draw(pair.right, f"report-{drawn}", step)
        counts = {event: counted + EventCounts.of(event, made, (step, step)) for event, counted in counts.items()}
        drawn += step
        yield counts


def interval_of(hits: int, unknown: int, size: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The interval for the probability of an event where it is unknown of some draws whether it happened."""
    if not size:
        return 0.0, 1.0
    return interval(hits, size, confidence)[0], interval(hits + unknown, size, confidence)[1]


def refuted(found: Witness, scope: str, *, pairs: int = 1, datasets: int = 2) -> Verdict:
    """The verdict that a witness of sampling makes."""
    distance = found.distance.enclose()
    ratio = Bracket.around(found.divergence.lower.enclose() / distance).lower if distance > 0 else INFINITY
    result = UniverseResult(
        label=found.universe,
        datasets=datasets,
        pairs=pairs,
        constant=Bracket(lower=max(found.bound, ratio), upper=INFINITY),
        bound=found.bound,
        outcome=Outcome.REFUTED,
        attained=(found.left, found.right),
    )
    return Verdict(outcome=Outcome.REFUTED, method="sampled", scope=scope, universes=(result,), witness=found)


def event_counts(
    function: Function,
    spec: PrivacySpec,
    pair: tuple[Dataset, Dataset],
    event: Expression,
    sampling: Mapping[str, Any],
    *,
    clock: SearchClock = SYSTEM_CLOCK,
) -> tuple[Bracket, Bracket]:
    """The probabilities of a given event on fresh draws, in intervals of which each is wrong with half of the error."""
    draws = min(int(sampling.get("draws") or _REPLAYED), _REPLAYED)
    calls = Calls(
        function=function, space=spec.space, claim="replay", seed=int(sampling["seed"]), draws=2 * draws, limit=0.1, clock=clock
    )
    with calls.guarded():
        drawn = [calls.draw(dataset, "replay", draws) for dataset in pair]
    hits = [sum(event.holds_of(filled(shape, iter(found))) for shape, found in outcomes.atoms) for outcomes in drawn]
    cut = [draws - len(outcomes) for outcomes in drawn]
    confidence = 1 - float(sampling["error"])
    left, right = (bracket(interval_of(hit, unknown, draws, confidence)) for hit, unknown in zip(hits, cut, strict=True))
    return left, right


def _readable(found: FoundEvent) -> FoundEvent:
    """The event, or its complement where both probabilities are large: what is allowed of the one is allowed of the other."""
    other = found.event.complement() if isinstance(found.event, Ranges) else None
    if other is None or min(found.alternative) < 0.5:
        return found
    return attrs.evolve(found, event=other, turned=not found.turned)


# --- what would have been found --------------------------------------------------------------------


COVERED = 16
"""The number of datasets that are searched, each with those nearest to it."""
SUGGESTING = 300
"""Draws of each dataset that suggest the events."""
CHUNK = 4_000


@attrs.frozen(kw_only=True)
class Fault:
    """The size of a fault that would have been found: a loss per unit distance, the mass of its events, and the power.

    Args:
        loss: in the units of the budget, above it.
        mass: the least probability of the event on the one dataset, and of its complement on the other.
        power: the probability of finding it, for each pair and event.
    """

    loss: Number
    mass: Rational
    power: Rational = Rational(99, 100)


@attrs.frozen(kw_only=True)
class Covered:
    """The pairs and events for which a fault would have been found; `why` states what is missing, where that is not so."""

    text: str
    why: str = ""


@attrs.define(eq=False)
class _Catalogue:
    """The events that some draws suggest: frequent outcomes, forms, and half-lines of the numbers of an output."""

    atoms: list[Atom]
    shapes: list[Shape]
    ranges: list[tuple[Shape, Projection, Floats, bool]]

    @classmethod
    def of(cls, samples: Sequence[Outcomes]) -> _Catalogue:
        pool = Outcomes.from_atoms([atom for sample in samples for atom in sample.atoms])
        common = Counter(pool.atoms).most_common(40)
        atoms = sorted((atom for atom, times in common if times > 3), key=repr)
        shapes = sorted((shape for shape, (rows, _) in pool.groups.items() if len(rows) > 3), key=repr)[:12]
        ranges: list[tuple[Shape, Projection, Floats, bool]] = []
        for shape, (rows, matrix) in sorted(pool.groups.items(), key=_commonest)[:4]:
            if matrix.shape[1] and len(rows) >= 20:
                for projection in projections(matrix):
                    cuts = np.unique(np.quantile(projection.of(matrix), QUANTILES, method="higher"))
                    ranges.append((shape, projection, cuts, len(pool.groups) == 1))
        return cls(atoms, shapes if len(pool.groups) > 1 else [], ranges)

    def __len__(self) -> int:
        return len(self.atoms) + len(self.shapes) + sum(len(cuts) for _, _, cuts, _ in self.ranges)

    def count(self, outcomes: Outcomes) -> Floats:
        """How often each event holds."""
        counter = Counter(outcomes.atoms)
        found: list[Any] = [counter[atom] for atom in self.atoms]
        found += [len(outcomes.groups[shape][0]) if shape in outcomes.groups else 0 for shape in self.shapes]
        for shape, projection, cuts, _ in self.ranges:
            values = np.sort(projection.of(outcomes.groups[shape][1])) if shape in outcomes.groups else np.zeros(0)
            found += np.searchsorted(values, cuts, side="left").tolist()
        return np.array(found, dtype=float)

    def event(self, place: int) -> SampledEvent:
        if place < len(self.atoms):
            return Atoms(frozenset([self.atoms[place]]))
        place -= len(self.atoms)
        if place < len(self.shapes):
            return Shapes(frozenset([self.shapes[place]]))
        place -= len(self.shapes)
        for shape, projection, cuts, alone in self.ranges:
            if place < len(cuts):
                return Ranges(shape, _width(shape), projection, ((-math.inf, float(cuts[place])),), alone)
            place -= len(cuts)
        raise IndexError(place)


@attrs.define(kw_only=True, eq=False)
class Coverage:
    """A test of fixed size whose power is computed, not guessed: events from a first sample, bounds from a fresh one.

    Args:
        spec: the claim.
        calls: of the function.
        pairs: among which each dataset is compared with those nearest to it.
        fault: what it shall find.
        error: the probability of refuting a true claim, at most.
        seconds: processor time for it, by the clock of the calls.
    """

    spec: PrivacySpec
    calls: Calls
    pairs: Sequence[ChosenPair]
    fault: Fault
    error: float
    seconds: float

    def run(self) -> Covered | Account:
        """What is covered; or an account of a pair and event that refute the claim."""
        watch = self.calls.clock.watch(self.seconds)
        self.calls.expired = lambda: not watch.left()
        nearest = self._nearest()
        names = {repr(d): d for pair in nearest for d in (pair.left, pair.right)}
        try:
            begun = watch.spent()
            first = {name: self.calls.draw(dataset, "suggest", SUGGESTING) for name, dataset in names.items()}
            price = (watch.spent() - begun) / (SUGGESTING * len(names))
            catalogue = _Catalogue.of(list(first.values()))
            tests = (4 if self.spec.output_divergence.is_symmetric else 2) * len(nearest) * max(len(catalogue), 1)
            tail = self.error / (2 * tests)
            size = self._size(nearest, tail)
            if size is None:
                return Covered(text="", why="no number of draws is enough for it: ask for a larger loss, or a larger mass")
            needed = price * size * len(names)
            if needed > 1.5 * watch.left():
                advice = "give it more seconds, or ask for a larger loss or mass"
                why = f"it takes {size:,} draws on each of {count(len(names), 'dataset')}, about {needed:.0f} s: {advice}"
                return Covered(text="", why=why)
            counts = {name: self._counted(dataset, catalogue, size) for name, dataset in names.items()}
        except OutOfDraws:
            return Covered(text="", why=f"{self.seconds:.3g} s of processor time were not enough for it")
        if self.calls.endless:
            cut = f"{count(self.calls.endless, 'call')} did not end within {self.calls.limit:g} s"
            return Covered(text="", why=f"{cut}, and what these would have returned is unknown")
        found = self._refuting(nearest, counts, catalogue, (size, tail))
        return found or Covered(text=self._text(len(nearest), len(names), len(catalogue), size))

    def _nearest(self) -> list[ChosenPair]:
        least: dict[str, float] = {}
        for pair in self.pairs:
            for dataset in (pair.left, pair.right):
                least[repr(dataset)] = min(pair.length, least.get(repr(dataset), math.inf))
        return [pair for pair in self.pairs if pair.length in (least[repr(pair.left)], least[repr(pair.right)])]

    def _size(self, nearest: Sequence[ChosenPair], tail: float) -> int | None:
        nulls, sizes = Nulls(self.spec.output_divergence), []
        for null, distance in {id(nulls.of(pair)): (nulls.of(pair), pair.distance) for pair in nearest}.values():
            worse = Null(self.spec.output_divergence, self.fault.loss.enclose(PRECISION) * distance.enclose(PRECISION))
            sizes.append(draws_for(null, worse, float(self.fault.mass), tail, 1 - float(self.fault.power)))
        return None if None in sizes else max(size for size in sizes if size is not None)

    def _counted(self, dataset: Dataset, catalogue: _Catalogue, size: int) -> Floats:
        found: Floats = np.zeros(len(catalogue))
        for start in range(0, size, CHUNK):
            found += catalogue.count(self.calls.draw(dataset, f"cover-{start}", min(CHUNK, size - start)))
        return found

    def _refuting(
        self, nearest: Sequence[ChosenPair], counts: dict[str, Floats], catalogue: _Catalogue, test: tuple[int, float]
    ) -> Account | None:
        """An account that has won, for the smallest pair that is refuted and its shortest event."""
        (size, tail), nulls = test, Nulls(self.spec.output_divergence)
        for pair in sorted(nearest, key=lambda pair: pair_order(pair, self.spec.space)):
            null, both = nulls.of(pair), (counts[repr(pair.left)], counts[repr(pair.right)])
            for turned in (False, True) if self.spec.output_divergence.is_symmetric else (False,):
                one, two = both[::-1] if turned else both
                shown = bounds_refute(one, two, size, null, tail) | bounds_refute(size - one, size - two, size, null, tail)
                for place in np.flatnonzero(shown)[:1]:
                    hits = int(both[0][place]), int(both[1][place])
                    found = FoundEvent(catalogue.event(int(place)), hits[0] < hits[1], hits, (size, size), 0.0)
                    empty = Outcomes.of([])
                    return Account(pair, null, "cover", 0.0, empty, empty, found=found, spent=2 * size)
        return None

    def _text(self, pairs: int, datasets: int, events: int, size: int) -> str:
        looked = f"{count(events, 'event')} on {count(pairs, 'pair')} of {count(datasets, 'dataset')}"
        mass = f"{float(self.fault.mass):.4g}"
        return (
            f"a loss of {self.fault.loss} or more per unit distance at one of {looked} would have been found with "
            f"probability {float(self.fault.power):.4g}, where the event has probability {mass} or more on one dataset and its "
            f"complement on the other ({size:,} fresh draws of each); of other pairs and events, and of smaller faults, "
            f"nothing is said"
        )


def _width(shape: Shape) -> int:
    """How many numbers an output of the shape has."""
    return sum(1 for _ in numbers(filled(shape, iter(()))))
