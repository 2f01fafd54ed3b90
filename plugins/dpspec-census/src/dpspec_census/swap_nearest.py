"""The laws of the nearest tables of a universe of c_Swap: two that differ by one exchange in one stratum.

In a stratum of n records their pair of laws is at most that of n different records (`swap_law`), and equal to it where no rest
value and no swap value of the stratum repeats. As strata grow, it approaches

    (1 - p^2, 0), (0, 1 - p^2), (p^2, p^2),                                                                        (1)

the law of whether both records were selected: if so, the output does not show which of them had which value; if not, it does.
Three rest values and three swap values are enough, two of each once and the third n-2 times. For permutation swapping (1) is at
least as far apart as the laws of any stratum: given that both are selected, a uniform permutation and its product with the
exchange have one law.

With two values on one side a universe with a lone rest value and a lone swap value has two tables, and its laws approach

    (1 - p, 0), (p, 1)                                                                                             (2)

and its reverse; with n records they are (1 - a, a/(n-1)), (a, 1 - a/(n-1)), a the probability that the lone record moves.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, ClassVar

from dpspec.plugin import (
    Bracket,
    DatasetSpace,
    Integer,
    OutputDivergence,
    PrivacySpec,
    Rational,
    Record,
    Text,
    define,
    grammar,
    laws,
    number,
)
from dpspec_census.swap_budget import SwappedRecords
from dpspec_census.swap_constant import derangement_constant, permutation_constant
from dpspec_census.swap_law import exchange_law
from dpspec_census.swap_pair import MOST_STRATA, StratumValues, Swap

CITATION = "docs/swapping-theorem.md, theorem 6"
MOST_SIZES = 24
"""Of so many different strata of a universe the laws are computed."""
FEW_RECORDS = 16
"""Up to so many records in a space, every size of a stratum is looked at."""


def in_the_limit(p: Fraction) -> laws.FiniteDichotomy:
    """(1): whether both records were selected."""
    apart = 1 - p * p
    return laws.FiniteDichotomy.of([(apart, Fraction(0)), (Fraction(0), apart), (1 - apart, 1 - apart)])


def of_lone_records(p: Fraction) -> tuple[laws.Dichotomy, laws.Dichotomy]:
    """(2) and its reverse."""
    pair = laws.FiniteDichotomy.of([(1 - p, Fraction(0)), (p, Fraction(1))])
    return pair, pair.reverse()


def nearest_in_space(swap: Swap, space: DatasetSpace) -> grammar.NearestLaws | None:
    """Over all universes of a space; None where no stratum has two different tables, or no law is known to occur."""
    most = getattr(space, "most", None)
    pairs: list[laws.Dichotomy] = []
    above: list[laws.Dichotomy] = []
    strata = swap.strata(space)
    varied: set[tuple[Fraction, int]] = set()
    for stratum in strata:
        values = StratumValues.of(swap.scheme, stratum, space, 3 if most is None else most)
        fewest = min(len(values.rests), len(values.swaps))
        if fewest > 1:
            varied.add((swap.rate_of(stratum), fewest))
    for p, fewest in sorted(varied):
        if not swap.derange:
            above.append(in_the_limit(p))
        if most is None and p < 1:
            pairs += [in_the_limit(p)] if fewest > 2 else of_lone_records(p)
        elif most is not None and min(most, fewest) >= 2:  # all different, as far as values go
            size = min(most, fewest)
            if getattr(space, "least", 0) <= size:
                sizes = {size, *range(2, min(size, FEW_RECORDS))}
                pairs += [exchange_law(n, p, derange=swap.derange) for n in sizes if getattr(space, "least", 0) <= n]
    if len(strata) >= MOST_STRATA and not swap.derange:
        above.append(in_the_limit(swap.default))  # of the strata that are not looked at
    if not pairs and not above:
        return None
    limits = "strata of any size" if most is None else f"strata of up to {most:,} records"
    return grammar.NearestLaws(
        distance=number(2), pairs=tuple(pairs), above=tuple(above), citation=CITATION,
        scope=f"two tables of one universe that differ by one exchange, {limits}",
    )  # fmt: skip


def nearest_in_universe(swap: Swap, strata: Mapping[Record, SwappedRecords]) -> grammar.NearestLaws | None:
    """Of the universe with these records by stratum; None where it holds one table alone."""
    pairs: list[laws.Dichotomy] = []
    bounds: dict[tuple[int, Fraction], bool] = {}
    for match, records in strata.items():
        rests, swaps = (Counter(values) for values in zip(*records, strict=True))
        size, p = len(records), swap.rate_of(match)
        if min(len(rests), len(swaps)) < 2:
            continue
        different = len(rests) == len(swaps) == size
        bounds[size, p] = bounds.get((size, p), False) or different
    if not bounds:
        return None
    known = sorted(bounds, reverse=True)
    above: list[laws.Dichotomy] = []
    if len(known) <= MOST_SIZES:
        above = [exchange_law(size, p, derange=swap.derange) for size, p in known]
    elif not swap.derange:
        above = [in_the_limit(p) for p in sorted({p for _, p in known})]
    shown = itertools.islice(((size, p) for size, p in known if bounds[size, p]), MOST_SIZES)
    pairs += [exchange_law(size, p, derange=swap.derange) for size, p in shown]
    largest = max(size for size, _ in known)
    return grammar.NearestLaws(
        distance=number(2), pairs=tuple(pairs), above=tuple(above), citation=CITATION,
        scope=f"two tables of this universe that differ by one exchange, strata of up to {largest:,} records",
    )  # fmt: skip


# --- the numbers of a stratum ---------------------------------------------------------------------


ALGORITHMS = ("derangement", "permutation")


@define
class SwapConstantRoute(grammar.BudgetTheorem):
    """Stratum size and swap rate -> the exact constant of a swap, and other budgets of one exchange (docs/swapping-theorem.md).

    Args:
        stratum: n, the records of the stratum.
        swap_rate: p, the probability with which each record is selected.
        algorithm: derangement or permutation; without it both, and for a single number that of derangements.

    >>> str(SwapConstantRoute(stratum=5, swap_rate="1/10").value(None))
    '1/2*ln(1782)'
    """

    name: ClassVar[str] = "swap-constant"

    stratum: Annotated[int, Integer(0)]
    swap_rate: Annotated[Fraction, Rational(0, 1)]
    algorithm: Annotated[str, Text(ALGORITHMS)] | None = None

    def value(self, spec: PrivacySpec) -> Bracket:
        return self._constant(self.algorithm or ALGORITHMS[0])

    def _constant(self, algorithm: str) -> Bracket:
        constant = derangement_constant if algorithm == ALGORITHMS[0] else permutation_constant
        return constant(self.stratum, self.swap_rate).value

    def numbers(self, goal: OutputDivergence) -> tuple[grammar.TheoremNumber, ...]:
        from dpspec_divergences import Mult

        found = []
        for algorithm in ALGORITHMS if self.algorithm is None else (self.algorithm,):
            if goal == Mult():
                value = self._constant(algorithm)
                about = f"{algorithm}-swapping, per unit, the largest over all tables of a universe of {self.stratum:,} records"
                cited = "docs/swapping-theorem.md, theorems 1 to 3"
            else:
                pair = exchange_law(self.stratum, self.swap_rate, derange=algorithm == ALGORITHMS[0])
                found_, parameter = goal.evaluate(pair), goal.budget_parameters[0]
                value = Bracket(lower=goal.budget_for(parameter, found_.lower), upper=goal.budget_for(parameter, found_.upper))
                about = f"{algorithm}-swapping, two tables that differ by one exchange, at distance 2"
                cited = CITATION
            found.append(grammar.TheoremNumber(value=value, about=about, citation=cited))
        return tuple(found)
