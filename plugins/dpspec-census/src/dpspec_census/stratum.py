"""One stratum of a swap: how many ways lead to each table, and the swap of all strata of a real table at once.

The ways of moving swap values are counted without listing permutations.

The stratum is the table x of counts x_lk of its n records by rest l and swap k. Take a set S of s records and a
permutation of S. Sorted by the records u = x - (counts of S) that are not in S, the number of such pairs that
turn x into y is

    A_s(x, y) = sum over u with |u| = n - s of  prod C(x_lk, u_lk) * prod r_l! * prod c_k! / prod (y - u)_lk!

with r, c the row and column sums of x - u (tables with equal margins are permutations of records, not of
values). The permutations of all n records that *move exactly* m of them follow by binomial inversion:

    N_m(x, y) = sum over s <= m of (-1)^(m - s) C(n - s, m - s) A_s(x, y).

On real tables it is vectorised over all strata, with exact coins and exactly uniform permutations and derangements.

The kernel sees of each record its stratum and its row, and says which record gets the swap values of which. Every draw belongs
to a row or to a stratum (`PlacedRandomness`), so what is drawn does not depend on how the strata were dealt out to parts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from fractions import Fraction
from functools import lru_cache, partial
from operator import add, itemgetter, mul, sub
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from dpspec.plugin import Randomness, Table, errors, late_module, randomness, sorting, tables, workers
from dpspec_census.swap_budget import Rates, SwapScheme

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = late_module("numpy")

StratumCells = tuple[int, ...]
"""A table of counts, row by row."""

CountedTables = tuple[tuple[StratumCells, tuple[int, ...]], ...]
"""For each table y that can be reached, a number for every s (or m) from 0 to n."""


@lru_cache(maxsize=1 << 14)
def permutations_of_subsets(cells: StratumCells, columns: int) -> CountedTables:
    """A_s(x, y) for every y and s: pairs of s selected records and a permutation of them.

    >>> permutations_of_subsets((1, 0, 0, 1), 2)  # two records (0, 0) and (1, 1)
    (((0, 1, 1, 0), (0, 0, 1)), ((1, 0, 0, 1), (1, 2, 1)))
    """
    size = sum(cells)
    found: dict[StratumCells, list[int]] = {}
    occupied = [(place, count, *divmod(place, columns)) for place, count in enumerate(cells) if count]
    for selected in itertools.product(*(range(count + 1) for _, count, _, _ in occupied)):
        kept, rows, tokens = list(cells), [0] * (len(cells) // columns), [0] * columns
        ways, chosen = 1, sum(selected)
        for (place, count, row, column), taken in zip(occupied, selected, strict=True):
            kept[place] -= taken
            rows[row] += taken
            tokens[column] += taken
            ways *= math.comb(count, taken)
        for filling, bijections in _fillings(tuple(rows), tuple(tokens)):
            counts = found.setdefault(tuple(map(add, kept, filling)), [0] * (size + 1))
            counts[chosen] += ways * bijections
    return tuple((table, tuple(counts)) for table, counts in sorted(found.items()))


def permutations_into(cells: StratumCells, table: StratumCells, columns: int) -> tuple[int, ...]:
    """A_s(x, y) for one y and every s, at any size: the work grows with the records that x and y have in common.

    >>> permutations_into((1, 0, 0, 1), (0, 1, 1, 0), 2), permutations_into((1, 0, 0, 1), (1, 0, 0, 1), 2)
    ((0, 0, 1), (1, 2, 1))
    """
    size, factorial = sum(cells), lru_cache(maxsize=None)(math.factorial)
    counts = [0] * (size + 1)
    for unmoved in itertools.product(*(range(min(pair) + 1) for pair in zip(cells, table, strict=True))):
        left, filled = (tuple(map(sub, whole, unmoved)) for whole in (cells, table))
        sums = _sums_of_lines(left, columns)
        if sums != _sums_of_lines(filled, columns):
            continue
        ways = math.prod(map(math.comb, cells, unmoved))
        arranged = math.prod(map(factorial, sums)) // math.prod(map(factorial, filled))
        counts[size - sum(unmoved)] += ways * arranged
    return tuple(counts)


@lru_cache(maxsize=1 << 14)
def permutations_by_moved(cells: StratumCells, columns: int) -> CountedTables:
    """N_m(x, y) for every y and m: permutations of all records that move exactly m of them.

    >>> permutations_by_moved((1, 0, 0, 1), 2)
    (((0, 1, 1, 0), (0, 0, 1)), ((1, 0, 0, 1), (1, 0, 0)))
    """
    size = sum(cells)
    signed = [[(-1) ** (m - s) * math.comb(size - s, m - s) for s in range(m + 1)] for m in range(size + 1)]
    return tuple(
        (table, tuple(sum(f * count for f, count in zip(row, counts, strict=False)) for row in signed))
        for table, counts in permutations_of_subsets(cells, columns)
    )


@lru_cache(maxsize=1 << 14)
def _fillings(rows: StratumCells, tokens: StratumCells) -> tuple[tuple[StratumCells, int], ...]:
    """Every table with these row and column sums, with its number of bijections prod r_l! prod c_k! / prod t_lk!."""
    if not rows:
        return (((), 1),)
    found = []
    for row in _splits(rows[0], tokens):
        ways = math.factorial(rows[0]) * math.prod(map(math.comb, tokens, row))
        left = tuple(map(sub, tokens, row))
        found += [(row + below, ways * more) for below, more in _fillings(rows[1:], left)]
    return tuple(found)


def _sums_of_lines(cells: StratumCells, columns: int) -> tuple[int, ...]:
    """The sums of the rows, then of the columns."""
    rows = (sum(cells[start : start + columns]) for start in range(0, len(cells), columns))
    return (*rows, *(sum(cells[start::columns]) for start in range(columns)))


def _splits(total: int, limits: StratumCells) -> Iterator[StratumCells]:
    """Every way to write `total` as a sum with the given upper limits."""
    if len(limits) == 1:
        if total <= limits[0]:
            yield (total,)
        return
    for first in range(min(total, limits[0]) + 1):
        for others in _splits(total - first, limits[1:]):
            yield (first, *others)


def derangements(size: int) -> int:
    """D_m, the number of permutations of m things that leave none in place.

    >>> [derangements(m) for m in range(9)]
    [1, 0, 1, 2, 9, 44, 265, 1854, 14833]
    """
    count = 1
    for m in range(1, size + 1):
        count = m * count + (-1) ** m
    return count


MOST_DERANGED, MOST_PERMUTED = 500, 4_000
"""The largest stratum whose weights are computed. The common denominator of the numbers of derangements has about n^2 log n
digits: of 500 records it takes 3 seconds, of 1,000 a minute. Factorials divide each other."""


def _check_size(size: int, most: int) -> None:
    if size > most:
        rule = f"has a stratum of {size:,} records, and weights of at most {most:,} are computed"
        raise errors.NotEnumerableError("law of a swap", rule, "name smaller datasets, or match on more attributes")


def derangement_weights(cells: StratumCells, columns: int, chosen: int, kept: int) -> dict[StratumCells, int]:
    """Integer weights of the tables of one stratum of permutation swapping with derangements, with swap rate p = chosen / (chosen
    + kept).

    A permutation that moves m records has weight p^m (1-p)^(n-m) / D_m for m != 1; moving exactly one is impossible, and
    "exactly one selected" is redrawn, which conditions on the rest. A stratum of size 0 or 1 stays.

    >>> derangement_weights((1, 0, 0, 1), 2, 1, 4)  # 16/17 and 1/17
    {(0, 1, 1, 0): 1, (1, 0, 0, 1): 16}
    """
    size = sum(cells)
    if size < 2:
        return {cells: 1}
    _check_size(size, MOST_DERANGED)
    numbers = [derangements(m) for m in range(size + 1)]
    common = math.lcm(*(d for d in numbers if d))
    weights = [chosen**m * kept ** (size - m) * (common // d) if d else 0 for m, d in enumerate(numbers)]
    return _weighted(permutations_by_moved, cells, columns, weights)


def permutation_weights(cells: StratumCells, columns: int, chosen: int, kept: int) -> dict[StratumCells, int]:
    """Integer weights of the tables of one stratum of permutation swapping: a uniform permutation of the selected records.

    A set of s selected records with a permutation of it has weight p^s (1-p)^(n-s) / s!.

    >>> permutation_weights((1, 0, 0, 1), 2, 1, 4)  # 49/50 and 1/50
    {(0, 1, 1, 0): 1, (1, 0, 0, 1): 49}
    """
    size = sum(cells)
    _check_size(size, MOST_PERMUTED)
    orders = math.factorial(size)
    weights = [chosen**s * kept ** (size - s) * (orders // math.factorial(s)) for s in range(size + 1)]
    return _weighted(permutations_of_subsets, cells, columns, weights)


def permutation_probability(cells: StratumCells, table: StratumCells, columns: int, swap_rate: Fraction) -> Fraction:
    """The probability that permutation swapping turns one table of a stratum into another.

    >>> permutation_probability((1, 0, 0, 1), (0, 1, 1, 0), 2, Fraction(1, 5))
    Fraction(1, 50)
    """
    size, p = sum(cells), swap_rate
    ways = enumerate(permutations_into(cells, table, columns))
    return sum((p**s * (1 - p) ** (size - s) * Fraction(number, math.factorial(s)) for s, number in ways if number), Fraction(0))


def derangement_probability(cells: StratumCells, table: StratumCells, columns: int, swap_rate: Fraction) -> Fraction:
    """The same of swapping with derangements; the work grows with the square of the number of records.

    >>> derangement_probability((1, 0, 0, 1), (0, 1, 1, 0), 2, Fraction(1, 5))
    Fraction(1, 17)
    """
    size, p = sum(cells), swap_rate
    if size < 2:
        return Fraction(int(cells == table))
    counts = permutations_into(cells, table, columns)
    moved = [sum((-1) ** (m - s) * math.comb(size - s, m - s) * counts[s] for s in range(m + 1)) for m in range(size + 1)]
    weights = [p**m * (1 - p) ** (size - m) for m in range(size + 1)]
    sizes = [m for m in range(size + 1) if m != 1]
    reached = sum((weights[m] * Fraction(moved[m], derangements(m)) for m in sizes), Fraction(0))
    return reached / sum((weights[m] * math.comb(size, m) for m in sizes), Fraction(0))


def _weighted(
    count: Callable[[StratumCells, int], CountedTables], cells: StratumCells, columns: int, weights: list[int]
) -> dict[StratumCells, int]:
    """The weighted sum for every table, counted on the table with its rows and then its columns in falling order.

    Renaming rests and swap values renames the tables, so tables that differ by a renaming are counted once.
    """
    rows = [cells[start : start + columns] for start in range(0, len(cells), columns)]
    of_row = sorted(range(len(rows)), key=rows.__getitem__, reverse=True)
    turned = list(zip(*(rows[row] for row in of_row), strict=True))
    of_column = sorted(range(columns), key=turned.__getitem__, reverse=True)
    ordered = tuple(rows[row][column] for row in of_row for column in of_column)
    summed = _sums(count, ordered, columns, tuple(weights))
    if ordered == cells:
        return dict(summed)
    places = itertools.product(map(of_row.index, range(len(rows))), map(of_column.index, range(columns)))
    back = itemgetter(*(row * columns + column for row, column in places))
    return {back(table): weight for table, weight in summed}


@lru_cache(maxsize=1 << 14)
def _sums(
    count: Callable[[StratumCells, int], CountedTables], cells: StratumCells, columns: int, weights: tuple[int, ...]
) -> tuple[tuple[StratumCells, int], ...]:
    """The tables that can be reached, each with its weight."""
    sums = ((table, sum(map(mul, weights, counts))) for table, counts in count(cells, columns))
    return tuple((table, weight) for table, weight in sums if weight)


# --- on real tables -------------------------------------------------------------------------------


Indices: TypeAlias = "npt.NDArray[np.int64]"


class Algorithm(Enum):
    """The algorithm that is applied to the selected records of a stratum."""

    DERANGE = "derange"
    """A uniform derangement; the selection is redrawn where it is a single record."""
    PERMUTE = "permute"
    """A uniform permutation."""
    PAIR = "pair"
    """A uniform matching, each pair exchanging its values."""


@attrs.frozen(kw_only=True, eq=False)
class RecordRates:
    """Rates of single records of a table.

    Args:
        rates: the rates; None means that of the stratum.
        of_row: for each row of the table, which of them it has.
    """

    rates: tuple[Fraction | None, ...]
    of_row: Indices


@attrs.frozen(kw_only=True)
class UniqueRates:
    """Rates of the records that no other record of their stratum agrees with.

    Args:
        rates: the rates of unique records, and None in the end for that of the stratum; a record has the first one that it meets.
        whole: for each rate but the last one, whether records are compared in all of their values, or in what they hold.
        members: whether records hold members, which are compared as well.
    """

    rates: tuple[Fraction | None, ...]
    whole: tuple[bool, ...]
    members: bool


def held_members(table: Table) -> Iterator[bytes]:
    """The members of each record in order, as text: the same text where records hold the same multiset of members."""
    if table.members is None:
        return
    members, owner = table.members.table, table.members.owner
    columns = list(sorting.Packing(attributes=members.attributes, name="member").packed(members.codes).values())
    order = np.lexsort([*reversed(columns), owner])
    kinds = np.stack([column[order] for column in columns], axis=1) if columns else np.zeros((len(owner), 1), dtype=np.int64)
    ends = np.cumsum(np.bincount(owner, minlength=len(table))).tolist()
    for begin, end in zip([0, *ends], ends, strict=False):
        yield kinds[begin:end].tobytes()


SELECT, KEYS, CYCLES = 0, 1 << 16, 2 << 16
"""The streams of the selection (one for each time that it is drawn), of the order, and of the lengths of cycles."""

KIND = "kind"
"""The column of which rate a record has, where records have rates of their own."""
PART = 1 << 22
"""Records of a part, about; a larger stratum is a part of its own."""


def exchanged(
    table: Table,
    scheme: SwapScheme,
    rates: Rates,
    run: workers.Run,
    draws: randomness.PlacedRandomness,
    *,
    how: Algorithm,
    own: RecordRates | None = None,
) -> tuple[Table, int]:
    """One draw of the swap: the table with the rows as they were, and the number of records that were selected.

    Args:
        table: needs the columns `match` and `swap`; all its other columns stay as they are.
        rates: p, by stratum.
        draws: the randomness of this run.
        how: what is done with the selected records.
        own: the rows with rates of their own.
    """
    for name in (*scheme.match, *scheme.swap):
        table.attribute(name)
    if not len(table):  # such as an empty sample: nothing is selected
        return table, 0
    kernel = partial(swap_kernel, rates=rates, source=draws, how=how, own=None if own is None else own.rates)
    columns = {name: table.codes[name].copy() for name in scheme.swap}
    done = selected = 0
    for drawn in run.workers.map(kernel, _parts(table, scheme, run.workers.parts, own)):
        for name, column in columns.items():
            column[drawn["row"]] = table.codes[name][drawn["giver"]]
        selected += len(drawn["row"])
        done += int(drawn["seen"][0])
        run.progress(done, len(table))
    return table.replace(columns), selected


def _parts(table: Table, scheme: SwapScheme, least: int, own: RecordRates | None) -> Iterator[workers.Columns]:
    """Whole strata, dealt out in order to parts of about equal size; the columns are those that `swap_kernel` reads."""
    keys, parts = table.key(scheme.match), max(least, -(-len(table) // PART))
    if parts == 1:
        kinds = {} if own is None else {KIND: own.of_row}
        yield {"stratum": keys, "row": np.arange(len(table), dtype=np.int64), **kinds}
        return
    _, stratum, sizes = tables.ranked(keys)
    of_stratum = (np.cumsum(sizes) - sizes) // -(-len(table) // parts)
    part = of_stratum.astype(np.min_scalar_type(parts))[stratum]
    order = randomness.stable_order(part, parts)
    ends = np.cumsum(np.bincount(part, minlength=parts))
    del part, stratum
    for begin, end in zip(ends - np.diff(ends, prepend=0), ends, strict=True):
        rows = order[begin:end]
        if rows.size:
            yield {"stratum": keys[rows], "row": rows, **({} if own is None else {KIND: own.of_row[rows]})}


def swap_kernel(
    part: workers.Columns, *, rates: Rates, source: randomness.PlacedRandomness, how: Algorithm,
    own: Sequence[Fraction | None] | None = None,
) -> workers.Columns:  # fmt: skip
    """Which record gets whose swap values, in a part that holds whole strata.

    Args:
        part: `stratum`, a number for each record's stratum, and `row`, its row in the table; `kind`, which of its own rates the
            record has, where there are such rates.
        own: the rates of single records; None means that of the stratum.

    Returns:
        `row` and `giver`: the rows of the selected records, and of those whose values they get; `seen`, the records of the part.
    """
    rows, keys, kind, derange = part["row"], part["stratum"], part.get(KIND), how is Algorithm.DERANGE
    if (rows[1:] < rows[:-1]).any():
        order = np.argsort(rows)
        rows, keys, kind = rows[order], keys[order], None if kind is None else kind[order]
    names, stratum, sizes = tables.ranked(keys)
    chosen = np.zeros(len(rows), dtype=np.bool_)
    for rate, having in rates.classes(names) if own is None or kind is None else ():
        strata = having & (sizes > 1) if derange else having
        eligible = slice(None) if strata.all() else np.flatnonzero(strata[stratum])
        chosen[eligible] = source.selected_at(rate, SELECT, rows[eligible], stratum[eligible], single=not derange)
    if own is not None and kind is not None:
        kinds = [(rate, kind == place) for place, rate in enumerate(own) if rate is not None]
        others = kind == own.index(None)
        kinds += [(rate, others & having[stratum]) for rate, having in rates.classes(names)]
        chosen = _selected(kinds, rows, stratum, sizes, source, redraws=derange)
    places = np.flatnonzero(chosen)
    places = places[randomness.stable_order(stratum[places], len(names))]
    rows, groups = rows[places], stratum[places]
    givers = source.deranged_at((KEYS, CYCLES), rows, groups, names) if derange else source.permuted_at(KEYS, rows, groups)
    if how is Algorithm.PAIR:
        givers = _in_pairs(givers, groups)
    return {"row": rows, "giver": rows[givers], "seen": np.asarray([len(keys)])}


def _selected(
    kinds: Sequence[tuple[Fraction, npt.NDArray[np.bool_]]], rows: Indices, stratum: npt.NDArray[np.integer[Any]],
    sizes: npt.NDArray[np.integer[Any]], source: randomness.PlacedRandomness, *, redraws: bool,
) -> npt.NDArray[np.bool_]:  # fmt: skip
    """A selection of each record with its own rate; where a stratum must not have a single one, it is drawn again there."""
    chosen, again, stream = np.zeros(len(rows), dtype=np.bool_), np.ones(len(rows), dtype=np.bool_), SELECT
    if redraws:
        again &= sizes[stratum] > 1
    while again.any():
        for rate, having in kinds:
            places = np.flatnonzero(having & again)
            chosen[places] = source.bernoulli_at(rate, stream, rows[places])
        alone = np.bincount(stratum[chosen], minlength=len(sizes)) == 1
        again = alone[stratum] if redraws else np.zeros(len(rows), dtype=np.bool_)
        stream += 1
    return chosen


def _in_pairs(order: Indices, groups: npt.NDArray[np.integer[Any]]) -> Indices:
    """Neighbours in a uniform order of each group exchange their values; the last one of an odd number keeps its own.

    Args:
        order: the elements of each group in a uniform order, group after group.
        groups: the sorted numbers of the groups.
    """
    sizes = np.bincount(groups) if len(groups) else np.zeros(0, dtype=np.int64)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    ends = np.repeat(np.cumsum(sizes), sizes)
    places = np.arange(len(order), dtype=np.int64)
    partners = starts + ((places - starts) ^ 1)
    partners = np.where(partners < ends, partners, places)
    givers = np.empty_like(order)
    givers[order] = order[partners]
    return givers


# --- what is published ---------------------------------------------------------------------------


def unordered(table: Table, source: Randomness) -> Table:
    """The records in an order that is independent of their original order: the released object is a multiset.

    Single tables are sorted by their categories. Households that hold persons are put in a random order, with their persons.
    """
    if table.members is None:
        return sorting.sorted_records(table)
    order = source.permutation(len(table))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    persons, owner = table.members.table, place[table.members.owner]
    inside = np.lexsort([*(persons.codes[a.name] for a in reversed(persons.attributes)), owner])
    held = Table(attributes=persons.attributes, codes={name: column[inside] for name, column in persons.codes.items()})
    codes = {a.name: table.codes[a.name][order] for a in table.attributes}
    return Table(attributes=table.attributes, codes=codes, members=tables.Members(table=held, owner=owner[inside]))
