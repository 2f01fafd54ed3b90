"""Checks of spaces, multiverses, relations, budgets, invariants and input divergences, on all datasets of small spaces."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from dpspec.base.errors import DpspecError
from dpspec.base.exact import Number, number
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.multiverse import Universe
from dpspec.blocks.parts import ListedCells
from dpspec.blocks.space import MEMBERS, Dataset, DatasetSpace
from dpspec.grammar.declarations import fault_in_steps, fault_in_unit_price
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
from dpspec.testing.checks.parts import MOST, SPACES, listed_datasets


@check(SPACES)
def check_every_dataset_is_listed_once(subject: ValueSubject, context: Context) -> None:
    """`datasets` lists each element of X once, smallest first, whenever it is called, and `cardinality` says how many.

    Verdicts on all pairs rest on it.
    """
    found, again = (listed_datasets(subject.thing) for _ in range(2))
    require(set(found) == set(again), f"{found} are listed at first, and then {again}")
    require(len(set(found)) == len(found), f"a dataset is listed twice among {found}")
    size = subject.thing.cardinality()
    require(type(size) is int and len(found) == size, f"{len(found)} datasets are listed, and cardinality is {size!r}")
    sizes = [subject.thing.magnitude(x) for x in found]
    require(sizes == sorted(sizes), f"the magnitudes {sizes} do not rise, so that a witness need not be the smallest")


@check(SPACES)
def check_a_dataset_is_its_own_canonical_form(subject: ValueSubject, context: Context) -> None:
    """`dataset(x)` = x for every listed x. Laws, labels and distances are remembered by the canonical form."""
    for x in listed_datasets(subject.thing):
        found = subject.thing.dataset(x)
        require(found == x, f"dataset({x}) = {found}")


@check(SPACES)
def check_records_fit_their_attributes(subject: ValueSubject, context: Context) -> None:
    """`records` gives, for every unit, values that `attributes_of` the unit knows. Counts and marginals are made of them.

    A unit that is described by no attributes may have any records.
    """
    space = subject.thing
    for unit in space.units:
        attributes = space.attributes_of(unit)
        for x in listed_datasets(space):
            for record in space.records(x, unit) if attributes else ():
                require(len(record) == len(attributes), f"a {unit} record of {x} is {record}, for {len(attributes)} attributes")
                for attribute, value in zip(attributes, record, strict=True):
                    try:
                        if attribute.name != MEMBERS:
                            attribute.index(value)
                    except DpspecError:
                        require(False, f"a {unit} record of {x} has the {attribute.name} {value!r}, which its attribute has not")


@check(SPACES)
def check_sizes_are_fixed_where_that_is_said(subject: ValueSubject, context: Context) -> None:
    """`fixes_size(unit)`: all datasets have equally many records of the unit. Distances are halved on the strength of it."""
    space = subject.thing
    for unit in space.units:
        if space.fixes_size(unit):
            sizes = {len(space.records(x, unit)) for x in listed_datasets(space)}
            require(len(sizes) == 1, f"it is said to fix the number of {unit} records, and there are {sorted(sizes)}")


@check(SPACES)
def check_records_tell_datasets_apart_where_that_is_said(subject: ValueSubject, context: Context) -> None:
    """`is_told_by(unit)`: the records determine the dataset. Else a positive least distance is claimed where 0 occurs."""
    space = subject.thing
    for unit in space.units:
        seen: dict[object, Dataset] = {}
        for x in listed_datasets(space) if space.is_told_by(unit) else ():
            records = space.records(x, unit)
            key = tuple(records) if space.is_ordered else frozenset(Counter(records).items())
            twin = seen.setdefault(key, x)
            require(twin == x, f"{twin} and {x} have the same {unit} records, which are said to distinguish them")


@check(SPACES)
def check_included_spaces_are_parts(subject: ValueSubject, context: Context) -> None:
    """`includes(other)`:

    every dataset of the other space is one of this, with the same records. Promises are restricted by it.
    """
    space = subject.thing
    own = set(listed_datasets(space))
    for other in context.values(SPACES):
        if space.includes(other) is None or (other.cardinality() or MOST + 1) > MOST:
            continue
        for x in other.datasets():
            require(x in own, f"it is said to include {other}, whose dataset {x} it has not")
            for unit in other.units:
                require(space.records(x, unit) == other.records(x, unit), f"{x} has other {unit} records in {other}")


# --- multiverses ----------------------------------------------------------------------------------


MULTIVERSES, RELATION, BUDGET = "multiverses", "relations", "budgets"
LOOKED_AT = 10
"""The number of datasets whose pairs are checked for a common universe."""


@check(MULTIVERSES)
def check_universes_hold_the_datasets_of_their_label(subject: PlacedSubject, context: Context) -> None:
    """`universes` and `labels` say the same:

    D holds x exactly when the label of D is among those of x, and no label comes twice. Labels are a tuple, and the same in each
    call.
    """
    for x in subject.datasets:
        first, second = (subject.thing.labels(x, subject.space) for _ in range(2))
        require(isinstance(first, tuple), f"the labels of {x} are {first!r}, which is no tuple")
        require(first == second, f"the labels of {x} were {first!r}, then {second!r}")
        require(len(set(first)) == len(first), f"the labels of {x} are {first!r}, one of them twice")
    listed: dict[Hashable, tuple[Dataset, ...]] = {}
    for universe in subject.thing.universes(subject.space):
        require(universe.label not in listed, f"two universes have the label {universe.label}")
        require(len(set(universe.datasets)) == len(universe.datasets), f"{universe.label} holds a dataset twice")
        listed[universe.label] = universe.datasets
    held: dict[Hashable, set[Dataset]] = {}
    for x in subject.datasets:
        for label in subject.thing.labels(x, subject.space):
            held.setdefault(label, set()).add(x)
    for label in listed.keys() | held.keys():
        by_list, by_label = set(listed.get(label, ())), held.get(label, set())
        require(by_list == by_label, f"the universe {label} holds {by_list}, by their labels {by_label}")


@check(MULTIVERSES)
def check_sharing_a_universe_is_having_a_label_in_common(subject: PlacedSubject, context: Context) -> None:
    """`share_universe(x, x')` is true exactly when x and x' have a label in common. Pairs are compared, or not, by it."""
    labels = {x: set(subject.thing.labels(x, subject.space)) for x in subject.datasets[:LOOKED_AT]}
    for x, y in itertools.product(labels, repeat=2):
        shared, found = bool(labels[x] & labels[y]), bool(subject.thing.share_universe(x, y, subject.space))
        require(shared == found, f"share_universe({x}, {y}) = {found}, and the labels are {labels[x]} and {labels[y]}")


