"""Pure differential privacy, and the flavours that change its output divergence.

They bound the whole trade-off curve of the errors of a test (Gaussian privacy, f-privacy), or a mean or all but a small part of
the privacy loss (approximate, Renyi, concentrated, hockey stick, D_f).

Their publications ask something of neighbours alone. Where the output divergence is a metric (zero-concentrated privacy) a
bound for
neighbours is one for all pairs; elsewhere it is not, and the bound for all pairs, d_Pr(P_x, P_x') <= eps d(x, x'), is another and
stronger promise. It is filed under names of its own: `linear-approximate-dp` and so on.

`RevealByChance` has a flaw that approximate privacy tolerates: now and then it publishes the data.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from dpspec_divergences import (
    DifferInOnePosition,
    DNor,
    FDivergence,
    GaussianTradeOff,
    HammingOrdered,
    HockeyStick,
    Mult,
    MultDelta,
    Neighbour,
    Renyi,
    TradeOffSteps,
)
from dpspec_noise import DiscreteGaussian, Gaussian, Geometric, RandomisedResponse

from dpspec.plugin import (
    BitVectors,
    Dataset,
    DatasetSpace,
    Example,
    FiniteLaw,
    Flavour,
    Law,
    LinearMap,
    Mechanism,
    OutputDivergence,
    PrivacySpec,
    Rational,
    Registered,
    Trivial,
    UniformBudget,
    define,
    exact,
    laws,
    ln,
    number,
)
from dpspec_flavours.mechanisms import ListedLaw, ListedLaws


class PureDP(Flavour):
    """Pure differential privacy: P_x(S) <= e^(epsilon d(x, x')) P_x'(S) for all events S
    (Dwork, McSherry, Nissim and Smith 2006, Definition 1).

    The definition requires d = 1; the rest follows, since `mult` is a metric and every pair is joined by a path of neighbours.

    >>> from dpspec import verify
    >>> flavour = PureDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "pure-dp"
    title: ClassVar[str] = "Pure epsilon-differential privacy"
    citation: ClassVar[str] = "Dwork, McSherry, Nissim and Smith, TCC 2006, Definition 1"
    reference: ClassVar[str] = (
        "Bailie et al. 2024, flavours by building block; Dwork, McSherry, Nissim and Smith 2006, Definition 1"
    )
    changes: ClassVar[tuple[str, ...]] = ()

    def spec(self) -> PrivacySpec:
        return PrivacySpec(
            space=BitVectors(length=2),
            multiverse=Trivial(),
            input_divergence=HammingOrdered(),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=ln(3)),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 3/4",
            mechanism=RandomisedResponse(keep_probability=Fraction(3, 4)),
            because="each answer has likelihood ratio 3 or 1/3",
        )

    def broken_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 4/5",
            mechanism=RandomisedResponse(keep_probability=Fraction(4, 5)),
            because="the likelihood ratio of one answer is 4",
        )


def common(**blocks: Any) -> PrivacySpec:
    """The instance that flavours share, pure privacy at ln(3) of two answers of yes or no, with some blocks changed."""
    return PureDP().spec().replace(**blocks)


def relaxed(standard: OutputDivergence, value: exact.NumberLike, *, parameter: str = "epsilon") -> PrivacySpec:
    """Pure privacy with another output divergence and its budget."""
    return common(output_divergence=standard, budget=UniformBudget(parameter=parameter, value=number(value)))


def between_neighbours(standard: OutputDivergence, value: exact.NumberLike, *, parameter: str = "epsilon") -> PrivacySpec:
    """The same, restricted to datasets that differ in one record: the definition for neighbours, and no more."""
    return relaxed(standard, value, parameter=parameter).replace(input_divergence=Neighbour(relation=DifferInOnePosition()))


# --- a tolerated flaw -----------------------------------------------------------------------------


def _noisy(outcome: Any) -> Hashable:
    return ("noisy", outcome)


