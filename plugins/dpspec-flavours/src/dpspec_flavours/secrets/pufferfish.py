"""Flavours about what attackers believe and where the data come from.

Datasets are (secret, prior) pairs for Pufferfish, noiseless, partial-knowledge and Bayesian privacy; for the others they are
the law of the data, the frame that they are sampled from, or a world without a record.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpspec_divergences import Hamming, HammingOrdered, Mult, MultDelta, Neighbour
from dpspec_noise import Geometric, RandomisedResponse

from dpspec.plugin import (
    Attribute,
    BitVectors,
    Example,
    Flavour,
    LinearMap,
    Mechanism,
    Number,
    PrivacySpec,
    Trivial,
    UniformBudget,
    UnorderedRecords,
    blocks,
    grammar,
    ln,
)
from dpspec_flavours.secrets.averages import Averaged, Subsampled
from dpspec_flavours.secrets.distances import DataVariation, DiscriminativePairs
from dpspec_flavours.secrets.spaces import (
    DataEvent,
    DataLaw,
    DataLaws,
    DataProbability,
    IndependentRecords,
    Secrets,
    bits,
    values_at,
)
from dpspec_flavours.standards import common

HALF = Fraction(1, 2)
NAMES = "first", "second", "third"
PAIR = BitVectors(length=2)
PAIRS = tuple((f"{who} is 0", f"{who} is 1") for who in NAMES)
FIRST = Neighbour(relation=DiscriminativePairs(pairs=PAIRS[:1]))


def agreeing(label: str, probability: Fraction) -> DataLaw:
    """Two fair bits that are equal with a given probability."""
    equal = {True: probability / 2, False: (1 - probability) / 2}
    rows = tuple(DataProbability(value=(a, b), probability=equal[a == b]) for a in (0, 1) for b in (0, 1) if equal[a == b])
    return DataLaw(label=label, listed=rows)


def response(keep: Fraction) -> Averaged:
    """Randomised response on random data."""
    return Averaged(mechanism=RandomisedResponse(keep_probability=keep))


def _pure(epsilon: Number) -> UniformBudget:
    return UniformBudget(parameter="epsilon", value=epsilon)


class Pufferfish(Flavour):
    """Pufferfish: Pr(M(Z) in S | s, theta) <= e^epsilon Pr(M(Z) in S | s', theta).

    This is required of all discriminative pairs s, s' of secrets and all priors theta under which both are possible.
    Here the secret is the first of two answers; the second is independent, equal in 3 of 4 cases, or a copy.

    >>> from dpspec import verify
    >>> flavour = Pufferfish()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "pufferfish"
    title: ClassVar[str] = "Pufferfish privacy with correlated records"
    citation: ClassVar[str] = "Kifer and Machanavajjhala, ACM TODS 2014"
    reference: ClassVar[str] = (
        "Bailie et al. 2024, flavours by building block and two dependent records; Kifer et al. 2022, Section 9"
    )
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        priors = agreeing("independent", HALF), agreeing("mostly equal", Fraction(3, 4)), agreeing("copy", Fraction(1))
        return PrivacySpec(
            space=Secrets(base=PAIR, secrets=values_at(0, "first"), priors=priors),
            multiverse=Trivial(),
            input_divergence=FIRST,
            output_divergence=Mult(),
            budget=_pure(ln(4)),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 2/3",
            mechanism=response(Fraction(2, 3)),
            because="each answer has the ratio 2, and a copied record gives the secret away twice: 2 x 2 = 4",
        )

    def broken_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 4/5",
            mechanism=response(Fraction(4, 5)),
            because="its ratio 4 is right for independent records; under the prior `copy` it is 16",
        )


