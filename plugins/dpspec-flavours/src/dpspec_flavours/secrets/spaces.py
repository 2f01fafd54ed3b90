"""Dataset spaces whose elements represent distributions of data: data laws, and (secret, prior) pairs.

An element x is a tuple of labels. The first is the secret, the others (a prior, the attacker's knowledge) are its context. It
represents the law Pi_x of the data; a mechanism M with laws M(z) on ordinary datasets z then has the law

    P_x = sum over z of Pi_x(z) M(z)

on it (`dpspec_flavours.secrets.averages.Averaged`), and d_Pr(P_x, P_x') <= eps d_X(x, x') is what Pufferfish, noiseless
privacy, distributional privacy and partial knowledge ask.

Distributions of data are written in a file by list, or record by record.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, ClassVar, cast

from dpspec.plugin import (
    Attribute,
    BitVectors,
    Dataset,
    DatasetSpace,
    FiniteLaw,
    IncompatibleBlocksError,
    Integer,
    Items,
    Nested,
    ParameterError,
    Rational,
    Record,
    Registered,
    Text,
    blocks,
    define,
    errors,
    params,
)

LISTED = 1 << 14
"""A product of independent records may have at most this many datasets."""


@define
class DataProbability:
    """A value (a dataset, or one record of it) with its probability.

    Args:
        value: the value, as it is written in a file.
        probability: its probability.
    """

    value: Annotated[Any, params.Data()]
    probability: Annotated[Fraction, Rational(0, 1)]


@define
class IndependentRecords:
    """Records that are drawn independently from one law.

    Args:
        record: the law of one record.
        times: how many records are drawn from it.
    """

    record: Annotated[tuple[DataProbability, ...], Items(Nested(DataProbability), least=1)]
    times: Annotated[int, Integer(1)] = 1

    def __attrs_post_init__(self) -> None:
        _table(self.record, "record")


@define
class DataLaw:
    """A distribution over the datasets of a space: a prior, or what generates the data.

    Args:
        label: what it is called.
        listed: every dataset of positive probability with its probability, or
        independent: the records in order, each independent of the others: nothing of the size of the space is listed.

    Raises:
        ParameterError: unless exactly one of the two is given, or when a value occurs twice.
        NotALaw: when the probabilities do not sum to exactly 1.

    >>> from dpspec.plugin import BitVectors
    >>> coin = {"record": [{"value": 0, "probability": "3/4"}, {"value": 1, "probability": "1/4"}], "times": 2}
    >>> DataLaw(label="two coins", independent=[coin]).law(BitVectors(length=2))
    FiniteLaw({(0, 0): 9/16, (0, 1): 3/16, (1, 0): 3/16, (1, 1): 1/16})
    """

    label: Annotated[str, Text()]
    listed: Annotated[tuple[DataProbability, ...], Items(Nested(DataProbability))] = ()
    independent: Annotated[tuple[IndependentRecords, ...], Items(Nested(IndependentRecords))] = ()

    def __attrs_post_init__(self) -> None:
        if bool(self.listed) == bool(self.independent):
            raise ParameterError(f"data law {self.label}", "needs either a list of datasets or independent records", "give one")
        if self.listed:
            _table(self.listed, self.label)

    def law(self, base: DatasetSpace) -> FiniteLaw:
        """The distribution over the datasets of a space.

        Raises:
            NotInSpaceError: when a dataset is none of the space.
            NotEnumerableError: when a product has more than 16,384 datasets.
        """
        return _law(self, base)

    def __str__(self) -> str:
        return self.label


@lru_cache(maxsize=256)
def _law(data: DataLaw, base: DatasetSpace) -> FiniteLaw:
    if data.listed:
        return _table(data.listed, data.label).push_forward(base.dataset)
    records = sum(part.times for part in data.independent)
    if records > LISTED:
        raise errors.NotEnumerableError(
            f"data law {data.label}", f"draws more than {LISTED} records", "take fewer", value=records
        )
    size = math.prod(len(part.record) ** part.times for part in data.independent)
    if size > LISTED:
        raise errors.NotEnumerableError(f"data law {data.label}", f"has more than {LISTED} datasets", "take fewer records")
    rows = [part.record for part in data.independent for _ in range(part.times)]
    return FiniteLaw.product([_table(row, data.label) for row in rows]).push_forward(base.dataset)


def _table(rows: Iterable[DataProbability], subject: str) -> FiniteLaw:
    probabilities: dict[Dataset, Fraction] = {}
    for row in rows:
        if row.value in probabilities:
            raise ParameterError(subject, "gives a probability twice", "list each value once", value=row.value)
        probabilities[row.value] = row.probability
    return FiniteLaw.of(dict(probabilities))


@define
class DataEvent:
    """A property of datasets: a secret, or the knowledge of an attacker.

    Args:
        label: what it is called.
        position: a place in the dataset (the first is 0), whose record is one of
        values: these values; or
        datasets: all datasets of which it is true. Without any of these it is always true.

    >>> from dpspec.plugin import BitVectors
    >>> DataEvent(label="the second is ill", position=1, values=[1]).holds((0, 1), BitVectors(length=2))
    True
    """

    label: Annotated[str, Text()]
    position: Annotated[int, Integer(0)] | None = None
    values: Annotated[tuple[Any, ...], Items(params.Data())] = ()
    datasets: Annotated[tuple[Dataset, ...], Items(params.Data())] = ()

    def __attrs_post_init__(self) -> None:
        if (self.position is None) != (not self.values) or (self.values and self.datasets):
            rule = "is given by a position with values, or by a list of datasets"
            raise ParameterError(f"event {self.label}", rule, "give one of the two")

    def check(self, base: DatasetSpace) -> None:
        """Raise IncompatibleBlocksError or NotInSpaceError when the event means nothing on the space."""
        if self.position is not None and not base.is_ordered:
            rule = f"names a position, and the datasets of {base.name} have none"
            raise IncompatibleBlocksError(f"event {self.label}", rule, "list the datasets", value=self.position)
        for dataset in self.datasets:
            base.dataset(dataset)

    def check_values(self, base: DatasetSpace, known: Sequence[Dataset]) -> None:
        """Refuse a value that no record has at the position: the event would never be true, and an attacker would be left out.

        Args:
            base: the space of the datasets.
            known: some of its datasets, which are tried with the value in this position.

        Raises:
            ParameterError: none of them has the value there, and none is a dataset with it.
        """
        for value in self.values:
            if not any(self._may_have(value, cast("tuple[Any, ...]", dataset), base) for dataset in known):
                rule = f"names a value that no record of {base.name} has at position {self.position}"
                advice = "write a record of the space, as the datasets of the priors have them"
                raise ParameterError(f"event {self.label}", rule, advice, value=value)

    def _may_have(self, value: Any, dataset: tuple[Any, ...], base: DatasetSpace) -> bool:
        """Whether the dataset, or it with the value in the position, is a dataset that has the value there."""
        place = cast("int", self.position)
        if place >= len(dataset):
            return False
        try:
            found = base.dataset([*dataset[:place], value, *dataset[place + 1 :]])
        except errors.DpspecError:
            return bool(dataset[place] == value)
        return bool(cast("tuple[Any, ...]", found)[place] == value)

    def holds(self, dataset: Dataset, base: DatasetSpace) -> bool:
        """Whether it is true of a dataset; a dataset without the position has none of the values."""
        if self.position is not None:
            records = cast("tuple[Any, ...]", dataset)
            return self.position < len(records) and records[self.position] in self.values
        return not self.datasets or dataset in map(base.dataset, self.datasets)

    def __str__(self) -> str:
        return self.label


def conditioned(law: FiniteLaw, events: Iterable[DataEvent], base: DatasetSpace) -> FiniteLaw | None:
    """The law given that all events are true; None when that has probability 0."""
    known = tuple(events)
    weights = {x: weight for x, weight in law.weights.items() if all(event.holds(x, base) for event in known)}
    return FiniteLaw.from_weights(weights) if weights else None


# --- the spaces -----------------------------------------------------------------------------------


Element = tuple[str, ...]

UNIT = "scenario"
"""The unit of these spaces: an element is one record, whose attributes are its labels."""


class DataLawSpace(DatasetSpace, blocks.ListedCells, blocks.CellRecords):
    """A space whose elements represent distributions over the datasets of a base space.

    As a dataset, an element is one record of the unit "scenario", with one attribute for each of its labels. So invariants,
    distances and queries of records are defined on it: the marginal of the attribute `prior` holds the prior fixed.
    """

    holds_laws: ClassVar[bool] = True

    base: DatasetSpace

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The names of the labels of an element; the first one is the secret."""

    @abstractmethod
    def laws(self) -> dict[Element, FiniteLaw]:
        """Every element with its law of the data."""

    def data_law(self, element: Dataset) -> FiniteLaw:
        """Pi_x, the distribution over datasets of the base space.

        Raises:
            NotInSpaceError: when it is no element.
        """
        return self.laws()[cast("Element", self.dataset(element))]

    @property
    def units(self) -> tuple[str, ...]:
        return (UNIT,)

    def dataset(self, value: Any) -> Dataset:
        known = tuple(value) if isinstance(value, (tuple, list)) and all(isinstance(label, str) for label in value) else ()
        if known not in self.laws():
            written = ", ".join(map(str, known))
            hint = params.did_you_mean(written, (", ".join(element) for element in self.laws()))
            rule = f"must be a list of labels ({', '.join(self.labels)}) of positive probability"
            raise errors.NotInSpaceError(self.name, rule, hint, value=value)
        return known

    def datasets(self) -> Iterator[Dataset]:
        return iter(sorted(self.laws(), key=self.order))

    def cardinality(self) -> int:
        return len(self.laws())

    def magnitude(self, dataset: Dataset) -> int:
        """The size of the largest dataset in the support of the element."""
        return max(map(self.base.magnitude, self.data_law(dataset).support))

    def attributes_of(self, unit: str) -> tuple[Attribute, ...]:
        self.check_unit(unit)
        columns = zip(*self.laws(), strict=True)
        return tuple(
            Attribute(name=name, categories=tuple(dict.fromkeys(column)))
            for name, column in zip(self.labels, columns, strict=True)
        )

    def records(self, dataset: Dataset, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        return (cast("Record", dataset),)

    def fixes_size(self, unit: str) -> bool:
        return unit == UNIT

    def is_told_by(self, unit: str) -> bool:
        return unit == UNIT

    def cells(self) -> tuple[Hashable, ...]:
        return tuple(self.laws())

    def vector(self, dataset: Dataset) -> tuple[int, ...]:
        return tuple(int(cell == dataset) for cell in self.cells())

    def from_vector(self, vector: tuple[int, ...]) -> Dataset:
        chosen = [cell for cell, count in zip(self.cells(), vector, strict=True) if count]
        if len(chosen) != 1 or sum(vector) != 1:
            raise errors.NotInSpaceError(self.name, "one element has the count 1, all others 0", value=vector)
        return chosen[0]

    def records_of_cell(self, cell: Hashable, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        return (cast("Record", cell),)

    def fixed_total(self) -> bool:
        return True


@define
class DataLaws(DataLawSpace):
    """Distributions of data, each with a label: what is protected is which of them the data came from.

    Args:
        base: the space of ordinary datasets.
        data_laws: the distributions over it.

    >>> list(DataLaws.examples())[0].data_law(("half",))
    FiniteLaw({(0,): 1/2, (1,): 1/2})
    """

    name: ClassVar[str] = "data-laws"

    base: Annotated[DatasetSpace, Registered("spaces")]
    data_laws: Annotated[tuple[DataLaw, ...], Items(Nested(DataLaw), least=1)]

    def __attrs_post_init__(self) -> None:
        check_labels("data_laws", self.data_laws)
        params.collect(lambda law=law: law.law(self.base) for law in self.data_laws)  # type: ignore[misc]

    @property
    def labels(self) -> tuple[str, ...]:
        return ("law",)

    def laws(self) -> dict[Element, FiniteLaw]:
        return {(law.label,): law.law(self.base) for law in self.data_laws}

    @classmethod
    def examples(cls) -> Iterable[DataLaws]:
        """What the conformance kit checks it with."""
        laws = [
            DataLaw(label=label, independent=(bits(probability),))
            for label, probability in (("quarter", Fraction(1, 4)), ("half", Fraction(1, 2)))
        ]
        yield cls(base=BitVectors(length=1), data_laws=tuple(laws))


@define
class Secrets(DataLawSpace):
    """Pairs (secret, prior) of positive probability, or triples (secret, background, prior).

    A pair represents the prior conditioned on the secret (Pufferfish, Kifer and Machanavajjhala 2014). With backgrounds, the
    prior knowledge of an attacker, it represents the prior conditioned on both (partial knowledge, Desfontaines et al. 2022).

    Args:
        base: the space of ordinary datasets.
        secrets: the secrets to be distinguished, such as "the first record is 1".
        priors: the distributions of the data that attackers believe in.
        backgrounds: the possible knowledge of attackers; none means attackers who know nothing but the prior.

    >>> space = list(Secrets.examples())[0]
    >>> list(space.datasets())[0], space.data_law(("first is 1", "copy"))
    (('first is 0', 'copy'), FiniteLaw({(1, 1): 1}))
    """

    name: ClassVar[str] = "secrets"

    base: Annotated[DatasetSpace, Registered("spaces")]
    secrets: Annotated[tuple[DataEvent, ...], Items(Nested(DataEvent), least=1)]
    priors: Annotated[tuple[DataLaw, ...], Items(Nested(DataLaw), least=1)]
    backgrounds: Annotated[tuple[DataEvent, ...], Items(Nested(DataEvent))] = ()

    def __attrs_post_init__(self) -> None:
        for field in ("secrets", "priors", "backgrounds"):
            check_labels(field, getattr(self, field))
        events = *self.secrets, *self.backgrounds
        params.collect(lambda event=event: event.check(self.base) for event in events)  # type: ignore[misc]
        known = [dataset for prior in self.priors for dataset in prior.law(self.base).support]
        params.collect(lambda event=event: event.check_values(self.base, known) for event in events)  # type: ignore[misc]
        if not _conditional_laws(self):
            raise ParameterError("secrets", "have probability 0 under every prior", "check the values that the secrets name")

    @property
    def labels(self) -> tuple[str, ...]:
        return ("secret", "background", "prior") if self.backgrounds else ("secret", "prior")

    def laws(self) -> dict[Element, FiniteLaw]:
        return _conditional_laws(self)

    @classmethod
    def examples(cls) -> Iterable[Secrets]:
        """What the conformance kit checks it with."""
        half = Fraction(1, 2)
        copy = tuple(DataProbability(value=(bit, bit), probability=half) for bit in (0, 1))
        priors = DataLaw(label="coins", independent=(bits(half, 2),)), DataLaw(label="copy", listed=copy)
        yield cls(base=BitVectors(length=2), secrets=values_at(0, "first"), priors=priors)
        known = DataEvent(label="nothing"), DataEvent(label="second is 1", position=1, values=(1,))
        yield cls(base=BitVectors(length=2), secrets=values_at(0, "first"), priors=priors, backgrounds=known)


@lru_cache(maxsize=64)
def _conditional_laws(space: Secrets) -> dict[Element, FiniteLaw]:
    found: dict[Element, FiniteLaw] = {}
    for secret in space.secrets:
        for background in space.backgrounds or (None,):
            for prior in space.priors:
                known = (secret,) if background is None else (secret, background)
                law = conditioned(prior.law(space.base), known, space.base)
                if law is not None:
                    found[(*(event.label for event in known), prior.label)] = law
    return found


def check_labels(field: str, labelled: Sequence[DataLaw | DataEvent]) -> None:
    """Refuse two things of one label."""
    labels = [thing.label for thing in labelled]
    if len(set(labels)) != len(labels):
        raise ParameterError(field, "gives a label twice", "labels distinguish them", value=labels)


def bits(probability: Fraction, times: int = 1) -> IndependentRecords:
    """Independent bits, each 1 with the given probability."""
    record = DataProbability(value=0, probability=1 - probability), DataProbability(value=1, probability=probability)
    return IndependentRecords(record=record, times=times)


def values_at(position: int, who: str) -> tuple[DataEvent, DataEvent]:
    """The two secrets about one bit."""
    no, yes = (DataEvent(label=f"{who} is {bit}", position=position, values=(bit,)) for bit in (0, 1))
    return no, yes
