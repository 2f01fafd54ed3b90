"""Combinators of mechanisms: composition, restriction to a part of the records, bounded contributions, post-processing.

Each has the law that follows from the laws of its parts and, where its parts state a structure, a structure. A claim about it is
then proved on spaces of any size: composition multiplies laws, restriction narrows the tables, bounded contributions limit the
change by one larger record, and post-processing adds no loss.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import attrs

from dpspec.plugin import (
    Attribute,
    Dataset,
    DatasetSpace,
    Integer,
    Items,
    Law,
    Mechanism,
    Nested,
    ParameterError,
    Record,
    Registered,
    Table,
    Text,
    UnorderedRecords,
    answers,
    blocks,
    define,
    errors,
    grammar,
    late_module,
    laws,
    params,
    sorting,
    spend,
    tables,
    workers,
)
from dpspec_noise.gaussian import Geometric

if TYPE_CHECKING:
    import numpy as np

    from dpspec.plugin import AnyIntegers, Integers, Mask
else:
    np = late_module("numpy")

MOST_TIMES = 10**9
"""So often a mechanism is repeated at most."""

MOST_RELEASES = 10_000
"""So many repetitions, of one table each or more, are written as files at most."""

Conditions = tuple[tuple[str, tuple[str, ...]], ...]


def wider(mechanism: Mechanism, factor: Fraction) -> Mechanism:
    """A part with wider noise.

    Raises:
        ParameterError: its noise cannot be widened.
    """
    if not isinstance(mechanism, grammar.ScalesNoise):
        raise ParameterError(f"mechanism {mechanism.name}", "has no noise that can be scaled", "state another mechanism")
    return mechanism.with_wider_noise(factor)


@define
class ComposedMechanism(Mechanism):
    """T(x) = (T_1(x), ..., T_k(x)) with independent randomness: several releases about the same data.

    The loss of the whole is the sum of the losses of the parts (Dwork, Kenthapadi, McSherry, Mironov and Naor 2006); where no
    change moves the answers of two parts, as when they look at different records, it is less.

    Args:
        parts: T_1, ..., T_k.

    >>> from dpspec.plugin import BitVectors, LinearMap
    >>> total = LinearMap(rows=((1, 1),), label="sum")
    >>> twice = ComposedMechanism(parts=(Geometric(queries=(total,), ratio="1/2"), Geometric(queries=(total,), ratio="1/3")))
    >>> from dpspec_divergences import Mult
    >>> str(Mult().between(twice.law((0, 0), BitVectors(length=2)), twice.law((0, 1), BitVectors(length=2))))
    'ln(6)'
    """

    name: ClassVar[str] = "composed"

    parts: Annotated[tuple[Mechanism, ...], Items(Registered("mechanisms"), least=1)]

    def check(self, space: DatasetSpace) -> None:
        params.collect(partial(part.check, space) for part in self.parts)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return laws.product([part.law(dataset, space) for part in self.parts])

    def reduced(self, space: DatasetSpace) -> ComposedMechanism:
        """The parts, each reduced."""
        return params.evolve(self, parts=tuple(part.reduced(space) for part in self.parts))

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        """The views of all parts, each on its own sample where a part draws one."""
        known = [_stated(part, space).restated(of=part, by=self) for part in self.parts]
        if len(known) > 1:
            known = [_with_own_sample(structure, space) for structure in known]
        return attrs.evolve(
            known[0],
            views=tuple(view for structure in known for view in structure.views),
            reads=tuple(dict.fromkeys(fact for structure in known for fact in structure.reads)),
            publishes_views=all(structure.publishes_views for structure in known),
            is_mixture=any(structure.is_mixture for structure in known),
            hypotheses=tuple(stated for structure in known for stated in structure.hypotheses),
        )

    def published_mechanisms(self) -> tuple[Mechanism, ...]:
        return self.parts

    def with_wider_noise(self, factor: Fraction) -> ComposedMechanism:
        return params.evolve(self, parts=tuple(wider(part, factor) for part in self.parts))

    def counts_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[blocks.Marginal, ...] | None:
        """What the parts read; None where one reads more than counts."""
        read = [grammar.counts_read(part, attributes, space) for part in self.parts]
        return None if None in read else tuple(table for tables_read in read for table in tables_read or ())

    def answers_queries(self) -> bool:
        return all(map(grammar.answers_queries, self.parts))

    def check_release(self, space: DatasetSpace) -> None:
        params.collect(partial(part.check_release, space) for part in self.parts)

    def run(self, table: Table, space: DatasetSpace, run: workers.Run) -> workers.Output:
        """The tables of every part, numbered by the parts."""
        outputs = [part.run(table, space, run).with_main_held() for part in self.parts]
        tables = {
            f"{place}-{name}": made for place, output in enumerate(outputs, 1) for name, made in output.tables.items()
        }  # fmt: skip
        streams = {
            f"{place}-{name}": made for place, output in enumerate(outputs, 1) for name, made in output.streams.items()
        }  # fmt: skip
        return workers.Output(tables=tables, streams=streams)

    @classmethod
    def examples(cls) -> Iterable[tuple[ComposedMechanism, DatasetSpace]]:
        """What the conformance kit checks it with."""
        total = Geometric(queries=(blocks.Marginal(attributes=()),), ratio=Fraction(1, 3))
        yield cls(parts=(total, _count())), _people()


@define
class RepeatedMechanism(Mechanism):
    """T(x) many times with independent randomness, as the steps of a training run: composed of equal parts.

    Where T draws a sample, each repetition draws another one. A later step may depend on the outputs of earlier ones, as
    long as T bounds it: pairs of laws that dominate each step dominate all steps together (Zhu, Dong and Wang 2022, Theorem 10).

    Args:
        mechanism: T.
        times: how often it is released.

    >>> from dpspec.plugin import BitVectors, LinearMap
    >>> total = LinearMap(rows=((1, 1),), label="sum")
    >>> often = RepeatedMechanism(mechanism=Geometric(queries=(total,), ratio="1/2"), times=3)
    >>> from dpspec_divergences import Mult
    >>> str(Mult().between(often.law((0, 0), BitVectors(length=2)), often.law((0, 1), BitVectors(length=2))))
    'ln(8)'
    """

    name: ClassVar[str] = "repeated"

    mechanism: Annotated[Mechanism, Registered("mechanisms")]
    times: Annotated[int, Integer(1, MOST_TIMES)]

    def check(self, space: DatasetSpace) -> None:
        self.mechanism.check(space)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return laws.repeated(self.mechanism.law(dataset, space), self.times)

    def reduced(self, space: DatasetSpace) -> RepeatedMechanism:
        """Released once: the law of many times is made of that, whatever it is."""
        return params.evolve(self, mechanism=self.mechanism.reduced(space), times=1)

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        """The views of the mechanism, each repeated."""
        found = _stated(self.mechanism, space)
        if self.times == 1:
            return found.restated(of=self.mechanism, by=self)
        found = _with_own_sample(found.restated(of=self.mechanism, by=self), space)
        return found.restated(of=self, by=self, views=lambda view: grammar.RepeatedView(view, self.times))

    def published_mechanisms(self) -> tuple[Mechanism, ...]:
        return (self.mechanism,)

    def with_wider_noise(self, factor: Fraction) -> RepeatedMechanism:
        return params.evolve(self, mechanism=wider(self.mechanism, factor))

    def counts_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[blocks.Marginal, ...] | None:
        """The exact facts, read once; they are the same in every repetition."""
        return grammar.counts_read(self.mechanism, attributes, space)

    def answers_queries(self) -> bool:
        return grammar.answers_queries(self.mechanism)

    def check_release(self, space: DatasetSpace) -> None:
        if self.times > MOST_RELEASES:
            rule = f"is written as a table for each time, of which there are more than {MOST_RELEASES:,}"
            raise errors.ReleaseError(self.name, rule, "repeat it less often", value=self.times)
        self.mechanism.check_release(space)

    def run(self, table: Table, space: DatasetSpace, run: workers.Run) -> workers.Output:
        """The tables of every time, numbered."""
        return ComposedMechanism(parts=(self.mechanism,) * self.times).run(table, space, run)

    @classmethod
    def examples(cls) -> Iterable[tuple[RepeatedMechanism, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(mechanism=_count(), times=2), _people()


@define
class Filtered(Mechanism):
    """T(the records that meet a condition): a release about some of the records.

    A change of a record that does not meet the condition, before or after, changes nothing (McSherry 2009). However many records
    a dataset has, few of them or none may meet the condition: T is a mechanism on the space of the datasets that may be left.

    Args:
        mechanism: T.
        where: for some attributes, the categories that a record may have; all conditions are to be met.
        unit: whose records they are.
    """

    name: ClassVar[str] = "filtered"

    mechanism: Annotated[Mechanism, Registered("mechanisms")]
    where: Annotated[Conditions, params.Pairs(Items(Text()))]
    unit: Annotated[str, Text()] = "person"

    def check(self, space: DatasetSpace) -> None:
        blocks.Marginal(attributes=(), unit=self.unit, where=self.where).check(space)
        (blocks.Collections if self.unit == space.units[0] else blocks.Membership).needed_in(space)
        self.mechanism.check(self.left(space))

    def left(self, space: DatasetSpace) -> DatasetSpace:
        """The space of the datasets that may be left of those of a space, which have as many members or records, or fewer.

        >>> people = UnorderedRecords(attributes=(Attribute(name="sex", categories=("f", "m")),), least=1_000)
        >>> Filtered(mechanism=_count(), where={"sex": ("f",)}).left(people).least
        0
        """
        if self.unit != space.units[0]:  # a larger record that has no such members left is still there
            return space
        known = {a.name: a for a in space.attributes_of(self.unit)}
        if all(len(set(categories)) == known[name].size for name, categories in self.where):
            return space
        return blocks.resized(space, 0, blocks.sizes_of(space)[1]) or space

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        left = self.left(space)
        return self.mechanism.law(_meeting(space.dataset(dataset), left, self.unit, self.where), left)

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        found = _stated(self.mechanism, self.left(space))
        if found.reads:
            raise grammar.NoStructure("it reads facts about the records that meet the condition, which universes do not fix")
        if any(view.table.unit != self.unit for view in found.views):
            raise grammar.NoStructure(f"it counts records of another unit than {self.unit}, whose records meet the condition")
        if found.drawn is not None:
            raise grammar.NoStructure(
                "it draws a sample of a fixed size from the records that meet the condition, however many these are"
            )
        where = dict(self.where)
        return found.restated(of=self.mechanism, by=self, views=lambda view: view.restricted(where))

    def published_mechanisms(self) -> tuple[Mechanism, ...]:
        return (self.mechanism,)

    def counts_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[blocks.Marginal, ...] | None:
        """What the mechanism reads, of the records that meet the condition."""
        read = grammar.counts_read(self.mechanism, attributes, self.left(space))
        return None if read is None else tuple(grammar.narrowed(table, dict(self.where)) for table in read)

    def answers_queries(self) -> bool:
        return grammar.answers_queries(self.mechanism)

    def check_release(self, space: DatasetSpace) -> None:
        self.mechanism.check_release(self.left(space))

    def run(self, table: Table, space: DatasetSpace, run: workers.Run) -> workers.Output:
        """What the mechanism releases of the records that meet the condition; a larger record stays without its other members."""
        self.check(space)
        of_members = table.members is not None and self.unit != space.units[0]
        left = table.with_members_meeting(self.where) if of_members else table.meeting(self.where)
        made, words = _tables_of(self.mechanism.run(left, self.left(space), run)), self._words(space)
        return attrs.evolve(
            made,
            tables={name: answers.narrowed(table, self.where, words) for name, table in made.tables.items()},
            streams={name: answers.narrowed_stream(stream, self.where, words) for name, stream in made.streams.items()},
        )

    def _words(self, space: DatasetSpace) -> dict[str, str]:
        """The words of the queries about the records that meet the condition, by those of the mechanism: as of its structure."""
        with contextlib.suppress(errors.DpspecError, grammar.NoStructure):
            views, where = _stated(self.mechanism, self.left(space)).views, dict(self.where)
            return {str(view.table): str(grammar.narrowed(view.table, where)) for view in views}
        return {}

    @classmethod
    def examples(cls) -> Iterable[tuple[Filtered, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(mechanism=_count(), where=(("colour", ("red",)),)), _people()


@define
class ParallelPart:
    """One row of a parallel composition.

    Args:
        categories: the categories of the attribute that belong to this part.
        mechanism: the mechanism that is applied to the records of the part.
    """

    categories: Annotated[tuple[str, ...], Items(Text(), least=1)]
    mechanism: Annotated[Mechanism, Registered("mechanisms")]


@define
class Parallel(Mechanism):
    """A mechanism for each part of the records, by an attribute: what one record adds or takes away concerns one of them.

    For one record added or removed the loss is the largest of the parts, not their sum; a record that moves from one part to
    another concerns both (McSherry 2009).

    Args:
        attribute: the attribute that defines the parts.
        parts: rows (categories, mechanism); no category is in two of them.
        unit: whose records they are.
    """

    name: ClassVar[str] = "parallel"

    attribute: Annotated[str, Text()]
    parts: Annotated[tuple[ParallelPart, ...], Items(Nested(ParallelPart), least=1)]
    unit: Annotated[str, Text()] = "person"

    def __attrs_post_init__(self) -> None:
        named = [category for part in self.parts for category in part.categories]
        if len(set(named)) != len(named):
            raise ParameterError("parts", "name a category twice", "parts may not overlap; use composed for what overlaps")

    def composed(self) -> ComposedMechanism:
        """The same as releases about filtered records."""
        filtered = (
            Filtered(mechanism=part.mechanism, where=((self.attribute, part.categories),), unit=self.unit) for part in self.parts
        )
        return ComposedMechanism(parts=tuple(filtered))

    def check(self, space: DatasetSpace) -> None:
        self.composed().check(space)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return self.composed().law(dataset, space)

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        composed = self.composed()
        return composed.structure(space).restated(of=composed, by=self)

    def published_mechanisms(self) -> tuple[Mechanism, ...]:
        return tuple(part.mechanism for part in self.parts)

    def counts_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[blocks.Marginal, ...] | None:
        return self.composed().counts_read(attributes, space)

    def answers_queries(self) -> bool:
        return self.composed().answers_queries()

    def check_release(self, space: DatasetSpace) -> None:
        self.composed().check_release(space)

    def run(self, table: Table, space: DatasetSpace, run: workers.Run) -> workers.Output:
        return self.composed().run(table, space, run)

    @classmethod
    def examples(cls) -> Iterable[tuple[Parallel, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(attribute="colour", parts=(ParallelPart(categories=("red",), mechanism=_count()),)), _people()


@define
class BoundedContributions(Mechanism):
    """T(at most so many records of each user): the first `most` records of each larger record, and the first `in_cell` of a kind.

    The effect of one larger record is bounded by its remaining members, however many it has. The choice reads that
    larger record alone; one that looks at others too would have no such bound (Amin, Kulesza, Munoz Medina and Vassilvitskii
    2019).

    Args:
        mechanism: T, about records of the smaller unit.
        most: how many records are left of each larger one; without it all.
        in_cell: how many records are left of each combination of `by`; without it all.
        by: attributes of the smaller unit.
    """

    name: ClassVar[str] = "bounded"

    mechanism: Annotated[Mechanism, Registered("mechanisms")]
    most: Annotated[int, Integer(0)] | None = None
    in_cell: Annotated[int, Integer(0)] | None = None
    by: Annotated[tuple[str, ...], Items(Text())] = ()

    def __attrs_post_init__(self) -> None:
        if self.most is None and self.in_cell is None:
            raise ParameterError("bounded", "needs `most` or `in_cell`", "write most = 3, or in_cell = 1 with by = [...]")

    @property
    def contribution(self) -> grammar.Contribution:
        """Which records are left."""
        return grammar.Contribution(most=self.most, in_cell=self.in_cell, by=self.by)

    def check(self, space: DatasetSpace) -> None:
        blocks.Membership.needed_in(space)
        blocks.Marginal(attributes=self.by, unit=space.units[-1]).check(space)
        self.mechanism.check(space)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return self.mechanism.law(self.contribution.applied(space.dataset(dataset), space), space)

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        found = _stated(self.mechanism, space)
        if found.reads:
            raise grammar.NoStructure("it reads facts about the records that are left, which universes do not fix")

        def bounded(view: grammar.View) -> grammar.View:
            return grammar.Bounded(view, self.contribution) if view.table.unit == space.units[-1] else view

        return found.restated(of=self.mechanism, by=self, views=bounded)

    def answers_queries(self) -> bool:
        return grammar.answers_queries(self.mechanism)

    def check_release(self, space: DatasetSpace) -> None:
        self.mechanism.check_release(space)

    def check_table(self, table: tables.Countable, space: DatasetSpace) -> None:
        if not isinstance(table, Table) or table.members is None:
            raise errors.TableError("table", "has records without members", "give households together with their persons")

    def run(self, table: Table, space: DatasetSpace, run: workers.Run) -> workers.Output:
        """What the mechanism releases about the larger records with the members that are left of each."""
        self.check(space)
        self.check_table(table, space)
        assert table.members is not None  # noqa: S101 - checked
        left = self._left(table.members.table, table.members.owner)
        return _tables_of(self.mechanism.run(table.with_members(left), space, run))

    def _left(self, members: Table, owner: AnyIntegers) -> Mask:
        """The rows that are left: the first of each owner in the order of the categories' names, as in the law."""
        ranks = {a.name: sorting.ranks(a, members.codes[a.name]) for a in members.attributes}
        order = np.lexsort((*reversed(ranks.values()), owner))
        if self.in_cell is not None:
            inner = [ranks[name] for name in self.by if name in ranks]
            order = order[_place_in_run([owner, *inner], order) < self.in_cell]
        if self.most is not None:
            order = order[_place_in_run([owner], order) < self.most]
        left = np.zeros(len(owner), dtype=np.bool_)
        left[order] = True
        return left

    @classmethod
    def examples(cls) -> Iterable[tuple[BoundedContributions, DatasetSpace]]:
        """What the conformance kit checks it with."""
        sex = Attribute(name="sex", categories=("f", "m"))
        homes = blocks.Households(household=(Attribute(name="block", categories=("a",)),), person=(sex,), most=1, members=2)
        count = Geometric(queries=(blocks.Marginal(attributes=("sex",)),), ratio=Fraction(1, 2), unit="household")
        yield cls(mechanism=count, most=1), homes
        yield cls(mechanism=count, in_cell=1, by=("sex",)), homes


