"""Views: the independent randomised queries of the records of one unit that the structure of a mechanism is made of.

When a dataset changes by one record, only the cells that the record leaves or enters change. So the answers of a view on two
datasets differ in the laws of those cells, and all others cancel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import attrs

from dpspec.base.params import evolve
from dpspec.base.promises import Promising
from dpspec.base.types import JsonData
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.parts import Membership, sizes_of
from dpspec.blocks.space import Dataset, DatasetSpace, Record
from dpspec.grammar.sizes import NoStructure, SizedLaw
from dpspec.laws.combine import OnDrawn, OnSample, repeated
from dpspec.laws.law import FiniteLaw, Law

LawPair = tuple[Law, Law]
"""The laws of one independent part of the output, before a change and after it."""

Case = tuple[LawPair, ...]
"""The answers that a change moves in one situation; all others have equal laws."""

CountChanges = tuple[int, ...]
"""By how much the counts of cells change, for those that do, in order: (-1, 1) where a record moves to another cell."""

NO_CHANGE: Case = ()


class View(Promising, ABC):
    """A randomised query: one independent part of the output, which reads the records of a unit through the cells of a table.

    A plugin whose output is neither a `NoisyCount` nor a `Report` implements a view of its own.
    """

    table: Marginal
    """The cells: combinations of attributes of the unit, of the records that meet the conditions."""

    by_record: bool = False
    """True when each record is answered for on its own, so that positions matter and not the counts alone."""

    most: int | None = None
    """At most so many records of each record of a larger unit are counted; None for all of them."""

    def parts(self) -> tuple[Marginal, ...]:
        """Disjoint parts of the table, each one count, where it matters which of them a record lies in; () where none does.

        The sets of categories in their conditions belong to `singled`, too.
        """
        return ()

    may_be_coarser: bool = False
    """True when a coarser table may be published in place of the view's own. One record never moves more of its answers; several
    members of a larger record do not either, where all of them may lie in one cell."""

    on_sample: bool = False
    """True when the view draws its own sample of the records, so that a record takes part with a probability below 1."""

    @property
    def by_cell(self) -> bool:
        """Whether each cell has an answer of its own, independent of all others, whose law depends on its count alone."""
        return False

    @abstractmethod
    def changed(self, counts: CountChanges) -> tuple[Case, ...] | None:
        """The answers whose laws change when the counts of some cells change: one case for each situation that is not dominated.

        A view with `parts` receives the change of each of them, in their order, or () where none changes.

        What else is in the dataset, and which cells they are, must not matter: in every situation the pair of laws of the whole
        view is, up to a common bijection of the outcomes, that of a case, or is one that a case can simulate. Counts may be any
        from 0 on, also such as no dataset has. None where such a change changes the kind of output.

        Laws that are right only for some numbers of records are returned as `SizedLaw`: they count in a proof only where these
        numbers are established for the records that the view reads at last (`SizeHypothesis`).
        """

    @abstractmethod
    def between(self, before: Sequence[Hashable], after: Sequence[Hashable], space: DatasetSpace) -> Case | None:
        """The laws of the answers that differ between two datasets; None where the two have different kinds of output.

        Args:
            before, after: for each record of the one and the other dataset the cell it lies in, None outside all of them.
            space: where the datasets are from.
        """

    def data(self) -> JsonData:
        """The view as data, for an independent checker of the proof; a checker that does not support the kind reports that."""
        return {"kind": named(type(self)), "table": table_data(self.table)}

    @property
    def tells_more_by_more(self) -> bool:
        """Whether a larger change of a count, in the same direction, is never harder to see, whatever else changes.

        If so, the largest changes dominate all smaller ones.
        """
        return False

    def singled(self) -> Mapping[str, tuple[frozenset[str], ...]]:
        """Sets of categories that matter to the view in addition to the conditions of its table, by attribute."""
        return {}

    def companions(self) -> tuple[int, ...]:
        """The number of further equal records, in both datasets, that may make a change easier to detect; 0 for none."""
        return (0,)

    def most_in_cell(self, space: DatasetSpace) -> int | None:
        """At most so many records of each record of a larger unit are counted in one cell; None for no such limit."""
        return None

    def read(self, dataset: Dataset, space: DatasetSpace) -> tuple[Record, ...]:
        """The records of the unit that are counted."""
        return space.records(dataset, self.table.unit)

    def restricted(self, where: Mapping[str, tuple[str, ...]]) -> View:
        """The view restricted to the records that meet further conditions."""
        return attrs.evolve(self, table=narrowed(self.table, where))  # type: ignore[misc]  # views are attrs classes

    _promised: ClassVar[Mapping[str, Any]] = {
        "tells_more_by_more": property(lambda self: False), "by_cell": property(lambda self: False),  # noqa: ARG005 - properties
    }  # fmt: skip
    _asides = frozenset({"companions", "data", "restricted"})


def named(kind: type) -> str:
    """The name of a class in a proof: with its module, where it is not one of dpspec's own."""
    return kind.__name__ if kind.__module__.startswith("dpspec.") else f"{kind.__module__}.{kind.__name__}"


