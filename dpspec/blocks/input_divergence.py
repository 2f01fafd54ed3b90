"""Block 3: the input divergence d_X on X, which says who or what the unit of protection is (Bailie et al. 2024).

It is a distance of datasets, often counted in steps of a neighbour `Relation`. `WithinDistance` makes neighbours of a largest
distance: what a standard that knows neighbours only can promise about a metric (Bailie, Gong and Meng 2023).
"""

from __future__ import annotations

import itertools
import operator
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import attrs

from dpspec.base.exact import INFINITY, ZERO, Number, number
from dpspec.base.params import Integer, Registered, define
from dpspec.base.promises import Promising, is_a
from dpspec.blocks.multiverse import Multiverse
from dpspec.blocks.space import Dataset, DatasetSpace


class Relation(Promising, ABC):
    """A relation on X: which datasets are neighbours."""

    name: ClassVar[str]

    is_symmetric: ClassVar[bool] = False
    """Whether x related to x' always means x' related to x. Unless a class declares it, both orders are evaluated."""

    @abstractmethod
    def related(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        """Whether the two (different) datasets are neighbours."""

    def check(self, space: DatasetSpace) -> None:
        """Raise IncompatibleBlocksError when the relation is not defined on the space."""
        return

    def in_words(self) -> str:
        """The neighbour relation as an event, such as "one person added or removed"."""
        return str(self) if type(self).__str__ is not object.__str__ else self.name

    def within(self, other: Relation) -> str | None:
        """A reason why every pair of this relation is one of the other, on every space; None when none is known."""
        return "the same relation" if self == other else None

    _promised: ClassVar[Mapping[str, Any]] = {
        "is_symmetric": False, "in_words": in_words, "within": within, "__str__": object.__str__,
    }  # fmt: skip


MOST_VECTORS = 4_000
"""Differences of neighbours are listed up to this many."""
MOST_SUMS = 4_000_000
"""... and made of steps by at most so many sums."""


@attrs.frozen(kw_only=True)
class RecordSteps:
    """A divergence as a price of changing records of one unit, one by one.

    For all x, x' at finite distance d: a part of the records of x, as a multiset, is replaced by other records, one for one, some
    are removed or some added, and x' is what comes out; *whichever* record that comes is paired with whichever goes, the prices
    add up to at most d (to at most `within`, where d is 1 for neighbours). A record that goes and one that comes may also be
    taken as removed and added, where records are added at all; `replaced` is then twice `added`.

    Args:
        unit: whose records.
        replaced: the price of a record replaced by another.
        added: the price of a record added or removed; None where datasets of different sizes are never compared.
        within: for a neighbour form, the largest price of all changes between neighbours; None for a distance that is the price.
        in_place: whether a record that replaces another takes its position, and all others keep theirs.
    """

    unit: str
    replaced: int
    added: int | None = None
    within: int | None = None
    in_place: bool = False

    def price(self, gone: int, come: int) -> int | None:
        """The price of so many records that go and come, replaced as far as they can be; None where that is never compared.

        >>> steps = RecordSteps(unit="person", replaced=2, added=1)
        >>> steps.price(1, 3), RecordSteps(unit="person", replaced=1).price(0, 1)
        (4, None)
        """
        if gone != come and self.added is None:
            return None
        return min(gone, come) * self.replaced + abs(gone - come) * (self.added or 0)


class InputDivergence(Promising, ABC):
    """d_X: a distance on the whole space X, never recomputed inside a universe.

    A subclass is made with `dpspec.define`, registers under its `name`, and declares its unit as a field
    when it counts units.
    """

    name: ClassVar[str]

    is_symmetric: ClassVar[bool] = False
    """Whether d(x, x') = d(x', x) for all datasets. Unless a class declares it, both orders are evaluated."""
    is_metric: ClassVar[bool] = False
    """Whether the triangle inequality holds. Unless a class declares it, no bound is extended along a path."""
    is_neighbour_form: ClassVar[bool] = False
    """Whether it is 0 for equal datasets only, and 1 or infinity for all others: who is a neighbour, and nothing else
    (Bailie, Gong and Meng 2023)."""
    is_integral: ClassVar[bool] = False
    """Whether every finite distance is a whole number, so that what changes by d is counted in steps of 1."""
    grows_on_subspaces: ClassVar[bool] = False
    """Whether d(x, x') on a part of the space is at least that on the whole, as when it looks at the two datasets only."""

    @abstractmethod
    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        """d_X(x, x'), exact; infinity for datasets that are never compared."""

    def check(self, space: DatasetSpace) -> None:
        """Raise IncompatibleBlocksError when the divergence is not defined on the space."""
        return

    def in_words(self) -> str:
        """The meaning of distance 1, as an event such as "one person added or removed"; by default its own text or name.

        Everything that people read takes these words; the registered name is for files.
        """
        return str(self) if type(self).__str__ is not object.__str__ else self.name

    def least_distance(self, space: DatasetSpace) -> Number | None:
        """A positive m with d(x, x') >= m for all different x, x' of the space; None when none is known."""
        return None

    def apart_inside(self, multiverse: Multiverse, space: DatasetSpace) -> int:
        """A whole number m with d(x, x') >= m wherever x and x' share a universe and d(x, x') > 0; 1 where none larger is known.

        Defined for divergences whose finite distances are whole numbers, so that 1 is always valid.
        """
        return 1

    def counted_unit(self) -> str | None:
        """A unit u such that |q(x) - q(x')| <= d(x, x') for every count q of the records of u with some property."""
        return None

    def record_steps(self, space: DatasetSpace) -> RecordSteps | None:
        """The divergence as a price of changing records one by one; None when it is none, or that is not known."""
        return None

    def unit_price(self, space: DatasetSpace) -> Number | None:
        """A number c with d(x, x') <= c k where k records of one unit were changed one by one, each as `in_words` says.

        Of a neighbour form, the steps of a path of neighbours are counted. None when nothing bounds them, or that is not known.
        `counted_unit` bounds d from below, and this from above: where one change can count more than 1, the two differ.
        """
        return None

    def number_steps(self, places: int) -> tuple[tuple[int, ...], ...] | None:
        """Vectors of whole numbers of which at most d(x, x') add up to x' - x, for all lists x, x' of so many whole numbers at
        finite distance; those that run against them among them. None when there are none, or too many."""
        return None

    def numbers_within(self, places: int, most: int) -> tuple[tuple[int, ...], ...] | None:
        """Vectors of whole numbers, x' - x among them for all lists x, x' of so many whole numbers with 0 < d(x, x') <= most, and
        with each vector its opposite. None when that is not known, or they are more than `MOST_VECTORS`.

        Without a word of its own, the sums of at most `most` of the `number_steps`.
        """
        steps = self.number_steps(places)
        if steps is None or most == 1:
            return steps
        found, last = dict.fromkeys(steps), list(steps)
        for _ in range(most - 1):
            if len(found) * len(steps) > MOST_SUMS:
                return None
            fresh: dict[tuple[int, ...], None] = {}
            for one, step in itertools.product(last, steps):
                vector = tuple(map(operator.add, one, step))
                if vector not in found and any(vector):
                    fresh[vector] = None
                    if len(found) + len(fresh) > MOST_VECTORS:  # known long before all sums are made
                        return None
            last = list(fresh)
            found.update(fresh)
        return tuple(found)

    def path_form(self) -> InputDivergence | None:
        """For a neighbour form: the length of a shortest path of neighbours (Bailie, Gong and Meng 2023); None when it has no
        name."""
        return None

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> tuple[Number, str] | None:
        """A constant c with d(x, x') <= c other(x, x') for all x, x' of the space, and the reason; None when unknown.

        The smaller c, the better; c = 1 for equal divergences. A mechanism that is eps-Lipschitz for this
        divergence is (c eps)-Lipschitz for the other.
        """
        return (number(1), "the same input divergence") if self == other else None

    def bounds(self, other: InputDivergence, space: DatasetSpace) -> tuple[Number, str] | None:
        """A constant c with other(x, x') <= c d(x, x') for all x, x' of the space, and the reason; None when unknown.

        The counterpart of `other.bounded_by(self)`, for a new divergence that the existing class of `other` cannot know.
        """
        return None

    _promised: ClassVar[Mapping[str, Any]] = {
        **dict.fromkeys(("is_symmetric", "is_metric", "is_neighbour_form", "is_integral", "grows_on_subspaces"), False),
        "in_words": in_words,
        "least_distance": least_distance,
        "apart_inside": apart_inside,
        "counted_unit": counted_unit,
        "record_steps": record_steps,
        "unit_price": unit_price,
        "number_steps": number_steps,
        "numbers_within": numbers_within,
        "path_form": path_form,
        "bounded_by": bounded_by,
        "bounds": bounds,
        "__str__": object.__str__,
    }


# --- within a distance ----------------------------------------------------------------------------


Bound = tuple[Number, str]
"""A constant by which one distance is bounded by another, and the reason in words."""


@define
class WithinDistance(InputDivergence):
    """0 for equal datasets, 1 for different ones with d(x, x') <= most, infinity for all others.

    Inside the universes of many invariants no two datasets differ in one record alone: two households that exchange their places
    are at distance 2, and neighbours at distance 1 would promise nothing there. No metric.

    Args:
        of: the divergence d that is cut off.
        most: the largest distance that is compared, in units of d.

    >>> from dpspec.blocks.vectors import BitVectors
    >>> from dpspec.extension import installed
    >>> hamming = installed().registry.get("input_divergences", "hamming-ordered")
    >>> d = WithinDistance(of=hamming(), most=2)
    >>> [str(d.distance((0, 0, 0), other, BitVectors(length=3))) for other in ((0, 0, 0), (0, 1, 1), (1, 1, 1))]
    ['0', '1', 'inf']
    """

    name: ClassVar[str] = "within-distance"
    is_metric: ClassVar[bool] = False
    is_neighbour_form: ClassVar[bool] = True
    is_integral: ClassVar[bool] = True

    of: Annotated[InputDivergence, Registered("input_divergences")]
    most: Annotated[int, Integer(1)]

    @property
    def is_symmetric(self) -> bool:  # type: ignore[override]  # of this class it depends on the divergence
        return self.of.is_symmetric

    @property
    def grows_on_subspaces(self) -> bool:  # type: ignore[override]  # of this class it depends on the divergence
        return self.of.grows_on_subspaces

    def check(self, space: DatasetSpace) -> None:
        self.of.check(space)

    def record_steps(self, space: DatasetSpace) -> RecordSteps | None:
        steps = self.of.record_steps(space)
        return None if steps is None or steps.within is not None else attrs.evolve(steps, within=self.most)

    def unit_price(self, space: DatasetSpace) -> Number | None:
        """One step, where one change of a record is within the distance."""
        price = self.of.unit_price(space)
        return None if price is None or price > self.most else number(1)

    def number_steps(self, places: int) -> tuple[tuple[int, ...], ...] | None:
        """One step from each neighbour to the other."""
        return self.of.numbers_within(places, self.most)

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        if left == right:
            return ZERO
        return number(1) if self.of.distance(left, right, space) <= self.most else INFINITY

    def least_distance(self, space: DatasetSpace) -> Number:
        return number(1)

    def bounds(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        known = other.bounded_by(self.of, space) or self.of.bounds(other, space)
        return None if known is None else (known[0] * self.most, f"{known[1]}; neighbours are at most {self.most} apart")

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if self == other:
            return number(1), "the same input divergence"
        if is_a(other, WithinDistance):
            known = self.of.bounded_by(other.of, space) or other.of.bounds(self.of, space)
            if known is not None and known[0] * other.most <= self.most:
                return number(1), f"{known[1]}; what is within {other.most} of the one is within {self.most} of the other"
        elif other.is_neighbour_form:  # 1 or infinity for different datasets, as this one is
            known = self.of.bounded_by(other, space) or other.bounds(self.of, space)
            if known is not None and known[0] <= self.most:
                return number(1), f"{known[1]}; neighbours of the other are within {self.most}"
        return None

    def in_words(self) -> str:
        return f"neighbours only: {'' if self.most == 1 else f'up to {self.most} changes, each '}{self.of.in_words()}"

    def __str__(self) -> str:
        return f"within {self.most} of {self.of}"
