"""Trade-off functions: how small the errors of a test between two laws can be, exactly.

    T(P, Q)(a) = the least 1 - Q(S) over all tests S (randomised ones too) with P(S) <= a,

the smallest error of the second kind at level a. It is convex, non-increasing and at most 1 - a, which it reaches for P = Q
alone. Of two laws with finitely many rational atoms it is piecewise linear with rational knots (Neyman and Pearson), as is every
curve here. Larger is more private: T(P, Q) >= f is what f-differential privacy asks (Dong, Roth and Su 2022).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache

import attrs
from flint import arb, ctx

from dpspec.errors import NoRouteError, ParameterError
from dpspec.exact import ZERO, Bracket, NumberLike, ball, largest, rational
from dpspec.laws.dichotomy import INFINITE, Dichotomy

Knot = tuple[Fraction, Fraction]
_END = Fraction(1), Fraction(0)


def _corners(knots: Iterable[Sequence[NumberLike]]) -> tuple[Knot, ...]:
    """The curve through some points as its corners: the lowest value at every level, and none on a straight line."""
    lowest: dict[Fraction, Fraction] = {}
    for knot in knots:
        if len(knot) != 2:
            raise ParameterError("knots", "must be pairs (level, error)", value=len(knot))
        level, error = (value if isinstance(value, Fraction) else rational(value, "knot") for value in knot)
        lowest[level] = min(error, lowest.get(level, error))
    points = sorted(lowest.items())
    if len(points) < 2 or points[0][0] != 0 or points[0][1] > 1 or points[-1] != _END:
        rule = "must start at level 0 with a value of at most 1, and end in (1, 0)"
        raise ParameterError("knots", rule, "give pairs (level, error), as in (0, 1), (1/4, 1/4), (1, 0)", value=_text(points))
    turns = [_turn(*three) for three in zip(points, points[1:], points[2:], strict=False)]
    if any(turn < 0 for turn in turns) or any(error < 0 for _, error in points):
        rule = "must lie on a convex curve that is nowhere below 0"
        raise ParameterError("knots", rule, "mixing two tests gives all errors on the line between them", value=_text(points))
    return (points[0], *(point for point, turn in zip(points[1:], turns, strict=False) if turn), points[-1])


def _turn(one: Knot, two: Knot, three: Knot) -> Fraction:
    """Positive where the slope grows at the second point."""
    return (three[1] - two[1]) * (two[0] - one[0]) - (two[1] - one[1]) * (three[0] - two[0])


def _text(points: Sequence[Knot]) -> str:
    return ", ".join(f"({a}, {b})" for a, b in points)


@attrs.frozen
class TradeOff:
    """A piecewise linear trade-off function by its knots (level, error), from level 0 to level 1.

    Equal curves are equal objects: a point on a straight line is no knot.

    Raises:
        ParameterError: when the points are on no trade-off function.

    >>> from dpspec.laws.atoms import FiniteDichotomy
    >>> curve = TradeOff.of(FiniteDichotomy((3, 1), (1, 3), 4, 4))
    >>> str(curve), str(curve.at("1/8")), curve == TradeOff.approximate(3), curve >= TradeOff.approximate(2)
    ('(0, 1), (1/4, 1/4), (1, 0)', '5/8', True, False)
    """

    knots: tuple[Knot, ...] = attrs.field(converter=_corners)

    # -- making one -------------------------------------------------------------------------------

    @classmethod
    def of(cls, pair: Dichotomy) -> TradeOff:
        """T(P, Q) of two laws with finitely many rational atoms, in the order of their likelihood ratio.

        Raises:
            NoRouteError: when the pair has other atoms.
        """
        atoms = pair.exact_atoms()
        if atoms is None:
            rule = "has no finite list of rational probabilities, so that no exact trade-off function is known"
            raise NoRouteError(type(pair).__name__, rule, "use laws with finitely many rational probabilities")
        level, error = Fraction(0), Fraction(1)
        points = [(level, error)]
        for p, q in reversed(atoms):  # the likeliest under Q first
            level, error = level + p, error - q
            points.append((level, error))
        return cls(points)

    @classmethod
    def approximate(cls, ratio: Fraction | int, delta: Fraction | int = 0) -> TradeOff:
        """max(0, 1 - delta - r a, (1 - delta - a)/r): what (ln r, delta)-privacy allows, for r >= 1 (Wasserman and Zhou 2010).

        >>> str(TradeOff.approximate(3, Fraction(1, 5)))
        '(0, 4/5), (1/5, 1/5), (4/5, 0), (1, 0)'
        """
        rest = Fraction(1 - delta)
        corner = rest / (1 + ratio)
        return cls([(Fraction(0), rest), (corner, corner), (rest, Fraction(0)), (Fraction(1), Fraction(0))])

    # -- reading it -------------------------------------------------------------------------------

    def at(self, level: NumberLike) -> Fraction:
        """The least error of the second kind at a level in [0, 1]."""
        place = rational(level, "level")
        right = bisect_left(self.knots, place, key=lambda knot: knot[0])
        if not 0 <= place <= 1:
            raise ParameterError("level", "must be in [0, 1]", value=level)
        (b, after) = self.knots[right]
        if b == place:
            return after
        a, before = self.knots[right - 1]
        return before + (after - before) * (place - a) / (b - a)

    def inverse(self) -> TradeOff:
        """a -> the least level at which the error is at most a: the trade-off function of the pair in the other order.

        >>> str(TradeOff([(0, "1/2"), (1, 0)]).inverse())
        '(0, 1), (1/2, 0), (1, 0)'
        """
        return TradeOff([*((error, level) for level, error in self.knots), (Fraction(1), Fraction(0))])

    @property
    def is_symmetric(self) -> bool:
        """Whether it is its own inverse."""
        return self == self.inverse()

    @property
    def is_regular(self) -> bool:
        """Whether it starts in (0, 1): no outcome is possible under Q alone."""
        return self.knots[0][1] == 1

    @property
    def largest_ratio(self) -> Fraction | None:
        """The steepest fall, which is sup dQ/dP; None for infinity."""
        (_, start), (level, error) = self.knots[:2]
        return (start - error) / level if self.is_regular else None

    @property
    def advantage(self) -> Fraction:
        """sup over levels of 1 - a - T(a): the total variation distance."""
        return max(1 - level - error for level, error in self.knots)

    def __ge__(self, other: TradeOff) -> bool:
        """Whether it is nowhere below the other: between the knots of both the difference is linear."""
        return all(error >= other.at(level) for level, error in self.knots) and all(
            self.at(level) >= error for level, error in other.knots
        )

    def __le__(self, other: TradeOff) -> bool:
        return other >= self

    def least_mu(self, *, precision: int = 64) -> Bracket:
        """The least mu with T >= G_mu, G_mu(a) = Phi(Phi^-1(1 - a) - mu): how many standard deviations apart two Gaussians are
        that are no harder to tell apart.

        Between two knots T - G_mu is concave, so the knots decide: the largest Phi^-1(1 - a) - Phi^-1(T(a)).

        >>> TradeOff.approximate(3).least_mu().lower.decimal()
        '1.34898'
        """
        if not (self.is_regular and self.inverse().is_regular):
            return INFINITE
        return largest(_gap(knot, precision) for knot in self.knots[1:-1])

    # -- combining two ----------------------------------------------------------------------------

    def after(self, first: TradeOff) -> TradeOff:
        """a -> self(1 - first(a)), which T(P, R) is never below when T(P, Q) >= first and T(Q, R) >= self.

        >>> str(TradeOff.approximate(3).after(TradeOff.approximate(2)))
        '(0, 1), (1/8, 1/4), (1/3, 1/9), (1, 0)'
        """
        back = first.inverse()
        levels = {level for level, _ in first.knots} | {back.at(1 - level) for level, _ in self.knots}
        return TradeOff([(level, self.at(1 - first.at(level))) for level in levels])

    def group(self, size: int) -> TradeOff:
        """1 - (1 - f) composed with itself `size` times: what f-privacy leaves to a group of that size (Dong, Roth and Su 2022).

        It is more than the pure privacy of twice the epsilon leaves.

        >>> str(TradeOff.approximate(3).group(2)), TradeOff.approximate(3).group(2) >= TradeOff.approximate(9)
        ('(0, 1), (1/12, 1/4), (1/4, 1/12), (1, 0)', True)
        """
        return _group(self, size)

    def __str__(self) -> str:
        return _text(self.knots)


PERFECT = TradeOff([(0, 1), (1, 0)])
"""1 - a, the curve of two equal laws."""


@lru_cache(maxsize=1024)
def _group(curve: TradeOff, size: int) -> TradeOff:
    if size == 0:
        return PERFECT
    return curve.after(_group(curve, size - 1))


def _gap(knot: Knot, precision: int) -> Bracket:
    """Phi^-1(1 - a) - Phi^-1(b), of both errors above 0; at least 0 since a + b <= 1."""
    level, error = knot
    if level + error == 1:
        return Bracket.exactly(ZERO)
    with ctx.workprec(precision + 32 + level.denominator.bit_length() + error.denominator.bit_length()):
        total: arb = ball(1 - 2 * level).erfinv() + ball(1 - 2 * error).erfinv()
        return Bracket.around(arb(2).sqrt() * total, least=0)
