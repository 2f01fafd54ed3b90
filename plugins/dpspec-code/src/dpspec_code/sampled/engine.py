"""`refute`: judge a plain function of a dataset and a generator against a specification, by its outputs alone.

Screen pairs on few draws, look closer at the best, then bet (`search`). The claim is refuted when an account reaches 1/error;
by Ville's inequality a true claim is refuted with probability at most `error`, whatever the search did. Otherwise the verdict
is undecided: sampling never verifies, it says what it would have found.

The search goes in rounds, each with twice the draws of the one before and half as many datasets more. In each round the pairs
are halved (sequential halving: Karnin, Koren and Somekh, 2013, Theorem 4.1, find the best of n arms in a budget within a factor
log2(n) of what is needed, without knowing how much better it is), and half of the draws go to bets. Doubling costs a factor of
two at most, against knowing beforehand how long the search may last.

So the sequence of calls is a function of the claim, the function and the seed alone. Time only says where it ends.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import attrs

from dpspec import Outcome, Verdict
from dpspec.plugin import Dataset, IncompatibleBlocksError, ParameterError, PrivacySpec, Registry
from dpspec.plugin.judges import (
    ERROR,
    SECONDS,
    Atom,
    NoFormulaError,
    Notice,
    Progress,
    Stopwatch,
    blocks_of,
    count,
    origins,
    rational,
)
from dpspec_code.automatic.sampler import SAMPLES
from dpspec_code.child_process import Spare
from dpspec_code.clock import SYSTEM_CLOCK, SearchClock
from dpspec_code.sampled.calls import MOST, Calls, ChosenPair, Function, OutOfDraws, Stuck, Tried, pair_order, pairs
from dpspec_code.sampled.null import detectable
from dpspec_code.sampled.rays import jumps
from dpspec_code.sampled.search import Account, search, weight
from dpspec_code.sampled.witness import (
    COVERED,
    Coverage,
    Covered,
    Fault,
    Nulls,
    Samples,
    Shrinker,
    excesses,
    ranked,
    refuted,
    witness,
)

NOTHING_TRIED = (
    "no two of the datasets that were tried are in one universe at a finite distance, with a budget that is finite and known: "
    "nothing to compare"
)
"""The reason why a claim is undecided where no pair could refute it."""

FIRST_ROUND = 800
"""Draws of the first round; every round has twice as many as the one before."""
FIRST_DATASETS, MORE_DATASETS, FEW_ROUNDS = 16, 1.5, 2
"""Datasets of the first rounds, by which factor their number grows, and after how many rounds."""
FIRST_DISTANCES = 2
"""Pairs at the smallest distances come first: at so many, and at one more in every round."""
HALVING = (None, 40, 10, 3)
"""The number of pairs that are searched, round by round; at first all of them."""
LOOKED = 20_000
"""Draws that are kept for looking at a dataset, at most."""
OPENED = 2
"""Accounts that a round may open."""
CAUTION = -0.7
"""Standard errors that are taken off what looks promise."""
BETTER = 1.3
"""... where they promise so many times what those that are open do."""
IDLE = 3
"""Rounds in which no test needs another draw, after which the search ends."""
PATIENCE = 4
"""An account is waited for while it could win within so many rounds of the present size."""
MASSES = (0.01, 0.1, 0.5)
_RESERVED = 0.2
"""The part of the draws that is kept for the witness."""
SEARCHED, SHRUNK = 0.87, 0.95
"""The parts of the time after which nothing is looked for, and after which the witness is not made smaller."""
_RAYS_FROM, _RAYS_UNTIL = 20_000, 0.2
"""Rays are followed where so many draws may be made, and until so much of the time is over."""
_SHOWN = 24
"""Characters of a long dataset."""
_UNBOUNDED = 1 << 40


def refute(
    function: Function,
    spec: PrivacySpec,
    *,
    seed: int = 0,
    error: Any = ERROR,
    draws: int | None = None,
    seconds: float | None = None,
    limit: float | None = None,
    datasets: Iterable[Any] | None = None,
    pairs: Iterable[tuple[Any, Any]] | None = None,
    bits: bool = False,
    registry: Registry | None = None,
    progress: Progress | None = None,
    clock: SearchClock = SYSTEM_CLOCK,
) -> Verdict:
    """Try to refute the claim that a black box satisfies a specification.

    Args:
        function: maps (dataset as a plain list, numpy Generator) to any output; exceptions are outputs.
        spec: the claim.
        seed: the same seed gives the same calls in the same order; time only says where they end.
        error: the probability of refuting a true claim, at most.
        draws: how many times the function may be called; without it, as often as there is time.
        seconds: processor time for all of it; without it 30, or what the draws take where they are given.
        limit: seconds of processor time that one call may take before it is cut; without it 0.1, or thirty times what the
            slowest of the first calls took. A call that was cut is evidence of nothing: its output is unknown.
        datasets, pairs: try only these; without them, small datasets and patterns of the space.
        bits: whether the claim is about doubles: then code that breaks where their range ends is refuted, too.
        registry: where the provenance of the blocks is looked up; without it, among all installed plugins.
        progress: called with (draws made, draws in all).
        clock: measures the time, and cuts calls.

    Returns:
        A verdict with method "sampled": refuted with a witness, or undecided with the reason and the power of the search.

    Raises:
        ParameterError: for an error outside (0, 1), no draws, or no time.
        NotInSpaceError, IncompatibleBlocksError: for datasets or pairs that the claim does not speak about.
    """
    level = rational(error, "error")
    if not 0 < level < 1:
        raise ParameterError("error", "must lie in (0, 1)", value=error)
    if draws is not None and draws < 1:
        raise ParameterError("draws", "must be positive", value=draws)
    if seconds is not None and seconds <= 0:
        raise ParameterError("seconds", "must be positive", value=seconds)
    search = _SampledSearch(
        spec=spec,
        calls=Calls(
            function=function, space=spec.space, claim=fingerprint(spec), seed=seed, draws=draws or _UNBOUNDED, clock=clock
        ),
        level=level,
        tried=_tried(spec, seed, datasets, pairs),
        progress=progress,
        free=datasets is None and pairs is None,
        bits=bits,
        seconds=float(SECONDS if seconds is None else seconds) if draws is None or seconds is not None else None,
    )
    with Spare(search.calls.single_in_fresh_process) as search.fresh:
        search.calls.calibrate(limit, (d for pair in search.listed[:2] for d in (pair.left, pair.right)))
        with search.calls.guarded():
            verdict = search.run()
    provenance = origins(blocks_of(spec), registry)
    return attrs.evolve(verdict, provenance=provenance, findings=tuple(search.findings), assumptions=SAMPLES)


def cover(
    function: Function,
    spec: PrivacySpec,
    fault: Fault,
    *,
    seed: int = 0,
    error: Any = ERROR,
    seconds: float = SECONDS,
    limit: float | None = None,
    datasets: Iterable[Any] | None = None,
    clock: SearchClock = SYSTEM_CLOCK,
) -> Covered | Verdict:
    """Look so closely that a fault would be found, on the first datasets and those nearest to each: a test of computed power.

    Args:
        function, spec, seed, error, limit, datasets, clock: as for `refute`.
        fault: what shall be found.
        seconds: processor time for it.

    Returns:
        What would have been found, or why that cannot be said; or a verdict, refuted.

    Raises:
        ParameterError: for a loss that the claim allows.
    """
    listed = Tried.of(spec, seed).grow(COVERED) if datasets is None else pairs(list(map(spec.space.dataset, datasets)), spec)
    if not listed:
        return Covered(text="", why=NOTHING_TRIED)
    for pair in listed:
        if not fault.loss > pair.budget:
            raise ParameterError("loss", f"must be more than is allowed, {pair.budget}", value=fault.loss)
    calls = Calls(
        function=function, space=spec.space, claim=f"cover|{fingerprint(spec)}", seed=seed, draws=_UNBOUNDED, clock=clock
    )
    level = float(rational(error, "error"))
    with Spare(calls.single_in_fresh_process) as fresh:
        calls.calibrate(limit, (d for pair in listed[:2] for d in (pair.left, pair.right)))
        with calls.guarded():
            try:
                found = Coverage(spec=spec, calls=calls, pairs=listed, fault=fault, error=level, seconds=seconds).run()
                calls.expired = lambda: False
                held = calls.kept((listed[0].left, listed[0].right), fresh)
            except Stuck as problem:
                return Covered(text="", why=str(problem))
            if held is not None:
                return Covered(text="", why=f"on {held} a call depends on the calls before it")
            if isinstance(found, Covered):
                return found
            shown = witness(found, calls, math.log(level))
    return attrs.evolve(refuted(shown, f"{count(len(listed), 'pair')}, {count(calls.made, 'draw')}"), assumptions=SAMPLES)


def fingerprint(spec: PrivacySpec) -> str:
    """A text that identifies the claim, the same in every process."""
    blocks = [getattr(spec, field.name) for field in attrs.fields(PrivacySpec)]
    return re.sub(r"0x[0-9a-fA-F]+", "", "|".join(f"{block.name} {block}" for block in blocks))


def _breaks(pair: ChosenPair, how: str) -> Notice:
    """A failure of code on long data or large numbers, which does not count against a claim about real numbers."""
    text = f"on one of two neighbours, {_in_short(pair.left)} and {_in_short(pair.right)}, and not on the other it {how}"
    why = "with numbers, recursion and memory without limits it might not: only a claim about doubles (bits) is checked with it"
    return Notice(code="breaks", text=f"{text}; {why}")


def _in_short(dataset: Dataset) -> str:
    """A dataset, or how it begins and how many entries it has."""
    text = repr(dataset)
    if len(text) <= _SHOWN:
        return text
    return f"{text[:_SHOWN]}..." + (f" ({len(dataset):,} entries)" if isinstance(dataset, tuple) else "")


def _tried(
    spec: PrivacySpec, seed: int, given: Iterable[Any] | None, listed: Iterable[tuple[Any, Any]] | None
) -> Tried | list[ChosenPair]:
    """Where pairs come from: patterns, given datasets, or a list of pairs."""
    if listed is None:
        return Tried.of(spec, seed) if given is None else pairs([spec.space.dataset(dataset) for dataset in given], spec)
    found: list[ChosenPair] = []
    for left, right in listed:
        both = pairs([spec.space.dataset(left), spec.space.dataset(right)], spec)
        if not both:
            raise IncompatibleBlocksError("pairs", "must be two datasets of one universe at finite distance", value=(left, right))
        found.extend(both)
    return list(dict.fromkeys(found))


@attrs.define(kw_only=True, eq=False)
class _SampledSearch:
    """One search for a violation."""

    spec: PrivacySpec
    calls: Calls
    level: Fraction
    tried: Tried | list[ChosenPair]
    progress: Progress | None
    free: bool
    bits: bool
    seconds: float | None
    listed: list[ChosenPair] = attrs.field(factory=list)
    findings: list[Notice] = attrs.field(factory=list)
    accounts: list[Account] = attrs.field(factory=list)
    fresh: Spare[list[Atom | None]] | None = None
    samples: Samples = attrs.field(init=False)
    nulls: Nulls = attrs.field(init=False)
    hints: dict[str, tuple[str, ...] | None] = attrs.field(factory=dict)
    _ends: float = math.inf
    _watch: Stopwatch = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._watch = self.calls.clock.watch()
        self.samples = Samples(self.calls)
        self.nulls = Nulls(self.spec.output_divergence)
        if self.seconds is not None:
            self._until(SEARCHED)
            self.calls.expired = lambda: self._watch.spent() > self._ends
        self._list(0)

    @property
    def log_needed(self) -> float:
        """ln(1/error), rounded up."""
        return -math.log(self.level.numerator) + math.log(self.level.denominator) + 1e-9

    @property
    def both_ways(self) -> bool:
        return self.spec.output_divergence.is_symmetric

    @property
    def room(self) -> int:
        """The draws that the search may still spend."""
        return self.calls.left - int(_RESERVED * self.calls.draws)

    def _until(self, part: float) -> None:
        """Draws may go on until so much of the time is over."""
        if self.seconds is not None:
            self._ends = part * self.seconds

    def _list(self, turn: int) -> None:
        """The pairs of a round, the closest and smallest first."""
        if isinstance(self.tried, list):
            new, self.tried = self.tried, []
        else:
            new = self.tried.grow(int(min(MOST, FIRST_DATASETS * MORE_DATASETS ** max(0, turn - FEW_ROUNDS))))
            while not new and not self.listed and len(self.tried.datasets) < MOST:
                before = len(self.tried.datasets)
                new = self.tried.grow(2 * before)
                if len(self.tried.datasets) == before:
                    break
        if new:
            self.listed = sorted([*self.listed, *new], key=self._order)

    def _list_jumps(self) -> None:
        """Pairs at which the behaviour of the code changes, located with a small part of the draws and of the time."""
        if not self.free or self.room < _RAYS_FROM:
            return
        self._until(_RAYS_UNTIL)
        with contextlib.suppress(OutOfDraws):
            found = jumps(self.calls, self.spec)
            broken = [pair for pair, _ in found.broken] if self.bits else []
            self.listed = sorted({*self.listed, *found.pairs, *broken}, key=self._order)
            if found.broken and not self.bits:
                self.findings.append(_breaks(*found.broken[0]))
        self._until(SEARCHED)

    def run(self) -> Verdict:
        if not self.listed:
            return self._undecided(NOTHING_TRIED, method="none")
        try:
            self.nulls.of(self.listed[0]).table  # noqa: B018 (raises where the divergence cannot be tested)
        except NoFormulaError as problem:
            return self._undecided(str(problem), method="none")
        try:
            state = self._probe()
            if state is not None:
                return state
            self._list_jumps()
            winner = self._search()
        except OutOfDraws:
            winner = None
        except Stuck as problem:
            self._note_calls()
            return self._undecided(str(problem))
        self._note_calls()
        self._until(SHRUNK)
        state = self._kept(self.listed[0] if winner is None else winner.pair)
        if state is not None and (winner is not None or any(finding.code == "hidden-state" for finding in self.findings)):
            return state
        return self._undecided(self._power()) if winner is None else self._refuted(winner)

    # -- properties visible in calls --------------------------------------------------------------

    def _probe(self) -> Verdict | None:
        """Hidden state, which forbids all statistics; a generator that is ignored."""
        probes = list(dict.fromkeys(d for pair in self.listed[:3] for d in (pair.left, pair.right)))[:4]
        for place, dataset in enumerate(probes):
            if not self.calls.repeats(dataset, probes[place - 1]):
                text = f"on {dataset} the same seed gave two outputs: the function keeps a state or draws from elsewhere"
                self.findings.append(Notice(code="hidden-state", text=text))
                return self._undecided(f"{text}; its draws are not repeatable, so that nothing can be concluded from them")
        if all(self.calls.ignores(dataset) for dataset in probes):
            text = f"the generator was left untouched on {count(len(probes), 'dataset')}: the output is a function of the dataset"
            self.findings.append(Notice(code="deterministic", text=text))
        return None

    def _kept(self, pair: ChosenPair) -> Verdict | None:
        """Calls that depend on the calls before them: noise that is drawn once and repeated, a cache, a counter."""
        try:
            held = None if self.fresh is None else self.calls.kept((pair.left, pair.right), self.fresh)
        except OutOfDraws:
            return self._undecided("the time was over before it was checked that calls do not depend on each other")
        except Stuck as problem:
            return self._undecided(f"{problem}, so that it was not checked that calls do not depend on each other")
        if held is None:
            return None
        text = f"on {held} a call gives another output after other calls than in a fresh process, from the same generator"
        self.findings.append(Notice(code="hidden-state", text=f"{text}: the function repeats or keeps what it drew before"))
        return self._undecided(f"{text}; calls are not independent, so that nothing can be concluded from their counts")

    def _note_calls(self) -> None:
        if self.calls.mutated is not None:
            text = f"the function changed the list that it was given, {self.calls.mutated} (every call gets a fresh copy)"
            self.findings.append(Notice(code="mutates-dataset", text=text))
        drawn = [sample for sample in self.samples.held.values() if len(sample)]
        if drawn and all(shape[0] == "raises" for sample in drawn for shape in sample.groups):
            self.findings.append(Notice(code="raises", text=f"every call raised, on each of {count(len(drawn), 'dataset')}"))
        if self.calls.endless:
            late = f"{count(self.calls.endless, 'call')} did not end within {self.calls.limit:g} s"
            text = f"{late}; such calls are evidence of nothing"
            self.findings.append(Notice(code="does-not-end", text=text))

    # -- the search -------------------------------------------------------------------------------

    def _order(self, pair: ChosenPair) -> tuple[Any, ...]:
        return pair_order(pair, self.spec.space)

    def _look(self, chosen: Sequence[ChosenPair], draws: int) -> None:
        """Draw outputs on every dataset of some pairs, evenly."""
        wanted = list({repr(d): d for pair in chosen for d in (pair.left, pair.right)}.values())
        size = max(1, min(LOOKED, min(draws, self.room // 3) // len(wanted)))
        for dataset in wanted:
            self.samples.extend(dataset, size)
            self._report_progress()

    def _search(self) -> Account | None:
        """Rounds of halving and betting, until one account has won, or draws or time are over."""
        idle = 0
        for turn in itertools.count():
            before = self.calls.made
            self._list(turn)
            near = sorted({pair.length for pair in self.listed})[: FIRST_DISTANCES + max(0, turn - FEW_ROUNDS)]
            pool = [pair for pair in self.listed if pair.length <= near[-1]]
            winner = self._round(pool, min(FIRST_ROUND << min(turn, 40), max(self.room, 1)))
            idle = 0 if self.calls.made > before else idle + 1
            if winner is not None or self.room <= 0 or idle == IDLE:
                return winner
        return None

    def _round(self, pool: list[ChosenPair], size: int) -> Account | None:
        """One round: half of the draws for looking, on fewer and fewer pairs, half for bets."""
        for look, kept in enumerate(HALVING):
            self._look(pool, size // 4 if look == 0 else size // 12 + len(pool))
            values = excesses(pool, self.samples, self.nulls, both_ways=self.both_ways)
            following = HALVING[look + 1] if look + 1 < len(HALVING) else OPENED
            best = ranked(pool, values, self._hints(pool), following or 2)
            for pair in best[:2] if values.max() > 6 else []:
                if self._bet_until(self._open(pair), 2_500):
                    return next(account for account in self.accounts if account.pair == pair)
            if kept is None or look + 1 < len(HALVING):
                pool = sorted(best, key=self._order)
        return self._bet_on(pool, size // 2)

    def _hints(self, pool: Sequence[ChosenPair]) -> dict[str, tuple[str, ...] | None]:
        """The draws that the function makes on each dataset, determined once."""
        for pair in pool:
            for dataset in (pair.left, pair.right):
                if repr(dataset) not in self.hints:
                    self.hints[repr(dataset)] = self.calls.signature(dataset)
        return self.hints

    def _promise(self, pair: ChosenPair) -> float:
        """The growth per draw for the event that half of the looks suggests and all of them show, cautiously."""
        null = self.nulls.of(pair)
        found = search(self.samples.of(pair.left), self.samples.of(pair.right), null, both_ways=self.both_ways)
        return 0.0 if found is None else found.rate(null, CAUTION)

    def _open(self, pair: ChosenPair) -> Account:
        known = [account for account in self.accounts if account.pair == pair]
        if known:
            return known[0]
        number = len(self.accounts) + 1
        left, right = self.samples.of(pair.left), self.samples.of(pair.right)
        account = Account(pair, self.nulls.of(pair), f"bet-{number}", weight(number), left, right, self.both_ways)
        self.accounts.append(account)
        return account

    def _bet_until(self, account: Account, most: int) -> bool:
        """Let one account bet until it has won, or spent so many draws, or looks hopeless."""
        stop = account.spent + min(most, max(self.room, 0))
        while account.spent < stop:
            account.step(self.calls, account.next_step(self.log_needed, stop - account.spent))
            self._report_progress()
            if account.log_wealth >= self.log_needed:
                return True
            if account.prospects()[1] * 8 * most < self.log_needed - account.log_wealth:
                return False
        return False

    def _bet_on(self, pool: Sequence[ChosenPair], draws: int) -> Account | None:
        """Give bets to the account that seems nearest to its goal, until the draws are spent or none could win soon."""
        for account in self.accounts:
            account.look(self.samples.of(account.pair.left), self.samples.of(account.pair.right))
        for pair in self._worth_opening(pool, PATIENCE * draws):
            self._open(pair)
        end = self.calls.made + min(draws, self.room)
        while self.calls.made < end:
            alive = [account for account in self.accounts if self._is_alive(account, PATIENCE * draws)]
            if not alive:
                self._look(pool, end - self.calls.made)
                return None
            account = min(alive, key=self._missing)
            account.step(self.calls, account.next_step(self.log_needed, end - self.calls.made))
            self._report_progress()
            if account.log_wealth >= self.log_needed:
                return account
        return None

    def _worth_opening(self, pool: Sequence[ChosenPair], draws: int) -> list[ChosenPair]:
        """The pairs that promise clearly more than the accounts that are open: every one that is opened costs the later ones."""
        known = [account.pair for account in self.accounts]
        rates = [account.prospects()[0] for account in self.accounts if self._is_alive(account, draws)]
        best = max(rates, default=0.0)
        promised = {id(pair): self._promise(pair) for pair in pool if pair not in known}
        fresh = [pair for pair in pool if id(pair) in promised]
        ranked_pairs = sorted(fresh, key=lambda pair: (-promised[id(pair)], self._order(pair)))
        return [pair for pair in ranked_pairs[:OPENED] if not rates or promised[id(pair)] > BETTER * best]

    def _is_alive(self, account: Account, draws: int) -> bool:
        """Whether an account could still win with so many draws, at its most favourable."""
        if account.rounds == 0:
            return True
        return account.prospects()[1] * draws > self.log_needed - account.log_wealth

    def _missing(self, account: Account) -> float:
        """About how many draws the account needs, half way between what it expects and what it hopes."""
        if account.rounds == 0:
            return 0.0
        expected, hoped = account.prospects()
        return (self.log_needed - account.log_wealth) / max((expected + hoped) / 2, 1e-12)

    def _report_progress(self) -> None:
        if self.progress is None:
            return
        if self.calls.draws < _UNBOUNDED or self.seconds is None:
            self.progress(self.calls.made, self.calls.draws)
        else:
            self.progress(int(1000 * self._watch.spent()), int(1000 * self.seconds))

    # -- verdicts ---------------------------------------------------------------------------------

    @property
    def scope(self) -> str:
        names = {repr(d) for pair in self.listed for d in (pair.left, pair.right)}
        return f"{count(len(self.listed), 'pair')} of {count(len(names), 'dataset')}, {count(self.calls.made, 'draw')}"

    def _undecided(self, reason: str, *, method: str = "sampled") -> Verdict:
        return Verdict(outcome=Outcome.UNDECIDED, method=method, scope=self.scope, reason=reason)

    def _refuted(self, winner: Account) -> Verdict:
        shrinker = Shrinker(self.spec, self.calls, self.samples, self.nulls, self.listed, self.log_needed, self.free)
        winner = shrinker.shrink(winner)
        self._until(1.0)
        found = witness(winner, self.calls, -self.log_needed)
        theirs = [pair for pair in self.listed if pair.universe == found.universe]
        names = {repr(d) for pair in theirs for d in (pair.left, pair.right)}
        return refuted(found, self.scope, pairs=len(theirs), datasets=len(names))

    def _power(self) -> str:
        """What the search would have found, for the pair that was bet on longest."""
        text = f"not refuted: {count(len(self.listed), 'pair')} tried with {count(self.calls.made, 'draw')}"
        longest = max(self.accounts, key=lambda account: account.spent, default=None)
        if longest is None or not longest.spent:
            return f"{text}, all spent on screening"
        sizes = {mass: detectable(longest.null, mass, longest.spent, self.log_needed + 2.0) for mass in MASSES}
        unit, apart = float(longest.pair.distance) or 1.0, longest.pair.distance != 0
        sure = [f"{size / unit:.4g} at events of mass {mass:.0%}" for mass, size in sizes.items() if size is not None]
        open_ = [f"{mass:.0%}" for mass, size in sizes.items() if size is None]
        parts = [f"on the pair tried longest ({count(longest.spent, 'bet')}, distance {longest.pair.distance})"]
        if sure:
            found = f"a loss{' per unit distance' * apart} of {', '.join(sure)} would have been found"
            parts.append(f"{found} with 99 % power, where {longest.pair.budget if apart else 0} is allowed")
        if open_:
            parts.append(f"{'and ' if sure else ''}no loss is that sure to be found at events of mass {', '.join(open_)}")
        return f"{text}; {' '.join(parts)}"
