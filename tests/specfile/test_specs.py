"""The specifications of the repository: every printed number is recomputed, every claim has a verdict on record."""

import re
from fractions import Fraction
from pathlib import Path

import attrs
import pytest

from dpspec.extension import installed
from dpspec.specfile import SpecDocument, check_ids, read, spec_files

SPECS = Path(__file__).parents[2] / "specs"
DOCUMENTS = {path.name.split(".")[0]: read(path, installed().registry) for path in spec_files(SPECS)}


CLAIMED = [read(path, installed().registry) for path in spec_files(SPECS / "swapping-2020")]


def named(*prefixes: str) -> list[SpecDocument]:
    return [document for name, document in DOCUMENTS.items() if name.startswith(prefixes)]


def is_small(document: SpecDocument) -> bool:
    """Whether every pair of datasets can be compared, so that no miniature is needed."""
    size = document.spec.space.cardinality()
    return size is not None and size <= 4096


def printed(document: SpecDocument, parameter: str) -> list[str]:
    return [e.printed.decimal(6) for e in document.expectations if e.parameter == parameter]


@pytest.mark.reference("B-O1", "B-O2", "B-O3", "B-O4", "B-O5", "B-O6", "B-O7", "B-O13", "B-O15", "B-O16", "B-O17")
@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_every_expectation_is_met_by_its_route(document: SpecDocument) -> None:
    for expectation in document.expectations:
        assert expectation.is_met_by(expectation.value(document.spec)) is True, expectation.what


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_an_expectation_can_be_missed(document: SpecDocument) -> None:
    """No tolerance is so wide that rho wrong by 0.02, or epsilon wrong by 0.25, would pass."""
    for expectation in document.expectations:
        if expectation.printed.root == 2:
            wrong = expectation.printed * Fraction(101, 100)
        else:
            wrong = expectation.printed + (Fraction(1, 50) if expectation.parameter == "rho" else Fraction(1, 4))
        missed = attrs.evolve(expectation, printed=wrong)
        assert missed.is_met_by(missed.value(document.spec)) is False, expectation.what


def test_the_file_is_named_after_its_id_and_has_a_source() -> None:
    assert [name for name, document in DOCUMENTS.items() if document.id != name] == []
    assert [name for name, document in DOCUMENTS.items() if "document" not in dict(document.source)] == []
    judged = {
        name: {
            document.mechanism is not None or bool(document.miniatures),
            document.claim is not None,
            bool(document.miniatures) or (document.claim is not None and is_small(document)),
        }
        for name, document in DOCUMENTS.items()
    }
    assert [name for name, answers in judged.items() if len(answers) > 1] == []


def test_what_the_printed_numbers_of_swapping_rest_on_is_claimed_by_universe() -> None:
    """The printed number is a promise without a mechanism: no swap keeps it where a stratum is larger (B-S6)."""
    claimed = {document.id: document for document in CLAIMED}
    assert set(claimed) == {f"{document.id}-by-universe" for document in named("swapping-2020-")}
    for document in named("swapping-2020-"):
        other = claimed[f"{document.id}-by-universe"]
        assert (document.claim, document.mechanism) == (None, None)
        assert other.claim is not None
        assert other.claim.verdict == "verified"
        for block in ("space", "multiverse", "input_divergence", "output_divergence"):
            assert getattr(other.spec, block) == getattr(document.spec, block)
        assert other.spec.budget.uniform() is None
        assert attrs.evolve(other.spec.budget, largest_stratum=document.spec.budget.largest_stratum) == document.spec.budget  # type: ignore


def test_ids_differ() -> None:
    check_ids(tuple(DOCUMENTS.values()))


@pytest.mark.reference("B-N3", "B-N1")
def test_the_six_rows_of_swapping_at_both_rates() -> None:
    rows = {document.id: printed(document, "epsilon") for document in named("swapping-2020-")}
    assert rows == {
        "swapping-2020-state-county": ["19.38", "16.43"],
        "swapping-2020-state-size-county": ["18.06", "15.11"],
        "swapping-2020-county-tract": ["18", "15.05"],
        "swapping-2020-county-size-tract": ["16.6", "13.66"],
        "swapping-2020-blockgroup-block": ["12.92", "9.98"],
        "swapping-2020-blockgroup-size-block": ["12.31", "9.37"],
    }


