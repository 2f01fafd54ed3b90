"""Composition by transforms, against exact products, sums over all outcomes, and convolutions of merged and moved cells."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

from dpspec.base.exact import INFINITY, number
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.continuous import GaussianShift, LaplaceShift
from dpspec.laws.contour import Contour, LaplaceRows, LatticeRows
from dpspec.laws.grid import Totals
from dpspec.laws.integers import DiscreteGaussianShift
from dpspec.laws.loss import compose
from dpspec.laws.products import have_few_atoms, power, product_of
from dpspec.laws.trade_off import TradeOff, largest_power

Atom = tuple[arb, arb]
POINTS = ("-3/2", "-1/8", "0", "1/10", "1", "3", "12")


def response(excess: int) -> FiniteDichotomy:
    return FiniteDichotomy((1000 + excess, 1000 - excess), (1000 - excess, 1000 + excess), 2000, 2000)


def exact(value: Fraction) -> arb:
    return arb(value.numerator) / value.denominator


def atoms_of(pair) -> list[Atom]:
    """The outcomes from the definition; those of a discrete Gaussian below e^-120 are left out."""
    if isinstance(pair, FiniteDichotomy):
        both = zip(pair.p_weights, pair.q_weights, strict=True)
        return [(arb(p) / pair.p_total, arb(q) / pair.q_total) for p, q in both if p or q]
    b, reach = abs(pair.shift), math.ceil(math.sqrt(240 * pair.variance)) + 5 * abs(pair.shift)
    heights = {k: (-exact(Fraction(k * k) / (2 * pair.variance))).exp() for k in range(-reach - b, reach + b + 1)}
    whole = sum(heights.values(), arb(0))
    return [(heights[k] / whole, heights[k - b] / whole) for k in range(-reach, reach + b + 1)]


def curve_of(continuous, x: arb) -> arb:
    """The hockey stick of one continuous pair, or of two equal laws, from its closed form."""
    if continuous is None:
        return (1 - x.exp()).max(arb(0))
    if isinstance(continuous, LaplaceShift):
        t = exact(continuous.t.as_fraction())
        return arb(0) if x >= t else 1 - ((x - t) / 2).exp() if x > -t else 1 - x.exp()
    mu = exact(continuous.mu_squared.as_fraction()).sqrt()
    near, far = ((x / mu - side * mu / 2) / arb(2).sqrt() for side in (1, -1))
    return near.erfc() / 2 - x.exp() * far.erfc() / 2


def hockey_stick(finite, continuous, x: Fraction) -> arb:
    """The sum over all outcomes of the atoms, in 200 bits."""
    with ctx.workprec(200):
        total = arb(0)
        for outcome in itertools.product(*(atoms_of(pair) for pair in finite)):
            p, q = arb(1), arb(1)
            for one, other in outcome:
                p, q = p * one, q * other
            if p.is_zero():
                continue
            total += p if q.is_zero() else p * curve_of(continuous, exact(x) - (p / q).log())
        return total


def holds(contour: Contour, finite, continuous, x: Fraction) -> float:
    """Whether the bracket holds the value; its width."""
    found, value = contour.hockey_stick(number(x)), hockey_stick(finite, continuous, x)
    with ctx.workprec(200):
        slack = arb(10) ** -40
        low, high = (exact(end.as_fraction()) for end in (found.lower, found.upper))
        assert low <= value + slack, (finite, continuous, x, found, value)
        assert value - slack <= high, (finite, continuous, x, found, value)
        return float(high - low)


SINGULAR = FiniteDichotomy((1, 5, 3), (0, 4, 6), 9, 10)
CASES = [
    ([response(100)], None),
    ([response(400), response(300)], None),
    ([response(30), SINGULAR], GaussianShift(number("1/10"))),
    ([SINGULAR, SINGULAR.reverse()], LaplaceShift(number("1/7"))),
    ([DiscreteGaussianShift(1, Fraction(1, 4)), response(9)], None),
    ([DiscreteGaussianShift(2, Fraction(3)), response(200)], None),
    ([DiscreteGaussianShift(3, Fraction(11))], LaplaceShift(number(3))),
    ([DiscreteGaussianShift(1, Fraction(5, 4)), DiscreteGaussianShift(1, Fraction(9))], None),
    ([], LaplaceShift(number("1/100"))),
    ([], GaussianShift(number("1/1000"))),
]


@pytest.mark.parametrize(("finite", "continuous"), CASES)
def test_the_bracket_holds_the_sum_over_all_outcomes(finite, continuous):
    parts = [(pair, 1) for pair in (*finite, *([] if continuous is None else [continuous]))]
    contour = Contour.of(parts, 64)
    widths = [holds(contour, finite, continuous, Fraction(x)) for x in POINTS]
    assert max(widths) < 1e-3


def test_the_bracket_holds_at_the_losses_themselves():
    """There the curve has corners, and smoothing moves it most: the sum alone, without its gap, is above the curve."""
    finite = [response(100), response(50)]
    contour = Contour.of([(pair, 1) for pair in finite], 64)
    with ctx.workprec(200):
        for ways in itertools.product((1, -1), repeat=2):
            x = sum(way * math.log(Fraction(1000 + e, 1000 - e)) for way, e in zip(ways, (100, 50), strict=True))
            holds(contour, finite, None, Fraction(x))
            point = Fraction(x)
            _, smoothed = contour.bounds(arb(x), contour._tilt(lambda tilt, x=x: contour.log_integrand(tilt) - tilt * x))
            assert exact(smoothed) >= hockey_stick(finite, None, point) - arb(10) ** -45


def drawn(seed: int):
    source = random.Random(seed)
    while True:
        weights = [(source.randint(0, 40), source.randint(0, 40)) for _ in range(3)]
        p, q = map(sum, zip(*weights, strict=True))
        if p and q and any(a * q != b * p for a, b in weights):
            break
    table = FiniteDichotomy(tuple(a for a, _ in weights), tuple(b for _, b in weights), p, q)
    noise = DiscreteGaussianShift(source.choice([1, 2, -1]), Fraction(source.randint(1, 60), source.choice([3, 5])))
    smooth = source.choice([None, GaussianShift(number(Fraction(source.randint(1, 50), 100))), LaplaceShift(number("2/3"))])
    points = [Fraction(source.randint(-200, 600), 100) for _ in range(3)]
    return [table, *([noise] if source.random() < 0.7 else [])], smooth, points


@pytest.mark.parametrize("seeds", [
    range(12), pytest.param(range(12, 80), marks=pytest.mark.slow), pytest.param(range(80, 300), marks=pytest.mark.long),
], ids=["few", "more", "many"])
def test_random_compositions(seeds):
    for seed in seeds:
        finite, smooth, points = drawn(seed)
        contour = Contour.of([(pair, 1) for pair in (*finite, *([] if smooth is None else [smooth]))], 64)
        for x in points:
            holds(contour, finite, smooth, x)


def test_many_releases_against_their_exact_product():
    finite = {response(100): 40, response(300): 30}
    contour = Contour.of(list(finite.items()), 64)
    product = product_of(power(pair, times) for pair, times in finite.items())
    for epsilon in map(Fraction, ("0", "1/2", "3", "10", "20")):
        bracket, value = contour.hockey_stick(number(epsilon)), product.hockey_stick(epsilon)
        assert bracket.lower <= value.upper
        assert value.lower <= bracket.upper
    for delta in map(Fraction, ("1/3", "1/100", "1/1000000", "1/1000000000000")):
        bracket, value = contour.epsilon_at(delta, INFINITY), product.epsilon_at(delta)
        assert bracket.lower <= value.upper
        assert value.lower <= bracket.upper
        assert float(bracket.width) < 1e-3


def convolved_laplace(times: int, cells: int, epsilon: float) -> tuple[float, float]:
    """Bounds of the hockey stick of Laplace noise with t = 1: every cell as one atom (the pair can make that of itself), and
    every cell as two at its ends with the masses of both laws kept (that can make the pair)."""
    width = 2 / cells
    ends = -1 + width * np.arange(cells + 1)
    masses = np.exp((ends[1:] - 1) / 2) * -np.expm1(-width / 2) / 2
    merged, moved = np.zeros(2 * cells + 1), np.zeros(2 * cells + 1)
    merged[1::2] = masses
    up = masses * -np.expm1(-width / 2) / -np.expm1(-width)
    moved[2::2] += up
    moved[:-2:2] += masses - up
    found = []
    for law in (merged, moved):
        law[0] += math.exp(-1) / 2
        law[-1] += 0.5
        size = 1 << math.ceil(math.log2(times * 2 * cells + 1))
        whole = np.fft.irfft(np.fft.rfft(law, size) ** times, size)[: times * 2 * cells + 1]
        losses = -times + width / 2 * np.arange(len(whole))
        above = losses > epsilon
        found.append(float(np.sum(whole[above] * -np.expm1(epsilon - losses[above]))))
    return found[0], found[1]


def test_laplace_a_thousand_times():
    """The lower end was 0; the value is 474.30245 (issue 26)."""
    together = compose([(LaplaceShift(number(1)), 1000)])
    found = together.epsilon_at("1e-5")
    low, high = float(found.lower), float(found.upper)
    assert abs(low - 474.30245) < 1e-3
    assert abs(high - 474.30245) < 1e-3
    below, above = convolved_laplace(1000, 64, low), convolved_laplace(1000, 64, high)
    assert below[1] > 1e-5 - 1e-12
    assert above[0] < 1e-5 + 1e-12
    for epsilon in (430.0, 460.0, 474.3, 490.0):
        bounds, stick = convolved_laplace(1000, 64, epsilon), together.hockey_stick(Fraction(epsilon))
        assert float(stick.lower) <= bounds[1] + 1e-12
        assert bounds[0] - 1e-12 <= float(stick.upper)


def tilted_quotient(atoms: list[Atom], tilt: float, height: float) -> complex:
    losses = [float((p / q).log()) for p, q in atoms]
    powers = [float(p.log()) + tilt * loss for (p, _), loss in zip(atoms, losses, strict=True)]
    weights = [math.exp(power - max(powers)) for power in powers]
    total = sum(
        weight * complex(math.cos(height * loss), math.sin(height * loss)) for weight, loss in zip(weights, losses, strict=True)
    )
    norm = sum(weights)
    return total / norm


@pytest.mark.parametrize("variance", [Fraction(1), Fraction(7, 2), Fraction(10), Fraction(40)])
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_the_transform_of_a_discrete_gaussian_is_the_sum_over_its_outcomes(variance, shift):
    pair = DiscreteGaussianShift(shift, variance)
    atoms = [(p, q) for p, q in atoms_of(pair) if q > 0 and p > 0]
    rows = LatticeRows(1, *(np.array([float(value)]) for value in (Fraction(shift**2) / (2 * variance), shift, variance)))
    heights = np.array([0.0, 0.1, 1.0, 2 * math.pi * float(variance) / shift, 17.3, 123.0])
    for tilt in (0.01, 1.0, 3.7):
        found = rows.ratios(np.array([0]), heights, tilt)[0]
        alpha, beta = rows.errors(tilt)
        for place, height in enumerate(heights):
            error = (alpha[0] + beta[0] * height) * 2.0**-53
            assert abs(found[place] - tilted_quotient(atoms, tilt, height)) < error + 1e-12


def test_a_bound_of_laplace_transforms_far_out():
    for t, tilt in itertools.product((0.01, 0.5, 3.0, 20.0), (0.05, 1.0, 8.0)):
        rows = LaplaceRows(1, np.array([t]))
        for height in (0.5, 5.0, 60.0):
            heights = height * np.linspace(1, 40, 4000)
            largest = np.max(np.abs(rows.ratios(np.array([0]), heights, tilt)))
            assert math.log(largest) <= rows.log_ceiling(height, tilt) + 1e-12


@pytest.mark.parametrize("times", [1, 3, 50, 2000])
def test_transforms_and_grid_agree(times):
    """Two proofs of one number: the brackets meet."""
    parts = [(LaplaceShift(number("1/20")), times), (DiscreteGaussianShift(1, Fraction(300)), times), (response(11), times)]
    contour, grid = Contour.of(parts, 64), Totals.of(parts, 64)
    for epsilon in (0, 1, 3):
        one, other = contour.hockey_stick(number(epsilon)), grid.hockey_stick(number(epsilon))
        assert max(one.lower, other.lower) <= min(one.upper, other.upper)
    one, other = contour.epsilon_at(Fraction(1, 10**6), INFINITY), grid.epsilon_at(Fraction(1, 10**6), INFINITY)
    assert max(one.lower, other.lower) <= min(one.upper, other.upper)
    assert one.width <= other.width


# --- what is multiplied out ---------------------------------------------------------------------------


def test_an_equal_factor_is_multiplied_as_often_as_it_is_given():
    toss = FiniteDichotomy((3, 1), (1, 3), 4, 4)
    for times in (2, 3, 5):
        assert product_of([toss] * times).hockey_stick(1).lower == power(toss, times).hockey_stick(1).lower
    noise = GaussianShift(number(1))
    both = product_of([toss, noise, toss, noise])
    assert both.releases() == ((both.factors[0], 1), (GaussianShift(number(2)), 1))
    assert both.factors[0].atoms() == power(toss, 2).atoms()


def test_few_different_finite_pairs_are_multiplied_exactly_and_many_not_at_all(monkeypatch):
    multiplied = []
    product = FiniteDichotomy.product
    monkeypatch.setattr(FiniteDichotomy, "product", lambda one, two: multiplied.append(1) or product(one, two))
    pairs = [response(20 + i) for i in range(100)]
    few = compose((pair, 1) for pair in pairs[:11])
    assert few.epsilon_at("1e-6").is_exact or len(few.by_ratio) == 2**11
    assert len(multiplied) == 10
    multiplied.clear()
    many = compose((pair, 1) for pair in pairs)
    assert not multiplied
    found = many.epsilon_at("1e-6")
    assert float(found.width) < 1e-3
    alone = Contour.of([(pair, 1) for pair in pairs], 64).epsilon_at(Fraction(1, 10**6), INFINITY)
    assert max(alone.lower, found.lower) <= min(alone.upper, found.upper)


def test_equal_laws_from_different_places_are_one_law_with_a_multiplicity():
    laws = [FiniteDichotomy((3 * k, k), (k, 3 * k), 4 * k, 4 * k) for k in range(1, 30)]
    turned = [FiniteDichotomy((1, 3), (3, 1), 4, 4)]
    together = compose((pair, 1) for pair in [*laws, *turned])
    assert together.hockey_stick(2).lower == power(laws[0], 30).hockey_stick(2).lower
    assert not have_few_atoms([(response(i), 1) for i in range(1, 20)])
    assert have_few_atoms([(response(i), 1) for i in range(1, 14)])


def test_the_quick_bound_on_atoms_decides_as_the_sums_do():
    """The product of the numbers of ratios bounds the number of their sums: where it is small, the sums say the same."""
    from dpspec.laws import products

    often = (1, 2, 3, 6, 7, 13, 14, 40)
    cases = [[(response(i), times) for i in range(1, kinds + 1)] for kinds in range(1, 5) for times in often]
    decided = 0
    for parts in cases:
        quick = products._are_few_at_most(parts)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(products, "_are_few_at_most", lambda _: False)
            assert have_few_atoms(parts) or not quick
        decided += quick
    assert 0 < decided < len(cases)


def test_the_laws_of_a_line_are_evaluated_once_each(monkeypatch):
    """Laws multiplied grow with the number of different laws, not with that of thresholds."""
    evaluated = []
    ratios = LaplaceRows.ratios
    monkeypatch.setattr(LaplaceRows, "ratios", lambda *given: evaluated.append(len(given[1])) or ratios(*given))
    for different in (10, 20, 40, 80):
        evaluated.clear()
        contour = Contour.of([(LaplaceShift(number(Fraction(1, 10 + i))), 1) for i in range(different)], 64)
        contour.epsilon_at(Fraction(1, 10**6), INFINITY)
        lines = len(contour._known_lines)
        assert lines <= 2
        assert sum(evaluated) <= 2 * lines * different


def test_the_exact_power_is_one_minus_the_trade_off_function():
    for seed in range(30):
        table = drawn(seed)[0][0]
        for level in map(Fraction, ("0", "1/20", "1/3", "1/2", "19/20", "1")):
            assert largest_power(table, level).lower.as_fraction() == 1 - TradeOff.of(table).at(level)
