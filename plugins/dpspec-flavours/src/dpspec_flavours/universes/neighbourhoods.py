"""Universes around given datasets, and universes that agree outside one part.

They are sets of possible datasets that are fixed beforehand: the labels contain the centre, which is public. A
promise with such universes says nothing about datasets that lie in none of them.

Noise may be calibrated to the local sensitivity of a query: at one observed dataset, or (wrongly) anew at each.

Datasets may agree outside one part: a stratum, a position, or one record that is there or not.

The label of such a universe is (the part, what lies outside it), so that a budget may depend on the part, and a dataset lies
in one universe for every part it has. Universes overlap; inside each of them one part varies.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import Annotated, ClassVar

from dpspec_divergences import DifferInOnePosition, Hamming, ReplaceOne

from dpspec.plugin import (
    BitVectors,
    Dataset,
    DatasetSpace,
    Exact,
    FiniteLaw,
    IncompatibleBlocksError,
    InputDivergence,
    Invariant,
    Items,
    Law,
    LinearMap,
    Mechanism,
    Multiverse,
    Nested,
    Number,
    Registered,
    Relation,
    Text,
    blocks,
    define,
    errors,
    laws,
    number,
    params,
    spend,
)

LISTED = 20_000
"""Neighbours are looked for in spaces with at most this many datasets."""


class Centred(Multiverse, ABC):
    """Shared by the multiverses that are built around datasets.

    Args:
        centres: the datasets x*, written in the canonical form of the space; without them every dataset is one.
    """

    centres: tuple[Dataset, ...] | None

    @property
    def invariants(self) -> None:
        return None

    def check(self, space: DatasetSpace) -> None:
        params.collect(partial(space.dataset, centre) for centre in self.centres or ())
        if self.centres is None:
            listed(space, f"multiverse {self.name}", "name the centres")

    def labels(self, dataset: Dataset, space: DatasetSpace) -> tuple[Hashable, ...]:
        return tuple(dict.fromkeys(label for centre in self._centres(space) for label in self._labels_at(centre, dataset, space)))

    @abstractmethod
    def _labels_at(self, centre: Dataset, dataset: Dataset, space: DatasetSpace) -> Iterator[Hashable]:
        """The universes around one centre that hold the dataset."""

    def _centres(self, space: DatasetSpace) -> Iterator[Dataset]:
        return space.datasets() if self.centres is None else (space.dataset(centre) for centre in self.centres)

    def __str__(self) -> str:
        return f"{self.name} " + ("every dataset" if self.centres is None else ", ".join(map(str, self.centres)))


def listed(space: DatasetSpace, subject: str, advice: str) -> None:
    """Refuse a space that has too many datasets to look at each of them."""
    size = blocks.listing_size(space)
    if size is None or size > LISTED:
        count = "infinitely many" if size is None else size
        raise errors.NotEnumerableError(
            subject, f"looks at every dataset, and the space has more than {LISTED}", advice, value=count
        )


@define
class Around(Centred):
    """One universe around each centre x*: the ball {x : d(x*, x) <= radius}, in which all pairs count.

    It is the universe of conditioned differential privacy; the label is ("around", x*).

    Args:
        centres: the datasets x*; without them every dataset is one, and the universes overlap.
        distance: d.
        radius: the largest distance from x*, in units of d.

    >>> ball = Around(centres=((0, 0, 0),), distance=Hamming(), radius=1)
    >>> [len(universe) for universe in ball.universes(BitVectors(length=3))]
    [4]
    """

    name: ClassVar[str] = "around"

    centres: Annotated[tuple[Dataset, ...], Items(params.Data(), least=1)] | None = None
    distance: Annotated[InputDivergence, Registered("input_divergences")]
    radius: Annotated[Number, Exact(0)]

    def check(self, space: DatasetSpace) -> None:
        Centred.check(self, space)
        self.distance.check(space)

    def _labels_at(self, centre: Dataset, dataset: Dataset, space: DatasetSpace) -> Iterator[Hashable]:
        if dataset == centre or self.distance.distance(centre, dataset, space) <= self.radius:
            yield ("around", centre)

    @classmethod
    def examples(cls) -> Iterable[tuple[Around, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(centres=((0, 0),), distance=Hamming(), radius=number(1)), BitVectors(length=2)
        yield cls(distance=Hamming(), radius=number(1)), BitVectors(length=2)


@define
class Star(Centred):
    """Two-point universes {x*, x} for every neighbour x of a centre x* (individual privacy).

    The centre is compared with its neighbours, and these not with each other. The label is the pair, smaller dataset first;
    with every dataset a centre the universes are all neighbour pairs.

    Args:
        centres: the datasets x*; without them every dataset is one.
        relation: which datasets are neighbours.

    >>> star = Star(centres=((0, 0, 0),), relation=ReplaceOne())
    >>> [universe.label for universe in star.universes(BitVectors(length=3))][:1]
    [((0, 0, 0), (0, 0, 1))]
    """

    name: ClassVar[str] = "star"

    centres: Annotated[tuple[Dataset, ...], Items(params.Data(), least=1)] | None = None
    relation: Annotated[Relation, Registered("relations")]

    def check(self, space: DatasetSpace) -> None:
        listed(space, f"multiverse {self.name}", "choose a smaller space")
        Centred.check(self, space)
        self.relation.check(space)

    def _labels_at(self, centre: Dataset, dataset: Dataset, space: DatasetSpace) -> Iterator[Hashable]:
        others = neighbours(centre, self.relation, space) if dataset == centre else iter((dataset,))
        for other in others:
            if dataset == centre or are_neighbours(centre, other, self.relation, space):
                yield tuple(sorted((centre, other), key=space.order))

    def share_universe(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        """The same without a list of neighbours."""
        if left == right:
            return bool(self.labels(left, space))
        has_centre = any(centre in (left, right) for centre in self._centres(space))
        return has_centre and are_neighbours(left, right, self.relation, space)

    @classmethod
    def examples(cls) -> Iterable[tuple[Star, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(centres=((0, 0),), relation=ReplaceOne()), BitVectors(length=2)
        yield cls(relation=ReplaceOne()), BitVectors(length=2)


def neighbours(dataset: Dataset, relation: Relation, space: DatasetSpace) -> Iterator[Dataset]:
    """The neighbours of a dataset, in the order of the space."""
    return (other for other in space.datasets() if other != dataset and are_neighbours(dataset, other, relation, space))


def are_neighbours(left: Dataset, right: Dataset, relation: Relation, space: DatasetSpace) -> bool:
    """Whether the relation holds in one order or the other."""
    return relation.related(left, right, space) or (not relation.is_symmetric and relation.related(right, left, space))


@define
class Resamples(Centred):
    """The universe of resamples of x*: datasets with as many records as x*, each equal to some record of x* (bootstrap).

    The label is ("resamples of", x*).

    Args:
        centres: the observed datasets x*; without them every dataset is one.
        unit: what one record is.

    >>> seen = Resamples(centres=((0, 0, 0), (0, 1, 1)))
    >>> [len(universe) for universe in seen.universes(BitVectors(length=3))]
    [1, 8]
    """

    name: ClassVar[str] = "resamples"

    centres: Annotated[tuple[Dataset, ...], Items(params.Data(), least=1)] | None = None
    unit: Annotated[str, Text()] = "person"

    def check(self, space: DatasetSpace) -> None:
        check_determined(space, self.unit, f"multiverse {self.name}")
        Centred.check(self, space)

    def _labels_at(self, centre: Dataset, dataset: Dataset, space: DatasetSpace) -> Iterator[Hashable]:
        seen, records = space.records(centre, self.unit), space.records(dataset, self.unit)
        if len(seen) == len(records) and set(records) <= set(seen):
            yield ("resamples of", centre)

    @classmethod
    def examples(cls) -> Iterable[tuple[Resamples, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(centres=((0, 1),)), BitVectors(length=2)


def check_determined(space: DatasetSpace, unit: str, subject: str) -> None:
    """Refuse a space whose datasets hold more than their records of the unit show."""
    space.check_unit(unit)
    if not space.is_told_by(unit):
        rule = f"needs datasets of {space.name} to be described by their records of the unit"
        raise IncompatibleBlocksError(subject, rule, f"name the largest unit, {space.units[0]}", value=unit)


# --- local sensitivity ----------------------------------------------------------------------------


@define
class LocalNoise(Mechanism):
    """q(x) plus two-sided geometric noise with P(w) proportional to e^(-epsilon |w| / LS), LS a local sensitivity of q.

    LS(x) = max over the neighbours x' of x of |q(x) - q(x')|_1. With LS = LS(x*) at one fixed dataset x*, the laws of x* and of
    its neighbours differ by at most epsilon: that is individual privacy (Soria-Comas et al. 2017). With LS(x) taken anew
    on each dataset the width of the noise itself distinguishes datasets. Where LS is 0 nothing is added.

    Args:
        query: q, with integer answers.
        relation: which datasets are neighbours.
        epsilon: the loss per LS.
        observed: x*; without it LS is that of each dataset.

    >>> size = LinearMap(rows=((1, 3),), label="weighted sum")
    >>> mechanism = LocalNoise(query=size, relation=DifferInOnePosition(), epsilon="ln(2)", observed=(0, 0))
    >>> mechanism.sensitivity((0, 1), BitVectors(length=2))
    3
    """

    name: ClassVar[str] = "local-noise"

    query: Annotated[Invariant, Registered("invariants")]
    relation: Annotated[Relation, Registered("relations")]
    epsilon: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)]
    observed: Annotated[Dataset, params.Data()] | None = None

    def check(self, space: DatasetSpace) -> None:
        listed(space, f"mechanism {self.name}", "choose a smaller space")
        self.query.check(space)
        params.collect((lambda: self.query.check_answers(space), lambda: self.relation.check(space)))
        if self.observed is not None:
            space.dataset(self.observed)

    def sensitivity(self, dataset: Dataset, space: DatasetSpace) -> int:
        """LS at a dataset, in counts."""
        answers = self.query.answers(dataset, space)
        near = (self.query.answers(other, space) for other in neighbours(dataset, self.relation, space))
        return max((sum(abs(a - b) for a, b in zip(answers, other, strict=True)) for other in near), default=0)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        known = space.dataset(dataset)
        local = self.sensitivity(known if self.observed is None else space.dataset(self.observed), space)
        parts = [
            laws.TwoSidedGeometricLaw(answer, self.epsilon / local) if local else FiniteLaw.point(answer)
            for answer in self.query.answers(known, space)
        ]
        return parts[0] if len(parts) == 1 else laws.product(parts)

    @classmethod
    def examples(cls) -> Iterable[tuple[LocalNoise, DatasetSpace]]:
        """What the conformance kit checks it with."""
        size = LinearMap(rows=((1, 3),), label="weighted sum")
        yield cls(query=size, relation=DifferInOnePosition(), epsilon=number(1), observed=(0, 0)), BitVectors(length=2)
        yield cls(query=size, relation=DifferInOnePosition(), epsilon=number(1)), BitVectors(length=2)


# --- all but one part -----------------------------------------------------------------------------


Label = tuple[Hashable, Hashable]

MOST_LISTED_PARTS = 100_000
"""Strata whose names are listed, to tell a misspelt one."""
MOST_LABELLED = 10_000_000
"""The labels of a dataset hold at most so many records together, 80 megabytes of them."""
_RECORDS_OF_LABEL = 64
"""So many records of a label are one unit of work: a million units, which a search for a pair has, are half a gigabyte."""


class AgreeOutside(Multiverse, ABC):
    """Shared by the multiverses whose universes vary in one part."""

    @property
    def invariants(self) -> None:
        return None

    @abstractmethod
    def parts(self, dataset: Dataset, space: DatasetSpace) -> Iterator[Label]:
        """Pairs (part, what the dataset is outside it)."""

    @abstractmethod
    def all_parts(self, space: DatasetSpace) -> Sequence[Hashable] | None:
        """The parts of all datasets of the space, in their order; None where they are not listed."""

    def labels(self, dataset: Dataset, space: DatasetSpace) -> tuple[Hashable, ...]:
        """Counted as work: each of thousands of labels may hold thousands of records.

        Raises:
            NotEnumerableError: where there are too many parts, or where the labels hold more than `MOST_LABELLED` records.
        """
        found, held = [], 0
        for part, outside in self.parts(dataset, space):
            length = len(outside) if isinstance(outside, tuple) else 0
            held += length + 1
            if held > MOST_LABELLED:
                raise errors.NotEnumerableError(
                    f"multiverse {self.name}", "has too many parts to list the universes of a dataset", "choose a smaller space"
                )
            spend(1 + length // _RECORDS_OF_LABEL)
            found.append((part, outside))
        return tuple(found)


@define
class Strata(AgreeOutside):
    """One universe for every stratum and everything outside it: the datasets that agree outside the stratum.

    The label is (stratum, records outside). In an ordered space the records of the stratum are masked by None, so that those
    outside keep their positions. A record that moves from one stratum to another is in no universe with what it was before.

    Args:
        attribute: the attribute whose categories are the strata.
        unit: what one record is.

    >>> from dpspec.plugin import UnorderedRecords
    >>> from dpspec.plugin import Attribute
    >>> space = UnorderedRecords(attributes=(Attribute(name="area", categories=("n", "s")),), most=2)
    >>> Strata(attribute="area").labels((("n",), ("s",)), space)
    (('n', (('s',),)), ('s', (('n',),)))
    """

    name: ClassVar[str] = "strata"

    attribute: Annotated[str, Text()]
    unit: Annotated[str, Text()] = "person"

    def check(self, space: DatasetSpace) -> None:
        check_determined(space, self.unit, f"multiverse {self.name}")
        # the composition of a household has no list of categories, so that no household would be in a stratum
        known = [attribute.name for attribute in space.attributes_of(self.unit) if attribute.name != blocks.MEMBERS]
        if self.attribute not in known:
            advice = params.did_you_mean(self.attribute, known)
            raise IncompatibleBlocksError(f"multiverse {self.name}", "is no attribute of the unit", advice, value=self.attribute)

    def parts(self, dataset: Dataset, space: DatasetSpace) -> Iterator[Label]:
        attributes = space.attributes_of(self.unit)
        place = next(i for i, attribute in enumerate(attributes) if attribute.name == self.attribute)
        records = space.records(dataset, self.unit)
        for stratum in attributes[place].values():
            masked = (None if record[place] == stratum else record for record in records)
            yield stratum, tuple(record for record in masked if space.is_ordered or record is not None)

    def all_parts(self, space: DatasetSpace) -> Sequence[Hashable] | None:
        attributes = {attribute.name: attribute for attribute in space.attributes_of(self.unit)}
        attribute = attributes[self.attribute]
        return tuple(attribute.values()) if attribute.size <= MOST_LISTED_PARTS else None

    def share_universe(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        """The same without labels: what differs lies in one stratum."""
        ours, theirs = space.records(left, self.unit), space.records(right, self.unit)
        place = next(i for i, attribute in enumerate(space.attributes_of(self.unit)) if attribute.name == self.attribute)
        if space.is_ordered:
            differing = {record for pair in zip(ours, theirs, strict=False) if pair[0] != pair[1] for record in pair}
            return len(ours) == len(theirs) and len({record[place] for record in differing}) <= 1
        few, many = Counter(ours), Counter(theirs)
        strata = {record[place] for record in (few - many) + (many - few)}
        if not strata:
            return ours == theirs or AgreeOutside.share_universe(self, left, right, space)
        (stratum, *others) = strata
        outside = ([record for record in records if record[place] != stratum] for records in (ours, theirs))
        return not others and operator.eq(*outside)

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
        check_determined(space, self.unit, f"multiverse {self.name}")
        if not space.is_ordered:
            rule = f"needs datasets with positions, and those of {space.name} have none"
            raise IncompatibleBlocksError(f"multiverse {self.name}", rule, "use strata or one-record", value=self.unit)

    def parts(self, dataset: Dataset, space: DatasetSpace) -> Iterator[Label]:
        records = space.records(dataset, self.unit)
        return ((place, records[:place] + records[place + 1 :]) for place in range(len(records)))

    def all_parts(self, space: DatasetSpace) -> Sequence[Hashable] | None:
        """Known where a position is a record of the space's largest unit, whose number it bounds."""
        most = blocks.sizes_of(space)[1] if self.unit == space.units[0] else None
        return None if most is None else range(most)

    def share_universe(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        """The same without labels: at most one position differs."""
        ours, theirs = space.records(left, self.unit), space.records(right, self.unit)
        return 0 < len(ours) == len(theirs) and sum(map(operator.ne, ours, theirs)) <= 1

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

    >>> from dpspec.plugin import UnorderedRecords
    >>> from dpspec.plugin import Attribute
    >>> space = UnorderedRecords(attributes=(Attribute(name="sex", categories=("f", "m")),), most=1)
    >>> [universe.label for universe in OneRecord().universes(space)]
    [(('f',), ()), (('m',), ())]
    """

    name: ClassVar[str] = "one-record"

    def check(self, space: DatasetSpace) -> None:
        if blocks.listed_cells(space) is None:
            rule = f"needs datasets that are counts over cells, which those of {space.name} are not, or over too many to list"
            raise IncompatibleBlocksError(f"multiverse {self.name}", rule, "use records without an order and of fewer kinds")

    def parts(self, dataset: Dataset, space: DatasetSpace) -> Iterator[Label]:
        vector = blocks.ListedCells.needed_in(space).vector(dataset)
        for place, cell in enumerate(blocks.listed_cells(space) or ()):
            fewer, more = (_moved(vector, place, step, space) for step in (-1, 1))
            if fewer is not None:
                yield cell, fewer
            if more is not None:
                yield cell, dataset

    def all_parts(self, space: DatasetSpace) -> Sequence[Hashable]:
        return tuple(blocks.listed_cells(space) or ())

    def __str__(self) -> str:
        return "a dataset with and without one record"

    @classmethod
    def examples(cls) -> Iterable[tuple[OneRecord, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(), BitVectors(length=2)


def _moved(vector: tuple[int, ...], place: int, step: int, space: DatasetSpace) -> Dataset | None:
    """The dataset with one record more or less in a cell; None when the space has none."""
    try:
        return blocks.ListedCells.needed_in(space).from_vector((*vector[:place], vector[place] + step, *vector[place + 1 :]))
    except errors.NotInSpaceError:
        return None


@define
class Instance:
    """One pair {x, x with record z}.

    Args:
        dataset: x, without the record, in the canonical form of the space.
        record: z, a cell of the space.
    """

    dataset: Annotated[Dataset, params.Data()]
    record: Annotated[Hashable, params.Data()]


@define
class WithAndWithout(AgreeOutside):
    """The universes of `OneRecord` for listed pairs only: {x, x with record z}, with the label (z, x).

    Args:
        pairs: the pairs (x, z).

    >>> from dpspec.plugin import UnorderedRecords
    >>> from dpspec.plugin import Attribute
    >>> space = UnorderedRecords(attributes=(Attribute(name="sex", categories=("f", "m")),), most=2)
    >>> pair = Instance(dataset=(("f",),), record=("m",))
    >>> [universe.datasets for universe in WithAndWithout(pairs=(pair,)).universes(space)]
    [((('f',),), (('f',), ('m',)))]
    """

    name: ClassVar[str] = "with-and-without"

    pairs: Annotated[tuple[Instance, ...], Items(Nested(Instance), least=1)]

    def check(self, space: DatasetSpace) -> None:
        OneRecord().check(space)
        params.collect(partial(self._check_pair, pair, space) for pair in self.pairs)

    def _check_pair(self, pair: Instance, space: DatasetSpace) -> None:
        dataset = space.dataset(pair.dataset)
        if (pair.record, dataset) not in OneRecord().labels(dataset, space):
            raise errors.NotInSpaceError(
                f"multiverse {self.name}", f"cannot be added to {dataset} in {space.name}", value=pair.record
            )

    def parts(self, dataset: Dataset, space: DatasetSpace) -> Iterator[Label]:
        chosen = {(pair.record, space.dataset(pair.dataset)) for pair in self.pairs}
        return (label for label in OneRecord().parts(dataset, space) if label in chosen)

    def all_parts(self, space: DatasetSpace) -> Sequence[Hashable]:
        return tuple(dict.fromkeys(pair.record for pair in self.pairs))

    def __str__(self) -> str:
        return f"{len(self.pairs)} pairs of a dataset with and without one record"

    @classmethod
    def examples(cls) -> Iterable[tuple[WithAndWithout, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(pairs=(Instance(dataset=(0, 0), record=1),)), BitVectors(length=2)
