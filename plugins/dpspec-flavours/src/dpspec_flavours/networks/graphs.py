"""Dataset spaces whose elements are networks: simple graphs on named nodes."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, ClassVar, cast

from dpspec.blocks.space import Attribute, Dataset, DatasetSpace, Record
from dpspec.errors import NotInSpaceError, ParameterError
from dpspec.params import Integer, Items, Text, Truth, define, did_you_mean

Edge = tuple[str, str]
Graph = tuple[tuple[str, ...], tuple[Edge, ...]]
"""The nodes that are present and the edges between them, both in the order of the space."""

_COUNTED = 24
"""With a bound on the degree, graphs are counted up to this number of nodes."""


@define
class Graphs(DatasetSpace):
    """Simple graphs on named nodes.

    A dataset is the pair (nodes, edges), each edge a pair of nodes; no edge joins a node with itself and none occurs twice.
    There are three units. A record of the unit *edge* is the pair of its ends, so that `symmetric-difference` with unit edge is
    the edge distance |E (-) E'|; a record of the unit *node* is the name of a node, whatever its edges; a record of the unit
    *element* is either, so that `symmetric-difference` with unit element is |V (-) V'| + |E (-) E'| (Hay et al. 2009). How far
    apart two graphs are when a node counts with its edges is the input divergence `node-distance`.

    The coordinates are the possible edges, with values 0 and 1, after one for each node if nodes may be absent.

    Args:
        nodes: the names of all nodes there may be.
        directed: whether the edge (a, b) differs from (b, a); if not, an edge names its ends in the order of `nodes`.
        absent: whether nodes may be absent; without it all are always there.
        most_degree: the largest number of edges at one node (in and out); without it, any number.

    >>> triangle = Graphs(nodes=("a", "b", "c"))
    >>> triangle.dataset([["a", "b", "c"], [["c", "a"]]])
    (('a', 'b', 'c'), (('a', 'c'),))
    >>> triangle.cardinality(), Graphs(nodes=("a", "b", "c"), absent=True).cardinality()
    (8, 18)
    """

    name: ClassVar[str] = "graphs"

    nodes: Annotated[tuple[str, ...], Items(Text(), least=1)]
    directed: Annotated[bool, Truth()] = False
    absent: Annotated[bool, Truth()] = False
    most_degree: Annotated[int, Integer(0)] | None = None

    def __attrs_post_init__(self) -> None:
        if len(set(self.nodes)) != len(self.nodes):
            raise ParameterError("nodes", "names a node twice", "give every node its own name", value=self.nodes)

    @property
    def units(self) -> tuple[str, ...]:
        return ("node", "edge", "element")

    def possible_edges(self, present: Iterable[str] | None = None) -> tuple[Edge, ...]:
        """All edges between the given nodes (all nodes), in order."""
        chosen = self.nodes if present is None else tuple(present)
        pairs = itertools.permutations(chosen, 2) if self.directed else itertools.combinations(chosen, 2)
        return tuple(pairs)

    def most_at_node(self) -> int:
        """The largest number of edges that one node can have."""
        others = (len(self.nodes) - 1) * (2 if self.directed else 1)
        return others if self.most_degree is None else min(others, self.most_degree)

    # -- datasets -----------------------------------------------------------------------------------

    def dataset(self, value: Any) -> Dataset:
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            raise NotInSpaceError(self.name, "must be a pair: the nodes, and the edges as pairs of nodes", value=value)
        parts = tuple(value)
        if len(parts) != 2 or any(isinstance(part, str) or not isinstance(part, Iterable) for part in parts):
            raise NotInSpaceError(self.name, "must be a pair: the nodes, and the edges as pairs of nodes", value=parts)
        present = self._present(tuple(parts[0]))
        edges = [self._edge(entry, present) for entry in parts[1]]
        if len(set(edges)) != len(edges):
            raise NotInSpaceError(self.name, "must not hold an edge twice", "the graphs are simple", value=tuple(edges))
        self._check_degree(edges)
        place = self._places()
        return present, tuple(sorted(edges, key=lambda edge: (place[edge[0]], place[edge[1]])))

    def _places(self) -> dict[str, int]:
        return {node: place for place, node in enumerate(self.nodes)}

    def _present(self, given: tuple[Any, ...]) -> tuple[str, ...]:
        for node in given:
            if node not in self.nodes:
                raise NotInSpaceError(self.name, "has no such node", did_you_mean(str(node), self.nodes), value=node)
        if len(set(given)) != len(given):
            raise NotInSpaceError(self.name, "must not name a node twice", value=given)
        if not self.absent and len(given) != len(self.nodes):
            raise NotInSpaceError(
                self.name, "must hold every node", "set absent = true for nodes that may be absent", value=given
            )
        return tuple(node for node in self.nodes if node in given)

    def _edge(self, entry: Any, present: tuple[str, ...]) -> Edge:
        ends = tuple(entry) if isinstance(entry, (tuple, list)) else ()
        if len(ends) != 2 or ends[0] == ends[1]:
            raise NotInSpaceError(self.name, "an edge must be a pair of different nodes", value=entry)
        for end in ends:
            if end not in present:
                raise NotInSpaceError(self.name, "an edge must join nodes that are present", f"present: {present}", value=ends)
        return ends if self.directed else tuple(sorted(ends, key=self.nodes.index))

    def _check_degree(self, edges: Iterable[Edge]) -> None:
        if self.most_degree is None:
            return
        for node, degree in Counter(end for edge in edges for end in edge).items():
            if degree > self.most_degree:
                raise NotInSpaceError(self.name, f"node {node} must have at most {self.most_degree} edges", value=degree)

    def datasets(self) -> Iterator[Dataset]:
        for size in self._sizes():
            most = self.most_at_node() * size // 2
            for count in range(min(most, len(self.possible_edges(self.nodes[:size]))) + 1):
                for present in itertools.combinations(self.nodes, size):
                    yield from self._graphs_on(present, count)

    def _sizes(self) -> Iterable[int]:
        return range(len(self.nodes) + 1) if self.absent else (len(self.nodes),)

    def _graphs_on(self, present: tuple[str, ...], count: int) -> Iterator[Graph]:
        """The graphs on exactly these nodes with so many edges."""
        for chosen in itertools.combinations(self.possible_edges(present), count):
            degrees = Counter(end for edge in chosen for end in edge)
            if self.most_degree is None or max(degrees.values(), default=0) <= self.most_degree:
                yield present, chosen

    def cardinality(self) -> int | None:
        """The number of graphs; None for more than 24 nodes with a bound on the degree, which are too many to count."""
        if self.most_degree is not None and len(self.nodes) > _COUNTED:
            return None
        return sum(math.comb(len(self.nodes), size) * self._count(size) for size in self._sizes())

    def _count(self, size: int) -> int:
        if self.most_degree is None:
            return int(2 ** (math.comb(size, 2) * (2 if self.directed else 1)))
        return _graphs_with((self.most_degree,) * size, self.directed)

    def magnitude(self, dataset: Dataset) -> int:
        """The number of nodes where they may be absent, else the number of edges."""
        present, edges = _graph(dataset)
        return len(present) if self.absent else len(edges)

    def order(self, dataset: Dataset) -> tuple[int, str]:
        present, edges = _graph(dataset)
        place = self._places()
        numbers = [len(edges), *(place[node] for node in present), *(place[end] for edge in edges for end in edge)]
        return self.magnitude(dataset), "".join(f"{entry:06d}" for entry in numbers)

    # -- records and coordinates ------------------------------------------------------------------

    def attributes_of(self, unit: str) -> tuple[Attribute, ...]:
        self.check_unit(unit)
        if unit == "node":
            return (Attribute(name="node", categories=self.nodes),)
        if unit == "edge":
            return (Attribute(name="from", categories=self.nodes), Attribute(name="to", categories=self.nodes))
        return ()

    def records(self, dataset: Dataset, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        present, edges = _graph(dataset)
        nodes: tuple[Record, ...] = tuple((node,) for node in present)
        return nodes if unit == "node" else edges if unit == "edge" else (*nodes, *edges)

    def fixes_size(self, unit: str) -> bool:
        return unit == "node" and not self.absent

    def is_told_by(self, unit: str) -> bool:
        return unit == "element" or (unit == "edge" and not self.absent)

    def most_within(self, inner: str, outer: str) -> int | None:
        return 1 if outer == "element" and inner in self.units else super().most_within(inner, outer)

    def cells(self) -> tuple[Hashable, ...]:
        nodes: tuple[Hashable, ...] = tuple((node,) for node in self.nodes) if self.absent else ()
        return (*nodes, *self.possible_edges())

    def vector(self, dataset: Dataset) -> tuple[int, ...]:
        held = set(self.records(dataset, "element"))
        return tuple(int(cell in held) for cell in cast("tuple[Record, ...]", self.cells()))

    def from_vector(self, vector: tuple[int, ...]) -> Dataset:
        cells = cast("tuple[Record, ...]", self.cells())
        for cell, entry in zip(cells, vector, strict=True):
            if entry not in (0, 1):
                raise NotInSpaceError(self.name, f"the coordinate of {cell} must be 0 or 1", value=entry)
        held = [cell for cell, entry in zip(cells, vector, strict=True) if entry]
        nodes = [cell[0] for cell in held if len(cell) == 1] if self.absent else self.nodes
        return self.dataset((nodes, [cell for cell in held if len(cell) == 2]))

    def records_of_cell(self, cell: Hashable, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        record = cast("Record", cell)
        return (record,) if unit == "element" or unit == ("node", "edge")[len(record) - 1] else ()

    # -- moves --------------------------------------------------------------------------------------

    def cell_range(self) -> tuple[int, int]:
        return 0, 1

    def crossed(self, cells: Sequence[Hashable]) -> tuple[Hashable, ...]:
        """All edges between the nodes of some edges: exchanges of ends, which keep the degrees, are among them."""
        named = {node for cell in cast("Sequence[Record]", cells) for node in cell}
        among = [node for node in self.nodes if node in named]
        nodes: tuple[Hashable, ...] = tuple((node,) for node in among) if self.absent else ()
        return (*nodes, *self.possible_edges(among))

    @classmethod
    def examples(cls) -> Iterator[Graphs]:
        """What the conformance kit checks divergences on."""
        yield cls(nodes=("a", "b", "c"))
        yield cls(nodes=("a", "b", "c"), absent=True, most_degree=1)
        yield cls(nodes=("a", "b"), absent=True, directed=True)


def _graph(dataset: Dataset) -> Graph:
    return cast("Graph", dataset)


@lru_cache(maxsize=65_536)
def _graphs_with(free: tuple[int, ...], directed: bool) -> int:
    """The number of graphs on nodes that can have so many edges each: the first node with every later one, then the rest."""
    if len(free) < 2:
        return 1
    steps = ((0, 1), (1, 2), (2, 1)) if directed else ((0, 1), (1, 1))
    ways: Counter[tuple[int, tuple[int, ...]]] = Counter({(free[0], ()): 1})
    for other in free[1:]:
        further: Counter[tuple[int, tuple[int, ...]]] = Counter()
        for (left, rest), count in ways.items():
            for used, choices in steps:
                if used <= min(left, other):
                    further[left - used, tuple(sorted((*rest, other - used)))] += count * choices
        ways = further
    return sum(count * _graphs_with(rest, directed) for (_, rest), count in ways.items())
