"""Designs with and without noise on one scale: ``python -m reproductions.one_scale DATA > docs/one-scale.md``.

DATA is a folder with the public samples, as their sources distribute them.
"""

from __future__ import annotations

import csv
import itertools
import math
import random
import sys
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path

import attrs

import dpspec as dp

HEAD = 'schema = 1\nid = "r"\ntitle = "R"\nkind = "counts"\n'
LAYOUT = '[tables]\nlabels = ["known", "secret"]\nlinked = true\n'
ROUNDING = '[[step]]\nrule = "rounding"\nbase = {}\n'
THRESHOLD = '[[step]]\nrule = "threshold"\nleast = 10\n'
BUDGETS = (Fraction(1, 2), Fraction(1), Fraction(2))
Counts = dict[tuple[str, str], int]


KEYS = '[[step]]\nrule = "cell-key"\nfile = "keys.csv"\n'
CHANGES = {0: (0,), 1: (-1, 0, 1, 2), 2: (-2, -1, 0, 1, 2)}
"""What the cell-key table allows for a count; larger counts as 2."""
TARGET = "secret"


@attrs.frozen
class Sample:
    """A public sample: its file, the attribute that attackers know and the one that they want, each with its column."""

    title: str
    file: str
    known: tuple[str, int]
    secret: tuple[str, int]


UK = "uk-census-2011-teaching-10k/uk_census_2011_teaching_10k.csv"
PUMS = "us-pums-california-1000/pums_california_demographics_1000.csv"
SAMPLES = (
    Sample("UK 2011 Census teaching sample", UK, ("region", 2), ("marital status", 8)),
    Sample("California PUMS sample", PUMS, ("education", 2), ("race", 3)),
    Sample("Adult", "uci-adult-1994/adult.data", ("occupation", 6), ("race", 8)),
)


