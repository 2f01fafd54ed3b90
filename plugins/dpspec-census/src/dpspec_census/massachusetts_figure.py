"""The source's example on Massachusetts 1940, run from the shell:

    python -m dpspec_census.massachusetts_figure --out DIR --runs 20

It prints one swapped county table at rate 1/2, whether both invariants hold exactly, and the MAPE at every swap rate, and it
saves the picture. The table is public, so the runs may be seeded; without --seed they draw from the operating system.
"""

from __future__ import annotations

import importlib.util
import sys
from fractions import Fraction
from pathlib import Path

import click

from dpspec.randomness import Randomness, SeededRandomness, SystemRandomness
from dpspec.table import Table
from dpspec_census.massachusetts import COUNTIES, Massachusetts1940, county_table, invariant_counts
from dpspec_census.utility import SPACE, SWAP_RATES, UtilityRun, massachusetts_swap, plot_mape, utility_runs


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
