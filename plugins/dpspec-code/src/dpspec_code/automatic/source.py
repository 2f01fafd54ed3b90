"""The release code of a mechanism as a plain function, so that the engines judge the very code that runs on real tables.

A dataset is written as a table and released. Under the enumerating generator, coins, selections, permutations and
derangements are choices, each with its exact probability; under numpy's, the source is keyed by the generator.
"""

from __future__ import annotations

import contextlib
import functools
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
from dpspec_code.automatic.generator import MOST_OPTIONS, EnumeratingGenerator, path_of
from dpspec_code.automatic.path import RandomPath


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

    def outcome(table: Table, source: Randomness) -> Hashable:
        made = mechanism.run(table, space, workers.Run(source=source))
        after, *others = (*made.tables.values(), *(stream.joined() for stream in made.streams.values()))
        rows: Hashable = tuple(after.records())
        if others:
            rows = rows, *(tuple(one.records()) for one in others)
        elif after.attributes == attributes:
            with contextlib.suppress(NotInSpaceError):  # the space may write its datasets in another way than as rows
                rows = space.dataset(rows)
        return (rows, json.dumps(made.report, sort_keys=True, default=str)) if with_report and made.report else rows

    def released(dataset: Dataset, generator: Any) -> Hashable:
        table = Table.from_records(space.records(dataset, space.units[0]), attributes)
        if type(generator) is not EnumeratingGenerator:
            return outcome(table, KeyedRandomness(generator.bytes(32), fit_for_publication=False))
        try:
            return outcome(table, EnumeratedRandomness.along(path_of(generator)))
        except DpspecError as fault:  # while choices are enumerated an error ends the enumeration: release code may not fail
            generator.give_up(fault)
        except Exception as problem:
            rule = f"raised {type(problem).__name__} in release(): {problem}"
            generator.give_up(PluginContractError(f"mechanism {mechanism.name}", rule, "report it to its author"))

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


# --- a source whose draws are choices -------------------------------------------------------------


_OWN_STREAMS = 1 << 32
"""Streams from here on belong to the samplers (`dpspec.base.randomness.deeper`)."""
_TURNS = 1 << 16
"""Draws that are repeated until a condition is met take the following streams, one or two each time: fewer than so many."""

_Request = tuple[Hashable, ...]
_Array = npt.NDArray[Any]


@attrs.define
class _Drawn:
    """What sources with the same key have drawn, which is the same for each of them.

    Args:
        path: the choices of the run.
        row: what was drawn in a row, request by request.
        runs: what was drawn by place, run by run.
        cells: the request and the value at a stream and a place.
        taken: streams and places of draws for several elements together.
        whole: the results of requests for several elements together.
        children: what the sources with a path of labels have drawn.
    """

    path: RandomPath
    row: list[tuple[_Request, _Array]] = attrs.field(factory=list)
    runs: list[_Drawn] = attrs.field(factory=list)
    cells: dict[tuple[int, int], tuple[_Request, Any]] = attrs.field(factory=dict)
    taken: list[tuple[range, frozenset[int]]] = attrs.field(factory=list)
    whole: dict[_Request, _Array] = attrs.field(factory=dict)
    children: dict[tuple[tuple[str, str], ...], _Drawn] = attrs.field(factory=dict)


class EnumeratedRandomness(Randomness):
    """A source whose draws are choices along a path; single words have too many values to be listed.

    Another source with the same key draws the same once more, as it does in a release.
    """

    fit_for_publication = False

    def __init__(self, drawn: _Drawn) -> None:
        self._drawn, self._place, self._runs = drawn, 0, 0

    @classmethod
    def along(cls, path: RandomPath) -> EnumeratedRandomness:
        """The source of a run."""
        return cls(_Drawn(path))

    def words(self, count: int) -> Words:
        self._drawn.path.refuse(_endless())

    def placed(self) -> EnumeratedPlaces:
        if self._runs == len(self._drawn.runs):
            self._drawn.runs.append(_Drawn(self._drawn.path))
        self._runs += 1
        return EnumeratedPlaces(self._drawn.runs[self._runs - 1])

    def below(self, bound: int, count: int) -> npt.NDArray[np.int64]:
        return self._next(("below", bound, count), lambda: _below(self._drawn.path, bound, count))

    def bernoulli(self, probability: Fraction, count: int) -> Mask:
        if probability.denominator >= 1 << 63:  # the sources of releases refuse it
            return super().bernoulli(probability, count)
        return self._next(("coin", probability, count), lambda: _coins(self._drawn.path, probability, count))

    def permutation(self, count: int) -> npt.NDArray[np.int64]:
        groups = np.zeros(count, dtype=np.int64)
        return self._next(("permutation", count), lambda: _arranged(self._drawn.path, groups, _orders))

    def _next(self, request: _Request, draw: Callable[[], _Array]) -> _Array:
        """What is drawn next in a row; what another source with this key has drawn there."""
        self._place += 1
        with _ending(self._drawn.path):
            if self._place > len(self._drawn.row):
                self._drawn.row.append((request, draw()))
            before, values = self._drawn.row[self._place - 1]
            if before != request:
                raise _depends()
            return values.copy()


