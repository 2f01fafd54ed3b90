"""Bits: refuting floating-point mechanisms by the doubles that they can reach (Mironov, CCS 2012).

A textbook sampler computes noise as a function of a uniform double, so that it reaches few of the doubles there are, and which
ones moves with the data. For a black box the reachable set is not known, but its lattice shows: every nonzero double is an odd
multiple of one power of two,

    v = +-odd x 2^low(v),    2^(high-1) <= |v| < 2^high,    high - 53 <= low.

Near 0 the noise itself has low = high - 53, while k + noise, which is exact there (Sterbenz), keeps the coarser lattice of
the noise near -k. So the events are

    |v| < 2^a   or   2^(a-1) <= |v| < 2^a,    and    v is a multiple, or no multiple, of 2^t,

for each number v = out[i] - k of the output, k = 0 or an integer near the typical outputs, subtracted in doubles. The
event is chosen on training draws and then bet on with fresh draws (`dpspec_code.sampled.null`: certified e-variables,
wealth 1/error), so a claim that holds for the law on doubles is refuted with probability at most `error`. Outputs on a
coarse grid (rounded to 2^-10, or integers) have the same lattice everywhere and are not refuted. An event of this form need
not exist for every mechanism that leaks through its last bits: a pass shows nothing more than that none was found.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np

from dpspec import Outcome, Verdict
from dpspec.plugin import Floats, IncompatibleBlocksError, Integers, Mask, ParameterError, PrivacySpec
from dpspec.plugin.judges import Outcomes, count, rational
from dpspec_code.automatic.sampler import SAMPLES
from dpspec_code.child_process import Spare
from dpspec_code.clock import SYSTEM_CLOCK, SearchClock
from dpspec_code.sampled.calls import Calls, ChosenPair, Function, OutOfDraws, Tried, pair_order, pairs
from dpspec_code.sampled.engine import fingerprint
from dpspec_code.sampled.events import OutputEvent
from dpspec_code.sampled.null import Bet, Null
from dpspec_code.sampled.search import Account, EventCounts, FoundEvent, against
from dpspec_code.sampled.witness import refuted, witness

TRAINING = 2_000
"""Draws for each dataset from which the event is chosen."""
ROUND = 250
ROUNDS = 40
"""Fresh draws in a round of bets, and how many rounds a pair gets."""
DRAWS = 400_000
PAIRS = 12
"""The pairs that are tried, the closest and smallest first; each has its part of the error."""
LISTED = 64
"""Datasets of which they are chosen."""
SHARES = (1.0, 0.6, 0.3)
MOST_NUMBERS = 4
_ROUNDING = 1e-6
_HIGH, _LOW = 64, 128
"""Exponents beyond +-64, and lattices finer than 2^-128, are taken together."""


def exponents(values: Floats) -> tuple[Integers, Integers]:
    """(high, low) of each value; 0 is below every size and a multiple of everything.

    >>> [part.tolist() for part in exponents(np.array([0.75, 1.0, 3.0, 2.0**-60, 0.0]))]
    [[0, 1, 2, -59, -64], [-2, 0, 0, -60, 64]]
    """
    fractions, high = np.frexp(values)
    digits = np.abs(np.ldexp(fractions, 53)).astype(np.int64)
    _, lowest = np.frexp((digits & -digits).astype(float))
    low = high.astype(np.int64) - 53 + lowest - 1
    zero = digits == 0
    return (
        np.where(zero, -_HIGH, np.clip(high, -_HIGH, _HIGH)).astype(np.int64),
        np.where(zero, _HIGH, np.clip(low, -_LOW, _HIGH)).astype(np.int64),
    )


@attrs.frozen(kw_only=True)
class OutputLattice(OutputEvent):
    """An event on the bits of one number of the output.

    Args:
        place: which number; alone: whether the output is that number.
        shift: the integer k that is subtracted first.
        size: a; below: |v| < 2^a, otherwise 2^(a-1) <= |v| < 2^a.
        grid: t; multiple: v is a multiple of 2^t, otherwise it is none.
    """

    place: int
    alone: bool
    shift: int
    size: int
    below: bool
    grid: int
    multiple: bool

    def holds(self, outcomes: Outcomes) -> Mask:
        found = np.zeros(len(outcomes), dtype=bool)
        for rows, matrix in outcomes.groups.values():
            if matrix.shape[1] > self.place:
                values = matrix[:, self.place]
                finite = np.isfinite(values)
                high, low = exponents(np.where(finite, values, 0.0) - self.shift)
                inside = high <= self.size if self.below else high == self.size
                found[rows] = finite & inside & ((low >= self.grid) == self.multiple)
        return found

    @property
    def expression(self) -> None:
        return None

    @property
    def complexity(self) -> int:
        return 2

    def __str__(self) -> str:
        name = ("out" if self.alone else f"out[{self.place}]") + (f" - {self.shift}" if self.shift else "").replace("- -", "+ ")
        sized = f"|{name}| < 2^{self.size}" if self.below else f"2^{self.size - 1} <= |{name}| < 2^{self.size}"
        return f"{sized}, and {name} is {'a' if self.multiple else 'no'} multiple of 2^{self.grid}"


def _numbers(outcomes: Outcomes, place: int) -> Floats:
    """The finite numbers at one place of the outputs; outputs without it are left out."""
    columns = [matrix[:, place] for _, matrix in outcomes.groups.values() if matrix.shape[1] > place]
    found = np.concatenate(columns) if columns else np.zeros(0)
    return found[np.isfinite(found)]


# --- choosing the event ----------------------------------------------------------------------------


@attrs.frozen
class _Chosen:
    """An event with the probabilities that the training draws suggest; `turned` when it is likelier under x'."""

    event: OutputLattice
    p: float
    q: float
    turned: bool
    growth: float


