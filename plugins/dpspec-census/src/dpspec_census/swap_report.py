"""What may be published about a swap: functions of the invariants and of the parameters alone (B-D24, B-T11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import attrs
import numpy as np
import numpy.typing as npt

from dpspec.blocks.budget import Budget
from dpspec.blocks.space import DatasetSpace
from dpspec.exact import Number
from dpspec.table import Table, ranked
from dpspec_census.swap_budget import nominal_budget
from dpspec_census.swap_scheme import StratumSizes

if TYPE_CHECKING:
    from dpspec_census.swap_budget import SwappingBudget
    from dpspec_census.swapping import Swapping


@attrs.frozen(kw_only=True, eq=False)
class Strata:
    """The strata of a table.

    Args:
        names: their numbers in `Table.key(match)`, ascending.
        sizes: their records.
        varied: whether they hold at least two different records. Households with persons count as different, unless one stands
            alone: the budget is then an upper bound.
    """

    names: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    varied: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, table: Table, match: tuple[str, ...]) -> Strata:
        """The strata by the columns `match`."""
        names, stratum, sizes = ranked(table.key(match))
        if table.members is not None:
            return cls(names=names, sizes=sizes, varied=sizes > 1)
        first = np.empty(len(sizes), dtype=np.int64)
        first[stratum[::-1]] = np.arange(len(table) - 1, -1, -1)
        varied = np.zeros(len(sizes), dtype=np.bool_)
        rows = np.arange(len(table))
        for column in table.codes.values():
            varied[stratum[rows[column[rows] != column[first[stratum[rows]]]]]] = True
            rows = rows[~varied[stratum[rows]]]
        return cls(names=names, sizes=sizes, varied=varied)

    def largest(self, having: npt.NDArray[np.bool_] | None = None) -> StratumSizes:
        """The largest stratum, and the largest with different records, among some or all of them."""
        sizes = self.sizes if having is None else np.where(having, self.sizes, 0)
        return StratumSizes(largest=int(sizes.max()), largest_varied=int(np.where(self.varied, sizes, 0).max()))


def published(mechanism: Swapping, table: Table, space: DatasetSpace) -> dict[str, Any]:
    """The strata of a table, their sizes, and the budget of its universe as the theorem prints it.

    All of it is constant inside a universe of c_Swap, so it adds nothing to what the invariants tell.
    """
    strata = Strata.of(table, mechanism.match)
    sizes = strata.largest()
    return {
        "unit": mechanism.unit,
        "match": list(mechanism.match),
        "swap": list(mechanism.swap),
        "swap rate": str(mechanism.swap_rate),
        "other rates": {", ".join(rate.stratum): str(rate.swap_rate) for rate in mechanism.rates},
        "strata": len(strata.sizes),
        "strata of one record": int((strata.sizes == 1).sum()),
        "largest stratum": sizes.largest,
        "largest stratum with different records": sizes.largest_varied,
        "budget of this universe": [
            _told(claim.label, claim.source, _budget(claim.spec.budget, mechanism, table, strata))
            for claim in mechanism.claims(space)
        ],
    }


def _budget(budget: Budget, mechanism: Swapping, table: Table, strata: Strata) -> Number:
    """The largest budget of a stratum, each with its own rate."""
    form = cast("SwappingBudget", budget).form
    budgets = []
    for rate, having in mechanism.rates_of(table).classes(strata.names):
        if having.any():
            sizes = strata.largest(having)
            b = sizes.largest_varied if form == "s23-full" else sizes.largest
            budgets.append(nominal_budget(b, rate, form))
    return max(budgets)


def _told(label: str, source: str, epsilon: Number) -> Mapping[str, str]:
    return {"claim": label, "source": source, "epsilon": str(epsilon), "about": epsilon.decimal()}
