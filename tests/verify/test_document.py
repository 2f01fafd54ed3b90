"""The report of a file: the worst word, and what was checked of the claim, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpspec.base.exact import Bracket, number
from dpspec.base.words import Word
from dpspec.specfile.document import SpecDocument
from dpspec.verifier.document import FileReport
from dpspec.verifier.obligations import Obligation
from dpspec.verifier.proof import METHOD, ONE_PAIR, WHOLE
from dpspec.verifier.verdict import Outcome, ProofStep, UniverseResult, Verdict
from tests.verify.toys import bits_spec

DOCUMENT = SpecDocument(id="it", title="It", path=Path("it.dpspec.toml"), spec=bits_spec())
STEP = ProofStep(step="noise", says="so", citation="")


def result(attained: Any = None) -> UniverseResult:
    return UniverseResult(
        label="X", datasets=None, pairs=None, constant=Bracket.exactly(1), bound=number(1), outcome=Outcome.VERIFIED,
        attained=attained,
    )  # fmt: skip


def verdict(method: str, scope: str = WHOLE, **more: Any) -> Verdict:
    return Verdict(outcome=Outcome.VERIFIED, method=method, scope=scope, **more)


def report(*verdicts: Verdict | None, document: SpecDocument = DOCUMENT) -> FileReport:
    held = tuple(Obligation(name=f"claim {place}", word=Word.HOLDS, detail="", verdict=one) for place, one in enumerate(verdicts))
    return FileReport(document=document, obligations=held)


def test_the_worst_word_counts() -> None:
    words = (Word.HOLDS, Word.UNDECIDED, Word.REFUTED, Word.UNCHECKED)
    for given, worst in (((0,), Word.HOLDS), ((0, 1), Word.UNDECIDED), ((1, 2, 0), Word.REFUTED), ((3, 0), words[3])):
        found = FileReport(
            document=DOCUMENT, obligations=tuple(Obligation(name=str(n), word=words[n], detail="") for n in given)
        )  # fmt: skip
        assert found.word is worst
    assert report().word is not Word.HOLDS


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        ((), "printed numbers only"),
        ((None, None), "printed numbers only"),
        ((verdict("exhaustive"),), "the whole space"),
        ((verdict("exhaustive"), verdict("sampled")), "by sampling; not every pair was checked"),
        ((verdict(METHOD, proof=(STEP,)),), f"{WHOLE}, by a proof"),
        ((verdict(METHOD, f"{WHOLE}; of all that it may be", proof=(STEP,)),), f"{WHOLE}, by a proof"),
        ((verdict(METHOD, proof=(STEP,)), verdict(METHOD, "some datasets; more", proof=(STEP,))), "some datasets, by a proof"),
        ((verdict(METHOD, ONE_PAIR, universes=(result(((0,), (1,))),)),), "a pair of the whole space"),
        ((verdict(METHOD, universes=(result(),)),), "no pair was decided"),
    ],
)
def test_what_was_checked(verdicts: tuple[Verdict | None, ...], words: str) -> None:
    assert report(*verdicts).scope == words


def test_blocks_that_stand_in_are_named() -> None:
    stands_in = type("StandsIn", (SpecDocument,), {"stand_ins": ("space", "mechanism")})
    given = stands_in(id="it", title="It", spec=bits_spec())
    found = report(verdict("exhaustive"), document=given)
    assert found.scope == "the whole space; the space and the mechanism stand in for others"
    one = type("One", (SpecDocument,), {"stand_ins": ("space",)})(id="it", title="It", spec=bits_spec())
    assert report(verdict("exhaustive"), document=one).scope == "the whole space; the space stands in for another"
