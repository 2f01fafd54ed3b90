r"""Whether a kind of record can occur, where the margins are not decomposable: integer programs with checked answers.

The tables of a universe are the integer points x >= 0 with A x = b, one row of A for each published count. Whether some of the
kinds in a set T occurs in one of them is the program

    max sum_{c in T} x_c   with   A x = b,  0 <= x <= u,  x integer,      u_c the least margin of c

A solver computes with doubles, so its answers are checked in whole numbers and never taken at its word:

* *it occurs*: the rounded solution fulfils A x = b exactly;
* *it does not*: for any rational y, weak duality bounds the maximum by y b + sum_c max(0, t_c - y A_c) u_c, with t the indicator
  of T. The solver's y is rounded to fractions and the bound is computed exactly; below 1 it is a proof.

Anything else is *undecided*. Limits are counted (programs, nodes), so that the answer does not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpspec_disclosure.margins import Codes, Margins, identities, sums

MOST_UNKNOWNS = 20_000
"""Programs of more unknowns than this are not tried: one takes more than a second there."""

MOST_NODES = 1_000
"""The largest number of nodes of the search tree of one program; programs of published margins usually need fewer than ten."""

DENOMINATOR = 1 << 12
"""Dual values are rounded to fractions with at most this denominator; those of margins are small fractions."""


@attrs.frozen(kw_only=True, eq=False)
class Found:
    """The answer of one program.

    Args:
        proved: True where a table shows it, False where a bound excludes it, None where neither was found.
        table: a table of the universe, as counts of the kinds of the block; None where none was found.
    """

    proved: bool | None
    table: Codes | None


@attrs.frozen(kw_only=True, eq=False)
class Program:
    """The tables of a universe in one block of kinds.

    Args:
        kinds: the kinds of records of the block.
        counts: how many of each there are in the confidential table.
        rows: for each margin the number of the published count to which a kind adds, over all margins; -1 for none.
        published: the published counts.
        most: the most that each kind can count; -1 where nothing bounds it.
        slack: by how much the number of records may fall and rise (None: without bound), where no margin publishes it; else None.
    """

    kinds: Codes
    counts: Codes
    rows: tuple[Codes, ...]
    published: Codes
    most: Codes
    slack: tuple[int, int | None] | None

    def largest(self, wanted: npt.NDArray[np.bool_], more_than: int = 0, sign: int = 1) -> Found:
        """Whether sign * (count of the wanted kinds) is greater than `more_than` in some table of the universe."""
        if len(self.kinds) > MOST_UNKNOWNS:
            return Found(proved=None, table=None)
        solved = self._solved(wanted, sign)
        table = solved if solved is not None and self._fits(solved) else None
        if table is not None and sign * int(table[wanted].sum()) > more_than:
            return Found(proved=True, table=table)
        bound = self._dual_bound(wanted, sign)
        return Found(proved=False if bound is not None and bound < more_than + 1 else None, table=table)

    def _matrix(self) -> Any:
        from scipy.sparse import csr_matrix

        entries = [(row, column) for numbers in self.rows for column, row in enumerate(numbers.tolist()) if row >= 0]
        places = np.array(entries, dtype=np.int64).reshape(-1, 2).T
        return csr_matrix((np.ones(places.shape[1]), (places[0], places[1])), shape=(len(self.published), len(self.kinds)))

    def _upper(self) -> npt.NDArray[np.float64]:
        return np.where(self.most < 0, np.inf, self.most).astype(np.float64)

    def _solved(self, wanted: npt.NDArray[np.bool_], sign: int) -> Codes | None:
        from scipy.optimize import Bounds, LinearConstraint, milp

        equal = LinearConstraint(self._matrix(), self.published, self.published)
        constraints = [equal, *self._total_constraint()]
        found = milp(
            -sign * wanted.astype(np.float64), constraints=constraints, bounds=Bounds(0, self._upper()),
            integrality=np.ones(len(self.kinds)), options={"node_limit": MOST_NODES},
        )  # fmt: skip
        return None if found.x is None else np.rint(found.x).astype(np.int64)

    def _total_constraint(self) -> Sequence[Any]:
        from scipy.optimize import LinearConstraint

        if self.slack is None:
            return []
        total, (fall, rise) = int(self.counts.sum()), self.slack
        return [LinearConstraint(np.ones((1, len(self.kinds))), total - fall, np.inf if rise is None else total + rise)]

    def _fits(self, table: Codes) -> bool:
        if (table < 0).any():
            return False
        counted = np.zeros(len(self.published), dtype=np.int64)
        for numbers in self.rows:
            inside = numbers >= 0
            counted += sums(numbers[inside], table[inside], len(self.published))
        if not (counted == self.published).all():
            return False
        if self.slack is None:
            return True
        change, (fall, rise) = int(table.sum()) - int(self.counts.sum()), self.slack
        return -fall <= change and (rise is None or change <= rise)

    def _dual_bound(self, wanted: npt.NDArray[np.bool_], sign: int) -> Fraction | None:
        """A bound on sign * (count of the wanted kinds) over all real tables of the universe, proved in fractions.

        Where no margin publishes the number of records, sum_c x_c - z = n with -fall <= z <= rise is one more row.
        """
        from scipy.optimize import linprog
        from scipy.sparse import csr_matrix, hstack, vstack

        matrix, right = self._matrix(), self.published.tolist()
        bounds: list[tuple[float, float | None]] = [(0, None if most < 0 else most) for most in self.most.tolist()]
        columns = [[int(numbers[place]) for numbers in self.rows if numbers[place] >= 0] for place in range(len(self.kinds))]
        if self.slack is not None:
            fall, rise = self.slack
            last = csr_matrix(np.ones((1, len(self.kinds))))
            change = csr_matrix(([-1.0], ([len(right)], [0])), shape=(len(right) + 1, 1))
            matrix = hstack([vstack([matrix, last]), change]).tocsr()
            columns = [[*column, len(right)] for column in columns]
            right = [*right, int(self.counts.sum())]
            bounds.append((-fall, rise))
        worth = np.zeros(len(bounds))
        worth[: len(self.kinds)] = -sign * wanted.astype(np.float64)
        found = linprog(worth, A_eq=matrix, b_eq=right, bounds=bounds, method="highs")
        if found.status != 0:
            return None
        duals = [Fraction(-float(value)).limit_denominator(DENOMINATOR) for value in found.eqlin.marginals]
        bound = sum((y * b for y, b in zip(duals, right, strict=True)), Fraction(0))
        left = [sign * chosen - sum((duals[row] for row in column), Fraction(0))
                for column, chosen in zip(columns, wanted.tolist(), strict=True)]  # fmt: skip
        if self.slack is not None:
            left.append(duals[-1])
        for price, (low, high) in zip(left, bounds, strict=True):
            end = high if price > 0 else low
            if price != 0 and end is None:
                return None
            bound += price * Fraction(end or 0)
        return bound


def programs_of(margins: Margins, support: Codes) -> list[tuple[npt.NDArray[np.int64], Program]]:
    """The blocks of a universe, each with the places of its kinds in `support`: margins tie kinds only within a block.

    The blocks are the values of the attributes that every margin has; without a margin of all records the total ties everything.
    """
    tied = [set(clique) for clique in margins.cliques] + [set(partial.determined) for partial in margins.partial]
    common = tuple(sorted(set.intersection(*tied))) if margins.cliques and tied else ()
    blocks = identities(support[:, common])
    kinds_of_blocks = np.split(np.argsort(blocks, kind="stable"), np.cumsum(np.bincount(blocks))[:-1]) if len(support) else []
    return [(places, _program(margins, support[places])) for places in kinds_of_blocks]


def _program(margins: Margins, kinds: Codes) -> Program:
    counts = _counts(margins, kinds)
    rows, published, first = [], [], 0
    upper = np.full(len(kinds), -1, dtype=np.int64)
    for columns, counted in [
        *((clique, np.ones(len(kinds), dtype=bool)) for clique in margins.cliques),
        *((partial.columns, partial.counted(kinds)) for partial in margins.partial),
    ]:
        numbers = np.full(len(kinds), -1, dtype=np.int64)
        numbers[counted] = identities(kinds[counted][:, columns])
        size = int(numbers.max(initial=-1)) + 1
        totals = sums(numbers[counted], counts[counted], size)
        bound = totals[numbers[counted]]
        upper[counted] = np.where(upper[counted] < 0, bound, np.minimum(upper[counted], bound))
        rows.append(np.where(numbers < 0, -1, numbers + first))
        published.append(totals)
        first += size
    least, most = margins.sizes
    total = len(margins)
    slack = None if margins.cliques else (total - least, None if most is None else most - total)
    if not margins.cliques and most is not None:
        upper = np.where(upper < 0, most, np.minimum(upper, most))
    return Program(
        kinds=kinds, counts=counts, rows=tuple(rows), most=upper, slack=slack,
        published=np.concatenate(published) if published else np.zeros(0, np.int64),
    )  # fmt: skip


def _counts(margins: Margins, kinds: Codes) -> Codes:
    numbers = identities(np.concatenate([margins.kinds, kinds]))
    counted = sums(numbers[: len(margins.kinds)], margins.counts, int(numbers.max()) + 1)
    return counted[numbers[len(margins.kinds) :]]
