"""Mechanisms, their claims, and flavours: a mechanism releases data, a claim is a statement about it, a flavour is a definition.

A plain function can be used as a mechanism. A `DatasetAdapter` converts the dataset to the type that the function expects (a
list, a data frame, an array or a text). A `GeneratorAdapter` provides the random number generator that the function uses.

A mechanism is the map x -> P_x from datasets to laws of the output, together with the sampler that draws
from P_x on real tables. Its claims are statements to be verified; dpspec assumes none of them.

A flavour is a specification on a small instance together with two mechanisms: one that satisfies it and one that does
not. It says which blocks it changes relative to pure differential privacy, and who defined it where.
"""

from __future__ import annotations

import collections.abc
import contextlib
import copy
import inspect
import itertools
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Protocol, runtime_checkable

import attrs

from dpspec.base.errors import AdapterError, ReleaseError
from dpspec.base.params import Items, Registered, define
from dpspec.base.promises import Promising
from dpspec.blocks.invariant import Invariant, Marginal
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace
from dpspec.grammar.spec import PrivacySpec

if TYPE_CHECKING:
    from fractions import Fraction

    from dpspec.base.exact import Bracket
    from dpspec.base.randomness import PlacedRandomness, Randomness
    from dpspec.grammar.structure import NearestLaws, ProvedBound, Structure
    from dpspec.grammar.tables import Table
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


class Mechanism(Promising, ABC):
    """A data release mechanism: a law P_x for every dataset x, and a sampler for real tables."""

    name: ClassVar[str]

    assumes: ClassVar[tuple[str, ...]] = ("the code that releases data has the law that the mechanism states",)
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

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """Draw one output on a real table with exact samplers.

        Raises:
            ReleaseError: when the mechanism has no exact sampler (continuous noise cannot be drawn exactly).
            TableError: when the table does not fit the space.
        """
        raise ReleaseError(self.name, "has no exact sampler for tables", "choose a mechanism with discrete noise")

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
            *("check", "claims", "constant_at", "keeps", "nearest_laws", "proved", "reduced", "release", "resumable", "run"),
            "structure",
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
class ScalesNoise(Protocol):
    """A mechanism whose noise can be made wider; optional."""

    def with_wider_noise(self, factor: Fraction) -> Mechanism:
        """The same mechanism with noise that is at least `factor` times as wide, `factor` being 1 or larger.

        A loss of epsilon, or of mu, becomes about epsilon / factor; rounding goes towards more noise.
        """


@runtime_checkable
class PublishesOthers(Protocol):
    """A mechanism that publishes what other mechanisms release of the same dataset, and nothing else; optional.

    It counts for the class that states it alone (`states_itself`).
    """

    def published_mechanisms(self) -> tuple[Mechanism, ...]:
        """The mechanisms whose releases it publishes as they are."""


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

    >>> from dpspec.blocks.vectors import BitVectors
    >>> list(first_datasets(BitVectors(length=8)))[-1]
    (0, 0, 0, 0, 0, 0, 1, 0)
    """
    return itertools.islice(space.datasets(), 3)


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


# --- flavours -------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Example:
    """A mechanism, and why it satisfies a flavour or fails it.

    Args:
        title: what the mechanism does, in a few words.
        mechanism: the mechanism.
        because: the argument in one sentence.
    """

    title: str
    mechanism: Mechanism
    because: str


class Flavour(ABC):
    """A published definition of differential privacy as a specification.

    A subclass registers under its `name`; nothing that it says is believed: the engine judges both examples.
    """

    name: ClassVar[str]

    title: ClassVar[str]
    """The definition in one line."""
    citation: ClassVar[str]
    """The source of the definition: author, publication and year."""
    reference: ClassVar[str] = ""
    """The ID of the definition in the notes of this project, if it has one."""
    changes: ClassVar[tuple[str, ...]]
    """The blocks that differ from pure differential privacy: names of fields of `PrivacySpec`; () for pure privacy itself."""

    explained: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Findings of the linter that its file is meant to have, as pairs (code, reason)."""

    @abstractmethod
    def spec(self) -> PrivacySpec:
        """The five blocks on a space small enough to look at every pair."""

    def compared(self) -> PrivacySpec:
        """The same definition where the family is compared: on an instance that others share, if it can be stated there."""
        return self.spec()

    @abstractmethod
    def satisfied_by(self) -> Example:
        """A mechanism that satisfies the specification."""

    @abstractmethod
    def broken_by(self) -> Example:
        """A mechanism that does not, although it may look as if it did."""


# --- plain functions ------------------------------------------------------------------------------


PlainFunction = Callable[..., Any]
"""A function of a dataset, and of a generator where it takes one, to an output."""


