"""`refute`: judge a plain function of a dataset and a generator against a specification, by its outputs alone.

Screen all pairs on few draws, look closer at the best, then bet (`wealth`). The claim is refuted when an account reaches 1/error;
by Ville's inequality a true claim is refuted with probability at most `error`, whatever the search did. Otherwise the verdict
is undecided: sampling never verifies, it says what it would have found.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import attrs

from dpspec.base.errors import IncompatibleBlocksError, NoFormulaError, ParameterError, count
from dpspec.base.exact import INFINITY, Bracket, rational
from dpspec.base.types import Progress
from dpspec.blocks.space import Dataset
from dpspec.extension.hooks import Registry
from dpspec.extension.loader import origins
from dpspec.grammar.spec import PrivacySpec, blocks_of
from dpspec.verifier.apart import Spare
from dpspec.verifier.automatic.sampler import SAMPLES
from dpspec.verifier.exhaustive import NOTHING
from dpspec.verifier.expression import Atom
from dpspec.verifier.sampled.calls import Calls, ChosenPair, Function, OutOfDraws, Stuck, datasets, pair_order, pairs
from dpspec.verifier.sampled.null import detectable
from dpspec.verifier.sampled.search import Account, search, weight
from dpspec.verifier.sampled.witness import Nulls, Samples, Shrinker, excesses, ranked, witness
from dpspec.verifier.verdict import Notice, Outcome, UniverseResult, Verdict

DRAWS = 800_000
ERROR = "1e-9"
SCREEN = 250
"""Draws for every dataset in the first look, at least."""
HALVING = ((0, 0), (64, 1_200), (20, 4_000))
"""How many pairs are kept, and how many draws their datasets then get, look by look; at first all of them."""
ACCOUNTS = 6
MASSES = (0.01, 0.1, 0.5)
_RESERVED = 0.2
"""The part of the draws that is kept for the witness."""


def refute(
    function: Function,
    spec: PrivacySpec,
    *,
    seed: int = 0,
    error: Any = ERROR,
    draws: int = DRAWS,
    seconds: float | None = None,
    limit: float = 0.1,
    datasets: Iterable[Any] | None = None,
    pairs: Iterable[tuple[Any, Any]] | None = None,
    registry: Registry | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Try to refute the claim that a black box satisfies a specification.

    Args:
        function: maps (dataset as a plain list, numpy Generator) to any output; exceptions are outputs.
        spec: the claim.
        seed: the same seed gives the same verdict (unless `seconds` or `limit` cut in).
        error: the probability of refuting a true claim, at most.
        draws: how many times the function may be called.
        seconds: a limit on the wall time; without it the draws alone decide.
        limit: seconds of processor time that one call may take before it counts as "does not end".
        datasets, pairs: try only these; without them, small datasets and patterns of the space.
        registry: where the provenance of the blocks is looked up; without it, among all installed plugins.
        progress: called with (draws made, draws in all).

    Returns:
        A verdict with method "sampled": refuted with a witness, or undecided with the reason and the power of the search.

    Raises:
        ParameterError: for an error outside (0, 1), or no draws.
        NotInSpaceError, IncompatibleBlocksError: for datasets or pairs that the claim does not speak about.
    """
    level = rational(error, "error")
    if not 0 < level < 1:
        raise ParameterError("error", "must lie in (0, 1)", value=error)
    if draws < 1:
        raise ParameterError("draws", "must be positive", value=draws)
    calls = Calls(function=function, space=spec.space, claim=fingerprint(spec), seed=seed, draws=draws, limit=limit)
    if seconds is not None:
        end = time.monotonic() + seconds
        calls.expired = lambda: time.monotonic() > end
    found = _chosen_pairs(spec, seed, datasets, pairs)
    search = _SampledSearch(
        spec=spec, calls=calls, level=level, pairs=found, progress=progress, free=datasets is None and pairs is None
    )
    with Spare(calls.single) as search.fresh, calls.guarded():
        verdict = search.run()
    provenance = origins(blocks_of(spec), registry)
    return attrs.evolve(verdict, provenance=provenance, findings=tuple(search.findings), assumptions=SAMPLES)


