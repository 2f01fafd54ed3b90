"""The power of the best test of a composed pair: from a few points of its hockey-stick curve.

The power at a level a is the least value over t >= 0 of

    h(t) = H_{ln t}(Q || P) + t a,      H_{ln t}(Q || P) = sup over events S of Q(S) - t P(S),

a convex function (K-A3): every point bounds the power from above, and for three points a < b < c with h(b) the smallest no value
is below the line through a and b on [b, c], nor below that through b and c on [a, b].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from flint import arb, ctx

from dpspec.exact import Bracket, Number, ball, number
from dpspec.laws.dichotomy import Dichotomy

Point = tuple[arb, arb]
"""t, and h(t)."""

_FINEST = Fraction(1, 1 << 11)
"""How far apart, in ln t, the three points are at least; the bracket has a width of about its square."""
_SHRINK = 8
_TURNS = 48
_WIDER, _GROWTH = 6, 4
_FARTHEST = 64
"""The search starts at |ln t| of at most this."""
_BITS = 20
"""Places of the search are multiples of 2^-20."""


def power_by_slopes(pair: Dichotomy, level: Fraction, precision: int = 64) -> Bracket:
    """The power of the best test of P (the hypothesis) against Q (the alternative) at a level in (0, 1).

    The search begins where the least value of a Gaussian pair with the same Kullback-Leibler divergence lies. Where no three
    points are proved to lie around the least value, nothing is said from below but that no power is less than its level.

    >>> from dpspec.laws.powers import power
    >>> from dpspec.laws.shifts import LaplaceShift
    >>> found = power_by_slopes(power(LaplaceShift(number("1/10")), 100), Fraction(1, 20))
    >>> found.lower.decimal(4), found.upper.decimal(4)
    ('0.2542', '0.2542')
    """
    turned = pair.reverse()
    known: dict[Fraction, Point] = {}
    with ctx.workprec(precision + 64):
        room = ball(level)

        def point(place: Fraction) -> Point:
            if place not in known:
                t = ball(place).exp()
                stick = turned.hockey_stick(number(place), precision=precision)
                known[place] = t, stick.lower.enclose(ctx.prec).union(stick.upper.enclose(ctx.prec)) + t * room
            return known[place]

        place, width = _least(lambda place: float(point(place)[1].upper()), *_gaussian_place(turned, room, precision))
        least = number(level)
        for apart in (width * _GROWTH**turn for turn in range(_WIDER)):
            three = [point(place + way * apart) for way in (-1, 0, 1)]
            if three[0][1] >= three[1][1] and three[2][1] >= three[1][1]:
                least = max(least, _below(*three))
                break
        most = min(number(1), *(Bracket.around(value.upper(), least=0).upper for _, value in known.values()))
        return Bracket(lower=min(least, most), upper=most)


def _gaussian_place(turned: Dichotomy, level: arb, precision: int) -> tuple[Fraction, Fraction]:
    """About ln t for Gaussian laws whose alternative has the same mean loss mu^2/2, and a width in which to look around."""
    mean = turned.renyi(1, precision=precision).upper
    mu = math.sqrt(2 * min(float(mean), _FARTHEST)) if not mean.is_infinite else math.sqrt(2 * _FARTHEST)
    quantile = -float((arb(2).sqrt() * (2 * level - 1).erfinv()).mid())
    place = max(-_FARTHEST, min(_FARTHEST, mu * quantile - mu**2 / 2))
    return _rounded(place), max(_FINEST, _rounded(min(mu, 1) / _SHRINK))


def _least(value: Callable[[Fraction], float], place: Fraction, width: Fraction) -> tuple[Fraction, Fraction]:
    """About where a convex function is smallest, and how closely that is known: downhill in steps, then by parabolas."""
    for _ in range(_TURNS):
        left, middle, right = (value(place + way * width) for way in (-1, 0, 1))
        if left < middle or right < middle:
            place += -width if left < right else width
        elif width <= _FINEST:
            break
        else:
            bend = left - 2 * middle + right
            place += _rounded((left - right) / (2 * bend) * float(width)) if bend > 0 else 0
            width = max(_FINEST, width / _SHRINK)
    return place, width


def _below(left: Point, middle: Point, right: Point) -> Number:
    """A lower bound of a convex function whose value at the middle point is the smallest of the three."""
    (a, high), (b, least), (c, other) = left, middle, right
    after = least.lower() - (high.upper() - least.lower()) / (b - a) * (c - b)
    before = least.lower() - (other.upper() - least.lower()) / (c - b) * (b - a)
    return Bracket.around(after.min(before).lower(), least=0).lower


def _rounded(value: float) -> Fraction:
    return Fraction(round(value * (1 << _BITS)), 1 << _BITS)
