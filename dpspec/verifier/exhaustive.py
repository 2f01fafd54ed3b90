"""Exhaustive verification: every pair of every universe, exactly (Bailie, Gong, Meng and Drechsler 2024).

For each universe D the Lipschitz constant

    sup d_Pr(P_x, P_x') / d_X(x, x')    over all x, x' of D at finite distance

is compared with the budget of D, where d_X is the distance on X. Two datasets at distance 0 must have the same law. Pairs need
not be compared one by one: of finite laws the farthest pair is found on integers (`dpspec.verifier.law_matrix`), and of pairs
that a symmetry carries into one another one is compared (`dpspec.verifier.symmetries`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import nullcontext, suppress
from typing import Any, TypeVar

import attrs
from flint import ctx

from dpspec.base.errors import BudgetNotKnownError, DpspecError, NumericalError, PluginContractError, WorkLimitError, count
from dpspec.base.exact import INFINITY, Bracket, Number, largest, number, rounded_product
from dpspec.base.types import Progress
from dpspec.base.work import limited
from dpspec.blocks.budget import stands_for
from dpspec.blocks.multiverse import Universe
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.parts import listing_size
from dpspec.blocks.space import Dataset
from dpspec.extension.hooks import Registry
from dpspec.extension.loader import has_foreign_law, origins
from dpspec.grammar.declarations import check_declared, check_listed, check_reverse, listed_universes
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.plugin_calls import check_again, computed_law, guarded
from dpspec.grammar.spec import PrivacySpec, allowed_to_all, blocks_of
from dpspec.laws.law import Law
from dpspec.laws.work import WORK_OF_A_LAW, work_of
from dpspec.verifier.event import Asked, telling_event
from dpspec.verifier.law_matrix import IndexPair, LawMatrix
from dpspec.verifier.symmetries import Permutation, orbits, permutations
from dpspec.verifier.verdict import Outcome, UniverseResult, Verdict, Witness, worst

PRECISIONS = (64, 128, 256, 512)
"""Bits at which a bracket is refined until the pair is decided."""

FINEST = 2 * PRECISIONS[-1]
"""The precision at which the ends of brackets are compared, far below their differences."""

STUCK = 1 << 16
"""A refinement that moves the ends of a bracket by less than this part of their way to the bound is the last one."""

READING = 4
"""Units of work of a record that a mechanism reads without a law in the end, such as one of a thousand shuffled reports."""

FEW_INVARIANTS = 16
"""Each further invariant of a dataset counts as a record that is read; so few take no time next to the laws."""

MOST_UNDECIDED = 12
"""After so many pairs whose brackets hold the bound at every precision, a search tries no further pair: these take long."""

MOST_COMPARED = 1_000_000
"""Units of `dpspec.base.work`, about one microsecond each, that a search for a pair takes to compare laws."""

MOST_OF_EVENT = 1_500_000
"""Units of work of the search for an event that shows a refutation."""

ONE_AGAIN = 16
"""The law of a plugin is computed once more on one of so many datasets."""

NOTHING = "no two datasets of one universe are at a finite distance: nothing to compare"
"""The reason why a claim that every mechanism satisfies is undecided."""

NOTHING_GIVEN = "no two of the given datasets are in one universe at a finite distance: nothing to compare"
"""The reason why a claim is undecided where only some datasets are compared."""

MORE = "more pairs would exceed the work limit"
"""The end of what a search says that stopped for its work."""

SPENT = "to compare all pairs exceeds the limit of work"
"""The reason why a claim is undecided where the laws take too much work."""

WIDE = "a bracket stayed too wide to decide"
"""The reason why a claim is undecided where the brackets of some pair hold the bound at every precision."""

REVERSED = 100
"""The number of pairs that are compared in both orders where a distance is declared to be symmetric."""

MOST_WALKED = 20_000
"""A space of more datasets is not walked."""

Value = TypeVar("Value")


def verify(
    mechanism: Mechanism,
    spec: PrivacySpec,
    *,
    datasets: Iterable[Any] | None = None,
    laws: Mapping[Dataset, Law] | None = None,
    most_datasets: int = MOST_WALKED,
    most_pairs: int = 2_000_000,
    most_work: int | None = None,
    registry: Registry | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Judge whether a mechanism satisfies a specification.

    Args:
        mechanism: the mechanism to verify.
        spec: the specification it is claimed to satisfy.
        datasets: look only at these datasets of the space; without it, at all of them.
        laws: the laws on some datasets, where they are known already, or those of a function of the output.
        most_datasets, most_pairs: above these sizes the verdict is undecided instead of endless.
        most_work: so much work is done at most, in units of `dpspec.base.work`; then the verdict is that on a pair that was found
            to be beyond the claim, or undecided.
        registry: where the provenance of the blocks is looked up; without it, among all installed plugins.
        progress: called with (pairs done, pairs in all).

    Returns:
        A verdict: verified when every pair stays within its budget, refuted with the smallest witness when one does
        not, undecided when a bracket stays too wide or the universes cannot be listed. Without a pair it is verified as well:
        `as_guarantee` makes it undecided where it is an answer to a user.

    Raises:
        IncompatibleBlocksError: when the mechanism does not fit the space.
        PluginContractError: when the mechanism or a divergence raises.
    """
    mechanism.check(spec.space)
    check_declared(spec)
    if spec.budget.unpublished() is not None:
        limits = {
            "most_datasets": most_datasets, "most_pairs": most_pairs, "most_work": most_work, "registry": registry,
            "progress": progress,
        }  # fmt: skip
        listed = None if datasets is None else list(datasets)
        return without_number(spec, lambda closed: verify(mechanism, closed, datasets=listed, laws=laws, **limits))  # type: ignore[arg-type]
    provenance = origins({"mechanism": mechanism, **blocks_of(spec)}, registry)
    walk = _Walk(mechanism=mechanism, spec=spec, laws=dict(laws or {}))
    if datasets is None:
        size, entries = spec.space.cardinality(), listing_size(spec.space)
        if size is None or entries is None or entries > most_datasets:
            held = "infinitely many datasets, or too many to count" if size is None else count(size, "dataset")
            is_long = size is not None and size <= most_datasets
            above = "of very many records" if is_long else f"above the {most_datasets:,} that are checked"
            reason = f"the space has {held}, {above}"
            return Verdict(outcome=Outcome.UNDECIDED, method="none", scope="nothing", reason=reason, provenance=provenance)
        check_listed(spec.space)
        universes = listed_universes(spec.multiverse, spec.space)
    else:
        universes = walk.restrict([spec.space.dataset(x) for x in datasets])
    total = sum(walk.count_pairs(len(universe)) for universe in universes)
    if total > most_pairs:
        reason = f"{count(total, 'pair')}, above the {most_pairs:,} that are compared"
        return Verdict(outcome=Outcome.UNDECIDED, method="none", scope="nothing", reason=reason, provenance=provenance)
    try:
        with nullcontext() if most_work is None else limited(most_work):
            found = _judge(walk, universes, total, progress)
    except WorkLimitError:
        if walk.beyond is None:
            return Verdict(outcome=Outcome.UNDECIDED, method="none", scope="nothing", reason=SPENT, provenance=provenance)
        found = walk.on(walk.beyond)
    computed = {dataset: law for dataset, law in walk.laws.items() if laws is None or dataset not in laws}
    found = attrs.evolve(found, provenance=provenance, assumptions=mechanism.assumes)
    _check_again(mechanism, computed, found, spec)
    return found


