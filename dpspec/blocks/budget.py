"""Block 5: the budget eps_D, the intensity of protection, one number for each universe D (Bailie et al. 2024)."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from typing import Annotated, Any, ClassVar

import attrs

from dpspec.base.errors import (
    BudgetNotKnownError,
    BudgetNotStatedError,
    IncompatibleBlocksError,
    NotInUniverseError,
    ParameterError,
    as_written,
)
from dpspec.base.exact import Number, number
from dpspec.base.memo import is_hashable, memoize
from dpspec.base.params import Exact, Text, define, did_you_mean
from dpspec.base.promises import Promising, is_a
from dpspec.blocks.multiverse import ExplicitUniverses, Multiverse, Trivial, Universe
from dpspec.blocks.parts import listing_size
from dpspec.blocks.space import DatasetSpace

MOST_NAMED, LONGEST_NAMED = 500, 200
"""The nearest of a misspelt label is looked for among so many universes, and in the first characters of their labels."""


class Budget(Promising, ABC):
    """eps_D: a number, named by its `parameter` (epsilon, rho, ...), for every universe D."""

    name: ClassVar[str]
    parameter: str

    @abstractmethod
    def at(self, universe: Universe, space: DatasetSpace) -> Number:
        """The budget of one universe, in units of `parameter`.

        A budget that reads the label alone is evaluated wherever two datasets of a universe are compared. One that reads
        `universe.datasets` is evaluated on all of them, or on some where it `is_same_in_parts`.
        """

    def is_same_in_parts(self, multiverse: Multiverse, space: DatasetSpace) -> bool:
        """Whether `at` is known to be the same number for some datasets of a universe, at least one, as for all of them."""
        return False

    def check_universes(self, multiverse: Multiverse, space: DatasetSpace) -> None:
        """Raise IncompatibleBlocksError when the budget names a universe, or a part of one, that the specification does not have.

        It is called for the specification as a user writes it, and not for the smaller spaces on which a claim is checked: a
        budget may name parts that these do not have.
        """
        return

    def uniform(self) -> Number | None:
        """The budget when it is one number for all universes, else None."""
        return None

    def least(self) -> Number | None:
        """A lower bound of the budgets of all universes, each of which has a budget; None when none is known."""
        return self.uniform()

    def least_between(self, multiverse: Multiverse, space: DatasetSpace) -> tuple[Number, str] | None:
        """A lower bound of the budget in every universe with two different datasets, and the reason; None when none is known.

        A universe of one dataset imposes no constraint, so its budget is irrelevant.
        """
        least = self.least()
        return None if least is None else (least, "in every universe")

    def by_label(self) -> tuple[tuple[Hashable, Number], ...] | None:
        """The budgets by the labels of their universes when they are listed so, else None."""
        return None

    def unpublished(self) -> str | None:
        """The reason why no number can be relied on: none is published, or only a lower bound; None where a number is
        published."""
        return None

    def bounds(self) -> tuple[Number | None, Number | None] | None:
        """The published lower and upper bound, where only bounds are published; None where the budget is published."""
        return None

    def within(self, other: Budget) -> str | None:
        """A reason why this budget is at most the other one in every universe of every space; None when none is known."""
        return "the same budget" if self == other else None

    _promised: ClassVar[Mapping[str, Any]] = {
        "is_same_in_parts": is_same_in_parts,
        "uniform": uniform,
        "least": least,
        "least_between": least_between,
        "by_label": by_label,
        "unpublished": unpublished,
        "bounds": bounds,
        "within": within,
        "__str__": object.__str__,
    }


@define
class UniformBudget(Budget):
    """One number for every universe.

    Args:
        parameter: which number it is, such as epsilon or rho.
        value: the number, a privacy loss for each unit of distance; infinity asks for nothing.

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

    def __attrs_post_init__(self) -> None:
        pairs = isinstance(self.values, tuple) and all(isinstance(row, tuple) and len(row) == 2 for row in self.values)
        if not pairs or not is_hashable(self.values) or not all(type(value) is Number for _, value in self.values):
            rule = "takes pairs of a label and an exact number"
            raise ParameterError("budget", rule, 'write values=(("a", number(1)), ("b", number("1/2")))', value=repr(self.values))
        seen = set[Hashable]()
        for label, value in self.values:
            if value < 0:
                rule = f"is negative in the universe {label}"
                raise ParameterError("budget", rule, "write a number of at least 0", value=str(value))
            if label in seen:  # 1, 1.0 and True are one label
                raise ParameterError("budget", "has two entries for one universe", "keep one of them", value=str(label))
            seen.add(label)

    def at(self, universe: Universe, space: DatasetSpace) -> Number:
        for label, value in self.values:
            if label == universe.label:
                return value
        raise NotInUniverseError("budget", "has no entry for this universe", "add one", value=universe.label)

    def check_universes(self, multiverse: Multiverse, space: DatasetSpace) -> None:
        """An entry for a misspelt label promises nothing, and a universe of several datasets needs a number."""
        known, given = _universe_sizes(multiverse, space), dict(self.values)
        for label in given if known else ():
            if label not in known:
                texts = [as_written(one)[:LONGEST_NAMED] for one in itertools.islice(known, MOST_NAMED)]
                advice = did_you_mean(as_written(label)[:LONGEST_NAMED], texts) or "write the label of a universe"
                rule = "names a universe that the specification does not have"
                raise IncompatibleBlocksError("budget", rule, advice, value=label)
        for label, datasets in known.items():
            if datasets > 1 and label not in given:
                raise IncompatibleBlocksError("budget", "has no entry for this universe", "add one", value=label)

    def by_label(self) -> tuple[tuple[Hashable, Number], ...]:
        return self.values

    def __str__(self) -> str:
        return f"{self.parameter} for each of {len(self.values)} universes"


