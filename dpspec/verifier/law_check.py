"""Compare the law that a mechanism states with the structure that it states, on small datasets.

A proof for the whole space (`dpspec.verifier.proof`) uses the structure alone. A structure is a statement of the mechanism's
author, and so is the law. Where the law can be computed, the two are compared on pairs of datasets:

* every kind of change that the proof uses: records added, removed and replaced (also by records that the structure does not
  distinguish), two records that exchange positions, larger records with several members, and several changes at once;
* next to no other record, one other, and three others; and one record added or replaced next to every collection of up to three
  others, of the few kinds of records that these changes are about;
* on the space itself, datasets of no, 9 and 30 records, with one record added or replaced in each and with all of them replaced,
  where a law is as quick to compute for many records as for few: a structure may be right for few records only;
* on the space itself, one record of each kind, or of each category where there are too many kinds: a structure may be right for
  the few categories of a reduced space only. Where there are too many kinds, categories or answers, the verdict says what was
  not compared.

On each pair, in both orders, d_Pr of the two laws has to be that of the structure, or at most that where the views are not
published, and at most the proved constant times d_X. A difference is a defect of the mechanism, never a verdict.

The space itself is used where its answers are few. Otherwise a reduced space is used: the same attributes with a few categories
each, those among them that the mechanism or the invariants name, and at most four records. Where the law of the mechanism is
too large even there, the mechanism may state smaller parameters for the comparison (`Mechanism.reduced`).

A structure that is compared with a law nowhere, or only on some of the pairs, proves nothing: it is the statement of its author.
"""

from __future__ import annotations

import bisect
import contextlib
import itertools
import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property

import attrs

from dpspec.base.errors import (
    ContradictedError,
    DpspecError,
    IncompatibleBlocksError,
    NotInSpaceError,
    PluginContractError,
)
from dpspec.base.exact import INFINITY, Bracket, Number, rounded_product
from dpspec.base.memo import key_of
from dpspec.base.work import limited
from dpspec.blocks.invariant import Invariant
from dpspec.blocks.multisets import all_records, count_records
from dpspec.blocks.multiverse import mentioned_by
from dpspec.blocks.parts import (
    CellCounts,
    Changes,
    ListedCells,
    Mentioned,
    merged_mentions,
    miniature_of,
    resized,
    sizes_of,
    smallest_datasets,
)
from dpspec.blocks.space import MEMBERS, Attribute, Dataset, DatasetSpace, Pair, Record, exchanged_records
from dpspec.extension.loader import has_foreign_law, origins
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.plugin_calls import check_again, computed_law, guarded
from dpspec.grammar.spec import PrivacySpec
from dpspec.grammar.structure import Structure, structure_for
from dpspec.grammar.views import View
from dpspec.laws.law import Law
from dpspec.verifier.changes import pairs_of, records_of
from dpspec.verifier.exhaustive import PRECISIONS, verify
from dpspec.verifier.lower_bound import Attaining, ExchangedRecords
from dpspec.verifier.sensitivity import Cost, MissingStep, RecordChange, Sensitivity, for_replaced

MOST_CELLS = 4
"""The space itself is used where its views have at most so many cells in all."""
MOST_REPORTED = 2
"""... and where at most so many cells are reported record by record, or sampled: such laws grow with the power of the records."""
MOST_SEVERAL = 3
"""The number of pairs with several changes at once."""
MOST_KINDS_LISTED, MOST_WITH_INVARIANTS, MOST_OF_ALL = 1_000, 100, 400
"""A reduced space has at most so many kinds of records, and fewer with invariants, which are then matrices over the kinds: a
comparison over 100 kinds takes about 0.4 s with the 64 tables of a census. The last number is for spaces that have no smaller
reduced space in which everything varies that is read."""
MOST_ANSWERS = 1_000
"""A reduced space may have any number of kinds where no more answers than this are given on it, and invariants are tables."""
RECORDS = 4
"""The largest number of records in a reduced space."""
MOST_VARIED = 8
"""The number of attributes that keep two categories in a reduced space, those that views and invariants read first."""
MOST_CHANGES = 8
"""The number of kinds of change that are compared, records added and replaced in turn, the costliest and the cheapest first."""
MOST_KINDS = 6
"""The number of kinds of records that are compared with each other and with none."""
MOST_PAIRS = 24
"""The number of pairs of datasets that are compared."""
MOST_AGAIN = 4
"""The number of laws of a plugin that are computed once more."""
MOST_CROWDED, CROWDS = 240, ((4, 2), (3, 3))
"""The number of further pairs that differ in one record, next to every collection of others; of so many kinds of records, so many
others at most."""
OTHERS, FEW_OTHERS = (0, 1, 3), (0, 1)
"""The number of further records in both datasets; of samples fewer, since their laws are mixtures over all samples."""
MANY_OTHERS = (9, 30)
"""The number of further records on the space itself, where it has so many. Small spaces have at most four, and a mechanism may
behave otherwise from a number of records on."""
EQUAL = (*range(11), 30, 31)
"""The numbers of equal records on which a theorem is compared with the law; next to each other, for claims about neighbours."""
MOST_ANSWERS_OF_MANY = 100
"""The space itself is used for many records where no more answers are given."""
MOST_WORK_OF_MANY = 50_000
"""Units of work of all comparisons on many records; what is left then is not compared. Products of laws that are many records
apart have very many atoms: 99 records take twenty times as much as 30. Two noisy counts take 11,000 units."""
MOST_CHANGES_OF_MANY = 2
"""The number of changes that are compared next to many others."""
MOST_WORK_OF_KINDS = 1_000_000
"""Units of work of the comparisons of one record of each kind; 90 kinds next to 90 answers take 65,000 units."""
MOST_ANSWERS_OF_KINDS, ANSWERS_OF_PAIR = 12_000, 30
"""One record of each kind is compared where there are at most so many kinds times answers: about 0.3 s. A pair takes as much time
as so many answers, whatever is answered."""
MOST_EXCHANGES, FEW_EXCHANGED, MOST_TRIED = 1_000, 4, 16
"""So many exchanges of an attribute by two records are compared, or so few with each record where there are many records: each of
them takes all invariants. So many further attributes are tried until two records differ in one more and keep the invariants."""
PRECISION = 16
"""Bits of d_Pr of two laws; a bracket that is wider than needed only finds smaller contradictions no longer."""
MOST_SHARED, FEW_SHARED, MOST_GROUPED, FEW_GROUPED = 100, 6, 500, 24
"""The number of further pairs of datasets of one universe that are compared where several invariants may cross, and of others;
and the number of smallest datasets they are from. The last number is for spaces with more kinds than are listed, whose smallest
datasets are almost alike."""
MOST_DATASETS, MOST_LOOKED_AT = 200, 2_000
"""So many of the smallest datasets are compared with each other where a theorem is compared with the law, of so many that may
share a universe with another one."""
ADVICE = "the mechanism's author has to correct one of the two; until then no verdict can rest on either"
WITH_MEMBERS = 6
"""The number of changes of larger records with members that are compared."""