def _check_again(mechanism: Mechanism, laws: Mapping[Dataset, Law], found: Verdict, spec: PrivacySpec) -> None:
    """Check that the laws of a plugin are the same when they are computed again.

    Those of the pair that decides, and of a few other datasets: a law may take long, and all of them would be a third of some
    verdicts.
    """
    if not has_foreign_law(mechanism, found.provenance):
        return
    best, shown = found.tightest, found.witness
    deciding = (shown.left, shown.right) if shown is not None else (best and best.attained) or ()
    chosen = dict.fromkeys([*list(laws)[::ONE_AGAIN], *deciding])
    with suppress(WorkLimitError), limited(MOST_COMPARED):
        check_again(mechanism, {dataset: laws[dataset] for dataset in chosen if dataset in laws}, spec.space)


def refute_on(
    mechanism: Mechanism,
    spec: PrivacySpec,
    groups: Iterable[Sequence[Dataset]],
    *,
    registry: Registry | None = None,
    most_work: int | None = None,
) -> Verdict | str:
    """Look for a pair of datasets whose laws refute a claim, inside each of several groups of datasets.

    Both laws are computed and compared as exactly as in a walk through the whole space. Nothing is ever verified here.

    Args:
        mechanism: the mechanism to verify.
        spec: the specification it is claimed to satisfy.
        groups: the datasets of one group are compared with each other.
        registry: where the provenance of the blocks is looked up; without it, among all installed plugins.
        most_work: the laws computed are at most so much work (`work_of`); the last one may exceed it. To compare them takes at
            most `MOST_COMPARED` units.

    Returns:
        the refutation, with the smallest witness of the first group that has one; or what was compared.

    Raises:
        PluginContractError: when the mechanism or a divergence raises.
    """
    limit = None if most_work is None else MOST_UNDECIDED
    walk = _Walk(mechanism=mechanism, spec=spec, most_undecided=limit, least=1 if most_work is None else 2)
    try:
        with nullcontext() if most_work is None else limited(MOST_COMPARED):
            found = _first_beyond(walk, groups, most_work)
    except WorkLimitError:
        if walk.beyond is None:
            return f"{walk.none_beyond}; {MORE}"
        walk.most_undecided = None  # it is compared once more, however many other pairs stayed undecided
        found = walk.on(walk.beyond)
    if isinstance(found, str):
        return found
    found = attrs.evolve(found, provenance=origins({"mechanism": mechanism, **blocks_of(spec)}, registry))
    _check_again(mechanism, walk.laws, found, spec)
    return attrs.evolve(found, assumptions=mechanism.assumes)


