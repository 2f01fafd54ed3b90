"""Blowfish policies: which values of a record must not be told apart, as a graph on the values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated, ClassVar

from dpspec_divergences import HammingOrdered
from dpspec_divergences.counting import Minorised, check_ordered

from dpspec.blocks.attributes import all_records
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace, Record
from dpspec.errors import IncompatibleBlocksError, ParameterError
from dpspec.exact import INFINITY, Number, number
from dpspec.params import Data, Items, Text, define

Bound = tuple[Number, str]


@define
class Policy(Minorised):
    """The distance of a policy graph G on the values of a record (He, Machanavajjhala and Ding, SIGMOD 2014).

    d(x, x') = sum over the records i of the length of a shortest path from x_i to x'_i in G; infinity when there is none, or
    when the numbers of records differ. An edge says that an attacker must not be able to tell its two values apart; the complete
    graph gives the ordered Hamming distance, a line protects close values better than distant ones.

    A constraint of Blowfish (a fact that is public) is an invariant of the multiverse. The distance stays that of the whole
    space (B-S1), so that datasets which only meet the constraint together pay for every changed record; for the neighbours of
    the paper, which pay once, see `policy-neighbours`.

    Args:
        edges: pairs of values, each as a category, or as a list of categories for records of several attributes.
        unit: what one record is.

    >>> from dpspec.blocks.records import OrderedRecords
    >>> pay = OrderedRecords(attributes=(Attribute(name="pay", categories=("low", "mid", "high")),), most=2)
    >>> line = Policy(edges=[["low", "mid"], ["mid", "high"]])
    >>> str(line.distance((("low",), ("mid",)), (("high",), ("high",)), pay))
    '3'
    """

    name: ClassVar[str] = "policy"

    edges: Annotated[tuple[tuple[Record | str, ...], ...], Items(Items(Data()), least=1)]
    unit: Annotated[str, Text()] = "person"

    def __attrs_post_init__(self) -> None:
        check_edges(self.edges)

    def check(self, space: DatasetSpace) -> None:
        check_ordered(self.name, space, self.unit, "a policy on an ordered space")
        check_values(self.edges, space.attributes_of(self.unit))

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        ours, theirs = space.records(left, self.unit), space.records(right, self.unit)
        if len(ours) != len(theirs):
            return INFINITY
        steps = [self.steps(one, other) for one, other in zip(ours, theirs, strict=True)]
        return INFINITY if None in steps else number(sum(step or 0 for step in steps))

    def steps(self, one: Record, other: Record) -> int | None:
        """The length of a shortest path between two values; None when there is none."""
        return 0 if one == other else _reached(self.edges, one).get(other)

    def least_distance(self, space: DatasetSpace) -> Number | None:
        return HammingOrdered(unit=self.unit).least_distance(space)

    def counted_unit(self) -> str:
        return self.unit

    def minorant(self) -> InputDivergence:
        return HammingOrdered(unit=self.unit)

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if self == other:
            return number(1), "the same input divergence"
        if isinstance(other, Policy) and other.unit == self.unit:
            steps = [self.steps(as_record(one), as_record(two)) for one, two in other.edges]
            if None not in steps:
                most = max(step or 0 for step in steps)
                return number(most), f"an edge of the other policy is a path of at most {most} edges"
        diameter = self.diameter(space)
        known = HammingOrdered(unit=self.unit).bounded_by(other, space)
        if diameter is None or known is None:
            return None
        return known[0] * diameter, f"any two values are joined by at most {diameter} edges; {known[1]}"

    def diameter(self, space: DatasetSpace) -> int | None:
        """The largest distance of two values of a record; None when it is infinite or the values cannot be listed."""
        attributes = space.attributes_of(self.unit)
        values = list(all_records(attributes)) if attributes else []
        steps = [self.steps(one, other) for one, other in itertools.combinations(values, 2)]
        return None if None in steps or not steps else max(step or 0 for step in steps)

    @classmethod
    def examples(cls) -> Iterator[Policy | tuple[Policy, DatasetSpace]]:
        """What the conformance kit checks it with."""
        from dpspec.blocks.records import OrderedRecords

        line = (("low", "mid"), ("mid", "high"), ("none", "some"))
        salary = Attribute(name="salary", categories=("low", "mid", "high", "none", "some"))
        yield cls(edges=line), OrderedRecords(attributes=(salary,), least=1, most=2)
        yield cls(edges=(("0", "1"),))
        yield cls(edges=(("f", "m"),))

    def __str__(self) -> str:
        return f"{self.name} of {len(self.edges)} edges ({self.unit})"


def as_record(value: Record | str) -> Record:
    """A value as it is written in a file, as the record that it stands for."""
    return tuple(map(str, value)) if isinstance(value, tuple) else (str(value),)


def check_edges(edges: tuple[tuple[Record | str, ...], ...]) -> None:
    """Refuse what is no pair of different values."""
    for place, pair in enumerate(edges):
        if len(pair) != 2 or as_record(pair[0]) == as_record(pair[1]):
            raise ParameterError(f"edges[{place}]", "must be two different values", 'write ["low", "mid"]', value=pair)


def check_values(edges: tuple[tuple[Record | str, ...], ...], attributes: tuple[Attribute, ...]) -> None:
    """Refuse values that are no records; a space that describes no attributes takes any."""
    for value in itertools.chain.from_iterable(edges) if attributes else ():
        record = as_record(value)
        if len(record) != len(attributes):
            rule = f"must name {len(attributes)} categories: {', '.join(a.name for a in attributes)}"
            raise IncompatibleBlocksError("policy", rule, value=record)
        for attribute, category in zip(attributes, record, strict=True):
            attribute.index(category)


@lru_cache(maxsize=4096)
def _reached(edges: tuple[tuple[Record | str, ...], ...], start: Record) -> dict[Record, int]:
    """The values that a path from the start reaches, with its length, breadth first."""
    around = _around(edges)
    steps, frontier = {start: 0}, [start]
    while frontier:
        following = []
        for value in frontier:
            for neighbour in around.get(value, ()):
                if neighbour not in steps:
                    steps[neighbour] = steps[value] + 1
                    following.append(neighbour)
        frontier = following
    return steps


@lru_cache(maxsize=64)
def _around(edges: tuple[tuple[Record | str, ...], ...]) -> dict[Record, set[Record]]:
    around: dict[Record, set[Record]] = {}
    for one, other in edges:
        around.setdefault(as_record(one), set()).add(as_record(other))
        around.setdefault(as_record(other), set()).add(as_record(one))
    return around
