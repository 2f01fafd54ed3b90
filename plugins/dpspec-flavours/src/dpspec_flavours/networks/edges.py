"""Edge privacy of graphs: one edge is the unit of protection."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpspec_divergences import Mult, SymmetricDifference
from dpspec_noise import Geometric

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.invariant import LinearMap, Marginal
from dpspec.blocks.multiverse import Trivial
from dpspec.exact import ln
from dpspec.flavour import Example, Flavour
from dpspec.spec import PrivacySpec
from dpspec_flavours.networks.graphs import Graphs


def degrees(space: Graphs) -> LinearMap:
    """The degree of every node, as a linear map on the possible edges."""
    cells = space.cells()
    rows = tuple(tuple(int(len(cell) == 2 and node in cell) for cell in cells) for node in space.nodes)  # type: ignore[arg-type,operator]
    return LinearMap(rows=rows, label="degrees")


class EdgeDP(Flavour):
    """Edge differential privacy: P_G(S) <= e^(epsilon |E (-) E'|) P_G'(S) for graphs on the same nodes (B-D30).

    >>> from dpspec import verify_claim
    >>> flavour = EdgeDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "edge-dp"
    title: ClassVar[str] = "Edge differential privacy of graphs"
    citation: ClassVar[str] = "Hay, Li, Miklau and Jensen, ICDM 2009"
    reference: ClassVar[str] = "B-D30"
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
    """Privacy of networks that grow: P_G(S) <= e^(epsilon (|V (-) V'| + |E (-) E'|)) P_G'(S), nodes and edges alike (B-D30).

    >>> from dpspec import verify_claim
    >>> flavour = NetworkDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "network-dp"
    title: ClassVar[str] = "Differential privacy of networks: one edge, or one node without edges"
    citation: ClassVar[str] = "Hay, Li, Miklau and Jensen, ICDM 2009"
    reference: ClassVar[str] = "B-D30"
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
