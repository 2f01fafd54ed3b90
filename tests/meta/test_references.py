"""Every known fact of the reference digests has a source, and a test or a reason, and no reason is stale."""

from __future__ import annotations

import re

import pytest

from dpspec.report.sources import sources
from tests.references import KNOWN, REASONS, carriers, references


def test_every_id_has_a_test_or_a_reason():
    assert set(KNOWN) - set(carriers()) == {name for name, _ in REASONS}


def test_reasons_are_words_about_known_ids_each_given_once():
    names = [name for name, _ in REASONS]
    assert len(set(names)) == len(names)
    assert set(names) <= set(KNOWN)
    assert all(len(reason.split()) > 3 for _, reason in REASONS)


def test_an_id_is_listed_once():
    assert len(set(KNOWN)) == len(KNOWN)


def test_every_id_says_where_it_is_printed_and_what_it_says():
    assert [fact.name for fact in references()] == KNOWN
    assert {fact.source for fact in references()} <= {source.key for source in sources()}
    assert all(len(fact.says.split()) > 1 for fact in references())


@pytest.mark.parametrize("kind", ["K-D", "K-T", "K-A", "Z-D", "Z-T", "Z-A"])
def test_definitions_theorems_and_algorithms_are_listed_without_a_gap(kind):
    """The digests number them from 1 on; the last numbers are theirs."""
    last = {"K-D": 43, "K-T": 32, "K-A": 14, "Z-D": 50, "Z-T": 62, "Z-A": 24}[kind]
    assert {name for name in KNOWN if re.fullmatch(rf"{kind}\d+", name)} == {f"{kind}{place}" for place in range(1, last + 1)}
