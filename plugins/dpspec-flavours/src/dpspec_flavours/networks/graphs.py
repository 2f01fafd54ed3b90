"""Networks as datasets: simple graphs on named nodes, with an edge or a node as the unit of protection.

The node distance counts the nodes that have to be changed, each together with all its edges.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, ClassVar, cast

from dpspec_divergences import Mult, SymmetricDifference
from dpspec_noise import Geometric

from dpspec.plugin import (
    Attribute,
    Bound,
    Dataset,
    DatasetSpace,
    Example,
    Flavour,
    IncompatibleBlocksError,
    InputDivergence,
    Integer,
    Items,
    LinearMap,
    Marginal,
    Number,
    ParameterError,
    PrivacySpec,
    Record,
    Text,
    Trivial,
    UniformBudget,
    blocks,
    define,
    errors,
    is_a,
    ln,
    number,
    params,
)

Edge = tuple[str, str]
Graph = tuple[tuple[str, ...], tuple[Edge, ...]]
"""The nodes that are present and the edges between them, both in the order of the space."""

_COUNTED = 24
"""With a bound on the degree, graphs are counted up to this number of nodes."""


@define
class Graphs(DatasetSpace, blocks.ListedCells, blocks.CellRecords, blocks.Nesting):
    """Simple graphs on named nodes.

    A dataset is the pair (nodes, edges), each edge a pair of nodes; no edge joins a node with itself and none occurs twice.
    There are three units. A record of the unit *edge* is the pair of its ends, so that `symmetric-difference` with unit edge is
    the edge distance |E (-) E'|; a record of the unit *node* is the name of a node, whatever its edges; a record of the unit
    *element* is either, so that `symmetric-difference` with unit element is |V (-) V'| + |E (-) E'| (Hay et al. 2009). The
    distance of two graphs when a node counts with its edges is the input divergence `node-distance`.

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
    directed: Annotated[bool, params.Truth()] = False
    absent: Annotated[bool, params.Truth()] = False
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
            raise errors.NotInSpaceError(self.name, "must be a pair: the nodes, and the edges as pairs of nodes", value=value)
        parts = tuple(value)
        if len(parts) != 2 or any(isinstance(part, str) or not isinstance(part, Iterable) for part in parts):
            raise errors.NotInSpaceError(self.name, "must be a pair: the nodes, and the edges as pairs of nodes", value=parts)
        present = self._present(tuple(parts[0]))
        edges = [self._edge(entry, present) for entry in parts[1]]
        if len(set(edges)) != len(edges):
            raise errors.NotInSpaceError(self.name, "must not hold an edge twice", "the graphs are simple", value=tuple(edges))
        self._check_degree(edges)
        place = self._places()
        return present, tuple(sorted(edges, key=lambda edge: (place[edge[0]], place[edge[1]])))

    def _places(self) -> dict[str, int]:
        return {node: place for place, node in enumerate(self.nodes)}

    def _present(self, given: tuple[Any, ...]) -> tuple[str, ...]:
        known = set(self.nodes)
        for node in given:
            if not isinstance(node, str) or node not in known:
                raise errors.NotInSpaceError(
                    self.name, "has no such node", params.did_you_mean(str(node), self.nodes), value=node
                )
        if len(set(given)) != len(given):
            raise errors.NotInSpaceError(self.name, "must not name a node twice", value=given)
        if not self.absent and len(given) != len(self.nodes):
            raise errors.NotInSpaceError(
                self.name, "must hold every node", "set absent = true for nodes that may be absent", value=given
            )
        chosen = set(given)
        return tuple(node for node in self.nodes if node in chosen)

    def _edge(self, entry: Any, present: tuple[str, ...]) -> Edge:
        ends = tuple(entry) if isinstance(entry, (tuple, list)) else ()
        if len(ends) != 2 or ends[0] == ends[1]:
            raise errors.NotInSpaceError(self.name, "an edge must be a pair of different nodes", value=entry)
        for end in ends:
            if end not in present:
                raise errors.NotInSpaceError(
                    self.name, "an edge must join nodes that are present", f"present: {present}", value=ends
                )
        return ends if self.directed else tuple(sorted(ends, key=self.nodes.index))

    def _check_degree(self, edges: Iterable[Edge]) -> None:
        if self.most_degree is None:
            return
        for node, degree in Counter(end for edge in edges for end in edge).items():
            if degree > self.most_degree:
                raise errors.NotInSpaceError(self.name, f"node {node} must have at most {self.most_degree} edges", value=degree)

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
        return 1 if outer == "element" and inner in self.units else blocks.Unnested(self).most_within(inner, outer)

    def most_changed(self, unit: str, per: str) -> int | None:
        """As many as lie within: a record of a larger unit shows all that lie in it."""
        return self.most_within(unit, per)

    def cells(self) -> tuple[Hashable, ...]:
        nodes: tuple[Hashable, ...] = tuple((node,) for node in self.nodes) if self.absent else ()
        return (*nodes, *self.possible_edges())

    def vector(self, dataset: Dataset) -> tuple[int, ...]:
        held = set(self.records(dataset, "element"))
        return tuple(int(cell in held) for cell in cast("tuple[Record, ...]", self.cells()))

    def from_vector(self, vector: tuple[int, ...]) -> Dataset:
        return self.from_counts(dict(zip(self.cells(), vector, strict=True)))

    def from_counts(self, counts: Mapping[Hashable, int]) -> Dataset:
        """Without a list of all possible edges, which may be a million."""
        for cell, entry in counts.items():
            if entry not in (0, 1):
                raise errors.NotInSpaceError(self.name, f"the coordinate of {cell} must be 0 or 1", value=entry)
        held = [cast("Record", cell) for cell, entry in counts.items() if entry]
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