class NoiselessPrivacy(Flavour):
    """Noiseless privacy: the inequality of (epsilon, delta)-privacy, where the data are random and the mechanism need not be.

    Three fair bits; P_x is the law of the output given one bit. The exact count keeps it with epsilon = ln 2, delta = 1/4.

    >>> from dpspec import verify
    >>> flavour = NoiselessPrivacy()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "noiseless-privacy"
    title: ClassVar[str] = "Noiseless privacy: randomness of the data in place of noise"
    citation: ClassVar[str] = "Bhaskar, Bhowmick, Goyal, Laxman and Thakurta, ASIACRYPT 2011"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block; Kifer et al. 2022, Section 9"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence", "output_divergence")

    def spec(self) -> PrivacySpec:
        secrets = tuple(secret for place, who in enumerate(NAMES) for secret in values_at(place, who))
        coins = DataLaw(label="fair coins", independent=(bits(HALF, 3),))
        return PrivacySpec(
            space=Secrets(base=BitVectors(length=3), secrets=secrets, priors=(coins,)),
            multiverse=Trivial(),
            input_divergence=Neighbour(relation=DiscriminativePairs(pairs=PAIRS)),
            output_divergence=MultDelta(delta=Fraction(1, 4)),
            budget=_pure(ln(2)),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="the exact number of ones",
            mechanism=_counts((1, 1, 1)),
            because="given one bit it is 0 to 2 or 1 to 3 with probabilities 1/4, 1/2, 1/4: (1/4 + 1/2 - 1/4)/(1/4) = 2",
        )

    def broken_by(self) -> Example:
        return Example(
            title="two exact counts: of all, and of all but the first",
            mechanism=_counts((1, 1, 1), (0, 1, 1)),
            because="each count keeps it alone; their difference is the first bit, for noiseless releases do not compose",
        )


def _counts(*rows: tuple[int, ...]) -> Averaged:
    return Averaged(mechanism=grammar.ReleaseInvariants(invariants=(LinearMap(rows=rows, label="counts"),)))


class PartialKnowledge(Flavour):
    """Privacy under partial knowledge: the attacker knows some records, the others are random to him (active attackers).

    Elements are (secret, background, prior). Three fair bits, of which the attacker knows the second or none. One bit drawn in
    secret is answered for: against an attacker who knew all others, the loss would be ln(5/3).

    >>> from dpspec import verify
    >>> flavour = PartialKnowledge()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "partial-knowledge"
    title: ClassVar[str] = "Differential privacy under partial knowledge"
    citation: ClassVar[str] = "Desfontaines, Mohammadi, Krahmer and Basin, arXiv 1905.00650, 2019"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block; Kifer et al. 2022, Section 9"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        coins = DataLaw(label="fair coins", independent=(bits(HALF, 3),))
        known = DataEvent(label="knows nothing"), *(_knows(event) for event in values_at(1, "second"))
        return PrivacySpec(
            space=Secrets(base=BitVectors(length=3), secrets=values_at(0, "first"), priors=(coins,), backgrounds=known),
            multiverse=Trivial(),
            input_divergence=FIRST,
            output_divergence=Mult(),
            budget=_pure(ln(Fraction(3, 2))),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="one of three bits, drawn in secret, answered truthfully with probability 3/4",
            mechanism=_one_of_three(Fraction(3, 4)),
            because="an attacker who knows one bit sees a one with probability 1/3 or 1/2",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the same with the truth told with probability 4/5",
            mechanism=_one_of_three(Fraction(4, 5)),
            because="an attacker who knows nothing sees the ratio 3/2; one who knows that a bit is 0 sees 3/10 and 1/2",
        )


def _knows(event: DataEvent) -> DataEvent:
    return DataEvent(label=f"knows that {event.label}", position=event.position, values=event.values)


def _one_of_three(keep: Fraction) -> Averaged:
    answered = RandomisedResponse(keep_probability=keep)
    return Averaged(mechanism=Subsampled(mechanism=answered, size=1, samples=BitVectors(length=1)))


