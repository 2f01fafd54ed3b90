"""Mechanisms and their claims: a mechanism releases data, and a claim is a statement about it.

A mechanism is the map x -> P_x from datasets to laws of the output, together with the sampler that draws from P_x on real tables.
Its claims are statements to be verified; dpspec assumes none of them.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Protocol, runtime_checkable

import attrs

from dpspec.base.errors import TO_ITS_AUTHOR, DpspecError, PluginContractError, ReleaseError, raised_at
from dpspec.base.params import Items, Registered, define
from dpspec.base.promises import Promising
from dpspec.blocks.invariant import Invariant, Marginal
from dpspec.blocks.multiverse import LevelSets, seen_to_fix
from dpspec.blocks.parts import own_attributes, smallest_datasets
from dpspec.blocks.space import MEMBERS, Attribute, Dataset, DatasetSpace
from dpspec.grammar.spec import PrivacySpec

if TYPE_CHECKING:
    from fractions import Fraction

    from dpspec.base.exact import Bracket
    from dpspec.base.randomness import PlacedRandomness, Randomness
    from dpspec.grammar.sorting import SortedHouseholds, SortedRelease, Sorter
    from dpspec.grammar.structure import NearestLaws, ProvedBound, Structure
    from dpspec.grammar.tables import Countable, Table
    from dpspec.grammar.workers import Output, Run
    from dpspec.laws.law import Law


@attrs.frozen(kw_only=True)
class Claim:
    """A published statement that a mechanism satisfies a specification, as printed.

    Args:
        label: a short name of the statement.
        source: where it is printed (author, year, theorem).
        spec: the specification it states.
    """

    label: str
    source: str
    spec: PrivacySpec


@attrs.frozen(kw_only=True)
class Symmetry:
    """A renaming g of datasets with a renaming h of outcomes under which a mechanism stays what it is.

    P_{g x} is the law of h(Y) for Y ~ P_x, and d_X(g x, g x') = d_X(x, x'); both are checked wherever it is used.

    Args:
        label: what is renamed.
        dataset: g; it may raise NotInSpaceError where it leads out of the space.
        outcome: h.
    """

    label: str
    dataset: Callable[[Any], Dataset]
    outcome: Callable[[Any], Hashable]


@attrs.frozen(kw_only=True)
class Kept:
    """Properties that a release shares with its table for every draw; they are checked for every release before it is published.

    Args:
        attributes: the columns; the multiset of the records, seen through them, stays what it is. Of no columns: their number.
        members: whether each record stays together with all of its members.
        in_order: whether the records also keep their places.

    >>> str(Kept(attributes=("size", "tenure"), members=True))
    'records by size, tenure, each with its members'
    """

    attributes: tuple[str, ...]
    members: bool = False
    in_order: bool = False

    def __str__(self) -> str:
        words = f"records by {', '.join(self.attributes)}" if self.attributes else "the number of records"
        return words + (", each with its members" if self.members else "") + (", in order" if self.in_order else "")


RELEASES_ITS_LAW = "the code that releases data has the law that the mechanism states"
"""The assumption of every verdict on a law. The claim itself is about the law, so that its status is stated without it."""


class Mechanism(Promising, ABC):
    """A data release mechanism: a law P_x for every dataset x, and a sampler for real tables."""

    name: ClassVar[str]

    assumes: ClassVar[tuple[str, ...]] = (RELEASES_ITS_LAW,)
    """The assumptions of a verdict on its laws, one short line each."""

    resumable: ClassVar[bool] = False
    """Whether `run` works in stages that it keeps in `run.checkpoints`."""

    @abstractmethod
    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """P_x, the law of the output on a dataset of the space.

        Raises:
            NotInSpaceError: for anything else; `space.dataset(dataset)` raises it.
        """

    def check(self, space: DatasetSpace) -> None:
        """Raise IncompatibleBlocksError when the mechanism cannot run on the space."""
        return

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """The mechanism's theorems as printed, on the given space."""
        return ()

    def structure(self, space: DatasetSpace) -> Structure | None:
        """The structure of the output in terms of the records; optional: with it claims are proved on spaces of any size.

        It is valid only for the class that defines it: a derived class may have changed the law, and states its own structure.
        A mechanism that applies another one to some of the records uses the structure of the other one on the space of the
        remaining datasets (`dpspec.plugin.blocks.resized`), and states it for itself (`Structure.restated`).

        Raises:
            NoStructure: where it has none, with the reason.
        """
        return None

    def proved(self, spec: PrivacySpec) -> ProvedBound | None:
        """A theorem about this mechanism that bounds the constant of a claim; optional, for a mechanism without a `structure`.

        It counts for the class that states it alone, as a structure does.
        """
        return None

    def constant_at(self, spec: PrivacySpec, dataset: Dataset) -> Bracket | None:
        """The Lipschitz constant of the mechanism inside the universe that holds a dataset, by a theorem; optional.

        None where the theorem does not speak about these universes, this distance and this output divergence.
        """
        return None

    def nearest_laws(self, spec: PrivacySpec, dataset: Dataset | None = None) -> NearestLaws | None:
        """A theorem on its laws on two datasets of one universe at the least possible distance; optional.

        It counts for the class that states it alone, as a structure does.

        Args:
            spec: whose space, universes and input divergence are meant.
            dataset: where it is given, its universe alone.
        """
        return None

    def reduced(self, space: DatasetSpace) -> Mechanism:
        """The mechanism with smaller parameters, where its law is too large to compute even on a few records; optional.

        A structure is compared with the law on a reduced space. Override this where the size of the law depends on parameters
        and not on the space, such as the number of bits of a report. The result has to be an object of the same class.

        Args:
            space: the reduced space: few categories for each attribute, and at most four records.
        """
        return self

    def degrades(self, parameter: str, to: Any) -> str | None:
        """The reason why the same mechanism with `parameter` at `to`, or between, is a post-processing of this one; optional.

        It then reveals no more, by every output divergence and every pair of datasets: it keeps each promise that this one keeps.
        """
        return None

    def symmetries(self, space: DatasetSpace) -> tuple[Symmetry, ...]:
        """Renamings that do not change the mechanism, so that fewer pairs need be compared; optional."""
        return ()

    def keeps(self, columns: tuple[str, ...]) -> tuple[Kept, ...]:
        """The properties of a table with these columns that no release changes; optional.

        It is a promise about `run`, checked on the files of every release against the table that was read.
        """
        return ()

    def check_release(self, space: DatasetSpace) -> None:
        """Raise ReleaseError where it is known without a table that the mechanism releases none.

        It is called before a table is read and before a budget is spent. A mechanism with `release` or `run` of its own is taken
        to release tables; one that is made of others checks these.
        """
        if type(self).release is Mechanism.release:
            self._check_run()

    def _check_run(self) -> None:
        if type(self).run is Mechanism.run:
            raise ReleaseError(self.name, "has no exact sampler for tables", "choose a mechanism with discrete noise")

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """Draw one output on a real table with exact samplers: the table of `run`, where a class states that instead.

        Raises:
            ReleaseError: when the mechanism has no exact sampler (continuous noise cannot be drawn exactly), or its `run`
                releases several tables.
            TableError: when the table does not fit the space.
        """
        self._check_run()
        from dpspec.grammar.workers import Run

        output = self.run(table, space, Run(source=source))
        if len(output.tables) + len(output.streams) > 1:
            rule = "releases several tables, and one is wanted"
            raise ReleaseError(self.name, rule, "name one of its parts, if this is what is meant")
        return output.main

    def run(self, table: Table, space: DatasetSpace, run: Run) -> Output:
        """One release with all that belongs to it: several tables, a report, the work cut for workers.

        A mechanism that needs none of this implements `release` alone.
        """
        from dpspec.grammar.workers import Output

        return Output(tables={"released": self.release(table, space, run.source)})

    _promised: ClassVar[Mapping[str, Any]] = {
        "symmetries": symmetries,
        "degrades": degrades,
        "__str__": object.__str__,
    }
    _asides = frozenset(
        {
            *("check", "check_release", "claims", "constant_at", "keeps", "nearest_laws", "proved", "reduced", "release"),
            *("resumable", "run", "structure"),
        }
    )


