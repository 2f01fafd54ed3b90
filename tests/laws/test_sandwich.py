"""Cells, merging and spreading: the exact value always lies between, whatever the cells."""

import math
from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import given, settings, strategies as st

from dpspec.base.exact import INFINITY, Bracket, ln, number
from dpspec.base.log_linear import ball
from dpspec.laws import DiscreteGaussianLaw, FiniteLaw, GaussianLaw, LaplaceLaw, Sandwich, TwoSidedGeometricLaw, mixture, product
from dpspec.laws.atoms import Between, merge, spread
from dpspec.laws.combine import push_forward
from dpspec.laws.dichotomy import BallDichotomy, Cell
from dpspec.laws.location import ratio_range, tail_sign
from dpspec.laws.products import compress


@st.composite
def partitioned(draw: st.DrawFn, least: int = 0):
    """A finite pair and an arbitrary partition of its outcomes."""
    n = draw(st.integers(2, 7))
    column = st.lists(st.integers(least, 9), min_size=n, max_size=n).filter(any)
    labels = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    p, q = (FiniteLaw.from_weights(dict(enumerate(draw(column)))) for _ in range(2))
    return p.against(q), p, q, labels


def cells_of(p: FiniteLaw, q: FiniteLaw, labels: list[int]) -> tuple[Cell, ...]:
    """The cells of the partition with their true ratio ranges."""
    cells = []
    for label in sorted(set(labels)):
        members = [o for o, other in enumerate(labels) if other == label]
        atoms = [(p.probability(o), q.probability(o)) for o in members if p.probability(o) or q.probability(o)]
        if not atoms:
            continue
        mass_p, mass_q = sum(a for a, _ in atoms), sum(b for _, b in atoms)
        ends = [arb.neg_inf() if not a else arb.pos_inf() if not b else ball(a / b).log() for a, b in atoms]
        low, high = ends[0], ends[0]
        for end in ends:
            low, high = low.min(end), high.max(end)
        cells.append(Cell(ball(Fraction(mass_p)), ball(Fraction(mass_q)), low.lower(), high.upper()))
    return tuple(cells)


FUNCTIONALS = (
    lambda d: d.max_log_ratio(),
    lambda d: d.hockey_stick(0),
    lambda d: d.hockey_stick("1/2"),
    lambda d: d.hockey_stick(-1),
    lambda d: d.epsilon_at("1/20"),
    lambda d: d.epsilon_at("1/3"),
    lambda d: d.renyi(1),
    lambda d: d.renyi("3/2"),
    lambda d: d.renyi(4),
    lambda d: d.concentration(),
    lambda d: d.singular_mass(),
)


def enclosed(exact: Bracket, around: Bracket) -> None:
    """Exact endpoints may be irrational, and a rounding away from the bracket's own."""
    assert around.lower <= exact.upper
    assert exact.lower <= around.upper


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(partitioned())
def test_exact_value_lies_between_merged_and_spread(case):
    pair, p, q, labels = case
    sandwich = Sandwich.of(lambda precision: cells_of(p, q, labels))
    for direction, exact in ((sandwich, pair), (sandwich.reverse(), pair.reverse())):
        for functional in FUNCTIONALS:
            value, bracket = functional(exact), functional(direction)
            assert bracket.lower <= bracket.upper
            enclosed(value, bracket)


@settings(deadline=None, max_examples=60)
@given(partitioned(least=1))
def test_single_atoms_give_the_exact_value(case):
    pair, p, q, labels = case
    sandwich = Sandwich.of(lambda precision: cells_of(p, q, list(range(len(labels)))))
    for functional in FUNCTIONALS[:-2]:
        value, bracket = functional(pair), functional(sandwich)
        assert float(bracket.upper) - float(bracket.lower) < 1e-12
        enclosed(value, bracket)


