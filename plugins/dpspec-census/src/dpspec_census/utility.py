"""What a swap does to the county x tenure table of Massachusetts 1940, run by run: the source's utility figure (B-N5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs

from dpspec.blocks.records import UnorderedRecords
from dpspec.randomness import Randomness
from dpspec.table import Table
from dpspec_census.massachusetts import ATTRIBUTES, county_table, invariant_counts, mape
from dpspec_census.swapping import DerangementSwapping, PermutationSwapping, Swapping

SWAP_RATES = tuple(Fraction(percent, 100) for percent in (1, 2, 5, 10, 20, 30, 40, 50))
"""The swap rates of the figure, 1 % to 50 %."""

SPACE = UnorderedRecords(attributes=ATTRIBUTES, unit="household")
"""The dataset space of the built table."""


@attrs.frozen(kw_only=True)
class UtilityRun:
    """One swap of the table.

    Args:
        swap_rate: p.
        mape: mean absolute percentage error over all 28 cells, in percent.
        owned, rented: the same over the 14 cells of one tenure.
        invariants_held: whether both invariant tables are exactly as before.
    """

    swap_rate: Fraction
    mape: Fraction
    owned: Fraction
    rented: Fraction
    invariants_held: bool


def massachusetts_swap(swap_rate: Fraction, *, derange: bool = True) -> Swapping:
    """The source's scheme (B-N4): match on household size, swap the county, hold tenure; one state."""
    chosen: type[Swapping] = DerangementSwapping if derange else PermutationSwapping
    return chosen(match=("persons",), swap=("county",), swap_rate=swap_rate, unit="household")


def utility_runs(
    table: Table,
    rates: Sequence[Fraction],
    runs: int,
    source: Randomness,
    *,
    derange: bool = True,
    progress: Callable[[], object] | None = None,
) -> tuple[UtilityRun, ...]:
    """Swap the table `runs` times at every rate.

    Args:
        progress: called after every run.
    """
    before, held = county_table(table), invariant_counts(table)
    found = []
    for rate in rates:
        mechanism = massachusetts_swap(rate, derange=derange)
        for _ in range(runs):
            after = mechanism.release(table, SPACE, source)
            counts = county_table(after)
            found.append(
                UtilityRun(
                    swap_rate=rate,
                    mape=mape(before, counts),
                    owned=mape(before, counts, ["owned"]),
                    rented=mape(before, counts, ["rented"]),
                    invariants_held=invariant_counts(after) == held,
                )
            )
            if progress is not None:
                progress()
    return tuple(found)


def plot_mape(results: Sequence[UtilityRun], path: Path) -> None:
    """Draw one box of MAPE values for each swap rate and write it as PNG (needs matplotlib)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rates = sorted({run.swap_rate for run in results})
    boxes = [[float(run.mape) for run in results if run.swap_rate == rate] for rate in rates]
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes: Any = figure.subplots()
    axes.boxplot(boxes, tick_labels=[f"{float(100 * rate):g} %" for rate in rates])
    axes.set_xlabel("swap rate")
    axes.set_ylabel("MAPE of county x tenure (%)")
    axes.set_title(f"Swapping the 1940 dwellings of Massachusetts, {len(boxes[0])} runs per rate", fontsize="medium")
    axes.grid(visible=True, axis="y", alpha=0.3)
    figure.savefig(path, dpi=144)