@attrs.frozen(kw_only=True)
class KnownPower:
    """A theorem on the power of tests between a table and another one.

    Args:
        power: the largest power, in a bracket.
        citation: where it is proved.
    """

    power: Bracket
    citation: str


@attrs.frozen(kw_only=True)
class SimulatedPower:
    """A lower bound on the power of tests between two tables, from simulated releases of both.

    Args:
        power: the largest power is at least this, with the confidence.
        confidence: the probability with which such a statement is right.
        runs: simulated releases of each of the two tables.
        seed: of the simulation.
    """

    power: Fraction
    confidence: Fraction
    runs: int
    seed: int


@runtime_checkable
class SimulatedOnTables(Protocol):
    """A mechanism that simulates the power of a test on a real table, where no theorem gives it; optional."""

    def simulated_power_on_table(self, spec: PrivacySpec, table: Table, level: Fraction) -> SimulatedPower | None:
        """The power at a level of a test between a table and another one of its universe at the nearest distance, at least."""


@runtime_checkable
class LawsOnTables(Protocol):
    """Theorems about a mechanism on a real table, too large to be listed record by record; optional.

    It counts for the class that states it alone, as a structure does (`states_itself`).
    """

    def nearest_laws_of_table(self, spec: PrivacySpec, table: Table) -> NearestLaws | None:
        """`Mechanism.nearest_laws` for the universe that holds a table; None where no theorem speaks about it."""

    def power_on_table(self, spec: PrivacySpec, table: Table, level: Fraction) -> KnownPower | None:
        """The largest power at a level of a test between a table and another one of its universe at the nearest distance.

        The table itself is one of the two; what the other tables of its universe hold does not matter. None where no theorem
        speaks about it.
        """


