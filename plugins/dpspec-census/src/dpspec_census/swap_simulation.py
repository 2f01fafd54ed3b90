r"""A lower bound on the power of a test for one exchange in a real table, by simulating the swap, with its confidence.

`swap_table` bounds every test from above. Here one test is tried: a weighted sum of the four published counts in which two tables
differ. Only these four counts are drawn, not whole tables. In one stratum let n[a][b] be the number of records of rest group a
(the two rest values of the exchange, and all others) and swap group b (likewise).

* Selected are Binomial(n[a][b], p) records of each of the nine groups; the others stay where they are.
* Permutation swapping: the selected values of one swap value go to a uniform subset of the selected records, so that the numbers
  that reach each rest group are hypergeometric.
* Derangement swapping: the images of the values of the two swap values are a uniform sequence of different places, none its own.
  Given them, the others are deranged with probability sum_j (-1)^j C(t, j) (k-j)!/k!, k the number of other places and t those
  whose own value is among the others; the sequence is kept with this probability, which makes the whole a uniform derangement.

The threshold of the test is chosen on runs of their own. The level and the power of the chosen test are then bounded by the
intervals of Clopper and Pearson; where the level may be too large, the test rejects with a smaller probability.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from dpspec.plugin import Record, grammar, late_module
from dpspec_census.swap_pair import Swap
from dpspec_census.swap_table import CountedCells, corner_power, kinds_in

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Groups: TypeAlias = npt.NDArray[np.int64]
    Numbers: TypeAlias = npt.NDArray[np.float64]
else:
    np = late_module("numpy")

CONFIDENCE = Fraction(95, 100)
"""Of the level and the power together."""
RUNS = 10_000
"""Runs of each of the two tables that evaluate the test; half as many choose its weights and threshold."""
MOST_OUTCOMES = 100
"""Up to so many different outcomes in the runs that choose the test, each is weighted by its frequencies."""
FEWEST = 40
"""The number of the smallest cells of a stratum that are searched for the exchange that is the easiest to detect."""


def simulated_power(
    swap: Swap, strata: Mapping[Record, CountedCells], level: Fraction, *, derange: bool, runs: int = RUNS, seed: int = 0
) -> grammar.SimulatedPower | None:
    """The power of one test against the exchange in a table that is the easiest to see, at least.

    Args:
        swap: the rates of the strata.
        strata: the table.
        level: of the test, in (0, 1).
        derange: derangement swapping; False for permutation swapping.
        runs: simulated releases of each of the two tables.
        seed: of the simulation.

    Returns:
        None where no exchange changes the table.

    >>> from dpspec_census.swapping import PermutationSwapping
    >>> swap = PermutationSwapping(swap=["place"], swap_rate="1/2")
    >>> cells = {(("own",), ("a",)): 20, (("own",), ("b",)): 30, (("rent",), ("a",)): 30, (("rent",), ("b",)): 20}
    >>> found = simulated_power(swap.constants(), {(): cells}, Fraction(1, 20), derange=False)
    >>> 0.05 <= found.power <= 0.1127
    True
    """
    chosen = _easiest(swap, strata, level)
    if chosen is None:
        return None
    groups, p = chosen
    other = groups.copy()
    other[[0, 1], [0, 1]] -= 1
    other[[0, 1], [1, 0]] += 1
    random = np.random.Generator(np.random.PCG64(seed))
    learned = [_published(side, p, runs // 2, random, derange=derange) for side in (groups, other)]
    score = _score(learned[0], learned[1])
    threshold, shared = _cut(score(learned[0]), float(level))
    counted = []
    for side in (groups, other):
        found = score(_published(side, p, runs, random, derange=derange))
        at_threshold = (found == threshold) & (random.random(runs) < shared)
        counted.append(int(((found > threshold) | at_threshold).sum()))
    alarms, hits = counted
    each = float(1 - CONFIDENCE) / 2
    most, least = _upper(alarms, runs, each), _lower(hits, runs, each)
    power = least * min(1.0, float(level) / most) if most > 0 else least
    least_power = max(Fraction(math.floor(power * 10**6), 10**6), level)
    return grammar.SimulatedPower(power=least_power, confidence=CONFIDENCE, runs=runs, seed=seed)


Score: TypeAlias = "Callable[[Numbers], Numbers]"


def _score(own: Numbers, other: Numbers) -> Score:
    """What grows with the evidence for the other table: the ratio of frequencies of few outcomes, else a linear score."""
    outcomes, places = np.unique(np.concatenate([own, other]), axis=0, return_inverse=True)
    if len(outcomes) <= MOST_OUTCOMES:
        sides = [np.bincount(part, minlength=len(outcomes)) for part in np.split(places.ravel(), [len(own)])]
        ratios = (sides[1] + 0.5) / (sides[0] + 0.5)
        known = {tuple(outcome): float(ratio) for outcome, ratio in zip(outcomes.tolist(), ratios, strict=True)}
        return lambda rows: np.array([known.get(tuple(row), 0.0) for row in rows.tolist()])
    spread = np.cov(np.concatenate([side - side.mean(axis=0) for side in (own, other)]).T) + 1e-9 * np.eye(4)
    weights = np.linalg.solve(spread, other.mean(axis=0) - own.mean(axis=0))
    return lambda rows: rows @ weights


def _cut(scores: Numbers, level: float) -> tuple[float, float]:
    """A threshold, and how often to reject at it, so that the level is reached on these scores."""
    ordered = np.sort(scores)[::-1]
    threshold = float(ordered[min(len(ordered) - 1, math.floor(level * len(ordered)))])
    above, at = float((scores > threshold).mean()), float((scores == threshold).mean())
    return threshold, max(0.0, min(1.0, (level - above) / at))


def _easiest(swap: Swap, strata: Mapping[Record, CountedCells], level: Fraction) -> tuple[Groups, Fraction] | None:
    """The groups of the exchange with the largest bound, with the rate of its stratum."""
    best: tuple[float, Groups, Fraction] | None = None
    for match, cells in strata.items():
        if min(kinds_in(cells)) < 2:
            continue
        p = swap.rate_of(match)
        small = sorted(cells, key=lambda pair: cells[pair])[:FEWEST]
        for place, first in enumerate(small):
            for second in small[place + 1 :]:
                if first[0] == second[0] or first[1] == second[1]:
                    continue
                corner = (
                    cells[first] - 1, cells[second] - 1, cells.get((first[0], second[1]), 0), cells.get((second[0], first[1]), 0)
                )  # fmt: skip
                lower = tuple(min(count, 50) for count in corner)
                found = corner_power((lower[0], lower[1], lower[2], lower[3]), p, level)
                if best is None or found > best[0]:
                    best = found, _groups(cells, first, second), p
    return None if best is None else (best[1], best[2])


def _groups(cells: CountedCells, first: tuple[Record, Record], second: tuple[Record, Record]) -> Groups:
    """The nine counts by rest group and swap group."""
    rests, swaps = {first[0]: 0, second[0]: 1}, {first[1]: 0, second[1]: 1}
    found = np.zeros((3, 3), dtype=np.int64)
    for (rest, swap), count in cells.items():
        found[rests.get(rest, 2), swaps.get(swap, 2)] += count
    return found


# --- one release after the other ------------------------------------------------------------------


def _published(groups: Groups, p: Fraction, runs: int, random: np.random.Generator, *, derange: bool) -> Numbers:
    """The four published counts of simulated releases, one row each."""
    rows = np.empty((runs, 4))
    for run in range(runs):
        while True:
            selected = random.binomial(groups, float(p))
            if not derange or selected.sum() != 1:
                break
        if not derange:
            moved = _permuted(selected, random)
        elif selected[:, :2].sum() <= selected[:2].sum():
            moved = _deranged(selected, random)
        else:  # the inverse of a uniform derangement is one, too: the rest values go to the swap values
            moved = _deranged(selected.T, random).T
        counts = (groups - selected)[:2, :2] + moved
        rows[run] = counts[0, 0], counts[1, 1], counts[0, 1], counts[1, 0]
    return rows


def _permuted(selected: Groups, random: np.random.Generator) -> Groups:
    """How many values of the two swap values reach each of the two rest values, under a uniform permutation."""
    takers, found = selected.sum(axis=1), np.zeros((2, 2), dtype=np.int64)
    for value in (0, 1):
        reached = random.multivariate_hypergeometric(takers, int(selected[:, value].sum()))
        found[:, value] = reached[:2]
        takers = takers - reached
    return found


def _deranged(selected: Groups, random: np.random.Generator) -> Groups:
    """The same under a uniform derangement of the selected records."""
    size, found = int(selected.sum()), np.zeros((2, 2), dtype=np.int64)
    if not size:
        return found
    # places: the values of the first swap value, of the second, and the others, each by rest group
    starts = np.concatenate([[0], np.cumsum(selected.T.ravel())])
    moved = int(starts[6])
    values = np.repeat([0, 1], [int(starts[3]), moved - int(starts[3])])
    own = np.arange(moved)
    while True:
        images = random.choice(size, moved, replace=False)
        if (images == own).any():
            continue
        inside = int((images < moved).sum())
        others, forbidden = size - moved, size - moved - (moved - inside)
        if random.random() < _deranged_share(others, forbidden):
            break
    rests = (np.searchsorted(starts, images, side="right") - 1) % 3
    for value in (0, 1):
        for rest in (0, 1):
            found[rest, value] = int(((values == value) & (rests == rest)).sum())
    return found


def _deranged_share(places: int, forbidden: int) -> float:
    """The share of the bijections of so many places that avoid their own value at the forbidden ones."""
    term, total = 1.0, 1.0
    for j in range(1, forbidden + 1):
        term *= -(forbidden - j + 1) / (j * (places - j + 1))
        total += term
        if abs(term) < 1e-17:
            break
    return max(total, 0.0)


# --- the intervals of Clopper and Pearson ---------------------------------------------------------


def _upper(hits: int, runs: int, error: float) -> float:
    scipy: Any = late_module("scipy.special")
    return 1.0 if hits == runs else float(scipy.betaincinv(hits + 1, runs - hits, 1 - error))


def _lower(hits: int, runs: int, error: float) -> float:
    scipy: Any = late_module("scipy.special")
    return 0.0 if not hits else float(scipy.betaincinv(hits, runs - hits + 1, error))
