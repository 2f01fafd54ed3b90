"""The release code of a mechanism as a plain function, so that the engines judge the very code that runs on real tables.

A dataset is written as a table and released. Under the enumerating generator, coins, selections, permutations and
derangements are choices, each with its exact probability; under numpy's, the source is keyed by the generator.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from fractions import Fraction
from operator import ne
from typing import Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from dpspec import DpspecError
from dpspec.plugin import (
    AnyIntegers,
    Dataset,
    DatasetSpace,
    IncompatibleBlocksError,
    Integers,
    Law,
    Mask,
    Mechanism,
    Randomness,
    Table,
    workers,
)
from dpspec.plugin.judges import (
    MEMBERS,
    KeyedRandomness,
    NotEnumerableError,
    NotInSpaceError,
    PlacedRandomness,
    PluginContractError,
    Words,
)
from dpspec_code.automatic.generator import EnumeratingGenerator


def release_function(
    mechanism: Mechanism, space: DatasetSpace, *, with_report: bool = False
) -> Callable[[Dataset, Any], Hashable]:
    """`(dataset, generator) -> output`: the mechanism's `release` on the dataset as a table.

    The output is a dataset of the space where the released columns are its attributes, and the released rows otherwise. Of
    several tables, it is the rows of each.

    Args:
        mechanism, space: what is released.
        with_report: whether what the mechanism states in the public report is a part of the output, where it states anything.

    >>> from dpspec.plugin import Marginal, UnorderedRecords, grammar
    >>> space = UnorderedRecords(attributes=[{"name": "sex", "categories": ["f", "m"]}])
    >>> release_function(grammar.ReleaseInvariants(invariants=[Marginal(attributes=["sex"])]), space).__name__
    'release-invariants'

    Raises:
        IncompatibleBlocksError: the records of the space are no rows of categories.
    """
    attributes = space.attributes_of(space.units[0]) if space.units else ()
    if not attributes or any(a.name == MEMBERS for a in attributes):
        raise IncompatibleBlocksError(f"space {space.name}", "has no records that are rows of one table")

    def released(dataset: Dataset, generator: Any) -> Hashable:
        table = Table.from_records(space.records(dataset, space.units[0]), attributes)
        made = _released(mechanism, table, space, generator)
        if with_report and made.report:
            return output(made), json.dumps(made.report, sort_keys=True, default=str)
        return output(made)

    def output(made: workers.Output) -> Hashable:
        after, *others = (*made.tables.values(), *(stream.joined() for stream in made.streams.values()))
        rows = tuple(after.records())
        if others:
            return rows, *(tuple(one.records()) for one in others)
        if after.attributes != attributes:
            return rows
        try:
            return space.dataset(rows)
        except NotInSpaceError:  # the space writes its datasets in another way than as rows
            return rows

    released.__name__ = mechanism.name
    return released


@attrs.frozen
class ReleaseCode(Mechanism):
    """A mechanism whose law is read off its release code, whatever its own `law` says.

    Args:
        mechanism: the one whose code it is. Its law is that of all tables that a release writes, with what the report states.
    """

    name: ClassVar[str] = "release-code"

    assumes: ClassVar[tuple[str, ...]] = (
        "the source of a release is uniform and independent: its coins, numbers below a bound, selections and arrangements "
        "have exactly the probabilities that are asked for",
        "the release code draws from that source alone and keeps nothing between releases",
        "a release of a real table runs the same code, on the interpreter and the libraries of this run",
    )

    mechanism: Mechanism

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        from dpspec_code.automatic.sampler import enumerate_law

        function = release_function(self.mechanism, space, with_report=True)
        return enumerate_law(function, space.dataset(dataset), read=False)


def _released(mechanism: Mechanism, table: Table, space: DatasetSpace, generator: Any) -> workers.Output:
    """One release; while choices are enumerated an error ends the enumeration, for release code may not fail."""
    if type(generator) is not EnumeratingGenerator:
        return _run(mechanism, table, space, KeyedRandomness(generator.bytes(32), fit_for_publication=False))
    try:
        return _run(mechanism, table, space, EnumeratedSource(generator))
    except DpspecError as fault:
        generator.give_up(fault)
    except Exception as problem:
        rule = f"raised {type(problem).__name__} in release(): {problem}"
        generator.give_up(PluginContractError(f"mechanism {mechanism.name}", rule, "report it to its author"))


def _run(mechanism: Mechanism, table: Table, space: DatasetSpace, source: Randomness) -> workers.Output:
    return mechanism.run(table, space, workers.Run(source=source))


class EnumeratedSource(Randomness, PlacedRandomness):
    """A source whose draws are choices of an enumerating generator; single words have too many values to be listed."""

    fit_for_publication = False

    def __init__(self, generator: EnumeratingGenerator) -> None:
        self._generator: Any = generator

    def words(self, count: int) -> Words:
        raise NotEnumerableError("words", "take 2^64 values each", "draw coins, integers or arrangements")

    def placed(self) -> EnumeratedSource:
        return self

    def words_at(self, stream: int, places: AnyIntegers) -> Words:
        return self.words(len(places))

    def spawn(self, *path: str | int) -> EnumeratedSource:
        return self

    def below(self, bound: int, count: int) -> npt.NDArray[np.int64]:
        return np.asarray([self._generator.integers(bound) for _ in range(count)], dtype=np.int64)

    def permutation(self, count: int) -> npt.NDArray[np.int64]:
        return np.asarray(self._generator.permutation(count), dtype=np.int64)

    def below_at(self, bound: int, stream: int, places: AnyIntegers) -> Integers:
        return self.below(bound, len(places))

    def bernoulli_at(self, probability: Fraction, stream: int, places: AnyIntegers) -> Mask:
        return self.bernoulli(probability, len(places))

    def selected_at(self, probability: Fraction, stream: int, places: AnyIntegers, groups: AnyIntegers, *, single: bool) -> Mask:
        chosen = np.zeros(len(places), dtype=np.bool_)
        for members in _members(groups):
            masks = [m for m in itertools.product((False, True), repeat=len(members)) if single or sum(m) != 1]
            weights = [math.prod(probability if taken else 1 - probability for taken in mask) for mask in masks]
            total = sum(weights)
            possible = [(mask, weight / total) for mask, weight in zip(masks, weights, strict=True) if weight]
            drawn = int(self._generator.choice(len(possible), p=[share for _, share in possible]))
            chosen[members] = possible[drawn][0]
        return chosen

    def permuted_at(self, stream: int, places: AnyIntegers, groups: AnyIntegers) -> Integers:
        return self._arranged(groups, itertools.permutations)

    def deranged_at(self, streams: tuple[int, int], places: AnyIntegers, groups: AnyIntegers, names: AnyIntegers) -> Integers:
        return self._arranged(groups, _derangements)

    def _arranged(self, groups: AnyIntegers, arrangements: Callable[[range], Iterable[tuple[int, ...]]]) -> Integers:
        """In each group one of its arrangements, all equally likely."""
        givers = np.arange(len(groups), dtype=np.int64)
        for members in _members(groups):
            orders = list(arrangements(range(len(members))))
            givers[members] = members[list(orders[int(self._generator.integers(len(orders)))])]
        return givers


def _derangements(elements: range) -> Iterator[tuple[int, ...]]:
    return (order for order in itertools.permutations(elements) if all(map(ne, order, elements)))


def _members(groups: AnyIntegers) -> Iterator[Integers]:
    """The elements of each group that has some."""
    for group in np.unique(groups):
        yield np.flatnonzero(groups == group)