def _first_beyond(walk: _Walk, groups: Iterable[Sequence[Dataset]], most_work: int | None) -> Verdict | str:
    """The refutation on the first group that has one, or what was compared."""
    work = 0
    labels = READING * max(0, len(walk.spec.multiverse.induced_by() or ()) - FEW_INVARIANTS)
    for group in groups:
        compared = []
        for dataset in group:
            if most_work is not None and work >= most_work:
                break
            is_new = dataset not in walk.laws
            if walk.has_law(dataset):
                compared.append(dataset)
                work += labels + (work_of(walk.law(dataset)) if is_new else 1)
                work += max(0, len(walk.labels(dataset)) - FEW_INVARIANTS) if is_new else 0
            else:
                work += WORK_OF_A_LAW + (READING * len(dataset) if isinstance(dataset, Sized) else 0)
        for found in walk.among(compared) if len(compared) > 1 else ():
            walk.compared += sum(result.pairs or 0 for result in found.universes)
            if found.outcome is Outcome.REFUTED:
                return found
        if walk.is_spent:
            return f"the brackets of {count(walk.undecided, 'pair')} hold the bound; {MORE}"
        if most_work is not None and work >= most_work:
            return f"{walk.none_beyond}; {MORE}"
    if not walk.compared:
        return walk.unknown or "no pair of datasets was found whose laws can be compared"
    return walk.none_beyond


def without_number(spec: PrivacySpec, judge: Callable[[PrivacySpec], Verdict]) -> Verdict:
    """Judge a claim whose budget has no published number to rely on.

    A claim that is false for every number is refuted; a claim that holds for the least possible number is verified; otherwise the
    constant is reported.

    Args:
        spec: the specification.
        judge: judges the same claim with a number for the budget.
    """
    found = judge(spec.replace(budget=stands_for(spec.budget, INFINITY)))
    if found.outcome is not Outcome.VERIFIED:
        return attrs.evolve(found, reason=f"{spec.budget.unpublished()}; {found.reason}" if found.reason else "")
    least = spec.budget.least()
    if least is not None:
        kept = judge(spec.replace(budget=stands_for(spec.budget, least)))
        if kept.outcome is Outcome.VERIFIED:
            return kept
    kind = "no number would do: the constant is infinite" if found.constant.lower.is_infinite else f"constant {found.constant}"
    reason = f"{spec.budget.unpublished()} ({kind}, {found.scope})"
    return attrs.evolve(found, outcome=Outcome.UNDECIDED, reason=reason, universes=(), proof=())


