"""The changes of one record that no universe allows, so that the specification promises nothing about them, for any table.

A change of one record alone stays in a universe exactly if it leaves every published count as it is. Promises are made inside
universes only, so a change that no universe allows is promised nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from dpspec.plugin import Attribute, Marginal, blocks
from dpspec_disclosure.knowledge import Geography


@attrs.frozen(kw_only=True)
class Change:
    """Whether the margins allow a change of one attribute of one record.

    Args:
        attribute: the attribute; None for adding or taking away a record.
        allowed: "never", "sometimes" (the conditions say when it is not), or "always".
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
    return (*(_of(attribute, attributes, published, beside) for attribute in attributes), _of_size(published, beside))


def _of_size(published: Sequence[Marginal], beside: Sequence[Marginal]) -> Change:
    if any(not margin.where for margin in published):
        return Change(attribute=None, allowed="never")
    conditions = (*(f"where {_condition(margin.where)}" for margin in published), *map(_if_it_changes, beside))
    return Change(attribute=None, allowed="sometimes" if conditions else "always", conditions=conditions)


def _if_it_changes(margin: Marginal) -> str:
    return f"where that changes the table {margin}"


def _of(
    attribute: Attribute, attributes: Sequence[Attribute], published: Sequence[Marginal], beside: Sequence[Marginal]
) -> Change:
    """A category decides the coarser ones, so a margin by tract sees that the county changes."""
    geography = Geography(attributes=tuple(attributes))
    conditions: list[str] = []
    for margin in published:
        where = dict(margin.where)
        seen = geography.known_with(margin.attributes)
        if attribute.name not in seen and attribute.name not in geography.known_with(where):
            continue
        if not where:
            return Change(attribute=attribute.name, allowed="never")
        own = where.pop(attribute.name, None)
        others = _condition(tuple(where.items()))
        only = f" where {others}" if others else ""
        if own is None:
            conditions.append(only.strip())
        elif attribute.name in seen:
            conditions.append(f"from or to one of {', '.join(own)}{only}")
        else:
            conditions.append(f"between {', '.join(own)} and the other categories{only}")
    conditions += [
        _if_it_changes(margin)
        for margin in beside
        if blocks.MEMBERS in {attribute.name, *margin.attributes} or attribute.name in _decided(margin, geography)
    ]
    allowed = "sometimes" if conditions else "always"
    return Change(attribute=attribute.name, allowed=allowed, conditions=tuple(dict.fromkeys(conditions)))


def _decided(margin: Marginal, geography: Geography) -> set[str]:
    """The attributes of a record that a table of another unit looks at."""
    known = geography.named()
    return geography.known_with(name for name in (*margin.attributes, *dict(margin.where)) if name in known)


def _condition(where: Sequence[tuple[str, Sequence[str]]]) -> str:
    return " and ".join(f"{name} is {' or '.join(admitted)}" for name, admitted in where)