# --- the node distance of graphs ------------------------------------------------------------------


@define
class NodeDistance(InputDivergence):
    """The least number of nodes such that two graphs agree outside them.

    d(G, G') = min |S| over the sets S of nodes that hold every node present in one graph only and, of every edge that is in one
    graph only, at least one end: the nodes present in one only, and a smallest vertex cover of the edges that differ elsewhere.
    Unless degrees are bounded it is the path metric of "one node joins, leaves, or gets other edges". With `removal_only` a node
    of S that is present in both graphs counts twice, because it has to leave and to join again; on graphs whose nodes may be
    absent that is the path metric of "one node joins or leaves, with its edges" (the node privacy of Hay et al., ICDM 2009).

    Args:
        removal_only: whether a step can only remove or add a node.

    >>> space = Graphs(nodes=("a", "b", "c"), absent=True)
    >>> star = space.dataset([("a", "b", "c"), [("a", "b"), ("a", "c")]])
    >>> edgeless = space.dataset([("a", "b", "c"), []])
    >>> str(NodeDistance().distance(star, edgeless, space)), str(NodeDistance(removal_only=True).distance(star, edgeless, space))
    ('1', '2')
    """

    name: ClassVar[str] = "node-distance"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    removal_only: Annotated[bool, params.Truth()] = False

    def check(self, space: DatasetSpace) -> None:
        _graphs(space)

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        (ours, mine), (theirs, yours) = cast("Graph", left), cast("Graph", right)
        moved = set(ours) ^ set(theirs)
        other = {edge for edge in set(mine) ^ set(yours) if moved.isdisjoint(edge)}
        return number(len(moved) + (2 if self.removal_only else 1) * least_cover(other))

    def least_distance(self, space: DatasetSpace) -> Number:
        return number(1 if not self.removal_only or _graphs(space).absent else 2)

    def counted_unit(self) -> str:
        return "node"

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if self == other:
            return number(1), "the same input divergence"
        if is_a(other, NodeDistance):
            if other.removal_only and not _graphs(space).absent:
                return number(Fraction(1, 2)), "no node can be absent, so that each one counts twice"
            return (number(1) if other.removal_only else number(2)), "a changed node is one removed and one added"
        for unit in ("element",) if _graphs(space).absent else ("edge", "element"):
            known = SymmetricDifference(unit=unit).bounded_by(other, space)
            if known is not None:
                cost = 2 if self.removal_only else 1
                return known[0] * cost, f"every changed node, and one end of every changed edge, are a set to change; {known[1]}"
        return None

    def bounds(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if not is_a(other, SymmetricDifference) or other.unit not in ("edge", "element"):
            return None
        graphs = _graphs(space)
        at_node, possible = graphs.most_at_node(), Graphs.most_at_node(Graphs(nodes=graphs.nodes, directed=graphs.directed))
        # A node that joins or leaves has edges in one graph only; one that stays may exchange all its edges for others.
        moves, stays = at_node + (other.unit == "element"), min(possible, 2 * at_node)
        each = stays / Fraction(2 if self.removal_only else 1)
        most = max(each, Fraction(moves)) if graphs.absent else each
        return number(most), f"a node has at most {at_node} edges, of {possible} possible ones"

    def in_words(self) -> str:
        how = "added or removed with its edges" if self.removal_only else "added, removed or connected otherwise"
        return f"one node {how}"

    def __str__(self) -> str:
        return f"{self.name} (removal only)" if self.removal_only else self.name


def _graphs(space: DatasetSpace) -> Graphs:
    if not is_a(space, Graphs):
        raise IncompatibleBlocksError(NodeDistance.name, "counts the nodes of graphs", "use the space graphs", value=space.name)
    return space


def least_cover(edges: Iterable[Edge]) -> int:
    """The least number of nodes that holds an end of every edge (directions do not matter).

    The neighbour of a node with one edge can always be taken, which settles trees; else by branching on a node of largest
    degree: it is in the cover, or all its neighbours are. Exponential in the worst case.

    >>> least_cover([("a", "b"), ("b", "c"), ("c", "a")])
    2
    """
    around: dict[str, set[str]] = {}
    for one, other in edges:
        around.setdefault(one, set()).add(other)
        around.setdefault(other, set()).add(one)
    return _cover(around)


def _cover(around: dict[str, set[str]]) -> int:
    """The least cover of a graph given by the neighbours of its nodes, which is used up."""
    taken = 0
    ends = [node for node, neighbours in around.items() if len(neighbours) == 1]
    while ends:
        neighbours = around.get(ends.pop(), set())
        if len(neighbours) == 1:
            taken += 1
            ends += _take(next(iter(neighbours)), around)
    if not around:
        return taken
    top = max(around, key=lambda node: (len(around[node]), node))
    with_it = {node: set(neighbours) for node, neighbours in around.items()}
    _take(top, with_it)
    forced = tuple(around[top])
    for node in forced:
        _take(node, around)
    return taken + min(1 + _cover(with_it), len(forced) + _cover(around))


def _take(node: str, around: dict[str, set[str]]) -> list[str]:
    """Take a node out with its edges; returns the nodes that have one edge left."""
    left = []
    for other in around.pop(node, set()):
        around[other].discard(node)
        if not around[other]:
            del around[other]
        elif len(around[other]) == 1:
            left.append(other)
    return left


# --- edge privacy ---------------------------------------------------------------------------------


def degrees(space: Graphs) -> LinearMap:
    """The degree of every node, as a linear map on the possible edges."""
    cells = space.cells()
    rows = tuple(tuple(int(len(cell) == 2 and node in cell) for cell in cells) for node in space.nodes)  # type: ignore[arg-type,operator]
    return LinearMap(rows=rows, label="degrees")


class EdgeDP(Flavour):
    """Edge differential privacy: P_G(S) <= e^(epsilon |E (-) E'|) P_G'(S) for graphs on the same nodes.

    >>> from dpspec import verify
    >>> flavour = EdgeDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "edge-dp"
    title: ClassVar[str] = "Edge differential privacy of graphs"
    citation: ClassVar[str] = "Hay, Li, Miklau and Jensen, ICDM 2009"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        return PrivacySpec(
            space=Graphs(nodes=("a", "b", "c")),
            multiverse=Trivial(),
            input_divergence=SymmetricDifference(unit="edge"),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=ln(2)),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="the number of edges with geometric noise of ratio 1/2",
            mechanism=Geometric(queries=(Marginal(attributes=(), unit="edge"),), ratio=Fraction(1, 2), unit="edge"),
            because="an edge changes the count by 1, and a shift of 1 has likelihood ratio at most 2",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the degrees of all nodes, each with geometric noise of ratio 1/2",
            mechanism=Geometric(queries=(degrees(Graphs(nodes=("a", "b", "c"))),), ratio=Fraction(1, 2), unit="edge"),
            because="an edge counts in two degrees, so that it is at likelihood ratio 4",
        )


class NetworkDP(Flavour):
    """Privacy of networks that grow: P_G(S) <= e^(epsilon (|V (-) V'| + |E (-) E'|)) P_G'(S), nodes and edges alike.

    >>> from dpspec import verify
    >>> flavour = NetworkDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "network-dp"
    title: ClassVar[str] = "Differential privacy of networks: one edge, or one node without edges"
    citation: ClassVar[str] = "Hay, Li, Miklau and Jensen, ICDM 2009"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        return PrivacySpec(
            space=Graphs(nodes=("a", "b"), directed=True, absent=True),
            multiverse=Trivial(),
            input_divergence=SymmetricDifference(unit="element"),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=ln(2)),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="the edges by their first node, and the number of nodes, with geometric noise of ratio 1/2",
            mechanism=Geometric(queries=_counts("from"), ratio=Fraction(1, 2), unit="element"),
            because="an edge counts once by its first node, and a node without edges once among the nodes",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the same, and the edges by their second node",
            mechanism=Geometric(queries=(*_counts("from"), *_counts("to")[:1]), ratio=Fraction(1, 2), unit="element"),
            because="an edge counts with its first and with its second node",
        )