@check(MULTIVERSES)
def check_invariants_induce_the_universes(subject: PlacedSubject, context: Context) -> None:
    """Where `invariants` are stated, the universes are their level sets and partition X.

    Rules look at the invariants alone.
    """
    invariants = subject.thing.invariants
    if invariants is None:
        raise NotApplicable("no invariants are stated")
    for x in subject.datasets:
        count = len(subject.thing.labels(x, subject.space))
        require(count == 1, f"{x} lies in {count} universes")
    for x, y in subject.pairs():
        agree = all(c.value(x, subject.space) == c.value(y, subject.space) for c in invariants)
        shared = subject.thing.share_universe(x, y, subject.space)
        require(agree == shared, f"{x} and {y} " + ("agree" if agree else "differ") + f" in the invariants; shared: {shared}")


# --- relations -----------------------------------------------------------------------------------


@check(RELATION)
def check_a_relation_answers_yes_or_no(subject: PlacedSubject, context: Context) -> None:
    """`related` is True or False, and the same in each call. Any text, such as "no", would be taken for a yes."""
    for x, y in subject.pairs():
        first, second = (subject.thing.related(x, y, subject.space) for _ in range(2)) if x != y else (True, True)
        require(type(first) is bool, f"related({x}, {y}) = {first!r}, which is neither True nor False")
        require(first is second, f"related({x}, {y}) was {first}, then {second}")


@check(RELATION, when="is_symmetric")
def check_relation_is_symmetric(subject: PlacedSubject, context: Context) -> None:
    """x related to x' means x' related to x when `is_symmetric` is declared. Engines then ask in one order only."""
    for x, y in subject.pairs():
        if x != y:
            there, back = (subject.thing.related(*pair, subject.space) for pair in ((x, y), (y, x)))
            require(there == back, f"related({x}, {y}) = {there}, and {back} the other way; declare is_symmetric = False")


