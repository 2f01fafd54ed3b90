"""The words and sentences of the pages that are read first.

The list is that of the writing guide: words that the project once used in a sense of its own, each with what to write.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "docs/index.md"]
WORDS = {
    r"tells? apart|told apart": "distinguish",
    r"is told": "is stated, is reported",
    r"stands? for": "means, is",
    r"somebody|nobody|whoever": "a user, no one, anyone who",
    r"hand(?:ed|s)? on": "share, export",
    r"gives? (?:it )?away": "disclose, reveal",
    r"lean on": "depend on",
    r"looked at|judged": "checked, verified",
    r"mend(?:ed|s)?": "fix",
    r"as printed": "as published",
    r"yardstick": "common measure",
    r"walks? every": "checks every",
    r"besides?": "next to, in addition",
    r"whole sentence": "full guarantee",
    r"that there are": "all",
}
LONGEST = 30
"""Words of a sentence at most; the writing guide."""


def prose(text: str) -> str:
    """A page without code, tables, links' targets, comments and headings."""
    text = re.sub(r"^(```|~~~|:::).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!--.*?-->|^[|#].*$|^!\[.*$|^\{.*$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"\]\([^)]*\)", "]", text)


def findings(text: str) -> list[str]:
    """Words of the list, and sentences that are too long."""
    hits = ((hit[0], instead) for word, instead in WORDS.items() for hit in re.finditer(rf"\b(?:{word})\b", text, re.IGNORECASE))
    found = [f"{hit}: write {instead}" for hit, instead in hits]
    sentences = re.split(r"(?<=[.?!:])\s+|\n\s*\n|\n[*-] ", text)
    return found + [f"{len(one.split())} words: {' '.join(one.split())}" for one in sentences if len(one.split()) > LONGEST]


@pytest.mark.parametrize("page", PAGES)
def test_first_pages_are_plain(page: str) -> None:
    assert findings(prose((ROOT / page).read_text(encoding="utf-8"))) == []


def test_the_linter_finds_what_it_is_for() -> None:
    told = ["is told: write is stated, is reported", "Nobody: write a user, no one, anyone who"]
    assert findings("Nobody leans. It is told twice.") == told
    assert len(findings("word " * 31)) == 1
    assert findings(prose("```sh\nnobody\n```\n| told apart |\n[a](nobody.md) is a page.")) == []
