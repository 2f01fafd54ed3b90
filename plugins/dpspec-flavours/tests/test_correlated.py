"""Training runs with correlated noise: strategy matrices, and what they cost a record that takes part in one step."""

from __future__ import annotations

import math
import random
from fractions import Fraction as F
from pathlib import Path

import pytest
from dpspec_flavours.correlated import MOST_LISTED, MOST_STEPS, squared_norm, strategy_matrix

import dpspec as dp
from dpspec import installed
from dpspec.base.words import Word
from dpspec.plugin import ParameterError
from dpspec.plugin.applications import to_toml


def delta_of(mu: float, epsilon: float) -> float:
    """Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) (Balle and Wang 2018)."""
    phi = lambda x: math.erfc(-x / math.sqrt(2)) / 2  # noqa: E731
    return phi(mu / 2 - epsilon / mu) - math.exp(epsilon) * phi(-mu / 2 - epsilon / mu)


def least_epsilon(mu: float, delta: float) -> float:
    low, high = 0.0, 100.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if delta_of(mu, middle) <= delta else (middle, high)
    return high


def largest_column(rows: list[list[F]]) -> float:
    return max(math.sqrt(sum(float(row[step]) ** 2 for row in rows)) for step in range(len(rows[0])))


def random_matrix(source: random.Random) -> list[list[F]]:
    """Any shape, any signs, with equal and empty columns."""
    steps, rows = source.randint(1, 4), source.randint(1, 4)
    matrix = [[F(source.randint(-3, 3), source.choice((1, 2, 3))) for _ in range(steps)] for _ in range(rows)]
    matrix[0][0] = matrix[0][0] or F(1)
    return matrix


@pytest.mark.parametrize(("steps", "nodes"), [(1, 1), (3, 2), (4, 3), (6, 3), (8, 4)])
def test_the_tree_has_the_complete_nodes_only(steps: int, nodes: int) -> None:
    """The first leaf lies in a node of each width that is a power of two up to the number of steps."""
    matrix = strategy_matrix("tree", steps)
    assert [sum(row[0] for row in matrix), len(set(matrix))] == [nodes, len(matrix)]
    assert len(matrix) == sum(steps >> level for level in range(steps.bit_length()))


def test_the_square_root_is_one() -> None:
    """Its square is the matrix of prefix sums, up to the rounding."""
    root = strategy_matrix("square-root", 12)
    for i in range(12):
        for j in range(12):
            entry = sum(root[i][k] * root[k][j] for k in range(12))
            assert abs(entry - (1 if j <= i else 0)) < F(1, 10**14)


@pytest.mark.spread(7, slow=12)
@pytest.mark.parametrize("seed", range(40))
def test_the_budget_is_that_of_the_largest_column(seed: int) -> None:
    """Verified at the budget of an oracle in floats, and refuted at 4/5 of it."""
    source = random.Random(seed)
    matrix, noise = random_matrix(source), F(source.randint(2, 12), 2)
    steps, norm = len(matrix[0]), largest_column(matrix)
    epsilon = least_epsilon(norm / float(noise), 1e-5)
    run = dp.ftrl(steps=steps, strategy=matrix, noise_multiplier=noise)
    assert epsilon <= float(run.spec.budget.uniform().as_fraction()) <= epsilon + 1.1e-4
    assert dp.verify(run).word is Word.HOLDS
    answered = run.mechanism.queries[0]
    assert [answered.answers(((str(step + 1),),), run.spec.space) for step in range(steps)] == list(zip(*matrix, strict=True))
    for share in (F(4, 5), F(99, 100)):
        claim = F(epsilon).limit_denominator(10**6) * share
        refuted = dp.verify(dp.ftrl(steps=steps, strategy=matrix, noise_multiplier=noise, epsilon=claim))
        assert refuted.word is Word.REFUTED


def test_the_pair_is_of_the_step_with_the_largest_column() -> None:
    run = dp.ftrl(steps=2, strategy=[[1, 0], [1, 2]], noise_multiplier=4)
    witness = dp.verify(run.mechanism, dp.ftrl(steps=2, strategy=[[1, 0], [1, 2]], noise_multiplier=4, epsilon=1).spec).witness
    assert {*witness.left} | {*witness.right} == {("2",)}


@pytest.mark.parametrize("strategy", ["tree", "square-root"])
def test_accounting_as_independent_noise_is_refuted(strategy: str) -> None:
    """The budget of one step with noise of its own is that of sensitivity 1, and a strategy has a larger one."""
    alone = dp.sgd(steps=1, rate=1, noise_multiplier=4).spec.budget.uniform()
    assert dp.verify(dp.ftrl(steps=4, strategy=strategy, noise_multiplier=4, epsilon=alone)).word is Word.REFUTED


def test_other_standards_have_the_values_of_the_largest_column() -> None:
    """Tree of 4 steps: norm^2 = 3, so mu^2 = 3/16, rho = 3/32, and Renyi divergence 3/32 alpha."""
    run = dp.ftrl(steps=4, strategy="tree", noise_multiplier=4)
    space = run.spec.space
    for standard, budget, less in (
        ("zCDP", {"rho": "3/32"}, {"rho": "3/40"}),
        ("renyi", {"epsilon": "3/16", "order": 2}, {"epsilon": "3/20", "order": 2}),
        ("gaussian", {"mu": "sqrt(3/16)"}, {"mu": "2/5"}),
    ):  # fmt: skip
        for values, word in ((budget, dp.Outcome.VERIFIED), (less, dp.Outcome.REFUTED)):
            promise = dp.spec(space=space, distance="add-remove", unit="example", standard=standard, **values)
            assert dp.verify(run.mechanism, promise).outcome is word


