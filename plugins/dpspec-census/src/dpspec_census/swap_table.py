r"""Bounds on the power of a test for one exchange in a real table under a swap.

Let x be the table, and x' be x with the swap values of two records of one stratum exchanged. By rest value r and swap value s,
the counts of x and x' differ in four cells: (r1, s1) and (r2, s2) have one record less in x', (r1, s2) and (r2, s1) one more.
Give the attacker more than is published: the table u of the records that are not selected, and the table w of those that are,
after the swap; what is published is their sum.

* u has independent binomial cells with probability 1-p of staying. In four of them the laws under x and x' are those of n and of
  n-1, or n+1, records.
* Permutation swapping: w is a uniform permutation of the swap values among the records that are selected. Its law given u depends
  on their margins alone, and those are the same under x and x'. So the pair of laws of (u, w) is that of u: four binomial cells.
* Derangement swapping: given u, with m records selected, the two laws of w come from a uniform derangement and from the same one
  after the exchange. They agree on all derangements that do not send one of the two records to the other, so that their total
  variation is at most 2/(m-1). A redraw happens unless E, under both with the same probability P(E) = 1 - n p (1-p)^(n-1). Hence

      power(a) <= power_u(a) / P(E) + E[min(1, 2/(M-1))],    M the number of selected records, given that it is at least 2.

By data processing this bounds every test on the published table. A binomial cell of n+1 records is one of n and an independent
Bernoulli variable, so that the pair (n, n-1) is the harder to distinguish the larger n is: only the smallest counts matter, and
counts may be capped. The bound does not say what tables farther away in the universe disclose.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from dpspec.plugin import Bracket, Record, late_module, number
from dpspec_census.swap_pair import Swap

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Masses: TypeAlias = npt.NDArray[np.float64]
else:
    np = late_module("numpy")

CountedCells = Mapping[tuple[Record, Record], int]
"""The number of records of a stratum with each rest value and swap value; only positive counts."""
Corner = tuple[int, int, int, int]
"""The counts of the four cells under x, without the records that are exchanged: the two that lose one, the two that gain one."""

CITATION = "docs/swapping-theorem.md, theorem 7"

MOST_COUNT = 2_000
"""Larger counts are taken for this one: their pair of laws is a post-processing of its own."""
MOST_CORNERS = 12
"""The number of corners that are evaluated one by one; the others are replaced by one with a larger divergence."""
MOST_CELLS = 3_000
"""Of a stratum with more different records, every count is taken to be the smallest there can be."""
STEP = 1 / 400
"""Log ratios of the two laws are moved to multiples of this one, outward."""
_SPARE = 1e-7
"""Added for the rounding of floating-point numbers, which is below 1e-9 in sums of so many positive terms."""
_EXACT_SIZE = 2_000
"""Up to so many records, sums over the number of those that are selected are written out."""


def kinds_in(cells: CountedCells) -> tuple[int, int]:
    """How many different rest values and swap values occur."""
    return len({rest for rest, _ in cells}), len({swap for _, swap in cells})


def power_of_exchanges(swap: Swap, strata: Mapping[Record, CountedCells], level: Fraction, *, derange: bool) -> Bracket | None:
    """The largest power of a test between a table and one that differs from it by one exchange: at least the level, at most this.

    Args:
        swap: the rates of the strata.
        strata: the table.
        level: of the test, in [0, 1].
        derange: derangement swapping; False for permutation swapping.

    Returns:
        None where no exchange changes the table.

    >>> from dpspec_census.swapping import PermutationSwapping
    >>> swap = PermutationSwapping(swap=["place"], swap_rate="1/2")
    >>> cells = {(("own",), ("a",)): 20, (("own",), ("b",)): 30, (("rent",), ("a",)): 30, (("rent",), ("b",)): 20}
    >>> found = power_of_exchanges(swap.constants(), {(): cells}, Fraction(1, 20), derange=False)
    >>> f"{float(found.upper):.4f}"
    '0.1127'
    """
    tops = []
    for match, cells in strata.items():
        found = corners(cells)
        if not found:
            continue
        p, size = swap.rate_of(match), sum(cells.values())
        top = max(corner_power(corner, p, level) for corner in found)
        tops.append(min(1.0, _redrawn(top, size, p) if derange else top))
    if not tops:
        return None
    most = Fraction(math.ceil((max(tops) + _SPARE) * 10**9), 10**9)
    return Bracket(lower=number(level), upper=number(min(Fraction(1), max(most, level))))


def _redrawn(power: float, size: int, p: Fraction) -> float:
    """The power with the redraw, and with what the derangement adds."""
    kept = 1 - size * float(p) * float(1 - p) ** (size - 1)
    return 1.0 if kept <= 0 else power / kept + _sent_to_each_other(size, p) / kept


def _sent_to_each_other(size: int, p: Fraction) -> float:
    """At least E[min(1, 2/(M-1)); M >= 2] for a binomial M."""
    probability = float(p)
    if probability in (0.0, 1.0):
        return 0.0 if probability == 0 else min(1.0, 2 / (size - 1))
    if size <= _EXACT_SIZE:
        masses = binomial(size, probability)
        shares = np.minimum(1.0, 2 / np.maximum(np.arange(size + 1) - 1, 1))
        return float((masses * shares)[2:].sum()) + _SPARE
    mean = size * probability
    least = math.floor(mean - math.sqrt(80 * mean))  # below it lies at most e^-40, by Chernoff's inequality
    return 1.0 if least < 4 else min(1.0, 2 / (least - 1) + math.exp(-40))


# --- the smallest counts --------------------------------------------------------------------------


def corners(cells: CountedCells) -> tuple[Corner, ...]:
    """The exchanges in a stratum that may be the easiest to see; () where none changes the table."""
    if min(kinds_in(cells)) < 2:
        return ()
    if len(cells) > MOST_CELLS:
        return ((0, 0, 0, 0),)
    rests, swaps = (sorted({pair[side] for pair in cells}) for side in (0, 1))
    rows, columns = ({value: place for place, value in enumerate(values)} for values in (rests, swaps))
    counts = np.zeros((len(rests), len(swaps)), dtype=np.int64)
    for (rest, swap), count in cells.items():
        counts[rows[rest], columns[swap]] = min(count, MOST_COUNT)
    row, column = np.nonzero(counts)
    found: set[Corner] = set()
    for r, s in zip(row.tolist(), column.tolist(), strict=True):
        other = (row > r) & (column != s)
        if not other.any():
            continue
        rs, ss = row[other], column[other]
        losing = np.sort(np.stack([np.full(len(rs), counts[r, s] - 1), counts[rs, ss] - 1]), axis=0)
        gaining = np.sort(np.stack([counts[r, ss], counts[rs, s]]), axis=0)
        every = np.unique(np.concatenate([losing, gaining]).T, axis=0)
        found = set(_smallest([*found, *map(tuple, every.tolist())]))
        if (0, 0, 0, 0) in found:
            break
    listed = sorted(found, key=sum)
    if len(listed) > MOST_CORNERS:
        rest_of_them = listed[MOST_CORNERS - 1 :]
        a, b, c, d = (min(one[place] for one in rest_of_them) for place in range(4))
        listed = [*listed[: MOST_CORNERS - 1], (a, b, c, d)]
    return tuple(listed)


def _smallest(found: Sequence[Corner]) -> Iterator[Corner]:
    """Those that no other one is below in every cell."""
    kept: list[Corner] = []
    for corner in sorted(set(found), key=sum):
        if not any(all(mine <= yours for mine, yours in zip(one, corner, strict=True)) for one in kept):
            kept.append(corner)
            yield corner


# --- four binomial cells --------------------------------------------------------------------------


@lru_cache(maxsize=1 << 10)
def corner_power(corner: Corner, swap_rate: Fraction, level: Fraction) -> float:
    """At least the largest power of a test between u under x and under x', in both orders."""
    stay = float(1 - swap_rate)
    if stay in (0.0, 1.0):
        return 1.0 if stay else float(level)
    found = 0.0
    for turned in (False, True):
        pairs = [_shifted(count, stay, gains=(place > 1) != turned) for place, count in enumerate(corner)]
        found = max(found, _power(pairs, float(level)))
    return found