def counts_of(path: Path, sample: Sample) -> Counts:
    """The table of known attribute by secret, with all combinations and its margins."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file, skipinitialspace=True)
        width = len(next(reader))
        pairs = Counter((row[sample.known[1]], row[sample.secret[1]]) for row in reader if len(row) == width)
    known, secret = (sorted({pair[place] for pair in pairs}) for place in (0, 1))
    return {
        (k, s): sum(n for (a, b), n in pairs.items() if k in (a, "Total") and s in (b, "Total"))
        for k, s in itertools.product([*known, "Total"], [*secret, "Total"])
    }


def write(folder: Path, cells: dict[tuple[str, str], object]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [f"{k},{s},{shown}" for (k, s), shown in cells.items()]
    (folder / "t.csv").write_text("\n".join(["known,secret,count", *rows]) + "\n", encoding="utf-8")
    return folder


def inner(cells: Counts) -> list[tuple[str, str]]:
    return [cell for cell in cells if "Total" not in cell]


def line(folder: Path, name: str, shown: dict[tuple[str, str], object], truth: Counts, steps: str) -> str:
    """One design without noise: what `rules audit` says of it, and its error."""
    rules = folder / "r.rules.toml"
    rules.write_text(f"{HEAD}{steps}{LAYOUT}", encoding="utf-8")
    changes = [f"{count},{change},{Fraction(1, len(row))}" for count, row in CHANGES.items() for change in row]
    (folder / "keys.csv").write_text("\n".join(["i,v,p", *changes]) + "\n", encoding="utf-8")
    records = folder / "records.csv"
    listed = [f"{k},{s}" for k, s in inner(truth) for _ in range(truth[k, s])]
    records.write_text("\n".join(["known,secret", *listed]) + "\n", encoding="utf-8")
    where = write(folder / name.replace(" ", "-"), shown)
    found = dp.rules_audit(where, rules=rules, secret=TARGET, known=["known"], records=records).value
    [attack] = found.attacks
    rest = attack.all_but_one
    numbers = [abs(int(str(shown[cell])) - truth[cell]) for cell in inner(truth) if shown.get(cell, "x") != "x"]
    error = f"{sum(numbers) / len(numbers):.2f}" if numbers else "-"
    missing = len(inner(truth)) - len(numbers)
    known = f"{attack.certain} of {len(attack.targets)}"
    largest = "1" if rest.determined else "below 1"
    return f"| {name} | {float(rest.belief):.3f} | {largest} | {rest.determined:,} | {known} | {error} | {missing} |"


def noisy_line(budget: Fraction, secrets: int) -> str:
    """Two-sided geometric noise on each cell, epsilon for one replaced record, which changes two cells by one."""
    ratio = math.exp(-budget / 2)
    belief = 1 / (1 + (secrets - 1) * math.exp(-budget))
    error = 2 * ratio / (1 - ratio**2)
    return f"| geometric noise, epsilon {float(budget):g} | at most {belief:.3f} | {belief:.3f} | 0 | 0 | {error:.2f} | 0 |"


def section(sample: Sample, data: Path) -> list[str]:
    truth = counts_of(data / sample.file, sample)
    codes, secrets = (len({cell[place] for cell in inner(truth)}) for place in (0, 1))
    nearest = {base: {cell: (2 * n + base) // (2 * base) * base for cell, n in truth.items()} for base in (5, 10)}
    source = random.Random(2026)
    keyed = {cell: n + source.choice(CHANGES[min(n, 2)]) for cell, n in truth.items()}
    margins = {cell: n for cell, n in truth.items() if "Total" in cell}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rules = folder / "t.rules.toml"
        rules.write_text(f"{HEAD}{THRESHOLD}{LAYOUT}", encoding="utf-8")
        design = dp.rules_design(write(folder / "raw", dict(truth)), rules, keep=["known", "secret"]).value
        hidden = {(c.row["known"], c.row["secret"]) for c, is_hidden in design.cells if is_hidden}
        lines = [
            line(folder, "exact table", dict(truth), truth, ROUNDING.format(1)),
            line(
                folder,
                "suppression below 10",
                {c: "x" if c in hidden else n for c, n in truth.items()},
                truth,
                ROUNDING.format(1),
            ),
            line(folder, "margins only", dict(margins), truth, ROUNDING.format(1)),
            line(folder, "rounding to base 5", dict(nearest[5]), truth, ROUNDING.format(5)),
            line(folder, "rounding to base 10", dict(nearest[10]), truth, ROUNDING.format(10)),
            line(folder, "cell keys up to 2", dict(keyed), truth, KEYS),
        ]
    return [
        f"## {sample.title}",
        "",
        f"{truth['Total', 'Total']:,} records; {sample.known[0]} ({codes} codes, known), {sample.secret[0]} ({secrets}, secret).",
        "",
        "| design | mean belief | largest | records determined | secret certain from tables | mean error | cells not published |",
        "|---|---|---|---|---|---|---|",
        *lines,
        *(noisy_line(budget, secrets) for budget in BUDGETS),
        "",
    ]


def main(data: Path) -> str:
    """The page."""
    lines = [*INTRO.splitlines()]
    for sample in SAMPLES:
        lines += section(sample, data)
    return "\n".join(lines).rstrip()


INTRO = """# Designs with and without noise on one scale

Made by `python -m reproductions.one_scale DATA > docs/one-scale.md` from three public samples.

The scale is the belief of one attacker in the true secret of a person. The attacker knows all other records and the known code of
the person, and begins with the same belief in every secret. A table that is published exactly is at 1, and no release at 1 over
the number of secrets.

* **Without noise**, the secrets that fit the published numbers share the belief: 1 over their number. `rules audit --records`
  counts them. A record is *determined* where one is left. *Secret certain from tables* is for an attacker who knows the tables
  and the known code only: the codes with one possible secret. Cell keys count by what they can do to a number, not by how often.
* **With noise**, the belief is bounded for every output: 1 / (1 + (k - 1) exp(-epsilon)) for k secrets, where one record replaced
  by another costs at most epsilon. Here each cell has two-sided geometric noise of exp(-epsilon / 2), since a replaced record
  changes two cells. Margins are sums of noisy cells.

The error is the mean absolute error of the published cells, margins left out. Suppression is that of `rules design` with a
threshold of 10 and exact margins. A swap that leaves both margins unchanged discloses with certainty what *margins only* does.
The belief without noise is the mean over the records; the bound with noise holds for each of them.

"""


if __name__ == "__main__":
    sys.stdout.write(main(Path(sys.argv[1])) + "\n")
