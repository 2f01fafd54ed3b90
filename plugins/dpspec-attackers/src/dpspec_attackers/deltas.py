"""The four numbers called delta at one epsilon, by names and types that keep them apart (K-T4, K-T32, K-S5).

    approximate  sup_S P(S) - e^eps Q(S)          the delta of (eps, delta)-privacy
    tail         P(L > eps)                       "probabilistic" privacy; post-processing raises it
    pbdp         sup over processings of the tail  the delta of an f-DP curve read at eps
    concentrated e^(-(eps - rho)^2/(4 rho))        what rho-concentrated privacy implies for pbdp

In this order each is at most the next. None of them is "the probability that privacy fails".
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import attrs
from dpspec_divergences.losses import pbdp_delta
from flint import ctx

from dpspec.errors import NoRouteError, ParameterError
from dpspec.exact import Bracket, Number, NumberLike, number
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.loss import PrivacyLoss
from dpspec.laws.numeric import normal_cdf
from dpspec_attackers.knowledge import AnyPriorTrueRecord

_BITS = 128


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
            raise ParameterError(type(self).__name__, rule, "compare the values, if the order of K-T32 is meant")
        return self.value.upper <= other.value.lower


class ApproximateDelta(Delta):
    """sup over events of P(S) - e^epsilon Q(S)."""


class TailDelta(Delta):
    """P(L > epsilon)."""


class PbdpDelta(Delta):
    """The largest tail that processing of the output can give: the delta of `pbdp`."""


class ConcentratedDelta(Delta):
    """What concentrated privacy implies for the delta of `pbdp`; a bound, and not the least one."""


def approximate(pair: Dichotomy, epsilon: NumberLike) -> ApproximateDelta:
    """The delta of approximate privacy, of the larger order of the pair."""
    loss = number(epsilon, "epsilon")
    return ApproximateDelta(epsilon=loss, value=pair.hockey_stick(loss) | pair.reverse().hockey_stick(loss))


def tail(pair: Dichotomy, epsilon: NumberLike) -> TailDelta:
    """The raw tail of the privacy loss, of the larger order of the pair."""
    loss = number(epsilon, "epsilon")
    return TailDelta(epsilon=loss, value=PrivacyLoss(pair).above(loss) | PrivacyLoss(pair.reverse()).above(loss))


def pbdp(pair: Dichotomy, epsilon: NumberLike) -> PbdpDelta:
    """The delta of pbdp: exact for finite laws, enclosed for two Gaussians of one variance (K-A5).

    Raises:
        NoRouteError: for other laws.

    >>> from dpspec.exact import number
    >>> from dpspec.laws.shifts import GaussianShift
    >>> pbdp(GaussianShift(number("5.26")), 5).value.upper.decimal()
    '0.269126'
    """
    loss = number(epsilon, "epsilon")
    if loss <= 0:
        raise ParameterError("epsilon", "must be above 0", "pbdp is not defined at 0 (K-S8)", value=str(loss))
    if pair.is_gaussian:
        return PbdpDelta(epsilon=loss, value=_gaussian(pair.concentration(), loss))
    if pair.exact_atoms() is None:
        raise NoRouteError(type(pair).__name__, "has no finite list of rational probabilities", "ask for the tail")
    return PbdpDelta(epsilon=loss, value=pbdp_delta(pair, loss))


def concentrated(rho: NumberLike, epsilon: NumberLike) -> ConcentratedDelta:
    """What rho-concentrated privacy implies; 1 for epsilon <= rho (K-T13)."""
    return ConcentratedDelta(epsilon=number(epsilon, "epsilon"), value=AnyPriorTrueRecord.concentrated(rho, epsilon))


def _gaussian(rho: Bracket, epsilon: Number) -> Bracket:
    """Phi(mu - z) where ln Phi(mu - z) - ln Phi(-z) = epsilon; the left side grows with z (K-T12)."""
    with ctx.workprec(_BITS):
        mu, loss = (2 * rho.lower.enclose(_BITS)).sqrt(), epsilon.enclose(_BITS)
        low, high = Fraction(-64), Fraction(64)
        while high - low > Fraction(1, 1 << (_BITS // 2)):
            z = number((low + high) / 2).enclose(_BITS)
            excess = normal_cdf(mu - z).log() - normal_cdf(-z).log() - loss
            if excess > 0:
                high = (low + high) / 2
            elif excess < 0:
                low = (low + high) / 2
            else:
                break
        ends = number(low).enclose(_BITS).union(number(high).enclose(_BITS))
        return Bracket.around(normal_cdf(mu - ends), least=0)
