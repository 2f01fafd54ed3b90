"""Conversions for mechanisms of known noise: Gaussian, and discrete Gaussian."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar

from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.conversion import Conversion
from dpspec.errors import NoRouteError
from dpspec.exact import Bracket, Number
from dpspec.laws.integers import DiscreteGaussian
from dpspec.params import define
from dpspec_divergences.from_zcdp import delta_of, simple
from dpspec_divergences.trade_off import GaussianTradeOff

_SMALLEST = Fraction(1, 1000)
_LARGEST = 600
"""The profile is computed for rho from the first number on, while the epsilon of the simple formula is below the second."""


@define
class ZcdpToGaussian(Conversion):
    """mu = sqrt(2 rho), for Gaussian noise of the variance that rho was computed from: rho = mu^2/2, mu = sensitivity/sigma.

    From concentrated privacy alone no Gaussian trade-off function follows (K-section 6, K-S21).

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import DNor
    >>> str(ZcdpToGaussian().convert(DNor(), number("2.63"), GaussianTradeOff()))
    'sqrt(263/50)'
    """

    name: ClassVar[str] = "zcdp-to-gaussian"
    citation: ClassVar[str] = "K-T30, K-T12, K-D33"
    source: ClassVar[str] = "d-nor"
    target: ClassVar[str] = "gaussian-trade-off"
    formula: ClassVar[str] = "sqrt(2 rho)"
    tight: ClassVar[bool] = True
    sense: ClassVar[str] = "exact for this noise"
    mechanism: ClassVar[str | None] = "gaussian"
    needs: ClassVar[str] = "the mechanism adds Gaussian noise, and rho = sensitivity^2/(2 variance)"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        return None if value.is_infinite or value.root == 2 else Bracket.exactly((value * 2).sqrt())

    def targets(self, source: OutputDivergence, goal: OutputDivergence) -> Iterator[OutputDivergence]:
        yield GaussianTradeOff()


@define
class DiscreteGaussianProfile(Conversion):
    """The number of one count with discrete Gaussian noise of scale sigma^2 = 1/(2 rho), against the count that is larger by 1.

    One count alone: the sum of many is nearly Gaussian, and a count that moves by more than 1 is not covered (K-S21, K-S27).

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import DNor, MultDelta
    >>> DiscreteGaussianProfile().convert(DNor(), number("2.63"), MultDelta(delta="1e-10")).upper.decimal()
    '13.15'
    """

    name: ClassVar[str] = "zcdp-to-approximate-discrete-gaussian"
    citation: ClassVar[str] = "Canonne, Kamath and Steinke 2020, Theorem 7; K-D36, K-O58"
    source: ClassVar[str] = "d-nor"
    target: ClassVar[str] = "mult-delta"
    formula: ClassVar[str] = "epsilon with delta = P(L > epsilon) - e^epsilon P(-L' > epsilon), L = (1 - 2k) rho, k of the noise"
    tight: ClassVar[bool] = True
    sense: ClassVar[str] = "exact for this noise"
    mechanism: ClassVar[str | None] = "discrete-gaussian"
    needs: ClassVar[str] = "the mechanism adds discrete Gaussian noise of scale 1/(2 rho) to one count that changes by 1"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        most = simple(value, delta_of(target))
        if most is None or most.upper > _LARGEST or not value.is_rational or value < _SMALLEST:
            return None
        variance = 1 / (2 * value.as_fraction())
        try:
            return target.between(DiscreteGaussian(0, variance), DiscreteGaussian(1, variance))
        except NoRouteError:
            return None


KNOWN: tuple[type[Conversion], ...] = (ZcdpToGaussian, DiscreteGaussianProfile)