def as_guarantee(found: Verdict, spec: PrivacySpec, datasets: Collection[Dataset] | None = None) -> Verdict:
    """The verdict as an answer to a user: undecided where the claim is true, and no guarantee of the mechanism.

    That is so where there was no pair to compare, and where every mechanism satisfies the claim and nothing less is proved of
    this one: with an infinite budget, all records may be published. A search for the least budget needs the constant instead.

    Args:
        found: the verdict.
        spec: the claim.
        datasets: those that were compared, where they are not all of the space.
    """
    if found.outcome is not Outcome.VERIFIED:
        return found
    if len(found.vacuous) == len(found.universes):
        return attrs.evolve(found, outcome=Outcome.UNDECIDED, reason=NOTHING if datasets is None else NOTHING_GIVEN)
    why = None if spec.budget.unpublished() is not None else allowed_to_all(spec)
    if why is None or allowed_to_all(spec, found.constant.upper) is None:
        return found
    return attrs.evolve(found, outcome=Outcome.UNDECIDED, reason=f"every mechanism satisfies the claim: {why}")


def _judge(walk: _Walk, universes: Sequence[Universe], total: int, progress: Progress | None) -> Verdict:
    results, witnesses, done = [], [], 0
    for universe in universes:
        result, witness = walk.universe(universe)
        results.append(result)
        if witness is not None:
            witnesses.append(witness)
        done += walk.count_pairs(len(universe))
        if progress is not None:
            progress(done, total)
    outcome = worst(result.outcome for result in results)
    compared = sum(result.pairs or 0 for result in results)
    listed = sum(result.datasets or 0 for result in results)
    return Verdict(
        outcome=outcome,
        method="exhaustive",
        scope=f"{_all(compared)} at finite distance in {count(len(results), 'universe')} of {count(listed, 'dataset')}",
        reason=WIDE if outcome is Outcome.UNDECIDED else "",
        universes=tuple(results),
        witness=walk.with_event(min(witnesses, key=walk.order, default=None)),
    )


def _all(pairs: int) -> str:
    return {0: "no pair", 1: "the only pair"}.get(pairs, f"all {count(pairs, 'pair')}")


