"""Checks of dataset spaces: on every dataset of a small one."""

from __future__ import annotations

from collections import Counter

from dpspec.blocks.households import MEMBERS
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace
from dpspec.errors import DpspecError
from dpspec.testing.check import Context, NotApplicable, ValueSubject, check, require

KIND = "spaces"
MOST = 60
"""Larger spaces are not walked."""


def _datasets(space: DatasetSpace) -> list[Dataset]:
    size = space.cardinality()
    if size is None or size > MOST:
        raise NotApplicable(f"it has more than {MOST} datasets")
    return list(space.datasets())


@check(KIND)
def check_every_dataset_is_listed_once(subject: ValueSubject, context: Context) -> None:
    """`datasets` lists each element of X once, smallest first, and `cardinality` says how many.

    Verdicts on all pairs rest on it.
    """
    found = _datasets(subject.thing)
    require(len(set(found)) == len(found), f"a dataset is listed twice among {found}")
    size = subject.thing.cardinality()
    require(len(found) == size, f"{len(found)} datasets are listed, and cardinality is {size}")
    sizes = [subject.thing.magnitude(x) for x in found]
    require(sizes == sorted(sizes), f"the magnitudes {sizes} do not rise, so that a witness need not be the smallest")


@check(KIND)
def check_a_dataset_is_its_own_canonical_form(subject: ValueSubject, context: Context) -> None:
    """`dataset(x)` = x for every listed x. Laws, labels and distances are remembered by the canonical form."""
    for x in _datasets(subject.thing):
        found = subject.thing.dataset(x)
        require(found == x, f"dataset({x}) = {found}")


@check(KIND)
def check_records_fit_their_attributes(subject: ValueSubject, context: Context) -> None:
    """`records` gives, for every unit, values that `attributes_of` the unit knows. Counts and marginals are made of them.

    A unit that is described by no attributes may have any records.
    """
    space = subject.thing
    for unit in space.units:
        attributes = space.attributes_of(unit)
        for x in _datasets(space):
            for record in space.records(x, unit) if attributes else ():
                require(len(record) == len(attributes), f"a {unit} record of {x} is {record}, for {len(attributes)} attributes")
                for attribute, value in zip(attributes, record, strict=True):
                    known = attribute.name == MEMBERS or _knows(attribute, value)
                    require(known, f"a {unit} record of {x} has the {attribute.name} {value!r}, which its attribute has not")


def _knows(attribute: Attribute, value: str) -> bool:
    try:
        attribute.index(value)
    except DpspecError:
        return False
    return True


@check(KIND)
def check_sizes_are_fixed_where_that_is_said(subject: ValueSubject, context: Context) -> None:
    """`fixes_size(unit)`: all datasets have equally many records of the unit. Distances are halved on the strength of it."""
    space = subject.thing
    for unit in space.units:
        if space.fixes_size(unit):
            sizes = {len(space.records(x, unit)) for x in _datasets(space)}
            require(len(sizes) == 1, f"it is said to fix the number of {unit} records, and there are {sorted(sizes)}")


@check(KIND)
def check_records_tell_datasets_apart_where_that_is_said(subject: ValueSubject, context: Context) -> None:
    """`is_told_by(unit)`: the records determine the dataset. Else a positive least distance is claimed where 0 occurs."""
    space = subject.thing
    for unit in space.units:
        seen: dict[object, Dataset] = {}
        for x in _datasets(space) if space.is_told_by(unit) else ():
            records = space.records(x, unit)
            key = tuple(records) if space.is_ordered else frozenset(Counter(records).items())
            twin = seen.setdefault(key, x)
            require(twin == x, f"{twin} and {x} have the same {unit} records, which are said to tell them apart")


@check(KIND)
def check_a_larger_unit_changes_no_more_than_is_said(subject: ValueSubject, context: Context) -> None:
    """`most_changed(unit, per)` = m: |x (-) x'| in `unit` is at most m |x (-) x'| in `per`. Budgets are carried over by it."""
    space = subject.thing
    found = _datasets(space)
    counted = {unit: {x: Counter(space.records(x, unit)) for x in found} for unit in space.units}
    for unit in space.units:
        for per in space.units:
            most = space.most_changed(unit, per)
            for x in found if most is not None else ():
                for y in found:
                    inner, outer = (_moved(counted[each][x], counted[each][y]) for each in (unit, per))
                    told = f"{x} and {y} differ in {inner} {unit} records and {outer} of {per}, and most_changed is {most}"
                    require(inner <= most * outer, told)


def _moved(one: Counter[object], other: Counter[object]) -> int:
    return ((one - other) + (other - one)).total()


@check(KIND)
def check_coordinates_determine_the_dataset(subject: ValueSubject, context: Context) -> None:
    """`from_vector(vector(x))` = x, and `fixed_total` is true of `vector`, where there are cells.

    Invariants are solved in them.
    """
    space = subject.thing
    if space.cells() is None or space.is_sequence:
        raise NotApplicable("datasets are no counts over cells")
    totals = set()
    for x in _datasets(space):
        vector = space.vector(x)
        require(len(vector) == len(space.cells()), f"vector({x}) = {vector}, for {len(space.cells())} cells")
        require(space.from_vector(vector) == x, f"from_vector(vector({x})) = {space.from_vector(vector)}")
        totals.add(sum(vector))
    require(not space.fixed_total() or len(totals) == 1, f"fixed_total, and the totals are {sorted(totals)}")


@check(KIND)
def check_words_say_which_dataset_it_is(subject: ValueSubject, context: Context) -> None:
    """`in_words(x, x)` differs for different datasets. A witness whose shared values are left out is told of other datasets."""
    told: dict[str, Dataset] = {}
    for x in _datasets(subject.thing):
        for text in set(subject.thing.in_words(x, x)):
            twin = told.setdefault(text, x)
            require(twin == x, f"{twin} and {x} are both told as {text!r}")


@check(KIND)
def check_included_spaces_are_parts(subject: ValueSubject, context: Context) -> None:
    """`includes(other)`:

    every dataset of the other space is one of this, with the same records. Promises are restricted by it.
    """
    space = subject.thing
    own = set(_datasets(space))
    for other in context.values(KIND):
        if space.includes(other) is None or (other.cardinality() or MOST + 1) > MOST:
            continue
        for x in other.datasets():
            require(x in own, f"it is said to include {other}, whose dataset {x} it has not")
            for unit in other.units:
                require(space.records(x, unit) == other.records(x, unit), f"{x} has other {unit} records in {other}")
