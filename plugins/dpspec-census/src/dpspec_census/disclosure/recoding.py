"""Recoding: attributes of a file of microdata in coarser categories, or left out.

    T(x) = the multiset of r(v) over the records v of x,  r(v) = (r_1(v_1), r_2(v_2), ...)

with r_a constant on each group of categories (Hundepool and others, Statistical Disclosure Control, 2012).

Top- and bottom-coding are recodings that put one end of the order of the categories together (Hundepool and others 2012).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

import attrs

from dpspec.plugin import (
    Attribute,
    Dataset,
    DatasetSpace,
    IncompatibleBlocksError,
    Items,
    Nested,
    Text,
    blocks,
    define,
    grammar,
    params,
)  # fmt: skip
from dpspec_census.disclosure.tables import (
    Deterministic,
    RecodingGapError,
    RecodingOverlapError,
    UnknownCategoryError,
    small_space,
)
from dpspec_census.stratum import unordered

if TYPE_CHECKING:
    from dpspec.plugin import Randomness, Table


@attrs.frozen
class Coarse:
    """An attribute in coarser categories.

    Args:
        attribute: the new attribute, under the old name.
        places: for each old category, by its place, the place of the new one.
    """

    attribute: Attribute
    places: tuple[int, ...]

    @classmethod
    def of(cls, old: Attribute, group_of: Mapping[str, str]) -> Coarse:
        """By a table from old to new category; a new one has the position of the first of its old ones."""
        new = tuple(dict.fromkeys(group_of[category] for category in old.values()))
        places = tuple(new.index(group_of[category]) for category in old.values())
        return cls(Attribute(name=old.name, categories=new), places)


class Recoded(Deterministic):
    """Shared by the recodings: the file of the same records in fewer categories."""

    @abstractmethod
    def coarse(self, space: DatasetSpace) -> Mapping[str, Coarse]:
        """The attributes that are recoded."""

    @abstractmethod
    def recoded(self) -> tuple[str, ...]:
        """The names of these."""

    def left_out(self) -> tuple[str, ...]:
        """The attributes that are not published."""
        return ()

    def check(self, space: DatasetSpace) -> None:
        space.check_unit(self.unit)
        if space.is_ordered:
            rule = "has ordered records; a recoded file is a multiset"
            raise IncompatibleBlocksError(f"space {space.name}", rule, "use the space records or contingency-tables")
        self.coarse(space)
        if not {a.name for a in self.attributes(space)} - {self.attribute(name, space).name for name in self.left_out()}:
            raise IncompatibleBlocksError(f"mechanism {self.name}", "leaves out every attribute", "keep at least one")

    def output(self, dataset: Dataset, space: DatasetSpace) -> Hashable:
        """The recoded records, sorted."""
        coarse, dropped = self.coarse(space), self.left_out()
        columns = [(place, a, coarse.get(a.name)) for place, a in enumerate(self.attributes(space)) if a.name not in dropped]
        records = space.records(dataset, self.unit)
        return tuple(sorted(tuple(_category(v[place], a, rule) for place, a, rule in columns) for v in records))

    def keeps(self, columns: tuple[str, ...]) -> tuple[grammar.Kept, ...]:
        """The columns that are neither recoded nor left out."""
        changed = {*self.recoded(), *self.left_out()}
        return (grammar.Kept(attributes=tuple(name for name in columns if name not in changed)),)

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """The recoded records, sorted as in the law: without the order of the table, and without the members of a record."""
        import numpy as np

        from dpspec.plugin import Table

        self.check(space)
        coarse, table = self.coarse(space), self.rows_of(table, space)
        kept = [a for a in table.attributes if a.name not in self.left_out()]
        codes = {a.name: table.codes[a.name] for a in kept}
        codes |= {name: np.asarray(rule.places)[codes[name]] for name, rule in coarse.items()}
        # A category may no longer lie within one of the coarser attribute, so nesting is not stated of the new columns.
        attributes = tuple(
            coarse[a.name].attribute if a.name in coarse else params.evolve(a, within=None, parents=()) for a in kept
        )
        return unordered(Table(attributes=attributes, codes=codes), source)


def _category(old: Hashable, attribute: Attribute, rule: Coarse | None) -> str:
    return str(old) if rule is None else rule.attribute.categories[rule.places[attribute.index(old)]]


@define
class Recoding:
    """The groups of the categories of one attribute.

    Args:
        attribute: the attribute.
        groups: a table from each new category to the old ones in it; every old category in exactly one group.
    """

    attribute: Annotated[str, Text()]
    groups: Annotated[tuple[tuple[str, tuple[str, ...]], ...], params.Pairs(Items(Text(), least=1))]

    def __attrs_post_init__(self) -> None:
        listed = [category for _, group in self.groups for category in group]
        twice = [category for category in listed if listed.count(category) > 1]
        if twice:
            raise RecodingOverlapError(
                f"recoding of {self.attribute}", "names a category twice", "once is enough", value=twice[0]
            )

    def coarse(self, attribute: Attribute) -> Coarse:
        """The attribute in the new categories.

        Raises:
            UnknownCategoryError: a group names a category that the attribute does not have.
            RecodingGapError: a category is in no group.
        """
        group_of = {category: new for new, group in self.groups for category in group}
        known, subject = tuple(attribute.values()), f"recoding of {self.attribute}"
        for category in group_of:
            if category not in known:
                raise UnknownCategoryError(subject, "names no category", params.did_you_mean(category, known), value=category)
        missing = [category for category in known if category not in group_of]
        if missing:
            raise RecodingGapError(subject, "leaves a category out", "put it into a group", value=missing[0])
        return Coarse.of(attribute, group_of)


@define
class Coarsening(Recoded):
    """A file whose attributes are recoded into coarser categories, or left out.

    Args:
        recodings: the attributes that are recoded, each with its groups.
        dropped: the attributes that are left out: the coarsest recoding, into one category.
        unit: the unit that one record is.

    >>> mechanism = Coarsening(recodings=[{"attribute": "age", "groups": {"any": ["young", "old"]}}])
    >>> mechanism.law((("north", "old"), ("south", "young")), small_space())
    FiniteLaw({(('north', 'any'), ('south', 'any')): 1})
    """

    name: ClassVar[str] = "coarsening"

    recodings: Annotated[tuple[Recoding, ...], Items(Nested(Recoding))] = ()
    dropped: Annotated[tuple[str, ...], Items(Text())] = ()

    def coarse(self, space: DatasetSpace) -> Mapping[str, Coarse]:
        return {rule.attribute: rule.coarse(self.attribute(rule.attribute, space)) for rule in self.recodings}

    def recoded(self) -> tuple[str, ...]:
        return tuple(rule.attribute for rule in self.recodings)

    def left_out(self) -> tuple[str, ...]:
        return self.dropped

    def check(self, space: DatasetSpace) -> None:
        super().check(space)
        named = [*(rule.attribute for rule in self.recodings), *self.dropped]
        if len(set(named)) < len(named):
            raise IncompatibleBlocksError(f"mechanism {self.name}", "names an attribute twice", value=named)

    @classmethod
    def examples(cls) -> Iterable[tuple[Coarsening, DatasetSpace]]:
        """What the conformance kit checks it with."""
        ages = Recoding(attribute="age", groups=(("any", ("young", "old")),))
        yield cls(recodings=(ages,)), small_space(most=2)
        yield cls(dropped=("region",)), small_space(most=2)
        region, age = small_space().attributes
        homes = blocks.Households(household=(region,), person=(age,), most=1, members=2)
        yield cls(recodings=(Recoding(attribute="region", groups=(("any", ("north", "south")),)),), unit="household"), homes


# --- top- and bottom-coding -----------------------------------------------------------------------


class _EndCoding(Recoded):
    """Shared by top- and bottom-coding: one end of the order of the categories becomes one category."""

    column: str

    @abstractmethod
    def groups(self, known: tuple[str, ...]) -> Mapping[str, str]:
        """The new category of each old one."""

    def coarse(self, space: DatasetSpace) -> Mapping[str, Coarse]:
        old = self.attribute(self.column, space)
        return {self.column: Coarse.of(old, self.groups(tuple(old.values())))}

    def recoded(self) -> tuple[str, ...]:
        return (self.column,)

    def _place(self, category: str, known: tuple[str, ...]) -> int:
        if category not in known:
            rule = f"is no category of {self.column}"
            raise UnknownCategoryError(f"mechanism {self.name}", rule, params.did_you_mean(category, known), value=category)
        return known.index(category)


@define
class TopCoding(_EndCoding):
    """All categories of an attribute from one on become one: "90 or more".

    Args:
        column: the attribute; its categories are in their order.
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
        column: the attribute; its categories are in their order.
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