class BayesianDP(Flavour):
    """Bayesian differential privacy of correlated data (Yang, Sato and Nakagawa 2015).

    The loss about one record, for every attacker who knows any of the others, the rest being drawn from the prior given that.
    Here two bits agree with probability 4/5; the attacker knows the other one, or nothing, which is worse.

    >>> from dpspec import verify
    >>> flavour = BayesianDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "bayesian-dp"
    title: ClassVar[str] = "Bayesian differential privacy on correlated data"
    citation: ClassVar[str] = "Yang, Sato and Nakagawa, SIGMOD 2015"
    reference: ClassVar[str] = "Kifer et al. 2022, Section 9; Bailie et al. 2024, two dependent records"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        secrets = tuple(secret for place, who in enumerate(NAMES[:2]) for secret in values_at(place, who))
        known = DataEvent(label="knows nothing"), *(_knows(event) for event in secrets)
        prior = agreeing("agree 4/5", Fraction(4, 5))
        return PrivacySpec(
            space=Secrets(base=PAIR, secrets=secrets, priors=(prior,), backgrounds=known),
            multiverse=Trivial(),
            input_divergence=Neighbour(relation=DiscriminativePairs(pairs=PAIRS[:2])),
            output_divergence=Mult(),
            budget=_pure(ln(3)),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 2/3",
            mechanism=response(Fraction(2, 3)),
            because="the own answer has the ratio 2, the other one (4/5 2/3 + 1/5 1/3)/(4/5 1/3 + 1/5 2/3) = 3/2",
        )

    def broken_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 3/4",
            mechanism=response(Fraction(3, 4)),
            because="it is ln(3)-DP, but the answer of the correlated record discloses more",
        )


class CloseAdversaries(Flavour):
    """Close adversaries: a prior that is wrong by a log-ratio of Delta costs 2 Delta more (Song, Wang and Chaudhuri 2017).

    The releaser believes that the two records are independent. Given the first, the attacker's law of the data has likelihood
    ratios between 2/3 and 4/3 to that, so Delta = ln(3/2), and his universe has the budget ln 3 + 2 ln(3/2) = ln(27/4).

    >>> from dpspec import verify
    >>> flavour = CloseAdversaries()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "close-adversaries"
    title: ClassVar[str] = "Pufferfish with close adversaries: a budget that degrades with the error of the prior"
    citation: ClassVar[str] = "Song, Wang and Chaudhuri, SIGMOD 2017"
    reference: ClassVar[str] = "Kifer et al. 2022, Section 9"
    changes: ClassVar[tuple[str, ...]] = ("space", "multiverse", "input_divergence", "budget")

    def spec(self) -> PrivacySpec:
        priors = agreeing("believed", HALF), agreeing("close", Fraction(2, 3))
        secrets = values_at(0, "first")
        universes = {prior.label: [(secret.label, prior.label) for secret in secrets] for prior in priors}
        budgets = ("believed", ln(3)), ("close", ln(Fraction(27, 4)))
        return PrivacySpec(
            space=Secrets(base=PAIR, secrets=secrets, priors=priors),
            multiverse=blocks.ExplicitUniverses(
                universes_by_label=tuple((name, tuple(held)) for name, held in universes.items())
            ),
            input_divergence=FIRST,
            output_divergence=Mult(),
            budget=blocks.BudgetTable(parameter="epsilon", values=budgets),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 3/4",
            mechanism=response(Fraction(3, 4)),
            because="its ratio is 3 under the believed prior, and 3 x 7/5 = 21/5 under the close one",
        )

    def broken_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 4/5",
            mechanism=response(Fraction(4, 5)),
            because="it uses what is allowed to the close prior (4 x 3/2 = 6 of 27/4) and spends 4 under the believed one",
        )


# --- where the data come from ---------------------------------------------------------------------


class DistributionalPrivacy(Flavour):
    """Distributional privacy: the loss is bounded by the distance of the distributions that the data are drawn from.

    Two records, each 1 with probability 1/4, 1/2 or 3/4, at the total variation distance of their joint laws.

    >>> from dpspec import verify
    >>> flavour = DistributionalPrivacy()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "distributional-privacy"
    title: ClassVar[str] = "Distributional privacy: the distance is one between laws of the data"
    citation: ClassVar[str] = "Zhou, Ligett and Wasserman, ISIT 2009"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        probabilities = {"a quarter": Fraction(1, 4), "a half": HALF, "three quarters": Fraction(3, 4)}
        laws = tuple(DataLaw(label=label, independent=(bits(probability, 2),)) for label, probability in probabilities.items())
        return PrivacySpec(
            space=DataLaws(base=PAIR, data_laws=laws),
            multiverse=Trivial(),
            input_divergence=DataVariation(),
            output_divergence=Mult(),
            budget=_pure(ln(Fraction(5, 3)) * 4),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 3/4",
            mechanism=response(Fraction(3, 4)),
            because="a quarter and three quarters give answers with the ratio (5/3)^2 at the distance 1/2",
        )

    def broken_by(self) -> Example:
        exact = grammar.ReleaseInvariants(invariants=(LinearMap(rows=((1, 1),), label="number of ones"),))
        return Example(
            title="the exact number of ones",
            mechanism=Averaged(mechanism=exact),
            because="that the data are random protects one record, not their law: 4 at the distance 5/16",
        )


class AmplificationBySampling(Flavour):
    """Amplification by sampling: the dataset is the frame, the sample is part of the mechanism and secret.

    One of two records is drawn. A ln 3-DP answer on the sample is ln(1 + 1/2 (3 - 1)) = ln 2-DP on the frame.

    >>> from dpspec import verify
    >>> flavour = AmplificationBySampling()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "amplification-by-sampling"
    title: ClassVar[str] = "Amplification by sampling: privacy of the frame"
    citation: ClassVar[str] = "Balle, Barthe and Gaboardi, NeurIPS 2018"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block and amplification by sampling"
    changes: ClassVar[tuple[str, ...]] = ("space",)

    def spec(self) -> PrivacySpec:
        return PrivacySpec(
            space=PAIR,
            multiverse=Trivial(),
            input_divergence=HammingOrdered(),
            output_divergence=Mult(),
            budget=_pure(ln(2)),
        )

    def _sampled(self, *, published: bool) -> Mechanism:
        answer = RandomisedResponse(keep_probability=Fraction(3, 4))
        return Subsampled(mechanism=answer, size=1, samples=BitVectors(length=1), publishes_sample=published)

    def satisfied_by(self) -> Example:
        return Example(
            title="one of two records, drawn in secret, answers truthfully with probability 3/4",
            mechanism=self._sampled(published=False),
            because="ln(1 + p (e^epsilon - 1)) with p = 1/2 and e^epsilon = 3",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the same, and it is published who was drawn",
            mechanism=self._sampled(published=True),
            because="a neighbour who knows that a record is in the sample has the whole ln 3",
        )