@define
class OpenBudget(Budget):
    """One number for every universe, of which the publisher gave only bounds, or nothing at all.

    A promise of *at most* 8 is judged as the promise of 8: it is all that anybody can rely on. Where no number is given from
    above, nobody can rely on any: what keeps the number that it is *at least* keeps it whatever it is; all else is undecided.

    Args:
        parameter: which number it is, such as epsilon or rho.
        at_least, at_most: what is published of it.

    >>> str(OpenBudget(parameter="epsilon", at_least="1/2", at_most=8)), str(OpenBudget(parameter="rho"))
    ('epsilon from 0.5 to 8', 'rho: no number published')
    """

    name: ClassVar[str] = "open"

    parameter: Annotated[str, Text()]
    at_least: Annotated[Number | None, Exact(0)] = None
    at_most: Annotated[Number | None, Exact(0)] = None

    def __attrs_post_init__(self) -> None:
        low, high = self.at_least, self.at_most
        if low is not None and high is not None and high < low:
            rule = f"{self.parameter} is at least {low} and at most {high}, which no number is"
            raise ParameterError("budget", rule, "exchange the two, or correct one")

    def at(self, universe: Universe, space: DatasetSpace) -> Number:
        if self.at_most is None:
            raise BudgetNotStatedError("budget", str(self.unpublished()), "ask the publisher; nothing can be promised without it")
        return self.at_most

    def uniform(self) -> Number | None:
        return self.at_most

    def least(self) -> Number | None:
        return self.at_least if self.at_most is None else self.at_most

    def bounds(self) -> tuple[Number | None, Number | None]:
        return self.at_least, self.at_most

    def unpublished(self) -> str | None:
        if self.at_most is not None:
            return None
        return "no number published" + (
            "" if self.at_least is None else f", only that {self.parameter} is at least {self.at_least.plain()}"
        )

    def __str__(self) -> str:
        if self.at_least is not None and self.at_most is not None:
            return f"{self.parameter} from {self.at_least.plain()} to {self.at_most.plain()}"
        if self.at_most is not None:
            return f"{self.parameter} at most {self.at_most.plain()}"
        known = "no number published" if self.at_least is None else f"at least {self.at_least.plain()}, and no more is published"
        return f"{self.parameter}: {known}"


# --- universes of which some datasets are known ----------------------------------------------------


MOST_LISTED = 2_000
"""The universes of a larger space are not listed for a budget that reads all their datasets."""


class _DatasetsRead(BaseException):
    """A budget reads the datasets of a universe; no `except Exception` of the budget may hide it."""


class _LabelOnly(Universe):
    """A universe of which the label is known alone."""

    def __init__(self, label: Hashable) -> None:
        super().__init__(label=label, datasets=(), is_whole=False)

    def __getattribute__(self, name: str) -> Any:
        if name == "datasets":
            raise _DatasetsRead
        return super().__getattribute__(name)


def amount_in(budget: Budget, universe: Universe, multiverse: Multiverse, space: DatasetSpace) -> Number:
    """The budget of a universe of which some datasets are known, or all of them.

    The number for some datasets need not be that of the universe: the largest stratum of the swapping theorem may be in another
    dataset.

    Raises:
        BudgetNotKnownError: when the budget reads all datasets of a universe, and these are too many to list.
    """
    if universe.is_whole:
        return budget.at(universe, space)
    try:
        return budget.at(_LabelOnly(universe.label), space)
    except _DatasetsRead:
        if budget.is_same_in_parts(multiverse, space):
            return budget.at(universe, space)
    whole = _listed(multiverse, space).get(universe.label)
    if whole is None:
        rule = "depends on all datasets of a universe, and the space has too many to list"
        raise BudgetNotKnownError(f"budget {budget.name}", rule, "use a smaller space, or invariants that fix the budget")
    return budget.at(whole, space)


def _universe_sizes(multiverse: Multiverse, space: DatasetSpace) -> Mapping[Hashable, int]:
    """The labels of all universes, with numbers of datasets; empty where they are not known without a list of a large space."""
    if is_a(multiverse, Trivial):
        return {"X": listing_size(space) or MOST_LISTED}
    if is_a(multiverse, ExplicitUniverses):  # one may be empty
        return {label: len(datasets) for label, datasets in multiverse.universes_by_label}
    return {label: len(universe) for label, universe in _listed(multiverse, space).items()}


@memoize(maxsize=16)
def _listed(multiverse: Multiverse, space: DatasetSpace) -> dict[Hashable, Universe]:
    size = listing_size(space)
    if size is None or size > MOST_LISTED:
        return {}
    # by the labels, which decide: a class may list its universes in a way of its own
    return {universe.label: universe for universe in Multiverse.universes(multiverse, space)}


def stands_for(budget: Budget, value: int | Number) -> UniformBudget:
    """The budget with a number in place of the one that was not published."""
    return UniformBudget(parameter=budget.parameter, value=number(value))


def settled(budget: Budget) -> Budget:
    """The budget as the one number that it may at most be, where only that is published; else as it is."""
    most = (budget.bounds() or (None, None))[1]
    return budget if most is None else stands_for(budget, most)
