"""The classes of attacker knowledge a to g, and the tail bounds that hold in each, as types that cannot be confused
(Kifer et al. 2022, Section 7).

The posterior-to-posterior ratio of the target's record is a random variable; what bounds its tail depends on what is known
before, on the law that the outcome is drawn from, and on which record is targeted. `delta(...)` of a class bounds

    P(ratio >= e^epsilon), the outcome drawn as the class says,

and is 1, or e^-epsilon, outside the domain of the printed formulas, where those are false.

The four numbers called delta at one epsilon have distinct names and types (Kifer et al. 2022):

    approximate  sup_S P(S) - e^eps Q(S)          the delta of (eps, delta)-privacy
    tail         P(L > eps)                       "probabilistic" privacy; post-processing raises it
    pbdp         sup over processings of the tail  the delta of an f-DP curve read at eps
    concentrated e^(-(eps - rho)^2/(4 rho))        what rho-concentrated privacy implies for pbdp

In this order each is at most the next. None of them is "the probability that privacy fails".
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

import attrs
from dpspec_divergences.losses import pbdp_delta
from flint import arb, ctx

from dpspec.plugin import Bracket, Number, ParameterError, errors, exact, laws, number

_BITS = 160


class Knowledge:
    """One class of knowledge: the prior on the others, the law of the outcome, and the record."""

    letter: ClassVar[str]
    others: ClassVar[str]
    drawn: ClassVar[str]
    record: ClassVar[str]
    theorem: ClassVar[str]

    @classmethod
    def assumption(cls) -> str:
        """What a bound of the class needs, in words."""
        return f"class {cls.letter}: {cls.others}; the outcome is drawn {cls.drawn}; {cls.record}"

    @classmethod
    def concentrated(cls, rho: exact.NumberLike, epsilon: exact.NumberLike) -> Bracket:  # noqa: ARG003 - for the classes that have none
        """The printed tail bound of rho-concentrated privacy.

        Raises:
            ParameterError: when the class has none.
        """
        raise ParameterError("class", f"{cls.letter} has no tail bound for concentrated privacy", "use class b or d")

    @classmethod
    def renyi(cls, order: exact.NumberLike, gamma: exact.NumberLike, epsilon: exact.NumberLike) -> Bracket:  # noqa: ARG003 - as above
        """The printed tail bound of (order, gamma) Renyi privacy.

        Raises:
            ParameterError: when the class has none.
        """
        raise ParameterError("class", f"{cls.letter} has no tail bound for Renyi privacy", "use class b or d")


class WorstCase(Knowledge):
    """Class a: any prior, even a wrong one, and every outcome; only pure privacy says something (Kifer et al. 2022)."""

    letter = "a"
    others = "any prior, right or wrong"
    drawn = "in any way"
    record = "any record of positive prior probability"
    theorem = "Kifer et al. 2022, Section 7.3"


class OthersKnownPredicted(Knowledge):
    """Class b: the others are known, the outcome follows the attacker's prediction (Kifer et al. 2022, Section 7.4.1)."""

    letter = "b"
    others = "every other record is known, and the prior on the target's is right"
    drawn = "as the attacker predicts"
    record = "any record fixed beforehand"
    theorem = "Kifer et al. 2022, Section 7.4.1"

    @classmethod
    def concentrated(cls, rho: exact.NumberLike, epsilon: exact.NumberLike) -> Bracket:
        """e^(-(epsilon + rho)^2/(4 rho)) for epsilon > rho, else e^-epsilon.

        >>> OthersKnownPredicted.concentrated("2.63", 5).upper.decimal()
        '0.00395045'
        >>> OthersKnownPredicted.concentrated("2.63", 1).upper.decimal()
        '0.367879'
        """
        r, e = _read(rho, epsilon)
        if e > r:
            return _exponential(lambda x, y: -((x + y) ** 2) / (4 * y), e, r)
        return _exponential(lambda x, _: -x, e, r)

    @classmethod
    def renyi(cls, order: exact.NumberLike, gamma: exact.NumberLike, epsilon: exact.NumberLike) -> Bracket:
        """min(e^(-order epsilon + (order - 1) gamma), e^-epsilon)."""
        a, (g, e) = _order(order), _read(gamma, epsilon)
        printed = _exponential(lambda x, y: -a * x + (a - 1) * y, e, g)
        plain = _exponential(lambda x, _: -x, e, g)
        return printed if printed.upper <= plain.upper else plain


