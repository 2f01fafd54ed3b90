"""Checks of the optional parts of dataset spaces (`dpspec.blocks.parts`), each for the spaces that have the part."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import TypeVar

from dpspec.base.errors import DpspecError, IncompatibleBlocksError, NotInSpaceError
from dpspec.blocks.parts import (
    CellCounts,
    CellRecords,
    Collections,
    ListedCells,
    Membership,
    Miniatures,
    Nesting,
    Palette,
    SimplerNames,
    Sizes,
    SpacePart,
    Tabular,
    Trials,
    counting_cells,
    few_cells,
    nesting_of,
    order_tried,
    own_attributes,
    wording_of,
)
from dpspec.blocks.space import Dataset, DatasetSpace, Record
from dpspec.testing.check import Context, NotApplicable, ValueSubject, check, require

SPACES = "spaces"
MOST = 60
"""Larger spaces are not walked."""
TRIED = 200
"""The number of trial values that are checked."""

Item = TypeVar("Item")
Had = TypeVar("Had", bound=SpacePart)


def listed_datasets(space: DatasetSpace) -> list[Dataset]:
    """All datasets of a small space; none of a larger one."""
    size = space.cardinality()
    if size is None or size > MOST:
        raise NotApplicable(f"it has more than {MOST} datasets")
    return list(space.datasets())


def _had(part: Had | None) -> Had:
    if part is None:
        raise NotApplicable("it has no such part")
    return part


# --- rows -----------------------------------------------------------------------------------------


@check(SPACES)
def check_rows_fill_the_columns(subject: ValueSubject, context: Context) -> None:
    """`Tabular`: columns have different names, every row has a value for each, and rows distinguish datasets where records do.

    Data frames are made of them.
    """
    space = subject.thing
    part = _had(Tabular.found_in(space))
    columns = part.columns()
    require(len(set(columns)) == len(columns) > 0, f"the columns are {columns}")
    seen: dict[str, Dataset] = {}
    for x in listed_datasets(space):
        rows = part.rows(x)
        require(all(len(row) == len(columns) for row in rows), f"the rows of {x} are {rows}, for the columns {columns}")
        other = seen.setdefault(repr(rows), x)
        determined = space.units and space.is_told_by(space.units[0])
        require(not determined or other == x, f"{other} and {x} have the same rows")


# --- cells ----------------------------------------------------------------------------------------


@check(SPACES)
def check_counts_over_cells_give_the_dataset_back(subject: ValueSubject, context: Context) -> None:
    """`CellCounts`: `from_counts(counts(x))` = x, for a sequence `dataset(cells_of(x))` = x, and the ranges hold the counts.

    Pairs inside universes too large to list are made of them.
    """
    space = subject.thing
    cells = _had(counting_cells(space))
    for x in listed_datasets(space):
        counts = cells.counts(x)
        require(Counter(cells.cells_of(x)) == +counts, f"cells_of({x}) = {cells.cells_of(x)}, and counts are {dict(counts)}")
        back = space.dataset(cells.cells_of(x)) if cells.is_sequence else cells.from_counts(counts)
        require(back == x, f"{x} is counted as {dict(counts)}, which is read back as {back}")
        (low, high), (least, most) = cells.cell_range(), cells.total_range()
        fits = all(low <= count and (high is None or count <= high) for count in counts.values())
        require(fits, f"the counts {dict(counts)} of {x} leave cell_range = {(low, high)}")
        fits = least <= counts.total() and (most is None or counts.total() <= most)
        require(fits, f"the counts {dict(counts)} of {x} leave total_range = {(least, most)}")
        held = tuple(counts)
        combined = cells.crossed(held) if held else ()
        require(set(held) <= set(combined), f"crossed({held}) = {combined} leaves cells out")


@check(SPACES)
def check_coordinates_determine_the_dataset(subject: ValueSubject, context: Context) -> None:
    """`ListedCells`: `from_vector(vector(x))` = x, and `fixed_total` is true of `vector`, where there are cells.

    Invariants are solved in them.
    """
    space = subject.thing
    coordinates = _had(ListedCells.found_in(space))
    cells = coordinates.cells()
    if cells is None:
        raise NotApplicable("it has too many cells to list")
    totals = set()
    for x in listed_datasets(space):
        vector = coordinates.vector(x)
        require(len(vector) == len(cells), f"vector({x}) = {vector}, for {len(cells)} cells")
        found = coordinates.from_vector(vector)
        require(found == x, f"from_vector(vector({x})) = {found}")
        totals.add(sum(vector))
    require(not coordinates.fixed_total() or len(totals) == 1, f"fixed_total, and the totals are {sorted(totals)}")


@check(SPACES)
def check_cells_stand_for_the_records_they_add(subject: ValueSubject, context: Context) -> None:
    """`CellRecords`: between any two datasets the records of a unit differ by those that the cells add and replace.

    Marginals become linear maps by it.
    """
    space = subject.thing
    part, cells = _had(CellRecords.found_in(space)), _had(counting_cells(space))
    found = listed_datasets(space)
    for unit in space.units:
        for x, y in itertools.pairwise(found):
            change = Counter(space.records(y, unit))
            change.subtract(space.records(x, unit))
            try:
                stated = _records_added(part, cells, x, y, unit)
            except IncompatibleBlocksError:  # a record of the unit is no sum of cells
                break
            message = f"from {x} to {y} the {unit} records change by {_shown(change)}, and by the cells by {_shown(stated)}"
            require(_shown(change) == _shown(stated), message)


def _records_added(part: CellRecords, cells: CellCounts, x: Dataset, y: Dataset, unit: str) -> Counter[Record]:
    moved = cells.counts(y).copy()
    moved.subtract(cells.counts(x))
    added: Counter[Record] = Counter()
    for cell, times in moved.items():
        for sign, records in ((1, part.records_of_cell(cell, unit)), (-1, part.records_replaced(cell, unit))):
            for record in records:
                added[record] += sign * times
    return added


def _shown(counts: Counter[Record]) -> dict[Record, int]:
    return {record: count for record, count in sorted(counts.items(), key=repr) if count}


@check(SPACES)
def check_any_collection_of_cells_is_a_dataset(subject: ValueSubject, context: Context) -> None:
    """`Collections`: counts that keep to `total_range` make a dataset, and `cell_of` the record of a cell is the cell.

    Records exchange their values by it.
    """
    space = subject.thing
    part, unit = _had(Collections.found_in(space)), space.units[0]
    found = listed_datasets(space)
    cells = list(dict.fromkeys(cell for x in found for cell in part.counts(x)))
    for cell in cells:
        (record,) = part.records_of_cell(cell, unit)
        require(
            part.cell_of(record) == cell, f"the {unit} record {record} of the cell {cell} is said to be {part.cell_of(record)}"
        )
    least, most = part.total_range()
    for size in range(least, min(least + 2, least + 2 if most is None else most) + 1):
        for chosen in itertools.combinations_with_replacement(cells[:4], size):
            try:
                made = part.from_counts(Counter(chosen))
            except NotInSpaceError as refusal:
                made = None
                require(made is not None, f"the cells {chosen} make no dataset: {refusal}")
            require(
                part.counts(made) == Counter(chosen), f"the cells {chosen} make {made}, which counts {dict(part.counts(made))}"
            )


@check(SPACES)
def check_sizes_hold_the_numbers_of_records(subject: ValueSubject, context: Context) -> None:
    """`Sizes`: `sizes` holds the number of records of every dataset, and a dataset is one of the space of its own size, too.

    Mechanisms about some of the records are run on spaces of other sizes, and proofs use the least size.
    """
    space = subject.thing
    part, unit = _had(Sizes.found_in(space)), space.units[0]
    least, most = part.sizes()
    for x in listed_datasets(space):
        size = len(space.records(x, unit))
        require(least <= size and (most is None or size <= most), f"{x} has {size} records, and the sizes are {(least, most)}")
        own = part.of_sizes(size, size)
        if own is None:
            continue
        found = Sizes.found_in(own)
        require(found is not None and found.sizes() == (size, size), f"of_sizes({size}, {size}) has other sizes")
        alike = own.units == space.units and own.is_ordered == space.is_ordered
        kinds = alike and all(own.attributes_of(unit) == space.attributes_of(unit) for unit in space.units)
        require(bool(kinds), f"of_sizes({size}, {size}) has records of other kinds")
        require(own.dataset(x) == space.dataset(x), f"{x} is another dataset of the space of its own size")


class _SeededChoice:
    """Chooses for a palette by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def number(self, least: int, most: int) -> int:
        return self.random.randint(least, most)

    def some(self, items: Sequence[Item], most: int) -> list[Item]:
        return self.random.sample(list(items), self.random.randint(0, min(most, len(items))))

    def places(self, size: int, least: int, most: int, favoured: Sequence[int] = ()) -> list[int]:
        return sorted(self.random.sample(range(size), self.random.randint(least, min(most, size))))

    def bags(self, items: Sequence[Item], longest: int, most: int) -> list[tuple[Item, ...]]:
        made = (self.random.choices(items, k=self.random.randint(0, longest)) for _ in range(self.random.randint(1, most)))
        return sorted({tuple(sorted(bag)) for bag in made})  # type: ignore[type-var]


