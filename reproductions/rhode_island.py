"""TopDown on the real blocks of Rhode Island 2010, run from the shell:

    python -m reproductions.rhode_island --table ri_2010_blocks_pl94_counts.csv --out DIR

The table has one row for each of 25,181 blocks: GEOID (state 2 digits, county 3, tract 6, block 4, whose first is the
block group), and persons by voting age and eight groups. The counts are published ones, so nothing here needs protection; what
is shown is the mechanism on a real geography. The shares of the levels are those of 2020 (Kifer et al. 2022, Table 4) without the
nation; those of the queries are ours.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt
from dpspec_census.configuration_2020 import BASE, LEVEL_SHARES
from dpspec_census.hierarchy.by_levels import TopdownByLevels
from dpspec_census.hierarchy.workload import Tabulation, WeightedQuery
from dpspec_tables.formats import Csv

from dpspec.base.errors import TableError
from dpspec.base.files import whole
from dpspec.base.randomness import Randomness, SeededRandomness, SystemRandomness
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar.tables import Table, compact, occurring
from dpspec.grammar.workers import Output, Run

LEVELS = {"state": 2, "county": 5, "tract": 11, "block-group": 12, "block": 15}
"""The digits of the GEOID that name a node of each level."""
GROUPS = ("white", "black", "hisp", "aian", "asian", "nhpi", "other", "two")
AGES = ("minor", "adult")
QUERY_SHARES = {(): "1/4", ("votingage",): "1/10", ("group",): "1/10", ("votingage", "group"): "11/20"}


def mechanism() -> TopdownByLevels:
    """The state's population is invariant; persons are measured with the budget that 2020 gave to these levels."""
    shares = LEVEL_SHARES["person"][1:]
    persons = Tabulation(
        rho=BASE["person"] * sum(shares, Fraction(0)),
        level_shares=tuple(share / sum(shares, Fraction(0)) for share in shares),
        queries=tuple(
            WeightedQuery(attributes=names, shares=(Fraction(share),) * len(LEVELS)) for names, share in QUERY_SHARES.items()
        ),
    )
    return TopdownByLevels(levels=tuple(LEVELS), tables=(persons,), invariants=(Marginal(attributes=("state",)),))


def space_of(blocks: Sequence[str]) -> UnorderedRecords:
    """Persons with their place, voting age and group; the levels come from the blocks' numbers."""
    levels: list[Attribute] = []
    for name, digits in LEVELS.items():
        nodes = sorted({block[:digits] for block in blocks})
        above = levels[-1].name if levels else None
        parents = tuple(node[: LEVELS[above]] for node in nodes) if above else ()
        levels.append(Attribute(name=name, categories=tuple(nodes), within=above, parents=parents))
    own = (Attribute(name="votingage", categories=AGES), Attribute(name="group", categories=GROUPS))
    return UnorderedRecords(attributes=(*levels, *own))


def persons_of(path: Path) -> tuple[Table, UnorderedRecords]:
    """One record for each person of the file, and the space they lie in.

    Raises:
        TableError: a column is missing, a number of a block is no GEOID or stands twice, a count is negative or no whole number.
    """
    try:
        with path.open(newline="", encoding="utf-8") as handle:
            reader = csv.reader(handle)
            header = next(reader, [])
            place, columns = header.index("GEOID"), [header.index(column) for column in _columns()]
            rows = {row[place]: [row[column] for column in columns] for row in reader}
    except (OSError, ValueError, IndexError) as problem:
        raise TableError(
            path.name, "cannot be read as block counts", f"it needs GEOID and {_columns()[0]}, ...: {problem}"
        ) from None
    wrong = [block for block in rows if len(block) != LEVELS["block"] or not block.isdecimal()]
    if wrong or not rows:
        raise TableError("column GEOID", "must hold 15 digits", value=wrong[:3])
    blocks = sorted(rows)
    space = space_of(blocks)
    counts = _counts([rows[block] for block in blocks], blocks).reshape(len(blocks), 2, len(GROUPS))
    counts[:, 0] -= counts[:, 1]  # minors are all persons less those of voting age
    if (counts < 0).any():
        raise TableError("table", "has more persons of voting age than persons", value=blocks[int(np.argwhere(counts < 0)[0, 0])])
    place, age, group = (np.repeat(grid.ravel(), counts.ravel()) for grid in np.indices(counts.shape))
    codes = {"block": place, "votingage": age, "group": group}
    known = {a.name: a for a in space.attributes}
    for name, below in zip(reversed(tuple(LEVELS)[:-1]), reversed(tuple(LEVELS)), strict=False):
        index = {node: number for number, node in enumerate(known[name].categories)}
        codes[name] = np.array([index[parent] for parent in known[below].parents])[codes[below]]
    return Table(attributes=space.attributes, codes={a.name: compact(codes[a.name], a.size) for a in space.attributes}), space


