"""Flavours whose universes are defined around the observed dataset."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpspec_divergences import AddRemove, DifferInOnePosition, Hamming, Mult, SymmetricDifference
from dpspec_noise import Geometric

from dpspec.plugin import (
    Attribute,
    Example,
    Flavour,
    LinearMap,
    Marginal,
    Mechanism,
    PrivacySpec,
    UniformBudget,
    UnorderedRecords,
    ln,
    number,
)
from dpspec_flavours.mechanisms import ListedLaw, ListedLaws
from dpspec_flavours.standards import common
from dpspec_flavours.universes.neighbourhoods import Around, LocalNoise, Resamples, Star

HALF = Fraction(1, 2)


class ConditionedDP(Flavour):
    """Conditioned differential privacy: P_x(S) <= e^(epsilon d(x, x')) P_x'(S) for all x, x' near the observed x*.

    Empirical privacy, for which Abowd et al. (2013) and Charest and Hou (2016) are cited, compares the observed dataset with its
    neighbours (`empirical-dp`). That its neighbours are compared with each other, too, is the reading filed here.

    >>> from dpspec import verify
    >>> flavour = ConditionedDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "conditioned-dp"
    title: ClassVar[str] = "Conditioned differential privacy: all pairs of datasets within distance 1 of the observed one"
    citation: ClassVar[str] = (
        "no publication known to us defines it; compare Abowd, Schneider and Vilhuber 2013, Charest and Hou 2016"
    )
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("multiverse",)

    def spec(self) -> PrivacySpec:
        return PrivacySpec(
            space=firms("1", "2", "9", most=3),
            multiverse=Around(centres=((("1",), ("2",)),), distance=SymmetricDifference(unit="firm"), radius=number(1)),
            input_divergence=SymmetricDifference(unit="firm"),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=ln(4)),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="the sum of the sizes cut off at 2, with geometric noise of ratio 1/2",
            mechanism=_noisy_sizes(1, 2, 2),
            because="a firm more or less moves the sum by at most 2, and a shift of 1 has likelihood ratio 2",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the sum of the sizes, with noise for the largest one that was observed",
            mechanism=_noisy_sizes(1, 2, 9),
            because="the observed data with a firm of size 9 more are in the universe, too, and move the sum by 9",
        )


def _noisy_sizes(*sizes: int) -> Mechanism:
    total = LinearMap(rows=(sizes,), label="sum of the sizes")
    return Geometric(queries=(total,), ratio=HALF, unit="firm")


def _bits() -> UnorderedRecords:
    """At most three people with one bit each."""
    return UnorderedRecords(attributes=(Attribute(name="bit", categories=("0", "1")),), most=3)


def _posterior(share: Fraction) -> Mechanism:
    """One draw from the posterior of the share of ones, which is `share` or 1 - `share` with prior probability 1/2 each."""
    rows = []
    for dataset in _bits().datasets():
        ones = sum(1 for record in _bits().records(dataset, "person") if record == ("1",))
        zeros = _bits().magnitude(dataset) - ones
        high, low = (p**ones * (1 - p) ** zeros for p in (share, 1 - share))
        rows.append(ListedLaw(dataset=dataset, law=(("high", high / (high + low)), ("low", low / (high + low)))))
    return ListedLaws(laws=tuple(rows))


class EmpiricalDP(Flavour):
    """Empirical differential privacy: P_x*(S) <= e^epsilon P_x(S) and back, x the observed x* with one record left out.

    >>> from dpspec import verify
    >>> flavour = EmpiricalDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "empirical-dp"
    title: ClassVar[str] = "Empirical differential privacy: the observed dataset and each of its records left out"
    citation: ClassVar[str] = (
        "Abowd, Schneider and Vilhuber, J. Privacy and Confidentiality 2013; Charest and Hou, the same, 2016"
    )
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("multiverse",)

    def spec(self) -> PrivacySpec:
        return PrivacySpec(
            space=_bits(),
            multiverse=Star(centres=((("0",), ("0",), ("1",)),), relation=AddRemove()),
            input_divergence=SymmetricDifference(),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=ln(Fraction(5, 2))),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="one draw from the posterior of a share that is 1/4 or 3/4",
            mechanism=_posterior(Fraction(3, 4)),
            because="the posterior of the high share is 1/4; without a zero it is 1/2, without the one 1/10: at most 5/2",
        )

    def broken_by(self) -> Example:
        return Example(
            title="one draw from the posterior of a share that is 1/10 or 9/10",
            mechanism=_posterior(Fraction(9, 10)),
            because="with so informative a prior a zero left out moves the posterior from 1/10 to 1/2, a ratio of 5",
        )


SUM = LinearMap(rows=((1, 4),), label="sum of the sizes")


def firms(*sizes: str, most: int = 2) -> UnorderedRecords:
    """Multisets of at most `most` firms of the given sizes."""
    return UnorderedRecords(attributes=(Attribute(name="size", categories=sizes),), most=most, unit="firm")


class IndividualDP(Flavour):
    """Individual differential privacy: e^-epsilon P_x(S) <= P_x*(S) <= e^epsilon P_x(S) for the neighbours x of the one x*.

    Noise calibrated to the local sensitivity at x* is enough: here 1, where it is 4 over the whole space.

    >>> from dpspec import verify
    >>> flavour = IndividualDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "individual-dp"
    title: ClassVar[str] = "Individual differential privacy: the actual dataset and each of its neighbours"
    citation: ClassVar[str] = "Soria-Comas, Domingo-Ferrer, Sanchez and Megias, IEEE Trans. Inf. Forensics and Security 2017"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("multiverse",)

    def spec(self) -> PrivacySpec:
        return PrivacySpec(
            space=firms("1", "4"),
            multiverse=Star(centres=((("1",), ("1",)),), relation=AddRemove(unit="firm")),
            input_divergence=SymmetricDifference(unit="firm"),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=ln(2)),
        )

    def compared(self) -> PrivacySpec:
        return common(multiverse=Star(centres=((0, 0),), relation=DifferInOnePosition()))

    def satisfied_by(self) -> Example:
        return Example(
            title="a sum with noise for its local sensitivity at the actual dataset",
            mechanism=LocalNoise(
                query=SUM, relation=AddRemove(unit="firm"), epsilon=ln(2), observed=(("1",), ("1",)),
            ),
            because="two firms of size 1, at most two firms in all: the only neighbour is one firm, and the sum moves by 1",
        )  # fmt: skip

    def broken_by(self) -> Example:
        return Example(
            title="the same with the local sensitivity taken anew on every dataset",
            mechanism=LocalNoise(query=SUM, relation=AddRemove(unit="firm"), epsilon=ln(2)),
            because="the local sensitivity is 1 there and 4 at the neighbour, and the width of the noise shows which it was",
        )


