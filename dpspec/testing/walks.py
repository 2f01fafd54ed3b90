"""Strategies that draw pairs (x, x') inside one universe of any space, and never leave it while they shrink.

pairs_in_universe(spec)        two datasets of one universe at finite distance
drawn_datasets(space)          datasets of a space that is too large to list

What is reached. `pairs_in_universe` lists a small space and draws from its universes: every pair. Otherwise it draws cells,
then a kernel vector v over them and a common part w, and returns (w + v^-, w + v^+), which reaches every pair whose
difference is a sum of at most `TERMS` basis vectors on one palette (`dpspec.blocks.moves`, `dpspec.testing.palettes`);
no connectedness by small steps is needed. Invariants that do not add up over cells are held by rejection, which gives up
with `NotReachedError`. Walks from a given dataset are in `dpspec.testing.steps`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import attrs
from hypothesis import reject
from hypothesis import strategies as st

from dpspec.blocks.choice import Mentioned
from dpspec.blocks.invariant import Invariant
from dpspec.blocks.moves import adds_up, kernel_of
from dpspec.blocks.multiverse import Universe
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import NotInSpaceError, NotReachedError
from dpspec.spec import PrivacySpec
from dpspec.testing.palettes import Draw, cells_drawn

LISTED = 2_000
"""A space with at most this many datasets is listed."""
TERMS = 4
"""A difference is the sum of at most this many basis vectors, with coefficients up to 2."""
COMMON = 4
"""The common part of two datasets has at most this many cells, beyond what the space demands."""
PATIENCE = 300
"""After this many candidates without one pair of a universe, rejection gives up."""

Pair = tuple[Dataset, Dataset]


def pairs_in_universe(spec: PrivacySpec) -> st.SearchStrategy[Pair]:
    """Two different datasets of one universe at finite distance: what a claim is about.

    Raises:
        NotReachedError: while drawing, when rejection meets no pair of one universe.
    """
    space, size = spec.space, spec.space.cardinality()
    listed = spec.multiverse.is_listed or (size is not None and size <= LISTED)
    if listed or not space.has_counts():
        return _listed_pairs(spec)
    return _Search.of(spec).pairs()


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
    small = space if size is not None and size <= LISTED else space.miniature(everything, 3) or space
    return tuple(dataset for dataset, _ in zip(small.datasets(), range(LISTED), strict=False))


def grouped(spec: PrivacySpec, datasets: Sequence[Dataset]) -> tuple[Universe, ...]:
    """The universes of the specification, cut down to some datasets."""
    members: dict[Hashable, list[Dataset]] = {}
    for dataset in datasets:
        for label in spec.multiverse.labels(dataset, spec.space):
            members.setdefault(label, []).append(dataset)
    return tuple(Universe(label=label, datasets=tuple(held)) for label, held in members.items())


def drawn_datasets(space: DatasetSpace) -> st.SearchStrategy[Dataset]:
    """Datasets of a space that is too large to list, shrinking towards few records with the first categories."""
    if not space.has_counts():
        return st.sampled_from(first_datasets(space))

    @st.composite
    def one(draw: Draw) -> Dataset:
        cells = cells_drawn(draw, space, {}, whole=False)
        common = _common(draw, cells, space)
        return _arranged(draw, common, space) if space.is_sequence else _valid(common, space)

    return one()


# --- differences -----------------------------------------------------------------------------------


@attrs.define
class _Search:
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
    def of(cls, spec: PrivacySpec) -> _Search:
        invariants = spec.multiverse.invariants or ()
        additive = tuple(i for i in invariants if adds_up(i, spec.space))
        mentioned: dict[str, frozenset[str]] = {}
        for invariant in invariants:
            for name, categories in invariant.mentions().items():
                mentioned[name] = mentioned.get(name, frozenset()) | categories
        whole = any(invariant.margin(spec.space) is None for invariant in additive)
        rejected = len(additive) < len(invariants) or spec.multiverse.invariants is None
        return cls(spec, additive, rejected, _keeps_size(spec), mentioned, whole)

    def pairs(self) -> st.SearchStrategy[Pair]:
        @st.composite
        def one(draw: Draw) -> Pair:
            return self._pair(draw)

        return one()

    def _pair(self, draw: Draw) -> Pair:
        space = self.spec.space
        cells = cells_drawn(draw, space, self.mentioned, whole=self.whole)
        keep_total = self.keeps_size and draw(st.integers(0, 3)) < 3
        basis = kernel_of(self.additive, cells, space, keep_total=keep_total)
        permuted = space.is_sequence and len(cells) > 1
        if not basis and not permuted:
            reject()
        change = self._difference(draw, basis, len(cells), least=0 if permuted else 1)
        common = _common(draw, cells, space)
        sides = [_side(common, change, cells, space, sign) for sign in (-1, 1)]
        if space.is_sequence:
            left, right = _ordered(draw, sides[0], sides[1], space)
        else:
            left, right = (_valid(side, space) for side in sides)
        self._check(left, right)
        return left, right

    def _difference(self, draw: Draw, basis: Sequence[tuple[int, ...]], columns: int, least: int) -> list[int]:
        """A sum of a few basis vectors."""
        change = [0] * columns
        if basis:
            term = st.tuples(st.integers(0, len(basis) - 1), st.sampled_from((1, -1, 2, -2)))
            for place, factor in draw(st.lists(term, min_size=least, max_size=TERMS)):
                for i, step in enumerate(basis[place]):
                    change[i] += factor * step
        return change

    def _check(self, left: Dataset, right: Dataset) -> None:
        """Reject equal datasets, infinite distances, and pairs that an invariant which does not add up tells apart."""
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
    cell = space.first_cell()
    if not space.cells_are_records or cell is None:
        return False
    least = max(space.total_range()[0], 1)
    try:
        return spec.distance(*(space.from_counts({cell: size}) for size in (least, least + 1))).is_infinite
    except NotInSpaceError:
        return True


def _common(draw: Draw, cells: Sequence[Hashable], space: DatasetSpace) -> Counter[Hashable]:
    """The common part w: a few cells, filled up to the least size of the space."""
    least, (low, high) = space.total_range()[0], space.cell_range()
    common = Counter(draw(st.lists(st.sampled_from(cells), max_size=COMMON)))
    if low:
        common.update(dict.fromkeys(space.cells() or (), low))
    if high is not None:
        common = Counter({cell: min(count, high) for cell, count in common.items()})
    if common.total() < least:
        common[cells[0]] += least - common.total()
    return common


def _side(common: Counter[Hashable], change: Sequence[int], cells: Sequence[Hashable], space: DatasetSpace, sign: int) -> Any:
    """w + v^- or w + v^+, less of w where the space bounds a coordinate or the size."""
    moved = {cell: step for cell, step in zip(cells, change, strict=True) if step}
    side, high, most = Counter(common), space.cell_range()[1], space.total_range()[1]
    if high is not None:
        for cell, step in moved.items():
            side[cell] = min(side[cell], high - abs(step))
    elif most is not None:
        excess = side.total() + max(_parts(change)) - most
        for cell in list(side):
            cut = max(0, min(excess, side[cell]))
            side[cell], excess = side[cell] - cut, excess - cut
    side.update({cell: sign * step for cell, step in moved.items() if sign * step > 0})
    return side


def _parts(change: Sequence[int]) -> tuple[int, int]:
    return sum(max(step, 0) for step in change), sum(max(-step, 0) for step in change)


def _valid(counts: Counter[Hashable], space: DatasetSpace) -> Dataset:
    try:
        return space.from_counts(counts)
    except NotInSpaceError:
        reject()


def _ordered(draw: Draw, left: Counter[Hashable], right: Counter[Hashable], space: DatasetSpace) -> Pair:
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


def _arranged(draw: Draw, counts: Counter[Hashable], space: DatasetSpace) -> Dataset:
    return _valid_sequence(draw(st.permutations(sorted(counts.elements(), key=repr))), space)


def _valid_sequence(records: Sequence[Hashable], space: DatasetSpace) -> Dataset:
    try:
        return space.dataset(records)
    except NotInSpaceError:
        reject()
