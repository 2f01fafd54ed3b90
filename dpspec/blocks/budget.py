"""Block 5: the budget eps_D, the intensity of protection, one number for each universe D (Bailie et al. 2024)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from typing import Annotated, Any, ClassVar

import attrs

from dpspec.base.errors import NotInUniverseError
from dpspec.base.exact import Number
from dpspec.base.params import Exact, Text, define
from dpspec.base.promises import Promising
from dpspec.blocks.multiverse import Universe
from dpspec.blocks.space import DatasetSpace


class Budget(Promising, ABC):
    """eps_D: a number, named by its `parameter` (epsilon, rho, ...), for every universe D."""

    name: ClassVar[str]
    parameter: str

    @abstractmethod
    def at(self, universe: Universe, space: DatasetSpace) -> Number:
        """The budget of one universe, in units of `parameter`."""

    def uniform(self) -> Number | None:
        """The budget when it is one number for all universes, else None."""
        return None

    def least(self) -> Number | None:
        """A number that the budget of every universe is at least, and every universe has one; None when none is known."""
        return self.uniform()

    def by_label(self) -> tuple[tuple[Hashable, Number], ...] | None:
        """The budgets by the labels of their universes when they are listed so, else None."""
        return None

    def within(self, other: Budget) -> str | None:
        """A reason why this budget is at most the other one in every universe of every space; None when none is known."""
        return "the same budget" if self == other else None

    _promised: ClassVar[Mapping[str, Any]] = {
        "uniform": uniform,
        "least": least,
        "by_label": by_label,
        "within": within,
        "__str__": object.__str__,
    }


@define
class UniformBudget(Budget):
    """One number for every universe.

    Args:
        parameter: which number it is, such as epsilon or rho.
        value: the number; infinity asks for nothing.

    >>> str(UniformBudget(parameter="rho", value="2.63"))
    'rho = 263/100'
    """

    name: ClassVar[str] = "uniform"

    parameter: Annotated[str, Text()]
    value: Annotated[Number, Exact(0)]

    def at(self, universe: Universe, space: DatasetSpace) -> Number:
        return self.value

    def uniform(self) -> Number:
        return self.value

    def __str__(self) -> str:
        return f"{self.parameter} = {self.value}"


@attrs.frozen(kw_only=True)
class BudgetTable(Budget):
    """A number for each universe by its label.

    Args:
        parameter: which number it is.
        values: pairs (label, budget).
    """

    name: ClassVar[str] = "table"

    parameter: str
    values: tuple[tuple[Hashable, Number], ...]

    def at(self, universe: Universe, space: DatasetSpace) -> Number:
        for label, value in self.values:
            if label == universe.label:
                return value
        raise NotInUniverseError("budget", "has no entry for this universe", "add one", value=universe.label)

    def by_label(self) -> tuple[tuple[Hashable, Number], ...]:
        return self.values

    def __str__(self) -> str:
        return f"{self.parameter} for each of {len(self.values)} universes"