@define
class PostProcessed(Mechanism):
    """f(T(x)): numbers of an output rounded, cut off or hidden, without a look at the data.

    A function of an output alone discloses no more than the output (Dwork, McSherry, Nissim and Smith 2006).

    Args:
        mechanism: T.
        at_least: numbers below this are replaced by it.
        rounded_to: numbers are rounded to multiples of this, halves upward.
        hidden_below: numbers below this, after all else, are not shown.
    """

    name: ClassVar[str] = "post-processed"

    mechanism: Annotated[Mechanism, Registered("mechanisms")]
    at_least: Annotated[int, Integer()] | None = None
    rounded_to: Annotated[int, Integer(1)] | None = None
    hidden_below: Annotated[int, Integer()] | None = None

    def __attrs_post_init__(self) -> None:
        if self.at_least is None and self.rounded_to is None and self.hidden_below is None:
            raise ParameterError(self.name, "changes nothing", "give at_least, rounded_to or hidden_below")

    def check(self, space: DatasetSpace) -> None:
        self.mechanism.check(space)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return self._law_of_changed(self.mechanism.law(dataset, space))

    def _law_of_changed(self, law: Law) -> Law:
        """The law of the changed outcomes; entries that are drawn independently stay independent."""
        if type(law) is laws.Product:  # a derived class may have other outcomes
            return laws.product([self._law_of_changed(part) for part in law.laws])
        return laws.push_forward(law, self._changed)

    def _changed(self, output: Any) -> Any:
        """The outcome with its numbers changed. One that is hidden is not one that is absent: its row is released."""
        if isinstance(output, tuple):
            return tuple(map(self._changed, output))
        if not isinstance(output, int) or isinstance(output, bool):
            return output
        shown = self.shown(output)
        return answers.WITHHELD if shown is None else shown

    def shown(self, value: int) -> int | None:
        """The shown value of a number; None where it is hidden.

        >>> PostProcessed(mechanism=_count(), rounded_to=5, hidden_below=5).shown(7)
        5
        """
        if self.at_least is not None:
            value = max(value, self.at_least)
        if self.rounded_to is not None:
            value = (2 * value + self.rounded_to) // (2 * self.rounded_to) * self.rounded_to
        return None if self.hidden_below is not None and value < self.hidden_below else value

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        found = _stated(self.mechanism, space).restated(of=self.mechanism, by=self)
        return attrs.evolve(found, publishes_views=False)

    def counts_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[blocks.Marginal, ...] | None:
        return grammar.counts_read(self.mechanism, attributes, space)

    def answers_queries(self) -> bool:
        return grammar.answers_queries(self.mechanism)

    def check_release(self, space: DatasetSpace) -> None:
        self.mechanism.check_release(space)
        if not self.answers_queries():
            rule = "changes answers to queries, and the mechanism does not state that it releases such"
            raise errors.ReleaseError(self.name, rule, "post-process a mechanism that answers queries", value=self.mechanism.name)

    def run(self, table: Table, space: DatasetSpace, run: workers.Run) -> workers.Output:
        """The released answers, changed; those that are hidden are suppressed."""
        made = self.mechanism.run(table, space, run)
        tables = {**made.tables, **{name: stream.joined() for name, stream in made.streams.items()}}
        return workers.Output(tables={name: answers.changed(released, self.shown) for name, released in tables.items()})

    @classmethod
    def examples(cls) -> Iterable[tuple[PostProcessed, DatasetSpace]]:
        """What the conformance kit checks it with."""
        from dpspec_noise.choice import ThresholdRelease

        yield cls(mechanism=_count(), at_least=0, rounded_to=2), _people()
        keys = ThresholdRelease(query=blocks.Marginal(attributes=("colour",)), ratio=Fraction(1, 3), threshold=-20)
        yield cls(mechanism=keys, hidden_below=30), _people()


