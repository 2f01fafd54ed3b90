"""Attributes and categories that were given other names.

A promise does not depend on what a category is called, as long as no block reads the name: with a bijection pi of the records
that renames them, M satisfies the renamed specification if and only if M o pi satisfies the one with the old names. `compare`
sees two different spaces, so the old specification is renamed first.

This is done for blocks that are known not to read names, and not for names that are numbers, which a block may order or subtract.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from dpspec import DpspecError, SpecDocument, build
from dpspec.plugin import PrivacySpec, errors
from dpspec.plugin.applications import Registry, to_toml

_SPACES = ("records", "ordered-records", "households")
_DISTANCES = ("hamming", "hamming-ordered", "symmetric-difference")
_INVARIANTS = ("marginal",)
_STANDARDS = ("mult", "mult-delta", "d-nor", "renyi", "total-variation")
"""Blocks whose meaning does not depend on what attributes and categories are called."""
_NUMBER = re.compile(r"[+-]?[0-9.,]+%?")


@attrs.frozen(kw_only=True)
class Renaming:
    """New names of attributes, and of the categories of each.

    Args:
        attributes: new names by old ones.
        categories: by the old name of the attribute, new names by old ones.
        space: the table of the space with the old names, and that with the new ones.
    """

    attributes: Mapping[str, str]
    categories: Mapping[str, Mapping[str, str]]
    space: tuple[Mapping[str, Any], Mapping[str, Any]]

    @property
    def notes(self) -> tuple[str, ...]:
        """What was renamed, a line for each attribute."""
        lines = [f"attribute {old} is called {new}" for old, new in self.attributes.items() if old != new]
        for attribute, names in self.categories.items():
            renamed = ", ".join(f"{old} is called {new}" for old, new in names.items() if old != new)
            if renamed:
                lines.append(f"in {attribute}: {renamed}")
        found = tuple(f"renamed, and no block reads names: {line}" for line in lines)
        return found or ("categories are listed in another order",)


def renamed(old: SpecDocument, new: SpecDocument, registry: Registry) -> tuple[SpecDocument, tuple[str, ...]]:
    """OLD with the names of NEW, and what was renamed; OLD as it is where NEW has no other names or a block may read them."""
    if old.spec.space == new.spec.space:
        return old, ()
    try:
        tables = [tomllib.loads(to_toml(document.spec, registry)) for document in (old, new)]
        found = _renaming(tables[0]["space"], tables[1]["space"])
        if found is None:
            return old, ()
        specs = [_with_names(spec, found, registry) for spec in (old.spec, *(part.spec for part in old.parts))]
    except (DpspecError, errors.NotWritableError, _NotRenamedError):
        return old, ()
    parts = tuple(attrs.evolve(part, spec=spec) for part, spec in zip(old.parts, specs[1:], strict=True))
    return attrs.evolve(old, spec=specs[0], parts=parts), found.notes


class _NotRenamedError(Exception):
    """A block that may read names."""


def _renaming(old: Mapping[str, Any], new: Mapping[str, Any]) -> Renaming | None:
    """The names of two spaces that are equal but for names; None where they are not."""
    if old["type"] not in _SPACES or _plain(old) != _plain(new):
        return None
    pairs = list(zip(_attributes(old), _attributes(new), strict=True))
    attributes = {one["name"]: other["name"] for one, other in pairs}
    if len(attributes) != len(pairs) or len({*attributes.values()}) != len(pairs):
        return None
    if any(one != other and one in attributes.values() for one, other in attributes.items()):  # two that exchanged their places
        return None
    nested = {name for one, _ in pairs if "within" in one for name in (one["name"], one["within"])}
    categories = {
        one["name"]: _category_names(one.get("categories", []), other.get("categories", []), is_nested=one["name"] in nested)
        for one, other in pairs
    }
    if any(attributes.get(one["within"]) != other["within"] for one, other in pairs if "within" in one):
        return None
    changed = [*attributes.items(), *(pair for names in categories.values() for pair in names.items())]
    if any(one != other and (_NUMBER.fullmatch(one) or _NUMBER.fullmatch(other)) for one, other in changed):
        return None
    return Renaming(attributes=attributes, categories=categories, space=(old, new))


def _category_names(old: Sequence[str], new: Sequence[str], *, is_nested: bool) -> dict[str, str]:
    """New names by old ones: a name that is on both sides stays, and the others follow in their order.

    Which county is in which state may depend on the order of both, so that nested categories get other names all together.

    >>> _category_names(["a", "b", "c"], ["c", "d", "a"], is_nested=False)
    {'a': 'a', 'b': 'd', 'c': 'c'}
    """
    if [*old] == [*new]:
        return {name: name for name in old}
    kept = {*old} & {*new}
    if kept and is_nested:
        raise _NotRenamedError
    others = (name for name in new if name not in kept)
    return {name: name if name in kept else next(others) for name in old}


def _attributes(space: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The tables of attributes, in their order; a table has a name."""
    for value in space.values():
        if isinstance(value, list):
            yield from (row for row in value if isinstance(row, dict) and "name" in row)


def _plain(space: Mapping[str, Any]) -> Any:
    """A space without the names of its attributes and their categories."""

    def without(row: Any) -> Any:
        if not (isinstance(row, dict) and "name" in row):
            return row
        held = {key: value for key, value in row.items() if key not in ("name", "categories", "within")}
        return held | {"categories": len(row.get("categories", ())), "within": "within" in row}

    return {key: [*map(without, value)] if isinstance(value, list) else value for key, value in space.items()}


def _with_names(spec: PrivacySpec, names: Renaming, registry: Registry) -> PrivacySpec:
    tables = tomllib.loads(to_toml(spec, registry))
    space, distance, standard = (tables[block] for block in ("space", "input_divergence", "output_divergence"))
    known = space["type"] in _SPACES and distance["type"] in _DISTANCES and standard["type"] in _STANDARDS
    multiverse = tables.get("multiverse", {"invariants": []})
    one_number = not any(isinstance(value, (dict, list)) for value in tables["budget"].values())
    if not known or {*multiverse} != {"invariants"} or not one_number or space != names.space[0]:
        raise _NotRenamedError
    invariants = [_invariant(one, names) for one in multiverse["invariants"]]
    found = build(
        space=names.space[1], multiverse={"invariants": invariants}, input_divergence=distance, output_divergence=standard,
        budget=tables["budget"],
    )  # fmt: skip
    return found.spec


def _invariant(given: Any, names: Renaming) -> dict[str, Any]:
    if not isinstance(given, dict) or given["type"] not in _INVARIANTS or {*given} - {"type", "unit", "attributes", "where"}:
        raise _NotRenamedError
    said = {**given, "attributes": [names.attributes.get(one, one) for one in given.get("attributes", ())]}
    if "where" in given:
        said["where"] = {
            names.attributes.get(attribute, attribute): [names.categories.get(attribute, {}).get(one, one) for one in values]
            for attribute, values in given["where"].items()
        }
    return said


__all__ = ["Renaming", "renamed"]
