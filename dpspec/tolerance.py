"""Tolerated risk: how much somebody is ready to bear, and the budget that follows from it, before any data are seen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from decimal import ROUND_FLOOR, Context, Decimal
from typing import ClassVar

import attrs

from dpspec.attacker import RiskStatement
from dpspec.exact import Bracket, Number, dyadic


@attrs.frozen(kw_only=True)
class Recommendation:
    """The largest budget under which a tolerated risk is kept.

    Args:
        parameter: the name of the budget, such as epsilon.
        value: the least upper bound of the budgets that keep it, exactly or in a bracket. Infinity: nothing is asked.
        given: what belongs to the budget besides its value, as (name, value) pairs such as ("delta", "1e-8"), ("releases", "12").
        at: the attacker for whom the requirement binds, as (name, value) pairs such as ("p", "1"), ("q", "1/12").
        attained: whether that attacker is one the requirement speaks about; if not, it is approached by such.
        binding: the requirement that binds, in words.
        method: "closed form", or how the number was found.
        theorem: why it holds: the ID of a theorem, or the computation.
        assumption: what must hold for it besides the specification, in words.
        not_covered: attackers about whom the requirement says nothing, one line each.
        consequences: what a release under this budget looks like, such as the standard deviation of its noise.
    """

    parameter: str
    value: Bracket
    given: tuple[tuple[str, str], ...] = ()
    at: tuple[tuple[str, str], ...]
    attained: bool = True
    binding: str
    method: str
    theorem: str
    assumption: str
    not_covered: tuple[str, ...] = ()
    consequences: tuple[RiskStatement, ...] = ()

    @property
    def stated(self) -> str:
        """The budget as a short decimal that is not above it: rounded up, it would break the tolerance (Z-S17)."""
        return rounded_down(self.value.lower)


def rounded_down(value: Number, digits: int = 4) -> str:
    """A decimal of so many digits that is not above the value.

    >>> from dpspec.exact import number
    >>> rounded_down(number("ln(11/3)"))
    '1.299'
    """
    if value.is_infinite:
        return "inf"
    low = value.as_fraction() if value.is_rational else dyadic(value.enclose().lower())
    return str(Context(prec=digits, rounding=ROUND_FLOOR).divide(Decimal(low.numerator), Decimal(low.denominator)))


class Tolerance(ABC):
    """A tolerated risk: a bound on what an attacker may learn, stated without data.

    A subclass is made with `dpspec.define`, and registers under its `name`. `recommend` has no argument: a budget that depended
    on the data would tell something about them.
    """

    name: ClassVar[str]

    title: ClassVar[str]
    """The tolerated risk in one line."""
    source: ClassVar[str]
    """The IDs of the definitions and theorems."""

    @abstractmethod
    def recommend(self) -> Recommendation:
        """The largest budget that keeps the tolerated risk.

        Raises:
            ProfileBelowOneError: less is tolerated than what the attacker knows without any release.
        """
