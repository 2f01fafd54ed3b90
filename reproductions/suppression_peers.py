"""Cell suppression next to tau-Argus, as a page: ``python -m reproductions.suppression_peers > docs/suppression-peers.md``.

Needs `pip install pytauargus==0.6.0`, an engine of tau-Argus with open-source solvers.
"""

from __future__ import annotations

import contextlib
import random
import sys
import tempfile
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import dpspec as dp

TABLES = 40
RULES = """schema = 1
id = "p-percent-20"
title = "p-percent rule, 20 percent"
kind = "magnitudes"
[[step]]
rule = "p-percent"
percent = 20
[tables]
labels = ["Region", "Branch"]
published = "Turnover"
contributors = "n"
total = "total"
largest = ["x1", "x2"]
"""
METHODS = {"tau-Argus, optimal": "OPT(1)", "tau-Argus, modular": "MOD(1)"}
Cells = dict[tuple[str, str], list[int]]


def firms(seed: int) -> list[dict[str, Any]]:
    """Eighty firms in four regions and four branches, with turnovers of a log-normal law."""
    source = random.Random(seed)
    return [
        {"Region": f"R{source.randrange(4)}", "Branch": f"B{source.randrange(4)}",
         "Turnover": max(1, round(source.lognormvariate(4, 1.2)))}
        for _ in range(80)
    ]  # fmt: skip


def cells_of(records: list[dict[str, Any]]) -> Cells:
    """The contributions of each cell, the largest first, margins included."""
    found: Cells = defaultdict(list)
    for record in records:
        for region in (record["Region"], "Total"):
            for branch in (record["Branch"], "Total"):
                found[region, branch].append(record["Turnover"])
    return {cell: sorted(xs, reverse=True) for cell, xs in found.items()}


def sensitive(xs: list[int]) -> bool:
    """The p-percent rule, written once more."""
    return sum(xs) - sum(xs[:2]) < Fraction(20, 100) * xs[0]


def write(folder: Path, cells: Cells, hidden: set[tuple[str, str]]) -> Path:
    """The table with its contents, some cells suppressed."""
    folder.mkdir(parents=True)
    lines = ["Region,Branch,Turnover,n,total,x1,x2"]
    for (region, branch), xs in sorted(cells.items()):
        shown = "x" if (region, branch) in hidden else sum(xs)
        lines.append(f"{region},{branch},{shown},{len(xs)},{sum(xs)},{xs[0]},{xs[1] if len(xs) > 1 else ''}")
    (folder / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def compared(folder: Path, seed: int) -> dict[str, tuple[int, int, int]] | None:
    """For each method the suppressed cells, the value of those that are not sensitive, and the cells short of protection."""
    from pytauargus.protect import protect

    cells = cells_of(firms(seed))
    if len(cells) < 25:
        return None  # programs differ in what they take an empty cell for
    rules = folder / "p.rules.toml"
    rules.write_text(RULES, encoding="utf-8")
    primary = {cell for cell, xs in cells.items() if sensitive(xs)}
    design = dp.rules_design(write(folder / "raw", cells, set()), rules, by="total").value
    patterns = {"dpspec rules design": {(c.row["Region"], c.row["Branch"]) for c, hidden in design.cells if hidden}}
    for name, method in METHODS.items():
        where = folder / name.rpartition(" ")[2]
        found = protect(firms(seed), ["Region", "Branch"], "Turnover", safety_rules="P(20,1)", suppress=method, workdir=where)
        patterns[name] = {(row["Region"], row["Branch"]) for row in found.tables[0].rows if row["status"] != "S"}
    if not design.is_optimal or not all(primary <= hidden for hidden in patterns.values()):
        raise RuntimeError(f"table {seed} is not what the page says")
    answers = {}
    for name, hidden in patterns.items():
        checked = dp.rules_check(write(folder / "check" / name.replace(" ", "-"), cells, hidden), rules).value.tables[0]
        answers[name] = len(hidden), sum(sum(cells[cell]) for cell in hidden - primary), len(checked.exposed)
    return answers


def main() -> str:
    """The page."""
    found = []
    for seed in range(TABLES):
        # tau-Argus writes its logs into the working directory
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            found.append(compared(Path(folder), seed))
    tables = [one for one in found if one is not None]
    least = "dpspec rules design"
    intro = f"""{len(tables)} tables of four regions by four branches with margins. Each is of 80 firms with turnovers of
        a log-normal law (seeds 0 to {TABLES - 1}, without tables that have an empty cell). A cell is sensitive
        by the p-percent rule with 20 percent. Each program suppresses other cells so that every sensitive cell
        can be as much larger and smaller as the rule requires, and keeps the suppressed turnover low. Every
        pattern was then held to `dpspec rules check`, whose ranges are exact."""
    lines = [
        "# Cell suppression next to tau-Argus",
        "",
        "Made by `python -m reproductions.suppression_peers > docs/suppression-peers.md`, with `pytauargus` 0.6.0.",
        "",
        " ".join(intro.split()),
        "",
        "| method | suppressed cells | turnover of the others | tables with the least | with less | cells not protected |",
        "|---|---|---|---|---|---|",
    ]
    for name in tables[0]:
        cells, value, short = (sum(one[name][place] for one in tables) for place in range(3))
        equal = sum(one[name][1] == one[least][1] for one in tables)
        lower = sum(one[name][1] < one[least][1] for one in tables)
        lines.append(f"| {name} | {cells:,} | {value:,} | {equal} of {len(tables)} | {lower} | {short} |")
    remarks = """All patterns protect. `rules design` proves that no pattern suppresses less turnover, and none of the
        others did. tau-Argus ran with its default options, and may require more than this rule, such as
        protection against a single contributor; so a higher cost is no fault. The search with a bound is for
        small tables; tau-Argus has methods for large ones, which were not compared."""
    missing = """**Not compared.** sdcTable, sdcMicro, ptable and cellKey are packages of R. Their archive could not be
        reached where this page was made, and the operating system does not distribute them."""
    lines += ["", " ".join(remarks.split()), "", " ".join(missing.split())]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(main() + "\n")
