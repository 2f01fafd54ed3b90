"""Swapping in pairs, as statistical offices describe it: selected records are matched in pairs that exchange their values.

In each stratum every record is selected with probability p; the selected ones are matched in pairs uniformly, and where their
number is odd a uniform one of them is kept. A permutation that moves m of n records is an involution, m is even, and its
probability is

    f(m) = p^m q^(n-m) / (m-1)!! + (n-m) p^(m+1) q^(n-m-1) / (m+1)!!,          q = 1 - p, (-1)!! = 1,

the second term for the record that is kept.

Involutions do not compose. With three different records or more a table y can be one pair away from x while no pairs at all lead
from x' to y, although x and x' differ by one exchange: P_x(y) > 0 = P_x'(y), and no finite epsilon holds. Two records are the
exception: f(0) = 1 - p^2 and f(2) = p^2, so that the constant is |ln((1-p^2)/p^2)|/2 per unit of d_Ham. What holds of more is
(epsilon, delta) for one exchange, exactly: with I_m = C(n-2, m) (m-1)!! involutions of the others,

    dP_x/dP_x' = f(m)/f(m+2) with probability I_m f(m), its inverse with I_m f(m+2), else one of the two laws is 0.

A record whose partner agrees with it in further attributes, a profile, is matched on these: they belong to `match`.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import attrs

from dpspec.plugin import (
    Bracket,
    Dataset,
    DatasetSpace,
    PrivacySpec,
    Record,
    define,
    errors,
    exact,
    grammar,
    laws,
    ln,
)
from dpspec_census.stratum import StratumCells
from dpspec_census.swap_constant import INFINITE, ZERO, Slope, SwapConstant
from dpspec_census.swap_nearest import Exchanges
from dpspec_census.swap_pair import NO_CONSTANT, AttainingPair, ConstantOfSpace, StratumValues, Swap
from dpspec_census.swapping import Swapping

MOST_RECORDS = 10
"""The law of a stratum is listed for at most so many records."""
MOST_EXACT = 200
"""The law of one exchange is written out for at most so many records."""
CITATION = "docs/swapping-as-practised.md"


def double_factorial(number: int) -> int:
    """n!! of an odd number, with (-1)!! = 1: in how many ways n + 1 records are matched in pairs.

    >>> [double_factorial(n) for n in (-1, 1, 3, 5)]
    [1, 1, 3, 15]
    """
    return math.prod(range(number, 0, -2))


def involution_probability(moved: int, size: int, p: Fraction) -> Fraction:
    """f(m): the probability of one involution that moves m of n records.

    >>> involution_probability(2, 2, Fraction(1, 20)), involution_probability(0, 2, Fraction(1, 20))
    (Fraction(1, 400), Fraction(399, 400))
    """
    q = 1 - p
    found = p**moved * q ** (size - moved) / double_factorial(moved - 1)
    if moved < size:
        found += (size - moved) * p ** (moved + 1) * q ** (size - moved - 1) / double_factorial(moved + 1)
    return found


def pair_constant(size: int, swap_rate: Fraction) -> SwapConstant:
    """The constant of a stratum: 0 for fewer than two records, |ln((1-p^2)/p^2)|/2 for two, infinite for three or more.

    >>> str(pair_constant(2, Fraction(1, 20)).value), str(pair_constant(3, Fraction(1, 20)).value)
    ('1/2*ln(399)', 'inf')
    """
    if size < 2:
        return SwapConstant(size=size, swap_rate=swap_rate)
    stays, moves = involution_probability(0, 2, swap_rate), involution_probability(2, 2, swap_rate)
    if size > 2 or not stays or not moves:
        return SwapConstant(size=size, swap_rate=swap_rate, slopes=(Slope(value=INFINITE, exchanged=2, likely=2, unlikely=3),))
    likely, unlikely = (0, 2) if stays >= moves else (2, 0)
    value = Bracket.exactly(ln(max(stays, moves) / min(stays, moves)) / 2)
    return SwapConstant(
        size=size, swap_rate=swap_rate, slopes=(Slope(value=value, exchanged=2, likely=likely, unlikely=unlikely),)
    )


@lru_cache(maxsize=64)
def pair_exchange_law(size: int, swap_rate: Fraction) -> laws.Dichotomy:
    """The pair of laws of two tables of n different records that differ by one exchange; it is its own reverse.

    >>> pair = pair_exchange_law(3, Fraction(1, 2))
    >>> str(pair.singular_mass()), str(pair.hockey_stick("ln(3)"))
    ('1/3', '1/3')
    """
    if size < 2:
        return laws.IDENTICAL
    found: list[tuple[Fraction, Fraction]] = []
    for m in range(0, size - 1, 2):
        ways = math.comb(size - 2, m) * double_factorial(m - 1)
        stays, moves = involution_probability(m, size, swap_rate), involution_probability(m + 2, size, swap_rate)
        found += [(ways * stays, ways * moves), (ways * moves, ways * stays)]
    alone = 1 - sum((p for p, _ in found), Fraction(0))
    return laws.FiniteDichotomy.of([*found, (alone, Fraction(0)), (Fraction(0), alone)])


@define
class PairSwapping(Swapping):
    """In each stratum select each record with probability p, match the selected ones in pairs uniformly, one of an odd number
    being kept, and let each pair exchange its swap values.

    Two records have the constant |ln((1-p^2)/p^2)|/2 per unit; three different ones have none, since a table that one pair leads
    to may be out of reach from a neighbouring one.

    >>> from dpspec.plugin import UnorderedRecords
    >>> space = UnorderedRecords(attributes=[{"name": "tenure", "count": 2}, {"name": "county", "count": 2}], unit="household")
    >>> law = PairSwapping(swap=["county"], swap_rate="1/20").law((("0", "0"), ("1", "1")), space)
    >>> str(law.probability((("0", "1"), ("1", "0"))))
    '1/400'
    """

    name: ClassVar[str] = "pair-swapping"
    deranges: ClassVar[bool] = False

    def stratum_constant(self, size: int, swap_rate: Fraction) -> SwapConstant:
        return pair_constant(size, swap_rate)

    def stratum_weights(self, cells: StratumCells, columns: int, swap_rate: Fraction) -> Mapping[StratumCells, int]:
        size = sum(cells)
        if size > MOST_RECORDS:
            rule = f"is listed for strata of at most {MOST_RECORDS} records"
            raise errors.NotEnumerableError("law of pair-swapping", rule, "name smaller datasets")
        probabilities = [involution_probability(m, size, swap_rate) for m in range(0, size + 1, 2)]
        common = math.lcm(*(probability.denominator for probability in probabilities))
        whole = [int(probability * common) for probability in probabilities]
        found: Counter[StratumCells] = Counter()
        for (table, moved), ways in matchings(cells, columns).items():
            found[table] += ways * whole[moved // 2]
        return {table: weight for table, weight in found.items() if weight}

    def stratum_probability(self, cells: StratumCells, table: StratumCells, columns: int, swap_rate: Fraction) -> Fraction:
        weights = self.stratum_weights(cells, columns, swap_rate)
        return Fraction(weights.get(table, 0), sum(weights.values()))

    def constants(self) -> Swap:
        """The constants of this swap and the pairs that attain them, as of the other two forms."""
        return PairSwap(
            scheme=self.scheme(), rates=self.rates, default=self.swap_rate, constant=self.stratum_constant, derange=False
        )

    def nearest_laws(self, spec: PrivacySpec, dataset: Dataset | None = None) -> grammar.NearestLaws | None:
        return self.by_exchanges(spec, dataset)

    @property
    def algorithm_of_release(self) -> str:
        return "pair"

    release_sorted = Swapping.by_sorting
    release_households_sorted = Swapping.households_by_sorting

    def exchanges(self) -> Exchanges:
        return Exchanges(law=pair_exchange_law, most=MOST_EXACT, citation=CITATION)


@lru_cache(maxsize=1 << 12)
def matchings(cells: StratumCells, columns: int) -> Mapping[tuple[StratumCells, int], int]:
    """How many sets of disjoint pairs of records turn a table into another, by the number of records that are paired.

    >>> dict(matchings((1, 0, 0, 1), 2))
    {((1, 0, 0, 1), 0): 1, ((0, 1, 1, 0), 2): 1}
    """
    first = next((place for place, count in enumerate(cells) if count), None)
    if first is None:
        return {(cells, 0): 1}
    found: Counter[tuple[StratumCells, int]] = Counter()
    others = _changed(cells, {first: -1})
    for (table, moved), ways in matchings(others, columns).items():
        found[_changed(table, {first: 1}), moved] += ways
    for partner, count in enumerate(others):
        if count:
            (row, column), (other_row, other_column) = divmod(first, columns), divmod(partner, columns)
            come = Counter((row * columns + other_column, other_row * columns + column))
            for (table, moved), ways in matchings(_changed(others, {partner: -1}), columns).items():
                found[_changed(table, come), moved + 2] += count * ways
    return found


def _changed(cells: StratumCells, by: Mapping[int, int]) -> StratumCells:
    return tuple(count + by.get(place, 0) for place, count in enumerate(cells))


@attrs.frozen(kw_only=True)
class PairSwap(Swap):
    """The constants of swapping in pairs.

    Of three or more records whose values do not repeat the constant is infinite, shown by x = (0,0), (1,1), (2,2), ..., x' with
    the first two exchanged, and y with the second and third exchanged. In other universes it is not known.
    """

    def of_space(self, space: DatasetSpace) -> ConstantOfSpace:
        """Over all universes of the space, from strata of two and of three records."""
        most = getattr(space, "most", None)
        varied = [stratum for stratum in self.strata(space) if self._fewest(stratum, space) > 1]
        if not varied or (most is not None and most < 2):
            return NO_CONSTANT
        upper = exact.INFINITY if most is None or most > 2 else max(self.constant(2, self.rate_of(s)).value.upper for s in varied)
        best = ConstantOfSpace(value=Bracket(lower=exact.ZERO, upper=upper), size=most, stratum=None, pair=None)
        for stratum, size in itertools.product(varied, (3, 2)):
            pair = self.pair_in(size, stratum, space)
            if pair is not None and pair.slope.lower > best.value.lower:
                value = Bracket(lower=pair.slope.lower, upper=upper)
                best = ConstantOfSpace(value=value, size=size, stratum=stratum, pair=pair)
        return best

    def pair_at(self, size: int, stratum: Record, space: DatasetSpace) -> AttainingPair | None:
        values = StratumValues.of(self.scheme, stratum, space, size)
        different = min(size, len(values.rests), len(values.swaps))
        slope = self.constant(size, self.rate_of(stratum)).steepest
        if different < size or slope is None:
            return None
        if size > 2:
            orders: list[tuple[int, ...]] = [(), (1, 0), (0, 2, 1) if self.rate_of(stratum) > 0 else ()]
        else:
            orders = [(), (1, 0), ()] if slope.likely == 0 else [(1, 0), (), ()]
        likely, unlikely, output = (
            {(rest, order[rest] if rest < len(order) else rest): 1 for rest in range(size)} for order in orders
        )
        if size > 2 and self.rate_of(stratum) == 1:
            return None  # all but one are matched: which tables are reached depends on the size
        return values.pair(self.scheme, (likely, unlikely, output), slope.value, space)

    def of_universe(self, dataset: Dataset, space: DatasetSpace) -> Bracket:
        """Exact where no value repeats in any stratum, else with an upper end alone."""
        found = [ZERO]
        for match, pairs in self.scheme.strata(dataset, space).items():
            rests, swaps = (len(set(values)) for values in zip(*pairs, strict=True))
            upper = self.upper(len(pairs), self.rate_of(match), min(rests, swaps))
            value = self.constant(len(pairs), self.rate_of(match)).value
            known = rests == swaps == len(pairs) and 0 < self.rate_of(match) < 1
            found.append(Bracket(lower=value.lower if known else exact.ZERO, upper=upper))
        return exact.largest(found)