def table_data(table: Marginal) -> JsonData:
    """A table as specification files write it."""
    return {"attributes": [*table.attributes], "unit": table.unit, "where": {name: [*of] for name, of in table.where}}


def law_data(law: Law) -> JsonData:
    """The family of a law, and the parameters that make it as exact text; what it derives from them is left out."""
    known = {a.name: getattr(law, a.name) for a in getattr(type(law), "__attrs_attrs__", ()) if a.init}
    return {"family": named(type(law)), **{name: _written(value) for name, value in known.items()}}


def _written(value: object) -> Any:
    """A parameter as text; laws as data, several of them as a list, and weights of outcomes as a table."""
    if value is None or isinstance(value, Law):
        return None if value is None else law_data(value)
    if isinstance(value, tuple) and value and all(isinstance(entry, Law) for entry in value):
        return [law_data(entry) for entry in value]
    if isinstance(value, tuple) and all(isinstance(entry, tuple) and len(entry) == 2 for entry in value):
        value = dict(value)
    return {str(t): str(w) for t, w in value.items()} if isinstance(value, Mapping) else str(value)


def narrowed(table: Marginal, where: Mapping[str, tuple[str, ...]]) -> Marginal:
    """The table of the records that meet further conditions, too.

    >>> str(narrowed(Marginal(attributes=("sex",), where={"age": ("1", "2")}), {"age": ("2", "3")}))
    'person by sex where age in {2}'
    """
    known = dict(table.where)
    for name, categories in where.items():
        known[name] = tuple(c for c in known[name] if c in categories) if name in known else tuple(categories)
    return evolve(table, where=known)


def cells_of(view: View, dataset: Dataset, space: DatasetSpace) -> list[Any]:
    """The cell of each record that a view counts; None outside all of them."""
    records = view.read(dataset, space)
    cells = {record: view.table.cell_of(record, space) for record in set(records)}  # many records are alike
    return [cells[record] for record in records]


def moved(counts: Counter[Hashable], other: Counter[Hashable]) -> list[Hashable]:
    """The cells whose counts differ, in the order in which they are met; what is outside all cells is none."""
    return [cell for cell in {**counts, **other} if cell is not None and counts[cell] != other[cell]]


