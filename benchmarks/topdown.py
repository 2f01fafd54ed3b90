"""TopDown on a synthetic state: five levels, the 2,016 cells of the 2020 persons, all invariants of TopDown; and on Rhode Island.

The state is drawn at random: blocks of very different size, housing units and group quarters in them, persons with the
attributes of the redistricting file. The run is that of a release: all levels of persons and housing units measured with the
allocation of 2020 (without the nation), fitted, rounded, and every constraint counted. Reading and writing tables is left out.
"""

from __future__ import annotations

import os
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from dpspec_census import TopdownByLevels
from dpspec_census.configuration_2020 import BASE, LEVEL_SHARES
from dpspec_census.hierarchy import descent as kernel
from dpspec_census.hierarchy.family import Family
from dpspec_census.hierarchy.fit import conic, program, rounded, solve, structured
from scipy.sparse import csr_array

from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.records import Households
from dpspec.grammar.workers import Run
from reproductions.rhode_island import main

RHODE_ISLAND = "us-census-2010-ri-blocks/ri_2010_blocks_pl94_counts.csv"
LEVELS = ("state", "county", "tract", "block-group", "block")
QUARTERS = tuple(f"quarters-{k}" for k in range(1, 8))
KINDS = ("household", "vacant", *QUARTERS)
INSTITUTIONS = ("household", "household", *["institutional"] * 3, *["other"] * 4)
HOUSING = ("household", "vacant")
RACES = 63


def mechanism() -> TopdownByLevels:
    """The persons and housing units of the redistricting file, and the invariants of TopDown by kind of group quarters."""
    invariants = (
        Marginal(attributes=("state",)),
        Marginal(attributes=("block",), unit="household", where=(("hhgq", HOUSING),)),
        *(Marginal(attributes=("block",), unit="household", where=(("hhgq", (kind,)),)) for kind in QUARTERS),
        Marginal(attributes=(), where=(("hhgq", ("vacant",)),)),
    )
    edits: list[Any] = [{"where": {"hhgq": [kind]}, "of_where": {"hhgq": [kind]}, "least": 1} for kind in QUARTERS]
    edits.append({"where": {"hhgq": ["household"]}, "of_where": {"hhgq": list(HOUSING)}})
    kept = LEVEL_SHARES["household"][1:]
    housing: Any = {
        "unit": "household",
        "rho": BASE["household"] * sum(kept, Fraction(0)),
        "level_shares": [share / sum(kept, Fraction(0)) for share in kept],
        "queries": [{"attributes": ["hhgq"], "shares": ["1"] * len(LEVELS)}],
    }
    given: Any = {"invariants": invariants, "edits": edits, "unit": "household"}
    return TopdownByLevels(levels=LEVELS, allocation=("2020-pl-persons",), tables=(housing,), **given)


def space(blocks: int) -> Households:
    """Places, the kind of a unit, and the attributes of the 2020 persons; nobody lives in a vacant unit."""
    sizes = (1, max(blocks // 1000, 2), max(blocks // 100, 4), max(blocks // 25, 8), blocks)
    places: list[Any] = [
        {"name": name, "count": size, **({"within": above} if above else {})}
        for name, size, above in zip(LEVELS, sizes, (None, *LEVELS), strict=False)
    ]
    kinds: list[Any] = [
        {"name": "hhinstlevels", "categories": ["household", "institutional", "other"]},
        {"name": "hhgq", "categories": list(KINDS), "within": "hhinstlevels", "parents": list(INSTITUTIONS)},
    ]
    persons: list[Any] = [
        {"name": "votingage", "count": 2},
        {"name": "hispanic", "count": 2},
        {"name": "cenrace", "count": RACES},
    ]
    return Households(household=[*places, *kinds], person=persons)


def synthetic(blocks: int, seed: int) -> dict[str, Any]:
    """Counts by block: units by kind, and persons by kind x voting age x hispanic x race."""
    draw = np.random.default_rng(seed)
    homes = np.where(draw.random(blocks) < 0.3, 0, draw.gamma(1.2, 14, blocks)).astype(int)
    vacant = draw.binomial(draw.poisson(2, blocks), 0.5)
    quarters = (draw.random((blocks, 7)) < 0.006).astype(int)
    units = np.column_stack([homes, vacant, quarters])
    sizes = np.column_stack([homes + draw.poisson(1.5 * homes), 0 * homes, quarters + draw.poisson(40 * quarters)])
    place, kind = (np.repeat(index.ravel(), sizes.ravel()) for index in np.indices(sizes.shape))
    race = draw.dirichlet(np.sort(draw.gamma(0.15, 1, RACES))[::-1] + 1e-3, max(blocks // 100, 1))
    cumulated = np.cumsum(race, axis=1)[np.minimum(place * len(race) // blocks, len(race) - 1)]
    races = (draw.random(len(place))[:, None] > cumulated).sum(axis=1).clip(0, RACES - 1)
    adult, hispanic = draw.random(len(place)) < 0.77, draw.random(len(place)) < 0.18
    cell = ((kind * 2 + adult) * 2 + hispanic) * RACES + races
    keys, counts = np.unique(place * (len(KINDS) * 4 * RACES) + cell, return_counts=True)
    persons = csr_array(
        (counts.astype(np.int64), (keys // (len(KINDS) * 4 * RACES), keys % (len(KINDS) * 4 * RACES))),
        shape=(blocks, len(KINDS) * 4 * RACES),
    )
    return {"household": csr_array(units), "person": persons}


def run(folder: Path, blocks: int) -> None:
    """All levels of a state of so many blocks, fitted and rounded."""
    true, plan = state(blocks)
    plan.descended(plan.invariants(true), Run(source=SeededRandomness(1)), true=true, given=None)


@lru_cache
def state(blocks: int) -> tuple[dict[str, Any], Any]:
    """The counts of a state and the plan of its release; made once, and not a part of what is timed."""
    return synthetic(blocks, 1), mechanism().plan(space(blocks))


@lru_cache
def families(blocks: int) -> list[Family]:
    """Some of the families that pass through the kernel."""
    found: list[Family] = []
    inner = kernel.solved

    def solved(family: Family, gap: float, passes: Any = None) -> Any:
        if family.parent is not None and family.children > 1:
            found.append(family)
        return inner(family, gap, passes)

    with mock.patch.object(kernel, "solved", solved):
        run(Path(), blocks)
    return found[:: max(len(found) // 40, 1)]


def fitted(folder: Path, blocks: int) -> None:
    """Feasibility, fit and rounding of these families."""
    for family in families(blocks):
        kernel.solved(family, 1e-3)


def fitted_alone(folder: Path, blocks: int) -> None:
    """The fit alone."""
    for family in families(blocks):
        structured(family, gap=1e-3)


def solved(folder: Path, blocks: int) -> None:
    """The small ones of these families by the interior-point method: assembled, solved and rounded."""
    for family in small(blocks):
        rounded(family, conic(family).tables)


def solved_alone(folder: Path, blocks: int) -> None:
    """The interior-point solver alone, on the same matrices."""
    for program_ in programs(blocks):
        solve(program_)


def small(blocks: int) -> list[Family]:
    return [family for family in families(blocks) if family.cells * family.children < 8000]


@lru_cache
def programs(blocks: int) -> list[Any]:
    return [program(family) for family in small(blocks)]


def rhode_island(folder: Path, _: int) -> None:
    """From the file of counts to the files of the release."""
    arguments = ["--table", str(Path(os.environ["BENCHMARK_DATA"]) / RHODE_ISLAND), "--out", str(folder / "out"), "--seed", "1"]
    main.main(arguments, standalone_mode=False)
