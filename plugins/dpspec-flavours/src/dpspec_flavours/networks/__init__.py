"""Datasets that are graphs or points of a metric space, and distances given by relations, metrics and policies."""

from __future__ import annotations

from dpspec_flavours.networks.blowfish import Blowfish, BlowfishConstraints, GenericDP, ListedPairs, Policy, PolicyNeighbours
from dpspec_flavours.networks.graphs import EdgeDP, Graphs, NetworkDP, NodeDistance, NodeDP
from dpspec_flavours.networks.points import GeoIndistinguishability, Metric, MetricDP, MetricPoints

BLOCKS: dict[str, tuple[type, ...]] = {
    "spaces": (Graphs, MetricPoints),
    "relations": (ListedPairs, PolicyNeighbours),
    "input_divergences": (NodeDistance, Metric, Policy),
    "flavours": (GenericDP, EdgeDP, NodeDP, NetworkDP, MetricDP, GeoIndistinguishability, Blowfish, BlowfishConstraints),
}
"""What this part registers: classes by kind."""
