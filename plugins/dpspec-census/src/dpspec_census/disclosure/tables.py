"""Common parts of disclosure control: tables of counts with their margins, the set of possible releases, and errors.

A release of tables T_1, ..., T_t, each a list of attributes, has one number for every cell of every table. The *base* is the
table of all attributes together; each published count is a sum of base counts:

    y = A n,   n = base counts, A 0/1 with one row per published cell

The set of possible releases is an invariant, and the promises of mechanisms with few releases follow from it (Bailie, Gong and
Meng 2023):

    c(x) = supp P_x,  the set of the outputs that the mechanism can give on x

For a finite law the multiplicative divergence of P_x and P_x' is finite exactly when c(x) = c(x'). So the level sets of c are the
coarsest universes of invariants in which the mechanism has a finite constant for each pair; for a deterministic mechanism they
are the level sets of its output, and the constant is 0.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Annotated, ClassVar, TypeVar, cast

import attrs

from dpspec.plugin import (
    Attribute,
    Claim,
    Dataset,
    DatasetSpace,
    FiniteLaw,
    IncompatibleBlocksError,
    Invariant,
    Items,
    Law,
    LevelSets,
    Marginal,
    Mechanism,
    Multiverse,
    Number,
    ParameterError,
    PrivacySpec,
    Registered,
    Text,
    Trivial,
    UniformBudget,
    UnorderedRecords,
    answers,
    blocks,
    cell_stream,
    define,
    errors,
    exact,
    grammar,
    late_module,
    memoize,
    number,
    params,
    sorting,
    tables,
    workers,
)

if TYPE_CHECKING:
    import numpy as np

    from dpspec.plugin import AnyIntegers, Integers, Randomness, Table
else:
    np = late_module("numpy")


GivenTable = TypeVar("GivenTable", bound="tables.Countable")


class UnknownCategoryError(ParameterError):
    """A recoding names a category that its attribute does not have."""

    code = "recoding-unknown-category"


class RecodingGapError(ParameterError):
    """A recoding omits a category, whose records would have no new value."""

    code = "recoding-gap"


class RecodingOverlapError(ParameterError):
    """A recoding puts one category into two groups."""

    code = "recoding-overlap"


class PerturbationSumError(ParameterError):
    """The probabilities of a row of a perturbation table do not sum to 1."""

    code = "perturbation-sum"


class PerturbationMeanError(ParameterError):
    """A row of a perturbation table changes counts on average."""

    code = "perturbation-mean"


class PerturbationRangeError(ParameterError):
    """A row of a perturbation table would publish a negative count, or has the wrong count."""

    code = "perturbation-range"


class PerturbationKeysError(ParameterError):
    """A probability of a perturbation table is no multiple of 1/keys, so that no set of cell keys has it."""

    code = "perturbation-keys"


class PerturbationDesignError(ParameterError):
    """No perturbation table has the wanted variance and largest change."""

    code = "perturbation-design"


# --- the set of possible releases ------------------------------------------------------------------


PUBLISHED = "Bailie, Gong and Meng 2023, theorem on the universes of invariants"
"""What claims about exact publication rest on."""


@define
class PossibleOutputs(Invariant):
    """The outputs that a mechanism can give on a dataset: the support of its law.

    Args:
        mechanism: a mechanism whose laws have finitely many outcomes, with rational probabilities.

    >>> from dpspec.plugin import BitVectors
    >>> from dpspec_noise import RandomisedResponse
    >>> possible = PossibleOutputs(mechanism=RandomisedResponse(keep_probability="3/4"))
    >>> possible.value((0,), BitVectors(length=1)) == possible.value((1,), BitVectors(length=1))
    True
    """

    name: ClassVar[str] = "possible-outputs"

    mechanism: Annotated[Mechanism, Registered("mechanisms")]

    def check(self, space: DatasetSpace) -> None:
        self.mechanism.check(space)
        with contextlib.suppress(errors.NotEnumerableError):  # a release lists no law, and verification raises this by itself
            for dataset in grammar.first_datasets(space):
                self.value(dataset, space)

    def value(self, dataset: Dataset, space: DatasetSpace) -> Hashable:
        """The support in the order of its text; raises IncompatibleBlocksError for a law that is not listed so."""
        return _support(self.mechanism, dataset, space)

    def __str__(self) -> str:
        return f"what {self.mechanism.name} can publish"

    @classmethod
    def examples(cls) -> Iterable[tuple[PossibleOutputs, DatasetSpace]]:
        """What the conformance kit checks it with."""
        sex = Attribute(name="sex", categories=("f", "m"))
        counted = grammar.ReleaseInvariants(invariants=(Marginal(attributes=("sex",)),))
        yield cls(mechanism=counted), UnorderedRecords(attributes=(sex,), most=3)


@memoize(maxsize=4096)  # engines ask for a dataset once for each pair that it is in
def _support(mechanism: Mechanism, dataset: Dataset, space: DatasetSpace) -> tuple[Hashable, ...]:
    law = mechanism.law(dataset, space)
    if not isinstance(law, FiniteLaw):
        rule = f"lists laws of finitely many outcomes with rational probabilities, and those of {mechanism.name} are others"
        raise IncompatibleBlocksError(f"invariant {PossibleOutputs.name}", rule, "name a mechanism with such laws")
    return tuple(sorted(law.support, key=repr))


@define
class DisclosureControl(Mechanism):
    """A mechanism of statistical disclosure control on the records of one unit.

    Args:
        unit: the unit that one record is.
    """

    unit: Annotated[str, Text()] = "person"

    def attributes(self, space: DatasetSpace) -> tuple[Attribute, ...]:
        """The attributes of a record of the unit, without the composition of a household: persons are a file of their own."""
        return tuple(a for a in space.attributes_of(self.unit) if a.name != blocks.MEMBERS)

    def attribute(self, name: str, space: DatasetSpace) -> Attribute:
        """One attribute of the unit; raises IncompatibleBlocksError for other names."""
        known = {a.name: a for a in self.attributes(space)}
        if name not in known:
            rule = f"is unknown to the space {space.name}"
            raise IncompatibleBlocksError(f"{self.unit} attribute", rule, params.did_you_mean(name, known), value=name)
        return known[name]

    def counted_unit(self, space: DatasetSpace) -> str:
        """The unit."""
        return self.unit

    def is_of_unit(self, columns: Sequence[Attribute], space: DatasetSpace) -> bool:
        """Whether the columns of a table are the attributes of the unit."""
        return {a.name for a in columns} == {a.name for a in self.attributes(space)}

    def rows_of(self, table: GivenTable, space: DatasetSpace) -> GivenTable:
        """A row for each record of the unit: the table as it was given, or the members of its records.

        Raises:
            ReleaseError: the rows are records of something else.
        """
        from dpspec.plugin import Table

        if isinstance(table, Table) and table.members is not None and self.unit != space.units[0]:
            table = cast("GivenTable", table.of_members())
        if not self.is_of_unit(table.attributes, space):
            rule = f"does not have the attributes of a {self.unit} as its columns"
            raise errors.ReleaseError("table", rule, "give one row for each", value=[a.name for a in table.attributes])
        return table

    def check_table(self, table: tables.Countable, space: DatasetSpace) -> None:
        self.rows_of(table, space)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """No finite budget in the one universe of all datasets, where some output gives two datasets away."""
        return (self.claim("no finite budget in one universe", f"{PUBLISHED}, part 2", Trivial(), exact.INFINITY, space),)

    def claim(self, label: str, source: str, multiverse: Multiverse, epsilon: Number, space: DatasetSpace) -> Claim:
        """A claim of pure differential privacy, per record replaced."""
        from dpspec_divergences import Hamming, Mult

        spec = PrivacySpec(
            space=space,
            multiverse=multiverse,
            input_divergence=Hamming(unit=self.unit),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=epsilon),
        )
        return Claim(label=label, source=source, spec=spec)

    def own_universes(self) -> LevelSets:
        """The datasets with the same possible outputs, by the outputs."""
        return LevelSets(invariants=(PossibleOutputs(mechanism=self),))


class Deterministic(DisclosureControl):
    """A mechanism without randomness: its output is an invariant, with budget 0 in the level sets of it
    (Bailie, Gong and Meng 2023, theorem on the universes of invariants)."""

    @abstractmethod
    def output(self, dataset: Dataset, space: DatasetSpace) -> Hashable:
        """T(x), for a dataset in its canonical form."""

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """The law of a certain outcome."""
        self.check(space)
        return FiniteLaw.point(self.output(space.dataset(dataset), space))

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """Budget 0 in the level sets of the output, and no finite one in the one universe of all datasets."""
        zero = self.claim("its output is an invariant", f"{PUBLISHED}, part 1", self.own_universes(), number(0), space)
        return zero, *super().claims(space)


def small_space(most: int | None = None) -> UnorderedRecords:
    """A space with two attributes of two categories, on which the mechanisms are shown.

    >>> small_space(most=3).cardinality()
    35
    """
    region, age = Attribute(name="region", categories=("north", "south")), Attribute(name="age", categories=("old", "young"))
    return UnorderedRecords(attributes=(region, age), most=most)


# --- tables of counts -----------------------------------------------------------------------------


MOST_CELLS = 1_000_000
"""A base with more cells than this is not listed: for a law, or by a release that goes through all cells one by one."""
MOST_READ = 1 << 26
"""A base of which all possible cells would take more than so many times 8 bytes is not counted in batches: the whole table is
read, and those cells are counted that occur."""
SUPPRESSED = answers.WITHHELD
"""What an outcome has in place of a suppressed number."""

CountVector = tuple[int, ...]
Value = TypeVar("Value")


@attrs.frozen(slots=False)
class Layout:
    """The cells of some tables.

    Args:
        attributes: the attributes of the base.
        tables: the tables, each a list of names of attributes.
    """

    attributes: tuple[Attribute, ...]
    tables: tuple[tuple[str, ...], ...]

    @cached_property
    def base(self) -> tuple[tuple[str, ...], ...]:
        """The cells of the base, the last attribute fastest."""
        return tuple(itertools.product(*(a.values() for a in self.attributes)))

    @cached_property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """The published cells, table after table, each as categories of the base's attributes; `ALL` for a sum over an
        attribute."""
        return tuple(
            cell
            for table in self.tables
            for cell in itertools.product(*(a.values() if a.name in table else (answers.ALL,) for a in self.attributes))
        )

    @cached_property
    def members(self) -> tuple[tuple[int, ...], ...]:
        """For each published cell the places of the base cells that it sums."""
        found: list[tuple[int, ...]] = []
        for table in self.tables:
            held = [a.name in table for a in self.attributes]
            cells: dict[tuple[str, ...], list[int]] = {}
            for place, cell in enumerate(self.base):
                label = tuple(c if is_held else answers.ALL for c, is_held in zip(cell, held, strict=True))
                cells.setdefault(label, []).append(place)
            found += [tuple(places) for places in cells.values()]
        return tuple(found)

    def published(self, base: Sequence[int]) -> CountVector:
        """y = A n.

        >>> sex = Attribute(name="sex", categories=("f", "m"))
        >>> Layout((sex,), (("sex",), ())).published((3, 4))
        (3, 4, 7)
        """
        return tuple(sum(base[place] for place in places) for places in self.members)

    def grouped(self, values: Sequence[Value]) -> tuple[tuple[Value, ...], ...]:
        """The published numbers table by table: what an outcome is.

        >>> sex = Attribute(name="sex", categories=("f", "m"))
        >>> Layout((sex,), (("sex",), ())).grouped((3, 4, 7))
        ((3, 4), (7,))
        """
        sizes = [math.prod(a.size for a in self.attributes if a.name in table) for table in self.tables]
        ends = list(itertools.accumulate(sizes))
        return tuple(tuple(values[end - size : end]) for size, end in zip(sizes, ends, strict=True))

    def rows(self, values: Iterable[Hashable], unit: str, measure: str | None = None) -> Table:
        """The released table: a row for each published cell, its categories and its number.

        Args:
            values: the published numbers, or `SUPPRESSED`.
            unit: whose records are in the cells.
            measure: what the numbers are; None where they are counts.
        """
        numbers = list(values)
        hidden = np.asarray([number == SUPPRESSED for number in numbers], dtype=np.bool_)
        shown = [0 if number == SUPPRESSED else cast("int", number) for number in numbers]
        return answers.answer_table([self.cells(table, unit, measure) for table in self.tables], shown, hidden)

    def cells(self, table: tuple[str, ...], unit: str, measure: str | None = None) -> answers.AnswerCells:
        """The cells of one of the tables; the last attribute of the base is the fastest.

        Args:
            table: the attributes of the table.
            unit, measure: as of `rows`.
        """
        own = self.in_order(table)
        shape = [a.size for a in own]
        columns = {}
        for place, attribute in enumerate(own):
            codes = tables.compact(np.arange(attribute.size), attribute.size).reshape([-1] + [1] * (len(own) - place - 1))
            columns[attribute] = np.broadcast_to(codes, shape).reshape(-1)
        size = math.prod(shape)
        return answers.AnswerCells(
            query=Marginal(attributes=table, unit=unit), columns=columns, size=size,
            measures=None if measure is None else (measure,) * size,
        )  # fmt: skip

    def in_order(self, table: Iterable[str]) -> tuple[Attribute, ...]:
        """The attributes of one of the tables in their order in the base."""
        names = {*table}
        return tuple(a for a in self.attributes if a.name in names)


@attrs.frozen(kw_only=True, eq=False)
class BaseBy:
    """The counts of the base of a table by another attribute: one for each pair of a cell and a category that occurs.

    Args:
        cells: the places of the cells in the base, ascending.
        codes: the places of the categories, ascending in each cell.
        counts: how many records there are of each.
    """

    cells: Integers
    codes: Integers
    counts: Integers


@lru_cache(maxsize=256)
def _layout(attributes: tuple[Attribute, ...], tables: tuple[tuple[str, ...], ...]) -> Layout:
    """One object for equal layouts, so that its cells are listed once."""
    return Layout(attributes, tables)


@define
class TableRelease(DisclosureControl):
    """Shared by the mechanisms that publish tables of counts."""

    @abstractmethod
    def published_tables(self) -> tuple[tuple[str, ...], ...]:
        """The tables, each a list of attributes; () is the grand total."""

    def check(self, space: DatasetSpace) -> None:
        space.check_unit(self.unit)
        tables = self.published_tables()
        if len({frozenset(table) for table in tables}) < len(tables) or any(len(set(t)) < len(t) for t in tables):
            raise IncompatibleBlocksError(f"mechanism {self.name}", "names a table or an attribute of it twice", value=tables)
        attributes = self.layout(space).attributes
        for attribute in attributes:
            if attribute.within in {a.name for a in attributes}:
                rule = f"lies within {attribute.within}: most cells of a table of both are empty by definition"
                raise IncompatibleBlocksError("attribute", rule, "publish one of the two", value=attribute.name)

    def answers_queries(self) -> bool:
        """As of `grammar.AnswersQueries`."""
        return True

    def check_listed(self, space: DatasetSpace, what: str, instead: str) -> None:
        """Refuse a base of more cells than are listed.

        Args:
            space: the dataset space.
            what: what lists them.
            instead: what to do instead.

        Raises:
            NotEnumerableError: it has more.
        """
        size = math.prod(a.size for a in self.layout(space).attributes)
        if size > MOST_CELLS:
            rule = f"has tables that span {size:,} cells, and {what} lists at most {MOST_CELLS:,}"
            raise errors.NotEnumerableError(f"mechanism {self.name}", rule, instead)

    def listed(self, space: DatasetSpace) -> Layout:
        """The cells that are published, to be listed for a law.

        Raises:
            NotEnumerableError: they are too many.
        """
        self.check_listed(space, "its law", "verify a miniature with fewer categories; a release lists no law")
        return self.layout(space)

    def layout(self, space: DatasetSpace) -> Layout:
        """The cells that are published."""
        names = dict.fromkeys(name for table in self.published_tables() for name in table)
        return _layout(tuple(self.attribute(name, space) for name in names), self.published_tables())

    def base_counts(self, dataset: Dataset, space: DatasetSpace) -> CountVector:
        """n: the counts of the base of a dataset in its canonical form."""
        layout = self.listed(space)
        names = [a.name for a in self.attributes(space)]
        places = [names.index(a.name) for a in layout.attributes]
        counts = Counter(tuple(record[place] for place in places) for record in space.records(dataset, self.unit))
        return tuple(counts[cell] for cell in layout.base)

    def base_of_table(self, table: tables.Countable, space: DatasetSpace) -> CountVector:
        """n: the counts of the base of a real table."""
        names = [a.name for a in self.layout(space).attributes]
        return tuple(self.rows_of(table, space).cells(names).every().tolist())

    def base_read(
        self, columns: Sequence[Attribute], space: DatasetSpace, beside: str | None = None
    ) -> tuple[Marginal, ...] | None:
        """The one table of counts that a release reads: the base, by another attribute as well where one is named.

        None where it has more than `MOST_READ` cells, or the columns are not those of the unit.
        """
        attributes = [*self.layout(space).attributes, *(() if beside is None else (self.attribute(beside, space),))]
        if not self.is_of_unit(columns, space) or math.prod(a.size for a in attributes) > MOST_READ:
            return None
        return (Marginal(attributes=tuple(a.name for a in attributes), unit=self.unit),)

    def marginals(self, space: DatasetSpace) -> tuple[tuple[Marginal, Marginal], ...]:
        """The published tables, each with the one that is counted for it: the same, in the order in which cells are released."""
        layout = self.layout(space)
        ordered = (tuple(a.name for a in layout.in_order(table)) for table in layout.tables)
        return tuple(
            (Marginal(attributes=table, unit=self.unit), Marginal(attributes=names, unit=self.unit))
            for table, names in zip(layout.tables, ordered, strict=True)
        )

    def base_by(self, table: tables.Countable, beside: str, space: DatasetSpace) -> BaseBy:
        """The counts of the base of a real table by another attribute."""
        names = [a.name for a in self.layout(space).attributes]
        keys, counts = self.rows_of(table, space).cells([*names, beside]).occurring()
        cells, codes = np.divmod(keys, self.attribute(beside, space).size)
        return BaseBy(cells=cells, codes=codes, counts=counts)


@define
class CountTables(TableRelease):
    """A release of tables that are listed one by one.

    Args:
        tables: the tables, each a list of attributes; [] is the grand total.
        unit: the unit that is counted.
    """

    tables: Annotated[tuple[tuple[str, ...], ...], Items(Items(Text()), least=1)]

    def published_tables(self) -> tuple[tuple[str, ...], ...]:
        return self.tables

    def counted_tables(self, space: DatasetSpace) -> tuple[tuple[str, ...], ...]:
        """The tables."""
        return self.tables

    def publishes(self, attributes: Iterable[str]) -> bool:
        """Whether one of the tables has exactly these attributes."""
        return set(attributes) in map(set, self.tables)


@define
class StreamedTables(CountTables):
    """Shared by the mechanisms whose tables may be larger than memory: each number is made from what is read of its own cell."""

    @abstractmethod
    def cell_numbers(self, counts: AnyIntegers, source: Randomness) -> AnyIntegers:
        """The published numbers of some cells.

        Args:
            counts: their counts, or a row for each cell of its count and the sum of its keys.
            source: randomness for these cells.
        """

    @property
    def withholds(self) -> cell_stream.Withheld | None:
        """What says of counts whether they are withheld; None where none ever is."""
        return None

    def cells_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[Marginal, ...] | None:
        """As of `grammar.ReleasesCells`: the published tables, if the cells of each large one can be listed in pieces."""
        queries = self.marginals(space)
        if not self.is_of_unit(attributes, space) or not cell_stream.can_be_streamed(queries, attributes, space):
            return None
        return tuple(read for _, read in queries)

    def released_table(self, counts: AnyIntegers, space: DatasetSpace, source: Randomness) -> Table:
        """The released table in memory: a row for each cell.

        Args:
            counts: as of `cell_numbers`, of all cells, one table after the other.
            space: the dataset space.
            source: the source of the release.
        """
        layout = self.layout(space)
        made = cell_stream.made_in_ranges(self.cell_numbers, counts, source)
        hidden = None if self.withholds is None else self.withholds(counts)
        del counts  # which takes as much as the numbers, or twice as much
        return answers.answer_table([layout.cells(table, self.unit) for table in layout.tables], made, hidden)

    @abstractmethod
    def streamed(self, stream: cell_stream.CellStream, batches: Iterable[Table]) -> sorting.SortedRelease:
        """The released table, of what is read of each cell.

        Args:
            stream: makes the same table without holding it.
            batches: the records, in any order; they are read once.
        """

    def by_sorting(
        self,
        batches: Iterable[Table],
        attributes: tuple[Attribute, ...],
        space: DatasetSpace,
        run: workers.Run,
        sorter: sorting.Sorter,
    ) -> sorting.SortedRelease:
        """The same numbers of tables that are larger than memory (`grammar.ReleasesSorted.release_sorted`).

        A class states it as its `release_sorted` by itself, where it draws nothing else than `streamed` and `cell_numbers` do.
        """
        self.check(space)
        queries, layout = self.marginals(space), self.layout(space)
        own: dict[Invariant, tuple[Marginal, Marginal]] = {query: (query, read) for query, read in queries}
        stream = cell_stream.CellStream(
            queries=queries, attributes=attributes, space=space, run=run, sorter=sorter, numbers=self.cell_numbers,
            listed=lambda query: layout.cells(own[query][0].attributes, self.unit), withheld=self.withholds,
            held=lambda table, query: table.cells(own[query][1].attributes).every(),
        )  # fmt: skip
        return self.streamed(stream, batches)
