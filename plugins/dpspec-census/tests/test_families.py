"""One parent with its children: two solvers against each other, rounding against enumeration, and conflicts that are named."""

from __future__ import annotations

import itertools

import attrs
import numpy as np
import pytest
from dpspec_census.hierarchy.family import UNBOUNDED, CellBound, Family, geography_of
from dpspec_census.hierarchy.fit import _kept_pass, _Sharing, conic, least_squares, rounded, shared_out, structured
from dpspec_census.hierarchy.limits import feasible, smallest_conflict
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, vstack

from dpspec.base.errors import IncompatibleBlocksError, InfeasibleConstraintsError
from dpspec.blocks.space import Attribute


def bound(name, cells, low, high):
    return CellBound(name=name, cells=np.array(cells, dtype=bool), low=np.array(low), high=np.array(high))


def random_family(seed, *, cells=12, children=4, loose=False):
    """Cells are (kind of 3) x (rest); the detailed answers, those by kind and the total; bounds by kind that a table keeps."""
    draw = np.random.default_rng(seed)
    truth = draw.poisson(draw.gamma(0.4, 4, (cells, children)))
    kind = np.arange(cells) % 3
    marginal = csr_array((np.ones(cells), (kind, np.arange(cells))))
    incidence = vstack([eye_array(cells), marginal, np.ones((1, cells))], format="csr")
    weights = np.repeat([0.3, 1.7, 0.9], [cells, 3, 1])
    targets = incidence @ truth + np.rint(draw.normal(0, 1 / np.sqrt(weights)[:, None], (cells + 4, children)))
    bounds = []
    for k in range(0 if loose else 3):
        total = truth[kind == k].sum(axis=0)
        low = np.maximum(total - draw.integers(0, 3, children), 0)
        high = np.where(draw.random(children) < 0.5, UNBOUNDED, total + draw.integers(0, 3, children))
        bounds.append(bound(f"kind {k}", kind == k, low, high))
    return Family(incidence=incidence, weights=weights, targets=targets, bounds=tuple(bounds), parent=truth.sum(axis=1))


@pytest.mark.parametrize("seed", range(12))
def test_the_two_solvers_find_one_optimum_and_the_certificate_holds(seed):
    """The interior-point solver knows nothing of the certificate."""
    family = random_family(seed, loose=seed % 3 == 0)
    first, second = structured(family, gap=1e-6, most=30_000), conic(family)
    assert second.excess < 1e-6
    assert (first.tables >= 0).all()
    np.testing.assert_allclose(first.tables.sum(axis=1), family.parent, atol=1e-9)
    assert first.gap <= 1e-6 * first.loss
    assert abs(first.loss - second.loss) <= 2e-6 * second.loss


@pytest.mark.parametrize("seed", [1, 4])
def test_the_interior_point_solver_is_not_misled_by_large_counts(seed):
    """Its tolerance is relative to an objective that grows with the squares of the counts; the loss does not."""
    small = random_family(seed, loose=True, cells=30)
    large = 3_000_000 * (np.arange(30) + 1)
    far = attrs.evolve(
        small,
        targets=small.targets + small.incidence @ np.repeat(large[:, None], small.children, axis=1),
        parent=small.parent + large * small.children,
    )
    # No count is near 0, so the optimum is that of parent sums alone, in closed form, and the lift does not change it.
    curvature = (small.incidence.T @ (small.weights[:, None] * small.incidence.toarray())).astype(float)
    pulled = small.incidence.T @ (small.weights[:, None] * small.targets)
    price = (pulled.sum(axis=1) - curvature @ small.parent) / small.children
    best = small.loss(np.linalg.solve(curvature, pulled - price[:, None]))
    assert abs(conic(far).loss - best) <= 1e-4 * best


def test_a_coarse_fit_lies_within_its_gap():
    """So coarse that its loss really is too large; without constraints on groups the certificate has no slack of its own."""
    family = random_family(5, loose=True, cells=60, children=7)
    best = conic(family).loss
    coarse = structured(family, gap=100.0, most=2)
    assert coarse.loss > best * (1 + 1e-6)
    assert best >= coarse.loss - coarse.gap


