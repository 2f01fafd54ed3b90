"""Lower bounds of the constant: a pair of datasets, in one universe, for which d_Pr and d_X are computed from the structure.

The patterns of changes are turned into records, and these into datasets, the costliest first. Further candidates are two records
that exchange the attributes an invariant reads, larger records whose members are all alike, and changes among many equal records.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Sized
from fractions import Fraction
from typing import Any

import attrs

from dpspec.base.errors import NoFormulaError, NotEnumerableError, NotInSpaceError
from dpspec.base.exact import INFINITY, ZERO, Bracket, Number
from dpspec.blocks.parts import Changes, Collections, nesting_of, own_attributes, sizes_of
from dpspec.blocks.space import Dataset, Record
from dpspec.grammar.sizes import SizedLaw
from dpspec.grammar.spec import PrivacySpec
from dpspec.grammar.structure import Structure
from dpspec.grammar.views import LawPair, View, cells_of
from dpspec.laws.law import Law
from dpspec.verifier.changes import Pattern, SeenAttributes, farthest, pairs_of, records_of, replacements, seen_by
from dpspec.verifier.exhaustive import per_unit
from dpspec.verifier.members import MOST_MEMBERS, MemberView, outer_part
from dpspec.verifier.sensitivity import Cost, RecordChange, Sensitivity

CROSSED = 20
"""The number of patterns of two records that are tried with exchanges."""

MANY = (1, 2, 8, 64)
"""The number of records of a smaller unit that change at once, where a larger one changes."""

MOST_EVALUATED = 100_000
"""The largest number of evaluations of invariants in a search for a pair, counted once for each pair: about two seconds."""

RECORDS_EVALUATED = 20
"""So many records of datasets take as long as one of these evaluations: they are read, sorted and counted for each pair."""

PAIRS_TRIED = 100
"""The number of patterns that are turned into datasets, those of the largest divergence first."""

MOST_RANKED = 5_000
"""The number of patterns of a member that are ranked."""

ALIKE_TRIED = 4
"""The number of patterns of one change that are turned into datasets, those with the most named categories first."""

MOST_AT_ONCE = 10_000
"""The largest number of records that a pair changes at once; neighbours may be a billion changes apart."""

MOST_DRAWN = 1_000_000
"""The largest sample of which the cells of all records are listed."""

MOST_UNREAD = 10_000
"""The largest number of records that no view reads that are added to those that change, where the space requires as many
records."""

ExchangedRecords = tuple[tuple[Record, ...], tuple[Record, ...]]
"""The records that go, and those that come."""


@attrs.frozen(kw_only=True)
class SeenPair:
    """A pair of datasets with what was computed on it."""

    left: Dataset
    right: Dataset
    distance: Number
    divergence: Bracket

    @property
    def ratio(self) -> Bracket:
        """d_Pr / d_X."""
        return per_unit(self.divergence, self.distance)


@attrs.frozen(kw_only=True)
class Attaining:
    """Pairs on which a mechanism comes as close to its bound as can be found.

    Args:
        sensitivity: the structure and the claim.
        law: the law of what is released, where the views are not; None where it is not known.
    """

    sensitivity: Sensitivity
    law: Callable[[Dataset], Law | None] | None = None
    _evaluated: list[int] = attrs.field(factory=lambda: [0], init=False, eq=False, repr=False)
    _thinned: dict[int, SeenPair | None] = attrs.field(factory=dict, init=False, eq=False, repr=False)

    @property
    def spec(self) -> PrivacySpec:
        return self.sensitivity.spec

    @property
    def structure(self) -> Structure:
        return self.sensitivity.structure

    def best(self, costs: Sequence[Cost], precision: int) -> SeenPair | None:
        """The pair of one universe with the largest quotient that is found; none is looked for that cannot have a larger one."""
        unit, space = self.sensitivity.steps.unit, self.spec.space
        columns = self.sensitivity.columns(unit)
        found = self._better(None, self.with_members(unit), unit, precision)
        attained = ((change, cost) for change, cost in costs if change.patterns)
        for change, cost in itertools.islice(attained, PAIRS_TRIED):
            for pattern in sorted(change.patterns, key=_singled, reverse=True)[:ALIKE_TRIED]:
                if found is not None and found.ratio.lower >= cost.upper:
                    break
                records = records_of(pattern, columns, space, unit)
                exchanges = () if records is None else self._exchanged(records, change)
                found = self._better(found, exchanges, unit, precision)
        if found is None or found.ratio.lower < self.sensitivity.upper(costs):
            found = self._better(found, self._crossed(columns, unit), unit, precision)
        return found

    def filled(self, costs: Sequence[Cost], precision: int) -> SeenPair | None:
        """The best pair of the space without its least size, filled up with equal records, where each dataset has many."""
        part, found = Changes.found_in(self.spec.space), self._of_thinned(costs, precision)
        if part is None or found is None:
            return None
        best, largest = None, self.sensitivity.steps.unit == self.spec.space.units[0]
        unread = itertools.islice(self._unread(self._records_of(found)), 1) if largest else ()
        for record in (*unread, None):
            pair = part.filled((found.left, found.right), record)
            if pair is None:
                continue
            try:
                left, right = map(self.spec.space.dataset, pair)
            except NotInSpaceError:
                continue
            seen = self.judged(left, right, precision)
            if seen is not None and (best is None or seen.ratio.lower > best.ratio.lower):
                best = seen
        return best

    def _of_thinned(self, costs: Sequence[Cost], precision: int) -> SeenPair | None:
        """The best pair of the space without its least size; None where the space has pairs that can be written down."""
        part = Changes.found_in(self.spec.space)
        smaller = None if part is None else part.thinned()
        if smaller is None:
            return None
        if precision not in self._thinned:  # it is asked for twice where the pair cannot be filled up
            known = Sensitivity(structure=self.structure, spec=self.spec.replace(space=smaller))
            self._thinned[precision] = Attaining(sensitivity=known).best(costs, precision)
        return self._thinned[precision]

    def thinned(self, costs: Sequence[Cost], precision: int) -> SeenPair | None:
        """The best pair where one is too large to be written down: what both datasets share is left out."""
        known = self.spec.multiverse.induced_by()
        if known is None or any(invariant.as_marginal() is None for invariant in known):
            return None
        if self.sensitivity.sizes and self.structure.publishes_views:
            return None  # some laws depend on the number of records
        found = self._of_thinned(costs, precision)
        if found is not None and self.structure.drawn is not None:
            return self._among_many(found, precision)
        if found is None or not self.sensitivity.is_sampled or self._has_unread(found):
            return found
        return attrs.evolve(found, divergence=Bracket(lower=ZERO, upper=found.divergence.upper))  # others are drawn, and hide it

    def _among_many(self, pair: SeenPair, precision: int) -> SeenPair | None:
        """The pair among as many further equal records as the space has at least, of which a fixed number is drawn."""
        part, size = Collections.found_in(self.spec.space), self.structure.drawn or 0
        if part is None or size > MOST_DRAWN or not self.structure.publishes_views:
            return None
        left, right = (part.counts(dataset) for dataset in (pair.left, pair.right))
        for base, more, turned in ((left, right, False), (right, left, True)):
            gone, come = base - more, more - base
            if come.total() != 1 or gone.total() > 1 or len(base) != 1:
                continue
            least = max(self.sensitivity.least, base.total())
            largest, most = least + 1 - gone.total(), sizes_of(self.spec.space)[1]
            if most is not None and largest > most:
                return None
            alone, other = (self._cells_of_one(record) for record in (*base, *come))
            counts = [Counter({cell: least * times for cell, times in cells.items()}) for cells in alone]
            changed = [
                Counter({cell: (largest - 1) * of[cell] + its[cell] for cell in {**of, **its}})
                for of, its in zip(alone, other, strict=True)
            ]
            divergence = self._on_drawn(counts, changed, (least, largest), precision, turned)
            return None if divergence is None else attrs.evolve(pair, divergence=divergence)
        return None

    def _cells_of_one(self, record: Hashable) -> list[Counter[Any]]:
        """The cells that each view counts of a dataset of one record."""
        part, space = Changes.found_in(self.spec.space), self.spec.space
        smaller = space if part is None else part.thinned() or space
        few = Collections.found_in(smaller)
        dataset = () if few is None else few.from_counts({record: 1})
        return [Counter(cells_of(view, dataset, smaller)) for view in self.structure.views]

    def _has_unread(self, pair: SeenPair) -> bool:
        """Whether there are records that no view reads, with which a pair can be filled up."""
        return any(True for _ in self._unread(self._records_of(pair)))

    def _records_of(self, pair: SeenPair) -> list[Record]:
        """The distinct records of both datasets."""
        unit = self.sensitivity.steps.unit
        records = (record for side in (pair.left, pair.right) for record in self.spec.space.records(side, unit))
        return list(dict.fromkeys(records))

    def beside(self, bound: Number, precision: int) -> SeenPair | None:
        """A pair beyond a bound that differs in records of another unit than that of d_X: these may cost little, or nothing."""
        steps = self.spec.input_divergence.record_steps(self.spec.space)
        units = dict.fromkeys(view.table.unit for view in self.structure.views)
        for times, unit in itertools.product(MANY, sorted(units, key=lambda unit: steps is not None and unit == steps.unit)):
            columns = self.sensitivity.columns(unit)
            for pattern in itertools.islice(replacements(columns), PAIRS_TRIED if times == 1 else CROSSED):
                records = records_of(pattern, columns, self.spec.space, unit)
                one, other = (records[:1], records[1:]) if records is not None else ((), ())
                exchanges = [(one * times, other * times), (other * times, one * times)]
                exchanges += [((), other)] if times == 1 and other else []
                if self.spec.space.is_ordered and records is not None:  # others in another order, with one replaced or none
                    turned = records[::-1]
                    exchanges += [(records * times, turned * times), (records * times + one, turned * times + other)]
                found = self._better(None, exchanges, unit, precision)
                if found is not None and found.ratio.lower > bound:
                    return found
        return None

    def pairs(self, changes: Sequence[RecordChange]) -> Iterator[tuple[Dataset, Dataset]]:
        """Pairs of the space in one universe, at finite distance, that differ by changes of some kinds."""
        unit, space = self.sensitivity.steps.unit, self.spec.space
        columns = self.sensitivity.columns(unit)
        for change in itertools.islice((change for change in changes if change.patterns), PAIRS_TRIED):
            for pattern in change.patterns[:ALIKE_TRIED]:
                records = records_of(pattern, columns, space, unit)
                for gone, come in () if records is None else self._exchanged(records, change):
                    for others in self._companions(gone, come):
                        for left, right in pairs_of(others + gone, others + come, space, unit):
                            together = left != right and self.spec.multiverse.share_universe(left, right, space)
                            if together and not self.spec.distance(left, right).is_infinite:
                                yield left, right

    def _better(self, best: SeenPair | None, exchanges: Iterable[ExchangedRecords], unit: str, precision: int) -> SeenPair | None:
        """The best pair so far, or a better one that differs in such records, alone or with further records."""
        each = 1 + len(self.spec.multiverse.induced_by() or ())
        for gone, come in self._in_both_orders(exchanges):
            for others in self._companions(gone, come):
                self._evaluated[0] += each
                if self._evaluated[0] > MOST_EVALUATED:
                    return best
                found = None
                for left, right in pairs_of(others + gone, others + come, self.spec.space, unit):
                    self._evaluated[0] += sum(len(x) for x in (left, right) if isinstance(x, Sized)) // RECORDS_EVALUATED
                    found = self.judged(left, right, precision)
                    if found is not None:
                        break
                if found is not None and (best is None or found.ratio.lower > best.ratio.lower):
                    best = found
        return best

    def _in_both_orders(self, exchanges: Iterable[ExchangedRecords]) -> Iterator[ExchangedRecords]:
        """Each exchange, and its reverse where the distance of datasets or that of laws may depend on the order."""
        one_order = self.spec.output_divergence.is_symmetric and self.spec.input_divergence.is_symmetric
        for gone, come in exchanges:
            yield gone, come
            if not one_order:
                yield come, gone

    def _companions(self, gone: tuple[Record, ...], come: tuple[Record, ...]) -> Iterator[tuple[Record, ...]]:
        """Further records of both datasets that may make the change easier to see, equal to one that changes."""
        yield ()
        numbers = {number for view in self.structure.views for number in view.companions()} - {0}
        records = tuple(dict.fromkeys((*gone[:1], *come[:1])))
        for number in sorted(numbers):
            yield from ((record,) * number for record in records)
            if len(records) > 1:
                yield records * number
        further = sizes_of(self.spec.space)[0] - max(len(gone), len(come))
        if 0 < further <= MOST_UNREAD and not self.sensitivity.is_sampled:
            yield from ((record,) * further for record in itertools.islice(self._unread(records), 1))

    def _unread(self, records: Sequence[Record]) -> Iterator[Record]:
        """Records that no view reads: some records, with another category of an attribute on which a view has a condition."""
        unit, space = self.sensitivity.steps.unit, self.spec.space
        part, tables = Changes.found_in(space), [view.table for view in self.structure.views]
        if part is None or any(table.unit != unit for table in tables):
            return
        conditions = {name: categories for table in tables for name, categories in table.where}
        for place, attribute in enumerate(space.attributes_of(unit)):
            if attribute.name not in conditions or attribute.within is not None:
                continue
            few = itertools.islice(part.few_values(attribute), len(conditions[attribute.name]) + 1)
            for record, value in itertools.product(records, few):
                other = (*record[:place], value, *record[place + 1 :])
                if all(table.cell_of(other, space) is None for table in tables):
                    yield other

    def _exchanged(self, records: tuple[Record, Record], change: RecordChange) -> Iterator[ExchangedRecords]:
        """A record added or replaced, as often as neighbours allow it; in sequences also two that change places."""
        steps = self.sensitivity.steps
        gone: tuple[Record, ...] = () if change.is_added else records[:1]
        come: tuple[Record, ...] = records[1:]
        if self.structure.drawn is not None and change.is_added:  # it replaces one of several equal records in the sample
            gone, come = records[:1], records
        yield gone, come
        price = steps.added if change.is_added and steps.added is not None else steps.replaced
        times = 1 if steps.within is None else min(steps.within // price, MOST_AT_ONCE)
        if times > 1:
            yield gone * times, come * times
        if self.spec.space.is_ordered and not change.is_added:
            yield records, records[::-1]

    def _crossed(self, columns: SeenAttributes, unit: str) -> Iterator[ExchangedRecords]:
        """Two records that differ as much as they can and exchange what one invariant looks at, as several tables ask for."""
        tables, space = self.sensitivity.fixed(unit), self.spec.space
        names = [a.name for a in space.attributes_of(unit)]
        for pattern in itertools.islice(farthest(columns), CROSSED) if len(tables) > 1 else ():
            records = records_of(pattern, columns, space, unit)
            if records is None:
                continue
            for moved in (columns.moved_with(table, space.attributes_of(unit)) for table in tables):
                turned = (records, records[::-1])
                yield records, tuple(tuple(b if n in moved else a for n, a, b in zip(names, *two, strict=True)) for two in turned)

    def with_members(self, unit: str) -> Iterator[ExchangedRecords]:
        """Larger records that are full of members of one kind, or of as many kinds as count: added, and replaced by others.

        Kinds are tried that move the most answers; first those that keep what the invariants look at in a member and around it.
        """
        space = self.spec.space
        views = [view for view in self._views_within(unit) if view.table.unit != unit]
        for inner in dict.fromkeys(view.table.unit for view in views):
            sizes = self._sizes([view for view in views if view.table.unit == inner], unit)
            place = len(own_attributes(space, unit))
            base: Record | None = None
            for records in self._farthest(inner, unit):
                base = base or records[0]
                for size in sizes:
                    full = [(*record[:place], (record[place:],) * size) for record in records]
                    for record, one in zip(records, full, strict=True):
                        yield (), (one,)
                        yield ((*record[:place], ()),), (one,)
                    if full[0] != full[1]:
                        yield (full[0],), (full[1],)
            if base is not None:
                kinds = self._kinds([view for view in views if view.table.unit == inner], base)
                yield from (((), ((*base[:place], tuple(kind[place:] for kind in kinds[:size])),)) for size in sizes)

    def _views_within(self, unit: str) -> list[View]:
        """The views of the records of a unit, and of those inside it; universes fix what others see."""
        units = self.spec.space.units
        return [view for view in self.structure.views if view.table.unit in units[units.index(unit) :]]

    def _farthest(self, inner: str, unit: str) -> Iterator[tuple[Record, Record]]:
        """Two members, with what they lie in, that differ in what most views look at."""
        space, within = self.spec.space, self._views_within(unit)
        views = [view.table for view in within]
        fixed = [*self.sensitivity.fixed(inner), *(outer_part(table, space, inner) for table in self.sensitivity.fixed(unit))]
        looked = [outer_part(table, space, inner) for table in views]
        columns = SeenAttributes.of((*looked, *fixed), space, inner, [view.singled() for view in within])

        def rank(pattern: Pattern) -> tuple[bool, int]:
            breaks = any(seen_by(table, pattern, columns) for table in fixed)
            return breaks, -sum(len(seen_by(table, pattern, columns)) for table in looked)

        every = sorted(itertools.islice(replacements(columns), MOST_RANKED), key=rank)
        found = (records_of(pattern, columns, space, inner) for pattern in every[:CROSSED])
        return (records for records in found if records is not None)

    def _kinds(self, views: Sequence[View], base: Record) -> list[Record]:
        """Further members that lie in different cells of all views, as far as categories differ."""
        space, inner = self.spec.space, views[0].table.unit
        part, found, seen = Changes.found_in(space), [base], {tuple(view.table.cell_of(base, space) for view in views)}
        looked = {name for view in views for name in view.table.attributes}
        for place, attribute in enumerate(space.attributes_of(inner)):
            if part is None or attribute not in own_attributes(space, inner) or attribute.name not in looked:
                continue
            for value in itertools.islice(part.few_values(attribute), MOST_MEMBERS + 1):
                record = (*base[:place], value, *base[place + 1 :])
                cells = tuple(view.table.cell_of(record, space) for view in views)
                if cells not in seen and None not in cells:
                    seen.add(cells)
                    found.append(record)
        return found

    def _sizes(self, views: Sequence[View], unit: str) -> list[int]:
        """The numbers of members with which larger records are tried: as many as they hold, or as are counted."""
        space = self.spec.space
        seen = [MemberView.of(view, space, unit) for view in views]
        sizes = {view.most for view in seen if view is not None} | {view.in_cell for view in seen if view is not None}
        largest = nesting_of(space).most_within(views[0].table.unit, unit)
        if largest is None:
            sizes |= {size + 1 for size in sizes} | set(MANY)  # more than are counted, where something is bounded
        return sorted(size for size in sizes if size > 0 and (largest is None or size <= largest))

    def judged(self, left: Dataset, right: Dataset, precision: int) -> SeenPair | None:
        """The divergence and distance of a pair; None where the claim does not constrain it, or the views do not compare it."""
        space = self.spec.space
        if left == right or not self.spec.multiverse.share_universe(left, right, space):
            return None
        distance = self.spec.distance(left, right)
        if distance.is_infinite:
            return None
        bracket = self.of_views(left, right, precision)
        if bracket is None and (self.structure.publishes_views or self.law is None):
            return None
        if bracket is None:  # views that do not compare two datasets may be those of a mechanism that does
            bracket = Bracket(lower=ZERO, upper=INFINITY)
        if not self.structure.publishes_views:  # what is computed from the views may hide the difference
            bracket = Bracket(lower=self._released(left, right), upper=bracket.upper)
        if distance == 0 and bracket.upper == 0:
            return None
        return SeenPair(left=left, right=right, distance=distance, divergence=bracket)

    def of_views(self, left: Dataset, right: Dataset, precision: int) -> Bracket | None:
        """d_Pr of the answers of the views on two datasets, for a random sample of the records; None where unknown."""
        return self._on_samples(left, right, precision) if self.sensitivity.is_sampled else self._apart(left, right, precision)

    def _apart(self, left: Dataset, right: Dataset, precision: int) -> Bracket | None:
        """d_Pr of the views on two datasets; None where they do not compare them."""
        cells = [[cells_of(view, dataset, self.spec.space) for dataset in (left, right)] for view in self.structure.views]
        return self._of_cells(cells, precision, Fraction(1))

    def _on_samples(self, left: Dataset, right: Dataset, precision: int) -> Bracket | None:
        """The same on samples, where one record differs and nothing that the views count depends on which others are drawn."""
        space, size, part = self.spec.space, self.structure.drawn, Collections.found_in(self.spec.space)
        if part is None:
            return None
        one, other = part.counts(left), part.counts(right)
        counts = [[Counter(cells_of(view, side, space)) for view in self.structure.views] for side in (left, right)]
        for base, more, turned in ((one, other, False), (other, one, True)):
            gone, come = (base - more).total(), (more - base).total()
            hidden = all(cell is None for counted in counts[turned] for cell in counted)
            if size is None and (gone, come) == (0, 1) and hidden:
                cells = [[list(side.elements()) for side in sides] for sides in zip(*counts, strict=True)]
                return self._of_cells(cells, precision, self.structure.sampled, is_turned=turned)
            if size is None and self.structure.sampled == 1 and (gone, come) == (1, 1):  # each view draws a sample of its own
                cells = [[list(side.elements()) for side in sides] for sides in zip(*counts, strict=True)]
                return self._of_cells(cells, precision, Fraction(1))
            if size is not None and come == 1 and gone <= 1 and len(base) <= 1:  # the others are all alike
                return self._on_drawn(counts[turned], counts[not turned], (base.total(), more.total()), precision, turned)
        return None

    def _on_drawn(
        self, base: Sequence[Counter[Any]], more: Sequence[Counter[Any]], totals: tuple[int, int], precision: int, turned: bool
    ) -> Bracket | None:  # fmt: skip
        """The same where a dataset has equal records, and the other one has another record in addition or in place of one of
        them."""
        n, most = totals
        size = min(self.structure.drawn or 0, most)
        found = []
        for same, other in zip(base, more, strict=True):
            each = {cell: many // n for cell, many in same.items()}
            without = Counter({cell: min(size, n) * many for cell, many in each.items()})
            with_it = Counter({cell: other[cell] - (most - size) * each.get(cell, 0) for cell in {**same, **other}})
            sides = [list(without.elements()), list(with_it.elements())]
            found.append(sides[::-1] if turned else sides)
        return self._of_cells(found, precision, Fraction(size, most), is_turned=turned)

    def _of_cells(
        self, cells: Sequence[Sequence[list[Any]]], precision: int, rate: Fraction, *, is_turned: bool = False
    ) -> Bracket | None:  # fmt: skip
        """d_Pr of the views, from the cells of the records before and after; None where they have different kinds of output."""
        found: list[LawPair] = []
        for view, (before, after) in zip(self.structure.views, cells, strict=True):
            laws = view.between(before, after, self.spec.space)
            if laws is None or any(isinstance(law, SizedLaw) for pair in laws for law in pair):
                return None
            found += laws
        return self.sensitivity.divergence_of(tuple(found), precision, rate, is_turned=is_turned)

    def _released(self, left: Dataset, right: Dataset) -> Number:
        """A lower bound of the divergence of the laws of the release."""
        laws = [None if self.law is None else self.law(dataset) for dataset in (left, right)]
        before, after = laws
        if before is None or after is None:
            return ZERO
        try:
            return self.spec.output_divergence.between(before, after).lower
        except (NoFormulaError, NotEnumerableError):
            return ZERO


def _singled(pattern: Pattern) -> int:
    """In how many places a pattern has a category that some condition or view singles out."""
    return sum(any(kept.before) + any(kept.after) for kept in pattern.values())
