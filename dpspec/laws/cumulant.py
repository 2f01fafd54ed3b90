"""The supremum over alpha > 1 of D_alpha / alpha, proved by branch and bound (Bun and Steinke 2016, Definition 1.1).

With s = alpha - 1 and the cumulant K(s) = ln E_P (dP/dQ)^s = s D_{1+s}(P || Q), the function to maximise is

    f(s) = K(s) / (s (1 + s)),      f(0) = K'(0) = the Kullback-Leibler divergence.

K is convex with K(0) = 0, so on a cell [a, b] it lies below its chord c s - d with d >= 0, and the maximum of
(c s - d) / (s (1 + s)) is known in closed form: a bound from thin evaluations alone, whose error is of second order in
b - a. Beyond the last cell D_alpha <= D_infinity makes f smaller than what has been found.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence

import attrs
from flint import arb, ctx

from dpspec.base.exact import Bracket, Number
from dpspec.base.memo import memoize
from dpspec.laws.numeric import hull, positive, spend_on_balls

_TERMS = 1 << 19
_FEWEST, _MOST = 256, 4096
"""The search stops after about _TERMS exponentials: between _FEWEST and _MOST evaluations of the cumulant."""
_WORK_OF_A_FORMULA = 16
"""A value takes so many exponentials in addition to those of its atoms, whether it has some or is known in closed form."""
_DERIVATIVES = 4
"""The four derivatives take about as long as so many values."""
_PIECES = 160
"""The largest number of pieces in the proof of monotony near the limit."""


Derivatives = tuple[arb, arb, arb, arb]


class Cumulant(ABC):
    """K(s) = ln E_P (dP/dQ)^s, at one working precision."""

    @property
    def size(self) -> int:
        """About how many exponentials one value takes."""
        return 1

    @abstractmethod
    def value(self, s: arb) -> arb:
        """K(s) for s > 0."""

    @abstractmethod
    def derivatives(self, s: arb) -> Derivatives:
        """Enclosures of the first four derivatives of K over the ball s."""

    def identity(self) -> Hashable | None:
        """A key that is equal for two cumulants only if all their values are the same balls; None where that is unknown."""
        return None


@attrs.frozen
class AtomSum(Cumulant):
    """K(s) = ln sum_i p_i e^(s l_i) over atoms of P-mass p_i and log-ratio l_i."""

    atoms: tuple[tuple[arb, arb], ...]

    @classmethod
    def of(cls, atoms: Iterable[tuple[arb, arb]]) -> AtomSum:
        return cls(tuple(atoms))

    @property
    def size(self) -> int:
        return len(self.atoms)

    def identity(self) -> Hashable | None:
        balls = [ball for atom in self.atoms for ball in atom]
        if not all(ball.is_finite() for ball in balls):
            return None
        # the middle and the radius are dyadic numbers, so this is the ball itself
        return tuple((*ball.mid().man_exp(), *ball.rad().man_exp()) for ball in balls)

    def value(self, s: arb) -> arb:
        total = arb(0)
        for p, log_ratio in self.atoms:
            total += p * (s * log_ratio).exp()
        return total.log()

    def derivatives(self, s: arb) -> Derivatives:
        moments = [arb(0)] * 5
        for p, log_ratio in self.atoms:
            term = p * (s * log_ratio).exp()
            for n in range(5):
                moments[n] += term
                term *= log_ratio
        first, second, third, fourth = (moment / moments[0] for moment in moments[1:])
        return (
            first,
            second - first**2,
            third - 3 * second * first + 2 * first**3,
            fourth - 4 * third * first - 3 * second**2 + 12 * second * first**2 - 6 * first**4,
        )


@attrs.frozen
class CumulantSum(Cumulant):
    """The cumulant of a product of independent factors."""

    parts: tuple[Cumulant, ...]

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts)

    def value(self, s: arb) -> arb:
        return sum((part.value(s) for part in self.parts), arb(0))

    def derivatives(self, s: arb) -> Derivatives:
        rows = [part.derivatives(s) for part in self.parts]
        first, second, third, fourth = (sum(column, arb(0)) for column in zip(*rows, strict=True))
        return first, second, third, fourth


def supremum(make: Callable[[int], Cumulant], *, top: Number, precision: int) -> Bracket | None:
    """sup over s > 0 of f(s), in a bracket of relative width about 2^(-precision/2).

    Args:
        make: the cumulant at a working precision in bits.
        top: a finite upper bound of ln(dP/dQ).
        precision: a larger one gives a narrower bracket.

    Returns:
        None when f is proved to stay below its limit f(0): the supremum is then the Kullback-Leibler divergence.
    """
    # For laws at distance eta the sign of f' is decided by terms of order eta^4.
    closeness = max(0, -math.frexp(float(top))[1])
    working = 2 * precision + 64 + 4 * closeness
    with ctx.workprec(working):
        cumulant = make(working)
        identity = cumulant.identity()
        if identity is None:
            return _CumulantSearch.start(cumulant, top.enclose(working), precision).run()
        return _searched(_Question(type(cumulant), identity, top, precision, cumulant))


def _form(value: Number) -> Hashable:
    """The form of an exact number: equal forms have the same enclosures."""
    return value.rational_part, value.logs, value.root, value.infinite


@attrs.frozen
class _Question:
    """The inputs of a search, its working precision included, which follows from the rest: many cells have equal laws."""

    kind: type[Cumulant]
    identity: Hashable
    top: Number = attrs.field(eq=_form)
    precision: int
    cumulant: Cumulant = attrs.field(eq=False)


@memoize(maxsize=256)
def _searched(asked: _Question) -> Bracket | None:
    return _CumulantSearch.start(asked.cumulant, asked.top.enclose(ctx.prec), asked.precision).run()


@attrs.define
class _Cell:
    left: arb
    left_value: arb
    right: arb
    right_value: arb

    def bound(self) -> arb:
        """An upper bound of f on the cell."""
        a, b = self.left, self.right
        slope = (self.right_value - self.left_value) / (b - a)
        if not slope > 0:
            return (self.right_value / (b * (1 + a))).upper()
        drop = positive(slope * a - self.left_value)
        peak = (drop + (drop * (drop + slope)).sqrt()) / slope
        if peak < a:
            return (self.left_value / (a * (1 + a))).upper()
        if peak > b:
            return (self.right_value / (b * (1 + b))).upper()
        return ((slope * peak - drop) / (peak * (1 + peak))).upper()


@attrs.define
class _CumulantSearch:
    cumulant: Cumulant
    top: arb
    tolerance: arb
    negligible: arb
    limit: arb
    best: arb
    ceiling: arb
    sign_at_limit: int
    first: arb
    evaluations: int = 0

    @classmethod
    def start(cls, cumulant: Cumulant, top: arb, precision: int) -> _CumulantSearch:
        limit = cumulant.derivatives(arb(0))[0]
        limit_of_reach = (1 / top).lower()
        reach = arb(1)  # the largest power of two that is at most 1/top
        while reach > limit_of_reach:
            reach /= 2
        while reach * 2 <= limit_of_reach:
            reach *= 2
        first, sign = _monotone_stretch(cumulant, reach)
        if sign == 0:
            first = first.min(arb(2) ** (-(precision // 2)))
        tolerance = arb(2) ** (-(precision // 2))
        negligible = arb(2) ** (-2 * precision) * top**2
        return cls(cumulant, top, tolerance, negligible, limit, limit.lower(), limit.upper(), sign, first)

    @property
    def limit_is_best(self) -> bool:
        return self.sign_at_limit < 0 and bool(self.best <= self.limit.upper())

    def value(self, s: arb) -> arb:
        """K(s); what it says about the supremum is recorded."""
        self.evaluations += 1
        spend_on_balls(_WORK_OF_A_FORMULA + self.cumulant.size)
        value = self.cumulant.value(s)
        ratio = value / (s * (1 + s))
        self.best = self.best.max(ratio.lower())
        return value

    def settled(self, bound: arb) -> bool:
        """Whether a cell with this bound needs no further division."""
        if bound <= self.negligible:
            # Balls around equal masses: the supremum may be 0, and then no relative width is ever reached.
            return True
        if self.limit_is_best:
            return bool(bound < self.limit.lower())
        return bool(bound <= self.best * (1 + self.tolerance))

    def run(self) -> Bracket | None:
        alive = self.cells()
        allowed = min(max(_TERMS // self.cumulant.size, _FEWEST), _MOST)
        rejected = arb(0)
        while alive and self.evaluations < allowed:
            pending = []
            for cell in alive:
                bound = cell.bound()
                if self.settled(bound):
                    rejected = rejected.max(bound)
                else:
                    pending.append(cell)
            alive = [half for cell in pending for half in self.halves(cell)]
        for cell in alive:
            rejected = rejected.max(cell.bound())
        if self.limit_is_best and rejected < self.limit.lower():
            return None
        high = rejected.max(self.best).max(self.ceiling).upper()
        # D_alpha never exceeds D_infinity, which also serves when a cell could not be bounded.
        high = high.min(self.top) if high.is_finite() else self.top
        return Bracket(lower=Bracket.around(self.best, least=0).lower, upper=Bracket.around(high, least=0).upper)

    def cells(self) -> list[_Cell]:
        """Doubling cells from the first step until D_infinity / alpha decides the rest."""
        left, left_value = self.first, self.value(self.first)
        if self.sign_at_limit == 0:
            # K(s)/s never decreases, so f(s) <= K(h)/h on [0, h].
            self.ceiling = self.ceiling.max((left_value / left).upper())
        cells = []
        while not self.settled((self.top / (1 + left)).upper()):
            right = left * 2
            right_value = self.value(right)
            cells.append(_Cell(left, left_value, right, right_value))
            left, left_value = right, right_value
        self.ceiling = self.ceiling if self.limit_is_best else self.ceiling.max((self.top / (1 + left)).upper())
        return cells

    def halves(self, cell: _Cell) -> Sequence[_Cell]:
        middle = (cell.left + cell.right) / 2
        value = self.value(middle)
        return (
            _Cell(cell.left, cell.left_value, middle, value),
            _Cell(middle, value, cell.right, cell.right_value),
        )


def _monotone_stretch(cumulant: Cumulant, reach: arb) -> tuple[arb, int]:
    """A length h up to about `reach` such that f is proved to fall (-1) or to rise (1) on [0, h]; 0 for no proof.

    The sign of f' is that of g = K' s (1 + s) - K (1 + 2 s). As g(0) = g'(0) = 0, one sign of g'' on [0, h] suffices,
    which is proved piece by piece. For laws that are close f is nearly flat over a long stretch (as it is exactly for
    Gaussian shifts), and cells alone would not see its slope.
    """
    end, width, sign = arb(0), reach, 0
    for _ in range(_PIECES):
        found = _curvature_sign(cumulant, end, end + width)
        if found and sign in (0, found):
            end, width, sign = end + width, 2 * width, found
        elif 16 * end > reach:
            # Far enough: cells see the slope from here on.
            break
        else:
            width /= 2
        if end > reach:
            break
    return (end, sign) if sign else (width, 0)


def _curvature_sign(cumulant: Cumulant, left: arb, right: arb) -> int:
    """The sign of g'' on [left, right] when it is proved, else 0.

    g'' = K''' s (1 + s) + K'' (1 + 2 s) - 2 K', directly or as g''(left) + (s - left) g''' with
    g''' = K'''' s (1 + s) + 2 K''' (1 + 2 s), in which nothing cancels.
    """
    s = hull(left, right)
    spend_on_balls(_DERIVATIVES * (_WORK_OF_A_FORMULA + cumulant.size))
    first, second, third, fourth = cumulant.derivatives(s)
    direct = third * s * (1 + s) + second * (1 + 2 * s) - 2 * first
    slope = fourth * s * (1 + s) + 2 * third * (1 + 2 * s)
    first, second, third, _ = cumulant.derivatives(left)
    start = third * left * (1 + left) + second * (1 + 2 * left) - 2 * first
    expanded = start + hull(arb(0), right - left) * slope
    if direct < 0 or expanded < 0:
        return -1
    return 1 if direct > 0 or expanded > 0 else 0


def enclosed_limit(cumulant: Cumulant) -> Bracket:
    """f(0), the Kullback-Leibler divergence, as a ball."""
    return Bracket.around(cumulant.derivatives(arb(0))[0], least=0)