def _columns() -> list[str]:
    return [f"{kind}_{group}" for kind in ("pop", "vap") for group in GROUPS]


def _counts(rows: Sequence[Sequence[str]], blocks: Sequence[str]) -> npt.NDArray[np.int64]:
    """The counts of all blocks; TableError where one is no whole number of persons."""
    try:
        values = np.array(rows, dtype=np.float64)
    except ValueError:
        raise TableError("table", "holds a count that is no number", "counts are whole numbers of persons") from None
    wrong = np.argwhere(~((values >= 0) & (values == np.floor(values))))
    if len(wrong):
        row, column = wrong[0].tolist()
        subject = f"block {blocks[row]}, column {_columns()[column]}"
        raise TableError(subject, "must be a whole number of persons", value=rows[row][column])
    return values.astype(np.int64)


def page(output: Output, seed: int | None) -> str:
    """The report as a page."""
    drawn = "the operating system's generator" if seed is None else f"audit seed {seed}, so not fit for publication"
    budget = output.report["budget"]
    allocated, lost = Fraction(budget["allocated"]["person"]), Fraction(budget["rho"])
    lines = [
        "# Rhode Island 2010 by TopDown",
        "",
        f"{len(output.main):,} persons, 16 cells, five levels; noise from {drawn}.",
        f"Allocated rho {allocated} = {float(allocated):.6f}. The total of the only state is an invariant and does not move, so",
        f"what one person can lose is {lost} = {float(lost):.6f}.",
        "",
        "| level | nodes | largest certified gap | error of a total | error of a cell | residuals in sigma by query |",
        "|---|---|---|---|---|---|",
    ]
    for level, error in zip(output.report["levels"], output.confidential["errors"], strict=True):
        residuals = ", ".join(f"{r['query']} {r['root_mean_square_in_sigma']:.2f}" for r in level["residuals"])
        total, cell = error["mean_absolute_error_of_a_total"], error["mean_absolute_error_of_a_cell"]
        certified = level["families_by_interior_point"] < level["families"]
        gap = f"{100 * level['largest_certified_gap']:.2g} %" if certified else "interior point"
        lines.append(f"| {level['level']} | {level['nodes']:,} | {gap} | {total:.2f} | {cell:.2f} | {residuals} |")
    lines += ["", "Constraints, counted again on the records:", ""]
    lines += [f"* {entry['constraint']}: {entry['counts']} counts, held exactly" for entry in output.report["constraints"]]
    lines += [
        "",
        "Errors are means of absolute differences to the table that was read, which is public here; those of a confidential",
        "table would not be published. Residuals are the distances of the noisy answers to the released table.",
    ]
    return "\n".join(lines) + "\n"


def write_rows(table: Table, path: Path, counted: bool) -> None:
    """The records as CSV, or one row for each occurring combination with its count."""
    if counted:
        names = [a.name for a in table.attributes]
        cells, counts = occurring(table.key(names), table.domain(names))
        places = np.unravel_index(cells, [a.size for a in table.attributes])
        number = Attribute(name="count", count=int(counts.max(initial=0)) + 1)
        table = Table(attributes=(*table.attributes, number), codes={**dict(zip(names, places, strict=True)), "count": counts})
    with whole(path) as part:
        Csv().write(table, part, {})


@click.command()
@click.option("--table", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True, help="The counts by block.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Where the release goes.")
@click.option("--seed", type=int, default=None, help="Make the run reproducible, and unfit for publication.")
def main(table: Path, out: Path, seed: int | None) -> None:
    """Protect the block counts of Rhode Island by TopDown."""
    source: Randomness = SystemRandomness() if seed is None else SeededRandomness(seed)
    persons, space = persons_of(table)
    nodes = sum(a.size for a in space.attributes if a.name in LEVELS)
    with click.progressbar(length=nodes, label="nodes", file=sys.stderr) as bar:
        run = Run(source=source, progress=lambda done, _: bar.update(done - bar.pos))
        output: Any = mechanism().run(persons, space, run)
    out.mkdir(parents=True, exist_ok=True)
    write_rows(output.streams["measurements"].joined(), out / "measurements.csv", counted=False)
    write_rows(output.main, out / "released.csv", counted=True)
    with whole(out / "report.json") as part:
        part.write_text(json.dumps(output.report, indent=2) + "\n", encoding="utf-8")
    report = page(output, seed)
    with whole(out / "report.md") as part:
        part.write_text(report, encoding="utf-8")
    click.echo(report)


if __name__ == "__main__":
    main()