class DatasetAdapter(ABC):
    """Converts a dataset to the type that a plain function expects: a data frame, an array, a text; registered under its
    `name`."""

    name: ClassVar[str]

    annotations: ClassVar[tuple[str, ...]] = ()
    """Annotations of a function's first parameter that ask for it, such as ``pandas.DataFrame`` or ``list[dict]``."""
    by_entry: ClassVar[bool] = False
    """Whether it is a list, or an array of numbers, whose entries are made of one entry of the dataset each, in its order."""

    @abstractmethod
    def written(self, dataset: Dataset, space: DatasetSpace) -> Any:
        """A dataset in this form; raises AdapterError where the form has no place for it, or a library is missing."""

    def copied(self, written: Any) -> Any:
        """A deep copy, so that a function cannot change the original."""
        return copy.deepcopy(written)


class ListAdapter(DatasetAdapter):
    """A list: of entries, of records, of the characters of a text. The default for functions that declare no type."""

    name: ClassVar[str] = "list"
    annotations: ClassVar[tuple[str, ...]] = ("list",)

    def written(self, dataset: Dataset, space: DatasetSpace) -> Any:
        if not isinstance(dataset, (tuple, str)):
            raise AdapterError("adapter", f"a dataset of {space.name} is no sequence", "leave it as it is", value=self.name)
        return list(dataset)


@attrs.frozen
class ModelledCall:
    """The model of a call of a library.

    Args:
        function: a function whose code is analysed; None where the library itself was called, because the call is deterministic.
        arguments: the arguments of the call.
        value: what the library returned.
    """

    function: Callable[..., Any] | None
    arguments: tuple[Any, ...] = ()
    value: Any = None


class LibraryModels(ABC):
    """Models of installed libraries: the laws of their functions, by which code that calls them is read.

    A model states the law of one function of a library, of stated versions. Whether it is that of the installed library is an
    assumption, which the verdict names.
    """

    @abstractmethod
    def attribute(self, owner: Any, name: str, draws: Any) -> Any:
        """The model of `owner.name`; NotImplemented where the owner belongs to no modelled library.

        Args:
            owner: any object.
            name: an attribute.
            draws: the generator from which models draw.

        Raises:
            NotEnumerableError: the attribute has no model.
        """

    @abstractmethod
    def called(self, function: Any, args: tuple[Any, ...], options: dict[str, Any], draws: Any) -> ModelledCall | None:
        """The model of a call; None where the function belongs to no modelled library.

        Raises:
            NotEnumerableError: the function, its version or its arguments have no model.
        """

    @abstractmethod
    def printed(self, value: Any) -> Hashable:
        """A print of an object of a modelled library, the same as long as the object is; NotImplemented for any other."""

    @abstractmethod
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions about the libraries whose models were used so far."""


class GeneratorAdapter(ABC):
    """The source of randomness of a plain function, derived from the bits of a numpy Generator; registered under its `name`.

    The bits are seeded. A class whose output depends on these bits alone declares `replays`, so that every draw can be repeated.
    """

    name: ClassVar[str]

    annotations: ClassVar[tuple[str, ...]] = ()
    """Annotations of a function's second parameter that ask for it, such as ``random.Random``."""
    is_handed: ClassVar[bool] = True
    """Whether the function takes a generator of this kind; otherwise it draws from a global generator."""
    replays: ClassVar[bool] = False
    """Whether the same bits give the same output. Unless a class declares it, no call is taken to be repeatable."""
    assumptions: ClassVar[tuple[str, ...]] = ()
    """The assumptions about functions that draw from it."""

    @abstractmethod
    def made(self, generator: Any) -> Any:
        """The generator that the function is handed, fresh for one call."""

    def recorded(self, generator: Any, write: Callable[[float | None], None]) -> Any:
        """As `made`, of the same draws; each draw of noise is written down without its center, a uniform number as one in [0, 1).

        A law that is read off code with noise is held against it; where nothing is written down, no such law is verified.
        """
        return self.made(generator)

    def drawing(self, generator: Any) -> contextlib.AbstractContextManager[None]:
        """Open while the function runs: what draws elsewhere gets its bits from the generator."""
        return contextlib.nullcontext()

    def readable(self, function: PlainFunction) -> PlainFunction | None:
        """The function as one of a dataset and a numpy Generator, of the same law, in code that can be read; None for none."""
        return None

    def models(self) -> LibraryModels | None:
        """Models of installed libraries, in place of which the code is read; None for none."""
        return None

    def modelled(self) -> GeneratorAdapter:
        """The adapter for runs in which the models draw in place of the libraries, so that they can be held against the law."""
        return self


