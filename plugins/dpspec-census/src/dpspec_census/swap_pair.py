"""Tables at which the constant of a swap is attained, and the constant of a whole space: docs/swapping-theorem.md, theorem 3.

Few kinds of record are enough: five rest values and five swap values attain the slope between n-2 and n at every n >= 4,
each kind of record as often as needed. So a pair for 13,680,081 records is three tables of five or six counts.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import attrs

from dpspec.plugin import Attribute, Bracket, Dataset, DatasetSpace, IncompatibleBlocksError, Number, Record, blocks, exact
from dpspec_census.swap_budget import StratumRate, SwapScheme, nominal_budget, rate_of
from dpspec_census.swap_constant import (
    ZERO,
    SizeRange,
    Slope,
    SwapTheorem,
    least_size_above,
    lone_slopes,
    sizes_refuted,
    stays,
    two_values_bound,
)

SwapCells = Mapping[tuple[int, int], int]
"""The records of a stratum by the numbers of their rest and of their swap value; only positive counts."""

Tables = tuple[SwapCells, SwapCells, SwapCells]
"""Two tables of a universe and an output: the likely one, the unlikely one, the output."""

MOST_VALUES = 1000
"""Values of a stratum are listed up to so many; with fewer than n of them, n records are not all different."""


def lone(size: int) -> tuple[SwapCells, SwapCells]:
    """The two tables with counts 1 and n-1 by rest and by swap value.

    >>> lone(4)
    ({(0, 0): 1, (1, 1): 3}, {(0, 1): 1, (1, 0): 1, (1, 1): 2})
    """
    return _positive({(0, 0): 1, (1, 1): size - 1}), _positive({(0, 1): 1, (1, 0): 1, (1, 1): size - 2})


def tables_at(slope: Slope, size: int, rests: int, swaps: int) -> Tables | None:
    """Tables of n records with at most so many rest and swap values that attain a slope; None where these values are too few.

    >>> from fractions import Fraction
    >>> from dpspec_census.swap_constant import permutation_constant
    >>> slope = permutation_constant(6, Fraction(1, 20)).steepest
    >>> for table in tables_at(slope, 6, 4, 4): print(table)
    {(0, 0): 1, (1, 1): 1, (2, 2): 2, (3, 3): 2}
    {(0, 1): 1, (1, 0): 1, (2, 2): 2, (3, 3): 2}
    {(0, 0): 1, (1, 1): 1, (2, 3): 2, (3, 2): 2}
    """
    values = min(rests, swaps)
    if slope.value.upper.is_infinite:
        met, parted = lone(size)
        needed, tables = 2, (met, parted, met) if slope.likely == 0 else (parted, met, met)
    elif (slope.exchanged, slope.likely, slope.unlikely) == (2, size - 2, size):
        needed, tables = 2 if size == 2 else 4 + size % 2, _last(size)
    elif values < size:
        return None
    else:
        needed, tables = size, _of_different(slope, size)
    return tables if values >= needed else None


def _of_different(slope: Slope, size: int) -> Tables:
    """The slopes that need n different records: three pass their values round, or two exchange theirs."""
    if slope.likely == 0:
        return _permuted(size), _permuted(size, (1, 2, 0)), _permuted(size)
    if slope.unlikely == 0:
        return _permuted(size, (1, 0)), _permuted(size), _permuted(size)
    return _permuted(size, (1, 0, 2)), _permuted(size, (1, 2, 0)), _permuted(size)


def _last(size: int) -> Tables:
    """Two records exchange, and the n-2 others, q, q and for an odd size 1 of a kind, have all moved in the output."""
    q, odd = divmod(size - 2, 2)
    others = {(2, 2): q, (3, 3): q, (4, 4): odd}
    moved = {(2, 3): q, (3, 2): q - odd, (3, 4): odd, (4, 2): odd}
    met, parted = {(0, 0): 1, (1, 1): 1}, {(0, 1): 1, (1, 0): 1}
    return _positive({**met, **others}), _positive({**parted, **others}), _positive({**met, **moved})


def _permuted(size: int, values: Sequence[int] = ()) -> SwapCells:
    """n different records; the first ones have the given swap values, the others their own."""
    return {(rest, values[rest] if rest < len(values) else rest): 1 for rest in range(size)}


def _positive(cells: SwapCells) -> SwapCells:
    return {cell: count for cell, count in cells.items() if count}


# --- in a space -----------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class AttainingPair:
    """Two datasets of one universe, and an output, as counts of records of the unit, with ln(P_x(y)/P_x'(y))/d_Ham(x, x').

    Args:
        likely: x, the counts by record.
        unlikely: x'.
        output: y.
        slope: the logarithm of the ratio of the two laws at y per unit, known to lie in this bracket.
    """

    likely: Mapping[Record, int]
    unlikely: Mapping[Record, int]
    output: Mapping[Record, int]
    slope: Bracket

    def datasets(self, scheme: SwapScheme, space: DatasetSpace) -> tuple[Dataset, Dataset, Dataset]:
        """x, x' and y as datasets of the space, all their records written out; meant for small sizes."""
        one, two, three = (
            scheme.dataset([record for record, count in counts.items() for _ in range(count)], space)
            for counts in (self.likely, self.unlikely, self.output)
        )
        return one, two, three


