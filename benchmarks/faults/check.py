"""Does the corpus say the truth? Asked of its functions without any engine of this package.

    python -m benchmarks.faults.check [--draws 40000] [--only NAME]

* A wrong one: its event is drawn on its pair; with Clopper-Pearson bounds at 1e-6 each, the two probabilities must break the
  claim, at the latest with 20 times as many draws. Where the smaller one is too small to be drawn it is given in closed form.
* A mended one: on neighbours among a few short datasets, and on the pair of the wrong one, outputs fall into cells (half-lines,
  boxes, exact values); none may break the claim with bounds at 1e-6 each divided by the number of cells.
The truth of a mended one rests on its line `holds`; this can only contradict it.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import math
import sys
import zlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import beta

from benchmarks.faults import FAULTS
from benchmarks.faults.entry import Fault

LEVEL = 1e-6
PAIRS = 9


def outcome(function: Callable[[Any, Any], Any], dataset: Any, rng: Any) -> Any:
    try:
        return function(list(dataset), rng)
    except Exception as problem:
        return type(problem).__name__


def drawn(function: Callable[[Any, Any], Any], dataset: Any, draws: int, salt: str) -> list[Any]:
    rng = np.random.default_rng(zlib.crc32(f"{salt} {dataset}".encode()))
    return [outcome(function, dataset, rng) for _ in range(draws)]


def happens(event: Callable[[Any], bool], out: Any) -> bool:
    try:
        return bool(event(out))
    except (TypeError, KeyError, IndexError, AttributeError, ValueError):
        return False


def at_least(hits: int, draws: int, level: float) -> float:
    return float(beta.ppf(level, hits, draws - hits + 1)) if hits else 0.0


def at_most(hits: int, draws: int, level: float) -> float:
    return float(beta.ppf(1 - level, hits + 1, draws - hits)) if hits < draws else 1.0


def renyi(p: float, q: float, order: float) -> float:
    """The Renyi divergence of two coins."""
    with np.errstate(all="ignore"):
        terms = [order * math.log(a) + (1 - order) * math.log(b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0 and b > 0]
    return float(np.logaddexp.reduce(terms)) / (order - 1)


def breaks(claim: tuple[Any, ...], size: float, distance: float, p: float, q: float) -> bool:
    """Whether an event of at least p against at most q breaks the claim at this distance."""
    if claim[0] == "concentrated":
        return p > q and any(renyi(p, q, order) > size * order * distance**2 for order in (1.1, 1.5, 2, 3, 5, 9, 17))
    if claim[0] == "approximate":
        return distance == 1 and p > math.exp(size) * q + Fraction(claim[2])
    return p > math.exp(size * distance) * q


def distance(fault: Fault, left: Any, right: Any) -> float:
    if not hasattr(fault.space, "values"):
        return max(abs(a - b) for a, b in zip(left, right, strict=True))
    if fault.fixed:
        return sum(repr(a) != repr(b) for a, b in zip(left, right, strict=True))
    counts = collections.Counter(map(repr, left))
    counts.subtract(collections.Counter(map(repr, right)))
    return sum(map(abs, counts.values()))


def datasets(fault: Fault) -> Iterator[Any]:
    if not hasattr(fault.space, "values"):
        n = fault.space.length
        yield from (
            (0,) * n,
            (1,) * n,
            (-1,) * n,
            (1,) * (n - 1) + (-1,),
            (1, *(0,) * (n - 1)),
            (2,) * (n // 2) + (1,) * (n - n // 2),
        )
        return
    least, most = fault.space.least, fault.space.most
    sizes = [least] if fault.fixed else range(min(4, 4 if most is None else most) + 1)
    for size in sizes:
        choose = itertools.product if fault.space.ordered else itertools.combinations_with_replacement
        pool = choose(fault.space.values, repeat=size) if fault.space.ordered else choose(fault.space.values, size)
        yield from pool


def pairs(fault: Fault) -> list[tuple[Any, Any]]:
    """The pair of the wrong one, and neighbours among a few short datasets, chosen evenly."""
    tried = list(itertools.islice(datasets(fault), 400))
    found = [(x, y) for x, y in itertools.combinations(tried, 2) if distance(fault, x, y) == 1]
    step = max(1, len(found) // PAIRS)
    return [fault.pair, *found[::step][:PAIRS]]


def numbers(out: Any) -> tuple[Any, ...]:
    """An output as a flat tuple."""
    if isinstance(out, dict):
        return tuple(itertools.chain.from_iterable((key, *numbers(value)) for key, value in out.items()))
    if isinstance(out, list | tuple):
        return tuple(itertools.chain.from_iterable(map(numbers, out)))
    return (float(out) if isinstance(out, np.floating) else out,)


def cells(out: Any) -> Iterator[Any]:
    """The cells that an output is in: exact values, rounded boxes and half-lines of every coordinate and of sums."""
    flat = numbers(out)
    yield "exact", repr(out)
    yield "shape", tuple(type(part).__name__ if isinstance(part, float | int) else part for part in flat)
    reals = [part for part in flat if isinstance(part, float | int)]
    yield "signs", tuple(part > 0 for part in reals)
    for name, part in [
        *enumerate(reals),
        ("sum", sum(reals)),
        ("largest", max(reals, default=0)),
        ("least", min(reals, default=0)),
    ]:
        for cut in (-6, -1, 0, 0.5, 1, 3, 6, 20):
            yield name, "<=" if part <= cut else ">", cut


def wrong_says(fault: Fault, draws: int) -> tuple[bool, float, float]:
    """Whether the stated event breaks the claim, and the two frequencies."""
    hits = [sum(happens(fault.event, out) for out in drawn(fault.wrong, x, draws, "wrong")) for x in fault.pair]
    bound = (at_least(hits[0], draws, LEVEL), at_most(hits[1], draws, LEVEL) if fault.rare is None else fault.rare)
    return breaks(fault.claim, fault.size, distance(fault, *fault.pair), *bound), hits[0] / draws, hits[1] / draws


def mended_says(fault: Fault, draws: int) -> str | None:
    """A cell that breaks the claim of the mended one, if any."""
    laws: dict[str, collections.Counter[Any]] = {}

    def law(dataset: Any) -> collections.Counter[Any]:
        if repr(dataset) not in laws:
            outs = drawn(fault.mended, dataset, draws, "mended")
            laws[repr(dataset)] = collections.Counter(itertools.chain.from_iterable(set(cells(out)) for out in outs))
        return laws[repr(dataset)]

    for one, two in pairs(fault):
        for x, y in ((one, two), (two, one)):
            p, q = law(x), law(y)
            level = LEVEL / max(1, len(p))
            for cell, hits in p.items():
                if hits < 15:
                    continue
                bound = at_least(hits, draws, level), at_most(q[cell], draws, level)
                if breaks(fault.claim, fault.size, distance(fault, x, y), *bound):
                    return f"{x} / {y}: {cell}: {hits} against {q[cell]} of {draws}"
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=40_000)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    bad = 0
    for fault in FAULTS:
        if given.only and fault.name not in given.only.split(","):
            continue
        broken, p, q = wrong_says(fault, given.draws)
        if not broken:
            broken, p, q = wrong_says(fault, 20 * given.draws)
        against = mended_says(fault, given.draws // 8)
        bad += (not broken) + (against is not None)
        shown = f"{'breaks' if broken else 'NOT SHOWN'} ({p:.5f}, {q:.5f})"
        print(f"{fault.name:34} wrong {shown}; mended {against or 'not contradicted'}", flush=True)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