@attrs.frozen
class NoisyCount(View):
    """t = n + W for every cell of a table, n the number of records in it, W independent.

    Args:
        table: the cells.
        noise: the law of an answer whose true value is n. It is a location family, the law of n + W for one law of W; the
            divergence of two answers depends on the difference of their counts only.
        may_be_coarser: whether the table that is published may be a coarser one, with the same noise on each of its cells.
    """

    table: Marginal
    noise: Callable[[int], Law]
    may_be_coarser: bool = False

    def data(self) -> JsonData:
        coarser = {"may_be_coarser": True} if self.may_be_coarser else {}
        return {**super().data(), "noise": law_data(self.noise(0)), **coarser}

    def changed(self, counts: CountChanges) -> tuple[Case, ...]:
        return (tuple(self.shifted(change) for change in counts),)

    def shifted(self, change: int) -> LawPair:
        """The laws of an answer whose true value changes by so much."""
        return self.noise(max(-change, 0)), self.noise(max(change, 0))

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable], space: DatasetSpace) -> Case | None:
        ours, theirs = Counter(before), Counter(after)
        cells = moved(ours, theirs)
        if self.may_be_coarser and max(Counter(theirs[cell] > ours[cell] for cell in cells).values(), default=0) > 1:
            return None  # several cells grow, or shrink, which may be one cell of the table that is published
        laws = {count: self.noise(count) for count in {side[cell] for side in (ours, theirs) for cell in cells}}
        return tuple((laws[ours[cell]], laws[theirs[cell]]) for cell in cells)

    @property
    def by_cell(self) -> bool:
        return True

    @property
    def tells_more_by_more(self) -> bool:
        return is_log_concave(self.noise(0))


def is_log_concave(law: Law) -> bool:
    """Whether a law is known to have a log-concave density or mass, as Laplace, Gaussian and their discrete kin have.

    Tests between such a law and its shift are cuts (the likelihood ratio is monotone), and a cut has the more power the larger
    the shift: so a smaller shift can be simulated from a larger one (Karlin and Rubin 1956).
    """
    from dpspec.laws.location import Location

    return isinstance(law, Location)


@attrs.frozen
class Report(View):
    """Every record is answered for by itself, with a law R(v) of its cell v; positions are kept.

    Args:
        table: the cells v, such that every record lies in one.
        laws: R(v) and R(w) for two different cells. They may be any two: a symmetry of the cells carries each pair of
            different cells to every other.
    """

    table: Marginal
    laws: LawPair
    by_record: bool = True

    def data(self) -> JsonData:
        return {**super().data(), "laws": [law_data(law) for law in self.laws]}

    def changed(self, counts: CountChanges) -> tuple[Case, ...] | None:
        return {(): (NO_CHANGE,), (-1, 1): ((self.laws,),)}.get(counts)

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable], space: DatasetSpace) -> Case | None:
        if None in (*before, *after):
            return None
        if len(before) != len(after):
            return (other_numbers(len(before), len(after)),)
        return tuple(self.laws for ours, theirs in zip(before, after, strict=True) if ours != theirs)


def other_numbers(before: int, after: int) -> LawPair:
    """The number of reports, which distinguishes two datasets with certainty where each record has its own report."""
    return FiniteLaw.point(before), FiniteLaw.point(after)


class OfView(View):
    """A base of views that read what another view reads, and answer differently."""

    view: View

    @property
    def table(self) -> Marginal:  # type: ignore[override]  # that of the view inside
        return self.view.table

    @property
    def by_record(self) -> bool:  # type: ignore[override]
        return self.view.by_record

    @property
    def on_sample(self) -> bool:  # type: ignore[override]
        return self.view.on_sample

    @property
    def most(self) -> int | None:  # type: ignore[override]
        return self.view.most

    @property
    def may_be_coarser(self) -> bool:  # type: ignore[override]
        return self.view.may_be_coarser

    @property
    def tells_more_by_more(self) -> bool:
        return self.view.tells_more_by_more

    def parts(self) -> tuple[Marginal, ...]:
        return self.view.parts()

    def singled(self) -> Mapping[str, tuple[frozenset[str], ...]]:
        return self.view.singled()

    def companions(self) -> tuple[int, ...]:
        return self.view.companions()

    def most_in_cell(self, space: DatasetSpace) -> int | None:
        return self.view.most_in_cell(space)

    def read(self, dataset: Dataset, space: DatasetSpace) -> tuple[Record, ...]:
        return self.view.read(dataset, space)

    def restricted(self, where: Mapping[str, tuple[str, ...]]) -> View:
        return attrs.evolve(self, view=self.view.restricted(where))  # type: ignore[misc]  # views are attrs classes


