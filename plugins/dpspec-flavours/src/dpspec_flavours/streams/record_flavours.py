"""Flavours that depend on the content of records: elements, personal budgets, weights, and policies."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpspec_divergences import Hamming, Mult
from dpspec_noise import Geometric, RandomisedResponse

from dpspec.plugin import (
    Attribute,
    BitVectors,
    DatasetSpace,
    Example,
    Flavour,
    InputDivergence,
    LinearMap,
    Marginal,
    Number,
    OutputDivergence,
    PrivacySpec,
    Trivial,
    UniformBudget,
    UnorderedRecords,
    ln,
    number,
)
from dpspec_flavours.streams.elements import ELEMENT, USER, ElementRecords, WeightDistance, WeightedRecords
from dpspec_flavours.streams.personal import MultOneWay, OneSided, OpenSample, PersonalisedResponse, PersonalWeights


def _spec(
    space: DatasetSpace, distance: InputDivergence, epsilon: Number, standard: OutputDivergence | None = None
) -> PrivacySpec:
    return PrivacySpec(
        space=space,
        multiverse=Trivial(),
        input_divergence=distance,
        output_divergence=standard or Mult(),
        budget=UniformBudget(parameter="epsilon", value=epsilon),
    )


class ElementLevelDP(Flavour):
    """Element-level privacy: d counts the pairs (user, element) that differ, so that each part of a person's data is hidden.

    P_x(S) <= e^(epsilon d(x, x')) P_x'(S): a user with k elements is protected at k epsilon (Asi, Duchi and Javidbakht 2022).

    >>> from dpspec import verify
    >>> flavour = ElementLevelDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "element-level-dp"
    title: ClassVar[str] = "Element-level privacy"
    citation: ClassVar[str] = "Asi, Duchi and Javidbakht, AAAI Workshop on Privacy-Preserving AI 2022"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block; Kifer et al. 2022, Section 9"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        elements = tuple(Attribute(name=name, categories=("yes", "no")) for name in ("smokes", "drinks"))
        return _spec(ElementRecords(users=("ann", "bob"), elements=elements), Hamming(unit=ELEMENT), ln(2))

    def satisfied_by(self) -> Example:
        yes = Marginal(attributes=(ELEMENT,), unit=ELEMENT, where=(("value", ("yes",)),))
        return Example(
            title="for each element, how many say yes, with noise for one count",
            mechanism=Geometric(queries=(yes,), epsilon=ln(2), neighbours="replace-one", unit=ELEMENT),
            because="an element is in one of the counts",
        )

    def broken_by(self) -> Example:
        joint = Marginal(attributes=("smokes", "drinks"), unit=USER)
        return Example(
            title="the table of both elements, with noise for one count",
            mechanism=Geometric(queries=(joint,), epsilon=ln(2), neighbours="replace-one", unit=ELEMENT),
            because="a changed element moves its user from one cell of the table to another, which changes two counts",
        )


class PersonalisedDP(Flavour):
    """Personalised privacy: everybody chooses a budget epsilon_i, and d weighs the change of person i by epsilon_i/epsilon.

    P_x(S) <= e^(epsilon_i) P_x'(S) for datasets that differ in person i (Jorgensen, Yu and Cormode 2015). They add or remove
    the record
    of a person; here that is a bit, 1 for a record that is there.

    >>> from dpspec import verify
    >>> flavour = PersonalisedDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "personalised-dp"
    title: ClassVar[str] = "Personalised privacy: ln(3) for the first person, twice that for the second"
    citation: ClassVar[str] = "Jorgensen, Yu and Cormode, ICDE 2015"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block; Kifer et al. 2022, Section 9"
    changes: ClassVar[tuple[str, ...]] = ("input_divergence",)

    def spec(self) -> PrivacySpec:
        return _spec(BitVectors(length=2), PersonalWeights(weights=(number(1), number(2))), ln(3))

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, each person with their own coin",
            mechanism=PersonalisedResponse(keep_probabilities=(Fraction(3, 4), Fraction(9, 10))),
            because="the likelihood ratio is 3 for the first bit and 9 for the second",
        )

    def broken_by(self) -> Example:
        return Example(
            title="randomised response with the coin of the least careful person",
            mechanism=RandomisedResponse(keep_probability=Fraction(9, 10)),
            because="the first person requires a likelihood ratio of at most 3 and gets 9",
        )


class WeightedDP(Flavour):
    """Privacy of weighted datasets: d is the sum of the changes in weight, so that a light record needs little noise.

    P_x(S) <= e^(epsilon sum |x(v) - x'(v)|) P_x'(S) (Proserpio, Goldberg and McSherry 2014).

    >>> from dpspec import verify
    >>> flavour = WeightedDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "weighted-dp"
    title: ClassVar[str] = "Privacy of weighted datasets (wPINQ)"
    citation: ClassVar[str] = "Proserpio, Goldberg and McSherry, PVLDB 2014"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        space = WeightedRecords(values=("edge", "path"), weights=(Fraction(1, 2), Fraction(1)))
        return _spec(space, WeightDistance(), ln(4))

    def satisfied_by(self) -> Example:
        weight = LinearMap(rows=((1, 1),), label="total weight in halves")
        return Example(
            title="the total weight, with noise for a weight of 1",
            mechanism=Geometric(queries=(weight,), epsilon=ln(4), sensitivity=Fraction(2), unit="record"),
            because="it moves by the change in weight, and two halves are 1",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the number of records, with noise for a weight of 1",
            mechanism=Geometric(queries=(Marginal(attributes=(), unit="record"),), epsilon=ln(4), unit="record"),
            because="a record of weight 1/2 counts as one, so that half a unit of distance moves the answer by 1",
        )


class OneSidedDP(Flavour):
    """One-sided privacy: a sensitive record might as well be any other record; the others may be published as they are.

    P_x(S) <= e^epsilon P_x'(S) when x' is x with one sensitive record replaced by another, and nothing the other way round
    unless that one is sensitive too (Doudalis, Kotsogiannis, Haney, Machanavajjhala and Mehrotra 2017). Both divergences are
    directed.

    >>> from dpspec import verify
    >>> flavour = OneSidedDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "one-sided-dp"
    title: ClassVar[str] = "One-sided privacy: only secret records are protected"
    citation: ClassVar[str] = "Doudalis, Kotsogiannis, Haney, Machanavajjhala and Mehrotra, 2017"
    reference: ClassVar[str] = "Kifer et al. 2022, Section 9"
    changes: ClassVar[tuple[str, ...]] = ("input_divergence", "output_divergence")

    def spec(self) -> PrivacySpec:
        space = UnorderedRecords(attributes=(Attribute(name="kind", categories=("open", "secret")),), most=3)
        return _spec(space, OneSided(attribute="kind", sensitive=("secret",)), ln(3), MultOneWay())

    def satisfied_by(self) -> Example:
        return Example(
            title="a sample of the open records, each with probability 2/3",
            mechanism=OpenSample(attribute="kind", sensitive=("secret",), keep_probability=Fraction(2, 3)),
            because="a record that is not shown may be open with likelihood ratio 1/(1 - 2/3)",
        )

    def broken_by(self) -> Example:
        return Example(
            title="all open records",
            mechanism=OpenSample(attribute="kind", sensitive=("secret",), keep_probability=Fraction(1)),
            because="a record that is not shown must be secret: the exclusion attack",
        )