@pytest.mark.parametrize("children", [1, 5, 12, 13, 30])
def test_the_projection_is_the_nearest_point(children):
    """Also of a second table of the family, for which nothing of the first one is left."""
    draw = np.random.default_rng(3)
    x, parent = draw.normal(0, 3, (40, children)), draw.integers(0, 6, 40).astype(float)
    share = _Sharing(parent, children)
    share(draw.normal(0, 3, (40, children)))
    assert np.array_equal(share(x), shared_out(x, parent))
    z = shared_out(x, parent)
    np.testing.assert_allclose(z.sum(axis=1), parent, atol=1e-12)
    assert (z >= 0).all()
    for _ in range(200):  # the angle at a projection is obtuse towards every other point
        other = draw.dirichlet(np.ones(children), 40) * parent[:, None]
        assert (((x - z) * (other - z)).sum(axis=1) <= 1e-9).all()


@pytest.mark.parametrize("seed", range(12))
def test_rounding_keeps_every_constraint(seed):
    family = random_family(seed, cells=30, children=5)
    fit = structured(family, gap=1e-2)
    z = rounded(family, fit.tables)
    assert family.broken(z) == ()
    assert abs(z - fit.tables).max() < 1 + fit.excess
    assert abs(z.sum(axis=0) - fit.tables.sum(axis=0)).max() < 1 or fit.excess > 1e-6


def test_rounding_is_a_nearest_one_by_enumeration():
    parent = np.array([2, 1, 2])
    groups = (bound("first two", [True, True, False], [1, 0, 0], [UNBOUNDED, 2, UNBOUNDED]),)
    plain = {"incidence": eye_array(3), "weights": np.ones(3), "targets": np.zeros((3, 3))}
    family = Family(**plain, bounds=groups, parent=parent)
    x = np.array([[0.7, 0.6, 0.7], [0.4, 0.3, 0.3], [0.9, 0.6, 0.5]])
    near = [
        z
        for flat in itertools.product((0, 1), repeat=9)
        if not family.broken(z := np.array(flat).reshape(3, 3))
        and (z.sum(axis=0) >= np.floor(x.sum(axis=0))).all()
        and (z.sum(axis=0) <= np.ceil(x.sum(axis=0))).all()
    ]
    assert len(near) > 3
    assert np.isclose(abs(rounded(family, x) - x).sum(), min(abs(z - x).sum() for z in near))


def test_a_fit_outside_its_bounds_is_brought_inside():
    family = random_family(2)
    z = rounded(family, np.full((family.cells, family.children), 0.25))
    assert family.broken(z) == ()


@pytest.mark.parametrize(
    ("broken", "text"),
    [
        (np.array([[-1, 3], [1, 0]]), "no count is negative"),
        (np.array([[2, 1], [1, 0]]), "the children add up to their parent"),
        (np.array([[0, 2], [1, 0]]), "first"),
    ],
)
def test_broken_constraints_are_counted_in_integers(broken, text):
    groups = (bound("first", [True, False], [1, 0], [UNBOUNDED, UNBOUNDED]),)
    targets = np.zeros((2, 2))
    family = Family(incidence=eye_array(2), weights=np.ones(2), targets=targets, bounds=groups, parent=np.array([2, 1]))
    assert text in family.broken(broken)
    assert family.broken(np.array([[1, 1], [0, 1]])) == ()


# --- passes --------------------------------------------------------------------------------------


