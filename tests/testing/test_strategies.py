"""Objects drawn from their declared parameters: every class that is registered, parameters that are objects among them."""

from __future__ import annotations

from typing import Annotated

import attrs
import pytest
from hypothesis import HealthCheck, given, settings

from dpspec.base.errors import ParameterError
from dpspec.base.params import Integer, Nested, define, parameters
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.records import Households, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.extension import installed
from dpspec.testing.strategies import from_params

QUIET = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
FEW = settings(QUIET, max_examples=5)
CLASSES = [entry for entry in installed().registry if attrs.has(entry.cls)]


@pytest.mark.spread(80, slow=40)
@pytest.mark.parametrize("entry", CLASSES, ids=lambda entry: f"{entry.kind}-{entry.qualified_name}")
@pytest.mark.parametrize("examples", [FEW, pytest.param(QUIET, marks=pytest.mark.long)], ids=["five", "twenty"])
def test_every_drawn_object_is_valid(entry, examples):
    """Each is an object of its class, and its parameters, read once more, give the same object."""
    drawn = from_params(entry.cls)
    if drawn.is_empty:
        pytest.skip("a parameter has no installed value")

    @examples
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


def test_a_class_with_examples_is_drawn_as_they_are_and_with_one_parameter_changed():
    """Two parameters that must agree hardly ever do; no draw is given up, and what can change does change."""

    @define
    class Twice:
        one: Annotated[int, Integer(0, 10**9)]
        same: Annotated[int, Integer(0, 10**9)]
        free: Annotated[int, Integer(0, 9)] = 0

        def __attrs_post_init__(self) -> None:
            if self.one != self.same:
                raise ParameterError("same", "differs")

        @classmethod
        def examples(cls):
            yield cls(one=5, same=5)
            yield cls(one=7, same=7), "a space"

    seen = set()

    @settings(max_examples=60, deadline=None)
    @given(from_params(Twice))
    def check(thing):
        seen.add((thing.one, thing.free))

    check()
    assert {one for one, _ in seen} == {5, 7}
    assert len({free for _, free in seen}) > 2
