"""Code that decides by its dataset: constants on unlimited spaces against enumerations of small ones, and what stays open."""

from __future__ import annotations

import importlib.util
import itertools
import math
import random
import sys
from fractions import Fraction

import pytest
from dpspec_code.automatic.formulas import Affine, NoiseDraw
from dpspec_code.automatic.regions import HalfSpace, Polyhedron, half_spaces
from dpspec_code.automatic.symbolic import NoConstant, WholeProof, whole_tree

import dpspec as dp
from dpspec import Outcome
from dpspec.base.errors import NotEnumerableError
from dpspec.constructors import blocks_alone
from dpspec.verifier.measure import without_budget

COUNT = {"space": dp.integer_counts(length=1), "distance": "l1", "standard": "pure"}
COUNTS = {**COUNT, "space": dp.integer_counts(length=2)}
LISTS = {"space": dp.bounded_integers(low=0, high=2, ordered=False), "distance": "symmetric-difference", "standard": "pure"}
NEAR = {**COUNT, "distance": dp.within_distance(of="l1", most=1), "standard": "approximate", "delta": "1e-5"}
BELOW_ZERO = {**COUNT, "space": dp.integer_counts(length=1, low=-5)}


def capped(x, rng):
    return min(x[0], 5) + rng.laplace()


def capped_squares(x, rng):
    return min(x[0], 3) * 2 + rng.laplace()


def at_least_one(x, rng):
    return max(len(x), 1) + rng.laplace()


def if_empty(x, rng):
    if not x:
        return rng.laplace()
    return len(x) + rng.laplace()


def larger_and_smaller(x, rng):
    return max(x[0], x[1]) + rng.laplace(), min(x[0], x[1]) + rng.laplace()


def absolute(x, rng):
    return abs(x[0] - x[1]) + rng.laplace()


def smallest(x, rng):
    return sorted(x)[0] + rng.laplace()  # noqa: FURB192 (the spelling is what is tested)


def capped_cells(x, rng):
    return [min(x.count(value), 2) + rng.laplace() for value in range(3)]


def nothing_for_few(x, rng):
    return (1 if len(x) > 2 else 0) * sum(x) + rng.laplace()


def two_levels(x, rng):
    return (5 if x[0] > 4 else 3) + rng.normal()


def above_zero(x, rng):
    return max(x[0], 0) + rng.laplace()


def jumping(x, rng):
    return (x[0] if x[0] < 10 else 2 * x[0]) + rng.laplace()


def constant(x, rng):
    return 7


def coin(x, rng):
    return int(rng.integers(2))


def spent_on(function, **blocks):
    spec = without_budget(blocks_alone(**blocks))
    return WholeProof.of(whole_tree(function, spec, most_paths=2_000), spec).verdict().constant


@pytest.mark.parametrize(
    ("function", "blocks", "known"),
    [
        (capped, COUNT, 1), (capped_squares, COUNT, 2), (at_least_one, LISTS, 1), (if_empty, LISTS, 1),
        (larger_and_smaller, COUNTS, 1), (absolute, COUNTS, 1), (smallest, COUNTS, 1), (nothing_for_few, LISTS, 6),
        (above_zero, BELOW_ZERO, 1), (jumping, COUNT, 11), (constant, COUNT, 0), (coin, LISTS, 0),
        (two_levels, {**COUNT, "standard": "zero-concentrated"}, math.sqrt(2)),  # of the constant, rho = 2
    ],
)  # fmt: skip
def test_the_constant_is_that_of_the_worst_step(function, blocks, known):
    found = spent_on(function, **blocks)
    assert float(found.lower) == pytest.approx(known, rel=1e-9, abs=1e-12)
    assert float(found.upper) == pytest.approx(known, rel=1e-9, abs=1e-12)


def test_neighbours_need_the_epsilon_of_the_largest_shift():
    """Gaussian noise moved by 2 needs 9.997256 at 1e-5 (Balle and Wang 2018, Theorem 8)."""
    found = spent_on(two_levels, **NEAR)
    assert float(found.lower) == pytest.approx(9.997256, abs=1e-5)
    assert float(found.upper) == pytest.approx(9.997256, abs=1e-5)


