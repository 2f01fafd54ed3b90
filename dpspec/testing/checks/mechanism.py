"""Checks of mechanisms and of output divergences.

Mechanisms are evaluated on every dataset of small spaces; their claims are verified and reported, not required to hold.
Divergences are tried on pairs of random finite laws, disjoint and equal ones among them.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from fractions import Fraction
from random import Random
from typing import Any, cast

import attrs
import numpy as np
from flint import arb, ctx

from dpspec.base.errors import DpspecError, NoFormulaError, ReleaseError
from dpspec.base.exact import Bracket, Number, number
from dpspec.base.log_linear import ball
from dpspec.base.randomness import Randomness, SeededRandomness
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.parts import own_attributes
from dpspec.blocks.space import MEMBERS, Dataset, DatasetSpace
from dpspec.grammar.answers import has_numbers
from dpspec.grammar.declarations import keeps_line
from dpspec.grammar.mechanism import (
    Claim,
    ReleasesCells,
    answers_queries,
    check_table,
    counts_read,
    releases_records,
    releases_sorted,
)
from dpspec.grammar.structure import Structure, structure_for
from dpspec.grammar.table_batches import cells_wanted
from dpspec.grammar.tables import CountedTable, Members, Table, files_of
from dpspec.grammar.views import Case, View, cells_of
from dpspec.grammar.workers import Output, Run
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.law import AtomicLaw, FiniteLaw, Law
from dpspec.laws.products import product_of
from dpspec.testing.check import (
    Context,
    NotApplicable,
    PlacedSubject,
    ValueSubject,
    check,
    exceeds,
    exceeds_times,
    require,
    small_spaces,
)
from dpspec.testing.sorters import MemorySorter
from dpspec.verifier.exhaustive import verify

MECHANISMS = "mechanisms"
DRAWS = 3_000
EVENTS = 24
REPEATED = 56
FALSE_ALARM = 1e-9
"""A right sampler fails `check_release_agrees_with_the_law` with at most this probability, for each dataset."""
_LISTED = 0.99
_WINDOWS, _BITS = 1, 10
_ADDED = 1_000
"""At the fast level a longer window is not added up; laws of fewer and narrower answers are."""


@check(MECHANISMS)
def check_law_is_normalised(subject: PlacedSubject, context: Context) -> None:
    """`law` gives a `Law` for every dataset; a finite one has positive weights that sum to exactly 1.

    A law of smaller mass hides the outcomes that distinguish datasets. For an infinite law with atoms, its window is added up.
    """
    for place, x in enumerate(subject.compared):
        law = subject.thing.law(x, subject.space)
        require(isinstance(law, Law), f"law({x}) = {law!r} is no Law")
        if isinstance(law, FiniteLaw):
            exact = sum(law.weights.values()) == law.total and all(weight > 0 for weight in law.weights.values())
            require(exact, f"law({x}) has the weights {dict(law.weights)} over {law.total}")
        elif isinstance(law, AtomicLaw) and place < _WINDOWS:
            _check_window(law, x, context)


def _check_window(law: AtomicLaw, x: Dataset, context: Context) -> None:
    try:
        outcomes = law.window(_BITS)
    except NoFormulaError:  # a law on the line
        return
    if context.level == "fast" and len(outcomes) > _ADDED:
        return
    mass = sum((law.mass(outcome, 64) for outcome in outcomes), arb(0))
    require(not mass > 1 and not mass < _LISTED, f"the window of law({x}) has the mass {mass}")


@check(MECHANISMS)
def check_law_is_the_same_every_time(subject: PlacedSubject, context: Context) -> None:
    """`law` is a function of the dataset. A law that remembers or draws is no law, and its verdict no verdict."""
    for x in subject.compared:
        first, second = subject.thing.law(x, subject.space), subject.thing.law(x, subject.space)
        require(first == second, f"law({x}) was {first}, then {second}")


@check(MECHANISMS)
def check_strangers_are_refused(subject: PlacedSubject, context: Context) -> None:
    """`law` raises for what is no dataset of the space, best a NotInSpaceError. Otherwise a slip becomes a number.

    Any exception will do: the engine reports it with the name of the plugin. A law for a stranger is never noticed.
    """
    for stranger in _strangers(subject.space):
        try:
            law = subject.thing.law(stranger, subject.space)
        except Exception:  # noqa: S112 - refused
            continue
        require(False, f"law({stranger!r}) = {law}, though that is no dataset of the space")


def _strangers(space: DatasetSpace) -> Iterator[Dataset]:
    """Values that the space does not take: a text, and a dataset of every other small space."""
    others = (x for other in small_spaces() for x in list(other.datasets())[-1:])
    for value in ("no dataset", *others):
        try:
            space.dataset(value)
        except DpspecError:
            yield value


# --- releases ------------------------------------------------------------------------------------


def _release(subject: PlacedSubject, x: Dataset, seed: int) -> Table:
    """One release of a dataset as a table of its records."""
    return _release_from(subject, x, SeededRandomness(seed))


def _release_from(subject: PlacedSubject, x: Dataset, source: Randomness) -> Table:
    space = subject.space
    try:
        return subject.thing.release(_table(x, space), space, source)  # type: ignore[no-any-return]
    except ReleaseError as refusal:
        raise NotApplicable(str(refusal)) from refusal


def _run(subject: PlacedSubject, table: Table, run: Run) -> Output:
    """One run; not applicable where the mechanism releases nothing."""
    try:
        return subject.thing.run(table, subject.space, run)  # type: ignore[no-any-return]
    except ReleaseError as refusal:
        raise NotApplicable(str(refusal)) from refusal


def _table(x: Dataset, space: DatasetSpace) -> Table:
    """The dataset as microdata of its largest unit; spaces whose records are no rows of categories have none."""
    if not space.units:
        raise NotApplicable("the space has no records")
    attributes = space.attributes_of(space.units[0])
    if not attributes or any(a.name == MEMBERS for a in attributes):
        raise NotApplicable("the records of the space are no rows of categories")
    return Table.from_records(space.records(x, space.units[0]), attributes)


def _rows(table: Table, *, ordered: bool) -> Hashable:
    """The rows of a table of labels; sorted when their order means nothing."""
    return tuple(table.records() if ordered else sorted(table.records()))


def _observed(state: Callable[[], Any]) -> Any:
    return repr(state())


@check(MECHANISMS)
def check_release_draws_from_its_source_alone(subject: PlacedSubject, context: Context) -> None:
    """`release` takes its random bits from the given source: equal seeds give equal tables, and no global generator moves.

    A mechanism that draws elsewhere is not covered by the exact samplers, and a seeded audit of it means nothing.
    """
    for x in subject.datasets[-2:]:
        before = _observed(random.getstate), _observed(np.random.get_state)
        tables = [_release(subject, x, seed) for seed in (1, 1)]
        require(before == (_observed(random.getstate), _observed(np.random.get_state)), "it moves a global random generator")
        first, second = (_rows(table, ordered=True) for table in tables)
        require(first == second, f"two releases of {x} from one seed differ: {first} and {second}")


@check(MECHANISMS)
def check_release_reads_the_counts_that_are_stated(subject: PlacedSubject, context: Context) -> None:
    """A mechanism that states the counts it reads releases from these alone what it releases of the table, with the same bits.

    Of a table that is larger than memory the counts are all that it gets.
    """
    for x in subject.datasets[-2:]:
        table = _table(x, subject.space)
        read = counts_read(subject.thing, table.attributes, subject.space)
        if read is None:
            raise NotApplicable("it does not state that it reads nothing but counts")
        found = {wanted: table.cells(*wanted) for wanted in cells_wanted(read)}
        counted = CountedTable(attributes=table.attributes, records=len(table), found=found)
        expected, released = (_outputs(subject, given) for given in (table, counted))
        require(expected == released, f"of {x} it releases {expected}, and from the counts that it states {released}")


@check(MECHANISMS)
def check_batches_are_released_as_the_whole_table(subject: PlacedSubject, context: Context) -> None:
    """A mechanism that states that it releases each record by itself releases of two batches what it releases of the table.

    A table that is larger than memory is released in batches.
    """
    mechanism, space = subject.thing, subject.space
    if not releases_records(mechanism):
        raise NotApplicable("it does not state that it releases each record by itself")
    for x, seed in itertools.product(subject.datasets[-2:], range(1, 9)):  # one seed may draw the same at two places
        expected, records = _rows(_release(subject, x, seed), ordered=True), space.records(x, space.units[0])
        source = SeededRandomness(seed).placed()
        found: list[Hashable] = []
        for first, part in ((0, records[:1]), (1, records[1:])):
            batch = Table.from_records(part, space.attributes_of(space.units[0]))
            found += mechanism.release_batch(batch, first, space, source).records()
        require(expected == tuple(found), f"of {x} it releases {expected}, and in two batches {tuple(found)}")


@check(MECHANISMS)
def check_sorted_records_are_released_as_the_whole_table(subject: PlacedSubject, context: Context) -> None:
    """A mechanism that states `release_sorted` releases of sorted batches what it releases of the table, and reports the same.

    A table that is larger than memory is released from sorted records, and a smaller one in memory.
    """
    mechanism, space = subject.thing, subject.space
    if not releases_sorted(mechanism):
        raise NotApplicable("it does not state that it releases tables that are larger than memory by sorting")
    for x, seed in itertools.product(subject.datasets[-2:], range(1, 9)):  # one seed may change nothing
        table = _table(x, space)
        if not len(table) or (isinstance(mechanism, ReleasesCells) and mechanism.cells_read(table.attributes, space) is None):
            continue
        runs = [Run(source=SeededRandomness(seed)) for _ in range(2)]
        output = _run(subject, table, runs[0])
        batches = [table.slice(0, 1), table.slice(1, 1), table.slice(1, len(table))]
        found = mechanism.release_sorted(batches, table.attributes, space, runs[1], MemorySorter())
        expected, rows = list(output.main.records()), [row for batch in found.batches for row in batch.records()]
        require(expected == rows, f"of {x} it releases {expected}, and from sorted records {rows}")
        said, repeated = ((one.report, one.confidential) for one in (output, found))
        require(said == repeated, f"of {x} it reports {said}, and from sorted records {repeated}")


def _outputs(subject: PlacedSubject, given: Any, seed: int = 1) -> Hashable:
    """The files of one run with their rows; the name of what it raises instead, but for a mechanism that releases nothing."""
    try:
        output = _run(subject, given, Run(source=SeededRandomness(seed)))
    except NotApplicable:
        raise
    except Exception as problem:
        return type(problem).__name__
    every = {**output.tables, **{name: stream.joined() for name, stream in output.streams.items()}}
    files = (file for name, table in every.items() for file in files_of(name, table).items())
    return tuple((name, tuple(a.name for a in table.attributes), _rows(table, ordered=True)) for name, table in files)


@check(MECHANISMS)
def check_table_without_records_is_released(subject: PlacedSubject, context: Context) -> None:
    """`run` releases a table without records, where the space has that dataset; or it refuses others as well.

    A mechanism may be given a sample or the records that meet a condition, and there may be none. An error would show it.
    """
    space = subject.space
    without = (x for x in subject.datasets if space.units and not space.records(x, space.units[0]))
    tables = [table for table in (_table(x, space) for x in itertools.islice(without, 1)) if not len(table)]
    if not tables:
        raise NotApplicable("the space has no dataset without records")
    try:
        _run(subject, tables[0], Run(source=SeededRandomness(1)))
    except NotApplicable as refusal:
        _run(subject, _table(subject.datasets[-1], space), Run(source=SeededRandomness(1)))
        require(False, f"it refuses a table without records, and no others: {refusal}")


@check(MECHANISMS)
def check_what_is_refused_is_refused_before_a_budget_is_spent(subject: PlacedSubject, context: Context) -> None:
    """`run` refuses nothing that `check_release` and `check_table` accept.

    These are called before a release is charged to an account, and a run that was begun stays charged.
    """
    for x, table in _accepted(subject):
        refused = None
        try:
            subject.thing.run(table, subject.space, Run(source=SeededRandomness(1)))
        except Exception as problem:
            refused = problem if isinstance(problem, DpspecError) else None  # others are the matter of other checks
        text = f"`run` refuses the table of {x}, which `check_release` and `check_table` accept"
        require(refused is None, f"{text}: {refused}")


def _accepted(subject: PlacedSubject) -> Iterator[tuple[Dataset, Table]]:
    """The smallest dataset and the two largest with their tables, where a mechanism does not refuse these."""
    try:
        subject.thing.check_release(subject.space)
    except DpspecError as refusal:
        raise NotApplicable(str(refusal)) from refusal
    for x in dict.fromkeys((*subject.datasets[:1], *subject.datasets[-2:])):
        table = _whole_table(x, subject.space)
        try:
            check_table(subject.thing, table, subject.space)
        except DpspecError:
            continue
        yield x, table


@check(MECHANISMS)
def check_answers_to_queries_are_released_where_they_are_stated(subject: PlacedSubject, context: Context) -> None:
    """Where `answers_queries` says so, all released tables have numbers in their rows, and no records."""
    if not answers_queries(subject.thing):
        raise NotApplicable("it does not state that it answers queries")
    for x, table in _accepted(subject):
        output = _run(subject, table, Run(source=SeededRandomness(1)))
        every = {**output.tables, **{name: stream.joined() for name, stream in output.streams.items()}}
        wrong = [name for name, made in every.items() if not has_numbers(made)]
        require(not wrong, f"of {x} it releases {', '.join(wrong)} without numbers")


@check(MECHANISMS)
def check_releases_of_one_source_differ(subject: PlacedSubject, context: Context) -> None:
    """A source is spent once: what is drawn from it a second time is drawn afresh (statistical).

    56 releases of a dataset from one source must not be all equal where of 56 from sources of their own no more than 28 agree.
    A right sampler, whose likeliest release has probability p, fails with probability at most max over p of
    P(Bin(56, p) <= 28) p^55 < 1e-10; one that repeats itself, and has p <= 1/4, passes with probability below 1e-4.
    """
    for x in subject.datasets[-1:]:
        one = SeededRandomness(1)
        drawn = (_rows(_release_from(subject, x, one), ordered=subject.space.is_ordered) for _ in range(REPEATED))
        first = next(drawn)
        if next(drawn) != first or _often_alike(subject, x) or any(rows != first for rows in drawn):
            continue
        require(False, f"{REPEATED} releases of {x} from one source are all {first}, those of other sources are not")


def _often_alike(subject: PlacedSubject, x: Dataset) -> bool:
    """Whether more than half of the releases from sources of their own are one and the same."""
    seen: Counter[Hashable] = Counter()
    for seed in range(REPEATED):
        seen[_rows(_release(subject, x, seed), ordered=subject.space.is_ordered)] += 1
        if 2 * max(seen.values()) > REPEATED:
            return True
    return False


@check(MECHANISMS, level="full")
def check_release_agrees_with_the_law(subject: PlacedSubject, context: Context) -> None:
    """`release` draws from `law` (statistical test; applies where the outcomes are datasets of the space).

    3,000 draws of each of three datasets. By Hoeffding, a right sampler fails with probability at most 1e-9 for each; a wrong
    one that is off by 0.13 or more at some outcome (of at most 40) passes with probability at most 1e-9.
    """
    for x in subject.datasets[-3:]:
        law = subject.thing.law(x, subject.space)
        if not isinstance(law, FiniteLaw):
            raise NotApplicable("its laws are not finite")
        expected = _rows_by_outcome(law, subject.space)
        seen = Counter(_rows(_release(subject, x, seed), ordered=subject.space.is_ordered) for seed in range(DRAWS))
        allowed = math.sqrt(math.log(2 * len(expected) / FALSE_ALARM) / (2 * DRAWS))
        for rows, times in seen.items():
            require(rows in expected, f"a release of {x} is {rows}, which the law calls impossible")
            off = abs(times / DRAWS - expected[rows])
            require(
                off <= allowed, f"{rows} came {times} times in {DRAWS} releases of {x}, its probability is {expected[rows]:.4f}"
            )
        for rows, probability in expected.items():
            require(rows in seen or probability <= allowed, f"{rows} never came, its probability is {probability:.4f}")


@check(MECHANISMS, level="full")
def check_releases_tell_no_more_than_the_law(subject: PlacedSubject, context: Context) -> None:
    """No event is certain for the files released of one dataset and impossible for those of another, unless their laws say so.

    The files may show what the law does not have: a column, the number of rows or their order, persons of households. Outcomes
    need not be datasets. Datasets are also given with their records in reverse, where the space has no order.

    24 draws of each of two tables choose an event, and 24 others are counted (statistical test). That it occurs in all those of
    one and in none of the other has probability at most ((1 + d)/2)^48, where d is the total variation of the laws; a right
    sampler fails with probability at most 1e-9 for each pair.
    """
    tables = list(_tables_to_distinguish(subject))
    seen = [
        [Counter(_outputs(subject, table, 2 * (place * EVENTS + k) + half) for k in range(EVENTS)) for half in (0, 1)]
        for place, (_, table) in enumerate(tables)
    ]
    for (x, (chosen, counted)), (y, (others, other)) in itertools.permutations(zip((x for x, _ in tables), seen, strict=True), 2):
        event = [output for output, times in chosen.items() if times > others[output]]
        if sum(counted[output] for output in event) < EVENTS or any(other[output] for output in event):
            continue
        laws = [_law_of(subject, z) for z in (x, y)]
        if laws[0] is None or laws[1] is None:
            continue
        try:
            most = laws[0].against(laws[1]).hockey_stick(0, precision=ROUGH).upper
        except NoFormulaError:
            continue
        rare = ((1 + float(most)) / 2) ** (2 * EVENTS) > FALSE_ALARM
        text = f"all {EVENTS} releases of {x} are among {event[:2]}, and none of {y}"
        require(rare, f"{text}, and the total variation of their laws is at most {most}")


def _tables_to_distinguish(subject: PlacedSubject) -> Iterator[tuple[Dataset, Table]]:
    """The smallest dataset and the two largest, with their tables; also in reverse, where the order means nothing."""
    for x in dict.fromkeys((*subject.datasets[:1], *subject.datasets[-2:])):
        yield x, _whole_table(x, subject.space)
        if not subject.space.is_ordered:
            yield x, _whole_table(x, subject.space, step=-1)


def _whole_table(x: Dataset, space: DatasetSpace, *, step: int = 1) -> Table:
    """The dataset as microdata of its largest unit, with its members where it has some; in reverse with a step of -1."""
    if len(space.units) < 2 or all(a.name != MEMBERS for a in space.attributes_of(space.units[0])):
        table = _table(x, space)
        return table.replace({name: column[::step] for name, column in table.codes.items()})
    own, inner = (own_attributes(space, unit) for unit in space.units[:2])
    records = space.records(x, space.units[0])[::step]
    members = [(owner, member) for owner, record in enumerate(records) for member in cast("Any", record[-1])][::step]
    held = Members(
        table=Table.from_records((member for _, member in members), inner),
        owner=np.asarray([owner for owner, _ in members], dtype=np.int64),
    )
    return attrs.evolve(Table.from_records((record[:-1] for record in records), own), members=held)


def _rows_by_outcome(law: FiniteLaw, space: DatasetSpace) -> dict[Hashable, float]:
    expected: dict[Hashable, float] = {}
    for outcome, probability in law.probabilities():
        try:
            table = _table(space.dataset(outcome), space)
        except DpspecError as refusal:
            raise NotApplicable("its outcomes are no datasets of the space") from refusal
        rows = _rows(table, ordered=space.is_ordered)
        expected[rows] = expected.get(rows, 0.0) + float(probability)
    return expected


# --- structures ----------------------------------------------------------------------------------


ROUGH = 24
"""Bits of what is compared: laws and structures that contradict each other differ by more."""
FUNCTIONALS: tuple[Callable[[Dichotomy], Bracket], ...] = (
    lambda pair: pair.hockey_stick(0, precision=ROUGH),
    lambda pair: pair.max_log_ratio(precision=ROUGH),
)
"""The functionals that are compared for two pairs of laws, in both orders; none of them grows under post-processing."""
PAIRS = 20
"""At the fast level so many ordered pairs of datasets are compared, spread over all of them."""
MOST_CHANGE = 3
"""A count is changed by at most so much."""


def _structure(subject: PlacedSubject) -> Structure:
    if "structure" not in vars(type(subject.thing)):
        raise NotApplicable("it states no structure")
    structure = structure_for(subject.thing, subject.space)
    if not isinstance(structure, Structure):
        raise NotApplicable("it states no structure" if structure is None else str(structure))
    return structure


@check(MECHANISMS)
def check_structure_agrees_with_the_law(subject: PlacedSubject, context: Context) -> None:
    """On all pairs of datasets, the divergence of the laws of the views equals that of `law`, or exceeds it if views are not
    published.

    Proofs on spaces of any size use the structure alone: an output that it leaves out would be proved to be harmless.
    """
    structure = _structure(subject)
    if structure.is_sampled:
        raise NotApplicable("records take part at random, so that only the verifier compares its queries")
    laws = {x: _law_of(subject, x) for x in subject.compared}
    missing = "a structure is stated, and no law of any dataset can be computed to compare it with, so that it proves nothing"
    require(any(law is not None for law in laws.values()), missing)
    for x, y in _some_pairs(subject, context):
        if any(fact.value(x, subject.space) != fact.value(y, subject.space) for fact in structure.reads):
            continue
        parts = [view.between(cells_of(view, x, subject.space), cells_of(view, y, subject.space), subject.space)
                 for view in structure.views]  # fmt: skip
        before_law, after_law = laws[x], laws[y]
        if None in parts or before_law is None or after_law is None:
            continue
        try:
            stated = product_of(before.against(after) for part in parts for before, after in part or ())
            own = before_law.against(after_law)
            found = [(of(own), of(stated)) for of in FUNCTIONALS]
        except NoFormulaError:
            continue
        for law, views in found:
            apart = law.lower > views.upper or (structure.publishes_views and law.upper < views.lower)
            require(not apart, f"between {x} and {y} the law gives {law}, and the structure {views}")


def _some_pairs(subject: PlacedSubject, context: Context) -> list[tuple[Dataset, Dataset]]:
    """Pairs of different datasets, at the fast level some that are spread over all of them."""
    pairs = [(x, y) for x, y in subject.pairs() if x != y]
    return pairs if context.level == "full" else pairs[:: max(1, len(pairs) // PAIRS)]


def _law_of(subject: PlacedSubject, x: Dataset) -> Law | None:
    try:
        law: Law = subject.thing.law(x, subject.space)
    except DpspecError:
        return None
    return law


@check(MECHANISMS)
def check_changes_are_as_visible_as_the_views_say(subject: PlacedSubject, context: Context) -> None:
    """`View.changed` covers `View.between`, and with `tells_more_by_more` a larger change covers a smaller one.

    A proof looks at the changes of counts alone, not at datasets.
    """
    for view in _structure(subject).views:
        for x, y in _some_pairs(subject, context):
            counts = _counts(view, x, y, subject.space)
            shown = view.between(cells_of(view, x, subject.space), cells_of(view, y, subject.space), subject.space)
            if counts is None or shown is None:
                continue
            _require_covered(shown, view.changed(counts), f"between {x} and {y}, where counts change by {counts}")
        for less in range(1, MOST_CHANGE) if view.tells_more_by_more and not view.parts() else ():
            for sign in (1, -1):
                small, large = view.changed((sign * less,)), view.changed((sign * (less + 1),))
                for case in small or ():
                    _require_covered(case, large, f"with {less} against {less + 1} records that come or go at once")


def _counts(view: View, x: Dataset, y: Dataset, space: DatasetSpace) -> tuple[int, ...] | None:
    """By how much the counts change, as a proof sees it; None where it sees more than one change."""
    before, after = (cells_of(view, each, space) for each in (x, y))
    if view.by_record:
        moved = sum(one != other for one, other in zip(before, after, strict=False))
        return {0: (), 1: (-1, 1)}.get(moved) if len(before) == len(after) else None
    if view.parts():
        sides = [[Counter(part.cell_of(record, space) is not None for record in view.read(each, space))[True]
                  for part in view.parts()] for each in (x, y)]  # fmt: skip
        changed = tuple(b - a for a, b in zip(*sides, strict=True))
        return changed if any(changed) else ()
    surplus = Counter(after)
    surplus.subtract(Counter(before))
    return tuple(sorted(count for cell, count in surplus.items() if cell is not None and count))


def _require_covered(shown: Case, cases: tuple[Case, ...] | None, where: str) -> None:
    if cases is None:
        return
    try:
        own, *stated = (product_of(a.against(b) for a, b in case) for case in (shown, *cases))
        for of in FUNCTIONALS:
            found, most = of(own), [of(case) for case in stated]
            covered = any(not found.lower > one.upper for one in most)
            require(covered, f"{where}, the views show {found}, and at most {', '.join(map(str, most))} by `changed`")
    except NoFormulaError:
        return


# --- claims --------------------------------------------------------------------------------------


@check(MECHANISMS)
def check_claims_can_be_judged(subject: PlacedSubject, context: Context) -> str:
    """Every claim names its source and is about the space, and the engine reaches a verdict. The verdicts are reported.

    A published theorem may be wrong: a refuted claim is no fault of the plugin. A claim that cannot be verified is.
    """
    found = []
    for claim in subject.thing.claims(subject.space):
        require(isinstance(claim, Claim), f"{claim!r} is no Claim")
        require(bool(claim.label and claim.source), f"the claim {claim.label!r} names no label or no source")
        require(claim.spec.space == subject.space, f"{claim.label} is about another space")
        found.append(f"{claim.label} is {verify(subject.thing, claim.spec).outcome.value}")
    return "; ".join(found)


# --- output divergences ---------------------------------------------------------------------------


OUTPUT_DIVERGENCES = "output_divergences"
FINER = 192
"""Bits of the refined bracket that is compared with the ordinary one."""


def random_law(source: Random, *, outcomes: int = 4) -> FiniteLaw:
    """A law with small integer weights, some of them 0."""
    weights: dict[Hashable, int] = {place: source.choice((0, 1, 1, 2, 3, 7)) for place in range(outcomes)}
    return FiniteLaw.from_weights(weights if any(weights.values()) else {0: 1})


def random_pairs(context: Context, name: str) -> Iterator[tuple[FiniteLaw, FiniteLaw]]:
    """Pairs of laws: two disjoint, one contained in the other, then random ones."""
    yield FiniteLaw.point(0), FiniteLaw.point(1)
    yield FiniteLaw.point(0), FiniteLaw.uniform([0, 1])
    source = context.random(name)
    for _ in range(context.times(10, full=200)):
        yield random_law(source), random_law(source)


def post_processed(source: Random, left: FiniteLaw, right: FiniteLaw) -> Iterator[tuple[FiniteLaw, FiniteLaw]]:
    """Both laws after a random kernel, and after merging any two outcomes."""
    outcomes = tuple(dict.fromkeys((*left.support, *right.support)))
    kernel = {outcome: random_law(source, outcomes=3) for outcome in outcomes}
    yield _through(kernel, left), _through(kernel, right)
    for one, two in itertools.combinations(outcomes, 2):
        yield _merged(left, one, two), _merged(right, one, two)


def _merged(law: FiniteLaw, one: Hashable, two: Hashable) -> FiniteLaw:
    return law.push_forward(lambda outcome: two if outcome == one else outcome)


def _through(kernel: Mapping[Hashable, FiniteLaw], law: FiniteLaw) -> FiniteLaw:
    weights: list[Fraction] = [probability for _, probability in law.probabilities()]
    return FiniteLaw.mixture(weights, [kernel[outcome] for outcome in law.support])


def _value(subject: ValueSubject, left: FiniteLaw, right: FiniteLaw, precision: int = 64) -> Bracket:
    found: Bracket = subject.thing.between(left, right, precision=precision)
    return found


@check(OUTPUT_DIVERGENCES)
def check_equal_laws_are_at_zero(subject: ValueSubject, context: Context) -> None:
    """d_Pr(P, P) = 0 for every law P. Otherwise even a mechanism that ignores its data is refuted."""
    for law, _ in random_pairs(context, "equal laws"):
        found = _value(subject, law, law)
        require(found.lower == 0, f"d(P, P) = {found} for P = {law}")


@check(OUTPUT_DIVERGENCES)
def check_divergence_is_nonnegative(subject: ValueSubject, context: Context) -> None:
    """0 <= lower <= upper for the bracket of every pair. A verdict compares both ends with the budget."""
    for left, right in random_pairs(context, "nonnegative"):
        found = _value(subject, left, right)
        require(isinstance(found, Bracket), f"{found!r} is no Bracket")
        require(found.lower >= 0, f"d(P, Q) = {found} for P = {left}, Q = {right}")
        require(not found.upper < found.lower, f"the bracket {found} is empty")


@check(OUTPUT_DIVERGENCES)
def check_post_processing_never_separates(subject: ValueSubject, context: Context) -> None:
    """Data processing: d_Pr(K P, K Q) <= d_Pr(P, Q) for every finite kernel K. No guarantee survives without it."""
    source = context.random("kernels")
    for left, right in random_pairs(context, "data processing"):
        before = _value(subject, left, right)
        for processed in post_processed(source, left, right):
            after = _value(subject, *processed)
            require(not after.lower > before.upper, f"post-processing raises {before} to {after} for P = {left}, Q = {right}")


@check(OUTPUT_DIVERGENCES, when="is_symmetric")
def check_divergence_is_symmetric(subject: ValueSubject, context: Context) -> None:
    """d_Pr(P, Q) = d_Pr(Q, P) when `is_symmetric` is declared. Engines then look at one order of each pair only."""
    for left, right in random_pairs(context, "symmetric"):
        there, back = _value(subject, left, right), _value(subject, right, left)
        overlap = there.lower <= back.upper and back.lower <= there.upper
        require(overlap, f"d(P, Q) = {there}, d(Q, P) = {back} for P = {left}, Q = {right}; declare is_symmetric = False")


BETWEEN = tuple(FiniteLaw.from_weights(dict(enumerate(weights))) for weights in ((1, 2, 5), (6, 1, 1), (3, 3, 2)))
"""Two laws, and one between them: random laws mostly have outcomes that others have not, where many divergences are infinite."""


@check(OUTPUT_DIVERGENCES, when="is_metric")
def check_divergence_obeys_the_triangle_inequality(subject: ValueSubject, context: Context) -> None:
    """d_Pr(P, R) <= d_Pr(P, Q) + d_Pr(Q, R) when `is_metric` is declared. Neighbour-only proofs rest on it."""
    source = context.random("triangle")
    triples = ((left, right, random_law(source)) for left, right in random_pairs(context, "triangle"))
    for left, right, between in itertools.chain((BETWEEN,), triples):
        far, first, second = (_value(subject, *pair) for pair in ((left, right), (left, between), (between, right)))
        short = not exceeds(far.lower, first.upper, second.upper)
        require(short, f"d(P, R) = {far}, above {first} + {second}, for P = {left}, Q = {between}, R = {right}")


@check(OUTPUT_DIVERGENCES, when="keeps_mixtures")
def check_divergence_keeps_its_bound_under_mixtures(subject: ValueSubject, context: Context) -> None:
    """d_Pr(sum w P_i, sum w Q_i) <= max d_Pr(P_i, Q_i) when `keeps_mixtures` is declared. Attackers who are uncertain about other
    records, and the curves of what is allowed, rest on it."""
    pairs = [BETWEEN[:2], BETWEEN[1::-1], *random_pairs(context, "mixtures")]
    for (p, q), (r, s) in itertools.pairwise(pairs):
        parts = _value(subject, p, q), _value(subject, r, s)
        for weight, coin in itertools.product((Fraction(1, 2), Fraction(1, 5)), (0, 1)):  # the coin is hidden, or shown
            left, right = (_mixed(weight, first, second, coin) for first, second in ((p, r), (q, s)))
            mixed = _value(subject, left, right)
            keeps = not mixed.lower > max(part.upper for part in parts)
            require(keeps, f"mixed with weight {weight}, {parts[0]} and {parts[1]} become {mixed}, for P = {left}, Q = {right}")


def _mixed(weight: Fraction, one: FiniteLaw, other: FiniteLaw, coin: int) -> FiniteLaw:
    """The mixture of two laws; with a coin of 1 the outcomes say which it was."""
    return FiniteLaw.mixture(
        (weight, 1 - weight),
        (one.push_forward(lambda outcome: (outcome, 0)), other.push_forward(lambda outcome: (outcome, coin))),
    )


@check(OUTPUT_DIVERGENCES)
def check_refinement_stays_inside_the_bracket(subject: ValueSubject, context: Context) -> None:
    """A larger precision gives a value inside the bracket of a smaller one. A bracket that is left was never rigorous."""
    for left, right in random_pairs(context, "refined"):
        coarse, fine = _value(subject, left, right, 24), _value(subject, left, right, FINER)
        inside = fine.lower <= coarse.upper and coarse.lower <= fine.upper
        require(inside, f"{fine} at {FINER} bits lies outside {coarse} at 24 bits, for P = {left}, Q = {right}")


@check(OUTPUT_DIVERGENCES)
def check_a_larger_score_is_a_larger_divergence(subject: ValueSubject, context: Context) -> None:
    """`score` orders pairs of finite laws as d_Pr does. The exhaustive engine evaluates the pair with the largest score only."""
    found: list[tuple[Fraction | None, Bracket, str]] = []
    for left, right in random_pairs(context, "score"):
        pair = left.against(right)
        score = subject.thing.score(pair)
        if score is None:
            raise NotApplicable("it has no score")
        value = Fraction(score[0], score[1]) if score[1] else None
        found.append((value, _value(subject, left, right), f"P = {left}, Q = {right}"))
    for (one, first, here), (other, second, there) in itertools.permutations(found, 2):
        smaller = one is not None and (other is None or one < other)
        false = smaller and first.lower > second.upper
        require(not false, f"d = {first} for {here}, with a smaller score than {second} for {there}")


@check(OUTPUT_DIVERGENCES)
def check_extremal_answers_stay_within_the_bound(subject: ValueSubject, context: Context) -> None:
    """d_Pr(N_0, N_1) <= b, both ways, for all answers that `extremal(b)` offers. Comparison separates specifications by them."""
    for bound in (number(Fraction(1, 3)), number(1)):
        for answers in subject.thing.extremal(bound):
            steps = range(2 if answers.most is None else min(answers.most, 2))
            for i, (left, right) in itertools.product(steps, ((0, 1), (1, 0))):
                found = subject.thing.between(answers.law(i + left), answers.law(i + right))
                require(not found.lower > bound, f"d(N_{i + left}, N_{i + right}) = {found}, above {bound}, {answers.words}")


@check(OUTPUT_DIVERGENCES)
def check_only_equal_laws_are_at_zero_as_declared(subject: ValueSubject, context: Context) -> None:
    """d_Pr(P, Q) > 0 for different laws when `separates_laws` says so. Comparison then takes a budget of 0 for equal laws."""
    if not subject.thing.separates_laws():
        raise NotApplicable("it does not say that only equal laws are at 0")
    small = [Fraction(1, 10), Fraction(1, 1000)]
    close = [(FiniteLaw.bernoulli(Fraction(1, 2) + e), FiniteLaw.bernoulli(Fraction(1, 2))) for e in small]
    for left, right in itertools.chain(close, ((b, a) for a, b in close), random_pairs(context, "separated")):
        found = _value(subject, left, right, FINER)
        require(left == right or found.upper > 0, f"d(P, Q) = {found} for P = {left}, Q = {right}; separates_laws is False")


@check(OUTPUT_DIVERGENCES)
def check_event_bounds_are_the_divergence(subject: ValueSubject, context: Context) -> None:
    """d_Pr(P, Q) <= b exactly where P(S) <= e^a Q(S) + c for all `event_bounds(b)` and events S. Comparison decides by them."""
    divergence: OutputDivergence = subject.thing
    if divergence.event_bounds(number(1)) is None:
        raise NotApplicable("single events do not determine it")
    for bound in map(number, ("0", "1/5", "1", "ln(2)", "ln(7)", "2")):
        lines = divergence.event_bounds(bound)
        for left, right in random_pairs(context, f"events {bound}") if lines is not None else ():
            pairs = ((left, right), (right, left)) if divergence.is_symmetric else ((left, right),)
            kept = all(keeps_line(*pair, *line) for pair in pairs for line in lines or ())
            found = _value(subject, left, right, FINER)
            wrong = found.lower > bound if kept else not found.upper > bound
            require(not wrong, f"d(P, Q) = {found} for P = {left}, Q = {right}, and event_bounds({bound}) say {kept}")


@check(OUTPUT_DIVERGENCES)
def check_divergence_is_bounded_as_stated(subject: ValueSubject, context: Context) -> None:
    """`bounded_by(other)` = c: d_Pr <= c other for all laws; `bounds(other)`: other <= c d_Pr. Implications rest on both."""
    for other in context.values(OUTPUT_DIVERGENCES):
        _require_bound(subject.thing, other, subject.thing.bounded_by(other), context)
        _require_bound(other, subject.thing, subject.thing.bounds(other), context)


def _require_bound(
    smaller: OutputDivergence, larger: OutputDivergence, stated: tuple[Number, str] | None, context: Context
) -> None:
    if stated is None:
        return
    factor, reason = stated
    for left, right in random_pairs(context, "bounded"):
        less, more = smaller.between(left, right), larger.between(left, right).upper
        require(
            not exceeds_times(less.lower, factor, more),
            f"d = {less} of {smaller}, above {factor} x {more} of {larger}, for P = {left}, Q = {right}, in spite of: {reason}",
        )


@check(OUTPUT_DIVERGENCES)
def check_larger_budgets_allow_more(subject: ValueSubject, context: Context) -> None:
    """`lipschitz` is nonnegative and nondecreasing for every budget parameter: it turns budgets into constants."""
    require(bool(subject.thing.budget_parameters), "budget_parameters is empty, so no budget can be written")
    for parameter in subject.thing.budget_parameters:
        constants = [subject.thing.lipschitz(parameter, number(text)) for text in ("0", "1/10", "1", "3", "inf")]
        require(constants[0] >= 0, f"{parameter} = 0 allows {constants[0]}")
        rising = all(small <= large for small, large in itertools.pairwise(constants))
        require(rising, f"{parameter} = 0, 1/10, 1, 3, inf allow {', '.join(map(str, constants))}")


@check(OUTPUT_DIVERGENCES)
def check_the_budget_for_a_constant_allows_it(subject: ValueSubject, context: Context) -> None:
    """`lipschitz(budget_for(c))` is at least c: a budget that is rounded down would be a promise without a proof."""
    for parameter, text in itertools.product(subject.thing.budget_parameters, ("0", "1/10", "1", "ln(7)", "3")):
        constant = number(text)
        budget = subject.thing.budget_for(parameter, constant)
        means = subject.thing.lipschitz(parameter, budget)
        require(means >= constant, f"budget_for gives {parameter} = {budget} for the constant {constant}, and it means {means}")


@check(OUTPUT_DIVERGENCES)
def check_no_event_is_beyond_the_largest_loss(subject: ValueSubject, context: Context) -> None:
    """`largest_loss(b)`: |ln(P(S)/Q(S))| <= it for every event S where d_Pr(P, Q) <= b. Odds of attackers are bounded by it."""
    if subject.thing.largest_loss(number(1)) is None:
        raise NotApplicable("it bounds no odds")
    for left, right in (BETWEEN[:2], *random_pairs(context, "loss")):
        bound = _value(subject, left, right).upper
        if subject.thing.is_symmetric:
            bound = max(bound, _value(subject, right, left).upper)
        loss, found = subject.thing.largest_loss(bound), left.against(right).max_log_ratio()
        within = bound.is_infinite or loss is None or not found.lower > loss
        require(within, f"an event has the loss {found}, above {loss} that {bound} allows, for P = {left}, Q = {right}")


@check(OUTPUT_DIVERGENCES)
def check_no_event_is_beyond_the_largest_probability(subject: ValueSubject, context: Context) -> None:
    """`largest_probability(q, b)`: P(S) <= it where Q(S) = q and d_Pr(P, Q) <= b. Sampling refutes what is beyond it."""
    for left, right in random_pairs(context, "probability"):
        bound = _value(subject, left, right).upper
        if bound.is_infinite:
            continue
        outcomes = tuple(dict.fromkeys((*left.support, *right.support)))
        for event in itertools.chain.from_iterable(itertools.combinations(outcomes, size) for size in range(1, len(outcomes))):
            p, q = (sum((law.probability(o) for o in event), Fraction(0)) for law in (left, right))
            with ctx.workprec(FINER):
                try:
                    most = subject.thing.largest_probability(ball(q), bound.enclose(FINER))
                except NoFormulaError as fault:
                    raise NotApplicable(str(fault)) from fault
                beyond = bool(ball(p) > most)
            require(not beyond, f"P(S) = {p} where Q(S) = {q}, above {most} that {bound} allows, for P = {left}, Q = {right}")


@check(OUTPUT_DIVERGENCES)
def check_worst_pairs_cover_what_the_budget_allows(subject: ValueSubject, context: Context) -> None:
    """`worst_pairs(b)`: no pair within b, in both orders, has a larger delta at any epsilon. Accounts are counted by them."""
    stated = False
    for left, right in (BETWEEN[:2], *random_pairs(context, "worst")):
        bound = max(_value(subject, left, right).upper, _value(subject, right, left).upper)
        try:
            worst = None if bound.is_infinite else subject.thing.worst_pairs(bound)
        except NoFormulaError:  # the budget is too large for it
            continue
        if worst is None:
            continue
        stated = True
        for epsilon in ("0", "1/2", "ln(3)"):
            found, most = (pair.hockey_stick(epsilon) for pair in (left.against(right), worst[1]))
            text = f"at epsilon = {epsilon} delta is {found}, above {most} of the worst pair at {bound}"
            require(not found.lower > most.upper, f"{text}, for P = {left}, Q = {right}")
    if not stated:
        raise NotApplicable("no worst pair is stated")


@check(OUTPUT_DIVERGENCES)
def check_composition_covers_the_joint_law(subject: ValueSubject, context: Context) -> None:
    """`composed` of two budgets bounds d_Pr of the product laws, when it says anything. Ledgers add budgets by it."""
    divergence: OutputDivergence = subject.thing
    first = divergence.budget_parameters[0]
    pairs = list(random_pairs(context, "composed"))[1:]
    for one, two in itertools.pairwise(pairs):
        spent = [(divergence, divergence.budget_for(first, divergence.between(*pair).upper)) for pair in (one, two)]
        found = divergence.composed(spent)
        if found is None:
            return
        allowed = found.divergence.lipschitz(found.divergence.budget_parameters[0], found.value)
        left, right = (FiniteLaw.product([one[side], two[side]]) for side in (0, 1))
        reached = found.divergence.between(left, right)
        message = f"{one} and {two} spend {spent[0][1]} and {spent[1][1]}; together {reached}, above {allowed}"
        require(not exceeds(reached.lower, allowed), message)
