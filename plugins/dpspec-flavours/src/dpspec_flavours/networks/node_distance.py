"""The node distance of graphs: how many nodes have to be changed, each together with all its edges."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Annotated, ClassVar, cast

from dpspec_divergences import SymmetricDifference

from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import IncompatibleBlocksError
from dpspec.exact import Number, number
from dpspec.params import Truth, define
from dpspec_flavours.networks.graphs import Edge, Graph, Graphs

Bound = tuple[Number, str]


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

    removal_only: Annotated[bool, Truth()] = False

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
        if isinstance(other, NodeDistance):
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
        if not isinstance(other, SymmetricDifference) or other.unit not in ("edge", "element"):
            return None
        graphs = _graphs(space)
        at_node, possible = graphs.most_at_node(), Graphs.most_at_node(Graphs(nodes=graphs.nodes, directed=graphs.directed))
        # A node that joins or leaves has edges in one graph only; one that stays may exchange all its edges for others.
        moves, stays = at_node + (other.unit == "element"), min(possible, 2 * at_node)
        each = stays / Fraction(2 if self.removal_only else 1)
        most = max(each, Fraction(moves)) if graphs.absent else each
        return number(most), f"a node has at most {at_node} edges, of {possible} possible ones"

    def __str__(self) -> str:
        return f"{self.name} (removal only)" if self.removal_only else self.name


def _graphs(space: DatasetSpace) -> Graphs:
    if not isinstance(space, Graphs):
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
