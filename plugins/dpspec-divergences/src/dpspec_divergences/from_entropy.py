"""Conversions from concentrated and Renyi privacy to f-divergences and total variation: classical inequalities."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar, cast

from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.conversion import Conversion
from dpspec.exact import Bracket, Number
from dpspec.params import define
from dpspec_divergences.f_divergence import FDivergence
from dpspec_divergences.from_zcdp import BUN_STEINKE
from dpspec_divergences.output import Renyi
from dpspec_divergences.solving import WORKING, enclosed


class ToF(Conversion):
    """Shared: to the f-divergences of one generator, in any direction."""

    target: ClassVar[str] = "f-divergence"
    generator: ClassVar[str]

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        fits = cast("FDivergence", target).generator == self.generator
        return self.bound(source, value) if fits and not value.is_infinite else None

    @abstractmethod
    def bound(self, source: OutputDivergence, value: Number) -> Bracket | None:
        """The formula, for a finite budget."""

    def targets(self, source: OutputDivergence, goal: OutputDivergence) -> Iterator[OutputDivergence]:
        if isinstance(goal, FDivergence) and goal.generator == self.generator:
            yield goal


@define
class ZcdpToKl(ToF):
    """D_KL <= rho: the Renyi divergence alpha rho in the limit alpha = 1.

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import DNor
    >>> str(ZcdpToKl().convert(DNor(), number("2.63"), FDivergence(generator="kl", direction="both")))
    '263/100'
    """

    name: ClassVar[str] = "zcdp-to-kl"
    citation: ClassVar[str] = f"{BUN_STEINKE}, Definition 1.1, at the limit of the orders"
    source: ClassVar[str] = "d-nor"
    generator: ClassVar[str] = "kl"
    formula: ClassVar[str] = "rho"
    tight: ClassVar[bool] = True
    sense: ClassVar[str] = "attained by Gaussian noise"

    def bound(self, source: OutputDivergence, value: Number) -> Bracket | None:
        return Bracket.exactly(value)


@define
class ZcdpToChiSquared(ToF):
    """chi-squared <= e^(2 rho) - 1, as D_2 = ln(1 + chi-squared) <= 2 rho.

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import DNor
    >>> target = FDivergence(generator="chi-squared", direction="both")
    >>> ZcdpToChiSquared().convert(DNor(), number("1/2"), target).upper.decimal()
    '1.71828'
    """

    name: ClassVar[str] = "zcdp-to-chi-squared"
    citation: ClassVar[str] = f"{BUN_STEINKE}, Definition 1.1, at alpha = 2"
    source: ClassVar[str] = "d-nor"
    generator: ClassVar[str] = "chi-squared"
    formula: ClassVar[str] = "e^(2 rho) - 1"
    tight: ClassVar[bool] = True
    sense: ClassVar[str] = "attained by Gaussian noise"

    def bound(self, source: OutputDivergence, value: Number) -> Bracket | None:
        return enclosed(lambda: (2 * value.enclose(WORKING)).expm1())  # noqa: PLW0108 - all of it at the working precision


@define
class ZcdpToHellinger(ToF):
    """The squared Hellinger distance is at most 1 - e^(-rho/2), as D_(1/2) = -2 ln(1 - H^2) <= D_1 <= rho.

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import DNor
    >>> target = FDivergence(generator="hellinger", direction="both")
    >>> ZcdpToHellinger().convert(DNor(), number(2), target).upper.decimal()
    '0.632121'
    """

    name: ClassVar[str] = "zcdp-to-hellinger"
    citation: ClassVar[str] = "van Erven and Harremoes 2014, Theorem 3: Renyi divergences grow with the order"
    source: ClassVar[str] = "d-nor"
    generator: ClassVar[str] = "hellinger"
    formula: ClassVar[str] = "1 - e^(-rho/2)"
    sense: ClassVar[str] = "order 1/2 is bounded by order 1; Gaussian noise has 1 - e^(-rho/4)"

    def bound(self, source: OutputDivergence, value: Number) -> Bracket | None:
        return enclosed(lambda: -(-value.enclose(WORKING) / 2).expm1())


def distance_from_entropy(entropy: Number) -> Bracket:
    """The smaller of sqrt(x/2) (Pinsker) and sqrt(1 - e^-x) (Bretagnolle and Huber): the largest total variation at D_KL = x."""
    if entropy.is_infinite:
        return Bracket.exactly(1)
    size = entropy.enclose(WORKING)
    return enclosed(lambda: (size / 2).sqrt().min((-(-size).expm1()).sqrt()))


@define
class ZcdpToTotalVariation(Conversion):
    """The total variation is at most sqrt(rho/2) (Pinsker) and sqrt(1 - e^-rho) (Bretagnolle and Huber), as D_KL <= rho.

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import DNor, TotalVariation
    >>> ZcdpToTotalVariation().convert(DNor(), number("2.63"), TotalVariation()).upper.decimal()
    '0.963287'
    """

    name: ClassVar[str] = "zcdp-to-total-variation"
    citation: ClassVar[str] = "Pinsker's inequality; Bretagnolle and Huber 1979"
    source: ClassVar[str] = "d-nor"
    target: ClassVar[str] = "total-variation"
    formula: ClassVar[str] = "min(sqrt(rho/2), sqrt(1 - e^-rho))"
    sense: ClassVar[str] = "uses the Kullback-Leibler divergence alone; Gaussian noise has 2 Phi(sqrt(rho/2)) - 1"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        return distance_from_entropy(value)


@define
class RenyiToKl(ToF):
    """D_KL = D_1 <= D_alpha <= gamma.

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import FDivergence
    >>> str(RenyiToKl().convert(Renyi(order=2), number(1), FDivergence(generator="kl", direction="both")))
    '1'
    """

    name: ClassVar[str] = "renyi-to-kl"
    citation: ClassVar[str] = "van Erven and Harremoes 2014, Theorem 3"
    source: ClassVar[str] = "renyi"
    generator: ClassVar[str] = "kl"
    formula: ClassVar[str] = "gamma"
    sense: ClassVar[str] = "equal only in the limit of a constant loss"

    def bound(self, source: OutputDivergence, value: Number) -> Bracket | None:
        return Bracket.exactly(value)


@define
class RenyiToChiSquared(ToF):
    """chi-squared = e^(D_2) - 1 <= e^gamma - 1, for orders of at least 2.

    >>> from dpspec.exact import ln
    >>> from dpspec_divergences import FDivergence
    >>> target = FDivergence(generator="chi-squared", direction="both")
    >>> RenyiToChiSquared().convert(Renyi(order=2), ln(3), target).upper.decimal()
    '2'
    """

    name: ClassVar[str] = "renyi-to-chi-squared"
    citation: ClassVar[str] = "van Erven and Harremoes 2014, equation 7"
    source: ClassVar[str] = "renyi"
    generator: ClassVar[str] = "chi-squared"
    formula: ClassVar[str] = "e^gamma - 1, for alpha >= 2"
    tight: ClassVar[bool] = True
    sense: ClassVar[str] = "at alpha = 2 the same statement: every mechanism attains it"

    def bound(self, source: OutputDivergence, value: Number) -> Bracket | None:
        if cast("Renyi", source).order < 2:
            return None
        return enclosed(lambda: value.enclose(WORKING).expm1())

    def attained(self, source: OutputDivergence, target: OutputDivergence) -> bool:
        return cast("Renyi", source).order == 2


@define
class RenyiToHellinger(ToF):
    """The squared Hellinger distance is at most 1 - e^(-gamma/2), as D_(1/2) = -2 ln(1 - H^2) <= D_alpha <= gamma.

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import FDivergence
    >>> target = FDivergence(generator="hellinger", direction="both")
    >>> RenyiToHellinger().convert(Renyi(order=2), number(2), target).upper.decimal()
    '0.632121'
    """

    name: ClassVar[str] = "renyi-to-hellinger"
    citation: ClassVar[str] = "van Erven and Harremoes 2014, Theorem 3"
    source: ClassVar[str] = "renyi"
    generator: ClassVar[str] = "hellinger"
    formula: ClassVar[str] = "1 - e^(-gamma/2)"
    sense: ClassVar[str] = "order 1/2 is bounded by the order at hand"

    def bound(self, source: OutputDivergence, value: Number) -> Bracket | None:
        return enclosed(lambda: -(-value.enclose(WORKING) / 2).expm1())


@define
class RenyiToTotalVariation(Conversion):
    """The total variation is at most sqrt(gamma/2) (Pinsker) and sqrt(1 - e^-gamma) (Bretagnolle and Huber).

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import TotalVariation
    >>> RenyiToTotalVariation().convert(Renyi(order=2), number("0.02"), TotalVariation()).upper.decimal()
    '0.1'
    """

    name: ClassVar[str] = "renyi-to-total-variation"
    citation: ClassVar[str] = "Pinsker's inequality; Bretagnolle and Huber 1979"
    source: ClassVar[str] = "renyi"
    target: ClassVar[str] = "total-variation"
    formula: ClassVar[str] = "min(sqrt(gamma/2), sqrt(1 - e^-gamma))"
    sense: ClassVar[str] = "uses the Kullback-Leibler divergence alone"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        return distance_from_entropy(value)


FROM_ENTROPY: tuple[type[Conversion], ...] = (
    ZcdpToKl, ZcdpToChiSquared, ZcdpToHellinger, ZcdpToTotalVariation, RenyiToKl, RenyiToChiSquared, RenyiToHellinger,
    RenyiToTotalVariation,
)  # fmt: skip
