"""Training runs with correlated noise (DP-FTRL): what they promise, for a record that takes part in one step.

Let g_t be the sum of the clipped gradients of step t. A run releases C G + Z, where the rows of G are g_1, ..., g_T, C is the
strategy matrix, and Z is independent Gaussian noise of standard deviation `noise_multiplier` x `clip` (Kairouz et al. 2021;
Denisov et al. 2022). A record that takes part in step t alone moves C G by the column t of C times its gradient, whose l2 norm is
at most `clip`. Laws of Gaussian noise depend on the norm of that change only. So in units of `clip`, along the line on which the
gradient moves, the run is `weighted-sums` of records by their step, with Gaussian noise. The proof of these sums is that of the
run. The matrix of many steps is not listed. The divergence of two such Gaussian laws is that of N(0, 1) and N(c, 1), with c the
norm of the change over the deviation. So the run is then stated as a count of records, with noise of `noise_multiplier` over the
largest norm of a column.

Gradients may depend on earlier outputs, where each row is released after the steps that it sums (Denisov et al. 2022). Given the
outputs before step t, the gradient of the record is fixed, and no row that it moves has been released. The gradients of others
are the same functions of the outputs on both datasets, so the laws of the rest of the run differ by the same change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dpspec_divergences import MultDelta
from dpspec_noise import Gaussian, WeightedSums
from dpspec_noise.additive import CellWeights

from dpspec.plugin import Attribute, Integer, ParameterError, Rational, Text, UnorderedRecords, blocks, exact, laws, number
from dpspec.plugin.applications import as_document

if TYPE_CHECKING:
    from dpspec import SpecDocument

MOST_STEPS = 10**6
MOST_LISTED = 64
"""The statement lists the matrix of so many steps. Verification of 64 takes about ten seconds."""
STRATEGIES = ("tree", "square-root")
_DIGITS = 53
"""Coefficients of square roots are rounded to so many binary digits; the run is that of the rounded matrix."""

Matrix = tuple[tuple[Fraction, ...], ...]


def ftrl(
    *,
    steps: int,
    strategy: str | Sequence[Sequence[exact.NumberLike]],
    noise_multiplier: exact.NumberLike,
    clip: exact.NumberLike = 1,
    delta: exact.NumberLike = "1e-5",
    epsilon: exact.NumberLike | None = None,
) -> SpecDocument:
    """State a training run with correlated noise (DP-FTRL) of one epoch, which `verify` proves or refutes.

    Each record takes part in one step at most. Which one it is may be known: nothing is gained from shuffling or sampling.

    Args:
        steps: how many gradient steps, up to 10^6. The statement lists the matrix of up to 64 steps.
        strategy: the matrix C, a row for each released number and a column for each step; or "tree", the sums of all nodes of
            the binary tree that are complete within the steps (Kairouz et al. 2021); or "square-root", the square root of the
            matrix of prefix sums (Fichtenberger, Henzinger and Upadhyay 2023).
        noise_multiplier: the standard deviation of the noise on each row, in units of `clip`.
        clip: the largest l2 norm of the gradient of one record; the promise does not depend on it.
        delta: of (epsilon, delta), for one record added or removed.
        epsilon: the budget that is claimed; without it, the least one that is proved, rounded up to four decimals.

    Returns:
        the five blocks with the mechanism: `verify(ftrl(...))` judges it.

    Raises:
        ParameterError: numbers outside of their ranges, or a matrix of another shape.

    >>> run = ftrl(steps=8, strategy="tree", noise_multiplier=4)
    >>> print(run.spec.budget)
    epsilon = 19931/10000
    """
    count = int(Integer(1, MOST_STEPS).read(steps, "steps"))
    noise: Fraction = Rational(0, open_low=True).read(noise_multiplier, "noise_multiplier")
    allowed: Fraction = Rational(0, 1, open_low=True, open_high=True).read(delta, "delta")
    Rational(0, open_low=True).read(clip, "clip")
    square = squared_norm(strategy, count)
    if square == 0:
        raise ParameterError("strategy", "has only zeros", "give a matrix with an entry other than 0")
    if epsilon is None:
        upper = MultDelta(delta=allowed).evaluate(laws.GaussianShift(number(square / noise**2))).upper.as_fraction()
        epsilon = number(Fraction(-(-upper * 10_000 // 1), 10_000))
    from dpspec import spec

    is_listed = count <= MOST_LISTED
    mechanism, space = _listed(strategy_matrix(strategy, count), noise, square) if is_listed else _counted(noise, square)
    promise = spec(space=space, distance="add-remove", unit=_UNIT, standard="approximate", epsilon=epsilon, delta=allowed)
    return as_document(promise, "training", mechanism=mechanism)


_UNIT = "example"


def _listed(matrix: Matrix, noise: Fraction, square: Fraction) -> tuple[Gaussian, UnorderedRecords]:
    """The sums of records by their step, with the columns of the matrix as weights."""
    columns = tuple(zip(*matrix, strict=True))
    names = tuple(str(place + 1) for place in range(len(columns)))
    weights = tuple(CellWeights(cell=(name,), adds=column) for name, column in zip(names, columns, strict=True))
    rows = tuple(f"row {place + 1}" for place in range(len(matrix)))
    query = WeightedSums(attributes=("step",), sums=rows, weights=weights, unit=_UNIT)
    mechanism = Gaussian(queries=(query,), unit=_UNIT, variance=noise**2, sensitivity=exact.sqrt(square))
    return mechanism, UnorderedRecords(attributes=(Attribute(name="step", categories=names),), unit=_UNIT)


def _counted(noise: Fraction, square: Fraction) -> tuple[Gaussian, UnorderedRecords]:
    """A count of records with noise that hides as much of a record as the run does of one in the step with the largest column."""
    count = blocks.Marginal(attributes=(), unit=_UNIT)
    mechanism = Gaussian(queries=(count,), unit=_UNIT, variance=noise**2 / square)
    return mechanism, UnorderedRecords(attributes=(Attribute(name="kind", categories=("a", "b")),), unit=_UNIT)


def squared_norm(strategy: str | Sequence[Sequence[exact.NumberLike]], steps: int) -> Fraction:
    """The largest squared l2 norm of a column of a strategy matrix: the cost of a record of that step.

    Of a tree it is the number of nodes above the first leaf, one of each width that is a power of two; of a triangular Toeplitz
    matrix, whose columns are the beginnings of the first one, the square of that.

    >>> [str(squared_norm(name, 8)) for name in ("tree", [["1", "0", "0", "0", "0", "0", "0", "2"]])]
    ['4', '4']
    """
    if isinstance(strategy, str) and Text(STRATEGIES).read(strategy, "strategy") == "tree":
        return Fraction(steps.bit_length())
    if isinstance(strategy, str):
        return sum((entry**2 for entry in _coefficients(steps)), Fraction(0))
    columns = zip(*strategy_matrix(strategy, steps), strict=True)
    return max(sum((entry**2 for entry in column), Fraction(0)) for column in columns)


def strategy_matrix(strategy: str | Sequence[Sequence[exact.NumberLike]], steps: int) -> Matrix:
    """The rows of a strategy matrix for a number of steps.

    >>> [[str(entry) for entry in row] for row in strategy_matrix("tree", 2)]
    [['1', '0'], ['0', '1'], ['1', '1']]
    """
    if isinstance(strategy, str):
        return _tree(steps) if Text(STRATEGIES).read(strategy, "strategy") == "tree" else _square_root(steps)
    matrix = tuple(tuple(Fraction(Rational().read(entry, "strategy")) for entry in row) for row in strategy)
    if not matrix or any(len(row) != steps for row in matrix):
        rule = f"is a matrix with a column for each of the {steps} steps"
        raise ParameterError("strategy", rule, 'write rows of numbers, such as [["1", "0"], ["1/2", "1"]]')
    return matrix


def _tree(steps: int) -> Matrix:
    """A row for each node whose leaves are all among the steps, level by level."""
    rows: list[tuple[Fraction, ...]] = []
    width = 1
    while width <= steps:
        nodes = range(0, steps - width + 1, width)
        rows += [tuple(Fraction(first <= step < first + width) for step in range(steps)) for first in nodes]
        width *= 2
    return tuple(rows)


def _square_root(steps: int) -> Matrix:
    """The lower triangular Toeplitz matrix of the coefficients of the square root."""
    rounded = [*_coefficients(steps)]
    return tuple(tuple(rounded[row - step] if step <= row else Fraction(0) for step in range(steps)) for row in range(steps))


def _coefficients(steps: int) -> Iterator[Fraction]:
    """binom(2k, k) / 4^k, rounded; each is made of the one before, with 64 digits more than are kept."""
    known = 1 << (_DIGITS + 64)
    for place in range(1, steps + 1):
        yield Fraction((known + (1 << 63)) >> 64, 1 << _DIGITS)
        known = known * (2 * place - 1) // (2 * place)