@check(SPACES)
def check_a_palette_holds_cells(subject: ValueSubject, context: Context) -> None:
    """`Palette`: some cells of the space, at least one and each once, whatever is chosen. Pairs are drawn from them."""
    space = subject.thing
    _had(Palette.found_in(space))
    cells = _had(counting_cells(space))
    known = {cell for x in listed_datasets(space) for cell in cells.counts(x)}
    mentioned = {a.name: frozenset(itertools.islice(a.values(), 1)) for u in space.units for a in own_attributes(space, u)}
    for seed in range(10):
        chosen = few_cells(space, _SeededChoice(seed), mentioned)
        require(bool(chosen) and len(set(chosen)) == len(chosen), f"the palette {chosen} is empty or holds a cell twice")
        require(not known or set(chosen) <= known, f"the palette {chosen} holds what is no cell")


# --- units ----------------------------------------------------------------------------------------


@check(SPACES)
def check_a_larger_unit_changes_no_more_than_is_said(subject: ValueSubject, context: Context) -> None:
    """`most_changed(unit, per)` = m: |x (-) x'| in `unit` is at most m |x (-) x'| in `per`. Budgets are carried over by it."""
    space = subject.thing
    found, nesting = listed_datasets(space), nesting_of(space)
    counted = {unit: {x: Counter(space.records(x, unit)) for x in found} for unit in space.units}
    for unit, per in itertools.product(space.units, repeat=2):
        most = nesting.most_changed(unit, per)
        if most is None:
            continue
        for x, y in itertools.product(found, repeat=2):
            sides = ((counted[each][x], counted[each][y]) for each in (unit, per))
            inner, outer = (((one - other) + (other - one)).total() for one, other in sides)
            message = f"{x} and {y} differ in {inner} {unit} records and {outer} of {per}, and most_changed is {most}"
            require(inner <= most * outer, message)