@define
class RevealByChance(Mechanism):
    """Publishes the dataset with some probability, and otherwise applies another mechanism; the outcome shows which.

    When the other is epsilon-private and the probability is at most delta, this is (epsilon, delta)-private, and not pure for any
    epsilon: the events that only one of two datasets can show have probability `chance`
    (Dwork, Kenthapadi, McSherry, Mironov and Naor 2006).

    Args:
        mechanism: the mechanism that is applied otherwise.
        chance: the probability of publishing the data, the same for every dataset.

    >>> mechanism = RevealByChance(mechanism=RandomisedResponse(keep_probability="3/4"), chance="1/5")
    >>> mechanism.law((1,), BitVectors(length=1))
    FiniteLaw({('data', (1,)): 1/5, ('noisy', (1,)): 3/5, ('noisy', (0,)): 1/5})
    """

    name: ClassVar[str] = "reveal-by-chance"

    mechanism: Annotated[Mechanism, Registered("mechanisms")]
    chance: Annotated[Fraction, Rational(0, 1)]

    def check(self, space: DatasetSpace) -> None:
        self.mechanism.check(space)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        known = space.dataset(dataset)
        truth = FiniteLaw.point(("data", known))
        return laws.mixture([self.chance, 1 - self.chance], [truth, laws.push_forward(self.mechanism.law(known, space), _noisy)])

    @classmethod
    def examples(cls) -> Iterable[tuple[RevealByChance, DatasetSpace]]:
        """What the conformance kit checks it with."""
        inner = RandomisedResponse(keep_probability=Fraction(3, 4))
        yield cls(mechanism=inner, chance=Fraction(1, 10)), BitVectors(length=2)


# --- the whole trade-off curve --------------------------------------------------------------------


_MU = Fraction(8, 5)
_KNOTS = tuple((Fraction(a, 9), Fraction(b, 9)) for a, b in ((0, 9), (1, 5), (5, 1), (9, 0)))


class GaussianDP(Flavour):
    """Gaussian differential privacy: T(P_x, P_x') >= G_(mu d(x, x')), the curve of two unit Gaussians with this difference of
    means.

    >>> from dpspec import verify
    >>> flavour = GaussianDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "gaussian-dp"
    title: ClassVar[str] = "Gaussian differential privacy (mu-GDP)"
    citation: ClassVar[str] = "Dong, Roth and Su, J. R. Stat. Soc. B 2022"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("output_divergence", "budget")

    def spec(self) -> PrivacySpec:
        return relaxed(GaussianTradeOff(), _MU, parameter="mu")

    def satisfied_by(self) -> Example:
        total = LinearMap(rows=((1, 1),), label="total")
        return Example(
            title="Gaussian noise of variance 25/64 on the total",
            mechanism=Gaussian(queries=(total,), neighbours="differ-in-one-position", variance=1 / _MU**2),
            because="one person moves the mean by 1, which is 8/5 standard deviations",
        )

    def broken_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 4/5",
            mechanism=RandomisedResponse(keep_probability=Fraction(4, 5)),
            because="its epsilon ln(4) is below 8/5, but mu is no epsilon: 2 Phi^-1(4/5) is about 1.68",
        )


class FDP(Flavour):
    """f-differential privacy: T(P_x, P_x') >= f on neighbours, and for k persons f composed k times as for a group.

    The budget is a curve, not a number; so it is written into the divergence, and counted in steps (`trade-off`). Here f is the
    curve of a bit that is reported twice, each time correctly with probability 2/3.

    >>> from dpspec import verify
    >>> flavour = FDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "f-dp"
    title: ClassVar[str] = "f-differential privacy: a trade-off curve for a budget"
    citation: ClassVar[str] = "Dong, Roth and Su, J. R. Stat. Soc. B 2022"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("output_divergence", "budget")

    def spec(self) -> PrivacySpec:
        return relaxed(TradeOffSteps(curve=_KNOTS), 1, parameter="steps")

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 2/3",
            mechanism=RandomisedResponse(keep_probability=Fraction(2, 3)),
            because="one report of the two: the errors (1/3, 1/3) of its best test lie on the curve",
        )

    def broken_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 3/4",
            mechanism=RandomisedResponse(keep_probability=Fraction(3, 4)),
            because="its ratio 3 is below the 4 that the curve allows at its ends, but its errors (1/4, 1/4) lie below the curve",
        )


# --- a mean or all but a part of the loss ---------------------------------------------------------


_DELTA = Fraction(1, 100)
_RHO = Fraction(61, 100)
_TOTAL = LinearMap(rows=((1, 1),), label="total")
_FIRST = LinearMap(rows=((1, 0),), label="first")


LIPSCHITZ = "Bailie, Gong and Meng, 2025: a guarantee as a Lipschitz bound, here with the output divergence of {}"
"""What the linear forms cite."""


