"""Pairs whose loss is a sum of independent losses; numpy is imported when one of them is evaluated."""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from dpspec.errors import NumericalError
from dpspec.exact import Bracket, Number, number
from dpspec.laws.dichotomy import INFINITE, Dichotomy
from dpspec.laws.sandwich import Sandwich

if TYPE_CHECKING:
    from dpspec.laws.totals import Totals


TOO_FAR = (NumericalError, OverflowError, FloatingPointError)
"""Losses that doubles do not hold."""


class Convolved(Dichotomy):
    """A pair whose loss is a sum of independent losses: its hockey stick comes from a grid.

    Pairs that are known through cells enter as atoms, merged for the lower end and spread for the upper one.
    """

    @property
    def is_convolved(self) -> bool:
        return True

    @functools.cached_property
    def _known_totals(self) -> dict[int, tuple[Totals, Totals]]:
        return {}

    def totals(self, precision: int) -> tuple[Totals, Totals]:
        """The composed losses of a pair below and of one above; mostly they are one."""
        from dpspec.laws.totals import Totals

        if precision not in self._known_totals:
            parts = self.releases()
            lower = [(pair.lowers[0] if isinstance(pair, Sandwich) else pair, times) for pair, times in parts]
            upper = [(pair.uppers[0] if isinstance(pair, Sandwich) else pair, times) for pair, times in parts]
            below = Totals.of(lower, precision)
            self._known_totals[precision] = below, below if lower == upper else Totals.of(upper, precision)
        return self._known_totals[precision]

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        try:
            below, above = self.totals(precision)
            lower = below.hockey_stick(epsilon)
            return lower if above is below else Bracket(lower=lower.lower, upper=above.hockey_stick(epsilon).upper)
        except TOO_FAR:
            return Bracket(lower=self._of_one(lambda pair: pair.hockey_stick(epsilon, precision=precision)), upper=number(1))

    def _epsilon_at(self, delta: Fraction, precision: int) -> Bracket:
        if self.singular_mass(precision=precision).lower > delta:
            return INFINITE
        top = self.max_log_ratio(precision=precision).upper
        try:
            below, above = self.totals(precision)
            lower = below.epsilon_at(delta, top)
            return lower if above is below else Bracket(lower=lower.lower, upper=above.epsilon_at(delta, top).upper)
        except TOO_FAR:
            return Bracket(lower=self._of_one(lambda pair: pair.epsilon_at(delta, precision=precision)), upper=top)

    def _of_one(self, functional: Callable[[Dichotomy], Bracket]) -> Number:
        """What one release alone gives away is a lower end: the others are no longer looked at."""
        return max(functional(pair).lower for pair, _ in self.releases())
