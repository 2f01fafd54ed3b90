"""Half-lines of monotone functions of noise, against the functions themselves; and masses of intervals against sums."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from dpspec_code.automatic.boxes import DISCRETE, HalfLine, NoCells, half_line, probability_between, reaches, spread
from dpspec_code.automatic.formulas import FLOORED, Affine, Applied, NoiseDraw, Plain
from scipy import stats

W, K = NoiseDraw(1, "laplace", Fraction(1)), NoiseDraw(2, "two-sided geometric", Fraction(1, 2))
GRID = [Fraction(n, 8) for n in range(-40, 41)]


def affine(constant: Any, factor: Any, noise: NoiseDraw = W) -> Affine:
    return Affine(Fraction(constant), ((noise, Fraction(factor)),))


def steps(name: str, inner: Any, *others: Any) -> Applied:
    return Applied(name, (inner, *others))


def number(value: float) -> Plain:
    return Plain(type(value).__name__, value)


FORMULAS: list[tuple[Any, Any]] = [
    (affine(3, -2), lambda w: 3 - 2 * w),
    (steps("round", affine(0, 1)), round),
    (steps("floor", affine("1/2", 1)), lambda w: math.floor(w + Fraction(1, 2))),
    (steps("ceil", affine(0, -1)), lambda w: math.ceil(-w)),
    (steps("int", affine(0, 1)), int),
    (steps("trunc", affine(1, 2)), lambda w: int(1 + 2 * w)),
    (steps("floordiv", affine(0, 1), number(2)), lambda w: w // 2),
    (steps("floordiv", affine(0, 1), number(-2)), lambda w: w // -2),
    (steps("add", steps("round", affine(0, 1)), number(3)), lambda w: round(w) + 3),
    (steps("sub", number(1), steps("floor", affine(0, 1))), lambda w: 1 - math.floor(w)),
    (steps("mul", number(-2), steps("ceil", affine(0, 1))), lambda w: -2 * math.ceil(w)),
    (steps("truediv", steps("round", affine(0, 1)), number(-4)), lambda w: Fraction(round(w), -4)),
    (steps("float", steps("floor", affine(0, 1))), math.floor),
]


def contains(line: HalfLine | bool, w: Fraction) -> bool:
    if isinstance(line, bool):
        return line
    end = line.start
    return (line.closed and w == end) or (w > end if line.above else w < end)


@pytest.mark.parametrize("place", range(len(FORMULAS)))
def test_a_half_line_is_where_the_function_is_beyond_the_end(place: int) -> None:
    formula, function = FORMULAS[place]
    for end, above, closed in itertools.product([Fraction(n, 2) for n in range(-6, 7)], (True, False), (True, False)):
        line = half_line(formula, end, above=above, closed=closed, hidden=None)
        for w in GRID:
            value = function(w)
            wanted = (closed and value == end) or (value > end if above else value < end)
            assert contains(line, w) is wanted, (end, above, closed, w)


def test_constants_are_everywhere_or_nowhere() -> None:
    constant = Affine(Fraction(2), ())
    ways = list(itertools.product((True, False), repeat=2))
    found = [half_line(constant, Fraction(2), above=above, closed=closed, hidden=None) for above, closed in ways]
    assert found == [closed for _, closed in ways]
    assert half_line(constant, Fraction(1), above=True, closed=False, hidden=None) is True


def test_a_hidden_draw_moves_the_end() -> None:
    z = NoiseDraw(3, "laplace", Fraction(1))
    both = Affine(Fraction(1), ((W, Fraction(2)), (z, Fraction(-4))))
    line = half_line(both, Fraction(5), above=True, closed=False, hidden=z)
    assert isinstance(line, HalfLine)
    assert (line.noise, line.above, line.start, line.slope) == (W, True, Fraction(2), Fraction(2))
    assert line.at(Fraction(3)) == 8  # 2 W > 5 - 1 + 4 z
    with pytest.raises(NoCells):
        half_line(both, Fraction(5), above=True, closed=False, hidden=None)


def test_what_is_no_monotone_function_is_refused() -> None:
    for formula in (
        steps("mod", affine(0, 1), number(2)), steps("mul", affine(0, 1), affine(0, 1)), steps("round", affine(0, 1), number(16)),
        affine(1 << 41, 1), affine("1/3", 1, K), steps("floordiv", affine(0, 1), number(0)),
    ):  # fmt: skip
        with pytest.raises(NoCells):
            half_line(formula, Fraction(1, 3), above=True, closed=True, hidden=None)


CONTINUOUS = {
    "laplace": stats.laplace(0, 2), "normal": stats.norm(0, math.sqrt(2)), "exponential": stats.expon(0, 2),
    "gumbel": stats.gumbel_r(0, 2), "logistic": stats.logistic(0, 2),
}  # fmt: skip


@pytest.mark.parametrize("kind", CONTINUOUS)
def test_masses_of_intervals(kind: str) -> None:
    noise, law = NoiseDraw(1, kind, Fraction(2)), CONTINUOUS[kind]
    for low, high in ((None, None), (None, 1), (-1, None), (-1, 2), (1, 3), (-3, -2), (2, 1)):
        ends = tuple(None if end is None else Fraction(end) for end in (low, high))
        found = probability_between(noise, (ends[0], True, ends[1], False), 64)
        true = law.cdf(math.inf if high is None else high) - law.cdf(-math.inf if low is None else low)
        assert float(found.mid()) == pytest.approx(max(true, 0.0), abs=1e-12)


def mass(noise: NoiseDraw, k: int) -> float:
    """P(W = k), written out."""
    p = float(noise.size)
    if noise.kind == "geometric":
        return p * (1 - p) ** (k - 1) if k >= 1 else 0.0
    if noise.kind == "two-sided geometric":
        return p / (2 - p) * (1 - p) ** abs(k)
    if noise.kind == FLOORED:
        return math.exp(-k / p) - math.exp(-(k + 1) / p) if k >= 0 else 0.0
    is_normal = noise.kind == "discrete normal"
    weights = {n: math.exp(-n * n / (2 * p) if is_normal else -abs(n) / p) for n in range(-200, 201)}
    return weights[k] / math.fsum(weights.values())


@pytest.mark.parametrize("kind", DISCRETE)
def test_masses_of_whole_numbers(kind: str) -> None:
    noise = NoiseDraw(1, kind, Fraction(1, 2))
    masses = {k: mass(noise, k) for k in range(-60, 61)}
    lows, highs = (None, Fraction(-2), Fraction(0), Fraction(1, 2)), (None, Fraction(-1), Fraction(1), Fraction(5, 2))
    for low, high, low_in, high_in in itertools.product(lows, highs, (True, False), (True, False)):
        inside = [
            k for k in masses
            if (low is None or k > low or (low_in and k == low)) and (high is None or k < high or (high_in and k == high))
        ]  # fmt: skip
        found = probability_between(noise, (low, low_in, high, high_in), 64)
        assert float(found.mid()) == pytest.approx(math.fsum(masses[k] for k in inside), abs=1e-12)


def test_scales() -> None:
    assert spread(NoiseDraw(1, "geometric", Fraction(1, 4))) == 4
    assert spread(W) == 1
    wide = spread(NoiseDraw(1, "normal", Fraction(2)))
    assert 2 < wide * wide < 2 + Fraction(1, 1 << 16)
    assert min(reaches(NoiseDraw(1, "exponential", Fraction(1)))) == 0
    assert min(reaches(W)) == -max(reaches(W)) == -30
