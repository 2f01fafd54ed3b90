"""Perturbation tables: for every count the law of its change (Thompson, Broadfoot and Elazar 2013).

A row for a count n >= 1 has probabilities p(n, d) of publishing n + d, with

    sum_d p(n, d) = 1,   sum_d d p(n, d) = 0,   n + d >= 0

The last row serves all larger counts; 0 stays 0. `designed` makes such a table for given variance and largest change, as the
law of largest entropy in multiples of 1/keys (Marley and Leaver 2011; Giessing 2016).
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Annotated, Any

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
    >>> str(row.variance()), [row.change(key, 3) for key in range(3)]
    ('2', [-1, -1, 2])
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

    def check_keys(self, keys: int) -> None:
        """Raise PerturbationKeysError when a probability is no multiple of 1/keys: no set of cell keys has it."""
        for d, p in self.law():
            if (p * keys).denominator != 1:
                rule = f"must be a multiple of 1/{keys}, one over the number of cell keys"
                raise PerturbationKeysError(f"probability of {d} at the count {self.count}", rule, value=str(p))

    def change(self, key: int, keys: int) -> int:
        """d for a cell key: the first p(n, d_1) keys keys change by the smallest d_1, and so on."""
        changes, ends = self._ends(keys)
        return changes[bisect.bisect_right(ends, key)]

    def _ends(self, keys: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        law = self.law()
        return tuple(d for d, _ in law), tuple(itertools.accumulate(int(p * keys) for _, p in law))


def _change(text: str) -> int:
    return int(Integer().read(text, "change"))


def check_rows(rows: Sequence[PerturbationRow], keys: int) -> None:
    """Raise PerturbationRangeError unless the rows are those of 1, 2, ..., and PerturbationKeysError as `check_keys` does."""
    counts = [row.count for row in rows]
    if counts != list(range(1, len(rows) + 1)):
        raise PerturbationRangeError("rows", "must stand for the counts 1, 2, 3, ... in this order", value=counts)
    collect(partial(row.check_keys, keys) for row in rows)


def designed(variance: Fraction, largest: int, keys: int) -> tuple[PerturbationRow, ...]:
    """The rows 1, ..., D of a perturbation table, each with mean 0 and variance V exactly.

    Args:
        variance: V.
        largest: D: counts change by at most D, those below D downwards to 0 at most.
        keys: the number of cell keys; every probability is a multiple of one over it.

    Raises:
        PerturbationDesignError: no such law; a count of 1 with mean 0 and change at most D has a variance of at most D.

    >>> rows = designed(Fraction(1), 2, 64)
    >>> [str(row.variance()) for row in rows], [str(p) for _, p in rows[1].law()]
    (['1', '1'], ['1/16', '1/4', '3/8', '1/4', '1/16'])
    """
    return tuple(_designed_row(count, variance, largest, keys) for count in range(1, largest + 1))


def _designed_row(count: int, variance: Fraction, largest: int, keys: int) -> PerturbationRow:
    """Integer weights w_d with sum keys, mean 0 and variance V, as near to the law of largest entropy as there are any."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp

    subject, wanted = f"perturbation of the count {count}", variance * keys
    if wanted.denominator != 1:
        rule = "times the number of keys must be an integer"
        raise PerturbationDesignError(subject, f"variance {rule}", "use more keys", value=str(wanted))
    changes = np.arange(-min(count, largest), largest + 1)
    target = keys * _most_entropy(changes, float(variance))
    size = len(changes)
    identity, zero = np.eye(size), np.zeros((3, size))
    moments = np.vstack([np.ones(size), changes, changes**2])
    # Variables: the weights w and their distances t >= |w - target|.
    constraints = [
        LinearConstraint(np.hstack([moments, zero]), *([[keys, 0, int(wanted)]] * 2)),
        LinearConstraint(np.hstack([identity, -identity]), -np.inf, target),
        LinearConstraint(np.hstack([identity, identity]), target, np.inf),
    ]
    found = milp(
        np.repeat([0, 1], size), integrality=np.repeat([1, 0], size), bounds=Bounds(0, keys), constraints=constraints
    )  # fmt: skip
    if found.x is None:
        raise PerturbationDesignError(
            subject, f"has no law with mean 0 and variance {variance}", "lower the variance", value=largest
        )
    weights = [round(weight) for weight in found.x[:size]]
    changed = tuple((str(d), Fraction(w, keys)) for d, w in zip(changes.tolist(), weights, strict=True) if w)
    row = PerturbationRow(count=count, changes=changed)
    if row.variance() != variance:  # the solver's rounding is not taken on trust; sum and mean are checked by the row itself
        raise PerturbationDesignError(subject, "was not found exactly", "use another number of keys", value=keys)
    return row


def _most_entropy(changes: Any, variance: float) -> Any:
    """The law of largest entropy with mean 0 and this variance: p_d proportional to e^(a d + b d^2)."""
    import numpy as np
    from scipy.optimize import minimize
    from scipy.special import logsumexp

    features = np.vstack([changes, changes**2])
    moments = np.array([0.0, variance])
    dual = minimize(lambda ab: logsumexp(ab @ features) - ab @ moments, np.zeros(2), method="Nelder-Mead")
    exponents = dual.x @ features
    return np.exp(exponents - logsumexp(exponents))
