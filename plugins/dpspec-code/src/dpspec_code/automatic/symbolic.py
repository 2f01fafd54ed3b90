"""Symbolic verification of plain code on a space too large to list: its tree for all datasets at once, and the constant.

The code is run once on a dataset whose counts N_v, or whose numbers, are symbols. Where it gets through, its output is T(N, W),
one tree for all datasets.

**Theorem.** Let, for every change e of one record (added, removed or replaced) or of one step of numbers, delta(e) solve the
linear equations

    a.delta = b.e     for every affine expression a.W + b.N + c in the conditions and outputs of T.

Then T(N, w) = T(N', w + delta(N - N')) with delta linear, and d_Pr(P_x, P_x') <= K d_X(x, x') for

    K = max over changes e of d_Pr(law of W + delta(e), law of W) / price of e,

if d_Pr is a metric, or d_X a neighbour relation that allows one change.

*Proof.* Aligning the draws (`dpspec_code.automatic.coupling`) bounds d_Pr(P_x, P_x') by the pair of W + delta(N - N') and
W, and N - N' is a sum of changes e_1, e_2, ... whose prices add up to at most d_X. The law of W + delta(e_1) + delta(e_2) is
that of W + delta(e_1), shifted; so by the triangle inequality the divergences add up to at most K times the prices (Dwork,
McSherry, Nissim and Smith 2006). What the universes fix is used where it is the number of records; otherwise more changes are
allowed than there are.

**Another shift at each end.** Where no shift serves all ends, let every end l of T have one of its own, delta_l(e), under which
its conditions for N imply those for N + e, with the same output: -b.e where a.w + b.N + c < 0 holds is the most that a.delta may
be, and so on (`least_cost`). With C = max over ends and changes of the cost of delta_l(e), every change and its reverse
multiplies the probability of no set by more than e^C, and K is d_Pr of two coins with that log-ratio, per price.

*Proof.* As there: the law of T(N, W) is defined for all whole numbers N, in the space or not; each step is compared with the next
one end by end, and a change that runs against another is a change. The least cost is that of a linear program whose right sides
are linear in e, so it is convex in e: changes that lie half-way between two others need no program of their own.

**Of a sample.** Where every entry of kind v is kept with probability q_v by itself and the code sees only the counts of those
kept, let the constant of what it does with them be K_v for one entry of kind v more. Then the constant of one entry added is
that of the pair ((1 - q) Q + q Q', Q) with q = q_v and the two coins Q', Q whose log-ratio is K_v; for pure differential privacy
this is ln(1 + q(e^K - 1)) (Li, Qardaji and Su 2012, Theorem 1; Balle, Barthe and Gaboardi 2018, Theorem 8).

*Proof.* Given which of the others are kept, the two laws are M and (1 - q) M + q M', where (M', M) is an image of (Q', Q)
(Kairouz, Oh and Viswanath 2015); who is kept of the others has one law in both, and forgetting it is data processing.

**Of decisions by the dataset.** Conditions on counts alone, as of `min(n, 5)` or `if n == 0`, cut the datasets into regions, and
each step leads from one region into another or the same (`dpspec_code.automatic.regions`). Code that shows no draw and no count
has one law for all datasets, and K = 0.

A pair of datasets that differ by the costliest change shows how far the constant reaches.

**Numbers of a fixed width.** The tree is that of exact numbers. It is that of the code where no integer of the code wraps around
and no double loses what a record changes: for datasets of at most so many records (`dpspec_code.automatic.widths`). Where the
space has larger ones that can be made, nothing is proved; where only out of reach, the verdict is about the others, and says so.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

import attrs
import numpy as np

from dpspec import DpspecError, Outcome, Verdict
from dpspec.plugin import Bracket, Dataset, DatasetSpace, FiniteLaw, LibraryModels, Marginal, Number, PrivacySpec, blocks, number
from dpspec.plugin.judges import (
    EVERY,
    IDENTICAL,
    INFINITY,
    METHOD,
    ONE_PAIR,
    WHOLE,
    ZERO,
    Dichotomy,
    Entries,
    NotEnumerableError,
    Notice,
    NumberLists,
    ProofStep,
    RecordSteps,
    UniverseResult,
    Witness,
    ceiling_of,
    count,
    finite_law,
    presented,
    seen_to_fix,
)
from dpspec_code.automatic.coupling import (
    AskedOfShift,
    Branch,
    NoisyLaw,
    Shift,
    cheapest_shift,
    joined_trees,
    pair_of,
    solve_shift,
    two_coins,
)  # fmt: skip
from dpspec_code.automatic.entry_arrays import SymbolicDataset
from dpspec_code.automatic.formulas import COUNT, SAMPLED, STATISTIC, Affine, NoiseDraw, TreeEnd, is_about_data
from dpspec_code.automatic.noise import span_of
from dpspec_code.automatic.regions import (
    MOST_PROGRAMS,
    Polyhedron,
    Region,
    cost_between,
    crossing,
    holds_extreme,
    largest_shift,
    regions,
    shift_between,
)
from dpspec_code.automatic.sampler import Draw, RunCounter, enumerate_law
from dpspec_code.automatic.sensitivities import EntryStatistic
from dpspec_code.automatic.widths import FAR, LONGEST_LIST, ROUNDED, WHOLE_DOUBLES, RecordBound

MOST_KINDS = 2_000
MOST_CHANGES = 20_000
DOUBLES = "a double does not hold every whole number"
_GROWING = ("laplace", "normal", "logistic")
"""Noise with a log-concave density that is even: the pair of laws of W and W + d grows with d."""
LENGTHS = (300, 70_000)
"""Records of long datasets: beyond 2^8 and 2^16."""
MOST_WRITTEN = 100_000
"""A pair with more records is not written down."""
MOST_CROSSINGS = 1_200
"""Changes from one region to another for which each end has a shift of its own: four absolute values make 1,024 of them, some
seconds of linear programs."""
PRECISION = 128
ROUNDING = Fraction(1, 1 << 40)
"""What a number loses, relatively and at most, when it is computed in doubles."""


class NoConstant(Exception):
    """The reason why no constant follows from the structure of code."""


class InexactNumbers(NoConstant):
    """The tree of some code is not that of what a machine computes, on datasets that can be made."""


@attrs.frozen(kw_only=True)
class WholeTree:
    """Plain code as one tree for all datasets.

    Args:
        dataset: all datasets at once.
        law: where its runs end, in symbols of the counts.
        function: the code.
        most_paths: how many runs one dataset may take.
        form: what the code is handed for the list of the entries of a dataset; None for itself.
        models: of libraries that it calls.
    """

    dataset: SymbolicDataset
    law: NoisyLaw
    function: Draw
    most_paths: int
    form: Callable[[Any], Any] | None = None
    models: LibraryModels | None = None

    def read_on(self, dataset: Dataset) -> Any:
        """The law on one dataset, by reading the code on it."""
        given = presented(dataset)
        handed = given if self.form is None else self.form(given)
        return enumerate_law(self.function, handed, most_paths=self.most_paths, symbolic=True, models=self.models)

    def law_on(self, dataset: Dataset) -> Any:
        """The law on one dataset, by reading the code on it.

        Sums of weights are doubles there, which cannot be read. Then the law is that of the tree, if no end depends on noise:
        only reading the code on one dataset shows what doubles lose of noise.

        Raises:
            NotEnumerableError: neither has it.
        """
        try:
            return self.read_on(dataset)
        except NotEnumerableError:
            found = self.on(dataset).plain()
            if found is None:
                raise
            return found

    def long_datasets(self, spec: PrivacySpec) -> Iterator[Dataset]:
        """Datasets of so many records that numbers of 8 and of 16 bits wrap around; of lists of numbers, with such numbers."""
        for size in LENGTHS:
            with contextlib.suppress(DpspecError):
                numbers = NumberLists.found_in(spec.space)
                if numbers is None:
                    kinds = itertools.islice(itertools.cycle(self.dataset.kinds), size)
                    dataset = Entries.needed_in(spec.space).from_entries(list(kinds))
                else:
                    dataset = spec.space.dataset((size,) * numbers.places())
                if spec.multiverse.labels(dataset, spec.space):
                    yield dataset

    @property
    def probabilities(self) -> dict[int, Fraction]:
        """With what probability an entry of a kind is in the sample that the code takes, by the number of its symbol; empty
        where it takes none."""
        symbols = {one for branch in self.law.branches() for part in branch.parts for one, _ in part.terms if one.is_count}
        if any(one.kind == SAMPLED for one in symbols) and any(one.kind == COUNT for one in symbols):
            raise NoConstant("it shows more of the dataset than its sample")
        found = {one.number: one.size for one in symbols if one.kind == SAMPLED}
        if len(found) < len([one for one in symbols if one.kind == SAMPLED]):
            raise NoConstant("it samples in more than one way")
        return found

    def on(self, dataset: Dataset) -> Any:
        """The law on one dataset."""
        given = presented(dataset)
        if self.probabilities:
            return self.read_on(dataset)
        counts = given
        if not self.dataset.is_counts:
            written = Counter(map(_written, given))
            counts = [written[_written(kind)] for kind in self.dataset.kinds]
        known: dict[NoiseDraw, Any] = {NoiseDraw(-place - 1, COUNT, Fraction(0)): count for place, count in enumerate(counts)}
        known |= {one.symbol: one.at(counts) for one in self.dataset.bound.statistics.values()}
        return self.law.with_counts(known)

    @property
    def statistics(self) -> list[EntryStatistic]:
        """What its ends show of the dataset that is no sum."""
        parts = [part for branch in self.law.branches() for part in branch.parts]
        shown = {one for part in parts for one, _ in part.terms if one.kind == STATISTIC}
        return [one for one in self.dataset.bound.statistics.values() if one.symbol in shown]


def _written(entry: Any) -> tuple[type, str]:
    """The key that distinguishes kinds of entries: their text, so that NaN is one kind, and 1 and 1.0 are two."""
    return type(entry), repr(entry)


def whole_tree(
    function: Draw,
    spec: PrivacySpec,
    *,
    most_paths: int,
    form: Callable[[Any], Any] | None = None,
    counter: RunCounter | None = None,
    models: LibraryModels | None = None,
) -> WholeTree:
    """The tree of code for all datasets of a space.

    Args:
        function: the code.
        spec: the claim.
        most_paths: how many runs it may take.
        form: what the code is handed for a list of entries, one entry for each, where that is another list or an array.
        counter: counts the runs.
        models: of libraries that it calls.

    Raises:
        NoConstant: the space has no symbolic form, or the output does not depend on noise.
        RunLimitError: when the counter has reached its limit.
        NotEnumerableError: the code needs more than sums and counts.
    """
    dataset = _symbols_of(spec)
    if form is not None:
        dataset = _handed(dataset, form)

    def read(dataset: SymbolicDataset) -> Any:
        return enumerate_law(function, dataset, most_paths=most_paths, symbolic=True, counter=counter, models=models)

    try:
        law = read(dataset)
    except NotEnumerableError:
        if dataset.is_counts or dataset.sizes[0] != dataset.sizes[1]:
            raise
        # range(len(x)) is a range of numbers first, over which noise may be drawn, and here places of entries
        dataset = attrs.evolve(dataset, by_places=True)
        law = read(dataset)
    if isinstance(law, FiniteLaw):  # no count is seen in any end: the law is that of every dataset
        law = NoisyLaw(tuple((TreeEnd(seen, ()), law.probability(seen)) for seen in law.weights))
    if not isinstance(law, NoisyLaw):
        raise NoConstant("what it returns depends on no noise that is read off")
    return WholeTree(dataset=dataset, law=law, function=function, most_paths=most_paths, form=form, models=models)


def _symbols_of(spec: PrivacySpec) -> SymbolicDataset:
    """All datasets of the space at once."""
    numbers = NumberLists.found_in(spec.space)
    if numbers is not None:
        ends = numbers.bounds()
        largest = None if ends[1] is None else max(map(abs, (ends[0], ends[1])))
        bound = RecordBound(most=largest, alone=True)
        return SymbolicDataset(tuple(range(numbers.places())), is_counts=True, bound=bound)
    entries = Entries.found_in(spec.space)
    if entries is None:
        raise NoConstant(f"{spec.space.name} has no form in which only the counts are unknown")
    kinds = entries.entries()
    if kinds is None or len(kinds) > MOST_KINDS:
        raise NoConstant(f"an entry may be of more than {MOST_KINDS:,} kinds")
    bound = RecordBound(most=_most_of(entries))
    return SymbolicDataset(kinds, entries.lists_counts(), bound=bound, sizes=_sizes_of(spec.space))


def _sizes_of(space: DatasetSpace) -> tuple[int, int | None]:
    """How many entries a list of a space has at least and at most."""
    sizes = blocks.Sizes.found_in(space)
    return (0, None) if sizes is None else sizes.sizes()


def _most_of(entries: Entries) -> int | None:
    """How many entries a dataset has at most: no more than a list can hold, where it is one."""
    stated = entries.most_entries()
    longest = None if entries.lists_counts() else LONGEST_LIST
    return min((most for most in (stated, longest) if most is not None), default=None)


def _handed(dataset: SymbolicDataset, form: Callable[[Any], Any]) -> SymbolicDataset:
    """The same where the code gets the entries in another form."""
    handed = None if dataset.is_counts else form(list(dataset.kinds))
    if not isinstance(handed, (list, np.ndarray)) or len(handed) != len(dataset.kinds):
        raise NoConstant("in the form that it is handed, a dataset is no list of its entries")
    return attrs.evolve(dataset, handed=handed)


# --- changes ---------------------------------------------------------------------------------------


@attrs.frozen
class EntryChange:
    """One change of a dataset, such as all differences are made of.

    Args:
        moved: by how much each count or number grows, by the number of its symbol.
        price: what it costs.
        words: what it is.
        sides: what a dataset has before and after: the kind of a record, or nothing; the step of numbers.
    """

    moved: tuple[tuple[int, int], ...]
    price: int
    words: str
    sides: tuple[Any, Any]

    def turned(self) -> tuple[tuple[int, int], ...]:
        """The moves of what undoes it."""
        return tuple((number, -by) for number, by in self.moved)


@attrs.frozen(kw_only=True)
class RecordChanges:
    """Changes of one record.

    Args:
        spec: the claim.
        kinds: what a record may be.
        steps: the input divergence as a price of them.
        keeps_size: whether all datasets of a universe have equally many records.
    """

    spec: PrivacySpec
    kinds: tuple[Any, ...]
    steps: RecordSteps
    keeps_size: bool

    @classmethod
    def of(cls, tree: WholeTree, spec: PrivacySpec) -> RecordChanges:
        steps = spec.input_divergence.record_steps(spec.space)
        if steps is None or steps.unit not in spec.space.units or steps.unit != spec.space.units[0]:
            raise NoConstant(f"{spec.input_divergence} is not known as a price of changing the entries")
        known = spec.multiverse.induced_by() or ()
        fixed = seen_to_fix(known, Marginal(attributes=(), unit=steps.unit), spec.space) is not None
        keeps = fixed or spec.space.fixes_size(steps.unit)
        return cls(spec=spec, kinds=tree.dataset.kinds, steps=steps, keeps_size=keeps)

    @property
    def within(self) -> int | None:
        """The largest price of neighbours, where only these are compared."""
        return self.steps.within

    @property
    def low(self) -> int:
        """No kind of record occurs less than never."""
        return 0

    @property
    def added(self) -> int | None:
        """The price of a record added, where that is ever compared."""
        price = None if self.keeps_size else self.steps.added
        return None if price is None or (self.within is not None and price > self.within) else price

    def least_price(self) -> int:
        """The least price of a change."""
        return self.steps.replaced if self.added is None else min(self.added, self.steps.replaced)

    def listed(self) -> Iterator[EntryChange]:
        """Every change of one record."""
        kinds, within = range(len(self.kinds)), self.within
        if self.added is not None:
            yield from (self._change(None, kind, self.added) for kind in kinds)
        if within is None or self.steps.replaced <= within:
            if len(kinds) ** 2 > MOST_CHANGES:
                raise NoConstant(f"records may be replaced in more than {MOST_CHANGES:,} ways")
            yield from (self._change(gone, come, self.steps.replaced) for gone, come in itertools.permutations(kinds, 2))

    spanning = listed

    def _change(self, gone: int | None, come: int, price: int) -> EntryChange:
        words = f"{self.kinds[come]!r} added" if gone is None else f"{self.kinds[gone]!r} replaced by {self.kinds[come]!r}"
        moved = {-come - 1: 1} if gone is None else {-gone - 1: -1, -come - 1: 1}
        return EntryChange(tuple(moved.items()), price, words, (gone, come))

    def pair(self, change: EntryChange) -> tuple[Dataset, Dataset]:
        """Two datasets that differ by it; raises where there are none."""
        made = Entries.needed_in(self.spec.space)
        gone, come = change.sides
        base = [come if gone is None else gone] * max(made.least_entries() - (gone is not None), 0)
        left, right = [*base, *([gone] if gone is not None else [])], [*base, come]
        one, two = (made.from_entries([self.kinds[place] for place in side]) for side in (left, right))
        return one, two

    def pair_at(self, change: EntryChange, counts: Mapping[int, int]) -> tuple[Dataset, Dataset]:
        """Two datasets that differ by it, the first of which has these counts; raises where there are none."""
        made, after = Entries.needed_in(self.spec.space), Counter(counts)
        if sum(counts.values()) > MOST_WRITTEN:
            raise NoConstant("the dataset is too long to be written down")
        for place, by in change.moved:
            after[place] += by
        one, two = (
            made.from_entries([kind for place, kind in enumerate(self.kinds) for _ in range(held.get(-place - 1, 0))])
            for held in (counts, after)
        )
        return one, two

    def pair_of_many(self, kind: int, size: int) -> tuple[Dataset, Dataset]:
        """Two datasets that differ by one record of a kind, one of which has so many more of them."""
        made, many = Entries.needed_in(self.spec.space), [self.kinds[kind]] * size
        other = [self.kinds[kind - 1]] if self.added is None else []
        return made.from_entries([*many, *other]), made.from_entries([*many, self.kinds[kind]])


@attrs.frozen(kw_only=True)
class NumberChanges:
    """Steps of a list of whole numbers, each of price 1.

    Args:
        spec: the claim.
        steps: the steps that differences are sums of: of at most d(x, x') of them, so that neighbours differ by one step.
    """

    spec: PrivacySpec
    steps: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, tree: WholeTree, spec: PrivacySpec) -> NumberChanges:
        steps = spec.input_divergence.number_steps(len(tree.dataset.kinds))
        if steps is None:
            raise NoConstant(f"{spec.input_divergence} is not known as a number of steps of a list of numbers")
        if not {tuple(-by for by in step) for step in steps} <= set(steps):
            raise NoConstant(f"{spec.input_divergence} has steps that none runs against")
        return cls(spec=spec, steps=steps)

    @property
    def low(self) -> int:
        """The least value of each number."""
        return NumberLists.needed_in(self.spec.space).bounds()[0]

    @property
    def within(self) -> int | None:
        """One step, where only neighbours are compared."""
        return 1 if self.spec.input_divergence.is_neighbour_form else None

    def least_price(self) -> int:
        """The price of a step."""
        return 1

    def listed(self) -> Iterator[EntryChange]:
        """Every step."""
        return map(_step, self.steps)

    def spanning(self) -> Iterator[EntryChange]:
        """Those that do not lie half-way between two others, of which the others are mixtures."""
        known = set(self.steps)

        def half_way(step: tuple[int, ...]) -> bool:
            return any(tuple(2 * a - b for a, b in zip(step, other, strict=True)) in known for other in known - {step})

        return (_step(step) for step in self.steps if not half_way(step))

    def pair(self, change: EntryChange) -> tuple[Dataset, Dataset]:
        """Two datasets that differ by it; raises where there are none."""
        low, high = NumberLists.needed_in(self.spec.space).bounds()
        step = change.sides[1]
        base = [max(0, low - min(by, 0)) for by in step]
        if high is not None:
            base = [min(one, high - max(by, 0)) for one, by in zip(base, step, strict=True)]
        space = self.spec.space
        return space.dataset(tuple(base)), space.dataset(tuple(a + b for a, b in zip(base, step, strict=True)))

    def pair_at(self, change: EntryChange, counts: Mapping[int, int]) -> tuple[Dataset, Dataset]:
        """Two lists that differ by it, the first of which has these numbers; raises where there are none."""
        step = change.sides[1]
        base = [counts.get(-place - 1, max(self.low, self.low - by)) for place, by in enumerate(step)]
        space = self.spec.space
        return space.dataset(tuple(base)), space.dataset(tuple(a + b for a, b in zip(base, step, strict=True)))

    def pair_of_many(self, place: int, size: int) -> tuple[Dataset, Dataset]:
        """Two lists that differ by one at a place, with a number of such a size there."""
        low, _ = NumberLists.needed_in(self.spec.space).bounds()
        base = [max(low, 0)] * len(self.steps[0])
        ends = [[size + by if at == place else one for at, one in enumerate(base)] for by in (0, 1 if size > 0 else -1)]
        return self.spec.space.dataset(tuple(ends[0])), self.spec.space.dataset(tuple(ends[1]))


def _step(step: tuple[int, ...]) -> EntryChange:
    return EntryChange(tuple((-place - 1, by) for place, by in enumerate(step) if by), 1, f"a step by {step}", (None, step))


# --- the proof --------------------------------------------------------------------------------------


@attrs.frozen
class Costliest:
    """The constant K, with a change that needs it and what undoes the change, in words.

    Args:
        constant: K.
        change: the change.
        undone: what undoes it.
        at: the counts at which it is needed, by the numbers of their symbols, others being least; None where it is needed at all.
    """

    constant: Number
    change: EntryChange
    undone: str
    at: Mapping[int, int] | None = None


def thinned(loss: Number, probability: Fraction) -> Dichotomy:
    """The pair ((1 - q) Q + q Q', Q) of a probability q and the two coins Q', Q whose log-ratios are minus and plus a loss, or
    more.

    >>> str(thinned(number(1) * 0, Fraction(1, 2)).max_log_ratio().upper)
    '0'
    """
    grows = ceiling_of(loss.enclose(PRECISION).exp())
    if grows is None:
        raise NoConstant("the loss of an entry of the sample is beyond all numbers")
    if grows <= 1 or not probability:
        return IDENTICAL
    heads = 1 / (grows + 1)
    mixed = (1 - probability) * heads + probability * (1 - heads)
    return finite_law({1: mixed, 0: 1 - mixed}).against(finite_law({1: heads, 0: 1 - heads}))


@attrs.frozen(kw_only=True)
class WholeProof:
    """The bound on a claim that follows from the tree of some code.

    Args:
        tree: the tree.
        spec: the claim.
        changes: of what the differences of datasets are made.
    """

    tree: WholeTree
    spec: PrivacySpec
    changes: RecordChanges | NumberChanges

    @classmethod
    def of(cls, tree: WholeTree, spec: PrivacySpec) -> WholeProof:
        """The proof to be made; raises NoConstant where the claim is not of this form."""
        numbers = NumberLists.found_in(spec.space) is not None
        return cls(tree=tree, spec=spec, changes=NumberChanges.of(tree, spec) if numbers else RecordChanges.of(tree, spec))

    # -- from above -------------------------------------------------------------------------------

    def largest(self) -> Costliest:
        """K with a change that needs it: by one shift for all ends, or where that is not enough by one for each.

        Raises:
            NoConstant: no shift undoes some change, or single changes do not add up.
        """
        branches, _ = joined_trees(self.tree.law.branches(), ())
        if self.tree.statistics:
            return self._of_statistics(branches, self.tree.statistics)
        if self.tree.probabilities:
            return self._of_a_sample(branches)
        self._check_path()
        found: list[Costliest] = []
        problem = NoConstant("no change keeps the universes")
        ways = [self._by_one_shift, self._end_by_end][: len(branches)]  # of one end, the two are the same
        if any(is_about_data(condition) for leaf, _ in self.tree.law.leaves for condition in leaf.conditions):
            ways = [self._by_regions, self._by_regions_end_by_end]
        elif any(holds_extreme(leaf) for leaf, _ in self.tree.law.leaves):
            ways.append(self._by_regions)
        for way in ways:
            try:
                found.append(way(branches))
            except NoConstant as reason:
                problem = reason if not found and way == ways[0] else problem
            if found and found[-1].constant <= self.bound:
                break
        if not found:
            raise problem
        return min(found, key=lambda one: one.constant)

    def _by_one_shift(self, branches: list[Branch]) -> Costliest:
        best: Costliest | None = None
        seen: dict[Any, Number] = {}
        for change in self.changes.listed():
            shift = self._shift(branches, change)
            key = (tuple(sorted(shift.items())), change.price)
            if key not in seen:
                seen[key] = self._per_unit(self._pair(shift), change.price)
                if best is None or seen[key] > best.constant:
                    moved = ", ".join(f"draw {noise.number} ({noise.kind}) by {by}" for noise, by in sorted(shift.items()))
                    best = Costliest(seen[key], change, f"moving {moved or 'nothing'}")
        if best is None:
            raise NoConstant("no change of one record keeps the universes")
        return best

    def _end_by_end(self, branches: list[Branch]) -> Costliest:
        best: Costliest | None = None
        for change in self.changes.spanning():
            cost = max(self._cost(branches, moved, change) for moved in (change.moved, change.turned()))
            constant = self._per_unit(two_coins(cost, cost), change.price)
            if best is None or constant > best.constant:
                best = Costliest(constant, change, f"moving the draws of each end at a cost of {cost} at most")
        if best is None:
            raise NoConstant("no change keeps the universes")
        return best

    @cached_property
    def _regions(self) -> list[Region] | None:
        """The regions of datasets in which the code decides alike; None where there are too many."""
        return regions(self.tree.law, self.changes.low)

    def _crossings(self, most: int = MOST_PROGRAMS) -> Iterator[tuple[EntryChange, Region, Region, Polyhedron]]:
        """Each change with two regions and the datasets that it leads from one of them into the other; of all at most so many."""
        cut = self._regions
        if cut is None or (most < MOST_PROGRAMS and len(cut) ** 2 * sum(1 for _ in self.changes.listed()) > most):
            raise NoConstant("it decides by the dataset in too many ways")
        for left, (change, ours, theirs) in zip(
            itertools.count(MOST_PROGRAMS, -1), itertools.product(self.changes.listed(), cut, cut), strict=False
        ):
            if not left:
                raise NoConstant("it decides by the dataset in too many ways")
            between = crossing(ours, theirs, dict(change.moved), self.changes.low)
            if not between.is_empty():
                yield change, ours, theirs, between

    def _by_regions(self, branches: list[Branch]) -> Costliest:
        best: Costliest | None = None
        seen: dict[Any, Number] = {}
        for change, ours, theirs, between in self._crossings():
            shift = shift_between(ours.branches, theirs.branches, dict(change.moved))
            largest = None if shift is None else largest_shift(between, shift)
            if largest is None:
                raise NoConstant(f"no shift of the noise undoes {change.words}, where it decides by the dataset")
            key = (tuple(sorted(largest.by.items())), change.price)
            if key not in seen:
                seen[key] = self._per_unit(self._pair(largest.by), change.price)
                if best is None or seen[key] > best.constant:
                    moves = ", ".join(f"draw {noise.number} ({noise.kind}) by {by} at most" for noise, by in sorted(key[0]))
                    at = between.point(largest.slopes[0] if largest.slopes else {})
                    best = Costliest(seen[key], change, f"moving {moves or 'nothing'}", at)
        if best is None:
            raise NoConstant("no change of one record keeps the universes")
        return best

    def _of_statistics(self, branches: list[Branch], statistics: list[EntryStatistic]) -> Costliest:
        """By one shift for all ends, where statistics of the entries move by as much as they can, in whatever direction."""
        if not isinstance(self.changes, RecordChanges) or self.tree.probabilities:
            raise NoConstant("it asks for a statistic, and takes a sample or has no entries")
        if any(is_about_data(condition) for leaf, _ in self.tree.law.leaves for condition in leaf.conditions):
            raise NoConstant("it asks for a statistic, and decides by the dataset")
        self._check_path()
        moves = [(one, self._undoing(branches, {one.symbol.number: 1})) for one in statistics]
        best: Costliest | None = None
        for change in self.changes.listed():
            shift = {noise: abs(by) for noise, by in self._shift(branches, change).items()}
            for one, move in moves:
                for noise, by in move.items():
                    shift[noise] = shift.get(noise, Fraction(0)) + abs(by) * one.symbol.size
            if any(by and noise.kind not in _GROWING for noise, by in shift.items()):
                raise NoConstant("it asks for a statistic, and hides it by noise that is not known to hide what changes less")
            constant = self._per_unit(self._pair({noise: by for noise, by in shift.items() if by}), change.price)
            if best is None or constant > best.constant:
                moved = ", ".join(f"draw {noise.number} ({noise.kind}) by {by} at most" for noise, by in sorted(shift.items()))
                best = Costliest(constant, change, f"moving {moved}")
        if best is None:
            raise NoConstant("no change of one record keeps the universes")
        return self._shown_by(statistics[0], best)

    def _shown_by(self, statistic: EntryStatistic, found: Costliest) -> Costliest:
        """The same constant, with a change and a dataset where a statistic changes most."""
        extreme = statistic.extreme(len(self.tree.dataset.kinds))
        if extreme is None:
            return found
        counts, sides = extreme
        change = next((one for one in self.changes.listed() if one.sides == sides), None)
        return found if change is None else attrs.evolve(found, change=change, at=counts)

    def _by_regions_end_by_end(self, branches: list[Branch]) -> Costliest:
        best: Costliest | None = None
        seen: dict[tuple[Fraction, int], Number] = {}
        for change, ours, theirs, between in self._crossings(MOST_CROSSINGS):
            cost = cost_between(ours.branches, theirs.branches, dict(change.moved), between)
            if cost is None:
                raise NoConstant(f"no shift of the noise undoes {change.words}, where it decides by the dataset")
            key = (cost, change.price)
            if key not in seen:
                seen[key] = self._per_unit(two_coins(cost, cost), change.price)
                if best is None or seen[key] > best.constant:
                    how = f"moving the draws of each end at a cost of {cost} at most"
                    best = Costliest(seen[key], change, how, between.point({}))
        if best is None:
            raise NoConstant("no change of one record keeps the universes")
        return best

    def _of_a_sample(self, branches: list[Branch]) -> Costliest:
        """K by what an entry in the sample costs, and how seldom it is there."""
        known = self.changes
        if not isinstance(known, RecordChanges) or known.added is None or known.steps.replaced != 2 * known.added:
            raise NoConstant("it takes a sample, and entries are not added and removed one by one")
        changes = [change for change in known.listed() if change.sides[0] is None]
        self._check_path()
        best: Costliest | None = None
        for change in changes:
            probability = self.tree.probabilities.get(change.moved[0][0], Fraction(0))
            loss = self._loss(branches, change) if probability else ZERO
            constant = self._per_unit(thinned(loss, probability), change.price)
            if best is None or constant > best.constant:
                undone = f"moving the draws at a loss of {loss}, where it is sampled, with probability {probability}"
                best = Costliest(constant, change, undone)
        if best is None:
            raise NoConstant("no record can be added")
        return best

    def _loss(self, branches: list[Branch], change: EntryChange) -> Number:
        """The largest log-ratio of the laws before and after a change, at most."""
        found: list[Number] = []
        problem = NoConstant("noise that a shift does not hide")
        try:
            pair = self._pair(self._shift(branches, change))
            found += [max(way.max_log_ratio(precision=PRECISION).upper for way in (pair, pair.reverse()))]
        except NoConstant as reason:
            problem = reason
        with contextlib.suppress(NoConstant):
            found.append(number(max(self._cost(branches, moved, change) for moved in (change.moved, change.turned()))))
        if not found or min(found).is_infinite:
            raise problem
        return min(found)

    def _cost(self, branches: list[Branch], moved: tuple[tuple[int, int], ...], change: EntryChange) -> Fraction:
        """What it costs at most, over all ends, to undo a change by moving the draws."""
        costs = [cheapest_shift(tuple(_asked(branch, dict(moved)))) for branch in branches]
        known = [cost for cost in costs if cost is not None]
        if len(known) < len(costs):
            raise NoConstant(f"no shift of the noise undoes {change.words}")
        return max(known)

    def _check_path(self) -> None:
        if not self._is_one_change() and not self.spec.output_divergence.is_metric:
            raise NoConstant("d_Pr is no metric and more than one record may change")

    def _shift(self, branches: list[Branch], change: EntryChange) -> dict[NoiseDraw, Fraction]:
        try:
            return self._undoing(branches, dict(change.moved))
        except NoConstant:
            raise NoConstant(f"no shift of the noise undoes {change.words}") from None

    @staticmethod
    def _undoing(branches: list[Branch], moved: Mapping[int, int]) -> dict[NoiseDraw, Fraction]:
        """The shift of the noise that undoes some moves of symbols."""
        equations = [_equation(part, moved) for branch in branches for part in branch.parts]
        found = solve_shift(equations)
        if found is None:
            raise NoConstant("no shift of the noise undoes a change of a statistic")
        return {noise: by for noise, by in found.items() if by}

    def _pair(self, shift: Shift) -> Dichotomy:
        found = pair_of(shift)
        if found is None:
            raise NoConstant("noise that has an end, or an unknown law, is not hidden by a shift")
        return found

    def _per_unit(self, pair: Dichotomy, price: int) -> Number:
        divergence = self.spec.output_divergence
        found = max(divergence.evaluate(one, precision=PRECISION).upper for one in (pair, pair.reverse()))
        if found.is_infinite:
            return INFINITY
        return found * self._scale(price)

    def _scale(self, price: int) -> Fraction:
        """How many changes of one price a distance of 1 has room for: parts of one count, too, where several may differ."""
        within = self.changes.within
        if self._is_one_change():
            return Fraction(1)
        return Fraction(1 if within is None else within, price)

    def _is_one_change(self) -> bool:
        """Whether neighbours differ by one change."""
        within = self.changes.within
        return within is not None and 2 * self.changes.least_price() > within

    # -- numbers of a fixed width -------------------------------------------------------------------

    def exact_numbers(self) -> RecordBound:
        """For datasets of how many records the tree is that of the code; of lists of numbers, for how large ones.

        Raises:
            InexactNumbers: for so few that others can be made; or doubles may lose as much as a record changes.
        """
        bound = self.tree.dataset.bound
        found = attrs.evolve(bound, rounded={})
        moves = [change.moved for change in self.changes.listed()] if bound.rounded else []
        for (data, scale), lost in bound.rounded.items():
            factors = {one.number: factor for one, factor in data.terms}
            largest = max((abs(sum(factors.get(number, 0) * by for number, by in move)) for move in moves), default=0) or scale
            if lost > ROUNDED * largest:
                raise InexactNumbers("the rounding of doubles may be as large as what one record changes")
            span = span_of(data, alone=bound.alone)
            step = max(span.up, span.down)
            if step:
                records = math.floor((WHOLE_DOUBLES * largest - abs(data.constant)) / step) - 1
                found.holds_up_to(records, span.highest, DOUBLES)
        if found.limit is not None and found.limit < FAR:
            raise InexactNumbers(self._fewer(found.limit) + f" only: {found.reason}")
        return found

    def pairs_at_the_end(self) -> Iterator[tuple[Dataset, Dataset]]:
        """Pairs of datasets that differ by one change, the first of which is the largest that integers of the code hold."""
        bound = self.tree.dataset.bound
        if bound.limit is None or bound.symbol is None or bound.limit > MOST_WRITTEN:
            return
        for sign in (1, -1) if bound.alone else (1,):
            with contextlib.suppress(DpspecError):
                yield self.changes.pair_of_many(-bound.symbol - 1, sign * bound.limit)

    def _fewer(self, limit: int) -> str:
        """For which datasets its numbers are those of the machine."""
        return f"what it computes is exact for {self._many(limit)}"

    # -- from below -------------------------------------------------------------------------------

    def datasets(self, found: Costliest) -> tuple[Dataset, Dataset] | None:
        """Two datasets of one universe that differ by the costliest change."""
        space = self.spec.space
        try:
            one, two = self.changes.pair(found.change) if found.at is None else self.changes.pair_at(found.change, found.at)
        except Exception:
            return None
        ours, theirs = (set(self.spec.multiverse.labels(dataset, space)) for dataset in (one, two))
        return (one, two) if ours & theirs else None

    def below(self, costliest: Costliest) -> tuple[Bracket, Witness] | None:
        """d_Pr per unit of a pair, from the laws of the code on its two datasets, and the pair as a witness of it."""
        pair = self.datasets(costliest)
        distance = INFINITY if pair is None else self.spec.distance(*pair)
        if pair is None or distance.is_infinite or distance == 0:
            return None
        divergence = Bracket(lower=ZERO, upper=INFINITY)
        if not self.tree.probabilities:
            laws = [self.tree.law_on(dataset) for dataset in pair]
            divergence = self.spec.output_divergence.evaluate(laws[0].against(laws[1]), precision=PRECISION)
        lower = divergence.lower
        if distance != 1 and not lower.is_infinite:
            lower = Bracket.around(divergence.lower.enclose() / distance.enclose()).lower
        label = next(one for one in self._labels(pair[0]) if one in self._labels(pair[1]))
        shown = Witness(universe=label, left=pair[0], right=pair[1], distance=distance, divergence=divergence, bound=self.bound)
        return Bracket(lower=lower, upper=INFINITY), shown

    def _labels(self, dataset: Dataset) -> list[Hashable]:
        return list(self.spec.multiverse.labels(dataset, self.spec.space))

    # -- the verdict ------------------------------------------------------------------------------

    @property
    def bound(self) -> Number:
        """The least Lipschitz constant that the budget allows in a universe."""
        budget = self.spec.budget.least()
        if budget is None:
            raise NoConstant("no number is known that the budget of every universe is at least")
        return self.spec.output_divergence.lipschitz(self.spec.budget.parameter, budget)

    def verdict(self) -> Verdict:
        """Verified where K is within the budget, refuted where a pair is beyond it."""
        costliest, exact = self.largest(), self.exact_numbers()
        upper = costliest.constant
        found = self.below(costliest)
        if found is None:
            raise NoConstant("no two datasets of one universe were found that differ by the costliest change")
        lower, shown = found[0].lower, found[1]
        is_rounded = lower > upper  # by the last digits of the doubles of the pair, which then shows nothing
        if is_rounded and not lower <= upper * (1 + ROUNDING):
            raise NoConstant("a pair lies beyond what was proved, so that one of the two is wrong")
        if not is_rounded and lower > self.bound and self.spec.budget.uniform() is not None:
            result = self._result(Bracket(lower=lower, upper=INFINITY), Outcome.REFUTED, shown)
            return Verdict(outcome=Outcome.REFUTED, method=METHOD, scope=ONE_PAIR, universes=(result,), witness=shown)
        ends = [(most, why) for most, why in ((exact.limit, exact.reason), (exact.breaks, exact.broken)) if most is not None]
        scope = f"all datasets of {self._many(min(ends)[0])}" if ends else WHOLE
        broken = f"beyond {self._many(exact.breaks)}, {exact.broken}" if exact.breaks is not None else ""
        is_within = upper <= self.bound and not (is_rounded and lower > self.bound)
        outcome = Outcome.VERIFIED if is_within else Outcome.UNDECIDED
        low = ZERO if is_rounded else max(lower, ZERO)
        constant = Bracket.exactly(upper) if lower == upper else Bracket(lower=low, upper=upper)
        result = self._result(constant, outcome, shown)
        reason = "" if is_within else f"the constant is at most {upper}, by aligning the noise"
        if is_rounded and reason:
            reason += "; the doubles of two datasets exceed that in their last digits"
        if reason and not upper.is_infinite and upper <= self.bound * (1 + ROUNDING):
            reason += f"; {self.bound} is below that by less than the rounding of doubles: write what is meant, such as ln(2)"
        return Verdict(
            outcome=outcome, method=METHOD, scope=scope, reason=reason,
            universes=(result.at_most() if is_rounded else result,), proof=_proof_steps(costliest),
            assumptions=tuple(f"{self._many(most)}: beyond, {why}" for most, why in sorted(ends)),
            findings=(Notice(code="breaks", text=f"{broken}: nothing is said of such datasets"),) if broken else (),
        )  # fmt: skip

    def _many(self, most: int) -> str:
        """For how many records its numbers are those of the machine, or for how large numbers."""
        return f"numbers below {most + 1:,}" if self.tree.dataset.bound.alone else f"fewer than {count(most + 1, 'record')}"

    def _result(self, constant: Bracket, outcome: Outcome, shown: Witness) -> UniverseResult:
        return UniverseResult(
            label=EVERY, datasets=None, pairs=None, constant=constant, bound=self.bound, outcome=outcome,
            attained=(shown.left, shown.right),
        )  # fmt: skip


def _proof_steps(found: Costliest) -> tuple[ProofStep, ...]:
    return (
        ProofStep(
            step="structure",
            says="run on counts that are symbols, the code reads its dataset through sums and counts alone",
            citation="",
        ),
        ProofStep(
            step="sensitivity",
            says=f"the costliest change, {found.change.words}, is undone by {found.undone}",
            citation="Dwork, McSherry, Nissim and Smith 2006",
        ),
        ProofStep(step="noise", says=f"so the constant is at most {found.constant} per unit", citation="data processing"),
    )


def _asked(branch: Branch, moved: Mapping[int, int]) -> Iterator[AskedOfShift]:
    """The constraints on the shift of an end, under which its conditions and output do not change."""
    for part, sense in zip(branch.parts, branch.senses, strict=True):
        noise, changed = _equation(part, moved)
        yield tuple(sorted(noise.items())), sense, -changed


def _equation(part: Affine, moved: Mapping[int, int]) -> tuple[dict[NoiseDraw, Fraction], Fraction]:
    """a.delta = b.e for the affine part a.W + b.N + c."""
    noise = {one: factor for one, factor in part.terms if not one.is_count}
    changed = sum((factor * moved.get(one.number, 0) for one, factor in part.terms if one.is_count), Fraction(0))
    return noise, changed