@settings(deadline=None, max_examples=60)
@given(partitioned())
def test_pieces_keep_both_masses(case):
    _, p, q, labels = case
    with ctx.workprec(96):
        cells = cells_of(p, q, labels)
        for pieces in (merge(cells), spread(cells), compress(cells, 2), compress(cells, 1)):
            assert sum((c.p for c in pieces), arb(0)).contains(1) or abs(float(sum((c.p for c in pieces), arb(0))) - 1) < 1e-15
            assert abs(float(sum((c.q for c in pieces), arb(0)).mid()) - 1) < 1e-15


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(partitioned(), st.integers(1, 4))
def test_compressed_cells_still_enclose(case, limit):
    pair, p, q, labels = case
    fine = cells_of(p, q, list(range(len(labels))))
    sandwich = Sandwich.of(lambda precision: compress(fine, limit))
    for functional in FUNCTIONALS:
        enclosed(functional(pair), functional(sandwich))


@settings(deadline=None, max_examples=40)
@given(partitioned(), partitioned())
def test_products_of_cells_enclose_the_product(one, two):
    def joint(precision):
        return tuple(a.times(b) for a in cells_of(*one[1:]) for b in cells_of(*two[1:]))

    exact = one[0].product(two[0])
    for functional in FUNCTIONALS[:-2]:
        enclosed(functional(exact), functional(Sandwich.of(joint)))


def test_uncertain_masses_are_never_treated_as_positive():
    """A cell that may be empty must not make anything infinite, nor finite."""
    speck = arb(0, 1e-30)
    cells = (Cell.atom(arb(1) / 2, arb(1) / 2), Cell.atom(arb(1) / 2, arb(1) / 2), Cell.lump(abs(speck), abs(speck)))
    sandwich = Sandwich.of(lambda precision: cells)
    assert sandwich.max_log_ratio().upper == INFINITY
    assert sandwich.max_log_ratio().lower == 0
    assert sandwich.renyi(2).upper == INFINITY
    assert sandwich.renyi(2).lower <= number("1e-20")
    assert sandwich.hockey_stick(0).upper <= number("1e-20")
    assert sandwich.concentration().lower <= number("1e-20")


@given(partitioned(), st.sampled_from([50, 12, 5]))
@settings(max_examples=60, deadline=None)
def test_the_exact_value_lies_above_what_uncertain_masses_show(case, digits):
    pair, p, q, labels = case
    blur = arb(0, 1 / digits)
    cells = tuple(Cell(cell.p + blur, cell.q + blur, cell.low, cell.high) for cell in cells_of(p, q, labels))
    merged = BallDichotomy(lambda _: merge(cells))
    for functional in FUNCTIONALS:
        assert functional(merged).lower <= functional(pair).upper


def test_laws_that_differ_but_for_tails_that_are_not_listed_are_seen_to_differ():
    """All cells together, which have mass under both laws, would show nothing."""
    ours, theirs = (product([TwoSidedGeometricLaw.with_ratio(0, Fraction(1, 2)), FiniteLaw.point(fact)]) for fact in (0, 1))
    pair = push_forward(ours, _shown).against(push_forward(theirs, _shown))
    assert Fraction(99, 100) < pair.total_variation(precision=16).lower
    assert number(5) < pair.epsilon_at("1/1000", precision=16).lower
    assert Fraction(99, 100) < pair.coarse().hockey_stick("ln(2)", precision=16).lower


def _shown(output):
    return max(output[0], 0), output[1]


def test_a_singular_atom_makes_everything_infinite():
    cells = (Cell.atom(arb(1) / 2, arb(1)), Cell.atom(arb(1) / 2, arb(0)))
    pair = BallDichotomy(lambda precision: cells)
    for bracket in (pair.max_log_ratio(), pair.renyi(1), pair.renyi(2), pair.concentration(), pair.epsilon_at("2/5")):
        assert bracket.lower == INFINITY
    assert pair.epsilon_at("3/5").upper < 1
    assert pair.reverse().max_log_ratio().upper < 1