class OthersKnownTrueRecord(Knowledge):
    """Class c: the others are known, the outcome follows the true record, which is the target (Kifer et al. 2022)."""

    letter = "c"
    others = "every other record is known"
    drawn = "from the release of the true data"
    record = "the true record"
    theorem = "Kifer et al. 2022, Theorem 3 of Section 7.4.1"


class AnyPriorTrueRecord(Knowledge):
    """Class d: any correct prior, dependence included; the outcome follows the true record (Kifer et al. 2022, Section 7.4.2)."""

    letter = "d"
    others = "any prior, dependent records too, as long as it is right"
    drawn = "from the release of data drawn from the prior given the true record"
    record = "the true record"
    theorem = "Kifer et al. 2022, Section 7.4.2"

    @classmethod
    def concentrated(cls, rho: exact.NumberLike, epsilon: exact.NumberLike) -> Bracket:
        """e^(-(epsilon - rho)^2/(4 rho)) for epsilon > rho, else 1.

        >>> AnyPriorTrueRecord.concentrated("0.1115", 1).upper.decimal()
        '0.170328'
        """
        r, e = _read(rho, epsilon)
        if e <= r:
            return Bracket.exactly(1)
        return _exponential(lambda x, y: -((x - y) ** 2) / (4 * y), e, r)

    @classmethod
    def renyi(cls, order: exact.NumberLike, gamma: exact.NumberLike, epsilon: exact.NumberLike) -> Bracket:
        """e^((order - 1)(gamma - epsilon)) for epsilon > gamma, else 1."""
        a, (g, e) = _order(order), _read(gamma, epsilon)
        if e <= g:
            return Bracket.exactly(1)
        return _exponential(lambda x, y: (a - 1) * (y - x), e, g)


class FrequentistPair(Knowledge):
    """Class e: two candidate datasets, tested against each other; a power, no posterior (Kifer et al. 2022, Section 6)."""

    letter = "e"
    others = "every other record is known, and two candidates for the target's"
    drawn = "from one of the two"
    record = "one against the other"
    theorem = "Kifer et al. 2022, Theorems 6.1 to 6.3 and Section 6.3"


class FrequentistCompound(Knowledge):
    """Class f: the others are drawn from a known law; a power, no posterior (Kifer et al. 2022, Section 6.4)."""

    letter = "f"
    others = "a law of the other records is known"
    drawn = "from data with one of two candidates"
    record = "one against the other"
    theorem = "Kifer et al. 2022, Section 6.4"


class AttributesOnly(Knowledge):
    """Class g: as another class, but only some attributes of the record are secret (Kifer et al. 2022, Section 8)."""

    letter = "g"
    others = "as in another class, and every attribute but the secret ones is known"
    drawn = "as there"
    record = "records that differ in the secret attributes alone"
    theorem = "Kifer et al. 2022, Section 8"


CLASSES: tuple[type[Knowledge], ...] = (
    WorstCase, OthersKnownPredicted, OthersKnownTrueRecord, AnyPriorTrueRecord, FrequentistPair, FrequentistCompound,
    AttributesOnly,
)  # fmt: skip


def _read(size: exact.NumberLike, epsilon: exact.NumberLike) -> tuple[Number, Number]:
    budget, loss = number(size, "budget"), number(epsilon, "epsilon")
    if not budget > 0 or budget.is_infinite:
        raise ParameterError("budget", "must be positive and finite", value=str(budget))
    if loss < 0 or loss.is_infinite:
        raise ParameterError("epsilon", "must be finite and at least 0", value=str(loss))
    return budget, loss


def _order(order: exact.NumberLike) -> arb:
    read = number(order, "order")
    if not read > 1:
        raise ParameterError("order", "must be above 1", value=str(read))
    return read.enclose(_BITS)


def _exponential(exponent: Callable[[arb, arb], arb], epsilon: Number, size: Number) -> Bracket:
    with ctx.workprec(_BITS):
        return Bracket.around(exponent(epsilon.enclose(_BITS), size.enclose(_BITS)).exp(), least=0)


# --- the four deltas ------------------------------------------------------------------------------


_DELTA_BITS = 128