@pytest.mark.reference("B-N4")
def test_massachusetts_at_four_rates() -> None:
    document = DOCUMENTS["swapping-1940-massachusetts"]
    assert printed(document, "epsilon") == ["17.08", "15.43", "14.68", "12.48"]


@pytest.mark.reference("B-N2", "B-X5", "B-X1", "B-A7", "B-X4")
def test_the_allocation_of_topdown_and_safetab() -> None:
    numbers = {(e.parameter, e.printed.decimal(6)) for document in named("topdown-", "safetab-") for e in document.expectations}
    for rho, epsilon in (("0.07", "2.7"), ("2.56", "17.9"), ("7.7", "34.33"), ("4.96", "26.34"), ("15.29", "52.83")):
        assert {("rho", rho), ("epsilon", epsilon)} <= numbers
    budgets = {document.id: str(document.spec.budget) for document in named("topdown-", "safetab-")}
    assert budgets == {
        "topdown-2020-pl-persons": "rho = 64/25",
        "topdown-2020-pl-housing-units": "rho = 7/100",
        "topdown-2020-pl": "rho = 263/100",
        "topdown-2020-dhc-persons": "rho = 124/25",
        "topdown-2020-dhc-housing-units": "rho = 77/10",
        "topdown-2020-dhc": "rho = 633/50",
        "topdown-2020-pl-dhc": "rho = 1529/100",
        "safetab-2020-ddhc-a": "rho = 2472/125",
    }


@pytest.mark.reference("B-O17")
def test_ledgers_add_up() -> None:
    ledgers = {document.id: [part.id for part in document.ledger.parts] for document in DOCUMENTS.values() if document.ledger}
    assert set(ledgers) == {"topdown-2020-pl", "topdown-2020-dhc", "topdown-2020-pl-dhc"}
    assert len(ledgers["topdown-2020-pl-dhc"]) == 4


def test_the_compared_specifications_speak_about_one_space() -> None:
    """All files of 2020 do, but those that match on the household size, which have it as an attribute."""
    sized = {document.id for document in named("swapping-2020") if "size" in document.id}
    spaces = {
        document.spec.space for document in named("topdown-2020", "swapping-2020", "safetab-2020") if document.id not in sized
    }
    assert len(sized) == 3
    assert len(spaces) == 1
    assert len({DOCUMENTS[name].spec.space for name in sized}) == 1


@pytest.mark.reference("B-D23")
def test_the_invariants_of_swapping_are_those_of_its_mechanism() -> None:
    for document in (*named("swapping-1940", "swapping-derangement", "swapping-permutation"), *CLAIMED):
        scheme = document.mechanism.scheme()  # type: ignore[union-attr]
        written = {frozenset(invariant.attributes) for invariant in document.spec.multiverse.invariants}  # type: ignore
        assert written == {frozenset(i.attributes) for i in scheme.invariants(document.spec.space)}


@pytest.mark.reference("B-T19", "B-X8", "B-T11", "B-X2", "B-X6")
def test_refuted_claims_have_a_corrected_one_beside_them() -> None:
    refuted = {name for name, document in DOCUMENTS.items() if document.claim and document.claim.verdict == "refuted"}
    corrected = {
        "gaussian-lecture": {"gaussian-lecture-corrected", "gaussian-standard"},
        "swapping-permutation": {"swapping-derangement"},
        "swapping-pairs-three": {"swapping-pairs-two"},
        "swapping-by-risk-cells": {"swapping-by-risk"},
        "topdown-2020-pl": {"topdown-2020-pl-persons", "topdown-2020-pl-housing-units"},
        "topdown-2020-dhc": {"topdown-2020-dhc-persons", "topdown-2020-dhc-housing-units"},
        "topdown-2020-pl-dhc": {"topdown-2020-pl-persons", "topdown-2020-dhc-housing-units"},
    }
    assert refuted == set(corrected)
    for names in corrected.values():
        assert {DOCUMENTS[name].claim.verdict for name in names} == {"verified"}  # type: ignore[union-attr]


def test_the_index_names_every_folder() -> None:
    """specs/README.md has a line for each folder, and links to nothing that is gone."""
    links = set(re.findall(r"\]\(([^)]+)\)", (SPECS / "README.md").read_text(encoding="utf-8")))
    assert {path.name for path in SPECS.iterdir() if path.is_dir() and path.name != "__pycache__"} <= links
    assert all((SPECS / link).exists() for link in links)
