"""TopDown by levels: its budget, its claim judged by the exact engine, its constraints, and what it refuses."""

from __future__ import annotations

import itertools
import stat
import subprocess
import sys
from pathlib import Path

import attrs
import numpy as np
import pytest
from dpspec_census import TopdownByLevels
from dpspec_census.hierarchy import by_levels, family
from dpspec_census.hierarchy.descent import parts_of
from dpspec_census.hierarchy.limits import EditConstraint, Limit
from dpspec_census.topdown import loss_of_one_unit
from dpspec_noise import Filtered

from dpspec.base.errors import (
    CheckpointError,
    IncompatibleBlocksError,
    InfeasibleConstraintsError,
    ParameterError,
    PluginContractError,
    ReleaseError,
    TableError,
)
from dpspec.base.exact import INFINITY, number
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.invariant import FunctionInvariant, Marginal
from dpspec.blocks.records import Households, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar.tables import MOST_LISTED, Members, NumberedTexts, Table, TableStream
from dpspec.grammar.workers import Checkpoints, Embedded, Run
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome

SAMPLE = Path(__file__).parents[3] / "specs" / "samples" / "topdown-by-levels-town.dpspec.toml"
STATE = {"name": "state", "categories": ["a"]}
BLOCK = {"name": "block", "categories": ["a1", "a2", "a3"], "within": "state", "parents": ["a"] * 3}
TWO = {"name": "block", "categories": ["a1", "a2"], "within": "state", "parents": ["a"] * 2}
ADULT = {"name": "adult", "categories": ["no", "yes"]}
KIND = {"name": "kind", "categories": ["occupied", "vacant", "dormitory"]}
LEVELS = ["state", "block"]
TOTAL = {"shares": ["1/2", "1/5"]}
BY_AGE = {"attributes": ["adult"], "shares": ["1/2", "4/5"]}
PERSONS = {"rho": "6", "level_shares": ["1/3", "2/3"], "queries": [TOTAL, BY_AGE]}
UNITS = {
    "unit": "household",
    "rho": "3",
    "level_shares": ["1/3", "2/3"],
    "queries": [{"attributes": ["kind"], "shares": ["1", "1"]}],
}
POPULATION = Marginal(attributes=["state"])
HOUSING = Marginal(attributes=["block"], unit="household", where={"kind": ["occupied", "vacant"]})
DORMITORIES = Marginal(attributes=["block"], unit="household", where={"kind": ["dormitory"]})
EMPTY = Marginal(attributes=[], where={"kind": ["vacant"]})
EDITS = [
    {"where": {"kind": ["dormitory"]}, "of_where": {"kind": ["dormitory"]}, "least": 1},
    {"where": {"kind": ["occupied"]}, "of_where": {"kind": ["occupied", "vacant"]}, "most": 10},
]

SMALL = UnorderedRecords(attributes=[STATE, TWO, ADULT], least=0, most=2)


def persons(*invariants, tables=(PERSONS,)):
    return TopdownByLevels(levels=LEVELS, tables=tables, invariants=invariants)


def census(**changes):
    invariants = [POPULATION, HOUSING, DORMITORIES, EMPTY]
    given = {"tables": [PERSONS, UNITS], "invariants": invariants, "edits": EDITS, "unit": "household", **changes}
    return TopdownByLevels(levels=LEVELS, **given)


def measurements(mechanism, space):
    """The same queries as marginals of the space, one by one."""
    for table in mechanism.tabulations():
        for level, name in enumerate(mechanism.levels):
            for query in table.asked(level):
                marginal = Marginal(attributes=[*mechanism.levels[:level], name, *query.attributes], unit=table.unit)
                yield marginal, 1 / table.rho_star(level, query)


# --- the budget ------------------------------------------------------------------------------------


@pytest.mark.reference("K-D41")
@pytest.mark.parametrize("most", [1, 2, 3])
def test_the_loss_is_the_largest_over_all_kinds_of_records(most):
    """The oracle goes through all pairs of cells with rational sums."""
    three = UnorderedRecords(attributes=[STATE, BLOCK, ADULT])
    assert persons().rho(three) == loss_of_one_unit(measurements(persons(), three), three, "person") == number(5)
    space = Households(household=[STATE, TWO, KIND], person=[ADULT], most=2, members=most)
    both = census(invariants=[], edits=[])
    assert both.rho(space) == loss_of_one_unit(measurements(both, space), space, "household")


