"""What many attributes and invariants cost: spaces are equal, and rarely compared; records share what does not change."""

from __future__ import annotations

from collections import Counter

import pytest

import dpspec as dp
from dpspec.blocks.space import Attribute
from dpspec.grammar import trial_datasets


def promise(attributes: int, invariants: int) -> dp.PrivacySpec:
    """On a space of its own: equal to that of another promise, and not the same object."""
    people = dp.records(**{f"a{place}": ["x", "y"] for place in range(attributes)})
    kept = [dp.marginal(attributes=[f"a{place}"]) for place in range(invariants)]
    return dp.spec(space=people, distance="hamming", standard="pure", epsilon=1, invariants=kept)


def test_equal_spaces_are_not_compared_for_each_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """They were for each value of each invariant: 1,295,240 comparisons of two attributes here, and 5,600 now."""
    calls, equal = Counter[str](), Attribute.__eq__

    def counted(one: Attribute, other: object) -> bool:
        calls["equal"] += 1
        return equal(one, other)

    monkeypatch.setattr(Attribute, "__eq__", counted)
    dp.compare(promise(40, 8), promise(40, 7))
    assert calls["equal"] < 20_000


def test_a_record_is_completed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each changed record was completed attribute by attribute: 30 x 60 values of each of two categories."""
    completed, plainly = Counter[str](), trial_datasets._completed

    def counted(fixed, attributes, values_of):
        completed["values"] += len(attributes)
        return plainly(fixed, attributes, values_of)

    monkeypatch.setattr(trial_datasets, "_completed", counted)
    records = list(trial_datasets._records_of_attributes(promise(30, 1), "person"))
    assert len(records) == 62
    assert completed["values"] == 30 + 60 + 30


def test_changed_records_are_those_completed_one_by_one() -> None:
    """Also where attributes lie in each other, and others do not."""
    nested = [
        {"name": "state", "count": 2}, {"name": "sex", "categories": ["f", "m"]},
        {"name": "county", "count": 6, "within": "state"}, {"name": "school", "count": 4, "within": "state"},
        {"name": "tract", "count": 12, "within": "county"},
    ]  # fmt: skip
    people = dp.records(attributes=nested, unit="person")
    spec = dp.spec(space=people, distance="hamming", standard="pure", epsilon=1)
    attributes = {attribute.name: attribute for attribute in people.attributes}
    values_of = {name: trial_datasets._telling_values(one, frozenset()) for name, one in attributes.items()}
    changed = [
        trial_datasets._completed({name: value}, attributes, values_of) for name in attributes for value in values_of[name]
    ]
    assert list(trial_datasets._records_of_attributes(spec, "person"))[1:-1] == changed
    assert len(set(changed)) > 8