@attrs.frozen(kw_only=True)
class ConstantOfSpace:
    """The constant of all universes of c_Swap in a space, or of those with given sizes of strata.

    Args:
        value: `upper` is proved for all of them; `lower` is attained by the pair, or, where it is infinite, passed by some size.
        size: n of the stratum that decides; None where there is no largest one.
        stratum: its match categories; None where no stratum has two different tables.
        pair: attains `lower`; None where it is 0 or infinite for want of a largest size.
    """

    value: Bracket
    size: int | None
    stratum: Record | None
    pair: AttainingPair | None


NO_CONSTANT = ConstantOfSpace(value=Bracket.exactly(exact.ZERO), size=None, stratum=None, pair=None)


@attrs.frozen(kw_only=True)
class StratumValues:
    """The possible values in one stratum of a space: its match categories, and up to `MOST_VALUES` rest and swap values."""

    match: Record
    rests: tuple[Record, ...]
    swaps: tuple[Record, ...]

    @classmethod
    def of(cls, scheme: SwapScheme, match: Record, space: DatasetSpace, most: int) -> StratumValues:
        """The values of the stratum with these match categories, at most so many of each."""
        attributes = {a.name: a for a in space.attributes_of(scheme.unit)}
        fixed = with_coarser(dict(zip(scheme.match, match, strict=True)), attributes)
        rest, swap = (
            tuple(itertools.islice(values_of(names, attributes, fixed, space), min(most, MOST_VALUES)))
            for names in (scheme.rest(space), scheme.swap)
        )
        return cls(match=match, rests=rest, swaps=swap)

    def pair(self, scheme: SwapScheme, tables: Tables, slope: Bracket, space: DatasetSpace) -> AttainingPair:
        """The tables with the values of this stratum."""
        likely, unlikely, output = (self._counts(scheme, cells, space) for cells in tables)
        return AttainingPair(likely=likely, unlikely=unlikely, output=output, slope=slope)

    def _counts(self, scheme: SwapScheme, cells: SwapCells, space: DatasetSpace) -> dict[Record, int]:
        kinds = [(self.rests[rest], self.swaps[swap]) for rest, swap in cells]
        return dict(zip(scheme.joined(self.match, kinds, space), cells.values(), strict=True))


def strata_of(scheme: SwapScheme, space: DatasetSpace) -> Iterator[Record]:
    """The match categories of every stratum that the space can hold."""
    return values_of(scheme.match, {a.name: a for a in space.attributes_of(scheme.unit)}, {}, space)


def values_of(
    names: Sequence[str], attributes: Mapping[str, Attribute], fixed: Mapping[str, object], space: DatasetSpace
) -> Iterator[Record]:
    """Every combination of categories of some attributes, consistent with each other and with those that are fixed."""
    first = sorted(names, key=lambda name: _depth(name, attributes))
    order = [first.index(name) for name in names]

    def extend(chosen: dict[str, object]) -> Iterator[Record]:
        if len(chosen) == len(first):
            record = tuple(chosen.values())
            yield tuple(record[place] for place in order)
            return
        name = first[len(chosen)]
        for category in _choices(name, attributes, {**fixed, **chosen}, space):
            yield from extend({**chosen, name: category})

    return extend({})


