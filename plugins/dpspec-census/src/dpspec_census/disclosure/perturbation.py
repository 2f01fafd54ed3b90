"""Perturbation tables: for every count the law of its change (Thompson, Broadfoot and Elazar 2013).

A row for a count n >= 1 has probabilities p(n, d) of publishing n + d, with

    sum_d p(n, d) = 1,   sum_d d p(n, d) = 0,   n + d >= 0

The last row serves all larger counts; 0 stays 0. `designed` makes such a table for given variance and largest change, as the
law of largest entropy in multiples of 1/keys (Marley and Leaver 2011; Giessing 2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

from dpspec.errors import DpspecError
from dpspec.laws.finite import FiniteLaw
from dpspec.params import Integer, Pairs, Rational, collect, define
from dpspec_census.disclosure.errors import (
    PerturbationDesignError,
    PerturbationKeysError,
    PerturbationMeanError,
    PerturbationRangeError,
    PerturbationSumError,
)


@define
class PerturbationRow:
    """The law of the change of one count.

    Args:
        count: n, at least 1; in the last row of a table, all counts from n on.
        changes: a table from the change d to its probability.

    >>> row = PerturbationRow(count=1, changes={"-1": "2/3", "2": "1/3"})
    >>> str(row.variance()), row.table(3)
    ('2', (-1, -1, 2))
    """

    count: Annotated[int, Integer(1)]
    changes: Annotated[tuple[tuple[str, Fraction], ...], Pairs(Rational(0, 1))]

    def __attrs_post_init__(self) -> None:
        subject = f"perturbation of the count {self.count}"
        total = sum(p for _, p in self.changes)
        if total != 1:
            raise PerturbationSumError(subject, "must have probabilities that sum to exactly 1", value=str(total))
        mean = sum(d * p for d, p in self.law())
        if mean != 0:
            raise PerturbationMeanError(subject, "must have mean 0, or the published tables drift", value=str(mean))
        least = min(d for d, p in self.law() if p)
        if self.count + least < 0:
            raise PerturbationRangeError(subject, "must not publish a negative count", value=self.count + least)

    def law(self) -> tuple[tuple[int, Fraction], ...]:
        """Pairs (d, p(n, d)), the smallest change first."""
        return tuple(sorted((_change(d), p) for d, p in self.changes))

    def variance(self) -> Fraction:
        """sum_d d^2 p(n, d)."""
        return sum((d * d * p for d, p in self.law()), Fraction(0))

    def table(self, keys: int) -> tuple[int, ...]:
        """The change for each cell key 0, ..., keys - 1; raises PerturbationKeysError when a probability is no multiple of 1/keys."""
        changes: list[int] = []
        for d, p in self.law():
            if (p * keys).denominator != 1:
                rule = f"must be a multiple of 1/{keys}, one over the number of cell keys"
                raise PerturbationKeysError(f"probability of {d} at the count {self.count}", rule, value=str(p))
            changes += [d] * int(p * keys)
        return tuple(changes)


def _change(text: str) -> int:
    return int(Integer().read(text, "change"))


def check_rows(rows: Sequence[PerturbationRow], keys: int) -> None:
    """Raise PerturbationRangeError unless the rows are those of 1, 2, ..., and PerturbationKeysError as `table` does."""
    counts = [row.count for row in rows]
    if counts != list(range(1, len(rows) + 1)):
        raise PerturbationRangeError("rows", "must stand for the counts 1, 2, 3, ... in this order", value=counts)
    collect(lambda row=row: row.table(keys) for row in rows)
