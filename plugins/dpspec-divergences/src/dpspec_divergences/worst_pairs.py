"""Conversions by worst pairs: what a guarantee implies is what the least private pair of laws that it allows has.

Five standards have a pair (P*, Q*) that simulates every pair they allow (Blackwell): pure and approximate privacy the answers of
randomised response, with a failure of probability delta that gives everything away; a hockey stick and a total variation the same
pairs; a trade-off function the pair whose curve it is; Gaussian privacy two Gaussians. For a divergence d' with data processing

    sup { d'(P, Q) : d(P, Q) <= t } = d'(P*, Q*),

so that these conversions are tight: the worst pair is a mechanism that attains the number. Where e^epsilon is irrational, the
pair lies between two with rational atoms, and the number in a bracket.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import singledispatch
from typing import Any, ClassVar

from flint import ctx

from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.conversion import Conversion
from dpspec.errors import NoRouteError
from dpspec.exact import ZERO, Bracket, Number, dyadic
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.continuous import Gaussian
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.numeric import rational_exponential
from dpspec.laws.trade_off import TradeOff
from dpspec_divergences.losses import rounded
from dpspec_divergences.output import DNor, Mult, MultDelta, TotalVariation
from dpspec_divergences.trade_off import MOST_STEPS, GaussianTradeOff, HockeyStick, TradeOffSteps

Pairs = tuple[Dichotomy, Dichotomy]
"""Two pairs that the worst pair lies between; the same one twice when it is known exactly."""

LARGEST = 64
"""Up to this epsilon, or mu, a worst pair is written down."""
BITS = 96


def worst_curve(source: OutputDivergence, value: Number) -> tuple[TradeOff, TradeOff]:
    """The trade-off function that a guarantee allows, between one that is above it and one that is below it.

    Raises:
        NoRouteError: when the standard has no such curve with finitely many corners.

    >>> from dpspec.exact import ln
    >>> str(worst_curve(MultDelta(delta="1/5"), ln(3))[1])
    '(0, 4/5), (1/5, 1/5), (4/5, 0), (1, 0)'
    """
    above, below = (TradeOff.of(pair) for pair in worst_pairs(source, value))
    return above, below


@singledispatch
def worst_pairs(source: OutputDivergence, value: Number) -> Pairs:  # noqa: ARG001 - for standards without one
    """The worst pair that a budget of a standard allows on neighbours.

    Raises:
        NoRouteError: for standards without one, and for numbers too large to write it down.
    """
    raise NoRouteError(source.name, "has no single worst pair", "convert to a standard that has one")


@worst_pairs.register
def _(source: Mult, value: Number) -> Pairs:  # noqa: ARG001 - it has no parameter
    return _responses(value, (Fraction(0), Fraction(0)))


@worst_pairs.register
def _(source: MultDelta, value: Number) -> Pairs:
    return _responses(value, (source.delta, source.delta))


@worst_pairs.register
def _(source: HockeyStick, value: Number) -> Pairs:
    return _responses(source.epsilon, _around(value))


@worst_pairs.register
def _(source: TotalVariation, value: Number) -> Pairs:  # noqa: ARG001 - it has no parameter
    return _responses(ZERO, _around(value))


@worst_pairs.register
def _(source: TradeOffSteps, value: Number) -> Pairs:
    steps = MOST_STEPS + 1 if value.is_infinite else int(dyadic(value.enclose(BITS).lower()).__floor__())
    if steps > MOST_STEPS:
        raise NoRouteError(source.name, f"is composed at most {MOST_STEPS} times", "ask for fewer steps")
    curve = source.f.group(steps)
    corners = zip(curve.knots, curve.knots[1:], strict=False)
    atoms = [(c - a, b - d) for (a, b), (c, d) in corners]
    pair = FiniteDichotomy.of([*atoms, (Fraction(0), 1 - curve.knots[0][1])])
    return pair, pair


@worst_pairs.register
def _(source: GaussianTradeOff, value: Number) -> Pairs:
    if value.is_infinite or value > LARGEST:
        raise NoRouteError(source.name, f"is converted up to mu = {LARGEST}", "larger numbers promise nothing", value=value)
    if value.logs:
        low, high = _ends(value)
        return _gaussians(low * low), _gaussians(high * high)
    pair = _gaussians(value.squared().as_fraction())
    return pair, pair


def _gaussians(square: Fraction) -> Dichotomy:
    """N(0, 1/mu^2) against N(1, 1/mu^2), by mu^2."""
    if square == 0:
        return FiniteDichotomy((1,), (1,), 1, 1)
    return Gaussian(0, 1 / square).against(Gaussian(1, 1 / square))


def _responses(epsilon: Number, deltas: tuple[Fraction, Fraction]) -> Pairs:
    if epsilon.is_infinite:
        return _response(Fraction(1), Fraction(1)), _response(Fraction(1), Fraction(1))
    if epsilon > LARGEST:
        raise NoRouteError("epsilon", f"is converted up to {LARGEST}", "larger numbers promise next to nothing", value=epsilon)
    ratio = rational_exponential(epsilon)
    if ratio is not None:
        return _response(ratio, deltas[0]), _response(ratio, deltas[1])
    with ctx.workprec(BITS):
        enclosure = epsilon.enclose(BITS).exp()
    low, high = max(dyadic(enclosure.lower()), Fraction(1)), dyadic(enclosure.upper())
    return _response(low, deltas[0]), _response(high, deltas[1])


def _response(ratio: Fraction, delta: Fraction) -> Dichotomy:
    """Randomised response with odds `ratio`, except that with probability delta the data are given away."""
    heads = (1 - delta) * ratio / (1 + ratio)
    tails = (1 - delta) / (1 + ratio)
    zero = Fraction(0)
    return FiniteDichotomy.of([(heads, tails), (tails, heads), (delta, zero), (zero, delta)])


def _around(value: Number) -> tuple[Fraction, Fraction]:
    """A probability, or two that it lies between."""
    if value >= 1:
        return Fraction(1), Fraction(1)
    low, high = _ends(value)
    return max(low, Fraction(0)), min(high, Fraction(1))


def _ends(value: Number) -> tuple[Fraction, Fraction]:
    if value.is_rational:
        return value.as_fraction(), value.as_fraction()
    enclosure = value.enclose(BITS)
    return dyadic(enclosure.lower()), dyadic(enclosure.upper())


class WorstPair(Conversion):
    """The number of the worst pair of the source.

    >>> from dpspec.exact import number
    >>> approximate = WORST_PAIRS["gaussian-to-approximate"]()
    >>> approximate.convert(GaussianTradeOff(), number("sqrt(5.26)"), MultDelta(delta="1e-10")).upper.decimal()
    '16.742'
    """

    tight: ClassVar[bool] = True

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        try:
            low, high = worst_pairs(source, value)
            bottom = target.evaluate(low)
            top = bottom if high is low else target.evaluate(high)
        except NoRouteError:
            return None
        lower, upper = _stated(target, bottom.lower), _stated(target, top.upper)
        return Bracket(lower=lower, upper=upper) if lower == upper else rounded(lower, upper)


def _stated(target: OutputDivergence, constant: Number) -> Number:
    """The budget that a Lipschitz constant of the target is written as."""
    return constant.squared() if isinstance(target, DNor) else constant


_ATTAINED = {
    "pure": ("mult", "randomised response", "Kairouz, Oh and Viswanath 2015, Theorem 2.4; K-T17"),
    "approximate": (
        "mult-delta",
        "randomised response that gives everything away with probability delta",
        "Kairouz, Oh and Viswanath 2015, Theorem 2.4; K-T18",
    ),
    "hockey-stick": (
        "hockey-stick",
        "randomised response that gives everything away with probability delta",
        "Kairouz, Oh and Viswanath 2015, Theorem 2.4; K-T18",
    ),
    "total-variation": ("total-variation", "giving everything away with that probability, else nothing", "K-D34, K-T4"),
    "curve": ("trade-off", "the pair of laws with this curve", "Dong, Roth and Su 2022, Propositions 2.2 and 2.13; K-T10, K-T11"),
    "gaussian": (
        "gaussian-trade-off",
        "Gaussian noise",
        "Dong, Roth and Su 2022, Corollary 2.13; Balle and Wang 2018, Theorem 8; K-T12",
    ),
}
_NAMES = {
    "pure": "mult",
    "approximate": "mult-delta",
    "hockey-stick": "hockey-stick",
    "renyi": "renyi",
    "zcdp": "d-nor",
    "total-variation": "total-variation",
    "f-divergence": "f-divergence",
    "gaussian": "gaussian-trade-off",
    "curve": "trade-off",
    "pbdp": "pbdp",
}
_BOUNDED = ("approximate", "hockey-stick", "total-variation", "f-divergence", "pbdp")
"""The standards in which a guarantee that may fail has a finite number."""
_JOINED: dict[str, Iterable[str]] = {
    "pure": _NAMES,
    "approximate": (*_BOUNDED, "curve"),
    "hockey-stick": (*_BOUNDED, "curve"),
    "total-variation": (*_BOUNDED, "curve"),
    "curve": _NAMES,
    "gaussian": ("approximate", "hockey-stick", "total-variation", "pbdp", "renyi", "zcdp"),
}
_WORDS = {
    ("gaussian", "approximate"): "epsilon with delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)",
    ("gaussian", "hockey-stick"): "Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)",
    ("gaussian", "pbdp"): "ln delta - ln Phi(Phi^-1(delta) - mu)",
    ("gaussian", "total-variation"): "2 Phi(mu/2) - 1",
    ("gaussian", "renyi"): "alpha mu^2/2",
    ("gaussian", "zcdp"): "mu^2/2",
    ("pure", "total-variation"): "tanh(epsilon/2)",
    ("pure", "zcdp"): "epsilon tanh(epsilon/2)",
    ("pure", "gaussian"): "2 Phi^-1(e^epsilon/(1 + e^epsilon))",
    ("pure", "pbdp"): "ln delta - ln f^-1(1 - delta), f(x) = max(0, 1 - e^epsilon x, e^-epsilon (1 - x))",
    ("curve", "approximate"): "epsilon with delta = sup over x of 1 - f(x) - e^epsilon x",
    ("curve", "pbdp"): "ln(delta / f^-1(1 - delta))",
    ("total-variation", "pbdp"): "ln(delta / (delta - t)), infinite for delta <= t",
}
_SLOW = {("pure", "zcdp"), ("pure", "total-variation"), ("pure", "gaussian"), ("gaussian", "total-variation")}
"""Those whose constant f(t) has a falling f(t)/t.

