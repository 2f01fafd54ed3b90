"""Changes of one record that no universe allows, against all pairs of records that differ in it."""

from __future__ import annotations

import itertools

import pytest
from dpspec_disclosure.changes import changes

from dpspec.plugin import Attribute, Marginal

COUNTY = Attribute(name="county", categories=("A", "B"))
TRACT = Attribute(name="tract", categories=("t1", "t2", "t3"), within="county", parents=("A", "B", "B"))
SEX = Attribute(name="sex", categories=("f", "m"))
ATTRIBUTES = (COUNTY, TRACT, SEX)
NAMES = tuple(a.name for a in ATTRIBUTES)
PARENT = dict(zip(TRACT.categories, TRACT.parents, strict=True))
RECORDS = [
    dict(zip(NAMES, values, strict=True))
    for values in itertools.product(*(a.categories for a in ATTRIBUTES))
    if PARENT[values[1]] == values[0]
]


def seen(record, published):
    """What each table counts the record as; None where it does not."""
    return [
        tuple(record[name] for name in margin.attributes) if all(record[a] in some for a, some in margin.where) else None
        for margin in published
    ]


def kept(name, published):
    """The pairs of records that differ in an attribute, and in what is nested with it, with whether no table shows it."""
    still = [other for other in NAMES if other != name and {name, other} != {"county", "tract"}]
    return [
        (one, other, seen(one, published) == seen(other, published))
        for one, other in itertools.permutations(RECORDS, 2)
        if one[name] != other[name] and all(one[held] == other[held] for held in still)
    ]


@pytest.mark.parametrize(
    ("published", "name", "allowed", "conditions"),
    [
        ([Marginal(attributes=("county",))], "tract", "sometimes", ("from one county to another",)),
        ([Marginal(attributes=("tract",))], "county", "never", ()),
        ([Marginal(attributes=(), where=(("tract", ("t1", "t2")),))], "county", "sometimes",
         ("in a way that changes whether tract is t1 or t2",)),
        ([Marginal(attributes=(), where=(("county", ("A",)),))], "tract", "sometimes",
         ("in a way that changes whether county is A",)),
        ([Marginal(attributes=("tract",), where=(("county", ("A",)),))], "tract", "sometimes",
         ("where county is A before or after it",)),
        ([Marginal(attributes=("county",), where=(("sex", ("f",)),))], "tract", "sometimes",
         ("from one county to another where sex is f",)),
        ([Marginal(attributes=(), where=(("sex", ("f",)),))], "sex", "never", ()),
        ([Marginal(attributes=(), where=(("sex", ("f", "m")),))], "sex", "always", ()),
        ([Marginal(attributes=(), where=(("sex", ("f", "m")),))], None, "never", ()),
        ([Marginal(attributes=("sex",), where=(("sex", ("m",)),))], "sex", "never", ()),
        ([Marginal(attributes=(), where=(("tract", ("t1",)),))], "tract", "sometimes",
         ("between t1 and the other categories",)),
    ],
)  # fmt: skip
def test_what_is_nested_changes_along(published, name, allowed, conditions):
    (found,) = (change for change in changes(ATTRIBUTES, published) if change.attribute == name)
    assert (found.allowed, found.conditions) == (allowed, conditions)
    if name is not None:
        pairs = [is_kept for *_, is_kept in kept(name, published)]
        assert found.allowed == ("always" if all(pairs) else "sometimes" if any(pairs) else "never")


def test_nothing_is_said_to_be_always_or_never_allowed_that_is_not():
    wheres = [(), *(((a.name, some),) for a in ATTRIBUTES for some in (a.categories[:1], a.categories[:2]))]
    margins = [Marginal(attributes=names, where=where) for names in ((), ("county",), ("tract",), ("sex",)) for where in wheres]
    for published in itertools.combinations(margins, 2):
        for change in changes(ATTRIBUTES, published):
            if change.attribute is not None and change.allowed != "sometimes":
                assert {is_kept for *_, is_kept in kept(change.attribute, published)} == {change.allowed == "always"}
