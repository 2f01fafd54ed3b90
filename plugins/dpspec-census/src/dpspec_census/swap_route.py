"""The numbers of a stratum from its size and rate, for ``dpspec convert`` and for expectations in files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import Annotated, ClassVar

from dpspec.plugin import Bracket, Integer, OutputDivergence, PrivacySpec, Rational, Text, define, grammar, laws
from dpspec_census.pair_swapping import CITATION as OF_PAIRS, MOST_EXACT, pair_constant, pair_exchange_law
from dpspec_census.swap_constant import SwapTheorem, derangement_constant, permutation_constant
from dpspec_census.swap_law import exchange_law
from dpspec_census.swap_nearest import CITATION

CONSTANTS = "docs/swapping-theorem.md, theorems 1 to 3"

Exchange = Callable[[int, Fraction], laws.Dichotomy]

ALGORITHMS: Mapping[str, tuple[SwapTheorem, Exchange, str]] = {
    "derangement": (derangement_constant, partial(exchange_law, derange=True), CITATION),
    "permutation": (permutation_constant, partial(exchange_law, derange=False), CITATION),
    "pair": (pair_constant, pair_exchange_law, OF_PAIRS),
}
"""The constant of each algorithm, the law of one exchange, and where both are proved."""


@define
class SwapConstantRoute(grammar.BudgetTheorem):
    """Stratum size and swap rate -> the exact constant of a swap, and other budgets of one exchange (docs/swapping-theorem.md).

    Args:
        stratum: n, the records of the stratum.
        swap_rate: p, the probability with which each record is selected.
        algorithm: derangement, permutation or pair; without it all of them, and for a single number derangement.

    >>> from dpspec_divergences import Mult
    >>> route = SwapConstantRoute(stratum=5, swap_rate="1/10")
    >>> [str(found.value) for found in route.numbers(Mult())]
    ['1/2*ln(1782)', '1/2*ln(1711)', 'inf']
    """

    name: ClassVar[str] = "swap-constant"

    stratum: Annotated[int, Integer(0)]
    swap_rate: Annotated[Fraction, Rational(0, 1)]
    algorithm: Annotated[str, Text(tuple(ALGORITHMS))] | None = None

    def value(self, spec: PrivacySpec) -> Bracket:
        constant, _, _ = ALGORITHMS[self.algorithm or "derangement"]
        return constant(self.stratum, self.swap_rate).value

    def numbers(self, goal: OutputDivergence) -> tuple[grammar.TheoremNumber, ...]:
        from dpspec_divergences import Mult

        found = []
        for name in ALGORITHMS if self.algorithm is None else (self.algorithm,):
            constant, law, cited = ALGORITHMS[name]
            if goal == Mult():
                value = constant(self.stratum, self.swap_rate).value
                cited = cited if name == "pair" else CONSTANTS
                about = f"{name}-swapping, per unit, the largest over all tables of a universe of {self.stratum:,} records"
            elif name == "pair" and self.stratum > MOST_EXACT:
                continue
            else:
                apart, parameter = goal.evaluate(law(self.stratum, self.swap_rate)), goal.budget_parameters[0]
                value = Bracket(lower=goal.budget_for(parameter, apart.lower), upper=goal.budget_for(parameter, apart.upper))
                about = f"{name}-swapping, two tables that differ by one exchange, at distance 2"
            found.append(grammar.TheoremNumber(value=value, about=about, citation=cited))
        return tuple(found)
