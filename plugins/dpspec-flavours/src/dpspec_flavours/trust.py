"""Flavours about who is trusted with what: nobody (local), a shuffler, everybody with the features, the attacker with nothing.

The shuffler makes reports without the names of those who made them.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from dpspec_divergences import DifferInOnePosition, HammingOrdered, Mult, MultDelta, Neighbour
from dpspec_noise import RandomisedResponse

from dpspec.plugin import (
    Attribute,
    BitVectors,
    Dataset,
    DatasetSpace,
    Example,
    FiniteLaw,
    Flavour,
    IncompatibleBlocksError,
    InputDivergence,
    Law,
    Mechanism,
    Number,
    OrderedRecords,
    OutputDivergence,
    PrivacySpec,
    Registered,
    Trivial,
    UniformBudget,
    blocks,
    define,
    grammar,
    ln,
)
from dpspec_flavours.mechanisms import ListedLaw, ListedLaws, NearbyDataset
from dpspec_flavours.networks.blowfish import Policy


def _nameless(reports: Any) -> Hashable:
    return tuple(sorted(reports, key=repr))


@define
class Shuffled(Mechanism):
    """What a mechanism that answers with a sequence says, in no order: the sequence of reports as a multiset (Cheu et al. 2019).

    A uniformly random order of the reports and their multiset determine the same laws up to randomness that is free of the
    data, so that every output divergence gives both the same number.

    Args:
        mechanism: gives a sequence of reports, one for each person.

    >>> mechanism = Shuffled(mechanism=RandomisedResponse(keep_probability="3/4"))
    >>> mechanism.law((0, 1), BitVectors(length=2))
    FiniteLaw({(0, 1): 5/8, (0, 0): 3/16, (1, 1): 3/16})
    """

    name: ClassVar[str] = "shuffled"

    mechanism: Annotated[Mechanism, Registered("mechanisms")]

    def check(self, space: DatasetSpace) -> None:
        self.mechanism.check(space)
        for dataset in grammar.first_datasets(space):
            self._reports(dataset, space)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return self._reports(space.dataset(dataset), space).push_forward(_nameless)

    def _reports(self, dataset: Dataset, space: DatasetSpace) -> FiniteLaw:
        """The law of the sequence of reports."""
        law = self.mechanism.law(dataset, space)
        if not isinstance(law, FiniteLaw) or not all(isinstance(outcome, tuple) for outcome in law.support):
            rule = "needs reports that come in a sequence, finitely many in all"
            raise IncompatibleBlocksError(
                f"mechanism {self.name}", rule, "shuffle randomised response", value=str(self.mechanism)
            )
        return law

    @classmethod
    def examples(cls) -> Iterable[tuple[Shuffled, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(mechanism=RandomisedResponse(keep_probability=Fraction(3, 4))), BitVectors(length=2)


# --- free-lunch, label, local and shuffle privacy -------------------------------------------------


_ANSWER = Attribute(name="answer", categories=("no", "unsure", "yes"))


def _people(count: int, *attributes: Attribute) -> OrderedRecords:
    return OrderedRecords(attributes=attributes or (_ANSWER,), least=count, most=count)


def _spec(
    space: OrderedRecords, distance: InputDivergence, epsilon: Number, standard: OutputDivergence | None = None
) -> PrivacySpec:
    return PrivacySpec(
        space=space,
        multiverse=Trivial(),
        input_divergence=distance,
        output_divergence=standard or Mult(),
        budget=UniformBudget(parameter="epsilon", value=epsilon),
    )


class FreeLunchPrivacy(Flavour):
    """Free-lunch privacy: P_x(S) <= e^epsilon P_x'(S) for all datasets x, x', however far apart.

    It protects whatever the attacker may assume about the data, and so lets nothing be learnt about everybody together either:
    Kifer
    and Machanavajjhala introduce it to show that.

    >>> from dpspec import verify
    >>> flavour = FreeLunchPrivacy()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "free-lunch-privacy"
    title: ClassVar[str] = "Free-lunch privacy: every two datasets are neighbours"
    citation: ClassVar[str] = "Kifer and Machanavajjhala, SIGMOD 2011"
    changes: ClassVar[tuple[str, ...]] = ("input_divergence",)

    def spec(self) -> PrivacySpec:
        return _spec(_people(2), self._any(), ln(4))

    def _any(self) -> InputDivergence:
        return blocks.WithinDistance(of=HammingOrdered(), most=2)

    def satisfied_by(self) -> Example:
        return Example(
            title="the data with odds 4 : 1 against each other dataset",
            mechanism=NearbyDataset(distance=self._any(), rate=ln(4)),
            because="randomised response of the dataset as a whole: every two laws have the ratio 4",
        )

    def broken_by(self) -> Example:
        return Example(
            title="randomised response of each person, with odds 4 : 1",
            mechanism=NearbyDataset(distance=HammingOrdered(), rate=ln(4)),
            because="that is ln(4)-differentially private, but two persons together are told apart with the ratio 16",
        )