@attrs.define(kw_only=True)
class _Walk:
    """One walk through the universes of a specification; remembers the laws it has computed."""

    mechanism: Mechanism
    spec: PrivacySpec
    laws: dict[Dataset, Law] = attrs.field(factory=dict)
    reversed: int = 0
    undecided: int = 0
    compared: int = 0
    beyond: tuple[Dataset, Dataset] | None = None
    """A pair that was found to be beyond the claim."""
    unknown: str = ""
    """The reason why the budget of the universes of some datasets is not known."""
    most_undecided: int | None = None
    least: int = 1
    """Universes that hold fewer of some datasets are not looked at: a refutation takes two."""
    places: dict[Hashable, int] = attrs.field(factory=dict)
    """The labels that were seen, numbered; `names` has them in this order."""
    names: list[Hashable] = attrs.field(factory=list)
    labelled: dict[Dataset, tuple[int, ...]] = attrs.field(factory=dict)

    @property
    def is_symmetric(self) -> bool:
        return self.spec.input_divergence.is_symmetric and self.spec.output_divergence.is_symmetric

    @property
    def is_spent(self) -> bool:
        """Whether so many pairs stayed undecided that no further one is tried."""
        return self.most_undecided is not None and self.undecided >= self.most_undecided

    @property
    def none_beyond(self) -> str:
        """What a search says that found no pair."""
        if not self.compared:
            return "no pair was compared"
        return f"none of the {count(self.compared, 'pair')} that were compared is beyond it"

    def count_pairs(self, datasets: int) -> int:
        pairs = datasets * (datasets - 1)
        return pairs // 2 if self.is_symmetric else pairs

    def law(self, dataset: Dataset) -> Law:
        if dataset not in self.laws:
            self.laws[dataset] = computed_law(self.mechanism, dataset, self.spec.space)
        return self.laws[dataset]

    def has_law(self, dataset: Dataset) -> bool:
        """Whether the law on a dataset can be listed."""
        try:
            self.law(dataset)
        except PluginContractError:
            raise
        except DpspecError:
            return False
        return True

    def on(self, datasets: Sequence[Dataset]) -> Verdict:
        """The verdict on some datasets."""
        return _judge(self, self.restrict(datasets), 0, None)

    def restrict(self, datasets: Iterable[Dataset]) -> list[Universe]:
        """The universes of the specification, cut down to some datasets; without those of fewer than `least`."""
        members: dict[int, list[Dataset]] = {}
        for dataset in sorted(set(datasets), key=self.spec.space.order):
            for place in self.labels(dataset):
                members.setdefault(place, []).append(dataset)
        found = ((self.names[place], tuple(held)) for place, held in members.items() if len(held) >= self.least)
        return [Universe(label=label, datasets=held, is_whole=False) for label, held in found]

    def labels(self, dataset: Dataset) -> tuple[int, ...]:
        """The places of the labels of a dataset among those that were seen: a label may be as long as the dataset, and is hashed
        once."""
        if dataset not in self.labelled:
            found = []
            for label in self.spec.multiverse.labels(dataset, self.spec.space):
                place = self.places.setdefault(label, len(self.names))
                if place == len(self.names):
                    self.names.append(label)
                found.append(place)
            self.labelled[dataset] = tuple(found)
        return self.labelled[dataset]

    def among(self, datasets: Sequence[Dataset]) -> Iterator[Verdict]:
        """The verdict on some datasets; one on each pair of them where the laws of some cannot be compared."""
        try:
            yield self.on(datasets)
        except PluginContractError:
            raise
        except BudgetNotKnownError as fault:
            self.unknown = f"the {fault.subject} {fault.rule}"
        except DpspecError:
            for pair in itertools.combinations(datasets, 2) if len(datasets) > 2 else ():
                yield from self.among(pair)

    def order(self, witness: Witness) -> tuple[Any, ...]:
        """The documented order of witnesses: smaller datasets first, then closer ones, then by their text."""
        return self.size(witness.distance, witness.left, witness.right)

    def size(self, distance: Number, left: Dataset, right: Dataset) -> tuple[Any, ...]:
        """The key of that order."""
        (first, first_text), (second, second_text) = self.spec.space.order(left), self.spec.space.order(right)
        return first + second, distance, first_text, second_text

    def universe(self, universe: Universe) -> tuple[UniverseResult, Witness | None]:
        """The Lipschitz constant over one universe, and the smallest witness against its bound."""
        datasets, bound = universe.datasets, self.spec.bound(universe)
        classes = self._by_distance(datasets)
        compared = {place for pairs in classes.values() for pair in pairs for place in pair}
        table = LawMatrix.of({place: self.law(datasets[place]) for place in sorted(compared)})
        turns = self._turns(universe, classes, table)
        found, best = _Found(), None
        for distance, pairs in classes.items():
            groups = self._groups(distance, pairs, table, turns)
            for place in self._telling(distance, pairs, groups, datasets, bound):
                if self.is_spent:
                    break
                divergence, ratio, outcome = self._compare(*_at(datasets, pairs[place]), distance, bound)
                found.add(pairs[place], ratio, outcome)
                if outcome is Outcome.REFUTED:
                    left, right = self.beyond = _at(datasets, pairs[place])
                    witness = Witness(
                        universe=universe.label, left=left, right=right, distance=distance, divergence=divergence, bound=bound
                    )
                    best = witness if best is None else min(best, witness, key=self.order)
        result = UniverseResult(
            label=universe.label, datasets=len(universe), pairs=sum(map(len, classes.values())), constant=found.constant,
            bound=bound, outcome=worst(found.outcomes), attained=None if found.at is None else _at(datasets, found.at),
        )  # fmt: skip
        return result, best

    def _by_distance(self, datasets: Sequence[Dataset]) -> dict[Number, list[IndexPair]]:
        """The pairs at finite distance, as places in the universe, gathered by distance."""
        classes: dict[Number, list[IndexPair]] = {}
        choose = itertools.combinations if self.is_symmetric else itertools.permutations
        step = max(1, len(datasets) * (len(datasets) - 1) // (2 * REVERSED))
        for place, (left, right) in enumerate(choose(range(len(datasets)), 2)):
            distance = self.spec.distance(datasets[left], datasets[right])
            if self.is_symmetric and place % step == 0 and self.reversed < REVERSED:
                self.reversed += 1
                one, other = datasets[left], datasets[right]
                check_reverse(self.spec.input_divergence, one, other, distance, self.spec.space)
            if not distance.is_infinite:
                if not classes:  # a law that is too large to be listed is found before all distances are
                    self.law(datasets[left])
                classes.setdefault(distance, []).append((left, right))
        return classes

    def _turns(
        self, universe: Universe, classes: dict[Number, list[IndexPair]], table: LawMatrix | None
    ) -> tuple[Permutation, ...]:
        """The declared symmetries of the universe, where they are of use: for finite laws whose divergence has no score.

        They rename outcomes, which changes nothing where d_Pr is a function of the likelihood ratios: so it is unless a class
        replaces `between`, which has the outcomes at hand.
        """
        first, chosen = next(iter(classes.values()), [])[:1], self.spec.output_divergence
        by_ratios = type(chosen).between is OutputDivergence.between
        if table is None or not first or not by_ratios or table.farthest(first, chosen) is not None:
            return ()
        name = self.mechanism.name
        declared = guarded(name, lambda: self.mechanism.symmetries(self.spec.space))
        return permutations(declared, universe.datasets, self.law, f"mechanism {name}")

    def _groups(
        self, distance: Number, pairs: Sequence[IndexPair], table: LawMatrix | None, turns: tuple[Permutation, ...]
    ) -> Iterable[list[int]]:
        """The pairs of one distance in groups led by a pair whose divergence none in the group exceeds."""
        farthest = None if table is None or distance == 0 else table.farthest(pairs, self.spec.output_divergence)
        if farthest is not None:
            leader = pairs.index(farthest)
            return [[leader, *(place for place in range(len(pairs)) if place != leader)]]
        if turns:
            return orbits(pairs, turns, ordered=not self.is_symmetric, subject=f"mechanism {self.mechanism.name}")
        return ([place] for place in range(len(pairs)))

    def _telling(
        self,
        distance: Number,
        pairs: Sequence[IndexPair],
        groups: Iterable[list[int]],
        datasets: Sequence[Dataset],
        bound: Number,
    ) -> Iterator[int]:
        """The places of the pairs that settle one distance: the leaders of the groups.

        When a leader is within the bound, so are the others of its group. When it is not, the smallest pair of the group
        beyond the bound is looked for in the documented order.
        """

        def refuted(place: int) -> bool:
            return self._compare(*_at(datasets, pairs[place]), distance, bound)[2] is Outcome.REFUTED

        for group in groups:
            yield group[0]
            if len(group) > 1 and refuted(group[0]):
                ordered = sorted(group, key=lambda place: self.size(distance, *_at(datasets, pairs[place])))
                smallest = next(place for place in ordered if refuted(place))
                if smallest != group[0]:
                    yield smallest

    def _compare(self, left: Dataset, right: Dataset, distance: Number, bound: Number) -> tuple[Bracket, Bracket, Outcome]:
        """d_Pr, d_Pr / d_X, and whether it is within the bound; refined until that is decided."""
        first, second = self.law(left), self.law(right)
        limit = _exact(lambda: bound * distance) if distance > 0 else None
        before: Bracket | None = None
        for precision in PRECISIONS:
            divergence = self._divergence(first, second, precision)
            ratio = per_unit(divergence, distance)
            if limit is not None and divergence.is_exact and divergence.lower == limit:
                return divergence, ratio if ratio.is_exact else Bracket.exactly(bound), Outcome.VERIFIED
            if ratio.upper <= bound and not (distance == 0 and divergence.upper > 0):
                return divergence, ratio, Outcome.VERIFIED
            if ratio.lower > bound or (distance == 0 and divergence.lower > 0):
                return divergence, ratio, Outcome.REFUTED
            if before is not None and _is_stuck(before, ratio, bound):
                break
            before = ratio
        self.undecided += 1
        return divergence, ratio, Outcome.UNDECIDED

    def _divergence(self, left: Law, right: Law, precision: int) -> Bracket:
        chosen = self.spec.output_divergence
        found: Bracket = guarded(chosen.name, lambda: chosen.between(left, right, precision=precision))
        return found

    def with_event(self, witness: Witness | None) -> Witness | None:
        if witness is None:
            return None
        asked = asked_of(self.spec, witness)
        try:
            with limited(MOST_OF_EVENT):
                laws = self.law(witness.left), self.law(witness.right)
                event = guarded(asked.divergence.name, lambda: telling_event(*laws, asked))
        except WorkLimitError:  # the pair refutes the claim without an event to show
            return witness
        return attrs.evolve(witness, event=event)


@attrs.define
class _Found:
    """The largest constant so far, the first pair that attains it, and every outcome."""

    constant: Bracket = attrs.field(factory=lambda: Bracket.exactly(0))
    at: IndexPair | None = None
    outcomes: list[Outcome] = attrs.field(factory=lambda: [Outcome.VERIFIED])

    def add(self, pair: IndexPair, ratio: Bracket, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        above = self.at is None or ratio.lower > self.constant.lower
        if above or (self.at is not None and pair < self.at and ratio.lower == self.constant.lower):
            self.at = pair
        self.constant = largest((self.constant, ratio))


def _at(datasets: Sequence[Dataset], pair: IndexPair) -> tuple[Dataset, Dataset]:
    return datasets[pair[0]], datasets[pair[1]]


def per_unit(divergence: Bracket, distance: Number) -> Bracket:
    """d_Pr / d_X; at distance 0 it is 0 for equal laws and infinite for different ones."""
    if distance == 0:
        return Bracket(lower=INFINITY if divergence.lower > 0 else Number(), upper=INFINITY if divergence.upper > 0 else Number())
    if distance.is_rational or divergence.upper.is_infinite:
        inverse = 1 / distance.as_fraction() if distance.is_rational else 1
        return divergence.scaled(inverse)
    exact = _exact(lambda: divergence.scaled(number(1) / distance))
    if exact is not None:
        return exact
    quotients = [end.enclose() / distance.enclose() for end in (divergence.lower, divergence.upper)]
    return Bracket(lower=Bracket.around(quotients[0], least=0).lower, upper=Bracket.around(quotients[1], least=0).upper)


def asked_of(spec: PrivacySpec, witness: Witness) -> Asked:
    """The bound of the claim for the pair of a witness: bound x distance, rounded up where it has no exact form."""
    limit = number(0) if witness.distance == 0 else rounded_product(witness.bound, witness.distance)
    return Asked(spec.output_divergence, limit)


def _is_stuck(before: Bracket, after: Bracket, bound: Number) -> bool:
    """Whether a refinement has brought neither end of a bracket nearer to the bound, by a part of the way that it has left."""

    def gained(there: Number, here: Number) -> bool:
        if there.is_infinite or here.is_infinite or bound.is_infinite:
            return there.is_infinite is not here.is_infinite
        moved, left = (abs((one.enclose(FINEST) - here.enclose(FINEST)).mid()) for one in (there, bound))
        return bool(moved * STUCK >= left)  # as well where an end is the bound itself

    with ctx.workprec(FINEST):
        return not gained(before.lower, after.lower) and not gained(before.upper, after.upper)


def _exact(call: Callable[[], Value]) -> Value | None:
    """The result of exact arithmetic; None where it has no exact form."""
    try:
        return call()
    except NumericalError:
        return None