@attrs.frozen
class RepeatedView(OfView):
    """A view that is answered a number of times, with independent randomness.

    Args:
        view: the view that is repeated.
        times: the number of answers.
    """

    view: View
    times: int

    def data(self) -> JsonData:
        return {"kind": named(type(self)), "times": self.times, "view": self.view.data()}

    def changed(self, counts: CountChanges) -> tuple[Case, ...] | None:
        """The case follows from the datasets, and so is the same each time."""
        found = self.view.changed(counts)
        return None if found is None else tuple(map(self._repeated, found))

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable], space: DatasetSpace) -> Case | None:
        found = self.view.between(before, after, space)
        return None if found is None else self._repeated(found)

    def _repeated(self, case: Case) -> Case:
        return tuple((self._law(before), self._law(after)) for before, after in case)

    def _law(self, law: Law) -> Law:
        return attrs.evolve(law, law=self._law(law.law)) if isinstance(law, SizedLaw) else repeated(law, self.times)


@attrs.frozen
class SampledView(OfView):
    """A view of a random sample: each record is included with a probability, independently of all others (Poisson sampling).

    Args:
        view: the view of the sample. The laws of its answers on two samples that differ in one record must not depend on the
            other records; otherwise no bound is derived.
        rate: the probability with which a record takes part.
    """

    view: View
    rate: Fraction
    on_sample: bool = attrs.field(default=True, init=False)

    def data(self) -> JsonData:
        return {"kind": named(type(self)), "rate": str(self.rate), "view": self.view.data()}

    def changed(self, counts: CountChanges) -> tuple[Case, ...] | None:
        """Of a record that comes or goes; of one that is replaced where each cell has an answer of its own.

        Let x be replaced by x', which lies in another cell. The answers about the cell of x have the law (1 - q) P + q Q with x
        and P without it, those about the cell of x' have P' and (1 - q) P' + q Q'. All four are independent, since a dataset
        has x or x' and not both: the two laws are products of those of one record that goes and of one that comes.
        """
        come, gone = (tuple(max(by * way, 0) for by in counts) for way in (1, -1))
        if not self.view.parts():  # of parts each keeps its place
            come, gone = (tuple(filter(None, changes)) for changes in (come, gone))
        if any(come) and any(gone) and not self.view.by_cell:
            return None
        answers: Case = ()
        for part, is_gone in ((gone, True), (come, False)):
            cases = self.view.changed(part) if any(part) else (NO_CHANGE,)
            if cases is None or len(cases) != 1:
                return None
            answers += self._turned(self._on_sample(cases[0]), is_gone=is_gone)
        return (answers,)

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable], space: DatasetSpace) -> Case | None:
        """Of two datasets of which each has one record that is seen, or none."""
        seen = [[cell for cell in side if cell is not None] for side in (before, after)]
        if seen[0] == seen[1]:
            return NO_CHANGE
        if max(map(len, seen)) > 1 or (all(seen) and not self.view.by_cell):
            return None
        answers: Case = ()
        for side, is_gone in zip(seen, (True, False), strict=True):
            found = self.view.between([], side, space)
            if found is None:
                return None
            answers += self._turned(self._on_sample(found), is_gone=is_gone)
        return answers

    @staticmethod
    def _turned(case: Case, *, is_gone: bool) -> Case:
        return tuple((after, before) for before, after in case) if is_gone else case

    def _on_sample(self, case: Case) -> Case:
        without, joining = tuple(before for before, _ in case), tuple(after for _, after in case)
        return ((OnSample(self.rate, without), OnSample(self.rate, without, joining)),) if case else NO_CHANGE