@pytest.mark.reference("B-X6")
def test_persons_have_no_finite_budget_where_households_are_measured():
    space = Households(household=[STATE, TWO, KIND], person=[ADULT], most=2, members=1)
    mechanism = census(unit="person")
    assert mechanism.rho(space) == INFINITY
    assert mechanism.claims(space) == ()
    assert census().rho(Households(household=[STATE, TWO, KIND], person=[ADULT])) == INFINITY


# --- the claim, by the exact engine --------------------------------------------------------------------


@pytest.mark.reference("B-T13")
@pytest.mark.reference("B-T16")
def test_the_claim_holds_in_miniature_and_a_smaller_one_is_refuted():
    mechanism = persons(POPULATION)
    (claim,) = mechanism.claims(SMALL)
    verdict = verify(mechanism, claim.spec)
    assert verdict.outcome is Outcome.VERIFIED
    assert any(universe.is_tight for universe in verdict.universes)
    smaller = attrs.evolve(claim.spec, budget=UniformBudget(parameter="rho", value="49/10"))
    assert verify(mechanism, smaller).outcome is Outcome.REFUTED


@pytest.mark.reference("B-D25")
def test_the_claim_holds_for_persons_and_units_in_one_run():
    space = Households(household=[STATE, TWO, KIND], person=[ADULT], most=1, members=1)
    (claim,) = census().claims(space)
    verdict = verify(census(), claim.spec)
    assert verdict.outcome is Outcome.VERIFIED
    assert len(verdict.vacuous) < len(verdict.universes)


class Peeking(TopdownByLevels):
    """A mutation: its fit is told the true totals of the blocks, which are no invariant that is stated."""

    name = "peeking"

    def law(self, dataset, space):
        told = (*self.invariants, Marginal(attributes=["block"]))
        return TopdownByLevels(levels=self.levels, tables=self.tables, invariants=told).law(dataset, space)


@pytest.mark.reference("B-T16")
def test_a_fit_that_reads_more_than_the_invariants_is_refuted():
    honest = persons(POPULATION)
    peeking = Peeking(levels=LEVELS, tables=[PERSONS], invariants=[POPULATION])
    (claim,) = honest.claims(SMALL)
    assert verify(honest, claim.spec).outcome is Outcome.VERIFIED
    assert verify(peeking, claim.spec).outcome is Outcome.REFUTED
    # The outcomes show it: one t, two fitted tables, for datasets of one universe.
    x, y = (SMALL.dataset([("a", block, "yes")]) for block in ("a1", "a2"))
    t = (0,) * len(honest.variances(SMALL))
    assert honest.law(x, SMALL).outcome(t) == honest.law(y, SMALL).outcome(t)
    assert peeking.law(x, SMALL).outcome(t)[0] != peeking.law(y, SMALL).outcome(t)[0]


@pytest.mark.reference("B-A6")
def test_the_release_is_the_fit_of_what_it_measured():
    """`run` and `law` meet: the released table is the fit of the released measurements and of c(x), by the code of the law."""
    mechanism, source = persons(POPULATION), SeededRandomness(5)
    space = UnorderedRecords(attributes=[STATE, BLOCK, ADULT])
    records = [("a", b, c) for b, c, n in (("a1", "yes", 7), ("a2", "no", 2), ("a3", "yes", 4)) for _ in range(n)]
    output = mechanism.run(Table.from_records(records, space.attributes), space, Run(source=source))
    noisy = output.streams["measurements"].joined()
    values = list(noisy.attribute("value").values())
    t = tuple(int(values[code]) for code in noisy.codes["value"])
    law = mechanism.law(space.dataset(records), space)
    (((_, fitted),), _) = law.outcome(t)
    found = output.main.counts(["block", "adult"])
    cells = list(itertools.product(("a1", "a2", "a3"), ("no", "yes")))
    assert fitted == tuple(found.get(cell, 0) for cell in cells)
    assert sum(fitted) == 13


# --- releases ------------------------------------------------------------------------------------------


def town(seed=0):
    """A random town: units of three kinds in three blocks, nobody in vacant ones, everybody somewhere in dormitories."""
    draw = np.random.default_rng(seed)
    space = Households(household=[STATE, BLOCK, KIND], person=[ADULT])
    size = 60
    units = [("a", f"a{draw.integers(1, 4)}", ("occupied", "vacant", "dormitory")[draw.integers(0, 3)]) for _ in range(size)]
    most = {"occupied": 5, "vacant": 1, "dormitory": 12}
    owner = [i for i, unit in enumerate(units) if unit[2] != "vacant" for _ in range(int(draw.integers(1, most[unit[2]])))]
    members = Table.from_records([(("no", "yes")[draw.integers(0, 2)],) for _ in owner], space.person)
    table = Table.from_records(units, space.household)
    held = Members(table=members, owner=np.array(owner))
    return space, Table(attributes=table.attributes, codes=table.codes, members=held)