@pytest.mark.long
def test_a_claim_about_code_that_decides_is_verified_and_below_it_refuted():
    for epsilon, outcome in (("1", Outcome.VERIFIED), ("4/5", Outcome.REFUTED)):
        claim = dp.spec(epsilon=epsilon, **LISTS)
        assert dp.verify(capped_cells, claim, seconds=600, draws=20_000).outcome is outcome


# --- what stays open ------------------------------------------------------------------------------


def sum_until_three(x, rng):
    total = 0
    for value in x:
        if total < 3:
            total += value
    return total + rng.laplace()


def those_below_the_size(x, rng):
    size = len(x)
    return sum(value for value in x if value < size) + rng.laplace()


def scale_by_size(x, rng):
    return x[0] + rng.laplace(scale=1.0 if x[0] < 3 else 2.0)


def printed_if_large(x, rng):
    if x[0] > 5:
        print("large")
    return min(x[0], 6) + rng.laplace()


def another_type(x, rng):
    return (x[0] if x[0] < 3 else 3.0) + rng.laplace(), x[0] if x[0] < 3 else 3.0


def noise_shown(x, rng):
    noise = rng.laplace()
    return x[0] + noise, noise if x[0] > 100 else rng.laplace()


def count_shown(x, rng):
    return min(x[0], 5) + rng.laplace(), x[0] > 7


def one_sided(x, rng):
    return min(x[0], 3) + rng.exponential()


def jump_in_doubles(x, rng):
    return (1 if 0.1 * x[0] < 0.3 else 0) + rng.laplace()


@pytest.mark.parametrize(
    ("function", "blocks"),
    [
        (sum_until_three, LISTS), (those_below_the_size, LISTS), (scale_by_size, COUNT), (printed_if_large, COUNT),
        (another_type, COUNT), (noise_shown, COUNT), (count_shown, COUNT), (one_sided, COUNT),
        (jump_in_doubles, COUNT),
    ],
)  # fmt: skip
def test_no_constant_is_claimed(function, blocks):
    with pytest.raises((NoConstant, NotEnumerableError)):
        spent_on(function, **blocks)


# --- random code ----------------------------------------------------------------------------------


def affine(draw, names):
    terms = [f"{draw.choice([1, 1, 1, 2, -1, 3])} * {name}" for name in names if draw.random() < 0.7] or [names[0]]
    return "(" + " + ".join([*terms, str(draw.choice([0, 0, 1, -2, 3]))]) + ")"


def compared(draw, names):
    other = draw.choice([str(draw.randint(-3, 6)), affine(draw, names)])
    return f"{affine(draw, names)} {draw.choice(['<', '<=', '>', '>=', '==', '!='])} {other}"


def value(draw, names, depth=0):
    kind = draw.random()
    if depth < 2 and kind < 0.45:
        inside = [value(draw, names, depth + 1) for _ in range(2)]
        return f"{draw.choice(['min', 'max'])}({', '.join(inside)})"
    return str(draw.randint(-2, 5)) if kind < 0.6 else affine(draw, names)


def source(draw, names):
    """The lines of a function that decides by its dataset and adds Laplace noise of scale 1."""
    first, second, third = (value(draw, names) for _ in range(3))
    return draw.choice([
        [f"v = {first}", f"if {compared(draw, names)}:", f"    v = {second}", "return v + rng.laplace()"],
        [f"if {compared(draw, names)}:", f"    return {first} + rng.laplace()", f"return {second} + rng.laplace()"],
        [f"v = {first}", f"if {compared(draw, names)}:", f"    if {compared(draw, names)}:", f"        v = v + {second}",
         "    else:", f"        v = {third}", "return v + rng.laplace()"],
        [f"v, w = {first}, {second}", f"if {compared(draw, names)}:", "    v, w = w, v",
         "return v + rng.laplace(), w + rng.laplace()"],
        [f"return {first} + rng.laplace()"],
    ])  # fmt: skip


class Silent:
    """A generator that adds nothing."""

    def laplace(self):
        return 0


def functions(folder, names, seed, number):
    draw = random.Random(seed)
    texts = [f"def f{i}(x, rng):\n    " + "\n    ".join(source(draw, names)) for i in range(number)]
    path = folder / f"random_code_{seed}.py"
    path.write_text("\n\n\n".join(texts) + "\n", encoding="utf-8")
    found = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(found)
    sys.modules[path.stem] = module
    found.loader.exec_module(module)
    return [getattr(module, f"f{i}") for i in range(number)]


