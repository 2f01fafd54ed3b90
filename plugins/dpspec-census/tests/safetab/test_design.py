"""Adaptive tables at scale: counting against plain loops, the law of what is drawn, the released table, the budget."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from dpspec_census.safetab import IterationLevel, PopulationLevel
from dpspec_census.safetab.design import Kinds, Tally

from dpspec.blocks.records import UnorderedRecords
from dpspec.grammar.tables import Table

RACES = ("a", "b", "c", "ab", "ac", "abc", "other")
SPACE = UnorderedRecords(
    attributes=[
        {"name": "state", "count": 3},
        {"name": "county", "count": 7, "within": "state"},
        {"name": "race", "categories": RACES},
        {"name": "hispanic", "categories": ["no", "yes"]},
        {"name": "sex", "categories": ["f", "m"]},
        {"name": "age4", "count": 4},
        {"name": "age9", "count": 9, "within": "age4"},
    ]
)
GROUPS = [
    {"name": "A", "where": {"race": ["a", "ab", "ac", "abc"]}},
    {"name": "B", "where": {"race": ["b", "ab", "abc"]}},
    {"name": "C", "where": {"race": ["c", "ac", "abc"]}},
    {"name": "A, Hispanic", "where": {"race": ["a", "ab", "ac", "abc"], "hispanic": ["yes"]}},
    {"name": "nobody", "where": {"race": ["other"], "hispanic": ["yes"]}},
]
DETAILED = {"name": "detailed", "most": 3, "groups": GROUPS}


def people(count, seed=1):
    lot = np.random.default_rng(seed)
    codes = {a.name: lot.integers(0, a.size, count) for a in SPACE.attributes}
    codes["county"] = lot.choice(7, count, p=[0.5, 0.2, 0.1, 0.1, 0.05, 0.03, 0.02])
    for fine, coarse in (("county", "state"), ("age9", "age4")):
        sizes = {a.name: a.size for a in SPACE.attributes}
        codes[coarse] = codes[fine] * sizes[coarse] // sizes[fine]
    odd = codes["race"] == RACES.index("other")
    codes["hispanic"][odd] = 0
    return Table(attributes=SPACE.attributes, codes={name: column.astype(np.uint8) for name, column in codes.items()})


def rows(table):
    labels = {a.name: list(a.values()) for a in table.attributes}
    return zip(*([labels[name][code] for code in table.codes[name]] for name in labels), strict=True)


# --- counting --------------------------------------------------------------------------------------------

BY_COUNTY = IterationLevel(population="detailed", geography="county", share=Fraction(1), tables=[["sex", "age4"]])


@pytest.mark.parametrize("most", [1, 2, 3])
def test_members_are_counted_as_a_plain_loop_counts_them(most):
    population, table = PopulationLevel(**{**DETAILED, "most": most}), people(400)
    kinds = Kinds.of(population, BY_COUNTY, table)
    tally = Tally.of(population, "county", kinds)
    chosen = np.asarray([0, 3, 8, 9, 20, 34])
    found = tally.counts(chosen, kinds.table.key(["sex", "age4"]), 8)
    totals, cells = Counter(), Counter()
    for record in rows(table):
        person = dict(zip([a.name for a in table.attributes], record, strict=True))
        inside = [
            place
            for place, group in enumerate(population.groups)
            if all(person[name] in categories for name, categories in group.where)
        ]
        for place in inside[:most]:
            totals[place * 7 + int(person["county"])] += 1
            cells[place * 7 + int(person["county"]), "fm".index(person["sex"]) * 4 + int(person["age4"])] += 1
    assert tally.totals().tolist() == [totals[place] for place in range(35)]
    assert found.tolist() == [[cells[place, cell] for cell in range(8)] for place in chosen]
    assert max(totals.values()) > 0


def test_an_empty_table_has_members_nowhere():
    population, table = PopulationLevel(**DETAILED), people(0)
    assert not Tally.of(population, "county", Kinds.of(population, BY_COUNTY, table)).totals().any()