@check(SPACES)
def check_a_unit_holds_no_more_than_is_said(subject: ValueSubject, context: Context) -> None:
    """`Nesting`: with `most_within(inner, outer)` = m, x has at most m times as many records of `inner` as of `outer`.

    Tables with larger households are refused by it.
    """
    space = subject.thing
    nesting = _had(Nesting.found_in(space))
    for inner, outer in itertools.product(space.units, repeat=2):
        most = nesting.most_within(inner, outer)
        if most is None:
            continue
        for x in listed_datasets(space):
            held, holding = (len(space.records(x, unit)) for unit in (inner, outer))
            message = f"{x} has {held} {inner} records in {holding} of {outer}, and at most {most} each"
            require(held <= most * holding, message)


@check(SPACES)
def check_exchanges_change_one_larger_unit(subject: ValueSubject, context: Context) -> None:
    """`Membership`: `exchanges` are pairs of datasets of the space that differ in one `outer` and `count` `inner` records.

    And `with_most` gives a part of the space. Comparison shows by them how much one household can change.
    """
    space = subject.thing
    part = _had(Membership.found_in(space))
    for inner, outer in itertools.permutations(space.units, 2):
        limited = part.with_most(inner, outer, 1)
        held = 1 if limited is None else nesting_of(limited).most_within(inner, outer)
        require(held is not None and held <= 1, f"with at most 1 {inner} in each {outer}, {limited} holds {held}")
        for count in (1, 2):
            for x, y in part.exchanges(inner, outer, count):
                require((space.dataset(x), space.dataset(y)) == (x, y), f"{x} or {y} is no dataset in its canonical form")
                for unit, times in ((outer, 1), (inner, count)):
                    one, other = (Counter(space.records(each, unit)) for each in (x, y))
                    found = max((one - other).total(), (other - one).total())
                    require(found == times, f"{x} and {y} differ in {found} {unit} records, for {times}")