@check(RELATION)
def check_a_relation_lies_within_another_as_stated(subject: PlacedSubject, context: Context) -> None:
    """`within(other)`: every related pair is related by the other relation, too. Promises for neighbours follow by it."""
    for other in context.placed(RELATION, subject.space):
        reason = subject.thing.within(other)
        for x, y in subject.pairs() if reason is not None else ():
            related = x != y and subject.thing.related(x, y, subject.space)
            require(not related or other.related(x, y, subject.space), f"{x} and {y} are not related by {other}: {reason}")


# --- budgets -------------------------------------------------------------------------------------


def _universes(context: Context) -> Iterator[tuple[Universe, DatasetSpace]]:
    """A few universes of every multiverse on small spaces."""
    for space in small_spaces()[:4]:
        for multiverse in context.placed(MULTIVERSES, space)[:12]:
            for universe in itertools.islice(multiverse.universes(space), 2):
                yield universe, space


def _at(budget: object, universe: Universe, space: DatasetSpace) -> Number | None:
    try:
        return budget.at(universe, space)  # type: ignore[attr-defined, no-any-return]
    except DpspecError:  # a table without a number for it
        return None


@check(BUDGET)
def check_budgets_are_nonnegative_numbers(subject: ValueSubject, context: Context) -> None:
    """`at` gives a nonnegative `Number` for every universe, the same in each call, or refuses it.

    A verdict multiplies it with distances.
    """
    for universe, space in _universes(context):
        found, again = (_at(subject.thing, universe, space) for _ in range(2))
        require(found == again, f"the budget of {universe.label} was {found}, then {again}")
        require(found is None or (isinstance(found, Number) and found >= 0), f"the budget of {universe.label} is {found!r}")


@check(BUDGET)
def check_a_uniform_budget_is_that_of_every_universe(subject: ValueSubject, context: Context) -> None:
    """`uniform` and `by_label` agree with `at`: what rules read off the budget is what the engine compares with."""
    one = subject.thing.uniform()
    for universe, space in _universes(context) if one is not None else ():
        found = _at(subject.thing, universe, space)
        require(found == one, f"uniform says {one}, and the budget of {universe.label} is {found}")
    for label, value in subject.thing.by_label() or ():
        for _, space in itertools.islice(_universes(context), 1):
            found = _at(subject.thing, Universe(label=label, datasets=()), space)
            require(found == value, f"by_label says {value} for {label}, and at says {found}")


@check(BUDGET)
def check_bounds_of_a_budget_hold_in_every_universe(subject: ValueSubject, context: Context) -> None:
    """`least` is at most `at`, and the upper end of `bounds` at least that. Proofs for all universes compare with `least`."""
    least, most = subject.thing.least(), (subject.thing.bounds() or (None, None))[1]
    for universe, space in _universes(context):
        found = _at(subject.thing, universe, space)
        if found is not None:
            require(least is None or least <= found, f"least says {least}, and the budget of {universe.label} is {found}")
            require(most is None or found <= most, f"bounds say at most {most}, and the budget of {universe.label} is {found}")


@check(BUDGET)
def check_a_budget_is_the_same_in_parts_where_that_is_said(subject: ValueSubject, context: Context) -> None:
    """`is_same_in_parts`: `at` is the same for some datasets of a universe. Pairs of large spaces are compared with it."""
    for space in small_spaces()[:4]:
        for multiverse in context.placed(MULTIVERSES, space)[:12]:
            if not subject.thing.is_same_in_parts(multiverse, space):
                continue
            for universe in itertools.islice(multiverse.universes(space), 2):
                whole = _at(subject.thing, universe, space)
                for x in universe.datasets[:LOOKED_AT]:
                    part = _at(subject.thing, Universe(label=universe.label, datasets=(x,), is_whole=False), space)
                    require(part == whole, f"the budget of {universe.label} is {whole}, and {part} for its dataset {x} alone")


@check(BUDGET)
def check_a_budget_lies_within_another_as_stated(subject: ValueSubject, context: Context) -> None:
    """`within(other)`: this budget is at most the other one in every universe. Implications rest on it."""
    for other in context.values(BUDGET):
        reason = subject.thing.within(other)
        for universe, space in _universes(context) if reason is not None else ():
            ours, theirs = _at(subject.thing, universe, space), _at(other, universe, space)
            if ours is not None and theirs is not None:
                require(not exceeds(ours, theirs), f"{ours} in {universe.label}, above {theirs} of {other}: {reason}")