def test_measurements_of_some_records_say_whose_they_are():
    """They are released as a stream, of which the words were those of all records."""
    table = Table.from_records([("a", "a1", "no"), ("a", "a2", "yes")], SMALL.attributes)
    filtered = Filtered(mechanism=persons(), where={"adult": ("yes",)})
    twice = Filtered(mechanism=filtered, where={"block": ("a1",)})
    for mechanism, words in ((filtered, ""), (twice, ", block in {a1}")):
        output = mechanism.run(table, SMALL, Run(source=SeededRandomness(1)))
        stream = output.streams["measurements"]
        known = stream.joined()
        assert known.attributes == stream.attributes
        assert stream.attributes[0].name == "unit"
        expected = {f"{name} where adult in {{yes}}{words}" for name in ("total", "adult")}
        assert set(known.attribute("query").values()) == expected
        where = {"adult": ("yes",), **({"block": ("a1",)} if words else {})}
        plain = persons().run(table.meeting(tuple(where.items())), SMALL, Run(source=SeededRandomness(1)))
        held = plain.streams["measurements"].joined()
        assert [row[:3] + row[4:] for row in held.records()] == [row[:3] + row[4:] for row in known.records()]
        assert [a.name for a in output.streams["released"].attributes] == ["state", "block", "adult"]


@pytest.mark.reference("B-A6")
@pytest.mark.reference("B-D25")
@pytest.mark.parametrize("seed", range(4))
def test_persons_and_units_keep_all_constraints(seed):
    space, table = town(seed)
    output = census().run(table, space, Run(source=SeededRandomness(seed)))
    units, people = output.main, output.streams["released-person"].joined()
    before = table.of_members()
    assert len(people) == len(before)
    for kinds in (("occupied", "vacant"), ("dormitory",)):
        one, two = (
            {
                b: sum(n for (block, kind), n in t.counts(["block", "kind"]).items() if block == b and kind in kinds)
                for b in ["a1", "a2", "a3"]
            }
            for t in (table, units)
        )
        assert one == two
    held, dormitories = people.counts(["block", "kind"]), units.counts(["block", "kind"])
    for block in ("a1", "a2", "a3"):
        assert held.get((block, "dormitory"), 0) >= dormitories.get((block, "dormitory"), 0)
        assert held.get((block, "vacant"), 0) == 0
    assert [entry["held"] for entry in output.report["constraints"]] == [True] * 6
    assert output.report["budget"]["allocated"] == {"person": "6", "household": "3"}


def test_a_run_is_a_function_of_its_seed_however_it_is_cut():
    space, table = town()

    class Cut(Embedded):
        parts = 7

    cut = Cut()
    first, second = (census().run(table, space, Run(source=SeededRandomness(3), workers=e)) for e in (Embedded(), cut))
    other = census().run(table, space, Run(source=SeededRandomness(4)))
    names = ["block", "kind"]
    assert first.main.counts(names) == second.main.counts(names)
    measured = [output.streams["measurements"].joined() for output in (first, second, other)]
    columns = [a.name for a in measured[0].attributes]
    assert columns == ["unit", "level", "node", "query", "kind", "adult", "value", "status"]
    drawn = [table.counts(columns) for table in measured]
    assert len(drawn[0]) == len(measured[0])  # no two cells have equal rows
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_run_goes_on_where_it_stopped():
    """After an interruption at the second table, what is there already is not drawn again."""
    space, table = town()
    whole, kept = census().run(table, space, Run(source=SeededRandomness(3))), Stages(2)
    with pytest.raises(KeyboardInterrupt):
        census().run(table, space, Run(source=SeededRandomness(3), checkpoints=kept))
    assert sorted(kept.stages) == ["1-1-household-state", "2-1-household-block"]
    kept.left = 2
    again = census().run(table, space, Run(source=SeededRandomness(3), checkpoints=kept))
    for name in ("released", "released-person"):
        first, second = (output.streams[name].joined() for output in (whole, again))
        assert first.counts(["block", "kind"]) == second.counts(["block", "kind"])


class Stages(Checkpoints):
    """Stages in a dictionary, of which every one is saved once; with `left` = 0 a stage more ends the run."""

    def __init__(self, left=1000):
        self.stages, self.left = {}, left

    def load(self, stage):
        return self.stages.get(stage)

    def save(self, stage, arrays):
        if not self.left:
            raise KeyboardInterrupt
        assert stage not in self.stages
        self.left -= 1
        self.stages[stage] = dict(arrays)