class EnumeratedPlaces(PlacedRandomness):
    """Draws by place that are choices along a path: equal for equal arguments."""

    fit_for_publication = False

    def __init__(self, drawn: _Drawn) -> None:
        self._drawn = drawn

    def words_at(self, stream: int, places: AnyIntegers) -> Words:
        self._drawn.path.refuse(_endless())

    def spawn(self, *path: str | int) -> EnumeratedRandomness:
        labels = tuple((type(part).__name__, str(part)) for part in path)
        return EnumeratedRandomness(self._drawn.children.setdefault(labels, _Drawn(self._drawn.path)))

    def below_at(self, bound: int, stream: int, places: AnyIntegers) -> Integers:
        return self._each(("below", bound), stream, places, lambda count: _below(self._drawn.path, bound, count))

    def bernoulli_at(self, probability: Fraction, stream: int, places: AnyIntegers) -> Mask:
        return self._each(("coin", probability), stream, places, lambda count: _coins(self._drawn.path, probability, count))

    def selected_at(self, probability: Fraction, stream: int, places: AnyIntegers, groups: AnyIntegers, *, single: bool) -> Mask:
        if single:  # nothing is drawn again
            return self.bernoulli_at(probability, stream, places)

        def draw() -> _Array:
            chosen = np.zeros(len(places), dtype=np.bool_)
            for members in _members(groups):
                masks, odds = _selections(len(members), _share(probability))
                chosen[members] = masks[self._drawn.path.choose(odds)]
            return chosen

        request = ("selection", probability, stream, *_key_of(places, groups))
        return self._together(request, [(range(stream, stream + _TURNS), places)], draw)

    def permuted_at(self, stream: int, places: AnyIntegers, groups: AnyIntegers) -> Integers:
        request, taken = ("permutation", stream, *_key_of(places, groups)), [(range(stream, stream + 1), places)]
        return self._together(request, taken, lambda: _arranged(self._drawn.path, groups, _orders))

    def deranged_at(self, streams: tuple[int, int], places: AnyIntegers, groups: AnyIntegers, names: AnyIntegers) -> Integers:
        order, lengths = streams
        request = ("derangement", *streams, *_key_of(places, groups, names))
        taken = [(range(order, order + 1), places), (range(lengths, lengths + _TURNS), names)]
        return self._together(request, taken, lambda: _arranged(self._drawn.path, groups, _derangements))

    def _each(self, request: _Request, stream: int, places: AnyIntegers, draw: Callable[[int], _Array]) -> _Array:
        """One draw for each place: the one before, where it is asked for again."""
        cells = [(stream, place) for place in places.tolist()]
        fresh = [cell for cell in dict.fromkeys(cells) if cell not in self._drawn.cells]
        with _ending(self._drawn.path):
            _check_streams(range(stream, stream + 1))
            if any(stream in streams and place in others for _, place in fresh for streams, others in self._drawn.taken):
                raise _depends()
            drawn = draw(len(fresh))
            self._drawn.cells |= {cell: (request, value) for cell, value in zip(fresh, drawn, strict=True)}
            found = [self._drawn.cells[cell] for cell in cells]
            if any(before != request for before, _ in found):
                raise _depends()
            return np.asarray([value for _, value in found], dtype=drawn.dtype)

    def _together(self, request: _Request, taken: Iterable[tuple[range, AnyIntegers]], draw: Callable[[], _Array]) -> _Array:
        """One draw for several elements together: the one before, where it is asked for again."""
        with _ending(self._drawn.path):
            if request not in self._drawn.whole:
                for streams, names in taken:
                    self._take(streams, names.tolist())
                self._drawn.whole[request] = draw()
            return self._drawn.whole[request].copy()

    def _take(self, streams: range, names: list[int]) -> None:
        """Refuse a draw by words of which another one depends."""
        _check_streams(streams)
        places = frozenset(names)
        others = ((range(stream, stream + 1), {place}) for stream, place in self._drawn.cells)
        for before, drawn in itertools.chain(self._drawn.taken, others):
            if before.start < streams.stop and streams.start < before.stop and not places.isdisjoint(drawn):
                raise _depends()
        if len(places) < len(names):  # two elements that draw by the same words
            raise _depends()
        self._drawn.taken.append((streams, places))


