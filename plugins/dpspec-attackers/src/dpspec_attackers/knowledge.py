"""The classes of attacker knowledge a to g, and the tail bounds that hold in each, as types that cannot be confused (K-D26).

The posterior-to-posterior ratio of the target's record is a random variable; what bounds its tail depends on what is known
before, on the law that the outcome is drawn from, and on which record is looked at. `delta(...)` of a class bounds

    P(ratio >= e^epsilon), the outcome drawn as the class says,

and is 1, or e^-epsilon, outside the domain of the printed formulas, where those are false (K-S12, K-O61).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from flint import arb, ctx

from dpspec.errors import ParameterError
from dpspec.exact import Bracket, Number, NumberLike, number

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
    def concentrated(cls, rho: NumberLike, epsilon: NumberLike) -> Bracket:  # noqa: ARG003 - for the classes that have none
        """The printed tail bound of rho-concentrated privacy.

        Raises:
            ParameterError: when the class has none.
        """
        raise ParameterError("class", f"{cls.letter} has no tail bound for concentrated privacy", "use class b or d")

    @classmethod
    def renyi(cls, order: NumberLike, gamma: NumberLike, epsilon: NumberLike) -> Bracket:  # noqa: ARG003 - as above
        """The printed tail bound of (order, gamma) Renyi privacy.

        Raises:
            ParameterError: when the class has none.
        """
        raise ParameterError("class", f"{cls.letter} has no tail bound for Renyi privacy", "use class b or d")


class WorstCase(Knowledge):
    """Class a: any prior, even a wrong one, and every outcome; only pure privacy says something (K-T25)."""

    letter = "a"
    others = "any prior, right or wrong"
    drawn = "in any way"
    record = "any record of positive prior probability"
    theorem = "K-T25"


class OthersKnownPredicted(Knowledge):
    """Class b: the others are known, the outcome follows the attacker's prediction (K-T27)."""

    letter = "b"
    others = "every other record is known, and the prior on the target's is right"
    drawn = "as the attacker predicts"
    record = "any record fixed beforehand"
    theorem = "K-T27"

    @classmethod
    def concentrated(cls, rho: NumberLike, epsilon: NumberLike) -> Bracket:
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
    def renyi(cls, order: NumberLike, gamma: NumberLike, epsilon: NumberLike) -> Bracket:
        """min(e^(-order epsilon + (order - 1) gamma), e^-epsilon)."""
        a, (g, e) = _order(order), _read(gamma, epsilon)
        printed = _exponential(lambda x, y: -a * x + (a - 1) * y, e, g)
        plain = _exponential(lambda x, _: -x, e, g)
        return printed if printed.upper <= plain.upper else plain


class OthersKnownTrueRecord(Knowledge):
    """Class c: the others are known, the outcome follows the true record, which is the one looked at (K-T28)."""

    letter = "c"
    others = "every other record is known"
    drawn = "from the release of the true data"
    record = "the true record"
    theorem = "K-T28"


class AnyPriorTrueRecord(Knowledge):
    """Class d: any correct prior, dependence included; the outcome follows the true record (K-T29)."""

    letter = "d"
    others = "any prior, dependent records too, as long as it is right"
    drawn = "from the release of data drawn from the prior given the true record"
    record = "the true record"
    theorem = "K-T29"

    @classmethod
    def concentrated(cls, rho: NumberLike, epsilon: NumberLike) -> Bracket:
        """e^(-(epsilon - rho)^2/(4 rho)) for epsilon > rho, else 1.

        >>> AnyPriorTrueRecord.concentrated("0.1115", 1).upper.decimal()
        '0.170328'
        """
        r, e = _read(rho, epsilon)
        if e <= r:
            return Bracket.exactly(1)
        return _exponential(lambda x, y: -((x - y) ** 2) / (4 * y), e, r)

    @classmethod
    def renyi(cls, order: NumberLike, gamma: NumberLike, epsilon: NumberLike) -> Bracket:
        """e^((order - 1)(gamma - epsilon)) for epsilon > gamma, else 1."""
        a, (g, e) = _order(order), _read(gamma, epsilon)
        if e <= g:
            return Bracket.exactly(1)
        return _exponential(lambda x, y: (a - 1) * (y - x), e, g)


class FrequentistPair(Knowledge):
    """Class e: two candidate datasets, tested against each other; a power, no posterior (K-D22)."""

    letter = "e"
    others = "every other record is known, and two candidates for the target's"
    drawn = "from one of the two"
    record = "one against the other"
    theorem = "K-T17 to K-T20"


class FrequentistCompound(Knowledge):
    """Class f: the others are drawn from a known law; a power, no posterior (K-T22)."""

    letter = "f"
    others = "a law of the other records is known"
    drawn = "from data with one of two candidates"
    record = "one against the other"
    theorem = "K-T22"


class AttributesOnly(Knowledge):
    """Class g: as another class, but only some attributes of the record are secret (K-D29)."""

    letter = "g"
    others = "as in another class, and every attribute but the secret ones is known"
    drawn = "as there"
    record = "records that differ in the secret attributes alone"
    theorem = "K-D29"


CLASSES: tuple[type[Knowledge], ...] = (
    WorstCase, OthersKnownPredicted, OthersKnownTrueRecord, AnyPriorTrueRecord, FrequentistPair, FrequentistCompound,
    AttributesOnly,
)  # fmt: skip


def _read(size: NumberLike, epsilon: NumberLike) -> tuple[Number, Number]:
    budget, loss = number(size, "budget"), number(epsilon, "epsilon")
    if not budget > 0 or budget.is_infinite:
        raise ParameterError("budget", "must be positive and finite", value=str(budget))
    if loss < 0 or loss.is_infinite:
        raise ParameterError("epsilon", "must be finite and at least 0", value=str(loss))
    return budget, loss


def _order(order: NumberLike) -> arb:
    read = number(order, "order")
    if not read > 1:
        raise ParameterError("order", "must be above 1", value=str(read))
    return read.enclose(_BITS)


def _exponential(exponent: Callable[[arb, arb], arb], epsilon: Number, size: Number) -> Bracket:
    with ctx.workprec(_BITS):
        return Bracket.around(exponent(epsilon.enclose(_BITS), size.enclose(_BITS)).exp(), least=0)