@runtime_checkable
class CountLaws(Protocol):
    """A mechanism that publishes tables of counts, each number with a law that depends on its true count alone; optional."""

    def counted_tables(self, space: DatasetSpace) -> tuple[tuple[str, ...], ...]:
        """The attributes of each table that is published; () for the total."""

    def tables_are_independent(self) -> bool:
        """Whether numbers of different tables are independent, too, given the dataset."""

    def count_law(self, attributes: Sequence[str], count: int, space: DatasetSpace) -> Law | None:
        """The law of the number that is published for a count of the table of these attributes.

        Numbers of one table are independent. None where no such table is published, or its numbers are made otherwise.
        """


@runtime_checkable
class CountsUnit(Protocol):
    """A mechanism that states whose records it counts or releases; optional. Without it they are those of the largest unit."""

    def counted_unit(self, space: DatasetSpace) -> str:
        """The unit whose records are counted or released, one of the space."""


def counted_unit(mechanism: Mechanism, space: DatasetSpace) -> str:
    """The unit whose records a mechanism counts or releases."""
    return mechanism.counted_unit(space) if isinstance(mechanism, CountsUnit) else space.units[0]


@runtime_checkable
class CountErrors(Protocol):
    """A mechanism with `CountLaws` that states for which counts its errors are those of smaller ones; optional.

    Without it a margin is known for the counts alone for which it was computed, and released numbers have none.
    """

    def last_count(self, space: DatasetSpace) -> int:
        """A count whose errors, with those of smaller counts, are all: a larger count has the law of Y - n of one of them."""


@runtime_checkable
class StatesMemory(Protocol):
    """A mechanism that holds more than its table, and states how much; optional."""

    def memory_of_run(self, records: int, space: DatasetSpace) -> int:
        """The bytes that a run holds at least, without the table that is read.

        Args:
            records: how many records there are, of all units together; 0 where that is not known yet.
            space: the dataset space.
        """


def memory_of_run(mechanism: Mechanism, records: int, space: DatasetSpace) -> int:
    """What a mechanism holds in addition to the table, in bytes; 0 where it does not state it."""
    return mechanism.memory_of_run(records, space) if isinstance(mechanism, StatesMemory) else 0


@runtime_checkable
class ChecksTables(Protocol):
    """A mechanism that refuses some tables of its space, such as households without their persons; optional."""

    def check_table(self, table: Countable, space: DatasetSpace) -> None:
        """Raise TableError where nothing can be released of a table; called before a budget is spent."""