IN_COUNTY = ["c1", "c2", "c2", "c2", "c3"]
IN_TRACT = ["t2", "t1", "t2", "t4", "t5", "t1", "t3", "t2", "t1"]
TREE = [
    {"name": "state", "categories": ["a"]},
    {"name": "county", "categories": ["c1", "c2", "c3"], "within": "state", "parents": ["a"] * 3},
    {"name": "tract", "categories": [f"t{k}" for k in range(1, 6)], "within": "county", "parents": IN_COUNTY},
    # the blocks of a tract do not follow each other
    {"name": "block", "categories": [f"b{k}" for k in range(9)], "within": "tract", "parents": IN_TRACT},
]
QUERIES = [{"shares": ["1/3"] * 4}, {"attributes": ["adult"], "shares": ["2/3"] * 4}]
OF_BLOCKS = Marginal(attributes=["block"])
"""Blocks of 0 to 800 persons: answers need more than one byte."""
PEOPLE = [100 * k for k in range(9)]


def tree(most, checkpoints=None, workers=None, **changes):
    """The noisy answers and fitted counts of a run over four levels, in parts of `most` nodes, and how many parts each has."""
    done, _ = fitted_tree(most, checkpoints, workers, **changes)
    answers = [np.concatenate([*level.answers(size)]).tolist() for level, size in zip(done.levels, (1, 2, 3, 4), strict=True)]
    return answers, [level.whole().toarray().tolist() for level in done.levels], [len(level.parts) for level in done.levels]


def fitted_tree(most, checkpoints=None, workers=None, **changes):
    """The fitted table of such a run, and the number of its records."""
    table = {"rho": "2", "level_shares": ["1/4"] * 4, "queries": QUERIES}
    levels = ["state", "county", "tract", "block"]
    mechanism = TopdownByLevels(levels=levels, tables=[table], invariants=[POPULATION, OF_BLOCKS], **changes)
    space = UnorderedRecords(attributes=[*TREE, ADULT])
    draw = np.random.default_rng(7)
    county = dict(zip(TREE[2]["categories"], IN_COUNTY, strict=True))
    places = [("a", county[tract], tract, f"b{k}") for k, tract in enumerate(IN_TRACT) for _ in range(PEOPLE[k])]
    records = [(*place, ("no", "yes")[int(draw.integers(0, 2))]) for place in places]
    plan = mechanism.plan(space)
    true = plan.true({"person": Table.from_records(records, space.attributes).batches})
    kept = {} if checkpoints is None else {"checkpoints": checkpoints}
    run = Run(source=SeededRandomness(11), workers=workers or Embedded(), **kept)
    (done,) = plan.descended(plan.invariants(true), run, true=true, given=None, most=most)
    return done, len(records)


@pytest.mark.parametrize("changes", [{}, {"passes": [["total"]], "gap": "1/100"}])
def test_parts_do_not_change_what_is_drawn_and_fitted(changes):
    """One part for each level, some, and one for every parent, whose blocks do not follow each other.

    With three nodes in a part, the last three tracts have their parents in two parts.
    """
    *whole, one = tree(100, **changes)
    *some, two = tree(3, **changes)
    *each, three = tree(1, **changes)
    assert (one, two, three) == ([1] * 4, [1, 1, 3, 3], [1, 1, 3, 5])
    assert whole == some == each
    (*_, answers), (*_, counts) = whole
    assert [sum(cells) for cells in counts] == PEOPLE
    assert all(abs(total - people) < 20 for (total, *_), people in zip(answers, PEOPLE, strict=True))


@pytest.mark.parametrize("size", [1, 2, 4, 100])
def test_records_follow_the_numbers_of_their_nodes_and_not_the_hierarchy(size):
    """Blocks are read a few at a time from parts of one family each, which hold them in another order."""
    done, people = fitted_tree(1)
    *_, blocks = done.levels
    assert blocks.parts.order.tolist() != list(range(len(IN_TRACT)))
    read = [(node, counts) for nodes, cells in blocks.counts(size) for node, counts in zip(nodes, cells.toarray(), strict=True)]
    assert [node for node, _ in read] == list(range(len(IN_TRACT)))
    assert np.array_equal([counts for _, counts in read], blocks.whole().toarray())
    records = done.microdata(people).joined()
    assert len(records) == people == sum(PEOPLE)
    assert records.codes["block"].tolist() == sorted(records.codes["block"].tolist())
    held = {(f"b{node}", adult): int(count) for node, row in read for adult, count in zip(("no", "yes"), row, strict=True)}
    assert records.counts(["block", "adult"]) == {cell: count for cell, count in held.items() if count}
    assert {(tract, block) for _, _, tract, block, _ in records.records()} <= {(t, f"b{k}") for k, t in enumerate(IN_TRACT)}