SMALLER_PARAMETERS = (
    "the law was compared with the structure for smaller parameters of the mechanism only: for its own it is too large to compute"
)

FEW_CATEGORIES = (
    "the law was compared with what the mechanism states of it for records of few categories only; for all others the verdict "
    "rests on that statement"
)
"""The assumption of a proof from a structure or a theorem where the space has too many categories, or too many answers."""

FEW_COMBINATIONS = (
    "the law was compared with what the mechanism states of it for records with each category, and for few combinations of "
    "categories only; for all others the verdict rests on that statement"
)
"""The same where a record of each category was compared, and the space has too many combinations."""

OF_FEW_RECORDS = frozenset({FEW_CATEGORIES, FEW_COMBINATIONS})
"""The assumptions that what the mechanism's author states holds on all records, as it does on those that were compared."""


@attrs.frozen
class LawComparison:
    """The comparison of the law of a mechanism with its structure, or with its theorem.

    Args:
        compared: the number of pairs of datasets whose laws were compared.
        open: the number of pairs whose laws could not be computed or compared.
        reason: why there is a pair whose laws could not be computed, where the mechanism says so.
        has_smaller_parameters: whether it is the law of the mechanism with smaller parameters (`Mechanism.reduced`).
        beyond: what a verdict assumes of records that no compared pair changes; nothing where one of each kind was compared.
    """

    compared: int = 0
    open: int = 0
    reason: str = ""
    has_smaller_parameters: bool = False
    beyond: tuple[str, ...] = (FEW_CATEGORIES,)

    @property
    def is_complete(self) -> bool:
        """Whether the laws of all pairs were compared, and there was one."""
        return self.compared > 0 and not self.open

    def missing(self, statement: str) -> str:
        """The reason why a statement of the mechanism's author proves nothing; empty where it was compared with the law.

        Args:
            statement: "structure", or "theorem".
        """
        if self.is_complete:
            return ""
        reason = f" ({self.reason})" if self.reason else ""
        rests = f"the proof rests on the {statement} that the mechanism states"
        if not self.compared:
            return f"{rests}, and no law could be computed to compare it with{reason}"
        pairs = self.compared + self.open
        compared = f"on {self.compared} of {pairs} small pairs of datasets only"
        return f"{rests}, and its law could be compared with it {compared}{reason}"

    def assumptions(self, elsewhere: tuple[str, ...] = (), *, of_one_pair: bool = False) -> tuple[str, ...]:
        """The assumptions of a verdict after this comparison.

        Args:
            elsewhere: those about the law on the pair of the verdict.
            of_one_pair: whether the verdict is about this pair alone, which refutes the claim.
        """
        if self.has_smaller_parameters:
            return (SMALLER_PARAMETERS,)
        return elsewhere or (() if of_one_pair else self.beyond)


def compare_law(mechanism: Mechanism, structure: Structure, spec: PrivacySpec) -> LawComparison:
    """Compare the law of a mechanism with its structure.

    Raises:
        ContradictedError: where they contradict each other on a pair of datasets; it names the mechanism.
    """
    on_space = _LawPairs(mechanism=mechanism, structure=structure, spec=spec)
    found = _on_few_records(on_space)
    if found.is_complete and not found.has_smaller_parameters:
        with _elsewhere(), limited(MOST_WORK_OF_MANY):
            on_space.compare_many_records()
        with _elsewhere(), limited(MOST_WORK_OF_KINDS):
            found = _with_few_records(on_space).compare_each_category(found)
    return found


