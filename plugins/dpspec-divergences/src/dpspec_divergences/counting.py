"""Input divergences that count records of one unit, and neighbour relations: which pairs are one step apart (Bailie, Gong and
Meng 2023; Lecture notes 2025).

With (-) the multiset difference of the records of a unit u and |.| the number of records:

    hamming^u(x, x')              = 1/2 |x (-) x'| when |x| = |x'|, else infinity       (Bailie, Gong and Meng 2023)
    symmetric-difference^u(x, x') = |x (-) x'|, without a half                           (Bailie, Gong and Meng 2023)
    hamming-ordered^u(x, x')      = number of positions that differ, infinity for unequal lengths   (Bailie, Gong, Meng and
    Drechsler 2024)
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Annotated, Any, ClassVar

import attrs

from dpspec.plugin import (
    Bound,
    Dataset,
    DatasetSpace,
    IncompatibleBlocksError,
    InputDivergence,
    Number,
    ParameterError,
    Relation,
    Text,
    blocks,
    define,
    exact,
    is_a,
    number,
    spend,
)


def exchange(left: Dataset, right: Dataset, space: DatasetSpace, unit: str) -> tuple[int, int]:
    """How many records (with multiplicity) only the left, and only the right dataset has."""
    ours, theirs = space.records(left, unit), space.records(right, unit)
    spend(min(len(ours) + len(theirs), _FEW) + (len(ours) + len(theirs)) // _COUNTED_PER_UNIT)
    if len(ours) + len(theirs) > _FEW:
        counted, others = Counter(ours), Counter(theirs)
        return (counted - others).total(), (others - counted).total()
    surplus: dict[Hashable, int] = {}
    for record in ours:
        surplus[record] = surplus.get(record, 0) + 1
    for record in theirs:
        surplus[record] = surplus.get(record, 0) - 1
    gone = sum([count for count in surplus.values() if count > 0])
    return gone, gone - sum(surplus.values())


_FEW = 64
"""Up to so many records a plain dictionary is quicker than two counters; most pairs have less than ten."""


_COUNTED_PER_UNIT = 16
"""So many records that a counter counts take a unit of work."""


class Minorised(InputDivergence, ABC):
    """An input divergence made from a relation, with a counting divergence that is nowhere larger."""

    @abstractmethod
    def minorant(self) -> InputDivergence | None:
        """The largest known counting divergence that is nowhere above this one on any space."""


class Counting(InputDivergence, ABC):
    """Shared by the divergences that count records of one unit."""

    unit: str

    def check(self, space: DatasetSpace) -> None:
        space.check_unit(self.unit)

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if self == other:
            return number(1), "the same input divergence"
        if not is_a(other, Minorised):
            return self._bounded(other, space)
        minorant = other.minorant()
        bound = None if minorant is None else self.bounded_by(minorant, space)
        return None if bound is None else (bound[0], f"{bound[1]}; {minorant} is nowhere above {other}")

    def _bounded(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        """The constant against another counting divergence."""
        return None

    def unit_price(self, space: DatasetSpace) -> Number:
        return number(1)

    def __str__(self) -> str:
        return f"{self.name} ({self.unit})"


@define
class Hamming(Counting):
    """Unordered Hamming distance: half the multiset difference, between datasets of equal size only (Bailie, Gong and Meng 2023).

    d(x, x') = 1/2 |x (-) x'| if |x| = |x'|, else infinity: the least number of records to replace.
    It is a metric on the multisets of records of the unit; datasets that differ only in what these records do not
    show (their order, or vacant households when the unit is a person) are at distance 0.

    Args:
        unit: what one record is, such as person or household.

    >>> from dpspec.plugin import Attribute
    >>> from dpspec.plugin import UnorderedRecords
    >>> space = UnorderedRecords(attributes=(Attribute(name="sex", categories=("f", "m")),))
    >>> two, three = space.dataset([["f"], ["f"]]), space.dataset([["f"], ["m"], ["m"]])
    >>> str(Hamming().distance(two, space.dataset([["m"], ["m"]]), space)), str(Hamming().distance(two, three, space))
    ('2', 'inf')
    """

    name: ClassVar[str] = "hamming"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True
    is_integral: ClassVar[bool] = True
    grows_on_subspaces: ClassVar[bool] = True

    unit: Annotated[str, Text()] = "person"

    def counted_unit(self) -> str:
        return self.unit

    def least_distance(self, space: DatasetSpace) -> Number | None:
        return number(1) if space.is_told_by(self.unit) and not space.is_ordered else None

    def apart_inside(self, multiverse: blocks.Multiverse, space: DatasetSpace) -> int:
        """2 where the invariants fix the table of each attribute: a single record that is replaced changes one of them."""
        return 2 if blocks.fixes_each_attribute(multiverse, space, self.unit) else 1

    def record_steps(self, space: DatasetSpace) -> blocks.RecordSteps:
        return blocks.RecordSteps(unit=self.unit, replaced=1)

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        gone, come = exchange(left, right, space, self.unit)
        return number(gone) if gone == come else exact.INFINITY

    def _bounded(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if other == HammingOrdered(unit=self.unit):
            return number(1), "positions that agree cancel in the multiset difference"
        if other == SymmetricDifference(unit=self.unit) and space.fixes_size(self.unit):
            return number(Fraction(1, 2)), f"every dataset has equally many {self.unit} records, so it is half of it"
        return self._bounded_per(other, space)

    def _bounded_per(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        """The constant against a count of another unit: half the multiset difference, where its two halves are equal."""
        if not is_a(other, Hamming, HammingOrdered, SymmetricDifference) or not space.fixes_size(self.unit):
            return None
        most = blocks.nesting_of(space).most_changed(self.unit, other.unit)
        if most is None:
            return None
        factor = Fraction(most, 2) if is_a(other, SymmetricDifference) else Fraction(most)
        return number(factor), f"{most} {self.unit} records go or come for each {other.unit} that does, and as many go as come"

    def in_words(self) -> str:
        return f"one {self.unit} replaced by another"


@define
class SymmetricDifference(Counting):
    """Symmetric difference of multisets, *not* halved (Bailie, Gong and Meng 2023).

    d(x, x') = |x (-) x'|: the least number of records to add or remove. A metric on the multisets of records of
    the unit (see `Hamming` for datasets at distance 0).

    Args:
        unit: what one record is.

    >>> from dpspec.plugin import BitVectors
    >>> str(SymmetricDifference().distance((0, 0, 1), (1, 1, 0), BitVectors(length=3)))
    '2'
    """

    name: ClassVar[str] = "symmetric-difference"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True
    is_integral: ClassVar[bool] = True
    grows_on_subspaces: ClassVar[bool] = True

    unit: Annotated[str, Text()] = "person"

    def counted_unit(self) -> str:
        return self.unit

    def least_distance(self, space: DatasetSpace) -> Number | None:
        return number(1) if space.is_told_by(self.unit) and not space.is_ordered else None

    def apart_inside(self, multiverse: blocks.Multiverse, space: DatasetSpace) -> int:
        """4 where the invariants fix the table of each attribute: two records go and two come."""
        return 4 if blocks.fixes_each_attribute(multiverse, space, self.unit) else 1

    def record_steps(self, space: DatasetSpace) -> blocks.RecordSteps:
        return blocks.RecordSteps(unit=self.unit, replaced=2, added=1)

    def unit_price(self, space: DatasetSpace) -> Number:
        """Where no record is added or removed alone, a change is a record replaced."""
        return number(2 if space.fixes_size(self.unit) else 1)

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        return number(sum(exchange(left, right, space, self.unit)))

    def _bounded(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if not is_a(other, Hamming, HammingOrdered, SymmetricDifference):
            return None
        if other.unit == self.unit:
            return number(2), "a replaced record is one removed and one added"
        most = blocks.nesting_of(space).most_changed(self.unit, other.unit)
        if most is None:
            return None
        members = max(most, 1)
        per_household = f"a {other.unit} changes at most {most} {self.unit} records"
        if is_a(other, SymmetricDifference):
            return number(members), per_household
        return number(2 * members), f"{per_household}; a replaced {other.unit} is one removed and one added"

    def in_words(self) -> str:
        return f"one {self.unit} added or removed"


@define
class HammingOrdered(Counting):
    """Ordered Hamming distance: the number of positions that differ.

    d(x, x') = #{i : x_i != x'_i}; infinity for sequences of unequal length.

    Args:
        unit: what one position is.

    >>> from dpspec.plugin import BitVectors
    >>> str(HammingOrdered().distance((0, 0, 1), (1, 1, 0), BitVectors(length=3)))
    '3'
    """

    name: ClassVar[str] = "hamming-ordered"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True
    is_integral: ClassVar[bool] = True
    grows_on_subspaces: ClassVar[bool] = True

    unit: Annotated[str, Text()] = "person"

    def check(self, space: DatasetSpace) -> None:
        check_ordered(self.name, space, self.unit, "hamming")

    def counted_unit(self) -> str:
        return self.unit

    def least_distance(self, space: DatasetSpace) -> Number | None:
        return number(1) if space.is_told_by(self.unit) and space.is_ordered else None

    def record_steps(self, space: DatasetSpace) -> blocks.RecordSteps:
        return blocks.RecordSteps(unit=self.unit, replaced=1, in_place=True)

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        ours, theirs = space.records(left, self.unit), space.records(right, self.unit)
        if len(ours) != len(theirs):
            return exact.INFINITY
        return number(sum(map(operator.ne, ours, theirs)))

    def in_words(self) -> str:
        return f"the data of one {self.unit} changed"


def check_ordered(subject: str, space: DatasetSpace, unit: str, instead: str) -> None:
    """Refuse a space whose datasets have no positions."""
    if not space.is_ordered:
        raise IncompatibleBlocksError(
            subject, f"needs datasets with positions, and those of {space.name} have none", f"use {instead}", value=unit
        )
    space.check_unit(unit)


# --- neighbour relations --------------------------------------------------------------------------


class CountedRelation(Relation, ABC):
    """A relation that holds exactly where a counting divergence is 1."""

    unit: str

    @abstractmethod
    def measure(self) -> InputDivergence:
        """The divergence that is 1 on related datasets and on no others."""

    def check(self, space: DatasetSpace) -> None:
        self.measure().check(space)

    def in_words(self) -> str:
        return self.measure().in_words()

    def __str__(self) -> str:
        return f"{self.name} ({self.unit})"


@define
class ReplaceOne(CountedRelation):
    """Bounded neighbours: equally many records, one of them replaced (Bailie, Gong and Meng 2023).

    x ~ x' when |x| = |x'| and the multisets of records differ by one removed and one added.

    Args:
        unit: what one record is.

    >>> from dpspec.plugin import BitVectors
    >>> ReplaceOne().related((0, 0, 1), (0, 1, 1), BitVectors(length=3))
    True
    """

    name: ClassVar[str] = "replace-one"
    is_symmetric: ClassVar[bool] = True

    unit: Annotated[str, Text()] = "person"

    def related(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        return exchange(left, right, space, self.unit) == (1, 1)

    def measure(self) -> InputDivergence:
        return Hamming(unit=self.unit)


@define
class AddRemove(CountedRelation):
    """Unbounded neighbours: one record is added or removed (Bailie, Gong and Meng 2023; Lecture notes 2025).

    Args:
        unit: what one record is.

    >>> from dpspec.plugin import BitVectors
    >>> AddRemove().related((0, 0, 1), (0, 1, 1), BitVectors(length=3))
    False
    """

    name: ClassVar[str] = "add-remove"
    is_symmetric: ClassVar[bool] = True

    unit: Annotated[str, Text()] = "person"

    def related(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        return sum(exchange(left, right, space, self.unit)) == 1

    def measure(self) -> InputDivergence:
        return SymmetricDifference(unit=self.unit)


@define
class DifferInOnePosition(CountedRelation):
    """Neighbours among sequences: equal lengths, and one position differs (Dwork, McSherry, Nissim and Smith 2006, Definition 1).

    Args:
        unit: what one position is.

    >>> from dpspec.plugin import BitVectors
    >>> DifferInOnePosition().related((0, 1), (1, 0), BitVectors(length=2))
    False
    """

    name: ClassVar[str] = "differ-in-one-position"
    is_symmetric: ClassVar[bool] = True

    unit: Annotated[str, Text()] = "person"

    def check(self, space: DatasetSpace) -> None:
        check_ordered(self.name, space, self.unit, "replace-one")

    def related(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        ours, theirs = space.records(left, self.unit), space.records(right, self.unit)
        return len(ours) == len(theirs) and sum(a != b for a, b in zip(ours, theirs, strict=True)) == 1

    def measure(self) -> InputDivergence:
        return HammingOrdered(unit=self.unit)

    def within(self, other: Relation) -> str | None:
        if other == ReplaceOne(unit=self.unit):
            return "one changed position replaces one record"
        return "the same relation" if self == other else None


@attrs.frozen(kw_only=True)
class UserRelation(Relation):
    """Any neighbour relation, given in Python; equal only to one with the same function and label.

    It may be one-sided: two datasets are neighbours when the function holds for them in one order or the other.

    Args:
        function: says of two different datasets whether they are neighbours.
        label: what it is, for people.

    >>> close = UserRelation(function=lambda x, y: abs(sum(x) - sum(y)) <= 1, label="totals within 1")
    >>> from dpspec.plugin import BitVectors
    >>> close.related((0, 0), (1, 1), BitVectors(length=2)), str(close)
    (False, 'totals within 1')
    """

    name: ClassVar[str] = "function"
    is_symmetric: ClassVar[bool] = True

    function: Callable[[Any, Any], bool]
    label: str

    def __attrs_post_init__(self) -> None:
        if not callable(self.function):
            raise ParameterError(f"relation {self.label}", "must be a function of two datasets", value=self.function)

    def related(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        return bool(self.function(left, right) or self.function(right, left))

    def __str__(self) -> str:
        return self.label