@attrs.frozen
class DrawnView(OfView):
    """A view of a sample of a fixed size, drawn without replacement from all records of the dataset.

    Let samples that differ in one record have laws P and Q, or any two others with no larger divergence. Then the laws of two
    datasets with n records, of which one is replaced, are bounded by one pair of laws (`dpspec.laws.samples.drawn`: Balle, Barthe
    and Gaboardi 2018), whatever the others are. Pairs that bound each release bound all of them together (Zhu, Dong and Wang
    2022, Theorem 10). The pair is that of the largest change of one record, since any record may be the one that makes room.

    Args:
        view: what answers about the sample; one count, or a table of counts with noise of its own for each, which is log-concave.
        size: m, the number of drawn records; all, where there are fewer.
        least: every dataset has at least so many records.
    """

    view: View
    size: int
    least: int
    on_sample: bool = attrs.field(default=True, init=False)

    def data(self) -> JsonData:
        return {"kind": named(type(self)), "size": self.size, "least": self.least, "view": self.view.data()}

    def changed(self, counts: CountChanges) -> tuple[Case, ...] | None:
        """Of one record that is replaced by another."""
        if not counts:
            return (NO_CHANGE,)
        if sorted(counts) not in ([-1], [1], [-1, 1]) or not (self.view.by_cell and self.view.tells_more_by_more):
            return None
        cases = self.view.changed((-1, 1) if self.view.table.attributes else (1,))
        if cases is None or len(cases) != 1:
            return None
        without, joining = tuple(before for before, _ in cases[0]), tuple(after for _, after in cases[0])
        laws = OnDrawn(self._share(self.least), without), OnDrawn(self._share(self.least), without, joining)
        before, after = (SizedLaw(law=law, least=self.least) for law in laws)
        return (((before, after),),)

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable], space: DatasetSpace) -> Case | None:
        """Of two datasets of which one has records that are all alike, and the other one has another among them."""
        ours, theirs = Counter(before), Counter(after)
        if ours == theirs:
            return NO_CHANGE
        for base, other, is_turned in ((ours, theirs, False), (theirs, ours, True)):
            if base.total() == other.total() and len(base) == 1 and (other - base).total() == 1:
                (same,), (new,) = base, other - base
                size, share = min(self.size, base.total()), self._share(base.total())
                found = self.view.between([same] * size, [new, *[same] * (size - 1)], space) if size else NO_CHANGE
                if found is None:
                    return None
                without, joining = tuple(law for law, _ in found), tuple(law for _, law in found)
                pair = OnSample(share, without), OnSample(share, without, joining)
                return (pair[::-1] if is_turned else pair,) if found else NO_CHANGE
        return None

    def restricted(self, where: Mapping[str, tuple[str, ...]]) -> View:
        """None: of the records that meet a condition there may be few, and the share of the sample is not known.

        Raises:
            NoStructure: always.
        """
        raise NoStructure(f"it draws a sample of a fixed size from records that meet a condition on {', '.join(where)}")

    def _share(self, records: int) -> Fraction:
        return Fraction(self.size, records) if self.size < records else Fraction(1)