tanh is concave, so that tanh(t/2)/t falls, which is (f(t)/t)^2 for f(t)^2 = t tanh(t/2), and f(t)/t for the total variation; so
is
2 Phi(t/2) - 1. And Phi^-1 of the logistic function is concave above 0, the tails of the logistic law being heavier than those
of the normal one (van Zwet 1964).
"""


def _made() -> Iterator[type[WorstPair]]:
    for start, ends in _JOINED.items():
        source, mechanism, citation = _ATTAINED[start]
        for end in ends:
            if end == start == "pure" or (end == start == "total-variation"):
                continue
            name = f"{start}-to-{end}"
            formula = _WORDS.get((start, end), f"{_NAMES[end]} of the worst pair, {mechanism}")
            members: dict[str, Any] = {
                "__doc__": f"Tight, from {source} to {_NAMES[end]}: {formula}. Attained by {mechanism} ({citation}).",
                "__module__": __name__,
                "name": name,
                "source": source,
                "target": _NAMES[end],
                "formula": formula,
                "citation": citation,
                "sense": f"attained by {mechanism}",
                "slows": (start, end) in _SLOW,
            }
            yield type("".join(map(str.capitalize, name.split("-"))), (WorstPair,), members)


WORST_PAIRS: dict[str, type[WorstPair]] = {cls.name: cls for cls in _made()}
"""The conversions by worst pairs, by name."""