def test_confidential_records_are_counted_in_ranges_of_nodes(monkeypatch):
    """Whatever the batches are and however few records are sorted together, in any order of the records."""
    mechanism, space = persons(), UnorderedRecords(attributes=[STATE, BLOCK, ADULT])
    draw = np.random.default_rng(3)
    records = [("a", f"a{draw.integers(1, 4)}", ("no", "yes")[draw.integers(0, 2)]) for _ in range(50)]
    table = Table.from_records(records, space.attributes)
    (plan,) = mechanism.plan(space).tables
    expected = np.zeros((3, 2), dtype=int)
    np.add.at(expected, (table.codes["block"], table.codes["adult"]), 1)
    for sorted_ in (1, 7, 20, 1000):
        monkeypatch.setattr(family, "SORTED", sorted_)
        for batch in (1, 8, 100):
            found = plan.cells.counted(lambda batch=batch: table.batches(batch))
            assert found.toarray().tolist() == expected.tolist()
            assert (found.data.dtype, found.indices.dtype) == (np.int32, np.int32)


def test_a_record_outside_its_place_is_found_in_a_later_batch():
    codes = {"state": np.array([0, 0, 1, 1, 0]), "block": np.array([0, 0, 1, 0, 1])}
    states = {"name": "state", "categories": ["a", "b"]}
    space = UnorderedRecords(
        attributes=[states, {"name": "block", "categories": ["a1", "b1"], "within": "state", "parents": ["a", "b"]}]
    )
    table = Table(attributes=space.attributes, codes=codes)
    with pytest.raises(TableError, match="row 4, column block=a1: does not lie in the state of its record, as 2 records"):
        family.check_nested(lambda: table.batches(2))


def test_a_limit_adds_up_in_the_levels_above():
    """The oracle adds up the bounds of the nodes; no bound stays none where some node has one unit."""
    space = UnorderedRecords(attributes=[*TREE, ADULT])
    (plan,) = (
        TopdownByLevels(
            levels=["state", "county", "tract", "block"], tables=[{**PERSONS, "level_shares": ["1/4"] * 4, "queries": QUERIES}]
        )
        .plan(space)
        .tables
    )
    counts, nodes = np.array([0, 2, 0, 1, 0, 0, 3, 0, 0]), np.arange(9)
    for most in (None, 0, 1, 10):
        limit = Limit(name="", cells=np.ones(2, dtype=bool), level=3, counts=counts, least=2, most=most)
        low, high = limit.bounds(nodes)
        for level in range(4):
            there = np.arange(plan.cells.geography.size(level))
            found = limit.at(plan.cells, level).bounds(there)
            added = [plan.cells.geography.summed(bound, 3, level) for bound in (low, high)]
            assert [bound.tolist() for bound in found] == [added[0].tolist(), np.minimum(added[1], family.UNBOUNDED).tolist()]
    assert attrs.evolve(limit, level=1, counts=np.ones(3, dtype=int)).at(plan.cells, 2) is None


def without(stream, dropped):
    """A stream without the first record that meets conditions, whose batches are those of the other streams."""

    def batches():
        left = 1
        for table in stream.batches():
            (places,) = np.nonzero(table._meets(dropped))
            kept = np.ones(len(table), dtype=bool)
            kept[places[:left]] = False
            left -= min(left, len(places))
            yield table.rows(kept)

    return TableStream(attributes=stream.attributes, records=len(stream) - 1, batches=batches)


def test_constraints_are_counted_on_the_released_records(monkeypatch):
    """A unit, a person of the state, or all persons of a dormitory are left out: the check says which constraint is broken."""
    monkeypatch.setattr(by_levels, "NODES_PER_PART", 2)
    space, table = town()
    mechanism = census()
    output = mechanism.run(table, space, Run(source=SeededRandomness(3)))
    before = {"household": table.batches, "person": table.batches_of_members}
    after = {"household": output.streams["released"], "person": output.streams["released-person"]}
    found = by_levels.held_constraints(mechanism, before, after)
    assert found == output.report["constraints"]
    assert [entry["counts"] for entry in found] == [1, 3, 3, 0, 3, 3]
    dropped = without(after["household"], [("kind", ["dormitory"])])
    with pytest.raises(PluginContractError, match=r"does not hold household by block where kind in \{dormitory\}"):
        by_levels.held_constraints(mechanism, before, {**after, "household": dropped})
    dropped = without(after["person"], [])
    with pytest.raises(PluginContractError, match="does not hold person by state"):
        by_levels.held_constraints(mechanism, before, {**after, "person": dropped})
    crowded = census(edits=[{"where": {"kind": ["dormitory"]}, "of_where": {"kind": ["dormitory"]}, "least": 50}])
    with pytest.raises(PluginContractError, match="does not hold person kind dormitory per household kind dormitory"):
        by_levels.held_constraints(crowded, before, after)