def fingerprint(spec: PrivacySpec) -> str:
    """A text that identifies the claim, the same in every process."""
    blocks = [getattr(spec, field.name) for field in attrs.fields(PrivacySpec)]
    return re.sub(r"0x[0-9a-fA-F]+", "", "|".join(f"{block.name} {block}" for block in blocks))


def _chosen_pairs(
    spec: PrivacySpec, seed: int, given: Iterable[Any] | None, listed: Iterable[tuple[Any, Any]] | None
) -> list[ChosenPair]:
    if listed is None:
        chosen = datasets(spec, seed) if given is None else [spec.space.dataset(dataset) for dataset in given]
        return pairs(chosen, spec)
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
    pairs: list[ChosenPair]
    progress: Progress | None
    free: bool
    findings: list[Notice] = attrs.field(factory=list)
    accounts: list[Account] = attrs.field(factory=list)
    fresh: Spare[list[Atom]] | None = None
    samples: Samples = attrs.field(init=False)
    nulls: Nulls = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.pairs = sorted(self.pairs, key=self._order)
        self.samples = Samples(self.calls)
        self.nulls = Nulls(self.spec.output_divergence)

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

    def run(self) -> Verdict:
        if not self.pairs:
            return self._undecided(NOTHING, method="none")
        try:
            self.nulls.of(self.pairs[0]).table  # noqa: B018 (asks the divergence whether it can be tested)
        except NoFormulaError as problem:
            return self._undecided(str(problem), method="none")
        try:
            state = self._probe()
            if state is not None:
                return state
            winner = self._search()
        except OutOfDraws:
            winner = None
        except Stuck as problem:
            self._note_calls()
            return self._undecided(str(problem))
        self._note_calls()
        state = self._kept(self.pairs[0] if winner is None else winner.pair)
        if state is not None:
            return state
        return self._undecided(self._power()) if winner is None else self._refuted(winner)

    # -- what the calls give away -----------------------------------------------------------------

    def _probe(self) -> Verdict | None:
        """Hidden state, which forbids all statistics; a generator that is ignored."""
        probes = list(dict.fromkeys(d for pair in self.pairs[:3] for d in (pair.left, pair.right)))[:4]
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
        except Stuck:
            return None
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
            text = f"{count(self.calls.endless, 'call')} did not end within {self.calls.limit:g} s"
            self.findings.append(Notice(code="does-not-end", text=text))

    # -- the search -------------------------------------------------------------------------------

    def _order(self, pair: ChosenPair) -> tuple[Any, ...]:
        return pair_order(pair, self.spec.space)

    def _look(self, chosen: Sequence[ChosenPair], size: int) -> None:
        """Draw up to `size` outputs on every dataset of some pairs, as far as a third of the draws goes."""
        wanted = list({repr(d): d for pair in chosen for d in (pair.left, pair.right)}.values())
        size = min(size, max(1, self.room // (3 * len(wanted))))
        for dataset in wanted:
            self.samples.extend(dataset, size)
            self._report_progress()

    def _search(self) -> Account | None:
        """Halving, then betting."""
        names = {repr(d): d for pair in self.pairs for d in (pair.left, pair.right)}
        first = min(max(SCREEN, self.calls.draws // (16 * len(names))), 2_000)
        self._look(self.pairs, SCREEN)
        hints = {name: self.calls.signature(dataset) for name, dataset in names.items()}
        pool = self.pairs
        for kept, size in HALVING:
            values = excesses(pool, self.samples, self.nulls, both_ways=self.both_ways)
            best = ranked(pool, values, hints, kept or 2)
            for pair in best[:2] if values.max() > 6 else []:
                if self._bet_until(self._open(pair), 2_500):
                    return next(account for account in self.accounts if account.pair == pair)
            pool = sorted(best, key=self._order) if kept else pool
            self._look(pool, size or first)
        return self._bet_on(sorted(pool, key=self._promise))

    def _promise(self, pair: ChosenPair) -> tuple[float, Any]:
        """Minus the growth that half of the draws shows for the event that the other half suggests; then the order of pairs."""
        left, right = self.samples.of(pair.left), self.samples.of(pair.right)
        found = search(left, right, self.nulls.of(pair), both_ways=self.both_ways)
        return (0.0 if found is None else -found.growth), self._order(pair)

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
            if account.prospects()[1] * max(self.room, 0) < self.log_needed - account.log_wealth:
                return False
        return False

    def _bet_on(self, pool: Sequence[ChosenPair]) -> Account | None:
        """Give rounds to the account that seems nearest to its goal, until the draws are spent or none can win."""
        waiting = list(pool)
        opened: list[Account] = list(self.accounts)
        while self.room > 0:
            while waiting and len(opened) < 3:
                opened.append(self._open(waiting.pop(0)))
            alive = [account for account in dict.fromkeys(opened) if self._is_alive(account)]
            if len(alive) < 3 and waiting and len(self.accounts) < ACCOUNTS:
                opened.append(self._open(waiting.pop(0)))
                continue
            if not alive:
                return None
            account = min(alive, key=self._missing)
            step = account.next_step(self.log_needed, self.room)
            account.step(self.calls, step)
            self._report_progress()
            if account.log_wealth >= self.log_needed:
                return account
        return None

    def _is_alive(self, account: Account) -> bool:
        """Whether an account could still win with all the draws that are left, at its most favourable."""
        if account.rounds == 0:
            return True
        return account.prospects()[1] * self.room > self.log_needed - account.log_wealth

    def _missing(self, account: Account) -> float:
        """About how many draws the account needs, half way between what it expects and what it hopes."""
        if account.rounds == 0:
            return 0.0
        expected, hoped = account.prospects()
        return (self.log_needed - account.log_wealth) / max((expected + hoped) / 2, 1e-12)

    def _report_progress(self) -> None:
        if self.progress is not None:
            self.progress(self.calls.made, self.calls.draws)

    # -- verdicts ---------------------------------------------------------------------------------

    @property
    def scope(self) -> str:
        names = {repr(d) for pair in self.pairs for d in (pair.left, pair.right)}
        return f"{count(len(self.pairs), 'pair')} of {count(len(names), 'dataset')}, {count(self.calls.made, 'draw')}"

    def _undecided(self, reason: str, *, method: str = "sampled") -> Verdict:
        return Verdict(outcome=Outcome.UNDECIDED, method=method, scope=self.scope, reason=reason)

    def _refuted(self, winner: Account) -> Verdict:
        shrinker = Shrinker(self.spec, self.calls, self.samples, self.nulls, self.pairs, self.log_needed, self.free)
        winner = shrinker.shrink(winner)
        found = witness(winner, self.calls, -self.log_needed)
        bounds: set[Dataset] = {
            repr(d) for pair in self.pairs for d in (pair.left, pair.right) if pair.universe == found.universe
        }
        distance = found.distance.enclose()
        ratio = Bracket.around(found.divergence.lower.enclose() / distance).lower if distance > 0 else INFINITY
        result = UniverseResult(
            label=found.universe,
            datasets=len(bounds),
            pairs=sum(pair.universe == found.universe for pair in self.pairs),
            constant=Bracket(lower=max(found.bound, ratio), upper=INFINITY),
            bound=found.bound,
            outcome=Outcome.REFUTED,
            attained=(found.left, found.right),
        )
        return Verdict(outcome=Outcome.REFUTED, method="sampled", scope=self.scope, universes=(result,), witness=found)

    def _power(self) -> str:
        """What the search would have found, for the pair that was bet on longest."""
        text = f"not refuted: {count(len(self.pairs), 'pair')} tried with {count(self.calls.made, 'draw')}"
        longest = max(self.accounts, key=lambda account: account.spent, default=None)
        if longest is None or not longest.spent:
            return f"{text}, all spent on screening"
        sizes = {mass: detectable(longest.null, mass, longest.spent, self.log_needed + 2.0) for mass in MASSES}
        unit = max(float(longest.pair.distance), 1e-300)
        sure = [f"{size / unit:.4g} at events of mass {mass:.0%}" for mass, size in sizes.items() if size is not None]
        open_ = [f"{mass:.0%}" for mass, size in sizes.items() if size is None]
        parts = [f"on the pair tried longest ({count(longest.spent, 'bet')}, distance {longest.pair.distance})"]
        if sure:
            found = f"a loss per unit distance of {', '.join(sure)} would have been found with 99 % power"
            parts.append(f"{found}, where {longest.pair.budget} is allowed")
        if open_:
            parts.append(f"{'and ' if sure else ''}no loss is that sure to be found at events of mass {', '.join(open_)}")
        return f"{text}; {' '.join(parts)}"