# --- what they share ------------------------------------------------------------------------------


def _stated(mechanism: Mechanism, space: DatasetSpace) -> grammar.Structure:
    """How a mechanism is made on a space; raises NoStructure where it does not say so."""
    found = grammar.stated_structure(mechanism, space)
    if found is None:
        raise grammar.NoStructure(f"the mechanism {mechanism.name} does not say how it is made")
    return found


def _tables_of(output: workers.Output) -> workers.Output:
    """The released tables alone: what is reported with them may state what is fixed of all records, and not of some."""
    return workers.Output(tables=output.tables, streams=output.streams)


def _with_own_sample(found: grammar.Structure, space: DatasetSpace) -> grammar.Structure:
    """The structure with its sample as a part of its view, where there are other views."""
    if not found.is_sampled or (found.sampled == 1 and found.drawn is None):
        return found
    if len(found.views) != 1 or found.views[0].table.unit != space.units[0]:
        reason = "one of several releases together answers several queries, or about members, on a sample of its own"
        raise grammar.NoStructure(reason)
    if found.drawn is not None:
        if found.drawn_by is None:
            raise grammar.NoStructure("one of several releases together draws a sample of a fixed size, not from all records")
        view = grammar.DrawnView(found.views[0], found.drawn, blocks.sizes_of(space)[0])
        stated = grammar.SizeHypothesis(view=view, by=found.drawn_by)
        return attrs.evolve(found, drawn=None, drawn_by=None, views=(view,), hypotheses=(stated,))
    return attrs.evolve(found, sampled=Fraction(1), views=(grammar.SampledView(found.views[0], found.sampled),))


