"""TopDown against swapping for the 2020 Census, computed from the specification files and printed as a page:

    python -m dpspec_census.topdown_vs_swapping > docs/topdown-vs-swapping.md

Every number on the page comes from a comparison, a yardstick or a ledger of this run (B-N1, B-N3); `comparison_page` is its text.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from typing import cast

import click

from dpspec.api import compare_specs, find_yardsticks, read_spec
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.checker.check import check_derivation
from dpspec.compare.comparison import Comparison
from dpspec.errors import IncompatibleBlocksError
from dpspec.extension import installed
from dpspec.ledger import Composition, Part, compose
from dpspec.params import evolve
from dpspec.spec import PrivacySpec
from dpspec.yardstick import Yardstick
from dpspec_census.comparison_of_schemes import Pair, Scheme, Setting
from dpspec_census.comparison_page import page
from dpspec_census.swap_budget import SwappingBudget

TOPDOWN = "topdown-2020-pl-dhc"
PARTS = ("topdown-2020-pl-persons", "topdown-2020-pl-housing-units", "topdown-2020-dhc-persons", "topdown-2020-dhc-housing-units")
SCHEMES = (
    "state-county", "state-size-county", "county-tract", "county-size-tract", "blockgroup-block", "blockgroup-size-block",
)  # fmt: skip
"""The rows of B-N3, in their order."""
RATES = (Fraction(1, 20), Fraction(1, 2))
LARGEST = 10
"""The default of the largest household: our choice, as in specs/ledger-2020; the sources state none."""


def scheme(name: str, specs: Path, setting: Setting) -> Scheme:
    """One swapping scheme against TopDown: comparison, yardsticks at both swap rates, and TopDown by its parts."""
    swap = read_spec(specs / f"swapping-2020-{name}.dpspec.toml").spec
    topdown = read_spec(specs / f"{TOPDOWN}.dpspec.toml").spec.replace(space=swap.space)
    budget = cast("SwappingBudget", swap.budget)
    swaps = tuple(swap.replace(budget=evolve(budget, swap_rate=rate)) for rate in RATES)
    found = tuple(_yardsticks(topdown, one, setting) for one in swaps)
    parts = together(swap, specs, setting)
    return Scheme(
        name=name,
        match=budget.match,
        swaps=swaps,
        comparison=compare_specs(topdown, swap),
        yardsticks=found,
        parts=parts,
        by_parts=_yardsticks(parts.spec, swap, setting),
        accepted=tuple(_accepted(one) for one in found[0] if one.is_common),
    )


def _yardsticks(left: PrivacySpec, right: PrivacySpec, setting: Setting) -> tuple[Yardstick, ...]:
    return find_yardsticks(left, right, largest_household=setting.largest_household, at={"delta": setting.delta})


def _accepted(one: Yardstick) -> bool:
    """Whether the checker, which shares no code with the search, accepts both derivations."""
    return all(check_derivation(proof.data(installed().registry)).accepted for proof in one.proofs())


def together(swap: PrivacySpec, specs: Path, setting: Setting) -> Composition:
    """What the four TopDown releases promise together per household: persons times N, housing units as they are."""
    space = _limited(swap.space, setting)
    parts = [read_spec(specs / f"{name}.dpspec.toml") for name in PARTS]
    stated = [Part(id=part.id, spec=part.spec.replace(space=space)) for part in parts]
    return compose(stated, like=stated[0].spec.replace(input_divergence=swap.input_divergence))


def _limited(space: DatasetSpace, setting: Setting) -> DatasetSpace:
    limited = space.with_most("person", "household", setting.largest_household)
    if limited is None:
        raise IncompatibleBlocksError("space", "has no persons in households", "give the files of the census", value=space.name)
    return limited


def exchange(comparison: Comparison) -> Pair:
    """Two datasets of one swapping universe with the same persons at each place, living together differently."""
    swap = comparison.right
    place = {a.name: next(a.values()) for a in swap.space.own_attributes("household")}
    place |= {"size": "2"} if "size" in place else {}

    def household(block: str, *persons: list[str]) -> list[object]:
        return [list({**place, "block": block}.values()), list(persons)]

    one, two = ["0", "0"], ["1", "0"]
    left = [household("0", one, one), household("0", two, two), household("1", one, two), household("1", one, two)]
    right = [household("0", one, two), household("0", one, two), household("1", one, one), household("1", two, two)]
    datasets: tuple[Dataset, Dataset] = (swap.space.dataset(left), swap.space.dataset(right))
    persons = comparison.left.input_divergence
    return Pair(
        words=swap.space.in_words(*datasets),
        together=swap.multiverse.share_universe(*datasets, swap.space),
        households=swap.input_divergence.distance(*datasets, swap.space),
        persons=persons.distance(*datasets, swap.space),
    )


@click.command()
@click.option("--largest-household", type=click.IntRange(1), default=LARGEST, show_default=True, help="Assumed: no more persons.")
@click.option("--delta", default="1e-10", show_default=True, help="Of approximate privacy, in (0, 1).")
@click.option("--specs", type=click.Path(file_okay=False, path_type=Path), default=Path("specs"), show_default=True,
              help="The directory of the specification files.")  # fmt: skip
def main(largest_household: int, delta: str, specs: Path) -> None:
    """Print the comparison of TopDown with the six swapping schemes of the 2020 Census as a Markdown page."""
    setting = Setting(largest_household=largest_household, delta=delta)
    with click.progressbar(SCHEMES, label="comparing", file=sys.stderr) as names:
        schemes = tuple(scheme(name, specs, setting) for name in names)
    click.echo(page(schemes, [exchange(single.comparison) for single in schemes], setting), nl=False)


if __name__ == "__main__":
    main()
