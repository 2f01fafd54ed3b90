"""Adaptive tables at scale: counting against plain loops, the law of what is drawn, the released table, the budget."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from dpspec_census import Safetab, SafetabGeometric
from dpspec_census.safetab.adaptive import COLUMNS

from dpspec.base.errors import Faults, IncompatibleBlocksError, NotInSpaceError, ParameterError
from dpspec.base.exact import number
from dpspec.base.randomness import SeededRandomness, SystemRandomness
from dpspec.blocks.records import UnorderedRecords
from dpspec.grammar.tables import Table
from dpspec.grammar.workers import Run
from dpspec.laws import DiscreteGaussianLaw

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
REGIONAL = {"name": "regional", "most": 1, "groups": [{"name": "everybody"}]}
TABLES = [[], ["sex", "age4"], ["sex", "age9"]]
LEVELS = [
    {"population": "detailed", "share": "1/5", "choice": "1/10", "tables": TABLES, "thresholds": [50, 400]},
    {"population": "detailed", "geography": "county", "share": "3/5", "choice": "1/8", "tables": TABLES, "thresholds": [30, 90]},
    {"population": "regional", "geography": "state", "share": "1/5", "tables": [["sex"]]},
]


def mechanism(cls=Safetab, **changes):
    return cls(**{"populations": [DETAILED, REGIONAL], "levels": LEVELS, "budget": "19.776", **changes})


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


# --- what is released ------------------------------------------------------------------------------------


@pytest.mark.reference("B-A7")
@pytest.mark.parametrize("cls", [Safetab, SafetabGeometric])
def test_every_group_in_every_unit_has_one_table_with_all_its_cells(cls):
    table = mechanism(cls).release(people(5000), SPACE, SystemRandomness())
    assert tuple(a.name for a in table.attributes) == (*COLUMNS, "sex", "age4", "age9", "value", "status")
    published = {}
    for population, group, level, unit, *cell, count, status in rows(table):
        assert status == "published"
        published.setdefault((population, group, level, unit), {}).setdefault(named(cell), {})[tuple(cell)] = int(count)
    assert len(published) == 5 * 1 + 5 * 7 + 1 * 3
    assert all(len(tables) == 1 for tables in published.values())
    sizes = {"total": 1, "sex x age4": 8, "sex x age9": 18, "sex": 2}
    for tables in published.values():
        ((name, cells),) = tables.items()
        assert len(cells) == sizes[name]
    assert {next(iter(tables)) for tables in published.values()} == set(sizes)
    assert next(iter(published["detailed", "nobody", "county", "6"])) == "total"


def named(cell):
    """The table of a cell: the attributes that are not summed over."""
    names = [name for name, category in zip(("sex", "age4", "age9"), cell, strict=True) if category != "(all)"]
    return " x ".join(names) or "total"


def test_with_hardly_any_noise_the_counts_are_the_true_ones_and_the_choice_that_of_the_true_total():
    table = people(5000)
    released = mechanism(budget=10**9).release(table, SPACE, SystemRandomness())
    true = {}
    for state, county, race, hispanic, sex, age4, age9 in rows(table):
        inside = [
            g["name"] for g in GROUPS if race in g["where"]["race"] and hispanic in g["where"].get("hispanic", ("no", "yes"))
        ]
        for group in inside[:3]:
            for place in (("detailed", group, "whole", "total"), ("detailed", group, "county", county)):
                counts = true.setdefault(place, Counter())
                counts.update([("(all)", "(all)", "(all)"), (sex, age4, "(all)"), (sex, "(all)", age9)])
        true.setdefault(("regional", "everybody", "state", state), Counter()).update([(sex, "(all)", "(all)")])
    thresholds = {"whole": (50, 400), "county": (30, 90)}
    for *row, count, _ in rows(released):
        place, cell = tuple(row[:4]), tuple(row[4:])
        counts = true.get(place, Counter())
        assert int(count) == counts[cell]
        if place[2] in thresholds:
            reached = sum(counts["(all)", "(all)", "(all)"] >= threshold for threshold in thresholds[place[2]])
            assert named(cell) == ("total", "sex x age4", "sex x age9")[reached]


def test_a_seed_gives_the_same_release_again():
    table = people(300)
    drawn = [list(rows(mechanism().release(table, SPACE, SeededRandomness(seed)))) for seed in (5, 5, 6)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.statistical
def test_choices_and_counts_have_the_law():
    # 20,000 units of three persons each, one level: the table chosen, and the noise on the total where it is published.
    # Two chi-square tests at level 5e-10 each (false alarm 1e-9). A choice with half the variance or noise of variance 3 in
    # place of 2 is missed with a probability below 1e-9, computed from the noncentral law.
    from scipy.stats import chi2, ncx2

    units = 20_000
    space = UnorderedRecords(attributes=[{"name": "place", "count": units}, {"name": "sex", "categories": ["f", "m"]}])
    codes = {"place": np.repeat(np.arange(units), 3), "sex": np.tile([0, 0, 1], units)}
    level = {"population": "regional", "geography": "place", "share": 1, "choice": "1/5", "tables": [[], ["sex"]]}
    # rho = 5/8: stage 1 has rho 1/8 and variance 8, stage 2 rho 1/2 and variance 2.
    subject = Safetab(populations=[REGIONAL], levels=[{**level, "thresholds": [5]}], budget="5/8")
    (planned,) = subject.plan()
    assert (planned.choosing.variance, planned.filling.variance) == (8, 2)
    released = subject.release(Table(attributes=space.attributes, codes=codes), space, SeededRandomness(3))
    found = list(rows(released))

    def below(variance):
        return float(DiscreteGaussianLaw(3, variance).tail(4)[0])

    totals = [int(count) for *_, sex, count, _ in found if sex == "(all)"]

    def binned(variance):
        law = DiscreteGaussianLaw(3, variance)
        inner = [float(law.mass(k)) for k in range(1, 6)]
        return np.asarray([float(law.tail(0)[0]), *inner, float(law.tail(6)[1])])

    threshold = chi2.isf(5e-10, 1)
    p, wrong = below(8), below(4)
    assert (len(totals) - units * p) ** 2 / (units * p * (1 - p)) < threshold
    assert ncx2.cdf(threshold, 1, units * (wrong - p) ** 2 / (p * (1 - p))) < 1e-9
    counts = np.bincount(np.clip(totals, 0, 6), minlength=7)
    right, other, threshold = binned(2) * len(totals), binned(3) * len(totals), chi2.isf(5e-10, 6)
    assert ((counts - right) ** 2 / right).sum() < threshold
    assert ncx2.cdf(threshold, 6, ((other - right) ** 2 / right).sum()) < 1e-9


# --- the budget ------------------------------------------------------------------------------------------


@pytest.mark.reference("B-N1")
@pytest.mark.parametrize(("cls", "budget"), [(Safetab, "19.776"), (SafetabGeometric, "7*ln(2)")])
def test_the_stages_add_up_to_the_budget_exactly(cls, budget):
    subject = mechanism(cls, budget=budget)
    stages = subject.spending()
    assert [(s.level, s.stage) for s in stages] == [
        ("detailed x whole", "choice"), ("detailed x whole", "table"),
        ("detailed x county", "choice"), ("detailed x county", "table"), ("regional x state", "table"),
    ]  # fmt: skip
    assert [s.share for s in stages] == [Fraction(t) for t in ("1/50", "9/50", "3/40", "21/40", "1/5")]
    assert [s.moved for s in stages] == [6, 6, 6, 6, 2]
    assert sum((s.budget for s in stages), number(0)) == number(budget)
    output = subject.run(people(50), SPACE, Run(source=SystemRandomness()))
    assert output.report["sum"] == str(number(budget))
    assert output.report["stages"][0]["share"] == "1/50"


def test_the_noise_of_a_stage_is_what_its_budget_and_the_groups_of_a_person_ask_for():
    # Gaussian: 6 counts move by one, 6 / (2 variance) = rho / 50. Geometric: 6 ln(1/r) = epsilon / 50.
    gaussian, geometric = (mechanism(cls, budget=budget) for cls, budget in ((Safetab, 3), (SafetabGeometric, "300*ln(3)")))
    assert gaussian.plan()[0].choosing.variance == 50
    assert gaussian.spending()[0].noise == "discrete Gaussian, variance 50"
    assert geometric.plan()[0].choosing.decay() == number("ln(3)")
    assert geometric.spending()[0].noise == "two-sided geometric, ratio e^-(ln(3))"


# --- what is refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"levels": LEVELS[:2]}, "add up to exactly 1"),
        ({"levels": [LEVELS[0], LEVELS[0], *LEVELS[1:]]}, "twice"),
        ({"populations": [DETAILED]}, "about no population level"),
        ({"budget": "ln(3)"}, "rational"),
        ({"budget": 0}, "budget"),
        ({"levels": [{**LEVELS[0], "share": 1, "thresholds": [50]}]}, "needs 2 thresholds"),
        ({"levels": [{**LEVELS[0], "share": 1, "thresholds": [50, 50]}]}, "must grow"),
        ({"levels": [{**LEVELS[0], "share": 1, "choice": 0}]}, "exactly when there is one"),
        ({"levels": [{**LEVELS[2], "share": 1, "choice": "1/2"}]}, "exactly when there is one"),
        ({"populations": [{**DETAILED, "groups": [GROUPS[0], GROUPS[0]]}, REGIONAL]}, "names a group twice"),
    ],
)
def test_a_design_that_does_not_add_up_is_refused(changes, match):
    with pytest.raises(ParameterError, match=match):
        mechanism(**changes)


def test_what_the_space_does_not_have_is_told_at_once():
    with pytest.raises(IncompatibleBlocksError, match="unit"):
        mechanism(unit="household").check(SPACE)
    with pytest.raises(IncompatibleBlocksError, match="age23"):
        mechanism(levels=[{**LEVELS[2], "share": 1, "tables": [["age23"]]}]).check(SPACE)
    stranger = {"name": "detailed", "most": 1, "groups": [{"name": "D", "where": {"race": ["d"], "tribe": ["x"]}}]}
    with pytest.raises((Faults, IncompatibleBlocksError, NotInSpaceError), match="tribe"):
        mechanism(populations=[stranger, REGIONAL]).check(SPACE)
