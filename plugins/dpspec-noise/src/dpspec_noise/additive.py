"""Mechanisms that add independent noise to the integer answers of several queries, on one dataset or a table of microdata."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np
from dpspec_divergences import AddRemove, DifferInOnePosition, Hamming, HammingOrdered, Neighbour, ReplaceOne, SymmetricDifference

from dpspec.plugin import (
    Attribute,
    Claim,
    Dataset,
    DatasetSpace,
    IncompatibleBlocksError,
    InputDivergence,
    Invariant,
    Items,
    Law,
    Marginal,
    Mechanism,
    Number,
    OutputDivergence,
    PrivacySpec,
    Registered,
    Relation,
    Table,
    Text,
    Trivial,
    UniformBudget,
    define,
    errors,
    grammar,
    is_a,
    laws,
    params,
)
from dpspec_noise.queries import view_of

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
    kept = np.ones(len(table), dtype=np.bool_)
    for name, categories in query.where:
        codes = [table.attribute(name).index(category) for category in categories]
        kept &= np.isin(table.codes[name], codes)
    if not query.attributes:
        return (int(kept.sum()),)
    part = Table(attributes=table.attributes, codes={name: column[kept] for name, column in table.codes.items()})
    counts = {" x ".join(cell): count for cell, count in part.counts(query.attributes).items()}
    return tuple(counts.get(label, 0) for label in labels)


def noisy_table(rows: Iterable[tuple[str, str, int | str]]) -> Table:
    """The released table: one row for each cell, with the columns query, cell and answer."""
    listed = [(query, cell, str(answer)) for query, cell, answer in rows]
    columns = list(zip(*listed, strict=True)) or [(), (), ()]
    attributes = tuple(
        Attribute(name=name, categories=tuple(dict.fromkeys(column)) or ("none",))
        for name, column in zip(("query", "cell", "answer"), columns, strict=True)
    )
    return Table.from_records(listed, attributes)