def check_table(mechanism: Mechanism, table: Countable, space: DatasetSpace) -> None:
    """Refuse a table of which a mechanism, or one that it is made of, releases nothing.

    Raises:
        TableError: it is such a table.
    """
    for part in mechanisms_in(mechanism):
        if isinstance(part, ChecksTables):
            part.check_table(table, space)


def released(mechanism: Mechanism, table: Table, space: DatasetSpace, source: Randomness) -> Table:
    """The release of a table by a mechanism that may be anyone's.

    Raises:
        PluginContractError: it raised, or returned no table. What it says is left out, as it may quote the table.
    """
    subject = f"mechanism {mechanism.name}"
    try:
        found = mechanism.release(table, space, source)
    except (DpspecError, MemoryError):
        raise
    except Exception as problem:
        rule = f"raised {type(problem).__name__} in release() ({raised_at(problem)})"
        raise PluginContractError(subject, rule, TO_ITS_AUTHOR) from None
    if not isinstance(found, type(table)):
        raise PluginContractError(subject, "release() must return a Table", value=type(found).__name__)
    return found


def mechanisms_in(block: Any) -> Iterator[Mechanism]:
    """A mechanism and those that it is made of: its parameters, and what these are made of."""
    if isinstance(block, Mechanism):
        yield block
    values = [getattr(block, field.name) for field in attrs.fields(type(block))] if attrs.has(type(block)) else ()
    for value in values:
        for part in value if isinstance(value, tuple) else (value,):
            yield from mechanisms_in(part)


@runtime_checkable
class ReadsCounts(Protocol):
    """A mechanism whose release reads nothing of a table but counts of cells; optional.

    Such a mechanism releases a table that is larger than memory. Its `release` is called with a `tables.CountedTable`, which
    holds the counts that it states here and the number of records, and has no columns.
    """

    def counts_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[Marginal, ...] | None:
        """The tables of counts that a release reads of a table with these columns; None where it reads more than counts."""


