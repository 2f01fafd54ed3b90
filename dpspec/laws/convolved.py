"""Pairs whose loss is a sum of independent losses; numpy is imported when one of them is evaluated."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import TYPE_CHECKING

from dpspec.exact import Bracket, Number
from dpspec.laws.dichotomy import INFINITE, Dichotomy

if TYPE_CHECKING:
    from dpspec.laws.totals import Totals


class Convolved(Dichotomy):
    """A pair whose loss is a sum of independent losses: its hockey stick comes from a grid."""

    @functools.cached_property
    def _known_totals(self) -> dict[int, Totals]:
        return {}

    def totals(self, precision: int) -> Totals:
        """The composed loss."""
        from dpspec.laws.totals import Totals

        if precision not in self._known_totals:
            self._known_totals[precision] = Totals.of(self.releases(), precision)
        return self._known_totals[precision]

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        return self.totals(precision).hockey_stick(epsilon)

    def _epsilon_at(self, delta: Fraction, precision: int) -> Bracket:
        if self.singular_mass(precision=precision).lower > delta:
            return INFINITE
        found = self.totals(precision).epsilon_at(delta)
        return Bracket(lower=found.lower, upper=min(found.upper, self.max_log_ratio(precision=precision).upper))