def _with_few_records(on_space: _LawPairs) -> _LawPairs:
    """The same law and structure on datasets of few records of the same kinds, where those of the space have many."""
    mechanism, space = on_space.mechanism, on_space.spec.space
    small = resized(space, 0, on_space.few_records) if sizes_of(space)[0] > on_space.few_records else None
    if small is None:
        return on_space
    mechanism.check(small)
    made, spec = structure_for(mechanism, small), on_space.spec.replace(space=small)
    if not isinstance(made, Structure):
        return on_space
    return _LawPairs(mechanism=mechanism, structure=for_replaced(made, spec), spec=spec, is_reduced=True)


def _on_few_records(on_space: _LawPairs) -> LawComparison:
    """The comparison on the space itself, where its laws are quick to compute, or on a reduced one."""
    mechanism, structure, spec = on_space.mechanism, on_space.structure, on_space.spec
    if _is_quick(structure, spec.space):
        found = on_space.compare()
        if found.compared:
            return found
    found = LawComparison()
    with _elsewhere():
        space = _reduced_space(structure, spec)
        if space is not None:
            found = _on_reduced(mechanism, spec, space)
            other = mechanism if found.is_complete else mechanism.reduced(space)
            if type(other) is type(mechanism) and other != mechanism:
                compared = _on_reduced(other, spec, space)
                found = attrs.evolve(compared, has_smaller_parameters=True) if compared.is_complete else found
    return found


@contextlib.contextmanager
def _elsewhere() -> Iterator[None]:
    """Outside the space of the claim a plugin may raise any exception, because no other code calls it there."""
    try:
        yield
    except ContradictedError:
        raise
    except Exception:  # noqa: S110 - then nothing is compared there, which the verdict says
        pass


def compare_theorem(mechanism: Mechanism, spec: PrivacySpec, invariants: Sequence[Invariant]) -> LawComparison:
    """Compare the law of a mechanism with its theorem that a claim holds, on all pairs of a small space.

    Args:
        mechanism, spec: the mechanism and the claim, which the theorem says to hold.
        invariants: the invariants that the theorem names.

    Raises:
        ContradictedError: where the theorem says that the same claim holds on the small space, and a pair refutes it there.
    """
    part, mentioned = Changes.found_in(spec.space), mentioned_by((*invariants, *(spec.multiverse.induced_by() or ())))
    every = {a.name: frozenset[str]() for unit in spec.space.units for a in spec.space.attributes_of(unit)}
    for varied in ({**every, **mentioned}, mentioned):
        space = None if part is None else part.reduced(varied, RECORDS - 1)
        if space is None or _kinds(space) > MOST_WITH_INVARIANTS:
            continue
        with _elsewhere():
            small = spec.replace(space=space)
            mechanism.check(space)
            stated = mechanism.proved(small)
            if stated is None:
                return LawComparison()
            found = verify(mechanism, small, datasets=_in_shared_universes(small))
            if not stated.holds and found.witness is None:  # it says that another pair refutes the claim
                return LawComparison()
            if stated.holds and found.witness is not None:
                rule = f"states a theorem that its own law contradicts: on a small space the claim is refuted by {found.witness}"
                raise ContradictedError(f"mechanism {mechanism.name}", rule, ADVICE)
            compared = LawComparison(sum(result.pairs or 0 for result in found.universes))
            if stated.holds:
                with _elsewhere(), limited(MOST_WORK_OF_MANY):
                    _compare_theorem_on_many(mechanism, spec)
                if sizes_of(spec.space)[0] > max(EQUAL):  # a law of so many records may be too large to compute
                    return compared
                with _elsewhere(), limited(MOST_WORK_OF_KINDS):
                    each = _EachCategory.of(spec.space, MOST_ANSWERS_OF_MANY)
                    pairs, beyond = each.pairs(spec)
                    for pair in pairs:
                        _compare_theorem_on(mechanism, spec, pair)
                    compared = attrs.evolve(compared, beyond=beyond)
            return compared
        return LawComparison()
    return LawComparison()


def _compare_theorem_on_many(mechanism: Mechanism, spec: PrivacySpec) -> None:
    """Raise where equal records, up to 100 of them, refute a claim that a theorem says to hold; nothing where none do."""
    unit, space = spec.space.units[0], spec.space
    kinds = itertools.islice(itertools.product(*(itertools.islice(a.values(), 2) for a in space.attributes_of(unit))), 2)
    for kind in kinds:
        equal = (dataset for number in EQUAL for dataset, _ in pairs_of((kind,) * number, (), space, unit))
        _compare_theorem_on(mechanism, spec, list(dict.fromkeys(equal)))


def _compare_theorem_on(mechanism: Mechanism, spec: PrivacySpec, datasets: Sequence[Dataset]) -> None:
    found = verify(mechanism, spec, datasets=datasets)
    if found.witness is not None:
        rule = f"states a theorem that its own law contradicts: the claim is refuted by {found.witness}"
        raise ContradictedError(f"mechanism {mechanism.name}", rule, ADVICE)


def _in_shared_universes(spec: PrivacySpec) -> list[Dataset]:
    """The smallest datasets of a space that share a universe with another one."""
    groups = _by_universe(spec, MOST_LOOKED_AT).values()
    shared = dict.fromkeys(dataset for datasets in groups if len(datasets) > 1 for dataset in datasets)
    return list(itertools.islice(shared, MOST_DATASETS))


