"""Top- and bottom-coding: recodings that put one end of the order of the categories together (Hundepool and others 2012)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar

from dpspec.blocks.space import DatasetSpace
from dpspec.params import Text, define, did_you_mean
from dpspec_census.disclosure.errors import UnknownCategoryError
from dpspec_census.disclosure.outputs import small_space
from dpspec_census.disclosure.recoding import Coarse, Recoded


class _EndCoding(Recoded):
    """Shared by top- and bottom-coding: one end of the order of the categories becomes one category."""

    column: str

    @abstractmethod
    def groups(self, known: tuple[str, ...]) -> Mapping[str, str]:
        """The new category of each old one."""

    def coarse(self, space: DatasetSpace) -> Mapping[str, Coarse]:
        old = self.attribute(self.column, space)
        return {self.column: Coarse.of(old, self.groups(tuple(old.values())))}

    def _place(self, category: str, known: tuple[str, ...]) -> int:
        if category not in known:
            rule = f"is no category of {self.column}"
            raise UnknownCategoryError(f"mechanism {self.name}", rule, did_you_mean(category, known), value=category)
        return known.index(category)


@define
class TopCoding(_EndCoding):
    """All categories of an attribute from one on become one: "90 or more".

    Args:
        column: the attribute; its categories stand in their order.
        top: the first category that is put together with all after it.
        unit: the unit that one record is.

    >>> TopCoding(column="age", top="young").coarse(small_space())["age"].attribute.categories
    ('old', 'young or more')
    """

    name: ClassVar[str] = "top-coding"

    column: Annotated[str, Text()]
    top: Annotated[str, Text()]

    def groups(self, known: tuple[str, ...]) -> Mapping[str, str]:
        first = self._place(self.top, known)
        return {category: category if place < first else f"{self.top} or more" for place, category in enumerate(known)}

    @classmethod
    def examples(cls) -> Iterable[tuple[TopCoding, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(column="age", top="old"), small_space(most=2)


@define
class BottomCoding(_EndCoding):
    """All categories of an attribute up to one become one: "20 or less".

    Args:
        column: the attribute; its categories stand in their order.
        bottom: the last category that is put together with all before it.
        unit: the unit that one record is.

    >>> BottomCoding(column="age", bottom="young").coarse(small_space())["age"].attribute.categories
    ('young or less',)
    """

    name: ClassVar[str] = "bottom-coding"

    column: Annotated[str, Text()]
    bottom: Annotated[str, Text()]

    def groups(self, known: tuple[str, ...]) -> Mapping[str, str]:
        last = self._place(self.bottom, known)
        return {category: category if place > last else f"{self.bottom} or less" for place, category in enumerate(known)}

    @classmethod
    def examples(cls) -> Iterable[tuple[BottomCoding, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(column="age", bottom="young"), small_space(most=2)