def test_nodes_that_are_many_and_numbered_have_no_texts():
    """The texts are those of the categories, also where other levels have more or fewer nodes."""
    few, many = (
        by_levels._NodeNames((Attribute(name="a", count=3), Attribute(name="b", count=n))) for n in (MOST_LISTED, MOST_LISTED + 1)
    )
    assert (type(few.attribute), type(many.attribute)) == (Attribute, NumberedTexts)
    listed = by_levels._NodeNames((Attribute(name="a", count=MOST_LISTED + 1), Attribute(name="b", categories=("x", "1"))))
    for names in (few, many, listed):
        assert [names.attribute.category(code) for code in names.codes(Attribute(name="a", count=3), 1, 3)] == ["1", "2"]
    assert [listed.attribute.category(code) for code in listed.codes(Attribute(name="b", categories=("x", "1")), 0, 2)] == [
        "x",
        "1",
    ]


def test_every_part_holds_whole_families():
    draw = np.random.default_rng(2)
    parents = [np.full(3, -1), draw.integers(0, 3, 20), draw.integers(0, 20, 200)]  # a node may have no children
    for most in (1, 7, 50, 1000):
        for level, parts in enumerate(parts_of(parents, most)):
            assert sorted(parts.order.tolist()) == list(range(len(parents[level])))
            held = [parts.nodes(part).tolist() for part in range(len(parts))]
            assert [node for nodes in held for node in nodes] == parts.order.tolist()
            assert all(held)
            for nodes in held:
                families = [node if not level else int(parents[level][node]) for node in nodes]
                assert families == list(itertools.chain.from_iterable([f] * families.count(f) for f in dict.fromkeys(families)))
                assert len(nodes) <= most or len(set(families)) == 1
            if level:
                above = parts_of(parents, most)[level - 1]
                assert (np.diff(above.holding(parents[level][parts.order])) >= 0).all(), "parts above are read in their order"
            where = [{n if not level else int(parents[level][n]) for n in nodes} for nodes in held]
            assert sum(map(len, where)) == len(set().union(*where))


@pytest.mark.parametrize("most", [100, 3, 1])
def test_a_run_goes_on_after_every_part(most):
    """Ended before each part is kept, a run goes on to the same results, and no part that is there is fitted again."""
    every = Stages()
    expected = tree(most, every)
    for finished in range(len(every.stages)):
        kept = Stages(finished)
        with pytest.raises(KeyboardInterrupt):
            tree(most, kept)
        assert len(kept.stages) == finished
        kept.left = len(every.stages) - finished
        assert tree(most, kept) == expected
        assert kept.left == 0


def test_a_run_that_has_all_parts_draws_nothing():
    class Idle(Embedded):
        def map(self, kernel, parts):
            assert not list(parts)
            return iter(())

    kept = Stages()
    assert tree(1, kept) == tree(1, kept, Idle())


KILLED = """
import os, sys
from pathlib import Path
from dpspec import installed
from dpspec.api import read
from dpspec.grammar.workers import Folder
from dpspec_release.draw import Options, draw

saved, save = [], Folder.save

def dying(self, stage, arrays):
    if len(saved) == 3:
        os._exit(9)
    save(self, stage, arrays)
    saved.append(stage)

Folder.save = dying
spec, table, out = map(Path, sys.argv[1:])
draw(read(spec), str(table), installed().registry, out, Options(seed=5, unverified=True))
"""