def test_cells_of_a_closed_form_agree_with_it():
    pair = LaplaceLaw(0, 1).against(LaplaceLaw(1, 1))
    sandwich = Sandwich.of(pair.cells)
    for functional in FUNCTIONALS[:-1]:
        enclosed(functional(pair), functional(sandwich))
    width = [sandwich.renyi(2, precision=p) for p in (32, 64, 128)]
    spans = [float(b.upper) - float(b.lower) for b in width]
    assert spans[0] > 3 * spans[1] > 9 * spans[2]


def test_second_order_convergence():
    """Halving the cells divides the width by about four."""
    pair = LaplaceLaw(0, 1).against(LaplaceLaw(2, 1))
    spans = []
    for precision in (16, 32, 64):
        bracket = Sandwich.of(pair.cells).renyi(3, precision=precision)
        spans.append(float(bracket.upper) - float(bracket.lower))
    assert 3 < spans[0] / spans[1] < 5
    assert 3 < spans[1] / spans[2] < 5
    assert math.isfinite(spans[0])
    assert pair.max_log_ratio().lower == ln("1") + 2


PICTURES = [
    LaplaceLaw(0, 1).against(LaplaceLaw(2, 1)),
    LaplaceLaw(0, 1).against(LaplaceLaw(1, 3)),
    LaplaceLaw(0, 1).against(GaussianLaw(1, 2)),
    GaussianLaw(0, 1).against(GaussianLaw(1, 1)),
    GaussianLaw(0, 1).against(GaussianLaw(1, 5)),
    DiscreteGaussianLaw(0, 3).against(DiscreteGaussianLaw(2, 3)),
    DiscreteGaussianLaw(0, 9000).against(DiscreteGaussianLaw(90, 9000)),
    DiscreteGaussianLaw(0, 3).against(DiscreteGaussianLaw(2, 5)),
    DiscreteGaussianLaw(0, 3).against(TwoSidedGeometricLaw(1, "1/2")),
    TwoSidedGeometricLaw(0, 1).against(TwoSidedGeometricLaw(3, 1)),
    TwoSidedGeometricLaw(0, "1/1000").against(TwoSidedGeometricLaw(5000, "1/1000")),
    TwoSidedGeometricLaw(0, 2).against(TwoSidedGeometricLaw(3, 1)),
    mixture(["1/3", "2/3"], [DiscreteGaussianLaw(0, 3), DiscreteGaussianLaw(4, 3)]).against(DiscreteGaussianLaw(1, 3)),
    mixture(["1/3", "2/3"], [GaussianLaw(0, 3), LaplaceLaw(1, 1)]).against(
        mixture(["1/4", "3/4"], [GaussianLaw(0, 2), LaplaceLaw(0, 1)])
    ),
    product([TwoSidedGeometricLaw(0, 1), DiscreteGaussianLaw(0, 3)]).against(
        product([TwoSidedGeometricLaw(1, 1), DiscreteGaussianLaw(1, 3)])
    ),
]
SLOW_MIXTURE = [pytest.param(pair, marks=pytest.mark.slow) if place == 13 else pair for place, pair in enumerate(PICTURES)]
"""The pair of mixtures of laws on the line is by far the slowest."""


def _picture(pair):
    """The true cells of a pair, or those of the pair above it."""
    return pair.lowers[0].cells(48) if type(pair) is Between else pair.cells(48)


@pytest.mark.spread(5)
@pytest.mark.parametrize("pair", SLOW_MIXTURE)
def test_masses_agree_with_the_range_of_every_cell(pair):
    """ln(p/q) of a cell lies in its range, the ranges are ordered, and the masses sum to 1."""
    with ctx.workprec(96):
        cells = _picture(pair)
        assert abs(sum((c.p for c in cells), arb(0)) - 1) < arb(2) ** -30
        assert abs(sum((c.q for c in cells), arb(0)) - 1) < arb(2) ** -30
        for cell in cells:
            assert not cell.low > cell.high
            if cell.p > 0 and cell.q > 0:
                middle = (cell.p / cell.q).log()
                assert not middle < cell.low
                assert not middle > cell.high


