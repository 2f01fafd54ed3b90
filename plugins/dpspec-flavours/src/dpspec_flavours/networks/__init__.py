"""Datasets that are graphs or points of a metric space, and distances given by relations, metrics and policies."""

from __future__ import annotations

from dpspec_flavours.networks.blowfish import Blowfish, BlowfishConstraints
from dpspec_flavours.networks.constrained import PolicyNeighbours
from dpspec_flavours.networks.edges import EdgeDP, NetworkDP
from dpspec_flavours.networks.generic import GenericDP
from dpspec_flavours.networks.graphs import Graphs
from dpspec_flavours.networks.metrics import GeoIndistinguishability, MetricDP
from dpspec_flavours.networks.node_distance import NodeDistance
from dpspec_flavours.networks.nodes import NodeDP
from dpspec_flavours.networks.points import Metric, MetricPoints
from dpspec_flavours.networks.policy import Policy
from dpspec_flavours.networks.relations import ListedPairs

BLOCKS: dict[str, tuple[type, ...]] = {
    "spaces": (Graphs, MetricPoints),
    "relations": (ListedPairs, PolicyNeighbours),
    "input_divergences": (NodeDistance, Metric, Policy),
    "flavours": (GenericDP, EdgeDP, NodeDP, NetworkDP, MetricDP, GeoIndistinguishability, Blowfish, BlowfishConstraints),
}
"""What this part registers: classes by kind."""