def counts_read(mechanism: Mechanism, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[Marginal, ...] | None:
    """All that a release reads of a table, where it is counts of cells and the mechanism states it; None otherwise.

    A class that is derived from the one that states it, and has a `release` or `run` of its own, states it for itself.

    Args:
        mechanism: what releases the table.
        attributes: the columns of the table.
        space: the dataset space.
    """
    if not isinstance(mechanism, ReadsCounts) or mechanism.keeps(tuple(a.name for a in attributes)):
        return None
    return mechanism.counts_read(attributes, space) if _states_of_release(mechanism, "counts_read") else None


def _states_of_release(mechanism: Mechanism, name: str) -> bool:
    """Whether a statement about releases is made by the class that releases, or by one that is derived from it."""
    for cls in type(mechanism).__mro__:
        if name in vars(cls):
            return True
        if not {"release", "run"}.isdisjoint(vars(cls)):
            return False
    return False


@runtime_checkable
class KeepsInvariants(Protocol):
    """A mechanism whose released records have the invariants of its table for every draw, and that states which; optional.

    It is for invariants that are no multisets of records seen through some columns: those are stated by `Mechanism.keeps`.
    """

    def kept_invariants(self, space: DatasetSpace) -> tuple[Invariant, ...]:
        """The invariants whose values each release has from its table."""


def keeps_invariant(mechanism: Mechanism, invariant: Invariant, space: DatasetSpace, unit: str) -> bool:
    """Whether a mechanism states that its released records have the value that an invariant has on its table.

    The universes of a claim say where protection is promised. That the release lies in the universe of its table is another
    statement: randomised response satisfies claims within invariants and keeps none of them.

    Args:
        mechanism: the mechanism.
        invariant: the invariant.
        space: the dataset space.
        unit: what a record of its tables is.

    >>> from dpspec.blocks.records import UnorderedRecords
    >>> from dpspec.laws.law import FiniteLaw
    >>> class Shuffled(Mechanism):
    ...     name = "shuffled-names"
    ...     def law(self, dataset, space):
    ...         return FiniteLaw.point(dataset)
    ...     def keeps(self, columns):
    ...         return (Kept(attributes=("age",)),)
    >>> people = UnorderedRecords(attributes=(Attribute(name="age", count=90), Attribute(name="name", count=9)))
    >>> [keeps_invariant(Shuffled(), Marginal(attributes=(name,)), people, "person") for name in ("age", "name")]
    [True, False]
    """
    own = tuple(a.name for a in own_attributes(space, unit) if a.name != MEMBERS)
    stated = list(mechanism.kept_invariants(space)) if isinstance(mechanism, KeepsInvariants) else []
    for kept in mechanism.keeps(own):
        stated.append(Marginal(attributes=kept.attributes, unit=unit))
        if kept.members and len(space.units) > 1 and unit == space.units[0]:
            inner = (a.name for a in own_attributes(space, space.units[1]))
            stated.append(Marginal(attributes=(*kept.attributes, *inner), unit=space.units[1]))
    return seen_to_fix(stated, invariant, space) is not None


@runtime_checkable
class ReleasesRecords(Protocol):
    """A mechanism that releases one record for each record of a table, in their order, each drawn by itself; optional.

    Such a mechanism releases a table that is larger than memory, batch by batch. Its `release` is the one of a single batch.
    """

    def release_batch(self, batch: Table, first: int, space: DatasetSpace, source: PlacedRandomness) -> Table:
        """The released records of a batch, always with the same columns.

        What is drawn for a record depends on the source, the record and its place in the table, and on nothing else.

        Args:
            batch: some records in a row; there may be none.
            first: the place of the first of them in the whole table, from 0 on.
            space: the dataset space.
            source: randomness by place.
        """


def releases_records(mechanism: Mechanism) -> bool:
    """Whether a mechanism states that it releases each record by itself, and nothing else.

    A class that is derived from the one that states it, and has a `release` of its own, states it for itself. One with a `run` of
    its own, or with stages, may release more.
    """
    is_plain = type(mechanism).run is Mechanism.run and not mechanism.resumable
    return is_plain and isinstance(mechanism, ReleasesRecords) and _states_of_release(mechanism, "release_batch")


@runtime_checkable
class ReleasesSorted(Protocol):
    """A mechanism that releases a table larger than memory with the help of a sorter, such as a swap; optional.

    It releases the same records as its `run`, which holds the table. It counts for the class that states it alone
    (`releases_sorted`), since a class that is derived from it may draw otherwise.
    """

    def release_sorted(
        self, batches: Iterable[Table], attributes: tuple[Attribute, ...], space: DatasetSpace, run: Run, sorter: Sorter
    ) -> SortedRelease:
        """The released table of the records of several batches.

        What is held grows with the number of strata, nodes or cells, and not with the number of records.

        Args:
            batches: the records of the table in their order, without members; read once.
            attributes: the columns of the table.
            space: the dataset space.
            run: what the mechanism draws and works with.
            sorter: sorts what memory does not hold.
        """


def releases_sorted(mechanism: Mechanism) -> bool:
    """Whether the class of a mechanism states that it releases tables that are larger than memory by sorting."""
    return isinstance(mechanism, ReleasesSorted) and states_itself(mechanism, "release_sorted") and not mechanism.resumable


@runtime_checkable
class ReleasesHouseholdsSorted(Protocol):
    """A mechanism that releases records with members, such as households with persons, larger than memory; optional.

    Members stay as they are, and with their record. It counts for the class that states it alone (`releases_households_sorted`).
    """

    def release_households_sorted(
        self, batches: Iterable[Table], attributes: tuple[Attribute, ...], space: DatasetSpace, run: Run, sorter: Sorter
    ) -> SortedHouseholds:
        """The released records in the order of the release, without their members; see `ReleasesSorted.release_sorted`.

        Args:
            batches: the records of the table in their order, each with its members; read once.
            attributes: the columns of the records.
            space: the dataset space.
            run: what the mechanism draws and works with.
            sorter: sorts what memory does not hold.
        """


def releases_households_sorted(mechanism: Mechanism) -> bool:
    """Whether the class of a mechanism states that it releases records with members that are larger than memory by sorting."""
    stated = isinstance(mechanism, ReleasesHouseholdsSorted) and states_itself(mechanism, "release_households_sorted")
    return stated and not mechanism.resumable


@runtime_checkable
class ReleasesCells(Protocol):
    """A mechanism that releases numbers for the cells of tables of counts, each from what is read of its own cell; optional.

    It says by `cells_read` that its `release_sorted` releases tables with more cells than memory holds.
    """

    def cells_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[Marginal, ...] | None:
        """The tables of counts that are read of a table with these columns; None where their cells cannot be listed in pieces."""


def cells_read(mechanism: Mechanism, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[Marginal, ...] | None:
    """The tables of counts of a mechanism that releases them by sorting; None where it does not.

    Args:
        mechanism: what releases the table.
        attributes: the columns of the table.
        space: the dataset space.
    """
    if not isinstance(mechanism, ReleasesCells) or not releases_sorted(mechanism):
        return None
    return mechanism.cells_read(attributes, space)


@runtime_checkable
class ScalesNoise(Protocol):
    """A mechanism whose noise can be made wider; optional."""

    def with_wider_noise(self, factor: Fraction) -> Mechanism:
        """The same mechanism with noise that is at least `factor` times as wide, `factor` being 1 or larger.

        A loss of epsilon, or of mu, becomes about epsilon / factor; rounding goes towards more noise.
        """


@runtime_checkable
class PublishesOthers(Protocol):
    """A mechanism that publishes what others release of the same dataset, or of some of its records, and nothing else; optional.

    It counts for the class that states it alone (`states_itself`).
    """

    def published_mechanisms(self) -> tuple[Mechanism, ...]:
        """The mechanisms whose releases it publishes as they are."""


@runtime_checkable
class AnswersQueries(Protocol):
    """A mechanism all of whose released tables are answers to queries (`dpspec.plugin.answers`), and no records; optional.

    In the outcomes of its law a whole number is a released number, and nothing else is: what distinguishes tables, such as which
    one was chosen, is a text. So numbers can be changed in an outcome and in the released tables alike.
    """

    def answers_queries(self) -> bool:
        """Whether that is so; a mechanism that publishes releases of others says what these say."""


def answers_queries(mechanism: Mechanism) -> bool:
    """Whether a mechanism states that it releases answers to queries."""
    return isinstance(mechanism, AnswersQueries) and mechanism.answers_queries()


@runtime_checkable
class ExchangesValues(Protocol):
    """A mechanism that moves values of some attributes between records, such as a swap; optional."""

    def exchanged_values(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The attributes whose values records exchange, and those in which the records agree between which they move."""


def states_itself(mechanism: Mechanism, method: str) -> bool:
    """Whether the class of a mechanism defines a method itself: a class that is derived from it may have changed its law."""
    return method in vars(type(mechanism))


def stated_structure(mechanism: Mechanism, space: DatasetSpace) -> Structure | None:
    """The structure of a mechanism, as its own class states it; None where it does not, or only a class above it does.

    Raises:
        NoStructure: where the mechanism has none, with the reason; a mechanism that applies it has none for the same reason.
    """
    return mechanism.structure(space) if "structure" in vars(type(mechanism)) else None


def first_datasets(space: DatasetSpace) -> Iterator[Dataset]:
    """Three datasets on which `check` evaluates laws: a space is rejected for one of them, a later one when its law is computed.
    None of a space whose datasets are very large.

    >>> from dpspec.blocks.vectors import BitVectors
    >>> list(first_datasets(BitVectors(length=8)))[-1]
    (0, 0, 0, 0, 0, 0, 1, 0)
    """
    return itertools.islice(smallest_datasets(space), 3)


@define
class ReleaseInvariants(Mechanism):
    """T(x) = c(x): publish the invariants exactly (Bailie, Gong and Meng 2023).

    Inside the universes of its own invariants its law does not vary, so it has budget 0 there (Bailie, Gong and Meng 2023);
    it is the mechanism that separates a multiverse from a coarser one.

    Args:
        invariants: c.
    """

    name: ClassVar[str] = "release-invariants"

    invariants: Annotated[tuple[Invariant, ...], Items(Registered("invariants"), least=1)]

    def check(self, space: DatasetSpace) -> None:
        LevelSets(invariants=self.invariants).check(space)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        from dpspec.laws.law import FiniteLaw

        known = space.dataset(dataset)
        return FiniteLaw.point(tuple(invariant.value(known, space) for invariant in self.invariants))
