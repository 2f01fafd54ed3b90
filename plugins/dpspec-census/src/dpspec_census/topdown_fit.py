"""Step 2 of TopDown: the integer table nearest to the noisy measurements that keeps the invariants (B-A6).

    minimise    sum_i w_i e_i
    subject to  -e_i <= q_i(z) - t_i <= e_i,   c(z) = c(x),   z >= 0 integer,   the size of z allowed by the space

solved as a mixed-integer program by HiGHS (scipy). The weights w_i stand for 1/sigma_i as integers. The solver computes
in floats, so its answer is only a proposal: it is rounded and must then satisfy every constraint in integers. When
several tables are equally near, the one that the solver finds is taken; the program is built from (c, t) and the
space alone and the solver is deterministic, so the choice is a function of (c, t).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from dpspec.blocks.multisets import Multisets
from dpspec.blocks.space import DatasetSpace
from dpspec.errors import NumericalError
from dpspec_census.linear import products, query_rows

if TYPE_CHECKING:
    from dpspec_census.topdown import Topdown

_RESOLUTION = 10**4
"""The weight of the noisiest answer before common factors are taken out."""


def weights(variances: Sequence[Fraction]) -> tuple[int, ...]:
    """Integers in the proportion 1/sigma_i, the least of them to four digits.

    >>> weights([Fraction(1), Fraction(4), Fraction(1)])
    (2, 1, 2)
    """
    largest = max(variances)
    rough = [math.isqrt(int(_RESOLUTION**2 * largest / variance)) for variance in variances]
    common = math.gcd(*rough)
    return tuple(weight // common for weight in rough)


@lru_cache(maxsize=1 << 14)
def fitted(mechanism: Topdown, fixed: tuple[int, ...], measured: tuple[int, ...], space: DatasetSpace) -> tuple[int, ...]:
    """The fitted table as counts over the cells of the space.

    Raises:
        NumericalError: when the solver finds no table, or one that is not what was asked for.
    """
    queries = tuple(row for m in mechanism.measurements for row in query_rows(m.query, space))
    constraints = mechanism.constraints(space)
    proposal = _solve(queries, constraints, fixed, measured, weights(mechanism.variances(space)), _sizes(space))
    if min(proposal, default=0) < 0 or products(constraints, proposal) != fixed:
        raise NumericalError(
            "topdown", "the solver's table violates an invariant, and nothing is released", "use fewer cells or smaller counts"
        )
    return proposal


def _sizes(space: DatasetSpace) -> tuple[int, float]:
    if not isinstance(space, Multisets):
        return 0, math.inf
    return space.least, math.inf if space.most is None else space.most


def _solve(  # noqa: PLR0917 - the data of one linear program
    queries: tuple[tuple[int, ...], ...],
    constraints: tuple[tuple[int, ...], ...],
    fixed: tuple[int, ...],
    measured: tuple[int, ...],
    loss: tuple[int, ...],
    sizes: tuple[int, float],
) -> tuple[int, ...]:
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, eye_array, hstack

    q, t = np.asarray(queries, dtype=float), np.asarray(measured, dtype=float)
    answers, cells = q.shape
    errors = eye_array(answers)
    exact = np.asarray([*constraints, (1,) * cells], dtype=float)
    low, high = np.asarray([*fixed, sizes[0]], dtype=float), np.asarray([*fixed, sizes[1]], dtype=float)
    program = milp(
        c=np.concatenate([np.zeros(cells), np.asarray(loss, dtype=float)]),
        integrality=np.concatenate([np.ones(cells), np.zeros(answers)]),
        bounds=Bounds(0, np.inf),
        constraints=[
            LinearConstraint(hstack([csr_array(q), -errors]), -np.inf, t),
            LinearConstraint(hstack([csr_array(q), errors]), t, np.inf),
            LinearConstraint(hstack([csr_array(exact), csr_array((len(exact), answers))]), low, high),
        ],
        options={"mip_rel_gap": 0.0},
    )
    if program.x is None:
        raise NumericalError("topdown", "the solver found no table", str(program.message))
    return tuple(round(value) for value in program.x[:cells])
