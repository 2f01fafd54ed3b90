"""Two methods with equal promises are never called equivalent without the claim status of both; and what ledgers prove."""

from __future__ import annotations

from pathlib import Path

import attrs

import dpspec as dp
from dpspec.api import compare, order_specs, read
from dpspec.base.exact import number
from dpspec.comparison.compare import Implication
from dpspec.comparison.composition import Part
from dpspec.report import comparison as pages, order

ROOT = Path(__file__).parents[2]
RIGHT = read(ROOT / "specs/randomised-response.dpspec.toml")
BROKEN = attrs.evolve(RIGHT, id="broken", claim=None, mechanism=dp.randomised_response(keep_probability="9/10"), miniatures=())
STATUS = "claim of A verified, claim of B refuted"


def test_equal_promises_of_a_right_and_a_broken_method() -> None:
    found = compare(RIGHT, BROKEN)
    assert found.relation is Implication.EQUIVALENT
    for text in (
        str(found),
        found.to_markdown(),
        found.to_dict()["headline"],
    ):
        assert STATUS in " ".join(text.split())
    assert STATUS in pages.blocks_figure(found, ("a", "b"), tuple(standing for _, standing in found.about)).svg


def test_an_order_names_the_claim_status_of_each() -> None:
    found = order_specs([RIGHT, BROKEN])
    (members,) = found.classes
    assert order.class_title(found, members) == "randomised-response (claim verified) = broken (claim refuted)"
    assert [one["claim"] for one in order.order_data(found, [RIGHT, BROKEN])["specifications"]] == ["verified", "refuted"]


def test_a_ledger_adds_proved_constants_beside_promises() -> None:
    files = [ROOT / f"specs/census-2020/pl-{name}.dpspec.toml" for name in ("persons", "housing-units")]
    found = dp.ledger(*files, like=ROOT / "specs/census-2020/pl-together-per-household.dpspec.toml")
    assert found.spec.budget.uniform() == number("256.07")
    assert found.proved is not None
    assert found.proved.spec.budget.uniform() == number("290945920021/1679360300")
    assert "173.248" in str(found)


def test_a_constant_counts_only_where_the_claim_itself_is_verified() -> None:
    survey = RIGHT.spec
    assert Part(id="survey", spec=survey).proved == survey
    assert dp.ledger(survey, survey).proved is None


def test_a_status_that_was_found_of_made_up_blocks_says_so() -> None:
    text = str(compare(read(ROOT / "specs/deployments/linkedin-race.dpspec.toml"), RIGHT))
    about = "the claim is verified: constant 9/2, the whole space; about the space and the mechanism of the file"
    assert about in " ".join(text.split())