class NumpyGenerator(GeneratorAdapter):
    """A numpy Generator, unchanged. The default for functions that declare no type."""

    name: ClassVar[str] = "numpy"
    annotations: ClassVar[tuple[str, ...]] = ("numpy.Generator",)
    replays: ClassVar[bool] = True

    def made(self, generator: Any) -> Any:
        return generator

    def readable(self, function: PlainFunction) -> PlainFunction:
        return function


@attrs.frozen(eq=False)
class AdaptedFunction:
    """A plain function that is called with datasets and a generator in the types that it expects.

    To its caller it is one of a dataset as it is (`presented`) and a numpy Generator.

    Args:
        function: the function.
        space: whose datasets it takes.
        dataset: the conversion of a dataset; None for none.
        generator: the source of randomness.
        takes: how many arguments it is called with, 1 or 2.

    >>> from random import Random
    >>> from dpspec.blocks.vectors import BitVectors
    >>> letters = AdaptedFunction(lambda bits, rng: bits, BitVectors(length=2), ListAdapter(), NumpyGenerator())
    >>> letters([0, 1], None)
    [0, 1]
    """

    function: PlainFunction
    space: DatasetSpace
    dataset: DatasetAdapter | None
    generator: GeneratorAdapter
    takes: int = 2
    _written: dict[str, Any] = attrs.field(factory=dict, init=False, repr=False)

    def __call__(self, given: Any, generator: Any) -> Any:
        handed = self.handed(given)
        if self.generator.is_handed:
            write = getattr(generator, "write", None)
            made = self.generator.made(generator) if write is None else self.generator.recorded(generator, write)
            return self.function(handed, made)
        with self.generator.drawing(generator):
            return self.function(handed) if self.takes == 1 else self.function(handed, self.generator.made(generator))

    def handed(self, given: Any) -> Any:
        """The argument of the function for a dataset, fresh for every call."""
        if self.dataset is None:
            return given
        key = repr(given)
        if key not in self._written:
            if len(self._written) >= _KEPT:
                self._written.clear()
            self._written[key] = self.dataset.written(tuple(given) if type(given) is list else given, self.space)
        return self.dataset.copied(self._written[key])

    @property
    def readable(self) -> PlainFunction | None:
        """The function of the converted dataset and a numpy Generator, for code analysis."""
        return self.generator.readable(self.function)

    @property
    def replays(self) -> bool:
        """Whether the same bits give the same output."""
        return self.generator.replays

    @property
    def __name__(self) -> str:
        return str(getattr(self.function, "__qualname__", type(self.function).__name__))


_KEPT = 1_000
"""Datasets that an adapted function keeps in written form."""


def parameters_of(function: PlainFunction) -> tuple[inspect.Parameter, ...] | None:
    """The parameters by position of a function; None where it does not say."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return tuple(p for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL))


def annotated(parameter: inspect.Parameter, function: PlainFunction) -> tuple[str, Any]:
    """The annotation of a parameter as adapters write it, and the annotation itself where it is a class; ("", None) for none.

    A class is written by its package and its name, what a list holds behind it.

    >>> import random
    >>> def survey(people: "list[dict[str, int]]", rng: random.Random): ...
    >>> [annotated(p, survey)[0] for p in parameters_of(survey)]
    ['list[dict]', 'random.Random']
    """
    found = parameter.annotation
    if found is parameter.empty or found is None:
        return "", None
    while isinstance(found, str):
        try:
            found = eval(found, getattr(inspect.unwrap(function), "__globals__", {}))  # noqa: S307 (the function's own text)
        except Exception:  # a name for type checkers alone
            alias, dot, name = found.partition(".")
            return f"{_ALIASES.get(alias, alias)}{dot}{name}", None
    if typing.get_origin(found) is Annotated:
        found = typing.get_args(found)[0]
    origin = typing.get_origin(found)
    if origin is None:
        return _class_text(found), found if isinstance(found, type) else None
    inner = typing.get_args(found)
    if origin in _SEQUENCES and inner and _class_text(typing.get_origin(inner[0]) or inner[0]) in _MAPPINGS:
        return "list[dict]", None
    return _class_text(origin), origin if isinstance(origin, type) else None


_ALIASES = {"pd": "pandas", "pl": "polars", "pa": "pyarrow", "np": "numpy"}
_SEQUENCES = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
_MAPPINGS = ("dict", "collections.Mapping")


def _class_text(cls: Any) -> str:
    if not isinstance(cls, type):
        return ""
    package = cls.__module__.partition(".")[0]
    return cls.__name__ if package == "builtins" else f"{package}.{cls.__name__}"