def above_the_optimum(family, rows, kept, x):
    """How far the loss of some answers at x is above its optimum at most: <g, x> - min <g, y> over all allowed tables y.

    A linear program, which knows nothing of the methods. `kept` has rows (cells, low, high).
    """
    matrix = family.incidence.toarray()[rows]
    gradient = matrix.T @ (family.weights[rows][:, None] * (matrix @ x - family.targets[rows]))
    lines, low, high = [], [], []
    for group, least, most in [(one.cells.astype(float), one.low, one.high) for one in family.bounds] + kept:
        for child in range(family.children):
            line = np.zeros_like(x)
            line[:, child] = group
            lines.append(line.ravel())
            low.append(least[child])
            high.append(most[child])
    sums = np.kron(np.eye(family.cells), np.ones(family.children))
    outer = [np.zeros((0, x.size))] if not lines else [np.array(lines), -np.array(lines)]
    best = linprog(
        gradient.ravel(), A_ub=np.concatenate(outer), b_ub=np.array(high + [-one for one in low]), A_eq=sums, b_eq=family.parent
    )
    return float((gradient * x).sum() - best.fun)


@pytest.mark.spread(6, slow=6)
@pytest.mark.parametrize("seed", range(12))
def test_a_pass_is_the_optimum_of_its_answers_and_keeps_those_before(seed):
    """The total, then the answers by kind, then the detailed ones."""
    family = random_family(seed, cells=9, children=3, loose=seed % 2 == 0)
    passes = np.repeat([2, 1, 0], [9, 3, 1])
    kept = []
    for last in range(3):
        rows = passes == last
        some = attrs.evolve(
            family, incidence=family.incidence[passes <= last], weights=family.weights[passes <= last],
            targets=family.targets[passes <= last],
        )  # fmt: skip
        fit = least_squares(some, 1e-7, passes[passes <= last])
        answers = family.incidence.toarray() @ fit.tables
        for line, low, high in kept:
            assert (line @ fit.tables >= low - 1e-4).all()
            assert (line @ fit.tables <= high + 1e-4).all()
        loss = 0.5 * (family.weights[rows][:, None] * (answers[rows] - family.targets[rows]) ** 2).sum()
        assert above_the_optimum(family, rows, kept, fit.tables) <= 1e-3 * max(loss, 1)
        kept += [
            (line, np.floor(answer + 1e-6), np.ceil(answer - 1e-6))
            for line, answer in zip(family.incidence.toarray()[rows], answers[rows], strict=True)
        ]
        assert family.broken(rounded(family, fit.tables)) == ()


def test_a_first_pass_for_the_total_keeps_it_and_one_pass_does_not():
    """Two children share 10 and 10. The total of the first is measured as 12, the cells as if it had 4; the cells weigh more."""
    family = Family(
        incidence=csr_array(np.array([[1.0, 0], [0, 1], [1, 1]])), weights=np.array([10.0, 10, 1]),
        targets=np.array([[2.0, 8], [2, 8], [12, 8]]), parent=np.array([10, 10]),
    )  # fmt: skip
    one = least_squares(family, 1e-9)
    two = least_squares(family, 1e-9, np.array([1, 1, 0]))
    assert one.tables.sum(axis=0) == pytest.approx([4 + 16 / 12, 16 - 16 / 12], abs=1e-3)
    assert two.tables.sum(axis=0) == pytest.approx([12, 8], abs=1e-3)
    assert rounded(family, two.tables).sum(axis=0).tolist() == [12, 8]


def test_what_no_tables_keep_is_kept_to_within_one_unit_more():
    """An earlier pass found 4.4 and 5.6 persons of the two kinds; the group of both needs twelve."""
    family = Family(
        incidence=eye_array(2, format="csr"), weights=np.ones(2), targets=np.zeros((2, 2)), parent=np.array([12, 12]),
        bounds=(bound("both", [True, True], [12, 0], [12, UNBOUNDED]),),
    )  # fmt: skip
    kept = [bound("one", [True, False], [4, 0], [5, 12]), bound("other", [False, True], [5, 0], [6, 12])]
    fit = _kept_pass(family, kept, 1e-6, 1e-6)
    assert fit.tables[:, 0] == pytest.approx([6, 6], abs=1e-3)
    nobody = [bound(name, cells, [0, 0], [0, 12]) for name, cells in (("one", [True, False]), ("other", [False, True]))]
    far = attrs.evolve(family, bounds=(bound("both", [True, True], [24, 0], [24, UNBOUNDED]),))
    assert _kept_pass(far, nobody, 1e-6, 1e-6).tables[:, 0] == pytest.approx([12, 12], abs=1e-3)