def _choices(
    name: str, attributes: Mapping[str, Attribute], known: Mapping[str, object], space: DatasetSpace
) -> Iterator[object]:
    attribute = attributes[name]
    if name in known:
        return iter((known[name],))
    coarser = attribute.within
    if coarser is not None and coarser in known:
        return attribute.children(str(known[coarser]), attributes[coarser])
    if name == blocks.MEMBERS and isinstance(space, blocks.Households):
        return _compositions(space)
    return attribute.values()


def with_coarser(fixed: Mapping[str, object], attributes: Mapping[str, Attribute]) -> dict[str, object]:
    """The fixed categories, and those in which they lie."""
    known = dict(fixed)
    for name, category in fixed.items():
        finer, lies = name, category
        while (coarser := attributes[finer].within) is not None:
            lies = attributes[finer].parent(str(lies), attributes[coarser])
            known[coarser], finer = lies, coarser
    return known


def _compositions(space: blocks.Households) -> Iterator[object]:
    """The sorted persons of a household, few persons first."""
    first = tuple(
        itertools.islice(values_of([a.name for a in space.person], {a.name: a for a in space.person}, {}, space), MOST_VALUES)
    )
    sizes = itertools.count() if space.members is None else range(space.members + 1)
    return itertools.chain.from_iterable(itertools.combinations_with_replacement(sorted(first), size) for size in sizes)


def _depth(name: str, attributes: Mapping[str, Attribute]) -> int:
    within = attributes[name].within
    return 0 if within is None else 1 + _depth(within, attributes)


