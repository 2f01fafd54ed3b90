"""The catalogue of deployments: each file says who published what and where each block is from, and ends as it says.

What a file records about its claim is about the mechanism that it names. A step outside of the guarantee leaves the release
undecided whatever the mechanism keeps, and where nothing was checked nothing ever *holds*.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from dpspec.base.words import Word
from dpspec.extension import installed
from dpspec.specfile import SpecDocument, check_ids, read, read_text, spec_files, to_toml
from dpspec.specfile.deployment import BLOCKS
from dpspec.verifier.document import FileReport, verify_document

FOLDER = Path(__file__).parents[2] / "specs" / "deployments"
REGISTRY = installed().registry
DOCUMENTS = {path.name.split(".")[0]: read(path, REGISTRY) for path in spec_files(FOLDER)}
EACH = pytest.mark.parametrize("name", DOCUMENTS)

ENDS = {"verified": {Word.HOLDS, Word.DERIVED}, "refuted": {Word.RECORDED}, "undecided": {Word.UNDECIDED, Word.UNCHECKED}}
"""The verdict on file to how `dpspec verify` may end, where all steps are counted."""


@cache
def judged(name: str) -> FileReport:
    return verify_document(DOCUMENTS[name], registry=REGISTRY)


def numbers(name: str) -> dict[str, tuple[str, str | None]]:
    """What each expectation is about, to the number as printed and as corrected."""
    return {
        e.what: (e.printed.plain(), None if e.corrected is None else e.corrected.plain()) for e in DOCUMENTS[name].expectations
    }


def names_a_mechanism(document: SpecDocument) -> bool:
    """Whether there is something to judge: a mechanism, or one of several that a secret number tells apart."""
    return document.mechanism is not None or document.secret is not None


# --- every file ------------------------------------------------------------------------------------


def test_files_are_named_after_their_ids() -> None:
    assert [name for name, document in DOCUMENTS.items() if document.id != name] == []
    check_ids(tuple(DOCUMENTS.values()))


@EACH
def test_it_says_who_published_what_and_where_each_block_is_from(name: str) -> None:
    document = DOCUMENTS[name]
    assert document.deployment is not None
    assert document.sources
    told = {origin.block for origin in document.provenance}
    assert told == set(BLOCKS) - (set() if names_a_mechanism(document) else {"mechanism"})
    cited = {source for origin in document.provenance for source in origin.source}
    assert {source.id for source in document.sources} >= cited


@EACH
def test_it_is_written_and_read_again(name: str) -> None:
    assert read_text(to_toml(DOCUMENTS[name], REGISTRY), REGISTRY) == DOCUMENTS[name]


@pytest.mark.spread(0, slow=40)
@EACH
def test_it_ends_as_it_says(name: str) -> None:
    document, found = DOCUMENTS[name], judged(name)
    assert document.claim is not None
    verdict = document.claim.verdict
    assert found.word in ENDS["undecided" if document.unaccounted and verdict == "verified" else verdict]


@pytest.mark.slow
@EACH
def test_nothing_holds_where_nothing_was_checked(name: str) -> None:
    document = DOCUMENTS[name]
    if not names_a_mechanism(document):
        assert document.claim is not None
        assert document.claim.verdict == "undecided"
        assert judged(name).word in ENDS["undecided"]


@EACH
def test_every_printed_number_is_recomputed(name: str) -> None:
    for expectation in DOCUMENTS[name].expectations:
        assert expectation.is_met_by(expectation.value(DOCUMENTS[name].spec)) is True, expectation.what


def test_what_is_false_as_it_was_written_stands_beside_what_is_true() -> None:
    """`NAME-as-written` beside `NAME`, or `NAME` beside `NAME-with-delta`: one name begins the other, and is not refuted."""
    verdicts = {name: document.claim.verdict for name, document in DOCUMENTS.items() if document.claim is not None}
    for name in (name for name, verdict in verdicts.items() if verdict == "refuted"):
        beside = [one for one in verdicts if f"{name}-".startswith(f"{one}-") or one.startswith(f"{name}-")]
        assert {verdicts[one] for one in beside} & {"verified", "undecided"}, f"{name}: no file with what could be said"


# --- what the catalogue shows -----------------------------------------------------------------------


def test_the_budgets_are_the_printed_ones() -> None:
    """Of the releases whose structure is published, and of some of the others."""
    printed = {
        "us-2020-pl-persons": "2.56", "us-2020-pl-housing-units-as-printed": "0.07", "us-2020-dhc-persons": "4.96",
        "us-2020-dhc-units": "7.7", "us-2020-ddhc-a": "19.776", "us-2020-sdhc": "2.515", "us-lodes-onthemap": "8.6",
        "us-pseo": "3", "us-opportunity-atlas": "8", "apple-emoji": "4", "apple-health-types": "2", "apple-lookup-hints": "4",
        "apple-safari-autoplay": "8", "apple-safari-energy": "4", "apple-quicktype": "16", "enpa": "8", "google-mobility": "2.64",
        "google-symptoms": "1.68", "google-vaccination": "2.19", "google-urban-mobility": "0.66", "google-eie": "2",
        "google-gboard-spanish": "0.81", "google-gboard-oov": "10", "google-gboard-oov-central": "0.32", "google-shopping": "1",
        "google-trends": "2", "chrome-attribution-click": "14", "chrome-attribution-view": "14",
    }  # fmt: skip
    budgets = {name: DOCUMENTS[name].spec.budget.uniform() for name in printed}
    assert {name: budget and budget.plain() for name, budget in budgets.items()} == printed


def test_one_list_prints_two_conversions() -> None:
    """Epsilons at delta = 1e-5 in the list are the tail bound of the rho beside them, to all digits, but for one."""
    found = {
        e.printed.plain()
        for document in DOCUMENTS.values()
        for e in document.expectations
        if type(e.route).name == "zcdp-to-approximate-bun-steinke" and e.corrected is None
    }
    assert found >= {"19.46", "25.87", "49.21", "45.68", "12.74", "34.92", "0.72", "0.41", "1.69", "10.61", "0.69"}
    odd = numbers("us-2020-pl-persons")
    assert odd["epsilon at delta = 1e-5 of persons and units together, as the list prints it"] == ("13.64", None)
    assert odd["the same by the formula of its other numbers"] == ("13.64", "13.09")


def test_three_formulas_in_one_census() -> None:
    routes = {
        name: {type(e.route).name for e in DOCUMENTS[name].expectations if e.parameter == "epsilon"}
        for name in ("us-2020-pl-housing-units", "us-2020-dhc-persons", "us-2020-ddhc-a")
    }
    assert routes == {
        "us-2020-pl-housing-units": {"zcdp-to-approximate-cks"},
        "us-2020-dhc-persons": {"zcdp-to-approximate", "zcdp-to-approximate-bun-steinke"},  # the agency, the list
        "us-2020-ddhc-a": {"zcdp-to-approximate-bun-steinke"},
    }


def test_sums_that_are_no_sums() -> None:
    assert numbers("google-symptoms")["normalisation at three levels"] == ("0.042", "0.021")
    assert numbers("us-2020-dhc-persons")["rho of the demographic file as the registry prints it"] == ("15.29", "12.66")


def test_one_guarantee_has_two_accounts() -> None:
    """1.453 belongs to mu = 0.376, whose rho is not the one beside it; scale 10 stands beside both 0.1 and 0.9."""
    assert ("0.0728", "0.070688") in numbers("meta-urls").values()
    assert ("0.9", "0.1") in numbers("wikimedia-russia").values()
    assert ("0.843", "4.7203") in numbers("ohmconnect").values()


def test_what_practice_refuted_is_refuted() -> None:
    """Counts up to 5 redacted, then rounded to 5: a published 5 is 6 or 7. With 7 in the place of 5 nothing more is told."""
    assert judged("opensafely-old-rule").word is Word.RECORDED
    assert judged("opensafely").word is Word.HOLDS
    assert judged("sleepcycle-delphi-as-written").word is Word.RECORDED
    assert judged("sleepcycle-delphi").word is Word.HOLDS


def test_at_least_eighty_deployments_are_in_the_catalogue() -> None:
    products = {(*d.deployment.publisher, d.deployment.product) for d in DOCUMENTS.values() if d.deployment is not None}
    assert len(products) >= 80


def test_a_rounded_number_is_no_bound() -> None:
    """rho = 0.07 is printed, the scale in the code spends 0.07494; the epsilon beside it belongs to the second."""
    printed = numbers("us-2020-pl-housing-units")
    assert printed["the same from the printed rho"] == ("2.47", "2.387")
    assert judged("us-2020-pl-housing-units").word is Word.HOLDS
    assert judged("us-2020-pl-housing-units-as-printed").word is Word.RECORDED


def test_the_rates_of_chrome() -> None:
    """k/(k - 1 + e^14) for 2,925 and for 3 states."""
    for name, states, printed in (("click", 2925, "0.0024"), ("view", 3, "2.5e-6")):
        document = DOCUMENTS[f"chrome-attribution-{name}"]
        assert document.spec.space.attributes[0].size == states  # type: ignore[attr-defined]
        assert [one for one, _ in numbers(document.id).values()] == [printed]
        assert judged(document.id).word is Word.HOLDS


@pytest.mark.slow
def test_what_is_proved_at_full_size_is_tight() -> None:
    """Where the whole structure is published the constant is the budget itself: nothing is promised in vain."""
    for name in ("us-2020-dhc-persons", "us-2020-dhc-units", "google-mobility-one-day", "chrome-attribution-click"):
        report = judged(name).obligations[0].verdict
        assert report is not None
        (universe,) = report.universes
        assert universe.constant is not None
        assert universe.constant.lower == universe.constant.upper == universe.bound
