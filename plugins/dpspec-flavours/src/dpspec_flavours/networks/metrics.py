"""Metric privacy: the closer two secrets are, the less they may be told apart."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpspec_divergences import HammingOrdered, Mult

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.multiverse import Trivial
from dpspec.exact import ln, number
from dpspec.flavour import Example, Flavour
from dpspec.spec import PrivacySpec
from dpspec_flavours.mechanisms import NearbyDataset
from dpspec_flavours.networks.points import Metric, MetricPoints


class MetricDP(Flavour):
    """d-privacy: P_x(S) <= e^(epsilon d(x, x')) P_x'(S) for a metric d on the secrets, here a reading between 0 and 6 (B-D30).

    >>> from dpspec import verify_claim
    >>> flavour = MetricDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "metric-dp"
    title: ClassVar[str] = "d-privacy: indistinguishable in proportion to a metric"
    citation: ClassVar[str] = "Chatzikokolakis, Andres, Bordenabe and Palamidessi, PETS 2013"
    reference: ClassVar[str] = "B-D30"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        places = {"none": 0, "low": 1, "mid": 2, "high": 6}
        return PrivacySpec(
            space=MetricPoints(points=tuple((name, (Fraction(x),)) for name, x in places.items()), unit="reading"),
            multiverse=Trivial(),
            input_divergence=Metric(norm="manhattan"),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=ln(2)),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="exponential mechanism on the readings, weight 2^(-d/2)",
            mechanism=NearbyDataset(distance=Metric(norm="manhattan"), rate=ln(2) / 2),
            because="weights and their sums each change by at most 2^(d/2), by the triangle inequality",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the true reading with odds 4 : 1 against each other one",
            mechanism=NearbyDataset(distance=HammingOrdered(unit="reading"), rate=ln(4)),
            because="ln(4) suffices for readings 2 or more apart, but tells none from low, which are only 1 apart",
        )


class GeoIndistinguishability(Flavour):
    """Geo-indistinguishability: P_x(S) <= e^(epsilon |x - x'|) P_x'(S) for locations x, epsilon per kilometre (B-D30).

    >>> from dpspec import verify_claim
    >>> flavour = GeoIndistinguishability()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "geo-indistinguishability"
    title: ClassVar[str] = "Geo-indistinguishability: locations on a grid of half a kilometre"
    citation: ClassVar[str] = "Andres, Bordenabe, Chatzikokolakis and Palamidessi, CCS 2013"
    reference: ClassVar[str] = "B-D30"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        return PrivacySpec(
            space=MetricPoints(grid=(3, 2), spacing=Fraction(1, 2)),
            multiverse=Trivial(),
            input_divergence=Metric(norm="euclidean"),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=number(1)),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="exponential mechanism on the grid, weight e^(-|x - z|/2)",
            mechanism=NearbyDataset(distance=Metric(norm="euclidean"), rate=number("1/2")),
            because="weights and their sums each change by at most e^(|x - x'|/2), by the triangle inequality",
        )

    def broken_by(self) -> Example:
        return Example(
            title="exponential mechanism on the grid, weight e^(-|x - z|)",
            mechanism=NearbyDataset(distance=Metric(norm="euclidean"), rate=number(1)),
            because="the sum of the weights is smaller in a corner than in the middle, which tells them apart once more",
        )
