"""What is known for certain follows from published facts about that secret, also in spaces that nobody can list.

The oracle lists all pairs of a small space, computes the tables with a Counter, and knows nothing of the classes under test.
"""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

import dpspec as dp
from dpspec.api import risk
from dpspec.grammar.attacker import Sense

VALUES = {"region": ["north", "south"], "age": ["old", "young"], "income": ["low", "high"]}
NAMES = list(VALUES)
TABLES = [(), ("region",), ("age",), ("region", "age"), ("region", "age", "income")]
UNITS = {"hamming": "hamming", "add-remove": "symmetric-difference"}


def certain(report):
    """The places at which something is said to be certain, by theorem."""
    said = [one for row in report.rows for one in row.worst]
    return [one for one in said if one.relation is Sense.EQUALS and one.value.lower == 1]


def spec(tables, distance="hamming", **size):
    people = dp.records(**VALUES, **size)
    held = [dp.marginal(attributes=list(table)) for table in tables]
    return dp.spec(space=people, invariants=held, distance=distance, standard="pure", epsilon=1)


def differing(tables, secret, distance):
    """Whether two datasets of at most two records differ in a table, and in one record, there in the secret attributes alone."""
    kinds = list(itertools.product(*VALUES.values()))
    datasets = [Counter(some) for size in range(3) for some in itertools.combinations_with_replacement(kinds, size)]
    hidden = [NAMES.index(name) for name in NAMES if name not in secret]
    shown = [[NAMES.index(name) for name in table] for table in tables]

    def seen(dataset, places):
        return Counter(tuple(kind[p] for p in places) for kind in dataset.elements())

    for one, other in itertools.combinations(datasets, 2):
        gone, come = (one - other).total(), (other - one).total()
        near = (gone, come) == (1, 1) if distance == "hamming" else gone + come == 1
        same = distance != "hamming" or seen(one, hidden) == seen(other, hidden)
        if near and same and any(seen(one, t) != seen(other, t) for t in shown):
            return True
    return False


SECRETS = [("region",), ("age",), ("income",), ("age", "income"), ("region", "age", "income")]


@pytest.mark.parametrize("tables", [[t] for t in TABLES] + [[("region",), ("age",)], [(), ("income",)]])
@pytest.mark.parametrize("secret", SECRETS, ids="-".join)
def test_a_tester_of_some_attributes_is_certain_only_where_a_table_shows_them(tables, secret):
    report = risk(spec(tables), "attribute-restricted", attributes=list(secret), levels=["1/20"])
    assert bool(certain(report)) == differing(tables, secret, "hamming")


@pytest.mark.parametrize("secret", SECRETS, ids="-".join)
@pytest.mark.parametrize("size", [{"most": 10**6}, {"least": 100, "most": 100}], ids=str)
def test_so_it_is_for_any_number_of_records(secret, size):
    tables = [("region",)]
    report = risk(spec(tables, **size), "attribute-restricted", attributes=list(secret), levels=["1/20"])
    assert bool(certain(report)) == differing(tables, secret, "hamming")


@pytest.mark.parametrize("tables", [[t] for t in TABLES])
@pytest.mark.parametrize("distance", ["hamming", "add-remove"])
@pytest.mark.parametrize("attacker", ["strongest", "tester"])
def test_who_knows_all_others_is_certain_only_where_a_published_table_shows_the_record(tables, distance, attacker):
    """A published total says nothing about a record that is replaced."""
    report = risk(spec(tables, distance), attacker)
    assert bool(certain(report)) == differing(tables, NAMES, distance)


def test_a_large_space_and_its_small_copy_agree():
    for tables, secret in itertools.product([[("region",)], [("age", "income")]], SECRETS):
        small = risk(spec(tables, most=2), "attribute-restricted", attributes=list(secret))
        large = risk(spec(tables), "attribute-restricted", attributes=list(secret))
        assert bool(certain(small)) == bool(certain(large)), (tables, secret)


def test_only_the_published_tables_that_show_it_are_named():
    report = risk(spec([("region",), ("age",)]), "attribute-restricted", attributes=["age"], levels=["1/20"])
    (said,) = certain(report)
    assert "by age" in said.theorem
    assert "by region" not in said.theorem


def test_the_bound_keeps_its_condition_where_nothing_certain_was_found():
    report = risk(spec([("region",)]), "attribute-restricted", attributes=["income"], levels=["1/20"])
    (row,) = report.rows
    assert "both candidates are in one universe" in row.worst[0].assumption


def test_millions_of_kinds_of_records_need_no_list():
    people = dp.records(region=3_000_000, age=["old", "young"])
    held = dp.spec(space=people, invariants=[dp.marginal(attributes=["region"])], distance="hamming", standard="pure", epsilon=1)
    assert not certain(risk(held, "attribute-restricted", attributes=["age"], levels=["1/20"]))
    assert certain(risk(held, "attribute-restricted", attributes=["region"], levels=["1/20"]))


def test_places_of_a_sequence_are_told_apart():
    people = dp.ordered_records(region=["north", "south"])
    for table, is_shown in (([], False), (["region"], True)):
        held = [dp.marginal(attributes=table)]
        promise = dp.spec(space=people, invariants=held, distance="hamming-ordered", standard="pure", epsilon=1)
        assert bool(certain(risk(promise, "compound-tester", position=2, distance=1, levels=["1/20"]))) == is_shown


@pytest.mark.parametrize(("secret", "is_shown"), [("race", False), ("age", True), ("kind", True), ("block", True)])
def test_facts_about_households_say_nothing_about_the_race_of_a_person(secret, is_shown):
    """Housing units by block and kind and persons by age are published: two empty units in other blocks are no two races."""
    homes = dp.households(household={"block": 3, "kind": ["occupied", "vacant"]}, person={"age": 3, "race": 4})
    held = [
        dp.marginal(attributes=["block", "kind"], unit="household"),
        dp.marginal(attributes=["age"], unit="person"),
    ]  # fmt: skip
    promise = dp.spec(space=homes, invariants=held, distance=dp.hamming(unit="person"), standard="pure", epsilon=1)
    assert bool(certain(risk(promise, "attribute-restricted", attributes=[secret], levels=["1/20"]))) == is_shown
