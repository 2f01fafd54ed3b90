"""Independent composition on a grid: privacy losses spread to grid points, convolved by FFT, with two proved bounds.

**From above.** A loss in [a, b], a and b on the grid, becomes b with probability (1 - e^(a-loss)) / (1 - e^(a-b)), else a. That
keeps the masses of P and of Q, so the new pair can simulate the old one and its hockey stick G is at least H
("connect the dots"). The move D has E_P e^(-D) = 1 for every outcome, so that G - H is of second order.

**From below.** Let U = S + D be the composed losses, v = sum w_i^2 / 4 for moves within widths w_i, r = sqrt(v) <= 1/16,
theta = 1/(2r). Given S, the variance of e^(-D) is at most e^v - 1 and E e^(uD) <= e^((u + u^2) v/2) (Bhatia-Davis, Hoeffding); by
Scarf's and Chernoff's inequalities the curves differ by at most A r e^(-theta |S - eps|), A = 17/33, given S. Twice by parts,

    E e^(-theta |S - eps|) = -2 theta H(eps) + a nonnegative functional of H,

and H <= G turns this into the same expression of U plus 2 theta (G - H)(eps). Solved for the gap:

    0 <= G(eps) - H(eps) <= 17/16 r E_P e^(-theta |U - eps|)    which is about 17/4 v times the density of U at eps.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from fractions import Fraction

import attrs
from flint import arb, ctx

from dpspec.exact import ball, dyadic
from dpspec.laws.pieces import UNIT, Lattice, LossPieces
from dpspec.laws.spread import Spread
from dpspec.laws.tilted import Tilted

Factor = tuple[LossPieces, int]
"""The loss of a pair, and how often it is released."""


@attrs.frozen(eq=False)
class GridLoss:
    """A composed loss: independent losses on one grid, displaced by `offset`.

    Args:
        spreads: the different factors.
        step: the distance of grid points.
        size: how many points are looked at, a power of two.
        offset: what is added to every point.
        variance: v above, at most 1/256.
        drift: how far the sum of the losses may be from what the doubles say, besides.
        rest, singular: bounds of the P-mass outside, above and below.
    """

    spreads: tuple[Spread, ...]
    step: float
    size: int
    offset: Fraction
    variance: float
    drift: float
    rest: Fraction
    singular: Fraction

    @classmethod
    def of(cls, factors: Sequence[Factor], step: float, size: int) -> GridLoss:
        """The composition of the losses, each as often as it says, on the multiples of a power of two."""
        found = [Spread.of(pieces, step, times) for pieces, times in factors]
        variance = sum(spread.times * width**2 / 4 for spread, width in found)
        return cls._around(
            factors,
            [spread for spread, _ in found],
            step=step,
            size=size,
            offset=Fraction(0),
            variance=variance * (1 + 2.0**-20),
        )

    @classmethod
    def on_lattice(cls, factors: Sequence[tuple[LossPieces, int, Lattice]], size: int) -> GridLoss:
        """The same for losses that lie on lattices of one spacing: nothing is moved."""
        spreads = [Spread.on(lattice, pieces, times) for pieces, times, lattice in factors]
        offset = sum((times * lattice.offset for _, times, lattice in factors), Fraction(0))
        step = float(factors[0][2].spacing)
        plain = [(pieces, times) for pieces, times, _ in factors]
        return cls._around(plain, spreads, step=step, size=size, offset=offset, variance=0.0)

    @classmethod
    def _around(
        cls, factors: Sequence[Factor], spreads: Sequence[Spread], *, step: float, size: int, offset: Fraction, variance: float
    ) -> GridLoss:
        return cls(
            tuple(spreads),
            step,
            size,
            offset,
            variance,
            sum(times * pieces.absolute for pieces, times in factors),
            _escaped([(pieces.rest, times) for pieces, times in factors], -1),
            _escaped([(pieces.singular, times) for pieces, times in factors], 1),
        )

    @functools.cached_property
    def _known_tilts(self) -> dict[float, Tilted]:
        return {}

    def tilted(self, tilt: float) -> Tilted:
        if tilt not in self._known_tilts:
            self._known_tilts[tilt] = Tilted.of(self.spreads, self.step, self.size, tilt)
        return self._known_tilts[tilt]

    def upper(self, epsilon: arb, tilt: float) -> Fraction:
        """An upper bound of the hockey stick at a ball of thresholds, from the law with this tilt."""
        return min(Fraction(1), self.tilted(tilt).gain(*self._threshold(epsilon))[1] + self.rest)

    def bounds(self, epsilon: arb, tilt: float) -> tuple[Fraction, Fraction]:
        """Both bounds of it."""
        law, (middle, drift) = self.tilted(tilt), self._threshold(epsilon)
        lower, upper = law.gain(middle, drift)
        lower = max(Fraction(0), lower - law.gap(middle + drift, self.variance))
        return lower + self.singular, min(Fraction(1), upper + self.rest)

    def _threshold(self, epsilon: arb) -> tuple[float, float]:
        """Where the grid is cut, and how far from there the threshold may be."""
        threshold = epsilon - ball(self.offset)
        middle = float(threshold.mid())
        radius = 2 * math.nextafter(float(threshold.rad()), math.inf)
        return middle, 2 * self.drift + radius + 8 * UNIT * (abs(middle) + self.size * self.step)


def _escaped(masses: Sequence[tuple[Fraction, int]], direction: int) -> Fraction:
    """1 - prod (1 - mass)^times, rounded down (1) or up (-1)."""
    with ctx.workprec(256):
        kept = arb(1)
        for mass, times in masses:
            kept *= (1 - ball(mass)) ** times
        escaped = (1 - kept).max(arb(0))
        return dyadic(escaped.lower() if direction > 0 else escaped.upper())
