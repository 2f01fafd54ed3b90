"""Everyday mechanisms: every right claim is proved, every mistake is refuted, and the files are those of the table."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpspec import verify
from dpspec.base.words import Word
from dpspec.verifier.proof import METHOD
from reproductions.everyday import Case, cases, text_of

ROOT = Path(__file__).parents[2]
CASES = tuple(cases())


def test_there_are_as_many_as_there_should_be() -> None:
    assert len([case for case in CASES if not case.wrong]) >= 30
    assert len({case.path for case in CASES}) == len(CASES)


@pytest.mark.spread(0, slow=30)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.path)
def test_a_right_claim_is_proved_and_a_mistake_is_refuted(case: Case) -> None:
    (claim,) = verify(case.document()).obligations
    assert claim.word is (Word.RECORDED if case.wrong else Word.HOLDS)
    assert claim.verdict is not None
    assert claim.verdict.method in (METHOD, "exhaustive")  # a panel of three is looked at whole
    assert not claim.verdict.scope.startswith("miniature")
    if not case.wrong:
        (result,) = claim.verdict.universes
        ends = result.constant.lower.decimal(9), result.constant.upper.decimal(9)
        assert (ends[0] == ends[1]) is not bool(case.gap)


@pytest.mark.spread(0)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.path)
def test_the_files_are_up_to_date(case: Case) -> None:
    """If they are not: run python -m reproductions.everyday specs/mechanisms docs/mechanisms.md"""
    assert (ROOT / "specs" / "mechanisms" / case.path).read_text(encoding="utf-8") == text_of(case)
