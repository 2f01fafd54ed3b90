"""Laws for some numbers of records compare with nothing: where the numbers are established, the law inside is taken."""

from __future__ import annotations

import pytest

from dpspec.base.errors import NoFormulaError
from dpspec.grammar.sizes import NoStructure, SizedLaw
from dpspec.laws.law import FiniteLaw


@pytest.mark.parametrize(
    ("least", "most", "words"),
    [
        (0, None, "any number of records"), (3, None, "at least 3 records"), (0, 1000, "at most 1,000 records"),
        (2, 5, "at least 2 and at most 5 records"),
    ],
)  # fmt: skip
def test_a_law_for_some_sizes_compares_with_nothing(least: int, most: int | None, words: str) -> None:
    law = SizedLaw(law=FiniteLaw.point(1), least=least, most=most)
    assert law.in_words() == words
    for other in (FiniteLaw.point(1), law):
        with pytest.raises(NoFormulaError, match=words):
            law.against(other)


def test_a_reason_is_kept() -> None:
    assert NoStructure("because").reason == "because"
