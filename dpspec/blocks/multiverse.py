"""Block 2: the data multiverse, the universes inside which protection is promised.

Two datasets are compared only when some universe holds both. Universes may overlap and need not cover X.

Sets of invariants are ordered by whether one determines the other: c determines c' on X when c(x) = c(x') implies c'(x) =
c'(x'). Then the universes of c are finer, and a specification inside the universes of c' implies the one inside those of c
(Bailie, Gong and Meng 2023; Bailie, Gong, Meng and Drechsler 2024). The answer is *decided* for marginals and for integer linear
maps: by a coarser table, by the row space of the
matrices, or by two datasets that agree on c and differ on c'.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, ClassVar

import attrs
from flint import fmpz_mat

from dpspec.base.errors import DpspecError, ParameterError
from dpspec.base.memo import memoize
from dpspec.base.params import Data, Items, Pairs, Registered, collect, define
from dpspec.base.promises import Promising, is_a, is_promised
from dpspec.base.work import spend
from dpspec.blocks.invariant import Invariant, Marginal
from dpspec.blocks.multisets import Multisets
from dpspec.blocks.parts import ListedCells, listed_cells, listing_size, merged_mentions, miniature_of, own_attributes
from dpspec.blocks.space import Dataset, DatasetSpace, Record, exchanged_records


@attrs.frozen(kw_only=True)
class Universe:
    """A set of datasets inside which protection is promised.

    Args:
        label: what names it within its multiverse (for level sets: the value of the invariants).
        datasets: its datasets, smallest first.
        is_whole: whether these are all its datasets.
    """

    label: Hashable
    datasets: tuple[Dataset, ...]
    is_whole: bool = True

    def __len__(self) -> int:
        return len(self.datasets)


class Multiverse(Promising, ABC):
    """A collection of universes."""

    name: ClassVar[str]

    is_listed: ClassVar[bool] = False
    """True when `universes` lists a few datasets, however large the space is."""

    @abstractmethod
    def labels(self, dataset: Dataset, space: DatasetSpace) -> tuple[Hashable, ...]:
        """The labels of all universes that hold the dataset; empty when none does."""

    @property
    @abstractmethod
    def invariants(self) -> tuple[Invariant, ...] | None:
        """The invariants that induce the multiverse; () for one universe, None when no invariants do."""

    def induced_by(self) -> tuple[Invariant, ...] | None:
        """Its `invariants`, where a class states them of its own universes: a derived class may have changed these."""
        return self.invariants if is_promised(self, "invariants") else None

    def check(self, space: DatasetSpace) -> None:
        """Raise IncompatibleBlocksError or NotInSpaceError when the multiverse does not fit the space."""
        return

    def universes(self, space: DatasetSpace) -> Iterator[Universe]:
        """Every universe of a finite space, in the order of its smallest dataset."""
        members: dict[Hashable, list[Dataset]] = {}
        for dataset in space.datasets():
            for label in self.labels(dataset, space):
                members.setdefault(label, []).append(dataset)
        return (Universe(label=label, datasets=tuple(held)) for label, held in members.items())

    def share_universe(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        """Whether some universe holds both datasets."""
        return not set(self.labels(left, space)).isdisjoint(self.labels(right, space))

    _promised: ClassVar[Mapping[str, Any]] = {
        "is_listed": False,
        "universes": universes,
        "share_universe": share_universe,
        "__str__": object.__str__,
    }
    _restated = frozenset({"universes", "share_universe"})
    _asides = frozenset({"check", "invariants", "induced_by"})


def shared_labels(multiverse: Multiverse, left: Dataset, right: Dataset, space: DatasetSpace) -> list[Hashable]:
    """The labels of the universes that hold both datasets, in the order of the first: a dataset may lie in thousands."""
    theirs = frozenset(multiverse.labels(right, space))
    return [label for label in multiverse.labels(left, space) if label in theirs]


@define
class Trivial(Multiverse):
    """One universe: all of X (Bailie et al. 2024).

    >>> str(Trivial())
    'one universe: the whole space'
    """

    name: ClassVar[str] = "trivial"

    @property
    def invariants(self) -> tuple[Invariant, ...]:
        return ()

    def labels(self, dataset: Dataset, space: DatasetSpace) -> tuple[Hashable, ...]:
        return ("X",)

    def __str__(self) -> str:
        return "one universe: the whole space"


@define
class LevelSets(Multiverse):
    """The level sets of a set of invariants: D_c(x) = {x' : c(x') = c(x)} (Bailie et al. 2024).

    Args:
        invariants: the invariants held.
    """

    name: ClassVar[str] = "invariants"

    invariants: Annotated[tuple[Invariant, ...], Items(Registered("invariants"))]

    def check(self, space: DatasetSpace) -> None:
        collect(partial(invariant.check, space) for invariant in self.invariants)

    def labels(self, dataset: Dataset, space: DatasetSpace) -> tuple[Hashable, ...]:
        return (tuple(invariant.value(dataset, space) for invariant in self.invariants),)

    def share_universe(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        """Whether c(x) = c(x') for all invariants; of tables of counts only what differs is counted."""
        differences: dict[str, _Difference] = {}
        for invariant in self.invariants:
            if is_a(invariant, Marginal):
                if invariant.unit not in differences:
                    differences[invariant.unit] = _Difference.between(left, right, invariant.unit, space)
                if not differences[invariant.unit].is_counted_alike(invariant, space):
                    return False
            elif invariant.value(left, space) != invariant.value(right, space):
                return False
        return True

    def __str__(self) -> str:
        return "invariants: " + "; ".join(str(invariant) for invariant in self.invariants)


@attrs.frozen
class _Difference:
    """The records in which two datasets differ: c(x) - c(x') = c(x \\ x') - c(x' \\ x) for every table of counts c.

    Args:
        gone: the records of x that x' has not, as multisets.
        come: those of x' that x has not.
        kept: the attributes that each of them shares with the one at its place among the others.
    """

    gone: tuple[Record, ...]
    come: tuple[Record, ...]
    kept: frozenset[str]

    @classmethod
    def between(cls, left: Dataset, right: Dataset, unit: str, space: DatasetSpace) -> _Difference:
        """That of two datasets in the records of a unit."""
        gone, come = exchanged_records(left, right, unit, space)
        attributes = space.attributes_of(unit)
        if len(gone) != len(come) or any(len(record) != len(attributes) for record in (*gone, *come)):
            return cls(gone, come, frozenset())
        same = (
            a.name
            for place, a in enumerate(attributes)
            if all(before[place] == after[place] for before, after in zip(gone, come, strict=True))
        )
        return cls(gone, come, frozenset(same))

    def is_counted_alike(self, table: Marginal, space: DatasetSpace) -> bool:
        """Whether a table of counts is the same on both datasets."""
        if self.kept.issuperset(table.attributes) and all(attribute in self.kept for attribute, _ in table.where):
            return len(self.gone) == len(self.come)
        return table.counts_alike(self.gone, self.come, space)


@define
class ExplicitUniverses(Multiverse):
    """A list of universes, each a set of datasets with a label; they may overlap.

    Args:
        universes_by_label: a table from label to datasets, written in the canonical form of the space.
    """

    name: ClassVar[str] = "explicit"
    is_listed: ClassVar[bool] = True

    universes_by_label: Annotated[tuple[tuple[str, tuple[Dataset, ...]], ...], Pairs(Items(Data()))]

    def __attrs_post_init__(self) -> None:
        labels = [label for label, _ in self.universes_by_label]
        if len(set(labels)) != len(labels):
            raise ParameterError("universes_by_label", "names a universe twice", value=labels)

    @property
    def invariants(self) -> None:
        return None

    def check(self, space: DatasetSpace) -> None:
        collect(partial(space.dataset, x) for _, held in self.universes_by_label for x in held)

    def labels(self, dataset: Dataset, space: DatasetSpace) -> tuple[Hashable, ...]:
        return tuple(label for label, members in _members(self, space) if dataset in members)

    def universes(self, space: DatasetSpace) -> Iterator[Universe]:
        for label, members in _members(self, space):
            yield Universe(label=label, datasets=tuple(sorted(members, key=space.order)))

    def __str__(self) -> str:
        return f"{len(self.universes_by_label)} universes by list"


@memoize(maxsize=16)
def _members(multiverse: ExplicitUniverses, space: DatasetSpace) -> tuple[tuple[str, frozenset[Dataset]], ...]:
    """The datasets of each universe: all datasets of a space are labelled by them."""
    return tuple((label, frozenset(map(space.dataset, held))) for label, held in multiverse.universes_by_label)


# --- the order between sets of invariants ---------------------------------------------------------


MOST_IN_KERNEL = 512
"""A pair is looked for among the differences that keep the finer invariants on spaces of at most so many cells."""

WALKED = 50_000
"""The largest number of datasets in the search for a witness."""

_WORK_OF_A_VALUE = 10
"""Units of work (`dpspec.base.work`) of the value of an invariant of few records."""

EVALUATIONS = 100_000
"""At most this many values of invariants are computed in each space that is searched: about a second for wide tables."""


@attrs.frozen(kw_only=True)
class Determination:
    """Whether one set of invariants determines another on a space.

    Args:
        answer: True, False, or None when it could not be decided.
        reason: why, in words.
        witness: for False, two datasets with equal fine and unequal coarse invariants.
    """

    answer: bool | None
    reason: str
    witness: tuple[Dataset, Dataset] | None = None


def determines(fine: Sequence[Invariant], coarse: Sequence[Invariant], space: DatasetSpace) -> Determination:
    """Decide whether the values of `fine` fix those of `coarse` for every dataset of the space."""
    reasons = []
    for wanted in coarse:
        reason = seen_to_fix(fine, wanted, space)
        if reason is None:
            return _undetermined(fine, wanted, space)
        reasons.append(f"{wanted}: {reason}")
    return Determination(answer=True, reason="; ".join(reasons) or "nothing has to be determined")


def seen_to_fix(fine: Sequence[Invariant], wanted: Invariant, space: DatasetSpace) -> str | None:
    """The reason why the values of `fine` determine another invariant, where their form shows it; None where it does not."""
    for invariant in fine:
        reason = invariant.implies(wanted, space)
        if reason is not None:
            return reason
    for parts in wanted.partitions(fine, space):
        if all(any(invariant.implies(part, space) for invariant in fine) for part in parts):
            return f"the sum of {_join(parts)}, each a coarser table of the others"
    return _in_row_space(tuple(fine), wanted, space)


def fixes_each_attribute(multiverse: Multiverse, space: DatasetSpace, unit: str, given: Sequence[str] = ()) -> bool:
    """Whether all datasets of one universe have the same table of `given` x a, for each attribute a of the records of the unit.

    Then replacing one record by another leaves the universe, since the two differ in some attribute. And where all records of one
    category of `given` are alike in a dataset, they are the same in all datasets of its universe. Only what is seen from the form
    of the invariants counts, on spaces whose datasets are multisets of these records.
    """
    held = multiverse.induced_by()
    if not held or not isinstance(space, Multisets) or not space.is_told_by(unit):
        return False
    sizes = {attribute.name: attribute.size for attribute in space.attributes_of(unit)}
    if not sizes or not set(given) <= set(sizes):
        return False
    # An attribute of one category is no part of a table: many have only one in a small space.
    wanted = dict.fromkeys(tuple(name for name in dict.fromkeys((*given, name)) if sizes[name] > 1) for name in sizes)
    return all(fixes_table(multiverse, space, unit, table) for table in wanted)


def fixes_table(multiverse: Multiverse, space: DatasetSpace, unit: str, attributes: Sequence[str]) -> bool:
    """Whether all datasets of one universe are seen to have the same table of counts of the records of the unit."""
    held = multiverse.induced_by()
    return bool(held) and seen_to_fix(held or (), Marginal(attributes=tuple(attributes), unit=unit), space) is not None


_MOST_KEPT = 2_000
"""The matrices over at most so many cells are kept: each of many invariants is held against all others."""


def _matrix(invariant: Invariant, space: DatasetSpace) -> tuple[tuple[int, ...], ...] | None:
    cells = listed_cells(space)
    return _kept_matrix(invariant, space) if cells is not None and len(cells) <= _MOST_KEPT else invariant.matrix(space)


@memoize(maxsize=128)
def _kept_matrix(invariant: Invariant, space: DatasetSpace) -> tuple[tuple[int, ...], ...] | None:
    return invariant.matrix(space)


@memoize(maxsize=4096)
def _in_row_space(fine: tuple[Invariant, ...], wanted: Invariant, space: DatasetSpace) -> str | None:
    target = _matrix(wanted, space)
    if target is None:
        return None
    rows, rank = _row_space(fine, space)
    if not rows:
        return None
    spend(len(rows) * len(rows[0]) // _ENTRIES_PER_UNIT)
    if set(target) <= set(rows) or fmpz_mat([list(row) for row in (*rows, *target)]).rank() == rank:
        return "its rows are linear combinations of the rows of the others"
    return None


_ENTRIES_PER_UNIT = 6
"""So many entries of a matrix are one unit of work (`dpspec.base.work`) of its rank."""


def _row_space(fine: tuple[Invariant, ...], space: DatasetSpace) -> tuple[tuple[tuple[int, ...], ...], int]:
    """The different rows of some invariants, with that of a total that the space fixes, and their rank."""
    cells = listed_cells(space)
    return (_kept_row_space if cells is not None and len(cells) <= _MOST_KEPT else _new_row_space)(fine, space)


def _new_row_space(fine: tuple[Invariant, ...], space: DatasetSpace) -> tuple[tuple[tuple[int, ...], ...], int]:
    rows = dict.fromkeys(row for invariant in fine for row in (_matrix(invariant, space) or ()))
    cells = listed_cells(space)
    if _fixes_total(space) and cells:
        rows[(1,) * len(cells)] = None
    return tuple(rows), fmpz_mat([list(row) for row in rows]).rank() if rows else 0


_kept_row_space = memoize(maxsize=16)(_new_row_space)
"""Each attribute of a space is held against the same invariants."""


def _undetermined(fine: Sequence[Invariant], wanted: Invariant, space: DatasetSpace) -> Determination:
    """No argument in favour was found: look for two datasets that show the contrary."""
    witness = _kernel_witness(fine, wanted, space)
    complete = False
    if witness is None:
        witness, complete = _walked_witness(fine, wanted, space)
    if witness is not None:
        agreeing = f" that agree on {_join(fine)}" if fine else ""
        return Determination(answer=False, reason=f"{wanted} differs between two datasets{agreeing}", witness=witness)
    if complete:
        return Determination(answer=True, reason=f"{wanted}: checked on all {space.cardinality()} datasets")
    return Determination(answer=None, reason=f"neither an argument nor a counterexample was found for {wanted}")


def _join(invariants: Iterable[Invariant]) -> str:
    return ", ".join(str(invariant) for invariant in invariants)


def _kernel_witness(fine: Sequence[Invariant], wanted: Invariant, space: DatasetSpace) -> tuple[Dataset, Dataset] | None:
    """A kernel vector v of the fine rows on which the wanted rows do not vanish, as x - x' with x, x' >= 0."""
    cells = listed_cells(space)
    if cells is None or len(cells) > MOST_IN_KERNEL:
        return None
    target, matrices = _matrix(wanted, space), [_matrix(invariant, space) for invariant in fine]
    if target is None or any(matrix is None for matrix in matrices):
        return None
    rows = [row for matrix in matrices for row in (matrix or ())]
    if _fixes_total(space):
        rows.append((1,) * len(cells))
    basis, nullity = fmpz_mat([list(row) for row in rows] or [[0] * len(cells)]).nullspace()
    for column in range(nullity):
        vector = [int(basis[row, column]) for row in range(len(cells))]
        if any(sum(a * v for a, v in zip(row, vector, strict=True)) for row in target):
            with suppress(DpspecError):  # x or x' may lie outside the space
                from_vector = ListedCells.needed_in(space).from_vector
                left = from_vector(tuple(max(entry, 0) for entry in vector))
                return left, from_vector(tuple(max(-entry, 0) for entry in vector))
    return None


def _fixes_total(space: DatasetSpace) -> bool:
    coordinates = ListedCells.found_in(space)
    return coordinates is not None and coordinates.fixed_total()


def _walked_witness(
    fine: Sequence[Invariant], wanted: Invariant, space: DatasetSpace
) -> tuple[tuple[Dataset, Dataset] | None, bool]:
    """Two datasets with equal fine and unequal wanted values, and whether the search covered all datasets of the space."""
    most = max(1, min(WALKED, EVALUATIONS // (len(fine) + 1)))
    size, seen = listing_size(space), 0
    listed = size is not None and size <= WALKED
    for walked in [space] if listed else _small_spaces(fine, wanted, space):
        first: dict[object, tuple[object, Dataset]] = {}
        for dataset in itertools.islice(walked.datasets(), most):
            seen += 1
            spend(_WORK_OF_A_VALUE * (len(fine) + 1))
            key = tuple(invariant.value(dataset, space) for invariant in fine)
            value = wanted.value(dataset, space)
            known = first.setdefault(key, (value, dataset))
            if known[0] != value:
                return (known[1], dataset), False
    return None, listed and seen == size  # a list that is too short says nothing


def _small_spaces(fine: Sequence[Invariant], wanted: Invariant, space: DatasetSpace) -> Iterator[DatasetSpace]:
    """Miniatures in which all invariants stay distinct; before them, where those are large, such as vary what is wanted alone."""
    smalls = list(miniatures((*fine, wanted), space))
    sizes = [listing_size(small) for small in smalls]
    if any(size is None or size > WALKED for size in sizes):
        yield from miniatures((wanted,), space)
    yield from smalls


def miniatures(
    invariants: Sequence[Invariant], space: DatasetSpace, largest: int = 3, *, varied: bool = False
) -> Iterator[DatasetSpace]:
    """Finite sub-spaces with at most 1, 2, ... records that keep distinct what the invariants count.

    Args:
        invariants: what has to stay distinct.
        space: the space.
        largest: the largest number of records.
        varied: also yield, after these, sub-spaces in which records of each unit take two values of an attribute that no
            invariant counts. Without them all records may be alike, and no two datasets of equal size differ.
    """
    mentioned = mentioned_by(invariants)
    more = with_free_attributes(mentioned, space) if varied else mentioned
    for choice in (mentioned, more)[: 1 if more == mentioned else 2]:
        for records in range(1, largest + 1):
            small = miniature_of(space, choice, records)
            if small is not None:
                yield small


def mentioned_by(invariants: Iterable[Invariant]) -> Mapping[str, frozenset[str]]:
    """The attributes that invariants count, each with the categories that they single out."""
    return merged_mentions(invariant.mentions() for invariant in invariants)


def with_free_attributes(mentioned: Mapping[str, frozenset[str]], space: DatasetSpace) -> Mapping[str, frozenset[str]]:
    """The same, and for each unit the first attribute that is not mentioned and has two values."""
    found = dict(mentioned)
    for unit in space.units:
        try:
            own = own_attributes(space, unit)
        except DpspecError:  # a space whose records have no named attributes
            continue
        free = next((attribute.name for attribute in own if attribute.size > 1 and attribute.name not in mentioned), None)
        if free is not None:
            found.setdefault(free, frozenset())
    return found