# --- invariants -----------------------------------------------------------------------------------


INVARIANTS = "invariants"


@check(INVARIANTS)
def check_value_is_the_same_every_time(subject: PlacedSubject, context: Context) -> None:
    """c(x) is a function of the dataset, and hashable. Otherwise the universes change while they are walked."""
    for x in subject.datasets:
        first, second = subject.thing.value(x, subject.space), subject.thing.value(x, subject.space)
        require(first == second, f"c({x}) was {first!r}, then {second!r}")
        try:
            hash(first)
        except TypeError:
            require(False, f"c({x}) = {first!r} is not hashable")


@check(INVARIANTS)
def check_level_sets_partition_the_space(subject: PlacedSubject, context: Context) -> None:
    """Equality of values is an equivalence, so that every dataset lies in exactly one level set."""
    values = [subject.thing.value(x, subject.space) for x in subject.datasets]
    for value in values:
        members = [other for other in values if other == value]
        alike = all(one == two for one in members for two in members)
        require(alike, f"{value!r} equals two values that differ from each other: {members!r}")


@check(INVARIANTS)
def check_implication_holds_on_every_dataset(subject: PlacedSubject, context: Context) -> None:
    """`implies(other)`: c(x) = c(x') gives other(x) = other(x') on the space. The order of multiverses rests on it."""
    for other in context.placed(INVARIANTS, subject.space):
        reason = subject.thing.implies(other, subject.space)
        if reason is not None:
            pair = _counterexample(subject, lambda x, other=other: other.value(x, subject.space))  # type: ignore[misc]
            require(pair is None, f"{pair} agree, and differ in {other}, in spite of: {reason}")


@check(INVARIANTS)
def check_matrix_carries_the_same_information(subject: PlacedSubject, context: Context) -> None:
    """`matrix`: its products with the dataset's vector and c determine each other. Linear algebra decides for c by it."""
    rows = subject.thing.matrix(subject.space)
    if rows is None:
        raise NotApplicable("it has no matrix")
    vectors = {x: ListedCells.needed_in(subject.space).vector(x) for x in subject.datasets}
    products = {x: tuple(sum(a * v for a, v in zip(row, vector, strict=True)) for row in rows) for x, vector in vectors.items()}
    pair = _counterexample(subject, products.__getitem__)
    require(pair is None, f"{pair} agree, and differ under the matrix {rows}")
    seen: dict[Any, Dataset] = {}
    for x in subject.datasets:
        twin = seen.setdefault(products[x], x)
        same = subject.thing.value(x, subject.space) == subject.thing.value(twin, subject.space)
        require(same, f"{twin} and {x} agree under the matrix {rows}, and differ themselves")


@check(INVARIANTS)
def check_table_carries_the_same_information(subject: PlacedSubject, context: Context) -> None:
    """`as_marginal`: the table of counts and c determine each other. Proofs count the changes of records that keep the table."""
    table = subject.thing.as_marginal()
    if table is None:
        raise NotApplicable("it says to be no table of counts")
    seen: dict[Hashable, Dataset] = {}
    pair = _counterexample(subject, lambda x: table.value(x, subject.space))
    require(pair is None, f"{pair} agree, and differ in the table {table}")
    for x in subject.datasets:
        twin = seen.setdefault(table.value(x, subject.space), x)
        same = subject.thing.value(x, subject.space) == subject.thing.value(twin, subject.space)
        require(same, f"{twin} and {x} agree in the table {table}, and differ themselves")


@check(INVARIANTS)
def check_answers_are_integers_with_labels(subject: PlacedSubject, context: Context) -> None:
    """`answers`: integers, as many for every dataset as there are `labels`. Noise is added to them entry by entry."""
    try:
        labels = subject.thing.labels(subject.space)
    except DpspecError as refusal:
        raise NotApplicable(str(refusal)) from refusal
    for x in subject.datasets:
        answers = subject.thing.answers(x, subject.space)
        require(len(answers) == len(labels), f"{len(answers)} answers for {x}, {len(labels)} labels")
        require(all(type(answer) is int for answer in answers), f"answers {answers!r} for {x} are not all integers")


