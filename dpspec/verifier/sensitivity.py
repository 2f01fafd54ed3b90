"""From above: the changes of one record that join two datasets of a universe, and how far each moves the laws of the answers.

Two datasets of a universe at distance d are joined by changes of one record, each of which keeps the invariants, of total price d
(`dpspec.verifier.changes`). A change is of one of finitely many patterns, and each moves a few answers of some views. All others
have equal laws and cancel, so d_Pr of the change is that of the product of the laws of these few answers, which the exact engine
computes. The largest quotient of d_Pr and price bounds the constant wherever bounds for single changes add up.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache

import attrs

from dpspec.base.errors import NoFormulaError
from dpspec.base.exact import INFINITY, ZERO, Bracket, Number, number
from dpspec.base.memo import key_of
from dpspec.base.types import JsonData
from dpspec.blocks.input_divergence import RecordSteps
from dpspec.blocks.invariant import Invariant, Marginal
from dpspec.blocks.multiverse import determines, seen_to_fix
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.parts import Membership, sizes_of
from dpspec.blocks.space import MEMBERS
from dpspec.grammar.plugin_calls import guarded
from dpspec.grammar.sizes import SizedLaw
from dpspec.grammar.spec import PrivacySpec
from dpspec.grammar.structure import Structure, own_samples
from dpspec.grammar.views import (
    Bounded,
    Case,
    CountChanges,
    DrawnView,
    LawPair,
    OfView,
    RepeatedView,
    SampledView,
    View,
    law_data,
    records_read,
    table_data,
)
from dpspec.laws.combine import is_on_sample
from dpspec.laws.dichotomy import Dichotomy, total
from dpspec.laws.law import Law
from dpspec.laws.location import Location
from dpspec.laws.products import product_of
from dpspec.laws.samples import drawn, sampled
from dpspec.verifier.changes import AttributeChange, Pattern, SeenAttributes, Sides, change_of, counts_of, read_by, sides_of
from dpspec.verifier.components import (
    NOTHING_SEEN,
    Components,
    LargestChanges,
    Reader,
    SeenChange,
    Ties,
    TooManySituationsError,
    names_read,
)
from dpspec.verifier.exhaustive import PRECISIONS, per_unit
from dpspec.verifier.laminar import laminar_parts
from dpspec.verifier.members import MemberView, outer_part

FEW_CASES = 40
"""Changes that can act in no more ways are looked through one by one, also where other bounds would do."""

MOST_CASES = 2_000
"""Changes that can act in more ways than this are not looked through one by one."""


NO_REPLACED = (
    "what sampling gains is proved for a record that is added or removed, and for one that is replaced only where a single query "
    "is answered cell by cell, with noise of its own for each"
)


def asks_for_replaced(steps: RecordSteps) -> bool:
    """Whether a record that is replaced costs less than one that is removed and one that is added, or is not that at all."""
    return steps.added is None or steps.replaced < 2 * steps.added or (steps.within or 0) >= steps.replaced


def for_replaced(structure: Structure, spec: PrivacySpec) -> Structure:
    """The structure with its sample as a part of its view, where records are replaced: it knows what comes and what goes."""
    steps, rate = spec.input_divergence.record_steps(spec.space), structure.sampled
    alone = len(structure.views) == 1 and structure.views[0].by_cell and structure.views[0].table.unit == spec.space.units[0]
    if not alone or not 0 < rate < 1 or structure.drawn is not None or steps is None or not asks_for_replaced(steps):
        return structure
    return attrs.evolve(structure, sampled=Fraction(1), views=(SampledView(structure.views[0], rate),), hypotheses=())


@attrs.frozen(kw_only=True)
class Missing:
    """A step of the proof that cannot be taken.

    Args:
        step: its name.
        reason: why.
    """

    step: str
    reason: str

    def __str__(self) -> str:
        return f"the step {self.step} is missing: {self.reason}"


class MissingStep(Exception):
    """Ends a proof, with the step that is missing."""

    def __init__(self, step: str, reason: str) -> None:
        super().__init__(step)
        self.missing = Missing(step=step, reason=reason)


@attrs.frozen(kw_only=True)
class RecordChange:
    """A change of one record as the views see it.

    Args:
        patterns: the changes of its attributes, some of those that the views do not distinguish.
        price: what it adds to d_X.
        laws: the laws of the answers that change.
        is_added: whether the record is added (or removed), not replaced.
        members: the laws of the answers that change with one of the records inside it, where these change one after the other.
        times: how many they are at most.
        groups: what each group of views may see, where that is bounded for each group by itself and composed.
        is_any: whether every combination of what the groups see is that of some change.
    """

    patterns: Sequence[Pattern]
    price: int
    laws: Case
    is_added: bool = False
    members: Case = ()
    times: int = 0
    groups: tuple[tuple[Case, ...], ...] = ()
    is_any: bool = False

    @property
    def answers(self) -> int:
        """The largest number of answers that move, those of records inside it left out where they change one after the other."""
        return len(self.laws) + sum(max(map(len, cases)) for cases in self.groups)


NumberedCase = tuple[int, ...]
"""A case by the numbers of its pairs of laws, in order; equal laws have one number, so that what looks the same is found."""

FAILED = -1
"""Placeholder for the laws of answers of which no case is known: an error only where the change is allowed."""

Cost = tuple[RecordChange, Bracket]
"""A change with the quotient of d_Pr and price."""


@attrs.frozen(kw_only=True, slots=False, eq=False)
class Sensitivity:
    """The sensitivity of a mechanism: the answers that changes of one record move, and their cost.

    Args:
        structure: how the mechanism is made.
        spec: the claim.
    """

    structure: Structure
    spec: PrivacySpec
    _numbers: dict[LawPair, int] = attrs.field(factory=dict, init=False)
    _moved_by: dict[tuple[int, CountChanges], tuple[NumberedCase, ...]] = attrs.field(factory=dict, init=False)
    _members_of: dict[frozenset[str] | None, tuple[NumberedCase, ...]] = attrs.field(factory=dict, init=False)
    _pairs_of_laws: list[LawPair] = attrs.field(factory=list, init=False)
    _failures: list[MissingStep] = attrs.field(factory=list, init=False)
    _tied: list[LargestChanges] = attrs.field(factory=list, init=False)
    _columns_of: dict[str, SeenAttributes] = attrs.field(factory=dict, init=False)
    sizes: dict[tuple[Marginal, str], tuple[int, int | None]] = attrs.field(factory=dict, init=False)
    """The numbers of records that laws of views depend on, as they were established: for the table of the view, in words."""

    @cached_property
    def steps(self) -> RecordSteps:
        """The price of changing records; where it does not fit the views, the step that is missing."""
        divergence, space, views = self.spec.input_divergence, self.spec.space, self.views
        steps = divergence.record_steps(space)
        if steps is None:
            raise MissingStep("sensitivity", f"{divergence} is not known as a price of changing records")
        larger = space.units.index(steps.unit) if steps.unit in space.units else len(space.units)
        for other in dict.fromkeys(view.table for view in views if view.table.unit in space.units[:larger]):
            raise MissingStep("sensitivity", f"records of the unit {steps.unit} do not determine {other}")
        if any(view.table.unit != steps.unit for view in views) and Membership.found_in(space) is None:
            raise MissingStep("sensitivity", f"unknown which records lie in those of the unit {steps.unit}")
        if any(view.table.unit == steps.unit and _counted(view) is not None for view in views):
            reason = (
                f"which records of the unit {steps.unit} are counted depends on others: one that comes may take another's place"
            )
            raise MissingStep("sensitivity", reason)
        if self.is_sampled and steps.unit != space.units[0]:
            reason = (
                f"records of the unit {space.units[0]} take part at random, with all that they hold, not those of {steps.unit}"
            )
            raise MissingStep("sample", reason)
        if self.structure.drawn is not None and self.structure.drawn_by is None:
            raise MissingStep("sample", "the mechanism does not state that the sample is drawn from all records (drawn_by)")
        if self.is_sampled and self.is_by_record:
            raise MissingStep("sample", "each record is answered for in its place, and a sample leaves places out")
        if self.is_by_record and not (steps.in_place and space.is_ordered):
            reason = "each record is answered for in its place, which the input divergence does not keep"
            raise MissingStep("sensitivity", reason)
        if self.structure.reads:
            known = self.spec.multiverse.induced_by()
            fixed = None if known is None else determines(known, self.structure.reads, space)
            if fixed is None or fixed.answer is not True:
                reason = "universes are given without invariants" if fixed is None else fixed.reason
                raise MissingStep("post-process", f"it reads facts that universes are not known to fix: {reason}")
        return steps

    @cached_property
    def views(self) -> tuple[View, ...]:
        """The views whose answers can differ inside a universe: one that counts what the invariants fix has equal laws there.

        Not so on a sample: what the invariants fix is not fixed in the sample, and ties the answers of all views together.
        """
        known = None if self.is_sampled else self.spec.multiverse.induced_by()
        return tuple(view for view in self.structure.views if not known or not self._is_fixed(view, known))

    def _is_fixed(self, view: View, known: tuple[Invariant, ...]) -> bool:
        counts_all = not view.by_record and _counted(view) is None
        return counts_all and seen_to_fix(known, view.table, self.spec.space) is not None

    @property
    def is_by_record(self) -> bool:
        """Whether some view answers for each record in its place."""
        return any(view.by_record for view in self.views)

    @property
    def is_sampled(self) -> bool:
        """Whether the records are sampled independently."""
        return self.structure.is_sampled

    def share(self, *, is_added: bool) -> Fraction:
        """The largest probability with which a record takes part, in a dataset that it was added to or replaced another in."""
        size, least = self.structure.drawn, self.least
        if size is None:
            return self.structure.sampled
        return Fraction(size, least + is_added) if size < least + is_added else Fraction(1)

    @cached_property
    def least(self) -> int:
        """At least so many records of the largest unit are in every dataset, as far as the space says."""
        return sizes_of(self.spec.space)[0]

    def records_read(self, view: View) -> tuple[int, int | None]:
        """The least and the largest number of records that a view reads, of those that take part; none at all by chance."""
        least, most = records_read(view, self.spec.space)
        size = self.structure.drawn
        if size is not None:
            least, most = min(least, size), size if most is None else min(most, size)
        return least if self.structure.sampled == 1 else 0, most

    def established(self, view: View, law: Law) -> Law:
        """A law in a case of a view; one that is right for some numbers of records only, where the view reads as many.

        The number is known for the mechanism of the claim alone: another one, which it applies, may get a part of the records.
        """
        while isinstance(law, SizedLaw):
            rule = f"a bound for {view.table} holds for {law.in_words()}"
            if not any(known.view == view for known in self.structure.hypotheses):
                raise MissingStep("sizes", f"{rule}, and the mechanism does not state which records it reads there")
            least, most = self.records_read(view)
            if least < law.least or (law.most is not None and (most is None or most > law.most)):
                known = f"at least {least:,}" if least < law.least else "any number" if most is None else f"up to {most:,}"
                raise MissingStep("sizes", f"{rule}, and {known} may be read")
            self.sizes[view.table, law.in_words()] = law.least, law.most
            law = law.law
        if is_on_sample(law) and not self.is_sampled:
            raise MissingStep("sample", f"a view of {view.table} draws a sample, and its structure does not say so")
        return law

    @cached_property
    def _is_total_fixed(self) -> bool:
        """Whether all datasets of a universe have equally many records of the unit."""
        unit, space = self.steps.unit, self.spec.space
        known = self.spec.multiverse.induced_by() or ()
        return space.fixes_size(unit) or seen_to_fix(known, Marginal(attributes=(), unit=unit), space) is not None

    def fixed(self, unit: str) -> tuple[Marginal, ...]:
        """The invariants that are tables of the unit; leaving others out allows more changes, never fewer."""
        known = (invariant.as_marginal() for invariant in self.spec.multiverse.induced_by() or ())
        return tuple(dict.fromkeys(table for table in known if table is not None and table.unit == unit))

    def columns(self, unit: str) -> SeenAttributes:
        """The attributes of the unit that some view or invariant looks at, those of the records inside it included."""
        if unit not in self._columns_of:
            self._columns_of[unit] = self._seen(unit)
        return self._columns_of[unit]

    def singled_out(self, unit: str, categories: Mapping[str, tuple[frozenset[str], ...]]) -> SeenAttributes:
        """`columns`, with further sets of categories that patterns distinguish; for all later calls."""
        if categories:
            self._columns_of[unit] = self._seen(unit, categories)
        return self.columns(unit)

    def cases(self, pattern: Pattern) -> list[Case]:
        """The laws of the answers that one record replaced by another of the pattern moves, in each situation.

        Raises:
            MissingStep: they are not known all at once.
        """
        columns, failures = self.columns(self.steps.unit), len(self._failures)
        found = {NOTHING_SEEN: None}
        for reader in self._readers((), is_added=False):
            if reader.is_view:
                sides = tuple(sides_of(table, pattern, columns) for table in reader.tables)
                found = {one.plus(other): None for one in found for other in reader.reads(sides)}
        if len(self._failures) > failures:
            raise self._failures[failures]
        if any(seen.members or seen.times or seen.groups for seen in found):
            raise MissingStep("sensitivity", "records inside the one that changes move answers in too many ways")
        return [self._laws(seen.laws) for seen in found]

    @property
    def is_replaced(self) -> bool:
        """Whether neighbours differ by one record that is replaced, or two datasets of one universe by such changes alone."""
        return not self.is_sampled and not self.is_by_record

    def _seen(self, unit: str, further: Mapping[str, tuple[frozenset[str], ...]] | None = None) -> SeenAttributes:
        space = self.spec.space
        own = [view for view in self.views if view.table.unit == unit]
        inner = [outer_part(view.table, space, unit) for view in self._inner(unit)]
        singled = [*(view.singled() for view in own), *([] if further is None else [further])]
        return SeenAttributes.of((*(view.table for view in own), *inner, *self.fixed(unit)), space, unit, singled)

    def _inner(self, unit: str) -> list[View]:
        """The views of smaller records."""
        return [view for view in self.views if view.table.unit != unit]

    # -- changes ----------------------------------------------------------------------------------

    def changes(self) -> tuple[tuple[Marginal, ...], tuple[RecordChange, ...]]:
        """The laminar part of the invariants that gives the least bound, with the changes that it allows.

        Where neighbours differ by one change, that change keeps all of them, laminar or not.
        """
        unit = self.steps.unit
        if self.is_sampled:
            parts: list[tuple[Marginal, ...]] = [()]
        elif self._is_one_change:
            parts = [self.fixed(unit)]
        elif self.is_by_record:
            return self._in_places(self.fixed(unit))
        else:
            parts = laminar_parts(self.fixed(unit), self.spec.space, unit, self._is_tied)
        allowed = [(part, self._allowed(part)) for part in parts]
        if len(allowed) == 1:
            return allowed[0]
        return min(allowed, key=lambda part: self.upper(self.costs(part[1], PRECISIONS[0])))

    @cached_property
    def _viewed(self) -> tuple[Ties, frozenset[str]]:
        """The attributes that are tied to each other by a table that reads both, and those of each tied part that some view
        reads."""
        unit = self.steps.unit
        inner = [outer_part(view.table, self.spec.space, unit) for view in self._inner(unit)]
        own = [table for view in self.views if view.table.unit == unit for table in read_by(view)]
        tied = Ties.of(self.columns(unit), map(names_read, (*own, *inner, *self.fixed(unit))))
        return tied, frozenset(tied.root(name) for table in (*own, *inner) for name in names_read(table))

    def _is_tied(self, table: Marginal) -> bool:
        """Whether an invariant is tied to a view, so that it can exclude what the view sees; one of no attribute counts all."""
        tied, viewed = self._viewed
        names = names_read(table)
        return not names or any(tied.root(name) in viewed for name in names)

    def _in_places(self, family: tuple[Marginal, ...]) -> tuple[tuple[Marginal, ...], tuple[RecordChange, ...]]:
        """Changes of records in their places, as many together as neighbours allow, or as invariants ask for.

        The changes of all places keep the invariants together. So those that break one by themselves are none, or two at least,
        and can be taken in twos and a three.
        """
        every, within = self._allowed(()), self.steps.within
        sizes = (2, 3) if within is None else (within,)
        many = sum(math.comb(len(every) + size - 1, size) for size in sizes)
        if (within is None and not family) or many > FEW_CASES or not all(view.by_record for view in self.views):
            return (), every
        groups = tuple(
            RecordChange(
                patterns=chosen[0].patterns, price=size,
                laws=tuple(itertools.chain.from_iterable(change.laws for change in chosen)),
            )
            for size in sizes for chosen in itertools.combinations_with_replacement(every, size)
        )  # fmt: skip
        return ((), groups) if within is not None else (family, (*self._allowed(family), *groups))

    @property
    def _is_one_change(self) -> bool:
        """Whether neighbours can afford one change only, whichever changes the invariants allow."""
        return self._affords_one([price for price in (self.steps.replaced, self.steps.added) if price is not None])

    def _affords_one(self, prices: Sequence[int]) -> bool:
        return self.steps.within is not None and 2 * min(prices, default=0) > self.steps.within

    def _allowed(self, family: Sequence[Marginal]) -> tuple[RecordChange, ...]:
        """The changes that keep a laminar family and that neighbours can afford, once for each thing that the views see.

        Where there are many, most of those are left out that larger ones cover (`dpspec.verifier.components`).
        """
        columns, found = self.columns(self.steps.unit), list[RecordChange]()
        for price, is_added in self._kinds():
            alone = is_added and self.structure.drawn is None  # in a sample of a fixed size it takes the place of another
            readers = self._readers(family, is_added=alone)
            parts = Components(columns=columns, readers=readers, is_added=alone, mirrored=self._mirrored)
            try:
                largest = parts.found(in_groups=not self.is_sampled and self._composed([ZERO]) is not None)
            except TooManySituationsError:
                reason = "one view sees a change of one record in more ways than are looked through"
                raise MissingStep("sensitivity", reason) from None
            self._tied.append(largest)
            if largest.parts:
                found.append(self._by_parts(largest, price, is_added=is_added))
            for seen, patterns in largest.seen.items():
                groups = seen.groups
                laws = seen.laws
                if groups:  # what the record itself moves is a group of its own
                    groups, laws = ((laws,), *groups), ()
                found.append(RecordChange(
                    patterns=patterns, price=price, laws=self._laws(laws), is_added=is_added, members=self._laws(seen.members),
                    times=seen.times, groups=tuple(tuple(map(self._laws, cases)) for cases in groups),
                ))  # fmt: skip
        return tuple(found)

    def _by_parts(self, largest: LargestChanges, price: int, *, is_added: bool) -> RecordChange:
        """One change that dominates all: of each tied part the worst is taken, and all of them are composed.

        Its pattern is that of the worst of each part.
        """
        groups, pattern, is_attained = list[tuple[Case, ...]](), dict[str, AttributeChange](), True
        for part in largest.parts:
            cases = {seen: self._laws(seen.laws) for seen in part}
            worst = max(cases, key=lambda seen: self._both_ways(cases[seen], PRECISIONS[0], is_added=is_added).upper)
            groups.append(tuple(cases.values()))
            chosen = part[worst]
            is_attained = is_attained and chosen is not None
            pattern |= chosen or {}
        patterns = (largest.completed(pattern),) if is_attained else ()
        return RecordChange(patterns=patterns, price=price, laws=(), is_added=is_added, groups=tuple(groups), is_any=is_attained)

    def _laws(self, case: NumberedCase) -> Case:
        if FAILED in case:  # a number of records that is too small says more than a kind of release that is not known
            raise next((at for at in self._failures if at.missing.step == "sizes"), self._failures[0])
        return tuple(self._pairs_of_laws[place] for place in case)

    def _mirrored(self, place: int) -> int:
        """The number of a pair of laws, or that of its mirror image where it has one that came earlier."""
        if place == FAILED:
            return place
        before, after = self._pairs_of_laws[place]
        turned = self._numbers.get((after, before))
        return turned if turned is not None and turned < place and _is_even(before, after) else place

    def _kinds(self) -> list[tuple[int, bool]]:
        """Records replaced, and added, each with its price, as far as neighbours can afford it."""
        steps, kinds = self.steps, list[tuple[int, bool]]()
        if self.structure.drawn is not None:
            kinds.append((steps.replaced, False))
            if steps.added is not None and not self._is_total_fixed:
                if self.least < self.structure.drawn:
                    reason = (
                        f"datasets may have fewer than the {self.structure.drawn} records of the sample, and differ in one more"
                    )
                    raise MissingStep("sample", reason)
                kinds.append((steps.added, True))
        elif any(isinstance(view, DrawnView) for view in own_samples(self.structure)):
            if steps.added is not None and not self._is_total_fixed and (steps.within is None or steps.added <= steps.within):
                raise MissingStep("sample", "many samples of a fixed size are proved for records replaced, not added or removed")
            kinds.append((steps.replaced, False))
        else:
            if not self.is_sampled or (self.structure.sampled == 1 and asks_for_replaced(steps)):
                kinds.append((steps.replaced, False))
            elif asks_for_replaced(steps):
                raise MissingStep("sample", NO_REPLACED)
            if steps.added is not None:  # sampled records that are replaced are removed and added
                kinds.append((steps.added, True))
        return [kind for kind in kinds if steps.within is None or kind[0] <= steps.within]

    # -- what reads a change -----------------------------------------------------------------------

    def _readers(self, family: Sequence[Marginal], *, is_added: bool) -> list[Reader]:
        """The views, the invariants that are kept, and those that it is better to keep."""
        unit, readers = self.steps.unit, list[Reader]()
        for view in self.views:
            if view.table.unit == unit:
                readers.append(Reader(read_by(view), functools.partial(self._seen_of, view, is_added=is_added)))
        for table in self.fixed(unit):
            see = functools.partial(_kept, is_added=is_added)
            readers.append(Reader((table,), see, is_view=False, is_preferred=table not in family))
        if self._inner(unit):
            readers.append(self._member_reader(is_added=is_added))
        return readers

    def _seen_of(self, view: View, sides: Sequence[Sides], *, is_added: bool) -> list[SeenChange]:
        """The possible changes of the cells of a view by a change of records."""
        return self._caught(lambda: [*map(SeenChange, self._moved(view, change_of(sides, is_added=is_added)))])

    def _member_reader(self, *, is_added: bool) -> Reader:
        """All views of smaller records together, with what the record keeps that its members have with it."""
        unit = self.steps.unit
        outer = [outer_part(view.table, self.spec.space, unit) for view in self._inner(unit)]
        of_members = self._member_columns.attributes
        names = [name for name in self.columns(unit).attributes if name == MEMBERS or (name in of_members and not is_added)]
        tables = (*outer, *(Marginal(attributes=(name,), unit=unit) for name in names))

        def reads(sides: Sequence[Sides]) -> list[SeenChange]:
            kept = {name for name, (_, _, same) in zip(names, sides[len(outer) :], strict=True) if same}
            return self._caught(lambda: self._of_members(sides[: len(outer)], kept, is_added=is_added))

        def by_itself(place: int) -> Reader:
            def see(sides: Sequence[Sides]) -> list[SeenChange]:
                kept = len(sides) > 1 and sides[1][2]
                return self._caught(lambda: self._of_one_view(place, sides[0], kept=kept, is_added=is_added))

            whole = [table for table in tables[len(outer) :] if table.attributes == (MEMBERS,)]
            return Reader((tables[place], *whole), see, reads_cells=True)

        halves = tuple(map(by_itself, range(len(outer)))) if len(outer) > 1 else ()
        return Reader(tables, reads, reads_cells=True, halves=halves)

    def _caught(self, see: Callable[[], list[SeenChange]]) -> list[SeenChange]:
        """The changes; where no case is known, a failure that counts only where the change is allowed."""
        try:
            return see()
        except MissingStep as at:
            self._failures.append(at)
            return [SeenChange((FAILED,))]

    def _of_members(self, outer: Sequence[Sides], kept: Collection[str], *, is_added: bool) -> list[SeenChange]:
        """The possible changes of the views of smaller records.

        Args:
            outer: what each view sees of the larger record.
            kept: what the larger record keeps, and its members with it.
            is_added: whether it is added.
        """
        limit = FEW_CASES if self._is_stepwise else MOST_CASES
        listed = self._members(outer, limit, kept=MEMBERS in kept, is_added=is_added)
        if listed is not None and math.prod(map(len, listed)) <= limit:
            return [*map(SeenChange, _together(listed))]
        if listed is not None and not self._is_stepwise and not self.is_sampled and self._composed([ZERO]) is not None:
            return [SeenChange(groups=tuple(sorted(tuple(sorted(set(cases))) for cases in listed)))]
        return self._one_by_one(None if is_added else frozenset(kept))

    def _of_one_view(self, place: int, outer: Sides, *, kept: bool, is_added: bool) -> list[SeenChange]:
        """The possible changes of one view of smaller records by itself."""
        view, seen = self._inner(self.steps.unit)[place], self._member_views[place]
        ways = None if seen is None else seen.ways
        if seen is None or ways is None or ways > MOST_CASES or self._is_seen_one_by_one(view):
            raise TooManySituationsError
        changes = seen.changes(outer, kept=kept, is_added=is_added)
        return [SeenChange(case) for counts in changes for case in self._moved(view, counts)]

    @property
    def _is_stepwise(self) -> bool:
        """Whether nothing is lost by members that change one by one: all may be of one kind, if no cell is bounded by itself."""
        space, views = self.spec.space, self._inner(self.steps.unit)
        same = len({(view.table.unit, _counted(view)) for view in views}) == 1
        return self.is_metric and not self.is_sampled and same and all(view.most_in_cell(space) is None for view in views)

    def _composed(self, bounds: Sequence[Number]) -> Number | None:
        """A bound for independent answers together from one for each of them; None where no composition is known."""
        chosen = self.spec.output_divergence
        name = chosen.budget_parameters[0]
        joint = chosen.composed([(chosen, chosen.budget_for(name, bound)) for bound in bounds])
        return None if joint is None or joint.divergence != chosen else chosen.lipschitz(name, joint.value)

    def _moved(self, view: View, counts: CountChanges) -> tuple[NumberedCase, ...]:
        """The cases of a view, by the numbers of their laws."""
        key = id(view), counts
        if key not in self._moved_by:
            cases = view.changed(counts)
            if cases is None and view.on_sample:
                raise MissingStep("sample", NO_REPLACED)
            if cases is None:
                raise MissingStep("noise", "what is released changes its kind with the number of records")
            if len(cases) > 1:
                self._check_mixtures(view)
            self._moved_by[key] = tuple(
                tuple(sorted(self._number(self._known_laws(view, pair)) for pair in case)) for case in cases
            )
        return self._moved_by[key]

    def _check_mixtures(self, view: View) -> None:
        """Raise where the laws of two datasets are mixtures over several cases of one change, and a bound for each case need not
        be one for these.

        The case depends on the other records, and which of them are in the sample, or in the batch, is random. Where something is
        repeated with another choice each time, it may be another case each time.
        """
        if self.structure.sampled == 1 and not self.structure.is_mixture:
            return
        chosen, several = self.spec.output_divergence, f"one change moves the answers of {view.table} in several ways"
        if not chosen.keeps_mixtures:
            reason = f"a bound by {chosen.in_words()} for each of them is not known to be one for their mixtures"
            raise MissingStep("sample", f"{several}, by which other records are with it at random, and {reason}")
        if self.structure.is_mixture and _is_repeated(view):
            raise MissingStep("sample", f"{several}, which may be another one in each repetition")

    def _number(self, pair: LawPair) -> int:
        """The number of a pair of laws."""
        if pair not in self._numbers:
            self._numbers[pair] = len(self._numbers)
            self._pairs_of_laws.append(pair)
        return self._numbers[pair]

    def _known_laws(self, view: View, pair: LawPair) -> LawPair:
        before, after = pair
        return self.established(view, before), self.established(view, after)

    def data(self, family: Sequence[Marginal], changes: Sequence[RecordChange]) -> JsonData:
        """Everything that the proof takes from the structure, and every change, for a machine."""
        steps, places, tied = self.steps, dict[LawPair, int](), self.tied_part()
        varying = {key_of(view) for view in self.views}

        def moved(case: Case) -> list[int]:
            return [places.setdefault(pair, len(places)) for pair in case]

        listed = [
            {
                "price": change.price, "added": change.is_added, "moves": moved(change.laws), "members": moved(change.members),
                "times": change.times, "groups": [[moved(case) for case in cases] for cases in change.groups],
            }
            for change in changes
        ]  # fmt: skip
        return {
            "unit": steps.unit, "replaced": steps.replaced, "added": steps.added, "within": steps.within,
            "views": [{**view.data(), "fixed": key_of(view) not in varying} for view in self.structure.views],
            "kept": [table_data(table) for table in family], "changes": listed,
            "answers": [[law_data(before), law_data(after)] for before, after in places],
            **({} if tied is None else {"largest_only": True, "tied": tied}),
        }  # fmt: skip

    def tied_part(self) -> dict[str, int] | None:
        """The size of the largest tied part, where changes are left out that larger ones cover; else None."""
        if all(found.is_complete for found in self._tied):
            return None
        patterns, attributes = (max(getattr(found, name) for found in self._tied) for name in ("patterns", "attributes"))
        return {"attributes": attributes, "patterns": patterns}

    @property
    def is_attained(self) -> bool:
        """Whether each listed change is that of a pattern, and none a bound for parts that are too large."""
        return all(found.is_attained for found in self._tied)

    # -- records inside the one that changes ------------------------------------------------------

    def _members(
        self, outer: Sequence[Sides], limit: int, *, kept: bool, is_added: bool
    ) -> list[list[NumberedCase]] | None:  # fmt: skip
        """The possible changes of views of smaller records, for each group that reads the same; None where that is too much.

        Views that look at the same attributes of a member, and at the same of the larger record's changes, see the same.
        """
        groups: dict[object, tuple[list[CountChanges], list[View]]] = {}
        for view, seen, sides in zip(self._inner(self.steps.unit), self._member_views, outer, strict=True):
            ways = None if seen is None else seen.ways
            if seen is None or ways is None or ways > limit or self._is_seen_one_by_one(view):
                return None
            changes = seen.changes(sides, kept=kept, is_added=is_added)
            look = frozenset(view.table.attributes) - set(seen.outer.attributes), view.table.where, sides[2]  # the same cells
            groups.setdefault((look, _counted(view), tuple(changes)), (changes, []))[1].append(view)
        return [
            [case for counts in changes for case in _together([self._moved(view, counts) for view in views])]
            for changes, views in groups.values()
        ]

    def _is_seen_one_by_one(self, view: View) -> bool:
        """Whether the changes of several members at once are not those of the cells of a table.

        They are not where parts of the table are counted. Nor where a coarser table may be published and few members may lie in
        one cell: the members of a larger record that are in different cells may then be in one cell of the coarser table.
        """
        return bool(view.parts()) or (view.may_be_coarser and view.most_in_cell(self.spec.space) is not None)

    @cached_property
    def _member_views(self) -> list[MemberView | None]:
        return [MemberView.of(view, self.spec.space, self.steps.unit) for view in self._inner(self.steps.unit)]

    def _one_by_one(self, kept: frozenset[str] | None) -> list[SeenChange]:
        """Members changed one after the other, where d_Pr is a metric: as many times what one of them can do.

        Args:
            kept: what the larger record keeps, and its members with it; None where members are added only.
        """
        unit, chosen = self.steps.unit, self.spec.output_divergence
        if not self.is_metric or self.is_sampled:
            reason = f"a {unit} changes the counts in more ways than are looked through, and {chosen.in_words()} is no metric"
            raise MissingStep("sensitivity", reason)
        views = self._inner(unit)
        if len({(view.table.unit, _counted(view)) for view in views}) > 1:
            raise MissingStep("sensitivity", f"views count different members of a {unit}")
        limits = [seen.most for seen in self._member_views if seen is not None]
        if len(limits) < len(views):
            raise MissingStep("sensitivity", f"a {unit} may hold any number of records of the unit {views[0].table.unit}")
        if kept not in self._members_of:
            self._members_of[kept] = tuple(self._each_member(views, kept))
        return [SeenChange(members=member, times=max(limits)) for member in self._members_of[kept]]

    @cached_property
    def _member_columns(self) -> SeenAttributes:
        """The attributes of smaller records that their views look at."""
        views = self._inner(self.steps.unit)
        unit = views[0].table.unit
        return SeenAttributes.of([view.table for view in views], self.spec.space, unit, [view.singled() for view in views])

    def _each_member(self, views: Sequence[View], kept: frozenset[str] | None) -> list[NumberedCase]:
        """The largest change by one member that is added or, among others, replaced.

        Args:
            views: what looks at members.
            kept: what the larger record keeps, and its members with it; None where members are added only.
        """
        columns, found = self._member_columns, dict[SeenChange, None]()
        stays = [
            Reader((Marginal(attributes=(name,), unit=views[0].table.unit),), _stays, is_view=False, reads_cells=True)
            for name in columns.attributes if kept is not None and name in kept
        ]  # fmt: skip
        for is_added in (True,) if kept is None else (True, False):
            seen_by = [
                Reader(read_by(view), functools.partial(self._seen_of, view, is_added=is_added)) for view in views
            ]  # fmt: skip
            readers = [*seen_by, *(() if is_added else stays)]
            parts = Components(columns=columns, readers=readers, is_added=is_added, mirrored=self._mirrored)
            found |= dict.fromkeys(parts.found(in_groups=False).seen)
        for seen in found:
            self._laws(seen.laws)
        return [seen.laws for seen in found]

    # -- what they cost ---------------------------------------------------------------------------

    @property
    def is_metric(self) -> bool:
        """Whether bounds for d_Pr of single changes add up."""
        return bool(self.spec.output_divergence.is_metric)

    def is_single(self, changes: Sequence[RecordChange]) -> bool:
        """Whether neighbours differ by one change only."""
        return self._affords_one([change.price for change in changes])

    def costs(self, changes: Sequence[RecordChange], precision: int) -> list[Cost]:
        """Each change with the quotient of d_Pr and price, the costliest first."""
        single, within = self.is_single(changes), self.steps.within
        found = []
        for change in changes:
            bracket = self._by_groups(change, precision) if change.groups else self._at_once(change, precision)
            if not single:
                bracket = per_unit(bracket, number(change.price)).scaled(1 if within is None else within)
            found.append((change, bracket))
        return sorted(found, key=lambda pair: pair[1].upper, reverse=True)

    def _at_once(self, change: RecordChange, precision: int) -> Bracket:
        """d_Pr of what changes with the record, and as often as it has members that of one member, composed with it."""
        bracket = self._both_ways(change.laws, precision, is_added=change.is_added)
        if not change.times:
            return bracket
        members = self._both_ways(change.members, precision, is_added=True).scaled(change.times)
        if not change.laws:
            return members
        joint = self._composed([bracket.upper, members.upper])
        return total([bracket, members]) if joint is None else Bracket(lower=max(bracket.lower, members.lower), upper=joint)

    def _by_groups(self, change: RecordChange, precision: int) -> Bracket:
        """The worst case of each group of views, composed; from below that of one group alone, or of all at once."""
        added = change.is_added
        known = [[(self._both_ways(case, precision, is_added=added), case) for case in cases] for cases in change.groups]
        worst = [functools.reduce(Bracket.__or__, (bracket for bracket, _ in cases)) for cases in known]
        joint = self._composed([group.upper for group in worst])
        lower = max(group.lower for group in worst)
        if change.is_any:
            chosen = (max(cases, key=lambda each: each[0].upper)[1] for cases in known)
            lower = max(lower, self._both_ways(tuple(itertools.chain(*chosen)), precision, is_added=added).lower)
        return Bracket(lower=lower, upper=INFINITY if joint is None else joint)

    def _both_ways(self, laws: Case, precision: int, *, is_added: bool) -> Bracket:
        if self.structure.drawn is not None:
            return divergence(self.spec.output_divergence, laws, precision, self.share(is_added=is_added), None)
        bracket = self.divergence_of(laws, precision, self.structure.sampled)
        if is_added or not self.spec.output_divergence.is_symmetric:
            turned = tuple((after, before) for before, after in laws)
            bracket |= self.divergence_of(turned, precision, self.structure.sampled, is_turned=True)
        return bracket

    def upper(self, costs: Sequence[Cost]) -> Number:
        """The bound that follows."""
        return max((cost.upper for _, cost in costs), default=ZERO)

    def are_bounded_together(self, changes: Sequence[RecordChange], bound: Number) -> bool:
        """Whether all changes are within a bound where each of them is, on samples of a fixed size.

        A sample with the record is compared with one in which another record takes its place, by any change. So the hockey sticks
        of all changes are taken at each epsilon: what bounds events is the largest of them, and what adds up over all epsilons
        need not be.
        """
        is_drawn = self.structure.drawn is not None or any(isinstance(view, DrawnView) for view in own_samples(self.structure))
        if not is_drawn or bound.is_infinite or _kinds_of_changes(changes) <= 1:
            return True
        return self.spec.output_divergence.event_bounds(bound) is not None

    def divergence_of(self, laws: Case, precision: int, rate: Fraction, *, is_turned: bool = False) -> Bracket:
        """d_Pr of the answers that change, on a sample that contains the record with a probability.

        Args:
            laws: before and after, on a sample that the record is in.
            precision: in bits.
            rate: the probability with which it is.
            is_turned: whether it is the record taken away that comes after.
        """
        return divergence(self.spec.output_divergence, laws, precision, rate, is_turned)


def _kinds_of_changes(changes: Sequence[RecordChange]) -> int:
    """The number of changes whose pair of laws is not that of another one, in either order, without some of its answers."""
    plain = [change.laws for change in changes if not (change.groups or change.members)]
    found: list[Counter[Hashable]] = []
    for laws in sorted(plain, key=len, reverse=True):
        ways = [Counter(_pair_key(*pair) for pair in turned) for turned in (laws, [(after, before) for before, after in laws])]
        if not any(way <= other for way in ways for other in found):
            found.append(ways[0])
    return len(found) + len(changes) - len(plain)


def _pair_key(before: Law, after: Law) -> Hashable:
    """A key that is equal for equal pairs of laws; that of a symmetric pair is the same in both orders."""
    pair = before.against(after)
    return frozenset((pair.signature(), after.against(before).signature())) if pair.reverse() is pair else pair.signature()


def _is_repeated(view: View) -> bool:
    """Whether a view is one that is answered several times."""
    return isinstance(view, RepeatedView) or (isinstance(view, OfView) and _is_repeated(view.view))


def _counted(view: View) -> object:
    """The records that a view counts, as a key: views with the same key count the same."""
    if isinstance(view, (DrawnView, RepeatedView, SampledView)) and type(view).read is OfView.read:
        return _counted(view.view)
    if isinstance(view, Bounded) and type(view).read is Bounded.read:
        return view.contribution, _counted(view.view)
    return None if type(view).read is View.read else view


def _kept(sides: Sequence[Sides], *, is_added: bool) -> list[SeenChange]:
    """Whether an invariant is kept: nothing where it is not."""
    return [] if counts_of(sides[0], is_added=is_added) else [NOTHING_SEEN]


def _stays(sides: Sequence[Sides]) -> list[SeenChange]:
    """Whether an attribute keeps its category: nothing where it does not."""
    return [NOTHING_SEEN] if sides[0][2] else []


def _is_even(before: Law, after: Law) -> bool:
    """Whether two laws are one even density at two places, so that a mirror between them exchanges the two."""
    if not isinstance(before, Location) or type(before) is not type(after) or not attrs.has(type(before)):
        return False
    names = [a.name for a in getattr(type(before), "__attrs_attrs__", ()) if a.eq and a.name != "center"]
    return all(getattr(before, name) == getattr(after, name) for name in names)


def _together(moved: Sequence[Sequence[NumberedCase]]) -> Iterator[NumberedCase]:
    """Independent answers that move together, in every combination of their cases."""
    return (tuple(sorted(itertools.chain.from_iterable(cases))) for cases in itertools.product(*moved))


@lru_cache(maxsize=1 << 14)
def divergence(chosen: OutputDivergence, laws: Case, precision: int, rate: Fraction, is_turned: bool | None) -> Bracket:
    """d_Pr of the product of some laws before and after a change, of a record that takes part with a probability.

    It is the one that comes; with `is_turned` the one that goes; where that is None, either, in a sample of a fixed size.
    """
    without = tuple((after, before) for before, after in laws) if is_turned else laws
    try:
        whole = guarded("structure", lambda: _of_all(without))
        pair = sampled(whole, rate) if is_turned is not None else drawn(whole, rate)
        found: Bracket = guarded(chosen.name, lambda: chosen.evaluate(pair.reverse() if is_turned else pair, precision=precision))
    except NoFormulaError as error:
        reason = f"by {chosen.in_words()} the distance of the laws of the answers that move is not known: {error.rule}"
        raise MissingStep("noise", reason) from error
    return found


def _of_all(laws: Case) -> Dichotomy:
    """The pair of the product laws, where each pair of equal factors is compared once."""
    dichotomies = {pair: pair[0].against(pair[1]) for pair in dict.fromkeys(laws)}
    return product_of(dichotomies[pair] for pair in laws)
