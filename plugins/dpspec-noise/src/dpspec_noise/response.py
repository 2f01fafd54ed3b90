"""Randomised response: every person's bit is reported truthfully or flipped, independently (Warner 1965; Lecture notes 2025)."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar, cast

from dpspec_divergences import HammingOrdered, Mult

from dpspec.plugin import (
    BitVectors,
    Claim,
    Dataset,
    DatasetSpace,
    FiniteLaw,
    IncompatibleBlocksError,
    Law,
    Mechanism,
    Number,
    ParameterError,
    PrivacySpec,
    Rational,
    Trivial,
    UniformBudget,
    blocks,
    define,
    grammar,
    is_a,
    laws,
    ln,
)

if TYPE_CHECKING:
    from dpspec.plugin import Randomness, Table


class _Response(Mechanism):
    """What the two descriptions of randomised response share."""

    @abstractmethod
    def truth(self) -> Fraction:
        """The probability that one reported bit is the true one."""

    def check(self, space: DatasetSpace) -> None:
        if not is_a(space, BitVectors):
            raise IncompatibleBlocksError(
                f"mechanism {self.name}", "answers for one bit per unit", "use the space bit-vectors", value=space.name
            )

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """P(t) = p^agreements (1-p)^disagreements over all bit vectors t."""
        self.check(space)
        bits = cast("tuple[int, ...]", space.dataset(dataset))
        return laws.product([FiniteLaw.of({bit: self.truth(), 1 - bit: 1 - self.truth()}) for bit in bits])

    def reports(self, space: DatasetSpace) -> grammar.Structure:
        """Every bit is answered for by itself."""
        answers = [FiniteLaw.of({bit: self.truth(), 1 - bit: 1 - self.truth()}) for bit in (0, 1)]
        bit = blocks.Marginal(attributes=("bit",), unit=space.units[0])
        return grammar.Structure(views=(grammar.Report(bit, (answers[0], answers[1])),))

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """Each bit of the table, flipped with probability exactly 1 - p."""
        from dpspec_noise.samplers import rational_coins

        self.check(space)
        column = table.attribute("bit").name
        flips = rational_coins(source, 1 - self.truth(), len(table))
        return table.replace({column: table.codes[column] ^ flips})

    def keeps(self, columns: tuple[str, ...]) -> tuple[grammar.Kept, ...]:
        """The number of answers, and every other column, row by row."""
        return (grammar.Kept(attributes=tuple(name for name in columns if name != "bit"), in_order=True),)

    def estimate(self, fraction: Fraction) -> Fraction:
        """The share of ones behind an observed share of reported ones: (observed + p - 1)/(2p - 1) (Bailie et al. 2024)."""
        self._check_informative()
        return (fraction + self.truth() - 1) / (2 * self.truth() - 1)

    def expected(self, share: Fraction) -> Fraction:
        """The expected share of reported ones when the true share is `share`: p share + (1-p)(1-share) (Bailie et al. 2024)."""
        return self.truth() * share + (1 - self.truth()) * (1 - share)

    def variance(self, reported: Fraction, count: int) -> Fraction:
        """The variance of the estimate: reported (1 - reported) / (n (2p-1)^2), for n answers (Bailie et al. 2024)."""
        self._check_informative()
        return reported * (1 - reported) / (count * (2 * self.truth() - 1) ** 2)

    def variance_bound(self, count: int) -> Fraction:
        """An upper bound for every share: 1 / (16 n (p - 1/2)^2) (Bailie et al. 2024)."""
        self._check_informative()
        return 1 / (16 * count * (self.truth() - Fraction(1, 2)) ** 2)

    def _check_informative(self) -> None:
        if self.truth() == Fraction(1, 2):
            raise ParameterError("keep_probability", "of 1/2 reports pure noise, from which nothing can be estimated")

    def _claim(self, label: str, source: str, space: DatasetSpace, epsilon: Number) -> Claim:
        self.check(space)
        spec = PrivacySpec(
            space=space,
            multiverse=Trivial(),
            input_divergence=HammingOrdered(unit=space.units[0]),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=epsilon),
        )
        return Claim(label=label, source=source, spec=spec)


@define
class RandomisedResponse(_Response):
    """Warner's randomised response: each bit is reported with probability p and flipped otherwise (Warner 1965).

    P_x(t) = product over i of (p if t_i = x_i else 1 - p), which satisfies epsilon = |ln(p/(1-p))| per bit (Bailie et al. 2024).

    Args:
        keep_probability: p, in (0, 1).

    >>> mechanism = RandomisedResponse(keep_probability="3/4")
    >>> str(mechanism.law((1,), BitVectors(length=1)))
    'FiniteLaw({(1,): 3/4, (0,): 1/4})'
    >>> str(mechanism.claims(BitVectors(length=3))[0].spec.budget), str(mechanism.estimate(Fraction(9, 20)))
    ('epsilon = ln(3)', '2/5')
    """

    name: ClassVar[str] = "randomised-response"

    keep_probability: Annotated[Fraction, Rational(0, 1, open_low=True, open_high=True)]

    def truth(self) -> Fraction:
        return self.keep_probability

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        return self.reports(space)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """epsilon = logit(p), printed for p > 1/2; below that its absolute value."""
        p = self.keep_probability
        if p > Fraction(1, 2):
            return (
                self._claim(
                    "randomised response is logit(p)-DP", "Bailie et al. 2024, randomised response", space, ln(p / (1 - p))
                ),
            )
        return (
            self._claim(
                "randomised response is |logit(p)|-DP", "Bailie et al. 2024, randomised response", space, ln((1 - p) / p)
            ),
        )


@define
class LectureRandomisedResponse(_Response):
    """The two-coin version: the truth with probability 1/2, else "yes" or "no" with probability 1/4 each (Lecture notes 2025).

    The same law as `RandomisedResponse` with p = 3/4, and so epsilon = ln 3.

    >>> LectureRandomisedResponse().law((1,), BitVectors(length=1)).probability((0,))
    Fraction(1, 4)
    """

    name: ClassVar[str] = "lecture-randomised-response"

    def truth(self) -> Fraction:
        return Fraction(1, 2) + Fraction(1, 4)

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        return self.reports(space)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """ln(3)-DP, for one answer replaced (which is what its proof does)."""
        return (self._claim("lecture randomised response is ln(3)-DP", "Lecture notes 2025, randomised response", space, ln(3)),)
