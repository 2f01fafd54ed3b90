"""Cells of outcomes: what is known of them holds for every way in which the outcomes may lie inside; and what all pairs share."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx

from dpspec.base.errors import NoFormulaError, ParameterError
from dpspec.base.exact import INFINITY, ZERO, Bracket, ln, number, sqrt
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.continuous import GaussianShift
from dpspec.laws.dichotomy import (
    INFINITE,
    BallDichotomy,
    Cell,
    at_most,
    exact_atoms_of,
    gain_of,
    growth_of,
    is_convolved,
    joined,
    rational_end,
    releases_of,
    total,
)

Atoms = tuple[tuple[Fraction, Fraction], ...]

INSIDE: list[Atoms] = [
    tuple((Fraction(a, 20), Fraction(b, 20)) for a, b in atoms)
    for atoms in [((3, 2), (1, 4)), ((2, 2), (5, 1)), ((1, 5), (1, 1), (6, 2)), ((4, 3),), ((3, 3), (1, 1))]
]
"""Outcomes that lie in one cell, by their probabilities."""


def cell_of(atoms: Atoms) -> Cell:
    """The cell that holds them, with its range as wide as it has to be."""
    p, q = (sum(atom[side] for atom in atoms) for side in (0, 1))
    ratios = [arb(a.numerator * b.denominator) / (a.denominator * b.numerator) for a, b in atoms]
    low, high = min(ratios, key=float), max(ratios, key=float)
    return Cell(arb(p.numerator) / p.denominator, arb(q.numerator) / q.denominator, low.log(), high.log())


def within(ball: arb, value: float) -> None:
    assert float(ball.lower()) - 1e-12 <= value <= float(ball.upper()) + 1e-12


@pytest.mark.parametrize("atoms", INSIDE)
@pytest.mark.parametrize("epsilon", [-2.0, -0.5, 0.0, 0.3, 1.0, 2.0])
def test_the_gain_of_a_cell_is_that_of_any_outcomes_in_it(atoms: Atoms, epsilon: float) -> None:
    true = math.fsum(max(float(p) - math.exp(epsilon) * float(q), 0.0) for p, q in atoms)
    within(cell_of(atoms).gain(arb(epsilon), arb(epsilon).exp()), true)


@pytest.mark.parametrize("atoms", INSIDE)
@pytest.mark.parametrize("exponent", [0.5, 1.0, 3.0])
def test_moments_and_divergence_of_a_cell(atoms: Atoms, exponent: float) -> None:
    cell = cell_of(atoms)
    within(cell.moment(arb(exponent)), math.fsum(float(p) * float(p / q) ** exponent for p, q in atoms))
    within(cell.divergence(), math.fsum(float(p) * math.log(p / q) for p, q in atoms))


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(INSIDE, 2)))
def test_products_and_turned_cells_hold_theirs(one: Atoms, other: Atoms) -> None:
    both = tuple((a * c, b * d) for (a, b), (c, d) in itertools.product(one, other))
    made, direct = cell_of(one).times(cell_of(other)), cell_of(both)
    turned = made.turned()
    for cell, exact in ((made, direct), (turned, cell_of(tuple((q, p) for p, q in both)))):
        within(cell.p, float(exact.p))
        within(cell.q, float(exact.q))
        assert float(cell.low) <= float(exact.low) + 1e-12
        assert float(cell.high) >= float(exact.high) - 1e-12


def test_cells_with_a_mass_of_zero() -> None:
    singular, missing = Cell.lump(arb("0.5"), arb(0)), Cell.lump(arb(0), arb("0.5"))
    assert singular.is_singular
    assert not missing.is_singular
    assert (singular.low, singular.high) == (arb.pos_inf(), arb.pos_inf())
    assert (missing.low, missing.high) == (arb.neg_inf(), arb.neg_inf())
    assert Cell.lump(arb(0), arb(0)).is_empty
    assert singular.gain(arb(9), arb(9).exp()) == arb("0.5")
    assert missing.gain(arb(0), arb(1)) == 0
    assert singular.times(missing).is_empty
    uncertain = Cell.atom(arb("0.5"), arb("0 +/- 1e-9"))
    assert not uncertain.is_singular
    assert uncertain.high == arb.pos_inf()
    assert uncertain.low.is_finite()


def pair_of(*cells: Cell) -> BallDichotomy:
    return BallDichotomy(lambda precision: cells)


def test_mass_that_may_be_singular_counts_as_possible_and_not_as_certain() -> None:
    half = arb("0.5")
    open_ended = Cell(arb("0.25"), half, arb(-1), arb.pos_inf())
    pair = pair_of(Cell.lump(arb("0.25"), arb(0)), open_ended, Cell(half, half, arb(0), arb(0)))
    mass = pair.singular_mass()
    assert float(mass.lower) == pytest.approx(1 / 4, abs=1e-8)
    assert float(mass.upper) == pytest.approx(1 / 2, abs=1e-8)
    assert mass.lower <= Fraction(1, 4) < Fraction(1, 2) <= mass.upper
    assert pair.max_log_ratio().upper.is_infinite
    assert pair.epsilon_at("1/5").lower.is_infinite
    assert not pair.epsilon_at("3/10").lower.is_infinite
    assert pair.renyi(2) == INFINITE


@pytest.mark.parametrize("epsilon", ["1/10", "1/2", 1])
@pytest.mark.parametrize("atoms", INSIDE[:3])
def test_a_pair_of_wide_cells_holds_the_pairs_inside(atoms: Atoms, epsilon: Any) -> None:
    """A cell with the outcomes, one with what is missing to 1."""
    p, q = (1 - sum(atom[side] for atom in atoms) for side in (0, 1))
    exact = FiniteDichotomy.of((*atoms, (p, q)))
    wide = pair_of(cell_of(atoms), cell_of(((p, q),)))
    for functional in (
        lambda pair: pair.hockey_stick(epsilon), lambda pair: pair.epsilon_at("1/20"), lambda pair: pair.renyi("3/2"),
        lambda pair: pair.renyi(1), lambda pair: pair.concentration(), lambda pair: pair.max_log_ratio(),
        lambda pair: pair.total_variation(), lambda pair: pair.reverse().hockey_stick(epsilon),
    ):  # fmt: skip
        outer, inner = functional(wide), functional(exact)
        assert outer.lower <= inner.upper
        assert inner.lower <= outer.upper
        assert float(outer.lower) <= float(inner.upper) + 1e-12
        assert float(inner.lower) <= float(outer.upper) + 1e-12


def test_sums_of_brackets_are_exact_or_on_the_safe_side() -> None:
    assert str(total([Bracket.exactly(1), Bracket.exactly("ln(3)"), Bracket.exactly(ln(2))])) == "1 + ln(2) + ln(3)"
    assert total([Bracket.exactly(1), INFINITE]) == INFINITE
    apart = total([Bracket.exactly(sqrt(2)), Bracket.exactly(sqrt(3))])
    assert 0 < apart.upper.as_fraction() - apart.lower.as_fraction() < Fraction(1, 2**50)
    assert float(apart.lower) == pytest.approx(math.sqrt(2) + math.sqrt(3), abs=1e-14)
    # against integers: (a - 2 - 3)^2 < 24 < (b - 2 - 3)^2 for the ends squared
    assert (apart.lower.as_fraction() ** 2 - 5) ** 2 < 24 < (apart.upper.as_fraction() ** 2 - 5) ** 2
    half_open = total([Bracket(lower=ZERO, upper=INFINITY), Bracket.exactly(1)])
    assert (half_open.lower, half_open.upper) == (number(1), INFINITY)


def test_a_rational_end_lies_on_its_side() -> None:
    low, high = rational_end(sqrt(2), -1), rational_end(sqrt(2), 1)
    assert low * low < 2 < high * high
    assert high - low < Fraction(1, 2**50)
    assert rational_end(number("2/3"), -1) == rational_end(number("2/3"), 1) == Fraction(2, 3)


def test_brackets_are_cut_at_what_cannot_be_exceeded() -> None:
    one, two, three = map(number, (1, 2, 3))
    assert at_most(Bracket(lower=one, upper=three), two) == Bracket(lower=one, upper=two)
    assert at_most(Bracket(lower=one, upper=two), three) == Bracket(lower=one, upper=two)
    assert at_most(Bracket(lower=two, upper=three), one) == Bracket.exactly(one)
    with ctx.workprec(96):
        best = gain_of([(arb("0.5"), arb("0.25")), (arb("0.75"), arb("0.5"))], arb(1))
    assert float(best.lower) <= 0.25 <= float(best.upper)


def test_arguments_are_read_alike_by_every_pair() -> None:
    pair = FiniteDichotomy((3, 1), (1, 3), 4, 4)
    for call in (lambda: pair.epsilon_at(-1), lambda: pair.renyi("1/2"), lambda: pair.hockey_stick(INFINITY)):
        with pytest.raises(ParameterError):
            call()
    assert pair.epsilon_at(1) == Bracket.exactly(0)
    assert pair.epsilon_at(0) == Bracket.exactly(ln(3))
    assert str(pair.hockey_stick(ln(3))) == "0"
    with pytest.raises(NoFormulaError):
        GaussianShift(number(1)).atoms()


def test_optional_parts_have_a_default() -> None:
    finite, gaussian = FiniteDichotomy((3, 1), (1, 3), 4, 4), GaussianShift(number(1))
    assert releases_of(finite) == ((finite, 1),)
    assert exact_atoms_of(gaussian) is None
    assert exact_atoms_of(finite) == ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    assert (growth_of(finite).is_linear_in_order, growth_of(gaussian).is_linear_in_order) == (False, True)
    assert joined(finite, finite) is None
    assert joined(gaussian, gaussian) == GaussianShift(number(2))
    assert not is_convolved(finite)
