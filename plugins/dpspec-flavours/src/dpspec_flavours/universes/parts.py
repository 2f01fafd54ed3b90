"""Universes of datasets that agree outside one part: a stratum, a position, or one record that is there or not.

The label of such a universe is (the part, what lies outside it), so that a budget may depend on the part, and a dataset lies
in one universe for every part it has. Universes overlap; inside each of them one part varies.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator
from functools import partial
from typing import Annotated, ClassVar

from dpspec.blocks.multiverse import Multiverse
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors
from dpspec.errors import IncompatibleBlocksError, NotInSpaceError
from dpspec.params import Data, Items, Nested, Text, collect, define, did_you_mean
from dpspec_flavours.universes.centred import told_by

Label = tuple[Hashable, Hashable]


class AgreeOutside(Multiverse, ABC):
    """Shared by the multiverses whose universes vary in one part."""

    @property
    def invariants(self) -> None:
        return None

    @abstractmethod
    def parts(self, dataset: Dataset, space: DatasetSpace) -> Iterator[Label]:
        """Pairs (part, what the dataset is outside it)."""

    def labels(self, dataset: Dataset, space: DatasetSpace) -> tuple[Hashable, ...]:
        return tuple(self.parts(dataset, space))


@define
class Strata(AgreeOutside):
    """One universe for every stratum and everything outside it: the datasets that agree outside the stratum.

    The label is (stratum, records outside). In an ordered space the records of the stratum are masked by None, so that those
    outside keep their positions. A record that moves from one stratum to another is in no universe with what it was before.

    Args:
        attribute: the attribute whose categories are the strata.
        unit: what one record is.

    >>> from dpspec.blocks.records import UnorderedRecords
    >>> from dpspec.blocks.space import Attribute
    >>> space = UnorderedRecords(attributes=(Attribute(name="area", categories=("n", "s")),), most=2)
    >>> Strata(attribute="area").labels((("n",), ("s",)), space)
    (('n', (('s',),)), ('s', (('n',),)))
    """

    name: ClassVar[str] = "strata"

    attribute: Annotated[str, Text()]
    unit: Annotated[str, Text()] = "person"

    def check(self, space: DatasetSpace) -> None:
        told_by(space, self.unit, f"multiverse {self.name}")
        known = [attribute.name for attribute in space.attributes_of(self.unit)]
        if self.attribute not in known:
            advice = did_you_mean(self.attribute, known)
            raise IncompatibleBlocksError(f"multiverse {self.name}", "is no attribute of the unit", advice, value=self.attribute)

    def parts(self, dataset: Dataset, space: DatasetSpace) -> Iterator[Label]:
        attributes = space.attributes_of(self.unit)
        place = next(i for i, attribute in enumerate(attributes) if attribute.name == self.attribute)
        records = space.records(dataset, self.unit)
        for stratum in attributes[place].values():
            masked = (None if record[place] == stratum else record for record in records)
            yield stratum, tuple(record for record in masked if space.is_ordered or record is not None)

    def __str__(self) -> str:
        return f"datasets that agree outside one category of {self.attribute}"

    @classmethod
    def examples(cls) -> Iterable[tuple[Strata, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(attribute="bit"), BitVectors(length=2)


@define
class OnePosition(AgreeOutside):
    """One universe for every position and everything outside it: the datasets that agree everywhere else.

    The label is (position from 0 on, records elsewhere); with a budget by position this is a budget for each person.

    Args:
        unit: what one position is.

    >>> OnePosition().labels((0, 1), BitVectors(length=2))
    ((0, (('1',),)), (1, (('0',),)))
    """

    name: ClassVar[str] = "one-position"

    unit: Annotated[str, Text()] = "person"

    def check(self, space: DatasetSpace) -> None:
        told_by(space, self.unit, f"multiverse {self.name}")
        if not space.is_ordered:
            rule = f"needs datasets with positions, and those of {space.name} have none"
            raise IncompatibleBlocksError(f"multiverse {self.name}", rule, "use strata or one-record", value=self.unit)

    def parts(self, dataset: Dataset, space: DatasetSpace) -> Iterator[Label]:
        records = space.records(dataset, self.unit)
        return ((place, records[:place] + records[place + 1 :]) for place in range(len(records)))

    def __str__(self) -> str:
        return f"datasets that agree outside one {self.unit}"

    @classmethod
    def examples(cls) -> Iterable[tuple[OnePosition, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(), BitVectors(length=2)


@define
class OneRecord(AgreeOutside):
    """Two-point universes {x, x with one record r more}: the label is (r, x).

    Records are what the space counts in its cells (a household with its persons, for households). A budget by the part r
    depends on the value of the record.

    >>> from dpspec.blocks.records import UnorderedRecords
    >>> from dpspec.blocks.space import Attribute
    >>> space = UnorderedRecords(attributes=(Attribute(name="sex", categories=("f", "m")),), most=1)
    >>> [universe.label for universe in OneRecord().universes(space)]
    [(('f',), ()), (('m',), ())]
    """

    name: ClassVar[str] = "one-record"

    def check(self, space: DatasetSpace) -> None:
        if space.cells() is None:
            rule = f"needs datasets that are counts over cells, which those of {space.name} are not, or over too many to list"
            raise IncompatibleBlocksError(f"multiverse {self.name}", rule, "use records without an order and of fewer kinds")

    def parts(self, dataset: Dataset, space: DatasetSpace) -> Iterator[Label]:
        vector = space.vector(dataset)
        for place, cell in enumerate(space.cells() or ()):
            fewer, more = (_moved(vector, place, step, space) for step in (-1, 1))
            if fewer is not None:
                yield cell, fewer
            if more is not None:
                yield cell, dataset

    def __str__(self) -> str:
        return "a dataset with and without one record"

    @classmethod
    def examples(cls) -> Iterable[tuple[OneRecord, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(), BitVectors(length=2)


def _moved(vector: tuple[int, ...], place: int, step: int, space: DatasetSpace) -> Dataset | None:
    """The dataset with one record more or less in a cell; None when the space has none."""
    try:
        return space.from_vector((*vector[:place], vector[place] + step, *vector[place + 1 :]))
    except NotInSpaceError:
        return None


@define
class Instance:
    """One pair {x, x with record z}.

    Args:
        dataset: x, without the record, in the canonical form of the space.
        record: z, a cell of the space.
    """

    dataset: Annotated[Dataset, Data()]
    record: Annotated[Hashable, Data()]


@define
class WithAndWithout(AgreeOutside):
    """The universes of `OneRecord` for listed pairs only: {x, x with record z}, with the label (z, x).

    Args:
        pairs: the pairs (x, z).

    >>> from dpspec.blocks.records import UnorderedRecords
    >>> from dpspec.blocks.space import Attribute
    >>> space = UnorderedRecords(attributes=(Attribute(name="sex", categories=("f", "m")),), most=2)
    >>> pair = Instance(dataset=(("f",),), record=("m",))
    >>> [universe.datasets for universe in WithAndWithout(pairs=(pair,)).universes(space)]
    [((('f',),), (('f',), ('m',)))]
    """

    name: ClassVar[str] = "with-and-without"

    pairs: Annotated[tuple[Instance, ...], Items(Nested(Instance), least=1)]

    def check(self, space: DatasetSpace) -> None:
        OneRecord().check(space)
        collect(partial(self._check_pair, pair, space) for pair in self.pairs)

    def _check_pair(self, pair: Instance, space: DatasetSpace) -> None:
        dataset = space.dataset(pair.dataset)
        if (pair.record, dataset) not in OneRecord().labels(dataset, space):
            raise NotInSpaceError(f"multiverse {self.name}", f"cannot be added to {dataset} in {space.name}", value=pair.record)

    def parts(self, dataset: Dataset, space: DatasetSpace) -> Iterator[Label]:
        chosen = {(pair.record, space.dataset(pair.dataset)) for pair in self.pairs}
        return (label for label in OneRecord().parts(dataset, space) if label in chosen)

    def __str__(self) -> str:
        return f"{len(self.pairs)} pairs of a dataset with and without one record"

    @classmethod
    def examples(cls) -> Iterable[tuple[WithAndWithout, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(pairs=(Instance(dataset=(0, 0), record=1),)), BitVectors(length=2)