def _counterexample(subject: PlacedSubject, coarse: Callable[[Dataset], Hashable]) -> tuple[Dataset, Dataset] | None:
    """Two datasets with equal values of the invariant on which the function differs."""
    seen: dict[Hashable, Dataset] = {}
    for x in subject.datasets:
        twin = seen.setdefault(subject.thing.value(x, subject.space), x)
        if coarse(twin) != coarse(x):
            return twin, x
    return None


# --- input divergences ----------------------------------------------------------------------------


INPUT_DIVERGENCES = "input_divergences"


@check(INPUT_DIVERGENCES)
def check_distance_to_itself_is_zero(subject: PlacedSubject, context: Context) -> None:
    """d_X(x, x) = 0 for every dataset x. Otherwise a claim would allow one dataset two different laws."""
    for x in subject.datasets:
        found = subject.thing.distance(x, x, subject.space)
        require(found == 0, f"d({x}, {x}) = {found}")


@check(INPUT_DIVERGENCES)
def check_distance_is_a_nonnegative_number(subject: PlacedSubject, context: Context) -> None:
    """d_X is an exact `Number`, at least 0, the same in each call; infinity is allowed. A negative distance makes every budget
    negative."""
    for x, y in subject.pairs():
        found, again = (subject.thing.distance(x, y, subject.space) for _ in range(2))
        require(isinstance(found, Number), f"d({x}, {y}) = {found!r} is no Number")
        require(found >= 0, f"d({x}, {y}) = {found} is negative")
        require(found == again, f"d({x}, {y}) was {found}, then {again}")


@check(INPUT_DIVERGENCES, when="is_symmetric")
def check_distance_is_symmetric(subject: PlacedSubject, context: Context) -> None:
    """d_X(x, x') = d_X(x', x) when `is_symmetric` is declared. Engines then look at one of the two orders only."""
    for x, y in subject.pairs():
        there, back = subject.thing.distance(x, y, subject.space), subject.thing.distance(y, x, subject.space)
        require(there == back, f"d({x}, {y}) = {there}, but d({y}, {x}) = {back}; declare is_symmetric = False")


@check(INPUT_DIVERGENCES, when="is_metric")
def check_distance_obeys_the_triangle_inequality(subject: PlacedSubject, context: Context) -> None:
    """d_X(x, z) <= d_X(x, y) + d_X(y, z) when `is_metric` is declared. Bounds along paths rest on it."""
    table = {(x, y): subject.thing.distance(x, y, subject.space) for x, y in subject.pairs()}
    for (x, z), far in table.items():
        for y in subject.compared:
            detour = (table[x, y], table[y, z])
            require(not exceeds(far, *detour), f"d({x}, {z}) = {far}, above {detour[0]} + {detour[1]} by way of {y}")


@check(INPUT_DIVERGENCES)
def check_least_distance_is_a_lower_bound(subject: PlacedSubject, context: Context) -> None:
    """`least_distance` m: 0 < m <= d_X(x, x') for all different datasets. Comparison divides by it."""
    least = subject.thing.least_distance(subject.space)
    if least is None:
        return
    require(least > 0, f"least_distance = {least} is not positive")
    for x, y in subject.pairs():
        found = subject.thing.distance(x, y, subject.space)
        require(x == y or not exceeds(least, found), f"d({x}, {y}) = {found} is below least_distance = {least}")


@check(INPUT_DIVERGENCES)
def check_changes_cost_at_most_the_distance(subject: PlacedSubject, context: Context) -> None:
    """`record_steps`: the records in which two datasets differ have a price of at most d_X(x, x'). Proofs count these changes."""
    steps = subject.thing.record_steps(subject.space)
    if steps is None:
        return
    for x, y in subject.pairs():
        found = subject.thing.distance(x, y, subject.space)
        if found.is_infinite:
            continue
        ours, theirs = (Counter(subject.space.records(each, steps.unit)) for each in (x, y))
        price = steps.price((ours - theirs).total(), (theirs - ours).total())
        require(price is not None, f"d({x}, {y}) = {found}, and `added` is None")
        most = found if steps.within is None else number(steps.within)
        require(price is None or not exceeds(number(price), most), f"d({x}, {y}) = {found}, and the changes cost {price}")


@check(INPUT_DIVERGENCES, when="is_integral")
def check_integral_distances_are_whole_numbers(subject: PlacedSubject, context: Context) -> None:
    """Every finite d_X(x, x') is a whole number when `is_integral` is declared. Comparison counts changes in steps of 1."""
    for x, y in subject.pairs():
        found = subject.thing.distance(x, y, subject.space)
        whole = found.is_infinite or (found.is_rational and found.as_fraction().denominator == 1)
        require(whole, f"d({x}, {y}) = {found} is no whole number")


