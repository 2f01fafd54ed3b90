"""The release code of a mechanism as a plain function, so that the engines judge the very code that runs on real tables.

A dataset is written as a table and released. Under the enumerating generator, coins, selections, permutations and
derangements are choices, each with its exact probability; under numpy's, the source is keyed by the generator.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Hashable, Iterator
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
from dpspec_code.automatic.generator import MOST_OPTIONS, EnumeratingGenerator, path_of
from dpspec_code.automatic.path import RandomPath


def release_function(mechanism: Mechanism, space: DatasetSpace) -> Callable[[Dataset, Any], Hashable]:
    """`(dataset, generator) -> output`: the mechanism's `release` on the dataset as a table.

    The output is a dataset of the space where the released columns are its attributes, and the released rows otherwise. Of
    several tables, it is the rows of each.

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
        after, *others = _released(mechanism, table, space, generator)
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
        mechanism: the one whose code it is.
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

        return enumerate_law(release_function(self.mechanism, space), space.dataset(dataset), read=False)


def _released(mechanism: Mechanism, table: Table, space: DatasetSpace, generator: Any) -> list[Table]:
    """One release; while choices are enumerated an error ends the enumeration, for release code may not fail."""
    if type(generator) is not EnumeratingGenerator:
        return _tables(mechanism, table, space, KeyedRandomness(generator.bytes(32), fit_for_publication=False))
    try:
        return _tables(mechanism, table, space, EnumeratedSource(path_of(generator)))
    except DpspecError as fault:
        generator.give_up(fault)
    except Exception as problem:
        rule = f"raised {type(problem).__name__} in release(): {problem}"
        generator.give_up(PluginContractError(f"mechanism {mechanism.name}", rule, "report it to its author"))


def _tables(mechanism: Mechanism, table: Table, space: DatasetSpace, source: Randomness) -> list[Table]:
    """All tables that a release of the mechanism writes."""
    made = mechanism.run(table, space, workers.Run(source=source))
    return [*made.tables.values(), *(stream.joined() for stream in made.streams.values())]


class EnumeratedSource(Randomness, PlacedRandomness):
    """A source whose draws are choices along a path; single words have too many values to be listed."""

    fit_for_publication = False

    def __init__(self, path: RandomPath) -> None:
        self._path = path

    def words(self, count: int) -> Words:
        raise NotEnumerableError("words", "take 2^64 values each", "draw coins, integers or arrangements")

    def placed(self) -> EnumeratedSource:
        return self

    def words_at(self, stream: int, places: AnyIntegers) -> Words:
        return self.words(len(places))

    def spawn(self, *path: str | int) -> EnumeratedSource:
        return self

    def below(self, bound: int, count: int) -> npt.NDArray[np.int64]:
        if bound > MOST_OPTIONS:
            raise NotEnumerableError("release()", f"draws one of {bound} numbers", "take smaller parameters")
        return np.asarray([self._path.uniform(bound) for _ in range(count)], dtype=np.int64)

    def permutation(self, count: int) -> npt.NDArray[np.int64]:
        return self.permuted_at(0, np.arange(count), np.zeros(count, dtype=np.int64))

    def below_at(self, bound: int, stream: int, places: AnyIntegers) -> Integers:
        return self.below(bound, len(places))

    def bernoulli(self, probability: Fraction, count: int) -> Mask:
        if probability.denominator >= 1 << 63:  # the sources of releases refuse it
            return super().bernoulli(probability, count)
        return self._coins(probability, count)

    def _coins(self, probability: Fraction, count: int) -> Mask:
        odds = (probability, 1 - probability)
        return np.asarray([self._path.choose(odds) == 0 for _ in range(count)], dtype=np.bool_)

    def bernoulli_at(self, probability: Fraction, stream: int, places: AnyIntegers) -> Mask:
        return self._coins(probability, len(places))

    def selected_at(self, probability: Fraction, stream: int, places: AnyIntegers, groups: AnyIntegers, *, single: bool) -> Mask:
        chosen = np.zeros(len(places), dtype=np.bool_)
        for members in _members(groups):
            masks, odds = _selections(len(members), probability, single=single)
            chosen[members] = masks[self._path.choose(odds)]
        return chosen

    def permuted_at(self, stream: int, places: AnyIntegers, groups: AnyIntegers) -> Integers:
        return self._arranged(groups, _orders)

    def deranged_at(self, streams: tuple[int, int], places: AnyIntegers, groups: AnyIntegers, names: AnyIntegers) -> Integers:
        return self._arranged(groups, _derangements)

    def _arranged(self, groups: AnyIntegers, arrangements: Callable[[int], list[tuple[int, ...]]]) -> Integers:
        """In each group one of its arrangements, all equally likely."""
        givers = np.arange(len(groups), dtype=np.int64)
        for members in _members(groups):
            orders = arrangements(len(members))
            givers[members] = members[list(orders[self._path.uniform(len(orders))])]
        return givers


_FEW_SIZES = 64
"""Selections and arrangements of so many kinds are kept: every run asks for the same ones."""


@functools.lru_cache(_FEW_SIZES)
def _selections(count: int, probability: Fraction, *, single: bool) -> tuple[list[tuple[bool, ...]], list[Fraction]]:
    """Which of some elements are selected, each by a coin, and how likely that is; without `single`, never one alone."""
    if 1 << count > MOST_OPTIONS:
        raise _too_many(f"{count} elements have 2^{count} selections")
    masks = [mask for mask in itertools.product((False, True), repeat=count) if single or sum(mask) != 1]
    weights = [probability ** sum(mask) * (1 - probability) ** (count - sum(mask)) for mask in masks]
    total = sum(weights)
    possible = [(mask, weight / total) for mask, weight in zip(masks, weights, strict=True) if weight]
    return [mask for mask, _ in possible], [share for _, share in possible]


@functools.lru_cache(_FEW_SIZES)
def _orders(count: int) -> list[tuple[int, ...]]:
    """All arrangements of some elements."""
    if math.factorial(count) > MOST_OPTIONS:
        raise _too_many(f"{count} elements have {count}! arrangements")
    return list(itertools.permutations(range(count)))


@functools.lru_cache(_FEW_SIZES)
def _derangements(count: int) -> list[tuple[int, ...]]:
    """The arrangements that leave no element at its place."""
    return [order for order in _orders(count) if all(map(ne, order, range(count)))]


def _too_many(rule: str) -> NotEnumerableError:
    return NotEnumerableError("release()", f"draws for too many records: {rule}", "take a smaller space")


def _members(groups: AnyIntegers) -> Iterator[Integers]:
    """The elements of each group that has some."""
    for group in np.unique(groups):
        yield np.flatnonzero(groups == group)
