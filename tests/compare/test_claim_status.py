"""Two methods with equal promises are never called equivalent without the claim status of both; and what ledgers prove."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

import dpspec as dp
from dpspec.api import compare, order_specs, read
from dpspec.base.exact import number
from dpspec.base.words import Word
from dpspec.comparison.compare import Implication
from dpspec.comparison.composition import Part
from dpspec.grammar.mechanism import RELEASES_ITS_LAW
from dpspec.report import comparison as pages, order
from dpspec.report.audience import ENGLISH, audience_data, catalogue
from dpspec.verifier.law_check import FEW_CATEGORIES, FEW_COMBINATIONS
from dpspec.verifier.standing import Standing, standing

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
    about = (
        "the claim is verified under assumptions: constant 9/2, the whole space; about the space and the mechanism of the file"
    )
    assert about in " ".join(text.split())


FEWER = "the data have fewer than 922 records"


@pytest.fixture
def assuming(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdicts on randomised response that rest on an assumption of its own."""
    monkeypatch.setattr(type(RIGHT.mechanism), "assumes", (RELEASES_ITS_LAW, FEWER))


@pytest.mark.usefixtures("assuming")
def test_a_status_with_assumptions_is_never_stated_without_them() -> None:
    own = standing(RIGHT)
    assert own.assumptions[:2] == (RELEASES_ITS_LAW, FEWER)
    assert own.premises == (FEWER,)
    assert own.sentence.startswith("the claim is verified under assumptions: ")
    path = ROOT / "specs/randomised-response.dpspec.toml"
    answers = [compare(RIGHT, BROKEN), dp.ledger(RIGHT, RIGHT), dp.risk(RIGHT)]
    answers += [dp.explain(path), dp.explain(path, audience="technical")]
    for answer in answers:
        text = " ".join(str(answer).split())
        assert "verified under assumptions" in text
        assert f"assumes: {FEWER}" in text
    found = compare(RIGHT, BROKEN)
    assert "claim of A verified under assumptions, claim of B refuted under assumptions" in found.to_dict()["headline"]
    assert found.to_dict()["standing"]["left"]["assumptions"] == [*own.assumptions]
    total = dp.ledger(RIGHT, RIGHT)
    assert "verified by a derivation under assumptions" in " ".join(str(total).split())
    assert total.to_dict()["together"]["standing"]["assumptions"] == [*own.assumptions]
    (first, _) = order.statuses(order_specs([RIGHT, BROKEN]))
    assert first == "verified under assumptions"


@pytest.mark.usefixtures("assuming")
@pytest.mark.parametrize("language", list(catalogue()))
def test_the_public_reads_that_a_result_rests_on_assumptions(language: str) -> None:
    said = catalogue()[language]["assumes"]["some"]
    data = audience_data(RIGHT, "public", standing(RIGHT), language)
    assert said in data["sentences"][0]
    assert said in data["paragraphs"][0]


@pytest.mark.parametrize("of_few", [(), (FEW_CATEGORIES,), (FEW_COMBINATIONS,)])
def test_what_the_author_of_a_mechanism_states_is_no_premise(of_few: tuple[str, ...]) -> None:
    own = Standing(word=Word.VERIFIED, reason="constant 1", assumptions=(RELEASES_ITS_LAW, *of_few))
    assert not own.is_conditional
    assert own.sentence == "the claim is verified: constant 1"
    assert catalogue()[ENGLISH]["assumes"]["some"] not in audience_data(RIGHT, "public", own)["paragraphs"][0]