@check(INPUT_DIVERGENCES, when="is_neighbour_form")
def check_neighbours_are_at_distance_one(subject: PlacedSubject, context: Context) -> None:
    """d_X is 1 or infinite between different datasets when `is_neighbour_form` is declared. Conversions apply to it alone."""
    for x, y in subject.pairs():
        found = subject.thing.distance(x, y, subject.space)
        require(x == y or found.is_infinite or found == 1, f"d({x}, {y}) = {found}, which is neither 1 nor infinite")


@check(INPUT_DIVERGENCES)
def check_datasets_of_a_universe_are_as_far_apart_as_stated(subject: PlacedSubject, context: Context) -> None:
    """`apart_inside` m: d_X(x, x') is 0 or at least m where x and x' share a universe. Conversions start at distance m."""
    for multiverse in context.placed(MULTIVERSES, subject.space):
        least = subject.thing.apart_inside(multiverse, subject.space)
        for x, y in subject.pairs() if least > 1 else ():
            found = subject.thing.distance(x, y, subject.space)
            near = 0 < found < least and multiverse.share_universe(x, y, subject.space)
            require(not near, f"d({x}, {y}) = {found} in a universe of {multiverse}, where {least} is stated")


@check(INPUT_DIVERGENCES)
def check_lists_of_numbers_differ_by_the_steps_that_are_stated(subject: PlacedSubject, context: Context) -> None:
    """`number_steps`: x' - x is a sum of at most d_X(x, x') of them, and is among `numbers_within`. Code is proved for each."""
    fault = fault_in_steps(subject.thing, subject.space)
    require(fault is None, str(fault))


@check(INPUT_DIVERGENCES)
def check_distance_is_bounded_as_stated(subject: PlacedSubject, context: Context) -> None:
    """`bounded_by(other)` = c: d_X <= c other on all pairs; `bounds(other)`: other <= c d_X. Implications rest on it."""
    for other in context.placed(INPUT_DIVERGENCES, subject.space):
        _require_bound(subject, subject.thing, other, subject.thing.bounded_by(other, subject.space))
        _require_bound(subject, other, subject.thing, subject.thing.bounds(other, subject.space))


def _require_bound(
    subject: PlacedSubject, smaller: InputDivergence, larger: InputDivergence, stated: tuple[Number, str] | None
) -> None:
    if stated is None:
        return
    factor, reason = stated
    for x, y in subject.pairs():
        less, more = smaller.distance(x, y, subject.space), larger.distance(x, y, subject.space)
        require(
            not exceeds_times(less, factor, more),
            f"d({x}, {y}) = {less} of {smaller}, above {factor} x {more} of {larger}, in spite of: {reason}",
        )


@check(INPUT_DIVERGENCES)
def check_counted_unit_moves_no_faster_than_the_distance(subject: PlacedSubject, context: Context) -> None:
    """`counted_unit` u: |q(x) - q(x')| <= d_X(x, x') for every count q of the records of u. Tests of one record rest on it."""
    unit = subject.thing.counted_unit()
    if unit is None:
        return
    for x, y in subject.pairs():
        moved = _largest_move(x, y, unit, subject.space)
        found = subject.thing.distance(x, y, subject.space)
        require(moved is None or not found < moved, f"d({x}, {y}) = {found}, but some count of {unit} records moves by {moved}")


@check(INPUT_DIVERGENCES)
def check_one_change_has_the_price_that_is_stated(subject: PlacedSubject, context: Context) -> None:
    """`unit_price` c: d_X(x, x') <= c for one record of `counted_unit` changed. Promises for longer units rest on it."""
    fault = fault_in_unit_price(subject.thing, subject.pairs(), subject.space)
    require(fault is None, str(fault))


def _largest_move(x: Dataset, y: Dataset, unit: str, space: DatasetSpace) -> int | None:
    """The largest |q(x) - q(x')| over all properties of records: all that rise, or all that fall."""
    try:
        before, after = Counter(space.records(x, unit)), Counter(space.records(y, unit))
    except DpspecError:
        return None
    return max((after - before).total(), (before - after).total())