def steps_of(function, largest, given):
    """For all datasets of small counts and one count more, by how much the answers without noise differ."""
    shown = {}
    for counts in itertools.product(range(largest + 1), repeat=len(given([0, 0, 0])) if given is list else 3):
        answer = function(given(counts), Silent())
        shown[counts] = answer if isinstance(answer, tuple) else (answer,)
    for counts, answer in shown.items():
        for place in range(len(counts)):
            more = tuple(one + (at == place) for at, one in enumerate(counts))
            if more in shown:
                yield sum(abs(a - b) for a, b in zip(answer, shown[more], strict=True))


def check(found, function, blocks, largest, given):
    spec = without_budget(blocks_alone(**blocks))
    try:
        constant = WholeProof.of(whole_tree(function, spec, most_paths=2_000), spec).verdict().constant
    except (NoConstant, NotEnumerableError):
        found["open"] += 1
        return
    known = max(steps_of(function, largest, given))
    assert constant.upper >= known
    found["exact" if constant.lower == constant.upper else "above"] += 1


def random_code(folder, seeds, number):
    three = {**COUNT, "space": dp.integer_counts(length=3)}
    found = {"open": 0, "exact": 0, "above": 0}
    for seed in seeds:
        for function in functions(folder, ["x[0]", "x[1]", "x[2]"], seed, number):
            check(found, function, three, 6, list)
        of_lists = ["len(x)", "sum(x)", "x.count(0)", "sum(1 for v in x if v > 0)"]
        for function in functions(folder, of_lists, seed + 1_000, number):
            check(found, function, LISTS, 4, lambda counts: [v for v, times in enumerate(counts) for _ in range(times)])
    return found


@pytest.mark.parametrize("number", [7, pytest.param(12, marks=pytest.mark.long)])
def test_random_code_needs_no_more_than_what_is_proved(tmp_path, number):
    found = random_code(tmp_path, [1], number)
    assert found["exact"] > found["open"]


@pytest.mark.parametrize(
    "seeds", [pytest.param(range(2, 3), marks=pytest.mark.long), pytest.param(range(3, 8), marks=pytest.mark.long)]
)
def test_much_random_code_needs_no_more_than_what_is_proved(tmp_path, seeds):
    found = random_code(tmp_path, seeds, 25)
    assert found["exact"] > found["open"] > found["above"]


# --- half-spaces and polyhedra --------------------------------------------------------------------

ONE, TWO = (NoiseDraw(-number, "count", Fraction(0)) for number in (1, 2))


@pytest.mark.parametrize("relation", ["lt", "eq"])
@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("constant", ["-5/2", "0", "3", "-4", "1/3"])
def test_half_spaces_hold_the_numbers_that_fulfil_a_condition(relation, holds, constant):
    left = Affine(Fraction(constant), ((ONE, Fraction(1, 2)), (TWO, Fraction(-3, 4))))
    unions = half_spaces(left, relation, holds=holds)
    for n, m in itertools.product(range(-9, 10), repeat=2):
        number = left.constant + Fraction(n, 2) - Fraction(3 * m, 4)
        inside = [all(sum(by * {-1: n, -2: m}[at] for at, by in row.factors) <= row.most for row in rows) for rows in unions]
        assert sum(inside) == (((number < 0) if relation == "lt" else (number == 0)) is holds)


@pytest.mark.parametrize("low", [0, -3, 2])
def test_a_polyhedron_bounds_what_its_points_reach(low):
    draw = random.Random(low)
    for _ in range(60):
        rows = tuple(
            HalfSpace(tuple((-n, by) for n in (1, 2) if (by := draw.randint(-2, 2))), draw.randint(-6, 8)) for _ in range(3)
        )
        polyhedron = Polyhedron((*rows, HalfSpace(((-1, 1),), 9), HalfSpace(((-2, 1),), 9)), low)
        objective = {-1: Fraction(draw.randint(-3, 3)), -2: Fraction(draw.randint(-3, 3), 2)}
        points = [
            (n, m) for n, m in itertools.product(range(low, 10), repeat=2)
            if all(sum(by * {-1: n, -2: m}[at] for at, by in row.factors) <= row.most for row in rows)
        ]  # fmt: skip
        if not points:
            continue
        assert not polyhedron.is_empty()
        most = polyhedron.at_most(objective)
        assert most is not None
        assert most >= max(objective[-1] * n + objective[-2] * m for n, m in points)
