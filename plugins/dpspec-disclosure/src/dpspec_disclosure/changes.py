"""The changes of one record that no universe allows, so that the specification promises nothing about them, for any table.

A change of one record alone stays in a universe exactly if it leaves every published count as it is. Promises are made inside
universes only, so a change that no universe allows is promised nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from dpspec.plugin import Attribute, Marginal, blocks
from dpspec_disclosure.knowledge import Geography
from dpspec_disclosure.margins import without_idle_conditions


@attrs.frozen(kw_only=True)
class Change:
    """Whether the margins allow a change of one attribute of one record.

    Args:
        attribute: the attribute; None for adding or taking away a record.
        allowed: "never", "always", or "sometimes": the conditions say when it is not, and together they may leave nothing.
        conditions: when it is not allowed.
    """

    attribute: str | None
    allowed: str
    conditions: tuple[str, ...] = ()

    def in_words(self, unit: str) -> str:
        """One sentence."""
        what = f"adding or taking away a {unit}" if self.attribute is None else f"changing the {self.attribute} of one {unit}"
        if self.allowed == "never":
            return f"no universe allows {what}"
        if self.allowed == "always":
            return f"{what} leaves all published tables as they are"
        return f"no universe allows {what} {'; nor '.join(self.conditions)}"


def changes(
    attributes: Sequence[Attribute], published: Sequence[Marginal], beside: Sequence[Marginal] = ()
) -> tuple[Change, ...]:
    """For each attribute, and for the number of records, which changes of one record no universe allows.

    Args:
        attributes: the attributes of a record of the unit.
        published: the margins of this unit.
        beside: the margins of another unit that count the members of the record, or the record that contains it.

    >>> found = changes([Attribute(name="sex", count=2)], [Marginal(attributes=())])
    >>> print(found[1].in_words("person"))
    no universe allows adding or taking away a person
    """
    known = {attribute.name: attribute for attribute in attributes}
    published = [without_idle_conditions(margin, known) for margin in published]
    return (*(_of(attribute, attributes, published, beside) for attribute in attributes), _of_size(published, beside))


def _of_size(published: Sequence[Marginal], beside: Sequence[Marginal]) -> Change:
    if any(not margin.where for margin in published):
        return Change(attribute=None, allowed="never")
    conditions = (*(f"where {_condition(margin.where)}" for margin in published), *map(_if_it_changes, beside))
    return Change(attribute=None, allowed="sometimes" if conditions else "always", conditions=tuple(dict.fromkeys(conditions)))


def _if_it_changes(margin: Marginal) -> str:
    return f"where that changes the table {margin}"


def _of(
    attribute: Attribute, attributes: Sequence[Attribute], published: Sequence[Marginal], beside: Sequence[Marginal]
) -> Change:
    """What is nested with the attribute changes along: a margin by tract sees that the county changes, and one by county that a
    tract is changed to one of another county."""
    geography = Geography(attributes=tuple(attributes))
    coarser = geography.known_with([attribute.name]) - {attribute.name}
    conditions: list[str] = []
    for margin in published:
        seen = geography.known_with(margin.attributes)
        own = {name: admitted for name, admitted in margin.where if _is_nested(attribute.name, name, geography)}
        others = _condition(tuple((name, admitted) for name, admitted in margin.where if name not in own))
        only = f" where {others}" if others else ""
        if attribute.name in seen:
            if not margin.where or (not others and _leaves_one(attribute, own)):
                return Change(attribute=attribute.name, allowed="never")
            conditions.append(f"{_before_or_after(own, attribute)}{only}".strip())
            continue
        if own:
            if not others and _leaves_one(attribute, own) and len(own[attribute.name]) == 1:
                return Change(attribute=attribute.name, allowed="never")
            conditions.append(f"{_across(own, attribute)}{only}")
        above = [name for name in geography.finest_first(coarser & seen) if geography.named()[name].size > 1]
        if above:
            inside = " and ".join(filter(None, (_condition(tuple(own.items())), others)))
            conditions.append(f"from one {above[0]} to another{f' where {inside}' if inside else ''}")
    conditions += [
        _if_it_changes(margin)
        for margin in beside
        if blocks.MEMBERS in {attribute.name, *margin.attributes} or attribute.name in _decided(margin, geography)
    ]
    allowed = "sometimes" if conditions else "always"
    return Change(attribute=attribute.name, allowed=allowed, conditions=tuple(dict.fromkeys(conditions)))


Own = Mapping[str, Sequence[str]]
"""The conditions of a margin on an attribute and on what is nested with it."""


def _is_nested(one: str, other: str, geography: Geography) -> bool:
    """Whether two attributes are the same, or one of them lies within the other."""
    return one in geography.known_with([other]) or other in geography.known_with([one])


def _leaves_one(attribute: Attribute, own: Own) -> bool:
    """Whether a condition on the attribute alone leaves at most one category out."""
    return [*own] == [attribute.name] and attribute.size - len(set(own[attribute.name])) <= 1


def _before_or_after(own: Own, attribute: Attribute) -> str:
    """A change of a record that the margin counts before it or after it."""
    if [*own] == [attribute.name]:
        return f"from or to one of {', '.join(own[attribute.name])}"
    return f"where {_condition(tuple(own.items()))} before or after it" if own else ""


def _across(own: Own, attribute: Attribute) -> str:
    """A change of a record that the margin counts before it and not after it, or the other way round."""
    if [*own] == [attribute.name]:
        return f"between {', '.join(own[attribute.name])} and the other categories"
    return f"in a way that changes whether {_condition(tuple(own.items()))}"


def _decided(margin: Marginal, geography: Geography) -> set[str]:
    """The attributes of a record that a table of another unit looks at."""
    known = geography.named()
    return geography.known_with(name for name in (*margin.attributes, *dict(margin.where)) if name in known)


def _condition(where: Sequence[tuple[str, Sequence[str]]]) -> str:
    return " and ".join(f"{name} is {' or '.join(admitted)}" for name, admitted in where)
