"""The laws of the nearest tables of a universe of c_Swap: two that differ by one exchange in one stratum.

In a stratum of n records their pair of laws is at most that of n different records (`swap_law`), and equal to it where no rest
value and no swap value of the stratum repeats. As strata grow, it approaches

    (1 - p^2, 0), (0, 1 - p^2), (p^2, p^2),                                                                        (1)

the law of whether both records were selected: if so, the output does not show which of them had which value; if not, it does.
Three rest values and three swap values are enough, two of each once and the third n-2 times. For permutation swapping the
divergence of (1) is at least that of the laws of any stratum: given that both are selected, a uniform permutation and its product
with the exchange have one law.

With two values on one side a universe with a lone rest value and a lone swap value has two tables, and its laws approach

    (1 - p, 0), (p, 1)                                                                                             (2)

and its reverse; with n records they are (1 - a, a/(n-1)), (a, 1 - a/(n-1)), a the probability that the lone record moves.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial

import attrs

from dpspec.plugin import (
    DatasetSpace,
    Record,
    grammar,
    laws,
    memoize,
    number,
)
from dpspec_census.stratum import StratumCells
from dpspec_census.swap_law import exchange_law
from dpspec_census.swap_pair import MOST_STRATA, StratumValues, Swap
from dpspec_census.swap_table import CountedCells, kinds_in

CITATION = "docs/swapping-theorem.md, theorem 6"
MOST_SIZES = 24
"""Of so many different strata of a universe the laws are computed."""
MOST_TABLES = 40
"""The largest number of tables of one stratum whose laws are listed."""
MOST_LISTED_RECORDS = 16
"""The largest number of records of a stratum whose laws are listed: its work doubles with each record."""
EXCHANGED = 4
"""The counts of two tables differ by this much in all, where they differ by one exchange."""
FEW_RECORDS = 16
"""The largest number of records in a space for which every size of a stratum is evaluated."""


@attrs.frozen(kw_only=True)
class Exchanges:
    """The known limits of one exchange under an algorithm.

    Args:
        law: the pair of laws of two tables of n different records at a rate p.
        limit: a pair that laws approach as strata grow; None where none is known.
        lone: the limits of a universe with a lone rest value and a lone swap value.
        bounded: whether the divergence of the limit is at least that of the laws of any stratum.
        most: the largest number of records for which the laws are known; None for any number.
        citation: where it is proved.
    """

    law: Callable[[int, Fraction], laws.Dichotomy]
    limit: Callable[[Fraction], laws.Dichotomy] | None = None
    lone: Callable[[Fraction], tuple[laws.Dichotomy, ...]] | None = None
    bounded: bool = False
    most: int | None = None
    citation: str = CITATION

    def knows(self, size: int) -> bool:
        """Whether the law of so many records is known."""
        return self.most is None or size <= self.most


def in_the_limit(p: Fraction) -> laws.FiniteDichotomy:
    """(1): whether both records were selected."""
    apart = 1 - p * p
    return laws.FiniteDichotomy.of([(apart, Fraction(0)), (Fraction(0), apart), (1 - apart, 1 - apart)])


def of_lone_records(p: Fraction) -> tuple[laws.Dichotomy, laws.Dichotomy]:
    """(2) and its reverse."""
    pair = laws.FiniteDichotomy.of([(1 - p, Fraction(0)), (p, Fraction(1))])
    return pair, pair.reverse()


def of_selected(*, derange: bool) -> Exchanges:
    """Of the two algorithms that permute the selected records."""
    return Exchanges(law=partial(exchange_law, derange=derange), limit=in_the_limit, lone=of_lone_records, bounded=not derange)


def nearest_in_space(swap: Swap, known: Exchanges, space: DatasetSpace) -> grammar.NearestLaws | None:
    """Over all universes of a space; None where no stratum has two different tables, or no law is known to occur."""
    most, least = getattr(space, "most", None), getattr(space, "least", 0)
    pairs: list[laws.Dichotomy] = []
    above: list[laws.Dichotomy] = []
    strata = swap.strata(space)
    largest = most if most is not None else (known.most or 3)
    varied: set[tuple[Fraction, int]] = set()
    for stratum in strata:
        values = StratumValues.of(swap.scheme, stratum, space, largest)
        varied.add((swap.rate_of(stratum), min(len(values.rests), len(values.swaps))))
    for p, fewest in sorted(varied):
        if fewest < 2:
            continue
        if known.bounded and known.limit is not None:
            above.append(known.limit(p))
        if most is None and known.limit is not None and known.lone is not None:
            pairs += [] if p == 1 else [known.limit(p)] if fewest > 2 else known.lone(p)
            continue
        size = min(largest, fewest)
        sizes = {size, *range(2, min(size, FEW_RECORDS))}  # records that are all different, as far as values go
        pairs += [known.law(n, p) for n in sorted(sizes) if n >= least and known.knows(n)]
    if len(strata) >= MOST_STRATA and known.bounded and known.limit is not None:
        above.append(known.limit(swap.default))  # for the strata that are not evaluated
    if not pairs and not above:
        return None
    limits = "strata of any size" if most is None else f"strata of up to {most:,} records"
    return grammar.NearestLaws(
        distance=number(2), pairs=tuple(pairs), above=tuple(above), citation=known.citation, exchanged=swap.scheme.swap,
        scope=f"two tables of one universe that differ by one exchange, {limits}",
    )  # fmt: skip


Weights = Callable[[StratumCells, int, Fraction], Mapping[StratumCells, int]]
"""Of a table of one stratum, its number of columns and its rate: integer weights of the tables that it can become."""


def nearest_in_universe(
    swap: Swap, known: Exchanges, strata: Mapping[Record, CountedCells], weights: Weights
) -> grammar.NearestLaws | None:  # fmt: skip
    """Of the universe with these records by stratum; None where it holds one table alone, or nothing is known.

    Strata with few tables are listed, so that their pairs of laws are exact also where values repeat. In other strata with
    repeated values the pair of as many different records is a bound.
    """
    different: dict[tuple[int, Fraction], bool] = {}
    listed: dict[tuple[StratumCells, int, Fraction], None] = {}
    for match, held in strata.items():
        rests, swaps = kinds_in(held)
        size, p = sum(held.values()), swap.rate_of(match)
        if min(rests, swaps) < 2:
            continue
        repeats = not rests == swaps == size
        cells = _ordered(held) if repeats and size <= MOST_LISTED_RECORDS else None
        if cells is not None and len(listed) < MOST_SIZES and _tables(*cells) is not None:
            listed[(*cells, p)] = None
        else:
            different[size, p] = different.get((size, p), False) or not repeats
    counted = [pair for cells, columns, p in listed for pair in _listed_pairs(cells, columns, p, weights)]
    kinds = sorted(different, reverse=True)
    above: list[laws.Dichotomy] = []
    if len(kinds) <= MOST_SIZES and all(known.knows(size) for size, _ in kinds):
        above = [known.law(size, p) for size, p in kinds]
    elif known.bounded and known.limit is not None:
        above = [known.limit(p) for p in sorted({p for _, p in kinds})]
    shown = itertools.islice(((size, p) for size, p in kinds if different[size, p] and known.knows(size)), MOST_SIZES)
    pairs = (*(known.law(size, p) for size, p in shown), *counted)
    bounds = (*above, *counted) if above or not kinds else ()  # without a bound of some stratum there is none of all
    if not pairs and not bounds:
        return None
    largest = max([size for size, _ in kinds] + [sum(cells) for cells, _, _ in listed])
    return grammar.NearestLaws(
        distance=number(2), pairs=pairs, above=bounds, citation=known.citation, exchanged=swap.scheme.swap,
        scope=f"two tables of this universe that differ by one exchange, strata of up to {largest:,} records",
    )  # fmt: skip


def _ordered(held: CountedCells) -> tuple[StratumCells, int]:
    """A stratum as counts by rest and swap value, with its number of columns; rows and columns in falling order of their sums.

    Strata that differ by names alone have one universe, up to these names.
    """
    sums: tuple[Counter[Record], Counter[Record]] = Counter(), Counter()
    for pair, count in held.items():
        for side in (0, 1):
            sums[side][pair[side]] += count
    rests, swaps = ([value for value, _ in line.most_common()] for line in sums)
    return tuple(held.get((rest, swap), 0) for rest in rests for swap in swaps), len(swaps)


@memoize(maxsize=1 << 10)
def _tables(cells: StratumCells, columns: int) -> tuple[StratumCells, ...] | None:
    """All tables of the universe of a stratum; None where they are more than `MOST_TABLES`."""
    rows = tuple(sum(cells[start : start + columns]) for start in range(0, len(cells), columns))
    left = tuple(sum(cells[start::columns]) for start in range(columns))
    found = list(itertools.islice(_with_sums(rows, left), MOST_TABLES + 1))
    return tuple(found) if len(found) <= MOST_TABLES else None


def _with_sums(rows: tuple[int, ...], columns: tuple[int, ...]) -> Iterator[StratumCells]:
    """Every table of counts with these sums of rows and of columns."""
    if not rows:
        yield ()
        return
    for row in _rows(rows[0], columns):
        left = tuple(column - taken for column, taken in zip(columns, row, strict=True))
        yield from (row + below for below in _with_sums(rows[1:], left))


def _rows(total: int, limits: tuple[int, ...]) -> Iterator[StratumCells]:
    if not limits:
        if total == 0:
            yield ()
        return
    rest = sum(limits[1:])
    for first in range(max(0, total - rest), min(total, limits[0]) + 1):
        yield from ((first, *others) for others in _rows(total - first, limits[1:]))


@memoize(maxsize=1 << 8)
def _listed_pairs(cells: StratumCells, columns: int, p: Fraction, weights: Weights) -> tuple[laws.Dichotomy, ...]:
    """The pairs of laws of all tables of a universe of one stratum that differ by one exchange, each once in both orders."""
    tables = _tables(cells, columns) or ()
    known = {table: laws.FiniteLaw.from_weights(dict(weights(table, columns, p).items())) for table in tables}
    found: dict[object, laws.Dichotomy] = {}
    for one, other in itertools.permutations(tables, 2):
        if sum(abs(a - b) for a, b in zip(one, other, strict=True)) == EXCHANGED:
            pair = known[one].against(known[other])
            found.setdefault(pair.signature(), pair)
    return tuple(found.values())
