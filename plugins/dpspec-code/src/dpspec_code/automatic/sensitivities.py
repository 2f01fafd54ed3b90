"""Statistics of the entries of a dataset whose sensitivity is known: quantiles, the largest and the smallest, the variance.

No sum gives them, so that they are no affine function of the counts. But a statistic D of n entries between a and b, with
R = b - a, changes by no more than a known number when one entry is replaced:

    largest, smallest                            R
    quantile x_(j) + g (x_(j+1) - x_(j))         R max(g, 1 - g), and R where g = 0
    variance, divided by n or by n - 1           R^2 (n - 1) / n^2, R^2 / n

*Proof.* One entry replaced moves every order statistic no farther than to its neighbours, x_(j-1) <= x'_(j) <= x_(j+1). So a
quantile grows by at most (1 - g)(x_(j+1) - x_(j)) + g (x_(j+2) - x_(j+1)) <= max(g, 1 - g)(x_(j+2) - x_(j)). The variance is
1/n^2 times the sum of (x_i - x_j)^2 over all pairs, of which n - 1 change by at most R^2 each. Where the number of entries
changes, a quantile stays between a and b, and R is a bound.

D is written as a + R' U, with U an unknown number of the dataset between 0 and 1 that changes by at most the size of its symbol.
Noise whose pair of laws grows with the shift (Laplace, Gaussian and logistic noise: their densities are log-concave) hides every
change of U where it hides the largest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from dpspec_code.automatic.entry_rows import LEFT_OUT, EntryList
from dpspec_code.automatic.formulas import STATISTIC, Affine, NoiseDraw, reading
from dpspec_code.automatic.noise import drawn_number
from dpspec_code.automatic.spellings import axis_of
from dpspec_code.automatic.widths import UNIT

_FIRST = 10**6
"""Symbols of statistics have numbers beyond those of counts."""
_MOST_TRIED = 2_000
NAMES = frozenset({"max", "min", "amax", "amin", "median", "quantile", "percentile", "var"})


@attrs.frozen
class EntryStatistic:
    """A statistic of the entries.

    Args:
        symbol: represents (D - low) / range.
        low, range: D lies between low and low + range.
        evaluate: D, of how many entries of each kind there are.
        ends: the kinds of the smallest and the largest entry.
        sizes: how many entries a dataset has at least and at most.
    """

    symbol: NoiseDraw
    low: Fraction
    range: Fraction
    evaluate: Callable[[Sequence[int]], Fraction]
    ends: tuple[int, int]
    sizes: tuple[int, int | None]

    def at(self, counts: Sequence[int]) -> Fraction:
        """What its symbol is on a dataset."""
        return (self.evaluate(counts) - self.low) / self.range

    def extreme(self, kinds: int) -> tuple[dict[int, int], tuple[int | None, int]] | None:
        """Counts of a dataset of two kinds of entries, and the entry that is replaced or added there for the largest change."""
        small, large = self.ends
        least, most = self.sizes
        if least == most and least > _MOST_TRIED:
            return None

        def value(held: dict[int, int]) -> Fraction:
            return self.evaluate([held.get(place, 0) for place in range(kinds)])

        tried: list[tuple[Fraction, dict[int, int], int | None]] = []
        for number in range(1, least + 1 if least == most else 20):
            left = {small: number, large: least - number} if least == most else {small: max(number, least)}
            right = {**left, large: left.get(large, 0) + 1, small: left[small] - (least == most)}
            tried.append((abs(value(right) - value(left)), left, small if least == most else None))
        _, counts, gone = max(tried, key=lambda one: one[0])
        return {-place - 1: held for place, held in counts.items()}, (gone, large)


def statistic_of(table: EntryList, name: str, given: Sequence[Any], options: dict[str, Any]) -> Any:
    """A statistic of an array of entries as a number; NotImplemented where it is none that is known."""
    left = dict(options)
    places = ("q", "axis") if name in ("quantile", "percentile") else ("axis",)
    left.update(zip(places, given, strict=False))
    axis, level, divides = left.pop("axis", None), left.pop("q", None), left.pop("ddof", 0)
    least, most = table.sizes
    kinds = [kind for kind in table.kinds if kind is not LEFT_OUT]
    is_plain = (
        table.alone is None and not table.is_rough and not table.may_be_empty() and len({type(kind) for kind in kinds}) == 1
    )
    if left or len(given) > len(places) or not is_plain or type(kinds[0]) not in (np.float64, np.int64):
        return NotImplemented
    if (axis is not None and axis_of(axis, 1) is None) or type(divides) is not int or divides not in (0, 1):
        return NotImplemented
    read = [reading(kind) for kind in kinds]
    values = [one for one in read if one is not None]
    span = max(values) - min(values)
    number = least if least == most else None
    if len(values) < len(kinds) or not span or (name == "var" and (number is None or number < 2)):
        return NotImplemented
    parameters: dict[str, Any] = {"ddof": divides} if name == "var" else {}
    if name in ("quantile", "percentile"):
        share = level / 100 if name == "percentile" and type(level) in (int, float) else level
        if type(share) not in (int, float) or not 0 <= share <= 1:
            return NotImplemented
        parameters["q"] = level
    else:
        share = {"max": 1.0, "amax": 1.0, "min": 0.0, "amin": 0.0}.get(name, 0.5)
    size, low, whole = Fraction(1), min(values), span
    if name == "var":
        size, low, whole = _of_variance(Fraction(number or 0), divides, span)
    elif number is not None:
        position = (number - 1) * (reading(share) or Fraction(0))
        part = position - math.floor(position)
        size = max(part, 1 - part)
    return _number(table, name, parameters, size=size, low=low, whole=whole)


def _of_variance(number: Fraction, divides: int, span: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """By how much of its range the variance of so many entries changes at most; the least that it is, and its range."""
    step = span**2 * ((number - 1) / number**2 if not divides else 1 / number)
    whole = span**2 * (1 if not divides else number / (number - 1))
    return step / whole, Fraction(0), whole


def _number(table: EntryList, name: str, parameters: dict[str, Any], *, size: Fraction, low: Fraction, whole: Fraction) -> Any:
    """The symbol of a statistic, scaled to what it lies between."""
    bound = table.path.bound
    key = (name, tuple(sorted(parameters.items())), tuple(map(repr, table.kinds)))
    if key not in bound.statistics:
        function, kinds = getattr(np, name), np.array(table.kinds)
        order = sorted(range(len(kinds)), key=lambda place: kinds[place])

        def evaluate(counts: Sequence[int]) -> Fraction:
            return Fraction(float(function(np.repeat(kinds, counts), **parameters)))

        symbol = NoiseDraw(-_FIRST - len(bound.statistics), STATISTIC, size)
        ends = (order[0], order[-1])
        bound.statistics[key] = EntryStatistic(symbol, low, whole, evaluate, ends, table.sizes)
    found = bound.statistics[key]
    sample = np.max(np.array(table.kinds)) if name in ("max", "amax", "min", "amin") else np.float64(1)
    error = (whole + abs(low)) * UNIT * 8 * (table.sizes[0] if name == "var" else 1)
    return drawn_number(table.path, Affine(low, ((found.symbol, whole),)), sample, error)