@pytest.mark.spread(14)
@pytest.mark.parametrize("pair", SLOW_MIXTURE)
@pytest.mark.parametrize("epsilon", [0, "1/3"])
def test_coarse_and_fine_brackets_meet(pair, epsilon):
    coarse, fine = (pair.hockey_stick(epsilon, precision=precision) for precision in (24, 72))
    assert coarse.lower <= fine.upper
    assert fine.lower <= coarse.upper
    assert float(fine.upper) - float(fine.lower) <= float(coarse.upper) - float(coarse.lower) + 1e-15


def test_a_wide_cell_allows_for_its_most_extreme_split():
    """One cell with ratios 1/2 to 2 may hide the pair (1/3, 2/3) against (2/3, 1/3), or nothing at all."""
    cell = Cell(arb(1), arb(1), -arb(2).log(), arb(2).log().upper())
    pair = BallDichotomy(lambda precision: (cell,))
    bracket = pair.hockey_stick(0)
    assert bracket.lower == 0
    assert bracket.upper >= Fraction(1, 3)
    assert Sandwich.of(lambda precision: (cell,)).hockey_stick(0).upper >= Fraction(1, 3)
    assert Sandwich.of(lambda precision: (cell,)).hockey_stick(0).upper < Fraction(1, 3) + Fraction(1, 10**9)
    assert pair.renyi(2).upper >= ln("3/2")
    assert Sandwich.of(lambda precision: (cell,)).renyi(2).upper < ln("3/2") + Fraction(1, 10**9)


def test_mass_that_may_be_zero_is_not_called_singular():
    cells = (Cell.atom(arb(1), arb(1)), Cell.lump(arb(0, 1e-30), arb(0)))
    for pair in (BallDichotomy(lambda precision: cells), Sandwich.of(lambda precision: cells)):
        for bracket in (pair.renyi(2), pair.renyi(1), pair.concentration(), pair.max_log_ratio()):
            assert bracket.lower <= number("1e-9")
            assert bracket.upper == INFINITY


def test_merging_keeps_lower_ends_sharp():
    """Atoms of uncertain mass are pooled, so that they do not blunt what is known about the others."""
    dust = tuple(Cell.lump(arb(0, 1e-30), arb(0, 1e-30)) for _ in range(5))
    cells = (Cell.atom(arb(3) / 4, arb(1) / 4), Cell.atom(arb(1) / 4, arb(3) / 4), *dust)
    pair = Sandwich.of(lambda precision: cells)
    assert abs(float(pair.concentration().lower) - math.log(3) / 2) < 1e-12
    assert abs(float(pair.renyi(2).lower) - math.log(7 / 3)) < 1e-12


@pytest.mark.parametrize(
    ("p", "q", "right", "left"),
    [
        (GaussianLaw(0, 1), GaussianLaw(1, 1), -1, 1),
        (GaussianLaw(0, 2), GaussianLaw(1, 1), 1, 1),
        (LaplaceLaw(0, 1), GaussianLaw(5, 9), 1, 1),
        (LaplaceLaw(0, 1), LaplaceLaw(5, 1), 0, 0),
        (LaplaceLaw(0, 1), LaplaceLaw(5, 2), -1, -1),
        (DiscreteGaussianLaw(3, 2), DiscreteGaussianLaw(0, 2), 1, -1),
        (TwoSidedGeometricLaw(0, 1), DiscreteGaussianLaw(0, 100), 1, 1),
    ],
)
def test_tails(p, q, right, left):
    assert (tail_sign(p, q, 1), tail_sign(p, q, -1)) == (right, left)
    assert (tail_sign(q, p, 1), tail_sign(q, p, -1)) == (-right, -left)
    far = Fraction(400)
    with ctx.workprec(96):
        for side, sign in ((1, right), (-1, left)):
            low, high = ratio_range(p, q, far, None, 96) if side > 0 else ratio_range(p, q, None, -far, 96)
            beyond = p.log_density(arb(side * 500), 96) - q.log_density(arb(side * 500), 96)
            assert not beyond < low
            assert not beyond > high
            assert (high == arb.pos_inf()) == (sign > 0)
            assert (low == arb.neg_inf()) == (sign < 0)
