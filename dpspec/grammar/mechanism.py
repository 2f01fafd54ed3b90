"""Mechanisms, their claims, and flavours: what releases data, what is said about it, and which definitions it may satisfy.

A mechanism is the map x -> P_x from datasets to laws of the output, together with the sampler that draws
from P_x on real tables. Its claims are statements to be judged; nothing in dpspec believes them.

A flavour is a specification on a small instance together with two mechanisms: one that satisfies it and one that does
not. It says which blocks it changes relative to pure differential privacy, and who defined it where.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import attrs

from dpspec.base.errors import ReleaseError
from dpspec.base.params import Items, Registered, define
from dpspec.base.promises import Promising
from dpspec.blocks.invariant import Invariant
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.grammar.spec import PrivacySpec

if TYPE_CHECKING:
    from dpspec.base.randomness import Randomness
    from dpspec.grammar.structure import ProvedBound, Structure
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
    """What a release has in common with its table, whatever is drawn; it is asked of every release before it is published.

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
    """What a verdict on its laws takes for granted, one short line each."""

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
        """How the output is made of the records of a dataset; optional: with it claims are proved on spaces of any size.

        It counts for the class that states it alone: a class that is derived from it may have changed the law, and says its own.
        """
        return None

    def proved(self, spec: PrivacySpec) -> ProvedBound | None:
        """What a theorem about this mechanism says of a claim; optional, for a mechanism without a `structure`.

        It counts for the class that states it alone, as a structure does.
        """
        return None

    def symmetries(self, space: DatasetSpace) -> tuple[Symmetry, ...]:
        """Renamings that do not change the mechanism, so that fewer pairs need be compared; optional."""
        return ()

    def keeps(self, columns: tuple[str, ...]) -> tuple[Kept, ...]:
        """What no release of a table with these columns changes; optional.

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
        "__str__": object.__str__,
    }
    _asides = frozenset({"check", "claims", "keeps", "proved", "release", "resumable", "run", "structure"})


def stated_structure(mechanism: Mechanism, space: DatasetSpace) -> Structure | None:
    """How a mechanism is made, as its own class states it; None where it does not, or only a class above it does."""
    return mechanism.structure(space) if "structure" in vars(type(mechanism)) else None


def first_datasets(space: DatasetSpace) -> Iterator[Dataset]:
    """Three datasets for `check` to ask about laws: a space is refused for one of them, a later one when its law is asked for.

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
    """Who defined it, where and when."""
    reference: ClassVar[str] = ""
    """The ID of the definition in the notes of this project, if it has one."""
    changes: ClassVar[tuple[str, ...]]
    """The blocks that differ from pure differential privacy: names of fields of `PrivacySpec`; () for pure privacy itself."""

    explained: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Findings of the linter that its file is meant to have, as pairs (code, reason)."""

    @abstractmethod
    def spec(self) -> PrivacySpec:
        """The five blocks on a space small enough to look at every pair."""

    @abstractmethod
    def satisfied_by(self) -> Example:
        """A mechanism that satisfies the specification."""

    @abstractmethod
    def broken_by(self) -> Example:
        """A mechanism that does not, although it may look as if it did."""