def _each(bit_laws: tuple[Mapping[str, Fraction], Mapping[str, Fraction]]) -> ListedLaws:
    """Two bits, each answered on its own by the law of its value."""
    rows = []
    for bits in itertools.product((0, 1), repeat=2):
        first, second = (bit_laws[bit] for bit in bits)
        law = tuple((one + two, first[one] * second[two]) for one in first for two in second)
        rows.append(ListedLaw(dataset=bits, law=law))
    return ListedLaws(laws=tuple(rows))


def _seldom_shown(chance: Fraction) -> ListedLaws:
    """Randomised response with 3/4, but each answer is shown unchanged, in capitals, with a probability of its own."""
    laws = []
    for true, false in (("n", "y"), ("y", "n")):
        laws.append({true.upper(): chance, true: (1 - chance) * Fraction(3, 4), false: (1 - chance) * Fraction(1, 4)})
    return _each((laws[0], laws[1]))


class ApproximateDP(Flavour):
    """Approximate differential privacy: P_x(S) <= e^epsilon P_x'(S) + delta for all events S and all neighbours x, x'
    (Dwork, Kenthapadi, McSherry, Mironov and Naor 2006).

    >>> from dpspec import verify
    >>> flavour = ApproximateDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "approximate-dp"
    title: ClassVar[str] = "Approximate (epsilon, delta)-differential privacy"
    citation: ClassVar[str] = "Dwork, Kenthapadi, McSherry, Mironov and Naor, EUROCRYPT 2006"
    reference: ClassVar[str] = (
        "Bailie et al. 2024, flavours by building block; Dwork, Kenthapadi, McSherry, Mironov and Naor 2006"
    )
    changes: ClassVar[tuple[str, ...]] = ("output_divergence", "input_divergence")

    def spec(self) -> PrivacySpec:
        return between_neighbours(MultDelta(delta=_DELTA), ln(3))

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response with 3/4, but each answer as it is with probability 1/100",
            mechanism=_seldom_shown(_DELTA),
            because="an answer has likelihood ratio 3, and what only one of two neighbours can show has probability delta",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the same, with probability 1/50",
            mechanism=_seldom_shown(2 * _DELTA),
            because="it shows an answer with probability 2 delta, which no epsilon makes up for",
        )


class LinearApproximateDP(ApproximateDP):
    """The linear form of approximate privacy: P_x(S) <= e^(epsilon d(x, x')) P_x'(S) + delta for all x, x', at one delta.

    It is stronger than the definition for neighbours, from which k persons have delta (1 + e^epsilon + ... + e^((k-1) epsilon)).

    >>> from dpspec import verify
    >>> flavour = LinearApproximateDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "linear-approximate-dp"
    title: ClassVar[str] = "Approximate privacy of all pairs: epsilon grows with the distance, delta does not"
    citation: ClassVar[str] = LIPSCHITZ.format("Dwork, Kenthapadi, McSherry, Mironov and Naor, EUROCRYPT 2006")
    changes: ClassVar[tuple[str, ...]] = ("output_divergence",)

    def spec(self) -> PrivacySpec:
        return super().spec().replace(input_divergence=HammingOrdered())

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response with 3/4, but with probability 1/100 the data themselves",
            mechanism=RevealByChance(mechanism=RandomisedResponse(keep_probability=Fraction(3, 4)), chance=_DELTA),
            because="the answers have likelihood ratio 3, and what only one dataset can show has probability delta",
        )

    def broken_by(self) -> Example:
        return Example(
            title="randomised response with 3/4, but each answer as it is with probability 1/100",
            mechanism=_seldom_shown(_DELTA),
            because="that is approximate privacy; of two persons who differ one is shown with probability near 2 delta",
        )


class RenyiDP(Flavour):
    """Renyi differential privacy of one order: D_2(P_x || P_x') <= epsilon for all neighbours x, x' (Mironov 2017, Definition 4).

    >>> from dpspec import verify
    >>> flavour = RenyiDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "renyi-dp"
    title: ClassVar[str] = "Renyi differential privacy of order 2"
    citation: ClassVar[str] = "Mironov, CSF 2017, Definition 4"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block; Mironov 2017, Definition 3"
    changes: ClassVar[tuple[str, ...]] = ("output_divergence", "input_divergence")

    def spec(self) -> PrivacySpec:
        return between_neighbours(Renyi(order=Fraction(2)), ln(Fraction(7, 3)))

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 3/4",
            mechanism=RandomisedResponse(keep_probability=Fraction(3, 4)),
            because="the mean of the likelihood ratio is 3 x 3/4 + 1/3 x 1/4 = 7/3",
        )

    def broken_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 4/5",
            mechanism=RandomisedResponse(keep_probability=Fraction(4, 5)),
            because="the mean of the log-ratio, 3/5 ln(4), is below ln(7/3), but the log of the mean of the ratio is ln(13/4)",
        )


class LinearRenyiDP(RenyiDP):
    """The linear form of Renyi privacy: D_2(P_x || P_x') <= epsilon d(x, x') for all x, x'.

    Stronger than the definition for neighbours: D_2 is no metric, and grows with the square of the distance for Gaussian noise.

    >>> from dpspec import verify
    >>> flavour = LinearRenyiDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "linear-renyi-dp"
    title: ClassVar[str] = "Renyi privacy of order 2 of all pairs, in proportion to the distance"
    citation: ClassVar[str] = LIPSCHITZ.format("Mironov, CSF 2017")
    changes: ClassVar[tuple[str, ...]] = ("output_divergence",)

    def spec(self) -> PrivacySpec:
        return super().spec().replace(input_divergence=HammingOrdered())

    def broken_by(self) -> Example:
        return Example(
            title="Gaussian noise of variance 2 on the total",
            mechanism=Gaussian(queries=(_TOTAL,), neighbours="differ-in-one-position", variance=Fraction(2)),
            because="D_2 = 1/2 for neighbours, below ln(7/3), but for two persons it is 2, above 2 ln(7/3)",
        )


class ZeroConcentratedDP(Flavour):
    """Zero-concentrated differential privacy: D_alpha(P_x || P_x') <= alpha rho d(x, x')^2 for all alpha > 1
    (Bun and Steinke 2016, Definition 1.1).

    The definition requires d = 1; the rest follows, since the root of the largest D_alpha/alpha is a metric (their Proposition
    1.9).

    >>> from dpspec import verify
    >>> flavour = ZeroConcentratedDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "zero-concentrated-dp"
    title: ClassVar[str] = "Zero-concentrated differential privacy (zCDP)"
    citation: ClassVar[str] = "Bun and Steinke, TCC 2016, Definition 1.1"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block; Bun and Steinke 2016, Definition 1.1"
    changes: ClassVar[tuple[str, ...]] = ("output_divergence", "budget")

    def spec(self) -> PrivacySpec:
        return relaxed(DNor(), _RHO, parameter="rho")

    def satisfied_by(self) -> Example:
        return Example(
            title="discrete Gaussian noise of variance 50/61 on the total",
            mechanism=_discrete_gaussian(_TOTAL),
            because="rho = sensitivity^2 / (2 variance) = 61/100",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the same noise on two questions, the total and the first person's bit",
            mechanism=_discrete_gaussian(_TOTAL, _FIRST),
            because="each answer spends the whole budget, and the first person is in both: rho = 122/100",
        )


def _discrete_gaussian(*queries: LinearMap) -> DiscreteGaussian:
    return DiscreteGaussian(
        queries=queries, neighbours="differ-in-one-position", sensitivities=(number(1),) * len(queries), variance=1 / (2 * _RHO)
    )


class FDivergencePrivacy(Flavour):
    """Privacy in an f-divergence: D_f(P_x || P_x') <= c for all neighbours x, x', here Kullback-Leibler in both directions.

    >>> from dpspec import verify
    >>> flavour = FDivergencePrivacy()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "f-divergence-privacy"
    title: ClassVar[str] = "f-divergence privacy: Kullback-Leibler, both directions"
    citation: ClassVar[str] = "Barthe and Olmedo, ICALP 2013; Barber and Duchi, 2014"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("output_divergence", "input_divergence", "budget")

    def spec(self) -> PrivacySpec:
        return between_neighbours(FDivergence(generator="kl", direction="both"), ln(5) * Fraction(2, 3), parameter="divergence")

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 5/6",
            mechanism=RandomisedResponse(keep_probability=Fraction(5, 6)),
            because="the mean log-ratio of one answer is 5/6 ln(5) - 1/6 ln(5) = 2/3 ln(5), although the largest is ln(5)",
        )

    def broken_by(self) -> Example:
        return Example(
            title="each one is reported with probability 1/2, and else as a zero",
            mechanism=ListedLaws(laws=tuple(_thinned(bits) for bits in ((0, 0), (0, 1), (1, 0), (1, 1)))),
            because="D(P||Q) is ln(2) where P has a zero for a one of Q, but infinite the other way: a reported one is certain",
        )


class LinearFDivergencePrivacy(FDivergencePrivacy):
    """The linear form of privacy in an f-divergence: D_f(P_x || P_x') <= c d(x, x') for all x, x', here Kullback-Leibler.

    Stronger than the definition for neighbours: the divergence is no metric.

    >>> from dpspec import verify
    >>> flavour = LinearFDivergencePrivacy()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "linear-f-divergence-privacy"
    title: ClassVar[str] = "f-divergence privacy of all pairs, in proportion to the distance: Kullback-Leibler"
    citation: ClassVar[str] = LIPSCHITZ.format("Barber and Duchi, 2014")
    changes: ClassVar[tuple[str, ...]] = ("output_divergence", "budget")

    def spec(self) -> PrivacySpec:
        return super().spec().replace(input_divergence=HammingOrdered())

    def broken_by(self) -> Example:
        return Example(
            title="Gaussian noise of variance 1/2 on the total",
            mechanism=Gaussian(queries=(_TOTAL,), neighbours="differ-in-one-position", variance=Fraction(1, 2)),
            because="1 for neighbours, below 2/3 ln(5), but 4 for two persons, above twice that",
        )


def _thinned(bits: tuple[int, ...]) -> ListedLaw:
    """The total of the reports of two bits."""
    half = Fraction(1, 2)
    laws: dict[int, tuple[tuple[str, Fraction], ...]] = {
        0: (("00", Fraction(1)),),
        1: (("00", half), ("".join(map(str, bits)), half)),
        2: tuple((text, half**2) for text in ("00", "01", "10", "11")),
    }
    return ListedLaw(dataset=bits, law=laws[sum(bits)])


class HockeyStickDP(Flavour):
    """Privacy in the hockey-stick divergence: P_x(S) - e^epsilon P_x'(S) <= delta for all neighbours x, x', at a fixed epsilon.

    It is approximate privacy with the roles of the two numbers exchanged: epsilon belongs to the divergence, delta is the budget.

    >>> from dpspec import verify
    >>> flavour = HockeyStickDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "hockey-stick-dp"
    title: ClassVar[str] = "Hockey-stick privacy: delta at a fixed epsilon"
    citation: ClassVar[str] = "Barthe and Olmedo, ICALP 2013"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("output_divergence", "input_divergence", "budget")

    def spec(self) -> PrivacySpec:
        return between_neighbours(HockeyStick(epsilon=ln(3)), Fraction(1, 3), parameter="delta")

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 5/6",
            mechanism=RandomisedResponse(keep_probability=Fraction(5, 6)),
            because="5/6 - 3 x 1/6 = 1/3 for one answer",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the same, but with probability 1/3 the data themselves",
            mechanism=RevealByChance(mechanism=RandomisedResponse(keep_probability=Fraction(5, 6)), chance=Fraction(1, 3)),
            because="the slack is spent twice, on answers beyond the ratio 3 and on the leak: 1/3 + 2/3 x 1/3",
        )


