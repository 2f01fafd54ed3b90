"""Recodings: what they publish, what is true of them, and what they refuse."""

from __future__ import annotations

from collections import Counter

import attrs
import numpy as np
import pytest
from dpspec_census.disclosure import BottomCoding, Coarsening, TopCoding
from dpspec_census.disclosure.tables import RecodingGapError, RecodingOverlapError, UnknownCategoryError

from dpspec import Outcome
from dpspec.base.errors import IncompatibleBlocksError, ReleaseError
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.records import Households, OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar.tables import Members, Table
from dpspec.grammar.workers import Run
from dpspec.verifier.entry import verify_claim

AGE = Attribute(name="age", categories=("child", "adult", "old", "oldest"))
SEX = Attribute(name="sex", categories=("f", "m"))
SPACE = UnorderedRecords(attributes=(AGE, SEX), most=3)
GROUPS = {"young": ["child", "adult"], "aged": ["old", "oldest"]}
GROUP_OF = {"child": "young", "adult": "young", "old": "aged", "oldest": "aged"}
SOURCE = SeededRandomness(1)


def mechanisms():
    return [
        Coarsening(recodings=[{"attribute": "age", "groups": GROUPS}]),
        Coarsening(dropped=["sex"]),
        TopCoding(column="age", top="old"),
        BottomCoding(column="age", bottom="adult"),
    ]


def by_hand(mechanism, record):
    """What becomes of one record, written out once more."""
    age, sex = record
    if isinstance(mechanism, TopCoding):
        return ("old or more" if age in ("old", "oldest") else age, sex)
    if isinstance(mechanism, BottomCoding):
        return ("adult or less" if age in ("child", "adult") else age, sex)
    return (GROUP_OF[age], sex) if mechanism.recodings else (age,)


@pytest.mark.parametrize("mechanism", mechanisms(), ids=str)
def test_the_outcome_is_the_file_of_recoded_records(mechanism):
    for x in SPACE.datasets():
        (outcome,) = mechanism.law(x, SPACE).support
        assert Counter(outcome) == Counter(by_hand(mechanism, record) for record in x)


@pytest.mark.reference("B-T10")
@pytest.mark.parametrize("mechanism", mechanisms(), ids=str)
def test_budget_0_where_the_output_is_an_invariant_and_none_elsewhere(mechanism):
    zero, infinite = (verify_claim(mechanism, claim.spec) for claim in mechanism.claims(SPACE))
    assert (zero.outcome, infinite.outcome) == (Outcome.VERIFIED, Outcome.UNDECIDED)  # every mechanism satisfies the second
    assert zero.constant.upper == 0
    assert len(zero.vacuous) < len(zero.universes)
    assert infinite.constant.lower.is_infinite


@pytest.mark.slow
def test_the_universes_are_the_level_sets_of_the_coarse_table():
    mechanism = Coarsening(recodings=[{"attribute": "age", "groups": GROUPS}])
    universes = mechanism.own_universes()
    tables = {x: Counter((GROUP_OF[age], sex) for age, sex in x) for x in SPACE.datasets()}
    for x, table in tables.items():
        for y, other in tables.items():
            assert universes.share_universe(x, y, SPACE) == (table == other)


@pytest.mark.parametrize("mechanism", mechanisms(), ids=str)
def test_a_million_records_are_recoded_as_one_is(mechanism):
    codes = {"age": SOURCE.below(4, 1_000_000), "sex": SOURCE.below(2, 1_000_000)}
    table = Table(attributes=(AGE, SEX), codes=codes)
    released = mechanism.release(table, UnorderedRecords(attributes=(AGE, SEX)), SOURCE)
    names = [a.name for a in released.attributes]
    expected = Counter()
    for record, count in table.counts(["age", "sex"]).items():
        expected[by_hand(mechanism, record)] += count
    assert released.counts(names) == expected
    assert list(released.records()) == list(mechanism.release(in_another_order(table), SPACE, SOURCE).records())


