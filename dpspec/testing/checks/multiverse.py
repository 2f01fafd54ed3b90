"""Checks of multiverses, neighbour relations and budgets: on every dataset of small spaces."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator

from dpspec.blocks.multiverse import Universe
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import DpspecError
from dpspec.exact import Number
from dpspec.testing.check import Context, NotApplicable, PlacedSubject, ValueSubject, check, exceeds, require
from dpspec.testing.subjects import small_spaces

KIND, RELATION, BUDGET = "multiverses", "relations", "budgets"
LOOKED_AT = 10
"""Pairs of so many datasets are asked whether they share a universe."""


@check(KIND)
def check_universes_hold_the_datasets_of_their_label(subject: PlacedSubject, context: Context) -> None:
    """`universes` and `labels` say the same:

    D holds x exactly when the label of D is among those of x, and no label comes twice.
    """
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


@check(KIND)
def check_sharing_a_universe_is_having_a_label_in_common(subject: PlacedSubject, context: Context) -> None:
    """`share_universe(x, x')` is true exactly when x and x' have a label in common. Pairs are compared, or not, by it."""
    labels = {x: set(subject.thing.labels(x, subject.space)) for x in subject.datasets[:LOOKED_AT]}
    for x, y in itertools.product(labels, repeat=2):
        shared, found = bool(labels[x] & labels[y]), subject.thing.share_universe(x, y, subject.space)
        require(shared == found, f"share_universe({x}, {y}) = {found}, and the labels are {labels[x]} and {labels[y]}")


@check(KIND)
def check_invariants_induce_the_universes(subject: PlacedSubject, context: Context) -> None:
    """Where `invariants` are stated, the universes are their level sets and partition X (B-D7).

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


@check(RELATION, when="is_symmetric")
def check_relation_is_symmetric(subject: PlacedSubject, context: Context) -> None:
    """x related to x' means x' related to x when `is_symmetric` is declared. Engines then ask in one order only (B-D9)."""
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
        for multiverse in context.placed(KIND, space)[:12]:
            for universe in itertools.islice(multiverse.universes(space), 2):
                yield universe, space


def _at(budget: object, universe: Universe, space: DatasetSpace) -> Number | None:
    try:
        return budget.at(universe, space)  # type: ignore[attr-defined, no-any-return]
    except DpspecError:  # a table without a number for it
        return None


@check(BUDGET)
def check_budgets_are_nonnegative_numbers(subject: ValueSubject, context: Context) -> None:
    """`at` gives a nonnegative `Number` for every universe, or refuses it. A verdict multiplies it with distances (B-D4)."""
    for universe, space in _universes(context):
        found = _at(subject.thing, universe, space)
        require(found is None or (isinstance(found, Number) and found >= 0), f"the budget of {universe.label} is {found!r}")


@check(BUDGET)
def check_a_uniform_budget_is_that_of_every_universe(subject: ValueSubject, context: Context) -> None:
    """`uniform` and `by_label` agree with `at`: what rules read off the budget is what the engine compares with (B-S13)."""
    one = subject.thing.uniform()
    for universe, space in _universes(context) if one is not None else ():
        found = _at(subject.thing, universe, space)
        require(found == one, f"uniform says {one}, and the budget of {universe.label} is {found}")
    for label, value in subject.thing.by_label() or ():
        for _, space in itertools.islice(_universes(context), 1):
            found = _at(subject.thing, Universe(label=label, datasets=()), space)
            require(found == value, f"by_label says {value} for {label}, and at says {found}")


@check(BUDGET)
def check_a_budget_lies_within_another_as_stated(subject: ValueSubject, context: Context) -> None:
    """`within(other)`: this budget is at most the other one in every universe. Implications rest on it (B-D4, B-S13)."""
    for other in context.values(BUDGET):
        reason = subject.thing.within(other)
        for universe, space in _universes(context) if reason is not None else ():
            ours, theirs = _at(subject.thing, universe, space), _at(other, universe, space)
            if ours is not None and theirs is not None:
                require(not exceeds(ours, theirs), f"{ours} in {universe.label}, above {theirs} of {other}: {reason}")