@pytest.mark.slow
def test_a_release_whose_process_ended_goes_on_to_the_same_files(tmp_path):
    """Three parts are on disk, in a folder of their owner alone; what is released are the bytes of an uninterrupted run."""
    from dpspec_release.draw import MEMORY_OF_PROCESS, Options, ReleasePlace, draw
    from dpspec_release.write import write
    from dpspec_tables.formats import Csv

    from dpspec import installed
    from dpspec.api import read
    from dpspec.grammar.tables import files_of

    document, registry = read(SAMPLE), installed().registry
    space, draws = document.spec.space, np.random.default_rng(3)
    blocks, kinds = draws.integers(0, 40, 60), draws.integers(0, 3, 60)
    homes = {"state": blocks * 0, "tract": blocks * 4 // 40, "block": blocks, "kind": kinds}
    owner = np.repeat(np.arange(60), np.where(kinds == 1, 0, 2))
    persons = {"adult": draws.integers(0, 2, len(owner)), "group": draws.integers(0, 3, len(owner))}
    members = Members(table=Table(attributes=space.person, codes=persons), owner=owner)
    table = tmp_path / "table"
    table.mkdir()
    for name, one in files_of("", Table(attributes=space.household, codes=homes, members=members)).items():
        Csv().write(one, table / f"{name}.csv", {})
    whole, out = tmp_path / "whole", tmp_path / "out"
    needed = MEMORY_OF_PROCESS + document.mechanism.memory_of_run(0, space)
    with pytest.raises(ReleaseError, match="what it counts of it, which take at least"):
        draw(document, str(table), registry, whole, Options(memory=needed - 1, unverified=True))
    assert not whole.exists()
    for place, resume in ((whole, False), (out, True)):
        if resume:
            ended = subprocess.run([sys.executable, "-c", KILLED, SAMPLE, table, out], check=False)
            folder = ReleasePlace(out, table).unfinished
            assert (ended.returncode, out.exists()) == (9, False)
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            assert len(list(folder.glob("*.npz"))) == 3
        options = Options(seed=5, unverified=True, resume=resume)
        write(draw(document, str(table), registry, place, options), registry, place)
    assert not folder.exists()
    assert {path.name: path.read_bytes() for path in out.iterdir()} == {path.name: path.read_bytes() for path in whole.iterdir()}


def test_a_run_states_the_memory_of_its_nodes_constraints_and_records():
    """One state and three blocks, of persons and of households; persons have two invariants and two edits, households two."""
    space, _ = town()
    fixed = census().memory_of_run(0, space)
    bounds = 3 * (2 + 2) + 3 * 2
    assert fixed == 10 * bounds + 16 * 2 * (1 + 3)
    assert census().memory_of_run(1000, space) == fixed  # records are not held


def test_parts_of_another_hierarchy_are_refused():
    kept = Stages()
    tree(100, kept)
    kept.stages["4-1-person-block"]["nodes"] = np.arange(9, dtype=np.int32)
    with pytest.raises(CheckpointError, match="other nodes in 4-1-person-block"):
        tree(100, kept)


def test_two_runs_without_checkpoints_share_nothing():
    """What a run keeps in memory is its own: a second one with another source draws afresh."""
    space, table = town()
    checkpoints = Run(source=SeededRandomness(1)).checkpoints
    one, two = (
        census().run(table, space, Run(source=SeededRandomness(seed), checkpoints=checkpoints)).streams["measurements"]
        for seed in (1, 2)
    )
    assert [*one.joined().records()] != [*two.joined().records()]


def test_an_empty_table_is_released_empty():
    space = UnorderedRecords(attributes=[STATE, BLOCK, ADULT])
    nobody = Table(attributes=space.attributes, codes={a.name: np.zeros(0, dtype=np.int64) for a in space.attributes})
    output = persons(POPULATION).run(nobody, space, Run(source=SeededRandomness(1)))
    assert len(output.main) == 0
    assert len(output.streams["measurements"]) == 3 + 9


# --- what it refuses -----------------------------------------------------------------------------------


def test_geography_that_is_not_nested_is_an_error():
    states = {"name": "state", "categories": ["a", "b"]}
    blocks = {"name": "block", "categories": ["a1", "b1"], "within": "state", "parents": ["a", "b"]}
    space = UnorderedRecords(attributes=[states, blocks, ADULT])
    codes = {"state": np.array([0, 1, 0]), "block": np.array([0, 1, 1]), "adult": np.array([0, 1, 1])}
    with pytest.raises(TableError, match="row 3, column block=b1: does not lie in the state"):
        persons().run(Table(attributes=space.attributes, codes=codes), space, Run(source=SeededRandomness(1)))
    apart = UnorderedRecords(attributes=[states, {"name": "block", "count": 2}, ADULT])
    with pytest.raises(IncompatibleBlocksError, match="does not lie within state"):
        persons().check(apart)


def test_infeasible_constraints_are_named():
    """Three dormitories, and an edit constraint that wants 100 persons in each: the state has not so many."""
    space, table = town()
    greedy = [EditConstraint(where={"kind": ["dormitory"]}, of_where={"kind": ["dormitory"]}, least=100)]
    with pytest.raises(InfeasibleConstraintsError, match=r"person by state.*dormitory") as caught:
        census(edits=greedy).run(table, space, Run(source=SeededRandomness(1)))
    assert "per household kind dormitory, at least" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"tables": [PERSONS]}, "unit"),
        ({"tables": [PERSONS, PERSONS]}, "one table for each"),
        ({"edits": [{"unit": "dog"}]}, "measured unit"),
        ({"edits": [{"unit": "household", "of_unit": "person"}, *EDITS]}, "bounded itself"),
        ({"tables": [PERSONS, {**UNITS, "level_shares": ["1"], "queries": [{"shares": ["1"]}]}]}, "one share for each level"),
    ],
)
def test_mechanisms_that_do_not_fit_together_are_refused(changes, text):
    with pytest.raises(ParameterError, match=text):
        census(**changes)