# --- trial datasets, and datasets in words ---------------------------------------------------------


@check(SPACES)
def check_a_miniature_is_a_part_of_the_space(subject: ValueSubject, context: Context) -> None:
    """`Miniatures`: a finite space, all of whose datasets are datasets of this. Counterexamples are looked for in it."""
    space = subject.thing
    part = _had(Miniatures.found_in(space))
    mentioned = {a.name: frozenset[str]() for unit in space.units for a in own_attributes(space, unit)}
    for records, wanted in itertools.product((1, 2), ({}, mentioned)):
        small = part.miniature(wanted, records)
        if small is None:
            continue
        require(small.cardinality() is not None, f"the miniature {small} of {records} records is not finite")
        for x in itertools.islice(small.datasets(), MOST):
            try:
                known = space.dataset(x)
            except NotInSpaceError:
                known = None
            require(known == x, f"the dataset {x} of a miniature is {known} in the space")


@check(SPACES)
def check_what_is_tried_are_datasets(subject: ValueSubject, context: Context) -> None:
    """`Trials`: the first trial values include datasets, and their order distinguishes different ones.

    Plain code is called on them.
    """
    space = subject.thing
    found: dict[object, Dataset] = {}
    for value in itertools.islice(_had(Trials.found_in(space)).tried(Random(0)), TRIED):
        try:
            x = space.dataset(value)
        except DpspecError:
            continue
        twin = found.setdefault(order_tried(space, x), x)
        require(twin == x, f"{twin} and {x} have the same place {order_tried(space, x)} in the order of what is tried")
    require(bool(found), f"none of the first {TRIED} values is a dataset")


@check(SPACES)
def check_renamed_datasets_are_datasets(subject: ValueSubject, context: Context) -> None:
    """`SimplerNames`: `renamed` gives datasets of the space, of the same size, and the same ones for the same datasets.

    Witnesses are stated with the names that it gives.
    """
    space = subject.thing
    part = _had(SimplerNames.found_in(space))
    for x, y in itertools.pairwise(listed_datasets(space)):
        for (one, other), (first, second) in zip(part.renamed(x, y), part.renamed(x, x), strict=False):
            for each in (one, other):
                require(space.dataset(each) == each, f"{x}, {y} are renamed {each}, which is no dataset in its canonical form")
            sizes = [space.magnitude(each) for each in (x, y, one, other)]
            require(sizes[:2] == sizes[2:], f"{x}, {y} of the sizes {sizes[:2]} are renamed {one}, {other} of {sizes[2:]}")
            require(first == second, f"{x} is renamed {first} and {second} in one renaming")


@check(SPACES)
def check_words_say_which_dataset_it_is(subject: ValueSubject, context: Context) -> None:
    """`in_words(x, x)` differs for different datasets. Otherwise a witness in words could mean other datasets."""
    part = wording_of(subject.thing)
    printed: dict[str, Dataset] = {}
    for x in listed_datasets(subject.thing):
        for text in set(part.in_words(x, x)):
            twin = printed.setdefault(text, x)
            require(twin == x, f"{twin} and {x} are both printed as {text!r}")