class CoupledWorlds(Flavour):
    """Coupled-worlds privacy with a stated simulator: the mechanism itself, on the data without the record (Bassily et al. 2013).

    Given the first record, the output of the real world is compared with that of an ideal world in which this record is replaced
    by a 0. The definition lets the simulator be anything, which no five-tuple does: see docs/beyond-the-five-blocks.md.

    >>> from dpspec import verify
    >>> flavour = CoupledWorlds()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "coupled-worlds"
    title: ClassVar[str] = "Coupled-worlds privacy, the simulator being the mechanism without the record"
    citation: ClassVar[str] = "Bassily, Groce, Katz and Smith, FOCS 2013"
    reference: ClassVar[str] = "Kifer et al. 2022, Section 9"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        fair = bits(HALF)
        worlds = {"real, first is 0": 0, "real, first is 1": 1, "ideal, first is 0": 0, "ideal, first is 1": 0}
        laws = tuple(DataLaw(label=label, independent=(_fixed(bit), fair)) for label, bit in worlds.items())
        couples = tuple((f"real, first is {bit}", f"ideal, first is {bit}") for bit in (0, 1))
        return PrivacySpec(
            space=DataLaws(base=PAIR, data_laws=laws),
            multiverse=Trivial(),
            input_divergence=Neighbour(relation=DiscriminativePairs(pairs=couples)),
            output_divergence=Mult(),
            budget=_pure(ln(3)),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 3/4",
            mechanism=response(Fraction(3, 4)),
            because="only the answer for the first record differs between the worlds, by the ratio 3",
        )

    def broken_by(self) -> Example:
        exact = grammar.ReleaseInvariants(invariants=(LinearMap(rows=((1, 1),), label="number of ones"),))
        return Example(
            title="the exact number of ones",
            mechanism=Averaged(mechanism=exact),
            because="two ones never happen in the ideal world: the other record is too little to hide behind",
        )


def _fixed(bit: int) -> IndependentRecords:
    return bits(Fraction(bit))


class RestrictedSensitivity(Flavour):
    """Restricted sensitivity: noise for the datasets of a hypothesis H, privacy for all datasets (Blocki et al. 2013).

    Amounts are 0, 1 or 4, and H is that no record exceeds 1. The sum is 1-Lipschitz on H; the sum of amounts cut off at 1
    agrees with it there and is 1-Lipschitz everywhere. That the answer is right on H is no part of a five-tuple: see
    docs/beyond-the-five-blocks.md.

    >>> from dpspec import verify
    >>> flavour = RestrictedSensitivity()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "restricted-sensitivity"
    title: ClassVar[str] = "Restricted sensitivity: unconditional privacy, accuracy under a hypothesis"
    citation: ClassVar[str] = "Blocki, Blum, Datta and Sheffet, ITCS 2013"
    reference: ClassVar[str] = "Kifer et al. 2022, Section 9"
    changes: ClassVar[tuple[str, ...]] = ()

    def spec(self) -> PrivacySpec:
        amount = Attribute(name="amount", categories=("0", "1", "4"))
        return PrivacySpec(
            space=UnorderedRecords(attributes=(amount,), least=2, most=2),
            multiverse=Trivial(),
            input_divergence=Hamming(),
            output_divergence=Mult(),
            budget=_pure(ln(3)),
        )

    def compared(self) -> PrivacySpec:
        return common()

    def satisfied_by(self) -> Example:
        return Example(
            title="the sum of the amounts cut off at 1, with geometric noise of ratio 1/3",
            mechanism=_noisy_sum((0, 1, 1), "sum of amounts up to 1"),
            because="it equals the sum where the hypothesis holds, and moves by at most 1 everywhere",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the sum itself, with the same noise",
            mechanism=_noisy_sum((0, 1, 4), "sum of amounts"),
            because="noise for the sensitivity on the hypothesis alone: outside of it one record moves the sum by 4",
        )


def _noisy_sum(row: tuple[int, ...], label: str) -> Geometric:
    total = LinearMap(rows=(row,), label=label)
    return Geometric(queries=(total,), ratio=Fraction(1, 3), neighbours="replace-one")
