"""Structures: hypotheses about the number of records are those that a mechanism states for itself, each as often as its views."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import attrs

from dpspec.blocks.invariant import Marginal
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar.sizes import NoStructure
from dpspec.grammar.structure import SizeHypothesis, Structure, own_samples, structure_for
from dpspec.grammar.views import NoisyCount
from dpspec.laws.integers import TwoSidedGeometricLaw

SPACE = UnorderedRecords(attributes=(Attribute(name="sex", categories=("f", "m")),), most=3)


def noise(count: int) -> TwoSidedGeometricLaw:
    return TwoSidedGeometricLaw(count, 1)


def view(*attributes: str) -> NoisyCount:
    return NoisyCount(table=Marginal(attributes=attributes), noise=noise)


ONE, TWO = view(), view("sex")


@attrs.frozen
class Made:
    """What makes a structure."""

    made: Any

    def structure(self, space: Any) -> Any:
        if isinstance(self.made, Exception):
            raise self.made
        return self.made


def stated(*views: NoisyCount, by: object = "me", of: tuple[NoisyCount, ...] | None = None, **more: Any) -> Structure:
    held = views if of is None else of
    return Structure(views=views, hypotheses=tuple(SizeHypothesis(view=one, by=by) for one in held), **more)


def test_a_statement_is_for_one_view_by_one_mechanism() -> None:
    both = stated(ONE, TWO, of=(ONE,))
    assert [both.states(one, by) for one in (ONE, TWO) for by in ("me", "you")] == [True, False, False, False]
    twice = stated(ONE, ONE, of=(ONE,))
    assert not twice.states(ONE, "me")
    assert stated(ONE, ONE).states(ONE, "me")


def test_who_applies_a_mechanism_states_what_that_one_stated_for_itself() -> None:
    inner = stated(ONE, TWO, of=(ONE,), drawn=2, drawn_by="inner", by="inner")
    outer = inner.restated(of="inner", by="outer")
    assert [outer.states(one, "outer") for one in (ONE, TWO)] == [True, False]
    assert not outer.states(ONE, "inner")
    assert outer.drawn_by == "outer"
    stranger = inner.restated(of="another", by="outer")
    assert not stranger.states(ONE, "outer")
    assert stranger.drawn_by is None
    changed = inner.restated(of="inner", by="outer", views=lambda one: view("sex", *one.table.attributes))
    assert changed.views == (view("sex"), view("sex", "sex"))
    assert changed.states(changed.views[0], "outer")


def test_a_structure_is_read_with_its_own_statements_alone() -> None:
    made = Made(stated(ONE, by="another"))
    found = structure_for(made, SPACE)
    assert isinstance(found, Structure)
    assert not found.states(ONE, made)
    assert structure_for(Made(None), SPACE) is None
    none = structure_for(Made(NoStructure("because")), SPACE)
    assert isinstance(none, NoStructure)
    assert none.reason == "because"


def test_what_is_sampled() -> None:
    assert not stated(ONE).is_sampled
    assert stated(ONE, sampled=Fraction(1, 2)).is_sampled
    assert stated(ONE, drawn=1).is_sampled
    assert own_samples(stated(ONE, TWO)) == ()
