"""The budget of the swapping theorem, one number for each universe (B-T11)."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Annotated, ClassVar

import attrs

from dpspec.blocks.budget import Budget
from dpspec.blocks.multiverse import Universe
from dpspec.blocks.space import DatasetSpace, Record
from dpspec.errors import ParameterError
from dpspec.exact import INFINITY, ZERO, Number, ln
from dpspec.params import Integer, Items, Nested, Rational, Text, define
from dpspec.plural import count
from dpspec_census.stratum_rate import StratumRate, check_rates, rate_of
from dpspec_census.swap_scheme import StratumSizes

FORMS = ("s23-full", "s23-short", "s24")
"""The versions of the theorem that are printed, by the slides that print them."""


@lru_cache(maxsize=4096)
def nominal_budget(largest_stratum: int, swap_rate: Fraction, form: str = "s23-full") -> Number:
    """eps of the swapping theorem for a stratum size b and a swap rate p, with o = p/(1-p), in nats per unit.

    s23-full:   0 for b = 0; ln((b+1)/o) for 0 < p <= 1/2; max{ln o, ln((b+1)/o)} for 1/2 < p < 1;
                infinite for p in {0, 1} and b > 0, where the source denies every finite budget.
    s24:        the same two branches, without a word on b = 0 or on p in {0, 1}.
    s23-short:  ln((b+1)/o), printed for 0 < p <= 1/2 only.

    >>> nominal_budget(264331, Fraction(1, 20)).decimal(), str(nominal_budget(8, Fraction(3, 4)))
    ('15.4294', 'ln(3)')
    """
    check_form(swap_rate, form)
    if form == "s23-full" and largest_stratum == 0:
        return ZERO
    if swap_rate in (0, 1):
        return INFINITY
    odds = swap_rate / (1 - swap_rate)
    return max(ln(odds), ln((largest_stratum + 1) / odds))


def check_form(swap_rate: Fraction, form: str) -> None:
    """Refuse a swap rate for which the theorem is not stated in this form."""
    if form == "s23-short" and not 0 < swap_rate <= Fraction(1, 2):
        rule = "the short form of the theorem is stated for 0 < p <= 1/2 only"
        raise ParameterError("swap_rate", rule, 'choose form = "s23-full"', value=str(swap_rate))
    if form == "s24" and not 0 < swap_rate < 1:
        rule = "the 2024 form of the theorem says nothing about p = 0 and p = 1"
        raise ParameterError("swap_rate", rule, 'choose form = "s23-full", which gives infinity', value=str(swap_rate))


@define
class SwappingBudget(Budget):
    """eps_D of the swapping theorem as printed, from the stratum sizes of the universe D.

    The size b is read from the datasets of D: for ``s23-full`` the largest stratum that holds at least two
    different records (B-D24), for the other two forms the largest stratum. Both are constant inside a universe of c_Swap;
    in a universe of another multiverse the largest over its datasets is taken.

    Args:
        match: the attributes that form the strata.
        swap_rate: p.
        form: which print of the theorem, see `nominal_budget`.
        rates: the strata that have a rate of their own; their budgets count with it.
        unit: the unit whose records are swapped.
        largest_stratum: b as a source prints it; the budget is then one number for all universes.

    >>> str(SwappingBudget(match=("state",), swap_rate="1/20", largest_stratum=13680081).uniform())
    'ln(259921558)'
    """

    name: ClassVar[str] = "swapping"

    parameter: str = attrs.field(default="epsilon", init=False)
    match: Annotated[tuple[str, ...], Items(Text())] = ()
    swap_rate: Annotated[Fraction, Rational(0, 1)]
    rates: Annotated[tuple[StratumRate, ...], Items(Nested(StratumRate))] = ()
    form: Annotated[str, Text(FORMS)] = "s23-full"
    unit: Annotated[str, Text()] = "household"
    largest_stratum: Annotated[int, Integer(0)] | None = None

    def __attrs_post_init__(self) -> None:
        check_form(self.swap_rate, self.form)
        check_rates(self.rates, self.match)
        for rate in self.rates:
            check_form(rate.swap_rate, self.form)
        if self.rates and self.largest_stratum is not None:
            raise ParameterError("largest_stratum", "is one number for one rate", "leave out rates, or the largest stratum")

    def at(self, universe: Universe, space: DatasetSpace) -> Number:
        if self.largest_stratum is not None:
            return nominal_budget(self.largest_stratum, self.swap_rate, self.form)
        strata = [StratumSizes.by_stratum(dataset, space, self.match, self.unit) for dataset in universe.datasets]
        budgets = {self.of_stratum(stratum, size) for sizes in strata for stratum, size in sizes.items()}
        return max(budgets, default=nominal_budget(0, self.swap_rate, self.form))

    def of_stratum(self, stratum: Record, size: StratumSizes) -> Number:
        """The budget of one stratum with its own rate."""
        b = size.largest_varied if self.form == "s23-full" else size.largest
        return nominal_budget(b, rate_of(stratum, self.rates, self.swap_rate), self.form)

    def within(self, other: Budget) -> str | None:
        """Of the full form within the others: it grows with the size of the stratum, and reads fewer strata."""
        fields = ("match", "swap_rate", "rates", "unit", "largest_stratum")
        same = isinstance(other, SwappingBudget) and all(getattr(self, name) == getattr(other, name) for name in fields)
        if same and self.form == "s23-full":
            return (
                "at one swap rate it grows with b, and b is the size of a stratum with two different records, or of any stratum"
            )
        return Budget.within(self, other)

    def uniform(self) -> Number | None:
        if self.largest_stratum is None:
            return None
        return nominal_budget(self.largest_stratum, self.swap_rate, self.form)

    def __str__(self) -> str:
        b = "the largest stratum" if self.largest_stratum is None else f"b = {self.largest_stratum}"
        own = f" (other rates in {count(len(self.rates), 'stratum', 'strata')})" if self.rates else ""
        return f"epsilon of the swapping theorem ({self.form}) at swap rate {self.swap_rate}{own}, {b}"