def _by_universe(spec: PrivacySpec, most: int) -> dict[Hashable, list[Dataset]]:
    """The smallest datasets of a space, by the labels of their universes."""
    held: dict[Hashable, list[Dataset]] = {}
    for dataset in itertools.islice(smallest_datasets(spec.space), most):
        for label in spec.multiverse.labels(dataset, spec.space):
            held.setdefault(label, []).append(dataset)
    return held


def _is_quick(structure: Structure, space: DatasetSpace) -> bool:
    """Whether laws on the space itself are quick to compute, for datasets of few records."""
    most = MOST_REPORTED if any(view.by_record for view in structure.views) else MOST_CELLS
    if structure.is_sampled or sum(cell_count(view, space) for view in structure.views) > most:
        return False
    cells = CellCounts.found_in(space)
    return cells is not None and cells.total_range()[0] < RECORDS and not any(map(space.fixes_size, space.units))


@attrs.frozen(slots=False)
class _EachCategory:
    """Records with the categories of a space, for the comparison of one record of each.

    Args:
        attributes: those of the records.
        records: one of each kind, or one with each category of each attribute where there are too many kinds.
        beyond: what a verdict assumes of other records; nothing where there are none. Where there are too many categories, some
            are among the records, evenly spaced.
    """

    attributes: Sequence[Attribute] = ()
    records: Sequence[Record] = ()
    beyond: tuple[str, ...] = (FEW_CATEGORIES,)

    @classmethod
    def of(cls, space: DatasetSpace, answers: int) -> _EachCategory:
        """Those of the largest unit; none where its records have members.

        Args:
            space: the space.
            answers: how many answers a law consists of.
        """
        attributes = space.attributes_of(space.units[0])
        most = MOST_ANSWERS_OF_KINDS // (answers + ANSWERS_OF_PAIR)
        if any(a.name == MEMBERS for a in attributes):
            return cls()
        kinds = count_records(attributes)
        if kinds is not None and kinds <= most:
            return cls(attributes, tuple(all_records(attributes)), beyond=())
        number = sum(a.size for a in attributes)
        places = range(number) if number <= most else (place * number // most for place in range(most))
        owners = list(itertools.accumulate((a.size for a in attributes), initial=0))
        found = ((place, bisect.bisect_right(owners, place) - 1) for place in places)
        records = dict.fromkeys(_record_with(attributes, attributes[at], place - owners[at]) for place, at in found)
        return cls(attributes, tuple(records), beyond=(FEW_COMBINATIONS if number <= most else FEW_CATEGORIES,))

    def pairs(self, spec: PrivacySpec) -> tuple[list[Pair], tuple[str, ...]]:
        """For each of them pairs of few records that the claim speaks about; and what a verdict assumes of other records, to
        which those belong that are equally often in both datasets of every pair."""
        may_cross = len(spec.multiverse.induced_by() or ()) > 1
        found, latest, unit = list[Pair](), dict[Hashable, Record](), spec.space.units[0]
        families = tuple(self._families)
        most = max(FEW_EXCHANGED, MOST_EXCHANGES // max(1, len(self.records)))
        for place, (before, record) in enumerate(itertools.pairwise((*self.records[:1], *self.records))):
            pairs = list(itertools.islice(self._replaced(record, before, latest, spec), 1))
            found += pairs
            if families and (may_cross or not pairs):
                turned = families[place % len(families) :] + families[: place % len(families)]
                found += self._exchanged(record, turned[:most], spec)
        changed = set[Record]()
        for left, right in found:
            changed.update(*exchanged_records(left, right, unit, spec.space))
        return found, self.beyond if changed.issuperset(self.records) else (FEW_CATEGORIES,)

    def _replaced(
        self, record: Record, before: Record, latest: dict[Hashable, Record], spec: PrivacySpec
    ) -> Iterator[Pair]:  # fmt: skip
        """Pairs in which a record is added, or replaces the first one, the latest one of its universe, or the one before."""
        space, first = spec.space, self.records[0]
        alone = next(pairs_of((first,) * max(0, sizes_of(space)[0] - 1) + (record,), (), space, space.units[0]), None)
        labels = None if alone is None else tuple(spec.multiverse.labels(alone[0], space))
        near, latest[labels] = latest.get(labels, first), record
        for gone in ((), (first,), (near,), (before,)):
            yield from self._beside(gone, (record,), spec)

    def _exchanged(self, record: Record, chosen: Sequence[tuple[int, ...]], spec: PrivacySpec) -> Iterator[Pair]:
        """For some attributes a pair in which a record exchanges it with one that differs in all, or in this and another one."""
        other, families = self._other_than(record), tuple(self._families)
        for places in chosen:
            after = _mixed(record, other, places)
            rest = [more for more in families if more != places]
            for more in (tuple(itertools.chain(*rest)), *rest[:MOST_TRIED]):
                before = record, _mixed(after, other, more)
                pairs = list(self._beside(before, (after, _mixed(record, other, more)), spec))
                yield from pairs
                if pairs:
                    break

    def _beside(self, gone: tuple[Record, ...], come: tuple[Record, ...], spec: PrivacySpec) -> Iterator[Pair]:
        """The pair that differs in some records, next to as many others as the space requires, if the claim speaks about it."""
        others = (self.records[0],) * max(0, sizes_of(spec.space)[0] - len(gone))
        pairs = itertools.islice(pairs_of((*others, *gone), (*others, *come), spec.space, spec.space.units[0]), 1)
        return (pair for pair in pairs if _is_asked(spec, *pair))

    def _other_than(self, record: Record) -> Record:
        """A record that shares no category with another one, but those that all records have."""
        chosen = list(self.records[0])
        for places, other in self._families.items():
            if all(chosen[place] == record[place] for place in places):
                for place in places:
                    chosen[place] = other[place]
        return tuple(chosen)

    @cached_property
    def _families(self) -> dict[tuple[int, ...], Record]:
        """For the places of each attribute that lies in no other one, and of those within it, a record that has others there than
        the first one."""
        owner, first = dict[str, str](), self.records[0]
        for a in self.attributes:
            owner[a.name] = a.name if a.within is None else owner[a.within]
        families = dict[str, list[int]]()
        for place, root in enumerate(owner.values()):
            families.setdefault(root, []).append(place)

        def others(places: list[int]) -> Iterator[Record]:
            """Only the attributes of the family are read: there may be a thousand families."""
            return (record for record in self.records if any(record[place] != first[place] for place in places))

        return {tuple(places): next(others(places), first) for places in families.values()}


def _mixed(record: Record, other: Record, places: Iterable[int]) -> Record:
    """A record with some entries of another one."""
    mixed = list(record)
    for place in places:
        mixed[place] = other[place]
    return tuple(mixed)


def _record_with(attributes: Sequence[Attribute], varied: Attribute, place: int) -> Record:
    """The first record with a category of one attribute; coarser attributes come before those within them."""
    known, chosen = {a.name: a for a in attributes}, {varied.name: varied.category(place)}
    inner = varied
    while inner.within is not None:
        outer = known[inner.within]
        chosen[outer.name] = inner.parent(chosen[inner.name], outer)
        inner = outer
    for a in attributes:
        if a.name not in chosen:
            chosen[a.name] = next(a.values() if a.within is None else a.children(chosen[a.within], known[a.within]))
    return tuple(chosen[a.name] for a in attributes)


def _is_asked(spec: PrivacySpec, left: Dataset, right: Dataset) -> bool:
    """Whether the claim speaks about the pair."""
    if left == right or not spec.multiverse.share_universe(left, right, spec.space):
        return False
    return not (spec.distance(left, right).is_infinite and spec.distance(right, left).is_infinite)


def cell_count(view: View, space: DatasetSpace) -> int:
    """The number of cells of the table of a view."""
    sizes = {a.name: a.size for a in space.attributes_of(view.table.unit)}
    return math.prod(sizes[name] for name in view.table.attributes)


def _on_reduced(mechanism: Mechanism, spec: PrivacySpec, space: DatasetSpace) -> LawComparison:
    """The comparison on a reduced space; of no pairs where the mechanism or the claim does not fit it."""
    small = spec.replace(space=space)
    try:
        mechanism.check(space)
    except DpspecError as fault:
        return LawComparison(reason=str(fault))
    made = structure_for(mechanism, space)
    if not isinstance(made, Structure):
        return LawComparison()
    return _LawPairs(mechanism=mechanism, structure=for_replaced(made, small), spec=small, is_reduced=True).compare()


def _reduced_space(structure: Structure, spec: PrivacySpec) -> DatasetSpace | None:
    """The space with as many attributes that vary as leave few kinds of records."""
    part, records = Changes.found_in(spec.space), _records(structure, spec.space)
    if part is None:
        return None
    seen, unseen, ends = _mentioned(structure, spec)
    for mentioned in ({**unseen, **seen, **ends}, {**unseen, **seen}, seen):
        space = part.reduced(mentioned, records)
        if space is not None and _kinds(space) <= (MOST_WITH_INVARIANTS if spec.multiverse.induced_by() else MOST_KINDS_LISTED):
            return space
    for space in (part.reduced(seen, records), miniature_of(spec.space, seen, records)):  # with one member in larger records
        if space is not None and _kinds(space) <= MOST_OF_ALL:
            return space
    space = part.reduced(seen, records)
    wide = space is not None and sum(cell_count(view, space) for view in structure.views) <= MOST_ANSWERS
    listed = spec.multiverse.induced_by()
    return space if wide and listed is not None and all(invariant.as_marginal() is not None for invariant in listed) else None


def _records(structure: Structure, space: DatasetSpace) -> int:
    """The largest number of records in a reduced space. Laws of samples grow fast; a sample of a fixed size needs one more
    record, and a space of a known size is reduced to one record less."""
    if not structure.is_sampled:
        return RECORDS
    least, most = sizes_of(space)
    return 3 if structure.drawn is not None or least == most else 2


def _kinds(space: DatasetSpace) -> int:
    """The number of kinds of records of the largest unit, or a number above the limit of listed ones."""
    part = ListedCells.found_in(space)
    if part is None or space.is_ordered:
        return count_records(space.attributes_of(space.units[0])) or MOST_KINDS_LISTED + 1
    listed = part.cells()
    return MOST_KINDS_LISTED + 1 if listed is None else len(listed)


def _mentioned(structure: Structure, spec: PrivacySpec) -> tuple[Mentioned, Mentioned, Mentioned]:
    """The attributes that vary, each with categories to keep: those that views and invariants read, with the categories that
    they single out; others; and those that are read with their last category, too."""
    every = {a.name: a for unit in spec.space.units for a in spec.space.attributes_of(unit)}
    parts: list[Mentioned] = []
    for view in structure.views:
        parts += [table.mentions() for table in (view.table, *view.parts())]
        parts.append({name: frozenset[str]().union(*sets) for name, sets in view.singled().items()})
    found = merged_mentions([*parts, mentioned_by(spec.multiverse.induced_by() or ())])
    roots = (name for name in found if every[name].within is None and name != MEMBERS)
    ends = {name: found[name] | {every[name].category(-1)} for name in roots}
    others = (name for name in every if name not in found)
    return found, dict.fromkeys(itertools.islice(others, max(0, MOST_VARIED - len(found))), frozenset()), ends


# --- one space ------------------------------------------------------------------------------------


@attrs.define(kw_only=True)
class _LawPairs:
    """The law and the structure of a mechanism on one space."""

    mechanism: Mechanism
    structure: Structure
    spec: PrivacySpec
    is_reduced: bool = False
    laws: dict[Dataset, Law | None] = attrs.field(factory=dict)
    judged: dict[tuple[object, Number], bool] = attrs.field(factory=dict)
    reason: str = ""
    is_undefined: bool = False

    @cached_property
    def proved(self) -> tuple[Sensitivity, Sequence[Cost], Number]:
        """The sensitivity on the space, the costs of its changes, and the constant that they prove, which may be infinite.

        Raises:
            MissingStep: no proof uses the structure there.
        """
        known = Sensitivity(structure=self.structure, spec=self.spec)
        _, changes = known.changes()
        costs = known.costs(changes, PRECISIONS[0])
        return known, costs, known.upper(costs) if known.is_single(changes) or known.is_metric else INFINITY

    def compare(self) -> LawComparison:
        try:
            known, costs, upper = self.proved
        except MissingStep as at:
            return LawComparison(reason=str(at.missing))
        attaining, seen, compared, missed = Attaining(sensitivity=known), set[tuple[Dataset, Dataset]](), 0, 0
        crowded = ((left, right, 1) for left, right in self._crowded(known, [change for change, _ in costs]))
        shared = ((left, right, 0) for left, right in self._in_shared_universes())
        for pairs, most in ((self._pairs(attaining, costs), MOST_PAIRS), (crowded, MOST_CROWDED), (shared, MOST_SHARED)):
            before = len(seen)
            for left, right, number in pairs:
                if (left, right) in seen or not _is_asked(self.spec, left, right):
                    continue
                seen |= {(left, right), (right, left)}
                if self._agree(attaining if number == 0 else None, left, right, upper):
                    compared += 1
                else:
                    missed += 1
                if len(seen) - before >= 2 * most:
                    break
        if has_foreign_law(self.mechanism, origins({"mechanism": self.mechanism})):
            known_laws = ((dataset, law) for dataset, law in self.laws.items() if law is not None)
            check_again(self.mechanism, dict(itertools.islice(known_laws, MOST_AGAIN)), self.spec.space)
        return LawComparison(compared, missed, self.reason)

    def compare_many_records(self) -> None:
        """Compare the costliest changes next to many equal records; raises where the law contradicts the proved constant.

        What cannot be computed there is left out: the verdict does not rest on it.
        """
        views = self.structure.views
        if self.structure.is_sampled or any(view.by_record for view in views):
            return  # such laws grow with the power of the records
        if self.answers > MOST_ANSWERS_OF_MANY:
            return
        known, costs, upper = self.proved
        space, unit, attaining = self.spec.space, known.steps.unit, Attaining(sensitivity=known)
        _, most = sizes_of(space)
        numbers = sorted({number if most is None else min(number, most - 1) for number in MANY_OTHERS})
        compared: list[ExchangedRecords] = []
        for gone, come in itertools.islice(self._exchanges(attaining, costs), MOST_CHANGES_OF_MANY):
            fewer: tuple[Record, ...] = ()
            for number in numbers:
                others = _others(gone, come, number)
                compared.append((others + gone, others + come))
                if self._are_compared(others[1:], others, unit):  # one change after the other leads from fewer to more
                    compared.append((fewer, others))
                fewer = others
        kinds = itertools.islice(self._plain_kinds(known, 1), 2)
        for (one, other), number in itertools.product(itertools.pairwise(kinds), numbers):
            left, right = (one,) * number, (other,) * number
            added = self._are_compared(left[1:], left, unit) and self._are_compared(right[1:], right, unit)
            if added or self._are_compared(left, (*left[1:], other), unit):
                compared.append((left, right))
        for before, after in compared:
            for x, y in itertools.islice(pairs_of(before, after, space, unit), 1):
                if x != y and self.spec.multiverse.share_universe(x, y, space):
                    self._agree(attaining, x, y, upper)

    @property
    def answers(self) -> int:
        """The number of answers of a law, where no view answers for each record."""
        return sum(cell_count(view, self.spec.space) for view in self.structure.views)

    @property
    def few_records(self) -> int:
        """The number of records next to which one more is compared: few where the law grows with their power."""
        grows = self.structure.is_sampled or any(view.by_record for view in self.structure.views)
        return FEW_OTHERS[-1] if grows else OTHERS[-1]

    def compare_each_category(self, found: LawComparison) -> LawComparison:
        """Compare one record of each kind of the space, or with each category of each attribute, or with some of them.

        Args:
            found: what was compared before.

        Returns:
            the same; with a pair that could not be compared where the mechanism has no law on a dataset of few records.

        Raises:
            ContradictedError: where the law of a pair contradicts the structure.
        """
        known, _, upper = self.proved
        space, attaining = self.spec.space, Attaining(sensitivity=known)
        if sizes_of(space)[0] > self.few_records:
            return found
        each = _EachCategory.of(space, self.answers)
        pairs, beyond = each.pairs(self.spec)
        for pair in pairs:
            try:
                if not self._agree(attaining, *pair, upper):
                    return attrs.evolve(found, open=found.open + 1, reason=self.reason) if self.is_undefined else found
            except ContradictedError:
                raise
            except PluginContractError as fault:
                return attrs.evolve(found, open=found.open + 1, reason=str(fault))
        return attrs.evolve(found, beyond=beyond)

    def _are_compared(self, before: tuple[Record, ...], after: tuple[Record, ...], unit: str) -> bool:
        """Whether the claim speaks about a pair of datasets with these records."""
        pair = next(pairs_of(before, after, self.spec.space, unit), None)
        return pair is not None and _is_asked(self.spec, *pair)

    def _pairs(self, attaining: Attaining, costs: Sequence[Cost]) -> Iterator[tuple[Dataset, Dataset, int]]:
        """The pairs of datasets, each with the number of other records: the changes in turn next to none, to one and to three."""
        space, unit = self.spec.space, attaining.sensitivity.steps.unit
        exchanges = [*self._exchanges(attaining, costs), *itertools.islice(attaining.with_members(unit), WITH_MEMBERS)]
        for gone, come in self._between_cells(attaining.sensitivity):
            for left, right in pairs_of(gone, come, space, unit):
                yield left, right, 0
        for gone, come in exchanges:
            for number in FEW_OTHERS if self.structure.is_sampled else OTHERS:
                others = _others(gone, come, number)
                for left, right in itertools.islice(pairs_of(others + gone, others + come, space, unit), 2):
                    yield left, right, number

    def _crowded(self, known: Sensitivity, changes: Sequence[RecordChange]) -> Iterator[tuple[Dataset, Dataset]]:
        """One record added or replaced next to every collection of a few others: a law may tell one such collection apart."""
        if self.structure.is_sampled:
            return
        unit, space = known.steps.unit, self.spec.space
        columns = known.columns(unit)
        patterns = (change.patterns[0] for change in _chosen(changes))
        found = itertools.chain.from_iterable(records_of(pattern, columns, space, unit) or () for pattern in patterns)
        read = itertools.islice(self._plain_kinds(known, 1), 2)
        more = itertools.islice(self._plain_kinds(known, 2), 2 * CROWDS[0][0])  # of many attributes there are 2^n kinds
        kinds = tuple(dict.fromkeys((*read, *itertools.islice(found, 2), *more)))
        for most, size in CROWDS:
            few = kinds[:most]
            for number in range(size + 1):
                for others in itertools.combinations_with_replacement(few, number):
                    for gone, come in itertools.combinations(((), *((kind,) for kind in few)), 2):
                        yield from itertools.islice(pairs_of(others + gone, others + come, space, unit), 2)

    def _in_shared_universes(self) -> Iterator[tuple[Dataset, Dataset]]:
        """Pairs of small datasets of one universe, whatever the structure says of changes: several invariants leave exchanges
        alone, and what a divergence or an invariant says of changes is a statement of its author, too."""
        if self.structure.is_sampled:
            return
        few = MOST_GROUPED if _kinds(self.spec.space) <= MOST_OF_ALL else FEW_GROUPED
        groups = _by_universe(self.spec, few).values()
        pairs = [pair for datasets in groups for pair in itertools.pairwise(datasets)]
        most = FEW_SHARED
        if len(self.spec.multiverse.induced_by() or ()) > 1:
            most = max(FEW_SHARED, min(MOST_SHARED, MOST_ANSWERS_OF_KINDS // (2 * (self.answers + ANSWERS_OF_PAIR))))
        yield from pairs[:: max(1, math.ceil(len(pairs) / most))]

    def _exchanges(self, attaining: Attaining, costs: Sequence[Cost]) -> Iterator[ExchangedRecords]:
        """The records that go and come, for each kind of change and for two of them at once."""
        known = attaining.sensitivity
        unit = known.steps.unit
        columns = known.columns(unit)
        alone: list[ExchangedRecords] = []
        several: list[ExchangedRecords] = []
        for change in _chosen([change for change, _ in costs]):
            records = records_of(change.patterns[0], columns, self.spec.space, unit)
            if records is None:
                continue
            if change.is_added and self.structure.drawn is None:
                alone.append(((), records[1:]))
            else:
                alone.append((records[:1], records if change.is_added else records[1:]))
            if len(several) < MOST_SEVERAL:
                several += self._several(*records, is_added=change.is_added)
        yield from alone[:4]
        yield from several
        yield from alone[4:]

    def _between_cells(self, known: Sensitivity) -> Iterator[ExchangedRecords]:
        """Records of other cells than those that patterns give: one of each added to none, and one replaced by each other."""
        if self.structure.is_sampled:
            return
        records = tuple(itertools.islice(self._plain_kinds(known, 1), MOST_KINDS))
        for record in records[1:]:
            yield records[:1], (record,)
        if known.steps.added is not None:
            yield from (((), (record,)) for record in records)

    def _plain_kinds(self, known: Sensitivity, others: int) -> Iterator[Record]:
        """Kinds of records: all values of the attributes that views read, and so many of each other one; none of records with
        members or nested attributes."""
        space = self.spec.space
        attributes, looked = space.attributes_of(known.steps.unit), {n for view in known.views for n in view.table.attributes}
        if Changes.found_in(space) is None or any(a.name == MEMBERS or a.within is not None for a in attributes):
            return
        yield from itertools.product(*(itertools.islice(a.values(), None if a.name in looked else others) for a in attributes))

    def _several(self, one: Record, other: Record, *, is_added: bool) -> list[ExchangedRecords]:
        """Two changes at once, and two records that exchange their positions."""
        if is_added:
            return [((), (one, other))]
        turned = [((one, other), (other, one))] if self.spec.space.is_ordered and one != other else []
        return [*turned, ((one, one), (other, other))]

    def _agree(self, attaining: Attaining | None, left: Dataset, right: Dataset, upper: Number) -> bool:
        """Whether the laws of a pair were compared; raises where they contradict the structure.

        Args:
            attaining: what the structure says of the pair itself; None to compare with the proved constant only.
            left, right: the pair.
            upper: the proved constant.
        """
        before, after = self._law(left), self._law(right)
        if before is None or after is None:
            return False
        for one, other, laws in ((left, right, (before, after)), (right, left, (after, before))):
            distance = self.spec.distance(one, other)
            proved = INFINITY if upper.is_infinite or distance.is_infinite else rounded_product(upper, distance)
            derived = None if attaining is None else self._of_structure(attaining, one, other)
            limit = proved if derived is None else min(proved, derived.upper)
            beyond = self._is_beyond(*laws, limit)
            if beyond is None:
                return False
            if beyond:
                self._contradiction(one, other, laws, limit)
            if self.spec.input_divergence.is_symmetric and self.spec.output_divergence.is_symmetric:
                break
        return True

    def _law(self, dataset: Dataset) -> Law | None:
        if dataset not in self.laws:
            try:
                self.laws[dataset] = computed_law(self.mechanism, dataset, self.spec.space)
            except DpspecError as fault:
                if isinstance(fault, PluginContractError) and not self.is_reduced:
                    raise
                self.laws[dataset] = None
                self.reason = self.reason or str(fault)
                self.is_undefined |= isinstance(fault, (NotInSpaceError, IncompatibleBlocksError))
        return self.laws[dataset]

    def _is_beyond(self, before: Law, after: Law, limit: Number) -> bool | None:
        """Whether d_Pr of two laws is beyond a limit for certain; None where they cannot be compared.

        Where single events decide whether it is, that is quicker than to compute d_Pr. Most pairs next to other records have laws
        that differ as those of a pair before them do, by one shift of one answer: d_Pr of equal pairs of laws is computed once.
        """
        chosen = self.spec.output_divergence
        if limit.is_infinite:
            return False

        def judge() -> bool:
            lines, pair = chosen.event_bounds(limit), before.against(after).coarse()
            if lines is None or any(slack == 0 for _, slack in lines):
                return chosen.evaluate(pair, precision=PRECISION).lower > limit
            orders = (pair, pair.reverse()) if chosen.is_symmetric else (pair,)
            return any(way.hockey_stick(power, precision=PRECISION).lower > slack for way in orders for power, slack in lines)

        def judge_once() -> bool:
            key = key_of(before.against(after).signature()), limit
            if key not in self.judged:
                self.judged[key] = judge()
            return self.judged[key]

        try:
            return bool(guarded(chosen.name, judge_once))
        except PluginContractError:
            raise
        except DpspecError:  # no formula is known for the two
            return None

    def _of_structure(self, attaining: Attaining, left: Dataset, right: Dataset) -> Bracket | None:
        """d_Pr of the views; None where they do not compare the two datasets.

        Of a mixture, such as that of batches, the views read other records for each choice: what they say of all records bounds
        no pair.
        """
        if self.structure.is_mixture:
            return None
        try:
            return attaining.of_views(left, right, PRECISIONS[0])
        except MissingStep:
            return None

    def _contradiction(self, left: Dataset, right: Dataset, laws: tuple[Law, Law], limit: Number) -> None:
        chosen = self.spec.output_divergence
        stated = chosen.between(*laws, precision=PRECISIONS[0]).ends()[0]
        rule = (
            f"states a structure that its own law contradicts: between two datasets d_Pr of the law is {stated} "
            f"({chosen.in_words()}), and at most {limit} by the structure"
        )
        raise ContradictedError(f"mechanism {self.mechanism.name}", rule, ADVICE, value=f"{left}, {right}")


def _chosen(changes: Sequence[RecordChange]) -> list[RecordChange]:
    """Kinds of change, records added and replaced in turn, from both ends of the order by cost."""
    kinds = [[change for change in changes if change.is_added is is_added] for is_added in (True, False)]
    ordered = [[kind[place // 2] if place % 2 == 0 else kind[-1 - place // 2] for place in range(len(kind))] for kind in kinds]
    mixed = itertools.chain.from_iterable(itertools.zip_longest(*ordered))
    return list(itertools.islice((change for change in mixed if change is not None and change.patterns), MOST_CHANGES))


def _others(gone: tuple[Record, ...], come: tuple[Record, ...], number: int) -> tuple[Record, ...]:
    """Further records of both datasets: equal to one that comes, and from two on also to one that goes."""
    kinds = (*come[:1], *gone[:1]) or gone
    return tuple(itertools.islice(itertools.cycle(kinds), number)) if kinds else ()