@pytest.mark.parametrize("strategy", ["tree", "square-root"])
@pytest.mark.parametrize("steps", [1, 2, 3, 5, 7, 12, 31, 32, 33])
def test_the_largest_column_is_that_of_the_matrix(strategy: str, steps: int) -> None:
    columns = zip(*strategy_matrix(strategy, steps), strict=True)
    assert squared_norm(strategy, steps) == max(sum(entry**2 for entry in column) for column in columns)


@pytest.mark.parametrize(("steps", "strategy"), [(65, "tree"), (100_000, "tree"), (65, "square-root"), (20_000, "square-root")])
def test_runs_of_many_steps(steps: int, strategy: str) -> None:
    """The norm of the tree is that of its levels, that of the square root about sqrt(ln(steps)/pi + 1.07)."""
    norm = math.sqrt(steps.bit_length())
    if strategy == "square-root":
        logs = (math.lgamma(2 * k + 1) - 2 * math.lgamma(k + 1) - k * math.log(4) for k in range(steps))
        norm = math.sqrt(math.fsum(math.exp(2 * log) for log in logs))
    epsilon = least_epsilon(norm / 4, 1e-5)
    run = dp.ftrl(steps=steps, strategy=strategy, noise_multiplier=4)
    assert epsilon <= float(run.spec.budget.uniform().as_fraction()) <= epsilon + 1.1e-4
    assert dp.verify(run).word is Word.HOLDS
    claim = F(epsilon).limit_denominator(10**6) * F(99, 100)
    assert dp.verify(dp.ftrl(steps=steps, strategy=strategy, noise_multiplier=4, epsilon=claim)).word is Word.REFUTED


def test_a_run_that_is_counted_costs_what_it_does_where_it_is_listed() -> None:
    matrix = [["1", "1/2"], ["0", "2"]]
    longer = [[*row, *["0"] * MOST_LISTED] for row in matrix]
    two, many = (dp.ftrl(steps=len(rows[0]), strategy=rows, noise_multiplier=4) for rows in (matrix, longer))
    assert two.spec.budget == many.spec.budget
    assert [len(run.mechanism.queries[0].attributes) for run in (two, many)] == [1, 0]
    assert [dp.verify(run).word for run in (two, many)] == [Word.HOLDS] * 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": 0}, {"steps": MOST_STEPS + 1}, {"strategy": "trees"}, {"strategy": [[1, 0]]}, {"strategy": []},
        {"strategy": [[0, 0, 0, 0]]}, {"noise_multiplier": 0}, {"clip": 0}, {"delta": 0},
    ],
    ids=str,
)  # fmt: skip
def test_numbers_outside_of_their_ranges_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        dp.ftrl(**{"steps": 4, "strategy": "tree", "noise_multiplier": 4, **wrong})


@pytest.mark.spread(10, slow=10)
@pytest.mark.parametrize("seed", range(20))
def test_accounting_with_another_number_than_the_largest_column_is_refuted(seed: int) -> None:
    """The first column, the mean of all columns, the largest row, and one step without correlation, where these are less."""
    source = random.Random(1_000 + seed)
    matrix, noise = random_matrix(source), 4.0
    norm, steps = largest_column(matrix), len(matrix[0])
    first = math.sqrt(sum(float(row[0]) ** 2 for row in matrix))
    mean = math.sqrt(sum(float(entry) ** 2 for row in matrix for entry in row) / steps)
    row = max(math.hypot(*map(float, row)) for row in matrix)
    for other in (first, mean, row, 1.0):
        if other < norm * 0.999:
            claim = F(least_epsilon(other / noise, 1e-5)).limit_denominator(10**6)
            run = dp.ftrl(steps=steps, strategy=matrix, noise_multiplier=4, epsilon=claim)
            assert dp.verify(run).word is Word.REFUTED


def test_the_statement_is_a_file(tmp_path: Path) -> None:
    run = dp.ftrl(steps=4, strategy="square-root", noise_multiplier=4)
    path = tmp_path / "run.dpspec.toml"
    path.write_text(to_toml(run, installed().registry), encoding="utf-8")
    known = dp.verify(path)
    assert known.word is Word.HOLDS
    assert known.document.mechanism == run.mechanism


def test_neither_records_replaced_nor_an_epoch_accounted_as_samples_are_verified_at_this_budget() -> None:
    run = dp.ftrl(steps=4, strategy="tree", noise_multiplier=4)
    budget = run.spec.budget.uniform()
    replaced = dp.spec(
        space=run.spec.space, distance="replace-one", unit="example", standard="approximate", epsilon=budget, delta="1e-5"
    )  # fmt: skip
    assert dp.verify(run.mechanism, replaced).outcome is dp.Outcome.REFUTED
    as_samples = dp.sgd(steps=4, rate="1/4", noise_multiplier=4).spec.budget.uniform()
    assert dp.verify(dp.ftrl(steps=4, strategy="tree", noise_multiplier=4, epsilon=as_samples)).word is Word.REFUTED