# --- the constant of a space ----------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Swap:
    """The parameters of a mechanism on which the constants depend.

    Args:
        scheme: what is matched and swapped.
        rates: the strata with a rate of their own.
        default: the rate of the others.
        constant: the theorem of its algorithm.
        derange: which algorithm it is.
    """

    scheme: SwapScheme
    rates: tuple[StratumRate, ...]
    default: Fraction
    constant: SwapTheorem
    derange: bool

    def rate_of(self, stratum: Record) -> Fraction:
        """The swap rate of a stratum."""
        return rate_of(stratum, self.rates, self.default)

    # -- pairs ----------------------------------------------------------------------------------

    def pair_at(self, size: int, stratum: Record, space: DatasetSpace) -> AttainingPair | None:
        """The pair of datasets with so many records, all of one stratum, with the largest slope known in the space.

        It attains the constant of the size where the stratum has values enough; None where the stratum has a single table.
        """
        values = StratumValues.of(self.scheme, stratum, space, size)
        found: list[tuple[Bracket, Tables]] = []
        for slope in self.constant(size, self.rate_of(stratum)).slopes:
            tables = tables_at(slope, size, len(values.rests), len(values.swaps))
            if tables is not None:
                found.append((slope.value, tables))
        if min(size, len(values.rests), len(values.swaps)) >= 2 and 0 < self.rate_of(stratum) < 1:
            met, parted = lone(size)
            slopes = lone_slopes(size, self.rate_of(stratum), derange=self.derange)
            for value, one, two in [] if slopes is None else [(slopes[0], met, parted), (slopes[1], parted, met)]:
                tables = (one, two, one) if value.lower > 0 else (two, one, one)
                found.append((value if value.lower > 0 else Bracket(lower=-value.upper, upper=-value.lower), tables))
        if not found:
            return None
        best, tables = max(found, key=lambda one: one[0].lower)
        return values.pair(self.scheme, tables, best, space) if best.lower > 0 else None

    def pair_above(self, epsilon: Number, space: DatasetSpace) -> AttainingPair | None:
        """Datasets of one universe of the space that differ by more than epsilon per unit; None where none is found.

        Sizes from the least whose constant is above it are tried, as far as the space allows, doubling where its values are few.
        """
        for stratum in self.strata(space):
            size = least_size_above(self.constant, self.rate_of(stratum), epsilon)
            for n in () if size is None else (size, size + 1, *(size << k for k in range(1, size.bit_length() + 8))):
                pair = self.pair_at(n, stratum, space) if _allows(space, n) else None
                if pair is not None and pair.slope.lower > epsilon:
                    return pair
        return None

    def pair_against(self, form: str, space: DatasetSpace) -> AttainingPair | None:
        """Datasets of one universe of the space that refute a printed form of the theorem; None where none is found.

        The sizes at both ends of each range in which the form is false are tried. Where the space requires more records than a
        stratum has, the others are all alike and in another stratum.
        """
        for stratum in self.strata(space):
            rate = self.rate_of(stratum)
            for least, most in self.sizes_against(form, rate, space):
                last = least + 1 if most is None else most
                tried = dict.fromkeys((least, min(least + 1, last), last, max(last - 1, least)))
                for n in sorted(tried, key=lambda n: not _allows(space, n)):  # first those that need no further records
                    pair = self.pair_in(n, stratum, space)
                    others = 0 if pair is None or form == "s23-full" else sum(pair.likely.values()) - n
                    if pair is not None and pair.slope.lower > nominal_budget(max(n, others), rate, form):
                        return pair
        return None

    def sizes_against(self, form: str, swap_rate: Fraction, space: DatasetSpace) -> list[SizeRange]:
        """The sizes of strata in the space at which a printed form is false at a swap rate; none where the form is true."""
        if self.derange:
            return []
        fewest, most = self.sizes(space)
        found = []
        for low, high in sizes_refuted(swap_rate, form):
            ends = [end for end in (high, most) if end is not None]
            last = min(ends, default=None)
            if last is None or max(low, fewest) <= last:
                found.append((max(low, fewest), last))
        return found

    def sizes(self, space: DatasetSpace) -> SizeRange:
        """The least and the largest number of records that a stratum may have; all records where nothing is matched."""
        most = _largest_size(space)
        return (space.least if isinstance(space, blocks.Multisets) and not self.scheme.match else 0), most

    def pair_shown(self, size: int, space: DatasetSpace) -> AttainingPair | None:
        """The pair of about so many records that shows what a claim of the space speaks about; None where none is found."""
        fewest, most = self.sizes(space)
        wanted = max(size, fewest) if most is None else min(max(size, fewest), most)
        for n in dict.fromkeys((wanted, *range(min(wanted, size) - 1, max(fewest, 2) - 1, -1))):
            found = (self.pair_in(n, stratum, space) for stratum in self.strata(space))
            shown = next((pair for pair in found if pair is not None), None)
            if shown is not None:
                return shown
        return None

    def pair_in(self, size: int, stratum: Record, space: DatasetSpace) -> AttainingPair | None:
        """`pair_at`, with equal records of another stratum added where the space requires more records."""
        least, most = getattr(space, "least", 0), _largest_size(space)
        if size < 2 or (most is not None and size > most):
            return None
        pair = self.pair_at(size, stratum, space)
        if pair is None or least <= size:
            return pair
        for other in self.strata(space):
            values = StratumValues.of(self.scheme, other, space, 1)
            if other != stratum and values.rests and values.swaps:
                (record,) = self.scheme.joined(other, [(values.rests[0], values.swaps[0])], space)
                alike = {record: least - size}
                return attrs.evolve(
                    pair,
                    likely={**pair.likely, **alike},
                    unlikely={**pair.unlikely, **alike},
                    output={**pair.output, **alike},
                )
        return None

    def strata(self, space: DatasetSpace) -> list[Record]:
        """The strata with a rate of their own, and the first others."""
        own = [rate.stratum for rate in self.rates]
        others = itertools.islice(strata_of(self.scheme, space), MOST_STRATA)
        return [*own, *(stratum for stratum in others if stratum not in own)]

    # -- constants ------------------------------------------------------------------------------

    def upper(self, size: int, swap_rate: Fraction, fewest: int) -> Number:
        """A proved upper end of a stratum in which one side, rest or swap, has so many values: 0 for one, less for two."""
        if fewest < 2:
            return exact.ZERO
        whole = self.constant(size, swap_rate).value.upper
        if fewest == 2 < size and self.derange and 0 < swap_rate < 1:
            return min(whole, two_values_bound(size, swap_rate))
        return whole

    def of_sizes(self, sizes: Mapping[Record, int], space: DatasetSpace) -> ConstantOfSpace:
        """Over all universes with these sizes of strata: the largest over the strata that can hold two different tables."""
        judged = [
            (self.upper(size, self.rate_of(stratum), self._fewest(stratum, space)), stratum) for stratum, size in sizes.items()
        ]
        judged = sorted(((upper, stratum) for upper, stratum in judged if upper > 0), key=lambda one: one[0], reverse=True)
        if not judged:
            return NO_CONSTANT
        upper, chosen = judged[0]
        best, pair = exact.ZERO, None
        for limit, stratum in judged:
            if limit <= best:
                break
            found = self.pair_at(sizes[stratum], stratum, space)
            if found is not None and found.slope.lower > best:
                best, chosen, pair = found.slope.lower, stratum, found
        return ConstantOfSpace(value=Bracket(lower=best, upper=upper), size=sizes[chosen], stratum=chosen, pair=pair)

    def of_space(self, space: DatasetSpace) -> ConstantOfSpace:
        """Over all universes of the space: infinite where the space has no largest size, but for permutations at p = 1."""
        strata, most = self.strata(space), _largest_size(space)
        fewest = {stratum: self._fewest(stratum, space) for stratum in strata}
        varied = [stratum for stratum in strata if fewest[stratum] > 1]
        values = {(self.rate_of(stratum), fewest[stratum]) for stratum in varied}
        if len(strata) >= MOST_STRATA:
            values.add((self.default, MOST_VALUES))  # for the strata that are not evaluated
        if most is None:
            grows = [stratum for stratum in varied if self.derange or self.rate_of(stratum) < 1]
            if not any(self.derange or rate < 1 for rate, _ in values):
                return NO_CONSTANT
            value = Bracket(lower=exact.INFINITY if grows else exact.ZERO, upper=exact.INFINITY)
            return ConstantOfSpace(value=value, size=None, stratum=grows[0] if grows else None, pair=None)
        upper = max((self.upper(most, rate, number) for rate, number in values), default=exact.ZERO)
        if upper == 0:
            return NO_CONSTANT
        best = ConstantOfSpace(value=Bracket(lower=exact.ZERO, upper=upper), size=most, stratum=None, pair=None)
        for stratum in varied:
            for size in sorted({most, most - 1, *range(2, min(most, 6))}, reverse=True):
                pair = self.pair_at(size, stratum, space) if size > 1 and _allows(space, size) else None
                if pair is not None and pair.slope.lower > best.value.lower:
                    bracket = Bracket(lower=pair.slope.lower, upper=upper)
                    best = ConstantOfSpace(value=bracket, size=size, stratum=stratum, pair=pair)
        return best

    def of_universe(self, dataset: Dataset, space: DatasetSpace) -> Bracket:
        """Of the universe that holds a dataset: at most the constant of its sizes, and equal to it where `stays` says so."""
        found = [ZERO]
        for match, pairs in self.scheme.strata(dataset, space).items():
            rests, swaps = (list(Counter(values).values()) for values in zip(*pairs, strict=True))
            upper = self.upper(len(pairs), self.rate_of(match), min(len(rests), len(swaps)))
            constant = self.constant(len(pairs), self.rate_of(match))
            kept = constant.value if upper > 0 and stays(constant, rests, swaps) else ZERO
            found.append(Bracket(lower=kept.lower, upper=upper))
        return exact.largest(found)

    def _fewest(self, stratum: Record, space: DatasetSpace) -> int:
        """How many values the poorer side of a stratum has, rest or swap; 3 for any larger number."""
        values = StratumValues.of(self.scheme, stratum, space, 3)
        return min(len(values.rests), len(values.swaps))


MOST_STRATA = 64
"""Strata without a rate of their own differ only in their values; so many are evaluated."""


def _largest_size(space: DatasetSpace) -> int | None:
    """The most records of a dataset; None where there is no limit."""
    if not isinstance(space, blocks.Multisets):
        raise IncompatibleBlocksError(f"space {space.name}", "has no unordered records")
    return space.most


def _allows(space: DatasetSpace, size: int) -> bool:
    """Whether a dataset may have so many records."""
    most = _largest_size(space)
    return isinstance(space, blocks.Multisets) and space.least <= size and (most is None or size <= most)
