"""Node privacy of graphs: one node with all its edges is the unit of protection."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpspec_divergences import Mult
from dpspec_noise import Geometric

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import Trivial
from dpspec.exact import ln
from dpspec.flavour import Example, Flavour
from dpspec.spec import PrivacySpec
from dpspec_flavours.networks.graphs import Graphs
from dpspec_flavours.networks.node_distance import NodeDistance

_EDGES = (Marginal(attributes=(), unit="edge"),)


class NodeDP(Flavour):
    """Node differential privacy: P_G(S) <= e^(epsilon d(G, G')) P_G'(S), d the number of nodes to add or remove (B-D30).

    >>> from dpspec import verify_claim
    >>> flavour = NodeDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "node-dp"
    title: ClassVar[str] = "Node differential privacy of graphs"
    citation: ClassVar[str] = "Hay, Li, Miklau and Jensen, ICDM 2009"
    reference: ClassVar[str] = "B-D30"
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
