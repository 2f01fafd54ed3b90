"""Swapping with rates by risk: records that are easier to recognise are selected with a larger probability.

A rate may depend on how many records of the stratum agree with a record: in what it holds (match x held), which the invariants
fix, or in all of its values (match x held x swapped), which they do not. In a stratum of n records with the rates p_i a
permutation that moves the records M has, up to a factor of the table, the probability

    derangement    prod over M of p_i, prod over the others of 1 - p_i, / D_|M|, |M| != 1,
    permutation    sum over S that contain M of prod over S of p_i, prod over the others of 1 - p_i, / |S|!.

Where rates depend on held attributes, they are the same for all tables of a universe, and the constant of a universe is finite
for rates inside (0, 1). Where they depend on cells, a record has another rate on another table: the constant can exceed that of
either rate by itself, and it is infinite where one rate is 0. No formula for the constant at any size is known; laws are listed
up to `MOST_RECORDS` records.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar

from dpspec.plugin import (
    DatasetSpace,
    Items,
    Nested,
    Rational,
    Table,
    Text,
    blocks,
    define,
    errors,
    grammar,
    late_module,
    tables,
)
from dpspec_census.stratum import RecordRates, StratumCells, UniqueRates, derangements, held_members
from dpspec_census.swap_constant import SwapConstant
from dpspec_census.swap_pair import Swap
from dpspec_census.swapping import Swapping

if TYPE_CHECKING:
    import numpy as np

    from dpspec.plugin import Integers
else:
    np = late_module("numpy")

MOST_RECORDS = 7
"""The law of a stratum is listed for at most so many records: every permutation of them."""

HELD, CELL = "unique in match x held", "unique in match x held x swapped"


@define
class RiskRate:
    """The rate of the records that meet a condition.

    Args:
        where: which records: those that no other record of their stratum agrees with, in what they hold, or in all values.
        rate: p, the probability with which each of them is selected.

    >>> str(RiskRate(where="unique in match x held", rate="1/2").rate)
    '1/2'
    """

    where: Annotated[str, Text((HELD, CELL))]
    rate: Annotated[Fraction, Rational(0, 1)]


@define
class RiskSwapping(Swapping):
    """Derangement or permutation swapping in which the rate of a record depends on how easily it is recognised.

    Args:
        rate: conditions with their rates; the first one that a record meets counts, and `swap_rate` where it meets none.
        algorithm: what the selected records of a stratum do: derangement or permutation.

    >>> from dpspec.plugin import UnorderedRecords
    >>> space = UnorderedRecords(attributes=[{"name": "tenure", "count": 2}, {"name": "county", "count": 2}], unit="household")
    >>> swap = RiskSwapping(swap=["county"], swap_rate="1/10", rate=[{"where": "unique in match x held", "rate": "1/2"}])
    >>> str(swap.law((("0", "0"), ("1", "1")), space).probability((("0", "1"), ("1", "0"))))
    '1/2'
    """

    name: ClassVar[str] = "risk-swapping"
    deranges: ClassVar[bool] = False

    rate: Annotated[tuple[RiskRate, ...], Items(Nested(RiskRate), least=1)]
    algorithm: Annotated[str, Text(("derangement", "permutation"))] = "derangement"

    def __attrs_post_init__(self) -> None:
        Swapping.__attrs_post_init__(self)
        rates = {self.swap_rate, *(one.swap_rate for one in self.rates), *(one.rate for one in self.rate)}
        if self.algorithm == "derangement" and {Fraction(0), Fraction(1)} <= rates:
            rule = "of 0 and 1 together may select exactly one record for ever"
            raise errors.ParameterError("rate", rule, "use rates inside (0, 1), or algorithm = permutation")

    def stratum_constant(self, size: int, swap_rate: Fraction) -> SwapConstant:
        rule = "has no known formula for its constant"
        raise errors.NoFormulaError(f"mechanism {self.name}", rule, "verify a space of few records, which lists all datasets")

    def constants(self) -> Swap:
        rule = "has no known formula for its constant"
        raise errors.NoFormulaError(f"mechanism {self.name}", rule, "verify a space of few records, which lists all datasets")

    def stratum_weights(self, cells: StratumCells, columns: int, swap_rate: Fraction) -> Mapping[StratumCells, int]:
        size = sum(cells)
        if size > MOST_RECORDS:
            rule = f"is listed for strata of at most {MOST_RECORDS} records"
            raise errors.NotEnumerableError(f"law of {self.name}", rule, "name smaller datasets")
        records = [divmod(place, columns) for place, count in enumerate(cells) for _ in range(count)]
        rates = self._rates(records, swap_rate)
        probabilities: Counter[StratumCells] = Counter()
        for order in itertools.permutations(range(size)):
            moved = [place for place in range(size) if order[place] != place]
            probability = self._probability(moved, rates)
            if probability:
                table = Counter(records[place][0] * columns + records[order[place]][1] for place in range(size))
                probabilities[tuple(table[place] for place in range(len(cells)))] += probability  # type: ignore[assignment]
        common = math.lcm(*(Fraction(probability).denominator for probability in probabilities.values()))
        return {table: int(probability * common) for table, probability in probabilities.items()}

    def _rates(self, records: Sequence[tuple[int, int]], swap_rate: Fraction) -> list[Fraction]:
        """The rate of each record of a stratum."""
        held, whole = Counter(rest for rest, _ in records), Counter(records)
        unique = {HELD: [held[rest] == 1 for rest, _ in records], CELL: [whole[record] == 1 for record in records]}
        return [
            next((one.rate for one in self.rate if unique[one.where][place]), swap_rate) for place in range(len(records))
        ]  # fmt: skip

    def _probability(self, moved: Sequence[int], rates: Sequence[Fraction]) -> Fraction:
        """The probability of one permutation that moves these records, up to a factor of the table that is divided out."""
        size, every = len(rates), range(len(rates))
        if self.algorithm == "derangement":
            if size < 2:
                return Fraction(not moved)
            kept = math.prod((rates[i] if i in moved else 1 - rates[i] for i in every), start=Fraction(1))
            return kept / derangements(len(moved)) if len(moved) != 1 else Fraction(0)
        probability, others = Fraction(0), [place for place in every if place not in moved]
        for more in itertools.chain.from_iterable(itertools.combinations(others, k) for k in range(len(others) + 1)):
            chosen = {*moved, *more}
            kept = math.prod((rates[i] if i in chosen else 1 - rates[i] for i in every), start=Fraction(1))
            probability += kept / math.factorial(len(chosen))
        return probability

    def stratum_probability(self, cells: StratumCells, table: StratumCells, columns: int, swap_rate: Fraction) -> Fraction:
        weights = self.stratum_weights(cells, columns, swap_rate)
        return Fraction(weights.get(table, 0), sum(weights.values()))

    def symmetries(self, space: DatasetSpace) -> tuple[grammar.Symmetry, ...]:
        """Renaming categories; held and swapped attributes are not exchanged, since rates depend on the held ones."""
        return tuple(one for one in super().symmetries(space) if one.label.count(" ") > 2)

    @property
    def algorithm_of_release(self) -> str:
        return "derange" if self.algorithm == "derangement" else "permute"

    def check_table(self, table: tables.Countable, space: DatasetSpace) -> None:
        members = table.members if isinstance(table, Table) else getattr(table, "inside", None)
        if blocks.MEMBERS in self.scheme().rest(space) and members is None:
            raise _no_members()

    def records_by_rate(self, table: Table, space: DatasetSpace) -> RecordRates:
        held = (*self.match, *self.scheme().rest(space))
        kinds = {HELD: held, CELL: (*held, *self.swap)}
        chosen = np.full(len(table), len(self.rate), dtype=np.int64)
        for place in reversed(range(len(self.rate))):
            alike = _kinds(table, kinds[self.rate[place].where])
            chosen[np.bincount(alike)[alike] == 1] = place
        return RecordRates(rates=(*(one.rate for one in self.rate), None), of_row=chosen)

    def unique_rates(self, space: DatasetSpace) -> UniqueRates:
        return UniqueRates(
            rates=(*(one.rate for one in self.rate), None),
            whole=tuple(one.where == CELL for one in self.rate),
            members=blocks.MEMBERS in self.scheme().rest(space),
        )

    release_sorted = Swapping.by_sorting
    release_households_sorted = Swapping.households_by_sorting


def _kinds(table: Table, names: Sequence[str]) -> Integers:
    """One integer per record, equal where records agree in the columns, and where these say so hold the same members."""
    columns = [name for name in names if name != blocks.MEMBERS]
    found = table.kinds(columns)
    return found if len(columns) == len(names) else np.unique(found * len(table) + _held(table), return_inverse=True)[1]


def _no_members() -> errors.TableError:
    return errors.TableError("table", "has records without members", "give households together with their persons")


def _held(table: Table) -> Integers:
    """A number for each record, the same where records hold the same multiset of members."""
    if table.members is None:
        raise _no_members()
    known: dict[bytes, int] = {}
    return np.fromiter((known.setdefault(members, len(known)) for members in held_members(table)), np.int64, count=len(table))
