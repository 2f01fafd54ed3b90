"""One secret at full size: which measurements react, and what the noise of 2020 says about it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from dpspec_census.configuration_2020 import rho_star

import dpspec as dp
from dpspec.base.errors import AttackerMisfitError, NoFormulaError
from dpspec.grammar.mechanism import stated_structure
from dpspec.risks.mechanism_pairs import pair_of_views
from dpspec.verifier.secrets import may_differ, worst_change
from reproductions.scenarios import CASES

ROOT = Path(__file__).parents[2]
PERSONS = ROOT / "specs" / "census-2020" / "pl-persons.dpspec.toml"


@pytest.fixture(scope="module")
def persons():
    return dp.read(PERSONS)


def rho_of(document, secret, within=None) -> Fraction:
    found = worst_change(document.mechanism, document.spec, secret, within)
    structure = stated_structure(document.mechanism, document.spec.space)
    assert structure is not None
    pair = pair_of_views(structure, document.spec, *found.pair)
    assert pair is not None
    assert found.is_worst
    return pair.concentration().upper.as_fraction()


@pytest.mark.parametrize(("case", "attribute"), [("C", "cenrace"), ("D", "hispanic")])
def test_an_attribute_moves_the_queries_that_name_it(persons, case: str, attribute: str) -> None:
    assert rho_of(persons, [attribute]) == CASES[case].rho


@pytest.mark.parametrize(
    ("case", "secret", "within"),
    [
        ("A", ["block"], "block-group"),
        ("B", ["block"], "tract"),
        ("E", ["cenrace", "block"], "tract"),
        ("F", ["votingage", "block"], "block-group"),
        ("G", ["votingage", "cenrace", "block"], "block-group"),
        ("H", ["votingage", "hispanic", "block"], "block-group"),
    ],
)
def test_a_move_moves_all_of_its_levels_but_housing_units(persons, case: str, secret: list[str], within: str) -> None:
    """The published scenarios also count the query about occupied housing units, which the file of persons does not ask."""
    unit_queries = [(query, level) for query, level in CASES[case].reacting() if query.unit == "household"]
    spent = sum((rho_star(query, level) for query, level in unit_queries), Fraction(0))
    assert rho_of(persons, secret, within) == CASES[case].rho - spent
    assert spent > 0


def test_a_secret_of_a_person_moves_no_table_of_households(persons) -> None:
    """With both allocations, tables of housing units are not determined by persons: they are equal where one race differs."""
    together = dp.read(ROOT / "specs" / "census-2020" / "pl-together-per-person.dpspec.toml")
    assert rho_of(together, ["cenrace"]) == rho_of(persons, ["cenrace"]) == CASES["C"].rho
    moved = worst_change(together.mechanism, together.spec, ["block"], "tract")
    assert not moved.is_worst  # a household of one may move with its person, so this is no largest change
    found = pair_of_views(stated_structure(together.mechanism, together.spec.space), together.spec, *moved.pair)
    assert found.concentration().upper.as_fraction() <= CASES["B"].rho


def test_race_at_three_levels(persons) -> None:
    report = dp.risk(persons, secret=["cenrace"])
    rows = {(row.quantity, dict(row.at).get("level")): row for row in report.rows}
    powers = [rows["power against the secret attributes", level].own[0].value for level in ("1/100", "1/20", "1/10")]
    assert [round(float(value.lower), 4) for value in powers] == [0.1828, 0.4116, 0.5556]
    assert all(float(value.upper) - float(value.lower) < 1e-4 for value in powers)
    (spent,) = rows["rho of the answers that react", None].own
    assert round(float(spent.value.upper), 6) == 1.010290
    allowed = rows["power against the secret attributes", "1/20"].worst[0].value.upper
    assert round(float(allowed), 4) == 0.9343
    assert not report.exceeded


def test_the_whole_record_at_three_levels(persons) -> None:
    report = dp.risk(persons, "tester", levels=["1/100", "1/20", "1/10"])
    own = [row.own[0] for row in report.rows if row.quantity == "power" and row.own and not row.own[0].is_certainty]
    assert [said.value.lower.decimal(4) for said in own] == ["0.3209", "0.5856", "0.7189"]


def test_two_categories(persons) -> None:
    report = dp.risk(persons, secret=["hispanic"], change=["no", "yes"])
    assert report.rows[0].own[0].relation.value == "at least"


@pytest.mark.parametrize(
    ("secret", "within", "change", "match"),
    [
        (["race"], None, (), "secret"),
        (["block"], "cenrace", (), "within"),
        (["tract"], "block", (), "within"),
        (["cenrace"], None, ("a", "b"), "change"),
    ],
)
def test_what_does_not_fit(persons, secret: list[str], within: str | None, change: tuple[str, ...], match: str) -> None:
    with pytest.raises(AttackerMisfitError, match=match):
        dp.risk(persons, secret=secret, within=within, change=change)


def test_a_swap_states_no_structure() -> None:
    with pytest.raises(NoFormulaError, match="does not state"):
        dp.risk(ROOT / "specs" / "swapping-derangement.dpspec.toml", secret=["county"])


def test_what_follows_from_a_secret(persons) -> None:
    known = {attribute.name: attribute for attribute in persons.spec.space.attributes_of("person")}
    assert may_differ(["block"], "tract", known) == ("block-group", "block")
    assert may_differ(["tract"], "state", known) == ("county", "tract", "block-group", "block")
    assert may_differ(["hhgq"], None, known) == ("hhinstlevels", "hhgq")


UNREAD = dp.spec(
    space=dp.records(sex=["f", "m"], illness=["yes", "no"]), distance="hamming", standard="pure", epsilon=2,
    invariants=[dp.marginal(attributes="sex")],
)  # fmt: skip
BY_SEX = dp.laplace(queries=[dp.marginal(attributes="sex")], sensitivity=2, epsilon=1, neighbours="replace-one")


ASKED = [{"secret": ["illness"]}, {"secret": ["illness"], "change": ["yes", "no"]}, {"exchange": ["sex"]}]


@pytest.mark.parametrize("asked", ASKED)
def test_what_no_published_fact_mentions_is_not_known_for_certain(asked) -> None:
    """Such a secret differed in no two datasets, or ended in a KeyError; an exchange that changes no table was certain."""
    rows = dp.risk(UNREAD, mechanism=BY_SEX, **asked).rows
    powers = {dict(row.at)["level"]: row for row in rows if row.quantity.startswith("power")}
    assert {level: row.own[0].value.lower for level, row in powers.items()} == {level: dp.number(level) for level in powers}
    assert not any(said.is_certainty for row in rows for said in row.worst)
    assert {dict(row.at)["candidates"] for row in rows} == {"left open by what is published"}


def test_a_secret_that_is_published_is_an_error_that_names_the_table() -> None:
    with pytest.raises(dp.DpspecError, match=r"they differ in person by sex: what is published distinguishes them"):
        dp.risk(UNREAD, mechanism=BY_SEX, secret=["sex"])


def test_an_exchange_that_a_table_tells_apart_is_known_for_certain() -> None:
    tied = dp.spec(
        space=dp.records(sex=["f", "m"], illness=["yes", "no"], age=3), distance="hamming", standard="pure", epsilon=2,
        invariants=[dp.marginal(attributes=["sex", "illness"])],
    )  # fmt: skip
    rows = dp.risk(tied, mechanism=BY_SEX, exchange=["sex"]).rows
    sides = {"distinguished by what is published", "left open by what is published"}
    assert {dict(row.at)["candidates"] for row in rows} == sides


@pytest.mark.parametrize(("secret", "within"), [("colour", None), ("county", "tenure")])
def test_names_are_checked_before_a_mechanism_without_structure_is_blamed(secret: str, within: str | None) -> None:
    with pytest.raises(AttackerMisfitError, match=within or secret):
        dp.risk(ROOT / "specs" / "swapping-1940-massachusetts.dpspec.toml", secret=[secret], within=within)
