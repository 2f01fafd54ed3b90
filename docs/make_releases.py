"""Make docs/releases: swaps of two public samples, drawn from a seed so that anybody gets the same page.

    python docs/make_releases.py DATA [--out DIR]

DATA is a folder with `uk-census-2011-teaching-10k` and `us-pums-california-1000`, as their sources distribute them. The
columns of the specification are taken from each file and released by `specs/samples`. Both tables are public: so a seed
does no harm here, and the utility report, which reads the table before the swap, may be shown.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "releases"
SEED = 2011
MADE = f"\nMade by `python docs/make_releases.py DATA`, with seed {SEED}."
WORST = 12
"""Tables of two attributes that are shown."""


@attrs.frozen(kw_only=True)
class Sample:
    """A public table and its swap.

    Args:
        page: the name of the page, and of the specification behind `swapping-`.
        title: its heading.
        file: where the table lies inside DATA.
        columns: attribute of the specification: column of the file.
        credit: whose data it is.
    """

    page: str
    title: str
    file: str
    columns: Mapping[str, str]
    credit: str

    @property
    def spec(self) -> Path:
        return ROOT / "specs" / "samples" / f"swapping-{self.page}.dpspec.toml"


SAMPLES = (
    Sample(
        page="uk-2011-teaching",
        title="A swap of the UK 2011 Census teaching sample",
        file="uk-census-2011-teaching-10k/uk_census_2011_teaching_10k.csv",
        columns={
            "region": "Region", "sex": "Sex", "age": "Age", "marital_status": "Marital Status",
            "ethnic_group": "Ethnic Group", "economic_activity": "Economic Activity",
        },
        credit="Source: Office for National Statistics licensed under the Open Government Licence v.1.0.",
    ),
    Sample(
        page="california-pums",
        title="A swap of a California PUMS sample",
        file="us-pums-california-1000/pums_california_demographics_1000.csv",
        columns={name: name for name in ("age", "sex", "educ", "race", "married")},
        credit="Source: US Census Bureau, Public Use Microdata Sample; a work of the US government.",
    ),
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with both samples")
    parser.add_argument("--out", type=Path, default=OUT, help="where the pages go")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for sample in SAMPLES:
        path = arguments.out / f"{sample.page}.md"
        path.write_text(page(sample, arguments.data), encoding="utf-8")
        sys.stdout.write(f"{path}\n")
    return 0


def page(sample: Sample, data: Path) -> str:
    """The report of one seeded release as Markdown."""
    import polars as pl
    from dpspec_release.draw import Options, draw
    from dpspec_release.write import write, write_utility

    from dpspec import installed
    from dpspec.api import read

    with tempfile.TemporaryDirectory() as folder:
        table, out, registry = Path(folder) / "sample.csv", Path(folder) / "out", installed().registry
        pl.read_csv(data / sample.file, infer_schema=False).select(**sample.columns).write_csv(table)
        drawn = draw(read(sample.spec), str(table), registry, out, Options(seed=SEED))
        told = write(drawn, registry, out)
        distances = write_utility(drawn)["tables"]
        confidential = dict(drawn.output.confidential)
    return "\n".join([*_head(sample, told), *_mechanism(told, confidential), *_utility(distances), MADE, ""])


def _head(sample: Sample, told: Mapping[str, Any]) -> Iterable[str]:
    yield f"# {sample.title}\n"
    yield f"**{told['warning']}** The table is public, so nothing is given away here.\n"
    link = f"[`{sample.spec.name}`](../../specs/samples/{sample.spec.name})"
    yield f"{told['records']:,} persons; specification {link}. {sample.credit}\n"
    yield f"SHA-256 of the released file: `{told['released'][0]['sha256']}`\n"
    yield "## Invariants\n\nAsked of the table before and after the swap, by code that does not know the mechanism.\n"
    yield "| invariant | cells | |\n|---|---|---|"
    for held in told["invariants"]:
        yield f"| {held['invariant']} | {held['cells']:,} | {'held' if held['held'] else held['reason']} |"


def _mechanism(told: Mapping[str, Any], confidential: Mapping[str, Any]) -> Iterable[str]:
    yield "\n## What the mechanism tells\n\n| | |\n|---|---|"
    report = told["stated_by_mechanism"]
    for name, value in report.items():
        if isinstance(value, (str, int)) or (isinstance(value, list) and name != "budget of this universe"):
            yield f"| {name} | {value if not isinstance(value, list) else ', '.join(value)} |"
    for budget in report["budget of this universe"]:
        yield f"| epsilon by {budget['claim']} ({budget['source']}) | {budget['epsilon']}, about {budget['about']} |"
    yield "\nTo the agency alone it also tells: " + ", ".join(f"{name} {value:,}" for name, value in confidential.items()) + "."


def _utility(distances: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    changed = sorted((d for d in distances if d["largest_error"]), key=lambda d: -d["mean_absolute_error"])
    kept = sum(1 for d in distances if not d["largest_error"])
    yield f"\n## Utility\n\nOf the tables of one or two attributes, {kept} are exactly as before; the others, up to {WORST}:\n"
    yield "| table | cells | MAPE (%) | mean absolute error | largest error |\n|---|---|---|---|---|"
    for d in changed[:WORST]:
        name = " x ".join(d["attributes"])
        yield f"| {name} | {d['cells']:,} | {d['mape']:.2f} | {d['mean_absolute_error']:.2f} | {d['largest_error']:,} |"


if __name__ == "__main__":
    sys.exit(main())
