"""The largest number of records of a dataset for which fixed-width numbers do not overflow.

Code that is run on all datasets at once computes with exact numbers. numpy does not: an integer of k bits wraps around, and a
double holds every whole number up to 2^53 only. So each number of a fixed width is compared with what it can reach, as a function
of the number n of records:

    value = c + sum over kinds v of a_v N_v  lies between  c + n min(0, a_v)  and  c + n max(0, a_v),   N_v >= 0, sum N_v <= n

and a `RecordBound` keeps the largest n for which all of them are exact. A space that has no more records needs nothing else. For
other spaces the verdict holds up to that n only, and says so.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import attrs

LONGEST_LIST = 1 << 45
"""No list has so many entries: its references would take 2^48 bytes, and a process addresses 2^47 (x86-64) or 2^48 (arm64)."""
FAR = 1 << 33
"""More records than there are people: a list of them takes 64 GiB. A proof for fewer records than some larger number is stated as
one. Where numbers end earlier, there is no proof."""
SEEN = 1 << 30
"""Roundings of doubles are bounded for up to so many records; for more they are among the last digits that `NOISE` speaks of."""
ROUNDED = Fraction(1, 1 << 10)
"""Roundings may add so much, as a part of what a record changes."""
UNIT = Fraction(1, 1 << 53)
"""Half a unit in the last place of a double between 1 and 2."""
ROUGH = UNIT * (1 << 10)
"""What a number of an entry may lose, relatively, that was computed in an order, or by a way, that is not known."""
WHOLE_DOUBLES = 1 << 53
"""Up to here, a double holds every whole number."""
REACH = 64
"""No draw of numpy's generator is so many scales from its center: uniform numbers have 53 bits, and 53 ln(2) + 8 < 64."""


@attrs.define(eq=False)
class RecordBound:
    """The number of records up to which all numbers of some runs are exact.

    Args:
        most: how many records a dataset has at most; of lists of numbers, how large a number or its opposite is; None without a
            limit.
        alone: whether it bounds each number alone, and not the sum of all counts.
        limit: with so many records all numbers are exact; None where that is so for as many as a dataset may have.
        symbol: the number of the count that reaches the limit first.
        reason: what happens beyond the limit.
        breaks: with so many records no library has failed by the range of its numbers; None where that is so for as many as a
            dataset may have.
        broken: what it does beyond.
        rounded: for each number of the data that noise is added to, as an affine expression, with the scale of the noise, a bound
            of what was lost to the rounding of doubles.
    """

    most: int | None = None
    alone: bool = False
    limit: int | None = None
    symbol: int | None = None
    reason: str = ""
    breaks: int | None = None
    broken: str = ""
    rounded: dict[tuple[Any, Fraction], Fraction] = attrs.field(factory=dict)
    statistics: dict[Any, Any] = attrs.field(factory=dict)

    @property
    def seen(self) -> int:
        """The number of records for which roundings are bounded."""
        return SEEN if self.most is None else min(self.most, SEEN)

    @property
    def is_exact(self) -> bool:
        """Whether all numbers are exact on all datasets that are in reach, and next to nothing was lost to roundings."""
        return (self.limit is None or self.limit >= FAR) and all(lost <= UNIT * SEEN for lost in self.rounded.values())

    def breaks_beyond(self, records: int, reason: str) -> None:
        """Write down that a library takes the numbers of so many records, and fails with those of more."""
        if (self.most is None or records < self.most) and (self.breaks is None or records < self.breaks):
            self.breaks, self.broken = records, reason

    def holds_up_to(self, records: int, symbol: int | None, reason: str) -> None:
        """Write down that a number is exact for so many records, and not for more."""
        if self.most is not None and records >= self.most:
            return
        if self.limit is None or records < self.limit:
            self.limit, self.symbol, self.reason = records, symbol, reason