def _counts(end: str) -> tuple[Marginal, ...]:
    return Marginal(attributes=(end,), unit="edge"), Marginal(attributes=(), unit="node")


# --- node privacy ---------------------------------------------------------------------------------


_EDGES = (Marginal(attributes=(), unit="edge"),)


class NodeDP(Flavour):
    """Node differential privacy: P_G(S) <= e^(epsilon d(G, G')) P_G'(S), d the number of nodes to add or remove.

    >>> from dpspec import verify
    >>> flavour = NodeDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "node-dp"
    title: ClassVar[str] = "Node differential privacy of graphs"
    citation: ClassVar[str] = "Hay, Li, Miklau and Jensen, ICDM 2009"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        return PrivacySpec(
            space=Graphs(nodes=("a", "b", "c"), absent=True),
            multiverse=Trivial(),
            input_divergence=NodeDistance(removal_only=True),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=ln(4)),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="the number of edges with geometric noise of ratio 1/2, which spends ln(2) on an edge",
            mechanism=Geometric(queries=_EDGES, ratio=Fraction(1, 2), unit="edge", sensitivity=Fraction(2)),
            because="a node among three has at most 2 edges",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the number of edges with geometric noise of ratio 1/4, which is edge-private at the same epsilon",
            mechanism=Geometric(queries=_EDGES, ratio=Fraction(1, 4), unit="edge"),
            because="a node that leaves takes two edges with it",
        )