def _meeting(known: Dataset, space: DatasetSpace, unit: str, where: Conditions) -> Dataset:
    """The dataset of the records that meet the conditions, in a space that may have fewer records than the dataset.

    Raises:
        NotInSpaceError: when the space has no such dataset.
    """
    places = {a.name: place for place, a in enumerate(space.attributes_of(unit))}

    def meets(record: Record) -> bool:
        return all(record[places[name]] in categories for name, categories in where)

    if unit != space.units[0]:
        members = blocks.Membership.needed_in(space)
        return members.with_members(known, lambda records: [place for place, record in enumerate(records) if meets(record)])
    cells = blocks.Collections.needed_in(space)
    every = cells.cells_of(known)
    spend(len(every))
    counts = Counter({  # equal records are looked at once
        cell: many for cell, many in Counter(every).items() if all(map(meets, cells.records_of_cell(cell, unit)))
    })
    return space.dataset([cell for cell in every if cell in counts]) if cells.is_sequence else cells.from_counts(counts)


def _place_in_run(keys: Sequence[AnyIntegers], order: Integers) -> Integers:
    """For each row of an order, how many rows before it have the same keys."""
    again = np.lexsort((np.arange(len(order)), *(key[order] for key in reversed(keys))))
    changed = np.zeros(len(order), dtype=np.bool_)
    changed[:1] = True
    for key in keys:
        ranked = key[order][again]
        changed[1:] |= ranked[1:] != ranked[:-1]
    first = np.maximum.accumulate(np.where(changed, np.arange(len(order)), 0))
    places = np.empty(len(order), dtype=np.int64)
    places[again] = np.arange(len(order)) - first
    return places


def _count() -> Geometric:
    return Geometric(queries=(blocks.Marginal(attributes=("colour",)),), ratio=Fraction(1, 2))


def _people() -> UnorderedRecords:
    return UnorderedRecords(attributes=(Attribute(name="colour", categories=("red", "blue")),), most=2)
