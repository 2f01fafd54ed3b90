"""Strategies that draw pairs (x, x') inside one universe of any space, and never leave it while they shrink.

    pairs_in_universe(spec)        two datasets of one universe at finite distance
    drawn_datasets(space)          datasets of a space that is too large to list

What is reached. `pairs_in_universe` lists a small space and draws from its universes: every pair. Otherwise it draws cells,
then a kernel vector v over them and a common part w, and returns (w + v^-, w + v^+), which reaches every pair whose
difference is a sum of at most `TERMS` basis vectors on one palette (`dpspec.blocks.moves`, `dpspec.testing.walks`);
no connectedness by small steps is needed. Invariants that do not add up over cells are held by rejection, which gives up
with `NotReachedError`. Walks from a given dataset are in `dpspec.testing.walks`.

*Walks* lead from a dataset of any size to one a few moves away.

A step looks at two to four cells of the dataset (coordinates, for a vector). It tries an exchange of values between the
first two, or a kernel vector over all cells that combine what these are made of (`DatasetSpace.crossed`). Where
`exchanges_connect` says so, enough steps reach every table of the universe; for bit vectors with fixed sum likewise; in general
only what such steps reach. Every step stays inside the universe, so dropping steps, which is how a pair shrinks, does too.

*Few cells out of many* are what a small pair of datasets is made of, drawn from a space of any size.

The space says what a palette is (`DatasetSpace.palette`); here Hypothesis chooses it, so that it shrinks.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, TypeVar

import attrs
from hypothesis import reject, strategies as st

from dpspec.base.errors import IncompatibleBlocksError, NotInSpaceError, NotReachedError
from dpspec.blocks.invariant import Invariant
from dpspec.blocks.moves import adds_up, changed, exchanges, kernel_of
from dpspec.blocks.multiverse import Universe, mentioned_by
from dpspec.blocks.parts import (
    FEW_CELLS,
    CellCounts,
    Collections,
    Mentioned,
    counting_cells,
    few_cells,
    listed_cells,
    miniature_of,
)
from dpspec.blocks.space import Dataset, DatasetSpace, Pair
from dpspec.grammar.spec import PrivacySpec

JOINED = 6
"""The differences of this many basis vectors are moves, too."""

Change = tuple[tuple[Hashable, int], ...]
"""The change of the counts by a move."""


def pairs_from(dataset: Any, spec: PrivacySpec, *, steps: int = 6) -> st.SearchStrategy[tuple[Dataset, Dataset]]:
    """A given dataset x and another one of its universe, at most `steps` moves away; shrinks to fewer moves."""
    space = spec.space
    start = space.dataset(dataset)
    if counting_cells(space) is None or spec.multiverse.induced_by() is None:
        raise IncompatibleBlocksError("multiverse", "moves need a space with cells and universes given by invariants")
    code = st.tuples(st.lists(st.integers(0, 2**16), min_size=2, max_size=4), st.integers(0, 2**8))

    def walked(codes: Sequence[tuple[list[int], int]]) -> tuple[Dataset, Dataset]:
        current = start
        for slots, choice in codes:
            current = stepped(current, slots, choice, spec)
        return start, current

    moves = st.lists(code, min_size=1, max_size=steps)
    return moves.map(walked).filter(lambda pair: pair[0] != pair[1] and not spec.distance(*pair).is_infinite)


def stepped(current: Dataset, slots: Sequence[int], choice: int, spec: PrivacySpec) -> Dataset:
    """The dataset after one move, or the same when the chosen cells allow none."""
    space, invariants = spec.space, spec.multiverse.induced_by() or ()
    counts = CellCounts.needed_in(space).counts(current)
    are_records = Collections.found_in(space) is not None
    held = sorted(counts.elements(), key=repr) if are_records else listed_cells(space) or ()
    if not held:
        return current
    chosen = [held[slot % len(held)] for slot in slots]
    additive = tuple(invariant for invariant in invariants if adds_up(invariant, space))
    found = list(_candidates(counts, chosen, additive, space))
    if not found:
        return current
    try:
        after = _applied(current, counts, found[choice % len(found)], space)
    except NotInSpaceError:
        return current
    fits = len(additive) == len(invariants) or spec.multiverse.share_universe(current, after, space)
    return after if fits else current


def _candidates(
    counts: Counter[Hashable], chosen: Sequence[Hashable], invariants: Sequence[Invariant], space: DatasetSpace
) -> Iterator[Change]:
    """The changes that a step may make and that leave every count within its bounds."""
    for pair in exchanges(chosen[0], chosen[1], invariants, space):
        change = Counter(pair)
        change.subtract(chosen[:2])
        if any(change.values()) and (chosen[0] != chosen[1] or counts[chosen[0]] > 1):
            yield tuple((cell, step) for cell, step in change.items() if step)
    part = CellCounts.needed_in(space)
    cells, (low, high) = part.crossed(chosen), part.cell_range()
    basis = kernel_of(invariants, cells, space)
    further = [tuple(a - b for a, b in zip(*pair, strict=True)) for pair in itertools.combinations(basis[:JOINED], 2)]
    for vector in (*basis, *further):
        for sign in (1, -1):
            after = changed(counts, cells, (sign * step for step in vector))
            if all(after[cell] >= low and (high is None or after[cell] <= high) for cell in cells):
                yield tuple((cell, sign * step) for cell, step in zip(cells, vector, strict=True) if step)


def _applied(current: Dataset, counts: Counter[Hashable], change: Change, space: DatasetSpace) -> Dataset:
    """The dataset after a change; in a sequence the new records take the places of the old ones."""
    part = CellCounts.needed_in(space)
    if not part.is_sequence:
        return part.from_counts(changed(counts, [cell for cell, _ in change], [step for _, step in change]))
    gone = Counter({cell: -step for cell, step in change if step < 0})
    fresh = [cell for cell, step in change for _ in range(max(step, 0))]
    records: list[Hashable] = []
    for record in part.cells_of(current):
        if not gone[record]:
            records.append(record)
            continue
        gone[record] -= 1
        records += [fresh.pop()] if fresh else []
    return space.dataset([*records, *fresh])


# --- few cells out of many ------------------------------------------------------------------------


HypothesisDraw = Any
Item = TypeVar("Item")


@attrs.frozen
class DrawnChoice:
    """Chooses by drawing from strategies: a `dpspec.blocks.parts.Choice`.

    Args:
        draw: the function that a composite strategy is given.
    """

    draw: HypothesisDraw

    def number(self, least: int, most: int) -> int:
        """A number of the range."""
        return int(self.draw(st.integers(least, most)))

    def some(self, items: Sequence[Item], most: int) -> list[Item]:
        """At most so many different items, possibly none."""
        return list(self.draw(st.lists(st.sampled_from(items), unique=True, max_size=most)))

    def places(self, size: int, least: int, most: int, favoured: Sequence[int] = ()) -> list[int]:
        """Different numbers below the size, in order, the favoured ones more often than others."""
        anywhere = st.integers(0, size - 1)
        one = st.one_of(anywhere, st.sampled_from(favoured)) if favoured else anywhere
        if least == most == 1:
            return [self.draw(one)]
        return sorted(self.draw(st.lists(one, min_size=least, max_size=most, unique=True)))

    def bags(self, items: Sequence[Item], longest: int, most: int) -> list[tuple[Item, ...]]:
        """One to so many different multisets of sortable items, each sorted and no longer than `longest`, in order."""
        bag = st.lists(st.sampled_from(items), max_size=longest).map(lambda chosen: tuple(sorted(chosen)))  # type: ignore[type-var]
        return sorted(self.draw(st.lists(bag, min_size=1, max_size=most, unique=True)))


def cells_drawn(draw: HypothesisDraw, space: DatasetSpace, mentioned: Mentioned, *, whole: bool) -> tuple[Hashable, ...]:
    """The cells of one palette of the space.

    Args:
        mentioned: the attributes that the invariants look at, with the categories that they single out.
        whole: take all cells when they are few.
    """
    listed = listed_cells(space) if whole else None
    return listed if listed is not None and len(listed) <= FEW_CELLS else few_cells(space, DrawnChoice(draw), mentioned)


# --- walks ----------------------------------------------------------------------------------------


LISTED = 2_000
"""A space with at most this many datasets is listed."""
TERMS = 4
"""A difference is the sum of at most this many basis vectors, with coefficients up to 2."""
COMMON = 4
"""The common part of two datasets has at most this many cells, beyond what the space demands."""
PATIENCE = 300
"""After this many candidates without one pair of a universe, rejection gives up."""


def pairs_in_universe(spec: PrivacySpec) -> st.SearchStrategy[Pair]:
    """Two different datasets of one universe at finite distance: what a claim is about.

    Raises:
        NotReachedError: while drawing, when rejection meets no pair of one universe.
    """
    space, size = spec.space, spec.space.cardinality()
    listed = spec.multiverse.is_listed or (size is not None and size <= LISTED)
    if listed or counting_cells(space) is None:
        return _listed_pairs(spec)
    return _WalkSearch.of(spec).pairs()


def _listed_pairs(spec: PrivacySpec) -> st.SearchStrategy[Pair]:
    if spec.multiverse.is_listed:
        universes = tuple(spec.multiverse.universes(spec.space))
    else:
        universes = grouped(spec, first_datasets(spec.space))
    several = [universe for universe in universes if len(universe) > 1]
    if not several:
        return st.nothing()
    return (
        st.sampled_from(several)
        .flatmap(lambda universe: st.tuples(st.sampled_from(universe.datasets), st.sampled_from(universe.datasets)))
        .filter(lambda pair: pair[0] != pair[1] and not spec.distance(*pair).is_infinite)
    )


def first_datasets(space: DatasetSpace) -> tuple[Dataset, ...]:
    """All datasets of a small space; of another one the first `LISTED` of the space or of its miniature."""
    size = space.cardinality()
    everything: Mentioned = {a.name: frozenset() for unit in space.units for a in space.attributes_of(unit)}
    small = space if size is not None and size <= LISTED else miniature_of(space, everything, 3) or space
    return tuple(dataset for dataset, _ in zip(small.datasets(), range(LISTED), strict=False))


def grouped(spec: PrivacySpec, datasets: Sequence[Dataset]) -> tuple[Universe, ...]:
    """The universes of the specification, cut down to some datasets."""
    members: dict[Hashable, list[Dataset]] = {}
    for dataset in datasets:
        for label in spec.multiverse.labels(dataset, spec.space):
            members.setdefault(label, []).append(dataset)
    return tuple(Universe(label=label, datasets=tuple(held), is_whole=False) for label, held in members.items())


def drawn_datasets(space: DatasetSpace) -> st.SearchStrategy[Dataset]:
    """Datasets of a space that is too large to list, shrinking towards few records with the first categories."""
    part = counting_cells(space)
    if part is None:
        return st.sampled_from(first_datasets(space))

    @st.composite
    def one(draw: HypothesisDraw) -> Dataset:
        cells = cells_drawn(draw, space, {}, whole=False)
        common = _common(draw, cells, space)
        if not part.is_sequence:
            return _valid(common, space)
        return _valid_sequence(draw(st.permutations(sorted(common.elements(), key=repr))), space)

    return one()


# --- differences -----------------------------------------------------------------------------------


@attrs.define
class _WalkSearch:
    """Draws pairs by differences; counts how often rejection failed.

    Args:
        additive: the invariants that add up over cells, which the differences keep.
        rejected: whether others must be held by rejection.
        keeps_size: whether d_X is infinite between datasets of different sizes, as far as one try shows.
        mentioned: what the invariants look at.
        whole: whether some invariant has no attributes, so that only the list of all cells can be counted on.
    """

    spec: PrivacySpec
    additive: tuple[Invariant, ...]
    rejected: bool
    keeps_size: bool
    mentioned: Mentioned
    whole: bool
    misses: int = 0
    found: bool = False

    @classmethod
    def of(cls, spec: PrivacySpec) -> _WalkSearch:
        invariants = spec.multiverse.induced_by() or ()
        additive = tuple(i for i in invariants if adds_up(i, spec.space))
        mentioned = mentioned_by(invariants)
        whole = any(invariant.margin(spec.space) is None for invariant in additive)
        rejected = len(additive) < len(invariants) or spec.multiverse.induced_by() is None
        return cls(spec, additive, rejected, _keeps_size(spec), mentioned, whole)

    def pairs(self) -> st.SearchStrategy[Pair]:
        @st.composite
        def one(draw: HypothesisDraw) -> Pair:
            return self._pair(draw)

        return one()

    def _pair(self, draw: HypothesisDraw) -> Pair:
        space = self.spec.space
        cells = cells_drawn(draw, space, self.mentioned, whole=self.whole)
        keep_total = self.keeps_size and draw(st.integers(0, 3)) < 3  # not always, as one try is no proof
        basis = kernel_of(self.additive, cells, space, keep_total=keep_total)
        in_order = CellCounts.needed_in(space).is_sequence
        permuted = in_order and len(cells) > 1
        if not basis and not permuted:
            reject()
        change = self._difference(draw, basis, len(cells), least=0 if permuted else 1)
        common = _common(draw, cells, space)
        sides = [_side(common, change, cells, space, sign) for sign in (-1, 1)]
        if in_order:
            left, right = _ordered(draw, sides[0], sides[1], space)
        else:
            left, right = (_valid(side, space) for side in sides)
        self._check(left, right)
        return left, right

    def _difference(self, draw: HypothesisDraw, basis: Sequence[tuple[int, ...]], columns: int, least: int) -> list[int]:
        """A sum of a few basis vectors."""
        change = [0] * columns
        if basis:
            term = st.tuples(st.integers(0, len(basis) - 1), st.sampled_from((1, -1, 2, -2)))
            for place, factor in draw(st.lists(term, min_size=least, max_size=TERMS)):
                for i, step in enumerate(basis[place]):
                    change[i] += factor * step
        return change

    def _check(self, left: Dataset, right: Dataset) -> None:
        """Reject equal datasets, infinite distances, and pairs that an invariant which does not add up distinguishes."""
        if left == right or self.spec.distance(left, right).is_infinite:
            reject()
        if self.rejected:
            if self.spec.multiverse.share_universe(left, right, self.spec.space):
                self.found = True
                return
            self.misses += 1
            if self.misses >= PATIENCE and not self.found:
                raise NotReachedError(
                    "multiverse", f"no two datasets of one universe among {PATIENCE} drawn pairs",
                    "write the invariants as marginals or linear maps, or list the datasets", value=str(self.spec.multiverse),
                )  # fmt: skip
            reject()


def _keeps_size(spec: PrivacySpec) -> bool:
    """Whether d_X is infinite between a dataset and one with a record more, tried on one pair."""
    space = spec.space
    part = Collections.found_in(space)
    cell = None if part is None else part.first_cell()
    if part is None or cell is None:
        return False
    least = max(part.total_range()[0], 1)
    try:
        return spec.distance(*(part.from_counts({cell: size}) for size in (least, least + 1))).is_infinite
    except NotInSpaceError:  # all datasets have one size
        return True


def _common(draw: HypothesisDraw, cells: Sequence[Hashable], space: DatasetSpace) -> Counter[Hashable]:
    """The common part w: a few cells, filled up to the least size of the space."""
    part = CellCounts.needed_in(space)
    least, (low, high) = part.total_range()[0], part.cell_range()
    common = Counter(draw(st.lists(st.sampled_from(cells), max_size=COMMON)))
    if low:
        common.update(dict.fromkeys(listed_cells(space) or (), low))
    if high is not None:
        common = Counter({cell: min(count, high) for cell, count in common.items()})
    if common.total() < least:
        common[cells[0]] += least - common.total()
    return common


def _side(common: Counter[Hashable], change: Sequence[int], cells: Sequence[Hashable], space: DatasetSpace, sign: int) -> Any:
    """w + v^- or w + v^+, less of w where the space bounds a coordinate or the size."""
    moved = {cell: step for cell, step in zip(cells, change, strict=True) if step}
    part = CellCounts.needed_in(space)
    side, high, most = Counter(common), part.cell_range()[1], part.total_range()[1]
    if high is not None:
        for cell, step in moved.items():
            side[cell] = min(side[cell], high - abs(step))
    elif most is not None:
        rise, fall = sum(max(step, 0) for step in change), sum(max(-step, 0) for step in change)
        excess = side.total() + max(rise, fall) - most
        for cell in list(side):
            cut = max(0, min(excess, side[cell]))
            side[cell], excess = side[cell] - cut, excess - cut
    side.update({cell: sign * step for cell, step in moved.items() if sign * step > 0})
    return side


def _valid(counts: Counter[Hashable], space: DatasetSpace) -> Dataset:
    try:
        return CellCounts.needed_in(space).from_counts(counts)
    except NotInSpaceError:
        reject()


def _ordered(draw: HypothesisDraw, left: Counter[Hashable], right: Counter[Hashable], space: DatasetSpace) -> Pair:
    """Two sequences with these records: shared ones keep their places, then some places are exchanged."""
    shared = left & right
    start = sorted(shared.elements(), key=repr)
    pair = []
    for side in (left, right):
        own = sorted((side - shared).elements(), key=repr)
        pair.append([*own, *start])
    orders = draw(st.tuples(_swaps(len(pair[0])), _swaps(len(pair[1]))))
    for records, swaps in zip(pair, (orders[0], orders[0] + orders[1]), strict=True):
        for i, j in swaps:
            if max(i, j) < len(records):
                records[i], records[j] = records[j], records[i]
    return _valid_sequence(pair[0], space), _valid_sequence(pair[1], space)


def _swaps(size: int) -> st.SearchStrategy[list[tuple[int, int]]]:
    place = st.integers(0, max(size - 1, 0))
    return st.lists(st.tuples(place, place), max_size=3)


def _valid_sequence(records: Sequence[Hashable], space: DatasetSpace) -> Dataset:
    try:
        return space.dataset(records)
    except NotInSpaceError:
        reject()
