"""Specifications about data of different schemas: one restated on the schema of the other, where it says the same there."""

from __future__ import annotations

from dpspec.base.errors import (
    Faults,
    IncompatibleBlocksError,
)
from dpspec.base.promises import is_a
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.records import on_one_schema
from dpspec.blocks.space import MEMBERS, DatasetSpace
from dpspec.grammar.spec import PrivacySpec


def describe_different_data(left: DatasetSpace, right: DatasetSpace) -> bool:
    """Whether neither space is known to be a part of the other, and no common schema is known, so that budgets mean nothing to
    each other."""
    if left == right or left.includes(right) is not None or right.includes(left) is not None:
        return False
    return on_one_schema(left, right) is None


def restated(left: PrivacySpec, right: PrivacySpec) -> tuple[PrivacySpec, PrivacySpec, tuple[str, ...]]:
    """Two specifications on one schema, where each has the attributes that it lacks and the other one has, in one order; and what
    was changed.

    Its invariants, distance and budget stay as they are written. Let M satisfy a specification on the schema that it lacks the
    attributes in, and forget them first: x -> M(forgetting(x)). Tables over its own attributes do not change by that, so two
    datasets of one universe stay in one universe; and records that are equal stay equal, so that no number of records that are
    replaced, added or removed grows. So this satisfies the specification as restated, and whatever that implies. The order of
    attributes and categories is read by none of these blocks.

    Unchanged are specifications on spaces of which one is a part of the other, or of different data; and those with invariants
    that are no marginals, with a distance that is no price of changing records, or with a budget that differs by universe.
    """
    if left.space.includes(right.space) is not None or right.space.includes(left.space) is not None:
        return left, right, ()
    spaces = on_one_schema(left.space, right.space)
    if spaces is None:
        return left, right, ()
    found, notes = [], []
    for letter, spec, space in (("A", left, spaces[0]), ("B", right, spaces[1])):
        if spec.space == space:
            found.append(spec)
            continue
        if not _forgets(spec):
            return left, right, ()
        try:
            found.append(spec.replace(space=space))
        except (IncompatibleBlocksError, Faults):  # a block that names an attribute in another sense
            return left, right, ()
        added = [a for unit in space.units for a in _own(space, unit) if a not in _own(spec.space, unit)]
        lacking = f"with the attributes that its schema lacks: {', '.join(dict.fromkeys(added))}"
        notes.append(f"{letter} is restated {lacking if added else 'with its attributes and categories in another order'}")
    return found[0], found[1], tuple(notes)


def _forgets(spec: PrivacySpec) -> bool:
    """Whether what it promises stays promised of a mechanism that forgets attributes which its schema lacks."""
    held, steps = spec.multiverse.induced_by(), spec.input_divergence.record_steps(spec.space)
    one = spec.budget.uniform() is not None or spec.budget.unpublished() is not None
    return held is not None and all(is_a(c, Marginal) for c in held) and steps is not None and one


def _own(space: DatasetSpace, unit: str) -> list[str]:
    return [attribute.name for attribute in space.attributes_of(unit) if attribute.name != MEMBERS]