@contextlib.contextmanager
def _ending(path: RandomPath) -> Iterator[None]:
    """What cannot be enumerated ends the run: a release raises nothing there, so code that catches the error must not go on."""
    try:
        yield
    except NotEnumerableError as fault:
        path.refuse(fault)


def _key_of(*given: AnyIntegers) -> Iterator[tuple[int, ...]]:
    return (tuple(one.tolist()) for one in given)


def _check_streams(streams: range) -> None:
    if streams.start < 0 or streams.stop > _OWN_STREAMS:
        rule = "draws from a stream that belongs to the samplers"
        raise NotEnumerableError("release()", rule, "take streams from 0 to 2^32 - 1")


def _depends() -> NotEnumerableError:
    rule = "draws different things from the same words, so that they depend on each other"
    return NotEnumerableError("release()", rule, "draw each from a stream or a source of its own")


def _endless() -> NotEnumerableError:
    return NotEnumerableError("words", "take 2^64 values each", "draw coins, integers or arrangements")


# --- draws ----------------------------------------------------------------------------------------


def _below(path: RandomPath, bound: int, count: int) -> Integers:
    """Integers below a bound."""
    _check_results(bound, count)
    return np.asarray([path.uniform(bound) for _ in range(count)], dtype=np.int64)


def _coins(path: RandomPath, probability: Fraction, count: int) -> Mask:
    """Coins that are True with a probability."""
    share = _share(probability)
    _check_results(2 if 0 < share < 1 else 1, count)
    return np.asarray([path.choose((share, 1 - share)) == 0 for _ in range(count)], dtype=np.bool_)


def _check_results(options: int, count: int) -> None:
    """Refuse draws with more results together than runs are made."""
    if count * math.log2(options) > math.log2(MOST_OPTIONS):
        raise _too_many(f"{count} draws have {options}^{count} results")


def _share(probability: Fraction) -> Fraction:
    """What is beyond 0 or 1 is certain, as for the sources of releases."""
    return min(max(Fraction(probability.numerator, probability.denominator), Fraction(0)), Fraction(1))


def _arranged(path: RandomPath, groups: AnyIntegers, arrangements: Callable[[int], list[tuple[int, ...]]]) -> Integers:
    """In each group one of its arrangements, all equally likely."""
    givers = np.arange(len(groups), dtype=np.int64)
    for members in _members(groups):
        orders = arrangements(len(members))
        if not orders:
            raise NotEnumerableError("release()", "deranges one element alone", "leave groups of one out")
        givers[members] = members[list(orders[path.uniform(len(orders))])]
    return givers


_FEW_SIZES = 64
"""Selections and arrangements of so many kinds are kept: every run asks for the same ones."""


@functools.lru_cache(_FEW_SIZES)
def _selections(count: int, probability: Fraction) -> tuple[list[tuple[bool, ...]], list[Fraction]]:
    """Which of some elements are selected, each by a coin, and how likely that is, given that it is not one alone."""
    if 1 << count > MOST_OPTIONS:
        raise _too_many(f"{count} elements have 2^{count} selections")
    masks = [mask for mask in itertools.product((False, True), repeat=count) if sum(mask) != 1]
    weights = [probability ** sum(mask) * (1 - probability) ** (count - sum(mask)) for mask in masks]
    total = sum(weights)
    if not total:
        raise NotEnumerableError("release()", "selects one element alone, again and again", "select from two at least")
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