@attrs.frozen(kw_only=True, order=False)
class Delta:
    """A delta of one kind; only deltas of one kind at one epsilon can be compared.

    Args:
        epsilon: the privacy loss that it belongs to.
        value: the probability.
    """

    epsilon: Number
    value: Bracket

    def __le__(self, other: Any) -> bool:
        """Whether it is certainly at most the other one.

        Raises:
            ParameterError: for a delta of another kind or at another epsilon.
        """
        if type(other) is not type(self) or other.epsilon != self.epsilon:
            rule = f"cannot be compared with {type(other).__name__}"
            raise ParameterError(type(self).__name__, rule, "compare the values, if the order of the four deltas is meant")
        return self.value.upper <= other.value.lower


class ApproximateDelta(Delta):
    """sup over events of P(S) - e^epsilon Q(S)."""


class TailDelta(Delta):
    """P(L > epsilon)."""


class PbdpDelta(Delta):
    """The largest tail that processing of the output can give: the delta of `pbdp`."""


class ConcentratedDelta(Delta):
    """The delta of `pbdp` that concentrated privacy implies; a bound, and not the least one."""


def approximate(pair: laws.Dichotomy, epsilon: exact.NumberLike) -> ApproximateDelta:
    """The delta of approximate privacy, of the larger order of the pair."""
    loss = number(epsilon, "epsilon")
    return ApproximateDelta(epsilon=loss, value=pair.hockey_stick(loss) | pair.reverse().hockey_stick(loss))


def tail(pair: laws.Dichotomy, epsilon: exact.NumberLike) -> TailDelta:
    """The raw tail of the privacy loss, of the larger order of the pair."""
    loss = number(epsilon, "epsilon")
    return TailDelta(epsilon=loss, value=laws.PrivacyLoss(pair).above(loss) | laws.PrivacyLoss(pair.reverse()).above(loss))


def pbdp(pair: laws.Dichotomy, epsilon: exact.NumberLike) -> PbdpDelta:
    """The delta of pbdp: exact for finite laws, enclosed for two Gaussians of one variance.

    Raises:
        NoFormulaError: for other laws.

    >>> from dpspec.plugin import number
    >>> from dpspec.plugin import laws
    >>> pbdp(laws.GaussianShift(number("5.26")), 5).value.upper.decimal()
    '0.269126'
    """
    loss = number(epsilon, "epsilon")
    if loss <= 0:
        raise ParameterError("epsilon", "must be above 0", "pbdp is not defined at 0", value=str(loss))
    if laws.growth_of(pair).is_gaussian:
        return PbdpDelta(epsilon=loss, value=_gaussian(pair.concentration(), loss))
    if laws.exact_atoms_of(pair) is None:
        raise errors.NoFormulaError(type(pair).__name__, "has no finite list of rational probabilities", "ask for the tail")
    return PbdpDelta(epsilon=loss, value=pbdp_delta(pair, loss))


def concentrated(rho: exact.NumberLike, epsilon: exact.NumberLike) -> ConcentratedDelta:
    """What rho-concentrated privacy implies; 1 for epsilon <= rho (Kifer et al. 2022, Section 5.3)."""
    return ConcentratedDelta(epsilon=number(epsilon, "epsilon"), value=AnyPriorTrueRecord.concentrated(rho, epsilon))


def _gaussian(rho: Bracket, epsilon: Number) -> Bracket:
    """Phi(mu - z) where ln Phi(mu - z) - ln Phi(-z) = epsilon; the left side grows with z (Kifer et al. 2022)."""
    with ctx.workprec(_DELTA_BITS):
        mu, loss = (2 * rho.lower.enclose(_DELTA_BITS)).sqrt(), epsilon.enclose(_DELTA_BITS)
        low, high = Fraction(-64), Fraction(64)
        while high - low > Fraction(1, 1 << (_DELTA_BITS // 2)):
            z = number((low + high) / 2).enclose(_DELTA_BITS)
            excess = laws.normal_cdf(mu - z).log() - laws.normal_cdf(-z).log() - loss
            if excess > 0:
                high = (low + high) / 2
            elif excess < 0:
                low = (low + high) / 2
            else:
                break
        ends = number(low).enclose(_DELTA_BITS).union(number(high).enclose(_DELTA_BITS))
        return Bracket.around(laws.normal_cdf(mu - ends), least=0)