def test_one_pass_for_all_answers_is_the_fit_without_passes():
    family = random_family(3)
    one, two = least_squares(family, 1e-3), least_squares(family, 1e-3, np.zeros(16, dtype=np.int64))
    assert np.array_equal(one.tables, two.tables)


# --- conflicts -----------------------------------------------------------------------------------


def contradictory(bounds, parent=(3, 2), children=2):
    size = len(parent)
    return Family(
        incidence=eye_array(size),
        weights=np.ones(size),
        targets=np.zeros((size, children)),
        bounds=tuple(bounds),
        parent=np.array(parent),
        names=("north", "south"),
    )


def test_a_conflict_is_named_and_no_part_of_it_is_one():
    """Both blocks have two dormitories, and the tract has three persons in dormitories; all else is in order."""
    dormitories = bound("dormitories", [True, False], [2, 2], [UNBOUNDED, UNBOUNDED])
    homes = bound("homes", [False, True], [0, 0], [9, 9])
    family = contradictory([dormitories, homes])
    assert not feasible(family)
    named = smallest_conflict(family)
    assert named == (
        "the children share out 3 (dormitories)",
        "north: dormitories, at least 2",
        "south: dormitories, at least 2",
    )
    with pytest.raises(InfeasibleConstraintsError, match="north: dormitories"):
        rounded(family, np.ones((2, 2)))


def test_nested_groups_can_contradict_where_their_sums_do_not():
    """North may hold neither kind beyond 0, and must hold 3 in all."""
    groups = [
        bound("first", [True, False], [0, 0], [0, 9]),
        bound("second", [False, True], [0, 0], [2, 0]),
        bound("all", [True, True], [3, 0], [3, 9]),
    ]
    family = contradictory(groups, parent=(5, 1))
    assert not feasible(family)
    named = smallest_conflict(family)
    assert "north: all, at least 3" in named
    assert "north: first, at most 0" in named
    easier = contradictory(groups[:2], parent=(5, 1))
    assert feasible(easier)
    assert smallest_conflict(easier) == ()


@pytest.mark.spread(3)
@pytest.mark.parametrize("seed", range(8))
def test_feasibility_by_enumeration(seed):
    draw = np.random.default_rng(seed)
    verdicts = set()
    for _ in range(25):
        parent = draw.integers(0, 3, 2)
        groups = []
        for cells in ([True, False], [True, True]):
            low = draw.integers(0, 2, 2)
            groups.append(bound(str(cells), cells, low, low + draw.integers(0, 4, 2)))
        family = contradictory(groups, parent=tuple(parent))
        tables = (np.array(flat).reshape(2, 2) for flat in itertools.product(range(3), repeat=4))
        truth = any(not family.broken(z) for z in tables)
        assert feasible(family) == truth
        assert bool(smallest_conflict(family)) != truth
        verdicts.add(truth)
    assert verdicts == {True, False}


def test_groups_that_cross_are_refused():
    crossing = [bound("a", [True, True, False], [0, 0], [1, 1]), bound("b", [False, True, True], [0, 0], [1, 1])]
    with pytest.raises(IncompatibleBlocksError, match="nested or disjoint"):
        rounded(contradictory(crossing, parent=(1, 1, 1)), np.zeros((3, 2)))


def test_the_nodes_of_a_hierarchy_are_listed_when_they_are_asked_for():
    """A claim on eight million blocks asks for their number only."""
    levels = (Attribute(name="state", count=51), Attribute(name="block", count=8_100_000, within="state"))
    geography = geography_of(levels)
    assert (geography.size(0), geography.size(1)) == (51, 8_100_000)
    assert "parents" not in vars(geography)
    assert [len(parents) for parents in geography_of((levels[0], attrs.evolve(levels[1], count=510))).parents] == [51, 510]
