"""Objects drawn from their declared parameters: every class that is registered, parameters that are objects among them."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import HealthCheck, given, settings

from dpspec.blocks.households import Households
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.extension import installed
from dpspec.params import Nested, parameters
from dpspec.testing.strategies import from_params

QUIET = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
CLASSES = [entry for entry in installed().registry if attrs.has(entry.cls)]


@pytest.mark.parametrize("entry", CLASSES, ids=lambda entry: f"{entry.kind}-{entry.qualified_name}")
def test_every_drawn_object_is_valid(entry):
    """Each is an object of its class, and its parameters, read once more, give the same object."""
    drawn = from_params(entry.cls)
    if drawn.is_empty:
        pytest.skip("a parameter has no installed value")

    @QUIET
    @given(drawn)
    def check(thing):
        assert type(thing) is entry.cls
        assert (
            entry.cls(
                **{
                    p.name: p.domain.read(getattr(thing, p.name), p.name)
                    for p in parameters(entry.cls)
                    if getattr(thing, p.name) is not None
                }
            )
            == thing
        )

    check()


@QUIET
@given(from_params(Attribute))
def test_attributes_have_distinct_categories(attribute):
    assert attribute.size == len(set(attribute.values())) > 0


@pytest.mark.parametrize("cls", [UnorderedRecords, Households])
def test_lists_of_attributes_have_distinct_names(cls):
    seen = []

    @QUIET
    @given(from_params(cls))
    def check(space):
        for field in ("attributes", "household", "person"):
            names = [attribute.name for attribute in getattr(space, field, ()) if isinstance(attribute, Attribute)]
            assert len(set(names)) == len(names)
            seen.extend(names)

    check()
    assert len(set(seen)) > 1


def test_registered_parameters_are_drawn_from_what_is_installed():
    kinds = set()

    @settings(QUIET, max_examples=60)
    @given(from_params(LevelSets))
    def check(multiverse):
        kinds.update(type(invariant) for invariant in multiverse.invariants)

    check()
    assert len(kinds) > 1


def test_nested_objects_of_other_classes_are_drawn_too():
    nested = [
        entry.cls for entry in CLASSES for p in parameters(entry.cls) if isinstance(getattr(p.domain, "item", p.domain), Nested)
    ]
    assert len([cls for cls in nested if not from_params(cls).is_empty]) > 2
