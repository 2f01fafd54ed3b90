"""f-divergences of two Gaussians mu apart: in closed form for four generators, by quadrature for the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, cast

from flint import arb

from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.exact import Bracket, Number
from dpspec.params import define
from dpspec_divergences.f_divergence import FDivergence
from dpspec_divergences.solving import WORKING, enclosed
from dpspec_divergences.worst_pairs import WorstPair

CLOSED: dict[str, Callable[[arb], arb]] = {
    "kl": lambda mu: mu**2 / 2,
    "chi-squared": lambda mu: (mu**2).expm1(),
    "hellinger": lambda mu: -(-(mu**2) / 8).expm1(),
    "total-variation": lambda mu: (mu / arb(8).sqrt()).erf(),
}
"""By generator; a Gaussian pair looks the same in both directions."""


@define
class GaussianToF(WorstPair):
    """The f-divergence of two unit Gaussians mu apart, the worst pair of Gaussian privacy; attained by Gaussian noise.

    kl: mu^2/2. chi-squared: e^(mu^2) - 1. hellinger: 1 - e^(-mu^2/8). total-variation: 2 Phi(mu/2) - 1. Others by quadrature.

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import GaussianTradeOff
    >>> target = FDivergence(generator="hellinger", direction="both")
    >>> GaussianToF().convert(GaussianTradeOff(), number(2), target).upper.decimal()
    '0.393469'
    """

    name: ClassVar[str] = "gaussian-to-f-divergence"
    citation: ClassVar[str] = "Dong, Roth and Su 2022, Corollary 2.13"
    source: ClassVar[str] = "gaussian-trade-off"
    target: ClassVar[str] = "f-divergence"
    formula: ClassVar[str] = "kl: mu^2/2; chi-squared: e^(mu^2) - 1; hellinger: 1 - e^(-mu^2/8); total-variation: 2 Phi(mu/2) - 1"
    sense: ClassVar[str] = "attained by Gaussian noise"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        closed = CLOSED.get(cast("FDivergence", target).generator)
        if closed is None or value.is_infinite:
            return super().convert(source, value, target)
        return enclosed(lambda: closed(value.enclose(WORKING)))