def binomial(size: int, p: float) -> Masses:
    """The masses of 0, ..., n successes, for 0 < p < 1."""
    ways = [math.lgamma(size + 1) - math.lgamma(k + 1) - math.lgamma(size - k + 1) for k in range(size + 1)]
    places = np.arange(size + 1)
    masses: Masses = np.exp(np.asarray(ways) + places * math.log(p) + (size - places) * math.log1p(-p))
    return masses


def _shifted(count: int, stay: float, *, gains: bool) -> tuple[Masses, Masses]:
    """The masses under x and under x' of a cell of n and n+1 records, or the other way round."""
    fewer, more = np.append(binomial(count, stay) if count else np.ones(1), 0.0), binomial(count + 1, stay)
    return (fewer, more) if gains else (more, fewer)


def _power(pairs: Sequence[tuple[Masses, Masses]], level: float) -> float:
    """At least the power against the product of the second laws, at a level under the product of the first ones.

    Log ratios are moved to the two multiples of the step around them, in the shares that keep both masses: the pair of laws is
    then a post-processing of the moved one. An outcome that is possible under the second law alone is always found out.
    """
    masses, first, possible = np.ones(1), 0, 1.0
    for p, q in pairs:
        own, start = _on_grid(p, q)
        masses, first = np.convolve(masses, own), first + start
        possible *= float(q[p > 0].sum())
    ratios = np.exp((first + np.arange(len(masses))) * STEP)
    order = slice(None, None, -1)
    reached = np.cumsum(masses[order])
    gained = np.cumsum((masses * ratios)[order])
    place = int(np.searchsorted(reached, level))
    if place >= len(reached):
        return 1.0
    before, mass = (reached[place - 1], gained[place - 1]) if place else (0.0, 0.0)
    return min(1.0, float(mass + (level - before) * ratios[order][place]) + (1 - possible) + _SPARE)


def _on_grid(p: Masses, q: Masses) -> tuple[Masses, int]:
    """The masses under the first law by multiples of the step of ln q/p, and the first multiple; without outcomes of one law."""
    both = (p > 0) & (q > 0)
    one, other = p[both], q[both]
    places = np.floor(np.log(other / one) / STEP).astype(np.int64)
    low, high = np.exp(places * STEP), np.exp((places + 1) * STEP)
    above = np.clip((other - one * low) / (high - low), 0.0, one)
    start = int(places.min())
    masses = np.zeros(int(places.max()) - start + 2)
    np.add.at(masses, places - start, one - above)
    np.add.at(masses, places - start + 1, above)
    return masses, start
