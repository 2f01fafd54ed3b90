"""What a swap does to the county x tenure table of Massachusetts 1940, run by run: the source's utility figure.

Run from the shell:

    python -m reproductions.massachusetts --out DIR --runs 20

It prints one swapped county table at rate 1/2, whether both invariants hold exactly, and the MAPE at every swap rate, and it
saves the picture. The table is public, so the runs may be seeded; without --seed they draw from the operating system.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import click
from dpspec_census.massachusetts import ATTRIBUTES, COUNTIES, Massachusetts1940, county_table, invariant_counts, mape
from dpspec_census.swapping import DerangementSwapping, PermutationSwapping, Swapping

from dpspec.base.randomness import Randomness, SeededRandomness, SystemRandomness
from dpspec.blocks.records import UnorderedRecords
from dpspec.grammar.tables import Table

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
    """The source's scheme (Bailie, Gong and Meng 2023): match on household size, swap the county, hold tenure; one state."""
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


# --- the command ----------------------------------------------------------------------------------


@click.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path(), help="Where the picture goes.")
@click.option("--runs", type=click.IntRange(1), default=20, show_default=True, help="Runs for each swap rate.")
@click.option("--seed", type=int, default=None, help="Make the runs reproducible.")
def main(out: Path, runs: int, seed: int | None) -> None:
    """Swap the dwellings of Massachusetts 1940 and measure what it costs."""
    if importlib.util.find_spec("matplotlib") is None:
        raise click.UsageError("the picture needs matplotlib, which is not installed: pip install matplotlib")
    source: Randomness = SystemRandomness() if seed is None else SeededRandomness(seed)
    table = Massachusetts1940().build()
    swapped = massachusetts_swap(Fraction(1, 2)).release(table, SPACE, source)
    click.echo("\n".join(swapped_table(table, swapped)))
    steps = len(SWAP_RATES) * runs
    with click.progressbar(length=steps, label="swapping", file=sys.stderr) as bar:
        results = utility_runs(table, SWAP_RATES, runs, source, progress=lambda: bar.update(1))
    click.echo("\n".join(mape_table(results)))
    out.mkdir(parents=True, exist_ok=True)
    picture = out / "massachusetts-mape.png"
    plot_mape(results, picture)
    click.echo(f"picture: {picture}")


def swapped_table(before: Table, after: Table) -> list[str]:
    """The county table before and after a swap in the layout of the source, and a line on each invariant."""
    old, new = county_table(before), county_table(after)
    lines = [f"{'county':<12}{'owned':>9}{'rented':>9}{'total':>9} |{'owned':>9}{'rented':>9}{'total':>9}"]
    sums = [0] * 6
    for county in (*COUNTIES, "total"):
        row = [table[county, tenure] for table in (old, new) for tenure in ("owned", "rented")] if county != "total" else []
        cells = [row[0], row[1], row[0] + row[1], row[2], row[3], row[2] + row[3]] if row else sums
        lines.append(f"{county:<12}" + "".join(f"{c:>9}" + (" |" if i == 2 else "") for i, c in enumerate(cells)))
        sums = [total + cell for total, cell in zip(sums, cells, strict=True)] if row else sums
    labels = ("household size x tenure, state", "household size x county")
    for label, held, kept in zip(labels, invariant_counts(before), invariant_counts(after), strict=True):
        lines.append(f"invariant {label}: {'holds exactly' if held == kept else 'VIOLATED'} ({len(held)} cells)")
    return lines


def mape_table(results: tuple[UtilityRun, ...]) -> list[str]:
    """Mean, least and largest MAPE of every swap rate, in percent."""
    lines = [f"{'swap rate':>10}{'runs':>6}{'mean MAPE':>11}{'least':>9}{'largest':>9}{'owned':>9}{'rented':>9}"]
    for rate in sorted({run.swap_rate for run in results}):
        runs = [run for run in results if run.swap_rate == rate]
        values = [float(run.mape) for run in runs]
        owned, rented = (sum(float(getattr(run, tenure)) for run in runs) / len(runs) for tenure in ("owned", "rented"))
        mean = sum(values) / len(values)
        numbers = "".join(f"{value:>9.4f}" for value in (min(values), max(values), owned, rented))
        lines.append(f"{float(100 * rate):>8g} %{len(runs):>6}{mean:>11.4f}{numbers}")
    if not all(run.invariants_held for run in results):
        lines.append("an invariant was VIOLATED in some run")
    return lines


if __name__ == "__main__":
    main()
