"""Targeted record swapping: records that are rare where they live exchange their place with similar ones from elsewhere.

The method of censuses in Europe and, before 2020, in the United States (Shlomo, Tudor and Groom 2010; Eurostat 2019). With areas
in levels, coarse to fine, and level after level:

    risky     fewer than k records of the area agree with the record in all risk variables (k-anonymity), and it has not moved
    donors    records that have not moved either, in another area of this level inside the same area of the level above, that
              agree with it in a profile of variables; the first profile that has any counts, so the nearest donors are taken
    swap      in uniform order each risky record and a uniform one of its donors exchange their areas, from this level down

A risky record without donors stays, and may find one a level below. Unlike swapping with one rate for all
(`PermutationSwapping`), who moves depends on how rare they are.

On real tables the same choices are made as in its law, each drawn exactly.

The risky records of a level are taken in the order of a uniform permutation, those that a former one has swapped left out: the
next one is then uniform among those that remain. A donor is drawn from all records of the same profile until one fits, which is
uniform among those that do; after a number of refusals the fitting ones are listed, and one of them is drawn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar

import attrs

from dpspec.plugin import (
    Attribute,
    Claim,
    Dataset,
    DatasetSpace,
    FiniteLaw,
    IncompatibleBlocksError,
    Integer,
    Items,
    Law,
    Randomness,
    Record,
    Table,
    Text,
    define,
    errors,
    exact,
    grammar,
    late_module,
    sorting,
    tables,
    workers,
)
from dpspec_census.disclosure.sorted_targeted import BITS, ROWS, SortedTargetedSwap
from dpspec_census.disclosure.tables import PUBLISHED, DisclosureControl, small_space
from dpspec_census.sorted_swap import shuffled
from dpspec_census.stratum import unordered
from dpspec_census.swap_budget import SwapScheme

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = late_module("numpy")

MOST_RECORDS = 8
"""A law is listed for datasets of at most so many records: every order of the risky ones, and every donor."""


@attrs.frozen(order=True)
class Mark:
    """A record on its way.

    Args:
        record: its attributes, as they are now.
        risky: for each level, whether it was risky in the beginning.
        moved: whether it has been swapped.
        tried: whether it has looked for a donor at this level.
    """

    record: Record
    risky: tuple[bool, ...]
    moved: bool = False
    tried: bool = False


PlaceNumbers = Mapping[str, int]
States = Mapping[tuple[Mark, ...], Fraction]


@define
class TargetedSwapping(DisclosureControl):
    """Swapping of the records that few others in their area agree with.

    Args:
        levels: the attributes of the area, coarse to fine; they move.
        risk: the risk variables.
        k: a record is risky where fewer than k records, itself among them, have its risk variables.
        similar: profiles of variables in which donors agree, the closest first; without any, all are donors.
        unit: the unit that one record is.

    >>> mechanism = TargetedSwapping(levels=["region"], risk=["age"], k=2, unit="person")
    >>> mechanism.law((("north", "old"), ("south", "young"), ("south", "young")), small_space())
    FiniteLaw({(('north', 'young'), ('south', 'old'), ('south', 'young')): 1})
    """

    name: ClassVar[str] = "targeted-swapping"

    levels: Annotated[tuple[str, ...], Items(Text(), least=1)]
    risk: Annotated[tuple[str, ...], Items(Text(), least=1)]
    k: Annotated[int, Integer(1)]
    similar: Annotated[tuple[tuple[str, ...], ...], Items(Items(Text()), least=1)] = ((),)
    unit: Annotated[str, Text()] = "household"

    def scheme(self) -> SwapScheme:
        """The invariants: those of swapping the areas among the records that agree in what all profiles have in common."""
        common = [name for name in self.similar[0] if all(name in profile for profile in self.similar)]
        return SwapScheme(match=tuple(common), swap=self.levels, unit=self.unit)

    def check(self, space: DatasetSpace) -> None:
        self.scheme().check(space)
        for name in (*self.risk, *(name for profile in self.similar for name in profile)):
            if self.attribute(name, space).name in self.levels:
                rule = "is a level of the area, which moves"
                raise IncompatibleBlocksError(f"{self.unit} attribute", rule, "name other attributes", value=name)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """No finite budget, not even among the datasets that agree on all that swapping keeps."""
        within = self.claim(
            "none within what it keeps", f"{PUBLISHED}, part 2", self.scheme().multiverse(space), exact.INFINITY, space
        )
        return within, *super().claims(space)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """Every order of the risky records and every choice of donors; the outcomes are datasets of the space."""
        self.check(space)
        scheme, names = self.scheme(), [a.name for a in space.attributes_of(self.unit)]
        records = space.records(space.dataset(dataset), self.unit)
        if len(records) > MOST_RECORDS:
            rule = f"lists its law for at most {MOST_RECORDS} records"
            raise errors.NotEnumerableError(f"mechanism {self.name}", rule, "verify a miniature", value=len(records))
        places = {name: names.index(name) for name in names}
        start = tuple(sorted(Mark(record, self._risky(record, records, places)) for record in records))
        states: States = {start: Fraction(1)}
        for level in range(len(self.levels)):
            states = self._after(states, level, places)
        probabilities: dict[Dataset, Fraction] = defaultdict(Fraction)
        for marks, probability in states.items():
            probabilities[scheme.dataset((mark.record for mark in marks), space)] += probability
        return FiniteLaw.of(probabilities)

    def _risky(self, record: Record, records: tuple[Record, ...], places: PlaceNumbers) -> tuple[bool, ...]:
        """Whether fewer than k records agree with the record in area and risk variables, level by level."""
        keys = [[places[name] for name in (*self.levels[: level + 1], *self.risk)] for level in range(len(self.levels))]
        return tuple(sum(_part(other, key) == _part(record, key) for other in records) < self.k for key in keys)

    def _after(self, states: States, level: int, places: PlaceNumbers) -> States:
        """What the states have become when no risky record of a level has still to look for a donor."""
        done: dict[tuple[Mark, ...], Fraction] = defaultdict(Fraction)
        while states:
            following: dict[tuple[Mark, ...], Fraction] = defaultdict(Fraction)
            for state, probability in states.items():
                pending = [place for place, mark in enumerate(state) if mark.risky[level] and not (mark.moved or mark.tried)]
                if not pending:
                    done[tuple(sorted(attrs.evolve(mark, tried=False) for mark in state))] += probability
                for place in pending:
                    ways = self._ways(state, place, level, places)
                    for way in ways:
                        following[tuple(sorted(way))] += probability / len(pending) / len(ways)
            states = following
        return done

    def _ways(self, state: tuple[Mark, ...], place: int, level: int, places: PlaceNumbers) -> list[list[Mark]]:
        """The states after one risky record has exchanged its area with each of its nearest donors, or has found none."""
        moving = [places[name] for name in self.levels[level:]]
        ways = []
        for donor in self._donors(state, place, level, places):
            way = list(state)
            one, two = state[place].record, state[donor].record
            way[place] = attrs.evolve(state[place], record=_with(one, two, moving), moved=True)
            way[donor] = attrs.evolve(state[donor], record=_with(two, one, moving), moved=True)
            ways.append(way)
        stays = [attrs.evolve(mark, tried=mark.tried or at == place) for at, mark in enumerate(state)]
        return ways or [stays]

    def _donors(self, state: tuple[Mark, ...], place: int, level: int, places: PlaceNumbers) -> list[int]:
        """The donors of the first profile that has any."""
        mine, here = state[place].record, places[self.levels[level]]
        for profile in self.similar:
            same = [places[name] for name in (*self.levels[:level], *profile)]
            found = [
                at
                for at, mark in enumerate(state)
                if not mark.moved and mark.record[here] != mine[here] and _part(mark.record, same) == _part(mine, same)
            ]
            if found:
                return found
        return []

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """One swapped table; only the columns `levels` change. The order of the records is not that of the given table."""
        self.check(space)
        return unordered(swapped(self.rows_of(table, space), self, source), source)

    def release_sorted(
        self,
        batches: Iterable[Table],
        attributes: tuple[Attribute, ...],
        space: DatasetSpace,
        run: workers.Run,
        sorter: sorting.Sorter,
    ) -> sorting.SortedRelease:
        """The same of a table that is larger than memory (`ReleasesSorted.release_sorted`)."""
        swap = self._sorted_swap(attributes, space, run, sorter)
        whole = sorting.Packing(attributes=attributes, name="whole")
        rows = sorter.sorted((whole.packed(batch.codes) for batch in swap.swap(batches)), by=whole.columns)

        def released() -> Iterator[Table]:
            for begin in range(0, max(len(rows), 1), ROWS):
                batch = rows.between(begin, min(begin + ROWS, len(rows)))
                yield Table(attributes=attributes, codes=whole.codes(batch))
            rows.forget()

        return sorting.SortedRelease(attributes=attributes, batches=released())

    def release_households_sorted(
        self,
        batches: Iterable[Table],
        attributes: tuple[Attribute, ...],
        space: DatasetSpace,
        run: workers.Run,
        sorter: sorting.Sorter,
    ) -> sorting.SortedHouseholds:
        """The same of households with persons (`ReleasesHouseholdsSorted.release_households_sorted`)."""
        swap, packing = self._sorted_swap(attributes, space, run, sorter), sorting.Packing(attributes=attributes, name="whole")

        def numbered() -> Iterator[workers.Columns]:
            done = 0
            for batch in swap.swap(batches):
                yield {sorting.ROW: np.arange(done, done + len(batch), dtype=np.int64), **packing.packed(batch.codes)}
                done += len(batch)

        rows = shuffled(sorter.sorted(numbered(), by=(sorting.ROW,)), run.source, sorter)
        return sorting.SortedHouseholds(attributes=attributes, packing=packing, rows=rows)

    def _sorted_swap(
        self, attributes: tuple[Attribute, ...], space: DatasetSpace, run: workers.Run, sorter: sorting.Sorter
    ) -> SortedTargetedSwap:
        self.check(space)
        self.rows_of(tables.CountedTable(attributes=attributes, records=0, found={}), space)
        return SortedTargetedSwap(
            attributes=attributes, levels=self.levels, risk=self.risk, k=self.k, similar=self.similar, run=run, sorter=sorter,
            tries=TRIES,
        )  # fmt: skip

    def memory_of_run(self, records: int, space: DatasetSpace) -> int:
        """The bits that are held of each record."""
        return BITS * records // 8

    def keeps(self, columns: tuple[str, ...]) -> tuple[grammar.Kept, ...]:
        """All columns but the levels, each record with its members; and each level by itself."""
        still = tuple(name for name in columns if name not in self.levels)
        return (grammar.Kept(attributes=still, members=True), *(grammar.Kept(attributes=(name,)) for name in self.levels))

    @classmethod
    def examples(cls) -> Iterable[tuple[TargetedSwapping, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(levels=("region",), risk=("age",), k=2, unit="person"), small_space(most=3)


def _part(record: Record, places: Sequence[int]) -> Record:
    return tuple(record[place] for place in places)


def _with(record: Record, other: Record, places: Sequence[int]) -> Record:
    """The record with the values of the other one at some places."""
    return tuple(other[place] if place in places else value for place, value in enumerate(record))


# --- on real tables -------------------------------------------------------------------------------


TRIES = 32
"""So many records are drawn before the fitting ones are listed."""


def swapped(table: Table, mechanism: TargetedSwapping, source: Randomness) -> Table:
    """One draw of the swap on a table with one row for each record of the unit."""
    codes = {name: table.codes[name].copy() for name in mechanism.levels}
    moved = np.zeros(len(table), dtype=np.bool_)
    for level, name in enumerate(mechanism.levels):
        cell = table.kinds((*mechanism.levels[: level + 1], *mechanism.risk))
        risky = np.flatnonzero((np.bincount(cell)[cell] < mechanism.k) & ~moved)
        # Records that have not moved are where they were, so pools may be made from the table as it came.
        above = mechanism.levels[:level]
        pools = [Pools.of(table.kinds((*above, *profile)), table.codes[name], moved) for profile in mechanism.similar]
        for record in risky[source.permutation(len(risky))].tolist():
            donor = None if moved[record] else _donor(record, pools, source)
            if donor is not None:
                for moving in mechanism.levels[level:]:
                    column = codes[moving]
                    column[record], column[donor] = column[donor], column[record]
                moved[[record, donor]] = True
    return table.replace(codes)


def _donor(record: int, pools: list[Pools], source: Randomness) -> int | None:
    """A uniform donor from the first profile that has any."""
    for pool in pools:
        donor = pool.draw(record, source)
        if donor is not None:
            return donor
    return None


@attrs.define
class Pools:
    """The records by profile, inside the area of the level above.

    Args:
        profile: the number of the profile of every record.
        area: the area of every record at the level.
        moved: which records have been swapped; it changes while the level is worked through.
        members: the records of each profile.
    """

    profile: tables.Codes
    area: tables.Codes
    moved: npt.NDArray[np.bool_]
    members: list[tables.Codes]

    @classmethod
    def of(cls, key: tables.Codes, area: tables.Codes, moved: npt.NDArray[np.bool_]) -> Pools:
        """From the key of the profile of every record. A profile that lives in one area only has no donors."""
        _, profile, sizes = np.unique(key, return_inverse=True, return_counts=True)
        order = np.argsort(profile, kind="stable")
        members = np.split(order, np.cumsum(sizes)[:-1]) if len(sizes) else []  # of no records, `split` makes one empty part
        return cls(profile, area, moved, [held if np.ptp(area[held]) else held[:0] for held in members])

    def draw(self, record: int, source: Randomness) -> int | None:
        """A uniform record of the same profile that has not moved and lives in another area; None when there is none."""
        place = int(self.profile[record])
        held = self.members[place]
        if not len(held):
            return None
        for tried in source.below(len(held), TRIES).tolist():
            donor = int(held[tried])
            if not self.moved[donor] and self.area[donor] != self.area[record]:
                return donor
        self.members[place] = held = held[~self.moved[held]]
        fitting = held[self.area[held] != self.area[record]]
        return int(fitting[source.below(len(fitting), 1)[0]]) if len(fitting) else None
