"""Massachusetts 1940: dwellings by county and tenure as printed (Bailie, Gong and Meng 2023), and microdata that add up to them.

The source prints the table of county x tenure for the full count of 1,144,424 dwellings, the same table after one run
of the swap at rate 1/2, and one number about household sizes: the largest stratum holds 264,331 dwellings, those
of two persons (Bailie, Gong and Meng 2023). The records themselves are not public in this form, so `Massachusetts1940` builds
records with exactly these printed counts. **The other household sizes are made up**, see `DWELLINGS_BY_SIZE`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from dpspec.plugin import Attribute, define, errors, tables

if TYPE_CHECKING:
    from dpspec.plugin import Table

CountyTenure = tuple[str, str]
"""A cell (county, tenure)."""

_PRINTED = {
    "Barnstable": (7461, 3825, 5907, 5379),
    "Berkshire": (14736, 18417, 13770, 19383),
    "Bristol": (33747, 63931, 35537, 62141),
    "Dukes": (1207, 534, 946, 795),
    "Essex": (53936, 81300, 52631, 82605),
    "Franklin": (7433, 6442, 6337, 7538),
    "Hampden": (30597, 58166, 32267, 56496),
    "Hampshire": (9427, 8630, 8145, 9912),
    "Middlesex": (104144, 147687, 100372, 151459),
    "Nantucket": (593, 432, 471, 554),
    "Norfolk": (44885, 40285, 38566, 46604),
    "Plymouth": (24857, 23882, 21549, 27190),
    "Suffolk": (49656, 176553, 67357, 158852),
    "Worcester": (53126, 78535, 51950, 79711),
}
"""County: owned, rented, owned after the swap, rented after the swap (Bailie, Gong and Meng 2023)."""

COUNTIES = tuple(_PRINTED)
TENURES = ("owned", "rented")

PRINTED: dict[CountyTenure, int] = {(c, t): row[place] for c, row in _PRINTED.items() for place, t in enumerate(TENURES)}
"""Dwellings by county and tenure in the full count (Bailie, Gong and Meng 2023)."""

PRINTED_SWAPPED: dict[CountyTenure, int] = {
    (c, t): row[2 + place] for c, row in _PRINTED.items() for place, t in enumerate(TENURES)
}
"""The same table after the source's one run of the swap at rate 1/2 (Bailie, Gong and Meng 2023)."""

DWELLINGS_BY_SIZE = {
    "1": 95_000,
    "2": 264_331,
    "3": 246_000,
    "4": 212_000,
    "5": 139_000,
    "6": 82_000,
    "7": 48_000,
    "8": 27_000,
    "9+": 31_093,
}
"""Dwellings by number of persons. Printed are the 264,331 of size 2 (the largest class) and the sum; the rest is
made up in plausible proportions, so no conclusion about household sizes may be drawn from it."""

ATTRIBUTES = (
    Attribute(name="county", categories=COUNTIES),
    Attribute(name="tenure", categories=TENURES),
    Attribute(name="persons", categories=tuple(DWELLINGS_BY_SIZE)),
)
"""The columns of the built table: county, tenure, and persons, the size of the household."""


@define
class Massachusetts1940(tables.SizedBuilder):
    """Microdata of 1,144,424 dwellings with the printed counts of county x tenure (Bailie, Gong and Meng 2023) and 264,331 of two
    persons.

    At another size N all margins are scaled: cumulative totals are multiplied by N / 1,144,424 and rounded down, so that every
    count is within 1 of its share. Nothing is random, and the seed does not matter.

    The dwellings are in the order of the published cells. Number i of N gets the size class into which
    (a i mod N) falls when 0, ..., N-1 are cut by the cumulative totals of `DWELLINGS_BY_SIZE`; a is the least integer above
    N (sqrt(5) - 1)/2 without a common factor with N. The map is a bijection, so the totals are exact, and the
    multiples of the golden section spread each class evenly over all counties and tenures.
    """

    name: ClassVar[str] = "massachusetts-1940"
    own_size: ClassVar[int] = sum(PRINTED.values())
    source: ClassVar[str] = (
        "county x tenure of the full count of 1940 and 264,331 dwellings of two persons are printed "
        "(Bailie, Gong and Meng 2023); the other household sizes are ours"
    )
    attributes: ClassVar[tuple[Attribute, ...]] = ATTRIBUTES

    def batches(self, rows: int, seed: int = tables.SEED) -> Iterator[Table]:
        import numpy as np

        from dpspec.plugin import Table

        cells, sizes = (np.asarray(scaled_ends(margin.values(), rows)) for margin in (PRINTED, DWELLINGS_BY_SIZE))
        step = _step(rows)
        for piece in tables.pieces(rows):
            place = np.arange(piece.start, piece.stop, dtype=np.int64)
            cell = np.searchsorted(cells, place, side="right")
            spread = np.searchsorted(sizes, place * step % rows, side="right")
            columns = {"county": cell // len(TENURES), "tenure": cell % len(TENURES), "persons": spread}
            codes = {a.name: tables.compact(columns[a.name], a.size) for a in ATTRIBUTES}
            yield Table(attributes=ATTRIBUTES, codes=codes)


def scaled_ends(counts: Iterable[int], rows: int) -> list[int]:
    """Cumulative totals of a margin, scaled to so many records and rounded down.

    >>> scaled_ends([3, 1], 4), scaled_ends([3, 1], 10)
    ([3, 4], [7, 10])
    """
    ends = list(itertools.accumulate(counts))
    return [end * rows // ends[-1] for end in ends]


def _step(total: int) -> int:
    """The least integer above total * (sqrt(5) - 1)/2 that is coprime to total."""
    step = (math.isqrt(5 * total * total) - total) // 2 + 1
    while math.gcd(step, total) > 1:
        step += 1
    return step


def county_table(table: Table) -> dict[CountyTenure, int]:
    """Dwellings by county and tenure, all 28 cells in the printed order."""
    counts = table.counts(("county", "tenure"))
    return {cell: counts.get(cell, 0) for cell in PRINTED}


def mape(before: dict[CountyTenure, int], after: dict[CountyTenure, int], tenures: Iterable[str] = TENURES) -> Fraction:
    """Mean absolute percentage error, in percent: 100 / cells * sum |after - before| / before over the counties.

    Args:
        before, after: tables over the same cells (county, tenure).
        tenures: the columns that are averaged over.

    >>> [f"{float(mape(PRINTED, PRINTED_SWAPPED, chosen)):.4f}" for chosen in (["owned"], ["rented"], TENURES)]
    ['12.8554', '14.6964', '13.7759']
    """
    chosen = set(tenures)
    cells = [cell for cell in before if cell[1] in chosen]
    empty = [cell for cell in cells if not before[cell]]
    if empty or not cells:
        raise errors.TableError("cells", "need a positive count before the swap for a percentage", "leave them out", value=empty)
    return Fraction(100, len(cells)) * sum(Fraction(abs(after[cell] - before[cell]), before[cell]) for cell in cells)


def invariant_counts(table: Table) -> tuple[dict[tuple[str, ...], int], dict[tuple[str, ...], int]]:
    """c_Swap of the source's scheme: tenure by household size for the state, dwellings by household size for each county.

    (Bailie, Gong and Meng 2023: matched on household size within the one state, county swapped, tenure held.)
    """
    return table.counts(("persons", "tenure")), table.counts(("persons", "county"))
