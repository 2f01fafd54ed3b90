"""Independent noise on the integer answers of several queries, on one dataset or a table of microdata.

Beside tables of counts, queries may be sums of numbers that are cut to a range, and how many kinds of records occur.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import attrs
import numpy as np
from dpspec_divergences import AddRemove, DifferInOnePosition, Hamming, HammingOrdered, Neighbour, ReplaceOne, SymmetricDifference

from dpspec.plugin import (
    Attribute,
    Claim,
    Dataset,
    DatasetSpace,
    IncompatibleBlocksError,
    InputDivergence,
    Integer,
    Invariant,
    Items,
    Law,
    Marginal,
    Mechanism,
    Number,
    OutputDivergence,
    ParameterError,
    PrivacySpec,
    Registered,
    Relation,
    Table,
    Text,
    Trivial,
    UniformBudget,
    UnorderedRecords,
    define,
    errors,
    grammar,
    is_a,
    laws,
    params,
)

if TYPE_CHECKING:
    from dpspec.plugin import Integers, Randomness


RELATIONS: dict[str, Callable[..., Relation]] = {
    "add-remove": AddRemove,
    "replace-one": ReplaceOne,
    "differ-in-one-position": DifferInOnePosition,
}
METRICS: dict[str, Callable[..., InputDivergence]] = {
    "add-remove": SymmetricDifference,
    "replace-one": Hamming,
    "differ-in-one-position": HammingOrdered,
}


@define
class AdditiveNoise(Mechanism):
    """T(x) = q(x) + W with independent noise W_i for each entry of the answers q(x).

    Args:
        queries: the invariants whose integer answers are published.
        neighbours: the relation to which the stated sensitivity refers; add-remove in the lecture (Lecture notes 2025).
        unit: the unit that is added, removed or replaced.
    """

    queries: Annotated[tuple[Invariant, ...], Items(Registered("invariants"), least=1)]
    neighbours: Annotated[str, Text(tuple(RELATIONS))] = "add-remove"
    unit: Annotated[str, Text()] = "person"

    def check(self, space: DatasetSpace) -> None:
        params.collect(partial(_check_query, query, space) for query in self.queries)

    def answers(self, dataset: Dataset, space: DatasetSpace) -> tuple[int, ...]:
        """q(x): the answers of all queries, one after the other."""
        return tuple(answer for query in self.queries for answer in query.answers(dataset, space))

    @abstractmethod
    def noise(self, center: int) -> Law:
        """The law of one noisy answer whose true value is `center`."""

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """The product of the noise laws centred at the answers; the law of a number when there is one answer."""
        factors = tuple(self.noise(answer) for answer in self.answers(space.dataset(dataset), space))
        return factors[0] if len(factors) == 1 else laws.product(factors)

    def noisy_answers(self, space: DatasetSpace) -> grammar.Structure | None:
        """Independent noise on the answers of every query; None where a query is no sum over records.

        For the `structure` of a class whose `noise` has the same shape around every center.
        """
        return noisy_answers(((query, self.noise) for query in self.queries), space)

    def draw(self, count: int, source: Randomness) -> Integers:
        """Independent draws of the noise."""
        raise errors.ReleaseError(
            self.name,
            "has no exact sampler: continuous noise cannot be drawn with finitely many random bits, and rounding "
            "it changes the guarantee",
            "release with geometric (for laplace) or discrete-gaussian (for gaussian)",
        )

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """One row for each answer: the query, its cell, and the noisy count."""

        self.check(space)
        rows = answers_on(table, self.queries, space)
        noise = self.draw(len(rows), source)
        return noisy_table((query, cell, answer + int(w)) for (query, cell, answer), w in zip(rows, noise, strict=True))

    def _claims(
        self, label: str, source: str, space: DatasetSpace, standard: OutputDivergence, budget: tuple[str, Number]
    ) -> tuple[Claim, ...]:
        """The claim on the trivial multiverse; none on a space without the unit.

        For a metric the bound for neighbours extends along paths, and is stated for all pairs; otherwise (MULT^delta)
        it is stated for neighbours only.
        """
        distance: InputDivergence
        if standard.is_metric:
            distance = METRICS[self.neighbours](unit=self.unit)
        else:
            distance = Neighbour(relation=RELATIONS[self.neighbours](unit=self.unit))
        try:
            distance.check(space)
        except IncompatibleBlocksError:
            return ()
        parameter, value = budget
        spec = PrivacySpec(
            space=space,
            multiverse=Trivial(),
            input_divergence=distance,
            output_divergence=standard,
            budget=UniformBudget(parameter=parameter, value=value),
        )
        return (Claim(label=label, source=source, spec=spec),)


def noisy_answers(measured: Iterable[tuple[Invariant, Callable[[int], Law]]], space: DatasetSpace) -> grammar.Structure | None:
    """Independent noise on the answers to queries; None where one is not known as a view."""
    views = [view_of(query, noise, space) for query, noise in measured]
    known = tuple(view for view in views if view is not None)
    return grammar.Structure(views=known) if len(known) == len(views) else None


def _check_query(query: Invariant, space: DatasetSpace) -> None:
    query.check(space)
    query.check_answers(space)


# --- on tables ------------------------------------------------------------------------------------


LISTED = 100_000
"""Tables up to this size are read record by record when a query is no plain marginal."""


def answers_on(table: Table, queries: Sequence[Invariant], space: DatasetSpace) -> list[tuple[str, str, int]]:
    """(query, cell, true answer) for every cell of every query."""
    rows = []
    for query in queries:
        counts = _counted(table, query, space)
        rows += [(str(query), cell, count) for cell, count in zip(query.labels(space), counts, strict=True)]
    return rows


def _counted(table: Table, query: Invariant, space: DatasetSpace) -> tuple[int, ...]:
    names = {a.name for a in table.attributes}
    unit = _unit(names, space)
    if is_a(query, Marginal) and query.unit == unit and {*query.attributes, *dict(query.where)} <= names:
        fast = _marginal(table, query, space)
        if fast is not None:
            return fast
    if is_a(query, OfCells) and query.unit == unit and query.mentions().keys() <= names:
        return query.of_cells(rows_meeting(table, query.where).counts(query.table.attributes))
    if len(table) > LISTED:
        raise errors.TableError(
            "table", f"has more than {LISTED} records, and {query} is no marginal of its columns", value=len(table)
        )
    lists = {a.name: list(a.values()) for a in table.attributes}
    order = [a.name for a in space.attributes_of(unit)]
    records = [[lists[name][table.codes[name][row]] for name in order] for row in range(len(table))]
    return query.answers(space.dataset(records), space)


def _unit(columns: set[str], space: DatasetSpace) -> str:
    """The unit whose records the rows are: the one that has the columns as its attributes, else the largest."""
    matching = (unit for unit in space.units if {a.name for a in space.attributes_of(unit)} == columns)
    return next(matching, space.units[0])


def _marginal(table: Table, query: Marginal, space: DatasetSpace) -> tuple[int, ...] | None:
    """The counts straight from the columns; None when the cells of the query are not simply told apart by their labels."""
    labels = query.labels(space)
    if len(set(labels)) != len(labels):
        return None
    part = rows_meeting(table, query.where)
    if not query.attributes:
        return (len(part),)
    counts = {" x ".join(cell): count for cell, count in part.counts(query.attributes).items()}
    return tuple(counts.get(label, 0) for label in labels)


def rows_meeting(table: Table, where: Conditions) -> Table:
    """The rows of a table that meet the conditions, with their members."""
    kept = np.ones(len(table), dtype=np.bool_)
    for name, categories in where:
        attribute = table.attribute(name)
        kept &= np.isin(table.codes[name], [attribute.index(category) for category in categories])
    return table.rows(kept)


def noisy_table(rows: Iterable[tuple[str, str, int | str]]) -> Table:
    """The released table: one row for each cell, with the columns query, cell and answer."""
    listed = [(query, cell, str(answer)) for query, cell, answer in rows]
    columns = list(zip(*listed, strict=True)) or [(), (), ()]
    attributes = tuple(
        Attribute(name=name, categories=tuple(dict.fromkeys(column)) or ("none",))
        for name, column in zip(("query", "cell", "answer"), columns, strict=True)
    )
    return Table.from_records(listed, attributes)


# --- sums and kinds -------------------------------------------------------------------------------


Conditions = tuple[tuple[str, tuple[str, ...]], ...]
Noise = Callable[[int], Law]
"""The law of an answer, by its true value."""


class OfCells(Invariant):
    """One number that is computed from the counts of the cells of a table."""

    unit: str
    where: Conditions

    @property
    @abstractmethod
    def table(self) -> Marginal:
        """The table, of the records that count."""

    @abstractmethod
    def of_cells(self, counts: Mapping[Any, int]) -> tuple[int]:
        """q from the counts of the cells that occur."""

    def mentions(self) -> Mapping[str, frozenset[str]]:
        return self.table.mentions()

    def value(self, dataset: Dataset, space: DatasetSpace) -> Hashable:
        return self.answers(dataset, space)

    def answers(self, dataset: Dataset, space: DatasetSpace) -> tuple[int, ...]:
        cells = (self.table.cell_of(record, space) for record in space.records(dataset, self.unit))
        return self.of_cells(Counter(cell for cell in cells if cell is not None))

    def labels(self, space: DatasetSpace) -> tuple[str, ...]:
        return (str(self),)


@define
class ClippedSum(OfCells):
    """q(x) = sum over the records of min(max(value, least), most): a sum whose sensitivity the range bounds.

    The categories of the attribute are integers, written as text. One record added changes the sum by max(|least|, |most|) at
    most, one replaced by most - least (Dwork, McSherry, Nissim and Smith 2006).

    Args:
        attribute: whose numbers are summed up.
        least, most: the range to which each is cut.
        unit: whose records they are.
        where: for some attributes, the categories that are counted; other records add nothing.

    >>> people = UnorderedRecords(attributes=(Attribute(name="hours", count=100),))
    >>> ClippedSum(attribute="hours", least=0, most=40).answers((("7",), ("60",)), people)
    (47,)
    """

    name: ClassVar[str] = "clipped-sum"

    attribute: Annotated[str, Text()]
    least: Annotated[int, Integer()]
    most: Annotated[int, Integer()]
    unit: Annotated[str, Text()] = "person"
    where: Annotated[Conditions, params.Pairs(Items(Text()))] = ()

    def __attrs_post_init__(self) -> None:
        if self.least > self.most:
            raise ParameterError("most", f"must not be below least={self.least}", value=self.most)

    @property
    def table(self) -> Marginal:
        """The records that count, by the attribute."""
        return Marginal(attributes=(self.attribute,), unit=self.unit, where=self.where)

    def check(self, space: DatasetSpace) -> None:
        self.table.check(space)
        for value in self._attribute(space).values() if self._attribute(space).count is None else ():
            if not _is_integer(value):
                raise IncompatibleBlocksError(
                    f"query {self}", "sums up integers", "write the categories as integers", value=value
                )

    def _attribute(self, space: DatasetSpace) -> Attribute:
        return next(a for a in space.attributes_of(self.unit) if a.name == self.attribute)

    def cut(self, value: Hashable) -> int:
        """What one record adds."""
        return min(max(int(str(value)), self.least), self.most)

    def of_cells(self, counts: Mapping[Any, int]) -> tuple[int]:
        """q from the counts of the cells of `table`."""
        return (sum(self.cut(cell[0]) * count for cell, count in counts.items()),)

    def ends(self, space: DatasetSpace) -> tuple[str, str]:
        """A category that adds the least, and one that adds the most, of those that are counted."""
        attribute, where = self._attribute(space), dict(self.where)
        if attribute.count is not None and not where.get(self.attribute):
            return "0", str(attribute.count - 1)
        counted = where.get(self.attribute) or attribute.categories  # where none is counted, those that are not do no harm
        return min(counted, key=int), max(counted, key=int)

    def __str__(self) -> str:
        return f"sum of {self.attribute} cut to {self.least} to {self.most}"

    @classmethod
    def examples(cls) -> Iterable[tuple[ClippedSum, DatasetSpace]]:
        """What the conformance kit checks it with."""
        hours = Attribute(name="hours", categories=("-3", "0", "5"))
        yield cls(attribute="hours", least=-1, most=4), UnorderedRecords(attributes=(hours,), most=2)


def _is_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal()


@define
class DistinctCount(OfCells):
    """q(x) = the number of combinations of some attributes that occur.

    One record added changes it by 1 at most, and so does one replaced.

    Args:
        attributes: the attributes whose combinations are counted.
        unit: whose records they are.
        where: for some attributes, the categories that are counted.
    """

    name: ClassVar[str] = "distinct-count"

    attributes: Annotated[tuple[str, ...], Items(Text(), least=1)]
    unit: Annotated[str, Text()] = "person"
    where: Annotated[Conditions, params.Pairs(Items(Text()))] = ()

    @property
    def table(self) -> Marginal:
        """The combinations."""
        return Marginal(attributes=self.attributes, unit=self.unit, where=self.where)

    def check(self, space: DatasetSpace) -> None:
        self.table.check(space)

    def of_cells(self, counts: Mapping[Any, int]) -> tuple[int]:
        """q from the counts of the cells of `table`."""
        return (sum(count > 0 for count in counts.values()),)

    def __str__(self) -> str:
        return f"different {self.unit} kinds by {' x '.join(self.attributes)}"

    @classmethod
    def examples(cls) -> Iterable[tuple[DistinctCount, DatasetSpace]]:
        """What the conformance kit checks it with."""
        sex = Attribute(name="sex", categories=("f", "m"))
        yield cls(attributes=("sex",)), UnorderedRecords(attributes=(sex,), most=2)


# --- as views -------------------------------------------------------------------------------------


def view_of(query: Invariant, noise: Noise, space: DatasetSpace) -> grammar.View | None:
    """Noise on the answers of a query, as a view; None where the query is no sum of what single records add.

    A class derived from one of these queries may answer otherwise: only the queries themselves are known.
    """
    known = {Marginal: _counts, ClippedSum: _sum, DistinctCount: _kinds}.get(type(query))
    return None if known is None else known(query, noise, space)


def _counts(query: Any, noise: Noise, _: DatasetSpace) -> grammar.View:
    return grammar.NoisyCount(query, noise)


def _sum(query: Any, noise: Noise, space: DatasetSpace) -> grammar.View | None:
    return NoisySum(query, noise, query.ends(space)) if grammar.is_log_concave(noise(0)) else None


def _kinds(query: Any, noise: Noise, _: DatasetSpace) -> grammar.View | None:
    return NoisyDistinct(query, noise) if grammar.is_log_concave(noise(0)) else None


class _OneAnswer(grammar.View):
    """One number with noise whose larger shifts are never harder to see."""

    query: OfCells
    noise: Noise

    @property
    def table(self) -> Marginal:  # type: ignore[override]  # that of the query
        return self.query.table

    def data(self) -> dict[str, Any]:
        return {**super().data(), "kind": type(self).__name__, "noise": grammar.law_data(self.noise(0))}

    @property
    def tells_more_by_more(self) -> bool:
        return True

    def shifted(self, *changes: int) -> tuple[grammar.Case, ...]:
        """One case for each change of the number, none where it does not change."""
        return tuple(((self.noise(max(-c, 0)), self.noise(max(c, 0))),) if c else () for c in dict.fromkeys(changes))

    def restricted(self, where: Mapping[str, tuple[str, ...]]) -> grammar.View:
        table = grammar.narrowed(self.table, where)
        return attrs.evolve(self, query=params.evolve(self.query, where=dict(table.where)))  # type: ignore[misc]


@attrs.frozen
class NoisySum(_OneAnswer):
    """A sum of numbers cut to a range, with noise.

    Args:
        query: the sum.
        noise: the law of an answer whose true value is n.
        outermost: a category that adds the least, and one that adds the most.
    """

    query: ClippedSum
    noise: Noise
    outermost: tuple[str, str]

    def data(self) -> dict[str, Any]:
        return {**super().data(), "least": self.query.least, "most": self.query.most}

    @property
    def tells_more_by_more(self) -> bool:
        """Only where 0 lies in the range: else more records that come may be made up for by more that go."""
        low, high = map(self.query.cut, self.outermost)
        return low <= 0 <= high

    def singled(self) -> Mapping[str, tuple[frozenset[str], ...]]:
        return {self.query.attribute: tuple(frozenset((end,)) for end in dict.fromkeys(self.outermost))}

    def changed(self, counts: grammar.CountChanges) -> tuple[grammar.Case, ...]:
        """What comes adds at most the most each and takes at most the least, what goes the other way round."""
        low, high = (self.query.cut(end) for end in self.outermost)
        come, gone = sum(c for c in counts if c > 0), -sum(c for c in counts if c < 0)
        both = min(come, gone)
        up = max(0, high) * (come - both) + (high - low) * both + max(0, -low) * (gone - both)
        down = max(0, -low) * (come - both) + (high - low) * both + max(0, high) * (gone - both)
        return self.shifted(up, -down)

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable], space: DatasetSpace) -> grammar.Case:
        ours, theirs = (sum(self.query.cut(cell[0]) for cell in side if isinstance(cell, tuple)) for side in (before, after))
        return ((self.noise(ours), self.noise(theirs)),) if ours != theirs else ()


@attrs.frozen
class NoisyDistinct(_OneAnswer):
    """The number of combinations that occur, with noise.

    Args:
        query: the number.
        noise: the law of an answer whose true value is n.
    """

    query: DistinctCount
    noise: Noise

    def changed(self, counts: grammar.CountChanges) -> tuple[grammar.Case, ...]:
        """Each cell that gains may be new, each that loses may be gone."""
        return self.shifted(sum(c > 0 for c in counts), -sum(c < 0 for c in counts))

    def companions(self) -> tuple[int, ...]:
        """One more, so that the kind of a record that goes still occurs."""
        return (0, 1)

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable], space: DatasetSpace) -> grammar.Case:
        ours, theirs = (len(Counter(side).keys() - {None}) for side in (before, after))
        return ((self.noise(ours), self.noise(theirs)),) if ours != theirs else ()