class LinearHockeyStickDP(HockeyStickDP):
    """The linear form of hockey-stick privacy: P_x(S) - e^epsilon P_x'(S) <= delta d(x, x') for all x, x', at a fixed epsilon.

    For two persons it allows 2 delta at epsilon; from the definition for neighbours follows delta (1 + e^epsilon) at 2 epsilon.

    >>> from dpspec import verify
    >>> flavour = LinearHockeyStickDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "linear-hockey-stick-dp"
    title: ClassVar[str] = "Hockey-stick privacy of all pairs: delta per person at a fixed epsilon"
    citation: ClassVar[str] = LIPSCHITZ.format("Barthe and Olmedo, ICALP 2013")
    changes: ClassVar[tuple[str, ...]] = ("output_divergence", "budget")

    def spec(self) -> PrivacySpec:
        return super().spec().replace(input_divergence=HammingOrdered())

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 5/6",
            mechanism=RandomisedResponse(keep_probability=Fraction(5, 6)),
            because="5/6 - 3 x 1/6 = 1/3 for one answer, and 25/36 - 3 x 1/36 = 11/18 for two",
        )

    def broken_by(self) -> Example:
        return Example(
            title="geometric noise of ratio 1/5 on the total",
            mechanism=Geometric(queries=(_TOTAL,), neighbours="differ-in-one-position", ratio=Fraction(1, 5)),
            because="(1 - 3/5)/(1 + 1/5) = 1/3 for neighbours, but (1 - 3/25)/(1 + 1/5) = 11/15 for two persons, above 2/3",
        )


# --- flavours that change the output divergence ---------------------------------------------------