def _choose(left: Outcomes, right: Outcomes, null: Null, *, both_ways: bool) -> _Chosen | None:
    best: _Chosen | None = None
    width = max((matrix.shape[1] for side in (left, right) for _, matrix in side.groups.values()), default=0)
    for place in range(min(width, MOST_NUMBERS)):
        for shift in _shifts(left, right, place):
            for chosen in _candidates(left, right, place, shift, null, both_ways=both_ways):
                if best is None or chosen.growth > best.growth:
                    best = chosen
    return best


def _shifts(left: Outcomes, right: Outcomes, place: int) -> list[int]:
    typical = [np.median(values) for side in (left, right) if len(values := _numbers(side, place))]
    return list(dict.fromkeys([0, *(round(float(value)) for value in typical if abs(value) < 2**40)]))


def _candidates(left: Outcomes, right: Outcomes, place: int, shift: int, null: Null, *, both_ways: bool) -> Iterator[_Chosen]:
    """For each direction the event of this number that seems to grow fastest."""
    tables = [_table(_numbers(side, place) - shift) for side in (left, right)]
    alone = all(matrix.shape[1] <= 1 for side in (left, right) for _, matrix in side.groups.values())
    p, q = ((table + 0.5) / (len(side) + 1.0) for table, side in zip(tables, (left, right), strict=True))
    for turned in (False, True) if both_ways else (False,):
        one, two = (q, p) if turned else (p, q)
        flat = np.flatnonzero(one.ravel() > null.largest(0.0) + two.ravel())
        if not len(flat):
            continue
        growth = null.growth(one.ravel()[flat], two.ravel()[flat])
        chosen = int(flat[int(np.argmax(growth))])
        below, size, multiple, grid = (int(i) for i in np.unravel_index(chosen, one.shape))
        event = OutputLattice(
            place=place, alone=alone, shift=shift, size=size - _HIGH, below=bool(below), grid=grid - _LOW, multiple=bool(multiple)
        )
        yield _Chosen(event, float(one.ravel()[chosen]), float(two.ravel()[chosen]), turned, float(growth.max()))


def _table(values: Floats) -> Floats:
    """The counts of all events of one number: [one binade or below, size, no multiple or multiple, grid]."""
    high, low = exponents(values)
    cells = np.zeros((2 * _HIGH + 1, _HIGH + _LOW + 1))
    np.add.at(cells, (high + _HIGH, low + _LOW), 1)
    multiples = cells[:, ::-1].cumsum(axis=1)[:, ::-1]
    others = multiples[:, :1] - multiples
    binade = np.stack([others, multiples], axis=1)
    return np.stack([binade, binade.cumsum(axis=0)])


# --- the verdict -----------------------------------------------------------------------------------