@attrs.frozen
class Bounded(OfView):
    """A view of a part of the records: at most a number of each record of a larger unit, chosen from that record alone.

    Args:
        view: the view of the records that are left.
        contribution: which records are left.
    """

    view: View
    contribution: Contribution

    @property
    def most(self) -> int | None:  # type: ignore[override]  # the least of its own and that of the view inside
        return min((most for most in (self.contribution.most, self.view.most) if most is not None), default=None)

    def data(self) -> JsonData:
        known, kept = self.view.data(), self.contribution
        bound = {"most": kept.most, "in_cell": kept.in_cell, "by": [*kept.by], "where": {name: [*of] for name, of in kept.where}}
        return {**known, "contributions": [*known.get("contributions", []), bound]}

    def changed(self, counts: CountChanges) -> tuple[Case, ...] | None:
        return self.view.changed(counts)

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable], space: DatasetSpace) -> Case | None:
        return self.view.between(before, after, space)

    def most_in_cell(self, space: DatasetSpace) -> int | None:
        limits = (self.view.most_in_cell(space), self.contribution.most_in_cell(self.table, space))
        return min((limit for limit in limits if limit is not None), default=None)

    def read(self, dataset: Dataset, space: DatasetSpace) -> tuple[Record, ...]:
        return self.view.read(self.contribution.applied(dataset, space), space)

    def restricted(self, where: Mapping[str, tuple[str, ...]]) -> View:
        merged = dict(narrowed(Marginal(attributes=(), where=self.contribution.where), where).where)
        return Bounded(self.view.restricted(where), attrs.evolve(self.contribution, where=tuple(merged.items())))


@attrs.frozen(kw_only=True)
class Contribution:
    """The choice of records of a smaller unit that are kept of each record of the largest one, in the order of the records.

    Args:
        most: the first so many; None for all.
        in_cell: the first so many of each combination of `by`; None for all.
        by: attributes of the smaller unit.
        where: conditions that a record meets; others are left out first.
    """

    most: int | None = None
    in_cell: int | None = None
    by: tuple[str, ...] = ()
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def applied(self, dataset: Dataset, space: DatasetSpace) -> Dataset:
        """The dataset with these records only."""
        members = Membership.needed_in(space)
        inner = space.units[-1]
        places = {a.name: place for place, a in enumerate(space.attributes_of(inner))}

        def left(records: tuple[Record, ...]) -> list[int]:
            met = [
                place for place, record in enumerate(records)
                if all(record[places[name]] in categories for name, categories in self.where)
            ]  # fmt: skip
            seen: Counter[Record] = Counter()
            kept = []
            for place in met:
                group = tuple(records[place][places[name]] for name in self.by)
                seen[group] += 1
                if self.in_cell is None or seen[group] <= self.in_cell:
                    kept.append(place)
            return kept if self.most is None else kept[: self.most]

        return members.with_members(dataset, left)

    def most_in_cell(self, table: Marginal, space: DatasetSpace) -> int | None:
        """The largest number of records in one cell of a table, where its cells distinguish the values of `by`."""
        if self.in_cell is None:
            return None
        single = {name for name, categories in table.where if len(categories) == 1}
        return self.in_cell if set(self.by) <= {*table.attributes, *single} else None


def records_read(view: View, space: DatasetSpace) -> tuple[int, int | None]:
    """The least and the largest number of records that a view reads of a dataset of the space; None where unknown.

    The space bounds the number of records of its largest unit. Of those that meet a condition, and of members of larger records,
    there may be none. A view that chooses among records with a `read` of its own may read any number.

    >>> from dpspec.blocks.records import OrderedRecords
    >>> from dpspec.blocks.space import Attribute
    >>> sex = Attribute(name="sex", categories=("f", "m"))
    >>> people = OrderedRecords(attributes=(sex,), least=1_000, most=2_000)
    >>> for where in ({}, {"sex": ("f", "m")}, {"sex": ("f",)}):
    ...     records_read(NoisyCount(Marginal(attributes=(), where=where), None), people)
    (1000, 2000)
    (1000, 2000)
    (0, 2000)
    """
    if isinstance(view, RepeatedView):
        return records_read(view.view, space)
    if isinstance(view, DrawnView) and view.table.unit == space.units[0]:  # all, whatever its table counts of them
        return sizes_of(space)
    if type(view).read is not View.read or view.table.unit != space.units[0]:
        return 0, None
    least, most = sizes_of(space)
    known = {a.name: a for a in space.attributes_of(view.table.unit)}
    reads_all = all(len(set(categories)) == known[name].size for name, categories in view.table.where)
    return least if reads_all else 0, most
