"""Walks from a given dataset of any size: pairs (x, x') of one universe, with x' a few moves away.

A step looks at two to four cells of the dataset (coordinates, for a vector). It tries an exchange of values between the
first two, or a kernel vector over all cells that combine what these are made of (`DatasetSpace.crossed`). Where
`exchanges_connect` says so, enough steps reach every table of the universe; for bit vectors with fixed sum likewise; in general
only what such steps reach. Every step stays inside the universe, so dropping steps, which is how a pair shrinks, does too.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

from dpspec.blocks.invariant import Invariant
from dpspec.blocks.moves import adds_up, changed, exchanges, kernel_of
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import IncompatibleBlocksError, NotInSpaceError
from dpspec.spec import PrivacySpec

JOINED = 6
"""The differences of this many basis vectors are moves, too."""

Change = tuple[tuple[Hashable, int], ...]
"""What a move adds to the counts."""


def pairs_from(dataset: Any, spec: PrivacySpec, *, steps: int = 6) -> st.SearchStrategy[tuple[Dataset, Dataset]]:
    """A given dataset x and another one of its universe, at most `steps` moves away; shrinks to fewer moves."""
    space = spec.space
    start = space.dataset(dataset)
    if not space.has_counts() or spec.multiverse.invariants is None:
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
    space, invariants = spec.space, spec.multiverse.invariants or ()
    counts = space.counts(current)
    held = sorted(counts.elements(), key=repr) if space.cells_are_records else space.cells() or ()
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
    cells, (low, high) = space.crossed(chosen), space.cell_range()
    basis = kernel_of(invariants, cells, space)
    further = [tuple(a - b for a, b in zip(*pair, strict=True)) for pair in itertools.combinations(basis[:JOINED], 2)]
    for vector in (*basis, *further):
        for sign in (1, -1):
            after = changed(counts, cells, (sign * step for step in vector))
            if all(after[cell] >= low and (high is None or after[cell] <= high) for cell in cells):
                yield tuple((cell, sign * step) for cell, step in zip(cells, vector, strict=True) if step)


def _applied(current: Dataset, counts: Counter[Hashable], change: Change, space: DatasetSpace) -> Dataset:
    """The dataset after a change; in a sequence the new records take the places of the old ones."""
    if not space.is_sequence:
        return space.from_counts(changed(counts, [cell for cell, _ in change], [step for _, step in change]))
    gone = Counter({cell: -step for cell, step in change if step < 0})
    fresh = [cell for cell, step in change for _ in range(max(step, 0))]
    records: list[Hashable] = []
    for record in space.cells_of(current):
        if not gone[record]:
            records.append(record)
            continue
        gone[record] -= 1
        records += [fresh.pop()] if fresh else []
    return space.dataset([*records, *fresh])
