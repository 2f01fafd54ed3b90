"""Swap rates that differ by stratum: an agency swaps more where records are easier to recognise.

The strata of a swap are independent, and d_HamS and Mult add up over them. So the theorem holds stratum by stratum, and the
budget of a universe is the largest over its strata j of that for the size b_j and the rate p_j (B-T11).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated

import attrs
import numpy as np
import numpy.typing as npt

from dpspec.blocks.space import Record
from dpspec.errors import ParameterError
from dpspec.params import Items, Rational, Text, define


@define
class StratumRate:
    """The swap rate of one stratum.

    Args:
        stratum: its category of each attribute of `match`, in that order.
        swap_rate: p.

    >>> str(rate_of(("2",), [StratumRate(stratum=["2"], swap_rate="1/5")], Fraction(1, 20)))
    '1/5'
    """

    stratum: Annotated[tuple[str, ...], Items(Text(), least=1)]
    swap_rate: Annotated[Fraction, Rational(0, 1)]


@attrs.frozen(kw_only=True)
class Rates:
    """The swap rates of the strata of a table, by the numbers of the strata.

    Args:
        default: of all strata that have none of their own.
        own: of those that have.
    """

    default: Fraction
    own: Mapping[int, Fraction]

    def classes(self, names: npt.NDArray[np.int64]) -> Iterator[tuple[Fraction, npt.NDArray[np.bool_]]]:
        """Each rate that occurs, with the strata that have it as a mask over their numbers."""
        left = np.ones(len(names), dtype=np.bool_)
        for rate in sorted(set(self.own.values())):
            having = np.isin(names, [key for key, value in self.own.items() if value == rate])
            left &= ~having
            yield rate, having
        yield self.default, left


def check_rates(rates: Sequence[StratumRate], match: Sequence[str]) -> None:
    """Refuse rates that do not name every attribute of `match`, or one stratum twice."""
    named = [rate.stratum for rate in rates]
    for stratum in named:
        if len(stratum) != len(match):
            raise ParameterError(
                "rates", f"must name one category for each of {', '.join(match) or 'no attribute'}", value=stratum
            )
        if named.count(stratum) > 1:
            raise ParameterError("rates", "must not name a stratum twice", value=stratum)


def rate_of(stratum: Record, rates: Sequence[StratumRate], default: Fraction) -> Fraction:
    """The rate of a stratum: its own where it has one."""
    return next((rate.swap_rate for rate in rates if rate.stratum == stratum), default)