class BootstrapDP(Flavour):
    """Bootstrap differential privacy: P_x(S) <= e^(epsilon d(x, x')) P_x'(S) for all resamples x, x' of the observed dataset.

    >>> from dpspec import verify
    >>> flavour = BootstrapDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "bootstrap-dp"
    title: ClassVar[str] = "Bootstrap differential privacy: all resamples of the observed dataset"
    citation: ClassVar[str] = "O'Keefe and Charest, Transactions on Data Privacy 2019"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("multiverse",)

    def spec(self) -> PrivacySpec:
        return PrivacySpec(
            space=firms("1", "2", "9"),
            multiverse=Resamples(centres=((("1",), ("2",)),), unit="firm"),
            input_divergence=Hamming(unit="firm"),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=ln(2)),
        )

    def satisfied_by(self) -> Example:
        total = LinearMap(rows=((1, 2, 9),), label="sum of the sizes")
        return Example(
            title="a sum with noise for the range of the observed sizes",
            mechanism=Geometric(queries=(total,), ratio=HALF, neighbours="replace-one", unit="firm"),
            because="one record replaced by another observed one moves the sum by at most 1; size 9 was not observed",
        )

    def broken_by(self) -> Example:
        return Example(
            title="a histogram with noise for one record added or removed",
            mechanism=Geometric(queries=(Marginal(attributes=("size",), unit="firm"),), ratio=HALF, unit="firm"),
            because="a resample replaces records, and each replacement moves two counts",
        )