class LabelDP(Flavour):
    """Label differential privacy: P_x(S) <= e^(epsilon d(x, x')) P_x'(S), d counts the labels that differ.

    The features are known to everybody: d is infinite where they differ, which is a Blowfish policy whose edges join the labels
    of
    one feature.

    >>> from dpspec import verify
    >>> flavour = LabelDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "label-dp"
    title: ClassVar[str] = "Label differential privacy: features are public, labels are not"
    citation: ClassVar[str] = "Chaudhuri and Hsu, COLT 2011; Ghazi, Golowich, Kumar, Manurangsi and Zhang, NeurIPS 2021"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        age = Attribute(name="age", categories=("young", "old"))
        return _spec(_people(2, age, _ANSWER), self._labels(), ln(3))

    def _labels(self) -> Policy:
        return _same_age(itertools.combinations(_ANSWER.values(), 2))

    def _steps(self) -> Policy:
        return _same_age(itertools.pairwise(_ANSWER.values()))

    def satisfied_by(self) -> Example:
        return Example(
            title="the age of each person as it is, and the answer with odds 3 : 1 against each other one",
            mechanism=NearbyDataset(distance=self._labels(), rate=ln(3)),
            because="an answer has likelihood ratio 3, and the ages are the same in both datasets",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the age as it is, and the answer with odds 3 : 1 for each step on the scale no, unsure, yes",
            mechanism=NearbyDataset(distance=self._steps(), rate=ln(3)),
            because="any two answers are neighbours, and from no to yes are two steps, at likelihood ratio 3 each",
        )


def _same_age(pairs: Iterable[tuple[Any, Any]]) -> Policy:
    """The policy that joins these pairs of answers, the age being the same."""
    return Policy(edges=tuple(((age, one), (age, other)) for one, other in pairs for age in ("young", "old")))


class LocalDP(Flavour):
    """Local differential privacy: P_v(S) <= e^epsilon P_v'(S) for all values v, v' of one person, who trusts nobody.

    The dataset is one record, and the mechanism is what its owner runs before anything is sent. A protocol in one round
    keeps it when the randomiser of each person does; that these run apart is a fact about the program, not about its laws.

    >>> from dpspec import verify
    >>> flavour = LocalDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "local-dp"
    title: ClassVar[str] = "Local differential privacy: each person randomises their own record"
    citation: ClassVar[str] = "Kasiviswanathan, Lee, Nissim, Raskhodnikova and Smith, FOCS 2008"
    changes: ClassVar[tuple[str, ...]] = ("space",)

    def spec(self) -> PrivacySpec:
        return _spec(_people(1, Attribute(name="drink", categories=_DRINKS)), HammingOrdered(), ln(3))

    def satisfied_by(self) -> Example:
        return Example(
            title="the drink with odds 3 : 1 against each other one",
            mechanism=NearbyDataset(distance=HammingOrdered(), rate=ln(3)),
            because="randomised response with four answers: 1/2, and 1/6 for each wrong one",
        )

    def broken_by(self) -> Example:
        return Example(
            title="for each drink yes or no, each answered truthfully with probability 3/4",
            mechanism=_each_drink(Fraction(3, 4)),
            because="another drink changes two of the four answers, at likelihood ratio 3 each",
        )


_DRINKS = ("coffee", "tea", "water", "wine")


def _each_drink(keep: Fraction) -> ListedLaws:
    """Randomised response on each entry of the indicator of a drink."""
    rows = []
    for drink in _DRINKS:
        law = []
        for answers in itertools.product((0, 1), repeat=len(_DRINKS)):
            right = sum(answer == (drink == other) for answer, other in zip(answers, _DRINKS, strict=True))
            law.append(("".join(map(str, answers)), keep**right * (1 - keep) ** (len(_DRINKS) - right)))
        rows.append(ListedLaw(dataset=((drink,),), law=tuple(law)))
    return ListedLaws(laws=tuple(rows))


class ShuffleDP(Flavour):
    """Differential privacy in the shuffle model: the multiset of all reports is (epsilon, delta)-private on neighbours.

    Who trusts a shuffler to take the names off can send a less noisy report. The shuffler is a part of the mechanism.

    >>> from dpspec import verify
    >>> flavour = ShuffleDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "shuffle-dp"
    title: ClassVar[str] = "Shuffle privacy: the reports of three persons without their names"
    citation: ClassVar[str] = "Cheu, Smith, Ullman, Zeber and Zhilyaev, EUROCRYPT 2019"
    changes: ClassVar[tuple[str, ...]] = ("output_divergence", "input_divergence")

    def spec(self) -> PrivacySpec:
        near = Neighbour(relation=DifferInOnePosition())
        return _spec(_people(3), near, ln(2), MultDelta(delta=_DELTA))

    def _reports(self) -> NearbyDataset:
        return NearbyDataset(distance=HammingOrdered(), rate=ln(4))

    def satisfied_by(self) -> Example:
        return Example(
            title="the number of each answer among three reports, each true with odds 4 : 1 against each other answer",
            mechanism=Shuffled(mechanism=self._reports()),
            because=f"one person is hidden among the errors of the others: at e^epsilon = 2 the excess is {_DELTA}, not 1/3",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the same reports, each with the name of its person",
            mechanism=self._reports(),
            because="a report alone has the likelihood ratio 4, and the excess 4/6 - 2 x 1/6 = 1/3",
        )


_DELTA = Fraction(41, 216)


# --- flavours about who is trusted with what ------------------------------------------------------
