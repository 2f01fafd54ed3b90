"""Releases of households with persons that are larger than memory: joined, released and checked by sorting.

1. The identifiers of households and persons are sorted, and each person gets the row of its household.
2. The mechanism releases the households. Persons are not drawn, and follow theirs: from its row to its place in the release.
3. The persons of the release are sorted by the places of their households, then by all of their columns.

So both released files have the bytes of the release in memory. All that is kept, and the tables of persons with the attributes of
their households, are compared batch by batch: a batch is some households with all of their persons. Identifiers are numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, cast

import attrs
import numpy as np

from dpspec.plugin import Attribute, DatasetSpace, Marginal, Mechanism, Table, sorting, tables
from dpspec.plugin.releases import (
    HOUSEHOLD_ID,
    Kept,
    Members,
    Output,
    PartCounts,
    PluginContractError,
    Run,
    TableError,
    TableSource,
    cells_wanted,
    most_members,
)
from dpspec_release.batches import MOST_RECORDS, WrittenTable, write_batches
from dpspec_release.kept import FoundKept, KeptDigest

if TYPE_CHECKING:
    from pathlib import Path

    from dpspec.plugin import grammar
    from dpspec.plugin.releases import Formats

ROW, PLACE, ID, PERSON = sorting.ROW, "place", "id", "person"
ROWS = 1 << 18
"""Rows that are read at a time."""
_TIE = Attribute(name=HOUSEHOLD_ID, count=1 << 62)
"""Identifiers as a column of whole numbers."""


class _Forward:
    """Sorted rows that are read once, in the order of a column.

    Args:
        rows: the rows.
        by: the column.
    """

    def __init__(self, rows: sorting.SortedRows, by: str) -> None:
        self._rows, self._by, self._done = rows, by, 0
        self._held: dict[str, Any] = dict(rows.between(0, 0))

    def below(self, end: int) -> dict[str, Any]:
        """The next rows, as far as they are below `end` in the column."""
        found: list[dict[str, Any]] = []
        while True:
            until = int(np.searchsorted(self._held[self._by], end))
            found.append({name: column[:until] for name, column in self._held.items()})
            self._held = {name: column[until:] for name, column in self._held.items()}
            if len(self._held[self._by]) or self._done == len(self._rows):
                return {name: np.concatenate([piece[name] for piece in found]) for name in self._held}
            begin, self._done = self._done, min(self._done + ROWS, len(self._rows))
            self._held = dict(self._rows.between(begin, self._done))


@attrs.frozen(kw_only=True)
class JoinedHouseholds:
    """Households and persons that were joined by their identifiers.

    Args:
        households: where the households are read, in their order.
        person: the columns of a person.
        persons: the persons by the row of their household (`ROW`), in the columns of `packing_of`.
        count: the number of households.
    """

    households: TableSource
    person: tuple[Attribute, ...]
    persons: sorting.SortedRows
    count: int

    @classmethod
    def of(cls, sources: Sequence[TableSource], space: DatasetSpace, sorter: sorting.Sorter) -> JoinedHouseholds:
        """The households and persons of two sources.

        Raises:
            TableError: as reading them; an identifier that two households share, or that no household has; a household with more
                persons than the space allows.
        """
        outer, inner = sources
        own, wanted = (attrs.evolve(one, attributes=(_TIE, *one.attributes), keep=()) for one in sources)
        packing = packing_of(inner.attributes)

        def of_households() -> Iterator[Mapping[str, Any]]:
            done = 0
            for batch in own.batches():
                yield {ID: _identifiers(batch), ROW: np.arange(done, done + len(batch), dtype=np.int64)}
                done += len(batch)

        def of_persons() -> Iterator[Mapping[str, Any]]:
            done = 0
            for batch in wanted.batches():
                person = np.arange(done, done + len(batch), dtype=np.int64)
                yield {ID: _identifiers(batch), PERSON: person, **packing.packed(batch.codes)}
                done += len(batch)

        households, persons = sorter.sorted(of_households(), by=(ID, ROW)), sorter.sorted(of_persons(), by=(ID,))
        count = len(households)
        names = [one.path.name for one in sources]
        found = sorter.sorted(_with_rows(households, persons, packing, names), by=(ROW,))
        households.forget()
        persons.forget()
        joined = cls(households=outer, person=inner.attributes, persons=found, count=count)
        joined.check_sizes(space)
        return joined

    def check_sizes(self, space: DatasetSpace) -> None:
        """Refuse households with more persons than the space allows.

        Raises:
            TableError: there are some.
        """
        most = most_members(space)
        if most is None:
            return
        forward, over, first = _Forward(self.persons, ROW), 0, -1
        for begin in range(0, self.count, ROWS):
            held = np.bincount(forward.below(begin + ROWS)[ROW] - begin, minlength=1)
            larger = np.flatnonzero(held > most)
            first = begin + int(larger[0]) if first < 0 and len(larger) else first
            over += len(larger)
        if over:
            outer, inner = space.units[:2]
            rule = f"holds more {inner} records than the {most} of the space ({over} such)"
            advice = "correct the table, or the number of members in the specification"
            raise TableError(f"{outer} in row {first + 1}", rule, advice)

    def batches(self, progress: Callable[[int], object] | None = None) -> Iterator[Table]:
        """The households in their order, each with its persons."""
        persons, done = _Forward(self.persons, ROW), 0
        for batch in self.households.batches(progress):
            yield self.with_persons(batch, persons.below(done + len(batch)), done, ROW)
            done += len(batch)

    def with_persons(self, batch: Table, persons: Mapping[str, Any], first: int, by: str) -> Table:
        """Households with their persons.

        Args:
            batch: the households.
            persons: the columns of the persons.
            first: the number of the first household in the column `by`.
            by: the column that says whose the persons are.
        """
        codes = packing_of(self.person).codes(persons)
        return attrs.evolve(batch, members=Members(table=Table(attributes=self.person, codes=codes), owner=persons[by] - first))


def packing_of(person: Sequence[Attribute]) -> sorting.Packing:
    """How persons are written down."""
    return sorting.Packing(attributes=tuple(person), name="of_person")


def _identifiers(batch: Table) -> Any:
    return batch.codes[HOUSEHOLD_ID].astype(np.int64)


def _with_rows(
    households: sorting.SortedRows, persons: sorting.SortedRows, packing: sorting.Packing, names: Sequence[str]
) -> Iterator[Mapping[str, Any]]:
    """The persons with the rows of their households.

    Raises:
        TableError: two households share an identifier, or a person has that of none.
    """
    forward, last, twice, lost = _Forward(persons, ID), -1, list[int](), list[int]()
    shared = strangers = 0
    yield {ROW: np.zeros(0, dtype=np.int64), **dict.fromkeys(packing.columns, np.zeros(0, dtype=np.int64))}
    for begin in range(0, len(households), ROWS):
        batch = households.between(begin, min(begin + ROWS, len(households)))
        own = batch[ID]
        again = batch[ROW][own == np.concatenate([[last], own[:-1]])]
        shared += len(again)
        twice += again[:1].tolist() if not twice else []
        last = int(own[-1])
        theirs = forward.below(last + 1)
        place = np.searchsorted(own, theirs[ID])
        alone = theirs[PERSON][own[place] != theirs[ID]]
        strangers += len(alone)
        lost += alone[:1].tolist() if not lost else []
        yield {ROW: batch[ROW][place], **{name: theirs[name] for name in packing.columns}}
    rest = forward.below(_TIE.size)[PERSON]
    strangers += len(rest)
    lost += rest[:1].tolist() if not lost else []
    if shared:
        rule = f"is the identifier of an earlier household ({shared} such)"
        raise TableError(f"{names[0]} record {twice[0] + 1}, column {HOUSEHOLD_ID}", rule, "give every household its own")
    if strangers:
        rule, advice = f"is the identifier of no household ({strangers} such persons)", "identifiers are compared as numbers"
        raise TableError(f"{names[1]} record {lost[0] + 1}, column {HOUSEHOLD_ID}", rule, advice)


@attrs.frozen(kw_only=True)
class HouseholdRelease:
    """One release of households with persons that are larger than memory.

    Args:
        mechanism: it states that it releases such tables (`grammar.ReleasesHouseholdsSorted`).
        space: the dataset space.
        run: what it draws and works with.
        sorter: sorts what memory does not hold.
        joined: the table.
        guard: as of `BatchRelease`.
        asked: tables of counts of households, and of persons, that are counted.
        invariants: tables of too many cells to be counted, of either: they must stay the same.
    """

    mechanism: Mechanism
    space: DatasetSpace
    run: Run
    sorter: sorting.Sorter
    joined: JoinedHouseholds
    guard: Callable[[Mechanism], AbstractContextManager[None]]
    asked: tuple[tuple[Marginal, ...], tuple[Marginal, ...]]
    invariants: tuple[Marginal, ...]

    def write(
        self, paths: Sequence[Path], formats: Formats, notes: Mapping[str, str]
    ) -> tuple[tuple[WrittenTable, ...], Output, tables.CountedTable]:
        """Draw both tables and write them; returns them, what the mechanism reports, and the counts of persons before.

        Args:
            paths: the files of households and persons.
            formats: the formats by suffix.
            notes: what the files say about themselves.

        Raises:
            TableError: as reading the table again.
            PluginContractError: the mechanism raises, changes its columns, loses records, or does not keep what it says.
        """
        outer = self.joined.households.attributes
        checks = _Checks.of(self.mechanism, self.space.units[0], outer, self.joined.person, self.asked[1], self.invariants)

        def read() -> Iterator[Table]:
            for batch in self.joined.batches(lambda rows: self.run.progress(rows, self.joined.count)):
                checks.add_before(batch)
                yield batch

        with self.guard(self.mechanism):
            by_sorting = cast("grammar.ReleasesHouseholdsSorted", self.mechanism)
            made = by_sorting.release_households_sorted(read(), outer, self.space, self.run, self.sorter)
        if made.attributes != outer or len(made.rows) != self.joined.count:
            rule = "release_households_sorted() must return each household once, with the same columns"
            raise PluginContractError(f"mechanism {self.mechanism.name}", rule, "report it to the plugin's author")
        persons = self._moved(made.rows)
        tie = tables.NumberRange(HOUSEHOLD_ID, 0, max(self.joined.count, 1))

        def households() -> Iterator[tuple[int, Table]]:
            for begin in range(0, len(made.rows), ROWS):
                rows = made.rows.between(begin, min(begin + ROWS, len(made.rows)), made.packing.columns)
                yield begin, Table(attributes=outer, codes=made.packing.codes(rows))

        def of_households() -> Iterator[Table]:
            for begin, batch in households():
                yield _tied(batch, tie, np.arange(begin, begin + len(batch)))

        def of_persons() -> Iterator[Table]:
            forward = _Forward(persons, PLACE)
            for begin, batch in households():
                found = forward.below(begin + len(batch))
                whole = self.joined.with_persons(batch, found, begin, PLACE)
                checks.add_after(whole)
                if whole.members is not None and len(whole.members.owner):
                    yield _tied(whole.members.table, tie, found[PLACE])

        written = tuple(
            self._written(columns, tie, batches, path, formats, notes, asked)
            for columns, batches, path, asked in (
                (outer, of_households(), paths[0], self.asked[0]),
                (self.joined.person, of_persons(), paths[1], ()),
            )
        )
        made.rows.forget()
        persons.forget()
        kept = checks.found(self.joined.count, len(self.joined.persons), self.mechanism.name)
        self.joined.persons.forget()
        counted = attrs.evolve(written[0].counted, inside=checks.after.table(checks.columns))
        households_written = attrs.evolve(written[0], kept=kept, counted=counted)
        output = Output(tables={}, report=made.report, confidential=made.confidential)
        return (households_written, written[1]), output, checks.before.table(checks.columns)

    def _written(  # noqa: PLR0917 - one table with all that says how it is written
        self, columns: tuple[Attribute, ...], tie: Attribute, batches: Iterable[Table], path: Path, formats: Formats,
        notes: Mapping[str, str], asked: Sequence[Marginal],
    ) -> WrittenTable:  # fmt: skip
        size = tables.batch_size(len(columns) + 1, MOST_RECORDS)
        return write_batches(
            (tie, *columns), tables.regrouped((tie, *columns), batches, size), path, formats, notes, asked
        )  # fmt: skip

    def _moved(self, released: sorting.SortedRows) -> sorting.SortedRows:
        """The persons by the places of their households in the release."""
        packing = packing_of(self.joined.person)

        def placed() -> Iterator[Mapping[str, Any]]:
            for begin in range(0, len(released), ROWS):
                row = released.between(begin, min(begin + ROWS, len(released)), (ROW,))[ROW]
                yield {ROW: row, PLACE: np.arange(begin, begin + len(row), dtype=np.int64)}

        places = self.sorter.sorted(placed(), by=(ROW,))

        def moved() -> Iterator[Mapping[str, Any]]:
            yield {PLACE: np.zeros(0, dtype=np.int64), **dict.fromkeys(packing.columns, np.zeros(0, dtype=np.int64))}
            forward = _Forward(self.joined.persons, ROW)
            for begin in range(0, len(places), ROWS):
                batch = places.between(begin, min(begin + ROWS, len(places)))
                if not np.array_equal(batch[ROW], np.arange(begin, begin + len(batch[ROW]))):
                    rule = "release_households_sorted() must return each household once"
                    raise PluginContractError(f"mechanism {self.mechanism.name}", rule, "report it to the plugin's author")
                theirs = forward.below(begin + len(batch[ROW]))
                yield {PLACE: batch[PLACE][theirs[ROW] - begin], **{name: theirs[name] for name in packing.columns}}

        found = self.sorter.sorted(moved(), by=(PLACE, *packing.columns))
        places.forget()
        return found


def _tied(batch: Table, tie: Attribute, numbers: Any) -> Table:
    """Records with the number of their household before their columns."""
    column = tables.compact(numbers, tie.size)
    return Table(attributes=(tie, *batch.attributes), codes={tie.name: column, **batch.codes})


@attrs.frozen(kw_only=True)
class _Checks:
    """What a release keeps, and the counts of its persons, before and after.

    Args:
        columns: of a person with the attributes of its household.
        outer: the statements about households, each with its digest.
        inner: those about persons.
        stated: how many of the first ones are statements of the mechanism; the others are invariants.
        before: the counts of persons that were read.
        after: those of the release.
    """

    columns: tuple[Attribute, ...]
    outer: tuple[KeptDigest, ...]
    inner: tuple[KeptDigest, ...]
    stated: int
    before: PartCounts
    after: PartCounts

    @classmethod
    def of(  # noqa: PLR0917 - one release with all that is compared
        cls,
        mechanism: Mechanism,
        unit: str,
        household: tuple[Attribute, ...],
        person: tuple[Attribute, ...],
        asked: Sequence[Marginal],
        invariants: Sequence[Marginal],
    ) -> _Checks:
        """What a mechanism says that it keeps, and the invariants."""
        columns, stated = household + person, mechanism.keeps(tuple(a.name for a in household))
        outer = [KeptDigest.of(one, household, person) for one in stated]
        same = [(one.unit == unit, Kept(attributes=tuple(one.attributes))) for one in invariants]
        outer += [KeptDigest.of(one, household) for of_households, one in same if of_households]
        inner = [KeptDigest.of(one, columns) for of_households, one in same if not of_households]
        counted = [PartCounts.none(cells_wanted(asked), columns) for _ in range(2)]
        return cls(
            columns=columns, outer=tuple(outer), inner=tuple(inner), stated=len(stated), before=counted[0], after=counted[1]
        )  # fmt: skip

    def add_before(self, batch: Table) -> None:
        """Add households that were read, with their persons."""
        persons = batch.of_members()
        self.before.add(persons)
        for one in self.outer:
            one.add_before(batch)
        for one in self.inner:
            one.add_before(persons)

    def add_after(self, batch: Table) -> None:
        """Add households of the release, with their persons."""
        persons = batch.of_members()
        self.after.add(persons)
        for one in self.outer:
            one.add_after(batch)
        for one in self.inner:
            one.add_after(persons)

    def found(self, households: int, persons: int, mechanism: str) -> tuple[FoundKept, ...]:
        """What is kept by the mechanism's own statements.

        Raises:
            PluginContractError: something is not.
        """
        kept = [one.found(households, mechanism) for one in self.outer]
        for one in self.inner:
            one.found(persons, mechanism)
        return tuple(kept[: self.stated])