@pytest.mark.parametrize(
    ("mechanism", "text"),
    [
        (persons(HOUSING), "not measured"),
        (persons(Marginal(attributes=[], where={"block": ["a1"]})), "condition on geography"),
        (persons(FunctionInvariant(function=len, label="size")), "no marginal"),
        (persons(tables=[{**PERSONS, "queries": [{"attributes": ["age"], "shares": ["1", "1"]}]}]), "no such attribute"),
        (TopdownByLevels(levels=["adult", "block"], tables=[PERSONS]), "within adult"),
        (persons(tables=[{**PERSONS, "level_shares": ["0", "1"]}]), "asks nothing"),
    ],
)
def test_spaces_that_do_not_have_it_are_refused(mechanism, text):
    with pytest.raises(IncompatibleBlocksError, match=text):
        mechanism.check(SMALL)


# --- in a specification file -------------------------------------------------------------------------

HOUSING_UNITS = """
schema = 1
id = "housing-units-by-levels"
title = "Housing units of one small country, with the allocation of 2020"
[space]
type = "records"
unit = "household"
most = 1
attributes = [
  { name = "us", count = 1 },
  { name = "state", count = 1, within = "us" },
  { name = "county", count = 1, within = "state" },
  { name = "tract", count = 1, within = "county" },
  { name = "block-group", count = 1, within = "tract" },
  { name = "block", count = 2, within = "block-group" },
  { name = "occupancy", categories = ["occupied", "vacant"] },
]
[multiverse]
invariants = [{ type = "marginal", unit = "household", attributes = ["block"] }]
[input_divergence]
type = "hamming"
unit = "household"
[output_divergence]
type = "d-nor"
[budget]
rho = "7/100"
[mechanism]
type = "topdown-by-levels"
levels = ["us", "state", "county", "tract", "block-group", "block"]
allocation = ["2020-pl-housing-units"]
unit = "household"
invariants = [{ type = "marginal", unit = "household", attributes = ["block"] }]
"""


@pytest.mark.reference("K-N7")
def test_a_file_names_the_allocation_of_2020():
    from dpspec.extension.loader import installed
    from dpspec.specfile.reader import read_text

    document = read_text(HOUSING_UNITS, installed().registry)
    assert document.mechanism.rho(document.spec.space) == number("7/100")
    verdict = verify(document.mechanism, document.spec)
    assert verdict.outcome is Outcome.VERIFIED
    assert any(universe.is_tight for universe in verdict.universes)


# --- passes and gap ------------------------------------------------------------------------------


def test_a_release_in_passes_keeps_all_constraints_and_has_the_measurements_of_one_pass():
    """What is measured does not depend on how it is fitted, so the privacy is the same."""
    space, table = town(3)
    one, two = (
        mechanism.run(table, space, Run(source=SeededRandomness(5)))
        for mechanism in (census(), census(passes=[["total"], ["adult", "kind"]], gap="1/100000"))
    )
    assert [*one.streams["measurements"].joined().records()] == [*two.streams["measurements"].joined().records()]
    assert [check["held"] for check in two.report["constraints"]] == [True] * 6
    assert one.report["budget"] == two.report["budget"]
    assert max(level["largest_certified_gap"] for level in two.report["levels"]) <= 1e-5


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"passes": [["totals"]]}, "did you mean total"),
        ({"passes": [["total"], ["total"]]}, "twice"),
        ({"passes": [[]]}, "passes"),
        ({"gap": "0"}, "gap"),
        ({"gap": "2"}, "gap"),
    ],
)
def test_passes_and_gaps_that_mean_nothing_are_refused(changes, said):
    with pytest.raises(ParameterError, match=said):
        persons() if not changes else TopdownByLevels(levels=LEVELS, tables=[PERSONS], **changes)
