"""TopDown on a synthetic state: five levels, 10,000 blocks, the 2,016 cells of the 2020 persons, all invariants of TopDown.

    python benchmarks/topdown.py --blocks 10000 --write benchmarks/topdown.json

The state is drawn at random: blocks of very different size, housing units and group quarters in them, persons with the
attributes of the redistricting file. The run is that of a release: all levels of persons and housing units measured with the
allocation of 2020 (without the nation), fitted, rounded, and every constraint counted. Reading and writing tables is left out.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

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


class Watched:
    """The families that pass through the kernel, some of them kept to be solved again alone."""

    def __init__(self) -> None:
        self.kept: list[Family] = []
        self._inner = kernel.solved

    def __call__(self, family: Family, gap: float) -> Any:
        if family.parent is not None and family.children > 1 and len(self.kept) < 4000:
            self.kept.append(family)
        return self._inner(family, gap)


def seconds(work: Callable[[], object]) -> float:
    """Processor time."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def against_bare(families: list[Family]) -> dict[str, Any]:
    """The kernel's fit and rounding against its solver alone, and the interior-point path against that solver alone."""
    sample = families[:: max(len(families) // 40, 1)]
    fast = sum(seconds(lambda f=family: structured(f)) for family in sample)
    whole = sum(seconds(lambda f=family: kernel.solved(f, 1e-2)) for family in sample)
    small = [family for family in sample if family.cells * family.children < 8000]
    posed = [program(family) for family in small]
    bare = sum(seconds(lambda p=p: solve(p)) for p in posed)
    path = sum(seconds(lambda f=family: rounded(f, conic(f).tables)) for family in small)
    return {
        "families": len(sample),
        "fast_path_alone_seconds": round(fast, 3),
        "feasibility_fit_and_rounding_seconds": round(whole, 3),
        "ratio": round(whole / fast, 3),
        "small_families": len(small),
        "interior_point_alone_seconds": round(bare, 3),
        "assembled_solved_and_rounded_seconds": round(path, 3),
        "interior_point_ratio": round(path / bare, 3),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    true = synthetic(arguments.blocks, arguments.seed)
    plan = mechanism().plan(space(arguments.blocks))
    watched = Watched()
    kernel.solved = watched
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    begin, wall, stages = time.process_time(), time.perf_counter(), []

    def progress(done: int, total: int) -> None:
        stages.append({"nodes": done, "of": total, "processor_seconds": round(time.process_time() - begin, 2)})
        print(stages[-1], flush=True)

    run = Run(source=SeededRandomness(arguments.seed), progress=progress)
    done = plan.descended(plan.invariants(true), run, true=true, given=None)
    spent, passed = time.process_time() - begin, time.perf_counter() - wall
    levels = []
    for table in plan.tables:
        cells, fitted = done[table.cells.unit]
        for level, notes in enumerate(fitted.notes):
            truth = csr_array(true[cells.unit])
            nodes = cells.geography.size(level)
            error = cells.geography.summed(np.asarray(truth.sum(axis=1)), len(LEVELS) - 1, level) - fitted.counts[level].sum(
                axis=1
            )
            levels.append(
                {
                    "unit": cells.unit,
                    "level": LEVELS[level],
                    "nodes": nodes,
                    "families": len(notes),
                    "mean_rounds": round(float(notes[:, 0].mean()), 1),
                    "largest_gap": float(notes[:, 1].max()) / 1e6,
                    "by_interior_point": int(notes[:, 2].sum()),
                    "mean_absolute_error_of_a_total": round(float(abs(error).mean()), 3),
                }
            )
            print(levels[-1], flush=True)
    found = {
        "blocks": arguments.blocks,
        "persons": int(true["person"].sum()),
        "units": int(true["household"].sum()),
        "answers": int(sum(answers.size for _, fitted in done.values() for answers in fitted.answers)),
        "processor_seconds": round(spent, 1),
        "wall_seconds": round(passed, 1),
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "before_mib": round(before),
        "stages": stages,
        "levels": levels,
        "against_the_solver_alone": against_bare(watched.kept),
    }
    kernel.solved = watched._inner
    print(json.dumps(found["against_the_solver_alone"]), found["processor_seconds"], found["peak_mib"])
    if arguments.write is not None:
        arguments.write.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