def refute_bits(
    function: Function,
    spec: PrivacySpec,
    *,
    seed: int = 0,
    error: Any = "1e-9",
    draws: int | None = None,
    seconds: float | None = None,
    limit: float = 0.1,
    given: Iterable[tuple[Any, Any]] | None = None,
    clock: SearchClock = SYSTEM_CLOCK,
) -> Verdict:
    """Try to refute, by the last bits of its outputs, the claim that a floating-point black box satisfies a specification.

    Args:
        function: maps (dataset as a plain list, numpy Generator) to a float or a tuple of floats.
        spec: the claim.
        seed: the same seed gives the same verdict.
        error: the probability of refuting a claim that holds for the law on doubles, at most.
        draws: how many times the function may be called; without it, as often as all pairs and rounds ask for.
        seconds: processor time for it.
        limit: seconds of processor time that one call may take; one that was cut is evidence of nothing.
        given: try only these pairs.
        clock: measures the time, and cuts calls.

    Returns:
        A verdict with method "sampled": refuted with the event in words, or undecided.

    Raises:
        ParameterError: for an error outside (0, 1).
        IncompatibleBlocksError: for a given pair that the claim does not speak about.
        NoFormulaError: when the output divergence does not say the largest probability that it allows.
    """
    level = rational(error, "error")
    if not 0 < level < 1:
        raise ParameterError("error", "must lie in (0, 1)", value=error)
    calls = Calls(
        function=function, space=spec.space, claim=f"bits|{fingerprint(spec)}", seed=seed, draws=draws or DRAWS, limit=limit,
        clock=clock,
    )  # fmt: skip
    if seconds is not None:
        watch = clock.watch(seconds)
        calls.expired = lambda: not watch.left()
    chosen = _pairs(spec, seed, given)
    goal = math.log(max(len(chosen), 1) / float(level))
    with Spare(calls.single_in_fresh_process) as fresh, calls.guarded():
        for pair in chosen:
            try:
                won = _bet_on(pair, calls, spec, goal)
                if won is not None and calls.kept((pair.left, pair.right), fresh) is None:
                    return _refuted(won, calls, float(level))
            except OutOfDraws:
                break
    reason = f"no event on the last bits separated {count(len(chosen), 'pair')} in {count(calls.made, 'draw')}; this is no proof"
    return Verdict(
        outcome=Outcome.UNDECIDED, method="sampled", scope=_scope(calls, len(chosen)), reason=reason, assumptions=SAMPLES
    )


def _scope(calls: Calls, pairs: int) -> str:
    return f"last bits of the outputs on {count(pairs, 'pair')}, {count(calls.made, 'draw')}"


def _pairs(spec: PrivacySpec, seed: int, given: Iterable[tuple[Any, Any]] | None) -> Sequence[ChosenPair]:
    if given is None:
        found = Tried.of(spec, seed).grow(LISTED)
        return sorted(found, key=lambda pair: (pair.distance, pair_order(pair, spec.space)))[:PAIRS]
    listed: list[ChosenPair] = []
    for left, right in given:
        both = pairs([spec.space.dataset(left), spec.space.dataset(right)], spec)
        if not both:
            raise IncompatibleBlocksError("pairs", "must be two datasets of one universe at finite distance", value=(left, right))
        listed += both
    return listed


def _bet_on(pair: ChosenPair, calls: Calls, spec: PrivacySpec, goal: float) -> Account | None:
    """Train on one pair, then bet on fresh draws until ln wealth reaches the goal; None where the rounds are over before."""
    null = Null(spec.output_divergence, pair.bound)
    training = [calls.draw(dataset, "bits-train", TRAINING) for dataset in (pair.left, pair.right)]
    chosen = _choose(training[0], training[1], null, both_ways=spec.output_divergence.is_symmetric)
    if chosen is None:
        return None
    bets = [bet for bet in null.bets(chosen.p, chosen.q, SHARES) if bet is not None]
    counts = EventCounts()
    for turn in range(ROUNDS if bets else 0):
        counts += _round(pair, chosen, calls, turn)
        cells = against(counts.right, counts.left) if chosen.turned else against(counts.left, counts.right)
        if _log_wealth(bets, cells) >= goal:
            return _account(pair, chosen, null, counts)
        if turn >= 3 and _log_wealth(bets, cells) < -5:
            return None
    return None


def _round(pair: ChosenPair, chosen: _Chosen, calls: Calls, turn: int) -> EventCounts:
    """Fresh draws behind fair coins."""
    label = f"{pair.left!r}|{pair.right!r}|bits-{turn}"
    heads = calls.coin(label, ROUND)
    drawn = calls.draw(pair.left, label, heads), calls.draw(pair.right, label, ROUND - heads)
    return EventCounts.of(chosen.event, drawn, (heads, ROUND - heads))


def _log_wealth(bets: Sequence[Bet], counts: tuple[int, int, int, int]) -> float:
    """ln of the mean wealth of the bets, each fair at every stopping time; rounded down."""
    logs = [bet.log_wealth(counts) for bet in bets]
    top = max(logs)
    return top + math.log(sum(math.exp(log - top) for log in logs) / len(logs)) - _ROUNDING if top > -math.inf else top


def _refuted(account: Account, calls: Calls, error: float) -> Verdict:
    return attrs.evolve(refuted(witness(account, calls, math.log(error)), _scope(calls, 1)), assumptions=SAMPLES)


def _account(pair: ChosenPair, chosen: _Chosen, null: Null, bets: EventCounts) -> Account:
    """The account of bets on one event."""
    sizes = bets.left[2], bets.right[2]
    found = FoundEvent(chosen.event, chosen.turned, (bets.left[0], bets.right[0]), sizes, chosen.growth)
    empty = Outcomes.of([])
    return Account(pair, null, "bits", 0.0, empty, empty, found=found, spent=sum(sizes), evidence={chosen.event: bets})
