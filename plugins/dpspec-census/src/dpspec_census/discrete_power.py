"""The power of the best test of many discrete Gaussian releases together, enclosed.

The power at level a is the least H(t) + t a over t >= 0, H(t) = sup over events S of Q(S) - t P(S): a convex function of t. Three
points around the least value, taken from the Gaussian formula, enclose it: no value is below the lines through two of them.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb, ctx

from dpspec.errors import NumericalError
from dpspec.exact import Bracket, ball, dyadic, number
from dpspec.laws.dichotomy import Dichotomy

_STEP = Fraction(1, 512)
_DOUBLINGS = 8


def composed_power(pair: Dichotomy, rho: Fraction, level: Fraction) -> Bracket:
    """The power of the best test at a level, for a composed pair of zCDP budget rho.

    Args:
        pair: (P, Q), P the hypothesis.
        rho: of the pair; only where to look for the least value depends on it.
        level: in (0, 1).

    Raises:
        NumericalError: when three points do not show where the least value lies.
    """
    with ctx.workprec(128):
        mu = ball(2 * rho).sqrt()
        quantile = -arb(2).sqrt() * (2 * ball(level) - 1).erfinv()
        centre = dyadic((mu * quantile - mu**2 / 2).mid())
        step = _STEP
        for _ in range(_DOUBLINGS):
            values = [_value(pair, centre + step * i, level) for i in (-1, 0, 1)]
            if values[0][1] >= values[1][1] and values[2][1] >= values[1][1]:
                return _between(values)
            step *= 2
    raise NumericalError(
        "power", "is not enclosed by three likelihood ratios around the Gaussian one", "compare with the Gaussian power"
    )


def _value(pair: Dichotomy, epsilon: Fraction, level: Fraction) -> tuple[arb, arb]:
    """t = e^epsilon and H(t) + t a."""
    t = ball(epsilon).exp()
    stick = pair.reverse().hockey_stick(number(epsilon))
    return t, stick.lower.enclose(128).union(stick.upper.enclose(128)) + t * ball(level)


def _between(values: list[tuple[arb, arb]]) -> Bracket:
    (a, low), (b, middle), (c, high) = values
    right = middle.lower() - (low.upper() - middle.lower()) / (b - a) * (c - b)
    left = middle.lower() - (high.upper() - middle.lower()) / (c - b) * (b - a)
    return Bracket.around(right.min(left).lower().union(middle.upper()), least=0)