def in_another_order(table):
    order = SOURCE.permutation(len(table))
    return table.replace({name: column[order] for name, column in table.codes.items()})


@pytest.mark.parametrize(("unit", "rows"), [("household", [("b",), ("other",)]), ("person", [("b", "m"), ("other", "f")])])
def test_households_are_recoded_without_their_persons(unit, rows):
    """The persons of recoded households are in no outcome of the law, and were released as they are."""
    block, sex = Attribute(name="block", categories=("a", "b")), Attribute(name="sex", categories=("f", "m"))
    space = Households(household=(block,), person=(sex,), most=2, members=1)
    mechanism = Coarsening(recodings=[{"attribute": "block", "groups": {"b": ["b"], "other": ["a"]}}], unit=unit)
    persons = Members(table=Table.from_records([("f",), ("m",)], (sex,)), owner=np.array([0, 1]))
    table = attrs.evolve(Table.from_records([("a",), ("b",)], (block,)), members=persons)
    (released,) = mechanism.run(table, space, Run(source=SOURCE)).tables.values()
    assert released.members is None
    assert sorted(released.records()) == rows
    law = mechanism.law(((("a",), (("f",),)), (("b",), (("m",),))), space)
    assert law.support == (tuple(rows),)


def test_an_attribute_that_others_lie_within_may_be_recoded():
    county = Attribute(name="county", categories=("a", "b"))
    tract = Attribute(name="tract", count=4, within="county")
    space = UnorderedRecords(attributes=(county, tract), most=2)
    mechanism = Coarsening(recodings=[{"attribute": "county", "groups": {"all": ["a", "b"]}}])
    table = Table(attributes=(county, tract), codes={"county": np.array([0, 1]), "tract": np.array([1, 2])})
    released = mechanism.release(table, space, SOURCE)
    assert released.counts(["county", "tract"]) == {("all", "1"): 1, ("all", "2"): 1}
    assert mechanism.law((("a", "1"), ("b", "2")), space).support == ((("all", "1"), ("all", "2")),)


@pytest.mark.parametrize(
    ("groups", "error", "text"),
    [
        ({"young": ["child"], "aged": ["old", "oldest"]}, RecodingGapError, "adult.*leaves a category out"),
        ({**GROUPS, "unborn": ["foetus"]}, UnknownCategoryError, "foetus.*names no category"),
        ({**GROUPS, "all": ["old"]}, RecodingOverlapError, "old.*names a category twice"),
    ],
)
def test_a_recoding_takes_every_category_once(groups, error, text):
    with pytest.raises(error, match=text):
        Coarsening(recodings=[{"attribute": "age", "groups": groups}]).check(SPACE)


@pytest.mark.parametrize("mechanism", [TopCoding(column="age", top="od"), BottomCoding(column="age", bottom="od")], ids=str)
def test_the_end_of_a_coding_is_a_category(mechanism):
    with pytest.raises(UnknownCategoryError, match="did you mean old"):
        mechanism.check(SPACE)


@pytest.mark.reference("B-S8")
def test_other_bad_recodings():
    with pytest.raises(IncompatibleBlocksError, match="leaves out every attribute"):
        Coarsening(dropped=["age", "sex"]).check(SPACE)
    with pytest.raises(IncompatibleBlocksError, match="names an attribute twice"):
        Coarsening(dropped=["age", "age"]).check(SPACE)
    with pytest.raises(IncompatibleBlocksError, match="did you mean age"):
        Coarsening(dropped=["ag"]).check(SPACE)
    with pytest.raises(IncompatibleBlocksError, match="ordered records"):
        Coarsening(dropped=["age"]).check(OrderedRecords(attributes=(AGE, SEX)))
    ages = Table(attributes=(AGE,), codes={"age": np.zeros(1, dtype=int)})
    with pytest.raises(ReleaseError, match="attributes of a person"):
        TopCoding(column="age", top="old").release(ages, SPACE, SOURCE)
