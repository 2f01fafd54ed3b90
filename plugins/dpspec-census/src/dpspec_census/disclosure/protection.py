"""Which further cells must be suppressed so that no suppressed cell can be computed from the published ones.

An attacker knows the layout and every published number, and that base counts are integers at least 0. A suppressed cell c is
*protected* by (u, l) when two tables agree with all that is published, one of them with at least u more in c, one with at least l
less (Fischetti and Salazar 2000). Cell after cell, the fewest numbers that give this protection are suppressed:

    minimise  sum of w_c z_c   over z in {0, 1}, integer changes d', d'' >= -n
    subject to  -M z_c <= (A d)_c <= M z_c for d = d', d'' and every cell not yet suppressed,
                (A d')_p >= u,  (A d'')_p <= -l

A solution of the solver is believed only after integer arithmetic has confirmed its two tables. That no cheaper set exists rests
on the solver, the protection does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import attrs

from dpspec.errors import NumericalError
from dpspec_census.disclosure.tables import Counts, Layout


@attrs.frozen
class Need:
    """The protection that a sensitive cell asks for.

    Args:
        cell: the place of the published cell.
        up, down: how much more and less it must possibly hold; down is at most what it holds.
    """

    cell: int
    up: int
    down: int


@lru_cache(maxsize=1 << 12)
def suppressed(layout: Layout, base: Counts, needs: tuple[Need, ...]) -> frozenset[int]:
    """The places of the published cells that are suppressed: the sensitive ones, and those that protect them.

    Raises:
        NumericalError: the solver found no answer that integer arithmetic confirms.
    """
    hidden = {need.cell for need in needs}
    reached: dict[int, tuple[int, int]] = {}
    for need in sorted(needs, key=lambda need: (-need.up, need.cell)):
        low, high = reached.get(need.cell, (0, 0))
        if high >= need.up and -low >= need.down:
            continue
        for change in _cheapest(layout, base, frozenset(hidden), need):
            moved = layout.published(change)
            hidden |= {cell for cell, by in enumerate(moved) if by}
            for cell, by in enumerate(moved):
                low, high = reached.get(cell, (0, 0))
                reached[cell] = min(low, by), max(high, by)
    return frozenset(hidden)


def _cheapest(layout: Layout, base: Counts, hidden: frozenset[int], need: Need) -> tuple[Counts, Counts]:
    """The changes d' and d'' of the cheapest protection of one cell, confirmed."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import block_array, eye_array

    sums, size, values = matrix(layout), len(base), layout.published(base)
    free = [cell for cell in range(len(values)) if cell not in hidden]
    most = max(need.up, need.down)
    rows, wall = sums[free], most * eye_array(len(free))
    aim, nothing = sums[[need.cell]], None
    blocks = [
        [rows, nothing, -wall], [-rows, nothing, -wall], [nothing, rows, -wall], [nothing, -rows, -wall],
        [-aim, nothing, nothing], [nothing, aim, nothing],
    ] if free else [[-aim, nothing], [nothing, aim]]  # fmt: skip
    ceiling = np.zeros(4 * len(free) + 2)
    ceiling[-2:] = -need.up, -need.down
    cost = np.concatenate([np.zeros(2 * size), [1 + values[cell] for cell in free]])
    least = np.concatenate([-np.asarray(base), -np.asarray(base), np.zeros(len(free))])
    largest = np.concatenate([np.full(2 * size, sum(base) + most), np.ones(len(free))])
    found = milp(
        cost, integrality=np.ones(len(cost)), bounds=Bounds(least, largest),
        constraints=LinearConstraint(block_array(blocks, format="csr"), -np.inf, ceiling),
        options={"mip_rel_gap": 0},
    )  # fmt: skip
    if found.x is None:
        raise NumericalError("cell suppression", "the solver found no protection", "publish fewer tables", value=found.message)
    whole = tuple(round(value) for value in found.x)
    changes = whole[:size], whole[size : 2 * size]
    chosen = hidden | {cell for cell, z in zip(free, whole[2 * size :], strict=True) if z}
    _confirm(layout, base, chosen, need, changes)
    return changes


def _confirm(layout: Layout, base: Counts, chosen: frozenset[int] | set[int], need: Need, changes: tuple[Counts, Counts]) -> None:
    """The two tables exist, agree with all that stays published, and are as far apart as is asked for."""
    more, less = (layout.published(change) for change in changes)
    agree = all(by == 0 for moved in (more, less) for cell, by in enumerate(moved) if cell not in chosen)
    exist = all(n + d >= 0 for change in changes for n, d in zip(base, change, strict=True))
    if not (agree and exist and more[need.cell] >= need.up and -less[need.cell] >= need.down):
        raise NumericalError(
            "cell suppression", "an answer of the solver is not confirmed", "publish fewer tables", value=need.cell
        )


@lru_cache(maxsize=64)
def matrix(layout: Layout) -> Any:
    """A as a sparse matrix: rows are published cells, columns base cells."""
    import numpy as np
    from scipy.sparse import csr_array

    lengths = [len(places) for places in layout.members]
    columns = np.concatenate([np.asarray(places) for places in layout.members])
    rows = np.repeat(np.arange(len(lengths)), lengths)
    return csr_array((np.ones(len(columns)), (rows, columns)), shape=(len(lengths), len(layout.base)))


# --- the auditor ---------------------------------------------------------------------------------


@attrs.frozen
class Exposure:
    """What the published numbers say about a suppressed cell.

    Args:
        label: the cell.
        low, high: the least and the largest number of records that it can hold; high is None when there is no largest.
    """

    label: tuple[str, ...]
    low: int
    high: int | None

    @property
    def is_known(self) -> bool:
        """Whether the cell can be computed."""
        return self.low == self.high


def audit(layout: Layout, published: Mapping[int, int]) -> Iterator[Exposure]:
    """The feasible interval of every cell that is not published, over integer tables with the published numbers.

    The attacker of this audit does not know by which rule cells were suppressed; the level sets of the output do
    (`PossibleOutputs`), and can be smaller.

    Args:
        layout: the cells.
        published: the numbers of the published cells, by place.
    """
    seen = {place for cell in published for place in layout.members[cell]}
    for cell, label in enumerate(layout.labels):
        if cell in published:
            continue
        low = _extreme(layout, published, cell, 1)
        bounded = seen.issuperset(layout.members[cell])
        yield Exposure(label, low, _extreme(layout, published, cell, -1) if bounded else None)


def _extreme(layout: Layout, published: Mapping[int, int], cell: int, sign: int) -> int:
    """The least (sign 1) or largest (sign -1) number of a cell; the table that attains it is confirmed."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp

    sums, places = matrix(layout), list(published)
    numbers = np.asarray([published[place] for place in places])
    rows = [LinearConstraint(sums[places], numbers, numbers)] if places else []
    goal = sign * sums[[cell]].toarray()[0]
    found = milp(goal, integrality=np.ones(len(goal)), bounds=Bounds(0, np.inf), constraints=rows)
    if found.x is None:
        raise NumericalError("audit", "the solver found no table with the published numbers", value=found.message)
    table = layout.published([round(value) for value in found.x])
    if any(table[place] != number for place, number in published.items()):
        raise NumericalError("audit", "a table of the solver is not confirmed", value=layout.labels[cell])
    return table[cell]
