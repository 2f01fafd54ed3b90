"""What may be published about a swap: functions of the invariants and of the parameters alone (B-D24, B-T11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpspec.blocks.space import DatasetSpace
from dpspec.table import Table, ranked
from dpspec_census.swap_budget import nominal_budget
from dpspec_census.swap_scheme import StratumSizes

if TYPE_CHECKING:
    from dpspec_census.swapping import Swapping


def published(mechanism: Swapping, table: Table, space: DatasetSpace) -> dict[str, Any]:
    """The strata of a table, their sizes, and the budget of its universe as the theorem prints it.

    All of it is constant inside a universe of c_Swap, so it adds nothing to what the invariants tell.
    """
    sizes, strata, alone = stratum_sizes(table, mechanism.match)
    budgets = {claim.spec.budget: claim for claim in mechanism.claims(space)}
    told = []
    for budget, claim in budgets.items():
        full = getattr(budget, "form", "") == "s23-full"
        b = sizes.largest_varied if full else sizes.largest
        epsilon = nominal_budget(b, mechanism.swap_rate, str(getattr(budget, "form", "s23-full")))
        told.append({"claim": claim.label, "source": claim.source, "b": b, "epsilon": str(epsilon), "about": epsilon.decimal()})
    return {
        "unit": mechanism.unit,
        "match": list(mechanism.match),
        "swap": list(mechanism.swap),
        "swap_rate": str(mechanism.swap_rate),
        "strata": strata,
        "strata of one record": alone,
        "largest stratum": sizes.largest,
        "largest stratum with different records": sizes.largest_varied,
        "budget of this universe": told,
    }


def stratum_sizes(table: Table, match: tuple[str, ...]) -> tuple[StratumSizes, int, int]:
    """The largest strata of a table, how many strata there are, and how many of them hold one record.

    Households with persons count as different, unless one stands alone: b is then an upper bound.
    """
    _, stratum, sizes = ranked(table.key(match))
    first = np.empty(len(sizes), dtype=np.int64)
    first[stratum[::-1]] = np.arange(len(table) - 1, -1, -1)
    differs = np.zeros(len(table), dtype=np.bool_)
    for column in table.codes.values():
        differs |= column != column[first[stratum]]
    varied = sizes > 1 if table.members is not None else np.bincount(stratum[differs], minlength=len(sizes)) > 0
    largest_varied = int(sizes[varied].max(initial=0))
    return StratumSizes(largest=int(sizes.max()), largest_varied=largest_varied), len(sizes), int((sizes == 1).sum())
